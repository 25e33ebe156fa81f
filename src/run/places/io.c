#include "run/places/io.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "exec/plan/limits.h"
#include "exec/plan/reuse.h"
#include "exec/plan/stage.h"
#include "run/places/io_state.h"
#include "run/places/update.h"

/* Opens the broker and the stores of its nodes. */
static cubed_status open_chunks(cb_io *io, cubed_error *err)
{
    const cubed_plan *p = io->plan;
    const cb_io_mode mode = io->mode;
    const size_t spare = mode == CB_IO_DRIVER ? 0 : cb_plan_spare(p, mode == CB_IO_RUN);
    const cb_chunks_options chunks = {
        .own = mode == CB_IO_RUN,
        .counts = cb_io_drives(io),
        .spare = spare - cb_min_size(spare, cb_update_bytes(io->update)),
        .reads = cb_plan_chunk_reads,
        .visit = cb_stage_visit,
        .workers = mode == CB_IO_RUN ? p->max_workers : mode == CB_IO_WORKER,
        .open = cb_folder_open,
        .open_ctx = io,
        .keeps = cb_update_is_in_place(io->update) ? cb_update_keeps : NULL,
        .keeps_ctx = io->update};
    CB_TRY(cb_chunks_new(p, &chunks, &io->chunks, err));
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_node *n = &p->ir.nodes[i];
        if (n->is_target && n->to_memory && !n->result && cb_grid_count(n->grid) > 0)
            return cb_fail(err, CUBED_E_ARG,
                           "a result of the plan has no memory: bind it before the run");
        const node_io *x = &io->nodes[i];
        if (x->array) cb_chunks_set_array(io->chunks, i, x->array, x->target->resumed);
        if (cb_node_is_intermediate(n) && (mode != CB_IO_RUN || (io->resume && p->work_dir)))
            CB_TRY(cb_chunks_open_work(io->chunks, err));
    }
    /* In a resumed run, chunks of intermediates may be in the work folder. So they are not written as pieces of a target. */
    for (int i = 0; i < p->nstages && !io->resume; i++) {
        int from, to;
        if (cb_stage_joins(p, &p->stages[i], &from, &to)) cb_chunks_join(io->chunks, from, to);
    }
    return CUBED_OK;
}

/* Returns true if an unfinished run of the plan may leave output, as `keep` (CUBED_KEEP_*) allows. Otherwise the plan needs no
 * id, and its arrays in memory need not be hashed. */
static bool can_keep(const cubed_plan *p, unsigned keep)
{
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_node *n = &p->ir.nodes[i];
        if ((keep & CUBED_KEEP_CHUNKS) && n->is_target && !n->to_memory) return true;
        if ((keep & CUBED_KEEP_INTERMEDIATES) && cb_node_is_intermediate(n)) return true;
    }
    return false;
}

cubed_status cb_io_open(cubed_plan *plan, const cb_io_options *options, cb_io **out,
                        cubed_error *err)
{
    const cubed_allocator *a = &plan->ctx->alloc;
    const cb_io_mode mode = options->mode;
    const bool detached =
        mode == CB_IO_BEGIN || mode == CB_IO_FINISH || (mode == CB_IO_WORKER && !options->plan);
    cubed_status st;
    cb_io *io = cb_alloc_zero(a, sizeof *io);
    if (!io) return cb_fail(err, CUBED_E_NOMEM, "no memory to run a plan");
    io->plan = plan;
    io->mode = mode;
    io->checked = cb_clock_boot_ns();
    io->resume = options->resume || mode == CB_IO_FINISH;
    io->asks_update = options->update;
    io->cancel = options->cancel;
    io->nodes = cb_alloc_zero(a, (size_t)plan->ir.nnodes * sizeof *io->nodes);
    if (!io->nodes) {
        cb_free(a, io, sizeof *io);
        return cb_fail(err, CUBED_E_NOMEM, "no memory to run a plan");
    }
    io->remember =
        detached || options->joined || options->resume || (options->keep & CUBED_KEEP_RECORD) != 0;
    if (io->asks_update)
        CB_GO(cb_update_check(plan, err));
    else if (mode != CB_IO_WORKER && mode != CB_IO_FINISH)
        CB_GO(cb_update_check_run(plan, err));
    if (mode != CB_IO_WORKER && !(mode == CB_IO_RUN && cb_plan_writes_nothing(plan)))
        CB_GO(cb_plan_check_places(plan, true, err));
    CB_GO(cb_zone_new(a, &io->zone, err));
    CB_GO(cb_run_self_init(plan, options->run,
                           (io->remember || can_keep(plan, options->keep)) && !options->plan,
                           io->zone, &io->self, err));
    io->self.detached = detached;
    io->self.elsewhere = options->joined || detached;
    CB_GO(cb_takeover_read(&io->self, options->takeover, err));
    if (options->plan) snprintf(io->self.plan, sizeof io->self.plan, "%s", options->plan);
    io->may_keep = *io->self.plan ? options->keep : 0;
    CB_GO(mode == CB_IO_WORKER ? cb_targets_join(io, io->resume, err)
                               : cb_targets_begin(io, io->resume, err));
    CB_GO(open_chunks(io, err));
    /* Create the run's folder, in which workers write notes. The record in the folder lets `cubed clean` find the notes if the
     * run is never finished. */
    if (mode == CB_IO_BEGIN) CB_GO(cb_io_spill(io, err));
    *out = io;
    return CUBED_OK;
out:
    /* If a resumed run fails, keep the output of the earlier run. If a run in parts cannot begin, remove its output. */
    io->keep = options->resume ? io->may_keep | CUBED_KEEP_CHUNKS | CUBED_KEEP_INTERMEDIATES : 0;
    io->self.detached = false;
    cb_io_close(io);
    return st;
}

void cb_io_sweep(const cb_io *io)
{
    /* ignore errors: the next run that writes there, or `cubed clean`, removes the remaining files */
    cubed_status ignored = CUBED_OK;
    for (int i = 0; i < io->plan->ir.nnodes; i++) {
        const cb_zarr_array *array = io->nodes[i].array;
        if (array)
            ignored = cb_store_sweep(cb_zarr_store(array), cb_zarr_path(array), CUBED_SWEEP_ALONE,
                                     NULL, NULL, NULL);
    }
    if (io->has_folder)
        ignored = cb_store_sweep(io->work, io->prefix, CUBED_SWEEP_ALONE, NULL, NULL, NULL);
    (void)ignored;
}

void cb_io_rest(cb_io *io)
{
    cb_chunks_free(io->chunks);
    io->chunks = NULL;
}

/* Time in nanoseconds for which a check of the claims is valid. A worker does not repeat this check during a range, so it may
 * write after another run has taken over the place. Then the conditions of its puts protect the place. */
#define CHECK_NS ((int64_t)1000000000)

bool cb_io_go_on(cb_io *io, bool own_name)
{
    const int64_t now = cb_clock_boot_ns();
    const bool recent = own_name && now - io->checked < CHECK_NS;
    if (!cb_targets_are_joined(io, recent)) return false;
    if (!recent) io->checked = now;
    return open_chunks(io, NULL) == CUBED_OK;
}

void cb_io_keep(cb_io *io) { io->keep = io->may_keep; }

void cb_io_close(cb_io *io)
{
    if (!io) return;
    const cubed_allocator *a = &io->plan->ctx->alloc;
    cb_chunks_free(io->chunks); /* pending writes complete before targets are closed */
    cb_targets_end(io);
    cb_folder_close(io);
    cb_update_free(io->update);
    cb_zone_free(io->zone);
    cb_free(a, io->nodes, (size_t)io->plan->ir.nnodes * sizeof *io->nodes);
    cb_free(a, io, sizeof *io);
}

bool cb_io_finished(const cb_io *io) { return io->finished; }

void cb_io_report_update(const cb_io *io, cubed_update *out)
{
    *out = (cubed_update){.in_place = false};
    if (io->update) cb_update_report(io->update, out);
}

const char *cb_io_run(const cb_io *io) { return io->self.run; }

const char *cb_io_plan(const cb_io *io) { return io->self.plan; }

cb_chunks *cb_io_chunks(const cb_io *io) { return io->chunks; }
