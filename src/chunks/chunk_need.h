/* Sizes of the chunks of a plan's nodes (arrays), and the memory that reading or writing a chunk needs in addition to the chunk
 * itself. Projections (upper bounds of a task's memory) and tasks call the same functions. */
#ifndef CB_CHUNKS_NEED_H
#define CB_CHUNKS_NEED_H

#include "chunks/fetch.h"
#include "plan/plan.h"

/* Returns the decoded size in bytes of a whole chunk: the longest one of an irregular grid. Chunks at the edge of the array may
 * be smaller. */
size_t cb_chunk_bytes(const cubed_plan *p, int node);
/* Returns the decoded size in bytes of one chunk. It is less than cb_chunk_bytes if the last chunk of an axis is stored without
 * the part beyond the end of the array, or if the axis is irregular and the chunk is not its longest one. */
size_t cb_chunk_bytes_at(const cubed_plan *p, int node, const int64_t *idx);
/* Returns the total size in bytes of a node's chunks, all counted as whole chunks; 0 for an array in the caller's memory. */
uint64_t cb_stored_bytes(const cubed_plan *p, int node);

/* Return the memory that reading or writing a whole chunk uses in addition to the decoded chunk. */
cb_need cb_read_need(const cubed_plan *p, int node);
cb_need cb_write_need(const cubed_plan *p, int node);
/* For a target that is a region (a part of an existing array): returns the number of chunks that the region covers only partly.
 * Writing such a chunk merges it with the stored chunk, if there is one. `edges` also counts chunks that extend beyond the end of
 * the array, because another writer may make the array longer. Returns 0 for other nodes. */
int64_t cb_node_merged(const cubed_plan *p, int node, bool edges);
/* Sets *part to the part of a chunk that the region covers. `at` is the index of the chunk in the whole array. */
void cb_node_part(const cubed_plan *p, int node, const int64_t *at, cb_zarr_part *part);
/* Returns the memory that reading a part of a chunk uses in addition to the buffer for the part. */
cb_need cb_read_subread_need(const cubed_plan *p, int node);
/* Maximum size in bytes of a prefetch request that reads several inner chunks of a shard, if the plan has the memory. */
#define CB_FETCH_JOINED ((size_t)2 << 20)
/* Returns the maximum size in bytes of an object that one prefetch request of a node reads. */
size_t cb_fetch_cap(const cubed_plan *p, int node);
/* Returns the size in bytes of the buffer for a prefetch request of a node: the object and CB_FETCH_HEADER, in whole pages. */
size_t cb_fetch_bytes(const cubed_plan *p, int node);
/* Returns the vtable of the store of the node's chunks if this store has latency; otherwise NULL. */
const cubed_store_vtable *cb_node_waits_for(const cubed_plan *p, int node);
/* Returns the minimum length in bytes of contiguous data for which reading a part of a chunk is faster than reading the whole
 * chunk; 0: always read whole chunks. */
size_t cb_node_subread_run(const cubed_plan *p, int node);
/* Returns the method of reading parts of the node's chunks without memory for whole chunks. The contiguous data of these parts
 * may be shorter than cb_node_subread_run. */
cb_zarr_parts cb_node_parts(const cubed_plan *p, int node);
/* Returns true if only contiguous parts of the node's chunks can be read. */
bool cb_node_subread_is_whole(const cubed_plan *p, int node);
/* Returns true if the node's chunks are decoded, or computed by a source function, so that reading one again costs time. */
bool cb_node_is_decoded(const cubed_plan *p, int node);
/* Returns true if a node is a source whose chunks can be mapped into memory: files that contain the elements unencoded, and are
 * so large that mapping is faster than copying. */
bool cb_node_is_mappable(const cubed_plan *p, int node);
/* Returns the maximum decoded size in bytes of a codec block (a part of an encoded chunk that can be decoded alone). Returns 0 if
 * the node's chunks have no codec blocks, or are in a store with latency. */
size_t cb_node_codec_block_bytes(const cubed_plan *p, int node);

/* Returns the size in bytes of a cache entry's data for one codec block of the node's chunks. */
size_t cb_kept_codec_block_bytes(const cubed_plan *p, int node);

#endif
