"""Chunks in the spelling of Dask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cubed.base._chunks import explicit_chunks

__all__ = ["normalize_chunks"]


def normalize_chunks(
    chunks: Any,
    shape: Sequence[int] | None = None,
    limit: int | str | None = None,
    dtype: Any = None,
    previous_chunks: Any = None,
) -> tuple[tuple[int, ...], ...]:
    """The extents of all chunks, axis by axis.

    Parameters
    ----------
    chunks : int, tuple, str or None
        As for :func:`cubed.rechunk`, or the extents themselves.
    shape : int or tuple of int or None
        Of the array; only extents of all chunks can do without.
    limit : int, str or None
        Bytes that a chunk has at most where axes are ``"auto"``; default: 128 MiB.
    dtype : dtype or None
        Of the array; ``"auto"`` needs it.
    previous_chunks : tuple or None
        Chunks so far, or those of a store: automatic extents are multiples of them.

    Returns
    -------
    tuple of tuple of int
        For each axis the extents of its chunks. Computes nothing.

    Raises
    ------
    ValueError
        Chunks do not belong to the shape; ``"auto"`` without a type.

    Examples
    --------
    >>> import cubed
    >>> from cubed.vendor.dask.array.core import normalize_chunks
    >>> normalize_chunks((2, -1), shape=(5, 3))
    ((2, 2, 1), (3,))
    """
    itemsize = None if dtype is None else max(1, np.dtype(dtype).itemsize)
    return explicit_chunks(chunks, shape, itemsize, limit, previous_chunks)
