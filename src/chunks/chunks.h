/* The broker: the one way to a node's chunk, whatever is behind it.
 *
 * Sources are Zarr arrays or functions, targets Zarr arrays; what lies in the caller's memory tasks address by
 * themselves. Intermediates live in memory while its budget lasts, then in the work folder; a chunk
 * is freed when its last reader is done. A run makes a broker, and says what is behind each node and where
 * its work folder is. Reading and writing is thread-safe.
 */
#ifndef CB_CHUNKS_CHUNKS_H
#define CB_CHUNKS_CHUNKS_H

#include "chunks/fetch.h"
#include "mem/pages.h"
#include "plan/plan.h"

typedef struct cb_chunks cb_chunks;

/* Counters of one task. */
typedef struct cb_task_count {
    uint64_t bytes_read, bytes_written;   /* decoded */
    uint64_t stored_read, stored_written; /* encoded, from and to stores */
    uint64_t function_mem;                /* the most that a user's function took */
    /* Chunks of stored sources that were read and are not there, of which no fill value says what they are; others, or
     * not known to be none. */
    uint64_t missing, present;
} cb_task_count;

/* Where intermediates go that memory has no room for: a store, and the key of a folder in it; both outlive the
 * broker. Called once, when the first chunk goes there or is wanted from there. */
typedef cubed_status (*cb_chunks_open_fn)(void *ctx, cubed_store **store, const char **folder,
                                          cubed_error *err);

typedef struct cb_chunks_options {
    /* Intermediates may be kept in this process's memory; else all of them lie in the work folder, where other
     * processes read and write them, too. */
    bool own;
    bool
        counts; /* readers of intermediates are counted here, and chunks freed after the last one */
    size_t
        spare; /* memory for intermediates, and what they leave of it for chunks that will be read again */
    /* How often a chunk that tasks read again is read, in all; SIZE_MAX: not known. */
    size_t (*reads)(const cubed_plan *p, int node, const int64_t *idx);
    unsigned workers; /* whose tasks have chunks fetched ahead here */
    cb_chunks_open_fn open;
    void *open_ctx;
} cb_chunks_options;

/* The plan outlives it. */
CUBED_MUST_CHECK cubed_status cb_chunks_new(const cubed_plan *plan,
                                            const cb_chunks_options *options, cb_chunks **out,
                                            cubed_error *err);
/* Nothing may be pinned. */
void cb_chunks_free(cb_chunks *c);
/* The array that is behind a target. `resumed`: it may have chunks that an earlier run of the plan made. */
void cb_chunks_set_array(cb_chunks *c, int node, const cb_zarr_array *array, bool resumed);
/* Opens the work folder, if that has not been done. */
CUBED_MUST_CHECK cubed_status cb_chunks_open_work(cb_chunks *c, cubed_error *err);

/* --- What is there ------------------------------------------------------------------------------------ */

/* Whether the node is a target that an earlier run began. */
bool cb_chunks_resumes(const cb_chunks *c, int node);
/* Whether a chunk has been written by a run that is resumed, and is still there, whole. Never so for
 * results in memory. Before the task that makes it is begun: a chunk of a target that is not whole is deleted. */
CUBED_MUST_CHECK cubed_status cb_chunks_find_whole(cb_chunks *c, int node, int64_t chunk,
                                                   bool *found, cubed_error *err);
/* The same of a target's chunk after that, when what is there is whole. */
CUBED_MUST_CHECK cubed_status cb_chunks_exists(const cb_chunks *c, int node, int64_t chunk,
                                               bool *found, cubed_error *err);

/* One more read of chunk number `chunk` of an intermediate is to come; whether one is. Before the run starts. */
void cb_chunks_add_reader(cb_chunks *c, int node, int64_t chunk);
bool cb_chunks_has_readers(cb_chunks *c, int node, int64_t chunk);
/* One of them is done: the last one frees the chunk. */
void cb_chunks_release(cb_chunks *c, int node, int64_t chunk);

/* Memory that intermediates take, and bytes of them that went to the work folder. */
const cb_budget *cb_chunks_intermediates(const cb_chunks *c);
uint64_t cb_chunks_spilled(const cb_chunks *c);
/* The most memory that chunks and indices took which were kept to be read again. */
uint64_t cb_chunks_cache_peak(const cb_chunks *c);
/* The most memory that encoded chunks took which were asked for ahead: the share of one worker. */
uint64_t cb_chunks_fetch_peak(const cb_chunks *c);

/* --- Reading and writing ------------------------------------------------------------------------------ */

/* A chunk, or a part of one, where it lies in memory. */
typedef struct cb_pinned {
    const char *data; /* the element at lo of the array */
    int64_t lo[CUBED_MAX_NDIM];
    int64_t stride[CUBED_MAX_NDIM]; /* bytes, by axis of the array */
} cb_pinned;

typedef struct cb_want {
    int node;
    const int64_t *idx;    /* of the chunk */
    const cb_box *subread; /* a part of it, in elements (chunks/chunk_need.h); NULL: all */
    bool reuse;  /* it will be read once more, so it may be kept when it had to be decoded */
    bool copied; /* what is kept so is copied to the buffer */
    bool
        mapped; /* it may be where the system keeps its file: for loops that read it, see cb_chunks_check */
    const void *there; /* it has been brought, and lies there; else NULL */
    void *buffer;      /* of cb_chunk_bytes, or of the part */
} cb_want;

/* Brings a chunk, whole (also at the edge: what is beyond the shape is unspecified) or in part: to the buffer, unless
 * it lies in memory. An intermediate there stays until the task that reads it is reported done; what is kept to
 * be read again, or mapped, until `scratch` is released to a mark before this call, of which it takes CB_CHUNKS_PIN_BYTES
 * unless it is copied. Beside it takes from the arena what chunks/chunk_need.h says. */
#define CB_CHUNKS_PIN_BYTES CB_ARENA_DEFER_BYTES
CUBED_MUST_CHECK cubed_status cb_chunks_want(cb_chunks *c, const cb_want *want, cb_arena *scratch,
                                             cb_pinned *out, cb_task_count *count,
                                             cubed_error *err);
/* A box of an intermediate, where it lies in memory as it would in C order; NULL: it does not, or not yet all of it. It
 * stays as the chunks do. */
const char *cb_chunks_together(cb_chunks *c, int node, const cb_box *box, cb_task_count *count);
/* Brings a chunk that is kept to be read again to where it is kept, for tasks that will want it; false: it could not be
 * read, or there is no room. */
bool cb_chunks_bring(cb_chunks *c, int node, const int64_t *idx, cb_arena *scratch,
                     cb_task_count *count);
/* Whether it is there, or being brought. */
bool cb_chunks_is_kept(const cb_chunks *c, int node, int64_t chunk);
/* Whether what was mapped was what is stored: an error if a file has changed before it was let go. What was made of it
 * is not to be used then, and is not put. */
CUBED_MUST_CHECK cubed_status cb_chunks_check(const cb_chunks *c, cubed_error *err);

typedef struct cb_want_codec_block {
    int node;
    const int64_t *idx; /* of the chunk */
    size_t at;          /* a byte of the chunk in the block */
    cubed_range run;    /* bytes that are read one after another, `at` among them */
    void *buffer;       /* of cb_node_codec_block_bytes */
} cb_want_codec_block;

typedef struct cb_pinned_codec_block {
    const char *data;
    cubed_range bytes; /* of the chunk */
    void *kept;        /* NULL: it is in the buffer */
} cb_pinned_codec_block;

/* Decodes a block of a chunk, all of it: to the buffer or, where another run has a part of it, too, to where it is kept for
 * that. There it stays until cb_chunks_unpin_codec_block, before which nothing may be put. Takes what reading a part takes. */
CUBED_MUST_CHECK cubed_status cb_chunks_want_codec_block(const cb_chunks *c,
                                                         const cb_want_codec_block *want,
                                                         cb_arena *scratch,
                                                         cb_pinned_codec_block *out,
                                                         cb_task_count *count, cubed_error *err);
void cb_chunks_unpin_codec_block(const cb_chunks *c, cb_pinned_codec_block *block);
/* Says that the chunk need not be kept for a read that was done without. */
void cb_chunks_pass(cb_chunks *c, int node, const int64_t *idx);

/* Whether a node's chunks may be asked for ahead: they come from a store that has to wait for them. */
bool cb_chunks_may_ask(cb_chunks *c, int node);
/* Asks for one that will be wanted whole. Of a shard whose index is not known this asks for the index first, and for
 * the chunk later. */
cb_fetch_answer cb_chunks_ask(cb_chunks *c, cb_fetch_batch *b, int node, const int64_t *idx,
                              cb_task_count *count);
/* See fetch.h. */
void cb_chunks_forget(cb_chunks *c, const void *owner, int64_t task);

/* Where a chunk of an intermediate will lie in memory, if that is known before it is put: it may be made there, and be put
 * from there. Else NULL. */
void *cb_chunks_place(cb_chunks *c, int node, const int64_t *idx);
/* Of an intermediate whose chunks, as they lie one behind another, are the only chunk of a target, and which nothing but the
 * copy to it reads: where the target's store takes pieces, they are put there as they are made, and take no memory. Before
 * tasks. */
void cb_chunks_join(cb_chunks *c, int node, int target);
/* Makes them the target's chunk; *joined: false where they are not put so. */
CUBED_MUST_CHECK cubed_status cb_chunks_end_join(cb_chunks *c, int node, bool *joined,
                                                 cb_task_count *count, cubed_error *err);
/* Writes one whole chunk in C order (padded at the edge by the caller). Beside src it takes from
 * the arena what chunks/chunk_need.h says. */
CUBED_MUST_CHECK cubed_status cb_chunks_put(cb_chunks *c, int node, const int64_t *idx,
                                            const void *src, cb_arena *scratch,
                                            cb_task_count *count, cubed_error *err);

#endif
