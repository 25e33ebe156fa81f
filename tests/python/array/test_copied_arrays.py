"""Arrays of unsupported types or codecs are copied unchanged, with their chunks and shards; missing
chunks stay missing.
"""

import json

import cubed
import numpy as np
import pytest
from conftest import check, run

import zarr
from zarr.dtype import VariableLengthBytes

QUIET = ("--progress", "none")
TEXTS = np.array(["a", "bbé", "", "dd\n"], dtype=np.dtypes.StringDType())
BLOBS = np.array([b"x", b"", b"\x00yz"], dtype=object)
RECORDS = np.array([(1, 2.5), (3, -4.5)], dtype=[("a", "<i4"), ("b", ">f8")])


def make(path, zarr_format):
    g = zarr.create_group(path, zarr_format=zarr_format, attributes={"title": "t"})
    names = {"dimension_names": ["x"]} if zarr_format == 3 else {}
    attrs = {"_ARRAY_DIMENSIONS": ["x"]} if zarr_format == 2 else {}
    g.create_array("v", data=np.arange(4.0), chunks=(2,), attributes=attrs, **names)
    g.create_array("text", data=TEXTS, chunks=(3,), attributes=attrs | {"long": "t"}, **names)
    blobs = g.create_array("blobs", shape=3, chunks=(2,), dtype=VariableLengthBytes())
    blobs[...] = BLOBS
    g.create_array("records", data=RECORDS, chunks=(1,))
    g.create_array("raw", data=np.array([b"abc", b"de"], dtype="V3"), chunks=(2,))
    g.create_array("deep/text0", shape=(), dtype=TEXTS.dtype)[...] = "deep"
    return g


def objects(path):
    return {
        str(p.relative_to(path)): p.read_bytes()
        for p in path.rglob("*")
        if p.is_file() and p.name != ".zmetadata" and (p.name != "zarr.json")
    }


def members(path):
    return dict(zarr.open_group(path, mode="r").members(max_depth=None))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("verb", ["copy", "rechunk"])
def test_group_with_unknown_types(tmp_path, zarr_format, verb):
    g = make(tmp_path / "g", zarr_format)
    options = ["--chunks", "x=4"] if verb == "rechunk" else []
    text = check(run(verb, tmp_path / "g", tmp_path / "h", *options, *QUIET)).out
    assert "text: copied unchanged" in text
    made = members(tmp_path / "h")
    assert made.keys() == dict(g.members(max_depth=None)).keys()
    assert made["v"].chunks == ((4,) if verb == "rechunk" else (2,))
    np.testing.assert_array_equal(made["v"][...], np.arange(4.0))
    for name, x in g.arrays():
        y = made[name]
        if name not in ("v", "records"):
            assert y.metadata == x.metadata
            assert objects(tmp_path / "g" / name) == objects(tmp_path / "h" / name)
        np.testing.assert_array_equal(y[...], x[...])
    assert made["deep/text0"][()] == "deep"
    whole = zarr.open_consolidated(tmp_path / "h")  # has the copies, too
    np.testing.assert_array_equal(whole["text"][...], TEXTS)
    assert run(verb, tmp_path / "g", tmp_path / "h", *options, *QUIET).code == 1
    (tmp_path / "h/text/left").write_text("of before")
    check(run(verb, tmp_path / "g", tmp_path / "h", *options, "--overwrite", *QUIET))
    assert objects(tmp_path / "g/text") == objects(tmp_path / "h/text")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_info(tmp_path, zarr_format):
    make(tmp_path / "g", zarr_format)
    told = {e["path"]: e for e in json.loads(check(run("info", tmp_path / "g", "--json")).out)}
    text, records = told["text"], told["records"]
    assert text["dtype"] == "string" and text["shape"] == [4] and text["chunks"] == [3]
    assert text["dims"] == ["x"] and text["attributes"] == {"long": "t"}
    assert text["chunks_present"] == text["chunks_total"] == 2 and text["stored_bytes"] > 0
    assert "not supported" in text["unsupported"] and text["logical_bytes"] is None
    assert records["dtype"].startswith("V") and "unsupported" not in records
    assert told["v"]["dtype"] == "float64" and "unsupported" not in told["v"]
    lines = check(run("info", tmp_path / "g")).out
    assert "vlen-utf8" in lines and "copied unchanged" in lines
    one = check(run("info", f"{tmp_path / 'g'}::text")).out  # which was an error
    assert "string" in one and "(x: 4)" in one


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("separator", [".", "/"])
@pytest.mark.parametrize("codec", [None, "zstd", "blosc", "gzip"])
def test_texts_in_the_other_format(tmp_path, zarr_format, separator, codec):
    compressor = {
        None: None,
        "zstd": {2: {"id": "zstd", "level": 3}, 3: {"name": "zstd", "configuration": {"level": 3}}},
        "blosc": {2: {"id": "blosc", "cname": "lz4"}, 3: zarr.codecs.BloscCodec(cname="lz4")},
        "gzip": {2: {"id": "gzip", "level": 1}, 3: {"name": "gzip", "configuration": {"level": 1}}},
    }[codec]
    for name, shape in {"a": (2, 2), "b": (), "empty": (0, 3)}.items():
        z = zarr.create_array(
            tmp_path / name,
            shape=shape,
            chunks=tuple(max(1, n - 1) for n in shape),
            dtype=TEXTS.dtype,
            zarr_format=zarr_format,
            fill_value="none",
            compressors=compressor and compressor[zarr_format],
            chunk_key_encoding={
                "name": "v2" if zarr_format == 2 else "default",
                "separator": separator,
            },
            attributes={"k": 2**60, "_ARRAY_DIMENSIONS": ["x", "y"]}
            if zarr_format == 2 and shape
            else {"k": 2**60},
            dimension_names=["x", "y"][: len(shape)] if zarr_format == 3 else None,
        )
        if shape and shape[0]:
            z[0] = TEXTS[:2]
        elif not shape:
            z[...] = "q"
        other = 5 - zarr_format
        check(run("copy", tmp_path / name, tmp_path / f"{name}2", "--format", other, *QUIET))
        y = zarr.open_array(tmp_path / f"{name}2", mode="r")
        assert y.metadata.zarr_format == other and y.fill_value == "none"
        assert y.chunks == z.chunks and y.attrs["k"] == 2**60
        np.testing.assert_array_equal(y[...], z[...])
        back = tmp_path / f"{name}3"
        check(run("copy", tmp_path / f"{name}2", back, "--format", zarr_format, *QUIET))
        np.testing.assert_array_equal(zarr.open_array(back, mode="r")[...], z[...])
        dims = json.loads(check(run("info", tmp_path / f"{name}2", "--json")).out)[0]["dims"]
        assert dims == ["x", "y"][: len(shape)]


@pytest.mark.filterwarnings("ignore")
def test_what_cannot_be_converted(tmp_path):
    make(tmp_path / "g", 3)
    r = run("copy", tmp_path / "g", tmp_path / "h", "--format", "2", *QUIET)
    assert r.code == 1 and "cannot be written in format 2" in r.err
    assert not (tmp_path / "h").exists()  # found out before the work
    r = run("copy", tmp_path / "g", tmp_path / "h.nc", *QUIET)
    assert r.code == 1 and "write a Zarr store" in r.err  # there are records
    r = run("copy", f"{tmp_path / 'g'}::text", f"{tmp_path / 'g'}::text", *QUIET)
    assert r.code == 1 and "overwrite its source" in r.err
    r = run("copy", f"{tmp_path / 'g'}::text", tmp_path / "t", "--plan", *QUIET)
    assert r.code == 2 and "without a plan" in r.err


@pytest.mark.filterwarnings("ignore")
def test_places_of_copies(tmp_path):
    make(tmp_path / "g", 3)
    text = f"{tmp_path / 'g'}::text"
    check(run("copy", text, f"{tmp_path / 'h'}::a/b", *QUIET))  # makes groups above
    assert "exists" in run("copy", text, f"{tmp_path / 'h'}::a/b", *QUIET).err
    check(run("copy", text, f"{tmp_path / 'h'}::a/b", "--overwrite", *QUIET))
    np.testing.assert_array_equal(zarr.open_group(tmp_path / "h")["a/b"][...], TEXTS)
    # Copies where they are stay.
    before = objects(tmp_path / "g/text")
    check(run("rechunk", tmp_path / "g", tmp_path / "g", "--chunks", "x=1", "--overwrite", *QUIET))
    assert objects(tmp_path / "g/text") == before
    assert members(tmp_path / "g")["v"].chunks == (1,)
    check(run("copy", tmp_path / "g", tmp_path / "g.zip", *QUIET))
    with zarr.storage.ZipStore(tmp_path / "g.zip", mode="r") as s:
        np.testing.assert_array_equal(zarr.open_group(s, mode="r")["text"][...], TEXTS)


@pytest.mark.filterwarnings("ignore")
def test_saved_plans_copy(tmp_path):
    make(tmp_path / "g", 3)
    plan = tmp_path / "p.cubed"
    check(run("copy", tmp_path / "g", tmp_path / "h", "--save-plan", plan, *QUIET))
    assert not (tmp_path / "h").exists()
    check(run("run", plan, *QUIET))
    np.testing.assert_array_equal(members(tmp_path / "h")["text"][...], TEXTS)


@pytest.mark.filterwarnings("ignore")
def test_memory_of_copies(tmp_path):
    g = make(tmp_path / "g", 3)
    big = np.array(["x" * 10_000_000], dtype=TEXTS.dtype)
    g.create_array("big", data=big, compressors=None)
    limits = ("--allowed-mem", "8MB", "--reserved-mem", "1MB")
    r = run("copy", tmp_path / "g", tmp_path / "h", *limits, *QUIET)
    assert r.code == 1 and "big" in r.err and "allow at least 110000" in r.err
    assert not (tmp_path / "h").exists()
    check(run("copy", tmp_path / "g", tmp_path / "h", "--allowed-mem", "13MB",
              "--reserved-mem", "1MB", *QUIET))  # fmt: skip
    # Not [0]: zarr makes that an array of fixed-width strings, which takes seconds.
    assert members(tmp_path / "h")["big"][...].tolist() == big.tolist()


def test_unknown_codec(tmp_path):
    x = np.arange(6.0)
    zarr.create_array(tmp_path / "x", data=x, chunks=(4,), compressors=None)
    meta = tmp_path / "x/zarr.json"
    doc = json.loads(meta.read_text())
    doc["codecs"].append({"name": "example.unheard", "configuration": {"level": [1]}})
    meta.write_text(json.dumps(doc))
    check(run("copy", tmp_path / "x", tmp_path / "y", *QUIET))
    assert json.loads((tmp_path / "y/zarr.json").read_text()) == doc
    assert objects(tmp_path / "y") == objects(tmp_path / "x")
    assert "example.unheard" in check(run("info", tmp_path / "y")).out


def test_pyramid(tmp_path):
    """Inner chunks that are longer than the axes of its smaller levels."""
    g = zarr.create_group(tmp_path / "p")
    for i, n in enumerate((40, 20, 10, 3, 1)):
        a = g.create_array(str(i), shape=(n, n), chunks=(8, 16), shards=(32, 32), dtype="u2")
        a[...] = np.arange(n * n).reshape(n, n)
    check(run("copy", tmp_path / "p", tmp_path / "q", *QUIET))
    for name, x in g.arrays():
        y = zarr.open_group(tmp_path / "q")[name]
        assert (y.chunks, y.shards) == ((8, 16), (32, 32))
        np.testing.assert_array_equal(y[...], x[...])
    check(run("copy", tmp_path / "p", tmp_path / "r", "--shards", "none", *QUIET))
    assert zarr.open_group(tmp_path / "r")["4"].chunks == (8, 16)
    np.testing.assert_array_equal(zarr.open_group(tmp_path / "r")["3"][...], g["3"][...])


def count(path):
    return sum(p.is_file() and p.name[0] != "." and p.name != "zarr.json" for p in path.rglob("*"))


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("fill", [None, 0, 7, np.nan])
def test_what_is_missing_stays_missing(tmp_path, zarr_format, fill):
    dtype = "f8" if fill is np.nan else "i4"
    z = zarr.create_array(
        tmp_path / "x",
        shape=(40, 40),
        chunks=(10, 10),
        dtype=dtype,
        zarr_format=zarr_format,
        fill_value=0 if fill is None else fill,
        config={"write_empty_chunks": True},
    )
    if fill is None and zarr_format == 2:
        meta = tmp_path / "x/.zarray"
        meta.write_text(meta.read_text().replace('"fill_value": 0', '"fill_value": null'))
    z[:10, 5:15] = 3
    z[30:, 30:] = 0  # stored, whatever the fill value is
    x = zarr.open_array(tmp_path / "x", mode="r")[...]
    assert count(tmp_path / "x") == 3
    # Where the fill value is null, chunks go of tasks that found none; small ones share tasks.
    most = 8 if fill is None and zarr_format == 2 else 3
    for i, options in enumerate([(), ("--max-workers", 1), ("--executor", "processes")]):
        check(run("copy", tmp_path / "x", tmp_path / f"y{i}", *options, *QUIET))
        np.testing.assert_array_equal(zarr.open_array(tmp_path / f"y{i}")[...], x)
        assert count(tmp_path / f"y{i}") <= most
    check(run("rechunk", tmp_path / "x", tmp_path / "r", "--chunks", "20,20", *QUIET))
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "r")[...], x)
    assert count(tmp_path / "r") <= (3 if most == 8 else 2)
    check(run("copy", tmp_path / "x", tmp_path / "all", "--keep-empty", *QUIET))
    assert count(tmp_path / "all") == 16
    # Zeros that are stored where a null fill value leaves it to readers what they make of gaps.
    stored = (tmp_path / ("y1/3.3" if zarr_format == 2 else "y1/c/3/3")).exists()
    assert stored == (fill not in (0, None) or (fill is None and zarr_format == 2))


def test_control_characters_of_names_are_spelled_out(tmp_path):
    """A terminal would obey them: names are whatever metadata say."""
    evil = "a\x1b[2J\x07b\x9bc\n\té"
    g = zarr.create_group(tmp_path / "g")
    g.create_array("x", data=np.arange(2.0), dimension_names=[evil])
    meta = tmp_path / "g/x/zarr.json"
    doc = json.loads(meta.read_text())
    typed = doc | {"data_type": {"name": "t" + evil, "configuration": {"a": 1}}}
    (tmp_path / "g/y").mkdir()
    (tmp_path / "g/y/zarr.json").write_text(json.dumps(typed))
    r = check(run("info", tmp_path / "g"))
    assert r.out.count("a\\x1b[2J\\x07b\\x9bc\\x0a\\x09é") >= 2
    bad = run("copy", tmp_path / "g", tmp_path / "h", "--format", "2", *QUIET)
    assert bad.code == 1 and "ta\\x1b[2J" in bad.err
    wrong = run("rechunk", tmp_path / "g", tmp_path / "h", "--chunks", "\x1b[2J=2", *QUIET)
    assert wrong.code == 2 and "\\x1b[2J" in wrong.err
    out = check(run("eval", "x", "--in", f"x={tmp_path / 'g'}::x", *QUIET)).out
    assert out.startswith("x: float64 (a\\x1b[2J")
    for text in (r.out, bad.err, wrong.err, out):
        assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in text.replace("\n", ""))
    # So is what people themselves wrote.
    place = tmp_path / evil.replace("\n", "")
    for args in (("clean", place), ("run", place), ("eval", "ones(2)", "--out", f"{place}.h5")):
        said = run(*args)
        assert said.code in (0, 1, 2)
        assert "\\x1b[2J\\x07" in said.err, args
        assert "\x1b" not in said.err + said.out
    left = place / ".cubed-new-0123~x/c/0"  # of an array that is gone
    left.parent.mkdir(parents=True)
    left.write_bytes(b"chunk")
    for args in (("clean", place, "--dry-run"), ("run", place), ("status", place)):
        said = run(*args)
        assert "\x1b" not in said.err + said.out, args
        assert "\\x1b[2J" in said.err + said.out, args
    assert "\x1b" not in run("\x1b[2J").err
    plan = run("eval", "x", "--in", f"x={tmp_path / 'g'}::x", "--out", f"{place}/r", "--plan")
    assert "\x1b" not in plan.out + plan.err
    # As data they are what they are.
    told = {e["path"]: e for e in json.loads(check(run("info", tmp_path / "g", "--json")).out)}
    assert told["x"]["dims"] == [evil]


@pytest.mark.parametrize("name", ["int4", "uint2", "float8_e4m3fn", "float4_e2m1fn"])
def test_small_types_are_known_by_name(tmp_path, name):
    zarr.create_array(tmp_path / "x", data=np.arange(6, dtype="u1"), chunks=(4,))
    meta = tmp_path / "x/zarr.json"
    doc = json.loads(meta.read_text()) | {"data_type": name}
    meta.write_text(json.dumps(doc))
    assert name in check(run("info", tmp_path / "x")).out
    check(run("copy", tmp_path / "x", tmp_path / "y", *QUIET))
    assert json.loads((tmp_path / "y/zarr.json").read_text()) == doc
    assert objects(tmp_path / "y") == objects(tmp_path / "x")
    r = run("eval", "x + 1", "--in", f"x={tmp_path / 'x'}")
    assert r.code == 1 and name in r.err


@pytest.mark.filterwarnings("ignore")
def test_coordinates_of_texts_beside_what_is_computed(tmp_path):
    make(tmp_path / "g", 3)
    check(run("eval", "y = v * 2", "--in", tmp_path / "g", "--out", tmp_path / "h", *QUIET))
    np.testing.assert_array_equal(zarr.open_group(tmp_path / "h")["y"][...], np.arange(4) * 2)


@pytest.mark.parametrize("empty", [True, False])
def test_to_zarr_without_empty_chunks(tmp_path, empty):
    x = np.zeros((5, 4))
    x[0, 0] = 1
    x[4, 3] = -0.0  # has a bit set
    a = cubed.from_array(x, chunks=(2, 2)) * 1
    cubed.to_zarr(a, tmp_path / "x", write_empty_chunks=empty)
    cubed.store([a, a + 0], [tmp_path / "y", tmp_path / "z"], write_empty_chunks=empty)
    for name, stored in {"x": 2, "y": 2, "z": 1}.items():
        assert count(tmp_path / name) == (6 if empty else stored)
        np.testing.assert_array_equal(zarr.open_array(tmp_path / name)[...], x)
    later = cubed.to_zarr(a, tmp_path / "l", compute=False, write_empty_chunks=empty)
    np.testing.assert_array_equal(later.compute(), x)
    assert count(tmp_path / "l") == (6 if empty else 2)
