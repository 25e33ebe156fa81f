/* Block functions of records: they extract fields of types for which the virtual machine has no registers, and make records of
 * a subset of the fields. */
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/functions.h"
#include "block/params.h"
#include "kernel/kernel.h"

static cubed_status check_pick(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_piece_params *p = call->params;
    const size_t n = call->params_size / sizeof *p;
    (void)ctx;
    if (call->nin != 1 || call->nout != 1 || n == 0 || call->params_size % sizeof *p != 0)
        return cb_fail(err, CUBED_E_FORMAT,
                       "expected one operand, one result and a list of pieces");
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    bool fits = cubed_dtype_family(x->dtype) == CUBED_RECORD && y->ndim >= x->ndim;
    for (int d = 0; d < x->ndim && fits; d++) fits = x->shape[d] == y->shape[d];
    int64_t size = (int64_t)cubed_dtype_size(y->dtype), sum = 0;
    const int64_t record = (int64_t)cubed_dtype_size(x->dtype);
    for (int d = x->ndim; d < y->ndim && fits; d++) fits = !cb_mul_i64(size, y->shape[d], &size);
    for (size_t i = 0; i < n && fits; i++) {
        fits = p[i].offset >= 0 && p[i].size > 0 && p[i].size <= record - p[i].offset &&
               (p[i].unit == 1 || p[i].unit == 2 || p[i].unit == 4 || p[i].unit == 8) &&
               p[i].size % p[i].unit == 0;
        sum += fits ? p[i].size : 0;
    }
    return fits && sum == size
               ? CUBED_OK
               : cb_fail(err, CUBED_E_FORMAT, "the pieces do not match the operand and the result");
}

static cubed_status run_pick(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_piece_params *p = call->params;
    const size_t n = call->params_size / sizeof *p;
    const cubed_block *x = &call->in[0];
    const size_t record = cubed_dtype_size(x->dtype);
    const char *from = x->data;
    char *to = call->out[0].data;
    int64_t count = 1;
    (void)ctx;
    (void)err;
    for (int d = 0; d < x->ndim; d++) count *= x->shape[d];
    for (int64_t i = 0; to && i < count; i++, from += record) {
        for (size_t k = 0; k < n; k++) {
            const size_t size = (size_t)p[k].size, unit = (size_t)p[k].unit;
            memcpy(to, from + p[k].offset, size);
            if (unit > 1) cb_reverse_units(to, unit, size / unit);
            to += size;
        }
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_pick_fields = {
    .name = "pick_fields", .check = check_pick, .run = run_pick, .divisible = true};
