#include "exec/plan/load_need.h"

int64_t cb_load_extent(const cubed_plan *p, const cb_load *load, int d, const int64_t *extents)
{
    int j = load->map->dim[d].axis;
    int64_t chunk = p->ir.nodes[load->node].grid->axis[d].chunk, stride = load->map->dim[d].stride;
    if (j < 0 || extents[j] <= 1) return 1;
    if (stride < 0) stride = -stride;
    return extents[j] - 1 >= chunk / stride ? chunk : stride * (extents[j] - 1) + 1;
}

size_t cb_load_bytes(const cubed_plan *p, const cb_load *load, const int64_t *extents)
{
    size_t bytes = cubed_dtype_size(load->dtype);
    if (load->piecewise)
        return CB_LONGEST_VECTOR * bytes + cb_node_codec_block_bytes(p, load->node) + bytes;
    if (!load->subread) return cb_chunk_bytes(p, load->node);
    for (int d = 0; d < load->map->ndim_out; d++)
        bytes = cb_sat_mul(bytes, (size_t)cb_load_extent(p, load, d, extents));
    return bytes;
}

size_t cb_tile_bytes(const cb_load *load, const int64_t *extents)
{
    size_t bytes = cubed_dtype_size(load->dtype);
    for (int d = 0; d < load->map->ndim_out; d++) {
        if (load->map->dim[d].axis < 0) continue;
        size_t extent = (size_t)extents[load->map->dim[d].axis];
        int64_t step = load->map->dim[d].stride;
        /* A load through a reshape loads all elements between the first and the last that the map selects. */
        if (load->reshape && extent > 1)
            extent = cb_sat_add(cb_sat_mul(extent - 1, (size_t)(step < 0 ? -step : step)), 1);
        bytes = cb_sat_mul(bytes, extent);
    }
    return bytes;
}

size_t cb_window_bytes(const cb_branch *b, int first, int more, const int64_t *extents)
{
    const cb_map *map = b->loads[first].map, *other = more < 0 ? map : b->loads[more].map;
    size_t bytes = cubed_dtype_size(b->loads[first].dtype);
    for (int d = 0; d < map->ndim_out; d++) {
        const int j = map->dim[d].axis;
        int64_t least = other->dim[d].offset, most = least;
        int v = first;
        do {
            least = cb_min_i64(least, b->loads[v].map->dim[d].offset);
            most = cb_max_i64(most, b->loads[v].map->dim[d].offset);
        } while ((v = b->loads[v].next) > 0);
        bytes = cb_sat_mul(bytes, (size_t)(most - least) + (j < 0 ? 1 : (size_t)extents[j]));
    }
    return bytes;
}

bool cb_branch_is_bare(const cb_branch *b)
{
    const cb_load *l = &b->loads[b->results[0]];
    return b->ninstrs == 0 && l->kind == CB_LOAD_STORED &&
           (!l->reshape || cb_map_is_identity(l->map));
}
