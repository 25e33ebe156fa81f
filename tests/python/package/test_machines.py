"""Machines that the library does not support are refused before anything is compiled."""

import shutil
import subprocess

import pytest
from conftest import ROOT

pytestmark = pytest.mark.skipif(not shutil.which("cmake"), reason="CMake is not installed")


def cmake(*args: object) -> tuple[int, str]:
    """Runs CMake. Returns its exit code and its messages, without line breaks."""
    done = subprocess.run(["cmake", *map(str, args)], capture_output=True, text=True, timeout=120)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize(
    ("size", "order", "words"),
    [
        (4, "LITTLE_ENDIAN", "needs a 64-bit processor, but addresses of this compiler have 32"),
        (8, "BIG_ENDIAN", "needs a little-endian processor, but s390x is big-endian"),
        (8, "LITTLE_ENDIAN", ""),
        (8, "", ""),
    ],
)  # fmt: skip
def test_kinds_of_machines(size, order, words):
    machine = [f"-DCMAKE_SIZEOF_VOID_P={size}", f"-DCMAKE_C_BYTE_ORDER={order}"]
    code, said = cmake(
        *machine, "-DCMAKE_SYSTEM_PROCESSOR=s390x", "-P", ROOT / "cmake/machine.cmake"
    )
    assert (code != 0) == bool(words)
    assert words in said


def test_a_compiler_for_32_bits(tmp_path):
    code, said = cmake("-S", ROOT, "-B", tmp_path / "build", "-DCMAKE_C_FLAGS=-m32")
    if "is not able to compile a simple test program" in said:
        pytest.skip("the compiler has no libraries of 32 bits")
    assert code != 0
    assert "addresses of this compiler have 32 bits" in said
