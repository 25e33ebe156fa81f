/* Evaluates a program that vm_open.c has prepared, vector by vector. */
#include <string.h>

#include "base/error.h"
#include "exec/vm/vm_state.h"

void cb_vm_seek(cb_vm *vm, const int64_t *idx)
{
    for (int v = 0; v < vm->branch->nloads; v++) {
        vm_load *l = &vm->loads[v];
        if (l->how == LOAD_CONST) continue;
        if (l->how == LOAD_INDEX) {
            l->index_row = l->index_at;
            for (int d = 0; d < vm->inner; d++)
                l->index_row = cb_load_advance(l->load, l->index_row, d, idx[d]);
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
        if (l->how == LOAD_PIECES) {
            l->piece.row = l->piece.origin;
            for (int d = 0; d < vm->inner; d++) l->piece.row += idx[d] * l->stride[d];
            continue;
        }
        l->at = l->base;
        for (int d = 0; d < vm->inner; d++) l->at += idx[d] * l->stride[d];
        if (l->how == LOAD_UNIFORM) {
            vm->task->kernels->splat(l->reg, l->at, l->size, (size_t)vm->prog->vector);
            vm->value[v] = l->reg;
        }
    }
}

/* Converts position p of the run to positions on the inner axes. */
static void unravel(const cb_vm *vm, int64_t p, int64_t *idx)
{
    for (int d = vm->ndim - 1; d >= vm->inner; d--) {
        idx[d] = p % vm->extent[d];
        p /= vm->extent[d];
    }
}

/* Advances `idx` to the next row of the run: sets the innermost index to 0, and increments the others in C order. */
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
        for (int d = vm->inner; d < vm->ndim; d++) at = cb_load_advance(l->load, at, d, idx[d]);
        vm->task->kernels->index(to, at, l->load->step[last], piece);
        to += piece;
        n -= piece;
        next_row(vm, idx);
    }
}

/* Returns the number of the chunk of element x (upper 32 bits) and the position of x in the chunk (lower 32 bits). *step:
 * increment of the position for steps of `s` on axis `moving` (-1: none). *length: number of elements for which the increment is
 * constant, up to the edge of the chunk. */
static int64_t chunk_position(const cb_grid *g, const int64_t *x, int moving, int64_t s,
                              int64_t *step, int64_t *length)
{
    int64_t chunk = 0, nchunks = 1, at = 0, volume = 1;
    *step = 0;
    *length = INT64_MAX;
    for (int d = g->ndim - 1; d >= 0; d--) {
        const cb_axis *a = &g->axis[d];
        int64_t k = cb_axis_find(a, x[d]), lo = cb_axis_lo(a, k), hi = cb_axis_hi(a, k);
        if (d == moving) {
            *step = s * volume;
            *length = s > 0 ? cb_ceil_div(hi - x[d], s) : (x[d] - lo) / -s + 1;
        }
        chunk += k * nchunks;
        at += (x[d] - lo) * volume;
        nchunks *= cb_axis_count(a);
        volume *= hi - lo;
    }
    return chunk << 32 | at;
}

static void make_chunk_positions(cb_vm *vm, const vm_load *l, int64_t p, size_t n)
{
    const cb_map *m = l->load->map;
    const cb_grid *g = vm->task->plan->ir.nodes[l->load->node].grid;
    int64_t idx[CUBED_MAX_NDIM], x[CUBED_MAX_NDIM], *to = l->reg;
    int last = vm->ndim - 1, moving = -1;
    /* Ignore axes with one element, because their strides are arbitrary. */
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
            int64_t step, length, first = chunk_position(g, x, moving, s, &step, &length);
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

/* Returns the distance in bytes by which prefetches of a load are ahead of the current vector. In bench/memory_bench.c,
 * shorter and longer distances were slower. It was also slower to prefetch whole vectors, or parts of a vector between the
 * operations. */
static size_t ahead(const vm_load *l)
{
    return (size_t)8 * CB_VECTOR + (size_t)CB_VECTOR / 2 * l->size;
}

static void bring_loads(cb_vm *vm, int64_t p, size_t n)
{
    for (int v = 0; v < vm->branch->nloads; v++) {
        const vm_load *l = &vm->loads[v];
        switch (l->how) {
        case LOAD_DIRECT:
            vm->value[v] = l->at + (size_t)p * l->size;
            if (!vm->paced && n <= CB_VECTOR)
                prefetch(l->at + (size_t)p * l->size + ahead(l), n * l->size);
            break;
        case LOAD_PIECES:
            vm->value[v] = l->piece.data + (l->piece.row + p * (int64_t)l->size - l->piece.lo);
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
            make_chunk_positions(vm, l, p, n);
            vm->value[v] = l->reg;
            break;
        default: break;
        }
    }
}

/* Returns true if the operation that computes a result writes it with instructions that bypass the processor's caches. */
static bool is_streamed(const vm_instr *x, const char *to, size_t bytes)
{
    return x->stream && (uintptr_t)to % CB_STREAM_LINE == 0 && bytes % CB_STREAM_LINE == 0;
}

/* PACE: an instruction that is as fast as memory prefetches each time it has computed this many bytes of its result. PACE_AHEAD:
 * distance of the prefetched bytes from the same elements of the next vector. The processor does not wait for such short
 * prefetches, and the memory stays busy during the computation. Sums of bench/memory_bench.c reach 0.93 of the limit, but 0.79
 * if all operands of a vector are prefetched before it. */
#define PACE       ((size_t)256)
#define PACE_AHEAD 1536

static void execute_paced(const cb_vm *vm, const vm_instr *x, size_t n)
{
    for (size_t i = 0; i < n; i += PACE / x->size) {
        const size_t part = cb_min_size(PACE / x->size, n - i), at = i * x->size;
        for (int v = 0; v < vm->branch->nloads; v++) {
            const vm_load *l = &vm->loads[v];
            if (l->how == LOAD_DIRECT)
                prefetch((const char *)vm->value[v] + (n + i) * l->size + PACE_AHEAD,
                         part * l->size);
        }
        x->elem((char *)x->dst + at, (const char *)vm->value[x->arg[0]] + at,
                (const char *)vm->value[x->arg[1]] + at, (const char *)vm->value[x->arg[2]] + at,
                part);
    }
}

/* Copies one field of n records to a contiguous array. */
static void get_field(const cb_kernels *k, const vm_instr *x, void *dst, const void *records,
                      size_t n)
{
    k->gather(dst, (const char *)records + x->offset, (int64_t)x->record, x->size, n);
    if (x->reversed) cb_reverse_units(dst, x->reversed, n * x->size / x->reversed);
}

/* Runs all instructions for n elements. `direct` has the outputs of this vector; NULL leaves results in registers. If `stream` is
 * set, results are written with stores that bypass the caches, or left in registers. */
static void execute(cb_vm *vm, size_t n, char *const *direct, bool stream)
{
    for (int i = 0; i < vm->ninstrs; i++) {
        const vm_instr *x = &vm->instrs[i];
        cb_elem_fn elem = x->elem;
        void *dst = x->dst;
        if (direct && x->to_out) {
            char *to = direct[x->to_out - 1];
            if (!stream) {
                dst = to;
            } else if (is_streamed(x, to, n * x->size)) {
                dst = to;
                elem = x->stream;
            }
            vm->value[x->value] = dst;
        }
        if (x == vm->paced)
            execute_paced(vm, x, n);
        else if (elem)
            elem(dst, vm->value[x->arg[0]], vm->value[x->arg[1]], vm->value[x->arg[2]], n);
        else if (x->record)
            get_field(vm->task->kernels, x, dst, vm->value[x->arg[0]], n);
        else
            x->cast(dst, vm->value[x->arg[0]], n);
    }
}

/* Loads the next piece to `to`. If no part of an earlier piece is needed (`carried` is false), may instead use a cached piece
 * in place. */
static cubed_status load_piece(const cb_vm *vm, vm_load *l, int64_t next, char *to, bool carried,
                               cubed_error *err)
{
    const cb_task *t = vm->task;
    const int64_t size = (int64_t)l->size, end = l->piece.row + vm->run * size;
    const cb_want_codec_block want = {.node = l->load->node,
                                      .idx = l->piece.idx,
                                      .at = (size_t)next,
                                      .run = {(uint64_t)l->piece.row, (size_t)(vm->run * size)},
                                      .buffer = to};
    cb_pinned_codec_block *b = &l->piece.block;
    cb_chunks_unpin_codec_block(t->chunks, b);
    CB_TRY(cb_chunks_want_codec_block(t->chunks, &want, t->arena, b, t->count, err));
    const int64_t first = (int64_t)b->bytes.offset, shift = carried ? 0 : first % size;
    int64_t bytes = (int64_t)b->bytes.size;
    if (first > next || first + bytes <= next || (carried && first < next)) {
        cb_chunks_unpin_codec_block(t->chunks, b);
        return cb_fail(err, CUBED_E_IO, "a chunk has been changed while it was read");
    }
    const char *at = carried || shift > 0 ? to + shift : b->data;
    if (at != b->data) {
        if (b->kept) bytes = cb_min_i64(bytes, end - first);
        memmove(to + shift, b->data, (size_t)bytes);
        cb_chunks_unpin_codec_block(t->chunks, b);
    }
    if (!carried) {
        l->piece.data = at;
        l->piece.lo = first;
    }
    l->piece.hi = first + bytes;
    return CUBED_OK;
}

/* Loads bytes lo..hi-1 of the chunk, at most one vector, into the buffer. Moves bytes that were loaded before to the memory
 * directly before the next piece, so that both are contiguous. */
static cubed_status bring_pieces(const cb_vm *vm, vm_load *l, int64_t lo, int64_t hi,
                                 cubed_error *err)
{
    while (lo < l->piece.lo || hi > l->piece.hi) {
        const bool carries = lo >= l->piece.lo && lo < l->piece.hi;
        const int64_t next = carries ? l->piece.hi : lo, left = next - lo;
        /* A piece may begin within an element. Byte number `next` of the chunk goes to an address with the same remainder
         * modulo the element size, so all elements are aligned. */
        char *to = (char *)l->chunk + CB_LONGEST_VECTOR * l->size + next % (int64_t)l->size;
        CB_TRY(cb_task_check(vm->task, err));
        if (left > 0) memmove(to - left, l->piece.data + (lo - l->piece.lo), (size_t)left);
        l->piece.data = to - left;
        l->piece.lo = l->piece.hi = lo;
        CB_TRY(load_piece(vm, l, next, to, carries, err));
    }
    return CUBED_OK;
}

void cb_vm_unpin(cb_vm *vm)
{
    for (int v = 0; v < vm->branch->nloads; v++) {
        vm_load *l = &vm->loads[v];
        if (l->how == LOAD_PIECES) cb_chunks_unpin_codec_block(vm->task->chunks, &l->piece.block);
    }
}

cubed_status cb_vm_bring(cb_vm *vm, int64_t p, int64_t step, int64_t *end, cubed_error *err)
{
    for (int v = 0; v < vm->branch->nloads; v++) {
        vm_load *l = &vm->loads[v];
        if (l->how != LOAD_PIECES) continue;
        const int64_t size = (int64_t)l->size, lo = l->piece.row + p * size;
        CB_TRY(bring_pieces(vm, l, lo, lo + cb_min_i64(step, *end - p) * size, err));
        const int64_t there = (l->piece.hi - lo) / size;
        if (there < *end - p) *end = p + there / step * step;
    }
    return CUBED_OK;
}

void cb_vm_vector(cb_vm *vm, int64_t p, size_t n)
{
    bring_loads(vm, p, n);
    execute(vm, n, NULL, false);
}

const void *cb_vm_result(const cb_vm *vm, int result, const void **factor)
{
    const cb_branch *b = vm->branch;
    const int v = b->results[result];
    *factor = NULL;
    if (v < b->nloads || vm->outs || b->instrs[v - b->nloads].kind != CB_INSTR_PRODUCT)
        return vm->value[v];
    *factor = vm->value[b->instrs[v - b->nloads].arg[1]];
    return vm->value[b->instrs[v - b->nloads].arg[0]];
}

_Static_assert(CB_LONGEST_VECTOR % CB_LANES == 0 && CB_STRETCH % CB_LONGEST_VECTOR == 0,
               "CB_LONGEST_VECTOR");

int64_t cb_vm_longest(const cb_vm *vm)
{
    for (int v = 0; v < vm->branch->nloads; v++) {
        if (vm->loads[v].how != LOAD_DIRECT && vm->loads[v].how != LOAD_PIECES) return CB_VECTOR;
    }
    return vm->ninstrs > 0 ? vm->prog->vector : (int64_t)CB_LONGEST_VECTOR;
}

/* Copies a result from a register to its output. */
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

/* Maximum number of results that instructions write directly to outputs. If there are more results, all go through registers. */
enum { MAX_DIRECT = 16 };

/* Returns the length of the first vector for which the second vector begins at a cache line. */
static size_t first_aligned(const char *to, size_t size)
{
    const size_t off = (uintptr_t)to % CB_STREAM_LINE;
    return off % size == 0 && CB_STREAM_LINE % size == 0 ? CB_VECTOR - off / size : CB_VECTOR;
}

static void store_run(cb_vm *vm, const int64_t *idx, bool stream)
{
    const cb_program *prog = vm->prog;
    char *at[MAX_DIRECT], *direct[MAX_DIRECT];
    bool runs = prog->nresults <= MAX_DIRECT;
    for (int r = 0; r < prog->nresults && runs; r++)
        runs = cb_vm_is_run(vm, vm->outs[r].stride, cubed_dtype_size(prog->types[r]), vm->inner);
    for (int r = 0; r < prog->nresults && runs; r++) {
        at[r] = vm->outs[r].base;
        for (int d = 0; d < vm->inner; d++) at[r] += idx[d] * vm->outs[r].stride[d];
    }
    size_t n = runs && stream ? first_aligned(at[0], cubed_dtype_size(prog->types[0])) : CB_VECTOR;
    for (int64_t p = 0; p < vm->run && !cb_task_cancelled(vm->task);
         p += (int64_t)n, n = CB_VECTOR) {
        n = cb_min_size(n, (size_t)(vm->run - p));
        bring_loads(vm, p, n);
        for (int r = 0; r < prog->nresults && runs; r++)
            direct[r] = at[r] + (size_t)p * cubed_dtype_size(prog->types[r]);
        execute(vm, n, runs ? direct : NULL, stream);
        for (int r = 0; r < prog->nresults; r++) {
            const char *from = vm->value[vm->branch->results[r]];
            size_t size = cubed_dtype_size(prog->types[r]);
            if (!runs) {
                char *base = vm->outs[r].base;
                for (int d = 0; d < vm->inner; d++) base += idx[d] * vm->outs[r].stride[d];
                scatter(vm, &vm->outs[r], base, size, p, n, from);
            } else if (from == direct[r]) {
                continue;
            } else if (stream) {
                vm->task->kernels->stream(direct[r], from, n * size);
            } else {
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
    cb_box outer;
    int64_t idx[CUBED_MAX_NDIM];
    if (vm->run == 0) return CUBED_OK;
    outer.ndim = vm->inner;
    for (int d = 0; d < vm->inner; d++) {
        outer.lo[d] = idx[d] = 0;
        outer.hi[d] = vm->extent[d];
    }
    do {
        cb_vm_seek(vm, idx);
        store_run(vm, idx, stream);
    } while (cb_odometer_next(&outer, idx) && !cb_task_cancelled(vm->task));
    if (stream) cb_stream_fence();
    return cb_task_check(vm->task, err);
}
