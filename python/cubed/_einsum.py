"""Einstein summation."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from cubed import _core
from cubed._array import Array, common_spec, core_of
from cubed._dtypes import dtype_of, name_of

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

Terms = tuple[list[str], str]


def einsum(
    subscripts: Any, /, *operands: Any, optimize: Any = True, dtype: Any = None, order: Any = "K"
) -> Array:
    """Sums of products over indices that are named by letters, as in NumPy.

    Parameters
    ----------
    subscripts
        A letter for each axis, operands separated by commas, and ``->`` before the letters of the
        result; without it, those that come once, in order. ``...`` stands for axes that broadcast,
        a letter that comes twice in an operand for its diagonal. Numbers may stand for letters, as
        in ``einsum(x, [0, 1], y, [1, 2], [0, 2])``.
    operands
        Arrays, at least one of them lazy.
    optimize
        Which pairs are multiplied first: True for a good order, False from left to right.
    dtype
        Of products and sums; default: the type that operands promote to.
    order
        What NumPy may be told of its result's memory; lazy arrays have none.

    Returns
    -------
    Array
        Lazy.

    Notes
    -----
    Each step multiplies two operands: by a product of matrices where it has indices that are
    summed, which needs three blocks in memory, elementwise otherwise.
    """
    if not isinstance(subscripts, str):
        subscripts, operands = _of_lists((subscripts, *operands))
    arrays = [core_of(o) for o in operands]
    terms, result = _parse(subscripts, [len(a.shape) for a in arrays])
    kind = np.dtype(dtype) if dtype is not None else np.result_type(*map(_dtype, arrays))
    name = name_of(kind)
    work = "int64" if kind.kind == "b" else name
    parts = [_simplified(_core.astype(a, work), t) for a, t in zip(arrays, terms, strict=True)]
    _check_extents(parts)
    for pair in _order(parts, result, optimize):
        taken = [parts.pop(i) for i in sorted(pair, reverse=True)][::-1]
        rest = {c for _, t in parts for c in t} | set(result)
        one = _reduced(taken[0], rest | {c for _, t in taken[1:] for c in t})
        for other in taken[1:]:
            one = _product(one, _reduced(other, rest | set(one[1])), rest)
        parts.append(one)
    x, term = _reduced(parts[0], set(result))
    x = _core.permute_dims(x, [term.index(c) for c in result]) if term != result else x
    return Array._new(_core.astype(x, name), common_spec(*operands))


def _dtype(a: _core.Array) -> np.dtype:
    return dtype_of(a.dtype)


# --- Subscripts ----------------------------------------------------------------------------------


def _of_lists(given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Subscripts and operands of operands, each followed by a list of numbers."""

    def letters(numbers: Any) -> str:
        return "".join("..." if n is Ellipsis else _LETTERS[operator.index(n)] for n in numbers)

    n = len(given) // 2
    try:
        text = ",".join(letters(given[2 * i + 1]) for i in range(n))
        result = "->" + letters(given[-1]) if len(given) % 2 else ""
    except (IndexError, TypeError):
        raise TypeError(
            "einsum: expected a string of subscripts, or after each operand a list of numbers"
            f" from 0 to {len(_LETTERS) - 1}"
        ) from None
    return text + result, given[: 2 * n : 2]


def _parse(subscripts: str, ndims: list[int]) -> Terms:
    """A letter for each axis of each operand, and those of the result."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ndims):
        raise ValueError(f"einsum {subscripts!r}: {len(terms)} terms for {len(ndims)} operands")
    free = [c for c in _LETTERS if c not in text]
    longest = 0
    for t, n in zip(terms, ndims, strict=True):
        named = t.replace("...", "", 1)
        if not all(c in _LETTERS for c in named):
            raise ValueError(f"einsum {subscripts!r}: term {t!r} has other characters than letters")
        if len(named) > n or ("..." not in t and len(named) != n):
            raise ValueError(f"einsum {subscripts!r}: term {t!r} for an operand with {n} axes")
        longest = max(longest, n - len(named) if "..." in t else 0)
    dots = free[:longest]

    def expand(t: str, n: int) -> str:
        k = n - len(t.replace("...", "", 1))
        return t.replace("...", "".join(dots[longest - k :]) if k else "", 1)

    full = [expand(t, n) for t, n in zip(terms, ndims, strict=True)]
    if not arrow:
        letters = sorted(c for c in set(left) if c in _LETTERS)
        once = [c for c in letters if sum(t.count(c) for t in terms) == 1]
        return full, "".join(dots) + "".join(once)
    result = right.replace("...", "".join(dots), 1)
    if len(set(result)) != len(result) or any(not any(c in t for t in full) for c in result):
        raise ValueError(
            f"einsum {subscripts!r}: the result {right!r} has other letters than terms"
        )
    return full, result


def _simplified(x: _core.Array, term: str) -> tuple[_core.Array, str]:
    """Diagonals of letters that come twice."""
    for c in dict.fromkeys(term):
        while term.count(c) > 1:
            i, j = term.index(c), term.index(c, term.index(c) + 1)
            others = [d for d in range(len(term)) if d not in (i, j)]
            x = _core.permute_dims(x, [*others, i, j])
            if x.shape[-1] != x.shape[-2]:
                raise ValueError(f"einsum: {c!r} is {x.shape[-2]} and {x.shape[-1]} in one operand")
            x = _core.diagonal(False, x, 0, None)
            term = "".join(term[d] for d in others) + c
    return x, term


def _check_extents(parts: list[tuple[_core.Array, str]]) -> None:
    """Drops axes of extent 1 that broadcast, and compares all others."""
    extents: dict[str, int] = {}
    for x, term in parts:
        for c, n in zip(term, x.shape, strict=True):
            if extents.setdefault(c, n) == 1:
                extents[c] = n
            elif n not in (1, extents[c]):
                raise ValueError(f"einsum: index {c!r} has extents {extents[c]} and {n}")
    for i, (x, term) in enumerate(parts):
        gone = [d for d, c in enumerate(term) if x.shape[d] == 1 and extents[c] != 1]
        if gone:
            kept = "".join(c for d, c in enumerate(term) if d not in gone)
            parts[i] = (_core.squeeze(x, gone), kept)


# --- Products ------------------------------------------------------------------------------------


def _order(
    parts: list[tuple[_core.Array, str]], result: str, optimize: Any
) -> list[tuple[int, ...]]:
    """Which operands are multiplied in each step; the product goes to the end of the list."""
    if len(parts) < 3 or not optimize:
        return [(0, 1)] * (len(parts) - 1)
    shapes = [np.broadcast_to(np.int8(0), x.shape) for x, _ in parts]
    text = ",".join(t for _, t in parts) + "->" + result
    steps: list[Any] = np.einsum_path(text, *shapes, optimize="greedy")[0]
    return [tuple(s) for s in steps[1:]]


def _reduced(part: tuple[_core.Array, str], wanted: set[str]) -> tuple[_core.Array, str]:
    """Sums over indices that nobody else has."""
    x, term = part
    gone = [d for d, c in enumerate(term) if c not in wanted]
    if not gone:
        return part
    total = _core.astype(_core.reduce("sum", x, gone, False, 0.0), x.dtype)
    return total, "".join(c for c in term if c in wanted)


def _product(
    p: tuple[_core.Array, str], q: tuple[_core.Array, str], rest: set[str]
) -> tuple[_core.Array, str]:
    (a, s), (b, t) = p, q
    batch = [c for c in s if c in t and c in rest]
    summed = [c for c in s if c in t and c not in rest]
    rows = [c for c in s if c not in t]
    columns = [c for c in t if c not in s]
    left = _core.permute_dims(a, [s.index(c) for c in (*batch, *rows, *summed)])
    right = _core.permute_dims(b, [t.index(c) for c in (*batch, *summed, *columns)])
    term = "".join((*batch, *rows, *columns))
    nb, nr, ns = len(batch), len(rows), len(summed)
    if not summed:
        for d in range(len(columns)):
            left = _core.expand_dims(left, nb + nr + d)
        for d in range(nr):
            right = _core.expand_dims(right, nb + d)
        return _core.elementwise("multiply", left, right), term
    if not batch:
        at = range(nr, nr + ns)
        return _core.astype(_core.tensordot(left, right, at, range(ns)), a.dtype), term
    x, y = _merged(left, (nb, nr, ns)), _merged(right, (nb, ns, len(columns)))
    out = _core.astype(_core.pair("matmul", x, y), a.dtype)
    shape = (*left.shape[: nb + nr], *right.shape[nb + ns :])
    return (out if out.shape == shape else _core.reshape(out, shape)), term


def _merged(x: _core.Array, groups: tuple[int, int, int]) -> _core.Array:
    """The last two groups of axes as one axis each."""
    nb, n, _ = groups
    sizes = [int(np.prod(g)) for g in (x.shape[nb : nb + n], x.shape[nb + n :])]
    shape = (*x.shape[:nb], *sizes)
    return x if x.shape == shape else _core.reshape(x, shape)
