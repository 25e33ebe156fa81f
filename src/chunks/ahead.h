/* Prefetches the input chunks of a worker's next tasks.
 *
 * A worker knows a range of tasks and runs it in order. A cursor runs ahead of it over the chunks that its tasks read
 * (cb_chunks_options.visit). Memory, the store and the list of unused chunks limit the lead of the cursor. Prefetching affects
 * only the time that a task waits: chunks that are needed in another order are read on demand. */
#ifndef CB_CHUNKS_AHEAD_H
#define CB_CHUNKS_AHEAD_H

#include "chunks/chunks.h"

/* Maximum number of chunks between the cursor and the last chunk that the worker has read. */
#define CB_AHEAD_SEEN 256

typedef struct cb_ahead {
    cb_chunks *chunks;     /* NULL: nothing is prefetched */
    struct cb_ahead *next; /* state of the next range; NULL if there is no next range */
    int stage;
    int64_t running;    /* number of the running task */
    int64_t task, last; /* number of the task at the cursor, and end of the range */
    /* Number of the step in the task at the cursor, and of the next chunk of the step. */
    int64_t step, at;
    unsigned first, n;
    struct {
        int node;
        int64_t chunk, task;
    } seen[CB_AHEAD_SEEN]; /* ring */
} cb_ahead;

/* Sets the next tasks, first to last - 1; {0} before the first range. Abandons prefetches of the previous range. */
void cb_ahead_begin(cb_ahead *a, cb_chunks *chunks, int stage, int64_t first, int64_t last);
/* Records that a task of the range begins. */
void cb_ahead_run(cb_ahead *a, int64_t task, cb_task_count *count);
/* Records that the running task has read a chunk. */
void cb_ahead_pass(cb_ahead *a, int node, const int64_t *idx, cb_task_count *count);
void cb_ahead_end(cb_ahead *a);
/* Makes the cursor continue, after the last chunk of `a`, with the chunks of `next`, for which cb_ahead_begin was called. */
void cb_ahead_go_on(cb_ahead *a, cb_ahead *next);
/* Returns true if the range contains the task and has not continued to a later task. The running task counts. */
bool cb_ahead_has(const cb_ahead *a, int stage, int64_t task);

#endif
