"""Lazy arrays of Cubed stay arrays of Cubed, even if Dask is Xarray's default; other arrays stay as
Xarray made them.
"""

import os
import subprocess
import sys

import cubed
import numcodecs
import numpy as np
import pytest
import xarray as xr
from conftest import NIGHTLY


@pytest.fixture
def spec(tmp_path):
    return cubed.Spec(work_dir=tmp_path, allowed_mem="50MB", reserved_mem="10MB")


@pytest.fixture
def table():
    return xr.Dataset(
        {"a": (("t", "x"), np.arange(48.0).reshape(12, 4)), "b": ("t", np.arange(12))},
        coords={"t": np.arange(12)},
    )


@pytest.fixture
def stored(table, tmp_path):
    paths = [tmp_path / "a.zarr", tmp_path / "b.zarr"]
    for path in paths:
        table.to_zarr(path, consolidated=False)
    return paths


def is_lazy(x):
    return isinstance(x.variable._data, cubed.Array)


def test_chunk_keeps_the_kind_of_arrays(table, spec):
    assert xr.get_options()["chunk_manager"] == "dask"
    ds = table.chunk(t=4, chunked_array_type="cubed", from_array_kwargs={"spec": spec})
    ds["c"] = ("t", np.arange(12.0))
    for again in (ds.chunk(), ds.chunk(t=6), ds.chunk({"t": 6}), ds.chunk("auto")):
        assert all(is_lazy(v) and v.data.spec is spec for v in again.data_vars.values())
        xr.testing.assert_identical(again.compute(), ds.compute())
    assert ds.chunk(t=6).chunksizes["t"] == (6, 6)
    assert is_lazy(ds.a.chunk(x=2)) and ds.a.chunk(x=2).chunks == ((4, 4, 4), (2, 2))
    assert isinstance(ds.a.variable.chunk(x=2)._data, cubed.Array)
    # Who asks for Dask's arrays gets them, and NumPy's become what is the default.
    dask = ds.chunk(t=6, chunked_array_type="dask")
    assert type(dask.a.data).__module__.startswith("dask")
    xr.testing.assert_identical(dask.compute(), ds.compute())
    assert type(table.chunk(t=6).a.data).__module__.startswith("dask")


def test_engine_keeps_the_kind_of_arrays(stored, table):
    options = {"engine": "cubed", "consolidated": False}
    for chunks in ({}, {"t": -1}, "auto"):
        ds = xr.open_dataset(stored[0], chunks=chunks, **options)
        assert is_lazy(ds.a) and is_lazy(ds.chunk(t=3).a)
    many = xr.open_mfdataset(stored, combine="nested", concat_dim="t", **options)
    assert is_lazy(many.a)
    xr.testing.assert_identical(many.compute(), xr.concat([table, table], "t"))


def test_arrays_in_data_sets_without_importing_more():
    """Whichever of the two is imported first."""
    code = """
import sys
{imports}
x = cubed.asarray([1.0, float("nan"), 3.0, 4.0], chunks=2)
{late}
da = xr.DataArray(x, dims="x")
results = [
    da.ffill("x"), da.chunk(), da.chunk(x=3), da.persist(), da.rolling(x=2, min_periods=1).sum(),
    da.isel(x=xr.DataArray([1, 2], dims="p")), da.groupby("x").mean(),
]
assert all(isinstance(r.data, cubed.Array) for r in results), results
assert results[0].values.tolist() == [1, 1, 3, 4] == da.compute().ffill("x").values.tolist()
assert isinstance(da.load().data, __import__("numpy").ndarray)
"""
    for imports, late in (
        ("import xarray as xr, cubed", ""),
        ("import cubed; assert 'xarray' not in sys.modules", "import xarray as xr"),
    ):
        program = code.format(imports=imports, late=late)
        subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


def test_same_arrays_are_not_compared(spec):
    """Coordinates that are lazy in several axes: the same array is equal without its values."""
    options = {"chunked_array_type": "cubed", "from_array_kwargs": {"spec": spec}}
    grid = xr.DataArray(np.arange(24.0).reshape(4, 6), dims=("y", "x"), name="grid")
    area = grid.chunk(x=2, **options)
    a = (area * 2).assign_coords(area=area)
    with cubed.raise_if_computes():
        total = a + (area * 3).assign_coords(area=area.transpose("y", "x"))
        joined = xr.concat([a, a.isel(y=slice(None))], "n", coords="different")
        merged = xr.merge([a.rename("a"), (a + 1).rename("b").loc[{"x": slice(None)}]])
        for same in (
            a.transpose(...),
            a.squeeze(),
            a.astype(float),
            a.reindex_like(a),
            a.broadcast_like(a),
            a.isel(x=slice(0, 6)),
        ):
            assert same.equals(a)
    assert is_lazy(total.area) and is_lazy(merged.area) and is_lazy(joined.area)
    assert joined.area.dims == ("y", "x")
    other = a.assign_coords(area=area + 0)
    with pytest.raises(RuntimeError, match="computes"), cubed.raise_if_computes():
        a + other
    np.testing.assert_array_equal(total.values, 5 * grid.values)


def test_positions_of_memory_are_checked_there(spec):
    x = xr.Variable(("y", "x"), cubed.asarray(np.arange(24).reshape(4, 6), chunks=2, spec=spec))
    with cubed.raise_if_computes():
        x[[0, -1, 1]] = 99
        points = x[{"y": xr.Variable("p", [3, 1]), "x": xr.Variable("p", [-1, 2])}]
        with pytest.raises(IndexError, match="index 4 is out of bounds for .* of size 4"):
            x[[0, 4]] = 1
        with pytest.raises(IndexError, match="index -7 is out of bounds for .* of size 6"):
            x[{"y": xr.Variable("p", [3, 1]), "x": xr.Variable("p", [-7, 2])}]
    assert x.values[:, 0].tolist() == [99, 99, 12, 99] and points.values.tolist() == [99, 99]


def test_sizes_in_bytes_for_one_axis(spec):
    options = {"chunked_array_type": "cubed", "from_array_kwargs": {"spec": spec}}
    x = xr.DataArray(np.zeros((100, 100)), dims=("y", "x")).chunk(x=10, **options)
    assert x.chunk({"x": "800B"}).chunks == ((100,), (1,) * 100)
    assert x.chunk({"y": "800B"}).chunks == ((10,) * 10, (10,) * 10)
    assert x.isel(x=[]).chunk({"y": "auto"}).shape == (100, 0)
    assert x.assign_coords(y=range(100)).chunk(y=25).idxmax("y").chunks == ((10,) * 10,)


# --- Python's objects -----------------------------------------------------------------------------


@pytest.fixture
def calendar(tmp_path):
    """A year of days without a 29th of February, with bounds of months, and names."""
    time = xr.date_range("2000-01-01", periods=730, calendar="noleap", use_cftime=True)
    ds = xr.Dataset(
        {
            "a": (("time", "x"), np.random.default_rng(0).normal(size=(730, 3))),
            "bounds": (("time", "side"), np.stack([time, time.shift(1, "D")], 1)),
        },
        coords={"time": time},
    )
    ds["names"] = ("x", np.array(["r", "gg", "bbb"], object))
    ds.bounds.encoding = {"units": "days since 2000-01-01", "calendar": "noleap", "dtype": "i4"}
    path = tmp_path / "noleap.zarr"
    ds.to_zarr(path, consolidated=False, encoding={"a": {"chunks": (100, 3)}})
    return path


@pytest.mark.filterwarnings("ignore:an array of .* is not chunked")
@pytest.mark.parametrize("engine", ["zarr", "cubed"])
def test_calendars(calendar, spec, engine):
    expected = xr.open_dataset(calendar, engine="zarr", consolidated=False)
    ds = xr.open_dataset(
        calendar,
        engine=engine,
        consolidated=False,
        chunks={},
        chunked_array_type="cubed",
        from_array_kwargs={"spec": spec},
    )
    assert is_lazy(ds.a) and ds.bounds.dtype == object and not ds.bounds.variable._in_memory
    assert ds.names.dtype.kind in "OT" and not ds.names.variable._in_memory
    for function in (
        lambda d: d.a.groupby("time.month").mean(),
        lambda d: d.a.groupby("time.season").std(),
        lambda d: d.a.groupby("time.month") - d.a.groupby("time.month").mean(),
        lambda d: d.a.groupby("time.dayofyear").max(),
        lambda d: d.a.resample(time="MS").mean(),
        lambda d: d.a.resample(time="QS-DEC").median(),
        lambda d: d.a.sel(time="2001-02"),
        lambda d: d.a.sel(time=slice("2000-03", "2000-05")).mean("time"),
        lambda d: d.a.convert_calendar("standard", use_cftime=False),
        lambda d: d.a.interp(time=d.time[[3, 100]]),
        lambda d: d.a.rolling(time=30).mean(),
        lambda d: d.a.differentiate("time", datetime_unit="D"),
        lambda d: d.a.chunk(time=xr.groupers.TimeResampler("YS")) + 1,
    ):
        result = function(ds)
        assert is_lazy(result)
        xr.testing.assert_allclose(result.compute(), function(expected).compute())
    with pytest.warns(UserWarning, match=r"array of object of shape \(730, 2\)"):
        again = ds.chunk(time=365)
    assert is_lazy(again.a)
    xr.testing.assert_equal(again.bounds.dt.month, expected.bounds.dt.month)
    xr.testing.assert_identical(ds.compute(), expected.compute())
    means = ds.resample(time="MS").mean()
    assert is_lazy(means.a)


def test_codecs_that_the_engine_has_not(tmp_path, spec, table):
    """zarr-python reads them, a region for each chunk."""
    encoding = {"a": {"chunks": (5, 4), "filters": [numcodecs.JenkinsLookup3()]}}
    table.to_zarr(tmp_path / "a.zarr", zarr_format=2, consolidated=False, encoding=encoding)
    with pytest.raises(NotImplementedError):
        cubed.from_zarr(f"{tmp_path}/a.zarr", path="a")
    ds = xr.open_dataset(tmp_path / "a.zarr", engine="cubed", consolidated=False, spec=spec)
    assert is_lazy(ds.a) and ds.a.chunks == ((5, 5, 2), (4,))
    xr.testing.assert_identical(ds.compute(), table)


def test_writing_calendars(calendar, spec, tmp_path):
    options = {"engine": "cubed", "consolidated": False, "spec": spec}
    ds = xr.open_dataset(calendar, **options)
    ds.to_zarr(tmp_path / "copy.zarr", consolidated=False)
    copy = xr.open_dataset(tmp_path / "copy.zarr", **options)
    assert copy.time.dt.calendar == "noleap"
    xr.testing.assert_equal(copy.compute(), ds.compute())


# --- Beside cubed-xarray --------------------------------------------------------------------------

WORKS = """
import numpy as np, sys
if {last}:
    sys.path.append({path!r})
import xarray as xr
ds = xr.Dataset({{"a": ("x", np.arange(6.0))}}).chunk(x=2, chunked_array_type="cubed")
import cubed_xarray.cubedmanager as other
from cubed.xarray._chunkmanager import CubedManager
from xarray.namedarray.parallelcompat import list_chunkmanagers
assert type(list_chunkmanagers()["cubed"]) is CubedManager is other.CubedManager
assert type(ds.a.data).__module__ == "cubed.array._array"
assert (ds.persist() + 1).mean().a.compute() == 3.5
"""


def works_beside(path, last):
    environment = {**os.environ, "PYTHONPATH": "" if last else str(path)}
    program = WORKS.format(last=last, path=str(path))
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)


@pytest.mark.parametrize("last", [False, True])
def test_another_manager_of_the_name(last, tmp_path):
    """Ours is taken, wherever Xarray finds the other."""
    (tmp_path / "cubed_xarray").mkdir()
    (tmp_path / "cubed_xarray/__init__.py").touch()
    (tmp_path / "cubed_xarray/cubedmanager.py").write_text("class CubedManager: available = True")
    info = tmp_path / "cubed_xarray-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: cubed-xarray\nVersion: 0\n")
    (info / "entry_points.txt").write_text(
        "[xarray.chunkmanagers]\ncubed = cubed_xarray.cubedmanager:CubedManager\n"
    )
    works_beside(tmp_path, last)


@pytest.mark.skipif(not NIGHTLY, reason="installs a package: --nightly does")
@pytest.mark.parametrize("last", [False, True])
def test_cubed_xarray(last, tmp_path):
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", tmp_path]
    subprocess.run([*pip, "cubed-xarray==0.0.9"], check=True)
    works_beside(tmp_path, last)


def test_whole_floats_are_sizes_of_chunks():
    """Results of divisions, as Dask takes them."""
    x = xr.DataArray(np.zeros((4, 3)), dims=("x", "y"))
    for chunks in ({"x": 2.0}, {"x": (2.0, 2)}, {"x": np.float32(2), "y": -1.0}, 2.0):
        expected = x.chunk(2 if chunks == 2.0 else {"x": 2}, chunked_array_type="cubed").chunks
        assert x.chunk(chunks, chunked_array_type="cubed").chunks == expected
        assert all(isinstance(n, int) for sizes in expected for n in sizes)
    assert cubed.ones((4, 3), chunks=(2.0, 3)).rechunk({0: 1.0}).chunks == ((1, 1, 1, 1), (3,))
    with pytest.raises(TypeError, match=r"an extent is 2\.5, expected an integer"):
        x.chunk({"x": 2.5}, chunked_array_type="cubed")
