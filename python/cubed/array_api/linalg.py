"""Linear algebra. Stacks of matrices may be of any length.

A matrix that is larger than a task's memory is factored in panels of columns by `cholesky`, `det`,
`inv`, `qr`, `slogdet` and `solve`. `eigvalsh` and `svdvals` reduce such a matrix to a band matrix,
which a task must hold. The band is at least 16 columns wide, and at least a 128th of the width of
the matrix. Functions that need whole matrices in a task, such as `eigh` and `lu`, refuse matrices
that a task cannot hold.
"""

from __future__ import annotations

from typing import Any

from cubed.array._array import Array
from cubed.array._operands import lazy
from cubed.functions import linalg as made
from cubed.functions._results import EighResult as EighResult
from cubed.functions._results import EigResult as EigResult
from cubed.functions._results import LUResult as LUResult
from cubed.functions._results import QRResult as QRResult
from cubed.functions._results import SlogdetResult as SlogdetResult
from cubed.functions._results import SVDResult as SVDResult
from cubed.functions.linalg import *  # noqa: F403

# isort: split
from cubed.array_api.linear_algebra_functions import matmul as matmul
from cubed.array_api.linear_algebra_functions import tensordot as tensordot
from cubed.array_api.linear_algebra_functions import vecdot as vecdot

__all__ = ["sfqr", "tensordot", "tsqr"]
__all__ += made.__all__


def cholesky(  # type: ignore[no-redef]
    x: Array, /, *, upper: bool = False, lower: bool | None = None
) -> Array:
    """Computes Cholesky factors of positive definite matrices.

    A matrix that a task cannot hold is factored in panels of columns.

    Parameters
    ----------
    x : Array
        ``(..., n, n)``. Only the lower triangle is read, or the upper one with `upper`.
    upper : bool, default False
        Whether to return the upper triangular factor instead of the lower one.
    lower : bool or None
        The opposite of `upper`, which it replaces if it is given. SciPy and Dask have this
        parameter, with other defaults.

    Returns
    -------
    Array
        Shape ``(..., n, n)``, with a positive diagonal; float64 for integers, otherwise the type of
        `x`. Lazy. The computation raises LinAlgError if a matrix is not positive definite.

    Raises
    ------
    ValueError
        If `upper` and `lower` are both true.
    MemoryError
        If a task cannot hold even one column.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[4.0, 2.0], [2.0, 2.0]])
    >>> cubed.linalg.cholesky(x).compute()
    array([[2., 0.],
           [1., 1.]])
    """
    if upper and lower:
        raise ValueError("cholesky: upper and lower are both true, expected one of them")
    return made.cholesky(x, upper=upper if lower is None else not lower)


#: Properties of matrices, by SciPy's names.
_ASSUMED = (
    "gen",
    "sym",
    "her",
    "pos",
    "general",
    "symmetric",
    "hermitian",
    "positive definite",
)


def solve(  # type: ignore[no-redef]
    x1: Array, x2: Array, /, *, assume_a: str = "gen"
) -> Array:
    """Solves systems of linear equations.

    Parameters
    ----------
    x1 : Array
        Matrices of the equations.
    x2 : Array
        Right-hand sides: vectors if it has one axis, otherwise matrices.
    assume_a : str, default "gen"
        ``"gen"``, ``"sym"``, ``"her"`` or ``"pos"``, for compatibility. All matrices are factored
        in the same way, and both triangles are read.

    Returns
    -------
    Array
        The shape of `x2`, with broadcast stacks; float64 for integers, otherwise the promoted type
        of both. Lazy.

    Raises
    ------
    ValueError
        For another value of `assume_a`.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> cubed.linalg.solve(x, cubed.asarray([3.0, 3.0])).compute()
    array([1., 1.])
    """
    if assume_a not in _ASSUMED:
        raise ValueError(
            f"solve: assume_a is {assume_a!r}, expected one of {', '.join(_ASSUMED)};"
            " solve_triangular reads one triangle"
        )
    return made.solve(x1, x2)


def _check_matrix(name: str, data: Any) -> None:
    if lazy(data, "data").ndim != 2:
        raise ValueError(f"{name}: data has {data.ndim} axes, expected 2")


def tsqr(data: Array, /, compute_svd: bool = False) -> Any:
    """Computes the QR or singular value decomposition of a matrix, with Dask's name.

    Parameters
    ----------
    data : Array
        A matrix, in any chunks.
    compute_svd : bool, default False
        Whether to return the singular value decomposition in place of `Q` and `R`.

    Returns
    -------
    QRResult or SVDResult
        Shapes ``(m, k)`` and ``(k, n)``, where k is the smaller extent; with `compute_svd`, shapes
        ``(m, k)``, ``(k,)`` and ``(k, n)``. Lazy.

    Raises
    ------
    ValueError
        If `data` is not a matrix.

    Examples
    --------
    >>> import cubed
    >>> q, r = cubed.linalg.tsqr(cubed.asarray([[3.0], [4.0]]))
    >>> abs(r).compute()
    array([[5.]])
    """
    _check_matrix("tsqr", data)
    return made.svd(data, full_matrices=False) if compute_svd else made.qr(data)


def sfqr(data: Array, /) -> QRResult:
    """Computes the QR decomposition of a matrix; Dask's name for matrices with more columns than
    rows.

    Parameters
    ----------
    data : Array
        A matrix, in any chunks.

    Returns
    -------
    QRResult
        Shapes ``(m, k)`` and ``(k, n)``, where k is the smaller extent. Lazy.

    Raises
    ------
    ValueError
        If `data` is not a matrix.

    Examples
    --------
    >>> import cubed
    >>> q, r = cubed.linalg.sfqr(cubed.asarray([[3.0, 4.0]]))
    >>> abs(r).compute()
    array([[3., 4.]])
    """
    _check_matrix("sfqr", data)
    return made.qr(data)


def svd(  # type: ignore[no-redef]
    x: Array, /, full_matrices: bool = True, compute_uv: bool = True
) -> Any:
    """Computes singular values, in descending order, and singular vectors.

    Parameters
    ----------
    x : Array
        Input array.
    full_matrices : bool, default True
        Whether `U` and `Vh` are square.
    compute_uv : bool, default True
        Whether to return also `U` and `Vh`; False: only the singular values.

    Returns
    -------
    Array or tuple of Array
        `U`, `S` and `Vh` of shapes ``(..., n, k)``, ``(..., k)`` and ``(..., k, m)``, where k is
        the smaller extent; `U` and `Vh` are square if `full_matrices` is true. Lazy.

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
    return made.svd(x, full_matrices=full_matrices) if compute_uv else made.svdvals(x)


def svd_compressed(  # type: ignore[no-redef]
    a: Any,
    k: int,
    n_power_iter: int = 0,
    n_oversamples: int = 10,
    seed: int | None = None,
    *,
    coerce_signs: bool = True,
    iterator: str = "power",
    compute: bool = False,
) -> SVDResult:
    """Approximates the k largest singular values and their vectors by random projections.

    Parameters
    ----------
    a : array_like
        A matrix, of any size.
    k : int
        Number of singular values.
    n_power_iter : int, default 0
        Number of power iterations: products of the vectors with the matrix and its adjoint. Use
        more if singular values decrease slowly. Each iteration reads the matrix twice.
    n_oversamples : int, default 10
        Number of vectors in addition to `k`.
    seed : int or None
        Seed of the random vectors. None: drawn from Python's :mod:`random`.
    coerce_signs : bool, default True
        Whether to make the sum of each right singular vector positive.
    iterator : {"power", "QR"}, default "power"
        Ignored: the vectors are always made orthonormal between products.
    compute : bool, default False
        Ignored: the planner decides which results are stored.

    Returns
    -------
    SVDResult
        Shapes ``(m, k)``, ``(k,)`` and ``(k, n)`` for a matrix of shape ``(m, n)``. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> u, s, vh = cubed.linalg.svd_compressed(x, 1, seed=1)
    >>> s.compute().round(6)
    array([3.])
    """
    if iterator not in ("power", "QR"):
        raise ValueError(f"svd_compressed: iterator is {iterator!r}, expected 'power' or 'QR'")
    if seed is None:
        import random  # lazy: slow to import, and rarely needed

        seed = random.getrandbits(63)
    return made.svd_compressed(
        a, k, n_power_iter, n_oversamples, seed=seed, coerce_signs=coerce_signs
    )
