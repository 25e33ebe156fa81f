/* Loads the chunks that a program reads. */
#include <string.h>

#include "base/error.h"
#include "exec/plan/operator.h"
#include "exec/vm/vm.h"

/* Returns true if other blocks will read the chunk: always with CB_REUSE_ALL, and with CB_REUSE_CUT if the chunk extends beyond
 * the current block. */
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
    cb_grid_box(t->plan->ir.nodes[load->node].grid, idx, &part);
    if (load->subread) {
        cb_box_intersect(&part, image, &part);
        want.subread = &part;
    } else {
        want.reuse = is_reused(load, &part, image);
    }
    return cb_task_want(t, &want, out, err);
}

void cb_load_place(const cb_task *t, const cb_load *load, const int64_t *idx,
                   const cb_pinned *pinned, const cb_box *box, const cb_view *dst)
{
    cb_box part = *box, elements;
    int64_t seen[CUBED_MAX_NDIM] = {0};
    cb_grid_box(t->plan->ir.nodes[load->node].grid, idx, &elements);
    if (!cb_map_preimage(load->map, &elements, &part)) return;
    const int64_t at = cb_map_strides(load->map, pinned->lo, pinned->stride, part.lo, seen);
    cb_box_copy(&part, cubed_dtype_size(load->dtype), dst->base, box->lo, dst->stride,
                pinned->data + at, part.lo, seen);
}
