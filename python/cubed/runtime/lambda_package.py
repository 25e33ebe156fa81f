"""The code of a worker in AWS Lambda: ``cubed lambda-package``.

A ZIP with the command and the libraries of this wheel, and a program that starts it. They need no
library of the system except the C library of ``provided.al2023``. The wheel must be for the
function's processor.
"""

from __future__ import annotations

import argparse
import stat
import zipfile
from pathlib import Path

from cubed.base._distribution import LIBRARIES

_BOOTSTRAP = """#!/bin/sh
exec "$(dirname "$0")/cubed/bin/cubed" worker --lambda
"""
#: The folder that this package is installed in.
_SITE = Path(__file__).resolve().parents[2]
#: Maximum size of a direct upload to Lambda.
_MOST = 50 << 20


def write(path: str | Path) -> int:
    """Writes the ZIP, replacing an existing file; returns its size in bytes.

    Raises
    ------
    FileNotFoundError
        If this package was installed without the command.
    ValueError
        If the ZIP is too large for Lambda.
    """
    libraries = [*_SITE.glob("cubed/libcubed*"), *_SITE.glob(f"{LIBRARIES}/*")]
    files = [_SITE / "cubed" / "bin" / "cubed", *sorted(libraries)]
    data = {str(f.relative_to(_SITE)): f.read_bytes() for f in files}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in {"bootstrap": _BOOTSTRAP.encode(), **data}.items():
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))  # the same bytes each time
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | 0o755) << 16
            out.writestr(entry, content)
    size = Path(path).stat().st_size
    if size > _MOST:
        raise ValueError(f"{path} has {size:,} bytes, expected at most {_MOST:,}")
    return size


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="cubed lambda-package", description=__doc__)
    parser.add_argument("zip", help="where the ZIP is written")
    path = parser.parse_args(arguments).zip
    try:
        print(f"{path}: {write(path):,} bytes")
    except (OSError, ValueError) as e:
        parser.exit(1, f"{parser.prog}: {e}\n")


if __name__ == "__main__":
    main()
