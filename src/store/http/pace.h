/* Enforces a minimum speed of transfers, so that a server that sends single bytes slowly cannot delay a request for ever.
 *
 * A transfer that has lasted longer than a grace period must have an average speed of at least CB_PACE_BYTES per second since its
 * start. While n transfers run simultaneously, each needs only 1/n of this speed. */
#ifndef CB_STORE_PACE_H
#define CB_STORE_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Minimum speed in bytes per second. */
enum { CB_PACE_BYTES = 10000 };
/* Grace period as a multiple of the read timeout: for most requests, and for requests such as copies, which a service processes
 * before it replies. */
enum { CB_PACE_GRACE = 4, CB_PACE_LONG_GRACE = 20 };

typedef struct cb_pace {
    int64_t last; /* time of the last update by cb_clock_ns() */
    /* Maximum nanoseconds between updates: after a longer gap, the process is assumed to have been stopped. */
    int64_t longest;
    int64_t
        elapsed; /* nanoseconds since the start, without the time in which this process was stopped */
    int64_t share;   /* elapsed nanoseconds, each divided by the number of simultaneous transfers */
    int64_t silence; /* nanoseconds since the last bytes */
    uint64_t moved;  /* bytes sent and received */
} cb_pace;

/* Starts a transfer. Updates are at most `longest_ns` apart. */
void cb_pace_begin(cb_pace *p, int64_t now, int64_t longest_ns);
/* Records the progress of a transfer: it has sent and received `moved` bytes since its start. `sharing` is the number of
 * simultaneous transfers, at least 1. */
void cb_pace_note(cb_pace *p, int64_t now, uint64_t moved, unsigned sharing);
/* Returns true if the transfer has lasted longer than grace_ns nanoseconds, and its average speed since the start is below the
 * minimum. */
bool cb_pace_is_lost(const cb_pace *p, int64_t grace_ns);

#endif
