"""Reductions by group, beside plain loops over NumPy, pandas and flox."""

import numpy as np
import pytest
from conftest import check, run, the_same_bits

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
        numbers = x.astype("i8") if x.dtype.kind in "mM" else x
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
    return check(run("eval", text, *args, "--json", "--progress", "none")).arrays()["result"]


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
    found = evaluated("group_labels(labels)", args)
    np.testing.assert_array_equal(found, [-3.0, 7.0, 10.5])
    codes = np.where(np.isnan(labels), -1, np.searchsorted(found, labels))
    for name in ("sum", "first", "argmin"):
        got = evaluated(f'groupby(x, labels, "{name}", axis=1)', args)
        close(got, groupby(name, x, codes, (1,), 3))


def test_command_says_what_is_wrong(tmp_path):
    args = save(tmp_path, (4, 3), x=np.ones((4, 3)), by=np.array([0, 1, 2, 1]))
    for text, message in (
        ('groupby(x, by, "median")', "expected count, sum"),
        ('groupby(x, by, "sum", axis=1)', "4 codes for the 3 elements of axis 1"),
        ('groupby(x, x, "sum", axis=0)', "codes of 2 dimensions for 1 axes"),
        ('groupby(x, by * 1.5, "sum", ngroups=2)', "codes are float64, expected integers"),
        ('groupby(x, by, "nanany")', "there is none"),
        ('groupby(x, by, "sum", ngroups=2)', "is of group 2, there are 2"),
    ):
        failed = run("eval", text, *args, "--progress", "none")
        assert failed.code != 0 and message in failed.err, failed.err
