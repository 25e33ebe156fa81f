/* Offers: chunks that idle workers decode for workers with a task.
 *
 * If there are fewer tasks than workers, or only the last tasks of a stage still run, some workers are idle. An idle worker
 * visits the chunks that another worker's task will read (cb_chunks_options.visit). It decodes some of these chunks in its own
 * arena, which no task needs at that time, and offers them. The other worker uses them in place when it requests them
 * (cb_chunks_want).
 *
 * Results do not depend on offers: if an idle worker cannot load a chunk, the task loads the chunk itself. One lock guards all
 * structures of this header: cb_offers.lock. It is the executor's lock, which idle workers also use to wait for tasks. */
#ifndef CB_CHUNKS_OFFERS_H
#define CB_CHUNKS_OFFERS_H

#include "base/lock.h"
#include "chunks/chunks.h"

/* Maximum number of chunks that one worker holds for other workers. A small arena holds fewer. */
#define CB_OFFERS_EACH 4

typedef struct cb_offers cb_offers;
typedef struct cb_helper cb_helper;

typedef enum cb_offer_state {
    CB_OFFER_NONE,   /* no chunk: the offer is free */
    CB_OFFER_MADE,   /* the chunk is being decoded */
    CB_OFFER_READY,  /* the chunk is decoded */
    CB_OFFER_FAILED, /* the chunk could not be loaded; loading it is not retried */
    /* the worker for which the chunk was decoded uses it, until that worker's arena is released */
    CB_OFFER_USED
} cb_offer_state;

/* One chunk that a worker decodes for another worker. */
typedef struct cb_offer {
    cb_offer_state state;
    const cb_helper *to; /* worker that the chunk is for; NULL if that worker no longer needs it */
    int node;
    int64_t chunk, step; /* number of the chunk in its grid, and step of the task that reads it */
    void *data;          /* the decoded chunk, unless it goes to the cache */
    cb_task_count count; /* counts of the data that loading the chunk moved */
} cb_offer;

/* The executor's lock and conditions, which the offers use. */
typedef struct cb_offer_sync {
    cb_mutex *lock;
    cb_cond *idle;    /* idle workers wait for it */
    cb_cond *decoded; /* no other code waits for it */
} cb_offer_sync;

/* State of the offers among the workers of an executor. */
struct cb_offers {
    cb_chunks *chunks;
    unsigned n;         /* number of workers */
    cb_helper *workers; /* one for each worker */
    cb_mutex *lock;
    cb_cond *idle;    /* signalled when an idle worker may find a chunk to decode */
    cb_cond *decoded; /* signalled when a chunk was decoded, or is no longer used */
    unsigned
        active; /* workers that execute a task that accepts help, or decode a chunk for another worker */
    unsigned most; /* another worker may decode a chunk only while `active` is less than this */
    /* number of wake-ups that workers without free memory passed to the next idle worker since the last call of wake_one */
    unsigned passed;
};

/* State of one worker: its current task, and the chunks that it decoded for other workers. */
struct cb_helper {
    cb_offers *offers;
    int stage; /* stage of the current task; -1: no task, or a task that accepts no help */
    int64_t task, step;
    int node; /* node and number of the last chunk that was requested in the step; node -1: none yet */
    int64_t chunk;
    cb_arena *arena;
    size_t mark, bytes; /* fill level of the arena before the offers, and bytes of each chunk */
    int nheld;          /* number of offers with memory in the arena; 0: the arena is unchanged */
    cb_offer held[CB_OFFERS_EACH];
};

/* Returns true if idle workers may decode chunks of a node for other workers: the node is a source in a Zarr array whose chunks
 * are encoded, and so large that decoding takes longer than waking another worker. Only for tasks that read whole chunks. */
bool cb_node_is_offered(const cubed_plan *p, int node);
/* Allows offers among the `workers` workers of an executor. The executor must call cb_chunks_end_offers before it destroys its
 * lock and conditions. Requires cb_chunks_options.visit. */
CUBED_MUST_CHECK cubed_status cb_chunks_begin_offers(cb_chunks *c, unsigned workers,
                                                     cb_offer_sync sync, cubed_error *err);
void cb_chunks_end_offers(cb_chunks *c);
/* Returns the state of a worker, by its index in the executor; NULL if offers are not allowed. */
cb_helper *cb_chunks_helper(const cb_chunks *c, unsigned index);

/* --- Calls by a worker that executes a task: other workers may decode chunks for it until the task ends --- */

/* The worker begins a task. */
void cb_offers_begin(cb_helper *w, int stage, int64_t task);
/* The task begins a step. Chunks of earlier steps that it has not used are withdrawn. */
void cb_offers_step(cb_helper *w, int64_t step);
/* The task ends. Chunks that it has not used are withdrawn. */
void cb_offers_end(cb_helper *w);

/* --- Calls by a worker without a task, which holds the lock --- */

/* Decodes one chunk that another worker will need, in `arena` (the arena of worker w). Releases the lock while it decodes.
 * Returns false if there is no chunk to decode now. */
bool cb_offers_make(cb_helper *w, cb_arena *arena) CB_REQUIRES(w->offers->lock);
/* Ends the offers of worker w, so that it can execute a task: waits until no other worker uses a chunk in its arena, and releases
 * the arena to the fill level before the offers. */
void cb_offers_leave(cb_helper *w) CB_REQUIRES(w->offers->lock);

#endif
