/* Converts attributes from Zarr's JSON to NetCDF. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "dtype/attribute.h"
#include "export/netcdf_pkg.h"

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

/* Returns true for names that NetCDF-4 or Zarr reserve. */
static bool is_reserved(const char *name)
{
    static const char *const names[] = {"_ARRAY_DIMENSIONS",
                                        "_NCProperties",
                                        "_Netcdf4Dimid",
                                        "_Netcdf4Coordinates",
                                        "_nc3_strict",
                                        "CLASS",
                                        "NAME",
                                        "DIMENSION_LIST",
                                        "REFERENCE_LIST",
                                        "_FillValue",
                                        CUBED_ATTRIBUTE_TYPES};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) return true;
    }
    return false;
}

/* Writes a list of strings, or one string. */
static cubed_status put_strings(const cb_netcdf_writer *w, int group, int variable,
                                const char *name, const json_t *v, int *rc, cubed_error *err)
{
    const size_t n = cb_attribute_count(v);
    const char **texts = cb_zone_alloc(w->zone, n * sizeof *texts + 8);
    if (!texts) return cb_fail(err, CUBED_E_NOMEM, "no memory to write %s", w->path);
    for (size_t i = 0; i < n; i++) texts[i] = json_string_value(cb_attribute_item(v, i));
    *rc = w->nc.put_att(group, variable, name, NC_STRING, n, (const void *)texts);
    return CUBED_OK;
}

static cubed_status put_numbers(const cb_netcdf_writer *w, int group, int variable,
                                const char *name, const json_t *v, cubed_dtype dtype, int *rc,
                                cubed_error *err)
{
    const size_t n = cb_attribute_count(v), size = cubed_dtype_size(dtype);
    char *values = cb_zone_alloc(w->zone, n * size + 8);
    if (!values) return cb_fail(err, CUBED_E_NOMEM, "no memory to write %s", w->path);
    for (size_t i = 0; i < n; i++)
        (void)cb_attribute_number(cb_attribute_item(v, i), dtype, values + i * size);
    *rc = w->nc.put_att(group, variable, name, cb_netcdf_type(dtype), n, values);
    return CUBED_OK;
}

static cubed_status put_attr(const cb_netcdf_writer *w, int group, int variable, const char *name,
                             const json_t *v, cb_attribute_type t, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    int rc = NC_NOERR;
    cb_buf text;
    cb_buf_init(&text, cb_zone_allocator(w->zone));
    switch (t.kind) {
    case CUBED_ATTRIBUTE_NUMBERS:
        st = put_numbers(w, group, variable, name, v, t.dtype, &rc, err);
        break;
    case CUBED_ATTRIBUTE_STRINGS: st = put_strings(w, group, variable, name, v, &rc, err); break;
    case CUBED_ATTRIBUTE_CHARS:
        rc = w->nc.put_att_text(group, variable, name, json_string_length(v), json_string_value(v));
        break;
    default: /* values without a NetCDF type are written as JSON */
        if (!cb_json_dump(v, JSON_ENCODE_ANY, &text))
            st = cb_fail(err, CUBED_E_NOMEM, "no memory to write %s", w->path);
        else
            rc = w->nc.put_att_text(group, variable, name, text.size, text.data);
    }
    cb_buf_free(&text);
    return st == CUBED_OK && rc ? cb_netcdf_fail(w, rc, name, err) : st;
}

/* Sets the fill value from the attributes. Floats without a fill value get NaN, as in Xarray, except coordinates, which have no
 * missing values. */
static cubed_status put_fill(const cb_netcdf_writer *w, int group, int variable,
                             const json_t *attrs, const cb_zarr_meta *meta, bool coordinate,
                             cubed_error *err)
{
    const cubed_dtype dtype = cb_attribute_dtype(meta->dtype);
    const json_t *v = json_object_get(attrs, "_FillValue");
    char value[8] = {0};
    if (json_is_array(v) && json_array_size(v) == 1) v = json_array_get(v, 0);
    bool has = v && cb_attribute_number(v, dtype, value);
    if (!v && !coordinate && cubed_dtype_kind(meta->dtype) == CUBED_KIND_FLOAT &&
        !json_object_get(attrs, "missing_value")) {
        json_t *nan = json_string("NaN");
        has = nan && cb_attribute_number(nan, dtype, value);
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

/* Writes attributes that describe a type without an equivalent in NetCDF, such as the units of times. */
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
        if (is_reserved(name)) continue;
        const cubed_dtype of = meta ? meta->dtype : CUBED_DTYPE_COUNT;
        CB_GO(put_attr(w, group, variable, name, v, cb_attribute_type_of(attrs, name, of), err));
    }
    if (meta) CB_GO(put_type(w, group, variable, meta, err));
out:
    json_decref(attrs);
    return st;
}
