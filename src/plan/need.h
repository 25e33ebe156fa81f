/* Memory of reading and writing one chunk of a node, beside the decoded chunk: used by the
 * projection, and exactly what runtime/io.c takes. */
#ifndef CB_PLAN_NEED_H
#define CB_PLAN_NEED_H

#include "plan/plan.h"

cb_need cb_read_need(const cubed_plan *p, int node);
cb_need cb_write_need(const cubed_plan *p, int node);
/* Decoded bytes of a whole chunk. */
size_t cb_chunk_bytes(const cubed_plan *p, int node);

/* Fills stage->need: the upper bound over all tasks of what task.c allocates. */
CUBED_MUST_CHECK cubed_status cb_stage_project(const cubed_plan *p, cb_stage *s, cubed_error *err);

#endif
