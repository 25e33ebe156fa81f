"""Linear algebra. Stacks of matrices may be of any length.

A matrix that is larger than a task's memory is factored in panels of columns by `cholesky`, `det`,
`inv`, `qr`, `slogdet` and `solve`; the others refuse it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import (
    common_spec,
    core_of,
    lazy,
    normalize_axes,
    normalize_axis,
    real_number,
    scalar_array,
)
from cubed.array_api.linear_algebra_functions import matmul, matrix_transpose, tensordot, vecdot
from cubed.base._dtypes import dtype_of, name_of
from cubed.base._types import DTypeLike
from cubed.spec import Spec

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


class EigResult(NamedTuple):
    """Eigenvalues, and eigenvectors as columns."""

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """Eigenvalues, which ascend, and orthonormal eigenvectors as columns."""

    eigenvalues: Array
    eigenvectors: Array


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


def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """The triangular factors of positive definite matrices.

    Lazy. A matrix that a task cannot hold is factored in panels of columns.

    Parameters
    ----------
    x : Array
        ``(..., n, n)``, of which the triangle that is made is read.
    upper : bool
        Make the upper triangle, not the lower one.

    Returns
    -------
    Array
        ``(..., n, n)``, with a positive diagonal; float64 for integers, else x's type.

    Raises
    ------
    MemoryError
        If a task cannot hold even one column. Computing raises ValueError if a matrix is not
        positive definite.
    """
    x = lazy(x)
    return x._like(_core.cholesky(x._x, upper, x.spec.task_mem))


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Cross products of the vectors of three elements along an axis, counted from the end.

    Of the shape that both broadcast to, and of the type that they promote to. Lazy.
    """
    return Array._new(_core.along("cross", core_of(x1), core_of(x2), axis), common_spec(x1, x2))


def det(x: Array, /) -> Array:
    """Determinants.

    ``(...)`` of ``(..., n, n)``: float64 for integers, else x's type. Lazy. A matrix that a task
    cannot hold is factored in panels.
    """
    x = lazy(x)
    return x._like(_core.matrices("det", x._x, x.spec.task_mem))


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """The diagonals that are `offset` right of the main one.

    Of x's type, without the last two axes and with one at the end. Lazy.
    """
    x = lazy(x)
    return x._like(_core.diagonal(False, x._x, offset, None))


def eig(x: Array, /) -> EigResult:
    """Eigenvalues and eigenvectors of square matrices: complex numbers.

    ``(..., n)`` and ``(..., n, n)``. Lazy; MemoryError where a task cannot hold a matrix.
    """
    x = lazy(x)
    return EigResult(*(x._like(c) for c in _core.factors("eig", x._x, False, x.spec.task_mem)))


def eigh(x: Array, /) -> EighResult:
    """Eigenvalues and eigenvectors of Hermitian matrices, of which the lower triangle is read.

    ``(..., n)``, real, and ``(..., n, n)``: float64 for integers, else x's precision. Lazy;
    MemoryError where a task cannot hold a matrix.
    """
    x = lazy(x)
    return EighResult(*(x._like(c) for c in _core.factors("eigh", x._x, False, x.spec.task_mem)))


def eigvals(x: Array, /) -> Array:
    """Eigenvalues of square matrices: complex numbers.

    ``(..., n)``. Lazy; MemoryError where a task cannot hold a matrix.
    """
    x = lazy(x)
    return x._like(_core.matrices("eigvals", x._x, x.spec.task_mem))


def eigvalsh(x: Array, /) -> Array:
    """Eigenvalues of Hermitian matrices, of which the lower triangle is read.

    ``(..., n)``, real: float64 for integers, else x's precision. Lazy; MemoryError where a task
    cannot hold a matrix.
    """
    x = lazy(x)
    return x._like(_core.matrices("eigvalsh", x._x, x.spec.task_mem))


def inv(x: Array, /) -> Array:
    """Inverses, ``(..., n, n)``: float64 for integers, else of x's type.

    Lazy. A matrix that a task cannot hold is factored in panels of columns: MemoryError if not even
    one column fits. Computing raises ValueError if a matrix is singular.
    """
    x = lazy(x)
    return x._like(_core.matrices("inv", x._x, x.spec.task_mem))


def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """Norms of matrices: "fro", "nuc", or 1, 2, inf and their negatives.

    Real, without the last two axes. Lazy; MemoryError where singular values are wanted of a matrix
    that a task cannot hold.
    """
    x = lazy(x)
    name = ord if isinstance(ord, str) else f"{float(ord):g}"
    return x._like(_core.matrix_norm(x._x, name, keepdims, x.spec.task_mem))


def matrix_power(x: Array, n: int, /) -> Array:
    """Products of n times the same matrix; of its inverse if n is negative.

    ``(..., n, n)`` of x's type; inverses of integers are float64. Lazy.
    """
    x = lazy(x)
    return x._like(_core.matrix_power(x._x, n, x.spec.task_mem))


def _limit(x: Array, rtol: Any) -> _core.Array | None:
    if rtol is None:
        return None
    if isinstance(rtol, (int, float)):
        real = {"complex64": "float32", "complex128": "float64"}.get(x._x.dtype, x._x.dtype)
        return scalar_array(float(rtol), dtype_of(real))
    return core_of(rtol)


def matrix_rank(x: Array, /, *, rtol: Any = None) -> Array:
    """How many singular values are more than `rtol` times the largest.

    int64, without the last two axes. Lazy; MemoryError where a task cannot hold a matrix.
    """
    x = lazy(x)
    return x._like(_core.by_rank(False, x._x, _limit(x, rtol), x.spec.task_mem))


def outer(x1: Array, x2: Array, /) -> Array:
    """All products of the elements of two vectors.

    ``(n, m)`` of the type that both promote to. Lazy.
    """
    return Array._new(_core.pair("outer", core_of(x1), core_of(x2)), common_spec(x1, x2))


def pinv(x: Array, /, *, rtol: Any = None) -> Array:
    """Moore-Penrose inverses; singular values up to `rtol` times the largest count as 0.

    ``(..., m, n)`` of ``(..., n, m)``. Lazy; MemoryError where a task cannot hold a matrix.
    """
    x = lazy(x)
    return x._like(_core.by_rank(True, x._x, _limit(x, rtol), x.spec.task_mem))


def qr(x: Array, /, *, mode: str = "reduced") -> QRResult:
    """Orthonormal columns and an upper triangle; "complete": as many columns as rows.

    ``(..., n, k)`` and ``(..., k, m)`` of ``(..., n, m)``, with k the smaller extent, or n for
    "complete": float64 for integers, else x's type. Lazy. A matrix that a task cannot hold is
    factored in blocks of rows, or in panels of columns.
    """
    x = lazy(x)
    if mode not in ("reduced", "complete"):
        raise ValueError(f"mode is {mode!r}, expected 'reduced' or 'complete'")
    return QRResult(
        *(x._like(c) for c in _core.factors("qr", x._x, mode == "complete", x.spec.task_mem))
    )


def slogdet(x: Array, /) -> SlogdetResult:
    """Signs of determinants, and logarithms of their absolute values.

    ``(...)`` of ``(..., n, n)``: float64 for integers, else x's type, logarithms real. Lazy. A
    matrix that a task cannot hold is factored in panels.
    """
    x = lazy(x)
    return SlogdetResult(
        *(x._like(c) for c in _core.factors("slogdet", x._x, False, x.spec.task_mem))
    )


def solve(x1: Array, x2: Array, /) -> Array:
    """What x1 has to be multiplied with to give x2: a vector, or the columns of matrices.

    Of x2's shape but for stacks, which broadcast: float64 for integers, else the type that both
    promote to. Lazy; computing raises ValueError if a matrix is singular.
    """
    spec = common_spec(x1, x2)
    task_mem = (spec or Spec()).task_mem
    return Array._new(_core.solve(core_of(x1), core_of(x2), task_mem), spec)


def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """Singular values, which descend, and singular vectors.

    ``(..., n, k)``, ``(..., k)`` and ``(..., k, m)`` with k the smaller extent, or square matrices
    for `full_matrices`. Lazy; MemoryError where a task cannot hold a matrix, unless it can be cut
    into blocks of rows.
    """
    x = lazy(x)
    return SVDResult(
        *(x._like(c) for c in _core.factors("svd", x._x, full_matrices, x.spec.task_mem))
    )


def svdvals(x: Array, /) -> Array:
    """Singular values, which descend.

    ``(..., k)``, real, with k the smaller extent. Lazy; MemoryError where a task cannot hold a
    matrix, unless it can be cut into blocks of rows.
    """
    x = lazy(x)
    return x._like(_core.matrices("svdvals", x._x, x.spec.task_mem))


def trace(x: Array, /, *, offset: int = 0, dtype: DTypeLike = None) -> Array:
    """Sums of the diagonals that are `offset` right of the main one.

    Without the last two axes; integers become int64 or uint64. Lazy.
    """
    x = lazy(x)
    return x._like(_core.diagonal(True, x._x, offset, None if dtype is None else name_of(dtype)))


def vector_norm(
    x: Array,
    /,
    *,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    ord: float = 2,
) -> Array:
    """Norms of the vectors along axes, or of all elements.

    Real, without the axes (`keepdims`: with one element along them). Lazy.
    """
    x = lazy(x)
    axes = None
    if axis is not None:
        axes = (
            normalize_axes(tuple(axis), x.ndim)
            if isinstance(axis, Sequence)
            else (normalize_axis(axis, x.ndim),)
        )
    return x._like(_core.vector_norm(x._x, real_number(ord, "ord"), axes, keepdims))
