#include "shake.h"

#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Uses only relaxed atomic operations. Any other operation would order the memory accesses of the threads that it disturbs. */
void cb_shake(void)
{
    static _Atomic uint64_t seed, threads;
    static _Thread_local uint64_t thread, step;
    uint64_t s = __c11_atomic_load(&seed, __ATOMIC_RELAXED);
    if (s == 0) {
        const char *given = getenv("CUBED_SHAKE_SEED");
        s = given ? 2 * strtoull(given, NULL, 10) + 2 : 1;
        __c11_atomic_store(&seed, s, __ATOMIC_RELAXED);
    }
    if (s == 1) return;
    if (thread == 0) thread = __c11_atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED) + 1;
    const uint64_t chance = mix(s ^ mix(thread << 32 ^ ++step));
    if (chance % 256 == 0) {
        const struct timespec pause = {.tv_nsec = (long)(chance >> 32) % 200000};
        (void)nanosleep(&pause, NULL);
    } else if (chance % 8 == 0) {
        (void)sched_yield();
    }
}
