"""Reads requirements of programs and libraries from ELF files (64-bit, little-endian)."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

#: Machines by the number in the file's header, as Lambda and Linux call them.
MACHINES = {62: "x86_64", 183: "arm64"}

_HEADER = struct.Struct("<4sBB10xHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_DYNAMIC = struct.Struct("<qQ")
_NEED = struct.Struct("<HHIII")
_NEED_VERSION = struct.Struct("<IHHII")
_SYMBOL = struct.Struct("<IBBHQQ")
_LOAD, _DYNAMIC_SEGMENT, _INTERPRETER = 1, 2, 3
_NEEDED, _STRINGS, _RPATH, _RUNPATH, _VERSIONS, _NEEDS, _NUM_NEEDS = (
    1, 5, 15, 29, 0x6FFFFFF0, 0x6FFFFFFE, 0x6FFFFFFF
)  # fmt: skip
_DYNAMIC_SYMBOLS = 11


@dataclass
class Elf:
    """A program or a shared library."""

    path: Path
    #: "x86_64", "arm64", or the number of another machine.
    machine: str
    #: Path of the program's loader; "" for libraries.
    interpreter: str
    #: Names of the needed libraries.
    needed: list[str]
    #: Folders in which libraries are searched first.
    folders: list[Path]
    #: Needed symbol versions, such as "GLIBC_2.34", each with its symbols.
    versions: dict[str, list[str]] = field(default_factory=dict)


def read(path: str | Path) -> Elf:
    """Reads a file; ValueError if it is not a 64-bit little-endian ELF file."""
    path = Path(path)
    data = path.read_bytes()
    try:
        return _read(path, data)
    except (struct.error, IndexError, UnicodeDecodeError) as e:
        raise ValueError(f"{path}: the file is truncated or damaged: {e}") from e


def is_32_bit(path: Path) -> bool:
    """Whether a file is a 32-bit ELF file; the x32 ABI also has such files."""
    with path.open("rb") as file:
        return file.read(5) == b"\x7fELF\x01"


def _read(path: Path, data: bytes) -> Elf:
    magic, bits, order, _, machine, _, _, segments, sections, *rest = _HEADER.unpack_from(data)
    if magic != b"\x7fELF" or bits != 2 or order != 1:
        raise ValueError(f"{path}: expected a 64-bit little-endian ELF file")
    _, _, segment_size, num_segments, section_size, num_sections, _ = rest
    parts = [_SEGMENT.unpack_from(data, segments + i * segment_size) for i in range(num_segments)]
    loads = [(p[3], p[2], p[5]) for p in parts if p[0] == _LOAD]

    def offset(address: int) -> int:
        for start, place, size in loads:
            if start <= address < start + size:
                return address - start + place
        raise ValueError(f"{path}: address {address:#x} is in no segment")

    entries: list[tuple[int, int]] = []
    interpreter = ""
    for kind, _, place, _, _, size, _, _ in parts:
        if kind == _DYNAMIC_SEGMENT:
            entries = [_DYNAMIC.unpack_from(data, place + i) for i in range(0, size, _DYNAMIC.size)]
        elif kind == _INTERPRETER:
            interpreter = _text(data, place)
    known = dict(reversed(entries))
    strings = offset(known[_STRINGS]) if _STRINGS in known else 0
    found = Elf(
        path=path,
        machine=MACHINES.get(machine, str(machine)),
        interpreter=interpreter,
        needed=[_text(data, strings + value) for tag, value in entries if tag == _NEEDED],
        folders=[],
    )
    if (searched := known.get(_RUNPATH, known.get(_RPATH))) is not None:
        names = _text(data, strings + searched).split(":")
        origin = str(path.resolve().parent)
        found.folders = [
            Path(n.replace("${ORIGIN}", origin).replace("$ORIGIN", origin)) for n in names if n
        ]
    if _NEEDS in known:
        numbers = _needs(data, offset(known[_NEEDS]), known.get(_NUM_NEEDS, 0), strings)
        found.versions = {name: [] for name in numbers.values()}
        if _VERSIONS in known:
            tables = [
                _SECTION.unpack_from(data, sections + i * section_size) for i in range(num_sections)
            ]
            _add_symbols(data, found, numbers, offset(known[_VERSIONS]), strings, tables)
    return found


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


def _needs(data: bytes, at: int, count: int, strings: int) -> dict[int, str]:
    """Returns the names of symbol versions by their numbers."""
    names = {}
    for _ in range(count):
        _, num_versions, _, first, next_ = _NEED.unpack_from(data, at)
        version = at + first
        for _ in range(num_versions):
            _, _, number, name, step = _NEED_VERSION.unpack_from(data, version)
            names[number & 0x7FFF] = _text(data, strings + name)
            version += step
        at += next_
    return names


def _add_symbols(
    data: bytes,
    found: Elf,
    numbers: dict[int, str],
    versions: int,
    strings: int,
    sections: list[tuple[int, ...]],
) -> None:
    for _, kind, _, _, place, size, *_ in sections:
        if kind != _DYNAMIC_SYMBOLS:
            continue
        for i in range(size // _SYMBOL.size):
            (number,) = struct.unpack_from("<H", data, versions + 2 * i)
            if (version := numbers.get(number & 0x7FFF)) is not None:
                name = _SYMBOL.unpack_from(data, place + i * _SYMBOL.size)[0]
                found.versions[version].append(_text(data, strings + name))
