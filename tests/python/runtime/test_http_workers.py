"""The executor "http", and workers over HTTP on the loopback, with tokens of a local issuer."""

import base64
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import cubed
import numpy as np
import pytest
from conftest import BIN, run
from cubed import array_api as xp
from cubed.runtime import _tokens, http_worker

rsa = pytest.importorskip(
    "cryptography.hazmat.primitives.asymmetric.rsa", reason="checks and makes tokens"
)
AUDIENCE = "https://worker.example"


# --- Tokens ---------------------------------------------------------------------------------------


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """Signs tokens, and writes the keys."""

    url = "https://issuer.example"

    def __init__(self, folder, bits=2048):
        self.key = rsa.generate_private_key(65537, bits)
        numbers = self.key.public_key().public_numbers()
        self.jwk = {
            "kty": "RSA", "use": "sig", "alg": "RS256", "kid": "one",
            "n": base64url(numbers.n.to_bytes(bits // 8, "big")),
            "e": base64url(numbers.e.to_bytes(3, "big")),
        }  # fmt: skip
        self.jwks = folder / "jwks.json"
        self.jwks.write_text(json.dumps({"keys": [self.jwk]}))

    def token(self, header=None, signature=None, **claims):
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import padding

        now = int(time.time())
        head = {"alg": "RS256", "kid": "one", "typ": "JWT", **(header or {})}
        body = {"iss": self.url, "aud": AUDIENCE, "sub": "me", "exp": now + 3600, **claims}
        body = {k: v for k, v in body.items() if v is not None}
        signed = ".".join(base64url(json.dumps(part).encode()) for part in (head, body))
        made = self.key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{signed}.{base64url(made) if signature is None else signature}"


@pytest.fixture(scope="module")
def issuer(tmp_path_factory):
    return Issuer(tmp_path_factory.mktemp("issuer"))


def verifier(issuer, **more):
    return _tokens.Verifier(issuer.url, AUDIENCE, str(issuer.jwks), **more)


def test_tokens_that_are_accepted(issuer):
    checked = verifier(issuer).check(f"Bearer {issuer.token()}")
    assert checked["sub"] == "me"
    many = issuer.token(aud=["another", AUDIENCE])
    assert verifier(issuer, subjects=["me", "you"]).check(f"bearer {many}")["aud"][1] == AUDIENCE
    mail = issuer.token(email="me@x", email_verified=True)
    assert verifier(issuer, subjects=["me@x"]).check(f"Bearer {mail}")


@pytest.mark.parametrize(
    ("claims", "text"),
    [
        ({"iss": "https://other.example"}, "another issuer"),
        ({"aud": "https://other.example"}, "another audience"),
        ({"aud": None}, "another audience"),
        ({"exp": 1}, "has expired"),
        ({"exp": None}, "no expiry"),
        ({"exp": True}, "no expiry"),
        ({"exp": "9999999999"}, "no expiry"),
        ({"nbf": 9999999999}, "not valid yet"),
        ({"sub": "you"}, "not among those"),
        ({"sub": "you", "email": "me", "email_verified": False}, "not among those"),
        ({"sub": ["me"]}, "not among those"),
        ({"header": {"alg": "none"}, "signature": ""}, "not signed with RS256"),
        ({"header": {"alg": "HS256"}}, "not signed with RS256"),
        ({"header": {"crit": ["b64"]}}, "not signed with RS256"),
        ({"header": {"kid": "two"}}, "unknown key"),
        ({"header": {"kid": ["one"]}}, "malformed"),
        ({"signature": ""}, "signature of the token is wrong"),
        ({"signature": "AAAA"}, "signature of the token is wrong"),
        ({"signature": "%"}, "malformed"),
    ],
)
def test_tokens_that_are_refused(issuer, claims, text):
    with pytest.raises(_tokens.TokenError, match=text):
        verifier(issuer, subjects=["me"]).check(f"Bearer {issuer.token(**claims)}")


@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", "Bearer ", "Basic bWU6eA==", "Bearer a", "Bearer a.b", "Bearer a.b.c",
     "Bearer ..", "Bearer e30.e30.", "Bearer " + "a" * 20000, "Bearer W10.W10.W10",
     "Bearer " + base64url(b"[" * 9000) + ".e30.e30"],
)  # fmt: skip
def test_headers_that_are_no_tokens(issuer, header):
    with pytest.raises(_tokens.TokenError):
        verifier(issuer).check(header)


def test_a_signature_of_other_claims(issuer):
    head, _, signature = issuer.token().split(".")
    claims = issuer.token(sub="admin").split(".")[1]
    with pytest.raises(_tokens.TokenError, match="signature"):
        verifier(issuer).check(f"Bearer {head}.{claims}.{signature}")


def test_keys_that_change(issuer, tmp_path):
    """A key that is not known is looked up, but not more than once a minute."""
    now = [1000.0 + time.time()]
    keys = tmp_path / "jwks.json"
    keys.write_text(json.dumps({"keys": [{**issuer.jwk, "kid": "old"}]}))
    checks = _tokens.Verifier(issuer.url, AUDIENCE, str(keys), now=lambda: now[0])
    token = f"Bearer {issuer.token(exp=int(now[0]) + 9000)}"
    with pytest.raises(_tokens.TokenError, match="unknown key"):
        checks.check(token)
    keys.write_text(json.dumps({"keys": [issuer.jwk]}))
    with pytest.raises(_tokens.TokenError, match="unknown key"):
        checks.check(token)
    now[0] += 61
    assert checks.check(token)


@pytest.mark.parametrize(
    ("text", "error"),
    [("{}", "no key of type RSA"), ("[]", "JSON object"), ("x", "Expecting value")],
)
def test_files_without_keys(issuer, tmp_path, text, error):
    (tmp_path / "jwks").write_text(text)
    with pytest.raises(ValueError, match=error):
        _tokens.Verifier(issuer.url, AUDIENCE, str(tmp_path / "jwks"))
    with pytest.raises(ValueError, match="expected https://"):
        _tokens.Verifier(issuer.url, AUDIENCE, "http://issuer.example/keys")


def test_short_keys(tmp_path):
    with pytest.raises(ValueError, match="1024 bits, expected 2048"):
        verifier(Issuer(tmp_path, 1024))


# --- Workers --------------------------------------------------------------------------------------


class Workers:
    """Workers of the command, one after another behind one address as behind a load balancer."""

    def __init__(self, *options, n=2, quota=None, fault=lambda number: None):
        self.options, self.n, self.quota, self.fault = options, n, quota, fault
        self.number = self.at_once = self.refused = 0
        self.lock = threading.Lock()
        self.codes = []

    def start(self):
        environment = {**os.environ, "CUBED_PYTHON": sys.executable, "PORT": "0"}
        process = subprocess.Popen(
            [BIN, "worker", "--http", "env", "--host", "127.0.0.1", *self.options],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        said = process.stdout.readline()
        assert "serves at" in said, process.stderr.read()
        process.port = int(said.rsplit(":", 1)[1])
        return process

    def __enter__(self):
        self.processes = [self.start() for _ in range(self.n)]
        balancer = self

        class Bound(Balancer):
            state = balancer

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Bound)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        for process in self.processes:
            process.kill()
            process.communicate()


class Balancer(BaseHTTPRequestHandler):
    """Sends requests to workers that are idle, and refuses others with 429 as Cloud Run does."""

    protocol_version = "HTTP/1.1"
    state: Workers

    def log_message(self, *_):
        pass

    def reply(self, code, body):
        self.state.codes.append(code)
        self.send_response(code)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        state = self.state
        body = self.rfile.read(int(self.headers["content-length"]))
        with state.lock:
            state.number += 1
            number = state.number
            allowed = state.quota is None or state.at_once < state.quota
            state.at_once += allowed
            state.refused += not allowed
        if not allowed:
            return self.reply(429, b"Rate exceeded.")
        try:
            fault = state.fault(number)
            if isinstance(fault, int):
                return self.reply(fault, b'{"error": "because of the test"}')
            return self.send(body)
        finally:
            with state.lock:
                state.at_once -= 1

    def send(self, body):
        headers = {"content-type": "application/octet-stream"}
        if "authorization" in self.headers:
            headers["authorization"] = self.headers["authorization"]
            assert self.headers["x-serverless-authorization"] == self.headers["authorization"]
        for process in self.state.processes:
            client = http.client.HTTPConnection("127.0.0.1", process.port, timeout=60)
            with contextlib.closing(client):
                try:
                    client.request("POST", "/", body, headers)
                    reply = client.getresponse()
                    content = reply.read()
                except (OSError, http.client.HTTPException):
                    continue
                if reply.status not in (429, 503):
                    return self.reply(reply.status, content)
        return self.reply(429, b"no worker is idle")


@pytest.fixture
def stored(tmp_path):
    values = np.random.default_rng(0).normal(size=(40, 60))
    spec = cubed.Spec(tmp_path, allowed_mem="100MB", reserved_mem=0)
    cubed.to_zarr(cubed.from_array(values, chunks=(10, 20), spec=spec), tmp_path / "x.zarr")
    return values, cubed.from_zarr(tmp_path / "x.zarr", spec=spec)


def lazy(x):
    return xp.mean(xp.sqrt(x**2 + 1).rechunk((40, 7)), axis=0)


def compute(x, workers, **more):
    return x.compute(
        executor="http", url=workers.url, max_workers=more.pop("max_workers", 2), **more
    )


def auth(issuer):
    return "--issuer", issuer.url, "--audience", AUDIENCE, "--jwks", str(issuer.jwks)


def test_values(stored, issuer, tmp_path):
    values, x = stored
    (tmp_path / "token").write_text(issuer.token() + "\n")
    with Workers(*auth(issuer), "--subject", "you", "--subject", "me") as workers:
        result = compute(lazy(x), workers, token_file=str(tmp_path / "token"))
        assert result.tobytes() == lazy(x).compute().tobytes()
        y = cubed.map_blocks(lambda a: a * 2 + 1, x, dtype=x.dtype)
        again = compute(y, workers, token_command=f"cat {tmp_path}/token")
        np.testing.assert_array_equal(again, values * 2 + 1)
        assert set(workers.codes) == {200}
    assert not [p for p in tmp_path.iterdir() if p.suffix != ".zarr" and p.name != "token"]


def test_the_command(stored, tmp_path):
    values, _ = stored
    with Workers("--insecure-no-auth", n=1) as workers:
        done = run(
            "eval", "mean(sqrt(x**2 + 1), axis=0)", "--in", f"x={tmp_path}/x.zarr",
            "--out", f"{tmp_path}/m.zarr", "--executor", f"http:{workers.url}",
            "--max-workers", "2", "--work-dir", tmp_path, "--progress", "none",
        )  # fmt: skip
        assert done.code == 0, done.err
        assert workers.number >= 1
    np.testing.assert_allclose(
        cubed.from_zarr(tmp_path / "m.zarr").compute(), np.sqrt(values**2 + 1).mean(axis=0)
    )


def test_a_storm_of_429(stored):
    """Refusals are no attempts."""
    _, x = stored
    with Workers("--insecure-no-auth", n=1, quota=1) as workers:
        result = compute(lazy(x), workers, max_workers=50, retries=0)
        assert result.tobytes() == lazy(x).compute().tobytes()


@pytest.mark.parametrize("code", [500, 502, 503, 504, 408])
def test_faults_that_pass(stored, code):
    _, x = stored
    with Workers("--insecure-no-auth", fault=lambda n: code if n == 1 else None) as workers:
        result = compute(lazy(x), workers)
        assert result.tobytes() == lazy(x).compute().tobytes()
        assert code in workers.codes


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (
            401,
            "calling http://127.*the reply is 401: because of the test: check the token's source",
        ),
        (403, "the reply is 403.*roles/run.invoker"),
        (404, "the reply is 404.*check the URL"),
        (413, "the reply is 413.*--max-body"),
        (400, "the reply is 400: because of the test"),
    ],
)
def test_faults_that_stay(stored, code, text):
    _, x = stored
    with (
        Workers("--insecure-no-auth", n=1, fault=lambda n: code) as workers,
        pytest.raises(OSError, match=text),
    ):
        compute(x + 1, workers)


def test_a_worker_that_is_killed(stored):
    def slow(a):
        time.sleep(0.05)
        return a + 1

    values, x = stored
    with Workers("--insecure-no-auth") as workers:

        def kill():
            while workers.number < 1:
                time.sleep(0.01)
            workers.processes[0].kill()

        threading.Thread(target=kill, daemon=True).start()
        y = cubed.map_blocks(slow, x, dtype=x.dtype)
        np.testing.assert_array_equal(compute(y, workers), values + 1)


def test_a_worker_that_is_told_to_end(stored):
    """SIGTERM: its tasks are reported as preempted, and it ends without an error."""

    def slow(a):
        time.sleep(0.2)
        return a + 1

    values, x = stored
    with Workers("--insecure-no-auth") as workers:

        def end():
            while workers.number < 1:
                time.sleep(0.01)
            time.sleep(0.3)
            workers.processes[0].send_signal(signal.SIGTERM)

        threading.Thread(target=end, daemon=True).start()
        y = cubed.map_blocks(slow, x, dtype=x.dtype)
        np.testing.assert_array_equal(compute(y, workers, retries=0), values + 1)
        assert workers.processes[0].wait(20) == 0


def test_a_time_limit_of_requests(stored):
    def slow(a):
        time.sleep(0.3)
        return a + 1

    values, x = stored
    with Workers("--insecure-no-auth", "--request-timeout", "1") as workers:
        y = cubed.map_blocks(slow, x, dtype=x.dtype)
        np.testing.assert_array_equal(compute(y, workers, retries=0), values + 1)
        assert set(workers.codes) <= {200, 429}


@pytest.mark.parametrize(
    ("claims", "text"),
    [({"aud": "another"}, "another audience"), ({"iss": "x"}, "another issuer"),
     ({"exp": 1}, "expires in less than"), ({"signature": "AAAA"}, "signature")],
)  # fmt: skip
def test_wrong_tokens(stored, issuer, tmp_path, claims, text):
    _, x = stored
    token = issuer.token(**claims)
    (tmp_path / "token").write_text(token)
    with (
        Workers(*auth(issuer), n=1) as workers,
        pytest.raises(OSError, match=text) as caught,
    ):
        compute(x + 1, workers, token_file=str(tmp_path / "token"))
    assert token not in str(caught.value)


def test_a_token_that_expires(stored, issuer, tmp_path):
    """The command is asked again, when the worker refuses the token."""
    _, x = stored
    program = tmp_path / "token.sh"
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text(issuer.token(header={"kid": "gone"}))
    new.write_text(issuer.token())
    program.write_text(f"cat {old} || cat {new}; rm -f {old}\n")
    with Workers(*auth(issuer), n=1) as workers:
        result = compute(x + 1, workers, token_command=f"sh {program} 2>&-")
        np.testing.assert_array_equal(result, x.compute() + 1)
        assert 401 in workers.codes


class Metadata(BaseHTTPRequestHandler):
    """The metadata servers of Google Cloud and of Azure."""

    token = ""
    asked = ()

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.asked.append(
            (self.path, self.headers.get("metadata-flavor"), self.headers.get("x-identity-header"))
        )
        google = self.path.startswith("/computeMetadata")
        body = self.token if google else json.dumps({"access_token": self.token, "expires_in": 900})
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())


@pytest.mark.parametrize("provider", ["google", "azure"])
def test_tokens_of_the_machine(stored, issuer, monkeypatch, provider):
    _, x = stored

    class Bound(Metadata):
        token, asked = issuer.token(), []

    server = ThreadingHTTPServer(("127.0.0.1", 0), Bound)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    host = f"127.0.0.1:{server.server_address[1]}"
    monkeypatch.setenv("GCE_METADATA_HOST", host)
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"http://{host}/msi/token")
    monkeypatch.setenv("IDENTITY_HEADER", "secret-header")
    with Workers(*auth(issuer), n=1) as workers:
        result = compute(x + 1, workers, token_from=provider, audience=AUDIENCE)
        np.testing.assert_array_equal(result, x.compute() + 1)
    server.shutdown()
    server.server_close()
    (path, flavor, header), *_ = Bound.asked
    assert "worker.example" in path
    assert flavor == "Google" if provider == "google" else header == "secret-header"


def test_wrong_options(stored):
    _, x = stored
    create = cubed.runtime.create.create_executor
    with pytest.raises(TypeError, match="url is ''"):
        create("http")
    with pytest.raises(TypeError, match="token_file is a int"):
        create("http", {"url": "http://x", "token_file": 3})
    assert create("http", {"url": "http://x"}).num_workers() == 1000
    for options, text in (
        ({"url": "https://worker.example"}, "expected token_command, token_file or token_from"),
        (
            {"url": "http://worker.example", "token_from": "google"},
            "expected https:// or this mach",
        ),
        ({"url": "https://worker.example", "token_from": "aws"}, "expected google, azure or none"),
        ({"url": "https://w.example", "token_from": "azure", "token_file": "t"}, "one of them"),
        ({"url": "https://w.example/?code=secret", "token_from": "google"}, r"expected no query"),
        ({"url": "ftp://w.example"}, "expected http://HOST or https://HOST"),
    ):
        with pytest.raises(ValueError, match=text) as caught:
            (x + 1).compute(executor="http", **options)
        assert "code=secret" not in str(caught.value)


def test_tokens_are_in_no_message(stored, tmp_path):
    """The source of tokens is the driver's alone."""
    _, x = stored
    seen = []

    class Spy(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_POST(self):
            seen.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(400)
            self.send_header("content-length", "0")
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Spy)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    with pytest.raises(OSError, match="reply is 400"):
        (x + 1).compute(
            executor="http", url=f"http://127.0.0.1:{server.server_address[1]}",
            token_command="echo CANARY-1234", audience="AUDIENCE-5678",
        )  # fmt: skip
    server.shutdown()
    server.server_close()
    assert seen
    assert not any(b"CANARY" in body or b"AUDIENCE" in body for body in seen)


# --- One worker, and hostile requests -------------------------------------------------------------


@pytest.fixture(scope="module")
def port(issuer):
    with contextlib.ExitStack() as ends:
        workers = Workers(*auth(issuer), "--max-body", "4096", n=1)
        process = workers.start()
        ends.callback(process.communicate)
        ends.callback(process.kill)
        yield process.port


def ask(port, method="POST", path="/", body=b"", headers=None):
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    with contextlib.closing(client):
        client.request(method, path, body, headers or {})
        reply = client.getresponse()
        return reply.status, reply.read()


def test_health(port):
    assert ask(port, "GET", "/health") == (200, b'{"status": "ok"}')
    assert ask(port, "GET", "/")[0] == 404
    assert ask(port, "PUT")[0] == 501


def test_bodies(port, issuer):
    token = {"authorization": f"Bearer {issuer.token()}"}
    assert ask(port, body=b"x") == (401, b'{"error": "the request has no bearer token"}')
    assert ask(port, body=b"x" * 4097, headers=token)[0] == 413
    assert ask(port, headers={**token, "content-length": "-1"})[0] == 411
    assert ask(port, headers={**token, "content-length": "9" * 30})[0] == 413
    assert ask(port, headers={**token, "transfer-encoding": "chunked"})[0] == 411
    for body in (
        b"",
        b"x",
        b"CBDR",
        b"CBDR" + bytes(116),
        b"CBDR" + bytes(120),
        b"\xff" * 4096,
        b"CBDR" + bytes(116) + b"a\0b\0c\0d",
        b"CBDR" + bytes(116) + b"\xff\0\xff\0\xff\0\xff",
    ):
        code, text = ask(port, body=body, headers=token)
        assert code in (400, 409, 410), (body, text)
        assert json.loads(text)["error"]
    assert ask(port, "GET", "/health")[0] == 200


@pytest.mark.parametrize(
    "text",
    [b"", b"\r\n\r\n", b"GET\r\n\r\n", b"POST / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x00\xa5" * 30,
     b"GET /health HTTP/1.1\r\n" + b"a: b\r\n" * 300 + b"\r\n",
     b"POST / HTTP/1.1\r\n" + b"a" * 70000],
)  # fmt: skip
def test_bytes_that_are_no_requests(port, text):
    with socket.create_connection(("127.0.0.1", port), timeout=10) as s:
        s.sendall(text)
        s.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionError):
            assert b"200" not in s.recv(65536)[:12]
    assert ask(port, "GET", "/health")[0] == 200


def test_many_connections(port):
    """Idle ones do not fill the memory, and go after a while."""
    with contextlib.ExitStack() as ends:
        for _ in range(200):
            ends.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
    for _ in range(100):
        with contextlib.suppress(OSError, http.client.HTTPException):
            if ask(port, "GET", "/health")[0] == 200:
                return
        time.sleep(0.05)
    pytest.fail("the worker does not answer")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--http", "99999"], "expected a number up to 65535"),
        (["--http", "env"], "expected one of the variables PORT, FUNCTIONS_CUSTOMHANDLER_PORT"),
        (["--http", "0"], "expected --issuer and --audience"),
        (["--http", "0", "--insecure-no-auth"], "--host is 0.0.0.0, expected 127.0.0.1"),
        (
            ["--http", "0", "--insecure-no-auth", "--host=127.0.0.1", "--issuer=x"],
            "without options of",
        ),
        (
            ["--http", "0", "--issuer=https://i", "--audience=a", "--jwks=/nowhere"],
            "cannot be read",
        ),
        (["--http", "0", "--concurrency", "0"], "expected 1 to 1000"),
        (["--http", "0", "--request-timeout", "x"], "expected 1 to 86400"),
        (["--audience", "a"], "--audience=a: expected with --http"),
        (["--http", "0", "--run", "x"], "--http gets its work from its caller"),
    ],
)
def test_wrong_options_of_workers(options, text, monkeypatch):
    for name in ("PORT", "FUNCTIONS_CUSTOMHANDLER_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CUBED_PYTHON", sys.executable)
    done = run("worker", *options)
    assert done.code in (1, 2)
    assert text in done.err


class Request:
    def __init__(self, body, headers):
        self.body, self.headers = body, headers

    def get_data(self):
        return self.body


def test_a_function_of_google(issuer, monkeypatch):
    monkeypatch.setattr(http_worker, "_function", None)
    monkeypatch.setenv("CUBED_WORKER_ISSUER", issuer.url)
    monkeypatch.setenv("CUBED_WORKER_AUDIENCE", AUDIENCE)
    monkeypatch.setenv("CUBED_WORKER_JWKS", str(issuer.jwks))
    function = http_worker.google_function
    assert function(Request(b"x", {"Content-Length": "1"}))[1] == 401
    headers = {"Content-Length": "1", "Authorization": f"Bearer {issuer.token()}"}
    body, code, _ = function(Request(b"x", headers))
    assert (code, json.loads(body)) == (400, {"error": "the body is not a message of a driver"})
