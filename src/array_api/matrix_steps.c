#include "array_api/matrix_steps.h"

#include "array_api/api_pkg.h"
#include "base/error.h"

cubed_status cb_floating(const char *name, const cubed_array *a, const cubed_array *b,
                         cubed_dtype *out, cubed_error *err)
{
    char of_a[CUBED_DTYPE_TEXT_CAP], of_b[CUBED_DTYPE_TEXT_CAP] = "";
    *out = b ? cubed_dtype_promote(a->node.dtype, b->node.dtype) : a->node.dtype;
    if (*out == CUBED_DTYPE_COUNT || cubed_dtype_kind(*out) > CUBED_KIND_COMPLEX)
        return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s%s%s", name,
                       cubed_dtype_text(a->node.dtype, of_a), b ? " and " : "",
                       b ? cubed_dtype_text(b->node.dtype, of_b) : "");
    if (cubed_dtype_kind(*out) < CUBED_KIND_FLOAT) *out = CUBED_FLOAT64;
    return CUBED_OK;
}

cubed_array *cb_step_product(cb_steps *s, cubed_array *a, cubed_array *b)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_matmul(a, b, &y, s->err), &y);
}

cubed_array *cb_step_adjoint(cb_steps *s, cubed_array *x)
{
    cubed_array *y = NULL;
    if (s->st == CUBED_OK && cubed_dtype_kind(x->node.dtype) == CUBED_KIND_COMPLEX)
        x = cb_step_op(s, CUBED_OP_CONJ, x, NULL, NULL);
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_matrix_transpose(x, &y, s->err), &y);
}

cubed_array *cb_step_column(cb_steps *s, cubed_array *x)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK || x->node.grid->ndim == 2) return x;
    return cb_step(s, cubed_expand_dims(x, 1, &y, s->err), &y);
}

void cb_step_svd(cb_steps *s, cubed_array *x, uint64_t task_mem, cubed_array *out[3])
{
    if (s->st == CUBED_OK) s->st = cubed_svd(x, false, task_mem, &out[0], &out[1], &out[2], s->err);
    for (int i = 0; i < 3; i++) out[i] = s->st == CUBED_OK ? cb_step(s, CUBED_OK, &out[i]) : NULL;
}
