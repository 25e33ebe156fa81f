#!/usr/bin/env python3
"""Benchmarks: compares this engine with the limits of the machine and with other tools, on the same
work in interleaved rounds. Prints tables of ratios, because absolute times depend on the machine.

Other tools get virtual environments in build/bench, with the versions of bench/requirements-*.txt.
If the machine lacks a tool (CDO, an index from which packages are installed), the script prints
this and omits the comparison.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import rows
from harness import Failed, markdown

ROOT = pathlib.Path(__file__).resolve().parents[1]
BENCH = ROOT / "bench"
SERIES_BYTES = 4e9  # of the float32 series at size 1
SMALL = 0.05


def say(text):
    print(text, file=sys.stderr, flush=True)


class Environments:
    """The Python of each virtual environment, made when it is asked for."""

    def __init__(self, directory):
        self.directory = directory
        self.missing = {}

    def python(self, name):
        """None where it cannot be made."""
        requirements = BENCH / f"requirements-{name}.txt"
        venv = self.directory / f"venv-{name}"
        python, made = venv / "bin/python", venv / "requirements.txt"
        if name in self.missing:
            return None
        if made.exists() and made.read_text() == requirements.read_text():
            return python
        say(f"making {venv.relative_to(ROOT)}")
        shutil.rmtree(venv, ignore_errors=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        for command in ([sys.executable, "-m", "venv", venv], [*pip, "-r", requirements]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                lines = (done.stderr or done.stdout).strip().splitlines()
                self.missing[name] = lines[-1] if lines else "it cannot be made"
                return None
        shutil.copy(requirements, made)
        return python

    def package(self, name="package"):
        """The Python of an environment that has this project's own package, too, as the tree is
        now."""
        python = self.python(name)
        if not python:
            return None
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        own = ["--no-build-isolation", "--no-deps", "--force-reinstall"]
        build = f"-Cbuild-dir={self.directory / 'package'}"
        done = subprocess.run(
            [*pip, *own, build, ROOT], capture_output=True, text=True, check=False
        )
        if done.returncode:
            self.missing[name] = done.stderr.strip().splitlines()[-1]
            return None
        return python


def available_memory():
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 4e9


def fitting_size(directory):
    """The largest size up to 1 with room for the series twice and two results: on disk, and in
    memory, because the page cache must hold what is measured."""
    room = min(0.8 * shutil.disk_usage(directory).free, 0.9 * available_memory())
    return max(0.02, min(1.0, round(room / (4.5 * SERIES_BYTES), 2)))


def arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument(
        "--only", default="a,b,c,d,e,f,g,j", help="rows, such as a,e; not h, i by default"
    )
    p.add_argument(
        "--size",
        help="1: 1.5 GB of winds, 4 GB of a series; small: minutes (default: up to 1, what fits)",
    )
    p.add_argument("--rounds", type=int, help="default: 5, small: 3")
    p.add_argument(
        "--patience", type=float, help="seconds for all rounds of one run; default: 90, small: 10"
    )
    p.add_argument("--workers", type=int, default=os.cpu_count())
    p.add_argument("--dir", type=pathlib.Path, default=ROOT / "build/bench", help="for data")
    p.add_argument("--json", type=pathlib.Path, help="write all figures there")
    p.add_argument(
        "--record",
        action="store_true",
        help="write the figures of the page to docs/benchmarks.json",
    )
    return p.parse_args()


def revision():
    command = ["git", "-C", ROOT, "rev-parse", "--short=7", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def record(figures):
    """Replaces the figures of these rows in the data of the page of benchmarks."""
    path = ROOT / "docs/benchmarks.json"
    data = json.loads(path.read_text())
    # bench/small.py measures tiny calls with more digits.
    runs = [f for f in figures if f.get("seconds") and f["row"] != "f tiny"]
    runs = [f for f in runs if f["row"].split()[0] in data["measured"]]
    for row in {f["row"].split()[0] for f in runs}:
        data["measured"][row] = {"date": time.strftime("%Y-%m-%d"), "revision": revision()}
        data["figures"] = [f for f in data["figures"] if f["row"].split()[0] != row]
    for f in runs:
        allowed = {"allowed": round(f["allowed"] / 1e6)} if f["allowed"] else {}
        seconds = round(statistics.median(f["seconds"]), 3)
        own = {"row": f["row"], "run": f["run"], "seconds": seconds, "peak": round(f["peak"] / 1e6)}
        data["figures"].append({**own, **allowed})
    data["figures"].sort(key=lambda f: f["row"].split()[0])
    lines = ",\n  ".join(json.dumps(f) for f in data.pop("figures"))
    head = json.dumps(data, indent=1).removesuffix("\n}")
    path.write_text(f'{head},\n "figures": [\n  {lines}\n ]\n}}\n')


def main():
    options = arguments()
    only = options.only.split(",")
    start = time.perf_counter()
    unknown = set(only) - set(rows.ROWS)
    if unknown:
        sys.exit(f"there is no row {', '.join(sorted(unknown))}; there are {', '.join(rows.ROWS)}")
    environments = Environments(ROOT / "build/bench")
    options.dir.mkdir(parents=True, exist_ok=True)
    data = options.dir / f"data-{os.getpid()}"
    small = options.size == "small"
    size = SMALL if small else float(options.size or fitting_size(options.dir))
    rounds = options.rounds or (3 if small else 5)
    patience = options.patience or (10 if small else 90)
    bench = rows.Bench(ROOT, data, size, rounds, patience, options.workers, environments, say)
    if not bench.main:
        sys.exit(f"no environment to make data in: {environments.missing['main']}")
    data.mkdir()
    try:
        for name in only:
            say(f"== {name}: {rows.ROWS[name].__doc__.splitlines()[0]}")
            try:
                rows.ROWS[name](bench)
            except Failed as e:
                bench.wrong = True
                bench.notes.append(f"{name}: FAILED: {e}")
    finally:
        shutil.rmtree(data, ignore_errors=True)
    print(f"size {size:g}, {options.workers} workers, {rounds} rounds\n")
    print(markdown(["row", "ratio", "median", "min..max", "target", ""], bench.ratios) + "\n")
    print(markdown(["row", "run", "median s", "peak MB", "allowed MB", ""], bench.runs))
    for note in bench.notes + [f"no {k}: {v}" for k, v in environments.missing.items()]:
        print(f"\n- {note}")
    if options.record:
        record(bench.figures)
        say("docs/benchmarks.json has new figures: see that its machine and system are these")
    if options.json:
        options.json.write_text(json.dumps(bench.figures, indent=1) + "\n")
    say(f"took {time.perf_counter() - start:.0f} s")
    sys.exit(1 if bench.wrong else 0)


if __name__ == "__main__":
    main()
