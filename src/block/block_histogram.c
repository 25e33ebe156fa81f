/* Counts elements, or sums their weights, in bins between edges or by integer value. Each call adds to the results of the
 * calls before. */
#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/functions.h"
#include "block/params.h"

static bool can_sum(cubed_dtype dtype)
{
    return dtype == CUBED_INT64 || dtype == CUBED_UINT64 || dtype == CUBED_FLOAT64;
}

/* Checks elements and optional weights; the output has counts or sums. */
static cubed_status check_operands(const cubed_block_call *call, cubed_dtype dtype,
                                   cubed_error *err)
{
    if (call->nin < 1 || call->nin > 2 || call->nout != 1)
        return cb_fail(err, CUBED_E_FORMAT, "the number of operands does not match the function");
    const cubed_block *x = &call->in[0], *weights = &call->in[1], *y = &call->out[0];
    if (x->dtype != dtype || y->ndim != 1 ||
        y->dtype != (call->nin == 2 ? weights->dtype : CUBED_INT64))
        return cb_fail(err, CUBED_E_FORMAT, "the types of operands do not match the function");
    if (call->nin == 1) return CUBED_OK;
    bool same = can_sum(weights->dtype) && weights->ndim == x->ndim;
    for (int d = 0; same && d < x->ndim; d++) same = weights->shape[d] == x->shape[d];
    return same ? CUBED_OK
                : cb_fail(err, CUBED_E_FORMAT,
                          "the type or shape of the weights does not match the function");
}

static int64_t count_of(const cubed_block *x) { return cb_block_extents(x, 0, x->ndim); }

/* Adds one element or its weight. Sums of integers are modulo 2**64. */
static void add(const cubed_block_call *call, int64_t bin, int64_t element)
{
    if (call->nin == 1)
        ((uint64_t *)call->out[0].data)[bin]++;
    else if (call->out[0].dtype == CUBED_FLOAT64)
        ((double *)call->out[0].data)[bin] += ((const double *)call->in[1].data)[element];
    else
        ((uint64_t *)call->out[0].data)[bin] += ((const uint64_t *)call->in[1].data)[element];
}

static void begin(const cubed_block_call *call)
{
    if (call->first) memset(call->out[0].data, 0, (size_t)call->out[0].shape[0] * sizeof(int64_t));
}

/* --- Between edges ----------------------------------------------------------------------------------- */

static cubed_status check_histogram(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_histogram_params *p = call->params;
    const double *edges = (const double *)(p + 1);
    (void)ctx;
    if (call->params_size < sizeof *p || p->bins < 1 || p->bins > INT32_MAX ||
        call->params_size != sizeof *p + ((size_t)p->bins + 1) * sizeof *edges)
        return cb_fail(err, CUBED_E_FORMAT, "the size of parameters does not match the function");
    for (int64_t i = 0; i < p->bins; i++) {
        if (!(edges[i] <= edges[i + 1]))
            return cb_fail(err, CUBED_E_ARG,
                           "edge %" PRId64 " is %g and the next edge %g, expected ascending edges",
                           i, edges[i], edges[i + 1]);
    }
    CB_TRY(check_operands(call, CUBED_FLOAT64, err));
    if (call->out[0].shape[0] != p->bins)
        return cb_fail(err, CUBED_E_FORMAT, "the shape of the result does not match the function");
    return CUBED_OK;
}

/* Returns the bin of a value between the first and the last edge. First guesses that bins have equal widths, then corrects. */
static int64_t find_bin(const double *edges, int64_t bins, double per_width, double v)
{
    double guess = (v - edges[0]) * per_width;
    int64_t lo = 0, hi = bins - 1, bin = guess >= 0 && guess < (double)bins ? (int64_t)guess : hi;
    if (edges[bin] <= v && (v < edges[bin + 1] || bin == hi)) return bin;
    while (lo < hi) {
        int64_t middle = lo + (hi - lo + 1) / 2;
        if (edges[middle] <= v)
            lo = middle;
        else
            hi = middle - 1;
    }
    return lo;
}

static cubed_status run_histogram(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_histogram_params *p = call->params;
    const double *edges = (const double *)(p + 1), *x = call->in[0].data;
    const double width = edges[p->bins] - edges[0];
    const double per_width = width > 0 ? (double)p->bins / width : 0;
    const int64_t n = count_of(&call->in[0]);
    (void)ctx;
    (void)err;
    if (!call->out[0].data) return CUBED_OK;
    begin(call);
    for (int64_t i = 0; i < n; i++) {
        if (x[i] >= edges[0] && x[i] <= edges[p->bins]) /* the condition is false for NaN */
            add(call, find_bin(edges, p->bins, per_width, x[i]), i);
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_histogram = {
    .name = "histogram", .check = check_histogram, .run = run_histogram};

/* --- Integers ----------------------------------------------------------------------------------------- */

static cubed_status check_bincount(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    if (call->params_size != 0) return cb_fail(err, CUBED_E_FORMAT, "the parameters are not empty");
    return check_operands(call, CUBED_INT64, err);
}

static cubed_status run_bincount(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const int64_t *x = call->in[0].data, n = count_of(&call->in[0]);
    const int64_t length = call->out[0].shape[0];
    (void)ctx;
    if (!call->out[0].data) return CUBED_OK;
    begin(call);
    for (int64_t i = 0; i < n; i++) {
        if (x[i] < 0 || x[i] >= length)
            return cb_fail(err, CUBED_E_ARG,
                           "an element is %" PRId64 ", expected 0 to %" PRId64 " for a result of "
                           "%" PRId64 " elements",
                           x[i], length - 1, length);
        add(call, x[i], i);
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_bincount = {
    .name = "bincount", .check = check_bincount, .run = run_bincount};
