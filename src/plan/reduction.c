#include "plan/reduction.h"

static cb_grid pick(const cb_grid *in, uint32_t mask, bool wanted)
{
    cb_grid g = {.ndim = 0};
    for (int d = 0; d < in->ndim; d++) {
        if (((mask >> d & 1) != 0) == wanted) g.axis[g.ndim++] = in->axis[d];
    }
    return g;
}

const char *cb_reduction_name(cb_reduction kind)
{
    static const char *const names[CB_REDUCTIONS] = {
        "sum", "prod", "min", "max", "variance", "argmin", "argmax", "nanvariance", "last"};
    return names[kind];
}

cb_grid cb_reduce_kept_grid(const cb_grid *in, uint32_t reduced)
{
    return pick(in, reduced, false);
}

cb_grid cb_reduced_grid(const cb_grid *in, uint32_t reduced) { return pick(in, reduced, true); }

cb_grid cb_reduce_partial_grid(const cb_grid *in, uint32_t reduced, int planes, int64_t span)
{
    cb_grid kept = pick(in, reduced, false), red = pick(in, reduced, true);
    /* The grid cannot have two more axes if 31 axes are kept; such reductions are not split (opt/split.c). */
    cb_grid g = {.ndim = (int)cb_min_i64(kept.ndim + 2, CUBED_MAX_NDIM)};
    g.axis[0] = cb_axis_regular(cb_ceil_div(cb_grid_count(&red), span), 1);
    g.axis[1] = cb_axis_regular(planes, planes);
    for (int d = 2; d < g.ndim; d++) g.axis[d] = kept.axis[d - 2];
    return g;
}

int64_t cb_reduce_span(int64_t nblocks, int64_t ngroups)
{
    for (int64_t span = CB_REDUCE_GROUP;; span *= CB_REDUCE_GROUP) {
        const int64_t groups = cb_ceil_div(nblocks, span);
        if (groups == ngroups) return span;
        if (groups < ngroups || span > INT64_MAX / CB_REDUCE_GROUP) return 0;
    }
}

int64_t cb_reduce_full_groups(const cb_grid *in, uint32_t reduced)
{
    const cb_grid g = pick(in, reduced, true);
    const int64_t count = cb_axis_count(&g.axis[0]), blocks = cb_grid_count(&g);
    if (count == 0) return 0;
    const int64_t last = cb_axis_hi(&g.axis[0], count - 1) - cb_axis_lo(&g.axis[0], count - 1);
    const int64_t full = last == g.axis[0].chunk ? count : count - 1;
    return full * (blocks / count) / CB_REDUCE_GROUP;
}

int cb_reduce_depth(int64_t span)
{
    int depth = 0;
    for (; span > 1; span /= CB_REDUCE_GROUP) depth++;
    return depth;
}

int cb_reduce_levels(int64_t nblocks)
{
    int levels = 1;
    for (int64_t n = cb_ceil_div(nblocks, CB_REDUCE_GROUP); n > 1;
         n = cb_ceil_div(n, CB_REDUCE_GROUP))
        levels++;
    return levels;
}

int cb_reduce_inner(const cb_grid *in, uint32_t reduced, bool *is_reduced)
{
    int first = in->ndim, kind = -1;
    for (int d = in->ndim - 1; d >= 0; d--) {
        if (in->axis[d].extent != 1) {
            int k = (int)(reduced >> d & 1);
            if (kind >= 0 && k != kind) break;
            kind = k;
        }
        first = d;
    }
    *is_reduced = kind == 1;
    return first;
}
