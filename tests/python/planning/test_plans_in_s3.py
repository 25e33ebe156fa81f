"""Plans over a bucket whose server fails: the same tests as for plans in directories.

The result is right or there is a clear error, and what is there is never an array that looks whole
and is not.
"""

import json
import math
import random
import re
import signal
import subprocess

import cubed
import numpy as np
import pytest
from conftest import BIN, cases, check, inputs, without_credentials
from conftest import run as run_local
from s3_server import Object, Server, crc32c, sometimes
from test_random_plans import COMPLEX, DTYPES, compare, make_case, make_values, store
from test_s3 import FAULTS, run

import zarr

QUIET = ("--progress", "none")
A = np.arange(600.0).reshape(30, 20)


@pytest.fixture
def server():
    with Server(page=1000) as s:
        yield s
    assert not s.wrong


def put(server, path, tree):
    """A directory's files as objects, with their checksums, so that damage is noticed."""
    for file in tree.rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            server.objects[f"{path}/{file.relative_to(tree)}"] = Object(data, {}, crc32c(data))


def fetched(server, key, folder):
    """What is below a key, read by zarr-python."""
    for k, o in server.objects.items():
        if k.startswith(key + "/"):
            (folder / k).parent.mkdir(parents=True, exist_ok=True)
            (folder / k).write_bytes(o.data)
    return zarr.open_array(folder / key, mode="r")[...]


def is_there(server, key):
    return any(f"{key}/{name}" in server.objects for name in ("zarr.json", ".zarray"))


# --- Random plans


@pytest.mark.parametrize("seed", range(cases(6)))
def test_random_plans(server, tmp_path, seed):
    """From the bucket and into it, with intermediates there: as in directories, and as NumPy."""
    pick = random.Random(1000 + seed)
    rng = np.random.default_rng(seed)
    arrays, here, there = {}, {}, {}
    for name in "ab":
        ndim = pick.choice([1, 2, 3])
        shape = tuple(pick.choice([1, 2, 5, 9] if ndim > 1 else [1, 33]) for _ in range(ndim))
        arrays[name] = make_values(rng, shape, pick.choice(DTYPES + COMPLEX))
        store(tmp_path / f"{name}.zarr", pick, arrays[name], "x")
        put(server, f"{name}.zarr", tmp_path / f"{name}.zarr")
        here[name] = f"{tmp_path / name}.zarr::x"
        there[name] = f"s3://b/{name}.zarr::x"
    drawn = [make_case(pick, arrays) for _ in range(4)]
    text = ";".join(f"r{i}={t}" for i, (t, _) in enumerate(drawn))
    limits = ("--allowed-mem", "48MB", "--max-workers", "2", *QUIET)
    want = check(run_local("eval", text, *inputs(text, here), "--json", *limits)).arrays()
    server.fault = sometimes(0.05, seed, FAULTS)
    how = ["--executor", "processes"] if seed % 3 == 0 else []
    how += ["--no-optimize"] if seed % 2 else []
    out = f"s3://b/r{seed}.zarr"
    run(
        server, "eval", text, *inputs(text, there), "--out", out, "--work-dir", "s3://b/work",
        *how, *limits,
    )  # fmt: skip
    server.fault = None
    single = any(a.dtype in (np.float32, np.complex64) for a in arrays.values())
    for i, (t, expected) in enumerate(drawn):
        got = fetched(server, f"r{seed}.zarr/r{i}", tmp_path)
        compare(t, got, expected, 2e-5 if single else 1e-10)
        np.testing.assert_array_equal(got, want[f"r{i}"], err_msg=t)
    assert not [k for k in server.objects if k.startswith("work")]


# --- Processes that are killed


def killed_at(server, number, *args):
    """The command, killed when the server gets that one of the requests that change something."""
    seen = []
    env = without_credentials() | server.variables
    command = [BIN, *map(str, args), *QUIET]
    with subprocess.Popen(
        command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:

        def fault(request):
            if request.op not in ("get", "head", "list"):
                seen.append(request)
                if len(seen) >= number:
                    process.send_signal(signal.SIGKILL)
                    return "reset"
            return None

        server.fault = fault
        code = process.wait(timeout=60)
    server.fault = None
    return code


KINDS = {
    "chunks": ("--chunks", "3,20"),
    "shards": ("--chunks", "3,5", "--shards", "6,20"),
    "skip": ("--chunks", "3,20", "--skip-empty"),
    "format 2": ("--chunks", "3,20", "--format", "2"),
}


@pytest.mark.parametrize("number", [1, 2, 3, 5, 9, 11, 12, 13])
@pytest.mark.parametrize("kind", KINDS)
def test_gone_on_with_after_a_kill(server, tmp_path, kind, number):
    zarr.create_array(tmp_path / "a", data=A, chunks=(10, 7))
    put(server, "a", tmp_path / "a")
    args = ("rechunk", "s3://b/a", "s3://b/out", *KINDS[kind], "--max-workers", "1")
    code = killed_at(server, number, *args)
    assert code == -signal.SIGKILL or (code == 0 and number > 8)
    if is_there(server, "out"):
        np.testing.assert_array_equal(fetched(server, "out", tmp_path / "early"), A)
    kept = {k: o for k, o in server.objects.items() if k.split("/")[1][0] in "c0123456789"}
    assert number < 5 or any(k.startswith("out/") for k in kept)
    server.requests.clear()
    server.fault = sometimes(0.1, number, FAULTS)
    run(server, *args, "--resume", *QUIET)
    server.fault = None
    np.testing.assert_array_equal(fetched(server, "out", tmp_path / "late"), A)
    assert all(server.objects[k] is o for k, o in kept.items())
    assert "nothing is left over" in run(server, "clean", "s3://b").out


@pytest.mark.parametrize("number", [1, 2, 4, 7, 9, 10, 11, 12, 14, 16, 18])
def test_killed_while_an_array_is_replaced(server, tmp_path, number):
    """The old one or the new one is there, or none until it is cleaned up after it."""
    zarr.create_array(tmp_path / "a", data=A, chunks=(10, 20))
    put(server, "a", tmp_path / "a")
    args = ("eval", "a + 1", "--in", "a=s3://b/a", "--out", "s3://b/a", "--overwrite")
    killed_at(server, number, *args, "--max-workers", "1")
    if is_there(server, "a"):
        found = fetched(server, "a", tmp_path / "early")
        assert np.array_equal(found, A) or np.array_equal(found, A + 1)
    server.fault = sometimes(0.1, number, FAULTS)
    run(server, "clean", "s3://b")
    server.fault = None
    found = fetched(server, "a", tmp_path / "late")
    assert np.array_equal(found, A) or np.array_equal(found, A + 1)
    assert not [k for k in server.objects if ".cubed-new" in k]


@pytest.mark.parametrize("shards", [False, True])
def test_what_fails_for_good_leaves_no_array(server, tmp_path, shards):
    """A chunk that cannot be put, or is not what it was, is an error that names it."""
    how = ("--chunks", "3,5", "--shards", "6,20") if shards else ("--chunks", "3,5")
    zarr.create_array(tmp_path / "a", data=A, chunks=(10, 7))
    put(server, "a", tmp_path / "a")
    for key, fault in (("out/c/1/0", "403"), ("a/c/1/1", "403"), ("a/c/1/1", "401")):
        server.fault = lambda r, key=key, fault=fault: fault if r.key == key else None
        r = run(server, "rechunk", "s3://b/a", "s3://b/out", *how, *QUIET, code=1)
        assert "c/1/" in r.err and fault in r.err
        assert not is_there(server, "out")
        server.fault = None
        run(server, "clean", "s3://b")
        assert {k.split("/")[0] for k in server.objects} == {"a"}
    damaged = bytearray(server.objects["a/c/1/1"].data)
    damaged[len(damaged) // 2 :] = b""
    server.objects["a/c/1/1"] = Object(bytes(damaged), {})
    r = run(server, "rechunk", "s3://b/a", "s3://b/out", *how, *QUIET, code=1)
    assert "c/1/1" in r.err
    assert not is_there(server, "out")


# --- What plans say of requests

WIDE = np.arange(64.0 * 64).reshape(64, 64)
SAID = {
    "elements": ("eval", "a + 1", "--in", "a=s3://b/a", "--out", "s3://b/o"),
    "replaced": ("eval", "a + 1", "--in", "a=s3://b/a", "--out", "s3://b/a", "--overwrite"),
    "a group": ("eval", "x = a + 1; y = a * 2", "--in", "a=s3://b/a", "--out", "s3://b/o"),
    "columns": ("rechunk", "s3://b/a", "s3://b/o", "--chunks", "64,1"),
    "product": ("eval", "matmul(a, a)", "--in", "a=s3://b/a", "--out", "s3://b/o"),
    "twice": ("eval", "a - mean(a, axis=0)", "--in", "a=s3://b/a", "--out", "s3://b/o"),
    "in the bucket": (
        "eval", "a - mean(a, axis=0)", "--in", "a=s3://b/a", "--out", "s3://b/o", "--executor",
        "processes", "--work-dir", "s3://b/work",
    ),
    "inner chunks": ("eval", "a + 1", "--in", "a=s3://b/s", "--out", "s3://b/o"),
    "shards": ("copy", "s3://b/s", "s3://b/o"),
}  # fmt: skip


@pytest.fixture
def wide(server, tmp_path):
    zarr.create_array(tmp_path / "a", data=WIDE, chunks=(4, 4))
    zarr.create_array(tmp_path / "s", data=WIDE, chunks=(4, 4), shards=(16, 16))
    for name in "as":
        put(server, name, tmp_path / name)
    return server


@pytest.mark.parametrize("case", SAID)
def test_requests_are_those_of_the_plan(wide, case, tmp_path):
    args = (*SAID[case], "--max-workers", "2")
    (said,) = json.loads(run(wide, *args, "--plan", "--json").out)["traffic"]
    wide.requests.clear()
    run(wide, *args, *QUIET)
    gets = wide.count("get") + wide.count("head")
    puts = wide.count("put") + wide.count("list") + wide.count("copy")
    reads = said["gets"] + said["heads"]
    writes = said["puts"] + said["lists"] + said["copies"]
    assert said["scheme"] == "s3"
    # Reads that a slow machine answers late are sent again: at most one request in twenty.
    again = 4 + (gets + puts) / 20
    assert reads - said["saved"] <= 1.05 * gets
    assert gets <= reads + again
    assert puts == pytest.approx(writes, rel=0.05)
    assert said["cost"] == pytest.approx((reads * 0.4 + writes * 5) / 1e6)
    # Each worker of "in the bucket" has a cache, and adjacent inner chunks are read together.
    assert (said["saved"] > 0) == (case in ("in the bucket", "inner chunks", "shards"))
    if not said["saved"]:
        assert said["bytes_read"] == WIDE.nbytes
    if case != "shards":
        assert said["bytes_written"] >= WIDE.nbytes
    assert (said["copies"] > 0) == (case == "replaced")


def test_prices_are_those_of_a_file(wide, tmp_path):
    args = (*SAID["elements"], "--plan")
    prices = tmp_path / "prices.json"
    prices.write_text('{"s3": {"get": 1e6, "put": 0, "read": 1e9}, "gs": {"get": 3}}')
    (said,) = json.loads(run(wide, *args, "--json", "--prices", prices).out)["traffic"]
    reads = said["gets"] + said["heads"]
    assert said["cost"] == pytest.approx(reads + said["bytes_read"])
    out = run(wide, *args).out
    text = f"{said['gets']} GETs, {said['heads']} HEADs, {said['puts']} PUTs and 0 LISTs"
    assert f"s3: at most {text}, reads 32.8 kB" in out
    assert " per second to one prefix, limits 5500 and 3500\n" in out
    assert " s of all workers together, " in out
    for text, why in (
        ('{"s3": {"gets": 1}}', "no price is given for gets"),
        ('{"s3": {"get": "1"}}', "no number >= 0 is get"),
        ('{"s3": 1}', "no object is s3"),
        ('{"gs": {"put": -1}}', "no number >= 0 is put"),
        ('{"s4": {"get": 1}}', "no store has the scheme s4"),
        ("[]", "expected {"),
        ("{", "expected {"),
    ):
        prices.write_text(text)
        assert why in run(wide, *args, "--prices", prices, code=1).err
    assert "--plan" in run(wide, *SAID["elements"], "--prices", prices, code=2).err


def test_a_plan_of_the_package_says_so_too(wide, monkeypatch):
    for name, value in wide.variables.items():
        monkeypatch.setenv(name, value)
    a = cubed.from_zarr("s3://b/a")
    plan = cubed.to_zarr(a + 1, "s3://b/o", compute=False).plan()
    (said,) = plan.traffic()
    assert f"s3: at most {said['gets']} GETs" in plan.explain()
    reads = said["gets"] + said["heads"]
    assert plan.traffic({"s3": (1e6, 0.0, 0.0, 0.0)})[0]["cost"] == reads
    assert "GETs and" in plan.explain() and "per second to one prefix" in plan.explain()
    assert str(plan).endswith(plan.requests()) and plan.requests() in plan.explain()
    assert (a + 1).plan().traffic()[0]["puts"] == 0
    for prices, why in (
        ({"s4": (1, 1, 1, 1)}, 'no store has the scheme "s4"'),
        ({"s3": (1, 1, -1, 1)}, "four numbers >= 0"),
        ({"s3": (1, 1)}, "four numbers >= 0"),
        ({"s3": 1}, "four numbers >= 0"),
        ({"s3": ("1", 1, 1, 1)}, "four numbers >= 0"),
    ):
        with pytest.raises(ValueError, match=why):
            plan.traffic(prices)
    wide.requests.clear()
    plan.execute()
    assert wide.count("head") <= said["heads"]
    assert wide.count("put") <= said["puts"]
    assert cubed.ones((3,)).plan().traffic() == []


def test_the_report_of_a_run_says_so(wide, tmp_path):
    args = ("eval", "mean(a, axis=0)", "--in", "a=s3://b/a", "--out", "s3://b/o", "--overwrite")
    (said,) = json.loads(run(wide, *args, "--plan", "--json").out)["traffic"]
    page = tmp_path / "r.html"
    run(wide, *args, *QUIET, "--report", page)
    found = dict(re.findall(r'data-name="s3_(\w+)" data-value="([^"]*)"', page.read_text()))
    assert {k: float(v) for k, v in found.items()} == {
        **{k: said[k] for k in ("gets", "heads", "lists", "cost", "limit_seconds")},
        "puts": said["puts"] + said["copies"],
        "get_rate": math.ceil(said["get_rate"]),
        "put_rate": math.ceil(said["put_rate"]),
    }


def test_an_estimate_says_so(wide, monkeypatch):
    for name, value in wide.variables.items():
        monkeypatch.setenv(name, value)
    plan = cubed.to_zarr(cubed.from_zarr("s3://b/a") + 1, "s3://b/o", compute=False).plan()
    (said,) = plan.traffic()
    e = plan.estimate("s3-lambda")
    for key in ("gets", "heads", "puts", "lists", "get_rate", "put_rate", "limit_seconds"):
        assert getattr(e, key) == said[key], key
    assert f"at most {e.gets} GETs, {e.heads} HEADs" in str(e)
    local = (cubed.ones((3,)) + 1).plan().estimate("s3-lambda")
    assert local.gets == local.puts == local.get_rate == 0
    assert "GETs" not in str(local)


# --- Workers of engines


def test_workers_know_what_the_environment_says(server, monkeypatch):
    """Processes that are begun with the credentials in it, and in nothing that they are sent."""
    for name, value in server.variables.items():
        monkeypatch.setenv(name, value)
    x = cubed.from_array(A, chunks=10, spec=cubed.Spec("s3://b/work", allowed_mem="100MB"))
    np.testing.assert_array_equal((x * 2).compute(executor="futures", max_workers=1), A * 2)
    assert not [k for k in server.objects if k.startswith("work/")]


def test_a_saved_plan_keeps_the_options_of_its_work_directory():
    """Plans hold no secrets: loading one leaves those of this process as they are."""
    options = {"key": "k", "secret": "s"}
    spec = cubed.Spec("s3://bucket/work", allowed_mem="100MB", storage_options=options)
    later = cubed.to_zarr(cubed.ones((4, 4), chunks=2, spec=spec), "sums.zarr", compute=False)
    saved = later.plan().save()
    before = cubed._core.storage_options()
    assert "secret s" in before
    cubed.load_plan(saved)
    assert cubed._core.storage_options() == before
