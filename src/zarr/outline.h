/* Arrays whose elements or codecs are not known here: see outline.c. */
#ifndef CB_ZARR_OUTLINE_H
#define CB_ZARR_OUTLINE_H

#include "zarr/zarr.h"

typedef struct cb_zarr_outline {
    /* Shape, chunks, keys, names and attributes: neither type nor fill value nor codecs. */
    cb_zarr_meta meta;
    const char *type;   /* "string", "struct", "|V7": as metadata has it, if it has a name */
    const char *codecs; /* JSON text, as in cubed_zarr_info */
    const char *fill;   /* the fill value where it is a text, else "" */
    bool sharded;       /* meta.inner are the chunks of the shards meta.chunk */
} cb_zarr_outline;

/* What is known of the array at PATH, of which cb_zarr_open says CUBED_E_UNSUPPORTED. Strings go to the zone. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_outline(cubed_store *store, const char *path, int format,
                                                   cb_zone *zone, cb_zarr_outline *out,
                                                   cubed_error *err);

/* Copies of all objects of an array as they are, metadata last, into this format: CUBED_E_UNSUPPORTED if that is another
 * one, and elements are not texts or bytes of any length. */

/* Whether it can be done, and the bytes of the largest object. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_copy(cubed_store *from, const char *path, int to_format,
                                                 uint64_t *largest, cubed_error *err);
/* Whether the array at TO_PATH has the metadata that such a copy would have. */
CUBED_MUST_CHECK cubed_status cb_zarr_is_copy(cubed_store *from, const char *path, cubed_store *to,
                                              const char *to_path, int format, bool *same,
                                              cubed_error *err);
/* CUBED_E_BUDGET if that is more. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_copy_memory(const char *path, uint64_t largest,
                                                        uint64_t memory, cubed_error *err);
/* Nothing of an array may be at TO_PATH: CUBED_E_EXISTS if another process puts an object there. Makes the groups above. Holds
 * at most `memory` bytes of objects. The fence (NULL: none) is checked before each part of them is put. */
CUBED_MUST_CHECK cubed_status cb_zarr_copy_objects(cubed_store *from, const char *path,
                                                   cubed_store *to, const cb_zarr_fence *fence,
                                                   const char *to_path, int format, uint64_t memory,
                                                   cubed_error *err);

#endif
