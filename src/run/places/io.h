/* The storage of a run: its targets, its folder in the work directory, and its broker, through which tasks read and write
 * chunks. */
#ifndef CB_RUN_IO_H
#define CB_RUN_IO_H

#include "chunks/chunks.h"
#include "cubed/run.h"

typedef struct cb_io cb_io;

/* The role of a process in a run. */
typedef enum cb_io_mode {
    CB_IO_RUN,    /* a whole run: targets are created, intermediates are private to this process */
    CB_IO_DRIVER, /* a whole run with worker processes: intermediates are in the work directory */
    CB_IO_BEGIN,  /* begins a run without a driver, which other processes execute and finish */
    CB_IO_WORKER, /* a worker: targets exist; intermediates are shared in the work directory */
    CB_IO_FINISH  /* finishes a run that other processes executed */
} cb_io_mode;

typedef struct cb_io_options {
    cb_io_mode mode;
    /* resume an earlier run of the plan; for workers: an earlier run began all targets */
    bool resume;
    /* for drivers: workers find the run by its name and the plan's ID (cubed_work) */
    bool joined;
    unsigned keep; /* CUBED_KEEP_*: output that may be kept if the run ends early (cb_io_keep) */
    bool update;   /* for drivers: recompute only chunks whose sources changed (update.h) */
    const cubed_cancel *cancel;             /* stops the comparison of an update; may be NULL */
    const cubed_takeover_options *takeover; /* NULL: the defaults */
    /* Name of the run; NULL: a new name. For workers of a driver, also the plan's ID. */
    const char *run, *plan;
} cb_io_options;

/* Opens stores. Except in workers, also claims and prepares targets. CUBED_E_EXISTS if another run is writing a target. The
 * plan must outlive *out. */
CUBED_MUST_CHECK cubed_status cb_io_open(cubed_plan *plan, const cb_io_options *options,
                                         cb_io **out, cubed_error *err);
/* Completes the run: writes the metadata of the targets, moves new arrays to the places of the arrays that they replace,
 * releases the claims of the targets, and creates groups. */
CUBED_MUST_CHECK cubed_status cb_io_commit(cb_io *io, cubed_error *err);
/* Records that the run ended early and may be resumed: cb_io_close then keeps the output that the options allow. */
void cb_io_keep(cb_io *io);
/* Removes temporary files that workers left because they ended unexpectedly. Ignores errors. */
void cb_io_sweep(const cb_io *io);
/* Closes the run's places. A driver also removes intermediates and, if the run was not committed, its output. */
void cb_io_close(cb_io *io);
/* An idle worker keeps its stores open between ranges of tasks.
 *
 * cb_io_rest   frees the broker, so that the idle worker uses no memory for chunks
 * cb_io_go_on  creates the broker again. Returns false if another run has taken a target, or after an error; the caller then
 *              closes `io`.
 *
 * own_name  no other run has the name of this run. Then targets whose puts are conditional are checked at most once a second. */
void cb_io_rest(cb_io *io);
bool cb_io_go_on(cb_io *io, bool own_name);
/* Returns the broker of the chunks that tasks read and write. */
cb_chunks *cb_io_chunks(const cb_io *io);
/* For a run in parts: the run's folder in the work directory, through which its processes communicate.
 *
 * cb_io_note   creates an empty object with this name in the run's folder
 * cb_io_notes  calls fn for each name below `folder` in the run's folder
 * cb_io_spill  opens the run's folder if it is not open */
CUBED_MUST_CHECK cubed_status cb_io_note(cb_io *io, const char *name, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_io_notes(cb_io *io, const char *folder, cubed_store_member_fn fn,
                                          void *ctx, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_io_spill(cb_io *io, cubed_error *err);
/* Renews the run's claims of its targets and its folder, unless their last heartbeat was recent. CUBED_E_EXISTS if another run
 * has taken a claim. */
CUBED_MUST_CHECK cubed_status cb_io_beat(cb_io *io, cubed_error *err);
/* Returns the status of a run that failed with status `st`. If another run has taken a claim of this run, that is the cause:
 * returns CUBED_E_EXISTS with the message in *err. Otherwise returns `st`. */
CUBED_MUST_CHECK cubed_status cb_io_explain(const cb_io *io, cubed_status st, cubed_error *err);
/* Returns true if an earlier run of the plan has completed all targets. */
bool cb_io_finished(const cb_io *io);
/* Gets the results of an update; zeros for other runs. */
void cb_io_report_update(const cb_io *io, cubed_update *out);
const char *cb_io_run(const cb_io *io);
const char *cb_io_plan(const cb_io *io);

#endif
