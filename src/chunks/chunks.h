/* The chunk broker: all access to the chunks of a node goes through it, wherever they are stored.
 *
 * A source is a Zarr array or a function; a target is a Zarr array. Tasks access the caller's memory directly.
 * Intermediates stay in memory within its budget, then spill to the work folder; a chunk is freed after its last reader. A
 * run creates one broker, and sets the target arrays and the work folder. Reading and writing chunks is thread-safe. */
#ifndef CB_CHUNKS_CHUNKS_H
#define CB_CHUNKS_CHUNKS_H

#include "chunks/fetch.h"
#include "mem/pages.h"
#include "plan/plan.h"

typedef struct cb_chunks cb_chunks;

/* Counts of the data that a task moved. */
typedef struct cb_task_count {
    uint64_t bytes_read, bytes_written;   /* decoded bytes */
    uint64_t stored_read, stored_written; /* encoded bytes, read from and written to stores */
    uint64_t function_mem;                /* peak memory in bytes of a user-defined function */
    /* Chunks read from stored sources: `missing` counts chunks that do not exist in arrays without a fill value, `present`
     * counts other chunks. */
    uint64_t missing, present;
} cb_task_count;

/* Gets the store and folder key for intermediates that do not fit in memory; both must outlive the broker. Called once,
 * when a chunk is first written to the folder or read from it. */
typedef cubed_status (*cb_chunks_open_fn)(void *ctx, cubed_store **store, const char **folder,
                                          cubed_error *err);

/* Callback that receives a range of chunks (a box in the stored node's grid). */
typedef cubed_status (*cb_chunks_fn)(void *ctx, int node, const cb_box *chunks, cubed_error *err);

typedef struct cb_chunks_options {
    /* Intermediates may be kept in this process's memory. If false, all of them go to the work folder, which other
     * processes also use. */
    bool own;
    bool
        counts; /* this broker counts readers of intermediates and frees chunks after the last one */
    size_t spare; /* memory in bytes for intermediates; the cache uses the remainder */
    /* Total number of reads of a chunk that tasks read again; SIZE_MAX: unknown. */
    size_t (*reads)(const cubed_plan *p, int node, const int64_t *idx);
    /* Calls fn for the chunks that one step of a task reads, in access order. Steps count from 0. Sets *there to false if the
     * task has no such step. Any thread may call `visit`. It may omit chunks, or list chunks that the task does not read. If
     * `visit` is NULL, no chunks are prefetched, and no worker decodes chunks for another. */
    cubed_status (*visit)(const cubed_plan *p, int stage, int64_t task, int64_t step, bool *there,
                          cb_chunks_fn fn, void *ctx);
    unsigned workers; /* number of workers with tasks that prefetch through this broker */
    cb_chunks_open_fn open;
    void *open_ctx;
    /* For updates: returns true if a chunk of a target does not change, so that its task need not run. NULL for other runs. */
    bool (*keeps)(void *ctx, int node, int64_t chunk);
    void *keeps_ctx;
} cb_chunks_options;

/* Creates a broker of chunks. The plan must outlive the broker. */
CUBED_MUST_CHECK cubed_status cb_chunks_new(const cubed_plan *plan,
                                            const cb_chunks_options *options, cb_chunks **out,
                                            cubed_error *err);
/* Frees the broker. No chunk may be pinned. */
void cb_chunks_free(cb_chunks *c);
/* Sets the array of a target. `resumed`: it may contain chunks of an earlier run of the plan. */
void cb_chunks_set_array(cb_chunks *c, int node, const cb_zarr_array *array, bool resumed);
/* Opens the work folder, unless it is open already. */
CUBED_MUST_CHECK cubed_status cb_chunks_open_work(cb_chunks *c, cubed_error *err);

/* --- Existing chunks ------------------------------------------------------------------------------------ */

/* Returns whether the node is a target that an earlier run began. */
bool cb_chunks_resumes(const cb_chunks *c, int node);
/* Returns true if the run updates its targets: cb_chunks_find_whole then finds the chunks that do not change. */
bool cb_chunks_updates(const cb_chunks *c);
/* Sets *found to true if the run that is resumed has left the chunk, and the chunk is complete. Never true for results in memory.
 * Deletes a damaged chunk of a target. Call it before the task that makes the chunk. */
CUBED_MUST_CHECK cubed_status cb_chunks_find_whole(cb_chunks *c, int node, int64_t chunk,
                                                   bool *found, cubed_error *err);
/* Checks whether a target's chunk exists, after cb_chunks_find_whole has deleted damaged chunks. */
CUBED_MUST_CHECK cubed_status cb_chunks_exists(const cb_chunks *c, int node, int64_t chunk,
                                               bool *found, cubed_error *err);

/* Counts one more future read of a chunk of an intermediate, and checks whether a chunk has future reads. Call both before the
 * run starts. */
void cb_chunks_add_reader(cb_chunks *c, int node, int64_t chunk);
bool cb_chunks_has_readers(cb_chunks *c, int node, int64_t chunk);
/* Ends one read. The last one frees the chunk. */
void cb_chunks_release(cb_chunks *c, int node, int64_t chunk);

/* Return the memory of intermediates, and the bytes that were spilled to the work folder. */
const cb_budget *cb_chunks_intermediates(const cb_chunks *c);
uint64_t cb_chunks_spilled(const cb_chunks *c);
/* Returns the peak memory in bytes of the cache. */
uint64_t cb_chunks_cache_peak(const cb_chunks *c);
/* Returns the peak memory in bytes of prefetched chunks: the average per worker. */
uint64_t cb_chunks_fetch_peak(const cb_chunks *c);

/* --- Reading and writing ------------------------------------------------------------------------------ */

/* A chunk, or a part of one, in memory. */
typedef struct cb_pinned {
    const char *data; /* the element at index lo of the array */
    int64_t lo[CUBED_MAX_NDIM];
    int64_t stride[CUBED_MAX_NDIM]; /* strides in bytes, by axis of the array */
} cb_pinned;

typedef struct cb_want {
    int node;
    const int64_t *idx; /* index of the chunk */
    /* part to read, in elements (chunks/chunk_need.h); NULL: the whole chunk */
    const cb_box *subread;
    bool reuse;  /* the chunk will be read again: it may be cached if it had to be decoded */
    bool copied; /* copy a cached chunk to the buffer instead of using it in place */
    bool
        mapped; /* the chunk's file may be mapped; only for loops that do not write to it (see cb_chunks_check) */
    void *buffer; /* buffer with room for cb_chunk_bytes, or for the part */
} cb_want;

/* Context of a worker for reading chunks. */
typedef struct cb_chunk_reader {
    cb_arena *arena;
    cb_task_count *count;
    struct cb_ahead
        *ahead; /* prefetches the worker's next chunks (chunks/ahead.h); NULL: no prefetching */
    struct cb_helper *
        helper; /* lets other workers decode chunks for this one (chunks/offers.h); NULL: no help */
} cb_chunk_reader;

/* Reads a chunk or a part of it to the buffer, unless it can be used in place, where it is in memory. A whole chunk at the edge
 * of the array is padded with unspecified values. Then prefetches the reader's next chunks.
 *
 * An intermediate in memory stays valid until the task that reads it is reported done. A cached or mapped chunk, and one
 * that another worker has decoded, stays valid until the reader's arena is released to a mark before this call; this uses
 * CB_CHUNKS_PIN_BYTES of the arena unless the chunk is copied. The additional arena memory is given by chunks/chunk_need.h. */
#define CB_CHUNKS_PIN_BYTES CB_ARENA_DEFER_BYTES
CUBED_MUST_CHECK cubed_status cb_chunks_want(cb_chunks *c, const cb_chunk_reader *r,
                                             const cb_want *want, cb_pinned *out, cubed_error *err);
/* Returns the address of the elements of a box of an intermediate, if they are in memory, contiguous and in C order. Otherwise
 * returns NULL. The address is valid as long as the chunks of the box exist. */
const char *cb_chunks_together(cb_chunks *c, int node, const cb_box *box, cb_task_count *count);
/* Fails if a mapped file changed while it was in use. Results computed from it are invalid and are not written. */
CUBED_MUST_CHECK cubed_status cb_chunks_check(const cb_chunks *c, cubed_error *err);

typedef struct cb_want_codec_block {
    int node;
    const int64_t *idx; /* index of the chunk */
    size_t at;          /* offset of a byte of the chunk that the block contains */
    cubed_range run;    /* byte range of the sequential read, which contains `at` */
    void *buffer;       /* buffer with room for cb_node_codec_block_bytes */
} cb_want_codec_block;

typedef struct cb_pinned_codec_block {
    const char *data;
    cubed_range bytes; /* byte range of the block in the chunk */
    void *kept;        /* cache entry; NULL: the block is in the buffer */
} cb_pinned_codec_block;

/* Decodes a whole block of a chunk to the buffer, or to the cache if another run reads a part of the same block. The caller
 * must unpin a cached block with cb_chunks_unpin_codec_block before it writes any chunk. Needs the memory of reading a part
 * (cb_read_subread_need). */
CUBED_MUST_CHECK cubed_status cb_chunks_want_codec_block(const cb_chunks *c,
                                                         const cb_want_codec_block *want,
                                                         cb_arena *scratch,
                                                         cb_pinned_codec_block *out,
                                                         cb_task_count *count, cubed_error *err);
void cb_chunks_unpin_codec_block(const cb_chunks *c, cb_pinned_codec_block *block);
/* Counts a read of a chunk that was planned, but that the task did not need. */
void cb_chunks_pass(cb_chunks *c, int node, const int64_t *idx);

/* Returns whether a node's chunks may be prefetched, because they come from a store with latency. */
bool cb_chunks_may_ask(cb_chunks *c, int node);
/* Prefetches a whole chunk. If the index of its shard is not loaded, prefetches the index first, and the chunk in a later
 * call. */
cb_fetch_answer cb_chunks_ask(cb_chunks *c, cb_fetch_batch *b, int node, const int64_t *idx,
                              cb_task_count *count);
/* Drops prefetched chunks: see cb_fetch_drop. */
void cb_chunks_forget(cb_chunks *c, const void *owner, int64_t task);

/* Returns the address where a chunk of an intermediate will be stored, if the address is known in advance; otherwise NULL. The
 * caller may compute the chunk at this address, and put it from there. */
void *cb_chunks_place(cb_chunks *c, int node, const int64_t *idx);
/* Declares that the chunks of an intermediate, in order, form the only chunk of `target`, and that only the copy to the
 * target reads them. If the target's store accepts pieces, each chunk is then written there directly and uses no memory.
 * Call before tasks run. */
void cb_chunks_join(cb_chunks *c, int node, int target);
/* Completes the target's chunk from its pieces. Sets *joined to false if the node's chunks were not written as pieces. */
CUBED_MUST_CHECK cubed_status cb_chunks_end_join(cb_chunks *c, int node, bool *joined,
                                                 cb_task_count *count, cubed_error *err);
/* Writes a whole chunk in C order; the caller pads chunks at the edge. The arena memory in addition to `src` is given by
 * chunks/chunk_need.h. */
CUBED_MUST_CHECK cubed_status cb_chunks_put(cb_chunks *c, int node, const int64_t *idx,
                                            const void *src, cb_arena *scratch,
                                            cb_task_count *count, cubed_error *err);

#endif
