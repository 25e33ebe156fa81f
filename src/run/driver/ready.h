/* Which tasks may run: those whose chunks exist. What is kept does not grow with tasks or with what they read:
 * see ready.c. Used by the driver's thread alone. */
#ifndef CB_RUN_READY_H
#define CB_RUN_READY_H

#include "run/places/notes.h"

typedef struct cb_ready cb_ready;

typedef struct cb_ready_args {
    const cubed_plan *plan;
    cb_chunks *chunks;
    int64_t most_tasks; /* of a range */
    unsigned workers;
    unsigned range_ms; /* that a range is to take: cubed_executor_caps */
    int64_t
        window; /* tasks that are held while they wait: more than these if there are more stages */
    const cubed_cancel *cancel; /* may be NULL */
    /* Of a run in parts: what has been done. Its intermediates stay until it is finished: nobody counts who reads them.
     * NULL: what has been done is seen by the chunks that are there. */
    const cb_notes *notes;
    /* NULL: the run resumes none. Called for tasks that need not run, when it is their turn. */
    cubed_status (*resumed)(void *ctx, int stage, int64_t task, cubed_error *err);
    void *ctx;
} cb_ready_args;

/* Counts who reads which intermediate, and finds what an earlier run left. */
CUBED_MUST_CHECK cubed_status cb_ready_new(const cb_ready_args *args, cb_ready **out,
                                           cubed_error *err);
void cb_ready_free(cb_ready *r);
/* The next tasks that may run, each once; *first = *last: none, for the time being. */
CUBED_MUST_CHECK cubed_status cb_ready_take(cb_ready *r, int *stage, int64_t *first, int64_t *last,
                                            cubed_error *err);
/* How long one of its tasks took. */
void cb_ready_timed(cb_ready *r, int stage, int64_t ns);
/* A task's chunks exist, and those that it alone still had to read are freed. */
CUBED_MUST_CHECK cubed_status cb_ready_done(cb_ready *r, int stage, int64_t task, cubed_error *err);

#endif
