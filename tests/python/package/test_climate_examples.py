"""The scripts of examples/climate, at a small size: they compare the command with CDO."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BIN

EXAMPLES = Path(__file__).resolve().parents[3] / "examples/climate"


@pytest.mark.skipif(not shutil.which("cdo"), reason="the command cdo is not there")
@pytest.mark.parametrize(
    ("script", "results"),
    [
        (["ensemble_anomalies.py", "--grid", "6x8"], ["mean_map.nc", "spread_map.nc"]),
        (
            ["satellite_to_model.py", "--days", "4", "--grid", "40x80", "--model", "12x15"],
            ["observed.nc", "bias.nc", "spread.nc"],
        ),
        (["heat_waves.py", "--grid", "3x4"], ["tx.nc", "wave_days.nc", "series.nc"]),
    ],
)
def test_results_are_those_of_cdo(tmp_path, script, results):
    words = [sys.executable, EXAMPLES / script[0], tmp_path, *script[1:]]
    env = {**os.environ, "CUBED_BIN": str(BIN)}
    done = subprocess.run(words, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in results:
        assert f"{name}: equal" in done.stdout
