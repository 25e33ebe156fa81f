/* Interpolation of images by B-splines: M. Unser, A. Aldroubi, M. Eden, "Fast B-spline transforms for continuous image
 * representation and interpolation", IEEE PAMI 13 (1991); P. Thevenaz, T. Blu, M. Unser, "Interpolation revisited", IEEE TMI
 * 19 (2000). The order and rounding of operations, and the treatment of positions beyond the ends, are those of SciPy.
 *
 * The image consists of coefficients of splines. A result is the weighted sum of the coefficients around a position. Each
 * weight is a product of one factor per axis. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/functions.h"
#include "block/params.h"
#include "dtype/scalar.h"

enum { MOST_TAPS = 6 };

/* Special offsets for elements along an axis that are not in the block. */
enum {
    BEYOND = -1 /* beyond the ends of the image: has the constant value */,
    ELSEWHERE = -2 /* the element is in another block */
};

/* The elements around a position along one axis, with their weights. */
typedef struct taps {
    double position; /* NaN until the first position is set */
    int n, order;    /* n: number of elements; order: order of the spline */
    /* the position is beyond the ends of the image, and the boundary mode makes the result a constant */
    bool constant;
    bool plain;            /* all elements around the position are in the block */
    int64_t at[MOST_TAPS]; /* offsets in the block, in elements; BEYOND or ELSEWHERE */
    double weight[MOST_TAPS];
} taps;

/* State of one call. */
typedef struct interpolation {
    const cb_interpolate_params *p;
    const cubed_block *image;
    int ndim;
    int parts;                      /* numbers in an element: 2 if complex */
    int64_t stride[CUBED_MAX_NDIM]; /* strides of the block, in elements */
    taps axis[CUBED_MAX_NDIM];
    /* true in the first call for a block of results; this call also adds elements beyond the ends of the image */
    bool is_first;
} interpolation;

/* --- Positions ----------------------------------------------------------------------------------------- */

/* Maps a position beyond the ends of n elements as the boundary requires. If the boundary changes the position, the new position
 * is at most one element beyond the ends. Sets *constant if the result is a constant instead. The caller limits positions so that
 * they can be converted to integers. */
static double fold(double x, int64_t n, int32_t end, bool *constant)
{
    const double last = (double)(n - 1);
    *constant = false;
    if (isnan(x)) return x;
    /* For these boundaries, fold_element maps the indices of elements instead, so the position does not change. */
    if (end == CB_INTERPOLATE_GRID_CONSTANT || end == CB_INTERPOLATE_NEAREST) return x;
    if (x >= 0 && x <= last) return x;
    if (end == CB_INTERPOLATE_CONSTANT) {
        *constant = true;
        return x;
    }
    if (n <= 1) return 0;
    const double period = end == CB_INTERPOLATE_MIRROR    ? 2 * last
                          : end == CB_INTERPOLATE_REFLECT ? 2 * (double)n
                          : end == CB_INTERPOLATE_WRAP    ? last
                                                          : (double)n;
    if (x < 0) {
        switch (end) {
        case CB_INTERPOLATE_MIRROR:
            x = period * trunc(-x / period) + x;
            return x <= -last ? x + period : -x;
        case CB_INTERPOLATE_REFLECT:
            if (x < -period) x = period * trunc(-x / period) + x;
            return x < -(double)n ? x + period : -x - 1;
        case CB_INTERPOLATE_WRAP: return x + period * (trunc(-x / period) + 1);
        default: return x + period * (trunc((-1 - x) / period) + 1);
        }
    }
    x -= period * trunc(x / period);
    if (end == CB_INTERPOLATE_MIRROR) return x >= (double)n ? period - x : x;
    if (end == CB_INTERPOLATE_REFLECT) return x >= (double)n ? period - x - 1 : x;
    return x;
}

/* Maps an index beyond the ends of n elements to an index between the ends, or to BEYOND if the boundary is a constant. */
static int64_t fold_element(int64_t i, int64_t n, int32_t end)
{
    if (i >= 0 && i < n) return i;
    if (end == CB_INTERPOLATE_GRID_CONSTANT) return BEYOND;
    if (end == CB_INTERPOLATE_NEAREST) return i < 0 ? 0 : n - 1;
    if (n <= 1) return 0;
    if (end == CB_INTERPOLATE_GRID_WRAP) return (i % n + n) % n;
    const bool reflect = end == CB_INTERPOLATE_REFLECT;
    const int64_t period = reflect ? 2 * n : 2 * n - 2, at = (i % period + period) % period;
    return at < n ? at : reflect ? period - 1 - at : period - at;
}

/* Sets the weights of the elements around x, from the first to the last. The last weight makes the sum 1. */
static void set_weights(double x, int order, double *w)
{
    x -= floor(order % 2 ? x : x + 0.5);
    const double r = 1 - x;
    double t, y, z;
    switch (order) {
    case 1: w[0] = 1 - x; break;
    case 2:
        y = 0.5 - x;
        w[0] = 0.5 * y * y;
        w[1] = 0.75 - x * x;
        break;
    case 3:
        w[0] = r * r * r / 6;
        w[1] = (x * x * (x - 2) * 3 + 4) / 6;
        w[2] = (r * r * (r - 2) * 3 + 4) / 6;
        break;
    case 4:
        t = x * x;
        y = 1 + x;
        z = 1 - x;
        w[1] = y * (y * (y * (5 - y) / 6 - 1.25) + 5.0 / 24) + 55.0 / 96;
        w[2] = t * (t * 0.25 - 0.625) + 115.0 / 192;
        w[3] = z * (z * (z * (5 - z) / 6 - 1.25) + 5.0 / 24) + 55.0 / 96;
        t = (0.5 - x) * (0.5 - x);
        w[0] = t * t / 24;
        break;
    case 5:
        t = x * x;
        w[2] = t * (t * (0.25 - x / 12) - 0.5) + 0.55;
        t = r * r;
        w[3] = t * (t * (0.25 - r / 12) - 0.5) + 0.55;
        w[0] = r * t * t / 120;
        y = x + 1;
        w[1] = y * (y * (y * (y * (y / 24 - 0.375) + 1.25) - 1.75) + 0.625) + 0.425;
        z = r + 1;
        w[4] = z * (z * (z * (z * (z / 24 - 0.375) + 1.25) - 1.75) + 0.625) + 0.425;
        break;
    default: break;
    }
    w[order] = 1;
    for (int i = 0; i < order; i++) w[order] -= w[i];
}

/* Larger positions are limited to this magnitude, below which all integers are exact. */
#define FARTHEST 0x1p52

static void set_taps(interpolation *c, int d, double position)
{
    taps *t = &c->axis[d];
    if (position == t->position) return;
    const cb_interpolate_params *p = c->p;
    const int64_t n = p->extent[d], from = c->image->offset[d], extent = c->image->shape[d];
    /* For constant and wrap boundaries, SciPy computes the coefficients with mirror boundaries. */
    const int32_t end = p->end == CB_INTERPOLATE_CONSTANT || p->end == CB_INTERPOLATE_WRAP
                            ? CB_INTERPOLATE_MIRROR
                            : p->end;
    t->position = position;
    const double pad = p->kept >> d & 1 ? 0 : (double)p->pad;
    const double far = fmin(fmax(position + pad, -FARTHEST), FARTHEST);
    const double x = isnan(position) ? position : fold(far, n, p->end, &t->constant);
    t->plain = true;
    /* For a NaN position, the weights of splines above order 0 become NaN. */
    if (isnan(position)) t->constant = p->end != CB_INTERPOLATE_GRID_CONSTANT || t->order == 0;
    if (t->constant) return;
    const double whole = isnan(x) ? 0 : floor(t->order % 2 ? x : x + 0.5);
    const int64_t start = (int64_t)whole - t->order / 2;
    for (int i = 0; i < t->n; i++) {
        const int64_t at = fold_element(start + i, n, end);
        const bool is_here = at >= from && at < from + extent;
        t->at[i] = at == BEYOND ? BEYOND : is_here ? (at - from) * c->stride[d] : ELSEWHERE;
        t->plain = t->plain && t->at[i] >= 0;
    }
    set_weights(x, t->order, t->weight);
}

/* --- Sums ---------------------------------------------------------------------------------------------- */

/* Adds the weighted elements around a position. All of them are in the block. */
static void add_plain(const interpolation *c, const double *data, double sum[2])
{
    static const taps one = {.n = 1, .at = {0}, .weight = {1}};
    const int outer = c->ndim - 2;
    const taps *row = c->ndim > 1 ? &c->axis[c->ndim - 2] : &one, *column = &c->axis[c->ndim - 1];
    int at[CUBED_MAX_NDIM] = {0};
    for (;;) {
        int64_t base = 0;
        for (int d = 0; d < outer; d++) base += c->axis[d].at[at[d]];
        for (int i = 0; i < row->n; i++) {
            const double *line = data + (base + row->at[i]) * c->parts;
            for (int j = 0; j < column->n; j++) {
                for (int part = 0; part < c->parts; part++) {
                    double v = line[column->at[j] * c->parts + part];
                    for (int d = 0; d < outer; d++) v *= c->axis[d].weight[at[d]];
                    sum[part] += v * row->weight[i] * column->weight[j];
                }
            }
        }
        int d = outer - 1;
        while (d >= 0 && ++at[d] == c->axis[d].n) at[d--] = 0;
        if (d < 0) return;
    }
}

/* Adds the weighted elements that are in the block. The first call also adds those beyond the ends. Returns false if some
 * element is in another block. */
static bool add_some(const interpolation *c, const double *data, double sum[2])
{
    const double value[2] = {c->p->value, c->p->imaginary};
    int at[CUBED_MAX_NDIM] = {0};
    bool all = true;
    for (;;) {
        bool beyond = false, elsewhere = false;
        int64_t base = 0;
        for (int d = 0; d < c->ndim; d++) {
            const int64_t a = c->axis[d].at[at[d]];
            beyond = beyond || a == BEYOND;
            elsewhere = elsewhere || a == ELSEWHERE;
            base += a;
        }
        all = all && (beyond || !elsewhere);
        if (beyond ? c->is_first : !elsewhere) {
            for (int part = 0; part < c->parts; part++) {
                double v = beyond ? value[part] : data[base * c->parts + part];
                for (int d = 0; d < c->ndim; d++) v *= c->axis[d].weight[at[d]];
                sum[part] += v;
            }
        }
        int d = c->ndim - 1;
        while (d >= 0 && ++at[d] == c->axis[d].n) at[d--] = 0;
        if (d < 0) return all;
    }
}

/* Adds the weighted elements around the position that the taps describe. Returns false if some element is in another block. */
static bool add(const interpolation *c, double sum[2])
{
    const double *data = c->image->data;
    bool plain = true;
    for (int d = 0; d < c->ndim; d++) {
        plain = plain && c->axis[d].plain;
        if (!c->axis[d].constant) continue;
        if (c->is_first) {
            sum[0] = c->p->value;
            sum[1] = c->p->imaginary;
        }
        return true;
    }
    if (!plain) return add_some(c, data, sum);
    add_plain(c, data, sum);
    return true;
}

/* --- Results ------------------------------------------------------------------------------------------- */

/* Rounds to the nearest integer, and halves away from 0. Limits values beyond the type's range as SciPy does. */
static void store_integer(cubed_dtype dtype, void *to, int64_t i, double v)
{
    const int bits = 8 * (int)cubed_dtype_size(dtype);
    if (cubed_dtype_kind(dtype) == CUBED_KIND_UINT) {
        const double most = ldexp(1, bits);
        v = v > 0 ? v + 0.5 : 0;
        const uint64_t u = v >= most ? UINT64_MAX : cb_f64_to_u64(v);
        switch (bits) {
        case 8: ((uint8_t *)to)[i] = (uint8_t)u; break;
        case 16: ((uint16_t *)to)[i] = (uint16_t)u; break;
        case 32: ((uint32_t *)to)[i] = (uint32_t)u; break;
        default: ((uint64_t *)to)[i] = u; break;
        }
        return;
    }
    const double most = ldexp(1, bits - 1);
    v = v > 0 ? v + 0.5 : v - 0.5;
    const int64_t greatest = (int64_t)(UINT64_MAX >> (65 - bits));
    const int64_t n = v >= most ? greatest : v < -most ? -greatest - 1 : cb_f64_to_i64(v);
    switch (bits) {
    case 8: ((int8_t *)to)[i] = (int8_t)n; break;
    case 16: ((int16_t *)to)[i] = (int16_t)n; break;
    case 32: ((int32_t *)to)[i] = (int32_t)n; break;
    default: ((int64_t *)to)[i] = n; break;
    }
}

static void store(cubed_dtype dtype, void *to, int64_t i, const double sum[2])
{
    switch (dtype) {
    case CUBED_BOOL: ((uint8_t *)to)[i] = fabs(sum[0]) >= 1; break;
    case CUBED_FLOAT32: ((float *)to)[i] = (float)sum[0]; break;
    case CUBED_FLOAT64: ((double *)to)[i] = sum[0]; break;
    case CUBED_COMPLEX64:
        ((float *)to)[2 * i] = (float)sum[0];
        ((float *)to)[2 * i + 1] = (float)sum[1];
        break;
    case CUBED_COMPLEX128: memcpy((double *)to + 2 * i, sum, 2 * sizeof *sum); break;
    default: store_integer(dtype, to, i, sum[0]);
    }
}

/* --- Checks -------------------------------------------------------------------------------------------- */

static bool is_coefficient(cubed_dtype dtype)
{
    return dtype == CUBED_FLOAT64 || dtype == CUBED_COMPLEX128;
}

/* Returns true if results can have type `dtype`. A complex image has complex results, a real image real ones. */
static bool is_result(cubed_dtype image, cubed_dtype dtype)
{
    const bool is_complex = dtype == CUBED_COMPLEX64 || dtype == CUBED_COMPLEX128;
    const cubed_kind kind = cubed_dtype_kind(dtype);
    if (image == CUBED_COMPLEX128) return is_complex;
    return kind <= CUBED_KIND_FLOAT &&
           (kind != CUBED_KIND_FLOAT || dtype == CUBED_FLOAT32 || dtype == CUBED_FLOAT64);
}

static cubed_status check_params(const cubed_block_call *call, size_t map, cubed_error *err)
{
    const cb_interpolate_params *p = call->params;
    if (call->params_size != sizeof *p + map || p->order < 0 || p->order >= MOST_TAPS ||
        p->end < 0 || p->end >= CB_INTERPOLATE_ENDS || p->pad < 0 || p->pad > INT32_MAX)
        return cb_fail(err, CUBED_E_FORMAT, "the parameters are those of another interpolation");
    for (int d = 0; d < call->in[0].ndim; d++)
        if (p->extent[d] < 1 || p->extent[d] > INT64_MAX / 4)
            return cb_fail(err, CUBED_E_FORMAT,
                           "the image has %lld elements along axis %d, which is out of range",
                           (long long)p->extent[d], d);
    return CUBED_OK;
}

static cubed_status check_affine(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    const cb_interpolate_params *p = call->params;
    if (call->nin != 1 || call->nout != 1 || call->params_size < sizeof *p)
        return cb_fail(err, CUBED_E_FORMAT, "there are %d inputs and %d outputs, expected 1 and 1",
                       call->nin, call->nout);
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    const size_t n = (size_t)x->ndim;
    CB_TRY(check_params(call, (n + (p->diagonal ? n : n * n)) * sizeof(double), err));
    if (n == 0 || x->ndim != y->ndim || !is_coefficient(x->dtype) || !is_result(x->dtype, y->dtype))
        return cb_fail(err, CUBED_E_FORMAT,
                       "the types or numbers of axes of operands do not match the function");
    return CUBED_OK;
}

static cubed_status check_at(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    if (call->nin != 2 || call->nout != 2)
        return cb_fail(err, CUBED_E_FORMAT, "there are %d inputs and %d outputs, expected 2 and 2",
                       call->nin, call->nout);
    const cubed_block *x = &call->in[0], *at = &call->in[1], *sum = &call->out[0];
    CB_TRY(check_params(call, 0, err));
    bool is_sound = x->ndim > 0 && is_coefficient(x->dtype) && at->dtype == CUBED_FLOAT64 &&
                    sum->dtype == x->dtype && is_result(x->dtype, call->out[1].dtype) &&
                    at->ndim == sum->ndim + 1 && call->out[1].ndim == sum->ndim &&
                    at->shape[0] == x->ndim;
    for (int d = 0; is_sound && d < sum->ndim; d++)
        is_sound = at->shape[d + 1] == sum->shape[d] && call->out[1].shape[d] == sum->shape[d];
    return is_sound ? CUBED_OK
                    : cb_fail(err, CUBED_E_FORMAT,
                              "the types or shapes of operands do not match the function");
}

/* --- Calls --------------------------------------------------------------------------------------------- */

static cubed_block_need need(const cubed_block_call *call, void *ctx)
{
    (void)call;
    (void)ctx;
    return (cubed_block_need){sizeof(interpolation), 0};
}

static interpolation *begin(const cubed_block_call *call)
{
    interpolation *c = call->scratch;
    const cubed_block *x = &call->in[0];
    *c = (interpolation){.p = call->params,
                         .image = x,
                         .ndim = x->ndim,
                         .parts = x->dtype == CUBED_COMPLEX128 ? 2 : 1,
                         .is_first = call->first};
    int64_t stride = 1;
    for (int d = x->ndim - 1; d >= 0; d--) {
        c->stride[d] = stride;
        stride *= x->shape[d];
        c->axis[d].position = (double)NAN;
        c->axis[d].order = c->p->kept >> d & 1 ? 0 : c->p->order;
        c->axis[d].n = c->axis[d].order + 1;
    }
    return c;
}

static int64_t count(const cubed_block *x) { return cb_block_extents(x, 0, x->ndim); }

static void set_position(interpolation *c, const int64_t *index)
{
    const double *offset = (const double *)(c->p + 1), *factor = offset + c->ndim;
    for (int d = 0; d < c->ndim; d++) {
        double x = 0;
        if (c->p->diagonal) {
            x = (double)index[d] + offset[d];
            x = c->p->centred ? (x + 0.5) * factor[d] - 0.5 : x * factor[d];
        } else {
            for (int j = 0; j < c->ndim; j++) x += (double)index[j] * *factor++;
            x += offset[d];
        }
        set_taps(c, d, x);
    }
}

static cubed_status run_affine(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    const cubed_block *y = &call->out[0];
    const int64_t n = y->data ? count(y) : 0, line = n ? y->shape[y->ndim - 1] : 1;
    interpolation *c = begin(call);
    int64_t index[CUBED_MAX_NDIM];
    memcpy(index, y->offset, (size_t)y->ndim * sizeof *index);
    for (int64_t i = 0; i < n; i++) {
        double sum[2] = {0, 0};
        if (i % line == 0 && cubed_block_cancelled(call)) return CUBED_OK;
        set_position(c, index);
        if (!add(c, sum))
            return cb_fail(
                err, CUBED_E_FORMAT,
                "the part of the image in memory does not contain position %g of its first axis",
                c->axis[0].position);
        store(y->dtype, y->data, i, sum);
        for (int d = y->ndim - 1; d >= 0; d--) {
            if (++index[d] < y->offset[d] + y->shape[d]) break;
            index[d] = y->offset[d];
        }
    }
    return CUBED_OK;
}

static cubed_status run_at(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    (void)err;
    const cubed_block *sums = &call->out[0], *y = &call->out[1];
    const double *at = call->in[1].data;
    const int64_t n = count(sums);
    interpolation *c = begin(call);
    double *sum = sums->data;
    for (int64_t i = 0; i < n; i++) {
        double here[2] = {0, 0};
        if (i % 4096 == 0 && cubed_block_cancelled(call)) return CUBED_OK;
        for (int d = 0; d < c->ndim; d++) set_taps(c, d, at[d * n + i]);
        for (int part = 0; part < c->parts && !call->first; part++)
            here[part] = sum[i * c->parts + part];
        (void)add(c, here);
        for (int part = 0; part < c->parts; part++) sum[i * c->parts + part] = here[part];
        if (call->last && y->data) store(y->dtype, y->data, i, here);
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_interpolate = {.name = "interpolate",
                                             .check = check_affine,
                                             .need = need,
                                             .run = run_affine,
                                             .divisible = true};
const cubed_block_fn cb_block_interpolate_at = {.name = "interpolate_at",
                                                .check = check_at,
                                                .need = need,
                                                .run = run_at,
                                                .divisible = true,
                                                .carried = 1};
