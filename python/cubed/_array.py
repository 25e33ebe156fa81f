"""The lazy array."""

from __future__ import annotations

import importlib
import math
import numbers
import operator
import reprlib
import sys
from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np

from cubed import _core
from cubed._dtypes import dtype_of, name_of
from cubed._methods import Methods
from cubed._neighbours import by_other, element, is_foreign, refuse_foreign
from cubed.spec import Spec

#: Kinds of Python scalars, in order of promotion, and the kinds of NumPy types that are as high.
_SCALAR_KINDS = {bool: "b", int: "iu", float: "f", complex: "c"}


class Array(Methods):
    """An N-dimensional array in chunks, which is computed when somebody asks for its values.

    Arrays are made by functions such as :func:`cubed.from_array`, :func:`cubed.from_zarr` and those
    of :mod:`cubed.array_api`. Assigning to a part of one puts a new lazy value behind the same
    object.
    """

    __slots__ = ("_x", "_spec", "_shape", "_dtype", "__weakref__")

    __hash__ = None  # type: ignore[assignment]

    _x: _core.Array
    _spec: Spec | None

    def __init__(self) -> None:
        raise TypeError("make arrays with from_array, from_zarr or a function of cubed.array_api")

    @staticmethod
    def _new(x: _core.Array, spec: Spec | None) -> Array:
        if not _xarray_met and "xarray" in sys.modules:
            _meet_xarray()
        if spec is not None and not isinstance(spec, Spec):
            raise TypeError(f"spec is {spec!r}, expected a cubed.Spec")
        self = object.__new__(Array)
        self._spec = spec
        self._rebind(x)
        return self

    def _rebind(self, x: _core.Array) -> None:
        self._x = x
        self._shape: tuple[int, ...] = x.shape
        self._dtype: np.dtype | None = None

    # --- What it is ------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the axes."""
        return self._shape

    @property
    def dtype(self) -> np.dtype:
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
        """What computing it may use."""
        return self._spec if self._spec is not None else Spec()

    @property
    def attrs(self) -> dict[str, Any]:
        """Attributes of a stored array, as far as they still describe the values; a copy."""
        import json

        return json.loads(self._x.attrs)

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

    @property
    def T(self) -> Array:
        """The transpose of a matrix."""
        if self.ndim != 2:
            raise ValueError(f"x.T takes two axes, x has {self.ndim}")
        return self._like(_core.permute_dims(self._x, (1, 0)))

    @property
    def mT(self) -> Array:
        """The transposes of the matrices in the last two axes."""
        if self.ndim < 2:
            raise ValueError(f"x.mT takes at least two axes, x has {self.ndim}")
        axes = (*range(self.ndim - 2), self.ndim - 1, self.ndim - 2)
        return self._like(_core.permute_dims(self._x, axes))

    def _like(self, x: _core.Array) -> Array:
        return Array._new(x, self._spec)

    def __repr__(self) -> str:
        return f"cubed.Array<shape={self.shape}, dtype={self._x.dtype}, chunks={self.chunksize}>"

    def _repr_html_(self) -> str:
        from cubed._html import array_html

        return array_html(self)

    def to_svg(self, size: float = 500) -> str:
        """The chunk grid of the last two axes as SVG, the longer one `size` pixels long.

        An array without axes has none: ``""``. Computes nothing.
        """
        from cubed._html import grid_svg

        return grid_svg(self, size)

    def _repr_inline_(self, max_width: int) -> str:
        return f"cubed.Array<chunksize={self.chunksize}>"[:max_width]

    def __copy__(self) -> Array:
        return self._like(self._x)

    def __deepcopy__(self, memo: Any) -> Array:
        return self._like(self._x)  # what is behind it never changes

    def __reduce__(self) -> Any:
        return _restore, (self._x.dump(), self._spec)

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of an array without axes")
        return self._shape[0]

    # --- Its values ------------------------------------------------------------------------------

    def compute(
        self,
        *,
        executor: Any = None,
        callbacks: Sequence[Any] | None = None,
        optimize_graph: bool = True,
        resume: bool | None = None,
        **kwargs: Any,
    ) -> np.ndarray:
        """The values, as a NumPy array. Parameters as for :func:`cubed.compute`."""
        from cubed._compute import compute

        return compute(
            self,
            executor=executor,
            callbacks=callbacks,
            optimize_graph=optimize_graph,
            resume=resume,
            **kwargs,
        )[0]

    def plan(self, *, optimize_graph: bool = True, optimize_function: Any = None) -> Any:
        """What computing it would run."""
        from cubed._compute import plan

        return plan(self, optimize_graph=optimize_graph, optimize_function=optimize_function)

    def visualize(
        self,
        filename: str = "cubed",
        format: str | None = None,
        optimize_graph: bool = True,
        **kwargs: Any,
    ) -> Any:
        """Draws what computing it would run; see :func:`cubed.visualize`."""
        from cubed._compute import visualize

        return visualize(
            self, filename=filename, format=format, optimize_graph=optimize_graph, **kwargs
        )

    def rechunk(self, chunks: Any, **kwargs: Any) -> Array:
        """The same values in other chunks; see :func:`cubed.rechunk`."""
        from cubed._manipulate import rechunk

        return rechunk(self, chunks, **kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The values, computed now, in new memory; ``copy=False`` is a ValueError."""
        if copy is False:
            raise ValueError("the values of a lazy array cannot be had without a copy")
        values = self.compute()
        return values if dtype is None else values.astype(dtype, copy=False)

    def _scalar(self) -> Any:
        """The only element, computed now."""
        if self.size != 1:
            raise TypeError(f"only arrays of one element are scalars, this one has {self.size}")
        return self.compute().reshape(())[()]

    def __bool__(self) -> bool:
        return bool(self._scalar())

    def __int__(self) -> int:
        return int(self._scalar())

    def __float__(self) -> float:
        return float(self._scalar())

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def __index__(self) -> int:
        if self.dtype.kind not in "iu" or self.ndim:
            raise TypeError("only integer arrays without axes are indices")
        return int(self._scalar())

    def __format__(self, format_spec: str) -> str:
        """With a format the only element in it; without one, as ``str`` does, nothing computes."""
        return format(self.item(), format_spec) if format_spec else str(self)

    def __divmod__(self, other: Any) -> tuple[Array, Array]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Array, Array]:
        return other // self, other % self

    def item(self) -> Any:
        """The only element, as a Python scalar."""
        return self._scalar().item()

    def tolist(self) -> Any:
        """The values as nested lists."""
        return self.compute().tolist()

    # --- Protocols of NumPy and the standard -----------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        from cubed._numpy import call_ufunc

        return call_ufunc(ufunc, method, args, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from cubed._numpy import call_function

        return call_function(func, types, args, kwargs)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
            raise ValueError(f"version {api_version!r} of the Array API is not known")
        from cubed import array_api

        return array_api

    def to_device(self, device: str | None, /, *, stream: Any = None) -> Array:
        """The array itself: ``"cpu"`` is the only device."""
        if device != "cpu":
            raise ValueError(f"there is no device {device!r}, only 'cpu'")
        if stream is not None:
            raise ValueError("the device 'cpu' has no streams")
        return self

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule of the values, computed now, in new memory of the CPU.

        Raises
        ------
        BufferError
            For another device, and types that DLPack does not have, such as dates.
        """
        if stream is not None:
            raise ValueError("the device 'cpu' has no streams")
        if dl_device is not None and tuple(dl_device) != (1, 0):
            raise BufferError(f"arrays are exported to the CPU, not to device {dl_device}")
        values = self.compute()  # new memory in any case: nothing is copied
        try:
            return values.__dlpack__(max_version=max_version)
        except TypeError:  # NumPy 1
            return values.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    # --- Indexing --------------------------------------------------------------------------------

    def __getitem__(self, key: Any, /) -> Array:
        """A part, as in NumPy. Lazy; how many elements a mask picks is computed now."""
        from cubed._indexing import getitem

        return getitem(self, key)

    def __setitem__(self, key: Any, value: Any, /) -> None:
        """Puts a new lazy value, of the same type, behind this object.

        What was made of it before stays as it was. Masks beside other parts of a key, or with a
        value for each row that they pick, are counted now.

        Raises
        ------
        ValueError
            The value's shape does not broadcast to that of the part.
        TypeError
            A complex value for real elements.
        """
        from cubed._assign import setitem

        self._rebind(setitem(self, key, value)._x)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    # --- Operators -------------------------------------------------------------------------------

    def _unary(self, name: str) -> Array:
        if self.dtype.kind in "mM":
            from cubed._times import unary

            return unary(name, self)
        return self._like(_core.elementwise(name, self._x))

    def __neg__(self) -> Array:
        return self._unary("negative")

    def __pos__(self) -> Array:
        return self._unary("positive")

    def __abs__(self) -> Array:
        return self._unary("abs")

    def __invert__(self) -> Array:
        return self._unary("bitwise_invert")

    def __add__(self, other: Any, /) -> Array:
        return _operate("add", self, other)

    def __radd__(self, other: Any, /) -> Array:
        return _operate("add", other, self)

    def __sub__(self, other: Any, /) -> Array:
        return _operate("subtract", self, other)

    def __rsub__(self, other: Any, /) -> Array:
        return _operate("subtract", other, self)

    def __mul__(self, other: Any, /) -> Array:
        return _operate("multiply", self, other)

    def __rmul__(self, other: Any, /) -> Array:
        return _operate("multiply", other, self)

    def __truediv__(self, other: Any, /) -> Array:
        return _operate("divide", self, other)

    def __rtruediv__(self, other: Any, /) -> Array:
        return _operate("divide", other, self)

    def __floordiv__(self, other: Any, /) -> Array:
        return _operate("floor_divide", self, other)

    def __rfloordiv__(self, other: Any, /) -> Array:
        return _operate("floor_divide", other, self)

    def __mod__(self, other: Any, /) -> Array:
        return _operate("remainder", self, other)

    def __rmod__(self, other: Any, /) -> Array:
        return _operate("remainder", other, self)

    def __pow__(self, other: Any, /) -> Array:
        return _operate("pow", self, other)

    def __rpow__(self, other: Any, /) -> Array:
        return _operate("pow", other, self)

    def __matmul__(self, other: Any, /) -> Array:
        return _multiply(self, other)

    def __rmatmul__(self, other: Any, /) -> Array:
        return _multiply(other, self)

    def __and__(self, other: Any, /) -> Array:
        return _operate("bitwise_and", self, other)

    def __rand__(self, other: Any, /) -> Array:
        return _operate("bitwise_and", other, self)

    def __or__(self, other: Any, /) -> Array:
        return _operate("bitwise_or", self, other)

    def __ror__(self, other: Any, /) -> Array:
        return _operate("bitwise_or", other, self)

    def __xor__(self, other: Any, /) -> Array:
        return _operate("bitwise_xor", self, other)

    def __rxor__(self, other: Any, /) -> Array:
        return _operate("bitwise_xor", other, self)

    def __lshift__(self, other: Any, /) -> Array:
        return _operate("bitwise_left_shift", self, other)

    def __rlshift__(self, other: Any, /) -> Array:
        return _operate("bitwise_left_shift", other, self)

    def __rshift__(self, other: Any, /) -> Array:
        return _operate("bitwise_right_shift", self, other)

    def __rrshift__(self, other: Any, /) -> Array:
        return _operate("bitwise_right_shift", other, self)

    def __eq__(self, other: Any, /) -> Array:  # type: ignore[override]
        return _operate("equal", self, other)

    def __ne__(self, other: Any, /) -> Array:  # type: ignore[override]
        return _operate("not_equal", self, other)

    def __lt__(self, other: Any, /) -> Array:
        return _operate("less", self, other)

    def __le__(self, other: Any, /) -> Array:
        return _operate("less_equal", self, other)

    def __gt__(self, other: Any, /) -> Array:
        return _operate("greater", self, other)

    def __ge__(self, other: Any, /) -> Array:
        return _operate("greater_equal", self, other)

    # --- Methods that NumPy's arrays have --------------------------------------------------------

    def astype(self, dtype: Any, copy: bool = True) -> Array:
        """The values in another type; see :func:`cubed.array_api.astype`."""
        to = np.dtype(dtype)
        if self.dtype.kind in "mM" or to.kind in "mM":
            from cubed._times import cast

            return cast(self, to)
        if to == self.dtype:
            return self._like(self._x)
        return self._like(_core.astype(self._x, name_of(dtype)))


_xarray_met = False


def _meet_xarray() -> None:
    """Makes Xarray know lazy arrays, once: whoever imported it may wrap one."""
    global _xarray_met
    if not all(hasattr(sys.modules["xarray"], name) for name in ("__all__", "DataArray")):
        return  # it is just being imported
    importlib.import_module("cubed.xarray._patches").install()
    _xarray_met = True


def _restore(data: bytes, spec: Spec | None) -> Array:
    """An array that was pickled; so may be the code in it."""
    return Array._new(_core.load_array(data, True), spec)


def common_spec(*arrays: Any) -> Spec | None:
    """What computations over these arrays may use: the one spec that some of them have."""
    spec = None
    for a in arrays:
        mine = a._spec if isinstance(a, Array) else None
        if mine is None or mine is spec:
            continue
        if spec is not None and spec != mine:
            raise ValueError(f"arrays with different specs in one computation: {spec}, {mine}")
        spec = mine
    return spec


def is_scalar(value: Any) -> bool:
    """Whether it is a Python scalar, which takes the type of the array that it meets."""
    return isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)


def scalar_type(value: Any, dtype: np.dtype) -> np.dtype:
    """The type that a Python scalar takes beside an array: the array's, if that has its kind."""
    if isinstance(value, bool):
        return dtype
    if isinstance(value, int):
        return np.dtype(np.int64) if dtype.kind == "b" else dtype
    if isinstance(value, float):
        return dtype if dtype.kind in "fc" else np.dtype(np.float64)
    if dtype.kind == "c":
        return dtype
    return np.dtype(np.complex64 if dtype.kind == "f" and dtype.itemsize < 8 else np.complex128)


def scalar_array(value: Any, dtype: np.dtype) -> _core.Array:
    """A 0-d constant."""
    return _core.full(name_of(dtype), (), None, value)


def lazy(value: Any, name: str = "x") -> Array:
    """The argument of that name as a lazy array, which may be one of NumPy's.

    Raises
    ------
    TypeError
        It is no array.
    """
    if isinstance(value, Array):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        return Array._new(core_of(value), None)
    refuse_foreign(value, what=name)
    shown = reprlib.repr(value)
    raise TypeError(f"{name} is {shown}, expected an array: cubed.asarray makes one of it")


def real_number(value: Any, name: str) -> float:
    """The argument of that name as a float; TypeError if it is none."""
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is {value!r}, expected a number")
    return float(value)


def check_device(device: str | None) -> None:
    """ValueError for any but the only device."""
    if device not in (None, "cpu"):
        raise ValueError(f"there is no device {device!r}, only 'cpu'")


def check_arrays(values: Sequence[Any]) -> None:
    """TypeError if one of them is no lazy array."""
    for i, value in enumerate(values):
        if not isinstance(value, Array):
            raise TypeError(f"argument {i} is {reprlib.repr(value)}, expected a cubed.Array")


def core_of(value: Any) -> _core.Array:
    """The engine's array behind an Array, a NumPy array or scalar.

    Raises
    ------
    TypeError
        For masked arrays, and for arrays of other libraries.
    """
    if isinstance(value, Array):
        return value._x
    from cubed._create import core_from_numpy

    return core_from_numpy(to_numpy(value), None)


def to_numpy(value: Any) -> np.ndarray:
    """NumPy's array of an operand that is none of ours; TypeError as from core_of."""
    refuse_masked(value)
    refuse_foreign(value)
    return np.asarray(element(value))


def refuse_masked(value: Any) -> None:
    """TypeError for a masked array, whose mask would be lost."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError("masked arrays are not implemented: give x.filled(value)")


#: Operations that any integer takes part in, also one that the other operand's type does not have:
#: these, searches, and those that make integers floats.
COMPARISONS = frozenset(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"))


_SEARCHES = frozenset(("isin", "searchsorted"))
_FLOATING = frozenset(("divide", "atan2", "hypot", "logaddexp", "copysign", "nextafter"))


def _wide_scalar(name: str, value: Any, dtype: np.dtype) -> _core.Array:
    """A Python scalar of such an operation with an array, in a type that has it."""
    own = scalar_type(value, dtype)
    if own.kind not in "iu" or isinstance(value, bool):
        return scalar_array(value, own)
    for d in (own, np.dtype(np.int64), np.dtype(np.uint64)):
        if np.iinfo(d).min <= value <= np.iinfo(d).max:
            return scalar_array(value, d)
    # Beyond all integers as it is, it may be rounded to one of them.
    wide = math.inf if value > 0 else -math.inf
    return scalar_array(value if name in _FLOATING else wide, np.dtype(np.float64))


def operands(*values: Any, name: str = "") -> tuple[list[_core.Array], Spec | None]:
    """Arrays and Python scalars of an operation, as arrays: at least one of them is an array.

    The operation's name tells whether any integer may be.
    """
    arrays = [None if is_scalar(v) else core_of(v) for v in values]
    dtypes = [dtype_of(a.dtype) for a in arrays if a is not None]
    if not dtypes:
        raise TypeError("at least one operand must be an array")
    dtype = dtypes[0] if len(dtypes) == 1 else np.result_type(*dtypes)
    wide = name in COMPARISONS or name in _SEARCHES or name in _FLOATING
    out = [
        a
        if a is not None
        else _wide_scalar(name, v, dtype)
        if wide
        else scalar_array(v, scalar_type(v, dtype))
        for a, v in zip(arrays, values, strict=True)
    ]
    return out, common_spec(*values)


_OPERANDS = (Array, bool, int, float, complex, str, bytes, np.ndarray, np.generic)


def _operate(name: str, left: Any, right: Any) -> Array:
    left, right = _operand(left), _operand(right)
    if not (_is_operand(left) and _is_operand(right)):
        return by_other(name, left, right, lambda v: isinstance(v, Array))
    if is_time(left) or is_time(right):
        from cubed._times import operate

        return operate(name, left, right)
    if is_text(left) or is_text(right):
        from cubed._texts import compare

        return compare(name, left, right)
    xs, spec = operands(left, right, name=name)
    return Array._new(_core.elementwise(name, *xs), spec)


def _operand(value: Any) -> Any:
    """Sequences, dates and times as arrays and scalars; other operands as they are."""
    if isinstance(value, range):
        from cubed.array_api import arange

        return arange(value.start, value.stop, value.step)  # of any length
    if isinstance(value, (list, tuple)):
        from cubed._create import asarray

        return asarray(value)
    return element(value)


def _is_operand(value: Any) -> bool:
    return isinstance(value, _OPERANDS) and not is_foreign(type(value))


def is_text(value: Any) -> bool:
    """Whether it is text, or an array of it."""
    if isinstance(value, (str, bytes)):
        return True
    return isinstance(value, (Array, np.ndarray, np.generic)) and value.dtype.kind in "SU"


def is_time(value: Any) -> bool:
    return isinstance(value, (Array, np.ndarray, np.generic)) and value.dtype.kind in "mM"


def _multiply(left: Any, right: Any) -> Array:
    left, right = _operand(left), _operand(right)
    if not (_is_operand(left) and _is_operand(right)):
        return by_other("matmul", left, right, lambda v: isinstance(v, Array))
    if not all(isinstance(v, (Array, np.ndarray)) for v in (left, right)):
        return NotImplemented  # a number has no axis to sum over
    return Array._new(_core.pair("matmul", core_of(left), core_of(right)), common_spec(left, right))


def normalize_axis(axis: SupportsIndex, ndim: int) -> int:
    """The axis counted from the first one."""
    try:
        a = operator.index(axis)
    except TypeError:
        raise TypeError(f"axis is {axis!r}, expected an integer") from None
    if not -ndim <= a < ndim:
        raise IndexError(f"axis {a} is out of range for an array with {ndim} axes")
    return a % ndim if ndim else a


def normalize_axes(
    axis: SupportsIndex | Sequence[SupportsIndex] | None, ndim: int
) -> tuple[int, ...]:
    """Axes counted from the first one; all for None."""
    if axis is None:
        return tuple(range(ndim))
    several = isinstance(axis, Sequence) and not isinstance(axis, str)
    several = several or (isinstance(axis, np.ndarray) and axis.ndim == 1)
    axes: Any = axis if several else (axis,)
    out = tuple(normalize_axis(a, ndim) for a in axes)
    if len(set(out)) != len(out):
        raise ValueError(f"an axis comes twice in {axis!r}")
    return out
