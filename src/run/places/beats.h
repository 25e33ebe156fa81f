/* A thread that renews claims by heartbeats. A claim is the exclusive right of a process to write an array, a file or a run's
 * folder. The claim of a process on another machine expires without heartbeats.
 *
 * The thread renews the claims of cubed_place_hold and of new files while their owners do other work. A run renews its claims
 * itself between tasks. It uses this thread only while it takes over places of other runs and while it commits. */
#ifndef CB_RUN_BEATS_H
#define CB_RUN_BEATS_H

#include "run/places/claim.h"

/* Renews one claim (cb_claim_beat). Fails with CUBED_E_EXISTS if another run has taken the claim. */
typedef cubed_status (*cb_beat_fn)(cb_claim *c);

/* Starts a thread that calls `beat` for each added claim, ten times in `silence` seconds. The caller owns *out, and ends the
 * thread with cb_beats_end. */
CUBED_MUST_CHECK cubed_status cb_beats_start(const cubed_allocator *a, int64_t silence,
                                             cb_beat_fn beat, cb_beats **out, cubed_error *err);
/* Adds a claim that this process holds. The thread keeps a pointer to *c, so *c must not move before cb_beats_end. Other threads
 * may still call functions of the claim. */
void cb_beats_add(cb_beats *b, cb_claim *c);
/* Ends the thread, frees `b`, and sets `beats` of all added claims to NULL. NULL is allowed. */
void cb_beats_end(cb_beats *b);
/* Lock and unlock the fields of claims that a heartbeat changes. Functions of a claim hold this lock while they use such fields.
 * No effect if `b` is NULL. */
void cb_beats_lock(cb_beats *b);
void cb_beats_unlock(cb_beats *b);

#endif
