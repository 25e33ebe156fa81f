"""Walks through graphs of plans: :attr:`cubed.Plan.dag`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["visit_node_generations", "visit_nodes"]


def visit_nodes(dag: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and attributes of operations, each after those that it reads from."""
    for generation in visit_node_generations(dag):
        yield from generation


def visit_node_generations(dag: Any) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    """The same in groups: of those that read from groups before theirs only."""
    import networkx as nx

    for names in nx.topological_generations(dag):
        found = [(name, dag.nodes[name]) for name in names if dag.nodes[name]["type"] == "op"]
        if found:
            yield found
