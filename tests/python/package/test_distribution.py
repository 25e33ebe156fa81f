"""The distribution cubed-c: commands that install, and Cubed for Python in the same environment."""

import importlib.metadata
import io
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile

import cubed
import pytest
from conftest import NIGHTLY
from cubed.base import _distribution
from cubed.runtime import lambda_package
from cubed.runtime.executors import modal

from packaging.requirements import Requirement
from packaging.utils import parse_wheel_filename

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
SITE = pathlib.Path(cubed.__file__).resolve().parents[1]
PAGES = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
SOURCES = [*(ROOT / "src/cli").glob("*.[ch]"), *(ROOT / "python").rglob("*.py")]
#: Packages that the text installs by name, and that no extra has.
OTHERS = {"cubed-xarray", "ipython", "ml_dtypes", "pre-commit", "ray", "tqdm", "xarray", "zarr"}
#: Lines that are about another distribution, or another project's clone.
NOT_OURS = {"cubed-xarray", "-r requirements.txt"}


def commands():
    """The arguments of each distinct `pip install` in the documentation and in the sources."""
    found = set()
    for path in [*PAGES, *SOURCES]:
        text = re.sub(r'"\n\s*f?"', "", path.read_text())  # literals that the compiler joins
        for rest in re.findall(r"\bpip install ([^\n`]*)", text):
            words = re.split(r"\s+#|\s*&&|[;\"\\]| in ", rest)[0].strip()
            if words and words[0] not in "{%":  # a command that is formatted at run time
                found.add(words.replace("%s", "plot"))
    return sorted(found - {"--no-deps"})


COMMANDS = commands()


def test_commands_are_found():
    needed = {".", "'.[dask]'", "'.[plot]'", "./cubed_c-*.whl", "tqdm", "ipython"}
    assert needed <= {*COMMANDS}
    assert sum(c.startswith("'.[") for c in COMMANDS) == 11


def local_wheel(folder):
    """The name that the documentation gives a wheel, with the metadata of this distribution."""
    name = re.search(r"cubed_c-\S+?\.whl", (ROOT / "docs/how-to/install.md").read_text())[0]
    info = pathlib.Path(importlib.metadata.distribution("cubed-c")._path)
    stem = "-".join(name.split("-")[:2])
    for file in ("METADATA", "WHEEL", "entry_points.txt"):
        (folder / f"{stem}.dist-info").mkdir(exist_ok=True)
        text = (info / file).read_text()
        tag = name.removeprefix(f"{stem}-").removesuffix(".whl")
        (folder / f"{stem}.dist-info" / file).write_text(
            re.sub("(?m)^Tag: .*", f"Tag: {tag}", text)
        )
    (folder / f"{stem}.dist-info/RECORD").touch()
    shutil.make_archive(str(folder / "made"), "zip", folder, f"{stem}.dist-info")
    (folder / "made.zip").rename(folder / name)
    return name


def test_the_wheel_of_the_documentation(tmp_path):
    """Its version and tags are those that tools/wheel gives, and pip takes it with an extra."""
    name = local_wheel(tmp_path)
    distribution, version, _, tags = parse_wheel_filename(name)
    assert (distribution, str(version)) == ("cubed-c", cubed.__version__)
    assert [str(t) for t in tags] == ["cp311-abi3-manylinux_2_34_x86_64"]


@pytest.mark.parametrize("words", [c for c in COMMANDS if ".whl" in c])
def test_pip_takes_the_wheel(words, tmp_path):
    """As the shell expands the line."""
    local_wheel(tmp_path)
    options = "install --dry-run --quiet --no-deps --no-index --ignore-installed --report said.json"
    command = f"{shlex.quote(sys.executable)} -m pip {options} {words}"
    subprocess.run(["sh", "-c", command], check=True, cwd=tmp_path)
    assert '"name": "cubed-c"' in (tmp_path / "said.json").read_text()


@pytest.mark.parametrize("words", [c for c in COMMANDS if ".whl" not in c])
def test_what_commands_name_exists(words):
    """An extra of the clone, or a package that is not the distribution of Cubed for Python."""
    parts = [p for p in shlex.split(words) if p != "--no-deps"]
    assert parts
    for part in parts:
        if re.fullmatch(r"\.(\[[\w,]+\])?", part):
            assert part == "." or {*part[2:-1].split(",")} <= EXTRAS.keys()
        elif words not in NOT_OURS:
            assert Requirement(part).name in OTHERS


@pytest.mark.skipif(not NIGHTLY, reason="resolves extras on the package index: --nightly does")
@pytest.mark.parametrize("words", [c for c in COMMANDS if c.startswith(("'.", "."))])
def test_pip_resolves(words, tmp_path):
    """In the clone, or beside the wheel, with all that it requires."""
    local_wheel(tmp_path)
    if "whl" not in words:  # the wheel stands for the clone, whose build takes a minute
        words = words.replace(".", f"./{local_wheel(tmp_path)}", 1)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "clean"], check=True)
    command = f"clean/bin/pip install --dry-run --quiet {words}"
    subprocess.run(["sh", "-c", command], check=True, cwd=tmp_path)


def test_commands_at_run_time_have_the_bounds_of_the_project():
    for extra, wanted in EXTRAS.items():
        words = shlex.split(_distribution.install_command(extra))
        assert words[:2] == ["pip", "install"] and words[2:] == wanted
    assert _distribution.install_command("diagnostics", "pandas", "pyarrow") == shlex.join(
        ["pip", "install", *(r for r in EXTRAS["diagnostics"] if r.startswith(("pan", "pya")))]
    )
    assert _distribution.dependencies() == PROJECT["dependencies"]
    assert _distribution.install_command("dask") == "pip install 'distributed>=2026.8'"


def test_without_metadata(monkeypatch):
    """Modules that were copied: an extra is installed from the clone."""

    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", missing)
    assert _distribution.install_command("dask") == "pip install '.[dask]'"
    assert _distribution.install_command("diagnostics", "rich") == "pip install rich"


#: Each error that advises an installation: what is missing, how it is met, and the packages named.
ADVISING = {
    "networkx": (lambda x, p: x.plan().dag, "networkx>=3.3"),
    "cairosvg": (lambda x, p: x.visualize(p / "x.png"), "cairosvg>=2.5"),
    "pandas": (lambda x, p: _frame(x), "pandas>=2.2.2"),
    "rich": (lambda x, p: x.compute(callbacks=[_bar("rich")]), "rich>=12.0"),
    "tqdm": (lambda x, p: x.compute(callbacks=[_bar("tqdm")]), "tqdm"),
    "distributed": (lambda x, p: x.compute(executor="dask"), "distributed>=2026.8"),
    "zarr": (lambda x, p: cubed.from_zarr(_Store()), "zarr>=3.0.8"),
}


class _Store:
    """What only zarr-python can open."""


def _frame(x):
    from cubed.diagnostics.history import _frame as frame

    return frame([{"a": 1}])


def _bar(kind):
    from cubed.diagnostics import rich, tqdm

    return rich.RichProgressBar() if kind == "rich" else tqdm.TqdmProgressBar()


@pytest.mark.parametrize("package", ADVISING)
def test_errors_name_the_command(package, monkeypatch, tmp_path):
    call, requirement = ADVISING[package]
    for module in [m for m in sys.modules if m.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError) as e:
        call(cubed.ones((3,), chunks=2), tmp_path)
    (words,) = re.findall(r"pip install ((?:'[^']*'|[\w-]+)(?: '[^']*')*)", str(e.value))
    assert shlex.split(words)[0] == requirement


# --- An image that is made of this package --------------------------------------------------------


class _Image:
    """The calls of Modal's Image that make one."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        def call(*args, **kwargs):
            self.calls.append((name, args, kwargs))
            return self

        return call


def test_modals_image_has_the_files_of_this_package(monkeypatch, tmp_path):
    """No index has this version, and `cubed` there is Cubed for Python."""
    library = type("Library", (), {"Image": _Image()})
    executor = object.__new__(modal.ModalExecutor)
    monkeypatch.setattr(modal, "_SITE", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"portable wheel .*or give an image"):
        executor._own_image(library)
    (tmp_path / "cubed_c.libs").mkdir()
    calls = executor._own_image(library).calls
    assert calls[0][0] == "debian_slim"
    assert calls[1] == ("pip_install", (*PROJECT["dependencies"],), {})
    copied = [(args[0], args[1]) for name, args, _ in calls if name == "add_local_dir"]
    assert copied == [(tmp_path / n, f"/root/{n}") for n in ("cubed", "cubed_c.libs")]


def test_lambdas_package_has_the_libraries_of_the_wheel(monkeypatch, tmp_path):
    """auditwheel puts them into a folder of the wheel's name."""
    wheel = re.search(r"(cubed_c)-\S+?\.whl", (ROOT / "docs/how-to/install.md").read_text())
    program, library = tmp_path / "cubed/bin/cubed", tmp_path / f"{wheel[1]}.libs/libzstd-1.so"
    of_library = ("-shared", "-fPIC", "-Wl,-soname,libzstd-1.so")
    of_program = (library, f"-Wl,-rpath,$ORIGIN/../../{library.parent.name}")
    for path, code, flags in (
        (library, "int f(void) { return 0; }", of_library),
        (program, "int f(void); int main(void) { return f(); }", of_program),
    ):
        path.parent.mkdir(parents=True)
        command = ["cc", "-x", "c", "-", "-x", "none", *flags, "-o", path]
        subprocess.run(command, input=code.encode(), check=True)
    monkeypatch.setattr(lambda_package, "_SITE", tmp_path)
    lambda_package.write(tmp_path / "worker.zip")
    with zipfile.ZipFile(tmp_path / "worker.zip") as z:
        assert z.namelist() == ["bootstrap", "bin/cubed", "lib/libzstd-1.so"]


# --- Cubed for Python in the same folder ----------------------------------------------------------

UPSTREAM = "__version__ = '0.27.0'\nimport cubed.random\n"


@pytest.fixture
def site(tmp_path):
    """A copy of the installed package and its distribution, and all other packages beside it."""
    shutil.copytree(SITE / "cubed", tmp_path / "cubed", ignore=shutil.ignore_patterns("*.pyc"))
    for libraries in SITE.glob("cubed_c.libs"):
        shutil.copytree(libraries, tmp_path / "cubed_c.libs")
    info = pathlib.Path(importlib.metadata.distribution("cubed-c")._path)
    shutil.copytree(info, tmp_path / info.name)
    for path in SITE.iterdir():
        if not path.name.startswith("cubed"):
            (tmp_path / path.name).symlink_to(path)
    return tmp_path


def upstream_is_installed(site):
    info = site / "cubed-0.27.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: cubed\nVersion: 0.27.0\n")


def python(site, *arguments):
    """With the packages there alone: a whole package elsewhere would be found in their place."""
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-S", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_upstream_over_ours(site):
    upstream_is_installed(site)
    (site / "cubed/__init__.py").write_text(UPSTREAM)
    done = python(site, "-c", "import cubed")
    said = done.stderr.splitlines()[-1]
    assert done.returncode == 1
    assert said.startswith(
        "ModuleNotFoundError: the file __init__.py of the package cubed is another"
    )
    assert said.endswith(
        "uninstall both (pip uninstall cubed cubed-c), then install the one you want"
    )


def test_one_of_both_uninstalled(site):
    """`import cubed` alone runs no code then; each part and the command say what happened."""
    (site / "cubed/__init__.py").unlink()
    assert python(site, "-c", "import cubed; assert cubed.__file__ is None").returncode == 0
    for module in "random", "array_api", "xarray._chunkmanager":
        done = python(site, "-c", f"import cubed.{module}")
        assert "the file __init__.py of the package cubed is missing" in done.stderr
    (site / "scripts").mkdir()
    command = shutil.copy(ROOT / "python/command", site / "scripts")
    done = python(site, command, "--version")
    assert done.returncode == 0 and done.stdout.startswith(f"cubed {cubed.__version__}")
    assert "'import cubed' is empty" in done.stderr and "pip uninstall cubed" in done.stderr


def test_xarray_goes_on_with_dask(site):
    """A package that does not work is no reason for the other chunk managers to fail."""
    (site / "cubed/__init__.py").unlink()
    program = """if True:
        import xarray as xr
        assert xr.Dataset({"a": ("x", [1.0])}).chunk(x=1).a.data.sum().compute() == 1
    """
    done = python(site, "-c", program)
    assert done.returncode == 0, done.stderr
    assert "Failed to load chunk manager entrypoint cubed" in done.stderr
    assert "pip uninstall cubed cubed-c" in done.stderr


def test_ours_over_upstream(site):
    """It works, and says that it is in danger where versions are asked for."""
    program = "import cubed; assert cubed.ones(3).sum().compute() == 3; cubed.show_versions()"
    done = python(site, "-c", program)
    assert done.returncode == 0 and "warning" not in done.stdout
    assert f"distribution: cubed-c in {site / 'cubed'}\n" in done.stdout
    upstream_is_installed(site)
    done = python(site, "-c", program)
    assert done.returncode == 0, done.stderr
    assert "warning: the distribution 'cubed' 0.27.0 (Cubed for Python) has files" in done.stdout


def test_another_folder_is_no_conflict(site):
    """As of a user's packages, which an environment hides."""
    elsewhere = site / "elsewhere"
    elsewhere.mkdir()
    upstream_is_installed(elsewhere)
    program = (
        f"import sys; sys.path.append({str(elsewhere)!r}); import cubed; cubed.show_versions()"
    )
    done = python(site, "-c", program)
    assert done.returncode == 0 and "warning" not in done.stdout


def test_looking_costs_nothing_at_import():
    program = "import cubed, sys; print('importlib.metadata' in sys.modules)"
    assert python(SITE, "-c", program).stdout == "False\n"


def test_names_agree():
    assert cubed.__distribution__ == cubed._core.distribution == PROJECT["name"]
    out = io.StringIO()
    cubed.show_versions(out)
    assert f"distribution: {PROJECT['name']} in " in out.getvalue()


@pytest.mark.skipif(not NIGHTLY, reason="installs Cubed for Python: --nightly does")
@pytest.mark.parametrize("last", ["ours", "theirs"])
def test_the_real_distributions(last, tmp_path):
    """Installed in either order, one uninstalled, and repaired as the messages say."""
    wheels = [*(ROOT / "build/wheel").glob("*.whl")]
    if not wheels:
        pytest.skip("no wheel in build/wheel: tools/test package makes one")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "v"], check=True)

    def pip(*arguments):
        subprocess.run([tmp_path / "v/bin/pip", *arguments, "-q"], check=True)

    def run(program):
        command = [tmp_path / "v/bin/python", "-c", program]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    works = "import cubed; assert cubed.ones(3).sum().compute() == 3; cubed.show_versions()"
    order = [("install", wheels[0]), ("install", "cubed==0.27.0")]
    for arguments in order if last == "theirs" else reversed(order):
        pip(*arguments)
    done = run(works)
    if last == "theirs":
        assert "another distribution's" in done.stderr
    else:
        assert done.returncode == 0 and "warning: the distribution 'cubed'" in done.stdout
    pip("uninstall", "-y", "cubed" if last == "ours" else "cubed-c")
    assert run(works).returncode == 1
    pip("uninstall", "-y", "cubed", "cubed-c")
    pip("install", wheels[0])
    done = run(works)
    assert done.returncode == 0 and "warning" not in done.stdout, done.stderr
