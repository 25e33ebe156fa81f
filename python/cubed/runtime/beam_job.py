"""A run as one pipeline of Apache Beam, which runs without the driver: ``--engine beam`` of the
command.

The folder that ``cubed submit`` writes has the plan and the job arrays, whose array tasks differ
only in a number. Each array is a step of the pipeline, and waits for the arrays that it reads.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cubed.runtime.executors.base import needed

_DATAFLOW = "dataflow"
#: Message for runners that end with the submitting process.
_HERE = "lives in the process that submits, and ends with it"
#: Maximum characters of a failed array task's output in the error.
_TAIL = 2000
_OVER = frozenset(("DONE", "FAILED", "CANCELLED", "DRAINED", "UPDATED"))


class _Element:
    """Runs an array task with the command, on any machine; its pickle contains the plan."""

    def __init__(self, plan: bytes, arguments: Sequence[str]) -> None:
        self.plan, self.arguments = plan, arguments

    def __call__(self, index: int, before: Any = None) -> int:
        own = Path(__file__).resolve().parents[1] / "bin" / "cubed"
        command = str(own) if own.exists() else shutil.which("cubed")
        if command is None:
            raise FileNotFoundError("there is no command cubed on this worker's path")
        with tempfile.NamedTemporaryFile(suffix=".cubed") as plan:
            plan.write(self.plan)
            plan.flush()
            done = subprocess.run(
                [command, "worker", plan.name, *self.arguments],
                env={**os.environ, "CUBED_TASK_INDEX": str(index)},
                capture_output=True,
                text=True,
                check=False,
            )
        if done.returncode:
            said = done.stderr[-_TAIL:]
            raise RuntimeError(f"element {index} ended with {done.returncode}: {said}")
        return index


class Job:
    """The job of a run.

    Parameters
    ----------
    folder
        The folder that ``cubed submit`` wrote.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._about: Mapping[str, Any] = json.loads((self._folder / "pipeline.json").read_text())
        made = needed("apache_beam.options.pipeline_options", "beam")
        self._options = made.PipelineOptions(self._about["options"])
        self._cloud = self._options.view_as(made.GoogleCloudOptions)
        self._given: Mapping[str, Any] = self._options.get_all_options()
        self._runner = str(self._given.get("runner"))

    def check(self) -> None:
        """Raises ValueError with the reason if the runner needs this process to continue."""
        if self._is_dataflow:
            return
        endpoint, environment = (self._given.get(k) for k in ("job_endpoint", "environment_type"))
        expected = (
            "expected --engine-option runner=PortableRunner and job_endpoint=HOST:PORT, a job"
            " server of its own (Prism's, Flink's, Spark's), or runner=DataflowRunner"
        )
        if self._runner.rpartition(".")[2] != "PortableRunner":
            name = self._given.get("runner") or "Beam's default runner"
            raise ValueError(f"{name} {_HERE}: {expected}")
        if endpoint in (None, "embed"):
            raise ValueError(f"job_endpoint={endpoint} {_HERE}: {expected}")
        if str(environment).upper() == "LOOPBACK":
            raise ValueError(
                f"a worker of environment_type=LOOPBACK {_HERE}: expected DOCKER, PROCESS or"
                " EXTERNAL"
            )

    @property
    def _is_dataflow(self) -> bool:
        return _DATAFLOW in self._runner.lower()

    @property
    def place(self) -> str:
        """Address or name of the service that runs the job."""
        return "Dataflow" if self._is_dataflow else str(self._given["job_endpoint"])

    def start(self) -> str:
        """Submits the job without waiting; returns its id."""
        beam = needed("apache_beam", "beam")
        plan = (self._folder / "plan.cubed").read_bytes()
        mark = hashlib.sha256(str(self._folder).encode()).hexdigest()[:12]
        self._cloud.job_name = self._cloud.job_name or f"cubed-{mark}"
        pipeline = beam.Pipeline(options=self._options)
        ends: dict[str, Any] = {}
        for job in self._about["jobs"]:
            name, element = job["name"], _Element(plan, job["args"].split())
            apart = pipeline | f"{name} of" >> beam.Create(range(job["elements"]))
            spread = apart | f"{name} to" >> beam.Reshuffle()
            before = tuple(ends[x] for x in job["after"])
            if before:
                ended = before | f"{name} after" >> beam.Flatten()
                ends[name] = spread | name >> beam.Map(element, before=beam.pvalue.AsIter(ended))
            else:
                ends[name] = spread | name >> beam.Map(element)
        result = pipeline.run()
        return str(result.job_id() if self._is_dataflow else result._job_id)

    def state(self, job: str) -> str:
        """Returns the job's state, by the names of ``apache_beam.runners.runner.PipelineState``."""
        if self._is_dataflow:
            said = self._gcloud("describe", job, "--format=value(currentState)")
            return said.strip().removeprefix("JOB_STATE_")
        api = needed("apache_beam.portability.api", "beam").beam_job_api_pb2
        reply = self._service.GetState(api.GetJobStateRequest(job_id=job))
        return str(api.JobState.Enum.Name(reply.state))

    def cancel(self, job: str) -> None:
        """Cancels the job."""
        if self._is_dataflow:
            self._gcloud("cancel", job)
        else:
            api = needed("apache_beam.portability.api", "beam").beam_job_api_pb2
            self._service.Cancel(api.CancelJobRequest(job_id=job))

    @property
    def _service(self) -> Any:
        channel = needed("grpc", "beam").insecure_channel(self.place)
        calls = needed("apache_beam.portability.api", "beam").beam_job_api_pb2_grpc
        return calls.JobServiceStub(channel)

    def _gcloud(self, verb: str, job: str, *options: str) -> str:
        command = ["gcloud", "dataflow", "jobs", verb, job, f"--region={self._cloud.region}"]
        return subprocess.run(
            [*command, *options], check=True, stdout=subprocess.PIPE, text=True
        ).stdout


def main(arguments: list[str] | None = None) -> None:
    """The command line, called by the scripts of ``cubed submit``."""
    parser = argparse.ArgumentParser(prog="cubed --engine beam", description=__doc__)
    parser.add_argument("verb", choices=("check", "start", "status", "cancel"))
    parser.add_argument("folder", type=Path)
    given = parser.parse_args(arguments)
    ids = given.folder / "jobs"
    logging.getLogger().setLevel(logging.ERROR)  # hides Beam's warnings
    try:
        job = Job(given.folder)
        if given.verb == "check":
            job.check()
        elif given.verb == "start":
            name = job.start()
            ids.write_text(f"{name}\n")
            print(f"job {name} on {job.place}")
        else:
            for name in ids.read_text().split():
                state = job.state(name)
                if state in _OVER:
                    continue
                if given.verb == "cancel":
                    job.cancel(name)
                else:
                    print(name, state)
    except (ImportError, ValueError) as e:
        sys.exit(f"cubed --engine beam: {e}")


if __name__ == "__main__":
    # Workers import pickled objects by the module's name.
    from cubed.runtime import beam_job

    beam_job.main()
