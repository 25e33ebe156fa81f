"""Named tuples of functions with several results."""

from __future__ import annotations

from typing import NamedTuple

from cubed.array._array import Array

__all__ = [
    "EigResult",
    "EighResult",
    "EofsResult",
    "LUResult",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "UniqueAll",
    "UniqueCounts",
    "UniqueInverse",
]


class EigResult(NamedTuple):
    """Eigenvalues, and eigenvectors as columns."""

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """Eigenvalues in ascending order, and orthonormal eigenvectors as columns."""

    eigenvalues: Array
    eigenvectors: Array


class EofsResult(NamedTuple):
    """Patterns, the variance that each explains, and their coefficients at each time."""

    patterns: Array
    variances: Array
    coefficients: Array


class LUResult(NamedTuple):
    """Permutations, lower triangles with ones on the diagonal, and upper triangles."""

    P: Array
    L: Array
    U: Array


class QRResult(NamedTuple):
    """Result of a QR decomposition: orthonormal columns, and an upper triangular matrix."""

    Q: Array
    R: Array


class SlogdetResult(NamedTuple):
    """Signs of determinants, and logarithms of their absolute values."""

    sign: Array
    logabsdet: Array


class SVDResult(NamedTuple):
    """Left singular vectors as columns, singular values, and right singular vectors as rows."""

    U: Array
    S: Array
    Vh: Array


class UniqueAll(NamedTuple):
    """Distinct elements, their first positions, the index of each input element, and counts."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """Distinct elements, and the number of occurrences of each."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """Distinct elements, and for each input element the index of its value among them."""

    values: Array
    inverse_indices: Array
