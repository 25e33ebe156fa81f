/* What the broker's files share; for those only. */
#ifndef CB_CHUNKS_STATE_H
#define CB_CHUNKS_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "chunks/cache.h"
#include "chunks/chunks.h"
#include "chunks/need.h"

typedef struct chunks_of_node {
    const cb_zarr_array *array; /* of a target; NULL: there is none */
    bool resumed;
    /* Intermediates: */
    size_t chunk_bytes;
    void **kept; /* by chunk: its memory; what cb_chunks_in_work gives: it is in the work folder */
    uint32_t *readers; /* the same: reads to come. More are not counted: such a chunk stays. */
} chunks_of_node;

/* A run keeps two pointers, and 32 bytes for what tasks wait for, beside it. */
_Static_assert(sizeof(chunks_of_node) + 2 * sizeof(void *) + 32 <= CB_RUN_NODE_BYTES,
               "what a run keeps of a node");
_Static_assert(sizeof(void *) + sizeof(uint32_t) <= CB_RUN_CHUNK_BYTES,
               "what a run keeps of a chunk");

struct cb_chunks {
    const cubed_plan *plan;
    cb_chunks_options options;
    chunks_of_node *nodes;   /* one per node */
    pthread_mutex_t lock;    /* of what is known of chunks, and of opening the work folder */
    cb_budget spare;         /* for intermediates, then for what is wanted again */
    cb_budget intermediates; /* what intermediates have of it */
    cb_cache *cache;         /* NULL: nothing is wanted again */
    cubed_store *work;       /* where the work folder is; NULL: it has not been opened */
    const char *folder;
    atomic_uint_least64_t spilled;
    bool maps;      /* files of arrays without codecs may be mapped */
    atomic_int cut; /* 1 + the node of which a file changed while it was mapped */
};

/* In place of a chunk's memory: an address that no chunk has. */
static inline void *cb_chunks_in_work(const cb_chunks *c) { return (void *)(uintptr_t)c; }

CUBED_MUST_CHECK cubed_status cb_intermediates_init(cb_chunks *c, int node, cubed_error *err);
void cb_intermediates_free(cb_chunks *c, int node);
/* Whether a whole chunk lies in the work folder. */
CUBED_MUST_CHECK cubed_status cb_intermediate_find(cb_chunks *c, int node, int64_t chunk,
                                                   bool *found, cubed_error *err);
/* Keeps a whole chunk while there are readers to come. */
CUBED_MUST_CHECK cubed_status cb_intermediate_put(cb_chunks *c, int node, const int64_t *idx,
                                                  const void *src, cb_task_count *count,
                                                  cubed_error *err);
/* What is wanted of a chunk; `out` says how it lies in the buffer, or is made to say how it lies where it is. */
CUBED_MUST_CHECK cubed_status cb_intermediate_want(cb_chunks *c, const cb_want *want,
                                                   cb_pinned *out, cb_task_count *count,
                                                   cubed_error *err);

#endif
