"""Plans, and their execution."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import check_arrays, common_spec
from cubed.base._bytes import format_bytes
from cubed.base._dtypes import dtype_of
from cubed.base._masks import is_masked_array
from cubed.base._origins import add_origins
from cubed.base._pictures import scrolled
from cubed.base._remote import set_options
from cubed.base._types import NDArray
from cubed.base._warnings import warn
from cubed.base._words import counted
from cubed.exceptions import say_task
from cubed.planning._choice import fuses
from cubed.planning._log import explain_plan, log_plan
from cubed.planning._options import RunOptions
from cubed.planning._results import StoredResults
from cubed.planning._room import check_threads, check_workers
from cubed.planning._statistics import RunStatistics
from cubed.planning._totals import Number, PlanTotals
from cubed.planning._waiting import lazy_writes
from cubed.runtime.executors.base import Executor
from cubed.spec import DEFAULT, Spec

if TYPE_CHECKING:
    from cubed.diagnostics.estimate import Estimate, Profile
    from cubed.planning._visualize import Picture

    _Given = tuple[_core.Array, _core.Target | None]

_KEEP_CHUNKS, _KEEP_INTERMEDIATES, _KEEP_RECORD = 1, 2, 4  # CUBED_KEEP_*

# Forked child processes (multiprocessing's "fork") do not have the threads that compute in this
# process.
os.register_at_fork(after_in_child=_core.forked)

# Starts a worker process without the package and its imports. The engine appends the number of a
# descriptor.
_worker_command = (
    sys.executable,
    "-ISs",
    f"{__file__.rpartition('planning/')[0]}runtime/_worker.py",
    str(_core.__file__),
)


def _text_of(error: BaseException | None) -> str | None:
    from cubed.runtime._failures import text_of  # lazy: rarely needed

    if error is None:
        return None
    return "\n".join([text_of(error), *map(str, getattr(error, "__notes__", ()))])


def _compiler_of(function: Any) -> Callable[[bytes], bytes]:
    from cubed.runtime._compile import Compiler  # lazy: slow import

    return Compiler(function)


def _temporary() -> str:
    import tempfile  # lazy: slow import

    return tempfile.gettempdir()


class _Maker:
    """Creates plans of targets within the limits of a spec, an executor and options."""

    def __init__(self, spec: Spec | None, executor: Executor, options: RunOptions) -> None:
        self.spec: Spec = spec or DEFAULT
        self.executor: Executor = executor
        self.optimize = options.optimize_graph
        self.partials = None if options.partials is None else os.fspath(options.partials)
        f = options.compile_function
        self._compiler = None if f is None else _compiler_of(f)
        self.can = executor.capabilities
        self.place, self._store_options = self.spec.intermediates
        self.work_dir = self.place or _temporary()

    def _limits(self) -> dict[str, Any]:
        """Returns keyword arguments of `_core.Plan`, except those for functions."""
        return {
            **self.spec._limits(),
            "max_workers": self.executor.num_workers(),
            "work_dir": self.work_dir,
            "share_tasks": self.can["shares_tasks"],
            "other_machines": self.spec.other_machines or self.can["remote"],
        }

    def _set_options(self) -> None:
        """Sets the storage options of the work directory, which saved plans do not have."""
        if self.place and "://" in self.place:
            set_options(self.place, self._store_options)

    def plan(self, targets: tuple[_Given, ...]) -> _core.Plan:
        """Returns the engine's plan. If the plan is refused, a note on the error lists the source
        lines that created the arrays."""
        self._set_options()
        try:
            return _core.Plan(
                targets,
                optimize=self.optimize,
                compile=self._compiler,
                partials=self.partials,
                **self._limits(),
            )
        except MemoryError as error:
            add_origins(error)
            raise

    def check(self, counts: Sequence[int], targets: Sequence[_Given]) -> None:
        """Creates plans of `counts` targets each, and discards them. If a plan is refused, the
        error is as for `plan`."""
        self._set_options()
        try:
            _core.Plan.check(tuple(counts), tuple(targets), self._limits())
        except MemoryError as error:
            add_origins(error)
            raise

    def stored(self, targets: tuple[_Given, ...]) -> StoredResults | None:
        """Returns the locations for results in memory if workers store them; otherwise None."""
        return StoredResults(targets, self.work_dir) if self.can["finds_plan"] else None


def _counted(key: str, doc: str) -> Number:
    """Creates a property for a number that the engine reports about a plan."""
    return Number(lambda p: p._info[key], doc)


class Plan(PlanTotals):
    """The stages of tasks of a computation, decided before anything runs.

    Examples
    --------
    >>> import cubed
    >>> plan = cubed.ones((4, 4), chunks=2).sum().plan()
    >>> plan.num_tasks >= 1
    True
    >>> plan.max_projected_mem <= plan.spec.allowed_mem
    True
    """

    _targets: tuple[_Given, ...] = ()
    _in_store: StoredResults | None = None
    _names: Sequence[str] = ()

    def __init__(
        self,
        targets: Sequence[_Given],
        spec: Spec | None,
        options: RunOptions,
    ) -> None:
        custom = options.custom()
        if custom is not None:
            vars(self).update(vars(_chosen(custom, targets, spec, options)))
            return
        self._maker = maker = _Maker(spec, options.executor_for(spec), options)
        self.spec: Spec = maker.spec
        self.executor: Executor = maker.executor
        self._targets = tuple(targets)
        self._in_store = maker.stored(self._targets)
        self._plan = maker.plan(self._in_store.targets if self._in_store else self._targets)
        self._info = self._plan.info()
        log_plan(self)
        for text in self._plan.warnings():
            warn(text, RuntimeWarning)

    @classmethod
    def _of_saved(cls, data: bytes, executor: Executor, allow_code: bool) -> Plan:
        self = object.__new__(cls)
        self._plan = _core.Plan.load(data, allow_code)
        self._info = i = self._plan.info()
        limits = {name: i[name] for name in ("allowed_mem", "reserved_mem")}
        self._maker = _Maker(Spec(i["work_dir"], **limits), executor, RunOptions())
        self.spec, self.executor = self._maker.spec, executor
        return self

    num_tasks = _counted("num_tasks", "Number of tasks.")
    num_stages = _counted("num_stages", "Number of stages.")
    num_primitive_ops = num_stages
    num_arrays = _counted("num_arrays", "Number of stored arrays, intermediates and results.")
    allowed_mem = _counted("allowed_mem", "Bytes that each worker may use.")
    reserved_mem = _counted(
        "reserved_mem", "Part of `allowed_mem` that is reserved for Python, libraries and metadata."
    )

    @property
    def max_projected_mem(self) -> int:
        """Bytes of the largest task, including reserved memory and the plan's own memory."""
        i = self._info
        return i["projected_mem"] + i["metadata_mem"] + i["reserved_mem"]

    metadata_mem = _counted(
        "metadata_mem",
        "Bytes of the plan and of a run's tables, in excess of a quarter of the reserved memory.",
    )
    total_nbytes_read = _counted("bytes_read", "Uncompressed bytes of all chunks that are read.")
    total_nbytes_written = _counted(
        "bytes_written", "Uncompressed bytes of all chunks that are written."
    )

    @property
    def stages(self) -> list[dict[str, Any]]:
        """Name, tasks, memory, bytes, stored arrays and operations (name, count, bytes per element)
        of each stage. Also estimates: ``seconds`` from start to end, and processor time of reading
        (``read_seconds``), of operations (``compute_seconds``), and of writing.
        """
        return self._plan.stages()

    @property
    def targets(self) -> list[dict[str, Any]]:
        """The protection of each target that the engine writes against late writers, and its cost.

        A late writer is a run that was suspended or lost its connection while another run took over
        its target. Keys:

        - ``url``.
        - ``fence``: ``"conditions"`` (of puts), ``"exchange"`` (of directories), ``"lock"`` (of
          files, for regions), ``"process"`` (no other process reaches the store) or ``"none"``.
        - ``promise``: the same as a sentence.
        - ``claim_requests``: the maximum number of requests for claims. ``chunk_requests``:
          requests for each chunk in addition to its put.
        - ``bytes``: size of the new array, decoded.
        - ``may_replace``: an existing array stays until the new one is complete. ``copies``: the
          new array exists twice while it is copied.
        - ``is_region``, and ``shared_chunks``: chunks that other writers may share.
        """
        return self._plan.targets()

    def summary(self) -> dict[str, Any]:
        """Counts, bytes and memory of the whole plan, and estimates of its ``seconds`` and of the
        processor time of all workers (``compute_seconds``).
        """
        return dict(self._info)

    def save(self) -> bytes:
        """Serialises the plan, for ``cubed run`` and :func:`cubed.load_plan`."""
        return self._plan.save()

    def visualize(
        self,
        filename: str | os.PathLike[str] = "cubed",
        format: str | None = None,
        rankdir: str = "TB",
        show_hidden: bool = False,
        engine: str | None = None,
    ) -> Picture:
        """Draws stages and stored arrays into a file; computes nothing.

        Parameters
        ----------
        filename
            The file, with or without the format's extension.
        format
            ``"svg"``, ``"png"`` or ``"pdf"`` (both need CairoSVG), ``"dot"`` (Graphviz), or
            ``"html"``: an interactive page with pan, zoom and details. Default: the extension of
            `filename`; without one ``"svg"``, or ``"html"`` for the engine ``"cytoscape"``.
        rankdir, show_hidden
            For compatibility: there is one drawing, of everything that is stored.
        engine
            None or ``"graphviz"``; ``"cytoscape"`` for the page.

        Returns
        -------
        Picture
            Has the file's `path`; notebooks show it.
        """
        from cubed.planning._visualize import visualize_plan  # lazy: rarely needed

        if engine not in (None, "graphviz", "cytoscape"):
            raise ValueError(f"engine is {engine!r}, expected 'graphviz', 'cytoscape' or None")
        return visualize_plan(self, filename, format, "html" if engine == "cytoscape" else "svg")

    @property
    def array_names(self) -> tuple[str, ...]:
        """The :attr:`cubed.Array.name` of each computed array."""
        return tuple(self._names)

    @property
    def optimized(self) -> bool:
        """Whether operations were fused."""
        return self._maker.optimize

    @property
    def dag(self) -> Any:
        """Stages and stored arrays as a graph of networkx, a frozen ``MultiDiGraph``.

        Nodes of stages have the names that events give to operations. Nodes of computed arrays
        have their :attr:`cubed.Array.name`. Nodes of ``type`` ``"op"`` have ``name``, ``op_name``
        and ``primitive_op`` (with `num_tasks`, `projected_mem`, `allowed_mem`, `reserved_mem` and
        `source_array_names`). Nodes of ``type`` ``"array"`` have ``name`` and ``target`` (with
        `shape`, `dtype`, `chunks`, `nbytes`, `nchunks` and `place`).

        Raises
        ------
        ImportError
            If networkx is not installed.
        """
        from cubed.planning._graph import graph_of  # lazy: rarely needed

        return graph_of(self)

    def estimate(self, profile: str | Profile = "local-nvme") -> Estimate:
        """Estimates time, requests and cost on a kind of machine, such as ``"s3-lambda"``.

        Computes nothing. See :mod:`cubed.diagnostics.estimate` for profiles, their assumptions, and
        errors.
        """
        from cubed.diagnostics.estimate import estimate  # lazy: rarely needed

        return estimate(self, profile)

    def traffic(
        self, prices: Mapping[str, tuple[float, float, float, float]] | None = None
    ) -> list[dict[str, Any]]:
        """Returns the requests of a run to object stores, and their cost; computes nothing.

        The only requests of this method check whether arrays that the plan may overwrite exist.

        Parameters
        ----------
        prices : mapping of str to tuple of float, default None
            By scheme, US dollars per million GETs (and HEADs), per million PUTs (LISTs and copies),
            and per 10^9 bytes read and written. None: list prices, within a region.

        Returns
        -------
        list of dict
            For each scheme (``"s3"``):

            - the maximum number of `gets`, `heads`, `puts`, `lists` (pages of listings) and
              `deletes`, from the opening of arrays to the end of the run; `copies`, which are made
              if a result replaces an existing array. Repeated requests after failures are not
              included.
            - ``saved``: the part of `gets` that workers save if their caches have all chunks that
              other tasks read before, and if chunks of a shard are read together.
            - ``bytes_read``, ``bytes_written``: decoded data. ``cost``: US dollars.
            - ``get_rate``, ``put_rate``: the highest number of GETs and PUTs per second to one
              prefix of keys, if all workers begin at the same time, wait 30 ms for a reply and
              transfer 80 MB/s. ``get_limit``, ``put_limit``: the limits that the service documents,
              0 if unknown. ``limit_seconds``: the time that waiting for these limits adds to the
              run.

        Raises
        ------
        ValueError
            If a scheme in the prices does not exist, or prices are not four numbers >= 0.

        Examples
        --------
        >>> import cubed
        >>> cubed.ones((4, 4), chunks=2).plan().traffic()
        []
        """
        for scheme, of in (prices or {}).items():
            numbers = isinstance(of, Sequence) and all(isinstance(v, (int, float)) for v in of)
            if not numbers or len(of) != 4 or not all(v >= 0 for v in of):
                raise ValueError(
                    f"prices[{scheme!r}] is {of!r}, expected four numbers >= 0: of GETs, PUTs,"
                    " bytes that are read, and bytes that are written"
                )
        own = {scheme: (of[0], of[1], of[2], of[3]) for scheme, of in (prices or {}).items()}
        return self._plan.traffic(self._apart(), own)

    def _apart(self) -> bool:
        """Returns True if workers do not share memory."""
        return not self._maker.can["shares_memory"]

    def requests(self) -> str:
        """Returns lines of text: the requests to object stores, their cost at list prices, their
        highest rate, and the time of workers. Returns "" if the plan uses no object store.
        """
        return self._plan.requests(self._apart()).rstrip()

    def explain(self) -> str:
        """Explains the fused operations of each stage, and why other operations are not fused."""
        return "\n".join(explain_plan(self))

    def draw(self, format: Literal["svg", "dot"] = "svg") -> str:
        """Returns the drawing as ``"svg"`` or ``"dot"``."""
        if format not in ("svg", "dot"):
            raise ValueError(f"format is {format!r}, expected 'svg' or 'dot'")
        return self._plan.draw(format)

    def record(self) -> None:
        """Records the next run, in memory of a fixed size, if it has callbacks."""
        self._plan.record(self._apart())

    def chart(self, name: Literal["timeline", "memory", "progress"]) -> str:
        """Draws ``"timeline"``, ``"memory"`` or ``"progress"`` of the recorded run, as SVG."""
        if name not in ("timeline", "memory", "progress"):
            raise ValueError(f"name is {name!r}, expected 'timeline', 'memory' or 'progress'")
        return self._plan.chart(name)

    def report(self, error: BaseException | None = None) -> str:
        """Returns the recorded run as an HTML page; `error` is the reason if it failed."""
        return self._plan.report(self.executor.name, _text_of(error))

    def status(self, state: str, error: BaseException | None = None) -> str:
        """Returns the status of the recorded run as JSON; `state` is ``"running"``, ``"done"`` or
        ``"failed"``.
        """
        return self._plan.status(self.executor.name, state, _text_of(error))

    def _repr_html_(self) -> str:
        return scrolled(self._plan.draw("svg"))

    def _buffers(self, results: Sequence[NDArray]) -> tuple[NDArray, ...]:
        """Checks arrays for results, and returns views of their bytes, which the run fills."""
        wanted = [x for x, target in self._targets if not target or "url" not in target]
        if len(results) != len(wanted):
            raise ValueError(f"results: {len(results)} arrays, expected {len(wanted)}")
        for i, (result, x) in enumerate(zip(results, wanted, strict=True)):
            _check_result(f"results[{i}]", result, x.shape, dtype_of(x.dtype))
            for k in range(i):
                if np.may_share_memory(result, results[k]):
                    raise ValueError(f"results[{k}] and results[{i}] share memory")
        return tuple(_bytes_of(r) for r in results)

    def execute(
        self,
        results: Sequence[NDArray] = (),
        callbacks: Sequence[Any] | None = None,
        resume: bool | None = None,
        take_over: bool = False,
        update: bool = False,
    ) -> dict[str, Any]:
        """Runs the plan and returns statistics of the run.

        Parameters
        ----------
        results
            For each array without a store, in order, a NumPy array for its values: with its shape
            and type, writable, in C order and not overlapping others.
        callbacks, resume, take_over, update
            As for :func:`compute`. With `update` the statistics have a dictionary ``"update"``:
            `in_place`, `why` (the reason why everything was recomputed), `num_checked` and
            `num_changed` (stored objects of the sources), and `bytes_read` (to compare them).

        Raises
        ------
        TypeError, ValueError
            If the results do not match. Nothing has run.
        """
        options = RunOptions(callbacks=callbacks, resume=resume, take_over=take_over, update=update)
        return self._run(self._buffers(results), options)

    def _run(self, buffers: tuple[NDArray, ...], options: RunOptions) -> dict[str, Any]:
        """Runs the plan; results in memory are written to `buffers`."""
        resume = options.resume
        _check_may_compute()
        from cubed.runtime._failures import running  # lazy: slow import
        from cubed.runtime.types import dispatch  # lazy: slow import

        if resume and not self._info["resumable"]:
            warn(
                "resume is True, but the run starts again: it reads from Python objects, whose"
                " contents cannot be compared with those of the earlier run"
            )
        e = self.executor
        engine = e.begin(self._info["allowed_mem"], self._info["reserved_mem"])
        if engine:
            engine.stage_names = [stage["name"] for stage in self.stages]
            engine.code = self._info["code"]
        plan, stored = self._plan, self._in_store
        if stored and resume is not None:  # the location that an earlier run used
            stored = stored.named_by(self._maker.plan)
            plan = self._maker.plan(stored.targets)
        command: tuple[str, ...] = _worker_command
        if self._maker.can["takes_command"] and self._info["code"]:
            from cubed.runtime._call import worker_arguments  # lazy: slow import

            command = (*command, *worker_arguments())
        elif self._maker.can["shares_memory"]:
            check_threads(self)
        try:
            with dispatch(self, options.callbacks) as on_event, running():
                stats = plan.run(
                    () if stored else buffers,
                    e.address,
                    retries=e.retries,
                    backups=e.use_backups,
                    task_timeout_ms=e.task_timeout_ms,
                    resume=bool(resume),
                    keep=self._kept(resume),
                    silence=e.silence,
                    take_over=options.take_over,
                    command=command,
                    engine=engine,
                    callback=on_event,
                    update=options.update,
                )
                if stored:
                    stored.fetch(buffers, self)
                    stored.remove()
        except BaseException as error:
            say_task(error, plan)
            add_origins(error)
            if stored and resume is None:
                stored.remove()
            check_workers(self, plan.last_run())
            raise
        finally:
            if engine:
                engine.disconnect()
        check_workers(self, stats)
        if stats["function_excess"]:
            from cubed.diagnostics.mem_warn import warn_of_function  # lazy: rarely needed

            warn_of_function(self, stats)
        if options.update:
            _say_update(stats["update"])
        return RunStatistics(stats)

    def _kept(self, resume: bool | None) -> int:
        """Returns flags for the data that a failed or interrupted run keeps for resumption.

        Intermediates stay in a work directory that the user chose, but not in the system's
        temporary folder. Without `resume`, results that an engine stores for the driver have random
        names. So no other run finds these results, or intermediates of a plan that has such
        results.
        """
        if resume is not None:
            return _KEEP_CHUNKS | _KEEP_INTERMEDIATES | _KEEP_RECORD
        found = self._maker.place and not (self._in_store and self._in_store.has_any)
        return _KEEP_CHUNKS | (_KEEP_INTERMEDIATES if found else 0)

    def __repr__(self) -> str:
        return (
            f"<cubed.Plan: {counted(self.num_stages, 'stage')}, {counted(self.num_tasks, 'task')},"
            f" {format_bytes(self.max_projected_mem)} of {format_bytes(self.allowed_mem)} of memory"
            " per worker>"
        )

    def __str__(self) -> str:
        """The table of ``cubed eval --plan``, followed by the requests to object stores."""
        return f"{self._plan.draw('table')}{self.requests()}".rstrip()


def _say_update(found: dict[str, Any]) -> None:
    """Warns if an update recomputed everything, or if the next update will."""
    if found["why"]:
        warn(f"update: everything was recomputed, because {found['why']}")
    if found["no_record"]:
        warn(
            "update: the next update will recompute everything, because the record of sources could"
            f" not be written: {found['no_record']}"
        )


def _check_result(name: str, a: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raises an error unless the array matches the bytes that a plan writes."""
    if not isinstance(a, np.ndarray) or is_masked_array(a):
        raise TypeError(f"{name} is a {type(a).__name__}, expected an array of NumPy")
    if a.shape != shape:
        raise ValueError(f"{name} has shape {a.shape}, expected {shape}")
    if a.dtype != dtype:
        raise ValueError(f"{name} is of type {a.dtype!r}, expected {dtype!r}")
    if not a.flags.writeable:
        raise ValueError(f"{name} is read-only, expected an array that can be written")
    if not a.flags.c_contiguous:
        raise ValueError(
            f"{name} has strides {a.strides}, expected C order without gaps: np.empty(shape, dtype)"
        )


def _check_may_compute() -> None:
    guard = sys.modules.get("cubed.planning._guard")  # imported if a program uses it
    if guard is not None:
        guard.check_may_compute()


def _bytes_of(a: NDArray) -> NDArray:
    flat = a.reshape(-1)
    return flat.view(np.uint8) if flat.size else np.empty(0, np.uint8)


def plan(
    *arrays: Array,
    optimize_graph: bool = True,
    optimize_function: Any = None,
    compile_function: Any = None,
    partials: str | os.PathLike[str] | None = None,
) -> Plan:
    """Returns the plan of computing these arrays. Parameters as for :func:`compute`.

    For arrays with pending writes it is the plan of writing them.

    Parameters
    ----------
    *arrays : Array
        Input arrays.
    optimize_graph : bool, default True
        As for :func:`cubed.compute`.
    optimize_function : callable or None
        As for :func:`cubed.compute`.
    compile_function : callable or None
        As for :func:`compute`.
    partials : str or path or None
        As for :func:`compute`. Only ``execute(update=True)`` can run such a plan.

    Returns
    -------
    Plan
        The plan. Nothing is computed.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ones((4, 4), chunks=2)
    >>> cubed.plan(x.sum()).num_tasks
    1
    """
    check_arrays(arrays)
    options = RunOptions(
        optimize_graph=optimize_graph,
        optimize_function=optimize_function,
        compile_function=compile_function,
        partials=partials,
    )
    waiting = lazy_writes(arrays)
    if waiting:
        others = [a for a in arrays if a._stored is None]
        p: Plan = waiting[0].later(waiting).plan(options, others)
        p._names = [a.name for a in arrays]
        return p
    return _plan(arrays, options)


def check_each(*parts: Sequence[Array]) -> None:
    """Checks that several computations fit in memory if they run one after another.

    Raises
    ------
    PlanTooLargeError
        If a plan needs more memory than is allowed. The error advises a value of `allowed_mem` that
        is enough for all plans.
    """
    spec = common_spec(*(a for part in parts for a in part))
    options = RunOptions()
    maker = _Maker(spec, options.executor_for(spec), options)
    targets: list[_Given] = []
    counts = []
    for part in parts:
        waiting = lazy_writes(part)
        given: list[_Given] = [(a._x, {"name": a.name}) for a in part if a._stored is None]
        given += waiting[0].later(waiting).targets if waiting else []
        stored = maker.stored(tuple(given))
        targets += stored.targets if stored else given
        counts.append(len(given))
    maker.check(counts, targets)


def _chosen(
    function: Callable[..., Any],
    targets: Sequence[_Given],
    spec: Spec | None,
    options: RunOptions,
) -> Plan:
    """Returns the plan with or without fused operations; a user-defined function chooses."""
    names = [str((target or {}).get("name", "")) for _, target in targets]
    plans: dict[bool, Plan] = {}

    def graph_of(optimize: bool) -> Any:
        p = Plan(targets, spec, options._replace(optimize_graph=optimize, optimize_function=None))
        plans[optimize] = p
        p._names = names
        graph = p.dag
        p._names = ()
        return graph

    return plans[fuses(function, graph_of, names)]


def _plan(arrays: Sequence[Array], options: RunOptions) -> Plan:
    names = [a.name for a in arrays]
    targets: list[_Given] = [(a._x, {"name": name}) for a, name in zip(arrays, names, strict=True)]
    p = Plan(targets, common_spec(*arrays), options)
    p._names = names
    return p


def visualize(
    *arrays: Array,
    filename: str | os.PathLike[str] = "cubed",
    format: str | None = None,
    optimize_graph: bool = True,
    optimize_function: Any = None,
    show_hidden: bool = False,
    engine: str | None = None,
) -> Picture:
    """Draws the plan of computing these arrays; see :meth:`Plan.visualize`.

    Parameters
    ----------
    *arrays : Array
        Input arrays.
    filename : str or path, default "cubed"
        The file for the drawing; without an extension, that of `format` is added.
    format : {"svg", "png", "pdf"} or None
        Format of the drawing; None: by the extension of the file, or SVG.
    optimize_graph : bool, default True
        False: as written, every operation in a separate stage.
    optimize_function : callable or None
        As for :func:`cubed.compute`.
    show_hidden : bool, default False
        As for :meth:`Plan.visualize`.
    engine : str or None
        As for :meth:`Plan.visualize`.

    Returns
    -------
    Picture
        The file, which notebooks show. Nothing is computed.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ones((4, 4), chunks=2)
    >>> picture = cubed.visualize(x.sum(), filename="sum.svg")
    >>> picture.path.name
    'sum.svg'
    """
    p = plan(*arrays, optimize_graph=optimize_graph, optimize_function=optimize_function)
    return p.visualize(filename, format, show_hidden=show_hidden, engine=engine)


def compute(
    *arrays: Array,
    executor: Any = None,
    callbacks: Sequence[Any] | None = None,
    optimize_graph: bool = True,
    optimize_function: Any = None,
    resume: bool | None = None,
    take_over: bool = False,
    update: bool = False,
    partials: str | os.PathLike[str] | None = None,
    compile_function: Any = None,
    **kwargs: Any,
) -> tuple[NDArray, ...]:
    """Computes the values of several arrays, in one plan that reads shared inputs once.

    Parameters
    ----------
    *arrays : Array
        The arrays to compute.
    executor : Executor, str or None
        An executor object or name; default: the spec's, then the configured one, ``"threads"``.
    callbacks : sequence of Callback or None
        Objects that receive events, see :class:`cubed.Callback`.
    optimize_graph : bool, default True
        False: every operation is a separate stage.
    optimize_function : callable or None
        A function ``f(dag, array_names=)`` that chooses whether operations are fused. It gets the
        graph of the plan in which they are not (:attr:`Plan.dag`), and returns the graph, or the
        result of a function of :mod:`cubed.core.optimization` for the graph. May also be one of
        these functions; all of them select the same planner. Needs networkx.
    resume : bool or None
        True: continue an earlier run of the same computation that failed or was interrupted,
        without computing its chunks again. False or None: start again. A failed run always leaves
        its chunks (None: except those of results in memory that an engine's workers store). If
        contents of arrays are unknown (objects that are sliced), the run starts again with a
        warning.
    take_over : bool, default False
        True: immediately take over the target of an unfinished run of another machine or container,
        even on a store that ignores conditions of puts. Make sure that the run has ended. False: a
        run counts as ended after `silence` seconds without a heartbeat (an option of executors,
        default 600).
    update : bool, default False
        True: recompute only the chunks whose sources have changed or grown since an earlier
        computation with ``update=True``. It is for arrays with pending writes to Zarr
        (:func:`to_zarr` or :func:`store` with ``compute=False``), which must be whole arrays. If it
        is not certain that other chunks stay the same, everything is recomputed with a warning that
        says why. Not with `resume`.
    partials : str or path or None
        With `update`: a Zarr group, such as ``"partials.zarr"``, in which partial results of
        reductions are kept. After sources have grown along a reduced axis, the next update with the
        same group reads only new elements. None: such reductions are computed again.
    compile_function : callable or None
        Called with each user-defined function on blocks when the plan is made. Returns the function
        to run instead, with the same arguments: ``numba.njit``. Workers get the result pickled. A
        keyword-only parameter `config`, if it has one, gets an object with `function` and `name`.
        Operations of this package, such as ``x + 1``, are compiled C without a Python function, so
        it is not called for them. They may run in the same tasks as the compiled functions.
    **kwargs : object
        Options of the executor, such as ``max_workers``.

    Returns
    -------
    tuple of ndarray
        The values of each array, with its shape and type, in new memory. Pending writes of
        :func:`store` with ``compute=False`` are executed, for these arrays and the arrays that they
        are made from.

    Raises
    ------
    MemoryError
        If a task would need more than ``allowed_mem``. Nothing has run.
    TypeError
        If an argument is not a lazy array, or the executor has no such option.
    ValueError
        If arrays have different specs.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ones((4, 4), chunks=2)
    >>> total, largest = cubed.compute(x.sum(), x.max())
    >>> total, largest
    (array(16.), array(1.))
    """
    check_arrays(arrays)
    _check_may_compute()
    options = RunOptions(
        executor=executor,
        callbacks=callbacks,
        optimize_graph=optimize_graph,
        optimize_function=optimize_function,
        resume=resume,
        take_over=take_over,
        update=update,
        partials=partials,
        compile_function=compile_function,
        more=kwargs,
    )
    waiting = lazy_writes(arrays)
    if waiting:
        others = [a for a in arrays if a._stored is None]
        values = iter(waiting[0].later(waiting).compute(options, others))
        there = [a._stored.written() for a in arrays if a._stored is not None]
        read = iter(_values(there, options._replace(update=False, partials=None)) if there else ())
        return tuple(next(values if a._stored is None else read) for a in arrays)
    return _values(arrays, options)


def _values(arrays: Sequence[Array], options: RunOptions) -> tuple[NDArray, ...]:
    """Returns the values of arrays, without executing pending writes."""
    p = _plan(arrays, options)
    results = [np.empty(a.shape, a.dtype) for a in arrays]
    p._run(tuple(map(_bytes_of, results)), options)
    return tuple(results)


def load_plan(
    data: bytes, *, allow_code: bool = False, executor: Any = None, **kwargs: Any
) -> Plan:
    """Loads a plan from the bytes of :meth:`Plan.save`, to be run by :meth:`Plan.execute`.

    Its targets must be in stores, because results in memory would have no receiver.

    Parameters
    ----------
    data : bytes
        The bytes.
    allow_code : bool, default False
        Whether user-defined functions in the plan may run: they can do whatever this process may.
    executor : Executor, str or None
        As for :func:`cubed.compute`; limits and workers are the plan's.
    **kwargs : object
        As for :func:`cubed.compute`; limits and workers are the plan's.

    Returns
    -------
    Plan
        The plan. Nothing is computed.

    Raises
    ------
    ValueError
        If the bytes are not a saved plan, or the plan has user-defined functions and `allow_code`
        is false.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ones((4, 4), chunks=2).sum(axis=0)
    >>> later = cubed.to_zarr(x, "sums.zarr", compute=False)
    >>> stats = cubed.load_plan(later.plan().save()).execute()
    >>> cubed.from_zarr("sums.zarr").compute()
    array([4., 4., 4., 4.])
    """
    options = RunOptions(executor=executor, more=kwargs)
    return Plan._of_saved(data, options.executor_for(None), allow_code)
