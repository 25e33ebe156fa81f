"""Writes arrays to stores."""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any, Literal, overload

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import check_arrays, common_spec
from cubed.base._distribution import optional
from cubed.base._remote import is_remote, set_options, shown
from cubed.base._stores import split_place
from cubed.base._types import NDArray
from cubed.exceptions import ArrayExistsError, PlanTooLargeError
from cubed.io._create import from_array, from_zarr, native_url, zarr_url
from cubed.io._foreign import ForeignPlace, NewArray
from cubed.io._regions import Held, aligned, written_into
from cubed.planning._compute import Plan
from cubed.planning._options import RunOptions
from cubed.planning._waiting import Waiting, lazy_writes
from cubed.spec import DEFAULT, Spec


def _codecs(compressor: Any) -> str | None:
    if isinstance(compressor, str) and compressor == "auto":
        return None
    import json  # lazy: rarely needed

    raw = [{"name": "bytes", "configuration": {"endian": "little"}}]
    if compressor is None:
        return json.dumps(raw)
    return json.dumps([*raw, compressor] if isinstance(compressor, Mapping) else compressor)


class Delayed:
    """Pending writes of arrays. If a lock is given, all arrays are written by Python functions, not
    by the engine."""

    def __init__(self, writes: Sequence[Stored], lock: Any = None) -> None:
        self._writes = writes
        self._spec = common_spec(*[w.x for w in writes])
        self._lock = lock
        self._targets: list[tuple[_core.Array, _core.Target | None]] = []
        self._results: list[tuple[int, ...]] = []
        self._archives: dict[str, str] = {}  # stores that become files
        self._overwritten: dict[str, bool] = {}  # whether a file of this name may exist
        self._names: dict[str, list[str]] = {}  # arrays that are written into each file
        self._held: list[Any] = []  # objects that cannot be pickled, kept alive
        self._new: list[NewArray] = []  # arrays that are created before writing
        for w in writes:
            if w.region is not None or not isinstance(w.place, (str, ForeignPlace)):
                self._write_into(w.x, w.place, w.region)
            elif isinstance(w.place, ForeignPlace):
                new = NewArray(w.place, w.x, (self._spec or DEFAULT).zarr_compressor, w.overwrite)
                self._new.append(new)
                self._assign(w.x, new, _region(w.x, new.shape, None))
            else:
                self._replace(w, w.place)
        for file, names in self._names.items():
            _check_replaced(file, names)

    def _replace(self, w: Stored, url: str) -> None:
        if "://" in url:
            _use_options(url, self._spec)
        archive = _archive(url)
        if archive is not None:
            path, name = archive
            from pathlib import Path  # lazy: slow import

            if not w.overwrite and Path(path).exists():
                raise ArrayExistsError(f"{path} exists: overwrite=True replaces it")
            folder = path + _core.new_file_store
            self._archives[folder] = path
            self._overwritten[path] = w.overwrite
            self._names.setdefault(path, []).append(name)
            url = f"{folder}::{name}" if name else folder
        options: _core.Target = {
            "url": url,
            "overwrite": w.overwrite or archive is not None,
            "codecs": _codecs((self._spec or DEFAULT).zarr_compressor),
            "skip_empty": not w.empty,
        }
        self._targets.append((w.x._x, options))

    def _write_into(self, x: Array, place: Any, region: Any) -> None:
        native = native_target(x, place, region) if self._lock is None else None
        if native is not None:
            self._targets.append(native)
            return
        target = _opened(place) if isinstance(place, (str, ForeignPlace)) else place
        if not hasattr(target, "shape"):
            raise TypeError(
                f"target {shown(target)}: expected a store, or an array that is assigned to"
            )
        self._assign(x, target, _region(x, target.shape, region))

    def _assign(self, x: Array, target: Any, slices: tuple[slice, ...]) -> None:
        held = Held(target)
        lock = Held(self._lock)
        done = written_into(aligned(x, target, slices), held, slices, lock)
        self._held += [held, lock]
        self._targets.append((done._x, {"writes": zarr_url(target, memory=True)}))
        self._results.append(done.shape)

    def plan(self, options: RunOptions, values: Sequence[Array] = ()) -> Plan:
        """Returns the plan of the writes, including the values of other arrays."""
        targets: list[tuple[_core.Array, _core.Target | None]] = []
        for a in values:
            targets.append((a._x, {"name": a.name}))
        return Plan(targets + self._targets, self._spec, options)

    @property
    def targets(self) -> Sequence[tuple[_core.Array, _core.Target | None]]:
        """The targets of the plan that performs the writes."""
        return self._targets

    def compute(self, options: RunOptions, values: Sequence[Array] = ()) -> list[NDArray]:
        """Writes all arrays and computes `values`, in one plan. Returns the values."""
        if options.update:
            self._check_update()
        files = [(folder, self._check_file(folder)) for folder in self._archives]
        p = self.plan(options, values)
        for folder, mem in files:
            if mem > p.allowed_mem:
                raise PlanTooLargeError(
                    f"writing {self._archives[folder]} needs up to {mem} bytes, five times the"
                    f" largest chunk and buffers of HDF5, but allowed_mem is {p.allowed_mem}"
                )
        for new in self._new:
            new.create()
        results = [np.empty(a.shape, a.dtype) for a in values]
        done = [np.empty(shape, bool) for shape in self._results]
        with ExitStack() as stack:
            begun = [
                (path, self._begin(path, options, p.executor.silence, stack))
                for path in self._archives.values()
            ]
            p._run(p._buffers([*results, *done]), options)
            for path, file in begun:
                _core.publish_file(file, _is_netcdf(path))
        for w in self._writes:
            w.done = True
        return results

    def _check_update(self) -> None:
        """Raises an error before anything is written if a target cannot be updated."""
        for path in self._archives.values():
            raise ValueError(f"update: {path} is a file that is written as a whole, expected Zarr")
        if self._new or self._results:
            raise ValueError(
                "update: tasks assign to a target, expected new Zarr arrays that the engine writes"
            )

    def _begin(self, path: str, options: RunOptions, silence: int, stack: ExitStack) -> object:
        """Acquires the right to write a file; the exit of `stack` releases it."""
        names = "\n".join(sorted(self._names[path]))
        file = _core.begin_file(
            path, names, self._overwritten[path], bool(options.resume), options.take_over, silence
        )
        stack.callback(_core.end_file, file)
        return file

    def _check_file(self, folder: str) -> int:
        """Returns the bytes of memory that are needed to create a file of results. Raises an error
        if it cannot be created.
        """
        if not _is_netcdf(self._archives[folder]):
            return 0
        mine = [t for t in self._targets if t[1] is not None and _within(t[1]["url"], folder)]
        return _core.Plan.netcdf_mem(tuple(mine))


def _archive(url: str) -> tuple[str, str] | None:
    """Returns the file and the path within it if the target is in a file that is written; None
    otherwise."""
    from pathlib import Path  # lazy: slow import

    kind = _core.file_kind(url)
    if kind not in ("zip", "netcdf", "read only"):
        return None
    store, path, _ = _core.place(url)
    if "://" in store:
        raise ValueError(
            f"{store}: files can be written only to local paths: write a local file and copy it"
            " when it is complete, or write a Zarr store"
        )
    if Path(store).is_dir():
        return None
    if kind == "read only":
        raise ValueError(
            f"{store}: files of this format can only be read: name a file of NetCDF (r.nc), a"
            " Zarr store (r.zarr) or an archive of one (r.zip)"
        )
    return store, path


def _check_replaced(file: str, names: Sequence[str]) -> None:
    """Checks the targets in a file. Files are written as a whole, so other contents would be
    lost."""
    from pathlib import Path  # lazy: slow import

    if not Path(file).exists():
        return
    try:
        other = _other(file, "", names)
    except (OSError, ValueError, NotImplementedError) as e:
        raise ArrayExistsError(f"{file} exists, and is not a file of arrays: {e}") from e
    if other is not None:
        raise ArrayExistsError(
            f"{file} also has {other}, and is written as a whole: give all of its arrays to one"
            " store(), or name another file"
        )


def _other(file: str, group: str, names: Sequence[str]) -> str | None:
    """Returns an array or group of the file that is neither in `names` nor within an entry of
    `names`; None if there is none."""
    try:
        members = _core.members(f"{file}::{group}", False)[2]
    except FileNotFoundError:
        _core.open(file)
        return None if "" in names else "an array without a name"
    for name, is_array in () if "" in names else members:
        path = f"{group}/{name}" if group else name
        if path in names:
            continue
        within = not is_array and any(n.startswith(f"{path}/") for n in names)
        other = _other(file, path, names) if within else path
        if other is not None:
            return other
    return None


def _is_netcdf(store: str) -> bool:
    return _core.file_kind(store) == "netcdf"


def _within(url: str, folder: str) -> bool:
    return url == folder or url.startswith(f"{folder}::")


def place_in(store: Any, path: str | None, spec: Spec | None) -> Any:
    """Returns the place of an array to write: a URL if the engine writes it, a ForeignPlace for the
    package zarr, or an array that is assigned to.
    """
    is_path = isinstance(store, (str, os.PathLike))
    if not is_path:
        if hasattr(store, "shape") and hasattr(store, "__setitem__"):
            if path:
                raise ValueError(f"path is {path!r}, but store is an array, which has no paths")
            return store
        kind = f"{type(store).__module__}.{type(store).__name__}"
        if kind.startswith("zarr.") and kind.endswith(".Group"):
            raise TypeError(f"{shown(store)} is a group, expected its store, and a path")
        if not _is_store(store, kind):
            raise TypeError(
                f"target {shown(store)}: expected a store, or an array that is assigned to"
            )
    if not is_path or (str(store).startswith("zip") and not (spec or DEFAULT).storage_options):
        store, path = split_place(store, path)
    if getattr(store, "read_only", False):
        raise ValueError(f"target {shown(store)} is read-only: open it for writing")
    url = native_url(store, path)
    if url is None:
        return ForeignPlace(store, path, (spec or DEFAULT).storage_options)
    if "://" in url:
        _use_options(url, spec)
    return url


def _is_store(store: Any, kind: str) -> bool:
    """Returns True for a store of zarr-python, fsspec or obstore, or a dictionary."""
    return isinstance(store, MutableMapping) or kind.split(".")[0] in (
        "zarr",
        "obstore",
        "icechunk",
    )


def native_target(x: Array, place: Any, region: Any) -> tuple[_core.Array, _core.Target] | None:
    """Returns a target of a plan that writes x into a region of an existing Zarr array, without the
    GIL. None if only zarr-python, or the library of `place`, can write there.

    `place` is a path or a URL, or a zarr-python array in a place that the engine supports; x is
    cast to its type. The engine does not support all stores, codecs and kinds of chunks. A chunk
    that the region partly covers keeps its other elements, even if other tasks or processes write
    them at the same time.

    Raises
    ------
    ValueError
        If the region is not within the array, or has another shape than x.
    FileNotFoundError
        If there is no array at a path.
    """
    if isinstance(place, ForeignPlace):
        return None
    if isinstance(place, str):
        url = place
    else:
        found = zarr_url(place)
        if found is None or getattr(place, "read_only", True):
            return None
        url = found
    try:
        into = _core.open(url)
        slices = _region(x, into.shape, region)
        return _core.region_target(x._x, into, [s.start for s in slices])
    except NotImplementedError:
        return None


def _use_options(place: Any, spec: Spec | None) -> None:
    if not is_remote(place):
        return
    options = (spec or DEFAULT).storage_options
    if spec is not None or options is not None:
        set_options(place, options)


def _opened(place: Any) -> Any:
    if isinstance(place, ForeignPlace):
        return place.open("r+")
    use = f"writing into a region of {shown(place)} needs the package zarr"
    where, path, _ = _core.place(place)
    return optional("zarr", use, "zarr").open_array(where, path=path, mode="r+")


def _region(x: Array, shape: Sequence[int], region: Any) -> tuple[slice, ...]:
    """Returns the region as a slice for each axis."""
    if region is None:
        region = (slice(None),) * len(shape)
    slices = tuple(region) if isinstance(region, (tuple, list)) else (region,)
    if len(slices) != len(shape):
        raise ValueError(f"region {region} has {len(slices)} slices for {len(shape)} axes")
    ranges = []
    for d, (s, n) in enumerate(zip(slices, shape, strict=True)):
        r = range(*s.indices(n))
        if s.step not in (None, 1) or (s.stop is not None and s.stop > n):
            raise ValueError(f"region {s} of axis {d}: expected step 1, within its size {n}")
        ranges.append(r)
    if tuple(map(len, ranges)) != x.shape:
        raise ValueError(f"an array of shape {x.shape} for region {region} of shape {tuple(shape)}")
    return tuple(slice(r.start, r.stop) for r in ranges)


class Stored:
    """A pending write of an array from ``compute=False``."""

    def __init__(self, x: Array, place: Any, region: Any, overwrite: bool, empty: bool) -> None:
        self.x = x
        self.place = place
        self.region = region
        self.overwrite = overwrite
        self.empty = empty  # store chunks that contain only the fill value
        self.done = False  # becomes true when the array has been written

    later = Delayed  # several arrays are written by one plan

    def written(self) -> Array:
        """Returns the array in its store."""
        if isinstance(self.place, ForeignPlace):
            there = from_array(self.place.open("r"), spec=self.x._spec)
        elif isinstance(self.place, str):
            there = from_zarr(self.place, spec=self.x._spec)
        else:
            there = from_array(self.place, spec=self.x._spec)
        return there if self.region is None else there[_region(self.x, there.shape, self.region)]


class StoredArrays(tuple[Array, ...]):
    """The lazy arrays that :func:`cubed.store` returns with ``compute=False``.

    Computing one of these arrays by any function writes the array and returns its values.
    """

    __slots__ = ()

    def plan(self, **kwargs: Any) -> Plan:
        """Returns the plan that writes all arrays. Parameters are those of
        :func:`cubed.compute`."""
        return self._later().plan(RunOptions.of(kwargs))

    def compute(self, **kwargs: Any) -> None:
        """Writes all arrays, in one plan. Returns no values, because they may be larger than
        memory.

        Parameters as for :func:`cubed.compute`.
        """
        self._later().compute(RunOptions.of(kwargs))

    def _later(self) -> Delayed:
        return Delayed([x._stored for x in self if x._stored is not None])


@overload
def store(
    sources: Array | Sequence[Array],
    targets: Any,
    regions: Any = None,
    compute: Literal[True] = True,
    *,
    overwrite: bool = True,
    write_empty_chunks: bool = True,
    executor: Any = None,
    callbacks: Sequence[Any] | None = None,
    optimize_graph: bool = True,
    resume: bool | None = None,
    take_over: bool = False,
    update: bool = False,
    partials: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> None: ...
@overload
def store(
    sources: Array | Sequence[Array],
    targets: Any,
    regions: Any = None,
    *,
    compute: Literal[False],
    overwrite: bool = True,
    write_empty_chunks: bool = True,
    executor: Any = None,
    callbacks: Sequence[Any] | None = None,
    optimize_graph: bool = True,
    resume: bool | None = None,
    take_over: bool = False,
    update: bool = False,
    partials: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> StoredArrays: ...
@overload
def store(
    sources: Array | Sequence[Array],
    targets: Any,
    regions: Any = None,
    compute: bool = True,
    *,
    overwrite: bool = True,
    write_empty_chunks: bool = True,
    executor: Any = None,
    callbacks: Sequence[Any] | None = None,
    optimize_graph: bool = True,
    resume: bool | None = None,
    take_over: bool = False,
    update: bool = False,
    partials: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> StoredArrays | None: ...
def store(
    sources: Array | Sequence[Array],
    targets: Any,
    regions: Any = None,
    compute: bool = True,
    *,
    overwrite: bool = True,
    write_empty_chunks: bool = True,
    executor: Any = None,
    callbacks: Sequence[Any] | None = None,
    optimize_graph: bool = True,
    resume: bool | None = None,
    take_over: bool = False,
    update: bool = False,
    partials: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> StoredArrays | None:
    """Writes arrays to Zarr arrays, in one plan.

    Parameters
    ----------
    sources : Array or sequence of Array
        An array, or several arrays.
    targets : str, path, array or sequence
        The target of each source, one of the following. None: a store in the work directory, which
        is removed afterwards.

        - The directory of a new Zarr array.
        - A file that is written as a whole: a ZIP archive (``FILE.zip``, ``FILE.zip::PATH``) or a
          NetCDF-4 file (``FILE.nc::NAME``).
        - A store of zarr-python, fsspec or obstore, or a URL that fsspec supports, for a new array.
          The package zarr writes it if the engine has no such store.
        - An existing array that is assigned to (of zarr-python, h5py, NumPy, ...).
    regions : tuple of slice, sequence or None
        For each source a tuple of slices (of step 1) of the existing target; one tuple is for all
        sources. None: the whole target. Other elements stay unchanged.
    compute : bool, default True
        False: nothing is written until the returned arrays are computed.
    overwrite : bool, default True
        Remove an array or a group at a target when writing begins. With False that is an error.
        Regions, and arrays that are assigned to, exist in any case.
    write_empty_chunks : bool, default True
        False: chunks that contain only the fill value are not stored. Applies to arrays that the
        call creates.
    executor : Executor, str or None
        As for :func:`cubed.compute`.
    callbacks : sequence of Callback or None
        As for :func:`cubed.compute`.
    optimize_graph : bool, default True
        As for :func:`cubed.compute`.
    resume : bool or None
        As for :func:`cubed.compute`.
    take_over : bool, default False
        As for :func:`cubed.compute`.
    update : bool, default False
        As for :func:`cubed.compute`.
    partials : str or path or None
        As for :func:`cubed.compute`.
    **kwargs : object
        As for :func:`cubed.compute`.

    Returns
    -------
    None or tuple of Array
        None after the arrays have been written. With ``compute=False`` a tuple of arrays.
        ``compute()`` of one, or :func:`cubed.compute` of several, writes them and returns the
        stored values; ``compute()`` of the tuple writes all and returns None. Computing or storing
        arrays made from them also writes them in the same plan, unless they are written already.

    Raises
    ------
    ValueError
        If the numbers of sources, targets and regions differ, or a shape is not that of its region.
    TypeError
        If a source is not a lazy array, or a target is not one of the above.
    FileExistsError
        If there is an array or a group at a target, and `overwrite` is False. Nothing is written,
        also not to other targets.

    Notes
    -----
    A new array has regular chunks, with the longest of the source's chunks along each axis. This
    also applies to slices and to results of functions on blocks, whose chunks may differ in length.
    An array has irregular chunks (a grid of format 3) only if a user gave their lengths
    (``x.rechunk(((31, 28, 31),))``), or if a store has such chunks.

    The engine writes regions of Zarr arrays in directories and object stores. A chunk that a region
    partly covers keeps its other elements, even if other tasks, plans or processes write them at
    the same time. At any time, every chunk is either the old or the new one. After a failed run
    some chunks are written; run it again. Sources may not read the target.

    Tasks assign to other arrays. This needs the GIL, and memory for three chunks in addition to the
    block. Two processes must not assign to one chunk at the same time.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.arange(4.0, chunks=2)
    >>> cubed.store([x, x * x], ["memory://store/x", "memory://store/squares"])
    >>> cubed.from_zarr("memory://store/squares").compute()
    array([0., 1., 4., 9.])
    """
    refuse_foreign(sources, what="sources")
    arrays = [sources] if isinstance(sources, Array) else list(sources)
    check_arrays(arrays)
    places = [targets] if isinstance(sources, Array) else list(targets)
    if not isinstance(regions, (type(None), Sequence)):
        raise TypeError(f"regions is {regions!r}, expected a tuple of slices for each source")
    one = not regions or isinstance(regions[0], slice)
    parts = [regions] * len(arrays) if one else list(regions or ())
    if not len(arrays) == len(places) == len(parts):
        raise ValueError(
            f"{len(arrays)} sources for {len(places)} targets and {len(parts)} regions"
        )
    places = [
        p if p is None or isinstance(p, ForeignPlace) else place_in(p, None, x._spec)
        for x, p in zip(arrays, places, strict=True)
    ]
    options = RunOptions.of(
        {**kwargs, "executor": executor, "callbacks": callbacks, "optimize_graph": optimize_graph,
         "resume": resume, "take_over": take_over, "update": update,
         "partials": partials}
    )  # fmt: skip
    how = overwrite, write_empty_chunks
    return _write(arrays, places, parts, how, options if compute else None)


def _write(
    arrays: Sequence[Array],
    places: Sequence[Any],
    regions: Sequence[Any],
    how: tuple[bool, bool],
    options: RunOptions | None,
) -> StoredArrays | None:
    """Writes arrays to places; without options returns arrays with pending writes."""
    wanted: list[Stored | None] = []
    removed: list[str] = []
    for x, place, region in zip(arrays, places, regions, strict=True):
        if place is None:
            if region is not None:
                raise ValueError(
                    "a target is None, expected a place to write, because a region is given"
                )
            if options is not None:
                place = _temporary(x)
                removed.append(place)
        wanted.append(None if place is None else Stored(x, place, region, *how))
    later = Delayed([*filter(None, wanted), *lazy_writes(arrays)])
    if options is None:
        return StoredArrays(map(_with, arrays, wanted))
    try:
        later.compute(options)
    finally:
        for place in removed:
            with suppress(OSError):
                _core.remove_result(place)
    return None


def _with(x: Array, stored: Stored | None) -> Array:
    out = x._like(x._x if stored is None else _core.hold(x._x, Waiting(stored)))
    out._stored = stored
    return out


def _temporary(x: Array) -> str:
    """Returns a place in the work directory."""
    import tempfile  # lazy: slow import

    work_dir = x.spec.intermediates[0] or tempfile.gettempdir()
    return f"{work_dir}/cubed-result-{os.urandom(16).hex()}-0"


@overload
def to_zarr(
    x: Array,
    store: Any = None,
    path: str | None = None,
    region: Any = None,
    compute: Literal[True] = True,
    *,
    overwrite: bool = True,
    write_empty_chunks: bool = True,
    executor: Any = None,
    callbacks: Sequence[Any] | None = None,
    optimize_graph: bool = True,
    resume: bool | None = None,
    take_over: bool = False,
    update: bool = False,
    partials: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> None: ...
@overload
def to_zarr(
    x: Array,
    store: Any = None,
    path: str | None = None,
    region: Any = None,
    *,
    compute: Literal[False],
    overwrite: bool = True,
    write_empty_chunks: bool = True,
    executor: Any = None,
    callbacks: Sequence[Any] | None = None,
    optimize_graph: bool = True,
    resume: bool | None = None,
    take_over: bool = False,
    update: bool = False,
    partials: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> Array: ...
@overload
def to_zarr(
    x: Array,
    store: Any = None,
    path: str | None = None,
    region: Any = None,
    compute: bool = True,
    *,
    overwrite: bool = True,
    write_empty_chunks: bool = True,
    executor: Any = None,
    callbacks: Sequence[Any] | None = None,
    optimize_graph: bool = True,
    resume: bool | None = None,
    take_over: bool = False,
    update: bool = False,
    partials: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> Array | None: ...
def to_zarr(
    x: Array,
    store: Any = None,
    path: str | None = None,
    region: Any = None,
    compute: bool = True,
    *,
    overwrite: bool = True,
    write_empty_chunks: bool = True,
    executor: Any = None,
    callbacks: Sequence[Any] | None = None,
    optimize_graph: bool = True,
    resume: bool | None = None,
    take_over: bool = False,
    update: bool = False,
    partials: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> Array | None:
    """Computes x and writes it to the Zarr array at `path` of a store: :func:`cubed.store`.

    Parameters
    ----------
    x : Array
        Input array.
    store : str, path or store or None
        A local directory (its path, ``file://`` URL or ``zarr.storage.LocalStore``),
        ``memory://NAME`` (fsspec's file system in the memory of this process), a ZIP archive
        (``FILE.zip``) or a NetCDF-4 file (``FILE.nc``), which is written as a whole, or another
        target of :func:`cubed.store`.
    path : str or None
        The array's path in the store or file.
    region : tuple of slice or None
        A tuple of slices (of step 1): the part of an existing array to write.
    compute : bool, default True
        As for :func:`cubed.store`.
    overwrite : bool, default True
        Replace an existing array or group; False: raise FileExistsError.
    write_empty_chunks : bool, default True
        As for :func:`cubed.store`.
    executor : Executor, str or None
        As for :func:`cubed.compute`.
    callbacks : sequence of Callback or None
        As for :func:`cubed.compute`.
    optimize_graph : bool, default True
        As for :func:`cubed.compute`.
    resume : bool or None
        As for :func:`cubed.compute`.
    take_over : bool, default False
        As for :func:`cubed.compute`.
    update : bool, default False
        As for :func:`cubed.compute`.
    partials : str or path or None
        As for :func:`cubed.compute`.
    **kwargs : object
        As for :func:`cubed.compute`.

    Returns
    -------
    None or Array
        None after the array has been written. With ``compute=False`` an array: computing it writes
        it and returns the stored values.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ones((4, 2), chunks=(2, 2))
    >>> cubed.to_zarr(x, "memory://to_zarr")
    >>> cubed.from_zarr("memory://to_zarr").sum().compute()
    array(8.)
    """
    check_arrays([x])
    if not isinstance(region, (type(None), slice, Sequence)):
        raise TypeError(f"region is {region!r}, expected a tuple of slices")
    if store is None and path:
        raise ValueError(f"path is {path!r}, but there is no store")
    place = None if store is None else place_in(store, path, x._spec)
    options = RunOptions.of(
        {**kwargs, "executor": executor, "callbacks": callbacks, "optimize_graph": optimize_graph,
         "resume": resume, "take_over": take_over, "update": update,
         "partials": partials}
    )  # fmt: skip
    how = overwrite, write_empty_chunks
    later = _write([x], [place], [region], how, options if compute else None)
    return None if later is None else later[0]
