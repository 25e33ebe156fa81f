/* The largest singular values of a matrix and their vectors, from products of the matrix with a few random vectors (Halko,
 * Martinsson and Tropp, "Finding structure with randomness", SIAM Review 2011). */
#include <inttypes.h>

#include "array_api/api_pkg.h"
#include "array_api/matrix_steps.h"
#include "base/error.h"
#include "base/struct_size.h"

/* Returns orthonormal columns that span the columns of x. */
static cubed_array *orthonormal(cb_steps *s, cubed_array *x, uint64_t task_mem)
{
    cubed_array *q = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_qr(x, false, task_mem, &q, NULL, s->err), &q);
}

/* Makes the sum of each row of vh non-negative: changes the signs of the row and of the corresponding column of u. */
static void coerce_signs(cb_steps *s, cubed_array **u, cubed_array **vh)
{
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    o.axes = (const int[]){1};
    o.naxes = 1;
    cubed_array *sums = cb_step_reduce(s, CUBED_REDUCE_SUM, *vh, &o);
    cubed_array *signs = cb_step_op(s, CUBED_OP_SIGN, sums, NULL, NULL);
    cubed_array *is_zero = cb_step_op(s, CUBED_OP_EQUAL, signs, cb_step_number(s, signs, 0), NULL);
    signs = cb_step_op(s, CUBED_OP_WHERE, is_zero, cb_step_number(s, signs, 1), signs);
    *u = cb_step_op(s, CUBED_OP_MULTIPLY, *u, signs, NULL);
    *vh = cb_step_op(s, CUBED_OP_MULTIPLY, *vh, cb_step_column(s, signs), NULL);
}

cubed_status cubed_svd_compressed(cubed_array *x, int64_t k,
                                  const cubed_svd_compressed_options *options, uint64_t task_mem,
                                  cubed_array **u, cubed_array **s, cubed_array **vh,
                                  cubed_error *err)
{
    cubed_svd_compressed_options taken = CUBED_SVD_COMPRESSED_OPTIONS_INIT;
    const cubed_svd_compressed_options *o = &taken;
    CB_TRY(CB_OPTIONS_TAKE("svd_compressed", options, &taken, err));
    cubed_array *drawn = NULL, *svd[3] = {NULL, NULL, NULL};
    cb_steps steps = {.ctx = x->ctx, .err = err}, *to = &steps;
    if (x->node.grid->ndim != 2)
        return cb_fail(err, CUBED_E_ARG, "svd_compressed: a has %d dimensions, expected 2",
                       x->node.grid->ndim);
    const int64_t columns = x->shape[1], least = cb_min_i64(x->shape[0], columns);
    if (k < 1 || k > least)
        return cb_fail(err, CUBED_E_ARG, "svd_compressed: k is %" PRId64 ", expected 1 to %" PRId64,
                       k, least);
    if (o->n_power_iter < 0 || o->n_oversamples < 0)
        return cb_fail(err, CUBED_E_ARG, "svd_compressed: %s is %" PRId64 ", expected 0 or more",
                       o->n_power_iter < 0 ? "n_power_iter" : "n_oversamples",
                       o->n_power_iter < 0 ? o->n_power_iter : o->n_oversamples);
    const int64_t width = k + cb_min_i64(o->n_oversamples, least - k);
    cubed_dtype dtype;
    CB_TRY(cb_floating("svd_compressed", x, NULL, &dtype, err));
    x = cb_step_cast(to, x, dtype);
    if (to->st == CUBED_OK)
        drawn = cb_step(to,
                        cubed_array_normal(to->ctx, 2, (const int64_t[]){columns, width}, NULL, 0,
                                           1, o->seed, &drawn, err),
                        &drawn);
    cubed_array *q =
        orthonormal(to, cb_step_product(to, x, cb_step_cast(to, drawn, dtype)), task_mem);
    for (int64_t i = 0; i < o->n_power_iter && to->st == CUBED_OK; i++) {
        q = orthonormal(to, cb_step_product(to, cb_step_adjoint(to, x), q), task_mem);
        q = orthonormal(to, cb_step_product(to, x, q), task_mem);
    }
    cb_step_svd(to, cb_step_product(to, cb_step_adjoint(to, q), x), task_mem, svd);
    svd[0] = cb_step_product(to, q, cb_step_part(to, svd[0], 1, 0, k, 1));
    svd[1] = cb_step_part(to, svd[1], 0, 0, k, 1);
    svd[2] = cb_step_part(to, svd[2], 0, 0, k, 1);
    if (o->coerce_signs && cubed_dtype_kind(dtype) == CUBED_KIND_FLOAT)
        coerce_signs(to, &svd[0], &svd[2]);
    return cb_steps_end_all(to, svd, (cubed_array * *const[]){u, s, vh}, 3);
}
