/* Caches results of the tile search (rechunk_tile.h) for passes. The search tries many chains of passes one after another, which
 * have most passes in common. */
#ifndef CB_OPT_RECHUNK_MEMO_H
#define CB_OPT_RECHUNK_MEMO_H

#include "base/alloc.h"
#include "opt/rechunk_tile.h"

/* The key of a cached pass. Within one search, all other parameters of the tile search depend only on `first` and `last`. */
typedef struct cb_pass_key {
    const cb_grid *from, *to;
    bool first, last;
    size_t mem;
} cb_pass_key;

typedef struct cb_pass_found {
    bool fits;
    cb_tile tile; /* the tile; valid only if the pass fits in memory */
} cb_pass_found;

/* Holds the most recently used passes of one search. Not thread-safe. */
typedef struct cb_pass_memo cb_pass_memo;

/* Creates a memo for grids with `ndim` axes. Returns NULL if out of memory. */
cb_pass_memo *cb_pass_memo_new(const cubed_allocator *alloc, int ndim);
/* Accepts NULL. */
void cb_pass_memo_free(cb_pass_memo *m);

/* Returns the entry of a pass. If *known is false, the entry is new and the caller must fill it in. The entry is valid until the
 * next call. */
cb_pass_found *cb_pass_memo_find(cb_pass_memo *m, const cb_pass_key *key, bool *known);

#endif
