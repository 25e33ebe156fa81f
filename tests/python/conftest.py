"""Driving the command, for all tests."""

import json
import os
import pathlib
import subprocess
from dataclasses import dataclass

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = os.environ.get("CUBED_BIN", str(ROOT / "build/release/cubed"))


@dataclass
class Result:
    code: int
    out: str
    err: str
    peak_rss: int  # bytes, of this process alone

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays of `--json`, in their types."""
        doc = json.loads(self.out)
        return {k: to_numpy(v) for k, v in doc.items() if k != "_run" and "data" in v}

    @property
    def run(self) -> dict:
        return json.loads(self.out)["_run"]


def to_numpy(item: dict) -> np.ndarray:
    dtype = np.dtype(item["dtype"])
    shape = tuple(item["shape"])
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


def run(*args: object, timeout: float = 120) -> Result:
    """Runs the command to its end and measures its memory."""
    with subprocess.Popen(
        [BIN, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        out, err = process.communicate(timeout=timeout)
    return Result(process.returncode, out, err, 0)


def run_measured(*args: object) -> Result:
    """As `run`, with the peak resident memory that the system saw."""
    out_r, out_w = os.pipe()
    pid = os.posix_spawn(
        BIN,
        [BIN, *map(str, args)],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, out_w, 1), (os.POSIX_SPAWN_CLOSE, out_r)],
    )
    os.close(out_w)
    with os.fdopen(out_r) as f:
        out = f.read()
    _, status, usage = os.wait4(pid, 0)
    return Result(os.waitstatus_to_exitcode(status), out, "", usage.ru_maxrss * 1024)


def check(result: Result) -> Result:
    assert result.code == 0, result.err
    return result


@pytest.fixture(scope="session")
def data() -> pathlib.Path:
    path = pathlib.Path(os.environ.get("CUBED_TEST_DATA", ROOT.parent / "shared/data"))
    if not path.is_dir():
        pytest.skip(f"the real data sets are not at {path}: set CUBED_TEST_DATA")
    return path
