"""Classes of exceptions: cubed.exceptions."""

import io
import os
import pickle

import cubed
import numpy as np
import pytest
from cubed import exceptions


def stored(folder, damage):
    """An array of 4 x 4 chunks in a directory, the chunk (1, 2) of which is damaged."""
    path = folder / "a.zarr"
    cubed.to_zarr(cubed.from_array(np.arange(64.0).reshape(8, 8), chunks=2), path)
    chunk = path / "c/1/2"
    chunk.unlink()
    damage(chunk)
    return cubed.from_zarr(path)


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_errors_of_tasks_say_which(tmp_path, executor):
    x = stored(tmp_path, lambda chunk: chunk.write_bytes(b"damaged"))
    with pytest.raises(exceptions.TaskError) as caught:
        (x + 1).compute(executor=executor)
    e = caught.value
    assert isinstance(e, exceptions.FormatError) and isinstance(e, ValueError)
    assert (e.stage, e.block) == (0, (1, 2)) and f"task {e.task}:" in str(e)
    assert exceptions.failed_task(e) == (e.stage, e.task, e.block)
    again = pickle.loads(pickle.dumps(e))
    assert type(again) is type(e) and again.args == e.args
    assert (again.stage, again.task, again.block) == (e.stage, e.task, e.block)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_errors_of_the_system_keep_their_class(tmp_path):
    x = stored(tmp_path, lambda chunk: (chunk.write_bytes(b""), chunk.chmod(0)))
    with pytest.raises(PermissionError) as caught:
        (x + 1).compute(retries=0)
    assert isinstance(caught.value, exceptions.TaskError) and caught.value.errno == 13


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_what_users_raise_is_as_it_was_and_says_its_task(executor):
    def fail(block, block_id=None):
        if block_id == (1, 0):
            raise ZeroDivisionError("no")
        return block

    spec = cubed.Spec(allowed_mem="500MB", reserved_mem="150MB")
    x = cubed.map_blocks(fail, cubed.from_array(np.ones((4, 4)), chunks=2, spec=spec), dtype=float)
    with pytest.raises(ZeroDivisionError) as caught:
        x.compute(executor=executor)
    assert type(caught.value) is ZeroDivisionError
    failed = exceptions.failed_task(caught.value)
    assert failed.stage == 0 and failed.block == (1, 0)
    assert exceptions.failed_task(ValueError("of somebody else")) is None


def test_a_plan_that_is_too_large():
    x = cubed.ones((4000, 4000), chunks=(2000, 2000), spec=cubed.Spec(allowed_mem="10MB"))
    y = cubed.map_blocks(lambda block: block + 1, x, dtype=float)
    with pytest.raises(exceptions.PlanTooLargeError) as caught:
        y.plan()
    assert isinstance(caught.value, MemoryError) and isinstance(caught.value, ValueError)
    enough = caught.value.enough_mem
    assert enough > 10_000_000 and exceptions.failed_task(caught.value) is None
    x = cubed.ones((4000, 4000), chunks=(2000, 2000), spec=cubed.Spec(allowed_mem=enough))
    cubed.map_blocks(lambda block: block + 1, x, dtype=float).plan()


def test_arrays_that_are_not_there_or_are(tmp_path):
    with pytest.raises(exceptions.ArrayNotFoundError) as caught:
        cubed.from_zarr(tmp_path / "none.zarr")
    assert isinstance(caught.value, FileNotFoundError)
    x = cubed.from_array(np.ones(3))
    for place in (tmp_path / "a.zarr", tmp_path / "a.zip"):
        cubed.to_zarr(x, place)
        with pytest.raises(exceptions.ArrayExistsError) as caught:
            cubed.to_zarr(x, place, overwrite=False)
        assert isinstance(caught.value, FileExistsError)


def test_every_class_is_also_one_of_pythons():
    for name in exceptions.__all__:
        kind = getattr(exceptions, name)
        if isinstance(kind, type) and issubclass(kind, BaseException):
            assert issubclass(kind, exceptions.CubedError) and kind.__doc__
    found = exceptions.TaskPermissionError
    assert issubclass(found, exceptions.TaskError) and issubclass(found, PermissionError)
    assert exceptions._class_of(6, 13, OSError, True) is found  # of CUBED_E_IO and EACCES
    assert exceptions._class_of(6, 13, OSError, False) is PermissionError
    with pytest.raises(AttributeError):
        exceptions.TaskSomething  # noqa: B018
    with pytest.raises(AttributeError):
        exceptions.TaskNamedTuple  # noqa: B018


def test_versions():
    out = io.StringIO()
    cubed.show_versions(out)
    said = dict(line.split(": ", 1) for line in out.getvalue().splitlines())
    assert said["cubed"] == cubed.__version__ and said["numpy"] == np.__version__
    assert "zstd" in said["libraries"] and said["python"] and said["platform"]
