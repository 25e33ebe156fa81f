"""Keys and tokens are in nothing that the library writes or says."""

import base64
import os
import subprocess
import sys
from urllib.parse import quote

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
from conftest import BIN
from s3_server import SECRET, Server, sometimes

import zarr

SESSION = "FwoGZXIvYXdz+session/token=="
SIGNATURE = "sv=2021-12-02&sig=a%20secret%2Fsignature%3D"
FAULTS = ["500", "503", "reset", "short", "403"]


def azure(s):
    return {"AZURE_STORAGE_CONNECTION_STRING": f"BlobEndpoint={s.endpoint}/{ACCOUNT}"}


# Of each kind: its server, variables, the same as options of storage, and what nobody may read.
CASES = {
    "s3": (
        Server,
        lambda s: s.variables | {"AWS_SESSION_TOKEN": SESSION},
        lambda s: {
            "key": s.variables["AWS_ACCESS_KEY_ID"], "secret": SECRET, "token": SESSION,
            "region": s.region, "endpoint_url": s.endpoint,
        },
        (SECRET, SESSION),
    ),
    "gs by token": (
        GoogleServer,
        lambda s: s.variables,
        lambda s: {"token": TOKEN, "endpoint_url": s.endpoint},
        (TOKEN,),
    ),
    "gs by HMAC": (
        GoogleXmlServer,
        lambda s: s.variables,
        lambda s: {"key": HMAC_KEY, "secret": HMAC_SECRET, "endpoint_url": s.endpoint},
        (HMAC_SECRET,),
    ),
    "az by key": (
        AzureServer,
        lambda s: s.variables,
        lambda s: {
            "account_name": ACCOUNT, "account_key": KEY, "endpoint": f"{s.endpoint}/{ACCOUNT}",
        },
        (KEY,),
    ),
    "az by signature": (
        AzureServer,
        lambda s: azure(s) | {"AZURE_STORAGE_SAS_TOKEN": f"?{SIGNATURE}"},
        lambda s: {"sas_token": SIGNATURE, "connection_string": next(iter(azure(s).values()))},
        ("a%20secret%2Fsignature%3D", "a secret/signature="),
    ),
    "az by token": (
        AzureServer,
        lambda s: azure(s) | {"AZURE_STORAGE_TOKEN": TOKEN},
        lambda s: {"bearer_token": TOKEN, "connection_string": next(iter(azure(s).values()))},
        (TOKEN,),
    ),
}  # fmt: skip


def forms(secrets):
    """Also as they would be in a URL or in base64, at any place of it."""
    for s in secrets:
        yield from (s.encode(), quote(s, safe="").encode())
        for skip in range(3):
            text = base64.b64encode(b"x" * skip + s.encode())
            yield text[4 if skip else 0 : -4]


def look(top, server, said, secrets):
    """At every file, every object of the service, and what was said."""
    found = {f"file {p}": p.read_bytes() for p in top.rglob("*") if p.is_file()}
    assert found and server.objects
    found |= {f"object {k}": bytes(o.data) for k, o in server.objects.items()}
    found |= {f"output {i}": text for i, text in enumerate(said)}
    for where, data in found.items():
        assert not any(form in data or form in where.encode() for form in forms(secrets)), where


@pytest.fixture(params=CASES)
def case(request, environment):
    make, variables, options, secrets = CASES[request.param]
    with make() as s:
        yield s, s.scheme, variables(s), options(s), secrets
    assert not s.wrong


def test_secrets_in_the_environment(case, tmp_path):
    """Of the command, with all that it can be asked to say, where requests fail and are refused."""
    server, scheme, variables, _, secrets = case
    z = zarr.create_array(tmp_path / "a.zarr", shape=(1000,), chunks=(100,), dtype="f8")
    z[:] = np.arange(1000.0)
    top, said = f"{scheme}://b", []

    def command(*args, code=0, **more):
        env = {**os.environ, **variables, **more}
        done = subprocess.run([BIN, *map(str, args)], env=env, capture_output=True, timeout=120)
        assert done.returncode == code, done.stderr.decode()
        said.extend((done.stdout, done.stderr))

    quiet = ("--progress", "plain", "--json")
    logs = ("--events", tmp_path / "events", "--report", tmp_path / "r.html")
    command("copy", tmp_path / "a.zarr", f"{top}/a.zarr")
    text = ("eval", "mean(a + 1) * a", "--in", f"a={top}/a.zarr", "--out", f"{top}/b.zarr")
    server.fault = sometimes(0.05, 3, FAULTS[:-1])
    for i, work in enumerate((f"{top}/work", tmp_path / "work")):
        how = ("--work-dir", work, "--executor", "processes", "--no-optimize", "--overwrite")
        command(*text, *how, *quiet, *logs)
        command(*text, *how, "--plan", "--explain", "--plan-svg", tmp_path / f"{i}.svg")
        command(*text, *how, "--save-plan", tmp_path / f"{i}.plan")
        command("run", tmp_path / f"{i}.plan", *quiet, "--events", tmp_path / f"run{i}", "--resume")
    server.fault = lambda request: "403" if request.op == "put" else None
    command(*text, *how, *quiet, "--events", tmp_path / "refused", code=1)
    server.fault = None
    # What is left of it, in the service and here.
    look(tmp_path, server, said, secrets)
    # Keys that are none: they are not repeated either.
    said.clear()
    wrong = [(k, v) for k, v in variables.items() if any(x in v for x in secrets)]
    assert wrong
    for name, value in wrong:
        if name != "AWS_SESSION_TOKEN":  # at which this server does not look
            other = value.replace(secrets[0], f"no{secrets[0]}")
            command("info", f"{top}/b.zarr", code=1, **{name: other})
    look(tmp_path, server, said, secrets)


PROGRAM = """
import pathlib, sys, warnings
import cubed
top, url, options = pathlib.Path(sys.argv[1]), sys.argv[2], eval(sys.stdin.read())
spec = cubed.Spec(f"{url}/work", allowed_mem="100MB", storage_options=options,
                  executor_name="processes", executor_options={"max_workers": 2})
print(spec, repr(spec))
x = cubed.array_api.arange(1000.0, chunks=100, spec=spec)
cubed.to_zarr(x * 2, f"{url}/p.zarr")
y = cubed.from_zarr(f"{url}/p.zarr", spec=spec)
z = cubed.array_api.mean(y + 1) * y
print(repr(y), z, z.plan, y.spec)
z.visualize(str(top / "plan.svg"))
print(z.compute(optimize_graph=False).sum())
try:
    cubed.from_zarr(f"{url}/none.zarr", spec=spec)
except Exception as e:
    print(repr(e))
try:
    cubed.from_zarr(f"{url}/p.zarr", storage_options={**options, "colour": "red"})
except Exception as e:
    print(repr(e))
"""


def test_secrets_in_storage_options(case, tmp_path):
    server, scheme, _, options, secrets = case
    program = (sys.executable, "-X", "dev", "-c", PROGRAM, tmp_path, f"{scheme}://b")
    server.fault = sometimes(0.05, 3, FAULTS[:-1])
    done = subprocess.run(program, input=repr(options).encode(), capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    server.fault = None
    assert b"colour" in done.stdout
    look(tmp_path, server, [done.stdout, done.stderr], secrets)
