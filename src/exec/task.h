/* Evaluating one task: see task.c. */
#ifndef CB_EXEC_TASK_H
#define CB_EXEC_TASK_H

#include "exec/vm.h"

/* Runs task number `task` of t->stage with nothing but t->arena (capacity >= the stage's need).
 * Stateless and idempotent. On return the arena is as it was, but for its high-water mark. Different
 * tasks may run at the same time with different arenas. t->cancel (may be NULL) is looked at between
 * vectors. Of a cooperative task every member runs it, and all get the same status. */
CUBED_MUST_CHECK cubed_status cb_task_run(const cb_task *t, int64_t task, cubed_error *err);

#endif
