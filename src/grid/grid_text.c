/* Grids by CDO's names, and grid description files. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "grid/grid.h"

/* A grid that is being built, and its memory. */
typedef struct grid_text {
    cubed_context *ctx;
    cb_zone *zone;
    cubed_grid_cells cells;
    cubed_error *err;
} grid_text;

static cubed_status no_memory(const grid_text *t)
{
    return cb_fail(t->err, CUBED_E_NOMEM, "out of memory: numbers of a grid");
}

static double *numbers(const grid_text *t, int64_t n)
{
    if (n < 1 || n > CB_GRID_MOST_CELLS) return NULL;
    return cb_zone_alloc(t->zone, (size_t)n * sizeof(double));
}

/* --- Regular grids ------------------------------------------------------------------------------------- */

static cubed_status set_axes(grid_text *t, int64_t ny, int64_t nx, double **lat, double **lon)
{
    if (nx < 1 || ny < 1 || nx > CB_GRID_MOST_CELLS / ny)
        return cb_fail(t->err, CUBED_E_ARG,
                       "grid: %lld longitudes and %lld latitudes, expected at least one each and "
                       "at most %lld cells",
                       (long long)nx, (long long)ny, (long long)CB_GRID_MOST_CELLS);
    *lat = numbers(t, ny);
    *lon = numbers(t, nx);
    if (!*lat || !*lon) return no_memory(t);
    t->cells.regular = true;
    t->cells.ndim = 2;
    t->cells.shape[0] = ny;
    t->cells.shape[1] = nx;
    t->cells.lat = *lat;
    t->cells.lon = *lon;
    return CUBED_OK;
}

static void even(double *v, int64_t n, double first, double step)
{
    for (int64_t i = 0; i < n; i++) v[i] = first + (double)i * step;
}

/* Latitudes at the roots of the Legendre polynomial of degree n, by Newton's method (Press et al., Numerical Recipes, 4.5),
 * from north to south. */
static void gaussian(double *lat, int64_t n)
{
    const double pi = 3.14159265358979323846, degree = pi / 180;
    for (int64_t i = 0; i < (n + 1) / 2; i++) {
        double z = cos(pi * ((double)i + 0.75) / ((double)n + 0.5));
        for (int turn = 0; turn < 50; turn++) {
            double p = 1, before = 0;
            for (int64_t k = 1; k <= n; k++) {
                const double older = before, j = (double)k;
                before = p;
                p = ((2 * j - 1) * z * before - (j - 1) * older) / j;
            }
            const double slope = (double)n * (z * p - before) / (z * z - 1), step = p / slope;
            z -= step;
            if (fabs(step) < 1e-15) break;
        }
        lat[i] = asin(z) / degree;
        lat[n - 1 - i] = -lat[i];
    }
    if (n % 2 == 1) lat[n / 2] = 0;
}

/* Maximum number of latitudes, because finding n latitudes takes about n * n steps. */
enum { MOST_GAUSSIAN = 20000 };

static cubed_status set_gaussian_latitudes(const grid_text *t, double *lat, int64_t n)
{
    if (n > MOST_GAUSSIAN)
        return cb_fail(t->err, CUBED_E_ARG, "grid: %lld Gaussian latitudes, expected at most %d",
                       (long long)n, MOST_GAUSSIAN);
    gaussian(lat, n);
    return CUBED_OK;
}

/* Sets a grid with Gaussian latitudes. Cells end midway between latitudes, or at the poles. */
static cubed_status set_gaussian(grid_text *t, int64_t ny, int64_t nx)
{
    double *lat, *lon;
    CB_TRY(set_axes(t, ny, nx, &lat, &lon));
    CB_TRY(set_gaussian_latitudes(t, lat, ny));
    even(lon, nx, 0, 360 / (double)nx);
    return CUBED_OK;
}

/* Sets bounds of a grid around the earth with even steps. An axis may have only one cell. */
static cubed_status set_bounds(grid_text *t, const double *lat, const double *lon)
{
    const int64_t ny = t->cells.shape[0], nx = t->cells.shape[1];
    const double step = ny > 1 ? lat[1] - lat[0] : 180, turn = 360 / (double)nx;
    double *y = numbers(t, 2 * ny), *x = numbers(t, 2 * nx);
    if (!y || !x) return no_memory(t);
    for (int64_t i = 0; i < 2 * ny; i++)
        y[i] = fmin(90, fmax(-90, lat[i / 2] + (i % 2 ? step : -step) / 2));
    for (int64_t i = 0; i < 2 * nx; i++) x[i] = lon[i / 2] + (i % 2 ? turn : -turn) / 2;
    t->cells.corners = 2;
    t->cells.lat_bounds = y;
    t->cells.lon_bounds = x;
    return CUBED_OK;
}

/* --- Names --------------------------------------------------------------------------------------------- */

/* Each of these functions reads a part of *s and advances *s, or returns false. */

static bool take_word(const char **s, const char *word)
{
    const size_t n = strlen(word);
    if (strncmp(*s, word, n) != 0) return false;
    *s += n;
    return true;
}

/* Reads an integer of at most nine digits. */
static bool take_whole(const char **s, int64_t *v)
{
    const char *from = *s;
    for (*v = 0; isdigit((unsigned char)**s); (*s)++) {
        if (*s - from == 9) return false;
        *v = 10 * *v + (**s - '0');
    }
    return *s > from;
}

static bool take_number(const char **s, double *v)
{
    char *end;
    *v = strtod(*s, &end);
    const bool taken = end > *s;
    *s = end;
    return taken;
}

static cubed_status of_name(grid_text *t, const char *name, bool *known)
{
    int64_t nx = 0, ny = 0;
    double a = 0, b = 0, *lat, *lon;
    const char *s = name;
    *known = true;
    if (take_word(&s, "r") && take_whole(&s, &nx) && take_word(&s, "x") && take_whole(&s, &ny) &&
        !*s) {
        CB_TRY(set_axes(t, ny, nx, &lat, &lon));
        even(lon, nx, 0, 360 / (double)nx);
        /* As in CDO, an odd number of latitudes includes the poles, an even number does not. */
        const double step = ny % 2 == 1 && ny > 1 ? 180 / (double)(ny - 1) : 180 / (double)ny;
        even(lat, ny, ny % 2 == 1 && ny > 1 ? -90 : -90 + step / 2, step);
        return set_bounds(t, lat, lon);
    }
    s = name;
    if ((take_word(&s, "n") || take_word(&s, "F")) && take_whole(&s, &ny) && !*s)
        return set_gaussian(t, 2 * ny, 4 * ny);
    s = name;
    if (take_word(&s, "global_") && take_number(&s, &a) && !*s) {
        if (!(a >= 0.001 && a <= 180))
            return cb_fail(t->err, CUBED_E_ARG,
                           "grid %s: steps of %g degrees, expected from 0.001 to 180", name, a);
        nx = llround(360 / a);
        ny = llround(180 / a);
        CB_TRY(set_axes(t, ny, nx, &lat, &lon));
        even(lon, nx, -180 + a / 2, a);
        even(lat, ny, -90 + a / 2, a);
        return CUBED_OK;
    }
    s = name;
    if (take_word(&s, "lon=") && take_number(&s, &a) && take_word(&s, "_lat=") &&
        take_number(&s, &b) && !*s) {
        CB_TRY(set_axes(t, 1, 1, &lat, &lon));
        *lon = a;
        *lat = b;
        return CUBED_OK;
    }
    *known = false;
    return CUBED_OK;
}

/* --- Description files --------------------------------------------------------------------------------- */

enum { MOST_KEYS = 64, KEY_BYTES = 32 };

/* An entry of a description. The value is the text from `value` to `end`, which may contain comments. */
typedef struct grid_entry {
    char key[KEY_BYTES];
    const char *value, *end;
} grid_entry;

typedef struct grid_entries {
    grid_entry list[MOST_KEYS];
    int n;
} grid_entries;

static const char *line_end(const char *s)
{
    const char *end = strchr(s, '\n');
    return end ? end : s + strlen(s);
}

/* Finds "key = value" on each line. A line without a key continues the value before it. */
static cubed_status read_entries(const grid_text *t, const char *text, grid_entries *e)
{
    e->n = 0;
    for (const char *s = text; *s != '\0';) {
        const char *end = line_end(s), *comment = memchr(s, '#', (size_t)(end - s));
        const char *stop = comment ? comment : end, *equals = memchr(s, '=', (size_t)(stop - s));
        if (equals) {
            size_t n = 0;
            if (e->n == MOST_KEYS)
                return cb_fail(t->err, CUBED_E_ARG, "grid description: more than %d keys",
                               MOST_KEYS);
            grid_entry *at = &e->list[e->n++];
            for (const char *c = s; c < equals; c++) {
                if (!isspace((unsigned char)*c) && n < KEY_BYTES - 1) at->key[n++] = *c;
            }
            at->key[n] = '\0';
            at->value = equals + 1;
            at->end = end;
        } else if (e->n > 0) {
            e->list[e->n - 1].end = end;
        }
        s = *end == '\0' ? end : end + 1;
    }
    return CUBED_OK;
}

static const grid_entry *find_entry(const grid_entries *e, const char *key)
{
    for (int i = 0; i < e->n; i++) {
        if (strcmp(e->list[i].key, key) == 0) return &e->list[i];
    }
    return NULL;
}

/* Copies the first word of a value, and omits quotes. */
static void first_word(const grid_entry *e, char *word, size_t size)
{
    size_t n = 0;
    const char *s = e->value;
    while (s < e->end && (isspace((unsigned char)*s) || *s == '"')) s++;
    for (; s < e->end && !isspace((unsigned char)*s) && *s != '"' && *s != '#'; s++) {
        if (n < size - 1) word[n++] = *s;
    }
    word[n] = '\0';
}

/* Reads the numbers of a value, up to the first word that is not a number. Writes at most `n` numbers to `out`. Returns how
 * many there are, at most n + 1. */
static int64_t read_numbers(const grid_entry *e, double *out, int64_t n)
{
    int64_t count = 0;
    for (const char *s = e->value; s < e->end && count <= n;) {
        char *after;
        if (*s == '#') {
            s = line_end(s);
            continue;
        }
        if (isspace((unsigned char)*s) || *s == ',') {
            s++;
            continue;
        }
        const double v = strtod(s, &after);
        if (after == s || after > e->end) return -1;
        if (count < n) out[count] = v;
        count++;
        s = after;
    }
    return count;
}

static cubed_status one_number(const grid_text *t, const grid_entries *e, const char *key,
                               double fallback, double *out)
{
    const grid_entry *at = find_entry(e, key);
    *out = fallback;
    if (at && read_numbers(at, out, 1) != 1)
        return cb_fail(t->err, CUBED_E_ARG, "grid description: %s is not a number", key);
    return CUBED_OK;
}

static cubed_status one_count(const grid_text *t, const grid_entries *e, const char *key,
                              int64_t fallback, int64_t *out)
{
    double v;
    CB_TRY(one_number(t, e, key, (double)fallback, &v));
    if (!(v >= 0 && v <= (double)CB_GRID_MOST_CELLS) || v != floor(v))
        return cb_fail(t->err, CUBED_E_ARG, "grid description: %s is %g, expected a whole number",
                       key, v);
    *out = (int64_t)v;
    return CUBED_OK;
}

/* Reads the `n` numbers of a key, in degrees. Sets *out to NULL if the key does not exist. */
static cubed_status many_numbers(const grid_text *t, const grid_entries *e, const char *key,
                                 const char *units_key, int64_t n, const double **out)
{
    const grid_entry *at = find_entry(e, key), *units = find_entry(e, units_key);
    char word[KEY_BYTES] = "";
    *out = NULL;
    if (!at) return CUBED_OK;
    double *v = numbers(t, n);
    if (!v) return no_memory(t);
    const int64_t found = read_numbers(at, v, n);
    if (found != n)
        return cb_fail(t->err, CUBED_E_ARG,
                       "grid description: %s has %s%lld numbers, expected %lld", key,
                       found > n ? "more than " : "",
                       (long long)(found < 0   ? 0
                                   : found > n ? n
                                               : found),
                       (long long)n);
    if (units) first_word(units, word, sizeof word);
    if (strncmp(word, "radian", 6) == 0) {
        for (int64_t i = 0; i < n; i++) v[i] *= 180 / 3.14159265358979323846;
    } else if (word[0] != '\0' && strncmp(word, "degree", 6) != 0) {
        return cb_fail(t->err, CUBED_E_ARG,
                       "grid description: %s is \"%s\", expected degrees or "
                       "radians",
                       units_key, word);
    }
    *out = v;
    return CUBED_OK;
}

/* Reads the values of an axis: a list, or the first value and the step. */
static cubed_status axis_of(const grid_text *t, const grid_entries *e, char axis, int64_t n,
                            const double **out)
{
    char vals[] = "?vals", units[] = "?units", first[] = "?first", inc[] = "?inc";
    double start, step;
    vals[0] = units[0] = first[0] = inc[0] = axis;
    CB_TRY(many_numbers(t, e, vals, units, n, out));
    if (*out) return CUBED_OK;
    if (!find_entry(e, first) || !find_entry(e, inc))
        return cb_fail(t->err, CUBED_E_ARG,
                       "grid description: expected %s, or %s and %s, got neither", vals, first,
                       inc);
    CB_TRY(one_number(t, e, first, 0, &start));
    CB_TRY(one_number(t, e, inc, 0, &step));
    double *v = numbers(t, n);
    if (!v) return no_memory(t);
    even(v, n, start, step);
    *out = v;
    return CUBED_OK;
}

/* Reads the bounds of cells, if both axes have bounds. */
static cubed_status bounds_of(grid_text *t, const grid_entries *e, int corners, int64_t nlat,
                              int64_t nlon)
{
    const double *lat = NULL, *lon = NULL;
    if (!find_entry(e, "xbounds") || !find_entry(e, "ybounds")) return CUBED_OK;
    CB_TRY(many_numbers(t, e, "ybounds", "yunits", nlat * corners, &lat));
    CB_TRY(many_numbers(t, e, "xbounds", "xunits", nlon * corners, &lon));
    t->cells.corners = corners;
    t->cells.lat_bounds = lat;
    t->cells.lon_bounds = lon;
    return CUBED_OK;
}

/* Reads the key "mask": a number for each cell, 0 if it is not in use. */
static cubed_status mask_of(grid_text *t, const grid_entries *e)
{
    const double *v;
    int64_t n = 0;
    if (!find_entry(e, "mask")) return CUBED_OK;
    if (cb_count(t->cells.ndim, t->cells.shape, &n) || n < 1 || n > CB_GRID_MOST_CELLS)
        return cb_fail(t->err, CUBED_E_ARG, "grid description: the grid has a mask but no cells");
    CB_TRY(many_numbers(t, e, "mask", "", n, &v));
    bool *mask = cb_zone_alloc(t->zone, (size_t)n * sizeof *mask);
    if (!mask) return no_memory(t);
    for (int64_t i = 0; i < n; i++) mask[i] = v[i] != 0;
    t->cells.mask = mask;
    return CUBED_OK;
}

static cubed_status of_axes(grid_text *t, const grid_entries *e, bool is_gaussian, int64_t nx,
                            int64_t ny)
{
    double *lat, *lon;
    CB_TRY(set_axes(t, ny, nx, &lat, &lon));
    if (is_gaussian && !find_entry(e, "yvals"))
        CB_TRY(set_gaussian_latitudes(t, lat, ny));
    else
        CB_TRY(axis_of(t, e, 'y', ny, &t->cells.lat));
    if (is_gaussian && !find_entry(e, "xvals") && !find_entry(e, "xfirst"))
        even(lon, nx, 0, 360 / (double)nx);
    else
        CB_TRY(axis_of(t, e, 'x', nx, &t->cells.lon));
    return bounds_of(t, e, 2, ny, nx);
}

static cubed_status of_cells(grid_text *t, const grid_entries *e, bool two, int64_t nx, int64_t ny)
{
    int64_t n = nx, corners = 0;
    if (two && (nx < 1 || ny < 1 || nx > CB_GRID_MOST_CELLS / ny))
        return cb_fail(t->err, CUBED_E_ARG,
                       "grid description: xsize is %lld and ysize %lld, expected positive numbers "
                       "with a product in range",
                       (long long)nx, (long long)ny);
    if (two) n = nx * ny;
    CB_TRY(one_count(t, e, "gridsize", n, &n));
    if (two && n != nx * ny)
        return cb_fail(t->err, CUBED_E_ARG,
                       "grid description: gridsize is %" PRId64
                       ", expected xsize * ysize, %" PRId64,
                       n, nx * ny);
    CB_TRY(one_count(t, e, "nvertex", two ? 4 : 0, &corners));
    t->cells.regular = false;
    t->cells.ndim = two ? 2 : 1;
    t->cells.shape[0] = two ? ny : n;
    t->cells.shape[1] = two ? nx : 1;
    CB_TRY(axis_of(t, e, 'y', n, &t->cells.lat));
    CB_TRY(axis_of(t, e, 'x', n, &t->cells.lon));
    if (corners > 64 || (corners > 0 && n > CB_GRID_MOST_CELLS / corners))
        return cb_fail(t->err, CUBED_E_ARG, "grid description: nvertex is %lld, expected 3 to 64",
                       (long long)corners);
    return corners > 0 ? bounds_of(t, e, (int)corners, n, n) : CUBED_OK;
}

static cubed_status cells_of_type(grid_text *t, const grid_entries *e, const char *type, int64_t nx,
                                  int64_t ny)
{
    if (strcmp(type, "lonlat") == 0 || strcmp(type, "latlon") == 0)
        return of_axes(t, e, false, nx, ny);
    if (strcmp(type, "gaussian") == 0) return of_axes(t, e, true, nx, ny);
    if (strcmp(type, "curvilinear") == 0) return of_cells(t, e, true, nx, ny);
    if (strcmp(type, "unstructured") == 0 || strcmp(type, "cell") == 0)
        return of_cells(t, e, false, nx, ny);
    return cb_fail(t->err, CUBED_E_UNSUPPORTED,
                   "grid description: gridtype is \"%s\", expected lonlat, gaussian, curvilinear "
                   "or unstructured",
                   type);
}

static cubed_status of_description(grid_text *t, const char *text)
{
    grid_entries *e = cb_zone_alloc(t->zone, sizeof *e);
    char type[KEY_BYTES] = "";
    int64_t nx, ny;
    if (!e) return no_memory(t);
    CB_TRY(read_entries(t, text, e));
    const grid_entry *at = find_entry(e, "gridtype");
    if (!at) return cb_fail(t->err, CUBED_E_ARG, "grid description: gridtype is missing");
    first_word(at, type, sizeof type);
    CB_TRY(one_count(t, e, "xsize", 0, &nx));
    CB_TRY(one_count(t, e, "ysize", 0, &ny));
    CB_TRY(cells_of_type(t, e, type, nx, ny));
    return mask_of(t, e);
}

cubed_status cubed_grid_parse(cubed_context *ctx, const char *text, cubed_grid **out,
                              cubed_error *err)
{
    grid_text t = {.ctx = ctx, .cells = CUBED_GRID_CELLS_INIT, .err = err};
    bool known;
    CB_TRY(cb_zone_new(&ctx->alloc, &t.zone, err));
    cubed_status st = of_name(&t, text, &known);
    if (st == CUBED_OK && !known) {
        st = strstr(text, "gridtype") && strchr(text, '=')
                 ? of_description(&t, text)
                 : cb_fail(err, CUBED_E_ARG,
                           "\"%.60s\" is not a grid, expected r360x180 (longitudes and "
                           "latitudes), global_0.25 (degrees), n80 or F80 (Gaussian), "
                           "lon=10_lat=50 (a point), or a grid description with gridtype",
                           text);
    }
    if (st == CUBED_OK) st = cubed_grid_new(ctx, &t.cells, out, err);
    cb_zone_free(t.zone);
    return st;
}
