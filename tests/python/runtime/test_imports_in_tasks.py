"""Functions on blocks import their libraries before tasks: no task imports anything.

The projection has no memory for libraries, and OpenBLAS waits without end for memory that the limit
of a worker process denies it.
"""

import json

import cubed
import cubed.core.ops
import cubed.ndimage
import cubed.random
import cubed.stats
import numpy as np
import pytest
from conftest import NIGHTLY
from cubed.runtime import _call

SPEC = cubed.Spec(allowed_mem="2GB", reserved_mem="300MB")
DISTRIBUTIONS = {
    "beta": (1, 2), "binomial": (5, 0.5), "chisquare": (2,), "f": (3, 4), "gamma": (2,),
    "geometric": (0.5,), "hypergeometric": (5, 5, 3), "logseries": (0.5,),
    "negative_binomial": (5, 0.5), "noncentral_chisquare": (3, 1), "noncentral_f": (3, 4, 1),
    "poisson": (3,), "standard_gamma": (2,), "standard_t": (3,), "vonmises": (0, 1),
    "wald": (1, 1), "zipf": (3,),
}  # fmt: skip

#: Calls whose functions import what those of other calls do, for `--nightly`.
RELATIVES = {
    *(f"random.{name}" for name in DISTRIBUTIONS if name not in ("beta", "poisson")),
    "median_filter", "uniform_filter", "stats.f_oneway", "stats.normaltest", "stats.chisquare",
    "xarray.str", "xarray.dt.season",
}  # fmt: skip


def _array(seed=0, **options):
    x = np.random.default_rng(seed).random((12, 12)) + 0.1
    return cubed.from_array(x, chunks=(12, 6), spec=SPEC, **options)


def _labels(n=12):
    return cubed.from_array(np.arange(n) % 4, chunks=n // 2, spec=SPEC)


def _of_stats(result):
    return [result.pvalue]


def _by_xarray(call):
    def make():
        xr = pytest.importorskip("xarray")
        x = xr.DataArray(_array(), dims=("y", "x"), coords={"x": np.arange(12) % 3})
        return [call(xr, x).data]

    return make


def _times(x):
    """Along the axis x, one per month."""
    import pandas as pd

    return x.assign_coords(x=pd.date_range("2001-01-01", periods=12, freq="MS"))


def _add(a, b):
    return a + b


CALLS = {
    "label": lambda: [cubed.ndimage.label(_array() > 0.5)[0]],
    "stats.f_oneway": lambda: _of_stats(cubed.stats.f_oneway(_array(), _array(1))),
    "stats.normaltest": lambda: _of_stats(cubed.stats.normaltest(_array(), axis=0)),
    "stats.chisquare": lambda: _of_stats(cubed.stats.chisquare(_array())),
    "stats.ttest_ind": lambda: _of_stats(cubed.stats.ttest_ind(_array(), _array(1))),
    "map_blocks": lambda: [cubed.map_blocks(np.sin, _array(), dtype="f8")],
    "map_overlap": lambda: [
        cubed.map_overlap(np.sin, _array(), dtype="f8", depth=1, boundary=0, trim=True)
    ],
    "apply_gufunc": lambda: [cubed.apply_gufunc(_add, "(),()->()", _array(), _array(1))],
    "apply_along_axis": lambda: [cubed.apply_along_axis(np.ptp, 0, _array())],
    "vectorize": lambda: [cubed.apply_gufunc(_add, "(),()->()", _array(), 2.0, vectorize=True)],
    "blockwise": lambda: [cubed.blockwise(_add, "ij", _array(), "ij", _array(1), "ij", dtype="f8")],
    "reduction": lambda: [
        cubed.core.ops.reduction(_array(), np.sum, combine_func=np.add, axis=0, dtype="f8")
    ],
    "fromfunction": lambda: [cubed.fromfunction(_add, (12, 12), chunks=6, spec=SPEC)],
    "groupby of lazy labels": lambda: [
        cubed.groupby_reduce(_array(), _labels(), func="mean", expected_groups=np.arange(3))[0]
    ],
    "groupby in bins": lambda: [
        cubed.groupby_reduce(
            _array(), _labels(), func="sum", expected_groups=np.array([0, 2, 4]), isbin=True
        )[0]
    ],
    "xarray.cumsum by group": _by_xarray(lambda xr, x: x.groupby("x").cumsum()),
    "xarray.rolling": _by_xarray(lambda xr, x: x.rolling(x=3).median()),
    "xarray.rank": _by_xarray(lambda xr, x: x.chunk(x=-1).rank("x")),
    "xarray.interp": _by_xarray(lambda xr, x: _times(x).interp(x=["2001-02-03", "2001-05-06"])),
    "xarray.map_blocks": _by_xarray(lambda xr, x: xr.map_blocks(np.sin, x, template=x)),
    "xarray.apply_ufunc": _by_xarray(
        lambda xr, x: xr.apply_ufunc(np.sin, x, dask="parallelized", output_dtypes=["f8"])
    ),
    "xarray.str": _by_xarray(lambda xr, x: (x * 9).astype("U3").str.upper()),
    "xarray.dt": _by_xarray(lambda xr, x: (x * 1e9).astype("M8[ns]").dt.strftime("%Y")),
    "xarray.dt.season": _by_xarray(lambda xr, x: (x * 1e9).astype("M8[ns]").dt.season),
    **{
        f"random.{name}": lambda name=name, given=given: [
            getattr(cubed.random.default_rng(1), name)(*given, size=20)
        ]
        for name, given in DISTRIBUTIONS.items()
    },
}


def _code(arrays):
    """Whether the plan calls functions of Python."""
    return cubed.plan(*arrays)._info["code"]


@pytest.mark.parametrize("name", CALLS)
def test_no_task_imports(name, monkeypatch, tmp_path):
    if name in RELATIVES and not NIGHTLY:
        pytest.skip("a call of the same kind is tried, this one with --nightly")
    arrays = CALLS[name]()
    assert _code(arrays)
    log = tmp_path / "log"
    monkeypatch.setenv("CUBED_TEST_IMPORT_LOG", str(log))
    arguments = _call.worker_arguments

    def watched():
        path, modules = json.loads(arguments()[0])
        return (json.dumps([path, [*modules, "import_log"]]),)

    monkeypatch.setattr(_call, "worker_arguments", watched)
    cubed.compute(*arrays, executor="processes", max_workers=1)
    lines = log.read_text().splitlines()
    assert lines
    imports = {m.partition(".")[0] for line in lines for m in line.rpartition(": ")[2].split()}
    assert imports == set()
