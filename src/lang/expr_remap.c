/* Functions that bring a variable to another horizontal grid. They find the grid of the variable by its coordinates, which are
 * read while the expression is built, because weights depend on them. */
#include "lang/expr_remap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cubed/remap.h"
#include "lang/about.h"
#include "lang/axis_values.h"
#include "lang/expr_fields.h"
#include "lang/expr_json.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"

/* Latitudes, longitudes, and bounds of both, in degrees. */
enum { LAT, LON, NUMBERS = 4 };

/* The call, and the numbers of the grid of its variable. */
typedef struct remap_call {
    expr_builder *b;
    const expr *e, *at; /* `at`: the target */
    const char *target, *file;
    cubed_remap_method method;
    int64_t neighbours;
    cubed_remap_options options;
    expr_grid found;
    double *number[NUMBERS]; /* NULL: no bounds */
    int64_t n[NUMBERS];
    cubed_grid *from, *to;
    cubed_weights *weights;
} remap_call;

/* Weights of the last call, which variables of the same grid share. */
struct expr_weights {
    char *target;
    cubed_remap_method method;
    int64_t neighbours, shape[2];
    bool regular;
    double *number[NUMBERS];
    int64_t n[NUMBERS];
    cubed_weights *weights;
};

void expr_weights_free(expr_weights *w)
{
    if (!w) return;
    for (int i = 0; i < NUMBERS; i++) lang_free(w->number[i]);
    cubed_weights_unref(w->weights);
    expr_text_free(w->target);
    lang_free(w);
}

static void call_free(remap_call *c)
{
    for (int i = 0; i < NUMBERS; i++) lang_free(c->number[i]);
    cubed_grid_free(c->from);
    cubed_grid_free(c->to);
    cubed_weights_unref(c->weights);
    expr_grid_free(&c->found);
}

/* --- Methods ------------------------------------------------------------------------------------------ */

typedef struct named_method {
    const char *name, *of_cdo; /* the second after "remap" and "gen" */
    cubed_remap_method method;
} named_method;

static const named_method methods[] = {
    {"bilinear", "bil", CUBED_REMAP_BILINEAR}, {"nearest", "nn", CUBED_REMAP_NEAREST},
    {"distance", "dis", CUBED_REMAP_DISTANCE}, {"conservative", "con", CUBED_REMAP_CONSERVATIVE},
    {"bicubic", "bic", CUBED_REMAP_BICUBIC},   {"conservative2", "con2", CUBED_REMAP_CONSERVATIVE2},
    {"largest", "laf", CUBED_REMAP_LARGEST},
};

static cubed_status find_method(remap_call *c, const expr *given)
{
    const bool of_cdo = strncmp(c->e->text, "remap", strlen("remap")) == 0;
    const char *own = of_cdo ? c->e->text + strlen("remap") : "";
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const char *name = *own ? methods[i].of_cdo : methods[i].name;
        if (given && given->kind != EXPR_STRING) break;
        if (strcmp(name, *own ? own : given ? given->text : "bilinear") != 0) continue;
        c->method = methods[i].method;
        return CUBED_OK;
    }
    return expr_reject(c->b, given ? given : c->e,
                       "expected method=\"bilinear\", \"nearest\", \"distance\", "
                       "\"conservative\", \"bicubic\", \"conservative2\" or \"largest\"");
}

/* --- The source --------------------------------------------------------------------------------------- */

/* Reads the elements of array y as float64. */
static cubed_status read_numbers(expr_builder *b, const expr *e, cubed_array *y, double **out,
                                 int64_t *n)
{
    cubed_array *wide = NULL;
    *n = 1;
    for (int d = 0; d < cubed_array_ndim(y); d++) {
        if (__builtin_mul_overflow(*n, cubed_array_shape(y)[d], n) || *n > AXIS_VALUES_MAX)
            return expr_reject(b, e, "a coordinate or weights with more than 16777216 elements");
    }
    EXPR_TRY(expr_alloc(b, e, *n + 1, sizeof **out, out));
    cubed_status st = cubed_astype(y, CUBED_FLOAT64, &wide, b->err);
    if (st == CUBED_OK) st = expr_compute(b, wide, *out);
    cubed_array_unref(wide);
    return expr_located(b, e, st);
}

/* Returns whether bounds have the extents of their coordinate, and one more. */
static bool has_bounds(const cubed_array *y, const cubed_array *bounds)
{
    const int ndim = cubed_array_ndim(y);
    bool same = bounds && cubed_array_ndim(bounds) == ndim + 1;
    for (int d = 0; d < ndim && same; d++)
        same = cubed_array_shape(bounds)[d] == cubed_array_shape(y)[d];
    return same;
}

static bool have_same_dims(const cubed_array *x, const cubed_array *y)
{
    bool same = cubed_array_ndim(x) == cubed_array_ndim(y);
    for (int d = 0; d < cubed_array_ndim(x) && same; d++)
        same = strcmp(cubed_array_dim_name(x, d), cubed_array_dim_name(y, d)) == 0;
    return same;
}

/* Makes the grid of the variable, and puts its dimensions to the end of the variable. */
static cubed_status read_source(remap_call *c)
{
    cubed_array *const *y = c->found.coordinate, *const *bounds = c->found.bounds, *moved;
    const int ndim = cubed_array_ndim(c->found.x), n = cubed_array_ndim(y[LAT]);
    const bool regular = c->found.axes[LAT] != c->found.axes[LON];
    const bool bounded = has_bounds(y[LAT], bounds[LAT]) && has_bounds(y[LON], bounds[LON]) &&
                         cubed_array_shape(bounds[LAT])[n] == cubed_array_shape(bounds[LON])[n];
    cubed_grid_cells cells = CUBED_GRID_CELLS_INIT;
    int axes[CUBED_MAX_NDIM], outer = 0, inner;
    if (n > 2 || (regular && (n != 1 || cubed_array_ndim(y[LON]) != 1)) ||
        (!regular && !have_same_dims(y[LAT], y[LON])))
        return expr_fail(c->b->err, CUBED_E_ARG, c->b->text, c->e->at,
                         "%s: latitudes have %d dimensions and longitudes %d, expected axes, or "
                         "the same dimensions, one or two",
                         c->e->text, n, cubed_array_ndim(y[LON]));
    for (int i = 0; i < (bounded ? NUMBERS : 2); i++)
        EXPR_TRY(read_numbers(c->b, c->e, i < 2 ? y[i] : bounds[i - 2], &c->number[i], &c->n[i]));
    cells.regular = regular;
    cells.ndim = regular ? 2 : n;
    cells.shape[0] = cubed_array_shape(y[LAT])[0];
    cells.shape[1] = regular ? c->n[LON] : n == 2 ? cubed_array_shape(y[LAT])[1] : 1;
    cells.lat = c->number[LAT];
    cells.lon = c->number[LON];
    cells.corners = bounded ? (int)cubed_array_shape(bounds[LAT])[n] : 0;
    cells.lat_bounds = c->number[2];
    cells.lon_bounds = c->number[3];
    EXPR_TRY(expr_located(c->b, c->e, cubed_grid_new(c->b->ctx, &cells, &c->from, c->b->err)));
    for (int d = 0; d < ndim; d++) {
        if (!((c->found.axes[LAT] | c->found.axes[LON]) >> d & 1)) axes[outer++] = d;
    }
    inner = outer;
    for (int k = 0; k < (regular ? 2 : 1); k++) {
        for (int d = 0; d < cubed_array_ndim(y[k]); d++)
            axes[inner++] = lang_axis_named(c->found.x, cubed_array_dim_name(y[k], d));
    }
    EXPR_TRY(expr_located(c->b, c->e, cubed_permute_dims(c->found.x, axes, &moved, c->b->err)));
    cubed_array_unref(c->found.x);
    c->found.x = moved;
    return CUBED_OK;
}

/* --- Weights ------------------------------------------------------------------------------------------ */

static bool is_kept(const remap_call *c, const expr_weights *w, const int64_t shape[2])
{
    bool same = w && strcmp(w->target, c->target) == 0 && w->method == c->method &&
                w->neighbours == c->neighbours && memcmp(w->shape, shape, sizeof w->shape) == 0 &&
                w->regular == (c->found.axes[LAT] != c->found.axes[LON]);
    for (int i = 0; i < NUMBERS && same; i++)
        same = w->n[i] == c->n[i] &&
               (c->n[i] == 0 ||
                memcmp(w->number[i], c->number[i], (size_t)c->n[i] * sizeof(double)) == 0);
    return same;
}

/* Makes weights, or takes those of the call before. Numbers of the source then belong to the kept weights. */
static cubed_status make_weights(remap_call *c)
{
    cubed_weights_options o = CUBED_WEIGHTS_OPTIONS_INIT;
    const int64_t *extent = cubed_array_shape(c->found.coordinate[LAT]);
    const int64_t shape[2] = {extent[0],
                              cubed_array_ndim(c->found.coordinate[LAT]) > 1 ? extent[1] : 0};
    expr_weights *w = c->b->weights;
    uint64_t held = 0;
    if (is_kept(c, w, shape)) {
        c->weights = cubed_weights_ref(w->weights);
        return CUBED_OK;
    }
    for (int i = 0; i < NUMBERS; i++) held += (uint64_t)c->n[i] * sizeof(double);
    o.method = c->method;
    o.neighbours = (int)c->neighbours;
    o.memory = c->b->host->task_mem;
    if (o.memory) o.memory = o.memory > held ? o.memory - held : 1;
    EXPR_TRY(expr_located(
        c->b, c->e, cubed_weights_new(c->b->ctx, c->from, c->to, &o, &c->weights, c->b->err)));
    expr_weights_free(w);
    c->b->weights = NULL;
    EXPR_TRY(expr_alloc(c->b, c->e, 1, sizeof *w, &w));
    *w = (expr_weights){.target = expr_text(c->b, "%s", c->target),
                        .method = c->method,
                        .neighbours = c->neighbours,
                        .shape = {shape[0], shape[1]},
                        .regular = c->found.axes[LAT] != c->found.axes[LON],
                        .weights = cubed_weights_ref(c->weights)};
    for (int i = 0; i < NUMBERS; i++) {
        w->number[i] = c->number[i];
        w->n[i] = c->n[i];
        c->number[i] = NULL;
    }
    c->b->weights = w;
    return CUBED_OK;
}

/* Opens array `name` of the file of weights. *out is NULL if there is none. */
static cubed_status open_of_file(const remap_call *c, const char *name, cubed_array **out)
{
    *out = NULL;
    if (!c->b->host->coordinate) return CUBED_OK;
    char *place = expr_text(c->b, "%s::%s", c->file, name);
    const cubed_status st = c->b->host->coordinate(c->b->host->ctx, place, out, c->b->err);
    expr_text_free(place);
    return expr_located(c->b, c->at, st);
}

/* Reads one list of links by either name. *out is NULL if there is none. */
static cubed_status read_links(const remap_call *c, const char *name, const char *other,
                               double **out, int64_t *n)
{
    cubed_array *y;
    EXPR_TRY(open_of_file(c, name, &y));
    if (!y) EXPR_TRY(open_of_file(c, other, &y));
    if (!y) return CUBED_OK;
    const int ndim = cubed_array_ndim(y);
    cubed_status st = CUBED_OK;
    if (ndim > 2 || (ndim == 2 && cubed_array_shape(y)[1] != 1))
        st = expr_fail(c->b->err, CUBED_E_UNSUPPORTED, c->b->text, c->at->at,
                       "%s: links have several weights, which multiply gradients, expected one: "
                       "make weights of another method",
                       c->file);
    if (st == CUBED_OK) st = read_numbers(c->b, c->at, y, out, n);
    cubed_array_unref(y);
    return st;
}

/* Fails if the file says another shape of a grid. */
static cubed_status check_dims(const remap_call *c, const char *name, const int64_t shape[2],
                               int ndim)
{
    cubed_array *y;
    double *said = NULL;
    int64_t n = 0, cells = 1;
    EXPR_TRY(open_of_file(c, name, &y));
    if (!y) return CUBED_OK;
    cubed_status st = read_numbers(c->b, c->at, y, &said, &n);
    cubed_array_unref(y);
    for (int64_t i = 0; i < n && st == CUBED_OK; i++) {
        if (!(said[i] >= 0 && said[i] <= INT32_MAX) ||
            __builtin_mul_overflow(cells, (int64_t)said[i], &cells))
            st = expr_fail(c->b->err, CUBED_E_FORMAT, c->b->text, c->at->at,
                           "%s: %s has %g, expected numbers of cells along axes", c->file, name,
                           said[i]);
    }
    bool same = cells == shape[0] * shape[1];
    for (int64_t i = 0; i < n && n == ndim && st == CUBED_OK; i++)
        same = same && (int64_t)said[i] == shape[ndim - 1 - i];
    if (st == CUBED_OK && !same)
        st =
            expr_fail(c->b->err, CUBED_E_ARG, c->b->text, c->at->at,
                      "%s: %s is %" PRId64 " cells (%" PRId64 " along x), but the grid has %" PRId64
                      " cells (%" PRId64 " along x): these weights are for other grids",
                      c->file, name, cells, n > 0 ? (int64_t)said[0] : 0, shape[0] * shape[1],
                      shape[ndim - 1]);
    lang_free(said);
    return st;
}

static cubed_status check_memory(const remap_call *c, int64_t n)
{
    enum { BYTES_OF_LINK = 3 * 8 + 2 * 8 + 8 + 12 }; /* as read; as integers; order; kept */
    const uint64_t need = (uint64_t)n * BYTES_OF_LINK, allowed = c->b->host->task_mem;
    if (!allowed || need <= allowed) return CUBED_OK;
    return expr_fail(c->b->err, CUBED_E_BUDGET, c->b->text, c->at->at,
                     "%s: %" PRId64 " weights need %" PRIu64 " bytes, but a task may use %" PRIu64
                     ": use more --allowed-mem",
                     c->file, n, need, allowed);
}

/* Reads weights of a file of CDO (SCRIP) or of ESMF and xESMF. */
static cubed_status read_weights(remap_call *c)
{
    double *list[3] = {NULL, NULL, NULL};
    static const char *const names[3][2] = {
        {"dst_address", "row"}, {"src_address", "col"}, {"remap_matrix", "S"}};
    int64_t n[3] = {0, 0, 0}, *place[2] = {NULL, NULL};
    cubed_grid_cells from = CUBED_GRID_CELLS_INIT, to = CUBED_GRID_CELLS_INIT;
    EXPR_TRY(expr_located(c->b, c->e, cubed_grid_get(c->from, &from, c->b->err)));
    EXPR_TRY(expr_located(c->b, c->e, cubed_grid_get(c->to, &to, c->b->err)));
    const cubed_weights_shape shape = {.source_ndim = from.ndim,
                                       .target_ndim = to.ndim,
                                       .source = {from.shape[0], from.ndim > 1 ? from.shape[1] : 1},
                                       .target = {to.shape[0], to.ndim > 1 ? to.shape[1] : 1}};
    cubed_status st = check_dims(c, "src_grid_dims", shape.source, shape.source_ndim);
    if (st == CUBED_OK) st = check_dims(c, "dst_grid_dims", shape.target, shape.target_ndim);
    for (int i = 0; i < 3 && st == CUBED_OK; i++) {
        st = read_links(c, names[i][0], names[i][1], &list[i], &n[i]);
        if (st == CUBED_OK && (!list[i] || n[i] != n[0]))
            st = expr_fail(c->b->err, CUBED_E_ARG, c->b->text, c->at->at,
                           "%s: there are no links, expected as many elements of src_address, "
                           "dst_address and remap_matrix (CDO, SCRIP), or of row, col and S (ESMF, "
                           "xESMF)",
                           c->file);
        if (st == CUBED_OK && i == 0) st = check_memory(c, n[0]);
    }
    for (int k = 0; k < 2 && st == CUBED_OK; k++) {
        st = expr_alloc(c->b, c->at, n[0] + 1, sizeof **place, &place[k]);
        for (int64_t i = 0; i < n[0] && st == CUBED_OK; i++)
            place[k][i] = list[k][i] > 0 && list[k][i] < 1e15 ? (int64_t)list[k][i] - 1 : -1;
    }
    if (st == CUBED_OK)
        st = expr_located(c->b, c->at,
                          cubed_weights_from_links(c->b->ctx, &shape, n[0], place[0], place[1],
                                                   list[2], &c->weights, c->b->err));
    c->options.largest = c->method == CUBED_REMAP_LARGEST;
    if (st == CUBED_OK && c->method == CUBED_REMAP_NEAREST)
        st = expr_located(c->b, c->at, cubed_weights_set_nearest(c->weights, c->b->err));
    for (int i = 0; i < 3; i++) lang_free(list[i]);
    for (int k = 0; k < 2; k++) lang_free(place[k]);
    return st;
}

/* --- The result --------------------------------------------------------------------------------------- */

/* Records a coordinate of the result: degrees of an axis of the target, with bounds. */
static cubed_status note_axis(remap_call *c, int k, const char *dim, const double *degrees,
                              const double *bounds, int64_t n)
{
    static const char *const standard[] = {"latitude", "longitude"};
    static const char *const units[] = {"degrees_north", "degrees_east"};
    const int64_t shape[2] = {n, 2};
    const char *const names[2] = {dim, "bnds"};
    cubed_expr_coord made = {.whole = n, .part = {0, n, 1, false}};
    double *own = NULL, *own_bounds = NULL;
    EXPR_TRY(expr_alloc(c->b, c->e, n, sizeof *own, &own));
    memcpy(own, degrees, (size_t)n * sizeof *own);
    json_t *attrs = expr_json_object(c->b);
    expr_json_put_text(c->b, attrs, "standard_name", "%s", standard[k]);
    expr_json_put_text(c->b, attrs, "units", "%s", units[k]);
    expr_json_put_text(c->b, attrs, "axis", "%s", k == LAT ? "Y" : "X");
    if (bounds) expr_json_put_text(c->b, attrs, "bounds", "%s_bnds", dim);
    cubed_status st =
        expr_own_described(c->b, c->e, CUBED_FLOAT64, 1, shape, names, attrs, own, &made.made);
    json_decref(attrs);
    if (st == CUBED_OK && bounds) {
        st = expr_alloc(c->b, c->e, 2 * n, sizeof *own, &own_bounds);
        if (st == CUBED_OK) {
            memcpy(own_bounds, bounds, 2 * (size_t)n * sizeof *own);
            st = expr_own_described(c->b, c->e, CUBED_FLOAT64, 2, shape, names, NULL, own_bounds,
                                    &made.bounds);
        }
    }
    if (st != CUBED_OK) {
        expr_coord_free(&made);
        return st;
    }
    made.dim = expr_text(c->b, "%s", dim);
    made.key = expr_text(c->b, "remap:%d:%s", k, c->target);
    expr_about_note(c->b, c->e, made);
    return CUBED_OK;
}

static cubed_status name_result(remap_call *c, int outer, cubed_array **out)
{
    static const char *const grid_names[] = {"lat", "lon"};
    const char *names[CUBED_MAX_NDIM];
    cubed_grid_cells to = CUBED_GRID_CELLS_INIT;
    cubed_array *named;
    EXPR_TRY(expr_located(c->b, c->e, cubed_grid_get(c->to, &to, c->b->err)));
    for (int d = 0; d < outer; d++) {
        names[d] = cubed_array_dim_name(c->found.x, d);
        for (int k = 0; k < 2; k++) {
            if (names[d] && strcmp(names[d], grid_names[k]) == 0)
                return expr_fail(c->b->err, CUBED_E_ARG, c->b->text, c->e->at,
                                 "%s: the variable has another dimension \"%s\", which the "
                                 "result's grid needs",
                                 c->e->text, names[d]);
        }
    }
    for (int k = 0; k < 2; k++) {
        names[outer + k] = grid_names[k];
        EXPR_TRY(note_axis(c, k, grid_names[k], k ? to.lon : to.lat,
                           to.corners ? (k ? to.lon_bounds : to.lat_bounds) : NULL, to.shape[k]));
    }
    const cubed_status st = cubed_array_with_dim_names(*out, names, &named, c->b->err);
    cubed_array_unref(*out);
    *out = st == CUBED_OK ? named : NULL;
    return expr_located(c->b, c->e, st);
}

/* --- Files of weights --------------------------------------------------------------------------------- */

/* Arrays of a file of weights, as CDO (SCRIP) has them, and after them ESMF's and xESMF's names of links. */
typedef enum weights_part {
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
    WEIGHTS_PARTS
} weights_part;

static const struct {
    const char *name, *dims[2];
    bool is_int;
} parts[WEIGHTS_PARTS] = {
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

/* Sets element i of a part that has one for each cell, or for each dimension. */
static double number_of(weights_part what, const cubed_grid_cells *g, int64_t i)
{
    switch (what) {
    case SRC_DIMS:
    case DST_DIMS: return (double)g->shape[g->ndim - 1 - i];
    case SRC_LAT:
    case DST_LAT: return centre_of(g, true, i);
    case SRC_LON:
    case DST_LON: return centre_of(g, false, i);
    default: return 1; /* masks */
    }
}

static void fill_links(weights_part what, const cubed_weights *w, double *to)
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

/* Makes an array of a file of weights. */
static cubed_status make_part(remap_call *c, weights_part what, cubed_array **out)
{
    const bool of_source = what == SRC_DIMS || what == SRC_LAT || what == SRC_LON ||
                           what == SRC_MASK || what == SRC_FRAC;
    const bool of_links = what >= SRC_ADDRESS;
    cubed_grid_cells g = CUBED_GRID_CELLS_INIT;
    cubed_array *wide = NULL;
    double *data = NULL;
    EXPR_TRY(expr_located(c->b, c->e, cubed_grid_get(of_source ? c->from : c->to, &g, c->b->err)));
    const int64_t n = of_links           ? cubed_weights_get(c->weights, NULL, NULL, NULL, NULL)
                      : what <= DST_DIMS ? g.ndim
                                         : cells_of(&g);
    const int64_t shape[2] = {n, 1};
    if (of_links && n == 0)
        return expr_reject(c->b, c->e, "no cell of the new grid has a value: there are no weights");
    EXPR_TRY(expr_alloc(c->b, c->e, n + 1, sizeof *data, &data));
    if (of_links || what == SRC_FRAC || what == DST_FRAC)
        fill_links(what, c->weights, data);
    else
        for (int64_t i = 0; i < n; i++) data[i] = number_of(what, &g, i);
    cubed_status st = expr_own_described(c->b, c->e, CUBED_FLOAT64, parts[what].dims[1] ? 2 : 1,
                                         shape, parts[what].dims, NULL, data, &wide);
    if (st != CUBED_OK) return st;
    if (!parts[what].is_int) {
        *out = wide;
        return CUBED_OK;
    }
    st = expr_located(c->b, c->e, cubed_astype(wide, CUBED_INT32, out, c->b->err));
    cubed_array_unref(wide);
    return st;
}

static cubed_status find_part(const remap_call *c, weights_part *what)
{
    const expr *given = expr_keyword(c->e, "part");
    for (int i = 0; i < WEIGHTS_PARTS && given && given->kind == EXPR_STRING; i++) {
        *what = (weights_part)i;
        if (strcmp(parts[i].name, given->text) == 0) return CUBED_OK;
    }
    return expr_reject(c->b, given ? given : c->e,
                       "expected part= and the name of an array of a file of weights, such as "
                       "\"remap_matrix\"");
}

/* --- The call ----------------------------------------------------------------------------------------- */

static cubed_status parse_target(remap_call *c)
{
    cubed_grid_cells to = CUBED_GRID_CELLS_INIT;
    EXPR_TRY(expr_located(c->b, c->at, cubed_grid_parse(c->b->ctx, c->target, &c->to, c->b->err)));
    EXPR_TRY(expr_located(c->b, c->at, cubed_grid_get(c->to, &to, c->b->err)));
    if (to.regular) return CUBED_OK;
    return expr_fail(c->b->err, CUBED_E_UNSUPPORTED, c->b->text, c->at->at,
                     "%s: the target is not regular, expected axes of latitude and longitude: "
                     "cubed.remap in Python takes other grids",
                     c->e->text);
}

static bool is_part(const expr *e) { return strcmp(e->text, "weights_file") == 0; }

static cubed_status read_arguments(remap_call *c)
{
    static const char *const of_remap[] = {"target",       "method",     "weights", "skipna",
                                           "na_threshold", "neighbours", NULL};
    static const char *const of_part[] = {"target", "method", "neighbours", "part", NULL};
    const char *const *names = is_part(c->e) ? of_part : of_remap;
    const bool any_method = strcmp(c->e->text, "remap") == 0 || is_part(c->e);
    int n;
    expr_value v = {.array = NULL};
    EXPR_TRY(expr_check_args(c->b, c->e, 1, any_method ? 3 : 2, names, &n));
    const expr *target = n > 1 ? c->e->child[1] : expr_keyword(c->e, "target");
    const expr *method = n > 2 ? c->e->child[2] : expr_keyword(c->e, "method");
    const expr *neighbours = expr_keyword(c->e, "neighbours");
    const expr *threshold = expr_keyword(c->e, "na_threshold");
    const expr *weights = expr_keyword(c->e, "weights");
    if (!target || target->kind != EXPR_STRING)
        return expr_reject(c->b, target ? target : c->e,
                           "expected the new grid in quotes, such as \"r360x180\"");
    if (method && !any_method)
        return expr_reject(c->b, method, "the name of the function says the method already");
    if (weights && weights->kind != EXPR_STRING)
        return expr_reject(c->b, weights, "expected the name of a file of weights, in quotes");
    c->at = target;
    c->target = target->text;
    c->file = weights ? weights->text : NULL;
    EXPR_TRY(find_method(c, method));
    c->neighbours = 4;
    if (neighbours) EXPR_TRY(expr_get_int(c->b, neighbours, &c->neighbours));
    if (c->neighbours < 1 || c->neighbours > 64)
        return expr_reject(c->b, neighbours, "expected 1 to 64 neighbours");
    if (threshold) {
        EXPR_TRY(expr_get_number(c->b, threshold, &v));
        c->options.na_threshold = v.re;
    }
    return expr_get_bool(c->b, c->e, "skipna", &c->options.skipna);
}

/* Calls the function of the catalogue, which has lat= and lon=. */
static cubed_status call_with_axes(expr_builder *b, const expr *e, cubed_array **out)
{
    cubed_results results;
    EXPR_TRY(expr_call_function(b, e, cubed_function_find("remap"), &results));
    *out = results.arrays[0];
    results.arrays[0] = NULL;
    cubed_results_free(b->ctx, &results);
    return CUBED_OK;
}

static cubed_status call_remap(expr_builder *b, const expr *e, cubed_array **out)
{
    remap_call c = {.b = b, .e = e, .options = CUBED_REMAP_OPTIONS_INIT};
    weights_part part;
    if (strcmp(e->text, "remap") == 0 && (expr_keyword(e, "lat") || expr_keyword(e, "lon")))
        return call_with_axes(b, e, out);
    c.options.task_mem = b->host->task_mem;
    cubed_status st = read_arguments(&c);
    if (st == CUBED_OK) st = parse_target(&c);
    if (st == CUBED_OK) st = expr_grid_find(b, e, &c.found);
    if (st == CUBED_OK) st = read_source(&c);
    if (st == CUBED_OK) st = c.file ? read_weights(&c) : make_weights(&c);
    if (st == CUBED_OK && is_part(e)) {
        st = find_part(&c, &part);
        if (st == CUBED_OK) st = make_part(&c, part, out);
        call_free(&c);
        return st;
    }
    if (st == CUBED_OK)
        st = expr_located(b, e, cubed_remap(c.found.x, c.weights, &c.options, out, b->err));
    if (st == CUBED_OK) st = name_result(&c, cubed_array_ndim(*out) - 2, out);
    call_free(&c);
    return st;
}

#define REMAP(NAME, METHOD)                                                                        \
    {                                                                                              \
        .name = (NAME), .fn = call_remap, .usage = NAME "(x, target, ...)",                        \
        .summary = "The array on another horizontal grid, as CDO has it: remap(x, target, "        \
                   "\"" METHOD "\"). `cubed help remap` describes the other arguments."            \
    }

const expr_function expr_remap_functions[] = {
    {.name = "remap", .fn = call_remap},
    REMAP("remapbil", "bilinear"),
    REMAP("remapcon", "conservative"),
    REMAP("remapdis", "distance"),
    REMAP("remapnn", "nearest"),
    {.name = "weights_file",
     .fn = call_remap,
     .usage = "weights_file(x, target, method, ..., part=NAME)",
     .summary =
         "A variable of the file of weights of remap(x, target, method), in the form of CDO."},
    {.name = "remapbic", .fn = call_remap},
    {.name = "remapcon2", .fn = call_remap},
    {.name = "remaplaf", .fn = call_remap},
    {.name = NULL}};
