"""Updates of results with sources in Icechunk recompute chunks that differ between snapshots."""

import random

import cubed
import cubed.array_api as xp
import icechunk
import numpy as np
import pytest
from conftest import cases, check, run
from s3_server import Object, Server
from test_update import SPEC, check_like_whole_run, quiet_update, random_plan, update

import zarr


def create(path, inline=0):
    config = icechunk.RepositoryConfig.default()
    config.inline_chunk_threshold_bytes = inline
    return icechunk.Repository.create(icechunk.local_filesystem_storage(str(path)), config)


def commit(repo, change):
    """Commits what `change` does to the root group; returns the ID of the snapshot."""
    session = repo.writable_session("main")
    change(zarr.open_group(session.store))
    return session.commit("a change") if session.has_uncommitted_changes else session.snapshot_id


def fill(root, name="x", shape=(20, 6), chunks=(5, 3), seed=0, **options):
    z = root.create_array(name, shape=shape, chunks=chunks, dtype="f8", **options)
    z[...] = np.random.default_rng(seed).standard_normal(shape)


@pytest.fixture
def repo(tmp_path):
    made = create(tmp_path / "ice")
    commit(made, fill)
    return made


def opened(tmp_path, name="x", ref=""):
    return cubed.from_zarr(f"{tmp_path / 'ice'}{ref}", name, spec=SPEC)


def doubled(tmp_path):
    return opened(tmp_path) * 2


def assign(root, at=(7, 1), value=5.0):
    root["x"][at] = value


def stored_bytes(out):
    """An update reads the chunks of the result before the run, and those that it wrote after it."""
    return sum(p.stat().st_size for p in out.glob("c/**/*") if p.is_file())


def test_only_chunks_of_a_new_snapshot_that_differ_run(tmp_path, repo):
    out = tmp_path / "out"
    found, ran, skipped = update(doubled(tmp_path), out)
    assert (found["in_place"], found["why"], ran, skipped) == (False, "", 8, 0)
    commit(repo, assign)
    before = stored_bytes(out)
    found, ran, skipped = update(doubled(tmp_path), out)
    assert (found["in_place"], found["num_changed"], ran, skipped) == (True, 1, 1, 7)
    written = (out / "c" / "1" / "0").stat().st_size
    assert (found["num_checked"], found["bytes_read"]) == (8, before + written)
    check_like_whole_run(doubled(tmp_path), out, tmp_path / "whole")
    commit(repo, lambda root: fill(root, "other"))
    found, ran, skipped = update(doubled(tmp_path), out)
    assert (found["in_place"], found["num_changed"], ran, skipped) == (True, 0, 0, 8)
    assert found["bytes_read"] == stored_bytes(out)


def test_a_chunk_that_is_committed_again_has_changed(tmp_path, repo):
    """Each write gives a chunk another ID, also with the same values."""
    update(doubled(tmp_path), tmp_path / "out")
    same = opened(tmp_path)[7, 1].compute()
    commit(repo, lambda root: assign(root, value=same))
    assert update(doubled(tmp_path), tmp_path / "out")[1:] == (1, 7)


def test_chunks_in_manifests(tmp_path):
    """Chunks of at most 512 bytes are stored in the manifest, where their bytes are compared."""
    repo, out = create(tmp_path / "ice", inline=512), tmp_path / "out"
    commit(repo, lambda root: fill(root, compressors=None))
    assert not list((tmp_path / "ice").glob("chunks/*"))
    update(doubled(tmp_path), out)
    commit(repo, lambda root: assign(root, value=opened(tmp_path)[7, 1].compute()))
    assert update(doubled(tmp_path), out)[1:] == (0, 8)
    commit(repo, assign)
    assert update(doubled(tmp_path), out)[1:] == (1, 7)
    check_like_whole_run(doubled(tmp_path), out, tmp_path / "whole")


def test_a_branch_that_returns_to_an_earlier_snapshot(tmp_path, repo):
    out = tmp_path / "out"
    first = repo.lookup_branch("main")
    commit(repo, assign)
    update(doubled(tmp_path), out)
    repo.reset_branch("main", first)
    found, ran, skipped = update(doubled(tmp_path), out)
    assert (found["in_place"], ran, skipped) == (True, 1, 7)
    check_like_whole_run(doubled(tmp_path), out, tmp_path / "whole")


def test_the_name_of_the_snapshot_does_not_matter(tmp_path, repo):
    out = tmp_path / "out"
    update(doubled(tmp_path), out)
    last = commit(repo, assign)
    repo.create_tag("v2", last)
    for ref in (f"@snapshot.{last}", "@tag.v2", "@branch.main", ""):
        found, ran, _ = update(opened(tmp_path, ref=ref) * 2, out)
        assert (found["in_place"], ran) == (True, 1 if "snapshot" in ref else 0)
    check_like_whole_run(doubled(tmp_path), out, tmp_path / "whole")


def test_appended_steps(tmp_path, repo):
    def mean():
        return xp.mean(opened(tmp_path), axis=1)

    def append(root):
        root["x"].resize((28, 6))
        root["x"][20:] = 3.25

    out = tmp_path / "out"
    update(mean(), out)
    commit(repo, append)
    found, ran, skipped = update(mean(), out)
    assert (found["in_place"], ran, skipped) == (True, 2, 4)
    check_like_whole_run(mean(), out, tmp_path / "whole")


def test_partial_results(tmp_path):
    repo, out = create(tmp_path / "ice"), tmp_path / "out"
    commit(repo, lambda root: fill(root, shape=(200, 6), chunks=(5, 6)))

    def mean(out=out, **options):
        stored = cubed.to_zarr(xp.mean(opened(tmp_path), axis=0), out, compute=False)
        return cubed.plan(stored, **options)

    def append(root):
        root["x"].resize((205, 6))
        root["x"][200:] = 3.25

    mean(partials=str(tmp_path / "parts")).execute(update=True)
    commit(repo, append)
    stats = mean(partials=str(tmp_path / "parts")).execute(update=True)
    assert stats["update"]["in_place"] and stats["num_resumed"] == 2
    mean(tmp_path / "whole").execute()
    np.testing.assert_array_equal(
        zarr.open_array(out)[:].view("u8"), zarr.open_array(tmp_path / "whole")[:].view("u8")
    )


def test_functions_on_blocks(tmp_path, repo):
    def changed():
        return xp.sort(cubed.map_blocks(np.negative, opened(tmp_path), dtype="f8"), axis=1)

    out = tmp_path / "out"
    update(changed(), out)
    commit(repo, assign)
    found, ran, skipped = update(changed(), out)
    assert found["in_place"] and 0 < ran < skipped, found
    check_like_whole_run(changed(), out, tmp_path / "whole")


def test_two_snapshots_of_a_repository(tmp_path, repo):
    """The plan's snapshots are numbered, so the fixed one and the new one are not exchanged."""
    out = tmp_path / "out"
    first = repo.lookup_branch("main")

    def anomaly():
        return opened(tmp_path) - opened(tmp_path, ref=f"@snapshot.{first}")

    update(anomaly(), out)
    commit(repo, assign)
    found, _, _ = quiet_update(anomaly(), out)
    # The first plan read one snapshot, this one reads two.
    assert not found["in_place"] and "computation" in found["why"]
    check_like_whole_run(anomaly(), out, tmp_path / "whole")
    commit(repo, lambda root: assign(root, (19, 5)))
    found, ran, skipped = update(anomaly(), out)
    assert (found["in_place"], ran, skipped) == (True, 1, 7)
    check_like_whole_run(anomaly(), out, tmp_path / "whole2")


def test_a_session_has_unknown_contents(tmp_path, repo):
    with pytest.warns(UserWarning, match="read by the package zarr"):
        x = cubed.from_zarr(repo.readonly_session("main").store, "x", spec=SPEC)
    for _ in range(2):
        found, ran, _ = quiet_update(x * 2, tmp_path / "out")
        assert ran == 8 and "a source is a function" in found["why"]


def test_changes_that_affect_all_chunks(tmp_path, repo):
    out = tmp_path / "out"
    update(doubled(tmp_path), out)

    def replace(root, **options):
        del root["x"]
        fill(root, **options)

    commit(repo, lambda root: replace(root, fill_value=7.0))
    with pytest.warns(UserWarning, match="metadata of a source has changed"):
        update(doubled(tmp_path), out)
    check_like_whole_run(doubled(tmp_path), out, tmp_path / "whole")
    commit(repo, lambda root: replace(root, fill_value=7.0, shape=(15, 6)))
    with pytest.warns(UserWarning, match="has become shorter"):
        update(doubled(tmp_path), out)
    commit(repo, lambda root: replace(root, fill_value=7.0, shape=(15, 6)))
    with pytest.warns(UserWarning, match="every chunk"):
        update(doubled(tmp_path), out)


def virtual(repo, place, **options):
    session = repo.writable_session("main")
    root = zarr.open_group(session.store)
    if "x" not in root:
        root.create_array("x", shape=20, chunks=10, dtype="f8", compressors=None)
    for i in range(2):
        session.store.set_virtual_ref(
            f"x/c/{i}", place, offset=80 * i, length=80, validate_container=False, **options
        )
    session.commit("virtual")


def test_virtual_chunks_without_tags_are_read(tmp_path):
    """Times do not identify contents: this file changes within the second of its reference."""
    repo, out, file = create(tmp_path / "ice"), tmp_path / "out", tmp_path / "a.bin"
    values = np.arange(20.0)
    file.write_bytes(values.tobytes())
    virtual(repo, f"file://{file}")
    update(doubled(tmp_path), out)
    found, ran, _ = update(doubled(tmp_path), out)
    assert (found["bytes_read"], ran) == (stored_bytes(out) + 160, 0)
    values[13] = -1
    file.write_bytes(values.tobytes())
    found, ran, skipped = update(doubled(tmp_path), out)
    assert (found["in_place"], found["num_changed"], ran, skipped) == (True, 1, 1, 1)
    np.testing.assert_array_equal(zarr.open_array(out)[:], 2 * values)


def test_virtual_chunks_with_tags_are_not_read(tmp_path, monkeypatch):
    repo, out = create(tmp_path / "ice"), tmp_path / "out"
    with Server() as s:
        for name, value in s.variables.items():
            monkeypatch.setenv(name, value)

        def put(values, name):
            s.objects[name] = Object(values.tobytes(), {})
            virtual(repo, f"s3://b/{name}", checksum=s.objects[name].etag)

        values = np.arange(20.0)
        put(values, "a.bin")
        update(doubled(tmp_path), out)
        gets = len([r for r in s.requests if "a.bin" in str(r)])
        commit(repo, lambda root: fill(root, "other"))
        found, ran, skipped = update(doubled(tmp_path), out)
        assert (found["in_place"], ran, skipped) == (True, 0, 2)
        assert found["bytes_read"] == stored_bytes(out)
        assert len([r for r in s.requests if "a.bin" in str(r)]) == gets
        put(values + 1, "a.bin")
        assert quiet_update(doubled(tmp_path), out)[1] == 2
        np.testing.assert_array_equal(zarr.open_array(out)[:], 2 * (values + 1))


def test_the_command(tmp_path, repo):
    args = ("eval", "b = x * 2", tmp_path / "ice", "--out", tmp_path / "out.zarr", "--update")
    check(run(*args))
    commit(repo, assign)
    got = check(run(*args, "--progress", "none"))
    assert "1 task was run and 7 skipped" in got.out + got.err
    want = opened(tmp_path).compute() * 2
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "out.zarr", path="b")[...], want)


class Repository:
    def __init__(self, r, folder):
        self.r, self.folder = r, folder
        self.shape = [r.randint(1, 16), r.randint(1, 12)]
        self.repo = create(folder / "ice", r.choice([0, 100, 512]))
        self.snapshots = []
        chunks = [r.randint(1, 6) for _ in range(2)]
        shards = [c * r.choice([1, 2]) for c in chunks] if r.random() < 0.3 else None
        self.names = [f"s{i}" for i in range(r.randint(1, 2))]

        def make(root):
            for i, name in enumerate(self.names):
                fill(root, name, tuple(self.shape), tuple(chunks), i, shards=shards)

        self.commit(make)

    def commit(self, change):
        self.snapshots.append((commit(self.repo, change), list(self.shape)))

    def lazy(self):
        return [cubed.from_zarr(self.folder / "ice", name, spec=SPEC) for name in self.names]

    def change(self):
        """Commits up to three times, or returns to a snapshot; True if no chunk has changed."""
        if len(self.snapshots) > 1 and self.r.random() < 0.2:
            snapshot, shape = self.r.choice(self.snapshots)
            self.repo.reset_branch("main", snapshot)
            self.shape = list(shape)
            return False
        return sum(self.change_once() for _ in range(self.r.randint(1, 3))) == 0

    def change_once(self):
        r, name = self.r, self.r.choice(self.names)
        how = r.choice(["nothing", "rewrite", "rewrite", "clear", "append", "attributes"])

        def change(root):
            z = root[name]
            if how == "rewrite":
                z[tuple(r.randrange(n) for n in self.shape)] = r.choice([r.random(), np.nan, -0.0])
            elif how == "clear":
                first = r.randrange(self.shape[0])
                z[first : first + r.randint(1, 6)] = 0.0
            elif how == "attributes":
                z.attrs["n"] = r.random()
            elif how == "append":
                axis, more = r.choice([0, 0, 1]), r.randint(1, 6)
                before = self.shape[axis]
                self.shape[axis] += more
                for k, other in enumerate(self.names):
                    root[other].resize(tuple(self.shape))
                    at = [slice(None)] * 2
                    at[axis] = slice(before, None)
                    new = np.random.default_rng(k).random(root[other][tuple(at)].shape)
                    if r.random() < 0.8:
                        root[other][tuple(at)] = new

        self.commit(change)
        return how not in ("nothing", "attributes")


@pytest.mark.parametrize("seed", range(cases(10)))
def test_random_commits(tmp_path, seed):
    r = random.Random(seed)
    sources = Repository(r, tmp_path)
    plan = random_plan(r)
    out, whole = tmp_path / "out", tmp_path / "whole"
    quiet_update(plan(sources.lazy()), out)
    for _ in range(4):
        same = sources.change()
        found, ran, _ = quiet_update(plan(sources.lazy()), out)
        if same:
            assert found["in_place"] and ran == 0, found
        check_like_whole_run(plan(sources.lazy()), out, whole)
