/* Arrays that replace other arrays. A new array is created next to the old array, and is moved to the place of the old array
 * when it is complete. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "run/places/beats.h"
#include "run/places/sources_record.h"

#define PREFIX ".cubed-new-"

const char *cb_stage_replaces(const char *name)
{
    if (strncmp(name, PREFIX, sizeof PREFIX - 1) != 0) return NULL;
    const char *rest = name + strcspn(name, "~/");
    return *rest == '~' && rest[1] && rest[1] != '/' ? rest + 1 : NULL;
}

cubed_status cb_stage_open(cubed_store *store, const char *path, const char *run,
                           const char *staged, cb_stage_place *out, cubed_error *err)
{
    CB_TRY(cb_store_around(store, path, &out->store, out->name, sizeof out->name, err));
    int n = staged && *staged
                ? snprintf(out->staged, sizeof out->staged, "%s", staged)
                : snprintf(out->staged, sizeof out->staged, PREFIX "%s~%s", run, out->name);
    if (n > 0 && (size_t)n < sizeof out->staged && cb_stage_replaces(out->staged)) return CUBED_OK;
    cb_store_close(out->store);
    out->store = NULL;
    if (staged && *staged)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the record of a run at %s is damaged: it names \"%s\" as its replacement",
                       out->name, staged);
    return cb_fail(err, CUBED_E_ARG, "%s: the name of an array that replaces it is too long",
                   out->name);
}

/* --- Replacing in stores that cannot rename ------------------------------------------------------ */

static bool is_document(const char *name);

typedef struct key_pairs {
    cb_zone *zone;
    const cb_stage_place *p;
    char **from, **to;
    int n, cap, cap_to;
    bool documents; /* true to collect metadata documents, false to collect all other keys */
} key_pairs;

static cubed_status add_pair(key_pairs *l, const char *key, const char *to, cubed_error *err)
{
    if (!cb_zone_grow(l->zone, &l->from, l->n, &l->cap, sizeof *l->from) ||
        !cb_zone_grow(l->zone, &l->to, l->n, &l->cap_to, sizeof *l->to))
        return cb_fail(err, CUBED_E_NOMEM, "no memory for a list of objects");
    l->from[l->n] = cb_zone_strdup(l->zone, key);
    l->to[l->n] = cb_zone_strdup(l->zone, to);
    if (!l->from[l->n] || !l->to[l->n])
        return cb_fail(err, CUBED_E_NOMEM, "no memory for a list of objects");
    l->n++;
    return CUBED_OK;
}

/* Adds a staged key and its destination. */
static cubed_status add_staged(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    key_pairs *l = ctx;
    char to[4096];
    const char *rest = key + strlen(l->p->staged) + 1;
    (void)size;
    if (strcmp(rest, CB_RUN_RECORD) == 0 || is_document(rest) != l->documents) return CUBED_OK;
    CB_TRY(cb_key_join(to, sizeof to, l->p->name, rest, err));
    return add_pair(l, key, to, err);
}

/* Arguments of is_old(): which objects of the old array it selects. */
typedef struct old_objects {
    const cb_stage_place *p;
    bool documents; /* true to select metadata documents, false to select all other objects */
} old_objects;

/* Selects objects that belong to Zarr, except the record. */
static bool is_old(void *ctx, const char *key)
{
    const old_objects *o = ctx;
    const char *part = key + strlen(o->p->name) + 1;
    if (strcmp(part, CB_RUN_RECORD) == 0) return false;
    for (; strchr(part, '/'); part = strchr(part, '/') + 1) {
        char name[256] = "";
        const size_t n = strcspn(part, "/");
        if (n < sizeof name) memcpy(name, part, n);
        if (n < sizeof name && cb_zarr_may_be_chunk(name)) return !o->documents;
    }
    return o->documents ? is_document(part) : !is_document(part) && cb_zarr_may_be_chunk(part);
}

/* Removes the objects of the old array as long as the claim is valid. Otherwise a run that was suspended after it listed objects
 * could delete the objects of another run. */
static cubed_status remove_old(const cb_stage_place *p, const cb_claim *c, bool documents,
                               cubed_error *err)
{
    old_objects o = {p, documents};
    return cb_claim_remove(c, p->store, p->name, is_old, &o, err);
}

static cubed_status copy_staged(const cb_stage_place *p, cb_zone *zone, bool documents,
                                cubed_error *err)
{
    key_pairs l = {.zone = zone, .p = p, .documents = documents};
    CB_TRY(cb_store_list(p->store, p->staged, add_staged, &l, err));
    return cb_store_copy(p->store, (const char *const *)l.from, (const char *const *)l.to,
                         (size_t)l.n, err);
}

/* Copies the staged array to its final place. Deletes old metadata first and copies new metadata last, so that no reader finds
 * metadata with chunks of the other array. */
cubed_status cb_stage_copy(const cb_stage_place *p, const cb_claim *c, cubed_error *err)
{
    cb_zone *zone;
    CB_TRY(cb_zone_new(p->store->alloc, &zone, err));
    cubed_status st = remove_old(p, c, true, err);
    if (st == CUBED_OK) st = remove_old(p, c, false, err);
    if (st == CUBED_OK) st = copy_staged(p, zone, false, err);
    if (st == CUBED_OK) st = copy_staged(p, zone, true, err);
    cb_zone_free(zone);
    return st;
}

static cubed_status replace_by_copy(const cb_stage_place *p, cb_claim *c, cubed_error *err)
{
    CB_TRY(cb_claim_say(c, CB_RUN_COPYING, err));
    cubed_status st = cb_stage_copy(p, c, err);
    if (st != CUBED_OK)
        return cb_context(err, st,
                          "the new array is complete, but could not replace %s, which is invalid "
                          "until `cubed clean` or the next run completes the replacement",
                          p->name);
    return cb_claim_say(c, CB_RUN_SWAPPED, err);
}

/* Exchanges the places of the new and the old array. Afterwards the record of the claim is the one in the new array. */
static cubed_status exchange(const cb_stage_place *p, cb_claim *c, cubed_store *made,
                             cubed_error *err)
{
    cubed_store *store = made ? made : p->store;
    const char *path = made ? "" : p->staged;
    cb_run_record record = c->record;
    cubed_object_version version = {""};
    record.state = CB_RUN_SWAPPED;
    CB_TRY(cb_run_record_remove(store, path, NULL, err));
    CB_TRY(cb_run_record_write(store, path, &record, &version, err));
    CB_TRY(cb_store_swap(p->store, p->staged, p->name, err));
    c->version = version;
    c->record = record;
    c->place = made;
    return CUBED_OK;
}

cubed_status cb_stage_swap(const cb_stage_place *p, cb_claim *c, cubed_store *made,
                           cubed_error *err)
{
    CB_TRY(cb_claim_check_own(c, err));
    if (cb_store_copies(p->store)) return replace_by_copy(p, c, err);
    cb_beats_lock(c->beats);
    const cubed_status st = exchange(p, c, made, err);
    cb_beats_unlock(c->beats);
    return st;
}

/* --- Taking over a place from a run that may still write ------------------------------------------- */

typedef struct mover {
    cubed_store *store;
    const char *to;
    size_t skip; /* length of the prefix and its separator */
} mover;

static cubed_status move_chunk(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    const mover *m = ctx;
    char new_key[4096];
    (void)size;
    if (!cb_zarr_may_be_chunk(key + m->skip)) return CUBED_OK;
    CB_TRY(cb_key_join(new_key, sizeof new_key, m->to, key + m->skip, err));
    return cb_store_swap(m->store, key, new_key, err);
}

/* Moves each chunk as soon as it is listed, so memory use does not grow with the number of chunks. Moving removes names from the
 * directory, and a file system may then omit other names from the listing. Chunks that are omitted stay where they are, and
 * their tasks compute them again. */
cubed_status cb_stage_move_chunks(cubed_store *store, const char *from, const char *to,
                                  cubed_error *err)
{
    mover m = {.store = store, .to = to, .skip = strlen(from) + 1};
    return cb_store_list(store, from, move_chunk, &m, err);
}

typedef struct copier {
    cubed_store *store;
    const char *to;
    size_t skip;
} copier;

static bool is_moved(void *ctx, const char *key)
{
    const copier *m = ctx;
    return cb_zarr_may_be_chunk(key + m->skip);
}

static cubed_status copy_one(const copier *m, const char *from, const char *to, cubed_error *err)
{
    cubed_error why = CUBED_ERROR_INIT;
    const cubed_status st = cb_store_copy(m->store, &from, &to, 1, &why);
    if (st == CUBED_OK || st == CUBED_E_NOT_FOUND)
        return CUBED_OK; /* deleted since it was listed */
    if (err) *err = why;
    return st;
}

static cubed_status copy_batch(void *ctx, const char *const *keys, const char *const *versions,
                               size_t n, cubed_error *err)
{
    const copier *m = ctx;
    const char *to[CB_STORE_BATCH];
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st = CUBED_OK;
    cb_buf text;
    (void)versions;
    cb_buf_init(&text, m->store->alloc);
    for (size_t i = 0; i < n; i++) {
        cb_buf_printf(&text, "%s/%s", m->to, keys[i] + m->skip);
        cb_buf_put(&text, "", 1);
    }
    if (text.failed) CB_GO(cb_fail(err, CUBED_E_NOMEM, "out of memory: a list of objects"));
    const char *at = text.data;
    for (size_t i = 0; i < n; i++, at += strlen(at) + 1) to[i] = at;
    st = cb_store_copy(m->store, keys, to, n, &why);
    if (st != CUBED_OK && st != CUBED_E_NOT_FOUND && err) *err = why;
    if (st != CUBED_E_NOT_FOUND) goto out;
    st = CUBED_OK;
    for (size_t i = 0; i < n; i++) CB_GO(copy_one(m, keys[i], to[i], err));
out:
    cb_buf_free(&text);
    return st;
}

cubed_status cb_stage_copy_chunks(cubed_store *store, const char *from, const char *to,
                                  cubed_error *err)
{
    copier m = {store, to, strlen(from) + 1};
    return cb_store_list_batches(store, from, is_moved, copy_batch, &m, err);
}

static cubed_status take_name(const cb_stage_place *p, cb_claim *c,
                              const cubed_object_version *version, cubed_error *err)
{
    cb_beats_lock(c->beats);
    const cubed_status st = cb_store_swap(p->store, p->staged, p->name, err);
    if (st == CUBED_OK) c->version = *version;
    cb_beats_unlock(c->beats);
    return st;
}

cubed_status cb_stage_exchange(const cb_stage_place *p, cb_claim *c, cubed_error *err)
{
    cubed_store *place;
    cubed_object_version version = {""};
    CB_TRY(cb_store_anchor(p->store, p->staged, true, &place, err));
    cb_beats_lock(c->beats);
    cb_run_record record = c->record;
    cb_beats_unlock(c->beats);
    cubed_status st = cb_run_record_write(place, "", &record, &version, err);
    cb_store_close(place);
    if (st == CUBED_OK) st = cb_claim_check_own(c, err);
    if (st == CUBED_OK) st = take_name(p, c, &version, err);
    if (st == CUBED_OK) return st;
    cubed_status ignored = cb_store_clear(p->store, p->staged, NULL);
    (void)ignored;
    return st;
}

cubed_status cb_stage_renew(const cb_stage_place *p, cb_claim *c, bool keep_chunks,
                            cubed_error *err)
{
    CB_TRY(cb_stage_exchange(p, c, err));
    if (keep_chunks) CB_TRY(cb_stage_move_chunks(p->store, p->staged, p->name, err));
    return cb_stage_discard(p, err);
}

cubed_status cb_stage_seize(cb_stage_place *p, const cb_claim *c, const char *run, cubed_error *err)
{
    char seized[sizeof p->staged];
    cubed_error why = CUBED_ERROR_INIT;
    const int n = snprintf(seized, sizeof seized, PREFIX "%s.old~%s", run, p->name);
    if (n < 0 || (size_t)n >= sizeof seized)
        return cb_fail(err, CUBED_E_ARG, "%s: the name of an array that replaces it is too long",
                       p->name);
    cubed_status st = cb_store_swap(p->store, p->staged, seized, &why);
    if (st == CUBED_E_NOT_FOUND) {
        p->staged[0] = 0;
        return cb_claim_check_own(c, err);
    }
    if (st != CUBED_OK) {
        if (err) *err = why;
        return st;
    }
    st = cb_claim_check_own(c, err);
    if (st == CUBED_OK) {
        memcpy(p->staged, seized, sizeof seized);
        return CUBED_OK;
    }
    /* Another run has exchanged the arrays first. `staged` now holds the old array, which that run removes. */
    cubed_status ignored = cb_store_swap(p->store, seized, p->staged, NULL);
    (void)ignored;
    return st;
}

/* --- Replaced arrays ----------------------------------------------------------------------------- */

typedef struct foreign {
    const cb_stage_place *p;
    const char *below; /* current folder in the array that is discarded */
} foreign;

static bool is_document(const char *name)
{
    static const char *const docs[] = {"zarr.json",  ".zarray",     ".zattrs",        ".zgroup",
                                       ".zmetadata", CB_RUN_RECORD, CB_SOURCES_RECORD};
    for (size_t i = 0; i < sizeof docs / sizeof *docs; i++) {
        if (strcmp(name, docs[i]) == 0) return true;
    }
    return false;
}

static cubed_status keep_foreign(void *ctx, const char *name, bool is_prefix, cubed_error *err)
{
    const foreign *f = ctx;
    char below[4096], from[4096], to[4096];
    cubed_object_info info;
    if (cb_zarr_may_be_chunk(name) || (!is_prefix && is_document(name))) return CUBED_OK;
    CB_TRY(cb_key_join(below, sizeof below, f->below, name, err));
    CB_TRY(cb_key_join(from, sizeof from, f->p->staged, below, err));
    if (is_prefix) {
        foreign deeper = {f->p, below};
        return cb_store_members(f->p->store, from, keep_foreign, &deeper, err);
    }
    CB_TRY(cb_key_join(to, sizeof to, f->p->name, below, err));
    if (cb_store_head(f->p->store, to, &info, NULL) != CUBED_E_NOT_FOUND) return CUBED_OK;
    return cb_store_swap(f->p->store, from, to, err);
}

cubed_status cb_stage_discard(const cb_stage_place *p, cubed_error *err)
{
    static const char *const docs[] = {"zarr.json", ".zarray", ".zgroup"};
    char key[3][4096];
    const char *keys[3] = {key[0], key[1], key[2]};
    /* First delete the documents by which readers would recognise an array. */
    for (size_t i = 0; i < sizeof docs / sizeof *docs; i++)
        CB_TRY(cb_key_join(key[i], sizeof key[i], p->staged, docs[i], err));
    CB_TRY(cb_store_del_all(p->store, keys, sizeof docs / sizeof *docs, err));
    foreign f = {p, ""};
    CB_TRY(cb_store_members(p->store, p->staged, keep_foreign, &f, err));
    return cb_store_clear(p->store, p->staged, err);
}
