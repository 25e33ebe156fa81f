/* Looking into Zarr stores. */
#ifndef CUBED_ZARR_H
#define CUBED_ZARR_H

#include "cubed/context.h"
#include "cubed/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns PATH of STORE::PATH without the slashes around it, of *n characters: 0 if there is none. STORE is the first *store
 * characters of the URL.
 *
 * In a path of this machine, the first "::" behind a file or directory that exists is the separator, and a path that exists
 * as a whole has none. If nothing exists, it is the first "::". */
CUBED_API const char *cubed_url_path(const char *url, size_t *n, size_t *store);

/* Files that are taken for stores, by the ends of their names. */
typedef enum cubed_file_kind {
    CUBED_FILE_NONE,       /* any other name, such as that of a directory */
    CUBED_FILE_ZIP,        /* .zip: a Zarr store in an archive */
    CUBED_FILE_NETCDF,     /* .nc, .nc4 */
    CUBED_FILE_READ_ONLY,  /* .cdf, .h5, .hdf5, .he5: nobody here writes them */
    CUBED_FILE_REFERENCES, /* .json, where there is such a file */
    CUBED_FILE_KINDS
} cubed_file_kind;
/* Of STORE in the URL. What is there is not looked at. */
CUBED_API cubed_file_kind cubed_url_file_kind(const char *url);

/* Where things lie: the store's root without links, the path in it, and both in one, which is the same text for all
 * spellings of a place but bind mounts. Of URLs without user and password. Valid during the callback. */
typedef cubed_status (*cubed_place_fn)(void *ctx, const char *store, const char *path,
                                       const char *text, cubed_error *err);
/* Calls `fn` once with what the URL (STORE or STORE::PATH) says. Nothing need be there. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_place_find(cubed_context *ctx, const char *url,
                                                         cubed_place_fn fn, void *fn_ctx,
                                                         cubed_error *err);

/* How the server of a store tells versions of objects, by which a replaced object is noticed. */
typedef enum cubed_validator {
    CUBED_VALIDATOR_VERSION, /* by versions or ETags; also if no server was asked yet, or the store has none */
    CUBED_VALIDATOR_DATE, /* by dates of whole seconds */
    CUBED_VALIDATOR_SIZE, /* not at all: sizes are compared */
    CUBED_VALIDATOR_NONE  /* not at all */
} cubed_validator;
/* "version", "date", "size" or "none". */
CUBED_API const char *cubed_validator_name(cubed_validator v);
/* A sentence for users that says what goes unnoticed; NULL for CUBED_VALIDATOR_VERSION. */
CUBED_API const char *cubed_validator_text(cubed_validator v);

/* One group or array of a store; pointers are valid during the callback. */
typedef struct cubed_zarr_info {
    const char *path; /* in the store, "" for its root */
    bool is_array;
    int zarr_format;
    const char *attrs; /* JSON object text, as of cubed_array_attrs */
    /* Arrays only: */
    cubed_dtype dtype;
    int ndim;
    const int64_t *shape;
    const int64_t *chunks; /* what can be read by itself; of irregular chunks the largest */
    /* Irregular chunks, or shards: their lengths along each axis, as JSON text of metadata has them; else NULL. */
    const char *chunk_shapes;
    const int64_t *shards; /* of one stored object, the largest; NULL where that is a chunk */
    const char *const *dim_names; /* ndim entries, NULLs where there is none */
    const char *codecs; /* JSON text: v3 list; v2 compressor, behind its filters in a list */
    uint64_t logical_bytes;
    uint64_t chunks_total; /* stored objects: chunks, or shards */
    /* If they were to be counted: */
    uint64_t chunks_present, stored_bytes;
    /* Why the array cannot be computed with (a type or a codec that is not supported). NULL: it can. */
    const char *unsupported;
    /* Of such an array: the name of its type in metadata, beside which dtype and logical_bytes say nothing, but all else is
     * as of others. NULL: nothing else is known of it either. */
    const char *type;
    /* Of the store, and of the stores that it refers to: the least of what their servers have told. */
    cubed_validator validator;
} cubed_zarr_info;

typedef cubed_status (*cubed_zarr_info_fn)(void *ctx, const cubed_zarr_info *info,
                                           cubed_error *err);

/* Calls `fn` for every group and array at and below `url` (STORE or STORE::PATH), parents first.
 * `count`: what is stored of each array, too, by listing its chunks. A status other than CUBED_OK from `fn` ends the walk and is returned. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_zarr_walk(cubed_context *ctx, const char *url,
                                                        bool count, cubed_zarr_info_fn fn,
                                                        void *fn_ctx, cubed_error *err);
/* Calls `fn` for the group at `url`, then for every group and array directly in it, which are not opened:
 * only path (below the group, "" for itself), is_array, zarr_format and, of the group, attrs are set.
 * `consolidated`: as the group's consolidated metadata has them, where there is some, which may be out
 * of date; else they are found by listing the store. CUBED_E_NOT_FOUND if there is no group. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_zarr_members(cubed_context *ctx, const char *url,
                                                           bool consolidated, cubed_zarr_info_fn fn,
                                                           void *fn_ctx, cubed_error *err);
/* Makes an empty group at `url`, with groups above it; attrs is JSON object text or NULL. One that
 * exists is kept, with `attrs` in place of its own if they are given and the format is the same, unless
 * `overwrite`, which removes everything in it. `durable`: it survives a power failure. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_zarr_make_group(cubed_context *ctx, const char *url,
                                                              int zarr_format, const char *attrs,
                                                              bool overwrite, bool durable,
                                                              cubed_error *err);
/* Removes everything at `url`, if something is there: only what the caller has made, and nobody reads or writes. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_zarr_remove(cubed_context *ctx, const char *url,
                                                          cubed_error *err);
/* Copies all metadata below the group at `url` into the group's own (consolidated metadata), where
 * readers of other libraries look first. `durable`: as above. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_zarr_consolidate(cubed_context *ctx, const char *url,
                                                               bool durable, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
