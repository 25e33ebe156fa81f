"""Selects elements by a mask."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._base import Array
from cubed.array._first import computed_first
from cubed.array._operands import core_of
from cubed.spec import DEFAULT


def flatten(x: _core.Array) -> _core.Array:
    """Returns x flattened to one dimension, in C order."""
    return x if len(x.shape) == 1 else _core.call("reshape", x, (math.prod(x.shape),))


def counted(offsets: _core.Array, most: int, spec: Any) -> tuple[_core.Array, int]:
    """Computes offsets, or one number, immediately. Returns them and the last value. In a call that
    only makes plans, an unknown last value is replaced by the maximum `most`."""
    (found,) = computed_first([Array._new(offsets, spec)], [None])

    def known(lazy: _core.Array) -> _core.Array:
        """Returns the offsets. If the plan is made with another `allowed_mem`, for which the
        offsets differ, returns zeros."""
        same = found is not None and found.shape == lazy.shape
        return core_of(found if same else np.zeros(lazy.shape, np.int64))

    return _core.record(known, offsets), most if found is None else int(found.flat[-1])


def counted_call(name: str, spec: Any, *values: Any) -> Any:
    """Calls a function of the catalogue whose result has a counted number of elements. Counts the
    elements immediately."""
    task_mem = (spec or DEFAULT).task_mem
    offsets, most = _core.call_offsets(name, *values, -1, None, task_mem)
    if offsets is None:
        return _core.call(name, *values)
    known, n = counted(offsets, most, spec)
    return _core.call(name, *values, n, known, task_mem)


def get_masked(x: _core.Array, mask: Any, spec: Any) -> _core.Array:
    """Returns x[mask], where the mask covers the first axes of x."""
    m = core_of(mask)
    if m.shape == x.shape:
        return counted_call("compress", spec, flatten(x), flatten(m))
    rows = _core.call("reshape", x, (math.prod(m.shape), *x.shape[len(m.shape) :]))
    return _core.call("take", rows, counted_call("flatnonzero", spec, m), 0)
