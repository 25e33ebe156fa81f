/* Reading of HDF5's structures; see the "HDF5 File Format Specification Version 3.0". Nothing in a file is believed:
 * bytes come from within it, and what leads from one structure to the next is counted. */
#ifndef CB_FILES_HDF5_PKG_H
#define CB_FILES_HDF5_PKG_H

#include "files/arrays.h"

/* The address of what is not there. */
#define CB_H5_NOWHERE UINT64_MAX

typedef struct cb_h5 {
    cb_file *f;
    uint64_t base;    /* of addresses */
    int osize, lsize; /* bytes of an address, and of a length */
    uint64_t root;    /* address of the root group's header */
    cb_zone *temp;    /* for what is read on the way */
    int64_t
        left; /* structures that may still be read: more than a file has room for are a circle */
} cb_h5;

/* The data of such a file. */
typedef struct cb_h5_data {
    cb_arrays arrays; /* first: what finds arrays knows no more */
    cb_h5 h;
} cb_h5_data;

/* Bytes that are taken one after the other; beyond their end they are zeros, and `bad`. */
typedef struct cb_h5_bytes {
    const uint8_t *at, *end;
    bool bad;
} cb_h5_bytes;

uint64_t cb_h5_take(cb_h5_bytes *b, int n);
/* The next n, which are skipped; NULL if there are fewer. */
const uint8_t *cb_h5_skip(cb_h5_bytes *b, uint64_t n);
/* An address in the file; CB_H5_NOWHERE is all ones, of any width. */
uint64_t cb_h5_address(const cb_h5 *h, cb_h5_bytes *b);
static inline uint64_t cb_h5_length(const cb_h5 *h, cb_h5_bytes *b)
{
    return cb_h5_take(b, h->lsize);
}
static inline uint64_t cb_h5_left(const cb_h5_bytes *b) { return (uint64_t)(b->end - b->at); }

/* A structure of that size which begins with the four letters (NULL: any); behind those. */
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
    uint8_t flags; /* 2: it lies elsewhere */
    cb_h5_bytes bytes;
} cb_h5_message;

typedef struct cb_h5_header {
    cb_h5_message *list;
    int n, cap;
} cb_h5_header;

/* In temporary memory. */
CUBED_MUST_CHECK cubed_status cb_h5_read_header(cb_h5 *h, uint64_t address, cb_h5_header *out,
                                                cubed_error *err);
/* The first message of a type; NULL if there is none. */
const cb_h5_message *cb_h5_find(const cb_h5_header *x, int type);
/* The bytes of a message, also if they lie in another header. */
CUBED_MUST_CHECK cubed_status cb_h5_follow(cb_h5 *h, int type, uint8_t flags, cb_h5_bytes in,
                                           cb_h5_bytes *out, cubed_error *err);

/* --- Lists of names ----------------------------------------------------------------------------------- */

typedef cubed_status (*cb_h5_link_fn)(void *ctx, const char *name, uint64_t address,
                                      cubed_error *err);
/* Calls fn for each hard link of a group. *is_group: whether the header is one's. */
CUBED_MUST_CHECK cubed_status cb_h5_each_link(cb_h5 *h, const cb_h5_header *x, bool *is_group,
                                              cb_h5_link_fn fn, void *ctx, cubed_error *err);
typedef cubed_status (*cb_h5_message_fn)(void *ctx, const cb_h5_message *m, cubed_error *err);
/* Calls fn for each attribute message, in the header and outside. */
CUBED_MUST_CHECK cubed_status cb_h5_each_attribute(cb_h5 *h, const cb_h5_header *x,
                                                   cb_h5_message_fn fn, void *ctx,
                                                   cubed_error *err);
/* Calls fn for each message of a fractal heap that the records of a B-tree of that type name, by ids at byte `id_at`. */
CUBED_MUST_CHECK cubed_status cb_h5_each_dense(cb_h5 *h, uint64_t heap, uint64_t tree, int type,
                                               int id_at, int message, cb_h5_message_fn fn,
                                               void *ctx, cubed_error *err);
/* How many bytes the head of a part of the heap of what has no fixed size takes, and what it says of the size of all. */
static inline uint64_t cb_h5_global_head(const cb_h5 *h) { return 8 + (uint64_t)h->lsize; }
CUBED_MUST_CHECK cubed_status cb_h5_global_size(const cb_h5 *h, cb_h5_bytes head, uint64_t *size,
                                                cubed_error *err);
/* Object number `index` of it. */
CUBED_MUST_CHECK cubed_status cb_h5_global_find(const cb_h5 *h, cb_h5_bytes collection,
                                                uint32_t index, cb_h5_bytes *out, cubed_error *err);
/* The same of what lies at that address. */
CUBED_MUST_CHECK cubed_status cb_h5_global(cb_h5 *h, uint64_t collection, uint32_t index,
                                           cb_h5_bytes *out, cubed_error *err);
typedef cubed_status (*cb_h5_record_fn)(void *ctx, cb_h5_bytes record, cubed_error *err);
/* Calls fn for each record of a B-tree of version 2, which must be of that type. */
CUBED_MUST_CHECK cubed_status cb_h5_each_record(cb_h5 *h, uint64_t address, int type,
                                                cb_h5_record_fn fn, void *ctx, cubed_error *err);

/* --- Types and values --------------------------------------------------------------------------------- */

typedef enum cb_h5_class {
    CB_H5_NUMBER,
    CB_H5_BOOL,
    CB_H5_COMPLEX,
    CB_H5_BFLOAT16,
    CB_H5_TEXT,      /* of `size` bytes */
    CB_H5_LONG_TEXT, /* of any length, in the global heap */
    CB_H5_REFERENCE,
    CB_H5_LIST, /* of any length, of references: those of dimensions */
    CB_H5_OTHER
} cb_h5_class;

typedef struct cb_h5_type {
    cb_h5_class what;
    uint32_t size;
    cb_number_type number; /* of numbers and booleans; of complex ones their parts */
    const char *name;      /* of other ones, for messages */
} cb_h5_type;

typedef struct cb_h5_space {
    int ndim;
    bool null;
    int64_t shape[CUBED_MAX_NDIM];
    uint64_t most[CUBED_MAX_NDIM]; /* how long they may become; UINT64_MAX: any */
    uint64_t count;
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
/* As JSON; *out is NULL of types that JSON has no word for. */
CUBED_MUST_CHECK cubed_status cb_h5_attribute_json(cb_h5 *h, const cb_h5_attribute *a, json_t **out,
                                                   cubed_error *err);
/* The text of an attribute, in temporary memory; NULL if it has none. */
CUBED_MUST_CHECK cubed_status cb_h5_attribute_text(cb_h5 *h, const cb_h5_attribute *a,
                                                   const char **out, cubed_error *err);

/* --- Chunks ------------------------------------------------------------------------------------------- */

/* How chunks are found: cb_array_in.source. */
typedef struct cb_h5_index {
    cb_h5 h; /* without temporary memory */
    enum {
        CB_H5_BTREE_1 = 100,
        CB_H5_SINGLE = 1,
        CB_H5_IMPLICIT,
        CB_H5_FIXED,
        CB_H5_EXTENSIBLE,
        CB_H5_BTREE_2
    } kind;
    uint64_t address;
    uint64_t bytes; /* of a chunk that is decoded */
    bool filtered;
    bool edges_raw;                /* chunks that reach beyond the array are not filtered */
    uint64_t single;               /* bytes of the only chunk */
    uint32_t mask;                 /* of it */
    uint64_t most[CUBED_MAX_NDIM]; /* of cb_h5_space */
} cb_h5_index;

CUBED_MUST_CHECK cubed_status cb_h5_load_chunks(cb_file *f, cb_array_in *x, cubed_error *err);

#endif
