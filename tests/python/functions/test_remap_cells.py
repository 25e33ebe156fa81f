"""Conservative weights of cells of any shape: against exact means of a field, and against CDO."""

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
