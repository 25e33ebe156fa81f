"""Apache Beam: pipelines on Dataflow, Flink, Spark and processes of this machine."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

from cubed.runtime.executors.base import EngineExecutor, needed
from cubed.runtime.executors.stages import StageEngine

#: What Dataflow does not begin without.
_DATAFLOW = ("project", "region", "temp_location")


class _Call:
    """Calls a function, and leaves what it returns in a file: pipelines have no results."""

    def __init__(self, function: Callable[[bytes], bytes], folder: str) -> None:
        self.function, self.folder = function, folder

    def __call__(self, item: tuple[int, bytes]) -> None:
        i, message = item
        reply = self.function(message)
        with _files().create(f"{self.folder}-{i}", "application/octet-stream") as out:
            out.write(reply)


def _files() -> Any:
    return needed("apache_beam.io.filesystems", "beam").FileSystems


class BeamEngine(StageEngine):
    """A list of ranges is a pipeline, whose start takes seconds to minutes: there is one at a time.
    Beam runs bundles of lost workers again."""

    at_a_time = 1
    in_flight = 6

    def __init__(self, options: Any, workers: int) -> None:
        super().__init__(workers)
        self._beam, self._options = needed("apache_beam", "beam"), options

    def run_stage(self, call: Callable[[bytes], bytes], messages: list[bytes]) -> list[bytes]:
        """Runs a pipeline; files of replies are removed with the run's folder."""
        beam, key = self._beam, f"{self.plan_key}-{uuid.uuid4().hex}"
        url = urlsplit(self._work_dir)
        work_dir = unquote(url.path) if url.scheme == "file" else self._work_dir
        folder = f"{work_dir.rstrip('/')}/{key}"
        # Elements of a bundle run one after another: each is to have its own.
        pipeline = beam.Pipeline(options=self._options)
        calls = pipeline | beam.Create(list(enumerate(messages))) | beam.Reshuffle()
        calls | beam.Map(_Call(call, folder))
        pipeline.run().wait_until_finish()
        replies = []
        for i in range(len(messages)):
            with _files().open(f"{folder}-{i}", "application/octet-stream") as reply:
                replies.append(reply.read())
        return replies


class BeamExecutor(EngineExecutor):
    """Runs tasks by pipelines of Apache Beam.

    Parameters
    ----------
    options
        Beam's ``PipelineOptions``, or a dict of them such as ``{"runner": "DataflowRunner", ...}``;
        default: `max_workers` processes of this machine.
    max_workers
        Tasks at a time that plans are made for; default: one per core of this machine, which is too
        few for a cloud.
    retries, **kwargs
        As for other executors.
    """

    name = "beam"
    engine: ClassVar[tuple[str, str]] = ("apache_beam", "beam")
    overhead: ClassVar[float] = 1.0
    _accepted = EngineExecutor._accepted | {"options"}

    def connect(self) -> BeamEngine:
        """Pipelines, for one run; ValueError if Dataflow lacks an option."""
        made = needed("apache_beam.options.pipeline_options", "beam").PipelineOptions
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
