"""The memory that a refusal advises is enough: the same computation can be planned with it."""

import random
import re

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
import xarray as xr
from conftest import cases, check, run
from cubed.array._first import computed_first, computes_first


def _source(shape, chunks, spec):
    """Virtual, or in memory. The same elements each time, as numbers of them decide on memory."""
    if sum(shape) % 2:
        return cubed.random.random(shape, chunks=chunks, seed=7, spec=spec)
    ones = np.broadcast_to(np.float64(1.5), shape)
    return cubed.from_array(ones, chunks=chunks, spec=spec)


def _shape(rng, ndim, most):
    shape = tuple(int(10 ** rng.uniform(1, np.log10(most))) for _ in range(ndim))
    return shape, tuple(max(1, int(n * rng.choice([1, 0.5, 0.3, 0.1]))) for n in shape)


def _grid(rng, shape):
    return tuple(max(1, int(n * rng.choice([1, 0.5, 0.3, 0.1]))) for n in shape)


def _one(function, ndim, most):
    def make(rng):
        shape, chunks = _shape(rng, ndim, most)
        return lambda spec: function(_source(shape, chunks, spec))

    return make


def _rechunked(rng):
    shape, chunks = _shape(rng, 3, 400)
    to = _grid(rng, shape)
    return lambda spec: xp.sum(cubed.rechunk(_source(shape, chunks, spec), to) * 2, axis=1)


def _matmul(rng):
    (n, k), chunks = _shape(rng, 2, 2000)
    m = rng.randrange(10, 2000)
    return lambda spec: xp.matmul(
        _source((n, k), chunks, spec), _source((k, m), (chunks[1], max(1, m // 3)), spec)
    )


def _tall(rng):
    shape = (rng.randrange(50, 5000), rng.randrange(20, 300))
    chunks = (max(1, shape[0] // rng.choice([1, 4])), shape[1])
    return lambda spec: xp.linalg.svd(_source(shape, chunks, spec), full_matrices=False)[1]


def _square(function):
    def make(rng):
        n = rng.randrange(20, 300)
        chunks = (max(1, n // rng.choice([1, 2, 5])),) * 2
        return lambda spec: function(_source((n, n), chunks, spec))

    return make


def _blocks(rng):
    shape, chunks = _shape(rng, 2, 3000)
    extra = rng.choice([0, 10**6])
    return lambda spec: cubed.map_blocks(
        np.sin, _source(shape, chunks, spec), dtype="float64", extra_projected_mem=extra
    )


def _overlapping(rng):
    shape, chunks = _shape(rng, 2, 3000)
    chunks = tuple(max(2, c) for c in chunks)
    return lambda spec: cubed.map_overlap(
        np.sin, _source(shape, chunks, spec), dtype="float64", depth=2, boundary="reflect"
    )


def _several(rng):
    shape, chunks = _shape(rng, 2, 3000)

    def make(spec):
        x = _source(shape, chunks, spec)
        return xp.sort(x, axis=0) + xp.mean(x, axis=1, keepdims=True)

    return make


def _members(rng):
    shape, chunks = _shape(rng, 2, 3000)
    n = rng.randrange(10, 10**5)
    whole = rng.random() < 0.3

    def make(spec):
        x, among = _source(shape, chunks, spec), _source((n,), (max(1, n // 3),), spec)
        if whole:  # int64 in uint64
            x, among = xp.astype(x * 9, "int64"), xp.astype(among * 9, "uint64")
        return xp.isin(x, among, invert=n % 2 == 0)

    return make


def _found(rng):
    shape, chunks = _shape(rng, 2, 3000)
    n = rng.randrange(10, 10**5)
    return lambda spec: xp.searchsorted(
        xp.sort(_source((n,), (max(1, n // 3),), spec)), _source(shape, chunks, spec)
    )


def _taken(rng):
    shape, chunks = _shape(rng, 2, 3000)
    n, axis = rng.randrange(1, 5000), rng.randrange(2)
    where = np.arange(n, dtype="int64") * 7919 % shape[axis]
    return lambda spec: xp.take(_source(shape, chunks, spec), xp.asarray(where), axis=axis)


def _moved(rng):
    shape, chunks = _shape(rng, 2, 3000)
    return lambda spec: xp.cumulative_sum(
        xp.sort(xp.permute_dims(_source(shape, chunks, spec), (1, 0)), axis=1), axis=0
    )


def _counted(rng):
    shape, chunks = _shape(rng, 1, 10**6)
    return lambda spec: cubed.histogram(_source(shape, chunks, spec), bins=100, range=(0, 2))[0]


def _labelled(function):
    """Of Xarray's arrays, whose methods cut blocks for the memory of tasks."""

    def of_array(x):
        dims = [f"d{k}" for k in range(x.ndim)]
        return function(xr.DataArray(x, dims=dims, coords={"d0": np.arange(x.shape[0])})).data

    return _one(of_array, 2, 1500)


def _each_line(x):
    return cubed.apply_gufunc(
        np.sum, "(i)->()", x, output_dtypes=float, vectorize=True, allow_rechunk=True
    )


CASES = {
    "mean": _one(lambda x: xp.mean(x, axis=0), 3, 400),
    "elementwise": _one(lambda x: xp.sqrt(x * x + 1), 2, 4000),
    "rechunk": _rechunked,
    "sort": _one(lambda x: xp.sort(x, axis=0), 2, 3000),
    "fft": _one(lambda x: xp.fft.fft(xp.astype(x, "complex128"), axis=0), 2, 3000),
    "median": _one(lambda x: cubed.median(x, axis=0), 2, 4000),
    "cumulative_sum": _one(lambda x: xp.cumulative_sum(x, axis=0), 2, 4000),
    "reshape": _one(lambda x: xp.reshape(x, (-1,)) * 2, 3, 200),
    "matmul": _matmul,
    "svd": _tall,
    "cholesky": _square(xp.linalg.cholesky),
    "inv": _square(xp.linalg.inv),
    "map_blocks": _blocks,
    "map_overlap": _overlapping,
    "several": _several,
    "isin": _members,
    "searchsorted": _found,
    "take": _taken,
    "moved": _moved,
    "histogram": _counted,
    "argsort": _one(lambda x: xp.argsort(x, axis=-1, descending=True), 2, 3000),
    "sort_line": _one(lambda x: xp.sort(xp.reshape(x, (-1,))), 2, 1500),
    "quantile": _one(lambda x: cubed.quantile(x, [0.1, 0.5], axis=None), 2, 2000),
    "var": _one(lambda x: xp.var(x, axis=(0, 2)), 3, 400),
    "argmax": _one(lambda x: xp.argmax(x, axis=0), 2, 4000),
    "diff": _one(lambda x: xp.diff(x, axis=1, n=2), 2, 3000),
    "pad": _one(lambda x: cubed.pad(x, 3, mode="reflect"), 2, 3000),
    "gradient": _one(lambda x: cubed.gradient(x, axis=0), 2, 3000),
    "unique": _one(lambda x: xp.unique_counts(xp.round(x * 3))[1], 1, 10**5),
    "nonzero": _one(lambda x: xp.nonzero(x + 1)[1], 2, 1000),
    "masked": _one(lambda x: x[x >= 0], 2, 1000),
    "argwhere": _one(lambda x: cubed.argwhere(x > 0.9), 2, 800),
    "bincount": _one(lambda x: cubed.bincount(xp.astype(x * 9, "int64")), 1, 10**6),
    "histogram_of_bins": _one(lambda x: cubed.histogram(x, bins=20)[0], 1, 10**6),
    "unique_of_sorted": _one(lambda x: xp.unique_inverse(xp.sort(xp.round(x * 9)))[1], 1, 10**5),
    "vectorized": _one(_each_line, 2, 1500),
    "blocks_of_sorted": _one(
        lambda x: cubed.map_blocks(np.sin, xp.sort(x, axis=0), dtype=float), 2, 3000
    ),
    "rolling_median": _labelled(lambda a: a.rolling(d0=5).median()),
    "rolling_argmax": _labelled(lambda a: a.rolling(d0=3).argmax()),
    "rolling_reduce": _labelled(lambda a: a.rolling(d0=4, d1=3).reduce(np.ptp)),
    "rank": _labelled(lambda a: a.rank("d0")),
    "interpolate_na": _labelled(lambda a: a.where(a > 0.1).interpolate_na("d0", method="akima")),
    "polyfit": _labelled(
        lambda a: a.where(a > 0.1).polyfit("d0", 1, skipna=True).polyfit_coefficients
    ),
    "group_scan": _labelled(lambda a: a.groupby(a.d0 % 5).cumsum()),
    "strings": _labelled(lambda a: a.astype("U6").str.cat("abc")),
    "parts_of_strings": _labelled(lambda a: a.astype("U6").str.split("p", ".", maxsplit=2)),
    "tensordot": _one(lambda x: xp.tensordot(x, x, axes=((0, 2), (0, 2))), 3, 100),
}


# They run to know how much there is; worker processes need more than these allowances to start.
RUN_FIRST = (
    "unique", "nonzero", "masked", "argwhere", "bincount", "histogram_of_bins", "unique_of_sorted",
    "parts_of_strings",
)  # fmt: skip


def _advised(error: MemoryError) -> int:
    """What the message says to allow."""
    found = re.search(r"allow at least (\d+) bytes", str(error))
    assert found is not None, str(error)
    return int(found[1])


@pytest.mark.parametrize("name", CASES)
def test_what_a_refusal_says_to_allow_is_enough(name):
    rng = random.Random(name)
    refused = 0
    for _ in range(cases(3)):
        make = CASES[name](rng)
        allowed = int(10 ** rng.uniform(5.2, 6.8))
        limits = {}
        if rng.random() < 0.4:
            limits["reserved_mem"] = int(allowed * rng.uniform(0, 0.5))
        executor = rng.choice(["threads", "single-threaded", "processes"])
        if name in RUN_FIRST and executor == "processes":
            executor = "threads"
        if executor != "single-threaded":
            limits["executor_options"] = {"max_workers": rng.choice([1, 2, 4])}

        def spec(mem, executor=executor, limits=limits):
            return cubed.Spec(allowed_mem=mem, executor_name=executor, **limits)

        try:
            make(spec(allowed)).plan()
        except MemoryError as error:
            refused += 1
            make(spec(_advised(error))).plan()
    assert refused or name != "map_blocks"


@pytest.mark.parametrize("shape", [(3000, 100), (1000, 200), (5000, 400)])
def test_tall_matrices_that_fit_also_fit_with_more_memory(shape):
    fitted = []
    for mem in (int(2e5 * 1.4**k) for k in range(16)):
        spec = cubed.Spec(allowed_mem=mem, reserved_mem=0)
        x = cubed.random.random(shape, chunks=(shape[0] // 4, shape[1]), spec=spec)
        try:
            xp.linalg.svd(x, full_matrices=False)[1].plan()
            fitted.append(True)
        except MemoryError:
            fitted.append(False)
    assert fitted == sorted(fitted)
    # Three blocks of twice as many rows as columns, and what makes their factors.
    assert fitted[-1] and 2e5 * 1.4 ** fitted.index(True) < 40 * shape[1] ** 2 * 8


def _grid_text(rng, shape):
    return "(" + ", ".join(str(n) for n in _grid(rng, shape)) + ",)"


def _stored(rng, ndim, most):
    shape = tuple(int(10 ** rng.uniform(1, np.log10(most))) for _ in range(ndim))
    return f"rechunk(random({shape}, seed=1), {_grid_text(rng, shape)})", shape


def _of_command(text, ndim, most):
    return lambda rng: text.format(x=_stored(rng, ndim, most)[0])


def _square_text(text):
    def make(rng):
        n = rng.randrange(20, 400)
        chunks = max(1, n // rng.choice([1, 2, 5]))
        return text.format(x=f"rechunk(random(({n}, {n}), seed=1), ({chunks}, {chunks}))")

    return make


def _rechunk_text(rng):
    x, shape = _stored(rng, 3, 300)
    return f"sum(rechunk({x}, {_grid_text(rng, shape)}) * 2, axis=1)"


def _matmul_text(rng):
    n, k, m = (rng.randrange(10, 2000) for _ in range(3))
    grids = [_grid_text(rng, s) for s in ((n, k), (k, m))]
    a, b = f"random(({n}, {k}), seed=1)", f"random(({k}, {m}), seed=2)"
    return f"matmul(rechunk({a}, {grids[0]}), rechunk({b}, {grids[1]}))"


COMMANDS = {
    "transform": _of_command("abs(fft({x}))", 1, 3e6),
    "transform_of_columns": _of_command("abs(fft({x}, axis=0))", 2, 3000),
    "sort": _of_command("sort({x})", 1, 2e6),
    "argsort": _of_command("argsort({x}, axis=0)", 2, 3000),
    "median": _of_command("median({x}, axis=0)", 2, 4000),
    "cumsum": _of_command("cumsum({x}, axis=0) + mean({x}, axis=0)", 2, 3000),
    "elementwise": _of_command("sqrt({x}) * 2", 2, 4000),
    "rechunk": _rechunk_text,
    "matmul": _matmul_text,
    "inv": _square_text("inv({x})"),
    "svdvals": _square_text("svdvals({x})"),
    "det_of_transform": _square_text("det(real(fft({x}, axis=0)))"),
    "unique": _of_command("unique_values(round({x} * 9))", 1, 1e5),
    "unique_inverse": _of_command("v, i = unique_inverse(round({x} * 99))", 1, 1e5),
    "nonzero": _of_command("i, j = nonzero({x} > 0.7)", 2, 1000),
    "compress_sorted": _of_command("sort(compress({x}, {x} > 0.3))", 1, 1e5),
    "nonzero_of_sorted": _of_command("nonzero(sort({x}) > 0.5)", 1, 1e5),
    "groups": _of_command("mean({x}, groupby=astype({x}[0] * 5, 'int64'), axis=1)", 2, 1000),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_the_command_says_to_allow_is_enough(name):
    rng = random.Random(name)
    refused = 0
    for _ in range(20 * cases(2)):
        if refused == cases(2):
            break
        text = COMMANDS[name](rng)
        allowed = int(10 ** rng.uniform(3.3, 6.3))
        limits = ["--reserved-mem", int(allowed * rng.choice([0, 0, 0.3]))]
        limits += ["--max-workers", rng.choice([1, 2, 4]), "--plan"]
        first = run("eval", text, "--allowed-mem", allowed, *limits)
        if first.code == 0:
            continue
        refused += 1
        assert "allow at least" in first.err, (text, allowed, limits, first.err)
        advised = first.err.rsplit("--allowed-mem ", 1)[1].strip()
        second = run("eval", text, "--allowed-mem", advised, *limits)
        assert second.code == 0, (text, allowed, limits, first.err, second.err)
    assert refused


def test_arrays_are_made_again_for_the_advice():
    def plan(mem):
        spec = cubed.Spec(allowed_mem=mem, reserved_mem=0, executor_name="single-threaded")
        x = cubed.random.random((1200, 1200), chunks=(300, 300), spec=spec)
        outer, inner = xp.linalg.qr(x)
        parts = xp.concat([outer, inner], axis=0)
        return cubed.plan(xp.linalg.svdvals(parts[:1200]), xp.mean(parts, axis=0))

    with pytest.raises(MemoryError) as refused:
        plan(300_000)
    advised = refused.value.enough_mem
    found = re.search(r"; (\d+) bytes would do, but the run would read", str(refused.value))
    least = int(found[1]) if found else advised
    # Singular values of arrays that were made for 300 kB would need more than 30 MB.
    assert least < 10_000_000
    for mem in (least, advised):
        assert plan(mem).max_projected_mem <= mem


def test_long_chains_are_made_again():
    def chain(mem):
        spec = cubed.Spec(allowed_mem=mem, reserved_mem=0, executor_name="single-threaded")
        x = xp.sort(cubed.random.random((20_000,), chunks=(2000,), spec=spec))
        for _ in range(3000):
            x = xp.negative(x)
        return x

    with pytest.raises(MemoryError) as refused:
        chain(20_000).plan()
    chain(refused.value.enough_mem).plan()


def _sorted_line(mem):
    spec = cubed.Spec(allowed_mem=mem, reserved_mem=0, executor_name="single-threaded")
    return xp.sort(cubed.random.random((150_875,), chunks=150_875, spec=spec)).plan()


def _requests(plan):
    return sum(s["chunks_read"] + s["chunks_written"] for s in plan.stages)


def test_advice_is_not_the_edge_of_a_cliff():
    with pytest.raises(MemoryError) as refused:
        _sorted_line(12_524)
    advised = refused.value.enough_mem
    least = int(re.search(r"; (\d+) bytes would do, but the run would read", str(refused.value))[1])
    assert least < advised <= 4 * least
    edge, knee = _sorted_line(least), _sorted_line(advised)
    assert _requests(edge) > 10 * _requests(knee)


CLIFF = "fft(complex128(rechunk(random((14475, 320), seed=1), (14475, 32))), axis=0)"


def test_plans_on_a_cliff_say_so(tmp_path):
    limits = ("--reserved-mem", 0, "--max-workers", 1, "--plan")
    on = run("eval", CLIFF, "--allowed-mem", 566_047, *limits)
    found = re.search(
        r"warning: the run reads and writes .* in (\d+) requests; if (\d+) bytes of memory are"
        r" allowed, it reads and writes .* in (\d+) requests\n",
        on.err,
    )
    requests, more, then = (int(n) for n in found.groups())
    assert on.code == 0 and then * 10 < requests and 566_047 < more <= 566_047 * 1.25
    off = run("eval", CLIFF, "--allowed-mem", more, *limits)
    assert f"{then} requests" in off.out and "warning" not in off.err

    spec = cubed.Spec(allowed_mem=566_047, reserved_mem=0, executor_name="single-threaded")
    x = cubed.random.random((14475, 320), chunks=(14475, 32), spec=spec)
    with pytest.warns(RuntimeWarning, match="the run reads and writes"):
        xp.fft.fft(xp.astype(x, "complex128"), axis=0).plan()


def test_a_transform_of_which_no_part_fits_is_refused_with_advice():
    def plan(mem):
        spec = cubed.Spec(allowed_mem=mem, reserved_mem=0, executor_name="single-threaded")
        x = cubed.random.random((381, 334), chunks=(381, 33), spec=spec)
        return xp.fft.fft(xp.astype(x, "complex128"), axis=0).plan()

    with pytest.raises(MemoryError) as refused:
        plan(17_896)
    plan(refused.value.enough_mem)


def test_regions_are_advised_once(tmp_path):
    check(run("eval", "x = random((400, 300), seed=1)", "--out", tmp_path / "a.zarr"))
    args = ("eval", "sort(random((400, 300), seed=2), axis=0)")
    into = ("--out", f"{tmp_path}/a.zarr::x", "--region", "0:400,0:300", "--plan")
    limits = ("--reserved-mem", 0, "--max-workers", 1)
    refused = run(*args, *into, *limits, "--allowed-mem", "20kB")
    assert refused.code == 1
    advised = refused.err.rsplit("--allowed-mem ", 1)[1].strip()
    assert run(*args, *into, *limits, "--allowed-mem", advised).code == 0


def _single(mem):
    return cubed.Spec(allowed_mem=mem, reserved_mem=0, executor_name="single-threaded")


def _line(spec):
    return cubed.random.random((30_000,), chunks=3000, seed=7, spec=spec)


def _refused(make, mem):
    with pytest.raises(MemoryError) as refused:
        make(_single(mem))
    return refused.value


#: Several numbers, one after another, and results of these numbers.
EXPRESSIONS = [
    "i, j = nonzero(sort(x, axis=0) > 0.5); k = sort(unique_values(x))",
    "v, c = unique_counts(round(x * 99)); w = compress(sort(v), sort(v) > 50)",
    "i, j = nonzero(real(fft(x, axis=0)) > 0)",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
@pytest.mark.parametrize("mem", [9000, 40_000])
def test_numbers_and_results_of_expressions_are_advised_once(text, mem):
    def plan(spec):
        x = cubed.random.random((600, 300), chunks=(100, 100), seed=7, spec=spec)
        made = cubed.eval(text, x=x)
        return cubed.plan(*made.values())

    plan(_single(_advised(_refused(plan, mem))))


def test_numbers_that_were_computed_before_the_refusal_are_known():
    """The second number is refused: elements of the result are as many as the first one says."""
    x = cubed.arange(100_000, chunks=1000, spec=_single(60_000))
    calls = []

    @computes_first
    def positions(spec):
        (few,) = computed_first([xp.sum(xp.astype(x < 40, xp.int64))], [10**6])
        calls.append(int(few))
        large = cubed.ones((100, 4000), chunks=(100, 4000), spec=spec)
        computed_first([xp.max(cubed.map_blocks(np.sin, large, dtype=float))], [0])
        return cubed.ones((int(few),), chunks=int(few), spec=spec)

    error = _refused(positions, 60_000)
    assert calls == [40, 40] and "allow at least" in str(error)


def test_refusals_say_for_what_their_advice_holds():
    of_results = "; later computations with this result may need more"
    error = _refused(lambda spec: _line(spec)[_line(spec) > 0.5], 9000)
    assert str(error).endswith(of_results)
    mask = _single(_advised(error))
    _line(mask)[_line(mask) > 0.5].plan()

    # Xarray computes an element before the rest, without telling.
    for number in (bool, np.asarray, xr.Variable.item):
        error = _refused(lambda spec, f=number: f(xr.Variable((), xp.max(_line(spec)))), 3000)
        assert str(error).endswith(of_results)
    error = _refused(lambda spec: _line(spec).compute(), 3000)
    assert str(error).endswith("make the chunks smaller")

    of_numbers = "computed first: results depend on them, and may need more"
    error = _refused(lambda spec: cubed.bincount(xp.astype(_line(spec) * 9, "int64")), 3000)
    assert str(error).endswith(of_numbers)


def test_the_command_says_for_what_its_advice_holds():
    x = "rechunk(arange(100000), (10000,))"
    limits = ("--reserved-mem", 0, "--max-workers", 1, "--plan")
    # As many elements as there may be do not fit the 10 that there are.
    text = f"x = compress({x}, {x} < 10) + arange(10)"
    refused = run("eval", text, "--allowed-mem", 3000, *limits)
    assert refused.code == 1
    assert "computed first: results depend on them, and may need more\n" in refused.err
    for _ in range(2):  # the numbers, then the results
        advised = refused.err.rsplit("--allowed-mem ", 1)[1].strip()
        refused = run("eval", text, "--allowed-mem", advised, *limits)
    assert refused.code == 0
    refused = run("eval", f"x = compress({x}, {x} < 10)", "--allowed-mem", 3000, *limits)
    assert refused.code == 1 and "computed first" not in refused.err
