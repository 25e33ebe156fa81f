/* Reads the structures of HDF5: see "HDF5 File Format Specification Version 3.0". Files are untrusted: every position is
 * checked to be in the file, and the number of structures is limited. */
#ifndef CB_FILES_HDF5_PKG_H
#define CB_FILES_HDF5_PKG_H

#include "files/arrays.h"

/* HDF5's "undefined address": nothing is stored there. */
#define CB_H5_NOWHERE UINT64_MAX

typedef struct cb_h5 {
    cb_file *f;
    uint64_t base;    /* position that addresses are relative to */
    int osize, lsize; /* size in bytes of an address, and of a length */
    uint64_t root;    /* address of the root group's object header */
    cb_zone *temp;    /* memory for data that are needed only while structures are read */
    /* Number of structures that may still be read. If it reaches 0, more structures have been read than fit into the file, so
     * some of them refer to each other in a cycle. */
    int64_t left;
} cb_h5;

/* cb_file.data of an HDF5 file. */
typedef struct cb_h5_data {
    cb_arrays
        arrays; /* must be the first member, because functions of arrays.h access only this member */
    cb_h5 h;
} cb_h5_data;

/* Bytes to read sequentially. Reading beyond the end returns zeros and sets `bad`. */
typedef struct cb_h5_bytes {
    const uint8_t *at, *end;
    bool bad;
} cb_h5_bytes;

uint64_t cb_h5_take(cb_h5_bytes *b, int n);
/* Skips the next n bytes and returns their address; NULL if fewer are left. */
const uint8_t *cb_h5_skip(cb_h5_bytes *b, uint64_t n);
/* Reads an address; CB_H5_NOWHERE if all its bits are set. */
uint64_t cb_h5_address(const cb_h5 *h, cb_h5_bytes *b);
static inline uint64_t cb_h5_length(const cb_h5 *h, cb_h5_bytes *b)
{
    return cb_h5_take(b, h->lsize);
}
static inline uint64_t cb_h5_left(const cb_h5_bytes *b) { return (uint64_t)(b->end - b->at); }

/* Reads a structure of `size` bytes. It must start with the signature `letters`; *out starts after the signature. `letters` is
 * NULL if the structure has no signature. */
CUBED_MUST_CHECK cubed_status cb_h5_read(cb_h5 *h, uint64_t address, uint64_t size,
                                         const char *letters, cb_h5_bytes *out, cubed_error *err);
cubed_status cb_h5_bad(const cb_h5 *h, cubed_error *err, const char *what);

/* --- Object headers ----------------------------------------------------------------------------------- */

enum {
    CB_H5_DATASPACE = 1,
    CB_H5_LINK_INFO = 2,
    CB_H5_DATATYPE = 3,
    CB_H5_OLD_FILL = 4,
    CB_H5_FILL = 5,
    CB_H5_LINK = 6,
    CB_H5_EXTERNAL = 7,
    CB_H5_LAYOUT = 8,
    CB_H5_FILTERS = 11,
    CB_H5_ATTRIBUTE = 12,
    CB_H5_CONTINUATION = 16,
    CB_H5_SYMBOL_TABLE = 17,
    CB_H5_ATTRIBUTE_INFO = 21
};

typedef struct cb_h5_message {
    int type;
    uint8_t flags; /* flag 2: the message is stored elsewhere */
    cb_h5_bytes bytes;
} cb_h5_message;

typedef struct cb_h5_header {
    cb_h5_message *list;
    int n, cap;
} cb_h5_header;

/* Reads an object header into temporary memory. */
CUBED_MUST_CHECK cubed_status cb_h5_read_header(cb_h5 *h, uint64_t address, cb_h5_header *out,
                                                cubed_error *err);
/* Returns the first message of a type; NULL if the header has no such message. */
const cb_h5_message *cb_h5_find(const cb_h5_header *x, int type);
/* Gets the bytes of a message, even if it is stored in another header. */
CUBED_MUST_CHECK cubed_status cb_h5_follow(cb_h5 *h, int type, uint8_t flags, cb_h5_bytes in,
                                           cb_h5_bytes *out, cubed_error *err);

/* --- Lists of links and attributes ----------------------------------------------------------------------- */

typedef cubed_status (*cb_h5_link_fn)(void *ctx, const char *name, uint64_t address,
                                      cubed_error *err);
/* Calls fn for each hard link of a group. Sets *is_group to true if the header belongs to a group, otherwise to false. */
CUBED_MUST_CHECK cubed_status cb_h5_each_link(cb_h5 *h, const cb_h5_header *x, bool *is_group,
                                              cb_h5_link_fn fn, void *ctx, cubed_error *err);
typedef cubed_status (*cb_h5_message_fn)(void *ctx, const cb_h5_message *m, cubed_error *err);
/* Calls fn for each attribute message, in the header and in a fractal heap. */
CUBED_MUST_CHECK cubed_status cb_h5_each_attribute(cb_h5 *h, const cb_h5_header *x,
                                                   cb_h5_message_fn fn, void *ctx,
                                                   cubed_error *err);
/* Calls fn for each message of a fractal heap that a B-tree refers to. `message` is the type of the messages: CB_H5_LINK or
 * CB_H5_ATTRIBUTE. */
CUBED_MUST_CHECK cubed_status cb_h5_each_dense(cb_h5 *h, uint64_t heap, uint64_t tree, int message,
                                               cb_h5_message_fn fn, void *ctx, cubed_error *err);
/* Returns the size of the head of a global heap collection, and the total size stated in it. */
static inline uint64_t cb_h5_global_head(const cb_h5 *h) { return 8 + (uint64_t)h->lsize; }
CUBED_MUST_CHECK cubed_status cb_h5_global_size(const cb_h5 *h, cb_h5_bytes head, uint64_t *size,
                                                cubed_error *err);
/* Finds object number `index` in a collection. */
CUBED_MUST_CHECK cubed_status cb_h5_global_find(const cb_h5 *h, cb_h5_bytes collection,
                                                uint32_t index, cb_h5_bytes *out, cubed_error *err);
/* Reads a collection by its address and finds an object in it. */
CUBED_MUST_CHECK cubed_status cb_h5_global(cb_h5 *h, uint64_t collection, uint32_t index,
                                           cb_h5_bytes *out, cubed_error *err);
typedef cubed_status (*cb_h5_record_fn)(void *ctx, cb_h5_bytes record, cubed_error *err);
/* Calls fn for each record of a B-tree of version 2, which must have that type. */
CUBED_MUST_CHECK cubed_status cb_h5_each_record(cb_h5 *h, uint64_t address, int type,
                                                cb_h5_record_fn fn, void *ctx, cubed_error *err);

/* --- Types and values --------------------------------------------------------------------------------- */

typedef enum cb_h5_class {
    CB_H5_NUMBER,
    CB_H5_BOOL,
    CB_H5_COMPLEX,
    CB_H5_BFLOAT16,
    CB_H5_TEXT,      /* string of `size` bytes */
    CB_H5_LONG_TEXT, /* variable-length string in the global heap */
    CB_H5_REFERENCE,
    CB_H5_LIST, /* variable-length list of references, used for dimensions */
    CB_H5_OTHER
} cb_h5_class;

typedef struct cb_h5_type {
    cb_h5_class what;
    uint32_t size; /* size of an element in bytes */
    /* Type of a number or boolean, or of the two parts of a complex number. */
    cb_number_type number;
    const char *name; /* name for messages, for all other types */
} cb_h5_type;

typedef struct cb_h5_space {
    int ndim;
    bool null; /* the space has no elements and no axes */
    int64_t shape[CUBED_MAX_NDIM];
    uint64_t most[CUBED_MAX_NDIM]; /* maximum extents; UINT64_MAX if unlimited */
    uint64_t count;                /* number of elements */
} cb_h5_space;

typedef struct cb_h5_attribute {
    const char *name;
    cb_h5_type type;
    cb_h5_space space;
    cb_h5_bytes data;
} cb_h5_attribute;

void cb_h5_parse_type(cb_h5_bytes *b, cb_h5_type *out);
CUBED_MUST_CHECK cubed_status cb_h5_parse_space(cb_h5 *h, cb_h5_bytes b, cb_h5_space *out,
                                                cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_h5_parse_attribute(cb_h5 *h, const cb_h5_message *m,
                                                    cb_h5_attribute *out, cubed_error *err);
/* Converts an attribute to JSON. Sets *out to NULL if JSON cannot represent its type. */
CUBED_MUST_CHECK cubed_status cb_h5_attribute_json(cb_h5 *h, const cb_h5_attribute *a, json_t **out,
                                                   cubed_error *err);
/* Gets the string of an attribute in temporary memory; NULL if it is not a string. */
CUBED_MUST_CHECK cubed_status cb_h5_attribute_text(cb_h5 *h, const cb_h5_attribute *a,
                                                   const char **out, cubed_error *err);

/* --- Chunks ------------------------------------------------------------------------------------------- */

/* The index of a dataset's chunks (cb_array_in.source). */
typedef struct cb_h5_index {
    /* The file; h.temp is NULL until the index is read, because temporary memory exists only then. */
    cb_h5 h;
    enum {
        CB_H5_BTREE_1 = 100,
        CB_H5_SINGLE = 1,
        CB_H5_IMPLICIT,
        CB_H5_FIXED,
        CB_H5_EXTENSIBLE,
        CB_H5_BTREE_2
    } kind;
    uint64_t address;
    uint64_t bytes;                /* decoded size of a chunk in bytes */
    bool filtered;                 /* the dataset has filters */
    bool edges_raw;                /* chunks that extend beyond the array are not filtered */
    uint64_t single;               /* stored size in bytes of the only chunk, for CB_H5_SINGLE */
    uint32_t mask;                 /* filter mask of the only chunk, for CB_H5_SINGLE */
    uint64_t most[CUBED_MAX_NDIM]; /* maximum extents; UINT64_MAX if unlimited */
} cb_h5_index;

CUBED_MUST_CHECK cubed_status cb_h5_load_chunks(cb_file *f, cb_array_in *x, cubed_error *err);

#endif
