/* The least pace of a transfer, so that a server that sends a byte now and then does not hold a request for ever.
 *
 * A request may take a grace, and beyond it the time that its bytes take at CB_PACE_BYTES a second. Requests that share a
 * connection to the network share this pace: each of n needs the n-th part of it. */
#ifndef CB_STORE_PACE_H
#define CB_STORE_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes a second. */
enum { CB_PACE_BYTES = 10000 };
/* The grace, as a multiple of the longest silence (read_timeout): of most requests; and of those that a service works on
 * before it replies, such as copies. */
enum { CB_PACE_GRACE = 4, CB_PACE_LONG_GRACE = 20 };

typedef struct cb_pace {
    int64_t last; /* when it was looked at, by cb_clock_ns() */
    /* Nanoseconds: a longer gap between two looks is that of a process that was stopped. */
    int64_t longest;
    int64_t elapsed; /* nanoseconds without those in which this process did not run */
    int64_t share;   /* nanoseconds, each divided by the number of transfers that ran meanwhile */
    int64_t silence; /* nanoseconds since bytes moved */
    uint64_t moved;  /* bytes, both ways */
} cb_pace;

/* Looks are never farther apart than `longest_ns`. */
void cb_pace_begin(cb_pace *p, int64_t now, int64_t longest_ns);
/* `moved` bytes have moved since the begin; `sharing` >= 1 transfers run. */
void cb_pace_note(cb_pace *p, int64_t now, uint64_t moved, unsigned sharing);
/* Whether it is too slow. */
bool cb_pace_is_lost(const cb_pace *p, int64_t grace_ns);

#endif
