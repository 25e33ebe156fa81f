"""Sorting, and partial sorting.

The axis is brought together in a task's memory; an axis that does not fit is sorted in parts, which
are merged: all elements are read and written once for each merge. Results are then in chunks of one
part along the axis and 1 along all others.
"""

from cubed.functions.searching import (
    argpartition,
    argsort,
    argtopk,
    lexsort,
    partition,
    sort,
    sort_complex,
    topk,
)

__all__ = [
    "argpartition",
    "argsort",
    "argtopk",
    "lexsort",
    "partition",
    "sort",
    "sort_complex",
    "topk",
]
