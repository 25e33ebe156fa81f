/* What io.c, targets.c and intermediates.c share; for those only. */
#ifndef CB_RUN_IO_STATE_H
#define CB_RUN_IO_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "chunks/cache.h"
#include "chunks/io.h"
#include "run/self.h"

/* Where a target lies. Of regions of arrays that exist only the store counts. */
typedef struct target_io {
    cubed_store *store;     /* of the URL */
    cb_claim claim, before; /* now, and before the array took its place */
    bool claimed;           /* by this process */
    bool begun;             /* by this run, in another process */
    bool resumed;           /* an earlier run of the plan has made chunks of it, */
    bool done;              /* and all of them, and metadata */
    bool replaces, swapped; /* it is made beside what is there, and has taken its place */
    cb_stage_place beside;
} target_io;
_Static_assert(sizeof(target_io) <= CB_RUN_TARGET_BYTES, "what a run keeps of a target");

typedef struct node_io {
    /* Targets with a URL: */
    cb_zarr_array *array;
    target_io *target;
    /* Intermediates: */
    void **
        kept; /* by chunk: its memory; what cb_intermediate_spilled gives: it is in the work directory */
    uint32_t *readers; /* the same: reads to come. More are not counted: such a chunk stays. */
    size_t nchunks;
    size_t chunk_bytes;
} node_io;

/* What tasks wait for takes 32 bytes more. */
_Static_assert(sizeof(node_io) + 32 <= CB_RUN_NODE_BYTES, "what a run keeps of a node");
_Static_assert(sizeof(void *) + sizeof(uint32_t) <= CB_RUN_CHUNK_BYTES,
               "what a run keeps of a chunk");

struct cb_io {
    cubed_plan *plan;
    cb_io_mode mode;
    cb_run_self self;
    cb_zone *zone; /* of what is known of targets */
    bool committed;
    bool finished;           /* an earlier run has done all: there is nothing to do */
    bool remember;           /* a run that is resumed again is to find out that all is done */
    unsigned may_keep, keep; /* CUBED_KEEP_*: if the run ends early, and in fact */
    int64_t beat;            /* when claims were last said to be alive: cb_clock_ns */
    node_io *nodes;          /* one per node */
    pthread_mutex_t lock;    /* of what is known of chunks, and of opening the work store */
    cb_budget spare; /* what projections leave: for intermediates, then for what is wanted again */
    cb_budget intermediates; /* what intermediates have of it */
    cb_cache *cache;         /* NULL: nothing is wanted again */
    cubed_store *work;       /* the work directory, or NULL */
    bool spills;             /* the run has a folder there: opened by the first spill */
    cb_claim folder;         /* of it; drivers have it */
    char prefix[CB_RUN_FOLDER_CAP];
    atomic_uint_least64_t spilled;
};

/* In place of a chunk's memory: an address that no chunk has. */
static inline void *cb_intermediate_spilled(cb_io *io) { return io; }

/* Whether this process drives a whole run. */
static inline bool cb_io_drives(const cb_io *io)
{
    return io->mode == CB_IO_RUN || io->mode == CB_IO_DRIVER;
}

/* See io.h. Places of targets are looked at, taken and prepared; or joined, by a worker. */
CUBED_MUST_CHECK cubed_status cb_targets_begin(cb_io *io, bool resume, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_targets_join(cb_io *io, bool resumed, cubed_error *err);
/* Closes them; what was not committed is left or removed. */
void cb_targets_end(cb_io *io);

/* Opens the run's folder in the work directory, if that has not been done. CUBED_E_BUDGET if there is none. */
CUBED_MUST_CHECK cubed_status cb_intermediate_open(cb_io *io, cubed_error *err);
/* Closes it: a driver's is left or removed. */
void cb_intermediate_close(cb_io *io);
/* The key in it of a chunk of an intermediate. */
void cb_intermediate_key(const cb_io *io, int node, int64_t chunk, char key[96]);
/* Keeps a whole chunk while there are readers to come. */
/* Of a chunk as it is stored. */
size_t cb_intermediate_chunk_bytes(const cb_io *io, int node, const int64_t *idx);
CUBED_MUST_CHECK cubed_status cb_intermediate_write(cb_io *io, int node, const int64_t *idx,
                                                    const void *src, cb_io_count *count,
                                                    cubed_error *err);
/* `size` bytes of a chunk from `offset` on: *direct points to them, in dst or where the chunk is. */
CUBED_MUST_CHECK cubed_status cb_intermediate_read(cb_io *io, int node, const int64_t *idx,
                                                   size_t offset, size_t size, void *dst,
                                                   const void **direct, cb_io_count *count,
                                                   cubed_error *err);
/* The elements from lo to hi of a chunk, run by run. *direct points to the chunk if they are one. */
CUBED_MUST_CHECK cubed_status cb_intermediate_subread(cb_io *io, int node, const int64_t *idx,
                                                      const int64_t *lo, const int64_t *hi,
                                                      void *dst, const void **direct,
                                                      cb_io_count *count, cubed_error *err);

#endif
