"""Random calls of apply_ufunc and map_blocks have Dask's results, whatever memory is allowed.

Several functions depend on all elements of their block. They give other values if a block is split
to save memory. Elements are whole numbers, so that sums are exact in any order.
"""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import cubed
import numpy as np
import pytest
import xarray as xr
from conftest import cases

pytest.importorskip("dask", reason="Dask's results are the expected ones")

TYPES = ("f8", "f4", "i8", "i2", "u1", "?", "c8")
#: Bytes with which no plan of a call with elements fits.
LITTLE = 1000


def below_greatest(b, times=1):
    """Differences from the greatest element of the block."""
    b = np.asarray(b).real.astype("f8") * times
    return b - np.fmax.reduce(b, axis=None, initial=-1e9)


def positions(b):
    return np.argsort(np.asarray(b).real, axis=None, kind="stable").reshape(b.shape)


def running(b, axis):
    return np.cumsum(b, axis=axis, dtype="f8" if np.asarray(b).dtype.kind != "c" else None)


def total_of_lines(b):
    return np.asarray(b).sum(axis=-1)


def lines_and_ends(b):
    """Two results: lines that depend on the whole block, and the greatest element of each line."""
    return below_greatest(b), np.asarray(b).real.max(axis=-1, initial=0)


def few_of_lines(b, n):
    return np.sort(np.asarray(b).real, axis=-1)[..., np.zeros(n, dtype=int)]


def sum_of_two(a, b, other, word):
    # Dask passes arrays without axes in place of None and the string.
    assert np.asarray(other).item() is None and str(word) == "word"
    return below_greatest(a) + np.asarray(b).real


def scalar_of_line(line):
    return float(np.asarray(line).real.sum() + len(line))


@dataclass
class Drawn:
    """An array in memory, its chunks, and the call that is made of the lazy array."""

    values: xr.DataArray
    chunks: dict[str, Any]
    call: Callable[[xr.DataArray], Any]
    text: str
    options: dict[str, Any] = field(default_factory=dict)


def lengths(rng, n):
    """Lengths of the chunks of an axis with n elements: equal ones or irregular ones."""
    if n == 0 or rng.random() < 0.3:
        return -1
    if rng.random() < 0.6:
        return rng.randint(1, n)
    cuts = sorted({0, n, *(rng.randrange(n) for _ in range(rng.randint(0, 3)))})
    return tuple(b - a for a, b in itertools.pairwise(cuts))


def array(rng) -> xr.DataArray:
    ndim = rng.choice((1, 2, 2, 3))
    most = {1: 4000, 2: 70, 3: 16}[ndim]
    shape = [0 if rng.random() < 0.03 else rng.randint(1, most) for _ in range(ndim)]
    dtype = np.dtype(rng.choice(TYPES))
    values = np.random.default_rng(rng.randrange(10**6)).integers(0, 100, shape)
    values = (values > 50 if dtype.kind == "b" else values).astype(dtype)
    if dtype.kind in "fc":
        values[values.real > 95] = np.nan
    dims = list("abc"[:ndim])
    coords = {d: np.arange(n) * 10 for d, n in zip(dims, shape, strict=True) if rng.random() < 0.5}
    return xr.DataArray(values, coords, dims, name="v", attrs={"units": "m"})


def ufunc(rng) -> Drawn:
    x = array(rng)
    chunks = {d: lengths(rng, n) for d, n in x.sizes.items()}
    core = rng.choice(x.dims)
    axis = rng.randrange(x.ndim)
    line = {"input_core_dims": [[core]]}
    n = rng.randint(1, 4)
    table: dict[str, tuple[Callable[..., Any], list[Any], dict[str, Any]]] = {
        "elementwise": (np.negative if x.dtype.kind != "b" else np.invert, [], {}),
        "below greatest": (below_greatest, [], {"kwargs": {"times": 3}}),
        "positions": (positions, [], {}),
        "running": (running, [], {"kwargs": {"axis": axis}}),
        "totals": (total_of_lines, [], line),
        "two results": (lines_and_ends, [], line | {"output_core_dims": [[core], []]}),
        "new dimension": (
            few_of_lines,
            [],
            line
            | {"output_core_dims": [["few"]], "kwargs": {"n": n}}
            | {"dask_gufunc_kwargs": {"output_sizes": {"few": n}}},
        ),
        "several arguments": (
            sum_of_two,
            [lambda lazy: lazy.isel({x.dims[axis]: slice(0, 1)}).squeeze(x.dims[axis], drop=True)],
            {},
        ),
        "vectorized": (scalar_of_line, [], line | {"vectorize": True}),
    }
    name = rng.choice(list(table))
    if x.size == 0:  # Dask divides by the lengths of core dimensions
        name = rng.choice(("elementwise", "below greatest", "positions", "running"))
    function, others, options = table[name]
    if "input_core_dims" in options:
        # If Dask merges chunks, it splits the other axes.
        if rng.random() < 0.5 or name == "two results":
            chunks[core] = -1
        else:
            more = options.get("dask_gufunc_kwargs", {})
            options["dask_gufunc_kwargs"] = more | {"allow_rechunk": True}
    constants = [None, "word"] if name == "several arguments" else []

    def call(lazy, **how):
        arguments = [lazy, *(other(lazy) for other in others), *constants]
        return xr.apply_ufunc(function, *arguments, **options, **how)

    # Functions of the first elements have the types of the results. Lines are the last axis.
    small = x.transpose(..., core) if "input_core_dims" in options else x
    small = np.ones([min(k, 1) for k in small.shape], x.dtype)
    operands = [small, small, *constants] if constants else [small]
    if name == "vectorized":
        types = [np.dtype(float)]
    else:
        found = function(*operands, **options.get("kwargs", {}))
        types = [v.dtype for v in (found if isinstance(found, tuple) else (found,))]
    return Drawn(x, chunks, call, f"apply_ufunc of {name}", {"output_dtypes": types})


def block_below_greatest(x, times=1):
    return x.copy(data=below_greatest(x.values, times))


def block_of_two(x, other):
    return x.copy(data=below_greatest(x.values) + below_greatest(other.values))


def data_set(x):
    return xr.Dataset({"v": x.copy(data=positions(x.values)), "w": x > 3})


def blocks(rng) -> Drawn:
    x = array(rng)
    chunks = {d: lengths(rng, n) for d, n in x.sizes.items()}
    d = rng.choice(x.dims)
    name = rng.choice(("below greatest", "two", "data set", "sum", "new dimension", "transposed"))
    if name == "sum":
        chunks[d] = -1
    calls: dict[str, Callable[[xr.DataArray], Any]] = {
        "below greatest": lambda v: v.map_blocks(block_below_greatest, kwargs={"times": 2}),
        "two": lambda v: xr.map_blocks(block_of_two, v, args=[v + v]),
        "data set": lambda v: v.map_blocks(data_set),
        "sum": lambda v: v.map_blocks(lambda b: b.sum(d, skipna=False)),
        "new dimension": lambda v: v.map_blocks(lambda b: b.expand_dims("few")),
        "transposed": lambda v: v.map_blocks(lambda b: b.transpose()),
    }
    return Drawn(x, chunks, lambda lazy: calls[name](lazy), f"map_blocks of {name}")


def allowances(rng, compute):
    """The bytes that a refusal advises, somewhat more, and many."""
    try:
        compute(LITTLE)
        least = LITTLE
    except MemoryError as error:
        least = error.enough_mem
    return least, int(least * rng.uniform(1, 3)), 10**8


def types_of(x):
    variables = x.variables if isinstance(x, xr.Dataset) else {"": x}
    return {name: v.dtype for name, v in variables.items()}


@pytest.mark.parametrize("kind", [ufunc, blocks])
def test_results_are_those_of_dask(kind, tmp_path):
    rng = random.Random(kind.__name__)
    for i in range(cases(13)):
        drawn = kind(rng)
        how = {"dask": "parallelized"} | drawn.options if kind is ufunc else {}

        def compute(manager, mem=None, drawn=drawn, how=how):
            options: dict[str, Any] = {"chunked_array_type": manager}
            if mem:
                spec = cubed.Spec(
                    tmp_path, allowed_mem=mem, reserved_mem=0, executor_name="single-threaded"
                )
                options["from_array_kwargs"] = {"spec": spec}
            with xr.set_options(chunk_manager=manager):
                result = drawn.call(drawn.values.chunk(drawn.chunks, **options), **how)
                if isinstance(result, tuple):
                    result = xr.Dataset({f"result{k}": r for k, r in enumerate(result)})
                return result.compute()

        said = f"{i}: {drawn.text}, {drawn.values.dtype}{drawn.values.shape}, {drawn.chunks}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = compute("dask")
            for mem in allowances(rng, lambda n: compute("cubed", n)):
                found = compute("cubed", mem)
                try:
                    xr.testing.assert_identical(found, expected)
                    assert types_of(found) == types_of(expected)
                except AssertionError as error:
                    raise AssertionError(f"{said}, {mem} bytes: {error}") from None
