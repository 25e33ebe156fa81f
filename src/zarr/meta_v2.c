/* Reads and writes metadata of Zarr format 2 (zarr-specs.readthedocs.io, v2). */
#include <string.h>

#include "zarr/zarr_pkg.h"

static cubed_status read_dims(const json_t *zattrs, cb_zone *zone, cb_zarr_meta *m, json_t **rest,
                              cubed_error *err)
{
    *rest = zattrs ? cb_json_copy(zattrs) : json_object();
    if (!*rest) return cb_fail(err, CUBED_E_NOMEM, "no memory for attributes");
    const json_t *dims = json_object_get(zattrs, "_ARRAY_DIMENSIONS");
    if (json_array_size(dims) != (size_t)m->ndim || !json_is_array(dims)) return CUBED_OK;
    for (int d = 0; d < m->ndim; d++) {
        if (!json_is_string(json_array_get(dims, (size_t)d))) return CUBED_OK;
    }
    for (int d = 0; d < m->ndim; d++) {
        m->dim_names[d] = cb_zone_strdup(zone, json_string_value(json_array_get(dims, (size_t)d)));
        if (!m->dim_names[d]) return cb_fail(err, CUBED_E_NOMEM, "no memory for names");
    }
    json_object_del(*rest, "_ARRAY_DIMENSIONS");
    return CUBED_OK;
}

static cubed_status begin(const char *where, const json_t *zarray, const json_t *zattrs,
                          cb_zarr_meta *m, cubed_error *err)
{
    int64_t format;
    memset(m, 0, sizeof *m);
    m->format = 2;
    m->v2_keys = true;
    if (!json_is_object(zarray))
        return cb_fail(err, CUBED_E_FORMAT, "%s: not a JSON object", where);
    if (zattrs && !json_is_object(zattrs))
        return cb_fail(err, CUBED_E_FORMAT, "%s: the .zattrs next to it is not a JSON object",
                       where);
    CB_TRY(cb_json_get_int(where, zarray, "zarr_format", &format, err));
    if (format == 2) return CUBED_OK;
    return cb_fail(err, CUBED_E_FORMAT, "%s: \"zarr_format\" is %lld, expected 2", where,
                   (long long)format);
}

/* Reads shape, chunks, keys and memory layout. The type is known. */
static cubed_status read_layout(const char *where, const json_t *zarray, cb_zarr_meta *m,
                                cubed_error *err)
{
    int nchunk;
    const char *s = "C";
    CB_TRY(cb_json_get_ints(where, zarray, "shape", 0, &m->ndim, m->shape, err));
    CB_TRY(cb_json_get_ints(where, zarray, "chunks", 0, &nchunk, m->chunk, err));
    if (nchunk != m->ndim)
        return cb_fail(err, CUBED_E_FORMAT,
                       "%s: \"chunks\" has %d entries and \"shape\" %d, expected equal numbers",
                       where, nchunk, m->ndim);
    for (int d = 0; d < m->ndim; d++) {
        /* Old writers used chunks of length 0 for empty axes. */
        if (m->chunk[d] == 0 && m->shape[d] > 0)
            return cb_fail(err, CUBED_E_FORMAT, "%s: \"chunks\"[%d] is 0", where, d);
        if (m->chunk[d] == 0) m->chunk[d] = 1;
    }
    CB_TRY(cb_zarr_check_shape(where, m, err));
    if (json_object_get(zarray, "order"))
        CB_TRY(cb_json_get_string(where, zarray, "order", &s, err));
    if (strcmp(s, "C") != 0 && strcmp(s, "F") != 0)
        return cb_fail(err, CUBED_E_FORMAT, "%s: \"order\" is \"%s\", expected C or F", where, s);
    m->order_f = s[0] == 'F' && m->ndim > 1;
    s = ".";
    if (json_object_get(zarray, "dimension_separator"))
        CB_TRY(cb_json_get_string(where, zarray, "dimension_separator", &s, err));
    if (strcmp(s, ".") != 0 && strcmp(s, "/") != 0)
        return cb_fail(err, CUBED_E_FORMAT,
                       "%s: \"dimension_separator\" is \"%s\", expected . or /", where, s);
    m->separator = s[0];
    return CUBED_OK;
}

static cubed_status read_attrs(const json_t *zattrs, cb_zone *zone, cb_zarr_meta *m,
                               cubed_error *err)
{
    json_t *rest = NULL;
    cubed_status st = read_dims(zattrs, zone, m, &rest, err);
    if (st == CUBED_OK) st = cb_zarr_attrs_text(rest, zone, &m->attrs, err);
    json_decref(rest);
    return st;
}

cubed_status cb_zarr_outline_v2(const char *where, const json_t *zarray, const json_t *zattrs,
                                cb_zone *zone, cb_zarr_meta *m, cubed_error *err)
{
    CB_TRY(begin(where, zarray, zattrs, m, err));
    m->dtype = CUBED_UINT8;
    CB_TRY(read_layout(where, zarray, m, err));
    return read_attrs(zattrs, zone, m, err);
}

cubed_status cb_zarr_parse_v2(const char *where, const cb_codecs *codecs, const json_t *zarray,
                              const json_t *zattrs, cb_zone *zone, cb_zarr_meta *m,
                              cubed_error *err)
{
    const char *s;
    CB_TRY(begin(where, zarray, zattrs, m, err));
    const json_t *type = json_object_get(zarray, "dtype");
    if (json_is_array(type)) {
        CB_TRY(cb_zarr_parse_record_v2(where, type, zone, m, err));
    } else {
        CB_TRY(cb_json_get_string(where, zarray, "dtype", &s, err));
        CB_TRY(cb_zarr_parse_typestr(where, s, &m->dtype, &m->big_endian, err));
    }
    CB_TRY(read_layout(where, zarray, m, err));
    const json_t *fill = json_object_get(zarray, "fill_value");
    m->fill_is_null = !fill || json_is_null(fill);
    if (m->fill_is_null)
        m->fill = cb_fill_default(m->dtype);
    else
        CB_TRY(cb_zarr_parse_fill(where, fill, zone, m, err));
    const json_t *filters = json_object_get(zarray, "filters");
    if (filters && !json_is_null(filters) && !json_is_array(filters))
        return cb_fail(err, CUBED_E_FORMAT, "%s: \"filters\" is not a list", where);
    cb_codec_array array = cb_zarr_codec_array(m, codecs);
    const cb_codec_v2 v2 = {m->big_endian, m->order_f, filters,
                            json_object_get(zarray, "compressor")};
    CB_TRY(cb_codec_chain_parse_v2(where, &v2, &array, &m->codecs, err));
    cb_zarr_set_inner(m);
    return read_attrs(zattrs, zone, m, err);
}

cubed_status cb_zarr_print_v2(const cb_zarr_meta *m, json_t **zarray, json_t **zattrs,
                              cubed_error *err)
{
    char type[CB_TYPESTR_CAP];
    json_t *filters = NULL, *compressor = NULL, *attrs = NULL;
    const char *separator = m->separator == '.' ? "." : "/";
    const bool is_record = cubed_dtype_family(m->dtype) == CUBED_RECORD;
    if (!is_record) CB_TRY(cb_zarr_print_typestr(m->dtype, m->big_endian, type, err));
    CB_TRY(cb_codec_chain_print_v2(&m->codecs, &filters, &compressor, err));
    cubed_status st = cb_json_parse("attributes", m->attrs, strlen(m->attrs), &attrs, err);
    if (st != CUBED_OK) {
        json_decref(filters);
        json_decref(compressor);
        return st;
    }
    cb_attributes_prune(attrs);
    json_t *doc = json_object();
    bool ok = doc != NULL;
    cb_json_put(doc, "shape", cb_json_ints(m->ndim, m->shape), &ok);
    cb_json_put(doc, "chunks", cb_json_ints(m->ndim, m->chunk), &ok);
    cb_json_put(doc, "dtype", is_record ? cb_zarr_print_record(m) : json_string(type), &ok);
    cb_json_put(doc, "fill_value",
                m->fill_is_null ? json_null() : cb_fill_print(m->dtype, &m->fill, 2), &ok);
    cb_json_put(doc, "order", json_string(m->order_f ? "F" : "C"), &ok);
    cb_json_put(doc, "filters", filters, &ok);
    cb_json_put(doc, "dimension_separator", json_string(separator), &ok);
    cb_json_put(doc, "compressor", compressor, &ok);
    cb_json_put(doc, "zarr_format", json_integer(2), &ok);
    bool named = m->ndim > 0;
    for (int d = 0; d < m->ndim; d++) named = named && m->dim_names[d];
    if (named) {
        json_t *dims = json_array();
        for (int d = 0; d < m->ndim; d++) cb_json_add(dims, json_string(m->dim_names[d]), &ok);
        cb_json_put(attrs, "_ARRAY_DIMENSIONS", dims, &ok);
    } else if (m->ndim == 0) {
        cb_json_put(attrs, "_ARRAY_DIMENSIONS", json_array(), &ok);
    }
    *zarray = cb_json_if(ok, doc);
    *zattrs = cb_json_if(ok, attrs);
    return ok ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "out of memory: metadata of an array");
}
