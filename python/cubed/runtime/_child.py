"""The child process of a worker: it runs ranges of plans with Python functions, within a memory
limit.

Started by :mod:`cubed.runtime._children` with the descriptors of two connections and of a shared
page, the id of its parent, and the folder of its control group ("": none).
"""

from __future__ import annotations

import ctypes
import os
import pickle
import resource
import signal
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
from pathlib import Path

# NumPy reads these variables when it is imported, so they are set before that. A process has one
# task at a time: OpenBLAS would use memory for unused threads.
_THREADS = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
for _name, _value in _THREADS.items():
    os.environ.setdefault(_name, _value)

from cubed import _core  # noqa: E402
from cubed.runtime import _call, _imports, _limit, worker  # noqa: E402, F401
from cubed.runtime._frames import ANOTHER, PAGE_BYTES, receive, send, write_call  # noqa: E402

#: Number of PR_SET_PDEATHSIG in <linux/prctl.h>.
_DEATH_SIGNAL = 1
#: Seconds without a message after which an idle child ends.
_IDLE = 60.0
#: Bytes of the stack of the thread that listens to the parent.
_STACK = 256 << 10
#: Size of a memory mapping that exceeds a limit. If it succeeds, the system does not enforce
#: limits.
_PROBE = 64 << 20
#: Bytes in excess of the reserved memory with which a process may still perform another run.
_SLACK = 8 << 20


class _Worn(Exception):
    """Earlier runs have left so much memory in use in this process that another child must be
    used."""


class Limits:
    """Limits the memory of this process while it runs ranges."""

    def __init__(self, group: str) -> None:
        self._group = Path(group) if group else None
        self._runs = 0
        #: Resident bytes that the process may use if its parent checks its memory.
        self.most = 0
        #: Whether ranges skip completed tasks.
        self.skip_done = False
        #: How memory is limited: by a control group ("cgroup"), by the system ("rlimit"), or by
        #: checks of the parent ("watch").
        self.kind = "cgroup" if group else "rlimit" if _keeps_limits() else "watch"
        self._limits: dict[int, int] = {}

    def fetch(self, work_dir: str, key: str) -> _core.Plan:
        """Fetches a plan, and loads its functions. Raises the exceptions of :meth:`admit`."""
        return self.admit(_core.Plan.fetch(work_dir, key))

    def admit(self, plan: _core.Plan) -> _core.Plan:
        """Loads the functions of a plan whose ranges this process will run, and returns the plan.

        Raises
        ------
        _Worn
            If earlier runs have left more memory in use than the plan reserves.
        """
        plan.load_functions()
        info = plan.info()
        if self._runs and _core.resident_mem() > info["reserved_mem"] + _SLACK:
            raise _Worn
        self._runs += 1
        if self.kind != "rlimit":
            most = _limit.resident_limit(info["allowed_mem"], info["reserved_mem"])
            self._limits[id(plan)] = most
        return plan

    def run(self, plan: _core.Plan, range_: bytes, time_ms: int) -> bytes:
        """Runs a range of a plan, within its limit."""
        if self.kind == "rlimit":
            return plan.work(range_, True, time_ms, self.skip_done)
        self._set(self._limits[id(plan)])
        try:
            return plan.work(range_, False, time_ms, self.skip_done)
        finally:
            self._set(0)

    def _set(self, most: int) -> None:
        _limit.set_resident_limit(most)
        if self._group:
            (self._group / "memory.max").write_text(str(most or "max"))
        else:
            self.most = most


def _keeps_limits() -> bool:
    """Returns True if the system enforces RLIMIT_DATA for private memory."""
    now, most = resource.getrlimit(resource.RLIMIT_DATA)
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (_core.private_mem() + (1 << 20), most))
        with suppress(OSError), mmap(-1, _PROBE, flags=MAP_PRIVATE | MAP_ANONYMOUS):
            return False
        return True
    except (OSError, ValueError):
        return False
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (now, most))


def end_with(parent: int) -> None:
    """Makes the system end this process when its parent ends, even if a function holds the GIL."""
    with suppress(OSError, AttributeError):  # Linux only
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _listen(control: socket.socket) -> None:
    """Ends tasks of a run on the parent's request, and the process when the parent ends."""
    while True:
        try:
            message = receive(control)
        except OSError:
            message = None
        if message is None:
            os._exit(1)
        plan_key, attempt = message.decode().split("\0")
        threading.Thread(target=worker.stop, args=(plan_key, attempt), daemon=True).start()


def _become(path: Sequence[str], environment: Mapping[str, str], folder: str) -> None:
    """Sets the module path, the environment and the working directory to those of the parent."""
    sys.path[:] = path
    wanted = {**_THREADS, **environment}
    for name in os.environ.keys() - wanted.keys():
        del os.environ[name]
    os.environ.update({k: v for k, v in wanted.items() if os.environ.get(k) != v})
    with suppress(OSError):
        os.chdir(folder)


def _answer(data: bytes) -> bytes:
    """Runs the range of a message. Returns b"?" if another child must run it."""
    state, message = pickle.loads(data)
    if state:
        _become(*state)
    try:
        return b"+" + worker.work(message)
    except _Worn:
        return ANOTHER
    except BaseException as e:
        return worker.failed(e)


def _flush() -> None:
    """Flushes the output of functions, which would be lost if the process is killed."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # streams may be closed, or None
            stream.flush()


def main() -> None:
    """Processes messages until the parent ends, or sends no message for :data:`_IDLE` seconds."""
    work_fd, control_fd, page_fd, parent = map(int, sys.argv[1:5])
    end_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver handles the interrupt
    page = mmap(page_fd, PAGE_BYTES)
    limits = Limits(sys.argv[5])
    if limits.kind == "rlimit":
        _imports.watch()
    _core.code_measured(_core.resident_mem())
    _limit.tell = lambda began, room, title: write_call(page, began, room, limits.most, title)
    _limit.worker_id = parent
    worker.serve_as_child(limits.fetch, limits.run)
    threading.stack_size(_STACK)
    threading.Thread(target=_listen, args=(socket.socket(fileno=control_fd),), daemon=True).start()
    threading.stack_size(0)
    with socket.socket(fileno=work_fd) as work, suppress(OSError):  # TimeoutError is an OSError
        send(work, limits.kind.encode())
        work.settimeout(_IDLE)
        while data := receive(work):
            work.settimeout(None)
            reply = _answer(data)
            _flush()
            send(work, reply)
            work.settimeout(_IDLE)
    _flush()
    os._exit(0)  # threads of functions may still run
