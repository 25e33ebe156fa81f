"""Apache Beam: pipelines on Dataflow, Flink, Spark and processes of this machine."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, wait
from copy import deepcopy
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

from cubed.runtime.executors._processes import end_those_with, name_of, someone_died
from cubed.runtime.executors.base import EngineExecutor, needed
from cubed.runtime.executors.stages import StageEngine

#: What Dataflow does not begin without.
_DATAFLOW = ("project", "region", "temp_location")


_OPTIONS = "apache_beam.options.pipeline_options"


class _Call:
    """Calls a function, and leaves what it returns in a file: pipelines have no results. Another
    file says who is at it."""

    def __init__(self, function: Callable[[bytes], bytes], folder: str) -> None:
        self.function, self.folder = function, folder

    def __call__(self, item: tuple[int, bytes]) -> None:
        i, message = item
        _write(f"{self.folder}-{i}-by", name_of(os.getpid()))
        _write(f"{self.folder}-{i}", self.function(message))


def _files() -> Any:
    return needed("apache_beam.io.filesystems", "beam").FileSystems


def _write(path: str, data: bytes) -> None:
    with _files().create(path, "application/octet-stream") as out:
        out.write(data)


def _read(path: str) -> bytes:
    with _files().open(path, "application/octet-stream") as reply:
        data: bytes = reply.read()
        return data


def _run(pipeline: Any, ended: Future[None]) -> None:
    try:
        pipeline.run().wait_until_finish()
        ended.set_result(None)
    except BaseException as e:
        ended.set_exception(e)


class BeamEngine(StageEngine):
    """A list of ranges is a pipeline, whose start takes seconds to minutes: there is one at a time.
    Beam runs bundles of lost workers again."""

    at_a_time = 1
    in_flight = 6
    may_pass: tuple[type[BaseException], ...] = (BrokenExecutor,)

    def __init__(self, options: Any, workers: int) -> None:
        super().__init__(workers)
        self._beam, self._options = needed("apache_beam", "beam"), options

    def run_stage(
        self, call: Callable[[bytes], bytes], messages: list[bytes]
    ) -> list[bytes | BaseException]:
        """Runs a pipeline; files of replies are removed with the run's folder. Beam's runner of
        this machine waits without end for a process that has ended in a call: it is left alone."""
        beam, mark = self._beam, uuid.uuid4().hex
        url = urlsplit(self._work_dir)
        work_dir = unquote(url.path) if url.scheme == "file" else self._work_dir
        folder = f"{work_dir.rstrip('/')}/{self.plan_key}-{mark}"
        options = deepcopy(self._options)
        cloud = options.view_as(needed(_OPTIONS, "beam").GoogleCloudOptions)
        cloud.job_name = f"{cloud.job_name or 'cubed'}-{mark}"
        # Elements of a bundle run one after another: each is to have its own.
        pipeline = beam.Pipeline(options=options)
        calls = pipeline | beam.Create(list(enumerate(messages))) | beam.Reshuffle()
        calls | beam.Map(_Call(call, folder))
        ended: Future[None] = Future()
        Thread(target=_run, args=(pipeline, ended), daemon=True).start()
        paths = [f"{folder}-{i}" for i in range(len(messages))]
        while not wait((ended,), 0.5).done:
            if "://" not in folder and someone_died(Path(folder)):
                end_those_with(cloud.job_name)
                lost = BrokenExecutor("a process of Beam's ended without a word")
                return [_read(p) if _files().exists(p) else lost for p in paths]
        ended.result()
        return [_read(p) for p in paths]


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
