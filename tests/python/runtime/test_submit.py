"""Runs as job arrays of batch systems: the submitted options, the work of an element, and Slurm."""

import contextlib
import getpass
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import cubed
import numpy as np
import pytest
from conftest import BIN, NIGHTLY, ROOT, check, run
from cubed.spec import EXECUTORS
from real_servers import JOB_SERVERS, free_port, job_server, wait_for
from test_mpi import SETTINGS, mpi  # noqa: F401, a fixture

import zarr

TEXT = "y = var(random((4000, 100), seed=1, chunks=(2, 100)), axis=0)"
VARIABLES = [
    "CUBED_TASK_INDEX",
    "SLURM_ARRAY_TASK_ID",
    "PBS_ARRAY_INDEX",
    "AWS_BATCH_JOB_ARRAY_INDEX",
    "CLOUD_RUN_TASK_INDEX",
    "JOB_COMPLETION_INDEX",
    "COILED_BATCH_TASK_ID",
]
ENGINES = {
    "slurm": ("partition=long",),
    "pbs": ("q=long",),
    "htcondor": ("accounting_group=me",),
    "flux": ("queue=long",),
    "kubernetes": ("image=me/cubed:1", "claim=shared", "namespace=jobs"),
    "aws-batch": ("queue=q", "definition=d:1"),
    "cloud-run": ("image=me/cubed:1", "region=europe-west1"),
    "coiled-batch": ("container=me/cubed:1", "workspace=me", "forward-aws-credentials=yes"),
    "beam": ("runner=PortableRunner", "job_endpoint=127.0.0.1:8073"),
}


#: What elements are told, so that others do nothing.
SAME = f"--driver-version {cubed.__version__}"


@pytest.fixture(autouse=True)
def _no_batch_system(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def plan(tmp_path):
    """Three stages: of 125 tasks, of 8, and of one."""
    saved = tmp_path / "p.cubed"
    options = ("--max-workers", 4, "--other-machines", "--work-dir", tmp_path / "work")
    check(run("eval", TEXT, "--out", tmp_path / "y.zarr", *options, "--save-plan", saved))
    return saved


def submit(plan, engine, *options, code=0):
    given = [x for o in ENGINES[engine] for x in ("--engine-option", o)]
    folder = plan.parent / "run-1"
    done = run("submit", plan, folder, "--engine", engine, *given, *options)
    assert done.code == code, done.err
    return folder, done


def is_whole(tmp_path, text=TEXT):
    expected = check(run("eval", text, "--json", "--progress", "none")).arrays()["y"]
    got = zarr.open_group(tmp_path / "y.zarr", mode="r")["y"][...]
    assert got.tobytes() == expected.tobytes()
    left = list((tmp_path / "work").iterdir()) if (tmp_path / "work").exists() else []
    assert not left


def worker(plan, *args, cwd="/", **variables):
    return subprocess.run(
        [BIN, "worker", str(plan), *map(str, args)],
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_elements_find_their_number(tmp_path, plan):
    """In each system's variable, from any directory; repeated they do what is missing."""
    check(run("worker", plan, "--begin", "--run", "r"))
    tasks = []
    for i, name in enumerate(VARIABLES):
        done = worker(plan, 0, "--of", 8, "--run", "r", **{name: str(i)})
        assert done.returncode == 0, done.stderr
        tasks.append(int(done.stdout.split()[0]))
    assert tasks == [16] * 5 + [15] * 2
    again = worker(plan, 0, "--of", 8, "--run", "r", CUBED_TASK_INDEX="2")
    assert again.stdout.startswith("0 tasks")
    # Parts of others: of this one the last 15 are missing.
    part = worker(plan, 0, "--of", 2, "--run", "r", CUBED_TASK_INDEX="1", SLURM_ARRAY_TASK_ID="9")
    assert part.stdout.startswith("15 tasks")
    for stage in (1, 2):
        for i in range(3):
            done = worker(plan, stage, "--of", 3, "--run", "r", JOB_COMPLETION_INDEX=str(i))
            assert done.returncode == 0, done.stderr
    check(run("worker", plan, "--finish", "--run", "r"))
    is_whole(tmp_path)


def test_a_part_between_others_is_noted(tmp_path, plan):
    """What is done before and behind it does not hide it."""
    check(run("worker", plan, "--begin", "--run", "r"))
    check(run("worker", plan, 0, "50:125", "--run", "r"))
    check(run("worker", plan, 0, "0:20", "--run", "r"))
    done = worker(plan, 0, "--of", 1, "--run", "r", CUBED_TASK_INDEX="0")
    assert done.stdout.startswith("30 tasks")
    again = worker(plan, 0, "--of", 1, "--run", "r", CUBED_TASK_INDEX="0")
    assert again.stdout.startswith("0 tasks")


@pytest.mark.parametrize("index", ["7", "-1", "x", "1x", ""])
def test_numbers_that_are_none(plan, index):
    done = worker(plan, 0, "--of", 7, "--run", "r", SLURM_ARRAY_TASK_ID=index)
    assert done.returncode != 0
    assert f'SLURM_ARRAY_TASK_ID is "{index}", expected a number from 0 to 6' in done.stderr


def test_wrong_usage(tmp_path, plan):
    assert "no environment variable" in worker(plan, 0, "--of", 7, "--run", "r").stderr
    for wrong, says in (
        (("worker", plan, 0, "1:2", "--of", 7, "--run", "r"), "expected PLAN STAGE, got 3"),
        (("worker", plan, "--finish", "--of", 7, "--run", "r"), "--of is for tasks of a stage"),
        (("worker", plan, 0, "--of", 0, "--run", "r"), '--of "0": expected a number of at least 1'),
        (("submit", plan, tmp_path / "d"), "expected --engine NAME"),
        (("submit", plan, tmp_path / "d", "--engine", "lsf"), '--engine "lsf"'),
        (("submit", plan, tmp_path / "d", "--engine", "kubernetes"), "needs --engine-option image"),
        (
            ("submit", plan, tmp_path / "d", "--engine", "aws-batch", "--engine-option", "x=y"),
            "needs --engine-option queue",
        ),
        (
            ("submit", plan, tmp_path / "d", "--engine", "slurm", "--engine-option", "a=$(rm)"),
            "expected NAME=VALUE of letters",
        ),
        (("submit", plan, tmp_path / "a b", "--engine", "slurm"), "in the path of a directory"),
        (("submit", plan, tmp_path / "r=1", "--engine", "slurm"), "the run's name is"),
        (("status", tmp_path), "is no directory that cubed submit wrote"),
        (("attach", tmp_path, "--every", "0"), "expected 1 to 3600 seconds"),
    ):
        done = run(*wrong)
        assert done.code != 0
        assert says in done.err
    without = tmp_path / "q.cubed"
    check(run("eval", "ones(3)", "--out", tmp_path / "z.zarr", "--save-plan", without))
    done = run("submit", without, tmp_path / "d", "--engine", "slurm")
    assert done.code != 0
    assert "no work directory" in done.err


def test_elements_of_another_version_do_nothing(tmp_path, plan):
    """Of the library, or of the plan's bytes: they say which there are, and nothing is written."""
    check(run("worker", plan, "--begin", "--run", "r"))
    there = sorted(tmp_path.rglob("*"))
    for args in ((0, "--of", 1), ("--finish",)):
        done = worker(plan, *args, "--run", "r", "--driver-version", "0.9", CUBED_TASK_INDEX="0")
        assert done.returncode == 1
        assert f"version 0.9 of cubed, this worker has {cubed.__version__}: install" in done.stderr
    data = bytearray(plan.read_bytes())
    data[8] += 1
    other = tmp_path / "other.cubed"
    other.write_bytes(data)
    says = (
        f"the plan was saved by another version of cubed (its format has version {data[8]}, "
        f"cubed {cubed.__version__} reads version {data[8] - 1}): save it again"
    )
    for args in ((0, "--of", 1, "--run", "r"), ("--begin",), ("--finish", "--run", "r")):
        done = worker(other, *args, CUBED_TASK_INDEX="0")
        assert done.returncode == 1
        assert says in done.stderr
    other.unlink()
    assert sorted(tmp_path.rglob("*")) == there
    done = worker(plan, 0, "--of", 1, "--run", "r", *SAME.split(), CUBED_TASK_INDEX="0")
    assert done.stdout.startswith("125 tasks")


def test_what_slurm_is_told(plan):
    folder, _ = submit(plan, "slurm", "--elements", 30, "--max-workers", 5)
    lines = (folder / "stage-0.sbatch").read_text().splitlines()
    assert lines[0] == "#!/bin/bash"
    for line in ("array=0-29%5", "cpus-per-task=1", "mem=1908M", "partition=long"):
        assert f"#SBATCH --{line}" in lines
    assert lines[-1] == f"exec {folder}/part stage-0 0 --of 30 --run run-1 {SAME}"
    assert f"{BIN} worker {folder}/plan.cubed" in (folder / "part").read_text()
    assert "--array=0-7%5" in (folder / "stage-1.sbatch").read_text()  # it has eight tasks
    start = (folder / "start").read_text()
    assert "--dependency=afterok:$job0 stage-1.sbatch" in start
    assert "--dependency=afterok:$job0:$job1:$job2 finish.sbatch" in start


def test_what_kubernetes_is_told(plan):
    folder, _ = submit(plan, "kubernetes", "--elements", 30, "--max-workers", 5)
    job = json.loads((folder / "stage-0.json").read_text())
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
    assert job["metadata"]["namespace"] == "jobs"
    spec = job["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 30, 5)
    assert spec["backoffLimitPerIndex"] == 2
    pod = spec["template"]["spec"]
    assert pod["restartPolicy"] == "Never"  # as limits for each index ask for
    (container,) = pod["containers"]
    assert container["command"][:2] == ["cubed", "worker"]
    assert container["command"][3:] == ["0", "--of", "30", "--run", "run-1", *SAME.split()]
    assert container["resources"]["limits"] == {"memory": "1908Mi"}
    assert pod["volumes"][0]["persistentVolumeClaim"] == {"claimName": "shared"}
    assert container["volumeMounts"][0]["mountPath"] == str(folder)


def test_what_aws_batch_is_told(plan):
    folder, _ = submit(plan, "aws-batch", "--elements", 30)
    job = json.loads((folder / "stage-0.json").read_text())
    assert job["arrayProperties"] == {"size": 30}
    assert job["retryStrategy"] == {"attempts": 3}
    assert {"type": "MEMORY", "value": "1908"} in job["containerOverrides"]["resourceRequirements"]
    # An array of one is refused there.
    one = json.loads((folder / "stage-2.json").read_text())
    assert "arrayProperties" not in one
    assert one["containerOverrides"]["environment"] == [{"name": "CUBED_TASK_INDEX", "value": "0"}]
    assert "--depends-on jobId=$job0 jobId=$job1 jobId=$job2" in (folder / "start").read_text()


def test_what_others_are_told(plan):
    folder, _ = submit(plan, "cloud-run", "--elements", 30, "--max-workers", 5)
    spec = json.loads((folder / "stage-0.json").read_text())["spec"]["template"]["spec"]
    assert (spec["taskCount"], spec["parallelism"]) == (30, 5)
    assert spec["template"]["spec"]["maxRetries"] == 2
    shutil.rmtree(folder)
    folder, _ = submit(plan, "htcondor", "--elements", 30)
    lines = (folder / "stage-0.sub").read_text().splitlines()
    assert lines[-1] == "queue 30"
    for line in ("request_memory = 1908", "max_retries = 2", "accounting_group = me"):
        assert line in lines
    assert "PARENT stage-0 CHILD stage-1" in (folder / "run.dag").read_text()
    shutil.rmtree(folder)
    folder, _ = submit(plan, "pbs", "--elements", 30)
    assert "#PBS -J 0-29" in (folder / "stage-0.pbs").read_text()
    assert "#PBS -q long" in (folder / "stage-0.pbs").read_text()
    assert "-J" not in (folder / "stage-2.pbs").read_text()
    assert "-W depend=afterok:$job0 stage-1.pbs" in (folder / "start").read_text()
    shutil.rmtree(folder)
    folder, _ = submit(plan, "flux", "--elements", 30, "--max-workers", 5)
    assert "--cc=0-29" in (folder / "stages.sh").read_text()
    assert "--env=CUBED_TASK_INDEX={cc}" in (folder / "stages.sh").read_text()
    assert "--nslots=5" in (folder / "start").read_text()


@pytest.mark.parametrize("engine", ENGINES)
def test_scripts_are_scripts(plan, engine):
    folder, _ = submit(plan, engine)
    more = ("part", "failures") if engine in ("slurm", "pbs", "htcondor", "flux") else ()
    for script in ("start", "status", "cancel", *more):
        subprocess.run(["sh", "-n", folder / script], check=True)
        assert os.access(folder / script, os.X_OK)


#: A command whose worker ends with the statuses in a file, one after another, and says so.
COMMAND = """#!/bin/sh
set -e
cd {folder}
echo "$@" >>calls
read -r code <codes || code=0
sed -i 1d codes
echo "line of attempt $(wc -l <calls)" >&2
[ "$code" != wait ] || {{ trap 'exit 130' TERM; touch waits; sleep 20 & wait; }}
exit "$code"
"""


def part(plan, codes, programs, retries=2, engine="slurm", **variables):
    """What a part does whose command ends with these statuses: its status, what it says, and how
    often the command was called."""
    folder, _ = submit(plan, engine, "--retries", retries)
    (folder / "codes").write_text("".join(f"{code}\n" for code in codes))
    script = (folder / "part").read_text()
    program = folder / "command"
    program.write_text(COMMAND.format(folder=folder))
    program.chmod(0o755)
    (folder / "part").write_text(script.replace(BIN, str(program)).replace("sleep 1\n", "true\n"))
    (folder / "failed").mkdir()
    args = ["sh", folder / "part", "stage-0", "0", "--of", "4"]
    done = subprocess.Popen(
        args, env={**os.environ, "CUBED_TASK_INDEX": "3", **variables}, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    return folder, done


def calls(folder):
    return len((folder / "calls").read_text().splitlines())


@pytest.mark.parametrize(
    ("codes", "code", "n"),
    [
        ([0], 0, 1),
        ([75, 75, 0], 0, 3),
        ([124, 143, 139], 139, 3),
        ([75, 1], 1, 2),
        ([12], 12, 1),
        ([137], 137, 1),
        ([127], 127, 1),
    ],
)
def test_parts_are_repeated_if_that_may_help(plan, programs, codes, code, n):
    folder, done = part(plan, codes, programs)
    _, said = done.communicate(timeout=60)
    assert done.returncode == code
    assert calls(folder) == n
    assert (folder / "calls").read_text().splitlines()[0].endswith("0 --of 4")
    failed = folder / "failed/stage-0.3"
    assert failed.exists() == (code != 0)
    if code:
        assert failed.read_text() == f"{code}\n"
    if n == 3:
        assert "stage-0.3 ended with status" in said
        assert "retry 2 of 2" in said


def test_parts_are_repeated_as_often_as_is_said(plan, programs):
    folder, done = part(plan, [75] * 9, programs, retries=0)
    assert done.wait(60) == 75
    assert calls(folder) == 1
    assert run("submit", plan, folder, "--engine", "slurm", "--retries", 256).code != 0
    assert run("submit", plan, folder, "--engine", "slurm", "--retries", "x").code != 0
    shutil.rmtree(folder)
    folder, done = part(plan, [75] * 9, programs, engine="htcondor", CUBED_PART_RETRIES="0")
    assert done.wait(60) == 75
    assert calls(folder) == 1  # HTCondor repeats it
    assert "max_retries = 2" in (folder / "stage-0.sub").read_text()


def test_parts_are_told_before_their_job_ends(plan, programs):
    """Slurm's SIGTERM gets to the worker, and the part runs again, but not after a cancellation."""
    folder, done = part(plan, ["wait", "0"], programs)
    deadline = time.monotonic() + 60
    while not (folder / "waits").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    done.terminate()
    assert done.wait(60) == 0
    assert calls(folder) == 2
    shutil.rmtree(folder)
    folder, done = part(plan, ["wait", "0"], programs)
    while not (folder / "waits").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    (folder / "cancelled").touch()
    done.terminate()
    assert done.wait(60) == 130
    assert calls(folder) == 1


def test_slurm_gets_parts_back(plan, programs, tmp_path):
    programs(scontrol=f'#!/bin/sh\necho "$@" >>{tmp_path}/requeued\n', sleep="#!/bin/sh\n")
    folder, done = part(plan, [75], programs, SLURM_JOB_ID="17")
    assert done.wait(60) == 75
    assert (tmp_path / "requeued").read_text() == "requeue 17\n"
    shutil.rmtree(folder)
    folder, done = part(plan, [75], programs, SLURM_JOB_ID="17", SLURM_RESTART_COUNT="2")
    assert done.wait(60) == 75
    assert (tmp_path / "requeued").read_text() == "requeue 17\n"
    shutil.rmtree(folder)
    programs(scontrol="#!/bin/sh\nexit 1\n")  # a cluster that forbids it
    folder, done = part(plan, [75, 75, 0], programs, SLURM_JOB_ID="17")
    assert done.wait(60) == 0
    assert calls(folder) == 3


SACCT = """#!/bin/sh
cat <<'END'
123_2|cubed-run-1-stage-0|TIMEOUT
123_3|cubed-run-1-stage-0|OUT_OF_MEMORY
123_4|cubed-run-1-stage-0|COMPLETED
124|cubed-run-1-stage-1|PENDING
999_1|another-job|FAILED
END
"""


def test_status_and_attach_say_what_failed(plan, programs):
    programs(squeue="#!/bin/sh\n", sacct=SACCT)
    folder, done = part(plan, [12], programs)
    assert done.wait(60) == 12
    (folder / "jobs").write_text("123\n124\n")
    for i in (2, 3):
        log = "".join(f"line {k} of {i}\n" for k in range(20))
        (folder / f"stage-0.{i}.log").write_text(log)
    check(run("worker", folder / "plan.cubed", "--begin", "--run", "run-1"))
    status = check(run("status", folder)).out
    attached = run("attach", folder, "--every", 1)
    assert attached.code == 1
    for said in (status, attached.err):
        assert "stage-0.2 failed: TIMEOUT\n" in said
        failed = "stage-0.3 failed with exit status 12 (out of memory), OUT_OF_MEMORY\n"
        assert failed in said
        assert "stage-0.3.log ends with:\n    line 15 of 3\n" in said
        assert "    line 19 of 2\n" in said
        assert "line 14" not in said
        assert "stage-0.4" not in said
        assert "another" not in said
    for i in range(10, 20):
        (folder / f"failed/stage-1.{i}").write_text("1\n")
    assert "and 7 more\n" in check(run("status", folder)).out


#: Runs elements one after another, where Slurm starts them when it likes.
SBATCH = """#!/bin/sh
set -e
for last in "$@"; do :; done
echo "$@" >>calls
array=$(sed -n 's/.*--array=0-\\([0-9]*\\)%.*/\\1/p' "$last")
for i in $(seq 0 "$array"); do
    SLURM_ARRAY_TASK_ID=$i bash "$last" >>log 2>&1 || exit 1
done
echo "$$;cluster"
"""


def test_from_submit_to_results(tmp_path, plan, programs):
    cancel = '#!/bin/sh\necho "$@" >cancelled\n'
    programs(sbatch=SBATCH, squeue="#!/bin/sh\n", scancel=cancel)
    folder, _ = submit(plan, "slurm", "--elements", 6)
    before = check(run("worker", folder / "plan.cubed", "--begin", "--run", "run-1"))
    assert before.out == "run-1\n"
    assert "0 of 134 tasks done" in check(run("status", folder)).out
    lost = run("attach", folder, "--every", 1)
    assert lost.code == 1
    assert f"to continue: sh {folder}/start" in lost.err
    check(run("worker", plan, 0, "20:60", "--run", "run-1"))
    status = check(run("status", folder)).out
    assert "stage 0: 40 of 125 tasks done" in status
    assert "run run-1 on slurm: 40 of 134 tasks done" in status
    cancelled = run("cancel", folder)
    assert cancelled.code != 0  # there are no jobs
    _, started = submit(plan, "slurm", "--elements", 6, "--start")
    assert f"cubed attach {folder}" in started.out
    assert "134 of 134 tasks done" in check(run("attach", folder)).err
    assert "the results are complete" in check(run("status", folder)).out
    is_whole(tmp_path)
    done = [int(x.split()[0]) for x in (folder / "log").read_text().splitlines()]
    assert sum(done) == 134 - 40
    assert len((folder / "jobs").read_text().split()) == 4
    assert f"sh {folder}/start" in check(run("cancel", folder)).out
    assert len((folder / "cancelled").read_text().split()) == 4


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Writes programs of batch systems: a name and a script each."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def write(**scripts):
        for name, script in scripts.items():
            (folder / name).write_text(script)
            (folder / name).chmod(0o755)

    return write


def detached(done):
    """The directory of a run, from the lines that say how to follow it."""
    lines = check(done).out.splitlines()[-4:]
    assert [x.split(": ")[1].split()[:2] for x in lines[1:]] == [
        ["cubed", verb] for verb in ("status", "attach", "cancel")
    ]
    (folder,) = {x.split()[-1] for x in lines[1:]}
    return Path(folder)


def test_a_run_that_is_left(tmp_path, plan, programs):
    """Jobs are submitted with what they wait for, before the command ends."""
    programs(sbatch="#!/bin/sh\necho $*>>calls\nwc -l <calls\n", squeue="#!/bin/sh\n")
    folder = detached(run("run", plan, "--engine", "slurm", "--detach", "--max-workers", 3))
    assert folder.parent == tmp_path / "work"
    calls = (folder / "calls").read_text().splitlines()
    assert "--dependency=afterok:1 stage-1.sbatch" in calls[1]
    assert "--dependency=afterok:1:2:3 finish.sbatch" in calls[3]
    assert "%3\n" in (folder / "stage-0.sbatch").read_text()
    assert "0 of 134 tasks done" in check(run("status", folder)).out
    # Its jobs are done, but for the last one: whoever comes back makes the results whole.
    for stage in range(3):
        done = worker(plan, stage, "--of", 1, "--run", folder.name, CUBED_TASK_INDEX="0")
        assert done.returncode == 0, done.stderr
    assert not (tmp_path / "y.zarr/y/zarr.json").exists()
    check(run("attach", folder))
    assert "the results are complete" in check(run("status", folder)).out
    shutil.rmtree(folder)
    is_whole(tmp_path)


def test_a_run_that_is_waited_for(tmp_path, plan, programs):
    programs(sbatch=SBATCH, squeue="#!/bin/sh\n")
    done = check(run("run", plan, "--engine", "slurm", "--engine-option", "partition=long"))
    assert "134 of 134 tasks done" in done.err
    (folder,) = (tmp_path / "work").iterdir()
    assert "#SBATCH --partition=long" in (folder / "stage-0.sbatch").read_text()
    shutil.rmtree(folder)
    is_whole(tmp_path)


def test_limits_of_a_run_are_its_jobs(tmp_path, plan, programs):
    programs(sbatch="#!/bin/sh\necho 1\n")
    options = ("--allowed-mem", "500MiB", "--max-workers", 50)
    folder = detached(run("run", plan, "--engine", "slurm", "--detach", *options))
    assert "#SBATCH --mem=500M\n" in (folder / "stage-0.sbatch").read_text()
    says = check(run("run", f"{folder}/plan.cubed", "--plan", "--other-machines", "--json")).out
    assert json.loads(says)["allowed_mem"] == 500 << 20


#: Runs a job's elements when it is applied, as if in its image.
KUBECTL = """#!/usr/bin/env python3
import json, os, subprocess, sys
args = sys.argv[1:]
print(*args, file=open("{at}/calls", "a"))
if args[0] == "apply":
    job = json.load(open(args[args.index("-f") + 1]))
    spec = job["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    for i in range(spec.get("completions", 1)):
        env = {{**os.environ, "JOB_COMPLETION_INDEX": str(i)}}
        command = ["{bin}" if c == "cubed" else c for c in container["command"]]
        subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
elif args[0] == "wait":
    sys.exit("condition=complete" not in str(args))
"""


def test_a_driver_in_kubernetes(tmp_path, plan, programs):
    """Jobs there wait for none, so one of them starts the others."""
    programs(kubectl=KUBECTL.format(at=tmp_path, bin=BIN))
    options = [o for x in ENGINES["kubernetes"] for o in ("--engine-option", x)]
    options += ["--engine-option", f"mount={tmp_path}", "--engine-option", "service-account=me"]
    folder = detached(run("run", plan, "--engine", "kubernetes", *options, "--detach"))
    driver = json.loads((folder / "driver.json").read_text())
    pod = driver["spec"]["template"]["spec"]
    assert pod["serviceAccountName"] == "me"
    assert pod["containers"][0]["command"] == ["sh", f"{folder}/stages"]
    assert pod["containers"][0]["volumeMounts"][0]["mountPath"] == str(tmp_path)
    started = (folder / "start").read_text()
    assert "driver.json" in started
    assert "stage-0.json" not in started  # that is the driver's
    assert "the results are complete" in check(run("status", folder)).out
    shutil.rmtree(folder)
    is_whole(tmp_path)


#: Runs a script's tasks elsewhere, as if on machines that see nothing of this one but its stores.
COILED = """#!/usr/bin/env python3
import os, pathlib, re, shutil, subprocess, sys, tempfile
args = sys.argv[1:]
print(*args, file=open("{at}/calls", "a"))
state = pathlib.Path("{at}/state")
if args[:2] == ["batch", "run"]:
    text = open(args[-1]).read()
    told = dict(re.findall(r"^# COILED (\\S+) (.+)$", text, re.M))
    with tempfile.TemporaryDirectory() as scratch:
        pathlib.Path(scratch, "script").write_text(text)
        for i in range(int(told["ntasks"])):
            env = {{**os.environ, "COILED_BATCH_TASK_ID": str(i)}}
            if "{fails}" == args[-1] and i == 1 and not state.exists():
                state.write_text("once")
                continue
            subprocess.run(["bash", "script"], cwd=scratch, env=env, check=True)
elif args[:2] == ["batch", "status"]:
    print("| 0 | 10.0.0.1 | done |")
"""


@pytest.mark.parametrize("fails", ["", "stage-0-plan.sh"])
def test_coiled_batch(tmp_path, plan, programs, fails):
    """Its machines have the plan from the script; what failed there is seen before others begin."""
    programs(coiled=COILED.format(at=tmp_path, fails=fails))
    (tmp_path / "bin/cubed").symlink_to(BIN)
    folder, _ = submit(plan, "coiled-batch", "--elements", 30, "--max-workers", 5)
    lines = (folder / "stage-0.sh").read_text().splitlines()
    for line in ("ntasks 30", "max-workers 5", "max-retries 2", "container me/cubed:1"):
        assert f"# COILED {line}" in lines
    assert "# COILED memory 3298MiB-29576MiB" in lines  # for 1908 MiB and the system
    assert f'work() {{ cubed worker "$plan" 0 --of 30 --run run-1 {SAME}; }}' in lines
    started = run("submit", plan, folder, "--engine", "coiled-batch", "--elements", 30, "--start")
    if fails:
        assert started.code != 0
        assert "stage-0 is not done, see: coiled batch logs cubed-run-1-stage-0-" in started.err
        assert "stage-1" not in (tmp_path / "calls").read_text()
        assert "stage 0: 120 of 125 tasks done" in check(run("status", folder)).out
        subprocess.run([folder / "start"], check=True)
    else:
        check(started)
    assert "the results are complete" in check(run("status", folder)).out
    calls = (tmp_path / "calls").read_text().splitlines()
    runs = [c.split() for c in calls if c.startswith("batch run")]
    assert [c[-1] for c in runs[-3:]] == [f"stage-{i}-plan.sh" for i in range(3)]
    assert all(c[2:4] == ["--wait", "--name"] for c in runs)
    check(run("cancel", folder))
    is_whole(tmp_path)


def test_what_beam_is_told(plan):
    """One pipeline, whose steps are what others have as arrays of jobs."""
    folder, _ = submit(plan, "beam", "--elements", 30)
    told = json.loads((folder / "pipeline.json").read_text())
    assert told["options"] == ["--runner=PortableRunner", "--job_endpoint=127.0.0.1:8073"]
    after = {job["name"]: job["after"] for job in told["jobs"]}
    stages = ["stage-0", "stage-1", "stage-2"]
    assert after == {
        "stage-0": [],
        "stage-1": ["stage-0"],
        "stage-2": ["stage-1"],
        "finish": stages,
    }
    assert [job["elements"] for job in told["jobs"]] == [30, 8, 1, 1]
    assert told["jobs"][0]["args"] == f"0 --of 30 --run run-1 {SAME}"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "Beam's default runner lives in the process that submits, and ends with it"),
        (("runner=DirectRunner",), "DirectRunner lives in the process that submits"),
        (("runner=FlinkRunner",), "FlinkRunner lives in the process that submits"),
        (("runner=PortableRunner", "job_endpoint=embed"), "job_endpoint=embed lives in"),
        (
            ("runner=PortableRunner", "job_endpoint=h:1", "environment_type=LOOPBACK"),
            "environment_type=LOOPBACK lives in the process that submits, .* expected DOCKER",
        ),
    ],
)
def test_runners_of_beam_that_do_not_go_on(tmp_path, plan, monkeypatch, options, says):
    pytest.importorskip("apache_beam")
    monkeypatch.setenv("CUBED_PYTHON", sys.executable)
    given = [x for o in options for x in ("--engine-option", o)]
    done = run("run", plan, "--engine", "beam", *given, "--detach")
    assert done.code == 1
    assert re.search(says, done.err), done.err
    assert "started" not in done.out
    assert len(list((tmp_path / "work").iterdir())) == 1  # the run's directory, and no run


@pytest.fixture(params=list(JOB_SERVERS))
def beam_server(request, tmp_path, monkeypatch):
    """Options of a job server in a process of its own, and a pool of workers beside it."""
    if not NIGHTLY:
        pytest.skip("starting servers takes some seconds: --nightly")
    pytest.importorskip("apache_beam")
    pool = free_port()
    monkeypatch.setenv("CUBED_PYTHON", sys.executable)
    # A worker is begun as "python".
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    main = "apache_beam.runners.worker.worker_pool_main"
    command = [sys.executable, "-m", main, f"--service_port={pool}"]
    with job_server(request.param, tmp_path) as endpoint, (tmp_path / "log").open("w") as log:
        workers = subprocess.Popen(command, env=env, stdout=log, stderr=log)
        try:
            wait_for(pool, workers)
            options = (
                "runner=PortableRunner",
                f"job_endpoint={endpoint}",
                "environment_type=EXTERNAL",
                f"environment_config=127.0.0.1:{pool}",
            )
            yield [x for option in options for x in ("--engine-option", option)]
        finally:
            workers.terminate()
            workers.wait()


def test_beam_goes_on_alone(tmp_path, plan, beam_server):
    """All stages are one pipeline, and nobody stays who submitted it."""
    started = run("run", plan, "--engine", "beam", *beam_server, "--detach")
    folder = detached(started)
    assert re.match(r"job \S+ on 127.0.0.1:\d+\n", started.out)
    check(run("attach", folder, "--every", 1, timeout=300))
    assert "RUNNING" not in check(run("status", folder)).out
    shutil.rmtree(folder)
    is_whole(tmp_path)


def test_a_job_of_beam_is_cancelled(tmp_path, beam_server):
    """Elements that run end by themselves, and no others begin."""
    text = LONG.replace("240000", "4800000")
    plan, folder = tmp_path / "p.cubed", tmp_path / "run-1"
    options = ("--max-workers", 4, "--other-machines", "--work-dir", tmp_path / "work")
    check(run("eval", text, "--out", tmp_path / "y.zarr", *options, "--save-plan", plan))
    given = ("--engine", "beam", *beam_server, "--elements", 200)
    check(run("submit", plan, folder, *given, "--start"))
    job = (folder / "jobs").read_text().strip()
    assert f"{job} " in check(run("status", folder)).out
    assert "to continue the run: sh" in check(run("cancel", folder)).out
    until(lambda: f"{job} " not in check(run("status", folder)).out, 600)
    lost = run("attach", folder, "--every", 1)
    assert lost.code == 1
    assert "tasks are missing" in lost.err


def test_what_detaching_takes(tmp_path, plan):
    regions = ("--engine-option", "image=i", "--engine-option", "region=r")
    for wrong, says in (
        (("--detach",), "--detach is for batch systems"),
        (("--engine-option", "a=b"), "--engine-option is for batch systems"),
        (("--engine", "lsf"), '--engine "lsf": expected one of'),
        (("--engine", "slurm", "--executor", "threads"), "--executor is not for jobs"),
        (("--engine", "slurm", "--resume"), "--resume is not for jobs"),
        (("--engine", "cloud-run", *regions, "--detach"), "a run with cloud-run does not continue"),
        (("--engine", "kubernetes"), "kubernetes needs --engine-option image"),
        (("--engine", "slurm", "--work-dir", "s3://b/w"), "the plan has s3://b/w: expected"),
    ):
        done = run("run", plan, *wrong)
        assert done.code == 2, done.err
        assert says in done.err
    assert not (tmp_path / "work").exists()


def test_executors_are_listed():
    rows = {r["name"]: r for r in json.loads(check(run("executors", "--json")).out)}
    assert {*EXECUTORS, *ENGINES, "mpi"} == set(rows)
    assert rows["slurm"]["label"] == "tested live"
    assert rows["kubernetes"]["label"] == "contract only"
    assert "kubernetes" in check(run("executors")).out
    pages = [p for p in (ROOT / "docs/how-to/engines").glob("*.md") if p.stem in EXECUTORS]
    assert len(pages) == len(EXECUTORS) - 3  # those of this machine
    for page in pages:
        label = re.search(r"Test status: \*\*(.*?)\*\*", " ".join(page.read_text().split()))
        assert label[1] == rows[page.stem]["label"], page


# --- Slurm itself

SLURM_CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={at}/munge.socket
SlurmctldPort={port}
StateSaveLocation={at}/state
SlurmdSpoolDir={at}/spool-%n
SlurmctldPidFile={at}/slurmctld.pid
SlurmdPidFile={at}/%n.pid
SlurmctldLogFile={at}/slurmctld.log
SlurmdLogFile={at}/%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=bf_interval=1,sched_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
JobAcctGatherType=jobacct_gather/none
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={node1} CPUs=2 RealMemory=4000
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={node2} CPUs=2 RealMemory=4000
PartitionName=long Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(n):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]


def until(what, seconds=60):
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


@pytest.fixture(scope="module")
def slurm(request, tmp_path_factory):
    """Two nodes on this machine."""
    if not request.config.getoption("--nightly"):
        pytest.skip("Slurm takes some seconds: --nightly")
    if not all(map(shutil.which, ("slurmctld", "slurmd", "munged"))):
        pytest.skip("Slurm is not installed: tools/setup --engines")
    at = tmp_path_factory.mktemp("slurm")
    (at / "state").mkdir()
    port, node1, node2 = free_ports(3)
    names = {"at": at, "port": port, "node1": node1, "node2": node2, "user": getpass.getuser()}
    names["host"] = socket.gethostname().split(".")[0]
    conf, key = at / "slurm.conf", at / "munge.key"
    conf.write_text(SLURM_CONF.format(**names))
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    with contextlib.ExitStack() as stack:
        env = {**os.environ, "SLURM_CONF": str(conf)}

        def start(*command):
            p = subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL)
            stack.callback(p.wait)
            stack.callback(p.terminate)
            return p

        files = [f"--{k}={at}/munge.{k}" for k in ("socket", "pid-file", "log-file", "seed-file")]
        start("munged", "--force", "--foreground", f"--key-file={key}", *files)
        until((at / "munge.socket").exists)
        start("slurmctld", "-D", "-f", str(conf))
        for node in ("n1", "n2"):
            start("slurmd", "-D", "-f", str(conf), "-N", node)

        def idle():
            said = subprocess.run(["sinfo", "-h"], env=env, capture_output=True, text=True)
            return " 2   idle " in said.stdout

        until(idle)
        yield conf


def test_slurm(tmp_path, plan, slurm, monkeypatch):
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    folder, _ = submit(plan, "slurm", "--elements", 6, "--start")
    assert "134 of 134 tasks done" in check(run("attach", folder, "--every", 1)).err
    is_whole(tmp_path)


def test_slurm_goes_on_alone(tmp_path, plan, slurm, monkeypatch):
    """Nobody stays; the run is found again by its directory."""
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    folder = detached(run("run", plan, "--engine", "slurm", "--detach"))
    until(lambda: "the results are complete" in check(run("status", folder)).out)
    check(run("attach", folder))
    shutil.rmtree(folder)
    is_whole(tmp_path)


def test_slurm_cancels_what_goes_on_alone(tmp_path, plan, slurm, monkeypatch):
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    options = ("--engine-option", "begin=now+3600", "--detach")
    folder = detached(run("run", plan, "--engine", "slurm", *options))
    assert "PENDING" in check(run("status", folder)).out
    check(run("cancel", folder))
    until(lambda: "PENDING" not in check(run("status", folder)).out)
    assert run("attach", folder, "--every", 1).code == 1


def test_slurm_goes_on_after_a_failure(tmp_path, slurm, monkeypatch):
    """A chunk cannot be read: jobs behind it never start. It can again: what is missing is done."""
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    x = np.random.default_rng(0).normal(size=(4000, 10))
    zarr.create_array(tmp_path / "x", shape=x.shape, chunks=(20, 10), dtype="f8")[...] = x
    saved, out = tmp_path / "p.cubed", tmp_path / "y.zarr"
    options = ("--max-workers", 4, "--other-machines", "--work-dir", tmp_path / "work")
    places = ("--in", f"x={tmp_path / 'x'}", "--out", out, "--save-plan", saved)
    check(run("eval", "y = sum(x, axis=0)", *places, *options))
    chunk = tmp_path / "x/c/150/0"
    whole = chunk.read_bytes()
    chunk.write_bytes(whole[:-9])
    folder, _ = submit(saved, "slurm", "--elements", 8, "--start")
    lost = run("attach", folder, "--every", 1)
    assert lost.code == 1
    assert "tasks are missing" in lost.err
    assert any("c/150/0" in p.read_text() for p in folder.glob("stage-0.*.log"))
    chunk.write_bytes(whole)
    subprocess.run(["sh", folder / "start"], check=True)
    check(run("attach", folder, "--every", 1))
    got = zarr.open_group(out, mode="r")["y"][...]
    np.testing.assert_allclose(got, x.sum(axis=0), 1e-12)


def test_slurm_cancels(tmp_path, plan, slurm, monkeypatch):
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    subprocess.run(["sbatch", "--wrap", "true", "--output=/dev/null"], check=True)
    folder, _ = submit(plan, "slurm", "--engine-option", "begin=now+3600", "--start")
    assert "PENDING" in check(run("status", folder)).out
    check(run("cancel", folder))
    until(lambda: "PENDING" not in check(run("status", folder)).out)
    assert run("attach", folder, "--every", 1).code == 1


#: Takes some seconds.
LONG = "y = sum(sin(random((240000, 1000), seed=1, chunks=(50, 1000))), axis=0)"


def save_long(tmp_path):
    saved = tmp_path / "p.cubed"
    places = ("--out", tmp_path / "y.zarr", "--work-dir", tmp_path / "work")
    workers = ("--max-workers", 4, "--other-machines")
    check(run("eval", LONG, *places, *workers, "--save-plan", saved))
    return saved


def workers_of(folder):
    """Elements that run, by their process."""
    for p in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (p / "cmdline").read_bytes().split(b"\0")
            if words[1:2] == [b"worker"] and os.fsencode(folder) in b" ".join(words):
                yield int(p.name)


def test_slurm_workers_and_who_waits_are_killed_and_the_run_goes_on(tmp_path, slurm, monkeypatch):
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    folder, _ = submit(save_long(tmp_path), "slurm", "--elements", 6, "--start")
    running = []

    def begun():
        running[:] = workers_of(folder)
        return running and list((tmp_path / "work").glob("*/done/0/*"))

    with subprocess.Popen([BIN, "attach", folder], stderr=subprocess.DEVNULL) as waits:
        until(begun)
        for pid in running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        waits.kill()
    lost = run("attach", folder, "--every", 1)
    assert lost.code == 1
    assert "tasks are missing" in lost.err
    assert not (tmp_path / "y.zarr/y/zarr.json").exists()
    subprocess.run(["sh", folder / "start"], check=True)
    check(run("attach", folder, "--every", 1))
    is_whole(tmp_path, LONG)


def test_ranks_in_an_allocation_of_slurm(tmp_path, slurm, mpi, monkeypatch):  # noqa: F811
    """A pilot: ranks take the place of jobs."""
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    saved = save_long(tmp_path)
    # Of one node: both have this machine's name.
    allocation = ["salloc", "--nodes=1", "--ntasks=2", "--quiet"]
    done = subprocess.run(
        [*allocation, *mpi(3, saved)], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    assert "by 2 workers" in done.stderr
    is_whole(tmp_path, LONG)
