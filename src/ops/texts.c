/* Operations on fixed-length strings. They are functions on blocks, because the virtual machine has no registers for strings. */
#include <string.h>

#include "base/error.h"
#include "block/params.h"
#include "cubed/blockwise.h"
#include "ops/number_steps.h"
#include "ops/ops_pkg.h"

/* --- Elementwise operations ------------------------------------------------------------------------ */

static cubed_status by_elements(const cubed_kernel *kernel, cubed_array *const *args, int nargs,
                                cubed_dtype dtype, const char *const *names, cubed_array **out,
                                cubed_error *err)
{
    cubed_array *y;
    CB_TRY(cubed_map_blocks(args[0]->ctx, kernel, args, nargs, dtype, NULL, &y, err));
    const cubed_status st = cubed_array_with_dim_names(y, names, out, err);
    cubed_array_unref(y);
    return st;
}

cubed_status cb_op_text(cubed_op op, cubed_array *const *args, int nargs, cubed_dtype dtype,
                        const char *const *names, cubed_array **out, cubed_error *err)
{
    const cb_compare_params params = {op};
    const cubed_kernel compare = {
        .name = "compare_texts", .params = &params, .params_size = sizeof params};
    const cubed_kernel replace = {.name = "replace"}, join = {.name = "join_texts"};
    if (op == CUBED_OP_ADD) return by_elements(&join, args, nargs, dtype, names, out, err);
    if (op != CUBED_OP_WHERE) return by_elements(&compare, args, nargs, dtype, names, out, err);
    cubed_array *const in[3] = {args[2], args[0], args[1]};
    return by_elements(&replace, in, nargs, dtype, names, out, err);
}

/* Converts strings to bool: nonempty strings are true. */
static cubed_status is_not_empty(cubed_array *x, cubed_array **out, cubed_error *err)
{
    const uint32_t zero = 0; /* a null character, either of bytes or of UCS4 */
    cubed_dtype one;
    cubed_array *empty;
    CB_TRY(cubed_dtype_fixed(cubed_dtype_family(x->node.dtype), 1, &one, err));
    CB_TRY(cubed_array_full_text(x->ctx, one, 0, NULL, NULL, &zero, &empty, err));
    cubed_array *const args[2] = {x, empty};
    const cubed_status st =
        cb_op_text(CUBED_OP_NOT_EQUAL, args, 2, CUBED_BOOL, x->node.dim_names, out, err);
    cubed_array_unref(empty);
    return st;
}

cubed_status cb_op_cast_text(cubed_array *x, cubed_dtype dtype, cubed_array **out, cubed_error *err)
{
    const cubed_kernel replace = {.name = "replace"};
    cubed_array *y;
    if (dtype == CUBED_BOOL) return is_not_empty(x, out, err);
    CB_TRY(by_elements(&replace, &x, 1, dtype, x->node.dim_names, &y, err));
    if (!x->node.attrs) {
        *out = y;
        return CUBED_OK;
    }
    const cubed_status st = cubed_array_with_attrs(y, x->node.attrs, out, err);
    cubed_array_unref(y);
    return st;
}

/* --- Constant strings ------------------------------------------------------------------------------ */

cubed_status cubed_array_full_text(cubed_context *ctx, cubed_dtype dtype, int ndim,
                                   const int64_t *shape, const int64_t *chunks, const void *element,
                                   cubed_array **out, cubed_error *err)
{
    cb_grid grid;
    cubed_array *one = NULL, *all = NULL;
    if (!cubed_dtype_is_valid(dtype) || cubed_dtype_kind(dtype) < CUBED_KIND_TEXT)
        return cb_fail(err, CUBED_E_TYPE,
                       "full_text: dtype %d is not a type of bytes, strings or records",
                       (int)dtype);
    CB_TRY(cb_op_grid("full_text", dtype, ndim, shape, chunks, &grid, err));
    const cubed_block_output to = {.dtype = dtype};
    cubed_status st = CUBED_OK;
    const cubed_block_operation operation = {.function = "text",
                                             .params = element,
                                             .params_size = cubed_dtype_size(dtype),
                                             .outputs = &to,
                                             .nout = 1};
    CB_GO(cubed_blockwise(ctx, &operation, &one, err));
    CB_GO(cubed_broadcast_to(one, ndim, shape, &all, err));
    if (chunks) {
        st = cubed_rechunk(all, chunks, out, err);
    } else {
        cubed_array_yield_chunks(all);
        *out = cubed_array_ref(all);
    }
out:
    cubed_array_unref(one);
    cubed_array_unref(all);
    return st;
}

/* --- Extremes -------------------------------------------------------------------------------------- */

/* Maximum bytes of a block of intermediate results. Along axes that are not reduced, blocks have the array's chunks even if they
 * are larger. */
#define MOST_MERGED_BYTES ((int64_t)1 << 20)

typedef struct extreme {
    cb_extreme_params params;
    bool positions;
    uint32_t reduced;
} extreme;

/* Reduces x to the extremes of its blocks, whose lengths are `chunks`. Reduces each block separately, or combines all blocks
 * along the axes in order. x consists of the strings and their positions (NULL before the first reduction), and is replaced by
 * the results. */
static void reduce_blocks(cb_steps *s, const extreme *e, bool all, const int64_t *chunks,
                          cubed_array *x[2])
{
    int symbols[CUBED_MAX_NDIM], own[CUBED_MAX_NDIM];
    int64_t shape[CUBED_MAX_NDIM], made[CUBED_MAX_NDIM];
    const char *names[CUBED_MAX_NDIM] = {NULL};
    cubed_array *y[2] = {NULL, NULL};
    if (s->st != CUBED_OK) return;
    const int ndim = x[0]->node.grid->ndim;
    for (int d = 0; d < ndim; d++) {
        const bool gone = e->reduced >> d & 1;
        symbols[d] = d;
        own[d] = gone && all ? -1 : d;
        shape[d] = !gone ? x[0]->shape[d] : all ? 1 : cb_ceil_div(x[0]->shape[d], chunks[d]);
        made[d] = gone ? 1 : chunks[d];
        names[d] = gone ? NULL : x[0]->node.dim_names[d];
    }
    const cubed_block_input in[2] = {{x[0], symbols, chunks}, {x[1], symbols, chunks}};
    const cubed_block_output to[2] = {{x[0]->node.dtype, ndim, shape, made, own, names},
                                      {CUBED_INT64, ndim, shape, made, own, names}};
    const cubed_block_operation operation = {.function = "extreme_text",
                                             .params = &e->params,
                                             .params_size = sizeof e->params,
                                             .inputs = in,
                                             .nin = x[1] ? 2 : 1,
                                             .outputs = to,
                                             .nout = e->positions ? 2 : 1};
    s->st = cubed_blockwise(s->ctx, &operation, y, s->err);
    x[0] = cb_step(s, s->st, &y[0]);
    x[1] = e->positions ? cb_step(s, s->st, &y[1]) : NULL;
}

/* Reduces each block, and then the results. */
static cubed_array *extreme_of(cb_steps *s, const extreme *e, cubed_array *x)
{
    const int ndim = x->node.grid->ndim;
    int64_t chunks[CUBED_MAX_NDIM],
        left = MOST_MERGED_BYTES / (int64_t)cubed_dtype_size(x->node.dtype);
    bool several = false;
    cubed_array *parts[2] = {x, NULL};
    for (int d = 0; d < ndim; d++) {
        chunks[d] = cb_max_i64(1, cb_min_i64(x->chunks[d], x->shape[d]));
        if (e->reduced >> d & 1)
            several = several || chunks[d] < x->shape[d];
        else
            left /= chunks[d];
    }
    if (several) {
        reduce_blocks(s, e, false, chunks, parts);
        for (int d = ndim - 1; d >= 0 && parts[0]; d--) {
            if (!(e->reduced >> d & 1)) continue;
            chunks[d] = cb_max_i64(1, cb_min_i64(left, parts[0]->shape[d]));
            left /= chunks[d];
        }
    }
    reduce_blocks(s, e, true, chunks, parts);
    return parts[e->positions];
}

/* Reduces over the axes `reduced`, which are kept with extent 1 or dropped. */
static cubed_status reduce_text(const char *name, extreme *e, cubed_array *x, bool keepdims,
                                cubed_array **out, cubed_error *err)
{
    int axes[CUBED_MAX_NDIM], naxes = 0;
    int64_t stride = 1;
    for (int d = x->node.grid->ndim - 1; d >= 0; d--) {
        if (!(e->reduced >> d & 1)) continue;
        if (x->shape[d] == 0)
            return cb_fail(err, CUBED_E_ARG, "%s of no elements: axis %d has extent 0", name, d);
        axes[naxes++] = d;
        e->params.stride[d] = stride;
        if (cb_mul_i64(stride, x->shape[d], &stride))
            return cb_fail(err, CUBED_E_UNSUPPORTED, "%s over more than 2**63 elements", name);
    }
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = extreme_of(&s, e, x), *squeezed = NULL;
    if (y && naxes && !keepdims)
        y = cb_step(&s, cubed_squeeze(y, axes, naxes, &squeezed, err), &squeezed);
    return cb_steps_end(&s, y, out);
}

cubed_status cb_op_reduce_text(cubed_reduction which, cubed_array *x,
                               const cubed_reduce_options *options, cubed_array **out,
                               cubed_error *err)
{
    const char *name = cubed_reduction_name(which);
    extreme e = {.params.largest = which == CUBED_REDUCE_MAX};
    CB_TRY(cb_op_reduce_axes(name, x->node.grid->ndim, options, &e.reduced, err));
    if (e.reduced) return reduce_text(name, &e, x, options->keepdims, out, err);
    *out = cubed_array_ref(x);
    return CUBED_OK;
}

cubed_status cb_op_arg_text(const char *name, cb_reduction kind, cubed_array *x, const int *axis,
                            bool keepdims, cubed_array **out, cubed_error *err)
{
    const cubed_reduce_options o = {.struct_size = sizeof o, .axes = axis, .naxes = 1};
    extreme e = {.params.largest = kind == CB_REDUCE_ARGMAX, .positions = true};
    CB_TRY(cb_op_reduce_axes(name, x->node.grid->ndim, &o, &e.reduced, err));
    return reduce_text(name, &e, x, keepdims, out, err);
}
