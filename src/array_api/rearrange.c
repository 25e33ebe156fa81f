/* Splits, joins and resizes arrays by combinations of views. */
#include <stdlib.h>

#include "array_api/api_pkg.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "ops/shapes.h"
#include "ops/steps.h"

/* --- Splitting ---------------------------------------------------------------------------------------- */

/* Returns the position that a bound of a Python slice denotes along an axis. */
static int64_t clamp_bound(int64_t bound, int64_t extent)
{
    if (bound < 0) bound = bound < -extent ? 0 : bound + extent;
    return cb_min_i64(bound, extent);
}

/* Drops the arrays that were created before an error, and returns the error. */
static cubed_status release(cubed_array **out, int64_t n, cubed_status st)
{
    for (int64_t i = 0; i < n; i++) {
        cubed_array_unref(out[i]);
        out[i] = NULL;
    }
    return st;
}

cubed_status cubed_split(cubed_array *x, int axis, const int64_t *bounds, int n, cubed_array **out,
                         cubed_error *err)
{
    cubed_slice slices[CUBED_MAX_NDIM];
    const int ndim = x->node.grid->ndim;
    CB_TRY(cb_api_axis("split", ndim, &axis, err));
    for (int d = 0; d < ndim; d++) slices[d] = (cubed_slice){0, x->shape[d], 1, false};
    for (int i = 0; i < n; i++) {
        const int64_t start = clamp_bound(bounds[i], x->shape[axis]);
        const int64_t stop = clamp_bound(bounds[i + 1], x->shape[axis]);
        slices[axis] = (cubed_slice){start, cb_max_i64(0, stop - start), 1, false};
        if (stop <= start) slices[axis].start = 0;
        const cubed_status st = cubed_slice_array(x, slices, &out[i], err);
        if (st != CUBED_OK) return release(out, i, st);
    }
    return CUBED_OK;
}

cubed_status cubed_unstack(cubed_array *x, int axis, cubed_array **out, cubed_error *err)
{
    cubed_slice slices[CUBED_MAX_NDIM];
    const int ndim = x->node.grid->ndim;
    CB_TRY(cb_api_axis("unstack", ndim, &axis, err));
    for (int d = 0; d < ndim; d++) slices[d] = (cubed_slice){0, x->shape[d], 1, false};
    for (int64_t i = 0; i < x->shape[axis]; i++) {
        slices[axis] = (cubed_slice){i, 1, 1, true};
        const cubed_status st = cubed_slice_array(x, slices, &out[i], err);
        if (st != CUBED_OK) return release(out, i, st);
    }
    return CUBED_OK;
}

/* --- Axes --------------------------------------------------------------------------------------------- */

cubed_status cubed_broadcast_arrays(cubed_array *const *x, int n, cubed_array **out,
                                    cubed_error *err)
{
    int ndim;
    int64_t shape[CUBED_MAX_NDIM];
    CB_TRY(cb_op_broadcast_shape("broadcast_arrays", x, n, &ndim, shape, err));
    for (int i = 0; i < n; i++) {
        const cubed_status st = cubed_broadcast_to(x[i], ndim, shape, &out[i], err);
        if (st != CUBED_OK) return release(out, i, st);
    }
    return CUBED_OK;
}

cubed_status cubed_atleast(cubed_array *x, int least, cubed_array **out, cubed_error *err)
{
    int ndim = x->node.grid->ndim;
    cb_steps s = {.ctx = x->ctx, .err = err};
    if (least < 1 || least > 3)
        return cb_fail(err, CUBED_E_ARG, "atleast: ndim is %d, expected 1 to 3", least);
    cubed_array *y = x;
    for (; ndim < least; ndim++) {
        const int at = ndim < 2 ? 0 : ndim;
        cubed_array *wide = NULL;
        if (y) y = cb_step(&s, cubed_expand_dims(y, at, &wide, err), &wide);
    }
    return cb_steps_end(&s, y, out);
}

/* Adds leading axes of extent 1 to x, up to ndim axes. */
static cubed_array *widen(cb_steps *s, cubed_array *x, int ndim)
{
    while (x && x->node.grid->ndim < ndim) {
        cubed_array *wide = NULL;
        x = cb_step(s, cubed_expand_dims(x, 0, &wide, s->err), &wide);
    }
    return x;
}

/* --- Diagonals and sizes ------------------------------------------------------------------------------ */

static cubed_array *zeros(cb_steps *s, const cubed_array *like, int ndim, const int64_t *shape)
{
    cubed_array *zero = NULL;
    if (s->st != CUBED_OK) return NULL;
    zero = cb_step(s, cb_op_zero(s->ctx, like->node.dtype, &zero, s->err), &zero);
    if (zero) /* the type of the empty string is shorter than the type of the result */
        zero = cb_step_cast(s, zero, like->node.dtype);
    return ndim == 0 ? zero : cb_step_broadcast(s, zero, ndim, shape);
}

/* Creates a matrix with the vector x on diagonal k. */
static cubed_status put_on_diagonal(cubed_array *x, int64_t k, cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    const int64_t beside = k < 0 ? -k : k;
    int64_t n, chunks[2] = {0, 0};
    cubed_array *column = x, *on = NULL, *wide = NULL;
    if (k == INT64_MIN || cb_add_i64(x->shape[0], beside, &n))
        return cb_fail(err, CUBED_E_ARG, "diag: k is %lld, which makes the matrix too large",
                       (long long)k);
    if (beside > 0) {
        cubed_array *none = zeros(&s, x, 1, &beside);
        cubed_array *const parts[2] = {k < 0 ? none : x, k < 0 ? x : none};
        column = cb_step_concat(&s, parts, 2, 0);
    }
    const int64_t shape[2] = {n, n};
    cb_even_chunks(2, shape, 1, CB_EVEN_CHUNK_BYTES, chunks);
    on = cb_step(&s, cubed_array_eye(x->ctx, n, n, k, CUBED_BOOL, chunks, &on, err), &on);
    if (on) cubed_array_yield_chunks(on);
    if (column && on) wide = cb_step(&s, cubed_expand_dims(column, 1, &wide, err), &wide);
    return cb_steps_end(&s, cb_step_op(&s, CUBED_OP_WHERE, on, wide, zeros(&s, x, 0, NULL)), out);
}

cubed_status cubed_diag(cubed_array *x, int64_t k, cubed_array **out, cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    if (ndim == 2) return cubed_diagonal(x, k, out, err);
    if (ndim == 1) return put_on_diagonal(x, k, out, err);
    return cb_fail(err, CUBED_E_ARG, "diag: the array has %d axes, expected 1 or 2", ndim);
}

cubed_status cubed_resize(cubed_array *x, int ndim, const int64_t *shape, cubed_array **out,
                          cubed_error *err)
{
    int64_t size = 1;
    cubed_array *flat = NULL, *tiled = NULL;
    CB_TRY(cb_check_shape("resize", ndim, shape, x->node.dtype, err));
    for (int d = 0; d < ndim; d++) size *= shape[d];
    CB_TRY(cb_api_flatten(x, &flat, err));
    cb_steps s = {.ctx = x->ctx, .err = err};
    flat = cb_step(&s, CUBED_OK, &flat);
    const int64_t n = flat ? flat->shape[0] : 0;
    if (n == 0 || size == 0) {
        int64_t chunks[CUBED_MAX_NDIM] = {0};
        cb_even_chunks(ndim, shape, cubed_dtype_size(x->node.dtype), CB_EVEN_CHUNK_BYTES, chunks);
        cubed_array *y = zeros(&s, x, ndim, shape), *chunked = NULL;
        if (y && ndim > 0) y = cb_step(&s, cubed_rechunk(y, chunks, &chunked, err), &chunked);
        return cb_steps_end(&s, y, out);
    }
    const int64_t times = size / n + (size % n != 0);
    tiled = cb_step(&s, cubed_tile(flat, &times, 1, &tiled, err), &tiled);
    tiled = cb_step_part(&s, tiled, 0, 0, size, 1);
    return cb_steps_end(&s, cb_step_reshaped(&s, tiled, ndim, shape), out);
}

/* --- Removal and insertion of elements ----------------------------------------------------------------- */

/* A position, and its index in the caller's list. The index selects the values for this position. */
typedef struct place {
    int64_t at, number;
} place;

static int compare_places(const void *left, const void *right)
{
    const place *a = left, *b = right;
    if (a->at != b->at) return a->at < b->at ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

/* A list of parts that will be concatenated along an axis. */
typedef struct joint {
    cb_steps *s;
    cubed_array **parts;
    int n, axis;
} joint;

static void add_part(joint *j, cubed_array *x, int64_t start, int64_t stop)
{
    if (start < stop) j->parts[j->n++] = cb_step_part(j->s, x, j->axis, start, stop - start, 1);
}

/* Sorts n positions along an axis stably, after conversion of negative ones. `last` is the largest valid position. The
 * caller frees *out. */
static cubed_status sort_places(const char *name, const cubed_array *x, const int64_t *positions,
                                int64_t n, int axis, int64_t last, place **out, cubed_error *err)
{
    const int64_t extent = x->shape[axis];
    place *p = n < INT32_MAX ? cb_alloc(&x->ctx->alloc, (size_t)n * sizeof *p) : NULL;
    if (!p) return cb_fail(err, CUBED_E_NOMEM, "out of memory: %lld positions", (long long)n);
    for (int64_t i = 0; i < n; i++) {
        if (positions[i] < -extent || positions[i] > last) {
            cb_free(&x->ctx->alloc, p, (size_t)n * sizeof *p);
            return cb_fail(err, CUBED_E_INDEX,
                           "%s: position %lld is out of bounds for %lld elements of axis %d", name,
                           (long long)positions[i], (long long)extent, axis);
        }
        p[i] = (place){positions[i] < 0 ? positions[i] + extent : positions[i], i};
    }
    if (n > 1) qsort(p, (size_t)n, sizeof *p, compare_places);
    *out = p;
    return CUBED_OK;
}

/* A function that adds the parts of a result to j, in order. It adds at most 2 n + 1 parts. */
typedef void (*fill_fn)(joint *j, cubed_array *x, cubed_array *values, const place *p, int64_t n);

static cubed_status join_parts(cubed_array *x, cubed_array *values, const place *p, int64_t n,
                               int axis, fill_fn fill, cb_steps *s, cubed_array **out)
{
    const size_t most = (size_t)n * 2 + 1;
    joint j = {.s = s, .axis = axis};
    j.parts = cb_alloc(&x->ctx->alloc, most * sizeof(cubed_array *));
    if (!j.parts) {
        if (s->st == CUBED_OK)
            s->st = cb_fail(s->err, CUBED_E_NOMEM, "out of memory: %zu parts", most);
        return cb_steps_end(s, NULL, out);
    }
    if (s->st == CUBED_OK) fill(&j, x, values, p, n);
    cubed_array *made =
        j.n > 0 ? cb_step_concat(s, j.parts, j.n, axis) : cb_step_part(s, x, axis, 0, 0, 1);
    const cubed_status st = cb_steps_end(s, made, out);
    cb_free(&x->ctx->alloc, j.parts, most * sizeof(cubed_array *));
    return st;
}

static void keep_between(joint *j, cubed_array *x, cubed_array *values, const place *p, int64_t n)
{
    int64_t kept = 0;
    (void)values;
    for (int64_t i = 0; i < n; i++) {
        add_part(j, x, kept, p[i].at);
        kept = p[i].at + 1;
    }
    add_part(j, x, kept, x->shape[j->axis]);
}

cubed_status cubed_delete(cubed_array *x, const int64_t *positions, int64_t n, int axis,
                          cubed_array **out, cubed_error *err)
{
    place *p = NULL;
    CB_TRY(cb_api_axis("delete", x->node.grid->ndim, &axis, err));
    CB_TRY(sort_places("delete", x, positions, n, axis, x->shape[axis] - 1, &p, err));
    cb_steps s = {.ctx = x->ctx, .err = err};
    const cubed_status st = join_parts(x, NULL, p, n, axis, keep_between, &s, out);
    cb_free(&x->ctx->alloc, p, (size_t)n * sizeof *p);
    return st;
}

static void put_one(joint *j, cubed_array *x, cubed_array *values, const place *p, int64_t n)
{
    (void)n;
    add_part(j, x, 0, p->at);
    add_part(j, values, 0, values->shape[j->axis]);
    add_part(j, x, p->at, x->shape[j->axis]);
}

static void put_each(joint *j, cubed_array *x, cubed_array *values, const place *p, int64_t n)
{
    int64_t taken = 0;
    for (int64_t i = 0; i < n; i++) {
        add_part(j, x, taken, p[i].at);
        add_part(j, values, p[i].number, p[i].number + 1);
        taken = p[i].at;
    }
    add_part(j, x, taken, x->shape[j->axis]);
}

cubed_status cubed_insert(cubed_array *x, const int64_t *positions, int64_t n, cubed_array *values,
                          int axis, cubed_array **out, cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    int64_t shape[CUBED_MAX_NDIM];
    place *p = NULL;
    CB_TRY(cb_api_axis("insert", ndim, &axis, err));
    CB_TRY(sort_places("insert", x, positions, n, axis, x->shape[axis], &p, err));
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *wide = widen(&s, cb_step_cast(&s, values, x->node.dtype), ndim);
    for (int d = 0; d < ndim; d++) shape[d] = x->shape[d];
    if (wide && wide->node.grid->ndim == ndim) shape[axis] = n == 1 ? wide->shape[axis] : n;
    wide = cb_step_broadcast(&s, wide, ndim, shape);
    const cubed_status st = join_parts(x, wide, p, n, axis, n == 1 ? put_one : put_each, &s, out);
    cb_free(&x->ctx->alloc, p, (size_t)n * sizeof *p);
    return st;
}
