/* How the two formats spell data types. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zarr/zarr_pkg.h"

static cubed_status unsupported(const char *where, const char *name, cubed_error *err)
{
    return cb_fail(err, CUBED_E_UNSUPPORTED, "%s: data type \"%s\" is not supported", where, name);
}

/* --- Format 2: NumPy's type strings ------------------------------------------------------------------ */

static const char kinds[] = "biufc";

/* "M8[25s]" and the like behind the first two characters. */
static bool parse_time(char kind, const char *rest, cubed_dtype *out)
{
    char text[CUBED_DTYPE_TEXT_CAP];
    snprintf(text, sizeof text, "%s%s", kind == 'M' ? "datetime64" : "timedelta64", rest);
    return strlen(rest) < 16 && cubed_dtype_parse(text, out, NULL) == CUBED_OK &&
           cubed_dtype_kind(*out) == CUBED_KIND_TIME;
}

cubed_status cb_zarr_parse_typestr(const char *where, const char *s, cubed_dtype *out,
                                   bool *big_endian, cubed_error *err)
{
    char text[16];
    bool known = false, ordered = s[0] == '<' || s[0] == '>';
    if ((ordered || s[0] == '|') && s[1] && s[2]) {
        const char *kind = strchr(kinds, s[1]);
        if (s[1] == 'M' || s[1] == 'm') {
            known = s[2] == '8' && ordered && parse_time(s[1], s + 3, out);
        } else if (s[1] == 'S' || s[1] == 'U') {
            snprintf(text, sizeof text, "%.15s", s + 1);
            known = strlen(s + 1) < sizeof text && cubed_dtype_parse(text, out, NULL) == CUBED_OK &&
                    (s[1] == 'S' || ordered);
        } else if (kind) {
            for (int t = 0; t <= CUBED_FLOAT16 && !known; t++) {
                cubed_dtype dtype = (cubed_dtype)t;
                if (!cubed_dtype_is_valid(dtype)) continue;
                snprintf(text, sizeof text, "%zu", cubed_dtype_size(dtype));
                known = cubed_dtype_kind(dtype) == (cubed_kind)(kind - kinds) &&
                        strcmp(s + 2, text) == 0 && (ordered || cubed_dtype_size(dtype) == 1);
                if (known) *out = dtype;
            }
        }
    }
    *big_endian = s[0] == '>';
    return known ? CUBED_OK : unsupported(where, s, err);
}

cubed_status cb_zarr_print_typestr(cubed_dtype dtype, bool big_endian, char text[CB_TYPESTR_CAP],
                                   cubed_error *err)
{
    char name[CUBED_DTYPE_TEXT_CAP];
    const char *order = cb_unit_size(dtype) == 1 ? "|" : big_endian ? ">" : "<", *unit;
    cubed_dtype_text(dtype, name);
    switch (cubed_dtype_kind(dtype)) {
    case CUBED_KIND_TEXT: snprintf(text, CB_TYPESTR_CAP, "%s%s", order, name); return CUBED_OK;
    case CUBED_KIND_TIME:
        unit = strchr(name, '[');
        snprintf(text, CB_TYPESTR_CAP, "%s%c8%s", order,
                 cubed_dtype_family(dtype) == CUBED_DATETIME64 ? 'M' : 'm', unit ? unit : "");
        return CUBED_OK;
    default: break;
    }
    if (dtype == CUBED_BFLOAT16)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "format 2 has no data type \"%s\"", name);
    snprintf(text, CB_TYPESTR_CAP, "%s%c%zu", order, kinds[cubed_dtype_kind(dtype)],
             cubed_dtype_size(dtype));
    return CUBED_OK;
}

/* --- Format 3: names, of extensions with a configuration ---------------------------------------------- */

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
