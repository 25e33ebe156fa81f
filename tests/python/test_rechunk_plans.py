"""What rechunking is planned to cost, without running it."""

import json
import math
import random

import pytest
from conftest import check, run

import zarr

BETA = 2**20


def plan(tmp_path, shape, dtype, source, target, mem):
    zarr.create_array(tmp_path / "x.zarr", shape=shape, chunks=source, dtype=dtype, compressors=())
    chunks = ",".join(map(str, target))
    result = check(
        run(
            *("rechunk", tmp_path / "x.zarr", tmp_path / "y.zarr", f"--chunks={chunks}"),
            *("--codecs", '[{"name": "bytes", "configuration": {"endian": "little"}}]'),
            *("--allowed-mem", mem, "--reserved-mem", 0, "--plan", "--json"),
        )
    )
    assert not (tmp_path / "y.zarr").exists()
    return json.loads(result.out)


def padded(shape, chunks, itemsize):
    return math.prod(-(-n // c) * c for n, c in zip(shape, chunks, strict=True)) * itemsize


@pytest.mark.parametrize(
    ("source", "target", "copies"),
    [
        ((31, 721, 1440), (350640, 10, 10), 2),
        ((350640, 10, 10), (31, 721, 1440), 1),  # parts of the long chunks are read by themselves
    ],
)
def test_era5_takes_few_copies(tmp_path, source, target, copies):
    shape = (350640, 721, 1440)
    p = plan(tmp_path, shape, "f4", source, target, "2GB")
    size = math.prod(shape) * 4
    assert len(p["stages"]) == copies
    assert p["bytes_read"] <= 1.025 * copies * size
    assert p["bytes_written"] <= 1.025 * copies * size
    assert p["projected_mem"] <= p["allowed_mem"]


@pytest.mark.parametrize(
    ("shape", "source", "target"),
    [
        ((999_000,), (999,), (1000,)),
        ((10_007, 10_009), (10_007, 1), (1, 10_009)),
        ((4096, 4096), (64, 4096), (4096, 64)),
        ((2, 3, 5, 7), (1, 1, 1, 1), (2, 3, 5, 7)),
    ],
)
def test_awkward_grids(tmp_path, shape, source, target):
    p = plan(tmp_path, shape, "f8", source, target, "64MB")
    ends = padded(shape, source, 8) + padded(shape, target, 8)
    assert p["bytes_read"] + p["bytes_written"] <= 2.3 * ends
    assert p["projected_mem"] <= p["allowed_mem"]


@pytest.mark.parametrize("seed", range(40))
def test_bytes_stay_near_the_lower_bound(tmp_path, seed):
    """One intermediate, so no more than two copies, while N <= M**2 / beta (Aggarwal, Vitter)."""
    pick = random.Random(seed)
    ndim = pick.choice([1, 2, 2, 3, 3])
    while True:
        shape = [round(10 ** pick.uniform(0, 10 / ndim)) for _ in range(ndim)]
        source, target = (
            [min(n, max(1, round(n ** pick.uniform(0, 1)))) for n in shape] for _ in range(2)
        )
        largest = 8 * max(math.prod(source), math.prod(target))
        mem = max(pick.choice([50, 200, 1000]) * 10**6, 4 * largest)
        ends = padded(shape, source, 8) + padded(shape, target, 8)
        if mem <= 4 * 10**9 and ends / 2 <= mem**2 / BETA:
            break
    p = plan(tmp_path, shape, "f8", source, target, mem)
    assert len(p["stages"]) <= 2, (shape, source, target, mem)
    # Intermediates are padded, too, at the ends of axes.
    assert p["bytes_read"] + p["bytes_written"] <= 2.4 * ends, (shape, source, target, mem)
    assert p["projected_mem"] <= p["allowed_mem"]
