"""Eigenvalues and singular values of a matrix that no task holds.

Reflections of panels of columns, from both sides, leave a band, which a task does hold: LAPACK
finds its eigenvalues. Each panel takes two passes over what is left of the matrix.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast

import numpy as np

from cubed.array import _above
from cubed.array._array import Array
from cubed.array_api.creation_functions import zeros
from cubed.array_api.elementwise_functions import maximum
from cubed.array_api.linear_algebra_functions import (
    conj_transpose,
    matmul,
    matrix_transpose,
)
from cubed.array_api.manipulation_functions import concat, expand_dims, flip
from cubed.base._types import NDArray

#: Wider bands take longer in the one task that finds their eigenvalues.
_WIDEST, _NARROWEST, _MOST_PANELS = 512, 16, 96
#: What tasks hold, in matrices of the band's width, and in whole matrices where one holds all.
_IN_PANELS, _IN_ONE = 12, 2.2
#: What the plan of a panel takes.
_PLANNED = 200_000


def is_too_large(n: int, x: Array) -> bool:
    """Whether no task holds a square matrix of n rows and what its eigenvalues take."""
    return n * n * _double(x).itemsize * _IN_ONE > x.spec.task_mem


def width(n: int, x: Array) -> int | None:
    """Of a band that tasks hold; None where it would be too narrow, or a plan too long."""
    row = _IN_PANELS * _double(x).itemsize * n
    for b in range(_WIDEST, 0, -_NARROWEST):
        if n > _MOST_PANELS * b:
            break
        if b < n and row * b + _PLANNED * n // b <= x.spec.task_mem:
            return b
    return None


def eigenvalues(x: Array, b: int) -> Array:
    """Of a Hermitian matrix, of which the lower triangle is read, by way of a band of width b."""
    _check_scipy(x.shape[0])
    n, dtype = x.shape[0], _double(x)
    a = x.astype(dtype).rechunk((b, b))
    size = b * b * dtype.itemsize
    whole = _above.map_blocks(
        _both_triangles, a, matrix_transpose(a), dtype=dtype, extra_projected_mem=3 * size
    )
    band = _band(whole, b).rechunk((n, 2 * b))
    extra = 2 * (b + 1) * n * dtype.itemsize
    values = _above.map_blocks(
        _BandValues(b), band, dtype=np.float64, chunks=((n,),), drop_axis=1,
        extra_projected_mem=extra, name="eigvalsh",
    )  # fmt: skip
    return values.astype(np.zeros(0, x.dtype).real.dtype) if x.dtype.kind in "fc" else values


def singular_values(x: Array, b: int) -> Array:
    """Of a square matrix: eigenvalues of one of twice its size, of which half are these."""
    n = x.shape[0]
    nothing = zeros((n, n), dtype=x.dtype, spec=x.spec)
    both = concat(
        [concat([nothing, conj_transpose(x)], axis=1), concat([x, nothing], axis=1)], axis=0
    )
    return maximum(flip(eigenvalues(both, b)[n:]), 0.0)


def _double(x: Array) -> np.dtype[Any]:
    return np.dtype(np.complex128 if x.dtype.kind == "c" else np.float64)


def _check_scipy(n: int) -> None:
    try:
        import_module("scipy.linalg")
    except ImportError as e:
        raise ImportError(
            f"eigenvalues of a matrix of {n} rows, which no task holds, need SciPy: pip install"
            " scipy, or allow more memory"
        ) from e


def _both_triangles(block: NDArray, mirrored: NDArray, block_id: tuple[int, int]) -> NDArray:
    i, j = block_id
    if i != j:
        return block if i > j else mirrored.conj()
    low = np.tril(block, -1)
    return low + low.conj().T + np.diag(np.diag(block).real)


def _band(a: Array, b: int) -> Array:
    """Rows of a band matrix with a's eigenvalues: the diagonal's block and the one right of it."""
    rows, size = [], b * b * a.itemsize
    qr = _above.array_api.linalg.qr
    while a.shape[0] > b:
        n = a.shape[0] - b  # rows of the panel
        diagonal, panel, rest = a[:b, :b], a[b:, :b], a[b:, b:]
        q, r = qr(panel)
        if n < b:
            below = r
            rest = matmul(matmul(conj_transpose(q), rest), q)
        else:
            small = _above.map_blocks(
                _reflector, q[:b].rechunk((b, b)), dtype=a.dtype, chunks=((b,), (3 * b,)),
                extra_projected_mem=8 * size, name="reflector",
            )  # fmt: skip
            inverse, t, signs = small[:, :b], small[:, b : 2 * b], small[:, 2 * b :]
            if n > b:
                nothing = zeros((n - b, b), dtype=a.dtype, chunks=(b, b), spec=a.spec)
                y = matmul(q - concat([signs, nothing], axis=0), inverse)
            else:
                y = matmul(q - signs, inverse)
            below = matmul(signs, r)
            x = matmul(rest, matmul(y, t))
            middle = matmul(conj_transpose(t), matmul(conj_transpose(y), x))
            v = x - matmul(y, middle) * 0.5
            left, right = (
                expand_dims(concat(p, axis=1).rechunk((b, 2 * b)), axis=axis)
                for p, axis in (([y, v], 1), ([v, y], 0))
            )
            updated = _above.apply_gufunc(
                _update, "(),(k),(k)->()", rest, left, right, output_dtypes=a.dtype,
                extra_projected_mem=3 * size,
            )  # fmt: skip
            rest = cast(Array, updated)
        parts = [diagonal, conj_transpose(below)]
        if n < b:
            parts.append(zeros((b, b - n), dtype=a.dtype, spec=a.spec))
        rows.append(concat(parts, axis=1))
        a = rest
    nothing = zeros((a.shape[0], 2 * b - a.shape[0]), dtype=a.dtype, spec=a.spec)
    return concat([*rows, concat([a, nothing], axis=1)], axis=0)


def _reflector(block: NDArray) -> NDArray:
    """Of the first rows of orthonormal columns Q: U^-1, T and S, side by side.

    I - Y T Y^H with Y = (Q - S) U^-1 is a product of reflections, whose first columns are those of
    Q but for signs S: Ballard et al., "Reconstructing Householder vectors from TSQR", 2014.
    """
    a, n = block.copy(), len(block)
    signs = np.empty(n, a.dtype)
    for i in range(n):  # signs make pivots of 1 at least, so none is looked for
        p = a[i, i]
        signs[i] = -p / abs(p) if p else -1
        a[i, i] -= signs[i]
        a[i + 1 :, i] /= a[i, i]
        a[i + 1 :, i + 1 :] -= np.outer(a[i + 1 :, i], a[i, i + 1 :])
    upper, lower = np.triu(a), np.tril(a, -1) + np.eye(n)
    t = np.linalg.solve(lower, -(upper * signs.conj()).conj().T).conj().T
    return np.hstack([np.linalg.inv(upper), t, np.diag(signs)])


def _update(block: NDArray, left: NDArray, right: NDArray) -> NDArray:
    return block - left[:, 0] @ right[0].conj().T


class _BandValues:
    """Eigenvalues of a Hermitian band, of whose rows the elements of two blocks are given."""

    def __init__(self, width: int) -> None:
        self.width = width

    def __call__(self, rows: NDArray) -> NDArray:
        n, b = len(rows), self.width
        diagonal, every = np.arange(n) % b, np.arange(n)
        below = np.zeros((b + 1, n), rows.dtype)  # as LAPACK has them: below[d, i] = A[i + d, i]
        for d in range(b + 1):
            at = diagonal + d
            there = at < 2 * b
            below[d, there] = rows[every[there], at[there]].conj()
        solve = import_module("scipy.linalg").eig_banded
        return solve(
            below, lower=True, eigvals_only=True, overwrite_a_band=True, check_finite=False
        )
