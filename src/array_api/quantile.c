/* Quantiles along axes. */
#include <string.h>

#include "array_api/lines.h"
#include "array_api/time_quantiles.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "block/block_quantile.h"

static const char *const method_names[CUBED_QUANTILE_METHOD_COUNT] = {
#define CUBED_QUANTILE(NAME, name, number, discrete) [number] = #name,
#include "cubed/quantiles.def"
#undef CUBED_QUANTILE
};

const char *cb_api_quantile_method_name(cubed_quantile_method method)
{
    return method_names[method];
}

bool cubed_quantile_method_parse(const char *name, cubed_quantile_method *method)
{
    for (int i = 0; i < CUBED_QUANTILE_METHOD_COUNT; i++) {
        if (strcmp(method_names[i], name) != 0) continue;
        *method = (cubed_quantile_method)i;
        return true;
    }
    return false;
}

/* Reduced axes that are not next to each other go behind the others. */
static cubed_status find_lines(cubed_array *x, uint32_t reduced, cb_lines *out, cubed_error *err)
{
    int ndim = x->node.grid->ndim, n = 0;
    *out = (cb_lines){.n = __builtin_popcount(reduced), .first = ndim};
    for (int d = 0; d < ndim; d++) {
        if (reduced >> d & 1 && d < out->first) out->first = d;
        out->axis[d] = d;
    }
    if (out->n == 0 || (uint64_t)reduced >> out->first == ((uint64_t)1 << out->n) - 1) {
        out->x = cubed_array_ref(x);
        return CUBED_OK;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int d = 0; d < ndim; d++) {
            if ((int)(reduced >> d & 1) == pass) out->axis[n++] = d;
        }
    }
    out->first = ndim - out->n;
    return cubed_permute_dims(x, out->axis, &out->x, err);
}

/* Axes of a result: for each quantile (`count` of them, or -1: of one, without an axis), of what is not
 * reduced. */
typedef struct result {
    int ndim;
    int64_t shape[CUBED_MAX_NDIM + 1], chunks[CUBED_MAX_NDIM + 1];
    int symbols[CUBED_MAX_NDIM + 1];
    const char *names[CUBED_MAX_NDIM + 1];
} result;

static void add_axis(result *r, int64_t extent, int64_t chunk, int symbol, const char *name)
{
    r->shape[r->ndim] = extent;
    r->chunks[r->ndim] = chunk;
    r->symbols[r->ndim] = symbol;
    r->names[r->ndim++] = name;
}

static void set_result(const cubed_array *x, uint32_t reduced, int count, bool keepdims,
                       const int64_t *chunks, result *r)
{
    *r = (result){.ndim = 0};
    if (count >= 0) add_axis(r, count, cb_max_i64(1, count), -1, NULL);
    for (int d = 0; d < x->node.grid->ndim; d++) {
        if (!(reduced >> d & 1))
            add_axis(r, x->shape[d], chunks[d], d, x->node.dim_names[d]);
        else if (keepdims)
            add_axis(r, 1, 1, -1, x->node.dim_names[d]);
    }
}

/* How many bytes of x one result is made of, at most SIZE_MAX. */
static size_t line_bytes(const cb_lines *l)
{
    size_t bytes = cubed_dtype_size(l->x->node.dtype);
    for (int d = l->first; d < l->first + l->n; d++)
        bytes = cb_sat_mul(bytes, (size_t)l->x->shape[d]);
    return bytes;
}

/* All elements of a result in one block. */
static cubed_status by_selection(const cb_lines *l, const cb_quantile_params *p, size_t params_size,
                                 const int64_t *chunks, const cubed_block_output *to,
                                 cubed_array **out, cubed_error *err)
{
    int symbols[CUBED_MAX_NDIM];
    int64_t blocks[CUBED_MAX_NDIM];
    for (int d = 0; d < l->x->node.grid->ndim; d++) {
        blocks[d] = chunks[l->axis[d]];
        symbols[d] = cb_lines_reduces(l, d) ? -1 : l->axis[d];
    }
    const cubed_block_input in = {l->x, symbols, blocks};
    const cubed_block_operation operation = {.function = "quantile",
                                             .params = p,
                                             .params_size = params_size,
                                             .inputs = &in,
                                             .nin = 1,
                                             .outputs = to,
                                             .nout = 1};
    return cubed_blockwise(l->x->ctx, &operation, out, err);
}

static cubed_status by_counting(const cb_lines *l, const cb_quantile_params *p, size_t params_size,
                                uint64_t memory, const cubed_block_output *to, cubed_array **out,
                                cubed_error *err)
{
    cubed_array *state;
    int symbols[CUBED_MAX_NDIM], n = 0;
    CB_TRY(cb_api_count_keys(l, p, params_size, memory, &state, err));
    for (int d = 0; d < l->x->node.grid->ndim; d++) {
        if (!cb_lines_reduces(l, d)) symbols[n++] = l->axis[d];
    }
    symbols[n] = -1;
    const cubed_block_input in = {state, symbols, NULL};
    const cubed_block_operation operation = {.function = "find_keys",
                                             .params = p,
                                             .params_size = params_size,
                                             .inputs = &in,
                                             .nin = 1,
                                             .outputs = to,
                                             .nout = 1};
    cubed_status st = cubed_blockwise(state->ctx, &operation, out, err);
    cubed_array_unref(state);
    return st;
}

static cubed_status along_lines(const cb_lines *l, cubed_array *x, uint32_t reduced,
                                cb_quantile_params *p, size_t params_size, int count,
                                const cubed_quantile_options *o, cubed_array **out,
                                cubed_error *err)
{
    int64_t chunks[CUBED_MAX_NDIM];
    uint64_t most = cb_api_line_bytes(o->task_mem);
    bool counted = line_bytes(l) > most;
    result r;
    p->axis = l->first;
    p->naxes = l->n;
    if (counted)
        memcpy(chunks, x->chunks, sizeof chunks);
    else
        cb_api_blocks(x, reduced, cubed_dtype_size(x->node.dtype), chunks);
    set_result(x, reduced, count, o->keepdims, chunks, &r);
    const cubed_block_output to = {
        cb_quantile_dtype(p), r.ndim, r.shape, r.chunks, r.symbols, r.names};
    return counted ? by_counting(l, p, params_size, most, &to, out, err)
                   : by_selection(l, p, params_size, chunks, &to, out, err);
}

/* --- Of one q, and of several ----------------------------------------------------------------------------------- */

static cubed_status quantiles(cubed_array *x, const double *q, int n, bool in_front,
                              const cubed_quantile_options *options, cubed_array **out,
                              cubed_error *err)
{
    cubed_quantile_options o = CUBED_QUANTILE_OPTIONS_INIT;
    uint32_t reduced = 0;
    int ndim = x->node.grid->ndim;
    CB_TRY(CB_OPTIONS_TAKE("quantile", options, &o, err));
    if (n < 0) return cb_fail(err, CUBED_E_ARG, "quantile: %d quantiles", n);
    if (ndim + in_front > CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "quantile: several quantiles of %d dimensions",
                       ndim);
    if (o.axes)
        CB_TRY(cb_api_axes("quantile", ndim, o.axes, o.naxes, &reduced, err));
    else
        reduced = (uint32_t)((uint64_t)1 << ndim) - 1;
    if (cubed_dtype_kind(x->node.dtype) == CUBED_KIND_TIME)
        return cb_api_time_quantiles(x, q, n, in_front, &o, reduced, out, err);
    size_t size = sizeof(cb_quantile_params) + (size_t)n * sizeof *q;
    cb_zone *zone;
    cb_lines l;
    CB_TRY(cb_zone_new(&x->ctx->alloc, &zone, err));
    cb_quantile_params *p = cb_zone_alloc(zone, size);
    cubed_status st = p ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory for quantiles");
    if (p) {
        *p = (cb_quantile_params){.method = (int32_t)o.method,
                                  .skip_nan = o.skip_nan,
                                  .dtype = (int32_t)x->node.dtype,
                                  .wide = in_front, /* as NumPy has it */
                                  .count = n};
        memcpy(p + 1, q, (size_t)n * sizeof *q);
        st = cb_quantile_check(p, size, err);
        if (st != CUBED_OK) st = cb_context(err, st, "quantile");
    }
    if (st == CUBED_OK) st = find_lines(x, reduced, &l, err);
    if (st == CUBED_OK) {
        st = along_lines(&l, x, reduced, p, size, in_front ? n : -1, &o, out, err);
        cubed_array_unref(l.x);
    }
    cb_zone_free(zone);
    return st;
}

cubed_status cubed_quantiles(cubed_array *x, const double *q, int n,
                             const cubed_quantile_options *options, cubed_array **out,
                             cubed_error *err)
{
    return quantiles(x, q, n, true, options, out, err);
}

cubed_status cubed_quantile(cubed_array *x, double q, const cubed_quantile_options *options,
                            cubed_array **out, cubed_error *err)
{
    return quantiles(x, &q, 1, false, options, out, err);
}

cubed_status cubed_median(cubed_array *x, const cubed_quantile_options *options, cubed_array **out,
                          cubed_error *err)
{
    cubed_quantile_options o = CUBED_QUANTILE_OPTIONS_INIT;
    char text[CUBED_DTYPE_TEXT_CAP];
    CB_TRY(CB_OPTIONS_TAKE("median", options, &o, err));
    o.method = CUBED_QUANTILE_LINEAR;
    if (cubed_dtype_family(x->node.dtype) == CUBED_TIMEDELTA64)
        return cb_api_time_median(x, &o, out, err);
    if (cubed_dtype_family(x->node.dtype) == CUBED_DATETIME64)
        return cb_fail(err, CUBED_E_TYPE, "median is not defined for %s: quantile(x, 0.5) is",
                       cubed_dtype_text(x->node.dtype, text));
    return cubed_quantile(x, 0.5, &o, out, err);
}
