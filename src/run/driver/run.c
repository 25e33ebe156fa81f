#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "cubed/sys/message.h"
#include "exec/plan/limits.h"
#include "mem/pages.h"
#include "run/driver/run_parts.h"
#include "run/driver/run_stats.h"
#include "run/driver/schedule.h"
#include "run/executors/left.h"

uint64_t cubed_peak_rss(void) { return cb_peak_rss(); }

uint64_t cubed_resident_mem(void) { return cb_resident(); }
uint64_t cubed_machine_mem(void) { return cb_machine_memory(); }

uint64_t cubed_private_mem(void) { return cb_private_memory(); }

cubed_resident cubed_resident_kinds(void) { return cb_resident_kinds(); }

void cubed_code_count(cubed_context *ctx, cubed_resident before)
{
    cb_code_count(&ctx->code, before);
}

void cubed_code_measured(cubed_context *ctx, uint64_t resident)
{
    cb_code_measured(&ctx->code, resident);
}

uint64_t cubed_code_above(cubed_context *ctx, uint64_t limit)
{
    return cb_code_above(&ctx->code, limit);
}

cubed_status cb_run_check_retries(int retries, cubed_error *err)
{
    if (retries >= 0 && retries <= 255) return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG, "retries is %d, expected 0 to 255", retries);
}

static cubed_status check_options(const cubed_run_options *options, cubed_run_options *out,
                                  cubed_error *err)
{
    *out = (cubed_run_options)CUBED_RUN_OPTIONS_INIT;
    CB_TRY(CB_OPTIONS_TAKE("run", options, out, err));
    if (out->update && out->resume)
        return cb_fail(err, CUBED_E_ARG,
                       "update and resume exclude each other: update also continues an "
                       "interrupted update");
    return cb_run_check_retries(out->retries, err);
}

/* Returns true if a run that ended with `st` may be resumed. Chunks are not trusted after an internal error, and a run
 * without completed tasks has nothing to resume. */
static bool resumable(cubed_status st, const cubed_run_stats *stats)
{
    return st != CUBED_OK && st != CUBED_E_INTERNAL && stats->num_tasks + stats->num_resumed > 0;
}

/* Returns true if workers may skip existing chunks, because all are known to belong to this plan. */
static bool resumes_all(const cubed_plan *plan, const cb_io *io)
{
    for (int i = 0; i < plan->ir.nnodes; i++) {
        const cb_node *n = &plan->ir.nodes[i];
        if (n->is_target && n->url && !cb_chunks_resumes(cb_io_chunks(io), i)) return false;
    }
    return true;
}

void cubed_plan_load_functions(const cubed_plan *plan)
{
    for (int i = 0; i < plan->nstages; i++) {
        const cb_stage_call *c = plan->stages[i].call;
        if (c && c->fn && c->fn->load) c->fn->load(c->op->params, c->op->params_size, c->fn_ctx);
    }
}

void cb_run_say_ended(const cubed_plan *plan)
{
    for (int i = 0; i < plan->nstages; i++) {
        const cb_stage_call *c = plan->stages[i].call;
        if (c && c->fn && c->fn->ended) c->fn->ended(c->op->params, c->op->params_size, c->fn_ctx);
    }
}

/* The serialised plan, for executors that send it to their workers. */
typedef struct briefing {
    void *plan;
    size_t plan_size;
} briefing;

static unsigned workers_of(const cubed_plan *plan, const cubed_executor_caps *c)
{
    return c->max_workers && c->max_workers < plan->max_workers ? c->max_workers
                                                                : plan->max_workers;
}

/* Checks, before anything is changed, that the executor supports the requirements of the plan and the options. */
static cubed_status check_executor(const cubed_plan *plan, const cubed_executor_vtable *vt,
                                   const cubed_run_options *o, cubed_error *err)
{
    const cubed_executor_caps *c = &vt->caps;
    if (c->takes_command && (!o->worker_command || !o->worker_command[0]))
        return cb_fail(err, CUBED_E_ARG,
                       "executor %s needs options.worker_command: the program to start as a worker",
                       vt->name);
    if (c->shares_memory && o->task_timeout_ms)
        return cb_fail(err, CUBED_E_ARG,
                       "executor %s cannot end a task that takes too long, because it runs tasks "
                       "in this process: use processes, or no time limit of tasks",
                       vt->name);
    if (!c->remote) CB_TRY(cb_plan_check_here(plan, workers_of(plan, c), err));
    if (c->shares_memory || c->maps_memory) return CUBED_OK;
    return cb_run_check_parts(plan, err);
}

static cubed_status tell(const cubed_plan *plan, const cubed_executor_caps *c, briefing *out,
                         cubed_error *err)
{
    if (c->shares_memory) return CUBED_OK;
    const cb_plan_use use =
        c->maps_memory || c->finds_plan ? CB_PLAN_FOR_WORKERS : CB_PLAN_FOR_FILE;
    return cb_plan_save(plan, use, &out->plan, &out->plan_size, err);
}

/* Checks the size of a message. Each range is sent with the plan's bytes, unless workers find the plan elsewhere. */
static cubed_status check_message(const cubed_plan *plan, const cubed_executor_vtable *vt,
                                  const briefing *told, cubed_error *err)
{
    const uint64_t most = vt->caps.max_message_bytes, size = told->plan_size + CUBED_RANGE_BYTES;
    uint64_t inside = 0;
    if (most == 0 || vt->caps.finds_plan || !told->plan || size <= most) return CUBED_OK;
    for (int i = 0; i < plan->ir.nnodes; i++) {
        size_t bytes = 0;
        if (!cb_plan_is_shared(&plan->ir.nodes[i], &bytes)) inside = cb_sat_add(inside, bytes);
    }
    return cb_fail(
        err, CUBED_E_ARG,
        "the plan has %zu bytes, and a message with the plan and a range has %" PRIu64
        ", but executor %s takes messages of at most %" PRIu64 ": write arrays in memory (%" PRIu64
        " bytes of the plan) to a store first, or compute in parts with fewer operations",
        told->plan_size, size, vt->name, most, inside);
}

/* Runs the plan's tasks with the executor. The caller opens the storage before and closes it after the call. */
static cubed_status drive(cubed_plan *plan, cb_io *io, const cubed_executor_vtable *vt,
                          void *executor_ctx, const briefing *told, const cubed_run_options *o,
                          cubed_run_stats *stats, cubed_error *err)
{
    const cubed_executor_caps *c = &vt->caps;
    cubed_executor *ex;
    cb_left_plan left = {.key = ""};
    cubed_status st;
    cb_spare_begin(&plan->ctx->spare);
    /* Workers that neither share nor map memory join the run by its name. They write intermediates into its folder, and notes if
     * a message is not `driven`. So the folder must exist. */
    if (!c->shares_memory && !c->maps_memory) CB_GO(cb_io_spill(io, err));
    if (c->finds_plan) CB_GO(cb_leave_plan(io, told->plan, told->plan_size, &left, err));
    const cb_executor_args args = {.head = {.struct_size = sizeof args.head,
                                            .plan = plan,
                                            .workers = workers_of(plan, c),
                                            .cancel = o->cancel,
                                            .ctx = executor_ctx,
                                            .run = cb_io_run(io),
                                            .plan_bytes = told->plan,
                                            .plan_size = told->plan_size,
                                            .worker_command = o->worker_command,
                                            .work_dir = left.work_dir.data,
                                            .plan_key = left.key,
                                            .name = o->executor ? o->executor : vt->name,
                                            .task_timeout_ms = o->task_timeout_ms},
                                   .env = {.plan = plan, .io = io, .cancel = o->cancel},
                                   .resume = resumes_all(plan, io)};
    /* Executors that share memory use the arena for their first worker. */
    if (!c->shares_memory) cb_spare_drop(&plan->ctx->spare);
    CB_GO(vt->open(&args.head, &ex, err));
    stats->num_workers = ex->workers;
    const cb_schedule_args driver = {
        .plan = plan, .io = io, .executor = ex, .options = o, .stats = stats};
    st = cb_schedule_run(&driver, err);
    /* Close the executor first, because no worker may still write while chunks of a failed run are removed. */
    ex->vt->close(ex);
    if (!c->shares_memory && (st != CUBED_OK || stats->num_retries > 0)) cb_io_sweep(io);
    if (st == CUBED_OK) st = cb_io_commit(io, err);
    if (st != CUBED_OK) st = cb_io_explain(io, st, err);
out:
    cb_spare_end(&plan->ctx->spare);
    cb_left_free(&left);
    return st;
}

cubed_status cubed_run(cubed_plan *plan, const cubed_run_options *options, cubed_run_stats *stats,
                       cubed_error *err)
{
    cubed_run_options o;
    cubed_run_stats own;
    cb_io *io = NULL;
    const cubed_executor_vtable *vt;
    void *executor_ctx;
    briefing told = {NULL, 0};
    const int64_t start_ns = cb_clock_ns();
    cb_net *net = &plan->ctx->stores.net;
    const uint64_t refusals = cb_net_refusals(net, NULL);
    cubed_status st;
    if (!stats) stats = &own;
    memset(stats, 0, sizeof *stats);
    CB_TRY(check_options(options, &o, err));
    CB_TRY(cb_executor_find(plan->ctx, o.executor, &vt, &executor_ctx, err));
    if (o.executor_ctx) executor_ctx = o.executor_ctx;
    const bool shares = vt->caps.shares_memory;
    CB_TRY(check_executor(plan, vt, &o, err));
    atomic_store(&plan->ctx->code.drives, true);
    CB_TRY(tell(plan, &vt->caps, &told, err));
    CB_GO(check_message(plan, vt, &told, err));
    const cubed_takeover_options takeover = {sizeof takeover, o.silence_seconds, o.take_over};
    const cb_io_options storage = {.mode = shares ? CB_IO_RUN : CB_IO_DRIVER,
                                   .resume = o.resume,
                                   .joined = !shares && !vt->caps.maps_memory,
                                   .keep = o.keep,
                                   .update = o.update,
                                   .cancel = o.cancel,
                                   .takeover = &takeover};
    CB_GO(cb_io_open(plan, &storage, &io, err));
    if (cb_io_finished(io)) {
        for (int i = 0; i < plan->nstages; i++) stats->num_resumed += plan->stages[i].ntasks;
        st = cb_io_commit(io, err);
    } else {
        if (shares) cubed_plan_load_functions(plan);
        st = drive(plan, io, vt, executor_ctx, &told, &o, stats, err);
    }
    cb_run_finish_stats(plan, io, start_ns, stats);
    stats->num_throttled = cb_net_refusals(net, &stats->throttle_limit) - refusals;
    if (stats->num_throttled == 0) stats->throttle_limit = 0;
out:
    if (io && o.updated) cb_io_report_update(io, o.updated);
    if (io && resumable(st, stats)) cb_io_keep(io);
    cb_io_close(io);
    cubed_plan_free_bytes(plan, told.plan, told.plan_size);
    if (shares) cb_run_say_ended(plan);
    return st;
}
