"""tools/check_abi notices each change of the C library's binary interface, and names its effect."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
CODEC = "cubed/sys/codec.h"

CHANGES = {
    "a member in the middle": (
        CODEC,
        "    size_t src_size;\n    void *dst;",
        "    size_t src_size, more;\n    void *dst;",
        "struct cubed_codec_call has another layout: compiled programs read other members",
    ),
    "a member at the end": (
        CODEC,
        "    bool swapped;  ",
        "    double more;\n    bool swapped;  ",
        "struct cubed_codec_ctx has another layout: compiled programs read other members",
    ),
    "a member of another size": (
        CODEC,
        "uint32_t version;",
        "uint64_t version;",
        "struct cubed_codec_vtable has another layout: compiled programs read other members",
    ),
    "a longer structure": (
        CODEC,
        "    size_t from, size;\n} cubed_codec_extent;",
        "    size_t from, size, more;\n} cubed_codec_extent;",
        "struct cubed_codec_extent has more members at its end",
    ),
    "another function in a vtable": (
        CODEC,
        "cubed_status (*decode)(const cubed_codec_call *call, size_t *got,",
        "cubed_status (*decode)(const cubed_codec_call *call, int *got,",
        "struct cubed_codec_vtable has members of other types or names",
    ),
    "another order of an enum": (
        CODEC,
        "    CUBED_CODEC_BYTES_TO_BYTES,\n    CUBED_CODEC_ARRAY_TO_ARRAY,",
        "    CUBED_CODEC_ARRAY_TO_ARRAY,\n    CUBED_CODEC_BYTES_TO_BYTES,",
        "enum cubed_codec_kind has other values",
    ),
    "another number": (
        CODEC,
        "CUBED_CODEC_VERSION 2",
        "CUBED_CODEC_VERSION 3",
        "constant CUBED_CODEC_VERSION was 2, is 3",
    ),
    "another parameter": (
        "cubed/base.h",
        "cubed_version(void)",
        "cubed_version(int which)",
        "function cubed_version is declared otherwise: compiled programs pass other arguments",
    ),
    "a function less": (
        "cubed/base.h",
        "CUBED_API const char *cubed_libraries(void);",
        "",
        "function cubed_libraries is gone: programs that use it do not start",
    ),
    "a function more": (
        "cubed/base.h",
        "CUBED_API const char *cubed_libraries(void);",
        "CUBED_API const char *cubed_libraries(void);\nCUBED_API int cubed_more(void);",
        "function cubed_more is new",
    ),
}


def check(include):
    return subprocess.run([ROOT / "tools/check_abi", include], capture_output=True, text=True)


def test_the_headers_are_as_recorded():
    said = check(ROOT / "include")
    assert said.returncode == 0, said.stdout + said.stderr


@pytest.mark.parametrize("change", CHANGES)
def test_changes_are_noticed(tmp_path, change):
    header, old, new, expected = CHANGES[change]
    shutil.copytree(ROOT / "include", tmp_path / "include")
    path = tmp_path / "include" / header
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))
    said = check(tmp_path / "include")
    assert said.returncode == 1, said.stderr
    assert expected in said.stdout
    assert "--update records it" in said.stdout
