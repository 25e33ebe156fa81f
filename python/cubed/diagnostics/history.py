"""Tables of the plan and the execution of a computation."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from cubed.base._distribution import optional
from cubed.diagnostics._files import LoggingCallback
from cubed.runtime.types import ComputeEndEvent, ComputeStartEvent, TaskEndEvent, operation_name

_MB = 1_000_000

#: Columns of the plan's table that are entries of a stage.
_OF_STAGE = ("num_tasks", "bytes_read", "bytes_written", "chunks_read", "chunks_written")

_EVENTS = (
    "name", "num_tasks", "result",
    "task_create_tstamp", "function_start_tstamp", "function_end_tstamp", "task_result_tstamp",
    "peak_measured_mem_start", "peak_measured_mem_end", "projected_mem",
    "task", "worker", "host", "attempt", "backup", "bytes_read", "bytes_written",
)  # fmt: skip


class HistoryCallback(LoggingCallback):
    """Writes three tables when a computation ends.

    ``plan`` has the planned operations, ``events`` the tasks, ``stats`` the operations as they ran.

    Parameters
    ----------
    directory
        The files are ``directory/COMPUTE_ID/{plan,events,stats}.FORMAT``.
    format
        ``"csv"``, or ``"parquet"``, which needs pandas and pyarrow.
    """

    def __init__(
        self, directory: str | os.PathLike[str] = "history", *, format: str = "csv"
    ) -> None:
        if format not in ("csv", "parquet"):
            raise ValueError(f"format is {format!r}, expected 'csv' or 'parquet'")
        self.directory: Path = Path(directory)
        self.format: str = format
        #: Rows of the latest computation, as dictionaries.
        self.plan: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        self.stats: list[dict[str, Any]] = []
        #: The directory of the latest computation's files.
        self.written: Path | None = None

    def __repr__(self) -> str:
        where = self.written or self.directory / "COMPUTE_ID"
        did = "wrote" if self.written else "writes"
        return f"<cubed {type(self).__name__}: {did} tables to {str(where)!r}>"

    def on_compute_start(self, event: ComputeStartEvent) -> None:
        """Creates the plan's table."""
        super().on_compute_start(event)
        reserved = event.plan.reserved_mem
        self.plan = [
            {
                "name": operation_name(i, stage),
                "op_name": stage["name"],
                "projected_mem": stage["projected_mem"] + reserved,
                "allowed_mem": event.plan.allowed_mem,
                "reserved_mem": reserved,
                **{name: stage[name] for name in _OF_STAGE},
                "projected_mem_mb": (stage["projected_mem"] + reserved) / _MB,
                "reserved_mem_mb": reserved / _MB,
            }
            for i, stage in enumerate(event.stages)
        ]
        self.events, self.stats = [], []

    def on_task_end(self, event: TaskEndEvent) -> None:
        """Adds a row of events."""
        super().on_task_end(event)
        row = {name: getattr(event, name) for name in _EVENTS}
        start, end = event.peak_measured_mem_start or 0, event.peak_measured_mem_end or 0
        row["peak_measured_mem_start_mb"] = start / _MB
        row["peak_measured_mem_end_mb"] = end / _MB
        row["peak_measured_mem_delta_mb"] = (end - start) / _MB
        self.events.append(row)

    def on_compute_end(self, event: ComputeEndEvent) -> None:
        """Creates the table of statistics, and writes all tables."""
        planned = {row["name"]: row for row in self.plan}
        self.stats = [
            _statistics(planned[name], tasks)
            for name, tasks in sorted(self._log.by_operation().items())
        ]
        directory = self.directory / event.compute_id
        directory.mkdir(parents=True, exist_ok=True)
        for name, rows in (("plan", self.plan), ("events", self.events), ("stats", self.stats)):
            path = self._path(directory, name)
            if self.format == "csv":
                _write_csv(path, rows)
            else:
                _frame(rows).to_parquet(path)
        self.written = directory

    def _path(self, directory: Path, name: str) -> Path:
        return directory / f"{name}.{self.format}"

    def _written(self, name: str) -> Path | None:
        return None if self.written is None else self._path(self.written, name)

    @property
    def plan_df_path(self) -> Path | None:
        """The file of the plan's table, or None."""
        return self._written("plan")

    @property
    def events_df_path(self) -> Path | None:
        """The file of the table of events, or None."""
        return self._written("events")

    @property
    def stats_df_path(self) -> Path | None:
        """The file of the table of statistics, or None."""
        return self._written("stats")

    @property
    def plan_df(self) -> Any:
        """The plan's table as a pandas DataFrame."""
        return _frame(self.plan)

    @property
    def events_df(self) -> Any:
        """Events as a pandas DataFrame."""
        return _frame(self.events)

    @property
    def stats_df(self) -> Any:
        """Statistics as a pandas DataFrame."""
        return _frame(self.stats)


def analyze(plan_df: Any, events_df: Any) -> Any:
    """Computes the statistics of operations from tables of a plan and of events.

    Parameters
    ----------
    plan_df, events_df : pandas.DataFrame
        The tables ``plan`` and ``events`` of :class:`HistoryCallback`, such as its `plan_df` and
        `events_df`, or read from its files. They are not changed.

    Returns
    -------
    pandas.DataFrame
        The table ``stats``: a row for each operation that ran, sorted by name.

    Raises
    ------
    ValueError
        If events belong to operations that the plan does not have.

    Examples
    --------
    >>> import cubed
    >>> from cubed.diagnostics.history import HistoryCallback, analyze
    >>> history = HistoryCallback("runs")
    >>> total = cubed.ones((4, 4), chunks=2).sum().compute(callbacks=[history])
    >>> bool((analyze(history.plan_df, history.events_df).num_tasks > 0).all())
    True
    """
    planned = {row["name"]: row for row in plan_df.to_dict("records")}
    for row in planned.values():
        row["projected_mem_mb"] = row["projected_mem"] / _MB
        row["reserved_mem_mb"] = row["reserved_mem"] / _MB
    tasks: dict[str, list[TaskEndEvent]] = {}
    known = {f.name for f in fields(TaskEndEvent)}
    for row in events_df.to_dict("records"):
        event = {k: v for k, v in row.items() if k in known and v == v}  # files have NaN for None
        tasks.setdefault(row["name"], []).append(TaskEndEvent(**event))
    other = sorted(set(tasks) - set(planned))
    if other:
        raise ValueError(
            f"analyze: events_df has operations {other}, expected those of plan_df: pass tables of"
            " one computation"
        )
    return _frame([_statistics(planned[name], tasks[name]) for name in sorted(tasks)])


def _statistics(planned: dict[str, Any], tasks: Sequence[TaskEndEvent]) -> dict[str, Any]:
    starts = [t.function_start_tstamp or 0.0 for t in tasks]
    ends = [t.function_end_tstamp or 0.0 for t in tasks]
    seconds = [b - a for a, b in zip(starts, ends, strict=True)]
    before = [t.peak_measured_mem_start or 0 for t in tasks]
    measured = [t.peak_measured_mem_end or 0 for t in tasks]
    grown = [b - a for a, b in zip(before, measured, strict=True)]
    return {
        "name": planned["name"],
        "op_name": planned["op_name"],
        "num_tasks": sum(t.num_tasks for t in tasks),
        "start_tstamp": min(starts),
        "end_tstamp": max(ends),
        "seconds_mean": sum(seconds) / len(seconds),
        "seconds_max": max(seconds),
        "bytes_read": sum(t.bytes_read for t in tasks),
        "bytes_written": sum(t.bytes_written for t in tasks),
        "peak_measured_mem_start_mb_max": max(before) / _MB,
        "peak_measured_mem_end_mb_mean": sum(measured) / len(measured) / _MB,
        "peak_measured_mem_end_mb_max": max(measured) / _MB,
        "peak_measured_mem_delta_mb_max": max(grown) / _MB,
        "projected_mem_mb": planned["projected_mem_mb"],
        "reserved_mem_mb": planned["reserved_mem_mb"],
        "projected_mem_utilization": max(measured) / planned["projected_mem"],
    }


def _write_csv(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    with path.open("w", newline="") as f:
        if rows:
            writer = csv.DictWriter(f, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


def _frame(rows: Sequence[dict[str, Any]]) -> Any:
    use = "tables as DataFrames and Parquet need pandas"
    return optional("pandas", use, "diagnostics", "pandas", "pyarrow").DataFrame(list(rows))
