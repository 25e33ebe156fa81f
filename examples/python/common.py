"""What the examples share: options, the fields that they read, and the check of their results."""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import cubed
import numpy as np
import xarray as xr

LATITUDES, LONGITUDES = 37, 72


def arguments(doc: str, times: int) -> argparse.Namespace:
    """The options of an example that makes `times` times unless --size says otherwise."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--size", type=int, default=times, help=f"times (default {times})")
    parser.add_argument("--allowed-mem", default="200MB", help="of each worker (default 200MB)")
    parser.add_argument("--dir", type=Path, help="for data and results (default: a temporary one)")
    parser.add_argument("--no-check", action="store_true", help="do not compute it with NumPy, too")
    return parser.parse_args()


@contextlib.contextmanager
def workplace(options: argparse.Namespace) -> Iterator[tuple[Path, cubed.Spec]]:
    """A directory for stores, and what computations may use."""
    with contextlib.ExitStack() as stack:
        directory = options.dir or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        directory.mkdir(parents=True, exist_ok=True)
        yield directory, cubed.Spec(directory / "work", allowed_mem=options.allowed_mem)


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
    xr.Dataset(data, coords).to_zarr(path, mode="w", encoding=encoding, consolidated=True)


def parse_step(step: str) -> tuple[int, str]:
    """A number and a unit of NumPy, of such as "6h"."""
    return int(step[:-1]), step[-1]


def open_lazily(path: Path, spec: cubed.Spec) -> xr.Dataset:
    """The store as lazy arrays, in the chunks that it has."""
    return xr.open_dataset(
        path,
        engine="zarr",
        chunked_array_type="cubed",
        from_array_kwargs={"spec": spec},
        chunks={},
    )


def check(result: xr.Dataset, expected: xr.Dataset, options: argparse.Namespace) -> None:
    """Compares with the same computed by NumPy, prints, and fails if they differ."""
    if options.no_check:
        return
    for name, x in expected.data_vars.items():
        np.testing.assert_allclose(result[name].values, x.values, rtol=1e-9, atol=1e-9)
    print("equal to NumPy:", ", ".join(map(str, expected.data_vars)))
