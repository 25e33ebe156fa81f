/* What io.c, folder.c and targets.c share; for those only. */
#ifndef CB_RUN_IO_STATE_H
#define CB_RUN_IO_STATE_H

#include "run/places/io.h"
#include "run/places/self.h"

/* Where a target lies. Of regions of arrays that exist only the store counts. */
typedef struct target_io {
    cubed_store *store;     /* of the URL */
    cb_claim claim, before; /* now, and before the array took its place */
    bool claimed;           /* by this process */
    bool begun;             /* by this run, in another process */
    bool resumed;           /* an earlier run of the plan has made chunks of it, */
    bool done;              /* and all of them, and metadata */
    bool replaces, swapped; /* it is made beside what is there, and has taken its place */
    bool tried_commit;      /* its metadata may be there */
    bool late;              /* processes of the run that had the place may still write there, */
    bool may_write;         /* and the store has places: the array goes to a new one */
    cb_stage_place beside;
    cubed_store *place;    /* the place that the array is written to; NULL if the store has none */
    cb_claim_fence *fence; /* NULL if the store needs none */
} target_io;
_Static_assert(sizeof(target_io) + sizeof(cb_claim_fence) <= CB_RUN_TARGET_BYTES,
               "what a run keeps of a target");

/* Of a node that is a target with a URL; what the broker keeps counts with it. */
typedef struct node_io {
    cb_zarr_array *array;
    target_io *target;
} node_io;
_Static_assert(sizeof(node_io) == 2 * sizeof(void *), "what a run keeps of a node");

struct cb_io {
    cubed_plan *plan;
    cb_io_mode mode;
    cb_run_self self;
    cb_zone *zone; /* of what is known of targets */
    bool resume;   /* what an earlier run left counts */
    bool committed;
    bool finished;           /* an earlier run has done all: there is nothing to do */
    bool remember;           /* a run that is resumed again is to find out that all is done */
    unsigned may_keep, keep; /* CUBED_KEEP_*: if the run ends early, and in fact */
    /* When claims were last said to be alive: cb_clock_boot_ns, 0 before the first time, and cb_run_now. */
    int64_t beat, beat_at;
    cb_beats *beats; /* while claims may be taken over otherwise: see run/places/beats.h; or NULL */
    node_io *nodes;  /* one per node */
    cb_chunks *chunks;
    cubed_store *work;         /* the work directory, or NULL */
    bool has_folder;           /* the run has one there: opened by the first spill */
    cb_claim folder;           /* of it; drivers have it */
    cubed_store *folder_place; /* see target_io.place */
    char prefix[CB_RUN_FOLDER_CAP];
    /* The folder of an earlier run of the plan, whose processes may still write there: its chunks go to this run's. */
    char left[CB_RUN_FOLDER_CAP];
};

/* Whether this process drives a whole run. */
static inline bool cb_io_drives(const cb_io *io)
{
    return io->mode == CB_IO_RUN || io->mode == CB_IO_DRIVER;
}

/* See io.h. Places of targets are looked at, taken and prepared; or joined, by a worker. */
CUBED_MUST_CHECK cubed_status cb_targets_begin(cb_io *io, bool resume, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_targets_join(cb_io *io, bool resumed, cubed_error *err);
/* Of a worker that has joined them: whether all are as they were then. */
bool cb_targets_are_joined(const cb_io *io);
/* Closes them; what was not committed is left or removed. */
void cb_targets_end(cb_io *io);

/* Opens the work directory, unless it is open. */
CUBED_MUST_CHECK cubed_status cb_folder_open_work(cb_io *io, cubed_error *err);
/* A cb_chunks_open_fn of a cb_io. CUBED_E_BUDGET if there is no work directory. */
CUBED_MUST_CHECK cubed_status cb_folder_open(void *io, cubed_store **store, const char **folder,
                                             cubed_error *err);
/* Closes it: a driver's is left or removed. */
void cb_folder_close(cb_io *io);

#endif
