"""Linear algebra. Stacks of matrices may be of any length.

A matrix that is larger than a task's memory is factored in panels of columns by `cholesky`, `det`,
`inv`, `qr`, `slogdet` and `solve`. `eigvalsh` and `svdvals` make a band matrix of it, which a task
must hold in a width of 16 at least, and of a 128th of the matrix; the others refuse it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from cubed import _core
from cubed.array._array import Array
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import (
    common_spec,
    core_of,
    lazy,
    normalize_axes,
    normalize_axis,
    real_number,
    scalar_array,
)
from cubed.array_api._edges import without_infinities
from cubed.array_api.linear_algebra_functions import (
    matmul,
    matrix_transpose,
    tensordot,
    vecdot,
)
from cubed.base._docs import OPERANDS, documented
from cubed.base._dtypes import dtype_of, kind_of, name_of
from cubed.base._types import DTypeLike
from cubed.io._create import as_lazy
from cubed.spec import Spec

__all__ = [
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "lstsq", "lu", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose",
    "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve", "solve_triangular", "svd",
    "svd_compressed", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot",
    "vector_norm",
]  # fmt: skip


_of_matrices = partial(documented, parameters={"x": "Matrices, in the last two axes."})


_TOO_LARGE = "MemoryError: Where a task cannot hold a matrix."
_TOO_LARGE_BUT_ROWS = f"{_TOO_LARGE[:-1]}, unless it can be cut into blocks of rows."


class EigResult(NamedTuple):
    """Eigenvalues, and eigenvectors as columns."""

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """Eigenvalues, which ascend, and orthonormal eigenvectors as columns."""

    eigenvalues: Array
    eigenvectors: Array


class LUResult(NamedTuple):
    """Permutations, lower triangles with ones on the diagonal, and upper triangles."""

    P: Array
    L: Array
    U: Array


class QRResult(NamedTuple):
    """Orthonormal columns, and an upper triangle."""

    Q: Array
    R: Array


class SlogdetResult(NamedTuple):
    """Signs of determinants, and logarithms of their absolute values."""

    sign: Array
    logabsdet: Array


class SVDResult(NamedTuple):
    """Left singular vectors as columns, singular values, right ones as rows."""

    U: Array
    S: Array
    Vh: Array


def _task_mem(spec: Spec | None) -> int:
    return (spec or Spec()).task_mem


def _axes(axis: int | Sequence[int] | None, ndim: int) -> tuple[int, ...] | None:
    if axis is None:
        return None
    if isinstance(axis, Sequence):
        return normalize_axes(tuple(axis), ndim)
    return (normalize_axis(axis, ndim),)


def _several(cores: Sequence[_core.Array], spec: Spec | None) -> tuple[Array, ...]:
    return tuple(Array._new(c, spec) for c in cores)


def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """The triangular factors of positive definite matrices.

    Lazy. A matrix that a task cannot hold is factored in panels of columns.

    Parameters
    ----------
    x : Array
        ``(..., n, n)``, of which the triangle that is made is read.
    upper : bool, default False
        Make the upper triangle, not the lower one.

    Returns
    -------
    Array
        ``(..., n, n)``, with a positive diagonal; float64 for integers, else x's type.

    Raises
    ------
    MemoryError
        If a task cannot hold even one column. Computing raises LinAlgError if a matrix is not
        positive definite.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.cholesky(x).compute().round(6)
    array([[1.414214, 0.      ],
           [0.707107, 1.224745]])
    """
    x = lazy(x)
    return x._like(_core.cholesky(x._x, upper, x.spec.task_mem))


@documented()
def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Cross products of the vectors of three elements along an axis, counted from the end.

    Parameters
    ----------
    axis : int or None, default -1
        Where all vectors are, in place of the other three.

    Returns
    -------
    Array
        Of the shape that both broadcast to, and of the type that they promote to. Lazy.

    Examples
    --------
    >>> cubed.linalg.cross(cubed.asarray([1, 0, 0]), cubed.asarray([0, 1, 0])).compute()
    array([0, 0, 1])
    """
    return Array._new(_core.along("cross", core_of(x1), core_of(x2), axis), common_spec(x1, x2))


@_of_matrices()
def det(x: Array, /) -> Array:
    """Determinants.

    Returns
    -------
    Array
        ``(...)`` of ``(..., n, n)``: float64 for integers, else x's type. Lazy. A matrix that a
        task cannot hold is factored in panels.

    Examples
    --------
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.det(x).compute().round(6)
    np.float64(3.0)
    """
    x = lazy(x)
    return x._like(_core.matrices("det", x._x, x.spec.task_mem))


@_of_matrices(returns="Of x's type, without the last two axes and with one at the end. Lazy.")
def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """The diagonals that are `offset` right of the main one.

    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.diagonal(x).compute().round(6)
    array([2., 2.])
    """
    x = lazy(x)
    return x._like(_core.diagonal(False, x._x, offset, None))


@_of_matrices(raises=_TOO_LARGE, returns="``(..., n)`` and ``(..., n, n)``. Lazy.")
def eig(x: Array, /) -> EigResult:
    """Eigenvalues and eigenvectors of square matrices: complex numbers.

    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> values, vectors = cubed.linalg.eig(x)
    >>> values.shape, vectors.shape
    ((2,), (2, 2))
    """
    x = lazy(x)
    return EigResult(*(x._like(c) for c in _core.factors("eig", x._x, False, x.spec.task_mem)))


@_of_matrices(raises=_TOO_LARGE)
def eigh(x: Array, /) -> EighResult:
    """Eigenvalues and eigenvectors of Hermitian matrices, of which the lower triangle is read.

    Returns
    -------
    EighResult
        ``(..., n)``, real, and ``(..., n, n)``: float64 for integers, else x's precision. Lazy.

    Examples
    --------
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.eigh(x).eigenvalues.compute().round(6)
    array([1., 3.])
    """
    x = lazy(x)
    return EighResult(*(x._like(c) for c in _core.factors("eigh", x._x, False, x.spec.task_mem)))


@_of_matrices(raises=_TOO_LARGE, returns="``(..., n)``. Lazy.")
def eigvals(x: Array, /) -> Array:
    """Eigenvalues of square matrices: complex numbers.

    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.eigvals(x).compute().real.round(6)
    array([3., 1.])
    """
    x = lazy(x)
    return x._like(_core.matrices("eigvals", x._x, x.spec.task_mem))


@_of_matrices(raises=_TOO_LARGE)
def eigvalsh(x: Array, /) -> Array:
    """Eigenvalues of Hermitian matrices, of which the lower triangle is read.

    A matrix that a task cannot hold becomes a band matrix, of which a task holds the band: as wide
    as a 128th of the matrix, and 16 at least.

    Returns
    -------
    Array
        ``(..., n)``, real: float64 for integers, else x's precision. Lazy.

    Examples
    --------
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.eigvalsh(x).compute().round(6)
    array([1., 3.])
    """
    x = lazy(x)
    return x._like(_core.matrices("eigvalsh", x._x, x.spec.task_mem))


@_of_matrices()
def inv(x: Array, /) -> Array:
    """Inverses, ``(..., n, n)``: float64 for integers, else of x's type.

    Returns
    -------
    Array
        Lazy. A matrix that a task cannot hold is factored in panels of columns: MemoryError if not
        even one column fits. Computing raises LinAlgError if a matrix is singular.

    Examples
    --------
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.inv(x).compute().round(6)
    array([[ 0.666667, -0.333333],
           [-0.333333,  0.666667]])
    """
    x = lazy(x)
    return x._like(_core.matrices("inv", x._x, x.spec.task_mem))


@_of_matrices()
def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """Norms of matrices: "fro", "nuc", or 1, 2, inf and their negatives.

    Parameters
    ----------
    ord : int, float or str, default "fro"
        Which norm.

    Returns
    -------
    Array
        Real, without the last two axes. Lazy.

    Raises
    ------
    MemoryError
        Where singular values are wanted of a matrix that a task cannot hold.

    Examples
    --------
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.matrix_norm(x).compute().round(6)
    np.float64(3.162278)
    """
    x = lazy(x)
    return x._like(_core.matrix_norm(x._x, ord, keepdims, x.spec.task_mem))


@documented()
def matrix_power(x: Array, n: int, /) -> Array:
    """Products of n times the same matrix; of its inverse if n is negative.

    Parameters
    ----------
    n : int
        The exponent; negative ones are powers of the inverse.

    Returns
    -------
    Array
        ``(..., n, n)`` of x's type; inverses of integers are float64. Lazy.

    Examples
    --------
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.matrix_power(x, 2).compute()
    array([[5., 4.],
           [4., 5.]])
    """
    x = lazy(x)
    return x._like(_core.matrix_power(x._x, n, x.spec.task_mem))


def _limit(x: Array, rtol: Any) -> _core.Array | None:
    if rtol is None:
        return None
    if isinstance(rtol, (int, float)):
        real = {"complex64": "float32", "complex128": "float64"}.get(x._x.dtype, x._x.dtype)
        real = real if kind_of(x.dtype) in "fc" else "float64"  # in which integers are computed
        return scalar_array(float(rtol), dtype_of(real))
    return core_of(rtol)


@_of_matrices(raises=_TOO_LARGE)
def matrix_rank(x: Array, /, *, rtol: Any = None) -> Array:
    """How many singular values are more than `rtol` times the largest.

    Parameters
    ----------
    x : Array
        Input array.
    rtol : float, Array or None
        Singular values less than that part of the largest count as 0.

    Returns
    -------
    Array
        int64, without the last two axes. Lazy.

    Examples
    --------
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.matrix_rank(x).compute().round(6)
    np.int64(2)
    """
    x = lazy(x)
    return x._like(_core.by_rank(False, x._x, _limit(x, rtol), x.spec.task_mem))


@documented(returns="``(n, m)`` of the type that both promote to. Lazy.")
def outer(x1: Array, x2: Array, /) -> Array:
    """All products of the elements of two vectors.

    >>> cubed.linalg.outer(cubed.asarray([1, 2]), cubed.asarray([3, 4])).compute()
    array([[3, 4],
           [6, 8]])
    """
    return Array._new(_core.pair("outer", core_of(x1), core_of(x2)), common_spec(x1, x2))


@_of_matrices(raises=_TOO_LARGE)
def pinv(x: Array, /, *, rtol: Any = None, rcond: Any = None) -> Array:
    """Moore-Penrose inverses; singular values up to `rtol` (or `rcond`) times the largest count as
    0.

    Parameters
    ----------
    x : Array
        Input array.
    rtol : float, Array or None
        Singular values less than that part of the largest count as 0.
    rcond : float or None
        Singular values less than that part of the largest count as 0.

    Returns
    -------
    Array
        ``(..., m, n)`` of ``(..., n, m)``. Lazy.

    Examples
    --------
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.pinv(x).compute().round(6)
    array([[ 0.666667, -0.333333],
           [-0.333333,  0.666667]])
    """
    x = lazy(x)
    return x._like(
        _core.by_rank(True, x._x, _limit(x, rcond if rtol is None else rtol), x.spec.task_mem)
    )


@documented()
def qr(x: Array, /, *, mode: str = "reduced") -> QRResult:
    """Orthonormal columns and an upper triangle; "complete": as many columns as rows.

    Parameters
    ----------
    mode : {"reduced", "complete"}, default "reduced"
        Whether `Q` has as many columns as are needed, or is square.

    Returns
    -------
    QRResult
        ``(..., n, k)`` and ``(..., k, m)`` of ``(..., n, m)``, with k the smaller extent, or n for
        "complete": float64 for integers, else x's type. Lazy. A matrix that a task cannot hold is
        factored in blocks of rows, or in panels of columns.

    Examples
    --------
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> q, r = cubed.linalg.qr(x)
    >>> cubed.allclose(q @ r, x).compute()
    array(True)
    """
    x = lazy(x)
    if mode not in ("reduced", "complete"):
        raise ValueError(f"mode is {mode!r}, expected 'reduced' or 'complete'")
    return QRResult(
        *(x._like(c) for c in _core.factors("qr", x._x, mode == "complete", x.spec.task_mem))
    )


@_of_matrices()
def slogdet(x: Array, /) -> SlogdetResult:
    """Signs of determinants, and logarithms of their absolute values.

    Returns
    -------
    SlogdetResult
        ``(...)`` of ``(..., n, n)``: float64 for integers, else x's type, logarithms real. Lazy. A
        matrix that a task cannot hold is factored in panels.

    Examples
    --------
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> sign, logarithm = cubed.linalg.slogdet(x)
    >>> cubed.exp(logarithm).compute().round(6)
    np.float64(3.0)
    """
    x = lazy(x)
    return SlogdetResult(
        *(x._like(c) for c in _core.factors("slogdet", x._x, False, x.spec.task_mem))
    )


def solve(x1: Array, x2: Array, /) -> Array:
    """What x1 has to be multiplied with to give x2: a vector, or the columns of matrices.

    Parameters
    ----------
    x1 : Array
        Matrices of the equations.
    x2 : Array
        Right-hand sides.

    Returns
    -------
    Array
        Of x2's shape but for stacks, which broadcast: float64 for integers, else the type that both
        promote to. Lazy; computing raises LinAlgError if a matrix is singular.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.solve(x, cubed.asarray([3.0, 3.0])).compute().round(6)
    array([1., 1.])
    """
    spec = common_spec(x1, x2)
    return Array._new(_core.solve(core_of(x1), core_of(x2), _task_mem(spec)), spec)


@documented(raises=_TOO_LARGE_BUT_ROWS)
def svd(x: Array, /, *, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Singular values, which descend, and singular vectors; without `compute_uv` the values alone.

    Parameters
    ----------
    full_matrices : bool, default True
        Whether `U` and `Vh` are square.
    compute_uv : bool, default True
        Whether `U` and `Vh` are wanted, too.

    Returns
    -------
    Array or tuple of Array
        ``(..., n, k)``, ``(..., k)`` and ``(..., k, m)`` with k the smaller extent, or square
        matrices for `full_matrices`. Lazy.

    Examples
    --------
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> u, s, vh = cubed.linalg.svd(x)
    >>> s.compute().round(6)
    array([3., 1.])
    """
    x = lazy(x)
    if not compute_uv:
        return svdvals(x)
    return SVDResult(
        *(x._like(c) for c in _core.factors("svd", x._x, full_matrices, x.spec.task_mem))
    )


@_of_matrices(raises=_TOO_LARGE_BUT_ROWS)
def svdvals(x: Array, /) -> Array:
    """Singular values, which descend.

    Those of a matrix that a task cannot hold, nor blocks of its rows, are those of a band matrix:
    see :func:`eigvalsh`.

    Returns
    -------
    Array
        ``(..., k)``, real, with k the smaller extent. Lazy.

    Examples
    --------
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.svdvals(x).compute().round(6)
    array([3., 1.])
    """
    x = lazy(x)
    return x._like(_core.matrices("svdvals", x._x, x.spec.task_mem))


@_of_matrices(returns="Without the last two axes; integers become int64 or uint64. Lazy.")
def trace(x: Array, /, *, offset: int = 0, dtype: DTypeLike = None) -> Array:
    """Sums of the diagonals that are `offset` right of the main one.

    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.trace(x).compute().round(6)
    np.float64(4.0)
    """
    x = lazy(x)
    return x._like(_core.diagonal(True, x._x, offset, None if dtype is None else name_of(dtype)))


@documented()
def vector_norm(
    x: Array,
    /,
    *,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    ord: float = 2,
) -> Array:
    """Norms of the vectors along axes, or of all elements.

    Parameters
    ----------
    axis : int, tuple of int or None
        Axis or axes along which to compute; negative ones count from the last.
    ord : int, float or str, default 2
        Which norm.

    Returns
    -------
    Array
        Real, without the axes (`keepdims`: with one element along them). Lazy.

    Examples
    --------
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.vector_norm(x).compute().round(6)
    np.float64(3.162278)
    """
    x = lazy(x)
    axes = _axes(axis, x.ndim)
    return x._like(_core.vector_norm(x._x, real_number(ord, "ord"), axes, keepdims))


# --- With NumPy's, SciPy's and Dask's names -------------------------------------------------------


@documented()
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """Norms of vectors along an axis, or of matrices in two.

    Parameters
    ----------
    x : array_like
        Real or complex numbers.
    ord : int, float or str or None
        Of vectors a number, of matrices as for :func:`matrix_norm`. None: the root of the sum of
        squares.
    axis : int, tuple of int or None
        One for vectors, two for matrices. None: the matrix, if there are two axes and an `ord`;
        without one all elements.

    Returns
    -------
    Array
        Real, without the axes. Lazy.

    Examples
    --------
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.norm(x).compute().round(6)
    np.float64(3.162278)
    """
    a = lazy(x)
    return a._like(_core.norm(a._x, ord, _axes(axis, a.ndim), keepdims, a.spec.task_mem))


@documented()
def cond(x: Any, p: Any = None) -> Array:
    """Condition numbers: the norm times that of the inverse; for None and 2 the largest singular
    value over the smallest.

    Parameters
    ----------
    p : int, float, str or None
        Which norm; None: the second.

    Returns
    -------
    Array
        Real, without the last two axes. Lazy; computing raises LinAlgError where an inverse is
        needed and a matrix is singular.

    Examples
    --------
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.cond(x).compute().round(6)
    np.float64(3.0)
    """
    spec = common_spec(x)
    return Array._new(_core.cond(core_of(x), 2 if p is None else p, _task_mem(spec)), spec)


@documented()
def multi_dot(arrays: Sequence[Any]) -> Array:
    """The product of several matrices, in the order that takes the fewest multiplications.

    Returns
    -------
    Array
        Of the type that they promote to; the first and the last one may be vectors. Lazy.

    Examples
    --------
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.multi_dot([x, x, x]).compute()
    array([[14., 13.],
           [13., 14.]])
    """
    refuse_foreign(arrays)
    given = [lazy(a, f"arrays[{k}]") for k, a in enumerate(arrays)]
    return Array._new(_core.multi_dot(tuple(a._x for a in given)), common_spec(*given))


def solve_triangular(a: Any, b: Any, lower: bool = False, *, unit_diagonal: bool = False) -> Array:
    """What a triangle has to be multiplied with to give b: a vector, or the columns of matrices.

    Parameters
    ----------
    a : array_like
        ``(..., n, n)``, of which the upper triangle is read, or the lower one.
    b : array_like
        ``(n,)`` or ``(..., n, k)``.
    lower : bool, default False
        Whether it is the lower triangle.
    unit_diagonal : bool, default False
        Take the diagonal for ones.

    Returns
    -------
    Array
        Of b's shape but for stacks, which broadcast. Lazy; computing raises LinAlgError if the
        triangle is singular.

    Examples
    --------
    >>> import cubed
    >>> a = cubed.asarray([[2.0, 1.0], [0.0, 4.0]])
    >>> cubed.linalg.solve_triangular(a, cubed.asarray([4.0, 8.0])).compute().round(6)
    array([1., 2.])
    """
    spec = common_spec(a, b)
    x, y, task_mem = core_of(a), core_of(b), _task_mem(spec)
    return Array._new(_core.solve_triangular(x, y, lower, unit_diagonal, task_mem), spec)


def lstsq(a: Any, b: Any, rcond: float | None = None) -> tuple[Array, Array, Array, Array]:
    """What a matrix has to be multiplied with to come as near as it can to b.

    Parameters
    ----------
    a : array_like
        ``(m, n)``.
    b : array_like
        ``(m,)`` or ``(m, k)``.
    rcond : float or None
        Singular values up to this times the largest count as 0. None: the larger extent times the
        precision; -1: the precision.

    Returns
    -------
    tuple[Array, Array, Array, Array]
        The solution with the least norm, ``(n,)`` or ``(n, k)``; for each column the sum of squares
        of what is left, of no column unless m > n (also where the rank is less than n); the rank;
        singular values. float64 for integers, else the type that both promote to. Lazy; MemoryError
        as for :func:`svd`.

    Examples
    --------
    >>> import cubed
    >>> a = cubed.asarray([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> solution, _, _, _ = cubed.linalg.lstsq(a, cubed.asarray([1.0, 3.0, 5.0]))
    >>> solution.compute().round(6)
    array([1., 2.])
    """
    spec = common_spec(a, b)
    right = without_infinities(as_lazy(b))._x
    x, residuals, rank, s = _several(_core.lstsq(core_of(a), right, rcond, _task_mem(spec)), spec)
    return x, residuals, rank, s


@documented()
def lu(a: Any) -> LUResult:
    """Triangular factors of matrices, with rows in another order, so that no factor is more than 1.

    Returns
    -------
    LUResult
        ``(..., n, n)``, ``(..., n, k)`` and ``(..., k, m)`` of ``(..., n, m)``, k the smaller
        extent: the product of the three is the matrix. Permutations are matrices, too. float64 for
        integers, else a's type. Lazy; a task holds a matrix and its factors (MemoryError if it
        cannot).

    Examples
    --------
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> p, l, u = cubed.linalg.lu(x)
    >>> cubed.allclose(p @ l @ u, x).compute()
    array(True)
    """
    spec = common_spec(a)
    return LUResult(*_several(_core.factors("lu", core_of(a), False, _task_mem(spec)), spec))


@documented()
def tensorinv(a: Any, ind: int = 2) -> Array:
    """The inverse of an array as of a matrix, whose rows are its first `ind` axes.

    Parameters
    ----------
    ind : int, default 2
        How many of the first axes are those of the inverse's last.

    Returns
    -------
    Array
        Of the other axes and then these. Lazy; computing raises LinAlgError if it is singular.

    Examples
    --------
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.tensorinv(x, 1).compute().round(6)
    array([[ 0.666667, -0.333333],
           [-0.333333,  0.666667]])
    """
    x = lazy(a)
    return x._like(_core.tensorinv(x._x, ind, x.spec.task_mem))


@documented(parameters=OPERANDS)
def tensorsolve(a: Any, b: Any, axes: Sequence[int] | None = None) -> Array:
    """What an array has to be multiplied with, over its last axes, to give b.

    Returns
    -------
    Array
        Of a's axes behind those of b. Lazy; `axes` are moved to the end before.

    Examples
    --------
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.tensorsolve(x, cubed.asarray([3.0, 3.0])).compute().round(6)
    array([1., 1.])
    """
    x, y = lazy(a), lazy(b, "b")
    moved = normalize_axes(() if axes is None else tuple(axes), x.ndim)
    spec = common_spec(x, y)
    return Array._new(_core.tensorsolve(x._x, y._x, moved, _task_mem(spec)), spec)


def svd_compressed(
    a: Any,
    k: int,
    n_power_iter: int = 0,
    n_oversamples: int = 10,
    seed: int | None = None,
    *,
    coerce_signs: bool = True,
) -> SVDResult:
    """About the k largest singular values and their vectors, of products with random vectors.

    Parameters
    ----------
    a : array_like
        A matrix, of any size.
    k : int
        How many.
    n_power_iter : int, default 0
        How often vectors are multiplied with the matrix and its adjoint: more where singular values
        descend slowly. Each is two passes over the matrix.
    n_oversamples : int, default 10
        How many vectors there are beside the k.
    seed : int or None
        Of the vectors. None: drawn from Python's :mod:`random`.
    coerce_signs : bool, default True
        Make the sum of each right vector positive.

    Returns
    -------
    SVDResult
        ``(m, k)``, ``(k,)`` and ``(k, n)`` of ``(m, n)``. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> u, s, vh = cubed.linalg.svd_compressed(x, 1, seed=1)
    >>> s.compute().round(6)
    array([3.])
    """
    if seed is None:
        import random  # late: it takes a while, and few need it

        seed = random.getrandbits(63)
    spec = common_spec(a)
    return SVDResult(
        *_several(
            _core.svd_compressed(
                core_of(a), k, n_power_iter, n_oversamples, seed, coerce_signs, _task_mem(spec)
            ),
            spec,
        )
    )
