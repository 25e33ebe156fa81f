"""How functions, sources and exceptions of users are pickled for plans and other processes."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from functools import cache
from types import CodeType
from typing import Any


def dumps(value: Any, reduce_exception: Callable[[BaseException], Any] | None = None) -> bytes:
    """The value as cloudpickle gives it, but exceptions in it as Python itself pickles them, or as
    `reduce_exception` does.

    Dask, Lithops and others replace how exceptions are pickled in the whole process when they are
    imported (tblib's ``pickling_support``): what classes keep outside ``args`` and ``__dict__``,
    such as the code of ``SystemExit``, is lost on their way.
    """
    out = io.BytesIO()
    _pickler()(out, reduce_exception or _as_python).dump(value)
    return out.getvalue()


def _as_python(e: BaseException) -> Any:
    return e.__reduce_ex__(pickle.HIGHEST_PROTOCOL)


def code_of(make: Callable[..., CodeType], args: tuple[Any, ...], filename: str) -> CodeType:
    """Code of a file, by which tracebacks find its source."""
    return make(*args).replace(co_filename=filename)


@cache
def _pickler() -> Any:
    # late: workers that only call functions never pickle any, and have little memory
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def __init__(self, file: io.BytesIO, reduce: Callable[[BaseException], Any]) -> None:
            super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
            self._reduce = reduce

        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, BaseException):
                return self._reduce(obj)
            if isinstance(obj, CodeType):
                # cloudpickle 3.1.3 leaves out the file, and with it a traceback's lines.
                make, args = self.dispatch_table[CodeType](obj)[:2]
                if obj.co_filename not in args:
                    return code_of, (make, args, obj.co_filename)
                return make, args
            return super().reducer_override(obj)

    return Pickler
