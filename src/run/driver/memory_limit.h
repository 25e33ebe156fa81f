/* Limits the memory of processes that run tasks. The operating system enforces the limit (RLIMIT_DATA). */
#ifndef CB_RUN_MEMORY_LIMIT_H
#define CB_RUN_MEMORY_LIMIT_H

#include "cubed/plan.h"

/* Limits the private memory of this process, without its stack, to the plan's allowed_mem. Fails with CUBED_E_BUDGET if the
 * process already uses so much memory that tasks would not fit. Has no effect in builds with sanitizers, because these reserve
 * more memory than any limit. */
CUBED_MUST_CHECK cubed_status cb_memory_limit(const cubed_plan *plan, cubed_error *err);

/* Limits the private memory of a process that executes messages of several runs. For the first message of a plan, the limit in
 * bytes is
 *
 *     max(allowed_mem, before + allowed_mem - reserved_mem)
 *
 * where `before` is the private memory of the process at this time, plus CB_WORKER_SLACK. For later messages of the plan, it is
 * the limit that cb_memory_limit_end has recorded. */
CUBED_MUST_CHECK cubed_status cb_memory_limit_begin(cubed_plan *plan, cubed_error *err);
/* Removes the limit of cb_memory_limit_begin between two messages. The limit may have grown during a message, because libraries
 * map memory that they do not use. The next limit for the same plan is at least as high. */
void cb_memory_limit_end(cubed_plan *plan);

#endif
