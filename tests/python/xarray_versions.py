"""Differences between versions of Xarray and related packages, for tests that run with any of these
versions.
"""

from importlib.metadata import version

import pytest
import xarray as xr


def _numbers(package):
    return tuple(int(n) for n in version(package).split(".")[:2] if n.isdigit())


XARRAY, FLOX, ZARR = _numbers("xarray"), _numbers("flox"), _numbers("zarr")
NUMPY = _numbers("numpy")
#: The tables of tests, and how often chunks are read, are those of this one.
NEWEST = (2026, 9)

#: Reason, whether it holds here, and cases by what their ids end with: what an older version
#: gives for NumPy's arrays is something else, or nothing.
DIFFERENCES = (
    (
        "Xarray before 2026.4 does integers, ties and rounding of windows by bottleneck",
        XARRAY < (2026, 4),
        """across_chunks[rolling-12] across_chunks[rolling-17] across_chunks[rolling-18]
        across_chunks[rolling-21] methods[rolling-13] methods[rolling-21] Rolling.argmax]
        Rolling.argmin]""",
    ),
    (
        "Xarray before 2026.4 does not evaluate expressions of three dimensions",
        XARRAY < (2026, 4),
        "Dataset.eval] functions[Dataset-11]",
    ),
    (
        "flox before 0.11 gives groups without values the quantiles of others",
        FLOX < (0, 11),
        """across_chunks[groupby-0] across_chunks[groupby-6] across_chunks[groupby-7]
        methods[groupby-22] GroupBy.quantile] test_bins""",
    ),
    (
        "flox before 0.11 has no fill value for all and any",
        FLOX < (0, 11),
        "test_groups_that_are_not_there",
    ),
    (
        "flox's own modes, of NumPy's arrays, fail with NumPy 2.4 (numpy-groupies 0.16)",
        NUMPY >= (2, 4) and FLOX <= (0, 11),
        "test_every_reduction[mode] test_every_reduction[nanmode]",
    ),
    (
        "Xarray before 2025.7 has no groupers of seasons",
        XARRAY < (2025, 7),
        "across_chunks[groupby-26] across_chunks[groupby-27]",
    ),
    (
        "Xarray before 2025.7 has no quantiles of groups of two dimensions",
        XARRAY < (2025, 7),
        "across_chunks[groupby-4]",
    ),
    (
        "flox of early 2025 has no first of dates and complex numbers",
        XARRAY < (2025, 7),
        "across_chunks[groupby-17] across_chunks[groupby-22]",
    ),
    (
        "zarr before 3 has no format 3",
        ZARR < (3, 0),
        """decodes_as_xarray_does[3-True] decodes_as_xarray_does[3-False] read_natively[3]
        backend_groups[3] takes_a_spec[3] test_write_later""",
    ),
    (
        "zarr before 3 has dates of calendars as Python's objects, which it cannot write",
        ZARR < (3, 0),
        "test_calendars[zarr] test_calendars[cubed] test_writing_calendars",
    ),
)


def difference(name):
    """The reason for which a case is another one here, or None."""
    for reason, holds, ids in DIFFERENCES:
        if holds and name.endswith(tuple(ids.split())):
            return reason
    return None


def skip_differences(name):
    reason = difference(name)
    if reason:
        pytest.skip(reason)


def check_names(listed, cls):
    """That a list has all public names of a class."""
    if XARRAY < NEWEST:
        pytest.skip(f"Xarray {xr.__version__}: the tables have the names of {NEWEST}")
    public = {n for n in dir(cls) if not n.startswith("_")} - {"cubed"}  # our accessor
    assert set(listed) == public, public.symmetric_difference(listed)


def need_name(cls, name):
    if not hasattr(cls, name):
        pytest.skip(f"Xarray {xr.__version__} has no {cls.__name__}.{name}")
