"""Compares points between centres at poles, and between equal centres, with formulas."""

import cubed
import numpy as np
import pytest
from cubed import remapping
from test_remap import matrix, vectors
from test_remap_cells import make, smooth

BETWEEN = ("bilinear", "bicubic")
#: Points on both sides of all axes, at poles and on the date line.
TARGET = remapping.Grid(np.linspace(-90, 90, 37), np.arange(0, 360, 10.0) + 1.3)


def curvilinear(lat, lon):
    return remapping.Grid(*np.meshgrid(lat, lon, indexing="ij"))


@pytest.mark.parametrize("method", BETWEEN)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("at_pole", [0.0, 77.7, "random"])
def test_centres_at_a_pole_have_no_longitude(method, transposed, at_pole):
    """Coordinates that were computed from others have any longitude at a pole."""
    lat, lon = np.linspace(-90, 90, 13), np.arange(24) * 15.0
    if transposed:
        lon = lon[:20]  # only columns are joined across the end of an axis
    own = curvilinear(lat, lon)
    other = own.lon.copy()
    pole = np.abs(own.lat) > 89
    other[pole] = (
        np.random.default_rng(0).uniform(0, 360, pole.sum()) if at_pole == "random" else at_pole
    )
    grids = [own, remapping.Grid(own.lat, other)]
    if transposed:
        grids = [remapping.Grid(g.lat.T.copy(), g.lon.T.copy()) for g in grids]
    want, got = (matrix(remapping.make_weights(g, TARGET, method)) for g in grids)
    np.testing.assert_allclose(got, want, atol=1e-13)


def gnomonic(v, at):
    """Places of vectors in the plane that touches the sphere at a vector."""
    east = np.cross([0, 0, 1.0], at) if abs(at[2]) < 1 else np.array([0, 1.0, 0])
    east = east / np.linalg.norm(east)
    north = np.cross(at, east)
    return np.stack([v @ east, v @ north], -1) / (v @ at)[:, None]


@pytest.mark.parametrize("pole", [1, -1])
@pytest.mark.parametrize("corner", [False, True])
def test_bilinear_weights_around_a_pole(pole, corner):
    """Four centres with a pole between them, or at one of them. The weights of a bilinear map are
    products, and the weighted mean of the centres in the plane is the point."""
    lat, lon = np.array([[80.0, 84], [79, 85]]), np.array([[0.0, 80], [290, 170]])
    if corner:
        lat, lon = np.array([[90.0, 84], [83, 78]]), np.array([[333.0, 80], [20, 50]])
    source = remapping.Grid(lat * pole, lon)
    points = np.array([[90.0, 5], [89, 10], [87, 300], [86, 110], [88, 200]])
    if corner:
        points = np.array([[88.0, 50], [84, 50], [86, 40], [85.0, 60]])
    target = remapping.Grid(points[:, 0] * pole, points[:, 1], unstructured=True)
    w = matrix(remapping.make_weights(source, target, "bilinear"))
    np.testing.assert_allclose(w.sum(1), 1, rtol=1e-13)
    assert (w >= 0).all()
    np.testing.assert_allclose(w[:, 0] * w[:, 3], w[:, 1] * w[:, 2], atol=1e-12)
    centres = vectors(source.lat, source.lon).reshape(4, 3)
    for row, at in zip(w, vectors(target.lat, target.lon), strict=True):
        np.testing.assert_allclose(row @ gnomonic(centres, at), [0, 0], atol=1e-12)


@pytest.mark.parametrize("method", BETWEEN)
def test_all_points_of_a_rotated_grid_have_weights(method):
    """Also points at the poles of the earth. Errors fall with the distance of centres."""
    worst = []
    points = np.stack(np.meshgrid(TARGET.lat, TARGET.lon, indexing="ij"), -1).reshape(-1, 2)
    places = vectors(*points.T)
    for n in (18, 36):
        grid = make("rotated", n)
        w = matrix(remapping.make_weights(grid, TARGET, method))
        centres = vectors(grid.lat, grid.lon)
        hole = np.zeros(len(points), bool)  # beyond the first and last row of centres
        for row in (0, -1):
            axis = centres[row].mean(0)
            axis = axis / np.linalg.norm(axis)
            hole |= places @ axis > (centres[row] @ axis).min() - 1e-3
        assert (w[~hole].sum(1) > 0.5).all()
        found = w.sum(1) > 0.5
        worst.append(np.abs(w @ smooth(centres).ravel() - smooth(places))[found].max())
    assert worst[0] < 0.05
    assert worst[1] < worst[0] / 1.7


@pytest.mark.parametrize("kind", ["rows", "columns", "both"])
def test_centres_that_repeat(kind):
    """Quadrilaterals without area have no points. Values are those without repetition."""
    lat, lon = np.linspace(-80, 80, 9), np.arange(0, 200, 20.0)
    twice = [
        np.repeat(v, 2) if kind in (name, "both") else v
        for v, name in ((lat, "rows"), (lon, "columns"))
    ]
    field = lambda g: smooth(vectors(g.lat, g.lon))  # noqa: E731
    plain, repeated = curvilinear(lat, lon), curvilinear(*twice)
    target = remapping.Grid(np.linspace(-85, 85, 35), np.linspace(-15, 215, 47))
    # Points on lines between quadrilaterals have weights from one of them.
    want, got = (
        remapping.make_weights(g, target, "bilinear").apply(field(g)).compute()
        for g in (plain, repeated)
    )
    np.testing.assert_allclose(got, want, rtol=1e-12)
    assert np.isfinite(want).sum() > 1000


@pytest.mark.parametrize("method", ["nearest", "distance"])
def test_the_nearest_of_repeated_centres(method):
    """By brute force, with several centres at a pole, and points that are centres."""
    lat = np.array([90.0, 90, -90, 10, 10, 10, -40, 60, 60, 0])
    lon = np.array([0.0, 120, 7, 20, 380, -340, 200, -100, 260, 180])
    source = remapping.Grid(lat, lon, unstructured=True)
    far = np.linalg.norm(
        vectors(*[v.ravel() for v in np.meshgrid(TARGET.lat, TARGET.lon, indexing="ij")])[:, None]
        - vectors(lat, lon),
        axis=-1,
    )
    k = 1 if method == "nearest" else 4
    got = matrix(remapping.make_weights(source, TARGET, method))
    order = np.sort(far, axis=1)[:, :k]
    clear = far.shape[1] == k or (np.sort(far, axis=1)[:, k] - order[:, -1] > 1e-9)
    values = smooth(vectors(lat, lon))
    for row, d, sure in zip(got, far, clear, strict=True):
        np.testing.assert_allclose(row.sum(), 1, rtol=1e-12)
        if d.min() < 1e-12:
            assert row[d.argmin()] == 1 or (row @ values == pytest.approx(values[d.argmin()]))
        elif sure:
            near = np.argsort(d, kind="stable")[:k]
            w = 1 / d[near]
            assert row @ values == pytest.approx(w @ values[near] / w.sum(), rel=1e-6)


@pytest.mark.parametrize("method", ["bilinear", "bicubic", "nearest", "distance"])
def test_constants_stay_constant_on_degenerate_grids(method):
    lat, lon = np.meshgrid(np.linspace(-90, 90, 7), np.arange(0, 360, 30.0), indexing="ij")
    for source in (
        remapping.Grid(lat, np.where(np.abs(lat) > 89, 0, lon)),
        remapping.Grid(np.repeat(lat, 2, 0), np.repeat(lon, 2, 0)),
    ):
        got = remapping.make_weights(source, TARGET, method).apply(cubed.full(source.shape, 7.5))
        np.testing.assert_allclose(got.compute(), 7.5, rtol=1e-14)
