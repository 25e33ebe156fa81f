"""Linear algebra: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of, lazy
from cubed.base._types import Axis, DTypeLike
from cubed.functions._calls import lazy_list, operand, task_mem, type_for
from cubed.functions._results import (
    EighResult,
    EigResult,
    LUResult,
    QRResult,
    SlogdetResult,
    SVDResult,
)

__all__ = [
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "lu",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svd_compressed",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]


def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """Cholesky factors of positive definite matrices.

    Lazy. A matrix that a task cannot hold is factored in panels of columns.

    Parameters
    ----------
    x : Array
        ``(..., n, n)``. Only the lower triangle is read, or the upper one with `upper`.
    upper : bool, default False
        Whether to return the upper triangular factor instead of the lower one.

    Returns
    -------
    Array
        ``(..., n, n)``, with a positive diagonal; float64 for integers, else the type of the
        matrices. Lazy.

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
    return x._like(_core.call("cholesky", x._x, upper, x.spec.task_mem))


def cond(x: Any, p: str | float | None = None) -> Array:
    """Condition numbers: the norm of each matrix times the norm of its inverse.

    Parameters
    ----------
    x : array_like
        Matrices, in the last two axes.
    p : str, float or None
        The norm, as in matrix_norm. None, or 2: the ratio of the largest to the smallest singular
        value.

    Returns
    -------
    Array
        Real, without the last two axes. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.cond(x).compute().round(6)
    np.float64(3.0)
    """
    x = lazy(x)
    return x._like(_core.call("cond", x._x, p, x.spec.task_mem))


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Cross products of vectors of three elements.

    Parameters
    ----------
    x1 : Array
        Left operand.
    x2 : Array
        Right operand.
    axis : int, default -1
        Axis of the vectors, counted from the last.

    Returns
    -------
    Array
        The shape that both broadcast to, and the type that they promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.linalg.cross(cubed.asarray([1, 0, 0]), cubed.asarray([0, 1, 0])).compute()
    array([0, 0, 1])
    """
    spec = common_spec(x1, x2)
    return Array._new(_core.call("cross", core_of(x1), core_of(x2), axis), spec)


def det(x: Array, /) -> Array:
    """Determinants.

    A matrix that a task cannot hold is factored in panels.

    Parameters
    ----------
    x : Array
        Matrices, in the last two axes.

    Returns
    -------
    Array
        ``(...)`` for ``(..., n, n)``; float64 for integers, else the type of the matrices. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.det(x).compute().round(6)
    np.float64(3.0)
    """
    x = lazy(x)
    return x._like(_core.call("det", x._x, x.spec.task_mem))


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """Diagonals of matrices.

    Parameters
    ----------
    x : Array
        Matrices, in the last two axes.
    offset : int, default 0
        Number of the diagonal: 0 is the main diagonal, positive numbers are above.

    Returns
    -------
    Array
        The type of `x`. The diagonals are the last axis, which replaces the last two. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.diagonal(x).compute().round(6)
    array([2., 2.])
    """
    x = lazy(x)
    return x._like(_core.call("diagonal", x._x, offset))


def eig(x: Array, /) -> EigResult:
    """Eigenvalues and eigenvectors of square matrices.

    Parameters
    ----------
    x : Array
        Matrices, in the last two axes.

    Returns
    -------
    EigResult
        Complex: ``(..., n)`` and ``(..., n, n)``, whose columns are eigenvectors. Lazy.

    Raises
    ------
    MemoryError
        If a task cannot hold a matrix.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> values, vectors = cubed.linalg.eig(x)
    >>> values.shape, vectors.shape
    ((2,), (2, 2))
    """
    x = lazy(x)
    cores = _core.call("eig", x._x, x.spec.task_mem)
    return EigResult(*(x._like(c) for c in cores))


def eigh(x: Array, /) -> EighResult:
    """Eigenvalues and eigenvectors of Hermitian matrices, whose lower triangle is read.

    Parameters
    ----------
    x : Array
        Matrices, in the last two axes.

    Returns
    -------
    EighResult
        ``(..., n)``, real and ascending, and ``(..., n, n)``; float64 for integers, else the type
        of the matrices. Lazy.

    Raises
    ------
    MemoryError
        If a task cannot hold a matrix.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.eigh(x).eigenvalues.compute().round(6)
    array([1., 3.])
    """
    x = lazy(x)
    cores = _core.call("eigh", x._x, x.spec.task_mem)
    return EighResult(*(x._like(c) for c in cores))


def eigvals(x: Array, /) -> Array:
    """Eigenvalues of square matrices.

    Parameters
    ----------
    x : Array
        Matrices, in the last two axes.

    Returns
    -------
    Array
        Complex: ``(..., n)``. Lazy.

    Raises
    ------
    MemoryError
        If a task cannot hold a matrix.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.eigvals(x).compute().real.round(6)
    array([3., 1.])
    """
    x = lazy(x)
    return x._like(_core.call("eigvals", x._x, x.spec.task_mem))


def eigvalsh(x: Array, /) -> Array:
    """Eigenvalues of Hermitian matrices, whose lower triangle is read.

    A matrix that a task cannot hold is reduced to a band matrix. A task must hold the band. The
    band is at least 16 columns wide, and at least a 128th of the width of the matrix.

    Parameters
    ----------
    x : Array
        Matrices, in the last two axes.

    Returns
    -------
    Array
        ``(..., n)``, real and ascending. Lazy.

    Raises
    ------
    MemoryError
        If a task can hold neither a matrix nor its band.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.eigvalsh(x).compute().round(6)
    array([1., 3.])
    """
    x = lazy(x)
    return x._like(_core.call("eigvalsh", x._x, x.spec.task_mem))


def inv(x: Array, /) -> Array:
    """Inverses of matrices.

    A matrix that a task cannot hold is factored in panels of columns: MemoryError if not even one
    column fits. Computing raises LinAlgError if a matrix is singular.

    Parameters
    ----------
    x : Array
        Matrices, in the last two axes.

    Returns
    -------
    Array
        ``(..., n, n)``; float64 for integers, else the type of the matrices. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.inv(x).compute().round(6)
    array([[ 0.666667, -0.333333],
           [-0.333333,  0.666667]])
    """
    x = lazy(x)
    return x._like(_core.call("inv", x._x, x.spec.task_mem))


def lstsq(a: Any, b: Any, rcond: float | None = None) -> tuple[Array, ...]:
    """Least-squares solutions of equations.

    Parameters
    ----------
    a : array_like
        ``(m, n)``.
    b : array_like
        ``(m,)`` or ``(m, k)``.
    rcond : float or None
        Singular values up to this fraction of the largest one count as 0. None: the larger extent
        times the machine epsilon; -1: the machine epsilon.

    Returns
    -------
    tuple of Array
        The solution with the smallest norm, ``(n,)`` or ``(n, k)``; the sum of squared residuals of
        each column; the rank; the singular values. Lazy.

    Examples
    --------
    >>> import cubed
    >>> a = cubed.asarray([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> solution, _, _, _ = cubed.linalg.lstsq(a, cubed.asarray([1.0, 3.0, 5.0]))
    >>> solution.compute().round(6)
    array([1., 2.])
    """
    spec = common_spec(a, b)
    cores = _core.call("lstsq", core_of(a), core_of(b), rcond, task_mem(spec))
    return tuple(Array._new(c, spec) for c in cores)


def lu(x: Array, /) -> LUResult:
    """Permutations, lower and upper triangular factors of matrices.

    Parameters
    ----------
    x : Array
        Matrices, in the last two axes.

    Returns
    -------
    LUResult
        ``(..., n, n)``, ``(..., n, k)`` and ``(..., k, m)`` for ``(..., n, m)``; k is the smaller
        extent. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> p, l, u = cubed.linalg.lu(x)
    >>> cubed.allclose(p @ l @ u, x).compute()
    array(True)
    """
    x = lazy(x)
    cores = _core.call("lu", x._x, x.spec.task_mem)
    return LUResult(*(x._like(c) for c in cores))


def matmul(x1: Array, x2: Array, /) -> Array:
    """Products of the matrices in the last two axes; a vector is a row or a column.

    Parameters
    ----------
    x1 : Array
        Left operand.
    x2 : Array
        Right operand.

    Returns
    -------
    Array
        The type that both promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.matmul(x, x).compute()
    array([[ 7., 10.],
           [15., 22.]])
    """
    spec = common_spec(x1, x2)
    return Array._new(_core.call("matmul", core_of(x1), core_of(x2)), spec)


def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: str | float = "fro") -> Array:
    """Norms of matrices.

    Parameters
    ----------
    x : Array
        Matrices, in the last two axes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.
    ord : str or float, default "fro"
        The norm: a name, or one of the numbers 1, 2, infinity, and their negatives.

    Returns
    -------
    Array
        Real, without the last two axes. Lazy.

    Raises
    ------
    MemoryError
        If the norm needs singular values of a matrix that a task cannot hold.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.matrix_norm(x).compute().round(6)
    np.float64(3.162278)
    """
    x = lazy(x)
    return x._like(_core.call("matrix_norm", x._x, keepdims, ord, x.spec.task_mem))


def matrix_power(x: Array, n: int, /) -> Array:
    """Powers of matrices.

    Parameters
    ----------
    x : Array
        Matrices, in the last two axes.
    n : int
        The exponent; negative exponents are powers of the inverse.

    Returns
    -------
    Array
        ``(..., n, n)``, the type of `x`; inverses of integers are float64. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.matrix_power(x, 2).compute()
    array([[5., 4.],
           [4., 5.]])
    """
    x = lazy(x)
    return x._like(_core.call("matrix_power", x._x, n, x.spec.task_mem))


def matrix_rank(x: Array, /, *, rtol: Any = None) -> Array:
    """Ranks of matrices: the number of singular values that do not count as 0.

    Parameters
    ----------
    x : Array
        Matrices, in the last two axes.
    rtol : array_like, float or None
        Singular values up to this fraction of the largest one count as 0.

    Returns
    -------
    Array
        int64, without the last two axes. Lazy.

    Raises
    ------
    MemoryError
        If a task cannot hold a matrix.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.matrix_rank(x).compute().round(6)
    np.int64(2)
    """
    spec = common_spec(x, rtol)
    return Array._new(_core.call("matrix_rank", core_of(x), operand(rtol), task_mem(spec)), spec)


def matrix_transpose(x: Array, /) -> Array:
    """Transposes of the matrices in the last two axes.

    Parameters
    ----------
    x : Array
        Matrices, in the last two axes.

    Returns
    -------
    Array
        ``(..., m, n)`` for ``(..., n, m)``. A view. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.matrix_transpose(x).compute()
    array([[1., 3.],
           [2., 4.]])
    """
    x = lazy(x)
    return x._like(_core.call("matrix_transpose", x._x))


def multi_dot(arrays: Sequence[Any]) -> Array:
    """The product of several matrices, in the order that needs the fewest multiplications.

    Parameters
    ----------
    arrays : sequence of array_like
        Matrices; the first and the last may be vectors.

    Returns
    -------
    Array
        The type that the matrices promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.multi_dot([x, x, x]).compute()
    array([[14., 13.],
           [13., 14.]])
    """
    arrays = lazy_list(arrays, "arrays")
    spec = common_spec(*arrays)
    return Array._new(_core.call("multi_dot", [a._x for a in arrays]), spec)


def norm(
    x: Any, ord: str | float | None = None, axis: Axis = None, keepdims: bool = False
) -> Array:
    """Norms of vectors along an axis, or of matrices in two axes.

    Parameters
    ----------
    x : array_like
        Real or complex numbers.
    ord : str, float or None
        For vectors a number, for matrices as in matrix_norm. None: the root of the sum of squares.
    axis : int, tuple of int or None
        One axis for vectors, two for matrices. None: the matrix if `ord` is given and the array has
        two axes, otherwise all elements as one vector.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        Real, without the axes. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.norm(x).compute().round(6)
    np.float64(3.162278)
    """
    x = lazy(x)
    return x._like(_core.call("norm", x._x, ord, axis, keepdims, x.spec.task_mem))


def outer(x1: Array, x2: Array, /) -> Array:
    """Products of all pairs of elements of two vectors.

    Parameters
    ----------
    x1 : Array
        Left operand.
    x2 : Array
        Right operand.

    Returns
    -------
    Array
        ``(n, m)``, the type that both promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.linalg.outer(cubed.asarray([1, 2]), cubed.asarray([3, 4])).compute()
    array([[3, 4],
           [6, 8]])
    """
    spec = common_spec(x1, x2)
    return Array._new(_core.call("outer", core_of(x1), core_of(x2)), spec)


def pinv(x: Array, /, *, rtol: Any = None, rcond: Any = None) -> Array:
    """Moore-Penrose inverses of matrices.

    Parameters
    ----------
    x : Array
        Matrices, in the last two axes.
    rtol : array_like, float or None
        Singular values up to this fraction of the largest one count as 0.
    rcond : array_like, float or None
        Singular values up to this fraction of the largest one count as 0.

    Returns
    -------
    Array
        ``(..., m, n)`` for ``(..., n, m)``. Lazy.

    Raises
    ------
    MemoryError
        If a task cannot hold a matrix.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.pinv(x).compute().round(6)
    array([[ 0.666667, -0.333333],
           [-0.333333,  0.666667]])
    """
    spec = common_spec(x, rtol, rcond)
    core = _core.call("pinv", core_of(x), operand(rtol), operand(rcond), task_mem(spec))
    return Array._new(core, spec)


def qr(x: Array, /, mode: str = "reduced") -> QRResult:
    """Orthonormal columns and upper triangular factors of matrices.

    A matrix that a task cannot hold is factored in blocks of rows, or in panels of columns.

    Parameters
    ----------
    x : Array
        Matrices, in the last two axes.
    mode : {"reduced", "complete"}, default "reduced"
        Whether `Q` has only the columns that are needed (``"reduced"``), or is square
        (``"complete"``).

    Returns
    -------
    QRResult
        ``(..., n, k)`` and ``(..., k, m)`` for ``(..., n, m)``; k is the smaller extent, or n if
        complete. float64 for integers, else the type of the matrices. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> q, r = cubed.linalg.qr(x)
    >>> cubed.allclose(q @ r, x).compute()
    array(True)
    """
    x = lazy(x)
    cores = _core.call("qr", x._x, mode, x.spec.task_mem)
    return QRResult(*(x._like(c) for c in cores))


def slogdet(x: Array, /) -> SlogdetResult:
    """Signs of determinants, and logarithms of their absolute values.

    Parameters
    ----------
    x : Array
        Matrices, in the last two axes.

    Returns
    -------
    SlogdetResult
        ``(...)`` for ``(..., n, n)``; float64 for integers, else the type of the matrices. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> sign, logarithm = cubed.linalg.slogdet(x)
    >>> cubed.exp(logarithm).compute().round(6)
    np.float64(3.0)
    """
    x = lazy(x)
    cores = _core.call("slogdet", x._x, x.spec.task_mem)
    return SlogdetResult(*(x._like(c) for c in cores))


def solve(x1: Array, x2: Array, /) -> Array:
    """Solutions of linear equations.

    Parameters
    ----------
    x1 : Array
        Matrices of the equations.
    x2 : Array
        Right-hand sides.

    Returns
    -------
    Array
        The shape of `x2`, with broadcast stacks; float64 for integers, else the type that both
        promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.solve(x, cubed.asarray([3.0, 3.0])).compute().round(6)
    array([1., 1.])
    """
    spec = common_spec(x1, x2)
    return Array._new(_core.call("solve", core_of(x1), core_of(x2), task_mem(spec)), spec)


def solve_triangular(a: Any, b: Any, lower: bool = False, *, unit_diagonal: bool = False) -> Array:
    """Solutions of equations with a triangular matrix.

    Parameters
    ----------
    a : array_like
        ``(..., n, n)``. Only one triangle is read.
    b : array_like
        ``(n,)`` or ``(..., n, k)``.
    lower : bool, default False
        Whether the lower triangle is read, instead of the upper one.
    unit_diagonal : bool, default False
        Whether to assume ones on the diagonal.

    Returns
    -------
    Array
        The shape of `b`, with broadcast stacks. Lazy.

    Examples
    --------
    >>> import cubed
    >>> a = cubed.asarray([[2.0, 1.0], [0.0, 4.0]])
    >>> cubed.linalg.solve_triangular(a, cubed.asarray([4.0, 8.0])).compute().round(6)
    array([1., 2.])
    """
    spec = common_spec(a, b)
    core = _core.call(
        "solve_triangular", core_of(a), core_of(b), lower, unit_diagonal, task_mem(spec)
    )
    return Array._new(core, spec)


def svd(x: Array, /, full_matrices: bool = True) -> SVDResult:
    """Singular values in descending order, and singular vectors.

    Parameters
    ----------
    x : Array
        Matrices, in the last two axes.
    full_matrices : bool, default True
        Whether `U` and `Vh` are square.

    Returns
    -------
    SVDResult
        ``(..., n, k)``, ``(..., k)`` and ``(..., k, m)``; k is the smaller extent. `U` and `Vh` are
        square with `full_matrices`. Lazy.

    Raises
    ------
    MemoryError
        If a task cannot hold a matrix, unless it can be split into blocks of rows.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> u, s, vh = cubed.linalg.svd(x)
    >>> s.compute().round(6)
    array([3., 1.])
    """
    x = lazy(x)
    cores = _core.call("svd", x._x, full_matrices, x.spec.task_mem)
    return SVDResult(*(x._like(c) for c in cores))


def svd_compressed(
    a: Any,
    k: int,
    n_power_iter: int = 0,
    n_oversamples: int = 10,
    *,
    seed: int,
    coerce_signs: bool = True,
) -> SVDResult:
    """Approximates the k largest singular values and their vectors.

    Parameters
    ----------
    a : array_like
        A matrix, of any size.
    k : int
        Number of singular values.
    n_power_iter : int, default 0
        Number of power iterations. Each iteration reads the matrix twice. More are needed if
        singular values decrease slowly.
    n_oversamples : int, default 10
        Number of random vectors in addition to k.
    seed : int
        Seed of the random vectors.
    coerce_signs : bool, default True
        Whether to make the sum of each right singular vector positive.

    Returns
    -------
    SVDResult
        ``(m, k)``, ``(k,)`` and ``(k, n)`` for ``(m, n)``. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> u, s, vh = cubed.linalg.svd_compressed(x, 1, seed=1)
    >>> s.compute().round(6)
    array([3.])
    """
    a = lazy(a, "a")
    cores = _core.call(
        "svd_compressed", a._x, k, n_power_iter, n_oversamples, seed, coerce_signs, a.spec.task_mem
    )
    return SVDResult(*(a._like(c) for c in cores))


def svdvals(x: Array, /) -> Array:
    """Singular values, in descending order.

    If a task can hold neither a matrix nor blocks of its rows, the matrix is reduced to a band
    matrix, see :func:`eigvalsh`.

    Parameters
    ----------
    x : Array
        Matrices, in the last two axes.

    Returns
    -------
    Array
        ``(..., k)``, real; k is the smaller extent. Lazy.

    Raises
    ------
    MemoryError
        If a task can hold neither a matrix, nor blocks of its rows, nor its band.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.svdvals(x).compute().round(6)
    array([3., 1.])
    """
    x = lazy(x)
    return x._like(_core.call("svdvals", x._x, x.spec.task_mem))


def tensorinv(a: Any, ind: int = 2) -> Array:
    """The inverse of an array, treated as a matrix whose rows are the first `ind` axes.

    Parameters
    ----------
    a : array_like
        The array.
    ind : int, default 2
        Number of first axes, which become the last axes of the result.

    Returns
    -------
    Array
        The other axes, then the first `ind` axes. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.tensorinv(x, 1).compute().round(6)
    array([[ 0.666667, -0.333333],
           [-0.333333,  0.666667]])
    """
    a = lazy(a, "a")
    return a._like(_core.call("tensorinv", a._x, ind, a.spec.task_mem))


def tensorsolve(a: Any, b: Any, axes: Axis = None) -> Array:
    """Solves linear equations whose sums run over the last axes of `a`.

    Parameters
    ----------
    a : array_like
        Coefficients.
    b : array_like
        Right-hand side.
    axes : int, tuple of int or None
        Axes of `a` to move to its end before solving. None: no axes.

    Returns
    -------
    Array
        The axes of `a` after the first ``b.ndim`` axes. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.tensorsolve(x, cubed.asarray([3.0, 3.0])).compute().round(6)
    array([1., 1.])
    """
    spec = common_spec(a, b)
    return Array._new(_core.call("tensorsolve", core_of(a), core_of(b), axes, task_mem(spec)), spec)


def trace(x: Array, /, *, offset: int = 0, dtype: DTypeLike = None) -> Array:
    """Sums of diagonals of matrices.

    Parameters
    ----------
    x : Array
        Matrices, in the last two axes.
    offset : int, default 0
        Number of the diagonal: 0 is the main diagonal, positive numbers are above.
    dtype : dtype or None
        Type of the sums. None: the same as for `sum`.

    Returns
    -------
    Array
        Without the last two axes; integers become int64 or uint64. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.trace(x).compute().round(6)
    np.float64(4.0)
    """
    x = lazy(x)
    return x._like(_core.call("trace", x._x, offset, type_for(dtype, x)))


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Sums of conj(x1) * x2 along an axis.

    Parameters
    ----------
    x1 : Array
        Left operand.
    x2 : Array
        Right operand.
    axis : int, default -1
        Axis of the vectors, counted from the last.

    Returns
    -------
    Array
        The type that both promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.vecdot(x, x).compute()
    array([ 5., 25.])
    """
    spec = common_spec(x1, x2)
    return Array._new(_core.call("vecdot", core_of(x1), core_of(x2), axis), spec)


def vector_norm(x: Array, /, *, axis: Axis = None, keepdims: bool = False, ord: float = 2) -> Array:
    """Norms of vectors along axes, or of all elements.

    Parameters
    ----------
    x : Array
        Real or complex numbers.
    axis : int, tuple of int or None
        Axes of the vectors. None: all.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.
    ord : float, default 2
        The norm: any number.

    Returns
    -------
    Array
        Real, without the axes. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.vector_norm(x).compute().round(6)
    np.float64(3.162278)
    """
    x = lazy(x)
    return x._like(_core.call("vector_norm", x._x, axis, keepdims, ord))
