#define _GNU_SOURCE
#include "place/place.h"

#include <limits.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/error.h"
#include "cubed/zarr.h"
#include "place/place_pkg.h"
#include "store/core/file_kind.h"
#include "store/core/uri.h"

static cubed_status no_memory(cubed_error *err)
{
    return cb_fail(err, CUBED_E_NOMEM, "no memory for a place");
}

static bool is_there(const char *path, size_t n)
{
    char copy[PATH_MAX];
    if (n >= sizeof copy) return false;
    memcpy(copy, path, n);
    copy[n] = 0;
    return access(copy, F_OK) == 0;
}

/* Finds the separator in a local path, whose names may contain "::": the first one after an existing file or directory.
 * Returns NULL if the whole path exists, and the first "::" if nothing exists. */
static const char *find_local_separator(const char *path)
{
    const char *first = strstr(path, "::");
    for (const char *sep = first; sep; sep = strstr(sep + 2, "::")) {
        if (is_there(path, (size_t)(sep - path))) return sep;
    }
    return first && is_there(path, strlen(path)) ? NULL : first;
}

/* Finds the "::" after the store; NULL if none. A host may be an address with colons in brackets. */
static const char *find_separator(const char *url)
{
    const char *from = cb_url_authority(url);
    if (!from) return find_local_separator(url);
    const char *bracket = memchr(from, '[', strcspn(from, "/"));
    const char *end = bracket ? strchr(bracket, ']') : NULL;
    return strstr(end ? end : from, "::");
}

/* Removes user and password, which precede the last @ of the authority. In URLs of Azure, a container precedes the @. */
static char *without_user(cb_zone *zone, const char *url)
{
    char *copy = cb_zone_strdup(zone, url);
    if (strncasecmp(url, "abfs", 4) == 0 || strncasecmp(url, "az:", 3) == 0) return copy;
    const char *from = cb_url_of_file(url) ? NULL : cb_url_authority(url);
    if (!copy || !from) return copy;
    const char *at = memrchr(from, '@', strcspn(from, "/"));
    if (at) memmove(copy + (from - url), at + 1, strlen(at + 1) + 1);
    return copy;
}

const char *cubed_url_path(const char *url, size_t *n, size_t *store)
{
    const char *sep = find_separator(url), *end = url + strlen(url);
    const char *path = sep ? sep + 2 : end;
    *store = (size_t)((sep ? sep : end) - url);
    while (*path == '/') path++;
    while (end > path && end[-1] == '/') end--;
    *n = (size_t)(end - path);
    return path;
}

cubed_file_kind cubed_url_file_kind(const char *url)
{
    size_t n, store;
    (void)cubed_url_path(url, &n, &store);
    return cb_store_file_kind(url, store);
}

/* Copies the first n characters of a string. */
static char *first(cb_zone *zone, const char *text, size_t n)
{
    char *copy = cb_zone_memdup(zone, text, n + 1);
    if (copy) copy[n] = 0;
    return copy;
}

static bool has_scheme(const char *url, const char *const *schemes)
{
    for (; *schemes; schemes++) {
        const size_t n = strlen(*schemes);
        if (strncasecmp(url, *schemes, n) == 0 && strncmp(url + n, "://", 3) == 0) return true;
    }
    return false;
}

/* Separates user and password from the URL, because messages and plans repeat the URL. Rejects signatures in a URL and keys for
 * S3 and Google, which take keys from options: ignoring them would silently use other credentials. */
static cubed_status take_secrets(cb_zone *zone, const char *url, cb_place *p, cubed_error *err)
{
    static const char *const take[] = {"http", "https", "redis", "rediss", NULL};
    static const char *const refuse[] = {"s3", "gs", "gcs", NULL};
    const char *from = cb_url_authority(url);
    p->given = without_user(zone, url);
    if (!p->given) return no_memory(err);
    if (!from || cb_url_of_file(url)) return CUBED_OK;
    const size_t n = strlen(url) - strlen(p->given);
    if (n > 0 && has_scheme(url, refuse))
        return cb_fail(err, CUBED_E_ARG,
                       "the URL \"%s\" has a user or a password in front of the bucket, expected "
                       "none: give keys by variables or storage options",
                       p->given);
    if (n > 0 && has_scheme(url, take)) {
        p->user = first(zone, from, n - 1);
        if (!p->user) return no_memory(err);
    }
    char *shown = cb_zone_strdup(zone, p->given);
    if (!shown) return no_memory(err);
    cubed_hide_secrets(shown);
    if (strcmp(shown, p->given) == 0) return CUBED_OK;
    return cb_fail(
        err, CUBED_E_ARG,
        "the URL \"%s\" has a signature or a key in its query, expected none: give it by a "
        "variable or a storage option, such as sas_token",
        shown);
}

static cubed_status find_place(cb_zone *zone, const char *store, cb_place *p, cubed_error *err)
{
    const char *file = cb_url_of_file(store);
    if (!file && cb_url_authority(store)) return cb_place_find_url(zone, store, p, err);
    if (!file) return cb_place_find_local(zone, store, p, err);
    cb_buf root;
    cb_buf_init(&root, cb_zone_allocator(zone));
    cubed_status st = cb_url_decode(p->given, file, strlen(file), &root, err);
    if (st == CUBED_OK && root.size == 0)
        st = cb_fail(err, CUBED_E_ARG, "the URL \"%s\" does not name a store", p->given);
    if (st == CUBED_OK) st = cb_place_find_local(zone, root.data, p, err);
    cb_buf_free(&root);
    return st;
}

static cubed_status parse(cb_zone *zone, const char *url, bool split, cb_place *p, cubed_error *err)
{
    *p = (cb_place){.missing = ""};
    CB_TRY(take_secrets(zone, url, p, err));
    size_t n = 0, length = strlen(p->given);
    const char *path = split ? cubed_url_path(p->given, &n, &length) : "";
    const char *store = first(zone, p->given, length);
    p->path = first(zone, path, n);
    if (!store || !p->path) return no_memory(err);
    if (length == 0)
        return cb_fail(err, CUBED_E_ARG, "the URL \"%s\" does not name a store", p->given);
    const cubed_status key = n ? cb_key_check(p->path, err) : CUBED_OK;
    if (key != CUBED_OK) return cb_context(err, key, "%s", p->given);
    return find_place(zone, store, p, err);
}

cubed_status cb_place_parse(cb_zone *zone, const char *url, cb_place *out, cubed_error *err)
{
    return parse(zone, url, true, out, err);
}

cubed_status cb_place_parse_store(cb_zone *zone, const char *url, cb_place *out, cubed_error *err)
{
    return parse(zone, url, false, out, err);
}

cubed_status cb_place_parse_object(cb_zone *zone, const char *url, const char *key, cb_place *out,
                                   cubed_error *err)
{
    *out = (cb_place){.missing = "", .given = without_user(zone, url)};
    if (out->given) out->path = cb_zone_strdup(zone, key);
    if (!out->path) return no_memory(err);
    CB_TRY(cb_key_check(key, err));
    return find_place(zone, out->given, out, err);
}

cubed_status cb_place_copy(cb_zone *zone, const cb_place *from, cb_place *out, cubed_error *err)
{
    cb_place p = {.given = cb_zone_strdup(zone, from->given),
                  .user = from->user ? cb_zone_strdup(zone, from->user) : NULL,
                  .store = cb_zone_strdup(zone, from->store),
                  .path = cb_zone_strdup(zone, from->path),
                  .text = cb_zone_strdup(zone, from->text),
                  .ids = cb_zone_memdup(zone, from->ids, (size_t)from->nids * sizeof *from->ids),
                  .nids = from->nids,
                  .missing = cb_zone_strdup(zone, from->missing)};
    if (!p.given || !p.store || !p.path || !p.text || !p.ids || !p.missing) return no_memory(err);
    if (from->user && !p.user) return no_memory(err);
    *out = p;
    return CUBED_OK;
}

void cb_place_put_url(const cb_place *p, cb_buf *out)
{
    if (p->nids > 0 && strstr(p->store, "::"))
        cb_url_put_file(p->store, out);
    else
        cb_buf_puts(out, p->store);
    if (!*p->path) return;
    cb_buf_puts(out, "::");
    cb_buf_puts(out, p->path);
}

/* Compares two strings by their parts between slashes. */
static cb_place_relation compare_parts(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && a[n] == b[n]) n++;
    if (a[n] == b[n]) return CB_PLACES_SAME;
    if (!a[n] && (n == 0 || b[n] == '/')) return CB_PLACE_ABOVE;
    if (!b[n] && (n == 0 || a[n] == '/')) return CB_PLACE_BELOW;
    return CB_PLACES_APART;
}

static bool equal_ids(cb_place_id a, cb_place_id b) { return a.ino == b.ino && a.dev == b.dev; }

/* Returns the number of levels from `a`, if it exists, down to `b`, or -1 if `a` is not above `b`. */
static int distance(const cb_place *a, const cb_place *b)
{
    if (*a->missing) return -1;
    for (int i = 0; i < b->nids; i++) {
        if (equal_ids(a->ids[0], b->ids[i])) return i;
    }
    return -1;
}

cb_place_relation cb_place_compare(const cb_place *a, const cb_place *b)
{
    if (a->nids == 0 && b->nids == 0) return compare_parts(a->text, b->text);
    if (a->nids == 0 || b->nids == 0) return CB_PLACES_APART;
    if (equal_ids(a->ids[0], b->ids[0])) return compare_parts(a->missing, b->missing);
    const int above = distance(a, b), below = distance(b, a);
    if (above < 0 && below < 0) return CB_PLACES_APART;
    /* With mounts, each of two directories may be an ancestor of the other. Then the ancestor at the smaller distance counts as
     * above. If both distances are equal, the directory with the smaller ID counts as above, so that the result is
     * antisymmetric. */
    if (above < 0 || below < 0 || above != below)
        return below < 0 || (above >= 0 && above < below) ? CB_PLACE_ABOVE : CB_PLACE_BELOW;
    const cb_place_id x = a->ids[0], y = b->ids[0];
    return x.dev < y.dev || (x.dev == y.dev && x.ino < y.ino) ? CB_PLACE_ABOVE : CB_PLACE_BELOW;
}

/* Sets user and password as options of the URL's host, for this process and its workers. */
static cubed_status set_user(cb_stores *stores, const cb_place *p, cubed_error *err)
{
    static const char *const names[] = {"username", "password"};
    const char *host = cb_url_authority(p->store), *colon = strchr(p->user, ':');
    const char *parts[] = {p->user, colon ? colon + 1 : ""};
    const size_t sizes[] = {colon ? (size_t)(colon - p->user) : strlen(p->user), strlen(parts[1])};
    const size_t scope_size = (size_t)(host - p->store) + strcspn(host, "/");
    cb_buf scope, value;
    cubed_status st = CUBED_OK;
    cb_buf_init(&scope, stores->alloc);
    cb_buf_init(&value, stores->alloc);
    cb_buf_put(&scope, p->store, scope_size);
    for (int i = 0; i < 2; i++) {
        value.size = 0;
        cb_buf_put(&value, "", 0);
        cb_uri_decode(&value, parts[i], sizes[i], false);
        if (scope.failed || value.failed) CB_GO(no_memory(err));
        CB_GO(cb_net_set_option(&stores->net, scope.data, names[i],
                                value.size > 0 ? value.data : NULL, err));
    }
    CB_GO(cb_net_keep_secrets(&stores->net, err));
out:
    if (value.data) explicit_bzero(value.data, value.cap);
    cb_buf_free(&value);
    cb_buf_free(&scope);
    return st;
}

cubed_status cb_place_take_user(cb_stores *stores, cb_zone *zone, const char *url, const char **out,
                                cubed_error *err)
{
    cb_place p = {.missing = ""};
    *out = url;
    if (!cb_url_authority(url)) return CUBED_OK;
    CB_TRY(take_secrets(zone, url, &p, err));
    if (!p.user) return CUBED_OK;
    *out = p.given;
    p.store = p.given;
    return set_user(stores, &p, err);
}

cubed_status cb_place_open(cb_stores *stores, const cb_place *p, bool durable, cubed_store **out,
                           cubed_error *err)
{
    if (p->user) CB_TRY(set_user(stores, p, err));
    return cb_store_open(stores, p->store, durable, out, err);
}

cubed_status cb_place_open_store(cb_stores *stores, const char *url, bool durable,
                                 cubed_store **out, cubed_error *err)
{
    cb_zone *zone;
    cb_place p;
    CB_TRY(cb_zone_new(stores->alloc, &zone, err));
    cubed_status st = cb_place_parse_store(zone, url, &p, err);
    if (st == CUBED_OK) st = cb_place_open(stores, &p, durable, out, err);
    cb_zone_free(zone);
    return st;
}
