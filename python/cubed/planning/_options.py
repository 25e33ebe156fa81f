"""Options of a run, passed together from :func:`cubed.compute` to the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from cubed.runtime.create import create_executor
from cubed.runtime.executors.base import Executor
from cubed.spec import Spec, setting


class OptimizeFunction:
    """A strategy of Cubed for Python for fusing operations.

    All of them stand for the only planner of this package, which fuses as much as fits into memory.
    They are passed as arguments, not called. They may be wrapped in :class:`functools.partial` with
    options, which have no effect.
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


class RunOptions(NamedTuple):
    """The keyword arguments of :func:`cubed.compute`."""

    executor: Any = None
    callbacks: Sequence[Any] | None = None
    optimize_graph: bool = True
    optimize_function: Any = None
    resume: bool | None = None
    take_over: bool = False
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

    def optimizes(self) -> bool:
        """Returns True if the plan is optimised.

        Raises
        ------
        TypeError
            If the function is not from :mod:`cubed.core.optimization`: there is no graph to pass to
            it.
        """
        f = self.optimize_function
        while isinstance(f, partial):
            f = f.func
        if f is not None and not isinstance(f, OptimizeFunction):
            raise TypeError(
                f"optimize_function is {f!r}, expected None or one of cubed.core.optimization:"
                " other functions have no graph to change here"
            )
        return self.optimize_graph
