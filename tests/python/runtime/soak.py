"""Commands that write, resume, replace, append to, clean and read the same places at the same time,
while some of them are killed or suspended; and a checker that knows each legal outcome.

A write has one value, which no other computation has: a result of two values is a torn one. A value
that was read must be that of a write that began before, unless another write began later than the
first one had ended, and succeeded before the read began.
"""

import contextlib
import dataclasses
import json
import pathlib
import random
import signal
import subprocess
import threading
import time

from conftest import BIN

SIZE, CHUNK, PIECE = 48, 12, 6

#: Errors by which a write may lose against others, or against what others left.
LOST = ("is being written by", "was taken over", "another run has just", "exists (an array)",
        "exists: --overwrite", "has been overwritten since", "an unfinished run of another",
        "changed while", "no unfinished run", "is gone", "nothing to resume",
        "has changed since")  # fmt: skip
#: Errors of a read if there is no array, and while a write replaces the array.
ABSENT = ("there is no Zarr array at", "there is no Zarr array or group at")
CHANGED = ("has been rewritten since", "has been removed since", "has changed since")


@dataclasses.dataclass
class Write:
    value: int
    begin: float
    end: float = float("inf")
    done: bool = False  # it succeeded


@dataclasses.dataclass
class Place:
    """Where arrays are written, and all writes there."""

    url: str
    replaced_at_once: bool  # a reader finds the old array or the new one
    is_appended: bool
    writes: list[Write] = dataclasses.field(default_factory=list)

    def last(self, before: float) -> list[Write]:
        return [w for w in self.writes if w.done and w.end < before]

    def superseded(self, w: Write, before: float) -> bool:
        return any(s.begin > w.end for s in self.last(before))

    def in_doubt(self, begin: float, end: float) -> bool:
        """Whether a write that was running or killed may have removed the old array."""
        return any(
            w.begin < end and not (w.done and w.end < begin) and not self.superseded(w, begin)
            for w in self.writes
        )

    def wrong(self, values: list[int] | None, begin: float, end: float) -> str:
        """The fault of a read from `begin` to `end`: "" if there is none. None: no array."""
        if self.is_appended:
            return self._wrong_pieces(values, begin, end)
        if values is None:
            absent = not self.last(begin)
            hidden = not self.replaced_at_once and self.in_doubt(begin, end)
            return "" if absent or hidden else "the array is gone"
        if len(values) != SIZE or len(set(values)) != 1:
            return f"torn: {sorted(set(values))}"
        ways = [w for w in self.writes if w.value == values[0] and w.begin < end]
        if not ways:
            return f"{values[0]} was never written"
        return "" if any(not self.superseded(w, begin) for w in ways) else f"{values[0]} is old"

    def _wrong_pieces(self, values: list[int] | None, begin: float, end: float) -> str:
        if values is None:
            return "the array is gone"
        pieces = [values[i : i + PIECE] for i in range(0, len(values), PIECE)]
        if any(len(p) != PIECE or len(set(p)) != 1 for p in pieces):
            return f"torn: {values}"
        found = [p[0] for p in pieces]
        begun = {w.value for w in self.writes if w.begin < end}
        missing = {w.value for w in self.last(begin)} - set(found)
        if found[0] != 0 or len(set(found)) != len(found) or set(found[1:]) - begun or missing:
            return f"pieces {found}, begun {sorted(begun)}, missing {sorted(missing)}"
        return ""


class Soak:
    """Several threads that start commands until `stop` says so."""

    def __init__(self, source: pathlib.Path, places: list[Place], seed: int) -> None:
        self.source, self.places, self.seed = source, places, seed
        self.lock = threading.Lock()
        self.value = 0
        self.operations = self.killed = self.suspended = 0
        self.outcomes: dict[str, int] = {}
        self.faults: list[str] = []

    def run(self, threads: int, minutes: float = 0, operations: int = 0) -> None:
        end = time.monotonic() + 60 * minutes if minutes else float("inf")

        def work(number: int) -> None:
            rng = random.Random(f"{self.seed} {number}")
            left = operations
            while not self.faults and time.monotonic() < end and (minutes or left > 0):
                left -= 1
                try:
                    self.step(rng)
                except Exception as e:
                    self.faults.append(f"{type(e).__name__}: {e}")

        each = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
        for thread in each:
            thread.start()
        for thread in each:
            thread.join()
        for place in self.places:  # without other commands
            self.read(place, random.Random(0), quiet=True)

    def count(self, outcome: str) -> None:
        with self.lock:
            self.operations += 1
            self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1

    def command(
        self, rng: random.Random, *args: object, quiet: bool = False
    ) -> tuple[int, str, str]:
        """Runs a command, and may kill or suspend it. The code of a killed command is -9."""
        process = subprocess.Popen(
            [BIN, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        fate, delay = rng.random(), rng.expovariate(8)
        if fate < 0.4 and not quiet:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(delay)
            if process.poll() is None and fate < 0.2:
                process.kill()
                self.killed += 1
            elif process.poll() is None:
                process.send_signal(signal.SIGSTOP)
                time.sleep(rng.expovariate(2))
                process.send_signal(signal.SIGCONT)
                self.suspended += 1
        try:
            out, err = process.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise AssertionError(f"{args} hangs") from None
        return process.returncode, out, err

    def step(self, rng: random.Random) -> None:
        place = rng.choice(self.places)
        choice = rng.random()
        if choice < 0.3:
            self.read(place, rng)
        elif choice < 0.4:
            code, _, err = self.command(rng, "clean", place.url)
            self.check_code("clean", code, err, LOST)
        elif choice < 0.45:
            code, _, err = self.command(rng, "info", place.url)
            self.count("info")
        else:
            self.write(place, rng)

    def check_code(self, what: str, code: int, err: str, legal: tuple[str, ...]) -> None:
        if code in (0, -signal.SIGKILL):
            self.count(f"{what} {'done' if code == 0 else 'killed'}")
        elif code == 1 and any(word in err for word in legal):
            self.count(f"{what} refused")
        else:
            self.faults.append(f"{what}: code {code}: {err}")

    def write(self, place: Place, rng: random.Random) -> None:
        options: tuple[object, ...] = ("--overwrite",)
        again = [w for w in place.writes if not w.done and w.end < time.monotonic()]
        with self.lock:
            self.value += 1
            value = self.value
        if place.is_appended:
            options = ("--append", "time")
            source = self.source / "piece.zarr"
        else:
            source = self.source / "whole.zarr"
            if again and rng.random() < 0.4:
                value, options = rng.choice(again).value, ("--resume",)
                options += ("--overwrite",) * (rng.random() < 0.5)
            elif rng.random() < 0.3:
                options += ("--executor", "processes", "--max-workers", 2)
            elif rng.random() < 0.2:
                options += ("--no-optimize",)
        write = Write(value, time.monotonic())
        place.writes.append(write)
        code, _, err = self.command(
            rng, "eval", f"a=x*0+{value}", "--in", f"x={source}", "--out", place.url, *options,
            "--progress", "none",
        )  # fmt: skip
        write.end = time.monotonic()
        write.done = code == 0
        self.check_code(
            f"write {' '.join(o for o in options if str(o)[:2] == '--')}", code, err, LOST
        )

    def read(self, place: Place, rng: random.Random, quiet: bool = False) -> None:
        begin = time.monotonic()
        code, out, err = self.command(rng, "eval", "x*1", "--in", f"x={place.url}::a", "--json",
                                      "--progress", "none", quiet=quiet)  # fmt: skip
        end = time.monotonic()
        if code == -signal.SIGKILL:
            return self.count("read killed")
        if code:
            absent = any(word in err for word in ABSENT) and not place.wrong(None, begin, end)
            changed = any(word in err for word in CHANGED) and place.in_doubt(begin, end)
            if absent or changed:
                return self.count("read refused")
            self.faults.append(f"read {place.url}: code {code}: {err}")
            return None
        (values,) = (v["data"] for k, v in json.loads(out).items() if k != "_run")
        if fault := place.wrong(values, begin, end):
            history = [w for w in place.writes if w.begin < end][-12:]
            self.faults.append(f"read {place.url} from {begin} to {end}: {fault}: {history}")
        return self.count("read done")
