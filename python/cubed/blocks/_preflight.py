"""A check of an executor before a long run: :func:`cubed.check_executor`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cubed import _core
from cubed.array_api import zeros
from cubed.base._types import NDArray
from cubed.base._warnings import warn
from cubed.blocks._apply import map_blocks
from cubed.io._create import from_zarr
from cubed.planning._compute import compute
from cubed.planning._options import RunOptions
from cubed.runtime import _limit
from cubed.runtime.executors.base import Executor
from cubed.spec import Spec

#: Bytes of a worker's description, padded with zeros.
_BYTES = 4096
#: Maximum number of tasks, each of which describes its worker.
_MOST_TASKS = 16


class WorkerInfo(NamedTuple):
    """A worker that has run a task.

    Attributes
    ----------
    host : str
        Name of its machine or container.
    pid : int
        Its process ID.
    python, numpy : str
        Versions of Python and NumPy. The version of this package is always the driver's, because
        workers refuse another version.
    memory : int
        Memory of its machine in bytes, or the limit of its container or process if there is one.
    """

    host: str
    pid: int
    python: str
    numpy: str
    memory: int


def _describe(block: NDArray, stores: Sequence[str]) -> NDArray:
    """Opens the stores, and returns a description of this process as JSON."""
    for url in stores:
        from_zarr(url)
    process = _limit.worker_id or os.getpid()
    info = WorkerInfo(
        platform.node(), process, platform.python_version(), np.__version__, _core.machine_mem()
    )
    out = np.zeros(_BYTES, np.uint8)
    data = json.dumps(info).encode()
    out[: len(data)] = np.frombuffer(data, np.uint8)
    return out.reshape(block.shape)


def check_executor(
    spec: Spec | None = None, *, stores: Sequence[str] = (), timeout: float = 60.0, **options: Any
) -> list[WorkerInfo]:
    """Runs small tasks on an executor, to find errors before a long run.

    The tasks show that workers start, import this package in the driver's version, have access to
    the work directory, and have `allowed_mem`. There are no retries: the first error of a worker or
    of the engine is raised unchanged.

    Parameters
    ----------
    spec : Spec or None
        The spec of the run: its work directory, memory and executor.
    stores : sequence of str, default ()
        URLs of Zarr arrays that each worker opens, to check its credentials.
    timeout : float, default 60.0
        Maximum time in seconds until a worker starts, and for each task.
    **options : object
        As for :func:`cubed.compute`: `executor`, an object or a name, and its options.

    Returns
    -------
    list of WorkerInfo
        The workers that ran tasks, in the order of host and process; empty for ``"lambda"``, whose
        workers have no Python.

    Raises
    ------
    MemoryError
        If a worker has less memory than `allowed_mem`.
    TimeoutError
        If no worker starts in time.

    Warns
    -----
    RuntimeWarning
        If a worker has another minor version of Python, which may not load functions of this
        version.

    Examples
    --------
    >>> import cubed
    >>> len(cubed.check_executor(executor="single-threaded"))
    1
    """
    spec = spec or Spec()
    given = RunOptions.of(dict(options)).executor_for(spec)
    executor = given.with_options(_limits(given, timeout))
    shape = (min(executor.num_workers() or 1, _MOST_TASKS), _BYTES)
    x = zeros(shape, dtype=np.uint8, chunks=(1, _BYTES), spec=spec)
    if executor.name == "lambda":
        compute(x, executor=executor)
        return []
    described = map_blocks(_describe, x, dtype=np.uint8, stores=tuple(stores)).compute(
        executor=executor
    )
    found = sorted({WorkerInfo(*json.loads(row.tobytes().rstrip(b"\0"))) for row in described})
    _check(executor, spec, found)
    return found


def _limits(executor: Executor, timeout: float) -> dict[str, Any]:
    """Returns the options of a check. Only workers outside this process can end a task."""
    limits: dict[str, Any] = {"retries": 0}
    if not executor.capabilities["shares_memory"]:
        limits["task_timeout"] = timeout
    if executor.takes("start_timeout"):
        limits["start_timeout"] = timeout
    return limits


def _check(executor: Executor, spec: Spec, workers: Sequence[WorkerInfo]) -> None:
    minor = platform.python_version_tuple()[:2]
    for worker in workers:
        name = f"worker {worker.host}:{worker.pid} of {executor.name!r}"
        if worker.memory < spec.allowed_mem:
            raise MemoryError(
                f"{name} has {worker.memory} bytes of memory, and allowed_mem is"
                f" {spec.allowed_mem}: give workers more memory, or lower allowed_mem"
            )
        if tuple(worker.python.split(".")[:2]) != minor:
            warn(
                f"{name} has Python {worker.python}, this process has {platform.python_version()}:"
                " functions of notebooks and scripts may fail, so use the same minor version",
                RuntimeWarning,
            )


def _value(text: str) -> Any:
    """Returns the value of an option: JSON, or a string."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _main() -> int:
    parser = argparse.ArgumentParser(prog="cubed executors", allow_abbrev=False)
    parser.add_argument("name")
    parser.add_argument("--work-dir")
    parser.add_argument("--allowed-mem")
    parser.add_argument("--executor-option", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--store", action="append", default=[], metavar="URL")
    parser.add_argument("--timeout", type=float, default=60.0)
    o = parser.parse_args()
    options = {k: _value(v) for k, _, v in (x.partition("=") for x in o.executor_option)}
    given = {k: getattr(o, k) for k in ("work_dir", "allowed_mem") if getattr(o, k) is not None}
    try:
        spec = Spec(**given, executor_name=o.name, executor_options=options)
        workers = check_executor(spec, stores=o.store, timeout=o.timeout)
    except Exception as e:
        print(f"cubed executors: {o.name}: {type(e).__name__}: {e}", file=sys.stderr)
        return 1
    for w in workers:
        print(f"{w.host}:{w.pid}  Python {w.python}  NumPy {w.numpy}  {w.memory / 1e9:.1f} GB")
    print(f"{o.name}: workers start, have version {_core.version}, and reach the work directory")
    return 0


if __name__ == "__main__":
    sys.exit(_main())
