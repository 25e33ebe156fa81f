/* One run's right to make an array, or to fill a folder of intermediates.
 *
 * A claim is a record beside the array (run/places/run_record.h). Who takes it replaces exactly the record that it has seen, so of
 * several runs one succeeds, and the others are told who is writing. It is taken from runs whose owner is gone. An
 * array that exists is replaced: the new one is made beside it, under a name of its own, and takes its place when it
 * is whole. */
#ifndef CB_RUN_CLAIM_H
#define CB_RUN_CLAIM_H

#include "run/places/run_record.h"
#include "zarr/zarr.h"

/* Who wants places: a plan and one attempt to compute it. */
typedef struct cb_run_self {
    char plan[CB_RUN_PLAN_CAP]; /* "": it cannot be resumed; then so is the goal */
    char goal[CB_RUN_PLAN_CAP];
    char run[CB_RUN_NAME_CAP];
    /* Both "" until the first claim: finding out who the owner is takes reading files. */
    char owner[CB_OWNER_CAP];
    char since[CB_RUN_TIME_CAP];
    bool detached;
    bool elsewhere;      /* has workers on other machines, see cb_run_record */
    int64_t silence;     /* seconds after which a run on another machine counts as gone */
    bool take_over;      /* runs on other machines count as gone at once */
    const char *sources; /* borrowed; NULL: not known */
} cb_run_self;

typedef struct cb_beats cb_beats;

typedef struct cb_claim {
    cubed_store *store; /* borrowed */
    const char *path;   /* borrowed */
    /* Borrowed, see cb_store_anchor: the place that had the path when it was claimed. Through it the record is written, so that
     * a run that has lost the path to another one changes nothing there. NULL if the record is written by the path. */
    cubed_store *place;
    cubed_object_version version; /* of the record; "": there is none */
    int format; /* Zarr's, of the array that is to be made there; 0: it is a folder */
    cb_run_record record;
    /* The thread that beats for the claim, or NULL (run/places/beats.h). It changes the version and the record meanwhile. */
    cb_beats *beats;
    struct cb_claim *next; /* of its list, until cb_beats_end */
    bool taken;            /* a beat found that another run has the place; set by the thread */
} cb_claim;

/* Looks at who has a place; what the record points to goes to the zone. */
CUBED_MUST_CHECK cubed_status cb_claim_look(cubed_store *store, const char *path, cb_zone *zone,
                                            cb_claim *out, cubed_error *err);
/* Whether the place is this run's already: one in parts is taken up by whoever knows its name. */
bool cb_claim_is_own(const cb_claim *c, const cb_run_self *self);
/* See takeover.c. Sets the fields of `self` to the options, which may be NULL. CUBED_E_ARG if the struct's size is wrong. */
CUBED_MUST_CHECK cubed_status cb_takeover_read(cb_run_self *self,
                                               const cubed_takeover_options *options,
                                               cubed_error *err);
/* Whether the record's owner is at work, as far as is known, so that its place is not taken. */
bool cb_takeover_must_wait(const cb_run_self *self, const cb_run_record *r);
/* *safe is false if processes of the record's run may still write, and the store cannot refuse their writes. Tries whether the
 * store honours conditions, by an object that it deletes again. */
CUBED_MUST_CHECK cubed_status cb_takeover_is_safe(const cb_claim *c, bool *safe, cubed_error *err);
/* CUBED_E_UNSUPPORTED if taking the place is not safe, and `self` does not force it. */
CUBED_MUST_CHECK cubed_status cb_takeover_check(const cb_claim *c, const cb_run_self *self,
                                                cubed_error *err);
/* CUBED_E_EXISTS, and who it is, if somebody else is at work there. */
CUBED_MUST_CHECK cubed_status cb_claim_check_free(const cb_claim *c, const cb_run_self *self,
                                                  cubed_error *err);
/* Takes the place from whoever `c` says had it; `staged` as in the record. CUBED_E_EXISTS if another run was quicker. */
CUBED_MUST_CHECK cubed_status cb_claim_take(cb_claim *c, cb_run_self *self, const char *staged,
                                            cubed_error *err);
/* CUBED_E_EXISTS if the place is no longer this run's. */
CUBED_MUST_CHECK cubed_status cb_claim_check_own(const cb_claim *c, cubed_error *err);
/* The same, and when, by the service's clock: see cubed_object_info.replied. */
CUBED_MUST_CHECK cubed_status cb_claim_check_when(const cb_claim *c, int64_t *when,
                                                  cubed_error *err);
/* Deletes the objects below `path` of `store` that are wanted, while the claim, whose record is there, is this run's:
 * CUBED_E_EXISTS if it is not. A deletion that is on the way while another run takes the claim is late, and then:
 * - A store with CUBED_STORE_GUARDS refuses it, because the record has another version.
 * - A store with CUBED_STORE_DELETES_IF leaves objects that were put after they were listed.
 * - In others it deletes objects of the other run. The record is read before every CB_STORE_BATCH keys. */
CUBED_MUST_CHECK cubed_status cb_claim_remove(const cb_claim *c, cubed_store *store,
                                              const char *path, cb_store_wants_fn wants, void *ctx,
                                              cubed_error *err);
/* Removes what may be chunks at the claim's path so. */
CUBED_MUST_CHECK cubed_status cb_claim_remove_chunks(const cb_claim *c, cubed_error *err);
/* Removes the documents of an array so, which is at `path` of a store that has the claim's record at `record_path`. */
CUBED_MUST_CHECK cubed_status cb_claim_remove_documents(const cb_claim *c, cubed_store *store,
                                                        const char *path, const char *record_path,
                                                        cubed_error *err);
/* From now on no run resumes what the claim's run has made, which is about to be removed: the record names no plan.
 * CUBED_E_EXISTS if the place is no longer the claim's. */
CUBED_MUST_CHECK cubed_status cb_claim_close(cb_claim *c, cubed_error *err);
/* Says what has become of it, and that the owner is there. */
CUBED_MUST_CHECK cubed_status cb_claim_say(cb_claim *c, cb_run_state state, cubed_error *err);
/* Says that the owner is there, by the thread of run/places/beats.h. */
CUBED_MUST_CHECK cubed_status cb_claim_beat(cb_claim *c);
/* The run and the owner that a claim was of when it was taken, for threads of the run: the claim itself changes. */
typedef struct cb_claim_fence {
    cb_zarr_fence zarr; /* whose ctx is this */
    cubed_store *store; /* borrowed */
    const char *path;   /* borrowed */
    char run[CB_RUN_NAME_CAP], owner[CB_OWNER_CAP], since[CB_RUN_TIME_CAP];
} cb_claim_fence;
/* Whether late requests of other runs reach what a run makes in the store: places there are nothing but names, which other
 * processes know, too. */
static inline bool cb_claim_needs_fence(const cubed_store *store)
{
    return !store->vt->swap && !(store->vt->flags & CUBED_STORE_OF_PROCESS);
}
/* `in_parts`: chunks are so large that they are put in parts. */
void cb_claim_get_fence(const cb_claim *c, bool in_parts, cb_claim_fence *out);
/* CUBED_E_EXISTS if what is at `place` (NULL: at the path) is not of the run and the owner that the claim's record names. */
CUBED_MUST_CHECK cubed_status cb_claim_check_place(const cb_claim *c, cubed_store *place,
                                                   cb_zone *zone, cubed_error *err);
/* From now on the record is written through the place. */
void cb_claim_set_place(cb_claim *c, cubed_store *place);
/* Gives it up, if it is still this run's. */
void cb_claim_drop(cb_claim *c);
/* The same of a target's. If processes of an earlier run may still write, and only objects that exist exclude their writes, a
 * record without a plan stays: by it later runs know that they have to put all chunks. */
void cb_claim_release(cb_claim *c);
/* Puts such a record in the place of the claim's. CUBED_E_EXISTS if the place is no longer this run's. */
CUBED_MUST_CHECK cubed_status cb_claim_mark(cb_claim *c, cubed_error *err);

/* Where an array that will replace the one at PATH is made: a new store, for cb_store_close, and in it the name `staged`
 * beside `name`, which is what is at PATH. */
typedef struct cb_stage_place {
    cubed_store *store;
    char name[CB_RUN_STAGED_CAP - 64];
    char staged[CB_RUN_STAGED_CAP];
} cb_stage_place;
/* `staged`: NULL for a name of this run. CUBED_E_UNSUPPORTED where nothing can be replaced. */
CUBED_MUST_CHECK cubed_status cb_stage_open(cubed_store *store, const char *path, const char *run,
                                            const char *staged, cb_stage_place *out,
                                            cubed_error *err);
/* The new array, which is whole, takes the place: the claim then is the one that went with it. `made`: the place that the new
 * array was written to, or NULL; a run that was taken over has no such place under the name any more, and fails. */
CUBED_MUST_CHECK cubed_status cb_stage_swap(const cb_stage_place *p, cb_claim *c, cubed_store *made,
                                            cubed_error *err);
/* Puts an empty place with the claim's record under the name: then the old place is at p->staged, where late writes of the run
 * that had it go. */
CUBED_MUST_CHECK cubed_status cb_stage_exchange(const cb_stage_place *p, cb_claim *c,
                                                cubed_error *err);
/* Puts an empty place where a run may still write that the claim was taken from: what that run writes goes to the old place,
 * which is discarded. `keep_chunks`: chunks that are there now go to the new place, one by one. */
CUBED_MUST_CHECK cubed_status cb_stage_renew(const cb_stage_place *p, cb_claim *c, bool keep_chunks,
                                             cubed_error *err);
/* Takes what such a run makes at `staged` away from this name, so that it cannot take the place any more: then p->staged is
 * its name, "" if there was none. `run`: of the taker. CUBED_E_EXISTS if the place is no longer the claim's. */
CUBED_MUST_CHECK cubed_status cb_stage_seize(cb_stage_place *p, const cb_claim *c, const char *run,
                                             cubed_error *err);
/* Moves all chunks below prefix `from` to prefix `to`: objects, never folders, because a rename of the run that wrote them may
 * have found the folder already. */
CUBED_MUST_CHECK cubed_status cb_stage_move_chunks(cubed_store *store, const char *from,
                                                   const char *to, cubed_error *err);
/* Copies all chunks below prefix `from` to prefix `to`, in stores where nothing can be renamed. */
CUBED_MUST_CHECK cubed_status cb_stage_copy_chunks(cubed_store *store, const char *from,
                                                   const char *to, cubed_error *err);
/* Of a record that says CB_RUN_COPYING: does it again, whatever has been done of it. The record stays. CUBED_E_EXISTS if
 * `c` has been taken over before the old array is deleted. */
CUBED_MUST_CHECK cubed_status cb_stage_copy(const cb_stage_place *p, const cb_claim *c,
                                            cubed_error *err);
/* Removes what is at `staged`, an array that was not finished or was replaced; files in it that are not Zarr's go to
 * the array that is in its place. */
CUBED_MUST_CHECK cubed_status cb_stage_discard(const cb_stage_place *p, cubed_error *err);
/* Behind a file's name: the directory that one process at a time makes it in (new_file.c). */
#define CB_NEW_FILE_SUFFIX ".cubed-new"
/* The name of what is replaced by an array that is made under such a name, which may be followed by more of a key; NULL
 * of other names. */
const char *cb_stage_replaces(const char *name);

#endif
