/* Reads variable-length strings as an array of strings with the maximum length: see zarr_texts.c. */
#ifndef CB_ZARR_TEXTS_H
#define CB_ZARR_TEXTS_H

#include "zarr/outline.h"

typedef struct cb_zarr_texts {
    cb_zarr_outline about;
    cubed_dtype dtype; /* string type (family CUBED_STRING) */
    const void *data;  /* the whole array, in C order */
    cb_arena *owner;   /* owns the data; the caller frees it */
} cb_zarr_texts;

/* Reads the array at PATH. Strings of `out` are allocated in the zone. CUBED_E_UNSUPPORTED if its elements are not
 * variable-length strings, or its shards are followed by codecs. CUBED_E_BUDGET if a chunk or the whole array needs more than
 * `most` bytes. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_texts(cubed_store *store, const cb_codecs *codecs,
                                                 const char *path, size_t most, cb_zone *zone,
                                                 cb_zarr_texts *out, cubed_error *err);

#endif
