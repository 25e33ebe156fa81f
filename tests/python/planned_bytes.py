"""Fingerprints of random plans, to show that a change of the code leaves plans as they were.

Prints a line for each seed: the seed, the SHA-256 of the saved plan's bytes, and what was planned.
Half of the seeds go through the package, half through the command. The bytes do not depend on the
checkout: all places are in one folder of the machine, and these fields are masked:

- the version of the format and the checksum that follows it;
- the numbers in names such as ``array-12``, which count the arrays that the package made.

Origins (the lines of programs that made arrays) are not saved in plans. Functions of users are left
out, because their pickled bytes name modules of the package. A call that is refused has the word
``refused`` in place of the hash, because the texts of errors may change.

Usage: build/venv/bin/python tests/python/planned_bytes.py [--seeds N] [--compare FILE]

With ``--compare`` only lines that differ from those of FILE are printed, and the status says
whether there are any.
"""

import argparse
import contextlib
import fcntl
import hashlib
import itertools
import pathlib
import random
import re
import shutil
import subprocess
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import cubed
import numpy as np
from conftest import BIN, inputs

# isort: split
import test_chains
from chain_functions import EXACT, ROUGH, Drawn
from test_random_plans import COMPLEX, DTYPES, make_case, make_values, store

import zarr

# Plans hold absolute paths.
FOLDER = pathlib.Path("/var/tmp/cubed-planned-bytes")
MEMORY = ("150MB", "200MB", "1GB")
EXECUTORS = ("single-threaded", "threads", "processes")


def fingerprint(plan: bytes) -> str:
    magic, body = plan[:8], plan[16:]
    body = re.sub(rb".array-\d+", b"array-N", body, flags=re.DOTALL)
    return hashlib.sha256(magic + body).hexdigest()


def chosen(seed: int, names: Iterable[str]) -> str:
    """One of the names. A name that is added changes the choice of few seeds only."""
    return min(names, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())


# --- Strategies of Hypothesis as seeded draws, for the steps of test_chains ----------------------


class Strategy:
    def __init__(self, draw: Callable[[random.Random], Any]) -> None:
        self.draw = draw

    def filter(self, accepts: Callable[[Any], Any]) -> "Strategy":
        def draw(pick: random.Random) -> Any:
            while not accepts(value := self.draw(pick)):
                pass
            return value

        return Strategy(draw)


class Strategies:
    """The part of hypothesis.strategies and of hypothesis.extra.numpy that the steps use."""

    @staticmethod
    def integers(low: int, high: int) -> Strategy:
        return Strategy(lambda pick: pick.randint(low, high))

    @staticmethod
    def booleans() -> Strategy:
        return Strategy(lambda pick: pick.random() < 0.5)

    @staticmethod
    def sampled_from(values: Iterable[Any]) -> Strategy:
        return Strategy(lambda pick: pick.choice(list(values)))

    @staticmethod
    def permutations(values: Iterable[Any]) -> Strategy:
        return Strategy(lambda pick: pick.sample(list(values), len(list(values))))

    @staticmethod
    def lists(of: Strategy, min_size: int, max_size: int) -> Strategy:
        return Strategy(
            lambda pick: [of.draw(pick) for _ in range(pick.randint(min_size, max_size))]
        )

    @staticmethod
    def basic_indices(shape: tuple[int, ...], allow_ellipsis: bool) -> Strategy:
        def one(pick: random.Random, n: int) -> Any:
            if n and pick.random() < 0.2:
                return pick.randrange(-n, n)
            start, stop = pick.randint(0, n), pick.randint(0, n)
            return slice(start, stop if pick.random() < 0.5 else None, pick.choice([1, 1, 2, -1]))

        return Strategy(lambda pick: tuple(one(pick, n) for n in shape))


STEPS = [
    s for s in dict.fromkeys(test_chains.STEPS)
    if s not in (test_chains.by_own_functions, test_chains.exactly, test_chains.roughly)
]  # fmt: skip


# --- Plans of the package ------------------------------------------------------------------------


def spec_of(pick: random.Random) -> cubed.Spec:
    executor = pick.choice(EXECUTORS)
    options = {} if executor == "single-threaded" else {"max_workers": pick.randint(1, 4)}
    return cubed.Spec(
        FOLDER / "work",
        allowed_mem=pick.choice(MEMORY),
        reserved_mem="100MB",
        executor_name=executor,
        executor_options=options,
    )


def a_call(seed: int, pick: random.Random, a: Any, x: Any) -> tuple[str, Any, Any]:
    name = chosen(seed, [*EXACT, *ROUGH])
    method = pick.choice(["linear", "lower", "higher", "nearest", "midpoint"])
    axis, other, n = pick.randrange(a.ndim), pick.randrange(a.ndim), pick.randint(1, 3)
    k = Drawn(axis, other, n, pick.random() < 0.5, method)
    row = EXACT.get(name) or ROUGH[name]
    return name, row(np, a, k), row(cubed, x, k)


def a_chain(seed: int, pick: random.Random) -> tuple[str, Any]:
    """Steps of test_chains and calls of public functions over an array of memory or of a store."""
    test_chains.SPEC = spec = spec_of(pick)
    shape = tuple(
        pick.randint(0 if pick.random() < 0.1 else 1, 8) for _ in range(pick.randint(1, 3))
    )
    values = np.random.default_rng(seed).integers(0, 9, shape, endpoint=True)
    a = values.astype(pick.choice(test_chains.DTYPES))
    x = cubed.from_array(a, chunks=tuple(pick.randint(1, max(1, n)) for n in shape), spec=spec)
    names = [str(a.dtype)]
    for turn in range(pick.randint(1, 6)):
        if a.size > 2000 or a.ndim == 0 or a.ndim > 5:
            break
        if pick.random() < 0.5:
            name, a, x = a_call(seed * 10 + turn, pick, a, x)
        else:
            step = pick.choice(STEPS)
            name, (a, x) = step.__name__, step(lambda strategy: strategy.draw(pick), a, x)
        names.append(name)
        a = np.asarray(a)
        if a.dtype.kind == "b":
            a, x = a.astype(np.int8), cubed.astype(x, cubed.int8)
        elif a.dtype.kind == "c":
            a, x = a.real, cubed.real(x)
        low, high = (0, 100) if a.dtype.kind == "u" else (-100, 100)
        a, x = np.clip(a, low, high).astype(a.dtype), cubed.clip(x, low, high)
    return " ".join(names), x


def chunks_of(pick: random.Random, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(pick.choice([n, max(1, n // 2), max(1, n // 7), max(1, n // 30)]) for n in shape)


LARGE: dict[str, Callable[[random.Random, Any], Any]] = {
    "rechunk": lambda pick, x: x.rechunk(chunks_of(pick, x.shape)),
    "centre": lambda pick, x: x - cubed.mean(x, axis=pick.randrange(x.ndim), keepdims=True),
    "sum": lambda pick, x: cubed.sum(x, axis=pick.randrange(x.ndim), keepdims=True) + x,
    "var": lambda pick, x: cubed.var(x, axis=0, keepdims=True),
    "total": lambda pick, x: x / cubed.max(x),
    "transpose": lambda pick, x: cubed.permute_dims(x, tuple(reversed(range(x.ndim)))),
    "cumsum": lambda pick, x: cubed.cumulative_sum(x, axis=pick.randrange(x.ndim)),
    "sort": lambda pick, x: cubed.sort(x, axis=pick.randrange(x.ndim)),
    "median": lambda pick, x: x - cubed.median(x, axis=0, keepdims=True),
    "product": lambda pick, x: cubed.matmul(x, cubed.matrix_transpose(x)),
    "fft": lambda pick, x: cubed.real(cubed.fft.fft(x, axis=pick.randrange(x.ndim))),
    "roll": lambda pick, x: cubed.roll(x, 3, axis=pick.randrange(x.ndim)),
    "part": lambda pick, x: x[(slice(None, None, 2),) * x.ndim],
    "flat": lambda pick, x: cubed.reshape(x, (x.size // x.shape[-1], x.shape[-1])),
    "both": lambda pick, x: cubed.exp(x) * x + cubed.sqrt(cubed.abs(x)),
    "pad": lambda pick, x: cubed.pad(x, 1),
    "joined": lambda pick, x: cubed.concat([x, cubed.flip(x, axis=0)], axis=0),
    "single": lambda pick, x: cubed.astype(x, cubed.float32),
}


def a_large_one(seed: int, pick: random.Random) -> tuple[str, Any]:
    """Operations over random numbers of more bytes than a task may have."""
    spec = spec_of(pick)
    shape = pick.choice([(4000, 5000), (300, 200, 400), (20_000_000,), (9000, 1000), (1500, 1600)])
    kind = pick.choice(["random", "normal", "ones"])
    chunks = chunks_of(pick, shape)
    if kind == "random":
        x = cubed.random.random(shape, chunks=chunks, seed=seed, spec=spec)
    elif kind == "normal":
        x = cubed.random.normal(size=shape, chunks=chunks, seed=seed, spec=spec)
    else:
        x = cubed.ones(shape, chunks=chunks, spec=spec)
    names = [kind]
    for _ in range(pick.randint(1, 4)):
        name = pick.choice(sorted(LARGE))
        if name == "product" and x.ndim < 2:
            continue
        names.append(name)
        x = LARGE[name](pick, x)
    return " ".join(names), x


def of_package(seed: int, pick: random.Random) -> tuple[str, bytes]:
    what, x = (a_chain if pick.random() < 0.7 else a_large_one)(seed, pick)
    if pick.random() < 0.5:
        x = cubed.to_zarr(x, FOLDER / "out", compute=False)
    return what, cubed.plan(x, optimize_graph=pick.random() < 0.85).save()


# --- Plans of the command ------------------------------------------------------------------------

# Calls of the expression language: `x` has the dimensions time, lat and lon; `m` is a matrix.
CALLS = """
mean(x, dim="time"); x - mean(x, dim="time", keepdims=True); std(x, axis=0, correction=1); nanmax(x, dim="lat")
argmin(x, dim="lon"); cumsum(x, dim="time"); cumulative_prod(x, axis=2, include_initial=True); nansum(x)
permute_dims(x, (2, 0, 1)); flip(x, axis=1); squeeze(x[:, :1], axis=1); expand_dims(x, axis=0); roll(x, 3, axis=1)
concat([x, x[::-1]], axis=0); stack([x, x * 2], axis=1); repeat(x, 2, axis=2); tile(m, (2, 2)); moveaxis(x, 0, 2)
reshape(x, -1); diff(x, axis=0); tril(m); triu(m); rechunk(x, (4, 3, 2)); pad(x, 2, mode="edge"); broadcast_to(m, (2, 6, 6))
median(x, dim="time"); quantile(x, 0.3, axis=1); percentile(x, (10, 90), dim="lon"); nanmedian(x, axis=0)
isclose(x, x + 1); allclose(x, x); nan_to_num(x, 0); clip(x, 0, 1); gradient(x, 0.5, axis=1); trapezoid(x, dx=2, axis=0)
ediff1d(x); unwrap(x, axis=0); interp(x, [0.0, 1.0], [2.0, 3.0]); average(x, axis=0); ptp(x, axis=2)
moment(x, 3, axis=0); skew(x, axis=0); kurtosis(x, dim="time"); skewtest(x, axis=0); normaltest(x, axis=0)
ttest_1samp(x, 0, axis=0); ttest_ind(x, x * 2, axis=0); ttest_rel(x, x * 2, axis=0); f_oneway(x, x + 1, axis=0)
chisquare(abs(x) + 1, axis=0); power_divergence(abs(x) + 1, axis=0, lambda_=0); cov(m); corrcoef(m)
histogram(x, 5, range=(0, 1)); histogram(x, [0, 1, 2]); bincount(astype(abs(reshape(m, -1)), "int64"), length=30)
sort(x, dim="time"); argsort(x, axis=1, descending=True); matmul(m, m); vecdot(m, m, axis=0); tensordot(m, m, axes=1)
einsum("ij,kj->ik", m, m); groupby(x, arange(24) // 6, "mean", dim="time", ngroups=4); rolling(x, 3, "mean", dim="time")
rolling(x, (2, 2), "max", axis=(1, 2)); sel(x, time="2000-01"); sel(x, lat=(0, 30)); sel(x, lon=10, method="nearest")
mean(x, groupby="time.month"); mean(x, resample="1D", dim="time"); resample(x, "MS", "mean"); groupby(x, "time.season", "std")
monmean(x); yearmean(x); seasmean(x); ymonmean(x); daymean(x); monmin(x); monstd(x); yearsum(x); ydaymean(x); monpctl(x, 90)
take(x, [1, 2], axis=0); take_along_axis(x, argsort(x, axis=0), axis=0); searchsorted([0.0, 1.0], x); isin(x, (1, 2))
gather(x, arange(2), None, 2); scatter(m, 1, arange(2), 3); assign(x[1:3], 7); compress(x, arange(24) % 2 == 0, axis=0, count=12)
fft(x, axis=0); rfft(x, axis=0); fftn(x, axes=(1, 2)); fftshift(x); ifft(x, n=8, axis=1); hfft(x, axis=0); irfft(x, axis=0)
cholesky(m); det(m); inv(m); solve(m, m); svdvals(m); eigvalsh(m); pinv(m); matrix_rank(m); matrix_power(m, 3); cond(m)
matrix_norm(m); diagonal(m); trace(m); solve_triangular(m, m, lower=True); norm(m, 2, axis=0); vector_norm(x); outer(m[0], m[1])
cross(m[:, :3], m[:, :3]); multi_dot(m, m, m); q, r = qr(m); p, l, u = lu(m); u, s, v = svd(m); w, v = eigh(m); w, v = eig(m)
sign, logdet = slogdet(m); tensorinv(reshape(m, (2, 3, 6)), ind=2); x, residuals, rank, s = lstsq(m, m)
astype(x, "int16"); float32(x); exp(x) * sin(x); where(x > 0, x, -x); x ** 2; x // 2 % 3; atan2(x, x + 1); hypot(x, 1)
logaddexp(x, x); (x > 1) & ~(x < 2); count_nonzero(x > 0, axis=0); any(x > 2, dim="time"); all(x > -9, dim="lat"); x[::-2, ..., 1]
arange(30) * 2; linspace(0, 1, 11); eye(5, 4, k=1); full((3, 4), 7); zeros((2, 9)); ones([4], dtype="int8")
uniform((50, 40), seed=3); normal((50, 40), seed=4); exponential([99], seed=5); integers([40, 4], 9, seed=6)
"""  # fmt: skip # noqa: E501


def calls() -> list[str]:
    lines = [call.strip() for call in re.split(r";|\n", CALLS)]
    return [line for line in lines if line]


def make_climate(seed: int, pick: random.Random) -> None:
    """A group with an array of three dimensions, their coordinates, and a matrix."""
    group = zarr.open_group(FOLDER / "in.zarr", mode="w")
    rng = np.random.default_rng(seed)
    time = {"units": "days since 2000-01-01", "calendar": pick.choice(["standard", "noleap"])}
    coordinates = {"time": (np.arange(24.0) * 15, time), "lat": (np.arange(6.0) * 12, {}),
                   "lon": (np.arange(8.0) * 45, {})}  # fmt: skip
    for name, (values, attributes) in coordinates.items():
        z = group.create_array(name, shape=values.shape, dtype="f8", dimension_names=[name],
                               attributes=attributes)  # fmt: skip
        z[...] = values
    dtype = pick.choice(["f4", "f8", "i2", "i4"])
    chunks = (pick.choice([1, 5, 24]), pick.choice([2, 6]), pick.choice([3, 8]))
    z = group.create_array("x", shape=(24, 6, 8), chunks=chunks, dtype=dtype,
                           dimension_names=[*coordinates], attributes={"units": "K"})  # fmt: skip
    z[...] = (rng.normal(size=z.shape) * 9).astype(dtype)
    z = group.create_array("m", shape=(6, 6), chunks=(pick.choice([2, 6]), 6), dtype="f8")
    z[...] = rng.normal(size=(6, 6)) + 9 * np.eye(6)


def command_options(pick: random.Random) -> list[str]:
    options = ["--executor", pick.choice(EXECUTORS), "--allowed-mem", pick.choice(MEMORY)]
    if options[1] != "single-threaded":
        options += ["--max-workers", str(pick.randint(1, 4))]
    if pick.random() < 0.15:
        options.append("--no-optimize")
    if pick.random() < 0.3:
        options += ["--format", pick.choice("23")]
    if pick.random() < 0.1:
        options.append("--other-machines")
    return options


def command_case(seed: int, pick: random.Random) -> tuple[str, list[str]]:
    """What is planned, and the command's arguments."""
    kind = pick.random()
    if kind < 0.5:
        arrays, places = {}, {}
        rng = np.random.default_rng(seed)
        for name in "ab":
            shape = tuple(
                pick.choice([1, 2, 5, 7, 13]) for _ in range(pick.choice([0, 1, 2, 3, 4]))
            )
            arrays[name] = make_values(rng, shape, pick.choice(DTYPES + COMPLEX))
            store(FOLDER / f"{name}.zarr", pick, arrays[name], "x")
            places[name] = f"{FOLDER / name}.zarr::x"
        cases = [make_case(pick, arrays)[0] for _ in range(pick.randint(1, 3))]
        text = ";".join(f"r{i}={t}" for i, t in enumerate(cases))
        return text, ["eval", text, *inputs(text, places)]
    if kind < 0.9:
        make_climate(seed, pick)
        text = chosen(seed, calls())
        places = {name: f"{FOLDER}/in.zarr::{name}" for name in "xm"}
        return text, ["eval", text, *inputs(text, places)]
    shape = pick.choice([(4000, 500), (60, 70, 80)])
    whole, parts = list(chunks_of(pick, shape)), chunks_of(pick, shape)
    zarr.create_array(FOLDER / "in.zarr", shape=shape, chunks=parts, dtype="f4")
    return f"rechunk {parts} {whole}", [
        "rechunk", f"{FOLDER}/in.zarr", f"{FOLDER}/out", "--chunks", ",".join(map(str, whole)),
    ]  # fmt: skip


def of_command(seed: int, pick: random.Random) -> tuple[str, bytes]:
    text, arguments = command_case(seed, pick)
    if arguments[0] == "eval":
        arguments += ["--out", f"{FOLDER}/out", "--no-history"]  # the date
    saved = FOLDER / "plan"
    done = subprocess.run(
        [BIN, *arguments, "--work-dir", f"{FOLDER}/work", "--reserved-mem", "100MB", "--progress",
         "none", "--save-plan", saved, *command_options(pick)], capture_output=True, text=True
    )  # fmt: skip
    if done.returncode:
        raise ValueError(done.stderr)
    return text, saved.read_bytes()


# --- Lines ---------------------------------------------------------------------------------------


def line(seed: int) -> str:
    """Each seed starts from an empty folder."""
    FOLDER.mkdir()
    try:
        (FOLDER / "work").mkdir()
        pick = random.Random(seed)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            what, plan = (of_command if seed % 2 else of_package)(seed, pick)
        return f"{seed} {fingerprint(plan)} {what[:90]}"
    except Exception as error:
        if "-v" in sys.argv:
            print(seed, type(error).__name__, error, file=sys.stderr)
        return f"{seed} refused"
    finally:
        shutil.rmtree(FOLDER)


@contextlib.contextmanager
def prepared() -> Iterator[None]:
    """Steps of test_chains draw from here. Another process of this kind has to end first."""
    before = test_chains.st, test_chains.hnp, test_chains.SPEC, test_chains.FOLDER
    test_chains.st = test_chains.hnp = Strategies
    test_chains.FOLDER = types.SimpleNamespace(name=str(FOLDER))
    with FOLDER.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(FOLDER, ignore_errors=True)  # left by a process that was killed
        yield
    test_chains.st, test_chains.hnp, test_chains.SPEC, test_chains.FOLDER = before


def lines(seeds: Iterable[int]) -> Iterator[str]:
    with prepared():
        for seed in seeds:
            test_chains.NAMES = itertools.count()
            yield line(seed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=2000)
    parser.add_argument("--compare", type=pathlib.Path)
    parser.add_argument("-v", action="store_true", help="print why seeds are refused")
    options = parser.parse_args()
    before = options.compare.read_text().splitlines() if options.compare else None
    different = 0
    for seed, now in enumerate(lines(range(options.seeds))):
        if before is None:
            print(now, flush=True)
        elif seed >= len(before) or before[seed] != now:
            different += 1
            print(f"- {before[seed] if seed < len(before) else ''}\n+ {now}", flush=True)
    if before is not None:
        print(f"{options.seeds} plans, {different} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
