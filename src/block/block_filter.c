/* Filters of images. Each element becomes a weighted sum or mean of its neighbours, their minimum or maximum, or the neighbour of
 * a given rank.
 *
 * Blocks of x, which is already padded, include all neighbours that the filter needs. Separable filters (sums, means, minima and
 * maxima) are applied along one axis after another. Intermediates have x's type, as in SciPy. Inner loops run over contiguous
 * elements. Filters of boxes visit the elements of a box in C order, as SciPy does. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/functions.h"
#include "block/params.h"
#include "dtype/scalar.h"

enum { TILE = 256 };

/* A filter along one axis: n weights for elements that are `inner` elements apart. */
typedef struct axis_filter {
    int64_t n, inner;
    const double *weights;
    int symmetry; /* 1: symmetric weights; -1: antisymmetric; 0: neither */
} axis_filter;

/* The elements of a box that a filter uses: for each of them, the offset from the first element of the box, and a number, which
 * is the weight of the element or is added to the element. */
typedef struct box_filter {
    int64_t n;
    const int64_t *offsets;
    const double *numbers;
    bool largest;
} box_filter;

typedef void (*axis_fn)(void *to, const void *from, const axis_filter *f, int64_t n);
typedef void (*box_fn)(void *to, const void *from, const box_filter *f, int64_t n);
typedef struct filter_fns {
    axis_fn correlate, mean, least, greatest;
    void (*rank)(void *to, const void *from, const int64_t *offsets, int64_t count, int64_t rank,
                 void *room, int64_t n);
    box_fn weigh, flat, raised;
} filter_fns;

/* Comparisons in which NaN is greater than all numbers. */
#define ORDERED(a, b)               ((a) < (b))
#define ORDERED_FLOATS(a, b)        ((a) < (b) || (isnan(b) && !isnan(a)))
#define CB_FILTER_PASTE2(name, tag) name##_##tag
#define CB_FILTER_PASTE(name, tag)  CB_FILTER_PASTE2(name, tag)
#define T                           int8_t
#define TAG                         i1
#define TO_T(v)                     (int8_t) cb_f64_to_i64(v)
#define LESS                        ORDERED
#include "block/block_filter.inc.h"
#define T       int16_t
#define TAG     i2
#define TO_T(v) (int16_t) cb_f64_to_i64(v)
#define LESS    ORDERED
#include "block/block_filter.inc.h"
#define T       int32_t
#define TAG     i4
#define TO_T(v) (int32_t) cb_f64_to_i64(v)
#define LESS    ORDERED
#include "block/block_filter.inc.h"
#define T       int64_t
#define TAG     i8
#define TO_T(v) cb_f64_to_i64(v)
#define LESS    ORDERED
#include "block/block_filter.inc.h"
#define T       uint8_t
#define TAG     u1
#define TO_T(v) (uint8_t) cb_f64_to_i64(v)
#define LESS    ORDERED
#include "block/block_filter.inc.h"
#define T       uint16_t
#define TAG     u2
#define TO_T(v) (uint16_t) cb_f64_to_i64(v)
#define LESS    ORDERED
#include "block/block_filter.inc.h"
#define T       uint32_t
#define TAG     u4
#define TO_T(v) (uint32_t) cb_f64_to_i64(v)
#define LESS    ORDERED
#include "block/block_filter.inc.h"
#define T       uint64_t
#define TAG     u8
#define TO_T(v) cb_f64_to_u64(v)
#define LESS    ORDERED
#include "block/block_filter.inc.h"
#define T       float
#define TAG     f4
#define TO_T(v) (float)(v)
#define LESS    ORDERED_FLOATS
#include "block/block_filter.inc.h"
#define T       double
#define TAG     f8
#define TO_T(v) (v)
#define LESS    ORDERED_FLOATS
#include "block/block_filter.inc.h"

/* Returns NULL if filters do not support the type. */
static const filter_fns *fns_of(cubed_dtype dtype)
{
    switch ((int)dtype) {
    case CUBED_INT8: return &filters_i1;
    case CUBED_INT16: return &filters_i2;
    case CUBED_INT32: return &filters_i4;
    case CUBED_INT64: return &filters_i8;
    case CUBED_UINT8: return &filters_u1;
    case CUBED_UINT16: return &filters_u2;
    case CUBED_UINT32: return &filters_u4;
    case CUBED_UINT64: return &filters_u8;
    case CUBED_FLOAT32:
    case CUBED_COMPLEX64: return &filters_f4;
    case CUBED_FLOAT64:
    case CUBED_COMPLEX128: return &filters_f8;
    default: return NULL;
    }
}

/* Returns the number of real numbers in an element: real and imaginary parts are filtered separately. */
static int parts_of(cubed_dtype dtype)
{
    return dtype == CUBED_COMPLEX64 || dtype == CUBED_COMPLEX128 ? 2 : 1;
}

/* --- Parameters ---------------------------------------------------------------------------------------- */

static int64_t size_of(const cb_filter_params *p, int d) { return p->before[d] + 1 + p->after[d]; }

/* Returns the number of elements in the box of a filter; SIZE_MAX if it overflows. */
static size_t box_of(const cb_filter_params *p)
{
    size_t n = 1;
    for (int d = 0; d < CUBED_MAX_NDIM; d++) n = cb_sat_mul(n, (size_t)size_of(p, d));
    return n;
}

static size_t tail_of(const cb_filter_params *p)
{
    size_t n = 0;
    if (p->kind == CB_FILTER_RANK) return box_of(p);
    if (cb_filter_takes_box(p->kind)) return cb_sat_mul(box_of(p), sizeof(double));
    if (p->kind != CB_FILTER_CORRELATE) return 0;
    for (int d = 0; d < CUBED_MAX_NDIM; d++)
        if (p->axes >> d & 1) n = cb_sat_add(n, cb_sat_mul((size_t)size_of(p, d), sizeof(double)));
    return n;
}

/* Returns true if SciPy ignores a weight of this magnitude. */
static bool is_no_weight(double w) { return fabs(w) <= DBL_EPSILON; }

/* Returns true if the filter uses element i of the box. */
static bool counts(const cb_filter_params *p, size_t i)
{
    if (p->kind == CB_FILTER_RANK) return ((const uint8_t *)(p + 1))[i] == 1;
    const double v = ((const double *)(p + 1))[i];
    return p->kind == CB_FILTER_WEIGHTS ? !is_no_weight(v) : !isnan(v);
}

static int64_t count_elements(const cb_filter_params *p)
{
    int64_t n = 0;
    for (size_t i = 0; i < box_of(p); i++) n += counts(p, i);
    return n;
}

static cubed_status check_params(const cubed_block_call *call, cubed_error *err)
{
    const cb_filter_params *p = call->params;
    if (call->params_size < sizeof *p || p->kind < 0 || p->kind >= CB_FILTER_KINDS)
        return cb_fail(err, CUBED_E_FORMAT, "the parameters are those of another filter");
    for (int d = 0; d < CUBED_MAX_NDIM; d++) {
        const int64_t most = INT32_MAX / 4;
        if (p->before[d] < 0 || p->after[d] < 0 || p->before[d] > most || p->after[d] > most)
            return cb_fail(err, CUBED_E_FORMAT,
                           "the halo of axis %d is %lld and %lld elements, which is out of range",
                           d, (long long)p->before[d], (long long)p->after[d]);
        /* only an axis along which the image is filtered may have a halo */
        if (!cb_filter_takes_box(p->kind) && p->before[d] + p->after[d] > 0 && !(p->axes >> d & 1))
            return cb_fail(err, CUBED_E_FORMAT, "axis %d has a halo, but is not filtered", d);
    }
    const size_t tail = tail_of(p);
    const bool is_box = cb_filter_takes_box(p->kind);
    if (call->params_size - sizeof *p != tail || (is_box && (tail > INT32_MAX || p->axes != 0)))
        return cb_fail(
            err, CUBED_E_FORMAT,
            "the parameters have another size than expected, or a box is combined with axes");
    if (!is_box || p->kind == CB_FILTER_WEIGHTS) return CUBED_OK;
    const int64_t n = count_elements(p);
    if (n == 0) return cb_fail(err, CUBED_E_FORMAT, "the box has no true element");
    if (p->rank < 0 || p->rank >= n)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the rank is %lld, which is out of range for %lld elements",
                       (long long)p->rank, (long long)n);
    return CUBED_OK;
}

static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    CB_TRY(check_params(call, err));
    const cb_filter_params *p = call->params;
    if (call->nin != 1 || call->nout != 1)
        return cb_fail(err, CUBED_E_FORMAT, "there are %d inputs and %d outputs, expected 1 and 1",
                       call->nin, call->nout);
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    const bool is_sum =
        p->kind == CB_FILTER_CORRELATE || p->kind == CB_FILTER_MEAN || p->kind == CB_FILTER_WEIGHTS;
    if (x->dtype != y->dtype || !fns_of(x->dtype) || x->ndim != y->ndim ||
        (!is_sum && parts_of(x->dtype) > 1))
        return cb_fail(err, CUBED_E_FORMAT, "the types of operands do not match the function");
    for (int d = 0; d < CUBED_MAX_NDIM; d++) {
        const int64_t around = p->before[d] + p->after[d];
        if (d < x->ndim ? x->shape[d] != y->shape[d] + around : around != 0 || p->axes >> d & 1)
            return cb_fail(err, CUBED_E_FORMAT,
                           "axis %d: the shape of an operand does not match the function", d);
    }
    return CUBED_OK;
}

/* --- Memory -------------------------------------------------------------------------------------------- */

/* Gets the axes to filter, one after another, and returns their number. */
static int passes_of(const cb_filter_params *p, int axes[CUBED_MAX_NDIM])
{
    int n = 0;
    for (int d = 0; d < CUBED_MAX_NDIM; d++)
        if (p->axes >> d & 1) axes[n++] = d;
    return n;
}

static size_t bytes_of(const cubed_block *x)
{
    size_t n = cubed_dtype_size(x->dtype);
    for (int d = 0; d < x->ndim; d++) n = cb_sat_mul(n, (size_t)x->shape[d]);
    return n;
}

static cubed_block_need need(const cubed_block_call *call, void *ctx)
{
    const cb_filter_params *p = call->params;
    int axes[CUBED_MAX_NDIM];
    (void)ctx;
    if (cb_filter_takes_box(p->kind)) {
        const size_t each =
            sizeof(int64_t) +
            (p->kind == CB_FILTER_RANK ? cubed_dtype_size(call->in[0].dtype) : sizeof(double));
        return (cubed_block_need){cb_sat_mul(box_of(p), each), 0};
    }
    const int between = passes_of(p, axes) - 1;
    const size_t bytes = bytes_of(&call->in[0]);
    return (cubed_block_need){between > 0 ? cb_sat_mul((size_t)cb_min_i64(2, between), bytes) : 0,
                              0};
}

/* --- Filters along one axis after another -------------------------------------------------------------- */

static int symmetry_of(const double *w, int64_t n)
{
    bool same = n % 2 == 1, opposite = n % 2 == 1;
    for (int64_t i = 0; i < n / 2; i++) {
        same = same && w[i] == w[n - 1 - i];
        opposite = opposite && w[i] == -w[n - 1 - i];
    }
    return same ? 1 : opposite ? -1 : 0;
}

static axis_fn fn_of(const filter_fns *fns, int32_t kind)
{
    return kind == CB_FILTER_CORRELATE ? fns->correlate
           : kind == CB_FILTER_MEAN    ? fns->mean
           : kind == CB_FILTER_MIN     ? fns->least
                                       : fns->greatest;
}

/* Filters along one axis. `shape` becomes the shape of the result. */
static void run_axis(const cubed_block_call *call, int axis, axis_filter *f, int64_t *shape,
                     const char *from, char *to)
{
    const cb_filter_params *p = call->params;
    const cubed_dtype dtype = call->in[0].dtype;
    const size_t size = cubed_dtype_size(dtype);
    const axis_fn fn = fn_of(fns_of(dtype), p->kind);
    const int64_t result = call->out[0].shape[axis];
    const int64_t parts = parts_of(dtype);
    int64_t outer = 1;
    f->inner = parts;
    for (int d = 0; d < axis; d++) outer *= shape[d];
    for (int d = axis + 1; d < call->in[0].ndim; d++) f->inner *= shape[d];
    for (int64_t i = 0; i < outer && !cubed_block_cancelled(call); i++) {
        const int64_t at = i * shape[axis] * (f->inner / parts);
        fn(to + (size_t)(i * result * (f->inner / parts)) * size, from + (size_t)at * size, f,
           result * f->inner);
    }
    shape[axis] = result;
}

static void run_axes(const cubed_block_call *call)
{
    const cb_filter_params *p = call->params;
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    const double *weights = (const double *)(p + 1);
    int axes[CUBED_MAX_NDIM];
    int64_t shape[CUBED_MAX_NDIM];
    const int n = passes_of(p, axes);
    const char *from = x->data;
    memcpy(shape, x->shape, (size_t)x->ndim * sizeof *shape);
    if (n == 0) memcpy(y->data, x->data, bytes_of(y));
    for (int i = 0; i < n; i++) {
        axis_filter f = {.n = size_of(p, axes[i]), .weights = weights};
        char *to = i == n - 1 ? y->data : (char *)call->scratch + (size_t)(i % 2) * bytes_of(x);
        if (p->kind == CB_FILTER_CORRELATE) f.symmetry = symmetry_of(weights, f.n);
        run_axis(call, axes[i], &f, shape, from, to);
        weights += p->kind == CB_FILTER_CORRELATE ? f.n : 0;
        from = to;
    }
}

/* --- Boxes --------------------------------------------------------------------------------------------- */

/* Computes the offsets of the box's elements that the filter uses, in units of real numbers of x. Also gets their weights if
 * `numbers` is not NULL. */
static int64_t find_elements(const cb_filter_params *p, const cubed_block *x, int64_t *offsets,
                             double *numbers)
{
    const double *given = (const double *)(p + 1);
    const int parts = parts_of(x->dtype);
    int64_t at[CUBED_MAX_NDIM] = {0}, n = 0;
    for (size_t i = 0; i < box_of(p); i++) {
        int64_t offset = 0;
        for (int d = 0; d < x->ndim; d++) offset = offset * x->shape[d] + at[d];
        if (counts(p, i)) {
            if (numbers) numbers[n] = given[i];
            offsets[n++] = offset * parts;
        }
        for (int d = x->ndim - 1; d >= 0 && ++at[d] == size_of(p, d); d--) at[d] = 0;
    }
    return n;
}

static bool is_flat(const double *numbers, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (numbers[i] != 0) return false;
    return true;
}

static void run_boxes(const cubed_block_call *call)
{
    const cb_filter_params *p = call->params;
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    const filter_fns *fns = fns_of(x->dtype);
    const bool by_rank = p->kind == CB_FILTER_RANK;
    const size_t size = cubed_dtype_size(x->dtype);
    int64_t *offsets = call->scratch, at[CUBED_MAX_NDIM] = {0}, lines = 1;
    double *numbers = by_rank ? NULL : (double *)(offsets + box_of(p));
    box_filter f = {.n = find_elements(p, x, offsets, numbers),
                    .offsets = offsets,
                    .numbers = numbers,
                    .largest = p->kind == CB_FILTER_GREATEST};
    const box_fn fn = p->kind == CB_FILTER_WEIGHTS        ? fns->weigh
                      : !by_rank && is_flat(numbers, f.n) ? fns->flat
                                                          : fns->raised;
    const int64_t line = x->ndim ? y->shape[x->ndim - 1] : 1;
    for (int d = 0; d < x->ndim - 1; d++) lines *= y->shape[d];
    for (int64_t i = 0; i < lines && !cubed_block_cancelled(call); i++) {
        int64_t from = 0;
        for (int d = 0; d < x->ndim; d++) from = from * x->shape[d] + at[d];
        char *to = (char *)y->data + (size_t)(i * line) * size;
        const char *first = (const char *)x->data + (size_t)from * size;
        if (by_rank)
            fns->rank(to, first, offsets, f.n, p->rank, offsets + box_of(p), line);
        else
            fn(to, first, &f, line * parts_of(x->dtype));
        for (int d = x->ndim - 2; d >= 0 && ++at[d] == y->shape[d]; d--) at[d] = 0;
    }
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_filter_params *p = call->params;
    (void)ctx;
    (void)err;
    if (!call->out[0].data || bytes_of(&call->out[0]) == 0) return CUBED_OK;
    if (cb_filter_takes_box(p->kind))
        run_boxes(call);
    else
        run_axes(call);
    return CUBED_OK;
}

static const char *title(const void *params)
{
    static const char *const titles[CB_FILTER_KINDS] = {
        [CB_FILTER_CORRELATE] = "weighted filter", [CB_FILTER_MEAN] = "mean filter",
        [CB_FILTER_MIN] = "minimum filter",        [CB_FILTER_MAX] = "maximum filter",
        [CB_FILTER_RANK] = "rank filter",          [CB_FILTER_WEIGHTS] = "weighted filter",
        [CB_FILTER_LEAST] = "minimum filter",      [CB_FILTER_GREATEST] = "maximum filter"};
    return titles[((const cb_filter_params *)params)->kind];
}

const cubed_block_fn cb_block_filter = {
    .name = "filter", .check = check, .need = need, .run = run, .title = title, .divisible = true};
