"""The chunk manager ``cubed`` and the backend ``cubed``, which Xarray finds through entry points.

Importing this module does not change Xarray. Functions of Xarray are replaced when the first lazy
array is created, see :mod:`cubed.xarray._patches`.
"""
