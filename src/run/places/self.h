/* A run: one attempt to compute a plan. */
#ifndef CB_RUN_SELF_H
#define CB_RUN_SELF_H

#include "plan/plan.h"
#include "run/places/claim.h"

/* A name that no other run has. CUBED_E_IO if the system gives no random numbers. */
CUBED_MUST_CHECK cubed_status cb_run_new_name(char name[CB_RUN_NAME_CAP], cubed_error *err);
/* `name`: of the run, NULL for a new one. `resumable`: so that another run may go on where this one ends; then the
 * plan's contents are hashed, and what is known of sources is noted. Text goes to the zone. */
CUBED_MUST_CHECK cubed_status cb_run_self_init(const cubed_plan *p, const char *name,
                                               bool resumable, bool detached, cb_zone *zone,
                                               cb_run_self *out, cubed_error *err);
/* CUBED_E_FORMAT, and which one, if the metadata of a source have been written anew since the plan was made. What a file
 * holds is not asked for: each read of a file is of the version that was opened. */
CUBED_MUST_CHECK cubed_status cb_run_check_unchanged(const cubed_plan *p, cubed_error *err);
/* Whether sources are those that the record's run has seen. */
bool cb_run_saw_sources(const cb_run_self *self, const cb_run_record *r);
/* CUBED_E_EXISTS, and which one, if a source is another one than the record's run has seen. */
CUBED_MUST_CHECK cubed_status cb_run_check_sources(const cubed_plan *p, const cb_run_self *self,
                                                   const cb_run_record *r, cubed_error *err);
/* Whether an earlier run of the same plan wrote the record, and may be taken up. */
bool cb_run_is_same(const cb_run_self *self, const cb_claim *c);
/* The same of a target, whose chunks are what another plan would write there. */
bool cb_run_has_same_goal(const cb_run_self *self, const cb_claim *c);

/* The folder of a run's intermediates in its work directory. */
#define CB_RUN_FOLDER_CAP (8 + CB_RUN_PLAN_CAP + CB_RUN_NAME_CAP)
void cb_run_folder(const char *plan, const char *run, char folder[CB_RUN_FOLDER_CAP]);
/* Whether a name is that of the folder of the record's run. */
bool cb_run_is_folder(const char *name, const cb_run_record *r);
/* Whether a key begins with the name of such a folder, of a run of a known plan. */
bool cb_run_names_folder(const char *key);
/* Whether a name is that of a result in the work directory (python/cubed/planning/_results.py). */
bool cb_run_names_result(const char *name);
/* Removes the folder of a run of another plan with the same goal, which is gone. */
CUBED_MUST_CHECK cubed_status cb_run_forget_folder(cubed_store *work, const char *plan,
                                                   const char *run, const cb_run_self *self,
                                                   cb_zone *zone, cubed_error *err);
/* Looks for a folder of an earlier run of the same plan whose owner is gone: the name of that run, "" if there is none, and
 * whether processes of it may still write to the folder, so that it is not to be written to. */
CUBED_MUST_CHECK cubed_status cb_run_find_folder(const cubed_plan *p, cubed_store *work,
                                                 const cb_run_self *self, cb_zone *zone,
                                                 char run[CB_RUN_NAME_CAP], bool *may_write,
                                                 cubed_error *err);

#endif
