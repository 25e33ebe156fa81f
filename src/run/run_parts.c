/* A run in parts: begun, worked on and finished by processes that know its name, under somebody else's scheduler.
 *
 * What a call of cubed_work has done is noted in the run's folder when it is over, so that the end can tell whether
 * all has been done. Doing tasks twice, also at once, is harmless: chunks are put as a whole, and are the same. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "run/executors/executor.h"

/* Folder of the notes in the run's, and what is in them. */
#define NOTES "done"

static cubed_status check_name(const char *run, cubed_error *err)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t n = strlen(run);
    if (n > 0 && n < CUBED_RUN_NAME_CAP && strspn(run, letters) == n && run[0] != '.')
        return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG,
                   "the run's name is \"%s\", expected 1 to %d letters, digits, \"-\", \"_\" and "
                   "\".\"",
                   run, CUBED_RUN_NAME_CAP - 1);
}

cubed_status cb_run_check_parts(const cubed_plan *plan, cubed_error *err)
{
    if (!plan->work_dir)
        return cb_fail(err, CUBED_E_ARG,
                       "the plan has no work directory, where runs in parts keep what they share");
    if (!cb_plan_is_known(plan))
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "the plan reads from functions, whose contents nobody knows: processes "
                       "cannot tell whether they work on the same run");
    for (int i = 0; i < plan->ir.nnodes; i++) {
        if (plan->ir.nodes[i].to_memory)
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "a run in parts has no results in memory: name a store");
    }
    return CUBED_OK;
}

static cubed_status open_part(cubed_plan *plan, cb_io_mode mode, const char *run, cb_io **io,
                              cubed_error *err)
{
    if (run) CB_TRY(check_name(run, err));
    CB_TRY(cb_run_check_parts(plan, err));
    const cb_io_options options = {.mode = mode, .run = run};
    return cb_io_open(plan, &options, io, err);
}

cubed_status cubed_run_begin(cubed_plan *plan, const char *run, char name[CUBED_RUN_NAME_CAP],
                             cubed_error *err)
{
    cb_io *io = NULL;
    CB_TRY(open_part(plan, CB_IO_BEGIN, run, &io, err));
    snprintf(name, CUBED_RUN_NAME_CAP, "%s", cb_io_run(io));
    cb_io_close(io);
    return CUBED_OK;
}

static cubed_status run_range(cubed_plan *plan, int stage, int64_t first, int64_t last,
                              const cb_task_env *env, cubed_run_stats *stats, cubed_error *err)
{
    cb_arena *arena;
    cubed_status st = CUBED_OK;
    CB_TRY(cb_arena_new(&plan->ctx->alloc, plan->need, &arena, err));
    for (int64_t t = first; t < last && st == CUBED_OK; t++) {
        cubed_task_report r;
        cb_executor_run_task(env, arena, stage, t, &r);
        st = r.error.status;
        if (st != CUBED_OK && err) *err = r.error;
        if (st == CUBED_OK) cb_run_add_task(stats, &r);
    }
    cb_arena_free(arena);
    return st;
}

cubed_status cubed_work(cubed_plan *plan, const char *run, int stage, int64_t first, int64_t last,
                        const cubed_cancel *cancel, cubed_run_stats *stats, cubed_error *err)
{
    cubed_run_stats own;
    cb_io *io = NULL;
    int64_t start_ns = cb_clock_ns();
    char note[64];
    cubed_status st;
    if (!stats) stats = &own;
    memset(stats, 0, sizeof *stats);
    if (stage < 0 || stage >= plan->nstages)
        return cb_fail(err, CUBED_E_INDEX, "stage %d: the plan has %d stages", stage,
                       plan->nstages);
    if (first < 0 || last < first || last > plan->stages[stage].ntasks)
        return cb_fail(err, CUBED_E_INDEX,
                       "tasks %" PRId64 " to %" PRId64 ": stage %d has tasks 0 to %" PRId64, first,
                       last, stage, plan->stages[stage].ntasks);
    CB_GO(open_part(plan, CB_IO_WORKER, run, &io, err));
    const cb_task_env env = {.plan = plan, .io = io, .cancel = cancel};
    stats->num_workers = 1;
    CB_GO(run_range(plan, stage, first, last, &env, stats, err));
    snprintf(note, sizeof note, NOTES "/%d/%" PRId64 "-%" PRId64, stage, first, last);
    if (first < last) CB_GO(cb_io_note(io, note, err));
    cb_run_finish_stats(plan, io, start_ns, stats);
out:
    cb_io_close(io);
    cb_run_say_ended(plan);
    return st;
}

/* --- The end ----------------------------------------------------------------------------------------- */

typedef struct range {
    int64_t first, last;
} range;

typedef struct ranges {
    cb_zone *zone;
    range *list;
    int n, cap;
} ranges;

static cubed_status add_range(void *ctx, const char *name, bool is_prefix, cubed_error *err)
{
    ranges *r = ctx;
    range one;
    char *end;
    if (is_prefix) return CUBED_OK;
    one.first = strtoll(name, &end, 10);
    if (end == name || *end != '-') return CUBED_OK;
    one.last = strtoll(end + 1, &end, 10);
    if (*end) return CUBED_OK;
    if (r->n == r->cap) {
        int cap = r->cap ? 2 * r->cap : 64;
        range *wider = cb_zone_alloc(r->zone, (size_t)cap * sizeof *wider);
        if (!wider) return cb_fail(err, CUBED_E_NOMEM, "no memory for what has been done");
        if (r->n) memcpy(wider, r->list, (size_t)r->n * sizeof *wider);
        r->list = wider;
        r->cap = cap;
    }
    r->list[r->n++] = one;
    return CUBED_OK;
}

static int by_first(const void *a, const void *b)
{
    const range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static cubed_status check_stage(cb_io *io, const cubed_plan *p, int stage, cubed_error *err)
{
    char folder[32];
    ranges r = {.n = 0};
    int64_t done = 0;
    cubed_status st;
    CB_TRY(cb_zone_new(&p->ctx->alloc, &r.zone, err));
    snprintf(folder, sizeof folder, NOTES "/%d", stage);
    CB_GO(cb_io_notes(io, folder, add_range, &r, err));
    qsort(r.list, (size_t)r.n, sizeof *r.list, by_first);
    for (int i = 0; i < r.n && r.list[i].first <= done; i++)
        done = cb_max_i64(done, r.list[i].last);
    if (done < p->stages[stage].ntasks)
        st = cb_fail(err, CUBED_E_NOT_FOUND,
                     "the run is not over: task %" PRId64 " of stage %d (%" PRId64
                     " tasks) has not been done",
                     done, stage, p->stages[stage].ntasks);
out:
    cb_zone_free(r.zone);
    return st;
}

/* Chunks that are not written because there is nothing in them are not missed. */
static cubed_status check_chunks(cb_io *io, const cubed_plan *p, int node, cubed_error *err)
{
    const cb_node *n = &p->ir.nodes[node];
    if (!n->is_target || !n->url || n->region || n->skip_empty) return CUBED_OK;
    for (int64_t c = 0; c < cb_grid_count(&n->grid); c++) {
        bool found;
        CB_TRY(cb_chunks_find_whole(cb_io_chunks(io), node, c, &found, err));
        if (!found)
            return cb_fail(err, CUBED_E_NOT_FOUND, "chunk number %" PRId64 " of %s is gone", c,
                           n->url);
    }
    return CUBED_OK;
}

cubed_status cubed_run_finish(cubed_plan *plan, const char *run, cubed_error *err)
{
    cb_io *io = NULL;
    cubed_status st;
    CB_TRY(open_part(plan, CB_IO_FINISH, run, &io, err));
    st = CUBED_OK;
    if (cb_io_finished(io)) goto out;
    CB_GO(cb_io_spill(io, err));
    for (int i = 0; i < plan->nstages; i++) CB_GO(check_stage(io, plan, i, err));
    for (int i = 0; i < plan->ir.nnodes; i++) CB_GO(check_chunks(io, plan, i, err));
    CB_GO(cb_io_commit(io, err));
out:
    cb_io_close(io);
    return st;
}
