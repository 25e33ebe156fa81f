/* Time for events and progress, never for results. */
#ifndef CB_BASE_CLOCK_H
#define CB_BASE_CLOCK_H

#include <stdint.h>

/* Returns the nanoseconds of a monotonic clock. */
int64_t cb_clock_ns(void);
/* Returns the nanoseconds of a monotonic clock that also counts while the machine is suspended, if the system provides one. */
int64_t cb_clock_boot_ns(void);
/* Returns the nanoseconds of processor time that this thread has used. */
int64_t cb_clock_thread_ns(void);
/* Sleeps for at least `ns` nanoseconds. */
void cb_sleep_ns(int64_t ns);

#endif
