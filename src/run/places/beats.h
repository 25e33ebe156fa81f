/* A thread that gives signs of life for the claims of holds and new files, whose owners do other work meanwhile. Runs give theirs
 * between tasks. */
#ifndef CB_RUN_BEATS_H
#define CB_RUN_BEATS_H

#include "run/places/claim.h"

/* Gives one sign of life for a claim (cb_claim_beat). CUBED_E_EXISTS: another run has taken the claim. */
typedef cubed_status (*cb_beat_fn)(cb_claim *c);

/* Starts the thread, which calls `beat` ten times in each `silence` seconds for the claims that are added. Ownership: *out is the
 * caller's. */
CUBED_MUST_CHECK cubed_status cb_beats_start(const cubed_allocator *a, int64_t silence,
                                             cb_beat_fn beat, cb_beats **out, cubed_error *err);
/* The claim was taken, and stays where it is until cb_beats_end. Its functions may be called meanwhile. */
void cb_beats_add(cb_beats *b, cb_claim *c);
/* Ends the thread and frees it; claims have no thread afterwards. NULL is allowed. */
void cb_beats_end(cb_beats *b);
/* A claim's functions hold the lock while they use fields that a beat changes. NULL is allowed. */
void cb_beats_lock(cb_beats *b);
void cb_beats_unlock(cb_beats *b);

#endif
