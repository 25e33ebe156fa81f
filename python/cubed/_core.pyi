"""The engine. Its functions check few arguments: use the package. Written by tools/generate."""

from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, Literal, TypedDict

# Names that functions accept as arguments.
Operation = Literal[
    "add",
    "subtract",
    "multiply",
    "divide",
    "pow",
    "minimum",
    "maximum",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_not",
    "negative",
    "abs",
    "square",
    "sqrt",
    "exp",
    "log",
    "isnan",
    "where",
    "random_uniform",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "expm1",
    "log1p",
    "log2",
    "log10",
    "reciprocal",
    "atan2",
    "hypot",
    "logaddexp",
    "copysign",
    "nextafter",
    "floor",
    "ceil",
    "trunc",
    "round",
    "sign",
    "positive",
    "signbit",
    "isfinite",
    "isinf",
    "conj",
    "real",
    "imag",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "floor_divide",
    "remainder",
    "random_blocks",
    "random_blocks_f32",
    "random_normal",
    "random_exponential",
    "random_integers",
    "stdtr",
]
Reduction = Literal[
    "sum",
    "prod",
    "min",
    "max",
    "mean",
    "var",
    "std",
    "all",
    "any",
]
NanReduction = Literal[
    "nansum",
    "nanprod",
    "nanmin",
    "nanmax",
    "nanmean",
    "nanvar",
    "nanstd",
    "nanall",
    "nanany",
]
PadMode = Literal[
    "constant",
    "edge",
    "empty",
    "linear_ramp",
    "maximum",
    "mean",
    "median",
    "minimum",
    "reflect",
    "symmetric",
    "wrap",
]
QuantileMethod = Literal[
    "linear",
    "lower",
    "higher",
    "midpoint",
    "nearest",
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "median_unbiased",
    "normal_unbiased",
]
AnyReduction = Reduction | NanReduction | Literal["count_nonzero"]
Drawing = Literal["svg", "dot", "table", "inside"]
Chart = Literal["timeline", "memory", "progress"]

# Arguments of blockwise. An input has an array, symbols, chunks and a halo; an output has a type,
# shape, chunks and symbols.
BlockInput = tuple[
    Array, Sequence[int], Sequence[int | tuple[int, ...]], tuple[tuple[int, int, bool], ...]
]
BlockOutput = tuple[str, Sequence[int], Sequence[int | tuple[int, ...]], Sequence[int]]

# Returned by eval for an axis whose coordinate is not the input's: the dimension; first element,
# length and step of the remaining part; length of the whole coordinate; whether a coordinate
# describes the elements; the computed coordinate.
ExpressionCoordinate = tuple[str, int, int, int, int, bool, Array | None]

version: str
libraries: str
distribution: str
new_file_store: str

class TaskMem(int): ...

class Array:
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def chunks(self) -> tuple[int, ...]: ...
    @property
    def irregular(self) -> tuple[bool, ...]: ...
    @property
    def num_chunks(self) -> tuple[int, ...]: ...
    @property
    def longest_chunks(self) -> tuple[int, ...]: ...
    @property
    def all_chunks(self) -> tuple[tuple[int, ...], ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def attrs(self) -> str: ...
    @property
    def held(self) -> tuple[Any, ...]: ...
    @property
    def dim_names(self) -> tuple[str | None, ...]: ...
    @property
    def missing_value(self) -> bytes | None: ...
    @property
    def address(self) -> int: ...
    def dump(self) -> bytes: ...

class Target(TypedDict, total=False):
    url: str
    writes: str | None
    zarr_format: int
    codecs: str | None
    name: str | None
    chunks: Sequence[int] | None
    shards: Sequence[int] | None
    region: Sequence[int] | None
    region_lo: Sequence[int]
    region_hi: Sequence[int]
    skip_empty: bool
    durable: bool
    overwrite: bool

class Plan:
    def __new__(
        cls,
        targets: tuple[tuple[Array, Target | None], ...],
        allowed_mem: int = ...,
        reserved_mem: int = ...,
        max_workers: int = ...,
        work_dir: str | None = ...,
        optimize: bool = ...,
        share_tasks: bool = ...,
        reserve_a_quarter: bool = ...,
        other_machines: bool = ...,
        compile: Callable[[bytes], bytes] | None = ...,
        partials: str | None = ...,
    ) -> Plan: ...
    def block(self, stage: int, task: int, /) -> tuple[int, ...]: ...
    def draw(self, format: Drawing, /) -> str: ...
    def requests(self, apart: bool, /) -> str: ...
    def record(self, apart: bool, /) -> None: ...
    def chart(self, name: Chart, /) -> str: ...
    def report(self, executor: str, error: str | None, /) -> str: ...
    def status(self, executor: str, state: str, error: str | None, /) -> str: ...
    def run(
        self,
        results: tuple[Any, ...],
        executor: str | None,
        *,
        retries: int = ...,
        backups: bool = ...,
        task_timeout_ms: int = ...,
        resume: bool = ...,
        keep: int = ...,
        silence: int = ...,
        take_over: bool = ...,
        command: tuple[str, ...] = ...,
        engine: object = ...,
        callback: Callable[[dict[str, Any]], object] | None = ...,
        update: bool = ...,
    ) -> dict[str, Any]: ...
    def last_run(self) -> dict[str, Any]: ...
    def save(self) -> bytes: ...
    @classmethod
    def load(cls, data: bytes, code: bool, /) -> Plan: ...
    @classmethod
    def fetch(cls, work_dir: str, key: str, /) -> Plan: ...
    def work(
        self, message: bytes, limits_memory: bool, time_ms: int, skip_done: bool, /
    ) -> bytes: ...
    @classmethod
    def check(
        cls,
        counts: tuple[int, ...],
        targets: tuple[tuple[Array, Target | None], ...],
        limits: dict[str, Any],
        /,
    ) -> None: ...
    @classmethod
    def netcdf_mem(cls, targets: tuple[tuple[Array, Target | None], ...], /) -> int: ...
    def load_functions(self) -> None: ...
    def stop(self) -> None: ...
    def is_stuck(self) -> bool: ...
    def id(self) -> str: ...
    def info(self) -> dict[str, Any]: ...
    def warnings(self) -> list[str]: ...
    def stages(self) -> list[dict[str, Any]]: ...
    def targets(self) -> list[dict[str, Any]]: ...
    def traffic(
        self, apart: bool, prices: dict[str, tuple[float, float, float, float]], /
    ) -> list[dict[str, Any]]: ...
    def origins(self, stage: int, /) -> tuple[int, ...]: ...

def blockwise(
    params: bytes, inputs: tuple[BlockInput, ...], outputs: tuple[BlockOutput, ...], /
) -> tuple[Array, ...]: ...
def unpack(
    x: Array,
    stored: str,
    missing: tuple[tuple[str, bytes, bool], ...],
    fill: tuple[str, bytes, bool],
    scale: tuple[str, bytes, bool] | None,
    offset: tuple[str, bytes, bool] | None,
    /,
) -> Array: ...
def decode(x: Array, /) -> Array: ...
def join_characters(x: Array, /) -> Array: ...
def add_executor(
    name: str,
    remote: bool,
    max_message_bytes: int,
    range_ms: int,
    ramp_workers: int,
    ramp_per_second: int,
    /,
) -> None: ...
def eval(
    text: str,
    names: tuple[str, ...],
    arrays: tuple[Array, ...],
    coordinate: Callable[[str, str | None], Array | None],
    count: Callable[[int, Array, int], tuple[Array, int]],
    task_mem: int,
    named: bool,
    /,
) -> tuple[tuple[Array, ...], tuple[tuple[ExpressionCoordinate | None, ...], ...]]: ...
def eval_names(text: str, /) -> list[tuple[str, bool]]: ...
def interrupt_calls(exception: type[BaseException], /) -> None: ...
def parse_bytes(text: str, /) -> int | None: ...
def forked() -> None: ...
def private_mem() -> int: ...
def resident_kinds() -> tuple[int, int]: ...
def code_count(anonymous: int, files: int, /) -> None: ...
def code_measured(resident: int, /) -> None: ...
def code_above(limit: int, /) -> int: ...
def executors() -> dict[str, dict[str, Any]]: ...
def resident_mem() -> int: ...
def machine_mem() -> int: ...
def serve_lambda(api: str, /) -> None: ...
def serve(fd: int, load: Any, /) -> None: ...
def origin(number: int, /) -> tuple[CodeType, int] | None: ...
def note_origins(package: str | None, /) -> bool: ...
def call(name: str, /, *values: Any) -> Any: ...
def call_as(called: str, name: str, /, *values: Any) -> Any: ...
def call_offsets(name: str, /, *values: Any) -> tuple[Array | None, int]: ...
def elementwise(name: Operation, /, *args: Array) -> Array: ...
def result_type(a: str, b: str, /) -> str | None: ...
def coordinate_kind(name: str, attrs: str | None, /) -> str: ...
def units_are_radians(units: str, /) -> bool: ...
def open_grid(
    place: str, /
) -> tuple[tuple[Array | None, ...], bool, tuple[str, str, str, str]]: ...
def parse_grid(
    text: str, /
) -> tuple[tuple[Array | None, ...], bool, tuple[str, str, str, str]]: ...
def rotated_pole(attrs: str, /) -> tuple[float, float, float] | None: ...
def rotated_grid(
    axes: tuple[Array, ...], pole: tuple[float, float, float], /
) -> tuple[Array, ...]: ...
def read_weights(
    find: Callable[[str], Array | None],
    name: str,
    source_shape: Sequence[int],
    target_shape: Sequence[int],
    memory: int,
    /,
) -> tuple[tuple[Array, ...], tuple[int, ...], tuple[int, ...]]: ...
def weights_parts(
    links: tuple[Array, ...],
    source_shape: Sequence[int],
    target_shape: Sequence[int],
    source: tuple[Array, ...],
    target: tuple[Array, ...],
    source_unstructured: bool,
    target_unstructured: bool,
    method: str,
    /,
) -> tuple[list[tuple[str, Array]], str]: ...
def with_attrs(x: Array, attrs: str, /) -> Array: ...
def with_dim_names(x: Array, names: tuple[str, ...], /) -> Array: ...
def getitem(x: Array, key: tuple[Any, ...], in_front: bool, /) -> Array: ...
def assign_where(x: Array, mask: Array, value: Array, /) -> Array: ...
def setitem(x: Array, key: tuple[Any, ...], value: Array, checked: bool, /) -> Array: ...
def rechunk(x: Array, chunks: Sequence[int | tuple[int, ...] | None], /) -> Array: ...
def begin_file(
    path: str, contents: str, replace: bool, resume: bool, take_over: bool, silence: int, /
) -> object: ...
def end_file(file: object, /) -> None: ...
def publish_file(file: object, netcdf: bool, /) -> None: ...
def file_kind(url: str, /) -> str: ...
def hold_place(url: str, silence: int, take_over: bool, /) -> object: ...
def make_group(url: str, zarr_format: int, attrs: str, overwrite: bool, /) -> None: ...
def member(url: str, name: str, /) -> str: ...
def hide_secrets(text: str, /) -> str: ...
def members(url: str, consolidated: bool, /) -> tuple[int, str, list[tuple[str, bool]]]: ...
def place(url: str, /) -> tuple[str, str, str]: ...
def read_object(url: str, most: int, /) -> bytes: ...
def remove_result(url: str, /) -> None: ...
def region_target(x: Array, into: Array, start: Sequence[int], /) -> tuple[Array, Target]: ...
def storage_option(url: str, name: str | None, value: str | None, /) -> None: ...
def storage_options() -> str: ...
def take_storage_options(text: str, /) -> None: ...
def write_object(url: str, data: bytes, /) -> None: ...
def hold(x: Array, object: Any, /) -> Array: ...
def from_reader(
    reader: Any, dtype: str, shape: Sequence[int], chunks: Sequence[int], /
) -> Array: ...
def record(function: Callable[..., Any], /, *args: Any) -> Any: ...
def load_array(data: bytes, allow_code: bool, /) -> Array: ...
def from_memory(
    buffer: Any,
    dtype: str,
    shape: Sequence[int],
    strides: Sequence[int],
    offset: int,
    chunks: Sequence[int] | None,
    made: bool,
    /,
) -> Array: ...
def open(url: str, /) -> Array: ...
def open_parts(urls: tuple[str, ...], dim: str | None, /) -> Array: ...
def full(
    dtype: str, shape: Sequence[int], chunks: Sequence[int] | None, value: Any, /
) -> Array: ...
def set_fields(x: Array, fields: str, /) -> None: ...
def yield_chunks(x: Array, /) -> None: ...
def index(shape: Sequence[int], chunks: Sequence[int] | None, start: int, /) -> Array: ...
def ramp(
    type: str, start: float, step: float, n: int, dtype: str, chunks: Sequence[int] | None, /
) -> Array: ...
