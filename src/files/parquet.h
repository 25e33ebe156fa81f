/* Reads Parquet files in which kerchunk stores references to chunks. Supports only what these files need: a few flat columns of
 * bytes and integers, PLAIN or with a dictionary, uncompressed or with zstd. Other contents are CUBED_E_UNSUPPORTED; the message
 * names them. */
#ifndef CB_FILES_PARQUET_H
#define CB_FILES_PARQUET_H

#include "base/alloc.h"

typedef struct cb_parquet_bytes {
    const uint8_t *p; /* NULL: null */
    uint32_t n;
} cb_parquet_bytes;

typedef struct cb_parquet_column {
    const char *name;
    /* One entry per row in either `bytes` or `numbers`; a null integer is 0. Both are NULL if the file has no such
     * column. */
    cb_parquet_bytes *bytes;
    int64_t *numbers;
} cb_parquet_column;

/* A file in memory. */
typedef struct cb_parquet_file {
    const char *url; /* for messages */
    const uint8_t *data;
    size_t size;
} cb_parquet_file;

/* Reads the named columns from a file. Their data is allocated in the zone. Fails if there are more rows than `most`. */
CUBED_MUST_CHECK cubed_status cb_parquet_read(cb_zone *zone, const cb_parquet_file *file,
                                              int64_t most, cb_parquet_column *columns,
                                              int ncolumns, int64_t *rows, cubed_error *err);

#endif
