/* States of reductions by group. They are computed by one operation on blocks, or, if there are too few tasks, by several
 * operations on parts of a grouped axis. */
#include "array_api/group_states.h"

#include <math.h>
#include <string.h>

#include "array_api/api_pkg.h"
#include "base/error.h"
#include "block/params.h"

/* The longest grouped axis is split into parts if there would be fewer tasks than LEAST_TASKS. The number of parts is limited, so
 * that the states of all parts are at most 1/STATE_FRACTION of the input. Both limits depend only on shapes, chunks and types, so
 * the order of additions does not depend on workers. */
#define LEAST_TASKS    16
#define STATE_FRACTION 8

static cubed_dtype plane_type(const cb_grouping *g, int plane)
{
    cubed_dtype x = g->x->node.dtype;
    bool sum = g->kind == CB_GROUP_SUM || g->kind == CB_GROUP_PROD;
    if (g->kind == CB_GROUP_COUNT || g->kind == CB_GROUP_M2) return CUBED_FLOAT64;
    if (plane == 0) return sum && x == CUBED_FLOAT32 ? CUBED_FLOAT64 : x;
    return g->kind >= CB_GROUP_ARGMIN ? CUBED_INT64 : CUBED_FLOAT64;
}

static bool is_grouped(const cb_grouping *g, int d)
{
    return d >= g->axis && d < g->axis + g->naxes;
}

static double state_bytes(const cb_grouping *g)
{
    double bytes = 8.0 * (double)g->ngroups * cb_group_planes(g->kind, g->variant);
    for (int d = 0; d < g->x->node.grid->ndim; d++) {
        if (!is_grouped(g, d)) bytes *= (double)g->chunks[d];
    }
    return bytes;
}

void cb_group_set_blocks(cb_grouping *g, uint64_t most)
{
    int ndim = g->x->node.grid->ndim;
    memcpy(g->chunks, g->x->chunks, sizeof g->chunks);
    for (int d = 0; d < ndim; d++) {
        double times = state_bytes(g) / (double)most;
        int64_t chunk = g->chunks[d],
                parts = (int64_t)ceil(times < (double)chunk ? times : (double)chunk);
        if (is_grouped(g, d) || parts < 2) continue;
        /* shorten blocks only to divisors of the chunk length: a block that crosses two chunks would read both */
        while (cb_axis_count(&g->x->node.grid->axis[d]) > 1 &&
               chunk % cb_ceil_div(chunk, parts) != 0)
            parts++;
        g->chunks[d] = cb_ceil_div(chunk, parts);
    }
}

/* Computes the states of one part: elements from `start` to `end` of the grouped axis `cut`. */
static void reduce_part(cb_steps *s, const cb_grouping *g, int cut, int64_t start, int64_t end,
                        cb_group_states *out)
{
    int ndim = g->x->node.grid->ndim, kept = ndim - g->naxes + 1;
    int planes = cb_group_planes(g->kind, g->variant), from[CUBED_MAX_NDIM], to[CUBED_MAX_NDIM];
    int64_t shape[CUBED_MAX_NDIM], chunks[CUBED_MAX_NDIM];
    const char *names[CUBED_MAX_NDIM];
    cubed_array *part = g->x, *codes = g->codes, *outs[CB_GROUP_MAX_PLANES] = {NULL};
    cubed_block_output outputs[CB_GROUP_MAX_PLANES];
    cubed_slice slices[CUBED_MAX_NDIM];
    cb_group_params params = {.ngroups = g->ngroups,
                              .axis = g->axis,
                              .naxes = g->naxes,
                              .kind = (int32_t)g->kind,
                              .variant = (int32_t)g->variant,
                              .time = g->time};
    for (int d = 0; d < ndim; d++) {
        slices[d] = (cubed_slice){0, g->x->shape[d], 1, false};
        from[d] = d;
    }
    for (int d = 0; d < g->naxes; d++) params.extent[d] = g->x->shape[g->axis + d];
    for (int d = 0; d < kept; d++) {
        int old = d <= g->axis ? d : d + g->naxes - 1;
        bool group = d == g->axis;
        to[d] = group ? -1 : old;
        shape[d] = group ? g->ngroups : g->x->shape[old];
        chunks[d] = cb_max_i64(1, group ? g->ngroups : g->chunks[old]);
        names[d] = group ? NULL : g->x->node.dim_names[old];
    }
    if (end - start < g->x->shape[cut]) {
        slices[cut] = (cubed_slice){start, end - start, 1, false};
        params.start[cut - g->axis] = start;
        cubed_status st = cubed_slice_array(g->x, slices, &part, s->err);
        part = cb_step(s, st, &part);
        if (!part) return;
        st = cubed_slice_array(g->codes, slices + g->axis, &codes, s->err);
        codes = cb_step(s, st, &codes);
    }
    if (s->st != CUBED_OK) return;
    for (int k = 0; k < planes; k++)
        outputs[k] = (cubed_block_output){plane_type(g, k), kept, shape, chunks, to, names};
    const cubed_block_input in[2] = {{part, from, g->chunks},
                                     {codes, from + g->axis, g->chunks + g->axis}};
    const cubed_block_operation operation = {.function = "group",
                                             .params = &params,
                                             .params_size = sizeof params,
                                             .inputs = in,
                                             .nin = 2,
                                             .outputs = outputs,
                                             .nout = planes};
    cubed_status st = cubed_blockwise(s->ctx, &operation, outs, s->err);
    for (int k = 0; k < planes; k++) out->plane[k] = cb_step(s, st, &outs[k]);
}

/* Returns the number of parts, and sets the axis to divide. */
static int64_t choose_parts(const cb_grouping *g, int *cut)
{
    const cubed_array *x = g->x;
    int64_t tasks = 1, most = 0, parts = 1;
    double states = (double)g->ngroups * 8 * cb_group_planes(g->kind, g->variant);
    double read = (double)cubed_dtype_size(x->node.dtype);
    *cut = g->axis;
    for (int d = 0; d < x->node.grid->ndim; d++) {
        int64_t n = cb_axis_count(&x->node.grid->axis[d]);
        if (!is_grouped(g, d)) {
            tasks = cb_min_i64(LEAST_TASKS, n) * tasks;
            tasks = cb_min_i64(LEAST_TASKS, tasks);
            continue;
        }
        read *= (double)x->shape[d];
        if (n > most) *cut = d;
        most = cb_max_i64(most, n);
    }
    while (parts * tasks < LEAST_TASKS && 2 * parts <= most &&
           (double)(2 * parts) * states * STATE_FRACTION <= read)
        parts *= 2;
    return parts;
}

void cb_group_reduce(cb_steps *s, const cb_grouping *g, cb_group_states *out)
{
    cb_group_states part[LEAST_TASKS] = {{{NULL}}};
    int cut;
    int64_t parts = choose_parts(g, &cut), chunk = g->x->chunks[cut];
    int64_t blocks = cb_ceil_div(g->x->shape[cut], chunk);
    for (int64_t k = 0; k < parts; k++) {
        int64_t start = blocks * k / parts * chunk, end = blocks * (k + 1) / parts * chunk;
        reduce_part(s, g, cut, start, cb_min_i64(end, g->x->shape[cut]), &part[k]);
    }
    for (int64_t n = parts; n > 1 && s->st == CUBED_OK; n /= 2) {
        for (int64_t k = 0; k < n / 2; k++) {
            cb_group_states both;
            cb_group_merge(s, g, &part[2 * k], &part[2 * k + 1], &both);
            part[k] = both;
        }
    }
    *out = part[0];
}
