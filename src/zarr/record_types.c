/* Records in both formats: a list of fields as the "dtype" of format 2, and zarr-python's extension "structured" of format
 * 3. */
#include <string.h>

#include "dtype/record_fields.h"
#include "zarr/zarr_pkg.h"

static cubed_status no_memory(cubed_error *err)
{
    return cb_fail(err, CUBED_E_NOMEM, "out of memory: fields of records");
}

/* Sets type and description from a list of fields. */
static cubed_status keep_fields(const char *where, const json_t *list, cb_zone *zone,
                                cb_zarr_meta *m, cubed_error *err)
{
    CB_TRY(cb_record_check(where, list, &m->dtype, err));
    m->fields = cb_record_text(list, zone);
    return m->fields ? CUBED_OK : no_memory(err);
}

cubed_status cb_zarr_parse_record_v2(const char *where, const json_t *list, cb_zone *zone,
                                     cb_zarr_meta *m, cubed_error *err)
{
    return keep_fields(where, list, zone, m, err);
}

static const json_t *record_conf(const json_t *type)
{
    const char *name = json_string_value(json_object_get(type, "name"));
    return name && (strcmp(name, "structured") == 0 || strcmp(name, "struct") == 0)
               ? json_object_get(type, "configuration")
               : NULL;
}

/* Converts a configuration to the list of fields of format 2. Recursion depth: CB_RECORD_DEPTH. */
static cubed_status convert(const char *where, const json_t *conf, int depth, json_t *out,
                            cubed_error *err);

static cubed_status convert_type(const char *where, const json_t *type, int depth, json_t **out,
                                 cubed_error *err)
{
    const json_t *conf = record_conf(type);
    char text[CB_TYPESTR_CAP];
    cubed_dtype dtype;
    if (conf) {
        *out = json_array();
        return *out ? convert(where, conf, depth + 1, *out, err) : no_memory(err);
    }
    json_t *doc = json_object();
    bool ok = doc != NULL;
    cb_json_put(doc, "data_type", cb_json_deep_copy(type), &ok);
    cubed_status st = ok ? cb_zarr_parse_type_v3(where, doc, &dtype, err) : no_memory(err);
    json_decref(doc);
    if (st == CUBED_OK) st = cb_zarr_print_typestr(dtype, false, text, err);
    if (st != CUBED_OK) return cb_context(err, st, "%s: a field", where);
    *out = json_string(text);
    return *out ? CUBED_OK : no_memory(err);
}

static cubed_status convert(const char *where, const json_t *conf, int depth, json_t *out,
                            cubed_error *err)
{
    const json_t *fields = json_object_get(conf, "fields");
    bool ok = true;
    if (depth > CB_RECORD_DEPTH || json_array_size(fields) > CB_RECORD_FIELDS)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: records of more than %d fields, or of more than %d levels, are not "
                       "supported",
                       where, CB_RECORD_FIELDS, CB_RECORD_DEPTH);
    for (size_t i = 0; i < json_array_size(fields); i++) {
        const json_t *item = json_array_get(fields, i);
        const bool is_object = json_is_object(item);
        const json_t *name = is_object ? json_object_get(item, "name") : json_array_get(item, 0);
        const json_t *type =
            is_object ? json_object_get(item, "data_type") : json_array_get(item, 1);
        json_t *pair = NULL, *typestr = NULL;
        if (!json_is_string(name) || !type || (!is_object && json_array_size(item) != 2))
            return cb_fail(err, CUBED_E_FORMAT, "%s: field %zu has no name and type", where, i);
        const cubed_status st = convert_type(where, type, depth, &typestr, err);
        if (st != CUBED_OK) {
            json_decref(typestr);
            return st;
        }
        pair = json_array();
        cb_json_add(pair, cb_json_copy(name), &ok);
        cb_json_add(pair, typestr, &ok);
        cb_json_add(out, pair, &ok);
    }
    return ok ? CUBED_OK : no_memory(err);
}

bool cb_zarr_is_record_v3(const json_t *type) { return record_conf(type) != NULL; }

cubed_status cb_zarr_parse_record_v3(const char *where, const json_t *type, cb_zone *zone,
                                     cb_zarr_meta *m, cubed_error *err)
{
    json_t *list = json_array();
    cubed_status st = list ? convert(where, record_conf(type), 1, list, err) : no_memory(err);
    if (st == CUBED_OK) st = keep_fields(where, list, zone, m, err);
    json_decref(list);
    return st;
}

/* Checks that format 3 can represent the fields. Recursion depth: CB_RECORD_DEPTH. */
static cubed_status check_v3(const json_t *fields, cubed_error *err)
{
    cb_field f;
    for (size_t i = 0; i < json_array_size(fields); i++) {
        f = cb_record_field(fields, i, i ? &f : NULL);
        if (f.ndim > 0)
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "format 3 has no records with several elements in a field (\"%s\"): use "
                           "format 2, or store the field as an array",
                           f.name);
        if (!f.fields && f.big_endian)
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "format 3 has no records with big-endian fields (\"%s\"): use format 2, "
                           "or select the fields, which makes them little-endian",
                           f.name);
        if (f.fields) CB_TRY(check_v3(f.fields, err));
    }
    return CUBED_OK;
}

cubed_status cb_zarr_check_record(const cb_zarr_meta *m, cubed_error *err)
{
    json_t *fields;
    cubed_dtype dtype;
    if (cubed_dtype_family(m->dtype) != CUBED_RECORD) return CUBED_OK;
    if (!m->fields)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "the fields of the records are not known");
    CB_TRY(cb_record_parse("fields", m->fields, &fields, &dtype, err));
    cubed_status st = m->format == 3 ? check_v3(fields, err) : CUBED_OK;
    if (st == CUBED_OK && dtype != m->dtype)
        st = cb_fail(err, CUBED_E_ARG, "the fields do not describe the records");
    json_decref(fields);
    return st;
}

/* Returns the type of format 3 for records with these fields. Recursion depth: CB_RECORD_DEPTH. */
static json_t *print_v3(const json_t *fields, bool *ok)
{
    json_t *list = json_array(), *conf = json_object(), *type = json_object();
    cb_field f;
    for (size_t i = 0; i < json_array_size(fields); i++) {
        f = cb_record_field(fields, i, i ? &f : NULL);
        json_t *pair = json_array();
        cb_json_add(pair, json_string(f.name), ok);
        cb_json_add(pair, f.fields ? print_v3(f.fields, ok) : cb_zarr_print_type_v3(f.dtype), ok);
        cb_json_add(list, pair, ok);
    }
    cb_json_put(conf, "fields", list, ok);
    cb_json_put(type, "name", json_string("structured"), ok);
    cb_json_put(type, "configuration", conf, ok);
    return type;
}

json_t *cb_zarr_print_record(const cb_zarr_meta *m)
{
    json_t *fields = NULL, *out;
    bool ok = true;
    if (!m->fields ||
        cb_json_parse("fields", m->fields, strlen(m->fields), &fields, NULL) != CUBED_OK)
        return NULL;
    if (m->format == 2) return fields;
    out = print_v3(fields, &ok);
    json_decref(fields);
    return cb_json_if(ok, out);
}
