/* Sorting functions. */
#include "array_api/api_pkg.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "block/params.h"

/* A block of the result uses at most 1 / BLOCKS_OF_TASK of a task's memory. So it also fits in tasks of operations that do not
 * divide blocks. */
#define BLOCKS_OF_TASK 8

static int64_t block_bytes(uint64_t task_mem)
{
    return task_mem ? (int64_t)cb_min_size(task_mem / BLOCKS_OF_TASK, CB_API_BLOCK_BYTES)
                    : CB_API_BLOCK_BYTES;
}

static cubed_status along_axis(const char *name, cubed_array *x, int axis,
                               const cubed_sort_options *o, cubed_dtype dtype, cubed_array **out,
                               cubed_error *err)
{
    int64_t chunks[CUBED_MAX_NDIM];
    int symbols[CUBED_MAX_NDIM];
    cb_api_blocks_within(x, 1u << axis, block_bytes(o->task_mem), cubed_dtype_size(dtype), chunks);
    for (int d = 0; d < x->node.grid->ndim; d++) symbols[d] = d == axis ? -1 : d;
    const cb_sort_params params = {axis, o->descending};
    const cubed_block_input in = {x, symbols, chunks};
    const cubed_block_output to = {dtype,   x->node.grid->ndim, x->shape, chunks,
                                   symbols, x->node.dim_names};
    const cubed_block_operation operation = {.function = name,
                                             .params = &params,
                                             .params_size = sizeof params,
                                             .inputs = &in,
                                             .nin = 1,
                                             .outputs = &to,
                                             .nout = 1};
    return cubed_blockwise(x->ctx, &operation, out, err);
}

cubed_status cubed_sort_with(cubed_array *x, int axis, const cubed_sort_options *options,
                             cubed_array **out, cubed_error *err)
{
    cubed_sort_options taken = CUBED_SORT_OPTIONS_INIT;
    const cubed_sort_options *o = &taken;
    CB_TRY(CB_OPTIONS_TAKE("sort", options, &taken, err));
    const char *name = o->positions ? "argsort" : "sort";
    CB_TRY(cb_api_axis(name, x->node.grid->ndim, &axis, err));
    if (cb_api_sorts_in_runs(x, axis, o->positions, o->task_mem))
        return cb_api_sort_runs(x, NULL, axis, o->descending, o->task_mem,
                                o->positions ? NULL : out, o->positions ? out : NULL, err);
    return along_axis(name, x, axis, o, o->positions ? CUBED_INT64 : x->node.dtype, out, err);
}

cubed_status cubed_sort(cubed_array *x, int axis, bool descending, cubed_array **out,
                        cubed_error *err)
{
    cubed_sort_options o = CUBED_SORT_OPTIONS_INIT;
    o.descending = descending;
    return cubed_sort_with(x, axis, &o, out, err);
}

cubed_status cubed_argsort(cubed_array *x, int axis, bool descending, cubed_array **out,
                           cubed_error *err)
{
    cubed_sort_options o = CUBED_SORT_OPTIONS_INIT;
    o.descending = descending;
    o.positions = true;
    return cubed_sort_with(x, axis, &o, out, err);
}
