"""The package's types: a user's program is checked with `mypy --strict`."""

import importlib.util
import pathlib
import subprocess
import sys

import cubed

EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "examples/python/typed.py"

WRONG = """
import cubed
x = cubed.ones((2, 3))
y: int = x.sum(0)
x.no_such_method()
cubed.Spec(allowed_mem=[1])
cubed.no_such_function()
cubed.sum(x, axis="rows")
cubed.ones((2, 3), dtype=3.5)
x.rechunk(1.5)
cubed.ones((2, 3), chunks=2.5)
x.mean(axis=[0.5])
x.compute().no_such_attribute
cubed.exceptions.PlanTooLargeError().enough_mem.no_such_attribute
cubed.to_zarr(x, "x.zarr").compute()
cubed.store([x], ["x.zarr"])[0]
cubed.ma.masked_array([1.0]) @ 2
(cubed.ma.masked_array([1.0]) + 1).no_such_attribute
"""

# What is given with `compute` is known by its value.
RIGHT = """
import cubed
x = cubed.ones((2, 3))
cubed.to_zarr(x, "x.zarr", compute=False).compute()
cubed.store([x, x], ["x.zarr", "y.zarr"], compute=False)[0].compute()
for now in (True, False):
    cubed.to_zarr(x, "x.zarr", compute=now)
m = cubed.ma.masked_array([1.0, 2.0], [False, True])
n: cubed.ma.MaskedArray = 2 * m + 1 - m / 3 // 2 % 5 ** m
n = -abs(+m)
n = ~((m < 3) & (m >= 1) | (m == 2) ^ (m != 1))
n = cubed.ma.masked_array([1]) << 2 >> 1
cubed.ma.log(m)
"""


def test_a_program_is_typed(tmp_path, cache):
    # Every name is there to a type checker, and is not any name of any type.
    names = tmp_path / "names.py"
    public = [n for n in cubed.__all__ if not n.startswith("__")]
    names.write_text("import cubed\n" + "".join(f"cubed.{n}\n" for n in public))
    right = tmp_path / "right.py"
    right.write_text(RIGHT)
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    # One start for all, and mypy's cache is kept: it looks by itself for what has changed.
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache.mkdir("mypy")]
    done = subprocess.run(
        [*command, EXAMPLE, names, right, wrong],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    found = done.stdout
    assert "checked 4 source files" in found, found + done.stderr
    assert {e.split(":")[0] for e in found.splitlines() if ": error: " in e} == {"wrong.py"}, found
    for line in range(4, WRONG.count("\n")):
        assert f"wrong.py:{line}: error" in found, found


def test_it_runs(tmp_path):
    spec = importlib.util.spec_from_file_location("typed_example", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert 4 < module.main(tmp_path) < 8
