"""What functions and sources raise in tasks is what computing raises."""

import copyreg
import pickle
import subprocess
import sys
import textwrap
import threading
import traceback

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


@pytest.mark.parametrize("executor", EXECUTORS)
def test_exceptions_that_hold_a_block(executor, tmp_path):
    """Its memory is the engine's: there is only what it says."""

    def function(block):
        error = Coded(1, 2)
        error.block = block
        raise error

    e = raised(of_function(function, cubed.Spec(work_dir=tmp_path)), executor)
    assert type(e) is ValueError and "copy it: an exception has it, Coded: error 1" in str(e)


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
