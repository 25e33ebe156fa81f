#define XXH_INLINE_ALL
#include "store/core/store.h"

#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include "base/error.h"

void cb_store_close(cubed_store *s)
{
    if (s) s->vt->close(s);
}

/* --- Reading and writing ------------------------------------------------------------------------------ */

cubed_status cb_store_get(cubed_store *s, const char *key, uint64_t offset, void *dst, size_t size,
                          size_t *got, cubed_error *err)
{
    const cubed_range range = {offset, size};
    cubed_store_request r = {
        .op = CUBED_STORE_GET, .key = key, .ranges = &range, .nranges = 1, .dst = dst, .cap = size};
    CB_TRY(cb_store_do(s, &r, err));
    *got = r.got;
    return CUBED_OK;
}

cubed_status cb_store_get_whole(cubed_store *s, const char *key, void *dst, size_t cap,
                                cubed_object_info *info, const cubed_cancel *cancel,
                                cubed_error *err)
{
    cubed_store_request r = {.op = CUBED_STORE_GET, .key = key, .dst = dst, .cap = cap};
    CB_TRY(cb_store_do_until(s, &r, cancel, err));
    *info = r.info;
    if (r.got == info->size || info->size > cap) return CUBED_OK;
    return cb_fail(err, CUBED_E_FORMAT, "%s of %s is shorter than its stated size", key, s->url);
}

cubed_status cb_store_get_parts(cubed_store *s, const char *key, const cb_store_parts *parts,
                                void *dst, cubed_object_info *info, const cubed_cancel *cancel,
                                cubed_error *err)
{
    cubed_store_request r = {.op = CUBED_STORE_GET,
                             .key = key,
                             .if_match = parts->version ? parts->version->text : NULL,
                             .ranges = parts->ranges,
                             .nranges = parts->n,
                             .dst = dst};
    for (size_t i = 0; i < parts->n; i++) r.cap += parts->ranges[i].size;
    cubed_status st = cb_store_do_until(s, &r, cancel, err);
    if (st == CUBED_E_EXISTS)
        return cb_fail(err, CUBED_E_FORMAT, "%s of %s was replaced while it was read", key, s->url);
    if (st != CUBED_OK) return st;
    *info = r.info;
    if (r.got == r.cap) return CUBED_OK;
    return cb_fail(err, CUBED_E_FORMAT, "%s of %s ends within a range that is read", key, s->url);
}

cubed_status cb_store_put(cubed_store *s, const char *key, const void *src, size_t size,
                          cubed_error *err)
{
    cubed_store_request r = {.op = CUBED_STORE_PUT, .key = key, .src = src, .size = size};
    return cb_store_do(s, &r, err);
}

cubed_status cb_store_put_if(cubed_store *s, const char *key, const cubed_object_version *expected,
                             const void *src, size_t size, cubed_object_version *version,
                             cubed_error *err)
{
    const bool absent = cb_version_is_none(expected);
    cubed_store_request r = {.op = CUBED_STORE_PUT,
                             .key = key,
                             .if_match = absent ? NULL : expected->text,
                             .if_none_match = absent ? "*" : NULL,
                             .src = src,
                             .size = size};
    CB_TRY(cb_store_do(s, &r, err));
    *version = r.info.version;
    return CUBED_OK;
}

cubed_status cb_store_del_all(cubed_store *s, const char *const *keys, size_t n, cubed_error *err)
{
    cubed_store_request r = {.op = CUBED_STORE_DELETE, .keys = keys, .nkeys = n};
    return cb_store_do(s, &r, err);
}

cubed_status cb_store_del(cubed_store *s, const char *key, cubed_error *err)
{
    return cb_store_del_all(s, &key, 1, err);
}

cubed_status cb_store_del_if(cubed_store *s, const char *key, const cubed_object_version *version,
                             cubed_error *err)
{
    const char *text = version->text;
    cubed_store_request r = {.op = CUBED_STORE_DELETE, .keys = &key, .nkeys = 1};
    if (!cb_version_is_none(version) && s->vt->flags & CUBED_STORE_DELETES_IF) r.versions = &text;
    if (!cb_version_is_none(version) && s->vt->flags & CUBED_STORE_GUARDS) {
        r.guard = key;
        r.guard_version = text;
    }
    return cb_store_do(s, &r, err);
}

cubed_status cb_store_head(cubed_store *s, const char *key, cubed_object_info *info,
                           cubed_error *err)
{
    cubed_store_request r = {.op = CUBED_STORE_HEAD, .key = key};
    CB_TRY(cb_store_do(s, &r, err));
    *info = r.info;
    return CUBED_OK;
}

cubed_status cb_store_size(cubed_store *s, const char *key, uint64_t *size, cubed_error *err)
{
    cubed_object_info info;
    CB_TRY(cb_store_head(s, key, &info, err));
    *size = info.size;
    return CUBED_OK;
}

cubed_status cb_store_find(cubed_store *s, const char *key, cubed_object_info *info,
                           cubed_error *err)
{
    cubed_error why = CUBED_ERROR_INIT;
    *info = (cubed_object_info){.size = 0};
    cubed_status st = cb_store_head(s, key, info, &why);
    if (st == CUBED_OK || st == CUBED_E_NOT_FOUND) return CUBED_OK;
    if (err) *err = why;
    return st;
}

cubed_status cb_store_exists(cubed_store *s, const char *key, bool *out, cubed_error *err)
{
    cubed_object_info info;
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st = cb_store_head(s, key, &info, &why);
    if (st != CUBED_OK && st != CUBED_E_NOT_FOUND) {
        if (err) *err = why;
        return st;
    }
    *out = st == CUBED_OK;
    return CUBED_OK;
}

/* DOCUMENT_BYTES: size of the first read of a document. Most metadata is shorter. */
enum { DOCUMENT_BYTES = 16384, OTHERS_CHANGED = 5 };

/* Reads the bytes after the first ones, of the same version. Returns CUBED_E_EXISTS if the object has changed. */
static cubed_status read_rest(cubed_store *s, const char *key, cb_buf *out,
                              const cubed_store_request *first, cubed_error *err)
{
    const cubed_range range = {first->got, (size_t)first->info.size - first->got};
    cubed_store_request r = {.op = CUBED_STORE_GET,
                             .key = key,
                             .if_match =
                                 first->info.version.text[0] ? first->info.version.text : NULL,
                             .ranges = &range,
                             .nranges = 1,
                             .dst = cb_alloc(s->alloc, range.size),
                             .cap = range.size};
    if (!r.dst) return cb_fail(err, CUBED_E_NOMEM, "no memory to read %s", key);
    cubed_status st = cb_store_do(s, &r, err);
    if (st == CUBED_OK && r.got < range.size)
        st = cb_fail(err, CUBED_E_EXISTS, "%s of %s is shorter than it was", key, s->url);
    if (st == CUBED_OK) cb_buf_put(out, r.dst, range.size);
    cb_free(s->alloc, r.dst, range.size);
    return st;
}

cubed_status cb_store_read_object(cubed_store *s, const char *key, size_t max, cb_buf *out,
                                  cubed_object_info *info, cubed_error *err)
{
    char part[DOCUMENT_BYTES];
    const cubed_range range = {0, sizeof part};
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st = CUBED_E_EXISTS;
    const size_t before = out->size;
    for (int i = 0; i < OTHERS_CHANGED && st == CUBED_E_EXISTS; i++) {
        cubed_store_request r = {.op = CUBED_STORE_GET,
                                 .key = key,
                                 .ranges = &range,
                                 .nranges = 1,
                                 .dst = part,
                                 .cap = sizeof part};
        out->size = before;
        CB_TRY(cb_store_do(s, &r, err));
        if (r.info.size > max)
            return cb_fail(err, CUBED_E_FORMAT, "%s of %s has more than %zu bytes", key, s->url,
                           max);
        cb_buf_put(out, part, r.got);
        *info = r.info;
        st = r.info.size > r.got ? read_rest(s, key, out, &r, &why) : CUBED_OK;
    }
    if (st != CUBED_OK) {
        if (err) *err = why;
        return st;
    }
    return out->failed ? cb_fail(err, CUBED_E_NOMEM, "no memory to read %s", key) : CUBED_OK;
}

cubed_status cb_store_read_all(cubed_store *s, const char *key, size_t max, cb_buf *out,
                               cubed_error *err)
{
    cubed_object_info info;
    return cb_store_read_object(s, key, max, out, &info, err);
}

/* --- Listing ------------------------------------------------------------------------------------------ */

/* Entries of a page, copied so that fn does not run in a thread of the store. */
typedef struct page {
    cb_buf text;
    size_t n;
} page;

static cubed_status keep_entry(void *ctx, const cubed_store_entry *e, cubed_error *err)
{
    page *p = ctx;
    const char *version = e->version ? e->version : "";
    cubed_store_entry copy = *e;
    copy.key = copy.version = NULL;
    cb_buf_put(&p->text, &copy, sizeof copy);
    cb_buf_put(&p->text, e->key, strlen(e->key) + 1);
    cb_buf_put(&p->text, version, strlen(version) + 1);
    p->n++;
    return p->text.failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for a listing") : CUBED_OK;
}

static cubed_status tell_page(const page *p, cubed_store_entry_fn fn, void *ctx, cubed_error *err)
{
    const char *at = p->text.data;
    for (size_t i = 0; i < p->n; i++) {
        cubed_store_entry e;
        memcpy(&e, at, sizeof e);
        e.key = at + sizeof e;
        at = e.key + strlen(e.key) + 1;
        e.version = *at ? at : NULL;
        at += strlen(at) + 1;
        CB_TRY(fn(ctx, &e, err));
    }
    return CUBED_OK;
}

cubed_status cb_page_watch_next(cb_page_watch *w, const cubed_store *s, const char *token,
                                size_t entries, cubed_error *err)
{
    const uint64_t hash = XXH3_64bits(token, strlen(token));
    w->empty = entries ? 0 : w->empty + 1;
    if (w->n > 0 && hash == w->kept)
        return cb_fail(err, CUBED_E_IO,
                       "%s: the listing does not end: the server repeats the token \"%.80s\" of an "
                       "earlier page",
                       s->url, token);
    const uint64_t most = w->most_empty ? w->most_empty : CB_PAGES_MOST_EMPTY;
    if (w->empty > most)
        return cb_fail(err, CUBED_E_IO,
                       "%s: the listing does not end: %" PRIu64
                       " pages in succession have no entries, expected "
                       "fewer",
                       s->url, most);
    if (w->n == w->keep_at) {
        w->kept = hash;
        w->keep_at = 2 * w->n + 1;
    }
    w->n++;
    return CUBED_OK;
}

static cubed_status list_pages(cubed_store *s, const char *prefix, char delimiter,
                               cubed_store_entry_fn fn, void *ctx, cubed_error *err)
{
    const bool at_once = s->vt->flags & CUBED_STORE_AT_ONCE;
    char this_page[CUBED_STORE_PAGE_CAP] = "", next_page[CUBED_STORE_PAGE_CAP];
    page p = {.n = 0};
    cb_page_watch watch = {.n = 0};
    cubed_status st = CUBED_OK;
    cb_buf_init(&p.text, s->alloc);
    do {
        next_page[0] = 0;
        p.text.size = p.n = 0;
        cubed_store_request r = {.op = CUBED_STORE_LIST,
                                 .key = prefix,
                                 .delimiter = delimiter,
                                 .entry = at_once ? fn : keep_entry,
                                 .entry_ctx = at_once ? ctx : &p,
                                 .page = this_page[0] ? this_page : NULL,
                                 .next_page = next_page};
        CB_GO(cb_store_do(s, &r, err));
        CB_GO(tell_page(&p, fn, ctx, err));
        if (next_page[0]) CB_GO(cb_page_watch_next(&watch, s, next_page, at_once ? 1 : p.n, err));
        memcpy(this_page, next_page, sizeof this_page);
    } while (this_page[0]);
out:
    cb_buf_free(&p.text);
    return st;
}

typedef struct key_listing {
    cubed_store_list_fn fn;
    void *ctx;
} key_listing;

static cubed_status tell_key(void *ctx, const cubed_store_entry *e, cubed_error *err)
{
    const key_listing *l = ctx;
    return l->fn(l->ctx, e->key, e->size, err);
}

cubed_status cb_store_list(cubed_store *s, const char *prefix, cubed_store_list_fn fn, void *ctx,
                           cubed_error *err)
{
    key_listing l = {fn, ctx};
    return list_pages(s, prefix, 0, tell_key, &l, err);
}

typedef struct member_listing {
    size_t skip;
    cubed_store_member_fn fn;
    void *ctx;
} member_listing;

static cubed_status tell_member(void *ctx, const cubed_store_entry *e, cubed_error *err)
{
    const member_listing *l = ctx;
    return l->fn(l->ctx, e->key + l->skip, e->is_prefix && !e->is_link, err);
}

cubed_status cb_store_entries(cubed_store *s, const char *prefix, cubed_store_entry_fn fn,
                              void *ctx, cubed_error *err)
{
    return list_pages(s, prefix, '/', fn, ctx, err);
}

cubed_status cb_store_members(cubed_store *s, const char *prefix, cubed_store_member_fn fn,
                              void *ctx, cubed_error *err)
{
    member_listing l = {*prefix ? strlen(prefix) + 1 : 0, fn, ctx};
    return list_pages(s, prefix, '/', tell_member, &l, err);
}

/* --- Whole prefixes ----------------------------------------------------------------------------------- */

/* Collected keys and versions, each with its terminating NUL. A version is "" if the listing has none. */
typedef struct batch {
    cb_store_wants_fn wants;
    cb_store_batch_fn fn;
    void *ctx;
    bool versions;
    cb_buf text;
    size_t n;
} batch;

static cubed_status end_batch(batch *b, cubed_error *err)
{
    const char *keys[CB_STORE_BATCH], *versions[CB_STORE_BATCH];
    const char *at = b->text.data;
    for (size_t i = 0; i < b->n; i++) {
        keys[i] = at;
        at += strlen(at) + 1;
        versions[i] = *at ? at : NULL;
        at += strlen(at) + 1;
    }
    const size_t n = b->n;
    b->text.size = b->n = 0;
    return n ? b->fn(b->ctx, keys, b->versions ? versions : NULL, n, err) : CUBED_OK;
}

static cubed_status add_to_batch(void *ctx, const cubed_store_entry *e, cubed_error *err)
{
    batch *b = ctx;
    const char *version = e->version ? e->version : "";
    if (b->wants && !b->wants(b->ctx, e->key)) return CUBED_OK;
    cb_buf_put(&b->text, e->key, strlen(e->key) + 1);
    cb_buf_put(&b->text, version, strlen(version) + 1);
    if (b->text.failed) return cb_fail(err, CUBED_E_NOMEM, "out of memory: the key %s", e->key);
    return ++b->n == CB_STORE_BATCH ? end_batch(b, err) : CUBED_OK;
}

cubed_status cb_store_list_batches(cubed_store *s, const char *prefix, cb_store_wants_fn wants,
                                   cb_store_batch_fn fn, void *ctx, cubed_error *err)
{
    batch b = {wants, fn, ctx, (s->vt->flags & CUBED_STORE_DELETES_IF) != 0, {0}, 0};
    cb_buf_init(&b.text, s->alloc);
    cubed_status st = list_pages(s, prefix, 0, add_to_batch, &b, err);
    if (st == CUBED_OK) st = end_batch(&b, err);
    cb_buf_free(&b.text);
    return st;
}

static cubed_status delete_batch(void *store, const char *const *keys, const char *const *versions,
                                 size_t n, cubed_error *err)
{
    (void)versions; /* delete any version that exists */
    return cb_store_del_all(store, keys, n, err);
}

cubed_status cb_store_clear(cubed_store *s, const char *prefix, cubed_error *err)
{
    if (*prefix) CB_TRY(cb_key_check(prefix, err));
    if (s->vt->clear) return s->vt->clear(s, prefix, err);
    return cb_store_list_batches(s, prefix, NULL, delete_batch, s, err);
}

cubed_status cb_store_sweep(cubed_store *s, const char *prefix, unsigned flags,
                            cubed_store_list_fn fn, void *ctx, cubed_error *err)
{
    if (*prefix) CB_TRY(cb_key_check(prefix, err));
    return s->vt->sweep ? s->vt->sweep(s, prefix, flags, fn, ctx, err) : CUBED_OK;
}

cubed_status cb_store_swap(cubed_store *s, const char *a, const char *b, cubed_error *err)
{
    CB_TRY(cb_key_check(a, err));
    CB_TRY(cb_key_check(b, err));
    if (!s->vt->swap)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "stores of kind %s cannot replace a whole array",
                       s->vt->scheme);
    return s->vt->swap(s, a, b, err);
}

bool cb_store_copies(const cubed_store *s) { return !s->vt->swap && s->vt->copy; }

cubed_status cb_store_copy(cubed_store *s, const char *const *from, const char *const *to, size_t n,
                           cubed_error *err)
{
    for (size_t i = 0; i < n; i++) {
        CB_TRY(cb_key_check(from[i], err));
        CB_TRY(cb_key_check(to[i], err));
    }
    if (!s->vt->copy)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "stores of kind %s cannot copy objects",
                       s->vt->scheme);
    return s->vt->copy(s, from, to, n, err);
}

bool cb_store_takes_pieces(const cubed_store *s) { return s->vt->begin_pieces != NULL; }

cubed_status cb_store_begin_pieces(cubed_store *s, const char *key, cubed_store_pieces **out,
                                   cubed_error *err)
{
    CB_TRY(cb_key_check(key, err));
    return s->vt->begin_pieces(s, key, out, err);
}

cubed_status cb_store_around(cubed_store *s, const char *path, cubed_store **out, char *name,
                             size_t cap, cubed_error *err)
{
    if (*path) CB_TRY(cb_key_check(path, err));
    if (!s->vt->around)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "stores of kind %s cannot replace a whole array",
                       s->vt->scheme);
    return s->vt->around(s, path, out, name, cap, err);
}

bool cb_store_has_places(const cubed_store *s) { return s->vt->anchor != NULL; }

cubed_status cb_store_anchor(cubed_store *s, const char *path, bool make, cubed_store **out,
                             cubed_error *err)
{
    if (*path) CB_TRY(cb_key_check(path, err));
    CB_CHECK(s->vt->anchor, err);
    return s->vt->anchor(s, path, make, out, err);
}
