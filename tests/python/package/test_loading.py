"""Packages load a name when a program first uses it: the import of `cubed` stays quick."""

import copyreg
import importlib
import inspect
import pickle
import subprocess
import sys
import textwrap

import cubed
import pytest
from conftest import ROOT
from cubed.base._exports import MODULES, NAMES, SUBMODULES

PACKAGES = sorted(NAMES)

#: All modules of the package that `import cubed` loads.
LOADED = ["cubed", "cubed._core", "cubed.base", "cubed.base._exports", "cubed.base._loading"]


def run(code, *options):
    """Output of a program in a fresh process."""
    command = [sys.executable, *options, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_modules_that_the_import_loads():
    code = "import sys; before = set(sys.modules); import cubed; print(*set(sys.modules) - before)"
    found = run(code)
    assert sorted(m for m in found if m.partition(".")[0] == "cubed") == LOADED
    # NumPy is loaded with the first array.
    assert {m.partition(".")[0] for m in found} <= {"cubed"} | sys.stdlib_module_names


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("cubed.Spec(allowed_mem='1GB')", "cubed.array"),
        ("cubed.ones((4, 4), chunks=2) + 1", "cubed.planning"),
        ("cubed.ones((4, 4), chunks=2)[1:].mean(axis=0)", "cubed.planning"),
        ("cubed.ones((4, 4), chunks=2) + 1", "html"),
        ("cubed.ones((4, 4), chunks=2) + 1", "numpy.typing"),
        ("cubed.add(cubed.ones(3), 1).compute()", "cubed.blocks"),
        ("cubed.add(cubed.ones(3), 1).compute()", "cubed.runtime._call"),
        ("cubed.add(cubed.ones(3), 1).compute()", "cubed.array_api.numpy_functions"),
    ],
)
def test_operations_do_not_load_what_they_do_not_need(statement, absent):
    assert run(f"import cubed, sys; {statement}; print({absent!r} in sys.modules)") == ["False"]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_is_there(package):
    module = importlib.import_module(package)
    names = [*NAMES[package], *MODULES[package], *SUBMODULES[package]]
    assert len(set(names)) == len(names)
    assert set(names) <= set(dir(module)) and set(module.__all__) <= set(names) | set(vars(module))
    for name, home in NAMES[package].items():
        assert getattr(module, name) is getattr(importlib.import_module(home), name)
        assert vars(module)[name] is getattr(module, name)  # found without a call the next time
    for name, home in MODULES[package].items():
        assert getattr(module, name) is importlib.import_module(home)
    for name in SUBMODULES[package]:
        assert getattr(module, name) is importlib.import_module(f"{package}.{name}")
    assert {name for name, _ in inspect.getmembers(module)} == set(dir(module))


def test_every_module_can_be_the_first():
    """No name needs that another name was used before."""
    first = {home: name for name, home in (NAMES["cubed"] | MODULES["cubed"]).items()}
    code = f"""
        import sys, cubed
        for name in {sorted(first.values())}:
            for module in [m for m in sys.modules if m.partition(".")[0] == "cubed"]:
                if module != "cubed._core":
                    del sys.modules[module]
            import cubed
            getattr(cubed, name)
        print("done")
    """
    assert run(code) == ["done"]


def test_import_of_all_names():
    code = """
        kept = eval
        from cubed import *
        assert eval is kept and sum(ones((2, 3))).compute() == 6 and linalg.det and config
        assert not {"random", "ma", "stats", "diagnostics", "functions"} & set(globals())
        import cubed
        assert set(cubed.__all__) <= set(globals())
        from cubed.array_api import *
        assert __array_api_version__ and "Array" not in cubed.array_api.__all__
        print("done")
    """
    assert run(code) == ["done"]


def test_submodules_that_a_program_imports_by_name():
    for name in ("random", "array_api.linalg", "functions.math", "runtime.create", "xarray"):
        code = f"import cubed.{name} as x, cubed; print(cubed.{name} is x, x.__name__)"
        assert run(code) == ["True", f"cubed.{name}"]
    assert run("from cubed.array_api import linalg; print(linalg.__name__)") == [
        "cubed.array_api.linalg"
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_that_does_not_exist(package):
    module = importlib.import_module(package)
    assert not hasattr(module, "no_such_name")
    with pytest.raises(AttributeError) as found:
        module.no_such_name  # noqa: B018
    assert str(found.value) == f"module {package!r} has no attribute 'no_such_name'"
    assert found.value.name == "no_such_name" and found.value.obj is module
    with pytest.raises(ImportError, match="cannot import name 'no_such_name' from"):
        exec(f"from {package} import no_such_name")


def test_a_name_that_is_nearly_right():
    done = subprocess.run(
        [sys.executable, "-c", "import cubed; cubed.map_blokcs"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "has no attribute 'map_blokcs'. Did you mean: 'map_blocks'?" in done.stderr


def test_reload_and_pickles():
    code = """
        import importlib, pickle, cubed
        before = cubed.add
        assert importlib.reload(cubed) is cubed and cubed.add is before
        assert importlib.reload(cubed.array_api) is cubed.array_api
        assert cubed.mean is cubed.array_api.mean
        x = pickle.loads(pickle.dumps(cubed.ones(3)))
        assert (x + 1).compute().tolist() == [2, 2, 2]
        print("done")
    """
    assert run(code) == ["done"]
    x = cubed.ones(3)
    assert x.__array_namespace__() is cubed.array_api
    assert copyreg.dispatch_table.get(cubed.Array) is None
    for name in ("add", "mean", "Array", "Spec", "map_blocks"):
        assert pickle.loads(pickle.dumps(getattr(cubed, name))) is getattr(cubed, name)


def test_pickles_in_a_process_that_has_imported_nothing():
    data = pickle.dumps((cubed.ones(3) + 1, cubed.Spec(allowed_mem="1GB"), cubed.mean))
    code = f"""
        import pickle
        x, spec, mean = pickle.loads({data!r})
        print(mean(x).compute(), spec.allowed_mem)
    """
    assert run(code) == ["2.0", "1000000000"]


def test_threads_that_import_at_once():
    code = """
        import sys, threading, cubed
        sys.setswitchinterval(1e-6)
        names = [n for n in cubed.__all__ if not n.startswith("_")]
        failures, barrier = [], threading.Barrier(8)

        def use(k):
            barrier.wait()
            try:
                for name in names[k::3] + names[::-1]:
                    getattr(cubed, name)
                assert (cubed.ones(3) + k).compute().tolist() == [1 + k] * 3
            except BaseException as error:
                failures.append(repr(error))

        threads = [threading.Thread(target=use, args=(k,)) for k in range(8)]
        for t in threads: t.start()
        for t in threads: t.join()
        print(failures)
    """
    assert run(code) == ["[]"]


def test_help_and_source_are_those_of_the_function():
    assert "Limits each element" in inspect.getdoc(cubed.clip)
    assert inspect.getsourcefile(cubed.clip).endswith("elementwise_functions.py")


def test_the_table_fails_for_sources_that_it_cannot_read(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    write_exports = importlib.import_module("write_exports")
    lazy = "from cubed.base._loading import exports\nif TYPE_CHECKING:\n    "
    face = tmp_path / "__init__.py"
    part = tmp_path / "part.py"

    def table(block, text):
        face.write_text(lazy + block)
        part.write_text(text)
        namespace = {}
        exec(write_exports.module(tmp_path, {}), namespace)
        return namespace["NAMES"]["cubed"], namespace["MODULES"]["cubed"]

    assert table("from cubed.part import *", '__all__ = ["f"]\ndef f(): pass\n') == (
        {"f": "cubed.part"},
        {},
    )
    assert table("from cubed import part as part", "") == ({}, {"part": "cubed.part"})
    for block, text, message in [
        ("from cubed.part import *", "def f(): pass\n", "cubed.part has no __all__"),
        ("from cubed.part import *", "__all__ = list('ab')\n", "expected a list"),
        ("from cubed.part import *", "__all__ = [*names()]\n", "expected a name or"),
        ("from cubed.part import f as g", "def f(): pass\n", "imported as g"),
        ("from cubed.part import part as part", "def part(): pass\n", "a module and a name part"),
    ]:
        with pytest.raises(SystemExit, match=message):
            table(block, text)
