#include "joined.h"

#include <ctype.h>
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array_steps.h"
#include "cli.h"
#include "joined_order.h"
#include "lang/lang_arrays.h"

/* --- Names -------------------------------------------------------------------------------------------- */

bool joined_parse_overlap(const char *text, joined_overlap *out)
{
    static const char *const names[] = {"error", "first", "last"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *out = (joined_overlap)i;
        return true;
    }
    return false;
}

bool joined_is_pattern(const char *url)
{
    size_t n, store;
    if (strchr(url, JOINED_SEPARATOR)) return true;
    (void)cubed_url_path(url, &n, &store);
    return strcspn(url, "*?[") < store && !cli_is_there(url);
}

/* Compares names. Runs of digits are compared as numbers, so "h2" precedes "h10". */
static int by_name(const void *left, const void *right)
{
    const char *const *names[2] = {left, right};
    const char *a = *names[0], *b = *names[1];
    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            const size_t za = strspn(a, "0"), zb = strspn(b, "0");
            const size_t na = strspn(a + za, "0123456789"), nb = strspn(b + zb, "0123456789");
            const int c = na == nb ? memcmp(a + za, b + zb, na) : na < nb ? -1 : 1;
            if (c != 0) return c;
            a += za + na;
            b += zb + nb;
        } else {
            if (*a != *b) return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
            a++;
            b++;
        }
    }
    if (*a || *b) return *a ? 1 : -1;
    return strcmp(*names[0], *names[1]);
}

/* Appends the files that match the wildcards in a name, or the name itself. */
static void expand_one(const char *name, const char *path, int length, char ***urls, int *n)
{
    glob_t found;
    char *const one[1] = {(char *)(uintptr_t)name};
    char *const *names = one;
    size_t count = joined_is_pattern(name) ? 0 : 1;
    const bool globbed = count == 0 && glob(name, GLOB_NOSORT, NULL, &found) == 0;
    if (globbed) {
        qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, by_name);
        names = found.gl_pathv;
        count = found.gl_pathc;
    }
    *urls = cli_resize(*urls, ((size_t)*n + count) * sizeof **urls);
    for (size_t i = 0; i < count; i++)
        (*urls)[(*n)++] = cli_printf("%s%s%.*s", names[i], length ? "::" : "", length, path);
    if (globbed) globfree(&found);
}

char **joined_expand(const char *url, int *n)
{
    size_t length, store;
    const char *path = cubed_url_path(url, &length, &store);
    char *names = cli_printf("%.*s", (int)store, url), **urls = NULL;
    bool all = true;
    *n = 0;
    for (char *at = names; at && all;) {
        char *end = strchr(at, JOINED_SEPARATOR);
        const int before = *n;
        if (end) *end = 0;
        expand_one(at, path, (int)length, &urls, n);
        all = *n > before;
        at = end ? end + 1 : NULL;
    }
    cli_free(names);
    if (all) return urls;
    joined_free_urls(urls, *n);
    *n = 0;
    return NULL;
}

void joined_free_urls(char **urls, int n)
{
    for (int i = 0; i < n; i++) cli_free(urls[i]);
    cli_free(urls);
}

/* Splits STORE::GROUP/NAME, and returns STORE::GROUP, which the caller frees. *name points into `url`. */
static char *group_of(const char *url, const char **name)
{
    size_t n, store;
    const char *path = cubed_url_path(url, &n, &store);
    size_t cut = n;
    while (cut > 0 && path[cut - 1] != '/') cut--;
    *name = path + cut;
    while (cut > 0 && path[cut - 1] == '/') cut--;
    return cli_printf("%.*s%s%.*s", (int)store, url, cut ? "::" : "", (int)cut, path);
}

/* --- Parts -------------------------------------------------------------------------------------------- */

/* The arrays to concatenate, one from each file. */
typedef struct parts {
    int n;
    char **url;
    const char *name; /* name of the array */
    cubed_array **x;
    json_t **attrs;
} parts;

static void free_parts(parts *p)
{
    for (int i = 0; i < p->n; i++) {
        cubed_array_unref(p->x[i]);
        json_decref(p->attrs[i]);
    }
    cli_free(p->x);
    cli_free(p->attrs);
    joined_free_urls(p->url, p->n);
}

static json_t *attrs_of(const cubed_array *x)
{
    json_t *attrs = lang_attributes(cubed_array_attrs(x));
    return attrs ? attrs : json_object();
}

static void set_part(parts *p, int i, cubed_array *x)
{
    cubed_array_unref(p->x[i]);
    json_decref(p->attrs[i]);
    p->x[i] = x;
    p->attrs[i] = attrs_of(x);
}

/* Opens the array of each file. Takes ownership of `urls`. Returns CUBED_E_NOT_FOUND if no file has the array. */
static cubed_status open_parts(cubed_context *ctx, char **urls, int n, const char *name, parts *p,
                               cubed_error *err)
{
    int have = -1, lack = -1;
    cubed_status st = CUBED_OK;
    *p = (parts){n, urls, name, cli_alloc((size_t)n * sizeof *p->x),
                 cli_alloc((size_t)n * sizeof *p->attrs)};
    for (int i = 0; i < n && st == CUBED_OK; i++) {
        cubed_error own = CUBED_ERROR_INIT;
        st = cubed_array_open(ctx, urls[i], &p->x[i], &own);
        if (st == CUBED_OK) p->attrs[i] = attrs_of(p->x[i]);
        if (st == CUBED_OK && have < 0) have = i;
        if (st == CUBED_E_NOT_FOUND && lack < 0) lack = i;
        if (st != CUBED_OK && (st != CUBED_E_NOT_FOUND || lack == i)) *err = own;
        if (st == CUBED_E_NOT_FOUND) st = CUBED_OK;
    }
    if (st == CUBED_OK && have < 0) st = CUBED_E_NOT_FOUND;
    if (st == CUBED_OK && lack >= 0) {
        const char *ignored;
        char *without = group_of(urls[lack], &ignored), *with = group_of(urls[have], &ignored);
        st = cli_reject(err, "%s has no array \"%s\", which %s has", without, name, with);
        cli_free(without);
        cli_free(with);
    }
    if (st != CUBED_OK) free_parts(p);
    return st;
}

static bool differs(const json_t *a, const json_t *b, const char *name)
{
    const json_t *x = json_object_get(a, name), *y = json_object_get(b, name);
    return x != y && !json_equal(x, y);
}

/* Returns true if the attributes of both packings are equal as JSON, as cubed_array_open_parts requires. */
static bool has_same_packing(const json_t *a, const json_t *b)
{
    static const char *const names[] = {"scale_factor",  "add_offset", "_FillValue",
                                        "missing_value", "_Unsigned",  "dtype"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (differs(a, b, names[i])) return false;
    }
    return true;
}

/* Returns true if equal stored elements of both files have the same meaning and attributes. */
static bool is_packed_alike(const parts *p, int a, const cubed_cf_packing *of_a, int b,
                            const cubed_cf_packing *of_b)
{
    if (cubed_array_dtype(p->x[a]) != cubed_array_dtype(p->x[b]) || !of_a != !of_b) return false;
    return !of_a ||
           (cubed_cf_packing_equal(of_a, of_b) && of_a->has_own_fill == of_b->has_own_fill &&
            has_same_packing(p->attrs[a], p->attrs[b]));
}

/* Sets *same if stored elements have the same meaning in all files. */
static cubed_status compare_packing(const parts *p, bool *same, cubed_error *err)
{
    cubed_cf_packing *first;
    cubed_status st = cubed_cf_packing_of(p->x[0], &first, err);
    *same = true;
    if (st != CUBED_OK) return st;
    for (int i = 1; i < p->n && st == CUBED_OK && *same; i++) {
        cubed_cf_packing *own;
        st = cubed_cf_packing_of(p->x[i], &own, err);
        if (st != CUBED_OK) break;
        *same = is_packed_alike(p, 0, first, i, own);
        cubed_cf_packing_free(own);
    }
    cubed_cf_packing_free(first);
    return st;
}

static cubed_status decode_parts(parts *p, cubed_error *err)
{
    for (int i = 0; i < p->n; i++) {
        cubed_array *x;
        cubed_status st = cubed_cf_decode(p->x[i], &x, err);
        if (st != CUBED_OK) return st;
        set_part(p, i, x);
    }
    return CUBED_OK;
}

/* --- Times -------------------------------------------------------------------------------------------- */

static cubed_status with_scalar(cubed_op op, cubed_array **x, bool real, double value,
                                int64_t whole, cubed_error *err)
{
    cubed_scalar s = {.f64 = value};
    if (!real) s.i64 = whole;
    return step_with_number(op, x, real ? CUBED_FLOAT64 : CUBED_INT64, s, err);
}

/* Replaces elements of *y where the int64 element of x is NaT, which Xarray may store without a fill value. The new element
 * is NaT, or NaN if y is `real`. */
static cubed_status keep_missing(cubed_array *x, bool real, cubed_array **y, cubed_error *err)
{
    const cubed_scalar none = {.i64 = INT64_MIN}, nan = {.f64 = (double)NAN};
    cubed_array *key = NULL, *missing = NULL, *hit = NULL, *out = NULL;
    cubed_context *ctx = cubed_array_context(x);
    cubed_status st = cubed_array_full(ctx, CUBED_INT64, 0, NULL, NULL, &none, &key, err);
    if (st == CUBED_OK)
        st = cubed_array_full(ctx, real ? CUBED_FLOAT64 : CUBED_INT64, 0, NULL, NULL,
                              real ? &nan : &none, &missing, err);
    cubed_array *compare[2] = {x, key};
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_EQUAL, compare, 2, &hit, err);
    cubed_array *choose[3] = {hit, missing, *y};
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_WHERE, choose, 3, &out, err);
    cubed_array_unref(key);
    cubed_array_unref(missing);
    cubed_array_unref(hit);
    if (st != CUBED_OK) return st;
    cubed_array_unref(*y);
    *y = out;
    return CUBED_OK;
}

/* Returns true if integers convert exactly: a number in units of `from` equals number * *times + *more in units of `to`. */
static bool is_exact(const cubed_time_axis *from, const cubed_time_axis *to, int64_t *times,
                     int64_t *more)
{
    int64_t offset, unit, per;
    if (__builtin_sub_overflow(from->base, to->base, &offset) ||
        __builtin_mul_overflow(offset, to->divide, &offset) ||
        __builtin_mul_overflow(from->unit, to->divide, &unit) ||
        __builtin_mul_overflow(to->unit, from->divide, &per))
        return false;
    *times = unit / per;
    *more = offset / to->unit;
    return unit % per == 0 && offset % to->unit == 0;
}

/* Returns true if the times of a file fit in int64 in units of `to`, with a margin for bounds. */
static bool fits(const joined_file *f, const cubed_time_axis *to)
{
    for (int64_t i = 0; f->has_units && i < f->n; i++) {
        int64_t number;
        if (__builtin_sub_overflow(f->us[i], to->base, &number) ||
            __builtin_mul_overflow(number, to->divide, &number))
            return false;
        number /= to->unit;
        if (number > INT64_MAX / 2 || number < INT64_MIN / 2) return false;
    }
    return true;
}

/* Converts numbers from units of `from` to units of `to`. The result is float64 if `real`, otherwise int64, which requires that
 * the conversion is exact. */
static cubed_status convert(cubed_array *x, const cubed_time_axis *from, const cubed_time_axis *to,
                            bool real, cubed_array **out, cubed_error *err)
{
    int64_t times, more, offset;
    if (__builtin_sub_overflow(from->base, to->base, &offset))
        return cli_reject(err, "units of time with dates more than 290000 years apart");
    cubed_status st = cubed_astype(x, real ? CUBED_FLOAT64 : CUBED_INT64, out, err);
    if (st != CUBED_OK) return st;
    if (is_exact(from, to, &times, &more)) {
        if (times != 1) st = with_scalar(CUBED_OP_MULTIPLY, out, real, (double)times, times, err);
        if (st == CUBED_OK && more != 0)
            st = with_scalar(CUBED_OP_ADD, out, real, (double)more, more, err);
    } else {
        /* Converts to microseconds first, which float64 represents exactly up to 285 years. */
        const double steps[5] = {(double)from->unit, from->divide, (double)offset, to->divide,
                                 (double)to->unit};
        static const cubed_op ops[5] = {CUBED_OP_MULTIPLY, CUBED_OP_DIVIDE, CUBED_OP_ADD,
                                        CUBED_OP_MULTIPLY, CUBED_OP_DIVIDE};
        for (int i = 0; i < 5 && st == CUBED_OK; i++) {
            if (steps[i] != (ops[i] == CUBED_OP_ADD ? 0 : 1))
                st = with_scalar(ops[i], out, true, steps[i], 0, err);
        }
    }
    if (st == CUBED_OK && cubed_array_dtype(x) == CUBED_INT64) st = keep_missing(x, real, out, err);
    if (st != CUBED_OK) cubed_array_unref(*out);
    return st;
}

static bool is_whole(const cubed_array *x)
{
    const cubed_kind kind = cubed_dtype_kind(cubed_array_dtype(x));
    return kind == CUBED_KIND_INT || kind == CUBED_KIND_UINT;
}

/* Converts times to the units of the first file. Sets *converted if a part changed. */
static cubed_status convert_times(parts *p, const joined_order *order, bool *converted,
                                  cubed_error *err)
{
    cubed_time_axis *axis = cli_alloc((size_t)p->n * sizeof *axis);
    cubed_status st = CUBED_OK;
    bool all = true, same = true, real = false;
    int64_t times, more;
    *converted = false;
    for (int i = 0; i < p->n && st == CUBED_OK; i++) {
        bool is_time;
        const joined_file *file = order && order->has_coordinate ? &order->file[i] : NULL;
        st = joined_find_units(p->url[i], p->name, p->attrs[i], file, &is_time, &axis[i], err);
        all = all && is_time;
        same = same && is_time && axis[i].unit == axis[0].unit && axis[i].base == axis[0].base &&
               axis[i].divide == axis[0].divide && !differs(p->attrs[0], p->attrs[i], "units") &&
               !differs(p->attrs[0], p->attrs[i], "calendar");
        if (st == CUBED_OK && all && axis[i].calendar != axis[0].calendar)
            st = cli_reject(err, "%s: the calendar of \"%s\" is %s, expected %s as in %s",
                            p->url[i], p->name, cubed_calendar_name(axis[i].calendar),
                            cubed_calendar_name(axis[0].calendar), p->url[0]);
    }
    if (st != CUBED_OK || !all || same) goto out;
    st = decode_parts(p, err);
    for (int i = 0; i < p->n && st == CUBED_OK; i++)
        real = real || !is_whole(p->x[i]) || !is_exact(&axis[i], &axis[0], &times, &more) ||
               (order && order->has_coordinate && !fits(&order->file[i], &axis[0]));
    for (int i = 0; i < p->n && st == CUBED_OK; i++) {
        cubed_array *x;
        st = convert(p->x[i], &axis[i], &axis[0], real, &x, err);
        if (st == CUBED_OK) {
            /* the attributes of other files are dropped, because only those of the first file are used */
            cubed_array_unref(p->x[i]);
            p->x[i] = x;
        }
    }
    *converted = st == CUBED_OK;
out:
    cli_free(axis);
    return st;
}

/* --- The joined array --------------------------------------------------------------------------------- */

/* Returns true if units contain "since", so that they were converted. */
static bool are_times(const json_t *attrs)
{
    const char *units = json_string_value(json_object_get(attrs, "units"));
    return units && cubed_time_units_since(units);
}

/* Checks that all extents except the one along the axis are equal (axis -1: all extents). */
static cubed_status check_shapes(const parts *p, int axis, cubed_error *err)
{
    const int ndim = cubed_array_ndim(p->x[0]);
    for (int i = 1; i < p->n; i++) {
        const cubed_array *x = p->x[i];
        if (cubed_array_ndim(x) != ndim)
            return cli_reject(err, "%s: there are %d dimensions, expected %d as in %s", p->url[i],
                              cubed_array_ndim(x), ndim, p->url[0]);
        for (int d = 0; d < ndim; d++) {
            const char *name = cubed_array_dim_name(x, d),
                       *expected = cubed_array_dim_name(p->x[0], d);
            const int64_t n = cubed_array_shape(x)[d], want = cubed_array_shape(p->x[0])[d];
            if (strcmp(name ? name : "", expected ? expected : "") != 0)
                return cli_reject(
                    err, "%s: dimension %d is called \"%s\", expected \"%s\" as in %s", p->url[i],
                    d, name ? name : "", expected ? expected : "", p->url[0]);
            if (d != axis && n != want)
                return cli_reject(err,
                                  "%s: dimension %s (axis %d) has %" PRId64
                                  " elements, expected %" PRId64 " as in %s",
                                  p->url[i], name ? name : "", d, n, want, p->url[0]);
        }
    }
    return CUBED_OK;
}

/* Rejects part `i`, whose attribute differs from the first part's. */
static cubed_status reject_attribute(const parts *p, int i, const char *name, const char *remedy,
                                     cubed_error *err)
{
    char *text[2];
    for (int j = 0; j < 2; j++) {
        const json_t *v = json_object_get(p->attrs[j ? i : 0], name);
        text[j] = v ? json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)) : NULL;
    }
    const cubed_status st = cli_reject(
        err, "%s: the attribute %s is %.200s, expected %.200s as in %s: %s", p->url[i], name,
        text[1] ? text[1] : "not there", text[0] ? text[0] : "none", p->url[0], remedy);
    for (int j = 0; j < 2; j++) cli_free(text[j]);
    return st;
}

/* Rejects parts in different units, except times, which are converted. */
static cubed_status check_units(const parts *p, cubed_error *err)
{
    for (int i = 1; i < p->n && !are_times(p->attrs[0]); i++) {
        if (differs(p->attrs[0], p->attrs[i], "units"))
            return reject_attribute(p, i, "units", "convert the values of one file first", err);
    }
    return CUBED_OK;
}

/* Gives *x the dimension names of `like`, and the attributes `attrs`. */
static cubed_status describe(const cubed_array *like, const char *attrs, cubed_array **x,
                             cubed_error *err)
{
    const char *names[CUBED_MAX_NDIM];
    cubed_array *named, *out = NULL;
    for (int d = 0; d < cubed_array_ndim(*x); d++) names[d] = cubed_array_dim_name(like, d);
    cubed_status st = cubed_array_with_dim_names(*x, names, &named, err);
    if (st != CUBED_OK) return st;
    st = cubed_array_with_attrs(named, attrs, &out, err);
    cubed_array_unref(named);
    if (st != CUBED_OK) return st;
    cubed_array_unref(*x);
    *x = out;
    return CUBED_OK;
}

static void release(void *owner) { cli_free(owner); }

/* If files overlap, selects the elements of *x that the result keeps. */
static cubed_status select_remaining(const joined_order *order, int axis, cubed_array **x,
                                     cubed_error *err)
{
    cubed_array *positions, *y = NULL;
    int64_t *at = cli_alloc((size_t)(order->nat + 1) * sizeof *at);
    memcpy(at, order->at, (size_t)order->nat * sizeof *at);
    cubed_status st = cubed_array_from_memory(cubed_array_context(*x), CUBED_INT64, 1, &order->nat,
                                              NULL, NULL, at, &positions, err);
    if (st != CUBED_OK) {
        cli_free(at);
        return st;
    }
    cubed_array_set_owner(positions, release, at);
    cubed_array_set_made(positions);
    st = cubed_take(*x, positions, axis, &y, err);
    cubed_array_unref(positions);
    if (st == CUBED_OK) st = describe(*x, cubed_array_attrs(*x), &y, err);
    if (st != CUBED_OK) {
        cubed_array_unref(y);
        return st;
    }
    cubed_array_unref(*x);
    *x = y;
    return CUBED_OK;
}

/* Rejects parts whose stored elements have different meanings. */
static cubed_status check_stored(const parts *p, cubed_error *err)
{
    static const char *const names[] = {"units",      "calendar",      "scale_factor", "add_offset",
                                        "_FillValue", "missing_value", "_Unsigned",    "dtype"};
    for (int i = 1; i < p->n; i++) {
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            if (differs(p->attrs[0], p->attrs[i], names[k]))
                return reject_attribute(p, i, names[k],
                                        "--raw joins elements as they are stored; leave it out to "
                                        "join values",
                                        err);
        }
    }
    return CUBED_OK;
}

/* Joins the parts along an existing axis. */
static cubed_status join(joined_inputs *in, parts *p, joined_order *order, int axis,
                         joined_values values, cubed_array **out, cubed_error *err)
{
    bool changed = false, alike = true;
    char *attrs = NULL;
    const bool overlap = order && order->at, decode = values == JOINED_DECODED;
    cubed_status st = check_units(p, err);
    if (st == CUBED_OK)
        st =
            values == JOINED_STORED ? check_stored(p, err) : convert_times(p, order, &changed, err);
    if (st == CUBED_OK && decode && !changed) st = compare_packing(p, &alike, err);
    if (st == CUBED_OK && decode && !changed && (overlap || !alike)) {
        st = decode_parts(p, err);
        changed = true;
    }
    if (st != CUBED_OK) return st;
    if (!changed) {
        const char *dim = cubed_array_dim_name(p->x[0], axis);
        st = cubed_array_open_parts(in->ctx, (const char *const *)p->url, p->n, dim, out, err);
    } else {
        st = check_shapes(p, axis, err);
        attrs = json_dumps(p->attrs[0], JSON_REAL_PRECISION(17));
        if (st == CUBED_OK) st = cubed_concat(p->x, p->n, axis, out, err);
        if (st == CUBED_OK) {
            st = describe(p->x[0], attrs ? attrs : "{}", out, err);
            if (st != CUBED_OK) cubed_array_unref(*out);
        }
        cli_free(attrs);
    }
    if (st != CUBED_OK || !overlap) return st;
    st = select_remaining(order, axis, out, err);
    if (st != CUBED_OK) cubed_array_unref(*out);
    return st;
}

/* Orders files by their coordinate along the axis. Checks that coordinates of x's other dimensions agree in all files. */
static cubed_status find_order(joined_inputs *in, const char *pattern, parts *p, int axis,
                               joined_order **out, cubed_error *err)
{
    const char *dim = cubed_array_dim_name(p->x[0], axis), *name;
    char **groups = cli_alloc((size_t)p->n * sizeof *groups);
    for (int i = 0; i < p->n; i++) groups[i] = group_of(p->url[i], &name);
    cubed_status st = joined_find_order(in, pattern, groups, p->n, dim, out, err);
    for (int d = 0; d < cubed_array_ndim(p->x[0]) && st == CUBED_OK; d++) {
        const char *other = cubed_array_dim_name(p->x[0], d);
        if (d != axis && other) st = joined_check_coordinate(in, *out, other, err);
    }
    joined_free_urls(groups, p->n);
    return st;
}

/* Sorts the parts, which are in the order of file names, into the order of their coordinates. */
static cubed_status sort_parts(parts *p, const joined_order *order, int axis, cubed_error *err)
{
    const size_t n = (size_t)p->n;
    parts sorted = {p->n, cli_alloc(n * sizeof *sorted.url), p->name,
                    cli_alloc(n * sizeof *sorted.x), cli_alloc(n * sizeof *sorted.attrs)};
    cubed_status st = CUBED_OK;
    for (int k = 0; k < p->n; k++) {
        const joined_file *f = &order->file[k];
        const cubed_array *x = p->x[f->number_by_name];
        const int64_t own = axis < cubed_array_ndim(x) ? cubed_array_shape(x)[axis] : -1;
        sorted.url[k] = p->url[f->number_by_name];
        sorted.x[k] = p->x[f->number_by_name];
        sorted.attrs[k] = p->attrs[f->number_by_name];
        if (st == CUBED_OK && f->n >= 0 && own != f->n)
            st = cli_reject(err,
                            "%s: dimension %s has %" PRId64 " elements, expected %" PRId64
                            ", the length of its coordinate",
                            sorted.url[k], order->dim, own, f->n);
    }
    cli_free(p->url);
    cli_free(p->x);
    cli_free(p->attrs);
    *p = sorted;
    return st;
}

/* Joins the files along a new first axis. If files are packed differently, they are decoded. */
static cubed_status stack(joined_inputs *in, parts *p, bool decode, cubed_array **out,
                          cubed_error *err)
{
    const char *names[CUBED_MAX_NDIM] = {in->stack};
    const int ndim = cubed_array_ndim(p->x[0]);
    cubed_array *x = NULL, *named = NULL;
    if (ndim + 1 > CUBED_MAX_NDIM)
        return cli_reject(err, "%s: %d dimensions and \"%s\", expected %d at most", p->url[0], ndim,
                          in->stack, CUBED_MAX_NDIM);
    for (int d = 0; d < ndim; d++) names[d + 1] = cubed_array_dim_name(p->x[0], d);
    cubed_status st = decode ? decode_parts(p, err) : check_stored(p, err);
    if (st == CUBED_OK) st = check_shapes(p, -1, err);
    if (st == CUBED_OK) st = cubed_stack(p->x, p->n, 0, &x, err);
    if (st == CUBED_OK) st = cubed_array_with_dim_names(x, names, &named, err);
    if (st == CUBED_OK) {
        char *attrs = cli_must(json_dumps(p->attrs[0], JSON_REAL_PRECISION(17)));
        st = cubed_array_with_attrs(named, attrs, out, err);
        cli_free(attrs);
    }
    cubed_array_unref(x);
    cubed_array_unref(named);
    return st;
}

/* Opens an array whose files are members of an ensemble. All coordinates must be the same in all files. */
static cubed_status open_members(joined_inputs *in, const char *pattern, parts *p, bool describes,
                                 bool decode, cubed_array **out, cubed_error *err)
{
    const cubed_array *x = p->x[0];
    const int ndim = cubed_array_ndim(x);
    const char *first = ndim > 0 ? cubed_array_dim_name(x, 0) : NULL, *name;
    joined_order *order;
    char **groups = cli_alloc((size_t)p->n * sizeof *groups);
    for (int i = 0; i < p->n; i++) groups[i] = group_of(p->url[i], &name);
    cubed_status st = joined_find_order(in, pattern, groups, p->n, in->stack, &order, err);
    if (st == CUBED_OK && order->has_coordinate)
        st = cli_reject(err,
                        "%s has a coordinate \"%s\": use --along to join files along it, or give "
                        "--stack a new name",
                        p->url[0], in->stack);
    for (int d = 0; d < ndim && st == CUBED_OK; d++) {
        const char *dim = cubed_array_dim_name(x, d);
        if (dim) st = joined_check_coordinate(in, order, dim, err);
    }
    joined_free_urls(groups, p->n);
    if (st != CUBED_OK) return st;
    if (describes || (ndim == 1 && first && strcmp(first, p->name) == 0)) {
        st = check_shapes(p, -1, err);
        if (st == CUBED_OK) *out = cubed_array_ref(p->x[0]);
        return st;
    }
    return stack(in, p, decode, out, err);
}

/* Finds the axis along which x's files are joined. Sets *axis to -1 if x does not have the dimension, so the array of the
 * first file is used. */
static cubed_status find_axis(joined_inputs *in, const parts *p, bool describes, int *axis,
                              cubed_error *err)
{
    const cubed_array *x = p->x[0];
    const int ndim = cubed_array_ndim(x);
    const char *first = ndim > 0 ? cubed_array_dim_name(x, 0) : NULL;
    const bool coordinate = ndim == 1 && first && strcmp(first, p->name) == 0;
    *axis = lang_axis_named(x, in->along ? in->along : "time");
    if (*axis >= 0 && in->along) in->has_along = true;
    if (*axis < 0 && ndim > 0 && !in->along && !first) *axis = 0;
    if (*axis >= 0 || ndim == 0 || coordinate || describes || in->along) return CUBED_OK;
    return cli_reject(err,
                      "%s has no dimension \"time\" along which files could be joined: name "
                      "another dimension with --along",
                      p->url[0]);
}

/* Reports that no file matches the pattern, or the first part of a list. */
static cubed_status no_file(const char *url, size_t store, cubed_error *err)
{
    char *names = cli_printf("%.*s", (int)store, url);
    for (char *at = names, *end; at; at = end ? end + 1 : NULL) {
        int n;
        if ((end = strchr(at, JOINED_SEPARATOR))) *end = 0;
        char **urls = joined_expand(at, &n);
        joined_free_urls(urls, n);
        if (n == 0) (void)cli_reject(err, "there is no file \"%s\"", at);
        if (n == 0) break;
    }
    cli_free(names);
    return err->status;
}

cubed_status joined_open(joined_inputs *in, const char *url, joined_values values, bool describes,
                         cubed_array **out, cubed_error *err)
{
    parts p;
    int n, axis = -1;
    size_t path, store;
    const char *name;
    joined_order *order = NULL;
    (void)cubed_url_path(url, &path, &store);
    char **urls = joined_expand(url, &n);
    if (n == 0) return no_file(url, store, err);
    char *pattern = group_of(url, &name);
    cubed_status st = open_parts(in->ctx, urls, n, name, &p, err);
    if (st != CUBED_OK) {
        cli_free(pattern);
        return st;
    }
    if (in->stack) {
        st = open_members(in, pattern, &p, describes, values == JOINED_DECODED, out, err);
        in->has_along = true;
        free_parts(&p);
        cli_free(pattern);
        return st;
    }
    st = find_axis(in, &p, describes, &axis, err);
    const bool named = st == CUBED_OK && axis >= 0 && cubed_array_dim_name(p.x[0], axis);
    if (st == CUBED_OK && named && n > 1) st = find_order(in, pattern, &p, axis, &order, err);
    if (st == CUBED_OK && order) st = sort_parts(&p, order, axis, err);
    if (st == CUBED_OK && (n == 1 || axis < 0))
        *out = cubed_array_ref(p.x[0]);
    else if (st == CUBED_OK)
        st = join(in, &p, order, axis, values, out, err);
    free_parts(&p);
    cli_free(pattern);
    return st;
}

void joined_free(joined_inputs *in)
{
    while (in->list) {
        joined_order *o = in->list;
        in->list = o->next;
        joined_order_free(o);
    }
}
