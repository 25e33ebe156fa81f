"""Calls in programs for Cubed for Python: their values and errors."""

import functools
import pickle
import random as python_random
import shutil
import threading

import cubed
import cubed.array_api as xp
import fsspec
import numpy as np
import obstore
import pytest
from cubed import backend_array_api as backend
from cubed.core import ops
from cubed.core.groupby import groupby_blockwise, groupby_reduction
from cubed.core.ops import reduction, scan
from cubed.core.plan import ArrayRole
from cubed.diagnostics.history import HistoryCallback
from cubed.diagnostics.rich import RichProgressBar
from cubed.diagnostics.timeline import TimelineVisualizationCallback
from cubed.diagnostics.widgets import LivePlanViewer, LiveTimelineViewer
from cubed.runtime.create import create_executor
from cubed.runtime.executors.testing import RaiseIfComputesExecutor
from cubed.runtime.pipeline import visit_node_generations, visit_nodes
from cubed.spec import EXECUTORS, spec_from_config
from cubed.vendor.dask.array.utils import validate_axis
from donfig import Config

import zarr

A = np.arange(600.0).reshape(20, 30)
same = np.testing.assert_array_equal
by_zarr = pytest.mark.filterwarnings("ignore:the engine has no store")


@pytest.fixture
def spec(tmp_path):
    return cubed.Spec(str(tmp_path / "work"), allowed_mem="100MB", reserved_mem="10MB")


@pytest.fixture
def x(spec):
    return cubed.from_array(A, chunks=(6, 11), spec=spec)


# --- Targets --------------------------------------------------------------------------------------


def test_targets_that_are_none(x, tmp_path):
    assert cubed.to_zarr(x) is None and cubed.store([x], [None]) is None
    work = tmp_path / "work"
    assert not work.exists() or not list(work.iterdir())
    same(cubed.to_zarr(x, compute=False).compute(), A)
    none, there = cubed.store([x, x + 1], [None, tmp_path / "a"], compute=False)
    same(none.compute(), A)
    assert not (tmp_path / "a").exists()
    same(there.compute(), A + 1)
    same(zarr.open_array(tmp_path / "a")[...], A + 1)
    with pytest.raises(ValueError, match="a target is None, expected a place to write"):
        cubed.store([x], [None], [(slice(20), slice(30))])
    with pytest.raises(ValueError, match="path is 'p', but there is no store"):
        cubed.to_zarr(x, path="p")


def opened(store):
    if type(store).__module__.startswith("obstore"):
        store = zarr.storage.ObjectStore(store)
    if isinstance(store, fsspec.FSMap):
        return zarr.open_array(store.fs.get_mapper(f"{store.root}/g/v"), mode="r")
    return zarr.open_array(store, path="g/v", mode="r")


@by_zarr
@pytest.mark.parametrize(
    "make",
    [
        lambda _: {},
        lambda _: zarr.storage.MemoryStore(),
        lambda _: zarr.storage.FsspecStore.from_url("memory://s"),
        lambda _: fsspec.get_mapper("memory://m"),
        lambda _: obstore.store.MemoryStore(),
        lambda _: zarr.storage.ObjectStore(obstore.store.MemoryStore()),
        lambda p: obstore.store.LocalStore(str(p)),
        lambda p: zarr.storage.LocalStore(p),
        lambda p: fsspec.get_mapper(str(p)),
    ],
)
def test_stores_of_others(x, tmp_path, make):
    store = make(tmp_path)
    cubed.to_zarr(x, store, "g/v")
    z = opened(store)
    assert z.chunks == (6, 11) and z.dtype == "f8"
    same(z[...], A)
    same(cubed.from_zarr(store, "g/v").compute(), A)
    later = cubed.to_zarr(x * 2, store, "g/v", compute=False)
    same(opened(store)[...], A)
    same(later.compute(), A * 2)
    part = (slice(3, 9), slice(0, 30))
    same(cubed.to_zarr(x[:6], store, "g/v", region=part, compute=False).compute(), A[:6])
    same(opened(store)[3:9], A[:6])
    with pytest.raises(FileExistsError, match="exists|replaces"):
        cubed.to_zarr(x, store, "g/v", overwrite=False)


@by_zarr
@pytest.mark.parametrize("shape", [(), (0, 3), (1,)])
@pytest.mark.parametrize("dtype", ["?", "i2", "c16"])
def test_shapes_and_types_in_stores_of_others(spec, shape, dtype):
    a = np.ones(shape, dtype)
    store = zarr.storage.MemoryStore()
    cubed.to_zarr(cubed.from_array(a, spec=spec), store)
    z = zarr.open_array(store, mode="r")
    assert (z.shape, z.dtype) == (a.shape, a.dtype)
    same(z[...], a)


def test_arrays_as_targets(x):
    z = zarr.create_array({}, shape=A.shape, chunks=(5, 5), dtype="f8")
    cubed.to_zarr(x, z)
    same(z[...], A)
    later = cubed.to_zarr(x + 1, z, compute=False)
    same(z[...], A)
    same(later.compute(), A + 1)
    a = np.zeros((25, 30))
    same(cubed.store(x, a, (slice(5, 25), slice(30)), compute=False)[0].compute(), A)
    same(a[5:], A)
    with pytest.raises(ValueError, match="path is 'v', but store is an array"):
        cubed.to_zarr(x, z, "v")


def test_what_is_no_target(x):
    with pytest.raises(TypeError, match="target 3: expected a store"):
        cubed.to_zarr(x, 3)
    with pytest.raises(TypeError, match="is a group, expected its store"):
        cubed.to_zarr(x, zarr.open_group({}))


@by_zarr
def test_memory_is_not_given_to_other_processes(x):
    with pytest.raises(TypeError, match="cannot be sent to another process"):
        cubed.to_zarr(x, zarr.storage.MemoryStore(), executor="processes")


def test_lazy_arrays_are_written_together(x, tmp_path):
    both = cubed.store([x, x + 1], [tmp_path / "a", tmp_path / "b"], compute=False)
    assert isinstance(both, tuple) and all(isinstance(y, cubed.Array) for y in both)
    first, second, third = cubed.compute(*both, x * 2)
    same(first, A)
    same(second, A + 1)
    same(third, A * 2)
    same(zarr.open_array(tmp_path / "b")[...], A + 1)
    later = cubed.to_zarr(x, tmp_path / "c", compute=False)
    assert later.plan().total_output_nbytes == A.nbytes
    with pytest.raises(TypeError, match="an array with a pending write cannot be pickled"):
        pickle.dumps(later)
    later[0] = 5.0  # is made of what was to be stored
    same(later.compute()[0], 5.0)
    same(zarr.open_array(tmp_path / "c")[...], A)


@by_zarr
def test_what_is_made_of_lazy_arrays_writes_them(x, tmp_path):
    a = cubed.to_zarr(x, tmp_path / "a", compute=False)
    made = (a[3:] + 1).T.sum(axis=0) + cubed.to_zarr(x.sum(axis=1), compute=False)[3:]
    assert made.plan().total_output_nbytes > A.nbytes
    same(made.compute(), (A[3:] + 1).sum(axis=1) + A.sum(axis=1)[3:])
    same(zarr.open_array(tmp_path / "a")[...], A)
    # Once: what has been written is as others have left it.
    shutil.rmtree(tmp_path / "a")
    same(made.compute(), (A[3:] + 1).sum(axis=1) + A.sum(axis=1)[3:])
    assert not (tmp_path / "a").exists()
    same(a.compute(), A)
    # What an array replaces is read before.
    b = cubed.to_zarr(
        cubed.from_zarr(tmp_path / "a", spec=x.spec) * 2, tmp_path / "a", compute=False
    )
    values, double = cubed.compute(b + 1, b)
    same(values, A * 2 + 1)
    same(double, A * 2)
    # Storing does the same, and so do stores of others and lazy arrays made of lazy ones.
    store = zarr.storage.MemoryStore()
    c = cubed.to_zarr(x - 1, store, "g/v", compute=False)
    d = cubed.to_zarr(c * 3, tmp_path / "d", compute=False)
    cubed.to_zarr(d + 1, tmp_path / "e")
    same(opened(store)[...], A - 1)
    same(zarr.open_array(tmp_path / "d")[...], (A - 1) * 3)
    same(zarr.open_array(tmp_path / "e")[...], (A - 1) * 3 + 1)


def test_lazy_arrays_have_their_own_ways(x, tmp_path):
    zarr.create_array(tmp_path / "a", data=A)
    kept = cubed.to_zarr(x, tmp_path / "a", overwrite=False, compute=False)
    new = cubed.to_zarr(kept + 1, tmp_path / "b", compute=False)
    (tmp_path / "b").mkdir()
    with pytest.raises(FileExistsError, match="a: there is|exists"):
        new.compute()
    shutil.rmtree(tmp_path / "a")
    same(new.compute(), A + 1)


def twice(block):
    return 2 * block


def test_compile_function_gets_functions_of_users(x):
    seen = []

    def compiled(function, *, config=None):
        seen.append((function.__name__, config.name, type(config).__name__))
        return lambda *blocks: function(*blocks) + 1

    y = x.map_blocks(twice, dtype=x.dtype)
    same(y.compute(compile_function=compiled), 2 * A + 1)
    assert seen == [("twice", "map_blocks(twice)", "BlockwiseSpec")]
    same(
        (y + xp.sum(x)).compute(compile_function=compiled, executor="processes"),
        2 * A + 1 + A.sum(),
    )
    same(y.compute(), 2 * A)
    # Each for itself, but only those of users: the package's own are left alone.
    both = cubed.map_overlap(twice, y, depth=1, boundary=0, trim=True, dtype=y.dtype)
    same(both.compute(compile_function=compiled), 2 * (2 * A + 1) + 1)
    image, _ = cubed.ndimage.label(x > 1)
    seen.clear()
    same(image.compute(compile_function=compiled), image.compute())
    assert not seen


def summed(block, axis=None, keepdims=True, dtype=None):
    return block.sum(axis, keepdims=keepdims, dtype=dtype)


def running(block, axis=None, dtype=None):
    return np.cumsum(block, axis, dtype=dtype)


def joined(before, after):
    return before + after


COMPILED = [
    (lambda x: x.map_blocks(twice, dtype=float), ["twice"]),
    (lambda x: cubed.map_overlap(twice, x, depth=1, boundary=0, trim=True), ["twice"]),
    (lambda x: cubed.apply_gufunc(twice, "()->()", x, output_dtypes=float), ["twice"]),
    (
        lambda x: cubed.apply_gufunc(twice, "()->()", x, output_dtypes=float, vectorize=True),
        ["twice"],
    ),
    (lambda x: cubed.apply_along_axis(twice, 0, x), ["twice"]),
    (lambda x: ops.blockwise(twice, "ij", x, "ij", dtype=float), ["twice"]),
    (lambda x: ops.reduction(x, summed, axis=0), ["summed"]),
    (lambda x: cubed.reduction(x, summed, summed, axis=0), ["summed"]),
    (lambda x: cubed.reduction(x, summed, summed, axis=0, dtype=float), ["summed"]),
    (lambda x: cubed.cumreduction(running, joined, 0, x, 0), ["joined", "running"]),
    (
        lambda x: cubed.cumreduction(running, joined, 0, x, 0, dtype=float),
        ["joined", "running"],
    ),
]


@pytest.mark.parametrize(
    ("make", "names", "executor"),
    # Workers take each kind of function: of one block, of parts, of a running total.
    [(*row, "threads") for row in COMPILED] + [(*row, "processes") for row in COMPILED[::5]],
)
def test_compile_function_between_operations(x, make, names, executor):
    """Operations before and after a function may be in its tasks. They are not compiled, and what
    the function returns is."""
    seen, before = set(), x.astype(float) * 3 + 1
    out = xp.sqrt(make(before)) - 0.5

    def compiled(function):
        seen.add(function.__name__)
        return functools.partial(_counted, function)

    same(out.compute(compile_function=compiled, executor=executor), out.compute())
    assert sorted(seen) == names
    with pytest.raises(ValueError, match="was called"):
        out.compute(compile_function=lambda function: _refusing)
    same(
        (before - 1).compute(compile_function=lambda function: _refusing),
        3.0 * A,
    )


def _counted(function, *args, **kwargs):
    return function(*args, **kwargs)


def _refusing(*args, **kwargs):
    raise ValueError("the compiled function was called")


def test_compile_function_of_numba(x, tmp_path):
    numba = pytest.importorskip("numba")
    y = cubed.apply_gufunc(twice, "(i)->(i)", x.rechunk((6, 30)), output_dtypes=x.dtype)
    for jit in (numba.jit, numba.njit(parallel=False)):
        same(y.compute(compile_function=jit), 2 * A)
    cubed.to_zarr(y, tmp_path / "a", compile_function=numba.njit)
    same(zarr.open_array(tmp_path / "a")[...], 2 * A)


def test_compile_functions_that_fail(x):
    def fails(function):
        raise NotImplementedError(f"Cannot compile {function}")

    y = x.map_blocks(twice, dtype=x.dtype)
    with pytest.raises(NotImplementedError, match="Cannot compile <function twice"):
        y.compute(compile_function=fails)
    with pytest.raises(NotImplementedError, match="Cannot compile <function twice"):
        y.plan(compile_function=fails)
    with pytest.raises(TypeError, match="cannot be pickled"):
        y.compute(compile_function=lambda function: threading.Lock().acquire)
    with pytest.raises(TypeError, match="compile_function is 3, expected a function"):
        y.compute(compile_function=3)


# --- Specs ----------------------------------------------------------------------------------------

GZIP = {"name": "gzip", "configuration": {"level": 2}}
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}


@by_zarr
@pytest.mark.parametrize("compressor", [None, GZIP, [BYTES, GZIP], [BYTES]])
def test_compressors(tmp_path, compressor):
    spec = cubed.Spec(str(tmp_path), allowed_mem="100MB", zarr_compressor=compressor)
    x = cubed.from_array(A, chunks=(6, 11), spec=spec)
    memory = zarr.storage.MemoryStore()
    cubed.store([x, x], [tmp_path / "a", memory])
    wanted = 0 if compressor is None or compressor == [BYTES] else 1
    for z in (zarr.open_array(tmp_path / "a"), zarr.open_array(memory)):
        assert len(z.compressors) == wanted
        same(z[...], A)


@pytest.mark.parametrize("compressor", [3, {"id": "zstd"}, ["gzip"], "zstd"])
def test_wrong_compressors(compressor):
    with pytest.raises(TypeError, match=r"zarr_compressor is .*, expected 'auto'"):
        cubed.Spec(zarr_compressor=compressor)


@pytest.mark.parametrize(
    "make",
    [
        lambda p: str(p),
        lambda p: zarr.storage.LocalStore(p),
        lambda p: obstore.store.LocalStore(str(p)),
        lambda _: zarr.storage.MemoryStore(),
        lambda _: obstore.store.MemoryStore(),
        lambda _: "memory://there",
    ],
)
def test_intermediate_stores(tmp_path, make):
    store = make(tmp_path)
    spec = cubed.Spec(intermediate_store=store, allowed_mem="20MB", reserved_mem="1MB")
    assert spec.intermediate_store is store
    assert pickle.loads(pickle.dumps(spec)).intermediates == spec.intermediates
    x = xp.ones((1000, 1000), chunks=(250, 1000), spec=spec)
    total = xp.sum(x.rechunk((1000, 50)) + 1)
    assert total.compute(executor="processes", max_workers=1) == 2e6
    place = total.plan()._maker.work_dir
    assert (place == str(tmp_path)) == ("Local" in repr(store) or isinstance(store, str) and
                                        "://" not in store)  # fmt: skip


def test_wrong_intermediate_stores():
    with pytest.raises(NotImplementedError, match="intermediate_store is 3, expected a path"):
        cubed.Spec(intermediate_store=3)


def test_executors_of_specs():
    spec = cubed.Spec(executor_name="processes", executor_options={"max_workers": 3})
    assert spec.executor.name == "processes" and spec.executor.max_workers == 3
    assert spec.executor is spec.executor
    assert pickle.loads(pickle.dumps(spec)).executor == spec.executor
    assert cubed.Spec().executor is None


@pytest.mark.parametrize("name", ["lithops", "ray", "spark", "modal", "coiled", "beam", "prefect"])
def test_executors_whose_package_is_missing(name, monkeypatch):
    module, _, kind = EXECUTORS[name].partition(":")
    found = __import__(f"cubed.runtime.executors.{module}", fromlist=[kind])
    monkeypatch.setitem(__import__("sys").modules, getattr(found, kind).engine[0], None)
    with pytest.raises(ImportError, match=r"executor needs: pip install '\S+>=[0-9.]+'$"):
        create_executor(name)
    with pytest.raises(ImportError):
        _ = cubed.Spec(executor_name=name).executor


def test_config():
    assert isinstance(cubed.config, Config)
    assert cubed.config["spec"]["allowed_mem"] == cubed.config.get("spec.allowed_mem")
    assert "spec" in cubed.config.to_dict() and "spec" in cubed.config
    assert cubed.config.serialize()
    with cubed.config.set({"spec.allowed_mem": "3GB"}):
        assert cubed.Spec().allowed_mem == 3 * 10**9


# --- Functions ------------------------------------------------------------------------------------


def test_map_blocks_without_arrays(spec):
    def numbers(block, block_id=None):
        return block + block_id[0]

    x = cubed.map_blocks(numbers, dtype="int64", chunks=((5, 3),), spec=spec)
    assert (x.shape, x.chunks, x.dtype) == ((8,), ((5, 3),), np.int64)
    same(x.compute(), [0] * 5 + [1] * 3)
    same(cubed.map_blocks(np.cos, chunks=((2,), (1, 1, 2))).compute(), np.ones((2, 4)))
    same(cubed.map_blocks(np.cos, chunks=()).compute(), 1.0)
    with pytest.raises(TypeError, match="chunks is 'auto', expected the extents"):
        cubed.map_blocks(np.cos, chunks="auto")


AXES = {
    "sum": lambda x: xp.sum(x, axis=5),
    "flip": lambda x: xp.flip(x, axis=-3),
    "concat": lambda x: cubed.nansum(x, axis=(0, 2)),
    "argmax": lambda x: xp.argmax(x, axis=2),
    "tensordot": lambda x: xp.tensordot(x, x, axes=(2, 0)),
}


@pytest.mark.parametrize("call", AXES.values(), ids=AXES)
def test_axes_that_do_not_exist(x, call):
    with pytest.raises(np.exceptions.AxisError, match="out of range for .*2 ") as e:
        call(x)
    assert isinstance(e.value, ValueError) and isinstance(e.value, IndexError)


def test_tensordot_over_one_axis_of_each(x):
    b = np.arange(90.0).reshape(3, 30)
    same(xp.tensordot(x, cubed.from_array(b, chunks=7), axes=(1, 1)).compute(), A @ b.T)
    same(xp.tensordot(x, x, axes=(0, -2)).compute(), A.T @ A)
    with pytest.raises(ValueError, match="the same number of axes of x1 and x2"):
        xp.tensordot(x, x, axes=(1, 0, 1))


KEYS = [
    [3, 0, 2], [-1, 0], [0], [], np.array([1, 1]), [True, False, False, True, False, True],
    slice(None, None, -2), slice(4, 1, -1), slice(1, 3), 2, -1, (..., [1, 0]),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_blocks(spec, key):
    a = np.arange(11)
    x = cubed.from_array(a, chunks=2, spec=spec)
    chosen = np.arange(6)[key[1] if isinstance(key, tuple) else key if not isinstance(key, list)
                          else np.asarray(key, bool if True in key else int)]  # fmt: skip
    parts = [a[2 * i : 2 * i + 2] for i in np.atleast_1d(chosen)]
    got = x.blocks[key]
    same(got.compute(), np.concatenate([a[:0], *parts]))
    assert got.chunks == (tuple(map(len, parts)) or (0,),)


def test_blocks_of_several_axes(x):
    got = x.blocks[[2, 0], 1:]
    same(got.compute(), np.concatenate([A[12:18], A[:6]])[:, 11:])
    assert got.chunks == ((6, 6), (11, 8))
    for key in ([0, 4], [[0]], [0.5], "a"):
        with pytest.raises(IndexError, match="block"):
            x.blocks[key]
    with pytest.raises(NotImplementedError, match=r"lists for axes \[0, 1\]"):
        x.blocks[[0], [0]]
    for key in (None, (None, 0), (None, slice(None), slice(None))):
        with pytest.raises(ValueError, match="newaxis is not supported"):
            x.blocks[key]


def hashed(n):
    """Wang's hash of 32 bits, in Python's integers."""
    n = (n ^ 61) ^ (n >> 16)
    n = (n + (n << 3)) % 2**32
    n = n ^ (n >> 4)
    n = (n * 0x27D4EB2D) % 2**32
    n = n ^ (n >> 15)
    return n - 2**32 if n >= 2**31 else n


@pytest.mark.parametrize("dtype", ["i4", "i8", "u4", "i2"])
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4), (0, 3), ()])
def test_integers_of_positions(shape, dtype):
    expected = np.array([hashed(i) for i in range(int(np.prod(shape)))], np.int64)
    for chunks in (None, 2):
        x = cubed.random.integers(shape, dtype=dtype, chunks=chunks)
        assert x.dtype == dtype
        same(x.compute(), expected.astype(dtype).reshape(shape))
    same(cubed.random.integers(shape=shape).compute(), expected.astype("i4").reshape(shape))


def test_integers_as_numpy_has_them():
    python_random.seed(3)
    x = cubed.random.integers(5, size=(40,), chunks=7)
    assert x.dtype == np.int64 and set(x.compute()) == set(range(5))
    assert cubed.random.integers(2, 3).compute() == 2
    for wrong in ({"high": 3}, {"size": 3}, {"seed": 1}, {"endpoint": True}):
        with pytest.raises(ValueError, match=r"integers\(shape\) takes no"):
            cubed.random.integers((3,), **wrong)
    with pytest.raises(TypeError, match="needs low"):
        cubed.random.integers()
    with pytest.raises(TypeError, match="expected integers"):
        cubed.random.integers((3,), dtype="f4")


# --- Groups and reductions by functions -----------------------------------------------------------


def sums(block, labels, axis, intermediate_dtype, num_groups):
    moved = np.moveaxis(block, axis, 0)
    total = np.zeros((num_groups, *moved.shape[1:]))
    count = np.zeros(total.shape, np.int64)
    np.add.at(total, labels, moved)
    np.add.at(count, labels, 1)
    assert block.shape[axis] <= 4
    return {"n": np.moveaxis(count, 0, axis), "total": np.moveaxis(total, 0, axis)}


def merge(parts, axis, dummy_axis, dtype, keepdims):
    return {name: np.sum(p, axis=dummy_axis, keepdims=keepdims) for name, p in parts.items()}


@pytest.mark.parametrize("shape", [(24,), (24, 5), (5, 24), (3, 24, 4)])
@pytest.mark.parametrize("lazy_labels", [True, False])
def test_groups_along_any_axis(spec, shape, lazy_labels):
    a = np.random.default_rng(1).random(shape)
    axis = shape.index(24)
    x = cubed.from_array(a, chunks=tuple(4 if n == 24 else 3 for n in shape), spec=spec)
    labels = np.arange(24) * 5 % 3
    by = cubed.from_array(labels, chunks=7, spec=spec) if lazy_labels else labels
    expected = [a.take(np.flatnonzero(labels == k), axis).mean(axis) for k in range(3)]
    for at in (axis, axis - len(shape), (axis,)):
        got = groupby_reduction(
            x, by, sums, merge, lambda p, **kwargs: p["total"] / p["n"], axis=at,
            intermediate_dtype=[("n", "i8"), ("total", "f8")], dtype="f8", num_groups=3,
            split_every=2,
        )  # fmt: skip
        np.testing.assert_allclose(got.compute(), np.stack(expected, axis))
    if lazy_labels:
        return
    ordered = np.sort(labels)

    def scaled(block, by, axis, start_group, num_groups, scale):
        parts = [block.take(np.flatnonzero(by - start_group == k), axis) for k in range(num_groups)]
        return scale * np.stack([p.sum(axis) for p in parts], axis)

    got = groupby_blockwise(x, ordered, scaled, axis=axis, dtype="f8", num_groups=3, scale=2.0)
    expected = [2 * a.take(np.flatnonzero(ordered == k), axis).sum(axis) for k in range(3)]
    np.testing.assert_allclose(got.compute(), np.stack(expected, axis))


def test_groups_of_one_field(spec):
    def counts(block, labels, axis, intermediate_dtype, num_groups):
        return np.bincount(labels, block, minlength=num_groups)

    def largest(parts, axis, dummy_axis, dtype, keepdims):
        return parts.max(dummy_axis, keepdims=keepdims)

    x = cubed.from_array(np.arange(10.0), chunks=3, spec=spec)
    got = groupby_reduction(x, np.arange(10) % 2, counts, largest, axis=0, dtype="f8", num_groups=2)
    same(got.compute(), [14, 9])
    with pytest.raises(ValueError, match="by has shape"):
        groupby_reduction(x, np.arange(9), counts, largest, axis=0, dtype="f8", num_groups=2)
    with pytest.raises(ValueError, match="dtype is None"):
        groupby_reduction(x, np.arange(10), counts, largest, axis=0, num_groups=2)


def test_reductions_by_functions(x):
    same(reduction(x, None, np.sum, axis=0, dtype="f8").compute(), A.sum(0))
    got = reduction(x, np.sum, np.sum, lambda a, axis, keepdims: a * len(axis) + keepdims)
    assert got.compute() == A.sum() * 2 + 1
    with pytest.raises(ValueError, match="func and combine_func are both None"):
        reduction(x, None)


# --- What plans and runs tell ---------------------------------------------------------------------


class Listener(cubed.Callback):
    def __init__(self):
        self.names, self.events = [], []

    def on_compute_start(self, event):
        self.start = event

    def on_task_end(self, event):
        self.names.append(event.name)

    def on_compute_end(self, event):
        self.end = event


def test_callbacks_that_are_registered(x):
    heard = Listener()
    heard.register()
    try:
        x.compute()
        n = len(heard.names)
        assert n > 0
    finally:
        heard.unregister()
    heard.unregister()  # nothing
    x.compute()
    assert len(heard.names) == n


def test_graphs(x):
    y, z = xp.sum(xp.sort(x, axis=0), axis=0), x * 2
    heard = Listener()
    cubed.compute(z, y, callbacks=[heard])
    plan = cubed.plan(z, y)
    for dag in (heard.start.dag, heard.end.dag, plan.dag):
        nodes = dict(dag.nodes(data=True))
        ops = {n: d for n, d in nodes.items() if d["type"] == "op"}
        arrays = {n: d["target"] for n, d in nodes.items() if d["type"] == "array"}
        assert set(ops) == set(heard.names) and len(ops) == plan.num_stages
        assert sum(d["primitive_op"].num_tasks for d in ops.values()) == plan.num_tasks
        for d in ops.values():
            assert 10**7 < d["primitive_op"].projected_mem <= d["primitive_op"].allowed_mem
            assert set(d["primitive_op"].source_array_names) == set(dag.predecessors(d["name"]))
        for array, lazy in ((arrays[y.name], y), (arrays[z.name], z)):
            assert (array.shape, array.dtype, array.nbytes) == (lazy.shape, lazy.dtype, lazy.nbytes)
        assert {dag.in_degree(y.name), dag.in_degree(z.name)} == {1}
    assert heard.start.stages == plan.stages


def test_names_of_arrays(x):
    y = x + 1
    assert x.name != y.name and x.name == x.name and x.name.startswith("array-")
    old = y.name
    y[0] = 0
    assert y.name != old


def test_history(x, tmp_path):
    history = HistoryCallback(tmp_path)
    assert history.plan_df_path is None
    (x + 1).compute(callbacks=[history])
    plan = set("name op_name projected_mem allowed_mem reserved_mem num_tasks projected_mem_mb"
               " reserved_mem_mb".split())  # fmt: skip
    events = set(
        """name num_tasks result task_create_tstamp function_start_tstamp
        function_end_tstamp task_result_tstamp peak_measured_mem_start peak_measured_mem_end
        peak_measured_mem_start_mb peak_measured_mem_end_mb peak_measured_mem_delta_mb""".split()
    )
    stats = set(
        """name op_name num_tasks peak_measured_mem_start_mb_max
        peak_measured_mem_end_mb_max peak_measured_mem_delta_mb_max projected_mem_mb reserved_mem_mb
        projected_mem_utilization""".split()
    )
    assert plan <= set(history.plan_df.columns)
    assert events <= set(history.events_df.columns)
    assert stats <= set(history.stats_df.columns)
    for path in (history.plan_df_path, history.events_df_path, history.stats_df_path):
        assert path.exists()


def test_pictures_as_pages(x, tmp_path):
    for how in ({"format": "html"}, {"engine": "cytoscape"}):
        made = (x + 1).visualize(str(tmp_path / "plan"), **how).path
        assert made.name == "plan.html" and "<html" in made.read_text().lower()
        made.unlink()
    assert x.visualize(str(tmp_path / "plan"), "svg", True, None, True, "graphviz").path.exists()
    with pytest.raises(ValueError, match="engine is 'dot', expected"):
        x.visualize(str(tmp_path / "plan"), engine="dot")


def test_functions_that_compile(x):
    def never(function):
        raise AssertionError("there is nothing to compile")

    assert x.plan(compile_function=never).num_tasks > 0
    same(x.compute(compile_function=never), A)
    same(cubed.compute(x, compile_function=never)[0], A)
    with pytest.raises(TypeError, match="compile_function is 3, expected a function"):
        x.compute(compile_function=3)


# --- Import paths ---------------------------------------------------------------------------------


def test_paths_of_names_that_lie_above_them():
    from cubed.array import nan_functions, overlap, pad
    from cubed.array_api import Array, array_object
    from cubed.core.array import CoreArray
    from cubed.runtime import utils

    assert nan_functions.nansum is cubed.nansum and pad.pad is cubed.pad
    assert overlap.map_overlap is cubed.map_overlap
    assert utils.raise_if_computes is cubed.raise_if_computes
    assert Array is CoreArray is array_object.Array is cubed.Array
    with pytest.raises(AttributeError, match=r"'cubed\.array\.pad' has no attribute 'sap'"):
        _ = pad.sap


def test_the_backend_is_numpy():
    assert backend.namespace is np and backend.xp_name == "numpy"
    assert backend.numpy_array_to_backend_array([1, 2], dtype="f4").dtype == np.float32
    assert backend.backend_array_to_numpy_array(A) is A
    assert backend.backend_dtype_to_numpy_dtype("i2") == np.int16


def test_specs_from_settings():
    with cubed.config.set({"spec.allowed_mem": "3GB", "spec.work_dir": "w"}):
        spec = spec_from_config(cubed.config)
    assert (spec.allowed_mem, spec.work_dir, spec.executor.name) == (3 * 10**9, "w", "threads")


def test_an_executor_that_raises(x):
    assert x.plan().num_tasks > 0
    with pytest.raises(RuntimeError, match="something computes"):
        x.compute(executor=RaiseIfComputesExecutor())


def test_walks_through_graphs(x):
    dag = xp.sum(xp.sort(x, axis=0) + 1, axis=0).plan(optimize_graph=False).dag
    names = [name for name, _ in visit_nodes(dag)]
    assert len(names) > 2 and names == sorted(names)
    generations = [[name for name, _ in g] for g in visit_node_generations(dag)]
    assert [name for generation in generations for name in generation] == names
    assert all(d["primitive_op"].num_tasks for _, d in visit_nodes(dag))


@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize("initial", [False, True])
def test_scans(x, axis, initial):
    kwargs = {"preop": np.sum, "binop": np.add, "axis": axis, "include_initial": initial}
    got = scan(x, np.cumsum, dtype="f8", **kwargs)
    expected = np.cumsum(A, axis=axis)
    if initial:
        start = np.zeros_like(expected.take([0], axis or 0))
        expected = np.concatenate([start, expected], axis or 0)
        expected = expected.take(range(expected.shape[axis or 0] - 1), axis or 0)
    np.testing.assert_allclose(got.compute(), expected)
    if initial:
        with pytest.raises(ValueError, match="preop returns .* for an empty block"):
            scan(x, np.cumsum, **{**kwargs, "preop": lambda a, axis, keepdims: a})


DEVICES = {
    "sum": xp.sum,
    "prod": xp.prod,
    "nansum": cubed.nansum,
    "nanprod": cubed.nanprod,
    "cumulative_sum": lambda x, device: xp.cumulative_sum(x, axis=0, device=device),
    "cumulative_prod": lambda x, device: xp.cumulative_prod(x, axis=0, device=device),
}


@pytest.mark.parametrize("function", DEVICES.values(), ids=DEVICES)
def test_devices(x, function):
    same(function(x, device="cpu").compute(), function(x, device=None).compute())
    with pytest.raises(ValueError, match="no device 'gpu'|device is 'gpu', expected one of 'cpu'"):
        function(x, device="gpu")


def test_forms_of_reductions(x):
    same(cubed.nanmedian(x, 0, True).compute(), np.nanmedian(A, 0, keepdims=True))
    same(cubed.nanmedian(x=x).compute(), np.median(A))
    same(xp.matmul(x, x.T, 2).compute(), A @ A.T)
    for function in (cubed.nanargmax, cubed.nanargmin, xp.argmax, cubed.nanmean, xp.var):
        same(function(x, axis=1, split_every=2).compute(), function(x, axis=1).compute())


def test_sizes_of_live_pictures():
    seen = LivePlanViewer(None, height="20em")
    assert seen._size == "height:20em;overflow:auto;"
    assert LiveTimelineViewer(width=300)._size == "width:300px;overflow:auto;"
    with pytest.raises(TypeError, match="widget is 3, expected None"):
        LivePlanViewer(3)


# --- Settings -------------------------------------------------------------------------------------


def test_settings_of_what_is_not_given(tmp_path):
    settings = {
        "spec.work_dir": str(tmp_path / "w"),
        "spec.zarr_compressor": GZIP,
        "spec.storage_options": {"anon": True},
    }
    x = cubed.from_array(A, chunks=(6, 11))
    with cubed.config.set(settings):
        bare, given = cubed.Spec(), cubed.Spec("elsewhere", storage_options={"key": "k"})
        assert (bare.work_dir, given.work_dir) == (str(tmp_path / "w"), "elsewhere")
        assert (bare.storage_options, given.storage_options) == ({"anon": True}, {"key": "k"})
        assert given.intermediates[0] == "elsewhere"
        assert x.plan()._maker.work_dir == str(tmp_path / "w")
        cubed.to_zarr(x, tmp_path / "a")
        assert [type(c).__name__ for c in zarr.open_array(tmp_path / "a").compressors] == [
            "GzipCodec"
        ]
        with cubed.config.set({"spec.intermediate_store": str(tmp_path / "i")}):
            assert bare.intermediates[0] == str(tmp_path / "i")
            assert given.intermediates[0] == "elsewhere"
    assert bare.work_dir is None and bare.storage_options is None
    assert bare.zarr_compressor == "auto"
    with (
        cubed.config.set({"spec.zarr_compressor": "gzip"}),
        pytest.raises(TypeError, match="zarr_compressor is 'gzip', expected 'auto'"),
    ):
        cubed.to_zarr(x, tmp_path / "b")


def test_names_of_what_plans_compute(x):
    y = x + 1
    plan = cubed.plan(y, x, optimize_graph=False)
    assert plan.array_names == (y.name, x.name) and not plan.optimized
    assert y.plan().optimized


def test_roles_of_stored_arrays(tmp_path):
    spec = cubed.Spec(str(tmp_path / "work"), allowed_mem="100MB")
    cubed.to_zarr(cubed.ones((3, 3), chunks=2, spec=spec), str(tmp_path / "a"))
    a = cubed.from_zarr(str(tmp_path / "a"), spec=spec)
    b = cubed.asarray(np.arange(9.0).reshape(3, 3), chunks=2, spec=spec)
    c = xp.cumulative_sum(a + b, axis=0)
    d = xp.sort(c, axis=1) * 3
    role = ArrayRole
    names = {x.name: r for x, r in ((a, role.INPUT), (b, role.INPUT), (d, role.OUTPUT))}
    plan = d.plan(optimize_graph=False)
    assert set(plan.input_array_names) == {a.name, b.name} and plan.array_names == (d.name,)
    assert {name: plan.array_role(name) for name in names} == names
    assert c.name in plan.intermediate_array_names
    assert plan.array_role(c.name) is role.INTERMEDIATE
    for kind in ("input", "intermediate"):
        of_kind = getattr(plan, f"{kind}_array_names")
        assert len(set(of_kind)) == getattr(plan, f"total_{kind}_narrays") == len(of_kind)
        assert set(of_kind) < set(plan.dag)
    with pytest.raises(ValueError, match=rf"name is 'x', expected one of .*'{d.name}'"):
        plan.array_role("x")

    # An array that is read and is a result; what is not there any more; and what was loaded.
    both = cubed.plan(a, a + 1)
    assert both.array_names[0] == a.name and a.name not in both.input_array_names
    assert len(both.input_array_names) == both.total_input_narrays == 1
    nameless = (cubed.from_zarr(str(tmp_path / "a"), spec=spec) + 1).plan()
    assert nameless.input_array_names[0].startswith("source-")
    loaded = cubed.load_plan((a + 1).plan().save())
    assert loaded.input_array_names[0].startswith("source-")


def test_blocks_from_nothing_go_to_those_who_take_them():
    def number(block_id, scale):
        return np.full((2,), scale * block_id[0])

    def both(block, block_id=None):
        return block + block_id[0]

    same(cubed.map_blocks(number, chunks=((2, 2),), dtype="i8", scale=3).compute(), [0, 0, 3, 3])
    same(cubed.map_blocks(both, chunks=((2, 2),), dtype="i8").compute(), [0, 0, 1, 1])
    same(cubed.map_blocks(np.exp, chunks=((2, 1),), dtype="f4").compute(), [1, 1, 1])


def test_differences_of_halos_that_are_padded(spec):
    """The pattern of its vorticity example: blocks with halos, of which the first pads itself."""

    def differences(block, block_id=None, axis=None):
        ndim = block.ndim
        inner = [slice(None)] * ndim
        inner[axis] = slice(0 if block_id[axis] else 1, -1)
        out = backend.namespace.diff(block[tuple(inner)], axis=axis)
        if block_id[axis] == 0:
            out = np.pad(out, [(int(i == axis), 0) for i in range(ndim)], mode="symmetric")
        return out

    a = np.random.default_rng(1).random((7, 1, 20, 9))
    x = cubed.from_array(a, chunks=(3, 1, 6, 9), spec=spec)
    for axis in (-2, 3, 0):
        at = validate_axis(axis, x.ndim)
        got = cubed.map_overlap(
            differences, x, dtype=x.dtype, chunks=x.chunks, boundary=0, trim=False, axis=at,
            depth=tuple(int(i == at) for i in range(x.ndim)),
        )  # fmt: skip
        want = np.diff(a, axis=axis)
        edge = [(int(i == at), 0) for i in range(a.ndim)]
        padded = cubed.pad(xp.diff(x, axis=axis), edge, mode="symmetric", chunks=x.chunks)
        for y in got, padded:
            assert y.chunks == x.chunks
            same(y.compute(), np.pad(want, edge, mode="symmetric"))
    assert validate_axis([0, -1], 3) == (0, 2)
    with pytest.raises(np.exceptions.AxisError, match="axis 4 is out of range"):
        validate_axis((0, 4), 3)
    with pytest.raises(TypeError, match="axis is '0', expected an integer"):
        validate_axis("0", 3)


def test_the_example_of_random_matrices(spec, tmp_path, monkeypatch):
    """Cubed for Python's matmul-random.py, 100 times smaller."""
    monkeypatch.chdir(tmp_path)
    with cubed.config.set({"spec.work_dir": str(tmp_path / "work"), "spec.allowed_mem": "500MB"}):
        a = cubed.random.random((250, 250), chunks=(50, 50))
        b = cubed.random.random((250, 250), chunks=(50, 50))
        c = xp.matmul(a, b)
        progress, history = RichProgressBar(), HistoryCallback()
        timeline = TimelineVisualizationCallback()
        cubed.to_zarr(c, store=None, callbacks=[progress, history, timeline])
        both = cubed.compute(a, b, c)
    np.testing.assert_allclose(both[0] @ both[1], both[2])
    assert len(list((tmp_path / "history").rglob("timeline.svg"))) == 1
    assert len(list((tmp_path / "history").rglob("events.csv"))) == 1
    assert not list((tmp_path / "work").rglob("cubed-result-*"))
