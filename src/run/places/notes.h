/* Notes of workers in the folder of a run in parts: which ranges of tasks are done. */
#ifndef CB_RUN_NOTES_H
#define CB_RUN_NOTES_H

#include "run/places/io.h"

typedef struct cb_notes cb_notes;

/* Writes a note that all tasks of a range are done. */
CUBED_MUST_CHECK cubed_status cb_note_done(cb_io *io, const cubed_task_range *range,
                                           cubed_error *err);
/* Reads all notes. Memory use grows with the number of gaps between ranges. */
CUBED_MUST_CHECK cubed_status cb_notes_read(cb_io *io, const cubed_plan *plan, cb_notes **out,
                                            cubed_error *err);
void cb_notes_free(cb_notes *n);
/* Returns the first task of a stage, at or after `task`, that is not done; the number of tasks if all are done. */
int64_t cb_notes_missing(const cb_notes *n, int stage, int64_t task);

#endif
