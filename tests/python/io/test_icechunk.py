"""Repositories of Icechunk are read like other stores, by branch, tag and snapshot."""

import shutil
import struct
from datetime import UTC, datetime

import cubed
import h5py
import icechunk
import numpy as np
import pytest
from conftest import cases, check, run
from cubed.icechunk import IcechunkStoreCallback, store_icechunk
from s3_server import Object, Server

import zarr


def make(path, **options):
    repo = icechunk.Repository.create(icechunk.local_filesystem_storage(str(path)), **options)
    session = repo.writable_session("main")
    rng = np.random.default_rng(5)
    root = zarr.create_group(session.store, attributes={"title": "a test"})
    arrays = {
        "x": rng.normal(size=(20, 30)).astype("f4"),
        "g/y": np.arange(7, dtype="i4"),
        "g-1": np.arange(3.0),
        "g/h/one": np.array(5, "i8"),
        "large": rng.integers(0, 255, (300, 700), dtype="u1"),
        "empty": np.zeros((0, 4)),
    }
    for name, x in arrays.items():
        chunks = tuple(max(1, n // 3) for n in x.shape)
        z = root.create_array(name, shape=x.shape, chunks=chunks or (), dtype=x.dtype)
        z[...] = x
    part = root.create_array("part", shape=(9, 9), chunks=(2, 2), dtype="i2", fill_value=7)
    part[3:5, 2:6] = arrays["part"] = np.full((9, 9), 7, "i2")[3:5, 2:6] * 3
    whole = np.full((9, 9), 7, "i2")
    whole[3:5, 2:6] = arrays["part"]
    arrays["part"] = whole
    first = session.commit("first")
    repo.create_tag("v1", first)
    repo.create_branch("other", first)
    session = repo.writable_session("main")
    zarr.open_group(session.store)["x"][:5] = 0
    session.commit("second")
    return repo, arrays, first


def test_branches_tags_and_snapshots(tmp_path):
    path = tmp_path / "ice"
    repo, arrays, first = make(path)
    for ref in ("tag.v1", "branch.other", f"snapshot.{first}"):
        for name, x in arrays.items():
            got = cubed.from_zarr(f"{path}@{ref}", path=name).compute()
            np.testing.assert_array_equal(got, x, err_msg=f"{ref} {name}")
    now = arrays["x"].copy()
    now[:5] = 0
    np.testing.assert_array_equal(cubed.from_zarr(path, "x").compute(), now)
    np.testing.assert_array_equal(
        cubed.from_zarr(f"{path}@branch.main", "x")[3:9:2].compute(), now[3:9:2]
    )
    info = check(run("info", f"{path}@tag.v1"))
    assert "g/h/one" in info.out
    assert "12/25" not in info.out
    one = run("eval", "mean(x, axis=0)", path, "--json", "--executor", "processes")
    assert one.code == 0, one.err
    check(run("copy", path, tmp_path / "b.zarr"))
    np.testing.assert_array_equal(zarr.open_group(tmp_path / "b.zarr")["x"][...], now)
    repo.delete_tag("v1")
    for ref in ("tag.v1", "branch.none", "snapshot.00000000000000000000", "snapshot.../x"):
        got = run("info", f"{path}@{ref}")
        assert got.code == 1
        assert ref.split(".")[0] in got.err
    got = run("eval", "ones((3,))", "--out", f"{path}::new")
    assert got.code != 0
    assert "can only be read" in got.err


def test_sessions_are_read_by_their_library_and_that_is_said(tmp_path):
    repo, arrays, first = make(tmp_path / "ice")
    session = repo.readonly_session(snapshot_id=first)
    with pytest.warns(UserWarning, match=f"slower.*PATH@snapshot.{first}"):
        x = cubed.from_zarr(session.store, "x")
    np.testing.assert_array_equal(x.compute(), arrays["x"])


def test_chunks_that_lie_in_other_files(tmp_path):
    x = np.arange(60, dtype="<f4").reshape(6, 10)
    with h5py.File(tmp_path / "a.h5", "w") as f:
        d = f.create_dataset("x", data=x, chunks=(2, 5))
        at = {d.id.get_chunk_info(i).chunk_offset: d.id.get_chunk_info(i) for i in range(6)}
    config = icechunk.RepositoryConfig.default()
    prefix = f"file://{tmp_path}/"
    store = icechunk.local_filesystem_store(str(tmp_path))
    config.set_virtual_chunk_container(icechunk.VirtualChunkContainer(prefix, store))
    repo = icechunk.Repository.create(
        icechunk.local_filesystem_storage(str(tmp_path / "ice")),
        config,
        authorize_virtual_chunk_access={prefix: None},
    )
    session = repo.writable_session("main")
    zarr.create_array(
        session.store, name="x", shape=(6, 10), chunks=(2, 5), dtype="f4", compressors=None
    )
    for offset, c in at.items():
        key = f"x/c/{offset[0] // 2}/{offset[1] // 5}"
        where = f"{prefix}a.h5"
        session.store.set_virtual_ref(key, where, offset=c.byte_offset, length=c.size)
    session.commit("virtual")
    np.testing.assert_array_equal(zarr.open_array(session.store, path="x")[...], x)
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "ice", "x").compute(), x)
    (tmp_path / "a.h5").unlink()
    with pytest.raises((OSError, ValueError), match=r"a\.h5"):
        cubed.from_zarr(tmp_path / "ice", "x").compute()


@pytest.mark.parametrize("where", ["file", "s3"])
def test_files_that_were_written_anew_since_they_were_referred_to(tmp_path, monkeypatch, where):
    """References say by tag or time which version of a file they are of."""
    x = np.arange(20, dtype="<f4")
    data = x.tobytes()
    (tmp_path / "a.bin").write_bytes(data)
    now = int((tmp_path / "a.bin").stat().st_mtime)
    with Server() as s:
        for name, value in s.variables.items():
            monkeypatch.setenv(name, value)
        s.objects["a.bin"] = Object(data, {}, modified=now)
        place = f"file://{tmp_path}/a.bin" if where == "file" else "s3://b/a.bin"
        times = {n: datetime.fromtimestamp(now + n, UTC) for n in (-1, 0, 9)}
        good, bad = [None, times[0], times[9]], [times[-1]]
        if where == "s3":
            tag = s.objects["a.bin"].etag
            good += [tag, tag.strip('"')]
            bad += ['"0"', tag[:-2] + '"', "x"]
        for i, checksum in enumerate(good + bad):
            storage = icechunk.local_filesystem_storage(str(tmp_path / f"ice{i}"))
            session = icechunk.Repository.create(storage).writable_session("main")
            zarr.create_array(
                session.store, name="x", shape=20, chunks=20, dtype="f4", compressors=None
            )
            options = {"offset": 0, "length": 80, "checksum": checksum}
            session.store.set_virtual_ref("x/c/0", place, **options, validate_container=False)
            session.commit("virtual")
            y = cubed.from_zarr(tmp_path / f"ice{i}", "x")
            if checksum in good:
                np.testing.assert_array_equal(y.compute(), x)
            else:
                with pytest.raises((OSError, ValueError), match="since the reference was made"):
                    y.compute()


def flat(root):
    """The bytes of nested tables (tuples), lists of them, texts (bytes), ids and numbers."""
    out = bytearray(4)

    def put(x):
        while len(out) % 4:
            out.append(0)
        if isinstance(x, bytes):
            at = len(out)
            out.extend(struct.pack("<I", len(x)) + x)
            return at
        if isinstance(x, list):
            at = len(out)
            out.extend(struct.pack("<I", len(x)) + bytes(4 * len(x)))
            for i, item in enumerate(x):
                where = at + 4 + 4 * i
                struct.pack_into("<I", out, where, put(item) - where)
            return at
        sizes = [0 if v is None else 12 if isinstance(v, bytearray) else 4 for v in x]
        vtable = len(out)
        offsets = [4 + sum(sizes[:i]) if n else 0 for i, n in enumerate(sizes)]
        out.extend(struct.pack(f"<{2 + len(x)}H", 4 + 2 * len(x), 4 + sum(sizes), *offsets))
        while len(out) % 4:
            out.append(0)
        at = len(out)
        out.extend(struct.pack("<i", at - vtable) + bytes(sum(sizes)))
        for v, offset in zip(x, offsets, strict=True):
            if isinstance(v, int):
                struct.pack_into("<I", out, at + offset, v)
            elif isinstance(v, bytearray):
                out[at + offset : at + offset + 12] = v
            elif v is not None:
                struct.pack_into("<I", out, at + offset, put(v) - at - offset)
        return at

    struct.pack_into("<I", out, 0, put(root))
    return bytes(out)


def decoded(text):
    """An id as Crockford's base 32 has it."""
    bits = "".join(f"{'0123456789ABCDEFGHJKMNPQRSTVWXYZ'.index(c):05b}" for c in text)
    return bytearray(int(bits[i : i + 8], 2) for i in range(0, 96, 8))


def test_version_2_has_its_refs_in_one_object(tmp_path):
    path = tmp_path / "ice"
    repo, arrays, first = make(path)
    main = repo.lookup_branch("main")
    snapshots = [(decoded(first),), (decoded(main),)]
    root = (None, [(b"v1", 0)], [(b"main", 1), (b"old", 0)], [], snapshots)
    header = "ICE🧊CHUNK".encode() + b"test".ljust(24) + bytes([2, 6, 0])
    (path / "repo").write_bytes(header + flat(root))
    shutil.rmtree(path / "refs")
    for ref in ("@tag.v1", "@branch.old"):
        np.testing.assert_array_equal(cubed.from_zarr(f"{path}{ref}", "x").compute(), arrays["x"])
    assert (cubed.from_zarr(path, "x")[:5].compute() == 0).all()
    assert run("info", f"{path}@tag.v2").code == 1
    (path / "repo").write_bytes(header[:36] + bytes([3, 6, 0]) + flat(root))
    assert "version 3" in run("info", path).err


def test_a_branch_that_moves_is_noticed(tmp_path):
    """Who runs a saved plan reads what it was made of, or nothing."""
    path = tmp_path / "ice"
    repo, _, _ = make(path)
    out = tmp_path / "r.zarr"
    plan = tmp_path / "plan"
    check(run("eval", "x+1", path, "--out", out, "--save-plan", plan, "--work-dir", tmp_path))
    session = repo.writable_session("main")
    zarr.open_group(session.store)["x"][:5] = 9
    session.commit("third")
    got = run("run", plan)
    assert got.code == 0 or "changed" in got.err
    if got.code == 0:
        assert (zarr.open_array(out / "x")[:5] == 1).all()


def test_a_branch_that_was_opened_twice_is_two_arrays_when_it_moved(tmp_path):
    path = tmp_path / "ice"
    repo, arrays, _ = make(path)
    before = cubed.from_zarr(path, "large")
    session = repo.writable_session("main")
    zarr.open_group(session.store)["large"][:5] = 9
    session.commit("third")
    after = cubed.from_zarr(path, "large")
    values = arrays["large"].copy()
    values[:5] = 9
    got = (before.astype("i4") * 256 + after).compute()
    np.testing.assert_array_equal(got, arrays["large"].astype("i4") * 256 + values)


def test_damaged_objects(tmp_path):
    path = tmp_path / "ice"
    _, arrays, first = make(path)
    rng = np.random.default_rng(7)
    objects = [path / "snapshots" / first, *(path / "manifests").iterdir()]
    failed = 0
    for _ in range(cases(150)):
        victim = objects[int(rng.integers(len(objects)))]
        data = victim.read_bytes()
        out = bytearray(data[: int(rng.integers(1, len(data)))] if rng.random() < 0.2 else data)
        for at in rng.integers(0, len(out), int(rng.integers(1, 6))):
            out[at] = rng.integers(256)
        victim.write_bytes(out)
        try:
            for name in ("x", "g/y"):
                cubed.from_zarr(f"{path}@snapshot.{first}", name).compute()
        except (OSError, ValueError, NotImplementedError, MemoryError):
            failed += 1
        victim.write_bytes(data)
    assert failed > 20
    np.testing.assert_array_equal(
        cubed.from_zarr(f"{path}@snapshot.{first}", "x").compute(), arrays["x"]
    )


def writable(tmp_path):
    repo = icechunk.Repository.create(icechunk.local_filesystem_storage(str(tmp_path / "w")))
    session = repo.writable_session("main")
    root = zarr.create_group(session.store)
    for name in ("p", "q"):
        root.create_array(name, shape=(6, 10), chunks=(4, 4), dtype="f8")
    session.commit("empty")
    return repo


def test_results_are_committed_once(tmp_path):
    repo = writable(tmp_path)
    x = np.arange(60.0).reshape(6, 10)
    a = cubed.from_array(x, chunks=(3, 5))
    session = repo.writable_session("main")
    targets = [zarr.open_array(session.store, path=name) for name in ("p", "q")]
    done = store_icechunk(session, sources=[a + 1, a * 2], targets=targets)
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "w", "p").compute(), 0 * x)
    done.commit("results")
    assert [s.message for s in repo.ancestry(branch="main")][:2] == ["results", "empty"]
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "w", "p").compute(), x + 1)
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "w", "q").compute(), x * 2)
    session = repo.writable_session("main")
    fork = session.fork()
    target = zarr.open_array(fork.store, path="p")
    region = (slice(2, 5), slice(1, 9))
    merged = store_icechunk(sources=a[:3, :8], targets=target, regions=region)
    session.merge(merged)
    session.commit("a region")
    want = x + 1
    want[region] = x[:3, :8]
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "w", "p").compute(), want)


def test_callbacks_of_sessions(tmp_path):
    """Options of the run reach it, and the callback has the session after a run that succeeded."""

    class Ends(cubed.Callback):
        found = 0

        def on_compute_end(self, event):
            self.found += 1

    repo, ends = writable(tmp_path), Ends()
    x = cubed.from_array(np.arange(60.0).reshape(6, 10), chunks=(3, 5))
    session = repo.writable_session("main")
    p = zarr.open_array(session.store, path="p")
    stored = IcechunkStoreCallback([p])
    assert stored.merged_sessions is None
    cubed.store(x, p, executor="threads", callbacks=[stored])
    assert stored.merged_sessions is stored.sessions[0]
    stored.merged_sessions.commit("by the callback")
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "w", "p").compute(), x.compute())
    session = repo.writable_session("main")
    p = zarr.open_array(session.store, path="p")
    options = {"executor": "threads", "callbacks": [ends], "max_workers": 1}
    done = store_icechunk(sources=x + 1, targets=p, optimize_graph=False, **options)
    assert ends.found == 1
    done.commit("with options")
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "w", "p").compute(), x.compute() + 1)

    def fails(block):
        raise KeyError("lost")

    stored = IcechunkStoreCallback([zarr.open_array(repo.writable_session("main").store, path="p")])
    broken = cubed.map_blocks(fails, x, dtype=float)
    with pytest.raises(KeyError):
        cubed.store(broken, p, executor="threads", callbacks=[stored])
    assert stored.merged_sessions is None
    with pytest.raises(TypeError, match="Icechunk session"):
        IcechunkStoreCallback([np.ones(3)])


def test_what_cannot_be_committed_is_refused(tmp_path):
    repo = writable(tmp_path)
    a = cubed.from_array(np.ones((6, 10)), chunks=(3, 5))
    one, other = (repo.writable_session("main") for _ in range(2))
    p = zarr.open_array(one.store, path="p")
    q = zarr.open_array(other.store, path="q")
    with pytest.raises(ValueError, match="several sessions"):
        store_icechunk(sources=[a, a], targets=[p, q])
    with pytest.raises(TypeError, match="Icechunk"):
        store_icechunk(sources=a, targets=np.zeros((6, 10)))
    with pytest.raises(NotImplementedError, match="other processes"):
        store_icechunk(sources=a, targets=p, executor="processes")
    read = zarr.open_array(repo.readonly_session("main").store, path="p", mode="r")
    with pytest.raises(ValueError, match="read-only"):
        store_icechunk(sources=a, targets=read)
    assert next(iter(repo.ancestry(branch="main"))).message == "empty"
