"""Xarray on lazy arrays: the chunk manager, the backend, and Xarray's own methods."""

import subprocess
import sys

import cubed
import numpy as np
import pytest
import xarray as xr

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
        assert list(ds.variables) == list(expected.variables)
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
