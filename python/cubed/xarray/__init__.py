"""What Xarray finds through entry points: the chunk manager ``cubed`` and the backend ``cubed``."""
