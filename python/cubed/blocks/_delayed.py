"""Arrays from delayed calls, and delayed calls that return chunks of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._calls import Output, run_blocks, title_of
from cubed.array._operands import lazy
from cubed.base._chunks import Shape, normalize_shape
from cubed.base._distribution import optional
from cubed.base._types import DTypeLike, NDArray
from cubed.spec import Spec


@dataclass(frozen=True)
class _Value:
    """Calls a function without arguments, or computes a Dask delayed call, in a task."""

    source: Any

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> list[Any]:
        compute = getattr(self.source, "compute", None)
        if _is_delayed(self.source) and compute is not None:
            # Dask's own threads would compete with the threads of the run.
            return [compute(scheduler="synchronous")]
        return [self.source()]


def _is_delayed(value: Any) -> bool:
    return hasattr(value, "__dask_graph__") and value.__dask_graph__() is not None


def from_delayed(
    value: Any,
    shape: Shape,
    dtype: DTypeLike | None = None,
    meta: Any = None,
    name: str | None = None,
    *,
    spec: Spec | None = None,
    extra_projected_mem: int = 0,
) -> Array:
    """Creates an array of one chunk from a call that returns its values.

    Parameters
    ----------
    value : Delayed or callable
        A Dask delayed call, or a function without arguments. Its result is an array of shape
        `shape`. The value is pickled now, and called by the task that needs the chunk.
    shape : int or tuple of int
        Shape of the values.
    dtype : dtype or None
        Type of the values. Results of the same kind and another width are cast.
    meta : array_like or None
        An array of the type of the values, in place of `dtype`.
    name : str or None
        Name of the operation in plans and messages.
    spec : Spec or None
        Limits of computations.
    extra_projected_mem : int, default 0
        Bytes that the call allocates in addition to its result; the task's projection includes
        them.

    Returns
    -------
    Array
        An array of shape `shape` and type `dtype`, in one chunk. Lazy.

    Raises
    ------
    TypeError
        The value is neither a delayed call nor a function, it cannot be pickled, or `dtype` and
        `meta` are missing.
    ValueError
        When the array is computed: the result has another shape.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> days = [cubed.from_delayed(lambda i=i: np.full(3, i), (3,), dtype=int) for i in range(2)]
    >>> cubed.stack(days).compute()
    array([[0, 0, 0],
           [1, 1, 1]])
    """
    if not _is_delayed(value) and (not callable(value) or isinstance(value, type)):
        raise TypeError(
            f"from_delayed: value is {value!r}, expected a Dask delayed call, or a function"
            " without arguments"
        )
    dtype = getattr(meta, "dtype", None) if dtype is None else dtype
    if dtype is None:
        raise TypeError("from_delayed: dtype and meta are None, expected the type of the values")
    title = name or (
        f"from_delayed({value.key})" if _is_delayed(value) else title_of("from_delayed", value)
    )
    extents = normalize_shape(shape)
    out = Output(np.dtype(dtype), [(n, max(1, n)) for n in extents], tuple(range(len(extents))))
    return run_blocks(title, _Value(value), [], {}, [out], extra_projected_mem, spec)[0]


def to_delayed(x: Array, optimize_graph: bool = True, **kwargs: Any) -> NDArray:
    """Creates a Dask delayed call for each chunk of an array.

    Parameters
    ----------
    x : Array
        A lazy array.
    optimize_graph : bool, default True
        As for :func:`cubed.compute`.
    **kwargs : object
        Other options of :func:`cubed.compute`. The default executor is ``"single-threaded"``,
        because Dask runs several calls at a time.

    Returns
    -------
    numpy.ndarray
        An array of objects with the shape ``x.numblocks``: a `dask.delayed.Delayed` for each chunk.
        Nothing is computed. Each call computes only its chunk, so calls repeat work that chunks
        share, such as a mean of all elements. To avoid this, call ``persist()`` or store the array
        before.

    Raises
    ------
    ImportError
        Dask is not installed.

    Examples
    --------
    >>> import cubed
    >>> chunks = cubed.to_delayed(cubed.arange(4, chunks=2) + 1)
    >>> chunks.shape
    (2,)
    >>> chunks[1].compute()
    array([3, 4])
    """
    delayed = optional("dask.delayed", "to_delayed needs the package dask", "dask").delayed
    x = lazy(x)
    options = {"executor": "single-threaded", "optimize_graph": optimize_graph, **kwargs}
    call = delayed(_chunk, pure=False)
    out = np.empty(x.numblocks, object)
    for index in np.ndindex(*x.numblocks):
        out[index] = call(x.blocks[index] if index else x, options)
    return out


def _chunk(x: Array, options: dict[str, Any]) -> NDArray:
    return np.asarray(x.compute(**options))
