"""Names of the types that arguments have."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

# Which names there are is known to who checks programs; when they run, the engine says so.
if TYPE_CHECKING:
    from cubed._core import PadMode as PadMode
    from cubed._core import QuantileMethod as QuantileMethod
else:
    PadMode = QuantileMethod = str

#: An array of NumPy's, of any shape and type.
NDArray: TypeAlias = np.ndarray[Any, np.dtype[Any]]

#: What stands for a type of elements: NumPy's types, their names, ``float``; None: the default.
DTypeLike: TypeAlias = npt.DTypeLike | None

#: An axis, several of them, or None for all.
Axis: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | None

#: Extents: a number for one axis, or one for each.
Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]

#: Chunks of one axis: an extent, -1 for all, the extents of all chunks, ``"auto"`` or a size.
AxisChunks: TypeAlias = int | str | None | Sequence[int]

#: Chunks: see :func:`cubed.rechunk`.
ChunksLike: TypeAlias = int | str | None | Sequence[AxisChunks] | Mapping[int, AxisChunks]

#: Where arrays lie: a path, a URL, or a store of zarr-python.
StoreLike: TypeAlias = str | os.PathLike[str] | Any
