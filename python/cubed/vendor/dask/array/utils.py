"""Axes in the spelling of Dask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

from cubed.array._operands import normalize_axis

__all__ = ["validate_axis"]


def validate_axis(
    axis: SupportsIndex | Sequence[SupportsIndex], ndim: int
) -> int | tuple[int, ...]:
    """Axes counted from the first one.

    Parameters
    ----------
    axis : int or tuple of int
        Which axes; those below 0 are counted from the last one.
    ndim : int
        How many there are.

    Returns
    -------
    int or tuple of int
        One for one, a tuple for several.

    Raises
    ------
    numpy.exceptions.AxisError
        There is no such axis.

    Examples
    --------
    >>> from cubed.vendor.dask.array.utils import validate_axis
    >>> validate_axis(-1, 3), validate_axis((0, -2), 3)
    (2, (0, 1))
    """
    if isinstance(axis, (tuple, list)):
        return tuple(normalize_axis(a, ndim) for a in axis)
    return normalize_axis(axis, ndim)  # type: ignore[arg-type]
