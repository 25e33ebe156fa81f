"""Compares chains of functions over random shapes, chunks and types with NumPy.

Every case is bit for bit the same in all executors, optimised or not, and in as little memory as it
can be done in; its tasks stay within what was projected. `--nightly` runs thousands of cases.
"""

import itertools
import pathlib
import re
import tempfile
import warnings

import cubed
import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from chain_functions import ELSEWHERE, EXACT, ROUGH, Drawn, missing, whole
from conftest import NIGHTLY, cases
from cubed.planning._compute import Plan
from cubed.planning._options import RunOptions
from cubed.runtime.create import create_executor
from cubed.spec import Spec
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from watched import Watch, computed

import zarr
from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec

# Of which workers hold the plans of many cases at once.
SPEC = Spec(allowed_mem="200MB", reserved_mem="100MB")
CODECS = [(), (ZstdCodec(level=1),), (GzipCodec(level=1),), (BloscCodec(cname="lz4"),)]
DTYPES = ["i2", "i4", "i8", "u1", "f4", "f8"]


# --- Steps: each takes an array of NumPy and a lazy one, and gives two of the next ---------------


def elementwise(draw, a, x):
    name = draw(st.sampled_from(["abs", "negative", "square", "sign", "floor", "positive"]))
    if name == "negative" and a.dtype.kind == "u":
        name = "positive"
    return getattr(np, name)(a).astype(a.dtype), cubed.astype(getattr(cubed, name)(x), a.dtype)


def scalar(draw, a, x):
    k = draw(st.integers(1, 5))
    op = draw(st.sampled_from("+-*%/"))
    if op == "+":
        return a + k, x + k
    if op == "-":
        return a - k, x - k
    if op == "*":
        return a * k, x * k
    if op == "%":
        return a % k, x % k
    return a // k, x // k


def with_itself(draw, a, x):
    """A diamond: a view of the array meets the array."""
    axis = draw(st.integers(0, a.ndim - 1))
    name = draw(st.sampled_from(["maximum", "minimum", "add", "where"]))
    b, y = np.flip(a, axis), cubed.flip(x, axis=axis)
    if name == "where":
        return np.where(a > b, a, b - b), cubed.where(x > y, x, y - y)
    return getattr(np, name)(a, b), getattr(cubed, name)(x, y)


def with_a_row(draw, a, x):
    row = np.arange(a.shape[-1]).astype(a.dtype)
    y = cubed.from_array(row, chunks=draw(st.integers(1, max(1, row.size))), spec=SPEC)
    return a + row, x + y


def part(draw, a, x):
    key = draw(hnp.basic_indices(a.shape, allow_ellipsis=False).filter(lambda k: np.ndim(a[k])))
    return a[key], x[key]


def newaxis(draw, a, x):
    axis = draw(st.integers(0, a.ndim))
    return np.expand_dims(a, axis), cubed.expand_dims(x, axis=axis)


def transposed(draw, a, x):
    order = draw(st.permutations(range(a.ndim)))
    return a.transpose(order), x.transpose(order)


def reshaped(draw, a, x):
    flat = draw(st.booleans())
    shape = (-1,) if flat or not a.size else (*a.shape[:-2], int(np.prod(a.shape[-2:])))
    return a.reshape(a.size if flat or not a.size else shape), x.reshape(
        (a.size,) if flat or not a.size else shape
    )


def rechunked(draw, a, x):
    chunks = tuple(draw(st.integers(1, max(1, n))) for n in a.shape)
    return a, x.rechunk(chunks)


def joined(draw, a, x):
    axis = draw(st.integers(0, a.ndim - 1))
    if draw(st.booleans()):
        return np.stack([a, a], axis), cubed.stack([x, x], axis=axis)
    return np.concatenate([a, a[::-1]], axis), cubed.concat([x, x[::-1]], axis=axis)


def moved(draw, a, x):
    axis, k = draw(st.integers(0, a.ndim - 1)), draw(st.integers(-3, 3))
    return np.roll(a, k, axis), cubed.roll(x, k, axis=axis)


def repeated(draw, a, x):
    axis, k = draw(st.integers(0, a.ndim - 1)), draw(st.integers(1, 3))
    return np.repeat(a, k, axis), cubed.repeat(x, k, axis=axis)


def padded(draw, a, x):
    width = [(draw(st.integers(0, 2)), draw(st.integers(0, 2))) for _ in a.shape]
    return np.pad(a, width), cubed.pad(x, width)


def reduced(draw, a, x):
    axis = draw(st.integers(0, a.ndim - 1))
    names = ["sum", "max", "min", "argmax"] if a.shape[axis] else ["sum"]
    name, keepdims = draw(st.sampled_from(names)), draw(st.booleans())
    kwargs = {"dtype": np.int64 if a.dtype.kind in "iu" else a.dtype} if name == "sum" else {}
    return (
        getattr(np, name)(a, axis=axis, keepdims=keepdims, **kwargs),
        getattr(cubed, name)(x, axis=axis, keepdims=keepdims, **kwargs),
    )


def centred(draw, a, x):
    """An array meets a reduction of itself."""
    axis = draw(st.integers(0, a.ndim - 1))
    if not a.shape[axis]:
        return a, x
    return a - a.max(axis, keepdims=True), x - cubed.max(x, axis=axis, keepdims=True)


def summed(draw, a, x):
    axis = draw(st.integers(0, a.ndim - 1))
    return np.cumsum(a, axis), cubed.cumsum(x, axis=axis)


def ordered(draw, a, x):
    axis = draw(st.integers(0, a.ndim - 1))
    if draw(st.booleans()):
        return np.argsort(a, axis, kind="stable"), cubed.argsort(x, axis=axis)
    return np.sort(a, axis), cubed.sort(x, axis=axis)


def picked(draw, a, x):
    axis = draw(st.integers(0, a.ndim - 1))
    if not a.shape[axis]:
        return a, x
    n = a.shape[axis]
    at = draw(st.lists(st.integers(-n, n - 1), min_size=1, max_size=6))
    key = (*(slice(None),) * axis, np.array(at))
    return a[key], x[key]


def multiplied(draw, a, x):
    if a.ndim < 2 or a.dtype.kind == "u":
        return a, x
    return a @ a.mT, x @ x.mT


def cast(draw, a, x):
    dtype = draw(st.sampled_from(DTYPES))
    return a.astype(dtype), cubed.astype(x, dtype)


def masked(draw, a, x):
    return a[a > 1], x[x > 1]


def assigned(draw, a, x):
    key = draw(hnp.basic_indices(a.shape, allow_ellipsis=False))
    b, y = a.copy(), x + 0
    b[key] = 3
    y[key] = 3
    return b, y


def three(block, k=3):
    return block * k


def with_neighbours(block, axis=0):
    n = block.shape[axis]
    parts = [np.take(block, range(i, n - 2 + i), axis=axis) for i in range(3)]
    return parts[0] + parts[1] + parts[2]


def by_own_functions(draw, a, x):
    """Functions in Python on blocks."""
    axis = draw(st.integers(0, a.ndim - 1))
    kind = draw(st.sampled_from(["map_blocks", "map_overlap", "gufunc", "along", "group"]))
    if kind == "map_blocks":
        return a * 3, cubed.map_blocks(three, x, dtype=a.dtype, k=3)
    if kind == "gufunc":
        y = cubed.apply_gufunc(three, "()->()", x, output_dtypes=a.dtype, k=2)
        return a * 2, y
    if not a.size:
        return a, x
    if kind == "along":
        y = cubed.apply_along_axis(np.max, axis, x, dtype=a.dtype, shape=())
        return np.max(a, axis), y
    if kind == "group":
        labels = np.arange(a.shape[-1]) % 3
        totals = [a[..., labels == g].sum(-1, dtype=np.float64) for g in range(3)]
        y, _ = cubed.groupby_reduce(
            cubed.astype(x, "f8"), labels, func="sum", expected_groups=np.arange(3), fill_value=0
        )
        return np.stack(totals, -1), y
    y = cubed.map_overlap(
        with_neighbours, x, dtype=a.dtype, depth={axis: 1}, boundary={axis: 0}, axis=axis
    )
    b = np.pad(a, [(int(d == axis),) * 2 for d in range(a.ndim)])
    return with_neighbours(b, axis), y


FOLDER = tempfile.TemporaryDirectory()
NAMES = itertools.count()


def stored(draw, a, x):
    """Through a store, with chunks that are smaller and larger than what is read."""
    path = pathlib.Path(FOLDER.name) / str(next(NAMES))
    codecs = draw(st.sampled_from(CODECS))
    chunks = tuple(draw(st.integers(1, max(1, n))) for n in a.shape)
    shards = tuple(draw(st.integers(1, 3)) * c for c in chunks)
    z = zarr.create_array(
        path,
        shape=a.shape,
        dtype=a.dtype,
        chunks=chunks,
        shards=shards if a.ndim and draw(st.booleans()) else None,
        compressors=codecs,
        config={"write_empty_chunks": draw(st.booleans())},
    )
    z[...] = a
    y = cubed.from_zarr(path, spec=SPEC)
    if draw(st.booleans()):
        back = path.with_name(f"{path.name}-back")
        cubed.to_zarr(y, back)
        y = cubed.from_zarr(back, spec=SPEC)
    return a, y


def drawn(draw, a):
    axes = st.integers(0, a.ndim - 1)
    methods = st.sampled_from(["linear", "lower", "higher", "nearest", "midpoint"])
    return Drawn(
        draw(axes), draw(axes), draw(st.integers(1, 3)), draw(st.booleans()), draw(methods)
    )


def exactly(draw, a, x):
    k, name = drawn(draw, a), draw(st.sampled_from(sorted(EXACT)))
    note(f"{name} {k}")
    return EXACT[name](np, a, k), EXACT[name](cubed, x, k)


def roughly(draw, a, x):
    k, name = drawn(draw, a), draw(st.sampled_from(sorted(ROUGH)))
    note(f"{name} {k}")
    return whole(np, ROUGH[name](np, a, k)), whole(cubed, ROUGH[name](cubed, x, k))


STEPS = [
    elementwise, scalar, with_itself, with_a_row, part, newaxis, transposed, reshaped, rechunked,
    joined, moved, repeated, padded, reduced, centred, summed, ordered, picked, multiplied, cast,
    masked, assigned, by_own_functions, stored, *[exactly] * 12, *[roughly] * 8,
]  # fmt: skip


@st.composite
def chains(draw):
    """A chain of steps over integers, which are exact in every type."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=8))
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    a = draw(hnp.arrays(np.int64, shape, elements=st.integers(0, 9))).astype(dtype)
    chunks = tuple(draw(st.integers(1, max(1, n))) for n in shape)
    x = cubed.from_array(a, chunks=chunks, spec=SPEC)
    names = []
    for step in draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=7)):
        if a.size > 2000 or a.ndim == 0 or a.ndim > 5:
            break
        note(f"{step.__name__} of {a.dtype} {a.shape} in {x.chunks}")
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            a, x = step(draw, a, x)
        a = np.asarray(a)
        assert (x.shape, x.dtype) == (a.shape, a.dtype)
        # Small numbers stay exact, whatever order they are added in.
        if a.dtype == bool:
            a, x = a.astype(np.int8), cubed.astype(x, cubed.int8)
        low, high = (0, 100) if a.dtype.kind == "u" else (-100, 100)
        a, x = np.clip(a, low, high).astype(a.dtype), cubed.clip(x, low, high)
        names.append(step.__name__)
    return " ".join(names), a, x


def run(plan, x):
    watch, values = Watch(), np.empty(x.shape, x.dtype)
    plan.execute([values], [watch])
    watch.check(plan.allowed_mem, x)
    return values


def planned(x, allowed_mem, executor="threads", **options):
    limits = Spec(allowed_mem=allowed_mem, reserved_mem=SPEC.reserved_mem)
    return Plan([(x._x, None)], limits, RunOptions(create_executor(executor, options)))


def in_least_memory(x):
    """With what a plan that is refused says would do; that may be a plan of another kind."""
    allowed = SPEC.reserved_mem + 1
    for _ in range(9):
        try:
            plan = planned(x, allowed, max_workers=2)
        except MemoryError as e:
            least = int(re.search(r"at least (\d+) bytes", str(e))[1])
            allowed = max(allowed + 1, least)
        else:
            return run(plan, x)
    pytest.fail(f"{allowed} bytes, that a plan asked for, are not enough either")


def check(a, x):
    assert (x.shape, x.dtype) == (a.shape, a.dtype)
    values = run(planned(x, SPEC.allowed_mem, max_workers=2), x)
    np.testing.assert_array_equal(values, a)
    bits = values.tobytes()
    assert x.compute(executor="single-threaded").tobytes() == bits
    assert computed(x, optimize_graph=False).tobytes() == bits
    assert in_least_memory(x).tobytes() == bits
    return values


def test_chains():
    """Also by worker processes, where some cases share a plan: starting those takes a while."""
    some = []

    @settings(
        max_examples=cases(80),
        deadline=None,
        derandomize=not NIGHTLY,
        suppress_health_check=list(HealthCheck),
    )
    @given(chains())
    def each(chain):
        _, a, x = chain
        values = check(a, x)
        if len(some) < 1000:
            some.append((values, x))

    each()
    assert len(some) >= 80
    for start in range(0, len(some), 50):
        group = some[start : start + 50]
        values = computed(*(x for _, x in group), executor="processes", max_workers=2)
        for (expected, _), v in zip(group, values, strict=True):
            assert v.tobytes() == expected.tobytes()


def test_every_public_function_is_in_a_chain():
    assert not missing()
    assert not ELSEWHERE & (EXACT.keys() | ROUGH.keys())


@pytest.mark.parametrize("executor", ["single-threaded", "threads", "processes"])
def test_a_chain_of_floats_has_the_same_bits(executor):
    """Sums of floats depend on their order, which is fixed."""
    x = cubed.random.normal(size=(300, 200), chunks=(70, 30), seed=2, spec=SPEC)
    y = cubed.mean((x - cubed.mean(x, axis=0)) ** 2, axis=1) @ cubed.cumsum(x, axis=1)
    expected = y.compute(executor="threads", max_workers=1).tobytes()
    assert y.compute(executor=executor, max_workers=3).tobytes() == expected
    assert y.compute(executor=executor, optimize_graph=False).tobytes() == expected
