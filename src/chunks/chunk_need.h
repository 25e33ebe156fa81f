/* Sizes of chunks, and the memory that reading or writing a chunk needs in addition to the chunk itself. Projections and tasks
 * call the same functions. */
#ifndef CB_CHUNKS_NEED_H
#define CB_CHUNKS_NEED_H

#include "chunks/fetch.h"
#include "plan/plan.h"

/* Returns the decoded size in bytes of a whole chunk, even at the edge of the array. */
size_t cb_chunk_bytes(const cubed_plan *p, int node);
/* Returns the size in bytes of one chunk in memory and in a store. Smaller than cb_chunk_bytes if the last chunk of an axis is
 * clipped, or if a chunk of an irregular axis is shorter than the longest. */
size_t cb_chunk_bytes_at(const cubed_plan *p, int node, const int64_t *idx);
/* Returns the total size in bytes of a node's chunks; 0 if the node has none. */
uint64_t cb_stored_bytes(const cubed_plan *p, int node);

/* Return the memory that reading or writing a chunk uses in addition to the decoded chunk. */
cb_need cb_read_need(const cubed_plan *p, int node);
cb_need cb_write_need(const cubed_plan *p, int node);
/* Returns the number of chunks that a region covers only partly, so that they are merged with stored data. Returns 0 for nodes
 * that are not regions. `edges` also counts chunks that extend beyond the end of the array, because another writer may make
 * the array longer. A missing chunk is written without a read. */
int64_t cb_node_merged(const cubed_plan *p, int node, bool edges);
/* Gets the part of chunk at[ndim] of the array that the region covers. */
void cb_node_part(const cubed_plan *p, int node, const int64_t *at, cb_zarr_part *part);
/* Returns the memory that reading a part of a chunk uses in addition to the buffer for the largest part. */
cb_need cb_read_subread_need(const cubed_plan *p, int node);
/* Maximum size in bytes of a prefetch request of a node, and memory of its buffer. Chunks of one shard are read in one
 * request of up to CB_FETCH_JOINED bytes if the plan has the memory. */
#define CB_FETCH_JOINED ((size_t)2 << 20)
size_t cb_fetch_cap(const cubed_plan *p, int node);
size_t cb_fetch_bytes(const cubed_plan *p, int node);
/* Returns the vtable of the store with the node's chunks if the store has latency; otherwise NULL. */
const cubed_store_vtable *cb_node_waits_for(const cubed_plan *p, int node);
/* Returns the minimum contiguous length in bytes for which reading a part of a chunk is worthwhile; 0: never. */
size_t cb_node_subread_run(const cubed_plan *p, int node);
/* Returns how parts of the node's chunks can be read without memory for whole chunks, even if the parts are shorter than
 * cb_node_subread_run. */
cb_zarr_parts cb_node_parts(const cubed_plan *p, int node);
/* Returns true if parts of the node's chunks can be read only if they are contiguous. */
bool cb_node_subread_is_whole(const cubed_plan *p, int node);
/* Returns true if a source's chunks are files that contain the elements unencoded, and large enough to be mapped. */
bool cb_node_is_mappable(const cubed_plan *p, int node);
/* Returns the maximum decoded size in bytes of a codec block, for chunks that can be decoded block by block from a store without
 * latency; 0 otherwise. */
size_t cb_node_codec_block_bytes(const cubed_plan *p, int node);

/* Returns the bytes that the cache allocates for one codec block of the node's chunks. */
size_t cb_kept_codec_block_bytes(const cubed_plan *p, int node);

#endif
