/* Extracts the main diagonals of square matrices. */
#include <string.h>

#include "base/error.h"
#include "block/functions.h"

static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    if (call->params_size != 0 || call->nin != 1 || call->nout != 1)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    bool fits = x->dtype == y->dtype && y->ndim >= 1 && x->ndim == y->ndim + 1;
    for (int d = 0; d < y->ndim && fits; d++) fits = x->shape[d] == y->shape[d];
    fits = fits && x->shape[y->ndim] == y->shape[y->ndim - 1];
    return fits ? CUBED_OK
                : cb_fail(err, CUBED_E_FORMAT,
                          "the types or shapes of operands do not match the function");
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    const size_t size = cubed_dtype_size(x->dtype), n = (size_t)y->shape[y->ndim - 1];
    const char *from = x->data;
    char *to = y->data;
    size_t matrices = 1;
    (void)ctx;
    (void)err;
    if (!to) return CUBED_OK;
    for (int d = 0; d < y->ndim - 1; d++) matrices *= (size_t)y->shape[d];
    for (size_t m = 0; m < matrices; m++, from += n * n * size, to += n * size) {
        for (size_t i = 0; i < n; i++) memcpy(to + i * size, from + i * (n + 1) * size, size);
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_diagonal = {
    .name = "diagonal", .check = check, .run = run, .divisible = true};
