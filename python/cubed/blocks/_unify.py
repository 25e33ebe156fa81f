"""Common chunks of arrays that are used together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from cubed.array._array import Array
from cubed.array._calls import Cut, common, cuts, sizes
from cubed.array._neighbours import refuse_foreign


def unify_chunks(
    *args: Any, **kwargs: Any
) -> tuple[dict[Hashable, tuple[int, ...]], list[Array | Any]]:
    """Rechunks arrays so that chunks are equal along axes with the same index.

    Parameters
    ----------
    *args : array_like
        Arrays and their indices in turn, such as ``x, "ij", y, "j"``. A value with None as its
        indices is returned unchanged.
    **kwargs : object
        Not supported: any keyword raises TypeError.

    Returns
    -------
    chunks
        For each index the extents of its chunks: the finest chunks of any array.
    arrays
        The arrays, rechunked if their chunks differ. Nothing is computed.

    Raises
    ------
    ValueError
        Axes with the same index have different extents.

    Examples
    --------
    >>> import cubed
    >>> x, y = cubed.ones(6, chunks=2), cubed.ones(6, chunks=3)
    >>> chunks, (x, y) = cubed.unify_chunks(x, "i", y, "i")
    >>> chunks
    {'i': (2, 2, 2)}
    """
    if kwargs:
        raise TypeError(f"unify_chunks: unknown arguments {', '.join(sorted(kwargs))}")
    if len(args) % 2:
        raise TypeError(
            f"unify_chunks: {len(args)} arguments, expected pairs of an array and its indices"
        )
    refuse_foreign(*args, what="unify_chunks")
    pairs: list[tuple[Any, Sequence[Hashable] | None]] = [
        (args[i], None if args[i + 1] is None else tuple(args[i + 1]))
        for i in range(0, len(args), 2)
    ]
    best: dict[Hashable, Cut] = {}
    for a, indices in pairs:
        if indices is None:
            continue
        if len(indices) != a.ndim:
            raise ValueError(f"{len(indices)} indices {indices!r} for an array with {a.ndim} axes")
        for cut, i in zip(cuts(a._x), indices, strict=True):
            old = best.get(i)
            if old is None or old[0] == 1:
                best[i] = cut
            elif cut[0] != 1 and cut[0] != old[0]:
                raise ValueError(f"axes of index {i!r} have extents {old[0]} and {cut[0]}")
            elif cut[0] != 1:
                best[i] = common([old, cut])
    out = [
        a
        if indices is None
        else a.rechunk(
            tuple(best[i][1] if n != 1 else 1 for n, i in zip(a.shape, indices, strict=True))
        )
        for a, indices in pairs
    ]
    return {i: sizes(cut) for i, cut in best.items()}, out
