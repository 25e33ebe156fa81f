#include "mem/spare.h"

void cb_spare_begin(cb_spare *s) { atomic_fetch_add(&s->runs, 1); }

void cb_spare_drop(cb_spare *s) { cb_arena_free(atomic_exchange(&s->arena, NULL)); }

/* If a run begins at the same time, either that run takes the arena, or this function sees that run in the number of active
 * runs. */
void cb_spare_end(cb_spare *s)
{
    if (atomic_fetch_sub(&s->runs, 1) > 1) cb_spare_drop(s);
}

cubed_status cb_spare_take(cb_spare *s, const cubed_allocator *a, cb_need need, cb_arena **out,
                           cubed_error *err)
{
    cb_arena *kept = atomic_exchange(&s->arena, NULL);
    if (kept && cb_arena_renew(kept, need)) {
        *out = kept;
        return CUBED_OK;
    }
    cb_arena_free(kept);
    return cb_arena_new(a, need, out, err);
}

void cb_spare_give(cb_spare *s, cb_arena *ar)
{
    if (ar && ar->size <= CB_SPARE_BYTES && cb_arena_rest(ar)) ar = atomic_exchange(&s->arena, ar);
    cb_arena_free(ar);
}
