/* Searching functions. */
#include "array_api/api_pkg.h"
#include "base/error.h"
#include "block/params.h"
#include "ops/ops_pkg.h"
#include "ops/steps.h"

static cubed_status search(cubed_array *sorted, cubed_array *values, bool right, cubed_array **out,
                           cubed_error *err)
{
    int ndim = values->node.grid->ndim, symbols[CUBED_MAX_NDIM];
    int64_t chunks[CUBED_MAX_NDIM];
    if (ndim == CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "searchsorted: x2 has %d dimensions, expected fewer", ndim);
    cb_api_blocks(values, 0, sizeof(int64_t), chunks);
    for (int d = 0; d < ndim; d++) symbols[d] = d;
    const cb_search_params params = {right};
    const cubed_block_input in[2] = {{sorted, &ndim, NULL}, {values, symbols, chunks}};
    const cubed_block_output to = {CUBED_INT64, ndim,    values->shape,
                                   chunks,      symbols, values->node.dim_names};
    const cubed_block_operation operation = {.function = "searchsorted",
                                             .params = &params,
                                             .params_size = sizeof params,
                                             .inputs = in,
                                             .nin = 2,
                                             .outputs = &to,
                                             .nout = 1};
    return cubed_blockwise(sorted->ctx, &operation, out, err);
}

/* Searches int64 values among uint64 elements, or uint64 values among int64 elements. Values outside of the range of the
 * elements' type precede or follow all elements. */
static cubed_status search_integers(cubed_array *sorted, cubed_array *values, bool right,
                                    cubed_array **out, cubed_error *err)
{
    const bool behind = values->node.dtype == CUBED_UINT64;
    cubed_array *found = NULL;
    cb_steps s = {.ctx = sorted->ctx, .err = err};
    cubed_dtype type = behind ? CUBED_INT64 : CUBED_UINT64;
    cubed_array *a = cb_step_cast(&s, sorted, type), *b = cb_step_cast(&s, values, type);
    if (s.st == CUBED_OK) cb_step(&s, search(a, b, right, &found, err), &found);
    cubed_array *at = cb_step_op(&s, CUBED_OP_WHERE, cb_step_beyond(&s, values),
                                 cb_step_whole(&s, behind ? sorted->shape[0] : 0), found);
    return cb_steps_end(&s, at, out);
}

cubed_status cubed_searchsorted(cubed_array *x1, cubed_array *x2, bool right, cubed_array *sorter,
                                cubed_array **out, cubed_error *err)
{
    cubed_dtype type = cubed_dtype_promote(x1->node.dtype, x2->node.dtype);
    if (x1->node.grid->ndim != 1)
        return cb_fail(err, CUBED_E_ARG, "searchsorted: x1 has %d dimensions, expected 1",
                       x1->node.grid->ndim);
    const bool texts = cubed_dtype_kind(x1->node.dtype) == CUBED_KIND_TEXT &&
                       cubed_dtype_family(x1->node.dtype) == cubed_dtype_family(x2->node.dtype);
    const bool times = cubed_dtype_kind(x1->node.dtype) == CUBED_KIND_TIME &&
                       cubed_dtype_family(x1->node.dtype) == cubed_dtype_family(x2->node.dtype);
    if (times) CB_TRY(cb_op_common_time("searchsorted", x1, x2, &type, err));
    if (!texts && !times &&
        (type == CUBED_DTYPE_COUNT || cubed_dtype_kind(type) >= CUBED_KIND_COMPLEX))
        return cb_fail(err, CUBED_E_TYPE, "searchsorted is not defined for %s and %s",
                       cubed_dtype_name(x1->node.dtype), cubed_dtype_name(x2->node.dtype));
    if (!times && type > CUBED_DTYPE_COUNT) type = CUBED_FLOAT32;
    cubed_array *sorted = NULL, *a = NULL, *b = NULL, *first = NULL, *second = NULL;
    cubed_status st = CUBED_OK;
    if (sorter) CB_GO(cubed_take(x1, sorter, 0, &sorted, err));
    if (cb_steps_mix_uint64(x1->node.dtype, x2->node.dtype)) {
        CB_GO(search_integers(sorter ? sorted : x1, x2, right, out, err));
        goto out;
    }
    if (times) { /* NaT follows all other times */
        CB_GO(cubed_astype(sorter ? sorted : x1, type, &a, err));
        CB_GO(cubed_astype(x2, type, &b, err));
        CB_GO(cb_op_ordered_time(a, true, &first, err));
        CB_GO(cb_op_ordered_time(b, true, &second, err));
        CB_GO(search(first, second, right, out, err));
        goto out;
    }
    if (texts) {
        CB_GO(search(sorter ? sorted : x1, x2, right, out, err));
        goto out;
    }
    CB_GO(cubed_astype(sorter ? sorted : x1, type, &a, err));
    CB_GO(cubed_astype(x2, type, &b, err));
    CB_GO(search(a, b, right, out, err));
out:
    cubed_array_unref(sorted);
    cubed_array_unref(a);
    cubed_array_unref(b);
    cubed_array_unref(first);
    cubed_array_unref(second);
    return st;
}
