"""Relative vorticity of winds on a grid of latitudes and longitudes, and its mean over time.

python examples/python/vorticity.py
"""

import numpy as np
import xarray as xr
from common import arguments, check, make_fields, open_lazily, workplace

RADIUS = 6.371e6  # of the Earth, m


def vorticity(ds: xr.Dataset) -> xr.Dataset:
    """(dv/dlon - d(u cos(lat))/dlat) / (R cos(lat)), in 1/s, away from the poles."""
    inner = ds.sel(lat=slice(85, -85))
    cos = np.cos(np.deg2rad(inner.lat))
    per_radian = np.rad2deg(1.0)
    eastward = inner.v.differentiate("lon") * per_radian
    northward = (inner.u * cos).differentiate("lat") * per_radian
    zeta = (eastward - northward) / (RADIUS * cos)
    return xr.Dataset({"zeta": zeta.mean("time"), "enstrophy": (zeta**2).mean("time")})


def main() -> None:
    options = arguments(__doc__, 48)
    with workplace(options) as (directory, spec):
        make_fields(directory / "winds.zarr", "u v", options.size)
        mean = vorticity(open_lazily(directory / "winds.zarr", spec))
        print(mean.zeta.data.plan())
        result = mean.compute()
        print(result)
        check(
            result, vorticity(xr.open_zarr(directory / "winds.zarr", chunks=None).load()), options
        )


if __name__ == "__main__":
    main()
