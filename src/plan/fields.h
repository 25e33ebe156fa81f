/* The fields of plans' bytes: integers as varints, strings, grids, maps. Written they cannot fail but for memory,
 * which the buffer keeps; read they may be anything. */
#ifndef CB_PLAN_FIELDS_H
#define CB_PLAN_FIELDS_H

#include "base/alloc.h"
#include "plan/geom.h"

/* What bytes are for: to be kept, to be hashed (only what decides which values are in which chunks, so that
 * a run can be resumed with other limits and workers, and without contents of memory), for worker processes of this run,
 * which are given the caller's memory otherwise, or of an array, with all of its memory. */
typedef enum cb_plan_use {
    CB_PLAN_FOR_FILE,
    CB_PLAN_FOR_ID,
    CB_PLAN_FOR_WORKERS,
    CB_PLAN_FOR_ARRAY
} cb_plan_use;

void cb_put_u(cb_buf *b, uint64_t v);
void cb_put_i(cb_buf *b, int64_t v);
/* May be NULL. */
void cb_put_string(cb_buf *b, const char *s);
/* A size and as many bytes. */
void cb_put_params(cb_buf *b, const void *params, size_t size);
void cb_put_grid(cb_buf *b, const cb_grid *g);
void cb_put_map(cb_buf *b, const cb_map *m);

/* After the first error `bad` sticks and every get gives 0: callers check once per object. */
typedef struct cb_reader {
    const uint8_t *at, *end;
    bool bad;
    bool worker;  /* of the run that the plan is from */
    bool array;   /* memory of any size is in the bytes */
    int operands; /* so far; see CB_MAX_OPERANDS */
    cb_zone *zone;
} cb_reader;

uint64_t cb_get_u(cb_reader *r);
int64_t cb_get_i(cb_reader *r);
/* A number below `limit`, of which bytes may be more than an int holds. */
int cb_get_n(cb_reader *r, uint64_t limit);
/* In the bytes themselves. */
const void *cb_get_bytes(cb_reader *r, size_t n);
/* What follows is in the reader's zone: NULL of bad bytes, and when there is no memory. */
const char *cb_get_string(cb_reader *r);
/* A function's, of any size. */
const void *cb_get_params(cb_reader *r, size_t *size);
const cb_map *cb_get_map(cb_reader *r);
int64_t *cb_get_list(cb_reader *r, int n);
const int64_t *cb_get_numbers(cb_reader *r, int n);
/* Checked with the node, but for its dimensions; lists are in the zone. */
void cb_get_grid(cb_reader *r, cb_grid *g);

#endif
