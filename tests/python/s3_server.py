"""A server with the parts of S3's protocol that the library uses, which fails on request.

It checks signatures and checksums by code of its own. What goes wrong is chosen by a function of
the request, so that tests say which request fails, how, and how often.
"""

import base64
import contextlib
import datetime
import email.utils
import hashlib
import hmac
import itertools
import random
import re
import socket
import ssl
import struct
import threading
import time
import urllib.parse
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape, unescape

import google_crc32c

KEY, SECRET, REGION = "AKIDTEST", "secret/of+the=test", "eu-north-1"


def crc32c(data: bytes) -> str:
    return base64.b64encode(struct.pack(">I", google_crc32c.value(data))).decode()


@dataclass
class Object:
    data: bytes
    meta: dict[str, str]
    crc: str = ""
    modified: float = field(default_factory=time.time, compare=False)
    blocks: dict[str, bytes] = field(default_factory=dict, compare=False)  # of Azure
    tag: str = field(default="", compare=False)  # of services that do not make it of the bytes

    @property
    def etag(self) -> str:
        return self.tag or f'"{hashlib.md5(self.data).hexdigest()}"'

    @property
    def headers(self) -> dict[str, str]:
        date = email.utils.formatdate(self.modified, usegmt=True)
        return {"etag": self.etag, "last-modified": date, **self.meta}


@dataclass
class Upload:
    """An object that is put in parts: by number the bytes and their checksum."""

    key: str
    meta: dict[str, str]
    begun: float
    parts: dict[int, tuple[bytes, str]] = field(default_factory=dict)


@dataclass
class Request:
    """What was asked for.

    `op` is get, head, put, copy, delete, deletes or list; of objects in parts create, part,
    complete, abort or uploads.
    """

    op: str
    key: str
    headers: dict[str, str]
    query: dict[str, str]


@dataclass
class Server:
    """Objects of one bucket, and what became of requests. ``with Server() as s: s.url``."""

    bucket: str = "b"
    signed: bool = True
    region: str = REGION
    page: int = 5  # keys in a page of a listing
    latency: float = 0
    objects: dict[str, Object] = field(default_factory=dict)
    uploads: dict[str, Upload] = field(default_factory=dict)  # by their ids
    blocks: dict[str, dict[str, bytes]] = field(default_factory=dict)  # Azure's, of no blob yet
    requests: list[Request] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)  # what no client may do
    handler: type | None = None  # another service's
    certificate: str | None = None  # with its key, of the server's host: TLS is spoken
    host: str = "127.0.0.1"  # as clients name it
    fault: object = None  # of a Request: None, the name of a fault, or a call before it is served
    stall: float = 3  # seconds that a request stalls, if the server does not end before
    ahead: int = 0  # seconds of the server's clock
    ignores_conditions: bool = False  # of deletions
    knows_leases: bool = True  # signatures in queries
    numbers: object = field(default_factory=itertools.count)
    lock: threading.Lock = field(default_factory=threading.Lock)
    ended: threading.Event = field(default_factory=threading.Event)

    def __enter__(self):
        server = self

        class Bound(self.handler or Handler):
            state = server

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request, address):
                pass  # clients that are killed

        self.http = Quiet(("127.0.0.1", 0), Bound)
        if self.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate)
            self.http.socket = context.wrap_socket(
                self.http.socket, server_side=True, do_handshake_on_connect=False
            )
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.http.shutdown()
        self.http.server_close()

    @property
    def endpoint(self) -> str:
        scheme = "https" if self.certificate else "http"
        return f"{scheme}://{self.host}:{self.http.server_address[1]}"

    scheme = "s3"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.bucket}"

    @property
    def variables(self) -> dict[str, str]:
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": REGION,
            "AWS_ENDPOINT_URL": self.endpoint,
        }

    def count(self, op: str) -> int:
        return sum(r.op == op for r in self.requests)


def sometimes(rate: float, seed: int, kinds: list[str]):
    """A fault of some kind for that part of requests, the same for each seed."""
    chance = random.Random(seed)
    return lambda request: chance.choice(kinds) if chance.random() < rate else None


def first(n: int, kind: str, op: str | None = None):
    """The first n requests (of that kind) fail."""
    left = [n]

    def fault(request):
        if left[0] and op in (None, request.op):
            left[0] -= 1
            return kind
        return None

    return fault


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    state: Server
    #: How services name the algorithm, their headers, themselves, and the end of a scope.
    names = ("AWS4", "x-amz-", "s3", "aws4_request")
    part_sums = True  # are in the list of an upload's parts
    listed = "ETag"  # what listings tell of versions

    def log_message(self, *_):
        pass

    def date_time_string(self, timestamp=None):
        return email.utils.formatdate(time.time() + self.state.ahead, usegmt=True)

    # --- Replies

    def reply(self, code, body=b"", headers=None, cut=False, length=None):
        self.send_response(code)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[: len(body) // 2] if cut else body)
        if cut:
            self.reset(False)

    def error(self, code, name, message="no", headers=None):
        text = (
            f"<?xml version='1.0'?><Error><Code>{name}</Code><Message>{message}</Message></Error>"
        )
        self.reply(code, text.encode(), {"content-type": "application/xml", **(headers or {})})

    def reset(self, hard=True):
        """Ends the connection; hard: with a reset."""
        if hard:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    # --- What is asked

    def parse(self, path):
        """What is done, in which bucket, to which key."""
        by_host, _, rest = self.low["host"].partition(".localhost")
        path = f"/{by_host}{path}" if rest else path
        bucket, _, key = path[1:].partition("/")
        op = {"GET": "get", "HEAD": "head", "PUT": "put", "DELETE": "delete"}.get(self.command)
        if op == "get" and "list-type" in self.query:
            op = "list"
        if op == "put" and "x-amz-copy-source" in self.low:
            op = "copy"
        if "uploads" in self.query:
            op = {"GET": "uploads", "POST": "create"}[self.command]
        if "uploadId" in self.query:
            op = {"PUT": "part", "POST": "complete", "DELETE": "abort"}[self.command]
        return op or "deletes", bucket, urllib.parse.unquote(key)

    def no_bucket(self, bucket):
        self.error(404, "NoSuchBucket", f"there is no {bucket}")

    def version(self, o):
        """Of an object, as listings tell it."""
        return o.etag

    def page(self, prefix, delimiter, after):
        """Names with sizes and versions of a page, and what it is asked for as that begins behind
        it."""
        with self.state.lock:
            names = sorted(k for k in self.state.objects if k.startswith(prefix))
            there = {k: self.state.objects[k] for k in names}
            sizes = {k: (len(o.data), self.version(o)) for k, o in there.items()}
        found = {}
        for name in names:
            end = name.find(delimiter, len(prefix)) if delimiter else -1
            found.setdefault(name[: end + 1] if end >= 0 else name, sizes[name])
        rest = [n for n in found if not after or n > after]
        more = rest[self.state.page - 1] if len(rest) > self.state.page else None
        return {n: found[n] for n in rest[: self.state.page]}, more

    def handle_any(self):
        s = self.state
        path, _, query = self.path.partition("?")
        self.query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        self.low = {k.lower(): v for k, v in self.headers.items()}
        length = int(self.low.get("content-length", 0))
        self.body = body = self.rfile.read(length)
        if len(body) < length:  # the client has given it up
            self.close_connection = True
            return
        op, bucket, key = self.parse(path)
        request = Request(op, key, self.low, self.query)
        with s.lock:
            s.requests.append(request)
            fault = s.fault(request) if s.fault else None
        if s.latency:
            time.sleep(s.latency)
        if self.fails_before(fault):
            return
        if s.signed and not self.is_signed(path, query, body):
            return
        if bucket != s.bucket:
            self.no_bucket(bucket)
            return
        getattr(self, f"do_{request.op}_")(key, body, fault)

    do_GET = do_HEAD = do_PUT = do_DELETE = do_POST = handle_any

    def fails_before(self, fault):
        match fault:
            case "500":
                self.error(500, "InternalError")
            case "503":
                self.error(503, "SlowDown", "reduce your request rate")
            case "502":
                page = b"<html><body>bad gateway</body></html>"
                self.reply(502, page, {"content-type": "text/html"})
            case "429":
                self.error(429, "TooManyRequests", headers={"retry-after": "1"})
            case "429 for long":
                self.error(429, "TooManyRequests", headers={"retry-after": "77"})
            case "expired":
                self.error(400, "ExpiredToken", "The provided token has expired.")
            case ("error", code, name):
                self.error(code, name)
            case ("error", code, name, part):
                if part.encode() not in self.body:
                    return False
                self.error(code, name)
            case "403":
                self.error(403, "AccessDenied", "Access Denied")
            case "301":
                self.error(301, "PermanentRedirect", "The bucket is addressed elsewhere.")
            case ("302", target):
                self.reply(302, b"", {"location": target})
            case "skewed":
                self.error(403, "RequestTimeTooSkewed")
            case "401":
                self.error(401, "authError", "Invalid Credentials")
            case "page":
                page = b"<html><body>sign in to the network</body></html>"
                self.reply(200, page, {"content-type": "text/html"})
            case "409" if self.command == "PUT":
                self.error(409, "ConditionalRequestConflict")
            case "reset":
                self.reset()
            case "nothing":
                self.reset(False)
            case "stall":
                self.state.ended.wait(self.state.stall)
                self.reset()
            case "late":
                time.sleep(0.5)
                return False
            case _:
                if callable(fault):
                    fault()
                return False
        return True

    def is_signed(self, path, query, body):
        """Whether it is by the one who may: checked as the documentation of AWS says."""
        s = self.state
        algorithm, own, service, end = self.names
        if "X-Amz-Signature" in self.query:
            return self.is_signed_in_query(path, query)
        found = re.fullmatch(
            rf"{algorithm}-HMAC-SHA256 Credential=([^/]+)/(\d{{8}})/([^/]+)/{service}/{end}, "
            r"SignedHeaders=([^,]+), Signature=([0-9a-f]{64})",
            self.low.get("authorization", ""),
        )
        if not found:
            self.error(403, "AccessDenied", "Anonymous users may not do this")
            return False
        key, day, region, names, signature = found.groups()
        if region != s.region:
            self.error(
                301 if self.command == "HEAD" else 400, "AuthorizationHeaderMalformed",
                headers={"x-amz-bucket-region": s.region},
            )  # fmt: skip
            return False
        date = self.low[f"{own}date"]
        when = datetime.datetime.strptime(date + "+0000", "%Y%m%dT%H%M%SZ%z").timestamp()
        if abs(when - time.time() - s.ahead) > 900:
            self.error(403, "RequestTimeTooSkewed")
            return False
        payload = self.low[f"{own}content-sha256"]
        unsigned = payload == "UNSIGNED-PAYLOAD" and (service != "s3" or (s.certificate and body))
        if payload != hashlib.sha256(body).hexdigest() and not unsigned:
            self.state.wrong.append(f"digest of {self.path}")
        must = {n for n in self.low if n.startswith(own) or n in ("host", "range", "if-match")}
        if must - set(names.split(";")):
            self.state.wrong.append(f"not signed: {must - set(names.split(';'))}")
        return self.is_right(path, query, key, (day, region, service, end), date, names, payload,
                             signature)  # fmt: skip

    def is_right(self, path, query, key, scope, date, names, payload, signature):
        """Whether a signature is that of the request."""
        algorithm = self.names[0]
        pairs = sorted(p if "=" in p else p + "=" for p in query.split("&")) if query else []
        canonical = "\n".join(
            [self.command, path, "&".join(pairs)]
            + [f"{n}:{' '.join(self.low[n].split())}" for n in names.split(";")]
            + ["", names, payload]
        )
        text = "\n".join(
            [
                f"{algorithm}-HMAC-SHA256",
                date,
                "/".join(scope),
                hashlib.sha256(canonical.encode()).hexdigest(),
            ]
        )
        sign = (algorithm + SECRET).encode()
        for part in scope:
            sign = hmac.digest(sign, part.encode(), "sha256")
        if key != KEY:
            self.error(403, "InvalidAccessKeyId", "The key does not exist in our records.")
        elif hmac.digest(sign, text.encode(), "sha256").hex() != signature:
            self.error(403, "SignatureDoesNotMatch", "They do not match.")
        else:
            return True
        return False

    def is_signed_in_query(self, path, query):
        """A signature that ends after some seconds."""
        q = self.query
        key, *scope = q["X-Amz-Credential"].split("/")
        if not self.state.knows_leases:
            self.error(403, "AccessDenied", "Access Denied")
            return False
        if scope[1] != self.state.region:
            self.error(400, "AuthorizationQueryParametersError",
                       headers={"x-amz-bucket-region": self.state.region})  # fmt: skip
            return False
        date = datetime.datetime.strptime(q["X-Amz-Date"] + "+0000", "%Y%m%dT%H%M%SZ%z")
        now = time.time() + self.state.ahead
        if now > date.timestamp() + int(q["X-Amz-Expires"]):
            self.error(403, "AccessDenied", "Request has expired")
            return False
        names = q["X-Amz-SignedHeaders"]
        unsigned = {n for n in self.low if n.startswith("x-amz-")} - set(names.split(";"))
        if unsigned or "host" not in names.split(";"):
            self.state.wrong.append(f"not signed: {unsigned}")
        rest = "&".join(p for p in query.split("&") if not p.startswith("X-Amz-Signature="))
        return self.is_right(path, rest, key, scope, q["X-Amz-Date"], names, "UNSIGNED-PAYLOAD",
                             q["X-Amz-Signature"])  # fmt: skip

    def allows(self, o):
        match, none = self.low.get("if-match"), self.low.get("if-none-match")
        if match is not None and (o is None or match != o.etag):
            return False
        return not (none is not None and o is not None and none in ("*", o.etag))

    def finish(self, fault, code, body=b"", headers=None):
        """The reply to something that has been done, unless it gets lost."""
        if fault == "lost":
            self.reset()
        else:
            self.reply(code, body, headers)

    def do_get_(self, key, _, fault):
        with self.state.lock:
            o = self.state.objects.get(key)
        if o is None:
            self.error(404, "NoSuchKey")
            return
        if not self.allows(o):
            self.error(412 if "if-match" in self.low else 304, "PreconditionFailed")
            return
        headers = o.headers
        if self.low.get("x-amz-checksum-mode") == "ENABLED" and o.crc and "range" not in self.low:
            headers["x-amz-checksum-crc32c"] = o.crc
        self.send_part(o.data, headers, fault)

    def send_part(self, data, headers, fault):
        """The range that is asked for, or all."""
        found = re.fullmatch(r"bytes=(\d*)-(\d*)", self.low.get("range", ""))
        code, n = 200, len(data)
        if found and fault != "no ranges":
            a, b = found.groups()
            start = int(a) if a else max(0, n - int(b))
            end = min(n, int(b) + 1) if a and b else n
            if start >= n:
                self.error(416, "InvalidRange")
                return
            data, code = data[start:end], 206
            headers["content-range"] = f"bytes {start}-{end - 1}/{n}"
            if fault == "other range" and start + 1 < end:
                data = data[1:]
                headers["content-range"] = f"bytes {start + 1}-{end - 1}/{n}"
        if fault == "damage" and data and code == 200:
            data = bytes([data[0] ^ 1]) + data[1:]
        if fault == "stall within":
            self.stall_within(code, data, headers)
        else:
            self.reply(code, data, headers, cut=fault == "short" and len(data) > 1)

    def stall_within(self, code, data, headers):
        """Half of the body, and long after that the rest, which is not what is stored."""
        self.send_response(code)
        for name, value in {**headers, "content-length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        half = len(data) // 2
        self.wfile.write(data[:half])
        self.state.ended.wait(self.state.stall)
        with contextlib.suppress(OSError):
            self.wfile.write(bytes(len(data) - half))

    def do_head_(self, key, _, fault):
        with self.state.lock:
            o = self.state.objects.get(key)
        if o is None:
            self.reply(404)
        elif not self.allows(o):
            self.reply(412)
        else:
            self.reply(200, b"", o.headers, length=len(o.data))

    def do_put_(self, key, body, fault):
        meta = {k: v for k, v in self.low.items() if k.startswith("x-amz-meta-")}
        crc = self.low.get("x-amz-checksum-crc32c", "")
        if crc != crc32c(body):
            self.state.wrong.append(f"checksum of {key}")
        with self.state.lock:
            old = self.state.objects.get(key)
            allowed = self.allows(old)
            if allowed:
                self.state.objects[key] = Object(body, meta, crc)
        if allowed:
            self.finish(fault, 200, b"", {"etag": Object(body, {}).etag})
        elif old is None:
            self.error(404, "NoSuchKey")
        else:
            self.error(412, "PreconditionFailed")

    def do_create_(self, key, _, fault):
        meta = {k: v for k, v in self.low.items() if k.startswith(f"{self.names[1]}meta-")}
        if self.part_sums and self.low.get("x-amz-checksum-algorithm") != "CRC32C":
            self.state.wrong.append(f"no checksums of parts of {key}")
        with self.state.lock:
            # Characters that have to be encoded in a query, and in XML.
            name = f"id/{next(self.state.numbers)}+&="
            self.state.uploads[name] = Upload(key, meta, time.time())
        text = f"<R><UploadId>{escape(name)}</UploadId></R>"
        self.finish(fault, 200, text.encode())

    def upload(self, key):
        with self.state.lock:
            found = self.state.uploads.get(self.query["uploadId"])
        if found is None:
            self.error(404, "NoSuchUpload", "The specified upload does not exist.")
        elif found.key != key:
            self.state.wrong.append(f"upload of {found.key} for {key}")
        return found

    def do_part_(self, key, body, fault):
        upload = self.upload(key)
        if upload is None:
            return
        crc = self.low.get("x-amz-checksum-crc32c", "")
        if crc32c(body) not in (crc, self.low.get("x-goog-hash", "").removeprefix("crc32c=")):
            self.state.wrong.append(f"checksum of a part of {key}")
        with self.state.lock:
            upload.parts[int(self.query["partNumber"])] = (body, crc)
        self.finish(fault, 200, b"", {"etag": Object(body, {}).etag})

    def do_complete_(self, key, body, fault):
        upload = self.upload(key)
        if upload is None:
            return
        if fault == "failed complete":
            text = b"<Error><Code>InternalError</Code><Message>again</Message></Error>"
            self.reply(200, text)
            return
        told = re.findall(
            "<PartNumber>(.*?)</PartNumber><ETag>(.*?)</ETag>"
            + ("<ChecksumCRC32C>(.*?)<" if self.part_sums else "()<"),
            body.decode(),
        )
        kept = [(str(n), Object(p, {}).etag, c) for n, (p, c) in sorted(upload.parts.items())]
        if [(n, unescape(e, {"&#34;": '"'}), c) for n, e, c in told] != kept:
            self.state.wrong.append(f"parts of {key}: {told}")
        if any(len(p) < 5 << 20 for n, (p, _) in upload.parts.items() if n < len(told)):
            self.state.wrong.append(f"parts of {key} are too small")
        o = self.made(b"".join(p for _, (p, _) in sorted(upload.parts.items())), upload.meta)
        with self.state.lock:
            allowed = self.allows(self.state.objects.get(key))
            if allowed:
                self.state.objects[key] = o
                del self.state.uploads[self.query["uploadId"]]
        if allowed:
            self.finish(fault, 200, f"<R><ETag>{escape(o.etag)}</ETag></R>".encode())
        else:
            self.error(412, "PreconditionFailed")

    def made(self, data, meta):
        """The object that an upload makes."""
        # As the service has it: a checksum of checksums, and of how many.
        return Object(data, meta, f"{crc32c(b'of parts')}-2")

    def do_abort_(self, key, _, fault):
        if self.upload(key) is not None:
            with self.state.lock:
                del self.state.uploads[self.query["uploadId"]]
            self.finish(fault, 204)

    def do_uploads_(self, key, _, fault):
        after = (self.query.get("key-marker", ""), self.query.get("upload-id-marker", ""))
        prefix = self.query.get("prefix", "")
        with self.state.lock:
            found = sorted((u.key, i, u.begun) for i, u in self.state.uploads.items())
        found = [x for x in found if x[0].startswith(prefix) and x[:2] > after]
        text = "<ListMultipartUploadsResult>"
        more = len(found) > self.state.page
        for name, i, begun in found[: self.state.page]:
            date = datetime.datetime.fromtimestamp(begun, datetime.UTC)
            quoted = escape(urllib.parse.quote_plus(name, safe="/"))
            text += f"<Upload><Key>{quoted}</Key><UploadId>{escape(i)}</UploadId>"
            text += f"<Initiated>{date:%Y-%m-%dT%H:%M:%S.000Z}</Initiated></Upload>"
            last = f"<NextKeyMarker>{quoted}</NextKeyMarker>"
            last += f"<NextUploadIdMarker>{escape(i)}</NextUploadIdMarker>"
        text += f"<IsTruncated>{'true' if more else 'false'}</IsTruncated>"
        text += (last if more else "") + "</ListMultipartUploadsResult>"
        self.finish(fault, 200, text.encode())

    def do_copy_(self, key, _, fault):
        source = urllib.parse.unquote(self.low["x-amz-copy-source"]).split("/", 2)[2]
        with self.state.lock:
            o = self.state.objects.get(source)
            if o is not None and fault != "failed copy":
                self.state.objects[key] = o
        if fault == "failed copy":
            # As S3 does, when the reply has begun.
            body = b"<Error><Code>InternalError</Code><Message>again</Message></Error>"
            self.reply(200, body)
        elif o is None:
            self.error(404, "NoSuchKey")
        else:
            body = f"<CopyObjectResult><ETag>{escape(o.etag)}</ETag></CopyObjectResult>"
            self.finish(fault, 200, body.encode())

    def do_delete_(self, key, _, fault):
        with self.state.lock:
            o = self.state.objects.get(key)
            allowed = self.state.ignores_conditions or self.allows(o)
            if allowed:
                self.state.objects.pop(key, None)
        if allowed:
            self.finish(fault, 204)
        elif o is None:
            self.error(404, "NoSuchKey")
        else:
            self.error(412, "PreconditionFailed")

    def do_deletes_(self, key, body, fault):
        md5 = base64.b64encode(hashlib.md5(body).digest()).decode()
        if self.low.get("content-md5") != md5 or "delete" not in self.query:
            self.state.wrong.append("deletes")
        if fault == "failed key":
            text = "<Error><Key>k</Key><Code>InternalError</Code></Error>"
            self.reply(200, f"<DeleteResult>{text}</DeleteResult>".encode())
            return
        entities = {"&#38;": "&", "&#60;": "<", "&#62;": ">", "&#34;": '"', "&#39;": "'"}
        named = re.findall("<Object><Key>(.*?)</Key>(?:<ETag>(.*?)</ETag>)?</Object>",
                           body.decode(), re.DOTALL)  # fmt: skip
        text = ""
        with self.state.lock:
            for name, tag in ((unescape(a, entities), unescape(b, entities)) for a, b in named):
                o = self.state.objects.get(name)
                if not tag or self.state.ignores_conditions or (o and tag == o.etag):
                    self.state.objects.pop(name, None)
                    continue
                code = "PreconditionFailed" if o else "NoSuchKey"
                text += f"<Error><Key>{escape(name)}</Key><Code>{code}</Code></Error>"
        self.finish(fault, 200, f"<DeleteResult>{text}</DeleteResult>".encode())

    def do_list_(self, key, _, fault):
        prefix, delimiter = self.query.get("prefix", ""), self.query.get("delimiter")
        after = urllib.parse.unquote(self.query.get("continuation-token", ""))
        found, more = self.page(prefix, delimiter, after)
        text = "<ListBucketResult>"
        for name, (size, version) in found.items():
            quoted = escape(urllib.parse.quote_plus(name, safe="/"))
            if delimiter and name.endswith(delimiter):
                text += f"<CommonPrefixes><Prefix>{quoted}</Prefix></CommonPrefixes>"
            else:
                tag = escape(version, {'"': "&quot;"})
                text += f"<Contents><Key>{quoted}</Key><{self.listed}>{tag}</{self.listed}>"
                text += f"<Size>{size}</Size></Contents>"
        if more:
            token = escape(urllib.parse.quote(more, safe=""))
            text += f"<NextContinuationToken>{token}</NextContinuationToken>"
        self.finish(fault, 200, (text + "</ListBucketResult>").encode())
