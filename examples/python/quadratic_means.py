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
from common import arguments, check, make_fields, watch

options = arguments("Quadratic means.", times=96)
spec = options.spec

# %% [markdown]
# Synthetic winds, in a Zarr store. Any store with `u` and `v` will do.

# %%
make_fields(options.dir / "winds.zarr", "u v", options.size)

# %% [markdown]
# The one thing to say is that arrays are to be Cubed's, and what a worker may use. They are lazy,
# in the chunks of the store.

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
# What it will do, and the memory that a task needs, is known before anything runs.

# %%
mean = quadratic_means(ds)
plan = mean.uv.data.plan()
print(plan)
plan

# %% [markdown]
# Computed into another store, chunk by chunk: this works as well if nothing of it fits into
# memory.

# %%
with watch():
    mean.to_zarr(options.dir / "means.zarr", mode="w")
result = xr.open_zarr(options.dir / "means.zarr", chunks=None).load()
result

# %% [markdown]
# The same by NumPy, which has to have all of it in memory.

# %%
if not options.no_check:
    winds = xr.open_zarr(options.dir / "winds.zarr", chunks=None).load()
    check(result, quadratic_means(winds))
