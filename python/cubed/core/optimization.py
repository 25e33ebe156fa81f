"""Functions for ``optimize_function=``, under the names of Cubed for Python."""

from cubed.planning._options import (
    fuse_all_optimize_dag,
    fuse_only_optimize_dag,
    multiple_inputs_optimize_dag,
    simple_optimize_dag,
)

__all__ = [
    "fuse_all_optimize_dag",
    "fuse_only_optimize_dag",
    "multiple_inputs_optimize_dag",
    "simple_optimize_dag",
]
