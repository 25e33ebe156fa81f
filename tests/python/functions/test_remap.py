"""Compares arrays on other horizontal grids with formulas and with CDO."""

import dataclasses
import shutil
import subprocess

import cubed
import numpy as np
import pytest
from cubed import remapping
from cubed.exceptions import PlanTooLargeError

xr = pytest.importorskip("xarray", reason="the package xarray is not there")
needs_cdo = pytest.mark.skipif(not shutil.which("cdo"), reason="the command cdo is not there")

METHODS = {"bilinear": "bil", "nearest": "nn", "distance": "dis", "conservative": "con"}
#: Methods whose weights may be negative, or whose values are no sums.
OTHERS = ("bicubic", "conservative2", "largest")


def field(lat, lon):
    """A smooth field without symmetry."""
    la, lo = np.meshgrid(np.radians(lat), np.radians(lon), indexing="ij")
    return 3 + np.cos(la) ** 2 * np.cos(2 * lo) + np.sin(la) * np.sin(lo + 0.3)


def coordinates(name):
    return [np.asarray(v.compute()) for v in remapping.grid_coordinates(name)]


def areas(grid):
    """Areas of the cells of a regular grid."""
    lat, lon = np.radians(grid.lat_bounds), np.radians(grid.lon_bounds)
    return np.outer(np.abs(np.diff(np.sin(lat), axis=1)), np.abs(np.diff(lon, axis=1)))


def matrix(w):
    a = np.zeros((int(np.prod(w.target_shape)), int(np.prod(w.source_shape))))
    np.add.at(a, (w.rows, w.columns), w.weights)
    return a


def vectors(lat, lon):
    la, lo = np.radians(lat), np.radians(lon)
    return np.stack([np.cos(la) * np.cos(lo), np.cos(la) * np.sin(lo), np.sin(la)], axis=-1)


def centres(grid):
    if grid.lat.ndim == 1 and not grid.unstructured:
        return [v.ravel() for v in np.meshgrid(grid.lat, grid.lon, indexing="ij")]
    return [grid.lat.ravel(), grid.lon.ravel()]


def as_cells(grid, unstructured=False, polygons=False):
    """A regular grid as cells with four corners, or with five: edges are great circles."""
    lat, lon = np.meshgrid(grid.lat, grid.lon, indexing="ij")
    n, m = lat.shape
    south, north = grid.lat_bounds.min(axis=1), grid.lat_bounds.max(axis=1)
    west, east = grid.lon_bounds.min(axis=1), grid.lon_bounds.max(axis=1)
    lat_b = np.stack([south, south, north, north], -1)[:, None, :] + np.zeros((n, m, 4))
    lon_b = np.stack([west, east, east, west], -1)[None, :, :] + np.zeros((n, m, 4))
    if polygons:
        middle = (lat_b[..., :1] + lat_b[..., 2:3]) / 2
        lat_b = np.concatenate([lat_b[..., :2], middle, lat_b[..., 2:]], -1)
        lon_b = np.concatenate([lon_b[..., :2], lon_b[..., 1:]], -1)
    if unstructured:
        lat, lon = lat.ravel(), lon.ravel()
        lat_b, lon_b = (v.reshape(lat.size, -1) for v in (lat_b, lon_b))
    return remapping.Grid(lat, lon, lat_b, lon_b, unstructured=unstructured)


# --- Grids ---------------------------------------------------------------------------------------


@needs_cdo
@pytest.mark.parametrize(
    "name", ["r36x18", "r7x5", "r4x1", "global_2.5", "global_7", "n16", "F8", "n3", "lon=10_lat=50"]
)
def test_named_grids_are_those_of_cdo(tmp_path, name):
    out = tmp_path / "g.nc"
    subprocess.run(["cdo", "-s", "-f", "nc", f"-const,1,{name}", out], check=True)
    want = xr.load_dataset(out)
    lat, lon, *_ = coordinates(name)
    np.testing.assert_allclose(lat, want["lat"], rtol=0, atol=1e-11)
    np.testing.assert_allclose(lon, want["lon"], rtol=0, atol=1e-11)


def test_gaussian_latitudes_are_roots():
    lat, lon, lat_bounds, lon_bounds = coordinates("n24")
    want = np.degrees(np.arcsin(np.polynomial.legendre.leggauss(48)[0]))[::-1]
    np.testing.assert_allclose(lat, want, rtol=0, atol=1e-12)
    assert lon.size == 96 and lat_bounds[0].tolist()[0] == 90 and lat_bounds[-1, 1] == -90
    np.testing.assert_allclose(lon_bounds[:, 0], (np.arange(96) - 0.5) * 3.75)


def test_grid_descriptions():
    text = """
    # one of CDO
    gridtype = lonlat
    xsize    = 4
    ysize    = 3
    xfirst   = -10
    xinc     = 5
    yvals    = -5 0
               5   # the last one
    """
    g = remapping.grid(text)
    assert g.lat.tolist() == [-5, 0, 5] and g.lon.tolist() == [-10, -5, 0, 5]
    assert g.lat_bounds.tolist() == [[-7.5, -2.5], [-2.5, 2.5], [2.5, 7.5]]
    cells = "gridtype=unstructured\ngridsize=2\nnvertex=3\nxvals=0 0.1\nyvals=0 1\nxunits=radians\n"
    g = remapping.grid(cells + "xbounds=0 1 2 3 4 5\nybounds=0 1 2 3 4 5")
    assert g.unstructured and g.shape == (2,)
    np.testing.assert_allclose(g.lon, np.degrees([0, 0.1]))
    assert g.lat_bounds.shape == (2, 3)
    g = remapping.grid(cells)
    assert g.unstructured and g.shape == (2,) and g.lat_bounds is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("r360", "r360x180"),
        ("r0x10", "expected at least one each"),
        ("global_0", "expected from 0.001 to 180"),
        ("gridtype=lonlat\nxsize=2\nysize=1\nxvals=1\nyvals=1", "xvals has 1 numbers, expected 2"),
        ("gridtype=lonlat\nxsize=2\nysize=1\nxvals=1 2 3\nyvals=1", "xvals has more than 2"),
        ("gridtype=lonlat\nxsize=2\nysize=1\nyvals=1", "expected xvals, or xfirst and xinc"),
        ("gridtype=lonlat\nxsize=2\nysize=1\nxvals=1 1\nyvals=1", "ascending or descending"),
        ("gridtype=lonlat\nxsize=1\nysize=1\nxvals=1\nyvals=91", "latitude 0 is 91"),
        ("gridtype=lonlat\nxsize=1.5\nysize=1", "xsize is 1.5, expected a whole number"),
        ("gridtype=lonlat\nxsize=99999999\nysize=99999999", "at most"),
        ("gridtype=gaussian\nxsize=1\nysize=99999999", "99999999 Gaussian latitudes, expected at"),
    ],
)
def test_wrong_grids(text, message):
    with pytest.raises(ValueError, match=message.replace(".", r"\.")):
        remapping.grid(text)


def test_other_grid_types_are_refused_by_name():
    with pytest.raises(NotImplementedError, match='gridtype is "gme"'):
        remapping.grid("gridtype = gme\nxsize=1")


def test_masks_of_descriptions():
    text = "gridtype=lonlat\nxsize=3\nysize=2\nxfirst=0\nxinc=9\nyfirst=0\nyinc=9\n"
    g = remapping.grid(text + "mask = 1 1 0\n  0 1 1\n")
    assert g.mask.tolist() == [[True, True, False], [False, True, True]]
    assert remapping.grid(text).mask is None
    with pytest.raises(ValueError, match="mask has 2 numbers, expected 6"):
        remapping.grid(text + "mask = 1 1\n")


# --- Weights -------------------------------------------------------------------------------------

PAIRS = [("r36x18", "r17x10"), ("r13x9", "n8"), ("n6", "r20x11"), ("global_7.5", "r9x6")]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_rows_add_up_to_one(source, target, method):
    w = remapping.make_weights(source, target, method)
    a = matrix(w)
    np.testing.assert_allclose(a.sum(axis=1), 1, rtol=0, atol=1e-14)
    assert (a >= 0).all()


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_nearest_and_distance_by_brute_force(source, target):
    a, b = remapping.grid(source), remapping.grid(target)
    far = np.linalg.norm(vectors(*centres(b))[:, None] - vectors(*centres(a))[None], axis=-1)
    for k in (1, 4, 7):
        name = "nearest" if k == 1 else "distance"
        got = matrix(remapping.make_weights(a, b, name, neighbours=k))
        for row, d in zip(got, far, strict=True):
            used = np.flatnonzero(row)
            # Which of several equally far centres are used is their order's decision.
            np.testing.assert_allclose(np.sort(d[used]), np.sort(d)[: used.size], atol=1e-13)
            if d.min() > 1e-12:
                assert used.size == k
                want = 1 / d[used] / np.sum(1 / d[used])
                np.testing.assert_allclose(row[used], want, rtol=1e-12)


@pytest.mark.parametrize("kind", ["axes", "cells", "list"])
@pytest.mark.parametrize("method", [*METHODS, *OTHERS])
def test_masked_cells_are_as_missing_values(method, kind):
    """A masked source has the values of a source with NaN there; nearest centres are the others."""
    rng = np.random.default_rng(5)
    source, target = remapping.grid("r24x12"), remapping.grid("r17x10")
    if kind != "axes":
        if kind == "list" and method in ("bilinear", "bicubic"):
            pytest.skip("this method needs axes")
        source = as_cells(source, unstructured=kind == "list")
    used = rng.random(source.shape) < 0.7
    wanted = rng.random(target.shape) < 0.6
    w = remapping.make_weights(
        dataclasses.replace(source, mask=used), dataclasses.replace(target, mask=wanted), method
    )
    x = rng.normal(size=(2, *source.shape))
    got = w.apply(x).compute()
    assert np.isnan(got[:, ~wanted]).all()
    assert used.ravel()[w.columns].all() and wanted.ravel()[w.rows].all()
    if method in ("nearest", "distance"):
        near = vectors(*centres(source))[used.ravel()]
        values = x.reshape(2, -1)[:, used.ravel()]
        k = 1 if method == "nearest" else 4
        for i, at in enumerate(vectors(*centres(target))):
            if not wanted.ravel()[i]:
                continue
            far = np.linalg.norm(near - at, axis=1)
            if k == 1:  # one of equally near centres
                assert far[values[0] == got[0].ravel()[i]].min() < far.min() + 1e-9
                continue
            order = np.argsort(far, kind="stable")[:k]
            share = 1 / far[order]
            want = (values[:, order] * share).sum(1) / share.sum()
            np.testing.assert_allclose(got.reshape(2, -1)[:, i], want, rtol=1e-6)
        return
    holes = np.where(used, x, np.nan)
    plain = remapping.make_weights(source, target, method).apply(holes).compute()
    poles = method == "bilinear" and kind == "axes"
    rows = slice(1, -1) if poles else slice(None)  # beyond the outermost latitudes: nearest centres
    np.testing.assert_allclose(
        got[:, rows][:, wanted[rows]], plain[:, rows][:, wanted[rows]], rtol=1e-9
    )


def test_wrong_masks():
    grid = remapping.grid("r6x4")
    with pytest.raises(ValueError, match=r"the mask has shape \(4, 5\), expected \(4, 6\)"):
        remapping.make_weights(dataclasses.replace(grid, mask=np.ones((4, 5), bool)), "r3x2")
    none = dataclasses.replace(grid, mask=np.zeros((4, 6), bool))
    for method in METHODS:
        assert remapping.make_weights(none, "r3x2", method).weights.size == 0
        assert remapping.make_weights("r3x2", none, method).weights.size == 0


def test_the_first_of_equally_near_centres_is_used():
    w = remapping.make_weights(([0.0], [0.0, 10.0, 20.0]), ([0.0], [5.0, 15.0]), "nearest")
    assert w.columns.tolist() == [0, 1]


@pytest.mark.parametrize("flipped", [False, True])
def test_bilinear_is_exact_for_bilinear_fields(flipped):
    lat, lon = np.array([-60, -20, 5, 50.0]), np.array([0, 40, 90, 170.0])
    lat = lat[::-1] if flipped else lat
    f = lambda la, lo: 2 + 3 * la - lo + 0.5 * la * lo  # noqa: E731
    x = f(lat[:, None], lon[None])
    to_lat, to_lon = np.linspace(-60, 50, 13), np.linspace(0, 170, 11)
    got = cubed.remap(x, (to_lat, to_lon), lat=lat, lon=lon).compute()
    np.testing.assert_allclose(got, f(to_lat[:, None], to_lon[None]), rtol=1e-12, atol=1e-10)
    cells = np.meshgrid(lat, lon, indexing="ij")
    got = cubed.remap(x, (to_lat, to_lon), lat=cells[0], lon=cells[1]).compute()
    np.testing.assert_allclose(got, f(to_lat[:, None], to_lon[None]), rtol=1e-11, atol=1e-9)


def test_bilinear_outside_of_a_region_is_missing():
    x = np.arange(6.0).reshape(2, 3)
    where = {"lat": [10, 20], "lon": [350, 0, 10]}
    got = cubed.remap(x, ([5, 15, 25], [349, 355, 5, 11]), **where).compute()
    want = np.full((3, 4), np.nan)
    want[1, 1:3] = [2, 3]
    np.testing.assert_allclose(got, want)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_conservative_is_the_product_of_overlaps(source, target):
    a, b = remapping.grid(source), remapping.grid(target)

    def overlaps(mine, theirs):
        return np.maximum(
            0,
            np.minimum(mine.max(1)[:, None], theirs.max(1))
            - np.maximum(mine.min(1)[:, None], theirs.min(1)),
        )

    y = overlaps(np.sin(np.radians(b.lat_bounds)), np.sin(np.radians(a.lat_bounds)))
    x = sum(overlaps(b.lon_bounds, a.lon_bounds + turn) for turn in (-360, 0, 360))
    want = np.einsum("ij,kl->ikjl", y, x).reshape(y.shape[0] * x.shape[0], -1)
    got = matrix(remapping.make_weights(a, b, "conservative"))
    np.testing.assert_allclose(got, want / want.sum(axis=1, keepdims=True), atol=1e-13)


@pytest.mark.parametrize("names", [("r36x18", "r17x10"), ("r8x5", "r12x7"), ("n6", "r20x11")])
def test_conservative_of_cells_keeps_integrals(names):
    """Cells with edges along great circles, whose areas together are those of the sphere."""
    regular, target = (remapping.grid(n) for n in names)
    for source in (as_cells(regular, polygons=True), as_cells(regular, True, True)):
        for goal in (target, as_cells(target), as_cells(target, True, True)):
            w = remapping.make_weights(source, goal, "conservative")
            a = matrix(w)
            np.testing.assert_allclose(a.sum(axis=1), 1, atol=1e-13)
            if goal is target:
                # Shares of a source cell add up to its area.
                own = (areas(target).ravel()[:, None] * a).sum(axis=0)
                assert abs(own.sum() - 4 * np.pi) < 1e-12
                whole = matrix(remapping.make_weights(target, source, "conservative"))
                np.testing.assert_allclose(
                    whole * own[:, None], (areas(target).ravel()[:, None] * a).T, atol=1e-13
                )


def test_cells_of_great_circles_near_the_equator_are_boxes():
    """Edges along great circles differ little from circles of latitude if cells are narrow."""
    lat_b = np.stack([np.arange(-2, 2, 0.5), np.arange(-1.5, 2.5, 0.5)], -1)
    lon_b = np.stack([np.arange(0, 3, 0.1), np.arange(0.1, 3.05, 0.1)], -1)
    source = remapping.Grid(lat_b.mean(1), lon_b.mean(1), lat_b, lon_b)
    target = remapping.grid(
        "gridtype=lonlat\nxsize=4\nysize=3\nxfirst=.4\nxinc=.7\nyfirst=-1\nyinc=1"
    )
    want = matrix(remapping.make_weights(source, target, "conservative"))
    got = matrix(remapping.make_weights(as_cells(source, polygons=True), target, "conservative"))
    np.testing.assert_allclose(got, want, atol=2e-6)


def test_cells_between_latitudes_and_longitudes_are_boxes():
    source, target = remapping.grid("r13x9"), remapping.grid("n8")
    want = matrix(remapping.make_weights(source, target, "conservative"))
    for a in (source, as_cells(source), as_cells(source, True)):
        for b in (target, as_cells(target), as_cells(target, True)):
            got = matrix(remapping.make_weights(a, b, "conservative"))
            np.testing.assert_allclose(got, want, atol=1e-13)


def test_cells_across_poles_and_the_date_line():
    """A cap around the pole in six triangles, and one polygon that contains it."""
    lon = np.arange(0, 360, 60.0)
    ring = remapping.Grid(
        np.array([90.0]), np.array([0.0]), np.full((1, 6), 80.0), lon[None], unstructured=True
    )
    slices = remapping.Grid(
        np.full(6, 85.0), lon + 30, np.tile([80.0, 80, 90], (6, 1)),
        np.stack([lon, lon + 60, lon + 30], -1), unstructured=True,
    )  # fmt: skip
    w = remapping.make_weights(slices, ring, "conservative")
    np.testing.assert_allclose(w.weights, 1 / 6)
    for target in ("r6x90", "r1x180", "r2x60", "r36x45", "r5x91"):
        a, b = (matrix(remapping.make_weights(s, target, "conservative")) for s in (ring, slices))
        np.testing.assert_allclose(a.sum(1), b.sum(1), atol=1e-13)
        assert a.sum() > 0
    line = remapping.Grid(
        np.array([0.0]), np.array([180.0]), np.array([[-5.0, -5, 5, 5]]),
        np.array([[175.0, -175, -175, 175]]), unstructured=True,
    )  # fmt: skip
    a = matrix(remapping.make_weights(line, "r36x17", "conservative"))
    lat, lon = centres(remapping.grid("r36x17"))
    assert set(zip(lat[a[:, 0] > 0], lon[a[:, 0] > 0], strict=True)) == {(0.0, 180.0)} or a.any()
    assert (np.abs(lon[a[:, 0] > 0] - 180) <= 10).all()


def test_cells_with_many_weights():
    """Weights of a row are sorted quickly, whatever their order: these are 130,000 each."""
    n = 360
    lat, lon = (np.arange(n) + 0.5) * 180 / n - 90, np.arange(2 * n) * 180 / n
    north, south = (
        remapping.make_weights([axis, lon], "r2x1", "conservative") for axis in (lat[::-1], lat)
    )
    assert (np.diff(north.columns)[np.diff(north.rows) == 0] > 0).all()
    flipped = (n - 1 - north.columns // (2 * n)) * 2 * n + north.columns % (2 * n)
    order = np.lexsort((flipped, north.rows))
    np.testing.assert_array_equal(flipped[order], south.columns)
    np.testing.assert_allclose(north.weights[order], south.weights, rtol=1e-10)


def test_cells_that_touch_have_no_weights():
    a = remapping.Grid(
        np.array([0.5]), np.array([0.5]), np.array([[0.0, 0, 1, 1]]), np.array([[0.0, 1, 1, 0]]),
        unstructured=True,
    )  # fmt: skip
    text = "gridtype=lonlat\nxsize=3\nysize=3\nxfirst=-.5\nxinc=1\nyfirst=-.5\nyinc=1"
    w = remapping.make_weights(a, text, "conservative")
    assert set(w.rows.tolist()) <= {4, 7}  # the arc between two corners rises above their latitude
    assert w.weights[w.rows == 4].tolist() == [1]


# --- Weights that may be negative, and classes ---------------------------------------------------


def cell_means(grid, f, n=24):
    """Means of f over the cells of a regular grid, by the midpoint rule."""
    la, lo = np.radians(grid.lat_bounds), np.radians(grid.lon_bounds)
    parts = (np.arange(n) + 0.5) / n
    sines = np.sin(la)
    s = sines[:, :1] + (sines[:, 1:] - sines[:, :1]) * parts
    x = lo[:, :1] + (lo[:, 1:] - lo[:, :1]) * parts
    return f(np.arcsin(s)[:, None, :, None], x[None, :, None, :]).mean((2, 3))


@pytest.mark.parametrize(("source", "target"), PAIRS)
@pytest.mark.parametrize("method", OTHERS)
def test_constants_stay_constant(source, target, method):
    a = remapping.grid(source)
    w = remapping.make_weights(a, target, method)
    np.testing.assert_allclose(matrix(w).sum(axis=1), 1, rtol=0, atol=1e-13)
    got = w.apply(np.full((2, *a.shape), 7.25)).compute()
    np.testing.assert_allclose(got, 7.25, rtol=1e-13)


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("cells", [False, True])
def test_bicubic_is_exact_for_products_of_parabolas(flipped, cells):
    """In the interior, whose slopes are differences of both neighbours."""
    lat, lon = np.arange(-60.0, 61, 20), np.arange(0.0, 160, 20)
    lat = lat[::-1] if flipped else lat
    f = lambda la, lo: (2 + la - la**2 / 50) * (1 - lo / 30 + lo**2 / 90)  # noqa: E731
    x = f(lat[:, None], lon[None])
    to_lat, to_lon = np.linspace(-40, 40, 13), np.linspace(20, 120, 11)
    axes = np.meshgrid(lat, lon, indexing="ij") if cells else (lat, lon)
    got = cubed.remap(x, (to_lat, to_lon), "bicubic", lat=axes[0], lon=axes[1]).compute()
    np.testing.assert_allclose(got, f(to_lat[:, None], to_lon[None]), rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_second_order_keeps_integrals_and_has_smaller_errors(source, target):
    a, b = remapping.grid(source), remapping.grid(target)
    f = lambda la, lo: 2 + np.cos(la) ** 2 * np.cos(2 * lo) + np.sin(la)  # noqa: E731
    x, want = cell_means(a, f), cell_means(b, f)
    error = {}
    for method in ("conservative", "conservative2"):
        got = remapping.make_weights(a, b, method).apply(x).compute()
        assert abs((got * areas(b)).sum() - (x * areas(a)).sum()) < 1e-12 * 4 * np.pi * 10
        error[method] = np.abs(got - want).mean()
    assert error["conservative2"] < 0.6 * error["conservative"]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint8", "bool", "int64"])
def test_the_value_with_the_largest_area(dtype):
    rng = np.random.default_rng(4)
    a, b = remapping.grid("r36x18"), remapping.grid("r7x5")
    x = rng.integers(0, 2 if dtype == "bool" else 4, (3, *a.shape)).astype(dtype)
    w = matrix(remapping.make_weights(a, b, "conservative"))
    classes = np.unique(x)
    parts = np.stack([(x.reshape(3, -1) == c) @ w.T for c in classes])
    want = classes[parts.argmax(axis=0)].reshape(3, *b.shape)
    got = cubed.remap(x, b, "largest", lat=a.lat, lon=a.lon)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got.compute(), want)
    kept = remapping.make_weights(a, b, "largest")
    np.testing.assert_array_equal(kept.apply(x).compute(), want)


def test_missing_classes_and_slopes():
    a, b = remapping.grid("r12x6"), remapping.grid("r6x3")
    x = np.tile(np.arange(12) // 2 % 3.0, (6, 1))
    x[:3] = np.nan
    x[3, 0] = np.nan
    got = cubed.remap(x, b, "largest", lat=a.lat, lon=a.lon).compute()
    assert np.isnan(got).any() and (got[-1] == np.arange(6) % 3).mean() >= 0.5
    strict = cubed.remap(x, b, "largest", lat=a.lat, lon=a.lon, skipna=False).compute()
    assert np.isnan(strict).sum() > np.isnan(got).sum()
    zeros = np.where(x == 0, -0.0, x)
    zeros[:, ::2] = np.abs(zeros[:, ::2])
    np.testing.assert_array_equal(
        cubed.remap(zeros, b, "largest", lat=a.lat, lon=a.lon).compute(), got
    )
    for method in ("bicubic", "conservative2"):
        w = remapping.make_weights(a, b, method)
        m = matrix(w)
        want = (np.isnan(x).ravel() & (m != 0)).any(axis=1)
        negative = (m < 0).any(axis=1)
        assert negative.any()
        y = w.apply(x).compute().ravel()
        assert np.isnan(y[want & negative]).all() and np.isfinite(y[~want]).all()


@needs_cdo
@pytest.mark.parametrize(("method", "name"), [("bicubic", "bic"), ("largest", "laf")])
@pytest.mark.parametrize("source", ["r36x18", "n16"])
def test_bicubic_and_largest_are_those_of_cdo(tmp_path, source, method, name):
    by_cdo("-setname,topo", "-expr,topo=nint(topo/800)", f"-topo,{source}", tmp_path / "a.nc")
    a = xr.load_dataset(tmp_path / "a.nc")["topo"]
    for target in ("r17x10", "r90x45"):
        by_cdo(f"remap{name},{target}", tmp_path / "a.nc", tmp_path / "o.nc")
        want = xr.load_dataset(tmp_path / "o.nc")["topo"].values
        got = cubed.remap(a, target, method).values
        clear = np.ones(want.shape, bool)
        if method == "largest":  # of equal areas either class may be chosen
            w = matrix(remapping.make_weights(a, target, "conservative"))
            parts = np.stack([(a.values.ravel() == c) @ w.T for c in np.unique(a)])
            first, second = np.sort(parts, axis=0)[[-1, -2]]
            clear = (first - second > 1e-6).reshape(want.shape)
        assert clear.mean() > 0.9
        np.testing.assert_allclose(got[clear], want[clear], rtol=1e-10, atol=1e-10)


# --- Values --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "bool"])
def test_values_are_products_with_the_weights(method, dtype):
    rng = np.random.default_rng(1)
    x = (rng.normal(size=(5, 3, 9, 12)) * 50).astype(dtype)
    lat, lon = np.linspace(-80, 80, 9), np.arange(12) * 30.0
    w = remapping.make_weights((lat, lon), "r7x5", method)
    lazy = cubed.from_array(x, chunks=(2, 3, 4, 5))
    got = w.apply(lazy)
    want = (x.reshape(5, 3, -1).astype(float) @ matrix(w).T).reshape(5, 3, 5, 7)
    keeps = method == "nearest" or dtype.startswith("float")
    assert got.dtype == (dtype if keeps else "float64")
    np.testing.assert_allclose(
        got.compute(), want.astype(got.dtype), rtol=1e-6 if dtype == "float32" else 1e-12
    )
    if keeps:
        assert (w.apply(np.ones((9, 12), dtype)).compute() == 1).all() or method != "nearest"


def test_nearest_keeps_dates_and_strings():
    lat, lon = [-10, 10], [0, 90, 180, 270]
    for values in (np.arange(8).astype("datetime64[D]"), np.array(list("abcdefgh"))):
        got = cubed.remap(values.reshape(2, 4), "lon=80_lat=4", "nearest", lat=lat, lon=lon)
        assert got.compute().tolist() == [[values[5].tolist()]]
    with pytest.raises(TypeError, match="nearest accepts all types"):
        cubed.remap(values.reshape(2, 4), "lon=80_lat=4", lat=lat, lon=lon)


def test_missing_values():
    w = remapping.Weights(
        np.array([0, 0, 0, 1, 3]), np.array([0, 1, 2, 2, 0]), np.array([0.5, 0.25, 0.25, 1, 2]),
        (3,), (4,),
    )  # fmt: skip
    nan = np.nan
    x = np.array([[1, 2, 3], [nan, 2, 4], [1, nan, nan], [nan, nan, nan]])
    x = np.concatenate([x] * 5)
    whole = [[1.75, 3, nan, 2], [3, 4, nan, nan], [1, nan, nan, 2], [nan] * 4]
    np.testing.assert_allclose(w.apply(x).compute(), whole * 5)
    half = [[1.75, 3, nan, 2], [3, 4, nan, nan], [1, nan, nan, 2], [nan] * 4]
    np.testing.assert_allclose(w.apply(x, na_threshold=0.5).compute(), half * 5)
    less = [[1.75, 3, nan, 2], [nan, 4, nan, nan], [nan, nan, nan, 2], [nan] * 4]
    np.testing.assert_allclose(w.apply(x, na_threshold=0.49).compute(), less * 5)
    np.testing.assert_allclose(w.apply(x, skipna=False).compute(), less * 5)
    with pytest.raises(ValueError, match="na_threshold"):
        w.apply(x, na_threshold=1.5)


def test_constants_and_integrals():
    for source, target in PAIRS:
        a, b = remapping.grid(source), remapping.grid(target)
        x = field(a.lat, a.lon)
        w = remapping.make_weights(a, b, "conservative")
        y = w.apply(x).compute()
        before, after = (areas(a) * x).sum(), (areas(b) * y).sum()
        assert abs(after / before - 1) < (1e-12 if source != "global_7.5" else 1e-12)
        for method in METHODS:
            got = remapping.make_weights(a, b, method).apply(np.full(a.shape, 0.1)).compute()
            np.testing.assert_allclose(got, 0.1, rtol=1e-15)


def test_every_order_of_tasks_and_chunks_gives_the_same_bits():
    x = np.random.default_rng(2).normal(size=(19, 30, 40)).astype("float32")
    x[3, 4:9, 7] = np.nan
    lat, lon = np.linspace(-87, 87, 30), np.arange(40) * 9.0
    wants = None
    for chunks in [(19, 30, 40), (1, 7, 11), (4, 30, 5)]:
        y = cubed.remap(
            cubed.from_array(x, chunks=chunks), "r23x14", "conservative", lat=lat, lon=lon
        )
        got = y.compute()
        wants = got if wants is None else wants
        np.testing.assert_array_equal(got, wants)


@pytest.mark.parametrize("method", ["bilinear", "nearest", "distance"])
def test_bands_need_less_memory_than_planes(tmp_path, method):
    """The plane has 29 MB, and a task may use 20 MB. Weights were made with more memory."""
    spec = cubed.Spec(work_dir=str(tmp_path), allowed_mem="270MB", reserved_mem="250MB")
    lat, lon = np.linspace(-89.9, 89.9, 1800), np.arange(2000) * 360 / 2000
    x = cubed.random.random((1, 1800, 2000), chunks=(1, 200, 500), spec=spec)
    weights = remapping.make_weights((lat, lon), "r150x100", method)
    y = cubed.remap(x, None, weights=weights)
    assert y.plan().max_projected_mem <= 270e6
    got = y.compute()
    want = weights.apply(x.compute()).compute()
    np.testing.assert_array_equal(got, want)


# --- Memory --------------------------------------------------------------------------------------

REFUSED = (
    r"needs at least \d+ bytes .* use 20000000: use a Spec with more allowed_mem, or weights from"
)


@pytest.fixture
def small(tmp_path):
    return cubed.Spec(work_dir=str(tmp_path), allowed_mem="30MB", reserved_mem="10MB")


@pytest.mark.parametrize(
    ("source", "target", "method"),
    [
        # Nothing but a check before the work ends these in time: the index would have 25 GB.
        ("r20000x10000", "r4x2", "nearest"),
        ("r20000x10000", "r4x2", "distance"),
        ("r20000x10000", "r4x2", "bilinear"),
        ("r4x2", "r20000x10000", "conservative"),  # the rows of the target
        ("r4000x2000", "r4x2", "conservative"),  # a weight for each cell of the source
        ("r1000x500", "r4x2", "conservative"),  # these fit, but not their arrays
    ],
)
def test_weights_beyond_the_memory_are_refused(small, source, target, method):
    with pytest.raises(PlanTooLargeError, match=REFUSED):
        remapping.make_weights(source, target, method, spec=small)


def test_memory_of_an_index_of_cells(small):
    cells = as_cells(remapping.grid("r500x400"))
    for method in METHODS:
        with pytest.raises(PlanTooLargeError, match=REFUSED):
            remapping.make_weights(cells, "r4x2", method, spec=small)


def test_remap_has_the_memory_of_the_array(small):
    lat, lon, *_ = coordinates("r640x320")
    x = cubed.ones((320, 640), chunks=(100, 640), spec=small)
    with pytest.raises(PlanTooLargeError, match=REFUSED):
        cubed.remap(x, "r4x2", "nearest", lat=lat, lon=lon)
    labelled = xr.DataArray(x, {"lat": lat, "lon": lon}, ("lat", "lon"), "v")
    for given in labelled, labelled.to_dataset():
        with pytest.raises(PlanTooLargeError, match=REFUSED):
            cubed.remap(given, "r4x2", "nearest")
    # Weights that were made with more memory are small enough.
    weights = remapping.make_weights((lat, lon), "r4x2", "nearest")
    assert cubed.remap(labelled, None, weights=weights).values.tolist() == [[1.0] * 4] * 2


def test_weights_that_are_too_large_to_apply_are_refused(small):
    lat, lon, *_ = coordinates("r1000x500")
    weights = remapping.make_weights("r1000x500", "r4x2", "conservative")
    with pytest.raises(PlanTooLargeError, match=REFUSED):
        weights.apply(cubed.ones((500, 1000), spec=small))


# --- CDO -----------------------------------------------------------------------------------------


def by_cdo(*words):
    subprocess.run(["cdo", "-s", "-b", "F64", "-f", "nc4", *map(str, words)], check=True)


def differences(got, want):
    assert (np.isnan(got) == np.isnan(want)).all()
    return np.nanmax(np.abs(got - want)) / np.nanmax(np.abs(want))


CDO_PAIRS = [*PAIRS, ("r360x180", "n32"), ("n16", "r100x50")]


def fourth_is_clear(source, target):
    """Cells whose fourth nearest centre is nearer than the fifth, beyond single precision."""
    tree = pytest.importorskip("scipy.spatial", reason="SciPy is not there").cKDTree(
        vectors(*centres(source))
    )
    far = tree.query(vectors(*centres(target)), 5)[0]
    # Beyond the outermost latitudes CDO does not find all of the nearest centres.
    between = np.abs(centres(target)[0]) <= np.abs(source.lat).max()
    return (between & (far[:, 4] - far[:, 3] > 1e-4 * far[:, 3])).reshape(target.shape)


@needs_cdo
@pytest.mark.parametrize(("source", "target"), CDO_PAIRS)
def test_values_are_those_of_cdo(tmp_path, source, target):
    lat, lon, *_ = coordinates(source)
    x = field(lat, lon)
    made = xr.Dataset(
        {"v": (("lat", "lon"), x)},
        {
            "lat": ("lat", lat, {"units": "degrees_north", "standard_name": "latitude"}),
            "lon": ("lon", lon, {"units": "degrees_east", "standard_name": "longitude"}),
        },
    )
    made.to_netcdf(tmp_path / "a.nc")
    # CDO keeps coordinates of points in single precision for distances.
    for method, most in {"bilinear": 1e-12, "conservative": 1e-12, "distance": 1e-6}.items():
        if method == "conservative" and target == "n8":
            continue  # CDO's cells of Gaussian grids with few latitudes end before the poles
        by_cdo(f"remap{METHODS[method]},{target}", tmp_path / "a.nc", tmp_path / "o.nc")
        want = xr.load_dataset(tmp_path / "o.nc")
        got = cubed.remap(made, target, method)
        clear = np.ones(got["v"].shape, bool)
        if method == "distance":
            clear = fourth_is_clear(remapping.grid(source), remapping.grid(target))
        assert clear.mean() > 0.4
        a, b = np.where(clear, got["v"].values, 0), np.where(clear, want["v"].values, 0)
        assert differences(a, b) < most, method
        np.testing.assert_allclose(got["lat"], want["lat"], atol=1e-10)
        np.testing.assert_allclose(got["lon"], want["lon"], atol=1e-10)
        assert got["lat"].attrs["units"] == "degrees_north"


@needs_cdo
@pytest.mark.parametrize("kind", ["curvilinear", "unstructured"])
def test_cells_are_those_of_cdo(tmp_path, kind):
    for source, target in [("r36x18", "r23x14"), ("n16", "r20x10")]:
        by_cdo(f"-setgridtype,{kind}", "-addc,3.5", f"-topo,{source}", tmp_path / "a.nc")
        a = xr.load_dataset(tmp_path / "a.nc")
        methods = {"conservative": 1e-9, "distance": 1e-5}
        if kind == "curvilinear":
            methods["bilinear"] = 1e-9
        for method, most in methods.items():
            by_cdo(f"remap{METHODS[method]},{target}", tmp_path / "a.nc", tmp_path / "o.nc")
            want = xr.load_dataset(tmp_path / "o.nc")["topo"].values
            got = cubed.remap(a, target, method)["topo"].values
            inside = ~np.isnan(want) & ~np.isnan(got)
            assert inside.mean() > 0.85
            assert np.abs(got - want)[inside].max() / np.abs(want[inside]).max() < most, method


@needs_cdo
@pytest.mark.parametrize("method", METHODS)
def test_weights_of_cdo_and_for_cdo(tmp_path, method):
    by_cdo("-addc,0", "-topo,r36x18", tmp_path / "a.nc")
    by_cdo(f"gen{METHODS[method]},r17x10", tmp_path / "a.nc", tmp_path / "w.nc")
    by_cdo("remap,r17x10," + str(tmp_path / "w.nc"), tmp_path / "a.nc", tmp_path / "o.nc")
    want = xr.load_dataset(tmp_path / "o.nc")["topo"].values
    a = xr.load_dataset(tmp_path / "a.nc")
    w = remapping.open_weights(tmp_path / "w.nc")
    assert (w.source_shape, w.target_shape) == ((18, 36), (10, 17))
    np.testing.assert_allclose(w.apply(a["topo"].values).compute(), want, rtol=1e-12, atol=1e-8)
    got = cubed.remap(a, "r17x10", weights=tmp_path / "w.nc")["topo"].values
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-8)
    mine = remapping.make_weights(a, "r17x10", method)
    mine.to_netcdf(tmp_path / "m.nc")
    by_cdo("remap,r17x10," + str(tmp_path / "m.nc"), tmp_path / "a.nc", tmp_path / "p.nc")
    theirs = xr.load_dataset(tmp_path / "p.nc")["topo"].values
    np.testing.assert_allclose(
        theirs, mine.apply(a["topo"].values).compute(), rtol=1e-12, atol=1e-8
    )
    again = remapping.open_weights(tmp_path / "m.nc")
    np.testing.assert_array_equal(matrix(again), matrix(mine))


@needs_cdo
def test_second_order_weights_are_refused(tmp_path):
    by_cdo("gencon2,r17x10", "-topo,r36x18", tmp_path / "w.nc")
    with pytest.raises(NotImplementedError, match="3 weights, which multiply gradients"):
        remapping.open_weights(tmp_path / "w.nc")


@needs_cdo
def test_distances_of_cdo_are_rounded(tmp_path):
    """CDO rounds squared distances to float32. With the same rounding, weights are equal."""
    a, b = remapping.grid("r36x18"), remapping.grid("r17x11")
    by_cdo("gendis,r17x11", "-topo,r36x18", tmp_path / "w.nc")
    theirs, mine = (
        matrix(w)
        for w in (
            remapping.open_weights(tmp_path / "w.nc"),
            remapping.make_weights(a, b, "distance"),
        )
    )
    # Among equally near centres, others may be chosen.
    same = ((theirs != 0) == (mine != 0)).all(axis=1) & ((mine != 0).sum(axis=1) == 4)
    assert same.mean() > 0.5
    squares = np.square(vectors(*centres(b))[:, None] - vectors(*centres(a))[None]).sum(axis=-1)

    def inverse(d2):
        with np.errstate(divide="ignore"):
            w = np.where(mine != 0, 1 / np.sqrt(d2), 0)[same]
        return w / w.sum(axis=1, keepdims=True)

    np.testing.assert_allclose(mine[same], inverse(squares), rtol=0, atol=1e-14)
    rounded = squares.astype("float32").astype(float)
    np.testing.assert_allclose(theirs[same], inverse(rounded), rtol=0, atol=1e-14)
    assert np.abs(theirs - mine)[same].max() > 1e-10


def test_weights_of_xesmf(tmp_path):
    xr.Dataset(
        {"row": ("n_s", [1, 2]), "col": ("n_s", [3, 1]), "S": ("n_s", [1.0, 0.5])}
    ).to_netcdf(tmp_path / "w.nc")
    w = remapping.open_weights(tmp_path / "w.nc", (1, 3), (2, 1))
    assert w.apply([[1.0, 2, 4]]).compute().tolist() == [[4], [0.5]]
    with pytest.raises(ValueError, match="no src_grid_dims, expected the shape"):
        remapping.open_weights(tmp_path / "w.nc")


# --- Xarray --------------------------------------------------------------------------------------


def test_objects_of_xarray(tmp_path):
    lat, lon = np.linspace(80, -80, 9), np.arange(12) * 30.0
    ds = xr.Dataset(
        {
            "t": (("lat", "time", "lon"), np.ones((9, 4, 12), "float32"), {"units": "K"}),
            "n": (("time",), np.arange(4)),
            "name": (("lat",), list("abcdefghi")),
        },
        {"lat": lat, "lon": lon, "time": np.arange(4), "land": (("lat", "lon"), np.ones((9, 12)))},
        {"title": "of all"},
    )
    got = cubed.remap(ds, "r6x4")
    assert got["t"].dims == ("time", "lat", "lon") and got["t"].shape == (4, 4, 6)
    assert got["t"].attrs == {"units": "K"} and got["t"].dtype == "float32"
    assert got.attrs == {"title": "of all"} and set(got.data_vars) == {"t", "n"}
    assert "land" not in got.coords and got["time"].identical(ds["time"])
    assert (got["t"] == 1).all() and got["lat"].attrs["bounds"] in got.variables
    one = cubed.remap(ds["t"], "r6x4", "conservative")
    assert one.name == "t" and one.dims == ("time", "lat", "lon")
    lazy = ds.chunk(time=2, chunked_array_type="cubed")
    assert isinstance(cubed.remap(lazy, "r6x4")["t"].data, cubed.Array)
    ds.to_netcdf(tmp_path / "a.nc")
    same = cubed.remap(one, tmp_path / "a.nc", "nearest")
    assert same.shape == (4, 9, 12) and (same["lat"] == lat).all()


def test_dates_have_no_mean():
    x = xr.DataArray(
        np.arange(6).astype("M8[s]").astype("M8[ns]").reshape(2, 3),
        dims=("lat", "lon"),
        coords={"lat": [-45.0, 45.0], "lon": [0.0, 120.0, 240.0]},
    )
    for method in ("bilinear", "largest"):
        with pytest.raises(TypeError, match="expected real numbers; the method nearest accepts"):
            cubed.remap(x, "r6x4", method)
    assert "x" not in cubed.remap(x.to_dataset(name="x"), "r6x4")
    assert cubed.remap(x, "r6x4", "nearest").dtype == x.dtype


def test_grids_that_cannot_be_found():
    x = xr.DataArray(np.ones((2, 3)), dims=("a", "b"))
    with pytest.raises(ValueError, match="0 coordinates of latitude"):
        cubed.remap(x, "r6x4")
    with pytest.raises(ValueError, match="pass lat and lon"):
        cubed.remap(np.ones((2, 3)), "r6x4")
    with pytest.raises(ValueError, match=r"shape \(6, 4\), expected \(3, 2\) along the last axes"):
        cubed.remap(np.ones((6, 4)), "r3x2", lat=[1, 2, 3], lon=[1, 2])


@pytest.mark.parametrize("units", ["radians", "radian", "rad"])
def test_coordinates_in_radians(units):
    lat, lon = np.linspace(-75, 75, 6), np.arange(0, 360, 45.0)
    degrees = xr.DataArray(
        np.arange(48.0).reshape(6, 8), coords={"lat": lat, "lon": lon}, dims=("lat", "lon")
    )
    turned = {
        name: (name, np.radians(v), {"units": units, "standard_name": standard})
        for name, v, standard in (("lat", lat, "latitude"), ("lon", lon, "longitude"))
    }
    radians = degrees.assign_coords(turned)
    np.testing.assert_allclose(remapping.grid(radians).lat, lat)
    np.testing.assert_allclose(
        cubed.remap(radians, "r6x4").values, cubed.remap(degrees, "r6x4").values
    )


def test_methods_that_are_not_there():
    with pytest.raises(ValueError, match="method is 'cubic', expected one of 'bilinear', "):
        remapping.make_weights("r6x4", "r3x2", "cubic")
    with pytest.raises(NotImplementedError, match="but this source is unstructured"):
        remapping.make_weights(as_cells(remapping.grid("r6x4"), True), "r3x2")
    bare = remapping.Grid(np.zeros((2, 2)), np.ones((2, 2)))
    with pytest.raises(NotImplementedError, match="the source has no bounds; pass bounds"):
        remapping.make_weights(bare, "r3x2", "conservative")


def test_weights_that_are_wrong():
    x = cubed.ones((2, 3))
    for rows, columns, weights, message in [
        ([0], [6], [1.0], "cell 6 to cell 0, expected 0 to 5"),
        ([-1], [0], [1.0], "expected 0 to 5"),
        ([4], [0], [1.0], "expected 0 to 5 and 0 to 3"),
    ]:
        with pytest.raises(IndexError, match=message):
            remapping.apply_weights(x, rows, columns, weights, (4,))
    with pytest.raises(ValueError, match="finite"):
        remapping.apply_weights(x, [0], [0], [np.inf], (4,))
    with pytest.raises(ValueError, match="compute it first"):
        remapping.apply_weights(x, cubed.arange(1), [0], [1.0], (4,))
