"""Exceptions that plans and runs raise in addition to Python's own.

Each class is also a subclass of a built-in exception, so that programs can catch ``MemoryError``,
``FileNotFoundError`` or ``ValueError``. Failures of input and output raise ``OSError`` or a
subclass. Exceptions of user-defined functions keep their own classes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = [
    "ArrayExistsError", "ArrayNotFoundError", "CubedError", "FailedTask", "FormatError",
    "PlanTooLargeError", "TaskError", "UnsupportedError", "failed_task",
]  # fmt: skip


class CubedError(Exception):
    """Base class of the exceptions of this module."""


class PlanTooLargeError(CubedError, MemoryError, ValueError):
    """A plan needs more memory than it is allowed; nothing has run."""

    #: An `allowed_mem` that is enough for this plan if nothing else changes; 0: unknown.
    enough_mem: int = 0

    def _say_for_what(self, part: str) -> PlanTooLargeError:
        """Adds to the message the part of the computation to which the advice applies. Returns the
        error."""
        text = str(self)
        if "allow at least" in text and not text.endswith((_OF_NUMBERS, _OF_RESULT)):
            self.args = (f"{text}; {part}",)
        return self


#: The parts of a computation to which the advice of an error may apply.
_OF_NUMBERS = (
    "this holds for the numbers that are computed first: results depend on them, and may need more"
)
_OF_RESULT = "later computations with this result may need more"


class ArrayNotFoundError(CubedError, FileNotFoundError):
    """The array, group or store does not exist."""


class ArrayExistsError(CubedError, FileExistsError):
    """The array or group to write exists, and overwriting was not requested."""


class FormatError(CubedError, ValueError):
    """Metadata, a chunk or a plan is damaged or invalid."""


class UnsupportedError(CubedError, NotImplementedError):
    """The request is valid, but not implemented."""


class FailedTask(NamedTuple):
    """Identifies the task of a plan that failed."""

    #: The task's stage: an index of :attr:`cubed.Plan.stages`.
    stage: int
    #: The task's number in its stage.
    task: int
    #: The index of the first chunk that the task computes.
    block: tuple[int, ...]


class TaskError(CubedError):
    """A task failed for a reason other than an exception of a user-defined function.

    The exception is also an instance of the class for its cause: an ``OSError`` if a chunk cannot
    be read or written, a :class:`FormatError` if a chunk is damaged.
    """

    _cubed_task: FailedTask

    @property
    def stage(self) -> int:
        """The task's stage: an index of :attr:`cubed.Plan.stages`."""
        return self._cubed_task.stage

    @property
    def task(self) -> int:
        """The task's number in its stage."""
        return self._cubed_task.task

    @property
    def block(self) -> tuple[int, ...]:
        """The index of the first chunk that the task computes."""
        return self._cubed_task.block


def failed_task(error: BaseException) -> FailedTask | None:
    """Returns the task that raised an exception of a run, or None if no task raised it.

    Parameters
    ----------
    error : BaseException
        An exception of a run.

    Returns
    -------
    FailedTask or None
        The stage, task and block of the failure. Computes nothing.

    Examples
    --------
    >>> import cubed
    >>> def fail(block):
    ...     raise KeyError("why")
    ...
    >>> x = cubed.map_blocks(fail, cubed.ones(4, chunks=2), dtype=float)
    >>> try:
    ...     x.compute(executor="single-threaded")
    ... except KeyError as error:
    ...     print(cubed.exceptions.failed_task(error).task)
    ...
    0
    """
    found = getattr(error, "_cubed_task", None)
    return found if isinstance(found, FailedTask) else None


#: Classes of this module, by values of `cubed_status`.
_CLASSES: dict[int, type[Exception]] = {
    5: PlanTooLargeError,
    7: ArrayNotFoundError,
    8: ArrayExistsError,
    9: FormatError,
    10: UnsupportedError,
}


#: Values of `cubed_status` that raise NumPy's exceptions.
_E_LINALG, _E_AXIS = 14, 15


def _class_of(
    status: int, errno: int, otherwise: type[BaseException], in_task: bool
) -> type[BaseException]:
    """Returns the exception class for an error of the engine."""
    kind = _CLASSES.get(status, otherwise)
    if status in (_E_LINALG, _E_AXIS):
        kind = _of_numpy("LinAlgError" if status == _E_LINALG else "AxisError") or otherwise
    if kind is OSError and errno:
        kind = type(OSError(errno, ""))  # such as PermissionError
    return _in_task(kind) if in_task and issubclass(kind, Exception) else kind


def _of_numpy(name: str) -> type[Exception] | None:
    """Returns NumPy's exception of that name, or None if the engine does not raise it."""
    import numpy as np  # lazy: needed only for errors

    return {"LinAlgError": np.linalg.LinAlgError, "AxisError": np.exceptions.AxisError}.get(name)


#: Subclasses of TaskError, by the class of the cause.
_task_classes: dict[type[Exception], type[TaskError]] = {}


def _in_task(kind: type[Exception]) -> type[TaskError]:
    """Returns the subclass of TaskError for a class of causes."""
    made = type(f"Task{kind.__name__}", (TaskError, kind), {"__module__": __name__})
    return _task_classes.setdefault(kind, made)


def __getattr__(name: str) -> Any:
    """Finds the classes of _in_task by name, so that their exceptions can be unpickled."""
    import builtins  # lazy: rarely needed

    known = name.removeprefix("Task")
    kind = globals().get(known) or getattr(builtins, known, None) or _of_numpy(known)
    if name != known and isinstance(kind, type) and issubclass(kind, Exception):
        return _in_task(kind)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def say_task(error: BaseException, plan: Any) -> None:
    """Adds the stage, task and block to an exception that a task of the plan raised."""
    found = getattr(error, "_cubed_task", None)
    if type(found) is tuple:
        stage, task = found
        failed = FailedTask(stage, task, plan.block(stage, task))
        error._cubed_task = failed  # type: ignore[attr-defined]
