"""Code in the documentation runs: all Python, all commands and all messages that pages quote, and
C is compiled. The Python of docs/how-to/xarray.md has a test of its own, with the data that it
needs: see test_xarray.py. That of docs/how-to/engines runs with engines: see test_engines.py. Also
tests statements of docstrings."""

import contextlib
import importlib.util
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
from cloud_servers import AzureServer, GoogleServer
from s3_server import Object, Server

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
PAGES = sorted(p for p in DOCS.rglob("*.md") if p.parent != DOCS / "how-to/engines")
PAGES += [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
CUBED = os.environ.get("CUBED_BIN", str(ROOT / "build/release/cubed"))
# What a test does not do again: installing, building, and what takes the network.
NOT_RUN = "pip make cmake sudo git cd cc python python3 pytest build/venv/bin/python".split()
NOT_RUN += ["./map_blocks"]
NOT_RUN += ["export", "tools/xarray_versions", "./program", "./complete", "./source", "./forks"]
NOT_RUN += ["ARRAY_API_TESTS_MODULE=cubed.array_api", "ASAN_OPTIONS=detect_leaks=0"]


def blocks(page):
    """Pairs of a language, "" for what is only indented, and text."""
    text = page.read_text()
    fence = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    found = fence.findall(text)
    rest = fence.sub("", text)
    indented = re.findall(r"(?:^|\n)\n((?: {4}\S.*\n?(?: {5,}.*\n?)*)+)", rest)
    return found + [("", re.sub(r"^ {4}", "", b, flags=re.MULTILINE)) for b in indented]


def code_of(page, language):
    return [text for lang, text in blocks(page) if lang == language]


def commands_of(page):
    """Lines of shells, without comments."""
    text = "\n".join(code_of(page, "sh") + code_of(page, "")).replace("\\\n", " ")
    lines = [shlex.split(line, comments=True) for line in text.splitlines()]
    return [words for words in lines if words]


def pages_with(language):
    return [p for p in PAGES if code_of(p, language) and p.name != "xarray.md"]


def name_of(page):
    return page.relative_to(DOCS if DOCS in page.parents else ROOT).as_posix()


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A directory with the stores that the pages speak of, as small as can be."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUBED_PYTHON", sys.executable)
    rng = np.random.default_rng(3)
    xr = pytest.importorskip("xarray", reason="stores with coordinates")
    temperature = xr.DataArray(280 + 30 * rng.random((24, 20, 30)), dims=("time", "lat", "lon"))
    temperature.to_dataset(name="t2m").to_zarr("era5.zarr")
    year = xr.DataArray(280 + 30 * rng.random((730, 20, 30)), dims=("time", "lat", "lon"))
    lon = 12.0 * np.arange(30)
    year = year.assign_coords(lat=np.linspace(-47.5, 47.5, 20), lon=lon, time=np.arange(730))
    year.time.attrs = {"units": "days since 2019-07-01", "calendar": "standard"}
    year.attrs = {"units": "K"}
    year.to_dataset(name="t2m").to_zarr("year.zarr", encoding={"t2m": {"chunks": (365, 10, 30)}})
    u, v = (xr.DataArray(rng.random((6, 20, 30)), dims=("month", "lat", "lon")) for _ in "uv")
    packed = {"dtype": "i2", "scale_factor": 1e-4, "_FillValue": -32768}
    xr.Dataset({"u": u, "v": v}).to_zarr("winds.zarr", encoding={"u": packed, "v": packed})
    maps = cubed.from_array(rng.random((1000, 30, 20)), chunks=(10, 30, 20))
    cubed.to_zarr(maps, "maps.zarr")
    save = "eval t+1 --in t=maps.zarr --out b.zarr --save-plan plan.cubed"
    subprocess.run([CUBED, *save.split()], check=True, capture_output=True)
    with contextlib.ExitStack() as stack:
        for made in Server(bucket="bucket"), GoogleServer("bucket"), AzureServer("container"):
            server = stack.enter_context(made)
            for file in (f for f in Path("era5.zarr").rglob("*") if f.is_file()):
                server.objects[str(file)] = Object(file.read_bytes(), {})
            for variable, value in server.variables.items():
                monkeypatch.setenv(variable, value)
        yield tmp_path


def test_blocks_are_found():
    assert len(code_of(ROOT / "README.md", "python")) == 1
    assert sum(len(code_of(p, "python")) for p in PAGES) >= 25
    found = {lang for p in PAGES for lang, _ in blocks(p)}
    assert found == {"python", "pycon", "console", "c", "sh", "json", "yaml", "text", ""}
    # None is lost between fences.
    fences = sum(len(re.findall(r"^```", p.read_text(), re.MULTILINE)) for p in PAGES)
    assert fences == 2 * sum(lang != "" for p in PAGES for lang, _ in blocks(p))


@pytest.mark.parametrize("page", pages_with("python"), ids=name_of)
def test_python(page, data):
    scope = {}
    for block in code_of(page, "python"):
        code = block.replace('"/scratch"', repr(str(data / "scratch")))
        exec(compile(code, page.name, "exec"), scope)


@pytest.mark.parametrize("page", [p for p in PAGES if commands_of(p)], ids=name_of)
def test_commands(page, data):
    for words in commands_of(page):
        if words[0] != "cubed":
            assert words[0] in NOT_RUN, words
            continue
        words = [w.replace("/scratch/me", ".") for w in words[1:]]
        if words[0] == "plot" and not importlib.util.find_spec("matplotlib"):
            continue  # what draws is not installed, which test_plot.py says
        done = subprocess.run([CUBED, *words], capture_output=True, text=True)
        assert done.returncode == 0, (words, done.stderr)


@pytest.mark.parametrize("page", pages_with("c"), ids=name_of)
def test_c_compiles(page, data):
    """Statements are the body of a function."""
    for k, block in enumerate(code_of(page, "c")):
        if "\n{" not in block:
            includes = re.findall(r"^#include.*\n", block, re.MULTILINE)
            block = (
                "".join(includes)
                + "void f(void);\nvoid f(void)\n{\n"
                + re.sub(r"^#include.*\n", "", block, flags=re.MULTILINE)
                + "}\n"
            )
        Path(f"{k}.c").write_text(block)
        flags = ["-std=gnu11", "-Wall", "-Werror", "-fsyntax-only"]
        # Lines of pages about one function do not look at each status; whole programs do.
        if "int main(" not in block and page.name != "c.md":
            flags.append("-Wno-unused-result")
        subprocess.run(["cc", *flags, f"-I{ROOT / 'include'}", f"{k}.c"], check=True)


#: Parts of messages that differ: the operations of a stage, any text, numbers and times.
VOLATILE = re.compile(r"(\(\S.* -> [\w-]+\)|\.\.\.$|\.\.\.(?=\n)|\d[\d.:TZ-]*)")


def pattern_of(text):
    """A regular expression for a message: any numbers and times match, and "..." is any text."""
    parts = VOLATILE.split(text.strip())
    for i, part in enumerate(parts):
        if i % 2 == 0:
            parts[i] = re.escape(part)
        elif part.startswith("("):
            parts[i] = r"\(.* -> [\w-]+\)"
        else:
            parts[i] = r"[\s\S]*" if part == "..." else r"\d[\d.:TZ-]*"
    return re.compile("".join(parts))


def quoted(text, folder):
    """What a page says for a message here: /data is the folder of the data."""
    return text.replace(str(folder), "/data").strip()


TROUBLES = DOCS / "how-to/troubleshoot.md"


@pytest.fixture
def stored(data):
    """The data, and a store with a result."""
    t2m = cubed.from_zarr("year.zarr", path="t2m")
    cubed.to_zarr(t2m * 2, "twice.zarr", path="y")
    return data


@pytest.fixture
def troubles(stored):
    """The data, a target that a run writes, chunks of a killed run, a damaged store, and a program
    whose library is in no folder of the system."""
    shutil.copytree("year.zarr", "damaged.zarr")
    os.truncate("damaged.zarr/t2m/c/0/0/0", 100)
    slow = [CUBED, "eval", "y = sort(random((6000, 6000), seed=1), axis=0)", "--max-workers", "1"]
    places = "busy.zarr", "unfinished.zarr"
    busy, killed = (
        subprocess.Popen([*slow, "--out", place], stderr=subprocess.DEVNULL) for place in places
    )
    for place in places:
        wait_for(lambda place=place: list(Path(place).rglob(".cubed-run")))
    killed.kill()
    killed.wait()
    os.kill(busy.pid, signal.SIGSTOP)
    library = Path(CUBED).resolve().parent
    Path("program.c").write_text(
        "#include <cubed/cubed.h>\nint main(void) { return !cubed_version(); }"
    )
    options = [f"-I{ROOT / 'include'}", f"-L{library}", "-lcubed"]
    subprocess.run(["cc", "program.c", *options, "-o", "program"], check=True)
    yield stored
    busy.kill()
    busy.wait()


def wait_for(condition):
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("not within ten seconds")


def test_messages_of_commands(troubles, monkeypatch):
    """Each message that the page quotes is printed by its command."""
    quotes = code_of(TROUBLES, "console")
    assert len(quotes) > 15
    monkeypatch.setenv("PATH", f"{Path(CUBED).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in [n for n in os.environ if n.startswith(("AWS_A", "AWS_S", "PKG_CONFIG"))]:
        monkeypatch.delenv(name)
    for quote in quotes:
        command, _, message = quote.removeprefix("$ ").partition("\n")
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        said = quoted(done.stdout + done.stderr, troubles)
        assert done.returncode != 0, command
        assert pattern_of(message).fullmatch(said), (command, said)


#: Prints the error or the warnings of a session, in a new process: messages depend on its memory.
SESSION = """
import doctest, sys, warnings, xarray, zarr
sys.modules["ray"] = None
scope, found = {}, ""
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try:
        for example in doctest.DocTestParser().get_examples(sys.stdin.read()):
            exec(compile(example.source, "session", "exec"), scope)
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
for said in (found, *(f"{w.category.__name__}: {w.message}" for w in caught)):
    print(said, end="\\0")
"""


@pytest.mark.parametrize("quote", code_of(TROUBLES, "pycon"))
def test_messages_of_the_package(quote, stored):
    """The last line of each session raises the error, or gives the warning, that is quoted."""
    done = subprocess.run(
        [sys.executable, "-c", SESSION], input=quote, capture_output=True, text=True, check=True
    )
    said = done.stdout.split("\0")
    expected = pattern_of(quote.strip().splitlines()[-1])
    assert any(expected.fullmatch(quoted(text, stored)) for text in said), said


def test_expressions_for_those_who_come_from_cdo(data):
    """Each expression about t2m in the tables can be evaluated."""
    text = (DOCS / "coming-from/cdo-and-nco.md").read_text()
    cells = (
        row.split(" | ")[1] for row in text.splitlines() if row.startswith("| ") and " | " in row
    )
    found = [
        e for cell in cells for e in re.findall(r"`([^`]*)`", cell) if re.search(r"\bt2m\b", e)
    ]
    found = [e for e in found if not e.startswith(("cubed ", "--"))]
    assert len(found) > 30
    whole = "; ".join(f"r{k} = {e}" for k, e in enumerate(found) if not e.startswith("new = "))
    done = subprocess.run(
        [CUBED, "eval", whole, "year.zarr", "--out", "r.zarr"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


#: Operators of CDO and the expressions that the page has for them.
OPERATORS = {
    "seldate,2020-01-01,2020-02-29": 'sel(t2m, time=("2020-01", "2020-02"))',
    "selindexbox,4,8,3,5": "t2m[:, 2:5, 3:8]",
    "setctomiss,273": "where(t2m == 273, nan, t2m)",
    "timmean": 'mean(t2m, "time")',
    "timstd": 'std(t2m, "time")',
    "timstd1": 'std(t2m, "time", correction=1)',
    "ymonmean": "ymonmean(t2m)",
    "timselmean,10": "timselmean(t2m, 10)",
    "runmean,5": "runmean(t2m, 5)",
    "zonmean": "zonmean(t2m)",
    "fldpctl,90": "fldpctl(t2m, 90)",
    "timcumsum": 'cumsum(t2m, dim="time")',
    "timsort": 'sort(t2m, dim="time")',
    "invertlat": 'flip(t2m, dim="lat")',
    "shiftx,15,cyclic": "roll(t2m, 15, axis=2)",
    "deltat": "diff(t2m, axis=0)",
}


def test_expressions_have_the_values_of_cdo(data):
    cdo = shutil.which("cdo")
    if not cdo:
        pytest.skip("needs CDO, which tools/setup --test installs")
    netcdf4 = pytest.importorskip("netCDF4", reason="reads the results of CDO")
    subprocess.run([CUBED, "copy", "year.zarr", "year.nc"], check=True, capture_output=True)
    rows = (DOCS / "coming-from/cdo-and-nco.md").read_text().splitlines()
    results = "; ".join(f"r{k} = {e}" for k, e in enumerate(OPERATORS.values()))
    subprocess.run([CUBED, "eval", results, "year.nc", "--out", "r.zarr"], check=True)
    for k, (operator, expression) in enumerate(OPERATORS.items()):
        assert any(f"`{operator}`" in r and f"`{expression}`" in r for r in rows), operator
        subprocess.run([cdo, "-s", "-O", operator, "year.nc", "cdo.nc"], check=True)
        with netcdf4.Dataset("cdo.nc") as made:
            expected = np.ma.filled(made["t2m"][:].squeeze(), np.nan)
        found = cubed.from_zarr("r.zarr", path=f"r{k}").compute()
        np.testing.assert_allclose(found, expected, rtol=1e-9, err_msg=operator)


#: How names of environment variables that sources name begin.
VARIABLES = (
    "AWS AZURE GOOGLE GS REDIS CUBED SLURM PBS HTTP HTTPS ALL NO SSL CURL REQUESTS GCE CLOUDSDK"
    " IDENTITY STORAGE JOB CLOUD COILED"
).split()


def test_variables_are_described():
    """Each environment variable that a source in C names is on one of two pages."""
    places = (DOCS / f"reference/{p}.md" for p in ("environment", "object-stores"))
    pages = "".join(p.read_text() for p in places)
    name = re.compile(rf'"((?:{"|".join(VARIABLES)})_[A-Z0-9_]*[A-Z0-9])"')
    sources = [*(ROOT / "src").rglob("*.c"), *(ROOT / "src").rglob("*.h")]
    names = {n for p in sources for n in name.findall(p.read_text())}
    assert len(names) > 30
    assert {n for n in names if n not in pages and n.lower() not in pages} == set()


def test_the_first_c_program_runs(data):
    """Compiles without warnings, and gives the result that the page says."""
    (program,) = (b for b in code_of(ROOT / "docs/tutorials/c.md", "c") if "int main(" in b)
    Path("program.c").write_text(program)
    library = Path(CUBED).resolve().parent
    flags = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{ROOT / 'include'}"]
    link = [f"-L{library}", "-lcubed", f"-Wl,-rpath,{library}"]
    subprocess.run(["cc", *flags, "program.c", *link, "-o", "program"], check=True)
    done = subprocess.run(["./program"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    u, v = (cubed.from_zarr("winds.zarr", k).compute() for k in "uv")  # int16, as they are packed
    assert "done in" in done.stdout
    assert np.allclose(cubed.from_zarr("uv.zarr").compute(), (u * v).mean(axis=0))
    # What is not there is an error that names it.
    Path("winds.zarr").rename("gone")
    failed = subprocess.run(["./program"], capture_output=True, text=True)
    assert failed.returncode == 1 and "winds.zarr" in failed.stderr


def test_all_names_are_described(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import reference

    page = reference.page()
    for path in reference.MODULES:
        module = sys.modules[path]
        assert f"\n## {path}\n" in page
        for name in reference.public_names(module):
            x = getattr(module, name)
            assert re.search(rf"\n### {re.escape(path)}\.{name}\n|`{name}`", page), (path, name)
            if callable(x) and getattr(x, "__module__", "").startswith("cubed"):
                assert (x.__doc__ or "").strip(), f"{path}.{name} has no docstring"
    # Not listed: parts of cubed.array_api, cubed.functions, and old places.
    package = ROOT / "python/cubed"
    files = [p for p in package.rglob("*.py") if re.search(r"^ *__all__ = ", p.read_text(), re.M)]
    listed = {
        ".".join(("cubed", *p.relative_to(package).with_suffix("").parts)).removesuffix(".__init__")
        for p in files
    }
    elsewhere = re.compile(
        r"cubed\.(array_api\.(\w+_functions|_operations|constants|dtypes|inspection|lib)|extensions\.\w+"
        r"|diagnostics\.mem_utilization|functions\.\w+)"
    )
    assert {m for m in listed if not elsewhere.fullmatch(m)} <= set(reference.MODULES)


def test_docstrings_say_whether_functions_compute():
    places = [(xp, xp.__all__), (xp.linalg, xp.linalg.__all__), (xp.fft, xp.fft.__all__)]
    places += [(cubed, cubed.__all__), (cubed.random, cubed.random.__all__)]
    functions = {
        f"{place.__name__}.{n}": getattr(place, n)
        for place, names in places
        for n in names
        if isinstance(getattr(place, n), types.FunctionType)
    }
    assert len(functions) > 200
    said = re.compile(r"\b([Ll]azy|[Cc]omput\w*|lazily|Shapes, types and memory are those)\b")
    assert [n for n, f in functions.items() if not said.search(f.__doc__ or "")] == []


SCHEMES = {"S3": "s3", "Google's Cloud Storage": "gs", "Azure": "az", "Redis": "redis"}


@pytest.mark.parametrize("title", SCHEMES)
def test_options_of_stores_are_those_that_they_take(title):
    """Each name in the second column of a store's table is among those that an error lists."""
    text = (ROOT / "docs/reference/object-stores.md").read_text()
    section = text.split(f"\n## {title}\n")[1].split("\n## ")[0]
    rows = [r.split("|")[1:-1] for r in section.splitlines() if r.startswith("|")][2:]
    names = {n for r in rows for n in re.findall(r"`(\w+)`", r[1])}
    assert len(rows) > 2 and len(names) > 3
    place = f"{SCHEMES[title]}://127.0.0.1:1/0/a.zarr"
    with pytest.raises(ValueError, match='no storage option "colour"; there are: ') as e:
        cubed.from_zarr(place, storage_options={"colour": "red"})
    assert names <= set(str(e.value).split("there are: ")[1].split())
