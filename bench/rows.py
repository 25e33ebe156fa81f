"""The rows of the benchmark: the runs that each row compares, and the ratios that are published."""

import contextlib
import json
import math
import shutil
import statistics
import subprocess

from harness import Contender, interleave, peaks, ratios, remove, run, spread

RAW = '[{"name": "bytes", "configuration": {"endian": "little"}}]'
MEANS = "uu=mean(u*u, axis=0); vv=mean(v*v, axis=0); uv=mean(u*v, axis=0)"
MONTHS = ", ".join(f"x[{m}::12]" for m in range(12))
ANOMALIES = f"_y = stack(({MONTHS}), axis=1); _y - mean(_y, axis=0, keepdims=True)"
# Bytes of memory that each worker may use.
WINDS_MEM = 2_000_000_000
SERIES_MEM = 2_000_000_000
RECHUNK_MEM = 500_000_000
FUNCTIONS_MEM = 1_000_000_000
WORKLOADS_MEM = 500_000_000
WORKLOADS = (
    "quadratic_means",
    "vorticity",
    "transformed_eulerian_mean",
    "climatological_anomalies",
    "era5_pipeline",
)
# Functions of the Python package, and which libraries there are beside it that have them.
FUNCTIONS = {
    "chain": ("numpy", "dask", "upstream"),
    "mean0": ("numpy", "dask", "upstream"),
    "mean1": ("numpy", "dask", "upstream"),
    "var0": ("numpy", "dask", "upstream"),
    "var1": ("numpy", "dask", "upstream"),
    "sort": ("numpy", "dask"),
    "median": ("numpy", "dask"),
    "matmul": ("numpy", "dask", "upstream"),
    "fft": ("numpy", "dask"),
    "cumsum": ("numpy", "dask", "upstream"),
    "mask": ("numpy", "dask"),
    "tiny": ("numpy", "dask", "upstream"),
}


#: Works on compressed arrays (bench/compressed.py): libraries that do each of them, and the target
#: for their time divided by ours.
COMPRESSED = {
    "chain_stored": (("blosc2",), 2),
    "sum": (("blosc2",), 2),
    "mean0": (("blosc2",), 2),
    "max1": (("blosc2",), 2),
    "cumsum_stored": (("blosc2",), 2),
    "matmul_stored": (("blosc2",), 2),
    "memory": (("numexpr",), 2),
    "row": (("blosc2", "zarrs", "tensorstore"), 1),
    "column": (("blosc2", "zarrs", "tensorstore"), 1),
    "point": (("blosc2", "zarrs", "tensorstore"), 1),
}

#: Calls of engines of others, and whether quadratic means are made on them.
ENGINES = {
    "dask": (300, True),
    "ray": (300, True),
    "mpi": (0, True),
    "futures": (300, False),
    "spark": (60, False),
    "prefect": (40, False),
    "lithops": (16, False),
    "beam": (24, False),
}

#: What is compared of the seconds of a round, and a target: at most so much, or, below zero, at
#: least. What ranges do and write would be done without an engine, too. Clusters stand already;
#: ranks of MPI start and end with each run, whatever they run.
ENGINE_RATIOS = [
    ("(ours - work) / calls of nothing", lambda s: (s["calls"] - s["work"]) / s["empty"], 1.1),
    ("ours / calls of nothing", lambda s: s["calls"] / s["empty"], None),
    ("means / processes", lambda s: (s["means"] - s.get("start", 0)) / s["processes"], 1.15),
    ("means and start / processes", lambda s: s["start"] and s["means"] / s["processes"], None),
    ("dask array / means", lambda s: s["dask array"] / s["means"], -3),
]


class Bench:
    """What the rows share, and the tables that they fill."""

    def __init__(self, root, data, size, rounds, patience, workers, environments, say):
        self.data, self.size, self.workers = data, size, workers
        self.rounds, self.patience = rounds, patience
        self.cubed = root / "build/release/cubed"
        self.programs = root / "build/release/bench"
        self.scripts = root / "bench"
        self.environments, self.say = environments, say
        self.expected = data / "expected"
        self.main = environments.python("main")
        self.cdo = shutil.which("cdo")
        self.ratios, self.runs, self.notes, self.figures = [], [], [], []
        self.wrong = False
        self._series = None

    def make(self, *args):
        self.say(f"making data: {' '.join(map(str, args))}")
        run([self.main, self.scripts / "data.py", *args])

    def ours(self, verb, *args, mem, output):
        command = [self.cubed, verb, *args, "--allowed-mem", mem, "--max-workers", self.workers]
        command += ["--progress", "none"]
        return Contender("ours", command, output=output, allowance=mem * self.workers)

    def peer(self, environment, name, *args, output, allowance=None, clean=None):
        """None, and a note, where the machine cannot have it."""
        python = self.environments.python(environment)
        if not python:
            return None
        script = self.scripts / f"peer_{environment}.py"
        command = [python, script, *args]
        return Contender(
            name, command, output=output, own_time=True, allowance=allowance, clean=clean
        )

    def cdo_run(self, operators, source, output):
        if not self.cdo:
            note = "no CDO here (Debian: cdo): its ratios are left out"
            if note not in self.notes:
                self.notes.append(note)
            return None
        command = [self.cdo, "-O", "-s", "-b", "F32", *operators, output]
        return Contender("cdo", command, source, output)

    def rounds_of(self, row, source, contenders, rtol=0.0, atol=0.0):
        """Interleaved rounds of those that there are. All results are compared with one of `ours`
        from a run before."""
        contenders = [c for c in contenders if c]
        for c in contenders:
            c.reads = c.reads or source
        ours = next(c for c in contenders if c.name == "ours")
        run(ours.command)
        ours.output.rename(self.expected)

        def compare(c):
            check = [self.main, self.scripts / "data.py", "compare", self.expected, c.output]
            run([*check, rtol, atol])

        results = interleave(contenders, self.rounds, self.patience, compare, self.say)
        remove(self.expected)
        for c in contenders:
            self.add_run(row, c, results[c.name])
        return {k: v for k, v in results.items() if v.samples and not v.failure}

    def add_run(self, row, contender, result):
        name, verdict = contender.name, ""
        if result.failure:
            self.wrong = True
            self.runs.append([row, name, "-", "-", "-", f"FAILED: {result.failure}"])
            return
        allowed = "no bound"
        if contender.allowance:
            allowed = f"{contender.allowance / 1e6:.0f}"
            verdict = "" if result.peak() <= contender.allowance else "MORE THAN ALLOWED"
        self.figures.append(
            {
                "row": row,
                "run": name,
                "command": [str(c) for c in contender.command],
                "seconds": [s.seconds for s in result.samples],
                "peak": result.peak(),
                "allowed": contender.allowance,
            }
        )
        seconds, peak = f"{result.median():.3f}", f"{result.peak() / 1e6:.0f}"
        self.runs.append([row, name, seconds, peak, allowed, verdict])

    def add_ratio(self, row, what, value, target=None, at_most=False, unit=""):
        """`value`: median, least, most. The target is a least value, unless at_most."""
        median, least, most = value
        shown, verdict = "", ""
        if target is not None:
            shown = f"{'<=' if at_most else '>='} {target:g}{unit}"
            verdict = "met" if (median <= target if at_most else median >= target) else "MISSED"
        digits = ".3g" if median < 0.1 else ".2f" if median < 100 else ".0f"
        between = f"{least:{digits}}..{most:{digits}}"
        self.ratios.append([row, what, f"{median:{digits}}{unit}", between, shown, verdict])
        self.figures.append({"row": row, "ratio": what, "value": value, "target": target})

    def series(self):
        """x.zarr and x.nc, made once."""
        if not self._series:
            times = max(48, round(960 * self.size / 24) * 24)
            self.make("series", self.data, times)
            self._series = times
        return self._series


def winds(b):
    """quadratic means of two winds, Zarr to Zarr"""
    times = max(20, round(50 * b.size / 10) * 10)
    for codec in ("none", "blosc-lz4"):
        row = f"a {codec}"
        source, out = b.data / f"winds-{codec}", b.data / "means"
        b.make("winds", source, times, codec)
        inputs = ["--in", f"u={source}::u", "--in", f"v={source}::v"]
        ours = b.ours(
            "eval", MEANS, *inputs, "--out", out, "--codecs", RAW, mem=WINDS_MEM, output=out
        )
        limit = [b.programs / "limits", b.workers, source, "--", b.expected]
        contenders = [Contender("limit", limit, own_time=True), ours]
        upstream = []
        for executor in ("threads", "processes"):
            work, per = b.data / "work", WINDS_MEM
            each = per * b.workers if executor == "threads" else per
            args = (executor, b.workers, per, work, "means", source, out)
            name = f"upstream {executor}"
            peer = b.peer("cubed", name, *args, output=out, allowance=each, clean=work)
            upstream.append(name)
            contenders.append(peer)
        dask = b.peer("dask", "dask", b.workers, "means", source, out, output=out)
        got = b.rounds_of(row, source, [*contenders, dask], rtol=1e-10)
        if "ours" not in got:
            return
        best = min((got[n] for n in upstream if n in got), key=lambda r: r.median(), default=None)
        if best:
            b.add_ratio(row, "upstream's best / ours", ratios(best, got["ours"]), 10)
        if "dask" in got:
            b.add_ratio(row, "Dask / ours", ratios(got["dask"], got["ours"]), 3)
        if "limit" in got:
            b.add_ratio(row, "limit / ours", ratios(got["limit"], got["ours"]), 0.8)
            parts = {
                k: statistics.median(s.figures[k] for s in got["limit"].samples)
                for k in ("read", "decode", "write")
            }
            b.notes.append(
                f"{row}: limit: " + ", ".join(f"{k} {v:.3f} s" for k, v in parts.items())
            )
        remove(source)


def memory(b):
    """sqrt((a-b)**2+c**2) in memory, beside streaming bandwidth"""
    program = b.programs / "memory_bench"
    if not program.exists():
        b.notes.append("b: the limit is written for x86-64 only")
        return
    size = max(256, int(512 * min(1.0, b.size)))
    command = [str(program), str(b.workers), str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        b.wrong = True
        b.notes.append(f"b: FAILED: {done.stderr.strip()}")
        return
    for line in done.stdout.splitlines():
        f = json.loads(line)
        expression = "sqrt((a-b)**2+c**2)"
        if f["sum"]:
            expression = f"sum({expression})"
        least, median, most = f["ratio"]
        what = f"limit ({f['limit_bytes_per_s'] / 1e9:.0f} GB/s) / ours, {expression}"
        b.add_ratio(f"b {f['dtype']}", what, (median, least, most), 0.9)
    allowed = f["arrays"] + 2_000_000_000 * b.workers
    cells = ["b", "ours", "-", f"{f['peak_rss'] / 1e6:.0f}", f"{allowed / 1e6:.0f}"]
    b.runs.append([*cells, f"{f['arrays'] / 1e6:.0f} MB are the arrays"])


def climate(b):
    """monthly float32 series: time mean, anomalies, five operations, exact median; beside CDO, Dask
    and cp"""
    times = b.series()
    zarr, nc = b.data / "x.zarr", b.data / "x.nc"
    works = {
        "timmean": ("mean(x, axis=0)", ["-timmean", nc]),
        "climatology": (ANOMALIES, ["-ymonsub", nc, "-ymonmean", nc]),
        "chain": (
            "sqrt((x-280)**2 + x**2)",
            ["-sqrt", "-add", "-sqr", "-subc,280", nc, "-sqr", nc],
        ),
        # timpctl is for histograms; this one sorts, in a window of all times.
        "median": (
            "median(x, axis=0)",
            ["--percentile", "numpy_linear", f"-runpctl,50,{times}", nc],
        ),
    }
    for name, (expression, operators) in works.items():
        row = f"c {name}"
        out = b.data / "result"
        args = (expression, "--in", f"x={zarr}", "--out", out, "--codecs", RAW)
        ours = b.ours("eval", *args, mem=SERIES_MEM, output=out)
        contenders = [ours, b.cdo_run(operators, nc, b.data / "result.nc")]
        contenders.append(b.peer("dask", "dask", b.workers, name, zarr, out, output=out))
        copied = b.data / "copy" / "x.zarr"
        if name == "chain":
            contenders.insert(
                0,
                Contender(
                    "cp", ["cp", "-r", "--reflink=never", zarr, copied.parent], clean=copied.parent
                ),
            )
        got = b.rounds_of(row, zarr, contenders, rtol=1e-5, atol=2e-4)
        if "ours" not in got:
            continue
        if "cdo" in got:
            b.add_ratio(row, "CDO / ours", ratios(got["cdo"], got["ours"]), 2)
        if "dask" in got:
            b.add_ratio(row, "Dask / ours", ratios(got["dask"], got["ours"]))
        if "cp" in got:
            b.add_ratio(row, "ours / cp", ratios(got["ours"], got["cp"]), 1.3, at_most=True)
    b.notes.append(
        "c climatology: anomalies from the mean of each month; x[m::12] stacked to years x months"
    )
    b.notes.append("c median: CDO's timpctl is of histograms; runpctl over all times is exact")


def tasks(b):
    """cost per task; planning and saving the means of 1.5 TB"""
    rounds = max(5, b.rounds)
    chunks = max(10000, int(1_000_000 * min(1.0, b.size)))
    runs = [run([b.programs / "task_bench", chunks], own_time=True) for _ in range(rounds)]
    cost = spread([1e6 * r.seconds / r.figures["tasks"] for r in runs])
    what = f"per task, {runs[0].figures['tasks']} tasks of one element in memory"
    b.add_ratio("d", what, cost, 20, at_most=True, unit=" us")
    source, saved = b.data / "big", b.data / "plan.cubed"
    b.make("metadata", source)
    inputs = ["--in", f"u={source}::u", "--in", f"v={source}::v", "--out", b.data / "none"]
    command = [b.cubed, "eval", MEANS, *inputs, "--allowed-mem", WINDS_MEM]
    command += ["--max-workers", b.workers]
    plans = [run([*command, "--plan", "--json"]) for _ in range(rounds)]
    total = plans[0].figures
    planning = spread([1e3 * p.seconds for p in plans])
    what = f"planning {total['bytes_read'] / 1e12:.2f} TB, {total['tasks']} tasks, whole process"
    b.add_ratio("d", what, planning, 50, at_most=True, unit=" ms")
    run([*command, "--save-plan", saved, "--work-dir", b.data / "work"])
    size = saved.stat().st_size / 1024
    b.add_ratio("d", "saved plan", (size, size, size), 64, at_most=True, unit=" KiB")
    for name, got in (("tasks", runs), ("plan", plans)):
        allowed = WINDS_MEM * (1 if name == "tasks" else b.workers)
        peak = max(s.peak for s in got)
        seconds = statistics.median(s.seconds for s in got)
        verdict = "" if peak <= allowed else "MORE THAN ALLOWED"
        cells = [f"{seconds:.3f}", f"{peak / 1e6:.0f}", f"{allowed / 1e6:.0f}", verdict]
        b.runs.append(["d", f"ours, {name}", *cells])


def rechunk(b):
    """time-major to space-major"""
    times = b.series()
    source, out, work = b.data / "x.zarr", b.data / "result", b.data / "work"
    chunks = f"{times},30,30"
    args = [source, out, "--chunks", "-1,30,30", "--format", 3, "--codecs", RAW]
    ours = b.ours("rechunk", *args, "--work-dir", work, mem=RECHUNK_MEM, output=out)
    ours.clean = work
    plan = run([*ours.command, "--plan", "--json"]).figures
    nbytes = times * 721 * 1440 * 4
    moved = [(s["bytes_read"] + s["bytes_written"]) / 2 / nbytes for s in plan["stages"]]
    copies = sum(moved)
    copied = b.data / "copy"
    cp = Contender("cp", ["cp", "-r", "--reflink=never", source, copied], clean=copied)
    both = RECHUNK_MEM * b.workers
    rechunker = b.peer(
        "rechunker",
        "rechunker+dask",
        *(b.workers, RECHUNK_MEM, work, source, out, chunks),
        output=out,
        allowance=both,
        clean=work,
    )
    upstream = [
        b.peer(
            "cubed",
            f"upstream {executor}",
            *(executor, b.workers, RECHUNK_MEM, work, "rechunk", source, out, chunks),
            output=out,
            allowance=both if executor == "threads" else RECHUNK_MEM,
            clean=work,
        )
        for executor in ("threads", "processes")
    ]
    got = b.rounds_of("e", source, [cp, ours, rechunker, *upstream])
    if "ours" not in got:
        return
    if "cp" in got:
        value = tuple(copies * v for v in ratios(got["cp"], got["ours"]))
        b.add_ratio("e", f"{copies:.2f} planned copies x cp / ours", value, 0.85)
    for name in ("rechunker+dask", "upstream threads", "upstream processes"):
        if name in got:
            b.add_ratio("e", f"{name} / ours", ratios(got[name], got["ours"]))


def functions(b):
    """functions of the Python package in memory, beside NumPy, Dask and upstream"""
    pythons = {
        "numpy": b.environments.python("dask"),
        "dask": b.environments.python("dask"),
        "upstream": b.environments.python("cubed"),
        "cubed": b.environments.package(),
    }
    if not pythons["cubed"]:
        return
    chunk = max(200, round(2000 * math.sqrt(b.size)))
    script, work = b.scripts / "functions.py", b.data / "work"
    for function, peers in FUNCTIONS.items():
        row = f"f {function}"
        args = (function, 4 * chunk, chunk, b.workers, FUNCTIONS_MEM, work)
        contenders = [
            Contender(
                "ours" if library == "cubed" else library,
                [pythons[library], script, library, *args],
                own_time=True,
                clean=work,
            )
            for library in ("cubed", *peers)
            if pythons[library]
        ]
        results = interleave(contenders, b.rounds, b.patience, lambda c: None, b.say)
        ours = results["ours"]
        for c in contenders:
            result = results[c.name]
            if not result.failure and not ours.failure:
                figures = result.samples[0].figures
                if not math.isclose(figures["sum"], ours.samples[0].figures["sum"], rel_tol=1e-9):
                    result.failure = "another result than ours"
                elif c.name == "ours":
                    c.allowance = int(figures["arrays"] + FUNCTIONS_MEM * b.workers)
            b.add_run(row, c, result)
            if c.name != "ours" and not result.failure and not ours.failure:
                target = 0.9 if (function, c.name) == ("matmul", "numpy") else None
                b.add_ratio(row, f"{c.name} / ours", ratios(result, ours), target)
        if function == "tiny" and not ours.failure:
            micro = spread([1e6 * s.seconds for s in ours.samples])
            b.add_ratio(row, "three elements plus 1", micro, 100, at_most=True, unit=" us")


def workloads(b):
    """the workloads of examples/python by Xarray, on arrays of Cubed and of Dask"""
    python = b.environments.package("workloads")
    if not python:
        return
    script, out, work = b.scripts / "workloads.py", b.data / "result", b.data / "work"
    for name in WORKLOADS:
        row, source = f"g {name}", b.data / f"{name}.zarr"
        b.say(f"making data: {name}")
        run([python, script, "make", name, source, b.size])
        contenders = [
            Contender(
                "ours" if library == "cubed" else library,
                [python, script, library, name, source, out, b.workers, WORKLOADS_MEM, work],
                output=out,
                own_time=True,
                clean=work,
                allowance=WORKLOADS_MEM * b.workers if library == "cubed" else None,
            )
            for library in ("cubed", "dask")
        ]
        limit = [b.programs / "limits", b.workers, source]
        contenders.append(Contender("limit", limit, own_time=True))
        got = b.rounds_of(row, source, contenders, rtol=1e-9, atol=1e-12)
        if "ours" in got and "dask" in got and "limit" in got:
            dask, limit = (ratios(got[name], got["ours"]) for name in ("dask", "limit"))
            # Twice Dask's speed, or most of that of reading and decoding where that is less.
            least = dask[0] / 2 >= limit[0] / 0.75
            b.add_ratio(row, "dask / ours", dask, 2 if least else None)
            what = "reading and decoding / ours"
            b.add_ratio(row, what, limit, None if least else 0.75)
            b.add_ratio(row, "peak memory, dask / ours", peaks(got["dask"], got["ours"]))
        remove(source)


def compressed(b):
    """compressed arrays on the disk, beside Blosc2, numexpr, zarrs and TensorStore"""
    python = b.environments.package("compressed")
    if not python:
        return
    chunk = max(250, round(2000 * math.sqrt(b.size)))
    script, data = b.scripts / "compressed.py", b.data / "compressed"
    run([python, script, "make", 4 * chunk, chunk, data])
    for work, (peers, target) in COMPRESSED.items():
        row = f"h {work}"
        args = (work, 4 * chunk, chunk, b.workers, FUNCTIONS_MEM, data)
        contenders = [
            Contender(
                "ours" if library == "cubed" else library,
                [python, script, library, *args],
                reads=data,
                own_time=True,
                allowance=FUNCTIONS_MEM * b.workers if library == "cubed" else None,
            )
            for library in ("cubed", *peers)
        ]
        results = interleave(contenders, b.rounds, b.patience, lambda c: None, b.say)
        check_sums(results)
        for c in contenders:
            b.add_run(row, c, results[c.name])
        for peer in peers:
            if not (results[peer].failure or results["ours"].failure):
                b.add_ratio(row, f"{peer} / ours", ratios(results[peer], results["ours"]), target)
    remove(data)


def check_sums(results):
    """Fails each peer whose sum differs from ours."""
    ours = results["ours"]
    for result in results.values():
        if ours.failure or result.failure or not result.samples or not ours.samples:
            continue
        mine, other = (r.samples[0].figures["sum"] for r in (ours, result))
        if not math.isclose(mine, other, rel_tol=1e-9, abs_tol=1e-6):
            result.failure = f"the sum is {other!r}, ours {mine!r}"


def engines(b):
    """what a call costs on engines of others, and quadratic means on some of them"""
    python = b.environments.package("engines")
    if not python:
        return
    # 20 GB at size 1.
    work, size = b.data / "engines", max(60, round(125 * b.size) * 10)
    for kind, (calls, has_means) in ENGINES.items():
        row = f"i {kind}"
        if kind == "mpi" and not (shutil.which("mpicc") and shutil.which("mpirun")):
            b.notes.append(f"{row}: no MPI here (Debian: libopenmpi-dev)")
            continue
        args = (kind, calls, has_means * size, b.workers, b.rounds, work, b.cubed)
        command = [str(x) for x in (python, b.scripts / "engines.py", *args)]
        b.say(" ".join(command[1:]))
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            b.wrong = True
            lines = done.stderr.strip().splitlines() or [f"ended by {done.returncode}"]
            b.notes.append(f"{row}: FAILED: {lines[-1]}")
            continue
        seconds = json.loads(done.stdout.splitlines()[-1])
        rounds = [dict(zip(seconds, x, strict=True)) for x in zip(*seconds.values(), strict=True)]
        for what, ratio, target in ENGINE_RATIOS:
            with contextlib.suppress(KeyError):
                each, at_most = spread([ratio(x) for x in rounds]), target is None or target > 0
                b.add_ratio(row, what, each, target and abs(target), at_most=at_most)
        for what, took in seconds.items():
            cells = [f"{statistics.median(took):.3f}", "-", "not measured", ""]
            if what in ("empty", "calls", "work"):
                cells[-1] = f"{1000 * statistics.median(took) / calls:.1f} ms for each of {calls}"
            b.runs.append([row, what, *cells])
    remove(work)


def make_weights(b, nc):
    """Conservative weights from 0.25 to 1 degree: ours and CDO's. Returns the file of ours."""
    row, kept, again = "j weights", b.data / "weights.nc", b.data / "weights_again.nc"
    remove(kept)
    run(b.ours("gencon,r360x180", nc, kept, mem=SERIES_MEM, output=kept).command)
    ours = b.ours("gencon,r360x180", nc, again, mem=SERIES_MEM, output=again)
    first = ["-gencon,r360x180", "-seltimestep,1", nc]
    contenders = [c for c in (ours, b.cdo_run(first, nc, b.data / "weights_cdo.nc")) if c]
    got = interleave(contenders, b.rounds, b.patience, lambda _: None, b.say)
    for c in contenders:
        b.add_run(row, c, got[c.name])
    if all(name in got and got[name].samples for name in ("ours", "cdo")):
        b.add_ratio(row, "CDO / ours", ratios(got["cdo"], got["ours"]), 1)
    return kept


def regrid(b):
    """the series from 0.25 to 1 degree: conservative weights, and their application; beside CDO,
    and the sparse product of xESMF on Dask"""
    b.series()
    row, zarr, nc = "j apply", b.data / "x.zarr", b.data / "x.nc"
    weights, out = make_weights(b, nc), b.data / "result.nc"
    words = (f"remap,r360x180,{weights}", nc, out, "--deflate", "0")
    contenders = [
        b.ours(*words, mem=SERIES_MEM, output=out),
        b.cdo_run([f"-remap,r360x180,{weights}", nc], nc, b.data / "result_cdo.nc"),
    ]
    result = b.data / "result"
    contenders.append(
        b.peer("dask", "dask", b.workers, "regrid", zarr, result, weights, output=result)
    )
    got = b.rounds_of(row, zarr, contenders, rtol=1e-5, atol=2e-4)
    for name, what, target in (("cdo", "CDO / ours", 2), ("dask", "Dask / ours", 3)):
        if name in got and "ours" in got:
            b.add_ratio(row, what, ratios(got[name], got["ours"]), target)
    remove(weights)


ROWS = {
    "a": winds,
    "b": memory,
    "c": climate,
    "d": tasks,
    "e": rechunk,
    "f": functions,
    "g": workloads,
    "h": compressed,
    "i": engines,
    "j": regrid,
}
