"""Planned costs of rechunking, without running the plans."""

import json
import math
import random
import re
import warnings

import cubed
import numpy as np
import pytest
from conftest import NIGHTLY, cases, check, run

import zarr

BETA = 2**20


def plan(tmp_path, shape, dtype, source, target, mem, *options, codec="raw", reserved=0):
    """What the command says; None if it refuses."""
    if not (tmp_path / "x.zarr").exists():
        compressors = () if codec == "raw" else "auto"
        zarr.create_array(
            tmp_path / "x.zarr", shape=shape, chunks=source, dtype=dtype, compressors=compressors
        )
    chunks = ",".join(map(str, target))
    result = run(
        *("rechunk", tmp_path / "x.zarr", tmp_path / "y.zarr", f"--chunks={chunks}"),
        *("--codecs", '[{"name": "bytes", "configuration": {"endian": "little"}}]'),
        *("--allowed-mem", mem, "--reserved-mem", reserved, "--plan", "--json", *options),
    )
    assert not (tmp_path / "y.zarr").exists()
    if result.code != 0 and ("allow at least" in result.err or "this machine" in result.err):
        return None
    return json.loads(check(result).out)


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


def cost(p):
    return p["bytes_read"] + p["bytes_written"], p["requests"]


@pytest.mark.parametrize("workers", [1, 2, 8, 40])
@pytest.mark.parametrize("codec", ["raw", "zstd"])
def test_more_memory_is_never_worse_for_era5(tmp_path, workers, codec):
    shape, source, target = (350640, 721, 1440), (31, 721, 1440), (350640, 10, 10)
    size, last = math.prod(shape) * 4, None
    for mem in (300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1300, 1600, 2000):
        if mem * workers > 20000:
            break
        options = ["--max-workers", workers]
        p = plan(tmp_path, shape, "f4", source, target, f"{mem}MB", *options, codec=codec)
        if p is None:  # compressed chunks take more
            assert last is None and codec == "zstd" and mem < 600
            continue
        assert last is None or (cost(p)[0] <= last[0] and cost(p)[1] <= last[1]), mem
        assert p["bytes_read"] <= 8 * size
        assert p["projected_mem"] + p["metadata_mem"] <= p["allowed_mem"]
        last = cost(p)
    assert last[0] <= 10.3 * size if workers == 40 else last[0] <= 4.05 * size


def random_grids(pick, most):
    ndim = pick.choice([1, 2, 2, 3, 3, 4])
    shape = [round(10 ** pick.uniform(0, most / ndim)) for _ in range(ndim)]
    return shape, *(
        [min(n, max(1, round(n ** pick.uniform(0, 1)))) for n in shape] for _ in range(2)
    )


def test_more_memory_is_never_worse(tmp_path):
    """Neither in bytes nor in requests; and what fits once fits with more."""
    pick = random.Random(5)
    better = 0
    for i in range(2000 if NIGHTLY else 20):
        while True:
            shape, source, target = random_grids(pick, 11)
            largest = 4 * max(math.prod(source), math.prod(target))
            if largest < 5e8:
                break
        mem, last = 2 * largest + 50_000, None
        workers = pick.choice([1, 2, 4, 8])
        options = ["--max-workers", workers]
        codec = pick.choice(["raw", "zstd"])
        for _ in range(5):
            if mem * workers > 20e9:  # more than machines have
                break
            p = plan(
                tmp_path / f"{i}", shape, "f4", source, target, round(mem), *options, codec=codec
            )
            if p:
                where = shape, source, target, mem, options, codec
                assert last is None or cost(p)[0] <= last[0], where
                assert last is None or cost(p)[1] <= last[1], where
                better += last is not None and cost(p) != last
                last = cost(p)
            else:
                assert last is None, (shape, source, target, mem, options)
            mem *= pick.uniform(1, 2.5)
    assert better > 5


def test_so_many_chunks_that_tasks_have_hardly_room(tmp_path):
    """What is kept of ten million tasks is more than what they need: there must be fewer."""
    last = None
    for k in range(12):
        mem = round(10_000_000 * 1.04**k)
        p = plan(tmp_path, [11844266139], "f4", [936001], [1119], mem, codec="zstd")
        assert p is not None
        assert last is None or (cost(p)[0] <= last[0] and cost(p)[1] <= last[1])
        last = cost(p)


def test_padding_counts_where_parts_of_chunks_are_read(tmp_path):
    grids = [1708, 34, 37], "f4", [768, 3, 18], [23, 3, 9]
    costs = [cost(plan(tmp_path, *grids, mem, "--max-workers", 8)) for mem in (500_000, 600_000)]
    assert costs[1][0] <= costs[0][0] and costs[1][1] <= costs[0][1]


def store(path, shape, chunks, codec="raw", lengths=None):
    """Only its metadata; `lengths`: of all chunks along each axis."""
    grid = {"name": "regular", "configuration": {"chunk_shape": chunks}}
    if lengths:
        inline = {"kind": "inline", "chunk_shapes": lengths}
        grid = {"name": "rectilinear", "configuration": inline}
    meta = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": "float32",
        "chunk_grid": grid,
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 0.0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    }
    if codec == "zstd":
        meta["codecs"].append({"name": "zstd", "configuration": {"level": 1, "checksum": False}})
    path.mkdir(parents=True)
    (path / "zarr.json").write_text(json.dumps(meta))


def uneven(pick, extent, chunk):
    lengths = []
    while sum(lengths) < extent:
        length = max(1, round(chunk * pick.choice([0.3, 0.7, 1, 1])))
        lengths.append(min(extent - sum(lengths), length))
    return lengths


def computed_plan(where, text, target, mem, workers):
    """Of a copy of what an expression makes of x and y."""
    chunks = ",".join(map(str, target))
    result = run(
        *("eval", f"r = rechunk({text}, ({chunks},))", "--in", f"x={where / 'x.zarr'}"),
        *(("--in", f"y={where / 'y.zarr'}") if "y" in text else ()),
        *("--out", where / "r.zarr", "--plan", "--json", "--max-workers", workers),
        *("--allowed-mem", mem + 64_000_000, "--reserved-mem", 64_000_000),
    )
    if result.code != 0 and ("allow at least" in result.err or "this machine" in result.err):
        return None
    return json.loads(check(result).out)


@pytest.mark.parametrize("lengths", ["equal", "uneven"])
@pytest.mark.parametrize(
    "text",
    [
        *("flip(x)", "x[{cut}:]", "x[::2]", "permute_dims(x, {axes})", "x + 0"),
        *("x * 2 + 1", "x + y", "x[{cut}:] + 1", "x[1:] - x[:-1]", "permute_dims(x, {axes}) + 1"),
        "concat([x[{cut}:], x + 1], axis=0)",
    ],
)
def test_more_memory_is_never_worse_for_what_is_seen_or_computed(tmp_path, text, lengths):
    pick = random.Random(f"{text} {lengths}")
    pairs = 0
    known = [[81431, 34374], [1788, 36], [15, 3278]], [[1461, 65, 30], [7, 1, 1], [30, 4, 4]]
    for i in range(400 if NIGHTLY else 4):
        shape, source, target = known[i] if i < 2 else random_grids(pick, 9)
        other = [min(n, max(1, round(n ** pick.uniform(0, 1)))) for n in shape]
        largest = 4 * max(map(math.prod, (source, target, other)))
        chunks = sum(n // c for n, c in zip(shape, source, strict=True))
        if shape[0] < 3 or largest > 1e8 or (lengths == "uneven" and chunks > 1000):
            continue
        where, codec, axes = tmp_path / f"{i}", pick.choice(["raw", "zstd"]), [*range(len(shape))]
        parts = [uneven(pick, n, c) for n, c in zip(shape, source, strict=True)]
        store(where / "x.zarr", shape, source, codec, parts if lengths == "uneven" else None)
        store(where / "y.zarr", shape, other, codec)
        if "axes" in text:
            pick.shuffle(axes)
            target = [target[a] for a in axes]
        cut = pick.randint(1, min(shape[0] - 1, 2 * source[0]))
        expression = text.format(axes=f"({', '.join(map(str, axes))},)", cut=cut)
        mem, last, workers = 3 * largest + 100_000, None, pick.choice([1, 2, 4])
        for _ in range(7):
            p = computed_plan(where, expression, target, round(mem), workers)
            said = expression, shape, source, other, target, mem, workers, codec
            if p is None:
                assert last is None, said
            else:
                assert last is None or cost(p)[0] <= last[0], said
                assert last is None or cost(p)[1] <= last[1], said
                pairs += last is not None
                last = cost(p)
            mem *= pick.uniform(1, 2)
    assert pairs > 5


@pytest.mark.parametrize("text", ["x[1:, 2:] + 1", "x[1:] - x[:-1]", "x + y"])
@pytest.mark.parametrize("workers", [1, 4, 16])
def test_what_is_computed_has_tasks_for_all_workers(tmp_path, text, workers):
    """A task that is the whole array reads nothing twice, but one worker alone would make it."""
    store(tmp_path / "x.zarr", [20000, 20000], [200, 200])
    store(tmp_path / "y.zarr", [20000, 20000], [160, 280])
    p = computed_plan(tmp_path, text, [200, 200], 10**9, workers)
    size = 4 * 20000**2
    assert p["stages"][-1]["tasks"] >= 4 * workers
    assert p["bytes_read"] <= 1.5 * size * (text.count("x") + text.count("y"))


def test_copies_are_equal(tmp_path):
    pick = random.Random(6)
    passes = set()
    for i in range(cases(30)):
        shape, source, target = random_grids(pick, 5.5)
        if i % 2:  # rows become columns
            shape = [pick.randint(300, 700), pick.randint(300, 700)]
            source, target = [pick.randint(1, 20), shape[1]], [shape[0], pick.randint(1, 20)]
        where = tmp_path / f"{i}"
        x = np.arange(math.prod(shape), dtype="f4").reshape(shape)
        compressors = pick.choice([(), "auto"])
        a = zarr.create_array(
            where / "x.zarr", shape=shape, chunks=source, dtype="f4", compressors=compressors
        )
        a[...] = x
        mem = round(9_500 + 4 * (math.prod(source) + math.prod(target)) * pick.uniform(1.3, 3))
        # Compressing takes memory of libraries.
        mem += 3_000_000 if compressors else 0
        chunks = ",".join(map(str, target))
        common = ("rechunk", where / "x.zarr", where / "y.zarr", "--chunks", chunks)
        raw = ("--codecs", '[{"name": "bytes", "configuration": {"endian": "little"}}]')
        workers = pick.choice([1, 2, 3])
        limits = ("--allowed-mem", mem, "--reserved-mem", 0, "--max-workers", workers)
        p = json.loads(check(run(*common, *raw, *limits, "--plan", "--json")).out)
        passes.add(len(p["stages"]))
        check(run(*common, *raw, *limits, "--work-dir", where))
        np.testing.assert_array_equal(zarr.open_array(where / "y.zarr")[...], x)
    assert {1, 2} <= passes


def many_reads(tmp_path):
    """Columns of what is stored by rows; nothing of it is there, as it is only planned."""
    zarr.create_array(tmp_path / "x.zarr", shape=(20000, 40000), chunks=(1, 40000), dtype="f8")
    return tmp_path / "x.zarr"


def test_reading_very_often_is_a_warning(tmp_path):
    rechunk = ("rechunk", many_reads(tmp_path), tmp_path / "y.zarr", "--chunks=20000,1")
    limits = ("--allowed-mem", "100MB", "--plan")
    p = check(run(*rechunk, *limits, "--no-optimize"))
    assert "warning: stage 0" in p.err
    assert "reads its input" in p.err
    assert "rechunk to chunks between" in p.err
    assert "warning" not in check(run(*rechunk, *limits)).err


def test_what_the_warning_says_to_allow_is_enough(tmp_path):
    """Few columns of what is stored by rows, in memory that hardly holds a chunk of each."""
    pick = random.Random(3)
    followed = 0
    for i in range(cases(60)):
        shape, source, target = random_grids(pick, 9)
        if i % 3:  # long chunks, and short ones
            shape = [pick.randint(10**6, 10**7)]
            source, target = [pick.randint(10**5, 10**6)], [pick.randint(10**3, 10**4)]
        largest = 4 * max(math.prod(source), math.prod(target))
        if largest > 1e8:
            continue
        where = tmp_path / f"{i}"
        zarr.create_array(where / "x.zarr", shape=shape, chunks=source, dtype="f4")
        chunks = ",".join(map(str, target))
        rechunk = ("rechunk", where / "x.zarr", where / "y.zarr", "--chunks", chunks)
        limits = ("--reserved-mem", 0, "--max-workers", pick.choice([1, 2]), "--plan", "--json")
        mem = round(largest * pick.uniform(2, 2.3)) + pick.choice([20_000, 100_000, 1_000_000])
        first = run(*rechunk, *limits, "--allowed-mem", mem)
        found = re.search(r"reads its input .* times.*allow (\d+) bytes", first.err)
        if first.code != 0 or not found:
            continue
        followed += 1
        again = check(run(*rechunk, *limits, "--allowed-mem", found[1]))
        assert "reads its input" not in again.err, (shape, source, target, mem)
        p = json.loads(again.out)
        size = 4 * math.prod(shape)
        assert all(s["bytes_read"] <= 8 * max(size, s["bytes_written"]) for s in p["stages"])
        assert p["projected_mem"] + p["metadata_mem"] <= int(found[1])
    assert followed > 3


def test_the_warning_is_at_the_line_that_computes(tmp_path):
    spec = cubed.Spec(tmp_path, allowed_mem="200MB", reserved_mem="100MB")
    x = cubed.from_zarr(str(many_reads(tmp_path)), spec=spec).rechunk((20000, 1))
    with pytest.warns(RuntimeWarning, match="reads its input") as seen:
        cubed.plan(x, optimize_graph=False)
    assert [w.filename for w in seen] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cubed.plan(x)


@pytest.mark.parametrize("mem", [90, 100, 120, 150])
def test_blocks_are_read_in_parts_where_those_are_runs(mem):
    """What functions on blocks leave is read in parts, but not in many pieces."""
    spec = cubed.Spec(allowed_mem=f"{mem}MB", reserved_mem="50MB")
    x = cubed.random.random((31250, 32000), chunks=(31250, 12), spec=spec)
    x = cubed.array_api.fft.fft(x.astype("complex128"), axis=0).rechunk((12, 32000))
    plan = cubed.plan(cubed.array_api.fft.fft(x, axis=1))
    read = max(s["bytes_read"] for s in plan.stages)
    assert read <= 10 * 16 * 31250 * 32000
