/* Rows of functions that generate random numbers, which depend only on a seed or a key. */
#include <string.h>

#include "base/error.h"
#include "cubed/array_api.h"
#include "rows.h"

#define CATEGORY .category = "random"

#define SHAPE                                                                                      \
    {                                                                                              \
        PARAM("shape", ACCEPTS(INT) | ACCEPTS(INTS), CUBED_PARAM_REQUIRED, "Shape of the result.") \
    }
#define REAL(NAME, DEFAULT, NOTES)                                                                 \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(FLOAT), 0, NOTES), FLOAT_DEFAULT(DEFAULT)                              \
    }
#define SEED(NOTES)                                                                                \
    {                                                                                              \
        PARAM("seed", ACCEPTS(INT), NAMED | CUBED_PARAM_REQUIRED, NOTES)                           \
    }
#define CHUNKS                                                                                     \
    {                                                                                              \
        PARAM("chunks", ACCEPTS(INT) | ACCEPTS(INTS) | ACCEPTS(NONE), NAMED,                       \
              "Lengths of chunks, one for each axis. None: chunks of about 128 MiB.")              \
    }
#define WORDS (ACCEPTS(INT) | ACCEPTS(STRING))

static const char same_seed[] = "Equal seeds give equal numbers, whatever the chunks are.";

/* --- Integers beyond 64 bits -------------------------------------------------------------------------- */

/* Reads a string of digits: decimal, or hexadecimal after "0x". Returns false for other characters, and for more than 128
 * bits. */
static bool read_digits(const char *text, unsigned __int128 *out)
{
    const bool is_hex = strncmp(text, "0x", 2) == 0;
    const char *digits = is_hex ? "0123456789abcdef" : "0123456789";
    *out = 0;
    if (is_hex) text += 2;
    if (!*text) return false;
    for (; *text; text++) {
        const char *digit = strchr(digits, *text);
        if (!digit || __builtin_mul_overflow(*out, is_hex ? 16 : 10, out) ||
            __builtin_add_overflow(*out, digit - digits, out))
            return false;
    }
    return true;
}

/* Reads the integer at position i, which may be a string. Returns false if it is negative or not an integer. */
static bool take_unsigned(const cb_call *c, int i, unsigned __int128 *out)
{
    if (c->values[i].kind == CUBED_VALUE_STRING) return read_digits(c->values[i].as.string, out);
    *out = (unsigned __int128)cb_call_int(c, i);
    return cb_call_int(c, i) >= 0;
}

/* Reads the integer at position i, which may have up to 65 bits including the sign. */
static cubed_status take_whole(const cb_call *c, int i, __int128 *out)
{
    unsigned __int128 digits;
    if (c->values[i].kind != CUBED_VALUE_STRING) {
        *out = cb_call_int(c, i);
        return CUBED_OK;
    }
    const char *text = c->values[i].as.string;
    const bool is_negative = *text == '-';
    if (!read_digits(text + is_negative, &digits) || digits > UINT64_MAX)
        return cb_call_blame(c, i,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "integers: %s is '%.60s', expected a 64-bit integer",
                                     c->function->params[i].name, text));
    *out = is_negative ? -(__int128)digits : (__int128)digits;
    return CUBED_OK;
}

/* --- Distributions ------------------------------------------------------------------------------------ */

/* Casts *x from float64 to the type at position i. None means float64. */
static cubed_status in_dtype(const cb_call *c, int i, cubed_array **x)
{
    const cubed_dtype *dtype = cb_call_dtype(c, i);
    cubed_array *made = *x;
    if (!dtype || *dtype == CUBED_FLOAT64) return CUBED_OK;
    *x = NULL;
    const cubed_status st = cubed_astype(made, *dtype, x, c->err);
    cubed_array_unref(made);
    return st;
}

static cubed_status check_dtype(const cb_call *c, int i)
{
    const cubed_dtype *dtype = cb_call_dtype(c, i);
    if (!dtype || cubed_dtype_kind(*dtype) == CUBED_KIND_FLOAT) return CUBED_OK;
    return cb_call_blame(c, i,
                         cb_fail(c->err, CUBED_E_TYPE,
                                 "%s: dtype is %s, expected a floating-point type",
                                 c->function->name, cubed_dtype_name(*dtype)));
}

#define DTYPE PARAM_DTYPE("dtype", NAMED, "A floating-point type. None: float64.")

static const cubed_param random_params[] = {
    SHAPE,
    {PARAM("seed", ACCEPTS(INT) | ACCEPTS(NONE), NAMED, same_seed)},
    CHUNKS,
    DTYPE,
    {PARAM("key", WORDS | ACCEPTS(NONE), NAMED,
           "Used instead of a seed: chunk number b has the numbers of NumPy's "
           "``Generator(Philox(key=key + b))``. An integer from 0 to 2**128 - 1; a string if it "
           "needs more than 64 bits.")},
};

static cubed_status random_blocks(const cb_call *c, int ndim, const int64_t *shape,
                                  const int64_t *chunks)
{
    const cubed_dtype *dtype = cb_call_dtype(c, 3);
    unsigned __int128 key;
    char shown[80];
    if (!take_unsigned(c, 4, &key)) {
        cubed_value_format(&c->values[4], shown, sizeof shown);
        return cb_call_blame(c, 4,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "random: key is %s, expected an integer from 0 below 2**128",
                                     shown));
    }
    const uint64_t words[2] = {(uint64_t)key, (uint64_t)(key >> 64)};
    return cubed_array_random_blocks(c->ctx, dtype ? *dtype : CUBED_FLOAT64, ndim, shape, chunks,
                                     words, c->out, c->err);
}

/* Rounding to a type with fewer bits may give 1. Replaces 1 by the largest number below 1. */
static cubed_status below_one(const cb_call *c)
{
    const cubed_dtype dtype = cubed_array_dtype(c->out[0]);
    const double gap = dtype == CUBED_FLOAT32 ? 0x1p-24 : dtype == CUBED_FLOAT16 ? 0x1p-11 : 0x1p-8;
    const cubed_value most = {.kind = CUBED_VALUE_FLOAT, .as.real = 1 - gap};
    cubed_array *pair[2] = {c->out[0], NULL}, *least = NULL;
    cubed_scalar element;
    if (dtype == CUBED_FLOAT64 || !cubed_number_scalar(&most, dtype, &element)) return CUBED_OK;
    cubed_status st = cubed_array_full(c->ctx, dtype, 0, NULL, NULL, &element, &pair[1], c->err);
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_MINIMUM, pair, 2, &least, c->err);
    /* Operations on half precision return float32, so the result is cast back. */
    c->out[0] = NULL;
    if (st == CUBED_OK) st = cubed_astype(least, dtype, c->out, c->err);
    cubed_array_unref(pair[0]);
    cubed_array_unref(pair[1]);
    cubed_array_unref(least);
    return st;
}

static cubed_status call_random(const cb_call *c)
{
    int ndim;
    const int64_t *shape = cb_call_ints(c, 0, &ndim), *chunks;
    const bool has_seed = cb_call_has(c, 1), has_key = cb_call_has(c, 4);
    CB_TRY(cb_call_chunks(c, 2, ndim, &chunks));
    CB_TRY(check_dtype(c, 3));
    if (!has_seed && !has_key)
        return cb_fail(c->err, CUBED_E_TYPE, "random: seed is missing, expected an integer");
    if (has_seed && has_key)
        return cb_call_blame(
            c, 4,
            cb_fail(c->err, CUBED_E_TYPE,
                    "random: seed and key are both given, expected one of the two"));
    if (has_key) return random_blocks(c, ndim, shape, chunks);
    CB_TRY(cubed_array_random(c->ctx, ndim, shape, chunks, cb_call_int(c, 1), c->out, c->err));
    CB_TRY(in_dtype(c, 3, c->out));
    return below_one(c);
}

static const cubed_param uniform_params[] = {SHAPE,
                                             REAL("low", 0, "The smallest number."),
                                             REAL("high", 1, "The upper end of the numbers."),
                                             SEED(same_seed),
                                             CHUNKS,
                                             DTYPE};
static const cubed_param normal_params[] = {SHAPE,
                                            REAL("loc", 0, "The mean."),
                                            REAL("scale", 1, "The standard deviation."),
                                            SEED(same_seed),
                                            CHUNKS,
                                            DTYPE};
static const cubed_param exponential_params[] = {SHAPE, REAL("scale", 1, "The mean."),
                                                 SEED(same_seed), CHUNKS, DTYPE};

enum { UNIFORM, NORMAL, EXPONENTIAL };

/* Calls the distribution `which`. The parameters of the distribution are followed by the seed, chunks and type. */
static cubed_status call_distribution(const cb_call *c)
{
    const int at = c->which == EXPONENTIAL ? 2 : 3;
    const double first = cb_call_real(c, 1),
                 second = c->which == EXPONENTIAL ? 0 : cb_call_real(c, 2);
    const int64_t seed = cb_call_int(c, at), *chunks;
    int ndim;
    const int64_t *shape = cb_call_ints(c, 0, &ndim);
    CB_TRY(cb_call_chunks(c, at + 1, ndim, &chunks));
    CB_TRY(check_dtype(c, at + 2));
    if (c->which == UNIFORM)
        CB_TRY(
            cubed_array_uniform(c->ctx, ndim, shape, chunks, first, second, seed, c->out, c->err));
    else if (c->which == NORMAL)
        CB_TRY(
            cubed_array_normal(c->ctx, ndim, shape, chunks, first, second, seed, c->out, c->err));
    else
        CB_TRY(cubed_array_exponential(c->ctx, ndim, shape, chunks, first, seed, c->out, c->err));
    return in_dtype(c, at + 2, c->out);
}

/* --- Integers ----------------------------------------------------------------------------------------- */

static const cubed_param integers_params[] = {
    SHAPE,
    {PARAM("low", WORDS, CUBED_PARAM_REQUIRED,
           "The smallest number, or the end if there is no `high`. A string if it needs more than "
           "64 bits.")},
    {PARAM(
        "high", WORDS | ACCEPTS(NONE), 0,
        "The end, which is not included. None: `low` is the end, and the smallest number is 0.")},
    SEED(same_seed),
    CHUNKS,
    PARAM_DTYPE("dtype", NAMED, "An integer type. None: int64."),
    PARAM_BOOL("endpoint", NAMED, false, "Whether the end is included."),
};

/* Converts integer v, the argument at position i, to a type. Fails if the type cannot represent it. */
static cubed_status in_range(const cb_call *c, int i, __int128 v, cubed_dtype dtype,
                             cubed_scalar *out)
{
    const cubed_value number = {.kind = CUBED_VALUE_INT, .as.integer = (int64_t)v};
    if (dtype == CUBED_UINT64 && v >= 0 && v <= UINT64_MAX) {
        out->u64 = (uint64_t)v;
        return CUBED_OK;
    }
    if (v >= INT64_MIN && v <= INT64_MAX && cubed_number_scalar(&number, dtype, out))
        return CUBED_OK;
    return cb_call_blame(c, i,
                         cb_fail(c->err, CUBED_E_ARG, "integers: %s is beyond the range of %s",
                                 c->function->params[i].name, cubed_dtype_name(dtype)));
}

static cubed_status call_integers(const cb_call *c)
{
    const cubed_dtype dtype = cb_call_has(c, 5) ? *cb_call_dtype(c, 5) : CUBED_INT64;
    const cubed_kind kind = cubed_dtype_kind(dtype);
    const int end = cb_call_has(c, 2) ? 2 : 1;
    const int64_t *chunks;
    int ndim;
    const int64_t *shape = cb_call_ints(c, 0, &ndim);
    __int128 low = 0, last;
    cubed_scalar_range range;
    CB_TRY(cb_call_chunks(c, 4, ndim, &chunks));
    if (kind != CUBED_KIND_INT && kind != CUBED_KIND_UINT)
        return cb_call_blame(c, 5,
                             cb_fail(c->err, CUBED_E_TYPE,
                                     "integers: dtype is %s, expected a type of integers",
                                     cubed_dtype_name(dtype)));
    if (end == 2) CB_TRY(take_whole(c, 1, &low));
    CB_TRY(take_whole(c, end, &last));
    if (!cb_call_bool(c, 6)) last--;
    if (last < low) {
        char shown[64];
        cubed_value_format(&c->values[end], shown, sizeof shown);
        return cb_call_blame(
            c, end,
            cb_fail(c->err, CUBED_E_ARG,
                    "integers: %s is %s, expected an integer above the lower bound",
                    c->function->params[end].name, shown));
    }
    CB_TRY(in_range(c, 1, low, dtype, &range.low));
    CB_TRY(in_range(c, end, last, dtype, &range.last));
    return cubed_array_integers(c->ctx, dtype, ndim, shape, chunks, &range, cb_call_int(c, 3),
                                c->out, c->err);
}

/* --- Rows --------------------------------------------------------------------------------------------- */

#define OF_SHAPE .returns = "An array with this `shape` and `dtype`."

static const cb_row rows[] = {
    {{"exponential", CATEGORY,
      .summary = "Exponentially distributed random numbers with mean `scale`.", OF_SHAPE,
      PARAMS(exponential_params)},
     .call = call_distribution,
     .which = EXPONENTIAL},
    {{"integers", CATEGORY,
      .summary = "Uniformly distributed random integers from `low` up to but not including `high`.",
      OF_SHAPE, PARAMS(integers_params)},
     .call = call_integers},
    {{"normal", CATEGORY,
      .summary =
          "Normally distributed random numbers with mean `loc` and standard deviation `scale`.",
      OF_SHAPE, PARAMS(normal_params)},
     .call = call_distribution,
     .which = NORMAL},
    {{"random", CATEGORY,
      .summary = "Uniformly distributed random numbers from 0 up to but not including 1.", OF_SHAPE,
      PARAMS(random_params)},
     .call = call_random},
    {{"uniform", CATEGORY, .summary = "Uniformly distributed random numbers from `low` to `high`.",
      OF_SHAPE, PARAMS(uniform_params)},
     .call = call_distribution,
     .which = UNIFORM},
};

const cb_rows cb_random_rows = ROWS(rows);
