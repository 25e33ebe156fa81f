"""Settings in files and the environment; and the memory that processes need."""

import copy
import json
import os
import pickle
import resource
import subprocess
import sys

import cubed
import cubed.runtime.create
import pytest

SHOW = """
import json, cubed
s = cubed.Spec()
plan = cubed.plan(cubed.ones(3))
print(json.dumps([s.allowed_mem, s.reserved_mem, plan.executor.name, plan.allowed_mem]))
"""


def show(**env):
    done = subprocess.run(
        [sys.executable, "-c", SHOW], env={**os.environ, **env}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_file_and_variables(tmp_path):
    file = tmp_path / "cubed.yaml"
    file.write_text(
        "spec:\n  allowed_mem: $MY_MEMORY\n  reserved_mem: 50MB\n  executor_name: single-threaded\n"
    )
    env = {"CUBED_CONFIG": str(file), "MY_MEMORY": "700MB"}
    assert show(**env) == [700_000_000, 50_000_000, "single-threaded", 700_000_000]
    env["CUBED_SPEC__ALLOWED_MEM"] = "600MB"  # is stronger
    assert show(**env) == [600_000_000, 50_000_000, "single-threaded", 600_000_000]


@pytest.mark.parametrize("executor", ["single-threaded", "threads", "processes"])
def test_what_a_process_needs(executor):
    size = cubed.measure_reserved_mem(executor, max_workers=1)
    # Python and NumPy are there, and the data of this test are not. This process may be large, and
    # what is measured has mapped files, of which not all are in the peak.
    most = max(2_000_000_000, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1280)
    assert 10_000_000 < size <= most


def test_codecs_of_what_is_stored(tmp_path):
    gzip = [
        {"name": "bytes", "configuration": {"endian": "little"}},
        {"name": "gzip", "configuration": {"level": 1}},
    ]
    sizes = []
    for i, compressor in enumerate((None, "auto", gzip)):
        spec = cubed.Spec(zarr_compressor=compressor)
        cubed.to_zarr(cubed.ones((1000,), spec=spec), tmp_path / str(i))
        sizes.append((tmp_path / str(i) / "c/0").stat().st_size)
        assert cubed.from_zarr(tmp_path / str(i)).sum().compute() == 1000
    assert sizes[0] == 8000 and max(sizes[1:]) < 200


EXECUTORS = [
    {"executor": "threads"},
    {"executor": "processes"},
    {"executor": cubed.runtime.create.create_executor("threads")},
    {"executor": cubed.runtime.create.create_executor("threads", {"max_workers": 2})},
    {"executor": cubed.runtime.create.create_executor("threads", {"retries": 0})},
    {"executor": cubed.runtime.create.create_executor("single-threaded")},
    {"executor": cubed.runtime.create.create_executor("processes", {"use_backups": True})},
    {"executor": cubed.runtime.create.create_executor("processes")},
]


def test_specs_with_equal_executors_are_equal():
    specs = [cubed.Spec(allowed_mem="1GB", **e) for e in EXECUTORS]
    for i, mine in enumerate(specs):
        others = [copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))]
        assert all(mine == o and hash(mine) == hash(o) for o in others)
        x, y = (cubed.ones(3, spec=s) for s in (mine, others[1]))
        assert (x + y).spec == mine
        assert (pickle.loads(pickle.dumps(x)) * y + x).spec == mine
        assert [j for j, other in enumerate(specs) if other == mine] == [i]
    assert cubed.Spec(executor="threads") == cubed.Spec(executor_name="threads")
    made = [cubed.runtime.create.create_executor("threads") for _ in range(2)]
    assert made[0] == made[1] and len(set(made)) == 1 and made[0] != "threads"
    with pytest.raises(ValueError, match="different specs"):
        cubed.ones(3, spec=specs[0]) + cubed.ones(3, spec=specs[3])


def test_options_of_a_spec_are_for_whatever_executor():
    x = cubed.ones(3, spec=cubed.Spec(executor_options={"max_workers": 3}))
    assert x.plan().executor.max_workers == 3
    by_name = cubed.Spec(executor="threads", executor_options={"max_workers": 4})
    assert cubed.ones(3, spec=by_name).plan().executor.max_workers == 4
