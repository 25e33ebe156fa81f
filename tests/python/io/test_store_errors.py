"""Errors of stores: one message with the store, the operation, the key, the status and a remedy."""

import os
import re
import subprocess
from dataclasses import dataclass, field

import pytest
from cloud_servers import AzureServer, GoogleServer, GoogleXmlServer
from conftest import BIN
from s3_server import Server
from test_clouds import SECRETS, put

import zarr

pytestmark = pytest.mark.usefixtures("environment")

SERVERS = {"s3": Server, "gs": GoogleServer, "gs by HMAC": GoogleXmlServer, "az": AzureServer}


@dataclass
class Case:
    """What is wrong, and what is said of it: the reply, and what to do."""

    store: str
    wrong: str
    status: str
    advice: str
    variables: dict[str, str] = field(default_factory=dict)
    fault: str | None = None
    bucket: str = "b"


BUCKET = "there is no (bucket|container) of that name"
PAGE = "an HTML page.*check the address, and whether a proxy answers"
FORBIDDEN = "these credentials do not permit it: check"
AS_NOBODY = "BlobEndpoint={0}/account1"
CASES = [
    Case("s3", "bucket", "404 NoSuchBucket", BUCKET, bucket="other"),
    Case("gs", "bucket", "404 NoSuchBucket", BUCKET, bucket="other"),
    Case("gs by HMAC", "bucket", "404 NoSuchBucket", BUCKET, bucket="other"),
    Case("az", "container", "404 ContainerNotFound", BUCKET, bucket="other"),
    Case("s3", "region", "301 PermanentRedirect", "check AWS_REGION and AWS_END", fault="301"),
    Case("s3", "key", "403 InvalidAccessKeyId", "check AWS_ACC", {"AWS_ACCESS_KEY_ID": "x"}),
    Case(
        "s3", "secret", "403 SignatureDoesNotMatch", "check AWS_SECRET_ACCESS_KEY",
        {"AWS_SECRET_ACCESS_KEY": "x"},
    ),
    Case("gs by HMAC", "key", "403 InvalidAccessKeyId", "check GS_ACC", {"GS_ACCESS_KEY_ID": "x"}),
    Case(
        "gs by HMAC", "secret", "403 SignatureDoesNotMatch", "check GS_SECRET_ACCESS_KEY",
        {"GS_SECRET_ACCESS_KEY": "x"},
    ),
    Case(
        "az", "key", "403 AuthenticationFailed", "check AZURE_STORAGE_ACCOUNT_KEY",
        {"AZURE_STORAGE_ACCOUNT_KEY": "b3RoZXI="},
    ),
    Case("s3", "token's end", "400 ExpiredToken", "get new credentials", fault="expired"),
    Case(
        "gs", "token", "401 authError", "the token is not valid, or has ended",
        {"GOOGLE_OAUTH_ACCESS_TOKEN": "x"},
    ),
    Case(
        "az", "token", "401 InvalidAuthenticationInfo", "has ended: get a new one",
        {"AZURE_STORAGE_TOKEN": "x", "AZURE_STORAGE_CONNECTION_STRING": AS_NOBODY},
    ),
    *(Case(s, "rights", "403 AccessDenied", FORBIDDEN, fault="403") for s in ("s3", "gs by HMAC")),
    Case("gs", "rights", "403 (AccessDenied|forbidden)", FORBIDDEN, fault="403"),
    Case("az", "rights", "403 (AccessDenied|Auth.*)", FORBIDDEN, fault="403"),
    *(Case(s, "proxy", "200", PAGE, fault="page") for s in SERVERS),
    Case("s3", "proxy's status", "502", PAGE, fault="502"),
    Case("s3", "clock", "403 RequestTimeTooSkewed", "set this machine's clock", fault="skewed"),
    Case(
        "s3", "anonymous", "403 AccessDenied", "it is not public: give credentials",
        {"AWS_NO_SIGN_REQUEST": "1"},
    ),
]  # fmt: skip


@pytest.mark.parametrize("writes", [False, True], ids=["read", "write"])
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.store}: {c.wrong}")
def test_messages(case, writes, tmp_path):
    zarr.create_array(tmp_path / "a", shape=(4,), chunks=(4,), dtype="f8")[:] = 1
    with SERVERS[case.store]() as s:
        s.fault = (lambda request: case.fault) if case.fault else None
        put(s, "g/a", tmp_path / "a")
        url = f"{s.scheme}://{case.bucket}/g/a"
        wrong = {k: v.format(s.endpoint) for k, v in case.variables.items()}
        args = ["eval", "a + 1", "--in", f"a={tmp_path / 'a' if writes else url}"]
        args += ["--out", f"{url}2"] if writes else []
        done = subprocess.run(
            [BIN, *args, "--progress", "none"], env={**os.environ, **s.variables, **wrong},
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
    assert done.returncode == 1
    (said,) = (x for x in done.stderr.splitlines() if x.startswith("cubed eval: "))
    assert url in said, "the store"
    assert re.search(r": (get|put|list) (g/)?[\w./-]+: ", said), "operation and key"
    assert re.search(f"the reply is {case.status}", said), "the status"
    assert re.search(case.advice, said), "what to do"
    assert not any(x in said for x in SECRETS)


@pytest.mark.parametrize("store", SERVERS)
def test_certificates(store, certificates, tmp_path):
    """There is no reply whose status could be told: why there is none, and what to do."""
    server = SERVERS[store]()
    server.certificate = str(certificates[0][1])
    with server as s:
        url = f"{s.scheme}://b/g/a"
        done = subprocess.run(
            [BIN, "info", url], env={**os.environ, **s.variables}, capture_output=True, text=True
        )
        assert done.returncode == 1 and not s.requests
    said = done.stderr
    assert re.match(rf"cubed info: {url}: (get|list) [\w./]*: SSL certificate problem", said), said
    assert "is not believed; one of your own is given in AWS_CA_BUNDLE or SSL_CERT_FILE" in said
    assert said.count("\n") == 1 and not any(x in said for x in SECRETS)
