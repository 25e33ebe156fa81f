/* Texts of any length, as one array of the longest's length: see zarr_texts.c. */
#ifndef CB_ZARR_TEXTS_H
#define CB_ZARR_TEXTS_H

#include "zarr/outline.h"

typedef struct cb_zarr_texts {
    cb_zarr_outline about;
    cubed_dtype dtype; /* of the family CUBED_STRING */
    const void *data;  /* the whole array, in C order */
    cb_arena *owner;   /* of the data: the caller's */
} cb_zarr_texts;

/* Reads the array at PATH. CUBED_E_UNSUPPORTED: its elements are no such texts, or shards have codecs behind them.
 * CUBED_E_BUDGET: a chunk, or all of it, takes more than `most` bytes. Strings go to the zone. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_texts(cubed_store *store, const cb_codecs *codecs,
                                                 const char *path, size_t most, cb_zone *zone,
                                                 cb_zarr_texts *out, cubed_error *err);

#endif
