"""Import paths of indexing."""

from cubed.array._views import BlockView
from cubed.compat._functions import index

__all__ = ["BlockView", "index"]
