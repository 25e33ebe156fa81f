/* Finds and removes files and records of runs that have ended without removing them. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "context/context.h"
#include "cubed/run.h"
#include "plan/plan.h"
#include "run/places/self.h"

typedef struct paths {
    char **path; /* paths relative to the root of the store */
    int n, cap;
} paths;

typedef struct leftovers {
    cb_zone *zone;
    paths recorded; /* places at which a run has left its record */
    paths beside;   /* arrays that were created next to the arrays that they replace */
    paths folders;  /* folders that have names of run folders */
} leftovers;

static cubed_status add(cb_zone *zone, paths *l, const char *key, size_t length, cubed_error *err)
{
    if (!cb_zone_grow(zone, &l->path, l->n, &l->cap, sizeof *l->path))
        return cb_fail(err, CUBED_E_NOMEM, "no memory for a list of leftovers");
    char *path = cb_zone_alloc(zone, length + 1);
    if (!path) return cb_fail(err, CUBED_E_NOMEM, "no memory for a list of leftovers");
    memcpy(path, key, length);
    path[length] = 0;
    l->path[l->n++] = path;
    return CUBED_OK;
}

/* Adds the path that ends with the component at `name`, unless the last path of the list is equal. Keys below one folder follow
 * each other, so no other path can be equal. */
static cubed_status add_folder(cb_zone *zone, paths *l, const char *key, const char *name,
                               cubed_error *err)
{
    const size_t n = (size_t)(name - key) + strcspn(name, "/");
    const char *last = l->n ? l->path[l->n - 1] : "";
    if (strncmp(last, key, n) == 0 && last[n] == 0) return CUBED_OK;
    return add(zone, l, key, n, err);
}

static cubed_status look(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    leftovers *l = ctx;
    (void)size;
    for (const char *name = key; name; name = strchr(name, '/'), name = name ? name + 1 : NULL) {
        if (cb_stage_replaces(name)) return add_folder(l->zone, &l->beside, key, name, err);
        if (strchr(name, '/') && cb_run_names_folder(name))
            CB_TRY(add_folder(l->zone, &l->folders, key, name, err));
    }
    const char *name = strrchr(key, '/');
    if (strcmp(name ? name + 1 : key, CB_RUN_RECORD) != 0) return CUBED_OK;
    return add(l->zone, &l->recorded, key, name ? (size_t)(name - key) : 0, err);
}

typedef struct cleaning {
    cubed_store *store;
    cb_zone *zone;
    unsigned flags;
    /* only the options of takeovers are set; they determine which runs of other machines count as ended */
    cb_run_self self;
    cubed_clean_fn fn;
    void *fn_ctx;
} cleaning;

static void tell(const cleaning *c, const char *path, cubed_leftover what)
{
    if (c->fn) c->fn(c->fn_ctx, path, what);
}

static cubed_status tell_file(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    (void)size;
    (void)err;
    const cleaning *c = ctx;
    tell(c, key,
         c->store->vt->flags & CUBED_STORE_AT_ONCE ? CUBED_LEFTOVER_FILE : CUBED_LEFTOVER_UPLOAD);
    return CUBED_OK;
}

static cubed_status sweep(const cleaning *c, cubed_store *s, const char *path, unsigned flags,
                          cubed_error *err)
{
    const unsigned dry = c->flags & CUBED_CLEAN_DRY_RUN ? CUBED_SWEEP_DRY_RUN : 0;
    return cb_store_sweep(s, path, flags | dry, tell_file, (void *)(uintptr_t)c, err);
}

/* Removes unfinished writes of a run that has ended. Without CUBED_SWEEP_ALONE, stores that cannot identify the writer would keep
 * these writes for a day. */
static cubed_status sweep_of_run(const cleaning *c, const char *path, cubed_error *err)
{
    return c->store->vt->flags & CUBED_STORE_AT_ONCE
               ? CUBED_OK
               : sweep(c, c->store, path, CUBED_SWEEP_ALONE, err);
}

static bool may_write(const cleaning *c, const cb_claim *claim)
{
    return cb_store_has_places(c->store) && cb_run_record_may_write(&claim->record);
}

/* Removes an array next to its final place: an unfinished new array, or the old array that was replaced. Before that, completes
 * the copy of a complete new array to the final place. Reports the path of the final place. */
static cubed_status remove_adjacent(const cleaning *c, cb_claim *claim, cubed_error *err)
{
    cb_stage_place p = {.store = NULL};
    tell(c, claim->path, CUBED_LEFTOVER_CHUNKS);
    if (c->flags & CUBED_CLEAN_DRY_RUN) return CUBED_OK;
    CB_TRY(cb_claim_close(claim, err));
    CB_TRY(cb_stage_open(c->store, claim->path, claim->record.run, claim->record.staged, &p, err));
    cubed_status st =
        claim->record.state == CB_RUN_COPYING ? cb_stage_copy(&p, claim, err) : CUBED_OK;
    if (st == CUBED_OK && !(p.store->vt->flags & CUBED_STORE_AT_ONCE))
        st = sweep(c, p.store, p.staged, CUBED_SWEEP_ALONE, err);
    if (st == CUBED_OK && may_write(c, claim))
        st = cb_stage_seize(&p, claim, claim->record.run, err);
    if (st == CUBED_OK && *p.staged) st = cb_stage_discard(&p, err);
    cb_store_close(p.store);
    return st;
}

/* Removes the whole place of an unfinished array or file, so that late writes of its run cannot reach an object that gets the
 * same name. If `is_array` is set, files that do not belong to Zarr are moved back. */
static cubed_status remove_place(const cleaning *c, const cb_claim *claim, bool is_array,
                                 cubed_error *err)
{
    cb_stage_place p = {.store = NULL};
    cb_claim moved;
    CB_TRY(cb_stage_open(c->store, claim->path, claim->record.run, NULL, &p, err));
    cubed_status st = cb_store_swap(p.store, p.name, p.staged, err);
    if (st == CUBED_OK) st = cb_claim_look(p.store, p.staged, c->zone, &moved, err);
    if (st == CUBED_OK && cb_version_equal(&moved.version, &claim->version))
        st = is_array ? cb_stage_discard(&p, err) : cb_store_clear(p.store, p.staged, err);
    else if (st == CUBED_OK) /* the run that owns the folder has not ended */
        st = cb_store_swap(p.store, p.staged, p.name, err);
    cb_store_close(p.store);
    return st;
}

/* Ends the claim of a run that has ended. `forced`: the user asserts that no process of the run exists. */
static cubed_status end_claim(const cleaning *c, cb_claim *claim, bool forced, cubed_error *err)
{
    const bool late = claim->record.all || cb_run_record_may_write(&claim->record);
    if (late && !forced && cb_claim_needs_fence(c->store)) return cb_claim_mark(claim, err);
    return cb_run_record_remove(c->store, claim->path, &claim->version, err);
}

static cubed_status clean_target(const cleaning *c, cb_claim *claim, bool forced, cubed_error *err)
{
    cb_zarr_kind kind;
    int format;
    const bool dry = c->flags & CUBED_CLEAN_DRY_RUN;
    CB_TRY(cb_zarr_probe(c->store, claim->path, &kind, &format, err));
    if (*claim->record.staged) {
        CB_TRY(remove_adjacent(c, claim, err));
    } else if (kind == CB_ZARR_NOTHING) {
        tell(c, claim->path, CUBED_LEFTOVER_CHUNKS);
        if (!dry && may_write(c, claim)) return remove_place(c, claim, true, err);
        if (!dry) CB_TRY(cb_claim_close(claim, err));
        if (!dry) CB_TRY(cb_claim_remove_chunks(claim, err));
    }
    /* If metadata exists, the run was killed while it finished, or another program has created the array. In both cases only the
     * record is removed. */
    return dry ? CUBED_OK : end_claim(c, claim, forced, err);
}

/* Returns true if the record belongs to a directory in which a process creates a result file. */
static bool is_of_new_file(const char *name, const cb_run_record *r)
{
    const size_t n = strlen(name), k = strlen(CB_NEW_FILE_SUFFIX);
    return n > k && strcmp(name + n - k, CB_NEW_FILE_SUFFIX) == 0 && r->format == 0 && *r->run;
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static cubed_status clean_one(const cleaning *c, const char *path, cubed_error *err)
{
    cb_claim claim;
    const char *name = last_name(*path ? path : c->store->url);
    CB_TRY(cb_claim_look(c->store, path, c->zone, &claim, err));
    if (cb_version_is_none(&claim.version)) return CUBED_OK;
    if (claim.record.state == CB_RUN_DONE) {
        const bool is_mark = claim.record.all && !*claim.record.plan;
        return is_mark && c->self.take_over && !(c->flags & CUBED_CLEAN_DRY_RUN)
                   ? cb_run_record_remove(c->store, path, &claim.version, err)
                   : CUBED_OK;
    }
    const bool asked = claim.record.detached && (c->flags & CUBED_CLEAN_DETACHED);
    if (cb_takeover_must_wait(&c->self, &claim.record) && !asked) {
        if (claim.record.detached) tell(c, path, CUBED_LEFTOVER_RUN);
        return CUBED_OK;
    }
    bool safe = true;
    if (!asked && !c->self.take_over && !(c->flags & CUBED_CLEAN_DRY_RUN))
        CB_TRY(cb_takeover_is_safe(&claim, &safe, err));
    if (!safe) {
        tell(c, path, CUBED_LEFTOVER_SILENT);
        return CUBED_OK;
    }
    CB_TRY(sweep_of_run(c, path, err));
    if (is_of_new_file(name, &claim.record)) {
        tell(c, path, CUBED_LEFTOVER_CHUNKS);
        return c->flags & CUBED_CLEAN_DRY_RUN ? CUBED_OK : remove_place(c, &claim, false, err);
    }
    if (!cb_run_is_folder(name, &claim.record))
        return clean_target(c, &claim, asked || c->self.take_over, err);
    tell(c, path, CUBED_LEFTOVER_INTERMEDIATES);
    return c->flags & CUBED_CLEAN_DRY_RUN ? CUBED_OK : cb_store_clear(c->store, path, err);
}

/* Removes an array that was created to replace another array, unless the record of the other array names it. An array that a
 * record names is removed together with that record. */
static cubed_status clean_beside(const cleaning *c, const char *path, cubed_error *err)
{
    char target[4096];
    cb_claim claim;
    const char *name = strrchr(path, '/');
    const size_t n = name ? (size_t)(name - path) + 1 : 0;
    CB_TRY(cb_key_join(target, sizeof target, "", path, err));
    memmove(target + n, cb_stage_replaces(path + n), strlen(cb_stage_replaces(path + n)) + 1);
    CB_TRY(cb_claim_look(c->store, target, c->zone, &claim, err));
    if (!cb_version_is_none(&claim.version) && strcmp(claim.record.staged, path + n) == 0)
        return CUBED_OK;
    CB_TRY(sweep_of_run(c, path, err));
    tell(c, path, CUBED_LEFTOVER_CHUNKS);
    return c->flags & CUBED_CLEAN_DRY_RUN ? CUBED_OK : cb_store_clear(c->store, path, err);
}

/* Removes a folder with late writes of a worker whose run has ended. The run removed its folder and its record before these
 * writes. */
static cubed_status clean_folder(const cleaning *c, const char *path, cubed_error *err)
{
    cb_claim claim;
    CB_TRY(cb_claim_look(c->store, path, c->zone, &claim, err));
    if (!cb_version_is_none(&claim.version)) return CUBED_OK;
    CB_TRY(sweep_of_run(c, path, err));
    tell(c, path, CUBED_LEFTOVER_INTERMEDIATES);
    return c->flags & CUBED_CLEAN_DRY_RUN ? CUBED_OK : cb_store_clear(c->store, path, err);
}

typedef struct emptier {
    const cleaning *c;
    const char *path;
} emptier;

/* Removes the empty directory of a process that was killed before it wrote the record. Deleting a nonexistent key in the
 * directory removes it only if it is empty. */
static cubed_status remove_empty(void *ctx, const char *name, bool is_prefix, cubed_error *err)
{
    const emptier *e = ctx;
    char folder[4096], key[4096];
    if (!is_prefix || !cb_run_names_folder(name)) return CUBED_OK;
    CB_TRY(cb_key_join(folder, sizeof folder, e->path, name, err));
    CB_TRY(cb_key_join(key, sizeof key, folder, CB_RUN_NO_OBJECT, err));
    return cb_store_del(e->c->store, key, err);
}

cubed_status cubed_unfinished_format(cubed_context *ctx, const char *url, int *format,
                                     cubed_error *err)
{
    cb_place place;
    cb_claim claim;
    cubed_store *store = NULL;
    cubed_status st;
    cb_zone *zone;
    *format = 0;
    CB_TRY(cb_zone_new(&ctx->alloc, &zone, err));
    CB_GO(cb_place_parse(zone, url, &place, err));
    CB_GO(cb_place_open(&ctx->stores, &place, false, &store, err));
    CB_GO(cb_claim_look(store, place.path, zone, &claim, err));
    *format = claim.record.format;
out:
    cb_store_close(store);
    cb_zone_free(zone);
    return st;
}

cubed_status cubed_clean(cubed_context *ctx, const char *url, unsigned flags,
                         const cubed_takeover_options *takeover, cubed_clean_fn fn, void *fn_ctx,
                         cubed_error *err)
{
    cb_place place;
    leftovers l = {.zone = NULL};
    cleaning c = {.flags = flags, .fn = fn, .fn_ctx = fn_ctx};
    cubed_status st;
    if (flags & ~(CUBED_CLEAN_DRY_RUN | CUBED_CLEAN_DETACHED))
        return cb_fail(err, CUBED_E_ARG, "flags is %u, expected CUBED_CLEAN_*", flags);
    CB_TRY(cb_takeover_read(&c.self, takeover, err));
    CB_TRY(cb_zone_new(&ctx->alloc, &l.zone, err));
    c.zone = l.zone;
    CB_GO(cb_place_parse(l.zone, url, &place, err));
    CB_GO(cb_place_open(&ctx->stores, &place, false, &c.store, err));
    CB_GO(cb_store_list(c.store, place.path, look, &l, err));
    CB_GO(sweep(&c, c.store, place.path, 0, err));
    for (int i = 0; i < l.folders.n; i++) CB_GO(clean_folder(&c, l.folders.path[i], err));
    for (int i = 0; i < l.beside.n; i++) CB_GO(clean_beside(&c, l.beside.path[i], err));
    for (int i = 0; i < l.recorded.n; i++) CB_GO(clean_one(&c, l.recorded.path[i], err));
    emptier e = {&c, place.path};
    if (!(flags & CUBED_CLEAN_DRY_RUN))
        CB_GO(cb_store_members(c.store, place.path, remove_empty, &e, err));
out:
    cb_store_close(c.store);
    cb_zone_free(l.zone);
    return st;
}
