/* Medians of complex numbers, which are ordered by their real parts first. */
#include "array_api/complex_median.h"

#include <math.h>

#include "array_api/known_lines.h"
#include "base/error.h"

/* Creates a 0-d complex number of the given type. */
static cubed_array *number(cb_steps *s, cubed_dtype dtype, double real, double imaginary)
{
    const cubed_scalar narrow = {.c64 = {(float)real, (float)imaginary}};
    const cubed_scalar wide = {.c128 = {real, imaginary}};
    return cb_step_scalar(s, dtype, dtype == CUBED_COMPLEX64 ? &narrow : &wide);
}

/* The product of i and an infinity or NaN has a NaN real part, so infinite and NaN imaginary parts are added as complex
 * numbers. */
cubed_array *cb_api_join_parts(cb_steps *s, cubed_array *re, cubed_array *im, cubed_dtype dtype)
{
    cubed_array *is_up = cb_step_op(s, CUBED_OP_GREATER, im, cb_step_number(s, im, 0), NULL);
    cubed_array *beyond = cb_step_op(s, CUBED_OP_WHERE, is_up, number(s, dtype, 0, INFINITY),
                                     number(s, dtype, 0, -INFINITY));
    cubed_array *is_missing = cb_step_op(s, CUBED_OP_ISNAN, im, NULL, NULL);
    beyond = cb_step_op(s, CUBED_OP_WHERE, is_missing, number(s, dtype, 0, NAN), beyond);
    cubed_array *finite = cb_step_op(s, CUBED_OP_MULTIPLY, im, number(s, dtype, 0, 1), NULL);
    cubed_array *is_finite = cb_step_op(s, CUBED_OP_ISFINITE, im, NULL, NULL);
    finite = cb_step_op(s, CUBED_OP_WHERE, is_finite, finite, beyond);
    return cb_step_op(s, CUBED_OP_ADD, re, finite, NULL);
}

/* Returns the mean of one part (`op`: real or imaginary) of two arrays. */
static cubed_array *mean_of_parts(cb_steps *s, cubed_op op, cubed_array *a, cubed_array *b)
{
    cubed_array *sum = cb_step_op(s, CUBED_OP_ADD, cb_step_op(s, op, a, NULL, NULL),
                                  cb_step_op(s, op, b, NULL, NULL), NULL);
    return sum ? cb_step_op(s, CUBED_OP_MULTIPLY, sum, cb_step_number(s, sum, 0.5), NULL) : NULL;
}

static cubed_array *is_missing(cb_steps *s, cubed_array *lines)
{
    return cb_step_op(s, CUBED_OP_ISNAN, lines, NULL, NULL);
}

static cubed_array *median_of_lines(cb_known_lines *l, int64_t n, bool skips_nan)
{
    cb_steps *s = l->s;
    const cubed_dtype dtype = l->x->node.dtype;
    cubed_array *one = cb_step_whole(s, 1), *two = cb_step_whole(s, 2);
    cubed_array *before = cb_step_op(s, CUBED_OP_SUBTRACT, l->known, one, NULL);
    cubed_array *low =
        cb_known_lines_take(l, cb_step_op(s, CUBED_OP_FLOOR_DIVIDE, before, two, NULL));
    cubed_array *high =
        cb_known_lines_take(l, cb_step_op(s, CUBED_OP_FLOOR_DIVIDE, l->known, two, NULL));
    cubed_array *counts = cb_known_lines_result(l, l->known);
    if (!low || !high) return NULL;
    cubed_array *between = cb_api_join_parts(s, mean_of_parts(s, CUBED_OP_REAL, low, high),
                                             mean_of_parts(s, CUBED_OP_IMAG, low, high), dtype);
    cubed_array *is_odd = cb_step_op(
        s, CUBED_OP_EQUAL, cb_step_op(s, CUBED_OP_REMAINDER, counts, two, NULL), one, NULL);
    cubed_array *out = cb_step_op(s, CUBED_OP_WHERE, is_odd, low, between);
    cubed_array *has_none = skips_nan
                                ? cb_step_op(s, CUBED_OP_EQUAL, counts, cb_step_whole(s, 0), NULL)
                                : cb_step_op(s, CUBED_OP_LESS, counts, cb_step_whole(s, n), NULL);
    return cb_step_op(s, CUBED_OP_WHERE, has_none, number(s, dtype, NAN, NAN), out);
}

cubed_status cb_api_complex_median(cubed_array *x, uint32_t reduced,
                                   const cubed_quantile_options *o, cubed_array **out,
                                   cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    int kept = 0;
    int64_t shape[CUBED_MAX_NDIM], n = 1;
    cb_steps s = {.ctx = x->ctx, .err = err};
    cb_known_lines l = {.s = &s, .x = x, .reduced = reduced, .keepdims = o->keepdims};
    for (int d = 0; d < ndim; d++) {
        const bool is_reduced = reduced >> d & 1;
        if (is_reduced) n *= x->shape[d];
        if (!is_reduced || o->keepdims) shape[kept++] = is_reduced ? 1 : x->shape[d];
    }
    if (n == 0)
        return cb_steps_end(
            &s, cb_step_broadcast(&s, number(&s, x->node.dtype, NAN, NAN), kept, shape), out);
    if (reduced == 0 && ndim == CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "median: no axis is reduced, so x has %d dimensions, expected fewer", ndim);
    cb_known_lines_sort(&l, o->task_mem, is_missing);
    return cb_steps_end(&s, l.known ? median_of_lines(&l, n, o->skip_nan) : NULL, out);
}
