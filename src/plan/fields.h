/* Serialises the fields of plans: integers as varints, strings, grids, maps. Writing fails only if out of memory, which the
 * buffer records. Reading accepts arbitrary bytes. */
#ifndef CB_PLAN_FIELDS_H
#define CB_PLAN_FIELDS_H

#include "base/alloc.h"
#include "plan/geom.h"

/* The purpose of the bytes:
 *
 * - FILE: to be stored.
 * - ID: to be hashed. Contains only data that determine the values of each chunk, so that a run can be resumed with other
 *   limits and workers. Does not contain the contents of arrays in memory, which are hashed separately.
 * - WORKERS: for worker processes of this run, which receive the caller's memory separately.
 * - ARRAY: an array, including all of its memory.
 * - GROWTH: to be hashed like ID, but an array has the same bytes before and after it grows. So the bytes do not contain grids
 *   (growth.c adds their chunks), attributes and names of dimensions.
 * - UPDATE: to be hashed like ID, but for updates.
 *
 * In GROWTH and UPDATE, a source in Icechunk has the same bytes in each snapshot (cb_storage.origin). */
typedef enum cb_plan_use {
    CB_PLAN_FOR_FILE,
    CB_PLAN_FOR_ID,
    CB_PLAN_FOR_WORKERS,
    CB_PLAN_FOR_ARRAY,
    CB_PLAN_FOR_GROWTH,
    CB_PLAN_FOR_UPDATE
} cb_plan_use;

void cb_put_u(cb_buf *b, uint64_t v);
void cb_put_i(cb_buf *b, int64_t v);
/* Writes a string, which may be NULL. */
void cb_put_string(cb_buf *b, const char *s);
/* Writes the size and the bytes. */
void cb_put_params(cb_buf *b, const void *params, size_t size);
void cb_put_grid(cb_buf *b, const cb_grid *g);
/* Writes the number of axes and the chunks of each axis, without the extents. */
void cb_put_grid_chunks(cb_buf *b, const cb_grid *g);
void cb_put_map(cb_buf *b, const cb_map *m);

/* Reads fields from bytes. After the first error `bad` stays set and all functions cb_get_... return 0, so a caller checks
 * `bad` once per object. */
typedef struct cb_reader {
    const uint8_t *at, *end;
    bool bad;
    bool worker;  /* the reader is a worker of the plan's run */
    bool array;   /* the bytes are a serialised array, which contains all of its memory */
    int operands; /* number of operands read so far, at most CB_MAX_OPERANDS */
    cb_zone *zone;
} cb_reader;

uint64_t cb_get_u(cb_reader *r);
int64_t cb_get_i(cb_reader *r);
/* Reads a number below `limit`. The bytes may contain numbers that do not fit in int. */
int cb_get_n(cb_reader *r, uint64_t limit);
/* Returns a pointer into the reader's bytes. */
const void *cb_get_bytes(cb_reader *r, size_t n);
/* The following functions allocate in the reader's zone. If out of memory, they set `bad` and return NULL. If the bytes are
 * invalid, they set `bad`, and all except cb_get_numbers return NULL. cb_get_string also returns NULL if NULL was written. */
const char *cb_get_string(cb_reader *r);
/* Reads the parameters of a function, which may have any size. */
const void *cb_get_params(cb_reader *r, size_t *size);
const cb_map *cb_get_map(cb_reader *r);
int64_t *cb_get_list(cb_reader *r, int n);
const int64_t *cb_get_numbers(cb_reader *r, int n);
/* Reads a grid. Checks only the number of dimensions; the other fields are checked with the node. Lists are allocated in the
 * zone. */
void cb_get_grid(cb_reader *r, cb_grid *g);

#endif
