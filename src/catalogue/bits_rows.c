/* Functions that unpack the bits of integers to elements, and pack elements to bits. */
#include "base/checked.h"
#include "base/error.h"
#include "cubed/array_api.h"
#include "ops/steps.h"
#include "rows.h"

#define CATEGORY .category = "bits"

#define INPUT(NOTES)                                                                               \
    {                                                                                              \
        PARAM("a", ACCEPTS(ARRAY),                                                                 \
              CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY | CUBED_PARAM_LIKE, NOTES)          \
    }
#define AXIS                                                                                       \
    PARAM_AXIS_OR_NONE("axis", 0, "Axis along which to compute. None: the flattened array.")
#define ORDER                                                                                      \
    PARAM_CHOICE("bitorder", 0, BIG, orders,                                                       \
                 "Whether the first element is the highest bit of a byte, or the lowest.")

enum { BITS = 8 };
enum { BIG, LITTLE };
static const cubed_choice orders[] = {{"big", BIG}, {"little", LITTLE}, {NULL, 0}};

static const cubed_param pack_params[] = {INPUT("Integers, or bools."), AXIS, ORDER};
static const cubed_param unpack_params[] = {
    INPUT("Bytes: uint8."),
    AXIS,
    {PARAM("count", ACCEPTS(INT) | ACCEPTS(NONE), 0,
           "Number of elements along the axis; zeros are appended. If negative, -count elements "
           "are dropped at the end. None: eight for each byte.")},
    ORDER,
};

/* Gets x and its axis. Without an axis, flattens x. */
static cubed_array *get_line(const cb_call *c, cb_steps *s, cubed_array *x, int *axis)
{
    const int64_t all = -1;
    *axis = 0;
    if (!cb_call_has(c, 1)) return cb_step_reshaped(s, x, 1, &all);
    s->st = cb_call_check_axis(c, 1, cubed_array_ndim(x), cb_call_int(c, 1), axis);
    return s->st == CUBED_OK ? x : NULL;
}

/* Appends `zeros` zeros to x along an axis. */
static cubed_array *lengthen(cb_steps *s, cubed_array *x, int axis, int64_t zeros)
{
    const int ndim = cubed_array_ndim(x);
    const cubed_scalar zero = {.u64 = 0};
    int64_t shape[CUBED_MAX_NDIM];
    cubed_array *parts[2] = {x, NULL};
    for (int d = 0; d < ndim; d++) shape[d] = d == axis ? zeros : cubed_array_shape(x)[d];
    parts[1] = cb_step(
        s,
        cubed_array_full(s->ctx, cubed_array_dtype(x), ndim, shape, NULL, &zero, &parts[1], s->err),
        &parts[1]);
    return parts[1] ? cb_step_concat(s, parts, 2, axis) : NULL;
}

/* Rechunks x along an axis, so that each chunk consists of whole bytes. */
static cubed_array *align(cb_steps *s, cubed_array *x, int axis)
{
    int64_t chunks[CUBED_MAX_NDIM], longest = 1;
    bool is_aligned = true;
    cubed_array *out = NULL;
    for (int64_t i = 0; i < cubed_array_num_chunks(x, axis); i++) {
        const int64_t length = cubed_array_chunk_length(x, axis, i);
        is_aligned = is_aligned && length % BITS == 0;
        longest = cb_max_i64(longest, length);
    }
    if (is_aligned) return x;
    for (int d = 0; d < cubed_array_ndim(x); d++) chunks[d] = CUBED_CHUNKS_KEPT;
    chunks[axis] = cb_ceil_div(longest, BITS) * BITS;
    return cb_step(s, cubed_rechunk(x, chunks, &out, s->err), &out);
}

/* Splits an axis into two axes with `outer` and `inner` elements, or, if `inner` is 0, merges two axes into one with `outer`
 * elements. */
static cubed_array *regroup(cb_steps *s, cubed_array *x, int axis, int64_t outer, int64_t inner)
{
    const int more = inner > 0 ? 1 : -1, ndim = cubed_array_ndim(x) + more;
    int64_t shape[CUBED_MAX_NDIM];
    if (ndim > CUBED_MAX_NDIM) {
        s->st = cb_fail(s->err, CUBED_E_UNSUPPORTED, "%d dimensions, expected at most %d", ndim,
                        CUBED_MAX_NDIM);
        return NULL;
    }
    for (int d = 0; d < ndim; d++)
        shape[d] = d < axis   ? cubed_array_shape(x)[d]
                   : d > axis ? cubed_array_shape(x)[d - more]
                              : outer;
    if (inner > 0) shape[axis + 1] = inner;
    return cb_step_reshaped(s, x, ndim, shape);
}

/* Creates an array of one number per bit, followed by `behind` axes of extent 1. */
static cubed_array *bit_numbers(cb_steps *s, const uint8_t *numbers, int behind)
{
    int64_t shape[CUBED_MAX_NDIM] = {BITS};
    cubed_array *out = NULL;
    for (int d = 1; d <= behind; d++) shape[d] = 1;
    return cb_step(s,
                   cubed_array_from_memory(s->ctx, CUBED_UINT8, 1 + behind, shape, NULL, NULL,
                                           numbers, &out, s->err),
                   &out);
}

static cubed_status check_kind(const cb_call *c, bool is_right, const char *expected)
{
    if (is_right) return CUBED_OK;
    return cb_call_blame(
        c, 0,
        cb_fail(c->err, CUBED_E_TYPE, "%s: the elements are %s, expected %s", c->function->name,
                cubed_dtype_name(cubed_array_dtype(cb_call_array(c, 0))), expected));
}

static cubed_status call_packbits(const cb_call *c)
{
    static const uint8_t weights[][BITS] = {
        [BIG] = {128, 64, 32, 16, 8, 4, 2, 1}, [LITTLE] = {1, 2, 4, 8, 16, 32, 64, 128}};
    const cubed_scalar zero = {.u64 = 0};
    cubed_array *x = cb_call_array(c, 0);
    const cubed_dtype dtype = cubed_array_dtype(x);
    cb_steps s = {.ctx = c->ctx, .err = c->err};
    int axis;
    CB_TRY(check_kind(c, cubed_dtype_kind(dtype) <= CUBED_KIND_UINT, "integers or bools"));
    if (dtype != CUBED_BOOL)
        x = cb_step_op(&s, CUBED_OP_NOT_EQUAL, x, cb_step_scalar(&s, dtype, &zero), NULL);
    if (x) x = get_line(c, &s, x, &axis);
    const int64_t rest = x ? cubed_array_shape(x)[axis] % BITS : 0;
    if (rest > 0) x = lengthen(&s, x, axis, BITS - rest);
    if (x) x = align(&s, x, axis);
    if (x) x = regroup(&s, x, axis, cubed_array_shape(x)[axis] / BITS, BITS);
    if (!x) return cb_steps_end(&s, NULL, c->out);
    const int bits = axis + 1;
    cubed_reduce_options along = CUBED_REDUCE_OPTIONS_INIT;
    along.axes = &bits;
    along.naxes = 1;
    x = cb_step_op(&s, CUBED_OP_MULTIPLY, cb_step_cast(&s, x, CUBED_UINT8),
                   bit_numbers(&s, weights[cb_call_choice(c, 2)], cubed_array_ndim(x) - 1 - bits),
                   NULL);
    if (x) x = cb_step_reduce(&s, CUBED_REDUCE_SUM, x, &along);
    return cb_steps_end(&s, x ? cb_step_cast(&s, x, CUBED_UINT8) : NULL, c->out);
}

/* Truncates the bits of x to the requested number, or appends zeros. */
static cubed_array *resize(const cb_call *c, cb_steps *s, cubed_array *x, int axis)
{
    const int64_t n = cubed_array_shape(x)[axis], count = cb_call_int(c, 2);
    const int64_t wanted = count < 0 ? n + count : count;
    if (wanted < 0) {
        s->st = cb_call_blame(c, 2,
                              cb_fail(c->err, CUBED_E_ARG,
                                      "unpackbits: count is %lld, expected at least %lld",
                                      (long long)count, (long long)-n));
        return NULL;
    }
    return wanted > n ? lengthen(s, x, axis, wanted - n) : cb_step_part(s, x, axis, 0, wanted, 1);
}

static cubed_status call_unpackbits(const cb_call *c)
{
    static const uint8_t shifts[][BITS] = {
        [BIG] = {7, 6, 5, 4, 3, 2, 1, 0}, [LITTLE] = {0, 1, 2, 3, 4, 5, 6, 7}};
    const cubed_scalar one = {.u8 = 1};
    cubed_array *x = cb_call_array(c, 0), *wide = NULL;
    cb_steps s = {.ctx = c->ctx, .err = c->err};
    int axis;
    int64_t n = 0;
    CB_TRY(check_kind(c, cubed_array_dtype(x) == CUBED_UINT8, "uint8"));
    x = get_line(c, &s, x, &axis);
    if (x && cb_mul_i64(cubed_array_shape(x)[axis], BITS, &n))
        s.st = cb_fail(c->err, CUBED_E_ARG, "unpackbits: %lld bytes have too many bits",
                       (long long)cubed_array_shape(x)[axis]);
    if (s.st != CUBED_OK) return cb_steps_end(&s, NULL, c->out);
    const int behind = cubed_array_ndim(x) - 1 - axis;
    wide = cb_step(&s, cubed_expand_dims(x, axis + 1, &wide, c->err), &wide);
    x = cb_step_op(&s, CUBED_OP_BITWISE_RIGHT_SHIFT, wide,
                   bit_numbers(&s, shifts[cb_call_choice(c, 3)], behind), NULL);
    x = cb_step_op(&s, CUBED_OP_BITWISE_AND, x, cb_step_scalar(&s, CUBED_UINT8, &one), NULL);
    if (x) x = regroup(&s, x, axis, n, 0);
    if (x && cb_call_has(c, 2)) x = resize(c, &s, x, axis);
    return cb_steps_end(&s, x, c->out);
}

/* --- Rows ---------------------------------------------------------------------------------------------- */

static const cb_row rows[] = {
    {{"packbits", CATEGORY,
      .summary = "Packs eight elements into each byte: a bit is 1 if its element is not 0.",
      .returns = "uint8; the length along the axis is an eighth, rounded up. Bits without an "
                 "element are 0.",
      PARAMS(pack_params), .coords = CUBED_COORDS_CUT},
     .call = call_packbits},
    {{"unpackbits", CATEGORY, .summary = "Unpacks each byte into eight elements, 0 or 1.",
      .returns = "uint8.", PARAMS(unpack_params), .coords = CUBED_COORDS_CUT},
     .call = call_unpackbits},
};

const cb_rows cb_bits_rows = ROWS(rows);
