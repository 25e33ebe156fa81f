"""The public surface of Cubed for Python 0.28: what of it is here, and that the rest is said."""

import importlib
import inspect
from pathlib import Path

import cubed
import cubed.array_api as xp
import pytest

MIGRATION = (Path(__file__).resolve().parents[2] / "docs/migration.md").read_text()

NAMES = {
    "cubed": """Array Callback Spec TaskEndEvent apply_gufunc compute config from_array from_zarr
        map_blocks map_overlap measure_reserved_mem nanargmax nanargmin nancumprod nancumsum nanmax
        nanmean nanmedian nanmin nanprod nanstd nansum nanvar pad plan raise_if_computes rechunk
        store to_zarr visualize""",
    "cubed.array_api": "linalg broadcast_to concat matmul tensordot vecdot sum mean argmax",
    "cubed.random": "random integers",
    "cubed.core": "unify_chunks",
    "cubed.core.groupby": "groupby_reduction groupby_blockwise",
    "cubed.core.ops": """apply_gufunc blockwise elemwise from_array from_zarr general_blockwise
        map_blocks map_overlap map_selection rechunk reduction store to_zarr""",
    "cubed.core.optimization": """simple_optimize_dag multiple_inputs_optimize_dag
        fuse_all_optimize_dag fuse_only_optimize_dag""",
    "cubed.vendor.dask.array.core": "normalize_chunks",
    "cubed.runtime.create": "create_executor",
    "cubed.runtime.types": """Callback ComputeStartEvent ComputeEndEvent OperationStartEvent
        OperationEndEvent TaskEndEvent""",
    "cubed.runtime.executors.local": """SingleThreadedExecutor ThreadsExecutor ProcessesExecutor""",
    "cubed.diagnostics": "ProgressBar",
    "cubed.diagnostics.rich": "RichProgressBar",
    "cubed.diagnostics.tqdm": "TqdmProgressBar",
    "cubed.diagnostics.history": "HistoryCallback",
    "cubed.diagnostics.timeline": "TimelineVisualizationCallback",
    "cubed.diagnostics.mem_usage": "MemoryVisualizationCallback",
    "cubed.diagnostics.mem_warn": "MemoryWarningCallback",
    "cubed.diagnostics.widgets": "LivePlanViewer LiveMemoryViewer LiveTimelineViewer",
    "cubed.diagnostics.memray": "MemrayCallback",
    "cubed.icechunk": "store_icechunk",
}

#: Not here; docs/migration.md says so.
ABSENT = {
    "cubed.core.ops.general_blockwise",
    "cubed.diagnostics.memray.MemrayCallback",
}

PARAMETERS = {
    "cubed.from_array": "x chunks asarray spec",
    "cubed.from_zarr": "store path chunks spec",
    "cubed.store": "sources targets regions executor",
    "cubed.to_zarr": "x store path region executor",
    "cubed.map_blocks": "func args dtype chunks drop_axis new_axis spec",
    "cubed.map_overlap": "func args dtype chunks depth boundary trim",
    "cubed.apply_gufunc": "func signature args vectorize output_sizes allow_rechunk output_dtypes",
    "cubed.rechunk": "x chunks min_mem allow_irregular",
    "cubed.pad": "x pad_width mode constant_values chunks",
    "cubed.measure_reserved_mem": "executor work_dir",
    "cubed.Spec": """work_dir intermediate_store allowed_mem reserved_mem executor executor_name
        executor_options storage_options zarr_compressor""",
    "cubed.random.random": "size dtype chunks spec",
    "cubed.random.integers": "dtype chunks spec",
    "cubed.array_api.sum": "x axis dtype keepdims split_every",
    "cubed.array_api.mean": "x axis keepdims split_every",
    "cubed.array_api.argmax": "x axis keepdims split_every",
    "cubed.array_api.tensordot": "x1 x2 axes split_every",
    "cubed.array_api.matmul": "x1 x2 split_every",
    "cubed.array_api.vecdot": "x1 x2 axis split_every",
    "cubed.array_api.broadcast_to": "x shape chunks",
    "cubed.array_api.concat": "arrays axis chunks",
    "cubed.array_api.ones": "shape dtype device chunks spec",
    "cubed.array_api.arange": "start stop step dtype device chunks spec",
}

ARRAY = """
    compute plan rechunk visualize blocks chunks chunksize chunkmem numblocks npartitions
    nbytes itemsize T mT device to_svg _repr_html_ _repr_inline_ dtype ndim shape size nchunks
"""
PLAN = """
    num_tasks num_arrays num_stages num_primitive_ops max_projected_mem allowed_mem
    exceeds_memory ops_exceeding_memory validate execute visualize total_narrays_read
    total_nbytes_read total_nchunks_read total_narrays_written total_nbytes_written
    total_nchunks_written total_input_narrays total_input_nbytes total_input_nchunks
    total_intermediate_narrays total_intermediate_nbytes total_intermediate_nchunks
    total_output_narrays total_output_nbytes total_output_nchunks
"""


def found(path):
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name, None)
    except ImportError:
        return None


@pytest.mark.parametrize(
    "path", [f"{module}.{name}" for module, names in NAMES.items() for name in names.split()]
)
def test_names(path):
    assert (found(path) is None) == (path in ABSENT)
    if path in ABSENT:
        assert path.rpartition(".")[2] in MIGRATION


@pytest.mark.parametrize("path", PARAMETERS)
def test_parameters(path):
    names = inspect.signature(found(path)).parameters
    assert [p for p in PARAMETERS[path].split() if p not in names] == []


def test_attributes():
    x = xp.ones((4, 4), chunks=(2, 2))
    assert [name for name in ARRAY.split() if not hasattr(x, name)] == []
    plan = cubed.plan(x + 1)
    assert [name for name in PLAN.split() if not hasattr(plan, name)] == []
