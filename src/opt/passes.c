/* Rechunking through intermediates.
 *
 * A stage whose tasks straddle the chunks that they read decodes them again and again. The planner
 * of rechunk.c knows when it is faster to go through intermediates, and their grids. Here they are
 * put in front of the stage's output. What the planner does not see (a stage may compute, and read
 * several arrays) the projection judges: a detour that does not fit is planned again for less
 * memory, and one that moves more bytes than it may save is taken back. */

#include "base/error.h"
#include "opt/opt.h"
#include "opt/rechunk.h"
#include "plan/need.h"

/* Whatever is read fewer times than this is not worth a detour. */
#define MIN_REREADS 1.5

/* Bytes of all arrays that the stage loads, each once. */
static uint64_t read_once(const cubed_plan *p, const cb_stage *s)
{
    uint64_t bytes = 0;
    for (int b = 0; b < s->tail.nbranches; b++) {
        for (int v = 0; v < s->tail.branches[b].nloads; v++) {
            const cb_load *l = &s->tail.branches[b].loads[v];
            if (l->kind != CB_LOAD_STORED) continue;
            const cb_grid *g = &p->ir.nodes[l->node].grid;
            bytes =
                cb_sat_add(bytes, cb_sat_mul((size_t)cb_grid_count(g), cb_chunk_bytes(p, l->node)));
        }
    }
    return bytes;
}

static bool same_shape(const cb_grid *a, const cb_grid *b)
{
    for (int d = 0; d < a->ndim; d++) {
        if (a->axis[d].extent != b->axis[d].extent) return false;
    }
    return a->ndim == b->ndim;
}

/* The array that a copy is read from: the first stored one below it that has its shape; NULL if
 * there is none. */
static const cb_load *source_of(const cubed_plan *p, const cb_stage *s, const cb_grid *copy)
{
    for (int b = 0; b < s->tail.nbranches; b++) {
        for (int v = 0; v < s->tail.branches[b].nloads; v++) {
            const cb_load *l = &s->tail.branches[b].loads[v];
            if (l->kind == CB_LOAD_STORED && !l->reshape && cb_map_is_identity(l->map) &&
                same_shape(&p->ir.nodes[l->node].grid, copy)) /* else it is cut */
                return l;
        }
    }
    return NULL;
}

typedef struct detour {
    int root;
    bool copy;
    int nmiddles;
    cb_grid grid[CB_RECHUNK_MAX_PASSES - 1];
} detour;

static cubed_status insert(void *ctx, cubed_plan *p, cb_ir *to, int i, const cb_node *n, int *out,
                           cubed_error *err)
{
    const detour *d = ctx;
    (void)p;
    if (i != d->root) return cb_ir_add(to, n, out, err);
    cb_node root = *n;
    int index = n->inputs[0];
    for (int k = 0; k < d->nmiddles; k++) {
        cb_node middle = {.kind = CB_NODE_COPY,
                          .dtype = n->dtype,
                          .grid = d->grid[k],
                          .ninputs = 1,
                          .inputs = &index,
                          .stored = true,
                          .origin = n->origin,
                          .why = CB_WHY_RECHUNK};
        CB_TRY(cb_ir_add(to, &middle, &index, err));
    }
    root.inputs = &index;
    return cb_ir_add(to, &root, out, err);
}

/* Asks the planner for intermediates in front of stage `s`; memory is divided by `part`. */
static cubed_status plan_detour(const cubed_plan *p, const cb_stage *s, double part, detour *d,
                                cubed_error *err)
{
    const cb_node *n = &p->ir.nodes[d->root];
    const cb_load *l = source_of(p, s, &n->grid);
    cb_need write = cb_write_need(p, d->root);
    size_t read_extra = 0;
    d->nmiddles = 0;
    if (l) {
        cb_need read = cb_read_need(p, l->node);
        read_extra = cb_sat_add(read.arena, read.library);
    }
    cb_rechunk_in in = {.source = cb_grid_evened(&p->ir.nodes[l ? l->node : n->inputs[0]].grid),
                        .target = cb_grid_evened(&n->grid),
                        .item_size = cubed_dtype_size(n->dtype),
                        .mem = (size_t)((double)cb_opt_arena_mem(p) / part),
                        .team = d->copy ? cb_opt_team(p) : 1,
                        .read_extra = read_extra,
                        .write_extra = cb_sat_add(write.arena, write.library),
                        .fixed = cb_bookkeeping_bytes(s),
                        .worth = CB_OPT_TASK_BYTES,
                        .min_tasks = 4 * (int64_t)p->max_workers};
    cb_rechunk_plan plan;
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st = cb_rechunk_plan_make(&in, &plan, &why);
    if (st == CUBED_E_BUDGET) return CUBED_OK; /* the refusal is written when all is planned */
    if (st != CUBED_OK) {
        if (err) *err = why;
        return st;
    }
    d->nmiddles = plan.npasses - 1;
    for (int k = 0; k < d->nmiddles; k++) d->grid[k] = plan.pass[k].target;
    return CUBED_OK;
}

/* Of a copy the planner knows more than bytes: requests. */
static bool saves(const void *ctx, const cubed_plan *now, const cubed_plan *before)
{
    const detour *d = ctx;
    return d->copy || cb_opt_traffic(now) < cb_opt_traffic(before);
}

static cubed_status try_detour(cubed_plan *p, const cb_stage *s, double part, bool *better,
                               cubed_error *err)
{
    detour d = {.root = s->outs[0].node, .copy = s->copy && !cb_stage_reshapes(s)};
    *better = false;
    CB_TRY(plan_detour(p, s, part, &d, err));
    return d.nmiddles ? cb_opt_try_rewrite(p, insert, &d, saves, better, err) : CUBED_OK;
}

cubed_status cb_opt_rechunk_passes(cubed_plan *p, cubed_error *err)
{
    static const double parts[] = {1, 1.3, 2, 4};
    /* Stages that a detour made are looked at no more: intermediates are planned all at once. */
    for (int i = 0; i < p->nstages; i++) {
        const cb_stage *s = &p->stages[i];
        bool better = false;
        if (s->nouts != 1 || s->nfolds || s->ntasks == 0 ||
            p->ir.nodes[s->outs[0].node].kind != CB_NODE_COPY ||
            (double)s->bytes_read < MIN_REREADS * (double)read_once(p, s))
            continue;
        for (size_t k = 0; k < sizeof parts / sizeof *parts && !better; k++) {
            int stages = p->nstages;
            CB_TRY(try_detour(p, &p->stages[i], parts[k], &better, err));
            if (better) i += p->nstages - stages;
        }
    }
    return CUBED_OK;
}
