/* NetCDF's classic formats 1, 2 (64-bit offsets) and 5 (64-bit data), according to the "NetCDF Classic Format
 * Specification". All numbers are big-endian. */
#include <stdio.h>
#include <string.h>

#include "files/arrays.h"

typedef struct cdf {
    cb_file *f;
    cb_arrays *arrays;
    cb_zone *zone; /* memory that is needed only until the file is open */
    int version;
    uint64_t at; /* position of the next byte of the header */
    uint64_t records;
    /* the header does not contain the number of records, so the number follows from the size of the file */
    bool streamed;
    uint64_t ndims;
    struct dimension {
        const char *name;
        uint64_t length; /* 0 for the record dimension */
    } * dims;
    uint64_t record_bytes;
    int nrecorded; /* number of arrays with records */
} cdf;

static cubed_status bad(const cdf *c, cubed_error *err, const char *what)
{
    return cb_fail(err, CUBED_E_FORMAT, "%s: malformed NetCDF: %s", c->f->url, what);
}

static cubed_status get(cdf *c, int n, uint64_t *out, cubed_error *err)
{
    uint8_t b[8];
    CB_TRY(cb_file_get(c->f, c->at, b, (size_t)n, err));
    c->at += (uint64_t)n;
    *out = 0;
    for (int i = 0; i < n; i++) *out = *out << 8 | b[i];
    return CUBED_OK;
}

/* Reads a count, which has 64 bits in format 5. */
static cubed_status get_count(cdf *c, uint64_t *out, cubed_error *err)
{
    CB_TRY(get(c, c->version == 5 ? 8 : 4, out, err));
    return *out > c->f->info.size ? bad(c, err, "a count that is larger than the file") : CUBED_OK;
}

/* Reads a list's tag and length; both are 0 if the list is missing. */
static cubed_status get_list(cdf *c, uint64_t tag, uint64_t *n, cubed_error *err)
{
    uint64_t is;
    CB_TRY(get(c, 4, &is, err));
    CB_TRY(get_count(c, n, err));
    return is == tag || (is == 0 && *n == 0) ? CUBED_OK : bad(c, err, "an unexpected kind of list");
}

/* Gets n bytes. The position advances by a multiple of four, because values are padded. */
static cubed_status get_bytes(cdf *c, uint64_t n, const uint8_t **out, cubed_error *err)
{
    CB_TRY(cb_file_take(c->f, c->zone, c->at, n, out, err));
    c->at += (n + 3) / 4 * 4;
    return CUBED_OK;
}

static cubed_status get_name(cdf *c, const char **out, cubed_error *err)
{
    uint64_t n;
    const uint8_t *p;
    CB_TRY(get_count(c, &n, err));
    CB_TRY(get_bytes(c, n, &p, err));
    char *name = cb_zone_alloc(c->zone, (size_t)n + 1);
    if (!name) return cb_file_no_memory(c->f, err);
    memcpy(name, p, (size_t)n);
    if (n == 0 || n > 2048 || strlen(name) != n || strchr(name, '/')) return bad(c, err, "a name");
    *out = name;
    return CUBED_OK;
}

static const struct {
    const char *name;
    cb_number_type type;
} types[] = {
    {NULL, {CB_NUMBER_INT, 0, true}},
    {"\"int8\"", {CB_NUMBER_INT, 1, true}},
    {"{\"name\":\"null_terminated_bytes\",\"configuration\":{\"length_bytes\":1}}",
     {CB_NUMBER_INT, 1, true}},
    {"\"int16\"", {CB_NUMBER_INT, 2, true}},
    {"\"int32\"", {CB_NUMBER_INT, 4, true}},
    {"\"float32\"", {CB_NUMBER_FLOAT, 4, true}},
    {"\"float64\"", {CB_NUMBER_FLOAT, 8, true}},
    {"\"uint8\"", {CB_NUMBER_UINT, 1, true}},
    {"\"uint16\"", {CB_NUMBER_UINT, 2, true}},
    {"\"uint32\"", {CB_NUMBER_UINT, 4, true}},
    {"\"int64\"", {CB_NUMBER_INT, 8, true}},
    {"\"uint64\"", {CB_NUMBER_UINT, 8, true}},
};
enum { TEXT = 2, NTYPES = sizeof types / sizeof *types };

static cubed_status get_type(cdf *c, int *out, cubed_error *err)
{
    uint64_t t;
    CB_TRY(get(c, 4, &t, err));
    *out = (int)t;
    return t >= 1 && t < NTYPES ? CUBED_OK : bad(c, err, "an unknown type");
}

static cubed_status get_attribute(cdf *c, json_t *attrs, int of, cubed_error *err)
{
    const char *name;
    uint64_t n;
    int type;
    const uint8_t *p;
    CB_TRY(get_name(c, &name, err));
    CB_TRY(get_type(c, &type, err));
    CB_TRY(get_count(c, &n, err));
    const cb_number_type t = types[type].type;
    CB_TRY(get_bytes(c, n * (uint64_t)t.size, &p, err));
    json_t *v = type == TEXT ? cb_text_json(p, n)
                : of == type && n == 1 && strcmp(name, "_FillValue") == 0
                    ? cb_missing_json(p, t)
                    : cb_numbers_json(p, t, n);
    const char *typestr = type == TEXT ? NULL : cb_number_typestr(t);
    return cb_attribute_json_set(attrs, name, v, typestr) ? CUBED_OK : cb_file_no_memory(c->f, err);
}

/* Reads attributes into a JSON string. `of` is the type of the variable, or 0 if it is not known yet. Without the type,
 * _FillValue is not converted. */
static cubed_status get_attributes(cdf *c, bool is_array, int of, const char **out,
                                   cubed_error *err)
{
    uint64_t n;
    CB_TRY(get_list(c, 12, &n, err));
    json_t *attrs = json_object();
    cubed_status st = attrs ? CUBED_OK : cb_file_no_memory(c->f, err);
    for (uint64_t i = 0; i < n && st == CUBED_OK; i++) st = get_attribute(c, attrs, of, err);
    if (st == CUBED_OK) {
        *out = cb_attributes_text(c->f, c->zone, attrs, is_array);
        if (!*out) st = cb_file_no_memory(c->f, err);
    }
    json_decref(attrs);
    return st;
}

static cubed_status get_dims(cdf *c, cubed_error *err)
{
    CB_TRY(get_list(c, 10, &c->ndims, err));
    c->dims = cb_zone_alloc(c->zone, (size_t)c->ndims * sizeof *c->dims);
    if (!c->dims) return cb_file_no_memory(c->f, err);
    for (uint64_t i = 0; i < c->ndims; i++) {
        CB_TRY(get_name(c, &c->dims[i].name, err));
        CB_TRY(get(c, c->version == 5 ? 8 : 4, &c->dims[i].length, err));
        if (c->dims[i].length > INT64_MAX) return bad(c, err, "the length of a dimension");
    }
    return CUBED_OK;
}

static cubed_status get_shape(cdf *c, cb_array_in *x, const char **dims, bool *recorded,
                              cubed_error *err)
{
    uint64_t n, id;
    CB_TRY(get_count(c, &n, err));
    if (n > CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "%s: %s has more than %d dimensions", c->f->url,
                       x->path, CUBED_MAX_NDIM);
    x->ndim = (int)n;
    *recorded = false;
    for (int d = 0; d < x->ndim; d++) {
        CB_TRY(get(c, c->version == 5 ? 8 : 4, &id, err));
        if (id >= c->ndims) return bad(c, err, "a dimension that does not exist");
        dims[d] = c->dims[id].name;
        x->shape[d] = (int64_t)c->dims[id].length;
        if (c->dims[id].length > 0) continue;
        if (d > 0) return bad(c, err, "records along a dimension other than the first");
        *recorded = true;
    }
    return CUBED_OK;
}

typedef struct variable {
    const char *dims[CUBED_MAX_NDIM];
    cb_array_words words;
    bool recorded;
    int type;
} variable;

static cubed_status get_variable(cdf *c, variable *v, cubed_error *err)
{
    const char *name;
    uint64_t bytes;
    CB_TRY(get_name(c, &name, err));
    cb_array_in *x = cb_arrays_add(c->f, c->arrays, name);
    if (!x) return cb_file_no_memory(c->f, err);
    x->is_array = true;
    CB_TRY(get_shape(c, x, v->dims, &v->recorded, err));
    /* Attributes precede the type of the variable, which the conversion of _FillValue needs. So attributes are read a second
     * time, when the type is known. */
    const uint64_t attributes = c->at;
    CB_TRY(get_attributes(c, true, 0, &v->words.attributes, err));
    CB_TRY(get_type(c, &v->type, err));
    const uint64_t behind = c->at;
    c->at = attributes;
    CB_TRY(get_attributes(c, true, v->type, &v->words.attributes, err));
    c->at = behind;
    /* The size in the header is ignored, because it is wrong for large variables. */
    CB_TRY(get(c, c->version == 5 ? 8 : 4, &bytes, err));
    CB_TRY(get(c, c->version == 1 ? 4 : 8, &x->begin, err));
    x->item = (uint64_t)types[v->type].type.size;
    v->words.data_type = types[v->type].name;
    v->words.fill_value = v->type == TEXT ? "\"\"" : "0";
    v->words.codecs = v->type == TEXT
                          ? "{\"name\":\"bytes\"}"
                          : "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}";
    return CUBED_OK;
}

/* Gets the size in bytes of an array, or of one of its records. */
static cubed_status bytes_of(const cdf *c, const cb_array_in *x, bool recorded, uint64_t *out,
                             cubed_error *err)
{
    int64_t n = 0;
    const int skip = recorded ? 1 : 0;
    if (cb_count(x->ndim - skip, x->shape + skip, &n) || (uint64_t)n > (UINT64_MAX >> 3) / x->item)
        return bad(c, err, "an array of more than 2**61 bytes");
    *out = (uint64_t)n * x->item;
    return CUBED_OK;
}

static cubed_status place(const cdf *c, cb_array_in *x, const variable *v, cubed_error *err)
{
    uint64_t bytes = 0;
    CB_TRY(bytes_of(c, x, v->recorded, &bytes, err));
    uint64_t all = bytes;
    if (v->recorded) {
        x->shape[0] = (int64_t)c->records;
        x->row_stride = c->record_bytes;
        all = c->records ? cb_sat_add(cb_sat_mul(c->records - 1, c->record_bytes), bytes) : 0;
    }
    if (all > 0 && (x->begin > c->f->info.size || all > c->f->info.size - x->begin))
        return cb_fail(err, CUBED_E_FORMAT, "%s: the file ends within %s", c->f->url, x->path);
    cb_array_cut(x);
    cb_array_words w = v->words;
    w.dims = x->ndim > 0 ? v->dims : NULL;
    return cb_array_describe(c->f, x, &w, err);
}

/* Computes the size of a record: the sum over all arrays with records, each padded to four bytes unless it is the only
 * one. */
static cubed_status count_records(cdf *c, const variable *v, uint64_t n, cubed_error *err)
{
    uint64_t bytes = 0, first = UINT64_MAX;
    for (uint64_t i = 0; i < n; i++) {
        if (!v[i].recorded) continue;
        CB_TRY(bytes_of(c, &c->arrays->list[i], true, &bytes, err));
        c->record_bytes = cb_sat_add(c->record_bytes, cb_sat_add(bytes, 3) / 4 * 4);
        c->nrecorded++;
        if (c->arrays->list[i].begin < first) first = c->arrays->list[i].begin;
    }
    for (uint64_t i = 0; i < n && c->nrecorded == 1; i++) {
        if (v[i].recorded) CB_TRY(bytes_of(c, &c->arrays->list[i], true, &c->record_bytes, err));
    }
    if (c->record_bytes > UINT64_MAX >> 3) return bad(c, err, "records of more than 2**61 bytes");
    if (c->streamed)
        c->records = c->record_bytes && first < c->f->info.size
                         ? (c->f->info.size - first) / c->record_bytes
                         : 0;
    return c->records > INT64_MAX ? bad(c, err, "the number of records") : CUBED_OK;
}

static cubed_status read_header(cdf *c, cubed_error *err)
{
    cb_array_words root = {.attributes = "{}"};
    uint64_t version, n;
    c->at = 3;
    CB_TRY(get(c, 1, &version, err));
    c->version = (int)version;
    CB_TRY(get(c, version == 5 ? 8 : 4, &c->records, err));
    c->streamed = c->records == (version == 5 ? UINT64_MAX : UINT32_MAX);
    CB_TRY(get_dims(c, err));
    CB_TRY(get_attributes(c, false, 0, &root.attributes, err));
    CB_TRY(get_list(c, 11, &n, err));
    variable *v = cb_zone_alloc(c->zone, (size_t)n * sizeof *v);
    if (!v) return cb_file_no_memory(c->f, err);
    for (uint64_t i = 0; i < n; i++) CB_TRY(get_variable(c, &v[i], err));
    CB_TRY(count_records(c, v, n, err));
    for (uint64_t i = 0; i < n; i++) CB_TRY(place(c, &c->arrays->list[i], &v[i], err));
    cb_array_in *x = cb_arrays_add(c->f, c->arrays, "");
    if (!x) return cb_file_no_memory(c->f, err);
    CB_TRY(cb_array_describe(c->f, x, &root, err));
    cb_arrays_sort(c->arrays);
    return CUBED_OK;
}

static bool is_cdf(cb_file *f, const uint8_t *first, size_t n)
{
    (void)f;
    return n >= 4 && memcmp(first, "CDF", 3) == 0 &&
           (first[3] == 1 || first[3] == 2 || first[3] == 5);
}

static cubed_status open_cdf(cb_file *f, cubed_error *err)
{
    cdf c = {.f = f};
    c.arrays = cb_zone_alloc(f->zone, sizeof *c.arrays);
    if (!c.arrays) return cb_file_no_memory(f, err);
    f->data = c.arrays;
    CB_TRY(cb_zone_new(f->head.alloc, &c.zone, err));
    cubed_status st = read_header(&c, err);
    cb_zone_free(c.zone);
    return st;
}

const cb_file_kind cb_file_cdf = {
    .is = is_cdf, .open = open_cdf, .find = cb_arrays_find, .each = cb_arrays_each};
