/* Block function "require": copies an array, and fails at the first element for which a condition is false. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "block/functions.h"
#include "block/params.h"

static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const char *text = call->params;
    (void)ctx;
    if (call->nin != 2 || call->nout != 1 || call->params_size == 0 ||
        call->params_size > CB_REQUIRE_BYTES || text[call->params_size - 1] != 0)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    const cubed_block *x = &call->in[0], *holds = &call->in[1], *y = &call->out[0];
    bool same = x->dtype == y->dtype && holds->dtype == CUBED_BOOL && x->ndim == y->ndim &&
                holds->ndim == y->ndim;
    for (int d = 0; d < y->ndim && same; d++)
        same = x->shape[d] == y->shape[d] && holds->shape[d] == y->shape[d];
    return same ? CUBED_OK
                : cb_fail(err, CUBED_E_FORMAT,
                          "the types or shapes of operands do not match the function");
}

void cb_block_position(const cubed_block *x, int64_t at, char *text, size_t size)
{
    int64_t idx[CUBED_MAX_NDIM];
    size_t used = 0;
    for (int d = x->ndim - 1; d >= 0; d--) {
        idx[d] = x->offset[d] + at % x->shape[d];
        at /= x->shape[d];
    }
    text[0] = 0;
    for (int d = 0; d < x->ndim && used < size; d++)
        used += (size_t)snprintf(text + used, size - used, d ? ", %" PRId64 : "%" PRId64, idx[d]);
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    const uint8_t *holds = call->in[1].data;
    size_t count = 1;
    (void)ctx;
    for (int d = 0; d < x->ndim; d++) count *= (size_t)x->shape[d];
    const uint8_t *wrong = memchr(holds, 0, count);
    if (wrong) {
        char at[160];
        cb_block_position(y, wrong - holds, at, sizeof at);
        return cb_fail(err, CUBED_E_ARG, "%s, at (%s) of the result", (const char *)call->params,
                       at);
    }
    if (y->data) memcpy(y->data, x->data, count * cubed_dtype_size(x->dtype));
    return CUBED_OK;
}

const cubed_block_fn cb_block_require = {
    .name = "require", .check = check, .run = run, .divisible = true};
