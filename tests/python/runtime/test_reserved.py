"""The memory of a process before its first task is compared with reserved_mem."""

import os
import re
import subprocess
import sys
import textwrap
import warnings

import cubed
import numpy as np
import pytest
from conftest import TESTS_PATH, run
from cubed.images import _objects
from cubed.planning import _room


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
    enough = re.search(r"warning: this process holds .* use --reserved-mem (\d+)", little.err)
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
    _room._warned.clear()
    with pytest.warns(RuntimeWarning, match="this process holds") as caught:
        little.compute()
    assert caught[0].filename == __file__
    text = str(caught[0].message)
    assert "for each of 2 tasks at a time" in text and "libraries that it has imported" in text
    advice = re.search(r"Spec\(reserved_mem=(\d+), allowed_mem=(\d+)\)", text)
    # Threads that earlier tests left may import libraries in the meantime.
    reserved, allowed = (int(n) + 100_000_000 for n in advice.groups())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        little.compute()  # these limits have been warned of
        _sines(allowed_mem=allowed, reserved_mem=reserved, **limits).compute()


def test_workers_without_room_for_python_are_refused_and_the_advice_runs(tmp_path):
    target = str(tmp_path / "y.zarr")
    limits = {"executor_name": "processes", "executor_options": {"max_workers": 1}}
    before = np.arange(4.0)
    cubed.to_zarr(cubed.from_array(before, spec=cubed.Spec(allowed_mem="200MB")), target)
    little = _sines(allowed_mem="2MB", reserved_mem="1MB", **limits)
    with pytest.raises(MemoryError, match="a worker process cannot start: .* use ") as refused:
        cubed.to_zarr(little, target, overwrite=True)
    np.testing.assert_array_equal(cubed.from_zarr(target).compute(), before)
    found = re.search(r"reserve at least (\d+) .*allow at least (\d+) bytes", str(refused.value))
    reserved, allowed = (int(n) for n in found.groups())
    enough = _sines(allowed_mem=allowed, reserved_mem=reserved, **limits)
    np.testing.assert_array_equal(enough.compute(), np.sin(np.ones((100, 100))))


@pytest.mark.parametrize("executor", ["threads", "single-threaded", "processes"])
def test_reserved_memory_as_measured_is_enough(tmp_path, executor):
    source = str(tmp_path / "x.zarr")
    cubed.to_zarr(cubed.from_array(np.ones((400, 400)), chunks=(100, 100)), source)
    reserved = cubed.measure_reserved_mem(executor)
    limits = {"executor_name": executor, "executor_options": {"max_workers": 1}}
    spec = cubed.Spec(tmp_path, allowed_mem=reserved + 3_000_000, reserved_mem=reserved, **limits)
    x = cubed.from_zarr(source, spec=spec)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (cubed.map_blocks(_plus_one, x, dtype="f8").compute() == 2).all()


def _plus_one(block):
    return block + 1


def _with_scipy(block):
    import scipy.special

    return block + scipy.special.erf(0.0)


def test_workers_import_before_tasks_and_say_what_libraries_hold(tmp_path):
    """SciPy, for labels: neither the worker nor its libraries wait for memory without end."""
    reserved = cubed.measure_reserved_mem("processes")

    find = _objects._Labels(np.ones((3, 3), bool), False)

    def labelled(reserved, allowed):
        spec = cubed.Spec(tmp_path, allowed_mem=allowed, reserved_mem=reserved)
        x = cubed.from_array(np.ones((40, 40)), chunks=(20, 40), spec=spec)
        return cubed.map_blocks(find, x, dtype=np.int32)

    limits = {"executor": "processes", "max_workers": 1}
    with pytest.raises(MemoryError, match="functions and libraries use") as refused:
        labelled(reserved, reserved + 6_000_000).compute(**limits)
    found = re.search(r"reserve at least (\d+) .*allow at least (\d+)", str(refused.value))
    np.testing.assert_allclose(labelled(*map(int, found.groups())).compute(**limits), 1)


def test_an_import_within_a_task_is_refused_with_what_would_be_enough(tmp_path):
    reserved = cubed.measure_reserved_mem("processes")

    def mapped(more):
        allowed = reserved + 4_000_000 + more
        spec = cubed.Spec(tmp_path, allowed_mem=allowed, reserved_mem=reserved + more)
        x = cubed.ones((40, 40), chunks=(20, 40), spec=spec)
        return cubed.map_blocks(_with_scipy, x, dtype="f8")

    limits = {"executor": "processes", "max_workers": 1}
    with pytest.raises(MemoryError, match="imported scipy within a task") as refused:
        mapped(0).compute(**limits)
    more = int(re.search(r"allowed_mem by (\d+) bytes", str(refused.value))[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(mapped(more).compute(**limits), 1)


def test_threads_warn_of_libraries_that_a_function_imports_within_a_task(tmp_path):
    """In a process of its own, which has not imported SciPy."""
    script = textwrap.dedent(
        """
        import sys, warnings
        import cubed
        from test_reserved import _with_scipy

        reserved = cubed.measure_reserved_mem("threads")
        spec = cubed.Spec(sys.argv[1], allowed_mem=reserved + 4_000_000, reserved_mem=reserved)
        x = cubed.ones((40, 40), chunks=(20, 40), spec=spec)
        cubed.map_blocks(_with_scipy, x, dtype="f8").compute(executor="threads", max_workers=1)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": TESTS_PATH}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert re.search(r"a function took .* more than is projected", done.stderr), done.stderr


def test_threads_count_libraries_of_functions(tmp_path):
    """In a process of its own, which has not imported SciPy."""
    script = textwrap.dedent(
        """
        import sys
        import cubed
        from cubed.images import _objects
        import numpy as np

        reserved = cubed.measure_reserved_mem("threads")
        spec = cubed.Spec(sys.argv[1], allowed_mem=reserved + 3_000_000, reserved_mem=reserved)
        x = cubed.ones((40, 40), chunks=(20, 40), spec=spec)
        find = _objects._Labels(np.ones((3, 3), bool), False)
        labels = cubed.map_blocks(find, x, dtype=np.int32)
        labels.compute(executor="threads", max_workers=1)
        """
    )
    # Without the third that a measurement has for plans SciPy does not fit.
    script = script.replace("reserved + 3", "reserved * 3 // 4 + 3")
    script = script.replace("reserved_mem=reserved)", "reserved_mem=reserved * 3 // 4)")
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert re.search(
        r"this process holds .* Spec\(reserved_mem=\d+, allowed_mem=\d+\)", done.stderr
    ), done.stderr


def test_data_of_functions_are_not_counted_as_code(tmp_path):
    """In a process of its own: each run loads a function with 40 MB of data."""
    script = textwrap.dedent(
        """
        import sys
        import cubed
        import numpy as np

        def run(data):
            x = cubed.ones((4,), chunks=2, spec=spec)
            cubed.map_blocks(lambda block: block + data[0], x, dtype="f8").compute(
                executor="threads", max_workers=1
            )

        reserved = cubed.measure_reserved_mem("threads")
        spec = cubed.Spec(sys.argv[1], allowed_mem=reserved + 150_000_000, reserved_mem=reserved)
        for i in range(4):
            run(np.full(5_000_000, float(i)))
        """
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
