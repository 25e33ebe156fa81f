"""Exceptions that functions and sources raise in tasks are raised by the computation."""

import copyreg
import linecache
import pickle
import subprocess
import sys
import textwrap
import threading
import traceback
import types

import cubed
import numpy as np
import pytest

EXECUTORS = ["single-threaded", "threads", "processes"]


class Coded(Exception):
    """Wants other arguments than those that it hands on, and keeps something that stays here."""

    def __init__(self, code, where):
        super().__init__(f"error {code}")
        self.code, self.where, self.lock = code, where, threading.Lock()


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class Exits(Exception):
    def __str__(self):
        raise SystemExit(3)


class Slotted(ValueError):
    __slots__ = ("place",)


class Source:
    shape, dtype = (4,), np.dtype(float)

    def __init__(self, function):
        self.function = function

    def __getitem__(self, key):
        return self.function(np.zeros(4))


def of_function(function, spec):
    return cubed.map_blocks(function, cubed.ones(4, spec=spec), dtype=float)


def of_source(function, spec):
    return cubed.from_array(Source(function), spec=spec) + 1


@pytest.fixture(params=[of_function, of_source])
def make(request, tmp_path):
    spec = cubed.Spec(work_dir=tmp_path, allowed_mem="300MB", reserved_mem="100MB")
    return lambda function: request.param(function, spec)


def raised(x, executor):
    try:
        x.compute(executor=executor)
    except BaseException as e:
        return e
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize("executor", EXECUTORS)
def test_type_attributes_cause_and_traceback(executor, make):
    def function(block):
        try:
            {}["wind"]
        except KeyError as e:
            raise Coded(5, [1, 2]) from e

    e = raised(make(function), executor)
    assert type(e) is Coded and str(e) == "error 5" and (e.code, e.where) == (5, [1, 2])
    assert type(e.__cause__) is KeyError and e.__cause__.args == ("wind",)
    text = "".join(traceback.format_exception(e))
    assert "raise Coded(5, [1, 2]) from e" in text
    assert any(s in text for s in ("block (0,)", "region [0:4]"))
    assert hasattr(e, "lock") == (executor != "processes")


@pytest.mark.parametrize(
    ("executor", "kind"), [*((e, Mute) for e in EXECUTORS), ("threads", Exits)]
)
def test_exceptions_without_a_text(executor, kind, make):
    def function(block):
        raise kind("x")

    e = raised(make(function), executor)
    assert type(e) is kind and e.args == ("x",)


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    "error",
    [
        KeyboardInterrupt("stop"),
        SystemExit(7),
        Slotted(3),
        FileNotFoundError(2, "nothing there", "/x"),
        UnicodeDecodeError("utf-8", b"abc", 1, 2, "why"),
        ImportError("no", name="module", path="file"),
        StopIteration(4),
        MemoryError("much"),
        GeneratorExit(),
        AssertionError(),
    ],
    ids=lambda e: type(e).__name__,
)
def test_every_kind(executor, error, tmp_path):
    def function(block):
        raise error

    make = of_source if executor == "threads" else of_function
    with pytest.raises(type(error)) as caught:
        make(function, cubed.Spec(work_dir=tmp_path)).compute(executor=executor, retries=0)
    e = caught.value
    assert type(e) is type(error) and e.args == error.args and str(e) == str(error)
    for name in ("code", "filename", "errno", "reason", "name", "path", "value"):
        assert getattr(e, name, None) == getattr(error, name, None)


def _forgetful(kind, args):
    e = kind.__new__(kind)
    e.args = args
    return e


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    "error",
    [SystemExit(7), StopIteration(4), UnicodeDecodeError("utf-8", b"abc", 1, 2, "why")],
    ids=lambda e: type(e).__name__,
)
def test_reducers_of_others(executor, error, make, monkeypatch):
    """Importing Dask or Lithops registers some that lose what is not in args or __dict__."""
    monkeypatch.setitem(
        copyreg.dispatch_table, type(error), lambda e: (_forgetful, (type(e), e.args))
    )

    def state(e):
        return [getattr(e, name, None) for name in ("code", "value", "reason", "args")]

    assert state(pickle.loads(pickle.dumps(error))) != state(error)

    def function(block):
        raise error

    e = raised(make(function), executor)
    assert type(e) is type(error) and state(e) == state(error)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_groups(executor, make):
    def function(block):
        raise ExceptionGroup(
            "several", [Coded(1, 2), ValueError("v"), ExceptionGroup("g", [Mute()])]
        )

    e = raised(make(function), executor)
    assert type(e) is ExceptionGroup and e.message == "several"
    assert [type(x) for x in e.exceptions] == [Coded, ValueError, ExceptionGroup]
    assert e.exceptions[0].code == 1 and type(e.exceptions[2].exceptions[0]) is Mute


@pytest.mark.parametrize("executor", EXECUTORS)
def test_what_cannot_be_pickled(executor, make):
    def function(block):
        lock = threading.Lock()

        class Local(ValueError):
            def held(self):
                return lock

        raise Local(lock, "text")

    e = raised(make(function), executor)
    assert isinstance(e, ValueError) and e.args[1] == "text"
    if executor == "processes":
        assert type(e) is ValueError and "lock" in e.args[0]
        assert "Local, which cannot be pickled" in "\n".join(e.__notes__)
    else:
        assert type(e).__name__ == "Local"


# --- Exceptions that hold a block -----------------------------------------------------------------


def held_in_an_attribute(block):
    error = Coded(1, 2)
    error.block = block
    raise error


def held_in_the_arguments(block):
    raise Coded("odd", block[1:])


def held_in_a_list(block):
    error = Coded(1, 2)
    error.block = [block]
    raise error


def held_by_the_cause(block):
    try:
        raise KeyError(block)
    except KeyError as e:
        raise Coded(1, 2) from e


def missing_attribute(block):
    return block.nope


def missing_attribute_of_a_view(block):
    return block.reshape(2, -1).T.nope


def missing_attribute_of_a_holder(block):
    return Coded(block, block).nope


@pytest.fixture
def spec(tmp_path):
    return cubed.Spec(work_dir=tmp_path, allowed_mem="300MB", reserved_mem="100MB")


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    "function",
    [held_in_an_attribute, held_in_the_arguments, held_in_a_list, held_by_the_cause],
)
def test_exceptions_that_hold_a_block(function, executor, spec):
    """Its memory is the engine's: the exception has a copy."""
    e = raised(of_function(function, spec), executor)
    assert type(e) is Coded
    if function is held_in_the_arguments:
        np.testing.assert_array_equal(e.where, np.ones(3))
    elif function is held_by_the_cause:
        np.testing.assert_array_equal(e.__cause__.args[0], np.ones(4))
    else:
        np.testing.assert_array_equal(np.ravel(e.block), np.ones(4))
    notes = "\n".join(e.__notes__)
    assert f"map_blocks({function.__name__}), block (0,)" in notes and "keeps a view" not in notes
    shown = "".join(traceback.format_exception(e))
    assert "raise " in shown and f"in {function.__name__}" in shown


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    "function",
    [missing_attribute, missing_attribute_of_a_view, missing_attribute_of_a_holder],
)
def test_missing_attributes_of_blocks(function, executor, spec):
    """An AttributeError holds the object that lacks the attribute."""
    e = raised(of_function(function, spec), executor)
    assert type(e) is AttributeError and "object has no attribute 'nope'" in str(e)
    shown = "".join(traceback.format_exception(e))
    assert f"in {function.__name__}" in shown and ".nope" in shown and __file__ in shown


@pytest.mark.parametrize("executor", EXECUTORS)
def test_large_blocks_become_text(executor, spec):
    x = cubed.map_blocks(held_in_an_attribute, cubed.ones(100_000, spec=spec), dtype=float)
    e = raised(x, executor)
    assert type(e) is Coded and e.block.startswith("array([1., 1., 1.,")


kept = []


def keeps_and_raises(block):
    kept.append(block)
    raise KeyError("wind")


def test_functions_that_keep_a_block_and_raise():
    """What they raise arrives; a note says that they keep the block, too."""
    e = raised(of_function(keeps_and_raises, None), "single-threaded")
    kept.clear()
    assert type(e) is KeyError and e.args == ("wind",)
    assert any("keeps a view of a block after its return" in n for n in e.__notes__)


# --- Lines of source ------------------------------------------------------------------------------


def fails_for_a_reason(block):
    try:
        {}["wind"]
    except KeyError as e:
        raise ValueError("no data") from e


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("how", ["as it is", "without file names"])
def test_tracebacks_have_file_line_and_source(how, executor, spec, monkeypatch):
    """cloudpickle 3.1.3 and later leaves out the file of code that it pickles."""
    import cloudpickle

    if how == "without file names":
        reduce = cloudpickle.CloudPickler.dispatch_table[types.CodeType]

        def anonymous(code):
            make, args = reduce(code)
            assert code.co_filename in args
            return make, tuple("<dynamic-code>" if a == code.co_filename else a for a in args)

        table = cloudpickle.CloudPickler.dispatch_table
        monkeypatch.setitem(table.maps[0], types.CodeType, anonymous)

    def function(block):
        def inner():
            return fails_for_a_reason(block)

        return inner()

    copy = types.FunctionType(function.__code__, globals(), closure=function.__closure__)
    copy.__module__ = "__main__"  # as functions of programs, which are pickled by value
    e = raised(of_function(copy, spec), executor)
    shown = "".join(traceback.format_exception(e))
    first = function.__code__.co_firstlineno
    assert f'File "{__file__}", line {first + 2}, in inner' in shown
    assert "return fails_for_a_reason(block)" in shown
    assert '{}["wind"]' in shown and 'raise ValueError("no data") from e' in shown
    assert type(e.__cause__) is KeyError


@pytest.mark.parametrize("executor", EXECUTORS)
def test_tracebacks_of_notebooks_have_their_lines(executor, spec):
    """A worker process does not have the cells of a notebook, the program that began it does."""
    cell = "def function(block):\n    return block / missing_value\n"
    linecache.cache["<cell 7>"] = (len(cell), None, cell.splitlines(True), "<cell 7>")
    scope = {"__name__": "__main__"}
    exec(compile(cell, "<cell 7>", "exec"), scope)
    e = raised(of_function(scope["function"], spec), executor)
    del linecache.cache["<cell 7>"]
    shown = "\n".join(e.__notes__) if executor == "processes" else "".join(found_lines(e))
    assert type(e) is NameError and "missing_value" in str(e)
    assert 'File "<cell 7>", line 2, in function' in shown
    if executor == "processes":
        assert "    return block / missing_value" in shown


def found_lines(e):
    return traceback.format_tb(e.__traceback__)


def test_exceptions_of_one_process_are_not_kept():
    from cubed.runtime import _failures

    def function(block):
        raise OSError("gone")

    x = of_function(function, None)
    for executor in EXECUTORS:
        with pytest.raises(OSError, match="gone"):
            x.compute(executor=executor, retries=2)
    assert not _failures._kept


def test_classes_of_programs(tmp_path):
    """Of a script, whose classes workers know from the plan alone."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
            import cubed

            class Own(Exception):
                def __init__(self, a, b):
                    self.a = a

            def function(block):
                raise Own(1, 2)

            if __name__ == "__main__":
                try:
                    cubed.map_blocks(function, cubed.ones(4), dtype=float).compute(
                        executor="processes", max_workers=1
                    )
                except Own as e:
                    print("caught", e.a)
            """)
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["caught", "1"], done.stderr
