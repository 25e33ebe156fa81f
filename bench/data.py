"""Makes the inputs of the benchmarks and compares results. Runs in build/bench/venv-main.

data.py winds DIR TIMES CODEC     u and v: float64 (time, level, lat, lon), chunks of 10 times
data.py series DIR TIMES          x: float32 (time, lat, lon), a time each month, in x.zarr and x.nc
data.py metadata DIR              u and v of 1.5 TB, without a chunk
data.py compare A B RTOL ATOL     two results: Zarr array or group of arrays, or netCDF
"""

import pathlib
import sys

import cftime
import netCDF4
import numcodecs
import numpy as np

import zarr

STEP = 10  # times per chunk of the winds
MONTHS = 12  # times per chunk of the series, which has one a month


def create(path, shape, dtype, step, codec="none"):
    compressor = numcodecs.Blosc("lz4", clevel=5, shuffle=1) if codec == "blosc-lz4" else None
    return zarr.create(
        shape,
        chunks=(step, *shape[1:]),
        dtype=dtype,
        compressor=compressor,
        fill_value=0,
        zarr_format=2,
        store=str(path),
    )


def field(rng, t, lat, lon, waves):
    """Smooth waves with noise, in steps of 1/64 as packed data have."""
    y = np.linspace(-np.pi / 2, np.pi / 2, lat)[:, None]
    x = np.linspace(0, 2 * np.pi, lon, endpoint=False)
    smooth = 20 * np.cos(y) * np.sin(waves * x + 0.1 * t) + 5 * np.sin(3 * y)
    noise = rng.standard_normal((lat, lon), dtype=np.float32)
    return np.round((smooth + noise) * 64) / 64


def winds(directory, times, codec):
    rng = np.random.default_rng(7)
    for name, waves in (("u", 4), ("v", 5)):
        shape = (times, 1, 987, 1920)
        array = create(directory / name, shape, "f8", STEP, codec)
        for t in range(0, times, STEP):
            steps = [field(rng, i, 987, 1920, waves) for i in range(t, min(t + STEP, times))]
            array[t : t + STEP] = np.stack(steps)[:, None]


def series(directory, times):
    rng = np.random.default_rng(8)
    array = create(directory / "x.zarr", (times, 721, 1440), "f4", MONTHS)
    with netCDF4.Dataset(directory / "x.nc", "w", format="NETCDF3_64BIT_OFFSET") as nc:
        nc.createDimension("time", None)
        nc.createDimension("lat", 721)
        nc.createDimension("lon", 1440)
        time = nc.createVariable("time", "f8", ("time",))
        time.units, time.calendar = "days since 1900-01-01", "standard"
        for name, values in (
            ("lat", np.linspace(90, -90, 721)),
            ("lon", np.arange(0, 360, 0.25)),
        ):
            axis = nc.createVariable(name, "f8", (name,))
            axis.units = {"lat": "degrees_north", "lon": "degrees_east"}[name]
            axis[:] = values
        x = nc.createVariable("x", "f4", ("time", "lat", "lon"))
        for t in range(0, times, MONTHS):
            steps = [field(rng, i, 721, 1440, 4) for i in range(t, min(t + MONTHS, times))]
            block = (np.stack(steps) + 280).astype("f4")
            array[t : t + MONTHS] = block
            days = [
                cftime.datetime(1900 + i // 12, i % 12 + 1, 15) for i in range(t, t + len(block))
            ]
            time[t : t + len(block)] = cftime.date2num(days, time.units, "standard")
            x[t : t + len(block)] = block


def metadata(directory):
    for name in ("u", "v"):
        create(directory / name, (50000, 1, 987, 1920), "f8", STEP, "blosc-lz4")


def open_arrays(path):
    """What is compared of a result: arrays by name."""
    if path.is_file():
        nc = netCDF4.Dataset(path)
        nc.set_auto_mask(False)
        return {"": nc["x"]}
    if any((path / name).exists() for name in (".zarray", "zarr.json")):
        node = zarr.open(str(path), mode="r")
        if isinstance(node, zarr.Array):
            return {"": node}
    return {p.name: zarr.open(str(p), mode="r") for p in path.iterdir() if p.is_dir()}


def slabs(x, y):
    """Pairs of parts of two arrays that fit in memory. In netCDF a mean over time has a time axis
    of length 1, and years and months are one axis."""
    if x.ndim == y.ndim + 1:
        n = x.shape[1]
        yield np.array(x.shape[0] * n), np.array(y.shape[0])
        for i in range(x.shape[0]):
            yield x[i], y[i * n : (i + 1) * n]
        return
    lead = (0,) * (y.ndim - x.ndim)
    yield np.array(x.shape), np.array(y.shape[len(lead) :])
    chunks = getattr(x, "chunks", (MONTHS, *x.shape[1:]))  # variables of netCDF have none
    axis = int(np.argmax([-(-n // c) for n, c in zip(x.shape, chunks, strict=True)]))
    for start in range(0, x.shape[axis], chunks[axis]):
        slab = (slice(None),) * axis + (slice(start, start + chunks[axis]),)
        yield x[slab], y[lead + slab]


def compare(a, b, rtol, atol):
    left, right = open_arrays(a), open_arrays(b)
    if set(left) != set(right):
        sys.exit(f"{a} has {sorted(left)}, {b} has {sorted(right)}")
    for name, x in left.items():
        y = right[name]
        for p, q in slabs(x, y):
            if p.shape != q.shape:
                sys.exit(f"{name}: shapes {x.shape} and {y.shape}")
            if not np.allclose(p, q, rtol=rtol, atol=atol):
                sys.exit(f"{name}: differs by up to {np.max(np.abs(p - q)):g}")


def main(verb, *args):
    if verb == "winds":
        winds(pathlib.Path(args[0]), int(args[1]), args[2])
    elif verb == "series":
        series(pathlib.Path(args[0]), int(args[1]))
    elif verb == "metadata":
        metadata(pathlib.Path(args[0]))
    elif verb == "compare":
        compare(pathlib.Path(args[0]), pathlib.Path(args[1]), float(args[2]), float(args[3]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
