/* Parquet files: pages of values, and metadata at the end in Thrift's compact protocol. All contents are untrusted. */
#include "files/parquet.h"

#include <string.h>
#include <zstd.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/le.h"

enum { MOST_COLUMNS = 64, MOST_DEPTH = 16, MOST_PAGE = 1 << 28, MOST_BYTES = 1 << 30 };
/* Constants of the format: types of values, encodings, codecs, pages. */
enum { INT32 = 1, INT64 = 2, BYTE_ARRAY = 6 };
enum { PLAIN = 0, PLAIN_DICTIONARY = 2, RLE_DICTIONARY = 8 };
enum { UNCOMPRESSED = 0, ZSTD = 6 };
enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2, DATA_PAGE_V2 = 3 };

/* --- Thrift -------------------------------------------------------------------------------------------- */

enum {
    T_TRUE = 1,
    T_FALSE,
    T_BYTE,
    T_I16,
    T_I32,
    T_I64,
    T_DOUBLE,
    T_BINARY,
    T_LIST,
    T_SET,
    T_MAP,
    T_STRUCT
};

/* Reads bytes sequentially. After the first error, `bad` stays set, and all values are 0. */
typedef struct reader {
    const uint8_t *p, *end;
    bool bad;
} reader;

static uint8_t get_byte(reader *r)
{
    if (r->p == r->end) r->bad = true;
    return r->bad ? 0 : *r->p++;
}

static uint64_t get_varint(reader *r)
{
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        const uint8_t b = get_byte(r);
        v |= (uint64_t)(b & 127) << shift;
        if (b < 128) return v;
    }
    r->bad = true;
    return 0;
}

static int64_t get_int(reader *r)
{
    const uint64_t v = get_varint(r);
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static cb_parquet_bytes get_bytes(reader *r)
{
    const uint64_t n = get_varint(r);
    if (n > (uint64_t)(r->end - r->p)) r->bad = true;
    if (r->bad || n > UINT32_MAX) return (cb_parquet_bytes){NULL, 0};
    r->p += n;
    return (cb_parquet_bytes){r->p - n, (uint32_t)n};
}

/* Reads the head of a list. Returns its length, at most the number of bytes left, and sets the type of its elements. */
static uint64_t get_list(reader *r, int *type)
{
    const uint8_t b = get_byte(r);
    const uint64_t n = b >> 4 == 15 ? get_varint(r) : b >> 4;
    *type = b & 15;
    if (n > (uint64_t)(r->end - r->p)) r->bad = true;
    return r->bad ? 0 : n;
}

/* Reads the head of a struct's next field. Returns false at its end. */
static bool next_field(reader *r, int64_t *id, int *type)
{
    const uint8_t b = get_byte(r);
    *type = b & 15;
    if (r->bad || *type == 0) return false;
    *id = b >> 4 ? *id + (b >> 4) : get_int(r);
    return !r->bad;
}

/* Recursion depth: at most MOST_DEPTH. */
static void skip(reader *r, int type, int depth)
{
    int64_t id = 0;
    int of;
    if (depth > MOST_DEPTH) r->bad = true;
    if (r->bad) return;
    switch (type) {
    case T_TRUE:
    case T_FALSE: break;
    case T_BYTE: (void)get_byte(r); break;
    case T_I16:
    case T_I32:
    case T_I64: (void)get_varint(r); break;
    case T_DOUBLE:
        for (int i = 0; i < 8; i++) (void)get_byte(r);
        break;
    case T_BINARY: (void)get_bytes(r); break;
    case T_LIST:
    case T_SET:
        for (uint64_t n = get_list(r, &of); n > 0 && !r->bad; n--) {
            if (of == T_TRUE || of == T_FALSE)
                (void)get_byte(r); /* in a list, a boolean is one byte */
            else
                skip(r, of, depth + 1);
        }
        break;
    case T_STRUCT:
        while (next_field(r, &id, &of)) skip(r, of, depth + 1);
        break;
    default: r->bad = true; /* Parquet's metadata has no maps */
    }
}

static int64_t get_number(reader *r, int type)
{
    if (type == T_I16 || type == T_I32 || type == T_I64) return get_int(r);
    if (type != T_TRUE && type != T_FALSE) r->bad = true;
    return type == T_TRUE;
}

/* --- Metadata at the end of the file --------------------------------------------------------------------- */

typedef struct schema {
    int n;
    struct {
        cb_parquet_bytes name;
        bool optional, nested;
    } of[MOST_COLUMNS];
} schema;

typedef struct chunk {
    int64_t type, codec, values, size, data, dictionary;
} chunk;

typedef struct page {
    int64_t type, size, stored, values, encoding;
    /* Size in bytes of the levels before the values, which are not compressed. Only in version 2; 0 in version 1. */
    int64_t levels;
    bool compressed;
} page;

typedef struct table {
    cb_zone *zone;
    const cb_parquet_file *file;
    schema schema;
    cb_parquet_column *columns;
    int ncolumns;
    int64_t rows, most;
    uint64_t inflated; /* total size of all pages in bytes */
} table;

static cubed_status bad(const table *t, cubed_error *err)
{
    return cb_fail(err, CUBED_E_FORMAT, "%s is not a complete Parquet file", t->file->url);
}

static cubed_status unsupported(const table *t, const char *what, int64_t which, cubed_error *err)
{
    return cb_fail(err, CUBED_E_UNSUPPORTED, "%s: %s %d of Parquet is not supported", t->file->url,
                   what, (int)which);
}

static void read_element(reader *r, schema *s)
{
    int64_t id = 0;
    int type;
    const int i = s->n < MOST_COLUMNS ? s->n : MOST_COLUMNS - 1;
    memset(&s->of[i], 0, sizeof s->of[i]);
    while (next_field(r, &id, &type)) {
        if (id == 3) {
            const int64_t repetition = get_number(r, type);
            s->of[i].optional = repetition == 1;
            s->of[i].nested = s->of[i].nested || repetition > 1;
        } else if (id == 4 && type == T_BINARY) {
            s->of[i].name = get_bytes(r);
        } else if (id == 5) {
            s->of[i].nested = get_number(r, type) > 0;
        } else {
            skip(r, type, 0);
        }
    }
    s->n++;
}

static void read_chunk_meta(reader *r, chunk *c)
{
    int64_t id = 0;
    int type;
    while (next_field(r, &id, &type)) {
        int64_t *to = id == 1    ? &c->type
                      : id == 4  ? &c->codec
                      : id == 5  ? &c->values
                      : id == 7  ? &c->size
                      : id == 9  ? &c->data
                      : id == 11 ? &c->dictionary
                                 : NULL;
        if (to)
            *to = get_number(r, type);
        else
            skip(r, type, 0);
    }
}

static void read_chunk(reader *r, chunk *c)
{
    int64_t id = 0;
    int type;
    *c = (chunk){.type = -1, .codec = -1};
    while (next_field(r, &id, &type)) {
        if (id == 3 && type == T_STRUCT)
            read_chunk_meta(r, c);
        else
            skip(r, type, 0);
    }
}

static void read_data_header(reader *r, page *h, bool second)
{
    int64_t id = 0;
    int type;
    while (next_field(r, &id, &type)) {
        if (id == 1)
            h->values = get_number(r, type);
        else if (id == (second ? 4 : 2))
            h->encoding = get_number(r, type);
        else if (second && id == 5)
            h->levels += get_number(r, type);
        else if (second && id == 7)
            h->compressed = get_number(r, type) != 0;
        else
            skip(r, type, 0);
    }
}

static void read_page_header(reader *r, page *h)
{
    int64_t id = 0;
    int type;
    *h = (page){.type = -1, .compressed = true};
    while (next_field(r, &id, &type)) {
        if (id == 1)
            h->type = get_number(r, type);
        else if (id == 2)
            h->size = get_number(r, type);
        else if (id == 3)
            h->stored = get_number(r, type);
        else if ((id == 5 || id == 7 || id == 8) && type == T_STRUCT)
            read_data_header(r, h, id == 8);
        else
            skip(r, type, 0);
    }
}

/* --- Values --------------------------------------------------------------------------------------------- */

/* Reads n numbers of `width` bits in the RLE/bit-packing hybrid encoding. */
static void read_hybrid(reader *r, int width, uint32_t *out, int64_t n)
{
    const uint32_t mask = width < 32 ? (1u << width) - 1 : UINT32_MAX;
    for (int64_t i = 0; i < n && !r->bad;) {
        const uint64_t head = get_varint(r);
        if (head & 1) {
            const uint64_t groups = head >> 1;
            uint64_t bits = 0;
            int have = 0;
            for (uint64_t k = 0; k < cb_sat_mul(groups, 8) && i < n && !r->bad; k++) {
                while (have < width) {
                    /* In the last group, the bytes after the last value may be missing. */
                    bits |= (uint64_t)get_byte(r) << have;
                    have += 8;
                }
                out[i++] = (uint32_t)bits & mask;
                bits >>= width;
                have -= width;
            }
        } else {
            uint32_t v = 0;
            for (int b = 0; b < width; b += 8) v |= (uint32_t)get_byte(r) << b;
            v &= mask;
            if (head >> 1 == 0) r->bad = true;
            for (uint64_t k = 0; k < head >> 1 && i < n; k++) out[i++] = v;
        }
    }
}

/* Reads `n` contiguous values. */
static void read_plain(reader *r, int64_t type, int64_t n, cb_parquet_bytes *bytes,
                       int64_t *numbers)
{
    const size_t size = type == INT32 ? 4 : 8;
    for (int64_t i = 0; i < n && !r->bad; i++) {
        const size_t left = (size_t)(r->end - r->p);
        if (type == BYTE_ARRAY) {
            const uint64_t length = left < 4 ? UINT64_MAX : cb_le_get(r->p, 4);
            if (length > left - 4 || left < 4) {
                r->bad = true;
                return;
            }
            bytes[i] = (cb_parquet_bytes){r->p + 4, (uint32_t)length};
            r->p += 4 + length;
        } else if (left < size) {
            r->bad = true;
        } else {
            const uint64_t v = cb_le_get(r->p, (int)size);
            numbers[i] = size == 4 ? (int64_t)(int32_t)(uint32_t)v : (int64_t)v;
            r->p += size;
        }
    }
}

typedef struct values {
    int64_t type, n;
    cb_parquet_bytes *bytes;
    int64_t *numbers;
} values;

static bool make_values(cb_zone *zone, int64_t type, int64_t n, values *out)
{
    *out = (values){.type = type, .n = n};
    void *p =
        cb_zone_alloc(zone, cb_sat_mul((size_t)n + 1, type == BYTE_ARRAY ? sizeof *out->bytes
                                                                         : sizeof *out->numbers));
    if (type == BYTE_ARRAY)
        out->bytes = p;
    else
        out->numbers = p;
    return p != NULL;
}

/* Decompresses a page. In version 2, the levels at its start are not compressed. */
static cubed_status inflate(table *t, const page *h, int64_t codec, const uint8_t *body,
                            reader *out, cubed_error *err)
{
    const bool plain = codec == UNCOMPRESSED || !h->compressed;
    t->inflated += (uint64_t)h->size;
    if ((plain && h->size != h->stored) || t->inflated > MOST_BYTES) return bad(t, err);
    *out = (reader){body, body + h->stored, false};
    if (plain) return CUBED_OK;
    uint8_t *all = cb_zone_alloc(t->zone, (size_t)h->size + 1);
    if (!all) return cb_fail(err, CUBED_E_NOMEM, "no memory to read %s", t->file->url);
    memcpy(all, body, (size_t)h->levels);
    const size_t room = (size_t)(h->size - h->levels);
    const size_t got = room == 0 ? 0
                                 : ZSTD_decompress(all + h->levels, room, body + h->levels,
                                                   (size_t)(h->stored - h->levels));
    if (ZSTD_isError(got) || got != room) return bad(t, err);
    *out = (reader){all, all + h->size, false};
    return CUBED_OK;
}

/* Reads the definition levels of a page: 1 for a value, 0 for null. */
static cubed_status read_levels(const table *t, const page *h, reader *r, uint32_t *levels,
                                cubed_error *err)
{
    reader of = *r;
    uint64_t n = (uint64_t)h->levels;
    if (h->type == DATA_PAGE) {
        if (r->end - r->p < 4) return bad(t, err);
        n = cb_le_get(r->p, 4);
        of.p += 4;
    }
    if (n > (uint64_t)(of.end - of.p)) return bad(t, err);
    of.end = of.p + n;
    r->p = of.end;
    read_hybrid(&of, 1, levels, h->values);
    return of.bad ? bad(t, err) : CUBED_OK;
}

/* Reads the values of a data page to `out`, starting at index `at`. */
static cubed_status read_data(const table *t, const page *h, reader *r, bool optional,
                              const values *dictionary, const values *out, int64_t at,
                              cubed_error *err)
{
    const size_t n = (size_t)h->values;
    uint32_t *levels = cb_zone_alloc(t->zone, (n + 1) * sizeof *levels);
    uint32_t *index = cb_zone_alloc(t->zone, (n + 1) * sizeof *index);
    values there;
    if (!levels || !index || !make_values(t->zone, out->type, h->values, &there))
        return cb_fail(err, CUBED_E_NOMEM, "no memory to read %s", t->file->url);
    for (size_t i = 0; i < n; i++) levels[i] = 1;
    if (optional) CB_TRY(read_levels(t, h, r, levels, err));
    int64_t have = 0;
    for (size_t i = 0; i < n; i++) have += levels[i];
    const bool named = h->encoding == PLAIN_DICTIONARY || h->encoding == RLE_DICTIONARY;
    if (named && have > 0) {
        const int width = get_byte(r);
        if (width > 32) return bad(t, err);
        read_hybrid(r, width, index, have);
        for (int64_t i = 0; i < have; i++) {
            if (r->bad || index[i] >= (uint64_t)dictionary->n) return bad(t, err);
            if (out->bytes) there.bytes[i] = dictionary->bytes[index[i]];
            if (out->numbers) there.numbers[i] = dictionary->numbers[index[i]];
        }
    } else if (!named) {
        if (h->encoding != PLAIN) return unsupported(t, "encoding", h->encoding, err);
        read_plain(r, out->type, have, there.bytes, there.numbers);
    }
    if (r->bad) return bad(t, err);
    for (size_t i = 0, k = 0; i < n; i++) {
        if (out->bytes)
            out->bytes[at + (int64_t)i] = levels[i] ? there.bytes[k] : (cb_parquet_bytes){NULL, 0};
        if (out->numbers) out->numbers[at + (int64_t)i] = levels[i] ? there.numbers[k] : 0;
        k += levels[i];
    }
    return CUBED_OK;
}

static cubed_status read_column(table *t, const chunk *c, bool optional, const values *out,
                                int64_t at, cubed_error *err)
{
    const int64_t begin = c->dictionary > 0 && c->dictionary < c->data ? c->dictionary : c->data;
    values dictionary = {.n = 0};
    if (c->values == 0) return CUBED_OK;
    if (c->codec != UNCOMPRESSED && c->codec != ZSTD)
        return unsupported(t, "compression", c->codec, err);
    if (begin < 4 || c->size < 0 || (uint64_t)begin > t->file->size ||
        (uint64_t)c->size > t->file->size - (uint64_t)begin)
        return bad(t, err);
    reader r = {t->file->data + begin, t->file->data + begin + c->size, false}, body;
    for (int64_t done = 0; done < c->values;) {
        page h;
        read_page_header(&r, &h);
        if (r.bad || h.size < 0 || h.size > MOST_PAGE || h.stored < 0 || h.stored > r.end - r.p ||
            h.levels < 0 || h.levels > h.stored || h.levels > h.size || h.values < 0 ||
            h.values > (h.type == DICTIONARY_PAGE ? MOST_PAGE / 4 : c->values - done))
            return bad(t, err);
        CB_TRY(inflate(t, &h, c->codec, r.p, &body, err));
        r.p += h.stored;
        if (h.type == DICTIONARY_PAGE) {
            if (h.values > h.size || dictionary.type) return bad(t, err);
            if (!make_values(t->zone, out->type, h.values, &dictionary))
                return cb_fail(err, CUBED_E_NOMEM, "no memory to read %s", t->file->url);
            read_plain(&body, out->type, h.values, dictionary.bytes, dictionary.numbers);
            if (body.bad) return bad(t, err);
        } else if (h.type == DATA_PAGE || h.type == DATA_PAGE_V2) {
            if (h.values == 0) return bad(t, err);
            CB_TRY(read_data(t, &h, &body, optional, &dictionary, out, at + done, err));
            done += h.values;
        }
    }
    return CUBED_OK;
}

/* --- Row groups ----------------------------------------------------------------------------------------- */

static cb_parquet_column *wanted(const table *t, int i)
{
    const cb_parquet_bytes name = t->schema.of[i].name;
    for (int k = 0; k < t->ncolumns; k++) {
        const char *given = t->columns[k].name;
        if (name.p && strlen(given) == name.n && memcmp(given, name.p, name.n) == 0)
            return &t->columns[k];
    }
    return NULL;
}

/* Reads a column of a row group that starts at row `at`. */
static cubed_status take_column(table *t, int i, const chunk *c, int64_t at, cubed_error *err)
{
    cb_parquet_column *x = wanted(t, i);
    values out;
    if (!x) return CUBED_OK;
    if (t->schema.of[i].nested) return unsupported(t, "nested column", i, err);
    if (c->type != BYTE_ARRAY && c->type != INT64 && c->type != INT32)
        return unsupported(t, "type", c->type, err);
    if (c->values < 0 || c->values > t->rows - at) return bad(t, err);
    if (!x->bytes && !x->numbers) {
        if (!make_values(t->zone, c->type, t->rows, &out))
            return cb_fail(err, CUBED_E_NOMEM, "no memory to read %s", t->file->url);
        if (out.bytes) memset(out.bytes, 0, (size_t)t->rows * sizeof *out.bytes);
        if (out.numbers) memset(out.numbers, 0, (size_t)t->rows * sizeof *out.numbers);
        x->bytes = out.bytes;
        x->numbers = out.numbers;
    }
    if ((c->type == BYTE_ARRAY) != (x->bytes != NULL)) return bad(t, err);
    out = (values){c->type, t->rows, x->bytes, x->numbers};
    return read_column(t, c, t->schema.of[i].optional, &out, at, err);
}

/* Reads a row group whose first row is *at. Advances *at to the first row of the next group. */
static cubed_status read_group(table *t, reader *r, int64_t *at, cubed_error *err)
{
    int64_t id = 0, rows = 0;
    int type, of;
    while (next_field(r, &id, &type)) {
        if (id == 1 && type == T_LIST) {
            const uint64_t n = get_list(r, &of);
            if (of != T_STRUCT || n != (uint64_t)t->schema.n - 1) return bad(t, err);
            for (uint64_t i = 0; i < n; i++) {
                chunk c;
                read_chunk(r, &c);
                if (r->bad) return bad(t, err);
                CB_TRY(take_column(t, (int)i + 1, &c, *at, err));
            }
        } else if (id == 3) {
            rows = get_number(r, type);
        } else {
            skip(r, type, 0);
        }
    }
    if (r->bad || rows < 0 || rows > t->rows - *at) return bad(t, err);
    *at += rows;
    return CUBED_OK;
}

static cubed_status read_footer(table *t, reader *r, cubed_error *err)
{
    int64_t id = 0, at = 0;
    int type, of;
    while (next_field(r, &id, &type)) {
        if (id == 2 && type == T_LIST) {
            const uint64_t n = get_list(r, &of);
            if (of != T_STRUCT || n == 0) return bad(t, err);
            if (n > MOST_COLUMNS) return unsupported(t, "number of columns", (int64_t)n, err);
            for (uint64_t i = 0; i < n; i++) read_element(r, &t->schema);
        } else if (id == 3) {
            t->rows = get_number(r, type);
            if (r->bad || t->rows < 0 || t->rows > t->most) return bad(t, err);
        } else if (id == 4 && type == T_LIST) {
            const uint64_t n = get_list(r, &of);
            if (of != T_STRUCT || t->schema.n == 0) return bad(t, err);
            for (uint64_t i = 0; i < n && !r->bad; i++) CB_TRY(read_group(t, r, &at, err));
        } else {
            skip(r, type, 0);
        }
    }
    return r->bad || at != t->rows ? bad(t, err) : CUBED_OK;
}

cubed_status cb_parquet_read(cb_zone *zone, const cb_parquet_file *file, int64_t most,
                             cb_parquet_column *columns, int ncolumns, int64_t *rows,
                             cubed_error *err)
{
    table t = {.zone = zone, .file = file, .columns = columns, .ncolumns = ncolumns, .most = most};
    for (int i = 0; i < ncolumns; i++) columns[i].bytes = NULL, columns[i].numbers = NULL;
    if (file->size < 12) return bad(&t, err);
    const uint8_t *end = file->data + file->size;
    if (memcmp(file->data, "PAR1", 4) != 0 || memcmp(end - 4, "PAR1", 4) != 0) return bad(&t, err);
    const uint64_t footer = cb_le_get(end - 8, 4);
    if (footer > file->size - 12) return bad(&t, err);
    reader r = {end - 8 - footer, end - 8, false};
    CB_TRY(read_footer(&t, &r, err));
    *rows = t.rows;
    return CUBED_OK;
}
