/* Chooses the chunks of a result that is computed from several arrays. */

#include "base/error.h"
#include "ops/ops_pkg.h"

/* The properties of an array that decide whether the result gets its chunks along an axis. */
typedef struct say {
    bool real; /* the array is a source, or is computed chunk by chunk */
    int64_t size;
    uint8_t from;
} say;

static say say_of(const cubed_array *x, int axis)
{
    say s = {.from = x->chunks_from[axis]};
    s.real = s.from >= CB_CHUNKS_MEMORY;
    if (cb_count(x->node.grid->ndim, x->shape, &s.size)) s.size = INT64_MAX;
    return s;
}

static bool says_more(const say *a, const say *b)
{
    if (a->real != b->real) return a->real;
    if (!a->real && a->from != b->from) return a->from > b->from;
    return a->size != b->size ? a->size > b->size : a->from > b->from;
}

/* Chooses the chunk lengths of the axes in `loose`, for which no array determines them. */
static void choose_free_lengths(cb_grid *grid, uint32_t loose, int64_t item)
{
    int64_t left = CB_OP_CHUNK_BYTES / item;
    bool some = false;
    for (int d = 0; d < grid->ndim; d++) {
        const cb_axis *a = &grid->axis[d];
        if (loose >> d & 1 || a->extent <= 1) continue;
        left /= cb_min_i64(a->chunk, a->extent);
        some = true;
    }
    for (int d = grid->ndim - 1; some && d >= 0; d--) {
        cb_axis *a = &grid->axis[d];
        int64_t chunk = cb_max_i64(1, cb_min_i64(a->chunk, a->extent));
        if (!(loose >> d & 1)) continue;
        if (chunk > cb_max_i64(1, left)) *a = cb_axis_regular(a->extent, cb_max_i64(1, left));
        left /= chunk;
    }
}

cb_grid cb_op_broadcast_grid(cubed_array *const *args, int nargs, int ndim, const int64_t *shape,
                             cubed_dtype dtype)
{
    cb_grid grid = {.ndim = ndim};
    uint32_t loose = 0;
    for (int d = 0; d < ndim; d++) {
        say best = {.size = -1};
        grid.axis[d] = cb_axis_regular(shape[d], cb_max_i64(1, shape[d]));
        for (int i = 0; i < nargs; i++) {
            int lead = ndim - args[i]->node.grid->ndim;
            if (d < lead || args[i]->shape[d - lead] != shape[d]) continue;
            say mine = say_of(args[i], d - lead);
            if (!says_more(&mine, &best)) continue;
            best = mine;
            grid.axis[d] = args[i]->node.grid->axis[d - lead];
        }
        if (best.from == CB_CHUNKS_NONE) loose |= 1u << d;
    }
    choose_free_lengths(&grid, loose, (int64_t)cubed_dtype_size(dtype));
    return grid;
}

static int who_decides(cubed_array *const *args, int nargs, int axis)
{
    int first = 0;
    say best = say_of(args[0], axis);
    for (int i = 1; i < nargs; i++) {
        say mine = say_of(args[i], axis);
        if (!says_more(&mine, &best)) continue;
        best = mine;
        first = i;
    }
    return first;
}

static cubed_status concat_axis(cb_zone *zone, cubed_array *const *args, int nargs, int axis,
                                int64_t extent, cb_axis *out, cubed_error *err)
{
    const cubed_array *decides = args[who_decides(args, nargs, axis)], *only = NULL;
    int64_t longest = 1, before = 0, at = 0;
    int several = 0;
    for (int i = 0; i < nargs; at += args[i++]->shape[axis]) {
        const cubed_array *x = args[i];
        if (x->shape[axis] == 0 || x->chunks_from[axis] < decides->chunks_from[axis]) continue;
        longest = cb_max_i64(longest, cb_min_i64(x->chunks[axis], x->shape[axis]));
        only = x;
        before = at;
        several++;
    }
    if (several > 1) {
        *out = cb_axis_regular(extent, longest);
        return CUBED_OK;
    }
    if (!only) only = decides;
    return cb_axis_extend(zone, &only->node.grid->axis[axis], before,
                          extent - before - only->shape[axis], out, err);
}

cubed_status cb_op_concat_grid(cb_zone *zone, cubed_array *const *args, int nargs, int axis,
                               const int64_t *shape, cb_grid *out, cubed_error *err)
{
    *out = (cb_grid){.ndim = args[0]->node.grid->ndim};
    for (int d = 0; d < out->ndim; d++) {
        if (d == axis)
            CB_TRY(concat_axis(zone, args, nargs, d, shape[d], &out->axis[d], err));
        else
            out->axis[d] = args[who_decides(args, nargs, d)]->node.grid->axis[d];
    }
    return CUBED_OK;
}

void cb_op_repeated_axes(const cubed_array *x, int ndim, const int64_t *shape, cb_grid *grid)
{
    int lead = ndim - x->node.grid->ndim;
    int64_t repeated[CUBED_MAX_NDIM], chunks[CUBED_MAX_NDIM];
    int64_t elements = CB_AUTO_CHUNK_BYTES / (int64_t)cubed_dtype_size(x->node.dtype);
    for (int j = 0; j < ndim; j++) {
        bool kept = j >= lead && x->shape[j - lead] == shape[j];
        repeated[j] = kept ? 1 : shape[j];
        if (kept) elements /= cb_max_i64(1, cb_min_i64(x->chunks[j - lead], shape[j]));
    }
    cb_auto_chunks(ndim, repeated, 1, elements, chunks);
    for (int j = 0; j < ndim; j++) grid->axis[j] = cb_axis_regular(shape[j], chunks[j]);
}
