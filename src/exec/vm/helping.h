/* Workers without a task decode chunks for workers with one.
 *
 * If there are fewer tasks than workers, or the last of many tasks run, an idle worker runs ahead of another in the chunks
 * that its operator visits (cb_operator.visit). It decodes some of them in its own arena, which no task needs then. The
 * other worker uses them in place. Results stay the same. Chunks that cannot be loaded in this way are loaded by the task
 * itself.
 *
 * The lock of the executor, with which idle workers wait, guards all data. */
#ifndef CB_EXEC_HELP_H
#define CB_EXEC_HELP_H

#include "base/lock.h"
#include "exec/plan/stage.h"
#include "exec/vm/vm.h"

/* Maximum chunks that a worker holds for others, if its arena is large enough. */
#define CB_HELP_OFFERS 4

typedef struct cb_help cb_help;
typedef struct cb_helper cb_helper;

typedef enum cb_offer_state {
    CB_OFFER_NONE,
    CB_OFFER_MADE, /* a worker is decoding it */
    CB_OFFER_READY,
    CB_OFFER_FAILED, /* it could not be loaded, and is not retried */
    /* in use by the worker that it was decoded for, until that worker's arena is released */
    CB_OFFER_USED
} cb_offer_state;

typedef struct cb_offer {
    cb_offer_state state;
    const cb_helper *to; /* NULL: no longer needed */
    int node;
    int64_t chunk, step; /* of the task */
    void *data;
    cb_task_count count; /* data moved by loading it */
} cb_offer;

struct cb_help {
    const cubed_plan *plan;
    cb_chunks *chunks;
    unsigned n;
    cb_helper *workers;
    /* by node: its chunks are whole, encoded, and cost more to decode than to pass on */
    bool *decodes;
    cb_mutex *lock;
    cb_cond *changed;
};

/* A worker: its current task, and its chunks for others. */
struct cb_helper {
    cb_help *help;
    const cb_stage *stage; /* NULL: no task, or one without help */
    int64_t task, step;
    int node; /* of its last chunk in the step; -1: none yet */
    int64_t chunk;
    cb_arena *arena;
    size_t mark, bytes; /* of the arena before offers, and of each offer */
    int noffers;        /* with memory; 0: the arena is unchanged */
    cb_offer offers[CB_HELP_OFFERS];
};

/* Returns true if a stage reads more than a few chunks that cost more to decode than to pass on. */
bool cb_help_is_worth(const cubed_plan *p);
/* `chunks`, the lock and the condition are borrowed. If help is not worthwhile, h->workers is NULL. */
CUBED_MUST_CHECK cubed_status cb_help_init(cb_help *h, const cubed_plan *p, cb_chunks *chunks,
                                           unsigned workers, cb_mutex *lock, cb_cond *changed,
                                           cubed_error *err);
void cb_help_destroy(cb_help *h);

/* --- By a worker with a task --- */

void cb_help_begin(cb_helper *w, const cb_stage *stage, int64_t task);
void cb_help_step(cb_helper *w, int64_t step);
/* Called before a chunk is loaded. If another worker has decoded it, sets its address in `want`; waits if it is being
 * decoded. The chunk stays until `arena` is released to an earlier mark, or is in the cache. Uses CB_CHUNKS_PIN_BYTES of
 * `arena`. */
CUBED_MUST_CHECK cubed_status cb_help_take(cb_helper *w, cb_want *want, cb_arena *arena,
                                           cb_task_count *count, cubed_error *err);
void cb_help_end(cb_helper *w);

/* --- By one without, that holds the lock --- */

/* Decodes a chunk for another worker in `arena`, without the lock meanwhile. Returns false if there is no chunk to decode
 * now. */
bool cb_help_others(cb_helper *w, cb_arena *arena) CB_REQUIRES(w->help->lock);
/* Waits until none of its chunks is in use, and restores its arena. */
void cb_help_leave(cb_helper *w) CB_REQUIRES(w->help->lock);

#endif
