/* Copies all metadata below a group into the group's own metadata, so that readers need one request. Format 2: .zmetadata,
 * as in zarr-python. Format 3: "consolidated_metadata" in zarr.json, an extension that readers may ignore. */
#include <string.h>

#include "zarr/zarr_pkg.h"

typedef struct collect {
    cubed_store *store;
    const char *path;
    size_t skip; /* length of the group's path including the slash */
    int format;
    json_t *found; /* documents by key (format 2) or path (format 3) */
    const cb_zarr_fence *fence;
} collect;

/* Adds a document, if it exists, under its key relative to the group. */
static cubed_status add(const collect *c, const char *path, const char *name, bool needed,
                        cubed_error *err)
{
    json_t *doc = NULL;
    cubed_error why = CUBED_ERROR_INIT;
    char key[4096];
    const char *rest = strlen(path) > c->skip ? path + c->skip : "";
    cubed_status st = cb_zarr_read_doc(c->store, path, name, &doc, &why);
    if (st == CUBED_E_NOT_FOUND && !needed) return CUBED_OK;
    if (st != CUBED_OK) {
        if (err) *err = why;
        return st;
    }
    if (c->format == 2) st = cb_key_join(key, sizeof key, rest, name, err);
    if (st != CUBED_OK) {
        json_decref(doc);
        return st;
    }
    json_object_del(doc, "consolidated_metadata");
    return json_object_set_new(c->found, c->format == 2 ? key : rest, doc) == 0
               ? CUBED_OK
               : cb_fail(err, CUBED_E_NOMEM, "no memory for consolidated metadata");
}

static cubed_status add_entry(void *ctx, const cb_zarr_entry *e, cubed_error *err)
{
    const collect *c = ctx;
    /* skip members of the other format, because readers of one format ignore the other */
    if (e->format != c->format) return CUBED_OK;
    if (c->format == 3)
        return strlen(e->path) > c->skip ? add(c, e->path, "zarr.json", true, err) : CUBED_OK;
    CB_TRY(add(c, e->path, e->is_array ? ".zarray" : ".zgroup", true, err));
    return add(c, e->path, ".zattrs", false, err);
}

/* Lists the group again for each version of the document, because another run may have added an array. */
static cubed_status set_consolidated(void *ctx, json_t *doc, bool *changed, cubed_error *err)
{
    collect *c = ctx;
    json_decref(c->found);
    c->found = json_object();
    if (!c->found) return cb_fail(err, CUBED_E_NOMEM, "no memory for consolidated metadata");
    CB_TRY(cb_zarr_walk(c->store, c->path, add_entry, c, err));
    *changed = true;
    const bool ok =
        c->format == 2
            ? json_object_set(doc, "metadata", c->found) == 0 &&
                  json_object_set_new(doc, "zarr_consolidated_format", json_integer(1)) == 0
            : json_object_set_new(doc, "consolidated_metadata",
                                  json_pack("{s:s, s:b, s:O}", "kind", "inline", "must_understand",
                                            0, "metadata", c->found)) == 0;
    if (!ok) return cb_fail(err, CUBED_E_NOMEM, "no memory for consolidated metadata");
    return c->fence ? c->fence->check(c->fence->ctx, err) : CUBED_OK;
}

cubed_status cb_zarr_consolidate(cubed_store *store, const cb_zarr_fence *fence, const char *path,
                                 cubed_error *err)
{
    cb_zarr_kind kind;
    collect c = {
        .store = store, .fence = fence, .path = path, .skip = *path ? strlen(path) + 1 : 0};
    CB_TRY(cb_zarr_probe(store, path, &kind, &c.format, err));
    if (kind != CB_ZARR_GROUP) return cb_zarr_not_there(store, "group", path, err);
    cubed_status st = cb_zarr_change_doc(store, path, c.format == 2 ? ".zmetadata" : "zarr.json",
                                         set_consolidated, &c, err);
    json_decref(c.found);
    return st;
}
