"""Anomalies from the mean of each month of the year, and how much they vary.

python examples/python/climatological_anomalies.py
"""

import xarray as xr
from common import arguments, check, make_fields, open_lazily, workplace


def anomalies(ds: xr.Dataset) -> xr.Dataset:
    months = ds.groupby("time.month")
    climatology = months.mean()
    anomaly = months - climatology
    return xr.Dataset(
        {
            "climatology": climatology.t,
            "anomaly": anomaly.t.isel(level=0),
            "deviation": anomaly.t.std("time"),
        }
    )


def main() -> None:
    options = arguments(__doc__, 730)
    with workplace(options) as (directory, spec):
        make_fields(directory / "t.zarr", "t", options.size, step="1D", levels=2)
        lazy = anomalies(open_lazily(directory / "t.zarr", spec))
        print(lazy.deviation.data.plan())
        result = lazy.compute()
        print(result)
        check(result, anomalies(xr.open_zarr(directory / "t.zarr", chunks=None).load()), options)


if __name__ == "__main__":
    main()
