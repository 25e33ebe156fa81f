/* Tasks of copies into several chunks. */
#ifndef CB_EXEC_COPY_RUN_H
#define CB_EXEC_COPY_RUN_H

#include "exec/vm.h"

/* Makes these chunks of the stage that scatters, alone or as one of t->team. */
CUBED_MUST_CHECK cubed_status cb_copy_task(const cb_task *t, const cb_box *chunks,
                                           cubed_error *err);

#endif
