"""A worker over HTTP: ``cubed worker --http PORT``, for the executor ``"http"``.

``POST`` to any path takes the bytes of a message (``cubed/sys/message.h``) and returns the reply
with the reports of its tasks. ``GET /health`` returns 200. Other replies have ``{"error": TEXT}``:

==== ===========================================================================================
400  the body is not a message
401  the request has no token, or one that is not accepted
409  the driver has another version
410  the run is over
411  the length of the body is not given
413  the body is too large
429  the worker is busy
503  the worker ends
504  a task did not end in time
507  a Python function needs more memory than it may use
==== ===========================================================================================

A caller that may send messages may run code in the worker, because a plan may contain functions of
Python. So each request needs an OpenID Connect token, unless the worker listens only on the
loopback.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cubed.runtime import worker
from cubed.runtime._tokens import TokenError, Verifier, is_loopback

#: Environment variables in which services pass the port.
_PORTS = ("PORT", "FUNCTIONS_CUSTOMHANDLER_PORT")
#: Maximum size of a message, equal to that of the executor.
_MOST_BODY = 4 << 20
#: Seconds within which a request must arrive, and for which a connection may be idle.
_PATIENCE = 30
#: Maximum number of connections, in addition to those of requests in progress.
_MOST_CONNECTIONS = 64
#: Seconds within which tasks must end after SIGTERM. Cloud Run kills the process after 10 s.
_GRACE = 8

_ANSWER, _JSON = "application/octet-stream", "application/json"

#: Status, body, and the body's type.
Reply = tuple[int, bytes, str]


def _error(code: int, text: str) -> Reply:
    return code, json.dumps({"error": text}).encode(), _JSON


class Worker:
    """Handles requests.

    Parameters
    ----------
    verifier
        Checks tokens; None: requests need no token.
    concurrency
        Maximum number of concurrent requests.
    request_timeout
        Seconds that a request may take; 0: no limit.
    max_body
        Maximum bytes of a message.
    """

    def __init__(
        self,
        verifier: Verifier | None,
        concurrency: int = 1,
        request_timeout: float = 300.0,
        max_body: int = _MOST_BODY,
    ) -> None:
        self._verifier = verifier
        self.concurrency, self.max_body = concurrency, max_body
        self._time_ms = round(1000 * request_timeout)
        self._changed = threading.Condition()
        self._busy = 0
        self._ends = False

    def refusal(self, headers: Mapping[str, str]) -> Reply | None:
        """Returns the reply that refuses a request before its body is read; None if it is
        accepted."""
        try:
            if self._verifier is not None:
                self._verifier.check(headers.get("authorization"))
        except TokenError as e:
            return _error(401, str(e))
        length = headers.get("content-length", "")
        if not length.isascii() or not length.isdigit():
            return _error(411, "the request has no content-length")
        if len(length) > 15 or int(length) > self.max_body:
            return _error(413, f"the body is larger than {self.max_body} bytes")
        return None

    def perform(self, body: bytes) -> Reply:
        """Runs the tasks of a message. Errors of tasks are in the reply."""
        with self._changed:
            if self._ends:
                return _error(503, "the worker ends")
            if self._busy >= self.concurrency:
                return _error(429, f"the worker is busy with {self._busy} requests")
            self._busy += 1
        try:
            return 200, worker.work(worker.native_message(body, self._time_ms)), _ANSWER
        except worker.WorkerEndsError as e:
            return _error(503, str(e))
        except worker.TaskTimeoutError as e:
            return _error(504, str(e))
        except FileNotFoundError as e:
            return _error(503 if self._ends else 410, str(e))
        except MemoryError as e:
            return _error(507, str(e))
        except RuntimeError as e:
            return _error(409, str(e))
        except (ValueError, TypeError) as e:
            return _error(400, str(e))
        except Exception as e:
            return _error(500, f"{type(e).__name__}: {e}")
        finally:
            with self._changed:
                self._busy -= 1
                self._changed.notify_all()

    def end(self) -> None:
        """Ends the tasks, which are reported as preempted, and waits for the reports."""
        with self._changed:
            self._ends = True
        worker.stop_all()
        with self._changed:
            self._changed.wait_for(lambda: self._busy == 0, _GRACE)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "cubed", ""
    timeout = _PATIENCE
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _reply(self, reply: Reply, close: bool = False) -> None:
        code, body, kind = reply
        self.send_response(code)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        if code == 401:
            self.send_header("www-authenticate", "Bearer")
        if close:
            self.send_header("connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        if self.path == "/health":
            self._reply((200, b'{"status": "ok"}', _JSON))
        else:
            self._reply(_error(404, "expected POST, or GET /health"))

    def do_POST(self) -> None:
        refusal = self.server.worker.refusal({k.lower(): v for k, v in self.headers.items()})
        if refusal is not None:
            return self._reply(refusal, close=True)
        size = int(self.headers["content-length"])
        body = self.rfile.read(size)
        if len(body) != size:
            self.close_connection = True
            return None
        return self._reply(self.server.worker.perform(body))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], requests: Worker) -> None:
        self.worker = requests
        self._free = threading.Semaphore(_MOST_CONNECTIONS + requests.concurrency)
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            return self.shutdown_request(request)
        return super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception() if hasattr(sys, "exception") else sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError)):
            print(f"cubed worker: {type(error).__name__}: {error}", file=sys.stderr, flush=True)


def google_function(request: Any) -> tuple[bytes, int, dict[str, str]]:
    """An HTTP function of Google Cloud Functions that is a worker; `request` is Flask's.

    The variables ``CUBED_WORKER_ISSUER``, ``CUBED_WORKER_AUDIENCE`` and ``CUBED_WORKER_JWKS``
    contain the same values as the options of ``cubed worker --http``. ``CUBED_WORKER_SUBJECTS``
    contains the allowed callers, separated by commas.
    """
    requests = _for_functions()
    reply = requests.refusal({k.lower(): v for k, v in request.headers.items()})
    code, body, kind = reply or requests.perform(request.get_data())
    return body, code, {"content-type": kind}


_function: Worker | None = None
_function_lock = threading.Lock()


def _for_functions() -> Worker:
    global _function
    with _function_lock:
        if _function is None:
            issuer, audience = (
                os.environ[f"CUBED_WORKER_{name}"] for name in ("ISSUER", "AUDIENCE")
            )
            subjects = os.environ.get("CUBED_WORKER_SUBJECTS", "").split(",")
            verifier = Verifier(
                issuer,
                audience,
                os.environ.get("CUBED_WORKER_JWKS"),
                [s.strip() for s in subjects if s.strip()],
            )
            timeout = float(os.environ.get("CUBED_WORKER_REQUEST_TIMEOUT", "300"))
            _function = Worker(verifier, 1, timeout)
        return _function


def _port(text: str) -> int:
    if text == "env":
        found = [os.environ[name] for name in _PORTS if os.environ.get(name)]
        if not found:
            raise argparse.ArgumentTypeError(f"expected one of the variables {', '.join(_PORTS)}")
        text = found[0]
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number up to 65535, or env")
    return int(text)


def _number(least: float, most: float, kind: type) -> Any:
    def parse(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text!r}: expected {least:g} to {most:g}")
        return value

    return parse


def _verifier(parser: argparse.ArgumentParser, a: argparse.Namespace) -> Verifier | None:
    if a.insecure_no_auth:
        if a.issuer or a.audience or a.jwks or a.subject:
            parser.error("--insecure-no-auth: expected without options of tokens")
        if not is_loopback(a.host):
            parser.error(
                f"--insecure-no-auth: --host is {a.host}, expected 127.0.0.1, because anyone"
                " who can reach the worker can run programs here"
            )
        return None
    if not a.issuer or not a.audience:
        parser.error(
            "expected --issuer and --audience of the tokens of callers, or --insecure-no-auth with"
            " --host 127.0.0.1"
        )
    try:
        return Verifier(a.issuer, a.audience, a.jwks, a.subject)
    except ModuleNotFoundError as e:
        parser.exit(1, f"{parser.prog}: tokens need the package cryptography: {e}\n")
    except (OSError, ValueError, KeyError) as e:
        parser.exit(1, f"{parser.prog}: the keys of {a.jwks or a.issuer} cannot be read: {e}\n")


def main(arguments: list[str] | None = None) -> None:
    """The command line. Serves until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(
        prog="cubed worker", usage="cubed worker --http PORT [options]"
    )
    parser.add_argument("--http", dest="port", type=_port, required=True)
    parser.add_argument("--host", default="0.0.0.0")
    parser.add_argument("--issuer")
    parser.add_argument("--audience")
    parser.add_argument("--jwks")
    parser.add_argument("--subject", action="append", default=[])
    parser.add_argument("--insecure-no-auth", action="store_true")
    parser.add_argument("--concurrency", type=_number(1, 1000, int), default=1)
    parser.add_argument("--request-timeout", type=_number(1, 86400, float), default=300.0)
    parser.add_argument("--max-body", type=_number(1024, 1 << 30, int), default=_MOST_BODY)
    a = parser.parse_args(arguments)
    requests = Worker(_verifier(parser, a), a.concurrency, a.request_timeout, a.max_body)
    try:
        server = _Server((a.host, a.port), requests)
    except OSError as e:
        parser.exit(1, f"{parser.prog}: cannot serve at {a.host}:{a.port}: {e}\n")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
    print(f"cubed worker: serves at http://{a.host}:{server.server_address[1]}", flush=True)
    with contextlib.closing(server.socket):
        server.serve_forever(poll_interval=0.1)
        requests.end()


if __name__ == "__main__":
    main()
