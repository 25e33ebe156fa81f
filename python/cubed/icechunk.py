"""Writing to Icechunk repositories, through the package icechunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cubed.array._array import Array
from cubed.io._store import store
from cubed.planning._options import RunOptions
from cubed.runtime.types import Callback, ComputeEndEvent, ComputeStartEvent

__all__ = ["IcechunkStoreCallback", "store_icechunk"]


def store_icechunk(
    session: Any = None,
    *,
    sources: Array | Sequence[Array],
    targets: Any,
    regions: Any = None,
    executor: Any = None,
    **kwargs: Any,
) -> Any:
    """Writes arrays into Zarr arrays of an Icechunk session. The caller then commits it.

    Parameters
    ----------
    session : icechunk.Session or None
        Ignored, for compatibility: the session of the targets' store is used.
    sources : Array or sequence of Array
        An array, or several.
    targets : str, path, array or sequence
        For each source an existing array of zarr-python, in the store of a writable session or of a
        fork of one. All targets belong to one session.
    regions : tuple of slice, sequence or None
        The part of the target to write: a tuple of slices for each source, or one tuple for all
        sources. None: the whole target.
    executor : Executor, str or None
        As for :func:`cubed.store`. It must run tasks in this process, because the session is in
        this process.
    **kwargs : object
        Other options of :func:`cubed.store`, such as `callbacks` and options of the executor.

    Returns
    -------
    icechunk.Session
        The targets' session, with the changes. Commit it with `session.commit(message)`. If it is a
        fork, call `session.merge(fork)` before that. This function commits nothing, so that no
        snapshot contains chunks of a failed run.

    Raises
    ------
    TypeError
        A target is not an array in an Icechunk session.
    ValueError
        Targets belong to several sessions, or their session is read-only.
    NotImplementedError
        The executor runs tasks in other processes, whose changes this session would not get.

    Examples
    --------
    >>> import cubed
    >>> import icechunk, zarr
    >>> from cubed.icechunk import store_icechunk
    >>> repository = icechunk.Repository.create(icechunk.in_memory_storage())
    >>> session = repository.writable_session("main")
    >>> target = zarr.create_array(session.store, name="x", shape=(4,), chunks=(2,), dtype="f8")
    >>> done = store_icechunk(sources=cubed.ones(4, chunks=2), targets=target)
    >>> done.commit("Ones") != ""
    True
    """
    callback = IcechunkStoreCallback([targets] if isinstance(sources, Array) else targets)
    first = sources if isinstance(sources, Array) else next(iter(sources))
    options = RunOptions.of({**kwargs, "executor": executor})
    chosen = options.executor_for(first.spec)
    if not chosen.capabilities["shares_memory"]:
        raise NotImplementedError(
            f"executor {chosen.name!r} runs tasks in other processes, expected 'threads' or"
            " 'single-threaded': the session's changes are in this process"
        )
    own = {k: v for k, v in kwargs.items() if k not in (options.more or {})}
    own["callbacks"] = [callback, *(options.callbacks or ())]
    store(sources, targets, regions, executor=chosen, **own)
    return callback.merged_sessions


class IcechunkStoreCallback(Callback):
    """Provides the session of targets after a run that wrote into them.

    Parameters
    ----------
    targets : sequence
        Targets of :func:`cubed.store`: arrays of zarr-python in the store of an Icechunk session.

    Raises
    ------
    TypeError
        A target is not an array in an Icechunk session.
    ValueError
        There is no target, or the session is read-only.

    Examples
    --------
    >>> import cubed
    >>> import icechunk, zarr
    >>> from cubed.icechunk import IcechunkStoreCallback
    >>> repository = icechunk.Repository.create(icechunk.in_memory_storage())
    >>> session = repository.writable_session("main")
    >>> target = zarr.create_array(session.store, name="x", shape=(4,), chunks=(2,), dtype="f8")
    >>> stored = IcechunkStoreCallback([target])
    >>> cubed.store(cubed.ones(4, chunks=2), target, executor="threads", callbacks=[stored])
    >>> stored.merged_sessions.has_uncommitted_changes
    True
    """

    def __init__(self, targets: Sequence[Any]) -> None:
        #: The session of each target.
        self.sessions: list[Any] = [_session_of(t) for t in targets]
        if not self.sessions:
            raise ValueError("targets is empty, expected at least one array")
        if self.sessions[0].read_only:
            raise ValueError("the session of targets is read-only: open one by writable_session")
        self._done = False

    def on_compute_start(self, event: ComputeStartEvent) -> None:
        """Discards the result of the previous run."""
        self._done = False

    def on_compute_end(self, event: ComputeEndEvent) -> None:
        """Records whether the run succeeded."""
        self._done = event.error is None

    @property
    def merged_sessions(self) -> Any:
        """The session with all changes, to be committed. None before the end of a run, and after a
        run that failed.

        Raises
        ------
        ValueError
            Targets belong to several sessions.
        """
        if not self._done:
            return None
        # Several objects can refer to one session, so sessions are compared by their changes.
        first, *others = self.sessions
        changes = first._session.as_bytes() if others else b""
        if any(s._session.as_bytes() != changes for s in others):
            raise ValueError(
                "targets belong to several sessions, expected one: nothing is committed, and each"
                " session has some of the changes"
            )
        return first


def _session_of(target: Any) -> Any:
    session = getattr(getattr(target, "store", None), "session", None)
    if session is None or not hasattr(target, "shape"):
        raise TypeError(
            f"target {target!r}: expected a zarr-python array in the store of an Icechunk session"
        )
    return session
