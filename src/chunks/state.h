/* What the broker's files share; for those only. */
#ifndef CB_CHUNKS_STATE_H
#define CB_CHUNKS_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "chunks/cache.h"
#include "chunks/chunks.h"
#include "chunks/fetch.h"
#include "chunks/need.h"
#include "store/local_map.h"

/* All chunks of a node, one behind another: in memory, or pieces of the only chunk of a target, in its store. */
typedef struct chunks_together {
    char *data; /* NULL: no chunk has been put */
    size_t bytes;
    int64_t left;               /* chunks that are not freed */
    int target;                 /* -1: in memory */
    cubed_store_pieces *pieces; /* NULL: none has been put */
    bool holds;                 /* something else than the fill value */
    bool ended;                 /* they are the chunk */
} chunks_together;

typedef struct chunks_of_node {
    const cb_zarr_array *array; /* of a target; NULL: there is none */
    bool resumed;
    /* Intermediates: */
    size_t chunk_bytes;
    chunks_together *together; /* NULL: each chunk has memory of its own */
    void **kept; /* Of each chunk its memory, or cb_chunks_in_work if it is in the work folder. */
    /* Of each chunk the reads to come. UINT32_MAX stands for more than can be counted: such a chunk stays. */
    uint32_t *readers;
} chunks_of_node;

/* A run keeps two pointers, and 32 bytes for what tasks wait for, beside it. */
_Static_assert(sizeof(chunks_of_node) + 2 * sizeof(void *) + 32 <= CB_RUN_NODE_BYTES,
               "what a run keeps of a node");
_Static_assert(sizeof(void *) + sizeof(uint32_t) <= CB_RUN_CHUNK_BYTES,
               "what a run keeps of a chunk");

struct cb_chunks {
    const cubed_plan *plan;
    cb_chunks_options options;
    chunks_of_node *nodes; /* one per node */
    pthread_mutex_t
        lock; /* Guards `kept`, `readers` and `together`, and the opening of the work folder. */
    /* Memory for intermediates, and for chunks and indices that will be read again. */
    cb_budget spare;
    cb_budget intermediates; /* what intermediates have of it */
    cb_cache *cache;         /* NULL: nothing is wanted again */
    cb_fetcher *fetcher;     /* NULL: nothing is asked for ahead */
    cubed_store *work;       /* where the work folder is; NULL: it has not been opened */
    const char *folder;
    atomic_uint_least64_t spilled;
    bool maps;                   /* files of arrays without codecs may be mapped; */
    cb_map_costs mapped, copied; /* parts of them where that takes less */
    atomic_int cut;              /* 1 + the node of which a file changed while it was mapped */
};

/* Stand in `kept` for a chunk that is in the work folder, and for a piece of a target's: addresses that no chunk has. */
static inline void *cb_chunks_in_work(const cb_chunks *c) { return (void *)(uintptr_t)c; }
static inline void *cb_chunks_in_target(const cb_chunks *c) { return (void *)(uintptr_t)&c->lock; }

/* The array that a source is; NULL of everything else. */
static inline const cb_zarr_array *cb_source_of(const cb_chunks *c, int node)
{
    const cb_storage *s = c->plan->storage[node];
    return s ? s->array : NULL;
}
/* That, or a target that a later stage reads; NULL: a function, or an intermediate. */
static inline const cb_zarr_array *cb_array_of(const cb_chunks *c, int node)
{
    const cb_zarr_array *source = cb_source_of(c, node);
    return source ? source : c->nodes[node].array;
}

/* Bytes that came of a chunk; 0: it is not there. */
void cb_count_stored(const cb_zarr_array *array, uint64_t stored, cb_task_count *count);

/* What was asked for ahead, in *out; NULL, and *slot too: it was not. */
const cb_zarr_fetched *cb_chunks_take(const cb_chunks *c, cb_cache_key key,
                                      const cubed_cancel *cancel, cb_fetch **slot,
                                      cb_zarr_fetched *out);
void cb_chunks_done(const cb_chunks *c, cb_fetch *slot);
/* Leaves it where it is until the arena is released. */
CUBED_MUST_CHECK cubed_status cb_chunks_keep(const cb_chunks *c, cb_fetch *slot, cb_arena *scratch,
                                             cubed_error *err);

/* The store and the key of an intermediate's chunk in the work folder; false: it is not there. */
enum { CB_INTERMEDIATE_KEY_CAP = 512 };
bool cb_intermediate_place(cb_chunks *c, int node, int64_t chunk,
                           char key[CB_INTERMEDIATE_KEY_CAP]);
CUBED_MUST_CHECK cubed_status cb_intermediates_init(cb_chunks *c, int node, cubed_error *err);
void cb_intermediates_free(cb_chunks *c, int node);
/* Whether a whole chunk lies in the work folder. */
CUBED_MUST_CHECK cubed_status cb_intermediate_find(cb_chunks *c, int node, int64_t chunk,
                                                   bool *found, cubed_error *err);
/* Keeps a whole chunk while there are readers to come. */
CUBED_MUST_CHECK cubed_status cb_intermediate_put(cb_chunks *c, int node, const int64_t *idx,
                                                  const void *src, const cubed_cancel *cancel,
                                                  cb_task_count *count, cubed_error *err);
/* Puts a chunk of a node whose chunks are pieces of a target's (`together->target`). */
CUBED_MUST_CHECK cubed_status cb_pieces_put(cb_chunks *c, int node, int64_t chunk, const void *src,
                                            cubed_error *err);
/* Frees what has not become a chunk. */
void cb_pieces_free(cb_chunks *c, int node);
/* What is wanted of a chunk; `out` says how it lies in the buffer, or is made to say how it lies where it is. */
CUBED_MUST_CHECK cubed_status cb_intermediate_want(cb_chunks *c, const cb_want *want,
                                                   cb_arena *scratch, cb_pinned *out,
                                                   cb_task_count *count, cubed_error *err);

#endif
