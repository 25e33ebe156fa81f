"""How functions, sources and exceptions of users are pickled for plans and other processes."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType
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
            self._strings: dict[str, str] = {}

        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, BaseException):
                return self._reduce(obj)
            if isinstance(obj, CodeType):
                # cloudpickle 3.1.3 leaves out the file, and with it a traceback's lines.
                make, args = self.dispatch_table[CodeType](obj)[:2]
                if obj.co_filename not in args:
                    make, args = code_of, (make, args, obj.co_filename)
                return make, self._share_strings(args)
            reduced = super().reducer_override(obj)
            if isinstance(obj, FunctionType) and isinstance(reduced, tuple):
                # globals that functions share are one dictionary, which must stay that one
                _, (_, module, *_), (_, attributes), *_ = reduced
                for own in (module, attributes):
                    own.update((k, self._share_strings(v)) for k, v in own.items())
            return reduced

        def _share_strings(self, value: Any) -> Any:
            """The value, in which equal strings are one object; tuples are searched for them.

            Pickles spell an object once and refer to it afterwards. Which equal strings of a
            function are one object depends on whether its module was compiled or read from a
            ``.pyc`` file; the pickle, from which a plan gets its name, must not.
            """
            if type(value) is str:
                return self._strings.setdefault(value, value)
            if type(value) is tuple:
                return tuple(map(self._share_strings, value))
            return value

    return Pickler
