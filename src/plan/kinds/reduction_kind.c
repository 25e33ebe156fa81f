/* Kinds of nodes for reductions, for the parts of split reductions, and for scans (running sums and similar). */
#include "plan/kinds/kind_rows.h"
#include "plan/reduction.h"

/* Returns the number of blocks of the input that each state of a partial reduction represents. `from` is the input's grid and
 * `states` the grid of the states. Returns 0 if a partial reduction along the axes `reduced` cannot have this grid. */
static int64_t span_of(const cb_grid *from, uint32_t reduced, const cb_grid *states)
{
    const cb_grid blocks = cb_reduced_grid(from, reduced);
    return states->ndim < 2 ? 0 : cb_reduce_span(cb_grid_count(&blocks), states->axis[0].extent);
}

/* Returns true if `have` is a valid grid for an array of states whose grid is `want`. It may have smaller chunks along axes
 * that are not reduced. */
static bool are_states(const cb_grid *want, const cb_grid *have)
{
    return cb_grid_same_shape(want, have) && have->axis[0].chunk == 1 &&
           have->axis[1].chunk == have->axis[1].extent;
}

/* Checks a reduction of an input with this grid to states or results. */
static cubed_status check_reduction(const cb_ir *ir, const cb_node *n, const cb_grid *from,
                                    bool states, cubed_error *err)
{
    const cubed_dtype type = ir->nodes[n->inputs[0]].dtype;
    if ((unsigned)n->reduction >= CB_REDUCTIONS || !cb_kernel_has_reduce(n->reduction, n->dtype) ||
        type != n->dtype)
        return BAD("reduction number %d of %s to %s", (int)n->reduction, cubed_dtype_name(type),
                   cubed_dtype_name(n->dtype));
    if (from->ndim < CUBED_MAX_NDIM && n->reduced >> from->ndim) return BAD("reduced axes");
    if (n->reduced == 0) return BAD("no reduced axes");
    const int64_t span = states ? span_of(from, n->reduced, n->grid) : 1;
    if (span == 0) return BAD("a number of reduction states");
    const cb_grid want =
        states ? cb_reduce_partial_grid(from, n->reduced, cb_reduce_planes(n->reduction), span)
               : cb_reduce_kept_grid(from, n->reduced);
    return cb_grid_same_shape(&want, n->grid) ? CUBED_OK : BAD("the shape of a reduction");
}

static void put_reduce(cb_buf *b, const cb_node *n)
{
    cb_put_u(b, (uint64_t)n->reduction);
    cb_put_u(b, n->reduced);
}

static void get_reduce(cb_reader *r, cb_node *n)
{
    n->reduction = (cb_reduction)cb_get_n(r, CB_REDUCTIONS);
    n->reduced = (uint32_t)cb_get_u(r);
}

static const char *reduction_name(const cb_node *n) { return cb_reduction_name(n->reduction); }

static cubed_status check_reduce(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    return check_reduction(ir, n, cb_ir_reduced_grid(ir, n), false, err);
}

/* Extents of reduced axes determine the tree of additions of the reduction, so they are fixed. An axis of extent 1 counts as
 * reduced and as kept (plan/reduction.h). */
static void fix_reduced(const cb_ir *ir, int node, cb_fixed_axes *fixed)
{
    const cb_node *n = &ir->nodes[node];
    fixed[n->inputs[0]].exact |= n->reduced;
    fixed[n->inputs[0]].not_one |= ~n->reduced;
}

const cb_kind cb_kind_reduce = {.name = "reduce",
                                .min_inputs = 1,
                                .max_inputs = 1,
                                .is = CB_KIND_REDUCTION,
                                .cost = CB_COST_REDUCE,
                                .check = check_reduce,
                                .put = put_reduce,
                                .get = get_reduce,
                                .fix_axes = fix_reduced,
                                .find_chunks_from = cb_chunks_of_reduce,
                                .operation = reduction_name};

static cubed_status check_partial(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    if (ir->is_graph) return BAD("a decision in what nothing is decided of");
    if (!n->stored) return BAD("reduction states that are not stored");
    return check_reduction(ir, n, cb_ir_reduced_grid(ir, n), true, err);
}

const cb_kind cb_kind_partial = {.name = "partial",
                                 .min_inputs = 1,
                                 .max_inputs = 1,
                                 .is = CB_KIND_REDUCTION,
                                 .cost = CB_COST_REDUCE,
                                 .check = check_partial,
                                 .put = put_reduce,
                                 .get = get_reduce,
                                 .find_chunks_from = cb_chunks_are_data,
                                 .operation = reduction_name};

/* Checks a node that merges the states of its input. If `states` is set, the node outputs states, otherwise results. */
static cubed_status check_states(const cb_ir *ir, const cb_node *n, bool states, cubed_error *err)
{
    const cb_node *in = &ir->nodes[n->inputs[0]];
    CB_TRY(cb_grid_check(n->reduce_grid, n->dtype, err));
    CB_TRY(check_reduction(ir, n, n->reduce_grid, states, err));
    const int64_t span = span_of(n->reduce_grid, n->reduced, in->grid);
    if (!cb_node_leaves_states(in) || in->reduction != n->reduction || span == 0)
        return BAD("a merge of something else than its states");
    const cb_grid want =
        cb_reduce_partial_grid(n->reduce_grid, n->reduced, cb_reduce_planes(n->reduction), span);
    if (!are_states(&want, in->grid)) return BAD("a merge of something else than its states");
    if (states && n->grid->axis[0].extent >= in->grid->axis[0].extent)
        return BAD("a merge of states that leaves as many");
    return CUBED_OK;
}

static cubed_status check_merge(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    return check_states(ir, n, false, err);
}

static cubed_status check_merge_partial(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    if (ir->is_graph) return BAD("a decision in what nothing is decided of");
    if (!n->stored) return BAD("reduction states that are not stored");
    return check_states(ir, n, true, err);
}

static void put_merge(cb_buf *b, const cb_node *n)
{
    cb_put_grid(b, n->reduce_grid);
    put_reduce(b, n);
}

static void get_merge(cb_reader *r, cb_node *n)
{
    cb_grid *g = cb_zone_alloc(r->zone, sizeof *g);
    if (!g) r->bad = true;
    if (g) cb_get_grid(r, g);
    n->reduce_grid = g;
    get_reduce(r, n);
}

const cb_kind cb_kind_merge = {.name = "merge",
                               .min_inputs = 1,
                               .max_inputs = 1,
                               .is = CB_KIND_REDUCTION,
                               .check = check_merge,
                               .put = put_merge,
                               .get = get_merge,
                               .find_chunks_from = cb_chunks_are_data,
                               .operation = reduction_name};

const cb_kind cb_kind_merge_partial = {.name = "merge partial",
                                       .min_inputs = 1,
                                       .max_inputs = 1,
                                       .is = CB_KIND_REDUCTION,
                                       .check = check_merge_partial,
                                       .put = put_merge,
                                       .get = get_merge,
                                       .find_chunks_from = cb_chunks_are_data,
                                       .operation = reduction_name};

static cubed_status check_scan(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    if (!cb_kernel_has_scan(n->reduction, n->dtype)) return BAD("a running total of its type");
    if (n->axis < 0 || n->axis >= n->grid->ndim) return BAD("axis %d", n->axis);
    return cb_kind_check_same_shape(ir, n, err);
}

static void put_scan(cb_buf *b, const cb_node *n)
{
    cb_put_u(b, (uint64_t)n->reduction);
    cb_put_u(b, (uint64_t)n->axis);
}

static void get_scan(cb_reader *r, cb_node *n)
{
    n->reduction = (cb_reduction)cb_get_n(r, CB_REDUCTIONS);
    n->axis = cb_get_n(r, CUBED_MAX_NDIM);
}

const cb_kind cb_kind_scan = {.name = "scan",
                              .min_inputs = 1,
                              .max_inputs = 1,
                              .is = CB_KIND_STORES_ITSELF,
                              .cost = CB_COST_SCAN,
                              .check = check_scan,
                              .put = put_scan,
                              .get = get_scan,
                              .fix_axes = cb_fix_no_axes,
                              .find_chunks_from = cb_chunks_of_inputs,
                              .operation = reduction_name};
