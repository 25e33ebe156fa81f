"""Names for types of arguments."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

import numpy as np

# Type checkers know the valid names; at run time the engine checks them. numpy.typing is slow to
# import.
if TYPE_CHECKING:
    from numpy.typing import DTypeLike as _NumPyType

    from cubed._core import PadMode as PadMode
    from cubed._core import QuantileMethod as QuantileMethod
else:
    PadMode = QuantileMethod = str
    _NumPyType = Any

#: A NumPy array of any shape and type.
NDArray: TypeAlias = np.ndarray[Any, np.dtype[Any]]

#: An element type: a NumPy type, its name, or ``float``; None: the default.
DTypeLike: TypeAlias = _NumPyType | None

#: An axis, several axes, or None for all.
Axis: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | None

#: Extents: a number for one axis, or a sequence.
Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]

#: Chunks of one axis: an extent, -1 for all, the extents of all chunks, ``"auto"`` or a size.
AxisChunks: TypeAlias = int | str | None | Sequence[int]

#: Chunks: see :func:`cubed.rechunk`.
ChunksLike: TypeAlias = int | str | None | Sequence[AxisChunks] | Mapping[int, AxisChunks]

#: The place of arrays: a path, a URL, or a store of zarr-python.
StoreLike: TypeAlias = str | os.PathLike[str] | Any
