"""Plans for workers on other machines are limited to this machine's memory if they run here."""

import json
import pickle

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
from conftest import check, run

import zarr

MANY = 1000
QUIET = ("--progress", "none")


@pytest.fixture
def x(tmp_path):
    values = np.arange(10_000, dtype="f8").reshape(100, 100)
    zarr.create_array(tmp_path / "x", shape=values.shape, chunks=(10, 100), dtype="f8")[...] = (
        values
    )
    return values


def plan(tmp_path, *options):
    places = ("--in", f"x={tmp_path / 'x'}", "--out", tmp_path / "y")
    limits = ("--allowed-mem", "2GB", "--max-workers", MANY)
    return run("eval", "sum(x * 2, axis=0)", *places, *limits, *QUIET, *options)


def test_the_command_plans_for_them(tmp_path, x):
    refused = plan(tmp_path, "--plan")
    assert refused.code != 0
    assert f"{MANY} workers with 2 GB each may use 2 TB, but this machine has" in refused.err
    saved = tmp_path / "p.cubed"
    check(plan(tmp_path, "--other-machines", "--save-plan", saved))

    here = run("run", saved, *QUIET)
    assert here.code != 0
    assert f"{MANY} workers with 2 GB each" in here.err
    assert "use at most" in here.err
    assert not (tmp_path / "y").exists()
    check(run("run", saved, *QUIET, "--max-workers", 2))
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "y")[...], (x * 2).sum(axis=0))


def test_stages_are_those_of_as_many_workers_here(tmp_path, x):
    options = ("--in", f"x={tmp_path / 'x'}", "--plan", "--json", "--max-workers", 2)
    here, there = (
        json.loads(check(run("eval", "x * 2", *options, *more)).out)["stages"]
        for more in ((), ("--other-machines",))
    )
    assert here == there


def test_specs_say_so(tmp_path):
    here = cubed.Spec(tmp_path, allowed_mem="2GB")
    there = cubed.Spec(tmp_path, allowed_mem="2GB", other_machines=True)
    assert not here.other_machines
    assert there.other_machines
    assert here != there
    assert pickle.loads(pickle.dumps(there)) == there
    assert "other_machines=True" in repr(there)
    assert "other_machines" not in repr(here)


def test_arrays_are_planned_for_them_and_refused_here(tmp_path):
    values = np.arange(12.0)
    options = {"max_workers": MANY}
    for other in (False, True):
        spec = cubed.Spec(
            tmp_path, allowed_mem="2GB", executor_options=options, other_machines=other
        )
        y = xp.sum(cubed.from_array(values, chunks=3, spec=spec))
        with pytest.raises(MemoryError, match="1000 workers with 2 GB each"):
            y.compute()
        if other:
            assert y.plan().num_tasks > 0
            assert y.compute(max_workers=2) == values.sum()
        else:
            with pytest.raises(MemoryError, match="this machine has"):
                y.plan()
