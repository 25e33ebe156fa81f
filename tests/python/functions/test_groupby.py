"""Compares reductions by group with plain loops over NumPy arrays, pandas and flox."""

import cubed
import flox
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import check, run, the_same_bits
from cubed.core.groupby import groupby_reduction

import zarr

NAMES = "count sum prod mean var std min max any all first last argmin argmax".split()
NAN_NAMES = [f"nan{n}" for n in NAMES if n not in ("any", "all")]


def reduce_group(name, x, positions, ddof=0):
    """One group: x is (elements, ...), in order, at these positions; NaN or -1 of nothing."""
    skip = name.startswith("nan")
    name = name.removeprefix("nan")
    missing = np.isnan(x) if x.dtype.kind in "fmM" else np.zeros(x.shape, bool)
    if x.dtype.kind in "mM":
        missing = np.isnat(x)
    there = ~missing if skip else np.ones(x.shape, bool)
    n = there.sum(axis=0)
    wide = x.astype("f8") if x.dtype.kind == "f" else x
    if name == "count":
        return n
    if name == "sum":
        return np.where(there, wide, 0).sum(axis=0)
    if name == "prod":
        return np.where(there, wide, 1).prod(axis=0)
    if name in ("any", "all"):
        return getattr(np, name)(x.astype(bool), axis=0)
    if name in ("mean", "var", "std"):
        values = np.where(there, wide, 0).astype("f8")
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = values.sum(axis=0) / n
            if name == "mean":
                return mean
            squares = (np.where(there, wide - mean, 0).astype("f8") ** 2).sum(axis=0)
            var = np.where(n > ddof, squares / np.where(n > ddof, n - ddof, 1), np.nan)
        return var if name == "var" else np.sqrt(var)
    at = None
    if len(x) == 0:
        pass
    elif name in ("first", "last"):
        order = np.arange(len(x)) if name == "first" else np.arange(len(x))[::-1]
        at = order[np.argmax(there[order], axis=0)]
    else:
        numbers = x.astype("i8") if x.dtype.kind in "bmM" else x
        least = name.endswith("min")
        if np.dtype(numbers.dtype).kind == "f":
            worst = np.inf if least else -np.inf
            best = -np.inf if least else np.inf
        else:
            info = np.iinfo(numbers.dtype)
            worst, best = (info.max, info.min) if least else (info.min, info.max)
        ranked = np.where(missing, worst if skip else best, numbers)
        # What is missing wins also against an infinity before it.
        first_missing = np.argmax(missing, axis=0)
        pick = np.argmin if least else np.argmax
        at = pick(ranked, axis=0)
        if not skip:
            at = np.where(missing.any(axis=0), first_missing, at)
    nothing = {"m": "NaT", "M": "NaT", "f": np.nan}.get(x.dtype.kind, 0)
    arg = name.startswith("arg")
    if at is None:
        return np.full(x.shape[1:], -1 if arg else nothing, "i8" if arg else x.dtype)
    if arg:
        return np.where(n > 0, positions[at], -1)
    value = np.take_along_axis(x, np.asarray(at)[None], axis=0)[0]
    return np.where(n > 0, value, np.array(nothing, x.dtype))


def groupby(name, x, codes, axes, ngroups, ddof=0):
    """The axis of groups in place of the first of `axes`."""
    first = min(axes)
    kept = [d for d in range(x.ndim) if d not in axes]
    flat = np.transpose(x, [*axes, *kept]).reshape(-1, *(x.shape[d] for d in kept))
    codes = codes.reshape(-1)
    rows = []
    for g in range(ngroups):
        at = np.nonzero(codes == g)[0]
        rows.append(reduce_group(name, flat[at], at, ddof))
    return np.moveaxis(np.stack(rows), 0, first)


def close(got, expected, rtol=1e-12):
    assert got.shape == expected.shape
    if got.dtype.kind == "f":
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol)
    else:
        np.testing.assert_array_equal(got, expected)


@pytest.fixture
def numbers():
    rng = np.random.default_rng(5)
    x = rng.standard_normal((120, 7, 9))
    x[rng.random(x.shape) < 0.2] = np.nan
    codes = rng.integers(-1, 6, 120)
    codes[codes == 3] = 2  # group 3 is empty
    x[codes == 4, 2, 2] = np.nan  # and this one has nothing but NaN in one place
    return x, codes


def save(path, chunks=None, **arrays):
    args = []
    for name, a in arrays.items():
        z = zarr.create_array(
            str(path / name), shape=a.shape, chunks=chunks or a.shape, dtype=a.dtype
        )
        z[...] = a
        chunks = None  # of the first one
        args += ["--in", f"{name}={path / name}"]
    return args


def evaluated(text, args):
    return check(run("eval", text, *args, "--json", "--progress", "none")).array()


def test_command_groups_by_codes(tmp_path, numbers):
    x, codes = numbers
    args = save(tmp_path, (8, 4, 9), x=x, codes=codes)
    names = [*NAMES, *NAN_NAMES]
    calls = (f'{n}_=groupby(x, codes, "{n}", axis=0, ngroups=6)' for n in names)
    got = check(run("eval", "; ".join(calls), *args, "--json", "--progress", "none"))
    for name in names:
        close(got.arrays()[f"{name}_"], groupby(name, x, codes, (0,), 6))
    assert got.run["measured_mem"] <= got.run["projected_mem"]


def test_command_has_the_same_bits_however_it_runs(tmp_path, numbers):
    x, codes = numbers
    args = save(tmp_path, (4, 7, 9), x=x.astype("f4"), codes=codes)
    the_same_bits(
        'groupby(x * 3, codes, "nanvar", axis=0, ngroups=6, ddof=1);'
        ' groupby(x, codes, "nansum", axis=0, ngroups=6);'
        ' groupby(x, codes, "argmax", axis=0, ngroups=6)',
        *args,
    )


def test_command_finds_labels(tmp_path):
    rng = np.random.default_rng(1)
    x = rng.integers(-9, 9, (5, 40))
    labels = rng.choice([10.5, -3.0, np.nan, 7.0], 40)
    args = save(tmp_path, (2, 16), x=x, labels=labels)
    found = evaluated("group_labels(labels)", args[2:])
    np.testing.assert_array_equal(found, [-3.0, 7.0, 10.5])
    codes = np.where(np.isnan(labels), -1, np.searchsorted(found, labels))
    for name in ("sum", "first", "argmin"):
        got = evaluated(f'groupby(x, labels, "{name}", axis=1)', args)
        close(got, groupby(name, x, codes, (1,), 3))


def test_command_says_what_is_wrong(tmp_path):
    args = save(tmp_path, (4, 3), x=np.ones((4, 3)), by=np.array([0, 1, 2, 1]))
    for text, message in (
        ('groupby(x, by, "mode")', "'mode', expected one of 'count', 'nancount', 'sum'"),
        ('groupby(x, by, "sum", axis=1)', "4 codes for the 3 elements of axis 1"),
        ('groupby(x, x, "sum", axis=0)', "have 2 dimensions for 1 axes"),
        ('groupby(x, by * 1.5, "sum", ngroups=2)', "codes are float64, expected integers"),
        ('groupby(x, by, "nanary")', "'nanary' (did you mean \"nanvar\"?), expected one of"),
        ('groupby(x, by, "sum", ngroups=2)', "has group 2, expected less than 2"),
    ):
        failed = run("eval", text, *args, "--progress", "none")
        assert failed.code != 0 and message in failed.err, failed.err


# --- The package ----------------------------------------------------------------------------------


@pytest.fixture
def spec(tmp_path):
    return cubed.Spec(work_dir=tmp_path, allowed_mem="40MB", reserved_mem="10MB")


class Measured(cubed.Callback):
    """Measured and projected memory of each task."""

    def __init__(self, history):
        self.history = history

    def on_task_end(self, event):
        self.history.append((event.peak_measured_mem_end, event.projected_mem))


def as_last(x):
    """What flox has: the axis of groups comes last. Of an array whose first axis it is here."""
    return np.moveaxis(x, 0, -1)


@pytest.mark.parametrize("dtype", ["bool", "i1", "u2", "i8", "u8", "f2", "f4", "f8"])
def test_types(spec, dtype):
    rng = np.random.default_rng(2)
    a = rng.integers(0, 2 if dtype == "bool" else 9, (50, 6)).astype(dtype)
    codes = rng.integers(-1, 4, 50)
    x = cubed.from_array(a.T.copy(), chunks=(4, 7), spec=spec)
    for name in NAMES:
        got, labels = cubed.groupby_reduce(
            x, codes, func=name, expected_groups=np.arange(5), min_count=0
        )
        wide = a.astype("f4") if dtype == "f2" else a
        numbers = wide.astype("i8") if dtype == "bool" and name in ("sum", "prod") else wide
        expected = as_last(groupby(name, numbers, codes, (0,), 5))
        if name not in ("mean", "var", "std", "any", "all"):
            close(got.compute(), expected.astype(got.dtype), rtol=1e-6)
        elif name == "all":
            expected[..., 4] = True
            close(got.compute(), expected)
        else:
            close(got.compute().astype("f8"), expected.astype("f8"), rtol=1e-6)
        of_standard = {"sum": cubed.sum, "prod": cubed.prod, "mean": cubed.mean}
        if name in of_standard and not (name == "mean" and a.dtype.kind in "biu"):
            plain = x.astype("f4") if dtype == "f2" else x
            assert got.dtype == of_standard[name](plain).dtype
        np.testing.assert_array_equal(labels, np.arange(5))


def test_times(spec):
    rng = np.random.default_rng(3)
    a = rng.integers(0, 10**6, (60, 4)).astype("M8[s]")
    a[rng.random(a.shape) < 0.3] = "NaT"
    codes = rng.integers(0, 3, 60)
    a[codes == 1, 2] = "NaT"
    x = cubed.from_array(a.T.copy(), chunks=(4, 9), spec=spec)
    for name in ("min", "max", "first", "last", "nanmin", "nanmax", "nanfirst", "nanlast"):
        got, _ = cubed.groupby_reduce(x, codes, func=name, expected_groups=np.arange(4))
        assert got.dtype == a.dtype
        close(got.compute(), as_last(groupby(name, a, codes, (0,), 4)))
    counts, _ = cubed.groupby_reduce(x, codes, func="count")
    close(counts.compute(), as_last(groupby("nancount", a, codes, (0,), 3)))
    with pytest.raises(TypeError, match="mean is not defined for datetime64"):
        cubed.groupby_reduce(x, codes, func="mean")


@pytest.mark.parametrize("axes", [(0,), (2,), (0, 1), (0, 2), (2, 0), (1, 0, 2)])
def test_several_axes(spec, axes):
    rng = np.random.default_rng(4)
    a = rng.standard_normal((12, 10, 14))
    codes = rng.integers(-1, 5, tuple(a.shape[d] for d in axes))
    order = [d for d in range(3) if d not in axes] + list(axes)
    x = cubed.from_array(a, chunks=(5, 4, 6), spec=spec)
    x = cubed.permute_dims(x, tuple(order))  # labels belong to the last axes
    for name in ("sum", "var", "first", "argmin"):
        got, _ = cubed.groupby_reduce(x, codes, func=name, expected_groups=np.arange(5))
        plain = groupby(name, np.transpose(a, order), codes, tuple(range(3 - len(axes), 3)), 5)
        close(got.compute(), np.moveaxis(plain, 3 - len(axes), -1), rtol=1e-9)


def test_some_axes_of_the_labels(spec):
    rng = np.random.default_rng(6)
    a = rng.standard_normal((3, 8, 10))
    codes = rng.integers(-1, 4, (8, 10))
    x = cubed.from_array(a, chunks=(2, 3, 4), spec=spec)
    for axis, kept in ((1, 2), (2, 1)):
        got, _ = cubed.groupby_reduce(x, codes, func="sum", axis=axis, expected_groups=np.arange(4))
        for i in range(a.shape[kept]):
            part = np.take(a, i, axis=kept)
            expected = groupby("sum", part, np.take(codes, i, axis=kept - 1), (1,), 4)
            close(np.take(got.compute(), i, axis=1), expected, rtol=1e-9)


def test_labels(spec):
    a = np.arange(24.0).reshape(2, 12)
    x = cubed.from_array(a, chunks=(1, 5), spec=spec)
    words, numbers = np.array(list("cabbacabcabc")), np.array([1.5, np.nan, 2.5] * 4)
    frame = pd.DataFrame({"words": words, "numbers": numbers, "a": a[1]})
    got, labels = cubed.groupby_reduce(x, words, func="sum")
    expected = frame.groupby("words")["a"].sum()
    np.testing.assert_array_equal(got.compute()[1], expected.to_numpy())
    np.testing.assert_array_equal(labels, expected.index)
    _, labels = cubed.groupby_reduce(x, words, func="sum", sort=False)
    assert list(labels) == ["c", "a", "b"]
    got, labels, others = cubed.groupby_reduce(x, words, numbers, func="max")
    expected = frame.groupby(["words", "numbers"])["a"].max().unstack()
    np.testing.assert_array_equal(got.compute()[1], expected.to_numpy())
    np.testing.assert_array_equal(labels, expected.index)
    np.testing.assert_array_equal(others, expected.columns)
    lazy = cubed.from_array(numbers, chunks=5, spec=spec)
    for by in (lazy, numbers):
        some = np.array([9.0, 2.5, 1.5])
        got, _ = cubed.groupby_reduce(x, by, func="min", expected_groups=some, fill_value=-1.0)
        np.testing.assert_array_equal(got.compute(), [[-1, 2, 0], [-1, 14, 12]])
    got, _, _ = cubed.groupby_reduce(x, lazy, lazy * 0, func="count")
    np.testing.assert_array_equal(got.compute(), [[[4], [4]]] * 2)


def test_counts_and_fill_values(spec):
    a = np.array([[1.0, np.nan, 3, 4, np.nan], [5, 6, np.nan, np.nan, np.nan]])
    x = cubed.from_array(a, chunks=2, spec=spec)
    by, groups = np.array([0, 0, 2, 2, 2]), np.arange(3)

    def of(func, **more):
        return cubed.groupby_reduce(x, by, func=func, expected_groups=groups, **more)[0].compute()

    np.testing.assert_array_equal(of("nansum"), [[1, 0, 7], [11, 0, 0]])
    np.testing.assert_array_equal(of("nansum", min_count=1), [[1, np.nan, 7], [11, np.nan, np.nan]])
    np.testing.assert_array_equal(of("nanmax", fill_value=-9.0), [[1, -9, 4], [6, -9, -9]])
    np.testing.assert_array_equal(
        of("nanmin", min_count=2), [[np.nan, np.nan, 3], [5] + [np.nan] * 2]
    )
    np.testing.assert_array_equal(
        of("nanvar", finalize_kwargs={"ddof": 1}), [[np.nan, np.nan, 0.5], [0.5] + [np.nan] * 2]
    )
    whole = cubed.groupby_reduce(
        cubed.from_array(np.arange(4), spec=spec), np.array([0, 0, 2, 2]), func="max",
        expected_groups=groups, fill_value=np.nan,
    )[0]  # fmt: skip
    np.testing.assert_array_equal(whole.compute(), [1.0, np.nan, 3.0])


def test_nothing(spec):
    x = cubed.zeros((3, 0), chunks=(2, 1), spec=spec)
    for name, value in (("sum", 0), ("prod", 1), ("count", 0), ("mean", np.nan), ("argmin", -1)):
        got, _ = cubed.groupby_reduce(x, np.zeros(0, "i8"), func=name, expected_groups=np.arange(2))
        np.testing.assert_array_equal(got.compute(), np.full((3, 2), value))
    got, labels = cubed.groupby_reduce(cubed.ones((3, 4)), np.full(4, np.nan), func="sum")
    assert got.compute().shape == (3, 0) and labels.shape == (0,)


def test_values_are_those_of_large_offsets(spec):
    """Variances far from 0 keep their digits."""
    a = np.random.default_rng(8).standard_normal((20, 1000)) + 1e9
    codes = np.arange(1000) % 7
    x = cubed.from_array(a, chunks=(20, 30), spec=spec)
    got, _ = cubed.groupby_reduce(x, codes, func="var")
    close(got.compute(), as_last(groupby("var", np.ascontiguousarray(a.T), codes, (0,), 7)), 1e-6)


def test_memory_and_executors(tmp_path):
    """20 times what a worker may use, grouped along the chunked axis, and along the others."""
    spec = cubed.Spec(work_dir=tmp_path, allowed_mem="25MB", reserved_mem="10MB")
    n = 160
    x = cubed.random.random((n, 250, 1000), chunks=(1, 250, 1000), spec=spec)
    assert x.nbytes > 20 * (spec.allowed_mem - spec.reserved_mem)
    months = np.arange(n) % 12
    moved = cubed.moveaxis(x, 0, -1)
    mean, _ = cubed.groupby_reduce(moved, months, func="mean")
    small = cubed.mean(mean, axis=(0, 1))
    zones, _ = cubed.groupby_reduce(x, np.arange(250 * 1000).reshape(250, -1) % 5, func="max")
    plan = cubed.plan(small, zones)
    assert plan.max_projected_mem <= spec.allowed_mem
    first = None
    for executor in ("single-threaded", "threads", "processes"):
        history = []
        a, b = cubed.compute(
            small, zones, executor=executor, max_workers=2, callbacks=[Measured(history)]
        )
        assert max(m for m, _ in history) > 0
        assert all(measured <= projected for measured, projected in history)
        first = first or (a.tobytes(), b.tobytes())
        assert (a.tobytes(), b.tobytes()) == first
        assert a.shape == (12,) and abs(a - 0.5).max() < 0.01 and b.min() > 0.99


# --- flox -----------------------------------------------------------------------------------------

FLOX = "count sum nansum prod nanprod mean nanmean var nanvar std nanstd min nanmin max nanmax"


@pytest.mark.parametrize("method", ["map-reduce", "blockwise"])
@pytest.mark.parametrize("name", [*FLOX.split(), "any", "all"])
def test_flox_takes_the_native_path(spec, method, name, monkeypatch):
    def refuse(*args):
        raise AssertionError("flox's own functions are called")

    monkeypatch.setattr("cubed.blocks._groups_of_calls._apply", refuse)
    rng = np.random.default_rng(9)
    by = np.sort(rng.integers(0, 5, 120)) if method == "blockwise" else rng.integers(0, 5, 120)
    for dtype in ("f4", "i2"):
        a = (rng.standard_normal((4, 6, 120)) * 9).astype(dtype)
        if dtype == "f4":
            a[rng.random(a.shape) < 0.1] = np.nan
        x = cubed.from_array(a, chunks=(3, 6, 13), spec=spec)
        more = [{}, {"min_count": 20, "fill_value": np.nan}]
        for kwargs in more[: 1 if name in ("count", "any", "all") else 2]:
            kwargs = {"func": name, "expected_groups": np.arange(5), "engine": "numpy", **kwargs}
            expected, _ = flox.groupby_reduce(a, by, **kwargs)
            got, _ = flox.groupby_reduce(x, by, method=method, reindex=True, **kwargs)
            assert isinstance(got, cubed.Array) and got.dtype == expected.dtype
            close(got.compute(), expected, rtol=1e-5)


def test_flox_functions_that_the_engine_lacks(spec):
    rng = np.random.default_rng(10)
    a, by = rng.standard_normal((3, 90)), np.repeat(np.arange(6), 15)
    x = cubed.from_array(a, chunks=(1, 20), spec=spec)
    kwargs = {"func": "median", "expected_groups": np.arange(6), "engine": "flox"}
    expected, _ = flox.groupby_reduce(a, by, **kwargs)
    got, _ = flox.groupby_reduce(x, by, method="blockwise", reindex=True, **kwargs)
    close(got.compute(), expected)


def test_functions_of_others(spec):
    """The interface that flox calls, with functions of our own."""
    a, by = np.arange(24.0).reshape(2, 12), np.arange(12) % 3

    def sums(block, labels, axis, intermediate_dtype, num_groups):
        out = np.zeros((*block.shape[:-1], num_groups))
        np.add.at(out, (slice(None), labels), block)
        return {"total": out}

    def combine(parts, axis, dummy_axis, dtype, keepdims):
        return {"total": parts["total"].sum(axis=dummy_axis, keepdims=keepdims)}

    got = groupby_reduction(
        cubed.from_array(a, chunks=(1, 5), spec=spec),
        cubed.from_array(by, chunks=5, spec=spec),
        func=sums,
        combine_func=combine,
        aggregate_func=lambda parts: parts["total"],
        axis=(1,),
        intermediate_dtype=[("total", "f8")],
        dtype="f8",
        num_groups=3,
    )
    close(got.compute(), as_last(groupby("sum", np.ascontiguousarray(a.T), by, (0,), 3)))


def test_groups_of_xarray(spec):
    """Xarray's groupby through flox, for whose map-reduce it asks by name."""
    rng = np.random.default_rng(11)
    a = rng.standard_normal((900, 4, 5)).astype("f4")
    a[3, 1, 1] = np.nan
    time = pd.date_range("2000", periods=900)
    plain = xr.DataArray(a, dims=("time", "y", "x"), coords={"time": time})
    lazy = plain.chunk({"time": 100}, chunked_array_type="cubed", from_array_kwargs={"spec": spec})
    how = {"method": "map-reduce"}
    for function in (
        lambda x: x.groupby("time.month").mean(**how),
        lambda x: x.groupby("time.month").var(ddof=1, **how),
        lambda x: x.groupby("time.season").max(skipna=False, **how),
        lambda x: x.groupby("time.dayofyear").count(**how),
        lambda x: x.groupby("time.dayofyear").sum(min_count=3, **how),
        lambda x: x.resample(time="MS").sum(**how),
        lambda x: x.groupby("time.month") - x.groupby("time.month").mean(**how),
    ):
        expected, got = function(plain), function(lazy)
        assert isinstance(got.data, cubed.Array) and got.dtype == expected.dtype
        xr.testing.assert_allclose(got.compute(), expected, rtol=1e-4, atol=1e-6)


def test_positions_along_some_of_the_labelled_axes(spec):
    rng = np.random.default_rng(4)
    a, codes = rng.random((3, 4, 5)), rng.integers(0, 3, (3, 4, 5))
    x = cubed.from_array(a, chunks=(2, 3, 2), spec=spec)
    for axis in (0, 1, (0, 2), (1, 2)):
        axes = (axis,) if isinstance(axis, int) else axis
        order = [d for d in range(3) if d not in axes] + list(axes)
        lines, groups = (
            v.transpose(order).reshape(*(v.shape[d] for d in order[: 3 - len(axes)]), -1)
            for v in (a, codes)
        )
        mine = groups[..., None, :] == np.arange(3)[:, None]
        at = np.where(mine, lines[..., None, :], -1).argmax(axis=-1)
        expected = np.where(mine.any(axis=-1), at, -7)
        got, _ = cubed.groupby_reduce(
            x, codes, func="argmax", expected_groups=np.arange(3), axis=axis, fill_value=-7
        )
        np.testing.assert_array_equal(got.compute(), expected)


def test_looking_up_lazy_labels_is_projected():
    """A sorted order of the groups, and arrays that are as long as a block of labels."""
    spec = cubed.Spec(allowed_mem="200MB", reserved_mem="100MB")
    x = cubed.zeros(10**6, chunks=10**5, spec=spec)
    labels = cubed.zeros(10**6, chunks=10**5, dtype=np.int64, spec=spec)

    def mem(groups):
        result, _ = cubed.groupby_reduce(x, labels, func="sum", expected_groups=np.arange(groups))
        return result.plan().summary()["projected_mem"]

    assert mem(10) >= 10**5 * 5 * 8
    assert mem(10**5) - mem(10) >= 10**5 * 8 * 8


def test_labels_in_memory_are_bounded_by_what_tasks_may_use():
    spec = cubed.Spec(allowed_mem="101MB", reserved_mem="100MB")
    x = cubed.zeros(2 * 10**6, chunks=1000, spec=spec)
    with pytest.raises(MemoryError, match="numbers of 2000000 labels take 2000000 bytes"):
        cubed.groupby_reduce(x, np.zeros(2 * 10**6, np.int8), func="sum")
