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
    """Packs eight elements into each byte: a bit is 1 if its element is not 0.

    Parameters
    ----------
    a : array_like
        Integers, or bools.
    axis : int or None
        Axis along which to compute. None: the flattened array.
    bitorder : {"big", "little"}, default "big"
        Whether the first element is the highest bit of a byte, or the lowest.

    Returns
    -------
    Array
        uint8; the length along the axis is an eighth, rounded up. Bits without an element are 0.
        Lazy.

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
    """Unpacks each byte into eight elements, 0 or 1.

    Parameters
    ----------
    a : array_like
        Bytes: uint8.
    axis : int or None
        Axis along which to compute. None: the flattened array.
    count : int or None
        Number of elements along the axis; zeros are appended. If negative, -count elements are
        dropped at the end. None: eight for each byte.
    bitorder : {"big", "little"}, default "big"
        Whether the first element is the highest bit of a byte, or the lowest.

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
