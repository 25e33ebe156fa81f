"""What versions of Xarray differ in, for tests that run with any of them."""

import pytest
import xarray as xr

VERSION = tuple(int(n) for n in xr.__version__.split(".")[:2])
#: The tables of tests are complete for this one.
TABLES = (2026, 9)


def before(year, month, reason):
    """A mark of tests that an older Xarray cannot pass by itself, whatever its arrays are."""
    return pytest.mark.skipif(
        (year, month) > VERSION, reason=f"Xarray before {year}.{month}: {reason}"
    )


def check_names(listed, cls):
    """That a list has all public names of a class."""
    if VERSION < TABLES:
        pytest.skip(f"Xarray {xr.__version__}: the tables have the names of {TABLES}")
    public = {n for n in dir(cls) if not n.startswith("_")}
    assert set(listed) == public, public.symmetric_difference(listed)


def need_name(cls, name):
    if not hasattr(cls, name):
        pytest.skip(f"Xarray {xr.__version__} has no {cls.__name__}.{name}")
