/* Medians of complex numbers, which are ordered by their real parts first. */
#include "array_api/complex_median.h"

#include <math.h>

#include "base/error.h"
#include "ops/steps.h"

/* A 0-d complex number of a type. */
static cubed_array *number(cb_steps *s, cubed_dtype dtype, double real, double imaginary)
{
    const cubed_scalar narrow = {.c64 = {(float)real, (float)imaginary}};
    const cubed_scalar wide = {.c128 = {real, imaginary}};
    return cb_step_scalar(s, dtype, dtype == CUBED_COMPLEX64 ? &narrow : &wide);
}

/* Complex numbers of their parts. The product of i and an infinity or NaN has a NaN for its real part, so these are added as
 * they are. */
static cubed_array *join_parts(cb_steps *s, cubed_array *re, cubed_array *im, cubed_dtype dtype)
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

/* The mean of a part (`op`) of two arrays. */
static cubed_array *mean_of_parts(cb_steps *s, cubed_op op, cubed_array *a, cubed_array *b)
{
    cubed_array *sum = cb_step_op(s, CUBED_OP_ADD, cb_step_op(s, op, a, NULL, NULL),
                                  cb_step_op(s, op, b, NULL, NULL), NULL);
    return sum ? cb_step_op(s, CUBED_OP_MULTIPLY, sum, cb_step_number(s, sum, 0.5), NULL) : NULL;
}

/* The elements along the last axis at positions, of which there is one along it; without the axis. */
static cubed_array *take_last(cb_steps *s, cubed_array *x, cubed_array *at)
{
    const int last = -1;
    cubed_array *taken = NULL, *out = NULL;
    at = cb_step_op(s, CUBED_OP_MAXIMUM, at, cb_step_whole(s, 0), NULL);
    if (!at) return NULL;
    taken = cb_step(s, cubed_take_along_axis(x, at, last, &taken, s->err), &taken);
    if (!taken) return NULL;
    return cb_step(s, cubed_squeeze(taken, &last, 1, &out, s->err), &out);
}

/* The medians of lines along the last axis, which have n elements; without the axis. */
static cubed_array *median_of_lines(cb_steps *s, cubed_array *lines, int64_t n,
                                    const cubed_quantile_options *o)
{
    const int last = -1;
    const cubed_dtype dtype = cubed_array_dtype(lines);
    cubed_sort_options sorting = CUBED_SORT_OPTIONS_INIT;
    cubed_reduce_options along = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *ordered = NULL, *known = NULL;
    sorting.task_mem = o->task_mem;
    along.axes = &last;
    along.naxes = 1;
    along.keepdims = true;
    ordered = cb_step(s, cubed_sort_with(lines, -1, &sorting, &ordered, s->err), &ordered);
    cubed_array *is_known = cb_step_op(
        s, CUBED_OP_LOGICAL_NOT, cb_step_op(s, CUBED_OP_ISNAN, lines, NULL, NULL), NULL, NULL);
    if (!ordered || !is_known) return NULL;
    known = cb_step(s, cubed_count_nonzero(is_known, &along, &known, s->err), &known);
    cubed_array *one = cb_step_whole(s, 1), *two = cb_step_whole(s, 2);
    /* Elements that are known are in front. */
    cubed_array *before = cb_step_op(s, CUBED_OP_SUBTRACT, known, one, NULL);
    cubed_array *low =
        take_last(s, ordered, cb_step_op(s, CUBED_OP_FLOOR_DIVIDE, before, two, NULL));
    cubed_array *high =
        take_last(s, ordered, cb_step_op(s, CUBED_OP_FLOOR_DIVIDE, known, two, NULL));
    if (!low || !high) return NULL;
    cubed_array *counts = NULL;
    counts = cb_step(s, cubed_squeeze(known, &last, 1, &counts, s->err), &counts);
    cubed_array *between = join_parts(s, mean_of_parts(s, CUBED_OP_REAL, low, high),
                                      mean_of_parts(s, CUBED_OP_IMAG, low, high), dtype);
    cubed_array *is_odd = cb_step_op(
        s, CUBED_OP_EQUAL, cb_step_op(s, CUBED_OP_REMAINDER, counts, two, NULL), one, NULL);
    cubed_array *out = cb_step_op(s, CUBED_OP_WHERE, is_odd, low, between);
    cubed_array *has_none = o->skip_nan
                                ? cb_step_op(s, CUBED_OP_EQUAL, counts, cb_step_whole(s, 0), NULL)
                                : cb_step_op(s, CUBED_OP_LESS, counts, cb_step_whole(s, n), NULL);
    return cb_step_op(s, CUBED_OP_WHERE, has_none, number(s, dtype, NAN, NAN), out);
}

cubed_status cb_api_complex_median(cubed_array *x, uint32_t reduced,
                                   const cubed_quantile_options *o, cubed_array **out,
                                   cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    int order[CUBED_MAX_NDIM] = {0}, kept = 0, at;
    int64_t shape[CUBED_MAX_NDIM + 1], whole[CUBED_MAX_NDIM], n = 1;
    cb_steps s = {.ctx = x->ctx, .err = err};
    for (int d = 0; d < ndim; d++) {
        whole[d] = reduced >> d & 1 ? 1 : x->shape[d];
        if (reduced >> d & 1) {
            n *= x->shape[d];
        } else {
            shape[kept] = x->shape[d];
            order[kept++] = d;
        }
    }
    at = kept;
    for (int d = 0; d < ndim; d++) {
        if (reduced >> d & 1) order[at++] = d;
    }
    cubed_array *made;
    if (n == 0) {
        made = cb_step_broadcast(&s, number(&s, x->node.dtype, NAN, NAN), kept, shape);
    } else {
        cubed_array *turned = cb_step_permuted(&s, x, order);
        shape[kept] = n;
        if (kept + 1 > CUBED_MAX_NDIM)
            s.st = cb_fail(err, CUBED_E_UNSUPPORTED, "median: no axes of %d dimensions", ndim);
        cubed_array *lines = turned ? cb_step_reshaped(&s, turned, kept + 1, shape) : NULL;
        made = lines ? median_of_lines(&s, lines, n, o) : NULL;
    }
    if (made && o->keepdims) made = cb_step_reshaped(&s, made, ndim, whole);
    return cb_steps_end(&s, made, out);
}
