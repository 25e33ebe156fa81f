"""The engine's module with arguments of every kind: see random_calls.py."""

import pathlib
import subprocess
import sys

import pytest
from conftest import cases

SCRIPT = pathlib.Path(__file__).parents[1] / "random_calls.py"


@pytest.mark.parametrize("seed", range(3))
def test_calls_return_or_raise(seed, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-X", "faulthandler", SCRIPT, str(seed), str(cases(6000))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
    )
    last = (tmp_path / "last-call").read_text(errors="replace")[:500]
    assert done.returncode == 0, f"{last}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    returned, raised, runs = (int(w.strip("},")) for w in done.stdout.split()[1:6:2])
    assert returned > 1000 and raised > 1000 and runs > 10
