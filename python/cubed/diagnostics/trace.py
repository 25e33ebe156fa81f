"""A computation as a trace, for https://ui.perfetto.dev and chrome://tracing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from cubed.diagnostics._files import FileCallback, LoggingCallback, TaskLog
from cubed.runtime.types import ComputeEndEvent, TaskEndEvent

_WORKERS, _OPERATIONS = 1, 2
# Perfetto has one list of threads for all processes. In this list, number 0 is special, and a
# thread with the number of its process is the main thread.
_FIRST_THREAD = 3


def _name(kind: str, pid: int, tid: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": {"name": name}}


class ChromeTraceCallback(LoggingCallback, FileCallback):
    """Writes a JSON file in the trace event format: a track with tasks for each worker, one for
    each operation, and the memory of running tasks.

    Parameters
    ----------
    path
        The file; default: ``directory/COMPUTE_ID/trace.json``.
    directory
        The parent of the directories of computations.
    """

    file_name = "trace.json"

    def content(self, event: ComputeEndEvent) -> str:
        """Returns the contents of the file."""
        return json.dumps({"traceEvents": trace_events(self._log), "displayTimeUnit": "ms"})


def trace_events(log: TaskLog) -> list[dict[str, Any]]:
    """Returns trace events of a computation; times are microseconds since the first task."""
    spans = _spans(log.tasks)
    zero = min((start for _, start, _ in spans), default=0.0)
    workers = sorted({w for t in log.tasks for w in _workers(t)})
    first_operation = _FIRST_THREAD + max(workers, default=0) + 1
    out = [
        _name("process_name", _WORKERS, _WORKERS, "workers"),
        _name("process_name", _OPERATIONS, _OPERATIONS, "operations"),
    ]
    out += [_name("thread_name", _WORKERS, _FIRST_THREAD + w, f"worker {w}") for w in workers]

    def span(
        name: str, kind: str, pid: int, tid: int, start: float, end: float, args: dict[str, Any]
    ) -> dict[str, Any]:
        times = {"ts": (start - zero) * 1e6, "dur": (end - start) * 1e6}
        return {"ph": "X", "name": name, "cat": kind, "pid": pid, "tid": tid, **times, "args": args}

    for t, start, end in spans:
        args = {"task": t.task, "measured_mem": t.peak_measured_mem_end}
        args |= {n: getattr(t, n) for n in ("projected_mem", "bytes_read", "bytes_written")}
        threads = [_FIRST_THREAD + w for w in _workers(t)]
        out += [span(t.name, "task", _WORKERS, n, start, end, args) for n in threads]
    for i, (name, tasks) in enumerate(log.by_operation().items()):
        first = min(t.function_start_tstamp or 0.0 for t in tasks)
        last = max(t.function_end_tstamp or 0.0 for t in tasks)
        out.append(_name("thread_name", _OPERATIONS, first_operation + i, name))
        number, said = first_operation + i, {"tasks": len(tasks)}
        out.append(span(name, "operation", _OPERATIONS, number, first, last, said))
    return out + _memory(spans, zero)


def _workers(task: TaskEndEvent) -> Sequence[int]:
    """Returns the workers that ran the task."""
    return range(task.coop) if task.coop > 1 else (task.worker,)


def _spans(tasks: list[TaskEndEvent]) -> list[tuple[TaskEndEvent, float, float]]:
    """Returns tasks with their start and end times. Rounded times of a worker's tasks could
    overlap, and Perfetto omits overlapping tasks, so the times are adjusted.
    """
    spans, free = [], dict.fromkeys((w for t in tasks for w in _workers(t)), 0.0)
    for t in sorted(tasks, key=lambda t: t.function_start_tstamp or 0.0):
        start = max(t.function_start_tstamp or 0.0, *(free[w] for w in _workers(t)))
        end = max(t.function_end_tstamp or 0.0, start)
        free |= dict.fromkeys(_workers(t), end)
        spans.append((t, start, end))
    return spans


def _memory(spans: list[tuple[TaskEndEvent, float, float]], zero: float) -> list[dict[str, Any]]:
    """Returns a counter: the sum of the high-water marks of all running tasks."""
    steps = []
    for t, start, end in spans:
        own = (t.peak_measured_mem_end or 0) - (t.peak_measured_mem_start or 0)
        steps += [(start, 1, own), (end, 0, -own)]
    out, total = [], 0
    for when, _, change in sorted(steps):
        total += change
        out.append(
            {
                "ph": "C",
                "name": "memory of running tasks",
                "pid": _WORKERS,
                "tid": _WORKERS,
                "ts": (when - zero) * 1e6,
                "args": {"bytes": total},
            }
        )
    return out
