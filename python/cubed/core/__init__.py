"""Import paths of Cubed for Python that Xarray, flox and others use."""

from cubed.core._unify import unify_chunks

__all__ = ["unify_chunks"]
