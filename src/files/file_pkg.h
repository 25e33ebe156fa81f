/* Shared by the files of this folder only. */
#ifndef CB_FILES_FILE_PKG_H
#define CB_FILES_FILE_PKG_H

#include <stdatomic.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/le.h"
#include "base/lock.h"
#include "files/files.h"
#include "store/services/store_registry.h"

typedef struct cb_file cb_file;

typedef struct cb_object {
    cubed_store *store;
    const char *key;
    /* What it was when it was referred to: an ETag of so many characters (0: not known), and when it was put last, in
     * seconds since 1970 (0: not known). */
    const char *etag;
    size_t netag;
    int64_t modified;
    /* A hash of the version that was read first, which all reads are of; 0: there was none. NULL: that is not kept. */
    _Atomic(uint64_t) *seen;
} cb_object;

/* Where an object's bytes are: `nhead` in memory, then `there` in the file, in runs that begin `stride` bytes one behind
 * the other, then zeros up to `size`. */
typedef struct cb_entry {
    uint64_t size;
    const void *head;
    size_t nhead;
    const cb_object *in; /* another object than the file; NULL: the file */
    uint64_t offset, there;
    uint64_t run, stride; /* run 0: all of it is one */
    uint64_t
        deflated; /* bytes of the file that inflate to `there`; 0: they are stored as they are */
    bool has_crc; /* of the whole object: CRC-32 */
    uint32_t crc;
    /* `in` may lead here. */
    cb_object own;
    char key[1024]; /* CB_LINKED_KEY */
} cb_entry;

typedef cubed_status (*cb_file_each_fn)(void *ctx, const char *key, uint64_t size,
                                        cubed_error *err);

typedef struct cb_file_kind {
    bool (*is)(cb_file *f, const uint8_t *first, size_t n); /* by its first bytes */
    bool fixed; /* its own URL names what was opened, when that which was asked for has moved on */
    /* Reads what there is to know; memory is the zone's. */
    cubed_status (*open)(cb_file *f, cubed_error *err);
    void (*close)(
        cb_file *f); /* NULL: there is nothing but memory of the zone. Also where open failed */
    /* Reads what finding chunks of the array at `path` in a box of its grid takes, with the lock. NULL: that is known when
     * its metadata are. */
    cubed_status (*know)(cb_file *f, const char *path, int ndim, const int64_t *lo,
                         const int64_t *hi, cubed_error *err);
    /* CUBED_E_NOT_FOUND if there is no such object. Thread-safe. */
    cubed_status (*find)(cb_file *f, const char *key, cb_entry *out, cubed_error *err);
    /* Every key that begins with the prefix, which ends with '/' or is empty: those below one name follow one another.
     * `chunks`: with those of chunks. */
    cubed_status (*each)(cb_file *f, const char *prefix, bool chunks, cb_file_each_fn fn, void *ctx,
                         cubed_error *err);
} cb_file_kind;

extern const cb_file_kind cb_file_hdf5, cb_file_cdf, cb_file_zip, cb_file_references,
    cb_file_icechunk;

enum { CB_ICECHUNK_KEY = 64 };
/* The object of the snapshot that is "branch.NAME", "tag.NAME" or "snapshot.ID" in the repository at the root of a store. */
CUBED_MUST_CHECK cubed_status cb_icechunk_find(cubed_store *within, const char *ref,
                                               const char *url, char key[CB_ICECHUNK_KEY],
                                               cubed_error *err);

enum { CB_FILE_PAGES = 32, CB_FILE_PAGE = 16384 };

struct cb_file {
    cubed_store head;
    cubed_store *within;
    cb_stores *stores; /* that the context knows */
    const char *key, *url;
    /* Places that the user lets it refer to, one a line (place/confine.h); NULL if there are none. */
    const char *references;
    cubed_object_info info; /* as it was opened; another version is an error */
    const cb_file_kind *kind;
    cb_zone *zone;
    void *data;                     /* the kind's */
    const struct cb_linked *linked; /* objects that the file refers to; NULL: it does not refer */
    size_t outside;                 /* what the kind keeps beside the zone, in bytes */
    size_t passing;                 /* the most that reading metadata took meanwhile */
    cb_mutex lock;                  /* once the file is open; also of the zone */
    uint8_t *pages CB_GUARDED_BY(&lock); /* NULL if no page is cached */
    uint64_t page[CB_FILE_PAGES] CB_GUARDED_BY(&lock);
};

/* The file that a store is; NULL: it is another store. */
cb_file *cb_file_of(cubed_store *s);

/* Bytes of the file; CUBED_E_FORMAT beyond its end. Through pages, for metadata: with the lock, or while it is opened. */
CUBED_MUST_CHECK cubed_status cb_file_get(cb_file *f, uint64_t offset, void *dst, size_t size,
                                          cubed_error *err);
/* The same from the store, by any thread. */
CUBED_MUST_CHECK cubed_status cb_file_read(const cb_file *f, uint64_t offset, void *dst,
                                           size_t size, cubed_error *err);
/* Reads ranges of the file, or of the object `in`, one behind another into `dst`. */
CUBED_MUST_CHECK cubed_status cb_file_read_ranges(const cb_file *f, const cb_object *in,
                                                  const cubed_range *ranges, size_t n, void *dst,
                                                  cubed_error *err);
/* Into memory of the zone. */
CUBED_MUST_CHECK cubed_status cb_file_take(cb_file *f, cb_zone *zone, uint64_t offset,
                                           uint64_t size, const uint8_t **out, cubed_error *err);
/* The entry of a request's key, and its conditions checked. */
CUBED_MUST_CHECK cubed_status cb_file_find(cb_file *f, cubed_store_request *r, cb_entry *e,
                                           cubed_error *err);
/* What a get of the store below came to, of the file or another object: what is not there, or another version, is
 * malformed. */
cubed_status cb_file_judge(const cb_file *f, const cb_object *in, const cubed_store_request *r,
                           cubed_error *err);
/* Whether it could be handed on to the store below, which completes it. */
bool cb_file_pass(cb_file *f, cubed_store_request *r);
void cb_file_drop_pages(cb_file *f);
/* "no memory to read URL" */
cubed_status cb_file_no_memory(const cb_file *f, cubed_error *err);
/* CUBED_E_FORMAT "URL: ..." */
cubed_status cb_file_bad(const cb_file *f, cubed_error *err, const char *what);

#endif
