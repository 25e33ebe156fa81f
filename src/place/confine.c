#include "place/confine.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "place/place_pkg.h"

static cubed_status no_memory(cubed_error *err)
{
    return cb_fail(err, CUBED_E_NOMEM, "no memory for the places that references may lead to");
}

/* Returns the length of "scheme://host" in a canonical URL. */
static size_t host_end(const char *url)
{
    const char *from = cb_url_authority(url);
    return from ? (size_t)(from - url) + strcspn(from, "/") : 0;
}

static cubed_status find_own(cb_zone *zone, const char *document, cb_confine *out, cubed_error *err)
{
    cb_place p;
    CB_TRY(cb_place_parse_store(zone, document, &p, err));
    if (p.nids > 0) return CUBED_OK;
    const size_t n = host_end(p.store);
    char *own = cb_zone_memdup(zone, p.store, n + 1);
    if (!own) return no_memory(err);
    own[n] = 0;
    out->own = own;
    return CUBED_OK;
}

cubed_status cb_confine_init(cb_zone *zone, const char *document, const char *allowed,
                             cb_confine *out, cubed_error *err)
{
    int cap = 0;
    *out = (cb_confine){.own = NULL};
    CB_TRY(find_own(zone, document, out, err));
    while (out->own && allowed && *allowed) {
        const size_t n = strcspn(allowed, "\n");
        char *prefix = cb_zone_memdup(zone, allowed, n + 1);
        if (!prefix ||
            !cb_zone_grow(zone, &out->allowed, out->nallowed, &cap, sizeof *out->allowed))
            return no_memory(err);
        prefix[n] = 0;
        CB_TRY(cb_place_parse_store(zone, prefix, &out->allowed[out->nallowed++], err));
        allowed += n + (allowed[n] == '\n');
    }
    return CUBED_OK;
}

/* Returns true if the object is at or below the place. The links in both paths are resolved, so an object that is reached through
 * a link out of an allowed directory is outside. cb_place_compare would consider the object to be inside. */
static bool is_in(const cb_place *place, const cb_place *object)
{
    size_t n = strlen(place->text);
    while (n > 0 && place->text[n - 1] == '/') n--;
    return strncmp(object->text, place->text, n) == 0 &&
           (object->text[n] == '/' || !object->text[n]);
}

bool cb_confine_allows(const cb_confine *c, const cb_place *object, bool *all_in_parent)
{
    *all_in_parent = object->nids == 0;
    if (!c->own) return true;
    const size_t n = strlen(c->own);
    if (object->nids == 0 && host_end(object->text) == n && memcmp(object->text, c->own, n) == 0)
        return true;
    for (int i = 0; i < c->nallowed; i++) {
        if (!is_in(&c->allowed[i], object)) continue;
        if (strcmp(c->allowed[i].text, object->text) == 0) *all_in_parent = false;
        return true;
    }
    *all_in_parent = false;
    return false;
}

bool cb_confine_is_own(const cb_confine *c, const char *url)
{
    const size_t n = c->own ? strlen(c->own) : 0;
    if (n == 0 || host_end(url) != n || memcmp(url, c->own, n) != 0) return false;
    for (int i = 0; i < c->nallowed; i++) {
        const cb_place *p = &c->allowed[i];
        if (p->nids == 0 && host_end(p->text) == n && memcmp(p->text, c->own, n) == 0) return false;
    }
    return true;
}

/* Appends the canonical form of a prefix of n bytes. Requires a path or a URL with a host. */
static cubed_status put_prefix(cb_zone *zone, const char *text, size_t n, cb_buf *out,
                               cubed_error *err)
{
    cb_place p;
    char *prefix = cb_zone_memdup(zone, text, n + 1);
    if (!prefix) return no_memory(err);
    prefix[n] = 0;
    CB_TRY(cb_place_parse_store(zone, prefix, &p, err));
    const char *host = p.nids == 0 ? cb_url_authority(p.store) : "local";
    if (!host || !*host || *host == '/' || strchr(p.store, '\n'))
        return cb_fail(
            err, CUBED_E_ARG,
            "\"%s\": expected a path or a URL with a host, such as s3://BUCKET/FOLDER, as "
            "a place that references may lead to",
            p.given);
    if (out->size > 0) cb_buf_puts(out, "\n");
    cb_buf_puts(out, p.store);
    return out->failed ? no_memory(err) : CUBED_OK;
}

cubed_status cb_confine_put_prefixes(const char *text, cb_buf *out, cubed_error *err)
{
    cb_zone *zone;
    CB_TRY(cb_zone_new(out->alloc, &zone, err));
    cubed_status st = CUBED_OK;
    while (*text && st == CUBED_OK) {
        const size_t n = strcspn(text, "\n");
        if (n > 0) st = put_prefix(zone, text, n, out, err);
        text += n + (text[n] == '\n');
    }
    cb_zone_free(zone);
    return st;
}
