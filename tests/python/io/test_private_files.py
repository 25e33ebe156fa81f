"""Only the user can access the files of a run, and files of other users are not used instead."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import cubed
import numpy as np
import pytest
from cubed.runtime.executors._replies import leave

import zarr

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can play another user")

#: A run that looks at the work directory while it is at work, with no help of its umask.
PROGRAM = r"""
import os, sys
import cubed, numpy as np

os.umask(0)
executor, work = sys.argv[1], sys.argv[2] or None
top = work or os.environ["TMPDIR"]

def look(block):
    for where, folders, files in os.walk(top):
        for name in [*folders, *files]:
            path = os.path.join(where, name)
            try:
                mode = os.lstat(path).st_mode
                os.write(2, f"{mode:#o} {os.path.relpath(path, top)}\n".encode())
            except FileNotFoundError:
                pass
    return block

spec = cubed.Spec(work, allowed_mem="300MB", reserved_mem="250MB")
x = cubed.from_array(np.arange(3e5).reshape(300, 1000), chunks=(50, 1000), spec=spec)
y = cubed.map_blocks(look, (x + 1).rechunk((300, 250)), dtype="f8").rechunk((100, 1000))
options = {} if executor == "single-threaded" else {"max_workers": 2}
z = y.compute(executor=executor, optimize_graph=False, **options)
assert (z == np.arange(3e5).reshape(300, 1000) + 1).all()
"""


def seen(executor, tmp, work=""):
    """Modes of what is seen in the work directory while a run is at work, by paths in it."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, executor, work], capture_output=True, text=True,
        env={**os.environ, "TMPDIR": str(tmp)}, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [line.split(" ", 1) for line in done.stderr.splitlines() if line.startswith("0o")]
    return {path: int(mode, 8) for mode, path in lines}


@pytest.mark.parametrize("executor", ["threads", "processes", "futures"])
@pytest.mark.parametrize("named", [False, True])
def test_what_a_run_makes_is_for_its_user_alone(executor, named, tmp_path):
    """In the default work directory, and below one that the user names."""
    tmp_path.chmod(0o1777)
    modes = seen(executor, tmp_path, str(tmp_path / "work") if named else "")
    ours = {p: m for p, m in modes.items() if p.startswith("cubed-")}
    assert executor == "threads" or any(stat.S_ISREG(m) for m in ours.values())
    for path, mode in ours.items():
        assert stat.S_IMODE(mode) == (0o700 if stat.S_ISDIR(mode) else 0o600), path
    assert list(tmp_path.rglob("cubed-*")) == []
    if named and executor != "threads":
        assert stat.S_IMODE((tmp_path / "work").stat().st_mode) == 0o777  # by the umask


@pytest.fixture
def folder():
    """One that other users can enter, which pytest's are not."""
    path = Path(tempfile.mkdtemp(prefix="cubed-test-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def unfinished(folder):
    """The folder of a run of y, with its intermediates, which fails until "go" is there."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    work.chmod(0o1777)
    spec = cubed.Spec(
        work, allowed_mem="300MB", reserved_mem="250MB", executor_name="processes",
        executor_options={"max_workers": 1},
    )  # fmt: skip
    go = folder / "go"

    def second(block):
        if not go.exists():
            raise LookupError("not yet")
        return block * 2

    x = cubed.from_array(np.arange(600.0).reshape(30, 20), chunks=(5, 20), spec=spec)
    y = cubed.map_blocks(second, (x + 1).rechunk((30, 5)), dtype="f8")
    return y, work


def plant(path, value):
    """Another user's folder with the same names, in which all values are another one."""
    for p in [path, *path.rglob("*")]:
        if p.is_file() and p.stat().st_size % 8 == 0 and p.stat().st_size > 0:
            p.write_bytes(np.full(p.stat().st_size // 8, value).tobytes())
        os.chown(p, NOBODY, NOBODY)
        p.chmod(0o777 if p.is_dir() else 0o666)


@as_root
def test_intermediates_of_another_user_are_not_continued(folder):
    """The folder has the name and the record of the run that is resumed."""
    y, work = unfinished(folder)
    with pytest.raises(LookupError, match="not yet"):
        cubed.to_zarr(y, folder / "out", resume=True, optimize_graph=False)
    (left,) = work.iterdir()
    assert left.name.startswith("cubed-")
    plant(left, -1.0)
    shutil.rmtree(folder / "out")
    (folder / "go").touch()
    cubed.to_zarr(y, folder / "out", resume=True, optimize_graph=False)
    expected = (np.arange(600.0).reshape(30, 20) + 1) * 2
    np.testing.assert_array_equal(zarr.open_array(folder / "out")[...], expected)
    assert left.stat().st_uid == NOBODY  # as it was


@as_root
@pytest.mark.parametrize("how", ["owner", "mode", "link"])
def test_a_run_is_not_continued_in_what_another_user_made(how, folder):
    """Of the run that the target names: its folder is another user's, or others can write there."""
    y, work = unfinished(folder)
    with pytest.raises(LookupError, match="not yet"):
        cubed.to_zarr(y, folder / "out", resume=True, optimize_graph=False)
    (left,) = work.iterdir()
    if how == "owner":
        plant(left, -1.0)
    elif how == "mode":
        left.chmod(0o777)
    else:
        left.rename(folder / "elsewhere")
        left.symlink_to(folder / "elsewhere")
    (folder / "go").touch()
    expected = f"{left.name} is .*, expected a directory of user 0 that no other user can write"
    with pytest.raises(FileExistsError, match=f"{expected}: remove it, or name another"):
        cubed.to_zarr(y, folder / "out", resume=True, optimize_graph=False)
    left.unlink() if how == "link" else shutil.rmtree(left)
    cubed.to_zarr(y, folder / "out", resume=True, optimize_graph=False)
    values = zarr.open_array(folder / "out")[...]
    np.testing.assert_array_equal(values, (np.arange(600.0).reshape(30, 20) + 1) * 2)


@as_root
def test_a_result_of_another_user_is_not_read(folder, monkeypatch):
    """Engines' results in memory lie in the work directory, under a name that can be guessed."""
    work = folder / "work"
    work.mkdir()
    work.chmod(0o1777)
    spec = cubed.Spec(
        work, allowed_mem="300MB", reserved_mem="250MB", executor_name="futures",
        executor_options={"max_workers": 1},
    )  # fmt: skip
    monkeypatch.setattr("cubed.planning._results._core.remove_result", lambda url: None)
    y = cubed.from_array(np.arange(600.0).reshape(30, 20), chunks=(5, 20), spec=spec) + 1
    y.compute(resume=True)  # as a driver that is killed leaves it
    monkeypatch.undo()
    (found,) = work.iterdir()
    plant(found, -1.0)
    with pytest.raises(FileExistsError, match="cubed-result-.* expected a directory of user 0"):
        y.compute(resume=True)
    shutil.rmtree(work / found.name)
    np.testing.assert_array_equal(y.compute(resume=True), np.arange(600.0).reshape(30, 20) + 1)


@as_root
def test_another_user_cannot_look(folder):
    """A run in a directory that everybody may write, while it is at work."""
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv, by which another user looks, is not installed")
    work = folder / "work"
    work.mkdir()
    work.chmod(0o1777)
    spec = cubed.Spec(work, allowed_mem="300MB", reserved_mem="250MB")
    who = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]

    def look(block):
        look = "ls -A; d=$(echo cubed-*); ls -A $d; cat $d/.cubed-run; touch $d/x"
        done = subprocess.run(
            [*who, "sh", "-c", look], cwd=work, capture_output=True, text=True, check=False
        )
        assert done.stdout.startswith("cubed-"), done  # it is there
        assert len(done.stdout.splitlines()) == 1, done
        assert done.stderr.count("Permission denied") == 3, done
        return block

    x = cubed.from_array(np.arange(600.0).reshape(30, 20), chunks=(5, 20), spec=spec)
    y = cubed.map_blocks(look, (x + 1).rechunk((30, 5)), dtype="f8")
    y.compute(executor="processes", max_workers=1, optimize_graph=False)


def test_replies_of_workers_are_for_their_user_alone(folder):
    """Of engines whose calls give no results: they lie beside the run's plan."""
    before = os.umask(0)
    try:
        leave((f"{folder}/plan-1-a-0", b"message"), lambda message: message)
    finally:
        os.umask(before)
    files = list(folder.iterdir())
    assert sorted(p.name for p in files) == ["plan-1-a-0", "plan-1-a-0-by"]
    assert [stat.S_IMODE(p.stat().st_mode) for p in files] == [0o600, 0o600]
