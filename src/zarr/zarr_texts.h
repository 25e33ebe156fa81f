/* Reads an array of variable-length strings into memory, as strings of one length: that of the longest string. */
#ifndef CB_ZARR_TEXTS_H
#define CB_ZARR_TEXTS_H

#include "zarr/outline.h"

/* An array of strings in memory. */
typedef struct cb_zarr_texts {
    cb_zarr_outline about; /* its metadata */
    cubed_dtype dtype;     /* string type (family CUBED_STRING) */
    const void *data;      /* the whole array, in C order */
    cb_arena *owner;       /* owns the data; the caller frees it */
} cb_zarr_texts;

/* Reads the array at PATH. The strings of out->about are allocated in the zone.
 *
 * Errors: CUBED_E_UNSUPPORTED if the elements are not variable-length strings, or if other codecs encode its shards;
 * CUBED_E_BUDGET if a chunk or the whole array needs more than `most` bytes. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_texts(cubed_store *store, const cb_codecs *codecs,
                                                 const char *path, size_t most, cb_zone *zone,
                                                 cb_zarr_texts *out, cubed_error *err);

#endif
