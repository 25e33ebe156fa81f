/* Functions that create arrays. */
#include "base/alloc.h"
#include "base/error.h"
#include "context/context.h"
#include "cubed/array_api.h"
#include "literal.h"
#include "ops/steps.h"
#include "rows.h"

#define CATEGORY .category = "creation"

#define SHAPE                                                                                      \
    {                                                                                              \
        PARAM("shape", ACCEPTS(INT) | ACCEPTS(INTS), CUBED_PARAM_REQUIRED, "Shape of the result.") \
    }
#define DTYPE(FLAGS, NOTES) PARAM_DTYPE("dtype", FLAGS, NOTES)
#define CHUNKS                                                                                     \
    {                                                                                              \
        PARAM("chunks", ACCEPTS(INT) | ACCEPTS(INTS) | ACCEPTS(NONE), NAMED,                       \
              "Lengths of chunks, one for each axis. None: chunks of about 128 MiB.")              \
    }

/* Returns the data type in argument i, or `missing` if the argument is None. */
static cubed_dtype dtype_or(const cb_call *c, int i, cubed_dtype missing)
{
    const cubed_dtype *dtype = cb_call_dtype(c, i);
    return dtype ? *dtype : missing;
}

/* --- One value ---------------------------------------------------------------------------------------- */

static const cubed_param same_params[] = {
    SHAPE,
    DTYPE(0, "Type of the elements. None: float64."),
    PARAM_DEVICE,
    CHUNKS,
};
static const cubed_param full_params[] = {
    SHAPE,
    {PARAM("fill_value", NUMBERS, CUBED_PARAM_REQUIRED, "The value.")},
    DTYPE(0, "Type of the elements. None: the type of the value."),
    PARAM_DEVICE,
    CHUNKS,
};

/* Reports a number that the type cannot represent. The type is at position `at`, the number before it. */
static cubed_status refuse_value(const cb_call *c, const cubed_value *number, cubed_dtype dtype,
                                 int at)
{
    char shown[64];
    cubed_value_format(number, shown, sizeof shown);
    return cb_call_blame(c, at > 1 ? at - 1 : at,
                         cb_fail(c->err, CUBED_E_ARG, "%s: type %s cannot represent the value %s",
                                 c->function->name, cubed_dtype_name(dtype), shown));
}

/* Creates an array in which each element is the number. The type is at position `at`, the chunks are two positions after it. */
static cubed_status fill(const cb_call *c, const cubed_value *number, cubed_dtype missing, int at)
{
    int ndim;
    const int64_t *shape = cb_call_ints(c, 0, &ndim), *chunks;
    const cubed_dtype dtype = dtype_or(c, at, missing);
    cubed_scalar value;
    CB_TRY(cb_call_chunks(c, at + 2, ndim, &chunks));
    if (!cubed_number_scalar(number, dtype, &value)) return refuse_value(c, number, dtype, at);
    return cubed_array_full(c->ctx, dtype, ndim, shape, chunks, &value, c->out, c->err);
}

/* Creates an array whose elements are c->which (0 or 1). */
static cubed_status call_same(const cb_call *c)
{
    const cubed_value number = {.kind = CUBED_VALUE_INT, .as.integer = c->which};
    return fill(c, &number, CUBED_FLOAT64, 1);
}

static cubed_status call_full(const cb_call *c)
{
    return fill(c, &c->values[1], cubed_number_dtype(&c->values[1], CUBED_BOOL, false), 2);
}

/* --- Arrays of one value with the shape of another array ----------------------------------------------- */

#define LIKE       PARAM_ARRAY("x", "The array whose shape, chunks and type the result has.")
#define LIKE_DTYPE DTYPE(0, "Type of the elements. None: the type of `x`.")
#define LIKE_CHUNKS                                                                                \
    {                                                                                              \
        PARAM("chunks", ACCEPTS(INT) | ACCEPTS(INTS) | ACCEPTS(NONE), NAMED,                       \
              "Lengths of chunks, one for each axis. None: the chunks of `x`.")                    \
    }
#define LIKE_SHAPE                                                                                 \
    {                                                                                              \
        PARAM("shape", ACCEPTS(INT) | ACCEPTS(INTS) | ACCEPTS(NONE), NAMED,                        \
              "Shape of the result. None: the shape of `x`.")                                      \
    }

static const cubed_param like_params[] = {LIKE, LIKE_DTYPE, PARAM_DEVICE, LIKE_CHUNKS, LIKE_SHAPE};
static const cubed_param full_like_params[] = {
    LIKE,        {PARAM("fill_value", NUMBERS, CUBED_PARAM_REQUIRED, "The value.")},
    LIKE_DTYPE,  PARAM_DEVICE,
    LIKE_CHUNKS, LIKE_SHAPE,
};

/* Creates an array of empty strings, or of records whose bytes are 0. */
static cubed_status fill_empty(const cb_call *c, cubed_dtype dtype, int ndim, const int64_t *shape,
                               const int64_t *chunks, cubed_array **out)
{
    const size_t size = cubed_dtype_size(dtype);
    void *element = cb_alloc_zero(&c->ctx->alloc, size);
    if (!element) return cb_fail(c->err, CUBED_E_NOMEM, "out of memory: a string");
    const cubed_status st =
        cubed_array_full_text(c->ctx, dtype, ndim, shape, chunks, element, out, c->err);
    cb_free(&c->ctx->alloc, element, size);
    return st;
}

/* Creates an array of a number, with the shape of the array at position 0. The type is at position `at`, chunks and shape are
 * two and three positions after it. */
static cubed_status fill_like(const cb_call *c, const cubed_value *number, int at)
{
    const cubed_array *x = cb_call_array(c, 0);
    const cubed_dtype dtype = dtype_or(c, at, cubed_array_dtype(x));
    const char *names[CUBED_MAX_NDIM] = {NULL};
    int ndim = cubed_array_ndim(x);
    const int64_t *shape = cubed_array_shape(x), *chunks = cubed_array_chunks(x);
    cubed_array *made;
    cubed_scalar value;
    if (cb_call_has(c, at + 3)) {
        shape = cb_call_ints(c, at + 3, &ndim);
        chunks = NULL;
    }
    if (cb_call_has(c, at + 2)) CB_TRY(cb_call_chunks(c, at + 2, ndim, &chunks));
    const bool is_empty = cubed_dtype_kind(dtype) >= CUBED_KIND_TEXT &&
                          number->kind == CUBED_VALUE_INT && number->as.integer == 0;
    if (is_empty)
        CB_TRY(fill_empty(c, dtype, ndim, shape, chunks, &made));
    else if (cubed_number_scalar(number, dtype, &value))
        CB_TRY(cubed_array_full(c->ctx, dtype, ndim, shape, chunks, &value, &made, c->err));
    else
        return refuse_value(c, number, dtype, at);
    for (int d = 0; d < ndim && !cb_call_has(c, at + 3); d++) names[d] = cubed_array_dim_name(x, d);
    const cubed_status st = cubed_array_with_dim_names(made, names, c->out, c->err);
    cubed_array_unref(made);
    return st;
}

/* Creates an array whose elements are c->which (0 or 1), in the shape of another array. */
static cubed_status call_same_like(const cb_call *c)
{
    const cubed_value number = {.kind = CUBED_VALUE_INT, .as.integer = c->which};
    return fill_like(c, &number, 1);
}

static cubed_status call_full_like(const cb_call *c) { return fill_like(c, &c->values[1], 2); }

/* --- Equal steps -------------------------------------------------------------------------------------- */

#define REAL(NAME, FLAGS, NOTES)                                                                   \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(INT) | ACCEPTS(FLOAT), CUBED_PARAM_REQUIRED | (FLAGS), NOTES)          \
    }

static const cubed_param arange_params[] = {
    REAL("start", CUBED_PARAM_POSITION_ONLY, "The first number, or the end if there is no `stop`."),
    {PARAM("stop", ACCEPTS(INT) | ACCEPTS(FLOAT) | ACCEPTS(NONE), 0,
           "The end, which is not included. None: `start` is the end, and the first number is 0.")},
    {PARAM("step", ACCEPTS(INT) | ACCEPTS(FLOAT), 0,
           "The difference between neighbouring numbers."),
     INT_DEFAULT(1)},
    DTYPE(NAMED, "Type of the numbers. None: int64 for integers, else float64."),
    PARAM_DEVICE,
    CHUNKS,
};

/* Counts the integers from start to before stop in steps. Returns false if the step is 0 or there are too many integers. */
static bool count_whole(int64_t start, int64_t stop, int64_t step, int64_t *out)
{
    if (step == 0) return false;
    const bool up = step > 0;
    uint64_t span = up ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    const uint64_t by = up ? (uint64_t)step : -(uint64_t)step;
    if (up ? stop <= start : stop >= start) span = 0;
    const uint64_t count = span / by + (span % by != 0);
    *out = (int64_t)count;
    return count <= (uint64_t)1 << 60;
}

static cubed_status call_arange(const cb_call *c)
{
    const cubed_value zero = {.kind = CUBED_VALUE_INT};
    const bool has_stop = cb_call_has(c, 1);
    const cubed_value *from = has_stop ? &c->values[0] : &zero;
    const cubed_value *to = &c->values[has_stop ? 1 : 0], *by = &c->values[2];
    const bool whole =
        from->kind == CUBED_VALUE_INT && to->kind == CUBED_VALUE_INT && by->kind == CUBED_VALUE_INT;
    const cubed_dtype dtype = dtype_or(c, 3, whole ? CUBED_INT64 : CUBED_FLOAT64);
    const int64_t *chunk;
    int64_t n;
    CB_TRY(cb_call_chunks(c, 5, 1, &chunk));
    if (whole && count_whole(from->as.integer, to->as.integer, by->as.integer, &n)) {
        const cubed_scalar start = {.i64 = from->as.integer}, step = {.i64 = by->as.integer};
        return cubed_array_ramp(c->ctx, CUBED_INT64, &start, &step, n, dtype, chunk, c->out,
                                c->err);
    }
    return cubed_array_arange(c->ctx, has_stop ? cb_call_real(c, 0) : 0,
                              cb_call_real(c, has_stop ? 1 : 0), cb_call_real(c, 2), dtype, chunk,
                              c->out, c->err);
}

#define BOUND(NAME, FLAGS, NOTES) PARAM_OPERAND(NAME, CUBED_PARAM_REQUIRED | (FLAGS), NOTES)
#define ENDPOINT(FLAGS)           PARAM_BOOL("endpoint", FLAGS, true, "Whether the last number is `stop`.")
#define NEW_AXIS(FLAGS)                                                                            \
    PARAM_INT("axis", FLAGS, 0, "Axis of the numbers in the result, if a bound is an array.")

static const cubed_param linspace_params[] = {
    BOUND("start", CUBED_PARAM_POSITION_ONLY, "The first number, or an array of them."),
    BOUND("stop", CUBED_PARAM_POSITION_ONLY, "The last number, if `endpoint`."),
    PARAM_INT("num", 0, 50, "Number of numbers."),
    DTYPE(NAMED, "Type of the numbers; integers are rounded down. None: float64."),
    PARAM_DEVICE,
    ENDPOINT(NAMED),
    NEW_AXIS(NAMED),
    CHUNKS,
};
static const cubed_param geomspace_params[] = {
    BOUND("start", 0, "The first number, or an array of them."),
    BOUND("stop", 0, "The last number, if `endpoint`."),
    PARAM_INT("num", 0, 50, "Number of numbers."),
    ENDPOINT(0),
    DTYPE(0, "Type of the numbers. None: float64."),
    NEW_AXIS(0),
    CHUNKS,
};
static const cubed_param logspace_params[] = {
    BOUND("start", 0, "The first exponent, or an array of them."),
    BOUND("stop", 0, "The last exponent, if `endpoint`."),
    PARAM_INT("num", 0, 50, "Number of numbers."),
    ENDPOINT(0),
    {PARAM("base", ACCEPTS(ARRAY) | NUMBERS, 0, "Base of the powers."), FLOAT_DEFAULT(10)},
    DTYPE(0, "Type of the numbers. None: float64."),
    NEW_AXIS(0),
    CHUNKS,
};

/* Casts *x to a type. If the type is an integer type, rounds real numbers down. */
static cubed_status round_down(cubed_array **x, cubed_dtype dtype, cubed_error *err)
{
    const cubed_kind kind = cubed_dtype_kind(dtype);
    cubed_array *given = *x, *rounded = NULL;
    cubed_status st = CUBED_OK;
    const bool is_real = cubed_dtype_kind(cubed_array_dtype(given)) != CUBED_KIND_COMPLEX;
    if (is_real && (kind == CUBED_KIND_INT || kind == CUBED_KIND_UINT)) {
        st = cubed_elementwise(CUBED_OP_FLOOR, &given, 1, &rounded, err);
        cubed_array_unref(given);
        given = rounded;
    }
    *x = NULL;
    if (st != CUBED_OK) return st;
    st = cubed_astype(given, dtype, x, err);
    cubed_array_unref(given);
    return st;
}

static double part_of(const cubed_value *v, bool imaginary)
{
    switch (v->kind) {
    case CUBED_VALUE_COMPLEX: return v->as.complex_parts[imaginary];
    case CUBED_VALUE_FLOAT: return imaginary ? 0 : v->as.real;
    case CUBED_VALUE_BOOL: return !imaginary && v->as.boolean;
    default: return imaginary ? 0 : (double)v->as.integer;
    }
}

/* Generates evenly spaced numbers between two numbers, at least one of which is complex. Computes real and imaginary parts
 * separately. */
static cubed_status space_complex(const cb_call *c, int64_t num, bool endpoint,
                                  const int64_t *chunk, cubed_array **out)
{
    const cubed_scalar unit = {.c128 = {0, 1}};
    cb_steps s = {.ctx = c->ctx, .err = c->err};
    cubed_array *parts[2] = {NULL, NULL}, *i = NULL;
    for (int k = 0; k < 2 && s.st == CUBED_OK; k++) {
        const double from = part_of(&c->values[0], k), to = part_of(&c->values[1], k);
        parts[k] = cb_step(
            &s, cubed_array_linspace(c->ctx, from, to, num, endpoint, chunk, &parts[k], c->err),
            &parts[k]);
        parts[k] = parts[k] ? cb_step_cast(&s, parts[k], CUBED_COMPLEX128) : NULL;
    }
    i = cb_step_op(&s, CUBED_OP_MULTIPLY, parts[1], cb_step_scalar(&s, CUBED_COMPLEX128, &unit),
                   NULL);
    return cb_steps_end(&s, cb_step_op(&s, CUBED_OP_ADD, parts[0], i, NULL), out);
}

/* Rechunks *x to the chunks at position i, if they are given. Releases *x after an error. */
static cubed_status in_chunks(const cb_call *c, int i, cubed_array **x)
{
    cubed_array *made = *x;
    const int64_t *chunks;
    cubed_status st = cb_call_chunks(c, i, cubed_array_ndim(made), &chunks);
    if (st == CUBED_OK && !chunks) return CUBED_OK;
    *x = NULL;
    if (st == CUBED_OK) st = cubed_rechunk(made, chunks, x, c->err);
    cubed_array_unref(made);
    return st;
}

/* Generates evenly spaced numbers between arguments 0 and 1, at least one of which is an array. A number gets its default type,
 * independently of the array's type. */
static cubed_status space_arrays(const cb_call *c, const cubed_spaced_options *o, cubed_array **out)
{
    cubed_array *in[2] = {NULL, NULL};
    cubed_status st = CUBED_OK;
    for (int i = 0; i < 2 && st == CUBED_OK; i++)
        st = cb_call_number(c, i, cubed_number_dtype(&c->values[i], CUBED_BOOL, false), &in[i]);
    if (st == CUBED_OK) st = cubed_spaced(in[0], in[1], o, out, c->err);
    cubed_array_unref(in[0]);
    cubed_array_unref(in[1]);
    return st;
}

/* Generates evenly spaced numbers along the axis in the options. The chunks are at position i. */
static cubed_status space_evenly(const cb_call *c, const cubed_spaced_options *o, int i,
                                 cubed_array **out)
{
    const cubed_value *v = c->values;
    const int64_t *chunk;
    if (v[0].kind == CUBED_VALUE_ARRAY || v[1].kind == CUBED_VALUE_ARRAY) {
        CB_TRY(space_arrays(c, o, out));
        return in_chunks(c, i, out);
    }
    CB_TRY(cb_call_chunks(c, i, 1, &chunk));
    if (o->axis != 0 && o->axis != -1)
        return cb_fail(c->err, CUBED_E_ARG,
                       "%s: axis is %d, expected 0 or -1: start and stop are numbers, so the "
                       "result has one axis",
                       c->function->name, o->axis);
    if (v[0].kind == CUBED_VALUE_COMPLEX || v[1].kind == CUBED_VALUE_COMPLEX)
        CB_TRY(space_complex(c, o->num, o->endpoint, chunk, out));
    else
        CB_TRY(cubed_array_linspace(c->ctx, part_of(&v[0], false), part_of(&v[1], false), o->num,
                                    o->endpoint, chunk, out, c->err));
    return o->dtype ? round_down(out, *o->dtype, c->err) : CUBED_OK;
}

static cubed_status call_linspace(const cb_call *c)
{
    cubed_spaced_options o = CUBED_SPACED_OPTIONS_INIT;
    o.num = cb_call_int(c, 2);
    o.dtype = cb_call_dtype(c, 3);
    o.endpoint = cb_call_bool(c, 5);
    o.axis = cb_call_axis(c, 6);
    return space_evenly(c, &o, 7, c->out);
}

static cubed_status call_geomspace(const cb_call *c)
{
    cubed_spaced_options o = CUBED_SPACED_OPTIONS_INIT;
    o.num = cb_call_int(c, 2);
    o.endpoint = cb_call_bool(c, 3);
    o.dtype = cb_call_dtype(c, 4);
    o.axis = cb_call_axis(c, 5);
    o.geometric = true;
    for (int i = 0; i < 2; i++) {
        const cubed_value *v = &c->values[i];
        if (v->kind != CUBED_VALUE_ARRAY && part_of(v, false) == 0 && part_of(v, true) == 0)
            return cb_call_blame(c, i,
                                 cb_fail(c->err, CUBED_E_ARG,
                                         "geomspace: %s is 0, expected a nonzero number",
                                         c->function->params[i].name));
    }
    CB_TRY(space_arrays(c, &o, c->out));
    return in_chunks(c, 6, c->out);
}

/* Raises an array of bases to evenly spaced exponents. The axes of the bases broadcast with those of the bounds of the
 * exponents. */
static cubed_status power_of_arrays(const cb_call *c, cubed_spaced_options *o, cubed_array **out)
{
    cubed_array *base = cb_call_array(c, 4), *from = NULL;
    cb_steps s = {.ctx = c->ctx, .err = c->err};
    from = cb_step(
        &s, cb_call_number(c, 0, cubed_number_dtype(&c->values[0], CUBED_BOOL, false), &from),
        &from);
    cubed_array *to = NULL, *powers = NULL, *wide = NULL, *apart = NULL;
    to = cb_step(
        &s, cb_call_number(c, 1, cubed_number_dtype(&c->values[1], CUBED_BOOL, false), &to), &to);
    cubed_array *none = cb_step_op(&s, CUBED_OP_MULTIPLY, base, cb_step_number(&s, base, 0), NULL);
    from = cb_step_op(&s, CUBED_OP_ADD, from, none, NULL);
    if (s.st != CUBED_OK) return cb_steps_end(&s, NULL, out);
    powers = cb_step(&s, cubed_spaced(from, to, o, &powers, c->err), &powers);
    wide = cb_step_broadcast(&s, base, cubed_array_ndim(from), cubed_array_shape(from));
    if (wide) apart = cb_step(&s, cubed_expand_dims(wide, o->axis, &apart, c->err), &apart);
    CB_TRY(cb_steps_end(&s, cb_step_op(&s, CUBED_OP_POW, apart, powers, NULL), out));
    return in_chunks(c, 7, out);
}

static cubed_status power_of_number(const cb_call *c, const cubed_spaced_options *o,
                                    cubed_array **out)
{
    cubed_array *in[2] = {NULL, NULL};
    cubed_status st =
        cb_call_number(c, 4, cubed_number_dtype(&c->values[4], CUBED_BOOL, false), &in[0]);
    if (st == CUBED_OK) st = space_evenly(c, o, 7, &in[1]);
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_POW, in, 2, out, c->err);
    cubed_array_unref(in[0]);
    cubed_array_unref(in[1]);
    return st;
}

static cubed_status call_logspace(const cb_call *c)
{
    cubed_spaced_options o = CUBED_SPACED_OPTIONS_INIT;
    cubed_array *base = cb_call_array(c, 4), *made = NULL;
    o.num = cb_call_int(c, 2);
    o.endpoint = cb_call_bool(c, 3);
    o.axis = cb_call_axis(c, 6);
    CB_TRY(base && cubed_array_ndim(base) > 0 ? power_of_arrays(c, &o, &made)
                                              : power_of_number(c, &o, &made));
    if (!cb_call_has(c, 5)) {
        *c->out = made;
        return CUBED_OK;
    }
    const cubed_status st = cubed_astype(made, *cb_call_dtype(c, 5), c->out, c->err);
    cubed_array_unref(made);
    return st;
}

/* --- Matrices ----------------------------------------------------------------------------------------- */

static const cubed_param eye_params[] = {
    PARAM_REQUIRED_INT("n_rows", CUBED_PARAM_POSITION_ONLY, "Number of rows."),
    {PARAM("n_cols", ACCEPTS(INT) | ACCEPTS(NONE), CUBED_PARAM_POSITION_ONLY,
           "Number of columns. None: the number of rows.")},
    PARAM_INT("k", 0, 0,
              "Number of the diagonal: 0 is the main diagonal, 1 the one above, -1 the one below."),
    DTYPE(0, "Type of the elements. None: float64."),
    PARAM_DEVICE,
    CHUNKS,
};

static cubed_status call_eye(const cb_call *c)
{
    const int64_t rows = cb_call_int(c, 0), columns = cb_call_int(c, cb_call_has(c, 1) ? 1 : 0);
    const int64_t *chunks;
    int64_t k = cb_call_int(c, 2);
    CB_TRY(cb_call_chunks(c, 5, 2, &chunks));
    /* limit k, because all diagonals outside of the matrix are empty */
    if (rows >= 0 && k < -rows) k = -rows;
    if (columns >= 0 && k > columns) k = columns;
    return cubed_array_eye(c->ctx, rows, columns, k, dtype_or(c, 3, CUBED_FLOAT64), chunks, c->out,
                           c->err);
}

/* --- Rows --------------------------------------------------------------------------------------------- */

static const cb_row rows[] = {
    {{"arange", CATEGORY, .summary = "Evenly spaced numbers, up to but not including an end.",
      .returns = "One dimension: int64 for integers, else float64.", PARAMS(arange_params)},
     .call = call_arange},
    {{"empty", CATEGORY, .summary = "An array of zeros, because arrays are never uninitialised.",
      .returns = "An array with this `shape` and `dtype`.", PARAMS(same_params)},
     .call = call_same,
     .which = 0},
    {{"empty_like", CATEGORY, .summary = "Zeros, in the shape of another array.",
      .returns = "The shape of `x`, or `shape`.", PARAMS(like_params)},
     .call = call_same_like,
     .which = 0},
    {{"eye", CATEGORY, .summary = "A matrix with ones on diagonal `k`, and zeros elsewhere.",
      .returns = "``(n_rows, n_cols)``.", PARAMS(eye_params)},
     .call = call_eye},
    {{"full", CATEGORY, .summary = "An array in which every element is one value.",
      .returns = "An array with this `shape` and `dtype`.", PARAMS(full_params)},
     .call = call_full},
    {{"full_like", CATEGORY,
      .summary = "One value for every element, in the shape of another array.",
      .returns = "The shape of `x`, or `shape`.", PARAMS(full_like_params)},
     .call = call_full_like},
    {{"geomspace", CATEGORY,
      .summary = "Numbers from one to another, with a constant factor between neighbours.",
      .returns = "``(num,)``, plus the axes of the bounds.", PARAMS(geomspace_params)},
     .call = call_geomspace},
    {{"linspace", CATEGORY, .summary = "Evenly spaced numbers from one to another.",
      .returns = "``(num,)``, plus the axes of the bounds.", PARAMS(linspace_params)},
     .call = call_linspace},
    {{"logspace", CATEGORY, .summary = "Powers of a number with evenly spaced exponents.",
      .returns = "``(num,)``, plus the axes of the bounds.", PARAMS(logspace_params)},
     .call = call_logspace},
    {{"ones", CATEGORY, .summary = "An array of ones.",
      .returns = "An array with this `shape` and `dtype`.", PARAMS(same_params)},
     .call = call_same,
     .which = 1},
    {{"ones_like", CATEGORY, .summary = "Ones, in the shape of another array.",
      .returns = "The shape of `x`, or `shape`.", PARAMS(like_params)},
     .call = call_same_like,
     .which = 1},
    {{"zeros", CATEGORY, .summary = "An array of zeros.",
      .returns = "An array with this `shape` and `dtype`.", PARAMS(same_params)},
     .call = call_same,
     .which = 0},
    {{"zeros_like", CATEGORY, .summary = "Zeros, in the shape of another array.",
      .returns = "The shape of `x`, or `shape`.", PARAMS(like_params)},
     .call = call_same_like,
     .which = 0},
};

const cb_rows cb_creation_rows = ROWS(rows);
