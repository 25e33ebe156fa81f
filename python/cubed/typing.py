"""Types of arguments of functions, for programs that use a type checker."""

from cubed.base._types import Axis, ChunksLike, DTypeLike, NDArray, Shape, StoreLike

__all__ = ["Axis", "ChunksLike", "DTypeLike", "NDArray", "Shape", "StoreLike"]
