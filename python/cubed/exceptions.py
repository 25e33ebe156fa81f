"""What plans and runs raise, beside Python's own exceptions.

All of these are also the class of Python's own that fits: a program that knows nothing of them
catches ``MemoryError``, ``FileNotFoundError`` or ``ValueError``. Input and output that fails raises
``OSError`` and its subclasses, functions of users what they raise.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = [
    "ArrayExistsError", "ArrayNotFoundError", "CubedError", "FailedTask", "FormatError",
    "PlanTooLargeError", "TaskError", "UnsupportedError", "failed_task",
]  # fmt: skip


class CubedError(Exception):
    """What the classes of this module have in common."""


class PlanTooLargeError(CubedError, MemoryError, ValueError):
    """A plan needs more memory than it is allowed; nothing has run."""

    #: An `allowed_mem` with which the plan is made, all else as it was; 0: none is known.
    enough_mem: int = 0

    def _say_for_what(self, part: str) -> PlanTooLargeError:
        """The error, whose message now says for what its advice holds."""
        text = str(self)
        if "allow at least" in text and not text.endswith((_OF_NUMBERS, _OF_RESULT)):
            self.args = (f"{text}; {part}",)
        return self


#: Parts of a computation for which the advice of a refusal holds.
_OF_NUMBERS = (
    "this holds for the numbers that are computed first: results depend on them, and may need more"
)
_OF_RESULT = "what is computed from this result later may need more"


class ArrayNotFoundError(CubedError, FileNotFoundError):
    """There is no such array, group or store."""


class ArrayExistsError(CubedError, FileExistsError):
    """What would be written is there, and is not to be replaced."""


class FormatError(CubedError, ValueError):
    """Metadata, chunks or plans are not what they should be."""


class UnsupportedError(CubedError, NotImplementedError):
    """What is asked for is valid, but not implemented."""


class FailedTask(NamedTuple):
    """Which task of a plan failed."""

    #: Its stage, as :attr:`cubed.Plan.stages` has them.
    stage: int
    #: Its number in that stage.
    task: int
    #: The index of the first chunk that it makes.
    block: tuple[int, ...]


class TaskError(CubedError):
    """A task failed, other than by code of users.

    What is raised is also the class that fits what failed: an ``OSError`` where chunks cannot be
    read or written, a :class:`FormatError` where they are damaged.
    """

    _cubed_task: FailedTask

    @property
    def stage(self) -> int:
        """The task's stage, as :attr:`cubed.Plan.stages` has them."""
        return self._cubed_task.stage

    @property
    def task(self) -> int:
        """The task's number in its stage."""
        return self._cubed_task.task

    @property
    def block(self) -> tuple[int, ...]:
        """The index of the first chunk that the task makes."""
        return self._cubed_task.block


def failed_task(error: BaseException) -> FailedTask | None:
    """The task that an exception of a run came from, whoever raised it; None: from none.

    Parameters
    ----------
    error : BaseException
        What was raised.

    Returns
    -------
    FailedTask or None
        Its stage, task and block. Computes nothing.

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


#: By numbers of `cubed_status`, what has classes of its own.
_CLASSES: dict[int, type[Exception]] = {
    5: PlanTooLargeError,
    7: ArrayNotFoundError,
    8: ArrayExistsError,
    9: FormatError,
    10: UnsupportedError,
}


#: Numbers of `cubed_status` whose classes are NumPy's.
_E_LINALG, _E_AXIS = 14, 15


def _class_of(
    status: int, errno: int, otherwise: type[BaseException], in_task: bool
) -> type[BaseException]:
    """The class of an error of the engine."""
    kind = _CLASSES.get(status, otherwise)
    if status in (_E_LINALG, _E_AXIS):
        kind = _of_numpy("LinAlgError" if status == _E_LINALG else "AxisError") or otherwise
    if kind is OSError and errno:
        kind = type(OSError(errno, ""))  # such as PermissionError
    return _in_task(kind) if in_task and issubclass(kind, Exception) else kind


def _of_numpy(name: str) -> type[Exception] | None:
    """NumPy's exception of that name, of those that the engine raises."""
    import numpy as np  # late: only errors need it

    return {"LinAlgError": np.linalg.LinAlgError, "AxisError": np.exceptions.AxisError}.get(name)


#: Those that were made, by the class of what failed.
_task_classes: dict[type[Exception], type[TaskError]] = {}


def _in_task(kind: type[Exception]) -> type[TaskError]:
    """The class of errors of one kind that tasks fail with."""
    made = type(f"Task{kind.__name__}", (TaskError, kind), {"__module__": __name__})
    return _task_classes.setdefault(kind, made)


def __getattr__(name: str) -> Any:
    """Classes that _in_task made, for those who unpickle their exceptions."""
    import builtins  # late: few need it

    known = name.removeprefix("Task")
    kind = globals().get(known) or getattr(builtins, known, None) or _of_numpy(known)
    if name != known and isinstance(kind, type) and issubclass(kind, Exception):
        return _in_task(kind)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def say_task(error: BaseException, plan: Any) -> None:
    """Says which task of a plan an exception of its run came from, if it did."""
    found = getattr(error, "_cubed_task", None)
    if type(found) is tuple:
        stage, task = found
        failed = FailedTask(stage, task, plan.block(stage, task))
        error._cubed_task = failed  # type: ignore[attr-defined]
