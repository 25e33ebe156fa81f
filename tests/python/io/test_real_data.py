"""Results from real winds and temperatures, compared with NumPy in float64."""

import json

import numpy as np
import pytest
from conftest import check, run

import zarr

MB = 1_000_000


def decoded(group: zarr.Group, name: str) -> np.ndarray:
    z = group[name]
    return z[...].astype("float64") * z.attrs["scale_factor"] + z.attrs["add_offset"]


@pytest.fixture(scope="module")
def winds(data):
    return data / "eraint_uvz.zarr"


@pytest.fixture(scope="module")
def temperature(data):
    return data / "era5_t2m_uk.zarr"


def test_quadratic_means_within_64_mb(winds, tmp_path):
    out = tmp_path / "q.zarr"
    text = 'uu=mean(u*u, dim="month"); uv=mean(u*v, dim="month")'
    result = check(
        run(
            "eval",
            text,
            winds,
            "--decode",
            "--out",
            out,
            "--allowed-mem",
            "64MB",
            "--max-workers",
            1,
            "--progress",
            "none",
            "--json",
        )
    )
    assert result.run["peak_rss"] < 64 * MB
    assert result.run["measured_mem"] <= result.run["projected_mem"]
    source = zarr.open_group(winds, mode="r")
    u, v = decoded(source, "u"), decoded(source, "v")
    q = zarr.open_group(out, mode="r")
    np.testing.assert_allclose(q["uu"][...], (u * u).mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(q["uv"][...], (u * v).mean(axis=0), rtol=1e-12, atol=1e-12)
    assert q["uu"].metadata.dimension_names == ("level", "latitude", "longitude")
    assert q.attrs["Conventions"] == "CF-1.0"
    for name in ("level", "latitude", "longitude"):
        np.testing.assert_array_equal(q[name][...], source[name][...])
    assert q["latitude"].attrs["units"] == "degrees_north"


@pytest.mark.parametrize("reduction", ["mean", "min", "max", "var", "std", "sum"])
def test_reductions_of_the_temperature(temperature, reduction):
    x = zarr.open_group(temperature, mode="r")["t2m"][...].astype("float64")
    for axis in (0, 1, (1, 2), None):
        text = f"{reduction}(float64(t2m), axis={axis})"
        got = check(run("eval", text, temperature, "--json", "--progress", "none")).array()
        np.testing.assert_allclose(got, getattr(np, reduction)(x, axis=axis), rtol=1e-12)


def test_positions_of_the_highest_temperature(temperature):
    x = zarr.open_group(temperature, mode="r")["t2m"][...]
    for axis in (0, 1, 2, None):
        got = check(run("eval", f"argmax(t2m, axis={axis})", temperature, "--json")).array()
        np.testing.assert_array_equal(got, np.argmax(x, axis=axis))


def test_anomalies(temperature):
    x = zarr.open_group(temperature, mode="r")["t2m"][...]
    text = 'float64(t2m) - mean(float64(t2m), dim="time", keepdims=True)'
    result = check(run("eval", text, temperature, "--json", "--progress", "none"))
    expected = x.astype("float64") - x.astype("float64").mean(axis=0, keepdims=True)
    np.testing.assert_allclose(result.array(), expected, rtol=0, atol=1e-10)
    assert result.run["stages"] >= 2


def test_info(winds):
    arrays = {a["path"]: a for a in json.loads(check(run("info", winds, "--json")).out)}
    u = arrays["u"]
    assert u["shape"] == [2, 3, 241, 480]
    assert u["dtype"] == "int16"
    assert u["dims"] == ["month", "level", "latitude", "longitude"]
    assert u["chunks_present"] == u["chunks_total"] == 2 * 3 * 2 * 3
    assert u["codecs"]["cname"] == "lz4"
    text = check(run("info", winds)).out
    assert "(month: 2, level: 3, latitude: 241, longitude: 480)" in text
    assert "blosc-lz4" in text
