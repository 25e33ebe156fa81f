/* The executors of this library: one row each. */
#ifndef CB_RUN_EXECUTORS_EXECUTOR_H
#define CB_RUN_EXECUTORS_EXECUTOR_H

#include "cubed/sys/executor.h"
#include "exec/team.h"
#include "run/io.h"

/* What an executor works with; all of it outlives it. */
typedef struct cb_executor_args {
    cubed_plan *plan;
    cb_io *io;
    const cubed_cancel *cancel; /* may be NULL */
    /* Of executors that are remote: */
    const void *blob; /* the plan's bytes */
    bool resume;      /* an earlier run of the plan began all targets */
    size_t blob_size;
    const char *const *worker_command;
} cb_executor_args;

/* Whether there is one of that name (NULL: the default), and whether its workers are processes of
 * their own. */
CUBED_MUST_CHECK cubed_status cb_executor_check(const char *name, bool *remote, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_executor_open(const char *name, const cb_executor_args *args,
                                               cubed_executor **out, cubed_error *err);

CUBED_MUST_CHECK cubed_status cb_executor_single_open(const cb_executor_args *args,
                                                      cubed_executor **out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_executor_threads_open(const cb_executor_args *args,
                                                       cubed_executor **out, cubed_error *err);

CUBED_MUST_CHECK cubed_status cb_executor_processes_open(const cb_executor_args *args,
                                                         cubed_executor **out, cubed_error *err);

/* What a run has taken, when it is over; io may be NULL. */
void cb_run_finish_stats(const cubed_plan *plan, const cb_io *io, int64_t start_ns,
                         cubed_run_stats *stats);
/* Tells functions on blocks that no more tasks come. */
void cb_run_say_ended(const cubed_plan *plan);

/* Runs one task and fills its report: what all of them have in common. */
void cb_executor_run_task(const cb_executor_args *args, cb_arena *arena, int stage, int64_t task,
                          cubed_task_report *report);
/* The part of member number `member` of a team. Its first one's report is of all of them; to be called
 * by every member with the same task, until a report has an error. */
void cb_executor_run_member(const cb_executor_args *args, cb_arena *arena, int stage, int64_t task,
                            cb_team *team, unsigned member, cubed_task_report *report);

#endif
