"""Checks the page of NCO's operators: operators that it marks as equal are compared with NCO."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from conftest import BIN
from test_climate_indices import with_holes

PAGE = Path(__file__).parents[3] / "docs/coming-from/nco-operators.md"
ROW = re.compile(r"^\| `(nc[^`]+)` \| `(cubed [^`]+)` \| equal \|$", re.MULTILINE)
ROWS = ROW.findall(PAGE.read_text())
OPERATORS = sorted({nco.split()[0] for nco, _ in ROWS})

needs_nco = pytest.mark.skipif(not shutil.which("ncra"), reason="NCO is not there")


def put(path, seed, first):
    """Temperatures with holes as floats (v), and rain as packed integers (w)."""
    rng = np.random.default_rng(seed)
    v = with_holes(rng, 273.15 + rng.normal(10, 12, (10, 3, 4)), 0.1)
    w = with_holes(rng, np.round(rng.gamma(1, 8, v.shape), 2), 0.1)
    dims = ("time", "lat", "lon")
    ds = xr.Dataset(
        {"v": (dims, v.astype("f4"), {"units": "K"}), "w": (dims, w, {"units": "mm"})},
        {
            "time": ("time", first + np.arange(10.0), {"units": "days since 2001-01-01"}),
            "lat": ("lat", [0.0, 10.0, 20.0], {"units": "degrees_north"}),
            "lon": ("lon", [0.0, 10.0, 20.0, 30.0], {"units": "degrees_east"}),
        },
    )
    packing = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 100.0, "_FillValue": -32768}
    encoding = {"v": {"_FillValue": np.float32(-999)}, "w": packing}
    encoding |= {name: {"_FillValue": None} for name in ds.coords}
    ds.to_netcdf(path, format="NETCDF3_CLASSIC", encoding=encoding, unlimited_dims=["time"])


def result(folder, command):
    """Runs a command of the page, and returns the data set that it writes."""
    (folder / "out.nc").unlink(missing_ok=True)
    program, *words = shlex.split(command)
    words = [BIN, *words] if program == "cubed" else [program, "-O", "-h", *words]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stderr)
    with xr.open_dataset(folder / "out.nc", decode_times=False) as ds:
        return ds.load()


@needs_nco
@pytest.mark.parametrize("operator", OPERATORS)
def test_operators_that_are_marked_equal(tmp_path, operator):
    for name, seed, first in (("a", 0, 0), ("b", 1, 10), ("c", 2, 0), ("d", 3, 0)):
        put(tmp_path / f"{name}.nc", seed, first)
    for nco, ours in ROWS:
        if nco.split()[0] != operator:
            continue
        want, got = result(tmp_path, nco), result(tmp_path, ours)
        assert {"v", "w", "u", "t2m"} & set(got.variables), ours
        for name in got.data_vars:
            # NCO rounds to the type of the elements after each step, and packed ones are doubles.
            np.testing.assert_allclose(
                np.squeeze(got[name]), np.squeeze(want[name]), rtol=2e-5, atol=1e-4, err_msg=ours
            )
            if operator in ("ncatted", "ncrename", "ncks", "ncrcat"):
                assert got[name].attrs.get("units") == want[name].attrs.get("units"), ours
                assert got[name].dims == want[name].dims, ours


def test_page_has_all_operators():
    assert len(ROWS) > 35
    assert len(OPERATORS) == 12, OPERATORS
