/* Convolution and correlation: products of one vector with another that slides along it. */
#include <math.h>
#include <string.h>

#include "array_api/api_pkg.h"
#include "base/alloc.h"
#include "base/error.h"
#include "ops/steps.h"

/* Maximum length of the shorter vector, because each of its elements is part of the plan. */
#define MOST_ELEMENTS 16384

typedef struct slide {
    cb_steps *s;
    const char *name;
    cubed_array *x, *kernel; /* both have the same type; the kernel is not longer than x */
    bool is_finite;          /* all elements of the kernel are known to be finite */
    int64_t before, after;   /* numbers of padding elements before and after x */
} slide;

/* Returns true if all elements are known to be finite: integers, and vectors in memory. */
static bool is_finite(const cubed_array *x)
{
    const cb_node *n = &x->node;
    const cubed_dtype dtype = n->dtype;
    if (cubed_dtype_kind(dtype) <= CUBED_KIND_UINT) return true;
    const bool is_single = dtype == CUBED_FLOAT32 || dtype == CUBED_COMPLEX64;
    if (!is_single && dtype != CUBED_FLOAT64 && dtype != CUBED_COMPLEX128) return false;
    if (n->kind != CB_NODE_MEMORY || n->grid->ndim != 1) return false;
    const int parts = cubed_dtype_kind(dtype) == CUBED_KIND_COMPLEX ? 2 : 1;
    for (int64_t i = 0; i < x->shape[0]; i++) {
        const char *at = (const char *)n->data + i * n->strides[0];
        for (int k = 0; k < parts; k++) {
            double value;
            float single;
            if (is_single)
                memcpy(&single, at + (size_t)k * sizeof single, sizeof single);
            else
                memcpy(&value, at + (size_t)k * sizeof value, sizeof value);
            if (!isfinite(is_single ? (double)single : value)) return false;
        }
    }
    return true;
}

/* Returns all windows of the kernel's length, as rows of a matrix. */
static cubed_array *windows(const slide *c, cubed_array *x)
{
    cb_steps *s = c->s;
    const int64_t m = c->kernel->shape[0];
    const size_t bytes = (size_t)m * sizeof(cubed_array *);
    cubed_array *y = NULL, **columns = x ? cb_alloc(&s->ctx->alloc, bytes) : NULL;
    if (!x) return NULL;
    if (!columns) {
        s->st = cb_fail(s->err, CUBED_E_NOMEM, "out of memory: %lld windows", (long long)m);
        return NULL;
    }
    for (int64_t i = 0; i < m; i++) columns[i] = cb_step_part(s, x, 0, i, x->shape[0] - m + 1, 1);
    if (s->st == CUBED_OK) y = cb_step(s, cubed_stack(columns, (int)m, 1, &y, s->err), &y);
    cb_free(&s->ctx->alloc, columns, bytes);
    return y;
}

static cubed_array *sums_of_windows(const slide *c, cubed_array *x)
{
    cubed_array *rows = windows(c, x), *y = NULL;
    if (c->s->st != CUBED_OK) return NULL;
    return cb_step(c->s, cubed_matmul(rows, c->kernel, &y, c->s->err), &y);
}

static cubed_array *padded(const slide *c, cubed_array *x, int64_t before, int64_t after)
{
    const cubed_scalar zero = {.c128 = {0, 0}};
    cubed_array *y = NULL;
    if (!x || c->s->st != CUBED_OK || before + after == 0) return x;
    return cb_step(c->s, cubed_pad(x, &before, &after, &zero, &y, c->s->err), &y);
}

/* Computes the sums for windows that overlap padding, in a part of x. Excludes the products with padding elements, because 0
 * times infinity is NaN. */
static cubed_array *overlapping(const slide *c, int64_t start, int64_t before, int64_t after)
{
    cb_steps *s = c->s;
    const int64_t own = c->kernel->shape[0] - 1, extent = own + before + after;
    const cubed_scalar zero = {.c128 = {0, 0}};
    const int along = 1;
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *place = NULL;
    cubed_array *x = padded(c, cb_step_part(s, c->x, 0, start, own, 1), before, after);
    if (s->st != CUBED_OK) return NULL;
    /* there is no padding on this side, so no window overlaps it: the result is empty */
    if (extent <= own) return cb_step_part(s, x, 0, 0, 0, 1);
    place = cb_step(s, cubed_array_index(s->ctx, 1, &extent, &extent, 0, &place, s->err), &place);
    cubed_array *is_real = cb_step_binary(
        c->s, CUBED_OP_LOGICAL_AND,
        cb_step_binary(c->s, CUBED_OP_GREATER_EQUAL, place, cb_step_whole(s, before)),
        cb_step_binary(c->s, CUBED_OP_LESS, place, cb_step_whole(s, extent - after)));
    cubed_array *products = cb_step_binary(c->s, CUBED_OP_MULTIPLY, windows(c, x), c->kernel);
    is_real = windows(c, is_real);
    if (s->st != CUBED_OK) return NULL;
    products =
        cb_step_op(s, CUBED_OP_WHERE, is_real, products, cb_step_scalar(s, x->node.dtype, &zero));
    o.axes = &along;
    o.naxes = 1;
    return cb_step_reduce(s, CUBED_REDUCE_SUM, products, &o);
}

static cubed_array *slid(const slide *c)
{
    const cubed_kind kind = cubed_dtype_kind(c->x->node.dtype);
    const bool has_padding = c->before + c->after > 0;
    if (kind < CUBED_KIND_FLOAT || !has_padding || c->is_finite)
        return sums_of_windows(c, padded(c, c->x, c->before, c->after));
    cubed_array *const parts[3] = {
        overlapping(c, 0, c->before, 0), sums_of_windows(c, c->x),
        overlapping(c, c->x->shape[0] - c->kernel->shape[0] + 1, 0, c->after)};
    return c->s->st == CUBED_OK ? cb_step_concat(c->s, parts, 3, 0) : NULL;
}

/* Computes the convolution in type `dtype`. For bools, computes it in int64 and casts the result back. */
static cubed_array *slid_in_type(slide *c, cubed_dtype dtype)
{
    const cubed_dtype type = dtype == CUBED_BOOL ? CUBED_INT64 : dtype;
    c->x = cb_step_cast(c->s, c->x, type);
    c->kernel = cb_step_cast(c->s, c->kernel, type);
    cubed_array *y = c->s->st == CUBED_OK ? slid(c) : NULL;
    return c->s->st == CUBED_OK ? cb_step_cast(c->s, y, dtype) : NULL;
}

static void set_padding(slide *c, cubed_convolve_mode mode)
{
    const int64_t m = c->kernel->shape[0];
    c->before = mode == CUBED_CONVOLVE_FULL ? m - 1 : mode == CUBED_CONVOLVE_SAME ? m / 2 : 0;
    c->after = mode == CUBED_CONVOLVE_FULL   ? m - 1
               : mode == CUBED_CONVOLVE_SAME ? m - 1 - m / 2
                                             : 0;
}

/* Returns x if it is a vector. Reshapes a 0-d array to a vector of one element. */
static cubed_array *vector(const slide *c, const char *which, cubed_array *x)
{
    const int64_t one = 1;
    const int ndim = x->node.grid->ndim;
    if (ndim > 1)
        c->s->st =
            cb_fail(c->s->err, CUBED_E_ARG, "%s: %s has %d axes, expected 1", c->name, which, ndim);
    else if (ndim == 1 && x->shape[0] == 0)
        c->s->st = cb_fail(c->s->err, CUBED_E_ARG, "%s: %s is empty, expected at least one element",
                           c->name, which);
    return ndim == 0 ? cb_step_reshaped(c->s, x, 1, &one) : x;
}

static cubed_status slide_over(const char *name, cubed_array *a, cubed_array *v, bool correlates,
                               cubed_convolve_mode mode, cubed_array **out, cubed_error *err)
{
    char first[CUBED_DTYPE_TEXT_CAP], second[CUBED_DTYPE_TEXT_CAP];
    const int front = 0;
    const cubed_dtype dtype = cubed_dtype_promote(a->node.dtype, v->node.dtype);
    if ((unsigned)mode > CUBED_CONVOLVE_VALID)
        return cb_fail(err, CUBED_E_ARG, "%s: mode number %d, expected 0 to %d", name, (int)mode,
                       CUBED_CONVOLVE_VALID);
    if (dtype == CUBED_DTYPE_COUNT || cubed_dtype_kind(dtype) > CUBED_KIND_COMPLEX)
        return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s and %s", name,
                       cubed_dtype_text(a->node.dtype, first),
                       cubed_dtype_text(v->node.dtype, second));
    cb_steps s = {.ctx = a->ctx, .err = err};
    slide c = {.s = &s, .name = name};
    const bool finite[2] = {is_finite(a), is_finite(v)};
    c.x = vector(&c, "a", a);
    if (s.st == CUBED_OK) c.kernel = vector(&c, "v", v);
    if (s.st == CUBED_OK && correlates && cubed_dtype_kind(v->node.dtype) == CUBED_KIND_COMPLEX)
        c.kernel = cb_step_op(&s, CUBED_OP_CONJ, c.kernel, NULL, NULL);
    if (s.st != CUBED_OK) return cb_steps_end(&s, NULL, out);
    const bool swapped = c.kernel->shape[0] > c.x->shape[0];
    c.is_finite = finite[swapped ? 0 : 1];
    if (swapped) {
        cubed_array *longer = c.kernel;
        c.kernel = c.x;
        c.x = longer;
    }
    if (c.kernel->shape[0] > MOST_ELEMENTS)
        s.st = cb_fail(err, CUBED_E_ARG,
                       "%s: the shorter operand has %lld elements, expected at most %d", name,
                       (long long)c.kernel->shape[0], MOST_ELEMENTS);
    set_padding(&c, mode);
    cubed_array *flipped = NULL, *y = NULL;
    if (!correlates && s.st == CUBED_OK)
        c.kernel = cb_step(&s, cubed_flip(c.kernel, &front, 1, &flipped, err), &flipped);
    if (s.st == CUBED_OK) y = slid_in_type(&c, dtype);
    if (correlates && swapped && s.st == CUBED_OK)
        y = cb_step(&s, cubed_flip(y, &front, 1, &flipped, err), &flipped);
    return cb_steps_end(&s, y, out);
}

cubed_status cubed_convolve(cubed_array *a, cubed_array *v, cubed_convolve_mode mode,
                            cubed_array **out, cubed_error *err)
{
    return slide_over("convolve", a, v, false, mode, out, err);
}

cubed_status cubed_correlate(cubed_array *a, cubed_array *v, cubed_convolve_mode mode,
                             cubed_array **out, cubed_error *err)
{
    return slide_over("correlate", a, v, true, mode, out, err);
}
