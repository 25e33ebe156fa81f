"""Compares empirical orthogonal functions with CDO and NumPy, and Student's t with SciPy."""

import os
import shutil
import subprocess

import cubed
import numpy as np
import pytest
import scipy.special
import scipy.stats
import xarray as xr

needs_cdo = pytest.mark.skipif(not shutil.which("cdo"), reason="the command cdo is not there")


def fields(times=12, dtype="f8", holes=False):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(times, 4, 5)) + 3 * rng.normal(size=(times, 1, 1)) * rng.normal(
        size=(4, 5)
    )
    x += rng.normal(size=(times, 1, 1)) * rng.normal(size=(4, 5))
    if holes:
        x[:, 1, 2] = np.nan
        x[:, 3, 3] = np.nan
    return x.astype(dtype)


def by_cdo(folder, x, n, mode):
    lat, lon = [-60.0, -20, 20, 60], np.arange(5) * 72.0
    coords = {
        "time": ("time", np.arange(len(x)) * 1.0, {"units": "days since 2000-01-01"}),
        "lat": ("lat", lat, {"units": "degrees_north"}),
        "lon": ("lon", lon, {"units": "degrees_east"}),
    }
    ds = xr.Dataset({"v": (("time", "lat", "lon"), x)}, coords)
    encoding = {"v": {"_FillValue": -999.0}}
    ds.to_netcdf(folder / "a.nc", format="NETCDF3_CLASSIC", encoding=encoding)
    words = ["cdo", "-s", "-O", "-b", "F64", f"eoftime,{n}", "a.nc", "values.nc", "patterns.nc"]
    env = dict(os.environ, CDO_WEIGHT_MODE=mode)
    subprocess.run(words, cwd=folder, check=True, capture_output=True, env=env)
    with xr.open_dataset(folder / "values.nc", decode_times=False) as found:
        values = found.v.values.ravel()[:n]
    with xr.open_dataset(folder / "patterns.nc", decode_times=False) as found:
        return ds.v, values, found.v.values


@needs_cdo
@pytest.mark.parametrize("times", [12, 40])
@pytest.mark.parametrize("holes", [False, True])
def test_eofs_of_cdo(tmp_path, times, holes):
    x = fields(times, holes=holes)
    for mode in ("off", "on"):
        v, values, patterns = by_cdo(tmp_path, x, 3, mode)
        v = v.chunk(time=5, lat=2, chunked_array_type="cubed")
        for got in (
            v.cubed.eofs(3, weights="auto" if mode == "on" else None).compute(),
            v.transpose("lat", "time", "lon").cubed.eofs(3, None if mode == "off" else "auto"),
        ):
            np.testing.assert_allclose(got.variances, values, rtol=1e-9)
            mine = got.patterns.values
            signs = np.sign(np.nansum(mine * patterns, axis=(1, 2)))
            np.testing.assert_allclose(mine * signs[:, None, None], patterns, atol=1e-8)
            assert got.patterns.dims == ("mode", "lat", "lon")
            assert got.coefficients.dims == ("time", "mode")
            assert list(got.mode) == [1, 2, 3]


@pytest.mark.parametrize("dtype", ["f8", "f4", ">f8", "i4"])
@pytest.mark.parametrize("axis", [0, 2, -3])
def test_all_eofs_make_the_fields(dtype, axis):
    x = (fields() * 10).astype(dtype)
    moved = np.moveaxis(x, 0, axis)
    for weights in (None, np.linspace(1, 2, 4)[:, None]):
        lazy = cubed.asarray(moved, chunks=(3, 2, 2))
        p, v, c = (y.compute() for y in cubed.eofs(lazy, 12, weights, axis=axis))
        near = 1e-3 if dtype == "f4" else 1e-10
        np.testing.assert_allclose(np.tensordot(c, p, 1), x, atol=20 * near)
        w = np.ones(20) if weights is None else np.broadcast_to(weights, (4, 5)).ravel()
        w = w if weights is None else w / w.sum()
        gram = (p.reshape(12, 20) * w) @ p.reshape(12, 20).T
        np.testing.assert_allclose(gram, np.eye(12), atol=near)
        np.testing.assert_allclose((c.astype("f8") ** 2).mean(0), v, rtol=near)
        single = dtype == "f4" and weights is None
        assert (np.diff(v) <= 0).all() and p.dtype == ("f4" if single else "f8")


def test_eofs_of_few_values():
    zeros = cubed.eofs(cubed.zeros((3, 2)), 1)
    assert float(zeros.variances.compute()[0]) == 0
    one = cubed.eofs(cubed.asarray([[2.0]]), 1)
    assert [y.compute().tolist() for y in one] == [[[1.0]], [4.0], [[2.0]]]
    nothing = cubed.eofs(cubed.full((3, 2), np.nan), 1)
    assert np.isnan(nothing.patterns.compute()).all() and nothing.variances.compute()[0] == 0


def test_bad_calls_of_eofs():
    x = cubed.ones((3, 4))
    with pytest.raises(ValueError, match="eofs: n is 4, expected 1 to 3"):
        cubed.eofs(x, 4)
    with pytest.raises(ValueError, match="n is 0"):
        cubed.eofs(x, 0)
    with pytest.raises(ValueError, match="axis is 0 of 1 axes"):
        cubed.eofs(cubed.ones(3), 1)
    with pytest.raises((ValueError, IndexError), match="axis"):
        cubed.eofs(x, 1, axis=2)
    with pytest.raises(TypeError, match="complex"):
        cubed.eofs(cubed.ones((3, 4), dtype="c16"), 1)
    with pytest.raises(ValueError, match="extent 3 cannot be broadcast to 4"):
        cubed.eofs(x, 1, cubed.ones(3))


# --- Student's t ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "near"), [("f8", 2e-11), ("f4", 1e-6)])
def test_student(dtype, near):
    rng = np.random.default_rng(0)
    df = np.concatenate([np.arange(1, 60), 10 ** rng.uniform(-2, 9, 400), [9999, 1e4, 10001]])
    t = np.concatenate([10 ** rng.uniform(-8, 2.5, len(df)) * rng.choice([-1, 1], len(df))])
    df, t = df.astype(dtype), t.astype(dtype)
    # SciPy has an error of 2e-11 with one degree of freedom.
    want = scipy.stats.t.cdf(t.astype("f8"), df.astype("f8"))
    got = cubed.stdtr(cubed.asarray(df, chunks=100), t).compute()
    assert got.dtype == dtype
    kept = want > np.finfo(dtype).tiny * 1e6
    np.testing.assert_allclose(got[kept], want[kept], rtol=near)
    assert (got[~kept] <= 1e-30).all()


def test_student_at_edges():
    nan, inf = np.nan, np.inf
    df = np.array([1, 1, 1, 3, 0, -1, nan, 2, inf, inf, 1, 1e-300, 5])
    t = np.array([0, -inf, inf, -0.0, 1, 1, 1, nan, -1.96, 0, -1e200, 1, 5e-324])
    got = cubed.stdtr(cubed.asarray(df), t).compute()
    want = scipy.special.stdtr(df, t)
    want[10] = 1 / (np.pi * 1e200)
    want[11] = 0.5
    np.testing.assert_allclose(got, want, rtol=1e-14)
    assert cubed.stdtr(cubed.asarray([1, 10]), 2).compute().dtype == "f8"
    assert cubed.stdtr(cubed.asarray(np.array([1.0], ">f4")), 0).compute() == [0.5]
    assert cubed.stdtr(cubed.zeros((0, 2)), 1.0).compute().shape == (0, 2)
    with pytest.raises(TypeError):
        cubed.stdtr(cubed.asarray([1j]), 1)
