/* Functions of the category "fields". They find axes and weights through the coordinates of the input, according to the CF
 * conventions. Areas and thicknesses are lazy arrays, so no coordinate is read here. */
#include "lang/expr_fields.h"

#include <stdio.h>
#include <string.h>

#include "cubed/grid_files.h"
#include "lang/about.h"
#include "lang/expr_json.h"
#include "lang/field_axes.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"

/* A field, with the coordinates and weights found for it. */
typedef struct field {
    expr_builder *b;
    const expr *e, *of; /* the call, and the expression of x, its first argument */
    cubed_array *x;
    expr_about about; /* description of the expression `of` */
    /* name of the coordinate of each kind (latitude, ...), or NULL */
    const char *name[FIELD_KINDS];
    cubed_array *coordinate[FIELD_KINDS]; /* elements of the coordinate that belong to x */
    /* bounds of these elements; NULL if the coordinate has no bounds */
    cubed_array *bounds[FIELD_KINDS];
    uint32_t axes[FIELD_KINDS]; /* bit d: the coordinate describes axis d of x */
    bool on_earth;              /* ignore coordinates of rotated grids */
    /* dimension whose elements an earlier call moved, so that no coordinate describes them; may be NULL */
    const char *moved;
} field;

static void field_free(field *f)
{
    for (int k = 0; k < FIELD_KINDS; k++) {
        cubed_array_unref(f->coordinate[k]);
        cubed_array_unref(f->bounds[k]);
    }
    expr_about_free(&f->about);
    cubed_array_unref(f->x);
}

/* --- Arrays of the input ------------------------------------------------------------------------------ */

/* Opens array `name` of the input. Sets *out to NULL if it does not exist. */
static cubed_status open_input(const field *f, const char *name, cubed_array **out)
{
    *out = NULL;
    if (!name || !f->b->host->coordinate) return CUBED_OK;
    return expr_located(f->b, f->e, f->b->host->coordinate(f->b->host->ctx, name, out, f->b->err));
}

/* For an array of the input with a dimension `dim` of the given extent, sets *s to the elements along this dimension that
 * belong to elements of x. Returns false if the array does not describe the elements of x. */
static bool part_along(field *f, const char *dim, int64_t extent, cubed_slice *s)
{
    const cubed_expr_coord *c = dim ? expr_find_coord(&f->about, dim) : NULL;
    const int d = lang_axis_named(f->x, dim);
    *s = (cubed_slice){0, extent, 1, false};
    if (!c || d < 0) return d < 0 || cubed_array_shape(f->x)[d] == extent;
    if (c->cut) f->moved = cubed_array_dim_name(f->x, d);
    *s = c->part;
    return !c->cut && c->whole == extent;
}

/* Replaces *y, another array of the input, by its elements that belong to the elements of x. Sets *y to NULL if its extents do
 * not fit. */
static cubed_status take_part(field *f, cubed_array **y)
{
    cubed_slice slices[CUBED_MAX_NDIM];
    cubed_array *whole = *y, *part = NULL;
    bool fits = true;
    cubed_status st = CUBED_OK;
    if (!whole) return CUBED_OK;
    for (int d = 0; d < cubed_array_ndim(whole); d++)
        fits = part_along(f, cubed_array_dim_name(whole, d), cubed_array_shape(whole)[d],
                          &slices[d]) &&
               fits;
    if (fits) st = expr_located(f->b, f->e, cubed_slice_array(whole, slices, &part, f->b->err));
    cubed_array_unref(whole);
    *y = part;
    return st;
}

/* Opens a coordinate and its bounds: the coordinate that an earlier function call created for dimension `name`, otherwise array
 * `name` of the input. */
static cubed_status open_coordinate(const field *f, const char *name, cubed_array **out,
                                    cubed_array **bounds)
{
    const cubed_expr_coord *c = expr_find_coord(&f->about, name);
    const bool is_made = c && c->made && lang_axis_named(f->x, name) >= 0;
    *bounds = NULL;
    if (is_made) {
        *out = cubed_array_ref(c->made);
        if (c->bounds) *bounds = cubed_array_ref(c->bounds);
    } else {
        EXPR_TRY(open_input(f, name, out));
        if (!*out) return CUBED_OK;
        json_t *attrs = expr_json_attrs(f->b, *out);
        const cubed_status st = open_input(f, lang_attribute_text(attrs, "bounds"), bounds);
        json_decref(attrs);
        EXPR_TRY(st);
    }
    return CUBED_OK;
}

/* Returns the axes of x that have the names of y's first n dimensions, as bits. Returns 0 if x does not have one of them. */
static uint32_t axes_of(const field *f, const cubed_array *y, int n)
{
    uint32_t mask = 0;
    for (int d = 0; d < n; d++) {
        const int axis = lang_axis_named(f->x, cubed_array_dim_name(y, d));
        if (axis < 0) return 0;
        mask |= 1U << axis;
    }
    return mask;
}

/* Keeps array `name` as a coordinate of x if it is the first one of its kind. */
static cubed_status try_coordinate(field *f, const char *name)
{
    cubed_array *y = NULL, *bounds = NULL;
    cubed_status st = open_coordinate(f, name, &y, &bounds);
    json_t *attrs = y ? expr_json_attrs(f->b, y) : NULL;
    const bool counts = y && !(f->on_earth && field_axis_is_rotated(name, attrs));
    const int kind = counts ? (int)field_axis_kind(name, attrs) : FIELD_KINDS;
    json_decref(attrs);
    const uint32_t mask = y ? axes_of(f, y, cubed_array_ndim(y)) : 0;
    if (st == CUBED_OK && kind < FIELD_KINDS && mask && !f->name[kind]) {
        st = take_part(f, &y);
        if (st == CUBED_OK) st = take_part(f, &bounds);
        if (st == CUBED_OK && y) {
            f->name[kind] = name;
            f->axes[kind] = mask;
            f->coordinate[kind] = y;
            f->bounds[kind] = bounds;
            y = bounds = NULL;
        }
    }
    cubed_array_unref(y);
    cubed_array_unref(bounds);
    return st;
}

/* Finds coordinates: first coordinates with names of dimensions, then coordinates in the attribute "coordinates", then
 * coordinates with common names. */
static cubed_status find_coordinates(field *f, char *named)
{
    static const char *const usual[] = {"lat",     "lon",     "latitude", "longitude",
                                        "nav_lat", "nav_lon", "clat",     "clon"};
    const int ndim = cubed_array_ndim(f->x);
    for (int d = 0; d < ndim; d++) {
        const char *dim = cubed_array_dim_name(f->x, d);
        if (dim) EXPR_TRY(try_coordinate(f, dim));
    }
    for (char *word = named, *end; *word; word = end) {
        word += strspn(word, " \t\n");
        end = word + strcspn(word, " \t\n");
        if (*end) *end++ = 0;
        if (*word) EXPR_TRY(try_coordinate(f, word));
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) EXPR_TRY(try_coordinate(f, usual[i]));
    return CUBED_OK;
}

/* --- Weights ------------------------------------------------------------------------------------------ */

/* Opens the array of cell areas that the attribute cell_measures names. Sets *out to NULL if no such array fits x. */
static cubed_status measured(field *f, cubed_array **out)
{
    const char *measures = lang_attribute_text(f->about.attrs, "cell_measures");
    const char *area = measures ? strstr(measures, "area:") : NULL;
    char name[128];
    *out = NULL;
    if (!area) return CUBED_OK;
    area += strlen("area:");
    area += strspn(area, " ");
    const size_t n = strcspn(area, " ");
    if (n == 0 || n >= sizeof name) return CUBED_OK;
    snprintf(name, sizeof name, "%.*s", (int)n, area);
    EXPR_TRY(open_input(f, name, out));
    if (!*out || axes_of(f, *out, cubed_array_ndim(*out))) return take_part(f, out);
    cubed_array_unref(*out);
    *out = NULL;
    return CUBED_OK;
}

static bool is_in_radians(const field *f, int kind)
{
    json_t *attrs = expr_json_attrs(f->b, f->coordinate[kind]);
    const bool found = cubed_units_are_radians(lang_attribute_text(attrs, "units"));
    json_decref(attrs);
    return found;
}

/* Sets *out to x in degrees. If x is not in radians, *out is a new reference to x. If x is NULL, *out is NULL. */
static cubed_status in_degrees(const field *f, cubed_array *x, bool is_radians, cubed_array **out)
{
    cubed_array *wide = NULL;
    *out = x && !is_radians ? cubed_array_ref(x) : NULL;
    if (!x || !is_radians) return CUBED_OK;
    cubed_status st = cubed_astype(x, CUBED_FLOAT64, &wide, f->b->err);
    if (st == CUBED_OK) st = cubed_rad2deg(wide, out, f->b->err);
    cubed_array_unref(wide);
    return expr_located(f->b, f->e, st);
}

/* Calls gridarea with coordinates and bounds `in` (each may be NULL) and the keywords of the call. */
static cubed_status call_gridarea(const field *f, cubed_array *const in[4], bool is_regular,
                                  cubed_array **out)
{
    const cubed_function *gridarea = cubed_function_find("gridarea");
    static const char *const names[] = {"lat", "lon", "lat_bounds", "lon_bounds"};
    expr_given given[4];
    int n = 0;
    for (int i = 0; i < 4; i++) {
        if (in[i])
            given[n++] =
                (expr_given){names[i], {.kind = CUBED_VALUE_ARRAY, .as.array = in[i]}, f->of};
    }
    EXPR_TRY(expr_call_given(f->b, f->e, gridarea, given, n, out));
    const char *dims[CUBED_MAX_NDIM];
    cubed_array *named;
    for (int d = 0; d < cubed_array_ndim(*out); d++)
        dims[d] = cubed_array_dim_name(f->coordinate[is_regular ? d : 0], is_regular ? 0 : d);
    const cubed_status st =
        expr_located(f->b, f->e, cubed_array_with_dim_names(*out, dims, &named, f->b->err));
    cubed_array_unref(*out);
    *out = st == CUBED_OK ? named : NULL;
    return st;
}

/* Computes the areas of cells from their coordinates. Dimensions get the names that the coordinates have. */
static cubed_status areas(const field *f, cubed_array **out)
{
    cubed_array *in[4] = {NULL, NULL, NULL, NULL};
    cubed_status st = CUBED_OK;
    for (int k = 0; k < 2 && st == CUBED_OK; k++) {
        const bool is_radians = is_in_radians(f, k);
        st = in_degrees(f, f->coordinate[k], is_radians, &in[k]);
        if (st == CUBED_OK) st = in_degrees(f, f->bounds[k], is_radians, &in[2 + k]);
    }
    if (st == CUBED_OK) st = call_gridarea(f, in, f->axes[FIELD_LAT] != f->axes[FIELD_LON], out);
    for (int i = 0; i < 4; i++) cubed_array_unref(in[i]);
    return st;
}

/* Fails if a coordinate was not found because elements were moved along its dimension. */
static cubed_status reject_moved(const field *f)
{
    if (!f->moved) return CUBED_OK;
    return expr_fail(f->b->err, CUBED_E_ARG, f->b->text, f->of->at,
                     "elements along \"%s\" were moved or combined: no coordinate describes them, "
                     "give dim= and weights=",
                     f->moved);
}

static bool has_grid(const field *f) { return f->name[FIELD_LAT] && f->name[FIELD_LON]; }

/* Finds areas from cell_measures, or from coordinates. *said receives the origin of the areas, for cell_methods. */
static cubed_status find_areas(field *f, cubed_array **out, const char **said)
{
    EXPR_TRY(measured(f, out));
    *said = "areas from cell_measures";
    if (*out) return CUBED_OK;
    *said = f->bounds[FIELD_LAT] && f->bounds[FIELD_LON] ? "areas from bounds"
                                                         : "areas from coordinates";
    if (has_grid(f)) return areas(f, out);
    EXPR_TRY(reject_moved(f));
    return expr_fail(f->b->err, CUBED_E_ARG, f->b->text, f->e->at,
                     "%s: found no coordinates of latitude and longitude along the dimensions: "
                     "give weights=, or weights=None for equal ones",
                     f->e->text);
}

/* Computes the size of each cell of a coordinate: the absolute difference of its two bounds. */
static cubed_status extents(const field *f, int kind, cubed_array **out)
{
    cubed_array *column[2] = {NULL, NULL}, *apart = NULL;
    const int64_t n = cubed_array_shape(f->bounds[kind])[0];
    const char *name = cubed_array_dim_name(f->coordinate[kind], 0);
    cubed_status st = CUBED_OK;
    *out = NULL;
    for (int k = 0; k < 2 && st == CUBED_OK; k++) {
        const cubed_slice s[2] = {{0, n, 1, false}, {k, 1, 1, true}};
        st = cubed_slice_array(f->bounds[kind], s, &column[k], f->b->err);
    }
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_SUBTRACT, column, 2, &apart, f->b->err);
    for (int k = 0; k < 2; k++) cubed_array_unref(column[k]);
    if (st == CUBED_OK) {
        st = cubed_elementwise(CUBED_OP_ABS, &apart, 1, &column[0], f->b->err);
        cubed_array_unref(apart);
    }
    if (st == CUBED_OK) {
        st = cubed_array_with_dim_names(column[0], &name, out, f->b->err);
        cubed_array_unref(column[0]);
    }
    return expr_located(f->b, f->e, st);
}

static bool has_ends(const field *f, int kind)
{
    const cubed_array *bounds = f->bounds[kind];
    return bounds && cubed_array_ndim(bounds) == 2 && cubed_array_shape(bounds)[1] == 2;
}

/* --- Calls -------------------------------------------------------------------------------------------- */

/* Returns the kinds of coordinates along which a function reduces, as bits 1 << field_axis. */
static unsigned wanted_kinds(const char *name)
{
    if (strncmp(name, "fld", 3) == 0) return 1U << FIELD_LAT | 1U << FIELD_LON;
    if (strncmp(name, "zon", 3) == 0) return 1U << FIELD_LON;
    return strncmp(name, "mer", 3) == 0 ? 1U << FIELD_LAT : 1U << FIELD_LEVEL;
}

static cubed_status choose_axes(const field *f, uint32_t *mask)
{
    static const char *const what[] = {"latitude", "longitude", "levels"};
    const unsigned kinds = wanted_kinds(f->e->text);
    int n, axes[CUBED_MAX_NDIM];
    *mask = 0;
    EXPR_TRY(expr_get_axes(f->b, f->e, NULL, f->x, &n, axes));
    const int ndim = cubed_array_ndim(f->x);
    for (int i = 0; i < n; i++) {
        const int d = axes[i] < 0 ? axes[i] + ndim : axes[i];
        if (d < 0 || d >= ndim) return expr_reject(f->b, f->e, "an axis is out of range");
        *mask |= 1U << d;
    }
    if (n >= 0) return CUBED_OK;
    for (int k = 0; k < FIELD_KINDS; k++) {
        if (!(kinds >> k & 1)) continue;
        if (!f->name[k]) EXPR_TRY(reject_moved(f));
        if (!f->name[k])
            return expr_fail(f->b->err, CUBED_E_ARG, f->b->text, f->e->at,
                             "%s: found no coordinate of %s along the dimensions: name them with "
                             "dim=",
                             f->e->text, what[k]);
        *mask |= f->axes[k];
    }
    if (kinds != (1U << FIELD_LAT | 1U << FIELD_LON) && (*mask & (*mask - 1)) != 0)
        return expr_fail(f->b->err, CUBED_E_ARG, f->b->text, f->e->at,
                         "%s: the coordinate \"%s\" has several dimensions, expected a grid with "
                         "axes of its own: name one with dim=",
                         f->e->text,
                         f->name[kinds >> FIELD_LAT & 1   ? FIELD_LAT
                                 : kinds >> FIELD_LON & 1 ? FIELD_LON
                                                          : FIELD_LEVEL]);
    return CUBED_OK;
}

/* Finds weights for a call that gives none. *out broadcasts to x, or is NULL for equal weights. *said receives the origin of
 * the weights for cell_methods, or NULL. */
static cubed_status find_weights(field *f, uint32_t mask, cubed_array **out, const char **said)
{
    const unsigned kinds = wanted_kinds(f->e->text);
    uint32_t found = 0;
    *out = NULL;
    *said = NULL;
    for (int k = 0; k < FIELD_KINDS; k++) found |= kinds >> k & 1 ? f->axes[k] : 0;
    if (mask != found) EXPR_TRY(reject_moved(f));
    if (mask != found)
        return expr_fail(f->b->err, CUBED_E_ARG, f->b->text, f->e->at,
                         "%s: no coordinates say how large cells along these dimensions are: give "
                         "weights=, or weights=None for equal ones",
                         f->e->text);
    if (kinds >> FIELD_LEVEL & 1) {
        *said = has_ends(f, FIELD_LEVEL) ? "layers from bounds" : "equal layers";
        if (has_ends(f, FIELD_LEVEL)) EXPR_TRY(extents(f, FIELD_LEVEL, out));
    } else {
        EXPR_TRY(find_areas(f, out, said));
    }
    return *out ? expr_align(f->b, f->e, f->x, true, out) : CUBED_OK;
}

/* Builds the weights that the call gives. If x has all their dimensions by name, they are matched by name. */
static cubed_status given_weights(const field *f, const expr *e, cubed_array **out)
{
    uint32_t seen = 0;
    *out = NULL;
    if (e->kind == EXPR_NONE) return CUBED_OK;
    if (e->kind == EXPR_TUPLE) return expr_get_elements(f->b, e, NULL, out);
    EXPR_TRY(expr_get_array(f->b, e, out));
    for (int d = 0; d < cubed_array_ndim(*out); d++) {
        const int axis = lang_axis_named(f->x, cubed_array_dim_name(*out, d));
        if (axis < 0 || seen >> axis & 1) return CUBED_OK;
        seen |= 1U << axis;
    }
    return expr_align(f->b, f->e, f->x, true, out);
}

/* Names the first axis of *out if `q` is a list of percentiles. `q` may be NULL. Sets *out to NULL after an error. */
static cubed_status name_percentiles(const field *f, const expr *q, cubed_array **out)
{
    double *parts;
    if (!q || q->kind != EXPR_TUPLE) return CUBED_OK;
    cubed_status st = expr_alloc(f->b, q, q->n, sizeof *parts, &parts);
    for (int i = 0; i < q->n && st == CUBED_OK; i++) {
        expr_value v = {.array = NULL};
        st = expr_get_number(f->b, q->child[i], &v);
        parts[i] = v.re / 100;
    }
    if (st == CUBED_OK) {
        st = expr_name_quantiles(f->b, f->e, parts, q->n, f->x, NULL, out);
        lang_free(parts);
    }
    if (st == CUBED_OK) return CUBED_OK;
    cubed_array_unref(*out);
    *out = NULL;
    return st;
}

static cubed_status call_statistic(field *f, const cubed_function *function, cubed_array **out)
{
    enum { MOST = 4 };
    const bool is_weighted = strcmp(function->params[1].name, "weights") == 0;
    const bool has_second = f->e->n > 1 && f->e->child[1]->kind != EXPR_KEYWORD;
    const expr *second = has_second ? f->e->child[1] : NULL;
    const char *said = NULL;
    cubed_array *weights = NULL;
    int64_t axes[CUBED_MAX_NDIM];
    uint32_t mask;
    int n = 0, naxes = 0;
    expr_given given[MOST];
    const expr none = {.kind = EXPR_NONE, .at = f->e->at};
    EXPR_TRY(choose_axes(f, &mask));
    for (int d = 0; d < cubed_array_ndim(f->x); d++) {
        if (mask >> d & 1) axes[naxes++] = d;
    }
    given[n++] = (expr_given){"x", {.kind = CUBED_VALUE_ARRAY, .as.array = f->x}, f->of};
    given[n++] =
        (expr_given){"axis", {.kind = CUBED_VALUE_INTS, .n = naxes, .as.ints = axes}, f->e};
    if (second && expr_keyword(f->e, function->params[1].name))
        return expr_fail(f->b->err, CUBED_E_ARG, f->b->text, second->at, "%s: %s is given twice",
                         f->e->text, function->params[1].name);
    if (is_weighted) {
        const expr *own = second ? second : expr_keyword(f->e, "weights");
        EXPR_TRY(own ? given_weights(f, own, &weights) : find_weights(f, mask, &weights, &said));
        given[n] = (expr_given){"weights", {.kind = CUBED_VALUE_NONE}, &none};
        if (weights) given[n].value = (cubed_value){.kind = CUBED_VALUE_ARRAY, .as.array = weights};
        n++;
    } else if (second) {
        given[n++] = (expr_given){function->params[1].name, {.kind = CUBED_VALUE_NONE}, second};
    }
    cubed_status st = expr_call_given(f->b, f->e, function, given, n, out);
    cubed_array_unref(weights);
    if (st == CUBED_OK && !is_weighted)
        st = name_percentiles(f, second ? second : expr_keyword(f->e, "q"), out);
    if (st != CUBED_OK) return st;
    expr_reduced *to = &f->b->built[f->e->number].reduced;
    *to = (expr_reduced){
        .axes = mask, .is_area = naxes > 0 && strncmp(f->e->text, "fld", 3) == 0, .said = said};
    return CUBED_OK;
}

static cubed_status start(expr_builder *b, const expr *e, bool on_earth, field *f, char **named)
{
    *f = (field){.b = b, .e = e, .of = e->child[0], .on_earth = on_earth};
    EXPR_TRY(expr_get_array(b, f->of, &f->x));
    f->about = expr_about_of(b, f->of);
    const char *text = lang_attribute_text(f->about.attrs, "coordinates");
    *named = expr_text(b, "%s", text ? text : "");
    return find_coordinates(f, *named);
}

/* Builds gridarea(x): the areas of the cells of x, with dimensions in the order of x. */
static cubed_status areas_of(field *f, cubed_array **out)
{
    const char *said;
    if (!has_grid(f) && !lang_attribute_text(f->about.attrs, "cell_measures"))
        return expr_fail(f->b->err, CUBED_E_ARG, f->b->text, f->e->at,
                         "gridarea: found no coordinates of latitude and longitude along the "
                         "dimensions; expected an array with them, or gridarea(lat, lon)");
    EXPR_TRY(find_areas(f, out, &said));
    return expr_align(f->b, f->e, f->x, false, out);
}

/* --- Missing elements --------------------------------------------------------------------------------- */

static bool is_fill(const expr *e)
{
    return strcmp(e->text, "setmisstonn") == 0 || strcmp(e->text, "setmisstodis") == 0;
}

/* Checks that the coordinates are two axes, or have the same dimensions. */
static cubed_status check_cells(expr_builder *b, const expr *e, const expr_grid *g)
{
    const int n = cubed_array_ndim(g->coordinate[0]), m = cubed_array_ndim(g->coordinate[1]);
    const bool regular = g->axes[0] != g->axes[1];
    bool fits = regular ? n == 1 && m == 1 : n == m && n <= 2;
    for (int d = 0; d < n && fits && !regular; d++)
        fits = strcmp(cubed_array_dim_name(g->coordinate[0], d),
                      cubed_array_dim_name(g->coordinate[1], d)) == 0;
    if (fits) return CUBED_OK;
    return expr_fail(
        b->err, CUBED_E_ARG, b->text, e->at,
        "%s: latitudes have %d dimensions and longitudes %d, expected axes, or the same "
        "dimensions, one or two",
        e->text, n, m);
}

/* Sets order[] to an order of the axes of g->x in which the axes of the grid are the last ones, as in the coordinates. */
static void grid_last(const expr_grid *g, int order[CUBED_MAX_NDIM])
{
    const bool regular = g->axes[0] != g->axes[1];
    const uint32_t mask = g->axes[0] | g->axes[1];
    int n = 0;
    for (int d = 0; d < cubed_array_ndim(g->x); d++) {
        if (!(mask >> d & 1)) order[n++] = d;
    }
    for (int k = 0; k < (regular ? 2 : 1); k++) {
        for (int d = 0; d < cubed_array_ndim(g->coordinate[k]); d++)
            order[n++] = lang_axis_named(g->x, cubed_array_dim_name(g->coordinate[k], d));
    }
}

/* Calls a function that fills missing elements. The last axes of x are the grid's axes. `count`, the second argument of the call,
 * may be NULL. */
static cubed_status call_fill(expr_builder *b, const expr *e, const cubed_function *function,
                              const expr_grid *g, cubed_array *x, const expr *count,
                              cubed_array **out)
{
    expr_given given[5] = {
        {"x", {.kind = CUBED_VALUE_ARRAY, .as.array = x}, e->child[0]},
        {"lat", {.kind = CUBED_VALUE_ARRAY, .as.array = g->coordinate[0]}, e},
        {"lon", {.kind = CUBED_VALUE_ARRAY, .as.array = g->coordinate[1]}, e},
        {"unstructured", {.kind = CUBED_VALUE_BOOL, .as.boolean = g->axes[0] == g->axes[1]}, e},
        {"neighbours", {.kind = CUBED_VALUE_NONE}, count}};
    return expr_call_given(b, e, function, given, count ? 5 : 4, out);
}

/* Builds a call that fills missing elements of its first argument, which has coordinates. *is_one is false for other calls. */
static cubed_status build_fill(expr_builder *b, const expr *e, const cubed_function *function,
                               cubed_array **out, bool *is_one)
{
    int order[CUBED_MAX_NDIM], back[CUBED_MAX_NDIM], n;
    static const char *const names[] = {"neighbours", NULL};
    *is_one = is_fill(e) && e->n > 0 && e->child[0]->kind != EXPR_TUPLE &&
              !expr_keyword(e, "lat") && !expr_keyword(e, "lon");
    if (!*is_one) return CUBED_OK;
    const bool has_count = strcmp(function->params[3].name, "neighbours") == 0;
    EXPR_TRY(expr_check_args(b, e, 1, has_count ? 2 : 1, has_count ? names : NULL, &n));
    const expr *count = n > 1 ? e->child[1] : NULL;
    if (count && expr_keyword(e, "neighbours"))
        return expr_reject(b, count, "neighbours is given twice");
    expr_grid g;
    cubed_array *moved = NULL, *filled = NULL;
    cubed_status st = expr_grid_find(b, e, &g);
    if (st == CUBED_OK) st = check_cells(b, e, &g);
    if (st == CUBED_OK) {
        grid_last(&g, order);
        for (int d = 0; d < cubed_array_ndim(g.x); d++) back[order[d]] = d;
        st = expr_located(b, e, cubed_permute_dims(g.x, order, &moved, b->err));
    }
    if (st == CUBED_OK) st = call_fill(b, e, function, &g, moved, count, &filled);
    if (st == CUBED_OK) st = expr_located(b, e, cubed_permute_dims(filled, back, out, b->err));
    cubed_array_unref(moved);
    cubed_array_unref(filled);
    expr_grid_free(&g);
    return st;
}

/* --- Calls of functions on fields --------------------------------------------------------------------- */

cubed_status expr_fields_build(expr_builder *b, const expr *e, const cubed_function *function,
                               cubed_array **out, bool *is_one)
{
    const bool is_area = strcmp(e->text, "gridarea") == 0;
    field f;
    char *named = NULL;
    int n = 0;
    EXPR_TRY(build_fill(b, e, function, out, is_one));
    if (*is_one) return CUBED_OK;
    while (n < e->n && e->child[n]->kind != EXPR_KEYWORD) n++;
    /* Calls whose first argument is a list are left to the function of the catalogue, because lists have no coordinates. */
    *is_one = strcmp(function->category, "fields") == 0 && n > 0 && !is_fill(e) &&
              e->child[0]->kind != EXPR_TUPLE && !(is_area && n != 1) && !expr_keyword(e, "lat") &&
              !expr_keyword(e, "lon");
    if (!*is_one) return CUBED_OK;
    static const char *const area_names[] = {"edges", "radius", NULL};
    const char *names[CUBED_MAX_PARAMS + 2] = {"dim"};
    for (int i = 1; i < function->nparams; i++) {
        if (!(function->params[i].flags & CUBED_PARAM_ENGINE)) names[i] = function->params[i].name;
    }
    const bool takes_second = !is_area && strcmp(function->params[1].name, "axis") != 0;
    EXPR_TRY(expr_check_args(b, e, 1, takes_second ? 2 : 1, is_area ? area_names : names, &n));
    cubed_status st = start(b, e, false, &f, &named);
    if (st == CUBED_OK) st = is_area ? areas_of(&f, out) : call_statistic(&f, function, out);
    expr_text_free(named);
    field_free(&f);
    return st;
}

/* --- Grids -------------------------------------------------------------------------------------------- */

/* Reads the rotated pole of the grid mapping of x. *found is false if x has none. */
static cubed_status find_pole(const field *f, double pole[3], bool *found)
{
    cubed_array *mapping = NULL;
    EXPR_TRY(open_input(f, lang_attribute_text(f->about.attrs, "grid_mapping"), &mapping));
    json_t *attrs = mapping ? expr_json_attrs(f->b, mapping) : NULL;
    *found = field_axes_pole(attrs, pole);
    json_decref(attrs);
    cubed_array_unref(mapping);
    return CUBED_OK;
}

/* Finds the axes of a field with coordinates about a rotated pole, if it has no latitudes and longitudes on the earth. */
static cubed_status find_rotated(field *f, char **named, expr_grid *out)
{
    expr_builder *b = f->b;
    const expr *e = f->e;
    bool has_pole = false;
    EXPR_TRY(find_pole(f, out->pole, &has_pole));
    if (!has_pole) return CUBED_OK;
    expr_text_free(*named);
    *named = NULL;
    field_free(f);
    EXPR_TRY(start(b, e, false, f, named));
    out->is_rotated = has_grid(f) && f->axes[0] != f->axes[1] &&
                      cubed_array_ndim(f->coordinate[0]) == 1 &&
                      cubed_array_ndim(f->coordinate[1]) == 1;
    return CUBED_OK;
}

cubed_status expr_grid_find(expr_builder *b, const expr *e, expr_grid *out)
{
    field f;
    char *named = NULL;
    *out = (expr_grid){.x = NULL};
    cubed_status st = start(b, e, true, &f, &named);
    bool found = st == CUBED_OK && has_grid(&f);
    if (st == CUBED_OK && !found) {
        st = find_rotated(&f, &named, out);
        found = out->is_rotated;
    }
    if (st == CUBED_OK && !found) {
        st = reject_moved(&f);
        if (st == CUBED_OK)
            st = expr_fail(b->err, CUBED_E_ARG, b->text, f.of->at,
                           "%s: found no coordinates of latitude and longitude along the "
                           "dimensions; they have the attributes standard_name or units of CF",
                           e->text);
    }
    for (int k = 0; k < 2 && st == CUBED_OK; k++) {
        const bool is_radians = is_in_radians(&f, k);
        out->axes[k] = f.axes[k];
        st = in_degrees(&f, f.coordinate[k], is_radians, &out->coordinate[k]);
        if (st == CUBED_OK) st = in_degrees(&f, f.bounds[k], is_radians, &out->bounds[k]);
    }
    if (st == CUBED_OK) out->x = cubed_array_ref(f.x);
    expr_text_free(named);
    field_free(&f);
    return st;
}

/* Returns the lowest axis of a set, or -1 if it is empty. */
static int first_axis(uint32_t axes)
{
    for (int d = 0; d < CUBED_MAX_NDIM; d++) {
        if (axes >> d & 1) return d;
    }
    return -1;
}

cubed_status expr_field_axes(expr_builder *b, const expr *e, int *x, int *y, int *z)
{
    field f;
    char *named = NULL;
    cubed_status st = start(b, e, false, &f, &named);
    if (st == CUBED_OK) {
        const uint32_t lat = f.name[FIELD_LAT] ? f.axes[FIELD_LAT] : 0,
                       lon = f.name[FIELD_LON] ? f.axes[FIELD_LON] : 0;
        /* In a curvilinear grid, latitudes and longitudes have the same two axes. */
        const bool both = lat == lon, is_curvilinear = both && (lat & (lat - 1)) != 0;
        *y = both && !is_curvilinear ? -1 : first_axis(lat);
        *x = first_axis(is_curvilinear ? lon & (lon - 1) : both ? 0 : lon);
        *z = first_axis(f.name[FIELD_LEVEL] ? f.axes[FIELD_LEVEL] : 0);
    }
    expr_text_free(named);
    field_free(&f);
    return st;
}

void expr_grid_free(expr_grid *g)
{
    for (int k = 0; k < 2; k++) {
        cubed_array_unref(g->coordinate[k]);
        cubed_array_unref(g->bounds[k]);
    }
    cubed_array_unref(g->x);
}

/* --- Functions ---------------------------------------------------------------------------------------- */

/* Builds latitudes(x) or longitudes(x), which has the dimensions of x from the first one of the coordinate on, so that it
 * broadcasts to x. */
static cubed_status call_latitudes(expr_builder *b, const expr *e, cubed_array **out)
{
    expr_grid g;
    int n;
    EXPR_TRY(expr_check_args(b, e, 1, 1, NULL, &n));
    cubed_status st = expr_grid_find(b, e, &g);
    if (st == CUBED_OK && g.is_rotated)
        st = expr_fail(b->err, CUBED_E_UNSUPPORTED, b->text, e->at,
                       "%s: the coordinates are in degrees of a rotated grid, expected "
                       "latitudes and longitudes on the earth",
                       e->text);
    if (st == CUBED_OK) {
        const bool is_lat = strcmp(e->text, "latitudes") == 0;
        *out = cubed_array_ref(g.coordinate[is_lat ? FIELD_LAT : FIELD_LON]);
        st = expr_align(b, e, g.x, true, out);
    }
    expr_grid_free(&g);
    return st;
}

const expr_function expr_field_functions[] = {
    {.name = "latitudes",
     .fn = call_latitudes,
     .usage = "latitudes(x)",
     .summary = "The latitude of each cell in degrees, as an array that broadcasts to x."},
    {.name = "longitudes",
     .fn = call_latitudes,
     .usage = "longitudes(x)",
     .summary = "The longitude of each cell in degrees, as an array that broadcasts to x."},
    {.name = NULL}};
