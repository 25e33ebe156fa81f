"""Fourier transforms: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import lazy
from cubed.base._types import Axis, ChunksLike, DTypeLike, Shape
from cubed.functions._calls import rechunked, type_for

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


def fft(x: Array, /, n: int | None = None, axis: int = -1, norm: str | None = "backward") -> Array:
    """The Fourier transform along an axis.

    Parameters
    ----------
    x : Array
        Input array.
    n : int or None
        Length of the transform: the axis is truncated, or padded with zeros. None: the length of
        the axis.
    axis : int, default -1
        Axis that is transformed; negative numbers count from the last.
    norm : {"backward", "ortho", "forward"} or None, default "backward"
        Where to divide by the number of elements: in the inverse transform (``"backward"``), in
        both transforms by its square root (``"ortho"``), or in the forward transform
        (``"forward"``).

    Returns
    -------
    Array
        Complex, in the precision of the input. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fft.fft(cubed.asarray([1.0, 0.0, 0.0, 0.0])).compute()
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.-0.j])
    """
    x = lazy(x)
    return x._like(_core.call("fft", x._x, n, axis, norm, x.spec.task_mem))


def fft2(
    a: Any, s: Shape | None = None, axes: Shape = (-2, -1), norm: str | None = "backward"
) -> Array:
    """The Fourier transform of two axes.

    Parameters
    ----------
    a : array_like
        Input array.
    s : int, tuple of int or None
        Lengths of the transform along the axes. None: the lengths of the axes.
    axes : int or tuple of int, default (-2, -1)
        Axes that are transformed.
    norm : {"backward", "ortho", "forward"} or None, default "backward"
        Where to divide by the number of elements: in the inverse transform (``"backward"``), in
        both transforms by its square root (``"ortho"``), or in the forward transform
        (``"forward"``).

    Returns
    -------
    Array
        Complex, in the precision of the input. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fft.fft2(cubed.asarray([[1.0, 0.0], [0.0, 0.0]])).compute()
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """
    a = lazy(a, "a")
    return a._like(_core.call("fft2", a._x, s, axes, norm, a.spec.task_mem))


def fftfreq(
    n: int,
    /,
    d: float = 1,
    *,
    dtype: DTypeLike = None,
    device: str | None = None,
    chunks: ChunksLike = None,
) -> Array:
    """The frequencies of the elements of `fft`.

    Parameters
    ----------
    n : int
        Length of the transform.
    d : float, default 1
        Distance between samples.
    dtype : dtype or None
        Data type of the frequencies, float32 or float64. None: float64.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.
    chunks : int, tuple, str or None
        Chunks of the result, see :func:`cubed.rechunk`.

    Returns
    -------
    Array
        ``(n,)``. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fft.fftfreq(4).compute()
    array([ 0.  ,  0.25, -0.5 , -0.25])
    """
    return rechunked(Array._new(_core.call("fftfreq", n, d, type_for(dtype), device), None), chunks)


def fftn(
    x: Array, /, s: Shape | None = None, axes: Axis = None, norm: str | None = "backward"
) -> Array:
    """The Fourier transform along several axes.

    Parameters
    ----------
    x : Array
        Input array.
    s : int, tuple of int or None
        Lengths of the transform along the axes. None: the lengths of the axes.
    axes : int, tuple of int or None
        Axes that are transformed. None: the last axes, one for each length in `s`, or all axes.
    norm : {"backward", "ortho", "forward"} or None, default "backward"
        Where to divide by the number of elements: in the inverse transform (``"backward"``), in
        both transforms by its square root (``"ortho"``), or in the forward transform
        (``"forward"``).

    Returns
    -------
    Array
        Complex, in the precision of the input. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fft.fftn(cubed.asarray([[1.0, 0.0], [0.0, 0.0]])).compute()
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """
    x = lazy(x)
    return x._like(_core.call("fftn", x._x, s, axes, norm, x.spec.task_mem))


def fftshift(x: Array, /, axes: Axis = None) -> Array:
    """Moves frequency 0 to the middle of the axes.

    Parameters
    ----------
    x : Array
        Input array.
    axes : int, tuple of int or None
        Axes whose halves are swapped. None: all.

    Returns
    -------
    Array
        The shape and type of the input. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fft.fftshift(cubed.arange(4)).compute()
    array([2, 3, 0, 1])
    """
    x = lazy(x)
    return x._like(_core.call("fftshift", x._x, axes))


def hfft(x: Array, /, n: int | None = None, axis: int = -1, norm: str | None = "backward") -> Array:
    """The Fourier transform of a Hermitian sequence, which is real.

    Parameters
    ----------
    x : Array
        Input array.
    n : int or None
        Length of the transform: the axis is truncated, or padded with zeros. None: the length of
        the axis.
    axis : int, default -1
        Axis that is transformed; negative numbers count from the last.
    norm : {"backward", "ortho", "forward"} or None, default "backward"
        Where to divide by the number of elements: in the inverse transform (``"backward"``), in
        both transforms by its square root (``"ortho"``), or in the forward transform
        (``"forward"``).

    Returns
    -------
    Array
        Real, in the precision of the input. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fft.hfft(cubed.asarray([1.0, 0.0, 0.0, 0.0])).compute()
    array([1., 1., 1., 1., 1., 1.])
    """
    x = lazy(x)
    return x._like(_core.call("hfft", x._x, n, axis, norm, x.spec.task_mem))


def ifft(x: Array, /, n: int | None = None, axis: int = -1, norm: str | None = "backward") -> Array:
    """The inverse Fourier transform along an axis.

    Parameters
    ----------
    x : Array
        Input array.
    n : int or None
        Length of the transform: the axis is truncated, or padded with zeros. None: the length of
        the axis.
    axis : int, default -1
        Axis that is transformed; negative numbers count from the last.
    norm : {"backward", "ortho", "forward"} or None, default "backward"
        Where to divide by the number of elements: in the inverse transform (``"backward"``), in
        both transforms by its square root (``"ortho"``), or in the forward transform
        (``"forward"``).

    Returns
    -------
    Array
        Complex, in the precision of the input. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fft.ifft(cubed.asarray([1.0, 0.0, 0.0, 0.0])).compute()
    array([0.25-0.j, 0.25-0.j, 0.25-0.j, 0.25+0.j])
    """
    x = lazy(x)
    return x._like(_core.call("ifft", x._x, n, axis, norm, x.spec.task_mem))


def ifft2(
    a: Any, s: Shape | None = None, axes: Shape = (-2, -1), norm: str | None = "backward"
) -> Array:
    """The inverse Fourier transform of two axes.

    Parameters
    ----------
    a : array_like
        Input array.
    s : int, tuple of int or None
        Lengths of the transform along the axes. None: the lengths of the axes.
    axes : int or tuple of int, default (-2, -1)
        Axes that are transformed.
    norm : {"backward", "ortho", "forward"} or None, default "backward"
        Where to divide by the number of elements: in the inverse transform (``"backward"``), in
        both transforms by its square root (``"ortho"``), or in the forward transform
        (``"forward"``).

    Returns
    -------
    Array
        Complex, in the precision of the input. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fft.ifft2(cubed.asarray([[1.0, 0.0], [0.0, 0.0]])).compute()
    array([[0.25-0.j, 0.25-0.j],
           [0.25+0.j, 0.25+0.j]])
    """
    a = lazy(a, "a")
    return a._like(_core.call("ifft2", a._x, s, axes, norm, a.spec.task_mem))


def ifftn(
    x: Array, /, s: Shape | None = None, axes: Axis = None, norm: str | None = "backward"
) -> Array:
    """The inverse Fourier transform along several axes.

    Parameters
    ----------
    x : Array
        Input array.
    s : int, tuple of int or None
        Lengths of the transform along the axes. None: the lengths of the axes.
    axes : int, tuple of int or None
        Axes that are transformed. None: the last axes, one for each length in `s`, or all axes.
    norm : {"backward", "ortho", "forward"} or None, default "backward"
        Where to divide by the number of elements: in the inverse transform (``"backward"``), in
        both transforms by its square root (``"ortho"``), or in the forward transform
        (``"forward"``).

    Returns
    -------
    Array
        Complex, in the precision of the input. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fft.ifftn(cubed.asarray([[1.0, 0.0], [0.0, 0.0]])).compute()
    array([[0.25-0.j, 0.25-0.j],
           [0.25+0.j, 0.25+0.j]])
    """
    x = lazy(x)
    return x._like(_core.call("ifftn", x._x, s, axes, norm, x.spec.task_mem))


def ifftshift(x: Array, /, axes: Axis = None) -> Array:
    """The inverse of `fftshift`.

    Parameters
    ----------
    x : Array
        Input array.
    axes : int, tuple of int or None
        Axes whose halves are swapped. None: all.

    Returns
    -------
    Array
        The shape and type of the input. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fft.ifftshift(cubed.arange(4)).compute()
    array([2, 3, 0, 1])
    """
    x = lazy(x)
    return x._like(_core.call("ifftshift", x._x, axes))


def ihfft(
    x: Array, /, n: int | None = None, axis: int = -1, norm: str | None = "backward"
) -> Array:
    """The inverse of `hfft`.

    Parameters
    ----------
    x : Array
        Input array.
    n : int or None
        Length of the transform: the axis is truncated, or padded with zeros. None: the length of
        the axis.
    axis : int, default -1
        Axis that is transformed; negative numbers count from the last.
    norm : {"backward", "ortho", "forward"} or None, default "backward"
        Where to divide by the number of elements: in the inverse transform (``"backward"``), in
        both transforms by its square root (``"ortho"``), or in the forward transform
        (``"forward"``).

    Returns
    -------
    Array
        Complex, in the precision of the input. Lazy.

    Raises
    ------
    TypeError
        For complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.fft.ihfft(cubed.asarray([1.0, 0.0, 0.0, 0.0])).compute()
    array([0.25-0.j, 0.25-0.j, 0.25-0.j])
    """
    x = lazy(x)
    return x._like(_core.call("ihfft", x._x, n, axis, norm, x.spec.task_mem))


def irfft(
    x: Array, /, n: int | None = None, axis: int = -1, norm: str | None = "backward"
) -> Array:
    """The inverse of `rfft`: n real numbers, by default 2 * (m - 1) if x has m.

    Parameters
    ----------
    x : Array
        Input array.
    n : int or None
        Length of the transform: the axis is truncated, or padded with zeros. None: the length of
        the axis.
    axis : int, default -1
        Axis that is transformed; negative numbers count from the last.
    norm : {"backward", "ortho", "forward"} or None, default "backward"
        Where to divide by the number of elements: in the inverse transform (``"backward"``), in
        both transforms by its square root (``"ortho"``), or in the forward transform
        (``"forward"``).

    Returns
    -------
    Array
        Real, in the precision of the input. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fft.irfft(cubed.asarray([1.0, 0.0, 0.0, 0.0])).compute()
    array([0.16666667, 0.16666667, 0.16666667, 0.16666667, 0.16666667,
           0.16666667])
    """
    x = lazy(x)
    return x._like(_core.call("irfft", x._x, n, axis, norm, x.spec.task_mem))


def irfft2(
    a: Any, s: Shape | None = None, axes: Shape = (-2, -1), norm: str | None = "backward"
) -> Array:
    """The inverse of `rfft2`, over two axes.

    Parameters
    ----------
    a : array_like
        Input array.
    s : int, tuple of int or None
        Lengths of the transform along the axes. None: the lengths of the axes.
    axes : int or tuple of int, default (-2, -1)
        Axes that are transformed.
    norm : {"backward", "ortho", "forward"} or None, default "backward"
        Where to divide by the number of elements: in the inverse transform (``"backward"``), in
        both transforms by its square root (``"ortho"``), or in the forward transform
        (``"forward"``).

    Returns
    -------
    Array
        Real, in the precision of the input. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fft.irfft2(cubed.asarray([[1.0, 0.0], [0.0, 0.0]])).compute()
    array([[0.25, 0.25],
           [0.25, 0.25]])
    """
    a = lazy(a, "a")
    return a._like(_core.call("irfft2", a._x, s, axes, norm, a.spec.task_mem))


def irfftn(
    x: Array, /, s: Shape | None = None, axes: Axis = None, norm: str | None = "backward"
) -> Array:
    """The inverse of `rfftn`.

    Parameters
    ----------
    x : Array
        Input array.
    s : int, tuple of int or None
        Lengths of the transform along the axes. None: the lengths of the axes.
    axes : int, tuple of int or None
        Axes that are transformed. None: the last axes, one for each length in `s`, or all axes.
    norm : {"backward", "ortho", "forward"} or None, default "backward"
        Where to divide by the number of elements: in the inverse transform (``"backward"``), in
        both transforms by its square root (``"ortho"``), or in the forward transform
        (``"forward"``).

    Returns
    -------
    Array
        Real, in the precision of the input. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fft.irfftn(cubed.asarray([[1.0, 0.0], [0.0, 0.0]])).compute()
    array([[0.25, 0.25],
           [0.25, 0.25]])
    """
    x = lazy(x)
    return x._like(_core.call("irfftn", x._x, s, axes, norm, x.spec.task_mem))


def rfft(x: Array, /, n: int | None = None, axis: int = -1, norm: str | None = "backward") -> Array:
    """The Fourier transform of n real numbers along an axis: n // 2 + 1 numbers.

    Parameters
    ----------
    x : Array
        Input array.
    n : int or None
        Length of the transform: the axis is truncated, or padded with zeros. None: the length of
        the axis.
    axis : int, default -1
        Axis that is transformed; negative numbers count from the last.
    norm : {"backward", "ortho", "forward"} or None, default "backward"
        Where to divide by the number of elements: in the inverse transform (``"backward"``), in
        both transforms by its square root (``"ortho"``), or in the forward transform
        (``"forward"``).

    Returns
    -------
    Array
        Complex, in the precision of the input. Lazy.

    Raises
    ------
    TypeError
        For complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.fft.rfft(cubed.asarray([1.0, 0.0, 0.0, 0.0])).compute()
    array([1.+0.j, 1.+0.j, 1.+0.j])
    """
    x = lazy(x)
    return x._like(_core.call("rfft", x._x, n, axis, norm, x.spec.task_mem))


def rfft2(
    a: Any, s: Shape | None = None, axes: Shape = (-2, -1), norm: str | None = "backward"
) -> Array:
    """The Fourier transform of real numbers over two axes: n // 2 + 1 along the last.

    Parameters
    ----------
    a : array_like
        Input array.
    s : int, tuple of int or None
        Lengths of the transform along the axes. None: the lengths of the axes.
    axes : int or tuple of int, default (-2, -1)
        Axes that are transformed.
    norm : {"backward", "ortho", "forward"} or None, default "backward"
        Where to divide by the number of elements: in the inverse transform (``"backward"``), in
        both transforms by its square root (``"ortho"``), or in the forward transform
        (``"forward"``).

    Returns
    -------
    Array
        Complex, in the precision of the input. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fft.rfft2(cubed.asarray([[1.0, 0.0], [0.0, 0.0]])).compute()
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """
    a = lazy(a, "a")
    return a._like(_core.call("rfft2", a._x, s, axes, norm, a.spec.task_mem))


def rfftfreq(
    n: int,
    /,
    d: float = 1,
    *,
    dtype: DTypeLike = None,
    device: str | None = None,
    chunks: ChunksLike = None,
) -> Array:
    """The frequencies of the elements of `rfft`.

    Parameters
    ----------
    n : int
        Length of the transform.
    d : float, default 1
        Distance between samples.
    dtype : dtype or None
        Data type of the frequencies, float32 or float64. None: float64.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.
    chunks : int, tuple, str or None
        Chunks of the result, see :func:`cubed.rechunk`.

    Returns
    -------
    Array
        ``(n // 2 + 1,)``. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fft.rfftfreq(4).compute()
    array([0.  , 0.25, 0.5 ])
    """
    core = _core.call("rfftfreq", n, d, type_for(dtype), device)
    return rechunked(Array._new(core, None), chunks)


def rfftn(
    x: Array, /, s: Shape | None = None, axes: Axis = None, norm: str | None = "backward"
) -> Array:
    """The Fourier transform of real numbers over several axes: n // 2 + 1 along the last.

    Parameters
    ----------
    x : Array
        Input array.
    s : int, tuple of int or None
        Lengths of the transform along the axes. None: the lengths of the axes.
    axes : int, tuple of int or None
        Axes that are transformed. None: the last axes, one for each length in `s`, or all axes.
    norm : {"backward", "ortho", "forward"} or None, default "backward"
        Where to divide by the number of elements: in the inverse transform (``"backward"``), in
        both transforms by its square root (``"ortho"``), or in the forward transform
        (``"forward"``).

    Returns
    -------
    Array
        Complex, in the precision of the input. Lazy.

    Raises
    ------
    TypeError
        For complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.fft.rfftn(cubed.asarray([[1.0, 0.0], [0.0, 0.0]])).compute()
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """
    x = lazy(x)
    return x._like(_core.call("rfftn", x._x, s, axes, norm, x.spec.task_mem))
