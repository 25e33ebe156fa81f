"""Fourier transforms. An axis that is transformed is brought together in a task's memory; one that
does not fit is transformed in parts, and stored a few times on the way.

`norm` says which direction is divided by the number of elements: the inverse (``"backward"``), both
by its root (``"ortho"``), or the other one (``"forward"``). Single precision stays single, but is
transformed in double precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import check_device, lazy, normalize_axes, normalize_axis, real_number
from cubed.base._docs import documented
from cubed.base._dtypes import name_of
from cubed.base._types import DTypeLike, Norm

if TYPE_CHECKING:
    from cubed._core import Transform

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip


_transform = partial(
    documented,
    parameters={
        "a": "Input array.",
        "axes": "The axes that are transformed; None: all.",
        "axis": "The axis that is transformed; negative ones count from the last.",
        "n": "Length of the transform along the axis: longer ones are filled with zeros.",
        "norm": (
            '{"backward", "ortho", "forward"} : Which direction is scaled: the inverse one, both,'
            " or this one."
        ),
        "s": "Lengths of the transform along `axes`.",
    },
)

_COMPLEX = (
    "Complex, in x's precision; `n` or `s` elements along the axes, cut or filled with zeros.\n"
    "    Lazy."
)


def _one(name: Transform, x: Array, n: int | None, axis: int, norm: Norm | None) -> Array:
    x = lazy(x)
    axes = (normalize_axis(axis, x.ndim),)
    sizes = None if n is None else (n,)
    return x._like(_core.fft(name, x._x, sizes, axes, norm or "backward", x.spec.task_mem))


def _many(
    name: Transform,
    x: Array,
    s: Sequence[int] | None,
    axes: Sequence[int] | None,
    norm: Norm | None,
) -> Array:
    x = lazy(x)
    if axes is None:
        # With s, its last axes.
        if s is not None and len(s) > x.ndim:
            raise ValueError(f"s has {len(s)} entries, but the array has {x.ndim} axes")
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    all_axes = normalize_axes(tuple(axes), x.ndim)
    return x._like(_core.fft(name, x._x, s, all_axes, norm or "backward", x.spec.task_mem))


@_transform(returns=_COMPLEX)
def fft(x: Array, /, n: int | None = None, axis: int = -1, norm: Norm | None = "backward") -> Array:
    """The Fourier transform along an axis.

    >>> cubed.fft.fft(cubed.asarray([1.0, 0.0, 0.0, 0.0])).compute()
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.-0.j])
    """
    return _one("fft", x, n, axis, norm)


@_transform(returns=_COMPLEX)
def ifft(
    x: Array, /, n: int | None = None, axis: int = -1, norm: Norm | None = "backward"
) -> Array:
    """The inverse Fourier transform along an axis.

    >>> cubed.fft.ifft(cubed.asarray([1.0, 0.0, 0.0, 0.0])).compute()
    array([0.25-0.j, 0.25-0.j, 0.25-0.j, 0.25+0.j])
    """
    return _one("ifft", x, n, axis, norm)


@_transform(returns="Complex, in x's precision. Lazy.", raises="TypeError: For complex numbers.")
def rfft(
    x: Array, /, n: int | None = None, axis: int = -1, norm: Norm | None = "backward"
) -> Array:
    """The Fourier transform of real numbers along an axis: n // 2 + 1 numbers.

    >>> cubed.fft.rfft(cubed.asarray([1.0, 0.0, 0.0, 0.0])).compute()
    array([1.+0.j, 1.+0.j, 1.+0.j])
    """
    return _one("rfft", x, n, axis, norm)


@_transform(returns="Real, in x's precision. Lazy.")
def irfft(
    x: Array, /, n: int | None = None, axis: int = -1, norm: Norm | None = "backward"
) -> Array:
    """The inverse of rfft: n real numbers, 2 * (m - 1) of m by default.

    >>> cubed.fft.irfft(cubed.asarray([1.0, 0.0, 0.0, 0.0])).compute()
    array([0.16666667, 0.16666667, 0.16666667, 0.16666667, 0.16666667,
           0.16666667])
    """
    return _one("irfft", x, n, axis, norm)


@_transform(returns="Real, in x's precision. Lazy.")
def hfft(
    x: Array, /, n: int | None = None, axis: int = -1, norm: Norm | None = "backward"
) -> Array:
    """The transform of a Hermitian sequence: real numbers.

    >>> cubed.fft.hfft(cubed.asarray([1.0, 0.0, 0.0, 0.0])).compute()
    array([1., 1., 1., 1., 1., 1.])
    """
    return _one("hfft", x, n, axis, norm)


@_transform(returns="Complex, in x's precision. Lazy.", raises="TypeError: For complex numbers.")
def ihfft(
    x: Array, /, n: int | None = None, axis: int = -1, norm: Norm | None = "backward"
) -> Array:
    """The inverse of hfft.

    >>> cubed.fft.ihfft(cubed.asarray([1.0, 0.0, 0.0, 0.0])).compute()
    array([0.25-0.j, 0.25-0.j, 0.25-0.j])
    """
    return _one("ihfft", x, n, axis, norm)


@_transform(returns=_COMPLEX)
def fftn(
    x: Array,
    /,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm | None = "backward",
) -> Array:
    """The Fourier transform along several axes.

    >>> cubed.fft.fftn(cubed.asarray([[1.0, 0.0], [0.0, 0.0]])).compute()
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """
    return _many("fft", x, s, axes, norm)


@_transform(returns=_COMPLEX)
def ifftn(
    x: Array,
    /,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm | None = "backward",
) -> Array:
    """The inverse Fourier transform along several axes.

    >>> cubed.fft.ifftn(cubed.asarray([[1.0, 0.0], [0.0, 0.0]])).compute()
    array([[0.25-0.j, 0.25-0.j],
           [0.25+0.j, 0.25+0.j]])
    """
    return _many("ifft", x, s, axes, norm)


@_transform(returns="Complex, in x's precision. Lazy.", raises="TypeError: For complex numbers.")
def rfftn(
    x: Array,
    /,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm | None = "backward",
) -> Array:
    """The Fourier transform of real numbers along several axes, of which the last is halved.

    >>> cubed.fft.rfftn(cubed.asarray([[1.0, 0.0], [0.0, 0.0]])).compute()
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """
    return _many("rfft", x, s, axes, norm)


@_transform(returns="Real, in x's precision. Lazy.")
def irfftn(
    x: Array,
    /,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm | None = "backward",
) -> Array:
    """The inverse of rfftn.

    >>> cubed.fft.irfftn(cubed.asarray([[1.0, 0.0], [0.0, 0.0]])).compute()
    array([[0.25, 0.25],
           [0.25, 0.25]])
    """
    return _many("irfft", x, s, axes, norm)


@_transform()
def fftfreq(
    n: int, /, d: float = 1.0, *, dtype: DTypeLike = None, device: str | None = None
) -> Array:
    """The frequencies of the elements of fft, of samples at a distance of d.

    Parameters
    ----------
    n : int
        Length of the transform.
    d : float, default 1.0
        Distance of the samples.

    Returns
    -------
    Array
        ``(n,)``, float64 by default. Lazy.

    Examples
    --------
    >>> cubed.fft.fftfreq(4).compute()
    array([ 0.  ,  0.25, -0.5 , -0.25])
    """
    check_device(device)
    name = name_of(np.float64 if dtype is None else dtype)
    return Array._new(_core.fftfreq(False, n, real_number(d, "d"), name), None)


@_transform()
def rfftfreq(
    n: int, /, d: float = 1.0, *, dtype: DTypeLike = None, device: str | None = None
) -> Array:
    """The frequencies of the elements of rfft, of samples at a distance of d.

    Parameters
    ----------
    n : int
        Length of the transform.
    d : float, default 1.0
        Distance of the samples.

    Returns
    -------
    Array
        ``(n // 2 + 1,)``, float64 by default. Lazy.

    Examples
    --------
    >>> cubed.fft.rfftfreq(4).compute()
    array([0.  , 0.25, 0.5 ])
    """
    check_device(device)
    name = name_of(np.float64 if dtype is None else dtype)
    return Array._new(_core.fftfreq(True, n, real_number(d, "d"), name), None)


@_transform(returns="Of x's shape and type. Lazy.")
def fftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """The elements with the frequency 0 in the middle.

    >>> cubed.fft.fftshift(cubed.arange(4)).compute()
    array([2, 3, 0, 1])
    """
    x = lazy(x)
    return x._like(_core.fftshift(False, x._x, normalize_axes(axes, x.ndim)))


@_transform(returns="Of x's shape and type. Lazy.")
def ifftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """The elements of fftshift where they were.

    >>> cubed.fft.ifftshift(cubed.arange(4)).compute()
    array([2, 3, 0, 1])
    """
    x = lazy(x)
    return x._like(_core.fftshift(True, x._x, normalize_axes(axes, x.ndim)))


@_transform(returns=_COMPLEX)
def fft2(
    a: Array,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: Norm | None = "backward",
) -> Array:
    """The transform of two axes; see :func:`fftn`.

    >>> cubed.fft.fft2(cubed.asarray([[1.0, 0.0], [0.0, 0.0]])).compute()
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """
    return fftn(a, s=s, axes=axes, norm=norm)


@_transform(returns=_COMPLEX)
def ifft2(
    a: Array,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: Norm | None = "backward",
) -> Array:
    """The inverse transform of two axes; see :func:`ifftn`.

    >>> cubed.fft.ifft2(cubed.asarray([[1.0, 0.0], [0.0, 0.0]])).compute()
    array([[0.25-0.j, 0.25-0.j],
           [0.25+0.j, 0.25+0.j]])
    """
    return ifftn(a, s=s, axes=axes, norm=norm)


@_transform(returns="Complex, in a's precision. Lazy.")
def rfft2(
    a: Array,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: Norm | None = "backward",
) -> Array:
    """Half of the transform of real numbers over two axes; see :func:`rfftn`.

    >>> cubed.fft.rfft2(cubed.asarray([[1.0, 0.0], [0.0, 0.0]])).compute()
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """
    return rfftn(a, s=s, axes=axes, norm=norm)


@_transform(returns="Real, in a's precision. Lazy.")
def irfft2(
    a: Array,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: Norm | None = "backward",
) -> Array:
    """The inverse of :func:`rfft2`, over two axes; see :func:`irfftn`.

    >>> cubed.fft.irfft2(cubed.asarray([[1.0, 0.0], [0.0, 0.0]])).compute()
    array([[0.25, 0.25],
           [0.25, 0.25]])
    """
    return irfftn(a, s=s, axes=axes, norm=norm)
