"""Decisions of the planner, for `logging.getLogger("cubed")`."""

from __future__ import annotations

import sys
from typing import Any

from cubed._bytes import format_bytes


def log_plan(plan: Any) -> None:
    """Logs at level DEBUG what each stage fuses, and which arrays are stored between stages.

    Who listens has imported :mod:`logging`; else nothing is looked at.
    """
    logging = sys.modules.get("logging")
    if logging is None:
        return
    log = logging.getLogger("cubed")
    if not log.isEnabledFor(logging.DEBUG):
        return
    stages = plan.stages
    log.debug(
        "plan: %d stages, %d tasks, %s of %s of memory",
        len(stages),
        plan.num_tasks,
        format_bytes(plan.max_projected_mem),
        format_bytes(plan.allowed_mem),
    )
    for i, stage in enumerate(stages):
        log.debug(
            "stage %d runs in one pass: %s (%d tasks of %s)",
            i,
            stage["name"],
            stage["num_tasks"],
            format_bytes(stage["projected_mem"]),
        )
        for x in stage["outputs"]:
            users = [k for k, s in enumerate(stages) if x["id"] in [y["id"] for y in s["inputs"]]]
            if users:
                log.debug(
                    "array-%d, %s %s, is stored between stage %d and %s",
                    x["id"],
                    x["dtype"],
                    x["shape"],
                    i,
                    ", ".join(map(str, users)),
                )
