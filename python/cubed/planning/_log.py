"""Formats decisions of the planner for users and for `logging.getLogger("cubed")`."""

from __future__ import annotations

import sys
from typing import Any

from cubed.base._bytes import format_bytes


def explain_plan(plan: Any) -> list[str]:
    """Explains the fused operations of each stage, why arrays are stored, and why stages that read
    the same array are separate.
    """
    lines, stages = [], plan.stages
    for i, stage in enumerate(stages):
        lines.append(
            f"stage {i} runs in one pass: {stage['name']}"
            f" ({stage['num_tasks']} tasks of {format_bytes(stage['projected_mem'])})"
        )
        for x in stage["outputs"]:
            if x["is_target"]:
                continue
            users = [str(k) for k, s in enumerate(stages) if x["id"] in _ids(s["inputs"])]
            lines.append(
                f"array-{x['id']}, {x['dtype']} {x['shape']}, is stored between stage {i} and"
                f" {', '.join(users)}: {x['why']}"
            )
        lines += [
            f"stages {i} and {k} read the same array separately: {why}"
            for k, why in stage["apart"]
            if k > i
        ]
    lines += plan.requests().splitlines()
    lines += [
        f"{t['url']} (up to {format_bytes(t['bytes'])}): {t['promise']}" for t in plan.targets
    ]
    return lines


def _ids(arrays: list[dict[str, Any]]) -> list[int]:
    return [x["id"] for x in arrays]


def log_plan(plan: Any) -> None:
    """Logs at level DEBUG the operations that each stage fuses, and why others are not fused.

    Does nothing unless :mod:`logging` is imported, because without it no handler can exist.
    """
    logging = sys.modules.get("logging")
    if logging is None:
        return
    log = logging.getLogger("cubed")
    if not log.isEnabledFor(logging.DEBUG):
        return
    log.debug(
        "plan: %d stages, %d tasks, %s of %s of memory",
        plan.num_stages,
        plan.num_tasks,
        format_bytes(plan.max_projected_mem),
        format_bytes(plan.allowed_mem),
    )
    for line in explain_plan(plan):
        log.debug(line)
