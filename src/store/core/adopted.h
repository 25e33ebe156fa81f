/* Resets a store in a forked child process before the child uses it.
 *
 * After fork(), the child has copies of the store's locks and lists. Another thread of the parent may have held a lock, or
 * changed a list, at the time of the fork. So the first thread of the child that uses the store resets locks and lists. Other
 * threads of the child wait until this is done. */
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

/* Call this before each use of the store. Returns true if this thread must reset the store's state and then call
 * cb_adopted_end; only one thread of a forked child gets true. Returns false, possibly after waiting for that thread, if the
 * store can be used. */
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
