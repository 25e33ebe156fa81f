"""Runs the workloads of examples/python, by the functions of these scripts. They use Xarray with
arrays of Cubed or of Dask. Prints the seconds from opening the input to the end of the output,
without imports, as JSON.

workloads.py make NAME STORE SIZE            the input, about 0.75 GB at size 1
workloads.py cubed|dask NAME STORE OUT WORKERS ALLOWED_MEM WORK_DIR
"""

import ast
import datetime
import json
import pathlib
import sys
import time

import xarray as xr

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples/python"
# Fields, times at size 1, and what else make_fields takes.
INPUTS = {
    "quadratic_means": ("u v", 240, {}),
    "vorticity": ("u v", 240, {}),
    "transformed_eulerian_mean": ("u v w t", 120, {}),
    "climatological_anomalies": ("t", 730, {"step": "1D", "levels": 2}),
    "era5_pipeline": ("t", 720, {"levels": 1, "packed": True}),
}


def functions_of(name):
    """What an example defines, without running it: imports of packages, constants, functions."""
    path = EXAMPLES / f"{name}.py"
    tree = ast.parse(path.read_text())
    tree.body = [
        n
        for n in tree.body
        if isinstance(n, (ast.Import, ast.FunctionDef))
        or (isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant))
        # Of Dask's run, too: nothing but Xarray and NumPy.
        if not (isinstance(n, ast.Import) and n.names[0].name == "cubed")
    ]
    scope = {}
    exec(compile(tree, path, "exec"), scope)
    return scope


def workload(name, library):
    f = functions_of(name)
    if name == "era5_pipeline":
        chunks = {"time": -1, "level": 1, "lat": 10, "lon": 10}
        return lambda ds: f["percentiles"](f["daily"](ds).chunk(chunks, chunked_array_type=library))
    functions = {
        "quadratic_means": "quadratic_means",
        "vorticity": "vorticity",
        "transformed_eulerian_mean": "zonal_fluxes",
        "climatological_anomalies": "anomalies",
    }
    return f[functions[name]]


def make(name, store, size):
    sys.path.insert(0, str(EXAMPLES))
    import common

    common.LATITUDES, common.LONGITUDES = 181, 360
    fields, times, options = INPUTS[name]
    times = max(48, round(times * float(size) / 24) * 24)
    common.make_fields(pathlib.Path(store), fields, times, **options)


def options_of(library, workers, allowed_mem, work_dir):
    if library == "dask":
        import dask

        dask.config.set(scheduler="threads", num_workers=workers)
        return {}
    import cubed

    spec = cubed.Spec(
        work_dir,
        allowed_mem=allowed_mem,
        reserved_mem="100MB",
        executor_name="threads",
        executor_options={"max_workers": workers},
    )
    return {"from_array_kwargs": {"spec": spec}}


def warm_up(library, options, directory):
    """Imports what Xarray, Zarr and the library import when they are first used."""
    store = pathlib.Path(directory) / "warm-up.zarr"
    time = [datetime.datetime(2001, 1, 1), datetime.datetime(2001, 1, 2)]
    ds = xr.Dataset({"x": ("time", [1.0, 2.0])}, {"time": time})
    ds.to_zarr(store, mode="w", consolidated=False)
    options = options | {"chunked_array_type": library, "consolidated": False}
    result = xr.open_dataset(store, engine="zarr", chunks={}, **options).mean()
    result.x.encoding = {}
    result.to_zarr(store.with_name("warmed-up.zarr"), mode="w", consolidated=False)


def main(library, name, store, out, workers, allowed_mem, work_dir):
    options = options_of(library, int(workers), int(allowed_mem), work_dir)
    compute = workload(name, library)
    warm_up(library, options, work_dir)
    start = time.perf_counter()
    ds = xr.open_dataset(store, engine="zarr", chunked_array_type=library, chunks={}, **options)
    result = compute(ds)
    for x in result.variables.values():
        x.encoding = {}
    result.to_zarr(out, mode="w", consolidated=False)
    print(json.dumps({"seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
