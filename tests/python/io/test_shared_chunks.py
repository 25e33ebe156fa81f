"""Regions of one array that share chunks are written at the same time, and no writer undoes the
writes of another.
"""

import contextlib
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import cloud_servers
import cubed
import numpy as np
import pytest
import real_servers
from conftest import BIN, cases, run
from s3_server import Server

import zarr

N, WIDTH = 40, 5
QUIET = ("--progress", "none")


def region_command(url, k, width=WIDTH):
    text = f"ones(({width},)) * {k + 1}"
    return [BIN, "eval", text, "--out", url, "--region", f"{k * width}:{k * width + width}", *QUIET]


def make(url, *options):
    """An array whose chunks, of 16 elements, are shared by four regions each."""
    result = run("eval", f"rechunk(ones(({N},)) * -1, (16,))", "--out", url, *options, *QUIET)
    assert result.code == 0, result.err


def write_at_once(url, environment=None):
    """All regions, each by a process of its own; the values afterwards."""
    env = {**os.environ, **(environment or {})}
    writers = [
        subprocess.Popen(region_command(url, k), env=env, stderr=subprocess.PIPE, text=True)
        for k in range(N // WIDTH)
    ]
    for w in writers:
        _, err = w.communicate(timeout=60)
        assert w.returncode == 0, err
    result = run("eval", "x", "--in", f"x={url}", "--json", *QUIET, env=env)
    assert result.code == 0, result.err
    return result.array()


EXPECTED = np.repeat(np.arange(1, N // WIDTH + 1), WIDTH)


@pytest.mark.parametrize("kind", ["format 3", "format 2", "shards", "edges"])
def test_processes_and_a_directory(tmp_path, kind):
    place = tmp_path / "z.zarr"
    options = {"format 2": {"zarr_format": 2}, "shards": {"chunks": (4,), "shards": (16,)}}
    z = zarr.create_array(
        place, shape=(N,), dtype="i8", fill_value=7,
        **{"chunks": (100,) if kind == "edges" else (16,), **options.get(kind, {})},
    )  # fmt: skip
    for round_ in range(cases(2)):
        if round_ % 2:
            z[...] = -1
        np.testing.assert_array_equal(write_at_once(str(place)), EXPECTED)
    assert sorted(n for n in os.listdir(place) if n.startswith(".cubed")) == []


@contextlib.contextmanager
def server(name, place, monkeypatch):
    kinds = {
        "s3": Server, "google": cloud_servers.GoogleServer, "azure": cloud_servers.AzureServer,
    }  # fmt: skip
    if name not in kinds:
        with real_servers.running(name, place, monkeypatch) as url:
            yield url, {}
        return
    s = kinds[name]()
    s.latency = 0.005
    with s:
        yield s.url, s.variables
        assert not s.wrong, s.wrong[:3]


@pytest.mark.parametrize("name", ["s3", "google", "azure", "versitygw"])
def test_processes_and_object_stores(tmp_path, monkeypatch, name):
    with server(name, tmp_path, monkeypatch) as (top, variables):
        for variable, value in variables.items():
            monkeypatch.setenv(variable, value)
        url = f"{top}/z.zarr"
        make(url)
        np.testing.assert_array_equal(write_at_once(url), EXPECTED)


def test_processes_and_redis(tmp_path, monkeypatch):
    found = shutil.which("redis-server")
    if not found:
        pytest.skip("there is no redis-server on the PATH")
    port = real_servers.free_port()
    args = [found, "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    process = subprocess.Popen(args, stdout=subprocess.DEVNULL)
    try:
        real_servers.wait_for(port, process)
        url = f"redis://127.0.0.1:{port}/z.zarr"
        make(url)
        np.testing.assert_array_equal(write_at_once(url), EXPECTED)
    finally:
        process.terminate()
        process.wait()


def test_threads_and_memory():
    url = "memory://shared/chunks"
    cubed.to_zarr(cubed.full(N, -1, chunks=16), url)

    def write(k):
        x = cubed.full(WIDTH, k + 1, chunks=2)
        cubed.to_zarr(x, url, region=(slice(k * WIDTH, (k + 1) * WIDTH),))

    with ThreadPoolExecutor(N // WIDTH) as pool:
        list(pool.map(write, range(N // WIDTH)))
    np.testing.assert_array_equal(cubed.from_zarr(url).compute(), EXPECTED)


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_regions_of_one_plan(tmp_path, executor):
    z = zarr.create_array(tmp_path / "z", shape=(N, 6), chunks=(16, 4), dtype="i8", fill_value=-1)
    spec = cubed.Spec(work_dir=tmp_path, allowed_mem="200MB", reserved_mem="100MB")
    parts = [(slice(k * WIDTH, (k + 1) * WIDTH), slice(1, 6)) for k in range(N // WIDTH)]
    sources = [cubed.full((WIDTH, 5), k + 1, chunks=3, spec=spec) for k in range(len(parts))]
    cubed.store(sources, [z] * len(parts), parts, executor=executor)
    expected = np.repeat(EXPECTED[:, None], 6, axis=1)
    expected[:, 0] = -1
    np.testing.assert_array_equal(z[...], expected)


def test_another_writer_between_read_and_put(tmp_path):
    """The first writer's put waits until another writer has finished."""
    done = []

    def write_another():
        command = region_command(url, 1)
        done.append(subprocess.run(command, env=env, capture_output=True, text=True, timeout=60))

    def fault(request):
        is_chunk = request.op == "put" and request.key == "z.zarr/c/0"
        if not is_chunk or faults:
            return None
        faults.append(request)
        return write_another

    faults = []
    with Server() as s:
        url, env = f"{s.url}/z.zarr", {**os.environ, **s.variables}
        result = run("eval", f"rechunk(ones(({N},)) * -1, (16,))", "--out", url, *QUIET, env=env)
        assert result.code == 0, result.err
        s.fault = fault
        first = subprocess.run(region_command(url, 0), env=env, capture_output=True, text=True)
        assert first.returncode == 0, first.stderr
        assert done[0].returncode == 0, done[0].stderr
        result = run("eval", "x[:12]", "--in", f"x={url}", "--json", *QUIET, env=env)
        assert result.array().tolist() == [1] * 5 + [2] * 5 + [-1] * 2


def test_services_without_conditions(tmp_path):
    """Regions of whole chunks are written, others are refused before anything changes."""

    def forget_conditions(request):
        for name in ("if-match", "if-none-match"):
            request.headers.pop(name, None)

    with Server(signed=False) as s:
        url, env = f"{s.url}/z.zarr", {**os.environ, **s.variables}
        result = run("eval", f"rechunk(ones(({N},)) * -1, (16,))", "--out", url, *QUIET, env=env)
        assert result.code == 0, result.err
        s.fault = forget_conditions
        before = {k: o.data for k, o in s.objects.items()}
        result = run(*region_command(url, 1)[1:], env=env)
        assert result.code == 1
        assert "ignores the conditions of puts" in result.err
        assert "write regions of whole chunks" in result.err
        assert {k: o.data for k, o in s.objects.items()} == before
        result = run(*region_command(url, 1, 16)[1:], env=env)
        assert result.code == 0, result.err
        result = run(*region_command(url, 1)[1:], env={**env, "AWS_CONDITIONAL_PUT": "disabled"})
        assert result.code == 0, result.err
        result = run("eval", "x", "--in", f"x={url}", "--json", *QUIET, env=env)
        expected = [-1] * 5 + [2] * 5 + [-1] * 6 + [2] * 16 + [-1] * 8
        assert result.array().tolist() == expected
