"""What Xarray finds through entry points: the chunk manager ``cubed`` and the backend ``cubed``.

Importing it makes Xarray know lazy arrays in some more places, see :mod:`cubed.xarray._patches`;
who puts arrays into data sets without the manager or the backend imports it first.
"""

from cubed.xarray._patches import install

install()
