/* Evaluating one task: see task.c. */
#ifndef CB_EXEC_TASK_H
#define CB_EXEC_TASK_H

#include "exec/vm/vm.h"

/* Runs task number `task` of t->stage with no memory but t->arena, whose capacity is at least the stage's need. On
 * return the arena is as it was, but for its high-water mark. Tasks are stateless and idempotent; different ones may
 * run at the same time with different arenas. t->cancel (may be NULL) is looked at between vectors. Every member of a
 * cooperative task calls it, and all get the same status. */
CUBED_MUST_CHECK cubed_status cb_task_run(const cb_task *t, int64_t task, cubed_error *err);

#endif
