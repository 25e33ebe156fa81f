"""The S3 protocol as other servers and libraries implement it."""

import os
import subprocess

import cubed
import numpy as np
import pytest
from conftest import BIN
from real_servers import KEY, REGION, SECRET, running

import zarr

A = np.arange(1000.0).reshape(20, 50)


@pytest.fixture(scope="module", params=["moto", "versitygw"])
def server(request):
    return request.param


@pytest.fixture(scope="module")
def known(server, tmp_path_factory):
    """The server's address, known by the environment."""
    with (
        pytest.MonkeyPatch.context() as environment,
        running(server, tmp_path_factory.mktemp("server"), environment),
    ):
        yield os.environ["AWS_ENDPOINT_URL"]


def run(*args, code=0):
    done = subprocess.run([BIN, *map(str, args)], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def test_the_command(server, known, tmp_path):
    """Written, read, replaced by another grid, listed in pages, cleaned; by names of all kinds."""
    # 1,000 chunks are one page; moto takes a fifth of a second for ten requests.
    chunks, n = ((5, 5), 40) if "moto" in server else ((1, 1), 1000)
    z = zarr.create_array(tmp_path / "a", shape=A.shape, chunks=chunks, dtype="f8")
    z[:] = A
    quiet = ("--progress", "none")
    run("copy", tmp_path / "a", "s3://bucket/w/a", "--keep-empty", *quiet)
    assert f"{n}/{n}" in run("info", "s3://bucket/w")
    name = "s3://bucket/w/ä b+c/d%25e=&'.zarr"
    run("rechunk", "s3://bucket/w/a", name, "--chunks", "7,50", *quiet)
    run("rechunk", name, name, "--chunks", "20,10", "--overwrite", *quiet)
    np.testing.assert_array_equal(cubed.from_zarr(name).compute(), A)
    assert cubed.from_zarr(name).chunksize == (20, 10)
    assert "exists" in run("copy", "s3://bucket/w/a", name, *quiet, code=1)
    run("rechunk", name, "s3://bucket/w/a", "--chunks", "20,50", "--overwrite", *quiet)
    assert "1/1" in run("info", "s3://bucket/w/a")
    assert "nothing is left over" in run("clean", "s3://bucket")


def test_parts(server, known):
    """Long objects go in parts; what others have begun is listed, and stays for a day."""
    options = {"multipart_threshold": "5MiB", "multipart_chunksize": "5MiB"}
    spec = cubed.Spec(allowed_mem="400MB", zarr_compressor=None, storage_options=options)
    a = np.random.default_rng(2).random(3 << 20)
    # Not in the place of another: moto's copies have checksums that are no object's.
    cubed.to_zarr(cubed.from_array(a, chunks=2 << 20, spec=spec), "s3://bucket/p/a")
    np.testing.assert_array_equal(cubed.from_zarr("s3://bucket/p/a").compute(), a)
    theirs = {"endpoint_url": known, "region_name": REGION}
    keys = {"aws_access_key_id": KEY, "aws_secret_access_key": SECRET}
    client = pytest.importorskip("boto3").client("s3", **theirs, **keys)
    client.create_multipart_upload(Bucket="bucket", Key="p/ä b/c/0")
    # moto says of all uploads that they were begun in 2010.
    old = server == "moto"
    said = run("clean", "s3://bucket/p")
    assert ("removed an unfinished upload of s3://bucket/p: ä b/c/0" in said) == old
    assert len(client.list_multipart_uploads(Bucket="bucket").get("Uploads", [])) == (not old)


def test_who_is_not_known(known, server):
    """What one server says by 404 is not taken for a chunk or metadata that is not there."""
    env = {**os.environ, "AWS_ACCESS_KEY_ID": "AKIDOTHER"}
    args = [BIN, "info", "s3://bucket/w/a"]
    if server == "moto":
        pytest.skip("moto does not ask who it is")
    r = subprocess.run(args, capture_output=True, text=True, env=env, timeout=60)
    assert "get zarr.json: the reply is 404 XAdminUserNotFound" in r.stderr


def fsspec_store(endpoint, path):
    pytest.importorskip("s3fs", reason="the package s3fs is not installed")
    options = {
        "key": KEY, "secret": SECRET, "client_kwargs": {"region_name": REGION},
        "endpoint_url": endpoint,
    }  # fmt: skip
    return zarr.storage.FsspecStore.from_url(f"s3://bucket/{path}", storage_options=options)


def obstore_store(endpoint, path):
    pytest.importorskip("obstore", reason="the package obstore is not installed")
    from obstore.store import S3Store

    return zarr.storage.ObjectStore(
        S3Store(
            "bucket",
            prefix=path,
            endpoint=endpoint,
            access_key_id=KEY,
            secret_access_key=SECRET,
            region=REGION,
            client_options={"allow_http": True},
        )  # fmt: skip
    )


@pytest.mark.parametrize("library", [fsspec_store, obstore_store])
def test_others(known, library):
    """zarr-python reads what we wrote, and we what it wrote."""
    x = cubed.from_array(A, chunks=(7, 20))
    cubed.to_zarr(x + 1, f"s3://bucket/{library.__name__}/ours")
    theirs = zarr.open_array(library(known, f"{library.__name__}/ours"), mode="r")
    np.testing.assert_array_equal(theirs[:], A + 1)
    z = zarr.create_array(
        library(known, f"{library.__name__}/theirs"), shape=A.shape, chunks=(5, 5),
        shards=(10, 50), dtype="f8",
    )  # fmt: skip
    z[:] = A * 3
    y = cubed.from_zarr(f"s3://bucket/{library.__name__}/theirs")
    np.testing.assert_array_equal(y.compute(), A * 3)
    np.testing.assert_array_equal(y[3:12, 7].compute(), (A * 3)[3:12, 7])
