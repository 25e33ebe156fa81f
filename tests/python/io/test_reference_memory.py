"""Tables of references to chunks are read once, when a plan is made, and are counted."""

import json
from collections import Counter

import cubed
import icechunk
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import NIGHTLY, check, peak_of, run
from s3_server import Object, Server

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


def icechunk_repository(path, file, n, split=None):
    config = icechunk.RepositoryConfig.default()
    if split:
        everywhere = {icechunk.ManifestSplitDimCondition.Any(): split}
        sizes = {icechunk.ManifestSplitCondition.AnyArray(): everywhere}
        splitting = icechunk.ManifestSplittingConfig.from_dict(sizes)
        config.manifest = icechunk.ManifestConfig(splitting=splitting)
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


MAKERS = {"ice": icechunk_repository, "refs.parq": parquet_folder, "refs.json": json_document}


@pytest.mark.parametrize(
    ("name", "executor"),
    # How a plan is given to a process does not depend on where it has been read from.
    [*((name, "threads") for name in MAKERS), ("ice", "processes")]
    + ([("refs.parq", "processes"), ("refs.json", "processes")] if NIGHTLY else []),
)
def test_what_says_where_chunks_lie_is_counted(tmp_path, name, executor):
    file = tmp_path / "a.bin"
    file.write_bytes(bytes(range(251)))
    for folder, n in CHUNKS.items():
        (tmp_path / folder).mkdir()
        MAKERS[name](tmp_path / folder / name, file, n)

    def args(folder, allowed="400MB"):
        limits = ("--max-workers", 1, "--allowed-mem", allowed, "--reserved-mem", "16MB")
        source = ("--in", f"x={tmp_path / folder / name}::x", "--executor", executor)
        return ("eval", "x[1] + x[-1]", *source, *limits, "--progress", "none")

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


@pytest.fixture
def far(monkeypatch):
    with Server() as server:
        for name, value in server.variables.items():
            monkeypatch.setenv(name, value)
        yield server


def put_all(server, folder):
    for file in folder.rglob("*"):
        if file.is_file():
            server.objects[str(file.relative_to(folder.parent))] = Object(file.read_bytes(), {})


def read(server, kind):
    """How often each such object was read since this was asked last."""
    found = Counter(r.key for r in server.requests if r.op == "get" and kind in r.key)
    server.requests.clear()
    return found


def plan_of(expression, source, **more):
    limits = {"allowed-mem": "400MB", "reserved-mem": "16MB", "max-workers": 1} | more
    limits["allow-references"] = "/"  # chunks are in files of this machine
    args = [x for name, value in limits.items() for x in (f"--{name}", value)]
    return run("eval", expression, "--in", f"x={source}::x", *args, "--plan", "--json")


def test_records_are_read_once_and_those_that_a_plan_reads(tmp_path, far):
    file = tmp_path / "a.bin"
    file.write_bytes(bytes(range(251)))
    parquet_folder(tmp_path / "refs.parq", file, 200_000)
    put_all(far, tmp_path / "refs.parq")
    source = f"{far.url}/refs.parq"
    few = json.loads(check(plan_of("sum(x[1:4:2])", source)).out)
    assert read(far, ".parq/x/") == {"refs.parq/x/refs.0.parq": 1}
    check(plan_of("x[59990:60010] * 2 + x[79999]", source))
    assert set(read(far, ".parq/x/")) == {f"refs.parq/x/refs.{k}.parq" for k in (2, 3)}
    every = {f"refs.parq/x/refs.{k}.parq": 1 for k in range(10)}
    plan = json.loads(check(plan_of("x[1] + x[-1]", source)).out)
    assert read(far, ".parq/x/") == every
    assert few["metadata_mem"] < plan["metadata_mem"] / 4
    # Plans are made for one limit after another until it is known what would do.
    refused = plan_of("x[1] + x[-1]", source, **{"allowed-mem": "17MB"})
    assert refused.code == 1
    assert "allow at least" in refused.err
    assert read(far, ".parq/x/") == every


def test_records_of_a_box_of_chunks(tmp_path, far):
    shape, size = [30, 40, 3], 100
    (tmp_path / "refs.parq/x").mkdir(parents=True)
    metadata = META | {"shape": shape, "chunks": [1, 1, 1]}
    document = {"metadata": {".zgroup": {"zarr_format": 2}, "x/.zarray": metadata}}
    (tmp_path / "refs.parq/.zmetadata").write_text(json.dumps(document | {"record_size": size}))
    for k in range(36):
        rows = {"path": pa.array([str(tmp_path / "a.bin")] * size)}
        numbers = {"offset": pa.array(np.arange(size)), "size": pa.array(np.ones(size, "i8"))}
        pq.write_table(
            pa.table(rows | numbers), tmp_path / f"refs.parq/x/refs.{k}.parq", compression="zstd"
        )
    (tmp_path / "a.bin").write_bytes(bytes(range(251)))
    put_all(far, tmp_path / "refs.parq")
    values = np.tile(np.arange(size, dtype="u1"), 36).reshape(shape)
    chunks = np.arange(values.size).reshape(shape)
    for box in (np.s_[3:5, 7:9, 1:2], np.s_[10:12], np.s_[:, 39, :], np.s_[5:6, 3:30, 0:3], ...):
        options = {"allow_references": [tmp_path]}
        x = cubed.from_zarr(f"{far.url}/refs.parq", "x", storage_options=options)
        assert np.array_equal(x[box].compute(), values[box])
        wanted = {f"refs.parq/x/refs.{k}.parq" for k in np.unique(chunks[box] // size)}
        assert set(read(far, "refs.parq/x/")) == wanted


def test_manifests_are_read_once_and_those_that_a_plan_reads(tmp_path, far):
    file = tmp_path / "a.bin"
    file.write_bytes(bytes(range(251)))
    icechunk_repository(tmp_path / "ice", file, 200, split=20)
    put_all(far, tmp_path / "ice")
    source = f"{far.url}/ice@branch.main"
    check(plan_of("sum(x[45:55])", source))
    assert list(read(far, "manifests/").values()) == [1]
    check(plan_of("x[39] + x[41]", source))
    assert list(read(far, "manifests/").values()) == [1, 1]
    check(plan_of("sum(x)", source))
    assert list(read(far, "manifests/").values()) == [1] * 10
