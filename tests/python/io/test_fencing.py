"""A run that is suspended, and whose place another run takes over, changes nothing in the other
run's result.

Each round is one pair of runs, drawn by its number. The first run is a process of another machine
for the second one: it has its own name of the host and its own process numbers. It is suspended
when a random number of chunks exist, and goes on during the second run or after it. It is stopped
by a signal, or cut off from an object store. Or it is not suspended, and one of the clocks is
wrong: the second run takes it for silent while it writes.

CUBED_TEST_ROUNDS=40:42 plays the rounds 40 and 41, and no others.
"""

import concurrent.futures
import contextlib
import dataclasses
import json
import os
import random
import shutil
import socket
import subprocess
import time
import urllib.parse

import cubed
import numpy as np
import pytest
from conftest import BIN, NIGHTLY, check, forget_credentials, run
from partitions import FAKETIME, OWN_USERS, Clock, Network, Proxy, Stopped, allowed
from real_servers import running, s3_variables, versitygw, wait_for
from web_server import serve

import zarr

SHAPE, CHUNKS = (400, 100), (10, 50)
NCHUNKS = 80
FIRST, SECOND, OLD = 1.0, 2.0, 3.0
# The second one is the other's end if the first one was stopped before it had the place.
TOLD = ("was taken over", "is being written by", "exists (an array)", "exists: --overwrite")
ELSEWHERE = (*OWN_USERS, *"--uts --pid --fork --kill-child --mount-proc".split())
MOVED = 700  # seconds by which a clock is wrong: longer than a run may be silent
# How far the first and the second run's clocks are moved. Only the last pair hides a silent run.
CLOCKS = [(0, MOVED), (-MOVED, 0), (-MOVED, MOVED), (MOVED, -MOVED)]


def rounds(first, quick, nightly):
    """The numbers of the rounds, so many from the first one on."""
    if given := os.environ.get("CUBED_TEST_ROUNDS"):
        return range(*map(int, given.split(":")))
    return range(first, first + (nightly if NIGHTLY else quick))


@pytest.fixture(scope="module", autouse=True)
def _namespaces():
    if not allowed(*ELSEWHERE):
        pytest.skip("this system has no unshare or allows no namespaces: all is of one machine")


def make(path, value):
    zarr.create_array(path, shape=SHAPE, chunks=CHUNKS, dtype="f8")[...] = value


class Place:
    """Where the arrays of a round are: files of this machine, whatever store the runs see."""

    def __init__(self, sources, folder, url=None):
        self.sources, self.folder, self.url = sources, folder, url or str(folder)

    out = "out"

    def command(self, source, *options):
        return [
            *("eval", "x + 0", "--in", f"x={self.sources}/{source}"),
            *("--out", f"{self.url}/{self.out}", "--progress", "none", *options),
        ]

    def make_old(self):
        make(self.folder / "out", OLD)

    def made(self, existing):
        """How many chunks of the first run exist, beside an array that exists or in its place."""
        out = self.folder / "out"
        new = next(self.folder.glob(".cubed-new-*~out"), None) if existing else out
        if not new:
            return 0
        try:
            return sum(len(os.listdir(row)) for row in new.glob("c/*"))
        except FileNotFoundError:  # it has just taken its place
            return NCHUNKS

    def values(self):
        """The values of what looks like an array, none if nothing does."""
        try:
            return set(np.unique(zarr.open_array(self.folder / "out", mode="r")[...]).tolist())
        except (FileNotFoundError, zarr.errors.NodeNotFoundError):
            return set()

    def holds_deletes(self):
        """Whether the run may be deleting an array that it replaces by copies."""
        try:
            return json.loads((self.folder / "out/.cubed-run").read_text())["state"] == "copying"
        except FileNotFoundError:
            return False

    def left(self):
        """What is not of the array, but for directories, which are no objects."""
        return [p for p in self.folder.glob(".cubed-new-*/**/*") if p.is_file()]


class FilePlace(Place):
    """A place whose arrays are files: archives of ZIP, or files of NetCDF."""

    def __init__(self, sources, folder, suffix):
        super().__init__(sources, folder)
        self.out = f"out.{suffix}"

    def make_old(self):
        make(self.sources / f"old-{self.folder.name}", OLD)
        check(run(*self.command(f"old-{self.folder.name}")))

    def made(self, existing):
        new = self.folder / f"{self.out}.cubed-new/data"
        with contextlib.suppress(FileNotFoundError):  # it has just become the file
            return sum(len(os.listdir(row)) for row in new.glob("**/c/*"))
        return NCHUNKS

    def values(self):
        path = self.folder / self.out
        if not path.exists():
            return set()
        x = cubed.from_zarr(path, "x" if self.out.endswith(".nc") else None)
        return set(np.unique(x.compute()).tolist())

    def holds_deletes(self):
        return False

    def left(self):
        return [p for p in self.folder.iterdir() if p.name != self.out]


class RedisPlace(Place):
    """A place in the memory of a Redis server. Its objects have a version of 16 bytes in front."""

    def __init__(self, sources, folder, port):
        super().__init__(sources, folder, f"redis://127.0.0.1:{port}/0/{folder.name}")
        self.port = port

    def ask(self, *command):
        words = ["redis-cli", "-p", str(self.port), *command]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    def make_old(self):
        make(self.sources / f"old-{self.folder.name}", OLD)
        check(run(*self.command(f"old-{self.folder.name}")))

    def made(self, existing):
        name = ".cubed-new-*~out" if existing else "out"
        return len(self.ask("keys", f"{self.folder.name}/{name}/c/*").split())

    def values(self):
        try:
            return set(np.unique(cubed.from_zarr(f"{self.url}/out").compute()).tolist())
        except FileNotFoundError:
            return set()

    def holds_deletes(self):
        return False  # the server deletes only while the claim is the run's

    def left(self):
        return self.ask("keys", f"{self.folder.name}/.cubed-new-*").split()


@dataclasses.dataclass
class Around:
    """What a round has beside its directory: how the first run is suspended, if it is, and what
    each run is started with."""

    suspended: bool = True
    partition: object = None  # None: the run is stopped by a signal
    port: int | None = None  # of a proxy that the URL of the first run names
    first: tuple[str, ...] = ()
    second: tuple[str, ...] = ()
    env: dict[str, str] | None = dataclasses.field(default=None, repr=False)  # of the first run


class First:
    """A run on another machine, which is suspended when so many chunks exist."""

    def __init__(self, place, existing, command, chunks, around=None, late=0):
        around = around or Around()
        script = 'hostname elsewhere; exec "$@"'
        self.process = subprocess.Popen(
            [*around.first, *ELSEWHERE, "sh", "-c", script, "sh", *map(str, command)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=around.env,
        )
        self.partition = around.partition or Stopped(self.process)
        until = time.monotonic() + 30
        while self.process.poll() is None and time.monotonic() < until:
            if place.made(existing) >= chunks:
                break
            time.sleep(0.001)
        time.sleep(late)
        if around.suspended:
            self.partition.begin()

    def end(self):
        self.partition.end()
        _, error = self.process.communicate(timeout=60)
        return self.process.returncode, error


def play(place, number, surroundings=lambda draw: contextlib.nullcontext(Around()), clocks=False):
    draw = random.Random(number)
    existing = draw.random() < 0.5
    same = draw.random() < 0.5  # the second run is of the same computation
    how = draw.choice(["--overwrite", "--resume"])
    executor = draw.choice([("--max-workers", 1), ("--executor", "processes", "--max-workers", 2)])
    # One that has not begun when it is suspended may replace the array later, as anybody may.
    chunks = max(draw.randrange(NCHUNKS + 1), existing)
    pause = draw.choice([None, draw.uniform(0, 0.3)])  # None: goes on after the second run
    late = draw.choice([0, 0, 0, draw.uniform(0, 0.3)])  # seconds: into copies and commits
    moved = draw.choice(CLOCKS) if clocks else (0, 0)
    jump = draw.choice([None, -MOVED, MOVED])  # where the first run's clock is when it goes on
    about = f"{number}: {existing=} {same=} {how} {executor} {chunks=} {pause=} {late=}"
    about += f" {moved=} {jump=}" if clocks else ""

    place.folder.mkdir()
    with surroundings(draw) as around:
        about += f" {around}"
        if existing:
            place.make_old()
        options = (*executor, *(["--overwrite"] if existing else []), "--durable")
        mine = [BIN, *place.command("first", *options)]
        other = [BIN, *place.command("first" if same else "second", how)]
        if clocks:
            files = [place.sources / f"clock-{number}-{n}" for n in ("first", "second")]
            one, two = map(Clock, files, moved)
            mine, other = one.command(*mine), two.command(*other)
        else:
            mine += "--executor-option", "silence=1000"
            other += "--executor-option", "silence=1"
        if around.port:
            mine = [str(word).replace(f":{place.port}/", f":{around.port}/") for word in mine]
        first = First(place, existing, mine, chunks, around, late)
        # Deletes of S3 have no conditions. Those that a network holds back may take objects away.
        missing = around.suspended and around.partition and place.holds_deletes()
        if not clocks:
            time.sleep(1.05)  # the record has whole seconds

        def go_on():
            if jump and clocks:
                one.set(jump)
            first.partition.end()

        with subprocess.Popen(
            [*around.second, *other], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as second:
            if pause is not None:
                time.sleep(pause)
                go_on()
            error = second.communicate(timeout=60)[1]
        # If the second run was refused, the first one may be replacing the array at this moment.
        done = place.values() if second.returncode == 0 else None
        about += f"\nsecond: {second.returncode} {error}"
        expected = {FIRST if same else SECOND}
        if second.returncode == 0:
            assert done == expected or (missing and done <= expected | {0.0}), about
        go_on()
        code, first_error = first.end()
        about += f"\nfirst: {code} {first_error}"
        now = place.values()
        if second.returncode == 0:
            assert now == done or (missing and now <= expected | {0.0}), about
            assert code == 0 or any(word in first_error for word in TOLD), about
        elif code == 0:
            assert now == {FIRST}, about
        else:
            assert now in (set(), {OLD}), about
        clean = [*around.second, BIN, "clean", place.url]
        subprocess.run(clean, check=True, stdout=subprocess.DEVNULL)
        assert not place.left(), about
        assert place.values() == now, about
    shutil.rmtree(place.folder)
    assert 0 in (second.returncode, code), about
    return second.returncode, code


def play_all(numbers, play_one, at_once=6):
    """Plays rounds, and checks that one run of each ends well. Of many rounds, some are taken over:
    on a busy machine a first run may be whole before it is suspended."""
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:  # rounds mostly wait
        played = [pool.submit(play_one, number) for number in numbers]
    wrong = [str(error) for p in played if (error := p.exception())]
    assert not wrong, "\n\n".join(wrong)
    outcomes = [p.result() for p in played]
    if len(outcomes) >= 20:
        assert any(second == 0 and first != 0 for second, first in outcomes), outcomes


@pytest.fixture
def sources(tmp_path):
    make(tmp_path / "first", FIRST)
    make(tmp_path / "second", SECOND)
    return tmp_path


def needs_moved_clocks():
    if not FAKETIME:
        pytest.skip("libfaketime is not installed: no process can have a clock of its own")


def test_rounds(sources):
    def play_one(number):
        return play(Place(sources, sources / str(number)), number)

    play_all(rounds(0, 6, 200), play_one)


@pytest.mark.parametrize("suffix", ["zip", "nc"])
def test_rounds_of_files(sources, suffix):
    """Results that become one file, which is published by a rename."""

    def play_one(number):
        return play(FilePlace(sources, sources / str(number), suffix), number)

    play_all(rounds(0, 4, 100), play_one)


def test_moved_clocks(sources):
    """The first run is silent by the clocks alone, or hidden by them, or is stopped, too."""
    needs_moved_clocks()

    def surroundings(draw):
        return contextlib.nullcontext(Around(suspended=draw.random() < 0.5))

    def play_one(number):
        return play(Place(sources, sources / str(number)), number, surroundings, clocks=True)

    play_all(rounds(13, 3, 60), play_one)


@pytest.fixture
def bucket(sources):
    """The folder of a bucket's objects, which a server on this machine's files has."""
    place = sources / "server"
    with pytest.MonkeyPatch.context() as environment, running("versitygw", place, environment):
        yield place / "data/bucket"


def in_bucket(bucket, number):
    sources = bucket.parents[2]
    return Place(sources, bucket / str(number), f"s3://bucket/{number}")


@contextlib.contextmanager
def cut_off(draw):
    """The first run is stopped, or cut off by a proxy between it and the server."""
    how = draw.choice(["stopped", "through", "reset", "late"])
    if how == "stopped":
        yield Around()
        return
    port = urllib.parse.urlsplit(os.environ["AWS_ENDPOINT_URL"]).port
    proxy = Proxy(port, how)
    try:
        yield Around(partition=proxy, env={**os.environ, **s3_variables(proxy.port)})
    finally:
        proxy.close()


def test_rounds_in_s3(bucket):
    def play_one(number):
        return play(in_bucket(bucket, number), number, cut_off)

    play_all(rounds(13, 3, 200), play_one)


def test_moved_clocks_in_s3(bucket):
    needs_moved_clocks()

    @contextlib.contextmanager
    def surroundings(draw):
        with cut_off(draw) as around:
            around.suspended = draw.random() < 0.5
            yield around

    def play_one(number):
        return play(in_bucket(bucket, number), number, surroundings, clocks=True)

    play_all(rounds(13, 1, 60), play_one)


@pytest.fixture
def redis(sources):
    """The port of a Redis server."""
    if not shutil.which("redis-server") or not shutil.which("redis-cli"):
        pytest.skip("redis-server or redis-cli is not on the PATH")
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=sources) as process:
        try:
            wait_for(port, process)
            yield port
        finally:
            process.terminate()


def test_rounds_in_redis(sources, redis):
    @contextlib.contextmanager
    def surroundings(draw):
        how = draw.choice(["stopped", "through", "reset", "late"])
        if how == "stopped":
            yield Around()
            return
        with contextlib.closing(Proxy(redis, how)) as proxy:
            yield Around(partition=proxy, port=proxy.port)

    def play_one(number):
        return play(RedisPlace(sources, sources / str(number), redis), number, surroundings)

    play_all(rounds(0, 3, 60), play_one)


def test_networks_that_are_cut(sources):
    """The first run is in a network namespace of its own, whose cable is unplugged."""
    if not allowed(*OWN_USERS, "--net") or not shutil.which("nsenter") or not shutil.which("ip"):
        pytest.skip("this system has no ip or nsenter, or allows no namespaces of networks")
    port, place = 7070, sources / "server"
    command, variables = versitygw(port, place)
    address = f"{Network.ADDRESS}:{port}"
    command = [word.replace(f"127.0.0.1:{port}", address) for word in command]
    with contextlib.ExitStack() as stack:
        network = stack.enter_context(contextlib.closing(Network()))
        near, far = network.within(network.near), network.within(network.far)
        environment = stack.enter_context(pytest.MonkeyPatch.context())
        forget_credentials(environment)
        for name, value in {**variables, "AWS_ENDPOINT_URL": f"http://{address}"}.items():
            environment.setenv(name, value)
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        server = stack.enter_context(subprocess.Popen([*near, *command], **silent))
        stack.callback(server.terminate)
        network.wait_for(port, server)
        around = Around(partition=network, first=far, second=near)

        def play_one(number):
            where = in_bucket(place / "data/bucket", number)
            return play(where, number, lambda draw: contextlib.nullcontext(around))

        play_all(rounds(15, 1, 40), play_one, 1)  # of one cable


@pytest.mark.parametrize("existing", [False, True])
def test_what_is_cleaned_meanwhile(sources, existing):
    """What a silent run still writes after `cubed clean` reaches no array that is made later."""
    place, out = Place(sources, sources), sources / "out"
    options = ["--overwrite", "--max-workers", 1]
    if existing:
        make(out, OLD)
    with serve(sources) as web:
        web.free = NCHUNKS // 2  # so that it is not whole before it is suspended
        slow = Place(web.url, sources).command("first", *options, "--durable")
        first = First(place, existing, [BIN, *slow], NCHUNKS // 8)
        record = out / ".cubed-run"
        text = json.loads(record.read_text())
        assert text["state"] == "working"
        (out / "mine.txt").write_text("kept")
        record.write_text(json.dumps(text | {"beat": text["beat"] - 700}))
        check(run("clean", out, sources))
        assert (out / "mine.txt").read_text() == "kept"
        assert not record.exists() and not [*sources.glob(".cubed-new-*")]
        check(run(*place.command("second", *options)))
        web.gate.set()
        code, error = first.end()
        assert code != 0 and "was taken over" in error
    assert place.values() == {SECOND}
    assert (out / "mine.txt").read_text() == "kept"
