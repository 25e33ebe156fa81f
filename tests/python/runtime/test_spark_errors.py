"""Errors of Spark's jobs, with a context that fails like Py4J. Spark itself: test_engines.py."""

import sys
import types

import cubed
import numpy as np
import pytest
from cubed.runtime.executors.spark import SparkEngine, SparkExecutor
from cubed.runtime.worker import WorkerLostError

CRASH = (
    "Job aborted due to stage failure: Task 0 in stage 0.0 failed 1 times, most recent failure:"
    " Lost task 0.0 in stage 0.0 (TID 0) (host executor driver):"
    " org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)\n"
)
STACK = "".join(
    f"\tat org.apache.spark.scheduler.Part{i}.run(Part.scala:{i})\n" for i in range(200)
)


class JavaError(Exception):
    def __init__(self, message):
        super().__init__(f"{message}{STACK}")
        self.java_exception = types.SimpleNamespace(
            getMessage=lambda: message and message + STACK, toString=lambda: "java.lang.Error"
        )


class Context:
    """A SparkContext whose first jobs fail."""

    _active_spark_context = None
    made = None
    master = "local[2,4]"
    defaultParallelism = 2

    def __init__(self, conf=None, failures=()):
        self.conf, self.failures, self.level, self.stopped = conf, list(failures), None, False
        Context.made = self

    def parallelize(self, messages, parts):
        assert parts == len(messages)
        self.messages = messages
        return self

    def map(self, call):
        self.call = call
        return self

    def collect(self):
        if self.failures:
            raise JavaError(self.failures.pop(0))
        return [self.call(message) for message in self.messages]

    def setLogLevel(self, level):
        self.level = level

    def stop(self):
        self.stopped = True


class Conf:
    def setAll(self, pairs):
        self.settings = dict(pairs)
        return self


@pytest.fixture(autouse=True)
def _spark(monkeypatch):
    module = types.ModuleType("pyspark")
    module.SparkContext, module.SparkConf = Context, Conf
    protocol = types.ModuleType("py4j.protocol")
    protocol.Py4JJavaError = JavaError
    for name, value in {
        "pyspark": module,
        "py4j": types.ModuleType("py4j"),
        "py4j.protocol": protocol,
    }.items():
        monkeypatch.setitem(sys.modules, name, value)
    monkeypatch.setattr(SparkEngine, "has_workers", lambda self: True)


def compute(tmp_path, context, **options):
    options |= {"spark_context": context, "max_workers": 2}
    spec = cubed.Spec(
        tmp_path / "work", allowed_mem="300MB", executor_name="spark", executor_options=options
    )
    return (cubed.from_array(np.arange(40.0), chunks=10, spec=spec) * 2).compute()


def test_lost_workers_are_retried(tmp_path):
    context = Context(failures=[CRASH, "x ExecutorLostFailure (executor 1 exited)"])
    np.testing.assert_array_equal(compute(tmp_path, context), np.arange(40.0) * 2)
    assert not context.failures


@pytest.mark.parametrize(
    ("message", "kind", "text"),
    [
        (CRASH, WorkerLostError, r"a worker of Spark ended in a call: Job aborted .* \(crashed\)"),
        ("no\nmore", RuntimeError, "^Spark: no"),
        (None, RuntimeError, r"^Spark: java\.lang\.Error"),
    ],
)
def test_errors_have_no_stacks_of_java(tmp_path, message, kind, text):
    with pytest.raises(kind, match=text) as caught:
        compute(tmp_path, Context(failures=[message] * 20), retries=0)
    error = caught.value
    while error:
        assert "at org.apache" not in str(error)
        error = error.__cause__


def test_a_context_of_a_run_has_attempts():
    engine = SparkExecutor(max_workers=2).connect()
    made = Context.made
    assert made.conf.settings["spark.master"] == "local[2,4]"
    assert made.level == "FATAL"
    engine.disconnect()
    assert made.stopped
    given = {"spark.master": "local[7]"}
    SparkExecutor(max_workers=2, spark_conf=given).connect()
    assert Context.made.conf.settings["spark.master"] == "local[7]"
