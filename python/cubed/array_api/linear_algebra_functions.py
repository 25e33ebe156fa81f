"""Products of matrices and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of
from cubed.functions import linalg
from cubed.functions.linalg import matrix_transpose

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


def matmul(x1: Array, x2: Array, /, split_every: Any = None) -> Array:
    """Computes products of the matrices in the last two axes.

    A vector is treated as one row or one column.

    Parameters
    ----------
    x1 : Array
        The first operand.
    x2 : Array
        The second operand.
    split_every : int, dict or None
        Ignored: the planner chooses how to split reductions.

    Returns
    -------
    Array
        An array of the promoted type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.matmul(x, x).compute()
    array([[ 7., 10.],
           [15., 22.]])
    """
    return linalg.matmul(x1, x2)


def tensordot(
    x1: Array,
    x2: Array,
    /,
    axes: int | tuple[int | Sequence[int], int | Sequence[int]] = 2,
    *,
    split_every: Any = None,
) -> Array:
    """Computes sums of products over pairs of axes of x1 and x2.

    ``axes=2`` pairs the last two axes of x1 with the first two of x2. ``axes=(1, 0)`` pairs axis 1
    of x1 with axis 0 of x2, and ``axes=([1, 2], [0, 3])`` pairs several.

    Parameters
    ----------
    x1 : Array
        The first operand.
    x2 : Array
        The second operand.
    axes : int or pair of sequences of int, default 2
        Number of axes to sum over, or the axes of `x1` and of `x2`.
    split_every : int, dict or None
        Ignored: the planner chooses how to split reductions.

    Returns
    -------
    Array
        An array of the promoted type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.tensordot(x, x, axes=1).compute()
    array([[ 7., 10.],
           [15., 22.]])
    """
    core = _core.call("tensordot", core_of(x1), core_of(x2), axes)
    return Array._new(core, common_spec(x1, x2))


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1, split_every: Any = None) -> Array:
    """Computes sums of conj(x1) * x2 over an axis, which is counted from the end.

    Parameters
    ----------
    x1 : Array
        The first operand.
    x2 : Array
        The second operand.
    axis : int, default -1
        The axis to sum over; negative.
    split_every : int, dict or None
        Ignored: the planner chooses how to split reductions.

    Returns
    -------
    Array
        An array of the promoted type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.vecdot(x, x).compute()
    array([ 5., 25.])
    """
    return linalg.vecdot(x1, x2, axis=axis)
