"""The state of lazy arrays: the array of the engine, the spec, and properties.

:class:`cubed.Array` adds methods and operators. Modules that :class:`cubed.Array` imports use the
class `Array` of this module instead.
"""

from __future__ import annotations

import importlib
import itertools
import math
import sys
import weakref
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cubed import _core
from cubed.array import _dask
from cubed.base._dtypes import dtype_of
from cubed.spec import DEFAULT, Spec


class ArrayBase(metaclass=_dask.NamedType):
    """State and properties of a lazy array."""

    __slots__ = ("_x", "_spec", "_shape", "_dtype", "_name", "_stored", "__weakref__")

    #: The class of all arrays, which :mod:`cubed.array._array` sets.
    _class: ClassVar[type[Array]]

    _x: _core.Array
    _spec: Spec | None
    _name: str | None
    #: Pending writes of the array, see cubed.io._store.Stored.
    _stored: Any

    def __init__(self) -> None:
        raise TypeError("make arrays with from_array, from_zarr or a function of cubed.array_api")

    @staticmethod
    def _new(x: _core.Array, spec: Spec | None) -> Array:
        if not _xarray_met and "xarray" in sys.modules:
            _meet_xarray()
        if spec is not None and not isinstance(spec, Spec):
            raise TypeError(f"spec is {spec!r}, expected a cubed.Spec")
        self = object.__new__(ArrayBase._class)
        self._spec = spec
        self._x = x
        self._shape = x.shape
        self._dtype = self._name = self._stored = None
        return self

    def _rebind(self, x: _core.Array) -> None:
        self._x = x
        self._shape: tuple[int, ...] = x.shape
        self._dtype: np.dtype[Any] | None = None
        self._name = None
        self._stored = None

    def _like(self, x: _core.Array) -> Array:
        return ArrayBase._new(x, self._spec)

    @property
    def name(self) -> str:
        """Name in graphs of plans, unique in this process."""
        if self._name is None:
            self._name = f"array-{next(_numbers):03d}"
            _named[self._x.address] = self
        return self._name

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the axes."""
        if not _xarray_met and "xarray" in sys.modules:  # Xarray first reads the shape
            _meet_xarray()
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Data type."""
        if self._dtype is None:
            self._dtype = dtype_of(self._x.dtype)
        return self._dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self._shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def device(self) -> str:
        """Always ``"cpu"``."""
        return "cpu"

    @property
    def spec(self) -> Spec:
        """Resources of computations with the array."""
        return self._spec if self._spec is not None else DEFAULT

    @property
    def attrs(self) -> dict[str, Any]:
        """A copy of the attributes of the stored array that also describe the values of this
        array."""
        from cubed.base._attributes import plain_attributes  # lazy: rarely needed

        return plain_attributes(self._x.attrs)

    @property
    def chunks(self) -> tuple[tuple[int, ...], ...]:
        """Extents of all chunks, axis by axis."""
        if not _xarray_met and "xarray" in sys.modules:
            _meet_xarray()
        return self._x.all_chunks

    @property
    def chunksize(self) -> tuple[int, ...]:
        """Extents of the largest chunk."""
        return self._x.longest_chunks

    @property
    def numblocks(self) -> tuple[int, ...]:
        """Number of chunks along each axis."""
        return self._x.num_chunks

    @property
    def npartitions(self) -> int:
        """Number of chunks."""
        return math.prod(self.numblocks)

    nchunks = npartitions

    @property
    def chunkmem(self) -> int:
        """Bytes of the largest chunk."""
        return math.prod(self.chunksize) * self.dtype.itemsize

    def __copy__(self) -> Array:
        return self._like(self._x)

    def __deepcopy__(self, memo: Any) -> Array:
        return self._like(self._x)  # the engine's array never changes

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of an array without axes")
        return self._shape[0]


if TYPE_CHECKING:
    from cubed.array._array import Array as Array
else:
    Array = ArrayBase  # all arrays are of a subclass

_numbers = itertools.count(1)
_named: weakref.WeakValueDictionary[int, ArrayBase] = weakref.WeakValueDictionary()


def name_at(address: int) -> str | None:
    """The array's name, if one was requested."""
    x = _named.get(address)
    return x._name if x is not None and x._x.address == address else None


_xarray_met = False


def _meet_xarray() -> None:
    """Registers lazy arrays with Xarray, once, if a program has imported it."""
    global _xarray_met
    if not all(hasattr(sys.modules["xarray"], name) for name in ("__all__", "DataArray")):
        return  # the import of Xarray has not finished
    importlib.import_module("cubed.xarray._patches").install()
    _xarray_met = True
