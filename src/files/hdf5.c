/* HDF5 files, including NetCDF-4: presents their groups and arrays as a Zarr hierarchy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "files/hdf5_pkg.h"

static const uint8_t signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

/* An object whose dimensions do not have names yet, because the names depend on other objects. */
typedef struct object {
    const char *path;
    uint64_t address;
    int array; /* index in the list of arrays; -1 if the object is not an array */
    bool scale, hidden;
    int64_t dimid; /* NetCDF-4's number of the dimension; -1 if it has no number */
    /* Dimensions (NetCDF-4's numbers) of an array that is itself a dimension scale; nids is their number. */
    int nids;
    int64_t ids[CUBED_MAX_NDIM];
    uint64_t scales[CUBED_MAX_NDIM]; /* addresses of the scales of the dimensions */
    cb_array_words words;
} object;

/* A dimension without a dimension scale. */
typedef struct phony_dim {
    char name[32];
    size_t ngroup; /* length of the path of the array's group, the first part of `of` */
    const char *of;
    int64_t extent;
} phony_dim;

typedef struct reader {
    phony_dim *phony;
    int nphony, capphony;
    cb_h5 h;
    cb_arrays *arrays;
    cb_zone *zone; /* memory that is needed only until the file is open */
    object *list;
    int n, cap;
    object *now;
    json_t *attrs;
    cb_array_in *x; /* array whose attributes are read; NULL for a group */
    cb_h5_type type;
} reader;

/* Finds the signature, which may follow other data at the start of the file. */
static bool find_signature(cb_file *f, uint64_t *at)
{
    uint8_t here[8];
    for (*at = 0; *at <= (uint64_t)1 << 20; *at = *at ? 2 * *at : 512) {
        if (f->info.size < *at + 8 || cb_file_get(f, *at, here, 8, NULL) != CUBED_OK) return false;
        if (memcmp(here, signature, 8) == 0) return true;
    }
    return false;
}

static bool is_hdf5(cb_file *f, const uint8_t *first, size_t n)
{
    uint64_t at;
    (void)first;
    (void)n;
    return find_signature(f, &at);
}

static bool is_size(uint64_t n) { return n == 2 || n == 4 || n == 8; }

static cubed_status read_superblock(cb_h5 *h, cubed_error *err)
{
    uint64_t at = 0;
    cb_h5_bytes b;
    if (!find_signature(h->f, &at)) return cb_h5_bad(h, err, "no signature");
    h->base = at;
    CB_TRY(cb_h5_read(h, at, 24, NULL, &b, err));
    (void)cb_h5_skip(&b, 8);
    const uint64_t version = cb_h5_take(&b, 1);
    if (version > 3) return cb_h5_bad(h, err, "an unknown version");
    if (version < 2) (void)cb_h5_skip(&b, 4);
    const uint64_t osize = cb_h5_take(&b, 1), lsize = cb_h5_take(&b, 1);
    if (!is_size(osize) || !is_size(lsize)) return cb_h5_bad(h, err, "the width of addresses");
    h->osize = (int)osize;
    h->lsize = (int)lsize;
    const uint64_t front = version == 0 ? 24 : version == 1 ? 28 : 12;
    CB_TRY(cb_h5_read(h, at + front, 6 * osize, NULL, &b, err));
    (void)cb_h5_skip(&b, version < 2 ? 5 * osize : 3 * osize);
    h->root = cb_h5_address(h, &b);
    return CUBED_OK;
}

/* --- Attributes --------------------------------------------------------------------------------------- */

static bool is_own(const char *name)
{
    static const char *const own[] = {"CLASS",
                                      "NAME",
                                      "DIMENSION_LIST",
                                      "REFERENCE_LIST",
                                      "DIMENSION_LABELS",
                                      "_Netcdf4Dimid",
                                      "_Netcdf4Coordinates",
                                      "_nc3_strict",
                                      "_NCProperties"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (strcmp(name, own[i]) == 0) return true;
    }
    return false;
}

static int64_t integer_at(const cb_h5_attribute *a, uint64_t i)
{
    const uint64_t bits = cb_number_bits(a->data.at + i * a->type.size, a->type.number);
    const int shift = 64 - 8 * (int)a->type.size;
    return (int64_t)(bits << shift) >> shift;
}

/* Reads a list of references for each dimension. Only the first reference of each is used. */
static cubed_status read_scales(reader *r, const cb_h5_attribute *a, cubed_error *err)
{
    for (uint64_t i = 0; i < a->space.count && i < CUBED_MAX_NDIM; i++) {
        cb_h5_bytes b = a->data, list;
        (void)cb_h5_skip(&b, i * a->type.size);
        const uint64_t n = cb_h5_take(&b, 4), heap = cb_h5_address(&r->h, &b);
        const uint32_t index = (uint32_t)cb_h5_take(&b, 4);
        if (n == 0 || b.bad) continue;
        CB_TRY(cb_h5_global(&r->h, heap, index, &list, err));
        r->now->scales[i] = cb_h5_address(&r->h, &list);
    }
    return CUBED_OK;
}

/* Reads an attribute of the reserved names that define the names of dimensions. */
static cubed_status read_own(reader *r, const cb_h5_attribute *a, cubed_error *err)
{
    const char *text = NULL;
    const bool numbers = a->type.what == CB_H5_NUMBER && a->type.number.kind != CB_NUMBER_FLOAT;
    if (strcmp(a->name, "DIMENSION_LIST") == 0 && a->type.what == CB_H5_LIST)
        return read_scales(r, a, err);
    if (strcmp(a->name, "_Netcdf4Dimid") == 0 && numbers && a->space.count == 1)
        r->now->dimid = integer_at(a, 0);
    if (strcmp(a->name, "_Netcdf4Coordinates") == 0 && numbers) {
        r->now->nids = (int)(a->space.count < CUBED_MAX_NDIM ? a->space.count : CUBED_MAX_NDIM);
        for (int d = 0; d < r->now->nids; d++) r->now->ids[d] = integer_at(a, (uint64_t)d);
    }
    CB_TRY(cb_h5_attribute_text(&r->h, a, &text, err));
    if (!text) return CUBED_OK;
    static const char nothing[] = "This is a netCDF dimension but not a netCDF variable";
    if (strcmp(a->name, "CLASS") == 0) r->now->scale = strcmp(text, "DIMENSION_SCALE") == 0;
    if (strcmp(a->name, "NAME") == 0)
        r->now->hidden = strncmp(text, nothing, sizeof nothing - 1) == 0;
    return CUBED_OK;
}

static cubed_status add_attribute(void *ctx, const cb_h5_message *m, cubed_error *err)
{
    reader *r = ctx;
    cb_h5_attribute a;
    json_t *v = NULL;
    CB_TRY(cb_h5_parse_attribute(&r->h, m, &a, err));
    if (is_own(a.name)) return read_own(r, &a, err);
    const bool fill = r->x && strcmp(a.name, "_FillValue") == 0 && a.type.what == CB_H5_NUMBER &&
                      a.space.count == 1;
    if (fill) {
        v = cb_missing_json(a.data.at, a.type.number);
        if (!v) return cb_file_no_memory(r->h.f, err);
    } else {
        CB_TRY(cb_h5_attribute_json(&r->h, &a, &v, err));
    }
    if (!v) return CUBED_OK; /* JSON has no value for this type */
    const char *type = a.type.what == CB_H5_LONG_TEXT ? "|S128"
                       : a.type.what == CB_H5_NUMBER  ? cb_number_typestr(a.type.number)
                                                      : NULL;
    return cb_attribute_json_set(r->attrs, a.name, v, type) ? CUBED_OK
                                                            : cb_file_no_memory(r->h.f, err);
}

static cubed_status read_attributes(reader *r, const cb_h5_header *x, cubed_error *err)
{
    r->attrs = json_object();
    cubed_status st = r->attrs ? cb_h5_each_attribute(&r->h, x, add_attribute, r, err)
                               : cb_file_no_memory(r->h.f, err);
    if (st == CUBED_OK) {
        r->now->words.attributes = cb_attributes_text(r->h.f, r->zone, r->attrs, r->x != NULL);
        if (!r->now->words.attributes) st = cb_file_no_memory(r->h.f, err);
    }
    json_decref(r->attrs);
    return st;
}

/* --- Arrays ------------------------------------------------------------------------------------------- */

static const char *keep(reader *r, cb_buf *b)
{
    const char *text = b->failed ? NULL : cb_zone_strdup(r->zone, b->data);
    cb_buf_free(b);
    return text;
}

static const char *number_name(const cb_h5_type *t)
{
    static const char *const names[3][4] = {{"\"int8\"", "\"int16\"", "\"int32\"", "\"int64\""},
                                            {"\"uint8\"", "\"uint16\"", "\"uint32\"", "\"uint64\""},
                                            {"", "\"float16\"", "\"float32\"", "\"float64\""}};
    const int size = t->number.size;
    return names[t->number.kind][size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3];
}

static const char *type_json(reader *r, const cb_h5_type *t, bool null)
{
    cb_buf b;
    cb_buf_init(&b, r->h.f->head.alloc);
    if (null)
        cb_buf_puts(&b, "\"HDF5's null\"");
    else if (t->what == CB_H5_NUMBER)
        cb_buf_puts(&b, number_name(t));
    else if (t->what == CB_H5_BOOL)
        cb_buf_puts(&b, "\"bool\"");
    else if (t->what == CB_H5_BFLOAT16)
        cb_buf_puts(&b, "\"bfloat16\"");
    else if (t->what == CB_H5_COMPLEX)
        cb_buf_puts(&b, t->size == 8 ? "\"complex64\"" : "\"complex128\"");
    else if (t->what == CB_H5_TEXT)
        cb_buf_printf(
            &b, "{\"name\":\"null_terminated_bytes\",\"configuration\":{\"length_bytes\":%u}}",
            t->size);
    else
        cb_buf_printf(&b, "\"HDF5's %s\"",
                      t->what == CB_H5_LONG_TEXT ? "variable-length text" : t->name);
    return keep(r, &b);
}

/* Returns the bytes of the fill value, or NULL if it is zero. */
static const uint8_t *fill_bytes(const cb_h5_header *x, uint32_t size)
{
    const cb_h5_message *m = cb_h5_find(x, CB_H5_FILL);
    cb_h5_bytes b;
    uint64_t n = 0;
    if (m) {
        b = m->bytes;
        const uint64_t version = cb_h5_take(&b, 1), flags = cb_h5_take(&b, 1);
        bool there = flags & 0x20;
        if (version < 3) {
            (void)cb_h5_skip(&b, 1);
            there = cb_h5_take(&b, 1) || version == 1;
        }
        if (there) n = cb_h5_take(&b, 4);
    } else if ((m = cb_h5_find(x, CB_H5_OLD_FILL))) {
        b = m->bytes;
        n = cb_h5_take(&b, 4);
    }
    return m && n == size ? cb_h5_skip(&b, n) : NULL;
}

/* Converts the fill value of elements of variable length. Such a fill value is a reference to data in a heap. */
static cubed_status long_fill_json(reader *r, const cb_h5_header *x, const cb_h5_type *t,
                                   const char **out, cubed_error *err)
{
    const uint8_t *at = fill_bytes(x, t->size);
    cb_h5_attribute a = {.type = *t, .space = {.count = 1}};
    json_t *v = NULL;
    cb_buf b;
    *out = "\"\"";
    if (!at) return CUBED_OK;
    a.data = (cb_h5_bytes){at, at + t->size, false};
    CB_TRY(cb_h5_attribute_json(&r->h, &a, &v, err));
    cb_buf_init(&b, r->h.f->head.alloc);
    if (!v || !cb_json_dump(v, JSON_ENCODE_ANY, &b)) b.failed = true;
    json_decref(v);
    *out = keep(r, &b);
    return CUBED_OK;
}

static const char *fill_json(reader *r, const cb_h5_header *x, const cb_h5_type *t)
{
    static const uint8_t zeros[16] = {0};
    const uint8_t *at = fill_bytes(x, t->size);
    const uint32_t size = t->what == CB_H5_TEXT && t->size > 12 ? 12 : t->size;
    char text[32];
    json_t *v = NULL;
    bool ok = true;
    if (!at) at = zeros;
    cb_number_type half = t->number;
    switch (t->what) {
    case CB_H5_NUMBER: v = cb_fill_json(at, t->number); break;
    case CB_H5_BFLOAT16:
        half.size = 2;
        v = cb_fill_json(at, half);
        break;
    case CB_H5_BOOL: v = json_boolean(at[0] != 0); break;
    case CB_H5_COMPLEX:
        v = json_array();
        for (int i = 0; i < 2; i++)
            cb_json_add(v, cb_fill_json(at + (size_t)i * (size_t)half.size, half), &ok);
        v = cb_json_if(ok, v);
        break;
    case CB_H5_TEXT:
        cb_base64_encode(at == zeros ? zeros : at, size, text);
        v = json_string(text);
        break;
    default: v = json_integer(0); break;
    }
    cb_buf b;
    cb_buf_init(&b, r->h.f->head.alloc);
    if (!v || !cb_json_dump(v, JSON_ENCODE_ANY, &b)) b.failed = true;
    json_decref(v);
    return keep(r, &b);
}

enum { FILTER_VALUES = 7 };

static void put_filter(cb_buf *b, uint64_t id, const uint32_t *value, uint64_t n, uint32_t size)
{
    static const struct {
        uint64_t id;
        const char *name;
    } others[] = {{4, "szip"},           {5, "nbit"},
                  {6, "scaleoffset"},    {32000, "LZF"},
                  {32008, "bitshuffle"}, {32013, "ZFP"},
                  {32026, "blosc2"},     {32017, "SZ"},
                  {32019, "JPEG"},       {32028, "granular BitRound"}};
    static const char *const blosc[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
    const char *name = "of unknown name";
    const uint32_t first = n > 0 ? value[0] : 0;
    switch (id) {
    case 1:
        cb_buf_printf(b, ",{\"name\":\"numcodecs.zlib\",\"configuration\":{\"level\":%u}}",
                      first > 9 ? 9 : first);
        return;
    case 2:
        cb_buf_printf(b, ",{\"name\":\"numcodecs.shuffle\",\"configuration\":{\"elementsize\":%u}}",
                      first ? first : size);
        return;
    case 3: cb_buf_puts(b, ",{\"name\":\"numcodecs.fletcher32\"}"); return;
    case 307:
        cb_buf_puts(b, ",{\"name\":\"numcodecs.bz2\",\"configuration\":{\"level\":9}}");
        return;
    case 32001:
        cb_buf_printf(b,
                      ",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"%s\",\"clevel\":%u,"
                      "\"shuffle\":\"%s\",\"typesize\":%u,\"blocksize\":0}}",
                      blosc[n > 6 && value[6] < 6 ? value[6] : 0],
                      n > 4 && value[4] < 9 ? value[4] : 9,
                      n > 5 && value[5] == 0 ? "noshuffle" : "shuffle", size < 256 ? size : 1);
        return;
    case 32004: cb_buf_puts(b, ",{\"name\":\"cubed.hdf5_lz4\"}"); return;
    case 32015:
        cb_buf_puts(b, ",{\"name\":\"zstd\",\"configuration\":{\"level\":3,\"checksum\":false}}");
        return;
    default: break;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].id == id) name = others[i].name;
    }
    cb_buf_printf(b, ",{\"name\":\"HDF5 filter %u, %s\"}", (unsigned)id, name);
}

/* Converts filters to codecs, one each. *n is their number. */
static cubed_status read_filters(reader *r, const cb_h5_header *x, uint32_t size, cb_buf *out,
                                 uint64_t *n, cubed_error *err)
{
    const cb_h5_message *m = cb_h5_find(x, CB_H5_FILTERS);
    cb_h5_bytes b;
    *n = 0;
    if (!m) return CUBED_OK;
    CB_TRY(cb_h5_follow(&r->h, m->type, m->flags, m->bytes, &b, err));
    const uint64_t version = cb_h5_take(&b, 1);
    *n = cb_h5_take(&b, 1);
    if (version == 1) (void)cb_h5_skip(&b, 6);
    for (uint64_t i = 0; i < *n; i++) {
        uint32_t value[FILTER_VALUES] = {0};
        const uint64_t id = cb_h5_take(&b, 2);
        const uint64_t name = version == 1 || id >= 256 ? cb_h5_take(&b, 2) : 0;
        (void)cb_h5_skip(&b, 2);
        const uint64_t nvalues = cb_h5_take(&b, 2);
        (void)cb_h5_skip(&b, version == 1 ? (name + 7) / 8 * 8 : name);
        for (uint64_t k = 0; k < nvalues; k++) {
            const uint32_t v = (uint32_t)cb_h5_take(&b, 4);
            if (k < FILTER_VALUES) value[k] = v;
        }
        if (version == 1 && nvalues % 2) (void)cb_h5_skip(&b, 4);
        if (b.bad || version < 1 || version > 2) return cb_h5_bad(&r->h, err, "a list of filters");
        put_filter(out, id, value, nvalues, size);
    }
    return CUBED_OK;
}

static cubed_status chunked_layout(reader *r, cb_array_in *x, cb_h5_index *index, cb_h5_bytes b,
                                   int version, cubed_error *err)
{
    uint64_t bytes = x->item, flags = 0;
    int width = 4;
    if (version >= 4) flags = cb_h5_take(&b, 1);
    const uint64_t n = cb_h5_take(&b, 1);
    if (version >= 4)
        width = (int)cb_h5_take(&b, 1);
    else
        index->address = cb_h5_address(&r->h, &b);
    if (n != (uint64_t)x->ndim + 1 || x->ndim == 0 || width < 1 || width > 8)
        return cb_h5_bad(&r->h, err,
                         "chunks that differ from their array in the number of dimensions");
    for (int d = 0; d < x->ndim; d++) {
        const uint64_t extent = cb_h5_take(&b, width);
        if (extent == 0 || extent > UINT32_MAX || bytes > UINT32_MAX / extent)
            return cb_h5_bad(&r->h, err, "the shape of chunks");
        x->chunk[d] = (int64_t)extent;
        bytes *= extent;
    }
    if (cb_h5_take(&b, width) != x->item) return cb_h5_bad(&r->h, err, "the shape of chunks");
    index->bytes = index->single = bytes;
    index->kind = CB_H5_BTREE_1;
    if (version >= 4) {
        static const uint64_t skip[] = {0, 0, 0, 1, 5, 6};
        const uint64_t kind = cb_h5_take(&b, 1);
        if (kind < CB_H5_SINGLE || kind > CB_H5_BTREE_2)
            return cb_h5_bad(&r->h, err, "an unknown type of chunk index");
        index->kind = (int)kind;
        if (kind == CB_H5_SINGLE && flags & 2) {
            index->single = cb_h5_length(&r->h, &b);
            index->mask = (uint32_t)cb_h5_take(&b, 4);
        }
        (void)cb_h5_skip(&b, skip[kind]);
        index->address = cb_h5_address(&r->h, &b);
    }
    index->edges_raw = flags & 1 && index->filtered;
    if (b.bad) return cb_h5_bad(&r->h, err, "the layout of an array");
    x->chunked = true;
    x->source = index;
    return CUBED_OK;
}

/* Reads an old version of the layout message, which also repeats sizes that follow from the shape. */
static cubed_status old_layout(reader *r, cb_array_in *x, cb_h5_index *index, cb_h5_bytes b,
                               uint64_t count, cubed_error *err)
{
    const uint64_t n = cb_h5_take(&b, 1), class = cb_h5_take(&b, 1);
    (void)cb_h5_skip(&b, 5);
    if (class == 1) x->begin = cb_h5_address(&r->h, &b);
    if (class == 2) {
        /* From here on, the fields are those of version 3 of the message. */
        cb_h5_bytes third = b;
        index->address = cb_h5_address(&r->h, &third);
        uint64_t bytes = x->item;
        if (n != (uint64_t)x->ndim + 1 || x->ndim == 0)
            return cb_h5_bad(&r->h, err,
                             "chunks that differ from their array in the number of dimensions");
        for (int d = 0; d < x->ndim; d++) {
            const uint64_t extent = cb_h5_take(&third, 4);
            if (extent == 0 || bytes > UINT32_MAX / extent)
                return cb_h5_bad(&r->h, err, "the shape of chunks");
            x->chunk[d] = (int64_t)extent;
            bytes *= extent;
        }
        index->bytes = bytes;
        index->kind = CB_H5_BTREE_1;
        x->chunked = true;
        x->source = index;
        return third.bad ? cb_h5_bad(&r->h, err, "the layout of an array") : CUBED_OK;
    }
    if (class == 0) {
        (void)cb_h5_skip(&b, 4 * n);
        const uint64_t size = cb_h5_take(&b, 4);
        const uint8_t *at = cb_h5_skip(&b, size);
        if (!at || size < count * x->item) return cb_h5_bad(&r->h, err, "a compact array");
        x->inside = cb_zone_memdup(r->h.f->zone, at, (size_t)size);
        if (!x->inside) return cb_file_no_memory(r->h.f, err);
    }
    return CUBED_OK;
}

static cubed_status read_layout(reader *r, const cb_h5_header *header, cb_array_in *x,
                                const cb_h5_space *space, uint64_t nfilters, bool *virtual,
                                cubed_error *err)
{
    const cb_h5_message *m = cb_h5_find(header, CB_H5_LAYOUT);
    cb_h5_bytes b = m->bytes;
    cb_h5_index *index = cb_zone_alloc(r->h.f->zone, sizeof *index);
    if (!index) return cb_file_no_memory(r->h.f, err);
    index->h = r->h;
    index->filtered = nfilters > 0;
    memcpy(index->most, space->most, sizeof index->most);
    const int version = (int)cb_h5_take(&b, 1);
    if (version < 1 || version > 5) return cb_h5_bad(&r->h, err, "a layout of an unknown version");
    if (version < 3)
        CB_TRY(old_layout(r, x, index, b, space->count, err));
    else {
        const uint64_t class = cb_h5_take(&b, 1);
        *virtual = class == 3;
        if (class == 2) return chunked_layout(r, x, index, b, version, err);
        if (class == 1) x->begin = cb_h5_address(&r->h, &b);
        if (class == 0) {
            const uint64_t size = cb_h5_take(&b, 2);
            const uint8_t *at = cb_h5_skip(&b, size);
            if (!at || size / x->item < space->count)
                return cb_h5_bad(&r->h, err, "a compact array");
            x->inside = cb_zone_memdup(r->h.f->zone, at, (size_t)size);
            if (!x->inside) return cb_file_no_memory(r->h.f, err);
        }
        if (b.bad) return cb_h5_bad(&r->h, err, "the layout of an array");
    }
    if (x->chunked) return CUBED_OK;
    if (x->begin != UINT64_MAX &&
        (x->begin > r->h.f->info.size || (r->h.f->info.size - x->begin) / x->item < space->count))
        return cb_fail(err, CUBED_E_FORMAT, "%s: the file ends within %s", r->h.f->url, x->path);
    cb_array_cut(x);
    return CUBED_OK;
}

static const char *base_name(const char *path)
{
    static const char prefix[] = "_nc4_non_coord_";
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return strncmp(name, prefix, sizeof prefix - 1) == 0 ? name + sizeof prefix - 1 : name;
}

static cubed_status read_dataset(reader *r, const cb_h5_header *header, cubed_error *err)
{
    const cb_h5_message *space_m = cb_h5_find(header, CB_H5_DATASPACE);
    const cb_h5_message *type_m = cb_h5_find(header, CB_H5_DATATYPE);
    cb_h5_space space;
    cb_h5_bytes b;
    cb_buf codecs;
    uint64_t nfilters = 0;
    bool virtual = false;
    cb_array_words *w = &r->now->words;
    char path[4096];
    const char *slash = strrchr(r->now->path, '/');
    snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash + 1 - r->now->path) : 0, r->now->path,
             base_name(r->now->path));
    cb_array_in *x = cb_arrays_add(r->h.f, r->arrays, path);
    if (!x) return cb_file_no_memory(r->h.f, err);
    r->now->array = r->arrays->n - 1;
    r->x = x;
    x->is_array = true;
    CB_TRY(cb_h5_follow(&r->h, CB_H5_DATASPACE, space_m->flags, space_m->bytes, &b, err));
    CB_TRY(cb_h5_parse_space(&r->h, b, &space, err));
    CB_TRY(cb_h5_follow(&r->h, CB_H5_DATATYPE, type_m->flags, type_m->bytes, &b, err));
    cb_h5_parse_type(&b, &r->type);
    if (b.bad) return cb_h5_bad(&r->h, err, "the type of an array");
    const cb_h5_message *fill = cb_h5_find(header, CB_H5_FILL);
    if (fill && fill->flags & 2)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "%s: shared fill values are not supported",
                       r->h.f->url);
    x->ndim = space.ndim;
    x->item = r->type.size;
    memcpy(x->shape, space.shape, sizeof x->shape);
    if (space.count > (uint64_t)INT64_MAX / 4 / x->item)
        return cb_h5_bad(&r->h, err, "an array of more than 2**61 bytes");
    cb_buf_init(&codecs, r->h.f->head.alloc);
    cb_buf_printf(&codecs, "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"%s\"}}",
                  r->type.number.big && r->type.what != CB_H5_TEXT ? "big" : "little");
    cubed_status st = read_filters(r, header, r->type.size, &codecs, &nfilters, err);
    if (st == CUBED_OK) st = read_layout(r, header, x, &space, nfilters, &virtual, err);
    if (cb_h5_find(header, CB_H5_EXTERNAL)) cb_buf_puts(&codecs, ",\"HDF5's external files\"");
    if (virtual) cb_buf_puts(&codecs, ",\"HDF5's virtual layout\"");
    w->codecs = keep(r, &codecs);
    if (st != CUBED_OK) return st;
    w->data_type = type_json(r, &r->type, space.null);
    if (r->type.what == CB_H5_LONG_TEXT)
        CB_TRY(long_fill_json(r, header, &r->type, &w->fill_value, err));
    else
        w->fill_value = fill_json(r, header, &r->type);
    return w->codecs && w->data_type && w->fill_value ? CUBED_OK : cb_file_no_memory(r->h.f, err);
}

/* --- The hierarchy ------------------------------------------------------------------------------------ */

static cubed_status add_object(void *ctx, const char *name, uint64_t address, cubed_error *err)
{
    reader *r = ctx;
    char path[4096];
    const int n =
        snprintf(path, sizeof path, "%s%s%s", r->now->path, *r->now->path ? "/" : "", name);
    const int own = (int)(r->now - r->list);
    if (n < 0 || (size_t)n >= sizeof path)
        return cb_h5_bad(&r->h, err, "a path of more than 4096 bytes");
    if (!cb_zone_grow(r->zone, &r->list, r->n, &r->cap, sizeof *r->list))
        return cb_file_no_memory(r->h.f, err);
    r->now = &r->list[own];
    object *o = &r->list[r->n];
    *o = (object){.address = address, .array = -1, .dimid = -1};
    o->path = cb_zone_strdup(r->zone, path);
    for (int d = 0; d < CUBED_MAX_NDIM; d++) o->scales[d] = CB_H5_NOWHERE;
    if (!o->path) return cb_file_no_memory(r->h.f, err);
    r->n++;
    return CUBED_OK;
}

/* Returns true if the object was visited before. Links may form cycles. */
static bool was_seen(const reader *r, int i)
{
    for (int k = 0; k < i; k++) {
        if (r->list[k].address == r->list[i].address && r->list[k].array < 0 &&
            r->list[k].words.attributes)
            return true;
    }
    return false;
}

static cubed_status read_object(reader *r, int i, cubed_error *err)
{
    cb_h5_header header;
    bool is_group = false;
    r->now = &r->list[i];
    r->x = NULL;
    if (was_seen(r, i)) return CUBED_OK;
    CB_TRY(cb_h5_read_header(&r->h, r->now->address, &header, err));
    if (cb_h5_find(&header, CB_H5_LAYOUT) && cb_h5_find(&header, CB_H5_DATASPACE) &&
        cb_h5_find(&header, CB_H5_DATATYPE)) {
        CB_TRY(read_dataset(r, &header, err));
    } else {
        CB_TRY(cb_h5_each_link(&r->h, &header, &is_group, add_object, r, err));
        if (!is_group) return CUBED_OK; /* the object is a named type */
    }
    CB_TRY(read_attributes(r, &header, err));
    if (!is_group) return CUBED_OK;
    cb_array_in *x = cb_arrays_add(r->h.f, r->arrays, r->now->path);
    return x ? cb_array_describe(r->h.f, x, &r->now->words, err) : cb_file_no_memory(r->h.f, err);
}

static const char *scale_at(const reader *r, uint64_t address)
{
    for (int i = 0; address != CB_H5_NOWHERE && i < r->n; i++) {
        if (r->list[i].address == address && r->list[i].array >= 0)
            return base_name(r->list[i].path);
    }
    return NULL;
}

static const char *scale_of_id(const reader *r, int64_t id)
{
    for (int i = 0; i < r->n; i++) {
        if (r->list[i].scale && r->list[i].dimid == id) return base_name(r->list[i].path);
    }
    return NULL;
}

/* Gives each unlimited dimension of NetCDF the length of its longest variable. Shorter variables have missing elements at
 * the end. */
static void lengthen(reader *r)
{
    for (int i = 0; i < r->n; i++) {
        int64_t longest = 0;
        for (int pass = 0; pass < 2 && r->list[i].scale && r->list[i].array >= 0; pass++) {
            for (int k = 0; k < r->n; k++) {
                object *o = &r->list[k];
                cb_array_in *x = o->array >= 0 ? &r->arrays->list[o->array] : NULL;
                for (int d = 0; x && x->chunked && d < x->ndim; d++) {
                    const cb_h5_index *index = x->source;
                    const bool has = k == i ? d == 0 : o->scales[d] == r->list[i].address;
                    if (!has || index->most[d] != UINT64_MAX) continue;
                    if (pass == 0) longest = cb_max_i64(longest, x->shape[d]);
                    if (pass == 1) x->shape[d] = longest;
                }
            }
        }
    }
}

/* Names dimension d of x, which has no dimension scale, with h5netcdf's numbering. A group has one name for each length. If
 * several axes of an array have the same length, each gets its own name. */
static cubed_status name_phony(reader *r, const cb_array_in *x, int d, const char **dims,
                               cubed_error *err)
{
    const char *slash = strrchr(x->path, '/');
    const size_t ngroup = slash ? (size_t)(slash - x->path) : 0;
    int scales = 0;
    for (int i = 0; i < r->nphony; i++) {
        const phony_dim *p = &r->phony[i];
        bool taken =
            p->extent != x->shape[d] || p->ngroup != ngroup || strncmp(p->of, x->path, ngroup) != 0;
        for (int k = 0; k < d && !taken; k++) taken = dims[k] && strcmp(dims[k], p->name) == 0;
        if (taken) continue;
        dims[d] = cb_zone_strdup(r->zone, p->name);
        return dims[d] ? CUBED_OK : cb_file_no_memory(r->h.f, err);
    }
    if (!cb_zone_grow(r->zone, &r->phony, r->nphony, &r->capphony, sizeof *r->phony))
        return cb_file_no_memory(r->h.f, err);
    for (int i = 0; i < r->n; i++) scales += r->list[i].scale;
    phony_dim *p = &r->phony[r->nphony];
    *p = (phony_dim){.ngroup = ngroup, .of = x->path, .extent = x->shape[d]};
    snprintf(p->name, sizeof p->name, "phony_dim_%d", scales + r->nphony++);
    dims[d] = cb_zone_strdup(r->zone, p->name);
    return dims[d] ? CUBED_OK : cb_file_no_memory(r->h.f, err);
}

static cubed_status describe(reader *r, object *o, cubed_error *err)
{
    cb_array_in *x = &r->arrays->list[o->array];
    const char *dims[CUBED_MAX_NDIM] = {NULL};
    for (int d = 0; d < x->ndim; d++) {
        if (o->scale && d < o->nids)
            dims[d] = scale_of_id(r, o->ids[d]);
        else if (o->scale && x->ndim == 1)
            dims[d] = base_name(o->path);
        else
            dims[d] = scale_at(r, o->scales[d]);
        if (!dims[d]) CB_TRY(name_phony(r, x, d, dims, err));
    }
    o->words.dims = dims;
    return cb_array_describe(r->h.f, x, &o->words, err);
}

/* Removes hidden arrays, which stand for dimensions without a variable, from the list of arrays. */
static void drop_hidden(reader *r)
{
    cb_arrays *a = r->arrays;
    int n = 0;
    for (int i = 0; i < r->n; i++) {
        if (r->list[i].hidden && r->list[i].array >= 0) a->list[r->list[i].array].path = NULL;
    }
    for (int i = 0; i < a->n; i++) {
        if (a->list[i].path) a->list[n++] = a->list[i];
    }
    a->n = n;
}

static cubed_status read_file(reader *r, cubed_error *err)
{
    CB_TRY(read_superblock(&r->h, err));
    r->list = NULL;
    if (!cb_zone_grow(r->zone, &r->list, 0, &r->cap, sizeof *r->list))
        return cb_file_no_memory(r->h.f, err);
    r->list[0] = (object){.path = "", .address = r->h.root, .array = -1, .dimid = -1};
    r->n = 1;
    for (int i = 0; i < r->n; i++) {
        cb_zone *own;
        CB_TRY(cb_zone_new(r->h.f->head.alloc, &own, err));
        r->h.temp = own;
        cubed_status st = read_object(r, i, err);
        cb_zone_free(own);
        r->h.temp = r->zone;
        if (st != CUBED_OK)
            return *r->list[i].path ? cb_context(err, st, "%s", r->list[i].path) : st;
    }
    lengthen(r);
    for (int i = 0; i < r->n; i++) {
        if (r->list[i].array >= 0) CB_TRY(describe(r, &r->list[i], err));
    }
    drop_hidden(r);
    cb_arrays_sort(r->arrays);
    return CUBED_OK;
}

static cubed_status open_hdf5(cb_file *f, cubed_error *err)
{
    reader r = {.h = {.f = f, .osize = 8, .lsize = 8}};
    cb_h5_data *data = cb_zone_alloc(f->zone, sizeof *data);
    if (!data) return cb_file_no_memory(f, err);
    r.arrays = &data->arrays;
    r.arrays->load = cb_h5_load_chunks;
    f->data = data;
    r.h.left = (int64_t)(f->info.size / 4) + 64;
    CB_TRY(cb_zone_new(f->head.alloc, &r.zone, err));
    r.h.temp = r.zone;
    cubed_status st = read_file(&r, err);
    data->h = r.h;
    data->h.temp = NULL;
    cb_zone_free(r.zone);
    return st;
}

const cb_file_kind cb_file_hdf5 = {
    .is = is_hdf5, .open = open_hdf5, .find = cb_arrays_find, .each = cb_arrays_each};
