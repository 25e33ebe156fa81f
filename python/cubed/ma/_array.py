"""The class of masked arrays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import normalize_axes
from cubed.array_api import elementwise_functions as _elements
from cubed.array_api import manipulation_functions as _shapes
from cubed.array_api import statistical_functions as _reductions
from cubed.array_api.creation_functions import zeros_like as _zeros_like
from cubed.array_api.searching_functions import argmax as _argmax
from cubed.array_api.searching_functions import argmin as _argmin
from cubed.array_api.searching_functions import where as _where
from cubed.array_api.statistical_functions import cumulative_prod, cumulative_sum
from cubed.array_api.utility_functions import all as _all
from cubed.array_api.utility_functions import any as _any
from cubed.base._dtypes import kind_of
from cubed.base._operators import Operators
from cubed.base._types import Axis, ChunksLike, DTypeLike
from cubed.io._create import as_lazy
from cubed.planning._compute import compute as _compute

if TYPE_CHECKING:
    from cubed._core import Operation

_ma: Any = np.ma  # NumPy has few type annotations for numpy.ma


def axes_of(name: str, axis: Axis, ndim: int) -> tuple[int, ...] | None:
    """Returns axes as indices that are not negative, or None; `name` is the function in errors."""
    return None if axis is None else normalize_axes(name, axis, ndim)


def count_of(name: str, x: Array, axis: Axis, keepdims: bool = False) -> Array:
    """Counts the true elements; `name` is the function in errors."""
    return x._like(_core.call_as(name, "count_nonzero", x._x, axis, keepdims))


#: Functions of :mod:`cubed.ma` by name, which NumPy's functions of the same names call.
FUNCTIONS: dict[str, Any] = {}

#: Ufuncs whose results are masked where their second operand is 0, as in NumPy.
_DIVISIONS = ("divide", "floor_divide", "remainder", "fmod")

#: Ufuncs whose results are masked where a real operand is out of their domain.
_DOMAINS: dict[str, Any] = {
    "sqrt": lambda x: x < 0,
    **dict.fromkeys(("log", "log2", "log10"), lambda x: x <= 0),
    **dict.fromkeys(("arcsin", "arccos"), lambda x: _elements.abs(x) > 1),
    "arccosh": lambda x: x < 1,
    "arctanh": lambda x: _elements.abs(x) > 1 - 1e-15,
    "tan": lambda x: _elements.abs(_elements.cos(x)) < 1e-35,
}


#: NumPy's operations by the standard's names, which NumPy 1 does not have.
_OWN_NAMES: dict[str, np.ufunc] = {
    "bitwise_left_shift": np.left_shift,
    "bitwise_right_shift": np.right_shift,
    "pow": np.power,
}


class MaskedArray(Operators):
    """An array with masked elements: :attr:`data`, and :attr:`mask`, true for masked elements.

    Create it by :func:`masked_array` and other functions of this module. Operators and NumPy's
    ufuncs mask elements that are masked in an operand, and quotients by 0. Reductions skip masked
    elements; a result without any element is masked. `compute` returns a NumPy masked array.

    Parameters
    ----------
    data : Array
        Input array.
    mask : Array of bool
        True for masked elements; broadcast to the shape of the data.
    fill_value : scalar or None
        Value that :meth:`filled` uses for masked elements; None: NumPy's default.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ma.masked_array([1.0, 2.0, 3.0], [False, True, False])
    >>> (x + 1).compute()
    masked_array(data=[2.0, --, 4.0],
                 mask=[False,  True, False],
           fill_value=1e+20)
    >>> float(x.mean().compute())
    2.0
    """

    __slots__ = ("_values", "_fill", "_hard", "_hidden")
    __array_priority__: float = 20.0

    def __init__(self, data: Array, mask: Array, fill_value: Any = None) -> None:
        if mask.dtype.kind != "b":
            raise TypeError(f"a mask of {mask.dtype}, expected bool")
        self._values = data
        self._hidden = mask if mask.shape == data.shape else _shapes.broadcast_to(mask, data.shape)
        self._hard = False
        # The fill value may be a NumPy scalar from before a cast of the array.
        derived = isinstance(fill_value, np.generic)
        self._fill = fill_value if derived else checked_fill(fill_value, data.dtype)

    @property
    def data(self) -> Array:
        """The elements. Masked elements have arbitrary values."""
        return self._values

    @property
    def mask(self) -> Array:
        """The mask, true for masked elements: bool, of the shape of the data."""
        return self._hidden

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the axes."""
        return self._values.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Data type of the elements."""
        return self._values.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._values.ndim

    @property
    def size(self) -> int:
        """Number of elements, masked ones included."""
        return self._values.size

    @property
    def chunks(self) -> tuple[tuple[int, ...], ...]:
        """Extents of all chunks of the data."""
        return self._values.chunks

    @property
    def fill_value(self) -> Any:
        """The value that replaces masked elements in :meth:`filled`; by default NumPy's."""
        if self._fill is None:
            return _ma.default_fill_value(self.dtype)
        return np.asarray(self._fill).astype(self.dtype)[()]

    @fill_value.setter
    def fill_value(self, value: Any) -> None:
        self._fill = checked_fill(value, self.dtype)

    @property
    def T(self) -> MaskedArray:
        """The array with its axes in reverse order."""
        return self._each(lambda x: x.T)

    def __repr__(self) -> str:
        return (
            f"cubed.ma.MaskedArray<shape={self.shape}, dtype={self.dtype},"
            f" chunks={self._values.chunksize}>"
        )

    def __len__(self) -> int:
        return len(self._values)

    def _each(self, function: Any) -> MaskedArray:
        """Applies a function to the data, and separately to the mask."""
        return MaskedArray(function(self._values), function(self._hidden), self._fill)

    # --- Values ------------------------------------------------------------------------------

    def compute(self, **kwargs: Any) -> Any:
        """Computes the values and returns NumPy's masked array.

        Parameters
        ----------
        **kwargs : array_like
            As for :func:`cubed.compute`.

        Returns
        -------
        array_like
            NumPy's masked array.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> print(x.compute())
        [1.0 -- 6.0]
        """
        data, mask = _compute(self._values, self._hidden, **kwargs)
        return _ma.MaskedArray(data, mask, fill_value=self._fill)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise TypeError("a masked array has no values without its mask: use compute, or filled")

    def filled(self, fill_value: Any = None) -> Array:
        """The data with a value in place of masked elements.

        Parameters
        ----------
        fill_value : scalar or None
            Value in place of masked elements; None: the array's `fill_value`.

        Returns
        -------
        Array
            Same shape and type as the argument. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> x.filled(0).compute()
        array([1., 0., 6.])
        """
        value = self.fill_value if fill_value is None else checked_fill(fill_value, self.dtype)
        return _where(self._hidden, value, self._values)

    # --- Arranging ---------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> MaskedArray:
        key = key.filled(False) if isinstance(key, MaskedArray) else key
        return self._each(lambda x: x[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assigns to a part, which gets the mask of the value.

        :data:`numpy.ma.masked` masks the part. Arrays that were created from this object earlier do
        not change. With a hard mask, masked elements keep their values and stay masked.
        """
        key = key.filled(False) if isinstance(key, MaskedArray) else key
        data, hidden = self._values.copy(), self._hidden.copy()
        if value is _ma.masked:
            hidden[key] = True
        else:
            data[key] = value.data if isinstance(value, MaskedArray) else plain(value)
            masked = isinstance(value, (MaskedArray, np.ma.MaskedArray))
            hidden[key] = getmaskarray(value) if masked else False
        self._replace(data, hidden)

    def _replace(self, data: Array, hidden: Array) -> None:
        """Replaces the values and the mask of this object."""
        if self._hard:
            data = _where(self._hidden, self._values, data)
            hidden = _elements.logical_or(self._hidden, hidden)
        self._values, self._hidden = data, hidden

    @property
    def hardmask(self) -> bool:
        """Whether assignments leave masked elements masked."""
        return self._hard

    def harden_mask(self) -> MaskedArray:
        """Makes assignments leave masked elements masked.

        Returns
        -------
        MaskedArray
            The array itself.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1, 2], [False, True]).harden_mask()
        >>> x[:] = 7
        >>> print(x.compute())
        [7 --]
        """
        self._hard = True
        return self

    def soften_mask(self) -> MaskedArray:
        """Makes assignments of values unmask elements, which is the default.

        Returns
        -------
        MaskedArray
            The array itself.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1, 2], [False, True]).soften_mask()
        >>> x[:] = 7
        >>> print(x.compute())
        [7 7]
        """
        self._hard = False
        return self

    def astype(self, dtype: DTypeLike) -> MaskedArray:
        """The elements in another type.

        Parameters
        ----------
        dtype : dtype or None
            Data type of the result's elements.

        Returns
        -------
        MaskedArray
            Masked elements stay masked. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> print(x.astype("int64").compute())
        [1 -- 6]
        """
        return MaskedArray(self._values.astype(dtype), self._hidden, self._fill)

    def copy(self) -> MaskedArray:
        """Returns another object with the same lazy value.

        Returns
        -------
        MaskedArray
            Masked elements stay masked. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> print(x.copy().compute())
        [1.0 -- 6.0]
        """
        out = self._each(lambda x: x.copy())
        out._hard = self._hard
        return out

    def reshape(self, *shape: Any, order: str = "C") -> MaskedArray:
        """The elements in another shape.

        Parameters
        ----------
        *shape : int or tuple of int
            The new shape; -1: computed from the number of elements.
        order : {"C", "F"}, default "C"
            Which axis varies fastest: the last (C) or the first (F).

        Returns
        -------
        MaskedArray
            Masked elements stay masked. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> print(x.reshape(1, 3).compute())
        [[1.0 -- 6.0]]
        """
        return self._each(lambda x: x.reshape(*shape, order=order))

    def ravel(self, order: str = "C") -> MaskedArray:
        """The flattened array: all elements in one dimension, in C order.

        Parameters
        ----------
        order : {"C", "F"}, default "C"
            Which axis varies fastest: the last (C) or the first (F).

        Returns
        -------
        MaskedArray
            Masked elements stay masked. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> print(x.reshape(1, 3).ravel().compute())
        [1.0 -- 6.0]
        """
        return self._each(lambda x: x.ravel(order))

    def transpose(self, *axes: Any) -> MaskedArray:
        """The array with its axes in another order.

        Parameters
        ----------
        *axes : int or tuple of int
            The axes in their new order; none: reversed.

        Returns
        -------
        MaskedArray
            Masked elements stay masked. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> x.reshape(1, 3).transpose().shape
        (3, 1)
        """
        return self._each(lambda x: x.transpose(*axes))

    def squeeze(self, axis: Any = None) -> MaskedArray:
        """The array without axes of extent 1.

        Parameters
        ----------
        axis : int, tuple of int or None
            The axes of extent 1 to remove; None: all.

        Returns
        -------
        MaskedArray
            Masked elements stay masked. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> x.reshape(1, 3).squeeze().shape
        (3,)
        """
        return self._each(lambda x: x.squeeze(axis))

    def rechunk(self, chunks: ChunksLike) -> MaskedArray:
        """The same values in other chunks.

        Parameters
        ----------
        chunks : int, tuple, str or None
            The new chunks, see :func:`cubed.rechunk`.

        Returns
        -------
        MaskedArray
            Masked elements stay masked. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> x.rechunk(2).chunks
        ((2, 1),)
        """
        return self._each(lambda x: x.rechunk(chunks))

    def compressed(self) -> Array:
        """The elements that are not masked, in one dimension; they are counted immediately.

        Returns
        -------
        Array
            An array with one axis. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> x.compressed().compute()
        array([1., 6.])
        """
        return self._values.ravel()[~self._hidden.ravel()]

    # --- Reductions --------------------------------------------------------------------------

    def _reduced(self, out: Array, axis: Axis, keepdims: bool) -> MaskedArray:
        return MaskedArray(out, _all(self._hidden, axis=axis, keepdims=keepdims), self._fill)

    def count(self, axis: Axis = None, keepdims: bool = False) -> Array:
        """Counts the elements that are not masked.

        Parameters
        ----------
        axis : int, tuple of int or None
            Axes along which to compute; None: all. Negative numbers count from the last.
        keepdims : bool, default False
            Whether to keep reduced axes, with extent 1.

        Returns
        -------
        Array
            Without the reduced axes, or with extent 1 along them if `keepdims` is true.
            int64. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> int(x.count().compute())
        2
        """
        return count_of("count", ~self._hidden, axis, keepdims)

    def sum(self, axis: Axis = None, dtype: DTypeLike = None, *, keepdims: bool = False) -> Any:
        """Sums of elements that are not masked.

        Parameters
        ----------
        axis : int, tuple of int or None
            Axes along which to compute; None: all. Negative numbers count from the last.
        dtype : dtype or None
            Data type of the result's elements.
        keepdims : bool, default False
            Whether to keep reduced axes, with extent 1.

        Returns
        -------
        array_like
            Without the reduced axes, or with extent 1 along them if `keepdims` is true.
            Masked where all reduced elements are masked. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> float(x.sum().compute())
        7.0
        """
        out = self._values.sum(axis, dtype, keepdims=keepdims, where=~self._hidden)
        return self._reduced(out, axis, keepdims)

    def prod(self, axis: Axis = None, dtype: DTypeLike = None, *, keepdims: bool = False) -> Any:
        """Products of elements that are not masked.

        Parameters
        ----------
        axis : int, tuple of int or None
            Axes along which to compute; None: all. Negative numbers count from the last.
        dtype : dtype or None
            Data type of the result's elements.
        keepdims : bool, default False
            Whether to keep reduced axes, with extent 1.

        Returns
        -------
        array_like
            Without the reduced axes, or with extent 1 along them if `keepdims` is true.
            Masked where all reduced elements are masked. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> float(x.prod().compute())
        6.0
        """
        out = self._values.prod(axis, dtype, keepdims=keepdims, where=~self._hidden)
        return self._reduced(out, axis, keepdims)

    def mean(self, axis: Axis = None, dtype: DTypeLike = None, *, keepdims: bool = False) -> Any:
        """Means of elements that are not masked.

        Parameters
        ----------
        axis : int, tuple of int or None
            Axes along which to compute; None: all. Negative numbers count from the last.
        dtype : dtype or None
            Data type of the result's elements.
        keepdims : bool, default False
            Whether to keep reduced axes, with extent 1.

        Returns
        -------
        array_like
            Without the reduced axes, or with extent 1 along them if `keepdims` is true.
            Masked where all reduced elements are masked. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> float(x.mean().compute())
        3.5
        """
        out = self._values.mean(axis, dtype, keepdims=keepdims, where=~self._hidden)
        mean = self._reduced(out, axis, keepdims)
        return finite(mean) if out.ndim else mean

    def var(
        self,
        axis: Axis = None,
        dtype: DTypeLike = None,
        *,
        ddof: float = 0,
        keepdims: bool = False,
    ) -> Any:
        """Variances of elements that are not masked. A variance of too few elements is masked.

        Parameters
        ----------
        axis : int, tuple of int or None
            Axes along which to compute; None: all. Negative numbers count from the last.
        dtype : dtype or None
            Data type of the result's elements.
        ddof : float, default 0
            Number subtracted from the number of elements in the divisor.
        keepdims : bool, default False
            Whether to keep reduced axes, with extent 1.

        Returns
        -------
        array_like
            Without the reduced axes, or with extent 1 along them if `keepdims` is true.
            Masked where all reduced elements are masked. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> float(x.var().compute())
        6.25
        """
        out = self._values.var(axis, dtype, ddof=ddof, keepdims=keepdims, where=~self._hidden)
        few = self.count(axis, keepdims) <= ddof
        return MaskedArray(out, few, self._fill)

    def std(
        self,
        axis: Axis = None,
        dtype: DTypeLike = None,
        *,
        ddof: float = 0,
        keepdims: bool = False,
    ) -> Any:
        """Standard deviations of elements that are not masked; masked if there are too few.

        Parameters
        ----------
        axis : int, tuple of int or None
            Axes along which to compute; None: all. Negative numbers count from the last.
        dtype : dtype or None
            Data type of the result's elements.
        ddof : float, default 0
            Number subtracted from the number of elements in the divisor.
        keepdims : bool, default False
            Whether to keep reduced axes, with extent 1.

        Returns
        -------
        array_like
            Without the reduced axes, or with extent 1 along them if `keepdims` is true.
            Masked where all reduced elements are masked. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> float(x.std().compute())
        2.5
        """
        axes = axes_of("std", axis, self.ndim)
        out = self.var(axes, dtype, ddof=ddof, keepdims=keepdims)
        return MaskedArray(_elements.sqrt(out.data), out.mask, self._fill)

    def _beyond(self, largest: bool) -> Array:
        """Replaces masked elements by a value that cannot be the extreme."""
        return _where(self._hidden, _bound(self.dtype, largest), self._values)

    def _extreme(self, largest: bool, axis: Axis, keepdims: bool) -> MaskedArray:
        extreme = _reductions.max if largest else _reductions.min
        out = extreme(self._beyond(largest), axis=axis, keepdims=keepdims)
        return self._reduced(out, axis, keepdims)

    def max(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """The largest element that is not masked.

        Parameters
        ----------
        axis : int, tuple of int or None
            Axes along which to compute; None: all. Negative numbers count from the last.
        keepdims : bool, default False
            Whether to keep reduced axes, with extent 1.

        Returns
        -------
        array_like
            Without the reduced axes, or with extent 1 along them if `keepdims` is true.
            Masked where all reduced elements are masked. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> float(x.max().compute())
        6.0
        """
        return self._extreme(True, axis, keepdims)

    def min(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """The smallest element that is not masked.

        Parameters
        ----------
        axis : int, tuple of int or None
            Axes along which to compute; None: all. Negative numbers count from the last.
        keepdims : bool, default False
            Whether to keep reduced axes, with extent 1.

        Returns
        -------
        array_like
            Without the reduced axes, or with extent 1 along them if `keepdims` is true.
            Masked where all reduced elements are masked. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> float(x.min().compute())
        1.0
        """
        return self._extreme(False, axis, keepdims)

    def ptp(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """The largest element that is not masked, minus the smallest.

        Parameters
        ----------
        axis : int, tuple of int or None
            Axes along which to compute; None: all. Negative numbers count from the last.
        keepdims : bool, default False
            Whether to keep reduced axes, with extent 1.

        Returns
        -------
        array_like
            Without the reduced axes, or with extent 1 along them if `keepdims` is true.
            Masked where all reduced elements are masked. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> float(x.ptp().compute())
        5.0
        """
        axes = axes_of("ptp", axis, self.ndim)
        return self.max(axes, keepdims=keepdims) - self.min(axes, keepdims=keepdims)

    def argmax(
        self, axis: int | None = None, fill_value: Any = None, *, keepdims: bool = False
    ) -> Array:
        """The position of the largest element that is not masked, the first of several.

        `fill_value` replaces masked elements; by default the smallest value of the type.

        Parameters
        ----------
        axis : int or None
            Axis along which to compute. None: the flattened array.
        fill_value : scalar or None
            Value in place of masked elements; None: the smallest value of the type.
        keepdims : bool, default False
            Whether to keep reduced axes, with extent 1.

        Returns
        -------
        Array
            int64, without the axis; for None, positions in the data in C order. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, False, True])
        >>> int(x.argmax().compute())
        1
        """
        x = self._beyond(True) if fill_value is None else self.filled(fill_value)
        return _argmax(x, axis=axis, keepdims=keepdims)

    def argmin(
        self, axis: int | None = None, fill_value: Any = None, *, keepdims: bool = False
    ) -> Array:
        """The position of the smallest element that is not masked, the first of several.

        `fill_value` replaces masked elements; by default the largest value of the type.

        Parameters
        ----------
        axis : int or None
            Axis along which to compute. None: the flattened array.
        fill_value : scalar or None
            Value in place of masked elements; None: the largest value of the type.
        keepdims : bool, default False
            Whether to keep reduced axes, with extent 1.

        Returns
        -------
        Array
            int64, without the axis; for None, positions in the data in C order. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [True, False, False])
        >>> int(x.argmin().compute())
        1
        """
        x = self._beyond(False) if fill_value is None else self.filled(fill_value)
        return _argmin(x, axis=axis, keepdims=keepdims)

    def all(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Whether all elements that are not masked are true.

        Parameters
        ----------
        axis : int, tuple of int or None
            Axes along which to compute; None: all. Negative numbers count from the last.
        keepdims : bool, default False
            Whether to keep reduced axes, with extent 1.

        Returns
        -------
        array_like
            Without the reduced axes, or with extent 1 along them if `keepdims` is true.
            Masked where all reduced elements are masked. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([True, False], [False, True])
        >>> bool(x.all().compute())
        True
        """
        out = _all(self._values, axis=axis, keepdims=keepdims, where=~self._hidden)
        return self._reduced(out, axis, keepdims)

    def any(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Whether any element that is not masked is true.

        Parameters
        ----------
        axis : int, tuple of int or None
            Axes along which to compute; None: all. Negative numbers count from the last.
        keepdims : bool, default False
            Whether to keep reduced axes, with extent 1.

        Returns
        -------
        array_like
            Without the reduced axes, or with extent 1 along them if `keepdims` is true.
            Masked where all reduced elements are masked. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([True, False], [False, True])
        >>> bool(x.any().compute())
        True
        """
        out = _any(self._values, axis=axis, keepdims=keepdims, where=~self._hidden)
        return self._reduced(out, axis, keepdims)

    def cumsum(self, axis: int | None = None, dtype: DTypeLike = None) -> MaskedArray:
        """Running sums. Masked elements count as 0 and stay masked.

        Parameters
        ----------
        axis : int or None
            Axis along which to compute. None: the flattened array.
        dtype : dtype or None
            Data type of the result's elements.

        Returns
        -------
        MaskedArray
            Masked elements stay masked. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> print(x.cumsum().compute())
        [1.0 -- 7.0]
        """
        return self._running("cumsum", cumulative_sum, 0, axis, dtype)

    def cumprod(self, axis: int | None = None, dtype: DTypeLike = None) -> MaskedArray:
        """Running products. Masked elements count as 1 and stay masked.

        Parameters
        ----------
        axis : int or None
            Axis along which to compute. None: the flattened array.
        dtype : dtype or None
            Data type of the result's elements.

        Returns
        -------
        MaskedArray
            Masked elements stay masked. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> print(x.cumprod().compute())
        [1.0 -- 6.0]
        """
        return self._running("cumprod", cumulative_prod, 1, axis, dtype)

    def _running(
        self, name: str, total: Any, start: int, axis: int | None, dtype: DTypeLike
    ) -> MaskedArray:
        """Computes running sums or products, with `start` in place of masked elements."""
        x = self.ravel() if axis is None else self
        (d,) = normalize_axes(name, axis or 0, x.ndim)
        return MaskedArray(total(x.filled(start), axis=d, dtype=dtype), x.mask, self._fill)

    def anom(self, axis: Axis = None, dtype: DTypeLike = None) -> MaskedArray:
        """The elements minus their mean.

        Parameters
        ----------
        axis : int, tuple of int or None
            Axes along which to compute; None: all. Negative numbers count from the last.
        dtype : dtype or None
            Data type of the result's elements.

        Returns
        -------
        MaskedArray
            Masked elements stay masked. Lazy.

        Examples
        --------
        >>> import cubed
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> print(x.anom().compute())
        [-2.5 -- 2.5]
        """
        axes = axes_of("anom", axis, self.ndim)
        return self - self.mean(axes, dtype, keepdims=axes is not None)

    # --- Operators ---------------------------------------------------------------------------

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Calls the function of this module that corresponds to a NumPy function. If there is
        none, raises an error, because other functions do not support masks."""
        name = function.__name__
        if function is not getattr(np, name, None) or name not in FUNCTIONS:
            raise TypeError(f"cubed.ma has no {name}: call it with m.filled(value), or m.data")
        return FUNCTIONS[name](*args, **kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or ufunc.nout != 1:
            raise TypeError(f"{ufunc.__name__}.{method} of a masked array takes no parameters")
        return self._apply(ufunc, args)

    def _apply(self, ufunc: Any, args: Any, finite: bool = False) -> MaskedArray:
        """Calls a ufunc. `finite`: functions with a domain also mask results that are not
        finite."""
        datas = [a.data if isinstance(a, MaskedArray) else a for a in args]
        lazies = [d if isinstance(d, Array) else as_lazy(d) for d in map(plain, datas)]
        out = ufunc(*(d if is_number(d) else x for d, x in zip(datas, lazies, strict=True)))
        name = ufunc.__name__
        mask = self._masks(name, args, lazies, out.shape)
        bounded = name in _DOMAINS or name in _DIVISIONS or name == "power"
        if finite and bounded and kind_of(out.dtype) in "fc":
            mask = _elements.logical_or(mask, ~_elements.isfinite(out))
        return MaskedArray(out, mask, self._fill)

    @staticmethod
    def _masks(name: str, args: Any, lazies: list[Array], shape: tuple[int, ...]) -> Array:
        masks = [getmaskarray(a) for a in args if isinstance(a, (MaskedArray, np.ma.MaskedArray))]
        if name in _DIVISIONS:
            masks.append(lazies[1] == 0)
        elif name in _DOMAINS and kind_of(lazies[0].dtype) in "iuf":
            masks.append(_DOMAINS[name](lazies[0]))
        out = masks[0]
        for m in masks[1:]:
            out = _elements.logical_or(out, m)
        return _shapes.broadcast_to(out, shape)

    def _operate(self, name: Operation, other: Any, reflected: bool = False) -> Self:
        pair = (other, self) if reflected else (self, other)
        ufunc = _OWN_NAMES.get(name) or getattr(np, name)
        return self._apply(ufunc, pair, finite=True)  # type: ignore[return-value]

    def __neg__(self) -> MaskedArray:
        return MaskedArray(-self._values, self._hidden, self._fill)

    def __pos__(self) -> MaskedArray:
        return MaskedArray(+self._values, self._hidden, self._fill)

    def __abs__(self) -> MaskedArray:
        return MaskedArray(_elements.abs(self._values), self._hidden, self._fill)

    def __invert__(self) -> MaskedArray:
        return MaskedArray(~self._values, self._hidden, self._fill)


def checked_fill(value: Any, dtype: np.dtype[Any]) -> Any:
    """Converts a fill value to the array's type; TypeError, like NumPy, if it does not fit."""
    if value is None:
        return None
    return _ma.MaskedArray(np.empty((), dtype), fill_value=value).fill_value


def _bound(dtype: np.dtype[Any], is_lower: bool) -> Any:
    """Returns the lower or the upper bound of the values of a type, without NaN and NaT."""
    if dtype.kind == "b":
        return np.bool_(not is_lower)
    if dtype.kind in "iumM":
        info = np.iinfo(np.int64 if dtype.kind in "mM" else dtype)
        # The smallest integer represents NaT, so the second smallest integer is used.
        bound = info.min + (dtype.kind in "mM") if is_lower else info.max
        return np.array(bound).astype(dtype)[()]
    if kind_of(dtype) not in "fc":
        raise TypeError(f"max and min of a masked array are not defined for {dtype}")
    value = -math.inf if is_lower else math.inf
    return dtype.type(complex(value, value) if dtype.kind == "c" else value)


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)


def plain(value: Any) -> Any:
    """Returns the data of NumPy's masked array; other values unchanged."""
    return _ma.getdata(value) if isinstance(value, np.ma.MaskedArray) else value


def finite(x: MaskedArray) -> MaskedArray:
    """Masks elements that are NaN or infinite, as division and power of `numpy.ma` do."""
    mask = _elements.logical_or(x.mask, ~_elements.isfinite(x.data))
    return MaskedArray(x.data, mask, x._fill)


def getmaskarray(a: Any) -> Array:
    """Returns the mask of an array.

    Parameters
    ----------
    a : array_like
        An array that may be masked.

    Returns
    -------
    Array
        bool, of the shape of `a`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.ma.getmaskarray(cubed.ma.masked_array([1, 2], [False, True])).compute()
    array([False,  True])
    """
    if isinstance(a, MaskedArray):
        return a.mask
    if isinstance(a, np.ma.MaskedArray):
        return as_lazy(_ma.getmaskarray(a))
    return _zeros_like(as_lazy(a), dtype=np.bool_)
