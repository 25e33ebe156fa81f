/* The folding half of a task: from blocks of the body's domain to states. */
#ifndef CB_RUNTIME_FOLD_RUN_H
#define CB_RUNTIME_FOLD_RUN_H

#include "runtime/vm.h"

/* The states of one fold at one level: its planes, dense over the task's kept box. */
typedef struct cb_state {
    void *plane[CB_FOLD_MAX_PLANES];
} cb_state;

/* Folds all blocks of the task (MERGE: all states) and leaves the result in top[nfolds]. `kept` is
 * the task's box without the groups of PARTIAL; first..last-1 are its blocks. */
CUBED_MUST_CHECK cubed_status cb_fold_task(const cb_task *t, const cb_box *task_box,
                                           const cb_box *kept, cb_state *top, cubed_error *err);

#endif
