"""User-defined functions as ``optimize_function``, which choose whether operations are fused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

#: Attribute of the graph that an ``optimize_function`` gets: a function that creates the graph of
#: the fused plan.
FUSED = "cubed_fused"


def fuses(
    function: Callable[..., Any], graph_of: Callable[[bool], Any], array_names: Sequence[str]
) -> bool:
    """Calls an ``optimize_function`` with the graph of the plan that is not fused.

    Parameters
    ----------
    function
        Returns the graph that it got, or the result of a function of
        :mod:`cubed.core.optimization` for this graph.
    graph_of
        Makes the graph of the plan with fused operations (True), or without.
    array_names
        Names of the computed arrays.

    Returns
    -------
    bool
        Whether to fuse operations.

    Raises
    ------
    TypeError
        If the function returns another object.
    """
    given = graph_of(False)
    made: list[Any] = []

    def fused() -> Any:
        if not made:
            made.append(graph_of(True))
        return made[0]

    given.graph[FUSED] = fused
    more = {"array_names": tuple(array_names)} if _takes_names(function) else {}
    result = function(given, **more)
    if result is given:
        return False
    if made and result is made[0]:
        return True
    raise TypeError(
        f"optimize_function {function!r} returned {result!r}, expected the graph that it got, or"
        " the result of a function of cubed.core.optimization for that graph: the engine cannot run"
        " a changed graph"
    )


def _takes_names(function: Callable[..., Any]) -> bool:
    import inspect  # lazy: importing the package does not need it

    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # many functions in C have no signature
        return False
    return any(p.name == "array_names" or p.kind is p.VAR_KEYWORD for p in parameters)
