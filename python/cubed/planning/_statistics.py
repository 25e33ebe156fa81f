"""Statistics of a run."""

from __future__ import annotations

from typing import Any

from cubed.base._bytes import format_bytes
from cubed.base._words import counted, duration


class RunStatistics(dict[str, Any]):
    """A dictionary of a run's statistics, which prints as a few lines."""

    def __repr__(self) -> str:
        lines = [
            f"{counted(self['num_tasks'], 'task')} in {duration(self['seconds'])} on"
            f" {counted(self['num_workers'], 'worker')}",
            f"read {format_bytes(self['bytes_read'])}"
            f" ({format_bytes(self['stored_read'])} stored),"
            f" wrote {format_bytes(self['bytes_written'])}"
            f" ({format_bytes(self['stored_written'])} stored)",
            f"memory of the largest task: {format_bytes(self['measured_mem'])} measured,"
            f" {format_bytes(self['projected_mem'])} projected",
        ]
        if self["num_retries"]:
            lines.append(f"{counted(self['num_retries'], 'attempt')} retried")
        if self["num_throttled"]:
            lines.append(
                f"{counted(self['num_throttled'], 'request')} refused because of their rate;"
                f" limited to {self['throttle_limit']} at a time at the end"
            )
        update = self.get("update")
        if update:
            lines.append(
                f"update: {update['num_changed']} of {counted(update['num_checked'], 'object')} of"
                f" the sources changed; read {format_bytes(update['bytes_read'])} to compare them"
            )
        if update and self["num_resumed"]:
            lines.append(f"{counted(self['num_resumed'], 'task')} skipped")
        elif self["num_resumed"]:
            lines.append(f"{counted(self['num_resumed'], 'task')} done by an earlier run")
        return "\n".join(lines)
