#include "chunks/cache.h"

#include <stddef.h>

#include "base/lock.h"
#include "mem/arena.h"

enum { BUCKETS = 1024, MAPPED_BYTES = 1 << 16 };

typedef cb_cache_entry entry;

struct cb_cache_entry {
    entry *next;          /* next entry in the same bucket of the hash table */
    entry *older, *newer; /* order of last use; entries without further reads are the oldest */
    cb_cache_key key;
    size_t taken; /* size of the entry in bytes, including its header */
    size_t left;  /* number of future reads; SIZE_MAX if unknown */
    /* number of threads that load or use this entry, which therefore must not be evicted */
    unsigned pins;
    bool filled;
};

/* Size of the header of an entry, which precedes its data. */
#define HEADER_BYTES 128
_Static_assert(sizeof(entry) <= HEADER_BYTES && HEADER_BYTES % CB_ARENA_ALIGN == 0, "entry");

struct cb_cache {
    const cubed_allocator *alloc;
    cb_mutex lock;
    /* signalled after an entry was filled, unpinned, or removed because its load failed */
    cb_cond changed;
    cb_budget used;
    cb_budget *shared;
    entry *oldest CB_GUARDED_BY(&lock), *newest CB_GUARDED_BY(&lock);
    entry *buckets[BUCKETS] CB_GUARDED_BY(&lock);
};

cb_cache *cb_cache_new(const cubed_allocator *a, size_t limit, cb_budget *shared)
{
    cb_cache *c = cb_alloc_zero(a, sizeof *c);
    if (!c) return NULL;
    cb_mutex_init(&c->lock);
    cb_cond_init(&c->changed);
    c->alloc = a;
    c->shared = shared;
    cb_budget_init(&c->used, limit);
    return c;
}

static entry **bucket_of(cb_cache *c, cb_cache_key key) CB_REQUIRES(&c->lock)
{
    uint64_t h = (uint64_t)key.number * 0x9e3779b97f4a7c15u;
    h ^= ((uint64_t)key.node << 2 | (uint64_t)key.kind) * 0xc2b2ae3d27d4eb4fu;
    return &c->buckets[(h ^ h >> 32) % BUCKETS];
}

static bool same(cb_cache_key a, cb_cache_key b)
{
    return a.node == b.node && a.kind == b.kind && a.number == b.number;
}

static entry *find(cb_cache *c, cb_cache_key key) CB_REQUIRES(&c->lock)
{
    entry *e = *bucket_of(c, key);
    while (e && !same(e->key, key)) e = e->next;
    return e;
}

static void unlist(cb_cache *c, entry *e) CB_REQUIRES(&c->lock)
{
    *(e->older ? &e->older->newer : &c->oldest) = e->newer;
    *(e->newer ? &e->newer->older : &c->newest) = e->older;
}

static void list_oldest(cb_cache *c, entry *e) CB_REQUIRES(&c->lock)
{
    e->newer = c->oldest;
    e->older = NULL;
    *(c->oldest ? &c->oldest->older : &c->newest) = e;
    c->oldest = e;
}

static void list_newest(cb_cache *c, entry *e) CB_REQUIRES(&c->lock)
{
    e->older = c->newest;
    e->newer = NULL;
    *(c->newest ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
}

static void take_out(cb_cache *c, entry *e) CB_REQUIRES(&c->lock)
{
    entry **at = bucket_of(c, e->key);
    while (*at != e) at = &(*at)->next;
    *at = e->next;
    unlist(c, e);
}

/* Returns the memory that an entry uses. Large entries use whole pages, which are returned to the system when the entry is
 * freed. */
static size_t size_of(size_t data)
{
    size_t all = cb_sat_add(HEADER_BYTES, data);
    return all < MAPPED_BYTES ? cb_arena_round(all) : cb_pages_round(all);
}

static void drop(cb_cache *c, entry *e)
{
    size_t taken = e->taken;
    if (taken < MAPPED_BYTES)
        cb_free(c->alloc, e, taken);
    else
        cb_pages_unmap(e, taken);
    cb_budget_give(&c->used, taken);
    cb_budget_give(c->shared, taken);
}

static entry *take_out_oldest(cb_cache *c, bool index) CB_REQUIRES(&c->lock)
{
    entry *e = c->oldest;
    while (e && (e->pins > 0 || (e->key.kind == CB_CACHE_INDEX) != index)) e = e->newer;
    if (e) take_out(c, e);
    return e;
}

/* Removes an entry without future reads from the cache, and returns it; NULL if there is none. */
static entry *take_out_unused(cb_cache *c) CB_REQUIRES(&c->lock)
{
    entry *e = c->oldest;
    if (!e || e->left > 0 || e->pins > 0) return NULL;
    take_out(c, e);
    return e;
}

/* Removes the oldest chunk or block from the cache, and returns it. Indices of shards are evicted last, and only if `indices`
 * is set, because an index is small and many chunks need it. */
static entry *take_out_any(cb_cache *c, bool indices) CB_REQUIRES(&c->lock)
{
    entry *e = take_out_oldest(c, false);
    return e || !indices ? e : take_out_oldest(c, true);
}

/* Allocates an entry. Reuses the memory of an entry without future reads, and evicts other entries if `evict` is set. Returns
 * NULL if there is no space. */
static entry *make_entry(cb_cache *c, size_t taken, cb_cache_kind kind, bool evict)
    CB_REQUIRES(&c->lock)
{
    if (taken > c->used.limit) return NULL;
    entry *unused = take_out_unused(c);
    if (unused && unused->taken == taken) return unused;
    if (unused) drop(c, unused);
    for (;;) {
        if (cb_budget_take(&c->used, taken)) {
            if (cb_budget_take(c->shared, taken)) break;
            cb_budget_give(&c->used, taken);
        }
        entry *old = evict ? take_out_any(c, kind == CB_CACHE_INDEX) : NULL;
        if (!old) return NULL;
        if (old->taken == taken) return old;
        drop(c, old);
    }
    entry *e = taken < MAPPED_BYTES ? cb_alloc(c->alloc, taken) : cb_pages_map(taken);
    if (e) return e;
    cb_budget_give(&c->used, taken);
    cb_budget_give(c->shared, taken);
    return NULL;
}

static void count_use(entry *e)
{
    if (e->left > 0 && e->left < SIZE_MAX) e->left--;
}

/* If an unpinned entry has no future reads, makes it the oldest entry of the list. */
static void make_oldest(cb_cache *c, entry *e) CB_REQUIRES(&c->lock)
{
    if (e->left > 0) return;
    unlist(c, e);
    list_oldest(c, e);
}

static entry *add(cb_cache *c, cb_cache_key key, size_t size, size_t reads, bool evict)
    CB_REQUIRES(&c->lock)
{
    size_t taken = size_of(size);
    entry *e = make_entry(c, taken, key.kind, evict), **bucket = bucket_of(c, key);
    if (!e) return NULL;
    *e = (entry){.next = *bucket, .key = key, .taken = taken, .left = reads, .pins = 1};
    *bucket = e;
    list_newest(c, e);
    return e;
}

cb_cache_found cb_cache_pin(cb_cache *c, cb_cache_key key, size_t size, size_t reads,
                            cb_cache_entry **out)
{
    cb_cache_found found = CB_CACHE_HIT;
    cb_mutex_lock(&c->lock);
    entry *e;
    while ((e = find(c, key)) != NULL && !e->filled) cb_cond_wait(&c->changed, &c->lock);
    if (e) {
        e->pins++;
        unlist(c, e);
        list_newest(c, e);
    } else {
        e = add(c, key, size, reads, true);
        found = e ? CB_CACHE_FILL : CB_CACHE_FULL;
    }
    if (e) count_use(e);
    cb_mutex_unlock(&c->lock);
    *out = e;
    return found;
}

cb_cache_found cb_cache_fill(cb_cache *c, cb_cache_key key, size_t size, size_t reads,
                             cb_cache_entry **out)
{
    cb_mutex_lock(&c->lock);
    const bool there = find(c, key) != NULL;
    *out = there ? NULL : add(c, key, size, reads, false);
    cb_mutex_unlock(&c->lock);
    return there ? CB_CACHE_HIT : *out ? CB_CACHE_FILL : CB_CACHE_FULL;
}

bool cb_cache_has(cb_cache *c, cb_cache_key key)
{
    cb_mutex_lock(&c->lock);
    const bool there = find(c, key) != NULL;
    cb_mutex_unlock(&c->lock);
    return there;
}

cb_cache_found cb_cache_look(cb_cache *c, cb_cache_key key, cb_cache_entry **out)
{
    cb_mutex_lock(&c->lock);
    entry *e = find(c, key);
    const cb_cache_found found = !e ? CB_CACHE_FULL : e->filled ? CB_CACHE_HIT : CB_CACHE_FILL;
    if (found == CB_CACHE_HIT) e->pins++;
    cb_mutex_unlock(&c->lock);
    *out = e;
    return found;
}

void *cb_cache_data(cb_cache_entry *e) { return (char *)e + HEADER_BYTES; }

void cb_cache_filled(cb_cache *c, cb_cache_entry *e, bool there)
{
    cb_mutex_lock(&c->lock);
    e->filled = there;
    if (!there) {
        take_out(c, e);
        drop(c, e);
    }
    cb_cond_broadcast(&c->changed);
    cb_mutex_unlock(&c->lock);
}

void cb_cache_unpin(cb_cache *c, cb_cache_entry *e)
{
    cb_mutex_lock(&c->lock);
    if (--e->pins == 0) {
        make_oldest(c, e);
        cb_cond_broadcast(&c->changed);
    }
    cb_mutex_unlock(&c->lock);
}

void cb_cache_pass(cb_cache *c, cb_cache_key key)
{
    cb_mutex_lock(&c->lock);
    entry *e = find(c, key);
    if (e) count_use(e);
    if (e && e->pins == 0) make_oldest(c, e);
    cb_mutex_unlock(&c->lock);
}

bool cb_cache_evict(cb_cache *c)
{
    cb_mutex_lock(&c->lock);
    entry *e;
    while ((e = take_out_any(c, true)) == NULL && c->oldest) cb_cond_wait(&c->changed, &c->lock);
    if (e) drop(c, e);
    cb_mutex_unlock(&c->lock);
    return e != NULL;
}

const cb_budget *cb_cache_used(const cb_cache *c) { return &c->used; }

/* Takes no lock: this is the last reference, so no other thread uses the cache. */
void cb_cache_free(cb_cache *c) CB_UNCHECKED_LOCKS
{
    if (!c) return;
    for (entry *e = c->oldest, *newer; e; e = newer) {
        newer = e->newer;
        drop(c, e);
    }
    cb_cond_destroy(&c->changed);
    cb_mutex_destroy(&c->lock);
    cb_free(c->alloc, c, sizeof *c);
}
