/* A throttle limits the number of calls in flight to a service. Services refuse calls above a rate or number with 429 or
 * SlowDown. Each Lambda function, and each prefix of a store, has one throttle, which all HTTP clients of a context share.
 *
 * The limit changes by additive increase and multiplicative decrease (Chiu and Jain 1989):
 *
 * - Before the first refusal, there is no limit.
 * - A refusal lowers the limit to half the number of calls in flight. Refusals of calls that were sent before the last decrease
 *   do not lower it.
 * - The limit is never lowered below the number of calls that have been in flight for two seconds, because the service has
 *   accepted these calls.
 * - Each success raises the limit L by 1 / L, up to the number of calls in flight at the last refusal. Above this number, the
 *   limit grows by one each second. */
#ifndef CB_STORE_THROTTLE_H
#define CB_STORE_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/error.h"

typedef struct cb_throttle cb_throttle;

typedef enum cb_throttled {
    CB_THROTTLED_NOT, /* the call failed for another reason, or was cancelled */
    CB_THROTTLED_DONE,
    CB_THROTTLED_REFUSED
} cb_throttled;

/* Gets this process's throttle with the given name from the list that starts at *all, or adds a new throttle. The list owns it.
 * `most` is the limit on calls in flight, at least 1. */
CUBED_MUST_CHECK cubed_status cb_throttle_get(cb_throttle **all, const cubed_allocator *a,
                                              const char *name, unsigned most, cb_throttle **out,
                                              cubed_error *err);
void cb_throttle_free_all(cb_throttle *all); /* NULL is allowed */

/* Asks for permission to send a call. Returns true and counts the call as in flight, or returns false if the call must wait.
 * Thread-safe, like the following functions. */
bool cb_throttle_enter(cb_throttle *t, int64_t now);
/* Ends a call in flight. Returns the time in nanoseconds for which the service has refused every call; 0 if it accepts some.
 *
 * began   time when cb_throttle_enter returned true
 * random  any random number; it varies the length of the pause that follows a refusal if no other call was accepted */
int64_t cb_throttle_leave(cb_throttle *t, int64_t began, cb_throttled how, uint64_t random,
                          int64_t now);
/* Returns the number of refused calls so far of this process's throttles in a list. Sets *limit, unless NULL, to the smallest
 * limit on calls in flight among throttles with refused calls; 0 if no call was refused. */
uint64_t cb_throttle_refusals(cb_throttle *all, unsigned *limit);

#endif
