#include "files/grib_index.h"

#define XXH_INLINE_ALL
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/text.h"
#include "dtype/element.h"
#include "files/grib_library.h"
#include "files/grib_message.h"

/* Limits of one field. Larger ones are refused, because the points of a grid are visited when a file is opened. */
#define MOST_POINTS ((uint64_t)1 << 27)
#define MOST_ROWS   65536
#define MOST_HEADER ((size_t)16 << 20)

/* The message that is being read. */
typedef struct scan {
    cb_file *f;
    cb_grib_index *x;
    uint64_t offset;
    uint64_t size;
    int message;
    uint8_t *header; /* message without values */
    size_t cap;
} scan;

static cubed_status read_file(void *ctx, uint64_t offset, void *dst, size_t n, cubed_error *err)
{
    const scan *s = ctx;
    return cb_file_get(s->f, s->offset + offset, dst, n, err);
}

/* --- Keys of ecCodes ---------------------------------------------------------------------------------- */

enum { TEXT = 256 };

/* An ecCodes handle of a message, and the functions of ecCodes that read its keys. */
typedef struct keys {
    const cb_eccodes *e;
    codes_handle *h;
} keys;

/* Gets the string of a key, or "" if ecCodes does not know the key. */
static void text_of(const keys *k, const char *key, char out[TEXT])
{
    size_t n = TEXT;
    if (k->e->get_string(k->h, key, out, &n) != 0 || n > TEXT) out[0] = 0;
    out[TEXT - 1] = 0;
    if (strcmp(out, "unknown") == 0 || strcmp(out, "undef") == 0 || strcmp(out, "not_found") == 0)
        out[0] = 0;
}

static bool long_of(const keys *k, const char *key, long *out)
{
    static const long missing = 2147483647; /* GRIB_MISSING_LONG */
    *out = 0;
    return k->e->get_long(k->h, key, out) == 0 && *out != missing;
}

static bool flag_of(const keys *k, const char *key)
{
    long v;
    return long_of(k, key, &v) && v == 1;
}

/* Copies a nonempty string to the zone; NULL if it is empty. */
static cubed_status keep_text(const scan *s, const char *text, const char **out, cubed_error *err)
{
    *out = *text ? cb_zone_strdup(s->f->zone, text) : NULL;
    return *text && !*out ? cb_file_no_memory(s->f, err) : CUBED_OK;
}

/* --- Grids -------------------------------------------------------------------------------------------- */

/* Hashes the description of the grid. */
static uint64_t hash_grid(const scan *s, const cb_grib_field *f)
{
    /* The header starts with the sections of the message in the same order. The grid is section 2 in edition 1, and section 3 in
     * edition 2. */
    const cb_grib_section x = f->section[f->edition == 1 ? 2 : 3];
    uint64_t at = 0;
    for (int i = 0; i < (f->edition == 1 ? 2 : 3); i++) at += f->section[i].size;
    const uint8_t *p = s->header + at;
    const size_t n = (size_t)x.size;
    if (f->edition == 2 || n < 32) return XXH3_64bits(p, n);
    /* In edition 1, this section also has the coordinates of levels. The lengths of rows follow them. */
    const uint64_t front = XXH3_64bits(p + 5, 27);
    const size_t rows = p[4] == 255 ? n : cb_min_size(n, (size_t)p[4] - 1 + 4 * (size_t)p[3]);
    return rows < n ? XXH3_64bits_withSeed(p + rows, n - rows, front) : front;
}

typedef struct lines {
    double *latitude, *longitude;
    const cb_grib_grid *g;
} lines;

static void keep_lines(void *ctx, uint64_t i, double latitude, double longitude)
{
    const lines *l = ctx;
    const uint64_t rows = (uint64_t)l->g->rows, columns = (uint64_t)l->g->columns;
    const uint64_t row = l->g->by_columns ? i % rows : i / columns;
    const uint64_t column = l->g->by_columns ? i / rows : i % columns;
    if (column == 0) l->latitude[row] = latitude;
    if (row == 0) l->longitude[column] = longitude;
}

/* Computes the latitudes of rows and the longitudes of columns. */
static cubed_status find_lines(const scan *s, const keys *k, cb_grib_grid *g, cubed_error *err)
{
    lines l = {.g = g};
    l.latitude = cb_zone_alloc(s->f->zone, (size_t)g->rows * sizeof(double));
    l.longitude = cb_zone_alloc(s->f->zone, (size_t)g->columns * sizeof(double));
    if (!l.latitude || !l.longitude) return cb_file_no_memory(s->f, err);
    g->latitude = l.latitude;
    g->longitude = l.longitude;
    return cb_eccodes_points(k->e, k->h, g->points, keep_lines, &l, err);
}

typedef struct first_point {
    double latitude, longitude;
} first_point;

static void keep_first(void *ctx, uint64_t i, double latitude, double longitude)
{
    if (i == 0) *(first_point *)ctx = (first_point){latitude, longitude};
}

/* Checks whether ecCodes computes the points in the order of the values. For projections, ecCodes 2.28 ignores the signs of the
 * scanning mode, and 2.50 reorders the values. */
static bool is_located(const keys *k, const cb_grib_grid *g)
{
    first_point p = {.latitude = (double)NAN};
    double latitude, longitude;
    if (cb_eccodes_points(k->e, k->h, g->points, keep_first, &p, NULL) != CUBED_OK) return false;
    if (g->shape == CB_GRIB_LIST || strncmp(g->type, "rotated", 7) == 0) return true;
    if (g->by_columns || g->serpents || flag_of(k, "iScansNegatively") ||
        !flag_of(k, "jScansPositively"))
        return false;
    if (k->e->get_double(k->h, "latitudeOfFirstGridPointInDegrees", &latitude) != 0 ||
        k->e->get_double(k->h, "longitudeOfFirstGridPointInDegrees", &longitude) != 0)
        return false;
    return fabs(p.latitude - latitude) < 1e-3 &&
           fabs(remainder(p.longitude - longitude, 360)) < 1e-3;
}

/* Checks whether the rows of a reduced grid together have the number of points in the message. ecCodes does not check this. */
static bool has_rows_of_points(const scan *s, const keys *k, uint64_t points)
{
    size_t n;
    long rows;
    uint64_t sum = 0;
    if (k->e->get_size(k->h, "pl", &n) != 0 || n == 0 || n > MOST_ROWS ||
        !long_of(k, "Nj", &rows) || rows != (long)n)
        return false;
    long *length = cb_alloc(s->f->head.alloc, n * sizeof *length);
    size_t got = n;
    bool ok = length && k->e->get_long_array(k->h, "pl", length, &got) == 0 && got == n;
    for (size_t i = 0; i < n && ok; i++) {
        ok = length[i] >= 0 && (uint64_t)length[i] <= points - sum;
        if (ok) sum += (uint64_t)length[i];
    }
    if (length) cb_free(s->f->head.alloc, length, n * sizeof *length);
    return ok && sum == points;
}

/* Grids whose points ecCodes computes safely if their rows and columns, or the lengths of their rows, are consistent. */
static const struct grid_type {
    const char *name;
    cb_grib_shape shape;
    bool gaussian;
} grid_types[] = {{"regular_ll", CB_GRIB_LINES, false},
                  {"regular_gg", CB_GRIB_LINES, true},
                  {"rotated_ll", CB_GRIB_PLANE, false},
                  {"rotated_gg", CB_GRIB_PLANE, true},
                  {"reduced_ll", CB_GRIB_LIST, false},
                  {"reduced_gg", CB_GRIB_LIST, true},
                  {"reduced_rotated_gg", CB_GRIB_LIST, true},
                  {"lambert", CB_GRIB_PLANE, false},
                  {"mercator", CB_GRIB_PLANE, false},
                  {"polar_stereographic", CB_GRIB_PLANE, false},
                  {"lambert_azimuthal_equal_area", CB_GRIB_PLANE, false}};

static const struct grid_type *find_type(const char *name)
{
    for (size_t i = 0; i < sizeof grid_types / sizeof *grid_types; i++) {
        if (strcmp(grid_types[i].name, name) == 0) return &grid_types[i];
    }
    return NULL;
}

static cubed_status check_type(const scan *s, const keys *k, const cb_grib_grid *g,
                               const struct grid_type *t, long rows, cubed_error *err)
{
    long n;
    const bool fits = t->shape == CB_GRIB_LIST
                          ? g->shape == CB_GRIB_LIST && has_rows_of_points(s, k, g->points)
                          : g->shape == CB_GRIB_PLANE;
    if (fits && t->gaussian && (!long_of(k, "N", &n) || n < 1 || n > MOST_ROWS / 2 || rows > 2 * n))
        return cb_fail(err, CUBED_E_FORMAT,
                       "a Gaussian grid of %ld rows has a number N that does not match its rows",
                       rows);
    if (fits) return CUBED_OK;
    return cb_fail(
        err, CUBED_E_FORMAT,
        "a grid (%s) of %llu points has numbers of rows or columns that do not match its points",
        g->type, (unsigned long long)g->points);
}

static cubed_status measure_grid(const scan *s, const keys *k, const cb_grib_field *f,
                                 cb_grib_grid *g, cubed_error *err)
{
    long rows = 0, columns = 0, points;
    const struct grid_type *t = find_type(g->type);
    const bool has_rows = long_of(k, "Nj", &rows) && rows > 0;
    const bool has_columns = long_of(k, "Ni", &columns) && columns > 0;
    g->points = f->points;
    if (g->points == 0 && long_of(k, "numberOfDataPoints", &points) && points > 0)
        g->points = (uint64_t)points;
    if (g->points == 0 || g->points > MOST_POINTS)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "a field has %llu points, expected 1 to %llu (gridType %s)",
                       (unsigned long long)g->points, (unsigned long long)MOST_POINTS, g->type);
    if (has_rows && has_columns && (uint64_t)rows <= g->points / (uint64_t)columns &&
        (uint64_t)rows * (uint64_t)columns == g->points) {
        g->rows = rows;
        g->columns = columns;
        g->shape = CB_GRIB_PLANE;
        g->by_columns = flag_of(k, "jPointsAreConsecutive");
        g->serpents = flag_of(k, "alternativeRowScanning");
    } else {
        g->rows = 1;
        g->columns = (int64_t)g->points;
        g->shape = CB_GRIB_LIST;
    }
    if (!t) return CUBED_OK;
    CB_TRY(check_type(s, k, g, t, rows, err));
    g->shape = t->shape;
    if (g->shape == CB_GRIB_LINES) return find_lines(s, k, g, err);
    g->located = is_located(k, g);
    return CUBED_OK;
}

static bool are_equal_grids(const cb_grib_grid *a, const cb_grib_grid *b)
{
    if (a->shape != b->shape || a->rows != b->rows || a->columns != b->columns ||
        a->by_columns != b->by_columns || a->serpents != b->serpents)
        return false;
    if (a->shape != CB_GRIB_LINES) return a->hash == b->hash;
    return memcmp(a->latitude, b->latitude, (size_t)a->rows * sizeof(double)) == 0 &&
           memcmp(a->longitude, b->longitude, (size_t)a->columns * sizeof(double)) == 0;
}

/* Finds the grid of a field by its description, or adds it. *out is the grid's number. Grids with different descriptions of the
 * same points get the same number. */
static cubed_status find_grid(const scan *s, const keys *k, const cb_grib_field *f, int *out,
                              cubed_error *err)
{
    cb_grib_index *x = s->x;
    char type[TEXT];
    cb_grib_grid g = {.hash = hash_grid(s, f), .entry = x->n};
    for (int i = x->ngrids - 1; i >= 0; i--) {
        *out = x->grids[i].same_as;
        if (x->grids[i].hash == g.hash) return CUBED_OK;
    }
    text_of(k, "gridType", type);
    g.type = cb_zone_strdup(s->f->zone, *type ? type : "unknown");
    if (!g.type) return cb_file_no_memory(s->f, err);
    if (strcmp(type, "sh") == 0)
        g.shape = CB_GRIB_SPECTRUM;
    else
        CB_TRY(measure_grid(s, k, f, &g, err));
    g.same_as = 0;
    while (g.same_as < x->ngrids && !are_equal_grids(&x->grids[g.same_as], &g)) g.same_as++;
    *out = g.same_as;
    if (!cb_zone_grow(s->f->zone, &x->grids, x->ngrids, &x->cap_grids, sizeof g))
        return cb_file_no_memory(s->f, err);
    x->grids[x->ngrids++] = g;
    return CUBED_OK;
}

/* --- Variables ---------------------------------------------------------------------------------------- */

/* Gets a name for a parameter that has none: the numbers that identify it. */
static void number_parameter(const keys *k, int edition, char out[TEXT])
{
    long a = 0, b = 0, c = 0;
    if (edition == 1) {
        (void)long_of(k, "indicatorOfParameter", &a);
        (void)long_of(k, "table2Version", &b);
        snprintf(out, TEXT, "param%ld.%ld", a, b);
        return;
    }
    (void)long_of(k, "parameterNumber", &a);
    (void)long_of(k, "parameterCategory", &b);
    (void)long_of(k, "discipline", &c);
    snprintf(out, TEXT, "param%ld.%ld.%ld", a, b, c);
}

static cubed_status add_variable(const scan *s, const keys *k, cb_grib_variable v,
                                 const char *short_name, cubed_error *err)
{
    cb_grib_index *x = s->x;
    char name[TEXT];
    text_of(k, "cfVarName", name);
    for (char *c = name; *c; c++) {
        if (*c == '/') *c = '_';
    }
    CB_TRY(keep_text(s, *name ? name : short_name, &v.name, err));
    CB_TRY(keep_text(s, short_name, &v.short_name, err));
    text_of(k, "name", name);
    CB_TRY(keep_text(s, name, &v.long_name, err));
    text_of(k, "units", name);
    CB_TRY(keep_text(s, name, &v.units, err));
    text_of(k, "cfName", name);
    CB_TRY(keep_text(s, name, &v.standard_name, err));
    CB_TRY(keep_text(s, v.level_type, &v.level_type, err));
    CB_TRY(keep_text(s, v.step_type, &v.step_type, err));
    if (!cb_zone_grow(s->f->zone, &x->variables, x->nvariables, &x->cap_variables, sizeof v))
        return cb_file_no_memory(s->f, err);
    x->variables[x->nvariables++] = v;
    return CUBED_OK;
}

/* Finds or adds the variable of a field. */
static cubed_status find_variable(const scan *s, const keys *k, const cb_grib_field *f, int *out,
                                  cubed_error *err)
{
    cb_grib_index *x = s->x;
    char short_name[TEXT], level_type[TEXT], step_type[TEXT];
    cb_grib_variable v = {.simple = true, .level_type = level_type, .step_type = step_type};
    (void)long_of(k, "paramId", &v.parameter);
    text_of(k, "shortName", short_name);
    text_of(k, "typeOfLevel", level_type);
    text_of(k, "stepType", step_type);
    if (!*short_name) number_parameter(k, f->edition, short_name);
    if (!*level_type) strcpy(level_type, "level");
    for (char *c = short_name; *c; c++) {
        if (*c == '/') *c = '_';
    }
    CB_TRY(find_grid(s, k, f, &v.grid, err));
    for (int i = x->nvariables - 1; i >= 0; i--) {
        const cb_grib_variable *o = &x->variables[i];
        *out = i;
        if (o->grid == v.grid && o->parameter == v.parameter &&
            strcmp(o->short_name, short_name) == 0 && strcmp(o->level_type, level_type) == 0 &&
            strcmp(o->step_type ? o->step_type : "", step_type) == 0)
            return CUBED_OK;
    }
    *out = x->nvariables;
    return add_variable(s, k, v, short_name, err);
}

/* Gets a date (20200131) and a time of day (1345) as seconds since 1970. */
static cubed_status time_of(const keys *k, const char *date, const char *time, int64_t *out,
                            cubed_error *err)
{
    long d, t;
    if (!long_of(k, date, &d) || !long_of(k, time, &t) || d < 0 || d > 99991231 || t < 0 ||
        t > 2400)
        return cb_fail(err, CUBED_E_FORMAT, "the %s or %s of a field is not valid", date, time);
    const int month = (int)(d / 100 % 100), day = (int)(d % 100);
    if (month < 1 || month > 12 || day < 1 || day > 31)
        return cb_fail(err, CUBED_E_FORMAT, "the %s of a field is %ld, expected YYYYMMDD", date, d);
    *out = cb_days_of_date(d / 10000, month, day) * 86400 + t / 100 * 3600 + t % 100 * 60;
    return CUBED_OK;
}

static cubed_status add_entry(scan *s, const keys *k, const cb_grib_field *f, cubed_error *err)
{
    cb_grib_index *x = s->x;
    cb_grib_packing packing;
    const cb_grib_source source = {read_file, s, s->size};
    long second, member;
    int64_t valid;
    cb_grib_entry e = {
        .offset = s->offset, .size = (uint32_t)s->size, .field = f->number, .message = s->message};
    CB_TRY(cb_grib_packing_of(&source, f, &packing, err));
    CB_TRY(time_of(k, "dataDate", "dataTime", &e.time, err));
    CB_TRY(time_of(k, "validityDate", "validityTime", &valid, err));
    e.step = valid - e.time;
    if (long_of(k, "second", &second) && second > 0 && second < 60) e.time += second;
    if (k->e->get_double(k->h, "level", &e.level) != 0) e.level = 0;
    CB_TRY(find_variable(s, k, f, &e.variable, err));
    cb_grib_variable *v = &x->variables[e.variable];
    if (long_of(k, "perturbationNumber", &member)) {
        e.member = member;
        v->has_members = true;
    }
    v->simple = v->simple && packing.simple;
    v->wide = v->wide || packing.bits > 24;
    if (e.size > v->most) v->most = e.size;
    v->n++;
    if (!cb_zone_grow(s->f->zone, &x->entries, x->n, &x->cap, sizeof e))
        return cb_file_no_memory(s->f, err);
    x->entries[x->n++] = e;
    return CUBED_OK;
}

static cubed_status note_origin(const scan *s, const keys *k, const cb_grib_field *f,
                                cubed_error *err)
{
    char text[TEXT];
    if (s->x->edition) return CUBED_OK;
    s->x->edition = f->edition;
    text_of(k, "centre", text);
    CB_TRY(keep_text(s, text, &s->x->centre, err));
    text_of(k, "centreDescription", text);
    return keep_text(s, text, &s->x->institution, err);
}

/* --- Messages ----------------------------------------------------------------------------------------- */

/* A field of the message whose header was scanned. */
typedef struct described {
    scan *s;
    const cb_grib_field *f;
    size_t n;
} described;

static cubed_status add_described(const cb_eccodes *e, void *ctx, cubed_error *err)
{
    const described *d = ctx;
    const keys k = {e, e->handle_new_from_message(NULL, d->s->header, d->n)};
    if (!k.h) return cb_fail(err, CUBED_E_FORMAT, "ecCodes cannot parse the message");
    cubed_status st = add_entry(d->s, &k, d->f, err);
    if (st == CUBED_OK) st = note_origin(d->s, &k, d->f, err);
    e->handle_delete(k.h);
    return st;
}

static cubed_status read_field(void *ctx, const cb_grib_field *f, cubed_error *err)
{
    scan *s = ctx;
    const cb_grib_source source = {read_file, s, s->size};
    const size_t n = cb_grib_header_size(f);
    if (n > MOST_HEADER)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "the description of a field has %zu bytes, expected at most %zu", n,
                       MOST_HEADER);
    if (n > s->cap) {
        uint8_t *p = cb_resize(s->f->head.alloc, s->header, s->cap, n);
        if (!p) return cb_file_no_memory(s->f, err);
        s->header = p;
        s->cap = n;
        if (n > s->f->passing) s->f->passing = n;
    }
    CB_TRY(cb_grib_header(&source, f, s->header, err));
    described d = {s, f, n};
    return cb_eccodes_run(add_described, &d, err);
}

static cubed_status read_message(scan *s, cubed_error *err)
{
    const cb_grib_source rest = {read_file, s, s->f->info.size - s->offset};
    CB_TRY(cb_grib_measure(&rest, &s->size, err));
    if (s->size > UINT32_MAX)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "it has %llu bytes, expected less than 4 GiB: split it with grib_copy",
                       (unsigned long long)s->size);
    const cb_grib_source message = {read_file, s, s->size};
    return cb_grib_each_field(&message, read_field, s, err);
}

/* Moves to the next "GRIB" at or after the offset. Sets *found to false if there is no further message. */
static cubed_status find_message(scan *s, bool *found, cubed_error *err)
{
    uint8_t b[1024];
    *found = false;
    while (s->f->info.size - s->offset >= 4) {
        const uint64_t left = s->f->info.size - s->offset;
        const size_t n = left < sizeof b ? (size_t)left : sizeof b;
        CB_TRY(cb_file_get(s->f, s->offset, b, n, err));
        for (size_t i = 0; i + 4 <= n; i++) {
            *found = memcmp(b + i, "GRIB", 4) == 0;
            if (!*found) continue;
            s->offset += i;
            return CUBED_OK;
        }
        s->offset += n - 3;
    }
    return CUBED_OK;
}

cubed_status cb_grib_index_read(cb_file *f, cb_grib_index *out, cubed_error *err)
{
    scan s = {.f = f, .x = out};
    cubed_status st = CUBED_OK;
    bool found;
    for (;;) {
        CB_GO(find_message(&s, &found, err));
        if (!found) break;
        s.message++;
        st = read_message(&s, err);
        if (st != CUBED_OK) {
            st = cb_context(err, st, "%s: message %d at byte %llu", f->url, s.message,
                            (unsigned long long)s.offset);
            goto out;
        }
        s.offset += s.size;
    }
    if (out->n == 0) st = cb_file_bad(f, err, "it has no GRIB message");
out:
    cb_free(f->head.alloc, s.header, s.cap);
    return st;
}
