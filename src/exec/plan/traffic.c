/* Counts the chunks of a source that a program reads for the blocks of its domain. */
#include "exec/plan/traffic.h"

#include "exec/plan/stage.h"

static int64_t nblocks(const cb_blocks *b) { return cb_ceil_div(cb_axis_count(b->axis), b->per); }

static void block_range(const cb_blocks *b, int64_t i, int64_t *lo, int64_t *hi)
{
    int64_t n = cb_axis_count(b->axis);
    *lo = cb_axis_lo(b->axis, i * b->per);
    *hi = cb_axis_hi(b->axis, cb_min_i64(n, (i + 1) * b->per) - 1);
    if (b->halo) cb_halo_widen(b->halo, b->axis->extent, lo, hi);
}

int64_t cb_blocks_most(const cb_blocks *b)
{
    const cb_axis *a = b->axis;
    /* Blocks with a halo are read one at a time, so the maximum is the size of one block. */
    if (b->halo) return cb_halo_most(b->halo, a);
    if (a->extent == 0) return 0;
    return cb_min_i64(a->extent, cb_sat_mul((size_t)a->chunk, (size_t)b->per) > INT64_MAX
                                     ? a->extent
                                     : a->chunk * b->per);
}

/* If there are more blocks than this, counts for irregular axes and for axes with a halo are estimated. */
#define COUNTED_BLOCKS 65536

/* Chunks of a source axis that blocks read.
 *
 * - most: maximum per block; 2 means 2 or more
 * - distinct: number of chunks from the first to the last that the blocks read
 * - total: sum of the numbers per block
 * - stored: sum of the stored lengths of these chunks
 * - elements: sum of the elements between the first and the last that each block needs */
typedef struct cover {
    int64_t most, distinct;
    uint64_t total, stored, elements;
} cover;

/* Sets the range *first to *last - 1 of blocks that may have elements in [lo, hi), including the elements of their halos. */
static void blocks_within(const cb_blocks *b, int64_t lo, int64_t hi, int64_t *first, int64_t *last)
{
    *first = 0;
    *last = nblocks(b);
    if (b->halo || *last == 0) return;
    if (lo > 0) *first = cb_axis_find(b->axis, cb_min_i64(lo, b->axis->extent - 1)) / b->per;
    if (hi < b->axis->extent) *last = hi > 0 ? cb_axis_find(b->axis, hi - 1) / b->per + 1 : 0;
}

/* Returns the counts for the blocks within [lo, hi), if blocks and chunks are regular. The formulas take constant time. */
static cover regular_cover(const cb_blocks *b, int64_t lo, int64_t hi, int64_t offset,
                           int64_t stride, const cb_axis *chunks)
{
    const cb_axis *axis = b->axis;
    const int64_t magnitude = stride < 0 ? -stride : stride;
    lo = cb_max_i64(lo, 0);
    hi = cb_min_i64(hi, axis->extent);
    if (lo >= hi) return (cover){0, 0, 0, 0, 0};
    /* Treat the blocks, truncated to [lo, hi), as the chunks of another axis. */
    const int64_t block = cb_axis_find(axis, lo) / b->per;
    int64_t x0, end;
    block_range(b, block, &x0, &end);
    cb_axis within = {
        .extent = hi - lo, .first = cb_min_i64(hi, end) - lo, .chunk = cb_blocks_most(b)};
    const int64_t n = cb_axis_count(&within), from = offset + stride * lo;
    const int64_t a = cb_min_i64(from, from + stride * (hi - lo - 1));
    const int64_t z = cb_max_i64(from, from + stride * (hi - lo - 1));
    const int64_t first = cb_axis_find(chunks, a), last = cb_axis_find(chunks, z);
    cover c = {.distinct = last - first + 1,
               .total = cb_axis_touched(&within, 1, from, stride, chunks),
               .stored = cb_axis_touched_length(&within, 1, from, stride, chunks),
               .elements = (uint64_t)(magnitude * (hi - lo - n) + n)};
    c.most = c.total > (uint64_t)n ? 2 : 1;
    /* Count padding, because whole chunks are read. */
    if (a == 0) c.elements += (uint64_t)(chunks->chunk - chunks->first);
    if (z == chunks->extent - 1)
        c.elements += (uint64_t)(cb_axis_lo(chunks, last) + cb_axis_last(chunks) - chunks->extent);
    return c;
}

/* Returns the counts for the blocks within [lo, hi). If `spread` is not 0, counts for several loads with offsets between
 * `offset` and offset + spread: a block then needs all chunks from the first to the last that any of these loads needs. */
static cover axis_cover(const cb_blocks *b, int64_t lo, int64_t hi, int64_t offset, int64_t stride,
                        int64_t spread, const cb_axis *chunks)
{
    int64_t first, end, magnitude = stride < 0 ? -stride : stride;
    if (!b->axis->starts && !chunks->starts && !b->halo && stride != 0 && spread == 0)
        return regular_cover(b, lo, hi, offset, stride, chunks);
    blocks_within(b, lo, hi, &first, &end);
    const int64_t n = end - first;
    cover c = {0, 0, 0, 0, 0};
    const bool whole = lo <= 0 && hi >= b->axis->extent, once = stride == 1 && b->per == 1;
    if (whole && once && !b->halo && offset == 0 && spread == 0 && cb_axis_equal(b->axis, chunks))
        return (cover){1, n, (uint64_t)n, (uint64_t)cb_axis_stored_all(chunks),
                       (uint64_t)chunks->extent};
    if (n > COUNTED_BLOCKS) {
        int64_t span = cb_min_i64(chunks->extent, magnitude * (cb_blocks_most(b) - 1) + 1 + spread);
        c.most = cb_min_i64(cb_axis_count(chunks), (span - 1) / chunks->chunk + 2);
        c.total = cb_sat_add((size_t)n, (size_t)cb_axis_count(chunks));
        c.stored = cb_sat_mul(c.total, (size_t)chunks->chunk);
        c.distinct = INT64_MAX; /* The number of distinct chunks is unknown. */
        c.elements = cb_sat_mul((size_t)n, (size_t)span);
        return c;
    }
    int64_t least = INT64_MAX, last = -1;
    for (int64_t i = first; i < end; i++) {
        int64_t x0, x1;
        block_range(b, i, &x0, &x1);
        x0 = cb_max_i64(x0, lo);
        x1 = cb_min_i64(x1, hi);
        if (x0 >= x1) continue;
        int64_t a = offset + stride * x0, z = offset + stride * (x1 - 1);
        int64_t from = cb_axis_find(chunks, cb_min_i64(a, z));
        int64_t to = cb_axis_find(chunks, cb_max_i64(a, z) + spread), count = to - from + 1;
        least = cb_min_i64(least, from);
        last = cb_max_i64(last, to);
        c.most = cb_max_i64(c.most, count);
        c.total += (uint64_t)count;
        c.stored += (uint64_t)count * (uint64_t)chunks->chunk;
        if (to == cb_axis_count(chunks) - 1)
            c.stored -= (uint64_t)(chunks->chunk - cb_axis_last(chunks));
        c.elements += (uint64_t)(magnitude * (x1 - x0 - 1) + 1);
        /* Count padding, because whole chunks are read. */
        if (chunks->starts) continue;
        if (cb_min_i64(a, z) == 0) c.elements += (uint64_t)(chunks->chunk - chunks->first);
        if (cb_max_i64(a, z) == chunks->extent - 1)
            c.elements +=
                (uint64_t)(cb_axis_lo(chunks, to) + cb_axis_last(chunks) - chunks->extent);
    }
    c.distinct = last < 0 ? 0 : last - least + 1;
    return c;
}

/* If a reshape has more blocks than this, its reads are estimated from a sample of this many blocks. */
#define SAMPLED_BLOCKS 1024

/* Returns the number of chunks that all blocks read through a reshape. */
static uint64_t reshaped_reads(const cubed_plan *p, const cb_branch *b, const cb_blocks *axes,
                               const cb_load *l)
{
    uint64_t reads = 0;
    size_t all = 1;
    for (int j = 0; j < l->map->ndim_in; j++) all = cb_sat_mul(all, (size_t)nblocks(&axes[j]));
    all = cb_min_size(all, INT64_MAX);
    size_t sampled = cb_min_size(all, SAMPLED_BLOCKS);
    for (size_t i = 0; i < sampled; i++) {
        size_t at = i * (all / sampled);
        cb_box box = {.ndim = l->map->ndim_in}, part, image, chunks;
        for (int j = l->map->ndim_in - 1; j >= 0; j--) {
            size_t n = (size_t)nblocks(&axes[j]);
            block_range(&axes[j], (int64_t)(at % n), &box.lo[j], &box.hi[j]);
            at /= n;
        }
        cb_branch_part(b, &box, &part);
        if (cb_box_empty(&part)) continue;
        cb_load_image(&p->ir, l, &part, &image);
        cb_grid_cover(p->ir.nodes[l->node].grid, &image, &chunks);
        reads = cb_sat_add(reads, (size_t)cb_box_count(&chunks));
    }
    return sampled ? cb_sat_mul(reads, cb_ceil_div((int64_t)all, (int64_t)sampled)) : 0;
}

static void add_scaled(uint64_t *sum, uint64_t n, const cb_reads *r)
{
    *sum = cb_sat_add(*sum, cb_sat_mul(n / r->per + (n % r->per != 0), r->times));
}

/* Chunks of cheap nodes have at least this many bytes. For smaller chunks, the overhead of more tasks costs more than what larger
 * tasks lose in the processor's cache. */
#define CHEAP_CHUNK ((size_t)4 << 20)

bool cb_node_is_cheap(const cubed_plan *p, int node)
{
    /* The intermediates that the planner's search adds are compared by what reading them costs. */
    return node < p->ir.nnodes && cb_node_is_intermediate(&p->ir.nodes[node]) &&
           !p->other_machines && !cb_node_waits_for(p, node) &&
           cb_chunk_bytes(p, node) >= CHEAP_CHUNK &&
           cb_stored_bytes(p, node) <= (p->allowed_mem - p->reserved_mem) / 4;
}

void cb_traffic_add(const cubed_plan *p, cb_stage *s, int node, uint64_t chunks, uint64_t bytes)
{
    if (s->reads) {
        add_scaled(&s->reads->chunks[node], chunks, s->reads);
        add_scaled(&s->reads->bytes[node], bytes, s->reads);
    }
    s->chunks_read = cb_sat_add(s->chunks_read, chunks);
    s->bytes_read = cb_sat_add(s->bytes_read, bytes);
    if (!cb_node_is_cheap(p, node)) return;
    s->chunks_cheap = cb_sat_add(s->chunks_cheap, chunks);
    s->bytes_cheap = cb_sat_add(s->bytes_cheap, bytes);
}

/* Returns true if the part of a chunk that a block of these extents needs is contiguous. */
static bool is_one_run(const cubed_plan *p, const cb_load *l, const int64_t *extents)
{
    const cb_grid *g = p->ir.nodes[l->node].grid;
    int d = g->ndim - 1;
    while (d > 0 && cb_axis_count(&g->axis[d]) == 1 &&
           cb_load_extent(p, l, d, extents) == g->axis[d].chunk)
        d--;
    for (d--; d >= 0; d--) {
        if (cb_load_extent(p, l, d, extents) != 1) return false;
    }
    return true;
}

/* Cost of reading one short contiguous run of a part of a chunk, as the number of bytes that can be read in the same time. */
#define SHORT_RUN ((size_t)16 << 10)
/* Maximum cost of reading the parts of a chunk, as a number of reads of the whole chunk. */
#define PARTS_COST 16

/* reads: number of reads of parts of chunks by a load, in all tasks. distinct: number of chunks that the load reads. */
typedef struct visits {
    uint64_t reads, distinct;
} visits;

/* Minimum mean distance in bytes between the starts of two runs (contiguous bytes that a load needs) in a chunk of codec
 * blocks. If runs are closer to each other, copying them separately costs about as much as decoding the bytes between them. */
enum { RUN_DISTANCE = 1024 };

/* Returns true if decoding only the needed runs costs less than decoding the whole chunk. This is so if there is one run, or
 * if the runs have few of the chunk's bytes and are far apart. */
static bool are_few_runs(const cubed_plan *p, const cb_load *l, size_t bytes, size_t run)
{
    const size_t chunk = cb_chunk_bytes(p, l->node);
    return bytes == run || (bytes <= chunk / 16 && cb_sat_mul(bytes / run, RUN_DISTANCE) <= chunk);
}

/* Returns true if parts of chunks can be read at an acceptable cost. `bytes` are needed of each chunk, in contiguous runs of
 * `run` bytes. */
static bool may_subread(const cubed_plan *p, const cb_load *l, size_t bytes, size_t run,
                        const visits *v)
{
    const bool often = v->reads / PARTS_COST > v->distinct;
    switch (cb_node_parts(p, l->node)) {
    case CB_ZARR_NO_PARTS: return false;
    case CB_ZARR_RANGES:
        return cb_sat_mul(bytes / run, SHORT_RUN) / PARTS_COST <= cb_chunk_bytes(p, l->node);
    case CB_ZARR_BLOCKS: return bytes / run <= PARTS_COST || are_few_runs(p, l, bytes, run);
    case CB_ZARR_BLOCKS_ONCE: return bytes / run <= PARTS_COST || !often;
    case CB_ZARR_STREAM: return !often;
    }
    return false;
}

/* Returns true if the chunk does not fit in a task's memory, so the task must read parts of it even if that is slow. */
static bool has_to_subread(const cubed_plan *p, const cb_load *l, size_t bytes, size_t run,
                           const visits *v)
{
    const size_t chunk = cb_chunk_bytes(p, l->node);
    const uint64_t kept = cb_sat_add(p->reserved_mem, p->metadata_mem);
    const cb_need read = cb_read_need(p, l->node);
    const size_t whole = cb_sat_add(chunk, cb_sat_add(read.arena, read.library));
    if (cb_sat_add(whole, kept) <= p->allowed_mem) return false;
    if (run == 0) return false; /* if the part is empty, no chunk is read */
    if (cb_node_parts(p, l->node) == CB_ZARR_NO_PARTS) return false;
    const cb_need part = cb_read_subread_need(p, l->node);
    if (cb_sat_add(bytes, cb_sat_add(part.arena, part.library)) >= whole) return false;
    return may_subread(p, l, bytes, run, v);
}

/* Returns true if each chunk is read once and few of its bytes or codec blocks are needed, for example for one row of an
 * array. Returns false for stores with latency, because reading a part takes more requests than reading the chunk. */
static bool is_small_part(const cubed_plan *p, const cb_load *l, size_t bytes, size_t run,
                          const visits *v)
{
    if (run == 0 || v->reads > v->distinct || cb_node_waits_for(p, l->node)) return false;
    switch (cb_node_parts(p, l->node)) {
    case CB_ZARR_RANGES:
        return cb_sat_mul(bytes / run, SHORT_RUN) <= cb_chunk_bytes(p, l->node) / 4;
    case CB_ZARR_BLOCKS:
    case CB_ZARR_BLOCKS_ONCE: return are_few_runs(p, l, bytes, run);
    case CB_ZARR_NO_PARTS:
    case CB_ZARR_STREAM: break;
    }
    return false;
}

/* Returns true if a load reads parts of chunks. This requires that a block of these extents needs at most two thirds of a
 * chunk. In addition, the needed bytes must be in few or long runs, or the chunk must not fit in memory. Parts of an
 * intermediate are read only if they are one contiguous run. */
static bool is_subread(const cubed_plan *p, const cb_load *l, const int64_t *extents,
                       const visits *v)
{
    const cb_grid *g = p->ir.nodes[l->node].grid;
    size_t size = cubed_dtype_size(l->dtype), bytes = size, run = size;
    size_t worth = cb_node_subread_run(p, l->node);
    bool whole = true;
    if (cb_node_subread_is_whole(p, l->node) && !is_one_run(p, l, extents)) return false;
    for (int d = g->ndim - 1; d >= 0; d--) {
        int64_t n = cb_load_extent(p, l, d, extents);
        bytes = cb_sat_mul(bytes, (size_t)n);
        if (whole) run = bytes;
        whole = whole && n == g->axis[d].chunk;
    }
    if (bytes > cb_chunk_bytes(p, l->node) / 3 * 2) return false;
    if (worth > 0 && (run >= worth || is_small_part(p, l, bytes, run, v))) return true;
    return has_to_subread(p, l, bytes, run, v);
}

/* Returns the number of requests for the part of a chunk that a block of these extents needs. In a store with latency, a part
 * that is read as byte ranges needs one request for each contiguous run; one request reads several runs if the gaps between
 * them are short. All other parts count as one request. */
static uint64_t requests_of_part(const cubed_plan *p, const cb_load *l, const int64_t *extents)
{
    const cb_grid *g = p->ir.nodes[l->node].grid;
    const cubed_store_vtable *vt = cb_node_waits_for(p, l->node);
    if (!vt || cb_node_parts(p, l->node) != CB_ZARR_RANGES) return 1;
    const size_t gap = vt->gap ? vt->gap : CUBED_STORE_GAP;
    size_t inner = cubed_dtype_size(l->dtype), requests = 1;
    bool joined = true;
    for (int d = g->ndim - 1; d >= 0; d--) {
        const int64_t n = cb_load_extent(p, l, d, extents), chunk = g->axis[d].chunk;
        if (!joined) requests = cb_sat_mul(requests, (size_t)n);
        joined = joined && (n >= chunk || cb_sat_mul((size_t)(chunk - n), inner) < gap);
        inner = cb_sat_mul(inner, (size_t)chunk);
    }
    return requests;
}

/* Reads of a load, or of a group of loads, by all tasks.
 *
 * - chunks: number of reads of chunks, or of parts of chunks
 * - distinct: number of different chunks that are read
 * - stored: bytes of the chunks, each counted as often as it is read
 * - elements: number of elements that are needed
 * - tile: a block may need several chunks, or its axes are transposed
 * - again: several blocks need the same elements */
typedef struct load_reads {
    uint64_t chunks, distinct, stored, elements;
    bool tile, again;
} load_reads;

/* Counts the reads of a load without a reshape. `spread` is NULL, or has the differences of the offsets of a group of loads for
 * each axis of the array (see axis_cover). For a group, `map` has the smallest offsets. */
static load_reads count_reads(const cubed_plan *p, const cb_branch *b, const cb_blocks *axes,
                              const cb_load *l, const cb_map *map, const int64_t *spread)
{
    const cb_grid *g = p->ir.nodes[l->node].grid;
    load_reads n = {
        .chunks = 1, .elements = 1, .distinct = 1, .stored = cubed_dtype_size(l->dtype)};
    uint64_t used = 0;
    int last = -1;
    for (int d = 0; d < map->ndim_out; d++) {
        int j = map->dim[d].axis;
        if (j < 0) {
            const int64_t at = map->dim[d].offset, end = at + (spread ? spread[d] : 0);
            const size_t count =
                (size_t)(cb_axis_find(&g->axis[d], end) - cb_axis_find(&g->axis[d], at) + 1);
            n.chunks = cb_sat_mul(n.chunks, count);
            n.distinct = cb_sat_mul(n.distinct, count);
            n.stored = cb_sat_mul(n.stored, cb_sat_mul(count, (size_t)g->axis[d].chunk));
            continue;
        }
        cover c = axis_cover(&axes[j], b->lo[j], b->hi[j], map->dim[d].offset, map->dim[d].stride,
                             spread ? spread[d] : 0, &g->axis[d]);
        if (c.most > 1 || j < last) n.tile = true;
        /* The halos of adjacent blocks overlap. */
        if (axes[j].halo && nblocks(&axes[j]) > 1) n.again = true;
        last = j;
        used |= 1ull << j;
        n.chunks = cb_sat_mul(n.chunks, c.total);
        n.stored = cb_sat_mul(n.stored, c.stored);
        n.distinct = cb_sat_mul(n.distinct, (size_t)c.distinct);
        n.elements = cb_sat_mul(n.elements, c.elements);
    }
    for (int j = 0; j < map->ndim_in; j++) {
        if (used >> j & 1) continue;
        int64_t extent = cb_max_i64(1, cb_max_i64(axes[j].axis->extent, b->hi[j]));
        cb_axis whole = cb_axis_regular(extent, extent);
        cover c = axis_cover(&axes[j], b->lo[j], b->hi[j], 0, 1, 0, &whole);
        n.chunks = cb_sat_mul(n.chunks, c.total);
        n.stored = cb_sat_mul(n.stored, c.total);
        n.elements = cb_sat_mul(n.elements, c.total);
        if (c.total > 1) n.again = true;
    }
    return n;
}

/* --- Groups of loads ----------------------------------------------------------------------------------- */

static bool has_wide_stride(const cb_map *m)
{
    for (int d = 0; d < m->ndim_out; d++) {
        const int64_t stride = m->dim[d].stride;
        if (m->dim[d].axis >= 0 && (stride > 1 || stride < -1)) return true;
    }
    return false;
}

/* Returns true if a load may be in a group. A load that could use its chunk in place needs a tile in a group. Such a load may be
 * in a group only if the tile is at most half a chunk, so that two grouped loads need no more memory than separate loads. */
static bool may_group(const cubed_plan *p, const cb_load *l, const int64_t *extents)
{
    if (l->kind != CB_LOAD_STORED || l->reshape || l->subread || !has_wide_stride(l->map))
        return false;
    return l->tile || (cb_node_is_decoded(p, l->node) &&
                       cb_tile_bytes(l, extents) <= cb_chunk_bytes(p, l->node) / 2);
}

/* Returns true if a load may be in a group that shares one tile. The array's axes must be in the order of the domain's axes, as
 * in a chunk that is used in place. */
static bool may_share_window(const cubed_plan *p, const cb_load *l)
{
    if (l->kind != CB_LOAD_STORED || l->reshape || l->subread) return false;
    for (int d = 0, last = -1; d < l->map->ndim_out; d++) {
        const int j = l->map->dim[d].axis;
        const int64_t stride = l->map->dim[d].stride;
        if (j < 0) continue;
        if (j <= last || (stride != 1 && stride != -1)) return false;
        last = j;
    }
    return l->tile || cb_node_is_decoded(p, l->node);
}

static bool same_strides(const cb_load *a, const cb_load *b)
{
    const cb_map *x = a->map, *y = b->map;
    if (a->node != b->node || x->ndim_in != y->ndim_in) return false;
    for (int d = 0; d < x->ndim_out; d++) {
        if (x->dim[d].axis != y->dim[d].axis || x->dim[d].stride != y->dim[d].stride) return false;
    }
    return true;
}

/* Returns the bytes of the tile of the group that begins with load v, or of the load's own tile. */
static size_t tile_of(const cb_branch *b, int v, const int64_t *extents)
{
    const cb_load *l = &b->loads[v];
    if (l->next > 0) return cb_window_bytes(b, v, -1, extents);
    return l->tile ? cb_tile_bytes(l, extents) : 0;
}

/* Returns true if load v uses less memory in the group that begins with load o than alone. So the loads of a branch use at most
 * the memory that they use without groups. */
static bool saves_memory(const cubed_plan *p, const cb_branch *b, int o, int v,
                         const int64_t *extents)
{
    const size_t apart = cb_sat_add(tile_of(b, o, extents), tile_of(b, v, extents));
    return cb_window_bytes(b, o, v, extents) <
           cb_sat_add(apart, cb_chunk_bytes(p, b->loads[v].node));
}

/* Returns the first load of the group, among the loads after number v, to which load v belongs; -1 if there is none. */
static int group_of(const cubed_plan *p, const cb_branch *b, int v, const int64_t *extents)
{
    const bool wide = has_wide_stride(b->loads[v].map);
    for (int o = v + 1; o < b->nloads; o++) {
        const cb_load *l = &b->loads[o];
        if (l->follows || l->kind != CB_LOAD_STORED || !same_strides(l, &b->loads[v])) continue;
        if (wide ? may_group(p, l, extents)
                 : may_share_window(p, l) && saves_memory(p, b, o, v, extents))
            return o;
    }
    return -1;
}

/* Finds the groups. Visits the loads in reverse order, so that each load is inserted at the front of its group. */
static void find_groups(const cubed_plan *p, const cb_branch *b, const int64_t *extents)
{
    for (int v = b->nloads - 1; v >= 0; v--) {
        cb_load *l = &b->loads[v];
        const bool groups = may_group(p, l, extents) || may_share_window(p, l);
        const int first = groups ? group_of(p, b, v, extents) : -1;
        if (first < 0) continue;
        l->next = (uint16_t)first;
        b->loads[first].follows = true;
    }
    for (int v = 0; v < b->nloads; v++) {
        cb_load *l = &b->loads[v];
        if (l->next == 0 && !l->follows) continue;
        l->tile = has_wide_stride(l->map);
        l->window = !l->tile;
    }
}

/* Adds the reads of the group that begins with load v, and marks its loads if blocks read the same chunks. The reads are
 * estimated as the minimum of two upper bounds: the sum of the reads of the loads, and the reads of all chunks between them. */
static void choose_group_reads(const cubed_plan *p, const cb_branch *b, const cb_blocks *axes,
                               int v, cb_stage *s)
{
    const cb_load *first = &b->loads[v];
    cb_map map;
    int64_t spread[CUBED_MAX_NDIM] = {0};
    uint64_t chunks = 0, stored = 0;
    int i = v;
    cb_map_copy(&map, first->map);
    do {
        const cb_load *l = &b->loads[i];
        const load_reads n = count_reads(p, b, axes, l, l->map, NULL);
        chunks = cb_sat_add(chunks, n.chunks);
        stored = cb_sat_add(stored, n.stored);
        for (int d = 0; d < map.ndim_out; d++) {
            const int64_t offset = l->map->dim[d].offset, least = map.dim[d].offset;
            map.dim[d].offset = cb_min_i64(least, offset);
            spread[d] = cb_max_i64(least + spread[d], offset) - map.dim[d].offset;
        }
    } while ((i = b->loads[i].next) > 0);
    const load_reads all = count_reads(p, b, axes, first, &map, spread);
    i = v;
    do {
        b->loads[i].reuse = all.chunks > all.distinct ? CB_REUSE_ALL : CB_REUSE_NONE;
    } while ((i = b->loads[i].next) > 0);
    cb_traffic_add(p, s, first->node, cb_min_size(chunks, all.chunks),
                   cb_min_size(stored, all.stored));
}

/* --- Loads --------------------------------------------------------------------------------------------- */

static void choose_reshaped_reads(const cubed_plan *p, const cb_branch *b, const cb_blocks *axes,
                                  cb_load *l, cb_stage *s)
{
    const uint64_t reads = reshaped_reads(p, b, axes, l);
    const uint64_t chunks = (uint64_t)cb_grid_count(p->ir.nodes[l->node].grid);
    l->reuse = reads > chunks ? CB_REUSE_ALL : CB_REUSE_NONE;
    cb_traffic_add(p, s, l->node, reads, cb_sat_mul(reads, cb_chunk_bytes(p, l->node)));
}

/* Adds the reads of a load in all tasks to the stage's counts. */
static void add_reads(const cubed_plan *p, const cb_load *l, const int64_t *extents,
                      const load_reads *n, cb_stage *s)
{
    const bool streams = l->subread && cb_node_parts(p, l->node) == CB_ZARR_STREAM;
    const uint64_t bytes =
        l->subread && !streams ? cb_sat_mul(n->elements, cubed_dtype_size(l->dtype)) : n->stored;
    cb_traffic_add(p, s, l->node, n->chunks, bytes);
    if (!l->subread || !s->reads) return;
    const uint64_t more = cb_sat_mul(n->chunks, requests_of_part(p, l, extents) - 1);
    add_scaled(&s->reads->chunks[l->node], more, s->reads);
}

/* Decides how a load reads its chunks, and sets its flags accordingly. Adds its reads to the stage's counts, unless the load may
 * be in a group. */
static void choose_reads(const cubed_plan *p, const cb_branch *b, const cb_blocks *axes,
                         const int64_t *extents, cb_load *l, cb_stage *s)
{
    l->tile = l->reshape != 0;
    l->subread = l->piecewise = l->follows = l->window = false;
    l->next = 0;
    l->reuse = CB_REUSE_NONE;
    if (l->reshape) {
        choose_reshaped_reads(p, b, axes, l, s);
        return;
    }
    const load_reads n = count_reads(p, b, axes, l, l->map, NULL);
    const visits v = {n.chunks, n.distinct};
    l->tile = n.tile;
    l->subread = is_subread(p, l, extents, &v);
    if (n.chunks > n.distinct) l->reuse = n.again ? CB_REUSE_ALL : CB_REUSE_CUT;
    if (!may_group(p, l, extents) && !may_share_window(p, l)) add_reads(p, l, extents, &n, s);
}

void cb_traffic_add_program(const cubed_plan *p, cb_stage *s, const cb_program *prog,
                            const cb_blocks *axes)
{
    for (int i = 0; i < prog->nbranches; i++) {
        const cb_branch *b = &prog->branches[i];
        int64_t extents[CUBED_MAX_NDIM];
        for (int d = 0; d < prog->ndim; d++)
            extents[d] = cb_min_i64(cb_blocks_most(&axes[d]), b->hi[d] - b->lo[d]);
        for (int v = 0; v < b->nloads; v++) {
            if (b->loads[v].kind == CB_LOAD_STORED)
                choose_reads(p, b, axes, extents, &b->loads[v], s);
        }
        find_groups(p, b, extents);
        for (int v = 0; v < b->nloads; v++) {
            const cb_load *l = &b->loads[v];
            if (l->kind != CB_LOAD_STORED || l->follows) continue;
            if (l->next > 0) {
                choose_group_reads(p, b, axes, v, s);
            } else if (may_group(p, l, extents) || may_share_window(p, l)) {
                const load_reads n = count_reads(p, b, axes, l, l->map, NULL);
                add_reads(p, l, extents, &n, s);
            }
        }
    }
}

void cb_program_blocks(const cb_stage *s, int program, cb_blocks *axes)
{
    const cb_stage_reduce *r = program == 0 ? s->reduce : NULL;
    int k = r ? r->groups : 0;
    for (int d = 0; d < (r ? r->domain->ndim : s->kept->ndim); d++) {
        if (r && r->reduced >> d & 1) {
            axes[d] = (cb_blocks){&r->domain->axis[d], 1, NULL};
        } else {
            axes[d] = (cb_blocks){&s->kept->axis[k], cb_stage_step(s, k), NULL};
            k++;
        }
    }
}
