#include "base/lock.h"

#include <assert.h>
#include <errno.h>
#include <time.h>

void cb_cond_init(cb_cond *c)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    const int rc = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    assert(rc == 0);
    (void)rc;
    pthread_cond_init(&c->impl, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

bool cb_cond_wait_until(cb_cond *c, cb_mutex *m, int64_t deadline)
{
    const struct timespec until = {.tv_sec = (time_t)(deadline / 1000000000),
                                   .tv_nsec = (long)(deadline % 1000000000)};
    return pthread_cond_timedwait(&c->impl, &m->impl, &until) != ETIMEDOUT;
}
