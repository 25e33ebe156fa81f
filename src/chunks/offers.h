/* Chunks that workers without a task decode for workers with one.
 *
 * If there are fewer tasks than workers, or the last of many tasks run, some workers are idle. An idle worker runs ahead of
 * another worker in the chunks that the other's task reads (cb_chunks_options.visit). The idle worker decodes some of these
 * chunks in its own arena, which no task needs at that time, and offers them. The other worker uses them in place when it
 * requests them (cb_chunks_want). Results do not depend on offers. A task itself loads chunks that the idle worker cannot load.
 *
 * The lock of the executor guards the offers and the sleeping workers. A worker with a task publishes its position without the
 * lock, and takes the lock only while some worker is idle. A position may be read while it changes. Then an idle worker may decode
 * a chunk that is not needed, which costs time only. An event wakes at most one sleeping worker. This worker wakes the next one
 * if it finds a chunk, until as many workers decode as there are processors. */
#ifndef CB_CHUNKS_OFFERS_H
#define CB_CHUNKS_OFFERS_H

#include <stdatomic.h>

#include "base/lock.h"
#include "chunks/chunks.h"

/* Maximum number of chunks that a worker holds for other workers, if its arena is large enough. */
#define CB_OFFERS_EACH 4

typedef struct cb_offers cb_offers;
typedef struct cb_helper cb_helper;

typedef enum cb_offer_state {
    CB_OFFER_NONE,
    CB_OFFER_MADE, /* a worker is decoding the chunk */
    CB_OFFER_READY,
    CB_OFFER_FAILED, /* the chunk could not be loaded; no retry */
    /* the worker for which the chunk was decoded uses it, until that worker's arena is released */
    CB_OFFER_USED
} cb_offer_state;

typedef struct cb_offer {
    cb_offer_state state;
    cb_helper *by;         /* worker whose arena has the chunk */
    cb_helper *to;         /* worker that the chunk is for; NULL: no worker needs it any more */
    struct cb_offer *next; /* next offer to the same worker */
    int node;
    int64_t chunk, step; /* index of the chunk, and step of the task that reads it */
    void *data;
    cb_task_count count; /* data moved by loading it */
} cb_offer;

/* The workers of an executor. */
struct cb_offers {
    cb_chunks *chunks;
    unsigned n;
    cb_helper *workers;
    _Atomic int64_t *
        places; /* current task of each worker: see cb_offers_begin; -1: no task that accepts help */
    cb_mutex *lock;
    atomic_uint
        idle; /* number of workers without a task, which search for chunks, decode or sleep */
    unsigned making, most; /* number of workers that decode now, and its maximum */
    uint64_t events;       /* number of events that may have made a chunk available for decoding */
    /* Sleeping workers: those that can hold another chunk, and those that cannot. */
    cb_helper *ready, *full;
};

/* A worker: its position in its current task, and its chunks for others. */
struct cb_helper {
    cb_offers *offers;
    _Atomic int64_t *place; /* its element of offers->places */
    _Atomic int64_t step;   /* step of the current task */
    _Atomic int64_t node,
        chunk;       /* last chunk that was read in the step; node is -1 before the first chunk */
    cb_offer *first; /* offers to this worker */
    cb_cond wake;
    bool waits;   /* waits for an offer to change its state */
    bool is_full; /* the worker could not hold a chunk that its last search found */
    /* List of sleeping workers in which this one is; NULL: it does not sleep. */
    cb_helper **list, *next, *previous;
    cb_arena *arena;
    size_t mark, bytes; /* mark of the arena before the offers, and bytes of each offer */
    int nheld;          /* number of offers that hold memory; 0: the arena is unchanged */
    cb_offer held[CB_OFFERS_EACH];
};

/* Returns whether the chunks of a node are read as a whole, are encoded, and cost more to decode than to hand over. */
bool cb_node_is_offered(const cubed_plan *p, int node);
/* Begins offers among the workers of an executor, which ends them before its lock is destroyed. Requires
 * cb_chunks_options.visit. */
CUBED_MUST_CHECK cubed_status cb_chunks_begin_offers(cb_chunks *c, unsigned workers, cb_mutex *lock,
                                                     cubed_error *err);
void cb_chunks_end_offers(cb_chunks *c);
/* Returns a worker of the executor; NULL if there are no offers. */
cb_helper *cb_chunks_helper(const cb_chunks *c, unsigned index);

/* --- Calls of a worker with a task: other workers may decode for it until the end of the task --- */

void cb_offers_begin(cb_helper *w, int stage, int64_t task);
void cb_offers_step(cb_helper *w, int64_t step);
void cb_offers_end(cb_helper *w);

/* --- Calls of a worker without a task, which holds the lock */

/* Begins the time without a task; cb_offers_leave ends it. */
void cb_offers_enter(cb_helper *w) CB_REQUIRES(w->offers->lock);
/* Decodes a chunk for another worker in `arena`; releases the lock while it searches and decodes. Returns false if there is no
 * chunk to decode now. Then the caller may sleep if its own condition still holds. */
bool cb_offers_make(cb_helper *w, cb_arena *arena) CB_REQUIRES(w->offers->lock);
/* Sleeps until another thread wakes the worker. */
void cb_offers_sleep(cb_helper *w) CB_REQUIRES(w->offers->lock);
/* Waits until no other worker uses a chunk of this worker, and restores the arena of this worker. If it has to wait, it first wakes
 * another worker, which may take the range of tasks for which this worker was woken. */
void cb_offers_clear(cb_helper *w) CB_REQUIRES(w->offers->lock);
/* Ends the time without a task. Requires that the worker holds no chunks. */
void cb_offers_leave(cb_helper *w) CB_REQUIRES(w->offers->lock);

/* Wakes one sleeping worker, or all. Requires the lock. */
void cb_offers_wake(cb_offers *all) CB_REQUIRES(all->lock);
void cb_offers_wake_all(cb_offers *all) CB_REQUIRES(all->lock);

#endif
