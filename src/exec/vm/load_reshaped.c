/* Loads arrays through reshapes. Copies, from each chunk, the pieces that belong to a box of the new shape. */
#include <string.h>

#include "base/error.h"
#include "exec/vm/vm.h"

typedef struct pieces {
    const cb_map *map; /* map from indices in the old shape to indices of the stored array */
    cb_pinned pinned;
    char *base;
    size_t size;
} pieces;

static bool any(void *ctx, const cb_box *from, const int64_t *stride, int64_t at)
{
    (void)ctx;
    (void)from;
    (void)stride;
    (void)at;
    return true;
}

static bool copy_piece(void *ctx, const cb_box *from, const int64_t *stride, int64_t at)
{
    const pieces *p = ctx;
    int64_t seen[CUBED_MAX_NDIM] = {0};
    const int64_t first = cb_map_strides(p->map, p->pinned.lo, p->pinned.stride, from->lo, seen);
    cb_box_copy(from, p->size, p->base + at, from->lo, stride, p->pinned.data + first, from->lo,
                seen);
    return false;
}

cubed_status cb_load_reshaped(const cb_task *t, const cb_load *load, const cb_box *to,
                              const cb_view *dst, void *chunk, cubed_error *err)
{
    const cb_node *n = &t->plan->ir.nodes[load->reshape];
    const cb_grid *g = t->plan->ir.nodes[load->node].grid;
    int64_t idx[CUBED_MAX_NDIM];
    cb_box from, image, cover, elements;
    cb_reshape r;
    pieces p = {.map = n->map, .base = dst->base, .size = cubed_dtype_size(load->dtype)};
    cb_load_reshape(&t->plan->ir, load, &r);
    cb_reshape_image(&r, to, &from);
    cb_map_image(n->map, &from, &image);
    cb_grid_cover(g, &image, &cover);
    memcpy(idx, cover.lo, sizeof idx);
    do {
        cb_box part = from;
        cb_grid_box(g, idx, &elements);
        /* `cover` contains all chunks between the first and the last element. Skip chunks without elements of the box. */
        if (!cb_map_preimage(n->map, &elements, &part) ||
            !cb_reshape_pieces(&r, to, dst->stride, &part, any, NULL))
            continue;
        size_t mark = cb_arena_mark(t->arena);
        CB_TRY(cb_load_chunk(t, load, idx, &image, chunk, &p.pinned, err));
        (void)cb_reshape_pieces(&r, to, dst->stride, &part, copy_piece, &p);
        cb_arena_release(t->arena, mark);
    } while (cb_odometer_next(&cover, idx));
    return CUBED_OK;
}
