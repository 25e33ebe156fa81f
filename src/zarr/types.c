/* Reads and writes the data types in metadata. Format 2 uses NumPy type strings; format 3 uses names, and extensions with a
 * configuration. */
#include <string.h>

#include "zarr/zarr_pkg.h"

static cubed_status unsupported(const char *where, const char *name, cubed_error *err)
{
    return cb_fail(err, CUBED_E_UNSUPPORTED, "%s: data type \"%s\" is not supported", where, name);
}

cubed_status cb_zarr_parse_typestr(const char *where, const char *s, cubed_dtype *out,
                                   bool *big_endian, cubed_error *err)
{
    return cb_typestr_parse(s, out, big_endian) ? CUBED_OK : unsupported(where, s, err);
}

cubed_status cb_zarr_print_typestr(cubed_dtype dtype, bool big_endian, char text[CB_TYPESTR_CAP],
                                   cubed_error *err)
{
    if (cb_typestr_print(dtype, big_endian, text)) return CUBED_OK;
    return cb_fail(err, CUBED_E_UNSUPPORTED, "format 2 has no data type \"%s\"",
                   cubed_dtype_name(dtype));
}

static cubed_status parse_time_v3(const char *where, const char *name, const json_t *conf,
                                  cubed_dtype *out, cubed_error *err)
{
    const char *unit_name;
    int64_t multiple;
    cubed_unit unit;
    cubed_dtype family =
        strcmp(name, "numpy.datetime64") == 0 ? CUBED_DATETIME64 : CUBED_TIMEDELTA64;
    CB_TRY(cb_json_get_string(where, conf, "unit", &unit_name, err));
    CB_TRY(cb_json_get_int(where, conf, "scale_factor", &multiple, err));
    if (multiple < 1 || multiple > INT32_MAX)
        return cb_fail(err, CUBED_E_FORMAT,
                       "%s: \"scale_factor\" is %lld, expected 1 to 2147483647", where,
                       (long long)multiple);
    cubed_status st = cubed_unit_parse(unit_name, &unit, err);
    if (st == CUBED_OK) st = cubed_dtype_time(family, unit, (int)multiple, out, err);
    if (st == CUBED_OK) return st;
    if (err) err->status = CUBED_E_UNSUPPORTED;
    return cb_context(err, CUBED_E_UNSUPPORTED, "%s: data type \"%s\"", where, name);
}

static cubed_status parse_text_v3(const char *where, const char *name, const json_t *conf,
                                  cubed_dtype *out, cubed_error *err)
{
    int64_t bytes, unit = strcmp(name, "fixed_length_utf32") == 0 ? 4 : 1;
    CB_TRY(cb_json_get_int(where, conf, "length_bytes", &bytes, err));
    if (bytes < 1 || bytes % unit != 0 ||
        cubed_dtype_fixed(unit == 4 ? CUBED_STRING : CUBED_BYTES, bytes / unit, out, NULL) !=
            CUBED_OK)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: data type \"%s\" of %lld bytes is not supported", where, name,
                       (long long)bytes);
    return CUBED_OK;
}

cubed_status cb_zarr_parse_type_v3(const char *where, const json_t *doc, cubed_dtype *out,
                                   cubed_error *err)
{
    const json_t *type = json_object_get(doc, "data_type");
    const json_t *conf = json_object_get(type, "configuration");
    const char *name;
    if (json_is_object(type))
        CB_TRY(cb_json_get_string(where, type, "name", &name, err));
    else
        CB_TRY(cb_json_get_string(where, doc, "data_type", &name, err));
    if (strcmp(name, "numpy.datetime64") == 0 || strcmp(name, "numpy.timedelta64") == 0)
        return parse_time_v3(where, name, conf, out, err);
    if (strcmp(name, "fixed_length_utf32") == 0 || strcmp(name, "null_terminated_bytes") == 0)
        return parse_text_v3(where, name, conf, out, err);
    if (cubed_dtype_parse(name, out, NULL) != CUBED_OK || json_object_size(conf) > 0 ||
        cubed_dtype_kind(*out) > CUBED_KIND_COMPLEX)
        return unsupported(where, name, err);
    return CUBED_OK;
}

json_t *cb_zarr_print_type_v3(cubed_dtype dtype)
{
    cubed_unit unit;
    int multiple;
    const char *name;
    switch (cubed_dtype_family(dtype)) {
    case CUBED_DATETIME64:
    case CUBED_TIMEDELTA64:
        cubed_dtype_get_time(dtype, &unit, &multiple);
        name = cubed_dtype_family(dtype) == CUBED_DATETIME64 ? "numpy.datetime64"
                                                             : "numpy.timedelta64";
        return json_pack("{s:s, s:{s:s, s:i}}", "name", name, "configuration", "unit",
                         cubed_unit_name(unit), "scale_factor", multiple);
    case CUBED_BYTES:
    case CUBED_STRING:
        name = cubed_dtype_family(dtype) == CUBED_STRING ? "fixed_length_utf32"
                                                         : "null_terminated_bytes";
        return json_pack("{s:s, s:{s:I}}", "name", name, "configuration", "length_bytes",
                         (json_int_t)cubed_dtype_size(dtype));
    default: return json_string(cubed_dtype_name(dtype));
    }
}
