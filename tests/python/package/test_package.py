"""The Python package: arrays, limits, runs, stores."""

import operator
import pickle
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
from cubed import _core
from cubed.base._chunks import normalize_chunks

import zarr

MB = 10**6


@pytest.fixture
def spec(tmp_path):
    return cubed.Spec(work_dir=tmp_path, allowed_mem="50MB", reserved_mem="10MB")


def test_values_of_every_type_come_back():
    types = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"]
    for dtype in [*types, "f2", "M8[ns]", "m8[s]", "S3", "U5", ">f8", ">i2"]:
        a = np.arange(12).astype(dtype).reshape(3, 4)
        for b in (a, a.T, a[::-1, ::2], np.asfortranarray(a)):
            x = cubed.from_array(b, chunks=2)
            assert x.dtype == b.dtype.newbyteorder("=")
            np.testing.assert_array_equal(x.compute(), b)
            np.testing.assert_array_equal(x[::-1, 1:].compute(), b[::-1, 1:])


def test_memory_is_not_copied_but_kept():
    a = np.zeros((100, 100))
    x = cubed.from_array(a, chunks=50) + 1
    a[:] = 4  # the memory is read when it is computed
    del a
    assert float(cubed.sum(x)) == 50000


def test_attributes():
    x = cubed.zeros((7, 9), chunks=(3, 4), dtype=cubed.int16)
    assert x.shape == (7, 9) and x.ndim == 2 and x.size == 63 and x.nbytes == 126
    assert x.chunks == ((3, 3, 1), (4, 4, 1)) and x.chunksize == (3, 4)
    assert x.numblocks == (3, 3) and x.npartitions == 9 and x.chunkmem == 24
    assert x.T.shape == (9, 7) and x.mT.shape == (9, 7) and x.device == "cpu"
    assert "(7, 9)" in repr(x) and "<svg" in x._repr_html_()
    assert cubed.zeros((0, 3)).compute().shape == (0, 3)


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        (4, (4, 4)),
        (-1, (10, 20)),
        ((5, -1), (5, 20)),
        ((None, 7), (3, 7)),
        ({1: 6}, (3, 6)),
        (((5, 5), (8, 8, 4)), (5, 8)),
        ("800B", (10, 10)),
        (("auto", 2), (10, 2)),
    ],
)
def test_chunks(chunks, expected):
    assert normalize_chunks(chunks, (10, 20), 8, (3, 3)) == expected


@pytest.mark.parametrize("chunks", [0, -2, (1,), (1, 2, 3), {5: 1}, "many", ((5, 4), 1)])
def test_wrong_chunks(chunks):
    with pytest.raises(ValueError, match=r"chunks|bytes"):
        normalize_chunks(chunks, (10, 20), 8)


def test_operators_take_numpy_and_scalars():
    a = np.arange(6, dtype="f4").reshape(2, 3)
    x = cubed.from_array(a)
    for result, expected in [
        (x + a, a + a),
        (a - x, a - a),
        (2 * x, 2 * a),
        (x // 2, a // 2),
        (1 / (x + 1), 1 / (a + 1)),
        (np.float64(2) * x, np.float64(2) * a),
        (x > 2, a > 2),
        (-x, -a),
        (abs(x - 3), abs(a - 3)),
        (x**2, a**2),
    ]:
        assert isinstance(result, cubed.Array)
        assert result.dtype == expected.dtype
        np.testing.assert_array_equal(result.compute(), expected)
    y = x
    y += 1  # a new array: x is as it was
    np.testing.assert_array_equal(x.compute(), a)
    np.testing.assert_array_equal(y.compute(), a + 1)


@pytest.mark.parametrize("dtype", "int8 uint16 int64 float32 float64 complex64 complex128".split())
def test_squares_are_products(dtype):
    x = np.array([-3.7, 2.1, 0, 7, 100.3]).astype(dtype)
    for two in (2, np.asarray(2, dtype)):
        got = xp.asarray(x) ** two
        assert got.dtype == x.dtype
        np.testing.assert_array_equal(got.compute(), x * x)


def test_half_precision_is_stored_and_computes_in_float32():
    x = np.float16([1, 2.5, -0.1])
    a = xp.asarray(x)
    np.testing.assert_array_equal((a * 1.1).compute(), x.astype("f4") * np.float32(np.float16(1.1)))
    assert (a + 1).dtype == (a**2).dtype == np.float32
    for made, expected in (
        (xp.full((2, 3), 1.1, dtype=np.float16), np.full((2, 3), 1.1, np.float16)),
        (xp.zeros_like(a), np.zeros_like(x)),
        (cubed.pad(a, (1, 1), constant_values=7), np.pad(x, (1, 1), constant_values=7)),
    ):
        assert made.dtype == np.float16
        np.testing.assert_array_equal(made.compute(), expected)


@pytest.mark.parametrize("kind", ["U", "S"])
def test_texts_are_compared(kind):
    a, b = (np.array(v, kind) for v in (["a", "bb", "", "ccc"], ["b", "bb", "a", "cc"]))
    x = cubed.from_array(a, chunks=3)
    for op in "eq ne lt le gt ge".split():
        compare = getattr(operator, op)
        for other in (b, b[1], b[1].item(), cubed.from_array(b, chunks=2)):
            wanted = compare(a, other.compute() if isinstance(other, cubed.Array) else other)
            np.testing.assert_array_equal(compare(x, other).compute(), wanted)
    with pytest.raises(TypeError, match="subtract is not defined"):
        x - x
    other_kind = b.astype("S" if kind == "U" else "U")
    for other in (3, other_kind, other_kind[0].item()):
        with pytest.raises(TypeError, match="equal is not defined"):
            _ = x == other


def test_numbers_are_formatted():
    x = xp.asarray([1.25, 3])
    assert f"{x[0]:.1f} {x[1]:g}" == "1.2 3"
    assert f"{x}" == str(x)
    q, r = divmod(xp.asarray([7, -7]), 4)
    assert (q.compute().tolist(), r.compute().tolist()) == ([1, -2], [3, 1])


def test_assigning_builds_a_new_value():
    a = np.arange(20.0).reshape(4, 5)
    for key, value in [
        (np.s_[1], 9),
        (np.s_[::2, 1:4], np.arange(3)),
        (np.s_[3:0:-2, ::-2], np.arange(6).reshape(2, 3)),
        (np.s_[...], 1.5),
        (np.s_[2:2], 7),
        (np.s_[-1, -1], np.array(3)),
        (a > 7, -1),
    ]:
        x, b = cubed.from_array(a, chunks=2), a.copy()
        before = x + 0
        x[key] = value
        b[key] = value
        np.testing.assert_array_equal(x.compute(), b)
        np.testing.assert_array_equal(before.compute(), a)
    with pytest.raises(ValueError, match="does not fit"):
        x[1:3] = np.zeros(4)
    with pytest.raises(IndexError):
        x[9] = 0


def test_too_little_memory_is_refused_before_anything_runs():
    x = cubed.zeros((2000, 2000), chunks=(100, 100), spec=cubed.Spec(allowed_mem="20MB"))
    with pytest.raises(MemoryError, match="allow at least"):
        cubed.linalg.eigh(x + 1)[0].compute()
    with pytest.raises(ValueError, match="different specs"):
        x + cubed.ones((2000, 2000), spec=cubed.Spec(allowed_mem="30MB"))


def test_computing_stays_in_its_bound(spec):
    x = cubed.random.random((3000, 2000), chunks=(500, 500), spec=spec)
    y = cubed.mean((x - cubed.mean(x, axis=0)) ** 2, axis=0)
    ends = []
    stats = []

    class Watch(cubed.Callback):
        def on_task_end(self, event):
            ends.append(event)

        def on_compute_end(self, event):
            stats.append(event)

    values = y.compute(callbacks=[Watch()])
    np.testing.assert_allclose(values, 1 / 12, rtol=0.2)
    assert len(ends) == stats[0].plan.num_tasks > 1
    for e in ends:
        assert e.peak_measured_mem_end <= e.projected_mem <= 50 * MB
        assert e.function_start_tstamp <= e.function_end_tstamp


@pytest.mark.parametrize("executor", ["single-threaded", "threads", "processes"])
def test_executors_agree_to_the_bit(executor, spec):
    x = cubed.random.random((300, 200), chunks=(70, 60), spec=spec)
    expected = cubed.sum(x * x - 0.5, axis=1).compute(executor="single-threaded")
    values = cubed.sum(x * x - 0.5, axis=1).compute(executor=executor, max_workers=2)
    assert values.tobytes() == expected.tobytes()


def test_zarr_there_and_back(tmp_path, spec):
    a = np.random.default_rng(1).normal(size=(30, 40))
    x = cubed.from_array(a, chunks=(10, 15), spec=spec)
    cubed.to_zarr(x, tmp_path / "x.zarr")
    z = zarr.open_array(tmp_path / "x.zarr")
    np.testing.assert_array_equal(z[...], a)
    for back in (cubed.from_zarr(tmp_path / "x.zarr"), cubed.from_array(z, chunks=(15, 40))):
        np.testing.assert_array_equal(back.compute(), a)
    assert cubed.from_zarr(tmp_path / "x.zarr").chunks == x.chunks
    cubed.store([x, x * 2], [tmp_path / "a", tmp_path / "b"])
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "b").compute(), 2 * a)


def test_failed_tasks_raise_what_belongs_to_them(tmp_path):
    with pytest.raises(FileNotFoundError):
        cubed.from_zarr(tmp_path / "nothing")
    z = zarr.create_array(tmp_path / "z", shape=(4,), chunks=(2,), dtype="f8", compressors=None)
    z[...] = 1
    x = cubed.from_zarr(tmp_path / "z")
    (tmp_path / "z/c/1").write_bytes(b"short")
    with pytest.raises(ValueError, match="z"):
        x.compute()


INTERRUPTED = """
import signal, sys, threading, time
import cubed
import numpy as np
# Ignored in what a shell runs in the background.
signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.argv[1] == "many tasks":
    x = cubed.random.random((60_000, 20_000), chunks=(1000, 1000))
elif sys.argv[1] == "one task":
    x = cubed.array_api.arange(800e6, chunks=800_000_000)
elif sys.argv[1] in ("eigh", "svd", "eigvals"):
    a = np.random.default_rng(0).random((4000, 4000))  # more than a second on any processor
    x = getattr(cubed.linalg, sys.argv[1])(cubed.from_array(a, chunks=-1))
    x = x if isinstance(x, cubed.Array) else x[-1]
elif sys.argv[1] == "a function of Python":
    def busy(block):
        while True:
            pass
    x = cubed.map_blocks(busy, cubed.ones(10, chunks=5), dtype="f8")
else:
    class Slow:
        shape, dtype = (1000,), np.dtype("f8")
        def __getitem__(self, key):
            time.sleep(0.2)
            return np.zeros(len(range(*key[0].indices(1000))))
    x = cubed.from_array(Slow(), chunks=1)
y = cubed.sum(cubed.sin(cubed.exp(x)))
threading.Timer(1.0, lambda: signal.raise_signal(signal.SIGINT)).start()
start = time.monotonic()
try:
    y.compute()
except KeyboardInterrupt:
    print(time.monotonic() - start)
"""


@pytest.mark.parametrize(
    "work",
    ["many tasks", "one task", "eigh", "svd", "eigvals", "a function of Python", "a slow source"],
)
def test_control_c_ends_a_run_within_a_second(work):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, work],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert 0.9 < float(done.stdout) < 3  # a second after the signal, and some for a busy machine


def test_several_threads_compute_at_once():
    a = np.arange(10000.0).reshape(100, 100)
    x = cubed.from_array(a, chunks=30)
    results = {}

    def work(i):
        results[i] = cubed.sum(x * i, axis=0).compute()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for i in range(8):
        np.testing.assert_array_equal(results[i], (a * i).sum(axis=0))


def test_config_and_spec():
    assert cubed.Spec(max_mem="1GB").allowed_mem == 10**9
    assert cubed.Spec(allowed_mem="1GiB").allowed_mem == 2**30
    with cubed.config.set({"spec.allowed_mem": "3GB", "spec.executor_name": "single-threaded"}):
        assert cubed.Spec().allowed_mem == 3 * 10**9
        plan = cubed.plan(cubed.ones((3, 3)))
        assert plan.allowed_mem == 3 * 10**9 and plan.executor.name == "single-threaded"
    # The command and the package have one parser.
    for text in ("1.5e9", "1500 mb", "1.5gB", " 1500M "):
        assert cubed.Spec(allowed_mem=text).allowed_mem == 1_500_000_000
    for text in ("much", "-1GB", "1__000", "1_", "0x10", "2GBs", "", "1GB\0", "1e30"):
        with pytest.raises(ValueError, match="number of bytes"):
            cubed.Spec(allowed_mem=text)
    with pytest.raises(ValueError, match="more than"):
        cubed.Spec(allowed_mem=10, reserved_mem=20)
    spec = cubed.Spec(allowed_mem="1GB", work_dir="/tmp")
    assert pickle.loads(pickle.dumps(spec)) == spec
    with pytest.raises(ValueError, match="there is no executor"):
        cubed.ones(3).compute(executor="abacus")


def test_importing_is_quick_and_does_not_bring_in_much():
    code = "import sys, numpy; a = set(sys.modules); import cubed; print(*(set(sys.modules) - a))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    roots = {name.split(".")[0] for name in done.stdout.split()}
    assert not roots & {"donfig", "yaml", "zarr", "pandas", "rich", "IPython", "asyncio"}
    assert not roots & {"cloudpickle", "dataclasses", "hashlib", "inspect", "json", "tempfile"}
    assert not roots & {"concurrent", "logging", "pathlib", "socket", "urllib"}


@pytest.mark.parametrize("name", ["cumulative_sum", "sort"])
def test_results_in_memory_that_others_read(name):
    data = np.random.default_rng(0).standard_normal((40, 30))
    want = {"cumulative_sum": np.cumsum, "sort": np.sort}[name](data, axis=0)
    x = getattr(xp, name)(cubed.from_array(data, chunks=(40, 7)), axis=0)
    got = cubed.compute(x, x + 1, xp.sum(x, axis=1), x)
    for a, b in zip(got, (want, want + 1, want.sum(axis=1), want), strict=True):
        np.testing.assert_allclose(a, b)


def test_functions_that_small_operations_call(tmp_path, monkeypatch):
    """Calls of Python functions of the package: most of the time of small operations."""
    # Other tests may have left more code in this process than the spec reserves: no look at it.
    monkeypatch.setattr(_core, "code_above", lambda limit: 0)
    x, y = cubed.ones((4, 4), chunks=2), cubed.ones((4, 4), chunks=2)
    folder = str(Path(cubed.__file__).parent)

    def count(call):
        call()
        calls = 0

        def note(frame, event, arg):
            nonlocal calls
            calls += event == "call" and frame.f_code.co_filename.startswith(folder)

        sys.setprofile(note)
        try:
            call()
        finally:
            sys.setprofile(None)
        return calls

    assert count(lambda: x + y) <= 27
    assert count(lambda: cubed.mean(x, axis=0)) <= 15
    write = partial(cubed.to_zarr, x, tmp_path / "x", executor="single-threaded")
    assert count(write) <= 70
