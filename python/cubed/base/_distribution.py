"""The distribution that this package is installed from, and commands to install extras."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from cubed import _core

#: Another distribution, Cubed for Python, which installs its modules into the same folder.
_NAMESAKE = "cubed"
#: The folder next to the package with the libraries of a portable wheel, named by auditwheel.
LIBRARIES = _core.distribution.replace("-", "_") + ".libs"


def optional(module: str, use: str, extra: str, *packages: str) -> Any:
    """Imports a module that `use` needs; the ImportError states how to install it."""
    try:
        return import_module(module)
    except ImportError as e:
        raise ImportError(f"{use}: {install_command(extra, *packages)}") from e


def install_command(extra: str, *packages: str) -> str:
    """Returns the command that installs packages of an extra: all of them, or only `packages`.

    The version bounds are those of the installed distribution. The command names packages instead
    of the extra, so it works for a wheel, a clone and an index alike.
    """
    import shlex  # lazy: needed only for errors
    from importlib.metadata import PackageNotFoundError, requires  # lazy: needed only for errors

    try:
        listed = requires(_core.distribution) or []
    except PackageNotFoundError:  # modules of a clone that is not installed
        return shlex.join(["pip", "install", *(packages or [f".[{extra}]"])])
    found = []
    for requirement in listed:
        wanted, _, marker = (part.strip() for part in requirement.partition(";"))
        in_extra = marker.replace("'", '"') == f'extra == "{extra}"'
        if in_extra and (not packages or wanted.startswith(packages)):
            found.append(wanted)
    return shlex.join(["pip", "install", *found])


def dependencies() -> list[str]:
    """Returns the requirements of this distribution without its extras, with version bounds."""
    from importlib.metadata import requires  # lazy: the import is slow

    return [r for r in requires(_core.distribution) or [] if ";" not in r]


def namesake() -> str | None:
    """Describes how to remove Cubed for Python from this package's folder; None if it is not
    there."""
    from importlib.metadata import PackageNotFoundError, distribution  # lazy: slow import
    from pathlib import Path  # lazy: slow import

    try:
        other = distribution(_NAMESAKE)
    except PackageNotFoundError:
        return None
    folder = Path(__file__).resolve().parents[1]
    if Path(str(other.locate_file("cubed"))).resolve() != folder:
        return None
    return (
        f"the distribution {_NAMESAKE!r} {other.version} (Cubed for Python) has files in the same"
        f" folder, {folder}, and removing either removes files of both: uninstall both (pip"
        f" uninstall {_NAMESAKE} {_core.distribution}), then install the one you want"
    )


def print_command(extra: str) -> None:
    """Prints the command that installs an extra for this Python, for messages of src/cli."""
    import shlex  # lazy: needed only for errors

    print(f"{shlex.quote(sys.executable)} -m {install_command(extra)}", end="", file=sys.stderr)
