"""NumPy's older interface of random numbers: RandomState, and functions with one shared state."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import MethodType
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.base._types import ChunksLike, DTypeLike
from cubed.base._warnings import warn
from cubed.random._draws import Size
from cubed.random._generator import Generator


class RandomState(Generator):
    """Random numbers with the methods of :class:`numpy.random.RandomState` and lazy results.

    It has all methods of :class:`Generator`, which new programs should use.

    Parameters
    ----------
    seed : int or None
        As for :func:`default_rng`.
    spec : Spec or None
        Resources of computations.

    Examples
    --------
    >>> import cubed
    >>> state = cubed.random.RandomState(1)
    >>> state.randn(4, 6).shape
    (4, 6)
    """

    def __repr__(self) -> str:
        return f"cubed.random.RandomState({self._seeds.entropy})"

    def seed(self, seed: Any = None) -> None:
        """Restarts the sequence of numbers with a seed.

        Parameters
        ----------
        seed : int or None
            As for :func:`default_rng`.

        Examples
        --------
        >>> import cubed
        >>> state = cubed.random.RandomState(1)
        >>> first = state.random(3)
        >>> state.seed(1)
        >>> bool((first == state.random(3)).all().compute())
        True
        """
        self._seeds = type(self)(seed)._seeds

    def rand(self, *size: int, chunks: ChunksLike = "auto") -> Array:
        """Draws uniform numbers on [0, 1); the shape is given by integers.

        Parameters
        ----------
        *size : int
            Shape of the result.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size`. Lazy.

        Examples
        --------
        >>> import cubed
        >>> cubed.random.RandomState(1).rand(4, 6, chunks=2).shape
        (4, 6)
        """
        return self.random(size, chunks=chunks)

    def randn(self, *size: int, chunks: ChunksLike = "auto") -> Array:
        """Draws standard normal numbers; the shape is given by integers.

        Parameters
        ----------
        *size : int
            Shape of the result.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size`. Lazy.

        Examples
        --------
        >>> import cubed
        >>> cubed.random.RandomState(1).randn(4, 6, chunks=2).shape
        (4, 6)
        """
        return self.standard_normal(size, chunks=chunks)

    def randint(
        self,
        low: Any,
        high: Any = None,
        size: Size = None,
        dtype: DTypeLike = np.int64,
        *,
        chunks: ChunksLike = "auto",
    ) -> Array:
        """Draws integers from low (0 if `high` is None) up to but not including high.

        Parameters
        ----------
        low : array_like
            The smallest number.
        high : array_like
            The upper end, excluded.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        dtype : dtype or None, default np.int64
            Data type of the result's elements.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size` and type `dtype`. Lazy.

        Examples
        --------
        >>> import cubed
        >>> cubed.random.RandomState(1).randint(0, 10, size=5).dtype
        dtype('int64')
        """
        return self.integers(low, high, size, dtype, chunks=chunks)

    def random_integers(
        self, low: Any, high: Any = None, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Draws integers from low to high, both included; from 1 to `low` if `high` is None.

        Deprecated in NumPy: :meth:`randint` replaces it.

        Parameters
        ----------
        low : array_like
            The smallest number.
        high : array_like
            The largest number.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size`. Lazy.

        Examples
        --------
        >>> import cubed, warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     dice = cubed.random.RandomState(1).random_integers(6, size=10)
        >>> int(dice.max().compute()) <= 6
        True
        """
        message = "random_integers is deprecated: randint(low, high + 1) has the same numbers"
        warn(message, DeprecationWarning)
        first, last = (1, low) if high is None else (low, high)
        return self.integers(first, last, size, endpoint=True, chunks=chunks)

    def random_sample(self, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Draws uniform numbers on [0, 1); NumPy's older name of :meth:`Generator.random`.

        Parameters
        ----------
        size : int or tuple of int or None
            Shape of the result.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size`. Lazy.

        Examples
        --------
        >>> import cubed
        >>> cubed.random.RandomState(1).random_sample((4, 6), chunks=2).shape
        (4, 6)
        """
        return self.random(size, chunks=chunks)


#: Methods that are also functions of the module. The module defines its own functions
#: `exponential`, `integers`, `normal`, `random` and `uniform`.
FUNCTIONS = """
beta binomial chisquare choice dirichlet f gamma geometric gumbel hypergeometric laplace logistic
lognormal logseries multinomial multivariate_normal negative_binomial noncentral_chisquare
noncentral_f pareto permutation poisson power rand randint randn random_integers random_sample
rayleigh shuffle standard_cauchy standard_exponential standard_gamma standard_normal standard_t
triangular vonmises wald weibull zipf
""".split()


class _Shared:
    """The random state that the functions of the module share."""

    state: RandomState | None = None
    is_seeded = False


def _shared() -> RandomState:
    """The shared state; the first call draws its seed from Python's :mod:`random`."""
    if _Shared.state is None:
        _Shared.state = RandomState()
    return _Shared.state


def shared_seed() -> int | None:
    """The next seed of the shared state, or None if :func:`seed` has not been called."""
    return _shared()._next() if _Shared.is_seeded else None


def seed(seed: int | None = None) -> None:
    """Seeds the functions of this module, for calls without a seed.

    Parameters
    ----------
    seed : int or None
        As for :func:`default_rng`. None: a different seed in each process.

    Examples
    --------
    >>> import cubed
    >>> cubed.random.seed(1)
    >>> first = cubed.random.normal(size=3)
    >>> cubed.random.seed(1)
    >>> bool((first == cubed.random.normal(size=3)).all().compute())
    True
    """
    _shared().seed(seed)
    _Shared.is_seeded = seed is not None


def function(name: str) -> Callable[..., Any]:
    """Returns a method of the shared state as a function of the module."""
    own = getattr(RandomState, name)

    @wraps(own)
    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(_shared(), name)(*args, **kwargs)

    call.__qualname__ = name
    call.__module__ = "cubed.random"
    call.__wrapped__ = MethodType(own, RandomState)  # the signature of the method without `self`
    return call
