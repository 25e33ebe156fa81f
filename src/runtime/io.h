/* A run's view of storage: which bytes are behind a node's chunk.
 *
 * Sources and targets are Zarr arrays or the caller's memory. Intermediates live in the memory
 * tier while its budget lasts, then in the work directory; a chunk is freed when its last reader
 * is done. Thread-safe, except where said.
 */
#ifndef CB_RUNTIME_IO_H
#define CB_RUNTIME_IO_H

#include "plan/plan.h"

typedef struct cb_io cb_io;

/* Counters of one task. */
typedef struct cb_io_count {
    uint64_t bytes_read, bytes_written;   /* decoded */
    uint64_t stored_read, stored_written; /* encoded, from and to stores */
} cb_io_count;

/* One chunk, whole (also at the edge: what is beyond the shape is unspecified), in C order.
 * If it lies in memory, *direct points to it, and stays valid until the task that reads it is
 * reported done; else it is read and decoded into dst, and *direct is dst. */
CUBED_MUST_CHECK cubed_status cb_io_read(cb_io *io, int node, const int64_t *idx, void *dst,
                                         cb_arena *scratch, const void **direct, cb_io_count *count,
                                         cubed_error *err);
/* Writes one whole chunk in C order (padded at the edge by the caller). */
CUBED_MUST_CHECK cubed_status cb_io_write(cb_io *io, int node, const int64_t *idx, const void *src,
                                          cb_arena *scratch, cb_io_count *count, cubed_error *err);
/* What one such call may take from the arena beside dst / src. In the plan's layer, so that the
 * projection can ask: see plan/need.h. */

#endif
