"""Names that programs for Cubed for Python use: options of the optimisation of plans, and members
of plans.
"""

import xml.etree.ElementTree as ET
from functools import partial

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
from cubed.core import optimization
from cubed.planning._compute import _Maker
from cubed.planning._totals import PlanTotals

CHOICES = [getattr(optimization, name) for name in optimization.__all__]


@pytest.fixture
def lazy(tmp_path):
    spec = cubed.Spec(str(tmp_path), allowed_mem="40MB", reserved_mem="10MB")
    x = xp.ones((60, 40), chunks=(10, 10), spec=spec)
    return xp.sort(x - xp.mean(x, axis=0), axis=0) + 1


@pytest.mark.parametrize("choice", CHOICES, ids=repr)
def test_optimize_functions(lazy, choice, tmp_path):
    best = lazy.plan().num_stages
    for f in (choice, partial(choice, max_total_source_arrays=2), partial(partial(choice), a=1)):
        assert lazy.plan(optimize_function=f).num_stages == best
        assert cubed.plan(lazy, optimize_function=f).num_stages == best
    off = lazy.plan(optimize_graph=False, optimize_function=choice).num_stages
    assert off == lazy.plan(optimize_graph=False).num_stages > best
    np.testing.assert_array_equal(lazy.compute(optimize_function=choice), np.ones((60, 40)))
    assert lazy.visualize(tmp_path / "p.svg", optimize_function=choice).path.exists()
    cubed.to_zarr(lazy, str(tmp_path / "x.zarr"), optimize_function=choice)
    np.testing.assert_array_equal(cubed.from_zarr(str(tmp_path / "x.zarr")).compute(), 1)


def test_functions_that_choose(lazy, tmp_path):
    """A user's function gets the graph without fusion, and returns it or the optimised one."""
    fused, unfused = (lazy.plan(optimize_graph=on).num_stages for on in (True, False))
    seen = []

    def choose(dag, array_names=None):
        operations = [n for n, d in dag.nodes(data=True) if d["type"] == "op"]
        seen.append((len(operations), array_names))
        return optimization.multiple_inputs_optimize_dag(dag, array_names=array_names)

    assert lazy.plan(optimize_function=choose).num_stages == fused < unfused
    assert seen == [(unfused, (lazy.name,))]
    for f in (lambda dag: dag, lambda dag, **options: dag, partial(lambda limit, dag: dag, 3)):
        assert lazy.plan(optimize_function=f).num_stages == unfused
    np.testing.assert_array_equal(lazy.compute(optimize_function=choose), np.ones((60, 40)))
    assert lazy.visualize(tmp_path / "p.svg", optimize_function=choose).path.exists()
    cubed.to_zarr(lazy, tmp_path / "x.zarr", optimize_function=choose)
    assert lazy.plan(optimize_function=choose, optimize_graph=False).num_stages == unfused
    assert len(seen) == 4  # not called where nothing is optimised


def test_plans_of_a_choice(lazy, monkeypatch):
    """The plan whose graph the function returned is the plan that runs; it is not made again."""
    made = []
    own = _Maker.plan
    monkeypatch.setattr(_Maker, "plan", lambda self, of: made.append(of) or own(self, of))
    for choose, n in ((lambda dag: dag, 1), (CHOICES[0], 1), (lambda dag: CHOICES[0](dag), 2)):
        made.clear()
        lazy.plan(optimize_function=choose)
        assert len(made) == n


def test_functions_that_cannot_choose(lazy):
    with pytest.raises(TypeError, match=r"optimize_function is 'simple_optimize_dag', expected"):
        lazy.compute(optimize_function="simple_optimize_dag")
    other = lazy.plan().dag
    for f in (lambda dag: dag.copy(), partial(sorted, reverse=True), lambda dag: other):
        with pytest.raises(TypeError, match="expected the graph that it got, or the result of a"):
            lazy.compute(optimize_function=f)
    with pytest.raises(TypeError, match="fuse_all_optimize_dag cannot be called with {}, expected"):
        optimization.fuse_all_optimize_dag({})
    with pytest.raises(TypeError, match="simple_optimize_dag cannot be called with"):
        optimization.simple_optimize_dag(other)


def test_memory_of_plans(lazy):
    plan = lazy.plan()
    assert not plan.exceeds_memory and plan.ops_exceeding_memory == []
    plan.validate()
    kinds = ("input", "intermediate", "output")
    for unit in ("narrays", "nbytes", "nchunks"):
        parts = [getattr(plan, f"total_{kind}_{unit}") for kind in kinds]
        assert getattr(plan, f"total_{unit}") == sum(parts) > 0


def test_stages_that_exceed_memory():
    class Small(PlanTotals):
        stages = tuple(
            {"name": n, "projected_mem": m} for n, m in (("a", 50), ("b", 70), ("c", 90))
        )
        allowed_mem, reserved_mem = 100, 40

    assert [name for name, _ in Small().ops_exceeding_memory] == ["c", "b"]
    assert Small().exceeds_memory
    with pytest.raises(ValueError, match="stage 'c' needs 90 bytes in addition to reserved_mem 40"):
        Small().validate()


def test_to_svg():
    x = xp.ones((60, 40), chunks=(10, 20))
    root = ET.fromstring(x.to_svg())
    (grid,) = root.iter("{http://www.w3.org/2000/svg}rect")
    assert (grid.get("height"), grid.get("width")) == ("500.0", "333.3")
    (lines,) = (p.get("d") for p in root.iter("{http://www.w3.org/2000/svg}path"))
    assert lines.count("h333.3") == 5
    assert lines.count("V0") == 1
    assert '<rect width="40.0" height="60.0"' in x.to_svg(size=60)
    assert xp.ones(()).to_svg() == ""
