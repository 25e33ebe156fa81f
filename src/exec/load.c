/* Bringing what a program reads next to it. */
#include <string.h>

#include "base/error.h"
#include "exec/vm.h"

void cb_load_preimage(int64_t offset, int64_t stride, int64_t first, int64_t last, int64_t *lo,
                      int64_t *hi)
{
    int64_t a, z;
    if (stride > 0) {
        a = cb_ceil_div(cb_max_i64(0, first - offset), stride);
        z = cb_ceil_div(cb_max_i64(0, last - offset), stride);
    } else {
        /* offset - |s| x < last  and  offset - |s| x >= first */
        a = offset < last ? 0 : (offset - last) / -stride + 1;
        z = offset < first ? 0 : (offset - first) / -stride + 1;
    }
    *lo = cb_max_i64(*lo, a);
    *hi = cb_min_i64(*hi, z);
}

/* Whether other blocks will read the chunk. */
static bool is_reused(const cb_load *load, const cb_box *chunk, const cb_box *image)
{
    bool cut = false;
    for (int d = 0; d < chunk->ndim; d++)
        cut = cut || chunk->lo[d] < image->lo[d] || chunk->hi[d] > image->hi[d];
    return load->reuse == CB_REUSE_ALL || (load->reuse == CB_REUSE_CUT && cut);
}

cubed_status cb_load_chunk(const cb_task *t, const cb_load *load, const int64_t *idx,
                           const cb_box *image, void *buffer, cb_pinned *out, cubed_error *err)
{
    cb_want want = {.node = load->node, .idx = idx, .mapped = true, .buffer = buffer};
    cb_box part;
    CB_TRY(cb_task_check(t, err));
    cb_grid_box(&t->plan->ir.nodes[load->node].grid, idx, &part);
    if (load->subread) {
        cb_box_intersect(&part, image, &part);
        want.part = &part;
    } else {
        want.reuse = is_reused(load, &part, image);
    }
    return cb_chunks_want(t->chunks, &want, t->arena, out, t->count, err);
}

void cb_load_place(const cb_task *t, const cb_load *load, const int64_t *idx, const cb_pinned *held,
                   const cb_box *box, const cb_view *dst)
{
    const cb_grid *g = &t->plan->ir.nodes[load->node].grid;
    cb_box part = *box, elements;
    const char *from = held->data;
    char *to = dst->base;
    int64_t shape[CUBED_MAX_NDIM], from_strides[CUBED_MAX_NDIM] = {0};
    bool used[CUBED_MAX_NDIM] = {false};
    cb_grid_box(g, idx, &elements);
    for (int d = 0; d < g->ndim; d++) {
        int j = load->map->dim[d].axis;
        int64_t offset = load->map->dim[d].offset, s = load->map->dim[d].stride;
        if (j >= 0) {
            cb_load_preimage(offset, s, elements.lo[d], elements.hi[d], &part.lo[j], &part.hi[j]);
            from_strides[j] = s * held->stride[d];
            used[j] = true;
            offset += s * part.lo[j];
        }
        from += (offset - held->lo[d]) * held->stride[d];
    }
    for (int j = 0; j < box->ndim; j++) {
        /* Axes that the load does not depend on are not multiplied: their tile stride is 0. */
        shape[j] = used[j] || dst->stride[j] != 0 ? part.hi[j] - part.lo[j] : 1;
        to += (part.lo[j] - box->lo[j]) * dst->stride[j];
    }
    cb_copy_box(box->ndim, shape, cubed_dtype_size(load->dtype), to, dst->stride, from,
                from_strides);
}

cubed_status cb_load_gather(const cb_task *t, const cb_load *load, const cb_box *box,
                            const cb_view *dst, void *buffer, cubed_error *err)
{
    const cb_grid *g = &t->plan->ir.nodes[load->node].grid;
    int64_t idx[CUBED_MAX_NDIM];
    cb_box image, cover;
    if (load->reshape) return cb_load_reshaped(t, load, box, dst, buffer, err);
    cb_map_image(load->map, box, &image);
    cb_grid_cover(g, &image, &cover);
    memcpy(idx, cover.lo, sizeof idx);
    do {
        size_t mark = cb_arena_mark(t->arena);
        cb_pinned held;
        CB_TRY(cb_load_chunk(t, load, idx, &image, buffer, &held, err));
        cb_load_place(t, load, idx, &held, box, dst);
        cb_arena_release(t->arena, mark);
    } while (cb_odometer_next(&cover, idx));
    return CUBED_OK;
}
