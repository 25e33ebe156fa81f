/* What a run leaves in its folder for workers that are told nothing but where that is: the plan, and what it reads of the
 * driver's memory. It goes with the folder. */
#ifndef CB_RUN_LEFT_H
#define CB_RUN_LEFT_H

#include "run/places/io.h"

typedef struct cb_left_plan {
    cb_buf work_dir; /* its URL, for any directory */
    char key[400];   /* in it: another one of other bytes */
} cb_left_plan;

/* The folder is open. To be freed in any case; *out is empty before. */
CUBED_MUST_CHECK cubed_status cb_leave_plan(cb_io *io, const void *bytes, size_t size,
                                            cb_left_plan *out, cubed_error *err);
void cb_left_free(cb_left_plan *left);

#endif
