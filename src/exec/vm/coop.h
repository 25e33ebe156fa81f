/* Workers that run one task together, each with its arena.
 *
 * They run the task in lockstep: each worker executes its part between two barriers, which are called meetings here. After a
 * meeting, all members see all writes that preceded it. */
#ifndef CB_EXEC_COOP_H
#define CB_EXEC_COOP_H

#include <stdatomic.h>

#include "base/lock.h"
#include "chunks/chunks.h"
#include "plan/geom.h"

typedef struct cb_member {
    char *chunks;        /* this member's share of the task's chunks, in its arena */
    cb_task_count count; /* counts of the data that this member has moved in the task */
    size_t measured;     /* peak bytes of this member's arena */
} cb_member;

typedef struct cb_coop {
    unsigned size; /* at least 1 */
    cb_member *members;
    cb_box chunks;         /* chunks of the task to be computed */
    _Atomic int64_t next;  /* the first source chunk that no member has begun */
    _Atomic int64_t asked; /* the first source chunk that no member has prefetched */
    cb_mutex lock;
    cb_cond met;
    unsigned here CB_GUARDED_BY(&lock);     /* number of members that wait at the current meeting */
    uint64_t meetings CB_GUARDED_BY(&lock); /* number of meetings that have ended */
    bool go_on CB_GUARDED_BY(&lock); /* outcome of the last meeting; false if a member has failed */
    cubed_error error CB_GUARDED_BY(&lock); /* error of the first member that failed */
} cb_coop;

/* Initialises a team. It does not own `members`. */
CUBED_MUST_CHECK cubed_status cb_coop_init(cb_coop *t, cb_member *members, cubed_error *err);
void cb_coop_destroy(cb_coop *t);
/* Starts a new task for `size` members, before any of them begins. */
void cb_coop_begin(cb_coop *t, unsigned size);
/* Records an error of a member. */
void cb_coop_fail(cb_coop *t, cubed_status st, const cubed_error *why);
/* Waits until all members have called it. Returns false to all members if one of them has failed. */
bool cb_coop_meet(cb_coop *t);
/* Returns the status and the error of the first member that failed, or CUBED_OK if none failed. Call it after a meeting. */
cubed_status cb_coop_result(const cb_coop *t, cubed_error *err);

#endif
