"""The chunk grid "rectilinear", in which chunks along an axis have different lengths."""

import itertools
import json
import subprocess
import time

import numcodecs
import numpy as np
import pytest
from conftest import BIN, check, run, the_same_bits
from test_faults import KEEP, Gate

import zarr

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
CODECS = {
    "raw": [BYTES],
    "zstd": [BYTES, {"name": "zstd", "configuration": {"level": 1, "checksum": False}}],
    "transposed": [
        {"name": "transpose", "configuration": {"order": [1, 0]}},
        {"name": "bytes", "configuration": {"endian": "big"}},
        {"name": "gzip", "configuration": {"level": 1}},
        {"name": "crc32c"},
    ],
}


def expand(lengths, extent):
    """The lengths of all chunks, as the specification says."""
    if isinstance(lengths, int):
        return [lengths] * -(-extent // lengths)
    return [n for v in lengths for n in ([v] if isinstance(v, int) else [v[0]] * v[1])]


def encode(chunk, codecs):
    if codecs == "raw":
        return chunk.tobytes()
    if codecs == "zstd":
        return numcodecs.Zstd(level=1).encode(chunk.tobytes())
    data = numcodecs.GZip(level=1).encode(chunk.T.astype(">f8").tobytes())
    return numcodecs.CRC32C(location="end").encode(np.frombuffer(bytes(data), "u1")).tobytes()


#: Where the last chunks of tests may end.
MOST = 200


def chunks_of(path):
    """Each chunk's file, its shape, and where it is."""
    meta = json.loads((path / "zarr.json").read_text())
    grid = meta["chunk_grid"]
    assert grid["name"] == "rectilinear" and grid["configuration"]["kind"] == "inline"
    shapes = grid["configuration"]["chunk_shapes"]
    lengths = [expand(s, n) for s, n in zip(shapes, meta["shape"], strict=True)]
    edges = [np.cumsum([0, *n]) for n in lengths]
    for idx in itertools.product(*(range(len(n)) for n in lengths)):
        shape = tuple(n[i] for n, i in zip(lengths, idx, strict=True))
        where = tuple(slice(e[i], e[i + 1]) for e, i in zip(edges, idx, strict=True))
        yield path.joinpath("c", *map(str, idx)), shape, where


def write(path, x, shapes, codecs="zstd", missing=(), **changes):
    """An array of format 3, written by hand. What is behind its end is noise."""
    meta = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(x.shape),
        "data_type": "float64",
        "chunk_grid": {
            "name": "rectilinear",
            "configuration": {"kind": "inline", "chunk_shapes": shapes, **changes},
        },
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": -1.0,
        "codecs": CODECS[codecs] if isinstance(codecs, str) else codecs,
        "attributes": {"units": "m"},
        "dimension_names": ["a", "b"][: x.ndim],
    }
    path.mkdir()
    (path / "zarr.json").write_text(json.dumps(meta))
    if not isinstance(codecs, str):
        return
    whole = np.full([MOST] * x.ndim, 1e30)
    whole[tuple(slice(n) for n in x.shape)] = x
    for file, _, where in chunks_of(path):
        if file.relative_to(path / "c").as_posix() in missing:
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encode(np.ascontiguousarray(whole[where]), codecs))


def regular(path, x):
    z = zarr.create_array(path, shape=x.shape, dtype=x.dtype, chunks=(6, 5), dimension_names="ab")
    z[...] = x


@pytest.fixture
def x():
    return np.random.default_rng(0).normal(size=(23, 17))


SHAPES = [
    [[5, 1, 9, 8], [[4, 3], 5]],
    [[[1, 23]], [17]],
    [[23], [3, [2, 4], 6]],
    [[10, 20], [9, 9]],  # longer than the array
    [[7, 7, 9, 3, 3], 4],  # chunks behind the end, one length for all
    [[8, 8, 7], [[5, 3], 2]],  # like regular chunks, but for the last one
]


@pytest.mark.parametrize("codecs", CODECS)
@pytest.mark.parametrize("shapes", SHAPES)
def test_every_element_is_where_it_belongs(tmp_path, x, shapes, codecs):
    write(tmp_path / "x", x, shapes, codecs)
    text = "y = x; s = sum(x, axis=0); t = permute_dims(x, [1, 0])[::-2, 3:19:4]"
    text += "; d = x[1:] - x[:-1]; r = reshape(x, (-1,)); m = matmul(x, permute_dims(x, [1, 0]))"
    text += "; c = cumulative_sum(x, axis=0); o = sort(x, axis=1)"
    result = check(run("eval", text, "--in", f"x={tmp_path / 'x'}", "--json", "--progress", "none"))
    got = result.arrays()
    for name in "yd":
        np.testing.assert_array_equal(got[name], {"y": x, "d": x[1:] - x[:-1]}[name])
    np.testing.assert_array_equal(got["t"], x.T[::-2, 3:19:4])
    np.testing.assert_array_equal(got["r"], x.reshape(-1))
    np.testing.assert_array_equal(got["o"], np.sort(x, axis=1))
    np.testing.assert_allclose(got["s"], x.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(got["m"], x @ x.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(got["c"], x.cumsum(axis=0), rtol=1e-12, atol=1e-12)
    assert result.run["measured_mem"] <= result.run["projected_mem"]


def test_any_way_of_running_reads_them(tmp_path, x):
    write(tmp_path / "x", x, SHAPES[0])
    first = the_same_bits("x * 2 + x[::-1]", "--in", f"x={tmp_path / 'x'}")
    np.testing.assert_array_equal(first["x"], x * 2 + x[::-1])


def test_missing_chunks_are_fill_values(tmp_path, x):
    write(tmp_path / "x", x, SHAPES[0], missing={"1/2", "3/0"})
    x[5:6, 8:12] = x[15:23, 0:4] = -1
    result = check(run("eval", "x", "--in", f"x={tmp_path / 'x'}", "--json"))
    np.testing.assert_array_equal(result.array(), x)


def decode(data, codecs, shape):
    if codecs == "raw":
        return np.frombuffer(data, "<f8").reshape(shape)
    if codecs == "zstd":
        return np.frombuffer(numcodecs.Zstd().decode(data), "<f8").reshape(shape)
    data = numcodecs.GZip().decode(data[:-4])
    return np.frombuffer(data, ">f8").reshape(shape[::-1]).T


def read(path, codecs="zstd"):
    """What is stored, and the lengths of its chunks, as the specification says."""
    meta = json.loads((path / "zarr.json").read_text())
    whole = np.full([MOST] * len(meta["shape"]), float(meta["fill_value"]))
    for file, shape, where in chunks_of(path):
        if file.exists():
            whole[where] = decode(file.read_bytes(), codecs, shape)
    shapes = meta["chunk_grid"]["configuration"]["chunk_shapes"]
    return whole[tuple(slice(n) for n in meta["shape"])], shapes, meta


def test_a_copy_keeps_them(tmp_path, x):
    write(tmp_path / "x", x, SHAPES[0], "transposed", missing={"1/2"})
    x[5:6, 8:12] = -1
    args = ["--codecs", json.dumps(CODECS["transposed"]), "--skip-empty", "--progress", "none"]
    check(run("copy", tmp_path / "x", tmp_path / "y", *args))
    got, shapes, meta = read(tmp_path / "y", "transposed")
    np.testing.assert_array_equal(got, x)
    assert shapes == [[5, 1, 9, 8], [[4, 3], 5]]
    assert meta["attributes"] == {"units": "m"} and meta["dimension_names"] == ["a", "b"]
    assert meta["fill_value"] == -1 and not (tmp_path / "y" / "c" / "1" / "2").exists()


@pytest.mark.parametrize("args", [["--regular"], ["--chunks", "9,5"]])
def test_a_copy_is_regular_where_that_is_asked_for(tmp_path, x, args):
    write(tmp_path / "x", x, SHAPES[0])
    check(run("copy", tmp_path / "x", tmp_path / "y", *args, "--progress", "none"))
    copy = zarr.open_array(tmp_path / "y", mode="r")
    np.testing.assert_array_equal(copy[...], x)
    assert copy.chunks == (9, 5)
    assert dict(copy.attrs) == {"units": "m"} and copy.metadata.dimension_names == ("a", "b")


def test_a_group_keeps_them_and_may_be_regular(tmp_path, x):
    (tmp_path / "g").mkdir()
    (tmp_path / "g" / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group"}')
    write(tmp_path / "g" / "x", x, SHAPES[0])
    write(tmp_path / "g" / "z", x, SHAPES[3])
    check(run("copy", tmp_path / "g", tmp_path / "h", "--chunks", "b=17", "--progress", "none"))
    assert read(tmp_path / "h" / "x")[1] == [[5, 1, 9, 8], 17]
    assert read(tmp_path / "h" / "z")[1] == [[10, 13], 17]
    check(run("copy", tmp_path / "g", tmp_path / "r", "--regular", "--progress", "none"))
    assert zarr.open_group(tmp_path / "r", mode="r")["x"].chunks == (9, 5)


def rechunked(tmp_path, x, *args):
    """Makes y of a regular x, within 20 MB."""
    regular(tmp_path / "x", x)
    args = [*args, "--allowed-mem", "20MB", "--json"]
    result = check(run("rechunk", tmp_path / "x", tmp_path / "y", *args))
    assert result.run["measured_mem"] <= result.run["projected_mem"] <= 20_000_000


@pytest.mark.parametrize(
    ("spec", "shapes"),
    [
        ("a=5+1+9+8,b=4x3+5", [[5, 1, 9, 8], [[4, 3], 5]]),
        ("2x10+3,17", [[[2, 10], 3], 17]),
        ("a=1+22", [[1, 22], 5]),
        ("23,3+4+4+3x2", [23, [3, 4, 4, 3, 3]]),
    ],
)
@pytest.mark.parametrize("workers", ["1", "2"])
def test_chunks_are_given_one_by_one(tmp_path, x, spec, shapes, workers):
    rechunked(tmp_path, x, "--chunks", spec, "--max-workers", workers)
    got, written, _ = read(tmp_path / "y")
    np.testing.assert_array_equal(got, x)
    assert written == shapes


def test_chunks_that_are_alike_make_a_regular_grid(tmp_path, x):
    regular(tmp_path / "x", x)
    check(run("rechunk", tmp_path / "x", tmp_path / "y", "--chunks", "8+8+7,5x3+2"))
    assert zarr.open_array(tmp_path / "y", mode="r").chunks == (8, 5)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--chunks", "5+6,17"], "add up to 11"),
        (["--chunks", "20+6,17"], "expected 1 to 3"),
        (["--chunks", "5+,17"], "expected lengths"),
        (["--chunks", "5x0+23,17"], "expected lengths"),
        (["--chunks", "5x9999999,17"], "expected lengths"),
        (["--chunks", "-1+5,17"], "expected lengths"),
        (["--chunks", "5+18,17", "--format", "2"], "format 2"),
        (["--chunks", "5+18,17", "--shards", "23,17"], "shards do not support"),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path, x, args, message):
    regular(tmp_path / "x", x)
    result = run("rechunk", tmp_path / "x", tmp_path / "y", *args)
    assert result.code != 0 and message in result.err
    assert not (tmp_path / "y").exists()


def test_format_2_has_none(tmp_path, x):
    write(tmp_path / "x", x, SHAPES[0])
    result = run("copy", tmp_path / "x", tmp_path / "y", "--format", "2")
    assert result.code == 1 and "format 2" in result.err and "regular chunks" in result.err
    check(run("copy", tmp_path / "x", tmp_path / "y", "--format", "2", "--regular"))
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "y", mode="r")[...], x)


def test_a_saved_plan_and_worker_processes_write_them(tmp_path, x):
    write(tmp_path / "x", x, SHAPES[4])
    args = ["--chunks", "3+4x5,6+11", "--allowed-mem", "20MB", "--work-dir", tmp_path / "w"]
    args += ["--save-plan", tmp_path / "p"]
    check(run("rechunk", tmp_path / "x", tmp_path / "z", *args))
    check(run("run", tmp_path / "p", "--executor", "processes", "--max-workers", "2"))
    got, shapes, _ = read(tmp_path / "z")
    np.testing.assert_array_equal(got, x)
    assert shapes == [[3, [4, 5]], [6, 11]]


def test_what_is_missing_is_made_when_a_run_is_resumed(tmp_path, x):
    write(tmp_path / "x", x, SHAPES[0])
    stop = zarr.create_array(tmp_path / "stop", shape=(61,), chunks=(1,), dtype="f8", config=KEEP)
    stop[...] = 0
    gate, out = Gate(tmp_path / "stop/c/60"), tmp_path / "out"
    args = ["eval", "a = x * 2; b = sum(stop)", "--in", f"x={tmp_path / 'x'}", "--out", out]
    args += ["--in", f"stop={tmp_path / 'stop'}", "--progress", "none"]

    def made():
        return sorted(p for p in (out / "a/c").glob("*/*") if p.name.isdigit())

    gate.close()
    with subprocess.Popen([BIN, *map(str, args)]) as process:
        deadline = time.monotonic() + 60
        while len(made()) < 16 and time.monotonic() < deadline:
            time.sleep(0.002)
        process.kill()
    gate.open()
    assert len(made()) == 16 and not (out / "a/zarr.json").exists()
    for chunk in made()[2::5]:
        chunk.unlink()
    check(run(*args, "--resume"))
    np.testing.assert_array_equal(read(out / "a")[0], 2 * x)


def test_results_of_functions_have_the_chunks_of_their_operands(tmp_path, x):
    write(tmp_path / "x", x, SHAPES[0])
    out = tmp_path / "out.zarr"
    check(run("eval", "y = x + x; c = cumulative_sum(x, axis=0); s = sum(x, axis=0)",
              "--in", f"x={tmp_path / 'x'}", "--out", out))  # fmt: skip
    got, shapes, _ = read(out / "y")
    np.testing.assert_array_equal(got, x + x)
    assert shapes == [[5, 1, 9, 8], [[4, 3], 5]]
    np.testing.assert_allclose(read(out / "c")[0], x.cumsum(axis=0), rtol=1e-12, atol=1e-12)
    got, shapes, _ = read(out / "s")
    np.testing.assert_allclose(got, x.sum(axis=0), rtol=1e-12)
    assert shapes == [[[4, 3], 5]]


def test_info_shows_them(tmp_path, x):
    write(tmp_path / "x", x, SHAPES[0])
    array = json.loads(check(run("info", tmp_path / "x", "--json")).out)[0]
    assert array["chunks"] == [9, 5]
    assert array["chunk_shapes"] == [[5, 1, 9, 8], [[4, 3], 5]]
    assert array["chunks_present"] == array["chunks_total"] == 16
    assert "up to" in check(run("info", tmp_path / "x")).out


@pytest.mark.skipif(
    "rectilinear_chunks" not in zarr.config.get("array"),
    reason="zarr-python has rectilinear grids from 3.2 on, for Python 3.12 and later",
)
@pytest.mark.parametrize("lengths", [[(5, 1, 9, 8), (12, 5)], [(1, 22), (3,) * 5 + (2,)]])
def test_zarr_python_reads_and_writes_them(tmp_path, x, lengths):
    with zarr.config.set({"array.rectilinear_chunks": True}):
        z = zarr.create_array(tmp_path / "x", shape=x.shape, dtype=x.dtype, chunks=lengths)
        z[...] = x
        check(run("copy", tmp_path / "x", tmp_path / "y", "--progress", "none"))
        spec = ",".join("+".join(map(str, n)) for n in ([3] * 7 + [2], [4, 4, 1, 8]))
        check(run("rechunk", tmp_path / "x", tmp_path / "z", "--chunks", spec))
        copy, other = (zarr.open_array(tmp_path / n, mode="r") for n in "yz")
        assert read(tmp_path / "y")[1][0] == list(lengths[0])
        np.testing.assert_array_equal(copy[...], x)
        np.testing.assert_array_equal(other[...], x)
        np.testing.assert_array_equal(other[5:7, 8:10], x[5:7, 8:10])


@pytest.mark.parametrize(
    ("shapes", "changes", "message"),
    [
        ([[5, 5], [17]], {}, "ends at 10"),
        ([[23]], {}, "must list 2 axes"),
        ([[0, 23], [17]], {}, "integers >= 1"),
        ([[[23, 1, 1]], [17]], {}, "integers >= 1"),
        ([[[23, "1"]], [17]], {}, "integers >= 1"),
        ([["23"], [17]], {}, "integers >= 1"),
        ([[23], [17]], {"kind": "reference"}, "not supported"),
        ([[23], [17]], {"encoded_chunk_shapes": [24, 17]}, "encoded_chunk_shapes"),
    ],
)
def test_what_is_malformed_is_refused(tmp_path, x, shapes, changes, message):
    write(tmp_path / "x", x, shapes, [BYTES], **changes)
    result = run("eval", "x", "--in", f"x={tmp_path / 'x'}")
    assert result.code == 1 and message in result.err


def test_too_many_chunks_are_refused(tmp_path):
    long = np.broadcast_to(np.zeros(1), (1 << 40,))
    write(tmp_path / "many", long, [[[1, 1 << 40], 1]], [BYTES])
    assert "more than" in run("eval", "sum(x)", "--in", f"x={tmp_path / 'many'}").err
