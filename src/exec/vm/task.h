/* Runs one task (task.c). */
#ifndef CB_EXEC_TASK_H
#define CB_EXEC_TASK_H

#include "exec/vm/vm.h"

/* Runs task number `task` of t->stage.
 *
 * Memory: the task's buffers are in t->arena, whose capacity must be at least the stage's need. Memory of libraries is charged to
 * the arena. Intermediates, cached chunks and prefetched chunks are memory of t->chunks. On return the arena is as before,
 * except its high-water mark.
 *
 * Cancellation: t->cancel (may be NULL) is checked between vectors.
 *
 * Cooperative tasks: every member calls this function, and all members get the same status.
 *
 * Thread safety: tasks are stateless and idempotent. Different tasks may run concurrently with different arenas. */
CUBED_MUST_CHECK cubed_status cb_task_run(const cb_task *t, int64_t task, cubed_error *err);

#endif
