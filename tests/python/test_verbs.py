"""copy and run."""

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
    got = zarr.open_array(tmp_path / "m.zarr", mode="r")[...]
    np.testing.assert_allclose(got, x - x.mean(axis=0, dtype="f8").astype("f4"), atol=1e-6)
    assert not list((tmp_path / "work").rglob("*/*"))


def test_what_is_no_plan_is_refused(tmp_path):
    (tmp_path / "p").write_bytes(b"CUBEDPLN" + bytes(40))
    assert "version" in run("run", tmp_path / "p").err
    assert "No such file" in run("run", tmp_path / "nothing").err
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
