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
    bool detached;
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
    /* The place that had the path when it was claimed, borrowed (cb_store_anchor). The record is written through it, so a
     * run that has lost the path to another run changes nothing there. NULL: the record is written by path. */
    cubed_store *place;
    cubed_object_version version; /* version of the record; "" if there is no record */
    int format;                   /* Zarr format of the array to be created; 0 for a folder */
    cb_run_record record;
    /* The thread that renews the claim (run/places/beats.h), or NULL. It changes the version and the record. */
    cb_beats *beats;
    struct cb_claim *next; /* next claim of the thread's list, until cb_beats_end */
    /* true if a heartbeat of the thread found that another run has taken the place */
    bool taken;
} cb_claim;

/* Reads the record of a place. Strings of the record are allocated in the zone. */
CUBED_MUST_CHECK cubed_status cb_claim_look(cubed_store *store, const char *path, cb_zone *zone,
                                            cb_claim *out, cubed_error *err);
/* Returns true if the place belongs to this run. A process that knows the name of a run in parts continues it. */
bool cb_claim_is_own(const cb_claim *c, const cb_run_self *self);
/* Sets fields of `self` from the options, which may be NULL (takeover.c). CUBED_E_ARG if the struct's size is wrong. */
CUBED_MUST_CHECK cubed_status cb_takeover_read(cb_run_self *self,
                                               const cubed_takeover_options *options,
                                               cubed_error *err);
/* Returns true if the owner of the record is running, as far as known, so that its place must not be taken over. */
bool cb_takeover_must_wait(const cb_run_self *self, const cb_run_record *r);
/* Sets *safe to false if processes of the record's run may still write and the store cannot refuse their writes. Tests
 * whether the store honours conditions with an object that it deletes again. */
CUBED_MUST_CHECK cubed_status cb_takeover_is_safe(const cb_claim *c, bool *safe, cubed_error *err);
/* Fails with CUBED_E_UNSUPPORTED if a takeover of the place is not safe (cb_takeover_is_safe), unless self->take_over forces
 * it. */
CUBED_MUST_CHECK cubed_status cb_takeover_check(const cb_claim *c, const cb_run_self *self,
                                                cubed_error *err);
/* Fails with CUBED_E_EXISTS if another run is working at the place; the message names that run. */
CUBED_MUST_CHECK cubed_status cb_claim_check_free(const cb_claim *c, const cb_run_self *self,
                                                  cubed_error *err);
/* Takes over the place from the owner recorded in `c`. `staged` is stored in the record. CUBED_E_EXISTS if another run took the
 * place first. */
CUBED_MUST_CHECK cubed_status cb_claim_take(cb_claim *c, cb_run_self *self, const char *staged,
                                            cubed_error *err);
/* Fails with CUBED_E_EXISTS if the place no longer belongs to this run. */
CUBED_MUST_CHECK cubed_status cb_claim_check_own(const cb_claim *c, cubed_error *err);
/* Fails with CUBED_E_EXISTS if the place no longer belongs to this run. Sets *when to the time by the service's clock
 * (cubed_object_info.replied). */
CUBED_MUST_CHECK cubed_status cb_claim_check_when(const cb_claim *c, int64_t *when,
                                                  cubed_error *err);
/* Deletes the objects below `path` of `store` that `wants` selects, while this run has the claim, whose record is in the
 * store. CUBED_E_EXISTS if this run does not have it. If another run takes the claim while a deletion is under way, the
 * deletion is late:
 *
 * - A store with CUBED_STORE_GUARDS refuses it, because the record has another version.
 * - A store with CUBED_STORE_DELETES_IF keeps objects that were put after they were listed.
 * - Other stores delete objects of the other run. The record is read before every CB_STORE_BATCH keys. */
CUBED_MUST_CHECK cubed_status cb_claim_remove(const cb_claim *c, cubed_store *store,
                                              const char *path, cb_store_wants_fn wants, void *ctx,
                                              cubed_error *err);
/* Removes all objects at the claim's path that may be chunks. Errors and late deletions: see cb_claim_remove. */
CUBED_MUST_CHECK cubed_status cb_claim_remove_chunks(const cb_claim *c, cubed_error *err);
/* Removes the metadata documents of an array at `path` of `store`. The claim's record is at `record_path` of the store.
 * CUBED_E_EXISTS if this run does not have the claim, or another process replaces a document meanwhile. */
CUBED_MUST_CHECK cubed_status cb_claim_remove_documents(const cb_claim *c, cubed_store *store,
                                                        const char *path, const char *record_path,
                                                        cubed_error *err);
/* Removes the plan from the record, so that no run resumes data that is about to be removed. CUBED_E_EXISTS if the place no
 * longer belongs to the claim. */
CUBED_MUST_CHECK cubed_status cb_claim_close(cb_claim *c, cubed_error *err);
/* Writes a new state, and the current time as the time of the last heartbeat, to the record. */
CUBED_MUST_CHECK cubed_status cb_claim_say(cb_claim *c, cb_run_state state, cubed_error *err);
/* Writes the current time as the time of the last heartbeat to the record. The thread of run/places/beats.h calls it. */
CUBED_MUST_CHECK cubed_status cb_claim_beat(cb_claim *c);
/* A copy of the run and the owner of a claim, for other threads of the run, because the claim itself changes. */
typedef struct cb_claim_fence {
    cb_zarr_fence zarr; /* `zarr.ctx` is this struct */
    cubed_store *store; /* borrowed */
    const char *path;   /* borrowed */
    char run[CB_RUN_NAME_CAP], owner[CB_OWNER_CAP], since[CB_RUN_TIME_CAP];
} cb_claim_fence;
/* Returns true if late requests of other runs can reach this run's objects: places of the store are only names, which other
 * processes know. */
static inline bool cb_claim_needs_fence(const cubed_store *store)
{
    return !store->vt->swap && !(store->vt->flags & CUBED_STORE_OF_PROCESS);
}
/* Sets *out to the fence of the claim, which states the conditions of puts of the run. `in_parts` is true if chunks are so
 * large that they are uploaded in parts. */
void cb_claim_get_fence(const cb_claim *c, bool in_parts, cb_claim_fence *out);
/* Fails with CUBED_E_EXISTS if the record at `place` (NULL: at the path) names another run or owner than the claim's record. */
CUBED_MUST_CHECK cubed_status cb_claim_check_place(const cb_claim *c, cubed_store *place,
                                                   cb_zone *zone, cubed_error *err);
/* Sets the place through which the record is written from then on. */
void cb_claim_set_place(cb_claim *c, cubed_store *place);
/* Removes the record if the place still belongs to this run. */
void cb_claim_drop(cb_claim *c);
/* Removes the record of a target if the place still belongs to this run. A record without a plan is kept if processes of an
 * earlier run may still write, and only existing objects prevent their writes. This record makes later runs put all chunks. */
void cb_claim_release(cb_claim *c);
/* Replaces the claim's record by a record without a plan, which makes later runs put all chunks. CUBED_E_EXISTS if the place no
 * longer belongs to this run. */
CUBED_MUST_CHECK cubed_status cb_claim_mark(cb_claim *c, cubed_error *err);

/* The place of a new array that will replace the array at PATH: a new store, to be closed with cb_store_close. In it `name` is
 * the array at PATH and `staged` is the new array next to it. */
typedef struct cb_stage_place {
    cubed_store *store;
    char name[CB_RUN_STAGED_CAP - 64];
    char staged[CB_RUN_STAGED_CAP];
} cb_stage_place;
/* Gets the place in which the array that will replace the array at `path` is created. `staged` is the name of this place from
 * a run's record; NULL or "": a new name of this run, CUBED_E_ARG if it is too long. CUBED_E_UNSUPPORTED if the store cannot
 * replace arrays, CUBED_E_FORMAT if `staged` is not a name of such a place. */
CUBED_MUST_CHECK cubed_status cb_stage_open(cubed_store *store, const char *path, const char *run,
                                            const char *staged, cb_stage_place *out,
                                            cubed_error *err);
/* Puts the complete new array in its place. The claim that moved with the new array is then valid. `made`: the place to which
 * the new array was written, or NULL. The call fails after a takeover of this run, because its place then no longer has the
 * name. */
CUBED_MUST_CHECK cubed_status cb_stage_swap(const cb_stage_place *p, cb_claim *c, cubed_store *made,
                                            cubed_error *err);
/* Exchanges the place under the name for an empty place with the claim's record. The old place, and late writes to it, are then
 * at p->staged. */
CUBED_MUST_CHECK cubed_status cb_stage_exchange(const cb_stage_place *p, cb_claim *c,
                                                cubed_error *err);
/* Puts an empty place under the name if the claim was taken from a run that may still write. Writes of that run go to the
 * old place, which is discarded. `keep_chunks`: existing chunks are moved to the new place one by one. */
CUBED_MUST_CHECK cubed_status cb_stage_renew(const cb_stage_place *p, cb_claim *c, bool keep_chunks,
                                             cubed_error *err);
/* Renames the unfinished array at `staged` of a run that was taken over, so that this run can no longer put the array in its
 * place. p->staged is then the new name, or "" if there was no array. `run`: the run that takes over. CUBED_E_EXISTS if the
 * place no longer belongs to the claim. */
CUBED_MUST_CHECK cubed_status cb_stage_seize(cb_stage_place *p, const cb_claim *c, const char *run,
                                             cubed_error *err);
/* Moves all chunks below prefix `from` to prefix `to`. Moves objects, never folders, because a rename by the run that wrote
 * them may already have opened the folder. */
CUBED_MUST_CHECK cubed_status cb_stage_move_chunks(cubed_store *store, const char *from,
                                                   const char *to, cubed_error *err);
/* Copies all chunks below prefix `from` to prefix `to`, for stores without renames. */
CUBED_MUST_CHECK cubed_status cb_stage_copy_chunks(cubed_store *store, const char *from,
                                                   const char *to, cubed_error *err);
/* Repeats the whole copy that a record with CB_RUN_COPYING describes, including objects that were copied already. The record is
 * kept. CUBED_E_EXISTS if `c` was taken over before the old array is deleted. */
CUBED_MUST_CHECK cubed_status cb_stage_copy(const cb_stage_place *p, const cb_claim *c,
                                            cubed_error *err);
/* Removes the array at `staged`, which is unfinished or was replaced. Files in it that do not belong to Zarr move to the
 * array in its place. */
CUBED_MUST_CHECK cubed_status cb_stage_discard(const cb_stage_place *p, cubed_error *err);
/* Suffix of the directory in which one process at a time creates a file (new_file.c). */
#define CB_NEW_FILE_SUFFIX ".cubed-new"
/* Returns the name of the array that the array with the staged name `name` will replace (cb_stage_place). `name` may continue
 * with the rest of a key. Returns NULL if `name` is not a staged name. */
const char *cb_stage_replaces(const char *name);

#endif
