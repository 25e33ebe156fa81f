/* Tasks that apply a function to whole blocks: see exec/block_stage.h. */
#ifndef CB_EXEC_BLOCK_RUN_H
#define CB_EXEC_BLOCK_RUN_H

#include "exec/vm.h"

CUBED_MUST_CHECK cubed_status cb_block_task(const cb_task *t, int64_t task, cubed_error *err);

#endif
