/* Runs in parts: processes that know the run's name begin it, work on it and finish it, under an external scheduler. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "run/driver/run_parts.h"
#include "run/places/notes.h"

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
        return cb_fail(
            err, CUBED_E_ARG,
            "the plan has no work directory, in which a run in parts shares its data: set one");
    if (!cb_plan_is_known(plan))
        return cb_fail(
            err, CUBED_E_UNSUPPORTED,
            "the plan reads from functions: processes cannot check that they work on the same run");
    for (int i = 0; i < plan->ir.nnodes; i++) {
        if (plan->ir.nodes[i].to_memory)
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "a run in parts has no results in memory: name a store");
    }
    return CUBED_OK;
}

static cubed_status open_parts(cubed_plan *plan, cb_io_mode mode, const char *run,
                               const cubed_takeover_options *takeover, cb_io **io, cubed_error *err)
{
    if (run) CB_TRY(check_name(run, err));
    CB_TRY(cb_run_check_parts(plan, err));
    const cb_io_options options = {.mode = mode, .run = run, .takeover = takeover};
    return cb_io_open(plan, &options, io, err);
}

cubed_status cb_parts_open(cubed_plan *plan, cb_io_mode mode, const char *run, cb_io **io,
                           cubed_error *err)
{
    return open_parts(plan, mode, run, NULL, io, err);
}

cubed_status cubed_run_begin(cubed_plan *plan, const char *run,
                             const cubed_takeover_options *takeover, char name[CUBED_RUN_NAME_CAP],
                             cubed_error *err)
{
    cb_io *io = NULL;
    CB_TRY(open_parts(plan, CB_IO_BEGIN, run, takeover, &io, err));
    snprintf(name, CUBED_RUN_NAME_CAP, "%s", cb_io_run(io));
    cb_io_close(io);
    return CUBED_OK;
}

/* --- The end ----------------------------------------------------------------------------------------- */

static cubed_status check_tasks(cb_io *io, const cubed_plan *p, cubed_error *err)
{
    cb_notes *notes;
    cubed_status st = CUBED_OK;
    CB_TRY(cb_notes_read(io, p, &notes, err));
    for (int i = 0; i < p->nstages && st == CUBED_OK; i++) {
        const int64_t missing = cb_notes_missing(notes, i, 0), ntasks = p->stages[i].ntasks;
        if (missing < ntasks)
            st = cb_fail(err, CUBED_E_NOT_FOUND,
                         "the run is not complete: task %" PRId64 " of stage %d (%" PRId64
                         " tasks) has not been done",
                         missing, i, ntasks);
    }
    cb_notes_free(notes);
    return st;
}

/* Checks that all chunks of a target exist. Targets whose empty chunks are not written are not checked. */
static cubed_status check_chunks(cb_io *io, const cubed_plan *p, int node, cubed_error *err)
{
    const cb_node *n = &p->ir.nodes[node];
    if (!n->is_target || !n->url || n->region || n->skip_empty) return CUBED_OK;
    for (int64_t c = 0; c < cb_grid_count(n->grid); c++) {
        bool found;
        CB_TRY(cb_chunks_find_whole(cb_io_chunks(io), node, c, &found, err));
        if (!found)
            return cb_fail(err, CUBED_E_NOT_FOUND,
                           "chunk number %" PRId64 " of %s does not exist any more", c, n->url);
    }
    return CUBED_OK;
}

cubed_status cubed_run_finish(cubed_plan *plan, const char *run, cubed_error *err)
{
    cb_io *io = NULL;
    cubed_status st;
    CB_TRY(cb_parts_open(plan, CB_IO_FINISH, run, &io, err));
    st = CUBED_OK;
    if (cb_io_finished(io)) goto out;
    CB_GO(cb_io_spill(io, err));
    CB_GO(check_tasks(io, plan, err));
    for (int i = 0; i < plan->ir.nnodes; i++) CB_GO(check_chunks(io, plan, i, err));
    CB_GO(cb_io_commit(io, err));
out:
    cb_io_close(io);
    return st;
}
