/* Chunks of a task that an earlier run has written. */
#ifndef CB_EXEC_RESUME_H
#define CB_EXEC_RESUME_H

#include "exec/vm/vm.h"

/* Narrows `chunks`, a box of the task's output chunks, to the smallest box that contains all chunks that an earlier run has not
 * written. Leaves the box unchanged if no chunk is missing, or if an output is not resumed. */
CUBED_MUST_CHECK cubed_status cb_task_skip_present(const cb_task *t, cb_box *chunks,
                                                   cubed_error *err);

#endif
