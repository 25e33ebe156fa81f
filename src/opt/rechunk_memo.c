#include "opt/rechunk_memo.h"

/* Number of entries of the cache of passes. More entries help little: the search at one memory size evaluates only some
 * hundred different passes, and many of them repeatedly. */
#define ENTRIES 1024

/* Key of an entry: the chunk lengths of two grids. They identify the grids within a search, because its first and last grid
 * are fixed and intermediates have regular chunks. */
typedef struct entry {
    bool used, first, last;
    size_t mem;
    cb_pass_found found;
    int64_t chunk[]; /* chunk lengths of `from`, then chunk lengths of `to` */
} entry;

struct cb_pass_memo {
    const cubed_allocator *alloc;
    int ndim;
    size_t bytes, entry_bytes;
    _Alignas(entry) char entries[];
};

cb_pass_memo *cb_pass_memo_new(const cubed_allocator *alloc, int ndim)
{
    const size_t each = sizeof(entry) + 2 * (size_t)ndim * sizeof(int64_t);
    const size_t bytes = sizeof(cb_pass_memo) + ENTRIES * each;
    cb_pass_memo *m = cb_alloc(alloc, bytes);
    if (!m) return NULL;
    *m = (cb_pass_memo){.alloc = alloc, .ndim = ndim, .bytes = bytes, .entry_bytes = each};
    for (size_t i = 0; i < ENTRIES; i++) ((entry *)(m->entries + i * each))->used = false;
    return m;
}

void cb_pass_memo_free(cb_pass_memo *m)
{
    if (m) cb_free(m->alloc, m, m->bytes);
}

static uint64_t mix(uint64_t hash, uint64_t x)
{
    hash = (hash ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static bool is_of(const entry *e, const cb_pass_key *key, int ndim)
{
    if (!e->used || e->first != key->first || e->last != key->last || e->mem != key->mem)
        return false;
    for (int d = 0; d < ndim; d++) {
        if (e->chunk[d] != key->from->axis[d].chunk || e->chunk[ndim + d] != key->to->axis[d].chunk)
            return false;
    }
    return true;
}

cb_pass_found *cb_pass_memo_find(cb_pass_memo *m, const cb_pass_key *key, bool *known)
{
    uint64_t hash = mix(key->mem, (uint64_t)key->first << 1 | key->last);
    for (int d = 0; d < m->ndim; d++) {
        hash = mix(hash, (uint64_t)key->from->axis[d].chunk);
        hash = mix(hash, (uint64_t)key->to->axis[d].chunk);
    }
    entry *e = (entry *)(m->entries + hash % ENTRIES * m->entry_bytes);
    *known = is_of(e, key, m->ndim);
    if (*known) return &e->found;
    *e = (entry){.used = true, .first = key->first, .last = key->last, .mem = key->mem};
    for (int d = 0; d < m->ndim; d++) {
        e->chunk[d] = key->from->axis[d].chunk;
        e->chunk[m->ndim + d] = key->to->axis[d].chunk;
    }
    return &e->found;
}
