"""Methods of NumPy's arrays, which call the functions of the same names."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cubed.array import _above
from cubed.array._base import ArrayBase
from cubed.array._operands import normalize_axis
from cubed.array._views import BlockView, OuterIndex, PointIndex
from cubed.base._types import Axis, DTypeLike

if TYPE_CHECKING:
    from cubed.array._array import Array


def _api() -> Any:
    return _above.array_api  # accepts arrays of :mod:`cubed.array._base`


def _extents(given: tuple[Any, ...]) -> tuple[int, ...]:
    """Returns the arguments as one tuple: f(2, 3) and f((2, 3)) give the same tuple."""
    if len(given) == 1 and isinstance(given[0], (Sequence, np.ndarray)):
        given = tuple(given[0])
    return tuple(operator.index(n) for n in given)


class Methods(ArrayBase):
    """Methods of :class:`cubed.Array` that call functions. All are lazy, with NumPy's
    parameters."""

    __slots__ = ()

    # --- Reductions ------------------------------------------------------------------------------

    def all(
        self,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        where: Any = True,
        split_every: Any = None,
    ) -> Array:
        """Whether all elements are true; see :func:`cubed.array_api.all`."""
        return _api().all(self, axis=axis, keepdims=keepdims, where=where, split_every=split_every)

    def any(
        self,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        where: Any = True,
        split_every: Any = None,
    ) -> Array:
        """Whether any element is true; see :func:`cubed.array_api.any`."""
        return _api().any(self, axis=axis, keepdims=keepdims, where=where, split_every=split_every)

    def argmax(
        self, axis: int | None = None, *, keepdims: bool = False, split_every: Any = None
    ) -> Array:
        """Positions of the largest elements; see :func:`cubed.array_api.argmax`."""
        return _api().argmax(self, axis=axis, keepdims=keepdims, split_every=split_every)

    def argmin(
        self, axis: int | None = None, *, keepdims: bool = False, split_every: Any = None
    ) -> Array:
        """Positions of the smallest elements; see :func:`cubed.array_api.argmin`."""
        return _api().argmin(self, axis=axis, keepdims=keepdims, split_every=split_every)

    def max(
        self,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
        split_every: Any = None,
    ) -> Array:
        """The largest elements; see :func:`cubed.array_api.max`."""
        return _api().max(
            self,
            axis=axis,
            keepdims=keepdims,
            initial=initial,
            where=where,
            split_every=split_every,
        )

    def mean(
        self,
        axis: Axis = None,
        dtype: DTypeLike = None,
        *,
        keepdims: bool = False,
        where: Any = True,
        split_every: Any = None,
    ) -> Array:
        """Means; see :func:`cubed.array_api.mean`."""
        return _api().mean(
            self, axis=axis, dtype=dtype, keepdims=keepdims, where=where, split_every=split_every
        )

    def min(
        self,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
        split_every: Any = None,
    ) -> Array:
        """The smallest elements; see :func:`cubed.array_api.min`."""
        return _api().min(
            self,
            axis=axis,
            keepdims=keepdims,
            initial=initial,
            where=where,
            split_every=split_every,
        )

    def prod(
        self,
        axis: Axis = None,
        dtype: DTypeLike = None,
        *,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
        split_every: Any = None,
    ) -> Array:
        """Products; see :func:`cubed.array_api.prod`."""
        return _api().prod(
            self,
            axis=axis,
            dtype=dtype,
            keepdims=keepdims,
            initial=initial,
            where=where,
            split_every=split_every,
        )

    def std(
        self,
        axis: Axis = None,
        dtype: DTypeLike = None,
        *,
        ddof: float = 0,
        keepdims: bool = False,
        where: Any = True,
        split_every: Any = None,
    ) -> Array:
        """Standard deviations; see :func:`cubed.array_api.std`."""
        return _api().std(
            self,
            axis=axis,
            dtype=dtype,
            correction=ddof,
            keepdims=keepdims,
            where=where,
            split_every=split_every,
        )

    def sum(
        self,
        axis: Axis = None,
        dtype: DTypeLike = None,
        *,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
        split_every: Any = None,
    ) -> Array:
        """Sums; see :func:`cubed.array_api.sum`."""
        return _api().sum(
            self,
            axis=axis,
            dtype=dtype,
            keepdims=keepdims,
            initial=initial,
            where=where,
            split_every=split_every,
        )

    def var(
        self,
        axis: Axis = None,
        dtype: DTypeLike = None,
        *,
        ddof: float = 0,
        keepdims: bool = False,
        where: Any = True,
        split_every: Any = None,
    ) -> Array:
        """Variances; see :func:`cubed.array_api.var`."""
        return _api().var(
            self,
            axis=axis,
            dtype=dtype,
            correction=ddof,
            keepdims=keepdims,
            where=where,
            split_every=split_every,
        )

    def ptp(self, axis: Axis = None, *, keepdims: bool = False) -> Array:
        """The largest elements minus the smallest; see :func:`cubed.ptp`."""
        return _api().ptp(self, axis=axis, keepdims=keepdims)

    # --- Along an axis ---------------------------------------------------------------------------

    def argpartition(self, kth: Any, axis: int | None = -1) -> Array:
        """Positions that partition the elements; see :func:`cubed.argpartition`."""
        return _api().argpartition(self, kth, axis)

    def argtopk(self, k: int, axis: int = -1, split_every: Any = None) -> Array:
        """Positions of the k largest elements; see :func:`cubed.argtopk`."""
        return _api().argtopk(self, k, axis, split_every)

    def topk(self, k: int, axis: int = -1, split_every: Any = None) -> Array:
        """The k largest elements; see :func:`cubed.topk`."""
        return _api().topk(self, k, axis, split_every)

    def compress(self, condition: Any, axis: int | None = None) -> Array:
        """Elements along an axis for which a condition is true; see :func:`cubed.compress`."""
        return _api().compress(condition, self, axis)

    def searchsorted(self, v: Any, side: str = "left", sorter: Any = None) -> Array:
        """Positions at which to insert elements so that the array stays sorted."""
        return _api().searchsorted(self, v, side=side, sorter=sorter)

    def argsort(self, axis: int = -1) -> Array:
        """Positions that sort the elements; see :func:`cubed.array_api.argsort`."""
        return _api().argsort(self, axis=axis)

    def cumprod(
        self, axis: int | None = None, dtype: DTypeLike = None, *, method: str | None = None
    ) -> Array:
        """Running products; see :func:`cubed.cumprod`."""
        return _api().cumprod(self, axis=axis, dtype=dtype, method=method)

    def cumsum(
        self, axis: int | None = None, dtype: DTypeLike = None, *, method: str | None = None
    ) -> Array:
        """Running sums; see :func:`cubed.cumsum`."""
        return _api().cumsum(self, axis=axis, dtype=dtype, method=method)

    def repeat(self, repeats: Any, axis: int | None = None) -> Array:
        """Repeated elements; see :func:`cubed.array_api.repeat`."""
        return _api().repeat(self, repeats, axis=axis)

    def shuffle(self, indexer: Sequence[Sequence[int]], axis: int) -> Array:
        """Elements of an axis in groups, one after another; see :func:`cubed.shuffle`."""
        return _api().shuffle(self, indexer, axis)

    def take(self, indices: Any, axis: int | None = None, mode: Any = "raise") -> Array:
        """Elements at positions along an axis, or with axis=None in the flattened array. See
        :func:`cubed.take` for `mode`."""
        x: Any = self if axis is not None else self.ravel()
        at = 0 if axis is None else normalize_axis("take", axis, x.ndim)
        if mode != "raise":
            indices = _api().indexing_functions.positions_within(indices, x.shape[at], mode)
        return x[(*(slice(None),) * at, indices)]

    # --- Elements --------------------------------------------------------------------------------

    def choose(self, choices: Any, mode: str = "raise") -> Array:
        """Elements from several arrays, chosen by number; see :func:`cubed.choose`."""
        return _api().choose(self, choices, mode)

    def clip(self, min: Any = None, max: Any = None) -> Array:
        """The elements, limited to a range; see :func:`cubed.array_api.clip`."""
        return _api().clip(self, min, max)

    def conj(self) -> Array:
        """Complex conjugates."""
        return _api().conj(self)

    conjugate = conj

    @property
    def real(self) -> Array:
        """Real parts."""
        return _api().real(self) if self.dtype.kind == "c" else self.copy()

    @property
    def imag(self) -> Array:
        """Imaginary parts."""
        return _api().imag(self) if self.dtype.kind == "c" else _api().zeros_like(self)

    def nonzero(self) -> tuple[Array, ...]:
        """Coordinates of the elements that are not 0; their number is computed immediately."""
        return _api().nonzero(self)

    def round(self, decimals: int = 0) -> Array:
        """Numbers rounded to `decimals` places; see :func:`cubed.array_api.round`."""
        return _api().round(self, decimals=decimals)

    # --- Arranging -------------------------------------------------------------------------------

    def copy(self) -> Array:
        """A new object with the same lazy value: assigning to one object does not change the
        other."""
        return self._like(self._x)

    def view(self, dtype: DTypeLike = None, order: str | None = "C") -> Array:
        """Reinterprets the bytes of the elements as another type of numbers, dates, bools or bytes.

        If the new type has another size, the last axis gets more or fewer elements. Unlike in
        NumPy, the result is an independent array: an assignment to one does not change the other.
        """
        from cubed.array._bits import view  # lazy: imports code for user-defined functions

        return view(self, dtype, order)  # type: ignore[arg-type]

    def flatten(self, order: str = "C") -> Array:
        """The elements in one dimension, in C order, or with ``"F"`` in Fortran order."""
        return _api().reshape(self, (-1,), order=order)

    ravel = flatten

    def reshape(
        self, *shape: Any, order: str = "C", merge_chunks: bool = True, limit: int | None = None
    ) -> Array:
        """The elements in another shape, in C order, or with ``"F"`` in Fortran order. The shape is
        a tuple or several integers; see :func:`cubed.reshape`."""
        chunks = {"merge_chunks": merge_chunks, "limit": limit}
        return _api().reshape(self, _extents(shape), order=order, **chunks)

    def squeeze(self, axis: int | tuple[int, ...] | None = None) -> Array:
        """The array without all axes of extent 1, or without the given ones."""
        return _api().squeeze(self, axis)

    def swapaxes(self, axis1: int, axis2: int) -> Array:
        """The array with two axes exchanged."""
        return _api().swapaxes(self, axis1, axis2)

    def transpose(self, *axes: Any) -> Array:
        """The array with its axes in the given order; reversed by default."""
        order = None if not axes or axes == (None,) else _extents(axes)
        return _api().transpose(self, order)

    # --- Matrices --------------------------------------------------------------------------------

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
        """The diagonals of the matrices in two axes."""
        return _api().diagonal(self, offset, axis1, axis2)

    def dot(self, other: Any) -> Array:
        """The matrix product; see :func:`cubed.dot`."""
        return _api().dot(self, other)

    def trace(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike = None
    ) -> Array:
        """The sums of the diagonals of the matrices in two axes; see :func:`cubed.trace`."""
        return _api().trace(self, offset, axis1, axis2, dtype)

    # --- Parts -----------------------------------------------------------------------------------

    @property
    def blocks(self) -> BlockView:
        """Indexes the array by chunk numbers: ``x.blocks[0, -1]`` is an array of some chunks."""
        return BlockView(self)

    @property
    def oindex(self) -> OuterIndex:
        """Orthogonal indexing, each axis separately: ``x.oindex[[0, 2], mask]``."""
        return OuterIndex(self)

    @property
    def vindex(self) -> PointIndex:
        """Indexing by points: arrays of positions are broadcast, and their axes are the first axes
        of the result."""
        return PointIndex(self)
