/* Parquet files of a few flat columns, as references of kerchunk are kept in: bytes and integers, PLAIN or by a dictionary,
 * without compression or by zstd. What else there is in the format is CUBED_E_UNSUPPORTED by name. */
#ifndef CB_FILES_PARQUET_H
#define CB_FILES_PARQUET_H

#include "base/alloc.h"

typedef struct cb_parquet_bytes {
    const uint8_t *p; /* NULL: null */
    uint32_t n;
} cb_parquet_bytes;

typedef struct cb_parquet_column {
    const char *name;
    /* One of them per row, and no other; a null integer is 0. Neither: the file has no such column. */
    cb_parquet_bytes *bytes;
    int64_t *numbers;
} cb_parquet_column;

/* Sets the columns that are named, out of a file that is in memory; what they lead to is in the zone. More rows than `most`
 * are an error. `url` is for messages. */
CUBED_MUST_CHECK cubed_status cb_parquet_read(cb_zone *zone, const char *url, const uint8_t *file,
                                              size_t size, int64_t most, cb_parquet_column *columns,
                                              int ncolumns, int64_t *rows, cubed_error *err);

#endif
