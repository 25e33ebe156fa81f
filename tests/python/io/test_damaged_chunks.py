"""A resumed run recomputes chunks that a power failure truncated, and keeps complete chunks."""

import json
import pathlib

import cubed
import numpy as np
import pytest
from conftest import cases, check, run

import zarr

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}


def v3(*names_and_configurations):
    rest = names_and_configurations
    codecs = [{"name": n, "configuration": c} if c else {"name": n} for n, c in rest]
    return ["--format", 3, "--codecs", json.dumps([BYTES, *codecs])]


def v2(*codecs):
    return ["--format", 2, "--codecs", json.dumps(codecs[0] if len(codecs) == 1 else list(codecs))]


BLOSC = {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0, "typesize": 8}
SHUFFLE = {"id": "shuffle", "elementsize": 8}
STORED = {
    "raw": v3(),
    "zstd": v3(("zstd", {"level": 1})),
    "zstd with a checksum": v3(("zstd", {"level": 3, "checksum": True})),
    "blosc": v3(("blosc", BLOSC)),
    "gzip": v3(("gzip", {"level": 1})),
    "crc32c": v3(("crc32c", None)),
    "zstd, crc32c": v3(("zstd", {"level": 1}), ("crc32c", None)),
    "blosc, zstd": v3(("blosc", BLOSC), ("zstd", {"level": 1})),
    "lz4": v3(("numcodecs.lz4", {"acceleration": 1})),
    "bz2": v3(("numcodecs.bz2", {"level": 1})),
    "raw, v2": v2(None),
    "zstd, v2": v2({"id": "zstd", "level": 1}),
    "blosc, v2": v2({"id": "blosc", **BLOSC, "shuffle": 1}),
    "gzip, v2": v2({"id": "gzip", "level": 1}),
    "shuffle, zlib, v2": v2(SHUFFLE, {"id": "zlib", "level": 1}),
    "shuffle, v2": v2(SHUFFLE, None),
    "lz4, v2": v2({"id": "lz4", "acceleration": 1}),
    "bz2, v2": v2({"id": "bz2", "level": 1}),
    "shards": [*v3(("zstd", {"level": 1})), "--shards", "2,32"],
    "shards of raw chunks": [*v3(), "--shards", "2,32"],
}
# Chunks that nobody can tell from others of the same length.
SAYS_NOTHING = {"raw", "raw, v2", "shuffle, v2", "shards of raw chunks"}


class Unfinished:
    """All chunks of an array, as a run has left them that was about to write the metadata."""

    def __init__(self, folder, options):
        self.x = np.random.default_rng(5).integers(0, 99, (6, 32)).astype("f8") / 8
        zarr.create_array(folder / "x", shape=(6, 32), chunks=(6, 32), dtype="f8")[...] = self.x
        self.out = folder / "out"
        self.args = ["rechunk", folder / "x", self.out, "--chunks", "1,16", *options]
        self.args += ["--work-dir", folder / "work", "--progress", "none", "--resume"]
        self.args += ["--executor", "single-threaded"]
        self.resume()
        done = json.loads((self.out / ".cubed-run").read_text())
        self.mark = json.dumps(done | {"state": "left", "made": 0}).encode()
        self.chunks = {p: p.read_bytes() for p in self.files()}
        assert len(self.chunks) == (3 if "--shards" in options else 12)

    def files(self):
        return sorted(p for p in self.out.rglob("*") if p.is_file() and p.name[0] in "0123456789")

    def damage(self, changed):
        for name in ("zarr.json", ".zarray", ".zattrs"):
            (self.out / name).unlink(missing_ok=True)
        (self.out / ".cubed-run").write_bytes(self.mark)
        for path, content in (self.chunks | changed).items():
            path.write_bytes(content)

    def resume(self):
        check(run(*self.args))
        np.testing.assert_array_equal(zarr.open_array(self.out, mode="r")[...], self.x)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("stored", STORED)
def test_chunks_that_are_cut(tmp_path, stored):
    import numcodecs.zarr3  # noqa: F401 (registers the names of format 3)

    job = Unfinished(tmp_path, STORED[stored])
    paths = list(job.chunks)
    job.damage({})
    times = [p.stat().st_mtime_ns for p in paths]
    job.resume()
    assert [p.stat().st_mtime_ns for p in paths] == times

    longest = max(map(len, job.chunks.values()))
    ends = [longest - k for k in (1, 2, 3, 4, 5, 8, 16, 20)]
    lengths = sorted({0, 1, 2, 3, 4, 12, 16, 17, *ends, *range(0, longest, 29)})
    if cases(1) > 1:
        lengths = list(range(longest))
    while lengths:
        changed = {}
        for path in paths[:-1]:
            length = lengths.pop() if lengths else 0
            changed[path] = job.chunks[path][: min(length, len(job.chunks[path]) - 1)]
        job.damage(changed)
        job.resume()
        for path, content in job.chunks.items():
            assert path.read_bytes() == content


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("stored", sorted(STORED.keys() - SAYS_NOTHING))
def test_chunks_of_zeros(tmp_path, stored):
    """As some file systems leave them; and whole ones with more behind them."""
    job = Unfinished(tmp_path, STORED[stored])
    whole = job.chunks
    for changed in (
        {p: bytes(len(b)) for p, b in whole.items()},
        {p: b + b"\0" for p, b in whole.items()},
    ):
        job.damage(changed)
        job.resume()


def test_intermediates_that_are_cut(tmp_path):
    """Also those that are empty; of these no codec says anything."""
    gate = tmp_path / "gate"

    def fail(block):
        if not gate.exists():
            raise OSError(5, "not yet")
        return block

    spec = cubed.Spec(tmp_path / "work", allowed_mem="300MB", reserved_mem="200MB")
    a = np.random.default_rng(1).random((40, 30))

    def lazy():
        x = cubed.map_blocks(np.negative, cubed.from_array(a, chunks=(10, 30), spec=spec))
        return cubed.map_blocks(fail, x.rechunk((40, 10)), dtype="f8")

    options = {"executor": "processes", "max_workers": 1}
    for length in (0, 1, 799, 10**6):
        gate.unlink(missing_ok=True)
        with pytest.raises(OSError, match="not yet"):
            cubed.to_zarr(lazy(), tmp_path / f"y{length}", resume=True, retries=0, **options)
        kept = [p for p in pathlib.Path(tmp_path / "work").rglob("*") if p.name.isdigit()]
        kept = [p for p in kept if p.is_file()]
        assert kept
        for path in kept:
            path.write_bytes((path.read_bytes() + bytes(10**6))[:length])
        gate.touch()
        cubed.to_zarr(lazy(), tmp_path / f"y{length}", resume=True, **options)
        np.testing.assert_array_equal(zarr.open_array(tmp_path / f"y{length}", mode="r")[...], -a)
