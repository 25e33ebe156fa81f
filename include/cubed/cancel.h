/* A flag that stops a run, for any thread and for signal handlers.
 *
 * It is read and written atomically. These functions are inline, so that kernels in shared objects need no
 * library; for other languages it is one 32-bit integer, which an aligned store of 1 sets:
 *
 *     static cubed_cancel stop = CUBED_CANCEL_INIT;
 *     static void on_signal(int number) { cubed_cancel_set(&stop); }
 */
#ifndef CUBED_CANCEL_H
#define CUBED_CANCEL_H

#include "cubed/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Static or on the stack; what it was given to must end before it does. */
typedef struct cubed_cancel {
    int32_t flag; /* 0 or 1; not to be touched directly */
} cubed_cancel;
#define CUBED_CANCEL_INIT                                                                          \
    {                                                                                              \
        0                                                                                          \
    }

/* Async-signal-safe. */
static inline void cubed_cancel_set(cubed_cancel *c)
{
    __atomic_store_n(&c->flag, 1, __ATOMIC_RELEASE);
}

/* For another run, when nothing that was given it is running. */
static inline void cubed_cancel_clear(cubed_cancel *c)
{
    __atomic_store_n(&c->flag, 0, __ATOMIC_RELEASE);
}

/* Of NULL, which nobody sets: false. Async-signal-safe. */
static inline bool cubed_cancel_is_set(const cubed_cancel *c)
{
    return c && __atomic_load_n(&c->flag, __ATOMIC_ACQUIRE) != 0;
}

#ifdef __cplusplus
}
#endif

#endif
