/* Quantiles of numbers along axes. */
#include "array_api/number_quantiles.h"

#include <string.h>

#include "array_api/lines.h"
#include "base/checked.h"
#include "base/error.h"
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

/* Sets out->x to x. If the reduced axes are not adjacent, moves them after the other axes. */
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

/* The axes of a result: one axis of extent `count` for the quantiles (none if `count` is -1), then the axes that are not
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

/* Returns the number of bytes of x per line, at most SIZE_MAX. */
static size_t line_bytes(const cb_lines *l)
{
    size_t bytes = cubed_dtype_size(l->x->node.dtype);
    for (int d = l->first; d < l->first + l->n; d++)
        bytes = cb_sat_mul(bytes, (size_t)l->x->shape[d]);
    return bytes;
}

/* Computes quantiles by a block function that gets whole lines. */
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

static cubed_status along_lines(const cb_lines *l, cubed_array *x, const cb_quantiles *wanted,
                                cb_quantile_params *p, size_t params_size, cubed_array **out,
                                cubed_error *err)
{
    const cubed_quantile_options *o = &wanted->o;
    int64_t chunks[CUBED_MAX_NDIM];
    uint64_t most = cb_api_line_bytes(o->task_mem);
    bool counted = line_bytes(l) > most;
    result r;
    p->axis = l->first;
    p->naxes = l->n;
    if (counted)
        memcpy(chunks, x->chunks, sizeof chunks);
    else
        cb_api_blocks(x, wanted->reduced, cubed_dtype_size(x->node.dtype), chunks);
    set_result(x, wanted->reduced, wanted->in_front ? wanted->n : -1, o->keepdims, chunks, &r);
    const cubed_block_output to = {
        cb_quantile_dtype(p), r.ndim, r.shape, r.chunks, r.symbols, r.names};
    return counted ? by_counting(l, p, params_size, most, &to, out, err)
                   : by_selection(l, p, params_size, chunks, &to, out, err);
}

cubed_status cb_api_number_quantiles(cubed_array *x, const cb_quantiles *wanted, cubed_array **out,
                                     cubed_error *err)
{
    const size_t bytes = (size_t)wanted->n * sizeof *wanted->q;
    const size_t size = sizeof(cb_quantile_params) + bytes;
    cb_zone *zone;
    cb_lines l;
    CB_TRY(cb_zone_new(&x->ctx->alloc, &zone, err));
    cb_quantile_params *p = cb_zone_alloc(zone, size);
    cubed_status st = p ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory for quantiles");
    if (p) {
        *p = (cb_quantile_params){.method = (int32_t)wanted->o.method,
                                  .skip_nan = wanted->o.skip_nan,
                                  .dtype = (int32_t)x->node.dtype,
                                  /* like NumPy, returns float64 if the quantiles are a list */
                                  .wide = wanted->in_front,
                                  .count = wanted->n};
        memcpy(p + 1, wanted->q, bytes);
        st = cb_quantile_check(p, size, err);
        if (st != CUBED_OK) st = cb_context(err, st, "quantile");
    }
    if (st == CUBED_OK) st = find_lines(x, wanted->reduced, &l, err);
    if (st == CUBED_OK) {
        st = along_lines(&l, x, wanted, p, size, out, err);
        cubed_array_unref(l.x);
    }
    cb_zone_free(zone);
    return st;
}
