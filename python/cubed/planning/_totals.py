"""Counts and bytes of a plan's stored arrays."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Self, overload

from cubed.array._base import name_at


class ArrayRole(Enum):
    """The role of a stored array in a plan."""

    INPUT = "input"
    INTERMEDIATE = "intermediate"
    OUTPUT = "output"


class Number(property):
    """A numeric property."""

    def __init__(self, read: Callable[[Any], int], doc: str) -> None:
        super().__init__(read, doc=doc)

    @overload
    def __get__(self, instance: None, owner: type, /) -> Self: ...
    @overload
    def __get__(self, instance: Any, owner: type | None = None, /) -> int: ...
    def __get__(self, instance: Any, owner: type | None = None, /) -> Any:
        return super().__get__(instance, owner)


def _kind(x: dict[str, Any]) -> ArrayRole:
    if x["is_target"]:
        return ArrayRole.OUTPUT
    return ArrayRole.INPUT if x["is_source"] else ArrayRole.INTERMEDIATE


def _of_stored(key: str | None, doc: str, *kinds: ArrayRole) -> Number:
    """Creates a property for the sum of `key` over all stored arrays, or over those of some kinds.

    The key None counts the arrays.
    """
    return Number(lambda p: sum(x[key] if key else 1 for x in p._of_kind(*kinds)), doc)


class PlanTotals:
    """Totals over :attr:`stages`.

    ``read`` and ``written`` are sums over stages, so an array counts for each stage that reads it.
    ``input``, ``intermediate`` and ``output`` count each array once. Bytes are uncompressed;
    irregular chunks count as if all were as large as the largest.
    """

    allowed_mem: Number
    reserved_mem: Number

    @property
    def stages(self) -> list[dict[str, Any]]:
        """Each stage's name, tasks, memory, bytes, and stored arrays."""
        raise NotImplementedError

    @property
    def array_names(self) -> tuple[str, ...]:
        """The :attr:`cubed.Array.name` of each computed array."""
        raise NotImplementedError

    def _stored(self) -> list[dict[str, Any]]:
        found = {x["id"]: x for s in self.stages for x in [*s["inputs"], *s["outputs"]]}
        return list(found.values())

    def _of_kind(self, *kinds: ArrayRole) -> list[dict[str, Any]]:
        return [x for x in self._stored() if not kinds or _kind(x) in kinds]

    def _names_of_stored(self) -> dict[int, str]:
        """Returns the names of stored arrays by id. Results have the names of the computed arrays,
        in the same order. Another stored array has the name of the lazy array with its values, if
        that name was requested and is unique.
        """
        stored, given = self._stored(), self.array_names
        results = sorted(x["id"] for x in stored if x["is_target"])
        alike = len(results) == len(given)
        names = {i: given[k] if alike else f"result-{i}" for k, i in enumerate(results)}
        for x in stored:
            own = f"{'source' if x['is_source'] else 'intermediate'}-{x['id']}"
            name = name_at(x["array"])
            names.setdefault(x["id"], own if name is None or name in names.values() else name)
        return names

    def _names_of_kind(self, kind: ArrayRole) -> list[str]:
        names = self._names_of_stored()
        return [names[x["id"]] for x in self._of_kind(kind)]

    @property
    def input_array_names(self) -> list[str]:
        """Names of arrays that exist before the run: :attr:`cubed.Array.name` if it was requested,
        otherwise a number.
        """
        return self._names_of_kind(ArrayRole.INPUT)

    @property
    def intermediate_array_names(self) -> list[str]:
        """Names of arrays that are stored between stages, like :attr:`input_array_names`."""
        return self._names_of_kind(ArrayRole.INTERMEDIATE)

    def array_role(self, name: str) -> ArrayRole:
        """Returns the role of a stored array in the plan.

        Parameters
        ----------
        name
            One of :attr:`input_array_names`, :attr:`intermediate_array_names` and
            :attr:`array_names`.

        Raises
        ------
        ValueError
            If no stored array of the plan has this name.
        """
        for kind in ArrayRole:
            if name in self._names_of_kind(kind):
                return kind
        raise ValueError(f"name is {name!r}, expected one of {[*self._names_of_stored().values()]}")

    total_narrays_read = Number(
        lambda p: sum(len(s["inputs"]) for s in p.stages), "Arrays that stages read."
    )
    total_narrays_written = Number(
        lambda p: sum(len(s["outputs"]) for s in p.stages), "Arrays that stages write."
    )
    total_nchunks_read = Number(
        lambda p: sum(s["chunks_read"] for s in p.stages),
        "Chunks that stages read, including repeated reads.",
    )
    total_nchunks_written = Number(
        lambda p: sum(s["chunks_written"] for s in p.stages), "Chunks that stages write."
    )
    total_input_narrays = _of_stored(None, "Arrays that exist before the run.", ArrayRole.INPUT)
    total_input_nbytes = _of_stored("nbytes", "Bytes of inputs.", ArrayRole.INPUT)
    total_input_nchunks = _of_stored("nchunks", "Chunks of inputs.", ArrayRole.INPUT)
    total_intermediate_narrays = _of_stored(
        None, "Arrays that are stored between stages.", ArrayRole.INTERMEDIATE
    )
    total_intermediate_nbytes = _of_stored(
        "nbytes", "Bytes of intermediates.", ArrayRole.INTERMEDIATE
    )
    total_intermediate_nchunks = _of_stored(
        "nchunks", "Chunks of intermediates.", ArrayRole.INTERMEDIATE
    )
    total_output_narrays = _of_stored(None, "Results.", ArrayRole.OUTPUT)
    total_output_nbytes = _of_stored("nbytes", "Bytes of results.", ArrayRole.OUTPUT)
    total_output_nchunks = _of_stored("nchunks", "Chunks of results.", ArrayRole.OUTPUT)
    total_narrays = _of_stored(None, "Stored arrays: inputs, intermediates and results.")
    total_nbytes = _of_stored("nbytes", "Bytes of all stored arrays.")
    total_nchunks = _of_stored("nchunks", "Chunks of all stored arrays.")

    @property
    def ops_exceeding_memory(self) -> list[tuple[str, dict[str, Any]]]:
        """Names and entries of stages whose tasks exceed the allowed memory, the largest tasks
        first.

        The list is empty, because a plan with such a stage is refused when it is created.
        """
        limit = self.allowed_mem - self.reserved_mem
        found = [(s["name"], s) for s in self.stages if s["projected_mem"] > limit]
        return sorted(found, key=lambda op: op[1]["projected_mem"], reverse=True)

    @property
    def exceeds_memory(self) -> bool:
        """Whether the plan has stages that exceed the allowed memory."""
        return bool(self.ops_exceeding_memory)

    def validate(self) -> None:
        """Checks that every stage fits into the allowed memory.

        Raises
        ------
        ValueError
            If a stage does not fit.
        """
        for name, stage in self.ops_exceeding_memory:
            raise ValueError(
                f"stage {name!r} needs {stage['projected_mem']} bytes in addition to reserved_mem"
                f" {self.reserved_mem}, allowed_mem is {self.allowed_mem}"
            )
