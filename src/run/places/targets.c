/* Claims, creates and completes the targets of a run, and removes arrays that the run does not complete. All places are inspected
 * before any place is changed. A new array is created in its final place, and has no metadata until all of its chunks exist. An
 * array that replaces another is created next to it. */
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "chunks/chunk_need.h"
#include "exec/plan/requests.h"
#include "run/places/beats.h"
#include "run/places/groups.h"
#include "run/places/io_state.h"
#include "run/places/update.h"

static bool is_array(const cb_io *io, int i)
{
    const cb_node *n = &io->plan->ir.nodes[i];
    return n->is_target && n->url && !n->region;
}

static const char *path_of(const cb_io *io, int i) { return io->plan->storage[i]->place.path; }

/* Returns true if the target is a temporary result, which the caller reads into memory and then removes. */
static bool is_result(const cb_io *io, int i)
{
    const cb_place *p = &io->plan->storage[i]->place;
    const char *name = strrchr(p->store, '/');
    return !*p->path && name && cb_run_names_result(name + 1);
}

/* Opens the directory at the path, and then reads the record in the open directory. So the record belongs to this directory even
 * if the path later leads to another one. The record of an array that replaces another is in the place of the old array. */
static cubed_status open_place_of(cb_io *io, int i, cubed_store *store, const char *path,
                                  cubed_error *err)
{
    target_io *t = io->nodes[i].target;
    const bool make = t->replaces && io->mode != CB_IO_WORKER;
    CB_TRY(cb_store_anchor(store, path, make, &t->place, err));
    CB_TRY(cb_claim_check_place(&t->claim, t->replaces ? NULL : t->place, io->zone, err));
    if (!t->replaces) cb_claim_set_place(&t->claim, t->place);
    return CUBED_OK;
}

/* Opens the array of a target that was claimed by this run or inspected by a worker. */
static cubed_status attach(cb_io *io, int i, cubed_error *err)
{
    target_io *t = io->nodes[i].target;
    const cb_zarr_meta *meta = &io->plan->storage[i]->meta;
    node_io *x = &io->nodes[i];
    cubed_store *store = t->replaces ? t->beside.store : t->store;
    const char *path = t->replaces ? t->beside.staged : path_of(io, i);
    if (!t->done && cb_store_has_places(store)) {
        CB_TRY(open_place_of(io, i, store, path, err));
        return cb_zarr_attach(t->place, "", meta, &x->array, err);
    }
    CB_TRY(cb_zarr_attach(store, path, meta, &x->array, err));
    if (!cb_claim_needs_fence(t->store)) return CUBED_OK;
    t->fence = cb_zone_alloc(io->zone, sizeof *t->fence);
    if (!t->fence) return cb_fail(err, CUBED_E_NOMEM, "no memory for a target");
    cb_claim_get_fence(&t->claim, cb_node_goes_in_parts(io->plan, i), t->fence);
    cb_zarr_set_fence(x->array, &t->fence->zarr);
    return CUBED_OK;
}

/* --- Beginning --------------------------------------------------------------------------------------- */

/* Gets the version of the metadata of an existing array, or "" if there is no metadata. */
static cubed_status metadata_version(const cb_io *io, int i, cubed_object_version *version,
                                     cubed_error *err)
{
    return cb_zarr_version(io->nodes[i].target->store, path_of(io, i),
                           io->plan->storage[i]->meta.format, version, err);
}

static cubed_status open_place(cb_io *io, int i, cubed_error *err)
{
    const cb_node *n = &io->plan->ir.nodes[i];
    target_io *t = cb_zone_alloc(io->zone, sizeof *t);
    if (!t) return cb_fail(err, CUBED_E_NOMEM, "no memory for a target");
    io->nodes[i].target = t;
    CB_TRY(cb_store_open(&io->plan->ctx->stores, io->plan->storage[i]->place.store, n->durable,
                         &t->store, err));
    if (is_result(io, i)) {
        cb_store_keep_private(t->store);
        if (io->mode != CB_IO_WORKER) CB_TRY(cb_store_check_private(t->store, path_of(io, i), err));
    }
    t->claim.format = io->plan->storage[i]->meta.format;
    return cb_claim_look(t->store, path_of(io, i), io->zone, &t->claim, err);
}

/* Checks whether an earlier run of the same plan has left a complete array or chunks at a target. */
static cubed_status look_at_own(cb_io *io, int i, cubed_error *err)
{
    target_io *t = io->nodes[i].target;
    const cb_run_record *r = &t->claim.record;
    cubed_object_version version;
    CB_TRY(metadata_version(io, i, &version, err));
    if (r->state == CB_RUN_DONE || r->state == CB_RUN_SWAPPED) {
        /* The earlier run's result counts only if nothing was written there after the run, and if it was computed from the same
         * sources. */
        const bool same = r->state == CB_RUN_SWAPPED ||
                          (!cb_version_is_none(&version) && cb_version_equal(&version, &r->made));
        t->resumed = t->done = same && cb_run_saw_sources(&io->self, r);
        return CUBED_OK;
    }
    t->resumed = true;
    return cb_run_check_sources(io->plan, &io->self, r, err);
}

static cubed_status unknown_run(const cb_io *io, int i, cubed_error *err)
{
    return cb_fail(err, CUBED_E_NOT_FOUND,
                   "run %s does not write %s: it has not begun, is over, or was removed",
                   io->self.run, io->plan->ir.nodes[i].url);
}

/* Returns true if an unfinished array was written by another version of the library. Chunks of two versions may differ, so they
 * are not mixed in one array. Complete arrays remain valid. */
static bool is_of_other_version(const cb_claim *c)
{
    const cb_run_record *r = &c->record;
    return !cb_version_is_none(&c->version) && r->state != CB_RUN_DONE &&
           r->state != CB_RUN_SWAPPED && strcmp(r->cubed, CUBED_VERSION_STRING) != 0;
}

static cubed_status refuse_other_version(const cb_io *io, int i, const char *remedy,
                                         cubed_error *err)
{
    const cb_run_record *r = &io->nodes[i].target->claim.record;
    return cb_fail(err, CUBED_E_EXISTS,
                   "%s has chunks of an unfinished run that %s%s of cubed began, and this is "
                   "version " CUBED_VERSION_STRING ": end the run with that version%s",
                   io->plan->ir.nodes[i].url, *r->cubed ? "version " : "an earlier version",
                   r->cubed, remedy);
}

/* Checks whether the run may claim the place of a target, and which objects are there. Changes nothing. */
static cubed_status look_at(cb_io *io, int i, bool resume, cubed_error *err)
{
    const cb_node *n = &io->plan->ir.nodes[i];
    CB_TRY(open_place(io, i, err));
    target_io *t = io->nodes[i].target;
    const cb_run_record *r = &t->claim.record;
    CB_TRY(cb_claim_check_free(&t->claim, &io->self, err));
    const bool own = cb_claim_is_own(&t->claim, &io->self);
    t->late = !own && !cb_version_is_none(&t->claim.version) && cb_run_record_may_write(r);
    t->may_write = t->late && cb_store_has_places(t->store);
    if (own) {
        if (io->mode == CB_IO_FINISH && is_of_other_version(&t->claim))
            return refuse_other_version(io, i, "", err);
        if (io->mode == CB_IO_FINISH) CB_TRY(cb_run_check_sources(io->plan, &io->self, r, err));
        t->begun = true;
        t->claimed = t->resumed = io->mode == CB_IO_FINISH;
        t->replaces = *r->staged != 0;
        return CUBED_OK;
    }
    if (io->mode != CB_IO_FINISH) CB_TRY(cb_takeover_check(&t->claim, &io->self, err));
    const bool is_other_version = is_of_other_version(&t->claim);
    if (resume && !is_other_version &&
        (io->mode == CB_IO_FINISH ? cb_run_is_same : cb_run_has_same_goal)(&io->self, &t->claim))
        CB_TRY(look_at_own(io, i, err));
    if (io->mode == CB_IO_FINISH && !t->done) return unknown_run(io, i, err);
    if (t->resumed) {
        t->replaces = !t->done && *r->staged != 0;
        return CUBED_OK;
    }
    if (n->overwrite || io->asks_update) {
        cb_zarr_kind kind;
        int format;
        CB_TRY(cb_zarr_probe(t->store, path_of(io, i), &kind, &format, err));
        t->replaces = kind != CB_ZARR_NOTHING || r->state == CB_RUN_COPYING;
        t->exists = kind == CB_ZARR_ARRAY;
        return CUBED_OK;
    }
    CB_TRY(cb_zarr_check_absent(t->store, path_of(io, i), err));
    if (resume && is_other_version)
        return refuse_other_version(io, i, ", or overwrite it instead of resuming", err);
    if (resume && !cb_version_is_none(&t->claim.version) && r->state != CB_RUN_DONE)
        return cb_fail(err, CUBED_E_EXISTS,
                       "%s has chunks of an unfinished run of another computation: overwrite it "
                       "instead of resuming",
                       n->url);
    return CUBED_OK;
}

/* Removes the array that a run which has ended left at `left->staged`: the array that it created to replace another, or the
 * array that it has replaced. Before that, completes a copy to the final place, and keeps the chunks if this run resumes. */
static cubed_status discard_left(const cb_io *io, int i, const cb_run_record *left,
                                 cubed_error *err)
{
    cb_stage_place p = {.store = NULL};
    const target_io *t = io->nodes[i].target;
    if (!*left->staged) return CUBED_OK;
    CB_TRY(cb_stage_open(t->store, path_of(io, i), left->run, left->staged, &p, err));
    cubed_status st = left->state == CB_RUN_COPYING ? cb_stage_copy(&p, &t->claim, err) : CUBED_OK;
    if (st == CUBED_OK && t->may_write) st = cb_stage_seize(&p, &t->claim, io->self.run, err);
    if (st == CUBED_OK && t->resumed && !t->done && *p.staged)
        st = cb_stage_move_chunks(p.store, p.staged, t->beside.staged, err);
    if (st == CUBED_OK && *p.staged) st = cb_stage_discard(&p, err);
    cb_store_close(p.store);
    return st;
}

/* Removes temporary files of killed writers, if the store needs no request and no permission to find them. In other stores
 * `cubed clean` removes them. */
static cubed_status sweep(cubed_store *s, const char *path, cubed_error *err)
{
    return s->vt->flags & CUBED_STORE_AT_ONCE ? cb_store_sweep(s, path, 0, NULL, NULL, err)
                                              : CUBED_OK;
}

/* Starts heartbeats, except in a run in parts. Such a run does not run all the time, so heartbeats are not expected. */
static cubed_status start_beats(cb_io *io, cubed_error *err)
{
    return io->self.detached ? CUBED_OK
                             : cb_beats_start(&io->plan->ctx->alloc, io->self.silence,
                                              cb_claim_beat, &io->beats, err);
}

static void end_beats(cb_io *io)
{
    cb_beats_end(io->beats);
    io->beats = NULL;
}

/* Claims a target. Starts heartbeats if the output of another run must be removed or copied, which may take long. */
static cubed_status claim_target(cb_io *io, int i, const char *staged, cubed_error *err)
{
    target_io *t = io->nodes[i].target;
    const bool was_left = !cb_version_is_none(&t->claim.version);
    CB_TRY(cb_claim_take(&t->claim, &io->self, staged, err));
    t->claimed = true;
    if (was_left && !io->beats) CB_TRY(start_beats(io, err));
    if (io->beats) cb_beats_add(io->beats, &t->claim);
    return CUBED_OK;
}

static cubed_status take_new(cb_io *io, int i, cubed_error *err)
{
    target_io *t = io->nodes[i].target;
    const cb_run_record left = t->claim.record;
    const bool was_left = !cb_version_is_none(&t->claim.version) && left.state != CB_RUN_DONE;
    CB_TRY(claim_target(io, i, t->replaces ? t->beside.staged : "", err));
    if (was_left) CB_TRY(discard_left(io, i, &left, err));
    if (t->replaces) return attach(io, i, err);
    /* The place has only the output of an unfinished run. Its grid may have chunks that the new array does not overwrite, so they
     * are removed. */
    if (was_left && !*left.staged)
        CB_TRY(t->may_write ? cb_stage_renew(&t->beside, &t->claim, false, err)
                            : cb_claim_remove_chunks(&t->claim, err));
    /* Sweep even without a record, because a run may have been killed before it had one. */
    CB_TRY(sweep(t->store, path_of(io, i), err));
    /* Check again, because another run may have finished in between. */
    CB_TRY(cb_zarr_check_absent(t->store, path_of(io, i), err));
    CB_TRY(cb_zarr_make_parents(t->store, path_of(io, i), io->plan->storage[i]->meta.format, false,
                                err));
    return attach(io, i, err);
}

/* Claims and opens an array whose chunks are replaced in place. The record names no plan, so no run resumes these chunks. */
static cubed_status take_update(cb_io *io, int i, cubed_error *err)
{
    const cb_run_self self = io->self;
    io->self.plan[0] = io->self.goal[0] = 0;
    io->self.sources = NULL;
    const cubed_status st = claim_target(io, i, "", err);
    memcpy(io->self.plan, self.plan, sizeof self.plan);
    memcpy(io->self.goal, self.goal, sizeof self.goal);
    io->self.sources = self.sources;
    if (st != CUBED_OK) return st;
    CB_TRY(sweep(io->nodes[i].target->store, path_of(io, i), err));
    CB_TRY(cb_update_begin(io, i, err));
    return attach(io, i, err);
}

/* Takes over the output of an earlier run of the plan, which may still write. Writes to a new place, which the processes of that
 * run cannot reach. */
static cubed_status take_away(cb_io *io, int i, const cb_run_record *left, cubed_error *err)
{
    target_io *t = io->nodes[i].target;
    CB_TRY(claim_target(io, i, t->replaces ? t->beside.staged : "", err));
    CB_TRY(t->replaces ? discard_left(io, i, left, err)
                       : cb_stage_renew(&t->beside, &t->claim, true, err));
    return attach(io, i, err);
}

static cubed_status take(cb_io *io, int i, cubed_error *err)
{
    target_io *t = io->nodes[i].target;
    const cb_run_record left = t->claim.record;
    if (t->updates) return take_update(io, i, err);
    if (is_result(io, i)) CB_TRY(cb_store_make_private(t->store, path_of(io, i), err));
    /* Opens the staging place before the claim. So if the place cannot be exchanged, it is not taken over from a run that may
     * still write. */
    if (t->replaces || (t->may_write && !t->done))
        CB_TRY(cb_stage_open(t->store, path_of(io, i), io->self.run,
                             (t->resumed && !t->may_write) || t->begun ? left.staged : NULL,
                             &t->beside, err));
    if (t->begun) return attach(io, i, err);
    if (!t->resumed) return take_new(io, i, err);
    if (t->may_write && !t->done) return take_away(io, i, &left, err);
    if (!t->done || left.state == CB_RUN_SWAPPED) {
        CB_TRY(claim_target(io, i, left.staged, err));
        /* The old array is already incomplete, so the copy has to be continued whatever happens. */
        if (left.state == CB_RUN_COPYING) CB_TRY(cb_claim_say(&t->claim, left.state, err));
    }
    if (t->done && left.state == CB_RUN_SWAPPED) CB_TRY(discard_left(io, i, &left, err));
    CB_TRY(attach(io, i, err));
    const cb_zarr_array *array = io->nodes[i].array;
    return sweep(cb_zarr_store(array), cb_zarr_path(array), err);
}

/* Chooses the run to resume: the run of an unfinished target, otherwise a run whose intermediates exist. */
static cubed_status choose_run(cb_io *io, cubed_error *err)
{
    for (int i = 0; i < io->plan->ir.nnodes; i++) {
        const target_io *t = io->nodes[i].target;
        if (!t || !t->resumed || t->done) continue;
        const cb_run_record *r = &t->claim.record;
        const bool same = strcmp(r->plan, io->self.plan) == 0;
        if (!t->late)
            memcpy(io->self.run, r->run, sizeof io->self.run);
        else if (same)
            cb_run_folder(r->plan, r->run, io->left);
        if (same || !io->plan->work_dir) return CUBED_OK;
        /* intermediates of another plan cannot be used */
        CB_TRY(cb_folder_open_work(io, err));
        return cb_run_forget_folder(io->work, r->plan, r->run, &io->self, io->zone, err);
    }
    if (!io->plan->work_dir) return CUBED_OK;
    CB_TRY(cb_folder_open_work(io, err));
    char run[CB_RUN_NAME_CAP];
    bool may_write;
    CB_TRY(cb_run_find_folder(io->plan, io->work, &io->self, io->zone, run, &may_write, err));
    if (*run && may_write)
        cb_run_folder(io->self.plan, run, io->left);
    else if (*run)
        memcpy(io->self.run, run, sizeof io->self.run);
    return CUBED_OK;
}

static bool all_done(const cb_io *io)
{
    bool any = false;
    for (int i = 0; i < io->plan->ir.nnodes; i++) {
        const cb_node *n = &io->plan->ir.nodes[i];
        if (!n->is_target) continue;
        if (!is_array(io, i) || !io->nodes[i].target->done) return false;
        any = true;
    }
    return any;
}

/* Checks that a region can be written. Partly covered chunks need a store that honours conditions, or a user who asserts that
 * there is no other writer. */
static cubed_status check_region(const cb_io *io, int i, cubed_error *err)
{
    const cb_storage *s = io->plan->storage[i];
    cubed_store *store = io->nodes[i].target->store;
    bool alone = true;
    if (cb_node_merged(io->plan, i, false) > 0)
        CB_TRY(cb_net_get_unconditional(&io->plan->ctx->stores.net, io->zone, s->place.store,
                                        &alone, err));
    return alone ? cb_zarr_check_writable(store, s->place.path, err)
                 : cb_zarr_check_conditions(store, s->place.path, err);
}

static cubed_status begin_region(cb_io *io, int i, cubed_error *err)
{
    const cb_storage *s = io->plan->storage[i];
    node_io *x = &io->nodes[i];
    x->target = cb_zone_alloc(io->zone, sizeof *x->target);
    if (!x->target) return cb_fail(err, CUBED_E_NOMEM, "no memory for a target");
    CB_TRY(cb_store_open(&io->plan->ctx->stores, s->place.store, io->plan->ir.nodes[i].durable,
                         &x->target->store, err));
    if (io->mode != CB_IO_WORKER) CB_TRY(check_region(io, i, err));
    return cb_zarr_attach(x->target->store, s->place.path, &s->meta, &x->array, err);
}

/* Decides which tasks run. An array that is not updated in place is replaced, if the plan allows that. */
static cubed_status decide_update(cb_io *io, cubed_error *err)
{
    CB_TRY(cb_update_decide(io, io->cancel, err));
    for (int i = 0; i < io->plan->ir.nnodes; i++) {
        target_io *t = io->nodes[i].target;
        if (!t) continue;
        t->updates = cb_update_is_in_place(io->update);
        if (t->replaces && !t->updates && !io->plan->ir.nodes[i].overwrite) {
            cubed_update report;
            cb_update_report(io->update, &report);
            CB_TRY(cb_context(err, cb_zarr_check_absent(t->store, path_of(io, i), err),
                              "update: everything has to be recomputed (%s), and the plan does not "
                              "overwrite its target",
                              report.why));
        }
        t->replaces = t->replaces && !t->updates;
    }
    return CUBED_OK;
}

static cubed_status begin(cb_io *io, bool resume, cubed_error *err)
{
    const cubed_plan *p = io->plan;
    const int n = p->ir.nnodes;
    for (int i = 0; i < n; i++) {
        if (is_array(io, i)) CB_TRY(look_at(io, i, resume, err));
    }
    if (io->mode != CB_IO_FINISH)
        CB_TRY(cb_groups_check(p->ctx, p->groups, p->ngroups, resume, err));
    if (io->asks_update) CB_TRY(decide_update(io, err));
    if (resume) CB_TRY(choose_run(io, err));
    cb_run_folder(io->self.plan, io->self.run, io->prefix);
    io->finished = resume && all_done(io);
    for (int i = 0; i < n; i++) {
        if (is_array(io, i)) CB_TRY(take(io, i, err));
        if (io->plan->ir.nodes[i].is_target && io->plan->ir.nodes[i].region)
            CB_TRY(begin_region(io, i, err));
    }
    return CUBED_OK;
}

cubed_status cb_targets_begin(cb_io *io, bool resume, cubed_error *err)
{
    const cubed_status st = begin(io, resume, err);
    end_beats(io);
    return st;
}

/* For a worker: opens a target, and checks that its place belongs to the worker's run. If it does not, the run is over. */
static cubed_status join(cb_io *io, int i, bool resumed, cubed_error *err)
{
    CB_TRY(open_place(io, i, err));
    target_io *t = io->nodes[i].target;
    const cb_run_record *r = &t->claim.record;
    if (cb_version_is_none(&t->claim.version) || strcmp(r->run, io->self.run) != 0 ||
        r->state != CB_RUN_WORKING)
        return unknown_run(io, i, err);
    if (is_of_other_version(&t->claim)) return refuse_other_version(io, i, "", err);
    t->replaces = *r->staged != 0;
    t->resumed = resumed;
    if (t->replaces)
        CB_TRY(cb_stage_open(t->store, path_of(io, i), r->run, r->staged, &t->beside, err));
    return attach(io, i, err);
}

cubed_status cb_targets_join(cb_io *io, bool resumed, cubed_error *err)
{
    cb_run_folder(io->self.plan, io->self.run, io->prefix);
    for (int i = 0; i < io->plan->ir.nnodes; i++) {
        if (is_array(io, i)) CB_TRY(join(io, i, resumed, err));
        if (io->plan->ir.nodes[i].is_target && io->plan->ir.nodes[i].region)
            CB_TRY(begin_region(io, i, err));
    }
    return CUBED_OK;
}

bool cb_targets_are_joined(const cb_io *io, bool recent)
{
    for (int i = 0; i < io->plan->ir.nnodes; i++) {
        if (!is_array(io, i)) continue;
        const target_io *t = io->nodes[i].target;
        if (recent && t->fence) continue;
        if (cb_claim_check_own(&t->claim, NULL) != CUBED_OK) return false;
    }
    return true;
}

/* --- The end ----------------------------------------------------------------------------------------- */

/* Returns the target if this run creates its array, which is invalid until it is complete. Otherwise returns NULL. */
static target_io *made(const cb_io *io, int i)
{
    target_io *t = io->nodes[i].target;
    return t && is_array(io, i) && !t->done ? t : NULL;
}

static cubed_status swap(const cb_io *io, int i, cubed_error *err)
{
    target_io *t = io->nodes[i].target;
    cb_beats_lock(io->beats);
    t->before = t->claim;
    cb_beats_unlock(io->beats);
    t->before.beats = NULL;
    CB_TRY(cb_zarr_make_parents(t->store, path_of(io, i), io->plan->storage[i]->meta.format, false,
                                err));
    CB_TRY(cb_stage_swap(&t->beside, &t->claim, t->place, err));
    t->swapped = true;
    return CUBED_OK;
}

/* Exchanges new arrays with the old arrays again. If this fails, the new arrays stay in place; they are complete. */
static void swap_back(const cb_io *io)
{
    for (int i = 0; i < io->plan->ir.nnodes; i++) {
        target_io *t = made(io, i);
        if (!t || !t->swapped || cb_claim_check_own(&t->claim, NULL) != CUBED_OK) continue;
        if (cb_store_swap(t->beside.store, t->beside.staged, t->beside.name, NULL) != CUBED_OK)
            continue;
        t->claim = t->before;
        t->swapped = false;
    }
}

/* Removes the replaced array, and releases the claim or marks it as done. Errors are not reported: the new array is in place, and
 * `cubed clean` removes the rest of the old array. */
static void release(const cb_io *io, int i)
{
    target_io *t = io->nodes[i].target;
    if (t->swapped && cb_stage_discard(&t->beside, NULL) != CUBED_OK) return;
    if (!io->remember || !*io->self.plan || io->asks_update ||
        metadata_version(io, i, &t->claim.record.made, NULL) != CUBED_OK) {
        cb_claim_release(&t->claim);
        return;
    }
    t->claim.record.staged[0] = 0;
    cubed_status ignored = cb_claim_say(&t->claim, CB_RUN_DONE, NULL);
    (void)ignored;
}

/* Checks that the claims of all targets are still this run's. *when: time of the first check. */
static cubed_status look_at_claims(const void *ctx, int64_t *when, cubed_error *err)
{
    const cb_io *io = ctx;
    bool first = true;
    *when = 0;
    for (int i = 0; i < io->plan->ir.nnodes; i++) {
        int64_t this_time;
        const target_io *t = made(io, i);
        if (!t || !t->claimed) continue;
        CB_TRY(cb_claim_check_when(&t->claim, &this_time, err));
        if (first) *when = this_time;
        first = false;
    }
    return CUBED_OK;
}

static cubed_status check_claims(const void *ctx, cubed_error *err)
{
    int64_t when;
    return look_at_claims(ctx, &when, err);
}

/* Sets the length of target number `i` if it extends an array: to the new length, or to the old one if `back` is set. */
static cubed_status set_length(const cb_io *io, int i, bool back, cubed_error *err)
{
    const int node = io->plan->targets[i];
    const cb_node *n = &io->plan->ir.nodes[node];
    const cb_storage *s = io->plan->storage[node];
    if (!n->region || !n->extends) return CUBED_OK;
    const int axis = n->extends - 1;
    const int64_t now = s->meta.shape[axis];
    return cb_zarr_set_length(io->nodes[node].target->store, s->place.path, s->meta.format, axis,
                              back ? now : s->length, back ? s->length : now, err);
}

/* Sets the new lengths of the arrays that this run extends. After an error, sets the old lengths again if possible. */
static cubed_status extend(const cb_io *io, cubed_error *err)
{
    for (int i = 0; i < io->plan->ntargets; i++) {
        const cubed_status st = set_length(io, i, false, err);
        if (st == CUBED_OK) continue;
        for (int k = i - 1; k >= 0; k--) {
            const cubed_status ignored = set_length(io, k, true, NULL);
            (void)ignored;
        }
        return st;
    }
    return CUBED_OK;
}

static cubed_status commit(cb_io *io, cubed_error *err)
{
    const int n = io->plan->ir.nnodes;
    const cb_zarr_fence fence = {.check = check_claims, .ctx = io};
    bool durable = false;
    CB_TRY(cb_run_check_unchanged(io->plan, err));
    if (cb_io_drives(io) && !cb_version_is_none(&io->folder.version))
        CB_TRY(cb_claim_check_own(&io->folder, err));
    /* Writes the state to each record, which renews the claims, and fails if another run has taken over a place. After that,
     * another run can take over only if this run writes no heartbeat for the time `silence`, if its process on this machine ends,
     * or with the option take_over. */
    for (int i = 0; i < n; i++) {
        target_io *t = made(io, i);
        if (t) CB_TRY(cb_claim_say(&t->claim, CB_RUN_COMMITTING, err));
    }
    for (int i = 0; i < n; i++) {
        durable = durable || io->plan->ir.nodes[i].durable;
        target_io *t = made(io, i);
        if (!t) continue;
        t->tried_commit = true;
        CB_TRY(cb_zarr_commit(io->nodes[i].array, err));
    }
    for (int i = 0; i < n; i++) {
        const target_io *t = made(io, i);
        if (t && t->replaces) CB_TRY(swap(io, i, err));
    }
    CB_TRY(extend(io, err));
    const cb_groups groups = {.list = io->plan->groups,
                              .n = io->plan->ngroups,
                              .durable = durable,
                              .memory = io->plan->allowed_mem - io->plan->reserved_mem,
                              .fence = &fence,
                              .look = look_at_claims};
    return cb_groups_make(io->plan->ctx, &groups, err);
}

cubed_status cb_io_commit(cb_io *io, cubed_error *err)
{
    const int n = io->plan->ir.nnodes;
    bool claimed = false;
    for (int i = 0; i < n; i++)
        claimed = claimed || (io->nodes[i].target && io->nodes[i].target->claimed);
    if (!claimed && io->finished) return CUBED_OK; /* an earlier run has completed everything */
    /* A run whose results are all in memory has no claims to renew, so it needs no thread for heartbeats. */
    if (claimed || !cb_version_is_none(&io->folder.version)) CB_TRY(start_beats(io, err));
    for (int i = 0; i < n && io->beats; i++) {
        target_io *t = made(io, i);
        if (t && t->claimed) cb_beats_add(io->beats, &t->claim);
    }
    if (io->beats && !cb_version_is_none(&io->folder.version)) cb_beats_add(io->beats, &io->folder);
    const cubed_status st = commit(io, err);
    for (int i = 0; i < n && st == CUBED_OK && io->update; i++) {
        if (made(io, i)) cb_update_end(io, i);
    }
    end_beats(io);
    if (st != CUBED_OK) {
        swap_back(io);
        return st;
    }
    io->committed = true;
    for (int i = 0; i < n; i++) {
        if (io->nodes[i].target && io->nodes[i].target->claimed) release(io, i);
    }
    return CUBED_OK;
}

/* Removes the chunks of a target whose run failed. Errors are not reported, because readers ignore chunks without metadata. An
 * anchored place is reached even if another directory has its name. */
static void remove_chunks(const cb_io *io, int i)
{
    const target_io *t = io->nodes[i].target;
    cubed_status ignored = t->place ? cb_zarr_remove_chunks(t->place, "", NULL, NULL, NULL)
                                    : cb_claim_remove_chunks(&t->claim, NULL);
    (void)ignored;
}

/* Removes the metadata of a target whose run failed. Returns false on failure. */
static bool remove_metadata(const cb_io *io, int i)
{
    static const char *const keys[] = {"zarr.json", ".zarray", ".zattrs"};
    const target_io *t = io->nodes[i].target;
    const cb_zarr_array *array = io->nodes[i].array;
    if (t->place) return cb_store_del_all(t->place, keys, 3, NULL) == CUBED_OK;
    return cb_claim_remove_documents(&t->claim, cb_zarr_store(array), cb_zarr_path(array),
                                     t->replaces ? t->beside.name : path_of(io, i),
                                     NULL) == CUBED_OK;
}

/* After another run has taken over the place, removes objects that this run put next to the array after the takeover. Does not
 * remove them if the record says that the other run resumes this run, because it then uses these objects. */
static void discard_late(const cb_io *io, int i)
{
    const target_io *t = io->nodes[i].target;
    cb_claim now;
    if (!t->fence || !t->replaces ||
        cb_claim_look(t->store, path_of(io, i), io->zone, &now, NULL) != CUBED_OK ||
        strcmp(now.record.staged, t->beside.staged) == 0)
        return;
    cubed_status ignored = cb_stage_discard(&t->beside, NULL);
    (void)ignored;
}

/* Removes or keeps the array of a target after the run ended early. */
static void abandon(const cb_io *io, int i)
{
    target_io *t = io->nodes[i].target;
    if (!t->claimed || t->begun || t->done || t->swapped || t->claim.record.state == CB_RUN_COPYING)
        return;
    if (cb_claim_check_own(&t->claim, NULL) != CUBED_OK) {
        discard_late(io, i);
        return;
    }
    cubed_status ignored = CUBED_OK;
    if (t->updates) { /* The array is valid. The next update computes the chunks that are missing. */
        cb_claim_release(&t->claim);
        return;
    }
    /* If the run failed at one of several targets, other targets may have been committed before. */
    const bool may_have_metadata = io->nodes[i].array && (t->tried_commit || t->resumed);
    const bool gone = !may_have_metadata || remove_metadata(io, i);
    if (gone && (io->keep & CUBED_KEEP_CHUNKS) && *io->self.plan) {
        ignored = cb_claim_say(&t->claim, CB_RUN_LEFT, NULL);
    } else if (gone && cb_claim_close(&t->claim, NULL) == CUBED_OK) {
        if (t->replaces)
            ignored = cb_stage_discard(&t->beside, NULL);
        else if (io->nodes[i].array)
            remove_chunks(io, i);
        cb_claim_release(&t->claim);
    }
    (void)ignored;
}

void cb_targets_end(cb_io *io)
{
    for (int i = 0; i < io->plan->ir.nnodes; i++) {
        node_io *x = &io->nodes[i];
        if (x->target && io->mode != CB_IO_WORKER && !io->committed && !io->self.detached)
            abandon(io, i);
        cb_zarr_close(x->array);
        if (!x->target) continue;
        cb_store_close(x->target->place);
        cb_store_close(x->target->beside.store);
        cb_store_close(x->target->store);
    }
}

/* Returns the seconds since the last heartbeat: the longer time by two clocks. One clock stops while the machine is suspended,
 * and the other may be changed by an administrator. */
static int64_t seconds_since(const cb_io *io)
{
    return cb_max_i64(cb_run_now() - io->beat_at, (cb_clock_boot_ns() - io->beat) / 1000000000);
}

static cubed_status beat(cb_io *io, cubed_error *err)
{
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st = CUBED_OK;
    for (int i = 0; i < io->plan->ir.nnodes && st != CUBED_E_EXISTS; i++) {
        target_io *t = io->nodes[i].target;
        if (t && t->claimed && !t->done) st = cb_claim_say(&t->claim, t->claim.record.state, &why);
    }
    if (st != CUBED_E_EXISTS && !cb_version_is_none(&io->folder.version))
        st = cb_claim_say(&io->folder, CB_RUN_WORKING, &why);
    /* after any error except CUBED_E_EXISTS, the heartbeats continue */
    if (st != CUBED_E_EXISTS) return CUBED_OK;
    if (err) *err = why;
    return st;
}

cubed_status cb_io_beat(cb_io *io, cubed_error *err)
{
    const bool first = io->beat == 0;
    if (!first && seconds_since(io) * 10 < io->self.silence) return CUBED_OK;
    io->beat = cb_clock_boot_ns();
    io->beat_at = cb_run_now();
    return first ? CUBED_OK : beat(io, err);
}

cubed_status cb_io_explain(const cb_io *io, cubed_status st, cubed_error *err)
{
    cubed_error lost = CUBED_ERROR_INIT;
    for (int i = 0; i < io->plan->ir.nnodes; i++) {
        const target_io *t = made(io, i);
        if (!t || !t->claimed || t->begun) continue;
        /* Compare run and owner, not the version, because the store may have executed a put that this run considers failed. */
        if (cb_claim_check_place(&t->claim, NULL, io->zone, &lost) != CUBED_E_EXISTS) continue;
        if (err) *err = lost;
        return CUBED_E_EXISTS;
    }
    return st;
}
