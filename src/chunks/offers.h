/* Offers: chunks that idle workers decode for workers with a task.
 *
 * If there are fewer tasks than workers, or the last of many tasks run, some workers are idle. An idle worker visits the chunks
 * that another worker's task will read (cb_chunks_options.visit). It decodes some of these chunks in its own arena, which no task
 * needs at that time, and offers them. The other worker uses them in place when it requests them (cb_chunks_want).
 *
 * Results do not depend on offers: if an idle worker cannot load a chunk, the task loads the chunk itself. The executor's
 * lock, with which idle workers wait, guards all data. */
#ifndef CB_CHUNKS_OFFERS_H
#define CB_CHUNKS_OFFERS_H

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
    CB_OFFER_FAILED, /* the chunk could not be loaded, and is not tried again */
    /* the worker for which the chunk was decoded uses it, until that worker's arena is released */
    CB_OFFER_USED
} cb_offer_state;

typedef struct cb_offer {
    cb_offer_state state;
    const cb_helper *to; /* worker that the chunk is for; NULL: no worker needs it any more */
    int node;
    int64_t chunk, step; /* index of the chunk, and step of the task that reads it */
    void *data;
    cb_task_count count; /* counts of the data that loading the chunk moved */
} cb_offer;

/* State of the offers among the workers of an executor. */
struct cb_offers {
    cb_chunks *chunks;
    unsigned n;
    cb_helper *workers;
    cb_mutex *lock;
    cb_cond *changed;
};

/* State of one worker: its current task, and the chunks that it decoded for other workers. */
struct cb_helper {
    cb_offers *offers;
    int stage; /* stage of the current task; -1: no task, or a task that accepts no help */
    int64_t task, step;
    int node; /* node of the last chunk that was read in the step; -1: no chunk yet */
    int64_t chunk;
    cb_arena *arena;
    size_t mark, bytes; /* mark of the arena before the offers, and bytes of each offer */
    int nheld;          /* number of offers that hold memory; 0: the arena is unchanged */
    cb_offer held[CB_OFFERS_EACH];
};

/* Returns true if idle workers decode chunks of a node for other workers, provided that a task reads them as a whole. These
 * chunks are encoded, and take longer to decode than another worker needs to wake up. */
bool cb_node_is_offered(const cubed_plan *p, int node);
/* Begins offers among the workers of an executor, which ends them before its lock and condition are destroyed. Requires
 * cb_chunks_options.visit. */
CUBED_MUST_CHECK cubed_status cb_chunks_begin_offers(cb_chunks *c, unsigned workers, cb_mutex *lock,
                                                     cb_cond *changed, cubed_error *err);
void cb_chunks_end_offers(cb_chunks *c);
/* Returns a worker of the executor; NULL if there are no offers. */
cb_helper *cb_chunks_helper(const cb_chunks *c, unsigned index);

/* --- Calls by a worker that executes a task: other workers may decode chunks for it until the task ends --- */

void cb_offers_begin(cb_helper *w, int stage, int64_t task);
void cb_offers_step(cb_helper *w, int64_t step);
void cb_offers_end(cb_helper *w);

/* --- Calls by a worker without a task, which holds the lock --- */

/* Decodes a chunk for another worker in `arena`; releases the lock while it decodes. Returns false if there is no chunk to
 * decode now. */
bool cb_offers_make(cb_helper *w, cb_arena *arena) CB_REQUIRES(w->offers->lock);
/* Waits until no other worker uses a chunk of this worker, and restores the arena of this worker. */
void cb_offers_leave(cb_helper *w) CB_REQUIRES(w->offers->lock);

#endif
