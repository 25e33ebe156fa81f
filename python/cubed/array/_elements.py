"""elemwise: user-defined functions on elements of arrays that are broadcast together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cubed.array._base import Array
from cubed.array._calls import (
    Call,
    Operand,
    Output,
    infer_dtypes,
    join,
    made_of,
    run_blocks,
    tiny,
    title_of,
    unify,
)
from cubed.array._neighbours import refuse_chunked, refuse_foreign
from cubed.array._operands import common_spec, core_of
from cubed.base._types import NDArray
from cubed.runtime._call import to_array


@dataclass(frozen=True)
class _ElementCall(Call):
    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        shape = np.broadcast_shapes(*(b.shape for b in blocks))
        return (np.broadcast_to(to_array(self.result(blocks)), shape),)


def elemwise(
    func: Callable[..., Any],
    *args: Any,
    dtype: Any = None,
    extra_projected_mem: int | None = 0,
    name: str | None = None,
    **kwargs: Any,
) -> Array:
    """Applies a function element by element to arrays that are broadcast together.

    Parameters
    ----------
    func : callable
        Called with blocks as read-only NumPy arrays; returns values of their common shape.
    *args : array_like
        Lazy arrays, NumPy arrays and scalars.
    dtype : dtype or None
        Data type of the result. None: determined by calling the function with blocks of one
        element.
    extra_projected_mem : int or None, default 0
        Bytes that a call allocates in addition to its result; the task's projection includes them.
        None: an estimate of twice the bytes of the call's blocks, plus 1 MiB.
    name : str or None
        Name of the operation in plans and messages.
    **kwargs : object
        Passed to the function.

    Returns
    -------
    Array
        The broadcast shape of the arguments. Lazy.

    Raises
    ------
    TypeError
        The function cannot be pickled. During the computation: a result cannot be cast safely to
        `dtype`.
    ValueError
        The shapes of the arguments cannot be broadcast together.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> from cubed.core.ops import elemwise
    >>> elemwise(np.arctan, cubed.asarray([0.0, 1.0]), dtype=float).compute()
    array([0.        , 0.78539816])
    """
    title = name or title_of("elemwise", func)
    refuse_foreign(*args, what=title)
    refuse_chunked(title, *kwargs.values())
    places = tuple(i for i, a in enumerate(args) if isinstance(a, (Array, np.ndarray)))
    if not places:
        raise TypeError(f"{title}: at least one argument must be an array")
    cores = [core_of(args[i]) for i in places]
    ndim = max(len(x.shape) for x in cores)
    values = tuple(None if i in places else a for i, a in enumerate(args))
    call = _ElementCall(func, values, places, kwargs)
    spec = common_spec(*args)

    def make(mine: Sequence[Array]) -> tuple[Array, ...]:
        nonlocal dtype
        operands = [Operand(a._x, tuple(range(ndim - a.ndim, ndim))) for a in mine]
        unified = unify(operands, title, align=True)
        joined = join(unified)
        if dtype is None:
            tried = [tiny(x) for x in cores]
            dtype = infer_dtypes(title, lambda: call(tried, ()))[0]
        out = Output(np.dtype(dtype), [joined[d] for d in range(ndim)], tuple(range(ndim)))
        return run_blocks(title, call, operands, unified, [out], extra_projected_mem, spec)

    return made_of([Array._new(x, spec) for x in cores], make)[0]
