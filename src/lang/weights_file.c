/* Files of weights: reading links, and the arrays of a file (cubed/grid_files.h). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cubed/grid_files.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"

#define TRY(call)                                                                                  \
    do {                                                                                           \
        cubed_status status_ = (call);                                                             \
        if (status_ != CUBED_OK) return status_;                                                   \
    } while (0)

/* --- Methods ------------------------------------------------------------------------------------------ */

/* Names of methods, CDO's names after "remap" and "gen", and the titles by which CDO recognises how to read weights. Bicubic
 * weights have the title of bilinear ones, because CDO's own bicubic weights multiply gradients. */
static const struct {
    const char *name, *of_cdo, *title;
} methods[CUBED_REMAP_METHODS] = {
    [CUBED_REMAP_NEAREST] = {"nearest", "nn", "Nearest neighbor"},
    [CUBED_REMAP_BILINEAR] = {"bilinear", "bil", "Bilinear remapping"},
    [CUBED_REMAP_DISTANCE] = {"distance", "dis", "Distance weighted avg of nearest neighbors"},
    [CUBED_REMAP_CONSERVATIVE] = {"conservative", "con",
                                  "Conservative remapping using clipping on sphere"},
    [CUBED_REMAP_BICUBIC] = {"bicubic", "bic", "Bilinear remapping"},
    [CUBED_REMAP_CONSERVATIVE2] = {"conservative2", "con2",
                                   "Conservative remapping using clipping on sphere"},
    [CUBED_REMAP_LARGEST] = {"largest", "laf", "Largest area fraction"}};

static bool find_method(const char *name, bool is_of_cdo, cubed_remap_method *out)
{
    for (int i = 0; i < CUBED_REMAP_METHODS; i++) {
        if (strcmp(is_of_cdo ? methods[i].of_cdo : methods[i].name, name) != 0) continue;
        *out = (cubed_remap_method)i;
        return true;
    }
    return false;
}

bool cubed_remap_method_find(const char *name, cubed_remap_method *out)
{
    return find_method(name, false, out);
}

bool cubed_remap_method_of_cdo(const char *name, cubed_remap_method *out)
{
    return find_method(name, true, out);
}

const char *cubed_remap_method_name(cubed_remap_method method)
{
    return method < CUBED_REMAP_METHODS ? methods[method].name : NULL;
}

/* --- Reading ------------------------------------------------------------------------------------------ */

typedef struct reader {
    cubed_context *ctx;
    cubed_weights_input in;
    cubed_error *err;
} reader;

static cubed_status open_array(const reader *r, const char *name, cubed_array **out)
{
    *out = NULL;
    return r->in.find(r->in.ctx, name, out, r->err);
}

/* Reads one list of links, under either of two names. Sets *out to NULL if it does not exist. */
static cubed_status read_links(const reader *r, const char *const names[2], double **out,
                               int64_t *n)
{
    cubed_array *y;
    TRY(open_array(r, names[0], &y));
    if (!y) TRY(open_array(r, names[1], &y));
    if (!y) return CUBED_OK;
    const int ndim = cubed_array_ndim(y);
    cubed_status st = CUBED_OK;
    if (ndim == 2 && cubed_array_shape(y)[1] != 1)
        st = lang_fail(r->err, CUBED_E_UNSUPPORTED,
                       "%s: links have %" PRId64 " weights, which multiply gradients, expected 1: "
                       "use weights of another method",
                       r->in.name, cubed_array_shape(y)[1]);
    if (st == CUBED_OK) st = lang_read_numbers(r->ctx, y, r->in.memory, out, n, r->err);
    cubed_array_unref(y);
    return st;
}

static cubed_status check_extent(const reader *r, const char *name, double extent)
{
    if (extent >= 1 && extent <= INT32_MAX && extent == floor(extent)) return CUBED_OK;
    return lang_fail(r->err, CUBED_E_FORMAT, "%s: %s has %g, expected numbers of cells along axes",
                     r->in.name, name, extent);
}

/* Compares the shape of a grid with the shape in the file. If the caller does not know the shape, sets it to the one in the file.
 * The shape is in C order. */
static cubed_status take_shape(const reader *r, const char *name, int64_t shape[2], int *ndim)
{
    cubed_array *y;
    double *said = NULL;
    int64_t n = 0, cells = 1;
    TRY(open_array(r, name, &y));
    if (!y && *ndim > 0) return CUBED_OK;
    if (!y)
        return lang_fail(r->err, CUBED_E_ARG, "%s: there is no %s, expected the shape of the grid",
                         r->in.name, name);
    cubed_status st = lang_read_numbers(r->ctx, y, r->in.memory, &said, &n, r->err);
    cubed_array_unref(y);
    for (int64_t i = 0; i < n && st == CUBED_OK; i++) {
        st = check_extent(r, name, said[i]);
        if (st == CUBED_OK && __builtin_mul_overflow(cells, (int64_t)said[i], &cells))
            st = check_extent(r, name, HUGE_VAL);
    }
    if (st == CUBED_OK && *ndim == 0 && n != 1 && n != 2)
        st = lang_fail(r->err, CUBED_E_FORMAT, "%s: %s has %" PRId64 " dimensions, expected 1 or 2",
                       r->in.name, name, n);
    if (st == CUBED_OK && *ndim == 0) {
        *ndim = (int)n;
        for (int d = 0; d < n; d++) shape[d] = (int64_t)said[n - 1 - d];
        shape[1] = n > 1 ? shape[1] : 1;
    }
    const int64_t own = shape[0] * shape[1];
    bool same = cells == own;
    for (int64_t i = 0; i < n && n == *ndim && st == CUBED_OK; i++)
        same = same && (int64_t)said[i] == shape[*ndim - 1 - i];
    if (st == CUBED_OK && !same)
        st =
            lang_fail(r->err, CUBED_E_ARG,
                      "%s: %s is %" PRId64 " cells (%" PRId64 " along x), but the grid has %" PRId64
                      " cells (%" PRId64 " along x): these weights are for other grids",
                      r->in.name, name, cells, n > 0 ? (int64_t)said[0] : 0, own, shape[*ndim - 1]);
    lang_free(said);
    return st;
}

static cubed_status check_memory(const reader *r, int64_t n)
{
    /* bytes per link: three numbers as read, two as integers, a position for sorting, and the link in the result */
    enum { BYTES_OF_LINK = 3 * 8 + 2 * 8 + 8 + 12 };
    const uint64_t need = (uint64_t)n * BYTES_OF_LINK, allowed = r->in.memory;
    if (!allowed || need <= allowed) return CUBED_OK;
    return lang_fail(r->err, CUBED_E_BUDGET,
                     "%s: %" PRId64 " weights need %" PRIu64 " bytes, but a task may use %" PRIu64
                     ": allow more memory (--allowed-mem, Spec.allowed_mem)",
                     r->in.name, n, need, allowed);
}

cubed_status cubed_weights_read(cubed_context *ctx, const cubed_weights_input *input,
                                cubed_weights **out, cubed_error *err)
{
    static const char *const names[3][2] = {
        {"dst_address", "row"}, {"src_address", "col"}, {"remap_matrix", "S"}};
    reader r = {ctx, *input, err};
    double *list[3] = {NULL, NULL, NULL};
    int64_t n[3] = {0, 0, 0}, *place[2] = {NULL, NULL};
    cubed_weights_shape *s = &r.in.shape;
    if (input->struct_size != sizeof *input || !input->find)
        return lang_fail(err, CUBED_E_ARG, "cubed_weights_read: struct_size is %zu, expected %zu",
                         input->struct_size, sizeof *input);
    cubed_status st = CUBED_OK;
    for (int i = 0; i < 3 && st == CUBED_OK; i++) {
        st = read_links(&r, names[i], &list[i], &n[i]);
        if (st == CUBED_OK && (!list[i] || n[i] != n[0]))
            st = lang_fail(err, CUBED_E_ARG,
                           "%s: there are no links, expected as many elements of src_address, "
                           "dst_address and remap_matrix (CDO, SCRIP), or of row, col and S (ESMF, "
                           "xESMF)",
                           r.in.name);
        if (st == CUBED_OK && i == 0) st = check_memory(&r, n[0]);
    }
    if (st == CUBED_OK) st = take_shape(&r, "src_grid_dims", s->source, &s->source_ndim);
    if (st == CUBED_OK) st = take_shape(&r, "dst_grid_dims", s->target, &s->target_ndim);
    for (int k = 0; k < 2 && st == CUBED_OK; k++) {
        place[k] = lang_alloc((size_t)(n[0] + 1) * sizeof **place);
        if (!place[k])
            st = lang_fail(err, CUBED_E_NOMEM, "out of memory: %" PRId64 " weights", n[0]);
        for (int64_t i = 0; i < n[0] && st == CUBED_OK; i++)
            place[k][i] = list[k][i] > 0 && list[k][i] < 1e15 ? (int64_t)list[k][i] - 1 : -1;
    }
    if (st == CUBED_OK)
        st = cubed_weights_from_links(ctx, s, n[0], place[0], place[1], list[2], out, err);
    for (int i = 0; i < 3; i++) lang_free(list[i]);
    for (int k = 0; k < 2; k++) lang_free(place[k]);
    return st;
}

/* --- Arrays of a file --------------------------------------------------------------------------------- */

/* Arrays of a file of weights in CDO's (SCRIP) layout, followed by the names that ESMF and xESMF give to the links. */
typedef enum part {
    SRC_DIMS,
    DST_DIMS,
    SRC_LAT,
    SRC_LON,
    DST_LAT,
    DST_LON,
    SRC_MASK,
    DST_MASK,
    SRC_FRAC,
    DST_FRAC,
    SRC_ADDRESS,
    DST_ADDRESS,
    MATRIX,
    COL,
    ROW,
    S,
} part;

static const struct {
    const char *name, *dims[2];
    bool is_int;
} parts[CUBED_WEIGHTS_ARRAYS] = {
    {"src_grid_dims", {"src_grid_rank", NULL}, true},
    {"dst_grid_dims", {"dst_grid_rank", NULL}, true},
    {"src_grid_center_lat", {"src_grid_size", NULL}, false},
    {"src_grid_center_lon", {"src_grid_size", NULL}, false},
    {"dst_grid_center_lat", {"dst_grid_size", NULL}, false},
    {"dst_grid_center_lon", {"dst_grid_size", NULL}, false},
    {"src_grid_imask", {"src_grid_size", NULL}, true},
    {"dst_grid_imask", {"dst_grid_size", NULL}, true},
    {"src_grid_frac", {"src_grid_size", NULL}, false},
    {"dst_grid_frac", {"dst_grid_size", NULL}, false},
    {"src_address", {"num_links", NULL}, true},
    {"dst_address", {"num_links", NULL}, true},
    {"remap_matrix", {"num_links", "num_wgts"}, false},
    {"col", {"n_s", NULL}, true},
    {"row", {"n_s", NULL}, true},
    {"S", {"n_s", NULL}, false},
};

const char *cubed_weights_array_name(int i)
{
    return i >= 0 && i < CUBED_WEIGHTS_ARRAYS ? parts[i].name : NULL;
}

static int64_t cells_of(const cubed_grid_cells *g)
{
    return g->ndim > 1 ? g->shape[0] * g->shape[1] : g->shape[0];
}

static double centre_of(const cubed_grid_cells *g, bool lat, int64_t i)
{
    const double degrees = g->regular ? (lat ? g->lat[i / g->shape[1]] : g->lon[i % g->shape[1]])
                                      : (lat ? g->lat[i] : g->lon[i]);
    return degrees * (3.14159265358979323846 / 180);
}

/* Returns element i of a part that has one element per cell or per dimension. */
static double number_of(part what, const cubed_grid_cells *g, int64_t i)
{
    switch (what) {
    case SRC_DIMS:
    case DST_DIMS: return (double)g->shape[g->ndim - 1 - i];
    case SRC_LAT:
    case DST_LAT: return centre_of(g, true, i);
    case SRC_LON:
    case DST_LON: return centre_of(g, false, i);
    default: return !g->mask || g->mask[i]; /* masks */
    }
}

static void fill_links(part what, const cubed_weights *w, double *to)
{
    const int64_t *starts;
    const int32_t *columns;
    const double *values;
    cubed_weights_shape shape;
    (void)cubed_weights_get(w, &shape, &starts, &columns, &values);
    const int64_t rows = shape.target[0] * shape.target[1];
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t k = starts[r]; k < starts[r + 1]; k++) {
            switch (what) {
            case SRC_FRAC: to[columns[k]] = 1; break;
            case DST_FRAC: to[r] += values[k]; break;
            case SRC_ADDRESS:
            case COL: to[k] = (double)columns[k] + 1; break;
            case DST_ADDRESS:
            case ROW: to[k] = (double)r + 1; break;
            default: to[k] = values[k]; break;
            }
        }
    }
}

static bool is_of_source(part what)
{
    return what == SRC_DIMS || what == SRC_LAT || what == SRC_LON || what == SRC_MASK ||
           what == SRC_FRAC;
}

/* Gets the cells of a grid. If the grid is NULL, gets only its shape. */
static cubed_status cells_or_shape(const cubed_grid *grid, int ndim, const int64_t shape[2],
                                   cubed_grid_cells *g, cubed_error *err)
{
    *g = (cubed_grid_cells)CUBED_GRID_CELLS_INIT;
    if (grid) return cubed_grid_get(grid, g, err);
    g->ndim = ndim;
    memcpy(g->shape, shape, sizeof g->shape);
    return CUBED_OK;
}

cubed_status cubed_weights_array(cubed_context *ctx, const cubed_weights *weights,
                                 const cubed_grid *source, const cubed_grid *target, int i,
                                 cubed_array **out, cubed_error *err)
{
    cubed_grid_cells g;
    cubed_array *wide = NULL;
    cubed_weights_shape s;
    *out = NULL;
    if (!cubed_weights_array_name(i))
        return lang_fail(err, CUBED_E_ARG, "cubed_weights_array: i is %d, expected 0 to %d", i,
                         CUBED_WEIGHTS_ARRAYS - 1);
    const part what = (part)i;
    const int64_t links = cubed_weights_get(weights, &s, NULL, NULL, NULL);
    const bool of_links = what >= SRC_ADDRESS, of_source = is_of_source(what);
    const bool is_angle = what >= SRC_LAT && what <= DST_LON;
    if (is_angle && !(of_source ? source : target)) return CUBED_OK;
    TRY(of_source ? cells_or_shape(source, s.source_ndim, s.source, &g, err)
                  : cells_or_shape(target, s.target_ndim, s.target, &g, err));
    const int64_t n = of_links ? links : what <= DST_DIMS ? g.ndim : cells_of(&g);
    const int64_t shape[2] = {n, 1};
    if (of_links && n == 0)
        return lang_fail(err, CUBED_E_ARG,
                         "no cell of the new grid has a value: there are no weights");
    double *data = lang_alloc((size_t)(n + 1) * sizeof *data);
    if (!data) return lang_fail(err, CUBED_E_NOMEM, "out of memory: %" PRId64 " numbers", n);
    if (of_links || what == SRC_FRAC || what == DST_FRAC)
        fill_links(what, weights, data);
    else
        for (int64_t k = 0; k < n; k++) data[k] = number_of(what, &g, k);
    TRY(lang_own_array(ctx, parts[i].dims[1] ? 2 : 1, shape, parts[i].dims,
                       is_angle ? "{\"units\": \"radians\"}" : NULL, data, &wide, err));
    if (!parts[i].is_int) {
        *out = wide;
        return CUBED_OK;
    }
    const cubed_status st = cubed_astype(wide, CUBED_INT32, out, err);
    cubed_array_unref(wide);
    return st;
}

/* Returns the type of a grid, by its name in CDO, or `usual` if the grid is not known. */
static const char *type_of(const cubed_grid *grid, const char *usual)
{
    cubed_grid_cells g = CUBED_GRID_CELLS_INIT;
    if (!grid || cubed_grid_get(grid, &g, NULL) != CUBED_OK) return usual;
    return g.regular ? "lonlat" : g.ndim > 1 ? "curvilinear" : "unstructured";
}

void cubed_weights_attrs(cubed_remap_method method, const cubed_grid *source,
                         const cubed_grid *target, char attrs[512])
{
    const bool areas = method == CUBED_REMAP_CONSERVATIVE || method == CUBED_REMAP_CONSERVATIVE2 ||
                       method == CUBED_REMAP_LARGEST;
    snprintf(attrs, 512,
             "{\"title\": \"Weights of cubed\", \"conventions\": \"SCRIP\", "
             "\"normalization\": \"%s\", \"map_method\": \"%s\", "
             "\"source_grid\": \"%s\", \"dest_grid\": \"%s\"}",
             areas ? "fracarea" : "none", method < CUBED_REMAP_METHODS ? methods[method].title : "",
             type_of(source, "curvilinear"), type_of(target, "lonlat"));
}
