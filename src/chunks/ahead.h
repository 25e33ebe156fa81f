/* Prefetches the input chunks of a worker's next tasks.
 *
 * A worker runs a range of tasks in order. A cursor is ahead of the worker, in the sequence of chunks that its tasks will read
 * (cb_chunks_options.visit), and requests these chunks. Three limits stop the cursor: memory, the store's number of requests in
 * flight, and CB_AHEAD_SEEN. Prefetching affects only the time that a task waits: if a task reads chunks in another order, they
 * are read when they are needed. */
#ifndef CB_CHUNKS_AHEAD_H
#define CB_CHUNKS_AHEAD_H

#include "chunks/chunks.h"

/* Maximum number of chunks between the cursor and the last chunk that the worker has read. */
#define CB_AHEAD_SEEN 256

/* The cursor of one worker for one range of tasks. */
typedef struct cb_ahead {
    cb_chunks *chunks;     /* NULL: nothing is prefetched */
    struct cb_ahead *next; /* cursor of the next range; NULL if there is no next range */
    int stage;
    int64_t running;    /* number of the running task */
    int64_t task, last; /* number of the task at the cursor, and end of the range */
    /* Position of the cursor in this task: number of the step, and number of chunks of the step before the cursor. */
    int64_t step, at;
    /* Chunks between the worker and the cursor: a ring buffer of `n` entries, of which `first` is the oldest. */
    unsigned first, n;
    struct {
        int node;
        int64_t chunk, task;
    } seen[CB_AHEAD_SEEN];
} cb_ahead;

/* Begins the range of tasks first .. last - 1. Drops prefetched chunks of the previous range. *a must be {0} before the first
 * range. */
void cb_ahead_begin(cb_ahead *a, cb_chunks *chunks, int stage, int64_t first, int64_t last);
/* Records that a task of the range begins, and prefetches chunks. `count` counts the data of shard indices that the call
 * decodes. */
void cb_ahead_run(cb_ahead *a, int64_t task, cb_task_count *count);
/* Records that the running task has read a chunk, and prefetches more chunks. */
void cb_ahead_pass(cb_ahead *a, int node, const int64_t *idx, cb_task_count *count);
/* Ends prefetching, and drops prefetched chunks that were not read. */
void cb_ahead_end(cb_ahead *a);
/* Makes `a` continue with the range of `next` after the last chunk of its range. Call cb_ahead_begin for `next` before. */
void cb_ahead_go_on(cb_ahead *a, cb_ahead *next);
/* Returns true if the task is the running task of the range or a later task of the range. */
bool cb_ahead_has(const cb_ahead *a, int stage, int64_t task);

#endif
