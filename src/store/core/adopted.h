/* The process whose state a store holds, for stores that a forked child takes over from its parent.
 *
 * A child starts with the locks and lists of its parent, which another thread may have held when the process forked. The
 * first thread of the child that uses the store resets them; the other threads wait until it has done so. */
#ifndef CB_STORE_ADOPTED_H
#define CB_STORE_ADOPTED_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

typedef struct cb_adopted {
    _Atomic pid_t ready; /* the process whose state is complete */
    _Atomic pid_t begun; /* the process in which a thread is resetting, or has reset, the state */
} cb_adopted;

static inline void cb_adopted_init(cb_adopted *a)
{
    atomic_init(&a->ready, getpid());
    atomic_init(&a->begun, getpid());
}

/* Returns true for the one thread of a forked child that must reset the state and then call cb_adopted_end. */
static inline bool cb_adopted_begin(cb_adopted *a)
{
    const pid_t self = getpid();
    if (atomic_load_explicit(&a->ready, memory_order_acquire) == self) return false;
    pid_t before = atomic_load(&a->begun);
    if (before != self && atomic_compare_exchange_strong(&a->begun, &before, self)) return true;
    while (atomic_load_explicit(&a->ready, memory_order_acquire) != self) sched_yield();
    return false;
}

static inline void cb_adopted_end(cb_adopted *a)
{
    atomic_store_explicit(&a->ready, getpid(), memory_order_release);
}

#endif
