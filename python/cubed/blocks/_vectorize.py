"""Functions of single elements, called for each element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


def vectorized(
    func: Callable[..., Any], signature: str, dtypes: Sequence[np.dtype[Any]] | None
) -> Callable[..., Any]:
    """``numpy.vectorize`` of a function, with strings of the length that the function returns.

    With a signature, NumPy truncates strings to one character. Here, strings are collected as
    Python objects, and get the length of the longest one.
    """
    if dtypes is None or not any(d.kind in "SU" for d in dtypes):
        return np.vectorize(func, signature=signature, otypes=dtypes)
    types = [np.dtype(object) if d.kind in "SU" else d for d in dtypes]
    kinds = tuple(d.kind if d.kind in "SU" else "" for d in dtypes)
    return _WithStrings(np.vectorize(func, signature=signature, otypes=types), kinds)


@dataclass(frozen=True)
class _WithStrings:
    function: Callable[..., Any]
    #: For each result, "S" or "U" if it consists of strings, otherwise an empty string.
    kinds: tuple[str, ...]

    def __call__(self, *blocks: Any, **kwargs: Any) -> Any:
        results = self.function(*blocks, **kwargs)
        if not isinstance(results, tuple):
            return results.astype(self.kinds[0])
        both = zip(results, self.kinds, strict=True)
        return tuple(r.astype(kind) if kind else r for r, kind in both)
