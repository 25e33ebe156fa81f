"""Arrays in Google Cloud Storage and Azure, with servers that fail and with emulators."""

import base64
import json
import os
import re
import subprocess
import time
from pathlib import Path

import cubed
import numpy as np
import pytest
from cloud_servers import (
    ACCOUNT,
    HMAC_KEY,
    HMAC_SECRET,
    KEY,
    TOKEN,
    AzureServer,
    GoogleServer,
    GoogleXmlServer,
)
from conftest import BIN, Result
from conftest import run as run_command
from real_servers import running
from s3_server import Object, first, sometimes

import zarr

A = np.arange(1000.0)
FAULTS = ["500", "502", "503", "reset", "nothing", "short", "damage", "lost", "no ranges"]
SECRETS = (TOKEN, KEY, HMAC_SECRET, "a secret", "another secret", "a%20secret")

pytestmark = pytest.mark.usefixtures("environment")


@pytest.fixture(params=[GoogleServer, GoogleXmlServer, AzureServer])
def server(request):
    with request.param() as s:
        yield s
    assert not s.wrong


@pytest.fixture
def known(server, environment):
    for name, value in server.variables.items():
        environment.setenv(name, value)
    return server


@pytest.fixture
def local(tmp_path):
    z = zarr.create_array(tmp_path / "a.zarr", shape=A.shape, chunks=(100,), dtype=A.dtype)
    z[:] = A
    return tmp_path / "a.zarr"


def run(server, *args, code=0, **variables) -> Result:
    env = {**os.environ, **server.variables, **variables}
    r = run_command(*args, env=env, timeout=60)
    assert code is None or r.code == code, r.err
    assert not any(s in r.out + r.err for s in SECRETS)
    return r


def write(server, local, name="x/a.zarr", **kwargs):
    out = f"{server.scheme}://b/{name}"
    run(server, "eval", "a + 1", "--in", f"a={local}", "--out", out, "--progress", "none", **kwargs)
    return out


def read(server, source, **kwargs):
    r = run(server, "eval", "a", "--in", f"a={source}", "--json", "--progress", "none", **kwargs)
    return next(iter(r.arrays().values()))


def put(server, path, tree):
    for file in tree.rglob("*"):
        if file.is_file():
            key = f"{path}/{file.relative_to(tree)}"
            server.objects[key] = Object(file.read_bytes(), {"x-goog-generation": "5"})


def test_the_command(server, local):
    url = write(server, local)
    puts = [r.key for r in server.requests if r.op == "put"]
    assert sum("/c/" in k for k in puts) == 10 and len(puts) <= 14
    np.testing.assert_array_equal(read(server, url), A + 1)
    top = f"{server.scheme}://b"
    run(server, "copy", url, f"{top}/y/c.zarr", "--progress", "none")
    rows = json.loads(run(server, "info", top, "--json").out)
    assert [r["path"] for r in rows if r.get("shape")] == ["x/a.zarr", "y/c.zarr"]
    assert "nothing is left over" in run(server, "clean", top).out
    assert server.count("list") > 3  # a page has five keys


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_that_pass(server, local, fault):
    server.fault = sometimes(0.2, 7, [fault])
    np.testing.assert_array_equal(read(server, write(server, local)), A + 1)
    assert len(server.objects) == 12


def test_replacing(server, local):
    url = write(server, local)
    for fault in (None, "lost", "500", "failed copy"):
        server.fault = sometimes(0.15, 1, [fault]) if fault else None
        for chunks, n in (("300", 4), ("100", 10)):
            args = ("--chunks", chunks, "--progress", "none", "--overwrite")
            run(server, "rechunk", url, url, *args)
            assert [k.startswith("x/a.zarr/c/") for k in server.objects].count(True) == n
    server.fault = None
    np.testing.assert_array_equal(read(server, url), A + 1)
    assert not [k for k in server.objects if ".cubed-new" in k]


def test_keys_that_are_encoded(server, local):
    url = write(server, local, "a b+c/ä=%25&x'()~,;@$!/d#e.zarr")
    np.testing.assert_array_equal(read(server, url), A + 1)
    assert "a b+c/ä=%&x'()~,;@$!/d#e.zarr/zarr.json" in server.objects
    assert "d#e.zarr" in run(server, "info", f"{server.scheme}://b/a b+c").out


def test_races(server, local):
    """A put whose reply was lost is no lost race, and one that somebody else has won is."""
    server.fault = first(1, "lost", "put")
    url = write(server, local)
    server.objects.clear()

    def claim(request):
        if request.op == "put" and request.key.endswith(".cubed-run"):
            server.objects.setdefault(
                request.key, Object(b"{}", {"generation": "7", "x-goog-generation": "7"})
            )

    server.fault = claim
    r = run(server, "eval", "a+1", "--in", f"a={local}", "--out", url, code=1)
    assert f"another run has just begun to write {url}" in r.err


def test_shards(server, tmp_path):
    a = np.arange(4096.0).reshape(64, 64)
    z = zarr.create_array(
        tmp_path / "s.zarr", shape=a.shape, chunks=(8, 8), shards=(32, 32), dtype="f8"
    )
    z[:] = a
    put(server, "s.zarr", tmp_path / "s.zarr")
    url = f"{server.scheme}://b/s.zarr"
    for fault in (None, "no ranges", "short"):
        server.fault = sometimes(0.3, 3, [fault])
        np.testing.assert_array_equal(read(server, url), a)
    r = run(server, "eval", "a[3:9, 40:50]", "--in", f"a={url}", "--json")
    np.testing.assert_array_equal(next(iter(r.arrays().values())), a[3:9, 40:50])


def test_other_spellings(known, local):
    """As fsspec has them; names in a service are not folded to lower case."""
    scheme = known.scheme
    put(known, "a.zarr", local)
    other = "gcs" if scheme == "gs" else "abfs"
    np.testing.assert_array_equal(cubed.from_zarr(f"{other}://b/a.zarr").compute(), A)
    with pytest.raises((FileNotFoundError, OSError)):
        cubed.from_zarr(f"{scheme}://B/a.zarr")
    if scheme == "az":
        where = f"abfss://b@{ACCOUNT}.dfs.core.windows.net/a.zarr"
        np.testing.assert_array_equal(cubed.from_zarr(where).compute(), A)


ERRORS = {
    GoogleServer: [
        ({"GOOGLE_OAUTH_ACCESS_TOKEN": "other"}, "401 authError .*the token is not valid"),
        ({"GOOGLE_OAUTH_ACCESS_TOKEN": "anon"}, "403 forbidden .*credentials do not permit it"),
        ({"GOOGLE_SKIP_SIGNATURE": "1"}, "403 forbidden .*it is not public: give credentials"),
        ({"STORAGE_EMULATOR_HOST": "ftp://x"}, 'is "ftp://x", expected http://HOST'),
        ({"GOOGLE_OAUTH_ACCESS_TOKEN": "/no.json"}, "cannot find the credentials file /no.json"),
        (
            {"GOOGLE_OAUTH_ACCESS_TOKEN": '{"type": "gdch_service_account"}'},
            "token has credentials of type gdch_service_account, which are not supported",
        ),
        (
            {"GOOGLE_OAUTH_ACCESS_TOKEN": '{"type": "external_account"}'},
            'token: credentials of an external account need "audience"',
        ),
    ],
    GoogleXmlServer: [
        ({"GS_ACCESS_KEY_ID": "other"}, "403 InvalidAccessKeyId .*check GS_ACCESS_KEY_ID"),
        ({"GS_SECRET_ACCESS_KEY": "other"}, "SignatureDoesNotMatch .*check GS_SECRET_ACCESS_KEY"),
        ({"GS_SECRET_ACCESS_KEY": ""}, "expected both, got the first alone"),
    ],
    AzureServer: [
        ({"AZURE_STORAGE_ACCOUNT_KEY": "b3RoZXI="}, "AuthenticationFailed .*check AZURE_STORAGE_"),
        ({"AZURE_STORAGE_ACCOUNT_KEY": "?"}, "is not a key: expected base64"),
        ({"AZURE_SKIP_SIGNATURE": "1"}, "404 ResourceNotFound .*or it is not public"),
        ({"AZURE_STORAGE_CONNECTION_STRING": ""}, "has no account: set AZURE_STORAGE_ACCOUNT"),
    ],
}


def test_errors(server, local):
    put(server, "a.zarr", local)
    url = f"{server.scheme}://b/a.zarr"
    for change, text in ERRORS[type(server)]:
        r = run(server, "eval", "a", "--in", f"a={url}", code=1, **change)
        assert re.search(text, r.err), r.err
        assert url in r.err
    r = run(server, "eval", "ones((3,))", "--out", f"{server.scheme}://other/a", code=1)
    assert re.search(
        "(get|put) .cubed-run: .*404 .*there is no (bucket|container) of that name", r.err
    )


def test_python(server):
    options = {
        GoogleServer: {"token": TOKEN, "endpoint_url": server.endpoint},
        GoogleXmlServer: {
            "key": HMAC_KEY, "secret": HMAC_SECRET, "endpoint_url": server.endpoint,
        },
        AzureServer: {
            "account_name": ACCOUNT, "account_key": KEY,
            "endpoint": f"{server.endpoint}/{ACCOUNT}",
        },
    }[type(server)]  # fmt: skip
    top = f"{server.scheme}://b"
    spec = cubed.Spec(f"{top}/work", allowed_mem="100MB", storage_options=options)
    assert not any(s in repr(spec) for s in SECRETS)
    x = cubed.from_array(np.arange(10_000.0), chunks=1000, spec=spec)
    cubed.to_zarr(x * 2, f"{top}/p.zarr")
    y = cubed.from_zarr(f"{top}/p.zarr", spec=spec)
    assert cubed.sum(y).compute() == np.arange(10_000).sum() * 2
    with pytest.raises(ValueError, match='no storage option "colour"'):
        cubed.from_zarr(f"{top}/p.zarr", storage_options={"colour": "red"})


def test_signatures_of_others(local):
    """A shared access signature, which is a part of each URL, and a copy's source has it too."""
    with AzureServer() as s:
        variables = {
            "AZURE_STORAGE_CONNECTION_STRING": f"BlobEndpoint={s.endpoint}/{ACCOUNT}",
            "AZURE_STORAGE_SAS_TOKEN": "?sv=2021-12-02&sig=a%20secret%2Fsignature%3D",
        }
        url = write(s, local, **variables)
        args = ("--chunks", "300", "--progress", "none", "--overwrite")
        run(s, "rechunk", url, url, *args, **variables)
        sources = [r.headers["x-ms-copy-source"] for r in s.requests if r.op == "copy"]
        assert sources and all("sig=a%20secret" in x for x in sources)
        np.testing.assert_array_equal(read(s, url, **variables), A + 1)


def test_tokens_that_are_fetched(local, tmp_path):
    """Of an account that signs, of a user, of a machine; anew when they have ended."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from threading import Thread
    from urllib.parse import parse_qs

    asked = []

    class Teller(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def tell(self):
            text = json.dumps({"access_token": TOKEN, "expires_in": 3600}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def do_POST(self):
            form = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
            asked.append({k: v[0] for k, v in form.items()})
            self.tell()

        def do_GET(self):
            assert self.headers["metadata-flavor"] == "Google"
            asked.append({"path": self.path})
            self.tell()

    teller = ThreadingHTTPServer(("127.0.0.1", 0), Teller)
    Thread(target=teller.serve_forever, args=(0.02,), daemon=True).start()
    port = teller.server_address[1]
    pem = tmp_path / "key.pem"
    subprocess.run(["openssl", "genrsa", "-out", pem, "2048"], check=True, capture_output=True)
    uri = f"http://127.0.0.1:{port}/token"
    account = {
        "type": "service_account", "client_email": "me@x", "private_key": pem.read_text(),
        "private_key_id": "7", "token_uri": uri,
    }  # fmt: skip
    user = {
        "type": "authorized_user", "client_id": "i", "client_secret": "a secret", "token_uri": uri,
        "refresh_token": "another secret",
    }  # fmt: skip
    (tmp_path / "account.json").write_text(json.dumps(account))
    folder = Path(os.environ["HOME"]) / ".config/gcloud"
    with GoogleServer() as s:
        put(s, "a.zarr", local)

        def works(**variables):
            env = {**os.environ, "STORAGE_EMULATOR_HOST": s.endpoint, **variables}
            args = [BIN, "eval", "sum(a)", "--in", "a=gs://b/a.zarr"]
            r = subprocess.run(args, env=env, capture_output=True, text=True, timeout=60)
            assert not any(x in r.stdout + r.stderr for x in SECRETS)
            return r.returncode == 0 and "499500" in r.stdout

        assert works(GOOGLE_APPLICATION_CREDENTIALS=str(tmp_path / "account.json"))
        (form,) = asked
        head, claim, signature = form["assertion"].split(".")
        (tmp_path / "said").write_text(f"{head}.{claim}")
        (tmp_path / "signature").write_bytes(base64.urlsafe_b64decode(signature + "=="))
        public = tmp_path / "public.pem"
        subprocess.run(["openssl", "rsa", "-in", pem, "-pubout", "-out", public], check=True)
        check = ["openssl", "dgst", "-sha256", "-verify", public, "-signature"]
        subprocess.run([*check, tmp_path / "signature", tmp_path / "said"], check=True)
        claim = json.loads(base64.urlsafe_b64decode(claim + "=="))
        assert claim["iss"] == "me@x" and claim["aud"] == uri
        assert claim["exp"] == claim["iat"] + 3600
        assert works(GOOGLE_SERVICE_ACCOUNT_KEY=json.dumps(user))
        assert asked[-1]["refresh_token"] == "another secret"
        s.fault = first(1, "401")
        assert works(GOOGLE_OAUTH_ACCESS_TOKEN=str(tmp_path / "account.json"))
        assert len(asked) == 4
        default = {"GOOGLE_OAUTH_ACCESS_TOKEN": "google_default"}
        assert works(GCE_METADATA_HOST=f"127.0.0.1:{port}", **default)
        assert asked[-1]["path"].endswith("/service-accounts/default/token")
        folder.mkdir(parents=True)
        (folder / "application_default_credentials.json").write_text(json.dumps(user))
        assert works(**default)
        assert asked[-1]["refresh_token"] == "another secret"
    teller.shutdown()
    teller.server_close()


@pytest.fixture
def teller():
    """A service that tells tokens: `asked` are path, headers and form (or JSON) of requests."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from threading import Thread
    from urllib.parse import parse_qsl, urlsplit

    class Teller(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
            url = urlsplit(self.path)
            is_json = self.headers.get("content-type") == "application/json"
            form = json.loads(body) if is_json else dict(parse_qsl(body + url.query))
            path = url.path.removeprefix("/")
            server.asked.append((path, dict(self.headers.items()), form))
            code, reply = server.replies.get(path, (200, {"access_token": TOKEN}))
            text = reply if isinstance(reply, str) else json.dumps(reply)
            self.send_response(code)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        do_POST = do_GET

    server = ThreadingHTTPServer(("127.0.0.1", 0), Teller)
    server.asked, server.replies = [], {}
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def summed(server, variables, code=0):
    """Reads the array of the server; what is said where that is to fail."""
    url = f"{server.scheme}://b/a.zarr"
    env = {**os.environ, **variables}
    done = subprocess.run(
        [BIN, "eval", "sum(a)", "--in", f"a={url}"], env=env, capture_output=True, text=True
    )
    said = done.stdout + done.stderr
    assert done.returncode == code and ("499500" in said) == (code == 0), said
    assert not any(x in said for x in SECRETS)
    return said


def external(teller, **more):
    return {
        "type": "external_account", "audience": "//iam.googleapis.com/p",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": f"{teller.url}/sts", **more,
    }  # fmt: skip


def test_identities_of_other_providers(teller, local, tmp_path):
    """Their token, of a file or a service, is given for one of Google's, or of an account's."""
    (tmp_path / "jwt").write_text("another secret\n")
    (tmp_path / "jwt.json").write_text('{"id": "another secret"}')
    as_json = {"type": "json", "subject_token_field_name": "id"}
    teller.replies["subject"] = (200, {"id": "another secret"})
    sources = [
        {"file": str(tmp_path / "jwt")},
        {"file": str(tmp_path / "jwt.json"), "format": as_json},
        {"url": f"{teller.url}/subject", "headers": {"x-own": "1", "y": "2"}, "format": as_json},
    ]
    with GoogleServer() as s:
        put(s, "a.zarr", local)

        def works(account, **kwargs):
            teller.asked.clear()
            (tmp_path / "e.json").write_text(json.dumps(account))
            where = {"STORAGE_EMULATOR_HOST": s.endpoint}
            file = {"GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "e.json")}
            return summed(s, where | file, **kwargs)

        for source in sources:
            works(external(teller, credential_source=source))
            path, _, form = teller.asked[-1]
            assert path == "sts" and form.pop("scope").endswith("devstorage.read_write")
            assert form == {
                "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
                "requested_token_type": "urn:ietf:params:oauth:token-type:access_token",
                "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
                "audience": "//iam.googleapis.com/p", "subject_token": "another secret",
            }  # fmt: skip
        headers = teller.asked[0][1]
        assert (headers["x-own"], headers["y"]) == ("1", "2")

        # To act as an account.
        teller.replies["sts"] = (200, {"access_token": "another secret", "expires_in": 3600})
        later = {"accessToken": TOKEN, "expireTime": "2999-01-01T00:00:00Z"}
        teller.replies["act"] = (200, later)
        url = {"service_account_impersonation_url": f"{teller.url}/act"}
        life = {"service_account_impersonation": {"token_lifetime_seconds": 700}}
        works(external(teller, credential_source=sources[0], **url, **life))
        (_, _, form), (path, headers, wanted) = teller.asked
        assert form["scope"] == "https://www.googleapis.com/auth/cloud-platform"
        assert path == "act" and headers["Authorization"] == "Bearer another secret"
        assert wanted["lifetime"] == "700s" and wanted["scope"][0].endswith("read_write")
        user = {
            "type": "authorized_user", "client_id": "i", "client_secret": "a secret",
            "token_uri": f"{teller.url}/sts", "refresh_token": "another secret",
        }  # fmt: skip
        kind = {"type": "impersonated_service_account", "delegates": ["d"]}
        works({**kind, **url, "source_credentials": user})
        assert teller.asked[-1][2]["delegates"] == ["d"]

        # What fails.
        teller.replies["act"] = (403, {"error": {"message": "Permission denied on it"}})
        said = works({**kind, **url, "source_credentials": user}, code=1)
        assert "/act: the reply is 403 (Permission denied on it)" in said
        no_json = {"file": str(tmp_path / "jwt"), "format": as_json}
        for source, text in [
            ({"file": str(tmp_path / "no")}, "the file .*/no does not exist"),
            (no_json, 'jwt: there is no "id" in JSON'),
            ({"environment_id": "aws1", "url": "http://x"}, "must be a file or a url; for an i"),
            ({"executable": {"command": "x"}}, "must be a file or a url; for an executable"),
        ]:
            assert re.search(text, works(external(teller, credential_source=source), code=1))
        far = {"token_url": "http://example.com/sts"}
        said = works({**external(teller, credential_source=sources[0]), **far}, code=1)
        assert "token_url is http://example.com/sts, expected https:// or this machine" in said
        assert "impersonated account need" in works({**kind, "source_credentials": user}, code=1)


def test_identities_of_azure(teller, local, tmp_path):
    """Of a machine, of an application's host, of a cluster's workload, of an application."""
    (tmp_path / "jwt").write_text("another secret\n")
    with AzureServer() as s:
        put(s, "a.zarr", local)
        where = {
            "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
            "AZURE_STORAGE_ENDPOINT": f"{s.endpoint}/{ACCOUNT}",
        }
        client = {"AZURE_CLIENT_ID": "c"}
        app = {**client, "AZURE_TENANT_ID": "t/1", "AZURE_AUTHORITY_HOST": f"{teller.url}/"}

        def works(variables, **kwargs):
            teller.asked.clear()
            return summed(s, where | variables, **kwargs)

        machine = {"AZURE_MSI_ENDPOINT": f"{teller.url}/msi"}
        for extra in ({}, client):
            works(machine | extra)
            ((path, headers, form),) = teller.asked
            assert path == "msi" and headers["Metadata"] == "true"
            assert form.pop("resource") == "https://storage.azure.com/"
            assert form.pop("client_id", None) == extra.get("AZURE_CLIENT_ID")
            assert form == {"api-version": "2018-02-01"}
        works({"IDENTITY_ENDPOINT": f"{teller.url}/app", "IDENTITY_HEADER": "a secret"})
        ((path, headers, form),) = teller.asked
        assert path == "app" and headers["X-IDENTITY-HEADER"] == "a secret"
        assert form["api-version"] == "2019-08-01"

        file = {"AZURE_FEDERATED_TOKEN_FILE": str(tmp_path / "jwt")}
        works(app | file)
        ((path, _, form),) = teller.asked
        assert path == "t%2F1/oauth2/v2.0/token"
        assert form == {
            "grant_type": "client_credentials", "client_id": "c",
            "scope": "https://storage.azure.com/.default", "client_assertion": "another secret",
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        }  # fmt: skip
        works({**app, "AZURE_CLIENT_SECRET": "a secret"})
        assert teller.asked[0][2]["client_secret"] == "a secret"

        # Tokens that end: long before that, and when the service says that they have.
        end = str(int(time.time()) + 60)
        teller.replies["msi"] = (200, {"access_token": TOKEN, "expires_on": end})
        works(machine)
        assert len(teller.asked) >= 2
        teller.replies["msi"] = (200, {"access_token": TOKEN, "expires_in": "3600"})
        s.fault = first(1, "401")
        works(machine)
        assert len(teller.asked) == 2
        s.fault = None

        # What fails.
        teller.replies["msi"] = (400, {"error": "e", "error_description": "Identity not found"})
        said = works(machine, code=1)
        assert "no credentials were found: set AZURE_STORAGE_ACCOUNT_KEY," in said
        assert "/msi: the reply is 400 (Identity not found)" in said
        teller.replies["msi"] = (200, {"access_token": "other", "expires_in": 3600})
        assert "the identity's token is not valid here: check AZURE_CLIENT_ID" in works(
            machine, code=1
        )
        said = works({"AZURE_CLIENT_SECRET": "a secret"}, code=1)
        assert "AZURE_CLIENT_SECRET is set without AZURE_CLIENT_ID" in said
        said = works(client | file, code=1)
        assert "AZURE_FEDERATED_TOKEN_FILE is set without AZURE_TENANT_ID" in said
        said = works({**app, **file, "AZURE_AUTHORITY_HOST": "http://example.com"}, code=1)
        assert 'AZURE_AUTHORITY_HOST is "http://example.com", expected https:// or this' in said
        assert "Azure Arc are not supported" in works({"IDENTITY_ENDPOINT": teller.url}, code=1)
        # No token is asked for, and sent without TLS, that nobody has named.
        assert "ResourceNotFound" in works({}, code=1) and not teller.asked


# --- Emulators


@pytest.mark.parametrize("name", ["fake-gcs-server", "azurite"])
def test_emulators(name, local, monkeypatch, tmp_path):
    with running(name, tmp_path, monkeypatch) as bucket:
        x = cubed.from_zarr(local)
        top = f"{bucket}/w"
        for url in (f"{top}/a", f"{top}/ä b+c/d%25e=&'.zarr"):
            cubed.to_zarr(x.rechunk((70,)) + 1, url)
            cubed.to_zarr(cubed.from_zarr(url).rechunk((300,)) * 2, f"{url}2")
            cubed.to_zarr(x + 1, url)  # in the place of the other one
            np.testing.assert_array_equal(cubed.from_zarr(url)[5:905].compute(), A[5:905] + 1)
            np.testing.assert_array_equal(cubed.from_zarr(f"{url}2").compute(), 2 * A + 2)
        done = subprocess.run([BIN, "info", top, "--json"], capture_output=True, check=True)
        assert len([r for r in json.loads(done.stdout) if r.get("shape")]) == 4
        args = [BIN, "clean", bucket]
        assert b"nothing is left over" in subprocess.run(args, capture_output=True).stdout
