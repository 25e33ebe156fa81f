/* Versions of chunks. They show whether a chunk has changed since a result was computed from it.
 *
 * Stores with CUBED_STORE_DELETES_IF list versions of objects. There, a version is a hash of the object's ETag or generation, and
 * one request lists many chunks. In Icechunk repositories, it is a hash of the chunk's ID (cb_file_put_version). In other stores,
 * it is a hash of the object's bytes, which are read for this purpose.
 * Modification times are not used, because they do not prove that contents are equal. A missing chunk has the version zero. */
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

/* Counts the objects in which an array is stored: chunks, or shards. CUBED_E_BUDGET if a list of their versions needs more than
 * `most` bytes. */
CUBED_MUST_CHECK cubed_status cb_versions_count(const cb_zarr_meta *meta, uint64_t most, int64_t *n,
                                                cubed_error *err);
/* Gets the versions of the stored objects, in C order of their grid.
 *
 * out   receives the versions; needs as many entries as cb_versions_count returns in *n
 * read  the number of bytes that were read is added to *read */
CUBED_MUST_CHECK cubed_status cb_versions_read(const cb_versions_of *what, cb_chunk_version *out,
                                               uint64_t *read, cubed_error *err);
/* Gets a hash of an array's metadata document. The hash ignores attributes and names of dimensions. It includes the array's shape
 * only if `shape` is true. CUBED_E_NOT_FOUND if there is no document of this format. */
CUBED_MUST_CHECK cubed_status cb_versions_document(cubed_store *store, const char *path, int format,
                                                   bool shape, cb_chunk_version *out,
                                                   cubed_error *err);
/* Gets the hash that cb_versions_document returns after cb_zarr_commit has written `meta`. */
CUBED_MUST_CHECK cubed_status cb_versions_planned(const cb_zarr_meta *meta, bool shape,
                                                  const cubed_allocator *a, cb_chunk_version *out,
                                                  cubed_error *err);
static inline bool cb_chunk_version_equal(const cb_chunk_version *a, const cb_chunk_version *b)
{
    return memcmp(a->hash, b->hash, CB_VERSION_BYTES) == 0;
}

#endif
