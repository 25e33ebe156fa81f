"""Import path of chunks in the spelling of Dask."""

from cubed.compat._functions import normalize_chunks

__all__ = ["normalize_chunks"]
