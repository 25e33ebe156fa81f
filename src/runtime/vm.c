#include "runtime/vm.h"

#include <string.h>

#include "base/error.h"

typedef struct vm_load {
    const cb_load *load;
    size_t size;
    const char *base; /* element 0 of the box */
    union {
        int64_t stride[CUBED_MAX_NDIM];
        int64_t row_idx[CUBED_MAX_NDIM]; /* BLOCKS: element 0 of the run, in the array */
    };
    const char *at;              /* of the run */
    int64_t index_at, index_row; /* INDEX: at element 0 of the box, and of the run */
    void *reg;
    enum { LOAD_DIRECT, LOAD_UNIFORM, LOAD_GATHER, LOAD_INDEX, LOAD_BLOCKS, LOAD_CONST } how;
    void *chunk; /* STORED: buffer of one chunk or a part of it */
    bool resident;
    union {
        cb_held held;
        int64_t box_idx[CUBED_MAX_NDIM]; /* BLOCKS: element 0 of the box, in the array */
    };
} vm_load;

typedef struct vm_instr {
    cb_elem_fn elem;
    cb_cast_fn cast; /* if elem is NULL */
    void *dst;
    uint16_t arg[3];
    uint16_t to_out; /* 1 + the output it writes in place, or 0 */
} vm_instr;

_Static_assert(sizeof(vm_load) <= CB_VM_LOAD_BYTES, "CB_VM_LOAD_BYTES");
_Static_assert(sizeof(vm_instr) <= CB_VM_INSTR_BYTES, "CB_VM_INSTR_BYTES");

_Static_assert(sizeof(cb_view) <= CB_VIEW_BYTES, "CB_VIEW_BYTES");

struct cb_vm {
    const cb_task *task;
    const cb_program *prog;
    const cb_branch *branch;
    int ndim, inner;
    int64_t extent[CUBED_MAX_NDIM];
    int64_t run;
    const cb_view *outs;
    vm_load *loads;
    vm_instr *instrs;
    const void **value; /* by value number */
    char *regs;
};

/* --- Opening: where each load's data is -------------------------------------------------------------- */

static void *load_register(const cb_vm *vm, int v)
{
    return vm->regs + (size_t)v * vm->prog->reg_size;
}

/* Whether what `o` holds is what `l` needs of chunk `idx`. */
static bool same_chunk(const vm_load *o, const vm_load *l, const int64_t *idx, const cb_grid *g)
{
    if (o->load->node != l->load->node || o->load->part != l->load->part) return false;
    if (o->load->part) return cb_map_equal(o->load->map, l->load->map);
    for (int d = 0; d < g->ndim; d++) {
        if (o->held.lo[d] != cb_axis_lo(&g->axis[d], idx[d])) return false;
    }
    return true;
}

/* A block that lies in one chunk is used where the chunk is. */
static cubed_status open_single_chunk(cb_vm *vm, vm_load *l, const cb_box *box, const cb_box *image,
                                      const cb_box *cover, cubed_error *err)
{
    const cb_task *t = vm->task;
    const cb_grid *g = &t->plan->ir.nodes[l->load->node].grid;
    /* Another load of this branch may have brought the same chunk. */
    for (const vm_load *o = vm->loads; o < l && !l->resident; o++) {
        l->resident = o->resident && same_chunk(o, l, cover->lo, g);
        if (!l->resident) continue;
        l->held = o->held;
        if (l->load->again != CB_AGAIN_NONE) cb_io_pass(t->io, l->load->node, cover->lo);
    }
    if (!l->resident) CB_TRY(cb_load_chunk(t, l->load, cover->lo, image, l->chunk, &l->held, err));
    l->resident = true;
    l->base = l->held.data;
    for (int d = 0; d < g->ndim; d++) {
        int j = l->load->map->dim[d].axis;
        int64_t x = l->load->map->dim[d].offset;
        if (j >= 0) {
            x += l->load->map->dim[d].stride * box->lo[j];
            l->stride[j] = l->load->map->dim[d].stride * l->held.stride[d];
        }
        l->base += (x - l->held.lo[d]) * l->held.stride[d];
    }
    return CUBED_OK;
}

/* What is reshaped comes into a tile of the new shape, through which the box is seen. */
static cubed_status open_reshaped(cb_vm *vm, vm_load *l, const cb_box *box, cubed_error *err)
{
    const cb_task *t = vm->task;
    const cb_map *m = l->load->map;
    int64_t extents[CUBED_MAX_NDIM];
    cb_box to;
    cb_view tile;
    void *data;
    cb_map_image(m, box, &to);
    for (int d = 0; d < to.ndim; d++) extents[d] = to.hi[d] - to.lo[d];
    cb_dense_strides(to.ndim, extents, l->size, tile.stride);
    CB_TRY(cb_arena_alloc(t->arena, cb_tile_bytes(l->load, vm->extent), "tile", &data, err));
    tile.base = data;
    CB_TRY(cb_load_reshaped(t, l->load, &to, &tile, l->chunk, err));
    l->base = data;
    for (int d = 0; d < to.ndim; d++) {
        int j = m->dim[d].axis;
        if (j < 0) continue;
        l->stride[j] = m->dim[d].stride * tile.stride[d];
        l->base += (m->dim[d].offset + m->dim[d].stride * box->lo[j] - to.lo[d]) * tile.stride[d];
    }
    return CUBED_OK;
}

static cubed_status open_stored(cb_vm *vm, vm_load *l, const cb_box *box, cubed_error *err)
{
    const cb_task *t = vm->task;
    const cb_load *load = l->load;
    const cb_grid *g = &t->plan->ir.nodes[load->node].grid;
    cb_box image, cover;
    CB_TRY(cb_arena_alloc(t->arena, cb_load_bytes(t->plan, load, vm->extent), "chunk", &l->chunk,
                          err));
    if (load->reshape) return open_reshaped(vm, l, box, err);
    cb_map_image(load->map, box, &image);
    cb_grid_cover(g, &image, &cover);
    bool ordered = true;
    for (int d = 0, last = -1; d < load->map->ndim_out; d++) {
        int j = load->map->dim[d].axis;
        if (j >= 0 && j < last) ordered = false;
        if (j >= 0) last = j;
    }
    if (cb_box_count(&cover) == 1 && ordered)
        return open_single_chunk(vm, l, box, &image, &cover, err);
    CB_CHECK(load->tile, err);
    cb_view tile;
    int64_t extents[CUBED_MAX_NDIM];
    for (int j = 0; j < vm->ndim; j++) extents[j] = 1;
    for (int d = 0; d < load->map->ndim_out; d++) {
        int j = load->map->dim[d].axis;
        if (j >= 0) extents[j] = vm->extent[j];
    }
    cb_dense_strides(vm->ndim, extents, l->size, tile.stride);
    for (int j = 0; j < vm->ndim; j++) {
        if (extents[j] == 1) tile.stride[j] = 0;
    }
    void *data;
    CB_TRY(cb_arena_alloc(t->arena, cb_tile_bytes(load, vm->extent), "tile", &data, err));
    tile.base = data;
    CB_TRY(cb_load_gather(t, load, box, &tile, l->chunk, err));
    l->base = data;
    memcpy(l->stride, tile.stride, (size_t)vm->ndim * sizeof(int64_t));
    return CUBED_OK;
}

static void open_memory(const cb_vm *vm, vm_load *l, const cb_box *box)
{
    const cb_node *n = &vm->task->plan->ir.nodes[l->load->node];
    int64_t strides[CUBED_MAX_NDIM], shape[CUBED_MAX_NDIM];
    l->base = n->kind == CB_NODE_MEMORY ? n->data : n->result;
    cb_node_shape(n, shape);
    if (n->kind == CB_NODE_MEMORY)
        memcpy(strides, n->strides, (size_t)n->grid.ndim * sizeof *strides);
    else
        cb_dense_strides(n->grid.ndim, shape, l->size, strides);
    for (int d = 0; d < n->grid.ndim; d++) {
        int j = l->load->map->dim[d].axis;
        int64_t x = l->load->map->dim[d].offset;
        if (j >= 0) {
            x += l->load->map->dim[d].stride * box->lo[j];
            l->stride[j] = l->load->map->dim[d].stride * strides[d];
        }
        l->base += x * strides[d];
    }
}

static cubed_status open_load(cb_vm *vm, int v, const cb_box *box, const cb_view *folds,
                              cubed_error *err)
{
    vm_load *l = &vm->loads[v];
    memset(l, 0, sizeof *l);
    l->load = &vm->branch->loads[v];
    l->size = cubed_dtype_size(l->load->dtype);
    l->reg = load_register(vm, v);
    switch (l->load->kind) {
    case CB_LOAD_STORED: return open_stored(vm, l, box, err);
    case CB_LOAD_MEMORY: open_memory(vm, l, box); return CUBED_OK;
    case CB_LOAD_FOLD:
        l->base = folds[l->load->fold].base;
        memcpy(l->stride, folds[l->load->fold].stride, (size_t)vm->ndim * sizeof(int64_t));
        return CUBED_OK;
    case CB_LOAD_INDEX:
        l->how = LOAD_INDEX;
        l->index_at = l->load->start;
        for (int j = 0; j < vm->ndim; j++) l->index_at += l->load->step[j] * box->lo[j];
        return CUBED_OK;
    case CB_LOAD_BLOCKS:
        l->how = LOAD_BLOCKS;
        for (int d = 0; d < l->load->map->ndim_out; d++) {
            int j = l->load->map->dim[d].axis;
            l->box_idx[d] = l->load->map->dim[d].offset;
            if (j >= 0) l->box_idx[d] += l->load->map->dim[d].stride * box->lo[j];
        }
        return CUBED_OK;
    default:
        l->how = LOAD_CONST;
        vm->task->kernels->splat(l->reg, &l->load->value, l->size, CB_VECTOR);
        vm->value[v] = l->reg;
        return CUBED_OK;
    }
}

/* Whether a buffer is one contiguous run over the axes from `inner`. */
static bool is_run(const cb_vm *vm, const int64_t *stride, size_t size, int inner)
{
    int64_t s = (int64_t)size;
    for (int d = vm->ndim - 1; d >= inner; d--) {
        if (vm->extent[d] != 1 && stride[d] != s) return false;
        s *= vm->extent[d];
    }
    return true;
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

/* The longest run over which everything is contiguous or uniform; runs shorter than a few cache
 * lines are not worth their overhead, then vectors go across them and are gathered. */
static int choose_inner(const cb_vm *vm)
{
    int inner = vm->ndim;
    int64_t run = 1;
    while (inner > 0) {
        bool fits = true;
        for (int v = 0; v < vm->branch->nloads && fits; v++) {
            const vm_load *l = &vm->loads[v];
            fits = !has_strides(l) || is_run(vm, l->stride, l->size, inner - 1) ||
                   is_uniform(vm, l->stride, inner - 1);
        }
        for (int r = 0; r < vm->prog->nresults && fits; r++)
            fits = is_run(vm, vm->outs[r].stride, cubed_dtype_size(vm->prog->types[r]), inner - 1);
        if (!fits) break;
        run *= vm->extent[--inner];
    }
    return run >= 32 ? inner : 0;
}

static void resolve_instrs(cb_vm *vm)
{
    const cb_kernels *k = vm->task->kernels;
    const cb_branch *b = vm->branch;
    for (int i = 0; i < b->ninstrs; i++) {
        const cb_instr *in = &b->instrs[i];
        vm_instr *x = &vm->instrs[i];
        memset(x, 0, sizeof *x);
        if (in->kind == CB_INSTR_CAST)
            x->cast = cb_kernel_cast(k, (cubed_dtype)in->dtype, (cubed_dtype)in->to);
        else
            x->elem = in->kind == CB_INSTR_SUPER ? k->super_fn[in->op][in->dtype]
                                                 : k->elem[in->op][in->dtype];
        /* Places that the operation does not have repeat the first operand. */
        for (int a = 0; a < 3; a++) x->arg[a] = in->arg[a < in->nargs ? a : 0];
        x->dst = vm->regs + (size_t)in->reg * vm->prog->reg_size;
        vm->value[b->nloads + i] = x->dst;
    }
    for (int r = vm->outs ? vm->prog->nresults - 1 : -1; r >= 0; r--) {
        if (b->results[r] >= b->nloads)
            vm->instrs[b->results[r] - b->nloads].to_out = (uint16_t)(r + 1);
    }
}

cubed_status cb_vm_open(const cb_task *t, const cb_program *prog, const cb_branch *branch,
                        const cb_box *box, const cb_view *folds, const cb_view *outs, int inner,
                        cb_vm **out, cubed_error *err)
{
    void *p;
    size_t nloads = (size_t)branch->nloads, ninstrs = (size_t)branch->ninstrs;
    /* The machine itself takes the place of the spare load that the projection counts. */
    _Static_assert(sizeof(cb_vm) <= CB_VM_LOAD_BYTES, "cb_vm");
    CB_TRY(cb_arena_alloc(t->arena, (nloads + 1) * CB_VM_LOAD_BYTES, "loads", &p, err));
    cb_vm *vm = p;
    memset(vm, 0, sizeof *vm);
    vm->loads = (vm_load *)((char *)p + CB_VM_LOAD_BYTES);
    CB_TRY(cb_arena_alloc(t->arena, (ninstrs + 1) * CB_VM_INSTR_BYTES, "instructions", &p, err));
    vm->instrs = p;
    CB_TRY(cb_arena_alloc(t->arena, (nloads + ninstrs) * sizeof(void *), "values", &p, err));
    vm->value = p;
    CB_TRY(cb_arena_alloc(t->arena, (size_t)prog->nregs * prog->reg_size, "registers", &p, err));
    vm->regs = p;
    vm->task = t;
    vm->prog = prog;
    vm->branch = branch;
    vm->ndim = prog->ndim;
    vm->outs = outs;
    for (int d = 0; d < vm->ndim; d++) vm->extent[d] = box->hi[d] - box->lo[d];
    for (int v = 0; v < branch->nloads; v++) CB_TRY(open_load(vm, v, box, folds, err));
    resolve_instrs(vm);
    vm->inner = inner >= 0 ? inner : choose_inner(vm);
    vm->run = 1;
    for (int d = vm->inner; d < vm->ndim; d++) vm->run *= vm->extent[d];
    for (int v = 0; v < branch->nloads; v++) {
        vm_load *l = &vm->loads[v];
        if (!has_strides(l)) continue;
        l->how = is_run(vm, l->stride, l->size, vm->inner) ? LOAD_DIRECT
                 : is_uniform(vm, l->stride, vm->inner)    ? LOAD_UNIFORM
                                                           : LOAD_GATHER;
    }
    *out = vm;
    return CUBED_OK;
}

/* --- Running ----------------------------------------------------------------------------------------- */

int cb_vm_inner(const cb_vm *vm) { return vm->inner; }

int64_t cb_vm_run(const cb_vm *vm) { return vm->run; }

void cb_vm_seek(cb_vm *vm, const int64_t *idx)
{
    for (int v = 0; v < vm->branch->nloads; v++) {
        vm_load *l = &vm->loads[v];
        if (l->how == LOAD_CONST) continue;
        if (l->how == LOAD_INDEX) {
            l->index_row = l->index_at;
            for (int d = 0; d < vm->inner; d++) l->index_row += idx[d] * l->load->step[d];
            continue;
        }
        if (l->how == LOAD_BLOCKS) {
            for (int d = 0; d < l->load->map->ndim_out; d++) {
                int j = l->load->map->dim[d].axis;
                l->row_idx[d] = l->box_idx[d];
                if (j >= 0 && j < vm->inner) l->row_idx[d] += l->load->map->dim[d].stride * idx[j];
            }
            continue;
        }
        l->at = l->base;
        for (int d = 0; d < vm->inner; d++) l->at += idx[d] * l->stride[d];
        if (l->how == LOAD_UNIFORM) {
            vm->task->kernels->splat(l->reg, l->at, l->size, CB_VECTOR);
            vm->value[v] = l->reg;
        }
    }
}

/* Position p of the run as positions on the inner axes. */
static void unravel(const cb_vm *vm, int64_t p, int64_t *idx)
{
    for (int d = vm->ndim - 1; d >= vm->inner; d--) {
        idx[d] = p % vm->extent[d];
        p /= vm->extent[d];
    }
}

/* The next row of the innermost axis; carries into the axes before it. */
static void next_row(const cb_vm *vm, int64_t *idx)
{
    int d = vm->ndim - 1;
    idx[d] = 0;
    for (d--; d >= vm->inner; d--) {
        if (++idx[d] < vm->extent[d]) return;
        idx[d] = 0;
    }
}

static void gather(cb_vm *vm, const vm_load *l, int64_t p, size_t n)
{
    int64_t idx[CUBED_MAX_NDIM];
    int last = vm->ndim - 1;
    char *to = l->reg;
    unravel(vm, p, idx);
    while (n > 0) {
        size_t piece = cb_min_size(n, (size_t)(vm->extent[last] - idx[last]));
        const char *from = l->at;
        for (int d = vm->inner; d < vm->ndim; d++) from += idx[d] * l->stride[d];
        if (l->stride[last] == 0)
            vm->task->kernels->splat(to, from, l->size, piece);
        else
            vm->task->kernels->gather(to, from, l->stride[last], l->size, piece);
        to += piece * l->size;
        n -= piece;
        next_row(vm, idx);
    }
}

static void make_index(cb_vm *vm, const vm_load *l, int64_t p, size_t n)
{
    int64_t idx[CUBED_MAX_NDIM], *to = l->reg;
    int last = vm->ndim - 1;
    if (last < vm->inner) {
        vm->task->kernels->index(to, l->index_row, 0, n);
        return;
    }
    unravel(vm, p, idx);
    while (n > 0) {
        size_t piece = cb_min_size(n, (size_t)(vm->extent[last] - idx[last]));
        int64_t at = l->index_row;
        for (int d = vm->inner; d < vm->ndim; d++) at += idx[d] * l->load->step[d];
        vm->task->kernels->index(to, at, l->load->step[last], piece);
        to += piece;
        n -= piece;
        next_row(vm, idx);
    }
}

/* The block index of element x, how it grows with steps of `s` on axis `moving` (-1: none), and for
 * how many elements it does so: to the edge of the chunk. */
static int64_t block_index(const cb_grid *g, const int64_t *x, int moving, int64_t s, int64_t *step,
                           int64_t *length)
{
    int64_t block = 0, nblocks = 1, at = 0, volume = 1;
    *step = 0;
    *length = INT64_MAX;
    for (int d = g->ndim - 1; d >= 0; d--) {
        const cb_axis *a = &g->axis[d];
        int64_t k = cb_axis_find(a, x[d]), lo = cb_axis_lo(a, k), hi = cb_axis_hi(a, k);
        if (d == moving) {
            *step = s * volume;
            *length = s > 0 ? cb_ceil_div(hi - x[d], s) : (x[d] - lo) / -s + 1;
        }
        block += k * nblocks;
        at += (x[d] - lo) * volume;
        nblocks *= cb_axis_count(a);
        volume *= hi - lo;
    }
    return block << 32 | at;
}

static void make_blocks(cb_vm *vm, const vm_load *l, int64_t p, size_t n)
{
    const cb_map *m = l->load->map;
    const cb_grid *g = &vm->task->plan->ir.nodes[l->load->node].grid;
    int64_t idx[CUBED_MAX_NDIM], x[CUBED_MAX_NDIM], *to = l->reg;
    int last = vm->ndim - 1, moving = -1;
    /* Strides of axes with one element may be anything. */
    for (int d = 0; d < m->ndim_out && last >= vm->inner; d++) {
        if (m->dim[d].axis == last && m->dim[d].stride != 0 && vm->extent[last] > 1) moving = d;
    }
    int64_t s = moving < 0 ? 0 : m->dim[moving].stride;
    unravel(vm, p, idx);
    while (n > 0) {
        size_t row = last < vm->inner ? n : cb_min_size(n, (size_t)(vm->extent[last] - idx[last]));
        n -= row;
        for (int d = 0; d < m->ndim_out; d++) {
            int j = m->dim[d].axis;
            x[d] = l->row_idx[d] + (j >= vm->inner ? m->dim[d].stride * idx[j] : 0);
        }
        while (row > 0) {
            int64_t step, length, first = block_index(g, x, moving, s, &step, &length);
            size_t piece = (size_t)cb_min_i64((int64_t)row, length);
            vm->task->kernels->index(to, first, step, piece);
            to += piece;
            row -= piece;
            if (moving >= 0) x[moving] += s * (int64_t)piece;
        }
        if (n > 0) next_row(vm, idx);
    }
}

static void prefetch(const char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(p + i);
}

void cb_vm_prefetch(const cb_vm *vm, const int64_t *idx, int64_t p)
{
    for (int v = 0; v < vm->branch->nloads; v++) {
        const vm_load *l = &vm->loads[v];
        if (l->how != LOAD_DIRECT) continue;
        const char *at = l->base + (size_t)p * l->size;
        for (int d = 0; d < vm->inner; d++) at += idx[d] * l->stride[d];
        prefetch(at, CB_VECTOR * l->size);
    }
}

static void bring_loads(cb_vm *vm, int64_t p, size_t n)
{
    for (int v = 0; v < vm->branch->nloads; v++) {
        const vm_load *l = &vm->loads[v];
        switch (l->how) {
        case LOAD_DIRECT:
            vm->value[v] = l->at + (size_t)p * l->size;
            /* The vector after this one; four or eight ahead were slower in bench/memory_bench.c. */
            prefetch(l->at + ((size_t)p + CB_VECTOR) * l->size, n * l->size);
            break;
        case LOAD_GATHER:
            gather(vm, l, p, n);
            vm->value[v] = l->reg;
            break;
        case LOAD_INDEX:
            make_index(vm, l, p, n);
            vm->value[v] = l->reg;
            break;
        case LOAD_BLOCKS:
            make_blocks(vm, l, p, n);
            vm->value[v] = l->reg;
            break;
        default: break;
        }
    }
}

/* `direct`: where the outputs of this vector are, or NULL to leave results in registers. */
static void execute(cb_vm *vm, size_t n, char *const *direct)
{
    int nloads = vm->branch->nloads;
    for (int i = 0; i < vm->branch->ninstrs; i++) {
        const vm_instr *x = &vm->instrs[i];
        void *dst = x->dst;
        if (direct && x->to_out) {
            dst = direct[x->to_out - 1];
            vm->value[nloads + i] = dst;
        }
        if (x->elem)
            x->elem(dst, vm->value[x->arg[0]], vm->value[x->arg[1]], vm->value[x->arg[2]], n);
        else
            x->cast(dst, vm->value[x->arg[0]], n);
    }
}

void cb_vm_vector(cb_vm *vm, int64_t p, size_t n)
{
    bring_loads(vm, p, n);
    execute(vm, n, NULL);
}

const void *cb_vm_result(const cb_vm *vm, int result)
{
    return vm->value[vm->branch->results[result]];
}

/* Puts a result that is in a register where it belongs. */
static void scatter(const cb_vm *vm, const cb_view *out, char *at, size_t size, int64_t p, size_t n,
                    const char *from)
{
    int64_t idx[CUBED_MAX_NDIM];
    int last = vm->ndim - 1;
    if (last < vm->inner) {
        memcpy(at, from, size);
        return;
    }
    unravel(vm, p, idx);
    while (n > 0) {
        size_t piece = cb_min_size(n, (size_t)(vm->extent[last] - idx[last]));
        char *to = at;
        for (int d = vm->inner; d < vm->ndim; d++) to += idx[d] * out->stride[d];
        int64_t shape = (int64_t)piece, dense = (int64_t)size;
        cb_copy_box(1, &shape, size, to, &out->stride[last], from, &dense);
        from += piece * size;
        n -= piece;
        next_row(vm, idx);
    }
}

/* Most results that are written in place of a register; more go through registers. */
enum { MAX_DIRECT = 16 };

static void store_run(cb_vm *vm, const int64_t *idx, bool stream)
{
    const cb_program *prog = vm->prog;
    char *at[MAX_DIRECT], *direct[MAX_DIRECT];
    bool runs = prog->nresults <= MAX_DIRECT;
    for (int r = 0; r < prog->nresults && runs; r++)
        runs = is_run(vm, vm->outs[r].stride, cubed_dtype_size(prog->types[r]), vm->inner);
    for (int r = 0; r < prog->nresults && runs; r++) {
        at[r] = vm->outs[r].base;
        for (int d = 0; d < vm->inner; d++) at[r] += idx[d] * vm->outs[r].stride[d];
    }
    for (int64_t p = 0; p < vm->run && !cb_task_cancelled(vm->task); p += CB_VECTOR) {
        size_t n = (size_t)cb_min_i64(CB_VECTOR, vm->run - p);
        bring_loads(vm, p, n);
        for (int r = 0; r < prog->nresults && runs; r++)
            direct[r] = at[r] + (size_t)p * cubed_dtype_size(prog->types[r]);
        execute(vm, n, runs && !stream ? direct : NULL);
        for (int r = 0; r < prog->nresults; r++) {
            const char *from = cb_vm_result(vm, r);
            size_t size = cubed_dtype_size(prog->types[r]);
            if (!runs) {
                char *base = vm->outs[r].base;
                for (int d = 0; d < vm->inner; d++) base += idx[d] * vm->outs[r].stride[d];
                scatter(vm, &vm->outs[r], base, size, p, n, from);
            } else if (stream) {
                vm->task->kernels->stream(direct[r], from, n * size);
            } else if (from != direct[r]) {
                memcpy(direct[r], from, n * size);
            }
        }
    }
}

cubed_status cb_task_check(const cb_task *t, cubed_error *err)
{
    return cb_task_cancelled(t) ? cb_fail(err, CUBED_E_CANCELLED, "interrupted") : CUBED_OK;
}

cubed_status cb_vm_store(cb_vm *vm, bool stream, cubed_error *err)
{
    cb_box outer = {.ndim = vm->inner};
    int64_t idx[CUBED_MAX_NDIM] = {0};
    if (vm->run == 0) return CUBED_OK;
    memcpy(outer.hi, vm->extent, sizeof outer.hi);
    do {
        cb_vm_seek(vm, idx);
        store_run(vm, idx, stream);
    } while (cb_odometer_next(&outer, idx) && !cb_task_cancelled(vm->task));
    if (stream) cb_stream_fence();
    return cb_task_check(vm->task, err);
}
