"""Shared by the examples: options, made-up fields, progress, pictures, and the check of results."""

from __future__ import annotations

import argparse
import atexit
import sys
import tempfile
import warnings
from pathlib import Path

import cubed
import numpy as np
import xarray as xr

LATITUDES, LONGITUDES = 37, 72
IN_NOTEBOOK = "ipykernel" in sys.modules
# zarr warns about all groups that Xarray writes.
warnings.filterwarnings("ignore", message="Consolidated metadata is currently not part")


def arguments(about: str, times: int) -> argparse.Namespace:
    """Returns the options of an example, with the `spec` that follows from them.

    `times` is the default of --size. In a notebook all options have their defaults."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--size", type=int, default=times, help=f"times (default {times})")
    parser.add_argument("--allowed-mem", default="200MB", help="of each worker (default 200MB)")
    parser.add_argument("--dir", type=Path, help="for data and results (default: a temporary one)")
    parser.add_argument("--no-check", action="store_true", help="do not compute it with NumPy, too")
    options = parser.parse_args([] if IN_NOTEBOOK else None)
    if options.dir is None:
        temporary = tempfile.TemporaryDirectory()
        atexit.register(temporary.cleanup)
        options.dir = Path(temporary.name)
    options.dir.mkdir(parents=True, exist_ok=True)
    options.spec = cubed.Spec(options.dir / "work", allowed_mem=options.allowed_mem)
    return options


def make_fields(
    path: Path, names: str, times: int, step: str = "6h", levels: int = 3, packed: bool = False
) -> None:
    """Writes smooth waves with noise, as float64 or packed as int16, in chunks of 24 times."""
    rng = np.random.default_rng(5)
    lat = np.linspace(90, -90, LATITUDES)
    lon = np.arange(0, 360, 360 / LONGITUDES)
    time = np.datetime64("2001-01-01") + np.arange(times) * np.timedelta64(*parse_step(step))
    coords = {
        "time": time.astype("M8[ns]"),
        "level": np.arange(levels) * 100.0 + 100,
        "lat": lat,
        "lon": lon,
    }
    shape = tuple(len(c) for c in coords.values())
    phase = np.arange(times)[:, None, None, None] / 10
    data = {}
    for k, name in enumerate(names.split(), 1):
        waves = np.cos(np.deg2rad(lat))[:, None] * np.sin(np.deg2rad(lon) * k + phase)
        data[name] = (tuple(coords), 20 * waves + rng.normal(size=shape))
    encoding: dict[str, dict] = {n: {"chunks": (min(24, times), 1, *shape[2:])} for n in data}
    for options in encoding.values():
        if packed:
            options.update(dtype="i2", scale_factor=0.002, add_offset=0.0, _FillValue=-32768)
    xr.Dataset(data, coords).to_zarr(path, mode="w", encoding=encoding)


def parse_step(step: str) -> tuple[int, str]:
    """Returns the number and NumPy's unit of a step such as "6h"."""
    return int(step[:-1]), step[-1]


def watch() -> cubed.Callback:
    """Shows progress: a timeline of tasks in a notebook, otherwise a line of text."""
    if IN_NOTEBOOK:
        from cubed.diagnostics.widgets import LiveTimelineViewer

        return LiveTimelineViewer()
    from cubed.diagnostics import TextProgressBar

    return TextProgressBar()


def draw(field: xr.DataArray) -> None:
    """Draws a field as a map or a section in a notebook; elsewhere does nothing."""
    if IN_NOTEBOOK:
        field.plot(figsize=(8, 4))


def check(result: xr.Dataset, expected: xr.Dataset) -> None:
    """Compares a result with NumPy's, prints that they are equal, and fails if they differ."""
    for name, x in expected.data_vars.items():
        np.testing.assert_allclose(result[name].values, x.values, rtol=1e-9, atol=1e-9)
    print("equal to NumPy:", ", ".join(map(str, expected.data_vars)))
