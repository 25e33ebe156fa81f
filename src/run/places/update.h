/* Updates: runs that recompute only chunks whose sources have changed.
 *
 * Before a run, an update compares versions of the sources' chunks with the record in each target (sources_record.h). The
 * plan's regions determine which tasks depend on changed chunks. If the record shows that all other chunks would get the same
 * bytes again, only these tasks run, and write into the array. Otherwise all tasks run, and the array is replaced. */
#ifndef CB_RUN_UPDATE_H
#define CB_RUN_UPDATE_H

#include "run/places/io_state.h"

typedef struct cb_update cb_update;

/* Examines sources and targets, and decides whether an update is possible and which tasks run. Changes nothing in stores. The
 * targets must be open. */
CUBED_MUST_CHECK cubed_status cb_update_decide(cb_io *io, const cubed_cancel *cancel,
                                               cubed_error *err);
/* Fails with CUBED_E_ARG, before anything else, if the plan cannot be updated because it has a result in memory, a region, or
 * a group that is copied. */
CUBED_MUST_CHECK cubed_status cb_update_check(const cubed_plan *p, cubed_error *err);
/* Fails with CUBED_E_ARG if the plan keeps partial results, which a run without update would make invalid. */
CUBED_MUST_CHECK cubed_status cb_update_check_run(const cubed_plan *p, cubed_error *err);
/* Returns true if the update writes into the existing arrays; false if it computes everything and replaces the arrays. */
bool cb_update_is_in_place(const cb_update *u);
/* Returns true if the update keeps a chunk of a target, so that no task has to write it. `u` is a cb_update. */
bool cb_update_keeps(void *u, int node, int64_t chunk);
/* Writes the target's record of the sources' versions before the first task. The record marks chunks that tasks will replace as
 * invalid. Requires the claim of the target. CUBED_E_EXISTS if another run has changed the record since cb_update_decide. */
CUBED_MUST_CHECK cubed_status cb_update_begin(const cb_io *io, int node, cubed_error *err);
/* Writes the record of a complete target. If an error occurs, the array is valid nevertheless, but the next update recomputes
 * it. */
void cb_update_end(const cb_io *io, int node);
/* Returns the bytes of memory for the versions of chunks. */
size_t cb_update_bytes(const cb_update *u);
void cb_update_report(const cb_update *u, cubed_update *out);
void cb_update_free(cb_update *u);

#endif
