/* References of kerchunk (versions 0 and 1 of its JSON), as VirtualiZarr writes them, too: for each key of a Zarr store the
 * object itself, or where it lies in others. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "files/file_pkg.h"

typedef struct reference {
    const char *key;
    const void *inside; /* the object; NULL: it lies elsewhere */
    const cb_object *in;
    uint64_t offset, size; /* size UINT64_MAX: all of it */
} reference;

typedef struct references {
    reference *list; /* by key */
    size_t n;
    cubed_store **stores;
    int nstores, cap;
} references;

/* While the document is read. */
typedef struct builder {
    cb_file *f;
    references *r;
    const json_t *templates;
    json_t *objects, *parents; /* by URL: addresses and numbers of what has been opened */
} builder;

#define MAX_BYTES ((uint64_t)1 << 30)

static bool is_references(cb_file *f, const uint8_t *first, size_t n)
{
    size_t i = 0;
    (void)f;
    while (i < n && (first[i] == ' ' || first[i] == '\n' || first[i] == '\t' || first[i] == '\r'))
        i++;
    return i < n && first[i] == '{';
}

static cubed_status bad_reference(const builder *b, const char *key, cubed_error *err)
{
    return cb_fail(
        err, CUBED_E_FORMAT,
        "%s: the reference %s is none: expected text, or a list of a URL, an offset and a "
        "length",
        b->f->url, key);
}

/* "{{u}}/a.nc" with the template u. */
static cubed_status fill_in(const builder *b, const char *url, cb_buf *out, cubed_error *err)
{
    while (*url) {
        const char *open = strstr(url, "{{");
        if (!open) break;
        const char *close = strstr(open, "}}");
        cb_buf_put(out, url, (size_t)(open - url));
        open += 2;
        size_t n = close ? (size_t)(close - open) : 0;
        while (n > 0 && *open == ' ') open++, n--;
        while (n > 0 && open[n - 1] == ' ') n--;
        char name[128] = "";
        if (n < sizeof name) memcpy(name, open, n);
        const char *text = json_string_value(json_object_get(b->templates, name));
        if (!text)
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "%s: \"%s\" is not supported: templates are names with texts", b->f->url,
                           url);
        cb_buf_puts(out, text);
        url = close + 2;
    }
    cb_buf_puts(out, url);
    return out->failed ? cb_file_no_memory(b->f, err) : CUBED_OK;
}

/* Paths are below the directory of the references. */
static void put_absolute(const builder *b, const char *url, cb_buf *out)
{
    const char *slash = strrchr(b->f->url, '/');
    if (strncmp(url, "file://", 7) == 0) url += 7;
    if (url[0] != '/' && !strstr(url, "://") && slash)
        cb_buf_put(out, b->f->url, (size_t)(slash + 1 - b->f->url));
    cb_buf_puts(out, url);
}

static cubed_status open_parent(builder *b, char *url, const char *slash, cubed_store **out,
                                cubed_error *err)
{
    references *r = b->r;
    char *parent = cb_zone_alloc(b->f->zone, (size_t)(slash - url) + 2);
    if (!parent) return cb_file_no_memory(b->f, err);
    memcpy(parent, url, slash == url ? 1 : (size_t)(slash - url));
    const json_t *known = json_object_get(b->parents, parent);
    if (known) {
        *out = r->stores[json_integer_value(known)];
        return CUBED_OK;
    }
    if (!cb_zone_grow(b->f->zone, &r->stores, r->nstores, &r->cap, sizeof *r->stores))
        return cb_file_no_memory(b->f, err);
    CB_TRY(cb_store_open(b->f->stores, parent, false, &r->stores[r->nstores], err));
    *out = r->stores[r->nstores];
    json_object_set_new(b->parents, parent, json_integer(r->nstores++));
    return CUBED_OK;
}

static cubed_status find_object(builder *b, const char *given, const cb_object **out,
                                cubed_error *err)
{
    const json_t *known = json_object_get(b->objects, given);
    cb_buf filled, url;
    cb_object *o = NULL;
    cubed_status st;
    if (known) {
        *out = (const cb_object *)(uintptr_t)json_integer_value(known);
        return CUBED_OK;
    }
    cb_buf_init(&filled, b->f->head.alloc);
    cb_buf_init(&url, b->f->head.alloc);
    CB_GO(fill_in(b, given, &filled, err));
    put_absolute(b, filled.data, &url);
    o = cb_zone_alloc(b->f->zone, sizeof *o);
    if (!o || url.failed) CB_GO(cb_file_no_memory(b->f, err));
    char *slash = strrchr(url.data, '/');
    if (!slash || !slash[1] || cb_key_check(slash + 1, NULL) != CUBED_OK)
        CB_GO(cb_fail(err, CUBED_E_FORMAT, "%s: \"%s\" names no file", b->f->url, given));
    o->key = cb_zone_strdup(b->f->zone, slash + 1);
    if (!o->key) CB_GO(cb_file_no_memory(b->f, err));
    CB_GO(open_parent(b, url.data, slash, &o->store, err));
    json_object_set_new(b->objects, given, json_integer((json_int_t)(uintptr_t)o));
    *out = o;
out:
    cb_buf_free(&filled);
    cb_buf_free(&url);
    return st;
}

static cubed_status keep_inside(const builder *b, reference *r, const char *text, size_t n,
                                cubed_error *err)
{
    static const char prefix[] = "base64:";
    const size_t skip = sizeof prefix - 1;
    const bool encoded = n >= skip && memcmp(text, prefix, skip) == 0;
    unsigned char *p = cb_zone_alloc(b->f->zone, n + 1);
    if (!p) return cb_file_no_memory(b->f, err);
    r->inside = p;
    r->size = n;
    if (!encoded) {
        memcpy(p, text, n);
        return CUBED_OK;
    }
    size_t got;
    if (!cb_base64_decode(text + skip, p, n, &got))
        return cb_fail(err, CUBED_E_FORMAT, "%s: the reference %s is no base64", b->f->url, r->key);
    r->size = got;
    return CUBED_OK;
}

static cubed_status add(builder *b, const char *key, const json_t *v, cubed_error *err)
{
    reference *r = &b->r->list[b->r->n];
    if (cb_key_check(key, NULL) != CUBED_OK) return CUBED_OK;
    r->key = cb_zone_strdup(b->f->zone, key);
    if (!r->key) return cb_file_no_memory(b->f, err);
    b->r->n++;
    if (json_is_string(v))
        return keep_inside(b, r, json_string_value(v), json_string_length(v), err);
    if (json_is_object(v)) { /* metadata that is not text yet */
        cb_buf text;
        cb_buf_init(&text, b->f->head.alloc);
        cubed_status st = cb_json_dump(v, 0, &text) ? keep_inside(b, r, text.data, text.size, err)
                                                    : cb_file_no_memory(b->f, err);
        cb_buf_free(&text);
        return st;
    }
    const size_t n = json_array_size(v);
    const char *url = json_string_value(json_array_get(v, 0));
    if (!url || (n != 1 && n != 3)) return bad_reference(b, key, err);
    r->size = UINT64_MAX;
    if (n == 3) {
        const json_t *offset = json_array_get(v, 1), *size = json_array_get(v, 2);
        if (!json_is_integer(offset) || !json_is_integer(size) || json_integer_value(offset) < 0 ||
            json_integer_value(size) < 0)
            return bad_reference(b, key, err);
        r->offset = (uint64_t)json_integer_value(offset);
        r->size = (uint64_t)json_integer_value(size);
    }
    return find_object(b, url, &r->in, err);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const reference *)a)->key, ((const reference *)b)->key);
}

static cubed_status build(builder *b, const json_t *doc, cubed_error *err)
{
    json_t *refs = json_object_get(doc, "refs"), *v;
    const char *key;
    if (json_array_size(json_object_get(doc, "gen")) > 0)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: generated references (\"gen\") are not supported", b->f->url);
    b->templates = json_object_get(doc, "templates");
    if (!refs) refs = (json_t *)(uintptr_t)doc; /* version 0 has nothing else */
    if (!json_object_get(refs, ".zgroup") && !json_object_get(refs, ".zarray") &&
        !json_object_get(refs, "zarr.json"))
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s is JSON, but no references of kerchunk to a Zarr group or array",
                       b->f->url);
    b->r->list = cb_zone_alloc(b->f->zone, json_object_size(refs) * sizeof *b->r->list);
    b->objects = json_object();
    b->parents = json_object();
    if (!b->r->list || !b->objects || !b->parents) return cb_file_no_memory(b->f, err);
    json_object_foreach(refs, key, v) CB_TRY(add(b, key, v, err));
    if (b->r->n) qsort(b->r->list, b->r->n, sizeof *b->r->list, by_key);
    return CUBED_OK;
}

static cubed_status open_references(cb_file *f, cubed_error *err)
{
    builder b = {.f = f, .r = cb_zone_alloc(f->zone, sizeof *b.r)};
    json_t *doc = NULL;
    if (!b.r) return cb_file_no_memory(f, err);
    f->data = b.r;
    if (f->info.size > MAX_BYTES)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "%s: references of more than 1 GiB", f->url);
    char *text = cb_alloc(f->head.alloc, (size_t)f->info.size);
    if (!text) return cb_file_no_memory(f, err);
    cubed_status st = cb_file_read(f, 0, text, (size_t)f->info.size, err);
    if (st == CUBED_OK) st = cb_json_parse(f->url, text, (size_t)f->info.size, &doc, err);
    cb_free(f->head.alloc, text, (size_t)f->info.size);
    if (st == CUBED_OK) st = build(&b, doc, err);
    json_decref(doc);
    json_decref(b.objects);
    json_decref(b.parents);
    return st;
}

static void close_references(cb_file *f)
{
    const references *r = f->data;
    for (int i = 0; r && i < r->nstores; i++) cb_store_close(r->stores[i]);
}

/* What leads to a file that is gone is not what is not there, and has a fill value. */
static cubed_status whole_size(const cb_file *f, const reference *x, uint64_t *out,
                               cubed_error *err)
{
    cubed_object_info info;
    CB_TRY(cb_store_find(x->in->store, x->in->key, &info, err));
    *out = info.size;
    if (!cb_version_is_none(&info.version)) return CUBED_OK;
    return cb_fail(err, CUBED_E_FORMAT, "%s: %s leads to %s of %s, which is not there", f->url,
                   x->key, x->in->key, x->in->store->url);
}

static cubed_status find_reference(cb_file *f, const char *key, cb_entry *out, cubed_error *err)
{
    const references *r = f->data;
    const reference wanted = {.key = key};
    const reference *x = r->n ? bsearch(&wanted, r->list, r->n, sizeof wanted, by_key) : NULL;
    if (!x) return cb_fail(err, CUBED_E_NOT_FOUND, "%s has no %s", f->url, key);
    out->size = x->size;
    if (x->inside) {
        out->head = x->inside;
        out->nhead = (size_t)x->size;
        return CUBED_OK;
    }
    out->in = x->in;
    out->offset = x->offset;
    if (x->size == UINT64_MAX) CB_TRY(whole_size(f, x, &out->size, err));
    out->there = out->size;
    return CUBED_OK;
}

static cubed_status each_reference(cb_file *f, const char *prefix, bool chunks, cb_file_each_fn fn,
                                   void *ctx, cubed_error *err)
{
    const references *r = f->data;
    const size_t n = strlen(prefix);
    (void)chunks;
    for (size_t i = 0; i < r->n; i++) {
        const uint64_t size = r->list[i].size;
        if (strncmp(r->list[i].key, prefix, n) == 0)
            CB_TRY(fn(ctx, r->list[i].key, size == UINT64_MAX ? 0 : size, err));
    }
    return CUBED_OK;
}

const cb_file_kind cb_file_references = {.is = is_references,
                                         .open = open_references,
                                         .close = close_references,
                                         .find = find_reference,
                                         .each = each_reference};
