#include "exec/plan/lower.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "dtype/scalar.h"
#include "plan/reduction.h"
#include "plan/seen.h"

typedef struct lowering {
    const cb_ir *ir;
    const cb_kernels *kernels;
    cb_zone *zone; /* memory of growing lists, which is freed at the end of the branch */
    cb_zone *out;  /* memory of lists that become part of the program */
    const int *reduce_nodes;
    int nreductions;
    cb_box box; /* box of the domain that the branch computes */
    /* value numbers by node and map, so that a branch computes a node only once for equal maps */
    cb_seen values;
    /* While the branch is compiled, loads are numbered from 0 and instructions from CB_MAX_VALUES on. settle() assigns the
     * final numbers. */
    cb_load *loads;
    int nloads, load_cap;
    cb_instr *instrs;
    int ninstrs, instr_cap;
    uint8_t *types; /* types of the instructions' results */
} lowering;

/* Positions at which a box is divided into branches. */
typedef struct cuts {
    const cb_ir *ir;
    cb_zone *zone;
    int first;                   /* the axis that was divided first; -1: none */
    int64_t *at[CUBED_MAX_NDIM]; /* sorted positions by axis, without the box's ends */
    int n[CUBED_MAX_NDIM], cap[CUBED_MAX_NDIM];
    cb_seen seen; /* nodes that the search for positions has visited */
} cuts;

static cubed_status no_memory(cubed_error *err)
{
    return cb_fail(err, CUBED_E_NOMEM, "no memory to compile the plan");
}

/* Adds a load, with copies of its map and steps. */
static cubed_status add_load(lowering *lo, const cb_load *load, int *value, cubed_error *err)
{
    cb_load *made;
    if (lo->nloads >= CB_MAX_VALUES)
        return cb_fail(err, CUBED_E_BUDGET, "one stage reads more than %d arrays", CB_MAX_VALUES);
    if (!cb_zone_grow(lo->zone, &lo->loads, lo->nloads, &lo->load_cap, sizeof *load))
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
    if (!cb_zone_grow(lo->zone, &lo->instrs, lo->ninstrs, &lo->instr_cap, sizeof *instr))
        return no_memory(err);
    lo->instrs[lo->ninstrs] = *instr;
    *value = CB_MAX_VALUES + lo->ninstrs++;
    return CUBED_OK;
}

static cubed_status remember(lowering *lo, int node, const cb_map *map, int value, cubed_error *err)
{
    return cb_seen_add(&lo->values, node, map, NULL, value, err);
}

/* Returns the piece of a concatenation at a position. A branch needs only one piece, because boxes are divided between pieces. */
static int find_piece(const cb_node *n, int64_t position)
{
    int lo = 0, hi = n->ninputs - 1;
    while (lo < hi) {
        const int middle = lo + (hi - lo) / 2;
        if (n->begins[middle + 1] > position)
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

static cubed_status lower_node(lowering *lo, int node, const cb_map *map, bool is_root, int *value,
                               cubed_error *err);

/* Returns the type in which programs compute values of this type. Programs ignore units, so times are int64. */
static cubed_dtype carrier(cubed_dtype dtype)
{
    return cubed_dtype_kind(dtype) == CUBED_KIND_TIME ? CUBED_INT64 : dtype;
}

/* Adds a load of a node with a map. The caller sets the other fields of `load`. */
static cubed_status load_node(lowering *lo, cb_load load, int node, const cb_map *map, int *value,
                              cubed_error *err)
{
    load.dtype = carrier(lo->ir->nodes[node].dtype);
    load.node = node;
    load.map = map;
    CB_TRY(add_load(lo, &load, value, err));
    return remember(lo, node, map, *value, err);
}

static cubed_status lower_stored(lowering *lo, int node, const cb_map *map, int *value,
                                 cubed_error *err)
{
    const bool in_place = cb_node_in_memory(&lo->ir->nodes[node]);
    cb_load load = {.kind = in_place ? CB_LOAD_MEMORY : CB_LOAD_STORED};
    return load_node(lo, load, node, map, value, err);
}

static cubed_status lower_full(lowering *lo, int node, const cb_map *map, int *value,
                               cubed_error *err)
{
    cb_load load = {.kind = CB_LOAD_CONST, .value = lo->ir->nodes[node].value};
    return load_node(lo, load, node, map, value, err);
}

static cubed_status lower_chunk_position(lowering *lo, int node, const cb_map *map, int *value,
                                         cubed_error *err)
{
    return load_node(lo, (cb_load){.kind = CB_LOAD_CHUNK_POSITION}, node, map, value, err);
}

static cubed_status lower_index(lowering *lo, int node, const cb_map *map, int *value,
                                cubed_error *err)
{
    const cb_node *n = &lo->ir->nodes[node];
    int64_t step[CUBED_MAX_NDIM] = {0}, stride = 1;
    cb_load load = {.kind = CB_LOAD_INDEX, .start = n->start, .step = step};
    for (int d = n->grid->ndim - 1; d >= 0; d--) {
        /* The arithmetic is unsigned, because sums of integers wrap around. */
        uint64_t from = (uint64_t)stride * (uint64_t)map->dim[d].offset;
        load.start = (int64_t)((uint64_t)load.start + from);
        if (map->dim[d].axis >= 0) step[map->dim[d].axis] += stride * map->dim[d].stride;
        stride *= n->grid->axis[d].extent;
    }
    return load_node(lo, load, node, map, value, err);
}

static bool is_number(const lowering *lo, int value)
{
    return value < CB_MAX_VALUES && lo->loads[value].kind == CB_LOAD_CONST;
}

static cubed_status lower_cast(lowering *lo, int node, const cb_map *map, int *value,
                               cubed_error *err)
{
    const cb_node *n = &lo->ir->nodes[node], *in = &lo->ir->nodes[n->inputs[0]];
    int arg;
    cb_map m;
    CB_TRY(cb_ir_input_map(lo->ir, n, 0, map, &m, err));
    CB_TRY(lower_node(lo, n->inputs[0], &m, false, &arg, err));
    cubed_dtype from = carrier(in->dtype), to = carrier(n->dtype);
    if (from == to) {
        *value = arg;
        return remember(lo, node, map, *value, err);
    }
    if (is_number(lo, arg) && from < CUBED_DTYPE_COUNT && to < CUBED_DTYPE_COUNT) {
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

/* Computes an operation on constants with its kernel. Returns false if an operand is not a constant. */
static bool compute_number(const lowering *lo, const cb_instr *in, cubed_scalar *out)
{
    const void *arg[3];
    if (in->dtype >= CUBED_DTYPE_COUNT || in->to >= CUBED_DTYPE_COUNT) return false;
    for (int i = 0; i < in->nargs; i++) {
        if (!is_number(lo, in->arg[i])) return false;
    }
    for (int i = 0; i < 3; i++) arg[i] = &lo->loads[in->arg[i < in->nargs ? i : 0]].value;
    lo->kernels->elem[in->op][in->dtype](out, arg[0], arg[1], arg[2], 1);
    return true;
}

/* Replaces *v by its inverse if it is a power of two. Then a product with the inverse is bitwise equal to the quotient.
 * Returns false if *v is not a power of two, if the inverse lacks full precision, or if the type is not float32 or float64. */
static bool invert(cubed_dtype dtype, cubed_scalar *v)
{
    const double x = dtype == CUBED_FLOAT32 ? (double)v->f32 : v->f64;
    int exponent;
    if (dtype != CUBED_FLOAT32 && dtype != CUBED_FLOAT64) return false;
    if (fabs(frexp(x, &exponent)) != 0.5) return false;
    *v = cb_scalar_from_double(dtype, 1 / x);
    return dtype == CUBED_FLOAT32 ? isnormal(v->f32) : isnormal(v->f64);
}

/* Replaces a division by a power of two with a multiplication, which takes a fraction of the time. */
static cubed_status multiply_instead(lowering *lo, cb_instr *in, cubed_error *err)
{
    int inverse;
    if (in->op != CUBED_OP_DIVIDE || !is_number(lo, in->arg[1])) return CUBED_OK;
    cb_load load = lo->loads[in->arg[1]];
    if (!invert((cubed_dtype)in->dtype, &load.value)) return CUBED_OK;
    CB_TRY(add_load(lo, &load, &inverse, err));
    in->op = CUBED_OP_MULTIPLY;
    in->quotients = 1;
    in->arg[1] = (uint16_t)inverse;
    return CUBED_OK;
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
        cb_map m;
        int arg;
        CB_TRY(cb_ir_input_map(lo->ir, n, i, map, &m, err));
        CB_TRY(lower_node(lo, n->inputs[i], &m, false, &arg, err));
        instr.arg[i] = (uint16_t)arg;
    }
    cb_load number = {.kind = CB_LOAD_CONST};
    if (compute_number(lo, &instr, &number.value))
        return load_node(lo, number, node, map, value, err);
    CB_TRY(multiply_instead(lo, &instr, err));
    CB_TRY(add_instr(lo, &instr, value, err));
    return remember(lo, node, map, *value, err);
}

/* Compiles the load of a field of records. The records must be loaded from an array, because the virtual machine has no
 * registers for records. */
static cubed_status lower_field(lowering *lo, int node, const cb_map *map, int *value,
                                cubed_error *err)
{
    const cb_node *n = &lo->ir->nodes[node];
    const cubed_dtype to = carrier(n->dtype);
    int arg;
    cb_map m;
    CB_TRY(cb_ir_input_map(lo->ir, n, 0, map, &m, err));
    CB_TRY(lower_node(lo, n->inputs[0], &m, false, &arg, err));
    if (arg >= CB_MAX_VALUES) return cb_fail(err, CUBED_E_FORMAT, "node %d has no records", node);
    cb_instr instr = {.kind = CB_INSTR_FIELD,
                      .dtype = (uint8_t)to,
                      .to = (uint8_t)to,
                      .op = (uint16_t)n->offset,
                      .swapped = n->swapped,
                      .nargs = 1,
                      .arg = {(uint16_t)arg}};
    CB_TRY(add_instr(lo, &instr, value, err));
    return remember(lo, node, map, *value, err);
}

static cubed_status lower_concat(lowering *lo, int node, const cb_map *map, int *value,
                                 cubed_error *err)
{
    const cb_node *n = &lo->ir->nodes[node];
    cb_box image;
    cb_map_image(map, &lo->box, &image);
    const int piece = find_piece(n, image.lo[n->axis]);
    cb_map m = *map;
    m.dim[n->axis].offset -= n->begins[piece];
    return lower_node(lo, n->inputs[piece], &m, false, value, err);
}

static cubed_status lower_view(lowering *lo, int node, const cb_map *map, int *value,
                               cubed_error *err)
{
    const cb_node *n = &lo->ir->nodes[node];
    cb_map m;
    CB_TRY(cb_ir_input_map(lo->ir, n, 0, map, &m, err));
    return lower_node(lo, n->inputs[0], &m, false, value, err);
}

/* Compiles the input of a copy or of running totals. If the input is stored, the code loads it. */
static cubed_status lower_input(lowering *lo, int node, const cb_map *map, int *value,
                                cubed_error *err)
{
    return lower_node(lo, lo->ir->nodes[node].inputs[0], map, false, value, err);
}

static cubed_status lower_reshape(lowering *lo, int node, const cb_map *map, int *value,
                                  cubed_error *err)
{
    const cb_node *n = &lo->ir->nodes[node];
    cb_load load = {.kind = CB_LOAD_STORED,
                    .dtype = carrier(n->dtype),
                    .node = cb_ir_below_copies(lo->ir, n->inputs[0]),
                    .map = map,
                    .reshape = node};
    CB_TRY(add_load(lo, &load, value, err));
    return remember(lo, node, map, *value, err);
}

static cubed_status lower_reduction(lowering *lo, int node, const cb_map *map, int *value,
                                    cubed_error *err)
{
    for (int k = 0; k < lo->nreductions; k++) {
        if (lo->reduce_nodes[k] != node) continue;
        cb_load load = {
            .kind = CB_LOAD_REDUCE, .dtype = lo->ir->nodes[node].dtype, .reduction = k, .map = map};
        CB_TRY(add_load(lo, &load, value, err));
        return remember(lo, node, map, *value, err);
    }
    return cb_fail(err, CUBED_E_FORMAT, "node %d reduces inside another stage", node);
}

/* Returns an error for nodes that stages compute without a program. In a valid plan, such nodes are stored, and programs load
 * them. */
static cubed_status lower_none(lowering *lo, int node, const cb_map *map, int *value,
                               cubed_error *err)
{
    (void)lo;
    (void)map;
    *value = -1;
    return cb_fail(err, CUBED_E_FORMAT, "node %d has no code", node);
}

/* Compiler functions for a kind of nodes. `lower` compiles a node. `cut` divides the domain of a program at borders of
 * concatenated pieces at or below a virtual node; if it is NULL, nodes below are ignored. The table is here and not in
 * src/plan (plan/kinds.h), because src/plan must not depend on programs. */
typedef struct kind_code {
    cubed_status (*lower)(lowering *lo, int node, const cb_map *map, int *value, cubed_error *err);
    cubed_status (*cut)(cuts *c, const cb_node *n, const cb_map *map, const cb_box *box,
                        cubed_error *err);
} kind_code;

static cubed_status cut_inputs(cuts *c, const cb_node *n, const cb_map *map, const cb_box *box,
                               cubed_error *err);
static cubed_status cut_concat(cuts *c, const cb_node *n, const cb_map *map, const cb_box *box,
                               cubed_error *err);

static const kind_code kinds[CB_NODE_KINDS] = {
    [CB_NODE_ZARR] = {lower_stored, NULL},
    [CB_NODE_MEMORY] = {lower_stored, NULL},
    [CB_NODE_READER] = {lower_stored, NULL},
    [CB_NODE_FULL] = {lower_full, NULL},
    [CB_NODE_INDEX] = {lower_index, NULL},
    [CB_NODE_CHUNK_POSITION] = {lower_chunk_position, NULL},
    [CB_NODE_ELEM] = {lower_elem, cut_inputs},
    [CB_NODE_CAST] = {lower_cast, cut_inputs},
    [CB_NODE_FIELD] = {lower_field, cut_inputs},
    [CB_NODE_VIEW] = {lower_view, cut_inputs},
    [CB_NODE_CONCAT] = {lower_concat, cut_concat},
    [CB_NODE_COPY] = {lower_input, cut_inputs},
    [CB_NODE_SCAN] = {lower_input, cut_inputs},
    [CB_NODE_RESHAPE] = {lower_reshape, NULL},
    [CB_NODE_REDUCE] = {lower_reduction, NULL},
    [CB_NODE_MERGE] = {lower_reduction, NULL},
    [CB_NODE_PARTIAL] = {lower_none, NULL},
    [CB_NODE_MERGE_PARTIAL] = {lower_none, NULL},
    [CB_NODE_BLOCKWISE] = {lower_none, NULL},
    [CB_NODE_COMPRESS] = {lower_none, NULL},
};

bool cb_lower_has_kind(cb_node_kind kind) { return kinds[kind].lower != NULL; }

static cubed_status lower_node(lowering *lo, int node, const cb_map *map, bool is_root, int *value,
                               cubed_error *err)
{
    const cb_node *n = &lo->ir->nodes[node];
    const int *known = cb_seen_find(&lo->values, node, map, NULL);
    if (known) {
        *value = *known;
        return CUBED_OK;
    }
    if (n->stored && !is_root) return lower_stored(lo, node, map, value, err);
    return kinds[n->kind].lower(lo, node, map, value, err);
}

/* --- Branches: the domain is divided at the borders of concatenated pieces --------------------------- */

static cubed_status add_cut(cuts *c, int axis, int64_t x, cubed_error *err)
{
    int i = 0, end = c->n[axis];
    while (i < end) {
        const int middle = i + (end - i) / 2;
        if (c->at[axis][middle] < x)
            i = middle + 1;
        else
            end = middle;
    }
    if (i < c->n[axis] && c->at[axis][i] == x) return CUBED_OK;
    if (c->first < 0) c->first = axis;
    if (!cb_zone_grow(c->zone, &c->at[axis], c->n[axis], &c->cap[axis], sizeof(int64_t)))
        return no_memory(err);
    memmove(c->at[axis] + i + 1, c->at[axis] + i, (size_t)(c->n[axis] - i) * sizeof(int64_t));
    c->at[axis][i] = x;
    c->n[axis]++;
    return CUBED_OK;
}

static cubed_status find_cuts(cuts *c, int node, const cb_map *map, const cb_box *box, bool is_root,
                              cubed_error *err);

/* Sets the part of a box in which off + s * x of an axis is in [start, end). Returns false if the part is empty. */
static bool cut_box(const cb_box *box, int axis, int64_t off, int64_t s, int64_t start, int64_t end,
                    cb_box *part)
{
    *part = *box;
    if (axis < 0) return off >= start && off < end;
    /* start <= off + s*x < end, solved for x */
    int64_t lo =
        s > 0 ? cb_ceil_div(cb_max_i64(0, start - off), s) : (off < end ? 0 : (off - end) / -s + 1);
    int64_t hi = s > 0 ? cb_ceil_div(cb_max_i64(0, end - off), s)
                       : (off < start ? 0 : (off - start) / -s + 1);
    part->lo[axis] = cb_max_i64(box->lo[axis], lo);
    part->hi[axis] = cb_min_i64(box->hi[axis], hi);
    return part->lo[axis] < part->hi[axis];
}

/* Divides the box at the borders of the concatenated pieces, and continues the search below each piece, for the piece's part
 * of the box. */
static cubed_status cut_concat(cuts *c, const cb_node *n, const cb_map *map, const cb_box *box,
                               cubed_error *err)
{
    const int axis = map->dim[n->axis].axis;
    cb_box image, part;
    cb_map_image(map, box, &image);
    const int last = find_piece(n, image.hi[n->axis] - 1);
    for (int i = find_piece(n, image.lo[n->axis]); i <= last; i++) {
        if (!cut_box(box, axis, map->dim[n->axis].offset, map->dim[n->axis].stride, n->begins[i],
                     n->begins[i + 1], &part))
            continue;
        if (axis >= 0 && part.lo[axis] > box->lo[axis])
            CB_TRY(add_cut(c, axis, part.lo[axis], err));
        if (axis >= 0 && part.hi[axis] < box->hi[axis])
            CB_TRY(add_cut(c, axis, part.hi[axis], err));
        cb_map m = *map;
        m.dim[n->axis].offset -= n->begins[i];
        CB_TRY(find_cuts(c, n->inputs[i], &m, &part, false, err));
    }
    return CUBED_OK;
}

static cubed_status cut_inputs(cuts *c, const cb_node *n, const cb_map *map, const cb_box *box,
                               cubed_error *err)
{
    for (int i = 0; i < n->ninputs; i++) {
        cb_map m;
        CB_TRY(cb_ir_input_map(c->ir, n, i, map, &m, err));
        CB_TRY(find_cuts(c, n->inputs[i], &m, box, false, err));
    }
    return CUBED_OK;
}

static cubed_status find_cuts(cuts *c, int node, const cb_map *map, const cb_box *box, bool is_root,
                              cubed_error *err)
{
    const cb_node *n = &c->ir->nodes[node];
    if (!kinds[n->kind].cut || (n->stored && !is_root)) return CUBED_OK;
    if (cb_seen_find(&c->seen, node, map, box)) return CUBED_OK;
    CB_TRY(cb_seen_add(&c->seen, node, map, box, 0, err));
    return kinds[n->kind].cut(c, n, map, box, err);
}

/* --- A program ---------------------------------------------------------------------------------- */

static uint16_t settle(const lowering *lo, int value)
{
    return (uint16_t)(value < CB_MAX_VALUES ? value : value - CB_MAX_VALUES + lo->nloads);
}

typedef struct lowered {
    cb_lower_request q;
    cb_zone *scratch;
    int cap; /* capacity of out->branches, which grows in scratch memory */
    size_t widest;
    cb_program *out;
} lowered;

static cubed_status lower_branch(const lowered *l, lowering *lo, cb_branch *out, cubed_error *err)
{
    const size_t bounds = (size_t)lo->box.ndim * sizeof *out->lo;
    out->lo = cb_zone_memdup(l->q.zone, lo->box.lo, bounds);
    out->hi = cb_zone_memdup(l->q.zone, lo->box.hi, bounds);
    out->results = cb_zone_alloc(l->q.zone, (size_t)l->q.nroots * sizeof *out->results);
    int *values = cb_zone_alloc(lo->zone, (size_t)l->q.nroots * sizeof *values);
    if (!out->results || !values || !out->lo || !out->hi) return no_memory(err);
    for (int r = 0; r < l->q.nroots; r++)
        CB_TRY(lower_node(lo, l->q.roots[r].node, &l->q.roots[r].map, !l->q.load_roots, &values[r],
                          err));
    for (int r = 0; r < l->q.nroots; r++) out->results[r] = settle(lo, values[r]);
    for (int i = 0; i < lo->ninstrs; i++) {
        for (int k = 0; k < lo->instrs[i].nargs; k++)
            lo->instrs[i].arg[k] = settle(lo, lo->instrs[i].arg[k]);
    }
    out->nloads = lo->nloads;
    out->loads = cb_zone_memdup(l->q.zone, lo->loads, (size_t)lo->nloads * sizeof *lo->loads);
    out->ninstrs = lo->ninstrs;
    out->instrs = cb_zone_memdup(l->q.zone, lo->instrs, (size_t)lo->ninstrs * sizeof *lo->instrs);
    return out->loads && out->instrs ? CUBED_OK : no_memory(err);
}

static cubed_status compile_branch(lowered *l, lowering *lo, cb_branch *out, cubed_error *err)
{
    int nregs;
    CB_TRY(lower_branch(l, lo, out, err));
    cb_code code = {lo->zone, l->q.kernels, out, l->q.nroots, l->q.roots};
    CB_TRY(cb_allocate_registers(&code, &nregs, &l->widest, err));
    if (nregs > l->out->nregs) l->out->nregs = nregs;
    return CUBED_OK;
}

static cubed_status add_branch(lowered *l, const cb_box *box, cubed_error *err)
{
    cb_program *out = l->out;
    lowering lo = {.ir = l->q.ir,
                   .kernels = l->q.kernels,
                   .out = l->q.zone,
                   .reduce_nodes = l->q.reduce_nodes,
                   .nreductions = l->q.nreductions,
                   .box = *box};
    if (out->nbranches == CB_MAX_BRANCHES)
        return cb_fail(err, CUBED_E_BUDGET, "one stage concatenates more than %d pieces of arrays",
                       CB_MAX_BRANCHES);
    if (!cb_zone_grow(l->scratch, &out->branches, out->nbranches, &l->cap, sizeof(cb_branch)))
        return no_memory(err);
    CB_TRY(cb_zone_new(cb_zone_allocator(l->q.zone), &lo.zone, err));
    lo.values.zone = lo.zone;
    cubed_status st = compile_branch(l, &lo, &out->branches[out->nbranches++], err);
    cb_zone_free(lo.zone);
    return st;
}

static cubed_status add_branches(lowered *l, const cb_box *box, bool whole, cubed_error *err);

/* Divides each part of the box independently along the other axes, because the part may contain further pieces of a
 * concatenation. */
static cubed_status cut_branches(lowered *l, cuts *c, const cb_box *box, bool whole,
                                 cubed_error *err)
{
    for (int r = 0; r < l->q.nroots; r++)
        CB_TRY(find_cuts(c, l->q.roots[r].node, &l->q.roots[r].map, box, !l->q.load_roots, err));
    if (whole) l->out->cut = c->first;
    if (c->first < 0) return add_branch(l, box, err);
    for (int i = 0; i <= c->n[c->first]; i++) {
        cb_box part = *box;
        if (i > 0) part.lo[c->first] = c->at[c->first][i - 1];
        if (i < c->n[c->first]) part.hi[c->first] = c->at[c->first][i];
        /* recursion depth: at most one level per axis, because each axis is divided once */
        CB_TRY(add_branches(l, &part, false, err));
    }
    return CUBED_OK;
}

static cubed_status add_branches(lowered *l, const cb_box *box, bool whole, cubed_error *err)
{
    cuts c = {.ir = l->q.ir, .first = -1};
    CB_TRY(cb_zone_new(cb_zone_allocator(l->q.zone), &c.zone, err));
    c.seen.zone = c.zone;
    cubed_status st = cut_branches(l, &c, box, whole, err);
    cb_zone_free(c.zone);
    return st;
}

static int by_number(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

int cb_sort_unique(int *list, int n)
{
    int kept = 0;
    qsort(list, (size_t)n, sizeof *list, by_number);
    for (int i = 0; i < n; i++) {
        if (i == 0 || list[i] != list[i - 1]) list[kept++] = list[i];
    }
    return kept;
}

static cubed_status find_reads(const lowered *l, cb_program *prog, cubed_error *err)
{
    size_t n = 0;
    for (int b = 0; b < prog->nbranches; b++) n += (size_t)prog->branches[b].nloads;
    int *reads = cb_zone_alloc(l->scratch, n * sizeof *reads);
    if (!reads) return no_memory(err);
    n = 0;
    for (int b = 0; b < prog->nbranches; b++) {
        for (int v = 0; v < prog->branches[b].nloads; v++) {
            const cb_load *load = &prog->branches[b].loads[v];
            if (load->kind == CB_LOAD_STORED || load->kind == CB_LOAD_MEMORY)
                reads[n++] = load->node;
        }
    }
    prog->nreads = cb_sort_unique(reads, (int)n);
    prog->reads = cb_zone_memdup(l->q.zone, reads, (size_t)prog->nreads * sizeof *reads);
    return prog->reads ? CUBED_OK : no_memory(err);
}

cubed_status cb_lower(const cb_lower_request *q, cb_program *out, cubed_error *err)
{
    lowered l = {.q = *q, .widest = 1, .out = out};
    cb_box whole = cb_box_whole(q->ndim, q->shape);
    memset(out, 0, sizeof *out);
    out->ndim = q->ndim;
    out->cut = -1;
    out->nresults = q->nroots;
    out->types = cb_zone_alloc(q->zone, (size_t)q->nroots * sizeof *out->types + 1);
    if (!out->types) return no_memory(err);
    for (int r = 0; r < q->nroots; r++)
        out->types[r] = carrier(q->ir->nodes[q->roots[r].node].dtype);
    /* An empty domain has no tasks, and needs no code. */
    if (cb_box_empty(&whole)) return CUBED_OK;
    CB_TRY(cb_zone_new(cb_zone_allocator(q->zone), &l.scratch, err));
    cubed_status st = add_branches(&l, &whole, true, err);
    if (st == CUBED_OK) {
        out->branches =
            cb_zone_memdup(q->zone, out->branches, (size_t)out->nbranches * sizeof *out->branches);
        st = out->branches ? find_reads(&l, out, err) : no_memory(err);
    }
    if (st != CUBED_OK) out->nbranches = out->nreads = 0;
    cb_zone_free(l.scratch);
    out->vector = CB_VECTOR;
    out->reg_size = CB_VECTOR * l.widest;
    return st;
}
