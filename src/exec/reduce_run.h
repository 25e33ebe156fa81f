/* The reducing half of a task: from blocks of the body's domain to states. */
#ifndef CB_EXEC_REDUCE_RUN_H
#define CB_EXEC_REDUCE_RUN_H

#include "exec/vm.h"

/* The states of one reduction at one level: its planes, dense over the task's kept box. */
typedef struct cb_state {
    void *plane[CB_REDUCE_MAX_PLANES];
} cb_state;

/* Reduces all blocks of the task (MERGE: all states) and leaves the result in top[nreductions]. `kept` is
 * the task's box without the groups of PARTIAL; first..last-1 are its blocks. */
CUBED_MUST_CHECK cubed_status cb_reduce_task(const cb_task *t, const cb_box *task_box,
                                             const cb_box *kept, cb_state *top, cubed_error *err);

#endif
