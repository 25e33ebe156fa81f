"""Plans of the benchmarks move little more than the minimum (bench/cost.py)."""

import importlib
import json
import pathlib
from collections.abc import Iterator

import pytest
from conftest import BIN, check, run

import zarr

ROOT = pathlib.Path(__file__).resolve().parents[3]
NEAR = 1.05
#: Each month reads its own part of each chunk: a chunk of 12 months has 12 requests, or is decoded
#: 12 times if parts cannot be read.
PARTS = "climatology"
#: Ratios of requests that are higher: partial sums of a tree; and two workers that each read half
#: of the rows of ten times, and write their halves before these are joined.
MORE = {PARTS: 2.6, "big": 1.25, "winds none": 3.2, "winds blosc": 1.1}


@pytest.fixture(scope="module")
def works() -> Iterator[list]:
    patch = pytest.MonkeyPatch()
    patch.syspath_prepend(str(ROOT / "bench"))
    cost = importlib.import_module("cost")
    yield list(cost.compare(1, cubed=BIN))
    patch.undo()


def test_bytes_are_near_the_least(works):
    assert len(works) == 22
    for work, _, ratios in works:
        assert ratios["bytes"] <= NEAR or work.row == f"c {PARTS} zstd", work.row


def test_requests_are_near_the_least(works):
    compared = {w.row: r["requests"] for w, _, r in works if "requests" in r}
    assert len(compared) == 16
    for row, ratio in compared.items():
        limit = next((n for part, n in MORE.items() if part in row), NEAR)
        assert ratio <= limit, row


@pytest.mark.parametrize("function", ["median", "sort"])
@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_functions_read_the_last_intermediate(tmp_path, function, executor):
    """A function along an axis that chunks divide stores compressed chunks in between once."""
    zarr.create_array(
        tmp_path / "a", shape=(960, 400, 400), chunks=(12, 400, 400), dtype="f4",
        compressors=zarr.codecs.ZstdCodec(level=1),
    )  # fmt: skip
    args = ("eval", f"{function}(a, axis=0)", "--in", f"a={tmp_path}/a", "--out", tmp_path / "o")
    limits = ("--allowed-mem", "100MB", "--max-workers", 2, "--executor", executor)
    made = check(run(*args, *limits, "--work-dir", tmp_path / "work", "--plan", "--json"))
    stages = json.loads(made.out)["stages"]
    assert len(stages) == 2
    nbytes = 960 * 400 * 400 * 4
    assert [s["bytes_read"] for s in stages] == [nbytes, nbytes]
    assert stages[0]["bytes_written"] == nbytes
