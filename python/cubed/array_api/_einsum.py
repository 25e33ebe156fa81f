"""Einstein summation."""

from __future__ import annotations

import math
import operator
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of
from cubed.base._docs import documented
from cubed.base._dtypes import dtype_of, name_of
from cubed.base._types import DTypeLike

#: In the order in which results without "->" have them, which is that of the numbers for them.
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

Terms = tuple[list[str], str]
#: An array, and the letters of its axes.
Part = tuple[_core.Array, str]


@documented(returns="Lazy.")
def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    optimize: Any = True,
    dtype: DTypeLike = None,
    order: Any = "K",
    casting: Any = "safe",
) -> Array:
    """Sums of products over indices that are named by letters, as in NumPy.

    Parameters
    ----------
    subscripts : str or array_like
        A letter for each axis, operands separated by commas, and ``->`` before the letters of the
        result; without it, those that come once, in order. ``...`` stands for axes that broadcast,
        a letter that comes twice in an operand for its diagonal. Numbers may stand for letters, as
        in ``einsum(x, [0, 1], y, [1, 2], [0, 2])``.
    operands : array_like
        Arrays, at least one of them lazy.
    optimize : object, default True
        Which operands are multiplied first. True, ``"greedy"`` or ``"optimal"``: pairs whose
        product has the fewest elements more than they have; False: from left to right; a path of
        :func:`numpy.einsum_path`: as it says. A limit of memory, as in ``("greedy", limit)``, is
        accepted and not needed.
    dtype : dtype or None
        Of products and sums; default: the type that operands promote to.
    order : str, default "K"
        What NumPy may be told of its result's memory; lazy arrays have none.
    casting : str, default "safe"
        Which casts to `dtype` are allowed, as in :func:`numpy.can_cast`.

    Raises
    ------
    TypeError
        Operands cannot be cast to `dtype`.
    ValueError
        Subscripts do not fit the operands, or the path does not lead to one.

    Notes
    -----
    Each step multiplies two operands: by a product of matrices where it has indices that are
    summed, which needs three blocks in memory, elementwise otherwise.

    Examples
    --------
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.einsum("ij,jk->ik", x, x).compute()
    array([[ 7., 10.],
           [15., 22.]])
    """
    if not isinstance(subscripts, str):
        subscripts, operands = _of_lists((subscripts, *operands))
    arrays = [core_of(o) for o in operands]
    terms, result = _parse(subscripts, [len(a.shape) for a in arrays])
    path = _path(optimize, len(arrays))
    parts = [_simplified(a, t) for a, t in zip(arrays, terms, strict=True)]
    _check_extents(parts)
    name = _type([dtype_of(a.dtype) for a in arrays], dtype, casting)
    work = "float32" if name == "float16" else name  # halves are not computed with
    parts = [(_core.astype(x, work), term) for x, term in parts]
    for step in path:
        taken = [parts[i] for i in sorted(step)]
        parts = [p for i, p in enumerate(parts) if i not in step]
        wanted = set(result).union(*(t for _, t in parts))
        parts.append(_contracted(taken, wanted, bool(optimize)))
    x, term = _reduced(parts[0], set(result))
    x = _core.permute_dims(x, [term.index(c) for c in result]) if term != result else x
    return Array._new(_core.astype(x, name), common_spec(*operands))


def _type(dtypes: list[np.dtype[Any]], dtype: DTypeLike, casting: Any) -> str:
    """The engine's name of the type of products and sums."""
    kind = np.result_type(*dtypes) if dtype is None else np.dtype(dtype)
    for i, d in enumerate(dtypes):
        if not np.can_cast(d, kind, casting):
            raise TypeError(f"einsum: operand {i} is {d}, which casting {casting!r} to {kind} bars")
    return name_of(kind)


# --- Subscripts ----------------------------------------------------------------------------------


def _of_lists(given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Subscripts and operands of operands, each followed by a list of numbers."""

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


def _parse(subscripts: str, ndims: list[int]) -> Terms:
    """A letter for each axis of each operand, and those of the result."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ndims):
        raise ValueError(f"einsum {subscripts!r}: {len(terms)} terms for {len(ndims)} operands")
    longest = 0
    for t, n in zip(terms, ndims, strict=True):
        named = t.replace("...", "", 1)
        if not all(c in _LETTERS for c in named):
            raise ValueError(f"einsum {subscripts!r}: term {t!r} has other characters than letters")
        if len(named) > n or ("..." not in t and len(named) != n):
            raise ValueError(f"einsum {subscripts!r}: term {t!r} for an operand with {n} axes")
        longest = max(longest, n - len(named) if "..." in t else 0)
    dots = "".join(map(chr, range(128, 128 + longest)))  # no letters: all may be taken

    def expand(t: str, n: int) -> str:
        k = n - len(t.replace("...", "", 1))
        return t.replace("...", dots[longest - k :], 1)

    full = [expand(t, n) for t, n in zip(terms, ndims, strict=True)]
    if not arrow:
        letters = sorted(c for c in set(left) if c in _LETTERS)
        once = [c for c in letters if sum(t.count(c) for t in terms) == 1]
        return full, dots + "".join(once)
    result = right.replace("...", dots, 1)
    own = set(right.replace("...", "", 1))
    if len(set(result)) != len(result) or not own <= set(left) & set(_LETTERS):
        raise ValueError(
            f"einsum {subscripts!r}: the result {right!r} has other letters than terms"
        )
    return full, result


def _simplified(x: _core.Array, term: str) -> Part:
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


def _check_extents(parts: list[Part]) -> None:
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


def _path(optimize: Any, n: int) -> list[set[int]]:
    """The numbers of operands that each step takes; what it makes is put behind the others."""
    named = optimize[0] if isinstance(optimize, (list, tuple)) and optimize else optimize
    if named is None or isinstance(named, (bool, np.bool_)) or named in ("greedy", "optimal"):
        return [set(range(n))]
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
        steps.append(step)
        left -= len(step) - 1
    if left != 1:
        raise ValueError(f"einsum: the path {optimize!r} leaves {left} operands of {n}")
    return steps


def _contracted(parts: list[Part], wanted: set[str], reorder: bool) -> Part:
    """The product of all parts, summed over indices that are not wanted."""
    while len(parts) > 1:
        i, j = _best_pair(parts, wanted) if reorder else (0, 1)
        others = [p for k, p in enumerate(parts) if k not in (i, j)]
        rest = wanted.union(*(t for _, t in others))
        p, q = parts[i], parts[j]
        p, q = _reduced(p, rest | set(q[1])), _reduced(q, rest | set(p[1]))
        parts = [_product(p, q, rest), *others]
    return _reduced(parts[0], wanted)


def _best_pair(parts: list[Part], wanted: set[str]) -> tuple[int, int]:
    """Two that share an index, if any do, whose product has the fewest elements more than they."""
    extents = {c: n for x, term in parts for c, n in zip(term, x.shape, strict=True)}
    places = Counter(c for _, term in parts for c in term)

    def cost(pair: tuple[int, int]) -> tuple[bool, int, int]:
        s, t = (set(parts[k][1]) for k in pair)
        kept = {c for c in s | t if c in wanted or places[c] > (c in s) + (c in t)}
        size, work = (math.prod(extents[c] for c in letters) for letters in (kept, s | t))
        return not s & t, size - sum(math.prod(parts[k][0].shape) for k in pair), work

    return min(combinations(range(len(parts)), 2), key=cost)


def _reduced(part: Part, wanted: set[str]) -> Part:
    """Sums over indices that nobody else has."""
    x, term = part
    gone = [d for d, c in enumerate(term) if c not in wanted]
    if not gone:
        return part
    reduction = "any" if x.dtype == "bool" else "sum"
    total = _core.astype(_core.reduce(reduction, x, gone, False, 0.0), x.dtype)
    return total, "".join(c for c in term if c in wanted)


def _product(p: Part, q: Part, rest: set[str]) -> Part:
    """The product of two, summed over indices of both that are not in the rest."""
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
        times = "logical_and" if a.dtype == "bool" else "multiply"
        return _core.elementwise(times, left, right), term
    if a.dtype == "bool":  # there are fewer than 2^63 terms
        left, right = (_core.astype(v, "int64") for v in (left, right))
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
    sizes = [math.prod(g) for g in (x.shape[nb : nb + n], x.shape[nb + n :])]
    shape = (*x.shape[:nb], *sizes)
    return x if x.shape == shape else _core.reshape(x, shape)
