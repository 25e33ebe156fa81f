"""Help, man pages and completion, which are all made from one table."""

import fcntl
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import termios

import pytest
from conftest import BIN, ROOT, check, run
from cubed.functions import manipulation

OVERVIEW = check(run("help")).out
VERBS = re.findall(r"^  ([\w-]+) +\w", OVERVIEW.split("subcommands:")[1], re.MULTILINE)
PLAN_VERBS = ["eval", "rechunk", "copy", "run", "demo"]


RUNNING = check(run("help", "options")).out


def options(text: str) -> list[str]:
    """The options that a help text describes, and those that it names and `help options` does."""
    own, running, names = text.partition("\nrunning (")
    found = re.findall(r"^  (--[\w-]+)", own, re.MULTILINE)
    named = re.findall(r"--[\w-]+", names.partition("\n\n")[0]) if running else []
    assert set(named) <= set(re.findall(r"^  (--[\w-]+)", RUNNING, re.MULTILINE))
    return found + named


def bash(script: str, *args: object) -> str:
    command = ["bash", "--norc", "-c", script, "bash", *map(str, args)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout


def complete(*words: str, cwd: pathlib.Path | None = None) -> list[str]:
    """What bash offers for the last of the words."""
    script = """
        cd "$2"; . <("$1" completion bash); shift 2
        COMP_WORDS=("$0" "$@"); COMP_CWORD=$#
        _cubed; printf '%s\\n' "${COMPREPLY[@]}" """
    script = script.replace('"$0"', f"'{BIN}'")
    return [line for line in bash(script, BIN, cwd or ".", *words).splitlines() if line]


def test_the_verbs_are_there():
    assert {"info", "eval", "rechunk", "copy", "run", "clean", "worker", "demo"} < set(VERBS)
    assert check(run("--help")).out == OVERVIEW
    assert run().code == 2
    assert run("help", "nonsense").code == 2
    assert run("help", "eval", "run").code == 2


def test_common_options_are_described_once():
    assert "--allowed-mem SIZE     memory that each worker may use" in RUNNING
    text = check(run("eval", "--help")).out
    assert "memory that each worker may use" not in text and "`cubed help options`" in text


@pytest.mark.parametrize(("columns", "most"), [(30, 40), (60, 60), (200, 100)])
def test_help_fits_the_terminal(columns, most):
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    with subprocess.Popen([BIN, "help", "options"], stdout=terminal) as process:
        os.close(terminal)
        text = b""
        while True:
            try:
                read = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            if not read:
                break
            text += read
    os.close(master)
    assert process.returncode == 0
    words = [line for line in text.decode().splitlines() if len(line.split()) > 2]
    assert most - 25 < max(map(len, words)) <= most


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb(verb):
    text = check(run(verb, "--help")).out
    assert text.startswith(f"usage: cubed {verb}")
    assert check(run("help", verb)).out == text
    assert max(map(len, text.splitlines())) <= 100
    if verb in PLAN_VERBS:
        assert {"--allowed-mem", "--executor", "--progress", "--events"} < set(options(text))


def test_help_of_eval_names_all_functions_that_have_rows_of_their_own():
    rows = "".join(path.read_text() for path in (ROOT / "src/lang").glob("expr_*.c"))
    functions = re.findall(r'\{\s*\.name = "(\w+)",\s*\.fn', rows)
    assert {"assign", "group_labels", "resample", "sel"} < set(functions)
    named = set(re.findall(r"\w+", check(run("help", "eval")).out))
    assert {*functions, *manipulation.__all__} <= named


def test_functions_without_a_row_have_help_and_are_completed():
    rows = "".join(path.read_text() for path in (ROOT / "src/lang").glob("expr_*.c"))
    names = re.findall(r'\{\s*\.name = "(\w+)",\s*\.fn', rows)
    for name in {*names, "set_attrs", "monmean", "yseaspctl", "float32"} - set(VERBS):
        text = check(run("help", name)).out
        assert text.startswith(f"{name}(x") or name == "group_labels", text
        assert len(text.split("\n\n")) > 1, text
        assert name == "float32" or f"{name}(" in complete("eval", name[:-1])
    assert run("help", "monmeam").err.startswith('cubed: "monmeam" is not a subcommand')


@pytest.mark.parametrize("verb", [None, *VERBS])
def test_man_pages(verb, tmp_path):
    name = f"cubed-{verb}" if verb else "cubed"
    page = check(run("help", "--man", *([verb] if verb else []))).out
    assert page.startswith(f".TH {name.upper()} 1 ")
    assert f".SH NAME\n{name} \\- ".replace("cubed-", "cubed\\-") in page
    # No line of text that roff would take for a request that it does not know.
    requests = set(re.findall(r"^[.'](\w+)", page, re.MULTILINE))
    assert requests <= {"TH", "ad", "nh", "SH", "TP", "br", "nf", "fi"}
    if not shutil.which("groff"):
        pytest.skip("groff is not installed: the page's requests were checked, not its rendering")
    (tmp_path / "page.1").write_text(page)
    command = ["groff", "-man", "-Tutf8", "-ww", "-P-cbou", "-rLL=500n", tmp_path / "page.1"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stderr == ""
    words = " ".join(done.stdout.split())
    for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "SEE ALSO"]:
        assert f" {section} " in words
    if not verb:
        assert all(f"cubed-{v}(1)" in words for v in VERBS)
        return
    # Everything that --help says is on the page, character by character.
    text = check(run(verb, "--help")).out
    own, running, names = text.partition("\nrunning (")
    if running:
        text = own + names.partition("\n\n")[2] + RUNNING.partition("running:")[2]
    for part in re.split(r"\n\n|\n  |^\w+:$|^usage: ", text, flags=re.MULTILINE):
        for piece in re.split(r" {2,}", part):
            assert " ".join(piece.split()) in words


def test_functions_have_a_man_page(tmp_path):
    check(run("help", "--man-dir", tmp_path))
    page = (tmp_path / "cubed-functions.7").read_text()
    assert page.startswith(".TH CUBED-FUNCTIONS 7 ")
    requests = set(re.findall(r"^[.'](\w+)", page, re.MULTILINE))
    assert requests <= {"TH", "ad", "nh", "SH", "TP", "RS", "RE"}
    assert "linalg" in {name.lower() for name in re.findall(r"^\.SH (\w+)", page, re.MULTILINE)}
    signature = check(run("help", "svd")).out.splitlines()[0]
    assert signature.replace("'", "\\(aq") in page
    if shutil.which("groff"):
        command = ["groff", "-man", "-Tutf8", "-ww", tmp_path / "cubed-functions.7"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        assert done.stderr == ""


def test_man_pages_are_written_and_installed(tmp_path):
    check(run("help", "--man-dir", tmp_path))
    expected = {"cubed.1", *(f"cubed-{v}.1" for v in VERBS)}
    assert {p.name for p in tmp_path.iterdir()} == {*expected, "cubed-functions.7"}
    assert (tmp_path / "cubed-eval.1").read_text() == check(run("help", "eval", "--man")).out
    failed = run("help", "--man-dir", tmp_path / "missing")
    assert failed.code == 1 and "No such file" in failed.err

    build = pathlib.Path(BIN).resolve().parent
    if not (build / "help/made").exists() or not shutil.which("cmake"):
        pytest.skip(f"{build} is no build directory with help pages: installing was not tried")
    prefix = tmp_path / "prefix"
    subprocess.run(
        ["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL
    )
    share = prefix / "share"
    assert {p.name for p in (share / "man/man1").iterdir()} == expected
    assert [p.name for p in (share / "man/man7").iterdir()] == ["cubed-functions.7"]
    for shell, path in [
        ("bash", "bash-completion/completions/cubed"),
        ("zsh", "zsh/site-functions/_cubed"),
        ("fish", "fish/vendor_completions.d/cubed.fish"),
    ]:
        assert (share / path).read_text() == check(run("completion", shell)).out


def test_bash_completes_verbs_and_words():
    assert complete("") == [*VERBS, "--help", "--version"]
    assert complete("re") == ["remap", "rechunk"]
    assert complete("demo", "") == ["quadratic-means"]
    assert complete("completion", "z") == ["zsh"]
    topics = complete("help", "")
    assert topics[: len(VERBS)] == VERBS and {"mean", "svd", "linalg"} < set(topics)
    assert len(set(topics)) == len(topics)
    for topic in topics:
        check(run("help", topic))
    assert complete("help", "cle") == ["clean"]


@pytest.mark.parametrize("verb", VERBS)
def test_bash_completes_all_options_of_a_verb(verb):
    listed = options(check(run(verb, "--help")).out)
    assert complete(verb, "--") == ["--help", *listed]
    assert complete(verb, "x", "--he") == ["--help"]


def test_bash_completes_values():
    executors = ["threads", "single-threaded", "processes"]
    for verb in PLAN_VERBS:
        assert complete(verb, "--executor", "") == executors
        assert complete(verb, "--progress", "p") == ["plain"]
    assert complete("eval", "--executor", "=", "t") == ["threads"]
    assert complete("eval", "--executor", "=") == executors
    assert complete("eval", "--format", "") == ["2", "3"]
    assert complete("demo", "--codec", "z") == ["zstd"]
    # What is offered is accepted, and nothing else.
    for executor in executors:
        check(run("eval", "1+1", "--executor", executor, "--progress", "none"))
    assert run("eval", "1+1", "--executor", "thread").code == 2
    assert run("eval", "1+1", "--progress", "loud").code == 2


def test_expressions_are_completed(tmp_path):
    def words(text):
        return check(run("help", "--complete", text)).out.splitlines()

    assert words("mea") == ["mean(", "mean_labels("]
    assert words("2*mean(u, ke") == ["2*mean(u, keepdims="]
    assert words("qr(x + mean(y, axis=0), mod") == ["qr(x + mean(y, axis=0), mode="]
    # The array is given by position alone; numbers and strings are no names.
    assert "mean(x=" not in words("mean(") and words("mean(2") == words("f('mea") == []
    assert words("mean(u, axis=(0, 1), ke") == ["mean(u, axis=(0, 1), keepdims="]
    assert words("(" * 100 + "mea") == []
    assert {"2 * mean(", "2 * add(", "2 * svd("} < set(words("2 * "))
    assert complete("eval", "'x - mea") == ["x - mean(", "x - mean_labels("]
    (tmp_path / "mean.zarr").mkdir()
    assert complete("eval", "mea", cwd=tmp_path) == ["mean(", "mean_labels(", "mean.zarr"]
    assert complete("plot", "'sqrt(x)", cwd=tmp_path) == []


def test_bash_completes_files(tmp_path):
    (tmp_path / "era5.zarr").mkdir()
    (tmp_path / "era5.txt").touch()
    both = ["era5.txt", "era5.zarr"]
    assert sorted(complete("info", "er", cwd=tmp_path)) == both
    assert sorted(complete("eval", "x", "--out", "er", cwd=tmp_path)) == both
    assert sorted(complete("eval", "x", "--in", "x", "=", "er", cwd=tmp_path)) == both
    assert complete("eval", "x", "--work-dir", "er", cwd=tmp_path) == ["era5.zarr"]
    assert complete("eval", "x", "--allowed-mem", "", cwd=tmp_path) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_of_the_shell(shell):
    script = check(run("completion", shell)).out
    for verb in VERBS:
        assert verb in script
        for option in options(check(run(verb, "--help")).out):
            assert option[2:] in script
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed: the script's names were checked, not its syntax")
    subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_version_names_what_the_library_is_built_from():
    text = check(run("--version")).out
    assert re.match(r"cubed \d+\.\d+\.\d+\S*\ninstruction set: \S+\n", text)
    built = dict(item.split(" ") for item in text.splitlines()[2].split(", "))
    assert {"c-blosc", "zstd", "zlib", "lz4", "bzip2", "jansson"} <= set(built)
    assert all(re.fullmatch(r"\d+\.\d+(\.\d+)*", version) for version in built.values())


def test_unknown_shells_are_refused():
    refused = run("completion", "tcsh")
    assert refused.code == 2
    assert "bash, zsh or fish" in refused.err
    assert run("completion").code == 2
