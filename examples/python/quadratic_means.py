# %% [markdown]
# # Quadratic means
#
# Means over time of products of winds, the first of the Pangeo workloads: each chunk of `u` and
# `v` is read once, and squares and products never exist as arrays.
#
# **Large:** `python quadratic_means.py --size 20000 --no-check --dir /scratch/winds`, or in the
# notebook `options.size = 20000` after the first cell. `make_fields` makes its fields in memory:
# for more than that, open a store of your own. The memory of a task stays what it is, whatever
# the size.

# %%
import xarray as xr
from common import arguments, check, draw, make_fields, watch

options = arguments("Quadratic means.", times=96)
spec = options.spec

# %% [markdown]
# Synthetic winds, in a Zarr store. Any store with `u` and `v` will do.

# %%
make_fields(options.dir / "winds.zarr", "u v", options.size)

# %% [markdown]
# Two arguments are for Cubed: whose arrays they are, and the memory of a worker. The arrays are
# lazy, in the chunks of the store.

# %%
ds = xr.open_dataset(
    options.dir / "winds.zarr",
    engine="zarr",
    chunked_array_type="cubed",
    from_array_kwargs={"spec": spec},
    chunks={},
)
ds


# %% [markdown]
# The workload is plain Xarray.


# %%
def quadratic_means(ds: xr.Dataset) -> xr.Dataset:
    quad = ds**2
    quad["uv"] = ds.u * ds.v
    return quad.mean("time", skipna=False)


# %% [markdown]
# The plan has the stages and the memory of a task. It is known before anything runs.

# %%
mean = quadratic_means(ds)
plan = mean.uv.data.plan()
print(plan)
plan

# %% [markdown]
# The results are computed into another store, chunk by chunk, so they may be larger than memory.

# %%
with watch():
    mean.to_zarr(options.dir / "means.zarr", mode="w")
result = xr.open_zarr(options.dir / "means.zarr", chunks=None).load()
result

# %% [markdown]
# The mean of the product at the first level.

# %%
draw(result.uv.isel(level=0))

# %% [markdown]
# The same computation by NumPy, which needs the whole input in memory.

# %%
if not options.no_check:
    winds = xr.open_zarr(options.dir / "winds.zarr", chunks=None).load()
    check(result, quadratic_means(winds))
