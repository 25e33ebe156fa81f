"""A web server of a folder on the loopback, which also redirects."""

import contextlib
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass
class Web:
    """`redirects` has the target of each path that redirects, `asked` paths and headers.

    Requests wait for `gate` once `free` requests were answered.
    """

    url: str
    port: int
    redirects: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    free: int = sys.maxsize
    gate: threading.Event = field(default_factory=threading.Event)


class Handler(SimpleHTTPRequestHandler):
    def __init__(self, web: Web, *args, **kwargs):
        self.web = web
        super().__init__(*args, **kwargs)

    def log_message(self, *args):
        pass

    def send_head(self):
        self.web.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
        if len(self.web.asked) > self.web.free:
            self.web.gate.wait(60)
        # A proxy is asked for a whole URL.
        target = self.web.redirects.get(self.path) or self.web.redirects.get(
            "/" + self.path.partition("://")[2].partition("/")[2]
        )
        if target is None:
            if "://" in self.path:
                self.path = "/" + self.path.partition("://")[2].partition("/")[2]
            return super().send_head()
        self.send_response(302)
        self.send_header("Location", target)
        self.send_header("Content-Length", "0")
        self.end_headers()
        return None


@contextlib.contextmanager
def serve(folder: Path, host: str = "127.0.0.1") -> Iterator[Web]:
    web = Web("", 0)
    with ThreadingHTTPServer((host, 0), partial(Handler, web, directory=str(folder))) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        web.port = server.server_port
        web.url = f"http://{host}:{web.port}"
        yield web
        server.shutdown()
