/* Identifies a run (one attempt to compute a plan), and recognises records and folders that runs left in stores. */
#ifndef CB_RUN_SELF_H
#define CB_RUN_SELF_H

#include "plan/plan.h"
#include "run/places/claim.h"

/* Creates a unique run name. CUBED_E_IO if the system provides no random numbers. */
CUBED_MUST_CHECK cubed_status cb_run_new_name(char name[CB_RUN_NAME_CAP], cubed_error *err);
/* Initialises the data that identify a run. Strings are allocated in the zone.
 *
 * name       name of the run; NULL: a new name
 * resumable  another run may resume this run. Then the plan's contents are hashed, and the versions of sources are recorded. */
CUBED_MUST_CHECK cubed_status cb_run_self_init(const cubed_plan *p, const char *name,
                                               bool resumable, cb_zone *zone, cb_run_self *out,
                                               cubed_error *err);
/* Fails with CUBED_E_FORMAT if the metadata of a source was rewritten since the plan was made; the message names the source.
 * Contents of files are not checked, because every read of a file gets the version that was opened. */
CUBED_MUST_CHECK cubed_status cb_run_check_unchanged(const cubed_plan *p, cubed_error *err);
/* Returns true if the record has the same versions of the sources as this run. */
bool cb_run_saw_sources(const cb_run_self *self, const cb_run_record *r);
/* Fails with CUBED_E_EXISTS if the record has another version of a source than this run; the message names the source. */
CUBED_MUST_CHECK cubed_status cb_run_check_sources(const cubed_plan *p, const cb_run_self *self,
                                                   const cb_run_record *r, cubed_error *err);
/* Returns true if an earlier run of the same plan wrote the record and may be resumed. */
bool cb_run_is_same(const cb_run_self *self, const cb_claim *c);
/* Returns true if an earlier run with the same goal (hash of the requested computation) wrote the record of a target. Then its
 * plan would have written the same chunks to the target. */
bool cb_run_has_same_goal(const cb_run_self *self, const cb_claim *c);

/* Capacity of the name of the folder of a run's intermediates in its work directory. */
#define CB_RUN_FOLDER_CAP (8 + CB_RUN_PLAN_CAP + CB_RUN_NAME_CAP)
void cb_run_folder(const char *plan, const char *run, char folder[CB_RUN_FOLDER_CAP]);
/* Returns true if `name` is the folder of the record's run. */
bool cb_run_is_folder(const char *name, const cb_run_record *r);
/* Returns true if `key` begins with the name of a run's folder that contains a plan ID. */
bool cb_run_names_folder(const char *key);
/* Returns true if `name` is the name of a result in the work directory (python/cubed/planning/_results.py). */
bool cb_run_names_result(const char *name);
/* Removes the folder of intermediates of a run with the same goal but another plan, because only the same plan could resume it.
 * Keeps the folder if processes of that run may still be running. */
CUBED_MUST_CHECK cubed_status cb_run_forget_folder(cubed_store *work, const char *plan,
                                                   const char *run, const cb_run_self *self,
                                                   cb_zone *zone, cubed_error *err);
/* Looks for the folder of an earlier run of the same plan whose owner is gone.
 *
 * run        receives the name of that run, or "" if there is none
 * may_write  receives true if processes of that run may still write to the folder; then this run must not write there */
CUBED_MUST_CHECK cubed_status cb_run_find_folder(const cubed_plan *p, cubed_store *work,
                                                 const cb_run_self *self, cb_zone *zone,
                                                 char run[CB_RUN_NAME_CAP], bool *may_write,
                                                 cubed_error *err);

#endif
