"""Stores the replies of calls as objects in the work directory, for engines whose calls return no
results."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from cubed import _core
from cubed.runtime import worker
from cubed.runtime.executors._processes import lives, name_of

#: Maximum size of a reply that a driver reads.
_MOST_BYTES = 1 << 30


def _local(url: str) -> Path | None:
    """Returns the file of a URL, or None."""
    parts = urlsplit(url)
    if parts.scheme == "file":
        return Path(unquote(parts.path))
    return None if "://" in url else Path(url)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def leave(call: tuple[str, bytes], function: Callable[[bytes], bytes]) -> None:
    """Calls a function with a message, and stores the reply for :class:`Replies`. If the reply is a
    local file, the name of this process is stored first.
    """
    url, message = call
    worker.take_options(message)
    if (path := _local(url)) is not None:
        with open(f"{path}-by", "wb", opener=_open_private) as by:
            by.write(name_of(os.getpid()))
    _core.write_object(url, function(message))


class Replies:
    """The replies to a list of messages: objects that are removed with the run's folder.

    Parameters
    ----------
    work_dir, plan_key
        The location of the run's plan. Replies are stored next to it.
    messages
        The messages.
    """

    def __init__(self, work_dir: str, plan_key: str, messages: list[bytes]) -> None:
        self.mark = uuid.uuid4().hex
        beside = f"{work_dir.rstrip('/')}/{plan_key}-{self.mark}"
        self._urls = [f"{beside}-{i}" for i in range(len(messages))]
        #: Arguments for :func:`leave`.
        self.calls = list(zip(self._urls, messages, strict=True))

    def someone_died(self) -> bool:
        """Returns True if a process on this machine is known to have ended before it replied."""
        return any(_died(path) for url in self._urls if (path := _local(url)) is not None)

    def read(self) -> list[bytes | BaseException]:
        """Returns the replies, with errors in place of missing ones."""
        return [_read(url) for url in self._urls]


def _died(path: Path) -> bool:
    by = Path(f"{path}-by")
    return by.exists() and not lives(by.read_bytes()) and not path.exists()


def _read(url: str) -> bytes | BaseException:
    try:
        return _core.read_object(url, _MOST_BYTES)
    except FileNotFoundError:
        return worker.WorkerLostError("its worker ended without a reply")
    except Exception as e:
        return e
