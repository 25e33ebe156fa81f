/* Counts true elements of masks. */
#include "base/checked.h"
#include "base/error.h"
#include "block/functions.h"
#include "block/params.h"
#include "kernel/kernel.h"

static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_count_true_params *p = call->params;
    (void)ctx;
    if (call->params_size != sizeof *p || call->nin != 1 || call->nout != 1)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    if (p->chunk < 1 || x->ndim != 1 || y->ndim != 1 || x->dtype != CUBED_BOOL ||
        y->dtype != CUBED_INT64 || y->shape[0] != cb_ceil_div(x->shape[0], p->chunk))
        return cb_fail(err, CUBED_E_FORMAT,
                       "the types or shapes of operands do not match the function");
    return CUBED_OK;
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_count_true_params *p = call->params;
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    int64_t *out = y->data;
    (void)ctx;
    (void)err;
    for (int64_t i = 0; out && i < y->shape[0]; i++) {
        int64_t from = i * p->chunk, n = cb_min_i64(p->chunk, x->shape[0] - from);
        out[i] = cb_count_true((const uint8_t *)x->data + from, n);
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_count_true = {.name = "count_true", .check = check, .run = run};
