"""HDF5 files, and therefore NetCDF-4, are read like Zarr stores: compared with h5py and netCDF4."""

import itertools

import cubed
import h5py
import hdf5plugin
import netCDF4
import numpy as np
import pytest
from conftest import cases, run

TYPES = ["i1", "u1", "<i2", ">i2", "<u2", ">i4", "<u4", "<i8", ">u8", "<f2", ">f2"]
TYPES += ["<f4", ">f4", "<f8", ">f8", "?", "<c8", ">c16", "S3", "S1"]


def values(rng, dtype, shape):
    dtype = np.dtype(dtype)
    if dtype.kind == "S":
        return rng.integers(97, 100, (*shape, dtype.itemsize), np.uint8).view(dtype).reshape(shape)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "fc":
        x = rng.normal(size=shape).astype(dtype)
        return np.where(rng.random(shape) < 0.1, np.nan, x).astype(dtype)
    if rng.random() < 0.5:
        return rng.integers(0, 4, shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype.newbyteorder("="), True).astype(dtype)


def filters(rng):
    """Random filters of a dataset."""
    some = [
        {},
        {"compression": "gzip", "compression_opts": int(rng.integers(0, 10))},
        dict(hdf5plugin.Zstd()),
        dict(hdf5plugin.Blosc(cname="zstd")),
        dict(hdf5plugin.Blosc(cname="lz4", shuffle=0)),
        dict(hdf5plugin.LZ4(nbytes=int(rng.integers(1, 50)) * 8)),
        dict(hdf5plugin.BZip2()),
    ]
    chosen = some[rng.integers(len(some))]
    chosen["shuffle"] = bool(rng.random() < 0.5)
    chosen["fletcher32"] = bool(rng.random() < 0.3)
    return chosen


def add_random(rng, f, name):
    """A dataset of random type, shape, layout and contents; some of its chunks may not be there."""
    dtype = np.dtype(TYPES[rng.integers(len(TYPES))])
    ndim = int(rng.integers(0, 4))
    shape = tuple(int(n) for n in rng.integers(0 if rng.random() < 0.1 else 1, 12, ndim))
    fill = values(rng, dtype, ()) if rng.random() < 0.5 else None
    x = values(rng, dtype, shape)
    layout = rng.integers(3) if ndim else rng.integers(2)
    if layout == 0 or 0 in shape:
        f.create_dataset(name, data=x)
    elif layout == 1:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_layout(h5py.h5d.COMPACT)
        kind = h5py.h5t.py_create(dtype, logical=True)
        space = h5py.h5s.create_simple(shape) if ndim else h5py.h5s.create(h5py.h5s.SCALAR)
        d = h5py.Dataset(h5py.h5d.create(f.id, name.encode(), kind, space, plist))
        d[...] = x
    else:
        chunks = tuple(int(rng.integers(1, n + 3)) for n in shape)
        growing = rng.integers(3)
        most = tuple(n + 7 for n in shape) if growing == 1 else None
        if growing == 2:
            every = zip(shape, chunks, strict=True)
            most = tuple(None if rng.random() < 0.5 else max(n, c) for n, c in every)
        if growing != 2:
            chunks = tuple(min(n, c) for n, c in zip(shape, chunks, strict=True))
        else:
            every = zip(chunks, most, strict=True)
            chunks = tuple(c if m is None else min(c, m) for c, m in every)
        how = filters(rng)
        like = {"chunks": chunks, "maxshape": most, "fillvalue": fill}
        try:
            d = f.create_dataset(name, shape, dtype, **like, **how)
        except ValueError:  # not all filters take all sizes of elements
            d = f.create_dataset(name, shape, dtype, **like)
        if rng.random() < 0.5:
            d[...] = x
        elif ndim:
            d[: shape[0] // 2] = x[: shape[0] // 2]
        if growing and rng.random() < 0.5:
            d.resize(tuple(max(1, n - 2) for n in shape))


@pytest.mark.parametrize("libver", ["earliest", "v108", "latest"])
def test_random_datasets_read_as_h5py_reads_them(tmp_path, libver):
    rng = np.random.default_rng([5, len(libver)])
    for k in range(cases(20)):
        path = tmp_path / f"{k}.h5"
        with h5py.File(path, "w", libver=libver, track_order=bool(rng.random() < 0.5)) as f:
            names = [f"x{i}" for i in range(int(rng.integers(1, 20)))]
            for name in names:
                add_random(rng, f, name)
        with h5py.File(path) as f:
            arrays = [cubed.from_zarr(path, name) for name in names]
            for name, got in zip(names, cubed.compute(*arrays), strict=True):
                want = f[name][...]
                assert got.dtype == want.dtype.newbyteorder("="), (k, name)
                np.testing.assert_array_equal(got, want, err_msg=f"{k} {name} {f[name]}")
        path.unlink()


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize(
    ("shape", "most", "chunks"),
    [
        ((5000,), (5000,), (3,)),  # a table in pages
        ((5000,), (None,), (3,)),  # one that may become longer
        ((3, 4000), (3, None), (2, 3)),  # along another axis than the first
        ((60, 70), (None, None), (1, 2)),  # along both
        ((1, 1), (1, 1), (1, 1)),
    ],
)
def test_tables_of_many_chunks(tmp_path, libver, shape, most, chunks):
    x = np.arange(np.prod(shape), dtype="i4").reshape(shape)
    with h5py.File(tmp_path / "a.h5", "w", libver=libver) as f:
        for name, how in {"raw": {}, "packed": {"compression": "gzip"}}.items():
            f.create_dataset(name, data=x, maxshape=most, chunks=chunks, **how)
    for name in ("raw", "packed"):
        np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "a.h5", name).compute(), x)


def test_chunks_may_be_spared_filters(tmp_path):
    x = np.arange(40, dtype="<i4").reshape(4, 10)
    with h5py.File(tmp_path / "a.h5", "w") as f:
        d = f.create_dataset(
            "x", x.shape, x.dtype, chunks=(1, 10), compression="gzip", shuffle=True, fletcher32=True
        )
        d[2:] = x[2:]
        d.id.write_direct_chunk((0, 0), x[0].tobytes(), filter_mask=7)
        shuffled = x[1].view("u1").reshape(10, 4).T.tobytes()
        d.id.write_direct_chunk((1, 0), shuffled, filter_mask=6)
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "a.h5", "x").compute(), x)


def test_groups_and_links(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w", libver="latest") as f:
        for i in range(40):  # more than a header has room for
            f.create_group(f"g{i}")["x"] = np.full(3, i)
        f["g0/again"] = f["g1/x"]
        f["g2/up"] = f["/"]  # a circle
        f["soft"] = h5py.SoftLink("/g0/x")
    got = run("info", tmp_path / "a.h5", "--json")
    assert got.code == 0, got.err
    for i in (0, 7, 39):
        x = cubed.from_zarr(tmp_path / "a.h5", f"g{i}/x")
        assert x.compute().tolist() == [i] * 3
    assert cubed.from_zarr(tmp_path / "a.h5", "g0/again").compute().tolist() == [1] * 3


def test_user_block(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w", userblock_size=1024) as f:
        f.create_dataset("x", data=np.arange(9), chunks=(2,))
        f["y"] = np.arange(4.0)
    assert cubed.from_zarr(tmp_path / "a.h5", "x").compute().tolist() == list(range(9))
    assert cubed.from_zarr(tmp_path / "a.h5", "y").compute().tolist() == [0, 1, 2, 3]


def make_netcdf(path, rng, nattrs=3, **options):
    with netCDF4.Dataset(path, "w", **options) as d:
        d.title = "a test"
        for i in range(nattrs):
            d.setncattr(f"list{i}", np.arange(i + 2))
        for name, n in {"time": None, "lat": 4, "lon": 6, "nv": 2}.items():
            d.createDimension(name, n)
        t = d.createVariable("time", "f8", ("time",))
        t.units = "hours since 2000-01-01"
        t[:] = np.arange(7.0)
        d.createVariable("lat", "f4", ("lat",))[:] = np.linspace(-90, 90, 4)
        d.createVariable("bounds", "f4", ("lat", "nv"))[:] = rng.normal(size=(4, 2))
        packed = d.createVariable("t2m", "i2", ("time", "lat", "lon"), fill_value=-9, zlib=True)
        packed.setncatts({"scale_factor": 0.25, "add_offset": 273.0, "units": "K"})
        packed[:] = np.ma.masked_less(270 + 5 * rng.normal(size=(7, 4, 6)), 268)
        d.createVariable("u", "f4", ("time", "lat", "lon"))[:5] = rng.normal(size=(5, 4, 6))
        d.createVariable("n", "i4", ())[...] = 42


def test_netcdf_has_names_attributes_and_missing_values(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "era.nc"
    make_netcdf(path, rng, nattrs=12)
    x = cubed.from_zarr(path, "t2m")
    assert tuple(x._x.dim_names) == ("time", "lat", "lon")
    assert x.attrs["units"] == "K"
    assert x.attrs["scale_factor"] == 0.25
    assert cubed.from_zarr(path, "bounds")._x.dim_names == ("lat", "nv")
    assert cubed.from_zarr(path, "n").compute() == 42
    with netCDF4.Dataset(path) as d:
        want = np.ma.filled(d["t2m"][:].astype("f8"), np.nan)
        u = np.ma.filled(d["u"][:], netCDF4.default_fillvals["f4"])
    got = run("eval", "x=t2m + 0; m=nanmean(t2m, dim='time'); w=u+0", path, "--decode", "--json")
    assert got.code == 0, got.err
    np.testing.assert_array_equal(got.arrays()["x"], want)
    np.testing.assert_array_equal(cubed.from_zarr(path, "u").compute(), u)
    assert run("eval", "t2m[0]", path, "--json", "--decode").code == 0


def test_a_file_as_zarr(tmp_path):
    path, out = tmp_path / "era.nc", tmp_path / "era.zarr"
    make_netcdf(path, np.random.default_rng(2))
    with netCDF4.Dataset(path) as d:
        d.set_auto_maskandscale(False)
        want = d["t2m"][:]
    assert run("rechunk", f"{path}::t2m", out, "--chunks", "7,2,3").code == 0
    np.testing.assert_array_equal(cubed.from_zarr(out).compute(), want)
    copied = run("eval", "t=t2m+0; m=mean(u, dim='time')", path, "--out", tmp_path / "r.zarr")
    assert copied.code == 0, copied.err
    import xarray as xr

    with xr.open_zarr(tmp_path / "r.zarr", consolidated=False) as d:
        assert d.title == "a test"
        assert d.t.dims == ("time", "lat", "lon")
        assert d.time.values[1] == np.datetime64("2000-01-01T01", "ns")


def test_xarray_reads_it_lazily(tmp_path):
    import xarray as xr

    path = tmp_path / "era.nc"
    make_netcdf(path, np.random.default_rng(3))
    with xr.open_dataset(path, engine="netcdf4") as want:
        got = xr.open_dataset(path, engine="cubed")
        assert isinstance(got.t2m.data, cubed.Array)
        xr.testing.assert_equal(got.mean("time").compute(), want.mean("time").compute())
        xr.testing.assert_identical(got.compute().drop_vars("n"), want.load().drop_vars("n"))


def test_xarray_reads_texts_by_itself(tmp_path):
    import xarray as xr

    path = tmp_path / "a.nc"
    want = xr.Dataset({"name": ("x", np.array(["a", "bcd"], object)), "v": ("x", [1.0, 2.0])})
    want.to_netcdf(path, engine="netcdf4")
    got = xr.open_dataset(path, engine="cubed")
    assert isinstance(got.v.data, cubed.Array)
    xr.testing.assert_equal(got.compute(), want)


def test_workers_open_files_again(tmp_path):
    path = tmp_path / "era.nc"
    make_netcdf(path, np.random.default_rng(4))
    one = run("eval", "nanmean(t2m, axis=0)", path, "--json")
    other = run("eval", "nanmean(t2m, axis=0)", path, "--json", "--executor", "processes")
    assert one.code == other.code == 0, other.err
    assert one.array().tolist() == other.array().tolist()


def test_a_file_that_changed_since_planning_is_an_error(tmp_path):
    path = tmp_path / "a.h5"
    x = np.arange(100)
    with h5py.File(path, "w") as f:
        f.create_dataset("x", data=x, chunks=(10,), compression="gzip")
    y = cubed.from_zarr(path, "x") + 1
    with h5py.File(path, "w") as f:
        f.create_dataset("x", data=x[:50], chunks=(10,))
    with pytest.raises((OSError, ValueError), match=r"a\.h5"):
        y.compute()


def unsupported():
    yield "text", lambda f: f.create_dataset("x", data=["a", "bc"]), "variable-length text"
    pair = np.zeros(3, [("a", "i4"), ("b", "f8")])
    yield "compound", lambda f: f.create_dataset("x", data=pair), "compound"
    ragged = h5py.vlen_dtype("i4")
    yield "ragged", lambda f: f.create_dataset("x", (3,), ragged), "variable-length"
    layout = h5py.VirtualLayout((4,), "i4")
    yield "virtual", lambda f: f.create_virtual_dataset("x", layout), "virtual"
    yield "szip", lambda f: f.create_dataset("x", data=np.arange(9), compression="lzf"), "LZF"
    outside = {"external": [("/dev/null", 0, 40)]}
    yield "external", lambda f: f.create_dataset("x", (10,), "i4", **outside), "external"
    yield "null", lambda f: f.create_dataset("x", data=h5py.Empty("f4")), "null"


@pytest.mark.parametrize(("name", "make", "words"), unsupported())
def test_what_is_not_read_is_named(tmp_path, name, make, words):
    with h5py.File(tmp_path / "a.h5", "w", libver="latest") as f:
        make(f)
        f["y"] = np.arange(3)
    with pytest.raises(NotImplementedError, match=words):
        cubed.from_zarr(tmp_path / "a.h5", "x")
    assert cubed.from_zarr(tmp_path / "a.h5", "y").compute().tolist() == [0, 1, 2]
    info = run("info", tmp_path / "a.h5")
    assert info.code == 0, info.err
    assert words in info.out


def test_files_are_not_written_to(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as f:
        f["x"] = np.arange(3)
    before = path.read_bytes()
    got = run("eval", "x+1", path, "--out", f"{path}::y")
    assert got.code == 2
    assert "can only be read" in got.err
    got = run("eval", "x+1", path, "--out", path, "--overwrite")
    assert got.code != 0
    assert path.read_bytes() == before
    with pytest.raises(ValueError, match="can only be read"):
        cubed.to_zarr(cubed.from_zarr(path, "x"), tmp_path / "new.h5")
    assert run("eval", "zeros((3,))", "--out", tmp_path / "new.cdf").code == 2
    assert not list(tmp_path.glob("new.*"))
    other = tmp_path / "other.txt"
    other.write_text("no array")
    got = run("info", other)
    assert got.code == 1
    assert "is a file of an unknown format" in got.err


def damaged(data, rng):
    """The bytes with a few of them changed, or cut, or a part in another's place."""
    out = bytearray(data)
    what = rng.integers(4)
    if what == 0:
        return bytes(out[: rng.integers(0, len(out))])
    if what == 1:
        n = int(rng.integers(1, 64))
        a, b = rng.integers(0, len(out) - n, 2)
        out[a : a + n] = out[b : b + n]
        return bytes(out)
    for at in rng.integers(0, len(out), int(rng.integers(1, 8))):
        bit = 1 << int(rng.integers(8))
        out[at] = rng.integers(256) if what == 2 else out[at] ^ bit
    return bytes(out)


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_damaged_files_are_errors(tmp_path, libver):
    rng = np.random.default_rng([7, len(libver)])
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", libver=libver, track_order=True) as f:
        for i, (n, most) in enumerate(itertools.product((5, 30), (None, 40))):
            f.create_dataset(
                f"x{i}", data=np.arange(n), chunks=(4,), maxshape=(most,), compression="gzip"
            )
            f[f"x{i}"].attrs["units"] = "K" * (i + 1)
        f["raw"] = np.arange(20.0)
    data = path.read_bytes()
    kinds = (OSError, ValueError, NotImplementedError, MemoryError)
    outcomes = {True: 0, False: 0}
    for _ in range(cases(150)):
        path.write_bytes(damaged(data, rng))
        for name in ("x0", "x3", "raw"):
            try:
                x = cubed.from_zarr(path, name)
                if x.nbytes < 1 << 24:  # a shape may be any
                    x.compute()
                outcomes[True] += 1
            except kinds:
                outcomes[False] += 1
    assert outcomes[False] > 20
