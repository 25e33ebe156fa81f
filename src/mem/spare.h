/* An arena that a context keeps from one run to the next.
 *
 * A run that reads a small part of an array takes less time than the page faults of a new arena. So a context keeps one arena of
 * the last run. A run that starts uses the arena or frees it, and no arena is kept while another run is active. So runs never use
 * more memory than projected. All functions are thread-safe. They use atomic operations and no lock: after fork(), a child does
 * not wait for a thread that exists only in its parent. */
#ifndef CB_MEM_SPARE_H
#define CB_MEM_SPARE_H

#include <stdatomic.h>

#include "mem/arena.h"

/* Maximum size of the arena in bytes. */
#define CB_SPARE_BYTES ((size_t)32 << 20)

/* Initialise it with zeros. */
typedef struct cb_spare {
    _Atomic(cb_arena *) arena; /* NULL: none */
    /* Number of active runs. If it is not 0 when a process forks, it never becomes 0 in the child, so the child keeps no
     * arena. */
    atomic_uint runs;
} cb_spare;

/* Called before the first arena and after the last arena of a run. */
void cb_spare_begin(cb_spare *s);
void cb_spare_end(cb_spare *s);
/* Creates an arena as cb_arena_new does, from the kept memory if that has the same size. Frees kept memory of another size. The
 * arena must be freed by cb_spare_give. */
CUBED_MUST_CHECK cubed_status cb_spare_take(cb_spare *s, const cubed_allocator *a, cb_need need,
                                            cb_arena **out, cubed_error *err);
/* Keeps the arena, or frees it if it is small or larger than CB_SPARE_BYTES. Frees the arena that was kept before. `ar` may be
 * NULL. */
void cb_spare_give(cb_spare *s, cb_arena *ar);
/* Frees the kept arena. */
void cb_spare_drop(cb_spare *s);

#endif
