/* Cache of decoded chunks and shard indices that tasks will read again.
 *
 * The cache uses memory that neither projections nor intermediates need, and tasks use its entries in place. It first
 * evicts entries without further reads, then the least recently used; it never evicts pinned entries. If two threads want
 * the same entry, one loads it and the other waits. */
#ifndef CB_CHUNKS_CACHE_H
#define CB_CHUNKS_CACHE_H

#include "base/alloc.h"
#include "mem/pages.h"

typedef struct cb_cache cb_cache;
typedef struct cb_cache_entry cb_cache_entry;

typedef enum cb_cache_kind { CB_CACHE_CHUNK, CB_CACHE_CODEC_BLOCK, CB_CACHE_INDEX } cb_cache_kind;

typedef struct cb_cache_key {
    int node;
    cb_cache_kind kind;
    /* number of a chunk or shard; for a codec block its first byte, counted over all chunks */
    int64_t number;
} cb_cache_key;

typedef enum cb_cache_found {
    CB_CACHE_HIT, /* the entry is loaded */
    /* the caller must load the entry and call cb_cache_filled, because other threads may wait for the entry */
    CB_CACHE_FILL,
    CB_CACHE_FULL /* the cache has no room for the entry */
} cb_cache_found;

/* Creates a cache of at most `limit` bytes, which also count against `shared`. The cache is thread-safe. Returns NULL if
 * out of memory. */
cb_cache *cb_cache_new(const cubed_allocator *a, size_t limit, cb_budget *shared);
/* Frees the cache. No entry may be pinned. */
void cb_cache_free(cb_cache *c);
/* Finds or creates the entry of `key` with `size` bytes, and pins it until cb_cache_unpin. Waits only if another thread is
 * loading the entry. `reads` is the total number of reads, or SIZE_MAX if unknown: after the last read, the entry's memory is
 * reused first. */
cb_cache_found cb_cache_pin(cb_cache *c, cb_cache_key key, size_t size, size_t reads,
                            cb_cache_entry **out);
/* Finds or creates the entry of `key` for a prefetch. Does not wait, does not count a read, and does not evict entries with
 * further reads. CB_CACHE_FILL: the entry was created and is pinned, and the caller loads it. CB_CACHE_HIT: the entry is
 * loaded or being loaded, and is not pinned. CB_CACHE_FULL: there is no room, and nothing is pinned. */
cb_cache_found cb_cache_fill(cb_cache *c, cb_cache_key key, size_t size, size_t reads,
                             cb_cache_entry **out);
/* Returns whether the entry is loaded or being loaded. */
bool cb_cache_has(cb_cache *c, cb_cache_key key);
/* Looks up an entry without waiting and without counting a read. CB_CACHE_HIT pins it; CB_CACHE_FILL: another thread is
 * loading it; CB_CACHE_FULL: not in the cache. */
cb_cache_found cb_cache_look(cb_cache *c, cb_cache_key key, cb_cache_entry **out);
/* Returns the data of the entry, aligned for any type. Only the thread that got CB_CACHE_FILL may write the data, until it calls
 * cb_cache_filled. */
void *cb_cache_data(cb_cache_entry *e);
/* Ends the loading of an entry. If `there` is true, the entry is valid and remains pinned. Otherwise loading has failed, and
 * the entry is removed. */
void cb_cache_filled(cb_cache *c, cb_cache_entry *e, bool there);
void cb_cache_unpin(cb_cache *c, cb_cache_entry *e);
/* Counts a read of an entry's chunk that was planned but did not use the cache. */
void cb_cache_pass(cb_cache *c, cb_cache_key key);
/* Frees an entry to return its memory to `shared`; waits for an unpin if necessary. Returns false if the cache has no memory to
 * return. The caller must not have entries pinned. */
bool cb_cache_evict(cb_cache *c);
/* Returns the memory that the cache uses. */
const cb_budget *cb_cache_used(const cb_cache *c);

#endif
