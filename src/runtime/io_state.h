/* What io.c and intermediates.c share; for those two only. */
#ifndef CB_RUNTIME_IO_STATE_H
#define CB_RUNTIME_IO_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/cache.h"
#include "runtime/io.h"

/* A chunk of an intermediate: in memory if ptr is set, else in the work directory if spilled. */
typedef struct tier_chunk {
    void *ptr;
    uint32_t readers; /* reads to come */
    bool spilled;
} tier_chunk;

typedef struct node_io {
    /* Targets with a URL: */
    cubed_store *store;
    cb_zarr_array *array;
    bool resumed;
    /* Intermediates: */
    tier_chunk *chunks;
    size_t nchunks;
    size_t chunk_bytes;
} node_io;

/* The driver has 24 bytes more. */
_Static_assert(sizeof(node_io) + 24 <= CB_RUN_NODE_BYTES, "what a run keeps of a node");

struct cb_io {
    cubed_plan *plan;
    cb_io_mode mode;
    bool committed;
    unsigned keep;
    node_io *nodes;       /* one per node */
    pthread_mutex_t lock; /* of tier_chunk entries and of opening the work store */
    cb_budget spare; /* what projections leave: for intermediates, then for what is wanted again */
    cb_budget tier;  /* what intermediates have of it */
    cb_cache *cache; /* NULL: nothing is wanted again */
    cubed_store *work; /* opened by the first spill */
    char prefix[40];   /* the plan's id: of its keys in the work directory, and its mark */
    atomic_uint_least64_t spilled;
};

/* Whether this process drives a whole run. */
static inline bool cb_io_drives(const cb_io *io)
{
    return io->mode == CB_IO_RUN || io->mode == CB_IO_DRIVER;
}

/* Opens the work directory, if that has not been done. CUBED_E_BUDGET if there is none. */
CUBED_MUST_CHECK cubed_status cb_tier_open(cb_io *io, cubed_error *err);
/* The key in it of a chunk of an intermediate. */
void cb_tier_key(const cb_io *io, int node, int64_t chunk, char key[96]);
/* Keeps a whole chunk while there are readers to come. */
/* Of a chunk as it is stored. */
size_t cb_tier_chunk_bytes(const cb_io *io, int node, const int64_t *idx);
CUBED_MUST_CHECK cubed_status cb_tier_write(cb_io *io, int node, const int64_t *idx,
                                            const void *src, cb_io_count *count, cubed_error *err);
/* `size` bytes of a chunk from `offset` on: *direct points to them, in dst or where the chunk is. */
CUBED_MUST_CHECK cubed_status cb_tier_read(cb_io *io, int node, const int64_t *idx, size_t offset,
                                           size_t size, void *dst, const void **direct,
                                           cb_io_count *count, cubed_error *err);
/* The elements from lo to hi of a chunk, run by run. *direct points to the chunk if they are one. */
CUBED_MUST_CHECK cubed_status cb_tier_read_part(cb_io *io, int node, const int64_t *idx,
                                                const int64_t *lo, const int64_t *hi, void *dst,
                                                const void **direct, cb_io_count *count,
                                                cubed_error *err);

#endif
