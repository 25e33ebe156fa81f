/* A store over one file: its keys are the objects in the file. */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "files/file_pkg.h"

static const cb_file_kind *const kinds[] = {&cb_file_zip,        &cb_file_cdf,  &cb_file_icechunk,
                                            &cb_file_references, &cb_file_grib, &cb_file_hdf5};

/* --- Objects ------------------------------------------------------------------------------------------ */

/* Number of ranges per request. */
enum { BATCH = 64 };

/* Reads `size` bytes of an entry's data in the file, starting at `from`. */
static cubed_status read_stored(const cb_file *f, const cb_entry *e, uint64_t from, size_t size,
                                char *dst, cubed_error *err)
{
    cubed_range ranges[BATCH];
    while (size > 0) {
        size_t n = 0, bytes = 0;
        for (; n < BATCH && bytes < size; n++) {
            const uint64_t run = e->run ? e->run : e->there, k = from / run;
            const size_t left = size - bytes;
            ranges[n].offset = e->offset + k * e->stride + from % run;
            ranges[n].size = run - from % run < left ? (size_t)(run - from % run) : left;
            bytes += ranges[n].size;
            from += ranges[n].size;
        }
        CB_TRY(cb_file_read_ranges(f, e->in, ranges, n, dst, err));
        dst += bytes;
        size -= bytes;
    }
    return CUBED_OK;
}

enum { PIECE = 65536 };

typedef struct inflation {
    z_stream z;
    uint8_t piece[PIECE];
} inflation;

/* Reads `size` bytes of an entry's data, starting at `from`, if the data is deflated. Inflation always starts at the beginning of
 * the data. */
static cubed_status inflate_stored(const cb_file *f, const cb_entry *e, uint64_t from, size_t size,
                                   char *dst, cubed_error *err)
{
    inflation *x = cb_alloc_zero(f->head.alloc, sizeof *x);
    uint64_t at = 0, left = e->deflated;
    cubed_status st = CUBED_OK;
    char skipped[4096];
    if (!x) return cb_file_no_memory(f, err);
    if (inflateInit2(&x->z, -15) != Z_OK) {
        cb_free(f->head.alloc, x, sizeof *x);
        return cb_file_no_memory(f, err);
    }
    for (int rc = Z_OK; at < from + size && st == CUBED_OK;) {
        if (x->z.avail_in == 0 && left > 0) {
            const cubed_range range = {e->offset + e->deflated - left,
                                       left < PIECE ? (size_t)left : PIECE};
            CB_GO(cb_file_read_ranges(f, NULL, &range, 1, x->piece, err));
            x->z.next_in = x->piece;
            x->z.avail_in = (uInt)range.size;
            left -= range.size;
        }
        char *to = at < from ? skipped : dst + (at - from);
        const uint64_t room = at < from ? from - at : from + size - at;
        const uInt cap = (uInt)(at < from ? (room < sizeof skipped ? room : sizeof skipped)
                                          : (room < UINT32_MAX ? room : UINT32_MAX));
        x->z.next_out = (Bytef *)to;
        x->z.avail_out = cap;
        if (rc == Z_OK) rc = inflate(&x->z, Z_NO_FLUSH);
        at += cap - x->z.avail_out;
        if (at < from + size && (rc != Z_OK || (x->z.avail_out == cap && left == 0)))
            st = cb_file_bad(f, err, "an entry does not inflate to its size");
    }
out:
    inflateEnd(&x->z);
    cb_free(f->head.alloc, x, sizeof *x);
    return st;
}

static cubed_status read_range(const cb_file *f, const cb_entry *e, cubed_range r, char *dst,
                               cubed_error *err)
{
    uint64_t at = r.offset;
    size_t left = r.size;
    if (at < e->nhead && left > 0) {
        const size_t n = cb_min_size(left, e->nhead - (size_t)at);
        memcpy(dst, (const char *)e->head + at, n);
        at += n;
        dst += n;
        left -= n;
    }
    if (left > 0 && at - e->nhead < e->there) {
        const uint64_t from = at - e->nhead;
        const size_t n = e->there - from < left ? (size_t)(e->there - from) : left;
        CB_TRY((e->deflated ? inflate_stored : read_stored)(f, e, from, n, dst, err));
        dst += n;
        left -= n;
    }
    memset(dst, 0, left);
    const bool whole = e->has_crc && r.offset == 0 && r.size == e->size;
    if (!whole || crc32_z(0, (const Bytef *)(dst + left - r.size), r.size) == e->crc)
        return CUBED_OK;
    return cb_file_bad(f, err, "the checksum of an entry does not match its bytes");
}

static cubed_status file_get(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    cb_file *f = (cb_file *)store;
    cb_entry e;
    CB_TRY(cb_file_find(f, r, &e, err));
    const cubed_range whole = {0, (size_t)e.size};
    const cubed_range *ranges = r->nranges ? r->ranges : &whole;
    const size_t n = r->nranges ? r->nranges : e.size <= r->cap;
    char *to = r->dst;
    r->got = 0;
    for (size_t i = 0; i < n; i++) {
        const cubed_range x = cubed_range_within(ranges[i], e.size);
        CB_TRY(read_range(f, &e, x, to, err));
        r->got += x.size;
        to += ranges[i].size;
    }
    return CUBED_OK;
}

static cubed_status file_head(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    cb_entry e;
    return cb_file_find((cb_file *)store, r, &e, err);
}

static cubed_status read_only(cubed_store *store, cubed_error *err)
{
    return cb_fail(err, CUBED_E_UNSUPPORTED, "%s is a file that can only be read", store->url);
}

static cubed_status file_put(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    (void)r;
    return read_only(store, err);
}

static cubed_status file_del(cubed_store *store, const char *key, cubed_error *err)
{
    (void)key;
    return read_only(store, err);
}

typedef struct listing {
    const cb_file *f;
    const cubed_store_request *r;
    size_t skip;   /* length of the requested prefix of keys, including its slash */
    cb_buf before; /* the prefix that was reported last, because each prefix is reported once */
} listing;

static cubed_status tell(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    listing *l = ctx;
    const char *name = key + l->skip;
    if (cb_key_check(key, NULL) != CUBED_OK)
        return cb_fail(err, CUBED_E_FORMAT,
                       "%s names an object \"%.200s\", which is not a relative path without empty, "
                       "\".\" or \"..\" parts",
                       l->f->url, key);
    const char *slash = l->r->delimiter ? strchr(name, l->r->delimiter) : NULL;
    cubed_store_entry e = {.key = key, .size = size};
    if (!slash) return l->r->entry(l->r->entry_ctx, &e, err);
    const size_t n = (size_t)(slash - key);
    if (l->before.size == n && memcmp(l->before.data, key, n) == 0) return CUBED_OK;
    l->before.size = 0;
    cb_buf_put(&l->before, key, n);
    if (l->before.failed) return cb_fail(err, CUBED_E_NOMEM, "no memory for a listing");
    e = (cubed_store_entry){.key = l->before.data, .is_prefix = true};
    return l->r->entry(l->r->entry_ctx, &e, err);
}

static cubed_status file_list(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    cb_file *f = (cb_file *)store;
    char prefix[4096] = "";
    const size_t n = strlen(r->key);
    listing l = {.f = f, .r = r, .skip = n ? n + 1 : 0};
    if (n + 2 > sizeof prefix) return CUBED_OK; /* keys are never this long */
    memcpy(prefix, r->key, n);
    if (n) memcpy(prefix + n, "/", 2);
    cb_buf_init(&l.before, store->alloc);
    cubed_status st = f->kind->each(f, prefix, !r->delimiter, tell, &l, err);
    cb_buf_free(&l.before);
    return st;
}

/* --- Opening ------------------------------------------------------------------------------------------ */

static void file_close(cubed_store *store)
{
    cb_file *f = (cb_file *)store;
    cb_zone *zone = f->zone;
    if (f->kind && f->kind->close) f->kind->close(f);
    cb_store_close(f->within);
    cb_file_drop_pages(f);
    cb_mutex_destroy(&f->lock);
    cb_zone_free(zone);
}

static void file_submit(cubed_store *store, cubed_store_request *const *requests, size_t n)
{
    static const cubed_store_functions functions = {
        .get = file_get, .put = file_put, .del = file_del, .list = file_list, .head = file_head};
    const bool far = !(store->vt->flags & CUBED_STORE_AT_ONCE);
    for (size_t i = 0; i < n; i++) {
        if (!far || !cb_file_pass((cb_file *)store, requests[i]))
            cubed_store_serve(store, &functions, requests + i, 1);
    }
}

static const cubed_store_vtable file_vtable = {
    .struct_size = sizeof(cubed_store_vtable),
    .version = CUBED_STORE_VERSION,
    .flags = CUBED_STORE_AT_ONCE,
    .scheme = "file in a store",
    .submit = file_submit,
    .close = file_close,
};

/* Sets the vtable of a file in a store with latency. There is one vtable of files for each vtable of an underlying store, with
 * the limits of that store. All files in such stores share it. */
static cubed_status choose_vtable(cb_file *f, cubed_error *err)
{
    const cubed_store_vtable *below = f->within->vt;
    if (below->flags & CUBED_STORE_AT_ONCE) return CUBED_OK;
    cb_added_store *first = atomic_load(&f->stores->files), *made = NULL;
    do {
        /* Another thread may have added the vtable in the meantime, so all are compared again. */
        for (const cb_added_store *x = first; x; x = x->next) {
            if (x->own.ctx != below) continue;
            cb_free(f->stores->alloc, made, sizeof *made);
            f->head.vt = &x->own;
            return CUBED_OK;
        }
        if (!made) made = cb_alloc_zero(f->stores->alloc, sizeof *made);
        if (!made) return cb_file_no_memory(f, err);
        made->own = file_vtable;
        made->own.flags = 0;
        made->own.ctx = (void *)(uintptr_t)below;
        made->own.max_in_flight = below->max_in_flight;
        made->own.gap = below->gap;
        made->next = first;
    } while (!atomic_compare_exchange_weak(&f->stores->files, &first, made));
    f->head.vt = &made->own;
    return CUBED_OK;
}

static bool is_file(const cubed_store *s) { return s->vt->close == file_close; }

cb_file *cb_file_of(cubed_store *s) { return is_file(s) ? (cb_file *)s : NULL; }

size_t cb_file_bytes(const cubed_store *s)
{
    const cb_file *f = (const cb_file *)s;
    return is_file(s) ? cb_zone_bytes(f->zone) + f->outside + f->passing : 0;
}

bool cb_file_refers(const cubed_store *s)
{
    return is_file(s) && ((const cb_file *)s)->kind->know != NULL;
}

cubed_status cb_file_keep_references(const cubed_store *s, cb_zone *zone, const char **out,
                                     cubed_error *err)
{
    const char *known = cb_file_refers(s) ? ((const cb_file *)s)->references : NULL;
    *out = known ? cb_zone_strdup(zone, known) : NULL;
    return known && !*out ? cb_file_no_memory((const cb_file *)s, err) : CUBED_OK;
}

cubed_status cb_file_know_chunks(cubed_store *s, const char *path, int ndim, const int64_t *lo,
                                 const int64_t *hi, cubed_error *err)
{
    cb_file *f = (cb_file *)s;
    if (!cb_file_refers(s)) return CUBED_OK;
    cb_mutex_lock(&f->lock);
    const cubed_status st = f->kind->know(f, path, ndim, lo, hi, err);
    cb_mutex_unlock(&f->lock);
    return st;
}

static cubed_status open_kind(cb_file *f, cubed_error *err)
{
    uint8_t first[64];
    const size_t n = (size_t)(f->info.size < sizeof first ? f->info.size : sizeof first);
    CB_TRY(cb_file_get(f, 0, first, n, err));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !f->kind; i++) {
        if (kinds[i]->is(f, first, n)) f->kind = kinds[i];
    }
    if (f->kind) return f->kind->open(f, err);
    return cb_fail(err, CUBED_E_UNSUPPORTED,
                   "%s is a file of an unknown format, expected NetCDF (4, or classic formats 1, 2 "
                   "and 5), HDF5, GRIB, ZIP, kerchunk references or an Icechunk snapshot",
                   f->url);
}

/* Returns the URL of the snapshot that was opened. The branch in `url` may later point to another snapshot. */
static const char *url_of_snapshot(cb_zone *zone, const char *url, const char *ref,
                                   const char *snapshot)
{
    size_t n = strlen(url);
    const size_t nref = strlen(ref), size = n + CB_ICECHUNK_KEY + 16;
    char *out = cb_zone_alloc(zone, size);
    if (n > nref && strcmp(url + n - nref, ref) == 0) n -= nref;
    if (out) snprintf(out, size, "%.*s@snapshot.%s", (int)n, url, strchr(snapshot, '/') + 1);
    return out;
}

const char *cb_file_fixed_url(const cubed_store *s)
{
    return is_file(s) && ((const cb_file *)s)->kind->fixed ? s->url : NULL;
}

cubed_status cb_file_put_version(cubed_store *s, const char *key, cb_buf *out, cubed_error *err)
{
    cb_file *f = cb_file_of(s);
    return f && f->kind->put_version ? f->kind->put_version(f, key, out, err) : CUBED_OK;
}

/* Collects the places that the caller and the context allow references to. */
static cubed_status find_allowed(cb_file *f, const char *references, cubed_error *err)
{
    const char *known;
    const size_t root = cb_store_root_length(f->url);
    char *url = cb_zone_memdup(f->zone, f->url, root + 1);
    if (!url) return cb_file_no_memory(f, err);
    url[root] = 0; /* options are registered for a repository, without the branch */
    CB_TRY(cb_net_get_references(&f->stores->net, f->zone, url, &known, err));
    f->references = references ? cb_zone_strdup(f->zone, references) : known;
    if (!references || !known) return CUBED_OK;
    const size_t n = strlen(references), size = n + strlen(known) + 2;
    char *both = cb_zone_alloc(f->zone, size);
    if (!both) return cb_file_no_memory(f, err);
    snprintf(both, size, "%s\n%s", references, known);
    f->references = both;
    return CUBED_OK;
}

cubed_status cb_file_open(cb_stores *stores, cubed_store *within, const char *key, const char *url,
                          cubed_store **out, cubed_error *err)
{
    return cb_file_open_allowed(stores, within, key, url, NULL, out, err);
}

cubed_status cb_file_open_allowed(cb_stores *stores, cubed_store *within, const char *key,
                                  const char *url, const char *references, cubed_store **out,
                                  cubed_error *err)
{
    cb_zone *zone = NULL;
    char snapshot[CB_ICECHUNK_KEY] = "";
    cubed_status st = cb_zone_new(within->alloc, &zone, err);
    cb_file *f = st == CUBED_OK ? cb_zone_alloc(zone, sizeof *f) : NULL;
    if (!f) {
        cb_store_close(within);
        cb_zone_free(zone);
        return st == CUBED_OK ? cb_fail(err, CUBED_E_NOMEM, "no memory to read %s", url) : st;
    }
    cb_mutex_init(&f->lock);
    f->zone = zone;
    f->within = within;
    f->stores = stores;
    f->url = cb_zone_strdup(zone, url);
    if (f->url && *key == CB_REF_OF_REPOSITORY) {
        st = cb_icechunk_find(within, key + 1, url, snapshot, err);
        if (st == CUBED_OK) f->url = url_of_snapshot(zone, url, key, snapshot);
        key = snapshot;
    }
    f->key = cb_zone_strdup(zone, key);
    f->head = (cubed_store){&file_vtable, within->alloc, f->url};
    if (st != CUBED_OK) goto out;
    if (!f->key || !f->url) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory to read %s", url));
    CB_GO(find_allowed(f, references, err));
    CB_GO(cb_store_head(within, key, &f->info, err));
    CB_GO(open_kind(f, err));
    CB_GO(choose_vtable(f, err));
    cb_file_drop_pages(f);
    *out = &f->head;
    return CUBED_OK;
out:
    file_close(&f->head);
    return st;
}
