"""S3 as other servers and libraries speak it.

versitygw is found on the PATH or in ~/go/bin (``go install
github.com/versity/versitygw/cmd/versitygw@latest``), moto in the environment. Each listens on a
free port of this machine, and is ended by its process.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import cubed
import numpy as np
import pytest
from conftest import BIN

import zarr

KEY, SECRET, REGION = "AKIDTEST", "secret/of+the=test", "eu-north-1"
A = np.arange(1000.0).reshape(20, 50)


def command(name, port, place):
    if name == "moto":
        pytest.importorskip("moto", reason="the package moto[server] is not installed")
        return [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    found = shutil.which(name) or shutil.which(name, path=Path.home() / "go/bin")
    if not found:
        pytest.skip("versitygw is neither on the PATH nor in ~/go/bin")
    for part in ("data/bucket", "meta"):
        (place / part).mkdir(parents=True)
    who = ["--access", KEY, "--secret", SECRET, "--region", REGION]
    where = ["posix", "--sidecar", str(place / "meta"), str(place / "data")]
    return [found, "--port", f"127.0.0.1:{port}", *who, *where]


def wait_for(port, process):
    for _ in range(300):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None
        time.sleep(0.1)
    raise AssertionError("the server does not answer")


@pytest.fixture(scope="module", params=["moto", "versitygw"])
def endpoint(request, tmp_path_factory):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    args = command(request.param, port, tmp_path_factory.mktemp("server"))
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(args, **silent)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(port, process)
        if request.param == "moto":
            import boto3

            client = boto3.client(
                "s3", endpoint_url=url, aws_access_key_id=KEY, aws_secret_access_key=SECRET,
                region_name=REGION,
            )  # fmt: skip
            place = {"LocationConstraint": REGION}
            client.create_bucket(Bucket="bucket", CreateBucketConfiguration=place)
        yield url
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def known(endpoint, monkeypatch):
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    variables = {
        "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": REGION,
        "AWS_ENDPOINT_URL": endpoint,
    }  # fmt: skip
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return endpoint


def run(*args, code=0):
    done = subprocess.run([BIN, *map(str, args)], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def test_the_command(known, tmp_path):
    """Written, read, replaced by another grid, listed in pages, cleaned; by names of all kinds."""
    z = zarr.create_array(tmp_path / "a", shape=A.shape, chunks=(1, 1), dtype="f8")
    z[:] = A
    quiet = ("--progress", "none")
    # 1,000 chunks are one page.
    run("copy", tmp_path / "a", "s3://bucket/w/a", "--keep-empty", *quiet)
    assert "1000/1000" in run("info", "s3://bucket/w")
    name = "s3://bucket/w/ä b+c/d%25e=&'.zarr"
    run("rechunk", "s3://bucket/w/a", name, "--chunks", "7,50", *quiet)
    run("rechunk", name, name, "--chunks", "20,10", "--overwrite", *quiet)
    np.testing.assert_array_equal(cubed.from_zarr(name).compute(), A)
    assert cubed.from_zarr(name).chunksize == (20, 10)
    assert "exists" in run("copy", "s3://bucket/w/a", name, *quiet, code=1)
    run("rechunk", name, "s3://bucket/w/a", "--chunks", "20,50", "--overwrite", *quiet)
    assert "1/1" in run("info", "s3://bucket/w/a")
    assert "nothing is left over" in run("clean", "s3://bucket")


def test_who_is_not_known(known):
    """What one server says by 404 is not taken for a chunk or metadata that is not there."""
    env = {**os.environ, "AWS_ACCESS_KEY_ID": "AKIDOTHER"}
    args = [BIN, "info", "s3://bucket/w/a"]
    r = subprocess.run(args, capture_output=True, text=True, env=env, timeout=60)
    if r.returncode == 0:
        pytest.skip("moto does not ask who it is")
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
