/* Arenas: the only source of memory for data.
 *
 * An arena is a block of fixed size, created once per worker and reused by every task. It is a stack: a mark is a fill level of
 * the stack, and returning to a mark frees all later allocations. The arena never grows. A request beyond its size fails with
 * CUBED_E_BUDGET, which means that a projection (the bound on a task's memory, computed before the run) was wrong. Memory that
 * a codec library allocates is not in the block, and is charged against a second limit. Not thread-safe: one arena per worker.
 *
 * A measuring arena has no memory: allocations only count, and return NULL. The code that allocates a task's buffers also
 * measures them with such an arena, so there is a single list of buffers. Some buffers are needed only for some data, for
 * example if a chunk exists or must be decoded. The code announces them by cb_arena_may_take and cb_arena_may_keep, which have
 * no effect on a real arena. A measurement gives either the maximum of a task, or the minimum without the announced buffers. */
#ifndef CB_MEM_ARENA_H
#define CB_MEM_ARENA_H

#include "base/checked.h"
#include "cubed/base.h"
#include "cubed/cancel.h"

#define CB_ARENA_ALIGN 64

/* Memory of a task, a call or a buffer in bytes: in the arena, and allocated by libraries. */
typedef struct cb_need {
    size_t arena;
    size_t library;
} cb_need;

/* Returns the bytes that an allocation of `size` bytes uses in the arena. Projections also call this function, so that they are
 * exact. Saturates at SIZE_MAX. */
static inline size_t cb_arena_round(size_t size)
{
    size_t r = cb_sat_add(size, CB_ARENA_ALIGN - 1);
    return r == SIZE_MAX ? r : r & ~(size_t)(CB_ARENA_ALIGN - 1);
}
/* Return the memory for two needs: both at the same time (the sum), or only one at a time (the maximum). */
static inline cb_need cb_need_both(cb_need a, cb_need b)
{
    return (cb_need){cb_sat_add(a.arena, b.arena), cb_sat_add(a.library, b.library)};
}
static inline cb_need cb_need_either(cb_need a, cb_need b)
{
    return (cb_need){cb_max_size(a.arena, b.arena), cb_max_size(a.library, b.library)};
}

typedef enum cb_arena_kind { CB_ARENA_REAL, CB_ARENA_MOST, CB_ARENA_LEAST } cb_arena_kind;

/* Fields are private to arena.c. */
typedef struct cb_arena {
    cb_arena_kind kind;
    const cubed_allocator *alloc;
    void *block; /* allocation of `size` bytes, which contains `base` */
    char *base;
    size_t size;
    cb_need cap;
    size_t used;       /* bytes in use in the arena, at most cap.arena */
    size_t charged;    /* bytes of libraries that are charged, at most cap.library */
    size_t high_water; /* peak of used + charged */
    cb_need most;      /* measuring arenas only: separate peaks of arena and library memory */
    struct cb_deferred *last;
    /* Flag that is set when the result is no longer needed; may be NULL. Functions that wait check it. */
    const cubed_cancel *cancel;
} cb_arena;

/* Creates an arena of need.arena bytes, from the allocator or, if large, in huge pages that are returned to the system. */
CUBED_MUST_CHECK cubed_status cb_arena_new(const cubed_allocator *a, cb_need need, cb_arena **out,
                                           cubed_error *err);
void cb_arena_free(cb_arena *ar);
/* Prepare a large arena for its next run. Both return false, and change nothing, in the cases below.
 *
 * cb_arena_rest   frees all allocations, and lets the system reclaim the memory; false if the memory is from the allocator
 * cb_arena_renew  resets an arena at rest for another need. Contents are undefined; false if the size of the mapping differs */
CUBED_MUST_CHECK bool cb_arena_rest(cb_arena *ar);
CUBED_MUST_CHECK bool cb_arena_renew(cb_arena *ar, cb_need need);
/* Creates an arena in a block of memory of the caller. The block has need.arena bytes and is aligned like allocations of an
 * arena. The caller ends the arena with cb_arena_leave. */
cb_arena cb_arena_within(void *block, cb_need need);
void cb_arena_leave(cb_arena *ar);
/* Creates a measuring arena, which owns nothing. */
cb_arena cb_arena_measuring(cb_arena_kind kind);
/* Returns the peak of a measuring arena. */
cb_need cb_arena_measured(const cb_arena *ar);
static inline bool cb_arena_measures(const cb_arena *ar) { return ar->kind != CB_ARENA_REAL; }
/* Announce memory that some data need and other data do not. cb_arena_may_take announces memory that is freed again;
 * cb_arena_may_keep announces memory that is in use until the arena is released. No effect on a real arena. */
void cb_arena_may_take(cb_arena *ar, cb_need need);
void cb_arena_may_keep(cb_arena *ar, size_t size);
/* Allocates uninitialised memory, aligned to 64 bytes. `what` names the buffer in errors and must be a literal. */
CUBED_MUST_CHECK cubed_status cb_arena_alloc(cb_arena *ar, size_t size, const char *what,
                                             void **out, cubed_error *err);
/* cb_arena_mark returns the fill level of the arena. cb_arena_release returns to a mark and frees all allocations made after
 * it. Before that it makes the calls that were deferred after the mark (cb_arena_defer), in reverse order. */
size_t cb_arena_mark(const cb_arena *ar);
void cb_arena_release(cb_arena *ar, size_t mark);
/* Defers a call: fn(ctx, what) is called when the arena returns to a mark that is older than this deferral. Uses
 * CB_ARENA_DEFER_BYTES of the arena. If cb_arena_defer fails, fn is not called. */
#define CB_ARENA_DEFER_BYTES ((size_t)CB_ARENA_ALIGN)
CUBED_MUST_CHECK cubed_status cb_arena_defer(cb_arena *ar, void (*fn)(void *ctx, void *what),
                                             void *ctx, void *what, cubed_error *err);
/* Charges library memory. Each charge must be returned by cb_arena_uncharge with the same size. */
CUBED_MUST_CHECK cubed_status cb_arena_charge(cb_arena *ar, size_t size, const char *what,
                                              cubed_error *err);
void cb_arena_uncharge(cb_arena *ar, size_t size);
/* Returns the peak bytes (arena and library) in use since the last reset. */
size_t cb_arena_high_water(const cb_arena *ar);
void cb_arena_reset_high_water(cb_arena *ar);

#endif
