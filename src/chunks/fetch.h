/* Encoded chunks that are asked for before tasks want them.
 *
 * A pool of buffers, each with the request that fills it. Who looks ahead asks, and goes on; who wants what was asked
 * for takes it, whoever asked, and waits for nothing else. The pool never has more requests in flight than a store
 * likes, nor more memory than projections have for it. What nobody came for is given up. Thread-safe.
 */
#ifndef CB_CHUNKS_FETCH_H
#define CB_CHUNKS_FETCH_H

#include "chunks/cache.h"
#include "zarr/zarr.h"

typedef struct cb_fetcher cb_fetcher;
typedef struct cb_fetch cb_fetch;

/* What a buffer takes beside what is fetched: its request, with the key. */
#define CB_FETCH_HEADER ((size_t)8 << 10)
/* Parts of an object that are read as one. */
#define CB_FETCH_PARTS 64
/* Requests that are submitted together. */
#define CB_FETCH_BATCH 32

/* With at most so many buffers, and bytes in all of them; NULL if there is no memory for it. */
cb_fetcher *cb_fetcher_new(const cubed_allocator *a, unsigned buffers, size_t limit);
/* Cancels what is in flight, and waits until it is over. Nothing is taken. */
void cb_fetcher_free(cb_fetcher *f);
/* The memory of buffers. */
const cb_budget *cb_fetcher_used(const cb_fetcher *f);

/* --- Asking ------------------------------------------------------------------------------------------------ */

typedef struct cb_fetch_batch {
    const void *owner; /* who looks ahead, and for which task of its */
    int64_t task;
    unsigned most;   /* buffers that it may have at one time */
    cb_cache *cache; /* where chunks of `cached` arrays may be; may be NULL */
    unsigned n;
    cb_fetch *asked[CB_FETCH_BATCH];
} cb_fetch_batch;

typedef struct cb_fetch_what {
    cb_cache_key key;
    cubed_store *store;
    const char *path;
    cubed_range range;                   /* size 0: the whole object */
    size_t cap;                          /* the most bytes, of all that such a buffer is for */
    const cubed_object_version *version; /* NULL: any */
    bool
        cached; /* once is enough, also if it has been asked for by somebody else, or is in the cache */
} cb_fetch_what;

typedef enum cb_fetch_answer {
    CB_FETCH_ASKED,
    CB_FETCH_NEEDLESS, /* it is there, or on its way, or has to be read when it is wanted */
    CB_FETCH_LATER     /* there is no room, or it is not known yet where it lies */
} cb_fetch_answer;

cb_fetch_answer cb_fetch_ask(cb_fetcher *f, cb_fetch_batch *b, const cb_fetch_what *what);
/* To be called soon after: others may wait for it. */
void cb_fetch_submit(cb_fetch_batch *b);
/* Gives up what the owner asked for tasks before `task`, and nobody has taken. */
void cb_fetch_drop(cb_fetcher *f, const void *owner, int64_t task);

/* --- Taking ------------------------------------------------------------------------------------------------ */

/* What was asked for, which stays until cb_fetch_done; NULL: it was not. Waits until it has come, or `cancel` is set:
 * its status is CUBED_E_CANCELLED then. */
cb_fetch *cb_fetch_take(cb_fetcher *f, cb_cache_key key, const cubed_cancel *cancel,
                        cb_zarr_fetched *out);
/* The same if it has come. */
cb_fetch *cb_fetch_try(cb_fetcher *f, cb_cache_key key, cb_zarr_fetched *out);
/* Memory behind what came, as far as the buffer goes. */
void *cb_fetch_room(cb_fetch *x, size_t behind);
void cb_fetch_done(cb_fetcher *f, cb_fetch *x);

#endif
