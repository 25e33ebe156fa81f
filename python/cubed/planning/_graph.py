"""Plans as graphs of networkx."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from cubed.base._distribution import optional
from cubed.base._dtypes import dtype_of
from cubed.runtime.types import operation_name


@dataclass(frozen=True)
class PrimitiveOperation:
    """A stage of a plan. Memory is in bytes and includes reserved memory."""

    num_tasks: int
    projected_mem: int
    allowed_mem: int
    reserved_mem: int
    source_array_names: list[str]
    target_array: Any
    fusable_with_predecessors: bool = False
    fusable_with_successors: bool = False
    write_chunks: tuple[int, ...] | None = None


@dataclass(frozen=True)
class StoredArray:
    """An array that a plan reads or writes. `place` is its location, or ``"result"`` or
    ``"intermediate"`` for arrays that have no location.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    chunks: tuple[int, ...]
    place: str

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements, uncompressed."""
        return self.size * self.dtype.itemsize

    @property
    def nchunks(self) -> int:
        """Number of chunks."""
        pairs = zip(self.shape, self.chunks, strict=True)
        return math.prod(-(-n // max(1, c)) for n, c in pairs)


def graph_of(plan: Any) -> Any:
    """Returns the graph of a plan: see :attr:`cubed.Plan.dag`."""
    nx = optional("networkx", "graphs of plans need networkx", "diagnostics", "networkx")
    stages = plan.stages
    stored = {x["id"]: x for x in plan._stored()}
    names = plan._names_of_stored()
    dag = nx.MultiDiGraph()
    arrays = {}
    for i, x in stored.items():
        target = StoredArray(x["shape"], dtype_of(x["dtype"]), x["chunks"], x["name"])
        arrays[i] = target
        dag.add_node(names[i], name=names[i], type="array", target=target, hidden=False)
    for number, stage in enumerate(stages):
        name = operation_name(number, stage)
        outputs = [arrays[x["id"]] for x in stage["outputs"]]
        chunks = outputs[0].chunks if outputs else None
        op = PrimitiveOperation(
            num_tasks=stage["num_tasks"],
            projected_mem=stage["projected_mem"] + plan.reserved_mem,
            allowed_mem=plan.allowed_mem,
            reserved_mem=plan.reserved_mem,
            source_array_names=[names[x["id"]] for x in stage["inputs"]],
            target_array=outputs[0] if len(outputs) == 1 else outputs,
            write_chunks=chunks,
        )
        dag.add_node(
            name, name=name, op_name=stage["name"], func_name=stage["name"], type="op",
            primitive_op=op, hidden=False,
        )  # fmt: skip
        dag.add_edges_from((names[x["id"]], name) for x in stage["inputs"])
        dag.add_edges_from((name, names[x["id"]]) for x in stage["outputs"])
    return nx.freeze(dag)
