/* Notes about completed ranges of tasks. In a run in parts (a run without a driver), workers write these notes into the run's
 * folder. */
#ifndef CB_RUN_NOTES_H
#define CB_RUN_NOTES_H

#include "run/places/io.h"

typedef struct cb_notes cb_notes;

/* Writes a note that all tasks of a range are done. */
CUBED_MUST_CHECK cubed_status cb_note_done(cb_io *io, const cubed_task_range *range,
                                           cubed_error *err);
/* Reads all notes. Adjacent completed ranges are merged, so *out uses memory only for each gap between completed tasks. */
CUBED_MUST_CHECK cubed_status cb_notes_read(cb_io *io, const cubed_plan *plan, cb_notes **out,
                                            cubed_error *err);
void cb_notes_free(cb_notes *n);
/* Returns the first task of a stage, from `task` on, that has no note; the stage's number of tasks if there is none. */
int64_t cb_notes_missing(const cb_notes *n, int stage, int64_t task);

#endif
