"""Versions and files that packages are made of."""

import hashlib
import importlib.metadata
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

import cubed
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
CUBED = os.environ.get("CUBED_BIN", str(ROOT / "build/release/cubed"))


def test_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert project["version"] == cubed.__version__ == citation[1]
    release = cubed.__version__.partition(".dev")[0]
    assert re.search(rf"^## {re.escape(release)}\b", (ROOT / "CHANGELOG.md").read_text(), re.M)
    # What is built: the command, what pkg-config and CMake find, the library, and the package.
    done = subprocess.run([CUBED, "--version"], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[0] == f"cubed {cubed.__version__}"
    built = pathlib.Path(CUBED).resolve().parent
    assert re.search(r"^Version: (.*)$", (built / "cubed.pc").read_text(), re.M)[1] == release
    assert f'PACKAGE_VERSION "{release}"' in (built / "cubed-config-version.cmake").read_text()
    assert (built / f"libcubed.so.{release}").exists()
    assert importlib.metadata.version("cubed-c") == cubed.__version__


def test_the_command_comes_with_the_package(tmp_path):
    """The environment's own, whatever the working directory has."""
    (tmp_path / "cubed.py").write_text("raise SystemExit('not this one')")
    command = pathlib.Path(sys.executable).with_name("cubed")
    run = {"check": True, "capture_output": True, "text": True, "cwd": tmp_path}
    done = subprocess.run([command, "--version"], **run)
    assert done.stdout.startswith(f"cubed {cubed.__version__}\n")
    # Its workers are what it is itself.
    cubed.to_zarr(cubed.ones((6, 4), chunks=(2, 4)), str(tmp_path / "x.zarr"))
    call = [
        command,
        "eval",
        "sum(x)",
        "--in",
        "x=x.zarr",
        "--executor",
        "processes",
        "--out",
        "y.zarr",
    ]
    subprocess.run(call, **run)
    assert cubed.from_zarr(str(tmp_path / "y.zarr")).compute() == 24
    # What fails there fails here.
    done = subprocess.run([command, "no-such-verb"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no-such-verb" in done.stderr


def test_extras_fit_together():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    (complete,) = extras["complete"]
    assert {*re.fullmatch(r"cubed-c\[(.*)\]", complete)[1].split(",")} <= {*extras}


def test_recipes_have_the_dependencies(tmp_path):
    """Of the package, and each library that CMake looks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    conda = (ROOT / "packaging/conda/recipe.yaml").read_text()
    for wanted in project["project"]["dependencies"] + project["build-system"]["requires"]:
        assert f"- {wanted.replace('>=', ' >=')}\n" in conda
    dependencies = (ROOT / "cmake/dependencies.cmake").read_text()
    libraries = re.search(r"set\(CUBED_DEPENDENCIES (.*)\)", dependencies)[1].split()
    homebrew = (ROOT / "packaging/homebrew/cubed.rb").read_text()
    names = {"blosc": ("blosc", "c-blosc"), "libzstd": ("zstd", "zstd"), "liblz4": ("lz4-c", "lz4")}
    for library in [*libraries, "bzip2", "sleef", "xxhash"]:
        in_conda, in_homebrew = names.get(library, (library, library))
        assert re.search(rf"^    - {in_conda}( |$)", conda, re.M), library
        assert re.search(rf'(depends_on|uses_from_macos) "{in_homebrew}"', homebrew), library
    # They are written for one distribution.
    sdist = tmp_path / "cubed_c-1.2.3.tar.gz"
    sdist.write_bytes(b"x")
    copied = tmp_path / "copy"
    shutil.copytree(ROOT / "packaging", copied / "packaging")
    (copied / "tools").mkdir()
    shutil.copy(ROOT / "tools/recipes", copied / "tools")
    subprocess.run([copied / "tools/recipes", "https://a.example/b?c=d", sdist], check=True)
    for path in "conda/recipe.yaml", "homebrew/cubed.rb":
        text = (copied / "build/recipes" / path).read_text()
        assert "@" not in text.replace("openssl@3", "")
        for said in "https://a.example/b?c=d", "1.2.3", hashlib.sha256(b"x").hexdigest():
            assert f'"{said}"' in text


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


def test_libraries_of_the_network_are_loaded_by_who_needs_them():
    """They are two dozen, and would make every process slower to begin."""
    code = """if True:
        import pathlib, cubed, numpy as np
        loaded = lambda: "libcurl" in pathlib.Path("/proc/self/maps").read_text()
        (cubed.from_array(np.arange(3), chunks=2) + 1).compute()
        before = loaded()
        try:
            cubed.from_zarr("http://127.0.0.1:9/nothing")
        except OSError:
            print(before, loaded())
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n", done.stderr
