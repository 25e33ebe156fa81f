"""The chunk grid "rectilinear": chunks of their own lengths along each axis."""

import itertools
import json

import numcodecs
import numpy as np
import pytest
from conftest import check, run, the_same_bits

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
    lengths = [expand(s, n) for s, n in zip(shapes, x.shape, strict=True)]
    edges = [np.cumsum([0, *n]) for n in lengths]
    whole = np.full([e[-1] for e in edges], 1e30)
    whole[tuple(slice(n) for n in x.shape)] = x
    for idx in itertools.product(*(range(len(n)) for n in lengths)):
        if idx in missing:
            continue
        chunk = whole[tuple(slice(e[i], e[i + 1]) for e, i in zip(edges, idx, strict=True))]
        file = path.joinpath("c", *map(str, idx))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encode(np.ascontiguousarray(chunk), codecs))


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
    np.testing.assert_array_equal(first["result"], x * 2 + x[::-1])


def test_missing_chunks_are_fill_values(tmp_path, x):
    write(tmp_path / "x", x, SHAPES[0], missing={(1, 2), (3, 0)})
    x[5:6, 8:12] = x[15:23, 0:4] = -1
    result = check(run("eval", "x", "--in", f"x={tmp_path / 'x'}", "--json"))
    np.testing.assert_array_equal(result.arrays()["result"], x)


def test_they_become_regular_when_they_are_copied(tmp_path, x):
    write(tmp_path / "x", x, SHAPES[0])
    check(run("copy", tmp_path / "x", tmp_path / "y", "--progress", "none"))
    args = ["--chunks", "6,6", "--allowed-mem", "20MB", "--save-plan", tmp_path / "p"]
    check(run("rechunk", tmp_path / "x", tmp_path / "z", *args, "--work-dir", tmp_path / "w"))
    check(run("run", tmp_path / "p"))
    for name, chunks in [("y", (9, 5)), ("z", (6, 6))]:
        copy = zarr.open_array(tmp_path / name, mode="r")
        np.testing.assert_array_equal(copy[...], x)
        assert copy.chunks == chunks
        assert dict(copy.attrs) == {"units": "m"} and copy.metadata.dimension_names == ("a", "b")


def test_info_shows_them(tmp_path, x):
    write(tmp_path / "x", x, SHAPES[0])
    array = json.loads(check(run("info", tmp_path / "x", "--json")).out)[0]
    assert array["chunks"] == [9, 5]
    assert array["chunk_shapes"] == [[5, 1, 9, 8], [[4, 3], 5]]
    assert array["chunks_present"] == array["chunks_total"] == 16
    assert "up to" in check(run("info", tmp_path / "x")).out


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
    ],
)
def test_what_is_malformed_is_refused(tmp_path, x, shapes, changes, message):
    write(tmp_path / "x", x, shapes, [BYTES], **changes)
    result = run("eval", "x", "--in", f"x={tmp_path / 'x'}")
    assert result.code == 1 and message in result.err


def test_too_many_chunks_and_shards_are_refused(tmp_path):
    long = np.broadcast_to(np.zeros(1), (1 << 40,))
    write(tmp_path / "many", long, [[[1, 1 << 40], 1]], [BYTES])
    assert "more than" in run("eval", "sum(x)", "--in", f"x={tmp_path / 'many'}").err
    inner = {"chunk_shape": [1], "codecs": [BYTES], "index_codecs": [BYTES]}
    shards = [{"name": "sharding_indexed", "configuration": inner}]
    write(tmp_path / "shards", np.zeros(9), [[4, 5]], shards)
    assert "not supported" in run("eval", "sum(x)", "--in", f"x={tmp_path / 'shards'}").err
