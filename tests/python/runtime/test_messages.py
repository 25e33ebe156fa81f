"""Runs by messages, as programs in other languages write them: see include/cubed/sys/message.h."""

import itertools
import re
import struct
import subprocess
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import BIN, check, run, without_credentials
from s3_server import Object, Server, sometimes

import zarr

INDEX, NOT_FOUND = 3, 7  # of cubed_status


def message(run_name, stage, first, last, version=3, plan=b""):
    head = struct.pack("<4sHHQqqiI", b"CBDR", version, 0, 99, first, last, stage, 0)
    return head + run_name.encode().ljust(40, b"\0") + plan.ljust(40, b"\0")


def reports(data):
    """Task, status, message and bytes written, of each."""
    found = []
    while data:
        assert data[:6] == b"CBDT\3\0"
        token, task = struct.unpack_from("<Qq", data, 8)
        assert token == 99
        (written,) = struct.unpack_from("<Q", data, 48)
        (status,) = struct.unpack_from("<I", data, 104)
        text, raised = struct.unpack_from("<II", data, 128)
        found.append((task, status, data[184 : 184 + text].decode(), written))
        data = data[184 + text + raised :]
    return found


def work(plan, data):
    return subprocess.run(
        [BIN, "worker", plan, "--message", "-"], input=data, capture_output=True, timeout=60
    )


def ask(plan, *args, **options):
    done = work(plan, message(*args, **options))
    assert done.returncode == 0, done.stderr
    return reports(done.stdout)


@pytest.fixture
def plan(tmp_path):
    x = np.random.default_rng(1).normal(size=(30, 20))
    z = zarr.create_array(tmp_path / "x", shape=x.shape, chunks=(5, 5), dtype="f8")
    z[...] = x
    path = tmp_path / "p.cubed"
    args = ["eval", "x - mean(x, axis=0)", "--in", f"x={tmp_path / 'x'}", "--no-optimize"]
    args += ["--out", tmp_path / "out", "--work-dir", tmp_path / "work", "--save-plan", path]
    check(run(*args))
    return path, x


def test_a_run_by_messages_alone(plan, tmp_path):
    path, x = plan
    name = check(run("worker", path, "--begin")).out.strip()
    stage = 0
    while True:
        ((task, status, text, _),) = ask(path, name, stage, 0, 1 << 40)
        assert (task, status) == (0, INDEX)
        if "the plan has" in text:
            break
        n = int(re.search(rf"stage {stage} has tasks 0 to (\d+)", text)[1])
        cuts = sorted({0, n // 3, n // 2, n})
        ranges = [*itertools.pairwise(cuts), (0, n)]
        with ThreadPoolExecutor(3) as pool:  # all of them twice, at once
            for (a, b), got in zip(
                ranges, pool.map(lambda r, s=stage: ask(path, name, s, *r), ranges), strict=True
            ):
                assert [g[:3] for g in got] == [(t, 0, "") for t in range(a, b)]
                assert all(g[3] > 0 for g in got)
        stage += 1
    assert stage > 1
    check(run("worker", path, "--finish", "--run", name))
    np.testing.assert_allclose(zarr.open_array(tmp_path / "out", mode="r")[...], x - x.mean(0))
    assert not list((tmp_path / "work").iterdir())


def test_what_fails_is_reported(plan):
    path, _ = plan
    ((task, status, text, _),) = ask(path, "tuesday", 0, 1, 2)
    assert (task, status) == (1, NOT_FOUND)
    assert "run tuesday does not write" in text


def test_bytes_that_are_no_message_are_refused(plan):
    path, _ = plan
    for data, text in (
        (message("x", 0, 0, 1, version=1), "the range has version 1 of messages"),
        (b"", "a range of a run has 0 bytes, expected 120"),
        (message("x", 0, 0, 1) + b"x", "has 121 bytes, expected 120"),
        (b"x" * 120, "not a range of a run"),
    ):
        done = work(path, data)
        assert done.returncode == 1 and not done.stdout
        assert text in done.stderr.decode()
    assert run("worker", path, "--message", "-", "--begin").code == 2
    assert "leave out --run" in run("worker", path, "--message", "-", "--run", "x").err


@pytest.fixture
def server(plan):
    """A bucket with the plan, which fails now and then."""
    with Server(signed=True) as s:
        s.objects["plans/p q.cubed"] = Object(plan[0].read_bytes(), {})
        s.fault = sometimes(0.2, 7, ["500", "503", "reset", "short", "no ranges"])
        yield s
    assert not s.wrong


def at_urls(server, *args):
    env = without_credentials() | server.variables
    return subprocess.run([BIN, *map(str, args)], env=env, cwd="/", capture_output=True, timeout=60)


@pytest.mark.parametrize(
    "plan_at", ["s3://b/plans/p q.cubed", "s3://b/plans/p%20q.cubed", "s3://b/plans::p q.cubed"]
)
def test_plans_and_messages_at_urls(plan, server, tmp_path, plan_at):
    """All that a worker is told lies in a bucket, in any spelling of its URL."""
    path, x = plan
    begun = at_urls(server, "worker", plan_at, "--begin", "--run", "r")
    assert begun.stdout == b"r\n", begun.stderr
    for stage in itertools.count():
        server.objects[f"m/{stage}"] = Object(message("r", stage, 0, 1 << 40), {})
        done = at_urls(server, "worker", plan_at, "--message", f"s3://b/m/{stage}")
        assert done.returncode == 0, done.stderr
        ((_, _, text, _),) = reports(done.stdout)
        if "the plan has" in text:
            break
        n = int(re.search(rf"stage {stage} has tasks 0 to (\d+)", text)[1])
        server.objects["m"] = Object(message("r", stage, 0, n), {})
        done = at_urls(server, "worker", plan_at, "--message", "s3://b/m")
        assert [g[:3] for g in reports(done.stdout)] == [(t, 0, "") for t in range(n)]
    done = at_urls(server, "worker", plan_at, "--finish", "--run", "r")
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(zarr.open_array(tmp_path / "out", mode="r")[...], x - x.mean(0))


def test_other_stores(plan, server, tmp_path):
    """Web servers and file: URLs, for all verbs that take a plan."""
    path, x = plan
    server.signed = False
    web = f"{server.endpoint}/b/plans/p%20q.cubed"
    server.objects["m"] = Object(message("r", 0, 0, 1), {})
    (tmp_path / "m").write_bytes(message("r", 0, 0, 1))
    check(run("worker", path, "--begin", "--run", "r"))
    for plan_at, told in (
        (web, f"{server.endpoint}/b/m"),
        (f"file://{path}", f"file://{tmp_path}/m"),
    ):
        done = at_urls(server, "worker", plan_at, "--message", told)
        assert [g[:3] for g in reports(done.stdout)] == [(0, 0, "")], done.stderr
    submitted = at_urls(server, "submit", web, tmp_path / "run-1", "--engine", "slurm")
    assert submitted.returncode == 0, submitted.stderr
    assert (tmp_path / "run-1/plan.cubed").read_bytes() == path.read_bytes()
    for left in ("work", "out"):
        check(run("clean", tmp_path / left, "--detached"))
    done = at_urls(server, "run", web, "--progress", "none")
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(zarr.open_array(tmp_path / "out", mode="r")[...], x - x.mean(0))


def test_urls_of_nothing(plan, server):
    """Neither a plan nor a message, or what nobody may read."""
    path, _ = plan
    server.objects["long"] = Object(b"x" * 5000, {})
    server.objects["empty"] = Object(b"", {})
    web = server.endpoint
    for args, text in (
        (("s3://b/none", "--begin"), "s3://b has no none"),
        (("s3://b/long", "--begin"), "these 5000 bytes are not a saved plan"),
        (("s3://b", "--begin"), 'the URL "s3://b" has no key of an object: expected STORE/KEY'),
        (("s3://b/", "--begin"), "has no key of an object"),
        (("ftp://b/c", "--begin"), "stores of scheme ftp are not supported"),
        ((f"{web}/b/long?x=1", "--begin"), "has a query or a fragment"),
        ((path, "--message", "s3://b/none"), "s3://b has no none"),
        ((path, "--message", "s3://b/long"), "long of s3://b has more than 121 bytes"),
        ((path, "--message", "s3://b/empty"), "a range of a run has 0 bytes, expected 120"),
    ):
        done = at_urls(server, "worker", *args)
        assert done.returncode == 1 and not done.stdout
        assert re.search(text, done.stderr.decode()), done.stderr
    server.fault = lambda r: "403"
    assert b"AccessDenied" in at_urls(server, "worker", path, "--message", "s3://b/m").stderr
