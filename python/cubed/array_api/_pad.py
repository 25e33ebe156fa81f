"""Adds elements around an array, like NumPy's pad."""

from __future__ import annotations

from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import lazy
from cubed.array_api.creation_functions import full_like
from cubed.array_api.manipulation_functions import concat
from cubed.base._types import ChunksLike, PadMode


def pad(
    x: Array,
    pad_width: Any,
    mode: PadMode = "constant",
    constant_values: Any = 0,
    chunks: ChunksLike = None,
    *,
    end_values: Any = 0,
    stat_length: Any = None,
    reflect_type: str = "even",
) -> Array:
    """Adds elements before and after the axes of an array.

    Parameters
    ----------
    x : Array
        Input array.
    pad_width : int, pair or sequence of pairs
        Number of elements to add: a number, (before, after), or a pair for each axis.
    mode : str, default "constant"
        Values of the new elements: ``"constant"``; ``"empty"`` (zeros); ``"edge"`` (the nearest
        element); ``"reflect"`` (mirrored, without repeating the last element); ``"symmetric"``
        (mirrored, with the last element repeated); ``"wrap"`` (from the other end); ``"maximum"``,
        ``"mean"``, ``"median"`` or ``"minimum"`` along the axis; ``"linear_ramp"`` to `end_values`.
    constant_values, end_values : scalar, pair or sequence of pairs, default 0
        A number, (before, after), or a pair for each axis.
    chunks : int, tuple, str or None
        Chunks of the result, see :func:`cubed.rechunk`.
    stat_length : int, pair, sequence of pairs or None
        Number of elements at each end from which a mode such as ``"mean"`` is computed; None: all.
    reflect_type : {"even", "odd"}, default "even"
        ``"even"``: mirrored elements are unchanged. ``"odd"``: twice the last element minus the
        mirrored element.

    Returns
    -------
    Array
        The type of `x`. Lazy.

    Raises
    ------
    ValueError
        The mode is unknown, or a width is negative or does not fit the array's axes.

    Examples
    --------
    >>> import cubed
    >>> cubed.pad(cubed.asarray([1, 2]), 1, mode="edge").compute()
    array([1, 1, 2, 2])
    """
    x = lazy(x)
    if reflect_type != "even":
        raise NotImplementedError(f"pad with reflect_type {reflect_type!r}")
    named = str(mode)  # a function, which NumPy accepts, is an unknown mode here
    constants = _constants(constant_values, x) if named == "constant" else [""] * (2 * x.ndim)
    if x.dtype.kind in "SU" and named in ("constant", "empty"):
        made = _with_strings(x, _pairs("pad_width", pad_width, x.ndim), constants)
    else:
        if named == "linear_ramp":
            end_values = _by_axis(_pairs("end_values", end_values, x.ndim))
        given = (pad_width, named, _by_axis(constants), end_values, stat_length)
        made = x._like(_core.call("pad", x._x, *given, x.spec.task_mem))
    return made if chunks is None else made.rechunk(chunks)


def _constants(values: Any, x: Array) -> list[Any]:
    """Returns the values before and after each axis, cast to x's type by NumPy's rules."""
    typed = [np.asarray(v).astype(x.dtype) for v in _pairs("constant_values", values, x.ndim)]
    plain = [(v.view(np.int64) if x.dtype.kind in "mM" else v).item() for v in typed]
    # The catalogue accepts integers beyond int64 as strings of digits.
    return [str(v) for v in plain] if x.dtype == np.uint64 else plain


def _by_axis(values: list[Any]) -> list[list[Any]]:
    return [values[d : d + 2] for d in range(0, len(values), 2)]


def _with_strings(x: Array, widths: list[int], values: list[Any]) -> Array:
    """Pads strings axis by axis, because constants of the engine have at most 16 bytes."""
    for axis in range(x.ndim):
        parts = [x]
        for side in (0, 1):
            shape = list(x.shape)
            shape[axis] = widths[2 * axis + side]
            if shape[axis]:
                made = full_like(x, values[2 * axis + side], shape=tuple(shape))
                parts.insert(side * len(parts), made)
        x = concat(parts, axis=axis) if len(parts) > 1 else x
    return x


def _pairs(what: str, given: Any, ndim: int) -> list[Any]:
    """Expands a number, a pair or a list with a pair to the values before and after each axis."""
    try:
        table = np.broadcast_to(np.asarray(given, dtype=object), (ndim, 2))
    except ValueError:
        raise ValueError(f"{what} {given!r}: expected a pair for each of {ndim} axes") from None
    return table.flatten().tolist()
