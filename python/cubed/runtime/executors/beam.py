"""Apache Beam: pipelines on Dataflow, Flink, Spark and processes on this machine."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import wait
from copy import deepcopy
from typing import Any, ClassVar

from cubed.runtime import worker
from cubed.runtime.executors._processes import end_those_with
from cubed.runtime.executors._replies import Replies, leave
from cubed.runtime.executors.base import EngineExecutor, needed
from cubed.runtime.executors.stages import StageEngine

#: Options that Dataflow requires.
_DATAFLOW = ("project", "region", "temp_location")
_OPTIONS = "apache_beam.options.pipeline_options"


class BeamEngine(StageEngine):
    """Runs each list of ranges as a pipeline. Only one pipeline runs at a time, because starting
    one takes seconds to minutes. Beam runs bundles of lost workers again.
    """

    at_a_time = 1
    in_flight = 6

    def __init__(self, options: Any, workers: int) -> None:
        super().__init__(workers)
        self._beam, self._options = needed("apache_beam", "beam"), options

    def run_stage(
        self, call: Callable[[bytes], bytes], messages: list[bytes]
    ) -> list[bytes | BaseException]:
        """Runs a pipeline, which returns no results. Beam's local runner waits forever for a
        process that ended during a call; such a pipeline is abandoned.
        """
        beam, replies = self._beam, Replies(self._work_dir, self.plan_key, messages)
        options = deepcopy(self._options)
        cloud = options.view_as(needed(_OPTIONS, "beam").GoogleCloudOptions)
        cloud.job_name = f"{cloud.job_name or 'cubed'}-{replies.mark}"
        # Elements of a bundle run one after another, so each element gets its own bundle.
        pipeline = beam.Pipeline(options=options)
        calls = pipeline | beam.Create(replies.calls) | beam.Reshuffle()
        calls | beam.Map(leave, call)
        ended = worker.in_thread(lambda: pipeline.run().wait_until_finish())
        while not wait((ended,), 0.5).done:
            if replies.someone_died():
                end_those_with(cloud.job_name)
                return replies.read()
        ended.result()
        return replies.read()


class BeamExecutor(EngineExecutor):
    """Runs tasks by pipelines of Apache Beam.

    Parameters
    ----------
    options
        Beam's ``PipelineOptions``, or a dict of them such as ``{"runner": "DataflowRunner", ...}``;
        default: `max_workers` processes on this machine.
    max_workers
        Number of concurrent tasks that plans are made for; default: one per core of this machine,
        which is too few for a cloud.
    retries, **kwargs
        As for other executors.
    """

    name = "beam"
    keeps_messages: ClassVar[str] = "the pipeline of Beam"
    engine: ClassVar[tuple[str, str]] = ("apache_beam", "beam")
    overhead: ClassVar[float] = 1.0
    _accepted = EngineExecutor._accepted | {"options"}

    def connect(self) -> BeamEngine:
        """Returns an engine for one run; ValueError if Dataflow lacks an option."""
        made = needed(_OPTIONS, "beam").PipelineOptions
        workers = self.num_workers()
        options = self.kwargs.get("options") or {
            "runner": "FnApiRunner",
            "direct_running_mode": "multi_processing",
            "direct_num_workers": workers,
        }
        if not isinstance(options, made):
            options = made.from_dictionary(dict(options))
        given = options.get_all_options()
        lacks = [o for o in _DATAFLOW if not given.get(o)]
        if "dataflow" in str(given.get("runner")).lower() and lacks:
            raise ValueError(f"options of Dataflow lack {', '.join(lacks)}")
        return BeamEngine(options, workers)
