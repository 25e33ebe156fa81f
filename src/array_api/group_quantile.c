/* Quantiles by group, computed from whole lines of elements. */
#include <inttypes.h>
#include <string.h>

#include "array_api/api_pkg.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "block/block_quantile.h"
#include "cubed/groupby.h"

static cubed_status check(const cubed_array *x, const cubed_groups *groups, int n, cubed_error *err)
{
    const cubed_array *codes = groups->codes;
    const int axis = groups->axis;
    const int64_t ngroups = groups->ngroups;
    int ndim = x->node.grid->ndim, naxes = codes->node.grid->ndim;
    if (axis < 0 || naxes < 1 || axis > ndim - naxes)
        return cb_fail(err, CUBED_E_ARG,
                       "group quantiles: codes have %d dimensions and start at axis %d, which "
                       "exceeds the %d axes of x",
                       naxes, axis, ndim);
    for (int d = 0; d < naxes; d++) {
        if (codes->shape[d] != x->shape[axis + d])
            return cb_fail(err, CUBED_E_ARG,
                           "group quantiles: there are %" PRId64 " codes for the %" PRId64
                           " elements of axis %d, expected one code for each",
                           codes->shape[d], x->shape[axis + d], axis + d);
    }
    if (n < 0 || ngroups < 0)
        return cb_fail(err, CUBED_E_ARG,
                       "group quantiles: there are %d quantiles and %" PRId64
                       " groups, expected 0 or more",
                       n, ngroups);
    if (ndim - naxes + 2 > CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "group quantiles: several quantiles add an axis, but x has %d dimensions, "
                       "expected fewer",
                       ndim);
    return CUBED_OK;
}

static void add_axis(cubed_block_output *out, int64_t *shape, int64_t *chunks, int *symbols,
                     int64_t extent, int64_t chunk, int symbol)
{
    shape[out->ndim] = extent;
    chunks[out->ndim] = chunk;
    symbols[out->ndim++] = symbol;
}

static cubed_status apply(cubed_array *x, cubed_array *codes, int axis,
                          const cb_group_quantile_params *g, size_t params_size, cubed_array **out,
                          cubed_error *err)
{
    int64_t chunks[CUBED_MAX_NDIM], shape[CUBED_MAX_NDIM], to_chunks[CUBED_MAX_NDIM];
    int symbols[CUBED_MAX_NDIM], to_symbols[CUBED_MAX_NDIM], whole[CUBED_MAX_NDIM];
    int naxes = codes->node.grid->ndim, count = (int)g->quantile.count;
    bool is_float = cubed_dtype_kind(x->node.dtype) == CUBED_KIND_FLOAT;
    size_t size = cubed_dtype_size(x->node.dtype);
    cubed_block_output to = {.dtype = is_float && !g->wide ? x->node.dtype : CUBED_FLOAT64,
                             .shape = shape,
                             .chunks = to_chunks,
                             .symbols = to_symbols};
    uint32_t mask = (uint32_t)(((uint64_t)1 << naxes) - 1) << axis;
    cb_api_blocks(x, mask, size, chunks);
    add_axis(&to, shape, to_chunks, to_symbols, count, cb_max_i64(1, count), -1);
    for (int d = 0; d < x->node.grid->ndim; d++) {
        symbols[d] = mask >> d & 1 ? -1 : d;
        if (d == axis)
            add_axis(&to, shape, to_chunks, to_symbols, g->ngroups, cb_max_i64(1, g->ngroups), -1);
        if (symbols[d] >= 0) add_axis(&to, shape, to_chunks, to_symbols, x->shape[d], chunks[d], d);
    }
    for (int d = 0; d < naxes; d++) whole[d] = -1;
    const cubed_block_input in[2] = {{x, symbols, chunks}, {codes, whole, chunks + axis}};
    const cubed_block_operation operation = {.function = "group_quantile",
                                             .params = g,
                                             .params_size = params_size,
                                             .inputs = in,
                                             .nin = 2,
                                             .outputs = &to,
                                             .nout = 1};
    return cubed_blockwise(x->ctx, &operation, out, err);
}

cubed_status cubed_group_quantiles(cubed_array *x, const cubed_groups *groups, const double *q,
                                   int n, bool wide, const cubed_quantile_options *options,
                                   cubed_array **out, cubed_error *err)
{
    cubed_quantile_options o = CUBED_QUANTILE_OPTIONS_INIT;
    cubed_array *numbers = NULL;
    cb_zone *zone;
    cubed_status st;
    CB_TRY(CB_OPTIONS_TAKE("group quantiles", options, &o, err));
    CB_TRY(check(x, groups, n, err));
    CB_TRY(cb_zone_new(&x->ctx->alloc, &zone, err));
    size_t listed = (size_t)n * sizeof *q;
    cb_group_quantile_params *g = cb_zone_alloc(zone, sizeof *g + listed);
    if (!g) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for quantiles"));
    *g = (cb_group_quantile_params){.ngroups = groups->ngroups,
                                    .wide = wide,
                                    .quantile = {.axis = groups->axis,
                                                 .naxes = groups->codes->node.grid->ndim,
                                                 .method = (int32_t)o.method,
                                                 .skip_nan = o.skip_nan,
                                                 .dtype = (int32_t)x->node.dtype,
                                                 .count = n}};
    memcpy(g + 1, q, listed);
    CB_GO(cb_quantile_check(&g->quantile, sizeof g->quantile + listed, err));
    CB_GO(cubed_astype(groups->codes, CUBED_INT64, &numbers, err));
    CB_GO(apply(x, numbers, groups->axis, g, sizeof *g + listed, out, err));
out:
    cubed_array_unref(numbers);
    cb_zone_free(zone);
    return st;
}
