/* Prepares the evaluation of a program over a box: finds the data of each load, and the axes along which vectors extend. */
#include <string.h>

#include "base/error.h"
#include "dtype/typestr.h"
#include "exec/vm/frames.h"
#include "exec/vm/vm_state.h"

_Static_assert(sizeof(vm_load) <= CB_VM_LOAD_BYTES, "CB_VM_LOAD_BYTES");
_Static_assert(sizeof(vm_instr) <= CB_VM_INSTR_BYTES, "CB_VM_INSTR_BYTES");

static void *load_register(const cb_vm *vm, int v)
{
    return vm->regs + (size_t)v * vm->prog->reg_size;
}

/* Returns true if load `o` has pinned the chunk `idx` that load `l` needs. */
static bool same_chunk(const vm_load *o, const vm_load *l, const int64_t *idx, const cb_grid *g)
{
    if (o->load->node != l->load->node || o->load->subread != l->load->subread) return false;
    if (o->load->subread) return cb_map_equal(o->load->map, l->load->map);
    for (int d = 0; d < g->ndim; d++) {
        if (o->pinned.lo[d] != cb_axis_lo(&g->axis[d], idx[d])) return false;
    }
    return true;
}

/* Opens a load of a block within one chunk, which is used in place. */
static cubed_status open_single_chunk(cb_vm *vm, vm_load *l, const cb_box *box, const cb_box *image,
                                      const cb_box *cover, cubed_error *err)
{
    const cb_task *t = vm->task;
    const cb_grid *g = t->plan->ir.nodes[l->load->node].grid;
    /* Another load of this branch may have loaded the same chunk. */
    for (const vm_load *o = vm->loads; o < l && !l->resident; o++) {
        l->resident = o->resident && same_chunk(o, l, cover->lo, g);
        if (!l->resident) continue;
        l->pinned = o->pinned;
        /* The loads of a group count as one read. */
        if (l->load->reuse != CB_REUSE_NONE && !l->load->follows)
            cb_chunks_pass(t->chunks, l->load->node, cover->lo);
    }
    if (!l->resident)
        CB_TRY(cb_load_chunk(t, l->load, cover->lo, image, l->chunk, &l->pinned, err));
    l->resident = true;
    l->base = l->pinned.data +
              cb_map_strides(l->load->map, l->pinned.lo, l->pinned.stride, box->lo, l->stride);
    return CUBED_OK;
}

/* Opens a load of a chunk that is decoded piecewise. Each piece is loaded when it is first used. */
static void open_pieces(cb_vm *vm, vm_load *l, const cb_box *box, const cb_box *cover)
{
    const cb_grid *g = vm->task->plan->ir.nodes[l->load->node].grid;
    int64_t lo[CUBED_MAX_NDIM], extents[CUBED_MAX_NDIM], stride[CUBED_MAX_NDIM];
    cb_grid_stored(g, cover->lo, extents);
    cb_dense_strides(g->ndim, extents, l->size, stride);
    for (int d = 0; d < g->ndim; d++) lo[d] = cb_axis_lo(&g->axis[d], cover->lo[d]);
    memcpy(l->piece.idx, cover->lo, sizeof l->piece.idx);
    l->piece.origin = cb_map_strides(l->load->map, lo, stride, box->lo, l->stride);
    l->piece.lo = l->piece.hi = 0;
    l->piece.data = l->chunk;
    l->piece.block.kept = NULL;
}

/* Opens a load through a reshape. Loads the array into a tile of the new shape. The box is a view of this tile. */
static cubed_status open_reshaped(cb_vm *vm, vm_load *l, const cb_box *box, void *data,
                                  cubed_error *err)
{
    const cb_task *t = vm->task;
    const cb_map *m = l->load->map;
    int64_t extents[CUBED_MAX_NDIM];
    cb_box to;
    cb_view tile;
    cb_map_image(m, box, &to);
    for (int d = 0; d < to.ndim; d++) extents[d] = to.hi[d] - to.lo[d];
    cb_dense_strides(to.ndim, extents, l->size, tile.stride);
    tile.base = data;
    CB_TRY(cb_load_reshaped(t, l->load, &to, &tile, l->chunk, err));
    l->base = tile.base + cb_map_strides(m, to.lo, tile.stride, box->lo, l->stride);
    return CUBED_OK;
}

/* Returns true if the axes of a load's array are in the order of the domain's axes. */
static bool is_ordered(const cb_map *m)
{
    for (int d = 0, last = -1; d < m->ndim_out; d++) {
        const int j = m->dim[d].axis;
        if (j >= 0 && j < last) return false;
        if (j >= 0) last = j;
    }
    return true;
}

/* Sets the strides of a load's tile, which is dense and has no axes that the array lacks. */
static void tile_strides(const cb_vm *vm, const vm_load *l, int64_t *stride)
{
    const cb_map *m = l->load->map;
    int64_t extents[CUBED_MAX_NDIM];
    for (int j = 0; j < vm->ndim; j++) extents[j] = 1;
    for (int d = 0; d < m->ndim_out; d++) {
        int j = m->dim[d].axis;
        if (j >= 0) extents[j] = vm->extent[j];
    }
    cb_dense_strides(vm->ndim, extents, l->size, stride);
    for (int j = 0; j < vm->ndim; j++) {
        if (extents[j] == 1) stride[j] = 0;
    }
}

/* Returns the next load of a group; NULL after the last. */
static vm_load *next_of(const cb_vm *vm, const vm_load *l)
{
    return l->load->next > 0 ? &vm->loads[l->load->next] : NULL;
}

/* Returns true if a load of the group before `l` needs the chunk. */
static bool is_gathered(const cb_vm *vm, const vm_load *first, const vm_load *l, const int64_t *idx)
{
    for (const vm_load *o = first; o != l; o = next_of(vm, o)) {
        if (cb_box_has(&o->cover, idx)) return true;
    }
    return false;
}

/* Reads each chunk that a group needs once, and copies its elements to the tiles of all loads that need it. */
static cubed_status gather_group(const cb_vm *vm, vm_load *first, const cb_box *box,
                                 cubed_error *err)
{
    const cb_task *t = vm->task;
    for (vm_load *l = first; l; l = next_of(vm, l)) tile_strides(vm, l, l->stride);
    for (const vm_load *l = first; l; l = next_of(vm, l)) {
        int64_t idx[CUBED_MAX_NDIM];
        cb_box image;
        cb_map_image(l->load->map, box, &image);
        memcpy(idx, l->cover.lo, sizeof idx);
        do {
            if (is_gathered(vm, first, l, idx)) continue;
            const size_t mark = cb_arena_mark(t->arena);
            cb_pinned pinned;
            CB_TRY(cb_load_chunk(t, l->load, idx, &image, first->chunk, &pinned, err));
            for (const vm_load *o = l; o; o = next_of(vm, o)) {
                cb_view tile;
                if (!cb_box_has(&o->cover, idx)) continue;
                tile.base = (char *)(uintptr_t)o->base;
                memcpy(tile.stride, o->stride, sizeof tile.stride);
                cb_load_place(t, o->load, idx, &pinned, box, &tile);
            }
            cb_arena_release(t->arena, mark);
        } while (cb_odometer_next(&l->cover, idx));
    }
    return CUBED_OK;
}

/* Copies a chunk of a group to its window, whose element at `all->lo` is at `tile`. */
static void place_in_window(const cb_vm *vm, const vm_load *l, const int64_t *idx,
                            const cb_pinned *pinned, const cb_box *all, const int64_t *stride,
                            char *tile)
{
    cb_box part;
    cb_grid_box(vm->task->plan->ir.nodes[l->load->node].grid, idx, &part);
    cb_box_intersect(&part, all, &part);
    cb_box_copy(&part, l->size, tile, all->lo, stride, pinned->data, pinned->lo, pinned->stride);
}

/* Reads each chunk that a group needs once, and copies it to the tile that the loads share. Chunks that no load needs are not
 * read, so their elements of the tile are undefined. */
static cubed_status gather_window(const cb_vm *vm, vm_load *first, const cb_box *box, char *tile,
                                  cubed_error *err)
{
    const cb_task *t = vm->task;
    int64_t extents[CUBED_MAX_NDIM], stride[CUBED_MAX_NDIM];
    cb_box all, image;
    cb_map_image(first->load->map, box, &all);
    for (const vm_load *l = next_of(vm, first); l; l = next_of(vm, l)) {
        cb_map_image(l->load->map, box, &image);
        for (int d = 0; d < all.ndim; d++) {
            all.lo[d] = cb_min_i64(all.lo[d], image.lo[d]);
            all.hi[d] = cb_max_i64(all.hi[d], image.hi[d]);
        }
    }
    for (int d = 0; d < all.ndim; d++) extents[d] = all.hi[d] - all.lo[d];
    cb_dense_strides(all.ndim, extents, first->size, stride);
    for (vm_load *l = first; l; l = next_of(vm, l)) {
        int64_t idx[CUBED_MAX_NDIM];
        memcpy(idx, l->cover.lo, sizeof idx);
        do {
            if (is_gathered(vm, first, l, idx)) continue;
            const size_t mark = cb_arena_mark(t->arena);
            cb_pinned pinned;
            CB_TRY(cb_load_chunk(t, l->load, idx, &all, first->chunk, &pinned, err));
            place_in_window(vm, l, idx, &pinned, &all, stride, tile);
            cb_arena_release(t->arena, mark);
        } while (cb_odometer_next(&l->cover, idx));
        l->base = tile + cb_map_strides(l->load->map, all.lo, stride, box->lo, l->stride);
    }
    return CUBED_OK;
}

/* Opens all loads of a group. If they need the same single chunk, it is used in place. */
static cubed_status open_group(cb_vm *vm, vm_load *first, const cb_box *box, cubed_error *err)
{
    const cb_task *t = vm->task;
    const cb_grid *g = t->plan->ir.nodes[first->load->node].grid;
    const bool window = first->load->window;
    bool in_place = is_ordered(first->load->map);
    void *tile = NULL; /* the tile of the window */
    for (vm_load *l = first; l; l = next_of(vm, l)) {
        cb_box image;
        void *chunk, *data;
        CB_TRY(cb_grouped_frame(t->plan, vm->branch, (int)(l - vm->loads), vm->extent, t->arena,
                                &chunk, &data, err));
        CB_CHECK(data || (window && l != first), err);
        if (l == first) tile = data;
        l->chunk = l == first ? chunk : first->chunk;
        l->base = data;
        cb_map_image(l->load->map, box, &image);
        cb_grid_cover(g, &image, &l->cover);
        in_place =
            in_place && cb_box_count(&l->cover) == 1 && cb_box_has(&first->cover, l->cover.lo);
    }
    if (!in_place)
        return window ? gather_window(vm, first, box, tile, err)
                      : gather_group(vm, first, box, err);
    for (vm_load *l = first; l; l = next_of(vm, l)) {
        const cb_box cover = l->cover;
        cb_box image;
        cb_map_image(l->load->map, box, &image);
        CB_TRY(open_single_chunk(vm, l, box, &image, &cover, err));
    }
    return CUBED_OK;
}

static cubed_status open_stored(cb_vm *vm, vm_load *l, const cb_box *box, cubed_error *err)
{
    if (l->load->follows) return CUBED_OK; /* open_group has opened it */
    if (l->load->next > 0) return open_group(vm, l, box, err);
    const cb_task *t = vm->task;
    const cb_load *load = l->load;
    const cb_grid *g = t->plan->ir.nodes[load->node].grid;
    cb_box image, cover;
    void *data;
    CB_TRY(cb_load_frame(t->plan, load, vm->extent, t->arena, &l->chunk, &data, err));
    if (load->reshape) return open_reshaped(vm, l, box, data, err);
    cb_map_image(load->map, box, &image);
    cb_grid_cover(g, &image, &cover);
    if (load->piecewise) {
        CB_CHECK(cb_box_count(&cover) == 1, err);
        open_pieces(vm, l, box, &cover);
        return CUBED_OK;
    }
    if (cb_box_count(&cover) == 1 && is_ordered(load->map))
        return open_single_chunk(vm, l, box, &image, &cover, err);
    CB_CHECK(load->tile, err);
    cb_view tile = {.base = data};
    tile_strides(vm, l, tile.stride);
    CB_TRY(cb_load_gather(t, load, box, &tile, l->chunk, err));
    l->base = data;
    memcpy(l->stride, tile.stride, (size_t)vm->ndim * sizeof(int64_t));
    return CUBED_OK;
}

static void open_memory(const cb_vm *vm, vm_load *l, const cb_box *box)
{
    const cb_node *n = &vm->task->plan->ir.nodes[l->load->node];
    const int64_t origin[CUBED_MAX_NDIM] = {0};
    int64_t strides[CUBED_MAX_NDIM], shape[CUBED_MAX_NDIM];
    l->base = cb_node_is_source(n) ? n->data : n->result;
    cb_node_shape(n, shape);
    if (cb_node_is_source(n))
        memcpy(strides, n->strides, (size_t)n->grid->ndim * sizeof *strides);
    else
        cb_dense_strides(n->grid->ndim, shape, l->size, strides);
    l->base += cb_map_strides(l->load->map, origin, strides, box->lo, l->stride);
}

/* Sets the fields that all kinds of loads have. All other fields are set before they are read. */
static void begin_load(const cb_vm *vm, int v)
{
    vm_load *l = &vm->loads[v];
    l->resident = false;
    l->how = LOAD_DIRECT;
    for (int d = 0; d < vm->ndim; d++) l->stride[d] = 0;
    l->load = &vm->branch->loads[v];
    l->size = cubed_dtype_size(l->load->dtype);
    l->reg = load_register(vm, v);
}

static cubed_status open_load(cb_vm *vm, int v, const cb_box *box, const cb_view *reductions,
                              cubed_error *err)
{
    vm_load *l = &vm->loads[v];
    switch (l->load->kind) {
    case CB_LOAD_STORED: return open_stored(vm, l, box, err);
    case CB_LOAD_MEMORY: open_memory(vm, l, box); return CUBED_OK;
    case CB_LOAD_REDUCE:
        l->base = reductions[l->load->reduction].base;
        memcpy(l->stride, reductions[l->load->reduction].stride,
               (size_t)vm->ndim * sizeof(int64_t));
        return CUBED_OK;
    case CB_LOAD_INDEX:
        l->how = LOAD_INDEX;
        l->index_at = l->load->start;
        for (int j = 0; j < vm->ndim; j++)
            l->index_at = cb_load_advance(l->load, l->index_at, j, box->lo[j]);
        return CUBED_OK;
    case CB_LOAD_CHUNK_POSITION:
        l->how = LOAD_BLOCKS;
        for (int d = 0; d < l->load->map->ndim_out; d++) {
            int j = l->load->map->dim[d].axis;
            l->box_idx[d] = l->load->map->dim[d].offset;
            if (j >= 0) l->box_idx[d] += l->load->map->dim[d].stride * box->lo[j];
        }
        return CUBED_OK;
    default:
        l->how = LOAD_CONST;
        vm->task->kernels->splat(l->reg, &l->load->value, l->size, (size_t)vm->prog->vector);
        vm->value[v] = l->reg;
        return CUBED_OK;
    }
}

static bool is_uniform(const cb_vm *vm, const int64_t *stride, int inner)
{
    for (int d = inner; d < vm->ndim; d++) {
        if (vm->extent[d] != 1 && stride[d] != 0) return false;
    }
    return true;
}

static bool has_strides(const vm_load *l)
{
    return l->how != LOAD_INDEX && l->how != LOAD_BLOCKS && l->how != LOAD_CONST;
}

/* Returns the first axis of the longest run over which every result is contiguous, and every load is contiguous or has a
 * single value. Returns 0 if that run has fewer than 32 elements, because its overhead would be too high. Then vectors extend
 * over several runs, and their elements are gathered. */
static int choose_inner(const cb_vm *vm)
{
    int inner = vm->ndim;
    int64_t run = 1;
    while (inner > 0) {
        bool fits = true;
        for (int v = 0; v < vm->branch->nloads && fits; v++) {
            const vm_load *l = &vm->loads[v];
            fits = !has_strides(l) || cb_vm_is_run(vm, l->stride, l->size, inner - 1) ||
                   is_uniform(vm, l->stride, inner - 1);
        }
        for (int r = 0; r < vm->prog->nresults && fits; r++)
            fits = cb_vm_is_run(vm, vm->outs[r].stride, cubed_dtype_size(vm->prog->types[r]),
                                inner - 1);
        if (!fits) break;
        run *= vm->extent[--inner];
    }
    return run >= 32 ? inner : 0;
}

bool cb_instr_keeps_pace(const cb_kernels *k, const cb_instr *in)
{
    bool found = false;
    if (in->to != in->dtype || (in->dtype != CUBED_FLOAT64 && in->dtype != CUBED_FLOAT32))
        return false;
    if (in->kind == CB_INSTR_ELEM) return in->op == CUBED_OP_SQRT || in->op == CUBED_OP_DIVIDE;
    /* Superinstructions that unpack integers have operands of several sizes. */
    if (in->kind != CB_INSTR_SUPER || k->super[in->op].op[0] == CB_SUPER_CAST) return false;
    for (int i = 0; i < k->super[in->op].n; i++) {
        const int op = k->super[in->op].op[i];
        found = found || op == CUBED_OP_SQRT || op == CUBED_OP_DIVIDE;
    }
    return found;
}

static void resolve_elem(const cb_kernels *k, const cb_instr *in, vm_instr *x)
{
    if (in->kind == CB_INSTR_SUPER) {
        x->elem = k->super_fn[in->op][in->dtype];
        x->stream = k->super_stream[in->op][in->dtype];
    } else {
        x->elem = k->elem[in->op][in->dtype];
        x->stream = k->elem_stream[in->op][in->dtype];
    }
}

static void resolve_field(const cb_branch *b, const cb_instr *in, vm_instr *x)
{
    const cubed_dtype to = (cubed_dtype)in->to;
    x->offset = in->op;
    x->record = (uint16_t)cubed_dtype_size(b->loads[in->arg[0]].dtype);
    x->reversed = in->swapped ? (uint8_t)cb_unit_size(to) : 0;
}

static void resolve_instrs(cb_vm *vm)
{
    const cb_kernels *k = vm->task->kernels;
    const cb_branch *b = vm->branch;
    for (int i = 0; i < b->ninstrs; i++) {
        const cb_instr *in = &b->instrs[i];
        if (in->kind == CB_INSTR_PRODUCT && !vm->outs) continue;
        vm_instr *x = &vm->instrs[vm->ninstrs++];
        memset(x, 0, sizeof *x);
        if (in->kind == CB_INSTR_FIELD)
            resolve_field(b, in, x);
        else if (in->kind == CB_INSTR_CAST)
            x->cast = cb_kernel_cast(k, (cubed_dtype)in->dtype, (cubed_dtype)in->to);
        else
            resolve_elem(k, in, x);
        /* Unused operands are copies of the first one. */
        for (int a = 0; a < 3; a++) x->arg[a] = in->arg[a < in->nargs ? a : 0];
        x->size = cubed_dtype_size((cubed_dtype)in->to);
        x->dst = vm->regs + (size_t)in->reg * vm->prog->reg_size;
        x->value = (uint16_t)(b->nloads + i);
        vm->value[x->value] = x->dst;
        if (!vm->paced && !vm->outs && cb_instr_keeps_pace(k, in)) vm->paced = x;
    }
    for (int r = vm->outs ? vm->prog->nresults - 1 : -1; r >= 0; r--) {
        if (b->results[r] >= b->nloads)
            vm->instrs[b->results[r] - b->nloads].to_out = (uint16_t)(r + 1);
    }
    /* Do not bypass the caches for a result that a later instruction reads. */
    for (int i = 0; i < b->ninstrs; i++) {
        for (int a = 0; a < b->instrs[i].nargs; a++) {
            if (b->instrs[i].arg[a] >= b->nloads && vm->outs)
                vm->instrs[b->instrs[i].arg[a] - b->nloads].stream = NULL;
        }
    }
}

/* Allocates a machine. The frame is measured with one load more than the program has. The memory of this load is used for the
 * structure cb_vm. */
static cubed_status new_vm(const cb_task *t, const cb_program *prog, const cb_branch *branch,
                           const cb_box *box, cb_vm **out, cubed_error *err)
{
    cb_machine m;
    _Static_assert(sizeof(cb_vm) <= CB_VM_LOAD_BYTES, "cb_vm");
    CB_TRY(cb_machine_frame(prog, branch, t->arena, &m, err));
    cb_vm *vm = m.loads;
    *vm = (cb_vm){.task = t,
                  .prog = prog,
                  .branch = branch,
                  .ndim = prog->ndim,
                  .loads = (vm_load *)((char *)m.loads + CB_VM_LOAD_BYTES),
                  .instrs = m.instrs,
                  .value = m.values,
                  .regs = m.regs};
    for (int d = 0; d < vm->ndim; d++) vm->extent[d] = box->hi[d] - box->lo[d];
    for (int v = 0; v < branch->nloads; v++) begin_load(vm, v);
    *out = vm;
    return CUBED_OK;
}

/* Chooses how each load is read over runs from the axis `inner` on. */
static cubed_status set_runs(cb_vm *vm, int inner, cubed_error *err)
{
    vm->inner = inner;
    vm->run = 1;
    for (int d = inner; d < vm->ndim; d++) vm->run *= vm->extent[d];
    for (int v = 0; v < vm->branch->nloads; v++) {
        vm_load *l = &vm->loads[v];
        if (!has_strides(l)) continue;
        const bool run = cb_vm_is_run(vm, l->stride, l->size, inner);
        const bool pieces = l->load->kind == CB_LOAD_STORED && l->load->piecewise;
        CB_CHECK(run || !pieces, err);
        l->how = pieces                             ? LOAD_PIECES
                 : run                              ? LOAD_DIRECT
                 : is_uniform(vm, l->stride, inner) ? LOAD_UNIFORM
                                                    : LOAD_GATHER;
    }
    return CUBED_OK;
}

cubed_status cb_vm_open(const cb_task *t, const cb_program *prog, const cb_branch *branch,
                        const cb_box *box, const cb_view *reductions, const cb_view *outs,
                        cb_vm **out, cubed_error *err)
{
    CB_TRY(new_vm(t, prog, branch, box, out, err));
    cb_vm *vm = *out;
    vm->outs = outs;
    for (int v = 0; v < branch->nloads; v++) CB_TRY(open_load(vm, v, box, reductions, err));
    resolve_instrs(vm);
    return set_runs(vm, choose_inner(vm), err);
}

cubed_status cb_vm_open_runs(const cb_task *t, const cb_program *prog, const cb_branch *branch,
                             const cb_box *box, int inner, cb_vm **out, cubed_error *err)
{
    CB_TRY(new_vm(t, prog, branch, box, out, err));
    for (int v = 0; v < branch->nloads; v++) CB_TRY(open_load(*out, v, box, NULL, err));
    resolve_instrs(*out);
    return set_runs(*out, inner, err);
}
