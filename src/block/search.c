/* Finds the positions of values among sorted elements. Each call has one block of the sorted elements, and counts the
 * elements in it that precede a value. The counts of all blocks are added. */
#include <string.h>

#include "base/error.h"
#include "block/functions.h"
#include "block/params.h"
#include "dtype/element.h"

#define CB_SEARCH_JOIN(a, b)  a##_##b
#define CB_SEARCH_PASTE(a, b) CB_SEARCH_JOIN(a, b)

#define T         bool
#define TAG       b1
#define IS_NAN(x) false
#include "block/search.inc.h"
#define T         int8_t
#define TAG       i1
#define IS_NAN(x) false
#include "block/search.inc.h"
#define T         int16_t
#define TAG       i2
#define IS_NAN(x) false
#include "block/search.inc.h"
#define T         int32_t
#define TAG       i4
#define IS_NAN(x) false
#include "block/search.inc.h"
#define T         int64_t
#define TAG       i8
#define IS_NAN(x) false
#include "block/search.inc.h"
#define T         uint8_t
#define TAG       u1
#define IS_NAN(x) false
#include "block/search.inc.h"
#define T         uint16_t
#define TAG       u2
#define IS_NAN(x) false
#include "block/search.inc.h"
#define T         uint32_t
#define TAG       u4
#define IS_NAN(x) false
#include "block/search.inc.h"
#define T         uint64_t
#define TAG       u8
#define IS_NAN(x) false
#include "block/search.inc.h"
#define T         float
#define TAG       f4
#define IS_NAN(x) ((x) != (x))
#include "block/search.inc.h"
#define T         double
#define TAG       f8
#define IS_NAN(x) ((x) != (x))
#include "block/search.inc.h"

/* Finds the positions of strings, whose lengths may differ, by bisection. Adds the positions to `out`. */
static void search_texts(const cubed_block *x, const cubed_block *values, int64_t count, bool right,
                         int64_t *out)
{
    const char *from = x->data, *value = values->data;
    const size_t size = cubed_dtype_size(x->dtype), step = cubed_dtype_size(values->dtype);
    for (int64_t i = 0; i < count; i++, value += step) {
        int64_t lo = 0, hi = x->shape[0];
        while (lo < hi) {
            const int64_t half = lo + (hi - lo) / 2;
            const int order =
                cb_text_compare_two(x->dtype, from + (size_t)half * size, values->dtype, value);
            if (order < 0 || (right && order == 0))
                lo = half + 1;
            else
                hi = half;
        }
        out[i] += lo;
    }
}

typedef void (*search_fn)(const void *x, int64_t n, const void *values, int64_t count, bool right,
                          int64_t *out);

static const search_fn searches[CUBED_DTYPE_COUNT] = {
    [CUBED_BOOL] = search_b1,    [CUBED_INT8] = search_i1,    [CUBED_INT16] = search_i2,
    [CUBED_INT32] = search_i4,   [CUBED_INT64] = search_i8,   [CUBED_UINT8] = search_u1,
    [CUBED_UINT16] = search_u2,  [CUBED_UINT32] = search_u4,  [CUBED_UINT64] = search_u8,
    [CUBED_FLOAT32] = search_f4, [CUBED_FLOAT64] = search_f8,
};

static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_search_params *p = call->params;
    (void)ctx;
    if (call->params_size != sizeof *p || call->nin != 2 || call->nout != 1 || p->right >> 1)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    const cubed_block *x = &call->in[0], *v = &call->in[1], *y = &call->out[0];
    const bool texts = cubed_dtype_kind(x->dtype) == CUBED_KIND_TEXT;
    if (!texts && (x->dtype >= CUBED_DTYPE_COUNT || !searches[x->dtype]))
        return cb_fail(err, CUBED_E_TYPE, "the function is not defined for %s",
                       cubed_dtype_name(x->dtype));
    const bool same =
        texts ? cubed_dtype_family(v->dtype) == cubed_dtype_family(x->dtype) : v->dtype == x->dtype;
    if (x->ndim != 1 || v->ndim != y->ndim || !same || y->dtype != CUBED_INT64)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the types or dimensions of operands do not match the function");
    for (int d = 0; d < v->ndim; d++) {
        if (v->shape[d] != y->shape[d])
            return cb_fail(err, CUBED_E_FORMAT, "the shapes of operands do not match the function");
    }
    return CUBED_OK;
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_search_params *p = call->params;
    const cubed_block *x = &call->in[0], *v = &call->in[1];
    int64_t count = 1;
    (void)ctx;
    (void)err;
    for (int d = 0; d < v->ndim; d++) count *= v->shape[d];
    if (!call->out[0].data) return CUBED_OK;
    if (call->first) memset(call->out[0].data, 0, (size_t)count * sizeof(int64_t));
    if (cubed_dtype_kind(x->dtype) == CUBED_KIND_TEXT)
        search_texts(x, v, count, p->right, call->out[0].data);
    else
        searches[x->dtype](x->data, x->shape[0], v->data, count, p->right, call->out[0].data);
    return CUBED_OK;
}

const cubed_block_fn cb_block_searchsorted = {
    .name = "searchsorted", .check = check, .run = run, .divisible = true};
