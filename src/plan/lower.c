#include "plan/lower.h"

#include <string.h>

#include "base/error.h"
#include "dtype/scalar.h"
#include "plan/fold.h"

/* A node seen through a map has one value in a branch. */
typedef struct memo {
    int node;
    int value;
    cb_map map;
} memo;

typedef struct lowering {
    const cb_ir *ir;
    cb_zone *zone; /* of lists while they grow */
    cb_zone *out;  /* of what stays */
    const int *fold_nodes;
    int nfolds;
    cb_box box; /* of the branch */
    memo *memo;
    int nmemo, memo_cap;
    /* Every memo entry is one value. Loads and instructions are numbered apart while the code
     * grows: loads from 0, instructions from CB_MAX_VALUES; settle() makes the numbers final. */
    cb_load *loads;
    int nloads, load_cap;
    cb_instr *instrs;
    int ninstrs, instr_cap;
    uint8_t *types; /* of instruction results */
} lowering;

static cubed_status no_memory(cubed_error *err)
{
    return cb_fail(err, CUBED_E_NOMEM, "no memory to compile the plan");
}

static bool grow(cb_zone *zone, void **list, int n, int *cap, size_t size)
{
    if (n < *cap) return true;
    int c = *cap ? 2 * *cap : 8;
    void *p = cb_zone_alloc(zone, (size_t)c * size);
    if (!p) return false;
    if (n) memcpy(p, *list, (size_t)n * size);
    *list = p;
    *cap = c;
    return true;
}

/* Maps and steps are copied. */
static cubed_status add_load(lowering *lo, const cb_load *load, int *value, cubed_error *err)
{
    cb_load *made;
    if (lo->nloads >= CB_MAX_VALUES)
        return cb_fail(err, CUBED_E_BUDGET, "one stage reads more than %d arrays", CB_MAX_VALUES);
    if (!grow(lo->zone, (void **)&lo->loads, lo->nloads, &lo->load_cap, sizeof *load))
        return no_memory(err);
    made = &lo->loads[lo->nloads];
    *made = *load;
    made->map = cb_map_own(lo->out, load->map);
    if (load->step)
        made->step = cb_zone_memdup(lo->out, load->step, (size_t)lo->box.ndim * sizeof *load->step);
    if (!made->map || (load->step && !made->step)) return no_memory(err);
    *value = lo->nloads++;
    return CUBED_OK;
}

static cubed_status add_instr(lowering *lo, const cb_instr *instr, int *value, cubed_error *err)
{
    if (lo->ninstrs >= CB_MAX_VALUES)
        return cb_fail(err, CUBED_E_BUDGET, "one stage has more than %d operations", CB_MAX_VALUES);
    if (!grow(lo->zone, (void **)&lo->instrs, lo->ninstrs, &lo->instr_cap, sizeof *instr))
        return no_memory(err);
    lo->instrs[lo->ninstrs] = *instr;
    *value = CB_MAX_VALUES + lo->ninstrs++;
    return CUBED_OK;
}

static cubed_status remember(lowering *lo, int node, const cb_map *map, int value, cubed_error *err)
{
    if (!grow(lo->zone, (void **)&lo->memo, lo->nmemo, &lo->memo_cap, sizeof *lo->memo))
        return no_memory(err);
    lo->memo[lo->nmemo++] = (memo){node, value, *map};
    return CUBED_OK;
}

/* The map to the one element of a 0-d operand, or the map itself for one of full shape. */
static cb_map operand_map(const cb_node *in, const cb_map *map)
{
    if (in->grid.ndim > 0) return *map;
    return (cb_map){.ndim_in = map->ndim_in, .ndim_out = 0};
}

/* Which piece of a concatenation a box lies in: the branches are cut so that it is one. */
static int find_piece(const cb_ir *ir, const cb_node *n, int64_t position, int64_t *start)
{
    int64_t at = 0;
    for (int i = 0; i < n->ninputs; i++) {
        int64_t extent = ir->nodes[n->inputs[i]].grid.axis[n->axis].extent;
        if (position < at + extent) {
            *start = at;
            return i;
        }
        at += extent;
    }
    return -1;
}

static cubed_status lower_node(lowering *lo, int node, const cb_map *map, bool is_root, int *value,
                               cubed_error *err);

/* Programs do not know of units: a time is its integer. */
static cubed_dtype carrier(cubed_dtype dtype)
{
    return cubed_dtype_kind(dtype) == CUBED_KIND_TIME ? CUBED_INT64 : dtype;
}

static cubed_status lower_leaf(lowering *lo, int node, const cb_map *map, int *value,
                               cubed_error *err)
{
    const cb_node *n = &lo->ir->nodes[node];
    cb_load load = {.dtype = carrier(n->dtype), .node = node, .map = map, .value = n->value};
    int64_t step[CUBED_MAX_NDIM] = {0};
    switch (n->kind) {
    case CB_NODE_FULL: load.kind = CB_LOAD_CONST; break;
    case CB_NODE_MEMORY: load.kind = CB_LOAD_MEMORY; break;
    case CB_NODE_BLOCKS: load.kind = CB_LOAD_BLOCKS; break;
    case CB_NODE_INDEX: {
        load.kind = CB_LOAD_INDEX;
        load.start = n->start;
        load.step = step;
        int64_t stride = 1;
        for (int d = n->grid.ndim - 1; d >= 0; d--) {
            load.start += stride * map->dim[d].offset;
            if (map->dim[d].axis >= 0) step[map->dim[d].axis] += stride * map->dim[d].stride;
            stride *= n->grid.axis[d].extent;
        }
        break;
    }
    default: load.kind = n->to_memory ? CB_LOAD_MEMORY : CB_LOAD_STORED; break;
    }
    CB_TRY(add_load(lo, &load, value, err));
    return remember(lo, node, map, *value, err);
}

static cubed_status lower_cast(lowering *lo, int node, const cb_map *map, int *value,
                               cubed_error *err)
{
    const cb_node *n = &lo->ir->nodes[node], *in = &lo->ir->nodes[n->inputs[0]];
    int arg;
    cb_map m = operand_map(in, map);
    CB_TRY(lower_node(lo, n->inputs[0], &m, false, &arg, err));
    cubed_dtype from = carrier(in->dtype), to = carrier(n->dtype);
    if (from == to) {
        *value = arg;
        return remember(lo, node, map, *value, err);
    }
    if (arg < CB_MAX_VALUES && lo->loads[arg].kind == CB_LOAD_CONST && from < CUBED_DTYPE_COUNT &&
        to < CUBED_DTYPE_COUNT) {
        cb_load load = lo->loads[arg];
        load.dtype = to;
        cb_scalar_cast(from, &lo->loads[arg].value, to, &load.value);
        CB_TRY(add_load(lo, &load, value, err));
    } else {
        cb_instr instr = {.kind = CB_INSTR_CAST,
                          .dtype = (uint8_t)from,
                          .to = (uint8_t)to,
                          .nargs = 1,
                          .arg = {(uint16_t)arg}};
        CB_TRY(add_instr(lo, &instr, value, err));
    }
    return remember(lo, node, map, *value, err);
}

static cubed_status lower_elem(lowering *lo, int node, const cb_map *map, int *value,
                               cubed_error *err)
{
    const cb_node *n = &lo->ir->nodes[node];
    cb_instr instr = {.kind = CB_INSTR_ELEM,
                      .op = (uint16_t)n->op,
                      .to = (uint8_t)n->dtype,
                      .nargs = (uint8_t)n->ninputs,
                      .dtype = (uint8_t)lo->ir->nodes[n->inputs[n->ninputs - 1]].dtype};
    for (int i = 0; i < n->ninputs; i++) {
        cb_map m = operand_map(&lo->ir->nodes[n->inputs[i]], map);
        int arg;
        CB_TRY(lower_node(lo, n->inputs[i], &m, false, &arg, err));
        instr.arg[i] = (uint16_t)arg;
    }
    CB_TRY(add_instr(lo, &instr, value, err));
    return remember(lo, node, map, *value, err);
}

static cubed_status lower_concat(lowering *lo, int node, const cb_map *map, int *value,
                                 cubed_error *err)
{
    const cb_node *n = &lo->ir->nodes[node];
    cb_box image;
    cb_map_image(map, &lo->box, &image);
    int64_t start = 0;
    int piece = find_piece(lo->ir, n, image.lo[n->axis], &start);
    CB_CHECK(piece >= 0, err);
    cb_map m = *map;
    m.dim[n->axis].offset -= start;
    return lower_node(lo, n->inputs[piece], &m, false, value, err);
}

static cubed_status lower_node(lowering *lo, int node, const cb_map *map, bool is_root, int *value,
                               cubed_error *err)
{
    const cb_node *n = &lo->ir->nodes[node];
    for (int i = lo->nmemo - 1; i >= 0; i--) {
        if (lo->memo[i].node == node && cb_map_equal(&lo->memo[i].map, map)) {
            *value = lo->memo[i].value;
            return CUBED_OK;
        }
    }
    if (cb_node_is_source(n) || (n->stored && !is_root))
        return lower_leaf(lo, node, map, value, err);
    switch (n->kind) {
    case CB_NODE_FULL:
    case CB_NODE_INDEX:
    case CB_NODE_BLOCKS: return lower_leaf(lo, node, map, value, err);
    case CB_NODE_CAST: return lower_cast(lo, node, map, value, err);
    case CB_NODE_ELEM: return lower_elem(lo, node, map, value, err);
    case CB_NODE_CONCAT: return lower_concat(lo, node, map, value, err);
    case CB_NODE_RESHAPE: {
        cb_load load = {.kind = CB_LOAD_STORED,
                        .dtype = carrier(n->dtype),
                        .node = cb_ir_below_copies(lo->ir, n->inputs[0]),
                        .map = map,
                        .reshape = node};
        CB_TRY(add_load(lo, &load, value, err));
        return remember(lo, node, map, *value, err);
    }
    case CB_NODE_COPY:
    case CB_NODE_SCAN: /* the stage makes the totals of what is stored here */
        return lower_node(lo, n->inputs[0], map, false, value, err);
    case CB_NODE_VIEW: {
        cb_map m;
        CB_TRY(cb_map_compose(n->map, map, &m, err));
        return lower_node(lo, n->inputs[0], &m, false, value, err);
    }
    case CB_NODE_FOLD:
    case CB_NODE_MERGE:
        for (int k = 0; k < lo->nfolds; k++) {
            if (lo->fold_nodes[k] != node) continue;
            cb_load load = {.kind = CB_LOAD_FOLD, .dtype = n->dtype, .fold = k, .map = map};
            CB_TRY(add_load(lo, &load, value, err));
            return remember(lo, node, map, *value, err);
        }
        return cb_fail(err, CUBED_E_FORMAT, "node %d folds inside another stage", node);
    default: return cb_fail(err, CUBED_E_FORMAT, "node %d has no code", node);
    }
}

/* --- Branches: the domain is cut where pieces of concatenations meet. --------------------------- */

/* Of a box. */
typedef struct cuts {
    const cb_ir *ir;
    cb_zone *zone;
    int first;                   /* the axis that was cut first; -1: none */
    int64_t *at[CUBED_MAX_NDIM]; /* sorted, without the box's ends */
    int n[CUBED_MAX_NDIM], cap[CUBED_MAX_NDIM];
    struct seen *seen; /* walked already */
    int nseen, seen_cap;
} cuts;

struct seen {
    int node;
    cb_map map;
    cb_box box;
};

static bool same_box(const cb_box *a, const cb_box *b)
{
    for (int d = 0; d < a->ndim; d++) {
        if (a->lo[d] != b->lo[d] || a->hi[d] != b->hi[d]) return false;
    }
    return true;
}

static cubed_status add_cut(cuts *c, int axis, int64_t x, cubed_error *err)
{
    int i = 0;
    while (i < c->n[axis] && c->at[axis][i] < x) i++;
    if (i < c->n[axis] && c->at[axis][i] == x) return CUBED_OK;
    if (c->first < 0) c->first = axis;
    if (!grow(c->zone, (void **)&c->at[axis], c->n[axis], &c->cap[axis], sizeof(int64_t)))
        return no_memory(err);
    memmove(c->at[axis] + i + 1, c->at[axis] + i, (size_t)(c->n[axis] - i) * sizeof(int64_t));
    c->at[axis][i] = x;
    c->n[axis]++;
    return CUBED_OK;
}

static cubed_status find_cuts(cuts *c, int node, const cb_map *map, const cb_box *box, bool is_root,
                              cubed_error *err);

/* Cuts where position p of the concatenated axis is crossed, and walks each piece on its own
 * part of the box. */
static cubed_status cut_concat(cuts *c, const cb_node *n, const cb_map *map, const cb_box *box,
                               cubed_error *err)
{
    int axis = map->dim[n->axis].axis;
    int64_t off = map->dim[n->axis].offset, s = map->dim[n->axis].stride, start = 0, end;
    for (int i = 0; i < n->ninputs; i++, start = end) {
        end = start + c->ir->nodes[n->inputs[i]].grid.axis[n->axis].extent;
        cb_box part = *box;
        if (axis < 0) {
            if (off < start || off >= end) continue;
        } else {
            /* start <= off + s*x < end, solved for x */
            int64_t lo = s > 0 ? cb_ceil_div(cb_max_i64(0, start - off), s)
                               : (off < end ? 0 : (off - end) / -s + 1);
            int64_t hi = s > 0 ? cb_ceil_div(cb_max_i64(0, end - off), s)
                               : (off < start ? 0 : (off - start) / -s + 1);
            part.lo[axis] = cb_max_i64(box->lo[axis], lo);
            part.hi[axis] = cb_min_i64(box->hi[axis], hi);
            if (part.lo[axis] >= part.hi[axis]) continue;
            if (part.lo[axis] > box->lo[axis]) CB_TRY(add_cut(c, axis, part.lo[axis], err));
            if (part.hi[axis] < box->hi[axis]) CB_TRY(add_cut(c, axis, part.hi[axis], err));
        }
        cb_map m = *map;
        m.dim[n->axis].offset -= start;
        CB_TRY(find_cuts(c, n->inputs[i], &m, &part, false, err));
    }
    return CUBED_OK;
}

static cubed_status find_cuts(cuts *c, int node, const cb_map *map, const cb_box *box, bool is_root,
                              cubed_error *err)
{
    const cb_node *n = &c->ir->nodes[node];
    if (n->ninputs == 0 || (n->stored && !is_root) || n->kind == CB_NODE_FOLD ||
        n->kind == CB_NODE_MERGE || n->kind == CB_NODE_RESHAPE)
        return CUBED_OK;
    for (int i = 0; i < c->nseen; i++) {
        if (c->seen[i].node == node && cb_map_equal(&c->seen[i].map, map) &&
            same_box(&c->seen[i].box, box))
            return CUBED_OK;
    }
    if (!grow(c->zone, (void **)&c->seen, c->nseen, &c->seen_cap, sizeof *c->seen))
        return no_memory(err);
    c->seen[c->nseen++] = (struct seen){node, *map, *box};
    if (n->kind == CB_NODE_CONCAT) return cut_concat(c, n, map, box, err);
    for (int i = 0; i < n->ninputs; i++) {
        cb_map m = operand_map(&c->ir->nodes[n->inputs[i]], map);
        if (n->kind == CB_NODE_VIEW) CB_TRY(cb_map_compose(n->map, map, &m, err));
        CB_TRY(find_cuts(c, n->inputs[i], &m, box, false, err));
    }
    return CUBED_OK;
}

/* --- A program ---------------------------------------------------------------------------------- */

static uint16_t settle(const lowering *lo, int value)
{
    return (uint16_t)(value < CB_MAX_VALUES ? value : value - CB_MAX_VALUES + lo->nloads);
}

typedef struct lowered {
    const cb_ir *ir;
    const cb_kernels *kernels;
    cb_zone *zone, *scratch;
    const cb_lower_root *roots;
    int nroots;
    bool load_roots;
    const int *fold_nodes;
    int nfolds, cap; /* of branches, in scratch */
    size_t widest;
    cb_program *out;
} lowered;

static cubed_status lower_branch(const lowered *l, lowering *lo, cb_branch *out, cubed_error *err)
{
    const size_t bounds = (size_t)lo->box.ndim * sizeof *out->lo;
    out->lo = cb_zone_memdup(l->zone, lo->box.lo, bounds);
    out->hi = cb_zone_memdup(l->zone, lo->box.hi, bounds);
    out->results = cb_zone_alloc(l->zone, (size_t)l->nroots * sizeof *out->results);
    int *values = cb_zone_alloc(lo->zone, (size_t)l->nroots * sizeof *values);
    if (!out->results || !values || !out->lo || !out->hi) return no_memory(err);
    for (int r = 0; r < l->nroots; r++)
        CB_TRY(lower_node(lo, l->roots[r].node, &l->roots[r].map, !l->load_roots, &values[r], err));
    for (int r = 0; r < l->nroots; r++) out->results[r] = settle(lo, values[r]);
    for (int i = 0; i < lo->ninstrs; i++) {
        for (int k = 0; k < lo->instrs[i].nargs; k++)
            lo->instrs[i].arg[k] = settle(lo, lo->instrs[i].arg[k]);
    }
    out->nloads = lo->nloads;
    out->loads = cb_zone_memdup(l->zone, lo->loads, (size_t)lo->nloads * sizeof *lo->loads);
    out->ninstrs = lo->ninstrs;
    out->instrs = cb_zone_memdup(l->zone, lo->instrs, (size_t)lo->ninstrs * sizeof *lo->instrs);
    return out->loads && out->instrs ? CUBED_OK : no_memory(err);
}

static cubed_status add_branch(lowered *l, const cb_box *box, cubed_error *err)
{
    cb_program *out = l->out;
    lowering lo = {.ir = l->ir,
                   .zone = l->scratch,
                   .out = l->zone,
                   .fold_nodes = l->fold_nodes,
                   .nfolds = l->nfolds,
                   .box = *box};
    int nregs;
    if (out->nbranches == CB_MAX_BRANCHES)
        return cb_fail(err, CUBED_E_BUDGET, "one stage puts together more than %d pieces of arrays",
                       CB_MAX_BRANCHES);
    if (!grow(l->scratch, (void **)&out->branches, out->nbranches, &l->cap, sizeof(cb_branch)))
        return no_memory(err);
    cb_branch *b = &out->branches[out->nbranches++];
    CB_TRY(lower_branch(l, &lo, b, err));
    cb_code code = {l->scratch, l->kernels, b, l->nroots};
    CB_TRY(cb_allocate_registers(&code, &nregs, &l->widest, err));
    if (nregs > out->nregs) out->nregs = nregs;
    return CUBED_OK;
}

/* Each part is cut by itself along the other axes: pieces of one concatenation may be others. */
static cubed_status add_branches(lowered *l, const cb_box *box, cubed_error *err)
{
    cuts c = {.ir = l->ir, .zone = l->scratch, .first = -1};
    for (int r = 0; r < l->nroots; r++)
        CB_TRY(find_cuts(&c, l->roots[r].node, &l->roots[r].map, box, !l->load_roots, err));
    if (c.first < 0) return add_branch(l, box, err);
    for (int i = 0; i <= c.n[c.first]; i++) {
        cb_box part = *box;
        if (i > 0) part.lo[c.first] = c.at[c.first][i - 1];
        if (i < c.n[c.first]) part.hi[c.first] = c.at[c.first][i];
        CB_TRY(add_branches(l, &part, err)); /* along an axis once */
    }
    return CUBED_OK;
}

cubed_status cb_lower(const cb_ir *ir, cb_zone *zone, const cb_kernels *kernels, int ndim,
                      const int64_t *shape, const cb_lower_root *roots, int nroots, bool load_roots,
                      const int *fold_nodes, int nfolds, cb_program *out, cubed_error *err)
{
    lowered l = {.ir = ir,
                 .kernels = kernels,
                 .zone = zone,
                 .roots = roots,
                 .nroots = nroots,
                 .load_roots = load_roots,
                 .fold_nodes = fold_nodes,
                 .nfolds = nfolds,
                 .widest = 1,
                 .out = out};
    cb_box whole = cb_box_whole(ndim, shape);
    memset(out, 0, sizeof *out);
    out->ndim = ndim;
    out->nresults = nroots;
    out->types = cb_zone_alloc(zone, (size_t)nroots * sizeof *out->types + 1);
    if (!out->types) return no_memory(err);
    for (int r = 0; r < nroots; r++) out->types[r] = carrier(ir->nodes[roots[r].node].dtype);
    if (cb_box_empty(&whole)) return CUBED_OK; /* no tasks: no code */
    CB_TRY(cb_zone_new(cb_zone_allocator(zone), &l.scratch, err));
    cubed_status st = add_branches(&l, &whole, err);
    if (st == CUBED_OK) {
        out->branches =
            cb_zone_memdup(zone, out->branches, (size_t)out->nbranches * sizeof *out->branches);
        if (!out->branches) st = no_memory(err);
    }
    if (st != CUBED_OK) out->nbranches = 0;
    cb_zone_free(l.scratch);
    out->reg_size = CB_VECTOR * l.widest;
    return st;
}
