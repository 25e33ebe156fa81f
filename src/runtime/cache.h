/* Decoded chunks and indices of shards that tasks will want again.
 *
 * They are kept in memory that projections leave and intermediates do not take. What was used least
 * recently goes first. Two threads that want the same thing bring it once: the second one waits.
 */
#ifndef CB_RUNTIME_CACHE_H
#define CB_RUNTIME_CACHE_H

#include "base/alloc.h"
#include "mem/pages.h"

typedef struct cb_cache cb_cache;

typedef enum cb_cache_kind { CB_CACHE_CHUNK, CB_CACHE_INDEX } cb_cache_kind;

typedef struct cb_cache_key {
    int node;
    cb_cache_kind kind;
    int64_t number;
} cb_cache_key;

typedef enum cb_cache_found {
    CB_CACHE_HIT,  /* it is in dst */
    CB_CACHE_FILL, /* the caller brings it, and must call cb_cache_fill: others may wait for it */
    CB_CACHE_FULL  /* the caller brings it */
} cb_cache_found;

/* Of at most `limit` bytes, which are taken from `shared`, too. Thread-safe. NULL if there is no memory
 * for it. */
cb_cache *cb_cache_new(const cubed_allocator *a, size_t limit, cb_budget *shared);
void cb_cache_free(cb_cache *c);
cb_cache_found cb_cache_get(cb_cache *c, cb_cache_key key, void *dst, size_t size);
/* Copies what was brought; `src` NULL: it could not be. */
void cb_cache_fill(cb_cache *c, cb_cache_key key, const void *src);
/* Gives memory back to `shared`; false if there is none to give. */
bool cb_cache_evict(cb_cache *c);
/* What it takes. */
const cb_budget *cb_cache_used(const cb_cache *c);

#endif
