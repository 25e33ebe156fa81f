/* Quantiles by group, for lines that are entirely in a block. The keys of a line are collected by group. Quantiles are then
 * selected from the keys of a group in the same way as from the keys of a whole line. */
#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/block_quantile.h"
#include "block/functions.h"
#include "block/select.h"

static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_group_quantile_params *g = call->params;
    const size_t own = sizeof *g - sizeof g->quantile;
    (void)ctx;
    if (call->nin != 2 || call->nout != 1 || call->params_size < sizeof *g || g->ngroups < 0 ||
        g->wide >> 1 || g->unused != 0)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    const cb_quantile_params *p = &g->quantile;
    const cubed_block *x = &call->in[0], *codes = &call->in[1], *y = &call->out[0];
    CB_TRY(cb_quantile_check(p, call->params_size - own, err));
    CB_TRY(cb_quantile_check_lines(p, x, err));
    bool is_float = cubed_dtype_kind(x->dtype) == CUBED_KIND_FLOAT;
    cb_quantile_layout s = cb_quantile_layout_of(p, x);
    bool same = codes->dtype == CUBED_INT64 && codes->ndim == p->naxes;
    for (int d = 0; d < p->naxes && same; d++) same = codes->shape[d] == x->shape[p->axis + d];
    size_t room = 1, results = cb_sat_mul((size_t)p->count, (size_t)g->ngroups);
    results = cb_sat_mul(results, cb_sat_mul((size_t)s.outer, (size_t)s.inner));
    for (int d = 0; d < y->ndim; d++) room = cb_sat_mul(room, (size_t)y->shape[d]);
    if (!same || room != results || y->dtype != (is_float && !g->wide ? x->dtype : CUBED_FLOAT64))
        return cb_fail(err, CUBED_E_FORMAT,
                       "the shapes or types of operands do not match the function");
    return CUBED_OK;
}

/* Layout of the scratch memory: offsets of the starts of groups, of the new index of each element, and of the lines of keys.
 * After the keys of all lines come a line that is ordered by group and a temporary line. */
typedef struct layout {
    size_t starts, places, keys, size;
} layout;

static layout layout_of(const cubed_block_call *call, cb_quantile_layout s, size_t stride)
{
    const cb_group_quantile_params *g = call->params;
    size_t lines = (size_t)cb_quantile_lines(s.inner, cubed_dtype_size(call->in[0].dtype));
    layout l = {.starts = 0};
    l.places = cb_sat_mul(cb_sat_add((size_t)g->ngroups, 1), sizeof(uint32_t));
    l.keys = cb_sat_add(l.places, cb_sat_mul((size_t)s.n, sizeof(uint32_t)));
    l.keys = cb_sat_mul(cb_sat_add(l.keys, 63) / 64, 64);
    l.size = cb_sat_add(l.keys, cb_sat_mul(lines + 2, stride));
    return l;
}

static cubed_block_need need(const cubed_block_call *call, void *ctx)
{
    const cb_group_quantile_params *g = call->params;
    cb_quantile_layout s = cb_quantile_layout_of(&g->quantile, &call->in[0]);
    size_t stride = cb_quantile_stride(s.n, cubed_dtype_size(call->in[0].dtype));
    (void)ctx;
    return (cubed_block_need){layout_of(call, s, stride).size, 0};
}

/* Counting sort by group: computes the starts of all groups, the end of the last group, and the new index of each element. */
static cubed_status place_elements(const int64_t *codes, int64_t n, int64_t ngroups,
                                   uint32_t *starts, uint32_t *places, cubed_error *err)
{
    memset(starts, 0, ((size_t)ngroups + 1) * sizeof *starts);
    for (int64_t i = 0; i < n; i++) {
        if (codes[i] >= ngroups)
            return cb_fail(err, CUBED_E_INDEX,
                           "group %" PRId64 " is out of range for %" PRId64 " groups", codes[i],
                           ngroups);
        if (codes[i] >= 0) starts[codes[i]]++;
    }
    uint32_t end = 0;
    for (int64_t k = 0; k <= ngroups; k++) {
        uint32_t count = starts[k];
        starts[k] = end;
        end += count;
    }
    for (int64_t i = 0; i < n; i++)
        places[i] = codes[i] >= 0 ? starts[codes[i]]++ : CB_SELECT_NOWHERE;
    memmove(starts + 1, starts,
            /* shifts the ends of groups, which are the starts of the next groups */
            (size_t)ngroups * sizeof *starts);
    starts[0] = 0;
    return CUBED_OK;
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_group_quantile_params *g = call->params;
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    cb_quantile_layout s = cb_quantile_layout_of(&g->quantile, x);
    size_t size = cubed_dtype_size(x->dtype), step = cubed_dtype_size(y->dtype);
    size_t stride = cb_quantile_stride(s.n, size);
    layout at = layout_of(call, s, stride);
    int64_t at_a_time = cb_quantile_lines(s.inner, size);
    uint32_t *starts = (uint32_t *)call->scratch;
    uint32_t *places = (uint32_t *)((char *)call->scratch + at.places);
    char *keys = (char *)call->scratch + at.keys, *grouped = keys + (size_t)at_a_time * stride;
    (void)ctx;
    if (!y->data) return CUBED_OK;
    CB_TRY(place_elements(call->in[1].data, s.n, g->ngroups, starts, places, err));
    for (int64_t i = 0; i < s.outer; i++) {
        for (int64_t k = 0; k < s.inner; k += at_a_time) {
            int lines = cb_quantile_make_keys(&s, x, i, k, at_a_time, keys);
            for (int l = 0; l < lines; l++) {
                char *out = (char *)y->data + (size_t)(i * g->ngroups * s.inner + k + l) * step;
                cb_select_width_of(size)->scatter(keys + (size_t)l * stride, s.n, places, grouped);
                for (int64_t j = 0; j < g->ngroups; j++, out += (size_t)s.inner * step)
                    cb_quantile_of_keys(&g->quantile, y->dtype, grouped + starts[j] * size,
                                        starts[j + 1] - starts[j], grouped + stride, out,
                                        (size_t)(s.outer * g->ngroups * s.inner) * step);
            }
        }
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_group_quantile = {
    .name = "group_quantile", .check = check, .need = need, .run = run, .divisible = true};
