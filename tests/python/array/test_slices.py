"""Parts of encoded chunks are reduced a few steps at a time, with the results of whole blocks."""

import cubed
import cubed.array_api as xp
import numpy as np
import pytest

import zarr
from zarr.codecs import BloscCodec

SHAPE = (11, 1, 1100, 500)  # half a step, which a task reads, is 2.2 MB of each array


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Two arrays of two chunks, the second one shorter, which compress to nearly nothing."""
    directory = tmp_path_factory.mktemp("slices")
    ramp = np.arange(SHAPE[2] * SHAPE[3], dtype="f8").reshape(SHAPE[1:])
    arrays = []
    for k in range(2):
        x = np.sqrt((ramp[None] + np.arange(SHAPE[0])[:, None, None, None] * (7 + k)) % 1013)
        target = zarr.create_array(
            str(directory / f"{k}.zarr"),
            shape=SHAPE,
            chunks=(10, *SHAPE[1:]),
            dtype="f8",
            compressors=BloscCodec(cname="lz4", clevel=1),
        )
        target[:] = x
        arrays.append(x)
    return directory, arrays


def reductions(inputs, workers, **settings):
    directory, _ = inputs
    settings |= {"executor_options": {"max_workers": workers}}
    spec = cubed.Spec(allowed_mem="500MB", reserved_mem="100MB", **settings)
    x, y = (cubed.from_zarr(str(directory / f"{k}.zarr"), spec=spec) for k in range(2))
    sums = [xp.sum(x * y, axis=0), xp.max(y, axis=0)]
    return sums, [xp.argmax(x - y, axis=0), xp.var(x + y, axis=0)]


def test_tasks_hold_slices(inputs):
    plan = cubed.plan(*reductions(inputs, 2)[0])
    stage = next(s for s in plan.stages if s["bytes_read"] > 70e6)
    parts = 2 * 10 * 2_200_000
    assert stage["num_tasks"] == 2
    # Neither a decoded nor an encoded chunk of both arrays is whole in a task.
    assert 2 * 2_200_000 < stage["projected_mem"] < parts


def test_results_are_those_of_whole_blocks(inputs):
    _, (u, v) = inputs
    sums, more = reductions(inputs, 2)
    got = cubed.compute(*sums, *more)
    sums, more = reductions(inputs, 1)
    for a, b in zip(got, cubed.compute(*sums, *more), strict=True):
        np.testing.assert_array_equal(a, b)
    expected = [
        np.sum(u * v, axis=0),
        np.max(v, axis=0),
        np.argmax(u - v, axis=0),
        np.var(u + v, axis=0),
    ]
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize("executor", ["threads", "processes"])
@pytest.mark.parametrize("codec", [[], [{"name": "zstd", "configuration": {"level": 1}}]])
def test_stored_results_are_those_of_whole_blocks(inputs, tmp_path, executor, codec):
    """One chunk of each result, which tasks make in pieces that lie one behind another."""
    chain = [{"name": "bytes", "configuration": {"endian": "little"}}, *codec]
    settings = {"zarr_compressor": chain, "work_dir": str(tmp_path)}
    stored = []
    for workers in (2, 1):
        sums = reductions(inputs, workers, **settings)[0]
        targets = [str(tmp_path / f"{workers}-{k}.zarr") for k in range(2)]
        cubed.store(sums, targets, executor=executor)
        stored.append([zarr.open_array(t, mode="r") for t in targets])
    for a, b in zip(*stored, strict=True):
        assert a.shape == a.chunks == SHAPE[1:]
        assert a[...].any()
        np.testing.assert_array_equal(a[...], b[...])
