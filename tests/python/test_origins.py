"""Errors in functions of users name the line that applied them."""

import inspect

import cubed
import cubed._origins
import cubed.array_api as xp
import pytest


def refuse(block):
    raise ValueError("refused")


def note_of(lazy, **kwargs) -> str:
    with pytest.raises(ValueError, match="refused") as caught:
        lazy.compute(**kwargs)
    (note,) = caught.value.__notes__
    return note


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


def test_lines_are_the_same_plan():
    x = xp.ones((4,), chunks=(2,), dtype=xp.float64)
    plans = []
    for make in (
        lambda: cubed.map_blocks(refuse, x, dtype=x.dtype),
        lambda: cubed.map_blocks(refuse, x, dtype=x.dtype),
    ):
        plans.append(make().plan().save())
    assert plans[0] == plans[1]


def test_what_is_kept_is_bounded():
    for i in range(1000):
        cubed._origins.remember_origin(f"title {i}")
    assert len(cubed._origins._origins) <= 256
    assert cubed._origins.origins_note("title 999, block (0,): ValueError: x") is not None
    assert cubed._origins.origins_note("title 0, block (0,): ValueError: x") is None
