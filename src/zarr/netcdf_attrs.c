/* Attributes of NetCDF, of the JSON that Zarr has. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "zarr/netcdf_pkg.h"

nc_type cb_netcdf_type(cubed_dtype dtype)
{
    switch (cubed_dtype_family(dtype)) {
    case CUBED_BOOL:
    case CUBED_INT8: return NC_BYTE;
    case CUBED_INT16: return NC_SHORT;
    case CUBED_INT32: return NC_INT;
    case CUBED_DATETIME64:
    case CUBED_TIMEDELTA64:
    case CUBED_INT64: return NC_INT64;
    case CUBED_UINT8: return NC_UBYTE;
    case CUBED_UINT16: return NC_USHORT;
    case CUBED_UINT32: return NC_UINT;
    case CUBED_UINT64: return NC_UINT64;
    case CUBED_FLOAT32: return NC_FLOAT;
    case CUBED_FLOAT64: return NC_DOUBLE;
    case CUBED_BYTES:
    case CUBED_STRING: return NC_CHAR;
    default: return NC_NAT;
    }
}

/* Names that NetCDF-4 itself has, and Zarr's. */
static bool is_reserved(const char *name)
{
    static const char *const names[] = {
        "_ARRAY_DIMENSIONS", "_NCProperties", "_Netcdf4Dimid", "_Netcdf4Coordinates",
        "_nc3_strict",       "CLASS",         "NAME",          "DIMENSION_LIST",
        "REFERENCE_LIST",    "_FillValue"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) return true;
    }
    return false;
}

/* Those that CF wants in the type of their variable. */
static bool has_type_of_variable(const char *name)
{
    static const char *const names[] = {"missing_value", "valid_min",  "valid_max",   "valid_range",
                                        "flag_values",   "flag_masks", "actual_range"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) return true;
    }
    return false;
}

/* A number, or what JSON has for those that it cannot say. */
static bool get_real(const json_t *v, double *out)
{
    const char *s = json_string_value(v);
    unsigned char bytes[8];
    size_t n;
    if (json_is_number(v)) *out = json_number_value(v);
    if (!s) return json_is_number(v);
    if (cb_json_big(v)) return false;
    if (strcmp(s, "NaN") == 0)
        *out = (double)NAN;
    else if (strcmp(s, "Infinity") == 0)
        *out = HUGE_VAL;
    else if (strcmp(s, "-Infinity") == 0)
        *out = -HUGE_VAL;
    else if (strlen(s) == 12 && cb_base64_decode(s, bytes, sizeof bytes, &n) && n == 8)
        memcpy(out, bytes, sizeof *out); /* as Xarray has _FillValue in format 3 */
    else
        return false;
    return true;
}

/* The value in a type of variables, at `out`; false if it is none of that type. */
static bool get_value(const json_t *v, nc_type type, void *out)
{
    double real;
    if (type == NC_FLOAT || type == NC_DOUBLE) {
        if (!get_real(v, &real)) return false;
        const float narrow = (float)real;
        if (type == NC_FLOAT)
            memcpy(out, &narrow, sizeof narrow);
        else
            memcpy(out, &real, sizeof real);
        return true;
    }
    if (json_is_real(v) && json_real_value(v) == floor(json_real_value(v)) &&
        fabs(json_real_value(v)) < 9e15) {
        json_t *whole = json_integer((json_int_t)json_real_value(v));
        const bool ok = whole && get_value(whole, type, out);
        json_decref(whole);
        return ok;
    }
    if (!json_is_integer(v)) return false;
    const int64_t i = json_integer_value(v);
    static const struct {
        nc_type type;
        size_t size;
        int64_t least, most;
    } types[] = {{NC_BYTE, 1, INT8_MIN, INT8_MAX},    {NC_UBYTE, 1, 0, UINT8_MAX},
                 {NC_SHORT, 2, INT16_MIN, INT16_MAX}, {NC_USHORT, 2, 0, UINT16_MAX},
                 {NC_INT, 4, INT32_MIN, INT32_MAX},   {NC_UINT, 4, 0, UINT32_MAX},
                 {NC_INT64, 8, INT64_MIN, INT64_MAX}, {NC_UINT64, 8, 0, INT64_MAX}};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        if (types[k].type != type) continue;
        if (i < types[k].least || i > types[k].most) return false;
        memcpy(out, &i, types[k].size); /* the lowest bytes are the first */
        return true;
    }
    return false;
}

static size_t size_of(nc_type type)
{
    return type == NC_BYTE || type == NC_UBYTE                     ? 1
           : type == NC_SHORT || type == NC_USHORT                 ? 2
           : type == NC_INT || type == NC_UINT || type == NC_FLOAT ? 4
                                                                   : 8;
}

/* Numbers of one type; false if some of them are not. */
static bool put_numbers(const cb_netcdf_writer *w, int group, int variable, const char *name,
                        const json_t *v, size_t n, nc_type type, int *rc)
{
    char *values = cb_zone_alloc(w->zone, n * size_of(type) + 8);
    if (!values) return false;
    for (size_t i = 0; i < n; i++) {
        const json_t *x = json_is_array(v) ? json_array_get(v, i) : v;
        if (!get_value(x, type, values + i * size_of(type))) return false;
    }
    *rc = w->nc.put_att(group, variable, name, type, n, values);
    return true;
}

static bool put_texts(const cb_netcdf_writer *w, int group, int variable, const char *name,
                      const json_t *v, size_t n, int *rc)
{
    const char **texts = cb_zone_alloc(w->zone, n * sizeof *texts + 8);
    for (size_t i = 0; texts && i < n; i++) {
        texts[i] = json_string_value(json_array_get(v, i));
        if (!texts[i] || cb_json_big(json_array_get(v, i))) return false;
    }
    if (!texts || n == 0) return false;
    *rc = w->nc.put_att(group, variable, name, NC_STRING, n, (const void *)texts);
    return true;
}

static cubed_status put_attr(const cb_netcdf_writer *w, int group, int variable, const char *name,
                             const json_t *v, nc_type type, cubed_error *err)
{
    const size_t n = json_is_array(v) ? json_array_size(v) : 1;
    int rc = NC_NOERR;
    bool done = false;
    if (json_is_string(v) && !cb_json_big(v) && type == NC_NAT) {
        rc = w->nc.put_att_text(group, variable, name, json_string_length(v), json_string_value(v));
        done = true;
    }
    if (!done && n > 0 && type != NC_NAT)
        done = put_numbers(w, group, variable, name, v, n, type, &rc);
    if (!done && n > 0) {
        done = put_numbers(w, group, variable, name, v, n, NC_INT, &rc) ||
               put_numbers(w, group, variable, name, v, n, NC_INT64, &rc) ||
               (!json_is_string(json_is_array(v) ? json_array_get(v, 0) : v) &&
                put_numbers(w, group, variable, name, v, n, NC_DOUBLE, &rc)) ||
               put_texts(w, group, variable, name, v, n, &rc);
    }
    if (!done) { /* what NetCDF has nothing for stays JSON */
        cb_buf text;
        cb_buf_init(&text, cb_zone_allocator(w->zone));
        if (!cb_json_dump(v, 0, &text)) {
            cb_buf_free(&text);
            return cb_fail(err, CUBED_E_NOMEM, "no memory to write %s", w->path);
        }
        rc = w->nc.put_att_text(group, variable, name, text.size, text.data);
        cb_buf_free(&text);
    }
    return rc ? cb_netcdf_fail(w, rc, name, err) : CUBED_OK;
}

/* Fill value: that of the attributes. Floats without one get NaN, as Xarray writes them, where missing values may be: not in
 * coordinates. */
static cubed_status put_fill(const cb_netcdf_writer *w, int group, int variable,
                             const json_t *attrs, const cb_zarr_meta *meta, bool coordinate,
                             cubed_error *err)
{
    const nc_type type = cb_netcdf_type(meta->dtype);
    const json_t *v = json_object_get(attrs, "_FillValue");
    char value[8] = {0};
    if (json_is_array(v) && json_array_size(v) == 1) v = json_array_get(v, 0);
    bool has = v && get_value(v, type, value);
    if (!has && meta->dtype == CUBED_UINT64 && cb_json_big(v)) has = false;
    if (!v && !coordinate && cubed_dtype_kind(meta->dtype) == CUBED_KIND_FLOAT &&
        !json_object_get(attrs, "missing_value")) {
        json_t *nan = json_string("NaN");
        has = nan && get_value(nan, type, value);
        json_decref(nan);
    }
    if (cubed_dtype_kind(meta->dtype) == CUBED_KIND_TIME && !coordinate) {
        const int64_t nat = INT64_MIN;
        memcpy(value, &nat, sizeof nat);
        has = true;
    }
    const int rc =
        w->nc.def_var_fill(group, variable, has ? NC_FILL : NC_NOFILL, has ? value : NULL);
    return rc ? cb_netcdf_fail(w, rc, "_FillValue", err) : CUBED_OK;
}

/* What the types say that NetCDF has not. */
static cubed_status put_type(const cb_netcdf_writer *w, int group, int variable,
                             const cb_zarr_meta *meta, cubed_error *err)
{
    static const char *const units[CUBED_UNIT_COUNT] = {
        [CUBED_UNIT_D] = "days",          [CUBED_UNIT_H] = "hours",
        [CUBED_UNIT_MIN] = "minutes",     [CUBED_UNIT_S] = "seconds",
        [CUBED_UNIT_MS] = "milliseconds", [CUBED_UNIT_US] = "microseconds",
        [CUBED_UNIT_NS] = "nanoseconds"};
    cubed_unit unit;
    int multiple, rc = NC_NOERR;
    char text[64];
    if (meta->dtype == CUBED_BOOL) rc = w->nc.put_att_text(group, variable, "dtype", 4, "bool");
    if (cubed_dtype_family(meta->dtype) == CUBED_STRING)
        rc = w->nc.put_att_text(group, variable, "_Encoding", 5, "utf-8");
    if (cubed_dtype_kind(meta->dtype) == CUBED_KIND_TIME) {
        const bool date = cubed_dtype_family(meta->dtype) == CUBED_DATETIME64;
        cubed_dtype_get_time(meta->dtype, &unit, &multiple);
        snprintf(text, sizeof text, "%s%s", units[unit] ? units[unit] : "1",
                 date ? " since 1970-01-01" : "");
        rc = w->nc.put_att_text(group, variable, "units", strlen(text), text);
        if (!rc && date)
            rc = w->nc.put_att_text(group, variable, "calendar", 19, "proleptic_gregorian");
    }
    return rc ? cb_netcdf_fail(w, rc, "units", err) : CUBED_OK;
}

cubed_status cb_netcdf_put_attrs(const cb_netcdf_writer *w, int group, int variable,
                                 const char *text, const cb_zarr_meta *meta, bool coordinate,
                                 cubed_error *err)
{
    json_t *attrs = NULL, *v;
    const char *name;
    cubed_status st = cb_json_parse("attributes", text, strlen(text), &attrs, err);
    if (st != CUBED_OK) return st;
    if (meta) CB_GO(put_fill(w, group, variable, attrs, meta, coordinate, err));
    json_object_foreach(attrs, name, v)
    {
        const bool typed =
            meta && cubed_dtype_kind(meta->dtype) != CUBED_KIND_TEXT && has_type_of_variable(name);
        if (is_reserved(name)) continue;
        CB_GO(put_attr(w, group, variable, name, v,
                       typed ? cb_netcdf_type(meta->dtype) : (nc_type)NC_NAT, err));
    }
    if (meta) CB_GO(put_type(w, group, variable, meta, err));
out:
    json_decref(attrs);
    return st;
}
