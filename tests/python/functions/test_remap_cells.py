"""Compares conservative weights of cells of any shape with exact means of a field and with CDO."""

import functools

import cubed
import numpy as np
import pytest
from cubed import remapping
from test_remap import as_cells, by_cdo, matrix, needs_cdo, vectors

xr = pytest.importorskip("xarray", reason="the package xarray is not there")

CONSERVATIVE = ("conservative", "conservative2", "largest")


def degrees(v):
    """Latitudes and longitudes of vectors, also of vectors that are not of unit length."""
    return (
        np.degrees(np.arctan2(v[..., 2], np.hypot(v[..., 0], v[..., 1]))),
        np.degrees(np.arctan2(v[..., 1], v[..., 0])),
    )


def from_corners(corners, unstructured=False):
    """A grid of polygons, whose edges are parts of great circles."""
    return remapping.Grid(
        *degrees(corners.mean(axis=-2)), *degrees(corners), unstructured=unstructured
    )


TURN = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def triangles(n):
    """The faces of an icosahedron, each divided into n * n triangles."""
    g = (1 + 5**0.5) / 2
    points = np.array([np.roll((a, b, 0), k) for k in range(3) for a in (-1, 1) for b in (-g, g)])
    edge = np.linalg.norm(points[:, None] - points, axis=-1)
    near = edge < 1.01 * edge[edge > 0].min()
    faces = [
        points[[i, j, k]]
        for i in range(12)
        for j in range(i)
        for k in range(j)
        if near[i, j] and near[j, k] and near[k, i]
    ]
    cells = []
    for a, b, c in faces:
        at = lambda i, j: a + (b - a) * i / n + (c - a) * j / n  # noqa: E731, B023
        for i in range(n):
            for j in range(n - i):
                cells.append([at(i, j), at(i + 1, j), at(i, j + 1)])
                if i + j < n - 1:
                    cells.append([at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)])
    return from_corners(unit(np.array(cells)) @ TURN, unstructured=True)


def rotated(width, height):
    """A curvilinear grid: axes about a rotated pole. Its first and last rows are triangles."""
    g = as_cells(remapping.grid(f"r{width}x{height}"))
    return from_corners(vectors(g.lat_bounds, g.lon_bounds) @ TURN)


def make(kind, n):
    """A global grid with cells of about 180 / n degrees."""
    if kind == "triangles":
        return triangles(n * 5 // 12)
    if kind == "rotated":
        return rotated(2 * n, n)
    if kind == "gaussian":
        return as_cells(remapping.grid(f"n{n // 2}"))
    grid = remapping.grid(f"r{2 * n}x{n}")
    if kind == "axes":
        return grid
    return as_cells(grid, unstructured=kind != "cells", polygons=kind == "polygons")


def smooth(v):
    """A smooth field without symmetry, of unit vectors."""
    x, y, z = np.moveaxis(v, -1, 0)
    return 2 + x**2 - y**2 + z + x * z + y**3


NODES, PARTS = np.polynomial.legendre.leggauss(8)
NODES, PARTS = (NODES + 1) / 2, PARTS / 2


def integrals(grid, f, boxes):
    """Integrals of f over boxes of latitudes and longitudes, or over polygons, by Gauss' rule."""
    if boxes:
        lat, lon = grid.lat_bounds, grid.lon_bounds
        if not grid.unstructured and grid.lat.ndim == 1:
            lat, lon = (np.stack([v.min(-1), v.max(-1)], -1) for v in (lat, lon))
            lat = np.broadcast_to(lat[:, None], (*grid.shape, 2))
            lon = np.broadcast_to(lon[None], (*grid.shape, 2))
        south, north = (np.sin(np.radians(g(lat, -1))) for g in (np.min, np.max))
        west, east = (np.radians(g(lon, -1)) for g in (np.min, np.max))
        s = south[..., None] + (north - south)[..., None] * NODES
        l = west[..., None] + (east - west)[..., None] * NODES  # noqa: E741
        c = np.sqrt(1 - s**2)[..., None]
        at = [c * np.cos(l)[..., None, :], c * np.sin(l)[..., None, :], s[..., None] + 0 * c]
        at = np.stack(np.broadcast_arrays(*at), -1)
        area = (north - south) * (east - west)
        return area * (f(at) @ PARTS @ PARTS)
    corners = vectors(grid.lat_bounds, grid.lon_bounds)
    total = 0
    for k in range(1, corners.shape[-2] - 1):
        a, b, c = (corners[..., i, :] for i in (0, k, k + 1))
        volume = np.abs(np.linalg.det(np.stack([a, b, c], -2)))
        a, b, c = (v[..., None, None, :] for v in (a, b, c))
        u, v = NODES[:, None, None], NODES[None, :, None]
        p = (1 - u) * a + u * ((1 - v) * b + v * c)
        far = np.linalg.norm(p, axis=-1)
        total = total + volume * (f(p / far[..., None]) * NODES[:, None] / far**3 @ PARTS @ PARTS)
    return total


def areas(grid, kind):
    return integrals(grid, lambda v: np.ones(v.shape[:-1]), kind not in POLYGONS)


def means(grid, kind):
    return integrals(grid, smooth, kind not in POLYGONS) / areas(grid, kind)


POLYGONS = ("triangles", "rotated", "polygons")
KINDS = ("axes", "cells", "list", "gaussian", *POLYGONS)


# --- First order ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", POLYGONS)
def test_shared_areas_add_up_to_the_areas_of_cells(kind):
    """Edges of boxes follow the equator, which polygons cross."""
    boxes, polygons = make("axes", 24), make(kind, 20)
    for source, target, names in (
        (boxes, polygons, ("axes", kind)),
        (polygons, boxes, (kind, "axes")),
        (polygons, make("list", 12), (kind, "list")),
    ):
        own, whole = (areas(g, k).ravel() for g, k in zip((source, target), names, strict=True))
        shared = whole @ matrix(remapping.make_weights(source, target, "conservative"))
        np.testing.assert_allclose(shared, own, rtol=1e-12)


# --- Second order --------------------------------------------------------------------------------


@functools.cache
def exact(kind, n):
    """A grid, and the areas and means of its cells."""
    grid = make(kind, n)
    return grid, areas(grid, kind), means(grid, kind)


def errors(method, source, target, n, m):
    """Errors of the means over the target's cells; constants and the integral are kept."""
    (a, size, x), (b, goal_size, want) = exact(source, n), exact(target, m)
    w = remapping.make_weights(a, b, method)
    got = w.apply(x).compute()
    np.testing.assert_allclose(w.apply(np.full(a.shape, 7.25)).compute(), 7.25, rtol=1e-13)
    assert abs((got * goal_size).sum() / (x * size).sum() - 1) < 1e-12
    return got - want


@pytest.mark.parametrize("target", ["axes", "list", *POLYGONS])
@pytest.mark.parametrize("source", KINDS)
def test_second_order_on_cells(source, target):
    """Twice as many cells along both axes have a quarter of the errors."""
    sizes = (20, 39) if target == "triangles" else (17, 34)
    coarse = errors("conservative2", source, target, 24, sizes[0])
    fine = errors("conservative2", source, target, 48, sizes[1])
    first = errors("conservative", source, target, 48, sizes[1])
    assert np.abs(fine).mean() < 0.28 * np.abs(coarse).mean()
    assert np.abs(fine).mean() < 0.05 * np.abs(first).mean()


def test_second_order_is_alike_on_axes_and_cells():
    a, b = remapping.grid("r36x18"), remapping.grid("r17x9")
    x = means(a, "axes")
    want, first = (
        remapping.make_weights(a, b, m).apply(x).compute()
        for m in ("conservative2", "conservative")
    )
    for source in (a, as_cells(a), as_cells(a, unstructured=True)):
        got = remapping.make_weights(source, as_cells(b), "conservative2").apply(
            x.reshape(source.shape)
        )
        assert np.abs(got.compute() - want).max() < 0.1 * np.abs(first - want).max()


@pytest.mark.parametrize("kind", KINDS)
def test_second_order_on_the_same_grid_copies(kind):
    """Missing neighbours have no effect if a cell of the target is a cell of the source."""
    a = make(kind, 24)
    x = np.where(np.random.default_rng(3).random(a.shape) < 0.3, np.nan, means(a, kind))
    got = remapping.make_weights(a, a, "conservative2").apply(x).compute()
    np.testing.assert_allclose(got, x, rtol=1e-11)


@pytest.mark.parametrize("kind", ["cells", "list", "rotated", "triangles"])
def test_second_order_and_missing_values(kind):
    """A target cell is missing if it has a weight of a missing cell. Others keep their values."""
    a, b = make(kind, 24), remapping.grid("r17x9")
    w = remapping.make_weights(a, b, "conservative2")
    x = means(a, kind)
    holes = np.where(np.random.default_rng(4).random(a.shape) < 0.01, np.nan, x)
    m = matrix(w)
    touched = ((m != 0) & np.isnan(holes).ravel()).any(axis=1).reshape(b.shape)
    assert 0.05 < touched.mean() < 0.9 and (m < 0).any(axis=1).all()
    got = w.apply(holes).compute()
    np.testing.assert_array_equal(np.isnan(got), touched)
    np.testing.assert_array_equal(got[~touched], w.apply(x).compute()[~touched])


def test_second_order_in_cells_that_overlap():
    """Columns of ocean models that repeat others are no neighbours: their distance is 0."""
    a, b = make("cells", 24), remapping.grid("r17x9")
    wide = [np.concatenate([v, v[:, :2]], 1) for v in (a.lat, a.lon, a.lat_bounds, a.lon_bounds)]
    wide = remapping.Grid(*wide)
    x = means(a, "cells")
    got = remapping.make_weights(wide, b, "conservative2").apply(np.concatenate([x, x[:, :2]], 1))
    assert np.abs(got.compute() - means(b, "axes")).max() < 0.02
    assert np.isfinite(matrix(remapping.make_weights(wide, b, "conservative2"))).all()


@needs_cdo
def test_second_order_of_cdo_has_other_gradients(tmp_path):
    """CDO refuses unstructured cells. On curvilinear cells its errors are those of first order."""
    by_cdo("-setgridtype,curvilinear", "-topo,r48x24", tmp_path / "a.nc")
    a = xr.load_dataset(tmp_path / "a.nc")
    a["topo"].values[:] = means(make("cells", 24), "cells")
    a.to_netcdf(tmp_path / "b.nc")
    want = means(remapping.grid("r17x9"), "axes")
    error = {}
    for method, name in (("conservative", "con"), ("conservative2", "con2")):
        by_cdo(f"remap{name},r17x9", tmp_path / "b.nc", tmp_path / "o.nc")
        theirs = xr.load_dataset(tmp_path / "o.nc")["topo"].values
        mine = cubed.remap(a, "r17x9", method)["topo"].values
        error[name] = [np.abs(v - want).mean() for v in (theirs, mine)]
        if name == "con":
            np.testing.assert_allclose(mine, theirs, rtol=1e-6)
    assert error["con2"][1] < 0.1 * error["con2"][0]


# --- Cells at poles, at the date line, without area ----------------------------------------------


def cell_list(*corners):
    """Unstructured cells with corners (latitude, longitude)."""
    most = max(map(len, corners))
    padded = [[*c, *[c[-1]] * (most - len(c))] for c in corners]
    lat, lon = np.moveaxis(np.array(padded, float), -1, 0)
    return remapping.Grid(lat[:, 0], lon[:, 0], lat, lon, unstructured=True)


@pytest.mark.parametrize("method", CONSERVATIVE)
def test_a_cell_that_contains_a_pole(method):
    """A cap of six corners, and the ring around it, in the sources and in the targets."""
    lon = np.arange(0, 360, 60)
    for pole in (1, -1):
        cap = [(pole * 80, x) for x in lon]
        ring = [
            [(pole * 80, x), (pole * 80, x + 60), (pole * 60, x + 60), (pole * 60, x)] for x in lon
        ]
        # Six corners each: the ring's outer edges are great circles, as those of the cap.
        bent = [[*c[:2], (pole * 70, c[1][1]), *c[2:], (pole * 70, c[3][1])] for c in ring]
        grid = cell_list(cap, *bent)
        w = matrix(remapping.make_weights(grid, f"r1x{90}", method))
        beyond = w[:5] if pole < 0 else w[-5:]  # poleward of 80 degrees
        np.testing.assert_allclose(beyond.sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_allclose(beyond[: 4 if pole < 0 else None][..., 0].max(), 1, rtol=1e-12)
        back = matrix(remapping.make_weights("r36x90", grid, method))
        np.testing.assert_allclose(back.sum(axis=1), 1, rtol=1e-12)
        lat = np.repeat(remapping.grid("r36x90").lat, 36) * pole
        inside = back[0] > 0.5 * back[0].max()
        assert inside.any() and lat[inside].min() > 78


@pytest.mark.parametrize("method", CONSERVATIVE)
@pytest.mark.parametrize("turn", [-360, 0, 360])
def test_cells_across_the_date_line(method, turn):
    """Longitudes may jump within a cell, and may be on any turn around the earth."""
    x = [175 + turn, -175 + turn]
    line = cell_list([(-5, x[0]), (-5, x[1]), (5, x[1]), (5, x[0])])
    plain = cell_list([(-5, 175), (-5, 185), (5, 185), (5, 175)])
    for target in ("r72x36", "r35x17", make("triangles", 24)):
        got, want = (matrix(remapping.make_weights(s, target, method)) for s in (line, plain))
        np.testing.assert_allclose(got, want, atol=1e-13)
        back, forth = (matrix(remapping.make_weights(target, s, method)) for s in (line, plain))
        np.testing.assert_allclose(back, forth, atol=1e-13)
        assert got.any() and back.sum() == pytest.approx(1)


@pytest.mark.parametrize("method", CONSERVATIVE)
def test_cells_that_touch_in_a_point_or_an_edge(method):
    square = cell_list([(0, 0), (0, 10), (10, 10), (10, 0)])
    others = cell_list(
        [(10, 10), (10, 20), (20, 20), (20, 10)],  # a corner
        [(0, 10), (0, 20), (10, 20), (10, 10)],  # an edge
        [(-10, 0), (-10, 10), (0, 10), (0, 0)],  # an edge along the equator
        [(0, 10), (-5, 15), (5, 15)],  # a triangle's corner
        [(2, 2), (2, 8), (8, 5)],  # inside
    )
    m = matrix(remapping.make_weights(square, others, method))
    assert (m[:4] == 0).all() and m[4].tolist() == [1]
    back = matrix(remapping.make_weights(others, square, method))
    assert back.tolist() == [[0, 0, 0, 0, 1]]


@pytest.mark.parametrize("method", CONSERVATIVE)
def test_cells_without_area(method):
    """Points, lines and cells without bounds that differ have no weights and no value."""
    fine = remapping.grid("r36x18")
    flat = cell_list(
        [(5, 5)] * 4,  # a point
        [(5, 5), (5, 5), (5, 5), (15, 15)],  # three equal corners
        [(5, 5), (15, 15), (5, 5), (15, 15)],  # there and back
        [(0, 0), (0, 10), (0, 20), (0, 30)],  # on the equator
        [(90, 0), (90, 120), (90, 240)],  # at a pole
        [(0, 0), (0, 10), (10, 10), (10, 10)],  # a triangle: two equal corners
        [(40, 0), (40, 10), (50, 10), (50, 0)],
    )
    m = matrix(remapping.make_weights(fine, flat, method))
    assert not m[:5].any()
    np.testing.assert_allclose(m[5:].sum(axis=1), 1, rtol=1e-12)
    got = remapping.make_weights(fine, flat, method).apply(np.ones(fine.shape)).compute()
    np.testing.assert_allclose(got, [np.nan] * 5 + [1, 1])
    back = matrix(remapping.make_weights(flat, fine, method))
    assert np.isfinite(back).all() and not back[:, :5].any() and back[:, 5:].any(axis=0).all()
    for source in (flat, fine):
        empty = remapping.make_weights(source, cell_list([(5, 5)] * 4), method)
        assert empty.weights.size == 0


@pytest.mark.parametrize("method", CONSERVATIVE)
def test_targets_that_overlap_nothing(method):
    source = cell_list([(40, 0), (40, 10), (50, 10), (50, 0)])
    target = cell_list([(-50, 0), (-50, 10), (-40, 10), (-40, 0)], [(42, 2), (42, 8), (48, 5)])
    w = remapping.make_weights(source, target, method)
    np.testing.assert_allclose(w.apply(np.array([3.5])).compute(), [np.nan, 3.5])


@pytest.mark.parametrize("bad", [np.nan, np.inf, 95.0])
def test_wrong_bounds_name_the_cell(bad):
    good = make("cells", 4)
    lat = good.lat_bounds.copy()
    lat[2, 3, 1] = bad
    wrong = remapping.Grid(good.lat, good.lon, lat, good.lon_bounds)
    for method in CONSERVATIVE:
        with pytest.raises(ValueError, match=r"bound of latitude of cell \(2, 3\), corner 1, is"):
            remapping.make_weights(wrong, "r6x4", method)
        with pytest.raises(ValueError, match=r"bound of latitude of cell \(2, 3\), corner 1, is"):
            remapping.make_weights("r6x4", wrong, method)


def test_concave_cells():
    """A field is the same on two concave cells as on the triangles that they consist of."""
    arrow = [(0, 0), (4, 4), (0, 20), (-12, 5)]  # the second corner is concave
    halves = cell_list([arrow[0], arrow[1], arrow[3]], [arrow[1], arrow[2], arrow[3]])
    hook = [(-6, 2), (2, 6), (-6, 12), (-1, 6)]
    parts = cell_list([hook[0], hook[1], hook[3]], [hook[1], hook[2], hook[3]])
    size = [areas(g, "polygons") for g in (halves, parts)]
    for grid, share in ((cell_list(arrow), size[0]), (cell_list(hook), size[1])):
        pieces = halves if share is size[0] else parts
        for fine in (remapping.grid("r36x18"), make("triangles", 24)):
            got = matrix(remapping.make_weights(fine, grid, "conservative"))
            want = (
                share @ matrix(remapping.make_weights(fine, pieces, "conservative")) / share.sum()
            )
            np.testing.assert_allclose(got[0], want, atol=1e-13)
            back = matrix(remapping.make_weights(grid, fine, "conservative"))
            assert set(np.flatnonzero(back)) == set(np.flatnonzero(got))
    both = matrix(
        remapping.make_weights(cell_list(arrow, hook), cell_list(arrow, hook), "conservative")
    )
    assert (both > 0).all()
    shared = size[0] @ (matrix(remapping.make_weights(parts, halves, "conservative")) > 0)
    assert shared.all()


@pytest.mark.parametrize("method", CONSERVATIVE)
@pytest.mark.parametrize("move", [0, 3])
def test_cells_whose_edges_cross_are_refused(method, move):
    """Also if the areas of both parts, which have opposite signs, are equal."""
    good = make("list", 5)  # cells 20 to 29 are on both sides of the equator
    order = [0, 1, 3, 2]
    lat, lon = good.lat_bounds.copy(), good.lon_bounds.copy()
    lat[25], lon[25] = lat[25, order], lon[25, order] + [0, move, 0, 0]
    wrong = remapping.Grid(good.lat, good.lon, lat, lon, unstructured=True)
    for a, b, name in ((wrong, "r9x5", "source"), (remapping.grid("r9x5"), wrong, "target")):
        with pytest.raises(ValueError, match=f"edges of cell 25 of the {name} cross, expected"):
            remapping.make_weights(a, b, method)
    used = np.arange(good.lat.size) != 25
    masked = remapping.Grid(good.lat, good.lon, lat, lon, unstructured=True, mask=used)
    assert remapping.make_weights(masked, "r9x5", method).weights.size
    assert remapping.make_weights("r9x5", masked, method).weights.size


def test_centres_whose_connecting_lines_cross():
    """Bilinear weights need the lines; the nearest centres need only the centres, in any order."""
    lat, lon = np.meshgrid(np.arange(5.0), np.arange(6.0), indexing="ij")
    whole = remapping.make_weights(remapping.Grid(lat, lon), "r72x36", "nearest")
    lat[2, 3], lat[2, 4], lon[2, 3], lon[2, 4] = lat[2, 4], lat[2, 3], lon[2, 4], lon[2, 3]
    wrong = remapping.Grid(lat, lon)
    text = (
        r"lines between the four centres from cell \(1, 3\) to cell \(2, 4\) of the source cross, "
        "expected rows and columns .*; correct the coordinates, mask the cells, or choose"
    )
    for method in ("bilinear", "bicubic"):
        with pytest.raises(ValueError, match=text):
            remapping.make_weights(wrong, "r72x36", method)
    for method in ("nearest", "distance"):
        remapping.make_weights(wrong, "r72x36", method)
    near = remapping.make_weights(wrong, "r72x36", "nearest")
    v = np.arange(30.0).reshape(5, 6)
    swapped = v.copy()
    swapped[2, 3], swapped[2, 4] = v[2, 4], v[2, 3]
    got = near.apply(swapped).compute()
    np.testing.assert_array_equal(got, whole.apply(v).compute())
    mask = np.ones(lat.shape, bool)
    mask[2, 3:5] = False
    remapping.make_weights(remapping.Grid(lat, lon, mask=mask), "r72x36", "bilinear")
