/* Converts negative positions along an axis, which count from its end, to positions from its start. */
#include <inttypes.h>

#include "base/error.h"
#include "block/functions.h"
#include "block/params.h"

static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_take_params *p = call->params;
    (void)ctx;
    if (call->params_size != sizeof *p || call->nin != 1 || call->nout != 1 || p->extent < 0)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    bool same = x->dtype == CUBED_INT64 && y->dtype == CUBED_INT64 && x->ndim == y->ndim;
    for (int d = 0; d < y->ndim && same; d++) same = x->shape[d] == y->shape[d];
    return same ? CUBED_OK
                : cb_fail(err, CUBED_E_FORMAT,
                          "the types or shapes of operands do not match the function");
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_take_params *p = call->params;
    const int64_t *x = call->in[0].data;
    int64_t *y = call->out[0].data, count = 1;
    (void)ctx;
    for (int d = 0; d < call->in[0].ndim; d++) count *= call->in[0].shape[d];
    for (int64_t i = 0; i < count; i++) {
        if (x[i] < -p->extent || x[i] >= p->extent)
            return cb_fail(err, CUBED_E_INDEX,
                           "position %" PRId64 " is out of bounds for axis %d of %" PRId64
                           " elements",
                           x[i], (int)p->axis, p->extent);
        if (y) y[i] = x[i] < 0 ? x[i] + p->extent : x[i];
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_wrap = {
    .name = "wrap", .check = check, .run = run, .divisible = true};
