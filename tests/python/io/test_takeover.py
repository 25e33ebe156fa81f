"""Places of runs on other machines: when they are taken over, when they are not, and how users
force a takeover.

A run of another machine is made by a record: what an unfinished run of this machine would leave,
with an owner of another boot. It may be suspended, and so nobody knows whether it will write.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import cubed
import cubed.xarray
import numpy as np
import pytest
import xarray as xr
from conftest import BIN, check, run
from cubed import _core
from partitions import allowed
from s3_server import Server
from test_fencing import ELSEWHERE, FIRST, NCHUNKS, SECOND, First, Place, make
from web_server import serve

import zarr

QUIET = ("--progress", "none", "--max-workers", "1")
ROWS = 12
RECORD = "z.zarr/.cubed-run"
REFUSED = "ignores the conditions of puts"


def elsewhere(record, silent):
    """The record of an unfinished run of another machine, last heard of so many seconds ago."""
    host, _machine, boot, *process = record["owner"].rsplit("_", 5)
    boot = f"{int(boot, 16) ^ 1:x}"
    owner = "_".join(("far-away", "1", boot, *process))
    return record | {"state": "working", "owner": owner, "beat": int(time.time()) - silent}


class Bucket:
    """An array in a bucket, of which a run on another machine has made chunks."""

    def __init__(self, server, silent, ignores=None):
        self.server, self.url = server, f"{server.url}/z.zarr"
        self.env = {**os.environ, **server.variables}
        check(self.run("eval", f"rechunk(ones(({ROWS},)), (2,))", "--out", self.url, "--overwrite"))
        del server.objects["z.zarr/zarr.json"]
        self.put(elsewhere(self.record(), silent))
        if ignores == "service":
            server.fault = forget_conditions
        elif ignores == "option":
            self.env["AWS_CONDITIONAL_PUT"] = "disabled"

    def run(self, *args):
        return run(*args, *(QUIET if args[0] != "clean" else ()), env=self.env)

    def record(self):
        return json.loads(self.server.objects[RECORD].data)

    def put(self, record):
        self.server.objects[RECORD].data = json.dumps(record).encode()

    def bytes(self):
        return {k: o.data for k, o in self.server.objects.items()}

    def values(self):
        self.server.fault = None
        return check(self.run("eval", "x", "--in", f"x={self.url}", "--json")).array()


def forget_conditions(request):
    for name in ("if-match", "if-none-match"):
        request.headers.pop(name, None)


@pytest.fixture
def server():
    with Server() as s:
        yield s
        assert not s.wrong, s.wrong[:3]


@pytest.fixture
def unsigned():
    """Conditions are taken out of requests, whose signatures would be wrong."""
    with Server(signed=False) as s:
        yield s


@pytest.mark.parametrize(
    "how", [(), ("--overwrite",), ("--resume",)], ids=["new", "over", "resume"]
)
@pytest.mark.parametrize("ignores", ["service", "option"])
def test_nothing_is_taken_over_where_conditions_are_ignored(unsigned, ignores, how):
    b = Bucket(unsigned, 700, ignores)
    text = f"rechunk(ones(({ROWS},)){'' if '--resume' in how else ' * 3'}, (2,))"
    expected = 1 if "--resume" in how else 3
    before = b.bytes()
    refused = b.run("eval", text, "--out", b.url, *how)
    assert refused.code == 1
    assert re.search(
        rf"s3://b/z.zarr was being written by process \d+ on far-away since .*, whose last"
        rf" heartbeat is 7\d\d seconds old. That run may still write: this store {REFUSED}.*make"
        r" sure that no process of that run is left, and take the place over \(--take-over",
        refused.err,
    ), refused.err
    assert b.bytes() == before
    check(b.run("eval", text, "--out", b.url, *how, "--take-over"))
    np.testing.assert_array_equal(b.values(), np.full(ROWS, expected))


def test_what_is_over_is_not_in_the_way(unsigned):
    """Arrays that are complete are replaced, and runs of this machine that ended are resumed."""
    b = Bucket(unsigned, 700, "service")
    b.put(b.record() | {"state": "left"})
    text = f"rechunk(ones(({ROWS},)), (2,))"
    check(b.run("eval", text, "--out", b.url, "--resume"))
    check(b.run("eval", f"{text} * 4", "--out", b.url, "--overwrite"))
    np.testing.assert_array_equal(b.values(), np.full(ROWS, 4))


def test_workers_elsewhere_may_outlive_their_driver(unsigned):
    b = Bucket(unsigned, 700, "service")
    b.put(b.record() | {"state": "left", "elsewhere": True})
    refused = b.run("eval", f"rechunk(ones(({ROWS},)), (2,))", "--out", b.url, "--resume")
    assert refused.code == 1 and REFUSED in refused.err


def test_a_service_with_conditions_is_tried_once(server):
    b = Bucket(server, 700)
    server.requests.clear()
    check(b.run("eval", f"rechunk(ones(({ROWS},)) * 3, (2,))", "--out", b.url))
    tried = [r for r in server.requests if ".cubed-write-check" in r.key]
    assert len({r.key for r in tried}) == 1 and len(tried) <= 8
    assert not [k for k in server.objects if "write-check" in k]
    np.testing.assert_array_equal(b.values(), np.full(ROWS, 3))


def test_runs_that_are_not_silent_are_waited_for(server):
    """For as long as the option says; --take-over does not wait."""
    b = Bucket(server, 5)
    command = ["eval", f"rechunk(ones(({ROWS},)) * 3, (2,))", "--out", b.url]
    for seconds, options in ((600, ()), (100, ("--executor-option", "silence=100"))):
        refused = b.run(*command, *options)
        assert refused.code == 1
        assert re.search(
            r"z.zarr is being written by process \d+ on far-away since .*, whose last heartbeat"
            rf" is \d+ seconds old, and which counts as gone after {seconds} seconds: if it has"
            r" ended, take the place over \(--take-over, take_over=True\)",
            refused.err,
        ), refused.err
    check(b.run(*command, "--take-over"))
    np.testing.assert_array_equal(b.values(), np.full(ROWS, 3))
    b = Bucket(server, 5)
    check(b.run(*command, "--executor-option", "silence=3"))


def test_the_package(unsigned, monkeypatch):
    """to_zarr, store and compute take places over, at once and after a silence."""
    b = Bucket(unsigned, 700, "service")
    for name, value in unsigned.variables.items():
        monkeypatch.setenv(name, value)
    x = cubed.full(ROWS, 5.0, chunks=2)
    with pytest.raises(NotImplementedError, match=REFUSED):
        cubed.to_zarr(x, b.url)
    later = cubed.to_zarr(x, b.url, compute=False)
    with pytest.raises(NotImplementedError, match=REFUSED):
        later.compute()
    np.testing.assert_array_equal(later.compute(take_over=True), np.full(ROWS, 5.0))
    np.testing.assert_array_equal(b.values(), np.full(ROWS, 5.0))


@pytest.fixture
def unfinished(tmp_path):
    """A function that makes a directory with an unfinished array of a run on another machine."""

    def make_one(silent):
        out = tmp_path / "z.zarr"
        check(run("eval", f"rechunk(ones(({ROWS},)), (2,))", "--out", out, "--overwrite", *QUIET))
        record = json.loads((out / ".cubed-run").read_text())
        (out / "zarr.json").unlink()
        (out / ".cubed-run").write_text(json.dumps(elsewhere(record, silent)))
        return out

    return make_one


WRITERS = {
    "to_zarr": lambda x, out, **how: cubed.to_zarr(x, out, **how),
    "method": lambda x, out, **how: x.to_zarr(out, **how),
    "store": lambda x, out, **how: cubed.store(x, out, **how),
    "compute": lambda x, out, **how: cubed.compute(cubed.to_zarr(x, out, compute=False), **how),
    "several": lambda x, out, **how: cubed.store([x], [out], compute=False).compute(**how),
    "saved": lambda x, out, **how: cubed.load_plan(
        cubed.to_zarr(x, out, compute=False).plan().save()
    ).execute(**how),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_writers_of_the_package(unfinished, writer):
    x, write = cubed.full(ROWS, 5.0, chunks=2), WRITERS[writer]
    out = unfinished(5)
    with pytest.raises(OSError, match="is being written by process .* on far-away"):
        write(x, out)
    write(x, out, take_over=True)
    np.testing.assert_array_equal(zarr.open_array(out, mode="r")[...], np.full(ROWS, 5.0))


def test_the_silence_of_executors(unfinished):
    x = cubed.full(ROWS, 5.0, chunks=2)
    out = unfinished(5)
    with pytest.raises(OSError, match="counts as gone after 60 seconds"):
        cubed.to_zarr(x, out, silence=60)
    cubed.to_zarr(x, out, silence=3)
    out = unfinished(5)
    spec = cubed.Spec(executor_name="threads", executor_options={"silence": 3})
    cubed.to_zarr(cubed.full(ROWS, 6.0, chunks=2, spec=spec), out)
    assert zarr.open_array(out, mode="r")[0] == 6.0
    for wrong in (0, -1, 10**7):
        with pytest.raises(ValueError, match=f"silence is {wrong}, expected 1 to 1000000 seconds"):
            cubed.to_zarr(x, out, silence=wrong)
    for wrong in ("60", 1.5, True):
        with pytest.raises(TypeError, match="expected a whole number of seconds"):
            cubed.to_zarr(x, out, silence=wrong)


@pytest.mark.parametrize("name", ["r.zip", "r.nc"])
def test_the_silence_of_files(tmp_path, name):
    """A file's place is waited for, and taken over, as that of an array."""
    path, x = tmp_path / name, cubed.full(ROWS, 5.0, chunks=2)
    right = _core.begin_file(str(path), "", False, False, False, 0)
    record = tmp_path / f"{name}.cubed-new/.cubed-run"
    left = elsewhere(json.loads(record.read_text()), 5)
    _core.end_file(right)

    def leave():
        record.parent.mkdir()
        record.write_text(json.dumps(left))

    leave()
    for options, seconds in (({}, 600), ({"silence": 60}, 60)):
        with pytest.raises(FileExistsError, match=f"counts as gone after {seconds} seconds"):
            cubed.to_zarr(x, path, **options)
        assert not path.exists()
    cubed.to_zarr(x, path, silence=3)
    leave()
    spec = cubed.Spec(executor_name="threads", executor_options={"silence": 3})
    cubed.to_zarr(cubed.full(ROWS, 6.0, chunks=2, spec=spec), path, overwrite=True)
    inside = None if name == "r.zip" else "data"
    assert cubed.from_zarr(path, inside).compute().tolist() == [6.0] * ROWS
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_all_chunks_are_moved(tmp_path):
    """A run that takes over and resumes computes none of them again, however many there are."""
    out, n = tmp_path / "z.zarr", 3000
    command = ("eval", f"rechunk(ones(({n},)), (1,))", "--out", out, "--overwrite", *QUIET)
    check(run(*command))
    record = json.loads((out / ".cubed-run").read_text())
    (out / "zarr.json").unlink()
    (out / ".cubed-run").write_text(json.dumps(elsewhere(record, 700)))
    for k in (5, 1500):
        (out / f"c/{k}").unlink()
    resumed = json.loads(check(run(*command, "--resume", "--json")).out)["_run"]
    assert resumed["resumed"] == n - 2
    assert (zarr.open_array(out, mode="r")[...] == 1).all()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["z.zarr"]


def test_plans_of_the_package(tmp_path):
    """Plan.targets and explain(), of arrays, of regions, and of several targets."""
    x = cubed.full(ROWS, 5.0, chunks=2)
    plan = cubed.store([x, x + 1], [tmp_path / "a", tmp_path / "b"], compute=False)[0].plan()
    (target,) = plan.targets
    assert target["url"] == str(tmp_path / "a")
    assert (target["fence"], target["bytes"], target["may_replace"]) == ("exchange", 96, True)
    assert target["claim_requests"] == target["chunk_requests"] == 0
    assert f"{tmp_path / 'a'} (up to 96 B): {target['promise']}" in plan.explain()
    cubed.to_zarr(x, tmp_path / "a")
    expected = {
        (0, 4): (0, "no other run may write at the same time"),
        (1, 4): (1, "keeps what others write to shared chunks: files are locked"),
    }
    for (lo, hi), (shared, text) in expected.items():
        part = cubed.to_zarr(x[lo:hi], tmp_path / "a", region=(slice(lo, hi),), compute=False)
        (target,) = part.plan().targets
        assert (target["fence"], target["is_region"]) == ("lock", True)
        assert target["shared_chunks"] == shared
        assert text in target["promise"]


def test_a_process_of_this_machine_is_never_replaced(tmp_path, unfinished):
    out = unfinished(5)
    record = json.loads((out / ".cubed-run").read_text())
    with subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(60)"], stdin=subprocess.DEVNULL
    ) as other:
        try:
            mine = json.loads(owner_of(tmp_path, other.pid))
            (out / ".cubed-run").write_text(json.dumps(record | {"owner": mine, "beat": 1}))
            refused = run("eval", "ones((4,))", "--out", out, "--take-over", *QUIET)
        finally:
            other.kill()
    assert refused.code == 1
    assert f"is being written by process {other.pid} on" in refused.err
    assert "which runs on this machine: end it" in refused.err


def owner_of(folder, pid):
    """The owner string of a process, from that of a command and what the system says of both."""
    out = folder / "own"
    with subprocess.Popen(
        [BIN, "eval", "ones((4,))", "--out", out, *QUIET], stdout=subprocess.DEVNULL
    ) as p:
        p.wait()
    owner = json.loads((out / ".cubed-run").read_text())["owner"]
    host, machine, boot, space, _pid, _start = owner.rsplit("_", 5)
    start = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    return json.dumps("_".join((host, machine, boot, space, str(pid), f"{start:x}")))


def test_runs_in_parts_are_not_replaced(tmp_path):
    out, saved, work = tmp_path / "z", tmp_path / "p", tmp_path / "work"
    plan = ("eval", "ones((4,))", "--out", out, "--work-dir", work, "--save-plan", saved, *QUIET)
    check(run(*plan))
    check(run("worker", saved, "--begin", "--run", "one"))
    refused = run("eval", "ones((4,))", "--out", out, "--take-over", *QUIET)
    assert refused.code == 1
    assert "is being written by run one, begun on " in refused.err
    assert "finish that run, or remove it (cubed clean --detached)" in refused.err


def test_beginning_of_runs_in_parts(tmp_path, unfinished):
    out, saved, work = unfinished(5), tmp_path / "p", tmp_path / "work"
    check(run("eval", "ones((4,))", "--out", out, "--work-dir", work, "--save-plan", saved, *QUIET))
    begin = ("worker", saved, "--begin", "--run", "one")
    assert "which counts as gone after 600 seconds" in run(*begin).err
    assert "which counts as gone after 50 seconds" in run(*begin, "--silence", "50").err
    check(run(*begin, "--take-over"))
    wrong = run("worker", saved, "--finish", "--run", "one", "--take-over")
    assert wrong.code == 2 and "expected with --begin" in wrong.err
    check(run("submit", saved, tmp_path / "jobs", "--engine", "slurm", "--take-over"))
    assert "--begin --run jobs --take-over >run" in (tmp_path / "jobs/start").read_text()


def test_cleaning(unfinished):
    """Of silent runs, after as long as the option says; --take-over does not wait."""
    for options in (("--silence", "3"), ("--take-over",)):
        out = unfinished(5)
        assert "nothing is left over" in check(run("clean", out)).out
        assert "nothing is left over" in check(run("clean", out, "--silence", "1000")).out
        assert "would remove" in check(run("clean", out, *options, "--dry-run")).out
        assert (out / ".cubed-run").exists()
        assert "removed an unfinished array" in check(run("clean", out, *options)).out
        assert not (out / ".cubed-run").exists()
    for wrong in ("0", "x", "1000001"):
        refused = run("clean", out, "--silence", wrong)
        assert refused.code == 2
        assert f'--silence "{wrong}": expected seconds, a whole number' in refused.err


def test_what_cleaning_leaves_in_object_stores(server):
    """A mark for later runs, as the silent run may wake; --take-over removes the mark, too."""
    b = Bucket(server, 700)
    assert "removed an unfinished array" in check(b.run("clean", b.url)).out
    assert list(server.objects) == [RECORD]
    assert (b.record()["state"], b.record()["all"]) == ("done", True)
    assert "nothing is left over" in check(b.run("clean", b.url)).out
    assert list(server.objects) == [RECORD]
    check(b.run("clean", b.url, "--take-over"))
    assert not server.objects
    check(Bucket(server, 700).run("clean", b.url, "--take-over"))
    assert not server.objects


@pytest.mark.parametrize("ignores", ["service", "option"])
def test_cleaning_where_conditions_are_ignored(unsigned, ignores):
    b = Bucket(unsigned, 700, ignores)
    before = b.bytes()
    left = check(b.run("clean", b.url))
    assert "kept an unfinished run of another machine in s3://b/z.zarr" in left.out
    assert "use --take-over to remove it" in left.out
    assert b.bytes() == before
    assert "removed an unfinished array" in check(b.run("clean", b.url, "--take-over")).out
    assert not b.bytes()


def test_holds(unsigned, monkeypatch):
    """The right to extend an array, of a process on another machine."""
    for name, value in unsigned.variables.items():
        monkeypatch.setenv(name, value)
    url = f"{unsigned.url}/a"
    cubed.to_zarr(cubed.zeros(4, chunks=2), url)
    key = "a/.cubed-append/.cubed-run"

    def left(silent):
        hold = _core.hold_place(url, 0, False)
        record = unsigned.objects[key].data
        del hold
        other = type(unsigned.objects["a/zarr.json"])
        data = json.dumps(elsewhere(json.loads(record), silent)).encode()
        unsigned.objects[key] = other(data, dict(unsigned.objects["a/zarr.json"].meta))

    left(5)
    with pytest.raises(OSError, match="another process extends the array"):
        _core.hold_place(url, 0, False)
    with pytest.raises(OSError, match="counts as gone after 60 seconds"):
        _core.hold_place(url, 60, False)
    assert _core.hold_place(url, 3, False)
    left(5)
    assert _core.hold_place(url, 0, True)
    left(700)
    unsigned.fault = forget_conditions
    with pytest.raises(NotImplementedError, match=REFUSED):
        _core.hold_place(url, 0, False)
    assert _core.hold_place(url, 0, True)


def test_appends_of_xarray(tmp_path):
    """A process of another machine that extends an array is waited for, or replaced."""
    place = tmp_path / "x.zarr"
    data = xr.Dataset({"a": ("time", cubed.ones(4, chunks=2))})
    data.to_zarr(place)
    hold = _core.hold_place(f"{place}::a", 0, False)
    record = json.loads((place / "a/.cubed-append/.cubed-run").read_text())
    del hold
    for options in ({"silence": 3}, {"take_over": True}):
        (place / "a/.cubed-append").mkdir()
        (place / "a/.cubed-append/.cubed-run").write_text(json.dumps(elsewhere(record, 5)))
        with pytest.raises(FileExistsError, match="counts as gone after 600 seconds"):
            data.to_zarr(place, append_dim="time")
        data.to_zarr(place, append_dim="time", chunkmanager_store_kwargs=options)
    assert zarr.open_group(place)["a"][...].tolist() == [1.0] * 12
    assert not (place / "a/.cubed-append").exists()


@pytest.fixture
def web(tmp_path):
    with serve(tmp_path) as s:
        yield s


@pytest.mark.skipif(not allowed(*ELSEWHERE), reason="this system allows no namespaces")
@pytest.mark.parametrize("existing", [False, True])
@pytest.mark.parametrize("how", ["--overwrite", "--resume"])
def test_what_was_taken_over_at_once_is_protected(web, tmp_path, existing, how):
    """--take-over replaces a suspended run, which continues later and must change nothing.

    The server of its source holds requests back, so the run cannot end before it is suspended.
    """
    for value, name in ((FIRST, "first"), (SECOND, "second")):
        make(tmp_path / name, value)
    place = Place(web.url, tmp_path / "place")
    place.folder.mkdir()
    options = ["--max-workers", 1, "--durable"]
    if existing:
        make(place.folder / "out", 3.0)
        options.append("--overwrite")
    same = how == "--resume"
    web.free = NCHUNKS * 3 // 4
    first = First(place, existing, [BIN, *place.command("first", *options)], 2)
    web.gate.set()
    second = [BIN, *place.command("first" if same else "second", how)]
    if same and existing:
        second.append("--overwrite")
    refused = run(*map(str, second[1:]))
    assert refused.code == 1 and "is being written by" in refused.err
    check(run(*map(str, second[1:]), "--take-over"))
    code, error = first.end()
    assert code != 0 and "was taken over" in error
    assert place.values() == {FIRST if same else SECOND}
    assert not place.left()
