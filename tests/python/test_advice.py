"""What a refusal says to allow is enough: the same computation is planned with it."""

import random
import re

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
from conftest import cases


def _source(shape, chunks, spec):
    """Virtual, or in memory."""
    if sum(shape) % 2:
        return cubed.random.random(shape, chunks=chunks, spec=spec)
    ones = np.broadcast_to(np.float64(1.5), shape)
    return cubed.from_array(ones, chunks=chunks, spec=spec)


def _shape(rng, ndim, most):
    shape = tuple(int(10 ** rng.uniform(1, np.log10(most))) for _ in range(ndim))
    return shape, tuple(max(1, int(n * rng.choice([1, 0.5, 0.3, 0.1]))) for n in shape)


def _grid(rng, shape):
    return tuple(max(1, int(n * rng.choice([1, 0.5, 0.3, 0.1]))) for n in shape)


def _one(function, ndim, most):
    def make(rng):
        shape, chunks = _shape(rng, ndim, most)
        return lambda spec: function(_source(shape, chunks, spec))

    return make


def _rechunked(rng):
    shape, chunks = _shape(rng, 3, 400)
    to = _grid(rng, shape)
    return lambda spec: xp.sum(cubed.rechunk(_source(shape, chunks, spec), to) * 2, axis=1)


def _matmul(rng):
    (n, k), chunks = _shape(rng, 2, 2000)
    m = rng.randrange(10, 2000)
    return lambda spec: xp.matmul(
        _source((n, k), chunks, spec), _source((k, m), (chunks[1], max(1, m // 3)), spec)
    )


def _tall(rng):
    shape = (rng.randrange(50, 5000), rng.randrange(20, 300))
    chunks = (max(1, shape[0] // rng.choice([1, 4])), shape[1])
    return lambda spec: xp.linalg.svd(_source(shape, chunks, spec), full_matrices=False)[1]


def _square(function):
    def make(rng):
        n = rng.randrange(20, 300)
        chunks = (max(1, n // rng.choice([1, 2, 5])),) * 2
        return lambda spec: function(_source((n, n), chunks, spec))

    return make


def _blocks(rng):
    shape, chunks = _shape(rng, 2, 3000)
    extra = rng.choice([0, 10**6])
    return lambda spec: cubed.map_blocks(
        np.sin, _source(shape, chunks, spec), dtype="float64", extra_projected_mem=extra
    )


def _overlapping(rng):
    shape, chunks = _shape(rng, 2, 3000)
    chunks = tuple(max(2, c) for c in chunks)
    return lambda spec: cubed.map_overlap(
        np.sin, _source(shape, chunks, spec), dtype="float64", depth=2, boundary="reflect"
    )


def _several(rng):
    shape, chunks = _shape(rng, 2, 3000)

    def make(spec):
        x = _source(shape, chunks, spec)
        return xp.sort(x, axis=0) + xp.mean(x, axis=1, keepdims=True)

    return make


def _members(rng):
    shape, chunks = _shape(rng, 2, 3000)
    n = rng.randrange(10, 10**5)
    whole = rng.random() < 0.3

    def make(spec):
        x, among = _source(shape, chunks, spec), _source((n,), (max(1, n // 3),), spec)
        if whole:  # int64 in uint64
            x, among = xp.astype(x * 9, "int64"), xp.astype(among * 9, "uint64")
        return xp.isin(x, among, invert=n % 2 == 0)

    return make


def _found(rng):
    shape, chunks = _shape(rng, 2, 3000)
    n = rng.randrange(10, 10**5)
    return lambda spec: xp.searchsorted(
        xp.sort(_source((n,), (max(1, n // 3),), spec)), _source(shape, chunks, spec)
    )


def _taken(rng):
    shape, chunks = _shape(rng, 2, 3000)
    n, axis = rng.randrange(1, 5000), rng.randrange(2)
    where = np.arange(n, dtype="int64") * 7919 % shape[axis]
    return lambda spec: xp.take(_source(shape, chunks, spec), xp.asarray(where), axis=axis)


def _moved(rng):
    shape, chunks = _shape(rng, 2, 3000)
    return lambda spec: xp.cumulative_sum(
        xp.sort(xp.permute_dims(_source(shape, chunks, spec), (1, 0)), axis=1), axis=0
    )


def _counted(rng):
    shape, chunks = _shape(rng, 1, 10**6)
    return lambda spec: cubed.histogram(_source(shape, chunks, spec), bins=100, range=(0, 2))[0]


CASES = {
    "mean": _one(lambda x: xp.mean(x, axis=0), 3, 400),
    "elementwise": _one(lambda x: xp.sqrt(x * x + 1), 2, 4000),
    "rechunk": _rechunked,
    "sort": _one(lambda x: xp.sort(x, axis=0), 2, 3000),
    "fft": _one(lambda x: xp.fft.fft(xp.astype(x, "complex128"), axis=0), 2, 3000),
    "median": _one(lambda x: cubed.median(x, axis=0), 2, 4000),
    "cumulative_sum": _one(lambda x: xp.cumulative_sum(x, axis=0), 2, 4000),
    "reshape": _one(lambda x: xp.reshape(x, (-1,)) * 2, 3, 200),
    "matmul": _matmul,
    "svd": _tall,
    "cholesky": _square(xp.linalg.cholesky),
    "inv": _square(xp.linalg.inv),
    "map_blocks": _blocks,
    "map_overlap": _overlapping,
    "several": _several,
    "isin": _members,
    "searchsorted": _found,
    "take": _taken,
    "moved": _moved,
    "histogram": _counted,
    "argsort": _one(lambda x: xp.argsort(x, axis=-1, descending=True), 2, 3000),
    "sort_line": _one(lambda x: xp.sort(xp.reshape(x, (-1,))), 2, 1500),
    "quantile": _one(lambda x: cubed.quantile(x, [0.1, 0.5], axis=None), 2, 2000),
    "var": _one(lambda x: xp.var(x, axis=(0, 2)), 3, 400),
    "argmax": _one(lambda x: xp.argmax(x, axis=0), 2, 4000),
    "diff": _one(lambda x: xp.diff(x, axis=1, n=2), 2, 3000),
    "pad": _one(lambda x: cubed.pad(x, 3, mode="reflect"), 2, 3000),
    "gradient": _one(lambda x: cubed.gradient(x, axis=0), 2, 3000),
    "unique": _one(lambda x: xp.unique_counts(xp.round(x * 3))[1], 1, 10**5),
    "nonzero": _one(lambda x: xp.nonzero(x + 1)[1], 2, 1000),
    "masked": _one(lambda x: x[x >= 0], 2, 1000),
    "tensordot": _one(lambda x: xp.tensordot(x, x, axes=((0, 2), (0, 2))), 3, 100),
}


# They run to know how much there is; worker processes need more than these allowances to start.
RUN_FIRST = ("unique", "nonzero", "masked")


def _advised(allowed: int, error: MemoryError) -> int:
    """What to allow next, of a plan or of an operation that could not be cut to fit."""
    if found := re.search(r"allowed_mem must be (\d+) bytes larger", str(error)):
        return allowed + int(found[1])
    found = re.search(r"allow at least (\d+) bytes", str(error))
    assert found is not None, str(error)
    return int(found[1])


@pytest.mark.parametrize("name", CASES)
def test_what_a_refusal_says_to_allow_is_enough(name):
    rng = random.Random(name)
    refused = 0
    for _ in range(cases(5)):
        make = CASES[name](rng)
        allowed = int(10 ** rng.uniform(5.2, 6.8))
        limits = {}
        if rng.random() < 0.4:
            limits["reserved_mem"] = int(allowed * rng.uniform(0, 0.5))
        executor = rng.choice(["threads", "single-threaded", "processes"])
        if name in RUN_FIRST and executor == "processes":
            executor = "threads"
        if executor != "single-threaded":
            limits["executor_options"] = {"max_workers": rng.choice([1, 2, 4])}

        def spec(mem, executor=executor, limits=limits):
            return cubed.Spec(allowed_mem=mem, executor_name=executor, **limits)

        try:
            make(spec(allowed)).plan()
        except MemoryError as error:
            refused += 1
            make(spec(_advised(allowed, error))).plan()
    assert refused or name != "map_blocks"


@pytest.mark.parametrize("shape", [(3000, 100), (1000, 200), (5000, 400)])
def test_tall_matrices_that_fit_also_fit_with_more_memory(shape):
    fitted = []
    for mem in (int(2e5 * 1.4**k) for k in range(16)):
        spec = cubed.Spec(allowed_mem=mem, reserved_mem=0)
        x = cubed.random.random(shape, chunks=(shape[0] // 4, shape[1]), spec=spec)
        try:
            xp.linalg.svd(x, full_matrices=False)[1].plan()
            fitted.append(True)
        except MemoryError:
            fitted.append(False)
    assert fitted == sorted(fitted)
    # Three blocks of twice as many rows as columns, and what makes their factors.
    assert fitted[-1] and 2e5 * 1.4 ** fitted.index(True) < 40 * shape[1] ** 2 * 8
