"""Random regridding plans: memory stays within the projection, and values do not depend on the
plan.
"""

import random

import cubed
import numpy as np
import pytest
from conftest import cases, check, run
from cubed import remapping
from test_remap_command import cells, describe

xr = pytest.importorskip("xarray", reason="the package xarray is not there")

ANY = ("nearest", "distance", "conservative", "conservative2", "largest")
DTYPES = ("float32", "float64", "int16", "uint8", "int32", "float32")


def axis(pick, n, low, high):
    """Centres of n cells of random widths between two degrees, in either order."""
    edges = np.cumsum([0, *(pick.uniform(0.5, 1.5) for _ in range(n))])
    edges = low + (high - low) * edges / edges[-1]
    bounds = np.stack([edges[:-1], edges[1:]], axis=-1)
    return bounds[:: pick.choice([1, -1])]


def random_source(pick):
    """Coordinates of a variable, its dimensions, and methods that know such a grid."""
    kind = pick.choice(["global", "global", "region", "curvilinear", "unstructured"])
    if kind in ("global", "region"):
        part = 1 if kind == "global" else 0.3
        lat = axis(pick, pick.randint(2, 30), -90 * part, 90 * part)
        lon = axis(pick, pick.randint(3, 50), 0, 360 * part)[::1]
        lon = np.sort(lon, axis=0)
        coords = {
            "lat": ("lat", lat.mean(1), {"units": "degrees_north", "bounds": "lat_bnds"}),
            "lon": ("lon", lon.mean(1), {"units": "degrees_east", "bounds": "lon_bnds"}),
            "lat_bnds": (("lat", "bnds"), lat),
            "lon_bnds": (("lon", "bnds"), lon),
        }
        return coords, ("lat", "lon"), (*ANY, "bilinear", "bicubic")
    parts = cells((pick.randint(2, 14), pick.randint(3, 20)))
    dims: tuple[str, ...] = ("y", "x")
    if kind == "unstructured":
        parts = [v.reshape(parts[0].size, *v.shape[2:]) for v in parts]
        dims = ("cell",)
    coords = {}
    for name, i, units in (("lat", 0, "degrees_north"), ("lon", 1, "degrees_east")):
        coords[name] = (dims, parts[i], {"units": units, "bounds": f"{name}_bnds"})
        coords[f"{name}_bnds"] = ((*dims, "nv"), parts[i + 2])
    return coords, dims, ANY if kind == "unstructured" else (*ANY, "bilinear", "bicubic")


def random_target(pick):
    """A grid by its name or description."""
    kind = pick.choice(["name", "name", "gaussian", "region", "cells", "list"])
    if kind == "name":
        return f"r{pick.randint(1, 60)}x{pick.randint(1, 40)}"
    if kind == "gaussian":
        return f"n{pick.randint(1, 12)}"
    if kind == "region":
        n, m = pick.randint(2, 9), pick.randint(2, 9)
        text = f"gridtype=lonlat\nxsize={m}\nysize={n}\nxfirst={pick.uniform(-170, 170)}\n"
        return f"{text}xinc={pick.uniform(0.3, 9)}\nyfirst=-40\nyinc={pick.uniform(0.3, 9)}\n"
    parts = cells((pick.randint(2, 9), pick.randint(2, 9)))
    if kind == "list":
        parts = [v.reshape(parts[0].size, *v.shape[2:]) for v in parts]
    mask = " ".join(pick.choice("0111") for _ in range(parts[0].size))
    return describe(*parts) + (f"mask = {mask}\n" if pick.random() < 0.4 else "")


def reference(x, w, skipna, threshold):
    """Products with the weights, in float64."""
    flat = x.reshape(-1, int(np.prod(w.source_shape))).astype(float)
    dense = np.zeros((int(np.prod(w.target_shape)), flat.shape[1]))
    np.add.at(dense, (w.rows, w.columns), w.weights)
    missing = np.isnan(flat)
    y = np.where(missing, 0, flat) @ dense.T
    part = missing.astype(float) @ dense.T
    any_missing = (missing.astype(float) @ (dense != 0).T) > 0
    has_negative = (dense < 0).any(axis=1)
    with np.errstate(all="ignore"):
        scaled = y / (1 - part)
    gone = has_negative | (part > threshold + 1e-9) | (part > 1 - 1e-9)
    y = np.where(any_missing, np.where(gone, np.nan, scaled) if skipna else np.nan, y)
    y[:, (dense != 0).sum(axis=1) == 0] = np.nan
    return y, any_missing & (np.abs(part - threshold) < 1e-9)


@pytest.mark.parametrize("seed", range(cases(30)))
def test_random_regridding_plans(tmp_path, seed):
    pick = random.Random(seed)
    rng = np.random.default_rng(seed)
    coords, dims, methods = random_source(pick)
    target = random_target(pick)
    method = pick.choice(methods)
    sizes = {d: v[1].shape[v[0].index(d) if isinstance(v[0], tuple) else 0]
             for v in coords.values() for d in dims if d in v[0]}  # fmt: skip
    outer = [("time", pick.randint(1, 21)), ("level", pick.randint(1, 3))][: pick.randint(0, 2)]
    shape = tuple(n for _, n in outer) + tuple(sizes[d] for d in dims)
    dtype = pick.choice(DTYPES)
    x = rng.normal(100, 60, shape)
    x = np.round(x / 40) * 40 if method == "largest" else x
    x = x.clip(0, 250).astype(dtype)
    if dtype.startswith("float") and pick.random() < 0.6:
        x[rng.random(shape) < pick.choice([0.02, 0.3])] = np.nan
    ds = xr.Dataset({"v": ((*(d for d, _ in outer), *dims), x)}, coords)
    chunks = tuple(pick.randint(1, n) for n in shape)
    ds.to_netcdf(tmp_path / "a.nc", encoding={"v": {"chunksizes": chunks}})
    ds.to_netcdf(tmp_path / "b.nc")
    skipna, threshold = pick.random() < 0.8, pick.choice([1.0, 0.5, 0.0])
    text = (
        f'r = remap(v, "{target}", "{method}", skipna={skipna}, na_threshold={threshold},'
        f" neighbours={pick.randint(1, 6)})"
    )
    ways = [
        ("a.nc", "200MB", "--executor", "single-threaded"),
        ("a.nc", "60MB", "--max-workers", "3"),
        ("b.nc", "25MB", "--max-workers", "2"),
        ("a.nc", pick.choice(["18MB", "19MB", "21MB"]), "--max-workers", "2", "--no-optimize"),
        ("b.nc", "200MB", "--max-workers", "2", "--isa", "x86-64-v2"),
    ]
    first = None
    for name, allowed, *words in ways:
        done = run("eval", text, "--in", str(tmp_path / name), "--json", "--progress", "none",
                   "--allowed-mem", allowed, *words)  # fmt: skip
        if done.code != 0 and "unknown instruction set" in done.err:
            continue
        if done.code != 0:
            assert first is not None, done.err
            assert "allowed-mem" in done.err or "allowed_mem" in done.err, done.err
            continue
        stats = check(done).run
        assert stats["measured_mem"] <= stats["projected_mem"], (text, words)
        assert stats["projected_mem"] + stats["reserved_mem"] <= stats["allowed_mem"], text
        got = done.arrays()["r"]
        if first is None:
            first = got
        np.testing.assert_array_equal(got, first, err_msg=text)
    if method in ("nearest", "largest"):
        return
    used = remapping.make_weights(ds, target, method, neighbours=int(text.split("=")[-1][:-1]))
    want, unclear = reference(x, used, skipna, threshold)
    got = np.where(unclear, np.nan, first.reshape(want.shape))
    want = np.where(unclear, np.nan, want)
    np.testing.assert_allclose(got, want, rtol=2e-6 if dtype == "float32" else 1e-9, atol=1e-6)
    assert cubed.remap(ds, target, method).v.shape == first.shape
