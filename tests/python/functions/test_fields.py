"""Compares statistics of fields with weights with NumPy."""

import itertools

import cubed
import numpy as np
import pytest
from cubed import _core, remapping

RNG = np.random.default_rng(5)
X = RNG.normal(10, 3, (3, 4, 5, 6))
X[RNG.random(X.shape) < 0.3] = np.nan
X[1, 2] = np.nan
AREA = RNG.uniform(1, 3, (5, 6))
AREA[0, 1] = 0


def expected(name, x, w, axes):
    """The statistic by its definition."""
    there = ~np.isnan(x + 0 * w)
    w = np.where(there, np.broadcast_to(w, x.shape), 0)
    x0 = np.where(there, x, 0)
    total = w.sum(axes, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (w * x0).sum(axes, keepdims=True) / total
        squares = (w * np.where(there, x0 - mean, 0) ** 2).sum(axes)
        lost = (w**2).sum(axes)
        total = total.squeeze(axes)
        var1 = squares / (total - lost / total)
        found = {
            "mean": mean.squeeze(axes),
            "avg": np.where(there.all(axes), mean.squeeze(axes), np.nan),
            "var": squares / total,
            "std": np.sqrt(squares / total),
            "var1": var1,
            "std1": np.sqrt(var1),
            "int": np.where(total > 0, (w * x0).sum(axes), np.nan),
        }
    return found[name]


@pytest.mark.parametrize("name", ["mean", "avg", "var", "std", "var1", "std1", "int"])
@pytest.mark.parametrize("chunks", [(1, 2, 5, 6), (3, 4, 2, 4)])
def test_weighted_statistics(name, chunks):
    x = cubed.from_array(X, chunks=chunks)
    got = getattr(cubed, f"fld{name}")(x, AREA).compute()
    np.testing.assert_allclose(got, expected(name, X, AREA, (2, 3)), rtol=1e-12)
    if name == "int":
        return
    w = AREA.T[:, :, None] + np.zeros(4)  # in the order of the axes, which do not ascend
    got = getattr(cubed, f"fld{name}")(x, w, axis=(3, 2, 1)).compute()
    wide = np.broadcast_to(AREA, X.shape)
    np.testing.assert_allclose(got, expected(name, X, wide, (1, 2, 3)), rtol=1e-12)
    got = getattr(cubed, f"vert{name}")(x, np.arange(1.0, 5), keepdims=True).compute()
    layers = np.arange(1.0, 5)[:, None, None]
    want = expected(name, X, layers, (1,))[:, None]
    np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-12)


def test_equal_weights_are_those_of_nan_functions():
    x = cubed.from_array(X, chunks=2)
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        np.testing.assert_allclose(cubed.mermean(x, None).compute(), np.nanmean(X, 2))
        np.testing.assert_allclose(cubed.zonstd(x).compute(), np.nanstd(X, 3))
        want = np.nanvar(X, (2, 3), ddof=1)
        np.testing.assert_allclose(cubed.fldvar1(x, None).compute(), want)
        np.testing.assert_allclose(cubed.fldmax(x).compute(), np.nanmax(X, (2, 3)))
        want = np.nanmax(X, 1) - np.nanmin(X, 1)
        np.testing.assert_allclose(cubed.vertrange(x).compute(), want)
    sums = cubed.zonsum(x).compute()
    np.testing.assert_array_equal(np.isnan(sums), np.isnan(X).all(3))


def test_weights_that_are_nan_leave_elements_out():
    x, w = np.array([[1.0, 2.0, 6.0]]), np.array([[1.0, np.nan, 3.0]])
    assert cubed.fldmean(x, w).compute() == 19 / 4
    assert np.isnan(cubed.fldavg(x, w).compute())


@pytest.mark.parametrize("dtype", ["f2", "f4", "i2", "u1", "?"])
def test_types(dtype):
    x = (np.arange(12).reshape(3, 4) % 7).astype(dtype)
    got = cubed.fldmean(x, np.ones((3, 4), "f4")).compute()
    assert got.dtype == (dtype if dtype[0] == "f" else "f8")
    np.testing.assert_allclose(got, x.mean(dtype="f8"), rtol=1e-3 if dtype == "f2" else 1e-6)
    if dtype != "?":
        assert cubed.fldmax(x).compute() == x.max()
    assert cubed.fldrange(x).compute().dtype == got.dtype


def test_ranges_that_the_type_does_not_have():
    x = np.array([[-128, 127], [0, 1]], "i1")
    assert cubed.fldrange(x).compute() == 255
    np.testing.assert_array_equal(cubed.zonrange(x).compute(), [255, 1])


def test_variance_of_large_numbers_does_not_cancel():
    x = 1e9 + np.tile([0.0, 1.0], 50).reshape(10, 10)
    assert cubed.fldvar(x, np.ones((10, 10))).compute() == 0.25


def test_average_along_several_axes():
    values = np.nan_to_num(X)
    x = cubed.from_array(values, chunks=2)
    got = cubed.average(x, axis=(2, 3), weights=AREA).compute()
    np.testing.assert_allclose(got, np.average(values, (2, 3), np.broadcast_to(AREA, X.shape)))
    got = cubed.average(x, axis=(3, 2), weights=AREA.T).compute()
    np.testing.assert_allclose(got, np.average(values, (2, 3), np.broadcast_to(AREA, X.shape)))
    with pytest.raises(ValueError, match=r"weights have shape \(5, 6\), expected the shape"):
        cubed.average(x, axis=(3, 2), weights=AREA)


# --- Areas ----------------------------------------------------------------------------------------


def band(low, high, width):
    return 6371000.0**2 * np.radians(width) * (np.sin(np.radians(high)) - np.sin(np.radians(low)))


def test_bands_between_latitudes_are_exact():
    lat, lon = np.arange(-89.5, 90), np.arange(0.5, 360)
    got = cubed.gridarea(lat, lon, edges="latitudes").compute()
    want = np.broadcast_to(band(lat - 0.5, lat + 0.5, 1.0)[:, None], (180, 360))
    np.testing.assert_allclose(got, want, rtol=1e-12)
    assert abs(got.sum() / (4 * np.pi * 6371000.0**2) - 1) < 1e-12
    unit = cubed.gridarea(lat, lon, radius=1.0).sum().compute()
    assert abs(unit / (4 * np.pi) - 1) < 1e-12


def test_longitudes_may_jump_and_descend():
    lat = [-10.0, 20.0, 40.0]
    want = cubed.gridarea(lat, [0.0, 10, 30, 40]).compute()
    jumps = cubed.gridarea(lat, [350.0, 0, 20, 30]).compute()
    np.testing.assert_allclose(jumps, want, rtol=1e-12)
    falls = cubed.gridarea(lat[::-1], [40.0, 30, 10, 0]).compute()
    np.testing.assert_allclose(falls, want[::-1, ::-1], rtol=1e-12)


def test_bounds_across_the_origin():
    lat, lon = [0.0], [0.0, 2.0, 4.0]
    bounds = {"lat_bounds": [[-5.0, 5.0]]}
    plain = cubed.gridarea(lat, lon, **bounds, lon_bounds=[[-1.0, 1], [1, 3], [3, 5]]).compute()
    across = cubed.gridarea(lat, lon, **bounds, lon_bounds=[[359.0, 1], [1, 3], [3, 5]]).compute()
    np.testing.assert_allclose(across, plain, rtol=1e-12)
    whole = cubed.gridarea(lat, [0.0], **bounds, lon_bounds=[[0.0, 360.0]]).compute()
    np.testing.assert_allclose(whole, [[band(-5, 5, 360)]], rtol=1e-12)


def test_cells_of_corners():
    octant = cubed.gridarea([30.0], [45.0], lat_bounds=[[0.0, 0, 90]], lon_bounds=[[0.0, 90, 0]])
    cap = cubed.gridarea(
        [90.0], [0.0], lat_bounds=[[0.0, 0, 0, 0]], lon_bounds=[[0.0, 90, 180, 270]]
    )
    sphere = 4 * np.pi * 6371000.0**2
    np.testing.assert_allclose(octant.compute(), [sphere / 8], rtol=1e-12)
    np.testing.assert_allclose(cap.compute(), [sphere / 2], rtol=1e-12)


#: Cells by their latitudes and longitudes, which no other test has.
CELLS = {
    "concave": ([0, 4, 0, -12], [0, 4, 20, 5]),
    "concave, across the equator": ([-6, 2, -6, -1], [2, 6, 12, 6]),
    "date line": ([10, 10, 20, 20], [179, -179, -179, 179]),
    "north pole inside": ([80, 85, 70, 85], [0, 90, 180, 270]),
    "south pole inside": ([-80, -80, -80], [0, 120, 240]),
    "pole as two corners": ([80, 80, 90, 90], [10, 20, 20, 10]),
    "pole on an edge": ([80, 80, 85], [0, 180, 90]),
    "two equal corners": ([0, 0, 10, 10], [0, 10, 10, 10]),
    "three equal corners": ([5, 5, 5, 15], [5, 5, 5, 15]),
    "a point": ([5, 5, 5, 5], [5, 5, 5, 5]),
    "wide": ([0, 0, 89, 89], [0, 170, 170, 0]),
}


def area_of_triangles(lat, lon):
    """The area of a polygon, as a sum of signed triangles that share the first corner."""
    lat, lon = (np.radians(np.array(x, np.longdouble)) for x in (lat, lon))
    at = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)
    a, total = at[0], np.longdouble(0)
    for b, c in itertools.pairwise(at[1:]):
        total += 2 * np.arctan2(a @ np.cross(b, c), 1 + a @ b + b @ c + c @ a)
    return float(abs(total))


@pytest.mark.parametrize(("lat", "lon"), CELLS.values(), ids=CELLS)
def test_areas_of_special_cells(lat, lon):
    """Also with the corners in the opposite order, and from another first corner."""
    want = area_of_triangles(lat, lon)
    for order in (np.arange(len(lat)), np.arange(len(lat))[::-1], np.roll(np.arange(len(lat)), 1)):
        bounds = [[np.array(x, "f8")[order]] for x in (lat, lon)]
        got = cubed.gridarea([0.0], [0.0], lat_bounds=bounds[0], lon_bounds=bounds[1], radius=1.0)
        np.testing.assert_allclose(got.compute(), [want], rtol=1e-12, atol=1e-16)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_areas_of_cells_with_bounds_that_are_no_angles(bad):
    lat = [[0.0, bad, 10, 10], [0, 0, 10, 10]]
    area = cubed.gridarea(
        [0.0, 0.0], [0.0, 0.0], lat_bounds=lat, lon_bounds=[[0.0, 10, 10, 0]] * 2, radius=1.0
    ).compute()
    assert np.isnan(area[0])
    np.testing.assert_allclose(area[1], area_of_triangles(lat[1], [0, 10, 10, 0]), rtol=1e-12)


TURNS = 144.0 * np.arange(5)
#: Cells whose edges cross: corners in a wrong order, and a star that always turns to the same side.
CROSSED = {
    "bow-tie": ([0, 10, 0, 10], [0, 10, 10, 0]),
    "unequal parts": ([0, 10, 0, 12], [0, 10, 10, 0]),
    "near a pole": ([80, 89, 80, 89], [0, 90, 90, 0]),
    "date line": ([-5, 5, -5, 5], [178, -178, -178, 178]),
    "five corners": ([0, 10, 10, 0, 0], [0, 10, 0, 10, 10]),
    "star": (5 * np.cos(np.radians(TURNS)), 5 * np.sin(np.radians(TURNS))),
}


@pytest.mark.parametrize(("lat", "lon"), CROSSED.values(), ids=CROSSED)
def test_cells_whose_edges_cross_are_refused_as_by_remap(lat, lon):
    bounds = [np.tile(np.array(x, "f8"), (2, 3, 1)) for x in (lat, lon)]
    good = ([0, 0, 1, *[1] * (len(lat) - 3)], [0, 1, 1, *[0] * (len(lat) - 3)])
    for x, corners in zip(bounds, good, strict=True):
        x[:, :2] = x[0, 2] = corners
    centres = np.zeros((2, 3))
    area = cubed.gridarea(centres, centres, lat_bounds=bounds[0], lon_bounds=bounds[1])
    with pytest.raises(ValueError, match=r"gridarea: edges of cell \(1, 2\) cross, (.*), or ") as a:
        area.compute()
    grid = remapping.Grid(centres, centres, *bounds)
    with pytest.raises(ValueError, match=r"edges of cell \(1, 2\) of the source cross, ") as b:
        remapping.make_weights(grid, "r36x18", "conservative")
    text = "expected bounds in the order of the corners around the cell; change their order, or "
    assert text in str(a.value)
    assert text in str(b.value)
    bounds[0][1, 2, 0] = np.nan
    area = cubed.gridarea(centres, centres, lat_bounds=bounds[0], lon_bounds=bounds[1]).compute()
    assert np.isnan(area).sum() == np.isnan(area[1, 2]) == 1


def crosses(lat, lon):
    """Whether edges of cells cross, by the positions on the sphere in double precision."""
    lat, lon = np.radians(lat), np.radians(lon)
    at = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)
    n = at.shape[1]

    def side(i, j, k):
        return np.sign(np.linalg.det(at[:, [i, j, k]]))

    found = np.zeros(len(at), bool)
    for i, j in itertools.combinations(range(n), 2):
        p, q = (i + 1) % n, (j + 1) % n
        if p != j and q != i:
            found |= (side(i, p, j) * side(i, p, q) < 0) & (side(j, q, i) * side(j, q, p) < 0)
    return found


@pytest.mark.parametrize("corners", [4, 5, 6])
@pytest.mark.parametrize("around", [0.0, 60.0, -88.5, 89.7], ids=lambda x: f"at {x}")
def test_small_cells_are_refused_only_if_their_edges_cross(corners, around):
    """Random cells of half a degree, some of which the check of coordinates alone accepts."""
    rng = np.random.default_rng(corners)
    angle = np.sort(rng.random((60, corners)), axis=1) * 2 * np.pi
    angle[:, 0] *= rng.random(60) < 0.5
    far = rng.uniform(0.1, 0.25, (60, corners))
    mixed = rng.random(60) < 0.5
    angle[mixed] = rng.permuted(angle[mixed], axis=1)
    lat = around + far * np.sin(angle)
    lon = 179.9 + far * np.cos(angle) / np.cos(np.radians(around))
    lon = (lon + 180) % 360 - 180
    bad = crosses(lat, lon)
    assert 10 < bad.sum() < 50
    for at in range(len(lat)):
        bounds = {"lat_bounds": lat[at : at + 1], "lon_bounds": lon[at : at + 1]}
        area = cubed.gridarea([0.0], [0.0], **bounds)
        if bad[at]:
            with pytest.raises(ValueError, match="edges of cell 0 cross"):
                area.compute()
        else:
            assert area.compute()[0] > 0


@pytest.mark.parametrize("dtype", ["f8", "f4", ">f8", "i4"])
@pytest.mark.parametrize(
    ("name", "far", "most"), [("lat", 95, 90), ("lat", -91, 90), ("lon", 3700, 3600)]
)
def test_coordinates_that_are_no_degrees_are_refused(dtype, name, far, most):
    """With the text of remap, wherever the number is used."""
    text = f"is {far}, expected degrees from -{most} to {most}; correct the value, or convert"
    bounds = {
        "lat_bounds": np.tile(np.array([0, 0, 10, 10], dtype), (2, 1)),
        "lon_bounds": np.tile(np.array([0, 10, 10, 0], dtype), (2, 1)),
    }
    bounds[f"{name}_bounds"][1, 2] = far
    zeros = np.zeros(2, dtype)
    what = "latitude" if name == "lat" else "longitude"
    words = f"bound of {what} of cell 1, corner 2, {text}"
    with pytest.raises(ValueError, match=f"gridarea: {words}"):
        cubed.gridarea(zeros, zeros, **bounds).compute()
    corners = [x.astype("f8") for x in bounds.values()]
    grid = remapping.Grid(zeros * 1.0, zeros * 1.0, *corners, unstructured=True)
    with pytest.raises(ValueError, match=words):
        remapping.make_weights(grid, "r36x18", "nearest")
    axes = {"lat": np.array([0, 30, 60], dtype), "lon": np.array([0, 30, 60], dtype)}
    ends = np.array([[0, 15], [15, 45], [45, 75]], dtype)
    ends[1, 1] = far
    with pytest.raises(ValueError, match=f"gridarea: bound of {what} 3 {text}"):
        cubed.gridarea(**axes, **{f"{name}_bounds": ends}).compute()
    axes[name][2] = far
    with pytest.raises(ValueError, match=f"gridarea: {what} 2 {text}"):
        cubed.gridarea(**axes).compute()


@pytest.mark.parametrize("chunks", [-1, 1, 2])
def test_axes_without_order_are_refused(chunks):
    lat = cubed.from_array(np.array([0.0, 20, 10]), chunks=chunks)
    with pytest.raises(ValueError, match="latitude 2 is 10 after 20, .* or give lat_bounds"):
        cubed.gridarea(lat, [0.0, 10]).compute()
    with pytest.raises(ValueError, match="longitude 2 is 20 after 20, .* or give lon_bounds"):
        cubed.gridarea([0.0, 10], [0.0, 20, 20]).compute()
    with pytest.raises(ValueError, match="longitude 3 is 15 after 20"):
        cubed.gridarea([0.0, 10], [0.0, 10, 20, 15]).compute()
    with pytest.raises(ValueError, match="longitude 3 is 5 after 10"):
        cubed.gridarea([0.0, 10], [350.0, 0, 10, 5]).compute()


def test_missing_numbers_of_axes():
    area = cubed.gridarea([0.0, 10, np.nan, 30, 40], [0.0, 10, 20]).compute()
    assert np.isnan(area).all(axis=1).tolist() == [False, True, True, True, False]
    assert cubed.gridarea([90 + 1e-7, 0, -90], [0.0, 10]).compute().shape == (3, 2)


def test_areas_are_made_in_blocks():
    area = cubed.gridarea(np.linspace(-89.98, 89.98, 4500), np.arange(0, 360, 0.04))
    assert area.shape == (4500, 9000)
    assert max(area.chunksize) <= 2048
    assert abs(area.sum().compute() / (4 * np.pi * 6371000.0**2) - 1) < 1e-9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cubed.gridarea([1.0], [1.0, 2.0]), "lat has 1 elements, .* give lat_bounds"),
        (lambda: cubed.gridarea(np.ones((2, 2)), np.ones((2, 2))), "lat has 2 dimensions"),
        (
            lambda: cubed.gridarea([1.0, 2.0], [1.0, 2.0], lat_bounds=np.ones((3, 2))),
            r"lat_bounds has shape \(3, 2\), expected the shape \(2\) of lat",
        ),
        (lambda: cubed.gridarea([1.0, 2.0], [1.0, 2.0], radius=-1), "radius is -1"),
        (lambda: cubed.gridarea([1.0, 2.0], [1.0, 2.0], edges="bands"), "edges is 'bands'"),
        (lambda: cubed.fldmean(X, np.ones(7)), r"fldmean: weights have shape \(7\)"),
    ],
)
def test_wrong_values(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_wrong_types():
    with pytest.raises(TypeError, match="fldmean: x is complex128, expected real numbers"):
        cubed.fldmean(X + 1j, AREA)
    with pytest.raises(IndexError, match="zonmean: axis 4"):
        cubed.zonmean(X, axis=4)
    with pytest.raises(TypeError, match="weights is missing"):
        _core.call("fldmean", cubed.asarray(X)._x)


def test_memory_is_bounded():
    """A field of 64 MB in tasks of 12 MB."""
    spec = cubed.Spec(allowed_mem="40MB", reserved_mem="20MB")
    x = cubed.random.random((8, 1000, 1000), chunks=(1, 250, 1000), spec=spec)
    area = cubed.gridarea(np.linspace(-90, 90, 1000), np.linspace(0, 359, 1000))
    got = cubed.fldstd(x, area)
    assert got.plan().max_projected_mem <= 40_000_000
    np.testing.assert_allclose(got.compute(), np.sqrt(1 / 12), rtol=1e-2)
