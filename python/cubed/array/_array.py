"""The lazy array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from cubed import _core
from cubed.array import _above, _dask
from cubed.array._assign import setitem
from cubed.array._base import ArrayBase
from cubed.array._casts import cast_text
from cubed.array._indexing import getitem
from cubed.array._methods import Methods
from cubed.array._operands import multiply, operate
from cubed.array._rechunk import rechunk
from cubed.base._dtypes import name_of, sized
from cubed.base._operators import Operators
from cubed.base._types import ChunksLike, DTypeLike, NDArray
from cubed.base._warnings import warn_of_lost_parts
from cubed.exceptions import _OF_RESULT, PlanTooLargeError
from cubed.spec import Spec

if TYPE_CHECKING:
    from cubed._core import Operation


class Array(Methods, Operators):
    """A lazy, chunked N-dimensional array. :meth:`compute` and conversions compute its values.

    Create arrays by functions such as :func:`cubed.from_array`, :func:`cubed.from_zarr` and the
    functions of :mod:`cubed.array_api`. Assigning to a part of an array gives the same object a new
    lazy value.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.arange(6, chunks=3)
    >>> x.shape, x.chunks, x.dtype
    ((6,), ((3, 3),), dtype('int64'))
    >>> (x[1:] * 2).sum().compute()
    array(30)
    """

    __slots__ = ()

    @property
    def T(self) -> Array:
        """The array with its axes in reverse order; for a matrix, the transpose."""
        return self._like(_core.call("transpose", self._x, tuple(reversed(range(self.ndim)))))

    @property
    def mT(self) -> Array:
        """The transposes of the matrices in the last two axes."""
        if self.ndim < 2:
            raise ValueError(f"x.mT takes at least two axes, x has {self.ndim}")
        axes = (*range(self.ndim - 2), self.ndim - 1, self.ndim - 2)
        return self._like(_core.call("transpose", self._x, axes))

    def __repr__(self) -> str:
        shown = self.dtype if self.dtype.names else self._x.dtype
        return f"cubed.Array<shape={self.shape}, dtype={shown}, chunks={self.chunksize}>"

    def _repr_html_(self) -> str:
        from cubed.array._html import array_html  # lazy: only for notebooks

        return array_html(self)

    def to_svg(self, size: float = 500) -> str:
        """The chunk grid as SVG, three axes as a box, the longest axis `size` pixels long.

        Returns ``""`` for an array without axes. Computes nothing.
        """
        from cubed.array._html import grid_svg  # lazy: only for notebooks

        return grid_svg(self, size)

    def _repr_inline_(self, max_width: int) -> str:
        return f"cubed.Array<chunksize={self.chunksize}>"[:max_width]

    def __reduce__(self) -> Any:
        if self._stored is not None:
            raise TypeError("an array with a pending write cannot be pickled: pickle x.copy()")
        return _restore, (self._x.dump(), self._spec)

    # --- Its values ------------------------------------------------------------------------------

    def compute(
        self,
        *,
        executor: Any = None,
        callbacks: Sequence[Any] | None = None,
        optimize_graph: bool = True,
        optimize_function: Any = None,
        resume: bool | None = None,
        take_over: bool = False,
        update: bool = False,
        **kwargs: Any,
    ) -> NDArray:
        """Computes the values and returns them as a NumPy array. Parameters: see
        :func:`cubed.compute`."""
        return _above.compute(
            self,
            executor=executor,
            callbacks=callbacks,
            optimize_graph=optimize_graph,
            optimize_function=optimize_function,
            resume=resume,
            take_over=take_over,
            update=update,
            **kwargs,
        )[0]

    def plan(
        self,
        *,
        optimize_graph: bool = True,
        optimize_function: Any = None,
        compile_function: Any = None,
    ) -> Any:
        """Returns the plan that :meth:`compute` would run; see :func:`cubed.plan`."""
        return _above.plan(
            self,
            optimize_graph=optimize_graph,
            optimize_function=optimize_function,
            compile_function=compile_function,
        )

    def visualize(
        self,
        filename: str = "cubed",
        format: str | None = None,
        optimize_graph: bool = True,
        optimize_function: Any = None,
        show_hidden: bool = False,
        engine: str | None = None,
    ) -> Any:
        """Draws the plan that :meth:`compute` would run; see :func:`cubed.visualize`."""
        return _above.visualize(
            self,
            filename=filename,
            format=format,
            optimize_graph=optimize_graph,
            optimize_function=optimize_function,
            show_hidden=show_hidden,
            engine=engine,
        )

    def rechunk(
        self,
        chunks: ChunksLike = "auto",
        threshold: Any = None,
        block_size_limit: int | str | None = None,
        balance: bool = False,
        *,
        method: Any = None,
        min_mem: Any = None,
        allow_irregular: bool = True,
    ) -> Array:
        """Returns the same values in other chunks; see :func:`cubed.rechunk`."""
        return rechunk(self, chunks, threshold, block_size_limit, balance)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        """Computes the values into new memory; ``copy=False`` raises ValueError.

        Raises TypeError in functions of dask.array, because they would hold the values of all
        arrays in a list.
        """
        message = _dask.refusal()
        if message is not None:
            raise TypeError(message)
        if copy is False:
            raise ValueError("the values of a lazy array cannot be returned without a copy")
        values = self.compute() if self.ndim else self._element()
        return values if dtype is None else values.astype(dtype, copy=False)

    def _scalar(self) -> Any:
        """Computes and returns the only element, as a Python scalar."""
        if self.size != 1:
            raise TypeError(f"only arrays of one element are scalars, this one has {self.size}")
        return self._element().reshape(())[()]

    def _element(self) -> NDArray:
        """Computes the only element. If the plan is refused, the error message states that later
        results may need more memory than the element."""
        try:
            return self.compute()
        except PlanTooLargeError as refused:
            refused._say_for_what(_OF_RESULT)
            raise

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
        """Formats the only element, which is computed. An empty format returns ``str(self)``, which
        computes nothing."""
        return format(self.item(), format_spec) if format_spec else str(self)

    def __divmod__(self, other: Any) -> tuple[Array, Array]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Array, Array]:
        return other // self, other % self

    def item(self) -> Any:
        """Computes the only element and returns it as a Python scalar."""
        return self._scalar().item()

    def tolist(self) -> Any:
        """Computes the values and returns them as nested lists."""
        return self.compute().tolist()

    # --- Protocols of NumPy and of the Array API standard ----------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return _above.call_ufunc(ufunc, method, args, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _above.call_function(func, types, args, kwargs)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
            raise ValueError(f"version {api_version!r} of the Array API is not known")
        return _above.array_api

    def to_dask_array(self) -> Any:
        """Raises TypeError with the function to call instead; functions of dask.array call this
        method."""
        raise TypeError(_dask.refusal() or "a Cubed array has no form of Dask: x.compute()")

    def __dask_tokenize__(self) -> Any:
        """Identifies the array for Dask; raises TypeError in functions of dask.array."""
        message = _dask.refusal()
        if message is not None:
            raise TypeError(message)
        return "cubed.Array", self.__reduce__()[1]

    if not TYPE_CHECKING:  # type checkers would accept any name as an attribute

        def __getattr__(self, name: str) -> Any:
            """Raises AttributeError; in functions of dask.array the error names the function to
            call."""
            message = _dask.refusal()
            if message is None:
                message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=self)

    def to_device(self, device: str | None, /, *, stream: Any = None) -> Array:
        """Returns the array itself, because ``"cpu"`` is the only device."""
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
        """A DLPack capsule of the values, computed immediately, in new memory of the CPU.

        Raises
        ------
        BufferError
            The device is not the CPU, or DLPack does not have the type, such as dates.
        """
        if stream is not None:
            raise ValueError("the device 'cpu' has no streams")
        if dl_device is not None and tuple(dl_device) != (1, 0):
            raise BufferError(f"arrays are exported to the CPU, not to device {dl_device}")
        values = self.compute()  # new memory, so no copy is necessary
        try:
            return values.__dlpack__(max_version=max_version)
        except TypeError:  # NumPy 1
            return values.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    # --- Indexing --------------------------------------------------------------------------------

    def __getitem__(self, key: Any, /) -> Array:
        """Selects a part, as in NumPy. Lazy, but the number of true elements of a mask is computed
        immediately."""
        return getitem(self, key)

    def __setitem__(self, key: Any, value: Any, /) -> None:
        """Assigns to a part: the object gets a new lazy value of the same type.

        Arrays that were created from this object earlier do not change. The true elements of a mask
        are counted immediately if the key has other parts, or if the value has one element for each
        selected row.

        Raises
        ------
        ValueError
            The value's shape does not broadcast to that of the part.
        TypeError
            The value is complex, and the elements are real.
        """
        self._rebind(setitem(self, key, value)._x)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    # --- Operators -------------------------------------------------------------------------------

    def _unary(self, name: Operation) -> Array:
        return self._like(_core.elementwise(name, self._x))

    def __neg__(self) -> Array:
        return self._unary("negative")

    def __pos__(self) -> Array:
        return self._unary("positive")

    def __abs__(self) -> Array:
        return self._unary("abs")

    def __invert__(self) -> Array:
        return self._unary("bitwise_invert")

    def _operate(self, name: Operation, other: Any, reflected: bool = False) -> Self:
        pair: Any = (other, self) if reflected else (self, other)
        return operate(name, *pair)  # type: ignore[return-value]

    def __matmul__(self, other: Any, /) -> Array:
        return multiply(self, other)

    def __rmatmul__(self, other: Any, /) -> Array:
        return multiply(other, self)

    # --- Methods that NumPy's arrays have --------------------------------------------------------

    def astype(self, dtype: DTypeLike, copy: bool = True) -> Array:
        """Returns the values in another type; see :func:`cubed.array_api.astype`."""
        to = sized(dtype, self.dtype)
        if to == self.dtype:
            return self._like(self._x)
        if self.dtype.names or to.names:
            raise TypeError(
                f"astype: {self.dtype} cannot be cast to {to}: cast fields, such as x['name']"
            )
        if self.dtype.kind in "SU" or to.kind in "SUO":
            return cast_text(self, to)
        warn_of_lost_parts(self.dtype, to)
        return self._like(_core.call("astype", self._x, name_of(to)))

    # --- Blocks ----------------------------------------------------------------------------------

    def map_blocks(self, func: Any, *args: Any, **kwargs: Any) -> Array:
        """Applies a function to each chunk; see :func:`cubed.map_blocks`."""
        return _above.map_blocks(func, self, *args, **kwargs)

    def map_overlap(self, func: Any, *args: Any, **kwargs: Any) -> Array:
        """Applies a function to each chunk and the elements around it; see
        :func:`cubed.map_overlap`."""
        return _above.map_overlap(func, self, *args, **kwargs)

    # --- Stores ----------------------------------------------------------------------------------

    def persist(self, **kwargs: Any) -> Array:
        """Computes the values and returns a lazy array over them in memory; see :meth:`compute`."""
        return _above._create.persist(self, **kwargs)

    def store(self, target: Any, regions: Any = None, compute: bool = True, **kwargs: Any) -> Any:
        """Writes the array into an array or a store; see :func:`cubed.store`."""
        if not kwargs.keys().isdisjoint(("lock", "return_stored")):  # Dask's to_zarr passes them
            raise TypeError(
                "store has no options lock and return_stored, as each chunk is written by one task:"
                " leave them out, or call cubed.to_zarr instead of Dask's function"
            )
        return _above._store.store(self, target, regions, compute, **kwargs)

    def to_delayed(self, optimize_graph: bool = True, **kwargs: Any) -> NDArray:
        """Creates a Dask delayed call for each chunk; see :func:`cubed.to_delayed`."""
        return _above.to_delayed(self, optimize_graph, **kwargs)

    def to_zarr(self, store: Any, path: str | None = None, **kwargs: Any) -> Any:
        """Writes the array to a store; see :func:`cubed.to_zarr`."""
        return _above._store.to_zarr(self, store, path, **kwargs)


ArrayBase._class = Array


def _restore(data: bytes, spec: Spec | None) -> Array:
    """Restores a pickled array, which may contain pickled functions."""
    return Array._new(_core.load_array(data, True), spec)
