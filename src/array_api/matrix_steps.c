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

cubed_status cb_check_matrices(const char *name, const cubed_array *x, cubed_error *err)
{
    if (x->node.grid->ndim >= 2) return CUBED_OK;
    return cb_fail(err, CUBED_E_LINALG, "%s: the array has %d dimensions, expected at least 2",
                   name, x->node.grid->ndim);
}

cubed_status cubed_matrix_transpose(cubed_array *x, cubed_array **out, cubed_error *err)
{
    int ndim = x->node.grid->ndim, axes[CUBED_MAX_NDIM];
    CB_TRY(cb_check_matrices("matrix_transpose", x, err));
    for (int d = 0; d < ndim; d++) axes[d] = d;
    axes[ndim - 2] = ndim - 1;
    axes[ndim - 1] = ndim - 2;
    return cubed_permute_dims(x, axes, out, err);
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
