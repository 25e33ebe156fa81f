"""Functions that run the command, for all tests."""

import collections
import contextlib
import gc
import itertools
import json
import os
import pathlib
import platform
import re
import resource
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
import shares

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Programs among the tests find modules as tests do, by pytest's configuration.
sys.path += [
    str(folder)
    for folder in sorted(pathlib.Path(__file__).parent.iterdir())
    if folder.is_dir() and str(folder) not in sys.path
]
# Folders of test modules and helpers, for programs that tests start.
TESTS_PATH = os.pathsep.join(
    str(p) for p in (ROOT / "tests/python", *(ROOT / "tests/python").glob("[a-z]*/"))
)
# Absolute: tests run it in other directories.
BIN = str(pathlib.Path(os.environ.get("CUBED_BIN", ROOT / "build/release/cubed")).resolve())
# Of a machine of another kind, with the same bits in its results: `tools/aarch64` says where.
OTHER_BIN = os.environ.get("CUBED_OTHER_BIN")


@contextlib.contextmanager
def no_warnings() -> Iterator[None]:
    """Makes errors of warnings, except those of code that other tests have left in the process."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "this process holds", RuntimeWarning)
        yield


@dataclass
class Result:
    code: int
    out: str
    err: str

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays of `--json`, in their types."""
        doc = json.loads(self.out)
        return {k: to_numpy(v) for k, v in doc.items() if k != "_run" and "data" in v}

    def array(self) -> np.ndarray:
        """The only array of `--json`, whatever its name."""
        (x,) = self.arrays().values()
        return x

    @property
    def run(self) -> dict:
        return json.loads(self.out)["_run"]


def to_numpy(item: dict) -> np.ndarray:
    dtype = np.dtype(item["dtype"])
    shape = tuple(item["shape"])
    if dtype.kind in "mMSU":
        return np.array(item["data"], dtype=dtype).reshape(shape)
    names = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}

    def number(v):
        return names[v] if v in names else int(v)

    if dtype.kind == "c":
        flat = np.array(item["data"], dtype=object).reshape(-1, 2)
        pairs = [complex(*(number(p) if isinstance(p, str) else p for p in r)) for r in flat]
        return np.array(pairs, dtype=dtype).reshape(shape)
    flat = np.array(item["data"], dtype=object).reshape(-1)
    values = [number(v) if isinstance(v, str) else v for v in flat]
    return np.array(values, dtype=dtype).reshape(shape)


def run(
    *args: object, timeout: float = 120, env: dict[str, str] | None = None, command: str = BIN
) -> Result:
    """Runs the command to its end."""
    done = subprocess.run(
        [command, *map(str, args)], env=env, capture_output=True, text=True, timeout=timeout
    )
    return Result(done.returncode, done.stdout, done.stderr)


def check(result: Result) -> Result:
    assert result.code == 0, result.err
    return result


def stages_of(plan: object, name: str) -> Iterator[tuple[int, int]]:
    """The stages of a saved plan, of which a run has begun, and how many tasks each has."""
    for stage in itertools.count():
        refused = run("worker", plan, stage, "0:999999999", "--run", name).err
        if "the plan has" in refused:
            return
        yield stage, int(refused.split("has tasks 0 to ")[1].split()[0])


def inputs(text: str, places: dict[str, object]) -> list[str]:
    """--in for the arrays that an expression names: others would be an error."""
    named = [name for name in places if re.search(rf"\b{name}\b", text)]
    return [word for name in named for word in ("--in", f"{name}={places[name]}")]


WAYS = (
    ("--executor", "single-threaded"),
    ("--executor", "threads", "--max-workers", "3"),
    ("--executor", "processes", "--max-workers", "2"),
    ("--no-optimize",),
    ("--through-bytes",),
)
# Others of this machine; one alone, where it is of another kind.
ISAS = ("x86-64-v2",) if platform.machine() == "x86_64" else ()


def the_same_bits(text, *args, fused=False):
    """The arrays of an evaluation, which must not depend on how and where it is run.

    Fused sums of products depend on whether the instruction set has them: the least one has not.
    """

    def evaluate(*way, command=BIN):
        quiet = ("--json", "--progress", "none")
        return check(run("eval", text, *args, *way, *quiet, command=command)).arrays()

    first = evaluate()
    others = {way: evaluate(*way) for way in WAYS}
    if not fused:
        others |= {isa: evaluate("--isa", isa) for isa in ISAS}
    if OTHER_BIN:
        others[OTHER_BIN] = evaluate(command=OTHER_BIN)
    for way, again in others.items():
        for name, x in first.items():
            assert again[name].tobytes() == x.tobytes(), f"{name} {way}"
    return first


@contextlib.contextmanager
def looking(work: pathlib.Path) -> Iterator[dict[str, int]]:
    """How many runs had folders in a work directory at the same time: in all, and of one plan."""
    most, ended = {"all": 0, "of one plan": 0}, threading.Event()

    def look():
        while not ended.wait(0.002):
            plans = collections.Counter()
            for record in work.glob("cubed-*/.cubed-run"):
                with contextlib.suppress(OSError, ValueError):
                    plans[json.loads(record.read_text())["plan"]] += 1
            most["all"] = max(most["all"], plans.total())
            most["of one plan"] = max(most["of one plan"], *plans.values(), 0)

    looker = threading.Thread(target=look)
    looker.start()
    try:
        yield most
    finally:
        ended.set()
        looker.join()


@contextlib.contextmanager
def short_files(limit):
    """Files cannot get longer, as where a disk is full: nor can what pytest writes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.fixture(scope="session")
def data() -> pathlib.Path:
    path = pathlib.Path(os.environ.get("CUBED_TEST_DATA", ROOT.parent / "shared/data"))
    if not path.is_dir():
        pytest.skip(f"the real data sets are not at {path}: set CUBED_TEST_DATA")
    return path


#: What variables begin with that say where stores are, and who asks.
CREDENTIALS = ("AWS_", "GOOGLE_", "GS_", "AZURE_", "STORAGE_", "CLOUDSDK_", "GCE_", "REDIS_")


def without_credentials() -> dict[str, str]:
    """This process's variables but those."""
    return {k: v for k, v in os.environ.items() if not k.startswith(CREDENTIALS)}


def forget_credentials(monkeypatch):
    for name in os.environ.keys() - without_credentials().keys():
        monkeypatch.delenv(name)


@pytest.fixture
def environment(monkeypatch, tmp_path_factory):
    """Nobody's credentials, of variables or of files at home; a test may set its own."""
    forget_credentials(monkeypatch)
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    return monkeypatch


@pytest.fixture(autouse=True)
def _versions_of_xarray(request):
    """Tests of Xarray run with older versions of it, too: see tools/xarray_versions."""
    if request.node.path.name.startswith(("test_xarray", "test_flox")):
        from xarray_versions import skip_differences

        skip_differences(request.node.name)


if "--nightly" in sys.argv:  # processes among which tests are dealt have no options
    os.environ["CUBED_TEST_NIGHTLY"] = "yes"
NIGHTLY = "CUBED_TEST_NIGHTLY" in os.environ


def cases(quick: int) -> int:
    """How many random cases: so many, or twenty times as many with `--nightly`."""
    return 20 * quick if NIGHTLY else quick


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--nightly", action="store_true", help="thousands of random cases where there are hundreds"
    )
    shares.add_options(parser)


pytest_runtest_protocol = shares.measure


def pytest_collection_finish() -> None:
    """Collections look only at what tests make, as in a program that is smaller: not at thousands
    of tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    """Of this machine by two names, and of another one, each with its key; signed by themselves."""
    place = tmp_path_factory.mktemp("tls")

    def make(name, names, days="2"):
        path = place / f"{name}.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-keyout", path.with_suffix(".key"), "-out", path, "-days", days, "-subj",
             f"/CN={name}", "-addext", f"subjectAltName={names}"],
            check=True, capture_output=True,
        )  # fmt: skip
        whole = place / f"{name}.both"
        whole.write_text(path.with_suffix(".key").read_text() + path.read_text())
        return path, whole

    names = "IP:127.0.0.1,DNS:localhost,DNS:b.localhost"
    return make("here", names), make("elsewhere", "DNS:elsewhere.example")


def peak_of(*args) -> int:
    """The most memory, in bytes, that a process of the command had."""
    code = (
        "import resource, subprocess, sys;"
        "subprocess.run(sys.argv[1:], check=True, capture_output=True);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "-c", code, BIN, *map(str, args)]
    out = subprocess.run(command, capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    return int(out.stdout) * 1024


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Where tests are dealt by groups (`tools/test engines`): an engine has one process. Lithops's
    runners are copied to one place of the machine whenever an executor is made: theirs share it."""
    for item in items:
        kind = getattr(item, "callspec", None) and item.callspec.params.get("engine") or ""
        kind = "lithops" if kind.startswith("lithops") else kind
        item.add_marker(pytest.mark.xdist_group(f"{item.path.stem} {kind}"))
    shares.deselect(config, items)
