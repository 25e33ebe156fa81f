/* Evaluating one task: see task.c. */
#ifndef CB_RUNTIME_TASK_H
#define CB_RUNTIME_TASK_H

#include "mem/arena.h"
#include "plan/plan.h"
#include "runtime/io.h"

/* Runs task number `task` of a stage with nothing but this arena (capacity >= the stage's need).
 * Stateless and idempotent. On return the arena is as it was, but for its high-water mark. Different
 * tasks may run at the same time with different arenas. `cancel` (may be NULL) is looked at between
 * vectors. */
CUBED_MUST_CHECK cubed_status cb_task_run(const cubed_plan *plan, const cb_stage *stage,
                                          int64_t task, cb_io *io, cb_arena *arena,
                                          const volatile int *cancel, cb_io_count *count,
                                          cubed_error *err);

#endif
