"""Command lines with too many, missing or impossible arguments: exit code 2, nothing is done."""

import numpy as np
import pytest
from conftest import check, run

import zarr

QUIET = ("--progress", "none")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("usage")
    for name in ("a", "b"):
        g = zarr.create_group(folder / f"{name}.zarr", zarr_format=3)
        z = g.create_array("x", shape=(6, 4), chunks=(3, 2), dtype="f8", dimension_names=["t", "y"])
        z[...] = np.arange(24).reshape(6, 4)
        t = g.create_array("t", shape=(6,), chunks=(6,), dtype="i8", dimension_names=["t"])
        t[...] = np.arange(6)
    zarr.create_array(folder / "into", shape=(6, 4), chunks=(3, 2), dtype="f8")[...] = 0
    plan = folder / "plan"
    args = ["--in", folder / "a.zarr", "--out", folder / "planned", "--work-dir", folder / "work"]
    check(run("eval", "x * 2", *args, "--save-plan", plan))
    return folder


#: Words of the command line, where A, B, INTO, PLAN and OUT are paths, and what is said.
WRONG = [
    # Arguments beyond those that are known.
    ("eval x A OUT", "--out for results"),
    ("eval x A B", "--in for more inputs"),
    ("eval x A OUT --json", "one STORE"),
    ("rechunk A OUT more --chunks t=2", "expected SRC and DST, got 3 arguments"),
    ("rechunk A --chunks t=2", "expected SRC and DST, got 1 argument"),
    ("rechunk A OUT more --chunks t=2 --plan", "got 3 arguments"),
    ("copy A", "got 1 argument"),
    ("copy A --save-plan OUT --plan", "got 1 argument"),
    ("info A B", "got 2 arguments"),
    ("info", "got 0 arguments"),
    ("run PLAN PLAN", "got 2 arguments"),
    ("worker PLAN 0", "got 2 arguments"),
    ("worker PLAN 0 0 1", "got 4 arguments"),
    ("worker --serve 3 PLAN", "--serve"),
    ("clean", "expected a PLACE"),
    ("demo quadratic-means more", "quadratic-means"),
    ("help eval copy", "expected one SUBCOMMAND"),
    ("help eval --man-dir OUT", "expected one SUBCOMMAND"),
    ("completion bash zsh", "one shell"),
    ("--version more", "takes no arguments"),
    ("nonsense", "is not a subcommand"),
    # What would count once is given twice.
    ("eval a --in a=A::x --in a=B::x", '"a" is given twice'),
    ("eval x A --in A", "is given twice"),
    ("eval x --in A --in A", "is given twice"),
    ("eval x A --out OUT --out INTO", "--out is given twice"),
    ("eval x A --max-workers 1 --max-workers 2", "--max-workers is given twice"),
    ("eval x A --max-workers=1 --json --max-workers=1", "--max-workers is given twice"),
    ("eval x A --format 2 --out OUT --format 3", "--format is given twice"),
    ("copy A OUT --codecs [] --codecs []", "--codecs is given twice"),
    ("rechunk A OUT --chunks t=2 --chunks t=3", "--chunks is given twice"),
    ("rechunk A OUT --chunks t=2,t=3", "name=length, once"),
    ("copy A OUT --shards t=6 --shards none", "--shards is given twice"),
    ("worker PLAN 0 0 --isa x86-64-v2 --isa x86-64-v2", "--isa is given twice"),
    ("demo quadratic-means --size 1MB --size 2MB", "--size is given twice"),
    # Names with two values.
    ("eval a=1*x;a=2*x A", '"a" has two values'),
    ("eval x;result=x A", '"result" has two values'),
    ("eval q,q=qr(x) A", '"q" has two values'),
    # Inputs that nothing is taken from.
    ("eval x A --in b=B::x", "does not use the input b="),
    ("eval arange(3) A", "does not use the input"),
    ("eval b --in b=B::x --in x=A::x", "does not use the input x="),
    ("eval arange(3) --decode", "there are no inputs"),
    # Empty words.
    ("eval '' A", "argument 1 is empty"),
    ("eval x ''", "argument 2 is empty"),
    ("eval x --in ''", "--in needs a value"),
    ("eval x --in x=", "expected a STORE"),
    ("eval x A --out ''", "--out needs a value"),
    ("eval x A --out=", "--out needs a value"),
    ("copy A ''", "argument 2 is empty"),
    ("rechunk A OUT --chunks ''", "--chunks needs a value"),
    ("info ''", "argument 1 is empty"),
    ("clean A ''", "argument 2 is empty"),
    ("eval x A --work-dir ''", "--work-dir needs a value"),
    # Options that go with others, or not.
    ("eval x A --explain", "give it with --plan"),
    ("rechunk A OUT --chunks t=2 --explain", "give it with --plan"),
    ("eval x A --plan --events OUT", "--events describes a run"),
    ("eval x A --plan --report OUT", "--report describes a run"),
    ("eval x A --format 2", "with --out"),
    ("eval x A --codecs []", "with --out"),
    ("eval x A --overwrite", "with --out"),
    ("eval x A --durable --plan", "with --out"),
    ("eval x A --save-plan OUT", "--save-plan needs --out"),
    ("eval x A --region 0:6,0:4", "--region is for an array that exists"),
    ("eval x A --region 0:6,0:4 --out INTO --format 3", "--region is for an array that exists"),
    ("copy A OUT --format 2 --shards t=6", "format 2 has no shards"),
    ("run PLAN --overwrite", "--save-plan"),
    ("demo quadratic-means --plan", "not for the demo"),
    ("copy A OUT --region 0:6", "unknown option --region"),
    ("info A --plan", "unknown option --plan"),
    ("clean A --json", "unknown option --json"),
    # Numbers.
    ("eval x A --max-workers 2x", "a whole number from 1 to 100000"),
    ("eval x A --max-workers 0", "a whole number"),
    ("eval x A --max-workers -1", "a whole number"),
    ("eval x A --max-workers 99999999999999999999", "a whole number"),
    ("eval x A --max-workers ' 2'", "a whole number"),
    ("eval x A --max-workers +2", "a whole number"),
    ("eval x A --retries 1.5", "a whole number from 0 to 255"),
    ("eval x A --allowed-mem 0x100000000", "a size such as"),
    ("eval x A --allowed-mem -1GB", "a size such as"),
    ("eval x A --allowed-mem 1GBs", "a size such as"),
    ("eval x A --allowed-mem 1e30", "a size such as"),
    ("eval x A --allowed-mem 0", "more than 0"),
    ("eval x A --format 4 --out OUT", "expected 2 or 3"),
    ("eval x A --executor thread", "threads|single-threaded|processes"),
    ("rechunk A OUT --chunks t=2x", "expected lengths"),
    ("rechunk A OUT --chunks t=-2", "expected lengths"),
    ("rechunk A OUT --chunks t=0", "expected lengths"),
    ("rechunk A OUT --chunks t=2.5", "expected lengths"),
    ("rechunk A OUT --chunks t=1e3", "expected lengths"),
    ("rechunk A OUT --chunks t=0x2", "expected lengths"),
    ("rechunk A OUT --chunks t=+2", "expected lengths"),
    ("rechunk A OUT --chunks t=99999999999999999999", "expected lengths"),
    ("rechunk A OUT --chunks t=1x99999999999999999999", "expected lengths"),
    ("rechunk A OUT --chunks t=2,", "expected lengths"),
    ("rechunk A OUT --chunks =2", "expected lengths"),
    ("rechunk A OUT --chunks t", "expected lengths"),
    ("rechunk A OUT --chunks 2,t=3", "expected lengths"),
    ("rechunk A OUT --chunks z=2", "no array of"),
    ("copy A OUT --shards z=2", "no array of"),
    ("worker PLAN 0 1:0", "not less than FIRST"),
    ("worker PLAN 0 -1", "unknown option -1"),
    ("worker PLAN 0 0:1x", "FIRST:LAST"),
    ("worker PLAN 0 99999999999999999999", "FIRST:LAST"),
    ("worker PLAN 0 9223372036854775807", "FIRST:LAST"),
    ("worker PLAN 0x 0", "expected a number"),
    ("worker PLAN 99999999999 0", "expected a number"),
    ("demo quadratic-means --size lots", "--size"),
]


def words(line, place):
    paths = {
        "A": place / "a.zarr",
        "B": place / "b.zarr",
        "INTO": place / "into",
        "OUT": place / "out",
        "PLAN": place / "plan",
    }
    for word in line.split(" "):
        name, equals, rest = word.partition("=")
        store, colons, path = rest.partition("::")
        if word in paths:
            yield str(paths[word])
        elif store in paths and equals:
            yield f"{name}={paths[store]}{colons}{path}"
        elif word == "''":
            yield ""
        else:
            yield word.removeprefix("'").removesuffix("'")


def split(line, place):
    return list(words(line.replace("' 2'", "'\u00a02'"), place))


@pytest.mark.parametrize(("line", "says"), WRONG)
def test_wrong_usage(place, line, says):
    before = sorted(p for p in place.rglob("*"))
    args = [w.replace("\u00a0", " ") for w in split(line, place)]
    result = run(*args)
    assert result.code == 2, (line, result)
    assert result.out == ""
    assert says in result.err
    assert "try: cubed" in result.err or line.startswith("nonsense")
    assert sorted(p for p in place.rglob("*")) == before


#: What does not fit the arrays: exit code 1.
UNFIT = [
    ("--region 0:6,0:5", "within the array"),
    ("--region 0:7,0:4", "within the array"),
    ("--region -7:,0:4", "within the array"),
    ("--region 0:5,0:4", "has 5 elements along axis 0"),
    ("--region 0:6,0:4,0:1", "by position"),
    ("--region 0:99999999999999999999,0:4", "by position"),
    ("--region 0:6x,0:4", "by position"),
    ("--region 0:6:1,0:4", "by position"),
    ("--region z=0:6", "by position"),
    ("--region 0,0:4", "by position"),
    ("--region +0:6,0:4", "by position"),
]


@pytest.mark.parametrize(("options", "says"), UNFIT)
def test_regions_that_do_not_fit(place, options, says):
    args = split(f"eval x A --out INTO {options}", place)
    result = run(*args)
    assert result.code == 1
    assert says in result.err
    assert not zarr.open_array(place / "into", mode="r")[...].any()


def test_an_axis_of_a_region_comes_once(place, tmp_path):
    z = zarr.create_array(tmp_path / "n", shape=(6,), chunks=(3,), dtype="i8", dimension_names="t")
    z[...] = 0
    for region in ("t=0:6,t=0:3", "0:3,t=0:6", "t=0:3,0:6"):
        failed = run("eval", "t", place / "a.zarr", "--out", tmp_path / "n", "--region", region)
        assert failed.code == 1
        assert "each once" in failed.err
    check(run("eval", "t", place / "a.zarr", "--out", tmp_path / "n", "--region", "t=-6:"))
    np.testing.assert_array_equal(z[...], np.arange(6))


def test_a_name_in_two_stores_is_said_to_be(place):
    args = ["--in", place / "a.zarr", "--in", place / "b.zarr", *QUIET, "--json"]
    failed = run("eval", "x", *args)
    assert failed.code == 1
    assert '"x" is in' in failed.err
    assert "--in x=" in failed.err
    # Arrays that are given by themselves, too.
    for name in "cd":
        zarr.create_array(place / name / "v.zarr", shape=(2,), dtype="i4", overwrite=True)[...] = 1
    failed = run("eval", "v", "--in", place / "c/v.zarr", "--in", place / "d/v.zarr")
    assert failed.code == 1
    assert '"v" is in' in failed.err
    named = ["--in", f"x={place / 'a.zarr'}::x", "--in", place / "b.zarr", *QUIET, "--json"]
    got = check(run("eval", "x[:, 0] + t", *named)).array()
    np.testing.assert_array_equal(got, np.arange(6) * 5)


def test_functions_and_results_may_have_one_name(place):
    got = check(run("eval", "max = max(x); min = min(x)", place / "a.zarr", "--json")).arrays()
    assert {k: float(v) for k, v in got.items()} == {"max": 23.0, "min": 0.0}
    # What is no result may be made again.
    text = "_a = x + 1; _a = _a * 2; b = max(_a)"
    assert check(run("eval", text, place / "a.zarr", "--json")).arrays()["b"] == 48


def test_inputs_are_used_for_coordinates_and_attributes(place, tmp_path):
    args = ["--in", f"v={place / 'a.zarr'}::x", "--in", place / "b.zarr"]
    check(run("eval", "w = v * 2", *args, "--out", tmp_path / "o", *QUIET))
    assert "t" in zarr.open_group(tmp_path / "o", mode="r")


def test_flags_may_come_again(place):
    check(run("eval", "sum(x)", place / "a.zarr", "--json", "--json", *QUIET))
    assert run("eval", "x", "A", "--help", "--max-workers", "1", "--max-workers", "1").code == 0
