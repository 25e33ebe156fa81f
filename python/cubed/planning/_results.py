"""Results in memory if workers do not share memory: stored as arrays in the work directory."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from cubed import _core
from cubed.base._types import NDArray

if TYPE_CHECKING:
    from cubed.planning._compute import Plan

    _Targets = tuple[tuple[_core.Array, _core.Target | None], ...]


class StoredResults:
    """Locations for results in memory (targets of a plan without a URL), which the driver reads and
    removes. The computation's name is new unless it is given.
    """

    def __init__(self, given: _Targets, work_dir: str, name: str | None = None) -> None:
        self._given, self._work_dir = given, work_dir
        self._urls: list[str] = []
        targets: list[tuple[_core.Array, _core.Target | None]] = []
        for x, target in given:
            if target and "url" in target:
                targets.append((x, target))
                continue
            url = f"{work_dir}/cubed-result-{name or os.urandom(16).hex()}-{len(self._urls)}"
            self._urls.append(url)
            targets.append((x, {**(target or {}), "url": url, "overwrite": True}))
        self.targets: _Targets = tuple(targets)

    @property
    def has_any(self) -> bool:
        """Whether the plan has a result in memory, which is stored here."""
        return bool(self._urls)

    def named_by(self, make: Callable[[_Targets], _core.Plan]) -> StoredResults:
        """Returns locations that depend only on the computation, so a later run of it finds the
        results."""
        same = StoredResults(self._given, self._work_dir, "any")
        return StoredResults(self._given, self._work_dir, make(same.targets).id())

    def fetch(self, buffers: Sequence[NDArray], plan: Plan) -> None:
        """Reads the results, within the plan's memory."""
        for url, buffer in zip(self._urls, buffers, strict=True):
            read = _core.Plan(((_core.open(url), None),), max_workers=1, **plan.spec._limits())
            read.run((buffer,), "threads")

    def remove(self) -> None:
        """Removes stored results. Complete results of a driver that was killed are kept, so that
        its run can be resumed."""
        for url in self._urls:
            with suppress(OSError):
                _core.remove_result(url)
