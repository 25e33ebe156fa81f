/* Declarations shared by the files of this folder only. */
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
    /* State of the object when the reference was made: its ETag with a length of `netag` characters (0: unknown), and its
     * modification time in seconds since 1970 (0: unknown). */
    const char *etag;
    size_t netag;
    int64_t modified;
    /* Hash of the version at the first read, which all later reads must find; 0: not read yet. NULL: versions are not checked. */
    _Atomic(uint64_t) *seen;
} cb_object;

/* Location of the bytes of an object that a file store presents. The object consists of
 *
 * 1. `nhead` bytes in memory, at `head`
 * 2. `there` bytes in the file, from `offset` on. They may be in several contiguous runs of `run` bytes each, whose starts are
 *    `stride` bytes apart
 * 3. zeros up to `size` */
typedef struct cb_entry {
    uint64_t size;
    const void *head;
    size_t nhead;
    const cb_object
        *in; /* object that contains the bytes, if not the file itself; NULL: the file */
    uint64_t offset, there;
    uint64_t run, stride; /* run 0: contiguous */
    /* compressed bytes in the file, which inflate to `there` bytes; 0: uncompressed */
    uint64_t deflated;
    bool has_crc; /* the entry has a CRC-32 of the whole object */
    uint32_t crc;
    /* memory for an object that only this entry uses; then `in` points to `own` */
    cb_object own;
    char key[1024]; /* CB_LINKED_KEY */
} cb_entry;

typedef cubed_status (*cb_file_each_fn)(void *ctx, const char *key, uint64_t size,
                                        cubed_error *err);

typedef struct cb_file_kind {
    /* recognises the format by the first bytes */
    bool (*is)(cb_file *f, const uint8_t *first, size_t n);
    /* the file has a permanent URL for its contents, which stays valid if its own URL later refers to other contents */
    bool fixed;
    /* Reads the metadata. Memory is allocated in the zone. */
    cubed_status (*open)(cb_file *f, cubed_error *err);
    void (*close)(
        cb_file *f); /* frees memory outside the zone; may be NULL. Called also if open failed */
    /* Loads the locations of the chunks of the array at `path` that are in a box of its grid (lo to hi - 1), if the format stores
     * them in separate objects. Requires the lock. NULL for other formats. */
    cubed_status (*know)(cb_file *f, const char *path, int ndim, const int64_t *lo,
                         const int64_t *hi, cubed_error *err);
    /* CUBED_E_NOT_FOUND if there is no such object. Thread-safe. */
    cubed_status (*find)(cb_file *f, const char *key, cb_entry *out, cubed_error *err);
    /* Appends bytes that identify the contents of the object with this key (cb_file_put_version). NULL: no object has such bytes.
     * Thread-safe. */
    cubed_status (*put_version)(cb_file *f, const char *key, cb_buf *out, cubed_error *err);
    /* Calls fn for every key with the prefix, which ends with '/' or is empty. Keys below a common name are consecutive.
     * `chunks`: includes keys of chunks. */
    cubed_status (*each)(cb_file *f, const char *prefix, bool chunks, cb_file_each_fn fn, void *ctx,
                         cubed_error *err);
} cb_file_kind;

extern const cb_file_kind cb_file_hdf5, cb_file_cdf, cb_file_zip, cb_file_references,
    cb_file_icechunk, cb_file_grib;

enum { CB_ICECHUNK_KEY = 64 };
/* Finds the snapshot of a ref ("branch.NAME", "tag.NAME" or "snapshot.ID") in the repository at the root of a store, and gets
 * its key. CUBED_E_NOT_FOUND if there is no such snapshot. */
CUBED_MUST_CHECK cubed_status cb_icechunk_find(cubed_store *within, const char *ref,
                                               const char *url, char key[CB_ICECHUNK_KEY],
                                               cubed_error *err);

enum { CB_FILE_PAGES = 32, CB_FILE_PAGE = 16384 };

struct cb_file {
    cubed_store head;
    cubed_store *within;
    cb_stores *stores; /* the stores of the context */
    const char *key, *url;
    /* Places to which the user allows references, one per line (place/confine.h); NULL: no places. */
    const char *references;
    cubed_object_info
        info; /* info of the file when it was opened; a read that finds another version of the file fails */
    const cb_file_kind *kind;
    cb_zone *zone;
    void *data;                          /* data of the kind */
    const struct cb_linked *linked;      /* objects that the file refers to; NULL: no references */
    size_t outside;                      /* memory of the kind outside the zone, in bytes */
    size_t passing;                      /* peak temporary memory for reading metadata */
    cb_mutex lock;                       /* guards the open file, including the zone */
    uint8_t *pages CB_GUARDED_BY(&lock); /* NULL: no page cached */
    uint64_t page[CB_FILE_PAGES] CB_GUARDED_BY(&lock);
};

/* Returns the cb_file of a store that cb_file_open has opened; NULL for other stores. */
cb_file *cb_file_of(cubed_store *s);

/* Reads bytes of the file; CUBED_E_FORMAT beyond its end. Caches pages, for metadata: requires the lock, unless the file is
 * being opened. */
CUBED_MUST_CHECK cubed_status cb_file_get(cb_file *f, uint64_t offset, void *dst, size_t size,
                                          cubed_error *err);
/* Reads bytes of the file without the cache. CUBED_E_FORMAT beyond the end of the file. Thread-safe. */
CUBED_MUST_CHECK cubed_status cb_file_read(const cb_file *f, uint64_t offset, void *dst,
                                           size_t size, cubed_error *err);
/* Reads several ranges of an object to `dst`, one directly after another. The object is `in`, or the file itself if `in` is
 * NULL. */
CUBED_MUST_CHECK cubed_status cb_file_read_ranges(const cb_file *f, const cb_object *in,
                                                  const cubed_range *ranges, size_t n, void *dst,
                                                  cubed_error *err);
/* Reads bytes into memory allocated in the zone. */
CUBED_MUST_CHECK cubed_status cb_file_take(cb_file *f, cb_zone *zone, uint64_t offset,
                                           uint64_t size, const uint8_t **out, cubed_error *err);
/* Finds the location of the object with the request's key. Fails if the request's conditions on the object do not hold. */
CUBED_MUST_CHECK cubed_status cb_file_find(cb_file *f, cubed_store_request *r, cb_entry *e,
                                           cubed_error *err);
/* Checks the result of a GET request to the store that contains the bytes. Returns CUBED_E_FORMAT if the object is missing, has
 * another version, or ends before the requested bytes. */
cubed_status cb_file_judge(const cb_file *f, const cb_object *in, const cubed_store_request *r,
                           cubed_error *err);
/* Forwards a request to the store that contains the file; that store completes the request. Returns false if the request cannot
 * be forwarded. */
bool cb_file_pass(cb_file *f, cubed_store_request *r);
void cb_file_drop_pages(cb_file *f);
/* Fails with "no memory to read URL". */
cubed_status cb_file_no_memory(const cb_file *f, cubed_error *err);
/* Fails with CUBED_E_FORMAT "URL: ...". */
cubed_status cb_file_bad(const cb_file *f, cubed_error *err, const char *what);

#endif
