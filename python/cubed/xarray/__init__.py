"""What Xarray finds through entry points: the chunk manager ``cubed`` and the backend ``cubed``.

Importing it makes Xarray know lazy arrays in some more places, see :mod:`cubed.xarray._patches`.
Making a lazy array where Xarray was imported does it, too.
"""

from cubed.xarray._patches import install

install()
