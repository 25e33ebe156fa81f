/* Versions of chunks, which show whether a chunk has changed since a result was computed from it.
 *
 * If the store lists versions of objects (CUBED_STORE_DELETES_IF), a version is a hash of the object's ETag or generation,
 * and one request lists many chunks. Otherwise it is a hash of the object's bytes, which are read for this purpose.
 * Modification times are not used, because they do not prove that contents are equal. A missing chunk has a special version. */
#ifndef CB_RUN_VERSIONS_H
#define CB_RUN_VERSIONS_H

#include "cubed/cancel.h"
#include "zarr/zarr.h"

#define CB_VERSION_BYTES 16
/* Hash of a chunk's version. Zeros: the chunk is missing. */
typedef struct cb_chunk_version {
    uint8_t hash[CB_VERSION_BYTES];
} cb_chunk_version;

typedef struct cb_versions_of {
    cubed_store *store;
    const char *path;
    const cb_zarr_meta *meta;
    const uint64_t *
        skip; /* a bit per chunk; 1: the version is not needed and is left unchanged; NULL: all versions are needed */
    unsigned threads;
    const cubed_cancel *cancel; /* may be NULL */
} cb_versions_of;

/* Counts the stored objects of an array. CUBED_E_BUDGET if a list of their versions exceeds `most` bytes. */
CUBED_MUST_CHECK cubed_status cb_versions_count(const cb_zarr_meta *meta, uint64_t most, int64_t *n,
                                                cubed_error *err);
/* Gets the versions of the stored objects in C order of their grid; `out` has room for cb_versions_count. Adds the bytes
 * that were read to *read. */
CUBED_MUST_CHECK cubed_status cb_versions_read(const cb_versions_of *what, cb_chunk_version *out,
                                               uint64_t *read, cubed_error *err);
/* Gets a hash of an array's metadata document without attributes and names of dimensions, and without the shape unless
 * `shape`. CUBED_E_NOT_FOUND if there is no document of this format. */
CUBED_MUST_CHECK cubed_status cb_versions_document(cubed_store *store, const char *path, int format,
                                                   bool shape, cb_chunk_version *out,
                                                   cubed_error *err);
/* Gets a hash of the metadata document that cb_zarr_commit writes for `meta`, without attributes and names of dimensions, and
 * without the shape unless `shape`. */
CUBED_MUST_CHECK cubed_status cb_versions_planned(const cb_zarr_meta *meta, bool shape,
                                                  const cubed_allocator *a, cb_chunk_version *out,
                                                  cubed_error *err);
static inline bool cb_chunk_version_equal(const cb_chunk_version *a, const cb_chunk_version *b)
{
    return memcmp(a->hash, b->hash, CB_VERSION_BYTES) == 0;
}

#endif
