"""What a process holds before its first task is compared with what is reserved for it."""

import re
import warnings

import cubed
import numpy as np
import pytest
from conftest import run


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "x.zarr"
    x = cubed.random.random((400, 300), chunks=(40, 300), spec=cubed.Spec(allowed_mem="200MB"))
    cubed.to_zarr(x, str(path))
    return path


@pytest.mark.parametrize("workers", [1, 2])
def test_the_command_warns_of_less_than_it_holds_and_says_what_would_do(store, workers, tmp_path):
    def sort(allowed, reserved):
        return run(
            *("eval", "sort(x, axis=0)", "--in", f"x={store}", "--out", tmp_path / "o.zarr"),
            *("--overwrite", "--allowed-mem", allowed, "--reserved-mem", reserved),
            *("--max-workers", workers, "--json"),
        )

    little = sort("5MB", "1kB")
    assert little.code == 0
    enough = re.search(r"warning: this process holds .* --reserved-mem (\d+) counts it", little.err)
    assert enough is not None, little.err
    # Where tasks leave enough of what is allowed nothing is said.
    assert "warning" not in run("eval", "1 + 1", "--reserved-mem", "1kB").err
    # A page or two of plans and lists differ from run to run.
    counted = sort("20MB", int(enough[1]) + 100_000)
    assert "warning" not in counted.err
    assert counted.run["peak_rss"] <= workers * counted.run["allowed_mem"]


def _sines(**limits):
    spec = cubed.Spec(**limits)
    x = cubed.from_array(np.ones((100, 100)), chunks=(50, 50), spec=spec)
    return cubed.map_blocks(np.sin, x, dtype="float64")


def test_threads_that_reserve_less_than_the_process_holds_are_warned_of():
    limits = {"executor_options": {"max_workers": 2}, "executor_name": "threads"}
    little = _sines(allowed_mem="20MB", reserved_mem="1MB", **limits)
    with pytest.warns(RuntimeWarning, match=r"reserved_mem=\d+ counts it") as caught:
        little.compute()
    assert caught[0].filename == __file__
    reserved = int(re.search(r"reserved_mem=(\d+)", str(caught[0].message))[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _sines(allowed_mem="200MB", reserved_mem=reserved, **limits).compute()


def test_workers_without_room_for_python_are_refused_before_anything_is_touched(tmp_path):
    target = str(tmp_path / "y.zarr")
    limits = {"executor_name": "processes", "executor_options": {"max_workers": 1}}
    before = np.arange(4.0)
    cubed.to_zarr(cubed.from_array(before, spec=cubed.Spec(allowed_mem="200MB")), target)
    little = _sines(allowed_mem="2MB", reserved_mem="1MB", **limits)
    with pytest.raises(MemoryError, match="worker processes hold .* for Python") as refused:
        cubed.to_zarr(little, target, overwrite=True)
    np.testing.assert_array_equal(cubed.from_zarr(target).compute(), before)
    found = re.search(r"reserve at least (\d+) .*allow at least (\d+) bytes", str(refused.value))
    # What has no function is refused by the worker, if it is: Python itself is smaller.
    reserved, allowed = (int(n) + (1 << 20) for n in found.groups())
    enough = _sines(allowed_mem=allowed, reserved_mem=reserved, **limits)
    np.testing.assert_array_equal(enough.compute(), np.sin(np.ones((100, 100))))
