/* Chooses how many output chunks a task produces. A source chunk that crosses the border between two tasks is decoded by both
 * tasks. With larger tasks fewer chunks cross borders, but a task needs more memory. The search starts with one chunk per
 * task. In each step, it increases the number of chunks along the axis that saves the most bytes. It ends if no increase that
 * fits in memory saves at least 3 %. Bytes that are cheap to read again do not count, because larger tasks leave the processor's
 * cache. Each number is evaluated by projecting the stage, which is exact and cheap. */
#include <string.h>

#include "base/error.h"
#include "exec/plan/operator.h"
#include "exec/plan/traffic.h"
#include "opt/opt.h"
#include "opt/rechunk_tile.h"

/* Returns the number of bytes that the stage would decode if it decoded every chunk once, a lower bound for the search. Chunks
 * that are cheap to read again are not counted. */
static uint64_t floor_of(const cubed_plan *p, const cb_stage *s)
{
    uint64_t bytes = 0;
    for (int i = 0; i < s->ninputs; i++) {
        if (!cb_node_is_cheap(p, s->inputs[i]))
            bytes = cb_sat_add(bytes, cb_stored_bytes(p, s->inputs[i]));
    }
    return bytes;
}

static uint64_t cost_of(const cb_stage *s) { return s->bytes_read - s->bytes_cheap; }

/* Projects a stage with other numbers of chunks per task. Nothing is compiled again, because programs do not depend on these
 * numbers. */
static cubed_status try_chunks(const cubed_plan *p, const cb_stage *base, const int64_t *chunks,
                               cb_stage *out, cubed_error *err)
{
    *out = *base;
    memcpy(out->task_chunks, chunks, sizeof out->task_chunks);
    CB_TRY(cb_stage_set_tasks(out, err));
    cb_stage_project(p, out);
    return CUBED_OK;
}

enum { MAX_COUNTS = 16 };

/* Lists numbers of chunks per task to try along axis d: a few multiples of the current number, and the next number for which
 * the starts of tasks are starts of source chunks. */
static int list_counts(const cubed_plan *p, const cb_stage *s, int d, int64_t *counts)
{
    static const int factors[] = {2, 3, 5, 8};
    int64_t now = s->task_chunks[d], own = s->kept->axis[d].chunk;
    int n = 0;
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) counts[n++] = now * factors[f];
    for (int b = 0; b < s->tail.nbranches; b++) {
        for (int v = 0; v < s->tail.branches[b].nloads; v++) {
            const cb_load *l = &s->tail.branches[b].loads[v];
            /* Skip a reshape, whose axes differ from those of the source. */
            if (l->reshape) continue;
            for (int k = 0; k < l->map->ndim_out && l->kind == CB_LOAD_STORED; k++) {
                if (l->map->dim[k].axis != d || n == MAX_COUNTS) continue;
                int64_t chunk = p->ir.nodes[l->node].grid->axis[k].chunk;
                int64_t aligned = cb_ceil_div(chunk, own);
                if (aligned > 1) counts[n++] = (now / aligned + 1) * aligned;
            }
        }
    }
    return n;
}

/* Chooses the tasks of a copy by the formulas of rechunk_tile.h. */
static cubed_status tile_copy(const cubed_plan *p, cb_stage *s, uint64_t mem, cubed_error *err)
{
    const cb_load *l = cb_stage_copied(s);
    const cb_node *out = &p->ir.nodes[s->outs[0].node];
    cb_need read = cb_read_need(p, l->node), write = cb_write_need(p, s->outs[0].node);
    size_t part_run = cb_node_subread_run(p, l->node);
    cb_need part = part_run ? cb_read_subread_need(p, l->node) : (cb_need){0, 0};
    cb_grid from = cb_grid_evened(p->ir.nodes[l->node].grid), to = cb_grid_evened(out->grid);
    cb_tile_source source = {.grid = &from,
                             .map = l->map,
                             .item_size = cubed_dtype_size(l->dtype),
                             .read_extra = cb_sat_add(read.arena, read.library),
                             .part_run = part_run,
                             .part_whole = cb_node_subread_is_whole(p, l->node),
                             .part_extra = cb_sat_add(part.arena, part.library)};
    cb_tile_in in = {.out = &to,
                     .item_size = cubed_dtype_size(out->dtype),
                     .write_extra = cb_sat_add(write.arena, write.library),
                     .copy = true,
                     .coop = out->to_memory ? 1 : cb_opt_coop(p),
                     .nsources = 1,
                     .sources = &source,
                     .mem = mem > p->making.library_mem ? mem - p->making.library_mem : 0,
                     .worth = CB_OPT_TASK_BYTES,
                     .min_tasks = 4 * (int64_t)p->max_workers};
    cb_tile t;
    cb_stage trial;
    /* If even one chunk per task does not fit, keep the stage as it is. The error is reported after planning. */
    if (cb_tile_choose(&in, &t, NULL) != CUBED_OK) return CUBED_OK;
    cb_stage base = *s;
    base.coop = t.coop;
    CB_TRY(try_chunks(p, &base, t.task_chunks, &trial, err));
    if (cb_opt_need(p, trial.need) <= mem) *s = trial;
    return CUBED_OK;
}

cubed_status cb_opt_tile(cubed_plan *p, cb_stage *s, uint64_t mem, cubed_error *err)
{
    const cb_node *out = &p->ir.nodes[s->outs[0].node];
    CB_TRY(cb_stage_compile(p, s, err));
    if (out->task_chunks && s->op->local) {
        s->coop = out->coop;
        return try_chunks(p, s, out->task_chunks, s, err);
    }
    cb_stage_project(p, s);
    if (cb_stage_copied(s)) return tile_copy(p, s, mem, err);
    if (!s->op->tiles) return CUBED_OK;
    uint64_t floor = floor_of(p, s);
    for (;;) {
        cb_stage best = *s;
        if (cost_of(s) <= floor + floor / 32) break;
        for (int d = 0; d < s->kept->ndim; d++) {
            int64_t n = cb_axis_count(&s->kept->axis[d]);
            if (s->task_chunks[d] >= n) continue;
            int64_t counts[MAX_COUNTS];
            int ncounts = list_counts(p, s, d, counts);
            for (int f = 0; f < ncounts; f++) {
                cb_stage trial;
                int64_t chunks[CUBED_MAX_NDIM];
                memcpy(chunks, s->task_chunks, sizeof chunks);
                chunks[d] = cb_min_i64(n, counts[f]);
                CB_TRY(try_chunks(p, s, chunks, &trial, err));
                if (cb_opt_need(p, trial.need) <= mem && cost_of(&trial) < cost_of(&best))
                    best = trial;
            }
        }
        if (cost_of(&best) >= cost_of(s) - cost_of(s) / 32) break;
        *s = best;
    }
    /* Project the chosen stage again, because projections modify flags of its loads, which all tried stages share. */
    cb_stage_project(p, s);
    return CUBED_OK;
}
