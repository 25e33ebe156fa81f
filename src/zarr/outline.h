/* Arrays whose element type or codecs are not supported: see outline.c. */
#ifndef CB_ZARR_OUTLINE_H
#define CB_ZARR_OUTLINE_H

#include "zarr/zarr.h"

typedef struct cb_zarr_outline {
    /* Shape, chunks, keys, names and attributes, without type, fill value and codecs. */
    cb_zarr_meta meta;
    const char *type; /* name of the type in the metadata, such as "string", "struct", "|V7" */
    const char *
        codecs; /* JSON text: the list of codecs in format 3; in format 2 the compressor, or a list of filters that ends
                         * with it */
    const char *fill; /* the fill value if it is a string, otherwise "" */
    bool sharded;     /* meta.inner are the inner chunks of the shards meta.chunk */
} cb_zarr_outline;

/* Reads the known metadata of the array at PATH, for which cb_zarr_open fails with CUBED_E_UNSUPPORTED. Strings are
 * allocated in the zone. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_outline(cubed_store *store, const char *path, int format,
                                                   cb_zone *zone, cb_zarr_outline *out,
                                                   cubed_error *err);

/* The functions below copy all objects of an array unchanged, its metadata last. With another target format they fail with
 * CUBED_E_UNSUPPORTED unless the elements are strings or bytes of any length. */

/* Checks whether the array can be copied, and gets the size in bytes of its largest object. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_copy(cubed_store *from, const char *path, int to_format,
                                                 uint64_t *largest, cubed_error *err);
/* Checks whether the array at TO_PATH has the metadata that a copy of the array at PATH would have. */
CUBED_MUST_CHECK cubed_status cb_zarr_is_copy(cubed_store *from, const char *path, cubed_store *to,
                                              const char *to_path, int format, bool *same,
                                              cubed_error *err);
/* Fails with CUBED_E_BUDGET if `largest` exceeds `memory`. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_copy_memory(const char *path, uint64_t largest,
                                                        uint64_t memory, cubed_error *err);
/* Copies an array to TO_PATH, which must not contain any object of an array: CUBED_E_EXISTS if another process puts an object
 * there. Creates parent groups. Holds at most `memory` bytes of objects. Checks the fence (may be NULL) before each batch of
 * puts. */
CUBED_MUST_CHECK cubed_status cb_zarr_copy_objects(cubed_store *from, const char *path,
                                                   cubed_store *to, const cb_zarr_fence *fence,
                                                   const char *to_path, int format, uint64_t memory,
                                                   cubed_error *err);

#endif
