"""What Xarray finds through entry points: the chunk manager ``cubed`` and the backend ``cubed``.

Neither changes Xarray. What is changed for lazy arrays is, once there is one: see
:mod:`cubed.xarray._patches`.
"""
