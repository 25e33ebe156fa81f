"""Runs child processes in interleaved rounds, and computes ratios from their measurements.

Uses the standard library only, so that this process stays small: the peak memory that the system
reports for a child is at least the memory of the process that started the child.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field


class Failed(Exception):
    """A child failed, or its results differ."""


@dataclass
class Sample:
    seconds: float
    peak: int  # bytes, of the largest process
    figures: dict = field(default_factory=dict)


def run(command, own_time=False, timeout=3600) -> Sample:
    """Runs a child to its end. Its time is that of the whole process, or the "seconds" of the JSON
    that it prints."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        start = time.perf_counter()
        child = subprocess.Popen([str(c) for c in command], stdout=out, stderr=err)
        alarm = threading.Timer(timeout, child.kill)
        alarm.start()
        # wait4 tells this child's memory; getrusage would tell the most of all so far.
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        alarm.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        said, errors = out.read(), err.read().strip()
    if seconds > timeout:
        raise Failed("out of time")
    if child.returncode:
        raise Failed(
            " ".join(errors.splitlines()[-2:]) if errors else f"exit status {child.returncode}"
        )
    figures = json.loads(said) if said.startswith("{") else {}
    return Sample(figures["seconds"] if own_time else seconds, usage.ru_maxrss * 1024, figures)


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def bring(path):
    """Reads a file, or all below a directory, into the page cache."""
    buffer = bytearray(1 << 20)
    for file in path.rglob("*") if path.is_dir() else [path]:
        if file.is_file():
            with file.open("rb", buffering=0) as f:
                while f.readinto(buffer):
                    pass


@dataclass
class Contender:
    name: str
    command: list
    reads: pathlib.Path | None = None  # brought into the page cache before each run
    output: pathlib.Path | None = None  # removed before each run, compared after the first
    own_time: bool = False
    allowance: int | None = None  # bytes of its largest process; None: the tool has no bound
    clean: pathlib.Path | None = None  # a directory to be emptied before each run


@dataclass
class Result:
    samples: list[Sample]
    failure: str = ""

    def seconds(self):
        return sum(s.seconds for s in self.samples)

    def median(self):
        return statistics.median(s.seconds for s in self.samples)

    def peak(self):
        return max(s.peak for s in self.samples)


def interleave(contenders, rounds, patience, compare, say) -> dict[str, Result]:
    """Rounds of all contenders in turn. `compare(contender)` raises Failed where results differ. A
    contender that fails, or that has run for `patience` seconds, takes part no more."""
    results = {c.name: Result([]) for c in contenders}
    for number in range(rounds):
        for c in contenders:
            result = results[c.name]
            if result.failure or result.seconds() > patience:
                continue
            if c.output:
                remove(c.output)
            if c.clean:
                remove(c.clean)
                c.clean.mkdir(parents=True)
            os.sync()  # what others left to write is not this one's to wait for
            if c.reads:
                bring(c.reads)
            try:
                sample = run(c.command, c.own_time)
                if number == 0 and c.output:
                    compare(c)
                result.samples.append(sample)
                say(f"  round {number + 1}: {c.name}: {sample.seconds:.3f} s")
            except Failed as e:
                result.failure = str(e)
                say(f"  round {number + 1}: {c.name}: FAILED: {e}")
            if c.output:
                remove(c.output)
            if c.clean:
                remove(c.clean)
    return results


def spread(values):
    """(median, least, most)"""
    return statistics.median(values), min(values), max(values)


def ratios(numerator, denominator):
    """Ratios of times within rounds."""
    pairs = zip(numerator.samples, denominator.samples, strict=False)
    return spread([a.seconds / b.seconds for a, b in pairs])


def peaks(numerator, denominator):
    """Ratios of peak memory within rounds."""
    pairs = zip(numerator.samples, denominator.samples, strict=False)
    return spread([a.peak / b.peak for a, b in pairs])


def markdown(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)
