/* Makes threads pause at each atomic operation and lock, as a seed says, so that tests meet other schedules. For builds with
 * CUBED_SHAKE, which include this header before each source file. Requires Clang. */
#ifndef CB_TESTS_SHAKE_H
#define CB_TESTS_SHAKE_H

#define CB_SHAKE

#include <stdatomic.h>

/* Pauses sometimes, or never if the variable CUBED_SHAKE_SEED is not set. */
void cb_shake(void);

#undef atomic_load
#undef atomic_store
#undef atomic_exchange
#undef atomic_fetch_add
#undef atomic_fetch_sub
#undef atomic_fetch_or
#undef atomic_fetch_and
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_weak
#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit

#define atomic_load(p)         atomic_load_explicit(p, __ATOMIC_SEQ_CST)
#define atomic_store(p, v)     atomic_store_explicit(p, v, __ATOMIC_SEQ_CST)
#define atomic_exchange(p, v)  atomic_exchange_explicit(p, v, __ATOMIC_SEQ_CST)
#define atomic_fetch_add(p, v) atomic_fetch_add_explicit(p, v, __ATOMIC_SEQ_CST)
#define atomic_fetch_sub(p, v) atomic_fetch_sub_explicit(p, v, __ATOMIC_SEQ_CST)
#define atomic_fetch_or(p, v)  (cb_shake(), __c11_atomic_fetch_or(p, v, __ATOMIC_SEQ_CST))
#define atomic_fetch_and(p, v) (cb_shake(), __c11_atomic_fetch_and(p, v, __ATOMIC_SEQ_CST))
#define atomic_compare_exchange_strong(p, e, v)                                                    \
    atomic_compare_exchange_strong_explicit(p, e, v, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
#define atomic_compare_exchange_weak(p, e, v)                                                      \
    atomic_compare_exchange_weak_explicit(p, e, v, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

#define atomic_load_explicit(p, o)         (cb_shake(), __c11_atomic_load(p, o))
#define atomic_store_explicit(p, v, o)     (cb_shake(), __c11_atomic_store(p, v, o))
#define atomic_exchange_explicit(p, v, o)  (cb_shake(), __c11_atomic_exchange(p, v, o))
#define atomic_fetch_add_explicit(p, v, o) (cb_shake(), __c11_atomic_fetch_add(p, v, o))
#define atomic_fetch_sub_explicit(p, v, o) (cb_shake(), __c11_atomic_fetch_sub(p, v, o))
#define atomic_compare_exchange_strong_explicit(p, e, v, o, f)                                     \
    (cb_shake(), __c11_atomic_compare_exchange_strong(p, e, v, o, f))
#define atomic_compare_exchange_weak_explicit(p, e, v, o, f)                                       \
    (cb_shake(), __c11_atomic_compare_exchange_weak(p, e, v, o, f))

#endif
