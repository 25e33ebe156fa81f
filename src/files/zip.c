/* ZIP archives (PKWARE's APPNOTE 6.3, with ZIP64), such as those of zarr-python's ZipStore. Each object is an entry, stored
 * or deflated. The central directory, at the end of the archive, is read when the archive is opened. The local header of an
 * entry is read with the entry. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "files/file_pkg.h"
#include "files/zip_records.h"

typedef struct zip_entry {
    const char *name;
    uint64_t header; /* position of the local header */
    uint64_t stored, size;
    _Atomic(uint64_t) data; /* position of the data; 0 until it is looked up */
    uint32_t crc;
    uint16_t method, flags;
} zip_entry;

typedef struct zip {
    zip_entry *list; /* entries sorted by name */
    size_t n;
} zip;

enum { LONGEST_COMMENT = 65535 };
enum { STORED = 0, DEFLATED = 8 };

static bool is_zip(cb_file *f, const uint8_t *first, size_t n)
{
    (void)f;
    return n >= 4 && first[0] == 'P' && first[1] == 'K' &&
           ((first[2] == 3 && first[3] == 4) || (first[2] == 5 && first[3] == 6));
}

typedef struct directory {
    uint64_t at, size, n;
} directory;

/* Reads the ZIP64 end record, if 32-bit fields are too small. */
static cubed_status find_end64(cb_file *f, uint64_t end, directory *out, cubed_error *err)
{
    uint8_t b[CB_ZIP_END64];
    if (end < CB_ZIP_LOCATOR) return CUBED_OK;
    CB_TRY(cb_file_get(f, end - CB_ZIP_LOCATOR, b, CB_ZIP_LOCATOR, err));
    if (memcmp(b, "PK\6\7", 4) != 0) return CUBED_OK;
    CB_TRY(cb_file_get(f, cb_le_get(b + 8, 8), b, CB_ZIP_END64, err));
    if (memcmp(b, "PK\6\6", 4) != 0)
        return cb_file_bad(f, err, "a ZIP archive without a central directory");
    *out = (directory){cb_le_get(b + 48, 8), cb_le_get(b + 40, 8), cb_le_get(b + 32, 8)};
    return CUBED_OK;
}

static cubed_status find_directory(cb_file *f, directory *out, cubed_error *err)
{
    const uint64_t most = CB_ZIP_END + LONGEST_COMMENT, size = f->info.size;
    const size_t n = (size_t)(size < most ? size : most);
    uint8_t *tail = cb_alloc(f->head.alloc, n + 1);
    if (!tail) return cb_file_no_memory(f, err);
    cubed_status st = cb_file_get(f, size - n, tail, n, err);
    const uint8_t *end = NULL;
    for (size_t i = n; st == CUBED_OK && !end && i >= CB_ZIP_END; i--) {
        const uint8_t *p = tail + i - CB_ZIP_END;
        if (memcmp(p, "PK\5\6", 4) == 0 && cb_le_get(p + 20, 2) == n - i) end = p;
    }
    if (st == CUBED_OK && !end)
        st = cb_file_bad(f, err,
                         "an incomplete ZIP archive: there is no central directory at its end");
    if (st == CUBED_OK) {
        *out = (directory){cb_le_get(end + 16, 4), cb_le_get(end + 12, 4), cb_le_get(end + 10, 2)};
        st = find_end64(f, size - n + (uint64_t)(end - tail), out, err);
    }
    cb_free(f->head.alloc, tail, n + 1);
    if (st == CUBED_OK &&
        (out->size > size || out->at > size - out->size || out->n > out->size / CB_ZIP_CENTRAL))
        st = cb_file_bad(f, err, "a ZIP archive whose central directory is outside the file");
    return st;
}

/* Reads the sizes and positions that do not fit in 32 bits. The extra field has them in the order of the header's fields. */
static void widen(zip_entry *e, const uint8_t *extra, size_t n)
{
    while (n >= 4) {
        const uint64_t id = cb_le_get(extra, 2), size = cb_le_get(extra + 2, 2);
        extra += 4;
        n -= 4;
        if (size > n) return;
        if (id == 1) {
            uint64_t *const wide[] = {&e->size, &e->stored, &e->header};
            for (size_t i = 0, at = 0; i < 3; i++) {
                if (*wide[i] != UINT32_MAX) continue;
                if (at + 8 > size) return;
                *wide[i] = cb_le_get(extra + at, 8);
                at += 8;
            }
        }
        extra += size;
        n -= (size_t)size;
    }
}

static cubed_status read_entry(cb_file *f, uint64_t *at, uint64_t end, zip_entry *e, bool *keep,
                               cubed_error *err)
{
    uint8_t b[CB_ZIP_CENTRAL], extra[512];
    CB_TRY(cb_file_get(f, *at, b, CB_ZIP_CENTRAL, err));
    const size_t n = (size_t)cb_le_get(b + 28, 2), nextra = (size_t)cb_le_get(b + 30, 2);
    const uint64_t next = *at + CB_ZIP_CENTRAL + n + nextra + cb_le_get(b + 32, 2);
    if (memcmp(b, "PK\1\2", 4) != 0 || next > end)
        return cb_file_bad(f, err, "a ZIP archive with a damaged central directory");
    e->flags = (uint16_t)cb_le_get(b + 8, 2);
    e->method = (uint16_t)cb_le_get(b + 10, 2);
    e->crc = (uint32_t)cb_le_get(b + 16, 4);
    e->stored = cb_le_get(b + 20, 4);
    e->size = cb_le_get(b + 24, 4);
    e->header = cb_le_get(b + 42, 4);
    char *name = cb_zone_alloc(f->zone, n + 1);
    if (!name) return cb_file_no_memory(f, err);
    CB_TRY(cb_file_get(f, *at + CB_ZIP_CENTRAL, name, n, err));
    e->name = name;
    const size_t some = cb_min_size(nextra, sizeof extra);
    CB_TRY(cb_file_get(f, *at + CB_ZIP_CENTRAL + n, extra, some, err));
    widen(e, extra, some);
    *at = next;
    /* Directories are not keys. Names that point out of the archive are not keys either. */
    *keep = strlen(name) == n && cb_key_check(name, NULL) == CUBED_OK;
    return CUBED_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const zip_entry *)a)->name, ((const zip_entry *)b)->name);
}

/* Orders entries by name, then by position. If several entries have the same name, the last one in the archive is used. */
static int by_name_and_place(const void *a, const void *b)
{
    const zip_entry *x = a, *y = b;
    const int c = by_name(a, b);
    return c ? c : (x->header > y->header) - (x->header < y->header);
}

static cubed_status open_zip(cb_file *f, cubed_error *err)
{
    directory d = {.n = 0};
    CB_TRY(find_directory(f, &d, err));
    zip *z = cb_zone_alloc(f->zone, sizeof *z);
    if (z) z->list = cb_zone_alloc(f->zone, (size_t)d.n * sizeof *z->list);
    if (!z || !z->list) return cb_file_no_memory(f, err);
    f->data = z;
    uint64_t at = d.at;
    for (uint64_t i = 0; i < d.n; i++) {
        bool keep;
        CB_TRY(read_entry(f, &at, d.at + d.size, &z->list[z->n], &keep, err));
        z->n += keep;
    }
    if (z->n == 0) return CUBED_OK;
    qsort(z->list, z->n, sizeof *z->list, by_name_and_place);
    size_t n = 0;
    for (size_t i = 0; i < z->n; i++) {
        if (n > 0 && by_name(&z->list[n - 1], &z->list[i]) == 0) n--;
        memmove(&z->list[n++], &z->list[i], sizeof *z->list);
    }
    z->n = n;
    return CUBED_OK;
}

static cubed_status find_data(cb_file *f, zip_entry *e, uint64_t *out, cubed_error *err)
{
    uint8_t b[CB_ZIP_LOCAL];
    *out = atomic_load(&e->data);
    if (*out) return CUBED_OK;
    CB_TRY(cb_file_read(f, e->header, b, CB_ZIP_LOCAL, err));
    *out = e->header + CB_ZIP_LOCAL + cb_le_get(b + 26, 2) + cb_le_get(b + 28, 2);
    if (memcmp(b, "PK\3\4", 4) != 0 || *out > f->info.size || e->stored > f->info.size - *out)
        return cb_fail(err, CUBED_E_FORMAT,
                       "%s: the entry %s is not at the position in the central directory", f->url,
                       e->name);
    atomic_store(&e->data, *out);
    return CUBED_OK;
}

static cubed_status find_zip(cb_file *f, const char *key, cb_entry *out, cubed_error *err)
{
    const zip *z = f->data;
    const zip_entry wanted = {.name = key};
    zip_entry *e = z->n ? bsearch(&wanted, z->list, z->n, sizeof wanted, by_name) : NULL;
    if (!e) return cb_fail(err, CUBED_E_NOT_FOUND, "%s has no %s", f->url, key);
    if (e->flags & 1)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "%s: the entry %s is encrypted", f->url, key);
    if (e->method != STORED && e->method != DEFLATED)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: the entry %s is compressed by method %d, expected stored or deflated",
                       f->url, key, e->method);
    if (e->method == STORED ? e->stored != e->size : e->size > 0 && e->stored == 0)
        return cb_fail(err, CUBED_E_FORMAT, "%s: the entry %s states two different sizes", f->url,
                       key);
    CB_TRY(find_data(f, e, &out->offset, err));
    out->size = out->there = e->size;
    out->deflated = e->method == DEFLATED ? e->stored : 0;
    out->has_crc = true;
    out->crc = e->crc;
    return CUBED_OK;
}

static cubed_status each_zip(cb_file *f, const char *prefix, bool chunks, cb_file_each_fn fn,
                             void *ctx, cubed_error *err)
{
    const zip *z = f->data;
    const size_t n = strlen(prefix);
    (void)chunks;
    for (size_t i = 0; i < z->n; i++) {
        if (strncmp(z->list[i].name, prefix, n) == 0)
            CB_TRY(fn(ctx, z->list[i].name, z->list[i].size, err));
    }
    return CUBED_OK;
}

const cb_file_kind cb_file_zip = {
    .is = is_zip, .open = open_zip, .find = find_zip, .each = each_zip};
