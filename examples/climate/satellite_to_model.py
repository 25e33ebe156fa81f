"""Interpolates a satellite's daily fields to the rotated grid of a model, to find its errors.

    python satellite_to_model.py [FOLDER] [--days 31] [--grid 120x240] [--model 40x50]

The data are synthetic: a level-3 product with clouds (daily sea surface temperatures between
latitudes and longitudes, missing below clouds), and a model whose axes turn about a rotated pole.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import xarray as xr
from beside import compare

POLE = {
    "grid_mapping_name": "rotated_latitude_longitude",
    "grid_north_pole_latitude": 39.25,
    "grid_north_pole_longitude": -162.0,
}


def truth(lat: np.ndarray, lon: np.ndarray, day: np.ndarray) -> np.ndarray:
    """Returns sea surface temperatures in kelvin, with fronts and a drift through the month."""
    waves = np.sin(np.radians(6 * lon + 4 * day)) * np.cos(np.radians(5 * lat))
    return 288 - 0.3 * (lat - 45) + 2 * waves + 0.02 * day


def times(days: int) -> tuple[str, np.ndarray, dict[str, str]]:
    return ("time", np.arange(days) * 1.0, {"units": "days since 2020-06-01"})


def write(ds: xr.Dataset, path: Path, name: str) -> None:
    encoding = {v: {"_FillValue": None} for v in ds.variables}
    ds.to_netcdf(path, encoding=encoding | {name: {"_FillValue": np.float32(-999)}})


def make_satellite(path: Path, days: int, nlat: int, nlon: int) -> None:
    """Writes a regular grid, on which each day two fifths of the cells are below clouds."""
    rng = np.random.default_rng(0)
    lat = 30 + (np.arange(nlat) + 0.5) * 40 / nlat
    lon = -25 + (np.arange(nlon) + 0.5) * 80 / nlon
    at = np.arange(days)[:, None, None]
    sst = truth(lat[None, :, None], lon[None, None, :], at) + rng.normal(0, 0.3, (days, nlat, nlon))
    clouds = np.repeat(
        np.repeat(rng.random((days, -(-nlat // 8), -(-nlon // 8))) < 0.4, 8, 1), 8, 2
    )
    sst[clouds[:, :nlat, :nlon]] = np.nan
    ds = xr.Dataset(
        {"sst": (("time", "lat", "lon"), sst.astype("f4"), {"units": "K"})},
        {
            "time": times(days),
            "lat": ("lat", lat, {"units": "degrees_north"}),
            "lon": ("lon", lon, {"units": "degrees_east"}),
        },
    )
    write(ds, path, "sst")


def make_model(path: Path, days: int, nlat: int, nlon: int) -> None:
    """Writes a model on a rotated grid. The model is too warm, and gets warmer from day to day."""
    rlat, rlon = np.linspace(-7, 7, nlat), np.linspace(-9, 9, nlon)
    pole = np.radians(POLE["grid_north_pole_latitude"])
    phi, lam = np.radians(np.meshgrid(rlat, rlon, indexing="ij"))
    lat = np.degrees(
        np.arcsin(np.sin(pole) * np.sin(phi) + np.cos(pole) * np.cos(phi) * np.cos(lam))
    )
    lon = (
        np.degrees(
            np.arctan2(
                np.cos(phi) * np.sin(lam),
                np.cos(pole) * np.sin(phi) - np.sin(pole) * np.cos(phi) * np.cos(lam),
            )
        )
        + 18
    )
    at = np.arange(days)[:, None, None]
    sst = truth(lat, lon, at) + 0.5 + 0.03 * at
    ds = xr.Dataset(
        {
            "sst": (
                ("time", "rlat", "rlon"),
                sst.astype("f4"),
                {"units": "K", "grid_mapping": "rotated_pole"},
            ),
            "rotated_pole": ((), np.int32(1), POLE),
        },
        {
            "time": times(days),
            "rlat": ("rlat", rlat, {"standard_name": "grid_latitude", "units": "degrees"}),
            "rlon": ("rlon", rlon, {"standard_name": "grid_longitude", "units": "degrees"}),
        },
    )
    write(ds, path, "sst")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", nargs="?", help="folder for files (default: a temporary one)")
    parser.add_argument("--days", type=int, default=31)
    parser.add_argument("--grid", default="120x240", metavar="NLATxNLON")
    parser.add_argument("--model", default="40x50", metavar="NLATxNLON")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(o.folder or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        make_satellite(folder / "satellite.nc", o.days, *map(int, o.grid.split("x")))
        make_model(folder / "model.nc", o.days, *map(int, o.model.split("x")))
        steps = [
            "gencon,../model.nc ../satellite.nc weights.nc",
            "remap,../model.nc,weights.nc ../satellite.nc observed.nc",
            "daysub ../model.nc observed.nc errors.nc",
            "TIMMEAN errors.nc bias.nc",
            "TIMSTD errors.nc spread.nc",
        ]
        names = {
            "cubed": {"TIMMEAN": "nanmean,time", "TIMSTD": "nanstd,time"},
            "cdo": {"TIMMEAN": "timmean", "TIMSTD": "timstd"},
        }
        of_programs = {
            program: [" ".join(words.get(word, word) for word in step.split()) for step in steps]
            for program, words in names.items()
        }
        compare(folder, of_programs, ["observed.nc", "errors.nc", "bias.nc", "spread.nc"])


if __name__ == "__main__":
    main()
