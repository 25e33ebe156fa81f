"""Images at several resolutions."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array_api._pad import pad
from cubed.array_api.block_functions import coarsen
from cubed.array_api.composed_functions import rint
from cubed.base._dtypes import kind_of
from cubed.base._remote import shown
from cubed.exceptions import ArrayExistsError
from cubed.io._create import as_lazy, from_zarr
from cubed.io._store import place_in
from cubed.io._store import store as write

_AXIS_TYPES = {"t": "time", "c": "channel", "z": "space", "y": "space", "x": "space"}
#: Levels are added until no spatial axis with a factor above 1 is longer than this.
_SMALLEST = 256


def pyramid(
    image: Any,
    store: str | os.PathLike[str],
    *,
    axes: str | None = None,
    factors: int | Mapping[str, int] = 2,
    levels: int | None = None,
    method: Literal["mean", "nearest"] = "mean",
    scale: Mapping[str, float] | None = None,
    units: Mapping[str, str] | None = None,
    name: str | None = None,
    overwrite: bool = False,
    **kwargs: Any,
) -> list[Array]:
    """Writes an image at several resolutions, in the format OME-Zarr 0.5 (``multiscales``).

    All levels are computed in one plan, each from the level before.

    Parameters
    ----------
    image : array_like
        Real numbers or booleans, of 2 to 5 axes. Its chunks are those of all levels.
    store : str or os.PathLike
        The directory, or URL, of the group, with an array for each level: ``"0"`` is the image.
    axes : str or None
        The image's axes, a letter for each, in this order: ``t``, ``c``, and two or three of ``z``,
        ``y`` and ``x``. None: the last letters of ``"tczyx"``.
    factors : int or Mapping[str, int], default 2
        Factor from one level to the next smaller level: one for all axes in space, or by letter
        (other axes: 1).
    levels : int or None
        Number of levels, including the image. None: until all axes in space with a factor have at
        most 256 elements.
    method : {"mean", "nearest"}, default "mean"
        Value of a pixel of the smaller level: the mean of the pixels that it covers, rounded for
        integers, or the first of these pixels (for labels).
    scale, units : Mapping[str, float], Mapping[str, str] or None
        Size of the image's pixels by axis (others: 1), and units such as ``"micrometer"``.
    name : str or None
        Name of the image, for viewers.
    overwrite : bool, default False
        Whether to replace data at `store`.
    **kwargs : object
        As for :func:`cubed.store`.

    Returns
    -------
    list of Array
        The levels as they are stored. Lazy.

    Raises
    ------
    ValueError
        The image has no such axes, or a number is out of its range.
    FileExistsError
        There is a group, an array or something else at `store`.

    Examples
    --------
    >>> import cubed
    >>> image = cubed.ones((500, 400), chunks=128)
    >>> full, half = cubed.ndimage.pyramid(image, "image.zarr", units={"y": "mm", "x": "mm"})
    >>> half.shape
    (250, 200)
    """
    x = as_lazy(image)
    if not 2 <= x.ndim <= 5 or kind_of(x.dtype) not in "biuf" or x.size == 0:
        raise ValueError(
            f"pyramid: the image has shape {x.shape} and type {x.dtype}, expected 2 to 5 axes with"
            " pixels that are real numbers or booleans"
        )
    letters = "tczyx"[-x.ndim :] if axes is None else axes
    space = [a for a in letters if _AXIS_TYPES.get(a) == "space"]
    ordered = "".join(a for a in "tczyx" if a in letters)
    if len(letters) != x.ndim or letters != ordered or len(space) < 2:
        raise ValueError(
            f"pyramid: axes is {axes!r}, expected {x.ndim} letters of 'tczyx' in that order, two"
            " of them in space"
        )
    if method not in ("mean", "nearest"):
        raise ValueError(f"pyramid: method is {method!r}, expected 'mean' or 'nearest'")
    shrinks = factors if isinstance(factors, Mapping) else dict.fromkeys(space, factors)
    for what, given, allowed in (
        ("factors", shrinks, space),
        ("scale", scale or {}, letters),
        ("units", units or {}, letters),
    ):
        for a in given:
            if a not in allowed:
                raise ValueError(f"pyramid: {what} has {a!r}, expected {', '.join(allowed)}")
    steps = [operator.index(shrinks.get(a, 1)) for a in letters]
    if min(steps) < 1 or max(steps) < 2:
        raise ValueError(f"pyramid: factors is {factors}, expected whole numbers, one 2 at least")
    count = _levels(x, steps) if levels is None else operator.index(levels)
    if count < 1:
        raise ValueError(f"pyramid: levels is {levels}, expected 1 or more")
    made = [x]
    for _ in range(1, count):
        made.append(_smaller(made[-1], steps, method).rechunk(x.chunksize))
    place = place_in(store, None, x.spec)
    if not isinstance(place, str):
        raise TypeError(
            f"pyramid: store is {shown(store)}, expected a path, or a URL that is written"
        )
    if not overwrite and _is_group(place):
        raise ArrayExistsError(f"{shown(store)} exists: overwrite=True replaces it")
    _core.make_group(place, 3, "{}", overwrite)
    urls = [_core.member(place, str(k)) for k in range(count)]
    named = [y._like(_core.with_dim_names(y._x, tuple(letters))) for y in made]
    write(named, urls, overwrite=False, **kwargs)
    attrs = _multiscales(letters, steps, count, method, scale or {}, units or {}, name)
    _core.make_group(place, 3, json.dumps(attrs), False)
    return [from_zarr(url, spec=x.spec) for url in urls]


def _is_group(url: str) -> bool:
    try:
        _core.members(url, False)
    except FileNotFoundError:
        return False
    return True


def _levels(x: Array, steps: Sequence[int]) -> int:
    sides = [(n, k) for n, k in zip(x.shape, steps, strict=True) if k > 1]
    levels = 1
    while max(n for n, _ in sides) > _SMALLEST:
        sides = [(-(-n // k), k) for n, k in sides]
        levels += 1
    return levels


def _smaller(x: Array, steps: Sequence[int], method: str) -> Array:
    """Returns the next level. At an end of an axis where a pixel covers fewer pixels, the last ones
    are repeated."""
    if method == "nearest":
        return x[tuple(slice(None, None, k) for k in steps)]
    missing = [(0, -n % k) for n, k in zip(x.shape, steps, strict=True)]
    whole = pad(x, missing, mode="edge") if any(n for _, n in missing) else x
    sizes = {d: k for d, k in enumerate(steps) if k > 1}
    mean = coarsen(np.mean, whole.astype(np.float64) if kind_of(x.dtype) != "f" else whole, sizes)
    return mean.astype(x.dtype) if kind_of(x.dtype) == "f" else rint(mean).astype(x.dtype)


def _multiscales(
    letters: str,
    steps: Sequence[int],
    count: int,
    method: str,
    scale: Mapping[str, float],
    units: Mapping[str, str],
    name: str | None,
) -> dict[str, Any]:
    """Returns the group's attributes."""
    pixel = [float(scale.get(a, 1.0)) for a in letters]
    datasets = []
    for level in range(count):
        extent = [p * k**level for p, k in zip(pixel, steps, strict=True)]
        transformations: list[dict[str, Any]] = [{"type": "scale", "scale": extent}]
        if level and method == "mean":
            # The centre of a pixel is the centre of the pixels that it covers.
            middle = [(e - p) / 2 for e, p in zip(extent, pixel, strict=True)]
            transformations.append({"type": "translation", "translation": middle})
        datasets.append({"path": str(level), "coordinateTransformations": transformations})
    axes = [{"name": a, "type": _AXIS_TYPES[a]} for a in letters]
    for axis in axes:
        if axis["name"] in units:
            axis["unit"] = units[axis["name"]]
    image: dict[str, Any] = {"axes": axes, "datasets": datasets, "type": method}
    if name is not None:
        image["name"] = name
    return {"ome": {"version": "0.5", "multiscales": [image]}}
