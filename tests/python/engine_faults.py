"""A worker of engines that fails in several ways: see test_engines.py."""

import contextlib
import json
import os
import signal
import struct
import time
from pathlib import Path

from cubed import _core
from cubed.runtime import worker

_work = worker.work


def _times(folder, what):
    """How often this was called before, in any process."""
    for n in range(100):
        with contextlib.suppress(FileExistsError):
            (folder / f"{what}-{n}").touch(exist_ok=False)
            return n
    raise AssertionError(what)


def _ancestor(name):
    """The process of that name that this one descends from."""
    pid = os.getpid()
    while pid > 1:
        command, state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)
        if command.endswith(f"({name}"):
            return pid
        pid = int(state.split()[1])
    raise AssertionError(name)


def work(message):
    folder = Path(os.environ["CUBED_TEST_FAULTS"])
    fault = json.loads((folder / "fault").read_text())
    kind, most = fault["kind"], fault.get("times", 1)
    first, last, stage = struct.unpack_from("<qqI", message, 16)
    n = _times(folder, f"range-{stage}-{first}")
    if n >= most or (fault.get("only_first") and _times(folder, "any") > 0):
        return _work(message)
    if kind == "fails":
        raise ConnectionResetError("the network is away")
    if kind == "fails for good":
        raise ZeroDivisionError("nobody knows why")
    if kind == "memory":
        raise MemoryError("too much")
    if kind == "is killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "loses its executor":
        os.kill(_ancestor("java"), signal.SIGKILL)
        time.sleep(60)
    if kind == "loses its runner":
        os.kill(os.getppid(), signal.SIGKILL)
        os._exit(1)
    if kind == "exits":
        os._exit(fault["code"])
    if kind == "sees an old plan":
        return _work(message[:80] + b"0" * 8 + message[88:])
    if kind == "has another version":
        version = f"\0{_core.version}".encode()
        assert version in message
        return _work(message.replace(version, version + b".1"))
    if kind == "loses its report":
        _work(message)
        raise TimeoutError("nobody heard of it")
    if kind == "works twice":
        _work(message)
    if kind == "straggles":
        time.sleep(0.5)
    if kind == "does a part":
        return _work(message[:24] + struct.pack("<q", (first + last) // 2) + message[32:])
    if kind == "says nonsense":
        return _work(message)[:-3]
    return _work(message)
