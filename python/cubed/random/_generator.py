"""A generator with the methods of NumPy's, whose arrays are lazy."""

from __future__ import annotations

import math
import random as _python
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cubed import _core
from cubed import array_api as xp
from cubed.array._array import Array
from cubed.array._cores import in_chunks
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import common_spec, is_scalar, normalize_axis, to_numpy
from cubed.base._chunks import Shape, longest, normalize_chunks, normalize_shape
from cubed.base._docs import F, documented
from cubed.base._dtypes import name_of
from cubed.base._types import ChunksLike, DTypeLike, NDArray
from cubed.blocks._apply import map_blocks
from cubed.io._create import as_lazy
from cubed.spec import Spec

if TYPE_CHECKING:
    from cubed._core import Distribution

#: Distributions whose numbers are integers, among those that NumPy draws block by block.
_COUNTS = frozenset(
    ("binomial", "geometric", "hypergeometric", "logseries", "negative_binomial", "poisson", "zipf")
)

#: What parameters must be that are numbers, of distributions that the engine draws.
_LEAST_OF = {"a": "more than 0", "scale": "0 or more", "sigma": "0 or more"}

Size = Shape | None
_LEAST = 2.0**-54  # in place of an exponential 0, whose logarithm there is not


@dataclass(frozen=True)
class _Draw:
    """NumPy's numbers of a block, which follow from the seed and the block's number."""

    name: str
    seed: int
    params: tuple[Any, ...]  # those that are arrays are None
    places: tuple[int, ...]  # of arrays in params
    options: tuple[tuple[str, Any], ...]
    #: Axes of the results that the block does not have.
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
    """A parameter: a number, or a lazy array."""
    if isinstance(value, Array) or is_scalar(value) or isinstance(value, np.generic):
        return value
    values = to_numpy(value)
    return values[()] if values.ndim == 0 else as_lazy(values)


_of_numbers = partial(
    documented,
    parameters={
        "a": "Shape of the distribution; of power laws the exponent.",
        "alpha": "Concentrations, which are in memory.",
        "b": "The second shape of the distribution.",
        "check_valid": '{"warn", "raise", "ignore"} : What happens where `cov` is no covariance.',
        "colors": "array_like of int : How many there are of each colour.",
        "cov": "Covariances, which are in memory.",
        "df": "Degrees of freedom.",
        "dfden": "Degrees of freedom of the denominator.",
        "dfnum": "Degrees of freedom of the numerator.",
        "endpoint": "Whether `high` is included.",
        "high": "The end; not included, unless it is said.",
        "kappa": "Concentration about the mode.",
        "lam": "The mean.",
        "left": "The least number.",
        "length": "How many.",
        "loc": "The middle of the distribution.",
        "low": "The least number.",
        "mean": "The mean; for `lognormal` of the logarithms.",
        "method": "Accepted; NumPy's word for how numbers are drawn.",
        "mode": "The most likely number.",
        "mu": "The mode, an angle.",
        "n": "array_like of int : How many trials or successes.",
        "n_children": "How many.",
        "nbad": "array_like of int : How many bad ones there are.",
        "ngood": "array_like of int : How many good ones there are.",
        "nonc": "Noncentrality.",
        "nsample": "int or array_like of int : How many are drawn.",
        "out": "Array or None : A lazy array that becomes the result, where the method takes one.",
        "p": "Probability of success.",
        "pvals": "Probabilities of the outcomes, which are in memory.",
        "right": "The greatest number.",
        "scale": "By what the distribution is stretched.",
        "shape": "array_like : Shape of the distribution.",
        "sigma": "Standard deviation of the logarithms.",
        "size": "Shape of the result; None: the one that parameters broadcast to.",
        "tol": "How far `cov` may be from a covariance.",
        "x": "Input array.",
    },
)
_REAL = "Of shape `size`. Lazy."
_COUNT = "int64, of shape `size`. Lazy."
_NEGATIVE = "ValueError: `{}` is less than 0."
_NOT_POSITIVE = "ValueError: `{}` is not more than 0."


def _draws(parameters: str, returns: str = _REAL, raises: str = "") -> Callable[[F], F]:
    """Completes the docstring of a distribution, with an example that has these parameters."""

    def complete(method: F) -> F:
        call = f"rng.{method.__name__}({parameters}{', ' * bool(parameters)}size=(4, 6), chunks=2)"
        example = f">>> rng = cubed.random.default_rng(1)\n>>> {call}.shape\n(4, 6)"
        return _of_numbers(returns=returns, raises=raises, example=example)(method)

    return complete


class Generator:
    """Random numbers with the methods and parameters of NumPy's Generator; see
    :func:`default_rng`.

    All methods that make arrays also take `chunks`. Arrays of parameters may be lazy, and broadcast
    with each other and with `size`. Numbers of `random`, `uniform`, `normal`, `exponential`,
    `integers` and what is made of these follow from the seed and the position, whatever the chunks;
    those of `beta`, `binomial`, `gamma`, `poisson` and others that NumPy draws block by block from
    the seed and the chunks. Each call goes on to other numbers.

    Examples
    --------
    >>> rng = cubed.random.Generator(np.random.PCG64(0))
    >>> rng.integers(6, size=(2, 3), chunks=2).shape
    (2, 3)
    """

    def __init__(self, seed: Any = None, *, spec: Spec | None = None) -> None:
        if seed is None:
            seed = _python.getrandbits(128)
        if isinstance(seed, np.random.SeedSequence):
            self._seeds = seed
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

    @_of_numbers(returns="With seeds that follow from this one's.")
    def spawn(self, n_children: int) -> list[Generator]:
        """So many generators with seeds of their own.

        >>> len(cubed.random.default_rng(1).spawn(3))
        3
        """
        return [Generator(s, spec=self._spec) for s in self._seeds.spawn(n_children)]

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
        name: Distribution,
        shape: tuple[int, ...],
        chunks: ChunksLike,
        dtype: DTypeLike = np.float64,
        spec: Spec | None = None,
    ) -> Array:
        """Uniform, normal or exponential numbers of the engine's."""
        d = np.dtype(dtype)
        if d not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise TypeError(f"random numbers of type {d}: expected float32 or float64")
        extents = normalize_chunks(chunks, shape, d.itemsize)
        first = 1.0 if name == "exponential" else 0.0  # its mean, or their least number or mean
        x = _core.random(name, shape, longest(extents), self._next(), first, 1.0)
        spec = self._spec if spec is None else spec
        return Array._new(in_chunks(_core.astype(x, name_of(d)), extents), spec)

    def _standard(
        self, name: Distribution, size: Size, dtype: DTypeLike, out: Any, chunks: ChunksLike
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
        self, drawn: Distribution, size: Size, chunks: ChunksLike, times: int = 1, **params: Any
    ) -> tuple[list[Array], list[Any]]:
        """Numbers of that name, so many times, in the shape of size and parameters, and these."""
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
        """Numbers that NumPy draws; with `more` axes that each draw has."""
        given = [_parameter(p) for p in params] if not more else list(params)
        arrays = [p for p in given if isinstance(p, Array)]
        if not arrays:  # wrong parameters are errors now
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

    @_draws("")
    def random(
        self,
        size: Size = None,
        dtype: DTypeLike = np.float64,
        out: Any = None,
        *,
        chunks: ChunksLike = "auto",
    ) -> Array:
        """Uniform in [0, 1)."""
        return self._standard("random", size, dtype, out, chunks)

    @_of_numbers(
        returns="Of shape `size` and `dtype`. Lazy.",
        raises="ValueError: There is none from `low` to `high`, or they are not all of that type.",
    )
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
        """Integers from low (0 if `high` is None) up to but not including high, all equally likely;
        with `endpoint` including it.

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
            raise ValueError(f"integers: low is {first} and high {last}: there is none")
        if a < limits[0] or b > limits[1]:
            raise ValueError(f"integers: {a} to {b} are not all in {d}")
        wide = np.dtype(np.uint8) if d.kind == "b" else d
        x = _core.random_integers(name_of(wide), shape, longest(extents), self._next(), a, b)
        x = _core.astype(x, name_of(d)) if wide != d else x
        return Array._new(in_chunks(x, extents), self._spec)

    @_of_numbers(returns="Of that length.")
    def bytes(self, length: int) -> bytes:
        """So many bytes, now.

        >>> len(cubed.random.default_rng(1).bytes(10))
        10
        """
        return np.random.Generator(np.random.Philox(self._next())).bytes(length)

    @_draws("")
    def standard_normal(
        self,
        size: Size = None,
        dtype: DTypeLike = np.float64,
        out: Any = None,
        *,
        chunks: ChunksLike = "auto",
    ) -> Array:
        """Normal with mean 0 and standard deviation 1."""
        return self._standard("normal", size, dtype, out, chunks)

    @_draws("")
    def standard_exponential(
        self,
        size: Size = None,
        dtype: DTypeLike = np.float64,
        method: str = "zig",
        out: Any = None,
        *,
        chunks: ChunksLike = "auto",
    ) -> Array:
        """Exponential with mean 1; the method changes nothing."""
        return self._standard("exponential", size, dtype, out, chunks)

    @_draws("2.0", raises="TypeError: `out` is given.")
    def standard_gamma(
        self,
        shape: Any,
        size: Size = None,
        dtype: DTypeLike = np.float64,
        out: Any = None,
        *,
        chunks: ChunksLike = "auto",
    ) -> Array:
        """Gamma with scale 1."""
        if out is not None:
            raise TypeError("standard_gamma: out is given, use the result")
        d = np.dtype(dtype)
        return self._by_blocks("standard_gamma", (shape,), size, chunks, d, dtype=d)

    # --- Distributions that are made of these ------------------------------------------------

    @_draws("-1.0, 1.0")
    def uniform(
        self, low: Any = 0.0, high: Any = 1.0, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Uniform from low to high."""
        (u,), (a, b) = self._of("random", size, chunks, low=low, high=high)
        ends = [v for v in (low, high) if not isinstance(v, Array)]
        with np.errstate(over="ignore", invalid="ignore"):
            width = np.subtract(*ends[::-1]) if len(ends) == 2 else np.array(ends)
        if not np.isfinite(width).all():
            raise OverflowError("uniform: high - low is not finite, expected a finite range")
        return u * (b - a) + a

    @_draws("20.0, 2.5", raises=_NEGATIVE.format("scale"))
    def normal(
        self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Normal with mean `loc` and standard deviation `scale`."""
        (n,), (a, b) = self._of("normal", size, chunks, loc=loc, scale=scale)
        return n * b + a

    @_draws("2.0", raises=_NEGATIVE.format("scale"))
    def exponential(
        self, scale: Any = 1.0, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Exponential with mean `scale`."""
        (e,), (b,) = self._of("exponential", size, chunks, scale=scale)
        return e * b

    @_draws("0.0, 0.5", raises=_NEGATIVE.format("sigma"))
    def lognormal(
        self, mean: Any = 0.0, sigma: Any = 1.0, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Numbers whose logarithms are normal."""
        (n,), (a, b) = self._of("normal", size, chunks, mean=mean, sigma=sigma)
        return xp.exp(n * b + a)

    @_draws("0.0, 2.0", raises=_NEGATIVE.format("scale"))
    def laplace(
        self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Laplace, about `loc`."""
        (e, f), (a, b) = self._of("exponential", size, chunks, 2, loc=loc, scale=scale)
        return (e - f) * b + a

    @_draws("0.0, 2.0", raises=_NEGATIVE.format("scale"))
    def logistic(
        self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Logistic, about `loc`."""
        (e, f), (a, b) = self._of("exponential", size, chunks, 2, loc=loc, scale=scale)
        return (_log(e) - _log(f)) * b + a

    @_draws("0.0, 2.0", raises=_NEGATIVE.format("scale"))
    def gumbel(
        self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Gumbel, with its mode at `loc`."""
        (e,), (a, b) = self._of("exponential", size, chunks, loc=loc, scale=scale)
        return a - _log(e) * b

    @_draws("2.0", raises=_NEGATIVE.format("scale"))
    def rayleigh(
        self, scale: Any = 1.0, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Rayleigh, with its mode at `scale`."""
        (e,), (b,) = self._of("exponential", size, chunks, scale=scale)
        return xp.sqrt(e * 2.0) * b

    @_draws("1.5", raises=_NOT_POSITIVE.format("a"))
    def weibull(self, a: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Weibull with shape `a`."""
        (e,), (k,) = self._of("exponential", size, chunks, a=a)
        return xp.exp(_log(e) / k)

    @_draws("3.0", raises=_NOT_POSITIVE.format("a"))
    def pareto(self, a: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Pareto II (Lomax) with shape `a`."""
        (e,), (k,) = self._of("exponential", size, chunks, a=a)
        return xp.expm1(e / k)

    @_draws("3.0", raises=_NOT_POSITIVE.format("a"))
    def power(self, a: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Powers in [0, 1], of exponent ``a - 1``."""
        (e,), (k,) = self._of("exponential", size, chunks, a=a)
        return xp.exp(_log(-xp.expm1(-e)) / k)

    @_draws("")
    def standard_cauchy(self, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Cauchy with its mode at 0."""
        (n, m), _ = self._of("normal", size, chunks, 2)
        return n / m

    @_draws("0.0, 1.0, 4.0", raises="ValueError: The three do not ascend.")
    def triangular(
        self, left: Any, mode: Any, right: Any, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Triangular from left to right, with its peak at `mode`."""
        (u,), (a, m, b) = self._of("random", size, chunks, left=left, mode=mode, right=right)
        if not any(isinstance(v, Array) for v in (a, m, b)) and not (a <= m <= b and a < b):
            raise ValueError(f"triangular: {left}, {mode} and {right} do not ascend")
        rise = xp.sqrt(u * ((b - a) * (m - a))) + a
        fall = b - xp.sqrt((1.0 - u) * ((b - a) * (b - m)))
        return xp.where(u * (b - a) <= m - a, rise, fall)

    # --- Distributions that NumPy draws block by block ---------------------------------------

    @_draws("2.0, 5.0")
    def beta(self, a: Any, b: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Beta."""
        return self._by_blocks("beta", (a, b), size, chunks)

    @_draws("10, 0.3", _COUNT)
    def binomial(self, n: Any, p: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Successes among n, each with probability p: int64."""
        return self._by_blocks("binomial", (n, p), size, chunks)

    @_draws("3")
    def chisquare(self, df: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Chi-square with so many degrees of freedom."""
        return self._by_blocks("chisquare", (df,), size, chunks)

    @_draws("3, 8")
    def f(self, dfnum: Any, dfden: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Fisher's F."""
        return self._by_blocks("f", (dfnum, dfden), size, chunks)

    @_draws("2.0, 0.5")
    def gamma(
        self, shape: Any, scale: Any = 1.0, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Gamma."""
        return self._by_blocks("gamma", (shape, scale), size, chunks)

    @_draws("0.3", _COUNT)
    def geometric(self, p: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Trials up to the first success, each with probability p: int64."""
        return self._by_blocks("geometric", (p,), size, chunks)

    @_draws("20, 30, 10", _COUNT)
    def hypergeometric(
        self, ngood: Any, nbad: Any, nsample: Any, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Good ones among `nsample` without replacement: int64."""
        return self._by_blocks("hypergeometric", (ngood, nbad, nsample), size, chunks)

    @_draws("0.3", _COUNT)
    def logseries(self, p: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Logarithmic series: int64."""
        return self._by_blocks("logseries", (p,), size, chunks)

    @_draws("5, 0.3", _COUNT)
    def negative_binomial(
        self, n: Any, p: Any, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Failures before n successes: int64."""
        return self._by_blocks("negative_binomial", (n, p), size, chunks)

    @_draws("3, 1.5")
    def noncentral_chisquare(
        self, df: Any, nonc: Any, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Noncentral chi-square."""
        return self._by_blocks("noncentral_chisquare", (df, nonc), size, chunks)

    @_draws("3, 8, 1.5")
    def noncentral_f(
        self, dfnum: Any, dfden: Any, nonc: Any, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Noncentral F."""
        return self._by_blocks("noncentral_f", (dfnum, dfden, nonc), size, chunks)

    @_draws("4.0", _COUNT)
    def poisson(self, lam: Any = 1.0, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Poisson with mean `lam`: int64."""
        return self._by_blocks("poisson", (lam,), size, chunks)

    @_draws("5")
    def standard_t(self, df: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Student's t."""
        return self._by_blocks("standard_t", (df,), size, chunks)

    @_draws("0.0, 4.0")
    def vonmises(
        self, mu: Any, kappa: Any, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Von Mises, from -pi to pi."""
        return self._by_blocks("vonmises", (mu, kappa), size, chunks)

    @_draws("3.0, 2.0")
    def wald(
        self, mean: Any, scale: Any, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Wald."""
        return self._by_blocks("wald", (mean, scale), size, chunks)

    @_draws("2.5", _COUNT)
    def zipf(self, a: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Zipf with exponent `a`: int64."""
        return self._by_blocks("zipf", (a,), size, chunks)

    # --- Of several numbers ------------------------------------------------------------------

    @_of_numbers(returns="float64, of shape `size` and an axis for the shares. Lazy.")
    def dirichlet(self, alpha: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Shares that add up to 1, along a new last axis.

        >>> cubed.random.default_rng(1).dirichlet([1.0, 2.0, 3.0], size=4, chunks=2).shape
        (4, 3)
        """
        a = to_numpy(alpha)
        return self._by_blocks("dirichlet", (a,), size or (), chunks, more=a.shape)

    @_of_numbers(returns="int64, of shape `size` and an axis for the outcomes. Lazy.")
    def multinomial(
        self, n: Any, pvals: Any, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """How often each of several outcomes is there in n trials, along a new last axis: int64.

        >>> cubed.random.default_rng(1).multinomial(10, [0.2, 0.8], size=4, chunks=2).shape
        (4, 2)
        """
        p = to_numpy(pvals)
        if p.ndim != 1 or np.ndim(n):
            raise ValueError("multinomial: expected a number of trials, and one axis of pvals")
        return self._by_blocks("multinomial", (n, p), size or (), chunks, np.int64, more=p.shape)

    @_of_numbers(returns="int64, of shape `size` and an axis for the colours. Lazy.")
    def multivariate_hypergeometric(
        self,
        colors: Any,
        nsample: int,
        size: Size = None,
        method: str = "marginals",
        *,
        chunks: ChunksLike = "auto",
    ) -> Array:
        """How many of each colour there are among `nsample`, along a new last axis: int64.

        >>> rng = cubed.random.default_rng(1)
        >>> rng.multivariate_hypergeometric([5, 3, 8], 4, size=4, chunks=2).shape
        (4, 3)
        """
        c = to_numpy(colors)
        return self._by_blocks(
            "multivariate_hypergeometric", (c, nsample), size or (), chunks, np.int64,
            more=c.shape, method=method,
        )  # fmt: skip

    @_of_numbers(returns="float64, of shape `size` and an axis for the vector. Lazy.")
    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Size = None,
        check_valid: Literal["warn", "raise", "ignore"] = "warn",
        tol: float = 1e-8,
        *,
        method: Literal["svd", "eigh", "cholesky"] = "svd",
        chunks: ChunksLike = "auto",
    ) -> Array:
        """Normal vectors, along a new last axis, with means and covariances that are in memory.

        >>> rng = cubed.random.default_rng(1)
        >>> rng.multivariate_normal([0, 1], [[2, 1], [1, 2]], size=4, chunks=2).shape
        (4, 2)
        """
        m, c = to_numpy(mean).astype(float), to_numpy(cov).astype(float)
        # NumPy checks what is given.
        np.random.default_rng(0).multivariate_normal(m, c, (), check_valid, tol, method=method)
        if method == "cholesky":
            factor = np.linalg.cholesky(c).T
        elif method == "eigh":
            s, u = np.linalg.eigh(c)
            factor = (u * np.sqrt(np.maximum(s, 0))).T
        else:
            _, s, vh = np.linalg.svd(c)
            factor = np.sqrt(s)[:, None] * vh
        shape = (*self._shape(size), len(m))
        extents = normalize_chunks(chunks, shape[:-1], 8 * len(m))
        n = self._plain("normal", shape, (*extents, -1))
        return xp.matmul(n, as_lazy(factor)) + m

    # --- Orders ------------------------------------------------------------------------------

    def _order(self, n: int) -> Array:
        return xp.argsort(self._plain("random", (n,), "auto"))

    @_of_numbers(returns="Of the array's shape and type, or int64. Lazy.")
    def permutation(self, x: Any, axis: int = 0) -> Array:
        """The parts of an array along an axis, or ``0, 1, ..., x - 1``, in random order.

        Parameters
        ----------
        x : array_like or int
            Input array, or how many numbers.
        axis : int, default 0
            Axis along which to move.

        Examples
        --------
        >>> order = cubed.random.default_rng(1).permutation(5)
        >>> sorted(order.compute().tolist())
        [0, 1, 2, 3, 4]
        """
        if np.ndim(x) == 0 and not isinstance(x, Array):
            return self._order(int(x))
        a = as_lazy(x)
        d = normalize_axis(axis, a.ndim)
        order = self._order(a.shape[d])
        return xp.take(a, _with_spec(order, a), axis=d)

    @_of_numbers(raises="TypeError: It is not a lazy array.")
    def shuffle(self, x: Array, axis: int = 0) -> None:
        """Puts the parts of a lazy array along an axis into random order, behind itself.

        >>> x = cubed.arange(5)
        >>> cubed.random.default_rng(1).shuffle(x)
        >>> sorted(x.compute().tolist())
        [0, 1, 2, 3, 4]
        """
        if not isinstance(x, Array):
            raise TypeError(f"shuffle of {type(x).__name__}, expected a lazy array")
        x._rebind(self.permutation(x, axis)._x)

    @_of_numbers(returns="Of its shape and type. Lazy.", raises="TypeError: `out` is given.")
    def permuted(self, x: Any, axis: int | None = None, out: Any = None) -> Array:
        """The elements of each line along an axis in an order of its own; None: of all.

        >>> x = cubed.random.default_rng(1).permuted(cubed.ones((2, 3)), axis=1)
        >>> x.shape
        (2, 3)
        """
        if out is not None:
            raise TypeError("permuted: out is given, use the result")
        a = as_lazy(x)
        if axis is None:
            return xp.reshape(self.permutation(xp.reshape(a, (-1,))), a.shape)
        d = normalize_axis(axis, a.ndim)
        keys = _with_spec(self._plain("random", a.shape, a.chunksize), a)
        return xp.take_along_axis(a, xp.argsort(keys, axis=d), axis=d)

    @_of_numbers(
        returns="Of shape `size` in place of the axis. Lazy.",
        raises="ValueError: There are too few, or `p` are no probabilities of all.",
    )
    def choice(
        self,
        a: Any,
        size: Size = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
        *,
        chunks: ChunksLike = "auto",
    ) -> Array:
        """Parts of an array along an axis, or of ``0, 1, ..., a - 1``.

        With or without replacement, with probabilities `p` of each, all equal for None.

        Parameters
        ----------
        a : array_like or int
            Input array, or how many numbers to choose from.
        replace : bool, default True
            Whether what was chosen may be chosen again.
        p : array_like or None
            Probabilities, which are in memory.
        shuffle : bool, default True
            Accepted: the order is always random.

        Examples
        --------
        >>> x = cubed.random.default_rng(1).choice(5, size=5, replace=False)
        >>> sorted(x.compute().tolist())
        [0, 1, 2, 3, 4]
        """
        whole = None if np.ndim(a) == 0 and not isinstance(a, Array) else as_lazy(a)
        d = 0 if whole is None else normalize_axis(axis, whole.ndim)
        n = int(a) if whole is None else whole.shape[d]
        shape = self._shape(size)
        count = math.prod(shape)
        if n < 1 and count:
            raise ValueError(f"choice: there are {n} to choose from")
        if not replace and count > n:
            raise ValueError(f"choice: {count} of {n} without replacement")
        shares = None if p is None else self._shares(p, n)
        if not replace and shares is not None and np.count_nonzero(shares) < count:
            raise ValueError(f"choice: {np.count_nonzero(shares)} have a probability, not {count}")
        if not replace:
            keys = self._plain("random" if shares is None else "exponential", (n,), "auto")
            if shares is not None:  # who comes first of those that come so often
                keys = keys / shares
            at = xp.reshape(xp.argsort(keys)[:count], shape)
        elif shares is None:
            at = self.integers(0, n, shape, chunks=chunks) if n else xp.zeros(shape, dtype=np.int64)
        else:
            total = np.cumsum(shares)
            u = self._plain("random", shape, chunks)
            at = xp.searchsorted(as_lazy(total / total[-1]), u, side="right")
        if whole is None:
            return at
        at = _with_spec(at, whole)
        out = xp.take(whole, xp.reshape(at, (-1,)), axis=d)
        return xp.reshape(out, (*whole.shape[:d], *shape, *whole.shape[d + 1 :]))

    @staticmethod
    def _shares(p: Any, n: int) -> NDArray:
        shares = to_numpy(p).astype(float)
        if shares.shape != (n,):
            raise ValueError(f"choice: p has shape {shares.shape} for {n} elements")
        if (shares < 0).any() or not abs(shares.sum() - 1) < 1e-8:
            raise ValueError("choice: p are no probabilities that add up to 1")
        return shares


def _log(x: Array) -> Array:
    return xp.log(xp.maximum(x, _LEAST))


def _with_spec(x: Array, like: Array) -> Array:
    """x, computed as another array is."""
    return x if like._spec is None or x._spec is not None else Array._new(x._x, like._spec)


def default_rng(seed: Any = None, *, spec: Spec | None = None) -> Generator:
    """A generator with the methods of NumPy's, whose arrays are lazy.

    Parameters
    ----------
    seed : int or None
        An integer or several, a SeedSequence or BitGenerator of NumPy's, or a generator, which is
        returned. None: drawn from Python's :mod:`random`.
    spec : Spec or None
        What computations may use.

    Returns
    -------
    Generator
        Numbers are not NumPy's; the distributions are.

    Examples
    --------
    >>> import cubed
    >>> rng = cubed.random.default_rng(1)
    >>> rng.normal(size=(2, 3), chunks=1).shape
    (2, 3)
    """
    return seed if isinstance(seed, Generator) else Generator(seed, spec=spec)
