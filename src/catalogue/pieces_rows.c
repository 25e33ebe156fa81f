/* Functions that split arrays, add or remove elements, and change sizes. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "context/context.h"
#include "cubed/array_api.h"
#include "rows.h"

#define CATEGORY .category = "pieces"

#define INPUT PARAM_ARRAY("x", "Input array.")

static cubed_status keep(cubed_array *x, cubed_array **out)
{
    *out = cubed_array_ref(x);
    return CUBED_OK;
}

static cubed_status flatten(cubed_array *x, cubed_array **out, cubed_error *err)
{
    const int64_t all = -1;
    return cubed_reshape(x, 1, &all, out, err);
}

/* --- Apart -------------------------------------------------------------------------------------------- */

#define SECTIONS                                                                                   \
    {                                                                                              \
        PARAM("indices_or_sections", ACCEPTS(INT) | ACCEPTS(INTS), CUBED_PARAM_REQUIRED,           \
              "Number of parts, or the positions at which the second and later parts begin.")      \
    }

static const cubed_param split_params[] = {
    PARAM_LIKE("x", "Input array."),
    SECTIONS,
    PARAM_AXIS("axis", 0, 0,
               "Axis along which the array is split; negative numbers count from the last."),
};
static const cubed_param split_along_params[] = {PARAM_LIKE("ary", "Input array."), SECTIONS};

/* Sets the bounds of n pieces whose lengths differ by at most one. Longer pieces precede shorter ones. */
static void cut_evenly(int64_t extent, int64_t n, int64_t *bounds)
{
    for (int64_t i = 0; i <= n; i++) bounds[i] = i * (extent / n) + cb_min_i64(i, extent % n);
}

static cubed_status count_pieces(const cb_call *c, int64_t extent, bool even, int64_t *n)
{
    const cubed_value *v = &c->values[1];
    *n = v->kind == CUBED_VALUE_INTS ? (int64_t)v->n + 1 : v->as.integer;
    if (*n < 1 || *n >= INT32_MAX)
        return cb_call_blame(c, 1,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "%s: the number of pieces is %lld, expected 1 or more",
                                     c->function->name, (long long)*n));
    if (even && v->kind == CUBED_VALUE_INT && extent % *n != 0)
        return cb_call_blame(c, 1,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "%s: %lld elements cannot be split into %lld equal pieces",
                                     c->function->name, (long long)extent, (long long)*n));
    return CUBED_OK;
}

/* Splits an array along an axis. If `even`, all pieces must have the same length. */
static cubed_status split(const cb_call *c, int64_t given, bool even)
{
    cubed_array *x = cb_call_array(c, 0), **out;
    const cubed_value *v = &c->values[1];
    int axis = 0;
    int64_t n;
    CB_TRY(cb_call_check_axis(c, 2, cubed_array_ndim(x), given, &axis));
    const int64_t extent = cubed_array_shape(x)[axis];
    CB_TRY(count_pieces(c, extent, even, &n));
    const size_t size = (size_t)(n + 1) * sizeof(int64_t);
    int64_t *bounds = cb_alloc(&c->ctx->alloc, size);
    if (!bounds) return cb_fail(c->err, CUBED_E_NOMEM, "out of memory: %lld pieces", (long long)n);
    cut_evenly(extent, n, bounds);
    for (int64_t i = 0; v->kind == CUBED_VALUE_INTS && i < v->n; i++) bounds[i + 1] = v->as.ints[i];
    cubed_status st = cb_call_results(c, n, &out);
    if (st == CUBED_OK) st = cubed_split(x, axis, bounds, (int)n, out, c->err);
    cb_free(&c->ctx->alloc, bounds, size);
    return st;
}

static cubed_status call_split(const cb_call *c) { return split(c, cb_call_int(c, 2), true); }
static cubed_status call_array_split(const cb_call *c)
{
    return split(c, cb_call_int(c, 2), false);
}

/* Calls hsplit, vsplit or dsplit. c->which is the axis. */
static cubed_status call_split_along(const cb_call *c)
{
    const int ndim = cubed_array_ndim(cb_call_array(c, 0)), axis = c->which;
    const int least = axis == 1 ? 1 : axis == 0 ? 2 : 3;
    if (ndim < least)
        return cb_call_blame(c, 0,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "%s: the array has %d axes, expected at least %d",
                                     c->function->name, ndim, least));
    return split(c, ndim == 1 ? 0 : axis, true);
}

static const cubed_param unstack_params[] = {
    INPUT,
    PARAM_AXIS("axis", 0, 0, "Axis to split and remove; negative numbers count from the last."),
};

static cubed_status call_unstack(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0), **out;
    int axis = 0;
    CB_TRY(cb_call_check_axis(c, 1, cubed_array_ndim(x), cb_call_int(c, 1), &axis));
    CB_TRY(cb_call_results(c, cubed_array_shape(x)[axis], &out));
    return cubed_unstack(x, axis, out, c->err);
}

/* --- Axes --------------------------------------------------------------------------------------------- */

static const cubed_param each_params[] = {
    {PARAM("arrays", ACCEPTS(ARRAYS), CUBED_PARAM_REQUIRED | CUBED_PARAM_VARIADIC,
           "Input arrays.")},
};

static cubed_status call_broadcast_arrays(const cb_call *c)
{
    const cubed_value *v = &c->values[0];
    cubed_array **out;
    CB_TRY(cb_call_results(c, v->n, &out));
    return cubed_broadcast_arrays(v->as.arrays, v->n, out, c->err);
}

/* Calls atleast_1d, atleast_2d or atleast_3d. c->which is the number of axes. */
static cubed_status call_atleast(const cb_call *c)
{
    const cubed_value *v = &c->values[0];
    cubed_array **out;
    CB_TRY(cb_call_results(c, v->n, &out));
    for (int i = 0; i < v->n; i++)
        CB_TRY(cubed_atleast(v->as.arrays[i], c->which, &out[i], c->err));
    return CUBED_OK;
}

static const cubed_param mirror_params[] = {
    {PARAM("x", ACCEPTS(ARRAY), CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY | CUBED_PARAM_LIKE,
           "Input array.")},
};

/* Calls fliplr or flipud. c->which is the axis. */
static cubed_status call_mirror(const cb_call *c)
{
    return cubed_flip(cb_call_array(c, 0), &c->which, 1, c->out, c->err);
}

/* --- Diagonals and sizes ------------------------------------------------------------------------------ */

static const cubed_param diag_params[] = {
    PARAM_LIKE("v", "A matrix, or a vector."),
    PARAM_INT("k", 0, 0,
              "Number of the diagonal: 0 is the main diagonal, 1 the one above, -1 the one below."),
};
static const cubed_param diagflat_params[] = {
    PARAM_LIKE("v", "Input array."),
    PARAM_INT("k", 0, 0,
              "Number of the diagonal: 0 is the main diagonal, 1 the one above, -1 the one below."),
};

static cubed_status call_diag(const cb_call *c)
{
    return cubed_diag(cb_call_array(c, 0), cb_call_int(c, 1), c->out, c->err);
}

static cubed_status call_diagflat(const cb_call *c)
{
    cubed_array *flat;
    CB_TRY(flatten(cb_call_array(c, 0), &flat, c->err));
    const cubed_status st = cubed_diag(flat, cb_call_int(c, 1), c->out, c->err);
    cubed_array_unref(flat);
    return st;
}

static const cubed_param resize_params[] = {
    PARAM_LIKE("a", "Input array."),
    {PARAM_IN("new_shape", ACCEPTS(INT) | ACCEPTS(INTS), CUBED_PARAM_REQUIRED, 0, INFINITY,
              "Shape of the result.")},
};

static cubed_status call_resize(const cb_call *c)
{
    int n;
    const int64_t *shape = cb_call_ints(c, 1, &n);
    return cubed_resize(cb_call_array(c, 0), n, shape, c->out, c->err);
}

/* --- Elements added and removed ------------------------------------------------------------------------ */

#define AXIS_OR_FLAT(NOTES) PARAM_AXIS_OR_NONE("axis", 0, NOTES " None: the flattened array.")

static const cubed_param append_params[] = {
    PARAM_LIKE("x", "Input array."),
    PARAM_LIKE("values", "Elements to append."),
    AXIS_OR_FLAT("The axis."),
};

static cubed_status call_append(const cb_call *c)
{
    cubed_array *both[2] = {cb_call_array(c, 0), cb_call_array(c, 1)}, *flat[2] = {NULL, NULL};
    if (cb_call_has(c, 2)) return cubed_concat(both, 2, cb_call_axis(c, 2), c->out, c->err);
    cubed_status st = flatten(both[0], &flat[0], c->err);
    if (st == CUBED_OK) st = flatten(both[1], &flat[1], c->err);
    if (st == CUBED_OK) st = cubed_concat(flat, 2, 0, c->out, c->err);
    cubed_array_unref(flat[0]);
    cubed_array_unref(flat[1]);
    return st;
}

#define POSITIONS(NAME, NOTES)                                                                     \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(INT) | ACCEPTS(INTS) | ACCEPTS(SLICE), CUBED_PARAM_REQUIRED, NOTES)    \
    }

/* The positions along an axis from an argument: a list or a slice. */
typedef struct positions {
    int64_t n;
    const int64_t *at;
    int64_t *made; /* memory of positions computed from a slice; NULL for a list */
} positions;

/* Converts a bound of a slice to a position, by Python's rules. `missing` is the position if there is no bound. */
static int64_t clamp(const int64_t *bound, int64_t missing, int64_t extent, bool down)
{
    const int64_t least = down ? -1 : 0, most = down ? extent - 1 : extent;
    if (!bound) return missing;
    const int64_t at = *bound < 0 ? (*bound < -extent ? least : *bound + extent) : *bound;
    return at < least ? least : at > most ? most : at;
}

/* The positions start, start + step, ... of a slice, as in Python's range(extent)[slice]. */
typedef struct progression {
    int64_t start, step, n;
} progression;

static cubed_status resolve_slice(const cb_call *c, int64_t extent, progression *out)
{
    const cubed_slice_bounds *s = c->values[1].as.slice;
    const int64_t step = s->step ? *s->step : 1;
    const bool down = step < 0;
    if (step == 0)
        return cb_call_blame(
            c, 1,
            cb_fail(c->err, CUBED_E_ARG, "%s: the step of the slice is 0", c->function->name));
    const int64_t start = clamp(s->start, down ? extent - 1 : 0, extent, down);
    const int64_t stop = clamp(s->stop, down ? -1 : extent, extent, down);
    const int64_t span = down ? start - stop : stop - start;
    const uint64_t by = down ? -(uint64_t)step : (uint64_t)step;
    const int64_t n = span <= 0 ? 0 : (int64_t)(((uint64_t)span - 1) / by) + 1;
    *out = (progression){start, step, n};
    return CUBED_OK;
}

static cubed_status list_slice(const cb_call *c, int64_t extent, positions *out)
{
    progression p = {0, 0, 0};
    CB_TRY(resolve_slice(c, extent, &p));
    if (p.n < INT32_MAX) out->made = cb_alloc(&c->ctx->alloc, (size_t)p.n * sizeof *out->made);
    if (!out->made)
        return cb_fail(c->err, CUBED_E_NOMEM, "out of memory: %lld positions", (long long)p.n);
    for (int64_t i = 0; i < p.n; i++) out->made[i] = p.start + i * p.step;
    out->n = p.n;
    out->at = out->made;
    return CUBED_OK;
}

static cubed_status get_positions(const cb_call *c, int64_t extent, positions *out)
{
    int n;
    *out = (positions){0, NULL, NULL};
    if (c->values[1].kind == CUBED_VALUE_SLICE) return list_slice(c, extent, out);
    out->at = cb_call_ints(c, 1, &n);
    out->n = n;
    return CUBED_OK;
}

static void free_positions(const cb_call *c, positions *p)
{
    cb_free(&c->ctx->alloc, p->made, (size_t)p->n * sizeof *p->made);
}

/* Gets the array and its axis. If the argument at position `i` gives no axis, flattens the array. The caller releases the
 * array. */
static cubed_status get_line(const cb_call *c, int i, cubed_array **x, int *axis)
{
    *axis = 0;
    if (!cb_call_has(c, i)) return flatten(cb_call_array(c, 0), x, c->err);
    *x = cubed_array_ref(cb_call_array(c, 0));
    const cubed_status st = cb_call_check_axis(c, i, cubed_array_ndim(*x), cb_call_int(c, i), axis);
    if (st != CUBED_OK) cubed_array_unref(*x);
    return st;
}

static const cubed_param delete_params[] = {
    PARAM_LIKE("x", "Input array."),
    POSITIONS("obj", "Positions of the elements to remove."),
    AXIS_OR_FLAT("Axis of the positions."),
};

/* Removes the elements from start to stop. Works on bounds, because a list of the positions might not fit in memory. */
static cubed_status delete_between(const cb_call *c, cubed_array *x, int axis, int64_t start,
                                   int64_t stop)
{
    const int64_t extent = cubed_array_shape(x)[axis], bounds[4] = {0, start, stop, extent};
    cubed_array *parts[3];
    CB_TRY(cubed_split(x, axis, bounds, 3, parts, c->err));
    cubed_array *const around[2] = {parts[0], parts[2]};
    const bool has_front = start > 0, has_end = stop < extent;
    const int first = !has_front && has_end, n = has_front && has_end ? 2 : 1;
    const cubed_status st =
        n == 1 ? keep(around[first], c->out) : cubed_concat(around, n, axis, c->out, c->err);
    for (int i = 0; i < 3; i++) cubed_array_unref(parts[i]);
    return st;
}

static cubed_status delete_positions(const cb_call *c, cubed_array *x, int axis)
{
    positions p;
    cubed_status st = get_positions(c, cubed_array_shape(x)[axis], &p);
    if (st == CUBED_OK) st = cb_call_blame(c, 1, cubed_delete(x, p.at, p.n, axis, c->out, c->err));
    free_positions(c, &p);
    return st;
}

static cubed_status call_delete(const cb_call *c)
{
    cubed_array *x;
    progression p = {0, 0, 0};
    int axis;
    CB_TRY(get_line(c, 2, &x, &axis));
    cubed_status st = CUBED_OK;
    if (c->values[1].kind == CUBED_VALUE_SLICE)
        st = resolve_slice(c, cubed_array_shape(x)[axis], &p);
    if (st == CUBED_OK && p.n > 0 && (p.step == 1 || p.step == -1))
        st = delete_between(c, x, axis, p.step > 0 ? p.start : p.start - p.n + 1,
                            p.step > 0 ? p.start + p.n : p.start + 1);
    else if (st == CUBED_OK)
        st = delete_positions(c, x, axis);
    cubed_array_unref(x);
    return st;
}

static const cubed_param insert_params[] = {
    PARAM_LIKE("arr", "Input array."),
    POSITIONS("obj", "Positions before which values are inserted."),
    PARAM_LIKE("values", "Elements to insert, which are cast to the type of `arr` and broadcast."),
    AXIS_OR_FLAT("Axis of the positions."),
};

/* Prepares values to be inserted at one position: adds axes in front, up to `ndim` axes, and moves the first axis to `axis`. */
static cubed_status turn_values(cubed_array *values, int ndim, int axis, cubed_array **out,
                                cubed_error *err)
{
    const int first = 0;
    cubed_array *now = cubed_array_ref(values);
    cubed_status st = CUBED_OK;
    while (st == CUBED_OK && cubed_array_ndim(now) < ndim) {
        cubed_array *before = now;
        st = cubed_expand_dims(before, 0, &now, err);
        cubed_array_unref(before);
    }
    if (st != CUBED_OK) return st;
    st = cubed_moveaxis(now, &first, &axis, 1, out, err);
    cubed_array_unref(now);
    return st;
}

static cubed_status call_insert(const cb_call *c)
{
    cubed_array *x, *values = NULL;
    positions p;
    int axis;
    CB_TRY(get_line(c, 3, &x, &axis));
    cubed_status st = get_positions(c, cubed_array_shape(x)[axis], &p);
    if (st == CUBED_OK && c->values[1].kind == CUBED_VALUE_INT)
        st = turn_values(cb_call_array(c, 2), cubed_array_ndim(x), axis, &values, c->err);
    else
        values = cubed_array_ref(cb_call_array(c, 2));
    if (st == CUBED_OK) st = cubed_insert(x, p.at, p.n, values, axis, c->out, c->err);
    if (st == CUBED_E_INDEX) st = cb_call_blame(c, 1, st);
    free_positions(c, &p);
    cubed_array_unref(values);
    cubed_array_unref(x);
    return st;
}

/* --- Padding of arrays --------------------------------------------------------------------------------- */

static const cubed_choice pad_modes[] = {
#define CUBED_PAD(NAME, name, number) {#name, number},
#include "cubed/pads.def"
#undef CUBED_PAD
    {NULL, 0}};

#define VALUES(NAME, ALSO, NOTES)                                                                  \
    {                                                                                              \
        PARAM(NAME, NUMBERS | ACCEPTS(LIST) | (ALSO), 0, NOTES), INT_DEFAULT(0)                    \
    }

static const cubed_param pad_params[] = {
    PARAM_ARRAY("x", "Input array."),
    {PARAM(
        "pad_width", ACCEPTS(INT) | ACCEPTS(INTS) | ACCEPTS(LIST), CUBED_PARAM_REQUIRED,
        "Number of elements to add: one number, a pair (before, after), or a pair for each axis.")},
    PARAM_CHOICE("mode", 0, CUBED_PAD_CONSTANT, pad_modes, "How the added elements are computed."),
    VALUES(
        "constant_values", ACCEPTS(STRING),
        "Value for ``\"constant\"``: one value, a pair (before, after), or a pair for each axis."),
    VALUES("end_values", 0,
           "Outermost value for ``\"linear_ramp\"``: one number, a pair (before, after), or a pair "
           "for each axis."),
    {PARAM("stat_length", ACCEPTS(INT) | ACCEPTS(INTS) | ACCEPTS(LIST) | ACCEPTS(NONE), 0,
           "Number of elements at each end from which ``\"mean\"``, ``\"median\"``, "
           "``\"minimum\"`` and ``\"maximum\"`` are computed. None: all.")},
    PARAM_TASK_MEM,
};

static bool is_list(const cubed_value *v)
{
    return v->kind == CUBED_VALUE_INTS || v->kind == CUBED_VALUE_LIST;
}

/* Reads the values for both sides of an axis: one value, or a list of one or two values. Returns false for other lists. */
static bool take_pair(const cubed_value *v, cubed_value out[2])
{
    if (is_list(v) && (v->n < 1 || v->n > 2)) return false;
    for (int side = 0; side < 2; side++) {
        const int k = is_list(v) && v->n == 2 ? side : 0;
        if (v->kind == CUBED_VALUE_INTS)
            out[side] = (cubed_value){.kind = CUBED_VALUE_INT, .as.integer = v->as.ints[k]};
        else
            out[side] = v->kind == CUBED_VALUE_LIST ? v->as.items[k] : *v;
        if (is_list(&out[side])) return false;
    }
    return true;
}

typedef cubed_value value_pair[2];

/* Gets the values before and after each axis from argument i. */
static cubed_status get_pairs(const cb_call *c, int i, int ndim, value_pair *out)
{
    const cubed_value *v = &c->values[i];
    const bool nested = v->kind == CUBED_VALUE_LIST && v->n > 0 && is_list(&v->as.items[0]);
    bool fits = !nested || v->n == 1 || v->n == ndim;
    char shown[96];
    for (int d = 0; d < ndim && fits; d++) {
        const cubed_value *of = nested ? &v->as.items[v->n == 1 ? 0 : d] : v;
        fits = (!nested || (is_list(of) && of->n == v->as.items[0].n)) && take_pair(of, out[d]);
    }
    if (fits) return CUBED_OK;
    cubed_value_format(v, shown, sizeof shown);
    return cb_call_blame(c, i,
                         cb_fail(c->err, CUBED_E_ARG,
                                 "pad: %s is %s, expected a pair for each of %d axes, one pair, or "
                                 "a number",
                                 c->function->params[i].name, shown, ndim));
}

static cubed_status refuse_as(const cb_call *c, int i, cubed_status st, const cubed_value *v,
                              const char *expected)
{
    char shown[64];
    cubed_value_format(v, shown, sizeof shown);
    return cb_call_blame(c, i,
                         cb_fail(c->err, st, "pad: %s is %s, expected %s",
                                 c->function->params[i].name, shown, expected));
}

static cubed_status refuse_item(const cb_call *c, int i, const cubed_value *v, const char *expected)
{
    return refuse_as(c, i, v->kind == CUBED_VALUE_INT ? CUBED_E_ARG : CUBED_E_TYPE, v, expected);
}

/* Gets integers before and after each axis. None means `missing`. */
static cubed_status get_whole_pairs(const cb_call *c, int i, int ndim, int64_t missing,
                                    int64_t (*out)[2])
{
    value_pair pairs[CUBED_MAX_NDIM];
    CB_TRY(get_pairs(c, i, ndim, pairs));
    for (int k = 0; k < 2 * ndim; k++) {
        const cubed_value *v = &pairs[k / 2][k % 2];
        if (v->kind == CUBED_VALUE_NONE && missing < 0)
            out[k / 2][k % 2] = missing;
        else if (v->kind == CUBED_VALUE_INT)
            out[k / 2][k % 2] = v->as.integer;
        else
            return refuse_item(c, i, v, "integers");
        if (missing < 0 && v->kind == CUBED_VALUE_INT && v->as.integer < 0)
            return refuse_item(c, i, v, "0 or more");
    }
    return CUBED_OK;
}

/* Reads the digits of an integer beyond the range of int64. */
static bool take_digits(const char *text, cubed_dtype dtype, cubed_scalar *out)
{
    char *end;
    if (dtype != CUBED_UINT64 || text[0] < '0' || text[0] > '9') return false;
    errno = 0;
    out->u64 = strtoull(text, &end, 10);
    return errno == 0 && !*end;
}

/* Gets values of a type before and after each axis. */
static cubed_status get_typed_pairs(const cb_call *c, int i, int ndim, cubed_dtype dtype,
                                    cubed_scalar (*out)[2])
{
    value_pair pairs[CUBED_MAX_NDIM];
    CB_TRY(get_pairs(c, i, ndim, pairs));
    for (int k = 0; k < 2 * ndim; k++) {
        const cubed_value *v = &pairs[k / 2][k % 2];
        cubed_scalar *to = &out[k / 2][k % 2];
        const bool taken = v->kind == CUBED_VALUE_STRING ? take_digits(v->as.string, dtype, to)
                           : v->kind == CUBED_VALUE_NONE ? false
                                                         : cubed_number_scalar(v, dtype, to);
        if (!taken) return refuse_item(c, i, v, "values that the array's type has");
    }
    return CUBED_OK;
}

/* Writes a string to an element of bytes or strings. Returns false if the type is too short, or if the string is not valid
 * UTF-8 and the type is strings. */
static bool take_text(const char *text, cubed_dtype dtype, char *element)
{
    const size_t size = cubed_dtype_size(dtype), length = strlen(text);
    size_t n = 0;
    if (cubed_dtype_family(dtype) == CUBED_BYTES) {
        if (length <= size) memcpy(element, text, length);
        return length <= size;
    }
    for (size_t at = 0; at < length; n += sizeof(uint32_t)) {
        uint32_t code;
        const size_t used = cb_utf8_take((const unsigned char *)text + at, length - at, &code);
        if (used == 0 || n + sizeof code > size) return false;
        memcpy(element + n, &code, sizeof code);
        at += used;
    }
    return true;
}

/* Pads bytes or strings with elements of their type. Numbers are converted to digits. */
static cubed_status pad_texts(const cb_call *c, cubed_array *x, const int64_t *before,
                              const int64_t *after, cubed_pad_options *o)
{
    const int ndim = cubed_array_ndim(x);
    const cubed_dtype dtype = cubed_array_dtype(x);
    const cubed_allocator *a = &c->ctx->alloc;
    const size_t item = cubed_dtype_size(dtype), bytes = 2 * (size_t)ndim * item;
    const void *texts[CUBED_MAX_NDIM][2];
    value_pair pairs[CUBED_MAX_NDIM];
    cubed_status st = CUBED_OK;
    CB_TRY(get_pairs(c, 3, ndim, pairs));
    char *elements = bytes ? cb_alloc_zero(a, bytes) : NULL;
    if (bytes && !elements) return cb_fail(c->err, CUBED_E_NOMEM, "no memory for pad");
    for (int k = 0; k < 2 * ndim && st == CUBED_OK; k++) {
        const cubed_value *v = &pairs[k / 2][k % 2];
        char digits[64], expected[64], type[CUBED_DTYPE_TEXT_CAP];
        const char *text = v->kind == CUBED_VALUE_STRING ? v->as.string : digits;
        const bool is_known = v->kind == CUBED_VALUE_STRING || v->kind == CUBED_VALUE_INT;
        if (v->kind == CUBED_VALUE_INT) snprintf(digits, sizeof digits, "%" PRId64, v->as.integer);
        snprintf(expected, sizeof expected, "strings that %s holds", cubed_dtype_text(dtype, type));
        texts[k / 2][k % 2] = elements + (size_t)k * item;
        if (!is_known || !take_text(text, dtype, elements + (size_t)k * item))
            st = refuse_as(c, 3, is_known ? CUBED_E_ARG : CUBED_E_TYPE, v, expected);
    }
    o->constant_texts = (const void *const(*)[2])texts;
    if (st == CUBED_OK) st = cubed_pad_with(x, before, after, o, c->out, c->err);
    o->constant_texts = NULL;
    cb_free(a, elements, bytes);
    return st;
}

static cubed_status call_pad(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0);
    const int ndim = cubed_array_ndim(x);
    const cubed_dtype dtype = cubed_array_dtype(x);
    const cubed_kind kind = cubed_dtype_kind(dtype);
    int64_t widths[CUBED_MAX_NDIM][2], lengths[CUBED_MAX_NDIM][2];
    int64_t before[CUBED_MAX_NDIM], after[CUBED_MAX_NDIM];
    cubed_scalar values[CUBED_MAX_NDIM][2];
    cubed_pad_options o = CUBED_PAD_OPTIONS_INIT;
    o.mode = (cubed_pad_mode)cb_call_choice(c, 2);
    o.task_mem = cb_call_task_mem(c);
    CB_TRY(get_whole_pairs(c, 1, ndim, 0, widths));
    if (o.mode == CUBED_PAD_CONSTANT && kind != CUBED_KIND_TEXT) {
        /* Constants that pad times are integers in the unit of the times. */
        const cubed_dtype of = kind == CUBED_KIND_TIME ? CUBED_INT64 : dtype;
        CB_TRY(get_typed_pairs(c, 3, ndim, of, values));
        o.constant_values = (const cubed_scalar(*)[2])values;
    } else if (o.mode == CUBED_PAD_LINEAR_RAMP) {
        const cubed_dtype of = kind == CUBED_KIND_COMPLEX ? CUBED_COMPLEX128 : CUBED_FLOAT64;
        CB_TRY(get_typed_pairs(c, 4, ndim, of, values));
        o.end_values = (const cubed_scalar(*)[2])values;
    }
    if (cb_call_has(c, 5)) {
        CB_TRY(get_whole_pairs(c, 5, ndim, -1, lengths));
        o.stat_length = (const int64_t(*)[2])lengths;
    }
    for (int d = 0; d < ndim; d++) {
        before[d] = widths[d][0];
        after[d] = widths[d][1];
    }
    return o.mode == CUBED_PAD_CONSTANT && kind == CUBED_KIND_TEXT
               ? pad_texts(c, x, before, after, &o)
               : cubed_pad_with(x, before, after, &o, c->out, c->err);
}

/* --- Rows --------------------------------------------------------------------------------------------- */

#define VIEWS "The type of the array. Views."
#define MOVES .attrs = CUBED_ATTRS_VIEW, .moves = true
#define PIECES                                                                                     \
    .returns = VIEWS, .any_results = true, .attrs = CUBED_ATTRS_VIEW, .coords = CUBED_COORDS_CUT

static const cb_row rows[] = {
    {{"append", CATEGORY, .summary = "Joins two arrays along an axis.",
      .returns = "The type that both promote to.", PARAMS(append_params),
      .attrs = CUBED_ATTRS_SHARED, .coords = CUBED_COORDS_RESIZED},
     .call = call_append},
    {{"array_split", CATEGORY,
      .summary = "Splits an array along an axis into parts whose lengths differ by at most 1.",
      PARAMS(split_params), PIECES},
     .call = call_array_split},
    {{"atleast_1d", CATEGORY,
      .summary = "Converts arrays without axes to one axis. Other arrays do not change.",
      .returns = VIEWS, PARAMS(each_params), .any_results = true, .attrs = CUBED_ATTRS_VIEW},
     .call = call_atleast,
     .which = 1},
    {{"atleast_2d", CATEGORY,
      .summary = "Adds axes of one element in front until an array has two axes.", .returns = VIEWS,
      PARAMS(each_params), .any_results = true, .attrs = CUBED_ATTRS_VIEW},
     .call = call_atleast,
     .which = 2},
    {{"atleast_3d", CATEGORY, .summary = "Adds axes of one element until an array has three axes.",
      .returns = VIEWS, PARAMS(each_params), .any_results = true, .attrs = CUBED_ATTRS_VIEW},
     .call = call_atleast,
     .which = 3},
    {{"broadcast_arrays", CATEGORY, .summary = "Broadcasts arrays to a common shape.",
      .returns = "Arrays of the common shape, each with its own type. Views.", PARAMS(each_params),
      .any_results = true, .attrs = CUBED_ATTRS_VIEW},
     .call = call_broadcast_arrays},
    {{"delete", CATEGORY, .summary = "Removes the elements at positions along an axis.",
      .returns = "The type of `x`.", PARAMS(delete_params), .attrs = CUBED_ATTRS_VIEW,
      .coords = CUBED_COORDS_RESIZED},
     .call = call_delete},
    {{"diag", CATEGORY,
      .summary = "A diagonal of a matrix, or a matrix with a vector on a diagonal.",
      .returns = "The type of `v`.", PARAMS(diag_params), .attrs = CUBED_ATTRS_SAME,
      .coords = CUBED_COORDS_CUT},
     .call = call_diag},
    {{"diagflat", CATEGORY,
      .summary = "The matrix with the elements of an array on a diagonal, and zeros elsewhere.",
      .returns = "The type of `v`.", PARAMS(diagflat_params), .attrs = CUBED_ATTRS_SAME,
      .coords = CUBED_COORDS_CUT},
     .call = call_diagflat},
    {{"dsplit", CATEGORY, .summary = "Splits an array along the third axis.",
      PARAMS(split_along_params), PIECES},
     .call = call_split_along,
     .which = 2},
    {{"fliplr", CATEGORY, .summary = "The array with the second axis in reverse order.",
      .returns = "The type of `x`. A view.", PARAMS(mirror_params), MOVES,
      .coords = CUBED_COORDS_CUT},
     .call = call_mirror,
     .which = 1},
    {{"flipud", CATEGORY, .summary = "The array with the first axis in reverse order.",
      .returns = "The type of `x`. A view.", PARAMS(mirror_params), MOVES,
      .coords = CUBED_COORDS_CUT},
     .call = call_mirror,
     .which = 0},
    {{"hsplit", CATEGORY,
      .summary = "Splits an array along the second axis, or a vector along its only axis.",
      PARAMS(split_along_params), PIECES},
     .call = call_split_along,
     .which = 1},
    {{"insert", CATEGORY, .summary = "Inserts elements before positions along an axis.",
      .returns = "The type of `arr`, longer along the axis.", PARAMS(insert_params),
      .attrs = CUBED_ATTRS_SAME, .coords = CUBED_COORDS_RESIZED},
     .call = call_insert},
    {{"pad", CATEGORY, .summary = "Adds elements before and after the axes of an array.",
      .returns = "The type of `x`.", PARAMS(pad_params), .attrs = CUBED_ATTRS_SAME,
      .coords = CUBED_COORDS_RESIZED},
     .call = call_pad},
    {{"resize", CATEGORY,
      .summary =
          "The elements in C order in another shape, repeated if the shape has more elements.",
      .returns = "The type of `a`; zeros if `a` has no elements.", PARAMS(resize_params),
      .attrs = CUBED_ATTRS_SAME, .coords = CUBED_COORDS_CUT},
     .call = call_resize},
    {{"split", CATEGORY,
      .summary = "Splits an array along an axis into parts of equal length, or at positions.",
      PARAMS(split_params), PIECES},
     .call = call_split},
    {{"unstack", CATEGORY,
      .summary = "Splits an array along an axis into arrays without that axis.",
      PARAMS(unstack_params), PIECES},
     .call = call_unstack},
    {{"vsplit", CATEGORY, .summary = "Splits an array of two or more axes along the first axis.",
      PARAMS(split_along_params), PIECES},
     .call = call_split_along,
     .which = 0},
};

const cb_rows cb_pieces_rows = ROWS(rows);
