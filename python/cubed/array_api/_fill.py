"""Filling what is missing."""

from __future__ import annotations

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import normalize_axis
from cubed.array_api.elementwise_functions import not_equal
from cubed.array_api.searching_functions import where
from cubed.base._dtypes import kind_of


def forward_fill(x: Array, axis: int = -1, limit: int | None = None) -> Array:
    """Replaces NaN and NaT by the last element before them that is neither.

    Parameters
    ----------
    limit
        Maximum number of consecutive missing elements to fill; None: all.
    """
    a = normalize_axis(axis, x.ndim)
    out = x._like(_core.call("forward_fill", x._x, a))
    if limit is None or limit >= x.shape[a] or kind_of(x.dtype) not in "fcmM":
        return out
    shape = tuple(n if d == a else 1 for d, n in enumerate(x.shape))
    chunks = tuple(n if d == a else 1 for d, n in enumerate(x._x.chunks))
    at = x._like(_core.index(shape, chunks, 0)).astype(float)
    known = where(not_equal(x, x), float("nan"), at)
    last = x._like(_core.call("forward_fill", known._x, a))
    return where(at - last <= limit, out, x).astype(x.dtype)
