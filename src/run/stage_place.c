/* Arrays that replace others: made beside them, and put in their place when they are whole. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "run/claim.h"

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
                       "the record of a run at %s is damaged: it names \"%s\" as what replaces it",
                       out->name, staged);
    return cb_fail(err, CUBED_E_ARG, "%s: the name of an array that replaces it is too long",
                   out->name);
}

cubed_status cb_stage_swap(const cb_stage_place *p, cb_claim *c, cubed_error *err)
{
    cb_claim moved = *c;
    moved.store = p->store;
    moved.path = p->staged;
    moved.version = (cubed_object_version){""};
    moved.record.state = CB_RUN_SWAPPED;
    CB_TRY(cb_claim_check_own(c, err));
    CB_TRY(cb_run_record_remove(p->store, p->staged, err));
    CB_TRY(cb_run_record_write(p->store, p->staged, &moved.record, &moved.version, err));
    CB_TRY(cb_store_swap(p->store, p->staged, p->name, err));
    c->version = moved.version;
    c->record = moved.record;
    return CUBED_OK;
}

/* --- What was replaced --------------------------------------------------------------------------- */

typedef struct foreign {
    const cb_stage_place *p;
    const char *below; /* the folder that is looked at, in what is discarded */
} foreign;

static bool is_document(const char *name)
{
    static const char *const docs[] = {"zarr.json", ".zarray",    ".zattrs",
                                       ".zgroup",   ".zmetadata", CB_RUN_MARK};
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
    /* First what others would take for an array. */
    for (size_t i = 0; i < sizeof docs / sizeof *docs; i++)
        CB_TRY(cb_key_join(key[i], sizeof key[i], p->staged, docs[i], err));
    CB_TRY(cb_store_del_all(p->store, keys, sizeof docs / sizeof *docs, err));
    foreign f = {p, ""};
    CB_TRY(cb_store_members(p->store, p->staged, keep_foreign, &f, err));
    return cb_store_clear(p->store, p->staged, err);
}
