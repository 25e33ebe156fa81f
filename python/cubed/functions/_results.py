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
    """Eigenvalues, which ascend, and orthonormal eigenvectors as columns."""

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
    """Left singular vectors as columns, singular values, right ones as rows."""

    U: Array
    S: Array
    Vh: Array


class UniqueAll(NamedTuple):
    """Distinct elements, positions of the first of each, the element that each one is, numbers."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """Distinct elements, and the number of each."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """Distinct elements, and which of them each element is."""

    values: Array
    inverse_indices: Array
