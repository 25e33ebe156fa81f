"""The status file that --status and StatusCallback write, and the page of cubed status."""

import contextlib
import http.client
import json
import pathlib
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
from conftest import BIN, check, run
from cubed.diagnostics import StatusCallback

QUIET = ["--progress", "none"]
MOST = 120  # seconds; tests wait for events, never for a time


def wait_for(condition):
    """Waits until the condition returns something, and returns it."""
    end = time.monotonic() + MOST
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("nothing has happened")


@contextlib.contextmanager
def served(place):
    """Serves a status, and returns the port."""
    command = [BIN, "status", place, "--serve", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            line = server.stdout.readline()
            assert line.startswith("http://127.0.0.1:")
            yield int(line.rsplit(":", 1)[1].rstrip("/\n"))
        finally:
            server.send_signal(signal.SIGINT)
            assert server.wait(MOST) == 0


def status_of(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/status.json", timeout=MOST) as reply:
        assert reply.headers["content-type"].startswith("application/json")
        assert reply.headers["cache-control"] == "no-store"
        return json.load(reply)


def ask(port, text):
    """Sends a request as it is, and returns the reply."""
    with socket.create_connection(("127.0.0.1", port), timeout=MOST) as s:
        s.sendall(text.encode())
        with contextlib.suppress(ConnectionError):
            return b"".join(iter(lambda: s.recv(65536), b"")).decode()
    return ""


def test_a_run_in_processes_is_watched_and_killed(tmp_path):
    file = tmp_path / "run.json"
    text = "y = sum(random((20000, 20000), seed=1, chunks=(500, 500)), axis=0)"
    options = ["--executor", "processes", "--max-workers", "2", "--status", file, *QUIET]
    with subprocess.Popen([BIN, "eval", text, "--out", tmp_path / "y.zarr", *options]) as driver:
        try:
            wait_for(file.exists)
            driver.send_signal(signal.SIGSTOP)
            with served(file) as port:
                s = status_of(port)
                assert (s["state"], s["executor"]) == ("running", "processes")
                assert s["pid"] == driver.pid and 0 <= s["done"] < s["tasks"]
                driver.send_signal(signal.SIGCONT)
                wait_for(lambda: status_of(port)["done"] > s["done"] or driver.poll() is not None)
                driver.kill()
                driver.wait(MOST)
                s = status_of(port)
                assert s["state"] == "gone" and s["error"] is None
        finally:
            driver.kill()
    printed = check(run("status", file)).out
    assert "the process of the run has ended without a result" in printed


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_the_last_status_has_all_tasks(tmp_path, executor):
    file = tmp_path / "run.json"
    # Long enough for gb_seconds, which has three decimals.
    text = "y = mean(random((400, 9000), seed=1, chunks=(10, 9000)), axis=0)"
    options = ["--executor", executor, "--max-workers", "2", "--status", file, "--json", *QUIET]
    stats = check(run("eval", text, "--out", tmp_path / "y.zarr", *options)).run
    s = json.loads(file.read_text())
    assert s["state"] == "done" and s["done"] == s["tasks"] == stats["tasks"]
    assert sum(g["done"] for g in s["stages"]) == s["tasks"]
    assert s["measured_mem"] <= s["projected_mem"] <= s["task_mem"]
    assert s["gb_seconds"] > 0 and s["stages_left_out"] == 0 and s["failures"] == []
    assert list(tmp_path.glob("run.json.*")) == []
    assert f"done: {s['done']} of {s['tasks']} tasks done on {executor}" in run("status", file).out


def test_a_failed_run_has_its_error(tmp_path):
    file = tmp_path / "run.json"
    text = "y = take(arange(4), arange(4) + 2, axis=0)"
    failed = run("eval", text, "--out", tmp_path / "y.zarr", "--status", file, *QUIET)
    s = json.loads(file.read_text())
    assert failed.code == 1 and s["state"] == "failed" and s["error"] in failed.err
    assert s["error"] in run("status", file).out


def test_names_and_many_stages_stay_within_the_limits(tmp_path):
    file = tmp_path / "run.json"
    text = " + ".join(["x"] * 130)
    x = tmp_path / 'a"b\\<i>.zarr'
    check(run("eval", "x = arange(4)", "--out", x, *QUIET))
    places = ["--in", f"x={x}::x", "--out", tmp_path / "y.zarr"]
    check(run("eval", f"y = {text}", *places, "--no-optimize", "--status", file, *QUIET))
    s = json.loads(file.read_text(encoding="utf-8"))
    assert len(s["stages"]) == 100 and s["stages_left_out"] > 0
    assert file.stat().st_size < 200_000


def test_only_this_machine_and_this_name_are_served(tmp_path):
    file = tmp_path / "run.json"
    check(run("eval", "y = arange(4)", "--out", tmp_path / "y.zarr", "--status", file, *QUIET))
    with served(file) as port:
        listening = [
            line.split()[1]
            for table in ("tcp", "tcp6")
            for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()[1:]
            if line.split()[3] == "0A" and int(line.split()[1].rsplit(":", 1)[1], 16) == port
        ]
        assert [a.rsplit(":", 1)[0] for a in listening] == ["0100007F"]
        for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"LOCALHOST:{port}"):
            assert ask(port, f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").startswith("HTTP/1.1 200")
        own = f"Host: 127.0.0.1:{port}\r\n"
        for hosts in (
            "", "Host: evil.example\r\n", f"Host: evil.example:{port}\r\n", "Host: 127.0.0.1\r\n",
            f"Host: 127.0.0.1:{port}.evil.example\r\n", own + "Host: evil.example\r\n",
        ):  # fmt: skip
            reply = ask(port, f"GET /status.json HTTP/1.1\r\n{hosts}\r\n")
            assert reply.startswith("HTTP/1.1 421") and "cubed_status" not in reply
        for line, code in (("POST /", 405), ("GET /../etc/passwd", 404), ("GET /x", 404)):
            reply = ask(port, f"{line} HTTP/1.1\r\n{own}\r\n")
            assert reply.startswith(f"HTTP/1.1 {code}")
        assert ask(port, f"HEAD /status.js HTTP/1.1\r\n{own}\r\n").endswith("\r\n\r\n")
        assert ask(port, "GET / HTTP/1.1\r\n" + "X: y\r\n" * 5000) == ""
        assert ask(port, "GET / HTTP/1.1\r\nA\0b\r\n\r\n") == ""
        # A client that sends nothing delays others, but not forever.
        with socket.create_connection(("127.0.0.1", port)):
            assert status_of(port)["state"] == "done"


def test_the_page_runs_no_script_of_a_run(tmp_path):
    file = tmp_path / "run.json"
    check(run("eval", "y = arange(4)", "--out", tmp_path / "y.zarr", "--status", file, *QUIET))
    with served(file) as port:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=MOST)
        client.request("GET", "/")
        reply = client.getresponse()
        page, policy = reply.read().decode(), reply.headers["content-security-policy"]
        assert "script-src 'self'" in policy and "default-src 'none'" in policy
        assert page.count("<script") == 1 and 'src="/status.js"' in page
        assert "width=device-width" in page and 'tabindex="0"' in page and 'role="status"' in page
        client.request("GET", "/status.js")
        script = client.getresponse().read().decode()
        assert "innerHTML" not in script and "fetch('/status.json'" in script


def test_wrong_places_and_ports(tmp_path):
    other = tmp_path / "other.json"
    other.write_text("[1]")
    for place, words in ((tmp_path / "none", "No such file"), (other, "not a status file")):
        refused = run("status", place)
        assert refused.code == 1 and words in refused.err
    for port in ("-1", "65536", "x", ""):
        refused = run("status", other, "--serve", port)
        assert refused.code == 2 and "--serve" in refused.err
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = run("status", other, "--serve", taken.getsockname()[1])
        assert refused.code == 1 and "choose another port" in refused.err
    with (
        served(tmp_path / "later") as port,
        pytest.raises(urllib.error.HTTPError, match="503"),
    ):
        status_of(port)
    nowhere = ["--out", tmp_path / "y.zarr", "--status", tmp_path / "no/s.json", *QUIET]
    failed = run("eval", "y = arange(4)", *nowhere)
    assert failed.code == 1 and "cannot write" in failed.err
    refused = run("eval", "y = arange(4)", "--status", tmp_path / "s.json", "--plan")
    assert refused.code == 2 and "--status describes a run" in refused.err


def test_a_submitted_run_is_served(tmp_path):
    text = "y = var(random((400, 10), seed=1, chunks=(2, 10)), axis=0)"
    plan, jobs = tmp_path / "p.cubed", tmp_path / "jobs"
    options = ["--work-dir", tmp_path / "work", "--max-workers", "2", "--allowed-mem", "500MB",
               "--other-machines", "--save-plan", plan, *QUIET]  # fmt: skip
    check(run("eval", text, "--out", tmp_path / "y.zarr", *options))
    check(run("submit", plan, jobs, "--engine", "slurm", "--run", "r"))
    check(run("worker", plan, "--begin", "--run", "r"))
    with served(jobs) as port:
        s = status_of(port)
        assert (s["state"], s["executor"], s["done"]) == ("running", "slurm", 0)
        assert sum(g["tasks"] for g in s["stages"]) == s["tasks"]
        check(run("worker", plan, "0", "0:1", "--run", "r"))
        wait_for(lambda: status_of(port)["done"] == 1)


def test_python_writes_the_same_file(tmp_path):
    file = tmp_path / "run.json"
    callback = StatusCallback(file)
    x = xp.sum(xp.ones((40, 40), chunks=(4, 40)))
    assert x.compute(callbacks=[callback]) == 1600
    s = json.loads(file.read_text())
    assert s["state"] == "done" and s["done"] == s["tasks"] > 0
    assert callback.written == file and list(tmp_path.iterdir()) == [file]

    def fails(block):
        raise ValueError("this block is wrong")

    broken = cubed.map_blocks(fails, xp.ones(4, chunks=2), dtype=np.float64)
    with pytest.raises(ValueError, match="this block is wrong"):
        broken.compute(callbacks=[StatusCallback(directory=tmp_path)])
    (written,) = tmp_path.glob("*/status.json")
    s = json.loads(written.read_text())
    assert s["state"] == "failed" and "this block is wrong" in s["error"]
    assert "this block is wrong" in run("status", written).out
