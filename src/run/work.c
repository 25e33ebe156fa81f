/* What a worker of a run in parts does: a range of tasks, as often as it is asked to, also at the same time as others.
 * Chunks are put as a whole, and are the same each time. Which tasks are done is noted in the run's folder, before
 * anybody is told of the last of them. */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "cubed/sys/message.h"
#include "run/executors/executor.h"
#include "run/notes.h"
#include "run/parts.h"

/* Who hears of every task, also of the one that fails. */
typedef struct listener {
    cubed_status (*hear)(void *ctx, const cubed_task_report *r, cubed_error *err);
    void *ctx;
} listener;

static cubed_status check_range(const cubed_plan *plan, const cubed_task_range *r, cubed_error *err)
{
    if (r->stage < 0 || r->stage >= plan->nstages)
        return cb_fail(err, CUBED_E_INDEX, "stage %d: the plan has %d stages", r->stage,
                       plan->nstages);
    const int64_t ntasks = plan->stages[r->stage].ntasks;
    if (r->first < 0 || r->last < r->first || r->last > ntasks)
        return cb_fail(err, CUBED_E_INDEX,
                       "tasks %" PRId64 " to %" PRId64 ": stage %d has tasks 0 to %" PRId64,
                       r->first, r->last, r->stage, ntasks);
    return CUBED_OK;
}

/* *next: the first task that nobody has heard of. */
static cubed_status run_tasks(const cb_task_env *env, const cubed_task_range *range,
                              const listener *to, int64_t *next, cubed_error *err)
{
    cb_arena *arena;
    cubed_status st = CUBED_OK;
    CB_TRY(cb_arena_new(&env->plan->ctx->alloc, env->plan->need, &arena, err));
    while (st == CUBED_OK && *next < range->last) {
        cubed_task_report r = {.token = range->token};
        cb_executor_run_task(env, arena, range->stage, *next, &r);
        const bool failed = r.error.status != CUBED_OK;
        cubed_task_range done = *range;
        done.last = *next + !failed;
        if (done.last > done.first && (failed || done.last == range->last)) {
            const cubed_status noted = cb_note_done(env->io, &done, failed ? NULL : &r.error);
            if (!failed) r.error.status = noted;
        }
        st = r.error.status;
        if (st != CUBED_OK && err) *err = r.error;
        ++*next;
        const cubed_status heard = to->hear(to->ctx, &r, st == CUBED_OK ? err : NULL);
        if (st == CUBED_OK) st = heard;
    }
    cb_arena_free(arena);
    return st;
}

static cubed_status work(cubed_plan *plan, const char *run, const char *id,
                         const cubed_task_range *range, const cubed_cancel *cancel,
                         const listener *to, cubed_run_stats *stats, int64_t *next,
                         cubed_error *err)
{
    const int64_t start_ns = cb_clock_ns();
    cb_io *io = NULL;
    cubed_status st;
    *next = range->first;
    CB_GO(check_range(plan, range, err));
    CB_GO(cb_parts_open(plan, CB_IO_WORKER, run, &io, err));
    if (*id && strcmp(id, cb_io_plan(io)) != 0)
        CB_GO(cb_fail(err, CUBED_E_ARG, "the message is of plan %s, this worker's plan is %s", id,
                      cb_io_plan(io)));
    const cb_task_env env = {.plan = plan, .io = io, .cancel = cancel};
    CB_GO(run_tasks(&env, range, to, next, err));
    stats->num_workers = 1;
    cb_run_finish_stats(plan, io, start_ns, stats);
out:
    cb_io_close(io);
    cb_run_say_ended(plan);
    return st;
}

static cubed_status count(void *ctx, const cubed_task_report *r, cubed_error *err)
{
    (void)err;
    if (r->error.status == CUBED_OK) cb_run_add_task(ctx, r);
    return CUBED_OK;
}

cubed_status cubed_work(cubed_plan *plan, const char *run, int stage, int64_t first, int64_t last,
                        const cubed_cancel *cancel, cubed_run_stats *stats, cubed_error *err)
{
    cubed_run_stats own;
    int64_t next;
    const cubed_task_range range = {.stage = stage, .first = first, .last = last};
    if (!stats) stats = &own;
    memset(stats, 0, sizeof *stats);
    const listener to = {count, stats};
    return work(plan, run, "", &range, cancel, &to, stats, &next, err);
}

static cubed_status append(void *sink, const void *data, size_t size, cubed_error *err)
{
    cb_buf *b = sink;
    cb_buf_put(b, data, size);
    return b->failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for reports") : CUBED_OK;
}

typedef struct report_list {
    const cubed_context *ctx;
    cb_buf bytes;
    bool failed; /* the last one is of an error */
} report_list;

static cubed_status put_report(void *ctx, const cubed_task_report *r, cubed_error *err)
{
    report_list *to = ctx;
    to->failed = r->error.status != CUBED_OK;
    return cubed_report_write(to->ctx, r, append, &to->bytes, err);
}

/* The caller frees with the size it is told: exactly that is given. */
static cubed_status give_bytes(cb_buf *b, void **data, size_t *size, cubed_error *err)
{
    void *exact = NULL;
    if (b->size == 0)
        cb_buf_free(b);
    else if (!(exact = cb_resize(b->alloc, b->data, b->cap, b->size)))
        return cb_fail(err, CUBED_E_NOMEM, "no memory for reports");
    *data = exact;
    *size = exact ? b->size : 0;
    return CUBED_OK;
}

cubed_status cubed_work_message(cubed_plan *plan, const void *message, size_t size,
                                const cubed_cancel *cancel, void **reports, size_t *reports_size,
                                cubed_error *err)
{
    cubed_range_message m;
    cubed_run_stats stats = {.num_tasks = 0};
    cubed_error why = CUBED_ERROR_INIT;
    report_list list = {.ctx = plan->ctx};
    int64_t next;
    CB_TRY(cubed_range_read(message, size, &m, err));
    cb_buf_init(&list.bytes, &plan->ctx->alloc);
    const listener to = {put_report, &list};
    cubed_status st = work(plan, m.run, m.plan, &m.range, cancel, &to, &stats, &next, &why);
    if (st != CUBED_OK && !list.failed) {
        cubed_task_report r = {.token = m.range.token, .task = next, .coop = 1, .error = why};
        r.error.status = st;
        r.start_ns = r.end_ns = cb_clock_ns();
        st = put_report(&list, &r, err);
    } else {
        st = list.bytes.failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for reports") : CUBED_OK;
    }
    if (st == CUBED_OK) st = give_bytes(&list.bytes, reports, reports_size, err);
    if (st != CUBED_OK) cb_buf_free(&list.bytes);
    return st;
}

cubed_status cubed_plan_get_id(const cubed_plan *plan, char id[CUBED_PLAN_ID_CAP], cubed_error *err)
{
    _Static_assert(CUBED_PLAN_ID_CAP == CB_PLAN_ID_CAP, "the bytes of an id");
    *id = 0;
    return cb_plan_is_known(plan) ? cb_plan_identify(plan, id, err) : CUBED_OK;
}
