"""Memory bounds, interruption, plans as files, events."""

import json
import os
import re

import numpy as np
import pytest
from conftest import check, run

import zarr


def make(path, shape=(400, 300), chunks=(20, 300), seed=0):
    z = zarr.create_array(path, shape=shape, chunks=chunks, dtype="f8", compressors=())
    x = np.random.default_rng(seed).normal(size=shape)
    z[...] = x
    return x


def test_demo_within_its_bound():
    result = check(
        run(
            "demo",
            "quadratic-means",
            "--size",
            "120MB",
            "--allowed-mem",
            "100MB",
            "--max-workers",
            2,
            "--progress",
            "none",
        )
    )
    assert "peak resident, whole process" in result.out and "<= bound" in result.out
    assert "<= projected" in result.out
    assert "OVER" not in result.out


def test_refusal_names_the_smallest_allowance(tmp_path):
    x = make(tmp_path / "x.zarr")
    args = [
        "eval",
        "x * 2 - mean(x, axis=0)",
        "--in",
        f"x={tmp_path / 'x.zarr'}",
        "--out",
        tmp_path / "out.zarr",
        "--progress",
        "none",
        "--reserved-mem",
        "1MB",
    ]
    refused = run(*args, "--allowed-mem", "1.01MB")
    assert refused.code == 1
    assert not (tmp_path / "out.zarr").exists()
    least = int(re.search(r"allow at least (\d+) bytes", refused.err).group(1))
    assert run(*args, "--allowed-mem", least - 1).code == 1
    check(run(*args, "--allowed-mem", least, "--work-dir", tmp_path / "work"))
    np.testing.assert_allclose(
        zarr.open_array(tmp_path / "out.zarr")[...], x * 2 - x.mean(axis=0), rtol=1e-12, atol=1e-12
    )


def test_more_than_the_machine_has_is_refused(tmp_path):
    make(tmp_path / "x.zarr")
    result = run("eval", "sum(x)", "--in", f"x={tmp_path / 'x.zarr'}", "--allowed-mem", "100TB")
    assert result.code == 1
    assert "this machine has" in result.err


def test_spilled_intermediates_are_removed(tmp_path):
    x = make(tmp_path / "x.zarr")
    work = tmp_path / "work"
    args = [
        "eval",
        "(x + 1) * sum(x * x, axis=0)",
        "--in",
        f"x={tmp_path / 'x.zarr'}",
        "--no-optimize",
        "--json",
        "--progress",
        "none",
        "--reserved-mem",
        "1MB",
        "--work-dir",
        work,
    ]
    least = re.search(r"least (\d+)", run(*args, "--allowed-mem", "1.02MB").err).group(1)
    result = check(run(*args, "--allowed-mem", int(least) + 60_000))
    assert result.run["intermediate_spilled"] > 0
    assert result.run["intermediate_peak"] <= result.run["intermediate_budget"]
    np.testing.assert_allclose(result.array(), (x + 1) * (x * x).sum(axis=0), rtol=1e-12)
    assert not list(work.rglob("*/*"))


def test_events_tell_every_task_once(tmp_path):
    make(tmp_path / "x.zarr")
    events = tmp_path / "events.jsonl"
    result = check(
        run(
            "eval",
            "x - mean(x, axis=0)",
            "--in",
            f"x={tmp_path / 'x.zarr'}",
            "--json",
            "--progress",
            "none",
            "--events",
            events,
        )
    )
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    # No function of a user is there to take memory.
    own = [e["function_mem"] for e in lines if "measured_mem" in e]
    assert own
    assert set(own) == {0}
    assert lines[0]["event"] == "plan_start" and lines[-1]["event"] == "plan_end"
    ends = [(e["stage"], e["task"]) for e in lines if e["event"] == "task_end"]
    assert len(ends) == len(set(ends)) == result.run["tasks"]
    assert {e["stage"] for e in lines if e["event"] == "stage_end"} == {s for s, _ in ends}


def test_plan_is_shown_and_drawn_without_running(tmp_path):
    make(tmp_path / "x.zarr")
    out, svg = tmp_path / "out.zarr", tmp_path / "plan.svg"
    result = check(
        run(
            "eval",
            "uu=sum(x*x, axis=0)",
            "--in",
            f"x={tmp_path / 'x.zarr'}",
            "--out",
            out,
            "--plan",
            "--plan-svg",
            svg,
        )
    )
    assert "sum(x*x) -> uu" in result.out
    assert "memory per worker: projected" in result.out
    assert svg.read_text().count("<svg") == 1
    assert not out.exists()


def test_workers_run_a_saved_plan(tmp_path):
    x = make(tmp_path / "x.zarr")
    plan, out, work = tmp_path / "p.cubed", tmp_path / "out.zarr", tmp_path / "work"
    check(
        run(
            "eval",
            "x - mean(x, axis=0)",
            "--in",
            f"x={tmp_path / 'x.zarr'}",
            "--out",
            out,
            "--work-dir",
            work,
            "--save-plan",
            plan,
            "--max-workers",
            1,
        )
    )
    assert not out.exists()
    stages = check(
        run(
            "eval",
            "x - mean(x, axis=0)",
            "--in",
            f"x={tmp_path / 'x.zarr'}",
            "--out",
            out,
            "--work-dir",
            work,
            "--plan",
            "--max-workers",
            1,
        )
    ).out.splitlines()
    counts = [int(line.split()[1]) for line in stages[1:] if re.match(r"\d+ +\d+ ", line)]
    assert check(run("worker", plan, "--begin", "--run", "mine")).out == "mine\n"
    for stage, count in enumerate(counts):
        half = count // 2
        check(run("worker", plan, stage, f"0:{half}", "--run", "mine"))
        check(run("worker", plan, stage, f"{half}:{count}", "--run", "mine"))
    assert not (out / "zarr.json").exists()
    check(run("worker", plan, "--finish", "--run", "mine"))
    np.testing.assert_allclose(zarr.open_array(out)[...], x - x.mean(axis=0), atol=1e-13)
    raw = bytearray(plan.read_bytes())
    raw[len(raw) // 2] ^= 1
    (tmp_path / "bad.cubed").write_bytes(raw)
    damaged = run("worker", tmp_path / "bad.cubed", 0, "0", "--run", "mine")
    assert damaged.code == 1 and "damaged" in damaged.err
    assert run("worker", plan, 99, "0", "--run", "mine").code == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_target_is_found_before_the_work(tmp_path):
    make(tmp_path / "x.zarr")
    (tmp_path / "locked").mkdir(mode=0o500)
    result = run("eval", "x", "--in", f"x={tmp_path / 'x.zarr'}", "--out", tmp_path / "locked/o")
    assert result.code == 1
    assert "cannot" in result.err
