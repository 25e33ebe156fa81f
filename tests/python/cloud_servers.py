"""Servers with the parts of Google's and Azure's protocols that the library uses.

What fails of requests, and how, is said as for :mod:`s3_server`.
"""

import base64
import email.utils
import hashlib
import hmac
import itertools
import json
import re
import urllib.parse
from xml.sax.saxutils import escape

from s3_server import KEY as HMAC_KEY
from s3_server import SECRET as HMAC_SECRET
from s3_server import Handler, Object, Server, crc32c

TOKEN = "ya29.a-secret-token"
ACCOUNT, KEY = (
    "account1",
    base64.b64encode(b"a secret key of an account, of 48 bytes in all.").decode(),
)
numbers = itertools.count(1)


class Google(Handler):
    """The JSON interface, for who has the token, and that for uploads in parts."""

    names = ("", "x-goog-", "", "")
    part_sums = False

    def parse(self, path):
        found = re.fullmatch(
            "(?:/upload)?/storage/v1/b/([^/]*)/o(?:/([^/]*))?(/rewriteTo.*)?", path
        )
        self.speaks_xml = not found
        if self.speaks_xml:
            return super().parse(path)
        bucket, key, copies = found.groups()
        op = {"GET": "get", "POST": "put", "DELETE": "delete"}[self.command]
        key = urllib.parse.unquote(key or self.query.get("name", ""))
        if copies:
            self.source, op = key, "copy"
            key = urllib.parse.unquote(copies.split("/")[-1])
        elif op == "get" and self.query.get("alt") != "media":
            op = "head" if key else "list"
        return op, urllib.parse.unquote(bucket), key

    def error(self, code, name, message="no", headers=None):
        if code == 416:
            self.reply(416, b"no such range", {"content-type": "text/html"})
            return
        if self.speaks_xml:
            super().error(code, name, message, headers)
            return
        body = {"code": code, "message": message, "errors": [{"reason": name}]}
        self.tell({"error": body}, code, headers)

    def tell(self, value, code=200, headers=None, fault=None):
        self.finish(fault, code, json.dumps(value).encode(), headers)

    def no_bucket(self, bucket):
        self.error(404, "notFound", "The specified bucket does not exist.")

    def is_signed(self, path, query, body):
        if self.low.get("authorization") == f"Bearer {TOKEN}":
            return True
        if "authorization" in self.low:
            self.error(401, "authError", "Invalid Credentials")
        else:
            self.error(403, "forbidden", "Anonymous caller does not have access.")
        return False

    def allows(self, o):
        match, none = self.query.get("ifGenerationMatch"), self.query.get("ifGenerationNotMatch")
        own = o.meta.setdefault("generation", str(next(numbers))) if o else "0"
        return match in (None, own) and none != own

    def find(self, key):
        with self.state.lock:
            o = self.state.objects.get(key)
        if o is None:
            self.error(404, "notFound", f"No such object: {key}")
        elif not self.allows(o):
            self.error(412, "conditionNotMet")
        else:
            return o
        return None

    def do_get_(self, key, _, fault):
        o = self.find(key)
        if o is not None:
            # As the service has it, of media alone.
            date = email.utils.formatdate(o.modified, usegmt=True)
            headers = {"x-goog-generation": o.meta["generation"], "last-modified": date}
            headers["x-goog-hash"] = f"crc32c={crc32c(o.data)},md5=no"
            self.send_part(o.data, headers, fault)

    def do_head_(self, key, _, fault):
        o = self.find(key)
        if o is not None:
            meta = {"cubed-write": o.meta.get("cubed-write", "")}
            size = str(len(o.data))
            self.tell({"size": size, "generation": o.meta["generation"], "metadata": meta})

    def do_put_(self, key, body, fault):
        boundary = b"--" + self.low["content-type"].split("boundary=")[1].encode()
        _, first, second, _ = body.split(boundary)
        said = json.loads(first.split(b"\r\n\r\n", 1)[1])
        data = second.split(b"\r\n\r\n", 1)[1][:-2]
        if said["crc32c"] != crc32c(data):
            self.state.wrong.append(f"checksum of {key}")
        o = Object(data, {**said["metadata"], "generation": str(next(numbers))})
        with self.state.lock:
            allowed = self.allows(self.state.objects.get(key))
            if allowed:
                self.state.objects[key] = o
        if allowed:
            self.tell({"generation": o.meta["generation"]}, fault=fault)
        else:
            self.error(412, "conditionNotMet")

    def made(self, data, meta):
        own = meta["x-goog-meta-cubed-write"]
        return Object(data, {"cubed-write": own, "generation": str(next(numbers))})

    def do_copy_(self, key, _, fault):
        if fault == "failed copy" and "rewriteToken" not in self.query:
            self.tell({"done": False, "rewriteToken": "a+b/c=="})
            return
        o = self.state.objects.get(self.source)
        if o is None:
            self.error(404, "notFound", f"No such object: {self.source}")
            return
        with self.state.lock:
            self.state.objects[key] = Object(o.data, {**o.meta, "generation": str(next(numbers))})
        self.tell({"done": True}, fault=fault)

    def do_delete_(self, key, _, fault):
        with self.state.lock:
            o = self.state.objects.get(key)
            allowed = self.state.ignores_conditions or self.allows(o)
            if allowed:
                self.state.objects.pop(key, None)
        if o is None:
            self.error(404, "notFound")
        elif not allowed:
            self.error(412, "conditionNotMet")
        else:
            self.finish(fault, 204)

    def version(self, o):
        return o.meta.setdefault("generation", str(next(numbers)))

    def do_list_(self, key, _, fault):
        q = self.query
        delimiter = q.get("delimiter")
        found, more = self.page(q.get("prefix", ""), delimiter, q.get("pageToken", ""))
        is_prefix = {n: bool(delimiter) and n.endswith("/") for n in found}
        items = [
            {"name": n, "size": str(k), "generation": v}
            for n, (k, v) in found.items()
            if not is_prefix[n]
        ]
        result = {"items": items, "prefixes": [n for n in found if is_prefix[n]]}
        self.tell({**result, "nextPageToken": more} if more else result, fault=fault)


class GoogleXml(Handler):
    """The XML interface, for who has HMAC keys: as S3's, but for conditions and checksums."""

    names = ("GOOG4", "x-goog-", "storage", "goog4_request")
    part_sums = False
    listed = "Generation"

    def version(self, o):
        return o.meta.setdefault("x-goog-generation", str(next(numbers)))

    def parse(self, path):
        op, bucket, key = super().parse(path)
        return "copy" if "x-goog-copy-source" in self.low else op, bucket, key

    def allows(self, o):
        match = self.low.get("x-goog-if-generation-match")
        return match in (None, o.meta["x-goog-generation"] if o else "0")

    def look(self, key):
        with self.state.lock:
            o = self.state.objects.get(key)
        if o is None:
            self.error(404, "NoSuchKey")
        elif not self.allows(o):
            self.error(412, "PreconditionFailed")
        else:
            return o
        return None

    def do_get_(self, key, _, fault):
        o = self.look(key)
        if o is not None:
            self.send_part(o.data, {**o.meta, "x-goog-hash": f"crc32c={crc32c(o.data)}"}, fault)

    def do_head_(self, key, _, fault):
        o = self.look(key)
        if o is not None:
            self.reply(200, b"", o.meta, length=len(o.data))

    def do_put_(self, key, body, fault):
        if self.low.get("x-goog-hash") != f"crc32c={crc32c(body)}":
            self.state.wrong.append(f"checksum of {key}")
        meta = {k: v for k, v in self.low.items() if k.startswith("x-goog-meta-")}
        meta["x-goog-generation"] = str(next(numbers))
        with self.state.lock:
            allowed = self.allows(self.state.objects.get(key))
            if allowed:
                self.state.objects[key] = Object(body, meta)
        if allowed:
            self.finish(fault, 200, b"", {"x-goog-generation": meta["x-goog-generation"]})
        else:
            self.error(412, "PreconditionFailed")

    def made(self, data, meta):
        return Object(data, {**meta, "x-goog-generation": str(next(numbers))})

    def do_copy_(self, key, _, fault):
        source = urllib.parse.unquote(self.low["x-goog-copy-source"]).split("/", 2)[2]
        if fault == "failed copy":
            self.reply(200, b"<Error><Code>InternalError</Code><Message>again</Message></Error>")
            return
        with self.state.lock:
            o = self.state.objects[source]
            meta = {**o.meta, "x-goog-generation": str(next(numbers))}
            self.state.objects[key] = Object(o.data, meta)
        self.finish(fault, 200, b"<CopyObjectResult></CopyObjectResult>")


class Azure(Handler):
    """Blobs, for who has the account's key or the token."""

    def parse(self, path):
        _, account, container, key = [*path.split("/", 3), ""][:4]
        if account != ACCOUNT:
            self.state.wrong.append(path)
        op = {"GET": "get", "HEAD": "head", "PUT": "put", "DELETE": "delete"}[self.command]
        if self.query.get("comp") == "list":
            op = "list"
        if "x-ms-copy-source" in self.low:
            op = "copy"
        if op == "put" and "comp" in self.query:
            op = {"block": "part", "blocklist": "complete"}[self.query["comp"]]
        return op, container, urllib.parse.unquote(key)

    def no_bucket(self, bucket):
        self.error(404, "ContainerNotFound", "The specified container does not exist.")

    def error(self, code, name, message="no", headers=None):
        name = {"NoSuchKey": "BlobNotFound"}.get(name, name)
        super().error(code, name, message, {**(headers or {}), "x-ms-error-code": name})

    def is_signed(self, path, query, body):
        """By the rules of the documentation, for versions from 2015 on."""
        low = self.low
        names = ("encoding", "language", "length", "md5", "type")
        lines = [self.command] + [low.get(f"content-{n}", "") for n in names]
        lines[3] = "" if lines[3] == "0" else lines[3]
        names = ("date", "if-modified-since", "if-match", "if-none-match", "if-unmodified-since")
        lines += [low.get(n, "") for n in (*names, "range")]
        lines += [f"{k}:{v}" for k, v in sorted(low.items()) if k.startswith("x-ms-")]
        lines += [f"/{ACCOUNT}{path}"] + [f"{k}:{v}" for k, v in sorted(self.query.items())]
        sign = hmac.digest(base64.b64decode(KEY), "\n".join(lines).encode(), "sha256")
        if low.get("authorization") == f"SharedKey {ACCOUNT}:{base64.b64encode(sign).decode()}":
            return True
        if low.get("authorization") == f"Bearer {TOKEN}":
            return True
        if low.get("authorization", "").startswith("Bearer"):
            self.error(401, "InvalidAuthenticationInfo", "Server failed to authenticate it.")
            return False
        if self.query.get("sig") == "a secret/signature=" or "sig=a%20secret" in self.path:
            return True
        if "authorization" in low:
            self.error(403, "AuthenticationFailed", "Server failed to authenticate the request.")
        else:
            self.error(404, "ResourceNotFound", "The specified resource does not exist.")
        return False

    def do_get_(self, key, _, fault):
        with self.state.lock:
            o = self.state.objects.get(key)
        if o is None:
            self.error(404, "BlobNotFound")
        elif not self.allows(o):
            self.error(412 if "if-match" in self.low else 304, "ConditionNotMet")
        else:
            md5 = base64.b64encode(hashlib.md5(o.data).digest()).decode()
            headers = {"etag": o.etag, **o.meta}
            if "range" not in self.low:
                headers["content-md5"] = md5
            self.send_part(o.data, headers, fault)

    def do_part_(self, key, body, fault):
        md5 = base64.b64encode(hashlib.md5(body).digest()).decode()
        if self.low.get("content-md5") != md5:
            self.state.wrong.append(f"checksum of a block of {key}")
        name = self.query["blockid"]
        with self.state.lock:
            blocks = self.state.blocks.setdefault(key, {})
            blocks[name] = body
            if len({len(n) for n in blocks}) > 1:
                self.state.wrong.append(f"names of blocks of {key} are not of one length")
        self.finish(fault, 201)

    def do_complete_(self, key, body, fault):
        named = re.findall("<Latest>(.*?)</Latest>", body.decode())
        with self.state.lock:
            old = self.state.objects.get(key)
            there = {**(old.blocks if old else {}), **self.state.blocks.get(key, {})}
        if set(named) - set(there):
            self.error(400, "InvalidBlockList", "The specified block list is invalid.")
            return
        data = b"".join(there[n] for n in named)
        self.commit(key, data, "x-ms-blob-content-md5", fault, {n: there[n] for n in named})

    def do_put_(self, key, body, fault):
        if self.low.get("x-ms-blob-type") != "BlockBlob":
            self.state.wrong.append(f"kind of {key}")
        self.commit(key, body, "content-md5", fault, {})

    def commit(self, key, data, name, fault, blocks):
        md5 = base64.b64encode(hashlib.md5(data).digest()).decode()
        if self.low.get(name) != md5:
            self.state.wrong.append(f"checksum of {key}")
        meta = {k: v for k, v in self.low.items() if k.startswith("x-ms-meta-")}
        o = Object(data, meta, blocks=blocks, tag=self.new_tag())
        with self.state.lock:
            old = self.state.objects.get(key)
            allowed = self.allows(old)
            if allowed:
                self.state.objects[key] = o
                self.state.blocks.pop(key, None)  # and with them those of others
        if allowed:
            self.finish(fault, 201, b"", {"etag": o.etag})
        elif self.low.get("if-none-match") == "*":
            self.error(409, "BlobAlreadyExists")
        else:
            self.error(412, "ConditionNotMet")

    def do_head_(self, key, _, fault):
        with self.state.lock:
            o = self.state.objects.get(key)
        if o is None:
            self.reply(404, b"", {"x-ms-error-code": "BlobNotFound"})
        elif not self.allows(o):
            self.reply(412)
        else:
            state = {"x-ms-copy-status": "success"}
            self.reply(200, b"", {"etag": o.etag, **o.meta, **state}, length=len(o.data))

    def do_copy_(self, key, _, fault):
        source = urllib.parse.urlparse(self.low["x-ms-copy-source"]).path
        o = self.state.objects.get(urllib.parse.unquote(source).split("/", 3)[3])
        if o is None:
            self.error(404, "BlobNotFound")
            return
        with self.state.lock:
            new = Object(o.data, o.meta, blocks=o.blocks, tag=self.new_tag())
            self.state.objects[key] = new
        state = "pending" if fault == "failed copy" else "success"
        self.finish(fault, 202, b"", {"x-ms-copy-status": state})

    def do_delete_(self, key, _, fault):
        with self.state.lock:
            o = self.state.objects.get(key)
            allowed = self.state.ignores_conditions or self.allows(o)
            if allowed:
                self.state.objects.pop(key, None)
        if o is None:
            self.error(404, "BlobNotFound")
        elif not allowed:
            self.error(412, "ConditionNotMet")
        else:
            self.finish(fault, 202)

    @staticmethod
    def new_tag():
        return f'"0x8DD{next(numbers):012X}"'

    def version(self, o):
        """Listings leave the quotes out."""
        return o.etag.strip('"')

    def do_list_(self, key, _, fault):
        q = self.query
        delimiter = q.get("delimiter")
        found, more = self.page(q.get("prefix", ""), delimiter, q.get("marker", ""))
        text = '<EnumerationResults ContainerName="b"><Blobs>'
        for name, (size, version) in found.items():
            if delimiter and name.endswith(delimiter):
                text += f"<BlobPrefix><Name>{escape(name)}</Name></BlobPrefix>"
            else:
                told = f"<Content-Length>{size}</Content-Length><Etag>{version}</Etag>"
                text += f"<Blob><Name>{escape(name)}</Name><Properties>{told}</Properties></Blob>"
        text += f"</Blobs><NextMarker>{escape(more or '')}</NextMarker></EnumerationResults>"
        self.finish(fault, 200, text.encode())


class GoogleServer(Server):
    scheme = "gs"

    def __init__(self, bucket="b"):
        super().__init__(handler=Google, bucket=bucket)

    @property
    def variables(self):
        return {"STORAGE_EMULATOR_HOST": self.endpoint, "GOOGLE_OAUTH_ACCESS_TOKEN": TOKEN}


class GoogleXmlServer(Server):
    scheme = "gs"

    def __init__(self, bucket="b"):
        super().__init__(handler=GoogleXml, bucket=bucket, region="auto")

    @property
    def variables(self):
        keys = {"GS_ACCESS_KEY_ID": HMAC_KEY, "GS_SECRET_ACCESS_KEY": HMAC_SECRET}
        return {"STORAGE_EMULATOR_HOST": self.endpoint, **keys}


class AzureServer(Server):
    scheme = "az"

    def __init__(self, bucket="b"):
        super().__init__(handler=Azure, bucket=bucket)

    @property
    def variables(self):
        where = f"BlobEndpoint={self.endpoint}/{ACCOUNT}"
        line = f"{where};AccountName={ACCOUNT};AccountKey={KEY}"
        return {"AZURE_STORAGE_CONNECTION_STRING": line}
