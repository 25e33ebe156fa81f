"""What a plan would take on a kind of machine, before anything runs."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

#: Processor time of operations for each byte that a stage reads and writes, as multiples of a cheap
#: one's such as an addition, by the words of its name: by ``bench/rates.py``, but for those of
#: ``svd``, ``cholesky``, ``inv`` and ``solve``, which depend on the shape and are guesses.
COSTS = {
    "sin": 3, "cos": 3, "tan": 4, "sinh": 3, "cosh": 3, "tanh": 3, "asin": 3, "acos": 3, "atan": 3,
    "atan2": 4, "asinh": 4, "acosh": 4, "atanh": 4, "expm1": 3, "log1p": 3, "logaddexp": 4,
    "pow": 5, "random_normal": 5, "sort": 9, "argsort": 9, "quantile": 7, "searchsorted": 5,
    "fft": 7, "ifft": 7, "rfft": 7, "irfft": 7, "qr": 4, "svd": 100, "cholesky": 10, "inv": 20,
    "solve": 20,
}  # fmt: skip
#: The same for chunks that are decoded and encoded.
DECODE_COST, ENCODE_COST = 6, 35
#: And for a multiplication and an addition of a product of matrices.
PRODUCT_COST = 0.22


@dataclass(frozen=True)
class Profile:
    """A kind of machine. The ones in :data:`PROFILES` are round assumptions, not measurements of
    yours: make your own with :func:`dataclasses.replace`."""

    #: Tasks at a time; None: the plan's workers.
    workers: int | None = None
    #: Seconds to start a task, and until the first byte of a chunk that is read or written.
    task_seconds: float = 0.0
    request_seconds: float = 0.0
    #: Bytes per second of one worker: decoded bytes read and written.
    read_rate: float = math.inf
    write_rate: float = math.inf
    #: Bytes per second of one worker that it computes with by cheap operations; others take as many
    #: times as long as :data:`COSTS` says.
    compute_rate: float = math.inf
    #: Bytes per second of all workers together.
    total_rate: float = math.inf
    #: US dollars: a chunk read, a chunk written, and 10^9 bytes of `allowed_mem` for a second.
    read_price: float = 0.0
    write_price: float = 0.0
    memory_price: float = 0.0


#: ``local-memory``: files in the system's page cache, or results in memory.
#: ``local-nvme``: a solid-state disk of 3 GB/s that all workers share.
#: ``local-disk``: a spinning disk, 8 ms for a seek and 150 MB/s.
#: ``hpc-lustre``: a node of 64 cores at a parallel file system: 1 ms until it answers, and 5 GB/s,
#: which other jobs may halve or worse.
#: ``s3-lambda``: functions at AWS over S3, 1000 at a time (the default quota), which read
#: 80 MB/s each, 30 ms after they ask. Prices of us-east-1, to be checked against the present lists
#: (https://aws.amazon.com/s3/pricing, https://aws.amazon.com/lambda/pricing): 0.40 and 5.00 US
#: dollars for a million reads and writes, and 0.0000166667 for a gigabyte in a second.
#: ``gcs-functions``: the same at Google Cloud (https://cloud.google.com/storage/pricing,
#: https://cloud.google.com/run/pricing): 0.40 and 5.00 dollars, 0.0000025 for a gigabyte and
#: 0.000024 for the processor that comes with 2 GB of them, in a second.
PROFILES = {
    "local-memory": Profile(task_seconds=20e-6, request_seconds=10e-6, compute_rate=10e9),
    "local-nvme": Profile(
        task_seconds=20e-6, request_seconds=50e-6, compute_rate=10e9, total_rate=3e9
    ),
    "local-disk": Profile(
        task_seconds=20e-6, request_seconds=8e-3, compute_rate=10e9, total_rate=150e6
    ),
    "hpc-lustre": Profile(
        workers=64,
        task_seconds=50e-6,
        request_seconds=1e-3,
        compute_rate=10e9,
        total_rate=5e9,
    ),
    "s3-lambda": Profile(
        workers=1000,
        task_seconds=0.1,
        request_seconds=0.03,
        read_rate=80e6,
        write_rate=80e6,
        compute_rate=5e9,
        read_price=0.40e-6,
        write_price=5.00e-6,
        memory_price=16.6667e-6,
    ),
    "gcs-functions": Profile(
        workers=1000,
        task_seconds=0.1,
        request_seconds=0.05,
        read_rate=80e6,
        write_rate=80e6,
        compute_rate=5e9,
        read_price=0.40e-6,
        write_price=5.00e-6,
        memory_price=14.5e-6,
    ),
}


@dataclass(frozen=True)
class Estimate:
    """What a plan would take."""

    #: Seconds from beginning to end, stage after stage: an upper side, as stages can overlap.
    seconds: float
    #: Seconds of all workers together.
    worker_seconds: float
    #: Chunks read and written: all of them, also those that a run keeps in memory.
    reads: int
    writes: int
    #: US dollars.
    cost: float
    workers: int


def touched_bytes(stage: dict[str, Any]) -> int:
    """What a stage reads and writes, the caller's memory included."""
    memory = sum(_nbytes(x) for x in stage["inputs"] if x["name"] == "memory")
    return stage["bytes_read"] + stage["bytes_written"] + memory


def _nbytes(x: dict[str, Any]) -> int:
    import numpy as np

    return math.prod(x["shape"]) * np.dtype(x["dtype"]).itemsize


def _is_encoded(x: dict[str, Any]) -> bool:
    return x["name"] not in ("memory", "result", "intermediate")


def _cost(stage: dict[str, Any]) -> float:
    """Processor time of a stage, in that of a byte by a cheap operation."""
    words = re.findall(r"\w+", stage["name"].partition(" -> ")[0])
    heavy = [COSTS[w] for w in words if w in COSTS]
    moved = stage["bytes_read"] + stage["bytes_written"]
    cost = touched_bytes(stage) * max(1.0, float(sum(heavy)))
    read = sum(_nbytes(x) for x in stage["inputs"]) or 1
    encoded = sum(_nbytes(x) for x in stage["inputs"] if _is_encoded(x))
    cost += DECODE_COST * stage["bytes_read"] * encoded / read
    cost += ENCODE_COST * sum(_nbytes(x) for x in stage["outputs"] if _is_encoded(x))
    if "matmul" in words and len(stage["inputs"]) and moved:
        sizes = [math.prod(x["shape"]) for x in (*stage["inputs"], *stage["outputs"])]
        # (m k) (k n) (m n) = (m k n)^2; a product of an array with itself has one input.
        sizes = [sizes[0], *sizes] if len(sizes) == 2 else sizes
        cost += PRODUCT_COST * math.sqrt(math.prod(map(float, sizes[:3])))
    return cost


def estimate(plan: Any, profile: str | Profile = "local-nvme") -> Estimate:
    """What a plan would take; computes nothing.

    Operations take processor time by their kind (:data:`COSTS`), chunks of stores by being decoded
    and encoded. Functions of your own count as cheap.

    Parameters
    ----------
    plan
        A :class:`cubed.Plan`.
    profile
        A name in :data:`PROFILES`, or a profile.

    Raises
    ------
    ValueError
        If there is no profile of that name.
    """
    if isinstance(profile, str):
        if profile not in PROFILES:
            names = ", ".join(PROFILES)
            raise ValueError(f"profile is {profile!r}, expected one of {names} or a Profile")
        profile = PROFILES[profile]
    p = profile
    workers = p.workers or plan.summary()["max_workers"]
    seconds = busy = 0.0
    reads = writes = 0
    for s in plan.stages:
        tasks, moved = s["num_tasks"], s["bytes_read"] + s["bytes_written"]
        work = (
            tasks * p.task_seconds
            + (s["chunks_read"] + s["chunks_written"]) * p.request_seconds
            + s["bytes_read"] / p.read_rate
            + s["bytes_written"] / p.write_rate
            + _cost(s) / p.compute_rate
        )
        # Tasks of a stage are alike: the last wave takes as long as a full one.
        waves = math.ceil(tasks / workers)
        seconds += max(waves * work / tasks, moved / p.total_rate) if tasks else 0.0
        busy += work
        reads += s["chunks_read"]
        writes += s["chunks_written"]
    gigabytes = plan.allowed_mem / 1e9
    cost = reads * p.read_price + writes * p.write_price + busy * gigabytes * p.memory_price
    return Estimate(seconds, busy, reads, writes, cost, workers)
