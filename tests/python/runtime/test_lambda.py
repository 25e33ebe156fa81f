"""AWS Lambda: driver and workers against stubs of the service and of the interface of runtimes."""

import os
import pathlib
import shutil
import subprocess
import sys
import time
import zipfile

import cubed
import numpy as np
import pytest
from conftest import BIN, check, run
from cubed import array_api as xp
from cubed.runtime import _elf, lambda_package
from cubed.runtime.executors.lithops import LithopsExecutor
from lambda_service import Service

pytest.importorskip("botocore", reason="botocore checks the signatures, and is not installed")


@pytest.fixture
def stored(tmp_path):
    values = np.random.default_rng(0).normal(size=(40, 60))
    spec = cubed.Spec(tmp_path, allowed_mem="100MB", reserved_mem=0)
    cubed.to_zarr(cubed.from_array(values, chunks=(10, 20), spec=spec), tmp_path / "x.zarr")
    return values, cubed.from_zarr(tmp_path / "x.zarr", spec=spec)


def options(service, **more):
    given = service.variables
    return {
        "function": service.function,
        "max_workers": 2,
        "storage_options": {
            "endpoint_url": given["AWS_ENDPOINT_URL_LAMBDA"],
            "key": given["AWS_ACCESS_KEY_ID"],
            "secret": given["AWS_SECRET_ACCESS_KEY"],
            "region": given["AWS_REGION"],
        },
        **more,
    }


def compute(x, service, **more):
    return x.compute(executor="lambda", **options(service, **more))


def expected(values):
    return np.sqrt(values**2 + 1).mean(axis=0)


def lazy(x):
    return xp.mean(xp.sqrt(x**2 + 1).rechunk((40, 7)), axis=0)


@pytest.mark.parametrize(
    "name", ["worker", "worker:live", "arn:aws:lambda:eu-north-1:123456789012:function:worker"]
)
def test_values(stored, name):
    values, x = stored
    with Service(name) as service:
        result = compute(lazy(x), service)
        np.testing.assert_array_equal(result, lazy(x).compute())
        np.testing.assert_allclose(result, expected(values))
        assert service.invocations >= 1
        assert not service.wrong
        assert not service.errors


@pytest.mark.parametrize("fault", ["throttled", "out of time", "twice"])
def test_faults_that_pass(stored, fault):
    _, x = stored
    with Service(fault=lambda number: fault if number == 1 else None) as service:
        np.testing.assert_array_equal(compute(lazy(x), service), lazy(x).compute())
        assert service.invocations >= (1 if fault == "twice" else 2)


class Twelve:
    """Twelve arrays, each of which is a stage and so an invocation of its own."""

    def __init__(self, folder, service):
        self.folder = folder
        self.spec = cubed.Spec(
            folder,
            allowed_mem="100MB",
            reserved_mem=0,
            executor_name="lambda",
            executor_options=options(service, max_workers=1000, retries=0),
        )
        self.values = np.random.default_rng(0).normal(size=(600, 300))
        for i in range(12):
            part = self.values[50 * i : 50 * i + 50]
            cubed.to_zarr(cubed.from_array(part, chunks=(50, 20)), folder / f"{i}.zarr")

    def run(self, number):
        """Adds a number, and returns the statistics of the run."""
        arrays = [
            cubed.from_zarr(self.folder / f"{i}.zarr", spec=self.spec) + number for i in range(12)
        ]
        out = [np.empty(x.shape, x.dtype) for x in arrays]
        stats = cubed.plan(*arrays).execute(out)
        np.testing.assert_array_equal(np.concatenate(out), self.values + number)
        assert stats["num_retries"] == 0
        return stats


@pytest.mark.parametrize("quota", [1, 2])
def test_a_quota_below_the_workers(tmp_path, quota):
    """Refusals are no attempts: no retry is needed, however many there are."""
    with Service(quota=quota) as service:
        twelve = Twelve(tmp_path, service)
        stats = twelve.run(1)
        assert stats["num_throttled"] == service.refused > 0
        assert 1 <= stats["throttle_limit"] <= quota + 2
        assert "refused because of their rate" in repr(stats)
        # The quota is remembered: the second run sends no burst.
        assert twelve.run(2)["num_throttled"] < stats["num_throttled"]


def test_a_quota_that_changes(tmp_path):
    def change(number):
        service.quota = 1 + number % 3

    with Service(workers=3, fault=change, quota=1) as service:
        assert Twelve(tmp_path, service).run(1)["num_throttled"] > 0


def test_a_quota_of_nothing(stored):
    _, x = stored
    with Service(quota=0) as service:
        given = options(service, retries=0)
        given["storage_options"]["throttle_timeout"] = "1"
        with pytest.raises(OSError, match="429.*reserved concurrency.*refused for .* s; storage"):
            compute(x + 1, service, **given)
        assert service.refused < 100


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("out of memory", "signal: killed.* projected to need .* not tried again with as much"),
        ("no permission", "invoking function worker in eu-north-1: the reply is 403.*policy"),
        ("another program", "is not a worker of this library"),
    ],
)
def test_faults_that_stay(stored, fault, text):
    _, x = stored
    with (
        Service(fault=lambda number: fault) as service,
        pytest.raises((OSError, ValueError, RuntimeError), match=text) as caught,
    ):
        compute(lazy(x), service, retries=0)
    assert "secret/of" not in str(caught.value)


def test_a_function_that_is_not_there(stored):
    _, x = stored
    with (
        Service("another") as service,
        pytest.raises(OSError, match="reply is 404.*Function not found.*check the function's name"),
    ):
        compute(x + 1, service, function="missing")


def test_wrong_keys(stored):
    _, x = stored
    with Service() as service:
        given = options(service)
        given["storage_options"]["secret"] = "another"
        with pytest.raises(OSError, match="signature.*does not match"):
            (x + 1).compute(executor="lambda", **given)


def test_results_in_memory_and_in_stores(stored, tmp_path):
    values, x = stored
    with Service() as service:
        executor = cubed.runtime.create.create_executor("lambda", options(service))
        cubed.to_zarr(x * 2, tmp_path / "y.zarr", executor=executor)
        np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "y.zarr").compute(), values * 2)
        assert not [p for p in tmp_path.iterdir() if p.suffix != ".zarr"]  # nothing is left


def test_functions_of_python_are_refused(stored):
    _, x = stored
    with Service() as service, pytest.raises(Exception, match="Python|python"):
        compute(cubed.map_blocks(lambda a: a + 1, x, dtype=x.dtype), service)


def test_the_command(stored, tmp_path):
    values, _ = stored
    with Service() as service:
        command = [
            BIN, "eval", "mean(sqrt(x**2 + 1), axis=0)", "--in", f"x={tmp_path}/x.zarr",
            "--out", f"{tmp_path}/m.zarr", "--executor", "lambda:worker", "--max-workers", "2",
            "--work-dir", f"{tmp_path}", "--progress", "none",
        ]  # fmt: skip
        done = subprocess.run(
            command, env={**os.environ, **service.variables}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert service.invocations >= 1
    np.testing.assert_allclose(cubed.from_zarr(tmp_path / "m.zarr").compute(), expected(values))


def test_a_worker_elsewhere_says_so(monkeypatch):
    env = {k: v for k, v in os.environ.items() if k != "AWS_LAMBDA_RUNTIME_API"}
    done = subprocess.run(
        [BIN, "worker", "--lambda"], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "AWS_LAMBDA_RUNTIME_API is not set" in done.stderr


def test_what_is_no_message():
    """The runtime is told of an error, and the worker goes on."""
    from lambda_service import Invocation

    with Service(workers=1) as service:
        for payload in (b"{}", b"no JSON", b'{"cubed": "AAAA"}', b'{"cubed": "%%%%"}', b""):
            event = Invocation(payload)
            service.running[event.id] = event
            service.waiting.put(event)
            answer, error = event.reply.get(timeout=20)
            assert error, payload
            assert b"errorMessage" in answer
        assert service.processes[0].poll() is None


def test_lithops_has_the_rate_of_lambda():
    capabilities = cubed._core.executors()["lambda"]
    rate = capabilities["ramp_workers"], capabilities["ramp_per_second"]
    assert LithopsExecutor.ramp == rate


def test_options():
    create = cubed.runtime.create.create_executor
    with pytest.raises(TypeError, match="function is ''"):
        create("lambda")
    executor = create("lambda", {"function": "f"})
    assert executor.num_workers() == 1000
    assert executor.address == "lambda:f"
    assert executor.capabilities["remote"]


def test_functions_of_python_in_an_image(stored):
    """The entry point of the container image."""
    values, x = stored
    command = (sys.executable, "-m", "cubed.runtime.lambda_worker")
    with Service(command=command) as service:
        y = cubed.map_blocks(lambda a: a * 2 + 1, x, dtype=x.dtype)
        np.testing.assert_array_equal(compute(y, service), values * 2 + 1)
        assert not service.errors


def test_time_that_ends(tmp_path):
    """A function with a time limit below that of its range gives back the tasks that are left."""

    def slow(a):
        time.sleep(0.15)
        return a + 1

    spec = cubed.Spec(tmp_path, allowed_mem="100MB", reserved_mem=0)
    values = np.arange(40.0)
    cubed.to_zarr(cubed.from_array(values, chunks=(1,), spec=spec), tmp_path / "x.zarr")
    x = cubed.from_zarr(tmp_path / "x.zarr", spec=spec)
    command = (sys.executable, "-m", "cubed.runtime.lambda_worker")
    with Service(command=command, timeout=3.0) as service:
        y = cubed.map_blocks(slow, x, dtype=x.dtype)
        np.testing.assert_array_equal(compute(y, service), values + 1)
        assert service.invocations > 2
        assert not service.errors


def test_a_task_longer_than_the_time(stored):
    def endless(a):
        time.sleep(5)
        return a

    _, x = stored
    command = (sys.executable, "-m", "cubed.runtime.lambda_worker")
    with Service(command=command, timeout=0.8) as service:
        y = cubed.map_blocks(endless, x, dtype=x.dtype)
        with pytest.raises(OSError, match="Task timed out after 0.80 seconds"):
            compute(y, service, retries=0)


def test_replies_of_many_tasks(tmp_path):
    """A range of 1,000 tasks has reports of 180 kB."""
    spec = cubed.Spec(tmp_path, allowed_mem="100MB", reserved_mem=0)
    values = np.arange(1000.0)
    cubed.to_zarr(cubed.from_array(values, chunks=(1,), spec=spec), tmp_path / "x.zarr")
    x = cubed.from_zarr(tmp_path / "x.zarr", spec=spec)
    with Service(workers=1) as service:
        result = compute(x + 1, service, max_workers=1)
        np.testing.assert_array_equal(result, values + 1)


# --- The code of a function -----------------------------------------------------------------------


def test_a_libc_that_is_too_new(tmp_path):
    with pytest.raises(
        ValueError, match=r"needs GLIBC_2\.\d+ of the C library \(for \w+.*2\.4: use"
    ):
        lambda_package.write(tmp_path / "worker.zip", BIN, glibc=(2, 4))


def test_another_processor(tmp_path, monkeypatch):
    monkeypatch.setenv("CUBED_PYTHON", sys.executable)
    other = "arm64" if _elf.read(BIN).machine == "x86_64" else "x86_64"
    failed = run("lambda-package", tmp_path / "w.zip", "--architecture", other)
    assert f"expected {other}: name a command that was built for it" in failed.err
    assert not (tmp_path / "w.zip").exists()


def test_libraries_of_32_bits_are_passed_over(tmp_path, monkeypatch):
    """As the loader does, where a machine has libraries for programs of 32 bits."""
    for name in _elf.read(BIN).needed:
        (tmp_path / name).write_bytes(b"\x7fELF\x01\x01\x01" + bytes(45))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    monkeypatch.setattr(lambda_package, "_cached", lambda name: iter([tmp_path / name]))
    found = lambda_package._libraries(_elf.read(BIN))
    assert found
    assert tmp_path not in [e.path.parent for e in found.values()]


def test_a_library_that_is_missing(tmp_path):
    code = "int f(void); int main(void) { return f(); }"
    library = tmp_path / "libgone.so.1"
    compiler = ["cc", "-x", "c", "-", "-x", "none"]
    subprocess.run(
        [*compiler, "-shared", "-fPIC", "-Wl,-soname,libgone.so.1", "-o", library],
        input=b"int f(void) { return 0; }",
        check=True,
    )
    subprocess.run([*compiler, library, "-o", tmp_path / "p"], input=code.encode(), check=True)
    library.unlink()
    with pytest.raises(FileNotFoundError, match=r"needs libgone\.so\.1, which is not found for"):
        lambda_package.write(tmp_path / "worker.zip", tmp_path / "p")


@pytest.mark.parametrize("size", [0, 3, 64, 200])
def test_files_that_are_no_programs(tmp_path, size):
    (tmp_path / "p").write_bytes(pathlib.Path(BIN).read_bytes()[:size])
    with pytest.raises(ValueError, match="p: "):
        lambda_package.write(tmp_path / "worker.zip", tmp_path / "p")


@pytest.fixture
def code(tmp_path, monkeypatch):
    """The folder of an unpacked ZIP with all libraries."""
    path = tmp_path / "worker.zip"
    monkeypatch.setenv("CUBED_PYTHON", sys.executable)
    said = check(run("lambda-package", path, "--bundle-libc")).out
    assert said == f"{path}: {path.stat().st_size:,} bytes\n"
    with zipfile.ZipFile(path) as z:
        z.extractall(tmp_path / "code")
        for i in z.infolist():
            assert i.external_attr >> 16 & 0o777 == 0o755
            (tmp_path / "code" / i.filename).chmod(0o755)
    first = path.read_bytes()
    lambda_package.write(path, BIN, bundle_libc=True)
    assert path.read_bytes() == first
    return tmp_path / "code"


def test_the_package_needs_no_library_of_the_system(stored, code):
    _, x = stored
    with Service(command=("env", "-u", "LD_LIBRARY_PATH", code / "bootstrap")) as service:
        np.testing.assert_array_equal(compute(lazy(x), service), lazy(x).compute())
        for process in service.processes:
            maps = pathlib.Path(f"/proc/{process.pid}/maps").read_text()
            mapped = {line.split()[-1] for line in maps.splitlines() if "/" in line}
            assert any(name.endswith("libcurl.so.4") for name in mapped) or "libcurl" not in maps
            assert all(name.startswith(str(code)) for name in mapped if ".so" in name), mapped


CHROOT = shutil.which("chroot", path="/usr/sbin:/sbin:/usr/bin")


@pytest.mark.skipif(os.geteuid() != 0 or CHROOT is None, reason="needs chroot")
def test_the_package_where_nothing_else_is(code):
    """Nothing but a shell and its libraries."""
    shell = _elf.read("/bin/sh")
    for file in (
        shell.path,
        shell.interpreter,
        *(e.path for e in lambda_package._libraries(shell).values()),
    ):
        place = code / str(file).lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(pathlib.Path(file).resolve().read_bytes())
        place.chmod(0o755)
    done = subprocess.run([CHROOT, code, "/bootstrap"], env={}, capture_output=True, text=True)
    assert "this is not a function of AWS Lambda" in done.stderr


def test_a_package_that_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.setenv("CUBED_PYTHON", sys.executable)
    failed = run("lambda-package", tmp_path / "nowhere/worker.zip", "--bundle-libc")
    assert failed.code == 1
    assert failed.err.startswith("cubed lambda-package: [Errno 2] No such file")
    assert "expected FILE.zip, got 0" in run("lambda-package").err
    monkeypatch.setenv("CUBED_PYTHON", str(tmp_path / "python"))
    assert "which writes the file, does not run" in run("lambda-package", tmp_path / "w.zip").err
