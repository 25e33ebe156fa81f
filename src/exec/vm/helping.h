/* Workers without a task decode chunks for those who have one.
 *
 * Where there are fewer tasks than workers, or the last of many run, a worker that has nothing to do goes ahead of
 * another in the chunks that its operator visits (cb_operator.visit), and decodes some of them in its own arena, which
 * no task needs meanwhile. The other uses them where they lie. Results are the same, and nothing depends on it but time:
 * what cannot be brought so is brought by the task that wants it.
 *
 * All of it is guarded by the lock of the executor, which workers without a task wait with.
 */
#ifndef CB_EXEC_HELP_H
#define CB_EXEC_HELP_H

#include "base/lock.h"
#include "exec/plan/stage.h"
#include "exec/vm/vm.h"

/* A worker has so many chunks for others at a time, if its arena is large enough. */
#define CB_HELP_OFFERS 4

typedef struct cb_help cb_help;
typedef struct cb_helper cb_helper;

typedef enum cb_offer_state {
    CB_OFFER_NONE,
    CB_OFFER_MADE, /* by a worker that decodes it now */
    CB_OFFER_READY,
    CB_OFFER_FAILED, /* it could not be brought, and is not tried again */
    CB_OFFER_USED    /* by the one that it is for, until its arena is released */
} cb_offer_state;

typedef struct cb_offer {
    cb_offer_state state;
    const cb_helper *to; /* NULL: it is not wanted any more */
    int node;
    int64_t chunk, step; /* of the task */
    void *data;
    cb_task_count count; /* what bringing it moved */
} cb_offer;

struct cb_help {
    const cubed_plan *plan;
    cb_chunks *chunks;
    unsigned n;
    cb_helper *workers;
    bool *
        decodes; /* by node: its chunks are whole, encoded, and take longer to decode than to hand over */
    cb_mutex *lock;
    cb_cond *changed;
};

/* A worker: what it does, and what it has for others. */
struct cb_helper {
    cb_help *help;
    const cb_stage *stage; /* NULL: it has no task, or one that nobody can help with */
    int64_t task, step;
    int node; /* of the chunk that it came to last in the step; -1: it has come to none */
    int64_t chunk;
    cb_arena *arena;
    size_t mark, bytes; /* of the arena before offers, and of each of them */
    int noffers;        /* that have memory; 0: the arena is as it was */
    cb_offer offers[CB_HELP_OFFERS];
};

/* Whether some stage reads chunks that take longer to decode than to hand over, and more than a few. */
bool cb_help_is_worth(const cubed_plan *p);
/* `chunks`, the lock and the condition are borrowed. Where it is not worth it, h->workers is NULL. */
CUBED_MUST_CHECK cubed_status cb_help_init(cb_help *h, const cubed_plan *p, cb_chunks *chunks,
                                           unsigned workers, cb_mutex *lock, cb_cond *changed,
                                           cubed_error *err);
void cb_help_destroy(cb_help *h);

/* --- By a worker with a task --- */

void cb_help_begin(cb_helper *w, const cb_stage *stage, int64_t task);
void cb_help_step(cb_helper *w, int64_t step);
/* It wants a chunk: if another has brought it, says in `want` where it is: it lies there until `arena`, of which this takes
 * CB_CHUNKS_PIN_BYTES, is released to a mark before; or it is where chunks are kept. Waits for who is bringing it. */
CUBED_MUST_CHECK cubed_status cb_help_take(cb_helper *w, cb_want *want, cb_arena *arena,
                                           cb_task_count *count, cubed_error *err);
void cb_help_end(cb_helper *w);

/* --- By one without, that holds the lock --- */

/* Decodes a chunk for another, in `arena`, and gives the lock back meanwhile; false: there is none to decode now. */
bool cb_help_others(cb_helper *w, cb_arena *arena) CB_REQUIRES(w->help->lock);
/* Waits until nobody uses what it has, and makes its arena what it was. */
void cb_help_leave(cb_helper *w) CB_REQUIRES(w->help->lock);

#endif
