/* Limits of the memory of processes that run tasks, by the operating system (RLIMIT_DATA). */
#ifndef CB_RUN_MEMORY_LIMIT_H
#define CB_RUN_MEMORY_LIMIT_H

#include "cubed/plan.h"

/* Limits the private memory of this process, without its stack, to the plan's allowed_mem. Refuses with CUBED_E_BUDGET if the
 * process uses so much memory that tasks would not fit. Has no effect with sanitizers, which reserve more than any limit. */
CUBED_MUST_CHECK cubed_status cb_memory_limit(const cubed_plan *plan, cubed_error *err);

/* Limits the private memory of a process that executes messages of several runs. The limit is the larger of two amounts:
 * allowed_mem; and the memory that the process held before the first task of this plan, plus allowed_mem - reserved_mem. */
CUBED_MUST_CHECK cubed_status cb_memory_limit_begin(cubed_plan *plan, cubed_error *err);
/* Lifts the limit of cb_memory_limit_begin between messages. The next limit for the plan is not below the current one, which
 * grows if libraries map memory that they do not use. */
void cb_memory_limit_end(cubed_plan *plan);

#endif
