/* Prefetches encoded chunks before tasks read them.
 *
 * Requests are in a pool of buffers; each buffer belongs to the request that fills it. A thread that prefetches submits
 * requests and continues. A reader gets the object that it needs, regardless of which thread requested it, and waits only for
 * this object. The pool respects the store's preferred number of requests in flight and the projected memory. Objects that no
 * reader takes are dropped. Thread-safe. */
#ifndef CB_CHUNKS_FETCH_H
#define CB_CHUNKS_FETCH_H

#include "chunks/cache.h"
#include "zarr/zarr.h"

typedef struct cb_fetcher cb_fetcher;
typedef struct cb_fetch cb_fetch;

/* Memory in bytes of a buffer in addition to the object: the request and its key. */
#define CB_FETCH_HEADER ((size_t)8 << 10)
/* Maximum number of parts of an object that are read in one request. */
#define CB_FETCH_PARTS 64
/* Maximum number of requests that are submitted together. */
#define CB_FETCH_BATCH 32

/* Creates a pool of at most `buffers` buffers with `limit` bytes in total. Returns NULL if out of memory. */
cb_fetcher *cb_fetcher_new(const cubed_allocator *a, unsigned buffers, size_t limit);
/* Cancels requests in flight and waits for their end. Requires that no object is taken. */
void cb_fetcher_free(cb_fetcher *f);
/* Returns the memory of the buffers. */
const cb_budget *cb_fetcher_used(const cb_fetcher *f);

/* --- Requesting -------------------------------------------------------------------------------------------- */

typedef struct cb_fetch_batch {
    const void *owner; /* the prefetching worker, and its task that will read the objects */
    int64_t task;
    unsigned most;   /* maximum number of buffers of this owner */
    cb_cache *cache; /* cache that may contain chunks of `cached` arrays; may be NULL */
    unsigned n;
    cb_fetch *asked[CB_FETCH_BATCH];
} cb_fetch_batch;

typedef struct cb_fetch_what {
    cb_cache_key key;
    cubed_store *store;
    const char *path;
    cubed_range range; /* range of the object; size 0: the whole object */
    /* capacity in bytes of the request's buffer: the maximum size of the object, or at least the size of the range */
    size_t cap;
    const cubed_object_version *version; /* NULL: any version */
    /* No request is made if any thread has requested the object, or if it is in the cache. */
    bool cached;
} cb_fetch_what;

typedef enum cb_fetch_answer {
    CB_FETCH_ASKED,
    /* No request was made, because the chunk is available, was requested already, or is not suitable for prefetching. */
    CB_FETCH_NEEDLESS,
    /* No request was made now, because there is no room, or the location is not known yet. */
    CB_FETCH_LATER
} cb_fetch_answer;

cb_fetch_answer cb_fetch_ask(cb_fetcher *f, cb_fetch_batch *b, const cb_fetch_what *what);
/* Submits the requests of a batch. Must be called soon after cb_fetch_ask, because other threads may wait for them. */
void cb_fetch_submit(cb_fetch_batch *b);
/* Drops objects that `owner` requested for tasks before `task` and that no reader has taken. */
void cb_fetch_drop(cb_fetcher *f, const void *owner, int64_t task);

/* --- Taking ------------------------------------------------------------------------------------------------ */

/* Returns the prefetched object for `key`, or NULL if it was not requested. Waits until the object arrives or `cancel` is
 * set (status CUBED_E_CANCELLED). Valid until cb_fetch_done. */
cb_fetch *cb_fetch_take(cb_fetcher *f, cb_cache_key key, const cubed_cancel *cancel,
                        cb_zarr_fetched *out);
/* Returns the prefetched object for `key` without waiting, or NULL if it was not requested or has not arrived. Valid until
 * cb_fetch_done. */
cb_fetch *cb_fetch_try(cb_fetcher *f, cb_cache_key key, cb_zarr_fetched *out);
/* Returns a pointer to free memory in the buffer of the object, `behind` bytes after the start of the object. */
void *cb_fetch_room(cb_fetch *x, size_t behind);
void cb_fetch_done(cb_fetcher *f, cb_fetch *x);

#endif
