/* Reductions over moving windows. */
#include "cubed/rolling.h"

#include <inttypes.h>
#include <string.h>

#include "array_api/api_pkg.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "block/params.h"

static cubed_status set_params(const cubed_array *x, const cubed_window *windows, int n,
                               cubed_group_reduction reduction, const cubed_rolling_options *o,
                               cb_rolling_params *p, cubed_error *err)
{
    uint32_t seen = 0;
    memset(p, 0, sizeof *p);
    p->reduction = (int32_t)reduction;
    p->min_count = o->min_count;
    p->correction = o->correction;
    for (int i = 0; i < n; i++) {
        int axis = windows[i].axis;
        CB_TRY(cb_api_axis("rolling", x->node.grid->ndim, &axis, err));
        if (windows[i].before < 0 || windows[i].after < 0)
            return cb_fail(err, CUBED_E_ARG,
                           "rolling: the window along axis %d has %" PRId64
                           " elements before and %" PRId64 " after, expected at least 0",
                           axis, windows[i].before, windows[i].after);
        if (seen >> axis & 1)
            return cb_fail(err, CUBED_E_ARG, "rolling: axis %d is given twice", axis);
        seen |= 1u << axis;
        /* Positions beyond the axis have no elements, so distances are limited to the axis. */
        const int64_t most = cb_max_i64(0, x->shape[axis] - 1);
        p->before[axis] = cb_min_i64(windows[i].before, most);
        p->after[axis] = cb_min_i64(windows[i].after, most);
    }
    return CUBED_OK;
}

/* Sets each block to a chunk, or to several chunks along axes whose chunks are shorter than the windows. So few blocks read the
 * same element. Blocks of several chunks have at most CB_API_BLOCK_BYTES. */
static void set_blocks(const cubed_array *x, const cb_rolling_params *p,
                       int64_t chunks[CUBED_MAX_NDIM])
{
    size_t bytes = sizeof(double);
    cb_api_blocks_within(x, 0, INT64_MAX, 1, chunks);
    for (int d = 0; d < x->node.grid->ndim; d++) bytes = cb_sat_mul(bytes, (size_t)chunks[d]);
    for (int d = 0; d < x->node.grid->ndim; d++) {
        const int64_t wanted = cb_ceil_div(p->before[d] + 1 + p->after[d], chunks[d]);
        const int64_t most = (int64_t)((size_t)CB_API_BLOCK_BYTES / bytes);
        const int64_t longer = chunks[d] * cb_max_i64(1, cb_min_i64(most, wanted));
        bytes = bytes / (size_t)chunks[d];
        chunks[d] = cb_min_i64(cb_max_i64(1, x->shape[d]), longer);
        bytes = cb_sat_mul(bytes, (size_t)chunks[d]);
    }
}

/* Reduces x, which is float32 or float64. */
static cubed_status reduce(cubed_array *x, const cb_rolling_params *p, cubed_array **out,
                           cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    int64_t chunks[CUBED_MAX_NDIM];
    int symbols[CUBED_MAX_NDIM];
    cubed_block_halo halo[CUBED_MAX_NDIM];
    set_blocks(x, p, chunks);
    for (int d = 0; d < ndim; d++) {
        symbols[d] = d;
        halo[d] = (cubed_block_halo){p->before[d], p->after[d], false};
    }
    const cubed_block_halo *const halos[] = {halo};
    const cubed_block_input in = {x, symbols, chunks};
    const cubed_block_output to = {p->reduction == CUBED_GROUP_COUNT ? CUBED_INT64 : x->node.dtype,
                                   ndim,
                                   x->shape,
                                   chunks,
                                   symbols,
                                   x->node.dim_names};
    const cubed_block_operation operation = {.function = "rolling",
                                             .params = p,
                                             .params_size = sizeof *p,
                                             .inputs = &in,
                                             .nin = 1,
                                             .outputs = &to,
                                             .nout = 1,
                                             .halos = halos};
    return cubed_blockwise(x->ctx, &operation, out, err);
}

static bool is_known(cubed_group_reduction reduction)
{
    return reduction >= CUBED_GROUP_COUNT && reduction <= CUBED_GROUP_MAX;
}

cubed_status cubed_rolling_reduce(cubed_array *x, const cubed_window *windows, int n,
                                  cubed_group_reduction reduction,
                                  const cubed_rolling_options *options, cubed_array **out,
                                  cubed_error *err)
{
    cubed_rolling_options o = CUBED_ROLLING_OPTIONS_INIT;
    const cubed_kind kind = cubed_dtype_kind(x->node.dtype);
    cubed_array *values = NULL, *made = NULL;
    cb_rolling_params p;
    cubed_status st = CUBED_OK;
    CB_TRY(CB_OPTIONS_TAKE("rolling", options, &o, err));
    if (!is_known(reduction))
        return cb_fail(
            err, CUBED_E_ARG,
            "rolling: reduction is %s, expected count, sum, prod, mean, var, std, min or max",
            cubed_group_reduction_name(reduction) ? cubed_group_reduction_name(reduction) : "none");
    if (kind > CUBED_KIND_FLOAT)
        return cb_fail(err, CUBED_E_TYPE, "rolling is not defined for %s, expected real numbers",
                       cubed_dtype_name(x->node.dtype));
    if (x->node.grid->ndim == 0 || n < 1)
        return cb_fail(
            err, CUBED_E_ARG,
            "rolling: there are %d windows and x has %d dimensions, expected at least one of each",
            n, x->node.grid->ndim);
    CB_TRY(set_params(x, windows, n, reduction, &o, &p, err));
    const size_t size = cubed_dtype_size(x->node.dtype);
    CB_GO(cubed_astype(x, kind == CUBED_KIND_FLOAT && size <= 4 ? CUBED_FLOAT32 : CUBED_FLOAT64,
                       &values, err));
    CB_GO(reduce(values, &p, &made, err));
    if (kind == CUBED_KIND_FLOAT && reduction != CUBED_GROUP_COUNT)
        CB_GO(cubed_astype(made, x->node.dtype, out, err));
    else
        *out = cubed_array_ref(made);
out:
    cubed_array_unref(values);
    cubed_array_unref(made);
    return st;
}
