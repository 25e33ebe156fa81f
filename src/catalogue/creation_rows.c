/* Arrays from nothing. */
#include "base/error.h"
#include "cubed/array_api.h"
#include "literal.h"
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

/* The type at position i, or another one for None. */
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
    DTYPE(0, "Type of the elements. None: that of the value."),
    PARAM_DEVICE,
    CHUNKS,
};

/* An array of a number. Its type is at position `at`, and chunks two behind; errors are about the value before or the type. */
static cubed_status fill(const cb_call *c, const cubed_value *number, cubed_dtype missing, int at)
{
    int ndim;
    const int64_t *shape = cb_call_ints(c, 0, &ndim), *chunks;
    const cubed_dtype dtype = dtype_or(c, at, missing);
    cubed_scalar value;
    CB_TRY(cb_call_chunks(c, at + 2, ndim, &chunks));
    if (!cubed_number_scalar(number, dtype, &value)) {
        char shown[64];
        cubed_value_format(number, shown, sizeof shown);
        return cb_call_blame(c, at > 1 ? at - 1 : at,
                             cb_fail(c->err, CUBED_E_ARG, "%s: %s does not have the value %s",
                                     c->function->name, cubed_dtype_name(dtype), shown));
    }
    return cubed_array_full(c->ctx, dtype, ndim, shape, chunks, &value, c->out, c->err);
}

/* `which` is the value. */
static cubed_status call_same(const cb_call *c)
{
    const cubed_value number = {.kind = CUBED_VALUE_INT, .as.integer = c->which};
    return fill(c, &number, CUBED_FLOAT64, 1);
}

static cubed_status call_full(const cb_call *c)
{
    return fill(c, &c->values[1], cubed_number_dtype(&c->values[1], CUBED_BOOL, false), 2);
}

/* --- Equal steps -------------------------------------------------------------------------------------- */

#define REAL(NAME, FLAGS, NOTES)                                                                   \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(INT) | ACCEPTS(FLOAT), CUBED_PARAM_REQUIRED | (FLAGS), NOTES)          \
    }

static const cubed_param arange_params[] = {
    REAL("start", CUBED_PARAM_POSITION_ONLY, "The first number; without `stop` the end."),
    {PARAM("stop", ACCEPTS(INT) | ACCEPTS(FLOAT) | ACCEPTS(NONE), 0,
           "The end, which is not one of the numbers. None: `start` is the end, and 0 the start.")},
    {PARAM("step", ACCEPTS(INT) | ACCEPTS(FLOAT), 0, "The difference of neighbours."),
     INT_DEFAULT(1)},
    DTYPE(NAMED, "Type of the numbers. None: int64 of integers, else float64."),
    PARAM_DEVICE,
    CHUNKS,
};

/* The number of integers from start in steps before stop; false if the step is 0 or there are too many. */
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

static const cubed_param linspace_params[] = {
    REAL("start", CUBED_PARAM_POSITION_ONLY, "The first number."),
    REAL("stop", CUBED_PARAM_POSITION_ONLY, "The last number, if `endpoint`."),
    PARAM_REQUIRED_INT("num", 0, "Number of numbers."),
    DTYPE(NAMED, "Type of the numbers, which are rounded down to integers. None: float64."),
    PARAM_DEVICE,
    PARAM_BOOL("endpoint", NAMED, true, "Whether the last number is `stop`."),
    CHUNKS,
};

/* *x in a type, rounded down if that has integers alone. */
static cubed_status round_down(cubed_array **x, cubed_dtype dtype, cubed_error *err)
{
    const cubed_kind kind = cubed_dtype_kind(dtype);
    cubed_array *given = *x, *rounded = NULL;
    cubed_status st = CUBED_OK;
    if (kind == CUBED_KIND_INT || kind == CUBED_KIND_UINT) {
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

static cubed_status call_linspace(const cb_call *c)
{
    const int64_t *chunk;
    CB_TRY(cb_call_chunks(c, 6, 1, &chunk));
    CB_TRY(cubed_array_linspace(c->ctx, cb_call_real(c, 0), cb_call_real(c, 1), cb_call_int(c, 2),
                                cb_call_bool(c, 5), chunk, c->out, c->err));
    return cb_call_has(c, 3) ? round_down(c->out, *cb_call_dtype(c, 3), c->err) : CUBED_OK;
}

/* --- Matrices ----------------------------------------------------------------------------------------- */

static const cubed_param eye_params[] = {
    PARAM_REQUIRED_INT("n_rows", CUBED_PARAM_POSITION_ONLY, "Number of rows."),
    {PARAM("n_cols", ACCEPTS(INT) | ACCEPTS(NONE), CUBED_PARAM_POSITION_ONLY,
           "Number of columns. None: as many as rows.")},
    PARAM_INT("k", 0, 0, "The diagonal: 0 is the main one, 1 the one above it."),
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
    /* Diagonals further out are as empty. */
    if (rows >= 0 && k < -rows) k = -rows;
    if (columns >= 0 && k > columns) k = columns;
    return cubed_array_eye(c->ctx, rows, columns, k, dtype_or(c, 3, CUBED_FLOAT64), chunks, c->out,
                           c->err);
}

/* --- Rows --------------------------------------------------------------------------------------------- */

static const cb_row rows[] = {
    {{"arange", CATEGORY, .summary = "Numbers in equal steps, up to but not including an end.",
      .returns = "One axis: int64 of integers, else float64.", PARAMS(arange_params)},
     .call = call_arange},
    {{"eye", CATEGORY,
      .summary = "Ones on the diagonal that is `k` right of the main one, and zeros.",
      .returns = "``(n_rows, n_cols)``.", PARAMS(eye_params)},
     .call = call_eye},
    {{"full", CATEGORY, .summary = "One value everywhere.", .returns = "Of `shape` and `dtype`.",
      PARAMS(full_params)},
     .call = call_full},
    {{"linspace", CATEGORY, .summary = "Numbers in equal steps between two others.",
      .returns = "``(num,)``.", PARAMS(linspace_params)},
     .call = call_linspace},
    {{"ones", CATEGORY, .summary = "Ones.", .returns = "Of `shape` and `dtype`.",
      PARAMS(same_params)},
     .call = call_same,
     .which = 1},
    {{"zeros", CATEGORY, .summary = "Zeros.", .returns = "Of `shape` and `dtype`.",
      PARAMS(same_params)},
     .call = call_same,
     .which = 0},
};

const cb_rows cb_creation_rows = ROWS(rows);
