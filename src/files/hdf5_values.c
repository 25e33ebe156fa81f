/* Types, shapes and attributes. */
#include <string.h>

#include "files/hdf5_pkg.h"

static bool is_ieee(const uint8_t *p, uint32_t size)
{
    static const struct {
        uint32_t size;
        uint8_t exponent_at, exponent, mantissa;
        uint32_t bias;
    } known[] = {{2, 10, 5, 10, 15}, {4, 23, 8, 23, 127}, {8, 52, 11, 52, 1023}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].size == size)
            return cb_le_get(p, 2) == 0 && cb_le_get(p + 2, 2) == 8 * (uint64_t)size &&
                   p[4] == known[i].exponent_at && p[5] == known[i].exponent && p[6] == 0 &&
                   p[7] == known[i].mantissa && cb_le_get(p + 8, 4) == known[i].bias;
    }
    return false;
}

static bool is_bfloat16(const uint8_t *p, uint32_t size)
{
    return size == 2 && p[4] == 7 && p[5] == 8 && p[6] == 0 && p[7] == 7 &&
           cb_le_get(p + 8, 4) == 127;
}

/* Skips the NUL-terminated string at the front. Old versions pad it to a multiple of eight bytes. */
static const uint8_t *take_name(cb_h5_bytes *b, bool padded, uint64_t *n)
{
    const uint8_t *end = b->bad ? NULL : memchr(b->at, 0, (size_t)cb_h5_left(b));
    if (!end) {
        b->bad = true;
        return NULL;
    }
    *n = (uint64_t)(end - b->at);
    return cb_h5_skip(b, padded ? (*n + 8) / 8 * 8 : *n + 1);
}

static void parse_type(cb_h5_bytes *b, int depth, cb_h5_type *out);

/* Parses a compound type. It is a complex number if it has two members r and i of the same type; other compound types are
 * not supported. */
static void parse_compound(cb_h5_bytes *b, int version, uint64_t n, int depth, cb_h5_type *out)
{
    bool complex = n == 2;
    out->name = "compound";
    for (uint64_t i = 0; i < n && !b->bad; i++) {
        uint64_t length;
        cb_h5_type t;
        const uint8_t *name = take_name(b, version < 3, &length);
        int width = 1;
        while (version >= 3 && width < 4 && out->size >> (8 * width)) width++;
        const uint64_t offset = cb_h5_take(b, version < 3 ? 4 : width);
        if (version == 1) (void)cb_h5_skip(b, 28);
        parse_type(b, depth + 1, &t);
        complex = complex && name && length == 1 && *name == (i ? 'i' : 'r') &&
                  t.what == CB_H5_NUMBER && t.number.kind == CB_NUMBER_FLOAT && t.size >= 4 &&
                  2 * t.size == out->size && offset == i * t.size;
        if (i == 0) out->number = t.number;
        complex = complex && t.number.big == out->number.big;
    }
    if (complex && !b->bad) out->what = CB_H5_COMPLEX;
}

/* Parses an enumeration. An 8-bit enumeration with h5py's two names is bool. */
static void parse_enum(cb_h5_bytes *b, int version, uint64_t n, int depth, cb_h5_type *out)
{
    cb_h5_type base;
    bool boolean = n == 2;
    parse_type(b, depth + 1, &base);
    for (uint64_t i = 0; i < n && !b->bad; i++) {
        static const char *const names[] = {"FALSE", "TRUE"};
        uint64_t length;
        const uint8_t *name = take_name(b, version < 3, &length);
        boolean = boolean && name && length == strlen(names[i]) &&
                  memcmp(name, names[i], (size_t)length) == 0;
    }
    const uint8_t *values = cb_h5_skip(b, n * base.size);
    if (base.what != CB_H5_NUMBER || base.number.kind == CB_NUMBER_FLOAT || !values) return;
    out->number = base.number;
    out->what =
        boolean && base.size == 1 && values[0] == 0 && values[1] == 1 ? CB_H5_BOOL : CB_H5_NUMBER;
}

/* Parses a type. Types may be nested only to a small depth. */
static void parse_type(cb_h5_bytes *b, int depth, cb_h5_type *out)
{
    static const char *const names[] = {"integer of odd bits",
                                        "float that is not of IEEE",
                                        "time",
                                        "text",
                                        "bit field",
                                        "opaque",
                                        "compound",
                                        "reference",
                                        "enumeration",
                                        "variable-length",
                                        "array"};
    const uint64_t head = cb_h5_take(b, 1), bits = cb_h5_take(b, 3);
    const int version = (int)(head >> 4), class = (int)(head & 15);
    *out = (cb_h5_type){.what = CB_H5_OTHER, .size = (uint32_t)cb_h5_take(b, 4)};
    out->name = class <= 10 ? names[class] : "unknown";
    if (depth > 16 || version < 1 || version > 5) b->bad = true;
    if (b->bad) return;
    out->number = (cb_number_type){CB_NUMBER_FLOAT, (int)out->size, bits & 1};
    const uint8_t *p;
    cb_h5_type base;
    switch (class) {
    case 0:
    case 4:
        p = cb_h5_skip(b, 4);
        if (!p || class == 4 || cb_le_get(p, 2) != 0 ||
            cb_le_get(p + 2, 2) != 8 * (uint64_t)out->size ||
            (out->size != 1 && out->size != 2 && out->size != 4 && out->size != 8))
            return;
        out->number.kind = bits & 8 ? CB_NUMBER_INT : CB_NUMBER_UINT;
        out->what = CB_H5_NUMBER;
        return;
    case 1:
        p = cb_h5_skip(b, 12);
        if (!p || bits & 0x40) return;
        if (is_ieee(p, out->size)) out->what = CB_H5_NUMBER;
        if (is_bfloat16(p, out->size)) out->what = CB_H5_BFLOAT16;
        return;
    case 3:
        if (out->size > 0) out->what = CB_H5_TEXT;
        return;
    case 5: (void)cb_h5_skip(b, bits & 0xff); return;
    case 6: parse_compound(b, version, bits & 0xffff, depth, out); return;
    case 7:
        if ((bits & 15) == 0) out->what = CB_H5_REFERENCE;
        return;
    case 8: parse_enum(b, version, bits & 0xffff, depth, out); return;
    case 9:
        parse_type(b, depth + 1, &base);
        if ((bits & 15) == 1)
            out->what = CB_H5_LONG_TEXT;
        else if (base.what == CB_H5_REFERENCE)
            out->what = CB_H5_LIST;
        return;
    case 10:
        p = cb_h5_skip(b, 1);
        if (!p) return;
        (void)cb_h5_skip(b, (version < 3 ? 3 : 0) + (uint64_t)*p * (version < 3 ? 8 : 4));
        parse_type(b, depth + 1, &base);
        return;
    default: return;
    }
}

void cb_h5_parse_type(cb_h5_bytes *b, cb_h5_type *out)
{
    parse_type(b, 0, out);
    if (out->size == 0) b->bad = true;
}

cubed_status cb_h5_parse_space(cb_h5 *h, cb_h5_bytes b, cb_h5_space *out, cubed_error *err)
{
    const uint64_t version = cb_h5_take(&b, 1), n = cb_h5_take(&b, 1), flags = cb_h5_take(&b, 1);
    const uint64_t kind = cb_h5_take(&b, 1); /* this byte is a class only in version 2 */
    int64_t count = 0;
    *out = (cb_h5_space){.ndim = (int)n, .null = version == 2 && kind == 2};
    if (version == 1) (void)cb_h5_skip(&b, 4);
    if (n > CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "%s: arrays of %d dimensions are not supported",
                       h->f->url, (int)n);
    for (uint64_t d = 0; d < n; d++) {
        const uint64_t extent = cb_h5_length(h, &b);
        if (extent > INT64_MAX) b.bad = true;
        out->shape[d] = (int64_t)extent;
    }
    const uint64_t any = UINT64_MAX >> (64 - 8 * h->lsize);
    for (uint64_t d = 0; d < n; d++) {
        out->most[d] = flags & 1 ? cb_h5_length(h, &b) : (uint64_t)out->shape[d];
        if (out->most[d] == any) out->most[d] = UINT64_MAX;
    }
    if (b.bad || version < 1 || version > 2 || cb_count((int)n, out->shape, &count))
        return cb_h5_bad(h, err, "a shape");
    out->count = (uint64_t)count;
    return CUBED_OK;
}

cubed_status cb_h5_parse_attribute(cb_h5 *h, const cb_h5_message *m, cb_h5_attribute *out,
                                   cubed_error *err)
{
    cb_h5_bytes b = m->bytes, part;
    *out = (cb_h5_attribute){.name = ""};
    if (m->flags & 2) CB_TRY(cb_h5_follow(h, m->type, m->flags, m->bytes, &b, err));
    const uint64_t version = cb_h5_take(&b, 1), flags = cb_h5_take(&b, 1);
    uint64_t sizes[3];
    for (int i = 0; i < 3; i++) sizes[i] = cb_h5_take(&b, 2);
    if (version >= 3) (void)cb_h5_skip(&b, 1);
    if (b.bad || version < 1 || version > 3) return cb_h5_bad(h, err, "an attribute");
    const uint8_t *parts[3];
    for (int i = 0; i < 3; i++)
        parts[i] = cb_h5_skip(&b, version == 1 ? (sizes[i] + 7) / 8 * 8 : sizes[i]);
    if (b.bad || sizes[0] == 0 || parts[0][sizes[0] - 1] != 0)
        return cb_h5_bad(h, err, "an attribute");
    out->name = (const char *)parts[0];
    part = (cb_h5_bytes){parts[1], parts[1] + sizes[1], false};
    if (version > 1 && flags & 1) CB_TRY(cb_h5_follow(h, CB_H5_DATATYPE, 2, part, &part, err));
    cb_h5_parse_type(&part, &out->type);
    if (part.bad) return cb_h5_bad(h, err, "the type of an attribute");
    part = (cb_h5_bytes){parts[2], parts[2] + sizes[2], false};
    if (version > 1 && flags & 2) CB_TRY(cb_h5_follow(h, CB_H5_DATASPACE, 2, part, &part, err));
    CB_TRY(cb_h5_parse_space(h, part, &out->space, err));
    out->data = b;
    const uint64_t n = out->space.null ? 0 : out->space.count;
    if (n > cb_h5_left(&b) / out->type.size) return cb_h5_bad(h, err, "the value of an attribute");
    return CUBED_OK;
}

/* Gets the data of element `i`, which has variable length. */
static cubed_status long_value(cb_h5 *h, const cb_h5_attribute *a, uint64_t i, cb_h5_bytes *out,
                               cubed_error *err)
{
    cb_h5_bytes b = a->data;
    (void)cb_h5_skip(&b, i * a->type.size);
    const uint64_t n = cb_h5_take(&b, 4), heap = cb_h5_address(h, &b);
    const uint32_t index = (uint32_t)cb_h5_take(&b, 4);
    *out = (cb_h5_bytes){a->data.at, a->data.at, false};
    if (b.bad) return cb_h5_bad(h, err, "the value of an attribute");
    if (n == 0 || heap == CB_H5_NOWHERE || heap == h->base) return CUBED_OK;
    CB_TRY(cb_h5_global(h, heap, index, out, err));
    if (a->type.what == CB_H5_LONG_TEXT && n < cb_h5_left(out)) out->end = out->at + n;
    return CUBED_OK;
}

static cubed_status text_json(cb_h5 *h, const cb_h5_attribute *a, uint64_t i, json_t **out,
                              cubed_error *err)
{
    cb_h5_bytes b = {a->data.at + i * a->type.size, a->data.at + (i + 1) * a->type.size, false};
    if (a->type.what == CB_H5_LONG_TEXT) CB_TRY(long_value(h, a, i, &b, err));
    const uint8_t *end = cb_h5_left(&b) ? memchr(b.at, 0, (size_t)cb_h5_left(&b)) : NULL;
    *out = cb_text_json(b.at, end ? (uint64_t)(end - b.at) : cb_h5_left(&b));
    return *out ? CUBED_OK : cb_file_no_memory(h->f, err);
}

cubed_status cb_h5_attribute_json(cb_h5 *h, const cb_h5_attribute *a, json_t **out,
                                  cubed_error *err)
{
    const uint64_t n = a->space.null ? 0 : a->space.count;
    *out = NULL;
    if (a->type.what == CB_H5_NUMBER || a->type.what == CB_H5_BOOL) {
        *out = cb_numbers_json(a->data.at, a->type.number, n);
        return *out ? CUBED_OK : cb_file_no_memory(h->f, err);
    }
    if (a->type.what != CB_H5_TEXT && a->type.what != CB_H5_LONG_TEXT) return CUBED_OK;
    if (n == 1 && a->space.ndim <= 1) return text_json(h, a, 0, out, err);
    json_t *list = n == 0 && a->space.null ? json_string("") : json_array();
    bool ok = list != NULL;
    for (uint64_t i = 0; i < n; i++) {
        json_t *v;
        cubed_status st = text_json(h, a, i, &v, err);
        if (st != CUBED_OK) {
            json_decref(list);
            return st;
        }
        cb_json_add(list, v, &ok);
    }
    *out = cb_json_if(ok, list);
    return ok ? CUBED_OK : cb_file_no_memory(h->f, err);
}

cubed_status cb_h5_attribute_text(cb_h5 *h, const cb_h5_attribute *a, const char **out,
                                  cubed_error *err)
{
    json_t *v = NULL;
    *out = NULL;
    if (a->type.what != CB_H5_TEXT && a->type.what != CB_H5_LONG_TEXT) return CUBED_OK;
    CB_TRY(cb_h5_attribute_json(h, a, &v, err));
    if (json_is_string(v)) *out = cb_zone_strdup(h->temp, json_string_value(v));
    json_decref(v);
    return CUBED_OK;
}
