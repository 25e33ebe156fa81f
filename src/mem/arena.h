/* Arenas: the only source of data bytes.
 *
 * An arena is one block of fixed size, made once per worker and reused by every task. It is a
 * stack: allocations are released by going back to a mark. It never grows: asking for more than
 * is left is CUBED_E_BUDGET, which means that a projection was wrong. Memory that a codec library
 * takes by itself is charged against a second, separate limit, because it is not in the block.
 * Not thread-safe: one worker, one arena.
 *
 * A measuring arena has no memory: allocations only advance, and give NULL. What would allocate a task's
 * buffers from a real one tells by it what they take, so that there is one list of them. What depends on what
 * is found when a task runs (a chunk that is there or has to be decoded) is foreseen by cb_arena_may_take and
 * cb_arena_may_keep, which do nothing to a real arena; measured is either the most that a task takes, or the
 * least, without what was only foreseen.
 */
#ifndef CB_MEM_ARENA_H
#define CB_MEM_ARENA_H

#include "base/checked.h"
#include "cubed/base.h"
#include "cubed/cancel.h"

#define CB_ARENA_ALIGN 64

/* Bytes that a task, a call or a buffer needs: inside the arena, and taken by libraries. */
typedef struct cb_need {
    size_t arena;
    size_t library;
} cb_need;

/* What an allocation of `size` bytes takes from the arena; projections use it too, so that they
 * are exact. Sticks at SIZE_MAX. */
static inline size_t cb_arena_round(size_t size)
{
    size_t r = cb_sat_add(size, CB_ARENA_ALIGN - 1);
    return r == SIZE_MAX ? r : r & ~(size_t)(CB_ARENA_ALIGN - 1);
}
/* Needs of two things that are alive together, and of two that are not. */
static inline cb_need cb_need_both(cb_need a, cb_need b)
{
    return (cb_need){cb_sat_add(a.arena, b.arena), cb_sat_add(a.library, b.library)};
}
static inline cb_need cb_need_either(cb_need a, cb_need b)
{
    return (cb_need){cb_max_size(a.arena, b.arena), cb_max_size(a.library, b.library)};
}

typedef enum cb_arena_kind { CB_ARENA_REAL, CB_ARENA_MOST, CB_ARENA_LEAST } cb_arena_kind;

/* Its fields are for arena.c. */
typedef struct cb_arena {
    cb_arena_kind kind;
    const cubed_allocator *alloc;
    void *block; /* `size` bytes, `base` in it */
    char *base;
    size_t size;
    cb_need cap;
    size_t used;       /* of cap.arena */
    size_t charged;    /* of cap.library */
    size_t high_water; /* of both together */
    cb_need most;      /* measuring: of each */
    struct cb_deferred *last;
    /* Set when nobody wants any more what the arena is used for; may be NULL. What waits for others looks at it. */
    const cubed_cancel *cancel;
} cb_arena;

/* Has need.arena bytes: of the allocator or, when large, in huge pages that go back to the system. */
CUBED_MUST_CHECK cubed_status cb_arena_new(const cubed_allocator *a, cb_need need, cb_arena **out,
                                           cubed_error *err);
void cb_arena_free(cb_arena *ar);
/* One in need.arena bytes of a caller, aligned as allocations are, who takes them back by cb_arena_leave. */
cb_arena cb_arena_within(void *block, cb_need need);
void cb_arena_leave(cb_arena *ar);
/* One that measures; it owns nothing. */
cb_arena cb_arena_measuring(cb_arena_kind kind);
/* What was the most in use of it. */
cb_need cb_arena_measured(const cb_arena *ar);
static inline bool cb_arena_measures(const cb_arena *ar) { return ar->kind != CB_ARENA_REAL; }
/* To measure: what comes may take so much and give it back; or take it until the arena is released. */
void cb_arena_may_take(cb_arena *ar, cb_need need);
void cb_arena_may_keep(cb_arena *ar, size_t size);
/* 64-byte aligned, uninitialised. `what` names the buffer in the error and must be a literal. */
CUBED_MUST_CHECK cubed_status cb_arena_alloc(cb_arena *ar, size_t size, const char *what,
                                             void **out, cubed_error *err);
/* Stack discipline: everything allocated after the mark is released by going back to it, what was
 * deferred after it first, the last one first. */
size_t cb_arena_mark(const cb_arena *ar);
void cb_arena_release(cb_arena *ar, size_t mark);
/* Calls fn(ctx, what) when the arena goes back to a mark before this one. Takes CB_ARENA_DEFER_BYTES;
 * fn has not been called if this fails. */
#define CB_ARENA_DEFER_BYTES ((size_t)CB_ARENA_ALIGN)
CUBED_MUST_CHECK cubed_status cb_arena_defer(cb_arena *ar, void (*fn)(void *ctx, void *what),
                                             void *ctx, void *what, cubed_error *err);
/* Charges library memory; every charge is given back by cb_arena_uncharge with the same size. */
CUBED_MUST_CHECK cubed_status cb_arena_charge(cb_arena *ar, size_t size, const char *what,
                                              cubed_error *err);
void cb_arena_uncharge(cb_arena *ar, size_t size);
/* Most bytes (arena + library) in use at one time since the last reset of the mark. */
size_t cb_arena_high_water(const cb_arena *ar);
void cb_arena_reset_high_water(cb_arena *ar);

#endif
