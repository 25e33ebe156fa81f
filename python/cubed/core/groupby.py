"""Import paths of reductions by group with functions of others."""

from cubed.blocks._groups_of_calls import groupby_blockwise, groupby_reduction

__all__ = ["groupby_blockwise", "groupby_reduction"]
