"""Import path of :class:`cubed.Array`."""

from cubed.array._array import Array as Array
