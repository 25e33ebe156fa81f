"""Computes anomalies of a random field. The program has types that `mypy --strict` accepts.

Run it: python examples/python/typed.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import cubed
import numpy as np


class Tasks(cubed.Callback):
    """Counts tasks, and records the maximum memory of a task."""

    def __init__(self) -> None:
        self.count = 0
        self.most = 0

    def on_task_end(self, event: cubed.TaskEndEvent) -> None:
        self.count += 1
        self.most = max(self.most, event.peak_measured_mem_end or 0)


def anomalies(x: cubed.Array) -> cubed.Array:
    """Returns x minus its mean over time, divided by its standard deviation."""
    mean = cubed.mean(x, axis=0)
    deviation = x.std(axis=0)
    return (x - mean) / deviation


def main(place: Path) -> float:
    """Returns the largest anomaly."""
    spec = cubed.Spec(work_dir=place, allowed_mem="100MB", reserved_mem="20MB")
    field = cubed.random.normal(280.0, 10.0, size=(365, 90, 180), chunks=(30, 90, 180), spec=spec)
    field[0, :10] = 280.0
    tasks = Tasks()
    cubed.to_zarr(anomalies(field), place / "anomalies.zarr", callbacks=[tasks])
    stored = cubed.from_zarr(place / "anomalies.zarr", spec=spec)
    largest: np.ndarray[tuple[int, ...], np.dtype[np.float64]]
    largest = cubed.max(cubed.abs(stored)).compute()
    shape: tuple[int, ...] = stored.shape
    print(f"{shape} by {tasks.count} tasks with at most {tasks.most} bytes: {float(largest):.1f}")
    return float(largest)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        main(Path(directory))
