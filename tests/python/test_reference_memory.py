"""Where chunks lie, as references say it, is read when a plan is made, and counted."""

import json

import cubed
import icechunk
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import check, peak_of, run

import zarr

CHUNKS = {"little": 4, "much": 200_000}
META = {
    "zarr_format": 2,
    "chunks": [1],
    "dtype": "|u1",
    "order": "C",
    "fill_value": 0,
    "filters": None,
    "compressor": None,
}


def icechunk_repository(path, file, n):
    config = icechunk.RepositoryConfig.default()
    prefix = f"file://{file.parent}/"
    store = icechunk.local_filesystem_store(str(file.parent))
    config.set_virtual_chunk_container(icechunk.VirtualChunkContainer(prefix, store))
    storage = icechunk.local_filesystem_storage(str(path))
    access = {prefix: None}
    repo = icechunk.Repository.create(storage, config, authorize_virtual_chunk_access=access)
    session = repo.writable_session("main")
    how = {"chunks": (1,), "dtype": "u1", "compressors": None}
    zarr.create_array(session.store, name="x", shape=(n,), **how)
    refs = [icechunk.VirtualChunkSpec([i], f"file://{file}", i % 251, 1) for i in range(n)]
    session.store.set_virtual_refs("x", refs)
    session.commit("virtual")


def parquet_folder(path, file, n):
    size = 20_000
    (path / "x").mkdir(parents=True)
    metadata = {".zgroup": {"zarr_format": 2}, "x/.zarray": META | {"shape": [n]}}
    (path / ".zmetadata").write_text(json.dumps({"metadata": metadata, "record_size": size}))
    for k in range(0, n, size):
        rows = min(n, k + size) - k
        # Each row has a name of its own, which is kept, too.
        names = [str(file) if i % 4 else f"{file}{k + i}" for i in range(rows)]
        columns = {
            "path": pa.array(names),
            "offset": pa.array(np.arange(k, k + rows) % 251),
            "size": pa.array(np.ones(rows, "i8")),
            "raw": pa.array([None] * rows, pa.binary()),
        }
        pq.write_table(pa.table(columns), path / f"x/refs.{k // size}.parq", compression="zstd")


def json_document(path, file, n):
    refs = {".zgroup": '{"zarr_format": 2}', "x/.zarray": json.dumps(META | {"shape": [n]})}
    refs |= {f"x/{i}": [str(file), i % 251, 1] for i in range(n)}
    path.write_text(json.dumps({"version": 1, "refs": refs}))


@pytest.mark.parametrize(
    ("make", "name"),
    [(icechunk_repository, "ice"), (parquet_folder, "refs.parq"), (json_document, "refs.json")],
)
@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_what_says_where_chunks_lie_is_counted(tmp_path, make, name, executor):
    file = tmp_path / "a.bin"
    file.write_bytes(bytes(range(251)))
    for folder, n in CHUNKS.items():
        (tmp_path / folder).mkdir()
        make(tmp_path / folder / name, file, n)

    def args(folder, allowed="400MB"):
        limits = ("--max-workers", 1, "--allowed-mem", allowed, "--reserved-mem", "16MB")
        source = ("--in", f"x={tmp_path / folder / name}::x", "--executor", executor)
        return ("eval", "sum(x[1:4:2])", *source, *limits, "--progress", "none")

    free = 4 << 20  # of reserved_mem, which has room for so much of a plan
    plan = json.loads(check(run(*args("much"), "--plan", "--json")).out)
    most = plan["projected_mem"] + plan["metadata_mem"] + free
    taken = peak_of(*args("much")) - peak_of(*args("little"))
    assert 4 * free < taken <= most
    assert most < 2 * taken
    refused = run(*args("much", 16_000_000 + most - free - 1))
    assert refused.code == 1
    assert "MB of a plan of 1 stages" in refused.err
    x = cubed.from_zarr(tmp_path / "much" / name, "x")
    assert x[1:4:2].compute().tolist() == [1, 3]
