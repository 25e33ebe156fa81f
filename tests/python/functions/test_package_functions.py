"""Compares functions of the package with NumPy: random shapes, chunks and types, and the memory
bound.
"""

import cubed
import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from conftest import NIGHTLY, cases
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from watched import computed

SPEC = cubed.Spec(allowed_mem="60MB", reserved_mem="10MB")
many = settings(
    max_examples=cases(15),
    deadline=None,
    derandomize=not NIGHTLY,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=7)


@st.composite
def arrays(draw, shape=SHAPES, kinds="biuf"):
    dtypes = {"b": ["?"], "i": ["i1", "i4", "i8"], "u": ["u1", "u8"], "f": ["f4", "f8"]}
    dtype = np.dtype(draw(st.sampled_from([d for k in kinds for d in dtypes[k]])))
    values = st.integers(0, 9) if dtype.kind in "bu" else st.integers(-9, 9)
    a = draw(hnp.arrays(np.int64, shape, elements=values)).astype(dtype)
    if dtype.kind == "f" and a.size and draw(st.booleans()):
        a = a / dtype.type(4)
        a.reshape(-1)[draw(st.integers(0, a.size - 1))] = draw(
            st.sampled_from([np.nan, np.inf, -np.inf, -0.0])
        )
    chunks = tuple(draw(st.integers(1, max(1, n))) for n in a.shape)
    return a, cubed.from_array(a, chunks=chunks, spec=SPEC)


@st.composite
def keys_of_positions(draw, extents):
    """Positions along some axes, in arrays of one shape, and slices along the others."""
    where = draw(st.sets(st.integers(0, len(extents) - 1), min_size=1))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=2, max_side=4))
    return tuple(
        draw(hnp.arrays(np.int64, shape, elements=st.integers(-n, n - 1)))
        if d in where
        else draw(st.sampled_from([slice(None), slice(None, None, -1), slice(1, None)]))
        for d, n in enumerate(extents)
    )


def same(x, expected, rtol=0.0):
    """The values, in one plan that ran within its bound, whether optimised or not."""
    values = computed(x)
    expected = np.asarray(expected)
    assert values.shape == expected.shape == x.shape
    assert values.dtype == x.dtype
    np.testing.assert_allclose(values, expected, rtol=rtol, atol=rtol)
    plain = x.compute(optimize_graph=False)
    np.testing.assert_array_equal(values, plain)
    known = values == values  # NaN have several bit patterns
    assert values[known].tobytes() == plain[known].tobytes()


@many
@given(arrays(kinds="iuf"), st.data())
def test_reductions(pair, data):
    a, x = pair
    axis = data.draw(st.none() | st.integers(0, a.ndim - 1))
    keepdims = data.draw(st.booleans())
    with np.errstate(all="ignore"):
        for name in ("sum", "prod"):
            expected = getattr(np, name)(a.astype("f8"), axis=axis, keepdims=keepdims)
            result = getattr(cubed, name)(x, axis=axis, keepdims=keepdims, dtype="f8")
            same(result, expected, 1e-12)
        if (a.shape[axis] if axis is not None else a.size) == 0:
            return
        for name in ("max", "min", "argmax", "argmin"):
            same(
                getattr(cubed, name)(x, axis=axis, keepdims=keepdims),
                getattr(np, name)(a, axis=axis, keepdims=keepdims),
            )
        if not np.isinf(a.astype("f8")).any():
            same(cubed.mean(x, axis=axis), np.mean(a, axis=axis), 1e-6)
            same(cubed.std(x, axis=axis), np.std(a.astype("f8"), axis=axis), 1e-6)
        same(cubed.any(x, axis=axis), np.any(a, axis=axis))
        same(cubed.count_nonzero(x, axis=axis), np.count_nonzero(a, axis=axis))


@many
@given(arrays(), st.data())
def test_basic_indexing(pair, data):
    a, x = pair
    key = data.draw(hnp.basic_indices(a.shape, max_dims=5, allow_newaxis=True))
    same(x[key], a[key])


@many
@given(arrays(), st.data())
def test_integer_arrays_as_indices(pair, data):
    a, x = pair
    if 0 in a.shape:
        return
    key = data.draw(keys_of_positions(a.shape))
    same(x[key], a[key])
    lazy = tuple(cubed.asarray(k) if isinstance(k, np.ndarray) else k for k in key)
    same(x[lazy], a[key])


@many
@given(arrays(), st.data())
def test_masks(pair, data):
    a, x = pair
    dims = data.draw(st.integers(1, a.ndim))
    mask = data.draw(hnp.arrays(np.bool_, a.shape[:dims]))
    same(x[mask], a[mask])
    same(x[cubed.asarray(mask)], a[mask])
    for mine, theirs in zip(cubed.nonzero(x), np.nonzero(a), strict=True):
        same(mine, theirs)
    if dims == a.ndim:
        b = a.copy()
        b[mask] = 3
        x[mask] = 3
        same(x, b)


@many
@given(arrays(), st.data())
def test_arranging(pair, data):
    a, x = pair
    order = data.draw(st.permutations(range(a.ndim)))
    same(cubed.permute_dims(x, tuple(order)), a.transpose(order))
    same(cubed.flip(x), np.flip(a))
    same(cubed.reshape(x, (-1,)), a.reshape(a.size))
    same(cubed.reshape(cubed.permute_dims(x, tuple(order)), (a.size, 1)),
         a.transpose(order).reshape(a.size, 1))  # fmt: skip
    axis, times = data.draw(st.integers(0, a.ndim - 1)), data.draw(st.integers(0, 3))
    same(cubed.repeat(x, times, axis=axis), np.repeat(a, times, axis=axis))
    same(cubed.roll(x, times, axis=axis), np.roll(a, times, axis=axis))
    same(cubed.concat([x, x[::-1]], axis=axis), np.concatenate([a, a[::-1]], axis=axis))
    same(cubed.stack([x, x], axis=axis), np.stack([a, a], axis=axis))
    same(cubed.tile(x, (2, times)), np.tile(a, (2, times)))
    same(cubed.rechunk(x, data.draw(st.integers(1, 5))), a)


@many
@given(arrays(), st.data())
def test_sorting_and_sets(pair, data):
    a, x = pair
    axis = data.draw(st.integers(0, a.ndim - 1))
    same(cubed.sort(x, axis=axis), np.sort(a, axis=axis))
    same(cubed.argsort(x, axis=axis), np.argsort(a, axis=axis, kind="stable"))
    down = cubed.sort(x, axis=axis, descending=True)
    same(down, np.flip(np.sort(a, axis=axis), axis=axis))
    values = np.unique(a, return_index=True, return_inverse=True, return_counts=True,
                       equal_nan=False)  # fmt: skip
    mine = cubed.unique_all(x)
    same(mine.values, values[0])
    same(mine.inverse_indices, values[2].reshape(a.shape))
    same(mine.counts, values[3])
    same(mine.indices, values[1])
    other = a.reshape(-1)[: a.size // 2]
    same(cubed.isin(x, cubed.asarray(other)), np.isin(a, other))


@many
@given(st.data())
def test_products(data):
    n, k, m = (data.draw(st.integers(0, 9)) for _ in range(3))
    a, x = data.draw(arrays(st.just((n, k)), kinds="if"))
    b, y = data.draw(arrays(st.just((k, m)), kinds="if"))
    a, b = (np.nan_to_num(v, posinf=2, neginf=-2) for v in (a, b))
    x, y = (cubed.from_array(v, chunks=4, spec=SPEC) for v in (a, b))
    same(x @ y, (a.astype("f8") @ b.astype("f8")).astype((x @ y).dtype), 1e-5)
    same(cubed.tensordot(x, y, axes=1), np.tensordot(a.astype("f8"), b.astype("f8"), 1)
         .astype(cubed.result_type(x, y)), 1e-5)  # fmt: skip


@many
@given(arrays(kinds="f"), st.data())
def test_transforms(pair, data):
    a, x = pair
    a = np.nan_to_num(a, posinf=1, neginf=-1).astype("f8")
    if 0 in a.shape:
        return
    x = cubed.from_array(a, chunks=3, spec=SPEC)
    axis = data.draw(st.integers(0, a.ndim - 1))
    same(cubed.fft.fft(x, axis=axis), np.fft.fft(a, axis=axis), 1e-12)
    same(cubed.fft.rfftn(x), np.fft.rfftn(a), 1e-11)
    same(cubed.fft.ifftn(cubed.fft.fftn(x)), a, 1e-12)


@many
@given(arrays(kinds="iuf"), arrays(kinds="iuf"))
def test_elementwise_chains_broadcast_and_promote(p, q):
    (a, x), (b, y) = p, q
    a, b = a.reshape(-1, 1), b.reshape(1, -1)
    x, y = cubed.reshape(x, (-1, 1)), cubed.reshape(y, (1, -1))
    with np.errstate(all="ignore"):
        expected = np.where(a > b, a.astype("f8") * 2, b.astype("f8") - 1)
        same(cubed.where(x > y, cubed.astype(x, "f8") * 2, cubed.astype(y, "f8") - 1), expected)
        assert (x + y).dtype == np.result_type(a, b)
        same(x + y, a + b)


def test_cumulative_functions_over_chunks():
    a = np.random.default_rng(3).integers(-5, 5, (50, 40))
    x = cubed.from_array(a, chunks=(7, 9), spec=SPEC)
    for axis in (0, 1):
        same(cubed.cumulative_sum(x, axis=axis), np.cumsum(a, axis=axis))
        same(cubed.diff(x, axis=axis, n=2), np.diff(a, axis=axis, n=2))


def test_random_numbers():
    x = cubed.random.normal(2, 3, (500, 400), chunks=(100, 90), seed=5, spec=SPEC)
    y = cubed.random.normal(2, 3, (500, 400), chunks=(77, 400), seed=5, spec=SPEC)
    values = x.compute()
    assert np.array_equal(values, y.compute())
    assert abs(values.mean() - 2) < 0.05 and abs(values.std() - 3) < 0.05
    dice = cubed.random.integers(1, 7, (10000,), dtype="i2", seed=1).compute()
    assert set(dice) == {1, 2, 3, 4, 5, 6} and dice.dtype == np.int16
    blocks = cubed.random.random((4, 4), chunks=2, key=9).compute()
    rng = np.random.Generator(np.random.Philox(key=9 + 3))
    np.testing.assert_array_equal(blocks[2:, 2:], rng.random((2, 2)))


@pytest.mark.parametrize("name", ["nansum", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd"])
def test_nan_functions(name):
    a = np.random.default_rng(0).normal(size=(30, 20))
    a[a > 1] = np.nan
    x = cubed.from_array(a, chunks=(7, 6), spec=SPEC)
    same(getattr(cubed, name)(x, axis=1), getattr(np, name)(a, axis=1), 1e-12)


def test_larger_than_its_memory():
    """20 times the allowed memory: sorted columns, and what a mask picks."""
    spec = cubed.Spec(allowed_mem="12MB", reserved_mem="2MB")
    x = cubed.random.random((3000, 10000), chunks=(100, 1000), seed=3, spec=spec)
    assert x.nbytes >= 20 * spec.allowed_mem
    ordered = cubed.sort(x, axis=0)
    low, high = cubed.compute(cubed.max(ordered[0]), cubed.min(ordered[-1]), max_workers=1)
    assert 0 < float(low) < 0.05 and 0.95 < float(high) < 1
    kept = x[x > 0.999]
    values = kept.compute(max_workers=1)
    assert 28000 < values.size < 32000 and (values > 0.999).all()


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_linear_algebra(dtype):
    rng = np.random.default_rng(7)
    a = rng.normal(size=(5, 6, 6)) + (1j * rng.normal(size=(5, 6, 6)) if dtype[0] == "c" else 0)
    a = a.astype(dtype)
    b = rng.normal(size=(5, 6, 2)).astype(dtype)
    x = cubed.from_array(a, chunks=(2, 4, 3), spec=SPEC)
    y = cubed.from_array(b, chunks=(1, 6, 1), spec=SPEC)
    rtol = 2e-3 if dtype in ("f4", "c8") else 1e-10
    la = cubed.linalg
    same(la.solve(x, y), np.linalg.solve(a, b), rtol)
    same(la.inv(x), np.linalg.inv(a), rtol)
    same(la.det(x), np.linalg.det(a), rtol)
    same(la.svdvals(x), np.linalg.svd(a, compute_uv=False), rtol)
    u, s, vh = la.svd(x, full_matrices=False)
    same((u * s[:, None, :].astype(u.dtype)) @ vh, a, rtol)
    q, r = la.qr(x)
    same(q @ r, a, rtol)
    hermitian = a @ np.conj(np.swapaxes(a, 1, 2)) + 6 * np.eye(6, dtype=dtype)
    h = cubed.from_array(hermitian, chunks=3, spec=SPEC)
    same(la.eigvalsh(h), np.linalg.eigvalsh(hermitian), rtol)
    same(la.cholesky(h), np.linalg.cholesky(hermitian), rtol)
    same(la.matrix_norm(x), np.linalg.norm(a, axis=(1, 2)), rtol)
    same(la.trace(x), np.trace(a, axis1=1, axis2=2), rtol)
    same(la.matrix_rank(x), [6] * 5)
    with pytest.raises(ValueError, match="singular"):
        la.inv(cubed.zeros((2, 2))).compute()


@pytest.mark.parametrize("chunk", [3, 50])
@pytest.mark.parametrize("name", ["max", "mean"])
def test_a_reduction_meets_what_is_joined(chunk, name):
    """Each piece has code of its own, and reads its own part of what was reduced."""
    a = np.random.default_rng(3).integers(-9, 9, (6, 8, 50)).astype("f8")
    x = cubed.from_array(a, chunks=(2, 3, chunk), spec=SPEC)
    b = np.concatenate([-a[0, :, :13], a[1, :, 13:]], 1)
    y = cubed.concat([-x[0, :, :13], x[1, :, 13:]], axis=1)
    same(getattr(cubed, name)(x, axis=0) - y, getattr(np, name)(a, 0) - b, 1e-12)
    same(y - getattr(cubed, name)(x[:1], axis=0), b - getattr(np, name)(a[:1], 0), 1e-12)


@pytest.mark.parametrize("chunks", [3, 30, (30, 7)])
def test_reductions_of_reductions_meet(chunks):
    # Inner sums are made in pieces: that must not change the order of the outer ones.
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 30, 30)) * 10.0 ** rng.integers(-9, 9, (2, 30, 30))
    x, y = (cubed.from_array(v, chunks=c, spec=SPEC) for v, c in ((a, chunks), (b, 30)))
    traces = [cubed.array_api.sum(v.diagonal()) for v in (x, y)]
    for z, expected in [
        (traces[0] * traces[1], np.trace(a) * np.trace(b)),
        (x.sum(axis=0).sum() * y.sum(axis=0).max(), a.sum() * b.sum(axis=0).max()),
    ]:
        got = z.compute(optimize_graph=False)
        np.testing.assert_allclose(got, expected, rtol=1e-9)
        for n in (1, 2, 5):
            assert z.compute(max_workers=n).tobytes() == got.tobytes()


@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd"])
@pytest.mark.parametrize("where", [True, np.array([True, False, True])])
def test_integers_are_no_type_for_reductions_without_nan(name, where):
    x = np.array([1.5, np.nan, 3.0])
    for xp, a in ((np, x), (cubed, cubed.asarray(x))):
        with pytest.raises(TypeError, match="dtype"):
            getattr(xp, name)(a, dtype=np.int32, where=where)


@pytest.mark.parametrize("name", ["mean", "nanmean"])
def test_a_mean_of_chosen_elements_has_the_type_that_is_asked_for(name):
    x, where = np.array([1, 2, 4, 8]), np.array([True, True, True, False])
    expected = getattr(np, name)(x, dtype=np.int32, where=where)
    mean = getattr(cubed, name)(cubed.asarray(x), dtype=np.int32, where=where)
    assert mean.dtype == expected.dtype and mean.compute() == expected


def test_a_variance_in_integers_is_numpys():
    x = np.array([1, 2, 4, 9])
    expected = np.nanvar(x, dtype=np.int32)
    out = cubed.nanvar(cubed.asarray(x), dtype=np.int32).compute()
    assert out.dtype == expected.dtype and out == expected
