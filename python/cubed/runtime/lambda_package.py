"""The code of a worker in AWS Lambda: ``cubed lambda-package``.

A ZIP with the command, the shared libraries that the command needs, and a program that starts the
command with these libraries. The C library is that of the function's runtime, or is in the ZIP
as well.
"""

from __future__ import annotations

import argparse
import os
import re
import stat
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

from cubed.runtime import _elf

#: The folder that this package is installed in.
_SITE = Path(__file__).resolve().parents[2]
#: The runtime of the function, and the version of its C library.
RUNTIME, GLIBC = "provided.al2023", (2, 34)
#: Maximum size of a direct upload to Lambda.
_MOST = 50 << 20
#: Libraries of glibc: all have to be of the same version as its loader.
_OF_GLIBC = re.compile(
    r"(ld-linux[-\w.]*|lib(c|m|dl|rt|util|anl|pthread|resolv|mvec|nss_\w+|BrokenLocale)\.so[.\d]*)"
)
#: Libraries that libcubed loads at run time, which its list of needed libraries lacks.
_OPENED = re.compile(rb"\0(lib(?:curl|crypto|ssl)[-\w]*\.so\.[.\d]+)\0")
_VERSION = re.compile(r"GLIBC_(\d+)\.(\d+)")
_DEFAULT_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
_TRIPLETS = {"x86_64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}

_WITH_ITS_LIBC = """#!/bin/sh
here=${0%%/*}
exec "$here/lib/%s" --library-path "$here/lib" --inhibit-cache "$here/bin/cubed" worker --lambda
"""
_WITH_THE_LIBC = """#!/bin/sh
here=${0%/*}
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
exec "$here/bin/cubed" worker --lambda
"""


def write(
    path: str | Path,
    command: str | Path | None = None,
    architecture: str | None = None,
    bundle_libc: bool = False,
    glibc: tuple[int, int] = GLIBC,
) -> int:
    """Writes the ZIP, replacing an existing file; returns its size in bytes.

    Parameters
    ----------
    path
        The ZIP.
    command
        The program to put into the ZIP; default: the command of this package.
    architecture
        Architecture of the function, ``"x86_64"`` or ``"arm64"``; default: that of the program.
    bundle_libc
        Whether the C library of this machine is part of the ZIP, so that the version of the
        runtime's C library does not matter.
    glibc
        The version of the runtime's C library.

    Raises
    ------
    FileNotFoundError
        If there is no program, or a library that it needs is not found.
    ValueError
        If the program is for another processor, needs a newer C library than the runtime has, or
        is too large for Lambda.
    """
    program = _elf.read(command or _SITE / "cubed" / "bin" / "cubed")
    if architecture is not None and program.machine != architecture:
        raise ValueError(
            f"{program.path} is for {program.machine}, expected {architecture}: name a command that"
            f" was built for it (--command), such as that of an unpacked wheel"
        )
    libraries = _libraries(program)
    files = {
        f"lib/{name}": e.path for name, e in libraries.items() if bundle_libc or not _is_libc(name)
    }
    if bundle_libc:
        loader = Path(program.interpreter).name
        files[f"lib/{loader}"] = Path(program.interpreter)
        bootstrap = _WITH_ITS_LIBC % loader
    else:
        for e in (program, *(e for name, e in libraries.items() if not _is_libc(name))):
            _check_versions(e, glibc)
        bootstrap = _WITH_THE_LIBC
    files["bin/cubed"] = program.path
    data = {name: file.read_bytes() for name, file in sorted(files.items())}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in {"bootstrap": bootstrap.encode(), **data}.items():
            # A fixed date, so that the same contents always give the same bytes.
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | 0o755) << 16
            out.writestr(entry, content)
    size = Path(path).stat().st_size
    if size > _MOST:
        raise ValueError(f"{path} has {size:,} bytes, expected at most {_MOST:,}")
    return size


def _is_libc(name: str) -> bool:
    return _OF_GLIBC.fullmatch(name) is not None


def _libraries(program: _elf.Elf) -> dict[str, _elf.Elf]:
    """Returns all libraries that a program needs, by the names under which they are searched."""
    found: dict[str, _elf.Elf] = {}
    waiting = [program]
    while waiting:
        e = waiting.pop()
        for name in [*e.needed, *_opened(e)]:
            if name not in found:
                found[name] = _find(name, e, program.machine)
                waiting.append(found[name])
    return found


def _opened(e: _elf.Elf) -> list[str]:
    """Returns the libraries that libcubed loads by name at run time."""
    if not e.path.name.startswith("libcubed"):
        return []
    return sorted({name.decode() for name in _OPENED.findall(e.path.read_bytes())})


def _find(name: str, needs: _elf.Elf, machine: str) -> _elf.Elf:
    """Finds a library in the loader's search path."""
    for file in _candidates(name, needs, machine):
        if file.is_file() and not _elf.is_32_bit(file):
            e = _elf.read(file)
            if e.machine == machine:
                return e
    raise FileNotFoundError(
        f"{needs.path} needs {name}, which is not found for {machine}: install the package that has"
        " it, or set LD_LIBRARY_PATH to its folder"
    )


def _candidates(name: str, needs: _elf.Elf, machine: str) -> Iterator[Path]:
    if "/" in name:
        yield Path(name)
        return
    for folder in needs.folders:
        yield folder / name
    for given in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        if given:
            yield Path(given) / name
    yield from _cached(name)
    for usual in (f"/usr/lib/{_TRIPLETS.get(machine, '')}", *_DEFAULT_FOLDERS):
        yield Path(usual) / name


def _cached(name: str) -> Iterator[Path]:
    """Returns the files under a name in the cache of this machine's loader."""
    for program in ("/sbin/ldconfig", "/usr/sbin/ldconfig"):
        if os.access(program, os.X_OK):
            said = subprocess.run([program, "-p"], capture_output=True, text=True, check=False)
            for line in said.stdout.splitlines():
                title, _, file = line.strip().partition(" => ")
                if title.partition(" ")[0] == name and file:
                    yield Path(file)
            return


def _check_versions(e: _elf.Elf, glibc: tuple[int, int]) -> None:
    for version, symbols in sorted(e.versions.items()):
        found = _VERSION.match(version)
        if found and (int(found[1]), int(found[2])) > glibc:
            raise ValueError(
                f"{e.path} needs {version} of the C library"
                f" (for {', '.join(sorted(symbols)[:3]) or 'its code'}), and {RUNTIME} has"
                f" {glibc[0]}.{glibc[1]}: use --bundle-libc, which puts this machine's C library"
                " into the ZIP, the command of the portable wheel (tools/wheel), or a container"
                " image (packaging/lambda/Containerfile)"
            )


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="cubed lambda-package", description=__doc__)
    parser.add_argument("zip", help="where the ZIP is written")
    parser.add_argument("--command", help="the program to put into the ZIP")
    parser.add_argument("--architecture", choices=sorted(_TRIPLETS), help="the function's")
    parser.add_argument("--bundle-libc", action="store_true", help="put the C library into the ZIP")
    a = parser.parse_args(arguments)
    try:
        size = write(a.zip, a.command, a.architecture, a.bundle_libc)
        print(f"{a.zip}: {size:,} bytes")
    except (OSError, ValueError) as e:
        parser.exit(1, f"{parser.prog}: {e}\n")


if __name__ == "__main__":
    main()
