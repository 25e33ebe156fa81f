"""Resources of computations: memory, directories, stores and executors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from cubed import _core
from cubed.base._bytes import format_bytes, parse_bytes
from cubed.base._remote import hidden, secret_names, shown
from cubed.base._stores import in_memory, place_of
from cubed.base._warnings import warn

#: Executors by name: the module in `cubed.runtime.executors` and the class.
EXECUTORS = {
    "threads": "local:ThreadsExecutor",
    "single-threaded": "local:SingleThreadedExecutor",
    "processes": "local:ProcessesExecutor",
    "lambda": "aws_lambda:LambdaExecutor",
    "http": "http_endpoints:HttpExecutor",
    "futures": "futures:FuturesExecutor",
    "dask": "dask:DaskExecutor",
    "lithops": "lithops:LithopsExecutor",
    "ray": "ray:RayExecutor",
    "spark": "spark:SparkExecutor",
    "beam": "beam:BeamExecutor",
    "prefect": "prefect:PrefectExecutor",
    "modal": "modal:ModalExecutor",
    "coiled": "coiled:CoiledExecutor",
}


class Spec:
    """Memory limits, directories and executor of computations. Values that are not given are those
    of ``cubed.config``.

    Parameters
    ----------
    work_dir
        Directory for intermediate arrays that do not stay in memory: a path, a URL, or a store
        object of zarr-python, fsspec or obstore. Default: the system's directory for temporary
        files. Each run creates its own directory there, which other users can neither read nor
        write.
    intermediate_store
        Store for intermediate arrays that do not stay in memory, in place of `work_dir`: a path, a
        URL, or a store object of zarr-python, fsspec or obstore. A store in memory
        (``zarr.storage.MemoryStore``, obstore's, ``memory://``) is ignored, and `work_dir` is used,
        because intermediate arrays stay in memory anyway while they fit.
    allowed_mem
        Memory that a task may use, including `reserved_mem`: bytes, or a string such as ``"2GB"``.
        A computation that needs more raises an error before it starts.
    reserved_mem
        Part of `allowed_mem` for Python, libraries and metadata.
    executor
        An executor object, or the name of one.
    executor_name, executor_options
        The executor's name and its options. The property `executor` returns the executor object for
        them.
    storage_options
        Options of remote stores for inputs, outputs and intermediate arrays, with the names of
        fsspec and obstore (``key``, ``secret``, ``endpoint_url``, ``anon``, ...). Plans and errors
        do not contain them, except ``allow_references``: a list of locations that a reference
        document on another machine may refer to. Pickled specs and arrays contain all options. To
        keep keys out of pickles, use environment variables.
    zarr_compressor
        Codecs of stored arrays: ``"auto"`` (zstd), None, Zarr metadata of one codec to apply after
        ``bytes``, such as ``{"name": "gzip", "configuration": {"level": 5}}``, or a list of the
        metadata of all codecs.
    max_mem
        Older name of `allowed_mem`.
    other_machines
        Whether plans are for workers on other machines. Such plans are not limited by the memory of
        this machine, unless they are computed here.

    Examples
    --------
    >>> import cubed
    >>> spec = cubed.Spec(allowed_mem="500MB", reserved_mem="100MB")
    >>> cubed.ones((4, 4), spec=spec).sum().spec.allowed_mem
    500000000
    """

    __slots__ = ("_values", "_made")

    _made: Any

    def __init__(
        self,
        work_dir: Any = None,
        *,
        intermediate_store: Any = None,
        allowed_mem: int | str | None = None,
        reserved_mem: int | str | None = None,
        executor: Any = None,
        executor_name: str | None = None,
        executor_options: Mapping[str, Any] | None = None,
        storage_options: Mapping[str, Any] | None = None,
        zarr_compressor: Any = "auto",
        max_mem: int | str | None = None,
        other_machines: bool = False,
    ) -> None:
        if max_mem is not None:
            if allowed_mem is not None:
                raise ValueError("allowed_mem and its older name max_mem are both given")
            allowed_mem = max_mem
        place, options = _intermediates(intermediate_store)
        if storage_options is not None and not isinstance(storage_options, Mapping):
            raise TypeError(f"storage_options is a {type(storage_options).__name__}, not a mapping")
        if executor is not None and executor_name is not None:
            raise ValueError("executor and executor_name are both given")
        for name in (executor, executor_name):
            if isinstance(name, str) and name not in EXECUTORS:
                raise ValueError(
                    f"there is no executor {name!r}, expected one of {', '.join(EXECUTORS)}"
                )
        _check_codecs(zarr_compressor)
        if work_dir is not None and not isinstance(work_dir, (str, os.PathLike)):
            found = place_of(work_dir)
            if found is None:
                raise TypeError(
                    f"work_dir is {shown(work_dir)}, expected a path, a URL, or a store of"
                    " zarr-python, fsspec or obstore with such a location"
                )
            work_dir = found[0]
            if place is None:
                options = found[1] or None
        allowed, reserved = parse_bytes(allowed_mem), parse_bytes(reserved_mem)
        if allowed_mem is not None and reserved > allowed:
            raise ValueError(
                f"reserved_mem {format_bytes(reserved)} is more than"
                f" allowed_mem {format_bytes(allowed)}"
            )
        self._values = {
            "work_dir": None if work_dir is None else os.fspath(work_dir),
            "allowed_mem": None if allowed_mem is None else allowed,
            "reserved_mem": None if reserved_mem is None else reserved,
            "executor": executor,
            "executor_name": executor_name,
            "executor_options": dict(executor_options) if executor_options else None,
            "storage_options": dict(storage_options) if storage_options else None,
            "zarr_compressor": zarr_compressor,
            "other_machines": True if other_machines else None,
            "intermediate_store": intermediate_store,
            "intermediates": place,
            "intermediate_options": options,
        }
        self._made = None

    @property
    def work_dir(self) -> str | None:
        """Directory for intermediate arrays."""
        return self._given("work_dir")

    @property
    def intermediate_store(self) -> Any:
        """The `intermediate_store` that was given or configured."""
        return self._given("intermediate_store")

    @property
    def intermediates(self) -> tuple[str | None, dict[str, Any] | None]:
        """Location of intermediate arrays that do not stay in memory, and its storage options."""
        values = self._values
        place, options = values.get("intermediates"), values.get("intermediate_options")
        if values.get("intermediate_store") is None and values["work_dir"] is None:
            configured = setting("intermediate_store")
            if configured is not None:
                place, options = _intermediates(configured)
        place = self._given("work_dir") if place is None else place
        return place, options or self._given("storage_options")

    def _given(self, name: str) -> Any:
        """Returns the value that was given, otherwise the configured value."""
        given = self._values.get(name)
        return setting(name) if given is None else given

    @property
    def allowed_mem(self) -> int:
        """Bytes that a task may use."""
        value = self._values["allowed_mem"]
        return _configured_bytes(setting("allowed_mem")) if value is None else value

    @property
    def reserved_mem(self) -> int:
        """Bytes of `allowed_mem` that are reserved for Python, libraries and metadata."""
        if self.reserves_a_quarter:
            return min(self.reserve, self.allowed_mem // 4)
        return self.reserve

    @property
    def reserve(self) -> int:
        """Bytes to reserve, before :attr:`reserves_a_quarter` reduces them."""
        value = self._values["reserved_mem"]
        return _configured_bytes(setting("reserved_mem")) if value is None else value

    @property
    def reserves_a_quarter(self) -> bool:
        """Whether to reserve at most a quarter of `allowed_mem`.

        True if `allowed_mem` was given and `reserved_mem` was not.
        """
        values = self._values
        return values["reserved_mem"] is None and values["allowed_mem"] is not None

    def _limits(self) -> dict[str, Any]:
        """Returns the memory limits as keyword arguments of `_core.Plan`."""
        return {
            "allowed_mem": self.allowed_mem,
            "reserved_mem": self.reserve,
            "reserve_a_quarter": self.reserves_a_quarter,
        }

    @property
    def task_mem(self) -> int:
        """Bytes that are left for the data of a task."""
        # For an integer of this type, the engine can recreate the array for another allowed_mem.
        return _core.TaskMem(max(1, self.allowed_mem - self.reserved_mem))

    @property
    def executor(self) -> Any:
        """The executor object, or None for the configured one.

        Raises
        ------
        ImportError
            The executor was given by name, and its engine is not installed.
        """
        given = self.executor_given
        if not isinstance(given, str):
            return given
        if self._made is None:
            create = import_module("cubed.runtime.create").create_executor
            self._made = create(given, self.executor_options)
        return self._made

    @property
    def executor_given(self) -> Any:
        """The executor as it was given: an object, a name or None."""
        given = self._values["executor"]
        return self._values["executor_name"] if given is None else given

    @property
    def executor_name(self) -> str | None:
        """The executor's name, or None."""
        return self._values["executor_name"]

    @property
    def executor_options(self) -> dict[str, Any] | None:
        """Options of the executor that was given by name."""
        return self._values["executor_options"]

    @property
    def storage_options(self) -> dict[str, Any] | None:
        """Options of remote stores."""
        return self._given("storage_options")

    @property
    def other_machines(self) -> bool:
        """Whether plans are for workers on other machines."""
        return bool(self._values.get("other_machines"))

    @property
    def zarr_compressor(self) -> Any:
        """Codecs of stored arrays."""
        given = self._values["zarr_compressor"]
        if isinstance(given, str):
            given = setting("zarr_compressor", given)
            if given != "auto":
                _check_codecs(given)
        return given

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spec) and self._meaning() == other._meaning()

    def _meaning(self) -> dict[str, Any]:
        """Returns the values for comparisons, in which `executor` and `executor_name` are one
        setting."""
        values = dict(self._values)
        values.pop("intermediate_store", None)  # `intermediates` identifies the location
        name = values.pop("executor_name")
        return values if name is None else {**values, "executor": name}

    def __hash__(self) -> int:
        return hash((self.work_dir, self._values["allowed_mem"], self._values["reserved_mem"]))

    def __repr__(self) -> str:
        given = {
            k: v
            for k, v in self._values.items()
            if v is not None and not (isinstance(v, str) and v == "auto")
        }
        given.pop("intermediates", None)
        given.pop("intermediate_options", None)
        if isinstance(given.get("intermediate_store"), dict):
            given["intermediate_store"] = {}  # the contents are omitted
        if "storage_options" in given:  # options may contain secrets
            given["storage_options"] = dict.fromkeys(given["storage_options"], "...")
        if "executor_options" in given:
            given["executor_options"] = hidden(given["executor_options"])
        return f"cubed.Spec({', '.join(f'{k}={shown(v)}' for k, v in given.items())})"

    def __getstate__(self) -> dict[str, Any]:
        place = self._values.get("intermediates")
        options = ("storage_options", "intermediate_options", "executor_options")
        if secrets := secret_names({name: self._values.get(name) for name in options}):
            warn(
                f"options {', '.join(secrets)} of a Spec are in its pickle, and in pickles of its"
                " arrays: let programs find credentials by a profile, a role or environment"
                " variables, and give no keys",
                RuntimeWarning,
            )
        return {**self._values, "intermediate_store": place}  # store objects may not be picklable

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._values = state
        self._made = None


#: Bytes of a setting. Cached, because each plan looks it up.
_configured_bytes = cache(parse_bytes)


@cache
def _config() -> Any:
    from cubed._settings import config  # lazy: donfig is slow to import

    return config


def setting(name: str, otherwise: Any = None) -> Any:
    """Returns the value of a setting in `cubed.config`."""
    config = _config()
    # donfig's lookup costs a tenth of computing a small array. It is needed for names with "-".
    given = config.config.get("spec")
    if isinstance(given, dict) and "-" not in "".join(given):
        return given.get(name, otherwise)
    return config.get(f"spec.{name}", otherwise)


def spec_from_config(config: Any) -> Spec:
    """Returns the Spec for the settings under ``spec`` in a donfig object."""
    return Spec(**config.get("spec"))


def _intermediates(store: Any) -> tuple[str | None, dict[str, Any] | None]:
    """Returns the location of an intermediate store and its options; None for a store in memory."""
    if store is None or in_memory(store) is not None:
        return None, None
    if isinstance(store, (str, os.PathLike)):
        return os.fspath(store), None
    found = place_of(store)
    if found is None:
        raise NotImplementedError(
            f"intermediate_store is {shown(store)}, expected a path, a URL, or a store of"
            " zarr-python, fsspec or obstore with such a location or in memory"
        )
    return found[0], found[1] or None


def _check_codecs(compressor: Any) -> None:
    """Raises TypeError unless the value is valid for `zarr_compressor`."""
    codecs = [compressor] if isinstance(compressor, Mapping) else compressor
    named = isinstance(codecs, list) and all(
        isinstance(c, Mapping) and isinstance(c.get("name"), str) for c in codecs
    )
    automatic = compressor is None or (isinstance(compressor, str) and compressor == "auto")
    if not named and not automatic:
        raise TypeError(
            f"zarr_compressor is {compressor!r}, expected 'auto', None, a codec as Zarr metadata"
            " has it, such as {'name': 'zstd', 'configuration': {'level': 1}}, or a list of such"
        )


#: Spec of computations without a spec: the configured values.
DEFAULT = Spec()
