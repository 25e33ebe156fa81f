/* Creates weights by the chosen method. */
#include "base/error.h"
#include "base/struct_size.h"
#include "grid/grid.h"

cubed_status cubed_weights_new(cubed_context *ctx, const cubed_grid *source,
                               const cubed_grid *target, const cubed_weights_options *options,
                               cubed_weights **out, cubed_error *err)
{
    cubed_weights_options o = CUBED_WEIGHTS_OPTIONS_INIT;
    cb_weights_builder b;
    CB_TRY(CB_OPTIONS_TAKE("cubed_weights_new", options, &o, err));
    const cubed_weights_shape shape = {.source_ndim = source->ndim,
                                       .target_ndim = target->ndim,
                                       .source = {source->shape[0], source->shape[1]},
                                       .target = {target->shape[0], target->shape[1]}};
    CB_TRY(cb_weights_begin(ctx, &shape, o.memory, &b, err));
    b.source_mask = source->mask;
    b.target_mask = target->mask;
    cubed_status st;
    switch (o.method) {
    case CUBED_REMAP_NEAREST:
    case CUBED_REMAP_DISTANCE: st = cb_weights_of_points(&b, source, target, &o, err); break;
    case CUBED_REMAP_BILINEAR: st = cb_weights_bilinear(&b, source, target, false, err); break;
    case CUBED_REMAP_BICUBIC: st = cb_weights_bilinear(&b, source, target, true, err); break;
    case CUBED_REMAP_CONSERVATIVE:
    case CUBED_REMAP_LARGEST: st = cb_weights_of_areas(&b, source, target, false, err); break;
    case CUBED_REMAP_CONSERVATIVE2: st = cb_weights_of_areas(&b, source, target, true, err); break;
    default:
        st = cb_fail(err, CUBED_E_ARG, "remap: unknown method number %d", (int)o.method);
        break;
    }
    if (st != CUBED_OK) {
        cubed_weights_unref(b.w);
        return st;
    }
    b.w->nearest = o.method == CUBED_REMAP_NEAREST;
    b.w->largest = o.method == CUBED_REMAP_LARGEST;
    cb_weights_finish(&b);
    *out = b.w;
    return CUBED_OK;
}
