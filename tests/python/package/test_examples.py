"""The examples run at a small size, and find that their results equal NumPy's."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples/python"
NAMES = [
    "quadratic_means",
    "vorticity",
    "transformed_eulerian_mean",
    "climatological_anomalies",
    "era5_pipeline",
]


@pytest.mark.parametrize("name", NAMES)
def test_example(name, tmp_path):
    command = [sys.executable, "-W", "ignore", EXAMPLES / f"{name}.py", "--dir", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "equal to NumPy" in done.stdout
