#include "exec/need.h"

#include "exec/block_stage.h"
#include "plan/reduction.h"

static bool single_chunk_tasks(const cb_stage *s)
{
    for (int d = 0; d < s->kept.ndim; d++) {
        if (cb_stage_step(s, d) != 1) return false;
    }
    return true;
}

bool cb_out_is_chunk(const cb_stage *s, int out)
{
    return s->outs[out].alias < 0 && single_chunk_tasks(s);
}

bool cb_out_needs_staging(const cubed_plan *p, const cb_stage *s, int out)
{
    const cb_node *n = &p->ir.nodes[s->outs[out].node];
    if (n->to_memory) return false;
    if (s->scatter) return false;
    if (s->partial || !single_chunk_tasks(s)) return true;
    if (cb_out_is_chunk(s, out)) return false;
    for (int d = 0; d < n->grid.ndim; d++) {
        const cb_axis *a = &n->grid.axis[d];
        if (a->starts || a->first != a->chunk || a->extent % a->chunk != 0) return true;
    }
    return false;
}

bool cb_copy_in_place(const cubed_plan *p, const cb_stage *s)
{
    if (!s->copy || s->tail.nbranches != 1 || !single_chunk_tasks(s)) return false;
    const cb_load *l = &s->tail.branches[0].loads[s->tail.branches[0].results[0]];
    const cb_node *out = &p->ir.nodes[s->outs[0].node];
    if (out->to_memory || l->reshape || !cb_map_is_identity(l->map)) return false;
    const cb_grid *from = &p->ir.nodes[l->node].grid;
    if (cb_grid_is_irregular(from) || cb_grid_is_irregular(&out->grid)) return false;
    for (int d = 0; d < from->ndim; d++) {
        if (from->axis[d].chunk != out->grid.axis[d].chunk ||
            from->axis[d].first != out->grid.axis[d].first ||
            from->axis[d].clipped != out->grid.axis[d].clipped)
            return false;
    }
    return true;
}

static bool may_scatter(const cubed_plan *p, const cb_stage *s)
{
    if (!s->copy || s->tail.nbranches != 1 || single_chunk_tasks(s)) return false;
    const cb_branch *b = &s->tail.branches[0];
    return !p->ir.nodes[s->outs[0].node].to_memory && cb_branch_is_bare(b) &&
           !b->loads[b->results[0]].reshape;
}

int64_t cb_copy_share(const cb_stage *s)
{
    size_t chunks = 1;
    for (int d = 0; d < s->kept.ndim; d++) {
        int64_t n = cb_min_i64(s->task_chunks[d], cb_axis_count(&s->kept.axis[d]));
        chunks = cb_sat_mul(chunks, (size_t)n);
    }
    return cb_ceil_div((int64_t)cb_min_size(chunks, INT64_MAX - s->team), s->team);
}

size_t cb_scan_carry_bytes(const cubed_plan *p, const cb_stage *s, const cb_box *task)
{
    size_t bytes = cb_scan_carry_size(p->ir.nodes[s->outs[0].node].dtype);
    for (int d = 0; d < s->kept.ndim; d++) {
        const cb_axis *a = &s->kept.axis[d];
        int64_t most = cb_min_i64(a->extent, a->chunk);
        if (d != s->scan_axis)
            bytes = cb_sat_mul(bytes, (size_t)(task ? task->hi[d] - task->lo[d] : most));
    }
    return bytes;
}

int cb_stage_levels(const cb_stage *s)
{
    if (s->partial) return 1;
    int levels = cb_reduce_levels(cb_stage_nblocks(s));
    return s->merge && levels > 1 ? levels - 1 : levels;
}

size_t cb_bookkeeping_bytes(const cb_stage *s)
{
    /* Lists of states by level, of views and of pointers, each rounded up by itself. */
    size_t lists = (size_t)(CB_REDUCE_MAX_LEVELS + 8);
    return lists * cb_arena_round((size_t)(s->nreductions + s->nouts + 1) * CB_STATE_BYTES) +
           cb_arena_round(((size_t)s->nouts + (size_t)s->nreductions) * 2 * CB_VIEW_BYTES +
                          CB_VIEW_BYTES);
}

static cb_need load_need(const cubed_plan *p, const cb_load *l)
{
    cb_need n = l->subread ? cb_read_subread_need(p, l->node) : cb_read_need(p, l->node);
    n.arena = cb_sat_add(n.arena, CB_ARENA_DEFER_BYTES); /* of a chunk that is held */
    return n;
}

/* The most elements along axis d of the array that lie between the first and the last that a block
 * needs of one chunk. */
static int64_t part_extent(const cubed_plan *p, const cb_load *load, int d, const int64_t *extents)
{
    int j = load->map->dim[d].axis;
    int64_t chunk = p->ir.nodes[load->node].grid.axis[d].chunk, stride = load->map->dim[d].stride;
    if (j < 0 || extents[j] <= 1) return 1;
    if (stride < 0) stride = -stride;
    return extents[j] - 1 >= chunk / stride ? chunk : stride * (extents[j] - 1) + 1;
}

size_t cb_load_bytes(const cubed_plan *p, const cb_load *load, const int64_t *extents)
{
    size_t bytes = cubed_dtype_size(load->dtype);
    if (!load->subread) return cb_chunk_bytes(p, load->node);
    for (int d = 0; d < load->map->ndim_out; d++)
        bytes = cb_sat_mul(bytes, (size_t)part_extent(p, load, d, extents));
    return bytes;
}

size_t cb_tile_bytes(const cb_load *load, const int64_t *extents)
{
    size_t bytes = cubed_dtype_size(load->dtype);
    for (int d = 0; d < load->map->ndim_out; d++) {
        if (load->map->dim[d].axis < 0) continue;
        size_t extent = (size_t)extents[load->map->dim[d].axis];
        int64_t step = load->map->dim[d].stride;
        /* What is reshaped is brought without the steps between its elements. */
        if (load->reshape && extent > 1)
            extent = cb_sat_add(cb_sat_mul(extent - 1, (size_t)(step < 0 ? -step : step)), 1);
        bytes = cb_sat_mul(bytes, extent);
    }
    return bytes;
}

/* --- How blocks of the domain meet chunks of a source --------------------------------------------- */

static int64_t nblocks(const cb_blocks *b) { return cb_ceil_div(cb_axis_count(b->axis), b->per); }

static void block_range(const cb_blocks *b, int64_t i, int64_t *lo, int64_t *hi)
{
    int64_t n = cb_axis_count(b->axis);
    *lo = cb_axis_lo(b->axis, i * b->per);
    *hi = cb_axis_hi(b->axis, cb_min_i64(n, (i + 1) * b->per) - 1);
    if (b->halo) cb_halo_widen(b->halo, b->axis->extent, lo, hi);
}

static int64_t max_block(const cb_blocks *b)
{
    const cb_axis *a = b->axis;
    if (b->halo) return cb_halo_most(b->halo, a); /* one at a time */
    if (a->extent == 0) return 0;
    return cb_min_i64(a->extent, cb_sat_mul((size_t)a->chunk, (size_t)b->per) > INT64_MAX
                                     ? a->extent
                                     : a->chunk * b->per);
}

/* Irregular axes, and those with a halo, of more blocks than this are estimated. */
#define COUNTED_BLOCKS 65536

/* How blocks meet the chunks of a source axis: the most chunks that one block touches (2 stands for more), how many
 * there are between the first and the last of all, the sum, the sum of their lengths as they are stored, and the sum
 * of the elements between the first and the last that each block needs. */
typedef struct cover {
    int64_t most, distinct;
    uint64_t total, stored, elements;
} cover;

/* Blocks that may have elements in [lo, hi): from *first to before *last. What is around blocks reaches over
 * their neighbours. */
static void blocks_within(const cb_blocks *b, int64_t lo, int64_t hi, int64_t *first, int64_t *last)
{
    *first = 0;
    *last = nblocks(b);
    if (b->halo || *last == 0) return;
    if (lo > 0) *first = cb_axis_find(b->axis, cb_min_i64(lo, b->axis->extent - 1)) / b->per;
    if (hi < b->axis->extent) *last = hi > 0 ? cb_axis_find(b->axis, hi - 1) / b->per + 1 : 0;
}

/* Of the blocks within [lo, hi) of regular axes, in closed form. */
static cover regular_cover(const cb_blocks *b, int64_t lo, int64_t hi, int64_t offset,
                           int64_t stride, const cb_axis *chunks)
{
    const cb_axis *axis = b->axis;
    const int64_t magnitude = stride < 0 ? -stride : stride;
    lo = cb_max_i64(lo, 0);
    hi = cb_min_i64(hi, axis->extent);
    if (lo >= hi) return (cover){0, 0, 0, 0, 0};
    /* What of the blocks is within, as chunks of an axis of their own. */
    const int64_t block = cb_axis_find(axis, lo) / b->per;
    int64_t x0, end;
    block_range(b, block, &x0, &end);
    cb_axis within = {.extent = hi - lo, .first = cb_min_i64(hi, end) - lo, .chunk = max_block(b)};
    const int64_t n = cb_axis_count(&within), from = offset + stride * lo;
    const int64_t a = cb_min_i64(from, from + stride * (hi - lo - 1));
    const int64_t z = cb_max_i64(from, from + stride * (hi - lo - 1));
    const int64_t first = cb_axis_find(chunks, a), last = cb_axis_find(chunks, z);
    cover c = {.distinct = last - first + 1,
               .total = cb_axis_touched(&within, 1, from, stride, chunks),
               .stored = cb_axis_touched_length(&within, 1, from, stride, chunks),
               .elements = (uint64_t)(magnitude * (hi - lo - n) + n)};
    c.most = c.total > (uint64_t)n ? 2 : 1;
    /* Padding counts as it does where chunks are read as a whole. */
    if (a == 0) c.elements += (uint64_t)(chunks->chunk - chunks->first);
    if (z == chunks->extent - 1)
        c.elements += (uint64_t)(cb_axis_lo(chunks, last) + cb_axis_last(chunks) - chunks->extent);
    return c;
}

/* Of the blocks within [lo, hi). */
static cover axis_cover(const cb_blocks *b, int64_t lo, int64_t hi, int64_t offset, int64_t stride,
                        const cb_axis *chunks)
{
    int64_t first, end, magnitude = stride < 0 ? -stride : stride;
    if (!b->axis->starts && !chunks->starts && !b->halo && stride != 0)
        return regular_cover(b, lo, hi, offset, stride, chunks);
    blocks_within(b, lo, hi, &first, &end);
    const int64_t n = end - first;
    cover c = {0, 0, 0, 0, 0};
    const bool whole = lo <= 0 && hi >= b->axis->extent, once = stride == 1 && b->per == 1;
    if (whole && once && !b->halo && offset == 0 && cb_axis_equal(b->axis, chunks))
        return (cover){1, n, (uint64_t)n, (uint64_t)cb_axis_stored_all(chunks),
                       (uint64_t)chunks->extent};
    if (n > COUNTED_BLOCKS) {
        int64_t span = cb_min_i64(chunks->extent, magnitude * (max_block(b) - 1) + 1);
        c.most = cb_min_i64(cb_axis_count(chunks), (span - 1) / chunks->chunk + 2);
        c.total = cb_sat_add((size_t)n, (size_t)cb_axis_count(chunks));
        c.stored = cb_sat_mul(c.total, (size_t)chunks->chunk);
        c.distinct = INT64_MAX; /* who knows */
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
        int64_t to = cb_axis_find(chunks, cb_max_i64(a, z)), count = to - from + 1;
        least = cb_min_i64(least, from);
        last = cb_max_i64(last, to);
        c.most = cb_max_i64(c.most, count);
        c.total += (uint64_t)count;
        c.stored += (uint64_t)count * (uint64_t)chunks->chunk;
        if (to == cb_axis_count(chunks) - 1)
            c.stored -= (uint64_t)(chunks->chunk - cb_axis_last(chunks));
        c.elements += (uint64_t)(magnitude * (x1 - x0 - 1) + 1);
        /* Padding counts as it does where chunks are read as a whole. */
        if (chunks->starts) continue;
        if (cb_min_i64(a, z) == 0) c.elements += (uint64_t)(chunks->chunk - chunks->first);
        if (cb_max_i64(a, z) == chunks->extent - 1)
            c.elements +=
                (uint64_t)(cb_axis_lo(chunks, to) + cb_axis_last(chunks) - chunks->extent);
    }
    c.distinct = last < 0 ? 0 : last - least + 1;
    return c;
}

/* Blocks of a reshape that are looked at; where there are more, these stand for all. */
#define SAMPLED_BLOCKS 1024

/* Chunks that all blocks read through a reshape. */
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
        cb_grid_cover(&p->ir.nodes[l->node].grid, &image, &chunks);
        reads = cb_sat_add(reads, (size_t)cb_box_count(&chunks));
    }
    return sampled ? cb_sat_mul(reads, cb_ceil_div((int64_t)all, (int64_t)sampled)) : 0;
}

static void add_reads(cb_stage *s, uint64_t chunks, uint64_t bytes)
{
    s->chunks_read = cb_sat_add(s->chunks_read, chunks);
    s->bytes_read = cb_sat_add(s->bytes_read, bytes);
}

/* Whether what a block of these extents needs of a chunk lies there without gaps. */
static bool is_one_run(const cubed_plan *p, const cb_load *l, const int64_t *extents)
{
    const cb_grid *g = &p->ir.nodes[l->node].grid;
    int d = g->ndim - 1;
    while (d > 0 && cb_axis_count(&g->axis[d]) == 1 &&
           part_extent(p, l, d, extents) == g->axis[d].chunk)
        d--;
    for (d--; d >= 0; d--) {
        if (part_extent(p, l, d, extents) != 1) return false;
    }
    return true;
}

/* Whether a block of these extents needs at most two thirds of a chunk, in runs that are long enough; of an
 * intermediate in one run. */
static bool is_subread(const cubed_plan *p, const cb_load *l, const int64_t *extents)
{
    const cb_grid *g = &p->ir.nodes[l->node].grid;
    size_t size = cubed_dtype_size(l->dtype), bytes = size, run = size;
    size_t worth = cb_node_subread_run(p, l->node);
    bool whole = true;
    if (worth == 0 || (cb_node_subread_is_whole(p, l->node) && !is_one_run(p, l, extents)))
        return false;
    for (int d = g->ndim - 1; d >= 0; d--) {
        int64_t n = part_extent(p, l, d, extents);
        bytes = cb_sat_mul(bytes, (size_t)n);
        if (whole) run = bytes;
        whole = whole && n == g->axis[d].chunk;
    }
    return run >= worth && bytes <= cb_chunk_bytes(p, l->node) / 3 * 2;
}

/* Sets the flags of a load, and adds what it reads in all tasks. */
static void judge_load(const cubed_plan *p, const cb_branch *b, const cb_blocks *axes,
                       const int64_t *extents, cb_load *l, cb_stage *s)
{
    const cb_grid *g = &p->ir.nodes[l->node].grid;
    uint64_t reads = 1, elements = 1, used = 0, distinct = 1, stored = cubed_dtype_size(l->dtype);
    int last = -1;
    l->tile = l->reshape != 0;
    l->subread = false;
    l->reuse = CB_REUSE_NONE;
    if (l->reshape) {
        reads = reshaped_reads(p, b, axes, l);
        l->reuse = reads > (uint64_t)cb_grid_count(g) ? CB_REUSE_ALL : CB_REUSE_NONE;
        add_reads(s, reads, cb_sat_mul(reads, cb_chunk_bytes(p, l->node)));
        return;
    }
    for (int d = 0; d < l->map->ndim_out; d++) {
        int j = l->map->dim[d].axis;
        if (j < 0) {
            stored = cb_sat_mul(stored, (size_t)g->axis[d].chunk);
            continue;
        }
        cover c = axis_cover(&axes[j], b->lo[j], b->hi[j], l->map->dim[d].offset,
                             l->map->dim[d].stride, &g->axis[d]);
        if (c.most > 1 || j < last) l->tile = true;
        last = j;
        used |= 1ull << j;
        reads = cb_sat_mul(reads, c.total);
        stored = cb_sat_mul(stored, c.stored);
        distinct = cb_sat_mul(distinct, (size_t)c.distinct);
        elements = cb_sat_mul(elements, c.elements);
    }
    for (int j = 0; j < l->map->ndim_in; j++) {
        if (used >> j & 1) continue;
        int64_t extent = cb_max_i64(1, cb_max_i64(axes[j].axis->extent, b->hi[j]));
        cb_axis whole = cb_axis_regular(extent, extent);
        cover c = axis_cover(&axes[j], b->lo[j], b->hi[j], 0, 1, &whole);
        reads = cb_sat_mul(reads, c.total);
        stored = cb_sat_mul(stored, c.total);
        elements = cb_sat_mul(elements, c.total);
        if (c.total > 1) l->reuse = CB_REUSE_ALL;
    }
    l->subread = is_subread(p, l, extents);
    if (reads <= distinct)
        l->reuse = CB_REUSE_NONE;
    else if (l->reuse == CB_REUSE_NONE)
        l->reuse = CB_REUSE_CUT;
    uint64_t bytes = l->subread ? cb_sat_mul(elements, cubed_dtype_size(l->dtype)) : stored;
    add_reads(s, reads, bytes);
}

static void max_extents(const cb_program *prog, const cb_branch *b, const cb_blocks *axes,
                        int64_t *extents)
{
    for (int d = 0; d < prog->ndim; d++)
        extents[d] = cb_min_i64(max_block(&axes[d]), b->hi[d] - b->lo[d]);
}

bool cb_branch_is_bare(const cb_branch *b)
{
    const cb_load *l = &b->loads[b->results[0]];
    return b->ninstrs == 0 && l->kind == CB_LOAD_STORED &&
           (!l->reshape || cb_map_is_identity(l->map));
}

/* One chunk at a time beside the output. */
static cb_need gather_need(const cubed_plan *p, cb_stage *s, const cb_program *prog,
                           const cb_branch *b, const cb_blocks *axes)
{
    cb_load *l = &b->loads[b->results[0]];
    int64_t extents[CUBED_MAX_NDIM];
    max_extents(prog, b, axes, extents);
    judge_load(p, b, axes, extents, l, s);
    cb_need n = load_need(p, l);
    if (!cb_copy_in_place(p, s))
        n.arena = cb_sat_add(n.arena, cb_arena_round(cb_load_bytes(p, l, extents)));
    return n;
}

static cb_need branch_need(const cubed_plan *p, cb_stage *s, const cb_program *prog,
                           const cb_branch *b, const cb_blocks *axes)
{
    int64_t extents[CUBED_MAX_NDIM];
    max_extents(prog, b, axes, extents);
    cb_need hold = {cb_arena_round(cb_sat_mul((size_t)b->nloads + 1, CB_VM_LOAD_BYTES)), 0};
    cb_need read = {0, 0};
    hold.arena = cb_sat_add(hold.arena,
                            cb_arena_round(cb_sat_mul((size_t)b->ninstrs + 1, CB_VM_INSTR_BYTES)));
    hold.arena =
        cb_sat_add(hold.arena, cb_arena_round((size_t)(b->nloads + b->ninstrs) * sizeof(void *)));
    hold.arena =
        cb_sat_add(hold.arena, cb_arena_round(cb_sat_mul((size_t)prog->nregs, prog->reg_size)));
    for (int v = 0; v < b->nloads; v++) {
        cb_load *l = &b->loads[v];
        if (l->kind != CB_LOAD_STORED) continue;
        judge_load(p, b, axes, extents, l, s);
        hold.arena = cb_sat_add(hold.arena, cb_arena_round(cb_load_bytes(p, l, extents)));
        hold.arena = cb_sat_add(hold.arena, CB_ARENA_DEFER_BYTES);
        if (l->tile) hold.arena = cb_sat_add(hold.arena, cb_arena_round(cb_tile_bytes(l, extents)));
        read = cb_need_either(read, load_need(p, l));
    }
    return cb_need_both(hold, read);
}

cb_need cb_program_need(const cubed_plan *p, cb_stage *s, cb_program *prog, const cb_blocks *axes,
                        bool gather)
{
    cb_need most = {0, 0};
    for (int i = 0; i < prog->nbranches; i++) {
        const cb_branch *b = &prog->branches[i];
        cb_need n = gather && cb_branch_is_bare(b) ? gather_need(p, s, prog, b, axes)
                                                   : branch_need(p, s, prog, b, axes);
        most = cb_need_either(most, n);
    }
    return most;
}

/* Output chunks one beside the other, where that takes no more than a tile of them all and a chunk. */
static void choose_scatter(const cubed_plan *p, cb_stage *s, cb_need read)
{
    int node = s->outs[0].node;
    cb_need need = cb_need_either(read, cb_write_need(p, node));
    size_t held = cb_arena_round(cb_sat_mul((size_t)cb_copy_share(s), cb_chunk_bytes(p, node)));
    need.arena = cb_sat_add(need.arena, cb_sat_add(held, cb_bookkeeping_bytes(s)));
    if (s->team == 1 && need.arena > s->need.arena) return;
    s->scatter = true;
    s->need = need;
}

/* Blocks of a task along the axes that are kept, and the elements of the largest task's box, without the groups
 * of PARTIAL. */
static size_t kept_blocks(const cb_stage *s, cb_blocks *kept)
{
    size_t count = 1;
    for (int d = 0; d < s->kept.ndim; d++) {
        kept[d] = (cb_blocks){&s->kept.axis[d], cb_stage_step(s, d), NULL};
        if (!s->partial || d > 0) count = cb_sat_mul(count, (size_t)max_block(&kept[d]));
    }
    return count;
}

/* The same of what is reduced: blocks of its domain, and the elements of the largest one. */
static size_t reduced_blocks(const cb_stage *s, const cb_blocks *kept, size_t count,
                             cb_blocks *domain)
{
    int k = s->partial ? 1 : 0;
    for (int d = 0; d < s->domain.ndim; d++) {
        if (s->reduced >> d & 1) {
            domain[d] = (cb_blocks){&s->domain.axis[d], 1, NULL};
            count = cb_sat_mul(count, (size_t)max_block(&domain[d]));
        } else {
            domain[d] = kept[k++];
        }
    }
    return count;
}

void cb_program_blocks(const cb_stage *s, int program, cb_blocks *axes)
{
    cb_blocks kept[CUBED_MAX_NDIM + 1];
    size_t count = kept_blocks(s, program == 0 ? kept : axes);
    if (program == 0) (void)reduced_blocks(s, kept, count, axes);
}

/* What reading the states that a reduction merges takes beside its own; adds to the stage's counts. */
static size_t merge_bytes(const cubed_plan *p, cb_stage *s, const cb_stage_reduction *f,
                          size_t planes)
{
    size_t chunk = cb_chunk_bytes(p, f->states);
    uint64_t chunks = (uint64_t)cb_grid_count(&p->ir.nodes[f->states].grid);
    add_reads(s, chunks, cb_sat_mul(chunks, chunk));
    return cb_sat_add(cb_arena_round(chunk), planes);
}

/* Of a stage that reduces until its results are made; *states: one state of each reduction. */
static cb_need body_need(const cubed_plan *p, cb_stage *s, const cb_blocks *kept, size_t count,
                         size_t *states)
{
    cb_blocks domain[CUBED_MAX_NDIM];
    size_t block = reduced_blocks(s, kept, count, domain), values = 0, merged = 0;
    cb_need body = {0, 0};
    for (int k = 0; k < s->nreductions; k++) {
        const cb_stage_reduction *f = &s->reductions[k];
        size_t plane = cb_arena_round(cb_sat_mul(count, cubed_dtype_size(f->dtype)));
        size_t planes = cb_sat_mul(plane, (size_t)f->nplanes);
        *states = cb_sat_add(*states, planes);
        values = cb_sat_add(values, cb_arena_round(cb_sat_mul(block, cubed_dtype_size(f->value))));
        if (s->merge) merged = cb_max_size(merged, merge_bytes(p, s, f, planes));
    }
    if (!s->merge) {
        body = cb_program_need(p, s, &s->body, domain, false);
        if (s->body.nbranches > 1) body.arena = cb_sat_add(body.arena, values);
        body.arena =
            cb_sat_add(body.arena, cb_arena_round((size_t)s->nreductions * CB_LANES_BYTES));
    }
    merged = cb_sat_add(merged, cb_sat_mul(*states, (size_t)cb_stage_levels(s)));
    body.arena = cb_sat_add(body.arena, merged);
    return body;
}

/* What is written takes beside tiles, of which *tiles is the sum; adds to the stage's counts. */
static cb_need outputs_need(const cubed_plan *p, cb_stage *s, size_t count, size_t *tiles)
{
    cb_need write = {0, 0};
    for (int o = 0; o < s->nouts; o++) {
        const cb_stage_out *out = &s->outs[o];
        const cb_node *n = &p->ir.nodes[out->node];
        size_t chunk = cb_chunk_bytes(p, out->node);
        size_t all = cb_sat_mul(count, cubed_dtype_size(n->dtype));
        uint64_t bytes = cubed_dtype_size(n->dtype);
        for (int d = 0; d < n->grid.ndim; d++)
            bytes = cb_sat_mul(bytes, (size_t)cb_axis_stored_all(&n->grid.axis[d]));
        if (!n->to_memory && out->alias < 0 && !s->partial)
            *tiles = cb_sat_add(*tiles, cb_arena_round(cb_out_is_chunk(s, o) ? chunk : all));
        cb_need w = cb_write_need(p, out->node);
        if (cb_out_needs_staging(p, s, o)) w.arena = cb_sat_add(w.arena, cb_arena_round(chunk));
        write = cb_need_either(write, w);
        s->chunks_written = cb_sat_add(s->chunks_written, (size_t)cb_grid_count(&n->grid));
        s->bytes_written = cb_sat_add(s->bytes_written, bytes);
    }
    if (s->scan) *tiles = cb_sat_add(*tiles, cb_arena_round(cb_scan_carry_bytes(p, s, NULL)));
    return write;
}

void cb_stage_project(const cubed_plan *p, cb_stage *s)
{
    cb_blocks kept[CUBED_MAX_NDIM + 1];
    cb_need body = {0, 0}, read = {0, 0};
    size_t states = 0, tiles = 0;
    s->scatter = false;
    if (s->team < 1 || !may_scatter(p, s)) s->team = 1;
    if (s->call) {
        cb_block_project(p, s);
        return;
    }
    s->bytes_read = s->chunks_read = s->bytes_written = s->chunks_written = 0;
    size_t count = kept_blocks(s, kept);
    if (s->nreductions) body = body_need(p, s, kept, count, &states);
    cb_need tail = outputs_need(p, s, count, &tiles);
    if (!s->partial) read = cb_program_need(p, s, &s->tail, kept, s->copy);
    tail = cb_need_either(tail, read);
    tail.arena = cb_sat_add(tail.arena, cb_sat_add(tiles, states));
    s->need = cb_need_either(body, tail);
    s->need.arena = cb_sat_add(s->need.arena, cb_bookkeeping_bytes(s));
    if (may_scatter(p, s)) choose_scatter(p, s, read);
}
