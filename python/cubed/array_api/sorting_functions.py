"""Sorting, and partial sorting.

A task holds whole lines along the axis. An axis that does not fit is sorted in parts, which are
then merged; each merge reads and writes all elements once. Chunks of such results are one part long
along the axis, and have extent 1 along all other axes.
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
