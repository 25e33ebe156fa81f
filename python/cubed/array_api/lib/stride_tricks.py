"""Windows that slide over an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import lazy, normalize_axes

__all__ = ["sliding_window_view"]


def sliding_window_view(
    x: Array,
    window_shape: int | Sequence[int],
    axis: int | Sequence[int] | None = None,
    *,
    subok: bool = False,
    writeable: bool = False,
    automatic_rechunk: bool = True,
) -> Array:
    """Creates a view of all windows of a shape, with new last axes for the windows, as in NumPy.

    Parameters
    ----------
    x : Array
        Input array.
    window_shape : int or tuple of int
        The extent of the windows along each of `axis`.
    axis : int, tuple of int or None
        One axis or several, possibly with repetitions; None: all axes of x.
    subok : bool, default False
        Ignored: the result is a lazy array.
    writeable : bool, default False
        Ignored: assigning to a part of the result does not change `x`.
    automatic_rechunk : bool, default True
        Ignored: windows have chunks of extent 1 along their own axes.

    Returns
    -------
    Array
        The axes of `x`, then an axis for each axis of the windows. An axis of extent n has n - w +
        1 windows of extent w. Lazy.

    Notes
    -----
    An axis of windows of extent w consists of w slices of x. A task reads each of these separately,
    so the chunks of x are read w times. Memory does not grow with w.

    Examples
    --------
    >>> import cubed
    >>> from cubed.array_api.lib.stride_tricks import sliding_window_view
    >>> sliding_window_view(cubed.arange(4), 2).compute()
    array([[0, 1],
           [1, 2],
           [2, 3]])
    """
    x = lazy(x)
    shape = tuple(window_shape) if isinstance(window_shape, Sequence) else (window_shape,)
    if axis is None:
        axes = tuple(range(x.ndim))
    else:
        given = tuple(axis) if isinstance(axis, Sequence) else (axis,)
        axes = tuple(normalize_axes("sliding_window_view", a, x.ndim)[0] for a in given)
    if len(shape) != len(axes):
        raise ValueError(f"a window with {len(shape)} extents for {len(axes)} axes")
    out = x._x
    for w, a in zip(shape, axes, strict=True):
        out = _windows(out, w, a)
    return x._like(out)


def _windows(x: _core.Array, w: int, axis: int) -> _core.Array:
    n = x.shape[axis]
    if not 0 <= w <= n:
        raise ValueError(f"a window of extent {w} along axis {axis} of size {n}")

    def start(i: int) -> tuple[Any, ...]:
        return tuple(
            slice(i, i + n - w + 1) if d == axis else slice(None) for d in range(len(x.shape))
        )

    if w == 0:
        grown = _core.call("expand_dims", _core.getitem(x, start(0), False), len(x.shape))
        return _core.getitem(grown, (*(slice(None),) * len(x.shape), slice(0, 0)), False)
    return _core.call(
        "stack", tuple(_core.getitem(x, start(i), False) for i in range(w)), len(x.shape)
    )
