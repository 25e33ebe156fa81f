"""Calls every function of the engine's module with arguments of every kind.

    python random_calls.py SEED CALLS [PATH_OF_THE_MODULE]

A call returns or raises; SystemError (a function that returned nothing without saying why, or
something and an exception) and crashes are bugs. Where the module is given the package is not
imported: of a build with AddressSanitizer, for example. What is called is in the file "last-call"
before it is.
"""

from __future__ import annotations

import ast
import functools
import os
import pathlib
import random
import sys
import time
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = ROOT / "python/cubed/_core.pyi"
#: A call of it waits for a driver.
LEFT_OUT = {"serve"}
#: Larger plans are made, but not run.
MOST_ELEMENTS, MOST_CHUNKS, MOST_WORK = 1 << 16, 1 << 12, 1 << 22


class Failing:
    """An object whose every method that the interpreter calls raises, or gives nonsense."""

    def __init__(self, rng: random.Random):
        self.answer = rng.choice([ValueError("no"), KeyError(1), -1, None, "x", 2.5, 10**30])

    def _say(self, *args):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    __index__ = __int__ = __float__ = __len__ = __bool__ = __getitem__ = __iter__ = _say
    __call__ = __contains__ = __complex__ = _say
    itemsize, factor, extra = 8, 2.0, 1.0


class Liar:
    """A sequence that is shorter or longer than it says."""

    def __init__(self, rng: random.Random):
        self.length, self.real = rng.randrange(20), rng.randrange(20)

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        if i >= self.real:
            raise IndexError(i)
        return i


class Reader:
    """Reads fives, or fails."""

    itemsize, factor, extra = 8, 2.0, 1000.0

    def __init__(self, rng: random.Random):
        self.mood = rng.randrange(6)
        if self.mood == 1:
            self.itemsize = rng.choice([0, -8, 3, 2**62, float("nan"), "x"])
        self.kept = None

    def __call__(self, memory, offset, shape, strides):
        if self.mood == 2:
            raise OSError("gone")
        if self.mood == 3:
            return "nonsense"
        if self.mood == 4:
            raise Failing
        if len(memory):
            memory[:] = b"\5" * len(memory)
        return None

    def dump(self):
        if self.mood == 5:
            return "no bytes"
        return b"bytes"


def load_module(path: str):
    loader = ExtensionFileLoader("cubed._core", path)
    spec = spec_from_loader("cubed._core", loader)
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


class Caller:
    def __init__(self, core, seed: int):
        self.core = core
        self.rng = random.Random(seed)
        self.arrays, self.plans, self.blobs = [], [], [b"", b"x", b"CUBED"]
        self.names = self.find_names()
        self.words = self.find_words()
        self.annotations = self.find_annotations()
        self.log = os.open("last-call", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        self.counts = {"returned": 0, "raised": 0, "runs": 0}
        self.slowest = (0.0, b"")
        for shape in ((), (0,), (5,), (3, 4), (2, 0, 3), (4, 4), (2, 3, 4)):
            self.keep(core.full("float64", shape, None, 1.5))
            self.keep(core.index(shape, None, 0))

    @staticmethod
    def find_names() -> dict[str, list[str]]:
        """By type the names that it is of: of operations, reductions and others."""
        found: dict[str, list[str]] = {}

        def names(node) -> list[str]:
            if isinstance(node, ast.BinOp):
                return names(node.left) + names(node.right)
            if isinstance(node, ast.Name):
                return found.get(node.id, [])
            return [n.value for n in ast.walk(node.slice) if isinstance(n, ast.Constant)]

        for node in ast.parse(NAMES.read_text()).body:
            if isinstance(node, ast.Assign) and "Literal" in ast.unparse(node.value):
                found[node.targets[0].id] = names(node.value)
        return found

    def find_words(self) -> list[str]:
        """What means something to the engine: names, and types."""
        words = {name for names in self.names.values() for name in names}
        more = """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64
            complex64 complex128 datetime64[ns] timedelta64[D] S3 U2 bytes3 svg dot"""
        return sorted(words | set(more.split()))

    @staticmethod
    def find_annotations() -> dict[str, list[str]]:
        """The types of parameters, by function; of plans' methods as "Plan.run"."""
        found = {}

        def add(prefix: str, body):
            for node in body:
                if isinstance(node, ast.FunctionDef):
                    args = [*node.args.posonlyargs, *node.args.args]
                    own = [ast.unparse(a.annotation) if a.annotation else "self" for a in args]
                    if node.args.vararg:
                        own += ["Array"] * 2
                    found[prefix + node.name] = own
                elif isinstance(node, ast.ClassDef):
                    add(node.name + ".", node.body)

        add("", ast.parse(NAMES.read_text()).body)
        return found

    # --- Values ---------------------------------------------------------------------------------

    def keep(self, value) -> None:
        values = value if isinstance(value, tuple) else (value,)
        for v in values:
            if isinstance(v, self.core.Array):
                if len(self.arrays) < 60:
                    self.arrays.append(v)
                else:
                    self.arrays[self.rng.randrange(60)] = v
            elif isinstance(v, self.core.Plan):
                self.plans = [*self.plans[-9:], v]
            elif isinstance(v, bytes) and 20 < len(v) < 20_000:
                self.blobs = [*self.blobs[-9:], v]

    def integer(self) -> int:
        r = self.rng
        if r.random() < 0.8:
            return r.randrange(-2, 7)
        return r.choice(
            [2**31 - 1, -(2**31), 2**31, 2**63 - 1, -(2**63), 2**63, 2**64, 10**30, 10**12]
        )

    def number(self) -> float:
        return self.rng.choice(
            [0.0, -0.0, 1.0, -2.5, 0.1, 1e308, 5e-324, float("nan"), float("inf")]
        )

    def text(self) -> str:
        r = self.rng
        if r.random() < 0.8:
            return r.choice(self.words)
        return r.choice(
            ["", "x", "nonsense", "\0", "a\0b", "\ud800", "é" * 600, "f" * 5000, "é", "none.zarr"]
        )

    def data(self) -> bytes:
        r = self.rng
        b = bytearray(r.choice(self.blobs))
        for _ in range(r.choice([0, 0, 1, 3, 30])):
            if b:
                b[r.randrange(len(b))] = r.choice([0, 1, 127, 128, 255, r.randrange(256)])
        return bytes(b[: r.randrange(len(b) + 1)] if b and r.random() < 0.2 else b)

    def shape(self) -> tuple[int, ...]:
        r = self.rng
        few = tuple(r.randrange(0, 5) for _ in range(r.choice([0, 1, 1, 2, 2, 3, 4])))
        if r.random() < 0.15:
            few += (r.choice([10**6, 10**12, 2**62, -1, 2**63]),)
        return few + (2,) * 70 if r.random() < 0.01 else few

    def anything(self, depth: int = 0):
        r = self.rng
        kind = r.randrange(19 if depth < 3 else 11)
        makers = [
            self.integer, self.number, self.text, self.data, lambda: None,
            lambda: r.random() < 0.5, self.array, self.shape, lambda: Failing(r),
            lambda: complex(self.number(), self.number()), lambda: r.choice([int, ..., self, len]),
            lambda: [self.anything(depth + 1) for _ in range(r.randrange(4))],
            lambda: tuple(self.anything(depth + 1) for _ in range(r.randrange(4))),
            lambda: {self.text(): self.anything(depth + 1) for _ in range(r.randrange(3))},
            lambda: Liar(r), lambda: Reader(r), lambda: np.arange(float(r.randrange(20))),
            lambda: slice(*(r.choice([None, self.integer()]) for _ in range(3))),
            lambda: r.choice([iter([1, 2]), range(3), bytearray(16), memoryview(b"abcdefgh"), {1}]),
        ]  # fmt: skip
        return makers[kind]()

    def array(self):
        return self.rng.choice(self.arrays)

    def plan_target(self):
        r = self.rng
        options = {
            "url": r.choice(["out.zarr", "other.zarr::a/b", self.text()]),
            "zarr_format": r.choice([2, 3, self.integer()]),
            "codecs": r.choice([None, self.text()]),
            "chunks": r.choice([None, self.shape()]),
            "shards": r.choice([None, self.shape()]),
            "region": r.choice([None, self.shape()]),
            "overwrite": True,
            "skip_empty": r.random() < 0.5,
        }
        if r.random() < 0.3:
            options[r.choice(list(options))] = self.anything()
        few = {k: v for k, v in options.items() if r.random() < 0.6}
        return self.array(), r.choice([None, None, few])

    def operand(self, output: bool):
        """Of blockwise: as it should be, nearly."""
        r = self.rng
        a = self.array()
        symbols = tuple(r.randrange(0, 4) for _ in a.shape)
        chunks = tuple(max(1, c) for c in a.chunks)
        if output:
            return (self.text(), a.shape, chunks, symbols)
        return (a, symbols, chunks, tuple((r.randrange(2), r.randrange(2), False) for _ in a.shape))

    def of(self, annotation: str):
        """A value that may be right."""
        r = self.rng
        if r.random() < 0.04:
            return self.anything()
        options = [part.strip() for part in annotation.split("|")]
        if annotation.count("[") != sum(p.count("[") for p in options) or any(
            p.count("[") != p.count("]") for p in options
        ):
            options = [annotation]
        kind = r.choice(options)
        if kind in self.names and r.random() < 0.9:
            return r.choice(self.names[kind])
        if kind == "str" or kind in self.names:
            return self.text()
        if kind == "int":
            return self.integer()
        if kind == "float":
            return self.number() if r.random() < 0.6 else self.integer()
        if kind == "bool":
            return r.random() < 0.5
        if kind == "Array":
            return self.array()
        if kind == "bytes":
            return self.data()
        if kind == "None":
            return None
        if kind == "Sequence[int]" or kind.startswith("Sequence[int |"):
            return self.shape() if r.random() < 0.5 else tuple(range(r.randrange(4)))
        if kind == "Sequence[float]":
            return sorted(abs(self.number()) for _ in range(r.randrange(4)))
        if kind.startswith("tuple[Array"):
            return tuple(r.choice([self.array(), None]) for _ in range(r.randrange(4)))
        if kind.startswith("tuple[tuple[Array, Target"):
            return tuple(self.plan_target() for _ in range(r.randrange(1, 3)))
        if kind.startswith("tuple[BlockInput"):
            return tuple(self.operand(False) for _ in range(r.randrange(3)))
        if kind.startswith("tuple[BlockOutput"):
            return tuple(self.operand(True) for _ in range(r.randrange(1, 3)))
        if kind == "tuple[Any, ...]":  # a key of slice
            return tuple(
                r.choice([r.randrange(-2, 4), slice(None), slice(1, None), slice(None, None, -1)])
                for _ in range(r.randrange(4))
            )
        assert kind in ("Any", "object") or "[" in kind, f"there are no values of {kind}"
        return self.anything()

    def arguments(self, name: str, annotations: list[str]) -> list:
        r = self.rng
        args = [self.of(a) for a in annotations if a != "self"]
        if name == "from_reader" and r.random() < 0.8:
            shape = tuple(r.randrange(0, 5) for _ in range(r.randrange(3)))
            args = [Reader(r), "float64", shape, tuple(max(1, n // 2) for n in shape)]
        if name == "from_memory" and r.random() < 0.7:
            shape = tuple(r.randrange(0, 4) for _ in range(r.randrange(3)))
            strides = tuple(r.choice([8, 16, -8, 1, 0, self.integer()]) for _ in shape)
            memory = np.arange(float(r.randrange(40)))
            args = [memory, "float64", shape, strides, r.choice([0, 8]), None]
        if args and r.random() < 0.1:
            args[r.randrange(len(args))] = self.anything()
        if r.random() < 0.02:
            args = args[:-1] if r.random() < 0.5 else [*args, self.anything()]
        return args

    # --- Calls ----------------------------------------------------------------------------------

    def functions(self) -> list:
        core = self.core
        own = [
            (name, getattr(core, name), own)
            for name, own in self.annotations.items()
            if "." not in name and name not in LEFT_OUT
        ]
        missing = {n for n in dir(core) if callable(getattr(core, n)) and not n.startswith("_")}
        missing -= {n for n, _, _ in own} | {"Array", "Plan", "TaskMem", "Function"} | LEFT_OUT
        assert not missing, f"not in _core.pyi: {missing}"
        return own

    def small(self, plan) -> bool:
        i = plan.info()
        if i["num_tasks"] > 64 or i["bytes_read"] + i["bytes_written"] > 1 << 20:
            return False
        # Of arrays that are never stored a little may be read, and all of it computed.
        work = sum(n for stage in plan.stages() for _, n, _ in stage["operations"])
        return work <= MOST_WORK

    def run_plan(self):
        """Of a small plan: with results as they should be, or nearly."""
        r = self.rng
        plan = r.choice(self.plans)
        if not self.small(plan):
            return plan.info, (), {}
        results = tuple(np.empty(r.choice([0, 8, 40, 96]), np.uint8) for _ in range(r.randrange(3)))
        executor = r.choice(["threads", "single-threaded", None, self.text()])
        options = {"retries": r.choice([0, 1, -1]), "resume": False, "take_over": False}
        if r.random() < 0.3:
            options["callback"] = functools.partial(self.heard, r.random() < 0.1)
        if r.random() < 0.2:  # without a command for workers, which would be any program
            keys = "keep silence task_timeout_ms engine x"
            options[r.choice(keys.split())] = self.anything()
        return plan.run, (results, executor), options

    @staticmethod
    def heard(fails: bool, event: dict) -> None:
        if fails:
            raise LookupError("a callback fails")

    def compute(self):
        """What an array's elements are: a plan over it alone."""
        a = self.array()
        size = int(np.prod([float(n) for n in a.shape], initial=1.0))
        if size > MOST_ELEMENTS or np.prod(self.chunk_counts(a), initial=1.0) > 64:
            return getattr, (a, "dtype")
        plan = self.core.Plan(((a, None),), allowed_mem=10**8, reserved_mem=10**6)
        if not self.small(plan):
            return plan.stages, ()
        item = 64 if "U" in a.dtype or "S" in a.dtype or "bytes" in a.dtype else 16
        need = plan.info().get("result_bytes", size * item)
        memory = np.empty(max(need, size * item), np.uint8)
        return plan.run, ((memory,), "single-threaded")

    @staticmethod
    def chunk_counts(a) -> list[int]:
        return [-(-n // max(1, c)) for n, c in zip(a.shape, a.chunks, strict=True)]

    def next_call(self, functions: list):
        r = self.rng
        kind = r.random()
        if kind < 0.72:
            name, function, annotations = r.choice(functions)
            return name, function, self.arguments(name, annotations), {}
        if kind < 0.80:
            a = self.array()
            many = max(self.chunk_counts(a), default=0)
            names = ["shape", "chunks", "irregular", "dtype", "attrs", "dim_names", "missing_value"]
            name = r.choice([*names, *(["all_chunks"] if many < MOST_CHUNKS else [])])
            return f"Array.{name}", getattr, (a, name), {}
        if kind < 0.84:
            return "Array.dump", self.array().dump, (), {}
        if kind < 0.88 or not self.plans:
            args = [self.of("tuple[tuple[Array, Target | None], ...]")]
            kwargs = {"allowed_mem": r.choice([10**8, 10**6, self.integer()])}
            if r.random() < 0.2:
                keys = "reserved_mem max_workers work_dir optimize share_tasks x"
                kwargs[r.choice(keys.split())] = self.anything()
            return "Plan", self.core.Plan, args, kwargs
        if kind < 0.91:
            return "Plan.run", *self.run_plan()
        if kind < 0.95:
            name, (function, args) = "compute", self.compute()
            return name, function, args, {}
        plan = r.choice(self.plans)
        methods = {
            "save": [], "draw": ["str"], "record": [], "chart": ["str"], "info": [], "stages": [],
            "report": ["str", "str | None"], "origins": ["int"], "load": ["bytes", "bool"],
        }  # fmt: skip
        name = r.choice(list(methods))
        return f"Plan.{name}", getattr(plan, name), self.arguments(name, methods[name]), {}

    def run(self, calls: int) -> None:
        functions = self.functions()
        for i in range(calls):
            try:
                name, function, args, kwargs = self.next_call(functions)
            except (MemoryError, ValueError, OSError, NotImplementedError, RuntimeError):
                continue  # making the arguments
            text = f"{i} {name}{args!r:.2000} {kwargs!r:.500}".encode(errors="replace")
            os.ftruncate(self.log, 0)
            os.pwrite(self.log, text, 0)
            before = time.perf_counter()
            try:
                result = function(*args, **kwargs)
            except SystemError:
                print(f"call {text.decode(errors='replace')}", flush=True)
                raise
            except BaseException as e:
                self.counts["raised"] += 1
                if isinstance(e, KeyboardInterrupt):
                    raise
            else:
                self.counts["returned"] += 1
                self.counts["runs"] += getattr(function, "__name__", "") == "run"
                self.keep(result)
            self.slowest = max(self.slowest, (time.perf_counter() - before, text))


def main() -> None:
    seed, calls = int(sys.argv[1]), int(sys.argv[2])
    if len(sys.argv) > 3:
        core = load_module(sys.argv[3])
    else:
        from cubed import _core as core
    caller = Caller(core, seed)
    caller.run(calls)
    seconds, call = caller.slowest
    print(caller.counts, f"slowest {seconds:.3f} s: {call[:200].decode()}")


if __name__ == "__main__":
    main()
