#include "linalg/linalg_panel.h"

#include <string.h>

#include "base/error.h"

/* The symbols are numbered in this order: batch axes, columns of blocks, rows of blocks. */
cubed_status cb_panel_check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_panel_params *p = call->params;
    (void)ctx;
    if (call->params_size != sizeof *p || call->nin != 1 || call->nout != 1)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    const cubed_block *in = &call->in[0], *out = &call->out[0];
    if ((in->dtype != CUBED_FLOAT64 && in->dtype != CUBED_COMPLEX128) || in->dtype != out->dtype)
        return cb_fail(err, CUBED_E_TYPE, "the function is not defined for %s and %s",
                       cubed_dtype_name(in->dtype), cubed_dtype_name(out->dtype));
    if (in->ndim < 2 || in->ndim != out->ndim || call->nsymbols != in->ndim ||
        cb_linalg_count(in, 2) != 1 || cb_linalg_count(out, 2) != 1)
        return cb_fail(err, CUBED_E_FORMAT, "the dimensions of operands do not match the function");
    int64_t column = call->index[call->nsymbols - 2], row = call->index[call->nsymbols - 1];
    int64_t step = cb_columns(in), n = cb_rows(out) - p->rows, start, end, columns;
    if (step < 1 || p->rows < step || p->rows % step != 0 || p->panels < 0 || p->option >> 1 ||
        n < 1 || cb_columns(out) < 1 || cb_columns(out) > step ||
        cb_mul_i64(p->panels, step, &columns) || columns - step >= n || column > 2 * p->panels)
        return cb_fail(err, CUBED_E_FORMAT, "the parameters are out of range");
    /* All blocks have the same height, except the last one. */
    if (cb_mul_i64(row, p->rows, &start) || cb_add_i64(start, cb_rows(in), &end) ||
        end > cb_rows(out) || cb_rows(in) > p->rows ||
        (end < cb_rows(out) && cb_rows(in) != p->rows))
        return cb_fail(err, CUBED_E_FORMAT, "the blocks have other shapes than the panel");
    return CUBED_OK;
}

cb_panel cb_panel_of(const cubed_block_call *call, const cb_kernels *kernels)
{
    const cb_panel_params *p = call->params;
    const cubed_block *in = &call->in[0], *out = &call->out[0];
    return (cb_panel){.at = out->data,
                      .rows = p->rows,
                      .n = cb_rows(out) - p->rows,
                      .width = cb_columns(out),
                      .in = in->data,
                      .have = cb_rows(in),
                      .step = cb_columns(in),
                      .from = (call->index[call->nsymbols - 1] - 1) * p->rows,
                      .column = call->index[call->nsymbols - 2],
                      .products = {.gemm_d = kernels->gemm[CUBED_FLOAT64],
                                   .gemm_z = kernels->gemm[CUBED_COMPLEX128],
                                   .cancel = call->cancel}};
}

void cb_panel_load(const cb_panel *s, size_t item)
{
    char *to = (char *)s->at + (size_t)((s->from + s->rows) * s->width) * item;
    const char *from = s->in;
    size_t row = (size_t)s->width * item, step = (size_t)s->step * item;
    for (int64_t i = 0; i < s->have; i++, to += row, from += step) memcpy(to, from, row);
}
