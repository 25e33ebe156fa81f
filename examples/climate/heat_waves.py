"""Finds summer days and heat waves in hourly temperatures as of ERA5, with Cubed and with CDO.

    python heat_waves.py [FOLDER] [--days 365] [--grid 9x12]

The data are synthetic: a seasonal and a daily cycle, and weather that lasts some days.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import xarray as xr
from beside import compare


def cycle(days: int) -> np.ndarray:
    """Returns the daily maximum of a usual year, in kelvin."""
    return 288 - 10 * np.cos(2 * np.pi * np.arange(days) / 365)


def write(path: Path, values: np.ndarray, step: str) -> None:
    """Writes temperatures from 2001 on; `step` is the unit of time."""
    nlat, nlon = values.shape[1:]
    ds = xr.Dataset(
        {"t2m": (("time", "lat", "lon"), values.astype("f4"), {"units": "K"})},
        {
            "time": ("time", np.arange(len(values)) * 1.0, {"units": f"{step} since 2001-01-01"}),
            "lat": ("lat", np.linspace(60, 35, nlat), {"units": "degrees_north"}),
            "lon": ("lon", np.linspace(-10, 30, nlon), {"units": "degrees_east"}),
        },
    )
    ds.to_netcdf(path, encoding={"t2m": {"_FillValue": np.float32(-999)}})


def make_hours(path: Path, days: int, nlat: int, nlon: int) -> None:
    """Writes hourly temperatures, with an episode of heat each month."""
    rng = np.random.default_rng(0)
    weather = rng.normal(0, 2, (days, nlat, nlon))
    for first in range(10, days, 30):
        weather[first : first + 8] += 7
    hour = np.cos(2 * np.pi * (np.arange(24) - 15) / 24)
    values = (cycle(days)[:, None, None] + weather)[:, None] + 5 * (hour - 1)[None, :, None, None]
    write(path, values.reshape(24 * days, nlat, nlon), "hours")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", nargs="?", help="folder for files (default: a temporary one)")
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--grid", default="9x12", metavar="NLATxNLON")
    o = parser.parse_args()
    nlat, nlon = map(int, o.grid.split("x"))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(o.folder or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        make_hours(folder / "hours.nc", o.days, nlat, nlon)
        usual = np.broadcast_to(cycle(o.days)[:, None, None], (o.days, nlat, nlon))
        write(folder / "usual.nc", usual, "days")
        steps = [
            "daymax ../hours.nc tx.nc",
            "eca_su,20 tx.nc summer_days.nc",
            "eca_hwdi tx.nc ../usual.nc wave_days.nc",
            "monmax tx.nc hottest.nc",
            "fldmean hottest.nc series.nc",
        ]
        results = ["tx.nc", "summer_days.nc", "wave_days.nc", "series.nc"]
        compare(folder, {"cubed": steps, "cdo": steps}, results)


if __name__ == "__main__":
    main()
