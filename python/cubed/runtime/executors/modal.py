"""Modal: a given function, or a function of an app for each run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

from cubed.base._distribution import LIBRARIES, dependencies
from cubed.runtime import worker
from cubed.runtime.executors.base import EngineExecutor, needed
from cubed.runtime.executors.stages import StageEngine

#: The folder that this package is installed in.
_SITE = Path(__file__).resolve().parents[3]


class ModalEngine(StageEngine):
    """Runs each list of ranges by the method `map` of a Modal function.

    The function calls :func:`cubed.runtime.worker.attempt` for one range.
    """

    def __init__(self, function: Any, local: bool, memory: int | None, workers: int) -> None:
        super().__init__(workers)
        self._memory = memory
        exceptions = needed("modal.exception", "modal")
        self.may_pass: tuple[type[BaseException], ...] = (
            exceptions.ConnectionError,
            exceptions.InternalFailure,
        )
        self._function, self._local = function, local

    def task_mem(self, reserved_mem: int) -> tuple[int, str] | None:
        """Returns the option `memory`, if a function is created for the run."""
        return (self._memory << 20, "memory of Modal's function") if self._memory else None

    def run_stage(
        self, call: Callable[[bytes], bytes], messages: list[bytes]
    ) -> list[bytes | BaseException]:
        """Calls the function with each message."""
        if self._local:
            return [self._function.local(message) for message in messages]
        return list(self._function.map(messages, return_exceptions=True))


class ModalExecutor(EngineExecutor):
    """Runs tasks by Modal functions.

    Parameters
    ----------
    function
        A ``modal.Function`` of an app that runs or was deployed; default: a function of a new app
        for each run, created with the options below.
    local
        Calls `function` in this process.
    image
        A ``modal.Image`` with this package; default: one with its version from PyPI.
    cloud, region, secret, timeout, memory
        Arguments of ``App.function``; `secret` is a ``modal.Secret``, `memory` is in MiB.
    enable_output
        Shows Modal's output.
    max_workers
        Concurrent tasks; default: 100.
    retries, **kwargs
        As for other executors.
    """

    name = "modal"
    keeps_messages: ClassVar[str] = "Modal's service"
    engine: ClassVar[tuple[str, str]] = ("modal", "modal")
    overhead: ClassVar[float] = 0.2
    max_message_bytes: ClassVar[int] = 2 << 20
    _app_options = frozenset(("cloud", "region", "timeout", "memory"))
    _accepted = (
        EngineExecutor._accepted
        | _app_options
        | {"function", "local", "image", "secret", "enable_output"}
    )

    def known_workers(self) -> int:
        """Returns 100, the default limit of simultaneous containers of one Modal account."""
        return 100

    def _own_image(self, modal: Any) -> Any:
        """Returns an image with the files of this package, so that its version is the driver's."""
        libraries = _SITE / LIBRARIES
        if not libraries.is_dir():
            raise FileNotFoundError(
                f"modal: the package in {_SITE} was built on this machine and needs its libraries,"
                " expected one from a portable wheel (tools/wheel), which has its own in the folder"
                f" {LIBRARIES}: install that wheel, or give an image that has the package (image=)"
            )
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        image = modal.Image.debian_slim(python_version=python).pip_install(*dependencies())
        for folder in (_SITE / "cubed", libraries):  # /root is on the path of Modal's containers
            image = image.add_local_dir(folder, f"/root/{folder.name}", ignore=["**/__pycache__"])
        return image

    def connect(self) -> ModalEngine:
        """Returns an engine for the given function, or for one of a new app, which is started."""
        modal, ends = needed("modal", "modal"), ExitStack()
        function, mine, memory = self.kwargs.get("function"), self.kwargs, None
        if function is None:
            given = mine.get("memory")  # Modal also accepts a pair of a request and a limit
            memory = given[-1] if isinstance(given, (tuple, list)) else given
            options = {k: v for k, v in mine.items() if k in self._app_options and v is not None}
            if mine.get("secret") is not None:
                options["secrets"] = [mine["secret"]]
            image = mine.get("image") or self._own_image(modal)
            app = modal.App("cubed")
            decorate = app.function(image=image, retries=0, serialized=True, **options)
            function = decorate(worker.attempt)
            if mine.get("enable_output"):
                ends.enter_context(modal.enable_output())
            ends.enter_context(app.run())
        engine = ModalEngine(function, bool(mine.get("local")), memory, self.num_workers())
        engine.ends = ends
        return engine
