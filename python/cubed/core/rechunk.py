"""Import path of :func:`cubed.rechunk`."""

from cubed.array._rechunk import rechunk as rechunk
