"""Base of generators: random numbers of the engine, and of NumPy block by block."""

from __future__ import annotations

import math
import random as _python
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from cubed import _core
from cubed import array_api as xp
from cubed.array._array import Array
from cubed.array._cores import in_chunks
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import common_spec, is_scalar, to_numpy
from cubed.base._chunks import Chunks, Shape, longest, normalize_chunks, normalize_shape
from cubed.base._dtypes import name_of
from cubed.base._types import ChunksLike, DTypeLike, NDArray
from cubed.blocks._apply import map_blocks
from cubed.io._create import as_lazy
from cubed.spec import Spec

#: Distributions whose numbers are integers, among those that NumPy draws block by block.
_COUNTS = frozenset(
    ("binomial", "geometric", "hypergeometric", "logseries", "negative_binomial", "poisson", "zipf")
)

#: Bounds of numeric parameters of distributions that the engine draws.
_LEAST_OF = {"a": "more than 0", "scale": "0 or more", "sigma": "0 or more"}

Size = Shape | None
_LEAST = 2.0**-54  # replaces an exponential number 0, which has no logarithm


@dataclass(frozen=True)
class _Draw:
    """Draws NumPy's numbers for a block, from the seed and the block's number."""

    name: str
    seed: int
    params: tuple[Any, ...]  # None in place of arrays
    places: tuple[int, ...]  # positions of arrays in params
    options: tuple[tuple[str, Any], ...]
    #: Axes of the results that the blocks of parameters do not have.
    more: int

    def __call__(self, block: NDArray, *arrays: NDArray, block_id: tuple[int, ...]) -> NDArray:
        params = list(self.params)
        for place, value in zip(self.places, arrays, strict=True):
            params[place] = value
        number = block_id[: len(block_id) - self.more]
        seeds = np.random.SeedSequence(self.seed, spawn_key=number)
        draw = getattr(np.random.Generator(np.random.Philox(seeds)), self.name)
        return np.asarray(draw(*params, size=block.shape, **dict(self.options)))


def _parameter(value: Any) -> Any:
    """Converts a parameter to a number or a lazy array."""
    if isinstance(value, Array) or is_scalar(value) or isinstance(value, np.generic):
        return value
    values = to_numpy(value)
    return values[()] if values.ndim == 0 else as_lazy(values)


def drawn_integers(
    shape: tuple[int, ...],
    first: Any,
    last: Any,
    seed: int,
    extents: Chunks,
    dtype: np.dtype[Any],
) -> _core.Array:
    """Draws integers from `first` to `last` by the engine, in chunks."""
    low, high = (v if abs(v) < 2**63 else str(v) for v in (first, last))
    name = name_of(dtype)
    x = _core.call("integers", shape, low, high, seed, longest(extents), name, True)
    return in_chunks(x, extents)


class Draws:
    """Numbers and distributions that the engine draws, and draws by NumPy block by block."""

    def __init__(self, seed: Any = None, *, spec: Spec | None = None) -> None:
        if seed is None:
            seed = _python.getrandbits(128)
        if isinstance(seed, type) and issubclass(seed, np.random.BitGenerator):
            seed = seed()
        if isinstance(seed, np.random.SeedSequence):
            self._seeds = seed
        elif isinstance(seed, Draws):
            self._seeds = seed._seeds
        elif isinstance(seed, np.random.BitGenerator):
            self._seeds = np.random.SeedSequence(int(seed.random_raw()))
        else:
            refuse_foreign(seed, what="seed")
            self._seeds = np.random.SeedSequence(seed)
        self._spec = spec

    def __repr__(self) -> str:
        return f"cubed.random.Generator({self._seeds.entropy})"

    @property
    def bit_generator(self) -> np.random.BitGenerator:
        """NumPy's Philox with the same seed."""
        return np.random.Philox(self._seeds)

    def spawn(self, n_children: int) -> list[Self]:
        """Creates generators with their own seeds, derived from the seed of this generator.

        Parameters
        ----------
        n_children : int
            Number of generators.

        Returns
        -------
        list of Generator
            The generators.

        Examples
        --------
        >>> import cubed
        >>> len(cubed.random.default_rng(1).spawn(3))
        3
        """
        return [type(self)(s, spec=self._spec) for s in self._seeds.spawn(n_children)]

    # --- How ---------------------------------------------------------------------------------

    def _next(self) -> int:
        (child,) = self._seeds.spawn(1)
        return int(child.generate_state(1, np.uint64)[0] >> np.uint64(1))

    def _shape(self, size: Size, *params: Any) -> tuple[int, ...]:
        shapes = [p.shape for p in params if isinstance(p, Array)]
        common = xp.broadcast_shapes(*shapes)
        if size is None:
            return common
        shape = normalize_shape(size, "size")
        if shapes and xp.broadcast_shapes(common, shape) != shape:
            raise ValueError(f"size is {size}, but parameters have shape {common}")
        return shape

    def _plain(
        self,
        name: str,
        shape: tuple[int, ...],
        chunks: ChunksLike,
        dtype: DTypeLike = np.float64,
        spec: Spec | None = None,
    ) -> Array:
        """Draws uniform, normal or exponential numbers by the engine."""
        d = np.dtype(dtype)
        if d not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise TypeError(f"random numbers of type {d}: expected float32 or float64")
        extents = normalize_chunks(chunks, shape, d.itemsize)
        params = {"normal": (0.0, 1.0), "exponential": (1.0,)}.get(name, ())
        x = _core.call(name, shape, *params, self._next(), longest(extents), name_of(d))
        return Array._new(in_chunks(x, extents), self._spec if spec is None else spec)

    def _standard(
        self, name: str, size: Size, dtype: DTypeLike, out: Any, chunks: ChunksLike
    ) -> Array:
        if out is None:
            return self._plain(name, self._shape(size), chunks, dtype)
        if not isinstance(out, Array):
            raise TypeError(
                f"out is {type(out).__name__}, expected a lazy array, or the result used"
            )
        if size is not None and normalize_shape(size, "size") != out.shape:
            raise ValueError(f"size is {size}, but out has shape {out.shape}")
        out._rebind(self._plain(name, out.shape, out.chunks, out.dtype, out._spec)._x)
        return out

    def _of(
        self, drawn: str, size: Size, chunks: ChunksLike, times: int = 1, **params: Any
    ) -> tuple[list[Array], list[Any]]:
        """Draws `times` arrays in the shape of size and parameters; returns them and the
        parameters."""
        for name, least in _LEAST_OF.items():
            value: Any = params.get(name)
            if not (isinstance(value, np.generic) or is_scalar(value)):
                continue
            if not (value > 0 if least == "more than 0" else value >= 0):
                raise ValueError(f"{name} is {value}, expected {least}")
        given = [_parameter(p) for p in params.values()]
        shape, spec = self._shape(size, *given), common_spec(*given)
        return [self._plain(drawn, shape, chunks, spec=spec) for _ in range(times)], given

    def _by_blocks(
        self,
        name: str,
        params: tuple[Any, ...],
        size: Size,
        chunks: ChunksLike,
        of: DTypeLike = None,
        more: tuple[int, ...] = (),
        **options: Any,
    ) -> Array:
        """Draws numbers by NumPy, block by block; `more` are the extents of each draw."""
        given = [_parameter(p) for p in params] if not more else list(params)
        arrays = [p for p in given if isinstance(p, Array)]
        if not arrays:  # raises errors for invalid parameters immediately
            getattr(np.random.Generator(np.random.Philox(0)), name)(*given, **options)
        shape = self._shape(size, *arrays)
        d = np.dtype(of or (np.int64 if name in _COUNTS else np.float64))
        spec = common_spec(*arrays)
        where = xp.zeros(
            shape,
            dtype=np.int8,
            chunks=normalize_chunks(chunks, shape, d.itemsize * math.prod(more)),
            spec=self._spec if spec is None else spec,
        )
        draw = _Draw(
            name,
            self._next(),
            tuple(None if isinstance(p, Array) else p for p in given),
            tuple(k for k, p in enumerate(given) if isinstance(p, Array)),
            tuple(options.items()),
            len(more),
        )
        new: dict[str, Any] = {}
        if more:
            axes = tuple(range(len(shape), len(shape) + len(more)))
            new = {"new_axis": axes, "chunks": (*where.chunks, *more)}
        size_of = math.prod(where.chunksize) * math.prod(more) * d.itemsize
        return map_blocks(
            draw, where, *arrays, dtype=d, name=name, extra_projected_mem=2 * size_of, **new
        )

    # --- Numbers -----------------------------------------------------------------------------

    def random(
        self,
        size: Size = None,
        dtype: DTypeLike = np.float64,
        out: Any = None,
        *,
        chunks: ChunksLike = "auto",
    ) -> Array:
        """Draws numbers from the uniform distribution on [0, 1).

        Parameters
        ----------
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        dtype : dtype or None, default np.float64
            Data type of the result's elements.
        out : Array or None
            Lazy array that gets the result as its new lazy value.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size`. Lazy.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.random(size=(4, 6), chunks=2).shape
        (4, 6)
        """
        return self._standard("random", size, dtype, out, chunks)

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Size = None,
        dtype: DTypeLike = np.int64,
        endpoint: bool = False,
        *,
        chunks: ChunksLike = "auto",
    ) -> Array:
        """Draws integers from low (0 if `high` is None) up to but not including high.

        All integers are equally likely. With `endpoint`, `high` is included.

        Parameters
        ----------
        low : array_like
            The smallest number.
        high : array_like
            The upper end, excluded unless documented otherwise.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        dtype : dtype or None, default np.int64
            Data type of the result's elements.
        endpoint : bool, default False
            Whether `high` is included.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size` and type `dtype`. Lazy.

        Raises
        ------
        ValueError
            The range from `low` to `high` is empty, or `dtype` cannot hold it.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> dice = rng.integers(1, 7, size=1000, chunks=100)
        >>> int(dice.min().compute()), int(dice.max().compute())
        (1, 6)
        """
        first, last = (0, low) if high is None else (low, high)
        d = np.dtype(dtype)
        if d.kind not in "biu":
            raise TypeError(f"integers of type {d}: expected an integer type")
        if not all(is_scalar(v) or isinstance(v, np.generic) for v in (first, last)):
            return self._by_blocks(
                "integers", (first, last), size, chunks, d, dtype=d, endpoint=endpoint
            )
        shape = self._shape(size)
        extents = normalize_chunks(chunks, shape, d.itemsize)
        a, b = int(first), int(last) - (not endpoint)
        limits = (0, 1) if d.kind == "b" else (np.iinfo(d).min, np.iinfo(d).max)
        if a > b:
            raise ValueError(
                f"integers: low is {first} and high is {last}, expected a range with integers"
            )
        if a < limits[0] or b > limits[1]:
            raise ValueError(f"integers: {d} cannot hold all integers from {a} to {b}")
        wide = np.dtype(np.uint8) if d.kind == "b" else d
        x = drawn_integers(shape, a, b, self._next(), extents, wide)
        x = _core.call("astype", x, name_of(d)) if wide != d else x
        return Array._new(x, self._spec)

    def bytes(self, length: int) -> bytes:
        """Draws random bytes immediately.

        Parameters
        ----------
        length : int
            Number of bytes.

        Returns
        -------
        bytes
            `length` bytes.

        Examples
        --------
        >>> import cubed
        >>> len(cubed.random.default_rng(1).bytes(10))
        10
        """
        return np.random.Generator(np.random.Philox(self._next())).bytes(length)

    def standard_normal(
        self,
        size: Size = None,
        dtype: DTypeLike = np.float64,
        out: Any = None,
        *,
        chunks: ChunksLike = "auto",
    ) -> Array:
        """Draws numbers from the normal distribution with mean 0 and standard deviation 1.

        Parameters
        ----------
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        dtype : dtype or None, default np.float64
            Data type of the result's elements.
        out : Array or None
            Lazy array that gets the result as its new lazy value.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size`. Lazy.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.standard_normal(size=(4, 6), chunks=2).shape
        (4, 6)
        """
        return self._standard("normal", size, dtype, out, chunks)

    def standard_exponential(
        self,
        size: Size = None,
        dtype: DTypeLike = np.float64,
        method: str = "zig",
        out: Any = None,
        *,
        chunks: ChunksLike = "auto",
    ) -> Array:
        """Draws numbers from the exponential distribution with mean 1.

        Parameters
        ----------
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        dtype : dtype or None, default np.float64
            Data type of the result's elements.
        method : str, default "zig"
            Ignored: the algorithm in NumPy.
        out : Array or None
            Lazy array that gets the result as its new lazy value.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size`. Lazy.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.standard_exponential(size=(4, 6), chunks=2).shape
        (4, 6)
        """
        return self._standard("exponential", size, dtype, out, chunks)

    def standard_gamma(
        self,
        shape: Any,
        size: Size = None,
        dtype: DTypeLike = np.float64,
        out: Any = None,
        *,
        chunks: ChunksLike = "auto",
    ) -> Array:
        """Draws numbers from the gamma distribution with scale 1.

        Parameters
        ----------
        shape : array_like
            Shape parameter of the distribution.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        dtype : dtype or None, default np.float64
            Data type of the result's elements.
        out : None
            Not supported.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size`. Lazy.

        Raises
        ------
        TypeError
            `out` is given.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.standard_gamma(2.0, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        if out is not None:
            raise TypeError("standard_gamma: out is given, use the result")
        d = np.dtype(dtype)
        return self._by_blocks("standard_gamma", (shape,), size, chunks, d, dtype=d)

    # --- Distributions derived from these ----------------------------------------------------

    def uniform(
        self, low: Any = 0.0, high: Any = 1.0, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Draws numbers from the uniform distribution from low to high.

        Parameters
        ----------
        low : array_like, default 0.0
            The smallest number.
        high : array_like, default 1.0
            The upper end, excluded unless documented otherwise.
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
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.uniform(-1.0, 1.0, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        (u,), (a, b) = self._of("random", size, chunks, low=low, high=high)
        ends = [v for v in (low, high) if not isinstance(v, Array)]
        with np.errstate(over="ignore", invalid="ignore"):
            width = np.subtract(*ends[::-1]) if len(ends) == 2 else np.array(ends)
        if not np.isfinite(width).all():
            raise OverflowError("uniform: high - low is not finite, expected a finite range")
        return u * (b - a) + a

    def normal(
        self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Draws from the normal distribution with mean `loc` and standard deviation `scale`.

        Parameters
        ----------
        loc : array_like, default 0.0
            Location of the distribution.
        scale : array_like, default 1.0
            Scale of the distribution.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size`. Lazy.

        Raises
        ------
        ValueError
            `scale` is less than 0.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.normal(20.0, 2.5, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        (n,), (a, b) = self._of("normal", size, chunks, loc=loc, scale=scale)
        return n * b + a

    def exponential(
        self, scale: Any = 1.0, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Draws numbers from the exponential distribution with mean `scale`.

        Parameters
        ----------
        scale : array_like, default 1.0
            Scale of the distribution.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size`. Lazy.

        Raises
        ------
        ValueError
            `scale` is less than 0.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.exponential(2.0, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        (e,), (b,) = self._of("exponential", size, chunks, scale=scale)
        return e * b

    def lognormal(
        self, mean: Any = 0.0, sigma: Any = 1.0, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Draws numbers whose logarithms have a normal distribution.

        Parameters
        ----------
        mean : array_like, default 0.0
            Mean of the logarithms.
        sigma : array_like, default 1.0
            Standard deviation of the logarithms.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size`. Lazy.

        Raises
        ------
        ValueError
            `sigma` is less than 0.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.lognormal(0.0, 0.5, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        (n,), (a, b) = self._of("normal", size, chunks, mean=mean, sigma=sigma)
        return xp.exp(n * b + a)

    def laplace(
        self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Draws numbers from the Laplace distribution about `loc`.

        Parameters
        ----------
        loc : array_like, default 0.0
            Location of the distribution.
        scale : array_like, default 1.0
            Scale of the distribution.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size`. Lazy.

        Raises
        ------
        ValueError
            `scale` is less than 0.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.laplace(0.0, 2.0, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        (e, f), (a, b) = self._of("exponential", size, chunks, 2, loc=loc, scale=scale)
        return (e - f) * b + a

    def logistic(
        self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Draws numbers from the logistic distribution about `loc`.

        Parameters
        ----------
        loc : array_like, default 0.0
            Location of the distribution.
        scale : array_like, default 1.0
            Scale of the distribution.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size`. Lazy.

        Raises
        ------
        ValueError
            `scale` is less than 0.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.logistic(0.0, 2.0, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        (e, f), (a, b) = self._of("exponential", size, chunks, 2, loc=loc, scale=scale)
        return (_log(e) - _log(f)) * b + a

    def gumbel(
        self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Draws numbers from the Gumbel distribution with its mode at `loc`.

        Parameters
        ----------
        loc : array_like, default 0.0
            Location of the distribution.
        scale : array_like, default 1.0
            Scale of the distribution.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size`. Lazy.

        Raises
        ------
        ValueError
            `scale` is less than 0.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.gumbel(0.0, 2.0, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        (e,), (a, b) = self._of("exponential", size, chunks, loc=loc, scale=scale)
        return a - _log(e) * b

    def rayleigh(
        self, scale: Any = 1.0, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Draws numbers from the Rayleigh distribution with its mode at `scale`.

        Parameters
        ----------
        scale : array_like, default 1.0
            Scale of the distribution.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size`. Lazy.

        Raises
        ------
        ValueError
            `scale` is less than 0.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.rayleigh(2.0, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        (e,), (b,) = self._of("exponential", size, chunks, scale=scale)
        return xp.sqrt(e * 2.0) * b

    def weibull(self, a: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Draws numbers from the Weibull distribution with shape `a`.

        Parameters
        ----------
        a : array_like
            Shape parameter of the distribution.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size`. Lazy.

        Raises
        ------
        ValueError
            `a` is not more than 0.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.weibull(1.5, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        (e,), (k,) = self._of("exponential", size, chunks, a=a)
        return xp.exp(_log(e) / k)

    def pareto(self, a: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Draws numbers from the Pareto II (Lomax) distribution with shape `a`.

        Parameters
        ----------
        a : array_like
            Shape parameter of the distribution.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size`. Lazy.

        Raises
        ------
        ValueError
            `a` is not more than 0.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.pareto(3.0, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        (e,), (k,) = self._of("exponential", size, chunks, a=a)
        return xp.expm1(e / k)

    def power(self, a: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Draws numbers from the power distribution on [0, 1] with exponent ``a - 1``.

        Parameters
        ----------
        a : array_like
            Shape parameter of the distribution: the exponent plus 1.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size`. Lazy.

        Raises
        ------
        ValueError
            `a` is not more than 0.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.power(3.0, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        (e,), (k,) = self._of("exponential", size, chunks, a=a)
        return xp.exp(_log(-xp.expm1(-e)) / k)

    def standard_cauchy(self, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Draws numbers from the Cauchy distribution with its mode at 0.

        Parameters
        ----------
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
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.standard_cauchy(size=(4, 6), chunks=2).shape
        (4, 6)
        """
        (n, m), _ = self._of("normal", size, chunks, 2)
        return n / m

    def triangular(
        self, left: Any, mode: Any, right: Any, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Draws numbers from the triangular distribution from left to right with its peak at
        `mode`.

        Parameters
        ----------
        left : array_like
            The smallest number.
        mode : array_like
            The most likely number.
        right : array_like
            The largest number.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            An array of shape `size`. Lazy.

        Raises
        ------
        ValueError
            `left`, `mode` and `right` are not in ascending order.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.triangular(0.0, 1.0, 4.0, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        (u,), (a, m, b) = self._of("random", size, chunks, left=left, mode=mode, right=right)
        if not any(isinstance(v, Array) for v in (a, m, b)) and not (a <= m <= b and a < b):
            raise ValueError(f"triangular: {left}, {mode} and {right} do not ascend")
        rise = xp.sqrt(u * ((b - a) * (m - a))) + a
        fall = b - xp.sqrt((1.0 - u) * ((b - a) * (b - m)))
        return xp.where(u * (b - a) <= m - a, rise, fall)


def _log(x: Array) -> Array:
    return xp.log(xp.maximum(x, _LEAST))
