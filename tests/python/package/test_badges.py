"""Badges of README.md are files of the repository, and agree with other files of the repository."""

import pathlib
import re
import tomllib
import xml.etree.ElementTree as ET

import pytest

ROOT = pathlib.Path(__file__).parents[3]
BADGES = re.findall(r"\[!\[[^]]*\]\(([^)]*)\)\]\(([^)]*)\)", (ROOT / "README.md").read_text())


def text_of(name: str) -> str:
    return ET.parse(ROOT / f"docs/assets/badges/{name}.svg").getroot().attrib["aria-label"]


@pytest.mark.parametrize(("picture", "link"), BADGES)
def test_badges_and_their_links_are_files(picture, link):
    assert picture.startswith("docs/assets/badges/")
    assert (ROOT / link).is_file()
    root = ET.parse(ROOT / picture).getroot()
    shown = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
    assert root.attrib["aria-label"] == ": ".join(shown)


def test_badges_are_true():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert len(BADGES) == 4
    least = project["project"]["requires-python"].removeprefix(">=")
    assert text_of("python") == f"Python: {least} or later"
    assert text_of("licence") == "licence: Apache 2.0"
    licence = (ROOT / "LICENSE").read_text()
    assert "Apache License" in licence and "Version 2.0" in licence
    assert text_of("language") == "language: C11"
    assert re.search(
        r"C_STANDARD 11\b|c_std_11",
        "".join(
            p.read_text() for p in [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")]
        ),
    )
    runners = (ROOT / ".github/workflows/wheels.yml").read_text()
    assert text_of("platform") == "wheels: Linux: x86-64, aarch64"
    assert "ubuntu-latest, ubuntu-24.04-arm" in runners
