"""From packed six-hourly temperatures to daily extremes, rechunked in space, and their percentiles.

python examples/python/era5_pipeline.py
"""

import cubed
import xarray as xr
from common import arguments, check, make_fields, workplace


def daily(ds: xr.Dataset) -> xr.Dataset:
    days = ds.t.resample(time="1D")
    return xr.Dataset({"tmax": days.max(), "tmin": days.min()})


def percentiles(ds: xr.Dataset) -> xr.Dataset:
    return ds.quantile([0.05, 0.5, 0.95], "time")


def main() -> None:
    options = arguments(__doc__, 240)
    with workplace(options) as (directory, spec):
        make_fields(directory / "t.zarr", "t", options.size, levels=1, packed=True)
        # Unpacked by the engine, together with what follows.
        ds = xr.open_dataset(directory / "t.zarr", engine="cubed", spec=spec)
        # To series over time: the planner makes the passes that fit.
        chunks = {"time": -1, "level": 1, "lat": 10, "lon": 10}
        series = daily(ds).chunk(chunks, chunked_array_type="cubed")
        series.to_zarr(directory / "daily.zarr", mode="w")
        stored = xr.open_dataset(directory / "daily.zarr", engine="cubed", spec=spec)
        lazy = percentiles(stored)
        assert isinstance(lazy.tmax.data, cubed.Array)
        print(lazy.tmax.data.plan())
        result = lazy.compute()
        print(result)
        expected = percentiles(daily(xr.open_zarr(directory / "t.zarr", chunks=None).load()))
        check(result, expected, options)


if __name__ == "__main__":
    main()
