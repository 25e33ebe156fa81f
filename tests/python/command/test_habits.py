"""Hints of the command for misspelt words, and for words of other programs."""

import numpy as np
import pytest
from conftest import check, run

import zarr


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("habits") / "a.zarr"
    g = zarr.create_group(path, zarr_format=3)
    names = ["time", "lat"]
    z = g.create_array("t2m", shape=(6, 4), chunks=(3, 2), dtype="f8", dimension_names=names)
    z[...] = np.arange(24.0).reshape(6, 4)
    return path


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("evl", '(did you mean "eval"?)'),
        ("help evla", '(did you mean "eval"?)'),
        ("rechnuk a b", '(did you mean "rechunk"?)'),
        ("eval x --alowed-mem 2GB", "unknown option --alowed-mem (did you mean --allowed-mem?)"),
        ("eval x --max-worker=2 --jsn", "unknown option --jsn (did you mean --json?)"),
        ("info x --jsn=1", "unknown option --jsn (did you mean --json?)"),
    ],
)
def test_verbs_and_options_that_are_nearly_right(words, says):
    result = run(*words.split())
    assert result.code == 2 and says in result.err
    assert result.err.count("\n") == 2


def test_dimensions_of_chunks_that_are_nearly_right(store, tmp_path):
    result = run("rechunk", store, tmp_path / "r.zarr", "--chunks", "time=2,lt=1")
    assert result.code == 2
    assert 'has a dimension "lt" (did you mean "lat"?)' in result.err


def test_words_that_are_like_nothing_get_no_guess():
    assert "did you mean" not in run("qqqqqq").err
    assert "did you mean" not in run("eval", "x", "--zzzzzz").err


#: What is written, where (a column), and what is said.
HABITS = [
    ("maen(t2m)", 1, '"maen" (did you mean "mean"?)'),
    ("namean(t2m)", 1, '(did you mean "nanmean"?)'),
    ("fload32(t2m)", 1, '(did you mean "float32"?)'),
    ("monmaen(t2m)", 1, '(did you mean "monmean"?)'),
    ("uniqe_all(t2m)", 1, '(did you mean "unique_all"?)'),
    ("MEAN(t2m)", 1, '(did you mean "mean"?)'),
    ("zzz(t2m)", 1, '"zzz"; cubed eval --help lists all'),
    ("concatenate([t2m, t2m])", 1, "write concat([x, y], axis=0)"),
    ("arctan2(t2m, t2m)", 1, "write atan2(y, x)"),
    ("t2 + 1", 1, '"t2" (did you mean "t2m"?); arrays here: t2m'),
    ("warm = t2m + 1; warn * 2", 17, '"warn" (did you mean "warm"?)'),
    ('mean(t2m, dim="tiem")', 15, '"tiem" (did you mean "time"?); there are: time, lat'),
    ('mean(t2m, dims="time")', 11, '"dims" (did you mean "dim"?)'),
    ('mean(t2m, axis="time")', 16, "use dim= for names of dimensions"),
    ('t2m.mean("time")', 4, "write mean(t2m, ...) instead of t2m.mean(...)"),
    ("(t2m + 1).mean()", 10, "write mean(x, ...) instead of x.mean(...)"),
    ("np.mean(t2m)", 3, "write mean(...) instead of np.mean(...)"),
    ("1 + sqrt(xp.abs(t2m))", 12, "write abs(...) instead of xp.abs(...)"),
    ("t2m.T", 4, "write transpose(t2m)"),
    ("t2m.values", 4, "no attributes here, such as .values"),
    ("t2m[0].values", 7, "no attributes here, such as .values"),
    ("t2m ^ 2", 5, "bitwise_xor is not defined for float64: powers are written **"),
    ("(t2m > 1) & t2m", 11, "(a < b) & (b < c)"),
    ("t2m > 1.5 | t2m", 11, "(a < b) | (b < c)"),
    ("t2m > 1 and t2m < 2", 9, '"and" is written &'),
    ("t2m > 1 or t2m < 2", 9, '"or" is written |'),
    ("not t2m", 5, '"not" is written ~'),
    ("!t2m", 1, '"not" is written ~'),
    ("t2m && t2m", 6, '"and" is written &'),
    ("t2m || t2m", 6, '"or" is written |'),
    ("1 if t2m else 2", 3, "where(condition, a, b)"),
    ("t2m in (1, 2)", 5, "isin(a, (1, 2))"),
    ("t2m is None", 5, "isnan(a)"),
    ("lambda x: x", 8, "cannot define functions"),
    ("t2m @ t2m", 5, "matmul(a, b)"),
    ("t2m[t2m > 1]", 9, "compress(x, mask)"),
    ("t2m[[0, 2]]", 5, "take(x, (0, 2), axis=0)"),
    ("t2m[arange(3)]", 5, "take(x, indices, axis=0)"),
    ('t2m["time"]', 5, "no members by name"),
    ('t2m[time="2020"]', 9, "chosen by coordinates with sel(x, time="),
    ("t2m[0, lat = 3]", 12, "chosen by coordinates with sel(x, time="),
]


@pytest.mark.parametrize(("text", "column", "says"), HABITS)
def test_habits(store, text, column, says):
    result = run("eval", text, store)
    assert result.code == 1 and result.out == ""
    assert says in result.err
    assert f"at column {column}: " in result.err


def test_dimensions_are_also_named_by_position(store):
    expected = np.arange(24.0).reshape(6, 4)
    text = 'a = mean(t2m, "time"); b = sum(t2m, ("lat", "time")); c = flip(t2m, "lat")'
    got = check(run("eval", text, store, "--json", "--progress", "none")).arrays()
    np.testing.assert_array_equal(got["a"], expected.mean(0))
    np.testing.assert_array_equal(got["b"], expected.sum())
    np.testing.assert_array_equal(got["c"], expected[:, ::-1])


@pytest.mark.parametrize("words", ["", "eval ", "info ", "run ", "clean ", "help ", "worker "])
def test_short_options(words):
    short, long = (run(*words.split(), option) for option in ("-h", "--help"))
    assert check(short).out == check(long).out and short.out.startswith("usage: cubed")
    short, long = (run(*words.split(), option) for option in ("-V", "--version"))
    assert check(short).out == check(long).out and short.out.startswith("cubed ")


def test_paths_that_are_no_plan(store, tmp_path):
    result = run("run", store)
    assert result.code == 1 and "is a directory" in result.err and "--save-plan" in result.err
    result = run("run", tmp_path / "none")
    assert result.code == 1 and f"{tmp_path / 'none'} does not exist" in result.err
    (tmp_path / "text").write_text("no plan")
    result = run("run", tmp_path / "text")
    assert result.code == 1 and f"{tmp_path / 'text'} was not written by --save-plan" in result.err
    for verb in (["worker", store, "--begin"], ["submit", store, tmp_path / "jobs"]):
        result = run(*verb)
        assert result.code != 0 and not (tmp_path / "jobs").exists()
    result = run("clean", tmp_path / "none")
    assert (
        result.code == 0 and result.err == f"cubed clean: there is nothing at {tmp_path / 'none'}\n"
    )


def test_a_run_that_is_finished_is_not_run_again(store, tmp_path):
    args = ["eval", "t2m + 1", store, "--out", tmp_path / "o"]
    check(run(*args))
    again = check(run(*args, "--resume"))
    assert "an earlier run has completed all tasks" in again.err
    plan = tmp_path / "plan"
    check(run("eval", "t2m + 1", store, "--out", tmp_path / "p", "--save-plan", plan))
    assert "4 tasks in" in check(run("run", plan)).out
    assert "an earlier run has finished this plan" in check(run("run", plan, "--resume")).out


def test_limits_are_said_as_options_and_in_units(store):
    small = run("eval", "t2m + 1", store, "--allowed-mem", "20kB")
    assert small.code == 1
    assert "--reserved-mem is 16777216 bytes (16.8 MB)" in small.err
    assert "allow at least" in small.err
    advice = small.err.splitlines()[-1].split()
    assert advice[:2] == ["try:", "--allowed-mem"]
    check(run("eval", "t2m + 1", store, *advice[1:]))


@pytest.mark.parametrize("size", ["1gb", "1GiB", "1e9", "1 GB", "0.5Gib", "900M", "800mb"])
def test_sizes(store, size):
    check(run("eval", "max(t2m)", store, "--allowed-mem", size))


def test_places_that_are_not_there(tmp_path):
    """The nearest array, group or file is named, in the first place above that is there."""
    g = zarr.create_group(tmp_path / "era5.zarr")
    g.create_array("temp", shape=(3,), dtype="f4")
    g.create_group("winds").create_array("u10", shape=(3,), dtype="f4")
    here = tmp_path / "era5.zarr"
    for verb in (["info"], ["copy"], ["rechunk", "--chunks", "2"], ["eval", "x"]):
        for place, meant in [
            (f"{here}/tempp", "temp"),
            (f"{here}/tempp/", "temp"),
            (f"{here}::tmep", "temp"),
            (f"{here}::winds/u100", "u10"),
            (f"{here}::wind/u10", "winds"),
            (f"{tmp_path}/era5.zar::temp", "era5.zarr"),
            (f"{tmp_path}/era.zarr/winds/u10", "era5.zarr"),
        ]:
            to = [tmp_path / "to"] if verb[0] in ("copy", "rechunk") else []
            r = run(*verb, place, *to)
            assert r.code == 1, r.err
            assert f'(did you mean "{meant}"?)' in r.err, (verb, place)
    r = run("eval", "x", "--in", f"x={here}/tempp")
    assert '(did you mean "temp"?)' in r.err
    for place in (f"{here}/precipitation", f"{tmp_path}/nothing/like/it"):
        assert "did you mean" not in run("info", place).err
