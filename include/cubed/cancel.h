/* A flag that stops a run, for any thread and for signal handlers.
 *
 * Reads and writes of the flag are atomic. The functions are inline, so that kernels in shared objects need no library. For
 * other languages the flag is one aligned 32-bit integer: storing 1 sets it.
 *
 *     static cubed_cancel stop = CUBED_CANCEL_INIT;
 *     static void on_signal(int number) { cubed_cancel_set(&stop); } */
#ifndef CUBED_CANCEL_H
#define CUBED_CANCEL_H

#include "cubed/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The flag. Store it in a static variable, or in a variable of a function that returns after every call that uses the flag. */
typedef struct cubed_cancel {
    int32_t flag; /* 0 or 1; use the functions below */
} cubed_cancel;
#define CUBED_CANCEL_INIT                                                                          \
    {                                                                                              \
        0                                                                                          \
    }

/* Sets the flag. Async-signal-safe. */
static inline void cubed_cancel_set(cubed_cancel *c)
{
    __atomic_store_n(&c->flag, 1, __ATOMIC_RELEASE);
}

/* Clears the flag for another run. No call with this flag may be running. */
static inline void cubed_cancel_clear(cubed_cancel *c)
{
    __atomic_store_n(&c->flag, 0, __ATOMIC_RELEASE);
}

/* Returns whether the flag is set; false for NULL. Async-signal-safe. */
static inline bool cubed_cancel_is_set(const cubed_cancel *c)
{
    return c && __atomic_load_n(&c->flag, __ATOMIC_ACQUIRE) != 0;
}

#ifdef __cplusplus
}
#endif

#endif
