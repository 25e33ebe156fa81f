"""Children of a worker: processes that run ranges of plans with Python functions. Their memory is
limited, and the worker survives a function that exceeds the limit.
"""

from __future__ import annotations

import atexit
import json
import os
import pickle
import queue
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from mmap import mmap
from pathlib import Path
from typing import Any

from cubed.base._bytes import format_bytes
from cubed.runtime._frames import PAGE_BYTES, read_call, receive, send
from cubed.runtime._limit import LOOK, resident_of, text_of_excess

_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop());"
    " from cubed.runtime._child import main; main()"
)
#: Seconds between two checks whether a call has exceeded its time limit.
_TICK = 0.1
#: Seconds that a cancelled task may take to end. After that its process is ended.
_GRACE = 5.0
#: Seconds to wait for the end of a child that was killed.
_END = 5.0
#: Seconds to wait for the end of an idle child whose connections were closed.
_IDLE_END = 0.5
_CGROUPS = "/sys/fs/cgroup"
#: Exit status of a child that ended itself because a task was stuck.
_STUCK_STATUS = 124


class NoChildError(OSError):
    """Raised if this process cannot start child processes."""


class ChildLostError(Exception):
    """Raised if a child ended during a call, or before the call began (`early`)."""

    def __init__(self, text: str, status: int, early: bool) -> None:
        super().__init__(text)
        self.status, self.early = status, early


class StuckError(Exception):
    """Raised if a function in a child exceeded its time limit and could not be ended."""


class _Starter:
    """Starts processes in one thread, which exists as long as this process. The system ends child
    processes when the thread that started them ends (PR_SET_PDEATHSIG).
    """

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()
        threading.Thread(target=self._run, daemon=True, name="cubed children").start()

    def _run(self) -> None:
        while True:
            future, call = self._calls.get()
            try:
                future.set_result(call())
            except BaseException as e:
                future.set_exception(e)

    def start(self, call: Callable[[], Any]) -> Any:
        future: Future[Any] = Future()
        self._calls.put((future, call))
        return future.result()


class Child:
    """A child process, for one call at a time."""

    def __init__(self, starter: _Starter) -> None:
        if not sys.executable:
            raise NoChildError("sys.executable is empty, so no child process can be started")
        mine, theirs = zip(socket.socketpair(), socket.socketpair(), strict=True)
        self._work, self._control = mine
        self._group = _new_group()
        page = _page()
        descriptors = [*(s.fileno() for s in theirs), page]
        arguments = [*map(str, descriptors), str(os.getpid()), str(self._group or "")]
        command = [sys.executable, "-P", "-c", _CODE, *arguments, json.dumps(sys.path)]
        self._state: Any = None
        self._killed = ""
        try:
            self._page = mmap(page, PAGE_BYTES)
            self.process: subprocess.Popen[bytes] = starter.start(
                lambda: subprocess.Popen(command, pass_fds=descriptors, stdin=subprocess.DEVNULL)
            )
        except OSError as e:
            self._work.close()
            self._control.close()
            if self._group:
                self._group.rmdir()
            raise NoChildError(f"{command[0]} cannot be started: {e}") from e
        finally:
            os.close(page)
            for s in theirs:
                s.close()
        try:
            self._join_group()
        except OSError as e:
            self.end()
            raise NoChildError(f"a child cannot join its control group: {e}") from e
        self._ooms, self._before = 0, _oom_kills()
        try:
            said = receive(self._work)
        except OSError:
            said = None
        if said is None:
            self.end()
            raise NoChildError("the child process ended before it began")
        #: How the memory of the child is limited: "cgroup", "rlimit" or "watch".
        self.kind = said.decode()

    def _join_group(self) -> None:
        """Moves the child into its control group, before the child receives a message."""
        if self._group:
            (self._group / "cgroup.procs").write_text(str(self.process.pid))

    def call(self, message: bytes, limit_ms: int) -> bytes:
        """Returns the reply to a message; b"?" if another child must handle the message.

        Raises
        ------
        MemoryError
            If the system, or this process, ended the child because of its memory.
        StuckError
            If a function took longer than twice `limit_ms`, and did not end.
        ChildLostError
            If the child ended otherwise.
        """
        state = _state()
        data = pickle.dumps((None if state == self._state else state, message))
        self._state = state
        try:
            send(self._work, data)
            self._wait(limit_ms)
            reply = receive(self._work)
        except OSError:
            reply = None
        if reply is None:
            raise self._lost()
        return reply

    def _wait(self, limit_ms: int) -> None:
        """Waits for a reply. While it waits, it checks the memory and the time limit of the
        child."""
        watches = self.kind == "watch"
        if not watches and not limit_ms:
            return
        seconds = LOOK if watches else _TICK
        poll = select.poll()
        poll.register(self._work, select.POLLIN)
        stuck = (limit_ms + min(limit_ms, 1000 * _GRACE) + 1000 * _GRACE) * 1e6
        while not poll.poll(1000 * seconds):
            began, _, most, _ = read_call(self._page)
            if watches and most and resident_of(self.process.pid) > most:
                self.kill("memory")
            if limit_ms and began and time.monotonic_ns() - began > stuck:
                self.kill("time")

    def _lost(self) -> Exception:
        """Cleans up a child that has ended, and returns the error of its call."""
        _, room, _, title = read_call(self._page)
        self.end()
        status = self.process.returncode or 0
        what = f"function {title}" if title else "a child of the worker"
        if self._killed == "memory" or self._ooms > 0:
            return MemoryError(text_of_excess(title, room) if title else "out of memory")
        if self._killed == "time" or status == _STUCK_STATUS:
            return StuckError(f"{what} did not end")
        if status == -signal.SIGKILL and not self._killed and _oom_kills() > self._before:
            return MemoryError(
                f"out of memory: the system ended the process of {what}, because the worker's"
                f" machine or container has no more memory, of which {format_bytes(room)} are for"
                " the function: give workers more memory, or lower allowed_mem"
            )
        if status < 0:
            how = f"signal {-status} ({signal.strsignal(-status)})"
        else:
            how = f"status {status}"
        return ChildLostError(
            f"the process of {what} ended with {how}", status, not (status or title)
        )

    def stop(self, plan_key: str, attempt: str) -> None:
        """Asks the child to end the tasks of a run."""
        with suppress(OSError):
            send(self._control, f"{plan_key}\0{attempt}".encode())

    def kill(self, why: str) -> None:
        """Ends the child while it runs a call."""
        self._killed = self._killed or why
        with suppress(OSError):
            self.process.kill()

    def end(self) -> None:
        """Ends the child, which is idle or lost."""
        self._work.close()
        self._control.close()  # an idle child ends by itself
        try:
            self.process.wait(_IDLE_END)
        except subprocess.TimeoutExpired:
            self.process.kill()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_END)
        if self._group:
            self._ooms = _ooms_of(self._group / "memory.events")
            with suppress(OSError):
                self._group.rmdir()

    def forget(self) -> None:
        """Closes the connections in a process that was forked: they belong to its parent."""
        self._work.close()
        self._control.close()
        self.process.returncode = 0  # this process must not wait for the child


def _state() -> tuple[list[str], dict[str, str], str]:
    """Returns the module path, environment and working directory that a child gets."""
    try:
        folder = str(Path.cwd())
    except OSError:
        folder = "/"
    return list(sys.path), os.environ.copy(), folder


def _page() -> int:
    if hasattr(os, "memfd_create"):
        page = os.memfd_create("cubed call")
    else:
        from tempfile import TemporaryFile  # lazy: not needed on Linux

        with TemporaryFile() as file:
            page = os.dup(file.fileno())
    os.ftruncate(page, PAGE_BYTES)
    return page


# --- Control groups (version 2) -------------------------------------------------------------------

_numbers = count(1)


def _own_group() -> Path | None:
    """Returns the folder of the control group of this process, if there is one."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    own = next((line[3:] for line in lines if line.startswith("0::/")), None)
    return None if own is None else Path(_CGROUPS) / own.lstrip("/")


def _new_group() -> Path | None:
    """Creates a control group below that of this process, whose memory can be limited. None if this
    process lacks the permission, or if its own group cannot limit memory.
    """
    own = _own_group()
    if own is None:
        return None
    try:
        if "memory" not in (own / "cgroup.subtree_control").read_text().split():
            return None
        for old in own.glob("cubed-*"):
            with suppress(OSError):  # the group still has processes
                old.rmdir()
        group = own / f"cubed-{os.getpid()}-{next(_numbers)}"
        group.mkdir()
        if not os.access(group / "memory.max", os.W_OK):
            group.rmdir()
            return None
        with suppress(OSError):  # the machine has no swap
            (group / "memory.swap.max").write_text("0")
    except OSError:
        return None
    return group


def _ooms_of(events: Path) -> int:
    with suppress(OSError, ValueError, IndexError):
        for line in events.read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


def _oom_kills() -> int:
    """Returns the number of processes in this control group that the system has killed for lack of
    memory.
    """
    own = _own_group()
    found = _ooms_of(own / "memory.events") if own else 0
    version1 = Path(_CGROUPS, "memory", "memory.oom_control")
    return found or _ooms_of(Path(_CGROUPS, "memory.events")) or _ooms_of(version1)


# --- The children of this process -----------------------------------------------------------------


class Children:
    """The children of this process: one for each concurrent call. Later calls reuse them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._starter: _Starter | None = None
        self._idle: list[Child] = []
        self._busy: set[Child] = set()
        self._closed = False

    def take(self) -> Child:
        """Returns an idle child, or a new one; NoChildError if this process cannot have any."""
        with self._lock:
            while self._idle:
                child = self._idle.pop()
                if child.process.poll() is None:
                    self._busy.add(child)
                    return child
                child.end()  # the child ended because it was idle for too long
            self._starter = self._starter or _Starter()
        child = Child(self._starter)
        with self._lock:
            self._busy.add(child)
        return child

    def give_back(self, child: Child, usable: bool) -> None:
        """Keeps a child for the next call, or ends it."""
        with self._lock:
            self._busy.discard(child)
            if usable and not self._closed:
                self._idle.append(child)
                return
        if child.process.returncode is None:
            child.kill("no use")
            child.end()

    def close(self) -> None:
        """Ends the idle children, at the end of this process."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for child in idle:
            child.end()

    def forget(self) -> None:
        """Closes the connections in a forked process."""
        for child in (*self._idle, *self._busy):
            child.forget()


_children = Children()


def take() -> Child:
    """Returns a child of this process for a call; see :meth:`Children.take`."""
    return _children.take()


def give_back(child: Child, usable: bool) -> None:
    """Ends the use of a child; see :meth:`Children.give_back`."""
    _children.give_back(child, usable)


def _close() -> None:
    _children.close()


def _forget() -> None:
    global _children
    _children.forget()
    _children = Children()


atexit.register(_close)
os.register_at_fork(after_in_child=_forget)
