"""Compares methods of arrays, and functions of NumPy that the standard lacks, with NumPy."""

import string

import cubed
import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view
from test_package_functions import SPEC, arrays, keys_of_positions, many, same

A = np.random.default_rng(1).normal(size=(6, 4, 5))


def lazy(a, chunks=3):
    return cubed.from_array(np.asarray(a), chunks=chunks, spec=SPEC)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.sum(),
        lambda x: x.sum(0),
        lambda x: x.sum(axis=(0, 2), keepdims=True),
        lambda x: x.mean(1),
        lambda x: x.min(-1),
        lambda x: x.max(axis=0, keepdims=True),
        lambda x: x.prod(2),
        lambda x: x.std(0, ddof=1),
        lambda x: x.var(axis=1),
        lambda x: x.astype(np.float32).var(axis=1, dtype=np.float64),
        lambda x: (x > 0).any(1),
        lambda x: (x > 0).all(axis=(0, 1)),
        lambda x: x.argmax(0),
        lambda x: x.argmin(),
        lambda x: x.argsort(1),
        lambda x: x.cumsum(1),
        lambda x: x.cumsum(),
        lambda x: x.cumprod(0),
        lambda x: x.astype("i4").cumsum(0),
        lambda x: x.repeat(2, axis=1),
        lambda x: x.take([0, 2, -1], axis=1),
        lambda x: x.take([[0, 7]]),
        lambda x: x.clip(-0.5, 0.5),
        lambda x: x.clip(min=0),
        lambda x: x.conj(),
        lambda x: (x + 1j).real,
        lambda x: (x + 1j * x).imag,
        lambda x: x.imag,
        lambda x: x.round(2),
        lambda x: (x * 1000).astype("i8").round(-2),
        lambda x: np.divmod(x, 0.3)[1],
        lambda x: x.copy(),
        lambda x: x.ravel(),
        lambda x: x.flatten(),
        lambda x: x.reshape(4, -1),
        lambda x: x.reshape((4, 30)),
        lambda x: x[:1, :, :1].squeeze(),
        lambda x: x[:1, :, :1].squeeze(0),
        lambda x: x.swapaxes(0, 2),
        lambda x: x.transpose(),
        lambda x: x.transpose(2, 0, 1),
        lambda x: x.transpose((1, 0, 2)),
        lambda x: x.mT,
        lambda x: x[0].T,
        lambda x: x.diagonal(),
        lambda x: x.diagonal(1, 0, 2),
        lambda x: x.trace(0, 1, 2),
        lambda x: x[0].dot(x[1].T),
        lambda x: x[0, 0].dot(x[1, 1]),
        lambda x: x.dot(np.ones(5)),
        lambda x: x.dot(2.0),
        lambda x: x.nonzero()[1],
    ],
)
def test_methods(call):
    expected = call(A)
    same(call(lazy(A)), expected, 1e-12)


def test_persisted_values_are_not_computed_again():
    like = np.arange(12.0).reshape(3, 4)
    x = lazy(like, 2) + 1
    kept = x.persist()
    like[:] = 0
    np.testing.assert_array_equal(kept.compute(), np.arange(12.0).reshape(3, 4) + 1)
    assert kept.chunks == x.chunks


MASKS = [
    A > 0,
    A[:, :, 0] > 0,
    A[:, 0, 0] > 0,
    np.zeros(A.shape, bool),
    np.array(True),
    True,
    False,
    (slice(1, 4), A[0] > 0),
    (A[:, 0, 0] > 0, slice(None), 2),
]


@pytest.mark.parametrize("mask", MASKS, ids=map(str, range(len(MASKS))))
@pytest.mark.parametrize("value", ["number", "same", "row", "lazy"])
def test_assigning_by_masks(mask, value):
    expected, x = A.copy(), lazy(A.copy())
    part = A[mask]
    new = {"number": 7.5, "row": np.arange(part.shape[-1]) + 0.5}.get(value, part * 2 + 1)
    expected[mask] = new
    x[mask] = cubed.from_array(new) if value == "lazy" else new
    np.testing.assert_array_equal(x.compute(), expected)


NUMPYS = {
    "quantile": lambda m, x: m.quantile(x, [[0.1, 0.5], [0.7, 1]], axis=(0, 2), keepdims=True),
    "nanpercentile": lambda m, x: m.nanpercentile(x, [[10], [99]], axis=1),
    "nansum": lambda m, x: m.nansum(x, 1),
    "nanmax": lambda m, x: m.nanmax(x, (0, 2)),
    "nanvar": lambda m, x: m.nanvar(x, -1, ddof=1),
    "nanmean": lambda m, x: m.nanmean(x, 0, "f8"),
    "cross": lambda m, x: m.cross(x[:, :3], x[:, 1:], axis=1),
    "cross of axes": lambda m, x: m.cross(x[:3, :2], x[3:, :2], axisa=0, axisb=0, axisc=1),
    "einsum of lists": lambda m, x: m.einsum(x, [0, 1, 2], x, [0, 3, 2], [3, 1]),
    "einsum with dots": lambda m, x: m.einsum(x, [0, ...], [..., 0]),
    "bincount of bool": lambda m, x: m.bincount((x > 0).reshape(-1)),
    "histogram of bytes": lambda m, x: m.histogram((x > 0).astype("u1"), bins=2)[0],
    "float16 and complex": lambda m, x: x.astype("f2") * 1j,
}


@pytest.mark.parametrize("name", NUMPYS)
def test_parameters_of_numpy(name):
    call = NUMPYS[name]
    got, expected = call(cubed, lazy(A)), call(np, A)
    assert got.dtype == expected.dtype
    same(got, expected, 1e-3 if "float16" in name else 1e-12)


def test_blocks_of_a_method():
    same(lazy(A).map_blocks(lambda b, k: b * k, k=3, dtype=A.dtype), A * 3)


def test_dlpack_both_ways():
    x = lazy(A) + 1
    np.testing.assert_array_equal(np.from_dlpack(x), A + 1)
    np.testing.assert_array_equal(cubed.from_dlpack(x).compute(), A + 1)
    for a in (A, A.T, A[::2, ::-1], np.array(3.0), np.zeros((0, 2)), A > 0, A + 1j):
        y = cubed.from_dlpack(a)
        assert y.dtype == a.dtype
        np.testing.assert_array_equal(y.compute(), a)
    with pytest.raises(BufferError, match="CPU"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, copy=False)
    np.testing.assert_array_equal(np.asarray(x, dtype="f4"), (A + 1).astype("f4"))


@many
@given(arrays(kinds="iuf"), st.data())
def test_other_ways_of_indexing(pair, data):
    a, x = pair
    if 0 in a.shape:
        return
    at = [data.draw(st.lists(st.integers(-n, n - 1), min_size=1, max_size=4)) for n in a.shape]
    mask = data.draw(hnp.arrays(np.bool_, a.shape[0]))
    same(x.oindex[tuple(at)], a[np.ix_(*at)])
    same(x.oindex[mask], a[mask])
    same(x.oindex[mask, ..., 0] if a.ndim > 1 else x.oindex[mask],
         a[mask, ..., 0] if a.ndim > 1 else a[mask])  # fmt: skip
    m = min(len(p) for p in at)
    points = tuple(np.array(p[:m]) for p in at)
    same(x.vindex[points], a[points])
    if a.ndim == 3:
        same(x.vindex[:, points[1], points[2]], np.moveaxis(a[:, points[1], points[2]], -1, 0))
    number = tuple(data.draw(st.integers(-n, n - 1)) for n in x.numblocks)
    block = x.blocks[number]
    ends = [np.cumsum((0, *c)) for c in x.chunks]
    key = tuple(slice(e[:-1][i], e[1:][i]) for e, i in zip(ends, number, strict=True))
    same(block, a[key])
    same(x.blocks[...], a)
    assert len(x.blocks.ravel()) == x.npartitions == x.blocks.size


@many
@given(arrays(kinds="iuf"), st.data())
def test_assigning_to_positions(pair, data):
    a, x = pair
    if 0 in a.shape:
        return
    key = data.draw(keys_of_positions(a.shape))
    b = a.copy()
    value = np.arange(b[key].size).reshape(b[key].shape).astype(a.dtype)
    if value.ndim and data.draw(st.booleans()):
        value = value[..., :1]
    b[key] = value
    x[key] = value
    same(x, b)


def test_assigning_refuses_what_does_not_fit():
    x = lazy(A)
    with pytest.raises(ValueError, match="does not fit"):
        x[[0, 1]] = np.zeros(3)
    with pytest.raises(IndexError, match="out of bounds"):
        x[[0, 6]] = 1
    with pytest.raises(IndexError, match="blocks|block"):
        x.blocks[9]
    with pytest.raises(IndexError, match="oindex"):
        x.oindex[[[1]]]


# --- Functions -----------------------------------------------------------------------------------


@many
@given(arrays(kinds="if"), st.data())
def test_gradient(pair, data):
    a, x = pair
    order = data.draw(st.sampled_from([1, 2]))
    if min(a.shape) < order + 1 or not np.isfinite(a.astype("f8")).all():
        return
    a, x = a.astype("f8"), cubed.astype(x, "f8")
    axis = data.draw(st.integers(-a.ndim, a.ndim - 1))
    at = np.cumsum(data.draw(hnp.arrays("f8", a.shape[axis], elements=st.integers(1, 5))))
    same(cubed.gradient(x, axis=axis, edge_order=order),
         np.gradient(a, axis=axis, edge_order=order), 1e-12)  # fmt: skip
    for h in (0.5, at, lazy(at)):
        expected = np.gradient(a, np.asarray(h), axis=axis, edge_order=order)
        same(cubed.gradient(x, h, axis=axis, edge_order=order), expected, 1e-12)


def test_gradient_of_several_axes():
    a = np.arange(60).reshape(3, 4, 5) ** 2
    for mine, theirs in zip(cubed.gradient(lazy(a), 2, [0, 1, 3, 4], 0.5),
                            np.gradient(a, 2, [0, 1, 3, 4], 0.5), strict=True):  # fmt: skip
        same(mine, theirs, 1e-12)
    with pytest.raises(ValueError, match="expected at least 2"):
        cubed.gradient(lazy(a[:1]), axis=0)
    with pytest.raises(TypeError, match="2 distances for 3 axes"):
        cubed.gradient(lazy(a), 1, 2)


@many
@given(arrays(), st.data())
def test_windows(pair, data):
    a, x = pair
    view = cubed.array_api.lib.stride_tricks.sliding_window_view
    axes = data.draw(st.lists(st.integers(0, a.ndim - 1), min_size=1, max_size=2, unique=True))
    if any(a.shape[d] == 0 for d in axes):
        return
    window = tuple(data.draw(st.integers(1, a.shape[d])) for d in axes)
    expected = sliding_window_view(a, window, tuple(axes))
    mine = view(x, window, tuple(axes))
    same(mine, expected)
    same(mine.max(axis=-1), expected.max(axis=-1))
    with pytest.raises(ValueError, match="a window of extent"):
        view(x, a.shape[0] + 1, 0)


@many
@given(arrays(kinds="iuf"), st.data())
def test_running_totals_and_positions(pair, data):
    a, x = pair
    axis = data.draw(st.none() | st.integers(0, a.ndim - 1))
    if not np.isinf(a.astype("f8")).any():
        for name in ("cumsum", "cumprod", "nancumsum", "nancumprod"):
            mine = getattr(cubed, name)(x, axis=axis, dtype="f8")
            same(mine, getattr(np, name)(a, axis=axis, dtype="f8"), 1e-12)
        assert cubed.cumsum(x, axis=axis).dtype == np.cumsum(a, axis=axis).dtype
    if 0 in a.shape or np.isnan(a.astype("f8")).all(axis=axis).any():
        return
    same(cubed.nanargmax(x, axis=axis), np.nanargmax(a, axis=axis))
    same(cubed.nanargmin(x, axis=axis), np.nanargmin(a, axis=axis))
    same(cubed.ptp(x, axis=axis), np.ptp(a, axis=axis))


@many
@given(arrays(kinds="iuf"), arrays(kinds="f"), st.booleans())
def test_closeness(p, q, equal_nan):
    (a, x), (b, y) = p, q
    a, b, x, y = a.reshape(-1, 1), b.reshape(1, -1), x.reshape(-1, 1), y.reshape(1, -1)
    with np.errstate(all="ignore"):
        same(cubed.isclose(x, y, 0.1, 0.5, equal_nan), np.isclose(a, b, 0.1, 0.5, equal_nan))
    assert bool(cubed.allclose(x, a, equal_nan=True))
    same(cubed.isclose(y, 1.0), np.isclose(b, 1.0))


def test_cross_and_the_rest():
    a, b = A[:, :3, :3], A[1:2, 1:4, 1:4]
    same(cubed.cross(lazy(a), lazy(b)), np.cross(a, b), 1e-12)
    same(cubed.transpose(lazy(A)), A.T)
    same(cubed.around(lazy(A), 1), np.around(A, 1))
    same(cubed.dot(lazy(A), lazy(A[0].T)), np.dot(A, A[0].T), 1e-12)
    same(cubed.dot(lazy(A[0]), lazy(A.mT)), np.dot(A[0], A.mT), 1e-12)
    same(cubed.concatenate([lazy(A), lazy(A)], axis=1), np.concatenate([A, A], axis=1))
    with pytest.raises(ValueError, match="there are 2 axes for an array with 3"):
        cubed.transpose(lazy(A), (0, 1))


@pytest.mark.filterwarnings("error")
def test_numpy_asks_for_shapes_without_values():
    x = lazy(A)
    assert (np.shape(x), np.ndim(x), np.size(x)) == (A.shape, 3, A.size)


def test_names_are_where_xarray_looks_for_them():
    namespace = lazy(A).__array_namespace__()
    for name in ("einsum", "gradient", "cross", "nanmean", "nanquantile", "median", "transpose"):
        assert getattr(namespace, name) is getattr(cubed, name)
    assert all(c in string.printable for c in namespace.lib.stride_tricks.__doc__)
    assert len(set(cubed.__all__)) == len(cubed.__all__)
    assert all(hasattr(cubed, name) for name in cubed.__all__)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_positions_where_all_is_nan(dtype):
    a = np.arange(24, dtype=dtype).reshape(6, 4)
    a[::2, 1] = np.nan
    x = cubed.from_array(a, chunks=(2, 3), spec=SPEC)
    for name in ("nanargmin", "nanargmax"):
        for axis in (None, 0, 1):
            want = getattr(np, name)(a, axis=axis, keepdims=axis is not None)
            same(getattr(cubed, name)(x, axis=axis, keepdims=axis is not None), want)
        a[:, 1] = np.nan
        with pytest.raises(ValueError, match=r"All-NaN slice encountered, at \(1\) of the result"):
            getattr(cubed, name)(cubed.from_array(a, chunks=(2, 3), spec=SPEC), axis=0).compute()
        with pytest.raises(ValueError, match="All-NaN slice"):
            getattr(cubed, name)(cubed.full(5, np.nan, chunks=2)).compute()
        a[1::2, 1] = 1
