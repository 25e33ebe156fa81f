"""Converts lazily indexed arrays of Xarray's backends to arrays that the engine reads itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from xarray.coding import strings, variables
from xarray.core import indexing

from cubed.array._array import Array
from cubed.io._create import from_array
from cubed.spec import Spec
from cubed.xarray._coding import decoded, joined

_WRAPPERS = (
    indexing.ImplicitToExplicitIndexingAdapter,
    indexing.CopyOnWriteArray,
    indexing.MemoryCachedArray,
    indexing.NumpyIndexingAdapter,
    indexing.ArrayApiIndexingAdapter,
)


def elementwise_function_array() -> Any:
    """Xarray's class of lazily decoded arrays."""
    try:
        from xarray.coding import common
    except ImportError:  # before 2025.3
        return variables._ElementwiseFunctionArray  # type: ignore[attr-defined]
    return common._ElementwiseFunctionArray


def native_array(data: Any, spec: Spec | None) -> Array | None:
    """Converts a lazily indexed array to views and operations over a store or memory.

    Returns None if the engine cannot read the store, or if a wrapper has code that only Python can
    run.
    """
    if isinstance(data, Array):  # the array comes from the backend "cubed"
        return Array._new(data._x, data._spec if spec is None else spec)
    if isinstance(data, np.ndarray):
        return (
            None if data.dtype.kind in "OTV" else from_array(data, data.shape or "auto", spec=spec)
        )
    if isinstance(data, _WRAPPERS):
        return native_array(data.array, spec)
    if isinstance(data, variables.NativeEndiannessArray):
        return native_array(data.array, spec)
    if isinstance(data, variables.BoolTypeArray):
        x = native_array(data.array, spec)
        return None if x is None else x.astype(bool)
    if isinstance(data, strings.StackedBytesArray):
        x = native_array(data.array, spec)
        return None if x is None else joined(x)
    if isinstance(data, indexing.LazilyIndexedArray):
        return _indexed(data, spec)
    if isinstance(data, elementwise_function_array()):
        x = native_array(data.array, spec)
        return None if x is None else decoded(data.func, x)
    return _stored(data, spec)


def _indexed(data: indexing.LazilyIndexedArray, spec: Spec | None) -> Array | None:
    x = native_array(data.array, spec)
    if x is None:
        return None
    for axis, k in reversed(list(enumerate(data.key.tuple))):
        # Arrays of positions select along each axis independently.
        x = x[(slice(None),) * axis + (k,)]
    return x


def _stored(data: Any, spec: Spec | None) -> Array | None:
    """Returns the array of the engine for a Zarr array in a store that the engine reads."""
    array = data.get_array() if hasattr(data, "get_array") else None
    if array is None or type(array).__module__.split(".")[0] != "zarr":
        return None
    try:
        x = from_array(array, "auto", spec=spec)
    except (NotImplementedError, OSError, TypeError, ValueError):
        return None  # a store or a codec that only zarr-python reads
    return x if x.dtype == data.dtype and x.shape == data.shape else None
