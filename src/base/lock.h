/* Mutexes, conditions and reader-writer locks whose use Clang checks.
 *
 * A field that a lock guards is marked CB_GUARDED_BY, and a function whose caller must hold the lock is marked CB_REQUIRES.
 * Clang 19 and later then reports each access without the lock (tools/test locks, and the build with Clang). Other compilers
 * see plain pthread objects. No function can fail: Linux's C libraries allocate nothing for these objects, and initialisation
 * fails only with attributes that are not used here. */
#ifndef CB_BASE_LOCK_H
#define CB_BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Clang checks the attributes only in builds with CB_CHECK_LOCKS. These builds use -fexperimental-late-parse-attributes, without
 * which attributes cannot name other members of a C structure. */
#if defined(CB_CHECK_LOCKS)
#define CB_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#else
#define CB_ATTRIBUTE(...)
#endif

/* `lock` is an address, such as &lock of the same structure. */
#define CB_GUARDED_BY(lock)      CB_ATTRIBUTE(guarded_by(lock))
#define CB_REQUIRES(lock)        CB_ATTRIBUTE(requires_capability(lock))
#define CB_REQUIRES_SHARED(lock) CB_ATTRIBUTE(requires_shared_capability(lock))
/* For functions that run before or after all other threads, or that lock conditionally. A comment gives the reason. */
#define CB_UNCHECKED_LOCKS CB_ATTRIBUTE(no_thread_safety_analysis)

/* Builds with CUBED_SHAKE sometimes pause here, to test other schedules of threads (tests/unit/shake.h). */
#ifdef CB_SHAKE
#define CB_MAY_PAUSE() cb_shake()
#else
#define CB_MAY_PAUSE() ((void)0)
#endif

typedef struct CB_ATTRIBUTE(capability("mutex")) cb_mutex {
    pthread_mutex_t impl;
} cb_mutex;
#define CB_MUTEX_INITIALIZER                                                                       \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER                                                                  \
    }

typedef struct CB_ATTRIBUTE(capability("mutex")) cb_rwlock {
    pthread_rwlock_t impl;
} cb_rwlock;

/* Timed waits use the monotonic clock. */
typedef struct cb_cond {
    pthread_cond_t impl;
} cb_cond;

static inline void cb_mutex_init(cb_mutex *m) { pthread_mutex_init(&m->impl, NULL); }
static inline void cb_mutex_destroy(cb_mutex *m) { pthread_mutex_destroy(&m->impl); }

static inline void cb_mutex_lock(cb_mutex *m) CB_ATTRIBUTE(acquire_capability(m)) CB_UNCHECKED_LOCKS
{
    CB_MAY_PAUSE();
    pthread_mutex_lock(&m->impl);
    CB_MAY_PAUSE();
}

static inline void cb_mutex_unlock(cb_mutex *m)
    CB_ATTRIBUTE(release_capability(m)) CB_UNCHECKED_LOCKS
{
    pthread_mutex_unlock(&m->impl);
    CB_MAY_PAUSE();
}

/* Tells Clang's analysis that the caller holds `m`. Needed if the mutex was locked under another name. Does nothing at run
 * time. */
static inline void cb_mutex_assume_held(const cb_mutex *m) CB_ATTRIBUTE(assert_capability(m))
{
    (void)m;
}

static inline void cb_rwlock_init(cb_rwlock *m) { pthread_rwlock_init(&m->impl, NULL); }
static inline void cb_rwlock_destroy(cb_rwlock *m) { pthread_rwlock_destroy(&m->impl); }

static inline void cb_rwlock_read(cb_rwlock *m)
    CB_ATTRIBUTE(acquire_shared_capability(m)) CB_UNCHECKED_LOCKS
{
    CB_MAY_PAUSE();
    pthread_rwlock_rdlock(&m->impl);
}

static inline void cb_rwlock_write(cb_rwlock *m)
    CB_ATTRIBUTE(acquire_capability(m)) CB_UNCHECKED_LOCKS
{
    CB_MAY_PAUSE();
    pthread_rwlock_wrlock(&m->impl);
}

static inline void cb_rwlock_unlock(cb_rwlock *m)
    CB_ATTRIBUTE(release_generic_capability(m)) CB_UNCHECKED_LOCKS
{
    pthread_rwlock_unlock(&m->impl);
    CB_MAY_PAUSE();
}

void cb_cond_init(cb_cond *c);
static inline void cb_cond_destroy(cb_cond *c) { pthread_cond_destroy(&c->impl); }
static inline void cb_cond_signal(cb_cond *c) { pthread_cond_signal(&c->impl); }
static inline void cb_cond_broadcast(cb_cond *c) { pthread_cond_broadcast(&c->impl); }

static inline void cb_cond_wait(cb_cond *c, cb_mutex *m) CB_REQUIRES(m)
{
    pthread_cond_wait(&c->impl, &m->impl);
}

/* Waits at most until cb_clock_ns() reaches `deadline`. Returns false if it has passed. */
bool cb_cond_wait_until(cb_cond *c, cb_mutex *m, int64_t deadline) CB_REQUIRES(m);

#endif
