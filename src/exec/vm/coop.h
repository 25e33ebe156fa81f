/* A team of workers (its members) that run one task together. Each member has its own arena.
 *
 * The members run the task in phases that are separated by barriers (cb_coop_meet). After a barrier, every member sees all writes
 * that any member made before the barrier. */
#ifndef CB_EXEC_COOP_H
#define CB_EXEC_COOP_H

#include <stdatomic.h>

#include "base/lock.h"
#include "chunks/chunks.h"
#include "plan/geom.h"

typedef struct cb_member {
    char *chunks;        /* this member's share of the task's chunks, in its arena */
    cb_task_count count; /* counts of the data that this member has moved in the task */
    size_t measured;     /* maximum fill level of this member's arena in bytes */
} cb_member;

typedef struct cb_coop {
    unsigned size; /* at least 1 */
    cb_member *members;
    cb_box chunks;         /* output chunks that the task must compute */
    _Atomic int64_t next;  /* the first source chunk that no member has begun */
    _Atomic int64_t asked; /* the first source chunk that no member has prefetched */
    cb_mutex lock;
    cb_cond met;
    unsigned here CB_GUARDED_BY(&lock);     /* number of members that wait at the current barrier */
    uint64_t meetings CB_GUARDED_BY(&lock); /* number of barriers that all members have passed */
    bool go_on CB_GUARDED_BY(&lock); /* result of the last barrier; false if a member has failed */
    cubed_error error CB_GUARDED_BY(&lock); /* error of the first member that failed */
} cb_coop;

/* Initialises a team. The caller keeps ownership of `members`, which must live as long as the team. */
void cb_coop_init(cb_coop *t, cb_member *members);
void cb_coop_destroy(cb_coop *t);
/* Prepares the team for a new task with `size` members, and removes the error of the previous task. Call it before any member
 * begins the task. */
void cb_coop_begin(cb_coop *t, unsigned size);
/* Records the error of a member that failed. Has no effect if another member's error is recorded already. */
void cb_coop_fail(cb_coop *t, cubed_status st, const cubed_error *why);
/* A barrier: blocks until all members have called this function. Returns the same value to all members: false if a member has
 * failed before the last member arrived, otherwise true. */
bool cb_coop_meet(cb_coop *t);
/* Returns the status and the error of the first member that failed, or CUBED_OK if none failed. Call it after a barrier. */
cubed_status cb_coop_result(const cb_coop *t, cubed_error *err);

#endif
