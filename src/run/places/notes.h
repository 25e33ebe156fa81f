/* What workers of a run in parts have noted in its folder: which ranges of tasks they have done. */
#ifndef CB_RUN_NOTES_H
#define CB_RUN_NOTES_H

#include "run/places/io.h"

typedef struct cb_notes cb_notes;

/* That all tasks of the range are done. */
CUBED_MUST_CHECK cubed_status cb_note_done(cb_io *io, const cubed_task_range *range,
                                           cubed_error *err);
/* Reads all there are. What is kept grows with gaps between them. */
CUBED_MUST_CHECK cubed_status cb_notes_read(cb_io *io, const cubed_plan *plan, cb_notes **out,
                                            cubed_error *err);
void cb_notes_free(cb_notes *n);
/* The first task of a stage from `task` on that is not done; at most the number of tasks. */
int64_t cb_notes_missing(const cb_notes *n, int stage, int64_t task);

#endif
