"""Names of the types that arguments of functions have, for programs that are checked."""

from cubed.base._types import Axis, ChunksLike, DTypeLike, NDArray, Shape, StoreLike

__all__ = ["Axis", "ChunksLike", "DTypeLike", "NDArray", "Shape", "StoreLike"]
