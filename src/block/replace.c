/* Texts, some of them replaced by others, which are cut or padded with zeros to their length. Types that have
 * registers are selected element by element instead. */
#include <string.h>

#include "base/error.h"
#include "block/functions.h"

static bool same_shape(const cubed_block *x, const cubed_block *y)
{
    bool same = x->ndim == y->ndim;
    for (int d = 0; d < y->ndim && same; d++) same = x->shape[d] == y->shape[d];
    return same;
}

static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    if (call->nin != 3 || call->nout != 1 || call->params_size != 0)
        return cb_fail(err, CUBED_E_FORMAT, "other parameters or operands than it takes");
    const cubed_block *x = &call->in[0], *mask = &call->in[1], *value = &call->in[2];
    if (cubed_dtype_kind(x->dtype) != CUBED_KIND_TEXT || call->out[0].dtype != x->dtype ||
        cubed_dtype_family(value->dtype) != cubed_dtype_family(x->dtype) ||
        mask->dtype != CUBED_BOOL)
        return cb_fail(err, CUBED_E_FORMAT, "operands of other types");
    for (int i = 0; i < 3; i++) {
        if (!same_shape(&call->in[i], &call->out[0]))
            return cb_fail(err, CUBED_E_FORMAT, "operands of other shapes");
    }
    return CUBED_OK;
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cubed_block *x = &call->in[0], *value = &call->in[2];
    const uint8_t *mask = call->in[1].data;
    const char *kept = x->data, *fresh = value->data;
    char *to = call->out[0].data;
    const size_t size = cubed_dtype_size(x->dtype), other = cubed_dtype_size(value->dtype);
    const size_t common = size < other ? size : other;
    size_t count = 1;
    (void)ctx;
    (void)err;
    if (!to) return CUBED_OK;
    for (int d = 0; d < x->ndim; d++) count *= (size_t)x->shape[d];
    for (size_t i = 0; i < count; i++, kept += size, fresh += other, to += size) {
        if (mask[i]) {
            memcpy(to, fresh, common);
            memset(to + common, 0, size - common);
        } else {
            memcpy(to, kept, size);
        }
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_replace = {
    .name = "replace", .check = check, .run = run, .divisible = true};
