"""Traversal of graphs of plans: :attr:`cubed.Plan.dag`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["visit_node_generations", "visit_nodes"]


def visit_nodes(dag: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields names and attributes of operations, each after its inputs.

    Parameters
    ----------
    dag : networkx.MultiDiGraph
        The graph of a plan.

    Returns
    -------
    iterator of tuple
        Pairs of a name and a dictionary.

    Examples
    --------
    >>> import cubed
    >>> from cubed.runtime.pipeline import visit_nodes
    >>> dag = (cubed.ones(4, chunks=2) + 1).plan().dag
    >>> [attributes["type"] for _, attributes in visit_nodes(dag)]
    ['op']
    """
    for generation in visit_node_generations(dag):
        yield from generation


def visit_node_generations(dag: Any) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    """Yields operations in groups; each group depends only on earlier groups.

    Parameters
    ----------
    dag : networkx.MultiDiGraph
        The graph of a plan.

    Returns
    -------
    iterator of list
        Lists of pairs of a name and a dictionary.

    Examples
    --------
    >>> import cubed
    >>> from cubed.runtime.pipeline import visit_node_generations
    >>> dag = (cubed.ones(4, chunks=2) + 1).plan().dag
    >>> len(list(visit_node_generations(dag)))
    1
    """
    import networkx as nx

    for names in nx.topological_generations(dag):
        found = [(name, dag.nodes[name]) for name in names if dag.nodes[name]["type"] == "op"]
        if found:
            yield found
