/* What an earlier run left of a task's chunks. */
#ifndef CB_EXEC_RESUME_H
#define CB_EXEC_RESUME_H

#include "exec/vm.h"

/* Of what an earlier run began, a task of many chunks makes those that are not there yet, and those
 * between them: takes the others away from `chunks`. */
CUBED_MUST_CHECK cubed_status cb_task_skip_present(const cb_task *t, cb_box *chunks,
                                                   cubed_error *err);

#endif
