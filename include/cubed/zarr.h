/* Inspecting and changing Zarr stores. */
#ifndef CUBED_ZARR_H
#define CUBED_ZARR_H

#include "cubed/context.h"
#include "cubed/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the PATH in STORE::PATH without leading and trailing slashes. *n receives its length, 0 if there is no PATH. *store
 * receives the length of STORE, with which the URL begins.
 *
 * In a local path, the separator is the first "::" after an existing file or directory; a path that exists as a whole has no
 * separator. If nothing exists, the separator is the first "::". */
CUBED_API const char *cubed_url_path(const char *url, size_t *n, size_t *store);

/* Kinds of files that are stores, by the suffix of their names. */
typedef enum cubed_file_kind {
    CUBED_FILE_NONE,       /* any other name, such as that of a directory */
    CUBED_FILE_ZIP,        /* .zip: a Zarr store in an archive */
    CUBED_FILE_NETCDF,     /* .nc, .nc4 */
    CUBED_FILE_READ_ONLY,  /* .cdf, .h5, .hdf5, .he5, and suffixes of GRIB: read-only */
    CUBED_FILE_REFERENCES, /* .json, if such a file exists */
    CUBED_FILE_KINDS
} cubed_file_kind;
/* Returns the kind of STORE in the URL, from its name alone. */
CUBED_API cubed_file_kind cubed_url_file_kind(const char *url);

/* Receives a place: the location of an array or group. All strings are valid during the callback.
 *
 * store  root of the store, with symbolic links resolved
 * path   path in the store
 * text   store and path in one string; the same for all spellings of the place, except for bind mounts
 *
 * URLs have no user and password. */
typedef cubed_status (*cubed_place_fn)(void *ctx, const char *store, const char *path,
                                       const char *text, cubed_error *err);
/* Calls `fn` once with the place of the URL (STORE or STORE::PATH). Nothing needs to exist there. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_place_find(cubed_context *ctx, const char *url,
                                                         cubed_place_fn fn, void *fn_ctx,
                                                         cubed_error *err);

/* Information about objects that the server of a store reports. A change of this information reveals that an object was
 * replaced. */
typedef enum cubed_validator {
    /* versions or ETags; also if no server has answered yet, or the store has no server */
    CUBED_VALIDATOR_VERSION,
    /* only modification dates, with a resolution of one second */
    CUBED_VALIDATOR_DATE,
    CUBED_VALIDATOR_SIZE, /* no versions or dates, so sizes are compared */
    CUBED_VALIDATOR_NONE  /* nothing that can be compared */
} cubed_validator;
/* Returns "version", "date", "size" or "none". */
CUBED_API const char *cubed_validator_name(cubed_validator v);
/* Returns a sentence for users that states which replacements of the object are not detected; NULL for
 * CUBED_VALIDATOR_VERSION. */
CUBED_API const char *cubed_validator_text(cubed_validator v);

/* One group or array of a store; pointers are valid during the callback. */
typedef struct cubed_zarr_info {
    const char *path; /* path in the store, "" for its root */
    bool is_array;
    int zarr_format;
    const char *attrs; /* text of a JSON object: see cubed_array_attrs */
    /* Arrays only: */
    cubed_dtype dtype;
    int ndim;
    const int64_t *shape;
    const int64_t *
        chunks; /* shape of the smallest parts that can be read; for irregular chunks, the shape of the largest
                            * chunk */
    /* Lengths along each axis of irregular chunks or shards, as the JSON text of the metadata; else NULL. */
    const char *chunk_shapes;
    const int64_t *shards;        /* shape of the largest stored object; NULL if that is a chunk */
    const char *const *dim_names; /* ndim names; NULL for an axis without a name */
    const char *
        codecs; /* JSON text: the list of codecs in format 3; in format 2 the compressor, or a list of filters that ends with
                 * the compressor */
    uint64_t logical_bytes;
    uint64_t chunks_total; /* number of stored objects (chunks or shards) of the whole array */
    /* Only if `count` was requested: number of existing stored objects (chunks or shards), and the sum of their sizes in
     * bytes. */
    uint64_t chunks_present, stored_bytes;
    /* Reason why the array cannot be used in computations: its type or a codec is not supported. NULL: the array can be
     * used. */
    const char *unsupported;
    /* Only if `unsupported` is not NULL: name of the array's type in the metadata. `dtype` and `logical_bytes` are then
     * meaningless; the other members are valid. If `type` is NULL, only `unsupported` is valid. */
    const char *type;
    /* Least precise validator of the store and of all stores that it refers to, as far as their servers have answered. */
    cubed_validator validator;
    const char *
        fields; /* description of the fields of records (see cubed_array_fields); NULL for other types */
} cubed_zarr_info;

typedef cubed_status (*cubed_zarr_info_fn)(void *ctx, const cubed_zarr_info *info,
                                           cubed_error *err);

/* Calls `fn` for every group and array at and below `url` (STORE or STORE::PATH), parents first.
 *
 * count  also counts the stored objects of each array, by listing its chunks
 *
 * A status other than CUBED_OK from `fn` ends the walk and is returned. CUBED_E_NOT_FOUND if there is no group or array at
 * `url`. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_zarr_walk(cubed_context *ctx, const char *url,
                                                        bool count, cubed_zarr_info_fn fn,
                                                        void *fn_ctx, cubed_error *err);
/* Calls `fn` for the group at `url`, then for every group and array directly in it. Members are not opened: only path
 * (below the group; "" for the group itself), is_array, zarr_format and, for the group, attrs are set.
 *
 * consolidated  takes members from the group's consolidated metadata, if it has any, which may be out of date; otherwise
 *               the store is listed
 *
 * Errors: CUBED_E_NOT_FOUND if there is no group. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_zarr_members(cubed_context *ctx, const char *url,
                                                           bool consolidated, cubed_zarr_info_fn fn,
                                                           void *fn_ctx, cubed_error *err);
/* Flags of cubed_zarr_make_group. */
#define CUBED_GROUP_OVERWRITE 1u /* removes everything in an existing group */
#define CUBED_GROUP_DURABLE   2u /* the group survives a power failure */
/* Creates an empty group at `url`, and groups above it. An existing group is kept, unless CUBED_GROUP_OVERWRITE is set; its
 * attributes are replaced by `attrs` if `attrs` is not NULL and the format is the same.
 *
 * zarr_format  2 or 3
 * attrs        text of a JSON object, or NULL
 *
 * Errors: CUBED_E_EXISTS if an array is at `url` and CUBED_GROUP_OVERWRITE is not set; CUBED_E_ARG for another format, for
 * unknown flags, and if `attrs` is not an object; CUBED_E_FORMAT if `attrs` is not JSON. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_zarr_make_group(cubed_context *ctx, const char *url,
                                                              int zarr_format, const char *attrs,
                                                              unsigned flags, cubed_error *err);
/* Removes everything at `url`. Does nothing if nothing exists there. Use it only for contents that the caller has created, and
 * only while no process reads or writes them. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_zarr_remove(cubed_context *ctx, const char *url,
                                                          cubed_error *err);
/* Changes the length of the array at `url` along an axis from `from` to `to`, in its metadata; chunks are neither written nor
 * removed. New elements have the values of existing chunks there, or else the fill value.
 *
 * Errors: CUBED_E_NOT_FOUND if there is no array, CUBED_E_ARG for a negative axis or length, CUBED_E_EXISTS if the array has
 * another length than `from`, CUBED_E_UNSUPPORTED if its chunks along the axis are irregular. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_zarr_set_length(cubed_context *ctx, const char *url,
                                                              int axis, int64_t from, int64_t to,
                                                              cubed_error *err);
/* Copies all metadata below the group at `url` into the group's own metadata (consolidated metadata), which other libraries
 * read first. CUBED_E_NOT_FOUND if there is no group.
 *
 * durable  the metadata survive a power failure */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_zarr_consolidate(cubed_context *ctx, const char *url,
                                                               bool durable, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
