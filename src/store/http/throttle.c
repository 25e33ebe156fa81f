#include "store/http/throttle.h"

#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/lock.h"

#define SECOND      ((int64_t)1000000000)
#define FIRST_PAUSE (SECOND / 20)
#define LONGEST     (10 * SECOND)
enum { MOST_DOUBLINGS = 8 };
/* The limit is counted in parts of a call, because a success adds less than one. */
enum { PARTS = 1 << 16 };

struct cb_throttle {
    cb_throttle *next;
    const cubed_allocator *alloc;
    size_t size; /* size in bytes of this struct with its name */
    /* process whose calls are counted; a forked child counts from 0, because the calls of its parent do not end in the child */
    pid_t pid;
    unsigned most;
    cb_mutex lock;
    /* In units of 1 / PARTS of a call: `limit` is the current limit, `allowed` the highest limit that the service seems to
     * allow. */
    uint64_t limit CB_GUARDED_BY(&lock), allowed CB_GUARDED_BY(&lock);
    unsigned in_flight CB_GUARDED_BY(&lock);
    /* Calls in flight that began in second `second` and in the previous second; the index is the lowest bit of the second. */
    unsigned begun[2] CB_GUARDED_BY(&lock);
    int64_t second CB_GUARDED_BY(&lock);
    int64_t decreased CB_GUARDED_BY(&lock), grown CB_GUARDED_BY(&lock), paused CB_GUARDED_BY(&lock);
    int64_t refused_since CB_GUARDED_BY(&lock); /* start of a series of refusals; 0: none */
    /* Number of decreases of the limit without a success in between. */
    unsigned streak CB_GUARDED_BY(&lock);
    uint64_t refusals CB_GUARDED_BY(&lock);
    char name[];
};

/* Takes no lock, because no other thread knows the new throttle. */
static cb_throttle *new_throttle(const cubed_allocator *a, const char *name,
                                 unsigned most) CB_UNCHECKED_LOCKS
{
    const size_t length = strlen(name), size = sizeof(cb_throttle) + length + 1;
    cb_throttle *t = cb_alloc_zero(a, size);
    if (!t) return NULL;
    cb_mutex_init(&t->lock);
    t->alloc = a;
    t->size = size;
    t->pid = getpid();
    t->most = most;
    t->limit = t->allowed = (uint64_t)most * PARTS;
    memcpy(t->name, name, length + 1);
    return t;
}

cubed_status cb_throttle_get(cb_throttle **all, const cubed_allocator *a, const char *name,
                             unsigned most, cb_throttle **out, cubed_error *err)
{
    const pid_t pid = getpid();
    cb_throttle *t = *all;
    while (t && (t->pid != pid || strcmp(t->name, name) != 0)) t = t->next;
    if (!t) {
        t = new_throttle(a, name, most);
        if (!t) return cb_fail(err, CUBED_E_NOMEM, "no memory for a limit on requests");
        t->next = *all;
        *all = t;
    }
    *out = t;
    return CUBED_OK;
}

void cb_throttle_free_all(cb_throttle *all)
{
    while (all) {
        cb_throttle *t = all;
        all = t->next;
        cb_mutex_destroy(&t->lock);
        cb_free(t->alloc, t, t->size);
    }
}

/* Moves to the current second. Only calls that began in this second or the one before are still counted by second. */
static void advance(cb_throttle *t, int64_t now) CB_REQUIRES(&t->lock)
{
    const int64_t second = now / SECOND;
    if (second <= t->second) return;
    t->begun[second & 1] = 0;
    if (second > t->second + 1) t->begun[~second & 1] = 0;
    t->second = second;
}

static void grow_by_success(cb_throttle *t) CB_REQUIRES(&t->lock)
{
    if (t->limit >= t->allowed) return;
    t->limit += (uint64_t)PARTS * PARTS / t->limit;
    if (t->limit > t->allowed) t->limit = t->allowed;
}

static void grow_by_time(cb_throttle *t, int64_t seconds) CB_REQUIRES(&t->lock)
{
    const uint64_t most = (uint64_t)t->most * PARTS;
    t->limit += (uint64_t)cb_min_i64(seconds, t->most) * PARTS;
    if (t->limit > most) t->limit = most;
    if (t->allowed < t->limit) t->allowed = t->limit;
}

bool cb_throttle_enter(cb_throttle *t, int64_t now)
{
    bool enters = false;
    cb_mutex_lock(&t->lock);
    advance(t, now);
    if (t->refusals && now - t->grown >= SECOND) {
        const int64_t seconds = (now - t->grown) / SECOND;
        grow_by_time(t, seconds);
        t->grown += seconds * SECOND;
    }
    if (now >= t->paused && t->in_flight < t->limit / PARTS) {
        t->in_flight++;
        t->begun[now / SECOND & 1]++;
        enters = true;
    }
    cb_mutex_unlock(&t->lock);
    return enters;
}

static int64_t pause_after(unsigned streak, uint64_t random)
{
    const int64_t most = FIRST_PAUSE << (streak < MOST_DOUBLINGS ? streak : MOST_DOUBLINGS);
    const int64_t half = (most < LONGEST ? most : LONGEST) / 2;
    return half + (int64_t)(random % (uint64_t)half);
}

static void decrease(cb_throttle *t, uint64_t random, int64_t now) CB_REQUIRES(&t->lock)
{
    /* The refused call itself no longer counts as in flight. */
    const unsigned settled = t->in_flight - t->begun[0] - t->begun[1];
    const unsigned half = (t->in_flight + 1) / 2, limit = settled > half ? settled : half;
    const uint64_t parts = (uint64_t)(limit ? limit : 1) * PARTS;
    if (parts < t->limit) t->limit = parts;
    t->decreased = t->grown = now;
    if (settled == 0) t->paused = now + pause_after(t->streak, random);
    t->streak++;
}

int64_t cb_throttle_leave(cb_throttle *t, int64_t began, cb_throttled how, uint64_t random,
                          int64_t now)
{
    int64_t refused = 0;
    cb_mutex_lock(&t->lock);
    advance(t, now);
    t->in_flight--;
    if (began / SECOND >= t->second - 1) t->begun[began / SECOND & 1]--;
    if (how == CB_THROTTLED_DONE) {
        t->refused_since = 0;
        t->streak = 0;
        grow_by_success(t);
    } else if (how == CB_THROTTLED_REFUSED) {
        const uint64_t others = (uint64_t)(t->in_flight ? t->in_flight : 1) * PARTS;
        t->refusals++;
        if (others < t->allowed) t->allowed = others;
        if (!t->refused_since) t->refused_since = now;
        if (began >= t->decreased) decrease(t, random, now);
        const bool accepts = t->in_flight > t->begun[0] + t->begun[1];
        if (!accepts) refused = now - t->refused_since;
    }
    cb_mutex_unlock(&t->lock);
    return refused;
}

uint64_t cb_throttle_refusals(cb_throttle *all, unsigned *limit)
{
    uint64_t sum = 0;
    unsigned least = 0;
    const pid_t pid = getpid();
    for (cb_throttle *t = all; t; t = t->next) {
        /* The parent may have held the lock at the fork. */
        if (t->pid != pid) continue;
        cb_mutex_lock(&t->lock);
        const unsigned own = (unsigned)(t->limit / PARTS);
        sum += t->refusals;
        if (t->refusals && (least == 0 || own < least)) least = own;
        cb_mutex_unlock(&t->lock);
    }
    if (limit) *limit = least;
    return sum;
}
