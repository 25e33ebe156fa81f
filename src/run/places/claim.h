/* The right of one run to create an array, or to fill a folder of intermediates.
 *
 * A claim is a record next to the array (run/places/run_record.h). To take a claim, a run replaces exactly the record that it
 * has read. So one of several runs succeeds, and the other runs learn which run writes. Claims can be taken from runs whose
 * owner is gone. To replace an existing array, a run creates the new one next to it under a unique name; the complete new array
 * then takes the place of the old one. */
#ifndef CB_RUN_CLAIM_H
#define CB_RUN_CLAIM_H

#include "run/places/run_record.h"
#include "zarr/zarr.h"

/* Identity of the run that takes claims: its plan, and this attempt to compute it. */
typedef struct cb_run_self {
    char plan[CB_RUN_PLAN_CAP]; /* "" if the run cannot be resumed; the goal is then also "" */
    char goal[CB_RUN_PLAN_CAP];
    char run[CB_RUN_NAME_CAP];
    /* Owner of the run (this process), and the time of its first claim. Both are "" until then, because determining the owner
     * reads files. */
    char owner[CB_OWNER_CAP];
    char since[CB_RUN_TIME_CAP];
    bool detached;  /* a run without a driver, which several short processes execute */
    bool elsewhere; /* the run has workers on other machines (cb_run_record) */
    /* seconds without a heartbeat after which a run on another machine counts as gone */
    int64_t silence;
    bool take_over;      /* runs on other machines count as gone immediately */
    const char *sources; /* versions of the sources; borrowed; NULL: unknown */
} cb_run_self;

typedef struct cb_beats cb_beats;

typedef struct cb_claim {
    cubed_store *store; /* borrowed */
    const char *path;   /* borrowed */
    /* The directory that was at the path when it was claimed (cb_store_anchor); borrowed. The record is written through it. So
     * if another run has put a new directory at the path, this run changes nothing there. NULL: the record is written by path. */
    cubed_store *place;
    cubed_object_version version; /* version of the record; "" if there is no record */
    int format;                   /* Zarr format of the array to be created; 0 for a folder */
    cb_run_record record;
    /* The thread that renews the claim (run/places/beats.h), or NULL. It changes the version and the record. */
    cb_beats *beats;
    struct cb_claim *next; /* next claim of the thread's list, until cb_beats_end */
    /* a heartbeat of the thread found that another run has taken the claim */
    bool taken;
} cb_claim;

/* Reads the record at the path into a claim, which is not yet held. Sets all fields except `format`, `next` and `taken`. The
 * strings of the record are allocated in the zone. */
CUBED_MUST_CHECK cubed_status cb_claim_look(cubed_store *store, const char *path, cb_zone *zone,
                                            cb_claim *out, cubed_error *err);
/* Returns true if the claim already belongs to this run, because it is a run in parts (`detached`) that another process began.
 * Processes recognise such a run by its name and plan. */
bool cb_claim_is_own(const cb_claim *c, const cb_run_self *self);
/* Sets fields of `self` from the options, which may be NULL (takeover.c). CUBED_E_ARG if the struct's size is wrong. */
CUBED_MUST_CHECK cubed_status cb_takeover_read(cb_run_self *self,
                                               const cubed_takeover_options *options,
                                               cubed_error *err);
/* Returns true if the owner of the record is running, as far as is known. Then its claim must not be taken over. */
bool cb_takeover_must_wait(const cb_run_self *self, const cb_run_record *r);
/* Finds out whether the claim can be taken over without danger for the data. *safe is false if processes of the record's run may
 * still write, and the store cannot refuse their writes. For this, the function may put a test object with conditions into the
 * store, which it deletes again. */
CUBED_MUST_CHECK cubed_status cb_takeover_is_safe(const cb_claim *c, bool *safe, cubed_error *err);
/* Fails with CUBED_E_UNSUPPORTED if a takeover of the place is not safe (cb_takeover_is_safe), unless self->take_over forces
 * it. */
CUBED_MUST_CHECK cubed_status cb_takeover_check(const cb_claim *c, const cb_run_self *self,
                                                cubed_error *err);
/* Fails with CUBED_E_EXISTS if another run holds the claim and is running; the message names that run. */
CUBED_MUST_CHECK cubed_status cb_claim_check_free(const cb_claim *c, const cb_run_self *self,
                                                  cubed_error *err);
/* Takes the claim: replaces exactly the record that `c` has read. `staged` is stored in the new record. CUBED_E_EXISTS if another
 * run took the claim first. */
CUBED_MUST_CHECK cubed_status cb_claim_take(cb_claim *c, cb_run_self *self, const char *staged,
                                            cubed_error *err);
/* Checks that this run still holds the claim. CUBED_E_EXISTS if another run has taken it. */
CUBED_MUST_CHECK cubed_status cb_claim_check_own(const cb_claim *c, cubed_error *err);
/* Like cb_claim_check_own. Also sets *when to the time of the check by the service's clock (cubed_object_info.replied). */
CUBED_MUST_CHECK cubed_status cb_claim_check_when(const cb_claim *c, int64_t *when,
                                                  cubed_error *err);
/* Deletes the objects below `path` of `store` that `wants` selects. The claim's record must be in this store.
 * CUBED_E_EXISTS if this run does not hold the claim.
 *
 * The claim is checked before each batch of CB_STORE_BATCH keys. If another run takes the claim later, while the batch is being
 * deleted, the deletion is late. The effect of a late deletion depends on the store:
 *
 * - A store with CUBED_STORE_GUARDS refuses it, because the record has another version. Such a store checks the claim itself, so
 *   the record is not read before.
 * - A store with CUBED_STORE_DELETES_IF keeps objects that were put after they were listed.
 * - Other stores delete objects of the other run. */
CUBED_MUST_CHECK cubed_status cb_claim_remove(const cb_claim *c, cubed_store *store,
                                              const char *path, cb_store_wants_fn wants, void *ctx,
                                              cubed_error *err);
/* Removes all objects at the claim's path that may be chunks. Errors and late deletions: see cb_claim_remove. */
CUBED_MUST_CHECK cubed_status cb_claim_remove_chunks(const cb_claim *c, cubed_error *err);
/* Removes the metadata documents of an array at `path` of `store`. The claim's record is at `record_path` of the store.
 * CUBED_E_EXISTS if this run does not have the claim, or another process replaces a document in the meantime. */
CUBED_MUST_CHECK cubed_status cb_claim_remove_documents(const cb_claim *c, cubed_store *store,
                                                        const char *path, const char *record_path,
                                                        cubed_error *err);
/* Ensures that no run resumes data that is about to be removed. Removes the plan from the record if other runs can write there
 * (cb_claim_needs_fence). In other stores, only checks the claim. CUBED_E_EXISTS if this run no longer holds the claim. */
CUBED_MUST_CHECK cubed_status cb_claim_close(cb_claim *c, cubed_error *err);
/* Writes a new state to the record, with the current time as the time of the last heartbeat. */
CUBED_MUST_CHECK cubed_status cb_claim_say(cb_claim *c, cb_run_state state, cubed_error *err);
/* Writes the current time as the time of the last heartbeat to the record. The thread of run/places/beats.h calls it. */
CUBED_MUST_CHECK cubed_status cb_claim_beat(cb_claim *c);
/* A fence: the identity of a claim's run and owner, by which writes check that the run still holds the claim. It is a copy,
 * because other threads use it while the claim changes. */
typedef struct cb_claim_fence {
    cb_zarr_fence zarr; /* `zarr.ctx` is this struct */
    cubed_store *store; /* borrowed */
    const char *path;   /* borrowed */
    char run[CB_RUN_NAME_CAP], owner[CB_OWNER_CAP], since[CB_RUN_TIME_CAP];
} cb_claim_fence;
/* Returns true if late requests of other runs can change this run's objects. This is so if the store cannot exchange two arrays,
 * so that old and new arrays have the same keys, and if the store is not in the memory of this process. */
static inline bool cb_claim_needs_fence(const cubed_store *store)
{
    return !store->vt->swap && !(store->vt->flags & CUBED_STORE_OF_PROCESS);
}
/* Sets *out to the fence of the claim. `in_parts` is true if chunks are so large that each is uploaded by several requests. */
void cb_claim_get_fence(const cb_claim *c, bool in_parts, cb_claim_fence *out);
/* Fails with CUBED_E_EXISTS if the record in the directory `place` names another run or owner than the claim's record. If `place`
 * is NULL, reads the record at the claim's path. */
CUBED_MUST_CHECK cubed_status cb_claim_check_place(const cb_claim *c, cubed_store *place,
                                                   cb_zone *zone, cubed_error *err);
/* Sets the directory through which the record is written from then on (`place` of the claim). */
void cb_claim_set_place(cb_claim *c, cubed_store *place);
/* Ends the claim: removes the record if this run still holds the claim. */
void cb_claim_drop(cb_claim *c);
/* Ends the claim of a target. Usually removes the record if this run still holds the claim (cb_claim_drop). If processes of an
 * earlier run may still write, and only existing objects prevent their writes, a record without a plan is kept instead
 * (cb_claim_mark). */
void cb_claim_release(cb_claim *c);
/* Replaces the claim's record by a record without a plan. It makes later runs put all chunks, also those that have only the fill
 * value. CUBED_E_EXISTS if this run no longer holds the claim. */
CUBED_MUST_CHECK cubed_status cb_claim_mark(cb_claim *c, cubed_error *err);

/* Names of an array that will be replaced, and of the staged array: the new array, which is created next to it. `store` contains
 * both; the owner of this structure closes it with cb_store_close. `name` is the key of the array to be replaced, and `staged`
 * the key of the new array. */
typedef struct cb_stage_place {
    cubed_store *store;
    char name[CB_RUN_STAGED_CAP - 64];
    char staged[CB_RUN_STAGED_CAP];
} cb_stage_place;
/* Gets the names for replacing the array at `path`, and opens the store that contains both arrays.
 *
 * run     name of the run
 * staged  key of the staged array from a run's record; NULL or "": makes a new key from `run`
 *
 * Errors: CUBED_E_UNSUPPORTED if the store cannot replace arrays, CUBED_E_FORMAT if `staged` is not a valid key of a staged
 * array, CUBED_E_ARG if the new key is too long. */
CUBED_MUST_CHECK cubed_status cb_stage_open(cubed_store *store, const char *path, const char *run,
                                            const char *staged, cb_stage_place *out,
                                            cubed_error *err);
/* Replaces the old array by the complete staged array: exchanges them, or copies the staged array if the store cannot exchange
 * arrays (cb_stage_copy). After an exchange, the claim's record is the record in the new array. The record's state becomes
 * CB_RUN_SWAPPED. Fails if another run has taken the claim.
 *
 * made  the directory to which the new array was written, or NULL */
CUBED_MUST_CHECK cubed_status cb_stage_swap(const cb_stage_place *p, cb_claim *c, cubed_store *made,
                                            cubed_error *err);
/* Exchanges the directory at p->name for a new directory that contains only the claim's record. The old directory is then at
 * p->staged; late writes of other runs go there. */
CUBED_MUST_CHECK cubed_status cb_stage_exchange(const cb_stage_place *p, cb_claim *c,
                                                cubed_error *err);
/* Puts a new directory at p->name, so that late writes of the run from which the claim was taken have no effect: they go to the
 * old directory, which is then removed.
 *
 * keep_chunks  existing chunks are moved to the new directory one by one, before the old directory is removed */
CUBED_MUST_CHECK cubed_status cb_stage_renew(const cb_stage_place *p, cb_claim *c, bool keep_chunks,
                                             cubed_error *err);
/* Renames the unfinished staged array of a run whose claim was taken, so that the old run can no longer put it in place of the
 * array p->name. p->staged is then the new key, or "" if there was no staged array.
 *
 * run  name of the run that has taken the claim
 *
 * Errors: CUBED_E_EXISTS if the claim `c` has been taken again. */
CUBED_MUST_CHECK cubed_status cb_stage_seize(cb_stage_place *p, const cb_claim *c, const char *run,
                                             cubed_error *err);
/* Moves all chunks below prefix `from` to prefix `to`. Moves single objects, never folders, because the run that wrote the chunks
 * may still rename a chunk into a folder that it has opened. If this folder were moved, the late chunk would become part of the
 * result. */
CUBED_MUST_CHECK cubed_status cb_stage_move_chunks(cubed_store *store, const char *from,
                                                   const char *to, cubed_error *err);
/* Copies all chunks below prefix `from` to prefix `to`, for stores without renames. */
CUBED_MUST_CHECK cubed_status cb_stage_copy_chunks(cubed_store *store, const char *from,
                                                   const char *to, cubed_error *err);
/* Replaces an array by a copy of the staged array, in stores that cannot exchange arrays. Also finishes the copy of a run that
 * ended while it copied (state CB_RUN_COPYING): all objects are copied again. The record is kept. CUBED_E_EXISTS if the claim `c`
 * has been taken before the old array is deleted. */
CUBED_MUST_CHECK cubed_status cb_stage_copy(const cb_stage_place *p, const cb_claim *c,
                                            cubed_error *err);
/* Removes the array at p->staged, which is unfinished or was replaced. Moves files in it that do not belong to Zarr to the array
 * at p->name, except files whose names exist there. */
CUBED_MUST_CHECK cubed_status cb_stage_discard(const cb_stage_place *p, cubed_error *err);
/* Suffix of the directory in which one process at a time creates a file (new_file.c). */
#define CB_NEW_FILE_SUFFIX ".cubed-new"
/* Returns the name of the array that a staged array (cb_stage_place) will replace. `name` is the key of the staged array, and
 * the result points to the last part of this key. `name` may also be the key of an object inside the staged array; then the
 * result is the key of this object in the array to be replaced. Returns NULL if `name` is not such a key. */
const char *cb_stage_replaces(const char *name);

#endif
