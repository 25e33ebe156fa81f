"""A generator with the methods of :class:`numpy.random.Generator` and lazy results."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cubed import array_api as xp
from cubed.array._array import Array
from cubed.array._operands import normalize_axis, to_numpy
from cubed.base._chunks import normalize_chunks
from cubed.base._types import ChunksLike, NDArray
from cubed.io._create import as_lazy
from cubed.spec import Spec

if TYPE_CHECKING:
    pass
from cubed.random._draws import Draws, Size


class Generator(Draws):
    """Random numbers with the methods and parameters of NumPy's Generator; see
    :func:`default_rng`.

    All methods that make arrays also take `chunks`. Arrays of parameters may be lazy, and broadcast
    with each other and with `size`. Numbers of `random`, `uniform`, `normal`, `exponential`,
    `integers` and derived distributions depend on the seed and the position, not on the chunks.
    NumPy draws `beta`, `binomial`, `gamma`, `poisson` and others block by block: these numbers
    depend on the seed and the chunks. Each call draws different numbers.

    Examples
    --------
    >>> rng = cubed.random.Generator(np.random.PCG64(0))
    >>> rng.integers(6, size=(2, 3), chunks=2).shape
    (2, 3)
    """

    # --- Distributions that NumPy draws block by block ---------------------------------------

    def beta(self, a: Any, b: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Draws numbers from the beta distribution.

        Parameters
        ----------
        a : array_like
            The first shape parameter.
        b : array_like
            The second shape parameter.
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
        >>> rng.beta(2.0, 5.0, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        return self._by_blocks("beta", (a, b), size, chunks)

    def binomial(self, n: Any, p: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Draws from the binomial distribution: successes in n trials of probability p.

        Parameters
        ----------
        n : array_like of int
            Number of trials.
        p : array_like
            Probability of success.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            int64, of shape `size`. Lazy.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.binomial(10, 0.3, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        return self._by_blocks("binomial", (n, p), size, chunks)

    def chisquare(self, df: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Draws numbers from the chi-square distribution with `df` degrees of freedom.

        Parameters
        ----------
        df : array_like
            Degrees of freedom.
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
        >>> rng.chisquare(3, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        return self._by_blocks("chisquare", (df,), size, chunks)

    def f(self, dfnum: Any, dfden: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Draws numbers from Fisher's F distribution.

        Parameters
        ----------
        dfnum : array_like
            Degrees of freedom of the numerator.
        dfden : array_like
            Degrees of freedom of the denominator.
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
        >>> rng.f(3, 8, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        return self._by_blocks("f", (dfnum, dfden), size, chunks)

    def gamma(
        self, shape: Any, scale: Any = 1.0, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Draws numbers from the gamma distribution.

        Parameters
        ----------
        shape : array_like
            Shape parameter of the distribution.
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

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.gamma(2.0, 0.5, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        return self._by_blocks("gamma", (shape, scale), size, chunks)

    def geometric(self, p: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Draws from the geometric distribution: trials up to the first success.

        Parameters
        ----------
        p : array_like
            Probability of success.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            int64, of shape `size`. Lazy.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.geometric(0.3, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        return self._by_blocks("geometric", (p,), size, chunks)

    def hypergeometric(
        self, ngood: Any, nbad: Any, nsample: Any, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Draws from the hypergeometric distribution: good items in a sample without replacement.

        Parameters
        ----------
        ngood : array_like of int
            Number of good items.
        nbad : array_like of int
            Number of bad items.
        nsample : int or array_like of int
            Number of items to draw.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            int64, of shape `size`. Lazy.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.hypergeometric(20, 30, 10, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        return self._by_blocks("hypergeometric", (ngood, nbad, nsample), size, chunks)

    def logseries(self, p: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Draws numbers from the logarithmic series distribution.

        Parameters
        ----------
        p : array_like
            Parameter of the distribution, from 0 to less than 1.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            int64, of shape `size`. Lazy.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.logseries(0.3, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        return self._by_blocks("logseries", (p,), size, chunks)

    def negative_binomial(
        self, n: Any, p: Any, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Draws from the negative binomial distribution: failures before n successes.

        Parameters
        ----------
        n : array_like of int
            Number of successes.
        p : array_like
            Probability of success.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            int64, of shape `size`. Lazy.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.negative_binomial(5, 0.3, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        return self._by_blocks("negative_binomial", (n, p), size, chunks)

    def noncentral_chisquare(
        self, df: Any, nonc: Any, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Draws numbers from the noncentral chi-square distribution.

        Parameters
        ----------
        df : array_like
            Degrees of freedom.
        nonc : array_like
            Noncentrality.
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
        >>> rng.noncentral_chisquare(3, 1.5, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        return self._by_blocks("noncentral_chisquare", (df, nonc), size, chunks)

    def noncentral_f(
        self, dfnum: Any, dfden: Any, nonc: Any, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Draws numbers from the noncentral F distribution.

        Parameters
        ----------
        dfnum : array_like
            Degrees of freedom of the numerator.
        dfden : array_like
            Degrees of freedom of the denominator.
        nonc : array_like
            Noncentrality.
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
        >>> rng.noncentral_f(3, 8, 1.5, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        return self._by_blocks("noncentral_f", (dfnum, dfden, nonc), size, chunks)

    def poisson(self, lam: Any = 1.0, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Draws numbers from the Poisson distribution with mean `lam`.

        Parameters
        ----------
        lam : array_like, default 1.0
            The mean.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            int64, of shape `size`. Lazy.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.poisson(4.0, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        return self._by_blocks("poisson", (lam,), size, chunks)

    def standard_t(self, df: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Draws numbers from Student's t distribution.

        Parameters
        ----------
        df : array_like
            Degrees of freedom.
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
        >>> rng.standard_t(5, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        return self._by_blocks("standard_t", (df,), size, chunks)

    def vonmises(
        self, mu: Any, kappa: Any, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Draws angles from the von Mises distribution, from -pi to pi.

        Parameters
        ----------
        mu : array_like
            The mode, an angle.
        kappa : array_like
            Concentration about the mode.
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
        >>> rng.vonmises(0.0, 4.0, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        return self._by_blocks("vonmises", (mu, kappa), size, chunks)

    def wald(
        self, mean: Any, scale: Any, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Draws numbers from the Wald (inverse Gaussian) distribution.

        Parameters
        ----------
        mean : array_like
            The mean.
        scale : array_like
            Scale of the distribution.
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
        >>> rng.wald(3.0, 2.0, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        return self._by_blocks("wald", (mean, scale), size, chunks)

    def zipf(self, a: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Draws numbers from the Zipf distribution with exponent `a`.

        Parameters
        ----------
        a : array_like
            Exponent of the distribution, greater than 1.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            int64, of shape `size`. Lazy.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.zipf(2.5, size=(4, 6), chunks=2).shape
        (4, 6)
        """
        return self._by_blocks("zipf", (a,), size, chunks)

    # --- Distributions of vectors ------------------------------------------------------------

    def dirichlet(self, alpha: Any, size: Size = None, *, chunks: ChunksLike = "auto") -> Array:
        """Draws from the Dirichlet distribution: shares with sum 1, along a new last axis.

        Parameters
        ----------
        alpha : array_like
            Concentrations, in memory.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            float64, of shape `size` and an axis for the shares. Lazy.

        Examples
        --------
        >>> import cubed
        >>> cubed.random.default_rng(1).dirichlet([1.0, 2.0, 3.0], size=4, chunks=2).shape
        (4, 3)
        """
        a = to_numpy(alpha)
        return self._by_blocks("dirichlet", (a,), size or (), chunks, more=a.shape)

    def multinomial(
        self, n: Any, pvals: Any, size: Size = None, *, chunks: ChunksLike = "auto"
    ) -> Array:
        """Draws from the multinomial distribution: counts of outcomes in n trials, in a last axis.

        Parameters
        ----------
        n : array_like of int
            Number of trials.
        pvals : array_like
            Probabilities of the outcomes, in memory.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            int64, of shape `size` and an axis for the outcomes. Lazy.

        Examples
        --------
        >>> import cubed
        >>> cubed.random.default_rng(1).multinomial(10, [0.2, 0.8], size=4, chunks=2).shape
        (4, 2)
        """
        p = to_numpy(pvals)
        if p.ndim != 1 or np.ndim(n):
            raise ValueError("multinomial: expected a number of trials, and one axis of pvals")
        return self._by_blocks("multinomial", (n, p), size or (), chunks, np.int64, more=p.shape)

    def multivariate_hypergeometric(
        self,
        colors: Any,
        nsample: int,
        size: Size = None,
        method: str = "marginals",
        *,
        chunks: ChunksLike = "auto",
    ) -> Array:
        """Draws counts of each colour in a sample without replacement, along a new last axis.

        Parameters
        ----------
        colors : array_like of int
            Number of items of each colour.
        nsample : int or array_like of int
            Number of items to draw.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        method : str, default "marginals"
            NumPy's algorithm: ``"marginals"`` or ``"count"``.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            int64, of shape `size` and an axis for the colours. Lazy.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.multivariate_hypergeometric([5, 3, 8], 4, size=4, chunks=2).shape
        (4, 3)
        """
        c = to_numpy(colors)
        return self._by_blocks(
            "multivariate_hypergeometric", (c, nsample), size or (), chunks, np.int64,
            more=c.shape, method=method,
        )  # fmt: skip

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
        """Draws vectors from a multivariate normal distribution, along a new last axis.

        Parameters
        ----------
        mean : array_like
            Means of the elements of a vector, in memory.
        cov : array_like
            Covariances, in memory.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        check_valid : {"warn", "raise", "ignore"}, default "warn"
            What to do if `cov` is not a covariance matrix.
        tol : float, default 1e-08
            Tolerance of the check of `cov`.
        method : Literal['svd', 'eigh', 'cholesky'], default "svd"
            Factorization of `cov` by which the vectors are computed.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            float64, of shape `size` and an axis for the vector. Lazy.

        Examples
        --------
        >>> import cubed
        >>> rng = cubed.random.default_rng(1)
        >>> rng.multivariate_normal([0, 1], [[2, 1], [1, 2]], size=4, chunks=2).shape
        (4, 2)
        """
        m, c = to_numpy(mean).astype(float), to_numpy(cov).astype(float)
        # NumPy checks the arguments.
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

    def permutation(self, x: Any, axis: int = 0) -> Array:
        """Permutes the slices of an array along an axis, or ``0, 1, ..., x - 1``, randomly.

        Parameters
        ----------
        x : array_like or int
            Input array, or the number of integers.
        axis : int, default 0
            Axis along which slices are permuted.

        Returns
        -------
        Array
            Same shape and type as `x`, or int64 if `x` is a number. Lazy.

        Examples
        --------
        >>> import cubed
        >>> order = cubed.random.default_rng(1).permutation(5)
        >>> sorted(order.compute().tolist())
        [0, 1, 2, 3, 4]
        """
        if np.ndim(x) == 0 and not isinstance(x, Array):
            return self._order(int(x))
        a = as_lazy(x)
        d = normalize_axis("permutation", axis, a.ndim)
        order = self._order(a.shape[d])
        return xp.take(a, _with_spec(order, a), axis=d)

    def shuffle(self, x: Array, axis: int = 0) -> None:
        """Shuffles the slices of a lazy array along an axis; the array gets a new lazy value.

        Parameters
        ----------
        x : Array
            Input array.
        axis : int, default 0
            Axis along which to compute; negative numbers count from the last.

        Raises
        ------
        TypeError
            `x` is not a lazy array.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.arange(5)
        >>> cubed.random.default_rng(1).shuffle(x)
        >>> sorted(x.compute().tolist())
        [0, 1, 2, 3, 4]
        """
        if not isinstance(x, Array):
            raise TypeError(f"shuffle of {type(x).__name__}, expected a lazy array")
        x._rebind(self.permutation(x, normalize_axis("shuffle", axis, x.ndim))._x)

    def permuted(self, x: Any, axis: int | None = None, out: Any = None) -> Array:
        """Shuffles the elements of each 1-D slice along an axis independently; None: all elements.

        Parameters
        ----------
        x : array_like
            Input array.
        axis : int or None
            Axis along which to compute. None: the flattened array.
        out : None
            Not supported.

        Returns
        -------
        Array
            Same shape and type as the argument. Lazy.

        Raises
        ------
        TypeError
            `out` is given.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.random.default_rng(1).permuted(cubed.ones((2, 3)), axis=1)
        >>> x.shape
        (2, 3)
        """
        if out is not None:
            raise TypeError("permuted: out is given, use the result")
        a = as_lazy(x)
        if axis is None:
            return xp.reshape(self.permutation(xp.reshape(a, (-1,))), a.shape)
        d = normalize_axis("permuted", axis, a.ndim)
        keys = _with_spec(self._plain("random", a.shape, a.chunksize), a)
        return xp.take_along_axis(a, xp.argsort(keys, axis=d), axis=d)

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
        """Chooses random slices of an array along an axis, or numbers of ``0, 1, ..., a - 1``.

        Slices are chosen with or without replacement, with the probabilities `p`; None: all equal.

        Parameters
        ----------
        a : array_like or int
            Input array, or the number of integers to choose from.
        size : int or tuple of int or None
            Shape of the result; None: the broadcast shape of the parameters.
        replace : bool, default True
            Whether elements may be chosen more than once.
        p : array_like or None
            Probabilities, in memory.
        axis : int, default 0
            Axis along which to compute; negative numbers count from the last.
        shuffle : bool, default True
            Ignored: the order is always random.
        chunks : int, tuple, str or None, default "auto"
            Chunks of the result, see :func:`cubed.rechunk`.

        Returns
        -------
        Array
            The shape of `a`, with `size` in place of the axis. For a number, int64 of shape `size`.
            Lazy.

        Raises
        ------
        ValueError
            There are too few elements, or `p` is not a probability for each element.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.random.default_rng(1).choice(5, size=5, replace=False)
        >>> sorted(x.compute().tolist())
        [0, 1, 2, 3, 4]
        """
        whole = None if np.ndim(a) == 0 and not isinstance(a, Array) else as_lazy(a)
        d = 0 if whole is None else normalize_axis("choice", axis, whole.ndim)
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
            if shares is not None:  # exponential numbers with rates `shares`
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


def _with_spec(x: Array, like: Array) -> Array:
    """Returns x with the spec of another array."""
    return x if like._spec is None or x._spec is not None else Array._new(x._x, like._spec)


def default_rng(seed: Any = None, *, spec: Spec | None = None) -> Generator:
    """A generator with the methods of :class:`numpy.random.Generator` and lazy results.

    Parameters
    ----------
    seed : int or None
        An integer or several, a SeedSequence or BitGenerator of NumPy's, or a generator, which is
        returned. None: drawn from Python's :mod:`random`.
    spec : Spec or None
        Resources of computations.

    Returns
    -------
    Generator
        The generator. Its distributions are NumPy's, but its numbers differ.

    Examples
    --------
    >>> import cubed
    >>> rng = cubed.random.default_rng(1)
    >>> rng.normal(size=(2, 3), chunks=1).shape
    (2, 3)
    """
    return seed if isinstance(seed, Generator) else Generator(seed, spec=spec)
