/* The broker: tasks read and write the chunks of a plan's nodes (arrays) only through it, wherever the chunks are stored.
 *
 *   source        a Zarr array or a function
 *   target        a Zarr array
 *   intermediate  in memory while its budget lasts, otherwise in the work folder; each chunk is freed after its last read
 *
 * Tasks access arrays in the caller's memory directly, without the broker. A run creates one broker, and sets the target arrays
 * and the work folder. Reading and writing chunks is thread-safe. */
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
    /* Numbers of chunks that were read: `missing` counts nonexistent chunks of arrays without a fill value; `present`
     * counts all other chunks. */
    uint64_t missing, present;
} cb_task_count;

/* Callback that opens the work folder, which holds intermediates that do not fit in memory. It returns the folder's store and
 * key; both must outlive the broker. The broker calls it when it first needs the folder, and not again after success. */
typedef cubed_status (*cb_chunks_open_fn)(void *ctx, cubed_store **store, const char **folder,
                                          cubed_error *err);

/* Callback that receives chunks of a stored node: a box of chunk indices. */
typedef cubed_status (*cb_chunks_fn)(void *ctx, int node, const cb_box *chunks, cubed_error *err);

typedef struct cb_chunks_options {
    /* Intermediates may stay in the memory of this process. If false, all of them go to the work folder, because other processes
     * also read or write them. */
    bool own;
    /* Count the future reads of intermediates, and free each chunk after its last read. */
    bool counts;
    size_t spare; /* memory in bytes for intermediates; the cache uses the remainder */
    /* Returns the total number of reads of a chunk that tasks read repeatedly; SIZE_MAX if it is unknown. */
    size_t (*reads)(const cubed_plan *p, int node, const int64_t *idx);
    /* Calls `fn` for the chunks that one step of a task reads, in access order. Steps count from 0. Sets *there to false if the
     * task has no such step. The list of chunks is a forecast: chunks may be missing, or not be read. Thread-safe. If `visit` is
     * NULL, no chunks are prefetched, and no worker decodes chunks for another. */
    cubed_status (*visit)(const cubed_plan *p, int stage, int64_t task, int64_t step, bool *there,
                          cb_chunks_fn fn, void *ctx);
    unsigned workers; /* number of workers with tasks that prefetch through this broker */
    cb_chunks_open_fn open;
    void *open_ctx;
    /* For runs that update an existing target: returns true if a chunk of the target does not change, so that its task need not
     * run. NULL for other runs. */
    bool (*keeps)(void *ctx, int node, int64_t chunk);
    void *keeps_ctx;
} cb_chunks_options;

/* Creates a broker of chunks. The plan must outlive the broker. */
CUBED_MUST_CHECK cubed_status cb_chunks_new(const cubed_plan *plan,
                                            const cb_chunks_options *options, cb_chunks **out,
                                            cubed_error *err);
/* Frees the broker. No chunk may be pinned. */
void cb_chunks_free(cb_chunks *c);
/* Sets the array of a target. `resumed`: the array may contain chunks that an earlier run of the plan has written. */
void cb_chunks_set_array(cb_chunks *c, int node, const cb_zarr_array *array, bool resumed);
/* Opens the work folder, unless it is open already. */
CUBED_MUST_CHECK cubed_status cb_chunks_open_work(cb_chunks *c, cubed_error *err);

/* --- Existing chunks ------------------------------------------------------------------------------------ */

/* Returns whether the node is a target that an earlier run began. */
bool cb_chunks_resumes(const cb_chunks *c, int node);
/* Returns true if the run updates its targets: cb_chunks_find_whole then finds the chunks that do not change. */
bool cb_chunks_updates(const cb_chunks *c);
/* Sets *found to true if a chunk of a target or an intermediate need not be computed: if the resumed run has left it complete, or
 * if the update does not change it. Always false for results in memory. Deletes a damaged chunk of a target. Call it before the
 * task that computes the chunk. */
CUBED_MUST_CHECK cubed_status cb_chunks_find_whole(cb_chunks *c, int node, int64_t chunk,
                                                   bool *found, cubed_error *err);
/* Sets *found to true if a resumed target has the chunk. Call it after cb_chunks_find_whole, which deletes damaged chunks. */
CUBED_MUST_CHECK cubed_status cb_chunks_exists(const cb_chunks *c, int node, int64_t chunk,
                                               bool *found, cubed_error *err);

/* cb_chunks_add_reader counts one more future read of a chunk of an intermediate. cb_chunks_has_readers returns whether a chunk
 * has future reads. Call both only before the run starts. */
void cb_chunks_add_reader(cb_chunks *c, int node, int64_t chunk);
bool cb_chunks_has_readers(cb_chunks *c, int node, int64_t chunk);
/* Records that one of the counted reads is over. After the last one, the chunk is freed. */
void cb_chunks_release(cb_chunks *c, int node, int64_t chunk);

/* Returns the memory that intermediates use. */
const cb_budget *cb_chunks_intermediates(const cb_chunks *c);
/* Returns the bytes of intermediates that were written to the work folder. */
uint64_t cb_chunks_spilled(const cb_chunks *c);
/* Returns the peak memory in bytes of the cache. */
uint64_t cb_chunks_cache_peak(const cb_chunks *c);
/* Returns the peak memory in bytes of all prefetched chunks, divided by the number of workers. */
uint64_t cb_chunks_fetch_peak(const cb_chunks *c);

/* --- Reading and writing ------------------------------------------------------------------------------ */

/* A chunk, or a part of a chunk, in memory. */
typedef struct cb_pinned {
    const char *data;               /* address of the element at index `lo` of the array */
    int64_t lo[CUBED_MAX_NDIM];     /* index of the first element */
    int64_t stride[CUBED_MAX_NDIM]; /* strides in bytes, by axis of the array */
} cb_pinned;

/* A request to read a chunk. */
typedef struct cb_want {
    int node;
    const int64_t *idx; /* index of the chunk */
    /* The part to read, as a box of elements of the array; NULL: the whole chunk. cb_node_subread_run and cb_node_parts
     * (chunks/chunk_need.h) state for which nodes parts can be read. */
    const cb_box *subread;
    bool reuse;  /* the chunk will be read again, so it may be cached */
    bool copied; /* copy a cached chunk to the buffer instead of using it in place */
    /* A mapped file or a prefetched object may be used in place. Set it only if the caller does not write to the data. The file
     * may change during its use: see cb_chunks_check. */
    bool mapped;
    void *buffer; /* buffer of cb_chunk_bytes bytes, or of the size of the part */
} cb_want;

/* State of a worker that reads chunks. */
typedef struct cb_chunk_reader {
    cb_arena *arena;
    cb_task_count *count;
    struct cb_ahead
        *ahead; /* prefetches the worker's next chunks (chunks/ahead.h); NULL: no prefetching */
    struct cb_helper *
        helper; /* lets other workers decode chunks for this one (chunks/offers.h); NULL: no help */
} cb_chunk_reader;

/* Makes a chunk, or a part of it, available: uses it in place if it is in memory, otherwise reads it to want->buffer. `out`
 * receives its address. A whole chunk at the edge of the array is padded with unspecified values. Then prefetches the worker's
 * next chunks.
 *
 * Data in want->buffer are valid as long as the buffer. An intermediate in memory is valid until the task that reads it is
 * reported done. Other data in place are cached, mapped, prefetched, or decoded by another worker. They are valid until the
 * worker's arena is released to a mark (a fill level) before this call, and use CB_CHUNKS_PIN_BYTES of the arena. In addition,
 * the call uses the arena memory that chunks/chunk_need.h states. */
#define CB_CHUNKS_PIN_BYTES CB_ARENA_DEFER_BYTES
CUBED_MUST_CHECK cubed_status cb_chunks_want(cb_chunks *c, const cb_chunk_reader *r,
                                             const cb_want *want, cb_pinned *out, cubed_error *err);
/* Returns the address of a box of elements of an intermediate if the elements are in memory, contiguous and in C order, even
 * across chunks. Otherwise returns NULL. The address is valid as long as the chunks of the box exist. */
const char *cb_chunks_together(cb_chunks *c, int node, const cb_box *box, cb_task_count *count);
/* Fails if a mapped file changed while it was in use, because results that were computed from it are then invalid. cb_chunks_put
 * calls this function first, so it writes no such results. */
CUBED_MUST_CHECK cubed_status cb_chunks_check(const cb_chunks *c, cubed_error *err);

/* A request to read one codec block: a part of an encoded chunk that can be decoded alone. Offsets are in bytes of the decoded
 * chunk. */
typedef struct cb_want_codec_block {
    int node;
    const int64_t *idx; /* index of the chunk */
    size_t at;          /* offset that the codec block contains */
    cubed_range run;    /* contiguous bytes that the caller reads, block by block; contains `at` */
    void *buffer;       /* buffer of cb_node_codec_block_bytes bytes */
} cb_want_codec_block;

/* A decoded codec block in memory. */
typedef struct cb_pinned_codec_block {
    const char *data;
    cubed_range bytes; /* byte range of the block in the decoded chunk */
    void *kept;        /* cache entry; NULL if the block is in the buffer */
} cb_pinned_codec_block;

/* Decodes a codec block to the buffer, or finds it in the cache. If want->run contains only the beginning or only the end of the
 * block, the block is decoded to the cache if it fits, because another read probably needs the remainder of the block. The caller
 * must unpin a cached block with cb_chunks_unpin_codec_block before it writes any chunk. Uses the arena memory that
 * cb_read_subread_need returns. */
CUBED_MUST_CHECK cubed_status cb_chunks_want_codec_block(const cb_chunks *c,
                                                         const cb_want_codec_block *want,
                                                         cb_arena *scratch,
                                                         cb_pinned_codec_block *out,
                                                         cb_task_count *count, cubed_error *err);
void cb_chunks_unpin_codec_block(const cb_chunks *c, cb_pinned_codec_block *block);
/* Records that a planned read of a chunk does not take place. The cache then expects one read less. */
void cb_chunks_pass(cb_chunks *c, int node, const int64_t *idx);

/* Returns true if a node's chunks can be prefetched: prefetching is on, and they are in a store with latency. */
bool cb_chunks_may_ask(cb_chunks *c, int node);
/* Adds a request for a whole chunk to a batch. For an inner chunk of a shard whose index is not loaded yet, requests the index
 * instead, and returns CB_FETCH_LATER. */
cb_fetch_answer cb_chunks_ask(cb_chunks *c, cb_fetch_batch *b, int node, const int64_t *idx,
                              cb_task_count *count);
/* Drops chunks that were prefetched and not read; see cb_fetch_drop. */
void cb_chunks_forget(cb_chunks *c, const void *owner, int64_t task);

/* Returns the address in memory at which cb_chunks_put will store a chunk of an intermediate, or NULL if it is not known in
 * advance. The caller may compute the chunk at this address, and pass the address as `src` to cb_chunks_put, which then does not
 * copy. */
void *cb_chunks_place(cb_chunks *c, int node, const int64_t *idx);
/* Declares that the chunks of intermediate `node`, in order, form the only chunk of `target`, and that only the copy to the
 * target reads them. If the target's store can write an object in pieces, cb_chunks_put then writes each chunk directly to the
 * target's chunk, and keeps nothing in memory. Call it before tasks run. */
void cb_chunks_join(cb_chunks *c, int node, int target);
/* Completes the target's chunk after all its pieces were written. Sets *joined to false if the chunks of `node` were not written
 * as pieces, so that they must be copied. */
CUBED_MUST_CHECK cubed_status cb_chunks_end_join(cb_chunks *c, int node, bool *joined,
                                                 cb_task_count *count, cubed_error *err);
/* Writes a whole chunk from `src`, in C order. The caller pads chunks at the edge of the array. Uses the arena memory that
 * cb_write_need returns, in addition to `src`. */
CUBED_MUST_CHECK cubed_status cb_chunks_put(cb_chunks *c, int node, const int64_t *idx,
                                            const void *src, cb_arena *scratch,
                                            cb_task_count *count, cubed_error *err);

#endif
