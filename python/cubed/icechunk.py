"""Writing to repositories of Icechunk, through the package icechunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cubed.array._array import Array
from cubed.io._store import store
from cubed.planning._options import RunOptions

__all__ = ["store_icechunk"]


def store_icechunk(
    session: Any = None,
    *,
    sources: Array | Sequence[Array],
    targets: Any,
    regions: Any = None,
    executor: Any = None,
    **kwargs: Any,
) -> Any:
    """Writes arrays into Zarr arrays of a session of Icechunk, which the caller then commits.

    Parameters
    ----------
    session : icechunk.Session or None
        For compatibility: the session is that of the targets' store.
    sources : Array or sequence of Array
        An array, or several.
    targets : str, path, array or sequence
        For each source a zarr-python array that exists, in the store of a session that can be
        written to, or of a fork of one. All are of one session.
    regions : tuple of slice, sequence or None
        For each source a tuple of slices, or one for all; None: the whole target.
    executor : Executor, str or None
        As for :func:`cubed.store`. One that runs in this process, which has the session.
    **kwargs : object
        See `executor`.

    Returns
    -------
    The targets' session, with the changes: `session.commit(message)`, or, where it is a fork,
    `session.merge(fork)` before that. Nothing is committed here, so that what a run that fails has
    written is in no snapshot.

    Raises
    ------
    TypeError
        A target is not an array in an Icechunk session.
    ValueError
        Targets are of several sessions, or theirs is read-only.
    NotImplementedError The executor runs tasks in other processes, so this session would not have
        their changes.

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
    arrays = [targets] if isinstance(sources, Array) else list(targets)
    sessions = [_session_of(t) for t in arrays]
    if not sessions:
        raise ValueError("sources is empty, expected an array, or several")
    if sessions[0].read_only:
        raise ValueError("the session of targets is read-only: open one by writable_session")
    first = sources if isinstance(sources, Array) else next(iter(sources))
    chosen = RunOptions(executor, more=kwargs).executor_for(first.spec)
    if not chosen.capabilities["shares_memory"]:
        raise NotImplementedError(
            f"executor {chosen.name!r} runs tasks in other processes, expected 'threads' or"
            " 'single-threaded': the session's changes are in this process"
        )
    store(sources, targets, regions, executor=chosen)
    # Several objects can refer to one session, so sessions are compared by their changes.
    changes = sessions[0]._session.as_bytes() if len(sessions) > 1 else b""
    if any(s._session.as_bytes() != changes for s in sessions[1:]):
        raise ValueError(
            "targets are of several sessions, expected one: nothing is committed, and changes are"
            " in each of them"
        )
    return sessions[0]


def _session_of(target: Any) -> Any:
    session = getattr(getattr(target, "store", None), "session", None)
    if session is None or not hasattr(target, "shape"):
        raise TypeError(
            f"target {target!r}: expected a zarr-python array in the store of a session of Icechunk"
        )
    return session
