/* Computes quantiles of lines that do not fit in a block. The digits of the elements' keys are counted, from the highest digit to
 * the lowest. Three functions are used:
 *
 *     "count_keys"   (elements, state?) -> counts   of the next digit, among the keys that match the state
 *     "refine_keys"  (counts, state?) -> state      adds one digit to each requested key
 *     "find_keys"    (state) -> quantiles           when all digits are known
 *
 * Counts are int64. For each line and requested key there is a row with a count per digit and the number of NaN. In the first
 * round, when no digit is known, one row serves all requested keys. States are int64. For each line there is the number of
 * elements (0: the quantile is NaN). The known digits of each requested key follow, with the key's rank among the keys that
 * start with these digits. Each quantile has two requested keys: the ones just below and above it. */
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/block_quantile.h"
#include "block/functions.h"

#define CB_COUNTS_JOIN(a, b)  a##b
#define CB_COUNTS_PASTE(a, b) CB_COUNTS_JOIN(a, b)
#define CB_KEY_TEMPLATE       "block/key_counts.inc.h"
#include "block/each_key.inc.h"

typedef int64_t (*count_fn)(const void *keys, int64_t n, int shift, int higher, uint64_t prefix,
                            bool may_be_nan, int64_t *counts);

static count_fn count_fn_of(size_t size)
{
    static const count_fn fns[] = {count_digits8, count_digits16, count_digits32, count_digits64};
    return fns[size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3];
}

/* Number of elements whose keys are computed together. */
#define KEYS_AT_A_TIME ((int64_t)1024)

static cubed_status other_shapes(cubed_error *err)
{
    return cb_fail(err, CUBED_E_FORMAT,
                   "the types or shapes of operands do not match the function");
}

static size_t count_of(const cubed_block *x, int axes)
{
    size_t n = 1;
    for (int d = 0; d < axes; d++) n = cb_sat_mul(n, (size_t)x->shape[d]);
    return n;
}

static bool is_int64(const cubed_block *x, int least_ndim)
{
    return x->dtype == CUBED_INT64 && x->ndim >= least_ndim;
}

static bool has_key(cubed_dtype dtype)
{
    cubed_kind kind = cubed_dtype_kind(dtype);
    return kind <= CUBED_KIND_FLOAT || kind == CUBED_KIND_TIME;
}

/* --- Counts ------------------------------------------------------------------------------------------ */

/* The shape of x as (outer, n, inner), with outer x inner lines. */
typedef struct layout {
    int64_t outer, n, inner;
} layout;

static layout layout_of(const cubed_block *x, const cb_count_params *p)
{
    layout s = {1, 1, 1};
    for (int d = 0; d < x->ndim; d++) {
        int64_t *part = d < p->axis ? &s.outer : d < p->axis + p->naxes ? &s.n : &s.inner;
        *part *= x->shape[d];
    }
    return s;
}

static cubed_status check_counts(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_count_params *p = call->params;
    (void)ctx;
    if (call->params_size != sizeof *p || call->nin < 1 || call->nin > 2 || call->nout != 1)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    int bits = has_key(x->dtype) ? 8 * (int)cubed_dtype_size(x->dtype) : 0;
    if (p->axis < 0 || p->naxes < 0 || p->axis > x->ndim || p->naxes > x->ndim - p->axis ||
        p->shift < 0 || p->bits < 1 || p->bits > 16 || p->shift + p->bits > bits)
        return cb_fail(
            err, CUBED_E_FORMAT,
            "%d bits from bit %d of %d, and %d axes from axis %d of %d, are out of range",
            (int)p->bits, (int)p->shift, bits, (int)p->naxes, (int)p->axis, x->ndim);
    if (!is_int64(y, 2) || y->shape[y->ndim - 1] != ((int64_t)1 << p->bits) + 1)
        return other_shapes(err);
    layout s = layout_of(x, p);
    size_t lines = cb_sat_mul((size_t)s.outer, (size_t)s.inner);
    int64_t wanted = y->shape[y->ndim - 2];
    if (count_of(y, y->ndim - 2) != lines) return other_shapes(err);
    bool begun = p->shift + p->bits < bits;
    if (begun != (call->nin == 2) || (!begun && wanted != 1)) return other_shapes(err);
    if (!begun) return CUBED_OK;
    const cubed_block *state = &call->in[1];
    if (!is_int64(state, 1) || state->shape[state->ndim - 1] != 1 + 2 * wanted ||
        count_of(state, state->ndim - 1) != lines)
        return other_shapes(err);
    return CUBED_OK;
}

static cubed_block_need need_counts(const cubed_block_call *call, void *ctx)
{
    (void)ctx;
    return (cubed_block_need){(size_t)KEYS_AT_A_TIME * cubed_dtype_size(call->in[0].dtype), 0};
}

/* Adds n elements of a line to its counts. */
static void count_some(const cubed_block_call *call, const char *from, int64_t stride, int64_t n,
                       int64_t line)
{
    const cb_count_params *p = call->params;
    const cubed_block *y = &call->out[0];
    cubed_dtype dtype = call->in[0].dtype;
    size_t size = cubed_dtype_size(dtype);
    bool real = cubed_dtype_kind(dtype) == CUBED_KIND_FLOAT;
    int64_t wanted = y->shape[y->ndim - 2], bins = y->shape[y->ndim - 1];
    int64_t *counts = (int64_t *)y->data + line * wanted * bins;
    cb_order o = cb_order_of(dtype, false);
    cb_order_seen unused = {false, false};
    cb_order_width_of(size)->make_keys(from, stride, n, &o, call->scratch, &unused);
    const int64_t *state =
        call->nin < 2 ? NULL : (const int64_t *)call->in[1].data + line * (1 + 2 * wanted);
    for (int64_t k = 0; k < wanted; k++, counts += bins) {
        uint64_t prefix = state ? (uint64_t)state[1 + 2 * k] : 0;
        counts[bins - 1] +=
            count_fn_of(size)(call->scratch, n, p->shift, p->shift + p->bits, prefix, real, counts);
    }
}

static cubed_status run_counts(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    layout s = layout_of(x, call->params);
    int64_t size = (int64_t)cubed_dtype_size(x->dtype), stride = s.inner * size;
    (void)ctx;
    (void)err;
    if (!y->data) return CUBED_OK;
    if (call->first) memset(y->data, 0, count_of(y, y->ndim) * sizeof(int64_t));
    for (int64_t line = 0; line < s.outer * s.inner; line++) {
        int64_t at = line / s.inner * s.n * s.inner + line % s.inner;
        const char *from = (const char *)x->data + at * size;
        for (int64_t i = 0; i < s.n; i += KEYS_AT_A_TIME)
            count_some(call, from + i * stride, stride, cb_min_i64(KEYS_AT_A_TIME, s.n - i), line);
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_count_keys = {.name = "count_keys",
                                            .check = check_counts,
                                            .need = need_counts,
                                            .run = run_counts,
                                            .divisible = true};

/* --- States ------------------------------------------------------------------------------------------ */

static cubed_status check_refine(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_quantile_params *p = call->params;
    (void)ctx;
    if (call->nin < 1 || call->nin > 2 || call->nout != 1)
        return cb_fail(err, CUBED_E_FORMAT, "the number of operands does not match the function");
    CB_TRY(cb_quantile_check(p, call->params_size, err));
    const cubed_block *counts = &call->in[0], *y = &call->out[0], *state = &call->in[call->nin - 1];
    if (!is_int64(counts, 2) || !is_int64(y, 1)) return other_shapes(err);
    int64_t bins = counts->shape[counts->ndim - 1] - 1;
    size_t lines = count_of(counts, counts->ndim - 2);
    if (bins < 2 || bins > 1 << 16 || (bins & (bins - 1)) != 0 ||
        counts->shape[counts->ndim - 2] != (call->nin == 1 ? 1 : 2 * p->count) ||
        y->shape[y->ndim - 1] != 1 + 4 * p->count || count_of(y, y->ndim - 1) != lines)
        return other_shapes(err);
    if (call->nin == 2 &&
        (!is_int64(state, 1) || state->shape[state->ndim - 1] != y->shape[y->ndim - 1] ||
         count_of(state, state->ndim - 1) != lines))
        return other_shapes(err);
    return CUBED_OK;
}

/* Initialises a state from the counts of the first digit. */
static void begin(const cb_quantile_params *p, const int64_t *counts, int64_t bins, int64_t *state)
{
    int64_t n = 0;
    for (int64_t b = 0; b < bins; b++) n += counts[b];
    if (counts[bins] > 0 && !p->skip_nan) n = 0;
    state[0] = n;
    for (int64_t i = 0; i < p->count; i++) {
        double number = cb_quantile_list(p)[i];
        int64_t at = n > 0 ? cb_quantile_find(p->method, n, number).at : 0;
        int64_t *wanted = state + 1 + 4 * i;
        wanted[0] = wanted[2] = 0;
        wanted[1] = at;
        wanted[3] = cb_max_i64(0, cb_min_i64(at + 1, n - 1));
    }
}

static cubed_status run_refine(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_quantile_params *p = call->params;
    const cubed_block *x = &call->in[0];
    const bool begun = call->nin == 2;
    const int64_t rows = x->shape[x->ndim - 2], bins = x->shape[x->ndim - 1] - 1;
    const int64_t length = 1 + 4 * p->count;
    const int64_t *counts = x->data, *before = begun ? call->in[1].data : NULL;
    int64_t *state = call->out[0].data, lines = (int64_t)count_of(x, x->ndim - 2);
    (void)ctx;
    (void)err;
    for (int64_t line = 0; state && line < lines; line++, state += length) {
        if (begun)
            memcpy(state, before + line * length, (size_t)length * sizeof *state);
        else
            begin(p, counts, bins, state);
        for (int64_t k = 0; k < 2 * p->count; k++) {
            const int64_t *row = counts + (begun ? k * (bins + 1) : 0);
            int64_t *known = &state[1 + 2 * k], *rank = &state[2 + 2 * k], digit = 0;
            while (digit < bins - 1 && *rank >= row[digit]) *rank -= row[digit++];
            *known = (int64_t)((uint64_t)*known * (uint64_t)bins + (uint64_t)digit);
        }
        counts += rows * (bins + 1);
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_refine_keys = {
    .name = "refine_keys", .check = check_refine, .run = run_refine, .divisible = true};

/* --- Quantiles --------------------------------------------------------------------------------------- */

static cubed_status check_find(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_quantile_params *p = call->params;
    (void)ctx;
    if (call->nin != 1 || call->nout != 1)
        return cb_fail(err, CUBED_E_FORMAT, "the number of operands does not match the function");
    CB_TRY(cb_quantile_check(p, call->params_size, err));
    const cubed_block *state = &call->in[0], *y = &call->out[0];
    if (!is_int64(state, 1) || state->shape[state->ndim - 1] != 1 + 4 * p->count ||
        y->dtype != cb_quantile_dtype(p) ||
        count_of(y, y->ndim) != cb_sat_mul((size_t)p->count, count_of(state, state->ndim - 1)))
        return other_shapes(err);
    return CUBED_OK;
}

static cubed_status run_find(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_quantile_params *p = call->params;
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    const int64_t *state = x->data;
    size_t size = cubed_dtype_size(y->dtype), lines = count_of(x, x->ndim - 1);
    (void)ctx;
    for (size_t line = 0; y->data && line < lines; line++, state += 1 + 4 * p->count) {
        const int64_t n = state[0];
        if (n <= 0 && cubed_dtype_kind(y->dtype) != CUBED_KIND_FLOAT)
            return cb_fail(err, CUBED_E_ARG,
                           "there are no elements, and type %s has no NaN for the result",
                           cubed_dtype_name(y->dtype));
        for (int64_t i = 0; i < p->count; i++) {
            const int64_t *wanted = state + 1 + 4 * i;
            const uint64_t keys[2] = {(uint64_t)wanted[0], (uint64_t)wanted[2]};
            cubed_scalar v = cb_quantile_nan(p);
            if (n > 0) {
                double part = cb_quantile_find(p->method, n, cb_quantile_list(p)[i]).part;
                v = cb_quantile_value(p->method, (cubed_dtype)p->dtype, y->dtype, keys, part);
            }
            memcpy((char *)y->data + ((size_t)i * lines + line) * size, &v, size);
        }
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_find_keys = {
    .name = "find_keys", .check = check_find, .run = run_find, .divisible = true};
