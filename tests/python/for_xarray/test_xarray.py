"""Xarray on lazy arrays: the chunk manager, the backend, and Xarray's own methods."""

import re
import subprocess
import sys

import cubed
import numpy as np
import pytest
import xarray as xr
from conftest import ROOT

import zarr

pytestmark = pytest.mark.filterwarnings("error:.*its values are computed into memory")


@pytest.fixture
def spec(tmp_path):
    return cubed.Spec(work_dir=tmp_path, allowed_mem="50MB", reserved_mem="10MB")


def lazy(x, spec, **chunks):
    return x.chunk(chunks, chunked_array_type="cubed", from_array_kwargs={"spec": spec})


def is_lazy(x):
    return isinstance(x.variable._data, cubed.Array)


def test_importing_cubed_does_not_import_xarray():
    code = "import cubed, sys; assert 'xarray' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# --- The backend ----------------------------------------------------------------------------------


@pytest.fixture(params=[2, 3])
def stored(request, tmp_path):
    """A store of many kinds of encodings."""
    a = np.arange(12.0).reshape(3, 4)
    a[0, 0] = np.nan
    dims = ("t", "x")
    ds = xr.Dataset(
        {"plain": (dims, a), "flags": ("x", np.array([1, 0, 1, 1], bool)), "scalar": 5},
        coords={
            "t": np.array(["2000-01-01", "2000-01-02", "2000-01-04"], "M8[ns]"),
            "lead": ("t", np.array([1, 2, 3], "m8[h]").astype("m8[ns]")),
            "area": ("x", np.arange(4, dtype="f4")),
        },
        attrs={"title": "ä"},
    )
    packed = {"dtype": "i2", "scale_factor": 0.1, "add_offset": 1.5, "_FillValue": -99}
    for name, encoding in {
        "packed": packed,
        "packed32": {**packed, "scale_factor": np.float32(0.5), "add_offset": np.float32(1)},
        "scaled": {**packed, "add_offset": None},
        "missing": {"dtype": "f4", "missing_value": -1.0, "_FillValue": -1.0},
        "unsigned": {"dtype": "i1", "_Unsigned": "true", "_FillValue": -1},
        "integer": {"dtype": "i4", "_FillValue": 7},
    }.items():
        ds[name] = (dims, a)
        ds[name].encoding = {k: v for k, v in encoding.items() if v is not None}
    path = tmp_path / f"{request.param}.zarr"
    ds.to_zarr(path, zarr_format=request.param, consolidated=False)
    ds[["plain", "packed"]].to_zarr(
        path, group="g/h", zarr_format=request.param, consolidated=False
    )
    zarr.consolidate_metadata(path)
    return path


@pytest.mark.filterwarnings("ignore:.*onsolidated metadata")
@pytest.mark.parametrize("mask_and_scale", [True, False])
def test_backend_decodes_as_xarray_does(stored, mask_and_scale):
    options = {"mask_and_scale": mask_and_scale, "decode_timedelta": True}
    expected = xr.open_dataset(stored, engine="zarr", **options)
    for chunks in ({}, {"chunks": {}, "chunked_array_type": "cubed"}):
        ds = xr.open_dataset(stored, engine="cubed", **options, **chunks)
        assert set(ds.variables) == set(expected.variables)
        assert list(ds.data_vars) == list(expected.data_vars)
        for name, v in ds.variables.items():
            assert v.dtype == expected[name].dtype
            if name not in ("t", "lead", "scalar"):  # indices and small times are read at once
                assert is_lazy(ds[name])
                assert ds[name].data.plan().num_stages == 1
        xr.testing.assert_identical(ds.compute(), expected.compute())


@pytest.mark.filterwarnings("ignore:.*onsolidated metadata")
def test_zarr_engine_is_read_natively(stored, spec):
    expected = xr.open_dataset(stored, engine="zarr")
    ds = xr.open_dataset(
        stored,
        engine="zarr",
        chunks={},
        chunked_array_type="cubed",
        from_array_kwargs={"spec": spec},
    )
    names = [n for n, v in ds.variables.items() if n not in ds.indexes and v.ndim]
    for name in names:
        assert is_lazy(ds[name]) and ds[name].data.spec is spec
        if ds[name].dtype.kind in "fib":
            # One pass from the store: no function of Python reads or decodes.
            (stage,) = ds[name].data.plan().stages
            assert stage["inputs"][0]["name"].endswith(f"::{name}")
    xr.testing.assert_identical(ds.compute(), expected.compute())


def test_backend_groups(stored):
    whole = xr.open_dataset(stored, engine="cubed", group="/g/h/", drop_variables="packed")
    assert set(whole.data_vars) == {"plain"}
    listed = xr.open_dataset(stored, engine="cubed", group="g/h", consolidated=False)
    assert set(listed.data_vars) == {"plain", "packed"}
    tree = xr.open_datatree(stored, engine="cubed")
    assert tree.groups == ("/", "/g", "/g/h")
    np.testing.assert_array_equal(tree["g/h/plain"].values, whole.plain.values)
    with pytest.raises(FileNotFoundError, match="no Zarr group"):
        xr.open_dataset(stored, engine="cubed", group="nothing")


def test_backend_takes_a_spec(stored, spec):
    for ds in (
        xr.open_dataset(stored, engine="cubed", spec=spec),
        xr.open_dataset(
            stored,
            engine="cubed",
            chunks={"t": 2},
            chunked_array_type="cubed",
            from_array_kwargs={"spec": spec},
        ),
    ):
        assert ds.plain.data.spec is spec
    assert ds.plain.chunks == ((2, 1), (4,))


def test_decoding_arithmetic_and_reduction_are_one_pass(data, spec):
    ds = xr.open_dataset(data / "eraint_uvz.zarr", engine="cubed", spec=spec)
    mean = (ds.u * ds.v).mean("month")
    (stage,) = mean.data.plan().stages
    assert stage["chunks_read"] == 2 * ds.u.data.npartitions
    assert [i["dtype"] for i in stage["inputs"]] == ["int16", "int16"]
    expected = xr.open_dataset(data / "eraint_uvz.zarr", engine="zarr")
    xr.testing.assert_allclose(mean.compute(), (expected.u * expected.v).mean("month"))


def test_quadratic_means(data, spec):
    """The example of the first announcement."""
    path = data / "eraint_uvz.zarr"
    ds = xr.open_dataset(
        path,
        engine="zarr",
        chunked_array_type="cubed",
        from_array_kwargs={"spec": spec},
        chunks={},
    )
    quad = ds**2
    quad["uv"] = ds.u * ds.v
    mean = quad.mean("month", skipna=False)
    assert all(is_lazy(v) for v in mean.data_vars.values())
    stages = cubed.plan(*(v.data for v in mean.data_vars.values())).stages
    assert len(stages) == 2  # u and v, which are read once, and z
    result = mean.compute()
    ref = xr.open_dataset(path, engine="zarr").load()
    expected = ref**2
    expected["uv"] = ref.u * ref.v
    xr.testing.assert_allclose(result, expected.mean("month", skipna=False))


@pytest.mark.parametrize(
    "function",
    [
        lambda t: t.resample(time="1D").mean(),
        lambda t: t.groupby("time.hour") - t.groupby("time.hour").mean(),
        lambda t: t.rolling(time=24).mean().max("time"),
        lambda t: t.weighted(np.cos(np.deg2rad(t.latitude))).mean(("latitude", "longitude")),
        lambda t: t.astype(float).quantile([0.1, 0.9], "time"),
        lambda t: t.astype(float).interp(latitude=[51.1, 53.2], longitude=[-1.3, 0.1]),
        lambda t: t.sel(time="2019-03-05T12", latitude=52, method="nearest").diff("longitude"),
        lambda t: t.where(t > 280).ffill("time").std("time"),
        lambda t: t.idxmax("time"),
        lambda t: t.polyfit("longitude", 1)["polyfit_coefficients"],
    ],
)
def test_real_temperatures(function, data, spec):
    path = data / "era5_t2m_uk.zarr"
    lazy_one = function(xr.open_dataset(path, engine="cubed", spec=spec).t2m)
    expected = function(xr.open_dataset(path, engine="zarr").t2m.load())
    assert is_lazy(lazy_one) and lazy_one.dtype == expected.dtype
    xr.testing.assert_allclose(lazy_one.compute(), expected, rtol=1e-4)


def test_names_that_others_import():
    """By cubed-xarray, flox and notebooks."""
    from cubed.core import unify_chunks
    from cubed.core.groupby import groupby_blockwise, groupby_reduction
    from cubed.core.ops import blockwise, map_blocks, reduction, store
    from cubed.vendor.dask.array.core import normalize_chunks

    for function in (groupby_blockwise, groupby_reduction, blockwise, reduction, store):
        assert callable(function)
    assert map_blocks is cubed.map_blocks
    chunks = normalize_chunks(("auto", -1, (2, 3)), (100, 7, 5), 10_000, "f8", ((8,), (7,), (5,)))
    assert chunks == ((56, 44), (7,), (2, 3))
    assert normalize_chunks(((2, 3), (4,))) == ((2, 3), (4,))
    with pytest.raises(ValueError, match="need the type"):
        normalize_chunks("auto", (10,))
    with pytest.raises(ValueError, match="add up"):
        normalize_chunks(((2, 3),), (6,))
    x, y = cubed.ones((4, 6), chunks=(2, 3)), cubed.ones((6,), chunks=(2,))
    unified, (a, b) = unify_chunks(x, "ij", y, "j")
    assert unified == {"i": (2, 2), "j": (2, 2, 2)}
    assert a.chunks == ((2, 2), (2, 2, 2)) and b.chunks == ((2, 2, 2),)
    with pytest.raises(ValueError, match="extents 6 and 4"):
        unify_chunks(x, "ij", x, "ji")


# --- Writing --------------------------------------------------------------------------------------


@pytest.fixture
def table():
    return xr.Dataset(
        {"a": (("t", "x"), np.arange(48.0).reshape(12, 4)), "b": ("t", np.arange(12))},
        coords={"t": np.arange(12)},
    )


def read(path):
    return xr.open_dataset(path, engine="zarr", consolidated=False).load()


@pytest.mark.parametrize("executor", ["single-threaded", "threads", "processes"])
def test_write(table, tmp_path, executor):
    # zarr-python's threads are in what a worker process may use.
    spec = cubed.Spec(work_dir=tmp_path, allowed_mem="300MB", reserved_mem="200MB")
    path = tmp_path / "a.zarr"
    lazy(table, spec, t=4).to_zarr(
        path, consolidated=False, chunkmanager_store_kwargs={"executor": executor}
    )
    xr.testing.assert_identical(read(path), table)


def test_write_encoded(table, spec, tmp_path):
    ds = lazy(table.where(table.t != 5), spec, t=4)
    ds.a.encoding = {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -9}
    ds.to_zarr(tmp_path / "a.zarr", consolidated=False)
    xr.testing.assert_equal(read(tmp_path / "a.zarr"), table.where(table.t != 5))


def test_directories_are_written_without_zarr_python(table, spec, tmp_path, monkeypatch):
    assigned = []
    monkeypatch.setattr("cubed.io._regions._Writer.__call__", lambda *args: assigned.append(args))
    lazy(table, spec, t=4).to_zarr(tmp_path / "a.zarr", consolidated=False)
    xr.testing.assert_identical(read(tmp_path / "a.zarr"), table)
    assert not assigned


def test_a_target_is_not_read_while_it_is_written(table, spec, tmp_path):
    path = tmp_path / "a.zarr"
    lazy(table, spec, t=4).to_zarr(path, consolidated=False)
    stored = xr.open_dataset(path, engine="cubed", chunks={}, consolidated=False)
    with pytest.raises(ValueError, match="would overwrite the source"):
        (stored[["a"]] + 1).drop_vars("t").to_zarr(path, region={"t": slice(0, 12)})
    xr.testing.assert_identical(read(path), table)


def test_append_and_regions(table, spec, tmp_path):
    path, later = tmp_path / "a.zarr", table.assign_coords(t=np.arange(12, 24))
    lazy(table, spec, t=4).to_zarr(path, consolidated=False)
    lazy(later, spec, t=4).to_zarr(path, append_dim="t", consolidated=False)
    xr.testing.assert_identical(read(path), xr.concat([table, later], "t"))
    changed = lazy(table, spec, t=4).isel(t=slice(4, 8)) + 100
    changed.to_zarr(path, region="auto", consolidated=False)
    assert read(path).a.values[:12, 0].tolist() == [
        0,
        4,
        8,
        12,
        *range(116, 132, 4),
        *range(32, 48, 4),
    ]
    with pytest.raises(ValueError, match="covers chunks of variable"):
        changed.isel(t=slice(1, 3)).to_zarr(path, region="auto", consolidated=False)


def test_write_later(table, spec, tmp_path):
    from cubed.xarray._chunkmanager import CubedManager

    target = zarr.create_array(tmp_path / "a.zarr", shape=(12, 4), chunks=(4, 4), dtype="f8")
    source = lazy(table, spec, t=4).a.data
    write = CubedManager().store([source], [target], lock=True, compute=False, regions=[None])
    assert not target[:].any()
    write.compute()
    np.testing.assert_array_equal(target[:], table.a.values)
    with pytest.raises(ValueError, match="shape"):
        CubedManager().store(source, target, regions=(slice(2, 4), slice(None)))
    with pytest.raises(ValueError, match="1 sources for 2 targets"):
        CubedManager().store([source], [target, target])


def test_targets_that_cannot_be_pickled(table, spec):
    """They are written in this process, and refused by others, with their name."""
    from cubed.xarray._chunkmanager import CubedManager

    class Target:
        def __init__(self):
            self.values = np.zeros((12, 4))
            self.shape = self.values.shape

        def __setitem__(self, key, value):
            self.values[key] = value

        def __reduce__(self):
            raise TypeError("not this one")

    source, target = lazy(table, spec, t=4).a.data, Target()
    CubedManager().store(source, target)
    np.testing.assert_array_equal(target.values, table.a.values)
    # A worker's interpreter with all that it imports is in its memory.
    large = cubed.Spec(spec.work_dir, allowed_mem="1GB", reserved_mem="500MB")
    source = lazy(table, large, t=4).a.data
    with pytest.raises(Exception, match="Target cannot be sent to another process"):
        CubedManager().store(source, target, executor="processes")


def test_open_many(table, spec, tmp_path):
    paths = [tmp_path / "a.zarr", tmp_path / "b.zarr"]
    for path in paths:
        table.to_zarr(path, consolidated=False)
    for engine in ("zarr", "cubed"):
        ds = xr.open_mfdataset(
            paths,
            engine=engine,
            combine="nested",
            concat_dim="t",
            consolidated=False,
            chunked_array_type="cubed",
            from_array_kwargs={"spec": spec},
        )
        assert is_lazy(ds.a) and ds.a.data.spec is spec
        xr.testing.assert_identical(ds.compute(), xr.concat([table, table], "t"))
    ds = xr.open_zarr(
        paths[0], chunked_array_type="cubed", from_array_kwargs={"spec": spec}, consolidated=False
    )
    xr.testing.assert_identical(ds.compute(), table)


def test_persist(table, spec):
    kept = (lazy(table, spec, t=4) + 1).persist()
    assert is_lazy(kept.a) and kept.a.chunks == ((4, 4, 4), (4,))
    assert "+" not in kept.a.data.plan().stages[0]["name"]
    xr.testing.assert_identical(kept.compute(), table + 1)


# --- Files of other formats -----------------------------------------------------------------------


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_netcdf(table, tmp_path, executor):
    """Lazily indexed arrays are read by region, decoded by Xarray, and written under its locks."""
    spec = cubed.Spec(work_dir=tmp_path, allowed_mem="300MB", reserved_mem="200MB")
    packed = {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -9}
    table.to_netcdf(tmp_path / "a.nc", encoding={"a": packed}, engine="scipy")
    options = {"chunked_array_type": "cubed", "from_array_kwargs": {"spec": spec}}
    ds = xr.open_dataset(tmp_path / "a.nc", chunks={"t": 5}, engine="scipy", **options)
    assert is_lazy(ds.a) and ds.a.data.numblocks == (3, 1)
    mean = ds.a[::-1, 1:].mean("t").compute(executor=executor, max_workers=1)
    np.testing.assert_allclose(mean, table.a[:, 1:].mean("t"))
    if executor == "threads":  # scipy has the file in memory until it is closed
        xr.testing.assert_equal(ds.compute(), table)
        ds.to_netcdf(
            tmp_path / "b.nc", engine="scipy", encoding={"a": {"dtype": "f8"}, "b": {"dtype": "i4"}}
        )
        xr.testing.assert_equal(xr.load_dataset(tmp_path / "b.nc", engine="scipy"), table)


# --- Filling --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("limit", [None, 1, 3, 100])
def test_fill(spec, dtype, limit):
    rng = np.random.default_rng(5)
    a = rng.normal(size=(3, 40)).astype(dtype)
    a[rng.random(a.shape) < 0.6] = np.nan

    def filled_in_order(lines):
        out = lines.copy()
        for line in out:
            run = 0
            for i in range(1, line.size):
                run = run + 1 if np.isnan(line[i]) and (run or not np.isnan(line[i - 1])) else 0
                if run and run <= (limit or line.size):
                    line[i] = line[i - 1]
        return out

    for axis, b in ((0, a.T), (1, a)):
        x = lazy(xr.DataArray(b, dims=("i", "j")), spec, i=7, j=2)
        for method in ("ffill", "bfill"):
            filled = getattr(x, method)("ij"[axis], limit=limit)
            step = 1 if method == "ffill" else -1
            expected = filled_in_order(a[:, ::step])[:, ::step]
            assert is_lazy(filled) and filled.dtype == dtype
            np.testing.assert_array_equal(filled.values, expected if axis else expected.T)
    flags = lazy(xr.DataArray([True, False], dims="i"), spec, i=1)
    assert flags.ffill("i").values.tolist() == [True, False]


def test_fill_is_bounded(spec):
    """Twenty times the memory, one task's worth at a time."""
    x = cubed.random.random((5_000_000, 4), chunks=(50_000, 4), spec=spec)
    kept = cubed.array_api.where(x < 0.5, x, float("nan"))
    filled = cubed.push(kept, axis=0)
    assert x.nbytes > 3 * spec.allowed_mem
    assert 0.24 < float(cubed.nanmean(filled)) < 0.26


# --- The documentation ----------------------------------------------------------------------------


def test_code_of_the_documentation(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    packed = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 3.0, "_FillValue": -32768}
    winds = xr.Dataset(
        {k: (("time", "x"), rng.normal(size=(40, 12))) for k in "uv"},
        coords={"time": np.arange("2000-01-01", "2000-02-10", dtype="M8[D]").astype("M8[ns]")},
    )
    chunks = {"chunks": (10, 12)}
    winds.to_zarr(tmp_path / "winds.zarr", encoding={k: {**packed, **chunks} for k in "uv"})
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/how-to/xarray.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 7
    scope = {}
    with xr.set_options(chunk_manager="dask"):
        for block in blocks:
            exec(compile(block, "docs/how-to/xarray.md", "exec"), scope)
    for name in ("speed", "ds", "climatology", "anomaly"):
        found = scope[name]
        assert is_lazy(found if isinstance(found, xr.DataArray) else found.u)
    expected = winds.u.mean("time")
    np.testing.assert_allclose(scope["mean"].u.values, expected, atol=0.005)
