/* What the broker's files share; for those only. */
#ifndef CB_CHUNKS_STATE_H
#define CB_CHUNKS_STATE_H

#include <stdatomic.h>

#include "chunks/cache.h"
#include "chunks/chunk_need.h"
#include "chunks/chunks.h"
#include "chunks/fetch.h"
#include "store/local/local_map.h"

/* All chunks of a node, one behind another: in memory, or pieces of the only chunk of a target, in its store. */
typedef struct chunks_together {
    char *data; /* NULL if no chunk has been put */
    size_t bytes;
    bool refused;               /* there was no memory for all: each chunk has its own */
    int64_t left;               /* chunks that are not freed */
    int target;                 /* -1 if they are in memory; constant while tasks run */
    cubed_store_pieces *pieces; /* NULL if no piece has been put */
    bool holds;                 /* some element differs from the fill value */
    bool ended;                 /* the pieces have become the chunk */
} chunks_together;

typedef struct chunks_of_node {
    const cb_zarr_array *array; /* of a target; NULL: there is none */
    bool resumed;
    size_t chunk_bytes; /* of an intermediate */
} chunks_of_node;

/* Chunks of an intermediate. The lock of cb_chunks guards all of it. */
typedef struct chunks_kept {
    chunks_together
        *together; /* NULL if each chunk has memory of its own; constant while tasks run */
    void **kept;   /* by chunk: its memory, or cb_chunks_in_work if it is in the work folder */
    /* By chunk: reads to come. UINT32_MAX stands for more than can be counted: such a chunk stays. */
    uint32_t *readers;
} chunks_kept;

/* The work folder and the store that holds it. */
typedef struct cb_work {
    cubed_store *store; /* NULL if it has not been opened */
    const char *folder;
} cb_work;

/* A run keeps two pointers, and 32 bytes for what tasks wait for, beside it. */
_Static_assert(sizeof(chunks_of_node) + sizeof(chunks_kept) + 2 * sizeof(void *) + 32 <=
                   CB_RUN_NODE_BYTES,
               "what a run keeps of a node");
_Static_assert(sizeof(void *) + sizeof(uint32_t) <= CB_RUN_CHUNK_BYTES,
               "what a run keeps of a chunk");

struct cb_chunks {
    const cubed_plan *plan;
    cb_chunks_options options;
    chunks_of_node *nodes; /* by node; constant while tasks run */
    cb_mutex lock;
    chunks_kept *kept CB_GUARDED_BY(&lock); /* by node; cb_chunks_kept gives one */
    cb_work work CB_GUARDED_BY(&lock);
    /* Memory for intermediates, and for chunks and indices that will be read again. */
    cb_budget spare;
    cb_budget intermediates; /* what intermediates have of it */
    cb_cache *cache;         /* NULL: nothing is wanted again */
    cb_fetcher *fetcher;     /* NULL: nothing is asked for ahead */
    atomic_uint_least64_t spilled;
    bool maps;                   /* files of arrays without codecs may be mapped; */
    cb_map_costs mapped, copied; /* parts of them where that takes less */
    atomic_int cut;              /* 1 + the node of which a file changed while it was mapped */
};

/* Stand in `kept` for a chunk that is in the work folder, and for a piece of a target's: addresses that no chunk has. */
static inline void *cb_chunks_in_work(const cb_chunks *c) { return (void *)(uintptr_t)c; }
static inline void *cb_chunks_in_target(const cb_chunks *c) { return (void *)(uintptr_t)&c->lock; }

/* The chunks of an intermediate that are kept. The lock must be held as long as the pointer is used. */
static inline chunks_kept *cb_chunks_kept(cb_chunks *c, int node) CB_REQUIRES(&c->lock)
{
    return &c->kept[node];
}

/* Opens the work folder if it is not open yet. */
CUBED_MUST_CHECK cubed_status cb_chunks_get_work(cb_chunks *c, cb_work *out, cubed_error *err);

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

/* The store and the key of an intermediate's chunk in the work folder. False if the chunk is not there. */
enum { CB_INTERMEDIATE_KEY_CAP = 512 };
bool cb_intermediate_place(cb_chunks *c, int node, int64_t chunk, cubed_store **store,
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
