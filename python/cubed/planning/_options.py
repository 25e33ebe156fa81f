"""Options of a run, passed together from :func:`cubed.compute` to the plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from cubed.planning._choice import FUSED
from cubed.runtime.create import create_executor
from cubed.runtime.executors.base import Executor
from cubed.spec import Spec, setting


class OptimizeFunction:
    """A strategy of Cubed for Python for fusing operations.

    All of them select the only planner of this package, which fuses as much as fits into memory.
    They are passed as arguments, or called by a user-defined `optimize_function` with the graph
    that it gets. They may be wrapped in :class:`functools.partial` with options, which have no
    effect.
    """

    def __init__(self, name: str) -> None:
        self.name: str = name

    def __call__(self, dag: Any, *args: Any, **kwargs: Any) -> Any:
        """Returns the graph of the plan with fused operations; options have no effect.

        Raises
        ------
        TypeError
            If the graph is not the one that an `optimize_function` gets.
        """
        fused = getattr(dag, "graph", {}).get(FUSED)
        if fused is None:
            raise TypeError(
                f"{self.name} cannot be called with {dag!r}, expected the graph that a function"
                " passed as optimize_function= gets"
            )
        return fused()

    def __repr__(self) -> str:
        return f"<cubed.core.optimization.{self.name}>"


simple_optimize_dag: OptimizeFunction = OptimizeFunction("simple_optimize_dag")
multiple_inputs_optimize_dag: OptimizeFunction = OptimizeFunction("multiple_inputs_optimize_dag")
fuse_only_optimize_dag: OptimizeFunction = OptimizeFunction("fuse_only_optimize_dag")
fuse_all_optimize_dag: OptimizeFunction = OptimizeFunction("fuse_all_optimize_dag")


class RunOptions(NamedTuple):
    """The keyword arguments of :func:`cubed.compute`."""

    executor: Any = None
    callbacks: Sequence[Any] | None = None
    optimize_graph: bool = True
    optimize_function: Any = None
    resume: bool | None = None
    take_over: bool = False
    update: bool = False
    partials: Any = None
    compile_function: Any = None
    #: Options of the executor.
    more: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, given: dict[str, Any]) -> RunOptions:
        """Extracts the options from keyword arguments; all others are options of the executor."""
        own = {name: given.pop(name) for name in cls._fields[:-1] if name in given}
        return cls(**own, more=given)

    def executor_for(self, spec: Spec | None) -> Executor:
        """Returns the executor of the run: the caller's, the spec's, or the configured one."""
        executor, options = self.executor, self.more or {}
        if executor is None and spec is not None:
            executor = spec.executor_given
            options = {**(spec.executor_options or {}), **options}
        if executor is None:
            executor = setting("executor_name")
            options = {**setting("executor_options", {}), **options}
        if isinstance(executor, str):
            return create_executor(executor, options)
        if not isinstance(executor, Executor):
            raise TypeError(f"executor {executor!r} is neither a name nor an executor of cubed")
        return executor.with_options(options) if options else executor

    def custom(self) -> Callable[..., Any] | None:
        """Returns the user-defined function that chooses whether operations are fused, or None.

        Raises
        ------
        TypeError
            If `optimize_function` is not a function.
        """
        f = self.optimize_function
        while isinstance(f, partial):
            f = f.func
        if f is None or isinstance(f, OptimizeFunction):
            return None
        if not callable(f):
            raise TypeError(
                f"optimize_function is {f!r}, expected None, one of cubed.core.optimization, or a"
                " function of a graph"
            )
        return self.optimize_function if self.optimize_graph else None
