/* Prefetches encoded chunks from stores before tasks read them.
 *
 * The pool has buffers, each with the request that fills it. An object is what a request reads: a stored object or a range of it.
 * A thread that prefetches submits requests and continues without waiting. A reader takes the object that it needs, whichever
 * thread requested it, and waits only for this object. The pool limits its memory to the projection, and the requests in flight
 * to the number that the store prefers. Objects that no reader takes are dropped. Thread-safe. */
#ifndef CB_CHUNKS_FETCH_H
#define CB_CHUNKS_FETCH_H

#include "chunks/cache.h"
#include "zarr/zarr.h"

typedef struct cb_fetcher cb_fetcher;
typedef struct cb_fetch cb_fetch;

/* Size in bytes of the request and its key, which each buffer holds in addition to the object. */
#define CB_FETCH_HEADER ((size_t)8 << 10)
/* Maximum number of inner chunks of a shard that one request reads. */
#define CB_FETCH_PARTS 64
/* Maximum number of requests of a batch, which are submitted together. */
#define CB_FETCH_BATCH 32

/* Creates a pool of at most `buffers` buffers with `limit` bytes in total. Returns NULL if out of memory. */
cb_fetcher *cb_fetcher_new(const cubed_allocator *a, unsigned buffers, size_t limit);
/* Frees the pool. Cancels requests in flight and waits for their end. No reader may be using an object. */
void cb_fetcher_free(cb_fetcher *f);
/* Returns the memory that the buffers use. */
const cb_budget *cb_fetcher_used(const cb_fetcher *f);

/* --- Requesting -------------------------------------------------------------------------------------------- */

/* Requests that one worker collects and then submits together. */
typedef struct cb_fetch_batch {
    const void *owner; /* identifies the worker */
    int64_t task;      /* the worker's task that will read the objects */
    unsigned most;     /* maximum number of buffers of this owner */
    cb_cache *cache;   /* cache of decoded chunks; may be NULL */
    unsigned n;        /* number of requests in `asked` */
    cb_fetch *asked[CB_FETCH_BATCH];
} cb_fetch_batch;

/* An object to prefetch. */
typedef struct cb_fetch_what {
    cb_cache_key key; /* key by which a reader finds the object */
    cubed_store *store;
    const char *path;  /* key of the object in the store */
    cubed_range range; /* byte range of the object; size 0: the whole object */
    /* capacity in bytes of the request's buffer: the maximum size of the object, or at least the size of the range */
    size_t cap;
    const cubed_object_version *version; /* NULL: any version */
    /* Readers look for the object in the cache first. So no request is made if the object is in the cache, or if any thread has
     * requested it. */
    bool cached;
} cb_fetch_what;

typedef enum cb_fetch_answer {
    CB_FETCH_ASKED, /* the object was added to the batch */
    /* No request is necessary: the chunk is available, was requested already, or cannot be prefetched. */
    CB_FETCH_NEEDLESS,
    /* No request was made for now: no buffer is free, the limit of requests is reached, or the location of the chunk is not known
     * yet. */
    CB_FETCH_LATER
} cb_fetch_answer;

/* Adds an object to a batch: as a new request, or as one more range of the batch's last request. */
cb_fetch_answer cb_fetch_ask(cb_fetcher *f, cb_fetch_batch *b, const cb_fetch_what *what);
/* Submits the requests of a batch, and empties it. Call it soon after cb_fetch_ask, because readers may wait for the objects. */
void cb_fetch_submit(cb_fetch_batch *b);
/* Drops objects that `owner` requested for tasks before `task` and that no reader has taken. */
void cb_fetch_drop(cb_fetcher *f, const void *owner, int64_t task);

/* --- Taking ------------------------------------------------------------------------------------------------ */

/* Takes the prefetched object for `key` out of the pool, so that no other reader gets it. Returns NULL if it was not requested.
 * Waits until the object arrives or `cancel` is set; out->status is then CUBED_E_CANCELLED. The data of *out are valid until
 * cb_fetch_done, which the caller must call. */
cb_fetch *cb_fetch_take(cb_fetcher *f, cb_cache_key key, const cubed_cancel *cancel,
                        cb_zarr_fetched *out);
/* Like cb_fetch_take, but does not wait: returns NULL if the object was not requested or has not arrived. */
cb_fetch *cb_fetch_try(cb_fetcher *f, cb_cache_key key, cb_zarr_fetched *out);
/* Returns the address of free memory in the buffer of the object: `behind` bytes after the start of the object, rounded up to a
 * multiple of CB_ARENA_ALIGN. */
void *cb_fetch_room(cb_fetch *x, size_t behind);
/* Ends the use of an object. Its buffer can then be reused. */
void cb_fetch_done(cb_fetcher *f, cb_fetch *x);

#endif
