/* Finds the tasks that may run: those whose input chunks exist. Memory use does not grow with the number of tasks or of
 * their reads (ready.c). Used only by the driver's thread. */
#ifndef CB_RUN_READY_H
#define CB_RUN_READY_H

#include "run/places/notes.h"

typedef struct cb_ready cb_ready;

typedef struct cb_ready_args {
    const cubed_plan *plan;
    cb_chunks *chunks;
    int64_t most_tasks; /* maximum tasks per range */
    unsigned workers;
    unsigned range_ms; /* intended duration of a range (cubed_executor_caps) */
    /* maximum number of tasks that are held in memory until they run; more if there are more stages */
    int64_t window;
    const cubed_cancel *cancel; /* may be NULL */
    /* Completed tasks of a run in parts. Its intermediates are kept until the run is finished, because their readers are not
     * counted. NULL: completed tasks are found by their chunks. */
    const cb_notes *notes;
    /* Called, in the order of tasks, for each task that need not run. NULL: the run is not a resumed run. */
    cubed_status (*resumed)(void *ctx, int stage, int64_t task, cubed_error *err);
    void *ctx;
} cb_ready_args;

/* Prepares the search for tasks: counts the tasks that read each chunk of an intermediate, and looks for the output of an earlier
 * run. */
CUBED_MUST_CHECK cubed_status cb_ready_new(const cb_ready_args *args, cb_ready **out,
                                           cubed_error *err);
void cb_ready_free(cb_ready *r);
/* Gets the next range of tasks that may run: tasks *first to *last - 1 of *stage. Each task is returned once. *first equals *last
 * if no task may run now. */
CUBED_MUST_CHECK cubed_status cb_ready_take(cb_ready *r, int *stage, int64_t *first, int64_t *last,
                                            cubed_error *err);
/* Records the duration in nanoseconds of one task of the stage. */
void cb_ready_timed(cb_ready *r, int stage, int64_t ns);
/* Records that a task is complete, so the chunks that it writes exist. Frees chunks of intermediates that no later task reads. */
CUBED_MUST_CHECK cubed_status cb_ready_done(cb_ready *r, int stage, int64_t task, cubed_error *err);

#endif
