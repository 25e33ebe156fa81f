"""Runs that are interrupted, killed, or short of disk space, and the files that they leave."""

import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager

import cubed
import numpy as np
import pytest
from conftest import BIN, cases, check, run, short_files

import zarr

KEEP = {"write_empty_chunks": True}
EXPRESSION = "exp(log(abs(x)))**1.5 + sum(x, axis=0) + zero"


class Gate:
    """The last chunk of an array. While it is closed it is leased: who reads it waits."""

    def __init__(self, chunk: pathlib.Path):
        self.chunk, self.lease = chunk, -1

    def close(self):
        signal.signal(signal.SIGIO, signal.SIG_IGN)  # which says that somebody waits
        self.lease = os.open(self.chunk, os.O_RDWR)
        fcntl.fcntl(self.lease, fcntl.F_SETLEASE, fcntl.F_WRLCK)

    def open(self):
        if self.lease >= 0:
            os.close(self.lease)
            self.lease = -1


class Job:
    """A run over many small chunks that can be disturbed before it is over."""

    def __init__(self, folder: pathlib.Path, source: pathlib.Path, x: np.ndarray):
        self.x = x
        self.out, self.work = folder / "out.zarr", folder / "work"
        zero = folder / "zero.zarr"
        z = zarr.create_array(
            zero, shape=(len(x), 1), chunks=(20, 1), dtype="f8", compressors=(), config=KEEP
        )
        z[...] = 0
        self.gate = Gate(zero / "c/199/0")
        self.args = ["eval", EXPRESSION, "--in", f"x={source}", "--in", f"zero={zero}"]
        self.args += ["--out", self.out, "--work-dir", self.work]
        self.args += ["--progress", "none", "--max-workers", "2"]

    @contextmanager
    def started(self, *options: str, rows: int = 500):
        """Yields the process when it has written some chunks, those of several tasks. It cannot end
        before the gate is opened."""
        self.gate.close()
        with subprocess.Popen(
            [BIN, *map(str, self.args), *options], stderr=subprocess.PIPE, text=True
        ) as process:
            try:
                deadline = time.monotonic() + 60
                while self.begun() < rows and time.monotonic() < deadline:
                    time.sleep(0.005)
                assert process.poll() is None, process.stderr.read()
                yield process
            finally:
                process.kill()
                self.gate.open()

    def begun(self) -> int:
        """How many rows of chunks there are: cheap, as it is asked again and again."""
        try:
            return len(os.listdir(self.out / "c"))
        except FileNotFoundError:
            return 0

    def chunks(self) -> list[pathlib.Path]:
        return [p for p in self.out.glob("c/*/*") if p.name.isdigit()]

    def expect_unfinished(self):
        assert not (self.out / "zarr.json").exists()
        with pytest.raises((FileNotFoundError, zarr.errors.NodeTypeValidationError)):
            zarr.open_array(self.out, mode="r")

    def expect_whole(self):
        got = zarr.open_array(self.out, mode="r")[...]
        expected = np.abs(self.x) ** 1.5 + self.x.sum(axis=0)
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)
        assert json.loads((self.out / ".cubed-run").read_text())["state"] == "done"
        assert not self.work.exists() or not list(self.work.rglob("*/*"))


def children(pid: int) -> list[int]:
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:  # it is gone already
        return False
    return True


def test_clean_removes_leftovers_and_nothing_else(job):
    whole = job.out.parent / "whole.zarr"
    zarr.create_array(whole, shape=(4,), chunks=(2,), dtype="i4")[...] = 1
    (whole / ".cubed-run").write_text("0" * 32)  # killed while it finished
    with job.started("--no-optimize", "--allowed-mem", "20MB", "--reserved-mem", "1MB") as process:
        process.kill()
        process.wait(timeout=30)
    assert job.chunks()
    (job.out / "notes.txt").write_text("mine")
    told = check(run("clean", job.out.parent, "--dry-run"))
    assert "would remove an unfinished array" in told.out
    assert job.chunks()
    check(run("clean", job.out, job.work, whole))
    assert not job.chunks()
    assert (job.out / "notes.txt").read_text() == "mine"
    assert not list(job.work.rglob("*/*"))
    np.testing.assert_array_equal(zarr.open_array(whole, mode="r")[...], 1)
    assert not (whole / ".cubed-run").exists()
    assert "nothing is left over" in check(run("clean", job.out.parent)).out


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("source") / "x.zarr"
    z = zarr.create_array(path, shape=(4000, 300), chunks=(1, 300), dtype="f8", compressors=())
    x = np.random.default_rng(1).normal(size=z.shape)
    for i, row in enumerate(x):  # by itself: zarr takes seconds for so many
        (path / f"c/{i}").mkdir(parents=True)
        (path / f"c/{i}/0").write_bytes(row.tobytes())
    np.testing.assert_array_equal(z[::500], x[::500])
    return path, x


@pytest.fixture
def job(tmp_path, source):
    return Job(tmp_path, *source)


@pytest.mark.parametrize("executor", ["threads", "single-threaded", "processes"])
def test_interrupted_runs_are_resumed(job, executor):
    with job.started("--executor", executor) as process:
        process.send_signal(signal.SIGINT)
        job.gate.open()
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130, "the run was over before it was interrupted"
    assert "interrupted after" in err and "--resume" in err
    job.expect_unfinished()
    kept = {p: p.stat().st_mtime_ns for p in job.chunks()}
    assert kept
    again = check(run(*job.args, "--executor", executor, "--resume", "--json"))
    assert again.run["resumed"] > 0
    job.expect_whole()
    # A task makes several chunks, one after another; of one that was at work the others are made.
    assert all(p.stat().st_mtime_ns == t for p, t in kept.items())


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_a_killed_run_is_resumed_by_another_executor(job, executor):
    with job.started("--executor", executor) as process:
        process.kill()
        process.wait(timeout=30)
    assert process.returncode == -signal.SIGKILL
    job.expect_unfinished()
    other = "single-threaded" if executor == "processes" else "processes"
    again = check(run(*job.args, "--executor", other, "--resume", "--json"))
    assert again.run["resumed"] > 0
    job.expect_whole()


def test_killed_workers_are_replaced(job):
    killed = 0
    with job.started("--executor", "processes", "--retries", "9") as process:
        for _ in range(6):
            for pid in children(process.pid)[:1]:
                killed += kill(pid)
            time.sleep(0.02)
        job.gate.open()
        _, err = process.communicate(timeout=60)
    assert killed >= 2
    assert process.returncode == 0, err
    job.expect_whole()


def test_workers_that_keep_dying_end_the_run(job):
    with job.started("--executor", "processes", "--retries", "1") as process:
        deadline = time.monotonic() + 30
        while process.poll() is None and time.monotonic() < deadline:
            for pid in children(process.pid) if process.poll() is None else []:
                kill(pid)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "was ended by signal 9" in err
    job.expect_unfinished()


def test_workers_are_limited_by_the_system(job):
    with job.started("--executor", "processes", "--allowed-mem", "123MB") as process:
        limits = [pathlib.Path(f"/proc/{pid}/limits").read_text() for pid in children(process.pid)]
    assert limits
    for text in limits:
        assert re.search(r"Max data size\s+123000000\s", text)


@pytest.mark.parametrize("version", ["0.28.0", None])
def test_a_run_of_another_version_is_not_resumed(job, version):
    """Its chunks may differ from those of this version. The first records name no version."""
    with job.started() as process:
        process.kill()
        process.wait(timeout=30)
    place = job.out / ".cubed-run"
    record = json.loads(place.read_text())
    assert record.pop("cubed") == cubed.__version__
    place.write_text(json.dumps(record | ({"cubed": version} if version else {})))
    chunks = job.chunks()
    refused = run(*job.args, "--resume")
    assert refused.code == 1
    began = f"version {version}" if version else "an earlier version"
    assert f"an unfinished run that {began} of cubed began, and this is" in refused.err
    assert "end the run with that version, or overwrite it" in refused.err
    assert f"version {cubed.__version__}:" in refused.err
    assert job.chunks() == chunks
    check(run(*job.args, "--resume", "--overwrite"))
    job.expect_whole()


def test_an_unfinished_run_does_not_block_a_new_one(job):
    with job.started() as process:
        process.kill()
        process.wait(timeout=30)
    args = [EXPRESSION + " + 1" if a == EXPRESSION else a for a in job.args]
    refused = run(*args, "--resume")
    assert refused.code == 1
    assert "an unfinished run of another computation" in refused.err
    assert job.chunks()
    check(run(*args))
    got = zarr.open_array(job.out, mode="r")[...]
    np.testing.assert_allclose(got, np.abs(job.x) ** 1.5 + job.x.sum(axis=0) + 1, atol=1e-9)


def test_resuming_what_was_never_started(job):
    result = check(run(*job.args, "--resume", "--json"))
    assert result.run["resumed"] == 0
    job.expect_whole()
    times = {p: p.stat().st_mtime_ns for p in job.out.rglob("*")}
    again = check(run(*job.args, "--resume", "--json"))
    assert again.run["resumed"] == result.run["tasks"]
    assert {p: p.stat().st_mtime_ns for p in job.out.rglob("*")} == times
    assert run(*job.args).code == 1


def test_missing_chunks_of_a_resumed_run_are_made_again(job):
    with job.started() as process:
        process.kill()
        process.wait(timeout=30)
    there = len(job.chunks())
    for chunk in job.chunks()[::2]:
        chunk.unlink()
    check(run(*job.args, "--resume"))
    job.expect_whole()
    assert there >= 480  # but for those that were being written


@pytest.mark.parametrize(
    "text", ["rechunk(x[0] * 2, (6, 8))", "sum(rechunk(x, (3, 6, 8)), axis=0) * 2"]
)
@pytest.mark.parametrize("executor", ["threads", "single-threaded", "processes"])
def test_a_task_makes_only_the_chunks_that_are_missing(tmp_path, executor, text):
    x = np.random.default_rng(0).normal(size=(4, 60, 40))
    zarr.create_array(tmp_path / "x", shape=x.shape, chunks=x.shape, dtype="f8")[...] = x
    expected = x.sum(0) * 2 if "sum" in text else x[0] * 2
    stop = zarr.create_array(tmp_path / "stop", shape=(61,), chunks=(1,), dtype="f8", config=KEEP)
    stop[...] = 1
    gate = Gate(tmp_path / "stop/c/60")
    out = tmp_path / "out"
    args = ["eval", f"a = {text}; b = sum(stop)", "--in", f"x={tmp_path / 'x'}"]
    args += ["--in", f"stop={tmp_path / 'stop'}", "--out", out, "--progress", "none", "--json"]
    # A plan for two: one worker would do the sum, which waits, in a task of its own before.
    args += ["--executor", executor, "--max-workers", "2"]

    def made():
        return sorted(p for p in (out / "a/c").glob("*/*") if p.name.isdigit())

    gate.close()
    with subprocess.Popen([BIN, *map(str, args)], stdout=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while len(made()) < 50 and time.monotonic() < deadline:
            time.sleep(0.002)
        process.kill()
    gate.open()
    tasks = made()
    assert len(tasks) == 50
    for chunk in ["3/1", "3/3", "5/2"]:
        (out / "a/c" / chunk).unlink()
    before = {p: p.stat().st_mtime_ns for p in made()}
    assert check(run(*args, "--resume")).run["tasks"] > 0
    box = {out / f"a/c/{i}/{j}" for i in range(3, 6) for j in range(1, 4)}
    written = {p for p in made() if p.stat().st_mtime_ns != before.get(p)}
    assert written == box
    np.testing.assert_allclose(zarr.open_array(out / "a", mode="r")[...], expected, rtol=1e-14)
    np.testing.assert_array_equal(zarr.open_array(out / "b", mode="r")[...], 61)


def test_pieces_that_worker_processes_left_are_put_together_by_threads(tmp_path):
    """Threads alone write pieces of a chunk into its file: not where some lie elsewhere."""
    x, out, work = (tmp_path / name for name in ("x", "out", "work"))
    rows = np.random.default_rng(1).normal(size=(40, 50000))
    z = zarr.create_array(x, shape=rows.shape, chunks=(10, 50000), dtype="f8", compressors=None)
    z[...] = rows
    raw = json.dumps([{"name": "bytes", "configuration": {"endian": "little"}}])
    args = ["eval", "mean(x, axis=0)", "--in", f"x={x}", "--out", out, "--work-dir", work]
    args += ["--codecs", raw, "--max-workers", "2", "--progress", "none"]
    left = []
    for _ in range(20):
        with subprocess.Popen([BIN, *map(str, args), "--executor", "processes"]) as process:
            while process.poll() is None and not left:
                # Folders may go while they are looked into, which os.walk takes as it comes.
                left = [name for *_, files in os.walk(work) for name in files if name.isdigit()]
            process.kill()
        if left and not (out / "zarr.json").exists():
            break
        left = []
        shutil.rmtree(out, ignore_errors=True)
    assert left
    check(run(*args, "--executor", "threads", "--resume"))
    np.testing.assert_allclose(zarr.open_array(out, mode="r")[...], rows.mean(0), rtol=1e-12)
    assert not list(tmp_path.rglob(".cubed-tmp-*"))


@contextmanager
def small_disk(path):
    """A file system of 4 MB; what is yielded makes it larger."""
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(path)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("a small file system cannot be mounted here (needs root)")
    try:
        yield lambda: subprocess.run([*mount[:4], "size=64m,remount", *mount[5:]], check=True)
    finally:
        subprocess.run(["umount", str(path)], check=True)


FULL = {
    "x * 2": lambda x: x * 2,
    "sort(x, axis=0)": lambda x: np.sort(x, axis=0),
    "reshape(x, (-1, 500))": lambda x: x.reshape(-1, 500),
    "compress(reshape(x, (-1,)), reshape(x, (-1,)) != 2, count=1000000)": lambda x: x.reshape(-1),
    "cumulative_sum(x, axis=1)": lambda x: np.cumsum(x, axis=1),
}


@pytest.mark.parametrize("text", FULL)
def test_a_full_disk_is_reported_and_can_be_resumed(tmp_path, text):
    small = tmp_path / "small"
    x = np.random.default_rng(0).random(size=(1000, 1000))
    z = zarr.create_array(tmp_path / "x.zarr", shape=x.shape, chunks=(50, 1000), dtype="f8")
    z[...] = x
    args = ["eval", text, "--in", f"x={tmp_path / 'x.zarr'}", "--out", small / "y.zarr"]
    args += ["--progress", "none"]
    with small_disk(small) as enlarge:
        result = run(*args)
        assert result.code == 1
        assert "No space left on device" in result.err
        assert not (small / "y.zarr/zarr.json").exists()
        enlarge()
        again = check(run(*args, "--resume", "--json"))
        if text == "x * 2":
            assert again.run["resumed"] > 0
        got = zarr.open_array(small / "y.zarr", mode="r")[...]
        np.testing.assert_allclose(got, FULL[text](x), rtol=1e-12)


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_a_full_work_directory_is_reported_and_can_be_resumed(tmp_path, executor):
    x = np.random.default_rng(0).random(size=(1000, 1000))
    z = zarr.create_array(tmp_path / "x.zarr", shape=x.shape, chunks=(50, 1000), dtype="f8")
    z[...] = x
    args = ["eval", "sort(x + 1, axis=0)", "--in", f"x={tmp_path / 'x.zarr'}", "--no-optimize"]
    args += ["--out", tmp_path / "y.zarr", "--work-dir", tmp_path / "small", "--max-workers", 1]
    args += ["--allowed-mem", "20MB", "--progress", "none", "--executor", executor]
    with small_disk(tmp_path / "small") as enlarge:
        result = run(*args)
        assert result.code == 1
        assert "No space left on device" in result.err
        assert not (tmp_path / "y.zarr/zarr.json").exists()
        enlarge()
        check(run(*args, "--resume"))
        got = zarr.open_array(tmp_path / "y.zarr", mode="r")[...]
        np.testing.assert_array_equal(got, np.sort(x + 1, axis=0))
        assert not list((tmp_path / "small").rglob("*/*"))


def test_results_in_memory_come_from_worker_processes(tmp_path):
    x = np.random.default_rng(0).normal(size=(64, 50))
    z = zarr.create_array(tmp_path / "x.zarr", shape=x.shape, chunks=(8, 50), dtype="f8")
    z[...] = x
    args = ["eval", "a=x+1; b=sum(x, axis=0)", "--in", f"x={tmp_path / 'x.zarr'}", "--json"]
    got = check(run(*args, "--executor", "processes", "--progress", "none")).arrays()
    same = check(run(*args, "--executor", "threads", "--progress", "none")).arrays()
    np.testing.assert_array_equal(got["a"], x + 1)
    np.testing.assert_array_equal(got["a"], same["a"])
    np.testing.assert_array_equal(got["b"], same["b"])


def test_a_read_only_target_is_reported_before_the_run(tmp_path):
    z = zarr.create_array(tmp_path / "x.zarr", shape=(4,), chunks=(2,), dtype="f8")
    z[...] = 1
    (tmp_path / "file").write_text("no directory")
    result = run(
        "eval", "x+1", "--in", f"x={tmp_path / 'x.zarr'}", "--out", tmp_path / "file" / "y.zarr"
    )
    assert result.code == 1
    assert "Not a directory" in result.err


def temporary(folder):
    return list(folder.rglob(".cubed-tmp-*"))


def test_temporary_files_of_killed_runs_go(job):
    """By cleaning, and by who resumes the run or begins it anew."""

    def killed():  # by the system, as it writes the first chunk
        with short_files(1000):
            assert run(*job.args, "--executor", "single-threaded").code == -signal.SIGXFSZ
        assert temporary(job.out)
        assert not job.chunks()

    killed()
    told = check(run("clean", job.out, "--dry-run")).out
    assert told.count("would remove a temporary file") == len(temporary(job.out)), told
    assert "removed a temporary file" in check(run("clean", job.out.parent)).out
    assert not temporary(job.out.parent)
    killed()
    killed()
    assert not check(run(*job.args, "--resume")).err
    job.expect_whole()
    assert not temporary(job.out.parent)


def test_temporary_files_of_killed_workers_go(job):
    with short_files(1000):
        result = run(*job.args, "--executor", "processes", "--retries", 1)
    assert result.code == 1
    assert "was ended by signal 25" in result.err
    assert not temporary(job.out.parent)


def test_cleaning_after_many_kills(job):
    for i in range(cases(10)):
        with job.started(rows=1 + 60 * (i % 10)) as process:
            process.kill()
            process.wait(timeout=30)
        check(run("clean", job.out, job.work))
        assert not job.chunks()
        assert not temporary(job.out.parent)
    check(run(*job.args))
    job.expect_whole()
