"""Keys and tokens are in no output of the library, and not in core files."""

import base64
import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path
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
    logs += ("--status", tmp_path / "status")
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


# --- Core files -----------------------------------------------------------------------------------

linux = pytest.mark.skipif(
    sys.platform != "linux", reason="what core files have is set on Linux alone"
)


def core_folder(cwd):
    """Where core files of processes in that directory are put; None: a program gets them."""
    pattern = Path("/proc/sys/kernel/core_pattern").read_text().strip()
    return None if pattern.startswith("|") else (cwd / pattern).parent


def cores_of(folder):
    return {p for p in folder.iterdir() if "core" in p.name and p.is_file()}


USUAL = 0x33


def allow_cores():
    """In a child: whatever this process has used, core files as they are by default."""
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    Path("/proc/self/coredump_filter").write_text(hex(USUAL))


def crash(cwd, server, top, env, folder):
    """The filter of a command that has asked the server, and its core file, if it leaves one."""
    came, go_on = threading.Event(), threading.Event()

    def hold(_):
        came.set()
        go_on.wait(60)

    server.fault = hold
    before = cores_of(folder) if folder else set()
    p = subprocess.Popen(
        [BIN, "info", f"{top}/a.zarr"], cwd=cwd, env=env, preexec_fn=allow_cores,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert came.wait(60)
        what = int(Path(f"/proc/{p.pid}/coredump_filter").read_text(), 16)
    finally:
        p.send_signal(signal.SIGABRT)
        p.wait(60)
        go_on.set()
        server.fault = None
    assert p.returncode == -signal.SIGABRT
    found = cores_of(folder) - before if folder else set()
    data = b"".join(f.read_bytes() for f in found)
    for f in found:
        f.unlink()
    return what, data


@linux
def test_secrets_in_core_files(case, tmp_path):
    server, scheme, variables, _, secrets = case
    top = f"{scheme}://b"
    env = {**os.environ, **variables}
    folder = core_folder(tmp_path)
    can = folder and resource.getrlimit(resource.RLIMIT_CORE)[1] != 0
    full, everything = crash(tmp_path, server, top, env | {"CUBED_CORE_DUMPS": "full"}, folder)
    what, data = crash(tmp_path, server, top, env, folder)
    assert (what, full) == (0x10, USUAL)
    if can:  # else a program takes them, or there are none here: what they have is the filter's
        assert all(any(form in everything for form in forms([s])) for s in secrets)
        assert data.startswith(b"\x7fELF")
        assert not any(form in data for form in forms(secrets))
        assert len(data) < len(everything) / 4


@linux
def test_nobodys_core_files_have_all(tmp_path):
    """Of the command that asks as nobody."""
    with Server(signed=False) as server:
        variables = server.variables | {"AWS_NO_SIGN_REQUEST": "true"}
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            del variables[name]
        nobody = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
        nobody |= variables | {"HOME": str(tmp_path), "AWS_EC2_METADATA_DISABLED": "true"}
        what, _ = crash(tmp_path, server, "s3://b", nobody, None)
    assert what == USUAL


def test_what_core_files_have_is_said_well(tmp_path):
    with Server() as server:
        env = {**os.environ, **server.variables, "CUBED_CORE_DUMPS": "ful"}
        done = subprocess.run(
            [BIN, "info", "s3://b/a.zarr"], env=env, capture_output=True, text=True
        )
    assert done.returncode == 1
    assert 'CUBED_CORE_DUMPS is "ful", expected full, or nothing' in done.stderr


@linux
def test_core_files_of_programs(case):
    """Those of a program of Python, once it uses options, and of the workers that it starts."""
    server, scheme, _, options, _ = case
    program = """
import sys, pathlib, numpy as np, cubed
own = lambda: pathlib.Path("/proc/self/coredump_filter").read_text()
before, url, options = own(), sys.argv[1], eval(sys.stdin.read())
spec = cubed.Spec(f"{url}/work", allowed_mem="100MB", storage_options=options,
                  executor_name="processes", executor_options={"max_workers": 1})
cubed.array_api.asarray([1, 2, 3], spec=spec)
assert own() == before
x = cubed.array_api.arange(4, chunks=2, spec=spec)
cubed.to_zarr(cubed.map_blocks(lambda a: a * 0 + int(own(), 16), x, dtype="i8"), f"{url}/p.zarr")
print(own().strip(), cubed.from_zarr(f"{url}/p.zarr", spec=spec).compute().tolist())
"""
    done = subprocess.run(
        [sys.executable, "-c", program, f"{scheme}://b"], input=repr(options), text=True,
        capture_output=True, timeout=120, preexec_fn=allow_cores,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split(None, 1) == ["00000010", "[16, 16, 16, 16]\n"]
