#include "chunks/chunk_need.h"

#include "context/context.h"
#include "mem/pages.h"
#include "store/local/local_map.h"

cb_need cb_read_need(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    if (n->source) return (cb_need){0, cb_source_need(n->source, cb_chunk_bytes(p, node))};
    if (cb_node_has_chunks(n)) return cb_zarr_read_inner_need(&p->storage[node]->meta);
    return n->url ? cb_zarr_read_need(&p->storage[node]->meta) : (cb_need){0, 0};
}

cb_need cb_write_need(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    if (!n->url) return (cb_need){0, 0};
    const cb_zarr_meta *m = &p->storage[node]->meta;
    return cb_node_merged(p, node, true) ? cb_zarr_merge_need(m) : cb_zarr_write_need(m);
}

int64_t cb_node_merged(const cubed_plan *p, int node, bool edges)
{
    const cb_node *n = &p->ir.nodes[node];
    int64_t whole = 1;
    if (!n->region || cb_grid_count(n->grid) == 0) return 0;
    const cb_grid objects = cb_plan_object_grid(&p->storage[node]->meta);
    for (int d = 0; d < n->grid->ndim; d++) {
        const cb_axis *a = &n->grid->axis[d];
        const int64_t chunks = cb_axis_count(a), last = n->first_chunk[d] + chunks - 1;
        const int64_t begin = cb_axis_lo(&objects.axis[d], n->first_chunk[d]);
        const int64_t end = a->starts || !edges ? cb_axis_hi(&objects.axis[d], last)
                                                : cb_axis_lo(&objects.axis[d], last) + a->chunk;
        const bool front = n->part[d] > begin, behind = n->part[n->grid->ndim + d] < end;
        whole *= cb_max_i64(0, chunks - front - behind);
    }
    return cb_grid_count(n->grid) - whole;
}

void cb_node_part(const cubed_plan *p, int node, const int64_t *at, cb_zarr_part *part)
{
    const cb_node *n = &p->ir.nodes[node];
    const cb_grid whole = cb_plan_object_grid(&p->storage[node]->meta);
    for (int d = 0; d < n->grid->ndim; d++) {
        const int64_t lo = cb_axis_lo(&whole.axis[d], at[d]),
                      hi = cb_axis_hi(&whole.axis[d], at[d]);
        part->lo[d] = cb_max_i64(n->part[d], lo) - lo;
        part->hi[d] = cb_min_i64(n->part[n->grid->ndim + d], hi) - lo;
    }
}

size_t cb_chunk_bytes(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    size_t bytes = cubed_dtype_size(n->dtype);
    for (int d = 0; d < n->grid->ndim; d++)
        bytes = cb_sat_mul(bytes, (size_t)n->grid->axis[d].chunk);
    return bytes;
}

size_t cb_chunk_bytes_at(const cubed_plan *p, int node, const int64_t *idx)
{
    const cb_node *n = &p->ir.nodes[node];
    size_t bytes = cubed_dtype_size(n->dtype);
    for (int d = 0; d < n->grid->ndim; d++)
        bytes *= (size_t)cb_axis_stored(&n->grid->axis[d], idx[d]);
    return bytes;
}

uint64_t cb_stored_bytes(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    if (cb_node_in_memory(n)) return 0;
    return cb_sat_mul((size_t)cb_grid_count(n->grid), cb_chunk_bytes(p, node));
}

/* Minimum contiguous length in bytes of a read from a source function. Shorter reads are not worthwhile, because each call has a
 * cost and the source may decode larger units than chunks. */
#define SOURCE_RUN ((size_t)256 << 10)

/* Intermediates of block functions may exceed the memory of their readers. Their chunks are stored unencoded, in memory or
 * in the work folder, so parts of any length can be read. */
#define INTERMEDIATE_RUN ((size_t)1)

static bool is_block_intermediate(const cb_node *n)
{
    return cb_node_is(n, CB_KIND_CALL) && cb_node_is_intermediate(n);
}

const cubed_store_vtable *cb_node_waits_for(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    /* Nodes that the planner's search adds have no storage. */
    const cb_storage *s = p->storage && node < p->ir.nnodes ? p->storage[node] : NULL;
    const cubed_store_vtable *vt = NULL;
    if (s && s->store)
        vt = s->store->vt;
    else if (n->url)
        vt = cb_store_added(&p->ctx->stores, n->url);
    else if (cb_node_is_intermediate(n) && p->work_dir)
        vt = cb_store_added(&p->ctx->stores, p->work_dir);
    return vt && !(vt->flags & CUBED_STORE_AT_ONCE) ? vt : NULL;
}

size_t cb_fetch_cap(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    if (cb_node_is_intermediate(n)) return cb_chunk_bytes(p, node);
    const cb_zarr_meta *m = &p->storage[node]->meta;
    if (!p->storage[node]->array || cb_zarr_index_bytes(m) == 0) return cb_zarr_chunk_bound(m);
    const size_t index =
        cb_sat_add(cb_arena_round(cb_zarr_index_bound(m)), cb_zarr_index_need(m).arena);
    const size_t joined = p->fetch_joins ? cb_min_size(CB_FETCH_JOINED, cb_zarr_chunk_bound(m)) : 0;
    return cb_max_size(index, cb_max_size(joined, cb_zarr_inner_bound(m)));
}

size_t cb_fetch_bytes(const cubed_plan *p, int node)
{
    return cb_pages_round(cb_sat_add(CB_FETCH_HEADER, cb_fetch_cap(p, node)));
}

/* For chunks up to this size in a store with latency, requests for short runs cost more than reading the whole chunk. */
#define WHOLE_CHUNK ((size_t)64 << 20)

static size_t stored_run(const cubed_plan *p, int node)
{
    const size_t run = cb_zarr_subread_run(&p->storage[node]->meta);
    const cubed_store_vtable *vt = cb_node_waits_for(p, node);
    if (run == 0 || !vt || cb_chunk_bytes(p, node) > WHOLE_CHUNK) return run;
    return cb_max_size(run, vt->gap ? vt->gap : CUBED_STORE_GAP);
}

size_t cb_node_subread_run(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    /* Read irregular chunks as a whole, because offsets in a part are computed with the length of the longest chunk. */
    if (cb_grid_is_irregular(n->grid)) return 0;
    if (n->source) return SOURCE_RUN;
    if (is_block_intermediate(n)) return INTERMEDIATE_RUN;
    return n->url ? stored_run(p, node) : 0;
}

size_t cb_node_codec_block_bytes(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    if (!n->url || n->source || cb_node_waits_for(p, node)) return 0;
    return cb_zarr_codec_block_bytes(&p->storage[node]->meta);
}

size_t cb_kept_codec_block_bytes(const cubed_plan *p, int node)
{
    return CB_ARENA_ALIGN + cb_node_codec_block_bytes(p, node);
}

/* Returns true if the node's chunks are inner chunks of shards. */
static bool is_inner(const cubed_plan *p, int node)
{
    return cb_node_has_chunks(&p->ir.nodes[node]) &&
           cb_zarr_index_bytes(&p->storage[node]->meta) > 0;
}

cb_zarr_parts cb_node_parts(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    if (!n->url || n->source || cb_grid_is_irregular(n->grid)) return CB_ZARR_NO_PARTS;
    return cb_zarr_parts_of(&p->storage[node]->meta, is_inner(p, node));
}

/* Minimum size in bytes of a chunk for which mapping is faster than copying. */
#define LEAST_MAPPED ((size_t)1 << 20)

bool cb_node_is_decoded(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    return n->source || (n->url && !cb_codec_chain_is_raw(&p->storage[node]->meta.codecs));
}

bool cb_node_is_mappable(const cubed_plan *p, int node)
{
    const cb_storage *s = p->storage[node];
    return s && s->array && !cb_zarr_is_irregular(&s->meta) &&
           cb_codec_chain_is_raw(&s->meta.codecs) && cb_chunk_bytes(p, node) >= LEAST_MAPPED &&
           cb_store_has_files(cb_zarr_store(s->array));
}

bool cb_node_subread_is_whole(const cubed_plan *p, int node)
{
    return is_block_intermediate(&p->ir.nodes[node]);
}

cb_need cb_read_subread_need(const cubed_plan *p, int node)
{
    if (p->ir.nodes[node].source) return cb_read_need(p, node);
    if (is_block_intermediate(&p->ir.nodes[node])) return (cb_need){0, 0};
    return is_inner(p, node) ? cb_zarr_subread_inner_need(&p->storage[node]->meta)
                             : cb_zarr_part_need(&p->storage[node]->meta, false);
}
