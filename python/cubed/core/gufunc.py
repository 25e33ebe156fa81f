"""Import path of :func:`cubed.apply_gufunc`."""

from cubed.blocks._gufunc import apply_gufunc as apply_gufunc
