"""Estimates the time and cost of a plan on a kind of machine, before it runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from cubed.base._words import counted, duration

#: Memory throughput in bytes per second of the worker for which the engine estimates processor time
#: (``CUBED_ASSUMED_COMPUTE``).
REFERENCE_RATE = 1e10


@dataclass(frozen=True)
class Profile:
    """A kind of machine. The profiles in :data:`PROFILES` contain rounded assumptions, not
    measurements of your machine. Make other profiles with :func:`dataclasses.replace`.
    """

    #: Concurrent tasks; None: the plan's workers.
    workers: int | None = None
    #: Seconds to start a task, and until the first byte of a chunk that is read or written.
    task_seconds: float = 0.0
    request_seconds: float = 0.0
    #: Bytes per second of one worker: decoded bytes read and written.
    read_rate: float = math.inf
    write_rate: float = math.inf
    #: Memory throughput of one worker in bytes per second. Its ratio to :data:`REFERENCE_RATE` is
    #: the speed of its processor relative to the engine's estimates.
    compute_rate: float = math.inf
    #: Bytes per second of all workers together.
    total_rate: float = math.inf
    #: US dollars: per chunk read, per chunk written, and per 10^9 bytes of `allowed_mem` and
    #: second.
    read_price: float = 0.0
    write_price: float = 0.0
    memory_price: float = 0.0


#: Cloud functions that use the object store of the same cloud.
_FUNCTIONS = Profile(
    workers=1000,
    task_seconds=0.1,
    request_seconds=0.03,
    read_rate=80e6,
    write_rate=80e6,
    compute_rate=5e9,
    read_price=0.40e-6,
    write_price=5.00e-6,
    memory_price=16.6667e-6,
)

#: ``local-memory``: files in the system's page cache, or results in memory.
#: ``local-nvme``: a solid-state disk of 3 GB/s that all workers share.
#: ``local-disk``: a spinning disk, 8 ms for a seek and 150 MB/s.
#: ``hpc-lustre``: a node of 64 cores with a parallel file system: 1 ms latency and 5 GB/s, which
#: other jobs may halve or reduce further.
#: ``s3-lambda``: AWS Lambda functions over S3, 1000 at a time (the default quota), which read 80
#: MB/s each after a latency of 30 ms. Prices of us-east-1, to be checked against the current lists
#: (https://aws.amazon.com/s3/pricing, https://aws.amazon.com/lambda/pricing): 0.40 and 5.00 US
#: dollars per million reads and writes, and 0.0000166667 per gigabyte and second.
#: ``gcs-functions``: the same at Google Cloud (https://cloud.google.com/storage/pricing,
#: https://cloud.google.com/run/pricing): 0.40 and 5.00 dollars, and per second 0.0000025 for a
#: gigabyte and 0.000024 for the processor that comes with 2 GB.
PROFILES = {
    "local-memory": Profile(task_seconds=20e-6, request_seconds=10e-6, compute_rate=10e9),
    "local-nvme": Profile(
        task_seconds=20e-6, request_seconds=50e-6, compute_rate=10e9, total_rate=3e9
    ),
    "local-disk": Profile(
        task_seconds=20e-6, request_seconds=8e-3, compute_rate=10e9, total_rate=150e6
    ),
    "hpc-lustre": Profile(
        workers=64, task_seconds=50e-6, request_seconds=1e-3, compute_rate=10e9, total_rate=5e9
    ),
    "s3-lambda": _FUNCTIONS,
    "gcs-functions": replace(_FUNCTIONS, request_seconds=0.05, memory_price=14.5e-6),
}


@dataclass(frozen=True)
class Estimate:
    """The estimated time and cost of a plan."""

    #: Seconds of the plan if its stages run one after another. This is an upper bound, because
    #: stages can overlap.
    seconds: float
    #: Seconds of all workers together.
    worker_seconds: float
    #: Chunks read and written. Repeated reads count unless workers share memory that can hold
    #: everything that a stage reads.
    reads: int
    writes: int
    #: US dollars.
    cost: float
    workers: int
    #: Seconds of all workers together times `allowed_mem` in 10^9 bytes: the unit by which cloud
    #: function services charge.
    gb_seconds: float
    #: Requests to object stores, for which the plan has the URLs: the maximum number of each kind
    #: (copies count as PUTs), as :meth:`cubed.Plan.traffic` returns them.
    gets: int
    heads: int
    puts: int
    lists: int
    #: Highest number of GETs and of PUTs per second to one prefix, with the plan's workers, and the
    #: seconds that limits of the service add to the run.
    get_rate: float
    put_rate: float
    limit_seconds: float

    def __str__(self) -> str:
        """``"about 12 s on 8 workers (80 s of all workers together, 160 GB s), 400 reads and 30
        writes of chunks, 0.02 US dollars"``, and the requests to object stores.
        """
        text = (
            f"about {duration(self.seconds)} on {counted(self.workers, 'worker')}"
            f" ({duration(self.worker_seconds)} of all workers together,"
            f" {self.gb_seconds:.3g} GB s),"
            f" {counted(self.reads, 'read')} and {counted(self.writes, 'write')} of chunks,"
            f" {self.cost:.2g} US dollars"
        )
        if self.gets or self.puts:
            text += (
                f"; at most {self.gets} GETs, {self.heads} HEADs, {self.puts} PUTs and"
                f" {self.lists} LISTs, to one prefix {math.ceil(self.get_rate)} GETs and"
                f" {math.ceil(self.put_rate)} PUTs per second"
            )
        return text


def _read_once(stage: dict[str, Any], spare: float) -> dict[str, Any]:
    """Returns the stage without repeated reads, if `spare` bytes are enough to cache its chunks."""
    size = sum(x["nbytes"] for x in stage["inputs"] if x["name"] != "memory")
    if not stage["bytes_read"] > size <= spare:
        return stage
    once = size / stage["bytes_read"]
    chunks = math.ceil(stage["chunks_read"] * once)
    seconds = stage["read_seconds"] * once
    return {
        **stage, "bytes_read": size, "chunks_read": chunks, "read_seconds": seconds
    }  # fmt: skip


def _busy(stage: dict[str, Any]) -> float:
    """Returns the processor time of a stage by the engine's estimates."""
    return float(sum(stage[f"{what}_seconds"] for what in ("read", "compute", "write")))


def estimate(plan: Any, profile: str | Profile = "local-nvme") -> Estimate:
    """Estimates the time and cost of a plan; computes nothing.

    Processor time depends on the kind of each operation, and on decoding and encoding chunks, as
    the engine estimates (``seconds`` and others of ``plan.stages``). User-defined functions count
    as one pass by NumPy.

    Parameters
    ----------
    plan : Plan
        A :class:`cubed.Plan`.
    profile : str or Profile, default "local-nvme"
        A name in :data:`PROFILES`, or a profile.

    Returns
    -------
    Estimate
        Seconds by purpose, and the profile.

    Raises
    ------
    ValueError
        If there is no profile of that name.

    Examples
    --------
    >>> import cubed
    >>> from cubed.diagnostics.estimate import estimate
    >>> plan = cubed.random.random((1000, 1000), chunks=500).sum().plan()
    >>> estimate(plan).seconds > 0
    True
    """
    if isinstance(profile, str):
        if profile not in PROFILES:
            names = ", ".join(PROFILES)
            raise ValueError(f"profile is {profile!r}, expected one of {names} or a Profile")
        profile = PROFILES[profile]
    p = profile
    workers = p.workers or plan.summary()["max_workers"]
    # Memory that the machine's workers share to cache decoded chunks.
    spare = 0 if p.workers else workers * (plan.allowed_mem - plan.max_projected_mem)
    seconds = busy = 0.0
    reads = writes = 0
    for s in (_read_once(s, spare) for s in plan.stages):
        tasks, moved = s["num_tasks"], s["bytes_read"] + s["bytes_written"]
        work = (
            tasks * p.task_seconds
            + (s["chunks_read"] + s["chunks_written"]) * p.request_seconds
            + s["bytes_read"] / p.read_rate
            + s["bytes_written"] / p.write_rate
            + _busy(s) * REFERENCE_RATE / p.compute_rate
        )
        # Tasks of a stage take equally long, so the last wave of tasks takes as long as a full
        # wave.
        waves = math.ceil(tasks / workers)
        seconds += max(waves * work / tasks, moved / p.total_rate) if tasks else 0.0
        busy += work
        reads += s["chunks_read"]
        writes += s["chunks_written"]
    gb_seconds = busy * plan.allowed_mem / 1e9
    cost = reads * p.read_price + writes * p.write_price + gb_seconds * p.memory_price
    traffic = plan.traffic()
    return Estimate(
        seconds,
        busy,
        reads,
        writes,
        cost,
        workers,
        gb_seconds,
        gets=sum(t["gets"] for t in traffic),
        heads=sum(t["heads"] for t in traffic),
        puts=sum(t["puts"] + t["copies"] for t in traffic),
        lists=sum(t["lists"] for t in traffic),
        get_rate=max((t["get_rate"] for t in traffic), default=0.0),
        put_rate=max((t["put_rate"] for t in traffic), default=0.0),
        limit_seconds=sum(t["limit_seconds"] for t in traffic),
    )
