/* Functions that remap a variable to another horizontal grid. They find the variable's grid by its coordinates. Coordinates
 * are read when the expression is built, because weights depend on them. */
#include "lang/expr_remap.h"

#include <string.h>

#include "cubed/grid_files.h"
#include "cubed/remap.h"
#include "lang/about.h"
#include "lang/expr_fields.h"
#include "lang/expr_json.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"

/* Indices of arrays: latitudes, longitudes, bounds of latitudes, bounds of longitudes, in degrees. */
enum { LAT, LON, NUMBERS = 4 };

/* A remapping call, and the coordinates of the grid of its variable. */
typedef struct remap_call {
    expr_builder *b;
    const expr *e, *at; /* e: the call; at: its argument that names the target */
    const char *target, *file;
    cubed_remap_method method;
    int64_t neighbours;
    cubed_remap_options options;
    expr_grid found;
    /* elements of each array; NULL if there are no such bounds */
    double *number[NUMBERS];
    int64_t n[NUMBERS];
    cubed_grid *from, *to;
    /* names of the grid's variables in the target's file, if the target is a file */
    cubed_grid_names names;
    cubed_weights *weights;
} remap_call;

/* The weights of the last call, for reuse by variables on the same grid. */
struct expr_weights {
    char *target;
    cubed_remap_method method;
    int64_t neighbours, shape[2];
    bool regular;
    bool is_rotated;
    double pole[3]; /* north pole of the grid; set only if is_rotated */
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

static cubed_status find_method(remap_call *c, const expr *given)
{
    static const char prefix[] = "remap";
    const size_t n = strlen(prefix);
    const char *own = strncmp(c->e->text, prefix, n) == 0 ? c->e->text + n : "";
    const char *name = !given ? "bilinear" : given->kind == EXPR_STRING ? given->text : "";
    if (*own ? cubed_remap_method_of_cdo(own, &c->method)
             : cubed_remap_method_find(name, &c->method))
        return CUBED_OK;
    return expr_reject(c->b, given ? given : c->e,
                       "expected method=\"bilinear\", \"nearest\", \"distance\", "
                       "\"conservative\", \"bicubic\", \"conservative2\" or \"largest\"");
}

/* --- The source --------------------------------------------------------------------------------------- */

/* Reads the elements of array y as float64. */
static cubed_status read_numbers(expr_builder *b, const expr *e, cubed_array *y, double **out,
                                 int64_t *n)
{
    return expr_located(b, e, lang_read_numbers(b->ctx, y, b->host->task_mem, out, n, b->err));
}

/* Returns true if bounds have the extents of their coordinate and one more axis. */
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

/* Creates the source grid from the variable's coordinates, and moves the dimensions of the grid to the end of the variable. */
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
    const double *pole = c->found.is_rotated ? c->found.pole : NULL;
    EXPR_TRY(expr_located(c->b, c->e,
                          cubed_grid_new_rotated(c->b->ctx, &cells, pole, &c->from, c->b->err)));
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
                w->regular == (c->found.axes[LAT] != c->found.axes[LON]) &&
                w->is_rotated == c->found.is_rotated;
    for (int i = 0; i < 3 && same; i++) same = w->pole[i] == c->found.pole[i];
    for (int i = 0; i < NUMBERS && same; i++)
        same = w->n[i] == c->n[i] &&
               (c->n[i] == 0 ||
                memcmp(w->number[i], c->number[i], (size_t)c->n[i] * sizeof(double)) == 0);
    return same;
}

/* Creates weights, or reuses the weights of the last call. The stored weights take ownership of the source's coordinates. */
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
                        .is_rotated = c->found.is_rotated,
                        .weights = cubed_weights_ref(c->weights)};
    memcpy(w->pole, c->found.pole, sizeof w->pole);
    for (int i = 0; i < NUMBERS; i++) {
        w->number[i] = c->number[i];
        w->n[i] = c->n[i];
        c->number[i] = NULL;
    }
    c->b->weights = w;
    return CUBED_OK;
}

/* Opens array `name` in the file of weights. Sets *out to NULL if it does not exist. */
static cubed_status open_of_file(void *ctx, const char *name, cubed_array **out, cubed_error *err)
{
    const remap_call *c = ctx;
    *out = NULL;
    if (!c->b->host->coordinate) return CUBED_OK;
    char *place = expr_text(c->b, "%s::%s", c->file, name);
    const cubed_status st = c->b->host->coordinate(c->b->host->ctx, place, out, err);
    expr_text_free(place);
    return st;
}

/* Reads weights from a weights file of CDO (SCRIP), ESMF or xESMF. */
static cubed_status read_weights(remap_call *c)
{
    cubed_grid_cells from = CUBED_GRID_CELLS_INIT, to = CUBED_GRID_CELLS_INIT;
    cubed_weights_input in = CUBED_WEIGHTS_INPUT_INIT;
    EXPR_TRY(expr_located(c->b, c->e, cubed_grid_get(c->from, &from, c->b->err)));
    EXPR_TRY(expr_located(c->b, c->e, cubed_grid_get(c->to, &to, c->b->err)));
    in.name = c->file;
    in.find = open_of_file;
    in.ctx = c;
    in.memory = c->b->host->task_mem;
    in.shape = (cubed_weights_shape){.source_ndim = from.ndim,
                                     .target_ndim = to.ndim,
                                     .source = {from.shape[0], from.ndim > 1 ? from.shape[1] : 1},
                                     .target = {to.shape[0], to.ndim > 1 ? to.shape[1] : 1}};
    EXPR_TRY(expr_located(c->b, c->at, cubed_weights_read(c->b->ctx, &in, &c->weights, c->b->err)));
    c->options.largest = c->method == CUBED_REMAP_LARGEST;
    if (c->method != CUBED_REMAP_NEAREST) return CUBED_OK;
    return expr_located(c->b, c->at, cubed_weights_set_nearest(c->weights, c->b->err));
}

/* --- The result --------------------------------------------------------------------------------------- */

/* Names of the dimensions of the result's grid, and of its latitudes and longitudes. */
typedef struct described {
    const char *dims[2], *names[2];
} described;

/* Creates an array in degrees: latitudes (k is 0), longitudes (k is 1), or their bounds. */
static cubed_status make_degrees(remap_call *c, const described *d, int k, bool of_bounds,
                                 const cubed_grid_cells *to, cubed_array **out)
{
    static const char *const standard[] = {"latitude", "longitude"};
    static const char *const units[] = {"degrees_north", "degrees_east"};
    const double *from = of_bounds ? (k ? to->lon_bounds : to->lat_bounds) : k ? to->lon : to->lat;
    int64_t shape[3], n = 1;
    const char *dims[3];
    double *own = NULL;
    int ndim = 0;
    for (int i = to->regular ? k : 0; i < (to->regular ? k + 1 : to->ndim); i++) {
        dims[ndim] = d->dims[i];
        shape[ndim++] = to->shape[i];
    }
    if (of_bounds) {
        dims[ndim] = to->regular ? "bnds" : "nv";
        shape[ndim++] = to->corners;
    }
    for (int i = 0; i < ndim; i++) n *= shape[i];
    EXPR_TRY(expr_alloc(c->b, c->e, n, sizeof *own, &own));
    memcpy(own, from, (size_t)n * sizeof *own);
    json_t *attrs = of_bounds ? NULL : expr_json_object(c->b);
    if (attrs) {
        expr_json_put_text(c->b, attrs, "standard_name", "%s", standard[k]);
        expr_json_put_text(c->b, attrs, "units", "%s", units[k]);
        if (to->regular) expr_json_put_text(c->b, attrs, "axis", "%s", k == LAT ? "Y" : "X");
        if (to->corners) expr_json_put_text(c->b, attrs, "bounds", "%s_bnds", d->names[k]);
    }
    const expr_description degrees = {CUBED_FLOAT64, ndim, shape, dims, attrs};
    const cubed_status st = expr_own_described(c->b, c->e, &degrees, own, out);
    json_decref(attrs);
    return st;
}

/* Records the coordinate number k (0: latitudes, 1: longitudes) of the result, and its bounds. On a regular grid it is the
 * coordinate of an axis. On other grids it has one value per cell. */
static cubed_status note_coordinate(remap_call *c, const described *d, int k,
                                    const cubed_grid_cells *to)
{
    const int64_t n = to->regular ? to->shape[k] : to->shape[0];
    cubed_expr_coord made = {.whole = n, .part = {0, n, 1, false}};
    cubed_expr_coord bounds = made;
    cubed_status st = make_degrees(c, d, k, false, to, &made.made);
    if (st == CUBED_OK && to->corners)
        st = make_degrees(c, d, k, true, to, to->regular ? &made.bounds : &bounds.made);
    if (st != CUBED_OK) {
        expr_coord_free(&made);
        return st;
    }
    made.dim = expr_text(c->b, "%s", d->names[k]);
    made.key = expr_text(c->b, "remap:%d:%s", k, c->target);
    expr_about_note(c->b, c->e, made);
    if (!bounds.made) return CUBED_OK;
    bounds.dim = expr_text(c->b, "%s_bnds", d->names[k]);
    bounds.key = expr_text(c->b, "remap:%d:%s:bounds", k, c->target);
    expr_about_note(c->b, c->e, bounds);
    return CUBED_OK;
}

/* Names the dimensions of the result's grid. Uses the names in the target's file if possible. */
static described describe(const remap_call *c, const cubed_grid_cells *to)
{
    const cubed_grid_names *n = &c->names;
    if (to->regular) return (described){{"lat", "lon"}, {"lat", "lon"}};
    const bool is_named = *n->dim[0] && (to->ndim == 1 || *n->dim[1]) &&
                          strcmp(n->dim[0], "lat") != 0 && strcmp(n->dim[0], "lon") != 0;
    return (described){.dims = {is_named       ? n->dim[0]
                                : to->ndim > 1 ? "y"
                                               : "cell",
                                is_named ? n->dim[1] : "x"},
                       .names = {"lat", "lon"}};
}

static cubed_status name_result(remap_call *c, cubed_array **out)
{
    const char *names[CUBED_MAX_NDIM];
    cubed_grid_cells to = CUBED_GRID_CELLS_INIT;
    cubed_array *named;
    EXPR_TRY(expr_located(c->b, c->e, cubed_grid_get(c->to, &to, c->b->err)));
    const described d = describe(c, &to);
    const int outer = cubed_array_ndim(*out) - to.ndim;
    for (int i = 0; i < outer; i++) {
        names[i] = cubed_array_dim_name(c->found.x, i);
        for (int k = 0; k < to.ndim; k++) {
            if (names[i] && strcmp(names[i], d.dims[k]) == 0)
                return expr_fail(c->b->err, CUBED_E_ARG, c->b->text, c->e->at,
                                 "%s: the variable has another dimension \"%s\", which the "
                                 "result's grid needs",
                                 c->e->text, names[i]);
        }
    }
    for (int k = 0; k < to.ndim; k++) names[outer + k] = d.dims[k];
    for (int k = 0; k < 2; k++) EXPR_TRY(note_coordinate(c, &d, k, &to));
    const cubed_status st = cubed_array_with_dim_names(*out, names, &named, c->b->err);
    cubed_array_unref(*out);
    *out = st == CUBED_OK ? named : NULL;
    return expr_located(c->b, c->e, st);
}

/* --- Files of weights --------------------------------------------------------------------------------- */

/* Creates an array that is part of a file of weights. */
static cubed_status make_part(const remap_call *c, cubed_array **out)
{
    const expr *given = expr_keyword(c->e, "part");
    for (int i = 0; i < CUBED_WEIGHTS_ARRAYS && given && given->kind == EXPR_STRING; i++) {
        if (strcmp(cubed_weights_array_name(i), given->text) == 0)
            return expr_located(
                c->b, c->e,
                cubed_weights_array(c->b->ctx, c->weights, c->from, c->to, i, out, c->b->err));
    }
    return expr_reject(c->b, given ? given : c->e,
                       "expected part= and the name of an array of a file of weights, such as "
                       "\"remap_matrix\"");
}

/* --- The call ----------------------------------------------------------------------------------------- */

/* Creates the target grid from a name, a grid description, or a file or store. */
static cubed_status parse_target(remap_call *c)
{
    cubed_error why = CUBED_ERROR_INIT;
    const cubed_status st = cubed_grid_parse(c->b->ctx, c->target, &c->to, c->b->err);
    /* Files can be read only if the host provides coordinates. */
    if (st != CUBED_E_ARG || strstr(c->target, "gridtype") || !c->b->host->coordinate)
        return expr_located(c->b, c->at, st);
    const cubed_status found = cubed_grid_open(c->b->ctx, c->target, &c->to, &c->names, &why);
    /* if no file has this name, report the error of cubed_grid_parse, because the name of a grid may be misspelled */
    if (found == CUBED_E_NOT_FOUND) return expr_located(c->b, c->at, st);
    if (found != CUBED_OK) *c->b->err = why;
    return expr_located(c->b, c->at, found);
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
        return expr_reject(c->b, method, "the function's name specifies the method already");
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

/* Calls the catalogue's function "remap", if lat= or lon= is given. */
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
    if (strcmp(e->text, "remap") == 0 && (expr_keyword(e, "lat") || expr_keyword(e, "lon")))
        return call_with_axes(b, e, out);
    c.options.task_mem = b->host->task_mem;
    cubed_status st = read_arguments(&c);
    if (st == CUBED_OK) st = parse_target(&c);
    if (st == CUBED_OK) st = expr_grid_find(b, e, &c.found);
    if (st == CUBED_OK) st = read_source(&c);
    if (st == CUBED_OK) st = c.file ? read_weights(&c) : make_weights(&c);
    if (st == CUBED_OK && is_part(e)) {
        st = make_part(&c, out);
        call_free(&c);
        return st;
    }
    if (st == CUBED_OK)
        st = expr_located(b, e, cubed_remap(c.found.x, c.weights, &c.options, out, b->err));
    if (st == CUBED_OK && (st = name_result(&c, out)) != CUBED_OK) {
        cubed_array_unref(*out);
        *out = NULL;
    }
    call_free(&c);
    return st;
}

#define REMAP(NAME, METHOD)                                                                        \
    {                                                                                              \
        .name = (NAME), .fn = call_remap, .usage = NAME "(x, target, ...)",                        \
        .summary = "The array on another horizontal grid, as in CDO: remap(x, target, "            \
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
