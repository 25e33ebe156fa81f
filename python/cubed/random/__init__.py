"""Random numbers, by Philox.

Values follow from the seed and the position of the element, whatever the chunks and the executor.
Without a seed, one is drawn from Python's :mod:`random`, so that ``random.seed`` makes a program
repeatable. :func:`default_rng` has all methods of NumPy's Generator. :class:`RandomState`, and
functions such as `beta`, have the names of NumPy's older interface. :func:`seed` seeds these
functions.
"""

from __future__ import annotations

import random as _python
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._cores import in_chunks
from cubed.array._operands import real_number
from cubed.base._chunks import Shape, longest, normalize_chunks, normalize_shape
from cubed.base._dtypes import name_of
from cubed.base._types import ChunksLike, DTypeLike
from cubed.random._draws import drawn_integers
from cubed.random._generator import Generator as Generator
from cubed.random._generator import default_rng as default_rng
from cubed.random._legacy import FUNCTIONS, function, shared_seed
from cubed.random._legacy import RandomState as RandomState
from cubed.random._legacy import seed as seed
from cubed.spec import Spec

__all__ = [
    "Generator", "RandomState", "default_rng", "exponential", "integers", "normal", "random",
    "seed", "uniform",
]  # fmt: skip

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...  # functions that FUNCTIONS names

else:
    globals().update({name: function(name) for name in FUNCTIONS})
    __all__ += FUNCTIONS


def _extents(size: Shape | None) -> tuple[int, ...]:
    return () if size is None else normalize_shape(size, "size")


def _seed(seed: int | None) -> int:
    if seed is None:
        seed = shared_seed()
    if seed is None:
        return _python.getrandbits(63)
    if not isinstance(seed, (int, np.integer)):
        raise TypeError(f"seed is {seed!r}, expected an integer")
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed is {seed}, expected 0 to 2**63 - 1")
    return int(seed)


def _make(
    name: str,
    size: Shape | None,
    dtype: DTypeLike,
    chunks: ChunksLike,
    seed: int | None,
    spec: Spec | None,
    *params: float,
    key: int | None = None,
) -> Array:
    shape, d = _extents(size), np.dtype(dtype)
    extents = normalize_chunks(chunks, shape, d.itemsize)
    first = _seed(seed) if key is None else None
    keys = () if key is None else (str(int(key) % 2**128),)
    x = _core.call(name, shape, *params, first, longest(extents), name_of(d), *keys)
    return Array._new(in_chunks(x, extents), spec)


def random(
    size: Shape | None,
    *,
    dtype: DTypeLike = np.float64,
    chunks: ChunksLike = "auto",
    seed: int | None = None,
    key: int | None = None,
    spec: Spec | None = None,
) -> Array:
    """Draws numbers from the uniform distribution on [0, 1).


    With `key`, chunk number b has the numbers of NumPy's ``Generator(Philox(key=key + b))``, which
    depend on the chunks. They equal the numbers of Cubed 0.28 with this root seed.

    Parameters
    ----------
    size : int or tuple of int
        Shape of the result.
    dtype : dtype or None, default np.float64
        Data type of the result's elements.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    seed : int or None
        Seed of the numbers; None: different numbers in each call.
    key : int or None
        Root of NumPy's generators, one for each chunk.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array
        An array of shape `size` and type `dtype`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.random.random((2, 3), chunks=1, seed=1).shape
    (2, 3)
    """
    if key is not None and seed is not None:
        raise ValueError("seed and key are both given")
    return _make("random", size, dtype, chunks, seed, spec, key=key)


def uniform(
    low: float = 0.0,
    high: float = 1.0,
    size: Shape | None = None,
    *,
    dtype: DTypeLike = np.float64,
    chunks: ChunksLike = "auto",
    seed: int | None = None,
    spec: Spec | None = None,
) -> Array:
    """Draws numbers from the uniform distribution from low to high.


    Parameters
    ----------
    low : float, default 0.0
        The smallest number.
    high : float, default 1.0
        The upper end, excluded.
    size : int or tuple of int or None
        Shape of the result.
    dtype : dtype or None, default np.float64
        Data type of the result's elements.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    seed : int or None
        Seed of the numbers; None: different numbers in each call.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array
        An array of shape `size` and type `dtype`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.random.uniform(-1, 1, size=100, seed=1)
    >>> bool(cubed.max(abs(x)) <= 1)
    True
    """
    a, b = real_number(low, "low"), real_number(high, "high")
    return _make("uniform", size, dtype, chunks, seed, spec, a, b)


def normal(
    loc: float = 0.0,
    scale: float = 1.0,
    size: Shape | None = None,
    *,
    dtype: DTypeLike = np.float64,
    chunks: ChunksLike = "auto",
    seed: int | None = None,
    spec: Spec | None = None,
) -> Array:
    """Draws numbers from the normal distribution with mean `loc` and standard deviation `scale`.


    Parameters
    ----------
    loc : float, default 0.0
        The mean.
    scale : float, default 1.0
        The standard deviation.
    size : int or tuple of int or None
        Shape of the result.
    dtype : dtype or None, default np.float64
        Data type of the result's elements.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    seed : int or None
        Seed of the numbers; None: different numbers in each call.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array
        An array of shape `size` and type `dtype`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.random.normal(5, 0.1, size=1000, seed=1)
    >>> bool(abs(cubed.mean(x) - 5) < 0.1)
    True
    """
    a, b = real_number(loc, "loc"), real_number(scale, "scale")
    return _make("normal", size, dtype, chunks, seed, spec, a, b)


def exponential(
    scale: float = 1.0,
    size: Shape | None = None,
    *,
    dtype: DTypeLike = np.float64,
    chunks: ChunksLike = "auto",
    seed: int | None = None,
    spec: Spec | None = None,
) -> Array:
    """Draws numbers from the exponential distribution with mean `scale`.


    Parameters
    ----------
    scale : float, default 1.0
        The mean.
    size : int or tuple of int or None
        Shape of the result.
    dtype : dtype or None, default np.float64
        Data type of the result's elements.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    seed : int or None
        Seed of the numbers; None: different numbers in each call.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array
        An array of shape `size` and type `dtype`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.random.exponential(2, size=1000, seed=1)
    >>> bool(cubed.min(x) >= 0)
    True
    """
    return _make("exponential", size, dtype, chunks, seed, spec, real_number(scale, "scale"))


def integers(
    low: int | Sequence[int] | None = None,
    high: int | None = None,
    size: Shape | None = None,
    *,
    shape: Shape | None = None,
    dtype: DTypeLike = None,
    endpoint: bool = False,
    chunks: ChunksLike = None,
    seed: int | None = None,
    spec: Spec | None = None,
) -> Array:
    """Draws integers from low (0 if `high` is None) up to but not including high.

    All integers are equally likely. With `shape`, or a sequence as the only argument, results are
    integers with random bits that depend only on their position, like in Cubed for Python 0.29.
    They are Thomas Wang's hash of the element's number in C order, int32 by default, and repeat
    after 2**32 elements.

    Parameters
    ----------
    low : int, sequence of int or None
        The smallest number, or the upper end if `high` is None.
    high : int or None
        The upper end, excluded unless `endpoint` is true.
    size : int or tuple of int or None
        Shape of the result.
    shape : int or tuple of int or None
        Shape of the result.
    dtype : dtype or None
        Data type of the result's elements.
    endpoint : bool, default False
        Whether `high` is included.
    chunks : int, tuple, str or None
        Chunks of the result, see :func:`cubed.rechunk`.
    seed : int or None
        Seed of the numbers; None: different numbers in each call.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array
        An array of shape `size` or `shape` and type `dtype` (default: int64). Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.random.integers(3, size=1000, seed=1)
    >>> cubed.unique(x).compute()
    array([0, 1, 2])
    """
    if shape is None and isinstance(low, Sequence):
        shape, low = low, None
    if shape is not None:
        if not (low is None and high is None and size is None and seed is None and not endpoint):
            raise ValueError("integers(shape) takes no low, high, size, endpoint or seed")
        return _hashed(normalize_shape(shape), np.int32 if dtype is None else dtype, chunks, spec)
    if low is None or isinstance(low, Sequence):
        raise TypeError("integers() needs low, below which the integers are, or a shape")
    first, last = (0, low) if high is None else (low, high)
    d = np.dtype(np.int64 if dtype is None else dtype)
    shape = _extents(size)
    extents = normalize_chunks("auto" if chunks is None else chunks, shape, d.itemsize)
    x = drawn_integers(shape, first, last if endpoint else last - 1, _seed(seed), extents, d)
    return Array._new(x, spec)


def _hashed(
    shape: tuple[int, ...], dtype: DTypeLike, chunks: ChunksLike, spec: Spec | None
) -> Array:
    """Returns Wang's hashes of the numbers of elements, modulo 2**32."""
    d = np.dtype(dtype)
    if d.kind not in "iu":
        raise TypeError(f"random integers of type {d}: expected integers")
    extents = normalize_chunks(chunks, shape, d.itemsize)
    n = Array._new(_core.index(shape, longest(extents), 0), spec).astype(np.uint32)
    n = (n ^ 61) ^ (n >> 16)
    n = n + (n << 3)
    n = n ^ (n >> 4)
    n = n * 0x27D4EB2D
    n = (n ^ (n >> 15)).astype(np.int32).astype(d)
    return Array._new(in_chunks(n._x, extents), spec)
