/* Takes elements by their positions along an axis. Each call has one block of the axis, and takes the elements whose
 * positions are in the block. Each position is in the block of exactly one call. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "block/functions.h"
#include "block/params.h"

static cubed_status check_operands(const cubed_block_call *call, cubed_error *err)
{
    const cb_take_params *p = call->params;
    if (call->params_size != sizeof *p || call->nin != 2 || call->nout != 1)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    if (p->axis < 0 || p->axis >= x->ndim || x->ndim != y->ndim || p->extent < 0)
        return cb_fail(err, CUBED_E_FORMAT, "axis %d is out of range for %d dimensions",
                       (int)p->axis, x->ndim);
    if (x->dtype != y->dtype || call->in[1].dtype != CUBED_INT64)
        return cb_fail(err, CUBED_E_FORMAT, "the types of operands do not match the function");
    return CUBED_OK;
}

static cubed_status other_shapes(cubed_error *err)
{
    return cb_fail(err, CUBED_E_FORMAT, "the shapes of operands do not match the function");
}

static cubed_status check_take(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_take_params *p = call->params;
    const cubed_block *x = &call->in[0], *at = &call->in[1], *y = &call->out[0];
    (void)ctx;
    CB_TRY(check_operands(call, err));
    if (at->ndim != 1 || at->shape[0] != y->shape[p->axis]) return other_shapes(err);
    for (int d = 0; d < x->ndim; d++) {
        if (d != p->axis && x->shape[d] != y->shape[d]) return other_shapes(err);
    }
    return CUBED_OK;
}

static cubed_status check_along(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_take_params *p = call->params;
    const cubed_block *x = &call->in[0], *at = &call->in[1], *y = &call->out[0];
    (void)ctx;
    CB_TRY(check_operands(call, err));
    if (at->ndim != y->ndim) return other_shapes(err);
    for (int d = 0; d < x->ndim; d++) {
        bool fits = d == p->axis || ((x->shape[d] == y->shape[d] || x->shape[d] == 1) &&
                                     (at->shape[d] == y->shape[d] || at->shape[d] == 1));
        if (!fits) return other_shapes(err);
    }
    return at->shape[p->axis] == y->shape[p->axis] ? CUBED_OK : other_shapes(err);
}

/* Gets the index of a position in this block, or -1 if the position is in another block. */
static cubed_status find(const cubed_block_call *call, int64_t position, int64_t *out,
                         cubed_error *err)
{
    const cb_take_params *p = call->params;
    const cubed_block *x = &call->in[0];
    int64_t at = position < 0 ? position + p->extent : position;
    if (at < 0 || at >= p->extent)
        return cb_fail(err, CUBED_E_INDEX,
                       "position %" PRId64 " is out of bounds for axis %d of %" PRId64 " elements",
                       position, (int)p->axis, p->extent);
    at -= x->offset[p->axis];
    *out = at >= 0 && at < x->shape[p->axis] ? at : -1;
    return CUBED_OK;
}

static cubed_status run_take(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_take_params *p = call->params;
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    const int64_t *positions = call->in[1].data;
    int64_t outer = 1, n = x->shape[p->axis], m = y->shape[p->axis];
    size_t run = cubed_dtype_size(x->dtype);
    (void)ctx;
    for (int d = 0; d < p->axis; d++) outer *= x->shape[d];
    for (int d = p->axis + 1; d < x->ndim; d++) run *= (size_t)x->shape[d];
    if (!y->data) return CUBED_OK;
    for (int64_t j = 0; j < m; j++) {
        int64_t at;
        CB_TRY(find(call, positions[j], &at, err));
        if (at < 0) continue;
        const char *from = (const char *)x->data + (size_t)at * run;
        char *to = (char *)y->data + (size_t)j * run;
        for (int64_t i = 0; i < outer; i++) {
            memcpy(to, from, run);
            from += (size_t)n * run;
            to += (size_t)m * run;
        }
    }
    return CUBED_OK;
}

/* Computes the strides of x in elements. The stride is 0 along axes that are broadcast to y. */
static void strides_of(const cubed_block *x, const cubed_block *y, int axis, int64_t *strides)
{
    int64_t s = 1;
    for (int d = x->ndim - 1; d >= 0; d--) {
        strides[d] = x->shape[d] == 1 && y->shape[d] != 1 && d != axis ? 0 : s;
        s *= x->shape[d];
    }
}

static cubed_status run_along(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_take_params *p = call->params;
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    const int64_t *positions = call->in[1].data;
    int64_t from[CUBED_MAX_NDIM], at[CUBED_MAX_NDIM], idx[CUBED_MAX_NDIM] = {0}, count = 1;
    size_t size = cubed_dtype_size(x->dtype);
    char *to = y->data;
    (void)ctx;
    if (!to) return CUBED_OK;
    strides_of(x, y, p->axis, from);
    strides_of(&call->in[1], y, p->axis, at);
    for (int d = 0; d < y->ndim; d++) count *= y->shape[d];
    for (int64_t i = 0; i < count; i++, to += size) {
        int64_t position = 0, element = 0, k;
        for (int d = 0; d < y->ndim; d++) {
            position += idx[d] * at[d];
            if (d != p->axis) element += idx[d] * from[d];
        }
        CB_TRY(find(call, positions[position], &k, err));
        if (k >= 0)
            memcpy(to, (const char *)x->data + (size_t)(element + k * from[p->axis]) * size, size);
        for (int d = y->ndim - 1; d >= 0 && ++idx[d] == y->shape[d]; d--) idx[d] = 0;
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_take = {
    .name = "take", .check = check_take, .run = run_take, .divisible = true};
const cubed_block_fn cb_block_take_along_axis = {
    .name = "take_along_axis", .check = check_along, .run = run_along, .divisible = true};
