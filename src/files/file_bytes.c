/* Reads bytes of the file. Pages are cached while the file is being opened. Also reports errors of reading. */
#define XXH_INLINE_ALL
#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include "files/file_pkg.h"

cubed_status cb_file_no_memory(const cb_file *f, cubed_error *err)
{
    return cb_fail(err, CUBED_E_NOMEM, "no memory to read %s", f->url);
}

cubed_status cb_file_bad(const cb_file *f, cubed_error *err, const char *what)
{
    return cb_fail(err, CUBED_E_FORMAT, "%s: %s", f->url, what);
}

/* --- Bytes of the file -------------------------------------------------------------------------------- */

/* Returns true if the version equals an ETag, quoted or not. Also returns true if the version is not an ETag. */
static bool is_tagged(const cubed_store *store, const char *version, const char *tag, size_t n)
{
    if (!(store->vt->flags & CUBED_STORE_ETAGS) || !*version) return true;
    /* If a web server sends no ETags, a version consists of a date and a size. */
    if (*version != '"' && strncmp(version, "W/", 2) != 0 && strpbrk(version, " ")) return true;
    size_t length = strlen(version);
    if (n > 1 && *tag == '"') tag++, n -= 2;
    if (length > 1 && *version == '"') version++, length -= 2;
    return length == n && memcmp(tag, version, n) == 0;
}

static bool is_as_referred_to(const cb_object *in, const cubed_object_info *info)
{
    return (in->modified == 0 || info->modified <= in->modified) &&
           (in->netag == 0 || is_tagged(in->store, info->version.text, in->etag, in->netag));
}

/* Returns true if the version equals the version of all earlier reads of the object. */
static bool is_as_before(const cb_object *in, const cubed_object_version *version)
{
    uint64_t first = 0;
    if (!in->seen || cb_version_is_none(version)) return true;
    const uint64_t now = XXH3_64bits(version->text, strlen(version->text)) | 1;
    return atomic_compare_exchange_strong(in->seen, &first, now) || first == now;
}

cubed_status cb_file_judge(const cb_file *f, const cb_object *in, const cubed_store_request *r,
                           cubed_error *err)
{
    const cubed_store *store = in ? in->store : f->within;
    if (r->status == CUBED_E_EXISTS)
        return cb_fail(err, CUBED_E_FORMAT, "%s has changed since it was opened", f->url);
    /* If NOT_FOUND were returned, the missing file would look like a missing chunk, and be read as the fill value. */
    if (r->status == CUBED_E_NOT_FOUND)
        return cb_fail(err, CUBED_E_FORMAT, "%s refers to %s in %s, which does not exist", f->url,
                       r->key, store->url);
    if (r->status == CUBED_OK && in && !is_as_referred_to(in, &r->info))
        return cb_fail(
            err, CUBED_E_FORMAT,
            "%s refers to %s in %s, which has been rewritten since the reference was made", f->url,
            r->key, store->url);
    if (r->status == CUBED_OK && in && !is_as_before(in, &r->info.version))
        return cb_fail(err, CUBED_E_FORMAT,
                       "%s refers to %s in %s, which was rewritten while it was read", f->url,
                       r->key, store->url);
    if (r->status != CUBED_OK || r->got == r->cap) return r->status;
    return cb_fail(err, CUBED_E_FORMAT, "%s: %s of %s is truncated: it ends before this data",
                   f->url, r->key, store->url);
}

cubed_status cb_file_read_ranges(const cb_file *f, const cb_object *in, const cubed_range *ranges,
                                 size_t n, void *dst, cubed_error *err)
{
    const char *version = f->info.version.text;
    cubed_error why = CUBED_ERROR_INIT;
    cubed_store_request r = {.op = CUBED_STORE_GET,
                             .key = in ? in->key : f->key,
                             .if_match = *version && !in ? version : NULL,
                             .ranges = ranges,
                             .nranges = n,
                             .dst = dst};
    for (size_t i = 0; i < n; i++) r.cap += ranges[i].size;
    cubed_status st = cb_store_do(in ? in->store : f->within, &r, &why);
    (void)st;
    st = cb_file_judge(f, in, &r, &why);
    if (st != CUBED_OK && err) *err = why;
    return st;
}

static cubed_status check_within(const cb_file *f, uint64_t offset, uint64_t size, cubed_error *err)
{
    if (offset <= f->info.size && size <= f->info.size - offset) return CUBED_OK;
    return cb_fail(err, CUBED_E_FORMAT,
                   "%s: %" PRIu64 " bytes are referenced at byte %" PRIu64 " of a file of %" PRIu64,
                   f->url, size, offset, f->info.size);
}

cubed_status cb_file_read(const cb_file *f, uint64_t offset, void *dst, size_t size,
                          cubed_error *err)
{
    const cubed_range range = {offset, size};
    CB_TRY(check_within(f, offset, size, err));
    return size ? cb_file_read_ranges(f, NULL, &range, 1, dst, err) : CUBED_OK;
}

/* Gets a page, reading it if it is not cached. */
static cubed_status get_page(cb_file *f, uint64_t number, const uint8_t **out, cubed_error *err)
    CB_REQUIRES(&f->lock)
{
    const size_t slot = number % CB_FILE_PAGES;
    uint8_t *at = f->pages + slot * CB_FILE_PAGE;
    const cubed_range range = {number * CB_FILE_PAGE,
                               (size_t)(f->info.size - number * CB_FILE_PAGE < CB_FILE_PAGE
                                            ? f->info.size - number * CB_FILE_PAGE
                                            : CB_FILE_PAGE)};
    if (f->page[slot] != number) {
        f->page[slot] = UINT64_MAX;
        CB_TRY(cb_file_read_ranges(f, NULL, &range, 1, at, err));
        f->page[slot] = number;
    }
    *out = at;
    return CUBED_OK;
}

/* The thread that opens the file needs no lock. After the file is open, callers must hold the lock. */
cubed_status cb_file_get(cb_file *f, uint64_t offset, void *dst, size_t size,
                         cubed_error *err) CB_UNCHECKED_LOCKS
{
    char *to = dst;
    CB_TRY(check_within(f, offset, size, err));
    if (size > CB_FILE_PAGE) return cb_file_read(f, offset, dst, size, err);
    if (!f->pages) {
        f->pages = cb_alloc(f->head.alloc, (size_t)CB_FILE_PAGES * CB_FILE_PAGE);
        if (!f->pages) return cb_file_no_memory(f, err);
        memset(f->page, 0xff, sizeof f->page);
    }
    while (size > 0) {
        const uint8_t *page;
        const size_t from = offset % CB_FILE_PAGE, n = cb_min_size(size, CB_FILE_PAGE - from);
        CB_TRY(get_page(f, offset / CB_FILE_PAGE, &page, err));
        memcpy(to, page + from, n);
        to += n;
        offset += n;
        size -= n;
    }
    return CUBED_OK;
}

cubed_status cb_file_take(cb_file *f, cb_zone *zone, uint64_t offset, uint64_t size,
                          const uint8_t **out, cubed_error *err)
{
    CB_TRY(check_within(f, offset, size, err));
    void *p = cb_zone_alloc(zone, (size_t)size);
    if (!p) return cb_file_no_memory(f, err);
    *out = p;
    return cb_file_get(f, offset, p, (size_t)size, err);
}

/* Frees the cached pages. The thread that opens or closes the file needs no lock. While the file is open, callers must hold the
 * lock. */
void cb_file_drop_pages(cb_file *f) CB_UNCHECKED_LOCKS
{
    if (f->pages) cb_free(f->head.alloc, f->pages, (size_t)CB_FILE_PAGES * CB_FILE_PAGE);
    f->pages = NULL;
}

cubed_status cb_file_find(cb_file *f, cubed_store_request *r, cb_entry *e, cubed_error *err)
{
    memset(e, 0, sizeof *e);
    CB_TRY(f->kind->find(f, r->key, e, err));
    r->info = (cubed_object_info){.size = e->size, .version = f->info.version};
    if (cubed_store_allows(r, f->info.version.text)) return CUBED_OK;
    return cb_fail(err, CUBED_E_EXISTS, "%s has another version than expected, or exists", f->url);
}
