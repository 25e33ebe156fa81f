"""Masked arrays: values and a mask, both lazy, with the names of :mod:`numpy.ma`.

What NumPy's module does element by element, by a method, or to values and mask alike is made of
tables at the end; what is left out is listed in docs/numpy.md.
"""

from __future__ import annotations

import inspect
import math
from functools import partial, wraps
from typing import Any

import numpy as np

from cubed import array_api as _names
from cubed.array._array import Array
from cubed.array._operands import common_spec, normalize_axes
from cubed.array_api import elementwise_functions as _elements
from cubed.array_api import manipulation_functions as _shapes
from cubed.array_api import statistical_functions as _reductions
from cubed.array_api.composed_functions import average as _average
from cubed.array_api.creation_functions import full_like
from cubed.array_api.creation_functions import zeros_like as _zeros_like
from cubed.array_api.searching_functions import count_nonzero
from cubed.array_api.searching_functions import nonzero as _nonzero
from cubed.array_api.searching_functions import where as _where
from cubed.array_api.statistical_functions import cumulative_prod, cumulative_sum
from cubed.array_api.utility_functions import all as _all
from cubed.array_api.utility_functions import any as _any
from cubed.base._docs import REDUCED, documented
from cubed.base._dtypes import kind_of
from cubed.base._types import Axis, ChunksLike, DTypeLike
from cubed.io._create import as_lazy, from_array
from cubed.planning._compute import compute as _compute
from cubed.spec import Spec

__all__ = [
    "MaskedArray", "array", "average", "concatenate", "count", "filled", "fix_invalid", "getdata",
    "getmaskarray", "masked_array", "masked_equal", "masked_greater", "masked_greater_equal",
    "masked_inside", "masked_invalid", "masked_less", "masked_less_equal", "masked_not_equal",
    "masked_outside", "masked_values", "masked_where", "nonzero", "set_fill_value", "where",
    "allclose", "allequal", "asarray", "count_masked", "diff", "isMaskedArray", "is_masked",
    "mask_or", "masked_all", "masked_all_like", "median",
]  # fmt: skip

_ma: Any = np.ma  # of which NumPy types little

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


_of_masked = partial(
    documented,
    parameters={
        "a": "An array that may be masked.",
        "axes": "int or tuple of int : The axes in their new order; none: reversed.",
        "chunks": "Chunks of an array that is not lazy, see :func:`cubed.rechunk`.",
        "ddof": "What is subtracted from the number of elements in the divisor.",
        "fill_value": "scalar or None : What :meth:`MaskedArray.filled` puts; None: NumPy's.",
        "kwargs": "As for :func:`cubed.compute`.",
        "shape": "int or tuple of int : The new shape; -1: what is left.",
        "value": "scalar : What elements are compared with.",
        "v1": "scalar : One end.",
        "v2": "scalar : The other end.",
        "x": "An array that may be masked.",
    },
)
_MASKED = "Of the array's shape and type; what was masked stays so. Lazy."
_SAME = "What is masked stays so. Lazy."
_ONE = REDUCED + "Masked where nothing is left. Lazy."


class MaskedArray:
    """An array of which some elements do not count: :attr:`data`, and :attr:`mask`, true where they
    do not. Made by :func:`masked_array` and other functions of this module.

    Operators and NumPy's ufuncs mask what either operand masks, and quotients by 0; reductions
    leave masked elements out, and mask what has none left. `compute` gives NumPy's masked array.

    Parameters
    ----------
    data : Array
        Input array.
    mask : Array of bool
        Where they do not count; broadcast to the shape of the data.
    fill_value : scalar or None
        What :meth:`filled` puts in place of masked elements; None: NumPy's.

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

    __slots__ = ("_values", "_fill", "_hidden")
    __array_priority__ = 20.0
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, data: Array, mask: Array, fill_value: Any = None) -> None:
        if mask.dtype.kind != "b":
            raise TypeError(f"a mask of {mask.dtype}, expected bool")
        self._values = data
        self._hidden = mask if mask.shape == data.shape else _shapes.broadcast_to(mask, data.shape)
        self._fill = fill_value

    @property
    def data(self) -> Array:
        """The elements, of which masked ones mean nothing."""
        return self._values

    @property
    def mask(self) -> Array:
        """Where elements do not count: bool, of the shape of the data."""
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
        """What :meth:`filled` puts in place of masked elements: NumPy's, unless another is set."""
        if self._fill is None:
            return _ma.default_fill_value(self.dtype)
        return np.asarray(self._fill).astype(self.dtype)[()]

    @fill_value.setter
    def fill_value(self, value: Any) -> None:
        self._fill = value

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
        """A function of the data, and of the mask."""
        return MaskedArray(function(self._values), function(self._hidden), self._fill)

    # --- Values ------------------------------------------------------------------------------

    @_of_masked(returns="NumPy's masked array.")
    def compute(self, **kwargs: Any) -> Any:
        """The values, as NumPy's masked array.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> print(x.compute())
        [1.0 -- 6.0]
        """
        data, mask = _compute(self._values, self._hidden, **kwargs)
        return _ma.MaskedArray(data, mask, fill_value=self._fill)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise TypeError("a masked array has no values without its mask: use compute, or filled")

    @_of_masked(returns="Of its shape and type. Lazy.")
    def filled(self, fill_value: Any = None) -> Array:
        """The data with a value in place of masked elements.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> x.filled(0).compute()
        array([1., 0., 6.])
        """
        value = self.fill_value if fill_value is None else fill_value
        return _where(self._hidden, np.asarray(value).astype(self.dtype)[()], self._values)

    # --- Arranging ---------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> MaskedArray:
        key = key.filled(False) if isinstance(key, MaskedArray) else key
        return self._each(lambda x: x[key])

    @_of_masked(returns=_SAME)
    def astype(self, dtype: DTypeLike) -> MaskedArray:
        """The elements in another type.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> print(x.astype("int64").compute())
        [1 -- 6]
        """
        return MaskedArray(self._values.astype(dtype), self._hidden, self._fill)

    @_of_masked(returns=_SAME)
    def copy(self) -> MaskedArray:
        """The same value behind another object.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> print(x.copy().compute())
        [1.0 -- 6.0]
        """
        return self._each(lambda x: x.copy())

    @_of_masked(returns=_SAME)
    def reshape(self, *shape: Any, order: str = "C") -> MaskedArray:
        """The elements in another shape.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> print(x.reshape(1, 3).compute())
        [[1.0 -- 6.0]]
        """
        return self._each(lambda x: x.reshape(*shape, order=order))

    @_of_masked(returns=_SAME)
    def ravel(self, order: str = "C") -> MaskedArray:
        """The elements in one dimension.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> print(x.reshape(1, 3).ravel().compute())
        [1.0 -- 6.0]
        """
        return self._each(lambda x: x.ravel(order))

    @_of_masked(returns=_SAME)
    def transpose(self, *axes: Any) -> MaskedArray:
        """The array with its axes in another order.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> x.reshape(1, 3).transpose().shape
        (3, 1)
        """
        return self._each(lambda x: x.transpose(*axes))

    @_of_masked(returns=_SAME)
    def squeeze(self, axis: Any = None) -> MaskedArray:
        """The array without axes of extent 1.

        Parameters
        ----------
        axis : int, tuple of int or None
            Which of them; None: all.

        Examples
        --------
        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> x.reshape(1, 3).squeeze().shape
        (3,)
        """
        return self._each(lambda x: x.squeeze(axis))

    @_of_masked(returns=_SAME)
    def rechunk(self, chunks: ChunksLike) -> MaskedArray:
        """The same values in other chunks.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> x.rechunk(2).chunks
        ((2, 1),)
        """
        return self._each(lambda x: x.rechunk(chunks))

    @_of_masked(returns="Of one axis. Lazy.")
    def compressed(self) -> Array:
        """The elements that are not masked, in one dimension; they are counted now.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> x.compressed().compute()
        array([1., 6.])
        """
        return self._values.ravel()[~self._hidden.ravel()]

    # --- Reductions --------------------------------------------------------------------------

    def _reduced(self, out: Array, axis: Axis, keepdims: bool) -> MaskedArray:
        return MaskedArray(out, _all(self._hidden, axis=axis, keepdims=keepdims), self._fill)

    @_of_masked(returns=REDUCED + "int64. Lazy.")
    def count(self, axis: Axis = None, keepdims: bool = False) -> Array:
        """How many elements are not masked: int64.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> int(x.count().compute())
        2
        """
        return count_nonzero(~self._hidden, axis=axis, keepdims=keepdims)

    @_of_masked(returns=_ONE)
    def sum(self, axis: Axis = None, dtype: DTypeLike = None, *, keepdims: bool = False) -> Any:
        """Sums of what is not masked.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> float(x.sum().compute())
        7.0
        """
        out = self._values.sum(axis, dtype, keepdims=keepdims, where=~self._hidden)
        return self._reduced(out, axis, keepdims)

    @_of_masked(returns=_ONE)
    def prod(self, axis: Axis = None, dtype: DTypeLike = None, *, keepdims: bool = False) -> Any:
        """Products of what is not masked.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> float(x.prod().compute())
        6.0
        """
        out = self._values.prod(axis, dtype, keepdims=keepdims, where=~self._hidden)
        return self._reduced(out, axis, keepdims)

    @_of_masked(returns=_ONE)
    def mean(self, axis: Axis = None, dtype: DTypeLike = None, *, keepdims: bool = False) -> Any:
        """Means of what is not masked.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> float(x.mean().compute())
        3.5
        """
        out = self._values.mean(axis, dtype, keepdims=keepdims, where=~self._hidden)
        mean = self._reduced(out, axis, keepdims)
        return _finite(mean) if out.ndim else mean

    @_of_masked(returns=_ONE)
    def var(
        self,
        axis: Axis = None,
        dtype: DTypeLike = None,
        *,
        ddof: float = 0,
        keepdims: bool = False,
    ) -> Any:
        """Variances of what is not masked; where too little is left they are masked.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> float(x.var().compute())
        6.25
        """
        out = self._values.var(axis, dtype, ddof=ddof, keepdims=keepdims, where=~self._hidden)
        few = self.count(axis, keepdims) <= ddof
        return MaskedArray(out, few, self._fill)

    @_of_masked(returns=_ONE)
    def std(
        self,
        axis: Axis = None,
        dtype: DTypeLike = None,
        *,
        ddof: float = 0,
        keepdims: bool = False,
    ) -> Any:
        """Standard deviations of what is not masked; where too little is left they are masked.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> float(x.std().compute())
        2.5
        """
        out = self.var(axis, dtype, ddof=ddof, keepdims=keepdims)
        return MaskedArray(_elements.sqrt(out.data), out.mask, self._fill)

    def _extreme(self, largest: bool, axis: Axis, keepdims: bool) -> MaskedArray:
        d = self.dtype
        if d.kind == "b":
            worst: Any = not largest
        elif d.kind in "iu":
            worst = np.iinfo(d).min if largest else np.iinfo(d).max
        else:
            worst = -math.inf if largest else math.inf
        value = np.asarray(worst).astype(d)[()]
        name = _reductions.max if largest else _reductions.min
        out = name(_where(self._hidden, value, self._values), axis=axis, keepdims=keepdims)
        return self._reduced(out, axis, keepdims)

    @_of_masked(returns=_ONE)
    def max(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """The largest of what is not masked.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> float(x.max().compute())
        6.0
        """
        return self._extreme(True, axis, keepdims)

    @_of_masked(returns=_ONE)
    def min(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """The smallest of what is not masked.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> float(x.min().compute())
        1.0
        """
        return self._extreme(False, axis, keepdims)

    @_of_masked(returns=_ONE)
    def ptp(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """The largest of what is not masked less the smallest.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> float(x.ptp().compute())
        5.0
        """
        return self.max(axis, keepdims=keepdims) - self.min(axis, keepdims=keepdims)

    @_of_masked(returns=_ONE)
    def all(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Whether all of what is not masked is true.

        >>> x = cubed.ma.masked_array([True, False], [False, True])
        >>> bool(x.all().compute())
        True
        """
        out = _all(self._values, axis=axis, keepdims=keepdims, where=~self._hidden)
        return self._reduced(out, axis, keepdims)

    @_of_masked(returns=_ONE)
    def any(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Whether any of what is not masked is true.

        >>> x = cubed.ma.masked_array([True, False], [False, True])
        >>> bool(x.any().compute())
        True
        """
        out = _any(self._values, axis=axis, keepdims=keepdims, where=~self._hidden)
        return self._reduced(out, axis, keepdims)

    @_of_masked(returns=_SAME)
    def cumsum(self, axis: int | None = None, dtype: DTypeLike = None) -> MaskedArray:
        """Running sums, in which masked elements are 0; they stay masked.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> print(x.cumsum().compute())
        [1.0 -- 7.0]
        """
        x = self.ravel() if axis is None else self
        (d,) = (0,) if axis is None else normalize_axes(axis, self.ndim)
        return MaskedArray(cumulative_sum(x.filled(0), axis=d, dtype=dtype), x.mask, self._fill)

    @_of_masked(returns=_SAME)
    def cumprod(self, axis: int | None = None, dtype: DTypeLike = None) -> MaskedArray:
        """Running products, in which masked elements are 1; they stay masked.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> print(x.cumprod().compute())
        [1.0 -- 6.0]
        """
        x = self.ravel() if axis is None else self
        (d,) = (0,) if axis is None else normalize_axes(axis, self.ndim)
        return MaskedArray(cumulative_prod(x.filled(1), axis=d, dtype=dtype), x.mask, self._fill)

    @_of_masked(returns=_SAME)
    def anom(self, axis: Axis = None, dtype: DTypeLike = None) -> MaskedArray:
        """The elements less their mean.

        >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
        >>> print(x.anom().compute())
        [-2.5 -- 2.5]
        """
        return self - self.mean(axis, dtype, keepdims=axis is not None)

    # --- Operators ---------------------------------------------------------------------------

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """NumPy's functions that this module has; others have no masks."""
        name = function.__name__
        if function is not getattr(np, name, None) or name not in __all__:
            raise TypeError(f"cubed.ma has no {name}: call it with m.filled(value), or m.data")
        return globals()[name](*args, **kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or ufunc.nout != 1:
            raise TypeError(f"{ufunc.__name__}.{method} of a masked array takes no parameters")
        return self._apply(ufunc, args)

    def _apply(self, ufunc: Any, args: Any, finite: bool = False) -> MaskedArray:
        """A ufunc; `finite`: what has a domain is masked where its result is not finite, too."""
        datas = [a.data if isinstance(a, MaskedArray) else a for a in args]
        lazies = [d if isinstance(d, Array) else as_lazy(d) for d in map(_plain, datas)]
        out = ufunc(*(d if _is_number(d) else x for d, x in zip(datas, lazies, strict=True)))
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

    def _operate(self, ufunc: Any, other: Any, reflected: bool = False) -> MaskedArray:
        pair = (other, self) if reflected else (self, other)
        return self._apply(ufunc, pair, finite=True)

    def __neg__(self) -> MaskedArray:
        return MaskedArray(-self._values, self._hidden, self._fill)

    def __abs__(self) -> MaskedArray:
        return MaskedArray(_elements.abs(self._values), self._hidden, self._fill)

    def __invert__(self) -> MaskedArray:
        return MaskedArray(~self._values, self._hidden, self._fill)


def _operators() -> None:
    """Python's operators, by ufuncs."""
    table = {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide,
        "floordiv": np.floor_divide, "mod": np.remainder, "pow": np.power, "and": np.bitwise_and,
        "or": np.bitwise_or, "xor": np.bitwise_xor, "lshift": np.left_shift,
        "rshift": np.right_shift,
    }  # fmt: skip
    for name, ufunc in table.items():
        for reflected in (False, True):

            def operate(self: Any, other: Any, ufunc: Any = ufunc, back: bool = reflected) -> Any:
                return self._operate(ufunc, other, back)

            setattr(MaskedArray, f"__{'r' * reflected}{name}__", operate)
    compared = {
        "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
        "gt": np.greater, "ge": np.greater_equal,
    }  # fmt: skip
    for name, ufunc in compared.items():

        def compare(self: Any, other: Any, ufunc: Any = ufunc) -> Any:
            return self._operate(ufunc, other)

        setattr(MaskedArray, f"__{name}__", compare)


_operators()


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)


def _plain(value: Any) -> Any:
    """The data of NumPy's masked array; others as they are."""
    return _ma.getdata(value) if isinstance(value, np.ma.MaskedArray) else value


def _finite(x: MaskedArray) -> MaskedArray:
    """As NumPy's quotients and powers are: masked where they are NaN or infinite."""
    mask = _elements.logical_or(x.mask, ~_elements.isfinite(x.data))
    return MaskedArray(x.data, mask, x._fill)


# --- Making ---------------------------------------------------------------------------------------


@_of_masked(returns="Lazy.")
def masked_array(
    data: Any,
    mask: Any = False,
    dtype: DTypeLike = None,
    fill_value: Any = None,
    *,
    chunks: ChunksLike = None,
    spec: Spec | None = None,
) -> MaskedArray:
    """A masked array.

    Parameters
    ----------
    data : array_like
        An array, lazy or not, also a masked one of NumPy's.
    mask : array_like of bool, default False
        True where elements do not count; broadcast. What is masked already stays so.
    spec : Spec or None
        What computations of an array that is not lazy may use; None: as configured.

    Examples
    --------
    >>> print(cubed.ma.masked_array([1, 2, 3], [False, True, False]).compute())
    [1 -- 3]
    """
    old = None
    if isinstance(data, MaskedArray):
        data, old, fill_value = (
            data.data,
            data.mask,
            data._fill if fill_value is None else fill_value,
        )
    elif isinstance(data, np.ma.MaskedArray):
        fill_value = data.fill_value if fill_value is None else fill_value
        old = _lazy(_ma.getmaskarray(data), chunks, spec)
        data = _ma.getdata(data)
    x = _lazy(data, chunks, spec)
    x = x if dtype is None else x.astype(dtype)
    new = mask if isinstance(mask, Array) else np.asarray(mask)
    if new.dtype.kind not in "biufc":
        raise TypeError(f"mask is {mask!r}, expected bools")
    if isinstance(new, np.ndarray) and new.ndim == 0:
        m = full_like(x, bool(new), dtype=np.bool_)
    else:
        m = _lazy(new, chunks if new.shape == x.shape else None, common_spec(x) or spec)
        m = m.astype(np.bool_)
    m = _shapes.broadcast_to(m, x.shape) if m.shape != x.shape else m
    return MaskedArray(x, m if old is None else _elements.logical_or(m, old), fill_value)


@_of_masked(returns="Lazy.")
def array(
    data: Any,
    dtype: DTypeLike = None,
    *,
    mask: Any = False,
    fill_value: Any = None,
    chunks: ChunksLike = None,
    spec: Spec | None = None,
) -> MaskedArray:
    """A masked array, whose type comes before its mask, as :func:`numpy.ma.array` has it.

    Parameters
    ----------
    data : array_like
        An array, lazy or not, also a masked one of NumPy's.
    mask : array_like of bool, default False
        As for :func:`masked_array`.
    spec : Spec or None
        What computations of an array that is not lazy may use; None: as configured.

    Examples
    --------
    >>> print(cubed.ma.array([1, 2, 3], float, mask=[False, True, False]).compute())
    [1.0 -- 3.0]
    """
    return masked_array(data, mask, dtype, fill_value, chunks=chunks, spec=spec)


@_of_masked(returns="Lazy.")
def asarray(
    a: Any, dtype: DTypeLike = None, *, chunks: ChunksLike = None, spec: Spec | None = None
) -> MaskedArray:
    """A masked array of any other, of which nothing more is masked.

    Parameters
    ----------
    spec : Spec or None
        What computations of an array that is not lazy may use; None: as configured.

    Examples
    --------
    >>> print(cubed.ma.asarray([1, 2, 3], float).compute())
    [1.0 2.0 3.0]
    """
    return masked_array(a, dtype=dtype, chunks=chunks, spec=spec)


def _lazy(value: Any, chunks: ChunksLike, spec: Spec | None) -> Array:
    if isinstance(value, Array):
        return value
    values = np.asarray(value)
    return as_lazy(values) if chunks is None else from_array(values, chunks=chunks, spec=spec)


@_of_masked(returns=_MASKED)
def masked_where(condition: Any, a: Any) -> MaskedArray:
    """An array that is masked where a condition holds, too.

    >>> x = cubed.asarray([1, 2, 3])
    >>> print(cubed.ma.masked_where(x == 2, x).compute())
    [1 -- 3]
    """
    return masked_array(a, filled(condition, True))


@_of_masked(returns="Of its shape and type; what is masked means nothing. Lazy.")
def getdata(a: Any) -> Array:
    """The elements of an array that may be masked.

    >>> cubed.ma.getdata(cubed.ma.masked_array([1, 2], [False, True])).compute()
    array([1, 2])
    """
    return a.data if isinstance(a, MaskedArray) else as_lazy(_plain(a))


@_of_masked(returns="bool, of its shape. Lazy.")
def getmaskarray(a: Any) -> Array:
    """Where an array is masked.

    >>> cubed.ma.getmaskarray(cubed.ma.masked_array([1, 2], [False, True])).compute()
    array([False,  True])
    """
    if isinstance(a, MaskedArray):
        return a.mask
    if isinstance(a, np.ma.MaskedArray):
        return as_lazy(_ma.getmaskarray(a))
    return _zeros_like(as_lazy(a), dtype=np.bool_)


@_of_masked(returns="Of its shape and type. Lazy.")
def filled(a: Any, fill_value: Any = None) -> Array:
    """An array with a value in place of masked elements; one that is not masked as it is.

    >>> cubed.ma.filled(cubed.ma.masked_array([1, 2], [False, True]), 0).compute()
    array([1, 0])
    """
    a = masked_array(a) if isinstance(a, np.ma.MaskedArray) else a
    return a.filled(fill_value) if isinstance(a, MaskedArray) else as_lazy(a)


def _by_value(ufunc: Any, a: Any, value: Any) -> MaskedArray:
    return masked_array(a, ufunc(getdata(a), value))


@_of_masked(returns=_MASKED)
def masked_equal(a: Any, value: Any) -> MaskedArray:
    """Masked where elements equal a value, which is what fills them.

    >>> print(cubed.ma.masked_equal(cubed.asarray([1, 2, 3]), 2).compute())
    [1 -- 3]
    """
    out = _by_value(np.equal, a, value)
    out.fill_value = value
    return out


@_of_masked(returns=_MASKED)
def masked_not_equal(a: Any, value: Any) -> MaskedArray:
    """Masked where elements do not equal a value.

    >>> print(cubed.ma.masked_not_equal(cubed.asarray([1, 2, 3]), 2).compute())
    [-- 2 --]
    """
    return _by_value(np.not_equal, a, value)


@_of_masked(returns=_MASKED)
def masked_greater(a: Any, value: Any) -> MaskedArray:
    """Masked where elements are greater than a value.

    >>> print(cubed.ma.masked_greater(cubed.asarray([1, 2, 3]), 2).compute())
    [1 2 --]
    """
    return _by_value(np.greater, a, value)


@_of_masked(returns=_MASKED)
def masked_greater_equal(a: Any, value: Any) -> MaskedArray:
    """Masked where elements are not less than a value.

    >>> print(cubed.ma.masked_greater_equal(cubed.asarray([1, 2, 3]), 2).compute())
    [1 -- --]
    """
    return _by_value(np.greater_equal, a, value)


@_of_masked(returns=_MASKED)
def masked_less(a: Any, value: Any) -> MaskedArray:
    """Masked where elements are less than a value.

    >>> print(cubed.ma.masked_less(cubed.asarray([1, 2, 3]), 2).compute())
    [-- 2 3]
    """
    return _by_value(np.less, a, value)


@_of_masked(returns=_MASKED)
def masked_less_equal(a: Any, value: Any) -> MaskedArray:
    """Masked where elements are not greater than a value.

    >>> print(cubed.ma.masked_less_equal(cubed.asarray([1, 2, 3]), 2).compute())
    [-- -- 3]
    """
    return _by_value(np.less_equal, a, value)


@_of_masked(returns=_MASKED)
def masked_inside(x: Any, v1: Any, v2: Any) -> MaskedArray:
    """Masked from one value to another, both included.

    >>> print(cubed.ma.masked_inside(cubed.asarray([1, 2, 3]), 1, 2).compute())
    [-- -- 3]
    """
    low, high = (v1, v2) if v1 <= v2 else (v2, v1)
    data = getdata(x)
    return masked_array(x, _elements.logical_and(data >= low, data <= high))


@_of_masked(returns=_MASKED)
def masked_outside(x: Any, v1: Any, v2: Any) -> MaskedArray:
    """Masked where elements are not from one value to another.

    >>> print(cubed.ma.masked_outside(cubed.asarray([1, 2, 3]), 1, 2).compute())
    [1 2 --]
    """
    low, high = (v1, v2) if v1 <= v2 else (v2, v1)
    data = getdata(x)
    return masked_array(x, _elements.logical_or(data < low, data > high))


@_of_masked(returns=_MASKED)
def masked_invalid(a: Any) -> MaskedArray:
    """Masked where elements are NaN or infinite.

    >>> print(cubed.ma.masked_invalid(cubed.asarray([1.0, float("nan")])).compute())
    [1.0 --]
    """
    data = getdata(a)
    return masked_array(a, ~_elements.isfinite(data) if kind_of(data.dtype) in "fc" else False)


@_of_masked(returns=_MASKED)
def masked_values(
    x: Any, value: Any, rtol: float = 1e-5, atol: float = 1e-8
) -> MaskedArray:  # fmt: skip
    """Masked where elements are close to a value, which is what fills them.

    Parameters
    ----------
    rtol : float, default 1e-05
        Tolerance relative to `value`.

    Examples
    --------
    >>> print(cubed.ma.masked_values(cubed.asarray([1.0, 1.1]), 1.1).compute())
    [1.0 --]
    """
    data = getdata(x)
    if kind_of(data.dtype) not in "fc":
        return masked_equal(x, value)
    near = _names.isclose(data, value, rtol=rtol, atol=atol)
    return masked_array(x, near, fill_value=value)


@_of_masked(returns=_MASKED)
def fix_invalid(a: Any, mask: Any = False, fill_value: Any = None) -> MaskedArray:
    """Masked where elements are NaN or infinite, with the fill value in their place.

    Parameters
    ----------
    mask : array_like of bool, default False
        Where elements do not count, either.

    Examples
    --------
    >>> x = cubed.ma.fix_invalid([1.0, float("nan")], fill_value=-1.0)
    >>> x.data.compute()
    array([ 1., -1.])
    """
    out = masked_invalid(masked_array(a, mask, fill_value=fill_value))
    bad = ~_elements.isfinite(out.data) if kind_of(out.dtype) in "fc" else out.mask
    value = np.asarray(out.fill_value).astype(out.dtype)[()]
    return MaskedArray(_where(bad, value, out.data), out.mask, out._fill)


@_of_masked()
def set_fill_value(a: MaskedArray, fill_value: Any) -> None:
    """Sets what fills masked elements.

    >>> x = cubed.ma.masked_array([1, 2], [False, True])
    >>> cubed.ma.set_fill_value(x, 7)
    >>> x.filled().compute()
    array([1, 7])
    """
    a.fill_value = fill_value


# --- Of several -----------------------------------------------------------------------------------


@_of_masked(returns=REDUCED + "int64. Lazy.")
def count(a: Any, axis: Axis = None, keepdims: bool = False) -> Array:
    """How many elements are not masked.

    >>> cubed.ma.count(cubed.ma.masked_array([1, 2], [False, True])).compute()
    array(1)
    """
    return masked_array(a).count(axis, keepdims)


@_of_masked(returns="For each axis int64 of one axis. Lazy.")
def nonzero(a: Any) -> tuple[Array, ...]:
    """Coordinates of elements that are neither masked nor 0; their number is computed now.

    >>> (at,) = cubed.ma.nonzero(cubed.ma.masked_array([1, 0, 2], [True, False, False]))
    >>> at.compute()
    array([2])
    """
    return _nonzero(filled(a, 0))


@_of_masked(returns="Without the axis; None: all of them. Masked where weights sum to 0. Lazy.")
def average(
    a: Any,
    axis: int | None = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    """The mean with weights of what is not masked; with `returned` also their sums.

    Parameters
    ----------
    returned : bool, default False
        Whether the sums of weights are given, too: of elements where there are no weights.

    Raises
    ------
    ValueError
        For weights of another shape than the array, or than its axis.

    Examples
    --------
    >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
    >>> print(cubed.ma.average(x, weights=[4, 1, 1]).compute())
    2.0
    """
    x = masked_array(a)
    if weights is None:
        out = x.mean(axis, keepdims=keepdims)
        n = x.count(axis, keepdims).astype(out.dtype)
        return (out, masked_array(n)) if returned else out
    data = _where(x.mask, x.dtype.type(0), x.data)
    w = as_lazy(weights)
    if w.shape != x.shape:
        if axis is None or w.ndim != 1:
            raise ValueError(f"average: weights of shape {w.shape} for an array of {x.shape}")
        (d,) = normalize_axes(axis, x.ndim)
        w = _shapes.reshape(w, (-1, *(1,) * (x.ndim - d - 1)))
    w = _where(x.mask, w.dtype.type(0), w)
    out, total = _average(data, axis, w, returned=True, keepdims=keepdims)
    mean = MaskedArray(out, total == 0, x._fill)
    mean = _finite(mean) if out.ndim else mean
    return (mean, x._reduced(total, axis, keepdims)) if returned else mean


@_of_masked(
    returns="Of the shape that all broadcast to, and of the type that x and y promote to. Lazy."
)
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Elements of x where the condition holds, of y elsewhere; masked where the condition is.
    Of a condition alone it is :func:`nonzero`.

    Parameters
    ----------
    x, y : array_like
        Arrays that may be masked, or numbers.

    Raises
    ------
    ValueError
        For one of x and y without the other.

    Examples
    --------
    >>> x = cubed.ma.masked_array([1, 2], [False, True])
    >>> print(cubed.ma.where(cubed.asarray([True, False]), x, 5).compute())
    [1 5]
    """
    if (x is None) != (y is None):
        raise ValueError("where: one of x and y is given, expected both or neither")
    if x is None:
        return nonzero(condition)
    c = filled(condition, False)
    a, b = masked_array(x), masked_array(y)
    mask = _where(c, a.mask, b.mask)
    if isinstance(condition, (MaskedArray, np.ma.MaskedArray)):
        mask = _elements.logical_or(mask, getmaskarray(condition))
    out = _where(c, a.data, b.data)
    return MaskedArray(out, _shapes.broadcast_to(mask, out.shape), a._fill)


@_of_masked(returns="Of the type that they promote to. Lazy.")
def concatenate(arrays: Any, axis: int = 0) -> MaskedArray:
    """Arrays one after another along an axis.

    Parameters
    ----------
    arrays : sequence of array_like
        Arrays that may be masked.
    axis : int, default 0
        Axis along which they are joined.

    Examples
    --------
    >>> x = cubed.ma.masked_array([1, 2], [False, True])
    >>> print(cubed.ma.concatenate([x, [3]]).compute())
    [1 -- 3]
    """
    given = [masked_array(a) for a in arrays]
    return MaskedArray(
        _shapes.concat([a.data for a in given], axis=axis),
        _shapes.concat([a.mask for a in given], axis=axis),
    )


@_of_masked(returns=REDUCED + "int64. Lazy.")
def count_masked(a: Any, axis: Axis = None) -> Array:
    """How many elements are masked.

    >>> cubed.ma.count_masked(cubed.ma.masked_array([1, 2], [False, True])).compute()
    array(1)
    """
    return count_nonzero(getmaskarray(a), axis=axis)


@_of_masked(returns="Without axes. Lazy.")
def is_masked(x: Any) -> Array:
    """Whether an element is masked.

    >>> bool(cubed.ma.is_masked(cubed.ma.masked_array([1, 2], [False, True])).compute())
    True
    """
    return _any(getmaskarray(x))


@_of_masked(returns="Of arrays of this module, and of NumPy's masked ones.")
def isMaskedArray(x: Any) -> bool:
    """Whether something is a masked array.

    >>> cubed.ma.isMaskedArray(cubed.asarray([1, 2]))
    False
    """
    return isinstance(x, (MaskedArray, np.ma.MaskedArray))


@_of_masked(
    parameters={"m1": "array_like of bool : A mask.", "m2": "array_like of bool : Another."},
    returns="Lazy.",
)
def mask_or(m1: Any, m2: Any) -> Array:
    """Where one of two masks is true.

    >>> cubed.ma.mask_or([True, False], [False, False]).compute()
    array([ True, False])
    """
    return _elements.logical_or(as_lazy(m1), as_lazy(m2))


@documented(returns="Lazy.")
def masked_all(shape: Any, dtype: DTypeLike = float) -> MaskedArray:
    """An array of which all elements are masked.

    >>> print(cubed.ma.masked_all(2).compute())
    [-- --]
    """
    return masked_array(_names.zeros(shape, dtype=dtype), True)


@_of_masked(returns="Of its shape and type. Lazy.")
def masked_all_like(a: Any) -> MaskedArray:
    """An array like another, of which all elements are masked.

    >>> print(cubed.ma.masked_all_like([1, 2]).compute())
    [-- --]
    """
    return masked_array(_zeros_like(getdata(a)), True)


@documented(
    parameters={"a": "The first array, which may be masked.", "b": "The second."},
    returns="bool, without axes. Lazy.",
)
def allequal(a: Any, b: Any, fill_value: bool = True) -> Array:
    """Whether all elements of two arrays are equal.

    Parameters
    ----------
    fill_value : bool, default True
        Whether masked elements count as equal.

    Examples
    --------
    >>> x = cubed.ma.masked_array([1, 2], [False, True])
    >>> bool(cubed.ma.allequal(x, [1, 3]).compute())
    True
    """
    return _all(filled(masked_array(a) == masked_array(b), fill_value))


@documented(
    parameters={"a": "The first array, which may be masked.", "b": "The second."},
    returns="bool, without axes. Lazy.",
)
def allclose(
    a: Any, b: Any, masked_equal: bool = True, rtol: float = 1e-5, atol: float = 1e-8
) -> Array:
    """Whether all elements of two arrays are close.

    Parameters
    ----------
    masked_equal : bool, default True
        Whether masked elements count as equal.
    rtol : float, default 1e-05
        Tolerance relative to `b`.

    Examples
    --------
    >>> x = cubed.ma.masked_array([1, 2], [False, True])
    >>> bool(cubed.ma.allclose(x, [1, 3], masked_equal=False).compute())
    False
    """
    near = _names.isclose(getdata(a), getdata(b), rtol=rtol, atol=atol)
    return _all(filled(masked_array(near, mask_or(getmaskarray(a), getmaskarray(b))), masked_equal))


@_of_masked(returns="Of one element less along the axis, for each `n`. Lazy.")
def diff(a: Any, n: int = 1, axis: int = -1) -> MaskedArray:
    """Differences of neighbours, masked where one of them is.

    Parameters
    ----------
    n : int, default 1
        How many times.

    Examples
    --------
    >>> print(cubed.ma.diff(cubed.ma.masked_array([1, 3, 6], [True, False, False])).compute())
    [-- 3]
    """
    x = masked_array(a)
    (d,) = normalize_axes(axis, x.ndim)
    data, mask = _names.diff(x.data, n=n, axis=d), x.mask
    before = (slice(None),) * d
    for _ in range(n):
        mask = mask_or(mask[(*before, slice(1, None))], mask[(*before, slice(None, -1))])
    return MaskedArray(data, mask, x._fill)


@_of_masked(returns=_ONE)
def median(a: Any, axis: Axis = None, keepdims: bool = False) -> MaskedArray:
    """Medians of what is not masked: NaN where that has one.

    >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
    >>> float(cubed.ma.median(x).compute())
    3.5
    """
    x = masked_array(a)
    x = x.astype(np.float64) if kind_of(x.dtype) in "biu" else x
    out = _names.nanmedian(x.filled(np.nan), axis=axis, keepdims=keepdims)
    bad = _any(_elements.isnan(x.filled(0)), axis=axis, keepdims=keepdims)
    return x._reduced(_where(bad, out.dtype.type(np.nan), out), axis, keepdims)


# --- Of tables ------------------------------------------------------------------------------------

#: What is done element by element, and masked where an operand is: by NumPy's ufuncs.
_UFUNCS = """
abs absolute arccos arccosh arcsin arcsinh arctan arctanh ceil conjugate cos cosh exp fabs floor log
log10 log2 logical_not negative sin sinh sqrt tan tanh
add arctan2 bitwise_and bitwise_or bitwise_xor divide equal floor_divide fmod greater greater_equal
hypot left_shift less less_equal logical_and logical_or logical_xor maximum minimum mod multiply
not_equal power remainder right_shift subtract true_divide
""".split()

#: What methods do, by the names of functions where these are others.
_METHODS = {
    name: name
    for name in """
    all anom any compressed copy cumprod cumsum max mean min prod ptp ravel reshape squeeze std sum
    transpose var""".split()
} | {
    "amax": "max", "amin": "min", "anomalies": "anom", "product": "prod",
}  # fmt: skip

#: What is done to values and to masks alike, by the package's functions of these names.
_ALIKE = """
compress diag diagflat diagonal expand_dims hsplit repeat resize swapaxes take
atleast_1d atleast_2d atleast_3d column_stack dstack hstack stack vstack
""".split()

#: What is done to values only: the mask stays.
_VALUES = "angle around clip empty_like ones_like zeros_like".split()

#: What has no mask.
_MADE = "arange empty fromfunction indices ones zeros".split()


def _elementwise(name: str) -> Any:
    ufunc = getattr(np, name)

    def one(x: Any, /) -> MaskedArray:
        masked = masked_array(x)
        return masked._apply(ufunc, (masked,), finite=True)

    def two(x1: Any, x2: Any, /) -> MaskedArray:
        some = next((a for a in (x1, x2) if isMaskedArray(a)), x1)
        pair = (masked_array(x1), x2) if some is x1 else (x1, masked_array(x2))
        return pair[some is not x1]._apply(ufunc, pair, finite=True)

    function, args = (one, "x") if ufunc.nin == 1 else (two, "x, 1")
    function.__doc__ = f"""As NumPy's function of this name; masked where an operand is.

>>> x = cubed.ma.masked_array([1, 2], [False, True])
>>> print(cubed.ma.{name}({args})[1:].compute())
[--]
"""
    return _of_masked(returns="Masked where it is not defined, too. Lazy.")(function)


def _by_method(method: str) -> Any:
    own = getattr(MaskedArray, method)

    @wraps(own)
    def function(a: Any, *args: Any, **kwargs: Any) -> Any:
        return own(masked_array(a), *args, **kwargs)

    return function


def _said(function: Any, sentence: str) -> Any:
    """A function with a sentence after the summary of its docstring, if there is one."""
    summary, rest = (function.__doc__ or "").split("\n\n", 1) if function.__doc__ else ("", "")
    function.__doc__ = f"{summary} {sentence}\n\n{rest}" if summary else None
    return function


def _alike(name: str) -> Any:
    own = getattr(_names, name)
    call = np.take if name == "take" else own  # of all elements, without an axis
    signature = inspect.signature(own)
    which = list(signature.parameters)[1 if name == "compress" else 0]
    several = name.startswith("atleast") or name.endswith("stack")

    @wraps(own)
    def function(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        given = bound.arguments[which]

        def called(part: Any) -> Any:
            bound.arguments[which] = tuple(map(part, given)) if several else part(given)
            return call(*bound.args, **bound.kwargs)

        data = called(getdata)
        mask = called(getmaskarray) if name in _ALIKE else getmaskarray(given)
        if isinstance(data, (list, tuple)):
            return [masked_array(d, m) for d, m in zip(data, mask, strict=True)]
        return masked_array(data, mask, fill_value=getattr(given, "_fill", None))

    return _said(function, "Here what is masked stays so.")


def _made(name: str) -> Any:
    own = getattr(_names, name)

    @wraps(own)
    def function(*args: Any, **kwargs: Any) -> MaskedArray:
        return masked_array(own(*args, **kwargs))

    return _said(function, "Here a masked array, of which nothing is masked.")


def _fill_names() -> None:
    """The functions of the tables, as names of this module."""
    makers = (_elementwise, _UFUNCS), (_alike, _ALIKE + _VALUES), (_made, _MADE)
    made = {name: make(name) for make, names in makers for name in names}
    made |= {name: _by_method(method) for name, method in _METHODS.items()}
    for name, function in made.items():
        function.__name__ = function.__qualname__ = name
        function.__module__ = __name__
    made |= {"round": made["around"], "round_": made["around"], "row_stack": made["vstack"]}
    made |= {"isMA": isMaskedArray, "isarray": isMaskedArray, "getmask": getmaskarray}
    made |= {"asanyarray": asarray}
    made |= {
        name: getattr(_ma, name)
        for name in "MAError MaskError MaskType bool_ default_fill_value nomask".split()
    }
    globals().update(made)
    __all__.extend(made)


_fill_names()
