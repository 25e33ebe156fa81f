"""Files of results: only one process writes each file, and a late process does not replace
another's file.
"""

import json
import os
import signal
import subprocess
import time
import zipfile

import cubed
import numpy as np
import pytest
from conftest import BIN, check, run
from test_takeover import elsewhere

import zarr

ROWS, CHUNKS = 4000, 800


@pytest.fixture
def source(tmp_path):
    x = np.arange(ROWS, dtype="f8")
    zarr.create_array(tmp_path / "x", shape=ROWS, chunks=ROWS // CHUNKS, dtype="f8")[...] = x
    return x


def command(tmp_path, out, text="x + 1", *options):
    where = ("--in", f"x={tmp_path / 'x'}", "--out", tmp_path / out)
    return [BIN, "eval", text, *where, "--progress", "none", "--max-workers", "1", *options]


def interrupted(tmp_path, out, number, *options):
    """A process that gets a signal while it makes chunks of a file. It is stopped first, and its
    chunks are counted: if it has made most of them, as on a busy machine, another one starts."""
    line = [str(word) for word in command(tmp_path, out, "x + 1", "--durable", *options)]
    new = tmp_path / f"{out}.cubed-new/data"
    for _ in range(50):
        process = subprocess.Popen(line, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not next(new.glob("**/c/[0-9]*"), None):
            time.sleep(0.001)
        process.send_signal(signal.SIGSTOP)
        ended = process.poll() is not None or os.waitid(
            os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT
        ).si_code in (os.CLD_EXITED, os.CLD_KILLED)
        if not ended and len([*new.glob("**/c/[0-9]*")]) < CHUNKS // 2:
            process.send_signal(number)
            if number != signal.SIGSTOP:
                process.send_signal(signal.SIGCONT)
            return process
        process.send_signal(signal.SIGCONT)
        assert process.wait() == 0
        (tmp_path / out).unlink()
    return pytest.fail("every process had made most chunks before it was stopped")


def names(file):
    with zipfile.ZipFile(file) as archive:
        return {os.path.dirname(name) for name in archive.namelist()}  # noqa: PTH120


@pytest.mark.parametrize("options", [(), ("--resume",)])
def test_a_file_has_no_results_of_another_process(tmp_path, source, options):
    """What a killed process left next to the file is not of this one's results."""
    interrupted(tmp_path, "r.zip", signal.SIGKILL).wait()
    two = command(tmp_path, "r.zip", "a = x * 2; b = x * 3", *options)
    check(run(*two[1:]))
    assert names(tmp_path / "r.zip") == {"", "a", "a/c", "b", "b/c"}
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "r.zip", "b").compute(), source * 3)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.zip", "x"]


def test_a_killed_process_is_resumed(tmp_path, source):
    interrupted(tmp_path, "r.nc", signal.SIGINT).wait()
    assert (tmp_path / "r.nc.cubed-new/data").is_dir()
    result = run(*command(tmp_path, "r.nc", "x + 1", "--resume", "--json")[1:])
    check(result)
    assert 0 < result.run["resumed"] < CHUNKS
    x = cubed.from_zarr(tmp_path / "r.nc", "x").compute()
    np.testing.assert_array_equal(x, source + 1)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.nc", "x"]


def test_results_of_a_silent_process_are_not_kept(tmp_path, source):
    """A process of another machine may still remove what it made: its results are made anew."""
    interrupted(tmp_path, "r.nc", signal.SIGKILL).wait()
    for record in (tmp_path / "r.nc.cubed-new").rglob(".cubed-run"):
        record.write_text(json.dumps(elsewhere(json.loads(record.read_text()), 700)))
    result = run(*command(tmp_path, "r.nc", "x + 1", "--resume", "--json")[1:])
    check(result)
    assert result.run["resumed"] == 0
    x = cubed.from_zarr(tmp_path / "r.nc", "x").compute()
    np.testing.assert_array_equal(x, source + 1)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.nc", "x"]


def test_one_process_writes_a_file(tmp_path, source):
    first = interrupted(tmp_path, "r.zip", signal.SIGSTOP)
    for options in (), ("--resume",):
        second = run(*command(tmp_path, "r.zip", "x + 2", *options)[1:])
        assert second.code != 0
        assert "r.zip: " in second.err and f"process {first.pid}" in second.err
    with pytest.raises(FileExistsError, match=f"process {first.pid}"):
        cubed.to_zarr(cubed.from_zarr(tmp_path / "x"), tmp_path / "r.zip")
    first.send_signal(signal.SIGCONT)
    assert first.wait() == 0, first.stderr.read()
    x = cubed.from_zarr(tmp_path / "r.zip").compute()
    np.testing.assert_array_equal(x, source + 1)


def test_what_another_program_makes_meanwhile_stays(tmp_path, source):
    first = interrupted(tmp_path, "r.zip", signal.SIGSTOP)
    (tmp_path / "r.zip").write_text("of another program")
    first.send_signal(signal.SIGCONT)
    error = first.communicate()[1]
    assert first.returncode != 0
    assert "r.zip exists: another program has created it" in error
    assert (tmp_path / "r.zip").read_text() == "of another program"
    # The results are complete, and need not be computed again.
    (tmp_path / "r.zip").unlink()
    result = run(*command(tmp_path, "r.zip", "x + 1", "--resume", "--json")[1:])
    check(result)
    assert result.run["resumed"] == CHUNKS
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "r.zip").compute(), source + 1)


def test_a_directory_that_is_in_the_way_stays(tmp_path, source):
    mine = tmp_path / "r.zip.cubed-new/mine.txt"
    mine.parent.mkdir()
    mine.write_text("kept")
    result = run(*command(tmp_path, "r.zip")[1:])
    assert result.code != 0
    assert "r.zip.cubed-new has files that do not belong to an unfinished" in result.err
    with pytest.raises(FileExistsError, match="rename or remove it"):
        cubed.to_zarr(cubed.from_zarr(tmp_path / "x"), tmp_path / "r.zip")
    assert mine.read_text() == "kept"
    assert not (tmp_path / "r.zip").exists()


@pytest.mark.parametrize("name", ["r.zip", "r.nc"])
def test_results_without_a_record_are_replaced(tmp_path, source, name):
    """A power failure may lose the record of a process, and keep its results."""
    left = tmp_path / f"{name}.cubed-new"
    (left / "data/c").mkdir(parents=True)
    (left / "data/c/0").write_bytes(b"chunk")
    (left / ".cubed-part-1234.zip").write_bytes(b"PK")
    check(run(*command(tmp_path, name)[1:]))
    assert not left.exists()
    left.mkdir()
    (left / "data").mkdir()
    (left / "mine.txt").write_text("kept")
    result = run(*command(tmp_path, name, "x + 2", "--overwrite")[1:])
    assert "has files that do not belong to an unfinished" in result.err
    assert (left / "mine.txt").read_text() == "kept" and (left / "data").exists()


@pytest.mark.parametrize("place", ["", "r.nc.cubed-new"])
def test_clean_removes_what_a_killed_process_left(tmp_path, source, place):
    interrupted(tmp_path, "r.nc", signal.SIGKILL).wait()
    (tmp_path / "s.nc.cubed-new").mkdir()
    (tmp_path / "s.nc.cubed-new/mine.txt").write_text("kept")
    check(run("clean", tmp_path / place))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s.nc.cubed-new", "x"]


def test_exceptions_of_the_package_give_the_file_up(tmp_path, source):
    def fail(block):
        raise ValueError("no values")

    x = cubed.from_zarr(tmp_path / "x")
    for name in "r.zip", "r.nc":
        with pytest.raises(ValueError, match="no values") as caught:
            cubed.to_zarr(x.map_blocks(fail, dtype="f8"), tmp_path / name, path="x")
        cubed.to_zarr(x + 1, tmp_path / name, path="x")
        np.testing.assert_array_equal(cubed.from_zarr(tmp_path / name, "x").compute(), source + 1)
        del caught
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.nc", "r.zip", "x"]
