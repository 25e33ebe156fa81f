"""Intermediates in object stores: their keys are spread over prefixes, also for runs that resume
others, take them over, or are cleaned up."""

import json
from collections import Counter

import pytest
from s3_server import Server
from test_plans_in_s3 import QUIET, killed_at
from test_s3 import run
from test_takeover import elsewhere

import zarr

CHUNKS = 1100  # of one intermediate: more than one prefix has
SUM = f"sum(rechunk(ones(({CHUNKS},)), (1,)))"
ARGS = (
    "eval", SUM, "--out", "s3://b/out", "--no-optimize", "--executor", "processes", "--max-workers",
    "2", "--work-dir", "s3://b/work",
)  # fmt: skip


@pytest.fixture
def server():
    with Server(page=1000) as s:
        yield s
    assert not s.wrong


def puts(server):
    """Folders of the chunks that were put, below the folder of a run, and their numbers."""
    keys = {r.key for r in server.requests if r.op in ("put", "copy")}
    below = (key.split("/")[2:] for key in keys if key.startswith("work/"))
    return Counter("/".join(parts[:-1]) for parts in below if len(parts) > 1)


def value(server, folder):
    for key, o in server.objects.items():
        if key.startswith("out/"):
            (folder / key).parent.mkdir(parents=True, exist_ok=True)
            (folder / key).write_bytes(o.data)
    return zarr.open_array(folder / "out", mode="r")[()]


def test_prefixes_of_a_run(server, tmp_path):
    """The large intermediate has two, the small ones after it have none, and nothing stays."""
    run(server, *ARGS, *QUIET)
    made = puts(server)
    spread = {name: n for name, n in made.items() if "/" in name}
    assert sorted(name[:3] for name in spread) == ["000", "001"]
    assert sum(spread.values()) == CHUNKS
    assert max(spread.values()) < 0.6 * CHUNKS
    assert all(n < 10 for name, n in made.items() if name not in spread)
    assert value(server, tmp_path) == CHUNKS
    assert not [key for key in server.objects if key.startswith("work")]


@pytest.mark.parametrize("ended", ["here", "elsewhere", "cleaned"])
def test_prefixes_after_a_kill(server, tmp_path, ended):
    """A run that resumes finds the chunks; one that takes over copies them; clean removes them."""
    killed_at(server, CHUNKS // 2, *ARGS)
    left = [key for key in server.objects if key.startswith("work/") and key.count("/") == 4]
    assert len(left) > CHUNKS // 3
    if ended == "elsewhere":
        for key in [k for k in server.objects if k.endswith(".cubed-run")]:
            o = server.objects[key]
            o.data = json.dumps(elsewhere(json.loads(o.data), silent=3600)).encode()
    if ended == "cleaned":
        run(server, "clean", "s3://b")
        assert not server.objects
        return
    server.requests.clear()
    run(server, *ARGS, "--resume", *QUIET)
    copies = [r.key for r in server.requests if r.op == "copy"]
    assert len(copies) == (len(left) if ended == "elsewhere" else 0)
    again = {r.key for r in server.requests if r.op == "put" and r.key.count("/") == 4}
    assert len(again) <= CHUNKS - len(left)
    assert value(server, tmp_path) == CHUNKS
    assert not [key for key in server.objects if key.startswith("work")]
