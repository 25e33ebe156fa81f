"""Installed versions, for bug reports."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TextIO

from cubed import _core
from cubed.base._distribution import namesake

_PACKAGES = (
    "numpy donfig cloudpickle xarray flox zarr dask distributed lithops ray h5py pandas pyarrow"
    " rich tqdm cairosvg fsspec obstore"
).split()


def show_versions(file: TextIO | None = None) -> None:
    """Prints the versions of the package, its libraries, Python and related packages.

    For bug reports. Computes nothing, and imports none of the packages. A line ``warning`` says
    that Cubed for Python is installed in the same folder, so that neither works.

    Parameters
    ----------
    file : file or None
        The output; None: standard output.

    Examples
    --------
    >>> import cubed
    >>> cubed.show_versions()  # doctest: +ELLIPSIS
    cubed: ...
    """
    rows = [
        ("cubed", _core.version),
        ("distribution", f"{_core.distribution} in {Path(__file__).resolve().parents[1]}"),
        ("libraries", _core.libraries),
        ("python", sys.version.replace("\n", " ")),
        ("platform", platform.platform()),
    ]
    for name in _PACKAGES:
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            rows.append((name, "-"))
    conflict = namesake()
    if conflict is not None:
        rows.insert(2, ("warning", conflict))
    for name, text in rows:
        print(f"{name}: {text}", file=file if file is not None else sys.stdout)
