"""The user and the password of a URL are sent only to its host, and are in no output."""

import base64
import functools
import http.server
import os
import pickle
import subprocess
import sys
import threading
from urllib.parse import quote

import cubed
import numpy as np
import pytest
from conftest import BIN
from test_redis import SECRET, port  # noqa: F401 (`port` is a fixture)
from test_secrets import forms

import zarr

USER, PASSWORD = "us er", "ge/heim@:123"
WANTED = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        sent = self.headers.get("authorization")
        self.server.sent.append(sent)
        if sent != WANTED:
            self.send_response(401)
            self.send_header("content-length", "0")
            self.end_headers()
        else:
            getattr(super(), f"do_{self.command}")()

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


@pytest.fixture
def server(tmp_path):
    """A web server with an array that asks for a user; `sent` are the headers that came."""
    folder = tmp_path / "served"
    z = zarr.create_array(folder / "a.zarr", shape=(40,), chunks=(10,), dtype="f8")
    z[...] = np.arange(40.0)
    handler = functools.partial(Handler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as s:
        s.sent = []
        s.host = f"127.0.0.1:{s.server_address[1]}"
        s.url = f"http://{quote(USER)}:{quote(PASSWORD, safe='')}@{s.host}/a.zarr"
        threading.Thread(target=s.serve_forever, daemon=True).start()
        yield s
        s.shutdown()


def check_hidden(folder, said, secrets=(PASSWORD, f"{USER}:{PASSWORD}")):
    """In no file, and in nothing that was said."""
    secrets = [*forms(secrets)]
    found = {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    found |= {f"output {i}": text for i, text in enumerate(said)}
    for where, data in found.items():
        assert not any(s in data or s in where.encode() for s in secrets), where


def test_of_the_command(server, tmp_path):
    """With all that it can be asked to say, for the worker processes, and when it is refused."""
    out, said = tmp_path / "out", []
    out.mkdir()

    def command(*args, code=0):
        done = subprocess.run([BIN, *map(str, args)], cwd=out, capture_output=True, timeout=120)
        assert done.returncode == code, done.stderr.decode()
        said.extend((done.stdout, done.stderr))

    text = ("eval", "sort(a) + 1", "--in", f"a={server.url}", "--out", "b.zarr", "--overwrite")
    for executor in ("threads", "processes"):
        logs = ("--events", f"{executor}.events", "--report", f"{executor}.html")
        logs += ("--status", f"{executor}.status")
        command(*text, "--executor", executor, "--json", "--progress", "plain", *logs)
        np.testing.assert_array_equal(zarr.open_array(out / "b.zarr")[...], np.arange(1.0, 41))
    assert set(server.sent) == {WANTED}
    command(*text, "--plan", "--explain", "--plan-svg", "plan.svg")
    command(*text, "--plan", "--json")
    command(*text, "--work-dir", out / "work", "--save-plan", "p.cubed")
    command("copy", server.url, "c.zarr")
    command("run", "p.cubed", code=1)
    assert b"the reply is 401: give user and password" in said[-1]
    command("info", server.url.replace("us%20er", "other"), code=1)
    assert b"does not take this user and password" in said[-1]
    command("info", server.url + ".nc", code=1)
    command("eval", "a + 1", "--in", f"a={server.url}", "--out", server.url, code=1)
    command("eval", "ones(4)", "--out", f"{server.url}.nc", code=2)
    assert b"127.0.0.1" in said[-1]
    check_hidden(out, said)


def test_of_the_package(server, tmp_path):
    out = tmp_path / "out"
    spec = cubed.Spec(out / "work", allowed_mem="300MB", reserved_mem="250MB")
    x = cubed.from_zarr(server.url, spec=spec)
    y = cubed.array_api.sort(x) + 1
    for executor in ("threads", "processes", "futures"):
        np.testing.assert_array_equal(y.compute(executor=executor), np.arange(1.0, 41))
    assert set(server.sent) == {WANTED}
    plan = cubed.plan(y)
    y.visualize(str(out / "plan.svg"))
    cubed.to_zarr(y, out / "y.zarr")
    saved = cubed.plan(cubed.store([y], [str(out / "z.zarr")], compute=False)[0])
    said = [repr(x), str(plan), plan.explain(), repr(spec)]
    for wrong in (f"{server.url}.none", server.url.replace("us%20er", "other")):
        with pytest.raises(OSError, match="reply is|no Zarr") as e:
            cubed.from_zarr(wrong, spec=spec)
        said.append(repr(e.value))
    check_hidden(out, [*(s.encode() for s in said), pickle.dumps(y), saved.save()])


def test_options_of_storage(server):
    """The same as options, which are for this host alone."""
    url = f"http://{server.host}/a.zarr"
    options = {"username": USER, "password": PASSWORD}
    x = cubed.from_zarr(url, storage_options=options)
    np.testing.assert_array_equal(x.compute(), np.arange(40.0))
    assert set(server.sent) == {WANTED}
    with pytest.raises(ValueError, match="username has a colon"):
        cubed.from_zarr(url, storage_options={"username": "a:b", "password": "c"})
    spec = cubed.Spec(f"redis://:{PASSWORD.replace('/', '')}@h:1/0", storage_options=options)
    assert repr(spec).startswith("cubed.Spec(work_dir='redis://h:1/0'")
    options = {"max_workers": 2, "config": {"aws": {"key": PASSWORD}}, "password": PASSWORD}
    shown = repr(cubed.Spec(executor_name="threads", executor_options=options))
    assert "'max_workers': 2" in shown
    assert PASSWORD not in shown


def test_a_redirect_to_another_host_does_not_get_them(server):
    """Nor does another port of the same host."""
    seen = []

    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.headers.get("authorization"))
            self.send_error(404)

        do_HEAD = do_GET

        def log_message(self, *_):
            pass

    class Redirects(Elsewhere):
        def do_GET(self):
            server.sent.append(self.headers.get("authorization"))
            self.send_response(302)
            self.send_header("location", f"http://127.0.0.1:{port}{self.path}")
            self.send_header("content-length", "0")
            self.end_headers()

        do_HEAD = do_GET

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as other:
        port = other.server_address[1]
        threading.Thread(target=other.serve_forever, daemon=True).start()
        server.RequestHandlerClass = Redirects
        with pytest.raises(FileNotFoundError):
            cubed.from_zarr(server.url)
        other.shutdown()
    assert set(server.sent) == {WANTED}
    assert seen
    assert set(seen) == {None}


SIGNED = [
    ("az://c/a.zarr?sv=2021&sig={}", "has a signature or a key in its query"),
    ("abfs://c@x.dfs.core.windows.net/a.zarr?sig={}", "has a signature or a key in its query"),
    ("s3://b/a.nc?X-Amz-Signature={}&x=1", "has a signature or a key in its query"),
    ("gs://b/a.nc?X-Goog-Signature={}", "has a signature or a key in its query"),
    (
        "https://x.blob.core.windows.net/c/a.zarr?sv=1&sig={}",
        "has a signature or a key in its query",
    ),
    ("https://h/a.nc?whatever={}", "has a query"),
    ("s3://key:{}@b/a.zarr", "has a user or a password in front of the bucket"),
    ("gs://key:{}@b/a.zarr", "has a user or a password in front of the bucket"),
]


@pytest.mark.parametrize(("url", "why"), SIGNED)
def test_urls_that_are_refused_are_not_repeated(url, why, tmp_path):
    """By the command, and by the package, as a source, a target and a work directory."""
    url = url.format("geheim123")
    commands = [
        ("info", url),
        ("eval", "a + 1", "--in", f"a={url}", "--out", "o.zarr"),
        ("eval", "ones(4)", "--out", url),
        ("copy", url, "o.zarr"),
        ("clean", url),
        ("eval", "ones(4)", "--out", "o.zarr", "--work-dir", url, "--save-plan", "p.cubed"),
    ]
    for args in commands:
        done = subprocess.run([BIN, *args], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode != 0, args
        assert "geheim" not in done.stdout + done.stderr
        assert why in done.stderr or "only to local paths" in done.stderr
    spec = cubed.Spec(url, allowed_mem="300MB", reserved_mem="250MB")
    x = cubed.array_api.arange(4.0, chunks=2)
    calls = [
        lambda: cubed.from_zarr(url),
        lambda: cubed.to_zarr(x, url),
        lambda: cubed.array_api.arange(4.0, chunks=2, spec=spec).compute(),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r".") as e:
            call()
        assert "geheim" not in str(e.value)
    assert "geheim" not in repr(spec) or "whatever" in url  # which is no name of a secret


REDIS = """
import sys, cubed
url = sys.stdin.read()
spec = cubed.Spec(url, allowed_mem="300MB", reserved_mem="250MB")
x = cubed.array_api.arange(4000.0, chunks=500, spec=spec).reshape((40, 100)).rechunk((10, 100))
print(repr(spec), x.plan().explain())
y = cubed.map_blocks(lambda b: b + 1, x.rechunk((40, 10)), dtype="f8")
print(y.compute(executor="processes", max_workers=2, optimize_graph=False).sum())
"""


def test_of_redis(request, tmp_path):
    """A work directory whose URL has a password, for this process and its workers."""
    where = f"127.0.0.1:{request.getfixturevalue('port')}"
    env = {k: v for k, v in os.environ.items() if not k.startswith("REDIS_")}
    for user in ("", "default"):
        url = f"redis://{user}:{quote(SECRET, safe='')}@{where}/1/work"
        done = subprocess.run(
            [sys.executable, "-c", REDIS], input=url, text=True, capture_output=True, env=env,
            timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == str(np.arange(1.0, 4001).sum())
        assert not any(s.decode() in done.stdout + done.stderr for s in forms([SECRET]))
        text = "sort(reshape(arange(40), [5, 8]), axis=0) + 1"
        command = (
            BIN, "eval", text, "--out", tmp_path / "o.zarr", "--overwrite",
            "--executor", "processes", "--no-optimize", "--work-dir", url,
        )  # fmt: skip
        for more in ((), ("--plan",), ("--save-plan", tmp_path / "p.cubed")):
            done = subprocess.run([*command, *more], env=env, capture_output=True, timeout=120)
            assert done.returncode == 0, done.stderr
            check_hidden(tmp_path, [done.stdout, done.stderr], [SECRET])


def test_messages_hide_what_they_quote():
    hide = cubed._core.hide_secrets
    same = [
        "nothing here", "a@b.c: 1", "abfs://c@x.dfs.core.windows.net/a", "s3://b/a?versionId=1",
        "file:///home/a@b/c", "http://h/a@b", "https://h/a?monkey=1", "://", "x://", "az://c@x/y",
    ]  # fmt: skip
    for text in same:
        assert hide(text) == text
    assert hide("cannot read http://u:p@h/a: no") == "cannot read http://h/a: no"
    assert hide("'redis://:p@h:1/0/x' and http://u@h") == "'redis://h:1/0/x' and http://h"
    assert hide("https://u:p:q@@h/a") == "https://h/a"
    assert hide("az://c/a?sv=1&sig=abc%3D&se=2: 403") == "az://c/a?sv=1&sig=&se=2: 403"
    assert hide("az://c/a%3Fsig=abc%26se=2") == "az://c/a%3Fsig=%26se=2"
    assert hide("s3://b/a?X-Amz-Signature=abc::x") == "s3://b/a?X-Amz-Signature=::x"
    assert hide('"http://h/?SIG=a" "http://h/?token=b"') == '"http://h/?SIG=" "http://h/?token="'
