"""Writes into parts of existing arrays: several at the same time, delayed, and over existing
values.
"""

import conftest
import cubed
import h5py
import numpy as np
import pytest
from conftest import check, run
from hypothesis import given, settings
from hypothesis import strategies as st

import zarr

A = np.random.default_rng(4).normal(size=(20, 30))
EXECUTORS = ["single-threaded", "threads", "processes"]


@pytest.fixture
def spec(tmp_path):
    return cubed.Spec(work_dir=tmp_path, allowed_mem="200MB", reserved_mem="100MB")


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_region_of_a_zarr_array(tmp_path, spec, executor, zarr_format):
    place = tmp_path / "z.zarr"
    z = zarr.create_array(
        place, name="g/v", shape=(50, 40), chunks=(8, 7), dtype="f8", zarr_format=zarr_format
    )
    expected = np.full((50, 40), 3.0)
    z[...] = 3
    x = cubed.from_array(A, chunks=(6, 11), spec=spec)
    cubed.to_zarr(x, place, "g/v", (slice(13, 33), slice(5, 35)), executor=executor)
    expected[13:33, 5:35] = A
    np.testing.assert_array_equal(z[...], expected)


@settings(max_examples=conftest.cases(10), deadline=None, derandomize=True)
@given(st.data())
def test_no_task_overwrites_what_another_wrote(data):
    """Whatever edges the region has: chunks in part of it are read and written by one task."""
    n, c = data.draw(st.integers(1, 20)), data.draw(st.integers(1, 7))
    start = data.draw(st.integers(0, n - 1))
    stop = data.draw(st.integers(start, n))
    z = zarr.create_array({}, shape=(n, 3), chunks=(c, 2), dtype="i8", fill_value=7)
    values = np.arange((stop - start) * 3).reshape(-1, 3) + 100
    x = cubed.from_array(values, chunks=data.draw(st.integers(1, 9)))
    cubed.store(x, z, (slice(start, stop), slice(None)), max_workers=3)
    expected = np.full((n, 3), 7)
    expected[start:stop] = values
    np.testing.assert_array_equal(z[...], expected)


def test_shards_are_written_by_one_task_each():
    z = zarr.create_array({}, shape=(64, 64), chunks=(4, 4), shards=(16, 16), dtype="f8")
    x = cubed.from_array(np.arange(3600.0).reshape(60, 60), chunks=(7, 9))
    cubed.store(x, z, (slice(2, 62), slice(3, 63)), max_workers=4)
    np.testing.assert_array_equal(z[2:62, 3:63], np.arange(3600.0).reshape(60, 60))
    assert z[:2].sum() == 0


def test_several_sources_and_kinds_of_targets_in_one_plan(tmp_path, spec):
    x = cubed.from_array(A, chunks=(6, 11), spec=spec)
    memory = np.zeros((25, 30))
    inside = zarr.create_array({}, shape=A.shape, chunks=(5, 5), dtype="f8")
    with h5py.File(tmp_path / "x.h5", "w") as f:
        d = f.create_dataset("d", shape=(20, 30), dtype="f8", chunks=(7, 7))
        cubed.store(
            [x, x * 2, x + 1, x - 1],
            [tmp_path / "new.zarr", memory, inside, d],
            [None, (slice(5, None), slice(None)), None, None],
        )
        np.testing.assert_array_equal(d[...], A - 1)
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "new.zarr").compute(), A)
    np.testing.assert_array_equal(memory, np.concatenate([np.zeros((5, 30)), A * 2]))
    np.testing.assert_array_equal(inside[...], A + 1)


def test_later(tmp_path, spec):
    x = cubed.from_array(A, chunks=(6, 11), spec=spec)
    z = zarr.create_array({}, shape=A.shape, chunks=(5, 5), dtype="f8")
    one = cubed.to_zarr(x, tmp_path / "a.zarr", compute=False)
    two = cubed.store([x, x + 1], [tmp_path / "b.zarr", z], compute=False)
    assert not (tmp_path / "a.zarr").exists()
    assert (z[...] == 0).all()
    assert two.plan().num_tasks > 4
    np.testing.assert_array_equal(one.compute(), A)
    assert two.compute(executor="single-threaded") is None
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "a.zarr").compute(), A)
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "b.zarr").compute(), A)
    np.testing.assert_array_equal(z[...], A + 1)


def test_memory_stays_in_its_bound(tmp_path):
    spec = cubed.Spec(allowed_mem="40MB", reserved_mem=0)
    z = zarr.create_array(tmp_path / "z", shape=(2000, 2000), chunks=(500, 500), dtype="f8")
    x = cubed.random.random((2000, 1000), chunks=(500, 1000), seed=1, spec=spec)
    ends = []

    class Watch(cubed.Callback):
        def on_task_end(self, event):
            ends.append(event)

    cubed.store(x, z, (slice(None), slice(700, 1700)), callbacks=[Watch()])
    np.testing.assert_array_equal(z[:, 700:1700], x.compute())
    assert ends
    for e in ends:
        assert e.peak_measured_mem_end <= e.projected_mem <= 40_000_000


def test_what_does_not_fit_is_refused(tmp_path, spec):
    x = cubed.from_array(A, chunks=10, spec=spec)
    z = zarr.create_array(tmp_path / "z", shape=(20, 40), chunks=(5, 5), dtype="f8")
    for region, text in [
        ((slice(0, 20), slice(0, 20)), "shape"),
        ((slice(0, 20), slice(20, 50)), "within its size 40"),
        ((slice(0, 20), slice(0, 60, 2)), "step 1"),
        ((slice(0, 20),), "1 slices for 2 axes"),
    ]:
        with pytest.raises(ValueError, match=text):
            cubed.store(x, tmp_path / "z", region)
    with pytest.raises(ValueError, match="1 sources for 2 targets"):
        cubed.store([x], [z, z])
    for memory in (np.zeros(A.shape), zarr.create_array({}, shape=A.shape, dtype="f8")):
        with pytest.raises(TypeError, match="cannot be sent to another process"):
            cubed.store(x, memory, executor="processes")
    with pytest.raises(FileNotFoundError):
        cubed.store(x, tmp_path / "nothing", (slice(None), slice(None)))


@settings(max_examples=conftest.cases(15), deadline=None, derandomize=True)
@given(st.data())
def test_native_regions_keep_what_is_around(tmp_path_factory, data):
    """Any edges, chunks, shards and types; metadata stays as it is."""
    place = tmp_path_factory.mktemp("region") / "z"
    shape = data.draw(st.tuples(st.integers(1, 20), st.integers(1, 9)))
    chunks = data.draw(st.tuples(st.integers(1, 7), st.integers(1, 5)))
    form = data.draw(st.sampled_from([2, 3]))
    many = data.draw(st.sampled_from([None, 2])) if form == 3 else None
    shards = many and tuple(c * many for c in chunks)
    dtype = data.draw(st.sampled_from(["f8", "i2"]))
    z = zarr.create_array(place, shape=shape, chunks=chunks, shards=shards, dtype=dtype,
                          zarr_format=form, fill_value=7)  # fmt: skip
    expected = np.full(shape, 7, dtype)
    if data.draw(st.booleans()):
        expected[...] = z[...] = np.arange(shape[0] * shape[1]).reshape(shape)
    ends = [sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n)))) for n in shape]
    region = tuple(slice(a, b) for a, b in ends)
    values = np.random.default_rng(1).integers(-99, 99, [b - a for a, b in ends])
    x = cubed.from_array(values, chunks=data.draw(st.integers(1, 9)))
    target = data.draw(st.sampled_from([place, z]))
    before = {p.name: p.read_bytes() for p in place.glob("*") if p.name in (".zarray", "zarr.json")}
    plan = cubed.store(x, target, region, compute=False).plan()
    assert not any("_Writer" in s["name"] or "python" in s["name"] for s in plan.stages)
    cubed.store(x, target, region, max_workers=2)
    expected[region] = values
    np.testing.assert_array_equal(z[...], expected)
    for name, content in before.items():
        assert (place / name).read_bytes() == content
    assert not list(place.glob(".cubed*"))


def test_chunks_outside_of_a_region_are_not_touched_and_failures_leave_an_array(tmp_path):
    z = zarr.create_array(tmp_path / "z", shape=(30,), chunks=(5,), dtype="f8", fill_value=0)
    z[...] = 1
    times = {p: p.stat().st_mtime_ns for p in (tmp_path / "z").rglob("*") if p.is_file()}

    def fails(block, block_id=None):
        if block_id[0] == 2:
            raise RuntimeError("no")
        return block

    x = cubed.map_blocks(fails, cubed.zeros(15, chunks=5), dtype="f8")
    with pytest.raises(RuntimeError):
        cubed.store(x, tmp_path / "z", (slice(5, 20),), executor="single-threaded")
    again = zarr.open_array(tmp_path / "z")[...]
    assert set(again[5:20].reshape(3, 5).mean(axis=1)) <= {0.0, 1.0}
    assert again[:5].all()
    assert again[20:].all()
    cubed.store(cubed.zeros(15, chunks=5), tmp_path / "z", (slice(5, 20),))
    changed = {p.name for p, t in times.items() if p.stat().st_mtime_ns != t}
    assert changed == {"1", "2", "3"}


def test_a_source_may_not_read_the_target(tmp_path):
    z = zarr.create_array(tmp_path / "z", shape=(30,), chunks=(5,), dtype="f8")
    x = cubed.from_zarr(tmp_path / "z")
    with pytest.raises(ValueError, match="would overwrite the source"):
        cubed.store(x[:20] + 1, z, (slice(3, 23),))


def test_a_plan_with_a_region_can_be_saved(tmp_path):
    z = zarr.create_array(tmp_path / "z", shape=(30,), chunks=(7,), dtype="f8", fill_value=3)
    x = cubed.full(10, 5.0, chunks=4)
    data = cubed.store(x, tmp_path / "z", (slice(12, 22),), compute=False).plan()._plan.save()
    (tmp_path / "p").write_bytes(data)
    check(run("run", tmp_path / "p", "--progress", "none"))
    assert z[...].tolist() == [3.0] * 12 + [5.0] * 10 + [3.0] * 8


def test_the_command_writes_regions(tmp_path):
    place = tmp_path / "z"
    z = zarr.create_array(
        place, name="t", shape=(20, 6), chunks=(6, 4), dtype="f4", dimension_names=["time", "x"]
    )
    run_args = ["--out", f"{place}::t", "--progress", "none"]
    check(run("eval", "ones((10, 6))", *run_args, "--region", "time=5:15"))
    check(run("eval", "ones((2, 3)) * 2", *run_args, "--region", "0:2,-3:"))
    expected = np.zeros((20, 6))
    expected[5:15] = 1
    expected[:2, 3:] = 2
    np.testing.assert_array_equal(z[...], expected)
    for region, message in [
        ("time=5:16", "has 11 elements along axis 0, the result has 10"),
        ("lat=5:15", "expected NAME=START:STOP"),
        ("time=5", "expected NAME=START:STOP"),
    ]:
        result = run("eval", "ones((10, 6))", *run_args, "--region", region)
        assert result.code == 1
        assert message in result.err
    result = run("eval", "ones(3)", "--region", "0:3", "--out", tmp_path / "none")
    assert result.code == 1
    assert run("eval", "ones(3)", "--region", "0:3").code == 2


def files(place):
    return {p.relative_to(place): p.read_bytes() for p in place.rglob("*") if p.is_file()}


@pytest.mark.parametrize("executor", EXECUTORS)
def test_what_exists_stays_unless_it_is_to_be_replaced(tmp_path, spec, executor):
    x = cubed.from_array(A, chunks=(6, 11), spec=spec)
    old, new = tmp_path / "old.zarr", tmp_path / "new.zarr"
    cubed.to_zarr(x, old, "g/v", overwrite=False, executor=executor)
    before = files(tmp_path)
    for path, kind in (("g/v", "an array"), ("g", "a group")):
        with pytest.raises(FileExistsError, match=rf"old\.zarr::{path} exists \({kind}\)"):
            cubed.to_zarr(x + 1, old, path, overwrite=False, executor=executor)
    later = cubed.store([x, x + 1], [new, f"{old}::g/v"], compute=False, overwrite=False)
    with pytest.raises(FileExistsError, match="g/v exists"):
        later.compute(executor=executor)
    assert files(tmp_path) == before  # of the first target nothing, either
    (x + 1).to_zarr(old, "g/v", executor=executor)
    np.testing.assert_array_equal(zarr.open_array(old, path="g/v")[...], A + 1)
