"""Morphology of images: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of
from cubed.base._types import Axis, DTypeLike, Shape
from cubed.functions._calls import nested, operand, type_for
from cubed.io._create import as_lazy

__all__ = [
    "binary_closing",
    "binary_dilation",
    "binary_erosion",
    "binary_hit_or_miss",
    "binary_opening",
    "black_tophat",
    "grey_closing",
    "grey_dilation",
    "grey_erosion",
    "grey_opening",
    "morphological_gradient",
    "morphological_laplace",
    "white_tophat",
]


def binary_closing(
    input: Any,
    structure: Any = None,
    iterations: int = 1,
    output: DTypeLike = None,
    origin: Shape = 0,
    mask: Any = None,
    border_value: bool = False,
    brute_force: bool = False,
    *,
    axes: Axis = None,
) -> Array:
    """Closes holes in objects of elements that are not 0: a dilation, then an erosion.

    The result of each iteration is stored.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    structure : array_like or None
        An array whose nonzero elements belong to the box. None: the element itself and those that
        share a face with it.
    iterations : int, default 1
        Number of times to apply the operation, at least 1.
    output : dtype or None
        Type of the result. None: bool.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of its box; one number, or one for each axis.
    mask : array_like or None
        An array in the shape of the image. Elements where it is 0 do not change.
    border_value : bool, default False
        Value of elements outside of the image.
    brute_force : bool, default False
        Accepted for compatibility with SciPy; has no effect.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`; bool, unless `output` is another type. Lazy.

    Raises
    ------
    ValueError
        For `iterations` less than 1: their number would depend on values, and cannot be planned.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([0, 1, 1, 1, 0, 1, 0])
    >>> cubed.ndimage.binary_closing(x).compute()
    array([False,  True,  True,  True,  True,  True, False])
    """
    spec = common_spec(input, mask)
    core = _core.call(
        "binary_closing",
        core_of(input),
        nested(structure),
        iterations,
        type_for(output, input),
        origin,
        operand(mask),
        border_value,
        brute_force,
        axes,
    )
    return Array._new(core, spec)


def binary_dilation(
    input: Any,
    structure: Any = None,
    iterations: int = 1,
    mask: Any = None,
    output: DTypeLike = None,
    border_value: bool = False,
    origin: Shape = 0,
    brute_force: bool = False,
    *,
    axes: Axis = None,
) -> Array:
    """Whether any element of a box around each element is not 0.

    The result of each iteration is stored. The structure is mirrored.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    structure : array_like or None
        An array whose nonzero elements belong to the box. None: the element itself and those that
        share a face with it.
    iterations : int, default 1
        Number of times to apply the operation, at least 1.
    mask : array_like or None
        An array in the shape of the image. Elements where it is 0 do not change.
    output : dtype or None
        Type of the result. None: bool.
    border_value : bool, default False
        Value of elements outside of the image.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of its box; one number, or one for each axis.
    brute_force : bool, default False
        Accepted for compatibility with SciPy; has no effect.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`; bool, unless `output` is another type. Lazy.

    Raises
    ------
    ValueError
        For `iterations` less than 1: their number would depend on values, and cannot be planned.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([0, 1, 1, 1, 0, 1, 0])
    >>> cubed.ndimage.binary_dilation(x).compute()
    array([ True,  True,  True,  True,  True,  True,  True])
    """
    spec = common_spec(input, mask)
    core = _core.call(
        "binary_dilation",
        core_of(input),
        nested(structure),
        iterations,
        operand(mask),
        type_for(output, input),
        border_value,
        origin,
        brute_force,
        axes,
    )
    return Array._new(core, spec)


def binary_erosion(
    input: Any,
    structure: Any = None,
    iterations: int = 1,
    mask: Any = None,
    output: DTypeLike = None,
    border_value: bool = False,
    origin: Shape = 0,
    brute_force: bool = False,
    *,
    axes: Axis = None,
) -> Array:
    """Whether no element of a box around each element is 0.

    The result of each iteration is stored.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    structure : array_like or None
        An array whose nonzero elements belong to the box. None: the element itself and those that
        share a face with it.
    iterations : int, default 1
        Number of times to apply the operation, at least 1.
    mask : array_like or None
        An array in the shape of the image. Elements where it is 0 do not change.
    output : dtype or None
        Type of the result. None: bool.
    border_value : bool, default False
        Value of elements outside of the image.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of its box; one number, or one for each axis.
    brute_force : bool, default False
        Accepted for compatibility with SciPy; has no effect.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`; bool, unless `output` is another type. Lazy.

    Raises
    ------
    ValueError
        For `iterations` less than 1: their number would depend on values, and cannot be planned.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([0, 1, 1, 1, 0, 1, 0])
    >>> cubed.ndimage.binary_erosion(x).compute()
    array([False, False,  True, False, False, False, False])
    """
    spec = common_spec(input, mask)
    core = _core.call(
        "binary_erosion",
        core_of(input),
        nested(structure),
        iterations,
        operand(mask),
        type_for(output, input),
        border_value,
        origin,
        brute_force,
        axes,
    )
    return Array._new(core, spec)


def binary_hit_or_miss(
    input: Any,
    structure1: Any = None,
    structure2: Any = None,
    output: DTypeLike = None,
    origin1: Shape = 0,
    origin2: Shape | None = None,
    *,
    axes: Axis = None,
) -> Array:
    """Finds the positions of a pattern of elements that are 0 and elements that are not.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    structure1 : array_like or None
        Elements of the pattern that must not be 0. None: the element itself and those that share a
        face with it.
    structure2 : array_like or None
        Elements of the pattern that must be 0. None: all that are not in `structure1`.
    output : dtype or None
        Type of the result. None: bool.
    origin1 : int or tuple of int, default 0
        Offset of the element from the middle of `structure1`.
    origin2 : int, tuple of int or None
        Offset of the element from the middle of `structure2`. None: `origin1`.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`; bool, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([0, 1, 1, 1, 0, 1, 0])
    >>> cubed.ndimage.binary_hit_or_miss(x, [0, 1, 1], [1, 0, 0]).compute()
    array([False,  True, False, False, False, False, False])
    """
    input = as_lazy(input)
    core = _core.call(
        "binary_hit_or_miss",
        input._x,
        nested(structure1),
        nested(structure2),
        type_for(output, input),
        origin1,
        origin2,
        axes,
    )
    return input._like(core)


def binary_opening(
    input: Any,
    structure: Any = None,
    iterations: int = 1,
    output: DTypeLike = None,
    origin: Shape = 0,
    mask: Any = None,
    border_value: bool = False,
    brute_force: bool = False,
    *,
    axes: Axis = None,
) -> Array:
    """Removes small objects of elements that are not 0: an erosion, then a dilation.

    The result of each iteration is stored.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    structure : array_like or None
        An array whose nonzero elements belong to the box. None: the element itself and those that
        share a face with it.
    iterations : int, default 1
        Number of times to apply the operation, at least 1.
    output : dtype or None
        Type of the result. None: bool.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of its box; one number, or one for each axis.
    mask : array_like or None
        An array in the shape of the image. Elements where it is 0 do not change.
    border_value : bool, default False
        Value of elements outside of the image.
    brute_force : bool, default False
        Accepted for compatibility with SciPy; has no effect.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`; bool, unless `output` is another type. Lazy.

    Raises
    ------
    ValueError
        For `iterations` less than 1: their number would depend on values, and cannot be planned.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([0, 1, 1, 1, 0, 1, 0])
    >>> cubed.ndimage.binary_opening(x).compute()
    array([False,  True,  True,  True, False, False, False])
    """
    spec = common_spec(input, mask)
    core = _core.call(
        "binary_opening",
        core_of(input),
        nested(structure),
        iterations,
        type_for(output, input),
        origin,
        operand(mask),
        border_value,
        brute_force,
        axes,
    )
    return Array._new(core, spec)


def black_tophat(
    input: Any,
    size: Shape | None = None,
    footprint: Any = None,
    structure: Any = None,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: Shape = 0,
    *,
    axes: Axis = None,
) -> Array:
    """The closing of an image, minus the image.

    For bool, the result is the exclusive or of the image and its closing.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    size : int, tuple of int or None
        Extent of the box along all axes, or one extent for each axis.
    footprint : array_like or None
        An array whose nonzero elements belong to the box, in place of `size`.
    structure : array_like or None
        An array of heights for the elements of a box: a dilation adds them to elements, an erosion
        subtracts them.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of its box; one number, or one for each axis.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1, 8, 2, 5])
    >>> cubed.ndimage.black_tophat(x, 3).compute()
    array([7, 0, 3, 0])
    """
    input = as_lazy(input)
    core = _core.call(
        "black_tophat",
        input._x,
        size,
        nested(footprint),
        nested(structure),
        type_for(output, input),
        mode,
        cval,
        origin,
        axes,
    )
    return input._like(core)


def grey_closing(
    input: Any,
    size: Shape | None = None,
    footprint: Any = None,
    structure: Any = None,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: Shape = 0,
    *,
    axes: Axis = None,
) -> Array:
    """The erosion of the dilation of an image.

    NaN is greater than all numbers.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    size : int, tuple of int or None
        Extent of the box along all axes, or one extent for each axis.
    footprint : array_like or None
        An array whose nonzero elements belong to the box, in place of `size`.
    structure : array_like or None
        An array of heights for the elements of a box: a dilation adds them to elements, an erosion
        subtracts them.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of its box; one number, or one for each axis.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1, 8, 2, 5])
    >>> cubed.ndimage.grey_closing(x, 3).compute()
    array([8, 8, 5, 5])
    """
    input = as_lazy(input)
    core = _core.call(
        "grey_closing",
        input._x,
        size,
        nested(footprint),
        nested(structure),
        type_for(output, input),
        mode,
        cval,
        origin,
        axes,
    )
    return input._like(core)


def grey_dilation(
    input: Any,
    size: Shape | None = None,
    footprint: Any = None,
    structure: Any = None,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: Shape = 0,
    *,
    axes: Axis = None,
) -> Array:
    """The maximum of a mirrored box around each element.

    The footprint and the structure are mirrored. NaN is greater than all numbers.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    size : int, tuple of int or None
        Extent of the box along all axes, or one extent for each axis.
    footprint : array_like or None
        An array whose nonzero elements belong to the box, in place of `size`.
    structure : array_like or None
        An array of heights for the elements of a box: a dilation adds them to elements, an erosion
        subtracts them.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of its box; one number, or one for each axis.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[0, 0, 0, 0], [0, 5, 6, 0], [0, 7, 8, 0]])
    >>> cubed.ndimage.grey_dilation(x, 2).compute()
    array([[5, 6, 6, 0],
           [7, 8, 8, 0],
           [7, 8, 8, 0]])
    """
    input = as_lazy(input)
    core = _core.call(
        "grey_dilation",
        input._x,
        size,
        nested(footprint),
        nested(structure),
        type_for(output, input),
        mode,
        cval,
        origin,
        axes,
    )
    return input._like(core)


def grey_erosion(
    input: Any,
    size: Shape | None = None,
    footprint: Any = None,
    structure: Any = None,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: Shape = 0,
    *,
    axes: Axis = None,
) -> Array:
    """The minimum of a box around each element.

    NaN is greater than all numbers.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    size : int, tuple of int or None
        Extent of the box along all axes, or one extent for each axis.
    footprint : array_like or None
        An array whose nonzero elements belong to the box, in place of `size`.
    structure : array_like or None
        An array of heights for the elements of a box: a dilation adds them to elements, an erosion
        subtracts them.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of its box; one number, or one for each axis.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[0, 0, 0, 0], [0, 5, 6, 0], [0, 7, 8, 0]])
    >>> cubed.ndimage.grey_erosion(x, 2).compute()
    array([[0, 0, 0, 0],
           [0, 0, 0, 0],
           [0, 0, 5, 0]])
    """
    input = as_lazy(input)
    core = _core.call(
        "grey_erosion",
        input._x,
        size,
        nested(footprint),
        nested(structure),
        type_for(output, input),
        mode,
        cval,
        origin,
        axes,
    )
    return input._like(core)


def grey_opening(
    input: Any,
    size: Shape | None = None,
    footprint: Any = None,
    structure: Any = None,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: Shape = 0,
    *,
    axes: Axis = None,
) -> Array:
    """The dilation of the erosion of an image.

    NaN is greater than all numbers.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    size : int, tuple of int or None
        Extent of the box along all axes, or one extent for each axis.
    footprint : array_like or None
        An array whose nonzero elements belong to the box, in place of `size`.
    structure : array_like or None
        An array of heights for the elements of a box: a dilation adds them to elements, an erosion
        subtracts them.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of its box; one number, or one for each axis.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1, 8, 2, 5])
    >>> cubed.ndimage.grey_opening(x, 3).compute()
    array([1, 2, 2, 2])
    """
    input = as_lazy(input)
    core = _core.call(
        "grey_opening",
        input._x,
        size,
        nested(footprint),
        nested(structure),
        type_for(output, input),
        mode,
        cval,
        origin,
        axes,
    )
    return input._like(core)


def morphological_gradient(
    input: Any,
    size: Shape | None = None,
    footprint: Any = None,
    structure: Any = None,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: Shape = 0,
    *,
    axes: Axis = None,
) -> Array:
    """The dilation of an image, minus its erosion.

    Differences of integers wrap around.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    size : int, tuple of int or None
        Extent of the box along all axes, or one extent for each axis.
    footprint : array_like or None
        An array whose nonzero elements belong to the box, in place of `size`.
    structure : array_like or None
        An array of heights for the elements of a box: a dilation adds them to elements, an erosion
        subtracts them.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of its box; one number, or one for each axis.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1, 8, 2, 5])
    >>> cubed.ndimage.morphological_gradient(x, 3).compute()
    array([7, 7, 6, 3])
    """
    input = as_lazy(input)
    core = _core.call(
        "morphological_gradient",
        input._x,
        size,
        nested(footprint),
        nested(structure),
        type_for(output, input),
        mode,
        cval,
        origin,
        axes,
    )
    return input._like(core)


def morphological_laplace(
    input: Any,
    size: Shape | None = None,
    footprint: Any = None,
    structure: Any = None,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: Shape = 0,
    *,
    axes: Axis = None,
) -> Array:
    """The dilation plus the erosion of an image, minus twice the image.

    Sums of integers wrap around.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    size : int, tuple of int or None
        Extent of the box along all axes, or one extent for each axis.
    footprint : array_like or None
        An array whose nonzero elements belong to the box, in place of `size`.
    structure : array_like or None
        An array of heights for the elements of a box: a dilation adds them to elements, an erosion
        subtracts them.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of its box; one number, or one for each axis.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1, 8, 2, 5])
    >>> cubed.ndimage.morphological_laplace(x, 3).compute()
    array([ 7, -7,  6, -3])
    """
    input = as_lazy(input)
    core = _core.call(
        "morphological_laplace",
        input._x,
        size,
        nested(footprint),
        nested(structure),
        type_for(output, input),
        mode,
        cval,
        origin,
        axes,
    )
    return input._like(core)


def white_tophat(
    input: Any,
    size: Shape | None = None,
    footprint: Any = None,
    structure: Any = None,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: Shape = 0,
    *,
    axes: Axis = None,
) -> Array:
    """An image, minus its opening.

    For bool, the result is the exclusive or of the image and its opening.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    size : int, tuple of int or None
        Extent of the box along all axes, or one extent for each axis.
    footprint : array_like or None
        An array whose nonzero elements belong to the box, in place of `size`.
    structure : array_like or None
        An array of heights for the elements of a box: a dilation adds them to elements, an erosion
        subtracts them.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of its box; one number, or one for each axis.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1, 8, 2, 5])
    >>> cubed.ndimage.white_tophat(x, 3).compute()
    array([0, 6, 0, 3])
    """
    input = as_lazy(input)
    core = _core.call(
        "white_tophat",
        input._x,
        size,
        nested(footprint),
        nested(structure),
        type_for(output, input),
        mode,
        cval,
        origin,
        axes,
    )
    return input._like(core)
