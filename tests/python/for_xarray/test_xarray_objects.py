"""Variables that Xarray decodes to objects: bools stay lazy, others are counted and reported by a
warning.
"""

import sys
import tracemalloc
import warnings

import cftime
import cubed
import numpy as np
import pytest
import xarray as xr
from cubed.xarray import _chunkmanager

import zarr

BOOLS = np.array([True, False, True, True, False, False, True, False, True])
STRINGS = ["a", "", "ccc", "NA", "e", "", "a", "b", "i"]

#: How a store is opened.
DOORS = {
    "engine": lambda p, **k: xr.open_dataset(p, engine="cubed", **k),
    "chunks": lambda p, **k: xr.open_dataset(
        p, engine="zarr", chunks={}, chunked_array_type="cubed", **k
    ),
    "open_zarr": lambda p, **k: xr.open_zarr(p, chunked_array_type="cubed", **k),
    "chunked later": lambda p, **k: xr.open_dataset(p, engine="zarr", **k).chunk(
        chunked_array_type="cubed"
    ),
}


def make(path, zarr_format, values, fill_value=None, attrs=None, chunks=(4,), **options):
    """A store of one variable m."""
    group = zarr.create_group(path, zarr_format=zarr_format)
    attrs = dict(attrs or {})
    if zarr_format == 2:
        options["fill_value"] = fill_value
        attrs["_ARRAY_DIMENSIONS"] = ["v"]
    else:
        options["dimension_names"] = ["v"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = group.create_array("m", shape=values.shape, chunks=chunks, **options)
    x[...] = values
    x.attrs.update(attrs)
    zarr.consolidate_metadata(path)
    return str(path)


STORES = {
    "False": lambda p: make(p, 2, BOOLS, False, dtype=bool),
    "True": lambda p: make(p, 2, BOOLS, True, dtype=bool),
    "missing_value": lambda p: make(p, 2, BOOLS, False, {"missing_value": False}, dtype=bool),
    "two values": lambda p: make(p, 2, BOOLS, False, {"missing_value": True}, dtype=bool),
    "format 3": lambda p: make(p, 3, BOOLS, attrs={"_FillValue": False}, dtype=bool),
}

OPERATIONS = {
    "values": lambda m: m,
    "astype": lambda m: m.fillna(False).astype(bool),
    "compare": lambda m: m == True,  # noqa: E712
    "concat": lambda m: xr.concat([m, m], "v"),
    "count": lambda m: m.count(),
    "cumsum": lambda m: m.fillna(0).cumsum("v"),
    "fillna": lambda m: m.fillna(True),
    "isel": lambda m: m.isel(v=[3, 1, 8]),
    "isnull": lambda m: m.isnull(),
    "max": lambda m: m.max(),
    "mean": lambda m: m.mean(),
    "notnull": lambda m: m.notnull().sum("v"),
    "std": lambda m: m.std(),
    "sum": lambda m: m.sum(),
    "where": lambda m: m.where(m.notnull(), 2),
    "where condition": lambda m: xr.where(m.fillna(False).astype(bool), 1, 5),
    "where nothing": lambda m: m.where(xr.DataArray(np.arange(9) > 3, dims="v")),
}


@pytest.mark.filterwarnings("ignore:In a future version of xarray:FutureWarning")
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("store", STORES)
def test_bool_with_missing_values(tmp_path, store, door):
    path = STORES[store](tmp_path / "x.zarr")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        lazy = DOORS[door](path).m
    eager = xr.open_dataset(path, engine="zarr").m.load()
    for name, operation in OPERATIONS.items():
        if name in ("max", "std") and store == "two values":
            continue  # of nothing
        got = operation(lazy)
        assert isinstance(got.variable._data, cubed.Array), name
        want = np.asarray(operation(eager).values.astype(float))
        np.testing.assert_allclose(got.values.astype(float), want, 1e-15, err_msg=name)
    assert lazy.dtype == np.float64
    assert {k: v for k, v in lazy.encoding.items() if k in ("dtype", "_FillValue")} == {
        "dtype": bool,
        "_FillValue": eager.encoding["_FillValue"],
    }


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("store", ["False", "True", "format 3"])
def test_bool_with_missing_values_is_written_as_it_was(tmp_path, store, door):
    path, to = STORES[store](tmp_path / "x.zarr"), str(tmp_path / "y.zarr")
    DOORS[door](path).to_zarr(to, zarr_format=3 if store == "format 3" else 2)
    before, after = (zarr.open_group(p, mode="r")["m"] for p in (path, to))
    np.testing.assert_array_equal(after[...], before[...])
    assert after.dtype == before.dtype == bool
    assert after.fill_value == before.fill_value
    xr.testing.assert_equal(DOORS[door](to), DOORS[door](path))


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("fill", [None, 0, -1])
def test_bool_in_bytes(tmp_path, fill, door):
    """Xarray's own encoding of bool: what is missing becomes True."""
    attrs = {"dtype": "bool"} | ({} if fill is None else {"_FillValue": fill})
    path = make(tmp_path / "x.zarr", 3, BOOLS.astype("i1"), attrs=attrs, dtype="i1")
    eager, lazy = xr.open_dataset(path, engine="zarr").m, DOORS[door](path).m
    assert isinstance(lazy.variable._data, cubed.Array)
    assert lazy.dtype == eager.dtype == bool
    np.testing.assert_array_equal(lazy, eager)
    assert lazy.encoding["dtype"] == "bool"
    np.testing.assert_array_equal(DOORS[door](path, mask_and_scale=False).m, BOOLS)


@pytest.mark.parametrize("door", ["engine", "open_zarr"])
def test_memory_of_bool_with_missing_values(tmp_path, door):
    """4 MB that as objects are 36 MB, in tasks of 12 MB."""
    values = np.zeros(4_000_000, bool)
    values[::2] = True
    path = make(tmp_path / "x.zarr", 2, values, False, dtype=bool, chunks=(100_000,))
    spec = cubed.Spec(tmp_path, allowed_mem="12MB", reserved_mem="8MB")
    options = {"spec": spec} if door == "engine" else {"from_array_kwargs": {"spec": spec}}
    tracemalloc.start()
    lazy = DOORS[door](path, **options).m
    count, total = lazy.count(), lazy.sum()
    assert count.data.plan().max_projected_mem <= 12_000_000
    found = [int(v) for v in xr.Dataset({"count": count, "sum": total}).compute().values()]
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == [2_000_000, 2_000_000]
    assert most < values.nbytes


# --- Objects that stay objects --------------------------------------------------------------------


def strings(path, dtype, n, fill_value=""):
    values = np.resize(np.array(STRINGS, object), n)
    values, fill_value = (a.astype(dtype) for a in (values, np.array(fill_value, object)))
    return make(path, 2, values, fill_value.item(), None, (10_000,), dtype=dtype)


@pytest.mark.filterwarnings("ignore:Numcodecs codecs are not in the Zarr:UserWarning")
@pytest.mark.parametrize("fill_value", ["", "NA"])
@pytest.mark.parametrize("dtype", [str, np.dtype("U3"), np.dtype("S3")])
def test_strings_with_missing_values(tmp_path, dtype, fill_value):
    path = strings(tmp_path / "x.zarr", dtype, 30_000, fill_value)
    eager = xr.open_dataset(path, engine="zarr").m
    with pytest.warns(
        UserWarning, match=r"this memory .*: m \(1\.74 MB\).*drop_variables"
    ) as found:
        ds = xr.open_dataset(path, engine="cubed")
    assert [w.filename for w in found] == [__file__]
    xr.testing.assert_equal(ds.m.isel(v=slice(9)), eager.isel(v=slice(9)))
    message = r"shape \(30000,\) is not chunked.*at least 1\.74 MB of memory in this process"
    with pytest.warns(UserWarning, match=message):
        xr.open_dataset(path, engine="zarr", chunks={}, chunked_array_type="cubed")
    if dtype is str:
        return
    raw = {"m": False}
    assert str(raw) in str(found[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        lazy = xr.open_dataset(path, engine="cubed", mask_and_scale=raw).m
    assert isinstance(lazy.variable._data, cubed.Array)
    np.testing.assert_array_equal(lazy[:9], np.array(STRINGS, dtype))


def test_few_strings_do_not_warn(tmp_path):
    path = strings(tmp_path / "x.zarr", str, 90)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert xr.open_dataset(path, engine="cubed").m.isnull().sum() == 20


@pytest.mark.parametrize("kind", ["strings", "dates"])
def test_objects_of_functions_are_in_the_projection(tmp_path, kind, monkeypatch):
    spec = cubed.Spec(tmp_path, allowed_mem="100MB", reserved_mem="10MB")
    lazy = xr.DataArray(np.arange(2_000), dims="x").chunk(
        x=500, chunked_array_type="cubed", from_array_kwargs={"spec": spec}
    )
    objects = [f"{i:100}" for i in range(2_000)]
    if kind == "dates":
        objects = [cftime.datetime(2000, 1, 1 + i % 28) for i in range(2_000)]
    other = xr.DataArray(np.array(objects, object), dims="x")

    def projected():
        out = xr.apply_ufunc(
            lambda a, b: a + [len(str(o)) for o in b], lazy, other, dask="parallelized",
            output_dtypes=[int],
        )  # fmt: skip
        assert out[:3].values.tolist() == [i + len(str(objects[i])) for i in range(3)]
        return out.data.plan().max_projected_mem

    held = 8 * 2_000 + sum(map(sys.getsizeof, objects))
    with_objects = projected()
    monkeypatch.setattr(_chunkmanager, "held", lambda a: 0)
    assert with_objects - projected() == held
