/* A run's places: its targets, its folder in the work directory, and the broker of its chunks. */
#ifndef CB_RUN_IO_H
#define CB_RUN_IO_H

#include "chunks/chunks.h"
#include "cubed/run.h"

typedef struct cb_io cb_io;

/* How a run uses storage. */
typedef enum cb_io_mode {
    CB_IO_RUN,    /* a whole run: targets are made, intermediates are this process's own */
    CB_IO_DRIVER, /* a whole run by worker processes: intermediates lie in the work directory */
    CB_IO_BEGIN,  /* a run that others will work on and finish: nobody drives it */
    CB_IO_WORKER, /* a worker: targets exist; intermediates are shared in the work directory */
    CB_IO_FINISH  /* the end of a run that others have worked on */
} cb_io_mode;

typedef struct cb_io_options {
    cb_io_mode mode;
    bool
        resume; /* go on where an earlier run of the plan ended; of workers: it has begun all targets */
    bool joined;   /* of drivers: workers find the run by its name and the plan's, see cubed_work */
    unsigned keep; /* CUBED_KEEP_*: what may be left if the run ends early, see cb_io_keep */
    const cubed_takeover_options *takeover; /* NULL: the defaults */
    /* The run's name; NULL for a new one. Workers of a driver have its plan, too. */
    const char *run, *plan;
} cb_io_options;

/* Opens stores; but for workers, claims and prepares targets. A target that somebody else is writing is
 * CUBED_E_EXISTS. The plan must outlive it. */
CUBED_MUST_CHECK cubed_status cb_io_open(cubed_plan *plan, const cb_io_options *options,
                                         cb_io **out, cubed_error *err);
/* The run is complete: targets get their metadata, take the places of what they replace, and are free; then groups
 * are made. */
CUBED_MUST_CHECK cubed_status cb_io_commit(cb_io *io, cubed_error *err);
/* The run ended early, and may be resumed: close leaves what the options said. */
void cb_io_keep(cb_io *io);
/* Workers ended before their time: removes what they were writing. */
void cb_io_sweep(const cb_io *io);
/* Drivers remove intermediates and, unless committed, what they have made. */
void cb_io_close(cb_io *io);
/* Of a worker that has nothing to do: what it opened stays open, without memory for chunks. Then, when it has: whether
 * the run still has its places, and can be worked on as if it had been opened anew. False: it is to be closed. */
void cb_io_rest(cb_io *io);
bool cb_io_go_on(cb_io *io);
/* Which chunks tasks read and write. */
cb_chunks *cb_io_chunks(const cb_io *io);
/* A run in parts: an empty object in its folder; the names below a folder in it; and that folder, opened. */
CUBED_MUST_CHECK cubed_status cb_io_note(cb_io *io, const char *name, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_io_notes(cb_io *io, const char *folder, cubed_store_member_fn fn,
                                          void *ctx, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_io_spill(cb_io *io, cubed_error *err);
/* Says now and then that the run's driver is there. CUBED_E_EXISTS if another run has taken a place. */
CUBED_MUST_CHECK cubed_status cb_io_beat(cb_io *io, cubed_error *err);
/* The run has failed: CUBED_E_EXISTS, with that as the reason, if another run has taken a place; else `st`. */
CUBED_MUST_CHECK cubed_status cb_io_explain(const cb_io *io, cubed_status st, cubed_error *err);
/* Whether an earlier run of the plan has made everything. */
bool cb_io_finished(const cb_io *io);
const char *cb_io_run(const cb_io *io);
const char *cb_io_plan(const cb_io *io);

#endif
