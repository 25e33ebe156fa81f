"""Filters and transformations of images by user-defined functions, run by SciPy on blocks."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._operands import normalize_axis, to_numpy
from cubed.array_api.creation_functions import zeros
from cubed.array_api.elementwise_functions import sqrt
from cubed.base._types import Axis, DTypeLike, NDArray, Shape
from cubed.blocks._apply import map_blocks
from cubed.blocks._overlap import map_overlap
from cubed.functions.interpolation import map_coordinates
from cubed.io._create import as_lazy

_SCIPY = "scipy.ndimage"
#: Bytes that SciPy allocates for buffers of lines.
_BUFFERS = 1 << 20
#: Boundaries of map_overlap by SciPy's names.
_BOUNDARIES = {
    "reflect": "reflect", "grid-mirror": "reflect", "mirror": "mirror", "nearest": "nearest",
    "wrap": "periodic", "grid-wrap": "periodic", "constant": None, "grid-constant": None,
}  # fmt: skip


@dataclass(frozen=True)
class _Call:
    """Calls a filter of SciPy with a user-defined function."""

    name: str
    function: Callable[..., Any]
    options: dict[str, Any]

    def __call__(self, block: NDArray) -> NDArray:
        made: NDArray = getattr(import_module(_SCIPY), self.name)(
            block, self.function, **self.options
        )
        return made


def _image(name: str, input: Any, output: DTypeLike) -> tuple[Array, np.dtype[Any]]:
    """Returns an image in float64, as SciPy passes elements to functions, and the result's type."""
    x = as_lazy(input)
    dtype = np.dtype(x.dtype if output is None else output)
    if x.dtype.kind not in "biuf" or dtype.kind not in "biuf":
        raise TypeError(f"{name}: {x.dtype} to {dtype}, expected real numbers")
    return x.astype(np.float64), dtype


def _each(name: str, what: str, given: Any, n: int) -> list[Any]:
    """Returns an entry for each axis, from one entry for all axes or a list."""
    listed = list(given) if isinstance(given, (list, tuple, np.ndarray)) else [given] * n
    if len(listed) != n:
        raise ValueError(
            f"{name}: {what} has {len(listed)} entries for {n} axes, expected one for each axis"
        )
    return listed


def _axes(name: str, x: Array, axes: Axis) -> list[int]:
    if axes is None:
        return list(range(x.ndim))
    return [
        normalize_axis(name, a, x.ndim) for a in (axes if isinstance(axes, Sequence) else [axes])
    ]


def generic_filter(
    input: Any,
    function: Callable[..., float],
    size: Shape | None = None,
    footprint: Any = None,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0.0,
    origin: Shape = 0,
    extra_arguments: Sequence[Any] = (),
    extra_keywords: Mapping[str, Any] | None = None,
    *,
    axes: Axis = None,
) -> Array:
    """Applies a function to the elements around each element.

    SciPy calls the function for each element of a block and of the elements around it, so it may
    be called more often than there are elements.

    Parameters
    ----------
    input : array_like
        Real numbers.
    function : callable
        Called with the elements of the box that `footprint` selects, as a float64 vector in C
        order; returns a number.
    size : int, tuple of int or None
        Extent of the box along all axes, or one extent for each axis.
    footprint : array_like or None
        Mask of the elements of the box to use, in place of `size`.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        The elements beyond the ends, as for :func:`correlate`.
    cval : float, default 0.0
        The element beyond the ends for ``"constant"``.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of its box; one number, or one for each axis.
    extra_arguments : sequence, default ()
        Passed to the function after the elements.
    extra_keywords : Mapping or None
        Passed to the function by name.
    axes : int, tuple of int or None
        Axes that are filtered, in increasing order. Lists in other arguments have one item for each
        of these axes. None: all.

    Returns
    -------
    Array
        The shape of `input`. Lazy.

    Raises
    ------
    ValueError
        If the box extends further beyond an element than the image is long, if an origin is outside
        the box, or if not exactly one of `size` and `footprint` is given.

    Examples
    --------
    >>> import cubed, numpy as np
    >>> x = cubed.asarray([1.0, 4.0, 9.0, 2.0])
    >>> cubed.ndimage.generic_filter(x, np.ptp, size=3).compute()
    array([3., 8., 7., 7.])
    """
    x, dtype = _image("generic_filter", input, output)
    over = _axes("generic_filter", x, axes)
    if over != sorted(set(over)):
        raise ValueError(f"generic_filter: axes is {axes}, expected increasing axes")
    if (size is None) == (footprint is None):
        raise ValueError("generic_filter: expected either size or footprint")
    if footprint is None:
        box = np.ones(
            [operator.index(n) for n in _each("generic_filter", "size", size, len(over))], bool
        )
    else:
        box = to_numpy(footprint).astype(bool)
    if box.ndim != len(over) or not box.any():
        raise ValueError(
            f"generic_filter: a box of shape {box.shape} with {box.sum()} elements that count,"
            f" expected {len(over)} axes and an element"
        )
    depth, boundary, origins, shape = {}, {}, [0] * x.ndim, [1] * x.ndim
    modes = _each("generic_filter", "mode", mode, len(over))
    shifts = _each("generic_filter", "origin", origin, len(over))
    for axis, n, m, shift in zip(over, box.shape, modes, shifts, strict=True):
        before, o = n // 2 + operator.index(shift), operator.index(shift)
        if not 0 <= before < n:
            raise ValueError(f"generic_filter: origin is {o} for a box of {n} elements")
        if m not in _BOUNDARIES:
            raise ValueError(
                f"generic_filter: mode is {m!r}, expected one of {', '.join(_BOUNDARIES)}"
            )
        shape[axis], origins[axis], depth[axis] = n, o, (before, n - 1 - before)
        known = _BOUNDARIES[m]
        boundary[axis] = float(cval) if known is None else known
    if x.size == 0:
        return x.astype(dtype)
    box = box.reshape(shape)
    options = {
        "footprint": box, "output": dtype, "mode": "constant", "origin": origins,
        "extra_arguments": tuple(extra_arguments), "extra_keywords": dict(extra_keywords or {}),
    }  # fmt: skip
    return map_overlap(
        _Call("generic_filter", function, options), x, dtype=dtype, depth=depth, boundary=boundary,
        trim=True, extra_projected_mem=_BUFFERS, name="generic_filter",
    )  # fmt: skip


def generic_filter1d(
    input: Any,
    function: Callable[..., None],
    filter_size: int,
    axis: int = -1,
    output: DTypeLike = None,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: int = 0,
    extra_arguments: Sequence[Any] = (),
    extra_keywords: Mapping[str, Any] | None = None,
) -> Array:
    """Applies a function to whole lines along an axis.

    Parameters
    ----------
    input : array_like
        Real numbers.
    function : callable
        Called with a line of float64, extended by the elements around it, and with an output line
        that it fills.
    filter_size : int
        Number of elements of the window around each element, including the element.
    axis : int, default -1
        The axis of the lines.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str, default "reflect"
        The elements beyond the ends, as for :func:`correlate`.
    cval : float, default 0.0
        The element beyond the ends for ``"constant"``.
    origin : int, default 0
        Offset of the element from the middle of its window.
    extra_arguments : sequence, default ()
        Passed to the function after the lines.
    extra_keywords : Mapping or None
        Passed to the function by name.

    Returns
    -------
    Array
        The shape of `input`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> def difference(line, out):
    ...     out[:] = line[2:] - line[:-2]
    >>> x = cubed.asarray([1.0, 4.0, 9.0, 2.0])
    >>> cubed.ndimage.generic_filter1d(x, difference, 3).compute()
    array([ 3.,  8., -2., -7.])
    """
    x, dtype = _image("generic_filter1d", input, output)
    at, n, o = (
        normalize_axis("generic_filter1d", axis, x.ndim),
        operator.index(filter_size),
        operator.index(origin),
    )
    if n < 1 or not 0 <= n // 2 + o < n or mode not in _BOUNDARIES:
        raise ValueError(
            f"generic_filter1d: filter_size is {n}, origin {o}, and mode {mode!r}, expected an"
            f" origin within the size and one of {', '.join(_BOUNDARIES)}"
        )
    if x.size == 0:
        return x.astype(dtype)
    options = {
        "filter_size": n, "axis": at, "output": dtype, "mode": mode, "cval": cval, "origin": o,
        "extra_arguments": tuple(extra_arguments), "extra_keywords": dict(extra_keywords or {}),
    }  # fmt: skip
    return map_blocks(
        _Call("generic_filter1d", function, options), x.rechunk({at: -1}), dtype=dtype,
        extra_projected_mem=_BUFFERS + 32 * (x.shape[at] + n), name="generic_filter1d",
    )  # fmt: skip


def _total(
    name: str, input: Any, derivative: Callable[..., Array], output: DTypeLike, mode: Any,
    cval: float, arguments: Sequence[Any], keywords: Mapping[str, Any] | None, axes: Axis,
    squares: bool,
) -> Array:  # fmt: skip
    """Computes the sum of derivatives along axes, or the root of the sum of their squares."""
    x = as_lazy(input)
    dtype = np.dtype(x.dtype if output is None else output)
    over = _axes(name, x, axes)
    total = None
    for axis, m in zip(over, _each(name, "mode", mode, len(over)), strict=True):
        y = derivative(x, axis, dtype, m, cval, *arguments, **(keywords or {}))
        if not isinstance(y, Array):
            raise TypeError(
                f"{name}: the derivative is a {type(y).__name__}, expected a lazy array: use"
                " functions of cubed.ndimage"
            )
        y = y * y if squares else y
        total = y if total is None else total + y
    if total is None:
        return x.astype(dtype)
    return (sqrt(total) if squares else total).astype(dtype)


def generic_laplace(
    input: Any,
    derivative2: Callable[..., Array],
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0.0,
    extra_arguments: Sequence[Any] = (),
    extra_keywords: Mapping[str, Any] | None = None,
    *,
    axes: Axis = None,
) -> Array:
    """Computes the sum of second derivatives along axes, with a function for the derivatives.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    derivative2 : callable
        Called with the lazy image, an axis, `output`, the axis' `mode` and `cval`; returns a lazy
        array.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Passed to the function: one mode, or one mode for each axis.
    cval : float, default 0.0
        Passed to the function.
    extra_arguments : sequence, default ()
        Passed to the function after all other positional arguments.
    extra_keywords : Mapping or None
        Passed to the function by name.
    axes : int, tuple of int or None
        Axes of the derivatives. None: all.

    Returns
    -------
    Array
        The shape of `input`. Lazy.

    Raises
    ------
    TypeError
        The function does not return a lazy array.

    Examples
    --------
    >>> import cubed
    >>> def second(x, axis, output, mode, cval):
    ...     return cubed.ndimage.correlate1d(x, [1, -2, 1], axis, output, mode, cval)
    >>> x = cubed.asarray([1.0, 4.0, 9.0, 16.0])
    >>> cubed.ndimage.generic_laplace(x, second).compute()
    array([ 3.,  2.,  2., -7.])
    """
    return _total(
        "generic_laplace", input, derivative2, output, mode, cval, extra_arguments, extra_keywords,
        axes, False,
    )  # fmt: skip


def generic_gradient_magnitude(
    input: Any,
    derivative: Callable[..., Array],
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0.0,
    extra_arguments: Sequence[Any] = (),
    extra_keywords: Mapping[str, Any] | None = None,
    *,
    axes: Axis = None,
) -> Array:
    """Computes the lengths of gradients, with a function for their components.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    derivative : callable
        Called with the lazy image, an axis, `output`, the axis' `mode` and `cval`; returns a lazy
        array. An example is :func:`sobel`.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Passed to the function: one mode, or one mode for each axis.
    cval : float, default 0.0
        Passed to the function.
    extra_arguments : sequence, default ()
        Passed to the function after all other positional arguments.
    extra_keywords : Mapping or None
        Passed to the function by name.
    axes : int, tuple of int or None
        Axes of the gradient. None: all.

    Returns
    -------
    Array
        The shape of `input`. Lazy.

    Raises
    ------
    TypeError
        The function does not return a lazy array.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[0.0, 0.0], [4.0, 4.0]])
    >>> cubed.ndimage.generic_gradient_magnitude(x, cubed.ndimage.sobel).compute()
    array([[16., 16.],
           [16., 16.]])
    """
    return _total(
        "generic_gradient_magnitude", input, derivative, output, mode, cval, extra_arguments,
        extra_keywords, axes, True,
    )  # fmt: skip


# --- Transformations ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Mapped:
    """Computes positions in an image of `ndim` axes for the elements of a block."""

    mapping: Callable[..., Sequence[float]]
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    chunks: tuple[int, ...]  # extents, except of shorter last chunks
    ndim: int

    def __call__(self, block: NDArray, block_id: tuple[int, ...]) -> NDArray:
        first = [i * n for i, n in zip(block_id[-block.ndim :], self.chunks, strict=True)]
        made = np.empty((self.ndim, *block.shape))
        for index in np.ndindex(block.shape):
            at = tuple(i + j for i, j in zip(first, index, strict=True))
            made[(slice(None), *index)] = self.mapping(at, *self.arguments, **self.keywords)
        return made


def geometric_transform(
    input: Any,
    mapping: Callable[..., Sequence[float]],
    output_shape: Sequence[int] | None = None,
    output: DTypeLike = None,
    order: int = 3,
    mode: str = "constant",
    cval: complex = 0.0,
    prefilter: bool = True,
    extra_arguments: Sequence[Any] = (),
    extra_keywords: Mapping[str, Any] | None = None,
) -> Array:
    """Interpolates an image at positions that a user-defined function computes for each element.

    A task calls the function for each element of a block, and passes the positions to
    :func:`map_coordinates`. So each block of the result reads the whole `input`, one chunk after
    another.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    mapping : callable
        Called with the position of an element of the result, a tuple of int; returns the position
        in `input`, a number for each axis.
    output_shape : sequence of int or None
        Shape of the result. None: the shape of `input`.
    output : dtype or None
        Type of the result. None: the type of `input`.
    order : int, default 3
        Order of the splines, 0 to 5.
    mode : str, default "constant"
        The elements beyond the ends, as for :func:`map_coordinates`.
    cval : complex, default 0.0
        The element beyond the ends for ``"constant"`` and ``"grid-constant"``.
    prefilter : bool, default True
        Whether to compute coefficients of splines.
    extra_arguments : sequence, default ()
        Passed to the function after the position.
    extra_keywords : Mapping or None
        Passed to the function by name.

    Returns
    -------
    Array
        An array of shape `output_shape`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.ndimage.geometric_transform(x, lambda at: (at[1], at[0]), order=1).compute()
    array([[1., 3.],
           [2., 4.]])
    """
    x = as_lazy(input)
    shape = x.shape if output_shape is None else tuple(map(operator.index, output_shape))
    if not shape:
        raise ValueError("geometric_transform: the result has no axis, expected at least one")
    like = zeros(shape, dtype=np.int8, chunks=x.chunksize if len(shape) == x.ndim else "auto")
    find = _Mapped(
        mapping, tuple(extra_arguments), dict(extra_keywords or {}), like.chunksize, x.ndim
    )
    at = map_blocks(
        find, like, dtype=np.float64, new_axis=0, chunks=((x.ndim,), *like.chunks),
        name="geometric_transform",
    )  # fmt: skip
    return map_coordinates(x, at, output, order, mode, cval, prefilter)
