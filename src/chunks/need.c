#include "chunks/need.h"

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
    return n->url ? cb_zarr_write_need(&p->storage[node]->meta) : (cb_need){0, 0};
}

size_t cb_chunk_bytes(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    size_t bytes = cubed_dtype_size(n->dtype);
    for (int d = 0; d < n->grid.ndim; d++) bytes = cb_sat_mul(bytes, (size_t)n->grid.axis[d].chunk);
    return bytes;
}

size_t cb_chunk_bytes_at(const cubed_plan *p, int node, const int64_t *idx)
{
    const cb_node *n = &p->ir.nodes[node];
    size_t bytes = cubed_dtype_size(n->dtype);
    for (int d = 0; d < n->grid.ndim; d++) {
        const cb_axis *a = &n->grid.axis[d];
        bytes *= (size_t)(a->clipped ? cb_axis_stored(a, idx[d]) : a->chunk);
    }
    return bytes;
}

uint64_t cb_stored_bytes(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    if (cb_node_in_memory(n)) return 0;
    return cb_sat_mul((size_t)cb_grid_count(&n->grid), cb_chunk_bytes(p, node));
}

/* What is behind a source may be encoded in blocks of its own, and calling it takes a while. */
#define SOURCE_RUN ((size_t)256 << 10)

/* What functions on blocks leave behind may be larger than what reads it can hold: it lies in memory or in the
 * work directory as it is. */
#define INTERMEDIATE_RUN ((size_t)1)

static bool is_block_intermediate(const cb_node *n)
{
    return cb_node_is(n, CB_KIND_CALL) && cb_node_is_intermediate(n);
}

size_t cb_node_subread_run(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    if (cb_grid_is_irregular(&n->grid)) return 0; /* parts lie as those of the longest chunk do */
    if (n->source) return SOURCE_RUN;
    if (is_block_intermediate(n)) return INTERMEDIATE_RUN;
    return n->url ? cb_zarr_subread_run(&p->storage[node]->meta) : 0;
}

bool cb_node_subread_is_whole(const cubed_plan *p, int node)
{
    return is_block_intermediate(&p->ir.nodes[node]);
}

cb_need cb_read_subread_need(const cubed_plan *p, int node)
{
    if (p->ir.nodes[node].source) return cb_read_need(p, node);
    if (is_block_intermediate(&p->ir.nodes[node])) return (cb_need){0, 0};
    return cb_zarr_subread_need(&p->storage[node]->meta);
}
