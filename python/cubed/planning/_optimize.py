"""What `optimize_function` takes."""

from __future__ import annotations

from functools import partial
from typing import Any


class OptimizeFunction:
    """A name that Cubed for Python has for a way to fuse operations.

    All of them stand for this package's planner, which is the same for all: it fuses what fits
    into memory. They are passed on, not called, and may be wrapped in :class:`functools.partial`
    with options, which have no effect.
    """

    def __init__(self, name: str) -> None:
        self.name: str = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{self.name} cannot be called, expected it as optimize_function=")

    def __repr__(self) -> str:
        return f"<cubed.core.optimization.{self.name}>"


simple_optimize_dag: OptimizeFunction = OptimizeFunction("simple_optimize_dag")
multiple_inputs_optimize_dag: OptimizeFunction = OptimizeFunction("multiple_inputs_optimize_dag")
fuse_only_optimize_dag: OptimizeFunction = OptimizeFunction("fuse_only_optimize_dag")
fuse_all_optimize_dag: OptimizeFunction = OptimizeFunction("fuse_all_optimize_dag")


def optimizes(optimize_graph: bool, optimize_function: Any) -> bool:
    """Whether a plan is optimised.

    Raises
    ------
    TypeError
        The function is none of :mod:`cubed.core.optimization`: there is no graph to give it.
    """
    f = optimize_function
    while isinstance(f, partial):
        f = f.func
    if f is not None and not isinstance(f, OptimizeFunction):
        raise TypeError(
            f"optimize_function is {f!r}, expected None or one of cubed.core.optimization:"
            " other functions have no graph to change here"
        )
    return optimize_graph
