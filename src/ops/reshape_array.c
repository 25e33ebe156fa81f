/* reshape and repeat. Views add and drop axes of extent 1. Any other reshape is a node that is evaluated by loads
 * (plan/reshape.h). Its chunks are chosen here, for each group of axes, so that each chunk consists of few chunks of the
 * input. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "ops/ops_pkg.h"
#include "plan/reshape.h"

static cubed_status add_reshape(cubed_array *x, const cb_grid *grid, const char *const *names,
                                cubed_array **out, cubed_error *err)
{
    cb_node n = {.kind = CB_NODE_RESHAPE,
                 .dtype = x->node.dtype,
                 .grid = grid,
                 .ninputs = 1,
                 .attrs = x->node.attrs};
    bool seen_through = (x->node.kind == CB_NODE_VIEW || x->node.kind == CB_NODE_RESHAPE) &&
                        cb_op_is_seen_through(x);
    cubed_array *in = seen_through ? x->in[0] : x;
    const cb_map identity = cb_map_identity(x->node.grid->ndim);
    n.map = seen_through ? x->node.map : &identity;
    n.from = seen_through && x->node.kind == CB_NODE_RESHAPE ? x->node.from : x->shape;
    cb_op_keep_fill(x, &n);
    n.dim_names = names;
    return cb_graph_add(x->ctx, &n, &in, out, err);
}

/* Sets chunks of `elements` elements for a group's last axes: whole axes from the last on, then part of one. */
static void fill_chunks(int n, const int64_t *extent, int64_t elements, int64_t *chunk)
{
    for (int d = n - 1; d >= 0; d--) {
        chunk[d] = cb_max_i64(1, cb_min_i64(elements, extent[d]));
        elements = elements < extent[d] ? 1 : elements / cb_max_i64(1, extent[d]);
    }
}

/* Multiplies extents. Returns INT64_MAX on overflow, because extents of empty arrays may have any product. */
static int64_t sticky_product(int64_t a, int64_t b)
{
    int64_t product;
    return cb_mul_i64(a, b, &product) ? INT64_MAX : product;
}

/* Returns the number of consecutive elements in C order that contain a chunk of a group's axes: the length of the chunk along the
 * first axis where it has more than one element, times the extents of all later axes. */
static int64_t reach(int n, const int64_t *extent, const int64_t *chunk)
{
    int64_t after = 1, most = 1;
    for (int d = n - 1; d >= 0; d--) {
        int64_t length = cb_min_i64(chunk[d], extent[d]);
        if (length > 1) most = sticky_product(length, after);
        after = sticky_product(after, extent[d]);
    }
    return most;
}

/* Returns the number of bytes of a chunk. */
static int64_t chunk_bytes(const cb_grid *g, cubed_dtype dtype)
{
    return sticky_product((int64_t)cubed_dtype_size(dtype), cb_grid_max_chunk(g));
}

/* Chooses the chunks of the result from `chunk`, the chunk shape of x. */
static void choose_grid(const cubed_array *x, const cb_reshape *r, const int64_t *chunk,
                        cb_grid *grid)
{
    grid->ndim = r->nto;
    for (int g = 0; g < r->ngroups; g++) {
        int i = r->group[g].from, j = r->group[g].to, n = r->group[g].nto;
        if (n == 1 && r->group[g].nfrom == 1 && chunk[i] == x->node.grid->axis[i].chunk) {
            grid->axis[j] = x->node.grid->axis[i];
            continue;
        }
        int64_t made[CUBED_MAX_NDIM];
        fill_chunks(n, r->to + j, reach(r->group[g].nfrom, r->from + i, chunk + i), made);
        for (int d = 0; d < n; d++) grid->axis[j + d] = cb_axis_regular(r->to[j + d], made[d]);
    }
}

/* Sets a chunk shape of x, no larger than the present one, whose chunks are intervals in C order. */
static void interval_chunks(const cubed_array *x, const cb_reshape *r, int64_t *chunk)
{
    for (int g = 0; g < r->ngroups; g++) {
        int i = r->group[g].from, n = r->group[g].nfrom;
        int64_t elements = 1;
        for (int d = i; d < i + n; d++)
            elements =
                sticky_product(elements, cb_max_i64(1, cb_min_i64(x->chunks[d], x->shape[d])));
        if (n > 1) fill_chunks(n, r->from + i, elements, chunk + i);
    }
}

static void keep_names(const cubed_array *x, const cb_reshape *r, const char **names)
{
    for (int g = 0; g < r->ngroups; g++) {
        if (r->group[g].nfrom == 1 && r->group[g].nto == 1)
            names[r->group[g].to] = x->node.dim_names[r->group[g].from];
    }
}

/* Adds a reshape node. Chunks of a group that are not contiguous are merged into whole rows. If that needs too much memory, x is
 * rechunked first. */
static cubed_status general(cubed_array *x, int ndim, const int64_t *shape, cubed_array **out,
                            cubed_error *err)
{
    cb_reshape r;
    cb_grid grid;
    const char *names[CUBED_MAX_NDIM] = {NULL};
    int64_t chunk[CUBED_MAX_NDIM];
    cb_reshape_make(&r, x->node.grid->ndim, x->shape, ndim, shape);
    keep_names(x, &r, names);
    for (int d = 0; d < x->node.grid->ndim; d++) chunk[d] = x->node.grid->axis[d].chunk;
    choose_grid(x, &r, chunk, &grid);
    int64_t before = chunk_bytes(x->node.grid, x->node.dtype);
    if (chunk_bytes(&grid, x->node.dtype) <= cb_max_i64(before, CB_OP_CHUNK_BYTES))
        return add_reshape(x, &grid, names, out, err);
    cubed_array *y;
    interval_chunks(x, &r, chunk);
    CB_TRY(cubed_rechunk(x, chunk, &y, err));
    choose_grid(y, &r, chunk, &grid);
    cubed_status st = add_reshape(y, &grid, names, out, err);
    cubed_array_unref(y);
    return st;
}

/* Returns true if the shapes differ only in axes of extent 1. Then sets the map from the result to x. */
static bool as_view(const cubed_array *x, int ndim, const int64_t *shape, cb_map *map,
                    cb_grid *grid, const char **names)
{
    int have = x->node.grid->ndim, j = 0;
    *map = (cb_map){.ndim_in = ndim, .ndim_out = have};
    grid->ndim = ndim;
    for (int d = 0; d < ndim; d++) grid->axis[d] = cb_axis_regular(shape[d], 1);
    for (int d = 0; d < have; d++) {
        map->dim[d].axis = -1;
        if (x->shape[d] == 1) continue;
        while (j < ndim && shape[j] == 1) j++;
        if (j == ndim || shape[j] != x->shape[d]) return false;
        map->dim[d].axis = j;
        map->dim[d].stride = 1;
        grid->axis[j] = x->node.grid->axis[d];
        names[j++] = x->node.dim_names[d];
    }
    while (j < ndim && shape[j] == 1) j++;
    return j == ndim;
}

/* Replaces an extent of -1 in `shape`. */
static cubed_status resolve(const cubed_array *x, int ndim, int64_t *shape, cubed_error *err)
{
    int64_t count = 1, known = 1;
    int open = -1;
    for (int d = 0; d < x->node.grid->ndim; d++) count = sticky_product(count, x->shape[d]);
    for (int d = 0; d < ndim; d++) {
        if (shape[d] == -1 && open < 0) {
            open = d;
        } else if (shape[d] < 0) {
            return cb_fail(err, CUBED_E_ARG,
                           "reshape: axis %d has extent %" PRId64
                           ", expected 0 or more, or -1 once",
                           d, shape[d]);
        } else if (cb_mul_i64(known, shape[d], &known)) {
            return cb_fail(err, CUBED_E_ARG, "reshape: the result has more than 2**63 elements");
        }
    }
    if (open >= 0 && known > 0 && count % known == 0) {
        shape[open] = count / known;
        return CUBED_OK;
    }
    if (open >= 0 || known != count)
        return cb_fail(err, CUBED_E_ARG, "reshape: %" PRId64 " elements cannot become %s%" PRId64,
                       count, open >= 0 ? "a multiple of " : "", known);
    return CUBED_OK;
}

cubed_status cubed_reshape(cubed_array *x, int ndim, const int64_t *shape, cubed_array **out,
                           cubed_error *err)
{
    int64_t to[CUBED_MAX_NDIM];
    cb_map map;
    cb_grid grid;
    const char *names[CUBED_MAX_NDIM] = {NULL};
    if (ndim < 0 || ndim > CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_ARG, "reshape: %d dimensions, expected 0 to %d", ndim,
                       CUBED_MAX_NDIM);
    if (ndim) memcpy(to, shape, (size_t)ndim * sizeof *shape);
    CB_TRY(resolve(x, ndim, to, err));
    CB_TRY(cb_check_shape("reshape", ndim, to, x->node.dtype, err));
    if (as_view(x, ndim, to, &map, &grid, names))
        return cb_op_view(x, &map, &grid, names, out, err);
    return general(x, ndim, to, out, err);
}

/* Inserts an axis of extent n after `axis`, and merges both axes. */
static cubed_status repeat_axis(cubed_array *x, int64_t n, int axis, cubed_array **out,
                                cubed_error *err)
{
    int ndim = x->node.grid->ndim;
    int64_t wide[CUBED_MAX_NDIM], shape[CUBED_MAX_NDIM], chunk = x->node.grid->axis[axis].chunk;
    cubed_array *expanded = NULL, *broad = NULL;
    cb_grid grid = cb_grid_copy(x->node.grid);
    cubed_status st = CUBED_OK;
    if (ndim == CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "repeat: x has %d dimensions, expected fewer",
                       ndim);
    for (int d = 0; d <= ndim; d++)
        wide[d] = d <= axis ? x->shape[d] : d == axis + 1 ? n : x->shape[d - 1];
    memcpy(shape, x->shape, sizeof shape);
    if (cb_mul_i64(shape[axis], n, &shape[axis]))
        return cb_fail(err, CUBED_E_ARG, "repeat: the result has more than 2**63 elements");
    CB_TRY(cb_check_shape("repeat", ndim, shape, x->node.dtype, err));
    /* Choose a chunk of the repeated axis that contains as many elements of x as a chunk of x does, unless it would be too
     * large. */
    int64_t bytes =
        chunk_bytes(&grid, x->node.dtype) / cb_max_i64(1, cb_min_i64(chunk, x->shape[axis]));
    int64_t most = cb_max_i64(chunk, CB_OP_CHUNK_BYTES / cb_max_i64(1, bytes));
    chunk = chunk <= most / n ? chunk * n : cb_max_i64(1, most >= n ? most / n * n : most);
    grid.axis[axis] = cb_axis_regular(shape[axis], chunk);
    CB_GO(cubed_expand_dims(x, axis + 1, &expanded, err));
    CB_GO(cubed_broadcast_to(expanded, ndim + 1, wide, &broad, err));
    CB_GO(add_reshape(broad, &grid, x->node.dim_names, out, err));
out:
    cubed_array_unref(expanded);
    cubed_array_unref(broad);
    return st;
}

cubed_status cubed_repeat(cubed_array *x, int64_t n, const int *axis, cubed_array **out,
                          cubed_error *err)
{
    static const int64_t flat_shape[1] = {-1};
    int ndim = x->node.grid->ndim, at = 0;
    uint32_t mask;
    cubed_array *y;
    if (n < 0)
        return cb_fail(err, CUBED_E_ARG, "repeat: repeats is %" PRId64 ", expected 0 or more", n);
    if (axis) {
        CB_TRY(cb_op_axes("repeat", ndim, axis, 1, &mask, err));
        at = *axis < 0 ? *axis + ndim : *axis;
        y = cubed_array_ref(x);
    } else {
        CB_TRY(cubed_reshape(x, 1, flat_shape, &y, err));
    }
    if (n == 1) {
        *out = y;
        return CUBED_OK;
    }
    cubed_status st;
    if (n == 0) {
        cubed_slice none[CUBED_MAX_NDIM];
        for (int d = 0; d < y->node.grid->ndim; d++)
            none[d] = (cubed_slice){0, d == at ? 0 : y->shape[d], 1, false};
        st = cubed_slice_array(y, none, out, err);
    } else {
        st = repeat_axis(y, n, at, out, err);
    }
    cubed_array_unref(y);
    return st;
}
