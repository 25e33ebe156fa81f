"""Plans under mpirun, with each implementation of MPI that is installed."""

import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest
from conftest import BIN, ROOT, check, run

import zarr

TEXT = "y = var(random((40000, 100), seed=1, chunks=(2, 100)), axis=0)"
#: Root may run it, and more ranks than there are processors.
SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


@pytest.fixture(scope="module", params=["openmpi", "mpich"])
def mpi(request, tmp_path_factory):
    """How to start ranks of the program."""
    compiler, starter = f"mpicc.{request.param}", f"mpirun.{request.param}"
    if not request.config.getoption("--nightly"):
        pytest.skip("starting ranks takes some seconds: --nightly")
    if not (shutil.which(compiler) and shutil.which(starter)):
        pytest.skip(f"{request.param} is not installed: tools/setup --engines")
    program, lib = tmp_path_factory.mktemp("mpi") / "cubed-mpi", pathlib.Path(BIN).parent
    command = [compiler, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include"]
    command += [ROOT / "mpi/cubed_mpi.c", f"-L{lib}", "-lcubed", f"-Wl,-rpath,{lib}"]
    subprocess.run([*command, "-o", program], check=True)
    return lambda n, *args: [starter, "-n", str(n), str(program), *map(str, args)]


def start(command, **more):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env={**os.environ, **SETTINGS}, **pipes, **more)


def finish(command):
    with start(command) as p:
        out, err = p.communicate(timeout=100)
    return p.returncode, out, err


def save(tmp_path, text, *options):
    saved = tmp_path / "p.cubed"
    places = ("--out", tmp_path / "y.zarr", "--work-dir", tmp_path / "work")
    workers = ("--max-workers", 3, "--other-machines")
    check(run("eval", text, *places, *workers, "--save-plan", saved, *options))
    return saved


def is_whole(tmp_path, text):
    expected = check(run("eval", text, "--json", "--progress", "none")).arrays()["y"]
    got = zarr.open_group(tmp_path / "y.zarr", mode="r")["y"][...]
    assert got.tobytes() == expected.tobytes()
    assert not list((tmp_path / "work").iterdir())


@pytest.mark.parametrize("ranks", [2, 4])
def test_results_are_those_of_threads(tmp_path, mpi, ranks):
    saved = save(tmp_path, TEXT)
    code, out, err = finish(mpi(ranks, saved))
    assert code == 0, err
    assert f"by {ranks - 1} workers" in err
    assert "0 done before" in out
    is_whole(tmp_path, TEXT)


def children(pid):
    """Processes below one, of any depth."""
    below = []
    for p in pathlib.Path(f"/proc/{pid}/task/{pid}").glob("children"):
        for child in map(int, p.read_text().split()):
            below += [child, *children(child)]
    return below


def test_a_rank_is_killed_and_another_run_goes_on(tmp_path, mpi):
    text = "y = sum(sin(random((60000, 1000), seed=1, chunks=(50, 1000))), axis=0)"
    saved = save(tmp_path, text)
    with start(mpi(3, saved, "--run", "r")) as p:
        notes = tmp_path / "work"
        deadline = time.monotonic() + 60
        while not list(notes.glob("*/done/0/*")) and p.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        ranks = [c for c in children(p.pid) if is_rank(c)]
        os.kill(max(ranks), signal.SIGKILL)
        _, err = p.communicate(timeout=60)
    assert p.returncode != 0, err
    assert not (tmp_path / "y.zarr/y/zarr.json").exists()
    code, out, err = finish(mpi(3, saved, "--run", "r"))
    assert code == 0, err
    assert " 0 done before" not in out
    is_whole(tmp_path, text)


def is_rank(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == "cubed-mpi"
    except OSError:
        return False


def test_tasks_that_fail_are_reported(tmp_path, mpi):
    zarr.create_array(tmp_path / "x", shape=(40,), chunks=(1,), dtype="f8")[...] = 1
    saved = save(tmp_path, "y = sum(x)", "--in", f"x={tmp_path / 'x'}")
    (tmp_path / "x/c/30").write_bytes(b"short")
    code, _, err = finish(mpi(3, saved))
    assert code != 0
    assert "c/30" in err
    assert "to go on: cubed-mpi" in err


def test_wrong_usage(tmp_path, mpi):
    assert "expected at least two ranks" in finish(mpi(1, tmp_path / "p"))[2]
    assert "usage: mpirun" in finish(mpi(2, "--what", "p"))[2]
    code, _, err = finish(mpi(2, tmp_path / "nothing"))
    assert code != 0
    assert "cannot read" in err
    # What a terminal would obey is spelled out.
    err = finish(mpi(2, tmp_path / "\x1b[2J\x9b2J"))[2]
    assert "\\x1b[2J\\x9b2J" in err
    assert "\x1b" not in err
    assert "\x9b" not in err
