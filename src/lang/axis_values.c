#include "lang/axis_values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lang/about.h"
#include "lang/expr_json.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"

void axis_values_free(axis_values *v)
{
    lang_free(v->us);
    lang_free(v->number);
    lang_free(v->text);
    json_decref(v->attrs);
    cubed_array_unref(v->array);
    expr_coord_free(&v->had);
}

/* Returns the name of the first input in the syntax tree `e` that has the dimension, or NULL. The parser limits the height of
 * trees, and so the recursion depth. */
static const char *input_with(const expr_builder *b, const expr *e, const char *dim)
{
    const expr_result *r = b->result;
    if (e->kind == EXPR_NAME) {
        const cubed_array *x = e->number < b->nbuilt ? b->built[e->number].array : NULL;
        if (!x || lang_axis_named(x, dim) < 0) return NULL;
        for (int i = r->n - 1; i >= 0; i--) {
            if (strcmp(r->vars[i].of.name, e->text) == 0) return r->vars[i].source.name;
        }
        return e->text;
    }
    for (int i = 0; i < e->n; i++) {
        const char *found = input_with(b, e->child[i], dim);
        if (found) return found;
    }
    return NULL;
}

static cubed_status open_input(expr_builder *b, const expr *e, const char *dim, cubed_array **out)
{
    const cubed_expr_host *host = b->host;
    const char *of = host->coordinate_of ? input_with(b, e, dim) : NULL;
    if (of) return host->coordinate_of(host->ctx, of, dim, out, b->err);
    return host->coordinate ? host->coordinate(host->ctx, dim, out, b->err) : CUBED_OK;
}

/* Opens the coordinate along axis d of x, the array built from e: the input's coordinate, or a coordinate that the expression
 * created. */
static cubed_status open_coordinate(expr_builder *b, const expr *e, const cubed_array *x, int d,
                                    cubed_expr_coord *had, cubed_array **out)
{
    const char *dim = cubed_array_dim_name(x, d);
    const int64_t extent = cubed_array_shape(x)[d];
    cubed_array *base = NULL;
    expr_about about = expr_about_of(b, e);
    const cubed_expr_coord *c = dim ? expr_find_coord(&about, dim) : NULL;
    const bool cut = c && c->cut;
    *had = c ? expr_coord_copy(b, c)
             : (cubed_expr_coord){.dim = expr_text(b, "%s", dim ? dim : ""),
                                  .whole = extent,
                                  .part = {0, extent, 1, false}};
    expr_about_free(&about);
    if (!dim) return expr_reject(b, e, "the dimension has no name, and so no coordinate");
    if (cut)
        return expr_fail(
            b->err, CUBED_E_ARG, b->text, e->at,
            "elements along \"%s\" were moved or combined: no coordinate describes them", dim);
    cubed_status st = CUBED_OK;
    if (had->made)
        base = cubed_array_ref(had->made);
    else
        st = open_input(b, e, dim, &base);
    EXPR_TRY(expr_located(b, e, st));
    if (!base || cubed_array_ndim(base) != 1 || cubed_array_shape(base)[0] != had->whole) {
        cubed_array_unref(base);
        return expr_fail(b->err, CUBED_E_ARG, b->text, e->at,
                         "the input has no coordinate \"%s\" of %" PRId64 " elements", dim,
                         had->whole);
    }
    st = expr_located(b, e, cubed_slice_array(base, &had->part, out, b->err));
    cubed_array_unref(base);
    return st;
}

/* Sets v->is_time. If the numbers of coordinate c are times, also sets v->axis. */
static cubed_status find_axis(expr_builder *b, const expr *e, const cubed_array *c, axis_values *v)
{
    const cubed_dtype dtype = cubed_array_dtype(c);
    const char *units = json_string_value(json_object_get(v->attrs, "units"));
    const char *name = json_string_value(json_object_get(v->attrs, "calendar"));
    cubed_calendar kind = CUBED_CALENDAR_STANDARD;
    cubed_error why = CUBED_ERROR_INIT;
    char text[80];
    if (cubed_dtype_family(dtype) == CUBED_DATETIME64) {
        cubed_unit unit;
        int multiple;
        cubed_dtype_get_time(dtype, &unit, &multiple);
        snprintf(text, sizeof text, "%s since 1970-01-01", cubed_unit_name(unit));
        if (strncmp(text, "D ", 2) == 0) snprintf(text, sizeof text, "days since 1970-01-01");
        if (strncmp(text, "m ", 2) == 0) snprintf(text, sizeof text, "minutes since 1970-01-01");
        if (strncmp(text, "W ", 2) == 0) snprintf(text, sizeof text, "weeks since 1970-01-01");
        kind = CUBED_CALENDAR_PROLEPTIC;
        if (cubed_time_units_parse(text, kind, &v->axis, &why) != CUBED_OK)
            return expr_fail(b->err, CUBED_E_ARG, b->text, e->at, "\"%s\": %s", v->had.dim,
                             why.message);
        v->axis.unit *= multiple;
        v->is_time = true;
        return CUBED_OK;
    }
    if (!units || !cubed_time_units_since(units)) return CUBED_OK;
    if (name && !cubed_calendar_parse(name, &kind))
        return expr_fail(b->err, CUBED_E_ARG, b->text, e->at,
                         "\"%s\": the calendar \"%.60s\" is not a calendar of the CF conventions",
                         v->had.dim, name);
    v->is_time = true;
    if (cubed_time_units_parse(units, kind, &v->axis, &why) == CUBED_OK) return CUBED_OK;
    return expr_fail(b->err, CUBED_E_ARG, b->text, e->at, "\"%s\": %s", v->had.dim, why.message);
}

static bool time_of(const axis_values *v, bool whole, const void *data, int64_t i, int64_t *us)
{
    if (!whole) return cubed_time_of_float(&v->axis, ((const double *)data)[i], us);
    const int64_t n = ((const int64_t *)data)[i];
    return n != INT64_MIN && cubed_time_of_int(&v->axis, n, us);
}

static cubed_status read_texts(expr_builder *b, const expr *e, cubed_array *c, axis_values *v)
{
    v->dtype = cubed_array_dtype(c);
    v->size = cubed_dtype_size(v->dtype);
    EXPR_TRY(expr_alloc(b, e, v->n + 1, v->size, &v->text));
    return expr_located(b, e, expr_compute(b, c, v->text));
}

static cubed_status read_data(expr_builder *b, const expr *e, cubed_array *c, axis_values *v)
{
    const cubed_kind kind = cubed_dtype_kind(cubed_array_dtype(c));
    const bool whole = kind != CUBED_KIND_FLOAT;
    cubed_array *x;
    v->single = cubed_array_dtype(c) == CUBED_FLOAT32;
    if (kind == CUBED_KIND_COMPLEX || kind == CUBED_KIND_BOOL)
        return expr_fail(b->err, CUBED_E_TYPE, b->text, e->at,
                         "the coordinate \"%s\" has neither times nor numbers nor strings",
                         v->had.dim);
    if (v->n > AXIS_VALUES_MAX)
        return expr_reject(b, e, "the coordinate has more than 16777216 elements");
    if (kind == CUBED_KIND_TEXT) return read_texts(b, e, c, v);
    void *data = NULL, *values = v->is_time ? (void *)&v->us : (void *)&v->number;
    EXPR_TRY(expr_alloc(b, e, v->n + 1, sizeof(int64_t), values));
    EXPR_TRY(expr_located(b, e, cubed_astype(c, whole ? CUBED_INT64 : CUBED_FLOAT64, &x, b->err)));
    cubed_status st = expr_alloc(b, e, v->n + 1, sizeof(int64_t), &data);
    if (st == CUBED_OK) st = expr_located(b, e, expr_compute(b, x, data));
    cubed_array_unref(x);
    for (int64_t i = 0; i < v->n && st == CUBED_OK; i++) {
        if (!v->is_time)
            v->number[i] = whole ? (double)((const int64_t *)data)[i] : ((const double *)data)[i];
        else if (!time_of(v, whole, data, i, &v->us[i]))
            st = expr_fail(b->err, CUBED_E_ARG, b->text, e->at,
                           "element %" PRId64 " of the coordinate \"%s\" is not a time", i,
                           v->had.dim);
    }
    lang_free(data);
    return st;
}

cubed_status axis_values_read(expr_builder *b, const expr *e, const cubed_array *x, int d,
                              axis_values *v)
{
    cubed_array *c = NULL;
    *v = (axis_values){.n = cubed_array_shape(x)[d]};
    cubed_status st = open_coordinate(b, e, x, d, &v->had, &c);
    if (st == CUBED_OK) {
        v->attrs = expr_json_attrs(b, c);
        st = find_axis(b, e, c, v);
    }
    if (st == CUBED_OK) st = read_data(b, e, c, v);
    v->array = c;
    if (st != CUBED_OK) axis_values_free(v);
    return st;
}
