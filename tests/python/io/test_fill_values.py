"""Fill values: metadata of results, and the values that --decode treats as missing."""

import json

import numpy as np
import pytest
import xarray as xr
from conftest import check, run

import zarr


def make(path, x, fill, zarr_format=2, attrs=None):
    z = zarr.create_array(
        path,
        shape=x.shape,
        chunks=(3,),
        dtype=x.dtype,
        fill_value=fill,
        zarr_format=zarr_format,
        attributes=attrs,
    )
    z[...] = x
    return path


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(
    ("dtype", "fill"), [("i2", -999), ("f4", 1e20), ("f8", np.nan), ("u1", 255), ("i2", 0)]
)
def test_rechunking_keeps_the_fill_value(tmp_path, zarr_format, dtype, fill):
    x = np.arange(10).astype(dtype)
    x[4] = fill
    src = make(tmp_path / "x", x, fill, zarr_format)
    check(run("rechunk", src, tmp_path / "y", "--chunks", 4, "--progress", "none"))
    y = zarr.open_array(tmp_path / "y", mode="r")
    np.testing.assert_array_equal(y[...], x)
    np.testing.assert_array_equal(np.asarray(y.fill_value), np.asarray(fill, dtype))
    assert y.fill_value.dtype == x.dtype


def test_chunks_that_are_not_there_stay_the_fill_value(tmp_path):
    zarr.create_array(
        tmp_path / "x", shape=(9,), chunks=(3,), dtype="i4", fill_value=7, zarr_format=2
    )[3:6] = 1
    args = ["--in", f"x={tmp_path / 'x'}", "--out", tmp_path / "y", "--format", 2]
    check(run("eval", "x[::-1]", *args, "--progress", "none"))
    y = zarr.open_array(tmp_path / "y", mode="r")
    assert y.fill_value == 7
    np.testing.assert_array_equal(y[...], [7, 7, 7, 1, 1, 1, 7, 7, 7])


def test_computed_values_have_no_fill_value(tmp_path):
    src = make(tmp_path / "x", np.arange(5, dtype="i4"), 3)
    args = ["--in", f"x={src}", "--out", tmp_path / "y", "--format", 2, "--progress", "none"]
    check(run("eval", "x + 1", *args))
    assert json.loads((tmp_path / "y/.zarray").read_text())["fill_value"] is None


def test_format_2_fill_values_are_missing_to_decode(tmp_path):
    x = np.array([1, 2, -999, 4], "i2")
    src = make(tmp_path / "x", x, -999, attrs={"scale_factor": 0.5})
    got = check(run("eval", "x", "--in", f"x={src}", "--decode", "--json", "--progress", "none"))
    np.testing.assert_array_equal(got.array(), [0.5, 1, np.nan, 2])
    # In format 3 the attribute says it.
    src = make(tmp_path / "z", x, -999, zarr_format=3, attrs={"scale_factor": 0.5})
    got = check(run("eval", "x", "--in", f"x={src}", "--decode", "--json", "--progress", "none"))
    np.testing.assert_array_equal(got.array(), x * 0.5)


def test_large_integers_in_attributes_do_not_stop_decoding(tmp_path):
    attrs = {"scale_factor": 2.0, "id": 2**70}
    src = make(tmp_path / "x", np.arange(4, dtype="i2"), None, attrs=attrs)
    got = check(run("eval", "x", "--in", f"x={src}", "--decode", "--json", "--progress", "none"))
    np.testing.assert_array_equal(got.array(), [0.0, 2, 4, 6])


@pytest.mark.parametrize(("dtype", "fill"), [("f4", 1e20), ("f8", -9999.5), ("i2", -999)])
def test_missing_values_are_missing_to_xarray_in_both_formats(tmp_path, dtype, fill):
    x = np.arange(7).astype(dtype)
    x[4] = fill
    root = zarr.create_group(tmp_path / "g", zarr_format=2)
    z = root.create_array("x", shape=x.shape, chunks=(3,), dtype=dtype, fill_value=fill)
    z[...] = x
    z.attrs["_ARRAY_DIMENSIONS"] = ["t"]
    expected = np.where(x == np.dtype(dtype).type(fill), np.nan, x)
    for zarr_format in (2, 3):
        path = tmp_path / f"c{zarr_format}"
        args = ["--format", zarr_format, "--progress", "none"]
        check(run("copy", tmp_path / "g", path, *args))
        np.testing.assert_array_equal(xr.open_dataset(path, engine="zarr")["x"], expected)
        got = check(run("eval", "x * 1", "--in", f"x={path}::x", "--decode", "--json"))
        np.testing.assert_array_equal(got.array(), expected)
