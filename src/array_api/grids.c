/* Arrays of positions on grids, and evenly spaced numbers between the elements of two arrays. */
#include "array_api/api_pkg.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "ops/steps.h"

/* --- Coordinates -------------------------------------------------------------------------------------- */

/* Reshapes a vector, so that its axis becomes axis d of an n-dimensional grid. */
static cubed_array *put_along(cb_steps *s, cubed_array *x, int d, int n)
{
    int64_t shape[CUBED_MAX_NDIM];
    for (int k = 0; k < n; k++) shape[k] = 1;
    shape[d] = x ? x->shape[0] : 1;
    return n == 1 ? x : cb_step_reshaped(s, x, n, shape);
}

/* Inserts axes into a vector, so that its axis becomes axis d of an n-dimensional grid. The result is a view, which copies no
 * data. */
static cubed_array *widen_along(cb_steps *s, cubed_array *x, int d, int n)
{
    for (int k = 0; k < n && x; k++) {
        cubed_array *wide = NULL;
        if (k != d) x = cb_step(s, cubed_expand_dims(x, k, &wide, s->err), &wide);
    }
    return x;
}

cubed_status cubed_meshgrid(cubed_array *const *x, int n, unsigned flags, cubed_array **out,
                            cubed_error *err)
{
    const bool swapped = flags & CUBED_MESHGRID_SWAPPED;
    const int64_t all = -1;
    int64_t shape[CUBED_MAX_NDIM];
    CB_TRY(cb_check_flags("meshgrid", flags, CUBED_MESHGRID_SWAPPED | CUBED_MESHGRID_SPARSE, err));
    if (n > CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "meshgrid: there are %d arrays, expected at most %d", n, CUBED_MAX_NDIM);
    for (int i = 0; i < n; i++) {
        const int d = swapped && n > 1 && i < 2 ? 1 - i : i;
        if (cb_count(x[i]->node.grid->ndim, x[i]->shape, &shape[d]))
            return cb_fail(err, CUBED_E_ARG, "meshgrid: array %d has more than 2**63 elements", i);
    }
    for (int i = 0; i < n; i++) {
        const int d = swapped && n > 1 && i < 2 ? 1 - i : i;
        cb_steps s = {.ctx = x[i]->ctx, .err = err};
        cubed_array *y = x[i];
        if (y->node.grid->ndim != 1) {
            cubed_array *vector = NULL;
            y = cb_step(&s, cubed_reshape(y, 1, &all, &vector, err), &vector);
        }
        y = widen_along(&s, y, d, n);
        if (!(flags & CUBED_MESHGRID_SPARSE)) y = cb_step_broadcast(&s, y, n, shape);
        const cubed_status st = cb_steps_end(&s, y, &out[i]);
        if (st == CUBED_OK) continue;
        while (i-- > 0) {
            cubed_array_unref(out[i]);
            out[i] = NULL;
        }
        return st;
    }
    return CUBED_OK;
}

/* Returns 0, 1, ..., n - 1 of a type. Functions that combine the result with other arrays may change its chunks. */
static cubed_array *count_up(cb_steps *s, int64_t n, cubed_dtype dtype)
{
    const cubed_scalar zero = {.i64 = 0}, one = {.i64 = 1};
    int64_t chunk = 0;
    cubed_array *x = NULL;
    if (s->st != CUBED_OK) return NULL;
    cb_even_chunks(1, &n, cubed_dtype_size(dtype), CB_EVEN_CHUNK_BYTES, &chunk);
    x = cb_step(s, cubed_array_ramp(s->ctx, CUBED_INT64, &zero, &one, n, dtype, &chunk, &x, s->err),
                &x);
    if (x) cubed_array_yield_chunks(x);
    return x;
}

cubed_status cubed_indices(cubed_context *ctx, int ndim, const int64_t *shape,
                           const int64_t *chunks, cubed_dtype dtype, cubed_array **out,
                           cubed_error *err)
{
    int64_t step = 1;
    CB_TRY(cb_check_shape("indices", ndim, shape, CUBED_INT64, err));
    for (int d = 0; d < ndim; d++) step *= shape[d];
    cb_steps s = {.ctx = ctx, .err = err};
    cubed_array *places = NULL, *made[CUBED_MAX_NDIM] = {NULL};
    cubed_array **outs[CUBED_MAX_NDIM];
    places = cb_step(&s, cubed_array_index(ctx, ndim, shape, chunks, 0, &places, err), &places);
    for (int d = 0; d < ndim; d++) {
        const int64_t n = shape[d];
        step /= cb_max_i64(1, n);
        cubed_array *at = places;
        if (step > 1) at = cb_step_op(&s, CUBED_OP_FLOOR_DIVIDE, at, cb_step_whole(&s, step), NULL);
        at = cb_step_op(&s, n > 1 ? CUBED_OP_REMAINDER : CUBED_OP_MULTIPLY, at,
                        cb_step_whole(&s, n > 1 ? n : 0), NULL);
        made[d] = cb_step_cast(&s, at, dtype);
        outs[d] = &out[d];
    }
    return cb_steps_end_all(&s, made, outs, ndim);
}

cubed_status cubed_indices_sparse(cubed_context *ctx, int ndim, const int64_t *shape,
                                  cubed_dtype dtype, cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = ctx, .err = err};
    cubed_array *made[CUBED_MAX_NDIM] = {NULL};
    cubed_array **outs[CUBED_MAX_NDIM];
    CB_TRY(cb_check_shape("indices", ndim, shape, dtype, err));
    for (int d = 0; d < ndim; d++) {
        made[d] = put_along(&s, count_up(&s, shape[d], dtype), d, ndim);
        outs[d] = &out[d];
    }
    return cb_steps_end_all(&s, made, outs, ndim);
}

/* --- Triangles ---------------------------------------------------------------------------------------- */

/* Counts the elements of a matrix up to the diagonal that is k to the right of the main one. The diagonal must not be to the
 * right of the matrix. */
static int64_t count_below(int64_t rows, int64_t columns, int64_t k)
{
    const int64_t first = cb_min_i64(rows, cb_max_i64(0, -k));
    const int64_t full = cb_min_i64(rows, cb_max_i64(first, columns - k));
    return (full - first) * (first + full + 1 + 2 * k) / 2 + (rows - full) * columns;
}

/* Returns the row of each of the first `n` elements of a triangle. `lengths` has the number of elements per row. *places receives
 * 0, 1, ..., n - 1, and *starts the number of the first element of each row. */
static cubed_array *find_rows(cb_steps *s, cubed_array *lengths, int64_t n, const int64_t *chunk,
                              bool yields, cubed_array **places, cubed_array **starts)
{
    const cubed_scalar zero = {.i64 = 0}, one = {.i64 = 1};
    cubed_array *ends = NULL, *at = NULL, *row = NULL;
    if (s->st != CUBED_OK) return NULL;
    ends = cb_step(s, cubed_cumulative(CUBED_REDUCE_SUM, lengths, 0, false, &ends, s->err), &ends);
    if (s->st != CUBED_OK) return NULL;
    at = cb_step(
        s, cubed_array_ramp(s->ctx, CUBED_INT64, &zero, &one, n, CUBED_INT64, chunk, &at, s->err),
        &at);
    if (s->st != CUBED_OK) return NULL;
    if (yields) cubed_array_yield_chunks(at);
    row = cb_step(s, cubed_searchsorted(ends, at, true, NULL, &row, s->err), &row);
    cubed_array *none =
        cb_step_op(s, CUBED_OP_MULTIPLY, count_up(s, 1, CUBED_INT64), cb_step_whole(s, 0), NULL);
    cubed_array *const parts[2] = {none, cb_step_part(s, ends, 0, 0, ends->shape[0] - 1, 1)};
    *places = at;
    *starts = cb_step_concat(s, parts, 2, 0);
    return row;
}

static cubed_array *take_at(cb_steps *s, cubed_array *x, cubed_array *at)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_take(x, at, 0, &y, s->err), &y);
}

cubed_status cubed_triangle_indices(cubed_context *ctx, int64_t rows, int64_t columns, int64_t k,
                                    bool upper, const int64_t *chunk, cubed_array **out,
                                    cubed_error *err)
{
    const char *name = upper ? "triu_indices" : "tril_indices";
    const int64_t shape[2] = {rows, columns};
    CB_TRY(cb_check_shape(name, 2, shape, CUBED_INT64, err));
    k = cb_max_i64(-rows - 1, cb_min_i64(k, columns + 1));
    int64_t n = count_below(rows, columns, upper ? k - 1 : k), own = 0;
    if (upper) n = rows * columns - n;
    cb_even_chunks(1, &n, sizeof(int64_t), CB_EVEN_CHUNK_BYTES, &own);
    cb_steps s = {.ctx = ctx, .err = err};
    cubed_array *places = NULL, *starts = NULL, *row, *column, *edge;
    if (n == 0) {
        row = column = count_up(&s, 0, CUBED_INT64);
    } else {
        edge = cb_step_op(&s, CUBED_OP_ADD, count_up(&s, rows, CUBED_INT64),
                          cb_step_whole(&s, upper ? k : k + 1), NULL);
        edge = cb_step_op(&s, CUBED_OP_MAXIMUM, edge, cb_step_whole(&s, 0), NULL);
        edge = cb_step_op(&s, CUBED_OP_MINIMUM, edge, cb_step_whole(&s, columns), NULL);
        cubed_array *lengths = edge;
        if (upper)
            lengths = cb_step_op(&s, CUBED_OP_SUBTRACT, cb_step_whole(&s, columns), edge, NULL);
        row = find_rows(&s, lengths, n, chunk ? chunk : &own, !chunk, &places, &starts);
        column = cb_step_op(&s, CUBED_OP_SUBTRACT, places, take_at(&s, starts, row), NULL);
        if (upper) column = cb_step_op(&s, CUBED_OP_ADD, column, take_at(&s, edge, row), NULL);
        cubed_array *same = NULL;
        if (column && row)
            column = cb_step(&s, cubed_rechunk(column, cubed_array_chunks(row), &same, err), &same);
    }
    cubed_array *const made[2] = {row, column};
    cubed_array **const outs[2] = {&out[0], &out[1]};
    return cb_steps_end_all(&s, made, outs, 2);
}

/* --- Flat positions ----------------------------------------------------------------------------------- */

static cubed_status check_whole(const char *name, const cubed_array *x, cubed_error *err)
{
    char text[CUBED_DTYPE_TEXT_CAP];
    const cubed_kind kind = cubed_dtype_kind(x->node.dtype);
    if (kind == CUBED_KIND_INT || kind == CUBED_KIND_UINT) return CUBED_OK;
    return cb_fail(err, CUBED_E_TYPE, "%s: positions are %s, expected integers", name,
                   cubed_dtype_text(x->node.dtype, text));
}

cubed_status cubed_ravel_multi_index(cubed_array *const *x, int n, const int64_t *shape,
                                     const cubed_bounds_mode *modes, bool first_fastest,
                                     cubed_array **out, cubed_error *err)
{
    int64_t step = 1;
    cubed_array *sum = NULL;
    if (n < 1)
        return cb_fail(
            err, CUBED_E_ARG,
            "ravel_multi_index: no positions are given, expected one array for each axis");
    cb_steps s = {.ctx = x[0]->ctx, .err = err};
    for (int i = 0; i < n; i++) {
        CB_TRY(check_whole("ravel_multi_index", x[i], err));
        if ((unsigned)modes[i] >= CUBED_BOUNDS_MODE_COUNT)
            return cb_fail(err, CUBED_E_ARG,
                           "ravel_multi_index: mode of axis %d is number %d, expected 0 to %d", i,
                           (int)modes[i], CUBED_BOUNDS_MODE_COUNT - 1);
    }
    for (int i = 0; i < n; i++) {
        const int d = first_fastest ? i : n - 1 - i;
        cubed_array *at = cb_step_cast(&s, x[d], CUBED_INT64);
        if (modes[d] == CUBED_BOUNDS_WRAP)
            at = cb_step_op(&s, CUBED_OP_REMAINDER, at, cb_step_whole(&s, shape[d]), NULL);
        if (modes[d] == CUBED_BOUNDS_CLIP) {
            at = cb_step_op(&s, CUBED_OP_MAXIMUM, at, cb_step_whole(&s, 0), NULL);
            at = cb_step_op(&s, CUBED_OP_MINIMUM, at, cb_step_whole(&s, shape[d] - 1), NULL);
        }
        at = cb_step_op(&s, CUBED_OP_MULTIPLY, at, cb_step_whole(&s, step), NULL);
        sum = sum ? cb_step_op(&s, CUBED_OP_ADD, sum, at, NULL) : at;
        if (s.st == CUBED_OK && cb_mul_i64(step, shape[d], &step))
            s.st = cb_fail(err, CUBED_E_ARG,
                           "ravel_multi_index: the shape has more than 2**63 elements");
    }
    return cb_steps_end(&s, sum, out);
}

cubed_status cubed_unravel_index(cubed_array *x, int n, const int64_t *shape, bool first_fastest,
                                 cubed_array **out, cubed_error *err)
{
    cubed_array *made[CUBED_MAX_NDIM] = {NULL};
    cubed_array **outs[CUBED_MAX_NDIM];
    CB_TRY(check_whole("unravel_index", x, err));
    if (n > CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "unravel_index: the shape has %d axes, expected at most %d", n,
                       CUBED_MAX_NDIM);
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *left = cb_step_cast(&s, x, CUBED_INT64);
    for (int i = 0; i < n; i++) {
        const int d = first_fastest ? i : n - 1 - i;
        cubed_array *extent = cb_step_whole(&s, shape[d]);
        made[d] = cb_step_op(&s, CUBED_OP_REMAINDER, left, extent, NULL);
        outs[d] = &out[d];
        if (i + 1 < n) left = cb_step_op(&s, CUBED_OP_FLOOR_DIVIDE, left, extent, NULL);
    }
    return cb_steps_end_all(&s, made, outs, n);
}

/* --- Evenly spaced numbers between arrays ------------------------------------------------------------- */

/* Steps from one array to another: the index of each step along a new first axis, and the number of steps. */
typedef struct between {
    /* float64; after the first axis, an axis of extent 1 for each axis of the arrays */
    cubed_array *at;
    double steps;
} between;

static between find_places(cb_steps *s, const cubed_array *a, const cubed_array *b,
                           const cubed_spaced_options *o)
{
    const int ndim =
        a->node.grid->ndim > b->node.grid->ndim ? a->node.grid->ndim : b->node.grid->ndim;
    const int64_t steps = o->num - o->endpoint;
    cubed_array *at = put_along(s, count_up(s, o->num, CUBED_INT64), 0, ndim + 1);
    return (between){cb_step_cast(s, at, CUBED_FLOAT64), (double)cb_max_i64(1, steps)};
}

static cubed_array *scaled_step(cb_steps *s, const between *p, cubed_array *low, cubed_array *high)
{
    cubed_array *by = cb_step_op(s, CUBED_OP_SUBTRACT, high, low, NULL);
    by = by ? cb_step_op(s, CUBED_OP_DIVIDE, by, cb_step_number(s, by, p->steps), NULL) : NULL;
    by = cb_step_op(s, CUBED_OP_MULTIPLY, p->at, by, NULL);
    return cb_step_op(s, CUBED_OP_ADD, low, by, NULL);
}

/* Replaces the last number by `stop`, casts to the result type, and moves the first axis to the requested position. */
static cubed_status finish(cb_steps *s, const between *p, cubed_array *made, cubed_array *stop,
                           const cubed_spaced_options *o, cubed_array **out)
{
    int order[CUBED_MAX_NDIM];
    if (o->endpoint && o->num > 1 && made) {
        cubed_array *last = cb_step_number(s, p->at, (double)(o->num - 1));
        last = cb_step_op(s, CUBED_OP_EQUAL, p->at, last, NULL);
        made = cb_step_op(s, CUBED_OP_WHERE, last, stop, made);
    }
    if (o->dtype && made) made = cb_step_cast(s, made, *o->dtype);
    if (made) {
        const int ndim = made->node.grid->ndim;
        int to = o->axis;
        s->st = cb_api_axis(o->geometric ? "geomspace" : "linspace", ndim, &to, s->err);
        for (int d = 0; d < ndim; d++) order[d] = d < to ? d + 1 : d == to ? 0 : d;
        if (s->st == CUBED_OK && to > 0) made = cb_step_permuted(s, made, order);
    }
    return cb_steps_end(s, made, out);
}

static bool is_whole(const cubed_dtype *dtype)
{
    const cubed_kind kind = dtype ? cubed_dtype_kind(*dtype) : CUBED_KIND_FLOAT;
    return kind == CUBED_KIND_INT || kind == CUBED_KIND_UINT;
}

static cubed_array *rounded(cb_steps *s, cubed_array *x, const cubed_spaced_options *o)
{
    return is_whole(o->dtype) ? cb_step_op(s, CUBED_OP_FLOOR, x, NULL, NULL) : x;
}

static cubed_status space_evenly(cubed_array *start, cubed_array *stop,
                                 const cubed_spaced_options *o, cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = start->ctx, .err = err};
    cubed_array *a = start, *b = stop;
    if (cubed_dtype_kind(a->node.dtype) < CUBED_KIND_FLOAT) a = cb_step_cast(&s, a, CUBED_FLOAT64);
    if (cubed_dtype_kind(b->node.dtype) < CUBED_KIND_FLOAT) b = cb_step_cast(&s, b, CUBED_FLOAT64);
    const between p = find_places(&s, start, stop, o);
    cubed_array *made = rounded(&s, scaled_step(&s, &p, a, b), o);
    return finish(&s, &p, made, rounded(&s, b, o), o, out);
}

static cubed_status space_by_factor(cubed_array *start, cubed_array *stop,
                                    const cubed_spaced_options *o, cubed_array **out,
                                    cubed_error *err)
{
    cb_steps s = {.ctx = start->ctx, .err = err};
    cubed_dtype dtype = cubed_dtype_promote(start->node.dtype, stop->node.dtype);
    if (cubed_dtype_is_valid(dtype)) dtype = cubed_dtype_promote(dtype, CUBED_FLOAT64);
    if (o->dtype && cubed_dtype_is_valid(dtype)) dtype = cubed_dtype_promote(dtype, *o->dtype);
    if (!cubed_dtype_is_valid(dtype))
        return cb_fail(err, CUBED_E_TYPE,
                       "geomspace is not defined for %s and %s, expected numbers",
                       cubed_dtype_name(start->node.dtype), cubed_dtype_name(stop->node.dtype));
    cubed_array *a = cb_step_cast(&s, start, dtype), *b = cb_step_cast(&s, stop, dtype);
    cubed_array *sign = cb_step_op(&s, CUBED_OP_SIGN, a, NULL, NULL);
    cubed_array *low = cb_step_op(&s, CUBED_OP_DIVIDE, a, sign, NULL);
    cubed_array *high = cb_step_op(&s, CUBED_OP_DIVIDE, b, sign, NULL);
    low = cb_step_op(&s, CUBED_OP_LOG10, low, NULL, NULL);
    high = cb_step_op(&s, CUBED_OP_LOG10, high, NULL, NULL);
    const between p = find_places(&s, start, stop, o);
    cubed_array *made = scaled_step(&s, &p, low, high);
    made = made ? cb_step_op(&s, CUBED_OP_POW, cb_step_number(&s, made, 10), made, NULL) : NULL;
    made = cb_step_op(&s, CUBED_OP_MULTIPLY, sign, made, NULL);
    cubed_array *first = p.at ? cb_step_number(&s, p.at, 0) : NULL;
    first = cb_step_op(&s, CUBED_OP_EQUAL, p.at, first, NULL);
    return finish(&s, &p, cb_step_op(&s, CUBED_OP_WHERE, first, a, made), b, o, out);
}

cubed_status cubed_spaced(cubed_array *start, cubed_array *stop,
                          const cubed_spaced_options *options, cubed_array **out, cubed_error *err)
{
    cubed_spaced_options taken = CUBED_SPACED_OPTIONS_INIT;
    CB_TRY(CB_OPTIONS_TAKE("spaced", options, &taken, err));
    const char *name = taken.geometric ? "geomspace" : "linspace";
    if (taken.num < 0)
        return cb_fail(err, CUBED_E_ARG, "%s: num is %lld, expected 0 or more", name,
                       (long long)taken.num);
    const int ndim = start->node.grid->ndim > stop->node.grid->ndim ? start->node.grid->ndim
                                                                    : stop->node.grid->ndim;
    if (ndim == CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: the bounds have %d axes and the result one more, expected at most %d",
                       name, ndim, CUBED_MAX_NDIM);
    return (taken.geometric ? space_by_factor : space_evenly)(start, stop, &taken, out, err);
}
