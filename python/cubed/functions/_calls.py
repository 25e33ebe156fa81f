"""Arguments of functions of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cubed.array._array import Array
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import core_of, is_scalar, lazy
from cubed.spec import Spec


def task_mem(spec: Spec | None) -> int:
    """Bytes that a task may use."""
    return (spec or Spec()).task_mem


def operand(value: Any) -> Any:
    """NumPy's and our arrays as the engine's; numbers and None as they are."""
    return value if value is None or is_scalar(value) else core_of(value)


def lazy_list(values: Sequence[Any], name: str) -> list[Array]:
    """A list of arrays as lazy ones; TypeError names the element that is no array."""
    refuse_foreign(values)
    return [lazy(value, f"{name}[{k}]") for k, value in enumerate(values)]
