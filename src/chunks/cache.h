/* Decoded chunks and indices of shards that tasks will want again.
 *
 * They are kept in memory that projections leave and intermediates do not take, and used where they
 * lie. What nobody will want goes first, then what was used least recently; never what is pinned. Two
 * threads that want the same thing bring it once: the second one waits.
 */
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
    int64_t number; /* of a chunk or a shard; of a block its first byte, over all chunks */
} cb_cache_key;

typedef enum cb_cache_found {
    CB_CACHE_HIT, /* the entry has it */
    CB_CACHE_FILL, /* the caller brings it there, and must call cb_cache_filled: others may wait for it */
    CB_CACHE_FULL /* there is no entry for it */
} cb_cache_found;

/* Of at most `limit` bytes, which are taken from `shared`, too. Thread-safe. NULL if there is no memory
 * for it. */
cb_cache *cb_cache_new(const cubed_allocator *a, size_t limit, cb_budget *shared);
/* Nothing may be pinned. */
void cb_cache_free(cb_cache *c);
/* The entry of `key`, of `size` bytes, which is pinned until cb_cache_unpin. Threads that have some pinned
 * wait for nothing but that others bring what they want. `reads`: how often it will be asked for in all,
 * if known, else SIZE_MAX; after the last time its memory is the first to be used for others. */
cb_cache_found cb_cache_pin(cb_cache *c, cb_cache_key key, size_t size, size_t reads,
                            cb_cache_entry **out);
/* The same for others who will ask for it: without waiting, without counting a read, and without taking room from what is
 * wanted; CB_CACHE_FULL: there is no room, and CB_CACHE_HIT: it is there, or somebody brings it. Neither is pinned. */
cb_cache_found cb_cache_fill(cb_cache *c, cb_cache_key key, size_t size, size_t reads,
                             cb_cache_entry **out);
/* Whether it is there, or somebody brings it. */
bool cb_cache_has(cb_cache *c, cb_cache_key key);
/* Without waiting, and without taking part in counts of reads: CB_CACHE_HIT pins it; CB_CACHE_FILL: somebody brings it;
 * CB_CACHE_FULL: there is none. */
cb_cache_found cb_cache_look(cb_cache *c, cb_cache_key key, cb_cache_entry **out);
/* What was asked for, aligned for any type. Written between CB_CACHE_FILL and cb_cache_filled alone. */
void *cb_cache_data(cb_cache_entry *e);
/* It is there, and still pinned; or could not be brought, then the entry is gone. */
void cb_cache_filled(cb_cache *c, cb_cache_entry *e, bool there);
void cb_cache_unpin(cb_cache *c, cb_cache_entry *e);
/* It will be asked for once less: a caller had it anyway. */
void cb_cache_pass(cb_cache *c, cb_cache_key key);
/* Gives memory back to `shared`, when it is no longer pinned if need be; false if there is none to give.
 * Not to be called by who has entries pinned. */
bool cb_cache_evict(cb_cache *c);
/* What it takes. */
const cb_budget *cb_cache_used(const cb_cache *c);

#endif
