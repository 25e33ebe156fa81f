"""Computes maps of temperature anomalies of an ensemble such as CMIP6, with Cubed and with CDO.

    python ensemble_anomalies.py [FOLDER] [--members 3] [--years 12] [--grid 18x36]

The data are synthetic: a seasonal cycle, a trend that differs between members, noise, and an ocean
without values.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import xarray as xr
from beside import compare

FIRST_YEAR = 1995


def make_member(path: Path, seed: int, years: int, nlat: int, nlon: int) -> None:
    """Writes monthly temperatures of one member."""
    rng = np.random.default_rng(seed)
    time = xr.date_range(f"{FIRST_YEAR}-01-16", periods=12 * years, freq="MS", use_cftime=False)
    lat = np.linspace(-90, 90, nlat)
    lon = np.arange(nlon) * (360 / nlon)
    season = np.cos(2 * np.pi * np.arange(12 * years) / 12)[:, None, None]
    trend = (0.02 + 0.01 * rng.random()) * np.arange(12 * years)[:, None, None] / 12
    mean = 300 - 40 * np.abs(np.sin(np.radians(lat)))[None, :, None]
    values = mean - 8 * season * np.sign(lat)[None, :, None] + trend
    values = values + rng.normal(0, 1, (12 * years, nlat, nlon))
    values[:, nlat // 3 : nlat // 2, : nlon // 4] = np.nan
    tas = (
        ("time", "lat", "lon"),
        values.astype("f4"),
        {"units": "K", "standard_name": "air_temperature"},
    )
    ds = xr.Dataset(
        {"tas": tas},
        {
            "time": time,
            "lat": ("lat", lat, {"units": "degrees_north"}),
            "lon": ("lon", lon, {"units": "degrees_east"}),
        },
    )
    units = {"units": f"days since {FIRST_YEAR}-01-01", "dtype": "f8"}
    ds.to_netcdf(path, encoding={"time": units, "tas": {"_FillValue": np.float32(1e20)}})


def steps_of(program: str, members: int, years: int) -> list[str]:
    """Returns steps that compute anomalies from the first years of each member, and the mean and
    spread of the last two years."""
    reference = ",".join(str(FIRST_YEAR + k) for k in range(years // 2))
    last = f"{FIRST_YEAR + years - 2},{FIRST_YEAR + years - 1}"
    mean = "nanmean,time" if program == "cubed" else "timmean"
    steps = []
    for k in range(members):
        steps.append(f"ymonmean -selyear,{reference} ../m{k}.nc c{k}.nc")
        steps.append(f"ymonsub ../m{k}.nc c{k}.nc a{k}.nc")
    anomalies = " ".join(f"a{k}.nc" for k in range(members))
    steps.append(f"ensmean {anomalies} mean.nc")
    steps.append(f"ensstd {anomalies} spread.nc")
    steps += [f"{mean} -selyear,{last} {name}.nc {name}_map.nc" for name in ("mean", "spread")]
    return steps


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", nargs="?", help="folder for files (default: a temporary one)")
    parser.add_argument("--members", type=int, default=3)
    parser.add_argument("--years", type=int, default=12)
    parser.add_argument("--grid", default="18x36", metavar="NLATxNLON")
    o = parser.parse_args()
    nlat, nlon = map(int, o.grid.split("x"))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(o.folder or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for k in range(o.members):
            make_member(folder / f"m{k}.nc", k, o.years, nlat, nlon)
        steps = {p: steps_of(p, o.members, o.years) for p in ("cubed", "cdo")}
        compare(folder, steps, ["mean_map.nc", "spread_map.nc"])


if __name__ == "__main__":
    main()
