#include "base/lock.h"

#include <errno.h>
#include <time.h>

bool cb_cond_init(cb_cond *c)
{
    pthread_condattr_t monotonic;
    if (pthread_condattr_init(&monotonic) != 0) return false;
    const bool ok = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0 &&
                    pthread_cond_init(&c->impl, &monotonic) == 0;
    pthread_condattr_destroy(&monotonic);
    return ok;
}

bool cb_cond_wait_until(cb_cond *c, cb_mutex *m, int64_t deadline)
{
    const struct timespec until = {.tv_sec = (time_t)(deadline / 1000000000),
                                   .tv_nsec = (long)(deadline % 1000000000)};
    return pthread_cond_timedwait(&c->impl, &m->impl, &until) != ETIMEDOUT;
}
