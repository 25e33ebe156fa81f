#include "files/arrays.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dtype/attribute.h"

cb_array_in *cb_arrays_add(cb_file *f, cb_arrays *a, const char *path)
{
    if (!cb_zone_grow(f->zone, &a->list, a->n, &a->cap, sizeof *a->list)) return NULL;
    cb_array_in *x = &a->list[a->n];
    memset(x, 0, sizeof *x);
    x->path = cb_zone_strdup(f->zone, path);
    x->begin = UINT64_MAX;
    if (!x->path) return NULL;
    a->n++;
    return x;
}

/* Compares paths. '/' precedes all other characters, so paths below a group are next to each other. */
static int compare_paths(const char *a, const char *b)
{
    while (*a && *a == *b) a++, b++;
    const int x = *a == '/' ? 1 : (unsigned char)*a + (*a != 0);
    const int y = *b == '/' ? 1 : (unsigned char)*b + (*b != 0);
    return x - y;
}

static int by_path(const void *a, const void *b)
{
    return compare_paths(((const cb_array_in *)a)->path, ((const cb_array_in *)b)->path);
}

void cb_arrays_sort(cb_arrays *a)
{
    if (a->n > 0) qsort(a->list, (size_t)a->n, sizeof *a->list, by_path);
}

static cb_array_in *find_array(const cb_arrays *a, const char *path, size_t n)
{
    char name[4096];
    if (n >= sizeof name) return NULL;
    memcpy(name, path, n);
    name[n] = 0;
    const cb_array_in key = {.path = name};
    return a->n > 0 ? bsearch(&key, a->list, (size_t)a->n, sizeof *a->list, by_path) : NULL;
}

/* --- Chunks ------------------------------------------------------------------------------------------- */

#define GOOD_CHUNK_BYTES ((uint64_t)8 << 20)

void cb_array_cut(cb_array_in *x)
{
    uint64_t inner = x->item;
    int d = x->ndim - 1;
    for (; d >= 0 && (uint64_t)x->shape[d] <= GOOD_CHUNK_BYTES / inner; d--) {
        x->chunk[d] = cb_max_i64(1, x->shape[d]);
        inner *= (uint64_t)x->chunk[d];
    }
    if (d >= 0) x->chunk[d] = cb_max_i64(1, (int64_t)(GOOD_CHUNK_BYTES / inner));
    for (d--; d >= 0; d--) x->chunk[d] = 1;
}

static int by_number(const void *a, const void *b)
{
    const cb_chunk_place *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* If the metadata of a chunk has a mask of skipped filters, appends the codec that reads such masks. */
static cubed_status add_masks(cb_file *f, cb_array_in *x, cubed_error *err)
{
    static const char codec[] = ",{\"name\":\"cubed.filter_mask\"}";
    cb_buf text;
    for (size_t i = 0; i < x->nplaces && !x->masked; i++)
        x->masked = cb_le_get(x->places[i].mask, 4) != 0;
    if (!x->masked) return CUBED_OK;
    cb_buf_init(&text, f->head.alloc);
    cb_buf_put(&text, x->doc, x->codecs_end);
    cb_buf_puts(&text, codec);
    cb_buf_puts(&text, x->doc + x->codecs_end);
    x->doc = text.failed ? NULL : cb_zone_strdup(f->zone, text.data);
    cb_buf_free(&text);
    return x->doc ? CUBED_OK : cb_file_no_memory(f, err);
}

/* Loads the positions of chunks, unless they are already loaded. */
static cubed_status load_chunk_positions(cb_file *f, cb_array_in *x, cubed_error *err)
{
    const cb_arrays *a = f->data;
    cubed_status st = CUBED_OK;
    if (!x->chunked || atomic_load(&x->known)) return CUBED_OK;
    cb_mutex_lock(&f->lock);
    if (!atomic_load(&x->known)) {
        x->nplaces = 0;
        st = a->load(f, x, err);
        if (st == CUBED_OK && x->nplaces > 1)
            qsort(x->places, x->nplaces, sizeof *x->places, by_number);
        if (st == CUBED_OK) st = add_masks(f, x, err);
        if (st == CUBED_OK) atomic_store(&x->known, true);
        cb_file_drop_pages(f);
    }
    cb_mutex_unlock(&f->lock);
    return st == CUBED_OK ? st : cb_context(err, st, "%s", x->path);
}

static uint64_t chunk_bytes(const cb_array_in *x)
{
    /* cannot overflow, because the elements were divided into chunks of limited size */
    uint64_t n = x->item;
    for (int d = 0; d < x->ndim; d++) n *= (uint64_t)x->chunk[d];
    return n;
}

/* Parses "/0/3/1", with one number per axis. Returns false if it is not a chunk of the array. */
static bool parse_index(const cb_array_in *x, const char *at, int64_t *idx)
{
    for (int d = 0; d < x->ndim; d++) {
        int64_t v = 0;
        if (*at++ != '/' || *at < '0' || *at > '9') return false;
        for (; *at >= '0' && *at <= '9'; at++) {
            if (cb_mul_i64(v, 10, &v) || cb_add_i64(v, *at - '0', &v)) return false;
        }
        if (v >= cb_ceil_div(x->shape[d], x->chunk[d])) return false;
        idx[d] = v;
    }
    return *at == 0;
}

/* Locates a chunk whose elements are contiguous in the file, at least within each row. */
static void find_run(const cb_array_in *x, const int64_t *idx, cb_entry *out)
{
    uint64_t row = x->item, at = 0, rows = 1;
    /* Chunks divide the rows along this axis. Along the axes before it, chunks have length 1. */
    int cut = 0;
    while (cut < x->ndim - 1 && x->chunk[cut] == 1) cut++;
    for (int d = cut + 1; d < x->ndim; d++) row *= (uint64_t)x->shape[d];
    if (x->ndim > 0) {
        const int64_t from = idx[cut] * x->chunk[cut];
        rows = (uint64_t)cb_min_i64(x->chunk[cut], x->shape[cut] - from);
        uint64_t stride = row;
        for (int d = cut; d >= 0; d--) {
            const uint64_t step = d == 0 && x->row_stride ? x->row_stride : stride;
            at += (uint64_t)(idx[d] * x->chunk[d]) * step;
            stride *= (uint64_t)x->shape[d];
        }
    }
    out->size = chunk_bytes(x);
    out->offset = x->begin + at;
    out->there = rows * row;
    out->run = 0;
    if (cut == 0 && x->ndim > 0 && x->row_stride) {
        out->run = row;
        out->stride = x->row_stride;
    }
    if (!x->inside) return;
    out->head = (const char *)x->inside + at;
    out->nhead = (size_t)out->there;
    out->there = 0;
}

static cubed_status find_chunk(cb_file *f, cb_array_in *x, const char *rest, cb_entry *out,
                               bool *found, cubed_error *err)
{
    int64_t idx[CUBED_MAX_NDIM];
    *found = parse_index(x, rest, idx) && (x->chunked || x->inside || x->begin != UINT64_MAX);
    if (!*found) return CUBED_OK;
    if (!x->chunked) {
        find_run(x, idx, out);
        return CUBED_OK;
    }
    CB_TRY(load_chunk_positions(f, x, err));
    cb_chunk_place key = {.number = 0};
    for (int d = 0; d < x->ndim; d++)
        key.number =
            key.number * (uint64_t)cb_ceil_div(x->shape[d], x->chunk[d]) + (uint64_t)idx[d];
    const cb_chunk_place *p =
        x->nplaces ? bsearch(&key, x->places, x->nplaces, sizeof key, by_number) : NULL;
    *found = p != NULL;
    if (!p) return CUBED_OK;
    out->offset = p->offset;
    out->size = out->there = p->size;
    if (!x->masked) return CUBED_OK;
    out->head = p->mask;
    out->nhead = sizeof p->mask;
    out->size += sizeof p->mask;
    return CUBED_OK;
}

static cubed_status find_doc(cb_file *f, cb_array_in *x, cb_entry *out, cubed_error *err)
{
    CB_TRY(load_chunk_positions(f, x, err));
    out->head = x->doc;
    out->size = out->nhead = strlen(x->doc);
    return CUBED_OK;
}

cubed_status cb_arrays_find(cb_file *f, const char *key, cb_entry *out, cubed_error *err)
{
    const cb_arrays *a = f->data;
    const char *slash = strrchr(key, '/');
    bool found = false;
    cb_array_in *x = NULL;
    if (strcmp(slash ? slash + 1 : key, "zarr.json") == 0) {
        x = find_array(a, key, slash ? (size_t)(slash - key) : 0);
        if (x) return find_doc(f, x, out, err);
    }
    const char *c = key + strlen(key);
    while (c > key && ((c[-1] >= '0' && c[-1] <= '9') || c[-1] == '/')) c--;
    if (c - key >= 2 && c[-1] == 'c' && c[-2] == '/') {
        x = find_array(a, key, (size_t)(c - 2 - key));
        if (x && x->is_array) CB_TRY(find_chunk(f, x, c, out, &found, err));
    }
    return found ? CUBED_OK : cb_fail(err, CUBED_E_NOT_FOUND, "%s has no %s", f->url, key);
}

static cubed_status each_chunk(cb_file *f, cb_array_in *x, cb_file_each_fn fn, void *ctx,
                               cubed_error *err)
{
    char key[4096];
    uint64_t n = 1;
    CB_TRY(load_chunk_positions(f, x, err));
    for (int d = 0; d < x->ndim; d++) {
        const int64_t count = cb_ceil_div(x->shape[d], x->chunk[d]);
        if (__builtin_mul_overflow(n, (uint64_t)count, &n)) return CUBED_OK;
    }
    if (x->chunked)
        n = x->nplaces;
    else if (!x->inside && x->begin == UINT64_MAX)
        n = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t left = x->chunked ? x->places[i].number : i;
        int64_t idx[CUBED_MAX_NDIM];
        int at = snprintf(key, sizeof key, "%s/c", x->path);
        for (int d = x->ndim - 1; d >= 0; d--) {
            const uint64_t count = (uint64_t)cb_ceil_div(x->shape[d], x->chunk[d]);
            idx[d] = (int64_t)(left % count);
            left /= count;
        }
        for (int d = 0; d < x->ndim && at > 0 && (size_t)at < sizeof key; d++)
            at += snprintf(key + at, sizeof key - (size_t)at, "/%" PRId64, idx[d]);
        if (at < 0 || (size_t)at >= sizeof key) continue;
        cb_entry e = {.there = 0};
        if (x->chunked)
            e.there = x->places[i].size;
        else
            find_run(x, idx, &e);
        CB_TRY(fn(ctx, key, e.there + e.nhead, err));
    }
    return CUBED_OK;
}

cubed_status cb_arrays_each(cb_file *f, const char *prefix, bool chunks, cb_file_each_fn fn,
                            void *ctx, cubed_error *err)
{
    const cb_arrays *a = f->data;
    const size_t n = strlen(prefix);
    char key[4096];
    for (int i = 0; i < a->n; i++) {
        cb_array_in *x = &a->list[i];
        snprintf(key, sizeof key, "%s%szarr.json", x->path, *x->path ? "/" : "");
        if (strncmp(key, prefix, n) != 0) continue;
        CB_TRY(fn(ctx, key, 0, err));
        if (x->is_array && chunks) CB_TRY(each_chunk(f, x, fn, ctx, err));
    }
    return CUBED_OK;
}

/* --- Metadata ----------------------------------------------------------------------------------------- */

static void put_ints(cb_buf *b, int n, const int64_t *v)
{
    cb_buf_puts(b, "[");
    for (int d = 0; d < n; d++) cb_buf_printf(b, "%s%" PRId64, d ? "," : "", v[d]);
    cb_buf_puts(b, "]");
}

static bool put_dims(cb_buf *b, int n, const char *const *names)
{
    json_t *list = json_array();
    bool ok = list != NULL;
    for (int d = 0; d < n; d++)
        cb_json_add(list, names[d] ? json_string(names[d]) : json_null(), &ok);
    ok = ok && cb_json_dump(list, 0, b);
    json_decref(list);
    return ok;
}

cubed_status cb_array_describe(cb_file *f, cb_array_in *x, const cb_array_words *w,
                               cubed_error *err)
{
    cb_buf b;
    cb_buf_init(&b, f->head.alloc);
    cb_buf_puts(&b, "{\"zarr_format\":3,\"node_type\":");
    if (x->is_array) {
        cb_buf_puts(&b, "\"array\",\"shape\":");
        put_ints(&b, x->ndim, x->shape);
        cb_buf_puts(&b,
                    ",\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":");
        put_ints(&b, x->ndim, x->chunk);
        cb_buf_printf(&b,
                      "}},\"chunk_key_encoding\":{\"name\":\"default\",\"configuration\":"
                      "{\"separator\":\"/\"}},\"data_type\":%s,\"fill_value\":%s",
                      w->data_type, w->fill_value);
        if (w->dims) {
            cb_buf_puts(&b, ",\"dimension_names\":");
            if (!put_dims(&b, x->ndim, w->dims)) b.failed = true;
        }
        cb_buf_printf(&b, ",\"codecs\":[%s", w->codecs);
        x->codecs_end = b.size;
        cb_buf_puts(&b, "]");
    } else {
        cb_buf_puts(&b, "\"group\"");
    }
    cb_buf_puts(&b, ",\"attributes\":");
    cb_buf_puts(&b, w->attributes);
    cb_buf_puts(&b, "}");
    x->doc = b.failed ? NULL : cb_zone_strdup(f->zone, b.data);
    cb_buf_free(&b);
    return x->doc ? CUBED_OK : cb_file_no_memory(f, err);
}

uint64_t cb_number_bits(const uint8_t *at, cb_number_type t)
{
    uint64_t v = 0;
    for (int i = 0; i < t.size; i++) v |= (uint64_t)at[t.big ? t.size - 1 - i : i] << (8 * i);
    return v;
}

static int64_t signed_value(uint64_t bits, int size)
{
    const int shift = 64 - 8 * size;
    return (int64_t)(bits << shift) >> shift;
}

static double half_value(uint16_t h)
{
    const int e = h >> 10 & 31, m = h & 1023;
    const double v = e == 31  ? (m ? (double)NAN : (double)INFINITY)
                     : e == 0 ? ldexp(m, -24)
                              : ldexp(m + 1024, e - 25);
    return h & 0x8000 ? -v : v;
}

static double float_value(uint64_t bits, int size)
{
    float f;
    double d;
    const uint32_t low = (uint32_t)bits;
    if (size == 2) return half_value((uint16_t)bits);
    memcpy(&f, &low, sizeof f);
    memcpy(&d, &bits, sizeof d);
    return size == 4 ? (double)f : d;
}

static json_t *number_json(const uint8_t *at, cb_number_type t)
{
    const uint64_t bits = cb_number_bits(at, t);
    if (t.kind == CB_NUMBER_UINT) return cb_json_uint64(bits);
    if (t.kind == CB_NUMBER_INT) return json_integer(signed_value(bits, t.size));
    const double v = float_value(bits, t.size);
    if (isnan(v)) return json_string("NaN");
    return isinf(v) ? json_string(v < 0 ? "-Infinity" : "Infinity") : json_real(v);
}

json_t *cb_numbers_json(const uint8_t *at, cb_number_type t, uint64_t n)
{
    if (n == 1) return number_json(at, t);
    json_t *list = json_array();
    bool ok = list != NULL;
    for (uint64_t i = 0; i < n; i++) cb_json_add(list, number_json(at + i * t.size, t), &ok);
    return cb_json_if(ok, list);
}

json_t *cb_fill_json(const uint8_t *at, cb_number_type t)
{
    char text[2 + 16 + 1];
    if (t.kind != CB_NUMBER_FLOAT) return number_json(at, t);
    snprintf(text, sizeof text, "0x%0*" PRIx64, 2 * t.size, cb_number_bits(at, t));
    return json_string(text);
}

json_t *cb_missing_json(const uint8_t *at, cb_number_type t)
{
    char text[16];
    uint8_t bytes[8];
    uint64_t bits;
    if (t.kind != CB_NUMBER_FLOAT) return number_json(at, t);
    const double v = float_value(cb_number_bits(at, t), t.size);
    memcpy(&bits, &v, sizeof bits);
    cb_le_put(bytes, bits, 8);
    cb_base64_encode(bytes, sizeof bytes, text);
    return json_string(text);
}

json_t *cb_text_json(const uint8_t *at, uint64_t n)
{
    while (n > 0 && at[n - 1] == 0) n--;
    json_t *v = json_stringn((const char *)at, (size_t)n);
    if (v) return v;
    /* The string is not UTF-8, so it is treated as Latin-1, which old programs wrote. */
    cb_buf b;
    cb_buf_init(&b, &cb_system_allocator);
    for (uint64_t i = 0; i < n; i++) {
        char c[4];
        cb_buf_put(&b, c, cb_utf8_put(at[i] ? at[i] : ' ', c));
    }
    v = b.failed ? NULL : json_stringn(b.data ? b.data : "", b.size);
    cb_buf_free(&b);
    return v;
}

/* --- Attributes --------------------------------------------------------------------------------------- */

const char *cb_number_typestr(cb_number_type t)
{
    static const char *const names[3][4] = {
        {"<i1", "<i2", "<i4", "<i8"}, {"<u1", "<u2", "<u4", "<u8"}, {NULL, NULL, "<f4", "<f8"}};
    return names[t.kind][t.size == 8 ? 3 : t.size / 2];
}

bool cb_attribute_json_set(json_t *attrs, const char *name, json_t *v, const char *type)
{
    json_t *key = cb_text_json((const uint8_t *)name, strlen(name));
    const char *s = json_string_value(key);
    const bool ok = v && s && json_object_set(attrs, s, v) == 0 &&
                    (!type || cb_attributes_state(attrs, s, type));
    json_decref(key);
    json_decref(v);
    return ok;
}

const char *cb_attributes_text(const cb_file *f, cb_zone *zone, json_t *attrs, bool is_array)
{
    cb_buf text;
    cb_buf_init(&text, f->head.alloc);
    bool ok = !is_array || cb_attributes_stow(attrs, CUBED_DTYPE_COUNT);
    ok = ok && cb_json_dump(attrs, 0, &text);
    const char *out = ok ? cb_zone_strdup(zone, text.data) : NULL;
    cb_buf_free(&text);
    return out;
}
