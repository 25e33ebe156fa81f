/* Reads the grid of a file or store (cubed/grid_files.h). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cubed/grid_files.h"
#include "lang/field_axes.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"

char cubed_coordinate_kind(const char *name, const char *attrs)
{
    static const char kinds[FIELD_KINDS + 1] = {
        [FIELD_LAT] = 'y', [FIELD_LON] = 'x', [FIELD_LEVEL] = 'z', [FIELD_KINDS] = 0};
    json_t *parsed = attrs ? lang_attributes(attrs) : NULL;
    const field_axis kind =
        field_axis_is_rotated(name, parsed) ? FIELD_KINDS : field_axis_kind(name, parsed);
    json_decref(parsed);
    return kinds[kind];
}

bool cubed_units_are_radians(const char *units)
{
    static const char radians[] = "rad";
    return units && strncmp(units, radians, strlen(radians)) == 0;
}

bool cubed_rotated_pole(const char *attrs, double pole[3])
{
    json_t *parsed = attrs ? lang_attributes(attrs) : NULL;
    const bool found = field_axes_pole(parsed, pole);
    json_decref(parsed);
    return found;
}

/* --- Arrays of the file ------------------------------------------------------------------------------- */

/* An array of the file. Owns its strings. */
typedef struct member {
    char *name;
    char *bounds, *coordinates, *mapping; /* attributes; may be NULL */
    char kind;                            /* a cubed_coordinate_kind */
    char rotated;   /* 'y' or 'x' for latitudes or longitudes about a rotated pole; else 0 */
    bool has_pole;  /* the array is a grid mapping with a rotated pole */
    double pole[3]; /* argument of cubed_grid_new_rotated, if has_pole */
    double degrees; /* degrees per unit of the coordinate */
    int ndim;
    int64_t shape[2];
    char *dim[CUBED_MAX_NDIM]; /* "" for a dimension without a name */
} member;

typedef struct members {
    member *list;
    int n, room;
} members;

static void members_free(members *m)
{
    for (int i = 0; i < m->n; i++) {
        for (int d = 0; d < m->list[i].ndim; d++) lang_free(m->list[i].dim[d]);
        lang_free(m->list[i].name);
        lang_free(m->list[i].bounds);
        lang_free(m->list[i].coordinates);
        lang_free(m->list[i].mapping);
    }
    lang_free(m->list);
}

static cubed_status no_memory(cubed_error *err)
{
    return lang_fail(err, CUBED_E_NOMEM, "out of memory: names of a file");
}

/* Copies a string of an attribute. */
static bool copy_text(const json_t *attrs, const char *key, char **out)
{
    const char *text = lang_attribute_text(attrs, key);
    *out = text ? lang_strdup(text) : NULL;
    return !text || *out;
}

static cubed_status note_member(void *ctx, const cubed_zarr_info *info, cubed_error *err)
{
    members *m = ctx;
    if (!info->is_array || info->unsupported || !*info->path || strchr(info->path, '/'))
        return CUBED_OK;
    if (m->n == m->room) {
        const int room = 2 * m->room + 16;
        member *list = lang_resize(m->list, (size_t)room * sizeof *list);
        if (!list) return no_memory(err);
        m->list = list;
        m->room = room;
    }
    json_t *attrs = info->attrs ? lang_attributes(info->attrs) : NULL;
    const bool in_radians = cubed_units_are_radians(lang_attribute_text(attrs, "units"));
    member *a = &m->list[m->n++];
    *a = (member){.name = lang_strdup(info->path),
                  .kind = cubed_coordinate_kind(info->path, info->attrs),
                  .degrees = in_radians ? 180 / 3.14159265358979323846 : 1};
    if (field_axis_is_rotated(a->name, attrs))
        a->rotated = field_axis_kind(a->name, attrs) == FIELD_LAT ? 'y' : 'x';
    a->has_pole = field_axes_pole(attrs, a->pole);
    bool copied = a->name && copy_text(attrs, "bounds", &a->bounds) &&
                  copy_text(attrs, "coordinates", &a->coordinates) &&
                  copy_text(attrs, "grid_mapping", &a->mapping);
    json_decref(attrs);
    for (int d = 0; d < info->ndim && copied; d++) {
        a->dim[d] = lang_strdup(info->dim_names[d] ? info->dim_names[d] : "");
        copied = a->dim[d] != NULL;
        a->ndim += copied;
        if (d < 2) a->shape[d] = info->shape[d];
    }
    return copied ? CUBED_OK : no_memory(err);
}

static const member *find_member(const members *m, const char *name)
{
    for (int i = 0; name && i < m->n; i++) {
        if (strcmp(m->list[i].name, name) == 0) return &m->list[i];
    }
    return NULL;
}

static bool has_dim(const member *x, const char *dim)
{
    for (int d = 0; d < x->ndim; d++) {
        if (strcmp(x->dim[d], dim) == 0) return true;
    }
    return false;
}

/* Returns true if `text` contains the word `name`. */
static bool has_word(const char *text, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = text; at && (at = strstr(at, name)); at += n) {
        const bool begins = at == text || at[-1] == ' ';
        if (begins && (at[n] == 0 || at[n] == ' ')) return true;
    }
    return false;
}

/* Returns how well coordinate y describes variable x, from best to worst:
 * 3: y is the coordinate of an axis of x
 * 2: x lists y in its attribute "coordinates"
 * 1: y only has dimensions of x
 * 0: not at all */
static int fit(const member *x, const member *y)
{
    for (int d = 0; d < y->ndim; d++) {
        if (!has_dim(x, y->dim[d])) return 0;
    }
    if (y->ndim < 1 || y->ndim > 2) return 0;
    if (y->ndim == 1 && strcmp(y->name, y->dim[0]) == 0) return 3;
    return has_word(x->coordinates, y->name) ? 2 : 1;
}

/* Finds the latitudes and longitudes of variable x, or, if x is NULL, of any variable of the file. */
static bool find_pair(const members *m, const member *x, const member *pair[2])
{
    int best[2] = {0, 0};
    pair[0] = pair[1] = NULL;
    for (int i = 0; i < m->n; i++) {
        const member *y = &m->list[i];
        const int k = y->kind == 'y' ? 0 : y->kind == 'x' ? 1 : -1;
        const int own = k < 0 || y == x ? 0 : x ? fit(x, y) : y->ndim == 1 || y->ndim == 2;
        if (own <= (k < 0 ? 0 : best[k])) continue;
        best[k] = own;
        pair[k] = y;
    }
    return pair[0] && pair[1];
}

/* Sets pair to the axes of variable x about a rotated pole. Returns the grid mapping, or NULL if x has none, or no such axes. */
static const member *find_rotated(const members *m, const member *x, const member *pair[2])
{
    const member *mapping = find_member(m, x->mapping);
    pair[0] = pair[1] = NULL;
    if (!mapping || !mapping->has_pole) return NULL;
    for (int i = 0; i < m->n; i++) {
        const member *y = &m->list[i];
        const int k = y->rotated == 'y' ? 0 : 1;
        if (y->rotated && !pair[k] && y->ndim == 1 && fit(x, y) == 3) pair[k] = y;
    }
    return pair[0] && pair[1] ? mapping : NULL;
}

/* --- The grid ----------------------------------------------------------------------------------------- */

/* Coordinates of a grid: latitudes, longitudes, bounds of latitudes, bounds of longitudes, in degrees. */
typedef struct numbers {
    double *of[4];
    int64_t n[4];
} numbers;

static cubed_status read_array(cubed_context *ctx, const char *place, const member *a,
                               double degrees, double **out, int64_t *n, cubed_error *err)
{
    cubed_array *x = NULL, *values = NULL;
    const bool has_parts = strstr(place, "::") != NULL;
    char *url = lang_printf(has_parts ? "%s/%s" : "%s::%s", place, a->name);
    if (!url) return no_memory(err);
    cubed_status st = cubed_array_open(ctx, url, &x, err);
    if (st == CUBED_OK) st = cubed_cf_decode(x, &values, err);
    if (st == CUBED_OK) st = lang_read_numbers(ctx, values, 0, out, n, err);
    for (int64_t i = 0; st == CUBED_OK && degrees != 1 && i < *n; i++) (*out)[i] *= degrees;
    cubed_array_unref(values);
    cubed_array_unref(x);
    lang_free(url);
    return st;
}

/* Returns the bounds of coordinate y if they have its dimensions and one additional dimension, else NULL. */
static const member *bounds_of(const members *m, const member *y)
{
    const member *b = find_member(m, y->bounds);
    bool fits = b && b->ndim == y->ndim + 1;
    for (int d = 0; d < y->ndim && fits; d++) fits = strcmp(b->dim[d], y->dim[d]) == 0;
    return fits ? b : NULL;
}

/* If `mapping` is NULL, coordinates are latitudes and longitudes on the earth. */
static cubed_status make_grid(cubed_context *ctx, const char *place, const members *m,
                              const member *const pair[2], const member *mapping, cubed_grid **out,
                              cubed_error *err)
{
    const member *bounds[2] = {bounds_of(m, pair[0]), bounds_of(m, pair[1])};
    const bool regular =
        pair[0]->ndim == 1 && pair[1]->ndim == 1 && strcmp(pair[0]->dim[0], pair[1]->dim[0]) != 0;
    const bool bounded = bounds[0] && bounds[1];
    numbers v = {{NULL}, {0}};
    cubed_grid_cells cells = CUBED_GRID_CELLS_INIT;
    cubed_status st = CUBED_OK;
    for (int k = 0; k < (bounded ? 4 : 2) && st == CUBED_OK; k++)
        st = read_array(ctx, place, k < 2 ? pair[k] : bounds[k - 2], pair[k % 2]->degrees, &v.of[k],
                        &v.n[k], err);
    cells.regular = regular;
    cells.ndim = regular ? 2 : pair[0]->ndim;
    cells.shape[0] = pair[0]->shape[0];
    cells.shape[1] = regular ? v.n[1] : pair[0]->ndim > 1 ? pair[0]->shape[1] : 1;
    cells.lat = v.of[0];
    cells.lon = v.of[1];
    cells.corners = bounded && v.n[0] > 0 ? (int)(v.n[2] / v.n[0]) : 0;
    cells.lat_bounds = v.of[2];
    cells.lon_bounds = v.of[3];
    const bool same =
        (regular || v.n[0] == v.n[1]) &&
        (!bounded || (v.n[2] == v.n[0] * cells.corners && v.n[3] == v.n[1] * cells.corners));
    if (st == CUBED_OK && !same)
        st = lang_fail(err, CUBED_E_ARG,
                       "%s: %s and %s, or their bounds, have different numbers of cells", place,
                       pair[0]->name, pair[1]->name);
    if (st == CUBED_OK)
        st = cubed_grid_new_rotated(ctx, &cells, mapping ? mapping->pole : NULL, out, err);
    for (int k = 0; k < 4; k++) lang_free(v.of[k]);
    return st;
}

static void copy_name(char to[256], const char *from) { snprintf(to, 256, "%s", from); }

static void copy_names(const member *const pair[2], cubed_grid_names *names)
{
    copy_name(names->lat, pair[0]->name);
    copy_name(names->lon, pair[1]->name);
    copy_name(names->dim[0], pair[0]->dim[0]);
    if (pair[0]->ndim > 1)
        copy_name(names->dim[1], pair[0]->dim[1]);
    else if (strcmp(pair[0]->dim[0], pair[1]->dim[0]) != 0)
        copy_name(names->dim[1], pair[1]->dim[0]);
}

/* --- SCRIP grid files --------------------------------------------------------------------------------- */

static const char *const scrip[4] = {"grid_center_lat", "grid_center_lon", "grid_corner_lat",
                                     "grid_corner_lon"};

static bool is_scrip(const members *m)
{
    return find_member(m, scrip[0]) && find_member(m, scrip[1]);
}

/* Reads grid_imask: out[i] is false for cells that the grid masks. *out is NULL if the file has no mask. */
static cubed_status read_mask(cubed_context *ctx, const char *place, const members *m, bool **out,
                              int64_t *n, cubed_error *err)
{
    const member *mask = find_member(m, "grid_imask");
    double *used = NULL;
    *out = NULL;
    if (!mask) return CUBED_OK;
    cubed_status st = read_array(ctx, place, mask, 1, &used, n, err);
    if (st == CUBED_OK) *out = lang_alloc((size_t)*n + 1);
    if (st == CUBED_OK && !*out)
        st = lang_fail(err, CUBED_E_NOMEM, "out of memory: %" PRId64 " cells of grid_imask", *n);
    for (int64_t i = 0; st == CUBED_OK && i < *n; i++) (*out)[i] = used[i] != 0;
    lang_free(used);
    return st;
}

static cubed_status read_scrip(cubed_context *ctx, const char *place, const members *m,
                               cubed_grid **out, cubed_error *err)
{
    const member *dims = find_member(m, "grid_dims");
    const bool bounded = find_member(m, scrip[2]) && find_member(m, scrip[3]);
    numbers v = {{NULL}, {0}};
    double *extent = NULL;
    int64_t rank = 0;
    cubed_grid_cells cells = CUBED_GRID_CELLS_INIT;
    bool *mask = NULL;
    int64_t masked = 0;
    cubed_status st = read_mask(ctx, place, m, &mask, &masked, err);
    for (int k = 0; k < (bounded ? 4 : 2) && st == CUBED_OK; k++) {
        const member *a = find_member(m, scrip[k]);
        st = read_array(ctx, place, a, a->degrees, &v.of[k], &v.n[k], err);
    }
    if (st == CUBED_OK && dims) st = read_array(ctx, place, dims, 1, &extent, &rank, err);
    const int64_t n = v.n[0];
    /* grid_dims lists the extents in Fortran order, so the last one is the number of rows. */
    const bool two =
        rank == 2 && extent[0] >= 1 && extent[1] >= 1 && extent[0] * extent[1] == (double)n;
    cells.regular = false;
    cells.ndim = two ? 2 : 1;
    cells.shape[0] = two ? (int64_t)extent[1] : n;
    cells.shape[1] = two ? (int64_t)extent[0] : 1;
    cells.lat = v.of[0];
    cells.lon = v.of[1];
    cells.corners = bounded && n > 0 ? (int)(v.n[2] / n) : 0;
    cells.lat_bounds = v.of[2];
    cells.lon_bounds = v.of[3];
    cells.mask = mask;
    if (st == CUBED_OK &&
        (v.n[1] != n || v.n[2] != v.n[3] || v.n[2] != n * cells.corners || (mask && masked != n)))
        st = lang_fail(err, CUBED_E_ARG, "%s: arrays of a SCRIP grid have different sizes", place);
    if (st == CUBED_OK) st = cubed_grid_new(ctx, &cells, out, err);
    for (int k = 0; k < 4; k++) lang_free(v.of[k]);
    lang_free(extent);
    lang_free(mask);
    return st;
}

cubed_status cubed_grid_open(cubed_context *ctx, const char *place, cubed_grid **out,
                             cubed_grid_names *names, cubed_error *err)
{
    members m = {NULL, 0, 0};
    const member *pair[2], *mapping = NULL;
    if (names) *names = (cubed_grid_names){.lat = ""};
    cubed_status st = cubed_zarr_walk(ctx, place, false, note_member, &m, err);
    if (st == CUBED_OK && is_scrip(&m)) {
        st = read_scrip(ctx, place, &m, out, err);
    } else if (st == CUBED_OK) {
        bool found = false;
        for (int i = 0; i < m.n && !found; i++)
            found = m.list[i].ndim > 0 && find_pair(&m, &m.list[i], pair);
        for (int i = 0; i < m.n && !found; i++) {
            mapping = find_rotated(&m, &m.list[i], pair);
            found = mapping != NULL;
        }
        if (!found) found = find_pair(&m, NULL, pair);
        if (found)
            st = make_grid(ctx, place, &m, pair, mapping, out, err);
        else
            st = lang_fail(err, CUBED_E_ARG,
                           "%s: there are no coordinates of latitude and longitude, expected "
                           "arrays with the attributes standard_name or units of CF, or a grid "
                           "description",
                           place);
        if (st == CUBED_OK && names) copy_names(pair, names);
        if (st == CUBED_OK && names && mapping) {
            copy_name(names->lat, "lat");
            copy_name(names->lon, "lon");
        }
    }
    members_free(&m);
    return st;
}
