"""Results on a disk that loses and reorders changes that were not synced, after each change of a
run.
"""

import pathlib
import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from conftest import BIN, NIGHTLY, check, run
from simulated_disk import ENDED, FAILURES, Disk, recorder  # noqa: F401

import zarr

U = np.arange(60, dtype="f4").reshape(20, 3)
V = U[::-1] ** 2
Arrays = dict[str, bytes]


def make_group(path: pathlib.Path, values: dict[str, np.ndarray]) -> None:
    root = zarr.create_group(path, attributes={"title": "winds"})
    for name, a in values.items():
        root.create_array(name, shape=a.shape, chunks=(6, *a.shape[1:]), dtype=a.dtype,
                          dimension_names=["time", "x"][: a.ndim])[...] = a  # fmt: skip


def zarr_arrays(place: pathlib.Path) -> Arrays:
    """The values of the arrays that have metadata."""
    found = {}
    for pattern in ("zarr.json", ".zarray", "[!.]*/zarr.json", "[!.]*/.zarray"):
        for path in place.glob(pattern):
            array = zarr.open(path.parent, mode="r")
            if isinstance(array, zarr.Array):
                found[str(path.parent.relative_to(place))] = array[...].tobytes()
    return found


def zip_arrays(place: pathlib.Path) -> Arrays:
    if not place.exists():
        return {}
    with zarr.storage.ZipStore(place, mode="r") as store:
        group = zarr.open_group(store, mode="r")
        return {name: array[...].tobytes() for name, array in group.arrays()}


def netcdf_arrays(place: pathlib.Path) -> Arrays:
    netcdf = pytest.importorskip("netCDF4")
    if not place.exists():
        return {}
    with netcdf.Dataset(place) as file:
        file.set_auto_maskandscale(False)
        return {name: v[...].tobytes() for name, v in file.variables.items()}


def evaluate(text: str, *options: object) -> Callable[[pathlib.Path], list[object]]:
    return lambda out: ["eval", text, out.parent.parent / "g.zarr", "--out", out, *options]


def rechunk(name: str) -> Callable[[pathlib.Path], list[object]]:
    return lambda out: ["rechunk", f"{out.parent.parent / 'g.zarr'}::{name}", out,
                        "--chunks", "4,2", "--shards", "8,2"]  # fmt: skip


def copy(name: str) -> Callable[[pathlib.Path], list[object]]:
    return lambda out: ["copy", out.parent.parent / f"{name}.zarr", out]


#: The name of the result, its reader, the commands that make the old result and the new one, their
#: values, and options.
TWO = (evaluate("a=u*2; b=v*2"), evaluate("a=u+v; b=u-v"),
       {"a": U * 2, "b": V * 2}, {"a": U + V, "b": U - V})  # fmt: skip
KINDS = {
    "threads": ("o.zarr", zarr_arrays, *TWO, ()),
    "processes": ("o.zarr", zarr_arrays, *TWO, ("--executor", "processes", "--max-workers", 2)),
    "stored": ("o.zarr", zarr_arrays, *TWO, ("--no-optimize",)),
    "format 2": ("o.zarr", zarr_arrays, *TWO, ("--format", 2)),
    "shards": ("o.zarr", zarr_arrays, rechunk("v"), rechunk("u"), {".": V}, {".": U}, ()),
    "copy": ("o.zarr", zarr_arrays, copy("h"), copy("g"), {"u": V, "v": U}, {"u": U, "v": V}, ()),
    "netcdf": ("o.nc", netcdf_arrays, *TWO, ()),
    "zip": ("o.zip", zip_arrays, *TWO, ()),
}


def values(arrays: dict[str, np.ndarray]) -> Arrays:
    return {name: np.ascontiguousarray(a).tobytes() for name, a in arrays.items()}


def command(words: list[object], *options: object) -> list[object]:
    return [*words, *options, "--progress", "none"]


def states(
    disk: Disk,
    place: pathlib.Path,
    failures: list[tuple[str, str]],
    rng: random.Random,
    some: int,
    each: bool = NIGHTLY,
) -> Iterator[tuple[str, pathlib.Path]]:
    """The directories that failures leave after some changes; each night, after all changes. `each`
    takes all failures after a change, otherwise one."""
    changes = list(disk.changes())
    assert len(changes) > 8
    disk.rewind()
    chosen = range(len(changes)) if NIGHTLY else rng.sample(range(len(changes)), some)
    for number, call in enumerate(disk.changes()):
        for names, contents in failures if each else [rng.choice(failures)]:
            if number in chosen:
                what = f"change {number}, {call}: names are {names}, contents are {contents}"
                yield what, disk.write(place, names, contents, rng)


def check_found(found: Arrays, before: Arrays, after: Arrays, what: str) -> None:
    """Each array is absent if it is new, or has the values before, or those after."""
    assert set(before) <= set(found) <= set(after), what
    for name, a in found.items():
        assert a in (before.get(name), after[name]), (what, name)


@pytest.fixture
def places(tmp_path):
    """The directory that a disk has, and one for the states that failures leave."""
    root = tmp_path / "disk"
    root.mkdir()
    make_group(tmp_path / "g.zarr", {"u": U, "v": V})
    make_group(tmp_path / "h.zarr", {"u": V, "v": U})
    return root, tmp_path / "left"


@pytest.mark.parametrize("replaces", [False, True], ids=["new", "replaced"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("durable", [False, True], ids=["killed", "durable"])
def test_results(places, recorder, kind, replaces, durable):  # noqa: F811
    """A result is whole or absent after a process was killed; with `--durable`, after a power
    failure, too, and nothing is lost when the command has ended."""
    root, left = places
    name, read, old, new, before, after, options = KINDS[kind]
    before, after = values(before) if replaces else {}, values(after)
    if replaces:
        check(run(*command(old(root / name), *options)))
        assert read(root / name) == before
        options += ("--overwrite",)
    options += ("--durable",) * durable
    failures = FAILURES if durable else [ENDED]
    disk = Disk(root)
    disk.run(recorder, BIN, *command(new(root / name), *options))
    assert read(root / name) == after
    rng = random.Random(f"{kind} {replaces}")
    for what, state in states(disk, left, failures, rng, 9):
        check_found(read(state / name), before, after, what)
    for names, contents in failures:
        assert read(disk.write(left, names, contents, rng) / name) == after, (names, contents)


@pytest.mark.parametrize("durable", [False, True], ids=["quick", "durable"])
@pytest.mark.parametrize("kind", KINDS)
def test_next_runs(places, recorder, kind, durable):  # noqa: F811
    """Whatever a power failure leaves, the next run has the right result. Without `--durable`, the
    metadata of the old result may be damaged, and the run refuses to replace such a result."""
    root, left = places
    name, read, old, new, _, after, options = KINDS[kind]
    options += ("--durable",) * durable
    check(run(*command(old(root / name), *options)))
    disk = Disk(root)
    options += ("--overwrite",)
    disk.run(recorder, BIN, *command(new(root / name), *options))
    for what, state in states(disk, left, FAILURES, random.Random(kind), 4, each=False):
        result = run(*command(new(state / name), *options))
        if not durable and "not JSON" in result.err:
            continue
        assert result.code == 0, (what, result.err)
        assert read(state / name) == values(after), what


@pytest.mark.parametrize("durable", [False, True], ids=["killed", "durable"])
@pytest.mark.parametrize("name", ["o.zarr", "o.nc"])
def test_appended_elements(places, recorder, name, durable):  # noqa: F811
    root, left = places
    read = netcdf_arrays if name == "o.nc" else zarr_arrays
    before = values({"u": U, "v": V})
    after = values({"u": np.concatenate([U, V]), "v": np.concatenate([V, U])})
    options = ("--durable",) * durable
    check(run(*command(["copy", root.parent / "g.zarr", root / name], *options)))
    assert read(root / name) == before
    disk = Disk(root)
    append = ["eval", "u=u*1; v=v*1", root.parent / "h.zarr", "--out", root / name]
    disk.run(recorder, BIN, *command(append, "--append", "time", *options))
    assert read(root / name) == after
    rng = random.Random(name)
    failures = FAILURES if durable else [ENDED]
    for what, state in states(disk, left, failures, rng, 9):
        check_found(read(state / name), before, after, what)
    for names, contents in failures:
        assert read(disk.write(left, names, contents, rng) / name) == after, (names, contents)
