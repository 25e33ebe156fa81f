/* What the tile search found for passes: chains that are tried one after another have most of theirs in common. */
#ifndef CB_OPT_RECHUNK_MEMO_H
#define CB_OPT_RECHUNK_MEMO_H

#include "base/alloc.h"
#include "opt/rechunk_tile.h"

/* A pass of one search. What else the tile search is asked follows from whether it is the first or the last one. */
typedef struct cb_pass_key {
    const cb_grid *from, *to;
    bool first, last;
    size_t mem;
} cb_pass_key;

typedef struct cb_pass_found {
    bool fits;
    cb_tile tile; /* if it fits */
} cb_pass_found;

/* Of the passes of one search, the last ones that were asked for. Not thread-safe. */
typedef struct cb_pass_memo cb_pass_memo;

/* For grids of so many axes. NULL when there is no memory. */
cb_pass_memo *cb_pass_memo_new(const cubed_allocator *alloc, int ndim);
/* Does nothing with NULL. */
void cb_pass_memo_free(cb_pass_memo *m);

/* Where what was found for the pass is, *known, or else the caller puts it: valid until the next call. */
cb_pass_found *cb_pass_memo_find(cb_pass_memo *m, const cb_pass_key *key, bool *known);

#endif
