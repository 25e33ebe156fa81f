/* Rechunks through intermediates.
 *
 * A stage whose tasks cross the borders of the chunks that they read decodes these chunks repeatedly. The planner in rechunk.c
 * decides whether intermediates are faster, and chooses their grids. This file inserts them before the stage's output. If a stage
 * computes or reads several arrays, the planner's formulas are not exact, so the projection is used (rechunk_judge.c). A solution
 * that does not fit together with the other stages is planned again for less memory. */

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "exec/plan/limits.h"
#include "exec/plan/operator.h"
#include "opt/opt.h"
#include "opt/rechunk_judge.h"

/* Passes through intermediates replace a stage whose tasks were found by trial (tile.c) only if their time is at most this
 * fraction of its time. */
#define WORTH_A_DETOUR 0.8

/* Returns the total size of the arrays that the stage loads, each counted once. */
static uint64_t read_once(const cubed_plan *p, const cb_stage *s)
{
    uint64_t bytes = 0;
    for (int b = 0; b < s->tail.nbranches; b++) {
        for (int v = 0; v < s->tail.branches[b].nloads; v++) {
            const cb_load *l = &s->tail.branches[b].loads[v];
            if (l->kind != CB_LOAD_STORED) continue;
            const cb_grid *g = p->ir.nodes[l->node].grid;
            bytes = cb_sat_add(bytes, cb_tile_grid_bytes(g, cubed_dtype_size(l->dtype)));
        }
    }
    return bytes;
}

/* Returns true if a map preserves an array's chunks: a slice, a flip or a transposition. The view then has one chunk for each
 * source chunk that it touches. */
static bool keeps_chunks(const cb_map *m, const cb_grid *source, const cb_grid *shape)
{
    uint64_t seen = 0;
    for (int k = 0; k < m->ndim_out; k++) {
        const int64_t at = m->dim[k].offset, stride = m->dim[k].stride;
        if (m->dim[k].axis < 0 || (stride != 1 && stride != -1)) return false;
        /* If the view is a piece of a concatenation, its map may select positions outside of the source. */
        int64_t end = at + stride * (shape->axis[m->dim[k].axis].extent - 1);
        if (cb_min_i64(at, end) < 0 || cb_max_i64(at, end) >= source->axis[k].extent) return false;
        seen |= UINT64_C(1) << m->dim[k].axis;
    }
    return shape->ndim == m->ndim_out && seen == (UINT64_C(1) << shape->ndim) - 1;
}

static bool keeps_order(const cb_map *m)
{
    for (int k = 0; k < m->ndim_out; k++) {
        if (m->dim[k].axis != k) return false;
    }
    return true;
}

/* Returns the grid of a view of a stored array: one chunk for each chunk of the array that the view contains at least partly. */
static cb_grid seen_grid(const cubed_plan *p, const cb_load *l, const cb_grid *shape)
{
    const cb_grid from = cb_grid_evened(p->ir.nodes[l->node].grid);
    cb_grid to = {.ndim = shape->ndim};
    for (int k = 0; k < from.ndim; k++) {
        const cb_axis *a = &from.axis[k];
        const int64_t at = l->map->dim[k].offset, extent = shape->axis[l->map->dim[k].axis].extent;
        cb_axis *seen = &to.axis[l->map->dim[k].axis];
        *seen = cb_axis_regular(extent, a->chunk);
        seen->clipped = a->clipped;
        const int64_t first = cb_axis_find(a, at);
        seen->first =
            l->map->dim[k].stride > 0 ? cb_axis_hi(a, first) - at : at - cb_axis_lo(a, first) + 1;
        /* If the view begins in the last chunk of the source, use the nominal length of that chunk. */
        if (first == cb_axis_count(a) - 1 && l->map->dim[k].stride > 0) seen->first = a->chunk;
    }
    return to;
}

/* Returns the first load of a stored array whose chunks the copy preserves; NULL if none. */
static const cb_load *source_of(const cubed_plan *p, const cb_stage *s)
{
    const cb_grid *shape = p->ir.nodes[s->outs[0].node].grid;
    for (int b = 0; b < s->tail.nbranches; b++) {
        for (int v = 0; v < s->tail.branches[b].nloads; v++) {
            const cb_load *l = &s->tail.branches[b].loads[v];
            if (l->kind == CB_LOAD_STORED && !l->reshape &&
                keeps_chunks(l->map, p->ir.nodes[l->node].grid, shape))
                return l;
        }
    }
    return NULL;
}

/* Result of the planner (rechunk.h) for a stage: passes through intermediates that could replace the stage, or better tasks
 * for the stage itself. */
typedef struct detour {
    int root;
    bool copy;       /* the stage only copies one array chunk by chunk */
    cb_judge *judge; /* NULL if the planner's formulas are exact */
    /* if not 0, passes replace the stage only if they take less than this by prediction; otherwise it keeps its tasks */
    double most_seconds;
    cb_rechunk_plan plan;
} detour;

static cubed_status set_tasks(cb_zone *zone, const cb_rechunk_pass *pass, cb_node *n,
                              cubed_error *err)
{
    n->coop = pass->coop;
    n->task_chunks = cb_zone_memdup(zone, pass->task_chunks, sizeof pass->task_chunks);
    return n->task_chunks ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
}

static cubed_status insert(void *ctx, cubed_plan *p, cb_ir *to, int i, const cb_node *n, int *out,
                           cubed_error *err)
{
    const detour *d = ctx;
    const int last = d->plan.npasses - 1;
    (void)p;
    if (i != d->root) return cb_ir_add(to, n, out, err);
    cb_node root = *n;
    int index = n->inputs[0];
    for (int k = 0; k < last; k++) {
        cb_node middle = {.kind = CB_NODE_COPY,
                          .dtype = n->dtype,
                          .grid = &d->plan.pass[k].target,
                          .ninputs = 1,
                          .inputs = &index,
                          .stored = true,
                          .origin = n->origin,
                          .why = CB_WHY_RECHUNK};
        CB_TRY(set_tasks(to->zone, &d->plan.pass[k], &middle, err));
        CB_TRY(cb_ir_add(to, &middle, &index, err));
    }
    root.inputs = &index;
    CB_TRY(set_tasks(to->zone, &d->plan.pass[last], &root, err));
    return cb_ir_add(to, &root, out, err);
}

/* Returns the size of the metadata that a run of the plan keeps; the stage counts as one pass. For each chunk, one more bit is
 * kept, rounded up to whole words. */
static cb_rechunk_run kept_by_run(const cubed_plan *p)
{
    const size_t pass = CB_RUN_NODE_BYTES + CB_RUN_STAGE_BYTES;
    return (cb_rechunk_run){.chunk = CB_RUN_CHUNK_BYTES + 1,
                            .pass = pass + sizeof(uint64_t),
                            .others = cb_plan_most_metadata(p) - pass,
                            .unreserved = cb_plan_uncounted_metadata(p->reserved_mem)};
}

/* Plans the passes that compute the output of stage `s` with at most `mem` bytes per worker (rechunk.h). Sets *found to false if
 * there is no such plan. */
static cubed_status plan_detour(const cubed_plan *p, const cb_stage *s, size_t mem, detour *d,
                                bool *found, cubed_error *err)
{
    const cb_node *n = &p->ir.nodes[d->root];
    const cb_load *l = source_of(p, s);
    cb_need write = cb_write_need(p, d->root), read = {0, 0}, part = {0, 0};
    size_t part_run = l && keeps_order(l->map) ? cb_node_subread_run(p, l->node) : 0;
    if (l) read = cb_read_need(p, l->node);
    if (part_run) part = cb_read_subread_need(p, l->node);
    cb_rechunk_in in = {.source = l ? seen_grid(p, l, n->grid)
                                    : cb_grid_evened(p->ir.nodes[n->inputs[0]].grid),
                        .target = cb_grid_evened(n->grid),
                        .item_size = cubed_dtype_size(n->dtype),
                        .mem = mem,
                        .coop = d->copy && !n->to_memory ? cb_opt_coop(p) : 1,
                        .read_extra = cb_sat_add(read.arena, read.library),
                        .write_extra = cb_sat_add(write.arena, write.library),
                        .part_run = d->copy ? part_run : 0,
                        .part_extra = cb_sat_add(part.arena, part.library),
                        .part_whole = l && cb_node_subread_is_whole(p, l->node),
                        .run = kept_by_run(p),
                        .worth = CB_OPT_TASK_BYTES,
                        .min_tasks = 4 * (int64_t)p->max_workers,
                        .alloc = &p->ctx->alloc};
    if (d->judge) cb_judge_ask(d->judge, d->copy, &in);
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st = cb_rechunk_plan_make(&in, &d->plan, &why);
    *found = st == CUBED_OK;
    /* If there is too little memory, the stage is not replaced, and the checks after planning report the error. */
    if (st == CUBED_OK || st == CUBED_E_BUDGET) return CUBED_OK;
    if (err) *err = why;
    return st;
}

uint64_t cb_opt_whole_need(const cubed_plan *p)
{
    cb_need most = {0, 0};
    for (int i = 0; i < p->nstages; i++) most = cb_need_either(most, p->stages[i].need);
    uint64_t kept = cb_plan_counted_metadata(cb_plan_metadata(p), p->reserved_mem);
    return cb_sat_add(cb_sat_add(most.arena, most.library), kept);
}

/* Accepts a plan with additional passes if it fits in memory. The planner has already found that the passes are faster. */
static bool has_room(const void *ctx, const cubed_plan *now, const cubed_plan *before)
{
    (void)ctx;
    const uint64_t need = cb_opt_whole_need(now);
    return need <= now->allowed_mem - now->reserved_mem || need <= cb_opt_whole_need(before);
}

static size_t most_mem(const cubed_plan *p)
{
    uint64_t mem = p->allowed_mem - p->reserved_mem;
    return mem > p->making.library_mem ? mem - p->making.library_mem : 0;
}

/* Gives a stage that copies directly between two grids the tasks that the planner chose. Undoes the change if the tasks do not
 * fit in memory. */
static cubed_status retile(cubed_plan *p, cb_stage *s, const detour *d, bool *done,
                           cubed_error *err)
{
    const cb_stage before = *s;
    cb_node *n = &p->ir.nodes[d->root];
    CB_TRY(set_tasks(p->ir.zone, &d->plan.pass[0], n, err));
    CB_TRY(cb_opt_tile(p, s, cb_opt_task_mem(p), err));
    *done = cb_opt_whole_need(p) <= p->allowed_mem - p->reserved_mem;
    if (*done) return CUBED_OK;
    *s = before;
    n->task_chunks = NULL;
    return CUBED_OK;
}

/* Replaces a stage by the passes through intermediates that the planner finds. If a single pass is best, gives the stage its
 * tasks instead. If the result does not fit in memory together with the other stages, plans again with less memory. */
static cubed_status plan_passes(cubed_plan *p, int stage, detour *d, bool *rewritten,
                                cubed_error *err)
{
    bool found = true, retiled = false;
    for (size_t mem = most_mem(p); !*rewritten && !retiled; mem = d->plan.need - 1) {
        CB_TRY(plan_detour(p, &p->stages[stage], mem, d, &found, err));
        if (!found) return CUBED_OK;
        if (d->most_seconds > 0 && (d->plan.npasses == 1 || d->plan.seconds >= d->most_seconds))
            return CUBED_OK;
        if (d->plan.npasses == 1)
            CB_TRY(retile(p, &p->stages[stage], d, &retiled, err));
        else
            CB_TRY(cb_opt_try_rewrite(p, insert, d, has_room, rewritten, err));
    }
    return CUBED_OK;
}

/* Returns true if the stage only copies an array chunk by chunk. */
static bool is_plain_copy(const cubed_plan *p, const cb_stage *s)
{
    return cb_stage_copied(s) && !cb_stage_reshapes(s) && source_of(p, s);
}

/* Returns true if the planner's formulas are exact for a copy. They are exact for copies of a whole array between regular
 * grids. A transposed copy must also read its chunks whole. */
static bool is_in_formulas(const cubed_plan *p, const cb_stage *s)
{
    const cb_load *l = source_of(p, s);
    const cb_grid *from = p->ir.nodes[l->node].grid, *to = p->ir.nodes[s->outs[0].node].grid;
    if (cb_grid_is_irregular(from) || cb_grid_is_irregular(to)) return false;
    for (int k = 0; k < from->ndim; k++) {
        if (from->axis[k].extent != to->axis[l->map->dim[k].axis].extent) return false;
    }
    return keeps_order(l->map) || cb_node_subread_run(p, l->node) == 0;
}

static uint64_t source_chunks(const cubed_plan *p, const cb_stage *s)
{
    const cb_grid seen = seen_grid(p, source_of(p, s), p->ir.nodes[s->outs[0].node].grid);
    return (uint64_t)cb_grid_count(&seen);
}

double cb_opt_stage_seconds(const cb_stage *s)
{
    return ((double)s->bytes_read + (double)s->bytes_written) / CB_RECHUNK_BANDWIDTH +
           ((double)s->chunks_read + (double)s->chunks_written) * CB_RECHUNK_LATENCY;
}

static cubed_status plan_stage(cubed_plan *p, int stage, bool *rewritten, cubed_error *err)
{
    const cb_stage *s = &p->stages[stage];
    detour d = {.root = s->outs[0].node, .copy = is_plain_copy(p, s)};
    cb_judge judge;
    *rewritten = false;
    if (d.copy && is_in_formulas(p, s)) {
        if (s->chunks_read <= source_chunks(p, s)) return CUBED_OK;
        return plan_passes(p, stage, &d, rewritten, err);
    }
    if (!cb_judge_is_needed(p, s)) return CUBED_OK;
    /* The planner's search cannot find better tasks for a stage with a reshape, because a reshaped array has no grid. So keep
     * the tasks that tile.c found, unless passes through intermediates are much faster. */
    if (cb_stage_reshapes(s)) d.most_seconds = WORTH_A_DETOUR * cb_opt_stage_seconds(s);
    CB_TRY(cb_judge_new(p, s, &judge, err));
    d.judge = &judge;
    cubed_status st = plan_passes(p, stage, &d, rewritten, err);
    cb_judge_free(&judge);
    return st;
}

cubed_status cb_opt_rechunk_passes(cubed_plan *p, cubed_error *err)
{
    /* Do not check the stages of inserted passes again: all intermediates of a stage are planned together. */
    for (int i = 0; i < p->nstages; i++) {
        const cb_stage *s = &p->stages[i];
        const int stages = p->nstages;
        bool rewritten = false;
        if (s->nouts != 1 || s->reduce || s->ntasks == 0 ||
            p->ir.nodes[s->outs[0].node].kind != CB_NODE_COPY)
            continue;
        CB_TRY(plan_stage(p, i, &rewritten, err));
        if (rewritten) i += p->nstages - stages;
    }
    return CUBED_OK;
}

/* --- Warnings ----------------------------------------------------------------------------------------- */

/* Users are warned if a stage reads its inputs more than this many times. */
#define MANY_READS 8.0

/* Returns how often a stage reads its inputs. Returns 0 if it reads little relative to its output, or if a block function causes
 * the reads. */
static double times_read(const cubed_plan *p, const cb_stage *s)
{
    const double once = (double)read_once(p, s), read = (double)s->bytes_read;
    if (!s->op->local || once == 0 || read <= MANY_READS * (double)s->bytes_written) return 0;
    return read / once;
}

/* Returns the memory with which a stage would read its inputs less often; 0: unknown. */
static uint64_t enough_memory(const cubed_plan *p, const cb_stage *s)
{
    detour d = {.root = s->outs[0].node, .copy = is_plain_copy(p, s)};
    bool found = true, often = true;
    if (!p->making.optimized || s->nouts != 1 || p->ir.nodes[d.root].kind != CB_NODE_COPY) return 0;
    for (size_t mem = most_mem(p); often && mem < SIZE_MAX / 2; mem *= 2) {
        if (plan_detour(p, s, 2 * mem, &d, &found, NULL) != CUBED_OK) return 0;
        often =
            !found || (double)d.plan.pass[0].bytes_read >
                          MANY_READS / 2 * (double)d.plan.pass[d.plan.npasses - 1].bytes_written;
    }
    /* Add a margin for the passes' metadata. */
    return often ? 0
                 : cb_sat_add(d.plan.need + d.plan.need / 16,
                              p->reserved_mem + p->making.library_mem);
}

/* Writes a warning for a plan that moves far more data than a plan with slightly more memory would move (advice.c). */
static void warn_of_slow_plan(const cubed_plan *p, char *text, size_t cap)
{
    char now[32], then[32];
    uint64_t requests = 0;
    for (int i = 0; i < p->nstages; i++)
        requests += p->stages[i].chunks_read + p->stages[i].chunks_written;
    cb_format_bytes(cb_opt_traffic(p), now);
    cb_format_bytes(p->cliff_bytes, then);
    snprintf(text, cap,
             "the run reads and writes %s in %" PRIu64 " requests; if %" PRIu64
             " bytes of memory are allowed, it reads and writes %s in "
             "%" PRIu64 " requests",
             now, requests, p->cliff_mem, then, p->cliff_requests);
}

bool cubed_plan_get_warning(const cubed_plan *p, int i, char *text, size_t cap)
{
    if (p->cliff_mem > 0 && i-- == 0) {
        warn_of_slow_plan(p, text, cap);
        return true;
    }
    for (int k = 0; k < p->nstages; k++) {
        const cb_stage *s = &p->stages[k];
        double times = times_read(p, s);
        if (times <= MANY_READS || i-- > 0) continue;
        uint64_t mem = enough_memory(p, s);
        int n = snprintf(
            text, cap,
            "stage %d (%s) reads its input %.0f times, because chunks do not fit in memory: ", k,
            s->name, times);
        if (n < 0 || (size_t)n >= cap) return true;
        if (mem > p->allowed_mem)
            snprintf(text + n, cap - (size_t)n,
                     "allow %" PRIu64 " bytes of memory or more, or use smaller chunks", mem);
        else
            snprintf(
                text + n, cap - (size_t)n,
                "allow more memory, or rechunk to chunks between those of input and output first");
        return true;
    }
    return false;
}
