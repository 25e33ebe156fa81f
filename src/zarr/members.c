/* Lists the direct members of a group. */
#include <string.h>

#include "zarr/zarr_pkg.h"

typedef struct members {
    const cubed_store *store;
    const char *path; /* path of the group */
    cb_zarr_walk_fn fn;
    void *ctx;
} members;

/* Returns the part of a path below the group; NULL unless that is a single name. */
static const char *own_name(const members *m, const char *path)
{
    size_t n = strlen(m->path);
    if (strncmp(path, m->path, n) != 0) return NULL;
    path += n;
    if (n > 0 && *path++ != '/') return NULL;
    return *path && !strchr(path, '/') ? path : NULL;
}

static cubed_status listed(void *ctx, const cb_zarr_entry *e, cubed_error *err)
{
    const members *m = ctx;
    cb_zarr_entry own = *e;
    own.path = own_name(m, e->path);
    return own.path ? m->fn(m->ctx, &own, err) : CUBED_OK;
}

/* Reports a member that consolidated metadata lists. The name of the member is untrusted. */
static cubed_status tell(const members *m, const char *name, bool is_array, int format,
                         cubed_error *err)
{
    const cb_zarr_entry e = {name, is_array, format};
    if (cb_key_check(name, NULL) != CUBED_OK)
        return cb_fail(err, CUBED_E_FORMAT,
                       "%s%s%s: consolidated metadata names a member \"%.200s\", expected a name "
                       "that is neither empty nor \".\" nor \"..\"",
                       m->store->url, *m->path ? "::" : "", m->path, name);
    return m->fn(m->ctx, &e, err);
}

/* Reports the member of a key of format 2, which has one document per key, such as "t2m/.zarray". */
static cubed_status add_v2(const members *m, const char *key, cubed_error *err)
{
    const char *slash = strchr(key, '/');
    char name[4096];
    if (!slash || slash == key || (size_t)(slash - key) >= sizeof name) return CUBED_OK;
    bool is_array = strcmp(slash, "/.zarray") == 0;
    if (!is_array && strcmp(slash, "/.zgroup") != 0) return CUBED_OK;
    memcpy(name, key, (size_t)(slash - key));
    name[slash - key] = 0;
    return tell(m, name, is_array, 2, err);
}

/* Reports the member of a key of format 3, which has one document per node. */
static cubed_status add_v3(const members *m, const char *key, const json_t *node, cubed_error *err)
{
    const char *type = json_string_value(json_object_get(node, "node_type"));
    if (!type || strchr(key, '/')) return CUBED_OK;
    return tell(m, key, strcmp(type, "array") == 0, 3, err);
}

/* Reports the members in the group's consolidated metadata, and sets *found if it exists. */
static cubed_status consolidated_members(cubed_store *store, const members *m, int format,
                                         bool *found, cubed_error *err)
{
    json_t *doc = NULL;
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st =
        cb_zarr_read_doc(store, m->path, format == 3 ? "zarr.json" : ".zmetadata", &doc, &why);
    *found = false;
    if (st == CUBED_E_NOT_FOUND) return CUBED_OK;
    if (st != CUBED_OK) {
        if (err) *err = why;
        return st;
    }
    const json_t *all = format == 3 ? json_object_get(doc, "consolidated_metadata") : doc;
    json_t *nodes = json_object_get(all, "metadata"), *node;
    const char *key;
    *found = json_is_object(nodes);
    json_object_foreach(nodes, key, node)
    {
        st = format == 3 ? add_v3(m, key, node, err) : add_v2(m, key, err);
        if (st != CUBED_OK) break;
    }
    json_decref(doc);
    return st;
}

cubed_status cb_zarr_members(cubed_store *store, const char *path, bool consolidated, int *format,
                             cb_zarr_walk_fn fn, void *ctx, cubed_error *err)
{
    members m = {store, path, fn, ctx};
    cb_zarr_kind kind;
    bool found = false;
    CB_TRY(cb_zarr_probe(store, path, &kind, format, err));
    if (kind != CB_ZARR_GROUP) return cb_zarr_not_there(store, "group", path, err);
    if (consolidated) CB_TRY(consolidated_members(store, &m, *format, &found, err));
    return found ? CUBED_OK : cb_zarr_walk(store, path, listed, &m, err);
}
