"""A disk that loses and reorders changes that were not synced.

`Disk.run` runs a program and records its changes to one directory (recording_disk.c).
`Disk.changes` makes them again in memory, one by one. After each change, `Disk.write` makes a
directory as a power failure at this moment may leave it:

- of a file that was not synced, each sector of each write is there or not, and the rest is zeros;
- of a directory that was not synced, each name is as it was at any moment since the last sync.
"""

import copy
import dataclasses
import os
import pathlib
import random
import shutil
import subprocess
from collections.abc import Iterator

import pytest

#: Bytes that a disk writes whole or not at all.
SECTOR = 512


@dataclasses.dataclass(eq=False)
class File:
    """Contents, and the writes since the last sync: (offset, bytes), or the size and None."""

    data: bytes = b""
    synced: bytes = b""
    since: list[tuple[int, bytes | None]] = dataclasses.field(default_factory=list)

    def change(self, offset: int, written: bytes | None) -> None:
        self.data = _changed(self.data, offset, written)
        self.since.append((offset, written))

    def sync(self) -> None:
        self.synced, self.since = self.data, []

    def after_failure(self, how: str, rng: random.Random) -> bytes:
        if how == "kept" or not self.since:
            return self.data
        if how == "lost":
            return self.synced
        if how == "zeros":
            return self.synced[: len(self.data)].ljust(len(self.data), b"\0")
        data = self.synced
        for offset, written in self.since:
            if written is None:
                data = _changed(data, offset, None)
                continue
            for i in range(0, len(written), SECTOR):
                if rng.random() < 0.5:
                    data = _changed(data, offset + i, written[i : i + SECTOR])
        return data


def _changed(data: bytes, offset: int, written: bytes | None) -> bytes:
    if written is None:
        return data[:offset].ljust(offset, b"\0")
    return data[:offset].ljust(offset, b"\0") + written + data[offset + len(written) :]


@dataclasses.dataclass(eq=False)
class Directory:
    """Names, and what each name stood for since the last sync, oldest first."""

    names: dict[str, "File | Directory | None"] = dataclasses.field(default_factory=dict)
    since: dict[str, list["File | Directory | None"]] = dataclasses.field(default_factory=dict)

    def give(self, name: str, to: "File | Directory | None") -> None:
        self.since.setdefault(name, [self.names.get(name)]).append(to)
        self.names[name] = to

    def sync(self) -> None:
        self.since = {}

    def after_failure(self, how: str, rng: random.Random) -> dict[str, "File | Directory | None"]:
        if how == "kept":
            return self.names
        lost = {name: values[0] for name, values in self.since.items()}
        if how == "torn":
            lost = {name: rng.choice(values) for name, values in self.since.items()}
        return {**self.names, **lost}


#: What is left of (names, contents) that were not synced.
FAILURES = [("kept", "lost"), ("kept", "zeros"), ("kept", "torn"), ("lost", "kept"),
            ("torn", "kept"), ("torn", "torn"), ("torn", "lost")]  # fmt: skip
#: What the end of a process leaves: all that it has done.
ENDED = ("kept", "kept")


class Disk:
    """The files below a directory, and the changes that a program makes there."""

    def __init__(self, root: pathlib.Path) -> None:
        self._at = root
        self._nodes: dict[int, File | Directory] = {}
        self._root = self._load(root)
        self._start = copy.deepcopy((self._nodes, self._root))
        self._log = b""

    def _load(self, path: pathlib.Path) -> File | Directory:
        if path.is_dir():
            names = {child.name: self._load(child) for child in path.iterdir()}
            node: File | Directory = Directory(names)
        else:
            node = File(path.read_bytes(), path.read_bytes())
        self._nodes[path.stat().st_ino] = node
        return node

    def run(self, recorder: pathlib.Path, *command: object) -> None:
        """Runs a program to its end, and records its changes. They are made by `changes`."""
        log = self._at.with_name(self._at.name + ".log")
        log.unlink(missing_ok=True)
        env = {**os.environ, "LD_PRELOAD": str(recorder), "CUBED_DISK_LOG": str(log)}
        done = subprocess.run([*map(str, command)], env=env, capture_output=True, text=True,
                              cwd=self._at, timeout=300)  # fmt: skip
        assert done.returncode == 0, done.stderr
        self._log = log.read_bytes()

    def rewind(self) -> None:
        """Undoes all changes."""
        self._nodes, self._root = copy.deepcopy(self._start)

    def changes(self) -> Iterator[str]:
        """Makes the changes one by one; each time, the call that made it."""
        at = 0
        while at < len(self._log):
            end = self._log.index(b"\n", at)
            call, *words = self._log[at:end].decode().split(" ")
            at = end + 1
            if call in ("rename", "exchange"):
                end = self._log.index(b"\n", self._log.index(b"\n", at) + 1)
                words += self._log[at:end].decode().split("\n")
                at = end + 1
            elif call == "write":
                written = self._log[at : at + int(words[2])]
                at += len(written)
                node = self._nodes.get(int(words[0]))
                if isinstance(node, File):
                    node.change(int(words[1]), written)
                    yield call
                continue
            if self._do(call, words):
                yield call

    def _directory(self, inode: str) -> Directory | None:
        node = self._nodes.get(int(inode))
        return node if isinstance(node, Directory) else None

    def _do(self, call: str, words: list[str]) -> bool:
        nodes = self._nodes
        if call in ("create", "mkdir", "link"):
            above = self._directory(words[1])
            if above:
                if call != "link":
                    nodes[int(words[0])] = File() if call == "create" else Directory()
                above.give(words[2], nodes[int(words[0])])
            elif call != "link":
                nodes.pop(int(words[0]), None)  # the inode of a file elsewhere
            return bool(above)
        if call == "unlink":
            above = self._directory(words[0])
            if above:
                above.give(words[1], None)
            return bool(above)
        if call in ("rename", "exchange"):
            a, b = self._directory(words[1]), self._directory(words[3])
            moved = nodes.get(int(words[0])) if a else None
            back = nodes.get(int(words[2])) if call == "exchange" else None
            if a:
                a.give(words[4], back)
            if b:
                b.give(words[5], moved)
            return bool(a or b)
        node = nodes.get(int(words[0]))
        if call == "truncate" and isinstance(node, File):
            node.change(int(words[1]), None)
        elif call == "sync" and node:
            node.sync()
        return bool(node)

    def write(
        self, to: pathlib.Path, names: str, contents: str, rng: random.Random
    ) -> pathlib.Path:
        """Makes the directory that a failure leaves, in place of `to`."""
        shutil.rmtree(to, ignore_errors=True)
        todo = [(to, self._root)]
        for path, node in todo:
            if isinstance(node, Directory):
                path.mkdir()
                below = node.after_failure(names, rng)
                todo += [(path / name, n) for name, n in below.items() if n is not None]
            elif isinstance(node, File):
                path.write_bytes(node.after_failure(contents, rng))
        return to


@pytest.fixture(scope="session")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The library that records."""
    source = pathlib.Path(__file__).with_name("recording_disk.c")
    library = tmp_path_factory.mktemp("disk") / "recording_disk.so"
    flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, source, "-o", library], check=True)
    return library
