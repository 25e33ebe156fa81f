/* Describes and copies arrays whose element type or codecs are not supported. */
#ifndef CB_ZARR_OUTLINE_H
#define CB_ZARR_OUTLINE_H

#include "zarr/zarr.h"

/* Metadata of such an array, as far as they are understood. */
typedef struct cb_zarr_outline {
    /* Metadata without type, fill value and codecs: shape, chunks, keys, names of dimensions, attributes. */
    cb_zarr_meta meta;
    const char *type; /* name of the type in the metadata, such as "string", "struct", "|V7" */
    const char *
        codecs; /* as JSON: the list of codecs in format 3; in format 2 the compressor, or a list of filters that ends
                         * with it */
    const char *fill; /* the fill value if it is a string, otherwise "" */
    bool sharded;     /* chunks are shards; meta.inner is the shape of their inner chunks */
} cb_zarr_outline;

/* Reads the metadata of the array at PATH, for which cb_zarr_open fails with CUBED_E_UNSUPPORTED. Strings are allocated in the
 * zone. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_outline(cubed_store *store, const char *path, int format,
                                                   cb_zone *zone, cb_zarr_outline *out,
                                                   cubed_error *err);

/* The functions below copy all objects of an array without decoding them, the metadata last. If the copy has another Zarr format,
 * they fail with CUBED_E_UNSUPPORTED. Exception: elements that are strings or byte sequences of any length have the same objects
 * in both formats. */

/* Fails if the array at PATH cannot be copied. *largest receives the size in bytes of its largest object. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_copy(cubed_store *from, const char *path, int to_format,
                                                 uint64_t *largest, cubed_error *err);
/* Sets *same to true if the array at TO_PATH has the metadata that a copy of the array at PATH would have. */
CUBED_MUST_CHECK cubed_status cb_zarr_is_copy(cubed_store *from, const char *path, cubed_store *to,
                                              const char *to_path, int format, bool *same,
                                              cubed_error *err);
/* Fails with CUBED_E_BUDGET if `largest` exceeds `memory`. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_copy_memory(const char *path, uint64_t largest,
                                                        uint64_t memory, cubed_error *err);
/* Copies the array at PATH to TO_PATH, and creates the parent groups. There must be no object of an array at TO_PATH:
 * CUBED_E_EXISTS if another process puts one there. Holds at most `memory` bytes of objects in memory. Checks the fence (may be
 * NULL) before each batch of puts. */
CUBED_MUST_CHECK cubed_status cb_zarr_copy_objects(cubed_store *from, const char *path,
                                                   cubed_store *to, const cb_zarr_fence *fence,
                                                   const char *to_path, int format, uint64_t memory,
                                                   cubed_error *err);

#endif
