/* Reads, writes and changes metadata documents in stores. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "zarr/zarr_pkg.h"

cubed_status cb_json_text(const json_t *v, cb_zone *zone, const char **out, cubed_error *err)
{
    cb_buf text;
    cb_buf_init(&text, cb_zone_allocator(zone));
    bool ok = cb_json_dump(v, JSON_ENCODE_ANY, &text);
    *out = ok ? cb_zone_strdup(zone, text.data) : NULL;
    cb_buf_free(&text);
    return *out ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory for attributes");
}

cubed_status cb_zarr_attrs_text(const json_t *attrs, cb_zone *zone, const char **out,
                                cubed_error *err)
{
    json_t *copy = cb_json_copy(attrs);
    cubed_status st = copy && cb_attributes_gather(copy)
                          ? cb_json_text(copy, zone, out, err)
                          : cb_fail(err, CUBED_E_NOMEM, "no memory for attributes");
    json_decref(copy);
    return st;
}

void cb_zarr_set_version(const cubed_object_info *info, cubed_object_version *out)
{
    *out = info->version;
    /* If the store has no versions, use the size as version. */
    if (!*out->text) snprintf(out->text, sizeof out->text, "%" PRIu64 " bytes", info->size);
    const size_t n = strlen(out->text);
    if (info->modified != 0)
        snprintf(out->text + n, sizeof out->text - n, " %" PRId64, info->modified);
}

cubed_status cb_zarr_read_version(cubed_store *store, const char *path, const char *name,
                                  json_t **out, cubed_object_version *version, cubed_error *err)
{
    char key[4096];
    cb_buf text;
    cubed_object_info info;
    CB_TRY(cb_key_join(key, sizeof key, path, name, err));
    cb_buf_init(&text, store->alloc);
    cubed_status st = cb_store_read_object(store, key, CB_ZARR_MAX_DOC, &text, &info, err);
    if (st == CUBED_OK) cb_zarr_set_version(&info, version);
    if (st == CUBED_OK) st = cb_json_parse(key, text.data ? text.data : "", text.size, out, err);
    cb_buf_free(&text);
    return st;
}

cubed_status cb_zarr_read_doc(cubed_store *store, const char *path, const char *name, json_t **out,
                              cubed_error *err)
{
    cubed_object_version version;
    return cb_zarr_read_version(store, path, name, out, &version, err);
}

static cubed_status print_doc(const json_t *doc, const char *key, cb_buf *text, cubed_error *err)
{
    return cb_json_dump(doc, JSON_INDENT(2), text)
               ? CUBED_OK
               : cb_fail(err, CUBED_E_NOMEM, "no memory to write %s", key);
}

cubed_status cb_zarr_put_doc(cubed_store *store, const cb_zarr_fence *fence, const char *path,
                             const char *name, const json_t *doc, cubed_error *err)
{
    char key[4096];
    cb_buf text;
    CB_TRY(cb_key_join(key, sizeof key, path, name, err));
    cb_buf_init(&text, store->alloc);
    cubed_status st = print_doc(doc, key, &text, err);
    if (st == CUBED_OK) st = cb_zarr_put(store, fence, key, text.data, text.size, NULL, err);
    cb_buf_free(&text);
    return st;
}

/* Puts a document if it has the expected version. Otherwise returns CUBED_E_EXISTS. */
static cubed_status put_doc_if(cubed_store *store, const char *key, const json_t *doc,
                               const cubed_object_version *expected, cubed_error *err)
{
    cubed_object_version version;
    cb_buf text;
    cb_buf_init(&text, store->alloc);
    cubed_status st = print_doc(doc, key, &text, err);
    if (st == CUBED_OK)
        st = cb_store_put_if(store, key, expected, text.data, text.size, &version, err);
    cb_buf_free(&text);
    return st;
}

cubed_status cb_zarr_new_doc(cubed_store *store, const char *path, const char *name,
                             const json_t *doc, cubed_error *err)
{
    const cubed_object_version none = {""};
    char key[4096];
    CB_TRY(cb_key_join(key, sizeof key, path, name, err));
    return put_doc_if(store, key, doc, &none, err);
}

/* Returns true for copies of other documents, which may be overwritten if they are damaged, as in zarr-python. */
static bool is_copy(const char *key)
{
    const char *slash = strrchr(key, '/');
    return strcmp(slash ? slash + 1 : key, ".zmetadata") == 0;
}

static cubed_status parse_to_change(const char *key, const cb_buf *text, json_t **doc,
                                    cubed_error *err)
{
    cubed_status st = cb_json_parse(key, text->data ? text->data : "", text->size, doc, err);
    if (st == CUBED_OK && !json_is_object(*doc)) {
        json_decref(*doc);
        st = cb_fail(err, CUBED_E_FORMAT, "%s: expected a JSON object", key);
    }
    if (st != CUBED_E_FORMAT || !is_copy(key)) return st;
    *doc = json_object();
    return *doc ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "out of memory: %s", key);
}

/* Reads a document and its version, which later conditional writes need. If the document is missing, they are {} and "". */
static cubed_status read_to_change(cubed_store *store, const char *key, json_t **doc,
                                   cubed_object_version *version, cubed_error *err)
{
    cb_buf text;
    cubed_object_info info = {.size = 0};
    cubed_error why = CUBED_ERROR_INIT;
    cb_buf_init(&text, store->alloc);
    cubed_status st = cb_store_read_object(store, key, CB_ZARR_MAX_DOC, &text, &info, &why);
    if (st == CUBED_OK) {
        *version = info.version;
        st = parse_to_change(key, &text, doc, &why);
    } else if (st == CUBED_E_NOT_FOUND) {
        *version = (cubed_object_version){""};
        *doc = json_object();
        st = *doc ? CUBED_OK : cb_fail(&why, CUBED_E_NOMEM, "no memory to read %s", key);
    }
    cb_buf_free(&text);
    if (st != CUBED_OK && err) *err = why;
    return st;
}

/* Maximum number of retries. Other processes change a document only once or a few times. */
#define CHANGE_TRIES 100

cubed_status cb_zarr_change_doc(cubed_store *store, const char *path, const char *name,
                                cb_zarr_change_fn change, void *ctx, cubed_error *err)
{
    char key[4096];
    CB_TRY(cb_key_join(key, sizeof key, path, name, err));
    for (int tries = 0; tries < CHANGE_TRIES; tries++) {
        json_t *doc = NULL;
        cubed_object_version version;
        bool changed = false;
        cubed_error why = CUBED_ERROR_INIT;
        CB_TRY(read_to_change(store, key, &doc, &version, err));
        cubed_status st = change(ctx, doc, &changed, &why);
        const bool put = st == CUBED_OK && changed;
        if (put) st = put_doc_if(store, key, doc, &version, &why);
        json_decref(doc);
        if (put && st == CUBED_E_EXISTS) continue;
        if (st != CUBED_OK && err) *err = why;
        return st;
    }
    return cb_fail(err, CUBED_E_IO, "%s of %s was replaced %d times while it was changed", key,
                   store->url, CHANGE_TRIES);
}

cubed_status cb_zarr_probe(cubed_store *store, const char *path, cb_zarr_kind *kind, int *format,
                           cubed_error *err)
{
    json_t *doc = NULL;
    cubed_object_version version;
    cubed_status st = cb_zarr_probe_doc(store, path, kind, format, &doc, &version, err);
    json_decref(doc);
    return st;
}

cubed_status cb_zarr_probe_doc(cubed_store *store, const char *path, cb_zarr_kind *kind,
                               int *format, json_t **out, cubed_object_version *version,
                               cubed_error *err)
{
    static const struct {
        const char *name;
        cb_zarr_kind kind;
    } docs[] = {{".zarray", CB_ZARR_ARRAY}, {".zgroup", CB_ZARR_GROUP}};
    char key[4096];
    bool there;
    json_t *doc = NULL;
    cubed_error why = CUBED_ERROR_INIT;
    *kind = CB_ZARR_NOTHING;
    *format = 0;
    *out = NULL;
    CB_TRY(cb_key_join(key, sizeof key, path, "zarr.json", err));
    cubed_status st = cb_zarr_read_version(store, path, "zarr.json", &doc, version, &why);
    if (st == CUBED_OK) {
        const char *type;
        st = cb_json_get_string(key, doc, "node_type", &type, err);
        if (st == CUBED_OK && strcmp(type, "array") != 0 && strcmp(type, "group") != 0)
            st = cb_fail(err, CUBED_E_FORMAT,
                         "%s: \"node_type\" is \"%s\", expected array or group", key, type);
        if (st == CUBED_OK) *kind = type[0] == 'a' ? CB_ZARR_ARRAY : CB_ZARR_GROUP;
        *format = 3;
        if (st == CUBED_OK)
            *out = doc;
        else
            json_decref(doc);
        return st;
    }
    if (st != CUBED_E_NOT_FOUND) {
        if (err) *err = why;
        return st;
    }
    for (size_t i = 0; i < sizeof docs / sizeof *docs; i++) {
        CB_TRY(cb_key_join(key, sizeof key, path, docs[i].name, err));
        CB_TRY(cb_store_exists(store, key, &there, err));
        if (!there) continue;
        *kind = docs[i].kind;
        *format = 2;
        return CUBED_OK;
    }
    return CUBED_OK;
}

/* Attributes to set on a group, and the run that sets them. */
typedef struct group_attrs {
    const cb_zarr_fence *fence; /* fence of the run; NULL if the caller is not a run */
    const char *path;
    json_t *attrs;
} group_attrs;

/* Checks the fence. This happens after the document was read and before a conditional put, so a run that has lost its place puts
 * nothing. */
static cubed_status check_fence(const cb_zarr_fence *fence, cubed_error *err)
{
    return fence ? fence->check(fence->ctx, err) : CUBED_OK;
}

static cubed_status set_group(void *ctx, json_t *doc, bool *changed, cubed_error *err)
{
    const group_attrs *g = ctx;
    const char *type = json_string_value(json_object_get(doc, "node_type"));
    if (type && strcmp(type, "group") != 0)
        return cb_fail(err, CUBED_E_EXISTS, "%s is an array", *g->path ? g->path : "the root");
    *changed = true;
    json_object_del(doc, "consolidated_metadata");
    if (json_object_set_new(doc, "zarr_format", json_integer(3)) != 0 ||
        json_object_set_new(doc, "node_type", json_string("group")) != 0 ||
        json_object_set(doc, "attributes", g->attrs) != 0)
        return cb_fail(err, CUBED_E_NOMEM, "out of memory: a group's metadata");
    return check_fence(g->fence, err);
}

static cubed_status set_attrs(void *ctx, json_t *doc, bool *changed, cubed_error *err)
{
    const group_attrs *g = ctx;
    *changed = json_object_size(doc) > 0 || json_object_size(g->attrs) > 0;
    json_object_clear(doc);
    if (json_object_update(doc, g->attrs) != 0)
        return cb_fail(err, CUBED_E_NOMEM, "out of memory: a group's attributes");
    return check_fence(g->fence, err);
}

/* Creates a group. Returns CUBED_E_EXISTS if another run has created it in the meantime. */
static cubed_status make_group(cubed_store *store, const char *path, int format, cubed_error *err)
{
    json_t *doc = format == 3 ? json_pack("{s:i, s:s, s:{}}", "zarr_format", 3, "node_type",
                                          "group", "attributes")
                              : json_pack("{s:i}", "zarr_format", 2);
    cubed_status st = cb_zarr_new_doc(store, path, format == 3 ? "zarr.json" : ".zgroup", doc, err);
    json_decref(doc);
    return st;
}

static cubed_status delete_consolidated(void *ctx, json_t *doc, bool *changed, cubed_error *err)
{
    (void)ctx;
    (void)err;
    *changed = json_object_del(doc, "consolidated_metadata") == 0;
    return CUBED_OK;
}

/* Removes a group's consolidated metadata, because it will be out of date and other readers trust it. */
static cubed_status drop_consolidated(cubed_store *store, const char *path, int format,
                                      cubed_error *err)
{
    char key[4096];
    if (format == 3)
        return cb_zarr_change_doc(store, path, "zarr.json", delete_consolidated, NULL, err);
    CB_TRY(cb_key_join(key, sizeof key, path, ".zmetadata", err));
    return cb_store_del(store, key, err);
}

cubed_status cb_zarr_make_parents(cubed_store *store, const char *path, int format, bool self,
                                  cubed_error *err)
{
    char part[4096];
    size_t n = strlen(path);
    if (n >= sizeof part) return cb_fail(err, CUBED_E_ARG, "the path %s is too long", path);
    if (n == 0 && !self) return CUBED_OK;
    for (size_t i = 0;; i++) {
        bool end = i == n;
        if (i > 0 && !end && path[i] != '/') continue;
        if (end && !self && n > 0) return CUBED_OK;
        cb_zarr_kind kind;
        int have;
        memcpy(part, path, i);
        part[i] = 0;
        CB_TRY(cb_zarr_probe(store, part, &kind, &have, err));
        if (kind == CB_ZARR_ARRAY)
            return cb_fail(err, CUBED_E_EXISTS, "%s of %s is an array, not a group",
                           *part ? part : "the root", store->url);
        cubed_error why = CUBED_ERROR_INIT;
        const bool make = kind == CB_ZARR_NOTHING;
        cubed_status st = make ? make_group(store, part, format, &why) : CUBED_E_EXISTS;
        if (st == CUBED_E_EXISTS)
            CB_TRY(drop_consolidated(store, part, make ? format : have, err));
        else if (st != CUBED_OK && err)
            *err = why;
        if (st != CUBED_OK && st != CUBED_E_EXISTS) return st;
        if (end) return CUBED_OK;
    }
}

static cubed_status write_group(cubed_store *store, int format, group_attrs *g, cubed_error *err)
{
    cb_attributes_prune(g->attrs);
    if (format == 3) return cb_zarr_change_doc(store, g->path, "zarr.json", set_group, g, err);
    CB_TRY(cb_zarr_change_doc(store, g->path, ".zattrs", set_attrs, g, err));
    cubed_error why = CUBED_ERROR_INIT;
    const cubed_status st = make_group(store, g->path, 2, &why);
    if (st != CUBED_OK && st != CUBED_E_EXISTS && err) *err = why;
    return st == CUBED_E_EXISTS ? CUBED_OK : st;
}

static cubed_status parse_attrs(const char *text, const char *path, json_t **out, cubed_error *err)
{
    if (!text) text = "{}";
    CB_TRY(cb_json_parse("attributes", text, strlen(text), out, err));
    if (json_is_object(*out)) return CUBED_OK;
    json_decref(*out);
    return cb_fail(err, CUBED_E_ARG, "the attributes of %s are not a JSON object",
                   *path ? path : "the root group");
}

cubed_status cb_zarr_create_group(cubed_store *store, const cb_zarr_fence *fence, const char *path,
                                  int format, const char *attrs, bool overwrite, cubed_error *err)
{
    cb_zarr_kind kind;
    int have;
    group_attrs g = {.fence = fence, .path = path};
    CB_TRY(cb_zarr_probe(store, path, &kind, &have, err));
    if (kind == CB_ZARR_ARRAY && !overwrite)
        return cb_fail(err, CUBED_E_EXISTS, "%s of %s is an array", *path ? path : "the root",
                       store->url);
    if (kind != CB_ZARR_NOTHING && overwrite) {
        CB_TRY(cb_store_clear(store, path, err));
        kind = CB_ZARR_NOTHING;
    }
    CB_TRY(cb_zarr_make_parents(store, path, format, false, err));
    if (kind == CB_ZARR_GROUP && (!attrs || have != format)) return CUBED_OK;
    CB_TRY(parse_attrs(attrs, path, &g.attrs, err));
    cubed_status st = kind == CB_ZARR_GROUP && format == 2
                          ? drop_consolidated(store, path, format, err)
                          : CUBED_OK;
    if (st == CUBED_OK) st = write_group(store, format, &g, err);
    json_decref(g.attrs);
    return st;
}
