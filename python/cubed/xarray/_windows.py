"""Reductions of windows, of blocks with the elements around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import cubed
from cubed._array import Array


def moving(
    name: str, x: Array, axis: int, before: int, after: int, min_count: int, ddof: float
) -> Array | None:
    """Each element's reduction of itself and elements before and after it that are not NaN.

    Parameters
    ----------
    name
        ``"sum"``, ``"mean"``, ``"min"``, ``"max"``, ``"prod"``, ``"var"`` or ``"std"``.
    x
        Of floats.
    min_count
        NaN where fewer elements are known.

    Returns
    -------
    Array of x's type and shape, lazy; None for another reduction. Each chunk of x is read once,
    with what is around it.
    """
    if name not in _REDUCTIONS:
        return None
    # A total, what is added to it, a mask, and how many there are.
    extra = x.chunkmem // x.itemsize * (4 * 8 + 1)
    return cubed.map_overlap(
        _reduced,
        x,
        dtype=x.dtype,
        depth={axis: (before, after)},
        boundary={axis: float("nan")},  # which does not count
        extra_projected_mem=extra,
        name=f"moving {name}",
        reduction=name,
        axis=axis,
        window=before + 1 + after,
        min_count=min_count,
        ddof=ddof,
    )


def _reduced(
    block: np.ndarray, reduction: str, axis: int, window: int, min_count: int, ddof: float
) -> np.ndarray:
    n = block.shape[axis] - window + 1
    shape = tuple(n if d == axis else s for d, s in enumerate(block.shape))

    def parts() -> Iterator[np.ndarray]:
        for k in range(window):
            yield block[(slice(None),) * axis + (slice(k, k + n),)]

    known = np.zeros(shape, np.int64)
    for part in parts():
        known += ~np.isnan(part)
    with np.errstate(all="ignore"):
        out = _REDUCTIONS[reduction](parts, shape, known, ddof)
    out[known < min_count] = np.nan
    return out.astype(block.dtype)


def _sum(parts: Callable[[], Iterator[np.ndarray]], shape: Any, known: Any, _: Any) -> np.ndarray:
    out = np.zeros(shape)
    for part in parts():
        np.add(out, part, out=out, where=~np.isnan(part))
    return out


def _mean(parts: Any, shape: Any, known: Any, _: Any) -> np.ndarray:
    return np.divide(_sum(parts, shape, known, _), known)


def _prod(parts: Any, shape: Any, known: Any, _: Any) -> np.ndarray:
    out = np.ones(shape)
    for part in parts():
        np.multiply(out, part, out=out, where=~np.isnan(part))
    return out


def _min(parts: Any, shape: Any, known: Any, _: Any) -> np.ndarray:
    out = np.full(shape, np.nan)
    for part in parts():
        np.fmin(out, part, out=out)
    return out


def _max(parts: Any, shape: Any, known: Any, _: Any) -> np.ndarray:
    out = np.full(shape, np.nan)
    for part in parts():
        np.fmax(out, part, out=out)
    return out


def _var(parts: Any, shape: Any, known: Any, ddof: float) -> np.ndarray:
    mean = _mean(parts, shape, known, ddof)
    out = np.zeros(shape)
    for part in parts():
        difference = part - mean
        np.add(out, difference * difference, out=out, where=~np.isnan(part))
    freedom = known - ddof
    return np.where(freedom > 0, out / freedom, np.nan)


def _std(parts: Any, shape: Any, known: Any, ddof: float) -> np.ndarray:
    return np.sqrt(_var(parts, shape, known, ddof))


_REDUCTIONS: dict[str, Callable[..., np.ndarray]] = {
    "max": _max,
    "mean": _mean,
    "min": _min,
    "prod": _prod,
    "std": _std,
    "sum": _sum,
    "var": _var,
}
