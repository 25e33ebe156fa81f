"""Indexing."""

from __future__ import annotations

from typing import Any

import numpy as np

from cubed import _core
from cubed.array._base import Array
from cubed.array._first import computes_first
from cubed.array._keys import expand_key, is_mask, is_whole, selection
from cubed.array._operands import common_spec
from cubed.array._select import get_masked


def getitem(x: Array, key: Any) -> Array:
    """x[key], as NumPy has it. A mask computes how many elements there are."""
    entries = expand_key(x, key)
    if any(isinstance(e, (np.ndarray, Array)) for e in entries):
        return get_advanced(x, entries)
    entries = [e for e in entries if e is not Ellipsis]
    if len(entries) == x.ndim and all(map(is_whole, entries, x.shape)):
        return x._like(x._x)
    out = _core.slice(x._x, tuple(e for e in entries if e is not None))
    # New axes stand where the key has None; integers leave none behind.
    axis = 0
    for e in entries:
        if e is None:
            out = _core.call("expand_dims", out, axis)
            axis += 1
        elif isinstance(e, slice):
            axis += 1
    return Array._new(out, x._spec)


@computes_first
def get_advanced(x: Array, entries: list[Any], first: bool = False) -> Array:
    """x[entries] where some are arrays; `first` as in :func:`cubed.array._keys.selection`.

    But for masks nothing is computed: lazy positions are checked by the run.
    """
    spec = common_spec(x, *entries)
    mask = leading_mask(x, entries)
    if mask is not None and mask.ndim > 0:
        return Array._new(get_masked(x._x, mask, spec), spec)
    chosen = selection(x, entries, first)
    out = _core.call("gather", chosen.part(x._x), chosen.at)
    order = chosen.order()
    return Array._new(out if order is None else _core.call("transpose", out, order), spec)


def leading_mask(x: Array, entries: list[Any]) -> Any:
    """The mask of the first axes that is all of a key but slices of all the others, or None."""
    mask, *others = (e for e in entries if e is not Ellipsis)
    if not is_mask(mask) or mask.shape != x.shape[: mask.ndim]:
        return None
    rest = x.shape[mask.ndim :]
    whole = len(others) == len(rest) and all(map(is_whole, others, rest))
    return mask if whole else None
