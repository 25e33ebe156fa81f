/* A thread that renews the claims of holds and new files, while their owners do other work. Runs renew their claims between
 * tasks, and by this thread while they take over places and while they commit. */
#ifndef CB_RUN_BEATS_H
#define CB_RUN_BEATS_H

#include "run/places/claim.h"

/* Renews one claim (cb_claim_beat). Fails with CUBED_E_EXISTS if another run has taken the claim. */
typedef cubed_status (*cb_beat_fn)(cb_claim *c);

/* Starts a thread that calls `beat` ten times per `silence` seconds for each added claim. Ownership: *out is the
 * caller's. */
CUBED_MUST_CHECK cubed_status cb_beats_start(const cubed_allocator *a, int64_t silence,
                                             cb_beat_fn beat, cb_beats **out, cubed_error *err);
/* Adds a claim that this process holds. The structure must stay at its address until cb_beats_end; functions of the claim may
 * still be called. */
void cb_beats_add(cb_beats *b, cb_claim *c);
/* Ends the thread, frees `b`, and sets `beats` of all added claims to NULL. NULL is allowed. */
void cb_beats_end(cb_beats *b);
/* Functions of a claim hold this lock while they use fields that a heartbeat changes. NULL is allowed. */
void cb_beats_lock(cb_beats *b);
void cb_beats_unlock(cb_beats *b);

#endif
