"""User-defined functions on blocks: map_blocks, blockwise, apply_gufunc, and functions that use
them.
"""

import ctypes
import pathlib
import resource
import subprocess
import sys
import weakref

import cubed
import cubed.core.ops as ops
import numpy as np
import pytest
from conftest import BIN
from cubed.blocks._tree import scan
from cubed.planning._compute import Plan
from cubed.planning._options import RunOptions
from cubed.runtime.executors.local import ThreadsExecutor

MB = 10**6
EXECUTORS = ["single-threaded", "threads", "processes"]


@pytest.fixture
def spec(tmp_path):
    return cubed.Spec(work_dir=tmp_path, allowed_mem="200MB", reserved_mem="100MB")


def same(x, expected, **options):
    """The values, the same without the optimiser."""
    expected = np.asarray(expected)
    assert x.shape == expected.shape
    assert x.dtype == expected.dtype
    got = x.compute(**options)
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(x.compute(optimize_graph=False, **options), expected)


def double(x, by=2):
    return x * by


# --- map_blocks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("executor", EXECUTORS)
def test_blocks_are_views_and_results_arrive(executor, spec):
    a = np.arange(77.0).reshape(7, 11)
    x = cubed.from_array(a, chunks=(3, 4), spec=spec)
    factor = 3  # a closure

    def f(block, offset, *, by):
        assert not block.flags.writeable and not block.flags.owndata
        return (block + offset) * by * factor

    y = cubed.map_blocks(f, x * 2, 5, by=2, dtype=float)
    same(y + 1, (2 * a + 5) * 6 + 1, executor=executor)
    assert y.chunks == x.chunks


def depth_of_lists(levels):
    """How many characters lists within lists are shown with; Python itself may set a bound."""
    x = []
    for _ in range(levels):
        x = [x]
    try:
        return len(repr(x))
    except RecursionError:
        return -1


@pytest.fixture(params=["as it is", "unlimited"])
def _stack(request):
    """The stacks that new threads have by default, which do not count."""
    limits = resource.getrlimit(resource.RLIMIT_STACK)
    recursion = sys.getrecursionlimit()
    sys.setrecursionlimit(30000)
    if request.param == "unlimited" and limits[1] == resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY, limits[1]))
    yield
    sys.setrecursionlimit(recursion)
    resource.setrlimit(resource.RLIMIT_STACK, limits)


@pytest.mark.parametrize("executor", ["single-threaded", "threads"])
@pytest.mark.parametrize("chunk", [2, 6])
@pytest.mark.usefixtures("_stack")
def test_functions_have_the_stack_of_a_main_thread(executor, chunk, tmp_path, spec):
    """Deep recursion in Python's C code, and large automatic arrays of libraries."""
    x = cubed.ones(6, chunks=chunk, spec=spec)
    y = cubed.map_blocks(lambda b: b * depth_of_lists(20000), x, dtype=float)
    assert (y.compute(executor=executor) == depth_of_lists(20000)).all()

    source, library = tmp_path / "room.c", tmp_path / "room.so"
    source.write_text(
        "int fill(int n) { volatile char a[4 << 20]; long sum = 0;"
        " for (int i = 0; i < 4 << 20; i++) a[i] = n;"
        " for (int i = 0; i < 4 << 20; i++) sum += a[i];"
        " return sum >> 22; }"
    )
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", source, "-o", library], check=True)
    z = cubed.map_blocks(lambda b: b * ctypes.CDLL(str(library)).fill(7), x, dtype=float)
    assert (z.compute(executor=executor) == 7).all()


def test_the_plan_around_a_function_is_native():
    x = cubed.ones((100, 100), chunks=50)
    y = cubed.sum(cubed.map_blocks(double, cubed.sqrt(x[::-1] + 1).T, dtype=float) ** 2)
    names = [stage["name"] for stage in y.plan().stages]
    assert len(names) == 2 and names[0].startswith("map_blocks(double, "), names
    assert float(y) == pytest.approx(80000)


def test_block_id_says_which_block():
    x = cubed.zeros((5, 6), chunks=(2, 4), dtype=np.int64)

    def f(block, block_id):
        return block + 10 * block_id[0] + block_id[1]

    expected = 10 * (np.arange(5)[:, None] // 2) + np.arange(6) // 4
    same(cubed.map_blocks(f, x, dtype=np.int64), expected)


def test_several_arrays_meet_block_by_block():
    a, b = np.arange(10.0), np.arange(40.0).reshape(4, 10)
    x = cubed.from_array(a, chunks=4)
    y = cubed.from_array(b, chunks=(2, 4))
    same(cubed.map_blocks(np.add, y, x), b + a)
    # One block for all, and grids that differ where extents do not.
    same(cubed.map_blocks(np.add, y, cubed.from_array(b[:1], chunks=(1, 10))), b + b[0])
    same(cubed.map_blocks(np.add, y, cubed.from_array(b, chunks=(3, 5))), b + b)
    # Extents differ: blocks of the same number.
    wide = cubed.from_array(np.arange(30), chunks=12)
    counts = cubed.map_blocks(lambda u, v: u * 0 + len(v), x, wide, dtype=float)
    same(counts, [12.0] * 8 + [6.0] * 2)
    with pytest.raises(ValueError, match="blocks along index"):
        cubed.map_blocks(np.add, x, cubed.zeros(7, chunks=1))


def test_blocks_change_their_shape():
    a = np.arange(60).reshape(6, 10)
    x = cubed.from_array(a, chunks=(2, 5))
    tall = cubed.map_blocks(lambda b: np.repeat(b, 2, 0), x, chunks=(4, 5))
    same(tall, np.repeat(a, 2, 0))
    assert tall.chunks == ((4, 4, 4), (5, 5))
    first = cubed.map_blocks(lambda b: b[:1], x, chunks=((1, 1, 1), (5, 5)))
    same(first, a[::2])
    same(cubed.map_blocks(lambda b: b.sum(0), x, drop_axis=0), a.sum(0))
    same(cubed.map_blocks(lambda b: b.sum((0, 1)), x, drop_axis=[0, 1]), a.sum())
    stacked = cubed.map_blocks(
        lambda b: np.stack([b, -b]), x, new_axis=0, chunks=((2,), (2, 2, 2), (5, 5))
    )
    same(stacked, np.stack([a, -a]))
    same(cubed.map_blocks(lambda b: b[..., None], x, new_axis=2), a[..., None])
    swapped = cubed.map_blocks(lambda b: b.sum(0)[None], x, drop_axis=0, new_axis=0)
    same(swapped, a.sum(0)[None])


def test_without_arrays():
    def f(zeros, block_id):
        return zeros + 10 * block_id[0] + block_id[1]

    x = cubed.map_blocks(f, chunks=((2, 2), (3, 3, 3)), dtype=np.int64)
    same(x, 10 * np.repeat([0, 1], 2)[:, None] + np.repeat([0, 1, 2], 3))


def test_blocks_of_slices_are_their_chunks():
    a = np.arange(20.0)
    x = cubed.from_array(a, chunks=6)[4:]
    assert x.chunks == ((2, 6, 6, 2),)
    same(
        cubed.map_blocks(lambda b: np.full(len(b), float(len(b))), x),
        [2.0] * 2 + [6.0] * 12 + [2.0] * 2,
    )


def test_arrays_without_elements():
    x = cubed.zeros((0, 4), chunks=2)
    same(cubed.map_blocks(double, x), np.zeros((0, 4)))
    same(cubed.map_blocks(lambda b: b.sum(0), x, drop_axis=0, dtype=float), np.zeros(4))


@pytest.mark.parametrize("dtype", ["bool", "i2", "u8", "f2", "f4", "c8", "M8[ns]", "m8[s]", "U3"])
def test_every_type(dtype):
    a = np.arange(10).astype(dtype)
    same(cubed.map_blocks(np.flip, cubed.from_array(a, chunks=10)), a[::-1])


# --- What goes wrong ------------------------------------------------------------------------------


@pytest.mark.parametrize("executor", EXECUTORS)
def test_errors_say_where(executor, spec):
    x = cubed.zeros((6, 4), chunks=(2, 2), spec=spec)

    def fails(block, block_id):
        if block_id == (2, 1):
            raise ZeroDivisionError("no wind")
        return block

    y = cubed.map_blocks(fails, x, dtype=float)
    with pytest.raises(ZeroDivisionError) as caught:
        y.compute(executor=executor)
    assert str(caught.value) == "no wind"
    notes = "\n".join(caught.value.__notes__)
    assert "map_blocks(fails), block (2, 1)" in notes
    if executor == "processes":
        assert f"line {fails.__code__.co_firstlineno + 2}, in fails" in notes
    else:
        assert caught.traceback[-1].name == "fails"


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        (lambda b: b[:1], ValueError, r"output 0 has shape \(1, 2\), expected \(2, 2\)"),
        (lambda b: b + 1j, TypeError, "output 0 has dtype complex128, expected float64"),
        (lambda b: b.__setitem__(0, 1), ValueError, "read-only"),
        (lambda b: {}["wind"], KeyError, "wind"),
        (lambda b: pathlib.Path("/nowhere").stat(), OSError, "nowhere"),
    ],
)
def test_wrong_functions(function, kind, message):
    x = cubed.zeros((4, 4), chunks=2)
    with pytest.raises(kind, match=message) as caught:
        cubed.map_blocks(function, x, dtype=float).compute()
    assert "block (" in "\n".join(caught.value.__notes__)


# --- Masked arrays --------------------------------------------------------------------------------


def masked(block):
    return np.ma.masked_greater(block, 1)


def masked_total(block, axis=None, keepdims=False, **_):
    return np.ma.masked_greater(block, 1).sum(axis=axis, keepdims=keepdims)


def returning_masks(x):
    """Ways by which a user-defined function returns a masked array, also nested in others."""
    return {
        "map_blocks": lambda: cubed.map_blocks(masked, x, dtype=float),
        "list": lambda: cubed.map_blocks(lambda b: list(masked(b)), x[0], dtype=float),
        "one element": lambda: cubed.map_blocks(
            lambda b: np.ma.masked, x, dtype=float, drop_axis=[0, 1]
        ),
        "trimmed": lambda: cubed.map_overlap(masked, x, dtype=float, depth=1, trim=True),
        "blockwise": lambda: cubed.blockwise(masked, "ij", x, "ij", dtype=float),
        "elemwise": lambda: ops.elemwise(masked, x, dtype=float),
        "gufunc": lambda: cubed.apply_gufunc(masked, "(i)->(i)", x, output_dtypes=float),
        "several": lambda: cubed.apply_gufunc(
            lambda b: (b, masked(b)), "()->(),()", x, output_dtypes=[float, float]
        )[1],
        "vectorized": lambda: cubed.apply_gufunc(
            masked, "(i)->(i)", x, output_dtypes=float, vectorize=True
        ),
        "along": lambda: cubed.apply_along_axis(masked, 1, x, dtype=float, shape=(3,)),
        "reduction": lambda: ops.reduction(x, masked_total, axis=1, dtype=float),
        "dict": lambda: ops.reduction(
            x,
            lambda b, axis, keepdims: {"t": masked_total(b, axis, keepdims)},
            lambda s, axis, keepdims: s,
            lambda s: s["t"],
            axis=1,
            intermediate_dtype=[("t", float)],
            dtype=float,
        ),
        "Dask's reduction": lambda: cubed.reduction(
            x, masked_total, masked_total, axis=1, dtype=float
        ),
        "last step": lambda: cubed.reduction(x, np.sum, masked_total, axis=1, dtype=float),
        "partial": lambda: ops.partial_reduce(x, masked_total, split_every={0: 2}, dtype=float),
        "several results": lambda: ops.map_blocks_multiple_outputs(
            lambda b: (b, masked(b)), x, shapes=[(4, 3)] * 2, dtypes=[float] * 2,
            chunkss=[(2, 3)] * 2,
        )[1],
        "scan": lambda: scan(lambda b, axis: masked(np.cumsum(b, axis)), np.add, 0, x, 1, float),
        "selection": lambda: ops.map_selection(
            masked, lambda i: (slice(0, 4), slice(0, 3)), x, shape=(4, 3), dtype=float,
            chunks=(4, 3),
        ),
    }  # fmt: skip


@pytest.mark.parametrize("how", returning_masks(None))
def test_masked_results_are_refused(how):
    """NumPy drops the mask where it makes a plain array of them: values behind it would appear."""
    x = cubed.from_array(np.arange(12.0).reshape(4, 3), chunks=(2, 3))
    with pytest.raises(TypeError, match=r"masked array, whose mask would be lost: .*filled"):
        returning_masks(x)[how]().compute()


def test_masked_results_are_refused_when_types_are_found():
    x = cubed.from_array(np.arange(12.0).reshape(4, 3), chunks=(2, 3))
    with pytest.raises(TypeError, match=r"map_blocks\(masked\): the function returns a masked"):
        cubed.map_blocks(masked, x)
    with pytest.raises(TypeError, match="masked array"):
        cubed.apply_along_axis(masked, 1, x)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_masked_regions_of_sources_are_refused(executor, spec):
    class Source:
        shape, dtype = (4,), np.dtype(float)

        def __init__(self, limit):
            self.limit = limit

        def __getitem__(self, key):
            return np.ma.masked_greater(np.arange(4.0)[key], self.limit)

    got = cubed.from_array(Source(9), spec=spec).compute(executor=executor)
    assert got.tolist() == [0, 1, 2, 3]
    with pytest.raises(
        TypeError, match="the object returned a masked array, whose mask would be lost"
    ):
        cubed.from_array(Source(1), spec=spec).compute(executor=executor)


@pytest.mark.parametrize("declared", ["i8", "?", "U3"])
def test_the_error_of_another_type_says_what_to_write(declared):
    x = cubed.ones(4, chunks=2)
    expected = str(np.dtype(declared))
    for y in (
        cubed.map_blocks(lambda v: v * 0.5, x, dtype=declared),
        cubed.apply_gufunc(lambda v: v * 0.5, "()->()", x, output_dtypes=[declared]),
    ):
        with pytest.raises(TypeError) as caught:
            y.compute()
        assert f"output 0 has dtype float64, expected {expected}" in str(caught.value)
        assert "declare float64 (dtype, output_dtypes, or the template's type)" in str(caught.value)
        assert f"or return x.astype({expected!r})" in str(caught.value)


kept = []


def keep(block):
    kept.append(block)
    return block


def test_blocks_that_are_kept_are_an_error():
    with pytest.raises(ValueError, match="keeps a view"):
        cubed.map_blocks(keep, cubed.zeros(4), dtype=float).compute(executor="single-threaded")
    kept.clear()


def look_for_package():
    # As modules do that keep why they cannot do something.
    try:
        raise ImportError("no such package")
    except ImportError as e:
        kept.append(e)


def look(block):
    look_for_package()
    return block * 2


def look_in_cycle(block):
    class Node:
        pass

    node = Node()
    node.values, node.itself = block, node
    look_for_package()
    return (lambda: node.values * 2)()


def look_in_generator(block):
    def parts():
        yield from (look(line) for line in block)

    return np.stack([*parts()])


def look_in_closures(block):
    def inner():
        look_for_package()
        return block * 2

    return next(x for x in [inner()])


def look_and_raise(block):
    look_for_package()
    raise KeyError("wind")


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("function", [look, look_in_cycle, look_in_generator, look_in_closures])
def test_exceptions_that_modules_keep_do_not_keep_blocks(function, executor, spec):
    a = np.arange(60.0).reshape(6, 10)
    x = cubed.from_array(a, chunks=(6, 5), spec=spec)
    np.testing.assert_array_equal(
        cubed.map_blocks(function, x, dtype=float).compute(executor=executor), a * 2
    )
    with pytest.raises(KeyError, match="wind"):
        cubed.map_blocks(look_and_raise, x, dtype=float).compute(executor=executor)
    assert executor == "processes" or len(kept) > 2
    kept.clear()


class Unloaded:
    """An object that another one stands for, as lazy imports and mocks are."""

    @property
    def __class__(self):
        raise RuntimeError("this object is not loaded")


beside = []


def look_beside_others(block):
    others = beside
    look_for_package()
    return block * len(others)


@pytest.mark.parametrize("executor", ["single-threaded", "threads"])
def test_exceptions_that_modules_keep_beside_proxies(executor, spec):
    """The search for exceptions visits all objects: the proxy of a deleted one raises when read."""
    gone = Unloaded()
    beside[:] = [weakref.proxy(gone), Unloaded()]
    del gone
    a = np.arange(60.0).reshape(6, 10)
    x = cubed.from_array(a, chunks=(3, 4), spec=spec)
    got = cubed.map_blocks(look_beside_others, x, dtype=float).compute(executor=executor)
    np.testing.assert_array_equal(got, a * 2)
    beside.clear()
    kept.clear()


def numbers():
    look_for_package()
    yield from range(10)


suspended = []


def add_next(block):
    if not suspended:
        suspended.append(numbers())
    look_for_package()
    return block + next(suspended[0])


def test_generators_that_functions_suspend_go_on():
    x = cubed.map_blocks(add_next, cubed.zeros(4, chunks=1), dtype=float)
    assert list(x.compute(executor="single-threaded")) == [0, 1, 2, 3]
    suspended.clear()
    kept.clear()


def test_refusals():
    x = cubed.zeros((4, 4), chunks=2)
    lock = __import__("threading").Lock()
    with pytest.raises(TypeError, match="cannot be pickled"):
        cubed.map_blocks(lambda b: lock and b, x, dtype=float)
    with pytest.raises(ValueError, match="give dtype"):
        cubed.map_blocks(lambda b: 1 / 0, x)
    with pytest.raises(TypeError, match="lazy array"):
        cubed.map_blocks(double, x, by=x)
    with pytest.raises(ValueError, match="3 entries"):
        cubed.map_blocks(double, x, chunks=(1, 2, 3))
    with pytest.raises(NotImplementedError, match="must have an element"):
        cubed.map_blocks(double, x, chunks=((0, 3), (2, 2)))
    with pytest.raises(ValueError, match="-1"):
        cubed.map_blocks(double, x, extra_projected_mem=-1)


# --- Memory ---------------------------------------------------------------------------------------


def test_memory_is_projected():
    x = cubed.ones((1000, 1000), chunks=(500, 500))
    plain = cubed.map_blocks(double, x, dtype=float).plan().max_projected_mem
    more = cubed.map_blocks(double, x, dtype=float, extra_projected_mem=50 * MB)
    assert more.plan().max_projected_mem - plain == 50 * MB
    assert plain >= 3 * 500 * 500 * 8  # the input, what is returned, the output
    spec = cubed.Spec(allowed_mem="40MB", reserved_mem="1MB")
    x = cubed.ones((1000, 1000), chunks=(500, 500), spec=spec)
    with pytest.raises(MemoryError, match="map_blocks"):
        cubed.map_blocks(double, x, dtype=float, extra_projected_mem=50 * MB).compute()


@pytest.mark.parametrize("executor", EXECUTORS)
def test_measured_is_at_most_projected(executor, spec):
    x = cubed.random.random((2000, 2000), chunks=(500, 500), spec=spec)
    ends = []

    class Watch(cubed.Callback):
        def on_task_end(self, event):
            ends.append(event)

    y = cubed.map_blocks(np.sort, x * 2, axis=0, dtype=float)
    cubed.sum(y).compute(callbacks=[Watch()], executor=executor)
    assert ends
    assert all(e.peak_measured_mem_end <= e.projected_mem <= 200 * MB for e in ends)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_what_functions_allocate_is_measured(executor, spec):
    x = cubed.ones((1000, 500), chunks=(250, 500), spec=spec)
    block = 250 * 500 * 8
    ends = []

    class Watch(cubed.Callback):
        def on_task_end(self, event):
            ends.append(event)

    def f(b):
        big = np.concatenate([b, b])
        return np.sqrt(big[:250])

    y = cubed.map_blocks(f, x, dtype=float, extra_projected_mem=2 * block)
    y.compute(callbacks=[Watch()], executor=executor)
    assert len(ends) == 4
    for e in ends:
        assert 3 * block <= e.function_mem <= 3 * block + 10_000
        assert e.function_mem <= e.function_projected_mem <= e.projected_mem


def test_worker_processes_hold_functions_to_their_limit(tmp_path):
    spec = cubed.Spec(work_dir=tmp_path, allowed_mem="150MB", reserved_mem="50MB")

    def greedy(block):
        return block + np.ones(100_000_000)[: block.size]

    y = cubed.map_blocks(greedy, cubed.ones(4, spec=spec), dtype=float)
    with pytest.raises(MemoryError, match=r"map_blocks\(greedy\), block \(0,\)"):
        y.compute(executor="processes")


# --- Plans that are saved -------------------------------------------------------------------------


@pytest.mark.parametrize("executor", EXECUTORS)
def test_saved_plans_with_code_need_permission(tmp_path, spec, executor):
    x = cubed.map_blocks(double, cubed.ones(4, chunks=2, spec=spec), dtype=float)
    target = tmp_path / "out.zarr"
    data = Plan([(x._x, {"url": str(target)})], spec, RunOptions(ThreadsExecutor())).save()
    path = tmp_path / "p.cubed"
    path.write_bytes(data)
    done = subprocess.run([BIN, "run", path], capture_output=True, text=True)
    assert done.returncode == 1 and '"python"' in done.stderr
    with pytest.raises(ValueError, match="allow_code"):
        cubed.load_plan(data)
    assert not target.exists()
    loaded = cubed.load_plan(data, allow_code=True, executor=executor)
    assert loaded.num_tasks == 2 and loaded.allowed_mem == 200 * MB
    loaded.execute()
    np.testing.assert_array_equal(cubed.from_zarr(target).compute(), np.full(4, 2.0))


# --- Index notation -------------------------------------------------------------------------------


def product(x, y):
    return np.tensordot(x, y, 1)


def sum_of_products(xs, ys):
    return sum(np.dot(x, y) for x, y in zip(xs, ys, strict=True))


def test_blockwise():
    a, b = np.arange(12.0).reshape(3, 4), np.arange(20.0).reshape(4, 5)
    x, y = cubed.from_array(a, chunks=2), cubed.from_array(b, chunks=(3, 2))
    same(cubed.blockwise(product, "ik", x, "ij", y, "jk", dtype=float, concatenate=True), a @ b)
    same(cubed.blockwise(sum_of_products, "ik", x, "ij", y, "jk"), a @ b)
    same(ops.blockwise(np.transpose, "ji", x, "ij"), a.T)
    same(ops.blockwise(np.add, (0, 1), x, (0, 1), 5, None, dtype=float), a + 5)
    outer = ops.blockwise(np.multiply.outer, "ijk", x, "ij", cubed.arange(3, chunks=2), "k")
    same(outer, np.multiply.outer(a, np.arange(3)))


def test_blockwise_changes_chunks():
    a = np.arange(10)
    x = cubed.from_array(a, chunks=4)
    for adjust in (lambda n: 2 * n, (8, 8, 4)):
        y = ops.blockwise(np.repeat, "i", x, "i", 2, None, adjust_chunks={"i": adjust})
        same(y, np.repeat(a, 2))
        assert y.chunks == ((8, 8, 4),)
    same(ops.blockwise(np.max, "i", x, "i", adjust_chunks={"i": 1}, keepdims=True), [3, 7, 9])
    new = ops.blockwise(
        lambda b: np.stack([b] * 3, 1), "ia", x, "i", new_axes={"a": 3}, dtype=np.int64
    )
    same(new, np.stack([a] * 3, 1))


def test_blockwise_refusals():
    x = cubed.zeros((4, 4), chunks=2)
    with pytest.raises(ValueError, match="in no array"):
        ops.blockwise(double, "iz", x, "ij")
    with pytest.raises(ValueError, match="has 2 axes, but 1 indices"):
        ops.blockwise(double, "i", x, "i")
    with pytest.raises(ValueError, match="extents"):
        ops.blockwise(np.add, "ij", x, "ij", cubed.zeros((4, 5)), "ij")
    with pytest.raises(ValueError, match="twice"):
        ops.blockwise(double, "i", x, "ii")
    with pytest.raises(ValueError, match="in pairs"):
        ops.blockwise(double, "ij", x)


def test_unify_chunks():
    a, b = cubed.zeros((4, 6), chunks=(2, 3)), cubed.zeros(6, chunks=2)
    chunks, (x, y) = cubed.core.unify_chunks(a, "ij", b, "j")
    assert chunks == {"i": (2, 2), "j": (2, 2, 2)}
    assert x.chunks == ((2, 2), (2, 2, 2)) and y.chunks == ((2, 2, 2),)


def test_elemwise():
    a = np.arange(12.0).reshape(3, 4)
    x = cubed.from_array(a, chunks=(2, 3))
    same(ops.elemwise(np.hypot, x, a[0]), np.hypot(a, a[0]))
    same(ops.elemwise(np.add, x, cubed.from_array(a[:, :1]), dtype=float), a + a[:, :1])
    same(ops.elemwise(np.power, x, 2), a**2)


# --- apply_gufunc ---------------------------------------------------------------------------------


def mean_and_deviation(x):
    return x.mean(-1), x.std(-1)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_gufunc_with_several_outputs(executor, spec):
    a = np.random.default_rng(0).normal(size=(5, 7, 9))
    x = cubed.from_array(a, chunks=(2, 3, 9), spec=spec)
    mean, deviation = cubed.apply_gufunc(
        mean_and_deviation, "(i)->(),()", x, output_dtypes=(float, float)
    )
    got = cubed.compute(mean, deviation, executor=executor)
    np.testing.assert_allclose(got[0], a.mean(-1))
    np.testing.assert_allclose(got[1], a.std(-1))
    assert mean.chunks == x.chunks[:2]
    same(deviation, a.std(-1))


def test_gufunc_signatures():
    a = np.arange(24.0).reshape(2, 3, 4)
    x = cubed.from_array(a, chunks=(1, 2, 4))
    same(
        cubed.apply_gufunc(lambda u, v: (u * v).sum(-1), "(i),(i)->()", x, a[0]), (a * a[0]).sum(-1)
    )
    outer = cubed.apply_gufunc(
        lambda u, v: u[..., :, None] * v[..., None, :], "(i),(j)->(i,j)", x, np.arange(5.0)
    )
    same(outer, a[..., :, None] * np.arange(5.0))
    wider = cubed.apply_gufunc(
        lambda u: np.repeat(u, 2, -1), "(i)->(k)", x, output_sizes={"k": 8}, output_dtypes=float
    )
    same(wider, np.repeat(a, 2, -1))
    (only,) = cubed.apply_gufunc(lambda u: (u.sum(-1),), "(i)->(),", x)
    same(only, a.sum(-1))
    same(cubed.apply_gufunc(lambda u, v: u + v, "(),()->()", x, 1.0), a + 1)


def test_gufunc_vectorize():
    a = np.arange(24.0).reshape(2, 3, 4)
    x = cubed.from_array(a, chunks=(1, 2, 4))

    def spread(row):
        assert row.ndim == 1
        return row.max() - row.min()

    same(cubed.apply_gufunc(spread, "(i)->()", x, vectorize=True), np.ptp(a, -1))
    same(
        cubed.apply_gufunc(spread, "(i)->()", x, vectorize=True, output_dtypes=[float]),
        np.ptp(a, -1),
    )
    both = cubed.apply_gufunc(lambda u, v: u + v, "(),()->()", x, a, vectorize=True)
    same(both, a + a)


def test_gufunc_axes():
    a = np.arange(24.0).reshape(2, 3, 4)
    x = cubed.from_array(a, chunks=(2, 3, 2))

    def total(u):
        return u.sum(-1)

    same(cubed.apply_gufunc(total, "(i)->()", x, axis=1), a.sum(1))
    same(cubed.apply_gufunc(total, "(i)->()", x, axis=1, keepdims=True), a.sum(1, keepdims=True))
    same(cubed.apply_gufunc(total, "(i)->()", x, axes=[(0,), ()]), a.sum(0))
    same(cubed.apply_gufunc(total, "(i)->()", x, axes=[0]), a.sum(0))
    turned = cubed.apply_gufunc(
        lambda u: u[..., ::-1], "(i)->(i)", x, axes=[(0,), (2,)], output_dtypes=float
    )
    same(turned, np.moveaxis(a, 0, -1)[..., ::-1])
    cumulative = cubed.apply_gufunc(lambda u: np.cumsum(u, -1), "(i)->(i)", x, axis=0)
    same(cumulative, np.cumsum(a, 0))
    both = cubed.apply_gufunc(
        lambda u: u.sum((-2, -1)), "(i,j)->()", x, axes=[(0, 2), ()], allow_rechunk=True
    )
    same(both, a.sum((0, 2)))


def test_gufunc_refusals():
    x = cubed.zeros((4, 6), chunks=2)

    def total(u):
        return u.sum(-1)

    with pytest.raises(ValueError, match="allow_rechunk"):
        cubed.apply_gufunc(total, "(i)->()", x)
    same(cubed.apply_gufunc(total, "(i)->()", x, allow_rechunk=True), np.zeros(4))
    with pytest.raises(ValueError, match="signature"):
        cubed.apply_gufunc(total, "i->()", x)
    with pytest.raises(ValueError, match="1 inputs, but there are 2"):
        cubed.apply_gufunc(total, "(i)->()", x, x)
    with pytest.raises(ValueError, match="output_sizes lacks"):
        cubed.apply_gufunc(total, "(i)->(j)", x, allow_rechunk=True)
    with pytest.raises(ValueError, match="extents 6 and 5"):
        cubed.apply_gufunc(np.dot, "(i),(i)->()", x, np.zeros(5), allow_rechunk=True)
    with pytest.raises(ValueError, match="output_dtypes has 2"):
        cubed.apply_gufunc(total, "(i)->()", x, output_dtypes=(int, int), allow_rechunk=True)


def test_as_gufunc():
    @cubed.as_gufunc("(i)->()", output_dtypes=float, allow_rechunk=True)
    def spread(x, times=1):
        """Largest less smallest."""
        return times * np.ptp(x, -1)

    a = np.arange(12.0).reshape(3, 4)
    assert spread.__doc__ == "Largest less smallest."
    same(spread(cubed.from_array(a, chunks=2), times=2), 2 * np.ptp(a, -1))


# --- Trees of calls -------------------------------------------------------------------------------


def sums(x, axis, keepdims):
    return {
        "n": np.ones_like(x, np.int64).sum(axis, keepdims=keepdims),
        "total": x.sum(axis, keepdims=keepdims),
    }


def add_sums(state, axis, keepdims):
    return {name: part.sum(axis, keepdims=keepdims) for name, part in state.items()}


def quotient(state):
    return state["total"] / state["n"]


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2), (-1,)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reduction(axis, keepdims):
    a = np.random.default_rng(1).integers(0, 100, (7, 9, 11)).astype(float)
    x = cubed.from_array(a, chunks=(2, 1, 3))
    axes = {"axis": axis, "keepdims": keepdims}
    same(ops.reduction(x, np.max, **axes), a.max(**axes))
    same(ops.reduction(x, np.sum, split_every=2, dtype=float, **axes), a.sum(**axes))
    mean = ops.reduction(x, sums, add_sums, quotient, **axes)
    np.testing.assert_allclose(mean.compute(), a.mean(**axes))
    structured = [("n", "i8"), ("total", "f8")]
    executor = "processes" if axis is None else "threads"
    given = ops.reduction(
        x, sums, add_sums, quotient, intermediate_dtype=structured, dtype=float, **axes
    )
    np.testing.assert_array_equal(given.compute(executor=executor), mean.compute())


def first_two(x, axis, keepdims):
    return np.sort(x, axis[0])[:2]


def test_reduction_with_wide_parts():
    a = np.random.default_rng(2).normal(size=(40, 3))
    x = cubed.from_array(a, chunks=(4, 2))

    def second(state):
        return state[1:2]

    y = ops.reduction(x, first_two, None, second, axis=0, combine_sizes={0: 2}, dtype=float)
    same(y, np.sort(a, 0)[1])


def test_reduction_refusals():
    x = cubed.zeros((4, 4), chunks=2)
    with pytest.raises(ValueError, match="combine_func"):
        ops.reduction(x, sums)
    with pytest.raises(ValueError, match="at least 2"):
        ops.reduction(x, np.sum, split_every={0: 1}, axis=0)
    with pytest.raises(IndexError):
        ops.reduction(x, np.sum, axis=2)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_arg_reduction(axis, keepdims):
    a = np.random.default_rng(3).integers(0, 9, (8, 17)).astype(float)
    x = cubed.from_array(a, chunks=(3, 2))
    for function in (np.argmax, np.argmin):  # ties go to the first
        y = ops.arg_reduction(x, function, axis, keepdims=keepdims, split_every=2)
        same(y, function(a, axis, keepdims=keepdims))


@pytest.mark.parametrize("axis", [0, 1])
def test_scan(axis):
    a = np.arange(60).reshape(6, 10)
    x = cubed.from_array(a, chunks=(4, 3))
    same(ops.scan(x, np.cumsum, preop=np.sum, binop=np.add, axis=axis), np.cumsum(a, axis))
    same(
        ops.scan(x, np.maximum.accumulate, preop=np.max, binop=np.maximum, axis=axis),
        np.maximum.accumulate(a, axis),
    )
    same(
        ops.scan(x.rechunk(-1), np.cumsum, preop=np.sum, binop=np.add, axis=axis),
        np.cumsum(a, axis),
    )


def test_apply_along_axis():
    a = np.arange(24.0).reshape(2, 3, 4)
    x = cubed.from_array(a, chunks=(1, 2, 3))
    for axis in range(3):
        same(cubed.apply_along_axis(np.ptp, axis, x), np.ptp(a, axis))
        same(cubed.apply_along_axis(np.cumsum, axis, x), np.cumsum(a, axis))
        expected = np.apply_along_axis(np.outer, axis, a, [1.0, 2.0])
        same(cubed.apply_along_axis(np.outer, axis, x, [1.0, 2.0]), expected)


def test_what_is_traced_after_users_functions_goes_on():
    """Debuggers and coverage: Python must not look for an exception that nobody raises."""
    code = (
        "import sys, cubed\n"
        "x = cubed.map_blocks(lambda a: a + 1, cubed.ones((4,), chunks=2), dtype='f8')\n"
        "x.compute(executor='single-threaded')\n"
        "sys.settrace(lambda *event: None)\n"
        "print((lambda: 'done')())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "done\n", done.stderr
