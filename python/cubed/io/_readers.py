"""Reads regions of array-like objects."""

from __future__ import annotations

import pickle
import sys
from typing import Any

import numpy as np

from cubed.base._masks import is_masked_array
from cubed.base._pickles import dumps
from cubed.base._stores import in_memory


class Reader:
    """The callable by which the engine reads a region of an object with a shape, a dtype and
    indexing.

    A read may allocate `factor` bytes for each byte that is read (for the object's result and its
    conversion), and `extra` bytes in addition.
    """

    factor = 2.0
    extra = 2.0**20

    def __init__(self, array: Any, dtype: np.dtype[Any], place: str | None = None) -> None:
        self._array = array
        self._dtype = dtype
        self.itemsize = dtype.itemsize
        self.place = place  # a result of the same plan must not replace this location

    def __call__(
        self,
        memory: memoryview,
        offset: tuple[int, ...],
        shape: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> None:
        key = tuple(slice(o, o + n) for o, n in zip(offset, shape, strict=True))
        values = self._array[key]
        if is_masked_array(values) and np.any(values.mask):
            raise TypeError(
                "the object returned a masked array, whose mask would be lost: use an object that"
                " returns x.filled(value), or one for the values and one for the mask"
            )
        values = np.asarray(values)
        if values.shape != shape:
            raise ValueError(f"the object returned shape {values.shape}, expected {shape}")
        if not np.can_cast(values.dtype, self._dtype, "same_kind"):
            raise TypeError(f"the object returned dtype {values.dtype}, expected {self._dtype}")
        np.ndarray(shape, self._dtype, memory, 0, strides)[...] = values

    def dump(self) -> bytes:
        """Serialises the reader for worker processes: see _worker.py."""
        try:
            payload = dumps(self)
        except Exception as e:
            raise TypeError(
                f"{type(self._array).__module__}.{type(self._array).__qualname__} cannot be sent"
                f" to another process: {e}"
            ) from e
        return pickle.dumps((sys.path, payload))

    def __getstate__(self) -> tuple[Any, np.dtype[Any], str | None]:
        store = getattr(self._array, "store", None)
        if in_memory(store) is not None and not hasattr(store, "_store_dict"):
            # Objects that have a dictionary are pickled with it. Other objects may refer to memory
            # of this process, which another process cannot read.
            raise TypeError(f"{store} is in the memory of this process")
        return _portable(self._array), self._dtype, self.place

    def __setstate__(self, state: tuple[Any, np.dtype[Any], str | None]) -> None:
        array, dtype, place = state
        self.__init__(array() if isinstance(array, _H5Path) else array, dtype, place)  # type: ignore[misc]


def load(data: bytes) -> Any:
    """Deserialises the output of dump(), in a process with the same modules."""
    return pickle.loads(pickle.loads(data)[1])


class _H5Path:
    """The file and name of an HDF5 data set, which cannot be pickled itself."""

    def __init__(self, file: str, name: str) -> None:
        self._file, self._name = file, name

    def __call__(self) -> Any:
        import h5py

        return h5py.File(self._file, "r")[self._name]


def _portable(array: Any) -> Any:
    if type(array).__module__.split(".")[0] == "h5py":
        return _H5Path(array.file.filename, array.name)
    return array
