/* What a worker's next tasks read, asked for before they want it.
 *
 * A worker is told of a range of tasks, and goes through it in order. A cursor runs ahead of it over the chunks that
 * its operator visits (cb_operator.visit), as far as memory, the store and the list of what is not wanted yet allow.
 * Nothing depends on it but how long a task waits: what is wanted in another order is read when it is wanted.
 */
#ifndef CB_EXEC_AHEAD_H
#define CB_EXEC_AHEAD_H

#include "chunks/chunks.h"
#include "exec/plan/stage.h"

/* Chunks that were looked at, and which the worker has not come to. */
#define CB_AHEAD_SEEN 256

typedef struct cb_ahead {
    const cubed_plan *plan;
    cb_chunks *chunks;     /* NULL: nothing is fetched ahead */
    struct cb_ahead *next; /* of another range, NULL: none */
    const cb_stage *stage;
    int64_t running;    /* the task that is run */
    int64_t task, last; /* the one that is looked at, and where the range ends */
    int64_t step, at;   /* in it; and the next chunk of the step */
    unsigned first, n;
    struct {
        int node;
        int64_t chunk, task;
    } seen[CB_AHEAD_SEEN]; /* ring */
} cb_ahead;

/* Tasks first to before last are next; {0} before the first range. Gives up what is left of another range. */
void cb_ahead_begin(cb_ahead *a, const cubed_plan *p, cb_chunks *chunks, int stage, int64_t first,
                    int64_t last);
/* A task is begun. */
void cb_ahead_run(cb_ahead *a, int64_t task, cb_task_count *count);
/* A chunk has been read. */
void cb_ahead_pass(cb_ahead *a, int node, const int64_t *idx, cb_task_count *count);
void cb_ahead_end(cb_ahead *a);
/* What `next` looks at, which was begun, is asked for behind the last that `a` does. */
void cb_ahead_go_on(cb_ahead *a, cb_ahead *next);
/* Whether the task is one of the range that was not run yet. */
bool cb_ahead_has(const cb_ahead *a, int stage, int64_t task);

#endif
