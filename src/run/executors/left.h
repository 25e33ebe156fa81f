/* Stores the plan, and sources that are in the driver's memory, in the run's folder. Needed for workers that receive only the
 * location of the folder. The stored objects are removed with the folder. */
#ifndef CB_RUN_LEFT_H
#define CB_RUN_LEFT_H

#include "run/places/io.h"

typedef struct cb_left_plan {
    cb_buf work_dir; /* URL, independent of the current directory */
    char key[400];   /* key in work_dir, derived from the plan's bytes */
} cb_left_plan;

/* Stores the serialised plan (`bytes`) and the sources. Requires that the run's folder is open and that *out is zeroed. Free *out
 * with cb_left_free, even after an error. */
CUBED_MUST_CHECK cubed_status cb_leave_plan(cb_io *io, const void *bytes, size_t size,
                                            cb_left_plan *out, cubed_error *err);
void cb_left_free(cb_left_plan *left);

#endif
