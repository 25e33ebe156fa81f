"""Several computations at the same time in one process: in threads, functions and callbacks."""

import pathlib
import time
from concurrent.futures import ThreadPoolExecutor

import cubed
import cubed.array_api as xp
import numpy as np
import pytest

SPEC = cubed.Spec(allowed_mem="120MB", reserved_mem="100MB")
EXECUTORS = ("threads", "single-threaded")


def job(k):
    """An array that is computed in several stages, and what NumPy says of it."""
    a = np.arange(60 * 40, dtype="float64").reshape(60, 40) + k
    x = cubed.from_array(a, chunks=(7, 9), spec=SPEC)
    y = xp.matmul(x.rechunk((60, 5)).T, xp.sqrt(x) - k) + k
    return y, a.T @ (np.sqrt(a) - k) + k


def test_threads_compute_different_plans():
    jobs = [job(k) for k in range(24)]

    def run(k):
        return jobs[k][0].compute(
            executor=EXECUTORS[k % 2], max_workers=1 + k % 3 if k % 2 == 0 else 1
        )

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(run, range(len(jobs))))
    for result, (_, expected) in zip(results, jobs, strict=True):
        np.testing.assert_allclose(result, expected)


def test_threads_compute_one_array():
    y, expected = job(3)
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda _: y.compute(max_workers=2), range(12)))
    for result in results:
        assert result.tobytes() == results[0].tobytes()
    np.testing.assert_allclose(results[0], expected)


def test_threads_write_to_one_store(tmp_path):
    jobs = [job(k) for k in range(6)]
    store = str(tmp_path / "all.zarr")

    def write(k):
        cubed.to_zarr(jobs[k][0], store, path=f"x{k}", executor="threads", max_workers=2)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(6)))
    for k, (_, expected) in enumerate(jobs):
        np.testing.assert_allclose(
            cubed.from_zarr(store, path=f"x{k}", spec=SPEC).compute(), expected
        )


@pytest.mark.parametrize("inner", EXECUTORS)
@pytest.mark.parametrize("outer", EXECUTORS)
def test_a_function_computes(outer, inner):
    """More tasks than workers, each of which waits for a computation of its own."""

    def shifted(block):
        y = cubed.from_array(block, chunks=(2, 2), spec=SPEC)
        return (y + 1).compute(executor=inner)

    a = np.arange(64.0).reshape(8, 8)
    x = cubed.from_array(a, chunks=(2, 4), spec=SPEC)
    y = cubed.map_blocks(shifted, x, dtype=x.dtype)
    np.testing.assert_array_equal(y.compute(executor=outer), a + 1)


def test_a_callback_computes():
    class Computes(cubed.Callback):
        sums = ()

        def on_task_end(self, event):
            self.sums = (
                *self.sums,
                float(xp.sum(xp.ones((5, 5), chunks=(2, 2), spec=SPEC)).compute()),
            )

    callback = Computes()
    y, expected = job(1)
    np.testing.assert_allclose(y.compute(callbacks=[callback]), expected)
    assert callback.sums
    assert set(callback.sums) == {25.0}


def test_one_plan_does_not_run_twice_at_a_time():
    class Again(cubed.Callback):
        refused = 0

        def on_task_end(self, event):
            with pytest.raises(RuntimeError, match="running already"):
                plan.execute([np.empty((40, 40))])
            self.refused += 1

    again = Again()
    y, expected = job(5)
    plan, result = y.plan(), np.empty((40, 40))
    plan.execute([result], callbacks=[again])
    np.testing.assert_allclose(result, expected)
    assert again.refused > 0


def test_an_error_in_one_does_not_touch_another():
    def fails(block):
        raise LookupError("not here")

    bad = cubed.map_blocks(fails, xp.ones((4,), chunks=(2,), spec=SPEC), dtype="float64")
    good, expected = job(2)

    def run(k):
        if k % 2:
            with pytest.raises(LookupError, match="not here"):
                bad.compute(max_workers=2)
            return None
        return good.compute(max_workers=2)

    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(run, range(12)):
            if result is not None:
                np.testing.assert_allclose(result, expected)


def test_threads_of_a_run_end_with_it():
    def running():
        return len(list(pathlib.Path("/proc/self/task").iterdir()))

    y, _ = job(4)
    y.compute(max_workers=2)
    before = running()
    for _ in range(5):
        y.compute(max_workers=3)
    until = time.monotonic() + 10
    while running() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert running() <= before
