/* GRIB files, editions 1 and 2: presents their fields as arrays over member, time, step and level, with the names and
 * attributes of cfgrib. A chunk is one field, so a task reads only the messages of its fields.
 *
 * The time of a field is the time for which it is valid. If forecasts overlap, so that several fields of a variable are valid
 * at one time, the dimensions are the reference time and the step instead. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/le.h"
#include "base/text.h"
#include "files/arrays.h"
#include "files/grib_index.h"

/* A coordinate that several variables may share. */
typedef struct coordinate {
    const char *base; /* name without the number that was appended to make it unique */
    const char *name;
    int ndim;
    int64_t shape[2];
    /* names of the dimensions; the first is NULL if the only dimension has the name of the coordinate */
    const char *dims[2];
    size_t bytes;
    const void *data;
} coordinate;

/* Names of the coordinates of a grid, and of its dimensions. */
typedef struct grid_names {
    const char *latitude, *longitude; /* NULL: unknown */
    const char *rows, *columns;       /* rows: NULL if the grid is a list of points */
} grid_names;

typedef struct cube {
    cb_file *f;
    cb_arrays *arrays;
    cb_grib_index index;
    coordinate *coordinates;
    int n, cap;
    /* Grids by their number. latitude and columns are NULL until the grid is described. */
    grid_names *grids;
} cube;

/* --- Names -------------------------------------------------------------------------------------------- */

static bool is_taken(const cube *c, const char *name)
{
    for (int i = 0; i < c->arrays->n; i++) {
        if (strcmp(c->arrays->list[i].path, name) == 0) return true;
    }
    for (int i = 0; c->grids && i < c->index.ngrids; i++) {
        const grid_names *g = &c->grids[i];
        if ((g->rows && strcmp(g->rows, name) == 0) ||
            (g->columns && strcmp(g->columns, name) == 0))
            return true;
    }
    return false;
}

/* Returns `base`, or `base` with the first number from 2 on that makes it unique; NULL if out of memory. */
static const char *unique_name(const cube *c, const char *base)
{
    char name[300];
    snprintf(name, sizeof name, "%s", base);
    for (int i = 2; is_taken(c, name); i++) snprintf(name, sizeof name, "%s_%d", base, i);
    return cb_zone_strdup(c->f->zone, name);
}

/* --- Attributes --------------------------------------------------------------------------------------- */

typedef struct attribute {
    const char *name, *text; /* text: NULL if the attribute is omitted */
} attribute;

static const char *attributes_text(const cube *c, const attribute *list, int n, bool is_array)
{
    json_t *attrs = json_object();
    bool ok = attrs != NULL;
    for (int i = 0; i < n && ok; i++) {
        const uint8_t *text = (const uint8_t *)list[i].text;
        if (!text) continue;
        ok = cb_attribute_json_set(attrs, list[i].name, cb_text_json(text, strlen(list[i].text)),
                                   NULL);
    }
    const char *out = ok ? cb_attributes_text(c->f, c->f->zone, attrs, is_array) : NULL;
    json_decref(attrs);
    return out;
}

/* Attributes of coordinates, by name. */
static const struct words {
    const char *base, *units, *standard_name, *long_name, *calendar, *positive;
} known[] = {
    {"latitude", "degrees_north", "latitude", "latitude", NULL, NULL},
    {"longitude", "degrees_east", "longitude", "longitude", NULL, NULL},
    {"number", "1", "realization", "ensemble member numerical id", NULL, NULL},
    {"time", "seconds since 1970-01-01T00:00:00", "time", "time", "proleptic_gregorian", NULL},
    {"forecast_reference_time", "seconds since 1970-01-01T00:00:00", "forecast_reference_time",
     "initial time of forecast", "proleptic_gregorian", NULL},
    {"step", "hours", "forecast_period", "time since forecast_reference_time", NULL, NULL},
    {"isobaricInhPa", "hPa", "air_pressure", "pressure", NULL, "down"},
    {"isobaricInPa", "Pa", "air_pressure", "pressure", NULL, "down"},
    {"isobaricLayer", "Pa", "air_pressure", "pressure", NULL, "down"},
    {"hybrid", "1", "atmosphere_hybrid_sigma_pressure_coordinate", "hybrid level", NULL, "down"},
    {"heightAboveGround", "m", "height", "height above the surface", NULL, "up"},
    {"heightAboveSea", "m", "altitude", "height above mean sea level", NULL, "up"},
    {"depthBelowLand", "m", "depth", "soil depth", NULL, "down"},
    {"depthBelowLandLayer", "m", "depth", "soil depth", NULL, "down"},
};

static const char *words_of(const cube *c, const char *base)
{
    char text[300];
    struct words w = {.base = NULL};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].base, base) == 0) w = known[i];
    }
    if (!w.base) {
        snprintf(text, sizeof text, "original GRIB coordinate for key: level(%s)", base);
        w = (struct words){.units = "1", .long_name = text};
    }
    const attribute list[] = {{"units", w.units},
                              {"standard_name", w.standard_name},
                              {"long_name", w.long_name},
                              {"calendar", w.calendar},
                              {"positive", w.positive}};
    return attributes_text(c, list, sizeof list / sizeof *list, true);
}

/* --- Coordinates -------------------------------------------------------------------------------------- */

#define LITTLE "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"

static bool are_equal(const coordinate *a, const coordinate *b)
{
    if (strcmp(a->base, b->base) != 0 || a->ndim != b->ndim || a->bytes != b->bytes) return false;
    for (int d = 0; d < a->ndim; d++) {
        if (a->shape[d] != b->shape[d] || !cb_text_equal(a->dims[d], b->dims[d])) return false;
    }
    return memcmp(a->data, b->data, a->bytes) == 0;
}

/* Finds or adds a coordinate, and sets its name. Elements have eight bytes, in little-endian order. */
static cubed_status find_coordinate(cube *c, coordinate *x, bool is_float, cubed_error *err)
{
    for (int i = 0; i < c->n; i++) {
        x->name = c->coordinates[i].name;
        if (are_equal(&c->coordinates[i], x)) return CUBED_OK;
    }
    x->name = unique_name(c, x->base);
    x->data = cb_zone_memdup(c->f->zone, x->data, x->bytes);
    const bool grown =
        cb_zone_grow(c->f->zone, &c->coordinates, c->n, &c->cap, sizeof *c->coordinates);
    cb_array_in *a = x->name ? cb_arrays_add(c->f, c->arrays, x->name) : NULL;
    if (!a || !x->data || !grown) return cb_file_no_memory(c->f, err);
    c->coordinates[c->n++] = *x;
    a->is_array = true;
    a->ndim = x->ndim;
    for (int d = 0; d < x->ndim; d++) a->shape[d] = x->shape[d];
    a->item = 8;
    a->inside = x->data;
    cb_array_cut(a);
    const char *own[] = {x->name};
    const cb_array_words w = {.data_type = is_float ? "\"float64\"" : "\"int64\"",
                              .fill_value = is_float ? "\"NaN\"" : "0",
                              .codecs = LITTLE,
                              .attributes = words_of(c, x->base),
                              .dims = x->ndim == 0 ? NULL
                                      : x->dims[0] ? x->dims
                                                   : own};
    return w.attributes ? cb_array_describe(c->f, a, &w, err) : cb_file_no_memory(c->f, err);
}

static void put_double(uint8_t *at, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    cb_le_put(at, bits, 8);
}

/* Numbers of a coordinate. */
typedef struct numbers {
    const char *base, *dim; /* dim: NULL if the coordinate is itself a dimension */
    const double *values;
    int64_t n;
    bool scalar, is_float;
} numbers;

static cubed_status put_numbers(cube *c, numbers x, coordinate *out, cubed_error *err)
{
    const size_t bytes = (size_t)x.n * 8;
    uint8_t *data = cb_alloc(c->f->head.alloc, bytes);
    if (!data) return cb_file_no_memory(c->f, err);
    for (int64_t i = 0; i < x.n; i++) {
        if (x.is_float)
            put_double(data + 8 * i, x.values[i]);
        else
            cb_le_put(data + 8 * i, (uint64_t)(int64_t)x.values[i], 8);
    }
    *out = (coordinate){.base = x.base, .bytes = bytes, .data = data};
    if (!x.scalar) {
        out->ndim = 1;
        out->shape[0] = x.n;
        out->dims[0] = x.dim;
    }
    const cubed_status st = find_coordinate(c, out, x.is_float, err);
    cb_free(c->f->head.alloc, data, bytes);
    return st;
}

/* --- Arrays of fields --------------------------------------------------------------------------------- */

/* Adds an array whose chunks are fields. */
static cubed_status describe_fields(cube *c, cb_array_in *a, const cb_array_words *words,
                                    const char *var, const cb_grib_grid *g, bool simple,
                                    uint32_t most, cubed_error *err)
{
    char codec[300];
    cb_array_words w = *words;
    /* ecCodes ignores the flag `serpents` for points, and computes points row by row. */
    const bool serpents = g->serpents && strcmp(var, "values") == 0;
    snprintf(codec, sizeof codec,
             "{\"name\":\"cubed.grib\",\"configuration\":{\"var\":\"%s\",\"simple\":%s,"
             "\"columns\":%s,\"serpents\":%s,\"most\":%u}}",
             var, simple ? "true" : "false", g->by_columns ? "true" : "false",
             serpents ? "true" : "false", (unsigned)most);
    w.codecs = codec;
    w.fill_value = "\"NaN\"";
    a->is_array = true;
    a->chunked = true;
    a->masked = true;
    atomic_store(&a->known, true);
    return w.attributes ? cb_array_describe(c->f, a, &w, err) : cb_file_no_memory(c->f, err);
}

static void put_place(cb_chunk_place *p, const cb_grib_entry *e, uint64_t number)
{
    p->number = number;
    p->offset = e->offset;
    p->size = e->size;
    for (int i = 0; i < 4; i++) p->mask[i] = (uint8_t)(e->field >> (8 * i));
}

/* Adds the latitudes or longitudes of a grid whose points ecCodes computes when they are read. */
static cubed_status put_points(cube *c, const cb_grib_grid *g, const char *base, const char *var,
                               const char *const *dims, const char **name, cubed_error *err)
{
    const cb_grib_entry *e = &c->index.entries[g->entry];
    *name = unique_name(c, base);
    cb_array_in *a = *name ? cb_arrays_add(c->f, c->arrays, *name) : NULL;
    cb_chunk_place *p = cb_zone_alloc(c->f->zone, sizeof *p);
    if (!a || !p) return cb_file_no_memory(c->f, err);
    a->ndim = g->shape == CB_GRIB_LIST ? 1 : 2;
    a->shape[0] = a->chunk[0] = a->ndim == 1 ? g->columns : g->rows;
    a->shape[1] = a->chunk[1] = g->columns;
    a->item = 8;
    a->places = p;
    a->nplaces = 1;
    put_place(p, e, 0);
    const cb_array_words w = {
        .data_type = "\"float64\"", .attributes = words_of(c, base), .dims = dims};
    return describe_fields(c, a, &w, var, g, false, e->size, err);
}

/* Adds the coordinates and dimensions of a grid, unless they exist. */
static cubed_status put_grid(cube *c, int number, cubed_error *err)
{
    const cb_grib_grid *g = &c->index.grids[number];
    grid_names *n = &c->grids[number];
    coordinate x;
    if (n->columns || g->shape == CB_GRIB_SPECTRUM) return CUBED_OK;
    if (g->shape == CB_GRIB_LINES) {
        CB_TRY(put_numbers(c, (numbers){"latitude", NULL, g->latitude, g->rows, false, true}, &x,
                           err));
        n->latitude = n->rows = x.name;
        CB_TRY(put_numbers(c, (numbers){"longitude", NULL, g->longitude, g->columns, false, true},
                           &x, err));
        n->longitude = n->columns = x.name;
        return CUBED_OK;
    }
    const bool plane = g->shape == CB_GRIB_PLANE;
    if (plane) n->rows = unique_name(c, "y");
    n->columns = unique_name(c, plane ? "x" : "values");
    if (!n->columns || (plane && !n->rows)) return cb_file_no_memory(c->f, err);
    if (!g->located) return CUBED_OK;
    const char *const both[] = {n->rows, n->columns};
    const char *const *dims = plane ? both : both + 1;
    CB_TRY(put_points(c, g, "latitude", "latitudes", dims, &n->latitude, err));
    return put_points(c, g, "longitude", "longitudes", dims, &n->longitude, err);
}

/* --- Variables ---------------------------------------------------------------------------------------- */

/* The axes in front of the grid, in this order. */
typedef enum axis { MEMBER, TIME, STEP, LEVEL, AXES } axis;

/* The fields of a variable, and the values along its axes. */
typedef struct fields {
    const cb_grib_variable *v;
    cb_grib_entry *list; /* entries sorted by their positions in the file */
    int n;
    bool valid; /* TIME has the times at which fields are valid, and STEP has one value */
    /* values along each axis: pressures descending, all other values ascending */
    double *values[AXES];
    int64_t count[AXES];
    /* Only if `valid`: the reference time in seconds and the step in hours of each time. */
    double *reference, *step;
} fields;

static double step_hours(const cb_grib_entry *e) { return (double)e->step / 3600; }

static double value_on(const fields *x, const cb_grib_entry *e, axis a)
{
    switch (a) {
    case MEMBER: return (double)e->member;
    case TIME: return (double)(x->valid ? e->time + e->step : e->time);
    case STEP: return x->valid ? 0 : step_hours(e);
    default: return e->level;
    }
}

static int by_valid_time(const void *a, const void *b)
{
    const cb_grib_entry *x = a, *y = b;
    const int64_t p = x->time + x->step, q = y->time + y->step;
    return p == q ? (x->time > y->time) - (x->time < y->time) : p > q ? 1 : -1;
}

/* Returns true if all fields with the same valid time are of the same forecast. Sorts the fields. */
static bool has_one_forecast(fields *x)
{
    qsort(x->list, (size_t)x->n, sizeof *x->list, by_valid_time);
    for (int i = 1; i < x->n; i++) {
        const cb_grib_entry *e = &x->list[i];
        if (e[0].time + e[0].step == e[-1].time + e[-1].step && e[0].time != e[-1].time)
            return false;
    }
    return true;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_position(const void *a, const void *b)
{
    const cb_grib_entry *x = a, *y = b;
    return (x->position > y->position) - (x->position < y->position);
}

/* Collects the distinct values along an axis. */
static cubed_status collect(const cube *c, fields *x, axis a, cb_zone *zone, cubed_error *err)
{
    double *v = cb_zone_alloc(zone, (size_t)x->n * sizeof *v);
    int64_t n = 0;
    if (!v) return cb_file_no_memory(c->f, err);
    for (int i = 0; i < x->n; i++) v[i] = value_on(x, &x->list[i], a);
    qsort(v, (size_t)x->n, sizeof *v, by_value);
    for (int i = 0; i < x->n; i++) {
        if (n == 0 || v[i] > v[n - 1]) v[n++] = v[i];
    }
    for (int64_t i = 0; i < n / 2 && a == LEVEL && strncmp(x->v->level_type, "isobaric", 8) == 0;
         i++) {
        const double w = v[i];
        v[i] = v[n - 1 - i];
        v[n - 1 - i] = w;
    }
    x->values[a] = v;
    x->count[a] = n;
    return CUBED_OK;
}

static int64_t index_of(const fields *x, axis a, double v)
{
    const double *list = x->values[a];
    const bool down = list[0] > list[x->count[a] - 1];
    int64_t lo = 0, hi = x->count[a] - 1;
    while (lo < hi) {
        const int64_t mid = lo + (hi - lo) / 2;
        if (down ? list[mid] > v : list[mid] < v)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Describes the coordinates of a field, such as "time 2020-01-31T06:00:00, isobaricInhPa 850". */
static void describe_position(const fields *x, const double at[AXES], char *out, size_t cap)
{
    char when[40] = "?", member[40] = "", step[40] = "";
    struct tm utc;
    const time_t t = (time_t)at[TIME];
    if (gmtime_r(&t, &utc)) strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &utc);
    if (x->v->has_members) snprintf(member, sizeof member, "number %g, ", at[MEMBER]);
    if (!x->valid) snprintf(step, sizeof step, "step %g h, ", at[STEP]);
    snprintf(out, cap, "%s%s %s, %s%s %g", member, x->valid ? "time" : "reference time", when, step,
             x->v->level_type, at[LEVEL]);
}

/* Writes to `out` the first position that has no field, or has two fields. */
static void describe_fault(const fields *x, uint64_t position, const cb_grib_entry *twice,
                           char *out, size_t cap)
{
    char where[300];
    double at[AXES];
    for (int a = AXES - 1; a >= 0; a--) {
        at[a] = x->values[a][position % (uint64_t)x->count[a]];
        position /= (uint64_t)x->count[a];
    }
    describe_position(x, at, where, sizeof where);
    if (twice)
        snprintf(out, cap,
                 "messages %d and %d have the same coordinates (%s); copy one of them to another "
                 "file, for example with \"grib_copy -w count=%d\"",
                 twice[0].message, twice[1].message, where, twice[1].message);
    else
        snprintf(out, cap,
                 "no message has %s, although other messages of %s have each of these values; "
                 "select messages for all combinations, for example with \"grib_copy -w "
                 "shortName=%s,step=0 in.grib out.grib\"",
                 where, x->v->name, x->v->short_name);
}

/* Assigns a position to each field, and sorts the fields. Writes the reason to `out` if they do not fill the product of the
 * axes; otherwise "". */
static void arrange(fields *x, char *out, size_t cap)
{
    int64_t product = 1;
    *out = 0;
    for (int a = 0; a < AXES; a++) {
        if (cb_mul_i64(product, x->count[a], &product)) {
            snprintf(out, cap, "it has too many combinations of coordinates");
            return;
        }
    }
    for (int i = 0; i < x->n; i++) {
        uint64_t at = 0;
        for (int a = 0; a < AXES; a++)
            at = at * (uint64_t)x->count[a] +
                 (uint64_t)index_of(x, (axis)a, value_on(x, &x->list[i], (axis)a));
        x->list[i].position = at;
    }
    qsort(x->list, (size_t)x->n, sizeof *x->list, by_position);
    for (int i = 0; i < x->n; i++) {
        const bool twice = i > 0 && x->list[i].position == x->list[i - 1].position;
        if (!twice && x->list[i].position == (uint64_t)i) continue;
        describe_fault(x, twice ? x->list[i].position : (uint64_t)i, twice ? &x->list[i - 1] : NULL,
                       out, cap);
        return;
    }
    if (x->n < product) describe_fault(x, (uint64_t)x->n, NULL, out, cap);
}

/* Adds the times at which the fields of overlapping forecasts are valid. */
static cubed_status put_valid_times(cube *c, const fields *x, const coordinate *time,
                                    const coordinate *step, coordinate *out, cubed_error *err)
{
    const size_t bytes = (size_t)x->n * 8;
    uint8_t *data = cb_alloc(c->f->head.alloc, bytes), *at = data;
    if (!data) return cb_file_no_memory(c->f, err);
    for (int64_t i = 0; i < x->count[TIME]; i++) {
        for (int64_t k = 0; k < x->count[STEP]; k++, at += 8)
            cb_le_put(at, (uint64_t)(int64_t)(x->values[TIME][i] + x->values[STEP][k] * 3600), 8);
    }
    *out = (coordinate){.base = "time",
                        .ndim = 2,
                        .shape = {x->count[TIME], x->count[STEP]},
                        .dims = {time->name, step->name},
                        .bytes = (size_t)(at - data),
                        .data = data};
    const cubed_status st = find_coordinate(c, out, false, err);
    cb_free(c->f->head.alloc, data, bytes);
    return st;
}

/* Coordinates of a variable, and the names of the coordinates that are not dimensions, as one string. */
typedef struct coordinates {
    coordinate axis[AXES];
    char others[1200];
} coordinates;

static void add_other(coordinates *x, const char *name)
{
    const size_t n = strlen(x->others);
    snprintf(x->others + n, sizeof x->others - n, "%s%s", n ? " " : "", name);
}

static bool are_constant(const double *v, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        if (v[i] != v[0]) return false;
    }
    return true;
}

/* Adds a coordinate with the reference time or the step of each time of a variable. */
static cubed_status put_origin(cube *c, const fields *x, const char *base, const double *values,
                               bool is_float, coordinates *out, cubed_error *err)
{
    coordinate made;
    const int64_t n = are_constant(values, x->count[TIME]) ? 1 : x->count[TIME];
    CB_TRY(put_numbers(c, (numbers){base, out->axis[TIME].name, values, n, n == 1, is_float}, &made,
                       err));
    add_other(out, made.name);
    return CUBED_OK;
}

static cubed_status put_axes(cube *c, const fields *x, coordinates *out, cubed_error *err)
{
    const char *const names[] = {"number", x->valid ? "time" : "forecast_reference_time", "step",
                                 x->v->level_type};
    coordinate valid;
    out->others[0] = 0;
    for (int a = 0; a < AXES; a++) {
        coordinate *to = &out->axis[a];
        if ((a == MEMBER && !x->v->has_members) || (a == STEP && x->valid)) continue;
        const numbers values = {
            names[a], NULL, x->values[a], x->count[a], x->count[a] == 1, a == STEP || a == LEVEL};
        CB_TRY(put_numbers(c, values, to, err));
        if (to->ndim == 0) add_other(out, to->name);
    }
    if (!x->valid) {
        CB_TRY(put_valid_times(c, x, &out->axis[TIME], &out->axis[STEP], &valid, err));
        add_other(out, valid.name);
        return CUBED_OK;
    }
    CB_TRY(put_origin(c, x, "forecast_reference_time", x->reference, false, out, err));
    return put_origin(c, x, "step", x->step, true, out, err);
}

/* Finds the reference time and the step of each time. */
static cubed_status find_origins(const cube *c, fields *x, cb_zone *zone, cubed_error *err)
{
    if (!x->valid) return CUBED_OK;
    x->reference = cb_zone_alloc(zone, (size_t)x->count[TIME] * sizeof(double));
    x->step = cb_zone_alloc(zone, (size_t)x->count[TIME] * sizeof(double));
    if (!x->reference || !x->step) return cb_file_no_memory(c->f, err);
    for (int i = 0; i < x->n; i++) {
        const int64_t k = index_of(x, TIME, value_on(x, &x->list[i], TIME));
        x->reference[k] = (double)x->list[i].time;
        x->step[k] = step_hours(&x->list[i]);
    }
    return CUBED_OK;
}

static const char *variable_attributes(const cube *c, const cb_grib_variable *v, const char *others)
{
    char parameter[32];
    snprintf(parameter, sizeof parameter, "%ld", v->parameter);
    const attribute list[] = {{"units", v->units},
                              {"long_name", v->long_name},
                              {"standard_name", v->standard_name},
                              {"coordinates", others},
                              {"GRIB_paramId", parameter},
                              {"GRIB_shortName", v->short_name},
                              {"GRIB_typeOfLevel", v->level_type},
                              {"GRIB_stepType", v->step_type},
                              {"GRIB_gridType", c->index.grids[v->grid].type}};
    return attributes_text(c, list, sizeof list / sizeof *list, true);
}

/* Adds a variable that cannot be read. Opening it fails with the reason. */
static cubed_status refuse(cube *c, const cb_grib_variable *v, const char *why, cubed_error *err)
{
    cb_buf codec;
    const char *name = unique_name(c, v->name);
    cb_array_in *a = name ? cb_arrays_add(c->f, c->arrays, name) : NULL;
    json_t *text = json_string(why);
    cb_buf_init(&codec, c->f->head.alloc);
    cb_buf_puts(&codec, "{\"name\":\"cubed.grib\",\"configuration\":{\"refused\":");
    const bool ok = a && text && cb_json_dump(text, JSON_ENCODE_ANY, &codec);
    cb_buf_puts(&codec, "}}");
    const cb_array_words w = {.data_type = "\"float32\"",
                              .fill_value = "\"NaN\"",
                              .codecs = codec.data,
                              .attributes = variable_attributes(c, v, NULL)};
    if (a) a->is_array = true;
    const cubed_status st = ok && !codec.failed && w.attributes
                                ? cb_array_describe(c->f, a, &w, err)
                                : cb_file_no_memory(c->f, err);
    json_decref(text);
    cb_buf_free(&codec);
    return st;
}

static cubed_status put_array(cube *c, const fields *x, coordinates *k, cubed_error *err)
{
    const cb_grib_grid *g = &c->index.grids[x->v->grid];
    const grid_names *names = &c->grids[x->v->grid];
    const char *dims[AXES + 2];
    const char *name = unique_name(c, x->v->name);
    cb_array_in *a = name ? cb_arrays_add(c->f, c->arrays, name) : NULL;
    if (!a) return cb_file_no_memory(c->f, err);
    for (int i = 0; i < AXES; i++) {
        if (x->count[i] == 1) continue;
        dims[a->ndim] = k->axis[i].name;
        a->shape[a->ndim] = x->count[i];
        a->chunk[a->ndim++] = 1;
    }
    if (names->rows) {
        dims[a->ndim] = names->rows;
        a->shape[a->ndim] = a->chunk[a->ndim] = g->rows;
        a->ndim++;
    }
    dims[a->ndim] = names->columns;
    a->shape[a->ndim] = a->chunk[a->ndim] = g->columns;
    a->ndim++;
    a->item = x->v->wide ? 8 : 4;
    a->nplaces = (size_t)x->n;
    a->places = cb_zone_alloc(c->f->zone, a->nplaces * sizeof *a->places);
    if (!a->places) return cb_file_no_memory(c->f, err);
    for (int i = 0; i < x->n; i++) put_place(&a->places[i], &x->list[i], x->list[i].position);
    if (g->shape != CB_GRIB_LINES && names->latitude) {
        add_other(k, names->latitude);
        add_other(k, names->longitude);
    }
    const cb_array_words w = {.data_type = x->v->wide ? "\"float64\"" : "\"float32\"",
                              .attributes = variable_attributes(c, x->v, k->others),
                              .dims = dims};
    return describe_fields(c, a, &w, "values", g, x->v->simple, x->v->most, err);
}

/* Adds a variable with its coordinates. `zone` has the memory for the values along axes, which are not needed afterwards. */
static cubed_status put_variable(cube *c, int number, cb_zone *zone, cubed_error *err)
{
    const cb_grib_index *index = &c->index;
    const cb_grib_variable *v = &index->variables[number];
    fields x = {.v = v};
    coordinates k;
    char why[800];
    if (index->grids[v->grid].shape == CB_GRIB_SPECTRUM)
        return refuse(c, v,
                      "it has coefficients of spherical harmonics, expected values on a grid; "
                      "convert the file with \"cdo sp2gpl\"",
                      err);
    x.list = cb_zone_alloc(zone, (size_t)v->n * sizeof *x.list);
    if (!x.list) return cb_file_no_memory(c->f, err);
    for (int i = 0; i < index->n; i++) {
        if (index->entries[i].variable == number) x.list[x.n++] = index->entries[i];
    }
    x.valid = has_one_forecast(&x);
    for (int a = 0; a < AXES; a++) CB_TRY(collect(c, &x, (axis)a, zone, err));
    arrange(&x, why, sizeof why);
    if (*why) return refuse(c, v, why, err);
    CB_TRY(find_origins(c, &x, zone, err));
    CB_TRY(put_grid(c, v->grid, err));
    CB_TRY(put_axes(c, &x, &k, err));
    return put_array(c, &x, &k, err);
}

static cubed_status put_root(cube *c, cubed_error *err)
{
    const attribute list[] = {{"Conventions", "CF-1.7"},
                              {"GRIB_edition", c->index.edition == 1 ? "1" : "2"},
                              {"GRIB_centre", c->index.centre},
                              {"institution", c->index.institution}};
    cb_array_in *a = cb_arrays_add(c->f, c->arrays, "");
    const cb_array_words w = {.attributes =
                                  attributes_text(c, list, sizeof list / sizeof *list, false)};
    return a && w.attributes ? cb_array_describe(c->f, a, &w, err) : cb_file_no_memory(c->f, err);
}

/* --- The file ----------------------------------------------------------------------------------------- */

/* Files may begin with the heading of a bulletin, in front of the first message. */
static bool is_grib(cb_file *f, const uint8_t *first, size_t n)
{
    (void)f;
    for (size_t i = 0; i + 8 <= n; i++) {
        if (memcmp(first + i, "GRIB", 4) == 0 && (first[i + 7] == 1 || first[i + 7] == 2))
            return true;
    }
    return false;
}

static cubed_status open_grib(cb_file *f, cubed_error *err)
{
    cube c = {.f = f};
    cb_zone *zone = NULL;
    cubed_status st = CUBED_OK;
    c.arrays = cb_zone_alloc(f->zone, sizeof *c.arrays);
    if (!c.arrays) return cb_file_no_memory(f, err);
    f->data = c.arrays;
    CB_TRY(cb_grib_index_read(f, &c.index, err));
    c.grids = cb_zone_alloc(f->zone, (size_t)c.index.ngrids * sizeof *c.grids);
    if (!c.grids) return cb_file_no_memory(f, err);
    for (int i = 0; i < c.index.nvariables; i++) {
        CB_GO(cb_zone_new(f->head.alloc, &zone, err));
        CB_GO(put_variable(&c, i, zone, err));
        f->passing = cb_max_size(f->passing, cb_zone_bytes(zone));
        cb_zone_free(zone);
        zone = NULL;
    }
    CB_GO(put_root(&c, err));
    cb_arrays_sort(c.arrays);
out:
    cb_zone_free(zone);
    return st;
}

const cb_file_kind cb_file_grib = {
    .is = is_grib, .open = open_grib, .find = cb_arrays_find, .each = cb_arrays_each};
