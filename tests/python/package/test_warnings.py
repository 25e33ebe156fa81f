"""Warnings have the line of the user's program that causes them, for any functions called in
between.
"""

import functools
import inspect
import pathlib
import re
import threading
import warnings

import cubed
import numpy as np
import pytest
from cubed.diagnostics.mem_warn import MemoryWarningCallback
from cubed.runtime.types import TaskEndEvent

SPEC = cubed.Spec(allowed_mem="200MB", reserved_mem="100MB")


def lazy(dtype=float):
    return cubed.from_array(np.arange(6, dtype=dtype), chunks=2, spec=SPEC)


def greedy(block):
    return block + np.ones(20_000_000)[0]


class TooMuch(MemoryWarningCallback):
    def on_task_end(self, event):
        super().on_task_end(TaskEndEvent("op-000 f", peak_measured_mem_end=30, projected_mem=20))


def assign():
    x = lazy(int)
    x[1:3] = np.array([np.nan, 1.0])  # here


def assign_by_a_mask():
    x = lazy(int)
    x[lazy() > 2] = np.array(np.inf)  # here


def assign_too_large_a_number():
    lazy("f2")[1:3] = 1e6  # here


def compute_values():
    np.roots(lazy())  # here


def compute_values_by_a_partial():
    functools.partial(np.polyadd, a2=[1.0])(lazy())  # here


def by_xarray():
    xr = pytest.importorskip("xarray")
    xr.DataArray(lazy(), dims="x").reduce(lambda a, **_: np.roots(a)[0])  # here


def take_too_much():
    cubed.map_blocks(greedy, lazy(), dtype=float).compute()  # here


def take_too_much_in_a_thread():
    x = cubed.map_blocks(greedy, lazy(), dtype=float)
    thread = threading.Thread(target=lambda: x.compute())  # here
    thread.start()
    thread.join()


def watched():
    (lazy() + 1).compute(callbacks=[TooMuch()])  # here


PROGRAMS = [
    assign,
    assign_by_a_mask,
    assign_too_large_a_number,
    compute_values,
    compute_values_by_a_partial,
    by_xarray,
    take_too_much,
    take_too_much_in_a_thread,
    watched,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_warnings_are_at_the_line_of_the_program(program):
    lines, first = inspect.getsourcelines(program)
    here = first + next(i for i, line in enumerate(lines) if line.endswith("# here\n"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program()
    ours = [w for w in caught if w.category in (RuntimeWarning, UserWarning)]
    assert ours
    assert {(w.filename, w.lineno) for w in ours} == {(__file__, here)}


def test_nothing_counts_frames_by_itself():
    """Levels that are written down are wrong once somebody else calls."""
    package = pathlib.Path(cubed.__file__).parent
    counting = [
        f.relative_to(package).as_posix()
        for f in package.rglob("*.py")
        if re.search(r"stacklevel|warnings\.warn\(", f.read_text())
    ]
    assert counting == ["base/_warnings.py"]
