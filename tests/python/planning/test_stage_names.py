"""Names of stages come from the user's program: in plans, saved plans, the command and errors."""

import json
import re

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
from conftest import check, run

import zarr

#: Expressions of the command, and the names of their stages.
WRITTEN = {
    "mean(u*v, axis=0)": ["mean(u*v)"],
    "sqrt(mean(u*v)) + 1": ["sqrt(mean(u*v)) + 1"],
    "(u + v)*2/(u - v)": ["(u + v)*2/(u - v)"],
    "u - (v - u)": ["u - (v - u)"],
    "-u**3": ["-u**3"],
    "(u > 0.5) & ~(v <= u)": ["(u > 0.5) & ~(v <= u)"],
    "where(u > 0.5, u, 0)": ["where(u > 0.5, u, 0)"],
    "std(u, axis=1)": ["std(u)"],
    "var(u)": ["var(u)"],
    "nanmean(u)": ["nanmean(u)"],
    "nanstd(u)": ["nanstd(u)"],
    "nanmax(u)": ["nanmax(u)"],
    "nansum(u)": ["nansum(u)"],
    "all(u > 0)": ["all(u > 0)"],
    "argmax(u, axis=0)": ["argmax(u)"],
    "u[3, ::2]": ["u[3, ::2]"],
    "u[::-1]": ["u[::-1]"],
    "u[2:5] + 1": ["u[2:5] + 1"],
    "transpose(u)": ["transpose(u)"],
    "concat([u, v])": ["concat(u, v)"],
    "reshape(u, (-1,))": ["reshape(u)"],
    "cumsum(u, axis=0)": ["cumulative_sum(u)"],
    "sort(u, axis=1)": ["sort(u)"],
    "float32(u)": ["float32(u)"],
    "u": ["copy(u)"],
    "rechunk(u, (20, 3))": ["rechunk(u)"],
    "arange(10) * 2": ["arange"],
    "sum(u)/3": ["sum(u)/3"],
}


@pytest.fixture(scope="module")
def winds(tmp_path_factory):
    path = tmp_path_factory.mktemp("winds") / "winds.zarr"
    group = zarr.open_group(path, mode="w")
    for k, name in enumerate("uv"):
        values = np.random.default_rng(k).random((20, 12))
        group.create_array(name, data=values, chunks=(5, 12), dimension_names=["t", "x"])
    return path


def bare(stages):
    return [name.partition(" -> ")[0] for name in stages]


@pytest.mark.parametrize("text", WRITTEN)
def test_the_command_names_stages_by_what_was_written(text, winds):
    used = [f"--in={name}={winds}::{name}" for name in "uv" if re.search(rf"\b{name}\b", text)]
    plan = json.loads(check(run("eval", f"y = {text}", *used, "--plan", "--json")).out)
    assert bare(s["operation"] for s in plan["stages"]) == WRITTEN[text]


def test_names_go_through_what_is_stored_on_the_way(winds):
    u = cubed.from_zarr(str(winds / "u"))
    names = bare(s["name"] for s in ((u - u.mean(axis=0)) ** 3).plan().stages)
    assert names == ["sum(u)", "(u - mean(u))**3"]


def test_parts_of_a_reduction_say_so():
    x = cubed.random.random((4000, 4), chunks=(10, 4))
    names = bare(s["name"] for s in xp.mean(x).plan().stages)
    assert names == ["parts of sum(random_uniform())", "mean(random_uniform())"]


def double(block):
    return block * 2


def test_functions_of_users_have_their_operands(winds):
    u = cubed.from_zarr(str(winds / "u"))
    (stage,) = cubed.map_blocks(double, u, dtype=float).plan().stages
    assert bare([stage["name"]]) == ["map_blocks(double, u)"]


def test_saved_plans_have_the_same_names(winds):
    u, v = (cubed.from_zarr(str(winds / name)) for name in "uv")
    plan = cubed.plan(xp.sqrt((u * v).mean(axis=0)), u - u.mean())
    loaded = cubed.load_plan(plan.save())
    assert [s["name"] for s in loaded.stages] == [s["name"] for s in plan.stages]


def test_long_names_leave_out_the_innermost_parts(winds):
    u = cubed.from_zarr(str(winds / "u"))
    y = u
    for _ in range(40):
        y = xp.sin(y * 2)
    (stage,) = y.plan().stages
    name = bare([stage["name"]])[0]
    assert name.startswith("sin(") and "..." in name and len(name) <= 64
    many = u
    for k in range(60):
        many = xp.where(many > k, many * many, xp.cos(many) + many)
    assert len(bare([many.plan().stages[-1]["name"]])[0]) <= 200


def test_errors_name_what_was_written(tmp_path):
    x = cubed.from_array(np.zeros((2, 2)), chunks=(2, 2))
    with pytest.raises(np.linalg.LinAlgError, match=r"stage 0 \(cholesky\(array\) -> "):
        xp.linalg.cholesky(x).compute()
