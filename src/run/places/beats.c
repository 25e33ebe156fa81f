#include "run/places/beats.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/pool.h"

struct cb_beats {
    const cubed_allocator *alloc;
    cb_pool *pool;
    int64_t pause; /* in nanoseconds */
    cb_beat_fn beat;
    /* held while the claims are renewed */
    cb_mutex claims;
    cb_claim *first CB_GUARDED_BY(&claims);
    cb_mutex lock;
    cb_cond ended;
    bool closing CB_GUARDED_BY(&lock);
};

/* Renews all claims. Continues after an error, but no longer renews a claim that another run has taken. */
static void beat_all(cb_beats *b)
{
    cb_mutex_lock(&b->claims);
    for (cb_claim *c = b->first; c; c = c->next) {
        if (!c->taken) c->taken = b->beat(c) == CUBED_E_EXISTS;
    }
    cb_mutex_unlock(&b->claims);
}

static bool wait_for_end(cb_beats *b)
{
    const int64_t until = cb_clock_ns() + b->pause;
    bool on_time = true;
    cb_mutex_lock(&b->lock);
    while (!b->closing && on_time) on_time = cb_cond_wait_until(&b->ended, &b->lock, until);
    const bool closing = b->closing;
    cb_mutex_unlock(&b->lock);
    return closing;
}

static void beat_until_end(void *ctx, unsigned index)
{
    (void)index;
    while (!wait_for_end(ctx)) beat_all(ctx);
}

static void stop(void *ctx)
{
    cb_beats *b = ctx;
    cb_mutex_lock(&b->lock);
    b->closing = true;
    cb_cond_signal(&b->ended);
    cb_mutex_unlock(&b->lock);
}

static void free_beats(cb_beats *b)
{
    cb_cond_destroy(&b->ended);
    cb_mutex_destroy(&b->lock);
    cb_mutex_destroy(&b->claims);
    cb_free(b->alloc, b, sizeof *b);
}

cubed_status cb_beats_start(const cubed_allocator *a, int64_t silence, cb_beat_fn beat,
                            cb_beats **out, cubed_error *err)
{
    cb_beats *b = cb_alloc_zero(a, sizeof *b);
    if (!b) return cb_fail(err, CUBED_E_NOMEM, "out of memory: the heartbeats of a run");
    b->alloc = a;
    b->pause = silence * 100000000;
    b->beat = beat;
    cb_mutex_init(&b->claims);
    cb_mutex_init(&b->lock);
    cb_cond_init(&b->ended);
    const cubed_status st = cb_pool_start(a, 1, beat_until_end, stop, b, &b->pool, err);
    if (st == CUBED_OK)
        *out = b;
    else
        free_beats(b);
    return st;
}

void cb_beats_add(cb_beats *b, cb_claim *c)
{
    cb_mutex_lock(&b->claims);
    c->beats = b;
    c->taken = false;
    c->next = b->first;
    b->first = c;
    cb_mutex_unlock(&b->claims);
}

/* Ends the thread. After that no lock is needed, because no other thread uses the claims. */
CB_UNCHECKED_LOCKS void cb_beats_end(cb_beats *b)
{
    if (!b) return;
    stop(b);
    cb_pool_join(b->pool);
    for (cb_claim *c = b->first; c; c = c->next) c->beats = NULL;
    free_beats(b);
}

/* If there is no thread, does nothing: the claims then need no lock. */
CB_UNCHECKED_LOCKS void cb_beats_lock(cb_beats *b)
{
    if (b) cb_mutex_lock(&b->claims);
}

CB_UNCHECKED_LOCKS void cb_beats_unlock(cb_beats *b)
{
    if (b) cb_mutex_unlock(&b->claims);
}
