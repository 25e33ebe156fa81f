#!/usr/bin/env python3
"""Quadratic means of 1.5 TB by up to 10,000 workers, in simulation: the real planner and driver.

Prints a table in Markdown. docs/benchmarks.md has the model (bench/simulate.c) and its assumptions.
"""

import json
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
CUBED = ROOT / "build/release/cubed"
SIMULATE = ROOT / "build/release/bench/simulate"
MEANS = "uu=mean(u*u, axis=0); vv=mean(v*v, axis=0); uv=mean(u*v, axis=0)"
# What simulate is told: MB/s of each worker to and from the store, seconds of a call and of the
# first of a worker, and how many workers are there at once.
RATES = "75", "75", "0.05", "0.3", "1000"
TIMES = 50_000  # of 1.5 TB


def make_metadata(path, times, step):
    path.mkdir()
    array = {
        "zarr_format": 2,
        "shape": [times, 1, 987, 1920],
        "chunks": [step, 1, 987, 1920],
        "dtype": "<f8",
        "compressor": None,
        "fill_value": 0,
        "filters": None,
        "order": "C",
    }
    (path / ".zarray").write_text(json.dumps(array))


def simulate(workers, times, step):
    """Stages, tasks, seconds, and worker-seconds of the tasks without stragglers."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("u", "v"):
            make_metadata(pathlib.Path(folder, name), times, step)
        command = [CUBED, "eval", MEANS, "--in", "u=u", "--in", "v=v", "--out", "means"]
        command += ["--max-workers", str(workers), "--other-machines", "--allowed-mem", "2GB"]
        command += ["--work-dir", "work", "--save-plan", "plan"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        done = subprocess.run(
            [SIMULATE, "--plan", "plan", *RATES],
            cwd=folder,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    numbers = re.findall(r"([\d.]+) (?:stages|tasks|s|without)\b", done.stdout)
    return [float(x) for x in numbers]


def main():
    print("| workers | times in a chunk | TB | stages | tasks | s | of what all workers could do |")
    print("|---|---|---|---|---|---|---|")
    strong = [(workers, TIMES, step) for step in (10, 1) for workers in (100, 1000, 10_000)]
    weak = [(100, TIMES // 10, 1), (1000, TIMES, 1), (10_000, TIMES * 10, 1)]
    for workers, times, step in strong + weak:
        stages, tasks, seconds, least = simulate(workers, times, step)
        size = f"{2 * times * 987 * 1920 * 8 / 1e12:.2f}"
        part = f"{least / workers / seconds:.2f}"
        cells = f"{workers:,}", step, size, f"{stages:.0f}", f"{tasks:,.0f}", f"{seconds:.0f}", part
        print("|", " | ".join(str(cell) for cell in cells), "|")


if __name__ == "__main__":
    main()
