"""Indexing."""

from __future__ import annotations

from typing import Any

import numpy as np

from cubed import _core
from cubed.array._base import Array
from cubed.array._first import computes_first
from cubed.array._keys import engine_key, expand_key, is_mask, is_whole
from cubed.array._operands import common_spec
from cubed.array._select import get_masked


def getitem(x: Array, key: Any) -> Array:
    """Returns x[key], as in NumPy. If the key is a mask, its true elements are counted immediately.

    A string selects a field of records, and a list of strings makes records of these fields.
    """
    if x.dtype.names:
        if isinstance(key, str):
            return x._like(_core.call("field", x._x, key))
        if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
            return x._like(_core.call("fields", x._x, key))
    entries = expand_key(x, key)
    if any(isinstance(e, (np.ndarray, Array)) for e in entries):
        return get_advanced(x, entries)
    kept = [e for e in entries if e is not Ellipsis]
    if len(kept) == x.ndim and all(map(is_whole, kept, x.shape)):
        return x._like(x._x)
    return x._like(_core.getitem(x._x, tuple(entries), False))


@computes_first
def get_advanced(x: Array, entries: list[Any], first: bool = False) -> Array:
    """Returns x[entries] if some of the entries are arrays.

    If `first` is true, the axes of the positions are the first axes of the result, as in vindex.
    Only masks are computed immediately. Lazy positions are checked by the run.
    """
    spec = common_spec(x, *entries)
    mask = leading_mask(x, entries)
    if mask is not None and mask.ndim > 0:
        return Array._new(get_masked(x._x, mask, spec), spec)
    return Array._new(_core.getitem(x._x, engine_key(x, entries), first), spec)


def leading_mask(x: Array, entries: list[Any]) -> Any:
    """Returns the mask if a key is a mask of the first axes and whole slices of the others.

    Returns None for other keys.
    """
    mask, *others = (e for e in entries if e is not Ellipsis)
    if not is_mask(mask) or mask.shape != x.shape[: mask.ndim]:
        return None
    rest = x.shape[mask.ndim :]
    whole = len(others) == len(rest) and all(map(is_whole, others, rest))
    return mask if whole else None
