#include "base/clock.h"

#include <errno.h>
#include <time.h>

static int64_t read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t cb_clock_ns(void) { return read_clock(CLOCK_MONOTONIC); }
int64_t cb_clock_boot_ns(void)
{
#ifdef CLOCK_BOOTTIME
    struct timespec t;
    if (clock_gettime(CLOCK_BOOTTIME, &t) == 0)
        return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_nsec;
#endif
    return cb_clock_ns();
}

int64_t cb_clock_thread_ns(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

void cb_sleep_ns(int64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    while (nanosleep(&t, &t) != 0 && errno == EINTR) {
    }
}
