"""Measures the time to read arrays from stores with the latency of a network, and from NetCDF.

    build/venv/bin/python bench/stores.py            2 GB in chunks of 8 MB, and a file of 4 GB
    build/venv/bin/python bench/stores.py --small    takes some seconds, for a shared machine

Stores: a server on this machine waits 30 ms before it sends the first byte of each reply. The same
bytes are read by obstore without decoding, by zarr-python over obstore, and by TensorStore, each
with the same number of requests in flight. The command computes a sum and quadratic means of them.
NetCDF: the mean over time of a deflated file, by the command, by CDO if it is installed, and by
Xarray over Dask. Each program runs in a separate process, and rounds of the programs alternate.
Times are medians, and the memory is the largest peak.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
LATENCY, AT_ONCE = 0.03, 64
LITTLE = [{"name": "bytes", "configuration": {"endian": "little"}}]
MEANS = "uu=mean(u*u, axis=0); vv=mean(v*v, axis=0); uv=mean(u*v, axis=0)"

READERS = {
    "obstore": """
import asyncio, json, os
meta = json.loads(bytes(obstore.get(store, "u/zarr.json").bytes()))
n = meta["shape"][0] // meta["chunk_grid"]["configuration"]["chunk_shape"][0]
async def one(key, free):
    async with free:
        return len((await (await obstore.get_async(store, key)).bytes_async()))
async def every():
    free = asyncio.Semaphore(AT_ONCE)
    return sum(await asyncio.gather(*(one(f"{a}/c/{i}/0", free) for a in "uv" for i in range(n))))
print(asyncio.run(every()), flush=True)
os._exit(0)  # its threads may abort the process when the interpreter ends
""",
    "zarr-python + obstore": """
import zarr
zarr.config.set({"async.concurrency": AT_ONCE})
group = zarr.open_group(zarr.storage.ObjectStore(store, read_only=True), mode="r")
step = 8 * group["u"].chunks[0]
for i in range(0, group["u"].shape[0], step):
    for a in "uv":
        group[a][i : i + step]
""",
    "TensorStore": """
import tensorstore as ts
base = url.rstrip("/")
context = ts.Context({"http_request_concurrency": {"limit": AT_ONCE}})
for a in "uv":
    spec = {"driver": "zarr3", "kvstore": {"driver": "http", "base_url": f"{base}/{a}/"}}
    x = ts.open(spec, context=context).result()
    step = 8 * x.chunk_layout.read_chunk.shape[0]
    for i in range(0, x.shape[0], step):
        x[i : min(i + step, x.shape[0])].read().result()
""",
}


class Handler(BaseHTTPRequestHandler):
    """Objects of a directory, each reply after a while."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    folder = Path()

    def log_message(self, *_):
        pass

    def reply(self, body):
        path = self.folder / self.path.lstrip("/").partition("?")[0]
        time.sleep(LATENCY)
        if not path.is_file():
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        size = path.stat().st_size
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        first, last = 0, size - 1
        if asked and asked[1]:
            first, last = int(asked[1]), min(last, int(asked[2] or last))
        elif asked:
            first = max(0, size - int(asked[2]))
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(last - first + 1))
        self.send_header("ETag", f'"{size}"')
        self.send_header("Last-Modified", self.date_time_string(1_700_000_000))
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.end_headers()
        if body:
            self.wfile.flush()
            with path.open("rb") as f:
                left = last - first + 1
                while left > 0:
                    sent = os.sendfile(self.connection.fileno(), f.fileno(), last + 1 - left, left)
                    left -= sent

    def do_GET(self):
        self.reply(True)

    def do_HEAD(self):
        self.reply(False)


def serve(folder, port):
    class Bound(Handler):
        pass

    Bound.folder = folder
    ThreadingHTTPServer.request_queue_size = 256
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bound)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # clients that have what they want
    port.send(server.server_port)
    server.serve_forever()


@contextlib.contextmanager
def served(folder):
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=serve, args=(folder, there), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{here.recv()}"
    finally:
        process.terminate()
        process.join()


# A small process starts the program: what its parent holds counts as a program's own.
LAUNCH = """
import resource, subprocess, sys, time
begin = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = time.perf_counter() - begin
print(code, used, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


def timed(command):
    """Seconds and peak memory in bytes of a program; None where it fails."""
    done = subprocess.run([sys.executable, "-c", LAUNCH, *command], capture_output=True, text=True)
    code, seconds, peak = done.stdout.split()
    if int(code) == 0:
        return float(seconds), int(peak)
    print(f"{command[0]} ended with {code}: {done.stderr[-500:]}", file=sys.stderr)
    return None


def compare(title, size, contenders, rounds):
    """Runs all in turns, and prints a line for each."""
    results = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, command in contenders.items():
            got = timed(command)
            if got is not None:
                results[name].append(got)
    print(f"\n{title} ({size / 1e6:.0f} MB)")
    print(f"{'':28} {'s':>7} {'MB/s':>7} {'peak MB':>8}")
    lines = {}
    for name, runs in results.items():
        if not runs:
            print(f"{name:28} failed")
            continue
        seconds = statistics.median(r[0] for r in runs)
        peak = max(r[1] for r in runs)
        print(f"{name:28} {seconds:7.2f} {size / seconds / 1e6:7.0f} {peak / 1e6:8.0f}")
        lines[name] = {"seconds": seconds, "peak": peak}
    return lines


def make_zarr(path, nbytes, chunk):
    """Two arrays of half of the bytes each, in chunks that are stored as they are."""
    width = 1000
    rows = chunk // (4 * width)
    n = max(1, nbytes // 2 // (rows * width * 4)) * rows
    for name in "uv":
        (path / name / "c").mkdir(parents=True)
        meta = {
            "zarr_format": 3, "node_type": "array", "shape": [n, width], "data_type": "float32",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [rows, width]}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "codecs": LITTLE, "fill_value": 0, "attributes": {},
        }  # fmt: skip
        (path / name / "zarr.json").write_text(json.dumps(meta))
        rng = np.random.default_rng(ord(name))
        for i in range(n // rows):
            (path / name / "c" / str(i)).mkdir()
            block = rng.random((rows, width), dtype=np.float32)
            (path / name / "c" / str(i) / "0").write_bytes(block.tobytes())
    group = {"zarr_format": 3, "node_type": "group", "attributes": {}}
    (path / "zarr.json").write_text(json.dumps(group))
    return 2 * n * width * 4


def reading(folder, cubed, nbytes, chunk, rounds):
    size = make_zarr(folder / "a.zarr", nbytes, chunk)
    with served(folder / "a.zarr") as url:
        begin = (
            "import obstore\n"
            f"AT_ONCE, url = {AT_ONCE}, {url!r}\n"
            "store = obstore.store.HTTPStore.from_url(url, client_options={'allow_http': True})\n"
        )
        limits = ["--allowed-mem", "1GB", "--progress", "none"]
        arrays = [w for a in "uv" for w in ("--in", f"{a}={url}/{a}")]
        contenders = {
            "cubed, sums": [cubed, "eval", "p=sum(u); q=sum(v)", *arrays, *limits],
            "cubed, quadratic means": [
                cubed, "eval", MEANS, *arrays, *limits, "--out", str(folder / "m.zarr"),
                "--overwrite",
            ],
        }  # fmt: skip
        for name, text in READERS.items():
            contenders[name] = [sys.executable, "-c", begin + text]
        title = f"Reading, {LATENCY * 1e3:.0f} ms to each first byte"
        return compare(title, size, contenders, rounds)


def netcdf(folder, cubed, nbytes, rounds):
    import netCDF4

    path, days = folder / "t.nc", 24
    shape = (max(1, nbytes // (4 * days * 360 * 720)) * days, 360, 720)
    rng = np.random.default_rng(1)
    pattern = rng.normal(280, 10, shape[1:]).astype("f4")
    with netCDF4.Dataset(path, "w") as d:
        for name, n in zip(("time", "lat", "lon"), (None, *shape[1:]), strict=True):
            d.createDimension(name, n)
        time_ = d.createVariable("time", "f8", ("time",))
        time_.units = "hours since 2000-01-01"
        v = d.createVariable(
            "t", "f4", ("time", "lat", "lon"), zlib=True, complevel=1, chunksizes=(days, 90, 180)
        )
        for i in range(0, shape[0], days):
            part = pattern + rng.integers(-40, 40, (days, *shape[1:])) / 16
            v[i : i + days] = part.astype("f4")
            time_[i : i + days] = np.arange(i, i + days)
    out = str(folder / "mean.nc")
    dask = (
        "import xarray as xr\n"
        f"d = xr.open_dataset({str(path)!r}, chunks={{'time': {days}, 'lat': 90, 'lon': 180}})\n"
        f"d.t.mean('time').to_netcdf({str(folder / 'dask.nc')!r})\n"
    )
    contenders = {
        "cubed": [cubed, "eval", 't=mean(t, dim="time")', str(path), "--out", out, "--overwrite"],
        "Xarray + Dask": [sys.executable, "-c", dask],
    }
    if shutil.which("cdo"):
        contenders["CDO"] = ["cdo", "-O", "-s", "timmean", str(path), str(folder / "cdo.nc")]
    else:
        print("CDO is not installed: tools/setup --bench")
    size = int(np.prod(shape)) * 4
    title = f"NetCDF, deflated to {path.stat().st_size / 1e6:.0f} MB"
    return compare(title, size, contenders, rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--small", action="store_true", help="some seconds")
    parser.add_argument("--json", metavar="FILE", help="the figures, too")
    parser.add_argument("--cubed", default=str(ROOT / "build/release/cubed"))
    a = parser.parse_args()
    rounds = 2 if a.small else 5
    with tempfile.TemporaryDirectory(prefix="cubed-bench-") as place:
        folder = Path(place)
        (folder / "a.zarr").mkdir()
        nbytes, chunk = (128 << 20, 1 << 20) if a.small else (2 << 30, 8_000_000)
        figures = {"reading": reading(folder, a.cubed, nbytes, chunk, rounds)}
        figures["netcdf"] = netcdf(folder, a.cubed, 128 << 20 if a.small else 4 << 30, rounds)
    if a.json:
        Path(a.json).write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
