"""Errors of tasks name the program's lines that created the arrays of the failed stage."""

import inspect
import re

import cubed
import cubed._core
import cubed.array_api as xp
import pytest
from conftest import short_files
from cubed.base._origins import add_origins
from cubed.diagnostics import note_origins


def refuse(block):
    raise ValueError("refused")


def note_of(lazy, error=ValueError, match="refused", **kwargs) -> str:
    with pytest.raises(error, match=match) as caught:
        lazy.compute(**kwargs)
    return caught.value.__notes__[-1]  # after what a function's exception says of its block


def here() -> str:
    """The line after the caller's."""
    frame = inspect.currentframe().f_back
    return f'File "{__file__}", line {frame.f_lineno + 1}'


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_the_line_is_noted(executor):
    spec = cubed.Spec(allowed_mem="1GB", reserved_mem="300MB")
    x = xp.ones((4,), chunks=(2,), dtype=xp.float64, spec=spec)
    line = here()
    y = cubed.map_blocks(refuse, x, dtype=x.dtype)
    assert line in note_of(y + 1, executor=executor)
    assert "y = cubed.map_blocks(refuse, x, dtype=x.dtype)" in note_of(y)


def test_of_several_functions_the_right_one():
    def other_refuse(block):
        raise ValueError("refused")

    x = xp.ones((4,), chunks=(2,), dtype=xp.float64)
    y = cubed.map_blocks(refuse, x, dtype=x.dtype)
    line = here()
    z = cubed.map_blocks(other_refuse, x, dtype=x.dtype)
    assert line in note_of(z) and line not in note_of(y)


def test_chunks_that_are_corrupt(tmp_path):
    path = tmp_path / "x.zarr"
    cubed.to_zarr(xp.ones((40,), chunks=(10,), dtype=xp.float64), str(path))
    (path / "c" / "2").write_bytes(b"no chunk of zstd at all")
    opened = here()
    x = cubed.from_zarr(str(path))
    doubled = here()
    y = x * 2
    other = here()
    z = xp.sum(y, axis=0)
    text = note_of(z, ValueError, r"stage 0 .*chunk")
    # From the result to what it reads.
    assert text.index(other) < text.index(doubled) < text.index(opened)
    assert "y = x * 2" in text and text.startswith(
        "source lines that created the arrays of the stage, the last line first:"
    )


def test_chunks_that_cannot_be_written(tmp_path):
    line = here()
    x = cubed.random.random((40000,), chunks=(10000,)) + 1
    with pytest.raises(OSError, match="stage 0") as caught, short_files(10_000):
        cubed.to_zarr(x, str(tmp_path / "x.zarr"), executor="single-threaded")
    assert line in caught.value.__notes__[0]


def test_plans_that_do_not_fit(tmp_path):
    path = str(tmp_path / "x.zarr")
    cubed.to_zarr(xp.ones((1000, 1000), chunks=(1000, 1000), dtype=xp.float64), path)
    spec = cubed.Spec(allowed_mem="1MB", reserved_mem=0)
    small = xp.ones((10, 10), chunks=(5, 5), spec=spec)
    opened = here()
    x = cubed.from_zarr(path, spec=spec)
    doubled = here()
    y = x * 2
    for refused in (lambda: y.plan(), lambda: y.compute(), lambda: cubed.compute(small + 1, y)):
        with pytest.raises(MemoryError, match=r"stage \d+ \(\w+\*2 ") as caught:
            refused()
        (note,) = caught.value.__notes__
        assert note.index(doubled) < note.index(opened)
        assert "y = x * 2" in note and "small" not in note


def test_lines_of_stages_that_a_plan_added():
    """The parts of a reduction come from the reduction's line, whatever the engine made of it."""
    x = cubed.random.random((4000, 40), chunks=(10, 40))
    line = here()
    plan = xp.sum(x).plan()
    assert plan.num_stages == 2
    for stage in range(2):
        error = RuntimeError("no more")
        error._cubed_origins = plan._plan.origins(stage)
        add_origins(error)
        assert line in error.__notes__[0]


def test_in_loops_a_line_has_one_number():
    x = xp.ones((4,), chunks=(2,))
    for _ in range(20):
        x = x + 1
    numbers = x.plan()._plan.origins(0)
    assert len(numbers) == 2 == len(set(numbers))


def test_calls_through_libraries(tmp_path):
    xr = pytest.importorskip("xarray")
    path = tmp_path / "x.zarr"
    cubed.to_zarr(xp.ones((40,), chunks=(10,), dtype=xp.float64), str(path))
    (path / "c" / "0").write_bytes(b"no chunk")
    x = xr.DataArray(cubed.from_zarr(str(path)), dims="t")
    line = here()
    lazy = x.mean("t")
    with pytest.raises(ValueError, match="stage") as caught:
        lazy.compute()
    assert line in caught.value.__notes__[0]


def test_lines_are_the_same_plan():
    x = xp.ones((4,), chunks=(2,), dtype=xp.float64)
    plans = []
    for make in (
        lambda: cubed.map_blocks(refuse, x, dtype=x.dtype),
        lambda: cubed.map_blocks(refuse, x, dtype=x.dtype),
    ):
        # Without the checksum and the names that arrays are given one after another.
        plans.append(re.sub(rb"array-\d+", b"", make().plan().save()[16:]))
    assert plans[0] == plans[1]


def test_what_is_kept_is_bounded():
    first = xp.ones((4,)).plan()._plan.origins(0)[0]
    assert cubed._core.origin(first) is not None
    code = "import cubed.array_api as xp\nx = xp.ones((4,))"
    for _ in range(4200):
        scope = {}
        exec(compile(code, "program", "exec"), scope)
    assert cubed._core.origin(first) is None
    assert cubed._core.origin(scope["x"].plan()._plan.origins(0)[0]) is not None
    assert cubed._core.origin(0) is None and cubed._core.origin(2**31) is None


def test_it_can_be_switched_off(tmp_path):
    assert note_origins(False) is True
    try:
        x = xp.ones((4,), chunks=(2,), dtype=xp.float64)
        y = cubed.map_blocks(refuse, x, dtype=x.dtype)
        assert y.plan()._plan.origins(0) == ()
        with pytest.raises(ValueError, match="refused") as caught:
            y.compute()
        (where,) = caught.value.__notes__
        assert where.startswith("stage ")
    finally:
        assert note_origins() is False
