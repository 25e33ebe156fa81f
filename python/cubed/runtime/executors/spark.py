"""Apache Spark: the context of the current session, or one on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from cubed.runtime.executors.base import EngineExecutor, needed
from cubed.runtime.executors.stages import StageEngine
from cubed.runtime.worker import WorkerLostError

#: Attempts of a task in contexts that runs create on this machine: Spark's default is 1 there, and
#: 4 on clusters (``spark.task.maxFailures``).
_ATTEMPTS = 4


class SparkEngine(StageEngine):
    """Runs each list of ranges as a job with a partition for each range. Spark runs ranges of lost
    executors again.
    """

    def __init__(self, context: Any, workers: int) -> None:
        super().__init__(workers)
        self._context = context

    def has_workers(self) -> bool:
        """Returns True if the driver runs tasks itself, or if there is a block manager in addition
        to the driver's.
        """
        spark = self._context._jsc.sc()
        return spark.isLocal() or spark.getExecutorMemoryStatus().size() > 1

    def run_stage(self, call: Callable[[bytes], bytes], messages: list[bytes]) -> list[bytes]:
        """Runs a job. Errors of Spark are shortened to one line, without their Java stack trace."""
        error: type[Exception] = needed("py4j.protocol", "spark").Py4JJavaError
        try:
            return self._context.parallelize(messages, len(messages)).map(call).collect()
        except error as e:
            raise _shortened(e) from None


#: Parts of messages of jobs whose Python worker or executor was lost too often.
_LOST = ("Python worker exited unexpectedly", "ExecutorLostFailure")


def _shortened(error: Any) -> Exception:
    """Returns the error of a job without Java stack traces; a lost worker becomes the driver's
    error."""
    said = str(error.java_exception.getMessage() or error.java_exception.toString())
    line = said.strip().partition("\n")[0][:500]
    if any(part in said for part in _LOST):
        return WorkerLostError(f"a worker of Spark ended in a call: {line}")
    return RuntimeError(f"Spark: {line}")


class SparkExecutor(EngineExecutor):
    """Runs tasks on a Spark cluster.

    Parameters
    ----------
    spark_context
        A ``pyspark.SparkContext``; default: the active one, otherwise one of this machine for each
        run.
    spark_conf
        Settings, by name, of a context that the run creates; by default ``spark.master`` is
        ``local``, with `max_workers` threads and four attempts of each call.
    max_workers
        Concurrent tasks; default: the context's ``defaultParallelism``.
    retries
        As for other executors. A call whose worker is lost runs again without counting as a retry,
        as often as ``spark.task.maxFailures`` allows.
    **kwargs
        As for other executors.
    """

    name = "spark"
    keeps_messages: ClassVar[str] = "Spark's driver"
    engine: ClassVar[tuple[str, str]] = ("pyspark", "spark")
    overhead: ClassVar[float] = 0.05
    _accepted = EngineExecutor._accepted | {"spark_context", "spark_conf"}

    def _context(self) -> Any:
        pyspark = needed("pyspark", "spark")
        given = self.given("spark_context", "pyspark", "SparkContext")
        return given or pyspark.SparkContext._active_spark_context

    def known_workers(self) -> int | None:
        """Returns the parallelism of the context."""
        context = self._context()
        return None if context is None else context.defaultParallelism

    def connect(self) -> SparkEngine:
        """Returns an engine with the context, or with a new one."""
        context, workers = self._context(), self.num_workers()
        if context is not None:
            return SparkEngine(context, workers)
        pyspark = needed("pyspark", "spark")
        options: Mapping[str, Any] = {
            "spark.master": f"local[{workers},{_ATTEMPTS}]",
            "spark.app.name": "cubed",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            **(self.kwargs.get("spark_conf") or {}),
        }
        conf = pyspark.SparkConf().setAll([(k, str(v)) for k, v in options.items()])
        context = pyspark.SparkContext(conf=conf)
        if context.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
            context.pythonExec = sys.executable  # otherwise Spark would use the python3 on the path
        if context.master.startswith("local"):
            context.setLogLevel("FATAL")  # the driver of the run reports lost workers
        engine = SparkEngine(context, workers)
        engine.ends.callback(context.stop)
        return engine
