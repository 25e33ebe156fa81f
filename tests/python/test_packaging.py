"""Versions and files that packages are made of."""

import pathlib
import re
import shutil
import subprocess
import tomllib

import cubed
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert project["version"] == cubed.__version__ == citation[1]
    release = cubed.__version__.partition(".dev")[0]
    assert re.search(rf"^## {re.escape(release)}\b", (ROOT / "CHANGELOG.md").read_text(), re.M)


@pytest.mark.skipif(shutil.which("nm") is None, reason="needs binutils")
def test_the_extension_exports_its_entry_alone():
    """Functions of the library in another program's process are that program's."""
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", cubed._core.__file__],
        check=True,
        capture_output=True,
        text=True,
    )
    assert [line.split()[-1] for line in listed.stdout.splitlines()] == ["PyInit__core"]
