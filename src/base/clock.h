/* Time for events and progress, never for results. */
#ifndef CB_BASE_CLOCK_H
#define CB_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds of a monotonic clock. */
int64_t cb_clock_ns(void);
/* The same, with the time that the machine was suspended where the system tells it. */
int64_t cb_clock_boot_ns(void);
/* Of a processor's time, those that this thread has taken. */
int64_t cb_clock_thread_ns(void);
/* Sleeps at least this long. */
void cb_sleep_ns(int64_t ns);

#endif
