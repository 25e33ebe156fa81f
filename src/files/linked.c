#include "files/linked.h"

#include <string.h>
#include <strings.h>

/* Size of the temporary memory that parsing a local path needs (place/local_place.c). */
enum { PARSE_BYTES = 64 << 10 };

cubed_status cb_linked_init(cb_linked *l, cb_file *f, cubed_error *err)
{
    *l = (cb_linked){.opened = json_object(), .parents = json_object()};
    if (!l->opened || !l->parents) return cb_file_no_memory(f, err);
    const size_t root = cb_store_root_length(f->url);
    char *url = cb_zone_memdup(f->zone, f->url, root + 1);
    if (!url) return cb_file_no_memory(f, err);
    url[root] = 0; /* the URL of the repository, without the branch */
    f->linked = l;
    return cb_confine_init(f->zone, url, f->references, &l->confine, err);
}

cubed_validator cb_file_validator(const cubed_store *s)
{
    cb_file *f = cb_file_of((cubed_store *)(uintptr_t)s);
    if (!f) return cb_store_validator(s);
    cubed_validator least = cb_store_validator(f->within);
    cb_mutex_lock(&f->lock);
    for (int i = 0; f->linked && i < f->linked->nstores; i++) {
        const cubed_validator v = cb_store_validator(f->linked->stores[i]);
        if (v > least) least = v;
    }
    cb_mutex_unlock(&f->lock);
    return least;
}

void cb_linked_forget(cb_linked *l)
{
    json_decref(l->opened);
    json_decref(l->parents);
    l->opened = l->parents = NULL;
    l->bytes = (size_t)l->nstores * CB_STORE_BYTES;
}

void cb_linked_close(cb_linked *l)
{
    for (int i = 0; i < l->nstores; i++) cb_store_close(l->stores[i]);
    l->nstores = 0;
    cb_linked_forget(l);
}

static cubed_status note(const cb_file *f, json_t *map, const char *url, int number,
                         cubed_error *err)
{
    return json_object_set_new_nocheck(map, url, json_integer(number)) == 0
               ? CUBED_OK
               : cb_file_no_memory(f, err);
}

/* Opens the store at a URL. The URL is canonical, or comes from a document that may refer to any location. */
static cubed_status open_store(cb_linked *l, cb_file *f, const char *url, int *out,
                               cubed_error *err)
{
    const json_t *known = json_object_get(l->opened, url);
    if (known) {
        *out = (int)json_integer_value(known);
        return CUBED_OK;
    }
    if (!cb_zone_grow(f->zone, &l->stores, l->nstores, &l->cap, sizeof(cubed_store *)))
        return cb_file_no_memory(f, err);
    cubed_store **at = &l->stores[l->nstores];
    if (cb_confine_is_own(&l->confine, url))
        CB_TRY(cb_store_open_referred(f->stores, url, f->within, at, err));
    else
        CB_TRY(cb_store_open_plain(f->stores, url, at, err));
    *out = l->nstores++;
    return note(f, l->opened, url, *out, err);
}

static cubed_status refuse(const cb_linked *l, const cb_file *f, const char *url,
                           const cb_place *at, cubed_error *err)
{
    (void)cb_fail(err, CUBED_E_ARG, "%s refers to \"%s\"", f->url, url);
    if (err && strcmp(at->text, url) != 0) cb_note(err, ", which is %s", at->text);
    if (err)
        cb_note(
            err,
            ": expected a place in %s, because this document is not on this machine; if you trust "
            "the reference, allow it: --allow-references PREFIX, or "
            "storage_options={\"allow_references\": [PREFIX]} in Python",
            l->confine.own);
    return CUBED_E_ARG;
}

/* Finds an object to which a confined document refers. Opens the canonical place that was checked, in which links of a local
 * path are resolved. */
static cubed_status find_confined(cb_linked *l, cb_file *f, cb_zone *zone, const char *parent,
                                  const char *url, char key[CB_LINKED_KEY], int *out,
                                  cubed_error *err)
{
    cb_place at;
    bool all;
    CB_TRY(cb_place_parse_object(zone, parent, key, &at, err));
    if (!cb_confine_allows(&l->confine, &at, &all)) return refuse(l, f, url, &at, err);
    const char *store = at.store;
    if (at.nids > 0) {
        char *real = cb_zone_strdup(zone, at.text), *slash = real ? strrchr(real, '/') : NULL;
        if (!slash || strlen(slash + 1) >= CB_LINKED_KEY) return cb_file_no_memory(f, err);
        memcpy(key, slash + 1, strlen(slash + 1) + 1);
        slash[slash == real] = 0;
        store = real;
        f->passing = cb_max_size(f->passing, PARSE_BYTES);
    }
    CB_TRY(open_store(l, f, store, out, err));
    return all ? note(f, l->parents, parent, *out, err) : CUBED_OK;
}

/* Converts a "file:" URL to a path. Returns other URLs unchanged. kerchunk and Icechunk write such URLs without
 * percent-encoding. */
static const char *without_file_scheme(const char *url)
{
    static const char local[] = "localhost/";
    if (strncasecmp(url, "file://", 7) != 0) return url;
    url += 7;
    return strncasecmp(url, local, sizeof local - 1) == 0 ? url + sizeof local - 2 : url;
}

cubed_status cb_linked_find(cb_linked *l, cb_file *f, const char *url, cubed_store **store,
                            char key[CB_LINKED_KEY], cubed_error *err)
{
    char parent[CB_LINKED_URL];
    cb_zone *zone = NULL;
    int number = 0;
    const char *from = without_file_scheme(url), *slash = strrchr(from, '/');
    const size_t n = !slash ? 0 : slash == from ? 1 : (size_t)(slash - from);
    if (!slash || n >= sizeof parent || strlen(slash + 1) >= CB_LINKED_KEY ||
        (*from != '/' && !strstr(from, "://")) || cb_key_check(slash + 1, NULL) != CUBED_OK)
        return cb_fail(err, CUBED_E_FORMAT, "%s: \"%.200s\" is not the URL of a file", f->url, url);
    memcpy(parent, from, n);
    parent[n] = 0;
    memcpy(key, slash + 1, strlen(slash + 1) + 1);
    const json_t *known = json_object_get(l->parents, parent);
    if (known) {
        *store = l->stores[json_integer_value(known)];
        return CUBED_OK;
    }
    cubed_status st = CUBED_OK;
    if (l->confine.own) {
        CB_GO(cb_zone_new(f->head.alloc, &zone, err));
        CB_GO(find_confined(l, f, zone, parent, url, key, &number, err));
    } else {
        CB_GO(open_store(l, f, parent, &number, err));
        CB_GO(note(f, l->parents, parent, number, err));
    }
    *store = l->stores[number];
    l->bytes =
        (size_t)l->nstores * CB_STORE_BYTES + cb_json_bytes(l->opened) + cb_json_bytes(l->parents);
out:
    cb_zone_free(zone);
    return st;
}
