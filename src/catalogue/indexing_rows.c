/* Functions that get or set elements at positions. */
#include "base/error.h"
#include "cubed/array_api.h"
#include "ops/steps.h"
#include "rows.h"

#define CATEGORY .category = "indexing"

#define INPUT PARAM_ARRAY("x", "Input array.")
#define POSITIONS(KINDS)                                                                           \
    {                                                                                              \
        PARAM("indices", ACCEPTS(ARRAY) | (KINDS),                                                 \
              CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY | CUBED_PARAM_LIKE,                 \
              "Positions; negative numbers count from the end.")                                   \
    }

/* Takes the elements at one position along an axis, and drops the axis. */
static cubed_status take_one(const cb_call *c, int axis)
{
    cubed_array *x = cb_call_array(c, 0);
    const int ndim = cubed_array_ndim(x);
    int at = 0;
    const int64_t *shape = cubed_array_shape(x), position = cb_call_int(c, 1);
    cubed_slice slices[CUBED_MAX_NDIM];
    CB_TRY(cb_call_check_axis(c, 2, ndim, axis, &at));
    if (position < -shape[at] || position >= shape[at])
        return cb_call_blame(c, 1,
                             cb_fail(c->err, CUBED_E_INDEX,
                                     "take: position %lld is out of bounds for axis %d of %lld "
                                     "elements",
                                     (long long)position, at, (long long)shape[at]));
    for (int d = 0; d < ndim; d++) slices[d] = (cubed_slice){0, shape[d], 1, false};
    slices[at] = (cubed_slice){position < 0 ? position + shape[at] : position, 1, 1, true};
    return cubed_slice_array(x, slices, c->out, c->err);
}

static const cubed_param take_params[] = {
    INPUT,
    POSITIONS(ACCEPTS(INT)),
    PARAM_AXIS_OR_NONE("axis", 0, "The axis. None: the only axis."),
};

static cubed_status call_take(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0), *positions = cb_call_array(c, 1);
    const int ndim = cubed_array_ndim(x), axis = cb_call_has(c, 2) ? cb_call_axis(c, 2) : 0;
    if (!cb_call_has(c, 2) && ndim != 1)
        return cb_call_blame(
            c, 0,
            cb_fail(c->err, CUBED_E_ARG, "take: axis is needed for an array with %d axes", ndim));
    return positions ? cubed_take(x, positions, axis, c->out, c->err) : take_one(c, axis);
}

static const cubed_param along_params[] = {
    INPUT,
    POSITIONS(0),
    PARAM_AXIS("axis", 0, -1, "The axis."),
};

static cubed_status call_take_along_axis(const cb_call *c)
{
    return cubed_take_along_axis(cb_call_array(c, 0), cb_call_array(c, 1), cb_call_axis(c, 2),
                                 c->out, c->err);
}

/* --- Positions along several axes ---------------------------------------------------------------------- */

#define POSITIONS_OF_AXES                                                                          \
    {                                                                                              \
        PARAM("positions", ACCEPTS(ARRAYS),                                                        \
              CUBED_PARAM_REQUIRED | CUBED_PARAM_VARIADIC | CUBED_PARAM_LIKE | CUBED_PARAM_GAPS,   \
              "For each axis an array of positions, or None for the whole axis. The arrays are "   \
              "broadcast.")                                                                        \
    }
#define VALUE                                                                                      \
    PARAM_OPERAND("value", CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY,                       \
                  "Replacement, which is broadcast.")

static const cubed_param gather_params[] = {INPUT, POSITIONS_OF_AXES};
static const cubed_param scatter_params[] = {INPUT, VALUE, POSITIONS_OF_AXES};

/* Gets the list of positions in argument i, one array for each axis of x. */
static cubed_status take_positions(const cb_call *c, int i, cubed_array *const **out)
{
    const int ndim = cubed_array_ndim(cb_call_array(c, 0));
    *out = c->values[i].as.arrays;
    if (c->values[i].n == ndim) return CUBED_OK;
    return cb_fail(c->err, CUBED_E_ARG, "%s: there are positions of %d axes, expected %d",
                   c->function->name, c->values[i].n, ndim);
}

static cubed_status call_gather(const cb_call *c)
{
    cubed_array *const *positions;
    CB_TRY(take_positions(c, 1, &positions));
    return cubed_gather(cb_call_array(c, 0), positions, c->out, c->err);
}

static cubed_status call_scatter(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0), *value, *const * positions;
    CB_TRY(take_positions(c, 2, &positions));
    CB_TRY(cb_call_operand(c, 1, cubed_array_dtype(x), &value));
    const cubed_status st = cubed_scatter(x, positions, value, c->out, c->err);
    cubed_array_unref(value);
    return st;
}

/* --- Masks -------------------------------------------------------------------------------------------- */

#define MASK PARAM_ARRAY("mask", "Bools: true for the elements that are replaced.")

static const cubed_param replace_params[] = {INPUT, MASK, VALUE};
static const cubed_param scatter_mask_params[] = {
    INPUT, MASK,
    PARAM_ARRAY("values", "One dimension, with an element for each true element of the mask.")};

static cubed_status call_replace(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0), *value;
    CB_TRY(cb_call_operand(c, 2, cubed_array_dtype(x), &value));
    const cubed_status st = cubed_replace(x, cb_call_array(c, 1), value, c->out, c->err);
    cubed_array_unref(value);
    return st;
}

static cubed_status call_scatter_mask(const cb_call *c)
{
    return cubed_scatter_mask(cb_call_array(c, 0), cb_call_array(c, 1), cb_call_array(c, 2), c->out,
                              c->err);
}

static const cubed_param require_params[] = {
    INPUT,
    PARAM_ARRAY("holds", "Condition: bools in the shape of `x`."),
    {PARAM("message", ACCEPTS(STRING), CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY,
           "Text of the error; the position of the element is appended.")}};

static cubed_status call_require(const cb_call *c)
{
    return cubed_require(cb_call_array(c, 0), cb_call_array(c, 1), c->values[2].as.string, c->out,
                         c->err);
}

static const cubed_param forward_fill_params[] = {
    INPUT,
    PARAM_AXIS("axis", 0, -1, "The axis."),
    {PARAM_IN("limit", ACCEPTS(INT) | ACCEPTS(NONE), 0, 0, INFINITY,
              "Maximum number of consecutive elements to fill. None: no limit.")},
};

static cubed_array *filled(cb_steps *s, cubed_array *x, int axis)
{
    cubed_array *out = NULL;
    return x ? cb_step(s, cubed_forward_fill(x, axis, &out, s->err), &out) : NULL;
}

/* Creates the positions along an axis, in x's chunks along this axis. */
static cubed_array *positions_along(cb_steps *s, const cubed_array *x, int axis)
{
    int64_t shape[CUBED_MAX_NDIM], chunks[CUBED_MAX_NDIM];
    cubed_array *at = NULL;
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        shape[d] = d == axis ? cubed_array_shape(x)[d] : 1;
        chunks[d] = d == axis ? cubed_array_chunks(x)[d] : 1;
    }
    at = cb_step(s, cubed_array_index(s->ctx, cubed_array_ndim(x), shape, chunks, 0, &at, s->err),
                 &at);
    return at ? cb_step_cast(s, at, CUBED_FLOAT64) : NULL;
}

static cubed_status call_forward_fill(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0);
    const cubed_dtype dtype = cubed_array_dtype(x);
    const cubed_kind kind = cubed_dtype_kind(dtype);
    cb_steps s = {.ctx = c->ctx, .err = c->err};
    int axis;
    CB_TRY(cb_call_check_axis(c, 1, cubed_array_ndim(x), cb_call_int(c, 1), &axis));
    cubed_array *out = filled(&s, x, axis);
    const bool has_missing =
        kind == CUBED_KIND_FLOAT || kind == CUBED_KIND_COMPLEX || kind == CUBED_KIND_TIME;
    if (out && has_missing && cb_call_has(c, 2) && cb_call_int(c, 2) < cubed_array_shape(x)[axis]) {
        /* Positions are NaN at missing elements. Forward filling them gives the position of the last element that is not
         * missing. */
        cubed_array *at = positions_along(&s, x, axis);
        cubed_array *missing = cb_step_op(&s, CUBED_OP_NOT_EQUAL, x, x, NULL);
        cubed_array *known =
            cb_step_op(&s, CUBED_OP_WHERE, missing, cb_step_float(&s, (double)NAN), at);
        cubed_array *distance =
            cb_step_op(&s, CUBED_OP_SUBTRACT, at, filled(&s, known, axis), NULL);
        cubed_array *near = cb_step_op(&s, CUBED_OP_LESS_EQUAL, distance,
                                       cb_step_float(&s, (double)cb_call_int(c, 2)), NULL);
        out = cb_step_op(&s, CUBED_OP_WHERE, near, out, x);
        out = out ? cb_step_cast(&s, out, dtype) : NULL;
    }
    return cb_steps_end(&s, out, c->out);
}

static const cubed_param field_params[] = {
    INPUT, {PARAM("name", ACCEPTS(STRING), CUBED_PARAM_REQUIRED, "Name of the field.")}};

static cubed_status call_field(const cb_call *c)
{
    return cubed_field(cb_call_array(c, 0), c->values[1].as.string, c->out, c->err);
}

enum { MOST_NAMES = 1024 }; /* maximum number of names of fields */

static const cubed_param fields_params[] = {
    INPUT, {PARAM("names", ACCEPTS(LIST), CUBED_PARAM_REQUIRED, "Names of the fields, in order.")}};

static cubed_status call_fields(const cb_call *c)
{
    const cubed_value *v = &c->values[1];
    const char *names[MOST_NAMES];
    cubed_status st = CUBED_OK;
    for (int i = 0; i < v->n && i < MOST_NAMES && st == CUBED_OK; i++) {
        names[i] = v->as.items[i].as.string;
        if (v->as.items[i].kind != CUBED_VALUE_STRING)
            st = cb_fail(c->err, CUBED_E_TYPE, "fields: item %d of names is not a string", i);
    }
    if (v->n > MOST_NAMES)
        return cb_fail(c->err, CUBED_E_ARG, "fields: %d names, expected at most %d", v->n,
                       MOST_NAMES);
    if (st == CUBED_OK) st = cubed_fields(cb_call_array(c, 0), names, v->n, c->out, c->err);
    return st;
}

/* --- Rows --------------------------------------------------------------------------------------------- */

#define MOVES .attrs = CUBED_ATTRS_VIEW, .moves = true, .coords = CUBED_COORDS_CUT

static const cb_row rows[] = {
    {{"field", CATEGORY, .summary = "A field of records.",
      .returns =
          "The type of the field, in this machine's byte order, and the shape of `x`. Axes of "
          "a field with several elements follow.",
      PARAMS(field_params)},
     .call = call_field},
    {{"fields", CATEGORY, .summary = "Records of some fields of records.",
      .returns = "The shape of `x`. Fields are in this machine's byte order, without padding.",
      PARAMS(fields_params)},
     .call = call_fields},
    {{"forward_fill", CATEGORY,
      .summary = "Replaces missing elements by the last element before them that is not missing.",
      .returns = "The shape and type of `x`.", PARAMS(forward_fill_params),
      .attrs = CUBED_ATTRS_SAME},
     .call = call_forward_fill},
    {{"gather", CATEGORY, .summary = "The elements at positions along several axes.",
      .returns = "The axes of the positions replace the first axis that has positions. They come "
                 "first if an axis without positions is between these axes, as in NumPy.",
      PARAMS(gather_params), .coords = CUBED_COORDS_CUT},
     .call = call_gather},
    {{"replace", CATEGORY, .summary = "Replaces the elements that a mask selects.",
      .returns = "The shape and type of `x`.", PARAMS(replace_params)},
     .call = call_replace},
    {{"require", CATEGORY,
      .summary = "The array itself. Its computation fails if a condition is false for any element.",
      .returns = "`x`.", PARAMS(require_params), .attrs = CUBED_ATTRS_VIEW},
     .call = call_require},
    {{"scatter", CATEGORY,
      .summary = "Replaces the elements at positions along several axes; if a position occurs "
                 "several times, its last value is used.",
      .returns = "The shape and type of `x`.", PARAMS(scatter_params)},
     .call = call_scatter},
    {{"scatter_mask", CATEGORY,
      .summary = "Replaces the elements that a mask selects by the elements of a vector, in order.",
      .returns = "The shape and type of `x`.", PARAMS(scatter_mask_params)},
     .call = call_scatter_mask},
    {{"take", CATEGORY, .summary = "The elements at positions along an axis.",
      .returns = "The type of `x`. The axis has one element for each position; it is dropped if "
                 "`indices` is a number.",
      PARAMS(take_params), MOVES},
     .call = call_take},
    {{"take_along_axis", CATEGORY,
      .summary = "The elements along an axis, at separate positions for each line along the axis.",
      .returns = "The type of `x`, in the shape of the positions.", PARAMS(along_params), MOVES},
     .call = call_take_along_axis},
};

const cb_rows cb_indexing_rows = ROWS(rows);
