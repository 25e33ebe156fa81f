/* Weights of the nearest centres: one, or several by inverse distance (Shepard 1968). */
#include <math.h>

#include "base/error.h"
#include "grid/nearest.h"

enum { MOST_NEIGHBOURS = 64 };

/* Replaces the indices of items by indices of cells. Item i is the i-th cell that is not masked. `cells` is scratch memory for
 * one index per item. */
static void name_items(const cubed_grid *g, int32_t *cells, cb_space_index *index)
{
    int64_t n = 0;
    for (int64_t i = 0; i < g->n; i++) {
        if (g->mask[i]) cells[n++] = (int32_t)i;
    }
    for (int64_t i = 0; i < index->n; i++) index->order[i] = cells[index->order[i]];
}

cubed_status cb_centres_sort(cb_zone *zone, const cubed_grid *g, cb_space_index *out,
                             cubed_error *err)
{
    const cubed_allocator *a = cb_zone_allocator(zone);
    cb_space_box *boxes = cb_alloc(a, (size_t)g->n * sizeof *boxes);
    if (!boxes)
        return cb_fail(err, CUBED_E_NOMEM, "out of memory: centres of %lld cells", (long long)g->n);
    int64_t n = 0;
    for (int64_t i = 0; i < g->n; i++) {
        if (g->mask && !g->mask[i]) continue;
        const cb_vec v = cb_vec_of(cb_grid_lat(g, i), cb_grid_lon(g, i));
        boxes[n++] = (cb_space_box){{v.x, v.y, v.z}, {v.x, v.y, v.z}};
    }
    *out = (cb_space_index){.n = 0};
    cubed_status st = n > 0 ? cb_space_sort(zone, boxes, n, out, err) : CUBED_OK;
    if (st == CUBED_OK && n < g->n) name_items(g, (int32_t *)(void *)boxes, out);
    cb_free(a, boxes, (size_t)g->n * sizeof *boxes);
    return st;
}

cubed_status cb_weights_near(cb_weights_builder *b, const cb_space_index *centres, cb_vec at, int k,
                             bool along_earth, cubed_error *err)
{
    cb_space_near found[MOST_NEIGHBOURS];
    if (centres->n == 0) return CUBED_OK; /* all cells are masked */
    const int n = cb_space_nearest(centres, at, k, found);
    /* A centre less than a micrometre (on the earth) away gets the full weight. */
    if (n == 1 || (n > 1 && found[0].distance2 < 1e-26))
        return cb_weights_add(b, found[0].item, 1, err);
    for (int i = 0; i < n; i++) {
        const double d = sqrt(found[i].distance2);
        const double far = along_earth ? 2 * asin(fmin(1, d / 2)) : d;
        CB_TRY(cb_weights_add(b, found[i].item, 1 / far, err));
    }
    return CUBED_OK;
}

cubed_status cb_weights_of_points(cb_weights_builder *b, const cubed_grid *source,
                                  const cubed_grid *target, const cubed_weights_options *o,
                                  cubed_error *err)
{
    const bool nearest = o->method == CUBED_REMAP_NEAREST;
    const int k = nearest ? 1 : o->neighbours;
    cb_space_index centres;
    cb_zone *zone;
    if (k < 1 || k > MOST_NEIGHBOURS)
        return cb_fail(err, CUBED_E_ARG, "remap: neighbours is %d, expected 1 to %d", k,
                       MOST_NEIGHBOURS);
    CB_TRY(cb_zone_new(source->alloc, &zone, err));
    cubed_status st = CUBED_OK;
    CB_GO(cb_weights_hold_index(b, source->n, err));
    CB_GO(cb_centres_sort(zone, source, &centres, err));
    for (int64_t i = 0; i < target->n; i++) {
        const cb_vec at = cb_vec_of(cb_grid_lat(target, i), cb_grid_lon(target, i));
        CB_GO(cb_weights_near(b, &centres, at, k, false, err));
        cb_weights_end_row(b, true);
    }
out:
    cb_zone_free(zone);
    return st;
}
