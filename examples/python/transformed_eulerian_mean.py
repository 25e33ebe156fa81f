"""Zonal means and eddy fluxes for the transformed Eulerian mean, day by day.

python examples/python/transformed_eulerian_mean.py
"""

import xarray as xr
from common import arguments, check, make_fields, open_lazily, workplace


def zonal_fluxes(ds: xr.Dataset) -> xr.Dataset:
    zonal = ds.mean("lon")
    eddy = ds - zonal
    fluxes = {
        "u": zonal.u,
        "t": zonal.t,
        "uv": (eddy.u * eddy.v).mean("lon"),
        "uw": (eddy.u * eddy.w).mean("lon"),
        "vt": (eddy.v * eddy.t).mean("lon"),
    }
    return xr.Dataset(fluxes).resample(time="1D").mean()


def main() -> None:
    options = arguments(__doc__, 48)
    with workplace(options) as (directory, spec):
        make_fields(directory / "state.zarr", "u v w t", options.size)
        lazy = zonal_fluxes(open_lazily(directory / "state.zarr", spec))
        print(lazy.uv.data.plan())
        result = lazy.compute()
        print(result)
        check(
            result,
            zonal_fluxes(xr.open_zarr(directory / "state.zarr", chunks=None).load()),
            options,
        )


if __name__ == "__main__":
    main()
