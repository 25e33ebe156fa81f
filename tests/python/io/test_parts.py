"""Parts of uncompressed chunks are read separately, for any order in which they are needed."""

import json
import os

import numpy as np
import pytest
from conftest import check, run

import zarr

RAW = '[{"name": "bytes", "configuration": {"endian": "little"}}]'


@pytest.fixture(scope="module", params=[2, 3])
def store(request, tmp_path_factory):
    """Chunks of 8 x 30 x 100 float64 with edges, one of them missing."""
    path = tmp_path_factory.mktemp("parts") / "x.zarr"
    x = np.random.default_rng(3).normal(size=(19, 75, 100))
    z = zarr.create_array(
        path,
        shape=x.shape,
        chunks=(8, 30, 100),
        dtype="f8",
        fill_value=1.5,
        zarr_format=request.param,
        compressors=None,
    )
    z[...] = x
    (path / ("1.1.0" if request.param == 2 else "c/1/1/0")).unlink()
    x[8:16, 30:60] = 1.5
    return path, x


CASES = {
    "x[3] + 0": lambda x: x[3],
    "x[4:6, ::-1]": lambda x: x[4:6, ::-1],
    "x[-1:2:-8]": lambda x: x[-1:2:-8],
    "x[1::8, 7:71]": lambda x: x[1::8, 7:71],
    "x[:16:8] - x[3::8]": lambda x: x[:16:8] - x[3::8],
    "x[5, :, ::-1] * x[9]": lambda x: x[5, :, ::-1] * x[9],
    "permute_dims(x[2:4], (2, 0, 1)) + 1": lambda x: x[2:4].transpose(2, 0, 1) + 1,
    "sum(x[:, 10:40], axis=0)": lambda x: x[:, 10:40].sum(axis=0),
    "max(x[7:9], axis=1)": lambda x: x[7:9].max(axis=1),
    "sort(x[3], axis=1)": lambda x: np.sort(x[3], axis=1),
    "matmul(abs(x[2:4]), permute_dims(abs(x[7:9]), (0, 2, 1)))": lambda x: (
        np.abs(x[2:4]) @ np.abs(x[7:9]).transpose(0, 2, 1)
    ),
    "stack((x[0::8], x[1::8]), axis=1)": lambda x: np.stack((x[0::8], x[1::8]), axis=1),
}


@pytest.mark.parametrize("expression", CASES)
def test_values(store, expression, tmp_path):
    path, x = store
    out = tmp_path / "out"
    done = check(run("eval", expression, "--in", f"x={path}", "--out", out, "--json"))
    expected = CASES[expression](x)
    np.testing.assert_allclose(zarr.open_array(out, mode="r")[...], expected, rtol=1e-13)
    used = done.run
    assert used["measured_mem"] <= used["projected_mem"]


def test_only_what_is_needed_is_read(store, tmp_path):
    path, x = store
    plan = check(run("eval", "x[3]", "--in", f"x={path}", "--plan", "--json", "--out", tmp_path))
    # What chunks at the end have beyond it is counted.
    chunks = zarr.open_array(path, mode="r").chunks
    padded = [-(-n // c) * c for n, c in zip(x.shape[1:], chunks[1:], strict=True)]
    assert f'"bytes_read": {np.prod(padded) * x.itemsize}' in plan.out


def test_a_chunk_of_the_wrong_size_is_named(tmp_path):
    z = zarr.create_array(
        tmp_path / "x", shape=(8, 5000), chunks=(8, 5000), dtype="f8", compressors=None
    )
    z[...] = 1
    chunk = tmp_path / "x/c/0/0"
    for size in (8 * 5000 * 8 - 1, 8 * 5000, 8 * 5000 * 8 + 1):
        os.truncate(chunk, size)
        done = run("eval", "x[3]", "--in", f"x={tmp_path / 'x'}", "--out", tmp_path / "out")
        assert done.code != 0
        assert "chunk c/0/0" in done.err


@pytest.mark.parametrize("chunk", [200, 70])
def test_workers_share_one_output_chunk(chunk, tmp_path):
    x = np.random.default_rng(4).normal(size=(60, 200, 1000)).astype("f4")
    path = tmp_path / "x"
    z = zarr.create_array(
        path, shape=x.shape, chunks=(5, chunk, 1000), dtype="f4", compressors=None
    )
    z[...] = x
    got = {}
    for workers in (1, 4):
        out = tmp_path / f"out{workers}"
        args = ("m=mean(x, axis=0); v=var(x, axis=0); a=x - max(x, axis=0)", "--in", f"x={path}")
        args += ("--out", out, "--max-workers", workers, "--json")
        plan = check(run("eval", *args, "--plan"))
        tasks = max(s["tasks"] for s in json.loads(plan.out)["stages"])
        assert tasks >= 8 or workers == 1
        done = check(run("eval", *args))
        assert done.run["measured_mem"] <= done.run["projected_mem"]
        got[workers] = {k: zarr.open_array(out / k, mode="r")[...] for k in "mva"}
    for k in "mva":
        np.testing.assert_array_equal(got[1][k], got[4][k])
    np.testing.assert_allclose(got[4]["m"], x.mean(axis=0), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(got[4]["v"], x.var(axis=0), rtol=1e-5)
    np.testing.assert_array_equal(got[4]["a"], x - x.max(axis=0))


def test_blocks_of_blosc_chunks(tmp_path):
    """Long runs of a chunk are decoded without the rest of it."""
    x = np.random.default_rng(5).normal(size=(9, 600, 1000)).round(2)
    path = tmp_path / "x"
    blosc = zarr.codecs.BloscCodec(cname="lz4", clevel=5, shuffle="shuffle")
    z = zarr.create_array(
        path, shape=x.shape, chunks=(4, 600, 1000), dtype="f8", compressors=[blosc]
    )
    z[...] = x
    whole = x[:4].nbytes
    for text, expected in {
        "x[2, 100:] + 0": x[2, 100:],
        "x[6:4:-1]": x[6:4:-1],
        "x[8, ::-1] * 1": x[8, ::-1],
    }.items():
        args = ("eval", text, "--in", f"x={path}", "--out", tmp_path / "out", "--overwrite")
        plan = json.loads(check(run(*args, "--plan", "--json")).out)
        assert plan["bytes_read"] < whole
        done = check(run(*args, "--json")).run
        assert done["measured_mem"] <= done["projected_mem"]
        np.testing.assert_array_equal(
            zarr.open_array(tmp_path / "out", mode="r")[...], expected + 0
        )
    args = ("eval", "var(x, axis=0)", "--in", f"x={path}", "--overwrite", "--json")
    got = []
    for workers in (1, 2):
        out = tmp_path / f"out{workers}"
        done = check(run(*args, "--out", out, "--max-workers", workers)).run
        assert done["tasks"] == (3 if workers == 2 else 1)
        assert done["measured_mem"] <= done["projected_mem"]
        got.append(zarr.open_array(out, mode="r")[...])
    np.testing.assert_array_equal(*got)
    np.testing.assert_allclose(got[0], x.var(axis=0), rtol=1e-12)


@pytest.mark.parametrize("rows", [4, 6])
def test_reductions_of_blosc_blocks(tmp_path, rows):
    """Workers that share chunks decode blocks, which end within vectors and within elements; of
    rows that are gone through together there may be less than fit."""
    rng = np.random.default_rng(7)
    shape, chunks = (7, 601, 1003), (rows, 601, 1003)
    blocks = {
        "u": {"typesize": 3, "blocksize": 99_999},
        "v": {"blocksize": 8192},
        "w": {"shuffle": "bitshuffle", "blocksize": 8192},
    }
    x = {}
    for name, options in blocks.items():
        x[name] = rng.normal(size=shape).round(2)
        z = zarr.create_array(
            tmp_path / name,
            shape=shape,
            chunks=chunks,
            dtype="f8",
            fill_value=0.25,
            compressors=[zarr.codecs.BloscCodec(cname="lz4", clevel=5, **options)],
        )
        z[...] = x[name]
    (tmp_path / "v/c/1/0/0").unlink()
    x["v"][rows:] = 0.25
    inputs = [a for name in blocks for a in ("--in", f"{name}={tmp_path / name}")]
    got = {1: {}, 2: {}}
    for text in (
        "m=mean(u*v, axis=0); k=argmax(w, axis=0)",
        "s=sum(u - w*w, axis=0); a=var(v, axis=0)",
    ):
        for workers in (1, 2):
            out = tmp_path / f"out{workers}"
            args = ("eval", text, *inputs, "--out", out, "--max-workers", workers, "--json")
            done = check(run(*args)).run
            assert (done["tasks"] > 2) == (workers == 2)
            assert done["measured_mem"] <= done["projected_mem"]
            for name in text[0], text.split("; ")[1][0]:
                got[workers][name] = zarr.open_array(out / name, mode="r")[...]
    for name in "mksa":
        np.testing.assert_array_equal(got[1][name], got[2][name])
    np.testing.assert_allclose(got[1]["m"], (x["u"] * x["v"]).mean(0), rtol=1e-11, atol=1e-13)
    np.testing.assert_array_equal(got[1]["k"], x["w"].argmax(0))
    np.testing.assert_allclose(got[1]["s"], (x["u"] - x["w"] ** 2).sum(0), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(got[1]["a"], x["v"].var(0), rtol=1e-11, atol=1e-13)


def test_blocks_that_workers_share_are_decoded_once(tmp_path):
    """Rows end within blocks, and so do the halves that two workers have of each."""
    rng = np.random.default_rng(8)
    blosc = zarr.codecs.BloscCodec(cname="lz4", blocksize=8192)
    x, stored = {}, 0
    for name in "uv":
        x[name] = rng.normal(size=(5, 601, 1003))
        z = zarr.create_array(
            tmp_path / name, data=x[name], chunks=x[name].shape, compressors=[blosc]
        )
        # Each block is read behind the first bytes of the chunk, which tell where it is, and are
        # looked at once more where a run begins or ends.
        blocks, ends, first = -(-x[name].nbytes // (8 * 8192)), 4 * 5, 4096
        stored += z.nbytes_stored() + (blocks + ends) * first
    inputs = [a for name in "uv" for a in ("--in", f"{name}={tmp_path / name}")]
    args = ("eval", "mean(u*v, axis=0)", *inputs, "--out", tmp_path / "out", "--max-workers", 2)
    done = check(run(*args, "--json")).run
    assert done["tasks"] > 2
    assert done["measured_mem"] <= done["projected_mem"]
    assert done["stored_read"] <= stored
    np.testing.assert_allclose(
        zarr.open_array(tmp_path / "out", mode="r")[...],
        (x["u"] * x["v"]).mean(axis=0),
        rtol=1e-11,
        atol=1e-13,
    )


def test_damaged_blosc_chunks_are_named(tmp_path):
    path = tmp_path / "x"
    z = zarr.create_array(
        path,
        shape=(4, 600, 1000),
        chunks=(4, 600, 1000),
        dtype="f8",
        compressors=[zarr.codecs.BloscCodec(cname="lz4")],
    )
    z[...] = np.random.default_rng(6).normal(size=z.shape)
    chunk = path / "c/0/0/0"
    size = chunk.stat().st_size
    for wrong in (size + 1, size - 1, size // 2, 5000, 40, 10, 0):
        os.truncate(chunk, wrong)
        for text in ("x[3]", "sum(x, axis=0)"):
            args = ("eval", text, "--in", f"x={path}", "--out", tmp_path / "out")
            done = run(*args, "--max-workers", 2)
            assert done.code != 0
            assert "chunk c/0/0/0" in done.err
