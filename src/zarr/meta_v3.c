/* Reads and writes metadata of Zarr format 3 (zarr-specs.readthedocs.io, v3 core). */
#include <string.h>

#include "zarr/zarr_pkg.h"

static cubed_status read_grid(const char *where, const json_t *doc, cb_zone *zone, cb_zarr_meta *m,
                              cubed_error *err)
{
    const json_t *grid = json_object_get(doc, "chunk_grid");
    const char *name = NULL;
    int n;
    CB_TRY(cb_json_get_string(where, grid, "name", &name, err));
    if (strcmp(name, "rectilinear") == 0)
        return cb_zarr_parse_rectilinear(where, json_object_get(grid, "configuration"), zone, m,
                                         err);
    if (strcmp(name, "regular") != 0)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "%s: chunk grid \"%s\" is not supported", where,
                       name);
    CB_TRY(cb_json_get_ints(where, json_object_get(grid, "configuration"), "chunk_shape", 1, &n,
                            m->chunk, err));
    if (n != m->ndim)
        return cb_fail(
            err, CUBED_E_FORMAT,
            "%s: \"chunk_shape\" has %d entries and \"shape\" %d, expected equal numbers", where, n,
            m->ndim);
    return CUBED_OK;
}

static cubed_status read_keys(const char *where, const json_t *doc, cb_zarr_meta *m,
                              cubed_error *err)
{
    const json_t *keys = json_object_get(doc, "chunk_key_encoding");
    const json_t *conf = json_object_get(keys, "configuration");
    /* a string is an abbreviation of an object with a name and without configuration */
    const char *name = json_string_value(keys);
    if (!name) CB_TRY(cb_json_get_string(where, keys, "name", &name, err));
    m->v2_keys = strcmp(name, "v2") == 0;
    if (!m->v2_keys && strcmp(name, "default") != 0)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "%s: chunk key encoding \"%s\" is not supported",
                       where, name);
    const char *s = m->v2_keys ? "." : "/";
    if (json_object_get(conf, "separator"))
        CB_TRY(cb_json_get_string(where, conf, "separator", &s, err));
    if (strcmp(s, ".") != 0 && strcmp(s, "/") != 0)
        return cb_fail(err, CUBED_E_FORMAT, "%s: \"separator\" is \"%s\", expected . or /", where,
                       s);
    m->separator = s[0];
    return CUBED_OK;
}

static cubed_status read_dims(const char *where, const json_t *doc, cb_zone *zone, cb_zarr_meta *m,
                              cubed_error *err)
{
    const json_t *dims = json_object_get(doc, "dimension_names");
    if (!dims || json_is_null(dims)) return CUBED_OK;
    if (!json_is_array(dims) || json_array_size(dims) != (size_t)m->ndim)
        return cb_fail(err, CUBED_E_FORMAT, "%s: \"dimension_names\" must list %d names", where,
                       m->ndim);
    for (int d = 0; d < m->ndim; d++) {
        const json_t *v = json_array_get(dims, (size_t)d);
        if (json_is_null(v)) continue;
        if (!json_is_string(v))
            return cb_fail(err, CUBED_E_FORMAT, "%s: \"dimension_names\"[%d] is not a string",
                           where, d);
        m->dim_names[d] = cb_zone_strdup(zone, json_string_value(v));
        if (!m->dim_names[d]) return cb_fail(err, CUBED_E_NOMEM, "no memory for names");
    }
    return CUBED_OK;
}

/* Rejects unknown extensions unless they are marked as optional. */
static cubed_status check_extensions(const char *where, const json_t *doc, cubed_error *err)
{
    static const char *const known[] = {"zarr_format",
                                        "node_type",
                                        "shape",
                                        "data_type",
                                        "chunk_grid",
                                        "fill_value",
                                        "chunk_key_encoding",
                                        "codecs",
                                        "attributes",
                                        "dimension_names",
                                        "storage_transformers",
                                        "consolidated_metadata"};
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)(uintptr_t)doc, key, v)
    {
        bool fine = json_is_object(v) && json_is_false(json_object_get(v, "must_understand"));
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            fine = fine || strcmp(key, known[i]) == 0;
        if (!fine)
            return cb_fail(err, CUBED_E_UNSUPPORTED, "%s: extension \"%s\" is not supported", where,
                           key);
    }
    const json_t *transformers = json_object_get(doc, "storage_transformers");
    if (transformers && !json_is_null(transformers) &&
        !(json_is_array(transformers) && json_array_size(transformers) == 0))
        return cb_fail(err, CUBED_E_UNSUPPORTED, "%s: storage transformers are not supported",
                       where);
    return CUBED_OK;
}

/* Reads the attributes, which some writers store as null if there are none. */
static cubed_status read_attrs(const char *where, const json_t *doc, cb_zone *zone, cb_zarr_meta *m,
                               cubed_error *err)
{
    const json_t *attrs = json_object_get(doc, "attributes");
    m->attrs = "{}";
    if (!attrs || json_is_null(attrs)) return CUBED_OK;
    if (!json_is_object(attrs))
        return cb_fail(err, CUBED_E_FORMAT, "%s: \"attributes\" is not an object", where);
    return cb_zarr_attrs_text(attrs, zone, &m->attrs, err);
}

static cubed_status begin(const char *where, const json_t *doc, cb_zarr_meta *m, cubed_error *err)
{
    int64_t format;
    const char *s;
    memset(m, 0, sizeof *m);
    m->format = 3;
    if (!json_is_object(doc)) return cb_fail(err, CUBED_E_FORMAT, "%s: not a JSON object", where);
    CB_TRY(cb_json_get_int(where, doc, "zarr_format", &format, err));
    if (format != 3)
        return cb_fail(err, CUBED_E_FORMAT, "%s: \"zarr_format\" is %lld, expected 3", where,
                       (long long)format);
    CB_TRY(cb_json_get_string(where, doc, "node_type", &s, err));
    if (strcmp(s, "array") != 0)
        return cb_fail(err, CUBED_E_FORMAT, "%s: \"node_type\" is \"%s\", expected array", where,
                       s);
    return CUBED_OK;
}

cubed_status cb_zarr_outline_v3(const char *where, const json_t *doc, cb_zone *zone,
                                cb_zarr_meta *m, cubed_error *err)
{
    CB_TRY(begin(where, doc, m, err));
    m->dtype = CUBED_UINT8;
    CB_TRY(cb_json_get_ints(where, doc, "shape", 0, &m->ndim, m->shape, err));
    CB_TRY(read_grid(where, doc, zone, m, err));
    CB_TRY(cb_zarr_check_shape(where, m, err));
    CB_TRY(read_keys(where, doc, m, err));
    CB_TRY(read_dims(where, doc, zone, m, err));
    return read_attrs(where, doc, zone, m, err);
}

cubed_status cb_zarr_parse_v3(const char *where, const cb_codecs *codecs, const json_t *doc,
                              cb_zone *zone, cb_zarr_meta *m, cubed_error *err)
{
    CB_TRY(begin(where, doc, m, err));
    CB_TRY(check_extensions(where, doc, err));
    const json_t *type = json_object_get(doc, "data_type");
    if (cb_zarr_is_record_v3(type))
        CB_TRY(cb_zarr_parse_record_v3(where, type, zone, m, err));
    else
        CB_TRY(cb_zarr_parse_type_v3(where, doc, &m->dtype, err));
    CB_TRY(cb_json_get_ints(where, doc, "shape", 0, &m->ndim, m->shape, err));
    CB_TRY(read_grid(where, doc, zone, m, err));
    CB_TRY(cb_zarr_check_shape(where, m, err));
    CB_TRY(read_keys(where, doc, m, err));
    const json_t *fill = json_object_get(doc, "fill_value");
    if (!fill) return cb_fail(err, CUBED_E_FORMAT, "%s: \"fill_value\" is missing", where);
    CB_TRY(cb_zarr_parse_fill(where, fill, zone, m, err));
    cb_codec_array array = cb_zarr_codec_array(m, codecs);
    CB_TRY(cb_codec_chain_parse_v3(where, json_object_get(doc, "codecs"), &array, &m->codecs, err));
    for (int i = 0; m->wide_fill && i < m->codecs.nsteps; i++) {
        if (m->codecs.step[i].ninner > 0)
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "%s: a fill value of more than %zu bytes is not supported in shards",
                           where, sizeof m->fill);
    }
    cb_zarr_set_inner(m);
    CB_TRY(cb_zarr_check_irregular(where, m, err));
    CB_TRY(read_dims(where, doc, zone, m, err));
    return read_attrs(where, doc, zone, m, err);
}

static json_t *named(const char *name, json_t *configuration)
{
    return json_pack("{s:s, s:o}", "name", name, "configuration", configuration);
}

cubed_status cb_zarr_print_v3(const cb_zarr_meta *m, json_t **out, cubed_error *err)
{
    json_t *codecs = NULL, *attrs = NULL;
    char separator[2] = {m->separator, 0};
    bool any_name = false, irregular = cb_zarr_is_irregular(m);
    cubed_status st = cb_codec_chain_print_v3(&m->codecs, &codecs, err);
    if (st == CUBED_OK) st = cb_json_parse("attributes", m->attrs, strlen(m->attrs), &attrs, err);
    if (st == CUBED_OK && !cb_attributes_stow(attrs, m->dtype))
        st = cb_fail(err, CUBED_E_NOMEM, "out of memory: attributes of an array");
    if (st != CUBED_OK) {
        json_decref(codecs);
        json_decref(attrs);
        return st;
    }
    for (int d = 0; d < m->ndim; d++) any_name = any_name || m->dim_names[d];
    json_t *doc = json_object();
    bool ok = doc != NULL;
    cb_json_put(doc, "zarr_format", json_integer(3), &ok);
    cb_json_put(doc, "node_type", json_string("array"), &ok);
    cb_json_put(doc, "shape", cb_json_ints(m->ndim, m->shape), &ok);
    cb_json_put(doc, "data_type",
                cubed_dtype_family(m->dtype) == CUBED_RECORD ? cb_zarr_print_record(m)
                                                             : cb_zarr_print_type_v3(m->dtype),
                &ok);
    cb_json_put(doc, "chunk_grid",
                irregular ? named("rectilinear", cb_zarr_print_rectilinear(m))
                          : named("regular", json_pack("{s:o}", "chunk_shape",
                                                       cb_json_ints(m->ndim, m->chunk))),
                &ok);
    cb_json_put(doc, "chunk_key_encoding",
                named(m->v2_keys ? "v2" : "default", json_pack("{s:s}", "separator", separator)),
                &ok);
    cb_json_put(doc, "fill_value", cb_fill_print(m->dtype, &m->fill, 3), &ok);
    cb_json_put(doc, "codecs", codecs, &ok);
    cb_json_put(doc, "attributes", attrs, &ok);
    if (any_name) {
        json_t *dims = json_array();
        for (int d = 0; d < m->ndim; d++)
            cb_json_add(dims, m->dim_names[d] ? json_string(m->dim_names[d]) : json_null(), &ok);
        cb_json_put(doc, "dimension_names", dims, &ok);
    }
    *out = cb_json_if(ok, doc);
    return ok ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "out of memory: metadata of an array");
}
