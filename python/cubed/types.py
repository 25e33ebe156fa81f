"""Types of arguments, with the names that Cubed for Python uses."""

from __future__ import annotations

from typing import Any

import numpy as np

from cubed.base._types import ChunksLike

T_Chunks = ChunksLike
T_DType = np.dtype[Any]
T_RectangularChunks = tuple[tuple[int, ...], ...]
T_RegularChunks = tuple[int, ...]
T_Shape = tuple[int, ...]
T_Store = Any
