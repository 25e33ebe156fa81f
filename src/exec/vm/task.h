/* Runs one task (task.c). */
#ifndef CB_EXEC_TASK_H
#define CB_EXEC_TASK_H

#include "exec/vm/vm.h"

/* Runs task number `task` of t->stage. The task's buffers are in t->arena, whose capacity is at least the stage's need. Memory of
 * libraries is charged to the arena. Chunks of intermediates, and cached and prefetched chunks, are memory of t->chunks. On
 * return the arena is as before, except its high-water mark. Tasks are stateless and idempotent; different tasks may run
 * concurrently with different arenas. t->cancel (may be NULL) is checked between vectors. Every member of a cooperative
 * task calls this, and all get the same status. */
CUBED_MUST_CHECK cubed_status cb_task_run(const cb_task *t, int64_t task, cubed_error *err);

#endif
