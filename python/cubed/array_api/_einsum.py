"""Einstein summation."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of
from cubed.base._dtypes import dtype_of, name_of
from cubed.base._types import DTypeLike

#: The letters of subscripts in sorted order: the letter at position n stands for the number n in
#: lists of axes. A result without "->" has its letters in this order.
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    optimize: Any = True,
    dtype: DTypeLike = None,
    order: Any = "K",
    casting: Any = "safe",
) -> Array:
    """Computes sums of products over indices that are named by letters, as in NumPy.

    Parameters
    ----------
    subscripts : str or array_like
        A letter for each axis, commas between operands, and ``->`` before the letters of the
        result. Without ``->`` the result has the letters that occur once, in order. ``...`` stands
        for axes that broadcast. A letter that occurs twice in an operand selects its diagonal.
        Numbers are allowed in place of letters, as in ``einsum(x, [0, 1], y, [1, 2], [0, 2])``.
    operands : array_like
        Arrays, at least one of them lazy.
    optimize : object, default True
        Order of the products. True, ``"greedy"`` or ``"optimal"``: the pair whose product increases
        the number of elements least comes first. False: from left to right. A path of
        :func:`numpy.einsum_path` is followed. A memory limit, as in ``("greedy", limit)``, is
        ignored.
    dtype : dtype or None
        Type of products and sums; default: the promoted type of the operands.
    order : str, default "K"
        Ignored, because lazy arrays have no memory layout.
    casting : str, default "safe"
        Which casts to `dtype` are allowed, as in :func:`numpy.can_cast`.

    Returns
    -------
    Array
        The result, with an axis for each letter of its subscripts. Lazy.

    Raises
    ------
    TypeError
        Operands cannot be cast to `dtype`.
    ValueError
        Subscripts do not fit the operands, or the path does not end with a single operand.

    Notes
    -----
    Each step multiplies two operands. If it sums over indices, the step is a product of matrices,
    whose tasks hold three blocks. Otherwise it is an elementwise product.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.einsum("ij,jk->ik", x, x).compute()
    array([[ 7., 10.],
           [15., 22.]])
    """
    if not isinstance(subscripts, str):
        subscripts, operands = _of_lists((subscripts, *operands))
    arrays = tuple(core_of(o) for o in operands)
    dtypes = [dtype_of(a.dtype) for a in arrays]
    kind = np.result_type(*dtypes) if dtype is None else np.dtype(dtype)
    steps = _steps(optimize, len(arrays))
    out = _core.call("einsum", subscripts, arrays, name_of(kind), not optimize, steps)
    for i, d in enumerate(dtypes):
        if not np.can_cast(d, kind, casting):
            raise TypeError(f"einsum: operand {i} is {d}, which casting {casting!r} to {kind} bars")
    return Array._new(out, common_spec(*operands))


def _of_lists(given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Converts operands, each followed by a list of numbers, to subscripts and operands."""

    def letter(n: Any) -> str:
        if n is Ellipsis:
            return "..."
        number = operator.index(n)
        if not 0 <= number < len(_LETTERS):
            raise ValueError(f"einsum: subscript {number}, expected 0 to {len(_LETTERS) - 1}")
        return _LETTERS[number]

    n = len(given) // 2
    try:
        text = ",".join("".join(map(letter, given[2 * i + 1])) for i in range(n))
        result = "->" + "".join(map(letter, given[-1])) if len(given) % 2 else ""
    except TypeError:
        raise TypeError(
            "einsum: expected a string of subscripts, or after each operand a list of numbers"
        ) from None
    return text + result, given[: 2 * n : 2]


def _steps(optimize: Any, n: int) -> tuple[int, ...]:
    """Returns for each step a number whose bits select the operands of the step. The result of a
    step is appended to the operands."""
    named = optimize[0] if isinstance(optimize, (list, tuple)) and optimize else optimize
    if named is None or isinstance(named, (bool, np.bool_)) or named in ("greedy", "optimal"):
        return ()
    if not (isinstance(named, str) and named == "einsum_path") or named is optimize:
        raise ValueError(
            f"einsum: optimize is {optimize!r}, expected True, False, 'greedy', 'optimal' or a path"
            " of numpy.einsum_path"
        )
    steps, left = [], n
    for given in optimize[1:]:
        step = set(given) if isinstance(given, (list, tuple)) else set()
        if not step or not step <= set(range(left)):
            raise ValueError(f"einsum: step {given!r} of the path for {left} operands")
        bits = sum(1 << k for k in step)
        steps.append(bits - (bits >> 63 << 64))  # as a signed 64-bit integer
        left -= len(step) - 1
    if left != 1:
        raise ValueError(f"einsum: the path {optimize!r} leaves {left} operands of {n}")
    return tuple(steps)
