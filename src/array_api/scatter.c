/* Indexing and assignment by arrays of positions along several axes, as in NumPy's x[i, j] and x[i, j] = value; and assignment to
 * slices, x[slices] = value. Axes without positions are selected as a whole.
 *
 * Axes with positions are moved next to each other and merged, and their positions become one array. In assignments, every
 * element searches for its own position among the sorted positions. So each element is written only by the task that computes
 * it. */
#include <string.h>

#include "array_api/api_pkg.h"
#include "array_api/checks.h"
#include "base/checked.h"
#include "base/error.h"
#include "ops/shapes.h"

/* Axes with positions, and the broadcast shape of their arrays. */
typedef struct picked {
    const char *name;
    cubed_array *const *at; /* positions by axis of x; NULL if the whole axis is selected */
    int ndim, n;
    int axis[CUBED_MAX_NDIM];
    int place; /* index of the first axis of the result that belongs to the arrays of positions */
    int nshape;
    int64_t shape[CUBED_MAX_NDIM];
} picked;

static cubed_status broadcast_shape(picked *p, const cubed_array *a, cubed_error *err)
{
    const int d = cb_shape_join(&p->nshape, p->shape, a);
    if (d < 0) return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG,
                   "%s: positions with %lld and %lld elements along an axis do not broadcast",
                   p->name, (long long)p->shape[d],
                   (long long)a->shape[d - (p->nshape - a->node.grid->ndim)]);
}

static cubed_status find_picked(const char *name, const cubed_array *x, cubed_array *const *at,
                                picked *p, cubed_error *err)
{
    *p = (picked){.name = name, .at = at, .ndim = x->node.grid->ndim};
    for (int d = 0; d < p->ndim; d++) {
        if (!at[d]) continue;
        const cubed_kind kind = cubed_dtype_kind(at[d]->node.dtype);
        if (kind != CUBED_KIND_INT && kind != CUBED_KIND_UINT)
            return cb_fail(err, CUBED_E_TYPE, "%s: positions are %s, expected integers", name,
                           cubed_dtype_name(at[d]->node.dtype));
        CB_TRY(broadcast_shape(p, at[d], err));
        p->axis[p->n++] = d;
    }
    if (p->n == 0)
        return cb_fail(err, CUBED_E_ARG,
                       "%s: no positions are given, expected them for at least one axis", name);
    p->place = p->axis[p->n - 1] - p->axis[0] == p->n - 1 ? p->axis[0] : 0;
    if (p->ndim - p->n + p->nshape > CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: positions and other axes have more than %d dimensions together", name,
                       CUBED_MAX_NDIM);
    return CUBED_OK;
}

/* --- Steps ----------------------------------------------------------------------------------------- */

static cubed_array *taken(cb_steps *s, cubed_array *x, cubed_array *at, int axis)
{
    cubed_array *y = NULL;
    return x && at ? cb_step(s, cubed_take(x, at, axis, &y, s->err), &y) : NULL;
}

/* Rechunks y, whose shape is the shape of x, to the chunks of x. */
static cubed_array *in_chunks_of(cb_steps *s, const cubed_array *x, cubed_array *y)
{
    cubed_array *same = NULL;
    if (!y) return NULL;
    const cb_node n = cb_graph_like(x, CB_NODE_COPY, y->node.dtype);
    return cb_step(s, cb_graph_add(s->ctx, &n, &y, &same, s->err), &same);
}

/* Returns positions along the merged axes, as a vector. A take from a single axis needs no `wrap`, because it accepts
 * negative positions. */
static cubed_array *merged_positions(cb_steps *s, const cubed_array *x, const picked *p, bool wrap)
{
    int64_t flat = -1;
    cubed_array *total = NULL;
    for (int d = 0; d < p->nshape; d++) {
        if (p->shape[d] > 0) continue;
        /* positions that broadcast to an empty shape are never read */
        const cubed_scalar zero = {.i64 = 0};
        flat = 0;
        return cb_step(s,
                       cubed_array_full(s->ctx, CUBED_INT64, 1, &flat, NULL, &zero, &total, s->err),
                       &total);
    }
    /* If `flat` is an array in memory, cubed_take uses its values when the graph is built. */
    if (p->n == 1 && p->nshape == 1 && !wrap)
        return cb_step_cast(s, p->at[p->axis[0]], CUBED_INT64);
    for (int i = 0; i < p->n && s->st == CUBED_OK; i++) {
        const int axis = p->axis[i];
        cubed_array *at = wrap ? cb_step_wrapped(s, p->at[axis], axis, x->shape[axis])
                               : cb_step_cast(s, p->at[axis], CUBED_INT64);
        if (total) {
            total = cb_step_op(s, CUBED_OP_MULTIPLY, total, cb_step_whole(s, x->shape[axis]), NULL);
            at = cb_step_op(s, CUBED_OP_ADD, total, at, NULL);
        }
        total = at;
    }
    return cb_step_reshaped(s, cb_step_broadcast(s, total, p->nshape, p->shape), 1, &flat);
}

/* Merges the axes with positions into one axis at `place`. `order` and `before` receive the original order and extents. */
static cubed_array *merged(cb_steps *s, cubed_array *x, const picked *p, int place, int *order,
                           int64_t *before)
{
    int64_t shape[CUBED_MAX_NDIM];
    int used = 0, made = 0;
    for (int pass = 0, d = 0; pass < 2; pass++) {
        for (; d < p->ndim && (pass || used < place); d++) {
            if (!p->at[d]) order[used++] = d;
        }
        for (int i = 0; i < p->n && !pass; i++) order[used++] = p->axis[i];
    }
    for (int d = 0; d < p->ndim; d++) {
        before[d] = x->shape[order[d]];
        if (d > place && d < place + p->n)
            shape[made - 1] *= before[d];
        else
            shape[made++] = before[d];
    }
    return cb_step_reshaped(s, cb_step_permuted(s, x, order), made, shape);
}

/* Checks that values can be cast to x's type. Times need the same unit; strings need the same kind. */
static cubed_status check_type(const char *name, const cubed_array *x, const cubed_array *value,
                               cubed_error *err)
{
    const cubed_dtype to = x->node.dtype, from = value->node.dtype;
    const cubed_kind a = cubed_dtype_kind(to), b = cubed_dtype_kind(from);
    bool fits = a != CUBED_KIND_TIME || b != CUBED_KIND_TIME || to == from;
    if (a == CUBED_KIND_TEXT || b == CUBED_KIND_TEXT)
        fits = cubed_dtype_family(to) == cubed_dtype_family(from);
    if (fits) return CUBED_OK;
    char have[CUBED_DTYPE_TEXT_CAP], want[CUBED_DTYPE_TEXT_CAP];
    return cb_fail(err, CUBED_E_TYPE, "%s: a value of type %s cannot be assigned to %s", name,
                   cubed_dtype_text(from, have), cubed_dtype_text(to, want));
}

/* --- Gather ---------------------------------------------------------------------------------------- */

cubed_status cubed_gather(cubed_array *x, cubed_array *const *positions, cubed_array **out,
                          cubed_error *err)
{
    picked p;
    int order[CUBED_MAX_NDIM] = {0}, ndim = 0;
    int64_t before[CUBED_MAX_NDIM], shape[CUBED_MAX_NDIM];
    CB_TRY(find_picked("gather", x, positions, &p, err));
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = merged(&s, x, &p, p.place, order, before);
    y = taken(&s, y, merged_positions(&s, x, &p, p.n > 1), p.place);
    for (int d = 0; d < p.place; d++) shape[ndim++] = before[d];
    for (int d = 0; d < p.nshape; d++) shape[ndim++] = p.shape[d];
    for (int d = p.place + p.n; d < p.ndim; d++) shape[ndim++] = before[d];
    return cb_steps_end(&s, cb_step_reshaped(&s, y, ndim, shape), out);
}

/* --- Replace --------------------------------------------------------------------------------------- */

/* Replaces elements of x by those of `value` where the mask is true. The result has x's type, shape and chunks. */
static cubed_array *replaced(cb_steps *s, cubed_array *x, cubed_array *mask, cubed_array *value)
{
    cubed_array *y = NULL;
    if (!x || !mask || !value) return NULL;
    const cubed_dtype dtype = x->node.dtype;
    const cubed_kind kind = cubed_dtype_kind(dtype);
    const int ndim = x->node.grid->ndim;
    mask = cb_step_broadcast(s, mask, ndim, x->shape);
    value = cb_step_broadcast(s, value, ndim, x->shape);
    if (kind == CUBED_KIND_TEXT) {
        y = cb_step_replaced_texts(s, x, mask, value);
    } else {
        /* Selects elements of half precision as float32, and times as int64. The result is cast back. */
        const cubed_dtype work = kind == CUBED_KIND_TIME ? CUBED_INT64 : dtype;
        y = cb_step_op(s, CUBED_OP_WHERE, mask, cb_step_cast(s, value, work),
                       cb_step_cast(s, x, work));
        y = cb_step_cast(s, y, dtype);
    }
    return in_chunks_of(s, x, y);
}

cubed_status cubed_replace(cubed_array *x, cubed_array *mask, cubed_array *value, cubed_array **out,
                           cubed_error *err)
{
    if (mask->node.dtype != CUBED_BOOL)
        return cb_fail(err, CUBED_E_TYPE, "replace: the mask is %s, expected bool",
                       cubed_dtype_name(mask->node.dtype));
    CB_TRY(check_type("replace", x, value, err));
    cb_steps s = {.ctx = x->ctx, .err = err};
    return cb_steps_end(&s, replaced(&s, x, mask, value), out);
}

/* --- Scatter --------------------------------------------------------------------------------------- */

static cubed_status check_value(const char *name, const cubed_array *value, int ndim,
                                const int64_t *full, cubed_error *err)
{
    const int have = value->node.grid->ndim;
    if (have > ndim)
        return cb_fail(err, CUBED_E_ARG, "%s: a value of %d dimensions does not fit into %d", name,
                       have, ndim);
    for (int d = 0; d < have; d++) {
        const int64_t n = value->shape[d], room = full[ndim - have + d];
        if (n != 1 && n != room)
            return cb_fail(err, CUBED_E_ARG,
                           "%s: a value of %lld elements along axis %d does not fit into %lld",
                           name, (long long)n, d, (long long)room);
    }
    return CUBED_OK;
}

/* Broadcasts `value` to the shape of cubed_gather's result, and reshapes it to one row per position. */
static cubed_array *rows_of(cb_steps *s, cubed_array *value, const picked *p, const int64_t *rest)
{
    int64_t full[CUBED_MAX_NDIM], shape[CUBED_MAX_NDIM];
    if (!value) return NULL;
    int order[CUBED_MAX_NDIM], nrest = p->ndim - p->n, ndim = nrest + p->nshape;
    for (int d = 0; d < ndim; d++) {
        const int k = d - p->place;
        const bool is_position = k >= 0 && k < p->nshape;
        const int other = k < 0 ? d : d - p->nshape;
        full[d] = is_position ? p->shape[k] : rest[other];
        order[is_position ? k : p->nshape + other] = d;
    }
    if (s->st == CUBED_OK) s->st = check_value(p->name, value, ndim, full, s->err);
    shape[0] = 1;
    for (int d = 0; d < p->nshape; d++) shape[0] *= p->shape[d];
    memcpy(shape + 1, rest, sizeof *rest * (size_t)nrest);
    if (s->st == CUBED_OK) value = cb_step_broadcast(s, value, ndim, full);
    return cb_step_reshaped(s, cb_step_permuted(s, value, order), 1 + nrest, shape);
}

/* Replaces the rows of x at the positions `at`. If a position is repeated, its last value is used. */
static cubed_array *rows_replaced(cb_steps *s, cubed_array *x, cubed_array *at, cubed_array *value)
{
    cubed_array *order = NULL, *rows = NULL, *behind = NULL, *wide = NULL;
    int64_t shape[CUBED_MAX_NDIM];
    if (!x || !at || !value) return NULL;
    order = cb_step(s, cubed_argsort(at, 0, false, &order, s->err), &order);
    cubed_array *ordered = taken(s, at, order, 0);
    if (ordered)
        rows =
            cb_step(s, cubed_array_index(s->ctx, 1, x->shape, x->chunks, 0, &rows, s->err), &rows);
    if (rows)
        behind =
            cb_step(s, cubed_searchsorted(ordered, rows, true, NULL, &behind, s->err), &behind);
    cubed_array *last = cb_step_op(s, CUBED_OP_SUBTRACT, behind, cb_step_whole(s, 1), NULL);
    last = cb_step_op(s, CUBED_OP_MAXIMUM, last, cb_step_whole(s, 0), NULL);
    cubed_array *found = cb_step_op(s, CUBED_OP_EQUAL, taken(s, ordered, last, 0), rows, NULL);
    cubed_array *fresh = taken(s, value, taken(s, order, last, 0), 0);
    for (int d = 0; d < x->node.grid->ndim; d++) shape[d] = d == 0 ? x->shape[0] : 1;
    wide = cb_step_reshaped(s, found, x->node.grid->ndim, shape);
    return replaced(s, x, wide, fresh);
}

/* Returns x, which is empty, as a result that depends on the tasks that check the positions. */
static cubed_array *after_checks(cb_steps *s, cubed_array *x, cubed_array *positions)
{
    cubed_array *none = cb_step_part(s, positions, 0, 0, 0, 1);
    none = cb_step_op(s, CUBED_OP_EQUAL, none, none, NULL);
    none = cb_step_reshaped(s, none, x ? x->node.grid->ndim : 0, x ? x->shape : NULL);
    return x && none ? cb_step_required(s, x, none, "positions in the array") : NULL;
}

cubed_status cubed_scatter(cubed_array *x, cubed_array *const *positions, cubed_array *value,
                           cubed_array **out, cubed_error *err)
{
    picked p;
    int order[CUBED_MAX_NDIM] = {0}, back[CUBED_MAX_NDIM];
    int64_t before[CUBED_MAX_NDIM], count = 1;
    CB_TRY(find_picked("scatter", x, positions, &p, err));
    CB_TRY(check_type("scatter", x, value, err));
    for (int d = 0; d < p.nshape; d++) count *= p.shape[d];
    for (int i = 0; i < p.n && count > 0; i++) {
        if (x->shape[p.axis[i]] == 0)
            return cb_fail(err, CUBED_E_INDEX,
                           "scatter: positions in axis %d, which has no elements", p.axis[i]);
    }
    bool some = true;
    for (int d = 0; d < p.ndim; d++) some = some && x->shape[d] > 0;
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = merged(&s, x, &p, 0, order, before);
    cubed_array *rows = rows_of(&s, value, &p, before + p.n);
    cubed_array *at = count > 0 ? merged_positions(&s, x, &p, true) : NULL;
    if (count > 0) y = some ? rows_replaced(&s, y, at, rows) : after_checks(&s, y, at);
    for (int d = 0; d < p.ndim; d++) back[order[d]] = d;
    y = cb_step_permuted(&s, cb_step_reshaped(&s, y, p.ndim, before), back);
    /* A reshape chooses its own chunks, so x's chunks are restored. */
    return cb_steps_end(&s, in_chunks_of(&s, x, y), out);
}

cubed_status cubed_scatter_mask(cubed_array *x, cubed_array *mask, cubed_array *values,
                                cubed_array **out, cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    bool same = mask->node.grid->ndim == ndim;
    for (int d = 0; d < ndim && same; d++) same = mask->shape[d] == x->shape[d];
    if (!same || mask->node.dtype != CUBED_BOOL)
        return cb_fail(err, CUBED_E_ARG, "scatter_mask: the mask is not a bool array of x's shape");
    if (values->node.grid->ndim != 1)
        return cb_fail(err, CUBED_E_ARG, "scatter_mask: values have %d dimensions, expected 1",
                       values->node.grid->ndim);
    CB_TRY(check_type("scatter_mask", x, values, err));
    cb_steps s = {.ctx = x->ctx, .err = err};
    const cubed_reduce_options all = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *flat = NULL, *rank = NULL, *total = NULL;
    flat = cb_step(&s, cb_api_flatten(mask, &flat, err), &flat);
    cubed_array *ones = flat ? cb_step_cast(&s, flat, CUBED_INT64) : NULL;
    if (ones) total = cb_step(&s, cubed_reduce(CUBED_REDUCE_SUM, ones, &all, &total, err), &total);
    cubed_array *fits =
        cb_step_op(&s, CUBED_OP_EQUAL, total, cb_step_whole(&s, values->shape[0]), NULL);
    /* If there are no values to assign, the check is attached to x itself. */
    const bool some = values->shape[0] > 0;
    cubed_array *y = some ? values : x;
    if (y)
        y = cb_step_required(&s, y, cb_step_broadcast(&s, fits, y->node.grid->ndim, y->shape),
                             "other than as many values as true elements of the mask");
    if (y && some) {
        rank = cb_step(&s, cubed_cumulative(CUBED_REDUCE_SUM, ones, 0, false, &rank, err), &rank);
        rank = cb_step_op(&s, CUBED_OP_SUBTRACT, rank, cb_step_whole(&s, 1), NULL);
        rank = cb_step_op(&s, CUBED_OP_MAXIMUM, rank, cb_step_whole(&s, 0), NULL);
        rank =
            cb_step_op(&s, CUBED_OP_MINIMUM, rank, cb_step_whole(&s, values->shape[0] - 1), NULL);
        y = cb_step_reshaped(&s, taken(&s, y, rank, 0), ndim, x->shape);
        y = replaced(&s, x, mask, y);
    }
    return cb_steps_end(&s, in_chunks_of(&s, x, y), out);
}

/* --- Assignment to slices -------------------------------------------------------------------------- */

/* Returns an array with `extent` elements along the axis that contains v, which has r.len elements, at the positions of the
 * range r. Its other elements are arbitrary. */
static cubed_array *placed(cb_steps *s, cubed_array *v, int axis, cubed_slice r, int64_t extent)
{
    int64_t shape[CUBED_MAX_NDIM];
    cubed_array *parts[3], *y = NULL;
    int n = 0;
    if (r.step < 0) {
        v = cb_step_part(s, v, axis, r.len - 1, r.len, -1);
        r.start += (r.len - 1) * r.step;
        r.step = -r.step;
    }
    if (r.step > 1 && v) v = cb_step(s, cubed_repeat(v, r.step, &axis, &y, s->err), &y);
    if (!v) return NULL;
    const int ndim = v->node.grid->ndim;
    const int64_t len = cb_min_i64(v->shape[axis], extent - r.start), rest = extent - r.start - len;
    v = cb_step_part(s, v, axis, 0, len, 1);
    cubed_array *edge = cb_step_part(s, v, axis, 0, 1, 1);
    if (!edge) return NULL;
    memcpy(shape, v->shape, sizeof *shape * (size_t)ndim);
    shape[axis] = r.start;
    if (r.start > 0) parts[n++] = cb_step_broadcast(s, edge, ndim, shape);
    parts[n++] = v;
    shape[axis] = rest;
    if (rest > 0) parts[n++] = cb_step_broadcast(s, edge, ndim, shape);
    return cb_step_concat(s, parts, n, axis);
}

/* Returns true at positions along the axis that are in the range. */
static cubed_array *range_mask(cb_steps *s, const cubed_array *x, int axis, cubed_slice r)
{
    int64_t shape[CUBED_MAX_NDIM], chunks[CUBED_MAX_NDIM];
    const int64_t other = r.start + (r.len - 1) * r.step;
    const int64_t low = cb_min_i64(r.start, other), high = cb_max_i64(r.start, other);
    const int64_t step = r.step < 0 ? -r.step : r.step;
    const int ndim = x->node.grid->ndim;
    cubed_array *at = NULL;
    for (int d = 0; d < ndim; d++) shape[d] = chunks[d] = 1;
    shape[axis] = x->shape[axis];
    chunks[axis] = cubed_array_chunks(x)[axis];
    at = cb_step(s, cubed_array_index(s->ctx, ndim, shape, chunks, 0, &at, s->err), &at);
    cubed_array *mask =
        cb_step_op(s, CUBED_OP_LOGICAL_AND,
                   cb_step_op(s, CUBED_OP_GREATER_EQUAL, at, cb_step_whole(s, low), NULL),
                   cb_step_op(s, CUBED_OP_LESS_EQUAL, at, cb_step_whole(s, high), NULL), NULL);
    if (step == 1) return mask;
    cubed_array *phase = cb_step_op(s, CUBED_OP_SUBTRACT, at, cb_step_whole(s, low), NULL);
    phase = cb_step_op(s, CUBED_OP_REMAINDER, phase, cb_step_whole(s, step), NULL);
    phase = cb_step_op(s, CUBED_OP_EQUAL, phase, cb_step_whole(s, 0), NULL);
    return cb_step_op(s, CUBED_OP_LOGICAL_AND, mask, phase, NULL);
}

/* Reshapes `value` to x's axes. Axes that the value does not have, or that slices drop, get extent 1. */
static cubed_array *in_axes_of(cb_steps *s, const cubed_array *x, const cubed_slice *slices,
                               const cubed_array *part, cubed_array *value)
{
    static const int first = 0;
    const int room = part->node.grid->ndim;
    cubed_array *v = value;
    while (v && v->node.grid->ndim > room && v->shape[0] == 1) {
        cubed_array *y = NULL;
        v = cb_step(s, cubed_squeeze(v, &first, 1, &y, s->err), &y);
    }
    if (!v) return NULL;
    if (s->st == CUBED_OK) s->st = check_value("assign", v, room, part->shape, s->err);
    const int lead = room - v->node.grid->ndim;
    for (int d = 0, kept = 0; d < x->node.grid->ndim && v && s->st == CUBED_OK; d++) {
        cubed_array *y = NULL;
        if (slices[d].drop || kept++ < lead)
            v = cb_step(s, cubed_expand_dims(v, d, &y, s->err), &y);
    }
    return s->st == CUBED_OK ? v : NULL;
}

cubed_status cubed_assign(cubed_array *x, const cubed_slice *slices, cubed_array *value,
                          cubed_array **out, cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    cubed_array *part = NULL, *mask = NULL, *y = NULL;
    CB_TRY(check_type("assign", x, value, err));
    cb_steps s = {.ctx = x->ctx, .err = err};
    part = cb_step(&s, cubed_slice_array(x, slices, &part, err), &part);
    cubed_array *v = part ? in_axes_of(&s, x, slices, part, value) : NULL;
    for (int d = 0; d < ndim; d++) {
        if (slices[d].len == 0 && v) return cb_steps_end(&s, x, out);
    }
    for (int d = 0; d < ndim && v; d++) {
        cubed_slice r = slices[d];
        if (r.len == 1) r.step = 1;
        if (v->shape[d] != 1) v = placed(&s, v, d, r, x->shape[d]);
        if (r.len == x->shape[d]) continue;
        cubed_array *along = range_mask(&s, x, d, r);
        mask = mask ? cb_step_op(&s, CUBED_OP_LOGICAL_AND, mask, along, NULL) : along;
    }
    if (!v || s.st != CUBED_OK) return cb_steps_end(&s, NULL, out);
    if (!mask && v->node.dtype == x->node.dtype) {
        y = in_chunks_of(&s, x, cb_step_broadcast(&s, v, ndim, x->shape));
    } else {
        const cubed_scalar all = {.b = true};
        if (!mask) mask = cb_step_scalar(&s, CUBED_BOOL, &all);
        y = replaced(&s, x, mask, v);
    }
    return cb_steps_end(&s, y, out);
}
