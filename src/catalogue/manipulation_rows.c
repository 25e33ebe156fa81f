/* Rows of functions that rearrange elements. */
#include "base/error.h"
#include "cubed/array_api.h"
#include "literal.h"
#include "rows.h"

#define CATEGORY .category = "manipulation"

#define INPUT PARAM_ARRAY("x", "Input array.")
/* A parameter that is an integer or a list of integers. */
#define INTEGERS(NAME, FLAGS, NOTES)                                                               \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(INT) | ACCEPTS(INTS), CUBED_PARAM_REQUIRED | (FLAGS), NOTES)           \
    }
#define ONE_AXIS(NAME, FLAGS, NOTES)                                                               \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(INT), CUBED_PARAM_REQUIRED | CUBED_PARAM_AXIS | (FLAGS), NOTES)        \
    }

/* --- Axes --------------------------------------------------------------------------------------------- */

static cubed_status keep(cubed_array *x, cubed_array **out)
{
    *out = cubed_array_ref(x);
    return CUBED_OK;
}

/* Reads the axis at position i. Converts a negative number to an axis counted from the start. */
static cubed_status get_axis(const cb_call *c, int i, int ndim, int *axis)
{
    return cb_call_check_axis(c, i, ndim, cb_call_int(c, i), axis);
}

static const cubed_param permute_params[] = {
    INPUT,
    INTEGERS("axes", CUBED_PARAM_AXIS, "The axes of `x`, in the order of the result."),
};
static const cubed_param transpose_params[] = {
    INPUT,
    PARAM_AXES("axes", 0, "The axes of `x`, in the order of the result. None: reverse order."),
};

static cubed_status reverse(cubed_array *x, cubed_array **out, cubed_error *err)
{
    int axes[CUBED_MAX_NDIM];
    const int ndim = cubed_array_ndim(x);
    for (int d = 0; d < ndim; d++) axes[d] = ndim - 1 - d;
    return cubed_permute_dims(x, axes, out, err);
}

static cubed_status call_transpose(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0);
    int room[CUBED_MAX_NDIM], n;
    const int *axes = cb_call_axes(c, 1, room, &n), ndim = cubed_array_ndim(x);
    if (!axes) return reverse(x, c->out, c->err);
    if (n != ndim)
        return cb_call_blame(c, 1,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "%s: there are %d axes for an array with %d",
                                     c->function->name, n, ndim));
    return cubed_permute_dims(x, axes, c->out, c->err);
}

static cubed_status call_permute_dims(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0);
    int axes[CUBED_MAX_NDIM], n, kept = 0;
    cb_call_axes(c, 1, axes, &n);
    while (kept < n && (axes[kept] == kept || axes[kept] == kept - n)) kept++;
    return kept == n && n == cubed_array_ndim(x) ? keep(x, c->out) : call_transpose(c);
}

static const cubed_param moveaxis_params[] = {
    INPUT,
    INTEGERS("source", CUBED_PARAM_AXIS, "Axes to move."),
    INTEGERS("destination", CUBED_PARAM_AXIS, "Positions of these axes in the result."),
};

static cubed_status call_moveaxis(const cb_call *c)
{
    int from[CUBED_MAX_NDIM], to[CUBED_MAX_NDIM], n, m;
    cb_call_axes(c, 1, from, &n);
    cb_call_axes(c, 2, to, &m);
    if (n != m)
        return cb_call_blame(
            c, 2,
            cb_fail(c->err, CUBED_E_ARG,
                    "moveaxis: there are %d sources for %d destinations, expected equal numbers", n,
                    m));
    return cubed_moveaxis(cb_call_array(c, 0), from, to, n, c->out, c->err);
}

static const cubed_param swapaxes_params[] = {
    INPUT,
    ONE_AXIS("axis1", 0, "The first of two axes."),
    ONE_AXIS("axis2", 0, "The second of two axes."),
};

static cubed_status swap(cubed_array *x, int a, int b, cubed_array **out, cubed_error *err)
{
    int axes[CUBED_MAX_NDIM];
    for (int d = 0; d < cubed_array_ndim(x); d++) axes[d] = d == a ? b : d == b ? a : d;
    return cubed_permute_dims(x, axes, out, err);
}

static cubed_status call_swapaxes(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0);
    int a, b;
    CB_TRY(get_axis(c, 1, cubed_array_ndim(x), &a));
    CB_TRY(get_axis(c, 2, cubed_array_ndim(x), &b));
    return swap(x, a, b, c->out, c->err);
}

static const cubed_param rollaxis_params[] = {
    PARAM_LIKE("a", "Input array."),
    ONE_AXIS("axis", 0, "The axis that is moved."),
    PARAM_INT("start", 0, 0,
              "The axis is moved in front of this axis. The number of axes moves it to the end."),
};

static cubed_status call_rollaxis(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0);
    const int ndim = cubed_array_ndim(x);
    const int64_t start = cb_call_int(c, 2);
    int axis;
    CB_TRY(get_axis(c, 1, ndim, &axis));
    if (start < -ndim || start > ndim)
        return cb_call_blame(c, 2,
                             cb_fail(c->err, CUBED_E_AXIS,
                                     "rollaxis: start is %lld, expected %d to %d", (long long)start,
                                     -ndim, ndim));
    const int before = (int)(start < 0 ? start + ndim : start), to = before - (axis < before);
    return axis == to ? keep(x, c->out) : cubed_moveaxis(x, &axis, &to, 1, c->out, c->err);
}

static const cubed_param expand_params[] = {
    INPUT,
    {PARAM("axis", ACCEPTS(INT) | ACCEPTS(INTS), 0, "Positions of the new axes in the result."),
     INT_DEFAULT(0)},
};

/* Inserts an axis of extent 1 at each position d of the result for which is_new[d] is true. */
static cubed_status expand(cubed_array *x, const bool *is_new, int ndim, cubed_array **out,
                           cubed_error *err)
{
    cubed_array *now = cubed_array_ref(x);
    for (int d = 0; d < ndim; d++) {
        cubed_array *before = now;
        if (!is_new[d]) continue;
        const cubed_status st = cubed_expand_dims(before, d, &now, err);
        cubed_array_unref(before);
        CB_TRY(st);
    }
    *out = now;
    return CUBED_OK;
}

static cubed_status call_expand_dims(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0);
    bool is_new[CUBED_MAX_NDIM] = {false};
    int n;
    const int64_t *given = cb_call_ints(c, 1, &n);
    if (n > CUBED_MAX_NDIM - cubed_array_ndim(x))
        return cb_call_blame(c, 1,
                             cb_fail(c->err, CUBED_E_UNSUPPORTED,
                                     "expand_dims: there are %d new axes for an array with %d, "
                                     "expected at most %d in all",
                                     n, cubed_array_ndim(x), CUBED_MAX_NDIM));
    const int ndim = cubed_array_ndim(x) + n;
    for (int i = 0; i < n; i++) {
        int axis = 0;
        CB_TRY(cb_call_check_axis(c, 1, ndim, given[i], &axis));
        if (is_new[axis])
            return cb_call_blame(c, 1,
                                 cb_fail(c->err, CUBED_E_ARG,
                                         "expand_dims: axis %lld is given twice",
                                         (long long)given[i]));
        is_new[axis] = true;
    }
    return expand(x, is_new, ndim, c->out, c->err);
}

static const cubed_param squeeze_params[] = {
    INPUT,
    PARAM_AXES("axis", 0, "Axes to remove. None: all axes with one element."),
};

static cubed_status call_squeeze(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0);
    int room[CUBED_MAX_NDIM], n, d = 0;
    const int *axes = cb_call_axes(c, 1, room, &n);
    while (!axes && d < cubed_array_ndim(x) && cubed_array_shape(x)[d] != 1) d++;
    if (!axes && d == cubed_array_ndim(x)) return keep(x, c->out);
    return cubed_squeeze(x, axes, n, c->out, c->err);
}

/* --- Order along axes --------------------------------------------------------------------------------- */

static const cubed_param flip_params[] = {
    INPUT,
    PARAM_AXES("axis", 0, "Axes that are reversed. None: all."),
};

static cubed_status call_flip(const cb_call *c)
{
    int room[CUBED_MAX_NDIM], n;
    const int *axes = cb_call_axes(c, 1, room, &n);
    return cubed_flip(cb_call_array(c, 0), axes, n, c->out, c->err);
}

static const int64_t first_plane[] = {0, 1};
static const cubed_param rot90_params[] = {
    PARAM_LIKE("x", "Input array."),
    PARAM_INT("k", 0, 1, "Number of rotations by 90 degrees."),
    {PARAM("axes", ACCEPTS(INTS), CUBED_PARAM_AXIS, "The two axes of the plane of rotation."),
     .fallback = {.kind = CUBED_VALUE_INTS, .n = 2, .as.ints = first_plane}},
};

static cubed_status turn(const cb_call *c, cubed_array *x, int a, int b)
{
    const int turns = (int)(((cb_call_int(c, 1) % 4) + 4) % 4), plane[2] = {a, b};
    cubed_array *half;
    if (turns == 0) return keep(x, c->out);
    if (turns == 2) return cubed_flip(x, plane, 2, c->out, c->err);
    CB_TRY(turns == 1 ? cubed_flip(x, &b, 1, &half, c->err) : swap(x, a, b, &half, c->err));
    const cubed_status st =
        turns == 1 ? swap(half, a, b, c->out, c->err) : cubed_flip(half, &b, 1, c->out, c->err);
    cubed_array_unref(half);
    return st;
}

static cubed_status call_rot90(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0);
    const cubed_value *v = &c->values[2];
    int a, b;
    if (v->n != 2)
        return cb_call_blame(
            c, 2, cb_fail(c->err, CUBED_E_ARG, "rot90: there are %d axes, expected two", v->n));
    CB_TRY(cb_call_check_axis(c, 2, cubed_array_ndim(x), v->as.ints[0], &a));
    CB_TRY(cb_call_check_axis(c, 2, cubed_array_ndim(x), v->as.ints[1], &b));
    if (a == b)
        return cb_call_blame(c, 2,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "rot90: axes are %lld and %lld, expected two different ones",
                                     (long long)v->as.ints[0], (long long)v->as.ints[1]));
    return turn(c, x, a, b);
}

static const cubed_param roll_params[] = {
    INPUT,
    INTEGERS("shift", 0, "Number of positions to move, along each axis."),
    PARAM_AXES("axis", 0, "The axes. None: roll the flattened array, and restore its shape."),
};

static cubed_status flatten(cubed_array *x, cubed_array **out, cubed_error *err)
{
    const int64_t all = -1;
    return cubed_array_ndim(x) == 1 ? keep(x, out) : cubed_reshape(x, 1, &all, out, err);
}

static cubed_status roll_flat(const cb_call *c, cubed_array *x, int n, const int64_t *shifts)
{
    const int axis = 0;
    cubed_array *flat, *rolled = NULL;
    CB_TRY(flatten(x, &flat, c->err));
    const int64_t extent = cubed_array_shape(flat)[0];
    int64_t sum = 0;
    for (int i = 0; i < n && extent > 0; i++) {
        const uint64_t forward = (uint64_t)((shifts[i] % extent + extent) % extent);
        sum = (int64_t)(((uint64_t)sum + forward) % (uint64_t)extent);
    }
    cubed_status st = cubed_roll(flat, &sum, &axis, 1, &rolled, c->err);
    if (st == CUBED_OK)
        st = cubed_reshape(rolled, cubed_array_ndim(x), cubed_array_shape(x), c->out, c->err);
    cubed_array_unref(flat);
    cubed_array_unref(rolled);
    return st;
}

static cubed_status call_roll(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0);
    int room[CUBED_MAX_NDIM], naxes, n;
    int64_t each[CUBED_MAX_NDIM];
    const int *axes = cb_call_axes(c, 2, room, &naxes);
    const int64_t *shifts = cb_call_ints(c, 1, &n);
    if (!axes) return roll_flat(c, x, n, shifts);
    if (n != naxes && n != 1)
        return cb_call_blame(
            c, 1,
            cb_fail(c->err, CUBED_E_ARG,
                    "roll: there are %d shifts for %d axes, expected one for each axis", n, naxes));
    for (int i = 0; i < naxes; i++) each[i] = shifts[n == 1 ? 0 : i];
    return cubed_roll(x, each, axes, naxes, c->out, c->err);
}

/* --- Shapes ------------------------------------------------------------------------------------------- */

static const cubed_param broadcast_params[] = {
    INPUT,
    INTEGERS("shape", 0, "Shape of the result."),
};

static cubed_status call_broadcast_to(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0);
    int n, same = 0;
    const int64_t *shape = cb_call_ints(c, 1, &n);
    while (same < n && n == cubed_array_ndim(x) && shape[same] == cubed_array_shape(x)[same])
        same++;
    if (same == n && n == cubed_array_ndim(x)) return keep(x, c->out);
    return cubed_broadcast_to(x, n, shape, c->out, c->err);
}

enum { LAST_AXIS_FIRST, FIRST_AXIS_FIRST, AS_IN_MEMORY };
static const cubed_choice orders[] = {{"C", LAST_AXIS_FIRST},
                                      {"F", FIRST_AXIS_FIRST},
                                      {"A", AS_IN_MEMORY},
                                      {"K", AS_IN_MEMORY + 1},
                                      {NULL, 0}};
#define ORDER(FLAGS)                                                                               \
    PARAM_CHOICE("order", FLAGS, LAST_AXIS_FIRST, orders,                                          \
                 "Order of the flattened elements: ``\"C\"``, the last axis varies fastest, or "   \
                 "``\"F\"``, the first axis.")

static const cubed_param reshape_params[] = {
    INPUT,
    INTEGERS("shape", 0, "Shape of the result; one extent may be -1, for the remaining elements."),
    {PARAM("copy", ACCEPTS(BOOL) | ACCEPTS(NONE), NAMED,
           "Accepted for compatibility with NumPy; has no effect.")},
    ORDER(NAMED),
    PARAM_BOOL(
        "merge_chunks", NAMED, true,
        "False: axes of `x` that are merged, except the last of them, first get chunks of extent "
        "1. Chunks of the result are then no larger than those of `x`."),
    {PARAM_IN("limit", ACCEPTS(INT) | ACCEPTS(NONE), NAMED, 1, INFINITY,
              "Maximum size of a chunk of the result in bytes. None: the size depends on the "
              "chunks of `x`.")},
};

/* Rechunks x before a reshape to `to`. If several axes become one, all except the last of them get chunks of extent 1. */
static cubed_status split_merged_axes(cubed_array *x, const cubed_array *to, cubed_array **out,
                                      cubed_error *err)
{
    int64_t chunks[CUBED_MAX_NDIM];
    const int64_t *from = cubed_array_shape(x), *made = cubed_array_shape(to);
    const int ndim = cubed_array_ndim(x), nmade = cubed_array_ndim(to);
    for (int d = 0; d < ndim; d++) {
        if (from[d] == 0) return keep(x, out);
    }
    for (int i = 0, j = 0; i < ndim; i++) {
        int64_t a = from[i], b = j < nmade ? made[j++] : 1;
        chunks[i] = CUBED_CHUNKS_KEPT;
        while (a != b) { /* cannot overflow: products are at most the number of elements */
            if (a > b) {
                b *= made[j++];
                continue;
            }
            chunks[i++] = 1;
            chunks[i] = CUBED_CHUNKS_KEPT;
            a *= from[i];
        }
    }
    return cubed_rechunk(x, chunks, out, err);
}

/* Reshapes x. If `is_split`, splits chunks first, so that none are merged. */
static cubed_status reshape_chunks(cubed_array *x, int n, const int64_t *shape, bool is_split,
                                   cubed_array **out, cubed_error *err)
{
    cubed_array *made, *split;
    if (!is_split) return cubed_reshape(x, n, shape, out, err);
    CB_TRY(cubed_reshape(x, n, shape, &made, err));
    cubed_status st = split_merged_axes(x, made, &split, err);
    cubed_array_unref(made);
    if (st != CUBED_OK) return st;
    st = cubed_reshape(split, n, shape, out, err);
    cubed_array_unref(split);
    return st;
}

/* Limits the chunks of x to `limit` bytes, or to one element. Splits them along the first axes first. */
static cubed_status limit_chunks(cubed_array *x, int64_t limit, cubed_array **out, cubed_error *err)
{
    int64_t chunks[CUBED_MAX_NDIM];
    double bytes = (double)cubed_dtype_size(cubed_array_dtype(x));
    const int ndim = cubed_array_ndim(x);
    bool is_changed = false;
    for (int d = 0; d < ndim; d++) bytes *= (double)cubed_array_chunks(x)[d];
    for (int d = 0; d < ndim; d++) {
        const int64_t length = cubed_array_chunks(x)[d];
        const double fits = (double)length * ((double)limit / bytes);
        chunks[d] = CUBED_CHUNKS_KEPT;
        if (bytes <= (double)limit || length == 1) continue;
        chunks[d] = fits < 1 ? 1 : (int64_t)fits;
        bytes *= (double)chunks[d] / (double)length;
        is_changed = true;
    }
    return is_changed ? cubed_rechunk(x, chunks, out, err) : keep(x, out);
}

static cubed_status reshape(const cb_call *c, cubed_array *x, int n, const int64_t *shape,
                            int order, bool is_split)
{
    int64_t back[CUBED_MAX_NDIM];
    cubed_array *turned, *made = NULL;
    if (order != FIRST_AXIS_FIRST || n > CUBED_MAX_NDIM)
        return reshape_chunks(x, n, shape, is_split, c->out, c->err);
    for (int d = 0; d < n; d++) back[d] = shape[n - 1 - d];
    CB_TRY(cubed_array_ndim(x) < 2 ? keep(x, &turned) : reverse(x, &turned, c->err));
    cubed_status st = reshape_chunks(turned, n, back, is_split, &made, c->err);
    if (st == CUBED_OK) st = n < 2 ? keep(made, c->out) : reverse(made, c->out, c->err);
    cubed_array_unref(turned);
    cubed_array_unref(made);
    return st;
}

static cubed_status call_reshape(const cb_call *c)
{
    int n;
    const int64_t *shape = cb_call_ints(c, 1, &n);
    cubed_array *made;
    cubed_status st =
        reshape(c, cb_call_array(c, 0), n, shape, cb_call_choice(c, 3), !cb_call_bool(c, 4));
    if (st != CUBED_OK || !cb_call_has(c, 5)) return st;
    made = *c->out;
    st = limit_chunks(made, cb_call_int(c, 5), c->out, c->err);
    cubed_array_unref(made);
    return st;
}

static const cubed_param ravel_params[] = {INPUT, ORDER(0)};

static cubed_status call_ravel(const cb_call *c)
{
    const int64_t all = -1;
    return reshape(c, cb_call_array(c, 0), 1, &all, cb_call_choice(c, 1), false);
}

static const cubed_param tile_params[] = {
    INPUT,
    INTEGERS("repetitions", CUBED_PARAM_POSITION_ONLY,
             "Number of repetitions along each axis. One number applies to the last axis."),
};

static cubed_status call_tile(const cb_call *c)
{
    int n;
    const int64_t *times = cb_call_ints(c, 1, &n);
    return cubed_tile(cb_call_array(c, 0), times, n, c->out, c->err);
}

/* --- Elements repeated ---------------------------------------------------------------------------------- */

enum { REPEATS = 1, REPEAT_AXIS, REPEAT_COUNT, REPEAT_OFFSETS };

static const cubed_param repeat_params[] = {
    INPUT,
    {PARAM("repeats", ACCEPTS(ARRAY) | ACCEPTS(INT),
           CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY | CUBED_PARAM_LIKE,
           "Number of repetitions: one number, or an array with a number for each position along "
           "the axis.")},
    PARAM_AXIS_OR_NONE("axis", 0, "The axis. None: the flattened array."),
    COUNTED_PARAMS,
};

/* If repeats are an array, the extent of the result is the sum of the repeats of all positions along the axis, which must be
 * computed first. *most receives the number of elements of x; the sum may exceed it. */
static cubed_status count_repeat(const cb_call *c, int64_t *most)
{
    cubed_array *x = cb_call_array(c, 0), *repeats = cb_call_array(c, REPEATS);
    int axis;
    if (!repeats) return CUBED_OK;
    *most = 1;
    for (int d = 0; d < cubed_array_ndim(x); d++) *most *= cubed_array_shape(x)[d];
    return cubed_repeat_total(x, repeats, cb_call_one_axis(c, REPEAT_AXIS, &axis), c->out, c->err);
}

static cubed_status call_repeat(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0), *repeats = cb_call_array(c, REPEATS);
    int room;
    const int *axis = cb_call_one_axis(c, REPEAT_AXIS, &room);
    cb_counted known;
    if (!repeats) {
        const int64_t times = cb_call_int(c, REPEATS);
        const cubed_status st = cubed_repeat(x, times, axis, c->out, c->err);
        return times < 0 ? cb_call_blame(c, REPEATS, st) : st;
    }
    /* A negative count is passed on as -1, for which cubed_repeat_each reports negative repeats. */
    if (cb_call_has(c, REPEAT_OFFSETS) && cb_call_int(c, REPEAT_COUNT) < 0)
        known.count = -1;
    else
        CB_TRY(cb_call_counted(c, &known));
    return cubed_repeat_each(x, repeats, axis, known.count, c->out, c->err);
}

/* --- The same elements in another type or other chunks -------------------------------------------------- */

static const cubed_param astype_params[] = {
    INPUT,
    {PARAM("dtype", ACCEPTS(DTYPE), CUBED_PARAM_REQUIRED, "Data type of the result.")},
};

static cubed_status call_astype(const cb_call *c)
{
    return cubed_astype(cb_call_array(c, 0), *cb_call_dtype(c, 1), c->out, c->err);
}

static const cubed_param rechunk_params[] = {
    INPUT,
    INTEGERS("chunks", 0, "Lengths of chunks, one for each axis."),
};

static cubed_status call_rechunk(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0);
    const int64_t *chunks;
    CB_TRY(cb_call_chunks(c, 1, cubed_array_ndim(x), &chunks));
    return cubed_rechunk(x, chunks, c->out, c->err);
}

/* --- Several arrays ----------------------------------------------------------------------------------- */

#define ARRAYS                                                                                     \
    {                                                                                              \
        PARAM("arrays", ACCEPTS(ARRAYS), CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY,         \
              "Input arrays.")                                                                     \
    }

static const cubed_param concat_params[] = {
    ARRAYS,
    {PARAM("axis", ACCEPTS(INT) | ACCEPTS(NONE), CUBED_PARAM_AXIS,
           "The axis. None: join the flattened arrays."),
     INT_DEFAULT(0)},
};

/* Applies a function to each array, and joins the results along an axis. */
static cubed_status join(const cb_call *c, int axis,
                         cubed_status (*fn)(cubed_array *, cubed_array **, cubed_error *))
{
    cubed_array *const *in = c->values[0].as.arrays;
    const int n = c->values[0].n;
    cubed_status st = CUBED_OK;
    if (n == 0)
        return cb_call_blame(c, 0,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "%s: no arrays are given, expected at least one",
                                     c->function->name));
    cubed_array **parts = cb_call_arrays(c, n);
    if (!parts) return cb_fail(c->err, CUBED_E_NOMEM, "out of memory: %d arrays", n);
    for (int i = 0; i < n && st == CUBED_OK; i++) st = fn(in[i], &parts[i], c->err);
    if (st == CUBED_OK) st = cubed_concat(parts, n, axis, c->out, c->err);
    cb_call_arrays_free(c, parts, n);
    return st;
}

static cubed_status call_concat(const cb_call *c)
{
    if (!cb_call_has(c, 1)) return join(c, 0, flatten);
    return cubed_concat(c->values[0].as.arrays, c->values[0].n, cb_call_axis(c, 1), c->out, c->err);
}

static const cubed_param stack_params[] = {
    ARRAYS,
    PARAM_INT("axis", 0, 0, "The new axis, in the result."),
};

static cubed_status call_stack(const cb_call *c)
{
    return cubed_stack(c->values[0].as.arrays, c->values[0].n, cb_call_axis(c, 1), c->out, c->err);
}

static cubed_status widen_1(cubed_array *x, cubed_array **out, cubed_error *err)
{
    return cubed_atleast(x, 1, out, err);
}
static cubed_status widen_2(cubed_array *x, cubed_array **out, cubed_error *err)
{
    return cubed_atleast(x, 2, out, err);
}
static cubed_status widen_3(cubed_array *x, cubed_array **out, cubed_error *err)
{
    return cubed_atleast(x, 3, out, err);
}
/* Reshapes a vector to a column. */
static cubed_status widen_column(cubed_array *x, cubed_array **out, cubed_error *err)
{
    const int64_t shape[2] = {-1, 1};
    return cubed_array_ndim(x) > 1 ? keep(x, out) : cubed_reshape(x, 2, shape, out, err);
}

static const cubed_param together_params[] = {ARRAYS};

static cubed_status call_hstack(const cb_call *c)
{
    const cubed_value *v = &c->values[0];
    return join(c, v->n > 0 && cubed_array_ndim(v->as.arrays[0]) > 1 ? 1 : 0, widen_1);
}
static cubed_status call_vstack(const cb_call *c) { return join(c, 0, widen_2); }
static cubed_status call_dstack(const cb_call *c) { return join(c, 2, widen_3); }
static cubed_status call_column_stack(const cb_call *c) { return join(c, 1, widen_column); }

/* --- Differences -------------------------------------------------------------------------------------- */

static const cubed_param diff_params[] = {
    INPUT,
    PARAM_INT("n", 0, 1, "Number of times that differences are taken."),
    PARAM_AXIS("axis", 0, -1, "Axis of the differences."),
};

static cubed_status call_diff(const cb_call *c)
{
    return cubed_diff(cb_call_array(c, 0), cb_call_axis(c, 2), cb_call_int(c, 1), c->out, c->err);
}

static const cubed_param ediff1d_params[] = {
    PARAM_LIKE("ary", "Input array."),
    {PARAM("to_end", ACCEPTS(ARRAY) | NUMBERS | ACCEPTS(NONE), 0,
           "Elements to append after the differences.")},
    {PARAM("to_begin", ACCEPTS(ARRAY) | NUMBERS | ACCEPTS(NONE), 0,
           "Elements to put before the differences.")},
};

static cubed_status call_ediff1d(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0), *ends[2] = {NULL, NULL};
    cubed_status st = CUBED_OK;
    for (int i = 0; i < 2 && st == CUBED_OK; i++) {
        const cubed_value *end = &c->values[i + 1];
        /* An integer that the type of x cannot represent becomes int64, which cubed_ediff1d refuses with CUBED_E_TYPE. */
        if (cb_is_number(end))
            st = cb_call_number(c, i + 1, cubed_number_dtype(end, cubed_array_dtype(x), true),
                                &ends[i]);
        else if (cb_call_has(c, i + 1))
            ends[i] = cubed_array_ref(cb_call_array(c, i + 1));
    }
    if (st == CUBED_OK) st = cubed_ediff1d(x, ends[1], ends[0], c->out, c->err);
    cubed_array_unref(ends[0]);
    cubed_array_unref(ends[1]);
    return st;
}

/* --- Triangles ---------------------------------------------------------------------------------------- */

static const cubed_param triangle_params[] = {
    PARAM_ARRAY("x", "Matrices, in the last two axes."),
    PARAM_INT("k", 0, 0,
              "Number of the diagonal: 0 is the main diagonal, 1 the one above, -1 the one below."),
};

/* Returns the argument k, the number of a diagonal. If its absolute value exceeds the sum of the extents of x, it is reduced
 * to this sum, so that later sums cannot overflow. */
static int64_t diagonal(const cb_call *c)
{
    const cubed_array *x = cb_call_array(c, 0);
    int64_t most = 0, k = cb_call_int(c, 1);
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        const int64_t extent = cubed_array_shape(x)[d];
        most = extent > INT64_MAX - most ? INT64_MAX : most + extent;
    }
    return k < -most ? -most : k > most ? most : k;
}

static cubed_status call_tril(const cb_call *c)
{
    return cubed_tril(cb_call_array(c, 0), diagonal(c), c->out, c->err);
}
static cubed_status call_triu(const cb_call *c)
{
    return cubed_triu(cb_call_array(c, 0), diagonal(c), c->out, c->err);
}

/* --- Rows --------------------------------------------------------------------------------------------- */

#define A_VIEW    "The type of the input. A view."
#define PROMOTED  "The type that the arrays promote to."
#define MOVES     .attrs = CUBED_ATTRS_VIEW, .moves = true
#define TRIANGLES "``(..., n, m)``, the type of `x`."

static const cb_row rows[] = {
    {{"astype", CATEGORY, .summary = "The elements in another data type.",
      .returns = "The shape of `x`.", PARAMS(astype_params), .attrs = CUBED_ATTRS_VIEW},
     .call = call_astype},
    {{"broadcast_to", CATEGORY,
      .summary = "Repeats the array along axes of extent 1, and along new axes in front.",
      .returns = "An array of this `shape`, with the type of `x`.", PARAMS(broadcast_params),
      MOVES},
     .call = call_broadcast_to},
    {{"column_stack", CATEGORY,
      .summary = "Joins vectors as columns of a matrix; matrices are joined unchanged.",
      .returns = PROMOTED, PARAMS(together_params), .attrs = CUBED_ATTRS_SHARED, .moves = true,
      .coords = CUBED_COORDS_RESIZED},
     .call = call_column_stack},
    {{"concat", CATEGORY, .summary = "Joins arrays along an axis.", .returns = PROMOTED,
      PARAMS(concat_params), .attrs = CUBED_ATTRS_SHARED, .moves = true,
      .coords = CUBED_COORDS_JOINED},
     .call = call_concat},
    {{"diff", CATEGORY, .summary = "The n-th differences between neighbours along an axis.",
      .returns = "The type of `x`, with `n` elements fewer along the axis.", PARAMS(diff_params),
      .attrs = CUBED_ATTRS_SAME, .coords = CUBED_COORDS_LATER},
     .call = call_diff},
    {{"dstack", CATEGORY, .summary = "Joins arrays along the third axis.", .returns = PROMOTED,
      PARAMS(together_params), .attrs = CUBED_ATTRS_SHARED, .moves = true,
      .coords = CUBED_COORDS_RESIZED},
     .call = call_dstack},
    {{"ediff1d", CATEGORY, .summary = "The differences between neighbours of a flattened array.",
      .returns = "The type of `ary`, in one dimension.", PARAMS(ediff1d_params),
      .attrs = CUBED_ATTRS_SAME, .coords = CUBED_COORDS_CUT},
     .call = call_ediff1d},
    {{"expand_dims", CATEGORY, .summary = "The array with new axes of extent 1.", .returns = A_VIEW,
      PARAMS(expand_params), MOVES},
     .call = call_expand_dims},
    {{"flip", CATEGORY, .summary = "The elements in reverse order along axes.", .returns = A_VIEW,
      PARAMS(flip_params), MOVES, .coords = CUBED_COORDS_REVERSED},
     .call = call_flip},
    {{"hstack", CATEGORY,
      .summary = "Joins arrays along the second axis, or along the only axis of vectors.",
      .returns = PROMOTED, PARAMS(together_params), .attrs = CUBED_ATTRS_SHARED, .moves = true,
      .coords = CUBED_COORDS_RESIZED},
     .call = call_hstack},
    {{"moveaxis", CATEGORY, .summary = "The array with some axes moved to other positions.",
      .returns = A_VIEW, PARAMS(moveaxis_params), MOVES},
     .call = call_moveaxis},
    {{"permute_dims", CATEGORY, .summary = "The array with its axes in another order.",
      .returns = A_VIEW, PARAMS(permute_params), MOVES},
     .call = call_permute_dims},
    {{"ravel", CATEGORY,
      .summary = "The flattened array: all elements in one dimension, in C order.",
      .returns = "The type of `x`. A run may have to rechunk `x` first.", PARAMS(ravel_params),
      MOVES},
     .call = call_ravel},
    {{"rechunk", CATEGORY, .summary = "The elements in other chunks.",
      .returns = "The shape and type of `x`.", PARAMS(rechunk_params), MOVES},
     .call = call_rechunk},
    {{"repeat", CATEGORY, .summary = "Repeats each element a number of times along an axis.",
      .returns = "The type of `x`, longer along the axis.", PARAMS(repeat_params), MOVES,
      .coords = CUBED_COORDS_CUT, .counts = true},
     .call = call_repeat,
     .count = count_repeat},
    {{"reshape", CATEGORY, .summary = "The elements in another shape.",
      .returns =
          "An array of this `shape`, with the type of `x`. A run may have to rechunk `x` first.",
      PARAMS(reshape_params), MOVES},
     .call = call_reshape},
    {{"roll", CATEGORY,
      .summary = "Moves the elements along axes; elements beyond the end continue at the start.",
      .returns = "The shape and type of `x`.", PARAMS(roll_params), MOVES,
      .coords = CUBED_COORDS_CUT},
     .call = call_roll},
    {{"rollaxis", CATEGORY, .summary = "Moves an axis to the position before axis `start`.",
      .returns = A_VIEW, PARAMS(rollaxis_params), MOVES},
     .call = call_rollaxis},
    {{"rot90", CATEGORY,
      .summary = "Rotates the array by 90 degrees, from the first of two axes towards the second.",
      .returns = A_VIEW, PARAMS(rot90_params), MOVES, .coords = CUBED_COORDS_CUT},
     .call = call_rot90},
    {{"squeeze", CATEGORY, .summary = "The array without axes of extent 1.", .returns = A_VIEW,
      PARAMS(squeeze_params), MOVES},
     .call = call_squeeze},
    {{"stack", CATEGORY, .summary = "Joins arrays of one shape along a new axis.",
      .returns = PROMOTED, PARAMS(stack_params), .attrs = CUBED_ATTRS_SHARED, .moves = true},
     .call = call_stack},
    {{"swapaxes", CATEGORY, .summary = "Swaps two axes.", .returns = A_VIEW,
      PARAMS(swapaxes_params), MOVES},
     .call = call_swapaxes},
    {{"tile", CATEGORY, .summary = "Repeats the whole array a number of times along each axis.",
      .returns = "The type of `x`.", PARAMS(tile_params), MOVES, .coords = CUBED_COORDS_RESIZED},
     .call = call_tile},
    {{"transpose", CATEGORY, .summary = "The array with its axes in another order, or in reverse.",
      .returns = A_VIEW, PARAMS(transpose_params), MOVES},
     .call = call_transpose},
    {{"tril", CATEGORY,
      .summary = "The lower triangles of matrices, up to diagonal `k`, and zeros above.",
      .returns = TRIANGLES, PARAMS(triangle_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_tril},
    {{"triu", CATEGORY,
      .summary = "The upper triangles of matrices, from diagonal `k` on, and zeros below.",
      .returns = TRIANGLES, PARAMS(triangle_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_triu},
    {{"vstack", CATEGORY, .summary = "Joins arrays along the first of two or more axes.",
      .returns = PROMOTED, PARAMS(together_params), .attrs = CUBED_ATTRS_SHARED, .moves = true,
      .coords = CUBED_COORDS_RESIZED},
     .call = call_vstack},
};

const cb_rows cb_manipulation_rows = ROWS(rows);
