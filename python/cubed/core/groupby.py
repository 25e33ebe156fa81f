"""Import paths of grouped reductions with user-defined functions."""

from cubed.blocks._groups_of_calls import groupby_blockwise, groupby_reduction

__all__ = ["groupby_blockwise", "groupby_reduction"]
