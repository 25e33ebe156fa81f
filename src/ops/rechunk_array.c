/* Creates arrays with other chunks, as copies. The planner decides which copies are stored. */
#include <inttypes.h>

#include "base/error.h"
#include "ops/ops_pkg.h"

/* Maximum number of chunks of an axis, because a list has an entry for each chunk. */
#define MAX_CHUNKS ((int64_t)1 << 20)

static cubed_status add_copy(cubed_array *x, const cb_grid *grid, cubed_array **out,
                             cubed_error *err)
{
    cb_node n = cb_graph_like(x, CB_NODE_COPY, x->node.dtype);
    n.attrs = x->node.attrs;
    n.grid = grid;
    cb_op_keep_fill(x, &n);
    return cb_graph_add(x->ctx, &n, &x, out, err);
}

cubed_status cubed_rechunk(cubed_array *x, const int64_t *chunks, cubed_array **out,
                           cubed_error *err)
{
    cb_grid grid;
    int64_t wanted[CUBED_MAX_NDIM] = {0};
    int ndim = x->node.grid->ndim;
    for (int d = 0; d < ndim; d++)
        wanted[d] = chunks[d] == CUBED_CHUNKS_KEPT ? x->chunks[d] : chunks[d];
    CB_TRY(cb_op_grid("rechunk", x->node.dtype, ndim, x->shape, wanted, &grid, err));
    for (int d = 0; d < ndim; d++) {
        if (chunks[d] == CUBED_CHUNKS_KEPT) grid.axis[d] = x->node.grid->axis[d];
    }
    return add_copy(x, &grid, out, err);
}

cubed_status cb_op_axis(const char *what, cb_zone *zone, int dim, int64_t extent,
                        const cubed_chunk_list *chunks, cb_axis *out, cubed_error *err)
{
    int64_t at = 0, n = chunks->n;
    if (n < 0 || n > MAX_CHUNKS)
        return cb_fail(err, CUBED_E_ARG,
                       "%s: %" PRId64 " chunks along axis %d, expected at most %" PRId64, what, n,
                       dim, MAX_CHUNKS);
    int64_t *starts = cb_zone_alloc(zone, ((size_t)n + 1) * sizeof *starts);
    if (!starts) return cb_fail(err, CUBED_E_NOMEM, "no memory for %" PRId64 " chunks", n);
    starts[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t length = chunks->lengths[i];
        if (length < 1 || length > extent - at)
            return cb_fail(err, CUBED_E_ARG,
                           "%s: chunk %" PRId64 " along axis %d has length %" PRId64
                           ", expected 1 to %" PRId64 ", the remainder of the axis",
                           what, i, dim, length, extent - at);
        starts[i + 1] = at += length;
    }
    if (at != extent)
        return cb_fail(err, CUBED_E_ARG,
                       "%s: the chunks along axis %d add up to %" PRId64 ", expected %" PRId64
                       ", the length of the axis",
                       what, dim, at, extent);
    *out = cb_axis_irregular(extent, starts, n);
    return CUBED_OK;
}

cubed_status cubed_rechunk_irregular(cubed_array *x, const cubed_chunk_list *axes,
                                     cubed_array **out, cubed_error *err)
{
    cb_grid grid = cb_grid_copy(x->node.grid);
    cb_zone *zone;
    cubed_status st = CUBED_OK;
    CB_TRY(cb_zone_new(&x->ctx->alloc, &zone, err));
    for (int d = 0; d < grid.ndim; d++) {
        if (axes[d].lengths)
            CB_GO(cb_op_axis("rechunk", zone, d, x->shape[d], &axes[d], &grid.axis[d], err));
    }
    CB_GO(add_copy(x, &grid, out, err));
out:
    cb_zone_free(zone);
    return st;
}
