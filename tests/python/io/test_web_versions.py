"""Web servers that identify versions by ETag, by date, by neither, or in changing ways."""

import itertools
import json
import os
import subprocess

import cubed
import h5py
import numpy as np
import pytest
from conftest import BIN
from hostile_server import Hostile, head, honest

import zarr

pytestmark = pytest.mark.usefixtures("environment")

A = np.arange(1000.0)
DATE = "Thu, 01 Jan 2026 00:00:00 GMT"
FUTURE = "last-modified: Fri, 01 Jan 2099 00:00:00 GMT"


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, bytes]:
    root = tmp_path_factory.mktemp("files")
    zarr.create_array(root / "a", shape=(1000,), chunks=(100,), dtype="f8")[:] = A
    shards = zarr.create_array(root / "s", shape=(1000,), chunks=(50,), shards=(500,), dtype="f8")
    shards[:] = A
    with h5py.File(root / "a.h5", "w") as f:
        f.create_dataset("x", data=A, chunks=(100,))
    subprocess.run([BIN, "copy", root / "a.h5", root / "a.zip"], check=True, capture_output=True)
    refs = {".zgroup": '{"zarr_format": 2}', "x/0": ["raw"]}
    refs["x/.zarray"] = json.dumps(
        {"zarr_format": 2, "shape": [1000], "chunks": [1000], "dtype": "<f8", "order": "C"}
        | {"filters": None, "compressor": None, "fill_value": 0}
    )
    (root / "refs.json").write_text(json.dumps(refs))
    (root / "raw").write_bytes(A.tobytes())
    paths = (p for p in root.rglob("*") if p.is_file())
    return {str(p.relative_to(root)): p.read_bytes() for p in paths}


def no_versions(r):
    return honest(r, tag=None)


def by_date(r):
    """A server that takes if-match for what it is: a list of ETags, which it has none of."""
    if "if-match" in r.headers:
        return iter([head(412, "content-length: 0")])
    wanted = r.headers.get("if-unmodified-since", DATE)
    if wanted != DATE:
        return iter([head(412, "content-length: 0")])
    return honest(r, f"last-modified: {DATE}", tag=None)


def refuses_head(code):
    def behave(r):
        return iter([head(code, "content-length: 0")]) if r.method == "HEAD" else no_versions(r)

    return behave


def head_without_length(r):
    return iter([head(200)]) if r.method == "HEAD" else no_versions(r)


def head_of_nothing(r):
    return iter([head(200, "content-length: 0")]) if r.method == "HEAD" else no_versions(r)


SERVERS = {
    "no versions": no_versions,
    "dates": by_date,
    "a date to come": lambda r: honest(r, FUTURE, tag=None),
    "weak tags": lambda r: honest(r, tag='W/"1"'),
    "long tags": lambda r: honest(r, tag=f'"{"x" * 99}"'),
    "HEAD is 405": refuses_head(405),
    "HEAD is 501": refuses_head(501),
    "HEAD is 403": refuses_head(403),
    "HEAD has no length": head_without_length,
    "HEAD has length 0": head_of_nothing,
}


@pytest.mark.parametrize("name", ["a", "s", "a.h5::x", "a.zip::x", "refs.json::x"])
@pytest.mark.parametrize("server", SERVERS)
def test_values(server, name, files):
    """By the package, by the command, and by its worker processes."""
    with Hostile(files, SERVERS[server]) as s:
        file, _, path = name.partition("::")
        x = cubed.from_zarr(f"{s.endpoint}/{file}", path or None)
        np.testing.assert_array_equal(x[3:970:7].compute(), A[3:970:7])
        place = f"x={s.endpoint}/{name}"
        for more in ([], ["--executor", "processes"]) if name == "a" else ([],):
            args = [BIN, "eval", "sum(x)", "--in", place, "--progress", "none", *more]
            done = subprocess.run(args, capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, done.stderr
            assert "499500" in done.stdout


def test_xarray(files):
    xarray = pytest.importorskip("xarray")
    with (
        Hostile(files, no_versions) as s,
        xarray.open_dataset(f"{s.endpoint}/a.h5", engine="cubed", chunks={}) as d,
    ):
        assert float(d["x"].sum()) == 499500


def test_an_object_that_changes_its_size_is_noticed(files):
    with Hostile(dict(files), no_versions) as s:
        x = cubed.from_zarr(f"{s.endpoint}/a")
        text = s.files["a/zarr.json"]
        s.files["a/zarr.json"] = text.rstrip() + b" " * 9
        with pytest.raises(Exception, match="has been rewritten since"):
            cubed.array_api.sum(x).compute()


def test_tags_that_change_with_each_reply(files):
    """A load balancer before machines that make tags of their own: an error, and its remedy."""
    number = itertools.count()

    def behave(r):
        return honest(r, f"last-modified: {DATE}", tag=f'"{next(number)}"')

    with Hostile(files, behave) as s:
        args = [BIN, "eval", "sum(x)", "--in", f"x={s.endpoint}/s", "--progress", "none"]
        done = subprocess.run([*args, "--retries", "0"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1
        assert "rewritten" in done.stderr or "storage option versions" in done.stderr
        for versions, name in (("modified", "s"), ("size", "a")):
            spec = cubed.Spec(allowed_mem="200MB", storage_options={"versions": versions})
            x = cubed.from_zarr(f"{s.endpoint}/{name}", spec=spec)
            assert float(cubed.array_api.sum(x).compute()) == 499500


def test_an_option_of_no_known_value(files):
    with Hostile(files) as s:
        spec = cubed.Spec(storage_options={"versions": "date"})
        with pytest.raises(ValueError, match='versions is "date", expected etag, modified or size'):
            cubed.from_zarr(f"{s.endpoint}/a", spec=spec)


def test_a_reference_to_a_whole_object_that_is_not_there(files):
    files = {k: v for k, v in files.items() if k != "raw"}
    with Hostile(files, no_versions) as s:
        args = [BIN, "eval", "sum(x)", "--in", f"x={s.endpoint}/refs.json::x", "--progress", "none"]
        done = subprocess.run(args, capture_output=True, text=True, timeout=60, env=os.environ)
    assert done.returncode == 1 and "which does not exist" in done.stderr, done.stderr
