#!/usr/bin/env python3
"""Bytes and requests of the plans of the benchmarks, compared with the minimum of any plan.

    build/venv/bin/python bench/cost.py [--size N] [--executor NAME]

The arrays have metadata only, on the S3 server of the tests, so the plans have full size. Nothing
is computed. The minimum ("the least") has a closed form:

- Each byte of an input is read once, and each byte of a result is written once. A copy that does
  not fit in memory also writes and reads an intermediate once. Anomalies read the input twice.
- Each chunk of an input is one GET, and each chunk of a result is one PUT. The pieces of
  intermediates are not compared.
- Each array takes at most METADATA other requests: to open it, or to claim and commit it.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
from dataclasses import dataclass

import rows
from harness import markdown

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/python"))
METADATA = 16
BLOSC = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}
ZSTD = {"id": "zstd", "level": 1}
# rows.ANOMALIES, with the same chunks as the input
RESHAPED = "_y = reshape(x, (-1, 12, 721, 1440)); _y - mean(_y, axis=0, keepdims=True)"
TIMES = {"winds": 50, "big": 50_000, "series": 960}


@dataclass
class Array:
    """An array without chunks on the server."""

    name: str
    shape: tuple[int, ...]
    step: int
    dtype: str
    codec: dict | None = None

    def metadata(self):
        chunks = (min(self.step, self.shape[0]), *self.shape[1:])
        kind = {"dtype": self.dtype, "compressor": self.codec, "filters": None, "order": "C"}
        return {"zarr_format": 2, "shape": self.shape, "chunks": chunks, "fill_value": 0, **kind}

    def nbytes(self):
        return math.prod(self.shape) * int(self.dtype[-1])

    def chunks(self):
        return math.ceil(self.shape[0] / self.step)


@dataclass
class Work:
    """A run of the command, and its least."""

    row: str
    args: list
    allowed_mem: int
    inputs: list[Array]
    written: int  # bytes of results
    chunks: int  # of results
    results: int = 1  # arrays of results
    reads: int = 1  # how often an input that does not fit in memory must be read
    copies: int = 0  # how often it must be stored in between

    def least(self):
        nbytes = sum(a.nbytes() for a in self.inputs)
        metadata = METADATA * (len(self.inputs) + self.results)
        requests = self.reads * sum(a.chunks() for a in self.inputs) + self.chunks + metadata
        moved = (self.reads + 2 * self.copies) * nbytes + self.written
        return {"bytes": moved, "requests": None if self.copies else requests}


def works(size):
    """The works of rows a, c and e, and variants with compressed chunks. `size` as in run.py."""
    steps = {k: max(20, round(n * size / 10) * 10) for k, n in TIMES.items()}
    for name, codec in (("none", None), ("blosc-lz4", BLOSC)):
        for kind in ("winds", "big"):
            times = steps[kind]
            shape = (times, 1, 987, 1920)
            arrays = [Array(f"{kind}-{name}/{n}", shape, 10, "<f8", codec) for n in "uv"]
            args = ["eval", rows.MEANS, "--codecs", rows.RAW]
            means = 3 * arrays[0].nbytes() // times
            yield Work(f"a {kind} {name}", args, rows.WINDS_MEM, arrays, means, 3, results=3)
    times = steps["series"] // 120 * 120 or 120
    for name, codec in (("none", None), ("blosc-lz4", BLOSC), ("zstd", ZSTD)):
        x = Array(f"series-{name}/x", (times, 721, 1440), 12, "<f4", codec)
        one = x.nbytes() // times
        # Memory of two workers; the series is twice as large as it at size 1.
        large = x.nbytes() > rows.SERIES_MEM
        series = {
            "timmean": ("mean(x, axis=0)", one, 1, {}),
            "climatology": (rows.ANOMALIES, x.nbytes(), times, {"reads": 2}),
            "reshaped climatology": (RESHAPED, x.nbytes(), x.chunks(), {"reads": 2}),
            "chain": ("sqrt((x-280)**2 + x**2)", x.nbytes(), x.chunks(), {}),
            "median": ("median(x, axis=0)", one, 1, {"copies": int(large)}),
        }
        for work, (expression, written, chunks, more) in series.items():
            args = ["eval", expression, "--codecs", rows.RAW]
            yield Work(f"c {work} {name}", args, rows.SERIES_MEM, [x], written, chunks, **more)
        padded = times * 750 * 1440 * 4  # chunks of 30 latitudes are stored whole
        args = ["rechunk", "--chunks", "-1,30,30", "--format", 3, "--codecs", rows.RAW]
        copies = int(x.nbytes() > 2 * rows.RECHUNK_MEM)
        yield Work(f"e {name}", args, rows.RECHUNK_MEM, [x], padded, 25 * 48, copies=copies)


def put_metadata(server, arrays):
    from s3_server import Object, crc32c

    for a in arrays:
        data = json.dumps(a.metadata()).encode()
        server.objects[f"{a.name}/.zarray"] = Object(data, {}, crc32c(data))


def traffic(work, server, cubed, executor):
    """The traffic of a plan with two workers."""
    places = [f"{server.url}/{a.name}" for a in work.inputs]
    if work.args[0] == "eval":
        names = [a.name.rpartition("/")[2] for a in work.inputs]
        found = [x for n, p in zip(names, places, strict=True) for x in ("--in", f"{n}={p}")]
        args = [*work.args, *found, "--out", f"{server.url}/out"]
    else:
        args = [work.args[0], *places, f"{server.url}/out", *work.args[1:]]
    limits = ["--allowed-mem", work.allowed_mem, "--max-workers", 2, "--executor", executor]
    rest = ["--work-dir", f"{server.url}/work", "--progress", "none", "--plan", "--json"]
    command = [str(x) for x in (cubed, *args, *limits, *rest)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | server.variables
    )
    if done.returncode:
        raise RuntimeError(f"{work.row}: {done.stderr.strip()}")
    (found,) = json.loads(done.stdout)["traffic"]
    requests = sum(found[k] for k in ("gets", "heads", "puts", "lists", "copies"))
    moved = found["bytes_read"] + found["bytes_written"]
    return {"bytes": moved, "requests": requests - found["saved"]}


def compare(size, executor="threads", cubed=ROOT / "build/release/cubed"):
    """Yields each work with its traffic and the ratios to the least."""
    from s3_server import Server

    with Server(page=1000) as server:
        for work in works(size):
            put_metadata(server, work.inputs)
            found, least = traffic(work, server, cubed, executor), work.least()
            yield work, found, {k: found[k] / n for k, n in least.items() if n}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=float, default=1)
    parser.add_argument("--executor", default="threads")
    options = parser.parse_args()
    table = []
    for work, found, ratios in compare(options.size, options.executor):
        shown = [f"{ratios[k]:.2f}" if k in ratios else "" for k in ("bytes", "requests")]
        cells = [f"{found['bytes'] / 1e9:.2f}", shown[0], str(found["requests"]), shown[1]]
        table.append([work.row, *cells])
    ratio = "of the least"
    print(markdown(["row", "GB", ratio, "requests", ratio], table))


if __name__ == "__main__":
    main()
