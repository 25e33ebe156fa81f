"""--durable: written files and their names are synced before the command ends."""

import os
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest
from conftest import BIN, check, run

import zarr

CALL = re.compile(r"^(\w+)\((.*)\) += 0$")


@pytest.fixture
def group(tmp_path):
    root = zarr.create_group(tmp_path / "g.zarr", attributes={"title": "winds"})
    for name in "uv":
        root.create_array(name, shape=(20, 3), chunks=(5, 3), dtype="f4")[...] = 1.5
    return tmp_path / "g.zarr"


def traced(tmp_path: pathlib.Path, *args: object) -> list[list[tuple[str, str]]]:
    """The calls that give names, and syncs, of each thread in their order: (call, arguments)."""
    if not shutil.which("strace"):
        pytest.skip("strace is not installed: what is synced was not seen")
    trace = tmp_path / "trace"
    trace.mkdir()
    command = ["strace", "-ff", "-qq", "-y", "-s", "4096", "-o", trace / "t"]
    command += [
        "-e",
        "trace=/^(fsync|mkdir|rename|link)",
        BIN,
        *map(str, args),
        "--progress",
        "none",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    if "PTRACE" in done.stderr:
        pytest.skip("strace may not trace here: what is synced was not seen")
    assert done.returncode == 0, done.stderr
    lines = [path.read_text().splitlines() for path in trace.iterdir()]
    return [[m.groups() for m in map(CALL.match, thread) if m] for thread in lines]


def all_below(*roots: pathlib.Path) -> set[str]:
    return {str(path) for root in roots for path in [root, *root.rglob("*")]}


def check_synced(tmp_path: pathlib.Path, threads: list[list[tuple[str, str]]]) -> set[str]:
    """Files are synced before they are renamed, and directories after a name was added. Returns the
    paths that are safe."""
    safe = set()
    for calls in threads:
        synced, waiting = set(), []
        for call, arguments in calls:
            if call == "fsync":
                path = re.search("<(.*)>", arguments)[1]
                synced.add(path)
                safe |= {name for name in waiting if str(pathlib.Path(name).parent) == path}
                waiting = [name for name in waiting if name not in safe]
                continue
            names = [
                os.path.normpath(tmp_path / directory / name)
                for directory, name in re.findall(r'(?:\w+<(.*?)>, )?"(.*?)"', arguments)
            ]
            if call.startswith(("rename", "link")):
                assert names[0] in synced
            waiting.append(names[-1])
    return safe


def commands(group: pathlib.Path) -> dict[str, list[object]]:
    return {
        "eval": ["eval", "a=u+v; b=u-v", group, "--out", "new.zarr"],
        "copy": ["copy", group, "new.zarr"],
        "rechunk": ["rechunk", f"{group}::u", "new.zarr", "--chunks", "4,2", "--shards", "8,2"],
        "demo": ["demo", "quadratic-means", "--size", "30MB", "--dir", "new.zarr", "--json"],
    }


@pytest.mark.parametrize("executor", ["threads", "processes"])
@pytest.mark.parametrize("verb", ["eval", "copy", "rechunk", "demo"])
def test_everything_is_synced(tmp_path, group, verb, executor):
    args = [*commands(group)[verb], "--executor", executor, "--durable"]
    safe = check_synced(tmp_path, traced(tmp_path, *args))
    written = all_below(tmp_path / "new.zarr")
    assert len(written) > 6
    assert written <= safe


def test_a_saved_plan_is_durable(tmp_path, group):
    plan = tmp_path / "p"
    check(run("eval", "u+1", group, "--out", tmp_path / "new.zarr", "--durable",
              "--save-plan", plan))  # fmt: skip
    safe = check_synced(tmp_path, traced(tmp_path, "run", plan))
    assert all_below(tmp_path / "new.zarr") <= safe
    np.testing.assert_array_equal(
        zarr.open_array(tmp_path / "new.zarr/u")[...], np.full((20, 3), 2.5)
    )


def test_nothing_is_synced_unasked(tmp_path, group):
    threads = traced(tmp_path, *commands(group)["eval"])
    calls = [call for thread in threads for call, _ in thread]
    assert "rename" in " ".join(calls) and "fsync" not in calls


def test_saved_plans_know_whether_they_are_durable(tmp_path):
    check(run("eval", "arange(9)", "--out", tmp_path / "o.zarr", "--save-plan", tmp_path / "p"))
    refused = run("run", tmp_path / "p", "--durable")
    assert refused.code == 2 and "--save-plan" in refused.err
    assert not (tmp_path / "o.zarr").exists()
