"""Two spellings of one place: it cannot be both source and result, or two results."""

import json
import os
import pickle
import shlex
import shutil
import subprocess

import cubed
import numcodecs
import numpy as np
import pytest
from conftest import BIN, check, run
from cubed.io import _writers

import zarr

QUIET = ("--progress", "none")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """d/s.zarr::g/x holds 1 to 24; d/link is d/s.zarr, and way is d."""
    tree = tmp_path / "tree"
    (tree / "d").mkdir(parents=True)
    x = np.arange(1.0, 25).reshape(6, 4)
    group = zarr.open_group(tree / "d/s.zarr", mode="w")
    zarr.create_array(group.store, name="g/x", data=x, chunks=(2, 3))
    (tree / "d/link").symlink_to("s.zarr")
    (tree / "way").symlink_to(tree / "d")
    (tree / "d/x").symlink_to("../way/link/g/x/.")
    monkeypatch.chdir(tree)
    return tree, x


# ^ is the tree.
SPELLINGS = [
    "d/s.zarr::g/x",
    "./d/s.zarr::g/x/",
    "d/s.zarr/g::x",
    "d/s.zarr/g/x",
    "d::s.zarr/g/x",
    "d//s.zarr/./g/../g/x//",
    "^/d/s.zarr::g/x",
    "file://^/d/s.zarr/g/x",
    "file://localhost^/d/s.zarr::g/x",
    "file:^/d/s%2Ezarr::g/x",
    "file://d/s.zarr::g/x",
    "FILE://^/%64/s.zarr::g/x",
    "d/link::g/x",
    "way/s.zarr::g/x",
    "way/link/g::x",
    "way/../d/link/g/x",
    "d::link/g/x",
    "d/x",
    "d/none/../x",
]


def spell(text, tree):
    return text.replace("^", str(tree))


def unharmed(tree, x):
    z = zarr.open_array(tree / "d/s.zarr/g/x", mode="r")
    return np.array_equal(z[...], x)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_an_array_that_is_opened_twice_is_read_once(place, spelling):
    tree, x = place
    once = ("eval", "3 * a", "--in", "a=d/s.zarr::g/x", "--json")
    twice = ("eval", "2 * a + b", *once[2:], "--in", f"b={spell(spelling, tree)}")
    a, b = (json.loads(check(run(*args, "--plan")).out)["bytes_read"] for args in (once, twice))
    assert a == b
    done = check(run(*twice, *QUIET))
    np.testing.assert_array_equal(done.array(), 3 * x)


def test_an_array_that_is_opened_before_and_after_it_was_written_is_two(place):
    tree, x = place
    before = cubed.from_zarr("d/s.zarr/g/x")
    (other,) = cubed.compute(before + 0)
    zarr.create_array(tree / "d/s.zarr/g/x", data=x + 1, chunks=(2, 3), overwrite=True)
    after = cubed.from_zarr("d/s.zarr/g/x")
    np.testing.assert_array_equal(after.compute(), x + 1)
    with pytest.raises(cubed.exceptions.FormatError):
        (before + after).compute()
    np.testing.assert_array_equal(other, x)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_result_over_its_own_source_replaces_it(place, spelling):
    """Nothing is read from what was not written, or written over what is still to be read."""
    tree, x = place
    given = spell(spelling, tree)
    expected = x.copy()

    def unharmed_but_for_values():
        z = zarr.open_array(tree / "d/s.zarr/g/x", mode="r")
        np.testing.assert_array_equal(z[...], expected)

    for source, target in ((given, "d/s.zarr::g/x"), ("d/s.zarr::g/x", given)):
        check(run("eval", "a + 1", "--in", f"a={source}", "--out", target, "--overwrite", *QUIET))
        expected += 1
        unharmed_but_for_values()
        check(run("rechunk", source, target, "--chunks", "6,1", "--overwrite", *QUIET))
        unharmed_but_for_values()
        check(run("copy", source, target, "--overwrite", *QUIET))
        unharmed_but_for_values()
        assert run("copy", source, target, *QUIET).code == 1
    cubed.to_zarr(cubed.flip(cubed.from_zarr(given)), tree / "d/s.zarr", path="g/x")
    expected = np.flip(expected)
    unharmed_but_for_values()
    cubed.to_zarr(cubed.from_zarr("d/s.zarr", path="g/x") + 1, given)
    expected += 1
    unharmed_but_for_values()
    with pytest.raises(ValueError, match="would overwrite the source"):
        cubed.to_zarr(cubed.from_zarr("d/s.zarr", path="g/x") + 1, given, overwrite=False)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("way/link::g/x", "d/s.zarr"),
        ("d/x", "file://^/d/s.zarr::g"),
        ("d/s.zarr::g/x", "way/link/g/x/c"),
        ("d/s.zarr::g/x", "d/x::new/y"),
        # The source is elsewhere, but its name is below the target: that would take the way there.
        ("d/out.zarr/way/x", "d/out.zarr"),
        ("d::out.zarr/way/x", "d/out.zarr"),
    ],
)
def test_a_result_around_its_source_or_within_it_is_refused(place, source, target):
    tree, x = place
    (tree / "d/out.zarr").mkdir()
    (tree / "d/out.zarr/way").symlink_to(tree / "d/s.zarr/g")
    source, target = spell(source, tree), spell(target, tree)
    command = ["eval", "a + 1", "--in", f"a={source}", "--out", target]
    result = run(*command, "--overwrite", *QUIET)
    assert result.code == 1
    assert f"the result {target} would overwrite the source {source}: " in result.err
    assert " lies in " in result.err
    assert unharmed(tree, x)


def test_places_that_only_look_alike(place):
    tree, x = place
    for target in ("d/s.zarr::g/xx", "d/s.zarr::gx", "d/s.zarr::g/X", "d/s", "way/x.zarr"):
        check(run("eval", "a + 1", "--in", "a=d/x", "--out", target, *QUIET))
        got = zarr.open_array(tree / target.replace("::", "/"), mode="r")[...]
        np.testing.assert_array_equal(got, x + 1)
    # A link in the store leads out of it, beside a target.
    (tree / "d/s.zarr/g/there").symlink_to(tree / "d/s")
    args = ["--in", "a=d/s.zarr::g/there", "--out", "d/s.zarr::g/y"]
    check(run("eval", "a + 1", *args, *QUIET))
    np.testing.assert_array_equal(zarr.open_array(tree / "d/s.zarr/g/y", mode="r")[...], x + 2)
    assert unharmed(tree, x)


@pytest.mark.parametrize(
    "second", ["./o.zarr", "way/../o.zarr::", "new", "o.zarr/x", ".::o.zarr/x/y"]
)
def test_two_results_in_one_place_are_refused(place, second):
    tree, x = place
    (tree / "new").symlink_to("o.zarr")  # which does not exist
    a = cubed.from_zarr("d/x")
    with pytest.raises(ValueError, match="two results go to the same place") as e:
        cubed.store([a + 1, a + 2], ["o.zarr", second])
    assert "o.zarr" in str(e.value) and second.strip("./:") in str(e.value)
    assert not os.path.lexists(tree / "o.zarr")
    assert unharmed(tree, x)


def test_a_group_is_copied_onto_itself(place):
    tree, x = place
    for source, target in (
        ("d/s.zarr", "way/link"),
        ("d/link::g", "d/s.zarr/g"),
        ("d/x/..", "way"),
    ):
        for verb in (["copy"], ["rechunk", "--regular", "--chunks", "6,4"]):
            check(run(*verb, source, target, "--overwrite", *QUIET))
            assert unharmed(tree, x)


def test_links_that_are_made_after_planning(place):
    tree, x = place
    plan = cubed.store(cubed.from_zarr("d/x") + 1, "later.zarr", compute=False).plan()
    command = ["eval", "a + 1", "--in", "a=d/x", "--out", "later.zarr", "--overwrite", *QUIET]
    check(run(*command, "--save-plan", "p"))
    (tree / "later.zarr").symlink_to("d/s.zarr/g/x")
    plan.execute([])
    assert unharmed(tree, x + 1)
    check(run("run", "p", *QUIET))
    assert unharmed(tree, x + 2)
    (tree / "later.zarr").unlink()
    (tree / "later.zarr").symlink_to("d/s.zarr/g")
    with pytest.raises(ValueError, match="would overwrite the source"):
        plan.execute([])
    result = run("run", "p", *QUIET)
    assert result.code == 1
    assert "would overwrite the source" in result.err
    assert unharmed(tree, x + 2)


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_a_plan_is_the_same_however_its_places_are_spelled(place, executor):
    """What a run began in one spelling is resumed in another one."""
    tree, x = place
    chunk = tree / "d/s.zarr/g/x/c/2/1"
    content = chunk.read_bytes()
    chunk.unlink()
    chunk.symlink_to(chunk)  # reading it fails
    options = ["--max-workers", 1, "--retries", 0, "--executor", executor, *QUIET, "--json"]
    first = run("eval", "a*2", "--in", "a=d/s.zarr::g/x", "--out", "d/o.zarr::h/y", *options)
    assert first.code == 1
    chunk.unlink()
    chunk.write_bytes(content)
    args = ["--in", f"a=file://{tree}/way/x", "--out", "./way/../d::o.zarr/h/y/"]
    result = check(run("eval", "a*2", *args, *options, "--resume"))
    assert 0 < result.run["tasks"] < 6
    np.testing.assert_array_equal(zarr.open_array(tree / "d/o.zarr/h/y", mode="r")[...], x * 2)


@pytest.mark.parametrize(
    ("work", "refused"),
    [
        ("way/s.zarr/g/x", True),
        ("d/x/tmp", True),
        ("./o.zarr", True),
        ("o.zarr/tmp", True),
        ("way/s.zarr/g", False),
        (".", False),
        ("way", False),
    ],
)
def test_intermediates_do_not_go_into_arrays(place, work, refused):
    tree, x = place
    args = ["--in", "a=d/x", "--out", "o.zarr", "--work-dir", work, "--no-optimize", *QUIET]
    result = run("eval", "a - mean(a)", *args)
    assert (result.code == 1) == refused
    assert ("the work directory" in result.err and "the same place" in result.err) == refused
    assert (tree / "o.zarr").exists() != refused
    assert unharmed(tree, x)


def test_bind_mounts(place):
    tree, x = place
    if (
        not shutil.which("unshare")
        or subprocess.run(["unshare", "-m", "true"], check=False).returncode
    ):
        pytest.skip("this process may not mount directories")
    for name in ("mounted", "elsewhere"):
        (tree / name).mkdir()
    for times, (source, target) in enumerate(
        [("mounted/x", "d/s.zarr::g/x"), ("d/x", "mounted::x"), ("d/x", "mounted/x/y")], 1
    ):
        command = [
            BIN,
            "eval",
            "a + 1",
            "--in",
            f"a={source}",
            "--out",
            target,
            "--overwrite",
            *QUIET,
        ]
        script = f"mount --bind d/s.zarr/g mounted && exec {shlex.join(command)}"
        result = subprocess.run(
            ["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False
        )
        if "mount" in result.stderr.split(":")[0]:
            pytest.skip(f"directories cannot be mounted: {result.stderr.strip()}")
        if times < 3:
            assert result.returncode == 0, result.stderr
            assert unharmed(tree, x + times)
            continue
        assert result.returncode == 1
        assert f"the result {target} would overwrite the source {source}: " in result.stderr
    assert unharmed(tree, x + 2)


def test_regions_of_one_array_in_two_spellings(place):
    tree, x = place
    z = zarr.create_array(tree / "z", shape=(30,), chunks=(5,), dtype="f8", fill_value=3)
    ones, twos = cubed.full(10, 1.0, chunks=5), cubed.full(7, 2.0, chunks=5)
    cubed.store([ones, twos], ["z", f"file://{tree}/way/../z"], [(slice(0, 10),), (slice(15, 22),)])
    assert z[...].tolist() == [1.0] * 10 + [3.0] * 5 + [2.0] * 7 + [3.0] * 8
    a = cubed.from_zarr(f"file://{tree}/z")
    with pytest.raises(ValueError, match="would overwrite the source"):
        cubed.store(a[:10] + 1, "./z", (slice(3, 13),))


def test_groups_with_slashes_around_their_paths(place):
    tree, x = place
    for k, source in enumerate(
        ("d/s.zarr::g/", "d/s.zarr:://g//", "d/s.zarr::/g/x/", "d/link/g/::")
    ):
        check(run("copy", source, f"copy{k}.zarr::to/", *QUIET))
        name = "to" if "x" in source else "to/x"
        got = zarr.open_array(tree / f"copy{k}.zarr" / name, mode="r")[...]
        np.testing.assert_array_equal(got, x)
    got = check(run("eval", "x + 1", "d/s.zarr::g/", "--json", *QUIET)).array()
    np.testing.assert_array_equal(got, x + 1)


@pytest.mark.filterwarnings("ignore")
def test_what_zarr_python_reads_and_writes_lies_somewhere_too(place):
    """The engine has no LZMA: functions of Python read and write the array."""
    tree, x = place
    options = {"chunks": (2, 3), "zarr_format": 2, "compressors": numcodecs.LZMA()}
    z = zarr.create_array(tree / "z", data=x, **options)
    a = cubed.from_array(z)
    for source in (a, pickle.loads(pickle.dumps(a))):
        with pytest.raises(ValueError, match="would overwrite the source"):
            cubed.store(source[::-1] + 1, z)
        for target in ("z", "way/../z", f"file://{tree}/z"):
            with pytest.raises(ValueError, match="would overwrite the source"):
                cubed.store(source[::-1] + 1, target, overwrite=False)
    b = zarr.create_array(tree / "b", shape=x.shape, dtype=x.dtype, **options)
    cubed.store(a[::-1] + 1, b)
    np.testing.assert_array_equal(b[...], x[::-1] + 1)
    np.testing.assert_array_equal(z[...], x)
    # Of what the engine reads itself:
    with pytest.raises(ValueError, match="would overwrite the source"):
        _writers.store(cubed.from_zarr("d/x")[::-1], zarr.open_array("d/s.zarr/g/x"), lock=True)
    assert unharmed(tree, x)


def test_stores_whose_names_have_colons(tmp_path):
    x = np.arange(6.0)
    store = zarr.storage.LocalStore(tmp_path / "a::b%20")
    z = zarr.create_array(store, name="g/x", data=x, chunks=(4,))
    np.testing.assert_array_equal(cubed.from_array(z).compute(), x)
    np.testing.assert_array_equal(cubed.from_zarr(store, path="g/x").compute(), x)
    cubed.to_zarr(cubed.from_array(z) + 1, store, path="g/y")
    np.testing.assert_array_equal(zarr.open_array(store, path="g/y")[...], x + 1)
    cubed.store(cubed.full(2, 7.0), z, (slice(0, 2),))
    np.testing.assert_array_equal(z[...], [7, 7, 2, 3, 4, 5])
    cubed.to_zarr(cubed.from_array(z) + 1, store, path="g/x")
    np.testing.assert_array_equal(zarr.open_array(store, path="g/x")[...], [8, 8, 3, 4, 5, 6])
