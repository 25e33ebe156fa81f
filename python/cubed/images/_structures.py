"""Structuring elements for functions of morphology."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from cubed.array._operands import to_numpy
from cubed.base._types import NDArray
from cubed.functions.morphology import binary_dilation


def generate_binary_structure(rank: int, connectivity: int) -> NDArray:
    """Creates a structuring element for functions of morphology: an element and its neighbours.

    Parameters
    ----------
    rank : int
        Number of axes. Less than 1: the result has no axes.
    connectivity : int
        Maximum number of axes along which a neighbour differs from the element: 1 for neighbours
        that share a face, `rank` for all neighbours.

    Returns
    -------
    ndarray of bool
        Three elements along each axis.

    Examples
    --------
    >>> import cubed
    >>> cubed.ndimage.generate_binary_structure(2, 1).astype(int)
    array([[0, 1, 0],
           [1, 1, 1],
           [0, 1, 0]])
    """
    ndim, reach = operator.index(rank), max(operator.index(connectivity), 1)
    if ndim < 1:
        return np.array(True, dtype=bool)
    away: NDArray = np.abs(np.indices((3,) * ndim) - 1).sum(axis=0)
    return away <= reach


def iterate_structure(structure: Any, iterations: int, origin: Any = None) -> Any:
    """Creates a structuring element with the effect of several iterations of another.

    Parameters
    ----------
    structure : array_like
        Structuring element; elements that are not 0 belong to it.
    iterations : int
        Number of dilations of the structure by itself, plus 1.
    origin : int, sequence of int or None
        Position of the element itself in `structure`. None: the position is not returned.

    Returns
    -------
    ndarray of bool, or tuple[ndarray, list of int]
        The structure, and with `origin` the position of the element in the result, for each axis.

    Examples
    --------
    >>> import cubed
    >>> cubed.ndimage.iterate_structure([1, 1, 1], 2)
    array([ True,  True,  True,  True,  True])
    """
    part, n = to_numpy(structure).astype(bool), operator.index(iterations)
    origins = origin if isinstance(origin, Sequence) else [origin] * part.ndim
    made = part.copy()
    if n >= 2:
        middle = [(n - 1) * (extent // 2) for extent in part.shape]
        wide = [extent + (n - 1) * (extent - 1) for extent in part.shape]
        padded = np.zeros(wide, bool)
        padded[tuple(slice(m, m + k) for m, k in zip(middle, part.shape, strict=True))] = part
        made = binary_dilation(padded, part, iterations=n - 1).compute()
    if origin is None:
        return made
    return made, [max(n, 1) * operator.index(o) for o in origins]
