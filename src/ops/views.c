#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "ops/ops_pkg.h"

cubed_status cb_op_view(cubed_array *x, const cb_map *map, const cb_grid *grid,
                        const char *const *names, cubed_array **out, cubed_error *err)
{
    cb_node n = {.kind = CB_NODE_VIEW,
                 .dtype = x->node.dtype,
                 .grid = grid,
                 .ninputs = 1,
                 .map = map,
                 .attrs = x->node.attrs,
                 .fields = x->node.fields};
    cb_op_keep_fill(x, &n);
    n.dim_names = names;
    cubed_array *in = x;
    cb_map composed;
    if (x->node.kind == CB_NODE_VIEW && cb_op_is_seen_through(x)) {
        CB_TRY(cb_map_compose(x->node.map, map, &composed, err));
        n.map = &composed;
        in = x->in[0];
    }
    return cb_graph_add(x->ctx, &n, &in, out, err);
}

cubed_status cb_op_axes(const char *what, int ndim, const int *axes, int n, uint32_t *mask,
                        cubed_error *err)
{
    *mask = 0;
    for (int i = 0; i < n; i++) {
        int a = axes[i] < 0 ? axes[i] + ndim : axes[i];
        if (a < 0 || a >= ndim)
            return cb_fail(err, CUBED_E_AXIS, "%s: axis %d is out of range for %d dimension%s",
                           what, axes[i], ndim, ndim == 1 ? "" : "s");
        if (*mask >> a & 1)
            return cb_fail(err, CUBED_E_ARG, "%s: axis %d is given twice", what, axes[i]);
        *mask |= (uint32_t)1 << a;
    }
    return CUBED_OK;
}

/* Slices an irregular axis; *zone, created on first use, has the lists. */
static cubed_status irregular_axis(cubed_context *ctx, cb_zone **zone, const cb_axis *a,
                                   int64_t offset, int64_t stride, int64_t extent, cb_axis *out,
                                   cubed_error *err)
{
    if (!*zone) CB_TRY(cb_zone_new(&ctx->alloc, zone, err));
    return cb_axis_slice(*zone, a, offset, stride, extent, out, err);
}

/* Returns the chunks of a view along an axis: `extent` elements of a source axis from `offset` on, `stride` apart. */
static cb_axis view_axis(const cb_axis *a, int64_t offset, int64_t stride, int64_t extent)
{
    if (extent == 0) return cb_axis_regular(0, a->chunk);
    int64_t i = cb_axis_find(a, offset), step = stride < 0 ? -stride : stride;
    /* Elements of the source from the first one to the end of its chunk, in the view's direction. */
    int64_t left = stride < 0 ? offset - cb_axis_lo(a, i) + 1 : cb_axis_hi(a, i) - offset;
    cb_axis v = {.extent = extent,
                 .first = cb_ceil_div(left, step),
                 .chunk = cb_max_i64(1, a->chunk / step)};
    /* If the step does not divide the chunk length, the view's chunks would not end at ends of source chunks. So regular chunks
     * cost no additional reads. */
    if (v.first > v.chunk || a->chunk % step != 0) v.first = v.chunk;
    return v;
}

cubed_status cubed_slice_resolve(const int64_t *start, const int64_t *stop, const int64_t *step,
                                 int64_t extent, cubed_slice *out, cubed_error *err)
{
    int64_t s = step ? *step : 1;
    if (s == 0) return cb_fail(err, CUBED_E_ARG, "slice: the step is 0");
    if (s < -INT64_MAX) s = -INT64_MAX;
    /* The same rules as CPython's PySlice_AdjustIndices. */
    int64_t lowest = s < 0 ? -1 : 0, highest = s < 0 ? extent - 1 : extent;
    int64_t a = s < 0 ? highest : lowest, b = s < 0 ? lowest : highest;
    if (start) {
        a = *start < 0 ? *start + extent : *start;
        a = cb_min_i64(cb_max_i64(a, lowest), highest);
    }
    if (stop) {
        b = *stop < 0 ? *stop + extent : *stop;
        b = cb_min_i64(cb_max_i64(b, lowest), highest);
    }
    int64_t len = s < 0 ? (b < a ? (a - b - 1) / -s + 1 : 0) : (a < b ? (b - a - 1) / s + 1 : 0);
    *out = (cubed_slice){a, len, s, false};
    return CUBED_OK;
}

cubed_status cubed_slice_array(cubed_array *x, const cubed_slice *slices, cubed_array **out,
                               cubed_error *err)
{
    int ndim = x->node.grid->ndim;
    cb_map map = {.ndim_out = ndim};
    cb_grid grid = {.ndim = 0};
    const char *names[CUBED_MAX_NDIM];
    cb_zone *zone = NULL;
    cubed_status st = CUBED_OK;
    for (int d = 0; d < ndim; d++) {
        const cubed_slice *s = &slices[d];
        const cb_axis *a = &x->node.grid->axis[d];
        int64_t last = 0;
        bool fits = s->len >= 0 && (s->len == 0 || (!cb_mul_i64(s->step, s->len - 1, &last) &&
                                                    !cb_add_i64(last, s->start, &last)));
        if (!fits || (s->len > 0 &&
                      (s->start < 0 || s->start >= x->shape[d] || last < 0 || last >= x->shape[d])))
            CB_GO(cb_fail(err, CUBED_E_INDEX,
                          "slice: %" PRId64 " elements from position %" PRId64 " with step %" PRId64
                          " are out of bounds for axis %d of extent %" PRId64,
                          s->len, s->start, s->step, d, x->shape[d]));
        if (s->drop && s->len != 1)
            CB_GO(cb_fail(err, CUBED_E_ARG,
                          "slice: cannot drop axis %d, which has %" PRId64 " elements, expected 1",
                          d, s->len));
        map.dim[d].offset = s->len ? s->start : 0;
        map.dim[d].axis = -1;
        if (s->drop) continue;
        map.dim[d].axis = grid.ndim;
        map.dim[d].stride = s->len > 1 ? s->step : 1;
        names[grid.ndim] = x->node.dim_names[d];
        cb_axis *to = &grid.axis[grid.ndim++];
        if (a->starts && s->len > 0)
            CB_GO(irregular_axis(x->ctx, &zone, a, map.dim[d].offset, map.dim[d].stride, s->len, to,
                                 err));
        else
            *to = view_axis(a, map.dim[d].offset, map.dim[d].stride, s->len);
    }
    map.ndim_in = grid.ndim;
    st = cb_op_view(x, &map, &grid, names, out, err);
out:
    cb_zone_free(zone);
    return st;
}

cubed_status cubed_permute_dims(cubed_array *x, const int *axes, cubed_array **out,
                                cubed_error *err)
{
    int ndim = x->node.grid->ndim;
    cb_map map = {.ndim_in = ndim, .ndim_out = ndim};
    cb_grid grid = {.ndim = ndim};
    const char *names[CUBED_MAX_NDIM];
    uint32_t mask;
    CB_TRY(cb_op_axes("permute_dims", ndim, axes, ndim, &mask, err));
    for (int j = 0; j < ndim; j++) {
        int d = axes[j] < 0 ? axes[j] + ndim : axes[j];
        map.dim[d].axis = j;
        map.dim[d].stride = 1;
        grid.axis[j] = x->node.grid->axis[d];
        names[j] = x->node.dim_names[d];
    }
    return cb_op_view(x, &map, &grid, names, out, err);
}

cubed_status cubed_flip(cubed_array *x, const int *axes, int naxes, cubed_array **out,
                        cubed_error *err)
{
    int ndim = x->node.grid->ndim;
    cubed_slice slices[CUBED_MAX_NDIM];
    uint32_t mask;
    CB_TRY(cb_op_axes("flip", ndim, axes, axes ? naxes : 0, &mask, err));
    for (int d = 0; d < ndim; d++) {
        bool back = !axes || mask >> d & 1;
        slices[d] = (cubed_slice){back ? x->shape[d] - 1 : 0, x->shape[d], back ? -1 : 1, false};
    }
    return cubed_slice_array(x, slices, out, err);
}

cubed_status cubed_broadcast_to(cubed_array *x, int ndim, const int64_t *shape, cubed_array **out,
                                cubed_error *err)
{
    int have = x->node.grid->ndim, lead = ndim - have;
    cb_map map = {.ndim_in = ndim, .ndim_out = have};
    cb_grid grid = {.ndim = ndim};
    const char *names[CUBED_MAX_NDIM] = {NULL};
    CB_TRY(cb_check_shape("broadcast_to", ndim, shape, x->node.dtype, err));
    if (lead < 0)
        return cb_fail(err, CUBED_E_ARG, "broadcast_to: %d dimensions cannot be broadcast to %d",
                       have, ndim);
    cb_op_repeated_axes(x, ndim, shape, &grid);
    for (int j = lead; j < ndim; j++) {
        int d = j - lead;
        names[j] = x->node.dim_names[d];
        map.dim[d].axis = -1;
        if (x->shape[d] == shape[j]) {
            map.dim[d].axis = j;
            map.dim[d].stride = 1;
            grid.axis[j] = x->node.grid->axis[d];
        } else if (x->shape[d] != 1) {
            return cb_fail(err, CUBED_E_ARG,
                           "broadcast_to: axis %d of extent %" PRId64
                           " cannot be broadcast to %" PRId64,
                           d, x->shape[d], shape[j]);
        }
    }
    return cb_op_view(x, &map, &grid, names, out, err);
}

cubed_status cubed_expand_dims(cubed_array *x, int axis, cubed_array **out, cubed_error *err)
{
    return cb_op_expand_dims(x, axis, NULL, out, err);
}

cubed_status cb_op_expand_dims(cubed_array *x, int axis, const char *name, cubed_array **out,
                               cubed_error *err)
{
    int have = x->node.grid->ndim, ndim = have + 1;
    int at = axis < 0 ? axis + ndim : axis;
    cb_map map = {.ndim_in = ndim, .ndim_out = have};
    cb_grid grid = {.ndim = ndim};
    const char *names[CUBED_MAX_NDIM + 1] = {NULL};
    if (ndim > CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "expand_dims: the array has %d dimensions already",
                       have);
    if (at < 0 || at >= ndim)
        return cb_fail(err, CUBED_E_AXIS, "expand_dims: axis %d is out of range for %d dimensions",
                       axis, ndim);
    grid.axis[at] = cb_axis_regular(1, 1);
    names[at] = name;
    for (int d = 0; d < have; d++) {
        int j = d < at ? d : d + 1;
        map.dim[d].axis = j;
        map.dim[d].stride = 1;
        grid.axis[j] = x->node.grid->axis[d];
        names[j] = x->node.dim_names[d];
    }
    return cb_op_view(x, &map, &grid, names, out, err);
}

cubed_status cubed_squeeze(cubed_array *x, const int *axes, int naxes, cubed_array **out,
                           cubed_error *err)
{
    int ndim = x->node.grid->ndim;
    cubed_slice slices[CUBED_MAX_NDIM];
    uint32_t mask;
    CB_TRY(cb_op_axes("squeeze", ndim, axes, axes ? naxes : 0, &mask, err));
    for (int d = 0; d < ndim; d++) {
        bool drop = axes ? mask >> d & 1 : x->shape[d] == 1;
        if (drop && x->shape[d] != 1)
            return cb_fail(err, CUBED_E_ARG, "squeeze: axis %d has extent %" PRId64 ", expected 1",
                           d, x->shape[d]);
        slices[d] = (cubed_slice){0, x->shape[d], 1, drop};
    }
    return cubed_slice_array(x, slices, out, err);
}
