"""What a plan would take on a kind of machine, before anything runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Profile:
    """A kind of machine. The ones in :data:`PROFILES` are round assumptions, not measurements of
    yours: make your own with :func:`dataclasses.replace`."""

    #: Tasks at a time; None: the plan's workers.
    workers: int | None = None
    #: Seconds to start a task, and until the first byte of a chunk that is read or written.
    task_seconds: float = 0.0
    request_seconds: float = 0.0
    #: Bytes per second of one worker: decoded bytes read, written, and computed with.
    read_rate: float = math.inf
    write_rate: float = math.inf
    compute_rate: float = math.inf
    #: Bytes per second of all workers together.
    total_rate: float = math.inf
    #: US dollars: a chunk read, a chunk written, and 10^9 bytes of `allowed_mem` for a second.
    read_price: float = 0.0
    write_price: float = 0.0
    memory_price: float = 0.0


#: ``local-nvme``: a solid-state disk of 3 GB/s that all workers share.
#: ``local-disk``: a spinning disk, 8 ms for a seek and 150 MB/s.
#: ``s3-lambda``: functions at AWS over S3, 1000 at a time, which read 80 MB/s each, 30 ms after
#: they ask. Prices, to be checked against the present list: 0.40 and 5.00 US dollars for a million
#: reads and writes, and 0.0000166667 for a gigabyte in a second.
PROFILES = {
    "local-nvme": Profile(
        task_seconds=20e-6, request_seconds=50e-6, compute_rate=1e9, total_rate=3e9
    ),
    "local-disk": Profile(
        task_seconds=20e-6, request_seconds=8e-3, compute_rate=1e9, total_rate=150e6
    ),
    "s3-lambda": Profile(
        workers=1000,
        task_seconds=0.1,
        request_seconds=0.03,
        read_rate=80e6,
        write_rate=80e6,
        compute_rate=500e6,
        read_price=0.40e-6,
        write_price=5.00e-6,
        memory_price=16.6667e-6,
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


def estimate(plan: Any, profile: str | Profile = "local-nvme") -> Estimate:
    """What a plan would take; computes nothing.

    Every operation computes at the profile's one rate: sorts and products of matrices take longer.

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
            + moved / p.compute_rate
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
