"""Import path of axes in the spelling of Dask."""

from cubed.compat._functions import validate_axis

__all__ = ["validate_axis"]
