/* Histograms, and counts of integers. */
#include <string.h>

#include "array_api/api_pkg.h"
#include "base/error.h"
#include "block/params.h"

/* Number of pieces along the first axis in which an array is counted, so that more tasks run in parallel. The counts of the
 * pieces are added. */
#define PIECES 8

typedef struct histogram {
    const char *function;
    const void *params;
    size_t params_size;
    int64_t bins;
    cubed_dtype sum; /* type of the sums of weights in bins */
    /* x and weights in types that the function supports; weights may be NULL */
    cubed_array *x, *weights;
} histogram;

static cubed_status count_piece(const histogram *h, cubed_array *x, cubed_array *weights,
                                cubed_array **out, cubed_error *err)
{
    int symbols[CUBED_MAX_NDIM];
    const int whole = -1;
    const int64_t chunk = cb_max_i64(1, h->bins);
    for (int d = 0; d < x->node.grid->ndim; d++) symbols[d] = d;
    const cubed_block_input in[2] = {{x, symbols, x->chunks}, {weights, symbols, x->chunks}};
    const cubed_block_output to = {
        weights ? h->sum : CUBED_INT64, 1, &h->bins, &chunk, &whole, NULL};
    const cubed_block_operation operation = {.function = h->function,
                                             .params = h->params,
                                             .params_size = h->params_size,
                                             .inputs = in,
                                             .nin = weights ? 2 : 1,
                                             .outputs = &to,
                                             .nout = 1};
    return cubed_blockwise(x->ctx, &operation, out, err);
}

static cubed_status cut(cubed_array *x, int64_t from, int64_t to, cubed_array **out,
                        cubed_error *err)
{
    cubed_slice slices[CUBED_MAX_NDIM];
    for (int d = 0; d < x->node.grid->ndim; d++)
        slices[d] = (cubed_slice){0, x->shape[d], 1, false};
    slices[0].start = from;
    slices[0].len = to - from;
    return cubed_slice_array(x, slices, out, err);
}

/* Adds the counts of rows from..to-1 to *total, which is NULL before the first piece. */
static cubed_status add_piece(const histogram *h, int64_t from, int64_t to, cubed_array **total,
                              cubed_error *err)
{
    cubed_array *x = NULL, *weights = NULL, *counts = NULL, *sum = NULL;
    cubed_status st = CUBED_OK;
    CB_GO(cut(h->x, from, to, &x, err));
    if (h->weights) CB_GO(cut(h->weights, from, to, &weights, err));
    CB_GO(count_piece(h, x, weights, &counts, err));
    cubed_array *both[2] = {*total, counts};
    if (*total) CB_GO(cubed_elementwise(CUBED_OP_ADD, both, 2, &sum, err));
    cubed_array_unref(*total);
    *total = sum ? sum : cubed_array_ref(counts);
out:
    cubed_array_unref(x);
    cubed_array_unref(weights);
    cubed_array_unref(counts);
    return st;
}

static cubed_status count_all(const histogram *h, cubed_array **out, cubed_error *err)
{
    const cubed_array *x = h->x;
    cubed_array *total = NULL;
    cubed_status st = CUBED_OK;
    if (x->node.grid->ndim == 0 || x->shape[0] <= x->chunks[0])
        return count_piece(h, h->x, h->weights, out, err);
    int64_t extent = x->shape[0], chunk = x->chunks[0];
    int64_t rows = chunk * cb_ceil_div(cb_ceil_div(extent, chunk), PIECES);
    for (int64_t at = 0; at < extent && st == CUBED_OK; at += rows)
        st = add_piece(h, at, cb_min_i64(extent, at + rows), &total, err);
    if (st == CUBED_OK)
        *out = total;
    else
        cubed_array_unref(total);
    return st;
}

/* Counts elements, or sums weights. The types of both are supported by the block function. */
static cubed_status count_in_type(histogram *h, cubed_array *x, cubed_array *weights,
                                  cubed_dtype dtype, cubed_array **out, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    if (weights) {
        bool same = weights->node.grid->ndim == x->node.grid->ndim;
        for (int d = 0; same && d < x->node.grid->ndim; d++)
            same = weights->shape[d] == x->shape[d];
        if (!same)
            return cb_fail(err, CUBED_E_ARG,
                           "%s: weights have another shape than x, expected the same shape",
                           h->function);
        if (cubed_dtype_kind(weights->node.dtype) > CUBED_KIND_FLOAT)
            return cb_fail(err, CUBED_E_TYPE, "%s: weights are %s, expected real numbers",
                           h->function, cubed_dtype_name(weights->node.dtype));
    }
    CB_GO(cubed_astype(x, dtype, &h->x, err));
    if (weights) CB_GO(cubed_astype(weights, h->sum, &h->weights, err));
    CB_GO(count_all(h, out, err));
out:
    cubed_array_unref(h->x);
    cubed_array_unref(h->weights);
    return st;
}

/* Returns the type for sums of numbers of type `dtype`. It represents the sums without loss of digits, if such a type exists. */
static cubed_dtype sum_dtype(cubed_dtype dtype)
{
    switch (cubed_dtype_kind(dtype)) {
    case CUBED_KIND_BOOL:
    case CUBED_KIND_INT: return CUBED_INT64;
    case CUBED_KIND_UINT: return CUBED_UINT64;
    default: return CUBED_FLOAT64;
    }
}

cubed_status cubed_histogram(cubed_array *x, const double *edges, int64_t bins,
                             cubed_array *weights, cubed_array **out, cubed_error *err)
{
    cb_zone *zone;
    if (bins < 1 || bins > INT32_MAX)
        return cb_fail(err, CUBED_E_ARG, "histogram: %lld bins, expected 1 to 2**31 - 1",
                       (long long)bins);
    if (cubed_dtype_kind(x->node.dtype) > CUBED_KIND_FLOAT)
        return cb_fail(err, CUBED_E_TYPE, "histogram is not defined for %s, expected real numbers",
                       cubed_dtype_name(x->node.dtype));
    size_t size = sizeof(cb_histogram_params) + ((size_t)bins + 1) * sizeof *edges;
    CB_TRY(cb_zone_new(&x->ctx->alloc, &zone, err));
    cb_histogram_params *p = cb_zone_alloc(zone, size);
    cubed_status st;
    if (p) {
        histogram h = {.function = "histogram", .params = p, .params_size = size, .bins = bins};
        cubed_array *sums = NULL;
        cubed_dtype result = CUBED_INT64;
        if (weights) {
            h.sum = sum_dtype(weights->node.dtype);
            if (weights->node.dtype != CUBED_BOOL) result = weights->node.dtype;
        }
        p->bins = bins;
        memcpy(p + 1, edges, size - sizeof *p);
        st = count_in_type(&h, x, weights, CUBED_FLOAT64, &sums, err);
        if (st == CUBED_OK) st = cubed_astype(sums, result, out, err);
        cubed_array_unref(sums);
    } else {
        st = cb_fail(err, CUBED_E_NOMEM, "no memory for a histogram");
    }
    cb_zone_free(zone);
    return st;
}

cubed_status cubed_bincount(cubed_array *x, int64_t length, cubed_array *weights, cubed_array **out,
                            cubed_error *err)
{
    histogram h = {.function = "bincount", .bins = length, .sum = CUBED_FLOAT64};
    if (length < 0)
        return cb_fail(err, CUBED_E_ARG, "bincount: length is %lld, expected >= 0",
                       (long long)length);
    if (cubed_dtype_kind(x->node.dtype) > CUBED_KIND_UINT)
        return cb_fail(err, CUBED_E_TYPE, "bincount is not defined for %s, expected integers",
                       cubed_dtype_name(x->node.dtype));
    return count_in_type(&h, x, weights, CUBED_INT64, out, err);
}
