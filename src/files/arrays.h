/* Arrays and groups of a file of numbers: their metadata as Zarr format 3 has it, and where their chunks lie. */
#ifndef CB_FILES_ARRAYS_H
#define CB_FILES_ARRAYS_H

#include <stdatomic.h>

#include "base/json.h"
#include "cubed/dtype.h"
#include "files/file_pkg.h"

typedef struct cb_chunk_place {
    uint64_t number; /* in the grid of chunks, in C order */
    uint64_t offset;
    uint32_t size;
    uint8_t mask
        [4]; /* little-endian: a bit for each codec that the chunk did not go through, the lowest for that
                      * behind "bytes" */
} cb_chunk_place;

typedef struct cb_array_in {
    const char *path; /* "" of the root */
    bool is_array;
    const char *doc;   /* zarr.json */
    size_t codecs_end; /* in it: where the list of codecs ends */
    int ndim;
    int64_t shape[CUBED_MAX_NDIM], chunk[CUBED_MAX_NDIM];
    uint64_t item;
    const void *inside; /* its elements, where these lie among the metadata */
    uint64_t begin;     /* of the elements; UINT64_MAX: there are none, or they lie in chunks */
    uint64_t
        row_stride; /* from one index of the first axis to the next; 0: as they lie side by side */
    bool chunked;
    /* Of chunks: read when they are asked for, and sorted by number then. */
    atomic_bool known;
    cb_chunk_place *places;
    size_t nplaces;
    bool masked;        /* some have a mask: four bytes of it are in front of each */
    const void *source; /* what the kind needs to read them */
} cb_array_in;

typedef struct cb_arrays {
    cb_array_in *list; /* sorted by path */
    int n, cap;
    cubed_status (*load)(cb_file *f, cb_array_in *x,
                         cubed_error *err); /* of chunks, with the lock */
} cb_arrays;

/* A new one; NULL without memory. */
cb_array_in *cb_arrays_add(cb_file *f, cb_arrays *a, const char *path);
void cb_arrays_sort(cb_arrays *a);
/* For cb_file_kind: `f->data` is the cb_arrays. */
CUBED_MUST_CHECK cubed_status cb_arrays_find(cb_file *f, const char *key, cb_entry *out,
                                             cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_arrays_each(cb_file *f, const char *prefix, bool chunks,
                                             cb_file_each_fn fn, void *ctx, cubed_error *err);

/* Chunks of elements that lie side by side, of a size that is good to read. */
void cb_array_cut(cb_array_in *x);
/* What metadata say beside shape and chunks. JSON texts; names may be NULL, and each of them. */
typedef struct cb_array_words {
    const char *data_type, *fill_value, *codecs, *attributes;
    const char *const *dims;
} cb_array_words;
CUBED_MUST_CHECK cubed_status cb_array_describe(cb_file *f, cb_array_in *x, const cb_array_words *w,
                                                cubed_error *err);

/* Elements of an attribute or a fill value. */
typedef enum cb_number { CB_NUMBER_INT, CB_NUMBER_UINT, CB_NUMBER_FLOAT } cb_number;
typedef struct cb_number_type {
    cb_number kind;
    int size; /* 1, 2, 4, 8; floats 2, 4, 8 */
    bool big;
} cb_number_type;
/* Bits in the order of this machine. */
uint64_t cb_number_bits(const uint8_t *at, cb_number_type t);
/* A new reference; `n` of them are a list unless there is one. NULL without memory. */
json_t *cb_numbers_json(const uint8_t *at, cb_number_type t, uint64_t n);
/* As Zarr's fill_value. */
json_t *cb_fill_json(const uint8_t *at, cb_number_type t);
/* As CF's _FillValue in Zarr format 3: of floats the bytes of a double in base64. */
json_t *cb_missing_json(const uint8_t *at, cb_number_type t);
/* Sets an attribute, whose name need not be UTF-8, and takes `v` over, also on failure. `type` is its NumPy type string, or
 * NULL to state none. False without memory. */
CUBED_MUST_CHECK bool cb_attribute_json_set(json_t *attrs, const char *name, json_t *v,
                                            const char *type);
/* The NumPy type string of numbers, such as "<f4"; NULL for floats of two bytes, which NetCDF does not have. */
const char *cb_number_typestr(cb_number_type t);
/* The attributes as text for cb_array_words, with their types; NULL without memory. */
const char *cb_attributes_text(const cb_file *f, cb_zone *zone, json_t *attrs, bool is_array);
/* Text that need not be UTF-8. */
json_t *cb_text_json(const uint8_t *at, uint64_t n);

#endif
