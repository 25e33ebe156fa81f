/* Kinds that move elements unchanged: views, reshapes, concatenations, and copies with other chunks. */
#include <inttypes.h>

#include "plan/kinds/kind_rows.h"

/* Checks that a node's map leads from the positions of `shape`, which has `ndim` axes, to positions in the input. */
static cubed_status check_map(const cb_ir *ir, const cb_node *n, int ndim, const int64_t *shape,
                              cubed_error *err)
{
    const cb_grid *in = ir->nodes[n->inputs[0]].grid;
    if (n->map->ndim_in != ndim || n->map->ndim_out != in->ndim)
        return BAD("the view maps %d to %d dimensions", n->map->ndim_in, n->map->ndim_out);
    uint64_t used = 0;
    for (int d = 0; d < in->ndim; d++) {
        int j = n->map->dim[d].axis;
        int64_t lo = n->map->dim[d].offset, stride = n->map->dim[d].stride, hi = lo;
        int64_t last = cb_max_i64(0, in->axis[d].extent - 1);
        if (j < -1 || j >= ndim) return BAD("axis %d of the view is %d", d, j);
        if (j >= 0) {
            if (used & (1ull << j)) return BAD("axis %d of the view is used twice", j);
            used |= 1ull << j;
            int64_t longest = cb_max_i64(1, last), steps = shape[j] - 1;
            if (stride == 0 || stride < -longest || stride > longest)
                return BAD("axis %d of the view goes by %" PRId64, d, stride);
            if (steps > 0 && (cb_mul_i64(stride, steps, &hi) || cb_add_i64(lo, hi, &hi)))
                return BAD("the view overflows");
        }
        bool none = j >= 0 && shape[j] == 0;
        if (lo < 0 || lo > last || hi < 0 || hi > last || (in->axis[d].extent == 0 && !none))
            return BAD("axis %d of the view leaves its source", d);
    }
    return CUBED_OK;
}

static cubed_status check_view(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    int64_t shape[CUBED_MAX_NDIM];
    cb_node_shape(n, shape);
    return check_map(ir, n, n->grid->ndim, shape, err);
}

static void put_view(cb_buf *b, const cb_node *n) { cb_put_map(b, n->map); }

static bool own_view(cb_zone *zone, cb_node *n)
{
    n->map = cb_map_own(zone, n->map);
    return n->map != NULL;
}

static void get_view(cb_reader *r, cb_node *n) { n->map = cb_get_map(r); }

const cb_kind cb_kind_view = {.name = "view",
                              .min_inputs = 1,
                              .max_inputs = 1,
                              .is = CB_KIND_PULLED,
                              .check = check_view,
                              .put = put_view,
                              .get = get_view,
                              .own = own_view,
                              .fix_axes = cb_fix_no_axes,
                              .find_chunks_from = cb_chunks_of_view};

static cubed_status check_reshape(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    const cb_node *in = &ir->nodes[cb_ir_below_copies(ir, n->inputs[0])];
    int64_t shape[CUBED_MAX_NDIM], count, same;
    cb_node_shape(n, shape);
    if (!ir->is_graph && !cb_node_has_chunks(in) && (!in->stored || in->to_memory))
        return BAD("a reshape of what is not stored");
    for (int d = 0; d < n->map->ndim_in; d++) {
        if (n->from[d] < 0) return BAD("axis %d of a reshape has extent %" PRId64, d, n->from[d]);
    }
    if (cb_count(n->map->ndim_in, n->from, &count) || cb_count(n->grid->ndim, shape, &same) ||
        count != same)
        return BAD("a reshape to another number of elements");
    return check_map(ir, n, n->map->ndim_in, n->from, err);
}

static void put_reshape(cb_buf *b, const cb_node *n)
{
    cb_put_map(b, n->map);
    for (int d = 0; d < n->map->ndim_in; d++) cb_put_i(b, n->from[d]);
}

static void get_reshape(cb_reader *r, cb_node *n)
{
    n->map = cb_get_map(r);
    n->from = cb_get_numbers(r, n->map ? n->map->ndim_in : 0);
}

static bool own_reshape(cb_zone *zone, cb_node *n)
{
    n->from = cb_zone_memdup(zone, n->from, (size_t)n->map->ndim_in * sizeof *n->from);
    return n->from && own_view(zone, n);
}

const cb_kind cb_kind_reshape = {.name = "reshape",
                                 .min_inputs = 1,
                                 .max_inputs = 1,
                                 .is = CB_KIND_PULLED,
                                 .check = check_reshape,
                                 .put = put_reshape,
                                 .get = get_reshape,
                                 .own = own_reshape,
                                 .find_chunks_from = cb_chunks_of_reshape};

static cubed_status check_concat(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    if (n->axis < 0 || n->axis >= n->grid->ndim) return BAD("concat along axis %d", n->axis);
    int64_t sum = 0;
    for (int i = 0; i < n->ninputs; i++) {
        const cb_grid *in = ir->nodes[n->inputs[i]].grid;
        if (in->ndim != n->grid->ndim) return BAD("concat of different dimensions");
        for (int d = 0; d < in->ndim; d++) {
            if (d != n->axis && in->axis[d].extent != n->grid->axis[d].extent)
                return BAD("concat of different shapes");
        }
        sum += in->axis[n->axis].extent;
        if (sum > n->grid->axis[n->axis].extent) break;
    }
    if (sum != n->grid->axis[n->axis].extent) return BAD("concat of other extents");
    return CUBED_OK;
}

static void put_concat(cb_buf *b, const cb_node *n) { cb_put_u(b, (uint64_t)n->axis); }

static void get_concat(cb_reader *r, cb_node *n) { n->axis = cb_get_n(r, CUBED_MAX_NDIM); }

/* Deletes the starts of the concatenated parts, which belong to the list of nodes that the node was copied from. `derive`
 * computes them again. */
static bool own_concat(cb_zone *zone, cb_node *n)
{
    (void)zone;
    n->begins = NULL;
    return true;
}

/* Computes the position at which each part of the concatenation starts. The inputs are not checked yet, so the positions may
 * be wrong, but the number of entries is correct. */
static bool find_begins(const cb_ir *ir, cb_node *n)
{
    int64_t *begins = cb_zone_alloc(ir->zone, ((size_t)n->ninputs + 1) * sizeof *begins);
    for (int i = 0; begins && i < n->ninputs; i++) {
        const cb_grid *in = ir->nodes[n->inputs[i]].grid;
        const int64_t extent = n->axis >= 0 && n->axis < in->ndim ? in->axis[n->axis].extent : 0;
        if (cb_add_i64(begins[i], extent, &begins[i + 1])) begins[i + 1] = begins[i];
    }
    n->begins = begins;
    return begins != NULL;
}

/* Only the last input may grow along the axis, because growth of another input would move the inputs after it. */
static void fix_concat(const cb_ir *ir, int node, cb_fixed_axes *fixed)
{
    const cb_node *n = &ir->nodes[node];
    for (int i = 0; i + 1 < n->ninputs; i++) fixed[n->inputs[i]].exact |= UINT32_C(1) << n->axis;
}

const cb_kind cb_kind_concat = {.name = "concat",
                                .min_inputs = 1,
                                .max_inputs = -1,
                                .is = CB_KIND_PULLED,
                                .check = check_concat,
                                .put = put_concat,
                                .get = get_concat,
                                .own = own_concat,
                                .derive = find_begins,
                                .fix_axes = fix_concat,
                                .find_chunks_from = cb_chunks_of_inputs};

const cb_kind cb_kind_copy = {.name = "copy",
                              .min_inputs = 1,
                              .max_inputs = 1,
                              .is = CB_KIND_PULLED,
                              .check = cb_kind_check_same_shape,
                              .fix_axes = cb_fix_no_axes,
                              .find_chunks_from = cb_chunks_of_copy};
