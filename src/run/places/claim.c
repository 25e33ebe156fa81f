#include "run/places/claim.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "run/places/beats.h"

cubed_status cb_claim_look(cubed_store *store, const char *path, cb_zone *zone, cb_claim *out,
                           cubed_error *err)
{
    out->store = store;
    out->path = path;
    out->place = NULL;
    out->beats = NULL;
    return cb_run_record_read(store, path, zone, &out->record, &out->version, err);
}

bool cb_claim_is_own(const cb_claim *c, const cb_run_self *self)
{
    return !cb_version_is_none(&c->version) && self->detached && c->record.detached &&
           (c->record.state == CB_RUN_WORKING || c->record.state == CB_RUN_COMMITTING) &&
           strcmp(c->record.run, self->run) == 0 && strcmp(c->record.plan, self->plan) == 0;
}

static void say_remedy(const cb_run_record *r, const cb_run_self *self, char *text, size_t cap)
{
    *text = 0;
    if (r->detached)
        snprintf(text, cap, ": finish that run, or remove it (cubed clean --detached)");
    else if (!cb_run_record_is_here(r))
        snprintf(text, cap,
                 ", whose last heartbeat is %" PRId64 " seconds old, and which counts as gone "
                 "after %" PRId64 " seconds: if it has ended, take the place over (--take-over, "
                 "take_over=True)",
                 cb_run_record_age(r), self->silence);
    else if (self->take_over)
        snprintf(text, cap,
                 ", which runs on this machine: end it, because a place is only taken over from "
                 "another machine");
}

cubed_status cb_claim_check_free(const cb_claim *c, const cb_run_self *self, cubed_error *err)
{
    char who[CB_RUN_WHO_CAP], remedy[256];
    if (cb_version_is_none(&c->version) || !cb_takeover_must_wait(self, &c->record) ||
        cb_claim_is_own(c, self))
        return CUBED_OK;
    cb_run_record_who(&c->record, who, sizeof who);
    say_remedy(&c->record, self, remedy, sizeof remedy);
    return cb_fail(err, CUBED_E_EXISTS, "%s%s%s is being written by %s%s", c->store->url,
                   *c->path ? "::" : "", c->path, who, remedy);
}

static bool is_of(const cb_run_record *r, const char *run, const char *owner)
{
    return strcmp(r->run, run) == 0 && strcmp(r->owner, owner) == 0;
}

/* Removes the record after a put that failed, because the store may have executed the put. Otherwise a record without a
 * running owner would stay. */
static void give_back(const cb_claim *c, const cb_run_self *self)
{
    cb_run_record there;
    cb_zone *zone;
    cubed_object_version version;
    if (cb_zone_new(c->store->alloc, &zone, NULL) != CUBED_OK) return;
    cubed_status ignored = cb_run_record_read(c->store, c->path, zone, &there, &version, NULL);
    if (ignored == CUBED_OK && !cb_version_is_none(&version) &&
        is_of(&there, self->run, self->owner))
        ignored = cb_run_record_remove(c->store, c->path, &version, NULL);
    (void)ignored;
    cb_zone_free(zone);
}

/* Returns an error, because another run that began at the same time has claimed the place first. The message names that run,
 * although it may have ended in the meantime. */
static cubed_status refuse_late(const cb_claim *c, const cb_run_self *self, cubed_error *err)
{
    cb_claim theirs = {0};
    cb_zone *zone;
    cubed_status st = CUBED_OK;
    bool gone = false;
    if (cb_zone_new(c->store->alloc, &zone, NULL) == CUBED_OK) {
        if (cb_claim_look(c->store, c->path, zone, &theirs, NULL) == CUBED_OK) {
            gone = cb_version_is_none(&theirs.version);
            st = cb_claim_check_free(&theirs, self, err);
        }
        cb_zone_free(zone);
    }
    if (st != CUBED_OK) return st;
    return cb_fail(err, CUBED_E_EXISTS, "another run has just %s %s%s%s%s",
                   gone ? "stopped writing" : "begun to write", c->store->url, *c->path ? "::" : "",
                   c->path, gone ? ": try again" : "");
}

static void introduce(cb_run_self *self)
{
    cb_owner owner;
    struct tm t;
    const time_t now = (time_t)cb_run_now();
    cb_owner_self(&owner);
    cb_owner_format(&owner, self->owner);
    if (!gmtime_r(&now, &t) ||
        strftime(self->since, sizeof self->since, "%Y-%m-%dT%H:%M:%SZ", &t) == 0)
        self->since[0] = 0;
}

cubed_status cb_claim_take(cb_claim *c, cb_run_self *self, const char *staged, cubed_error *err)
{
    if (!*self->owner) introduce(self);
    cb_run_record mine = {.state = CB_RUN_WORKING,
                          .detached = self->detached,
                          .elsewhere = self->elsewhere,
                          .cubed = CUBED_VERSION_STRING,
                          .beat = cb_run_now()};
    cubed_error why = CUBED_ERROR_INIT;
    snprintf(mine.plan, sizeof mine.plan, "%s", self->plan);
    snprintf(mine.goal, sizeof mine.goal, "%s", self->goal);
    snprintf(mine.run, sizeof mine.run, "%s", self->run);
    snprintf(mine.owner, sizeof mine.owner, "%s", self->owner);
    snprintf(mine.since, sizeof mine.since, "%s", self->since);
    snprintf(mine.staged, sizeof mine.staged, "%s", staged);
    mine.sources = self->sources;
    mine.all =
        !cb_version_is_none(&c->version) && (c->record.all || cb_run_record_may_write(&c->record));
    mine.format = c->format;
    cubed_status st = cb_run_record_write(c->store, c->path, &mine, &c->version, &why);
    if (st == CUBED_OK) {
        c->record = mine;
        return CUBED_OK;
    }
    if (st != CUBED_E_EXISTS) {
        give_back(c, self);
        if (err) *err = why;
        return st;
    }
    return refuse_late(c, self, err);
}

static cubed_status was_taken(const cubed_store *store, const char *path, cubed_error *err)
{
    return cb_fail(err, CUBED_E_EXISTS,
                   "%s%s%s was taken over while this run was writing it: another run, or a "
                   "clean-up, assumed that this run had ended",
                   store->url, *path ? "::" : "", path);
}

/* Checks that the record at the place is still the record of this claim. *when receives the time of the check by the service's
 * clock (cubed_object_info.replied). */
static cubed_status look_at_version(const cb_claim *c, bool *own, int64_t *when, cubed_error *err)
{
    char key[4096];
    cubed_object_info info;
    CB_TRY(cb_key_join(key, sizeof key, c->path, CB_RUN_RECORD, err));
    CB_TRY(cb_store_find(c->store, key, &info, err));
    *own = cb_version_equal(&info.version, &c->version);
    *when = info.replied;
    return CUBED_OK;
}

static cubed_status find_version(const cb_claim *c, bool *own, cubed_error *err)
{
    int64_t when;
    return look_at_version(c, own, &when, err);
}

cubed_status cb_claim_check_when(const cb_claim *c, int64_t *when, cubed_error *err)
{
    bool own = false;
    cb_beats_lock(c->beats);
    const cubed_status st = look_at_version(c, &own, when, err);
    cb_beats_unlock(c->beats);
    return st == CUBED_OK && !own ? was_taken(c->store, c->path, err) : st;
}

cubed_status cb_claim_check_own(const cb_claim *c, cubed_error *err)
{
    int64_t when;
    return cb_claim_check_when(c, &when, err);
}

/* State of a removal of objects under the protection of a claim. */
typedef struct removal {
    const cb_claim *c;
    cubed_store *store;
    const char *guard; /* key of the record in the store */
    cb_store_wants_fn wants;
    void *ctx;
    bool changed; /* some objects were replaced by other objects after they were listed */
} removal;

/* Maximum number of times that the objects are listed and removed, if some are replaced by other objects in between. */
enum { OTHERS_CHANGED = 5 };

/* Deletes a batch of objects. The caller holds the lock, so that no heartbeat changes the version of the record on which the
 * deletion depends. */
static cubed_status delete_some(removal *x, const char *const *keys, const char *const *versions,
                                size_t n, cubed_error *err)
{
    bool own = false;
    const cb_claim *c = x->c;
    const bool guards = x->store->vt->flags & CUBED_STORE_GUARDS;
    const bool conditions = x->store->vt->flags & CUBED_STORE_DELETES_IF;
    cubed_store_request r = {.op = CUBED_STORE_DELETE,
                             .keys = keys,
                             .nkeys = n,
                             .versions = conditions ? versions : NULL,
                             .guard = guards ? x->guard : NULL,
                             .guard_version = c->version.text};
    cubed_error why = CUBED_ERROR_INIT;
    if (!guards) {
        CB_TRY(look_at_version(c, &own, &r.looked, err));
        if (!own) return was_taken(c->store, c->path, err);
    }
    const cubed_status st = cb_store_do(x->store, &r, &why);
    if (st == CUBED_E_EXISTS && !guards) {
        CB_TRY(find_version(c, &own, err));
        x->changed = own;
    }
    if (st == CUBED_E_EXISTS) return own ? CUBED_OK : was_taken(c->store, c->path, err);
    if (st != CUBED_OK && err) *err = why;
    return st;
}

static cubed_status delete_batch(void *ctx, const char *const *keys, const char *const *versions,
                                 size_t n, cubed_error *err)
{
    removal *x = ctx;
    cb_beats_lock(x->c->beats);
    const cubed_status st = delete_some(x, keys, versions, n, err);
    cb_beats_unlock(x->c->beats);
    return st;
}

static bool is_wanted(void *ctx, const char *key)
{
    const removal *x = ctx;
    return x->wants(x->ctx, key);
}

cubed_status cb_claim_remove(const cb_claim *c, cubed_store *store, const char *path,
                             cb_store_wants_fn wants, void *ctx, cubed_error *err)
{
    char guard[4096];
    removal x = {.c = c, .store = store, .guard = guard, .wants = wants, .ctx = ctx};
    CB_TRY(cb_key_join(guard, sizeof guard, path, CB_RUN_RECORD, err));
    for (int i = 0; i < OTHERS_CHANGED; i++) {
        x.changed = false;
        CB_TRY(cb_store_list_batches(store, path, is_wanted, delete_batch, &x, err));
        if (!x.changed) return CUBED_OK;
    }
    return cb_fail(err, CUBED_E_IO,
                   "%s%s%s: another process replaced objects %d times while they "
                   "were removed; make sure that no other program writes there",
                   store->url, *path ? "::" : "", path, OTHERS_CHANGED);
}

static bool is_chunk(void *ctx, const char *key)
{
    const size_t *skip = ctx;
    return cb_zarr_may_be_chunk(key + *skip);
}

cubed_status cb_claim_remove_chunks(const cb_claim *c, cubed_error *err)
{
    size_t skip = *c->path ? strlen(c->path) + 1 : 0;
    return cb_claim_remove(c, c->store, c->path, is_chunk, &skip, err);
}

cubed_status cb_claim_remove_documents(const cb_claim *c, cubed_store *store, const char *path,
                                       const char *record_path, cubed_error *err)
{
    static const char *const names[] = {"zarr.json", ".zarray", ".zattrs"};
    char key[3][4096], guard[4096];
    const char *keys[3], *versions[3];
    cubed_object_info info[3];
    size_t n = 0;
    removal x = {.c = c, .store = store, .guard = guard};
    CB_TRY(cb_key_join(guard, sizeof guard, record_path, CB_RUN_RECORD, err));
    for (size_t i = 0; i < 3; i++) {
        CB_TRY(cb_key_join(key[n], sizeof key[n], path, names[i], err));
        CB_TRY(cb_store_find(store, key[n], &info[n], err));
        if (cb_version_is_none(&info[n].version)) continue;
        keys[n] = key[n];
        versions[n] = info[n].version.text;
        n++;
    }
    if (n > 0) CB_TRY(delete_batch(&x, keys, versions, n, err));
    return !x.changed ? CUBED_OK
                      : cb_fail(err, CUBED_E_EXISTS,
                                "%s%s%s: another process replaced metadata while they were removed",
                                store->url, *path ? "::" : "", path);
}

static cubed_status check_fence(const void *ctx, cubed_error *err)
{
    const cb_claim_fence *f = ctx;
    cb_run_record r;
    cubed_object_version version;
    cb_zone *zone;
    CB_TRY(cb_zone_new(f->store->alloc, &zone, err));
    cubed_status st = cb_run_record_read(f->store, f->path, zone, &r, &version, err);
    cb_zone_free(zone);
    if (st != CUBED_OK) return st;
    /* Also compares owner and start time, because a run that resumes another run has the same name but another owner. */
    if (!cb_version_is_none(&version) && is_of(&r, f->run, f->owner) &&
        strcmp(r.since, f->since) == 0)
        return CUBED_OK;
    return was_taken(f->store, f->path, err);
}

void cb_claim_get_fence(const cb_claim *c, bool in_parts, cb_claim_fence *out)
{
    *out = (cb_claim_fence){.store = c->store, .path = c->path};
    out->zarr = (cb_zarr_fence){.check = check_fence,
                                .ctx = out,
                                .in_parts = in_parts && c->store->vt->flags &
                                                            CUBED_STORE_CONDITIONS_IN_ONE_PIECE,
                                .all = c->record.all};
    cb_beats_lock(c->beats);
    memcpy(out->run, c->record.run, sizeof out->run);
    memcpy(out->owner, c->record.owner, sizeof out->owner);
    memcpy(out->since, c->record.since, sizeof out->since);
    cb_beats_unlock(c->beats);
}

cubed_status cb_claim_check_place(const cb_claim *c, cubed_store *place, cb_zone *zone,
                                  cubed_error *err)
{
    cb_claim there = {0};
    CB_TRY(cb_claim_look(place ? place : c->store, place ? "" : c->path, zone, &there, err));
    cb_beats_lock(c->beats);
    const bool own = is_of(&there.record, c->record.run, c->record.owner);
    cb_beats_unlock(c->beats);
    return own ? CUBED_OK : was_taken(c->store, c->path, err);
}

void cb_claim_set_place(cb_claim *c, cubed_store *place)
{
    cb_beats_lock(c->beats);
    c->place = place;
    cb_beats_unlock(c->beats);
}

/* Reads the version of the record after a put that failed. The store may have executed the put: then the record is this run's,
 * with a new version. */
static void note_version(cb_claim *c)
{
    cb_claim there = {0};
    cb_zone *zone;
    if (cb_zone_new(c->store->alloc, &zone, NULL) != CUBED_OK) return;
    if (cb_claim_look(c->place ? c->place : c->store, c->place ? "" : c->path, zone, &there,
                      NULL) == CUBED_OK &&
        is_of(&there.record, c->record.run, c->record.owner)) {
        c->version = there.version;
        c->record.state = there.record.state;
    }
    cb_zone_free(zone);
}

static cubed_status replace_record(cb_claim *c, const cb_run_record *r, cubed_error *err)
{
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st = cb_run_record_write(c->place ? c->place : c->store, c->place ? "" : c->path,
                                          r, &c->version, &why);
    if (st == CUBED_OK) c->record = *r;
    if (st == CUBED_E_EXISTS) return was_taken(c->store, c->path, err);
    if (st != CUBED_OK) note_version(c);
    if (st != CUBED_OK && err) *err = why;
    return st;
}

static cubed_status say(cb_claim *c, cb_run_state state, cubed_error *err)
{
    cb_run_record r = c->record;
    r.state = state;
    r.beat = cb_run_now();
    return replace_record(c, &r, err);
}

cubed_status cb_claim_say(cb_claim *c, cb_run_state state, cubed_error *err)
{
    cb_beats_lock(c->beats);
    const cubed_status st = say(c, state, err);
    cb_beats_unlock(c->beats);
    return st;
}

cubed_status cb_claim_beat(cb_claim *c)
{
    return cb_version_is_none(&c->version) ? CUBED_OK : say(c, c->record.state, NULL);
}

static void drop(cb_claim *c)
{
    bool own = false;
    if (cb_version_is_none(&c->version) || find_version(c, &own, NULL) != CUBED_OK || !own) return;
    /* Ignores errors: if the record stays, the next run takes it over, because the owner of the record will have ended. */
    cubed_status ignored = cb_run_record_remove(c->place ? c->place : c->store,
                                                c->place ? "" : c->path, &c->version, NULL);
    char none[4096];
    /* Deleting a nonexistent key removes empty directories above it. */
    if (c->place && cb_key_join(none, sizeof none, c->path, CB_RUN_NO_OBJECT, NULL) == CUBED_OK)
        ignored = cb_store_del(c->store, none, NULL);
    (void)ignored;
    c->version = (cubed_object_version){""};
}

void cb_claim_drop(cb_claim *c)
{
    cb_beats_lock(c->beats);
    drop(c);
    cb_beats_unlock(c->beats);
}

/* Removes plan, goal and sources from the record if the store needs a fence; otherwise only checks the claim. Does not change
 * the time of the last heartbeat, because the owner may have ended, and the caller be another run. */
cubed_status cb_claim_close(cb_claim *c, cubed_error *err)
{
    if (!cb_claim_needs_fence(c->store)) return cb_claim_check_own(c, err);
    cb_beats_lock(c->beats);
    cb_run_record r = c->record;
    r.plan[0] = r.goal[0] = 0;
    r.sources = NULL;
    const cubed_status st = replace_record(c, &r, err);
    cb_beats_unlock(c->beats);
    return st;
}

cubed_status cb_claim_mark(cb_claim *c, cubed_error *err)
{
    cb_run_record *r = &c->record;
    r->plan[0] = r->goal[0] = r->staged[0] = 0;
    r->sources = NULL;
    r->made = (cubed_object_version){""};
    r->all = true;
    r->elsewhere = r->detached = false;
    return cb_claim_say(c, CB_RUN_DONE, err);
}

void cb_claim_release(cb_claim *c)
{
    if (!c->record.all || !cb_claim_needs_fence(c->store)) {
        cb_claim_drop(c);
        return;
    }
    cubed_status ignored = cb_claim_mark(c, NULL);
    (void)ignored;
}
