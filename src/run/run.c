#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "run/schedule.h"

uint64_t cubed_peak_rss(void) { return cb_peak_rss(); }

uint64_t cubed_resident_mem(void) { return cb_resident(); }

uint64_t cubed_private_mem(void) { return cb_private_memory(); }

static cubed_status check_options(const cubed_run_options *options, cubed_run_options *out,
                                  cubed_error *err)
{
    cubed_run_options defaults = CUBED_RUN_OPTIONS_INIT;
    *out = options ? *options : defaults;
    if (out->struct_size != sizeof *out)
        return cb_fail(err, CUBED_E_ARG,
                       "options.struct_size is %zu, expected %zu: set the struct with "
                       "CUBED_RUN_OPTIONS_INIT",
                       out->struct_size, sizeof *out);
    if (out->retries < 0 || out->retries > 255)
        return cb_fail(err, CUBED_E_ARG, "retries is %d, expected 0 to 255", out->retries);
    return CUBED_OK;
}

void cb_run_finish_stats(const cubed_plan *plan, const cb_io *io, int64_t start_ns,
                         cubed_run_stats *stats)
{
    stats->seconds = (double)(cb_clock_ns() - start_ns) * 1e-9;
    for (int i = 0; i < plan->nstages; i++) {
        uint64_t need = plan->stages[i].need.arena + plan->stages[i].need.library;
        if (need > stats->projected_mem) stats->projected_mem = need;
    }
    if (io) {
        stats->intermediate_peak = cb_chunks_intermediates(cb_io_chunks(io))->high_water;
        stats->intermediate_spilled = cb_chunks_spilled(cb_io_chunks(io));
    }
}

/* An end that may be resumed: by a signal, or by an error that has nothing to do with the plan. */
static bool resumable(cubed_status st) { return st == CUBED_E_CANCELLED || st == CUBED_E_IO; }

/* Workers may skip what is there only where it is known to be this plan's. */
static bool resumes_all(const cubed_plan *plan, const cb_io *io)
{
    for (int i = 0; i < plan->ir.nnodes; i++) {
        const cb_node *n = &plan->ir.nodes[i];
        if (n->is_target && n->url && !cb_chunks_resumes(cb_io_chunks(io), i)) return false;
    }
    return true;
}

void cb_run_say_ended(const cubed_plan *plan)
{
    for (int i = 0; i < plan->nstages; i++) {
        const cb_stage_call *c = plan->stages[i].call;
        if (c && c->fn && c->fn->ended) c->fn->ended(c->op->params, c->op->params_size, c->fn_ctx);
    }
}

cubed_status cubed_run(cubed_plan *plan, const cubed_run_options *options, cubed_run_stats *stats,
                       cubed_error *err)
{
    cubed_run_options o;
    cubed_run_stats own;
    cb_io *io = NULL;
    cubed_executor *ex = NULL;
    void *blob = NULL;
    size_t blob_size = 0;
    int64_t start_ns = cb_clock_ns();
    bool remote;
    cubed_status st;
    if (!stats) stats = &own;
    memset(stats, 0, sizeof *stats);
    CB_TRY(check_options(options, &o, err));
    CB_TRY(cb_executor_check(o.executor, &remote, err));
    if (remote && (!o.worker_command || !o.worker_command[0]))
        return cb_fail(err, CUBED_E_ARG,
                       "executor %s needs options.worker_command: the program to start as a worker",
                       o.executor);
    if (remote) CB_TRY(cb_plan_save(plan, CB_PLAN_FOR_WORKERS, &blob, &blob_size, err));
    cb_executor_args args = {.plan = plan,
                             .cancel = o.cancel,
                             .blob = blob,
                             .blob_size = blob_size,
                             .worker_command = o.worker_command};
    const cb_io_options storage = {
        .mode = remote ? CB_IO_DRIVER : CB_IO_RUN, .resume = o.resume, .keep = o.keep};
    CB_GO(cb_io_open(plan, &storage, &io, err));
    if (cb_io_finished(io)) {
        for (int i = 0; i < plan->nstages; i++) stats->num_resumed += plan->stages[i].ntasks;
        st = cb_io_commit(io, err);
        cb_run_finish_stats(plan, io, start_ns, stats);
        goto out;
    }
    args.io = io;
    args.resume = resumes_all(plan, io);
    CB_GO(cb_executor_open(o.executor, &args, &ex, err));
    stats->num_workers = ex->workers;
    cb_schedule_args driver = {plan, io, ex, &o, stats, 0};
    st = cb_schedule_run(&driver, err);
    /* Nothing may still write when chunks of a failed run are removed. */
    ex->vt->close(ex);
    if (remote && (st != CUBED_OK || stats->num_retries > 0)) cb_io_sweep(io);
    if (st == CUBED_OK) st = cb_io_commit(io, err);
    cb_run_finish_stats(plan, io, start_ns, stats);
out:
    if (io && resumable(st)) cb_io_keep(io);
    cb_io_close(io);
    cubed_plan_free_bytes(plan, blob, blob_size);
    if (!remote) cb_run_say_ended(plan);
    return st;
}
