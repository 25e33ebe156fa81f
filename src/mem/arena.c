#define _GNU_SOURCE
#include "mem/arena.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/sanitizers.h"
#include "mem/pages.h"

#ifdef CB_HAVE_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   ASAN_POISON_MEMORY_REGION(p, n)
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#elif defined(CB_HAVE_MSAN)
#include <sanitizer/msan_interface.h>
#define POISON(p, n)   __msan_poison(p, n)
#define UNPOISON(p, n) ((void)(p), (void)(n))
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

/* Larger blocks are mapped in huge pages, and returned to the system or kept (mem/spare.h). Smaller ones come from the
 * allocator, which usually reuses pages of an earlier run: new pages would cost more than small tasks. */
#define LARGE ((size_t)4 << 20)

typedef struct cb_deferred {
    struct cb_deferred *before;
    size_t mark; /* mark of the arena before this entry */
    void (*fn)(void *ctx, void *what);
    void *ctx, *what;
} deferred;

_Static_assert(sizeof(deferred) <= CB_ARENA_DEFER_BYTES, "CB_ARENA_DEFER_BYTES");

cubed_status cb_arena_new(const cubed_allocator *a, cb_need need, cb_arena **out, cubed_error *err)
{
    cb_arena *ar = cb_alloc_zero(a, sizeof *ar);
    if (!ar) return cb_fail(err, CUBED_E_NOMEM, "no memory for an arena");
    ar->alloc = a;
    ar->cap = need;
    if (need.arena < LARGE) {
        ar->size = need.arena + CB_ARENA_ALIGN;
        ar->block = cb_alloc(a, ar->size);
    } else {
        ar->size = cb_pages_round(need.arena);
        ar->block = ar->size == SIZE_MAX ? NULL : cb_pages_map(ar->size);
    }
    if (!ar->block) {
        cb_free(a, ar, sizeof *ar);
        return cb_fail(err, CUBED_E_NOMEM, "the machine does not have %zu bytes for an arena",
                       need.arena);
    }
    const size_t at = (size_t)(uintptr_t)ar->block;
    ar->base = (char *)ar->block + (cb_arena_round(at) - at);
    POISON(ar->block, ar->size);
    *out = ar;
    return CUBED_OK;
}

void cb_arena_free(cb_arena *ar)
{
    if (!ar) return;
    cb_arena_release(ar, 0);
    UNPOISON(ar->block, ar->size);
    if (ar->cap.arena < LARGE)
        cb_free(ar->alloc, ar->block, ar->size);
    else
        cb_pages_unmap(ar->block, ar->size);
    cb_free(ar->alloc, ar, sizeof *ar);
}

bool cb_arena_rest(cb_arena *ar)
{
    if (ar->cap.arena < LARGE) return false;
    cb_arena_release(ar, 0);
    cb_pages_rest(ar->block, ar->size);
    return true;
}

bool cb_arena_renew(cb_arena *ar, cb_need need)
{
    if (need.arena < LARGE || cb_pages_round(need.arena) != ar->size) return false;
    ar->cap = need;
    ar->charged = 0;
    ar->high_water = 0;
    ar->cancel = NULL;
    return true;
}

cb_arena cb_arena_within(void *block, cb_need need)
{
    return (cb_arena){.kind = CB_ARENA_REAL, .base = block, .size = need.arena, .cap = need};
}

void cb_arena_leave(cb_arena *ar)
{
    cb_arena_release(ar, 0);
    UNPOISON(ar->base, ar->size);
}

static void raise_mark(cb_arena *ar)
{
    size_t now = cb_sat_add(ar->used, ar->charged);
    if (now > ar->high_water) ar->high_water = now;
    if (ar->kind != CB_ARENA_REAL)
        ar->most = cb_need_either(ar->most, (cb_need){ar->used, ar->charged});
}

cb_arena cb_arena_measuring(cb_arena_kind kind)
{
    return (cb_arena){.kind = kind, .cap = {SIZE_MAX, SIZE_MAX}};
}

cb_need cb_arena_measured(const cb_arena *ar) { return ar->most; }

void cb_arena_may_keep(cb_arena *ar, size_t size)
{
    if (ar->kind != CB_ARENA_MOST) return;
    ar->used = cb_sat_add(ar->used, cb_arena_round(size));
    raise_mark(ar);
}

void cb_arena_may_take(cb_arena *ar, cb_need need)
{
    const cb_need before = {ar->used, ar->charged};
    if (ar->kind != CB_ARENA_MOST) return;
    ar->used = cb_sat_add(ar->used, need.arena);
    ar->charged = cb_sat_add(ar->charged, need.library);
    raise_mark(ar);
    ar->used = before.arena;
    ar->charged = before.library;
}

cubed_status cb_arena_alloc(cb_arena *ar, size_t size, const char *what, void **out,
                            cubed_error *err)
{
    size_t rounded = cb_arena_round(size);
    if (ar->kind != CB_ARENA_REAL) {
        *out = NULL;
        ar->used = cb_sat_add(ar->used, rounded);
        raise_mark(ar);
        return CUBED_OK;
    }
    if (rounded > ar->cap.arena - ar->used)
        return cb_fail(err, CUBED_E_BUDGET,
                       "bug: %s needs %zu bytes, but %zu of the %zu projected for the task are in "
                       "use",
                       what, size, ar->used, ar->cap.arena);
    *out = ar->base + ar->used;
    ar->used += rounded;
    raise_mark(ar);
    /* Padding stays poisoned, so that sanitizers detect an overrun. */
    UNPOISON(*out, size);
    return CUBED_OK;
}

size_t cb_arena_mark(const cb_arena *ar) { return ar->used; }

void cb_arena_release(cb_arena *ar, size_t mark)
{
    if (mark >= ar->used) return;
    while (ar->last && ar->last->mark >= mark) {
        const deferred *d = ar->last;
        ar->last = d->before;
        d->fn(d->ctx, d->what);
    }
    if (ar->kind == CB_ARENA_REAL) POISON(ar->base + mark, ar->used - mark);
    ar->used = mark;
}

cubed_status cb_arena_defer(cb_arena *ar, void (*fn)(void *ctx, void *what), void *ctx, void *what,
                            cubed_error *err)
{
    size_t mark = ar->used;
    void *p = NULL;
    CB_TRY(cb_arena_alloc(ar, sizeof(deferred), "deferred call", &p, err));
    deferred *d = p;
    *d = (deferred){ar->last, mark, fn, ctx, what};
    ar->last = d;
    return CUBED_OK;
}

cubed_status cb_arena_charge(cb_arena *ar, size_t size, const char *what, cubed_error *err)
{
    if (ar->kind == CB_ARENA_REAL && size > ar->cap.library - ar->charged)
        return cb_fail(err, CUBED_E_BUDGET,
                       "%s needs %zu bytes, but the task was projected to use %zu", what, size,
                       ar->cap.library - ar->charged);
    ar->charged = cb_sat_add(ar->charged, size);
    raise_mark(ar);
    return CUBED_OK;
}

void cb_arena_uncharge(cb_arena *ar, size_t size) { ar->charged -= cb_min_size(size, ar->charged); }

size_t cb_arena_high_water(const cb_arena *ar) { return ar->high_water; }

void cb_arena_reset_high_water(cb_arena *ar) { ar->high_water = ar->used + ar->charged; }
