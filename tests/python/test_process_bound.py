"""Processes stay within allowed_mem, with reserved_mem as it is measured: random plans."""

import json
import pathlib
import random
import re
import subprocess
import sys

import cubed
import cubed.array_api as xp
import cubed.ndimage
import numpy as np
import pytest
from conftest import cases

#: Of a process, which imports and measures for 2 s.
PLANS = 17


def _shifted(block):
    return block + 1


STEPS = {
    "add": lambda x, r: x + r.random(),
    "root": lambda x, r: xp.sqrt(xp.abs(x)),
    "transpose": lambda x, r: x.T,
    "rechunk": lambda x, r: x.rechunk(tuple(r.choice((50, 100, 170, 400)) for _ in range(2))),
    "sort": lambda x, r: xp.sort(x, axis=r.randrange(2)),
    "product": lambda x, r: xp.matmul(x, x.T),
    "running": lambda x, r: xp.cumulative_sum(x, axis=r.randrange(2)),
    "centred": lambda x, r: x - xp.mean(x, axis=r.randrange(2), keepdims=True),
    "slice": lambda x, r: x[r.randrange(1, 50) :],
    "joined": lambda x, r: xp.concat([x, x * 2], axis=r.randrange(2)),
    "function": lambda x, r: cubed.map_blocks(_shifted, x, dtype=x.dtype),
    "filter": lambda x, r: cubed.ndimage.uniform_filter(x, size=3),
    "groups": lambda x, r: cubed.groupby_reduce(x, np.arange(x.shape[1]) % 7, func="mean")[0],
    "bins": lambda x, r: cubed.groupby_reduce(
        x, np.arange(x.shape[1]) % 90, func="sum", expected_groups=np.arange(80), isbin=True
    )[0],
    "medians": lambda x, r: cubed.groupby_reduce(x, np.arange(x.shape[1]) % 90, func="median")[0],
    "positions": lambda x, r: x[np.arange(-1, -x.shape[0], -1)],
    "masked": lambda x, r: xp.where(np.arange(x.shape[1]) % 2 > 0, x, 0.0),
    "narrow": lambda x, r: x.astype("f4"),
}


def _plan(x, r):
    names = [r.choice(list(STEPS)) for _ in range(r.randrange(1, 5))]
    for name in names:
        if min(x.shape) > 60 and max(x.shape) < 2000:
            x = STEPS[name](x, r)
    return names, xp.sum(x)


def _peak():
    text = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+)", text)[1]) * 1024


def run_plans(executor, seed, n, folder):
    """Peaks that exceed what workers are allowed, the largest share of it, and how many plans ran,
    as JSON."""
    r = random.Random(seed)
    source = f"{folder}/x.zarr"
    values = np.random.default_rng(seed).random((400, 400))
    cubed.to_zarr(cubed.from_array(values, chunks=(100, 100)), source, overwrite=True)
    cubed.ndimage.uniform_filter(cubed.ones((3, 3)), size=3).compute()  # SciPy counts
    STEPS["bins"](cubed.ones((3, 300)), random)  # and pandas
    del values
    reserved = cubed.measure_reserved_mem(executor, max_workers=1)
    over, ran, most = [], 0, 0.0
    while ran < n:
        workers = 1 if executor == "single-threaded" else r.choice((1, 2))
        allowed = reserved + r.randrange(2, 30) * 1_000_000
        if executor == "processes":  # which load SciPy
            allowed += 40_000_000
        spec = cubed.Spec(
            folder, allowed_mem=allowed, reserved_mem=allowed - (allowed - reserved) // 2
            if executor == "processes" else reserved,
        )  # fmt: skip
        try:
            names, y = _plan(cubed.from_zarr(source, spec=spec), r)
            y.plan()
        except MemoryError:  # refused before anything runs
            continue
        pathlib.Path("/proc/self/clear_refs").write_text("5")
        y.compute(executor=executor, max_workers=workers)
        if executor != "processes":
            peak = _peak()
            most = max(most, peak / (workers * allowed))
            if peak > workers * allowed:
                over.append([names, workers, allowed, peak])
        ran += 1
    print(json.dumps({"over": over, "ran": ran, "most": most}))


@pytest.mark.parametrize("executor", ["threads", "single-threaded", "processes"])
@pytest.mark.parametrize("seed", range(cases(1)))
def test_peaks_are_within_the_bound(executor, seed, tmp_path):
    """The system enforces the bound of worker processes: a task that exceeds it fails."""
    script = f"import test_process_bound as t; t.run_plans({executor!r}, {seed}, {PLANS}, 'w')"
    (tmp_path / "w").mkdir()
    script = script.replace("'w'", repr(str(tmp_path / "w")))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        cwd=pathlib.Path(__file__).parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "Permission denied" in done.stderr:
        pytest.skip("the system does not let a process reset its peak of memory")
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["ran"] == PLANS
    assert found["over"] == []
