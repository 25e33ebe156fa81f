"""Modules next to a program are sent to workers of Lithops, which start in another folder."""

import os
import subprocess
import sys

import pytest
from cubed.runtime.create import create_executor

PROGRAM = """
import os
import sys

import cubed
import numpy as np
import helpers
import pack.inner
from cubed.runtime.executors.lithops import modules_beside_program


def function(block):
    return pack.inner.more(helpers.twice(block))


config = {
    "lithops": {"backend": "localhost", "storage": "localhost"},
    "localhost": {"runtime": sys.executable},
}
if __name__ == "__main__":
    print(modules_beside_program())
    options = {"config": config, "max_workers": 1, "log_level": "ERROR", **eval(sys.argv[2])}
    spec = cubed.Spec(
        sys.argv[1], allowed_mem="300MB", executor_name="lithops", executor_options=options
    )
    x = cubed.from_array(np.arange(4.0), chunks=4, spec=spec)
    # By reference: they must be imported there.
    for f, values in ((helpers.twice, 2 * np.arange(4.0)), (function, 2 * np.arange(4.0) + 1)):
        np.testing.assert_array_equal(cubed.map_blocks(f, x, dtype="f8").compute(), values)
"""


@pytest.fixture
def program(tmp_path):
    pytest.importorskip("lithops")
    folder = tmp_path / "program"
    (folder / "pack").mkdir(parents=True)
    (folder / "helpers.py").write_text("def twice(block):\n    return block * 2\n")
    (folder / "pack/__init__.py").touch()
    (folder / "pack/inner.py").write_text("def more(block):\n    return block + 1\n")
    (folder / "unused.py").write_text("raise ImportError\n")
    (folder / "program.py").write_text(PROGRAM)

    def start(options="{}"):
        (tmp_path / "elsewhere").mkdir(exist_ok=True)
        env = {k: v for k, v in os.environ.items() if not k.startswith("__LITHOPS")}
        return subprocess.run(
            [sys.executable, folder / "program.py", tmp_path / "work", options],
            cwd=tmp_path / "elsewhere", env=env, capture_output=True, text=True, timeout=300,
        )  # fmt: skip

    return start


def test_modules_beside_a_program_go_along(program):
    done = program()
    assert done.returncode == 0, done.stderr
    assert done.stdout == "['helpers', 'pack']\n"


def test_modules_can_be_left_out(program):
    done = program("{'include_modules': []}")
    assert done.returncode != 0
    assert "No module named 'helpers'" in done.stderr
    named = program("{'include_modules': ['helpers', 'pack']}")
    assert named.returncode == 0, named.stderr


def test_names_of_modules_are_a_list():
    pytest.importorskip("lithops")
    executor = create_executor("lithops", {"include_modules": "helpers"})
    with pytest.raises(TypeError, match=r"include_modules is 'helpers', expected a list of names"):
        executor.connect()
