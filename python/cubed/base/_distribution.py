"""The distribution that this package is installed from, and how to install what it can use."""

from __future__ import annotations

import sys

from cubed import _core

#: Cubed for Python, another distribution, installs its modules into the same folder.
_NAMESAKE = "cubed"
#: The folder beside the package with the libraries of a portable wheel: auditwheel names it.
LIBRARIES = _core.distribution.replace("-", "_") + ".libs"


def install_command(extra: str, *packages: str) -> str:
    """The command that installs packages of an extra: all of them, or only `packages`.

    Version bounds are those of the installed distribution. The command names packages and not the
    extra, so that it works wherever this distribution came from: a wheel, a clone or an index.
    """
    import shlex  # late: only errors need it
    from importlib.metadata import PackageNotFoundError, requires  # late: only errors need it

    try:
        listed = requires(_core.distribution) or []
    except PackageNotFoundError:  # a clone's modules, used without installing them
        return shlex.join(["pip", "install", *(packages or [f".[{extra}]"])])
    found = []
    for requirement in listed:
        wanted, _, marker = (part.strip() for part in requirement.partition(";"))
        in_extra = marker.replace("'", '"') == f'extra == "{extra}"'
        if in_extra and (not packages or wanted.startswith(packages)):
            found.append(wanted)
    return shlex.join(["pip", "install", *found])


def dependencies() -> list[str]:
    """Requirements of this distribution without its extras, with version bounds."""
    from importlib.metadata import requires  # late: it takes a while

    return [r for r in requires(_core.distribution) or [] if ";" not in r]


def namesake() -> str | None:
    """Describes Cubed for Python in the folder of this package and the repair; None if absent."""
    from importlib.metadata import PackageNotFoundError, distribution  # late: it takes a while
    from pathlib import Path  # late: it takes a while

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
    import shlex  # late: only errors need it

    print(f"{shlex.quote(sys.executable)} -m {install_command(extra)}", end="", file=sys.stderr)
