"""Runs the same steps with two programs, and compares their time, memory and results."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import xarray as xr

CUBED = os.environ.get("CUBED_BIN", "cubed")
PROGRAMS = {
    "cubed": [str(Path(CUBED).resolve()) if "/" in CUBED else CUBED],
    "cdo": ["cdo", "-s", "-O", "-b", "F64"],
}


# A small process starts each program, because a child also counts the memory of its parent.
LAUNCHER = """
import resource, subprocess, sys, time
start = time.monotonic()
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000)
sys.exit(code)
"""


def run_steps(program: str, folder: Path, steps: list[str]) -> tuple[float, float]:
    """Runs steps in a new folder `program`; returns seconds and the peak MB of a step."""
    place = folder / program
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    seconds = peak = 0.0
    for step in steps:
        words = [*PROGRAMS[program], *step.split()]
        if program == "cubed":
            words += ["--progress", "none"]
        launch = [sys.executable, "-I", "-S", "-c", LAUNCHER, *words]
        done = subprocess.run(launch, cwd=place, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)}: {done.stderr}")
        took, used = map(float, done.stdout.split())
        seconds += took
        peak = max(peak, used)
    return seconds, peak


def values_of(path: Path) -> np.ndarray:
    """Returns the first variable except bounds and grid mappings, without axes of length 1."""
    with xr.open_dataset(path, decode_times=False) as ds:
        names = [n for n, v in ds.data_vars.items() if v.ndim and not str(n).endswith("_bnds")]
        return np.squeeze(ds[names[0]].values)


def compare(folder: Path, steps: dict[str, list[str]], results: list[str]) -> None:
    """Runs the steps of both programs, prints their costs, and checks that results agree."""
    print(f"{'':8}{'seconds':>10}{'peak MB':>10}")
    for program, of_program in steps.items():
        if program == "cdo" and not shutil.which("cdo"):
            print("cdo is not there: nothing to compare with")
            return
        seconds, peak = run_steps(program, folder, of_program)
        print(f"{program:8}{seconds:10.2f}{peak:10.1f}")
    for name in results:
        ours, other = (values_of(folder / program / name) for program in steps)
        np.testing.assert_allclose(ours, other, rtol=1e-4, atol=2e-3, err_msg=name)
        largest = np.nanmax(np.abs(ours - other), initial=0)
        print(f"{name}: equal, largest difference {largest:.1e}")
