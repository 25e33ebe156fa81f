/* Cache of decoded chunks and shard indices that tasks will read again.
 *
 * The cache uses memory that neither tasks (by their projection) nor intermediates need. Tasks use its entries in place. An entry
 * that is in use or being loaded is pinned, and is never evicted. Entries without future reads are evicted first, then the least
 * recently used ones. Shard indices are evicted last. If two threads need the same entry, one loads it and the other waits. */
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

/* Result of a search in the cache. cb_cache_fill and cb_cache_look give some values another meaning. */
typedef enum cb_cache_found {
    CB_CACHE_HIT, /* the entry is loaded */
    /* the entry was created; the caller must load it and then call cb_cache_filled, because other threads may wait for it */
    CB_CACHE_FILL,
    CB_CACHE_FULL /* the entry does not exist, and the cache has no space for it */
} cb_cache_found;

/* Creates a cache of at most `limit` bytes. Its memory also counts against the budget `shared`. The cache is thread-safe. Returns
 * NULL if out of memory. */
cb_cache *cb_cache_new(const cubed_allocator *a, size_t limit, cb_budget *shared);
/* Frees the cache. No entry may be pinned. */
void cb_cache_free(cb_cache *c);
/* Finds or creates the entry of `key`, and pins it until cb_cache_unpin. Counts a read. May evict other entries. Waits only while
 * another thread is loading the entry.
 *
 * size   size of the data in bytes
 * reads  total number of reads of the entry, SIZE_MAX if unknown; after the last read, the entry is evicted first
 * out    receives the entry; NULL for CB_CACHE_FULL */
cb_cache_found cb_cache_pin(cb_cache *c, cb_cache_key key, size_t size, size_t reads,
                            cb_cache_entry **out);
/* Creates the entry of `key`, for a caller that loads it for other threads. Does not wait, does not count a read, and does not
 * evict entries with future reads.
 *
 * CB_CACHE_FILL  the entry was created and is pinned; the caller must load it, call cb_cache_filled and, after success, unpin it
 * CB_CACHE_HIT   the entry exists: it is loaded or being loaded; not pinned, *out is NULL
 * CB_CACHE_FULL  there is no space; *out is NULL */
cb_cache_found cb_cache_fill(cb_cache *c, cb_cache_key key, size_t size, size_t reads,
                             cb_cache_entry **out);
/* Returns true if the entry is loaded or being loaded. */
bool cb_cache_has(cb_cache *c, cb_cache_key key);
/* Looks up an entry without waiting and without counting a read.
 *
 * CB_CACHE_HIT   the entry is loaded; the call has pinned it
 * CB_CACHE_FILL  another thread is loading the entry; not pinned
 * CB_CACHE_FULL  the entry is not in the cache */
cb_cache_found cb_cache_look(cb_cache *c, cb_cache_key key, cb_cache_entry **out);
/* Returns the data of the entry, aligned for any type. Only the thread that got CB_CACHE_FILL may write the data, until it calls
 * cb_cache_filled. */
void *cb_cache_data(cb_cache_entry *e);
/* Ends the loading of an entry, and wakes the threads that wait for it. If `there` is true, loading has succeeded and the entry
 * remains pinned; otherwise the entry is removed. */
void cb_cache_filled(cb_cache *c, cb_cache_entry *e, bool there);
void cb_cache_unpin(cb_cache *c, cb_cache_entry *e);
/* Records that a planned read of an entry does not take place: its number of future reads decreases by 1. */
void cb_cache_pass(cb_cache *c, cb_cache_key key);
/* Evicts an entry, so that its memory returns to `shared`. If all entries are pinned, waits until one is unpinned. Returns false
 * if the cache is empty. The caller must not have entries pinned. */
bool cb_cache_evict(cb_cache *c);
/* Returns the memory that the cache uses. */
const cb_budget *cb_cache_used(const cb_cache *c);

#endif
