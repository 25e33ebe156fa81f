"""Linear algebra. Stacks of matrices may be of any length.

A matrix that is larger than a task's memory is factored in panels of columns by `cholesky`, `det`,
`inv`, `qr`, `slogdet` and `solve`. `eigvalsh` and `svdvals` make a band matrix of it, which a task
must hold in a width of 16 at least, and of a 128th of the matrix; the others refuse it.
"""

from __future__ import annotations

from typing import Any

from cubed.array._array import Array
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

__all__ = ["tensordot"]
__all__ += made.__all__


def svd(  # type: ignore[no-redef]
    x: Array, /, *, full_matrices: bool = True, compute_uv: bool = True
) -> Any:
    """Singular values, which descend, and singular vectors; without `compute_uv` the values alone.

    Parameters
    ----------
    x : Array
        Input array.
    full_matrices : bool, default True
        Whether `U` and `Vh` are square.
    compute_uv : bool, default True
        Whether `U` and `Vh` are wanted, too.

    Returns
    -------
    Array or tuple of Array
        ``(..., n, k)``, ``(..., k)`` and ``(..., k, m)`` with k the smaller extent, or square
        matrices for `full_matrices`. Lazy.

    Raises
    ------
    MemoryError
        If a task cannot hold a matrix, unless it can be cut into blocks of rows.

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
    return made.svd_compressed(
        a, k, n_power_iter, n_oversamples, seed=seed, coerce_signs=coerce_signs
    )
