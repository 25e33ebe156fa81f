/* Writes a ZIP archive: the objects of a store, one after another and uncompressed. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/le.h"
#include "export/zip_write.h"
#include "files/zip_records.h"

enum { PIECE = 1 << 18 };
#define NARROW UINT32_MAX
/* FIRST_DAY is the earliest date of ZIP archives. All entries have it, so that equal arrays give equal files. */
enum { FIRST_DAY = 0x21, VERSION = 20, VERSION64 = 45 };

typedef struct object {
    char *key;
    uint64_t size, at;
    uint32_t crc;
} object;

typedef struct writer {
    cubed_store *from;
    const char *path; /* path of the file being written */
    int fd;
    uint64_t at;
    cb_zone *zone;
    object *list;
    int n, cap;
    uint8_t *piece;
} writer;

static cubed_status put(writer *w, const void *p, size_t n, cubed_error *err)
{
    const char *from = p;
    while (n > 0) {
        const ssize_t k = pwrite(w->fd, from, n, (off_t)w->at);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return cb_fail_errno(err, errno, "cannot write %s", w->path);
        from += k;
        n -= (size_t)k;
        w->at += (uint64_t)k;
    }
    return CUBED_OK;
}

static cubed_status keep(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    writer *w = ctx;
    const char *slash = strrchr(key, '/');
    /* skips records of runs */
    if (strncmp(slash ? slash + 1 : key, ".cubed-", 7) == 0) return CUBED_OK;
    if (!cb_zone_grow(w->zone, &w->list, w->n, &w->cap, sizeof *w->list))
        return cb_fail(err, CUBED_E_NOMEM, "no memory to write %s", w->path);
    w->list[w->n] = (object){.key = cb_zone_strdup(w->zone, key), .size = size};
    if (!w->list[w->n++].key) return cb_fail(err, CUBED_E_NOMEM, "no memory to write %s", w->path);
    return strlen(key) <= UINT16_MAX
               ? CUBED_OK
               : cb_fail(err, CUBED_E_UNSUPPORTED, "%s: a name of more than 65535 bytes", w->path);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const object *)a)->key, ((const object *)b)->key);
}

/* Writes the 26 bytes that both headers of an entry share, beginning with the version. */
static void put_common(uint8_t *b, const object *o, bool wide, size_t extra)
{
    cb_le_put(b, wide ? VERSION64 : VERSION, 2);
    cb_le_put(b + 2, 0x800, 2); /* names are UTF-8 */
    cb_le_put(b + 4, 0, 2);     /* method: stored */
    cb_le_put(b + 6, 0, 2);
    cb_le_put(b + 8, FIRST_DAY, 2);
    cb_le_put(b + 10, o->crc, 4);
    cb_le_put(b + 14, o->size >= NARROW ? NARROW : o->size, 4);
    cb_le_put(b + 18, o->size >= NARROW ? NARROW : o->size, 4);
    cb_le_put(b + 22, strlen(o->key), 2);
    cb_le_put(b + 24, extra, 2);
}

static cubed_status put_local(writer *w, const object *o, cubed_error *err)
{
    uint8_t b[CB_ZIP_LOCAL] = "PK\3\4", extra[20] = {1, 0, 16, 0};
    const bool wide = o->size >= NARROW;
    put_common(b + 4, o, wide, wide ? sizeof extra : 0);
    CB_TRY(put(w, b, CB_ZIP_LOCAL, err));
    CB_TRY(put(w, o->key, strlen(o->key), err));
    if (!wide) return CUBED_OK;
    cb_le_put(extra + 4, o->size, 8);
    cb_le_put(extra + 12, o->size, 8);
    return put(w, extra, sizeof extra, err);
}

/* Writes an object. The header is written again when the checksum is known. */
static cubed_status put_object(writer *w, object *o, cubed_error *err)
{
    uint64_t done = 0;
    uLong crc = crc32(0, NULL, 0);
    o->at = w->at;
    CB_TRY(put_local(w, o, err));
    while (done < o->size) {
        const size_t want = o->size - done < PIECE ? (size_t)(o->size - done) : PIECE;
        size_t got;
        CB_TRY(cb_store_get(w->from, o->key, done, w->piece, want, &got, err));
        if (got != want)
            return cb_fail(err, CUBED_E_FORMAT, "%s of %s has changed while it was read", o->key,
                           w->from->url);
        crc = crc32_z(crc, w->piece, got);
        CB_TRY(put(w, w->piece, got, err));
        done += got;
    }
    const uint64_t end = w->at;
    o->crc = (uint32_t)crc;
    w->at = o->at;
    CB_TRY(put_local(w, o, err));
    w->at = end;
    return CUBED_OK;
}

static cubed_status put_central(writer *w, const object *o, cubed_error *err)
{
    uint8_t b[CB_ZIP_CENTRAL] = "PK\1\2", extra[28] = {1, 0};
    size_t n = 4;
    if (o->size >= NARROW) {
        cb_le_put(extra + n, o->size, 8);
        cb_le_put(extra + n + 8, o->size, 8);
        n += 16;
    }
    if (o->at >= NARROW) {
        cb_le_put(extra + n, o->at, 8);
        n += 8;
    }
    cb_le_put(extra + 2, n - 4, 2);
    if (n == 4) n = 0;
    cb_le_put(b + 4, 3 << 8 | (n ? VERSION64 : VERSION), 2);
    put_common(b + 6, o, n > 0, n);
    cb_le_put(b + 38, (uint64_t)0644 << 16 | (uint64_t)0100000 << 16, 4);
    cb_le_put(b + 42, o->at >= NARROW ? NARROW : o->at, 4);
    CB_TRY(put(w, b, CB_ZIP_CENTRAL, err));
    CB_TRY(put(w, o->key, strlen(o->key), err));
    return put(w, extra, n, err);
}

static cubed_status put_end(writer *w, uint64_t begin, cubed_error *err)
{
    uint8_t b[CB_ZIP_END64 + CB_ZIP_LOCATOR + CB_ZIP_END] = {0};
    const uint64_t size = w->at - begin, n = (uint64_t)w->n, end = w->at;
    const bool wide = n >= UINT16_MAX || size >= NARROW || begin >= NARROW;
    uint8_t *p = b;
    if (wide) {
        memcpy(p, "PK\6\6", 4);
        cb_le_put(p + 4, CB_ZIP_END64 - 12, 8);
        cb_le_put(p + 12, VERSION64, 2);
        cb_le_put(p + 14, VERSION64, 2);
        cb_le_put(p + 24, n, 8);
        cb_le_put(p + 32, n, 8);
        cb_le_put(p + 40, size, 8);
        cb_le_put(p + 48, begin, 8);
        p += CB_ZIP_END64;
        memcpy(p, "PK\6\7", 4);
        cb_le_put(p + 8, end, 8);
        cb_le_put(p + 16, 1, 4);
        p += CB_ZIP_LOCATOR;
    }
    memcpy(p, "PK\5\6", 4);
    cb_le_put(p + 8, n >= UINT16_MAX ? UINT16_MAX : n, 2);
    cb_le_put(p + 10, n >= UINT16_MAX ? UINT16_MAX : n, 2);
    cb_le_put(p + 12, size >= NARROW ? NARROW : size, 4);
    cb_le_put(p + 16, begin >= NARROW ? NARROW : begin, 4);
    return put(w, b, (size_t)(p + CB_ZIP_END - b), err);
}

static cubed_status write_all(writer *w, cubed_error *err)
{
    CB_TRY(cb_store_list(w->from, "", keep, w, err));
    if (w->n > 0) qsort(w->list, (size_t)w->n, sizeof *w->list, by_key);
    for (int i = 0; i < w->n; i++) CB_TRY(put_object(w, &w->list[i], err));
    const uint64_t begin = w->at;
    for (int i = 0; i < w->n; i++) CB_TRY(put_central(w, &w->list[i], err));
    return put_end(w, begin, err);
}

cubed_status cb_zip_write(cubed_store *from, const char *path, bool durable, cubed_error *err)
{
    writer w = {.from = from, .path = path, .fd = -1};
    cubed_status st = cb_zone_new(from->alloc, &w.zone, err);
    if (st != CUBED_OK) return st;
    w.piece = cb_zone_alloc(w.zone, PIECE);
    if (!w.piece) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory to write %s", path));
    w.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (w.fd < 0) CB_GO(cb_fail_errno(err, errno, "cannot write %s", path));
    st = write_all(&w, err);
    if (st == CUBED_OK && durable && fsync(w.fd) != 0)
        st = cb_fail_errno(err, errno, "cannot write %s", path);
    if (close(w.fd) != 0 && st == CUBED_OK) st = cb_fail_errno(err, errno, "cannot write %s", path);
    if (st != CUBED_OK) unlink(path);
out:
    cb_zone_free(w.zone);
    return st;
}
