"""Compares variable-length strings as labels and coordinates in the command with Xarray."""

import json
import shutil
import warnings

import h5py
import numpy as np
import pytest
import xarray as xr
from conftest import check, run

import zarr

QUIET = ("--progress", "none")
TEXTS = np.array(["north", "é", "", "north", "日本語 🙂", "é", "s", "", "north", "s", "é"], object)
COMPRESSORS = {
    "none": {2: None, 3: None},
    "zstd": {2: {"id": "zstd", "level": 3}, 3: {"name": "zstd", "configuration": {"level": 3}}},
    "blosc": {2: {"id": "blosc", "cname": "lz4"}, 3: zarr.codecs.BloscCodec(cname="lz4")},
    "gzip": {2: {"id": "gzip", "level": 1}, 3: {"name": "gzip", "configuration": {"level": 1}}},
}


def make(path, zarr_format=3, **encoding):
    rng = np.random.default_rng(4)
    ds = xr.Dataset(
        {"t": (("a", "y", "b"), rng.normal(size=(6, 11, 5)), {"units": "K"})},
        coords={"region": ("y", TEXTS, {"long_name": "what it is"}), "name": ("a", TEXTS[:6])},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ds.to_zarr(path, encoding={"region": encoding}, zarr_format=zarr_format, consolidated=False)
    doc = path / ("region/zarr.json" if zarr_format == 3 else "region/.zarray")
    assert ("string" if zarr_format == 3 else "vlen-utf8") in doc.read_text()
    return ds


def opened(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return xr.open_zarr(path, consolidated=False).load()


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("codec", COMPRESSORS)
def test_groups(tmp_path, zarr_format, codec):
    place, out = tmp_path / "a.zarr", tmp_path / "r.zarr"
    used = COMPRESSORS[codec][zarr_format]
    ds = make(place, zarr_format, chunks=(4,), compressors=used and (used,))
    text = 'm = mean(t, groupby=region); q = groupby(t, "region", "quantile", q=(0.1, 0.9))'
    check(run("eval", text, place, "--out", out, *QUIET))
    got, groups = opened(out), ds.t.groupby("region")
    np.testing.assert_allclose(got.m, groups.mean().transpose("a", "region", "b"), rtol=1e-12)
    want = groups.quantile([0.1, 0.9]).transpose("quantile", "a", "region", "b")
    np.testing.assert_allclose(got.q, want, rtol=1e-12)
    assert got.region.values.tolist() == want.region.values.tolist()
    assert got.region.attrs == {"long_name": "what it is"}
    # What describes another dimension goes with the results.
    assert opened(out).m.sel(region="north").shape == (6, 5)


def test_values_and_coordinates(tmp_path):
    ds = make(tmp_path / "a.zarr", chunks=(3,))
    got = check(run("eval", "region; labels = group_labels(region)", tmp_path / "a.zarr", "--json"))
    assert got.arrays()["region"].tolist() == TEXTS.tolist()
    assert got.arrays()["labels"].tolist() == sorted(set(TEXTS))
    shown = check(run("eval", "region[1:5]", tmp_path / "a.zarr", *QUIET)).out
    assert "日本語 🙂" in shown
    # A coordinate stays with what is left of its dimension, and decoding leaves texts as they are.
    check(run("eval", "t[:, 2:9:3] * 2", tmp_path / "a.zarr", "--decode", "--out",
              tmp_path / "r.zarr", *QUIET))  # fmt: skip
    r = opened(tmp_path / "r.zarr")
    np.testing.assert_allclose(r.t, ds.t[:, 2:9:3] * 2)
    assert r.region.values.tolist() == TEXTS[2:9:3].tolist()


def test_chunks_that_are_not_there_and_scalars(tmp_path):
    g = zarr.create_group(tmp_path / "g")
    kind = {"dtype": str, "fill_value": "gap", "dimension_names": ["y"]}
    some = g.create_array("some", shape=(7,), chunks=(2,), **kind)
    some[2:4] = np.array(["a", "longer"], object)
    g.create_array("none", shape=(0,), chunks=(1,), **kind)
    one = g.create_array("one", shape=(), dtype=str)
    one[...] = "alone"
    two = g.create_array("two", shape=(3, 5), chunks=(2, 2), dtype=str)
    values = np.array([[f"{i} {k}" for k in range(5)] for i in range(3)], object)
    two[...] = values
    got = check(run("eval", "s = some; n = none; o = one; w = two", tmp_path / "g", "--json"))
    got = got.arrays()
    assert got["s"].tolist() == ["gap", "gap", "a", "longer", "gap", "gap", "gap"]
    assert got["n"].shape == (0,)
    assert got["o"] == "alone"
    assert got["w"].tolist() == values.tolist()


DAMAGES = {
    "no text": lambda b: b"",
    "too few": lambda b: b[:-1],
    "another number": lambda b: b"\x05" + b[1:],
    "a huge text": lambda b: b[:4] + b"\xff\xff\xff\xff" + b[8:],
    "no UTF-8": lambda b: b[:8] + b"\xff" + b[9:],
    "half a character": lambda b: b[:8] + b"\xe6" + b[9:],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_chunks(tmp_path, damage):
    z = zarr.create_array(tmp_path / "x", shape=(4,), dtype=str, compressors=None)
    z[...] = np.array(["ab", "c", "", "d"], object)
    chunk = tmp_path / "x/c/0"
    chunk.write_bytes(DAMAGES[damage](chunk.read_bytes()))
    r = run("eval", "x", "--in", f"x={tmp_path / 'x'}", *QUIET)
    assert r.code == 1
    assert "chunk c/0" in r.err
    says = "UTF-8" if damage in ("no UTF-8", "half a character") else "does not contain the strings"
    assert says in r.err


def test_what_is_too_large_or_not_known(tmp_path):
    path = tmp_path / "x"
    z = zarr.create_array(path, shape=(1 << 21,), chunks=(1 << 20,), dtype=str)
    z[5] = "of nine characters"
    r = run("eval", "x", "--in", f"x={path}", *QUIET)
    assert r.code == 1
    assert "2097152 strings of up to 18 characters" in r.err
    big = zarr.create_array(tmp_path / "s", shape=(5,), chunks=(1,), shards=(1 << 23,), dtype=str)
    assert big.shape == (5,)
    r = run("eval", "s", "--in", f"s={tmp_path / 's'}", *QUIET)
    assert r.code == 1
    assert "the index of a shard has more than 67108864 bytes" in r.err


def irregular(path, x, shapes, inner=None):
    """A rectilinear array, each chunk of which zarr-python writes as an array of its own."""
    dtype = str if x.dtype == object else x.dtype
    for at in np.ndindex(*map(len, shapes)):
        shape = tuple(lengths[i] for lengths, i in zip(shapes, at, strict=True))
        begin = [sum(lengths[:i]) for lengths, i in zip(shapes, at, strict=True)]
        block = x[tuple(slice(b, b + n) for b, n in zip(begin, shape, strict=True))]
        whole = np.full(shape, "", x.dtype)
        whole[tuple(map(slice, block.shape))] = block
        how = {"chunks": inner or shape, "shards": shape if inner else None}
        one = zarr.create_array(path / "one", shape=shape, dtype=dtype, **how)
        one[...] = whole
        doc = json.loads((path / "one/zarr.json").read_text())
        to = path / "c" / "/".join(map(str, at))
        to.parent.mkdir(parents=True, exist_ok=True)
        (path / "one/c" / "/".join(["0"] * x.ndim)).rename(to)
        shutil.rmtree(path / "one")
    inline = {"kind": "inline", "chunk_shapes": shapes}
    doc |= {"shape": x.shape, "chunk_grid": {"name": "rectilinear", "configuration": inline}}
    (path / "zarr.json").write_text(json.dumps(doc))


@pytest.mark.parametrize("dtype", [object, "U14"])
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("location", ["start", "end"])
def test_shards(tmp_path, dtype, location):
    x = TEXTS.astype(dtype)
    kind = str if dtype is object else dtype
    shards = {"shape": (8,), "index_location": location}
    z = zarr.create_array(tmp_path / "x", shape=x.shape, chunks=(2,), shards=shards, dtype=kind,
                          fill_value="gap")  # fmt: skip
    z[:6] = x[:6]  # an inner chunk is not there, and a shard is not
    grid = np.array([[f"{i} {k}" for k in range(5)] for i in range(7)], dtype)
    shards["shape"] = (4, 4)
    z = zarr.create_array(tmp_path / "y", shape=grid.shape, chunks=(2, 1), shards=shards,
                          dtype=kind, compressors=None)  # fmt: skip
    z[...] = grid
    got = check(run("eval", "x; y = y", "--in", f"x={tmp_path / 'x'}", "--in",
                    f"y={tmp_path / 'y'}", "--json"))  # fmt: skip
    assert got.arrays()["x"].tolist() == [*TEXTS[:6], *["gap"] * 5]
    assert got.arrays()["y"].tolist() == grid.tolist()


@pytest.mark.parametrize("dtype", [object, "U14"])
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("inner", [None, (2, 1)])
def test_irregular_chunks(tmp_path, dtype, inner):
    x = np.array([[f"{i} é {k}" for k in range(7)] for i in range(9)], dtype)
    irregular(tmp_path / "x", x, [[4, 2, 6], [3, 1, 3]], inner)
    got = check(run("eval", "x", "--in", f"x={tmp_path / 'x'}", "--json"))
    assert got.array().tolist() == x.tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("order", ["C", "F"])
def test_order_of_axes(tmp_path, order):
    x = np.array([[[f"{i} {j} {k}" for k in range(5)] for j in range(7)] for i in range(4)], object)
    z = zarr.create_array(tmp_path / "x", shape=x.shape, chunks=(3, 4, 2), dtype=str, zarr_format=2,
                          order=order)  # fmt: skip
    z[...] = x
    got = check(run("eval", "x", "--in", f"x={tmp_path / 'x'}", "--json"))
    assert got.array().tolist() == x.tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("location", ["start", "end"])
@pytest.mark.parametrize("depth", [2, 3])
def test_shards_within_shards(tmp_path, depth, location):
    x = np.array([[f"{i} é {k}" * (k + 1) for k in range(9)] for i in range(13)], object)
    codec = zarr.codecs.ShardingCodec(
        chunk_shape=(1, 2),
        codecs=[zarr.codecs.VLenUTF8Codec(), zarr.codecs.ZstdCodec()],
        index_location=location,
    )
    for i in range(depth - 1):
        codec = zarr.codecs.ShardingCodec(chunk_shape=(2 << i, 2 << i), codecs=[codec])
    z = zarr.create_array(tmp_path / "x", shape=x.shape, chunks=(8, 8), dtype=str,
                          serializer=codec, compressors=None, fill_value="gap")  # fmt: skip
    z[:9, 1:] = x[:9, 1:]  # inner shards are not there, and chunks of those that are
    got = check(run("eval", "x", "--in", f"x={tmp_path / 'x'}", "--json"))
    assert got.array().tolist() == z[...].tolist()
    assert (tmp_path / "x/zarr.json").read_text().count("sharding_indexed") == depth


def test_labels_in_shards(tmp_path):
    ds = make(tmp_path / "a.zarr", chunks=(2,), shards=(6,))
    irregular(tmp_path / "a.zarr/uneven", TEXTS, [[5, 2, 4]])
    doc = json.loads((tmp_path / "a.zarr/uneven/zarr.json").read_text())
    (tmp_path / "a.zarr/uneven/zarr.json").write_text(json.dumps(doc | {"dimension_names": ["y"]}))
    text = "m = mean(t, groupby=region); n = mean(t, groupby=uneven)"
    check(run("eval", text, tmp_path / "a.zarr", "--out", tmp_path / "r.zarr", *QUIET))
    want = ds.t.groupby("region").mean().transpose("a", "region", "b")
    got = opened(tmp_path / "r.zarr")
    np.testing.assert_allclose(got.m, want, rtol=1e-12)
    np.testing.assert_allclose(got.n, want, rtol=1e-12)
    assert got.region.values.tolist() == got.uneven.values.tolist() == want.region.values.tolist()


DAMAGED_SHARDS = {
    "no index": lambda b: b[:30],
    "a flipped index": lambda b: b[:-20] + bytes([b[-20] ^ 255]) + b[-19:],
    "a flipped text": lambda b: b"\x09" + b[1:],
}


@pytest.mark.parametrize("damage", DAMAGED_SHARDS)
def test_damaged_shards(tmp_path, damage):
    z = zarr.create_array(tmp_path / "x", shape=(4,), chunks=(2,), shards=(4,), dtype=str,
                          compressors=None)  # fmt: skip
    z[...] = np.array(["ab", "c", "", "d"], object)
    shard = tmp_path / "x/c/0"
    shard.write_bytes(DAMAGED_SHARDS[damage](shard.read_bytes()))
    r = run("eval", "x", "--in", f"x={tmp_path / 'x'}", *QUIET)
    assert r.code == 1
    assert "chunk c/0" in r.err


def test_netcdf(tmp_path):
    """Copies and results: characters, as Xarray reads them, and as the command reads them again."""
    ds = make(tmp_path / "a.zarr", chunks=(4,))
    check(run("copy", tmp_path / "a.zarr", tmp_path / "b.nc", *QUIET))
    with xr.open_dataset(tmp_path / "b.nc") as d:
        np.testing.assert_array_equal(d.t, ds.t)
        assert d.region.values.tolist() == TEXTS.tolist()
        assert d.name.values.tolist() == TEXTS[:6].tolist()
    told = json.loads(check(run("info", tmp_path / "b.nc", "--json")).out)
    assert {e["path"]: e["dims"] for e in told if "dims" in e}["region"] == ["y", "string14"]
    check(run("copy", tmp_path / "b.nc", tmp_path / "c.nc", *QUIET))
    with xr.open_dataset(tmp_path / "c.nc") as d:
        assert d.region.values.tolist() == TEXTS.tolist()
    # Characters are labels, too, and coordinates that stay.
    groups = ds.t.groupby("region").mean()
    for out in ("r.nc", "r.zarr"):
        text = "m = mean(t, groupby=region)"
        check(run("eval", text, tmp_path / "b.nc", "--out", tmp_path / out, *QUIET))
        with opened(tmp_path / out) if out == "r.zarr" else xr.open_dataset(tmp_path / out) as r:
            assert r.region.values.tolist() == groups.region.values.tolist()
            np.testing.assert_allclose(r.m, groups.transpose("a", "region", "b"), rtol=1e-12)


def test_what_zarr_has_no_type_for_is_left_out(tmp_path):
    """Records of HDF5: copies of their bytes would be no arrays."""
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f["t"] = np.arange(4.0)
        f["pair"] = np.zeros(4, [("a", "i4"), ("b", "f8")])
    r = check(run("copy", tmp_path / "a.h5", tmp_path / "b.zarr", *QUIET))
    assert "a.h5::pair is left out" in r.err
    assert zarr.open_group(tmp_path / "b.zarr")["t"][...].tolist() == [0, 1, 2, 3]
    assert not (tmp_path / "b.zarr/pair").exists()
    r = run("copy", f"{tmp_path}/a.h5::pair", tmp_path / "c.zarr", *QUIET)
    assert r.code == 1
    assert "compound" in r.err
    assert not (tmp_path / "c.zarr").exists()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("unlimited", [(), ("y",)])
@pytest.mark.parametrize("encoding", [{}, {"zlib": True, "shuffle": True, "chunksizes": (4,)}])
@pytest.mark.parametrize("engine", ["netcdf4", "h5netcdf"])
def test_strings_of_netcdf(tmp_path, engine, encoding, unlimited):
    """Labels, coordinates that stay, and copies to both kinds of store."""
    place = tmp_path / "a.nc"
    rng = np.random.default_rng(4)
    ds = xr.Dataset(
        {"t": (("a", "y"), rng.normal(size=(6, 11)))},
        coords={"region": ("y", TEXTS, {"long_name": "what it is"}), "name": ("a", TEXTS[:6])},
    )
    how = encoding if engine == "h5netcdf" else {}  # NetCDF's library has no filters of strings
    ds.to_netcdf(place, engine=engine, encoding={"region": how}, unlimited_dims=unlimited)
    told = check(run("info", place)).out
    assert "HDF5's variable-length text" in told
    assert "copied unchanged" not in told
    got = check(run("eval", "region; n = name", place, "--json")).arrays()
    assert got["region"].tolist() == TEXTS.tolist()
    assert got["n"].tolist() == TEXTS[:6].tolist()
    want = ds.t.groupby("region").mean()
    check(run("eval", "m = mean(t, groupby=region)", place, "--out", tmp_path / "m.zarr", *QUIET))
    m = opened(tmp_path / "m.zarr").m
    np.testing.assert_allclose(m, want, rtol=1e-12)
    assert m.region.values.tolist() == want.region.values.tolist()
    for to in ("b.zarr", "b.nc"):
        check(run("copy", place, tmp_path / to, *QUIET))
    with xr.open_dataset(tmp_path / "b.nc") as copied:
        for d in (copied, opened(tmp_path / "b.zarr")):
            assert d.region.values.tolist() == TEXTS.tolist()
            assert d.region.attrs["long_name"] == "what it is"
            np.testing.assert_array_equal(d.t, ds.t)


@pytest.mark.parametrize("libver", ["earliest", "v108", "latest"])
def test_texts_of_hdf5(tmp_path, libver):
    """Parts of the heap of many sizes, chunks that are not there, and fill values."""
    big = np.array([["x" * (7 * i) + f"é{k}" for k in range(20)] for i in range(200)], object)
    kind = h5py.string_dtype()
    with h5py.File(tmp_path / "a.h5", "w", libver=libver) as f:
        f.create_dataset("big", data=big, dtype=kind, chunks=(30, 7), compression="gzip")
        f.create_dataset("gap", (5,), kind, fillvalue="gap")
        some = f.create_dataset("some", (5,), kind, chunks=(2,), fillvalue="not there")
        some[:2] = ["a", ""]
        f["one"] = "alone"
        f.create_dataset("none", (0,), kind, maxshape=(None,))
        f.create_dataset("huge", data=["y" * 100_000, "z"], dtype=kind)
    text = "big; g = gap; s = some; o = one; n = none; h = huge"
    got = check(run("eval", text, tmp_path / "a.h5", "--json")).arrays()
    assert got["big"].tolist() == big.tolist()
    assert got["g"].tolist() == ["gap"] * 5
    assert got["s"].tolist() == ["a", "", *["not there"] * 3]
    assert got["o"] == "alone"
    assert got["n"].shape == (0,)
    assert got["h"].tolist() == ["y" * 100_000, "z"]


def test_damaged_texts_of_hdf5(tmp_path):
    """Whatever byte of a file is changed: what is read are its texts, or an error."""
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f.create_dataset("x", data=["north", "south", "east"], dtype=h5py.string_dtype())
    whole = (tmp_path / "a.h5").read_bytes()
    heap = whole.index(b"GCOL")
    says = set()
    for at, to in [(heap, 0), (heap + 8, 255), (heap + 14, 127), (heap + 16, 9), (heap + 24, 255),
                   (heap + 30, 255), (heap + 32, 255)]:  # fmt: skip
        damaged = bytearray(whole)
        damaged[at] = to
        (tmp_path / "b.h5").write_bytes(damaged)
        r = run("eval", "x", tmp_path / "b.h5", *QUIET)
        assert r.code == 1, at - heap
        assert "b.h5" in r.err
        says.add(r.err.splitlines()[0].rpartition(": ")[2])
    assert len(says) >= 4
