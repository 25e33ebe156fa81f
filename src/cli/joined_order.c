#include "joined_order.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axis_places.h"
#include "cli.h"
#include "inputs.h"
#include "lang/axis_values.h"
#include "lang/lang_arrays.h"

/* --- Coordinates of the files to join ----------------------------------------------------------------- */

static void free_file(joined_file *f)
{
    cli_free(f->url);
    cli_free(f->bounds);
    cli_free(f->number);
    cli_free(f->us);
}

void joined_order_free(joined_order *order)
{
    for (int i = 0; i < order->n; i++) free_file(&order->file[i]);
    cli_free(order->file);
    cli_free(order->group);
    cli_free(order->dim);
    cli_free(order->at);
    cli_free(order->checked);
    cli_free(order);
}

static const char *text_of(const json_t *attrs, const char *name)
{
    return json_string_value(json_object_get(attrs, name));
}

cubed_status joined_find_units(const char *url, const char *name, const json_t *attrs,
                               const joined_file *file, bool *is_time, cubed_time_axis *axis,
                               cubed_error *err)
{
    const char *units = text_of(attrs, "units"), *calendar_text = text_of(attrs, "calendar");
    cubed_calendar kind = CUBED_CALENDAR_STANDARD;
    cubed_error why = CUBED_ERROR_INIT;
    *is_time = false;
    if (!units && file && file->has_units && file->bounds && strcmp(file->bounds, name) == 0) {
        *is_time = true;
        *axis = file->axis;
        return CUBED_OK;
    }
    if (!units || !cubed_time_units_since(units)) return CUBED_OK;
    if (calendar_text && !cubed_calendar_parse(calendar_text, &kind))
        return cli_reject(
            err, "%s: \"%s\": the calendar \"%.60s\" is not a calendar of the CF conventions", url,
            name, calendar_text);
    if (cubed_time_units_parse(units, kind, axis, &why) != CUBED_OK)
        return cli_reject(err, "%s: \"%s\": %s", url, name, why.message);
    *is_time = true;
    return CUBED_OK;
}

/* Opens a one-dimensional array of numbers or times, and decodes it. Sets *out to NULL if the group has no such array. */
static cubed_status open_coordinate(cubed_context *ctx, const char *group, const char *name,
                                    cubed_array **out, cubed_error *err)
{
    char *url = cli_join_url(group, name);
    *out = NULL;
    cubed_status st = cubed_array_open(ctx, url, out, err);
    if (st == CUBED_E_NOT_FOUND || st == CUBED_E_UNSUPPORTED) st = CUBED_OK;
    if (st == CUBED_OK && *out) {
        const cubed_kind kind = cubed_dtype_kind(cubed_array_dtype(*out));
        if (cubed_array_ndim(*out) != 1 || kind == CUBED_KIND_TEXT || kind == CUBED_KIND_COMPLEX) {
            cubed_array_unref(*out);
            *out = NULL;
        }
    }
    cubed_array *stored = *out;
    *out = NULL;
    if (st == CUBED_OK && stored) st = cubed_cf_decode(stored, out, err);
    cubed_array_unref(stored);
    cli_free(url);
    return st;
}

cubed_status joined_read_elements(cubed_context *ctx, cubed_array *x, bool real, void **out,
                                  cubed_error *err)
{
    cubed_array *y;
    int64_t n = 1;
    *out = NULL;
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        if (__builtin_mul_overflow(n, cubed_array_shape(x)[d], &n)) n = INT64_MAX;
    }
    if (n > AXIS_VALUES_MAX)
        return cli_reject(err, "a coordinate of %" PRId64 " elements, expected 16777216 at most",
                          n);
    cubed_status st = cubed_astype(x, real ? CUBED_FLOAT64 : CUBED_INT64, &y, err);
    if (st != CUBED_OK) return st;
    void *data = cli_alloc((size_t)(n + 1) * 8);
    st = lang_compute_small(ctx, y, data, err);
    cubed_array_unref(y);
    if (st == CUBED_OK) *out = data;
    if (st != CUBED_OK) cli_free(data);
    return st;
}

static cubed_status not_a_place(const joined_file *f, const char *dim, int64_t i, cubed_error *err)
{
    return cli_reject(err, "%s: element %" PRId64 " of the coordinate \"%s\" is missing", f->url, i,
                      dim);
}

static cubed_status read_times(cubed_context *ctx, joined_file *f, const char *dim, cubed_array *x,
                               cubed_error *err)
{
    const bool real = cubed_dtype_kind(cubed_array_dtype(x)) == CUBED_KIND_FLOAT;
    void *data;
    cubed_status st = joined_read_elements(ctx, x, real, &data, err);
    if (st != CUBED_OK) return st;
    f->us = cli_alloc((size_t)(f->n + 1) * sizeof *f->us);
    for (int64_t i = 0; i < f->n && st == CUBED_OK; i++) {
        const int64_t whole = real ? 0 : ((const int64_t *)data)[i];
        bool ok = true;
        /* Coordinates without units are times of one type, which must be the same in all files. */
        if (!f->has_units)
            f->us[i] = whole;
        else if (real)
            ok = cubed_time_of_float(&f->axis, ((const double *)data)[i], &f->us[i]);
        else
            ok = cubed_time_of_int(&f->axis, whole, &f->us[i]);
        if (!ok || (!real && whole == INT64_MIN)) st = not_a_place(f, dim, i, err);
    }
    cli_free(data);
    return st;
}

static cubed_status read_file(cubed_context *ctx, joined_file *f, const char *dim, char **units,
                              cubed_error *err)
{
    void *data = NULL;
    cubed_array *x;
    cubed_status st = open_coordinate(ctx, f->url, dim, &x, err);
    f->n = -1;
    if (st != CUBED_OK || !x) return st;
    json_t *attrs = lang_attributes(cubed_array_attrs(x));
    const char *bounds = text_of(attrs, "bounds"), *own = text_of(attrs, "units");
    if (!bounds) bounds = text_of(attrs, "climatology");
    f->bounds = bounds ? cli_strdup(bounds) : NULL;
    *units = own ? cli_strdup(own) : NULL;
    f->n = cubed_array_shape(x)[0];
    st = joined_find_units(f->url, dim, attrs, NULL, &f->has_units, &f->axis, err);
    f->is_time = f->has_units || cubed_dtype_family(cubed_array_dtype(x)) == CUBED_DATETIME64;
    if (st == CUBED_OK)
        st = f->is_time ? read_times(ctx, f, dim, x, err)
                        : joined_read_elements(ctx, x, true, &data, err);
    f->number = data;
    json_decref(attrs);
    cubed_array_unref(x);
    return st;
}

/* Checks that the coordinates of two files have units of the same kind. */
static cubed_status check_kinds(const joined_file *first, const char *first_units,
                                const joined_file *f, const char *units, const char *dim,
                                cubed_error *err)
{
    if ((f->n < 0) != (first->n < 0))
        return cli_reject(err, "%s has no coordinate \"%s\", which %s has",
                          f->n < 0 ? f->url : first->url, dim, f->n < 0 ? first->url : f->url);
    if (f->n < 0) return CUBED_OK;
    if (f->is_time != first->is_time || f->has_units != first->has_units ||
        (!f->is_time && strcmp(units ? units : "", first_units ? first_units : "") != 0))
        return cli_reject(err, "%s: the units of \"%s\" are \"%s\", expected \"%s\" as in %s",
                          f->url, dim, units ? units : "", first_units ? first_units : "",
                          first->url);
    if (f->has_units && f->axis.calendar != first->axis.calendar)
        return cli_reject(err, "%s: the calendar of \"%s\" is %s, expected %s as in %s", f->url,
                          dim, cubed_calendar_name(f->axis.calendar),
                          cubed_calendar_name(first->axis.calendar), first->url);
    return CUBED_OK;
}

/* --- Order -------------------------------------------------------------------------------------------- */

static places places_of(const joined_file *f)
{
    return (places){.n = f->n,
                    .number = f->number,
                    .whole = f->us,
                    .is_time = f->us && f->has_units,
                    .calendar = f->axis.calendar};
}

static int compare(const joined_file *a, int64_t i, const joined_file *b, int64_t k)
{
    const places x = places_of(a), y = places_of(b);
    return places_compare(&x, i, &y, k);
}

static const char *show(const joined_file *f, int64_t i, char text[CUBED_TIME_TEXT_CAP])
{
    const places p = places_of(f);
    return places_text(&p, i, text);
}

/* Finds the direction of the coordinate: *sign is 1 if it rises in all files, -1 if it falls in all files. */
static cubed_status find_direction(const joined_order *o, int *sign, cubed_error *err)
{
    const joined_file *as = NULL;
    char a[CUBED_TIME_TEXT_CAP], b[CUBED_TIME_TEXT_CAP];
    *sign = 0;
    for (int k = 0; k < o->n; k++) {
        const joined_file *f = &o->file[k];
        int own = 0;
        for (int64_t i = 0; i < f->n && f->number; i++) {
            if (isnan(f->number[i])) return not_a_place(f, o->dim, i, err);
        }
        for (int64_t i = 1; i < f->n; i++) {
            const int step = compare(f, i, f, i - 1);
            if (own == 0) own = step;
            if (step != 0 && step != own)
                return cli_reject(err,
                                  "%s: the coordinate \"%s\" is not sorted: element %" PRId64
                                  " is %s, after %s; files can be joined only along an ascending "
                                  "or descending coordinate",
                                  f->url, o->dim, i, show(f, i, a), show(f, i - 1, b));
        }
        if (own != 0 && *sign != 0 && own != *sign)
            return cli_reject(err, "the coordinate \"%s\" %s in %s and %s in %s", o->dim,
                              *sign > 0 ? "rises" : "falls", as->url, own > 0 ? "rises" : "falls",
                              f->url);
        if (own != 0 && *sign == 0) as = f;
        if (own != 0) *sign = own;
    }
    if (*sign == 0) *sign = 1;
    return CUBED_OK;
}

/* An element of a file, for sorting with qsort. */
typedef struct element {
    const joined_order *order;
    int sign, file;
    int64_t i;
} element;

static int by_place(const void *left, const void *right)
{
    const element *a = left, *b = right;
    const joined_file *f = &a->order->file[a->file], *g = &b->order->file[b->file];
    const int c = a->sign * compare(f, a->i, g, b->i);
    if (c != 0) return c;
    if (a->file != b->file) return a->file - b->file;
    return (a->i > b->i) - (a->i < b->i);
}

/* Sorts files by their first elements. Files without elements follow. */
static void sort_files(joined_order *o, int sign)
{
    element *all = cli_alloc((size_t)(o->n + 1) * sizeof *all);
    joined_file *sorted = cli_alloc((size_t)(o->n + 1) * sizeof *sorted);
    int n = 0;
    for (int k = 0; k < o->n; k++) {
        if (o->file[k].n > 0) all[n++] = (element){o, sign, k, 0};
    }
    qsort(all, (size_t)n, sizeof *all, by_place);
    for (int k = 0; k < n; k++) sorted[k] = o->file[all[k].file];
    for (int k = 0; k < o->n; k++) {
        if (o->file[k].n <= 0) sorted[n++] = o->file[k];
    }
    cli_free(all);
    cli_free(o->file);
    o->file = sorted;
}

/* Finds the first file that begins before the end of an earlier file. Returns its index and sets *earlier, or returns -1 if
 * no files overlap. */
static int find_overlap(const joined_order *o, int sign, int *earlier)
{
    int furthest = 0;
    for (int k = 1; k < o->n && o->file[k].n > 0; k++) {
        const joined_file *f = &o->file[furthest], *g = &o->file[k];
        *earlier = furthest;
        if (sign * compare(g, 0, f, f->n - 1) <= 0) return k;
        furthest = k; /* file k begins after all earlier files, so it also ends after them */
    }
    return -1;
}

/* Merges the elements of all files in order. If several files have an element with the same coordinate, keeps the element of the
 * first file if `first`, else the element of the last file. */
static void merge(joined_order *o, int sign, bool first)
{
    element *all = cli_alloc((size_t)(o->total + 1) * sizeof *all);
    int64_t *offset = cli_alloc((size_t)(o->n + 1) * sizeof *offset);
    int64_t n = 0;
    for (int k = 0; k < o->n; k++) {
        offset[k + 1] = offset[k] + o->file[k].n;
        for (int64_t i = 0; i < o->file[k].n; i++) all[n++] = (element){o, sign, k, i};
    }
    qsort(all, (size_t)n, sizeof *all, by_place);
    o->at = cli_alloc((size_t)(n + 1) * sizeof *o->at);
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n; end++) {
            if (compare(&o->file[all[i].file], all[i].i, &o->file[all[end].file], all[end].i) != 0)
                break;
        }
        const int chosen = first ? all[i].file : all[end - 1].file;
        for (int64_t k = i; k < end; k++) {
            if (all[k].file == chosen) o->at[o->nat++] = offset[chosen] + all[k].i;
        }
    }
    cli_free(all);
    cli_free(offset);
}

static cubed_status put_in_order(joined_inputs *in, joined_order *o, cubed_error *err)
{
    int sign, earlier = 0;
    char a[CUBED_TIME_TEXT_CAP], b[CUBED_TIME_TEXT_CAP];
    cubed_status st = find_direction(o, &sign, err);
    if (st != CUBED_OK) return st;
    sort_files(o, sign);
    for (int k = 0; k < o->n; k++) o->total += o->file[k].n;
    const int later = find_overlap(o, sign, &earlier);
    if (later < 0) return CUBED_OK;
    const joined_file *f = &o->file[earlier], *g = &o->file[later];
    if (in->overlap == JOINED_ERROR)
        return cli_reject(
            err,
            "%s and %s overlap along \"%s\": the first one ends at %s, the second "
            "one begins at %s; choose the file whose elements are used with --overlap first or "
            "last",
            f->url, g->url, o->dim, show(f, f->n - 1, a), show(g, 0, b));
    if (o->total > AXIS_VALUES_MAX)
        return cli_reject(err,
                          "files that overlap along \"%s\" have %" PRId64
                          " elements, expected 16777216 at most",
                          o->dim, o->total);
    merge(o, sign, in->overlap == JOINED_FIRST);
    return CUBED_OK;
}

cubed_status joined_find_order(joined_inputs *in, const char *pattern, char *const *urls, int n,
                               const char *dim, joined_order **out, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    for (joined_order *o = in->list; o; o = o->next) {
        *out = o;
        if (strcmp(o->group, pattern) == 0 && strcmp(o->dim, dim) == 0) return CUBED_OK;
    }
    joined_order *o = cli_alloc(sizeof *o);
    o->group = cli_strdup(pattern);
    o->dim = cli_strdup(dim);
    o->n = n;
    o->file = cli_alloc((size_t)(n + 1) * sizeof *o->file);
    o->checked = cli_strdup(" ");
    char *first_units = NULL;
    for (int k = 0; k < n; k++) {
        char *units = NULL;
        o->file[k].url = cli_strdup(urls[k]);
        o->file[k].number_by_name = k;
        if (st == CUBED_OK) st = read_file(in->ctx, &o->file[k], dim, &units, err);
        if (st == CUBED_OK && k > 0)
            st = check_kinds(&o->file[0], first_units, &o->file[k], units, dim, err);
        if (k == 0)
            first_units = units;
        else
            cli_free(units);
    }
    cli_free(first_units);
    o->has_coordinate = st == CUBED_OK && n > 0 && o->file[0].n >= 0;
    if (o->has_coordinate) st = put_in_order(in, o, err);
    if (st != CUBED_OK) {
        joined_order_free(o);
        return st;
    }
    o->next = in->list;
    in->list = *out = o;
    return CUBED_OK;
}

/* --- Other coordinates -------------------------------------------------------------------------------- */

static bool are_equal(const joined_file *a, const joined_file *b)
{
    for (int64_t i = 0; i < a->n; i++) {
        if (a->number && isnan(a->number[i]) && isnan(b->number[i])) continue;
        if (a->number ? a->number[i] != b->number[i] : a->us[i] != b->us[i]) return false;
    }
    return true;
}

cubed_status joined_check_coordinate(joined_inputs *in, joined_order *order, const char *name,
                                     cubed_error *err)
{
    char *word = cli_printf(" %s ", name);
    const bool known = strstr(order->checked, word);
    cli_free(word);
    if (known) return CUBED_OK;
    joined_file first = {.url = NULL};
    char *first_units = NULL;
    cubed_status st = CUBED_OK;
    for (int k = 0; k < order->n && st == CUBED_OK; k++) {
        joined_file f = {.url = cli_strdup(order->file[k].url)};
        char *units = NULL;
        st = read_file(in->ctx, &f, name, &units, err);
        if (k == 0) {
            first = f;
            first_units = units;
            continue;
        }
        /* A file without the coordinate agrees with all files. */
        if (st == CUBED_OK && f.n >= 0 && first.n >= 0)
            st = check_kinds(&first, first_units, &f, units, name, err);
        if (st == CUBED_OK && f.n == first.n && !are_equal(&first, &f))
            st = cli_reject(err,
                            "%s: the elements of the coordinate \"%s\" differ from those in %s: "
                            "files are joined along \"%s\" only if everything else agrees",
                            f.url, name, first.url, order->dim);
        free_file(&f);
        cli_free(units);
    }
    free_file(&first);
    cli_free(first_units);
    if (st != CUBED_OK) return st;
    char *longer = cli_printf("%s%s ", order->checked, name);
    cli_free(order->checked);
    order->checked = longer;
    return CUBED_OK;
}
