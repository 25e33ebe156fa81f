/* Quantiles of lines that are entirely in a block, by selection among their keys. */
#include "block/block_quantile.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/functions.h"
#include "block/select.h"
#include "cubed/array_api.h"
#include "dtype/scalar.h"

/* Minimum number of quantiles for which sorting a line is cheaper than selecting each quantile. */
#define MANY 6
/* Maximum number of adjacent lines to process together, because they share cache lines. */
#define MOST_LINES 16

/* --- Definitions -------------------------------------------------------------------------------------- */

static bool is_discrete(int method)
{
    static const uint8_t discrete[CUBED_QUANTILE_METHOD_COUNT] = {
#define CUBED_QUANTILE(NAME, name, number, discrete) [number] = (discrete),
#include "cubed/quantiles.def"
#undef CUBED_QUANTILE
    };
    return discrete[method] != 0;
}

cubed_status cb_quantile_check(const cb_quantile_params *p, size_t size, cubed_error *err)
{
    if (size < sizeof *p || p->count < 0 || p->count > INT32_MAX ||
        size != sizeof *p + (size_t)p->count * sizeof(double) || p->skip_nan >> 1 || p->wide >> 1 ||
        p->method < 0 || p->method >= CUBED_QUANTILE_METHOD_COUNT ||
        !cubed_dtype_is_valid((cubed_dtype)p->dtype))
        return cb_fail(err, CUBED_E_FORMAT, "the size of parameters does not match the function");
    for (int64_t i = 0; i < p->count; i++) {
        double q = cb_quantile_list(p)[i];
        if (!(q >= 0 && q <= 1))
            return cb_fail(err, CUBED_E_ARG, "q is %g, expected a number from 0 to 1", q);
    }
    if (cubed_dtype_kind((cubed_dtype)p->dtype) > CUBED_KIND_FLOAT)
        return cb_fail(err, CUBED_E_TYPE,
                       "the function is not defined for %s, expected real numbers",
                       cubed_dtype_name((cubed_dtype)p->dtype));
    return CUBED_OK;
}

cubed_dtype cb_quantile_dtype(const cb_quantile_params *p)
{
    cubed_dtype x = (cubed_dtype)p->dtype;
    bool kept = cubed_dtype_kind(x) == CUBED_KIND_FLOAT && !p->wide;
    return kept || is_discrete(p->method) ? x : CUBED_FLOAT64;
}

/* Returns the index of the first element at which the cumulative share of elements reaches q. If `tie` is set, the share equals q
 * at `index`. */
static double step(double index, bool tie) { return floor(index) + (tie ? 0 : 1); }

cb_quantile_place cb_quantile_find(int method, int64_t n, double q)
{
    double count = (double)n, linear = (count - 1) * q, index = linear, part;
    double alpha = 0, beta = 0;
    switch ((cubed_quantile_method)method) {
    case CUBED_QUANTILE_LOWER: index = floor(linear); break;
    case CUBED_QUANTILE_HIGHER: index = ceil(linear); break;
    case CUBED_QUANTILE_NEAREST: index = nearbyint(linear); break;
    case CUBED_QUANTILE_MIDPOINT: index = 0.5 * (floor(linear) + ceil(linear)); break;
    case CUBED_QUANTILE_INVERTED_CDF:
        index = count * q - 1;
        index = step(index, index == floor(index));
        break;
    case CUBED_QUANTILE_AVERAGED_INVERTED_CDF:
        index = count * q - 1;
        index = floor(index) + (index == floor(index) ? 0.5 : 1);
        break;
    case CUBED_QUANTILE_CLOSEST_OBSERVATION:
        index = count * q - 1 - 0.5;
        index = step(index, index == floor(index) && fmod(fabs(index), 2) == 1);
        break;
    case CUBED_QUANTILE_HAZEN: alpha = beta = 0.5; break;
    case CUBED_QUANTILE_INTERPOLATED_INVERTED_CDF: beta = 1; break;
    case CUBED_QUANTILE_MEDIAN_UNBIASED: alpha = beta = 1 / 3.0; break;
    case CUBED_QUANTILE_NORMAL_UNBIASED: alpha = beta = 3 / 8.0; break;
    case CUBED_QUANTILE_LINEAR:
    case CUBED_QUANTILE_WEIBULL:
    case CUBED_QUANTILE_METHOD_COUNT: break;
    }
    if (alpha > 0 || beta > 0 || method == CUBED_QUANTILE_WEIBULL)
        index = count * q + (alpha + q * (1 - alpha - beta)) - 1;
    if (index <= 0) return (cb_quantile_place){0, 0};
    if (index >= count - 1) return (cb_quantile_place){n - 1, 0};
    part = index - floor(index);
    return (cb_quantile_place){(int64_t)index, part};
}

static double between(double a, double b, double part)
{
    if (part == 0 || a == b) return a;
    /* the mean of a and b has a smaller rounding error than the general formula */
    if (part == 0.5) {
        double sum = a + b;
        return isinf(sum) ? 0.5 * a + 0.5 * b : 0.5 * sum;
    }
    return part < 0.5 ? a + (b - a) * part : b - (b - a) * (1 - part);
}

cubed_scalar cb_quantile_value(int method, cubed_dtype x, cubed_dtype result,
                               const uint64_t keys[2], double part)
{
    cb_order o = cb_order_of(x, false);
    const cb_order_width *w = cb_order_width_of(cubed_dtype_size(x));
    cubed_scalar v[2], wide[2], element;
    memset(v, 0, sizeof v);
    for (int i = 0; i < 2; i++) {
        v[i].u64 = w->value_of(keys[i], &o);
        cb_scalar_cast(x, &v[i], CUBED_FLOAT64, &wide[i]);
    }
    if (!is_discrete(method))
        return cb_scalar_from_double(result, between(wide[0].f64, wide[1].f64, part));
    if (result == x) return v[0];
    cb_scalar_cast(x, &v[0], result, &element);
    return element;
}

cubed_scalar cb_quantile_nan(const cb_quantile_params *p)
{
    return cb_scalar_from_double(cb_quantile_dtype(p), NAN);
}

/* --- Blocks ------------------------------------------------------------------------------------------ */

cb_quantile_layout cb_quantile_layout_of(const cb_quantile_params *p, const cubed_block *x)
{
    cb_quantile_layout s = {1, 1, 1};
    for (int d = 0; d < x->ndim; d++) {
        int64_t *part = d < p->axis ? &s.outer : d < p->axis + p->naxes ? &s.n : &s.inner;
        *part *= x->shape[d];
    }
    return s;
}

cubed_status cb_quantile_check_lines(const cb_quantile_params *p, const cubed_block *x,
                                     cubed_error *err)
{
    if (x->dtype != (cubed_dtype)p->dtype)
        return cb_fail(err, CUBED_E_FORMAT, "the types of operands do not match the function");
    if (p->axis < 0 || p->naxes < 0 || p->axis > x->ndim || p->naxes > x->ndim - p->axis)
        return cb_fail(err, CUBED_E_FORMAT,
                       "there are %d axes from axis %d on, which exceeds %d dimensions",
                       (int)p->naxes, (int)p->axis, x->ndim);
    if (cb_quantile_layout_of(p, x).n > UINT32_MAX)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "a block has 2**32 or more elements along the reduced axes");
    return CUBED_OK;
}

static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_quantile_params *p = call->params;
    (void)ctx;
    if (call->nin != 1 || call->nout != 1)
        return cb_fail(err, CUBED_E_FORMAT, "the number of operands does not match the function");
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    CB_TRY(cb_quantile_check(p, call->params_size, err));
    CB_TRY(cb_quantile_check_lines(p, x, err));
    cb_quantile_layout s = cb_quantile_layout_of(p, x);
    size_t results = cb_sat_mul(cb_sat_mul((size_t)s.outer, (size_t)s.inner), (size_t)p->count);
    size_t room = 1;
    for (int d = 0; d < y->ndim; d++) room = cb_sat_mul(room, (size_t)y->shape[d]);
    if (room != results || y->dtype != cb_quantile_dtype(p))
        return cb_fail(err, CUBED_E_FORMAT,
                       "the shape or type of the result does not match the function");
    if (s.n == 0 && room > 0 && cubed_dtype_kind(y->dtype) != CUBED_KIND_FLOAT)
        return cb_fail(err, CUBED_E_ARG,
                       "there are no elements, and type %s has no NaN for the result",
                       cubed_dtype_name(y->dtype));
    return CUBED_OK;
}

size_t cb_quantile_stride(int64_t n, size_t size)
{
    size_t lines = cb_sat_add(cb_sat_mul((size_t)n, size), 63) / 64;
    return cb_sat_mul(lines | 1, 64);
}

int64_t cb_quantile_lines(int64_t inner, size_t size)
{
    return cb_min_i64(inner, cb_min_i64(MOST_LINES, 64 / (int64_t)size));
}

int cb_quantile_make_keys(const cb_quantile_layout *s, const cubed_block *x, int64_t outer,
                          int64_t first, int64_t most,
                          char *keys) /* NOLINT(readability-non-const-parameter): is written */
{
    const size_t size = cubed_dtype_size(x->dtype);
    const int lines = (int)cb_min_i64(most, s->inner - first);
    const char *from = (const char *)x->data + (size_t)(outer * s->n * s->inner + first) * size;
    cb_order o = cb_order_of(x->dtype, false);
    cb_order_seen unused = {false, false};
    const cb_order_lines of = {from, s->inner * (int64_t)size,      s->n, lines,
                               keys, cb_quantile_stride(s->n, size)};
    cb_order_width_of(size)->make_lines(&of, &o, &unused);
    return lines;
}

static cubed_block_need need(const cubed_block_call *call, void *ctx)
{
    size_t size = cubed_dtype_size(call->in[0].dtype);
    cb_quantile_layout s = cb_quantile_layout_of(call->params, &call->in[0]);
    int64_t lines = cb_quantile_lines(s.inner, size);
    (void)ctx;
    return (cubed_block_need){cb_sat_mul((size_t)lines + 1, cb_quantile_stride(s.n, size)), 0};
}

void cb_quantile_of_keys(const cb_quantile_params *p, cubed_dtype result, char *keys, int64_t n,
                         void *temp, char *out, size_t step)
{
    cubed_dtype x = (cubed_dtype)p->dtype;
    const cb_select_width *w = cb_select_width_of(cubed_dtype_size(x));
    bool real = cubed_dtype_kind(x) == CUBED_KIND_FLOAT, sorted = p->count > MANY;
    size_t size = cubed_dtype_size(result);
    if (real && p->skip_nan) n = w->drop_ones(keys, n);
    bool none = n == 0 || (real && !p->skip_nan && w->has_ones(keys, n));
    if (sorted && !none)
        cb_order_width_of(cubed_dtype_size(x))->sort_keys(keys, NULL, n, temp, NULL);
    for (int64_t i = 0; i < p->count; i++, out += step) {
        cubed_scalar value = cb_scalar_from_double(result, NAN);
        if (!none) {
            cb_quantile_place at = cb_quantile_find(p->method, n, cb_quantile_list(p)[i]);
            uint64_t pair[2];
            if (sorted) {
                pair[0] = w->get(keys, at.at);
                pair[1] = w->get(keys, cb_min_i64(at.at + 1, n - 1));
            } else {
                w->select(keys, n, at.at, temp, pair);
            }
            value = cb_quantile_value(p->method, x, result, pair, at.part);
        }
        memcpy(out, &value, size);
    }
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_quantile_params *p = call->params;
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    cb_quantile_layout s = cb_quantile_layout_of(p, x);
    size_t size = cubed_dtype_size(x->dtype), step = cubed_dtype_size(y->dtype);
    size_t stride = cb_quantile_stride(s.n, size);
    int64_t at_a_time = cb_quantile_lines(s.inner, size);
    char *keys = call->scratch, *temp = keys + (size_t)at_a_time * stride;
    (void)ctx;
    (void)err;
    if (!y->data) return CUBED_OK;
    for (int64_t i = 0; i < s.outer; i++) {
        for (int64_t k = 0; k < s.inner; k += at_a_time) {
            int lines = cb_quantile_make_keys(&s, x, i, k, at_a_time, keys);
            for (int l = 0; l < lines; l++)
                cb_quantile_of_keys(p, y->dtype, keys + (size_t)l * stride, s.n, temp,
                                    (char *)y->data + (size_t)(i * s.inner + k + l) * step,
                                    (size_t)(s.outer * s.inner) * step);
        }
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_quantile = {
    .name = "quantile", .check = check, .need = need, .run = run, .divisible = true};
