/* Arrays that replace others: made beside them, and put in their place when they are whole. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "run/claim.h"

#define PREFIX ".cubed-new-"

bool cb_stage_is_name(const char *name) { return strncmp(name, PREFIX, sizeof PREFIX - 1) == 0; }

cubed_status cb_stage_open(cubed_store *store, const char *path, const char *run,
                           const char *staged, cb_stage_place *out, cubed_error *err)
{
    CB_TRY(cb_store_around(store, path, &out->store, out->name, sizeof out->name, err));
    int n = staged && *staged
                ? snprintf(out->staged, sizeof out->staged, "%s", staged)
                : snprintf(out->staged, sizeof out->staged, PREFIX "%s-%s", run, out->name);
    if (n > 0 && (size_t)n < sizeof out->staged && cb_stage_is_name(out->staged)) return CUBED_OK;
    cb_store_close(out->store);
    out->store = NULL;
    return cb_fail(err, CUBED_E_ARG, "%s: the name of an array that replaces it is too long",
                   out->name);
}

cubed_status cb_stage_swap(const cb_stage_place *p, cb_claim *c, cubed_error *err)
{
    cb_claim moved = *c;
    moved.store = p->store;
    moved.path = p->staged;
    moved.version = CUBED_STORE_ABSENT;
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
    size_t skip; /* of the key: the name that is discarded, and the separator */
} foreign;

/* "c", "c/0/1", "0.1" and "0/1" are chunks of some grid; the others are known by their names. */
static bool is_zarr(const char *key)
{
    static const char *const docs[] = {"zarr.json", ".zarray",    ".zattrs",
                                       ".zgroup",   ".zmetadata", CB_RUN_MARK};
    const char *name = strrchr(key, '/');
    name = name ? name + 1 : key;
    for (size_t i = 0; i < sizeof docs / sizeof *docs; i++) {
        if (strcmp(name, docs[i]) == 0) return true;
    }
    if (name[0] == 'c' && name[1] == 0) return true;
    return name[strspn(name, "0123456789.")] == 0;
}

static cubed_status keep_foreign(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    const foreign *f = ctx;
    char to[4096];
    const char *below = key + f->skip;
    bool there;
    (void)size;
    if (is_zarr(below)) return CUBED_OK;
    CB_TRY(cb_key_join(to, sizeof to, f->p->name, below, err));
    CB_TRY(cb_store_exists(f->p->store, to, &there, err));
    return there ? CUBED_OK : cb_store_swap(f->p->store, key, to, err);
}

cubed_status cb_stage_discard(const cb_stage_place *p, cubed_error *err)
{
    static const char *const docs[] = {"zarr.json", ".zarray", ".zgroup"};
    char key[4096];
    /* First what others would take for an array. */
    for (size_t i = 0; i < sizeof docs / sizeof *docs; i++) {
        CB_TRY(cb_key_join(key, sizeof key, p->staged, docs[i], err));
        CB_TRY(cb_store_del(p->store, key, err));
    }
    foreign f = {p, strlen(p->staged) + 1};
    CB_TRY(cb_store_list(p->store, p->staged, keep_foreign, &f, err));
    return cb_store_clear(p->store, p->staged, err);
}
