"""AWS Lambda on this machine: the service's Invoke, whose signatures botocore checks, and the four
calls of the runtime interface for real workers.

What goes wrong is chosen by a function of the number of the invocation.
"""

import contextlib
import json
import os
import queue
import re
import subprocess
import threading
import time
import urllib.parse
import uuid
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from conftest import BIN

KEY, SECRET, REGION = "AKIDTEST", "secret/of+the=test", "eu-north-1"


@dataclass
class Invocation:
    payload: bytes
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    reply: queue.Queue = field(default_factory=queue.Queue)


class Service:
    """A function of that name with so many workers.

    More invocations than `quota` at a time are refused with 429 and TooManyRequestsException, as
    the service documents for an account's limit on concurrent executions.
    """

    def __init__(
        self,
        function="worker",
        workers=2,
        fault=lambda number: None,
        quota=1000,
        command=(BIN, "worker", "--lambda"),
        timeout=900.0,
    ):
        self.function, self.workers, self.fault = function, workers, fault
        self.quota, self.command, self.timeout = quota, command, timeout
        self.at_once = self.refused = 0
        self.waiting = queue.Queue()
        self.running = {}
        self.invocations = 0
        self.wrong = []  # what the service or a runtime was asked that it does not know
        self.errors = []
        self.lock = threading.Lock()

    def __enter__(self):
        service = self

        class Bound(Handler):
            state = service

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Bound)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()
        self.processes = [self.start_worker() for _ in range(self.workers)]
        return self

    def start_worker(self):
        host = f"127.0.0.1:{self.http.server_address[1]}"
        env = {**os.environ, "AWS_LAMBDA_RUNTIME_API": host}
        return subprocess.Popen(self.command, env=env, stderr=subprocess.PIPE)

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.communicate()
        self.http.shutdown()
        self.http.server_close()

    @property
    def variables(self):
        return {
            "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": REGION,
            "AWS_ENDPOINT_URL_LAMBDA": f"http://127.0.0.1:{self.http.server_address[1]}",
        }  # fmt: skip


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: Service

    def log_message(self, *_):
        pass

    def reply(self, code, body=b"", **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def fail(self, code, message, **headers):
        self.reply(code, json.dumps({"Message": message}).encode(), **headers)

    # --- The service

    def is_signed(self, body):
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        found = re.fullmatch(
            r"AWS4-HMAC-SHA256 Credential=([^/]+)/\d{8}/([^/]+)/lambda/aws4_request, "
            r"SignedHeaders=([^,]+), Signature=([0-9a-f]{64})",
            self.headers["authorization"],
        )
        key, region, names, signature = found.groups()
        url = f"http://{self.headers['host']}{self.path}"
        headers = {name: self.headers[name] for name in names.split(";")}
        asked = AWSRequest("POST", url, headers=headers, data=body)
        asked.context["timestamp"] = self.headers["x-amz-date"]
        auth = SigV4Auth(Credentials(KEY, SECRET), "lambda", region)
        text = auth.string_to_sign(asked, auth.canonical_request(asked))
        return key == KEY and region == REGION and auth.signature(text, asked) == signature

    def invoke(self, name, body):
        state = self.state
        with state.lock:
            state.invocations += 1
            number = state.invocations
        if not self.is_signed(body):
            return self.fail(403, "The request signature we calculated does not match")
        if urllib.parse.unquote(name) != state.function:
            return self.fail(404, f"Function not found: {name}")
        with state.lock:
            allowed = state.at_once < state.quota
            state.at_once += allowed
            state.refused += not allowed
        if not allowed:
            return self.refuse()
        try:
            return self.perform(number, body)
        finally:
            with state.lock:
                state.at_once -= 1

    def refuse(self):
        body = {
            "Reason": "ConcurrentInvocationLimitExceeded",
            "Type": "User",
            "message": "Rate Exceeded.",
        }
        self.reply(429, json.dumps(body).encode(), x_amzn_errortype="TooManyRequestsException")

    def perform(self, number, body):
        state = self.state
        fault = state.fault(number)
        if fault == "throttled":
            return self.fail(429, "Rate Exceeded.", retry_after="0")
        if fault == "no permission":
            return self.fail(403, "not authorized to perform: lambda:InvokeFunction")
        if fault == "another program":
            return self.reply(200, b'"Hello from Lambda!"')
        invocation = Invocation(body)
        with state.lock:
            state.running[invocation.id] = invocation
        state.waiting.put(invocation)
        answer, error = self.wait_for(invocation)
        if fault == "twice":  # somebody else did the same at the same time
            again = Invocation(body)
            with state.lock:
                state.running[again.id] = again
            state.waiting.put(again)
            answer, error = again.reply.get()
        if fault == "out of time":
            answer, error = b'{"errorMessage": "Task timed out after 3.00 seconds"}', True
        if fault == "out of memory":
            why = "RequestId: 5 Error: Runtime exited with error: signal: killed"
            answer, error = json.dumps({"errorMessage": why}).encode(), True
        if error:
            return self.reply(200, answer, x_amz_function_error="Unhandled")
        return self.reply(200, answer)

    def wait_for(self, invocation):
        """The answer; when the function's time is over, the error that the service documents."""
        with contextlib.suppress(queue.Empty):
            return invocation.reply.get(timeout=self.state.timeout)
        why = f"Task timed out after {self.state.timeout:.2f} seconds"
        return json.dumps({"errorMessage": why}).encode(), True

    # --- The interface of runtimes

    def do_GET(self):
        if self.path != "/2018-06-01/runtime/invocation/next":
            self.state.wrong.append(self.path)
            return self.reply(404)
        while True:  # until there is one, or the worker has gone
            with contextlib.suppress(queue.Empty):
                invocation = self.state.waiting.get(timeout=0.05)
                break
            if self.connection.recv(1, 0x40 | 0x2) == b"" if self.is_readable() else False:
                return None
        return self.reply(
            200,
            invocation.payload,
            lambda_runtime_aws_request_id=invocation.id,
            lambda_runtime_deadline_ms=str(round(1000 * (time.time() + self.state.timeout))),
        )

    def is_readable(self):
        import select

        return bool(select.select([self.connection], [], [], 0)[0])

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        service = re.fullmatch(r"/2015-03-31/functions/([^/]+)/invocations", self.path)
        if service:
            return self.invoke(service[1], body)
        runtime = re.fullmatch(
            r"/2018-06-01/runtime/invocation/([-0-9a-f]+)/(response|error)", self.path
        )
        with self.state.lock:
            invocation = runtime and self.state.running.pop(runtime[1], None)
        if not invocation:
            self.state.wrong.append(self.path)
            return self.reply(404)
        if runtime[2] == "error":
            self.state.errors.append(json.loads(body))
        invocation.reply.put((body, runtime[2] == "error"))
        return self.reply(202)
