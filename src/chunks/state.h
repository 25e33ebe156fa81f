/* State that only the files of the broker share. */
#ifndef CB_CHUNKS_STATE_H
#define CB_CHUNKS_STATE_H

#include <stdatomic.h>

#include "chunks/cache.h"
#include "chunks/chunk_need.h"
#include "chunks/chunks.h"
#include "chunks/fetch.h"
#include "chunks/offers.h"
#include "store/local/local_map.h"

/* All chunks of a node, contiguous: in memory, or as pieces of a target's only chunk in its store. */
typedef struct chunks_together {
    char *data; /* NULL if no chunk has been put */
    size_t bytes;
    bool refused; /* memory for all chunks was not available: each chunk has its own */
    int64_t left; /* number of chunks not freed yet */
    int target;   /* -1: in memory; constant while tasks run */
    cubed_store_pieces *pieces; /* NULL until the first piece is written */
    bool holds;                 /* an element differs from the fill value */
    bool ended;                 /* the pieces have been completed to a chunk */
} chunks_together;

typedef struct chunks_of_node {
    const cb_zarr_array *array; /* array of a target; NULL if not set */
    bool resumed;
    size_t chunk_bytes; /* for intermediates */
} chunks_of_node;

/* Chunks of an intermediate. All fields are guarded by the lock of cb_chunks. */
typedef struct chunks_kept {
    chunks_together *together; /* NULL if each chunk has its own memory; constant while tasks run */
    void **kept;               /* by chunk: its memory, cb_chunks_in_work or cb_chunks_in_target */
    /* By chunk: number of future reads. UINT32_MAX means too many to count: such a chunk is never freed. */
    uint32_t *readers;
} chunks_kept;

/* The work folder and the store that holds it. */
typedef struct cb_work {
    cubed_store *store; /* NULL until the work folder is opened */
    const char *folder;
} cb_work;

/* In addition, a run keeps two pointers and 32 bytes of scheduling state per node. */
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
    chunks_kept *kept CB_GUARDED_BY(&lock); /* by node; access with cb_chunks_kept */
    cb_work work CB_GUARDED_BY(&lock);
    /* Memory for intermediates and the cache. */
    cb_budget spare;
    cb_budget intermediates; /* part of `spare` that intermediates use */
    cb_cache *cache;         /* NULL: no caching */
    cb_fetcher *fetcher;     /* NULL: no prefetching */
    cb_offers offers;        /* {0}: workers do not help each other */
    atomic_uint_least64_t spilled;
    bool maps;                   /* files of arrays without codecs may be mapped */
    cb_map_costs mapped, copied; /* measured costs: a part is mapped if that is faster */
    atomic_int cut;              /* 1 + the node whose file changed while it was mapped; 0: none */
};

/* Markers in `kept` for a chunk in the work folder, and for a piece of a target: addresses that no chunk can have. */
static inline void *cb_chunks_in_work(const cb_chunks *c) { return (void *)(uintptr_t)c; }
static inline void *cb_chunks_in_target(const cb_chunks *c) { return (void *)(uintptr_t)&c->lock; }

/* Chunks of an intermediate. The caller must hold the lock while it uses the pointer. */
static inline chunks_kept *cb_chunks_kept(cb_chunks *c, int node) CB_REQUIRES(&c->lock)
{
    return &c->kept[node];
}

/* Opens the work folder if it is not open yet. */
CUBED_MUST_CHECK cubed_status cb_chunks_get_work(cb_chunks *c, cb_work *out, cubed_error *err);

/* Array of a source; NULL for other nodes. */
static inline const cb_zarr_array *cb_source_of(const cb_chunks *c, int node)
{
    const cb_storage *s = c->plan->storage[node];
    return s ? s->array : NULL;
}
/* Array of a source, or of a target that a later stage reads; NULL for a function or an intermediate. */
static inline const cb_zarr_array *cb_array_of(const cb_chunks *c, int node)
{
    const cb_zarr_array *source = cb_source_of(c, node);
    return source ? source : c->nodes[node].array;
}

/* Counts the encoded bytes read of a chunk; `stored` is 0 if the chunk does not exist. */
void cb_count_stored(const cb_zarr_array *array, uint64_t stored, cb_task_count *count);

/* Takes a prefetched chunk and returns `out`. Returns NULL, and sets *slot to NULL, if it was not prefetched. */
const cb_zarr_fetched *cb_chunks_take(const cb_chunks *c, cb_cache_key key,
                                      const cubed_cancel *cancel, cb_fetch **slot,
                                      cb_zarr_fetched *out);
void cb_chunks_done(const cb_chunks *c, cb_fetch *slot);
/* Keeps a prefetched chunk in place until the arena is released. */
CUBED_MUST_CHECK cubed_status cb_chunks_keep(const cb_chunks *c, cb_fetch *slot, cb_arena *scratch,
                                             cubed_error *err);

/* Gets the store and key of an intermediate's chunk in the work folder. Returns false if the chunk is not there. */
enum { CB_INTERMEDIATE_KEY_CAP = 512 };
bool cb_intermediate_place(cb_chunks *c, int node, int64_t chunk, cubed_store **store,
                           char key[CB_INTERMEDIATE_KEY_CAP]);
CUBED_MUST_CHECK cubed_status cb_intermediates_init(cb_chunks *c, int node, cubed_error *err);
void cb_intermediates_free(cb_chunks *c, int node);
/* Checks whether the work folder contains the whole chunk. */
CUBED_MUST_CHECK cubed_status cb_intermediate_find(cb_chunks *c, int node, int64_t chunk,
                                                   bool *found, cubed_error *err);
/* Stores a whole chunk if it has future readers. */
CUBED_MUST_CHECK cubed_status cb_intermediate_put(cb_chunks *c, int node, const int64_t *idx,
                                                  const void *src, const cubed_cancel *cancel,
                                                  cb_task_count *count, cubed_error *err);
/* Writes a chunk of a node whose chunks are pieces of a target's chunk (`together->target`). */
CUBED_MUST_CHECK cubed_status cb_pieces_put(cb_chunks *c, int node, int64_t chunk, const void *src,
                                            cubed_error *err);
/* Discards pieces that were not completed to a chunk. */
void cb_pieces_free(cb_chunks *c, int node);
/* Uses a chunk of an intermediate, or a part of one, where it is in memory. Sets *there to false if it is in the work
 * folder. */
CUBED_MUST_CHECK cubed_status cb_intermediate_in_memory(cb_chunks *c, const cb_want *want,
                                                        cb_pinned *out, bool *there,
                                                        cb_task_count *count, cubed_error *err);
/* Gets the object in the work folder with a chunk of an intermediate. Opens the folder if it is not open yet. */
CUBED_MUST_CHECK cubed_status cb_intermediate_object(cb_chunks *c, int node, const int64_t *idx,
                                                     cubed_store **store,
                                                     char key[CB_INTERMEDIATE_KEY_CAP],
                                                     cubed_error *err);

/* Reads a chunk that no other worker has offered (cb_chunks_want). `out` contains the layout in the buffer; it is changed if
 * the chunk is used in place. */
CUBED_MUST_CHECK cubed_status cb_chunks_read(cb_chunks *c, const cb_chunk_reader *r,
                                             const cb_want *want, cb_pinned *out, cubed_error *err);
/* Reads a whole chunk of an array for another worker: into the cache if it will be read again, otherwise to `buffer`. Returns
 * false if it could not be read, or the cache has no room. */
bool cb_chunks_bring(cb_chunks *c, const cb_chunk_reader *r, int node, const int64_t *idx,
                     void *buffer);
/* Returns whether a chunk is cached or being loaded. */
bool cb_chunks_is_kept(const cb_chunks *c, int node, int64_t chunk);

/* A chunk that another worker has decoded: in place, or in the cache. */
typedef struct cb_taken_offer {
    const void *data; /* NULL: it is not offered, or cached */
    bool cached;
} cb_taken_offer;
/* Takes a chunk that another worker offers to r->helper, and waits if it is being decoded. It stays until the arena is
 * released to a mark before this call; this uses CB_CHUNKS_PIN_BYTES of the arena. */
CUBED_MUST_CHECK cubed_status cb_chunks_take_offer(cb_chunks *c, const cb_chunk_reader *r,
                                                   const cb_want *want, cb_taken_offer *out,
                                                   cubed_error *err);

#endif
