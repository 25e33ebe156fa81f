/* Declarations shared by io.c, folder.c and targets.c only. */
#ifndef CB_RUN_IO_STATE_H
#define CB_RUN_IO_STATE_H

#include "run/places/io.h"
#include "run/places/self.h"

/* The run's data for a target. For a target that is a region of an existing array, only `store` is set. */
typedef struct target_io {
    cubed_store *store; /* store at the target's URL */
    /* claim: the current claim of the target. before: the claim that was current before the new array replaced the old one */
    cb_claim claim, before;
    bool claimed; /* this process holds the claim */
    bool begun;   /* another process of this run has begun the target */
    bool resumed; /* an earlier run of the plan wrote chunks of the target */
    /* An earlier run of the plan wrote all chunks and the metadata of the target. */
    bool done;
    bool replaces,
        swapped; /* the target is created next to an existing array; it has replaced that array */
    bool tried_commit; /* the metadata of the target may exist */
    bool exists;       /* updates: the array exists */
    bool updates;      /* tasks replace some chunks of the array in place */
    bool late; /* processes of the run from which the claim was taken may still write there */
    /* The array is written to a new directory: `late` is set, and the store can keep a directory open under another name. */
    bool may_write;
    cb_stage_place beside;
    /* Handle of the directory to which the array is written. It refers to this directory even after a rename (cb_store_anchor).
     * NULL if the store has no such handles. */
    cubed_store *place;
    cb_claim_fence *fence; /* NULL if the store needs no fence */
} target_io;
_Static_assert(sizeof(target_io) + sizeof(cb_claim_fence) <= CB_RUN_TARGET_BYTES,
               "what a run keeps of a target");

/* The run's data for a node of the plan. CB_RUN_NODE_BYTES is the size of this data and the broker's data for a node. */
typedef struct node_io {
    cb_zarr_array *array;
    target_io *target;
} node_io;
_Static_assert(sizeof(node_io) == 2 * sizeof(void *), "what a run keeps of a node");

struct cb_io {
    cubed_plan *plan;
    cb_io_mode mode;
    cb_run_self self;
    cb_zone *zone; /* holds the strings of records */
    bool resume;   /* output of an earlier run is used */
    bool committed;
    bool finished; /* an earlier run has completed all targets, so no task runs */
    bool
        remember; /* the records of complete targets are kept, so that a later resumed run finds that everything is done */
    /* CUBED_KEEP_*: output that may be kept if the run ends early, and output that is kept */
    unsigned may_keep, keep;
    /* Time of the last heartbeat, by cb_clock_boot_ns (0: no heartbeat yet) and by cb_run_now. */
    int64_t beat, beat_at;
    int64_t checked; /* workers: time of the last check of records, by cb_clock_boot_ns */
    /* thread that renews the claims during commit and other long steps (run/places/beats.h), or NULL */
    cb_beats *beats;
    bool asks_update;           /* the run is an update (update.h) */
    const cubed_cancel *cancel; /* cancel flag of the update; may be NULL */
    struct cb_update *update; /* the decided update; NULL before the decision, and for other runs */
    node_io *nodes;           /* one entry per node */
    cb_chunks *chunks;
    cubed_store *work; /* the work directory, or NULL */
    bool has_folder;   /* the run has a folder in the work directory; the first spill opens it */
    cb_claim folder;   /* claim of the work folder; only drivers have it */
    cubed_store *folder_place; /* the open folder, independently of its name; NULL as for targets */
    char prefix[CB_RUN_FOLDER_CAP];
    /* Folder of an earlier run of the plan whose processes may still write there. Its chunks are moved to this run's
     * folder. */
    char left[CB_RUN_FOLDER_CAP];
};

/* Returns true if this process drives a whole run. */
static inline bool cb_io_drives(const cb_io *io)
{
    return io->mode == CB_IO_RUN || io->mode == CB_IO_DRIVER;
}

/* Open the targets: cb_targets_begin inspects, claims and prepares them; cb_targets_join opens them in a worker. */
CUBED_MUST_CHECK cubed_status cb_targets_begin(cb_io *io, bool resume, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_targets_join(cb_io *io, bool resumed, cubed_error *err);
/* For a worker after cb_targets_join: returns true if the run still has the claim of every target. If `recent` is set, the last
 * check was recent, and only targets without fence are checked, whose puts are unconditional. */
bool cb_targets_are_joined(const cb_io *io, bool recent);
/* Closes the targets. Keeps or removes output that was not committed. */
void cb_targets_end(cb_io *io);

/* Opens the work directory if it is not open. */
CUBED_MUST_CHECK cubed_status cb_folder_open_work(cb_io *io, cubed_error *err);
/* Opens the run's folder for intermediates that do not fit into memory, or that worker processes share. A cb_chunks_open_fn; `io`
 * is a cb_io. Without a work directory: CUBED_E_BUDGET, or CUBED_E_ARG if the run has worker processes. */
CUBED_MUST_CHECK cubed_status cb_folder_open(void *io, cubed_store **store, const char **folder,
                                             cubed_error *err);
/* Closes the folder. A driver keeps or removes it. */
void cb_folder_close(cb_io *io);

#endif
