"""Bits of integers: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.io._create import as_lazy

__all__ = [
    "packbits",
    "unpackbits",
]


def packbits(a: Any, /, axis: int | None = None, bitorder: str = "big") -> Array:
    """Eight elements in each byte: a bit is set if its element is not 0.

    Parameters
    ----------
    a : array_like
        Integers, or bools.
    axis : int or None
        Axis along which to compute. None: the elements in one dimension.
    bitorder : {"big", "little"}, default "big"
        Which bit of a byte is first: the highest, or the lowest.

    Returns
    -------
    Array
        uint8, an eighth as long along the axis, rounded up: the last bits may be 0. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.packbits(cubed.asarray([True, False, True])).compute()
    array([160], dtype=uint8)
    """
    a = as_lazy(a)
    return a._like(_core.call("packbits", a._x, axis, bitorder))


def unpackbits(
    a: Any, /, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Array:
    """The bits of bytes as elements 0 and 1: eight for each byte.

    Parameters
    ----------
    a : array_like
        Bytes: uint8.
    axis : int or None
        Axis along which to compute. None: the elements in one dimension.
    count : int or None
        Number of elements along the axis: zeros are added behind. A negative one is the number of
        elements that are left out at the end. None: eight for each byte.
    bitorder : {"big", "little"}, default "big"
        Which bit of a byte is first: the highest, or the lowest.

    Returns
    -------
    Array
        uint8. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.unpackbits(cubed.asarray([5], dtype="uint8")).compute()
    array([0, 0, 0, 0, 0, 1, 0, 1], dtype=uint8)
    """
    a = as_lazy(a)
    return a._like(_core.call("unpackbits", a._x, axis, count, bitorder))
