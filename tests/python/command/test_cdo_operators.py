"""The page of CDO's operators: those that are marked equal, beside CDO."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from conftest import cases, check, run
from test_calendar_statistics import make
from test_climate_indices import by_cdo, put, with_holes

PAGE = Path(__file__).parents[3] / "docs/coming-from/cdo-operators.md"
CALENDARS = ["standard", "noleap", "360_day"]
ROW = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \| equal \|$", re.MULTILINE)
ROWS = ROW.findall(PAGE.read_text())

needs_cdo = pytest.mark.skipif(not shutil.which("cdo"), reason="the command cdo is not there")


def inputs_of(operator):
    """The files of an operator: a series, temperatures or precipitation, and a second file."""
    family = re.fullmatch(r"(y?[a-z]+?)(add|sub|mul|div)", operator)
    if family:
        return ["a.nc", f"{family[1]}mean.nc"]
    if re.match(r"(tim|fld)co", operator) or operator in ("add", "sub", "mul", "div"):
        return ["t.nc", "y.nc"]
    if operator.startswith("eca_"):
        return ["p.nc" if re.match(r"eca_(r|c[dw]d|sdii)", operator) else "t.nc"]
    if operator in ("exp", "log10", "ln", "sqrt", "reci", "not"):
        return ["small.nc"]
    if re.match(r"[a-z]+c,|set|n?int|abs|sqr|sin|cos|tan", operator):
        return ["t.nc"]
    return ["months.nc" if operator == "yearmonmean" else "a.nc"]


def make_inputs(folder, calendar):
    rng = np.random.default_rng(0)
    make(folder / "a.nc", calendar, 900, 24)
    t = with_holes(rng, 273.15 + rng.normal(10, 12, (360, 2, 3)), 0.1)
    put(folder / "t.nc", t, calendar, "K")
    put(folder / "y.nc", with_holes(rng, t / 2 + rng.normal(0, 3, t.shape), 0.1), calendar, "K")
    small = with_holes(rng, rng.integers(0, 9, t.shape) / 2, 0.1)
    put(folder / "small.nc", small, calendar, "1")
    rain = np.where(rng.random(t.shape) < 0.5, 0, rng.gamma(1, 8, t.shape))
    put(folder / "p.nc", with_holes(rng, rain, 0.05), calendar, "mm")


def second_file(folder, name):
    if name == "months.nc" or name.endswith("mean.nc"):
        by_cdo(folder, "monmean" if name == "months.nc" else name.removesuffix(".nc"), "a.nc")
        (folder / "want.nc").rename(folder / name)


@needs_cdo
@pytest.mark.parametrize("calendar", CALENDARS)
def test_operators_that_are_marked_equal(tmp_path, calendar):
    assert len(ROWS) > 100
    make_inputs(tmp_path, calendar)
    # A third of the rows with each calendar, or all rows.
    rows = ROWS if cases(1) > 1 else ROWS[CALENDARS.index(calendar) :: 3]
    for operator, words in rows:
        files = inputs_of(operator)
        for name in files:
            if not (tmp_path / name).exists():
                second_file(tmp_path, name)
        want = np.squeeze(by_cdo(tmp_path, operator, *files))
        out = tmp_path / "got.nc"
        paths = [tmp_path / name for name in files]
        check(run(words, *paths, out, "--overwrite", "--progress", "none"))
        with xr.open_dataset(out, decode_times=False) as got:
            have = np.squeeze(got.v)
            np.testing.assert_allclose(have, want, rtol=3e-4, atol=2e-3, err_msg=operator)
