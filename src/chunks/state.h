/* Types and functions of the chunk broker that only the files of this folder use. */
#ifndef CB_CHUNKS_STATE_H
#define CB_CHUNKS_STATE_H

#include <stdatomic.h>

#include "chunks/cache.h"
#include "chunks/chunk_need.h"
#include "chunks/chunks.h"
#include "chunks/fetch.h"
#include "chunks/offers.h"
#include "store/local/local_map.h"

/* The chunks of an intermediate that are stored one after another, so that they form one large chunk: in one block of memory, or
 * as pieces of the only chunk of a target. The lock of cb_chunks guards all fields. */
typedef struct chunks_together {
    char *data;   /* NULL until the first chunk is put */
    size_t bytes; /* size of all chunks */
    bool
        refused; /* there was no memory for all chunks together, so each chunk has its own memory */
    int64_t left; /* number of chunks that are not freed yet */
    int target;   /* node whose only chunk the pieces form; -1 if the chunks are in memory */
    cubed_store_pieces *pieces; /* NULL until the first piece is written */
    bool holds;                 /* at least one element differs from the fill value */
    bool ended;                 /* the target's chunk is complete */
} chunks_together;

/* Constant data of a node while tasks run. */
typedef struct chunks_of_node {
    const cb_zarr_array *array; /* the array of a target; NULL for other nodes */
    bool resumed;               /* an earlier run may have written chunks of this node */
    size_t chunk_bytes;         /* for intermediates: size of a chunk in memory */
} chunks_of_node;

/* Chunks of an intermediate. All fields are guarded by the lock of cb_chunks. */
typedef struct chunks_kept {
    /* NULL if each chunk has its own memory. The pointer is constant while tasks run. */
    chunks_together *together;
    /* kept[i] is the address of chunk i in memory, NULL if it does not exist, or a marker of another place: cb_chunks_in_work,
     * cb_chunks_in_target. */
    void **kept;
    /* readers[i] is the number of future reads of chunk i. UINT32_MAX: too many to count, so the chunk is never freed. */
    uint32_t *readers;
} chunks_kept;

/* Chunks in the work folder that no task will read any more. They are collected, because stores with latency delete many objects
 * with one request. */
typedef struct chunks_released {
    size_t n;
    struct {
        int node;
        int64_t chunk;
    } of[CB_STORE_BATCH];
} chunks_released;

/* The work folder and the store that holds it. */
typedef struct cb_work {
    cubed_store *store; /* NULL until the work folder is opened */
    const char *folder;
} cb_work;

/* CB_RUN_NODE_BYTES includes two pointers and 32 bytes that a run keeps for scheduling. */
_Static_assert(sizeof(chunks_of_node) + sizeof(chunks_kept) + 2 * sizeof(void *) + 32 <=
                   CB_RUN_NODE_BYTES,
               "what a run keeps of a node");
_Static_assert(sizeof(void *) + sizeof(uint32_t) <= CB_RUN_CHUNK_BYTES,
               "what a run keeps of a chunk");

struct cb_chunks {
    const cubed_plan *plan;
    cb_chunks_options options;
    /* One entry for each node of the plan; does not change while tasks run. */
    chunks_of_node *nodes;
    cb_mutex lock;
    /* One entry for each node; accessed with cb_chunks_kept. */
    chunks_kept *kept CB_GUARDED_BY(&lock);
    cb_work work CB_GUARDED_BY(&lock);
    chunks_released *released CB_GUARDED_BY(&lock); /* NULL if there are no such chunks */
    cb_budget spare;               /* memory for intermediates and the cache together */
    cb_budget intermediates;       /* the part of `spare` that intermediates use */
    cb_cache *cache;               /* NULL if chunks are not cached */
    cb_fetcher *fetcher;           /* NULL if chunks are not prefetched */
    cb_offers offers;              /* zeros if workers do not decode chunks for each other */
    atomic_uint_least64_t spilled; /* bytes of intermediates moved to the work folder */
    bool maps;                     /* files with unencoded chunks may be mapped into memory */
    cb_map_costs mapped,
        copied; /* measured costs of mapping and of copying; a part of a chunk is mapped if that is faster */
    /* Number + 1 of a node whose file changed while it was mapped; 0 if no file changed. */
    atomic_int cut;
};

/* Markers in chunks_kept.kept: the chunk is in the work folder, or was written to its target as a piece. They are addresses
 * within the broker, so they differ from the addresses of all chunks. */
static inline void *cb_chunks_in_work(const cb_chunks *c) { return (void *)(uintptr_t)c; }
static inline void *cb_chunks_in_target(const cb_chunks *c) { return (void *)(uintptr_t)&c->lock; }

/* Returns the chunks of an intermediate. The caller must hold the lock while it uses the pointer. */
static inline chunks_kept *cb_chunks_kept(cb_chunks *c, int node) CB_REQUIRES(&c->lock)
{
    return &c->kept[node];
}

/* Opens the work folder if it is not open yet. */
CUBED_MUST_CHECK cubed_status cb_chunks_get_work(cb_chunks *c, cb_work *out, cubed_error *err);

/* Returns the Zarr array of a source; NULL for other nodes. */
static inline const cb_zarr_array *cb_source_of(const cb_chunks *c, int node)
{
    const cb_storage *s = c->plan->storage[node];
    return s ? s->array : NULL;
}
/* Returns the Zarr array of a source or a target; NULL for a source that is a function, and for an intermediate. */
static inline const cb_zarr_array *cb_array_of(const cb_chunks *c, int node)
{
    const cb_zarr_array *source = cb_source_of(c, node);
    return source ? source : c->nodes[node].array;
}

/* Adds a chunk that was read to *count. `stored` is the number of encoded bytes; 0 if the chunk does not exist. `array` is NULL
 * if the chunk is not in an array. */
void cb_count_stored(const cb_zarr_array *array, uint64_t stored, cb_task_count *count);

/* Takes a prefetched chunk out of the pool (cb_fetch_take): fills *out, and returns `out`. The caller must then pass *slot to
 * cb_chunks_done or cb_chunks_keep. Returns NULL, and sets *slot to NULL, if the chunk was not prefetched. */
const cb_zarr_fetched *cb_chunks_take(const cb_chunks *c, cb_cache_key key,
                                      const cubed_cancel *cancel, cb_fetch **slot,
                                      cb_zarr_fetched *out);
void cb_chunks_done(const cb_chunks *c, cb_fetch *slot);
/* Keeps a prefetched chunk valid until `scratch` is released to a mark (a fill level) before this call. Takes over *slot, even if
 * it fails. */
CUBED_MUST_CHECK cubed_status cb_chunks_keep(const cb_chunks *c, cb_fetch *slot, cb_arena *scratch,
                                             cubed_error *err);

/* Gets the store and key of an intermediate's chunk in the work folder. Returns false if the folder is not open yet, or if the
 * chunk is not in it. If all intermediates go to the folder (cb_chunks_options.own is false), does not check the chunk. */
enum { CB_INTERMEDIATE_KEY_CAP = 512 };
bool cb_intermediate_place(cb_chunks *c, int node, int64_t chunk, cubed_store **store,
                           char key[CB_INTERMEDIATE_KEY_CAP]);
CUBED_MUST_CHECK cubed_status cb_intermediates_init(cb_chunks *c, int node, cubed_error *err);
void cb_intermediates_free(cb_chunks *c, int node);
/* Sets *found to true if the work folder has the chunk, in its full size. */
CUBED_MUST_CHECK cubed_status cb_intermediate_find(cb_chunks *c, int node, int64_t chunk,
                                                   bool *found, cubed_error *err);
/* Stores a whole chunk of an intermediate, unless no task will read it. */
CUBED_MUST_CHECK cubed_status cb_intermediate_put(cb_chunks *c, int node, const int64_t *idx,
                                                  const void *src, const cubed_cancel *cancel,
                                                  cb_task_count *count, cubed_error *err);
/* Writes a piece of a target's only chunk to its store. The piece is a chunk of `node` (chunks_together). */
CUBED_MUST_CHECK cubed_status cb_pieces_put(cb_chunks *c, int node, int64_t chunk, const void *src,
                                            cubed_error *err);
/* Frees the state of a chunk that was written in pieces. If the chunk is not complete, its pieces are discarded. `node` is the
 * intermediate whose chunks are the pieces. */
void cb_pieces_free(cb_chunks *c, int node);
/* Gets a chunk of an intermediate, or a part of it, without copying it. Sets *there to false if the chunk is not in
 * memory but in the work folder. */
CUBED_MUST_CHECK cubed_status cb_intermediate_in_memory(cb_chunks *c, const cb_want *want,
                                                        cb_pinned *out, bool *there,
                                                        cb_task_count *count, cubed_error *err);
/* Gets the store and key of the object in the work folder that contains a chunk of an intermediate. Opens the folder if it
 * is not open yet. */
CUBED_MUST_CHECK cubed_status cb_intermediate_object(cb_chunks *c, int node, const int64_t *idx,
                                                     cubed_store **store,
                                                     char key[CB_INTERMEDIATE_KEY_CAP],
                                                     cubed_error *err);

/* Like cb_chunks_want, for a chunk that no other worker has decoded. On entry, `out` describes the data in want->buffer. The call
 * changes it if the chunk is used in place. */
CUBED_MUST_CHECK cubed_status cb_chunks_read(cb_chunks *c, const cb_chunk_reader *r,
                                             const cb_want *want, cb_pinned *out, cubed_error *err);
/* Reads a whole chunk of an array for another worker: to the cache if tasks will read it repeatedly, otherwise to `buffer`.
 * Returns false if the chunk could not be read, or the cache has no space. */
bool cb_chunks_bring(cb_chunks *c, const cb_chunk_reader *r, int node, const int64_t *idx,
                     void *buffer);
/* Returns true if a chunk is in the cache or being loaded to it. */
bool cb_chunks_is_kept(const cb_chunks *c, int node, int64_t chunk);

/* A chunk that another worker has decoded. */
typedef struct cb_taken_offer {
    /* The chunk in the memory of that worker; NULL if no worker offers it, or if it is cached. */
    const void *data;
    bool cached; /* the chunk is in the cache */
} cb_taken_offer;
/* Takes a chunk that another worker has decoded for r->helper. Waits while the chunk is being decoded. The chunk is valid until
 * r->arena is released to a mark (a fill level) before this call. The call uses CB_CHUNKS_PIN_BYTES of the arena. */
CUBED_MUST_CHECK cubed_status cb_chunks_take_offer(cb_chunks *c, const cb_chunk_reader *r,
                                                   const cb_want *want, cb_taken_offer *out,
                                                   cubed_error *err);

#endif
