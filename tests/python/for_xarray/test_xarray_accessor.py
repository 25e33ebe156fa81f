"""The accessor of Xarray's objects, with and without cubed-xarray installed."""

import os
import subprocess
import sys

import cubed
import numpy as np
import pytest
import xarray as xr
from conftest import NIGHTLY


@pytest.fixture
def ds():
    lazy = cubed.ones((4, 6), chunks=2)
    time = cubed.ones((4,), chunks=2)
    variables = {"a": (("t", "x"), lazy), "b": ("x", np.ones(6)), "s": ((), lazy.sum())}
    return xr.Dataset(variables, coords={"when": ("t", time)})


def test_what_is_drawn(ds, tmp_path):
    """The lazy variables and coordinates, and nothing of those in memory."""
    with cubed.raise_if_computes():
        whole = ds.cubed.visualize(tmp_path / "ds.svg")
        array = (ds.a + 1).cubed.visualize(filename=str(tmp_path / "da"), format="dot")
    lazy = [ds.a.data, ds.s.data, ds.when.data]
    alone = cubed.visualize(*lazy, filename=tmp_path / "alone.svg")
    assert whole.path.name == "ds.svg" and array.path.name == "da.dot"
    drawn = [p.read_text().count("<title>") for p in (whole.path, alone.path)]
    assert drawn[0] == drawn[1] > 0
    assert (tmp_path / "da.dot").read_text().startswith("digraph")


def test_coordinates_of_an_array_are_drawn(ds, tmp_path):
    in_memory = xr.DataArray(np.ones(4), dims="t", coords={"when": ds.when})
    assert in_memory.cubed.visualize(tmp_path / "c.svg").path == tmp_path / "c.svg"


def test_plans_and_estimates(ds):
    lazy = [ds.a.data, ds.s.data, ds.when.data]
    with cubed.raise_if_computes():
        plan, estimate = ds.cubed.plan(), ds.cubed.estimate("s3-lambda")
        unfused = ds.a.cubed.plan(optimize_graph=False)
    assert plan.summary() == cubed.plan(*lazy).summary() and len(plan.array_names) == 3
    assert repr(estimate) == repr(cubed.plan(*lazy).estimate("s3-lambda"))
    assert unfused.num_stages >= ds.a.cubed.plan().num_stages


def test_compute(ds):
    class Starts(cubed.Callback):
        found = 0

        def on_compute_start(self, event):
            self.found += 1

    starts = Starts()
    got = ds.cubed.compute(executor="single-threaded", callbacks=[starts])
    assert starts.found == 1 and isinstance(ds.a.data, cubed.Array)
    for name in ("a", "b", "s", "when"):
        assert isinstance(got[name].variable._data, np.ndarray)
    xr.testing.assert_identical(got, ds.compute())
    xr.testing.assert_identical((ds.a + 1).cubed.compute(), got.a + 1)


@pytest.mark.parametrize("method", ["plan", "estimate", "compute"])
def test_methods_without_lazy_arrays(method):
    cubed.ones(3)  # with one, the accessor is there
    value = xr.DataArray(np.ones(3), dims="x", name="v")
    for x in (value, value.to_dataset()):
        with pytest.raises(
            TypeError, match=f"{method}: the {type(x).__name__} has no lazy Cubed array"
        ):
            getattr(x.cubed, method)()


@pytest.mark.parametrize("kind", ["Dataset", "DataArray"])
def test_without_lazy_arrays(kind, tmp_path):
    cubed.ones(3)  # with one, the accessor is there
    value = xr.DataArray(np.ones(3), dims="x", name="v")
    value = value.to_dataset() if kind == "Dataset" else value
    with pytest.raises(TypeError, match=rf"the {kind} has no lazy Cubed array, expected at least"):
        value.cubed.visualize(tmp_path / "v.svg")
    assert not list(tmp_path.iterdir())


def run(program, *paths):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("first", ["cubed", "xarray"])
def test_xarray_is_not_imported_for_it(first):
    """An array that is older than the import of Xarray has it, too, and all other hooks."""
    run(f"""if True:
        import sys, {first}, cubed
        x = cubed.ones((4,), chunks=2)
        assert {first == "xarray"} or "xarray" not in sys.modules
        import xarray as xr
        ds = xr.Dataset({{"a": ("x", x)}})
        assert ds.cubed.visualize and ds.a.cubed.visualize
        assert hasattr(xr.Dataset.chunk, "_cubed_hook")
    """)


ORDERS = {
    "theirs first": "import cubed_xarray.cubedmanager, cubed; cubed.ones(3)",
    "ours first": "import cubed, xarray; cubed.ones(3); import cubed_xarray.cubedmanager",
    "by the entry points": "import xarray as xr; xr.Dataset({'a': ('x', [1.0])}).chunk("
    "chunked_array_type='cubed')",
}
CHECK = """
import sys, xarray as xr, cubed
assert "cubed_xarray.cubedmanager" in sys.modules
for kind in (xr.Dataset, xr.DataArray):
    assert kind.cubed.__module__ == "cubed.xarray._accessor", kind.cubed
"""


@pytest.mark.parametrize("order", ORDERS)
def test_the_accessor_of_cubed_xarray_is_replaced(order, tmp_path):
    """Without the warning of Xarray that one overrides the other."""
    (tmp_path / "cubed_xarray").mkdir()
    (tmp_path / "cubed_xarray/__init__.py").touch()
    (tmp_path / "cubed_xarray/cubedmanager.py").write_text(
        "import xarray as xr\nclass CubedManager: available = True\n"
        "@xr.register_dataarray_accessor('cubed')\nclass A:\n    def __init__(self, x): pass\n"
        "@xr.register_dataset_accessor('cubed')\nclass B:\n    def __init__(self, x): pass\n"
    )
    run(f"{ORDERS[order]}\n{CHECK}", tmp_path)


def test_a_third_accessor_stays():
    run("""if True:
        import xarray as xr
        @xr.register_dataset_accessor("cubed")
        class Other:
            def __init__(self, ds): pass
        import cubed
        ds = xr.Dataset({"a": ("x", cubed.ones(3))})
        assert type(ds.cubed) is Other and hasattr(ds.a.cubed, "visualize")
    """)


def test_a_broken_cubed_xarray_is_left_out(tmp_path):
    """It does not declare that it needs toolz; Xarray skips it, and ours works."""
    (tmp_path / "cubed_xarray").mkdir()
    (tmp_path / "cubed_xarray/__init__.py").touch()
    (tmp_path / "cubed_xarray/cubedmanager.py").write_text("import no_such_module")
    run(
        "import xarray as xr; ds = xr.Dataset({'a': ('x', [1.0])}).chunk("
        "chunked_array_type='cubed'); assert ds.cubed.visualize",
        tmp_path,
    )


@pytest.mark.skipif(not NIGHTLY, reason="installs a package: --nightly does")
@pytest.mark.parametrize("order", ORDERS)
def test_the_real_cubed_xarray(order, tmp_path):
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", tmp_path]
    subprocess.run([*pip, "cubed-xarray==0.0.9", "toolz"], check=True)
    run(f"{ORDERS[order]}\n{CHECK}", tmp_path)
