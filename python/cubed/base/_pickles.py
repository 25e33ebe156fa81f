"""Pickles functions, sources and exceptions of users for plans and other processes."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType
from typing import Any


def dumps(value: Any, reduce_exception: Callable[[BaseException], Any] | None = None) -> bytes:
    """Pickles a value with cloudpickle, and exceptions by `reduce_exception` or as Python does.

    Dask, Lithops and other packages replace the pickling of exceptions in the whole process when
    they are imported (tblib's ``pickling_support``). Their pickles lose attributes outside ``args``
    and ``__dict__``, such as the code of ``SystemExit``.
    """
    out = io.BytesIO()
    _pickler()(out, reduce_exception or _as_python).dump(value)
    return out.getvalue()


def _as_python(e: BaseException) -> Any:
    return e.__reduce_ex__(pickle.HIGHEST_PROTOCOL)


def code_of(make: Callable[..., CodeType], args: tuple[Any, ...], filename: str) -> CodeType:
    """Creates code with a file name, so that tracebacks find its source."""
    return make(*args).replace(co_filename=filename)


@cache
def _pickler() -> Any:
    # lazy: workers that only call functions do not need it, and have little memory
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
                # cloudpickle 3.1.3 omits the file name, so tracebacks would lack source lines.
                make, args = self.dispatch_table[CodeType](obj)[:2]
                if obj.co_filename not in args:
                    make, args = code_of, (make, args, obj.co_filename)
                return make, self._share_strings(args)
            reduced = super().reducer_override(obj)
            if isinstance(obj, FunctionType) and isinstance(reduced, tuple):
                # functions share one dictionary of globals, which must remain the same object
                _, (_, module, *_), (_, attributes), *_ = reduced
                for own in (module, attributes):
                    own.update((k, self._share_strings(v)) for k, v in own.items())
            return reduced

        def _share_strings(self, value: Any) -> Any:
            """Returns the value with equal strings replaced by one object, also in tuples.

            A pickle contains an object once and refers to it afterwards. Which equal strings of a
            function are one object depends on whether its module was compiled or read from a
            ``.pyc`` file. The pickle must not depend on that, because the name of a plan is derived
            from it.
            """
            if type(value) is str:
                return self._strings.setdefault(value, value)
            if type(value) is tuple:
                return tuple(map(self._share_strings, value))
            return value

    return Pickler
