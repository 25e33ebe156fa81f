/* How large chunks are, and what moving one takes beside it. Projections and tasks ask the same functions. */
#ifndef CB_CHUNKS_NEED_H
#define CB_CHUNKS_NEED_H

#include "chunks/fetch.h"
#include "plan/plan.h"

/* Decoded bytes of a whole chunk (also at the edge). */
size_t cb_chunk_bytes(const cubed_plan *p, int node);
/* Of one chunk as it lies in memory and in a store: less where the last one of an axis is clipped; of irregular ones
 * still that of the longest. */
size_t cb_chunk_bytes_at(const cubed_plan *p, int node, const int64_t *idx);
/* Of all chunks of a node; 0 of what has none. */
uint64_t cb_stored_bytes(const cubed_plan *p, int node);

/* Reading and writing one chunk, beside the decoded chunk. */
cb_need cb_read_need(const cubed_plan *p, int node);
cb_need cb_write_need(const cubed_plan *p, int node);
/* The number of chunks that a region covers in part, which are merged with the stored ones; 0 for other nodes. `edges`: also
 * chunks that reach beyond the array, which another writer may extend. They are put without a read if they are not there. */
int64_t cb_node_merged(const cubed_plan *p, int node, bool edges);
/* The part of chunk at[ndim] of the array, one of a region's, that the region covers. */
void cb_node_part(const cubed_plan *p, int node, const int64_t *at, cb_zarr_part *part);
/* Reading a part of a chunk, beside the part, which is as large as parts may be. */
cb_need cb_read_subread_need(const cubed_plan *p, int node);
/* The most bytes that are asked for at once of a node, and what a buffer for them takes. Chunks of one shard are read
 * as one up to so many bytes, if the plan has the memory. */
#define CB_FETCH_JOINED ((size_t)2 << 20)
size_t cb_fetch_cap(const cubed_plan *p, int node);
size_t cb_fetch_bytes(const cubed_plan *p, int node);
/* The kind of store that a node's chunks are read from, if it is one that has to wait for them; else NULL. */
const cubed_store_vtable *cb_node_waits_for(const cubed_plan *p, int node);
/* From which length of run on parts of a node's chunks are worth reading by themselves; 0: never. */
size_t cb_node_subread_run(const cubed_plan *p, int node);
/* How parts of them can be read, also in runs that are not worth it. */
cb_zarr_parts cb_node_parts(const cubed_plan *p, int node);
/* Whether that is so only of parts that are one run. */
bool cb_node_subread_is_whole(const cubed_plan *p, int node);
/* The most bytes of the blocks that a node's chunks can be decoded by, one after another: of codecs that have blocks, from
 * stores that do not have to wait for each. Else 0. */
size_t cb_node_codec_block_bytes(const cubed_plan *p, int node);

/* What keeping one takes. */
size_t cb_kept_codec_block_bytes(const cubed_plan *p, int node);

#endif
