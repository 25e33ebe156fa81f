"""Means over time of products of winds, the first of the Pangeo workloads.

python examples/python/quadratic_means.py
python examples/python/quadratic_means.py --size 20000 --no-check --dir /scratch/winds
"""

import xarray as xr
from common import arguments, check, make_fields, workplace


def quadratic_means(ds: xr.Dataset) -> xr.Dataset:
    quad = ds**2
    quad["uv"] = ds.u * ds.v
    return quad.mean("time", skipna=False)


def main() -> None:
    options = arguments(__doc__, 96)
    with workplace(options) as (directory, spec):
        make_fields(directory / "winds.zarr", "u v", options.size)
        ds = xr.open_dataset(
            directory / "winds.zarr",
            engine="zarr",
            chunked_array_type="cubed",
            from_array_kwargs={"spec": spec},
            chunks={},
        )
        mean = quadratic_means(ds)
        print(mean.uv.data.plan())
        mean.to_zarr(directory / "means.zarr", mode="w")
        result = xr.open_zarr(directory / "means.zarr", chunks=None).load()
        print(result)
        expected = quadratic_means(xr.open_zarr(directory / "winds.zarr", chunks=None).load())
        check(result, expected, options)


if __name__ == "__main__":
    main()
