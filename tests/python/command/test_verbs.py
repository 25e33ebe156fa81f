"""copy and run."""

import json
import os

import numpy as np
import pytest
import xarray as xr
from conftest import check, run

import zarr


@pytest.fixture
def group(tmp_path):
    root = zarr.create_group(tmp_path / "g.zarr", zarr_format=2, attributes={"title": "winds"})
    x = np.random.default_rng(0).normal(size=(20, 30)).astype("f4")
    a = root.create_array("u", shape=x.shape, chunks=(6, 7), dtype="f4", fill_value=1e20)
    a[...] = x
    a.attrs.update({"units": "m/s", "_ARRAY_DIMENSIONS": ["time", "x"]})
    below = root.create_group("below")
    below.create_array("n", shape=(3,), chunks=(2,), dtype="i8")[...] = [1, 2, 3]
    return tmp_path / "g.zarr", x


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_group_is_copied_with_everything_in_it(tmp_path, group, zarr_format):
    source, x = group
    check(run("copy", source, tmp_path / "c.zarr", "--format", zarr_format, "--progress", "none"))
    copy = zarr.open_group(tmp_path / "c.zarr", mode="r")
    assert copy.metadata.zarr_format == zarr_format
    assert copy.attrs["title"] == "winds"
    np.testing.assert_array_equal(copy["u"][...], x)
    assert copy["u"].chunks == (6, 7)
    assert copy["u"].attrs["units"] == "m/s"
    assert copy["u"].fill_value == np.float32(1e20)
    np.testing.assert_array_equal(copy["below/n"][...], [1, 2, 3])
    if zarr_format == 3:
        assert copy["u"].metadata.dimension_names == ("time", "x")


def test_copying_an_array_with_other_codecs(tmp_path, group):
    codecs = '[{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "crc32c"}]'
    args = ["--codecs", codecs, "--format", 3, "--progress", "none"]
    check(run("copy", f"{group[0]}::u", tmp_path / "c.zarr", *args))
    copy = zarr.open_array(tmp_path / "c.zarr", mode="r")
    np.testing.assert_array_equal(copy[...], group[1])
    assert "crc32c" in (tmp_path / "c.zarr/zarr.json").read_text()


def test_copies_do_not_overwrite_unasked(tmp_path, group):
    args = ["copy", f"{group[0]}::u", tmp_path / "c.zarr", "--progress", "none"]
    check(run(*args))
    refused = run(*args)
    assert refused.code == 1
    assert "exists" in refused.err
    check(run(*args, "--overwrite"))


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_a_saved_plan_is_run(tmp_path, group, executor):
    source, x = group
    args = ["--in", source, "--out", tmp_path / "m.zarr", "--work-dir", tmp_path / "work"]
    check(run("eval", "u - mean(u, axis=0)", *args, "--save-plan", tmp_path / "p"))
    assert not (tmp_path / "m.zarr").exists()
    result = check(run("run", tmp_path / "p", "--executor", executor, "--json"))
    assert result.run["tasks"] > 0
    got = zarr.open_array(tmp_path / "m.zarr/u", mode="r")[...]
    np.testing.assert_allclose(got, x - x.mean(axis=0, dtype="f8").astype("f4"), atol=1e-6)
    assert not list((tmp_path / "work").rglob("*/*"))


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_a_plan_saved_with_relative_paths_runs_anywhere(tmp_path, group, monkeypatch, executor):
    source, x = group
    there = tmp_path / "there"
    there.mkdir()
    near = os.path.relpath(source, there)
    monkeypatch.chdir(there)
    check(run("eval", "u - mean(u, axis=0)", "--in", f"u={near}::u", "--out", "m.zarr::sub/m",
              "--work-dir", "work", "--save-plan", "p.cubed"))  # fmt: skip
    check(run("rechunk", f"file://{near}::u", "file://r.zarr", "--chunks", "-1,1",
              "--work-dir", "./work", "--save-plan", "r.cubed"))  # fmt: skip
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    for plan in ["p.cubed", "r.cubed"]:
        check(run("run", f"../there/{plan}", "--executor", executor))
    assert not list(elsewhere.iterdir())
    got = zarr.open_array(there / "m.zarr/sub/m", mode="r")[...]
    np.testing.assert_allclose(got, x - x.mean(axis=0, dtype="f8").astype("f4"), atol=1e-6)
    np.testing.assert_array_equal(zarr.open_array(there / "r.zarr", mode="r")[...], x)


def test_a_saved_plan_goes_on_with_what_its_command_began(tmp_path, monkeypatch):
    source = zarr.create_array(tmp_path / "x.zarr", shape=(20,), chunks=(1,), dtype="f8")
    source[...] = np.arange(20.0) + 1
    chunk = tmp_path / "x.zarr/c/19"
    content = chunk.read_bytes()
    chunk.unlink()
    chunk.symlink_to(chunk)  # reading it fails
    monkeypatch.chdir(tmp_path)
    command = ["eval", "x*2", "x.zarr", "--out", "o.zarr", "--max-workers", 1]
    assert run(*command, "--retries", 0, "--progress", "none").code == 1
    check(run(*command, "--save-plan", "p"))
    chunk.unlink()
    chunk.write_bytes(content)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    result = check(run("run", "../p", "--resume", "--json"))
    assert 0 < result.run["tasks"] < 20
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "o.zarr")[...], source[...] * 2)


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_plans_are_saved_in_directories_whose_names_mean_something(tmp_path, monkeypatch, executor):
    odd = tmp_path / "a::b%20: c"
    odd.mkdir()
    monkeypatch.chdir(odd)
    check(run("eval", "rechunk(arange(9), [2])", "--out", "o.zarr"))
    options = ["--work-dir", "work", "--no-optimize", "--save-plan", "p"]
    check(run("eval", "o - mean(o)", "o.zarr", "--out", "m.zarr::g/x", *options))
    monkeypatch.chdir(tmp_path)
    check(run("run", odd / "p", "--executor", executor))
    got = zarr.open_array(odd / "m.zarr/g/x", mode="r")[...]
    np.testing.assert_array_equal(got, np.arange(9) - 4.0)
    assert [p.name for p in tmp_path.iterdir()] == [odd.name]


def test_what_is_no_plan_is_refused(tmp_path):
    (tmp_path / "p").write_bytes(b"CUBEDPLN" + bytes(40))
    assert "version" in run("run", tmp_path / "p").err
    assert "does not exist" in run("run", tmp_path / "nothing").err
    assert run("run").code == 2


def test_a_copied_group_is_consolidated(tmp_path, group):
    source, x = group
    for zarr_format in (2, 3):
        path = tmp_path / f"c{zarr_format}.zarr"
        check(run("copy", source, path, "--format", zarr_format, "--progress", "none"))
        copy = zarr.open_consolidated(path, zarr_format=zarr_format)
        assert copy.metadata.consolidated_metadata is not None
        assert sorted(dict(copy.members(max_depth=None))) == ["below", "below/n", "u"]
        np.testing.assert_array_equal(copy["u"][...], x)
        assert dict(copy["u"].attrs)["units"] == "m/s"
        # What is added later is seen: metadata that is out of date is gone.
        args = ["--in", f"x={path}::u", "--out", f"{path}::more", "--format", zarr_format]
        check(run("eval", "x + 1", *args, "--progress", "none"))
        assert "more" in zarr.open_group(path, mode="r")


def test_results_in_a_group_are_consolidated(tmp_path, group):
    source, x = group
    out = tmp_path / "r.zarr"
    check(run("eval", "a = u + 1; b = u * 2", source, "--out", out, "--progress", "none"))
    ds = xr.open_dataset(out, engine="zarr", consolidated=True)
    np.testing.assert_array_equal(ds["b"], x * 2)
    assert ds.attrs["title"] == "winds"


def test_limits_of_a_saved_plan_are_changed(tmp_path, group):
    source, x = group
    args = ["--in", source, "--out", tmp_path / "m.zarr", "--work-dir", tmp_path / "work"]
    check(
        run("eval", "u - mean(u, axis=0)", *args, "--max-workers", 1, "--save-plan", tmp_path / "p")
    )

    def planned(*options):
        return json.loads(check(run("run", tmp_path / "p", "--plan", "--json", *options)).out)

    before = planned()
    after = planned("--max-workers", 2, "--allowed-mem", "90MB", "--reserved-mem", "9MB")
    names = ("workers", "allowed_mem", "reserved_mem")
    assert [after[n] for n in names] == [2, 90_000_000, 9_000_000]
    for a, b in zip(after["stages"], before["stages"], strict=True):
        del a["seconds"], b["seconds"]  # which workers share
        assert a == b
    assert planned("--executor", "single-threaded")["workers"] == 1
    small = run(
        "run", tmp_path / "p", "--allowed-mem", before["projected_mem"], "--reserved-mem", 1
    )
    assert small.code == 1 and "allow at least" in small.err
    assert "this machine has" in run("run", tmp_path / "p", "--max-workers", 99999).err
    for option in ["--overwrite", "--durable", "--no-optimize", "--save-plan=q"]:
        refused = run("run", tmp_path / "p", option)
        assert refused.code == 2 and "--save-plan" in refused.err
    assert not (tmp_path / "m.zarr").exists() and not (tmp_path / "work").exists()
    events = tmp_path / "events"
    options = ["--max-workers", 2, "--work-dir", tmp_path / "other", "--executor", "processes"]
    check(run("run", tmp_path / "p", *options, "--events", events))
    assert {json.loads(e).get("worker", 0) for e in events.read_text().splitlines()} <= {0, 1}
    got = zarr.open_array(tmp_path / "m.zarr/u", mode="r")[...]
    np.testing.assert_allclose(got, x - x.mean(axis=0, dtype="f8").astype("f4"), atol=1e-6)
    assert (tmp_path / "other").exists() and not (tmp_path / "work").exists()


@pytest.mark.parametrize("format", [2, 3])
def test_a_saved_plan_makes_groups_as_its_command_would(tmp_path, format):
    root = zarr.open_group(tmp_path / "in.zarr", mode="w", attributes={"title": "all"})
    for path in ["a", "sub/b"]:
        array = root.create_array(path, shape=(4, 6), chunks=(2, 3), dtype="i4")
        array[...] = 7
    root["sub"].attrs["of"] = "b"
    args = ["copy", tmp_path / "in.zarr"]
    more = ["--format", format, "--no-history", "--progress", "none"]
    check(run(*args, tmp_path / "direct.zarr", *more))
    check(run(*args, tmp_path / "saved.zarr", *more, "--save-plan", tmp_path / "p"))
    assert not (tmp_path / "saved.zarr").exists()
    check(run("run", tmp_path / "p"))

    def documents(store):
        names = ("zarr.json", ".zgroup", ".zattrs", ".zmetadata", ".zarray")
        found = [p for p in store.rglob("*") if p.name in names]
        return {str(p.relative_to(store)): json.loads(p.read_text()) for p in found}

    assert documents(tmp_path / "direct.zarr") == documents(tmp_path / "saved.zarr")
    copy = zarr.open_consolidated(tmp_path / "saved.zarr", zarr_format=format)
    assert dict(copy.attrs) == {"title": "all"} and dict(copy["sub"].attrs) == {"of": "b"}
    np.testing.assert_array_equal(copy["sub/b"][...], np.full((4, 6), 7))
