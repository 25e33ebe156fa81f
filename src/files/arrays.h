/* Arrays and groups in a file such as NetCDF or HDF5: their metadata in Zarr format 3, and the positions of their chunks. */
#ifndef CB_FILES_ARRAYS_H
#define CB_FILES_ARRAYS_H

#include <stdatomic.h>

#include "base/json.h"
#include "cubed/dtype.h"
#include "files/file_pkg.h"

typedef struct cb_chunk_place {
    uint64_t number; /* number of the chunk in C order */
    uint64_t offset;
    uint32_t size;
    /* A little-endian number of 32 bits. Bit i is set if codec i was not applied to the chunk; codec 0 is the first codec after
     * "bytes". */
    uint8_t mask[4];
} cb_chunk_place;

typedef struct cb_array_in {
    const char *path; /* "" for the root */
    bool is_array;
    const char *doc;   /* contents of zarr.json */
    size_t codecs_end; /* position in `doc` of the end of the list of codecs */
    int ndim;
    int64_t shape[CUBED_MAX_NDIM], chunk[CUBED_MAX_NDIM];
    uint64_t item;
    const void *inside; /* elements stored among the metadata; otherwise NULL */
    uint64_t
        begin; /* position of the elements; UINT64_MAX: there are no elements, or they are in chunks */
    uint64_t row_stride; /* bytes between two indices of the first axis; 0: contiguous */
    bool chunked;
    /* If `known` is set, `places` has the locations of the chunks, sorted by number. They are loaded on demand. */
    atomic_bool known;
    cb_chunk_place *places;
    size_t nplaces;
    bool
        masked; /* some chunk has a mask: each chunk is presented with its mask of four bytes in front */
    const void *source; /* data from which the file kind loads the chunks */
} cb_array_in;

typedef struct cb_arrays {
    cb_array_in *list; /* sorted by path */
    int n, cap;
    cubed_status (*load)(cb_file *f, cb_array_in *x,
                         cubed_error *err); /* loads chunks; requires the lock */
} cb_arrays;

/* Adds an array or a group. Returns NULL if out of memory. */
cb_array_in *cb_arrays_add(cb_file *f, cb_arrays *a, const char *path);
void cb_arrays_sort(cb_arrays *a);
/* The members `find` and `each` of cb_file_kind, for kinds of files whose f->data points to a cb_arrays. */
CUBED_MUST_CHECK cubed_status cb_arrays_find(cb_file *f, const char *key, cb_entry *out,
                                             cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_arrays_each(cb_file *f, const char *prefix, bool chunks,
                                             cb_file_each_fn fn, void *ctx, cubed_error *err);

/* For an array whose elements are contiguous in the file: chooses chunks of a suitable size, in which the elements are
 * presented. */
void cb_array_cut(cb_array_in *x);
/* Metadata in addition to shape and chunks, as JSON strings. `dims` and each of its entries may be NULL. */
typedef struct cb_array_words {
    const char *data_type, *fill_value, *codecs, *attributes;
    const char *const *dims;
} cb_array_words;
CUBED_MUST_CHECK cubed_status cb_array_describe(cb_file *f, cb_array_in *x, const cb_array_words *w,
                                                cubed_error *err);

/* Type of the elements of an attribute or a fill value. */
typedef enum cb_number { CB_NUMBER_INT, CB_NUMBER_UINT, CB_NUMBER_FLOAT } cb_number;
typedef struct cb_number_type {
    cb_number kind;
    int size; /* 1, 2, 4, 8; for floats 2, 4, 8 */
    bool big; /* big-endian */
} cb_number_type;
/* Returns the bits of the number at `at` in native byte order. */
uint64_t cb_number_bits(const uint8_t *at, cb_number_type t);
/* Converts n numbers to a number if n is 1, otherwise to a list. Returns a new reference, or NULL if out of memory. */
json_t *cb_numbers_json(const uint8_t *at, cb_number_type t, uint64_t n);
/* Converts a number to Zarr's fill_value. */
json_t *cb_fill_json(const uint8_t *at, cb_number_type t);
/* Converts a number to CF's _FillValue in Zarr format 3: for floats a double in base64. */
json_t *cb_missing_json(const uint8_t *at, cb_number_type t);
/* Sets an attribute, whose name need not be UTF-8. Takes ownership of `v`, even on failure. `type` is its NumPy type string;
 * NULL: not recorded. Returns false if out of memory. */
CUBED_MUST_CHECK bool cb_attribute_json_set(json_t *attrs, const char *name, json_t *v,
                                            const char *type);
/* Returns the NumPy type string of numbers, such as "<f4"; NULL for floats of two bytes, which NetCDF does not have. */
const char *cb_number_typestr(cb_number_type t);
/* Returns attributes as a string for cb_array_words, with their types; NULL if out of memory. */
const char *cb_attributes_text(const cb_file *f, cb_zone *zone, json_t *attrs, bool is_array);
/* Converts a string that need not be UTF-8. */
json_t *cb_text_json(const uint8_t *at, uint64_t n);

#endif
