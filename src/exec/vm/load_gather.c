/* Loads that gather the elements of a box, chunk by chunk or through a reshape. */
#include <string.h>

#include "base/error.h"
#include "exec/vm/vm.h"

cubed_status cb_load_gather(const cb_task *t, const cb_load *load, const cb_box *box,
                            const cb_view *dst, void *buffer, cubed_error *err)
{
    const cb_grid *g = t->plan->ir.nodes[load->node].grid;
    int64_t idx[CUBED_MAX_NDIM];
    cb_box image, cover;
    if (load->reshape) return cb_load_reshaped(t, load, box, dst, buffer, err);
    cb_map_image(load->map, box, &image);
    cb_grid_cover(g, &image, &cover);
    memcpy(idx, cover.lo, sizeof idx);
    do {
        size_t mark = cb_arena_mark(t->arena);
        cb_pinned pinned;
        CB_TRY(cb_load_chunk(t, load, idx, &image, buffer, &pinned, err));
        cb_load_place(t, load, idx, &pinned, box, dst);
        cb_arena_release(t->arena, mark);
    } while (cb_odometer_next(&cover, idx));
    return CUBED_OK;
}
