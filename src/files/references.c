/* References of kerchunk and VirtualiZarr: versions 0 and 1 of the JSON format, and folders of Parquet.
 *
 * For each key of a Zarr store they contain the object itself, or its location in another object. In a folder, the file
 * .zmetadata has only metadata. References to chunks are in records of `record_size` rows each. A record is read when a plan is
 * created or one of its chunks is needed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "files/linked.h"
#include "files/parquet.h"

typedef struct reference {
    const char *key;
    const void *inside; /* contents of the object; NULL if it is stored elsewhere */
    const cb_object *in;
    uint64_t offset, size; /* size UINT64_MAX means the whole object */
} reference;

/* Location of a chunk, according to a record. The chunk is missing if both `in` and `inside` are NULL. */
typedef struct place {
    const cb_object *in;
    const void *inside;
    uint64_t offset, size;
} place;

typedef struct record {
    const place *list; /* NULL until the record is read */
    int64_t n;
} record;

typedef struct field {
    const char *name; /* name of an array, with a trailing '/' */
    int ndim;
    int64_t grid[CUBED_MAX_NDIM]; /* number of chunks along each axis */
    int64_t count, nrecords;
    record *records;
} field;

typedef struct references {
    reference *list; /* references sorted by key */
    size_t n;
    cb_linked linked;
    json_t *objects;         /* addresses of objects, by the URL in references */
    const json_t *templates; /* NULL except while a document is read */
    int64_t record_size;     /* number of rows per record for folders, otherwise 0 */
    field *fields;
    int nfields, capfields;
} references;

typedef struct builder {
    cb_file *f;
    references *r;
} builder;

#define MAX_BYTES ((uint64_t)1 << 30)

static bool is_references(cb_file *f, const uint8_t *first, size_t n)
{
    size_t i = 0;
    (void)f;
    while (i < n && (first[i] == ' ' || first[i] == '\n' || first[i] == '\t' || first[i] == '\r'))
        i++;
    return i < n && first[i] == '{';
}

static cubed_status bad_reference(const builder *b, const char *key, cubed_error *err)
{
    return cb_fail(
        err, CUBED_E_FORMAT,
        "%s: the reference %s is invalid: expected a string, or a list of a URL, an offset and a "
        "length",
        b->f->url, key);
}

/* Expands templates in a URL: "{{u}}/a.nc" contains template u. */
static cubed_status fill_in(const builder *b, const char *url, cb_buf *out, cubed_error *err)
{
    while (*url) {
        const char *open = strstr(url, "{{");
        if (!open) break;
        const char *close = strstr(open, "}}");
        cb_buf_put(out, url, (size_t)(open - url));
        open += 2;
        size_t n = close ? (size_t)(close - open) : 0;
        while (n > 0 && *open == ' ') open++, n--;
        while (n > 0 && open[n - 1] == ' ') n--;
        char name[128] = "";
        if (n < sizeof name) memcpy(name, open, n);
        const char *text = json_string_value(json_object_get(b->r->templates, name));
        if (!text)
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "%s: \"%s\" is not supported: templates map names to strings", b->f->url,
                           url);
        cb_buf_puts(out, text);
        url = close + 2;
    }
    cb_buf_puts(out, url);
    return out->failed ? cb_file_no_memory(b->f, err) : CUBED_OK;
}

/* Appends a URL. Relative paths are relative to the directory of the references. */
static void put_absolute(const builder *b, const char *url, cb_buf *out)
{
    const char *slash = strrchr(b->f->url, '/');
    if (url[0] != '/' && !strstr(url, "://") && slash)
        cb_buf_put(out, b->f->url, (size_t)(slash + 1 - b->f->url));
    cb_buf_puts(out, url);
}

static cubed_status find_object(builder *b, const char *given, const cb_object **out,
                                cubed_error *err)
{
    const json_t *known = json_object_get(b->r->objects, given);
    cb_buf filled, url;
    cb_object *o = NULL;
    char name[CB_LINKED_KEY];
    cubed_status st;
    if (known) {
        *out = (const cb_object *)(uintptr_t)json_integer_value(known);
        return CUBED_OK;
    }
    cb_buf_init(&filled, b->f->head.alloc);
    cb_buf_init(&url, b->f->head.alloc);
    CB_GO(fill_in(b, given, &filled, err));
    put_absolute(b, filled.data, &url);
    o = cb_zone_alloc(b->f->zone, sizeof *o);
    if (!o || url.failed) CB_GO(cb_file_no_memory(b->f, err));
    CB_GO(cb_linked_find(&b->r->linked, b->f, url.data, &o->store, name, err));
    o->key = cb_zone_strdup(b->f->zone, name);
    o->seen = cb_zone_alloc(b->f->zone, sizeof *o->seen);
    if (!o->key || !o->seen) CB_GO(cb_file_no_memory(b->f, err));
    json_object_set_new(b->r->objects, given, json_integer((json_int_t)(uintptr_t)o));
    *out = o;
out:
    cb_buf_free(&filled);
    cb_buf_free(&url);
    return st;
}

static cubed_status keep_inside(const builder *b, reference *r, const char *text, size_t n,
                                cubed_error *err)
{
    static const char prefix[] = "base64:";
    const size_t skip = sizeof prefix - 1;
    const bool encoded = n >= skip && memcmp(text, prefix, skip) == 0;
    unsigned char *p = cb_zone_alloc(b->f->zone, n + 1);
    if (!p) return cb_file_no_memory(b->f, err);
    r->inside = p;
    r->size = n;
    if (!encoded) {
        memcpy(p, text, n);
        return CUBED_OK;
    }
    size_t got;
    if (!cb_base64_decode(text + skip, p, n, &got))
        return cb_fail(err, CUBED_E_FORMAT, "%s: the reference %s is not base64", b->f->url,
                       r->key);
    r->size = got;
    return CUBED_OK;
}

static cubed_status add(builder *b, const char *key, const json_t *v, cubed_error *err)
{
    reference *r = &b->r->list[b->r->n];
    if (cb_key_check(key, NULL) != CUBED_OK) return CUBED_OK;
    r->key = cb_zone_strdup(b->f->zone, key);
    if (!r->key) return cb_file_no_memory(b->f, err);
    b->r->n++;
    if (json_is_string(v))
        return keep_inside(b, r, json_string_value(v), json_string_length(v), err);
    if (json_is_object(v)) { /* metadata as a JSON object, not as a string */
        cb_buf text;
        cb_buf_init(&text, b->f->head.alloc);
        cubed_status st = cb_json_dump(v, 0, &text) ? keep_inside(b, r, text.data, text.size, err)
                                                    : cb_file_no_memory(b->f, err);
        cb_buf_free(&text);
        return st;
    }
    const size_t n = json_array_size(v);
    const char *url = json_string_value(json_array_get(v, 0));
    if (!url || (n != 1 && n != 3)) return bad_reference(b, key, err);
    r->size = UINT64_MAX;
    if (n == 3) {
        const json_t *offset = json_array_get(v, 1), *size = json_array_get(v, 2);
        if (!json_is_integer(offset) || !json_is_integer(size) || json_integer_value(offset) < 0 ||
            json_integer_value(size) < 0)
            return bad_reference(b, key, err);
        r->offset = (uint64_t)json_integer_value(offset);
        r->size = (uint64_t)json_integer_value(size);
    }
    return find_object(b, url, &r->in, err);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const reference *)a)->key, ((const reference *)b)->key);
}

/* --- Folders of Parquet --------------------------------------------------------------------------------- */

enum { MOST_RECORDS = 1 << 24, MOST_RECORD_SIZE = 1 << 27 };

/* Adds an array whose chunks are in records. Its metadata gives shape and chunks. */
static cubed_status add_field(builder *b, const char *key, size_t n, const json_t *doc,
                              cubed_error *err)
{
    references *r = b->r;
    int64_t shape[CUBED_MAX_NDIM], chunks[CUBED_MAX_NDIM];
    int ndim, nchunks;
    const char *separator = json_string_value(json_object_get(doc, "dimension_separator"));
    if (separator && strcmp(separator, ".") != 0)
        return cb_fail(
            err, CUBED_E_UNSUPPORTED,
            "%s: %s: \"dimension_separator\" is \"%s\", expected \".\" in keys of chunks "
            "whose references are in records",
            b->f->url, key, separator);
    CB_TRY(cb_json_get_ints(key, doc, "shape", 0, &ndim, shape, err));
    CB_TRY(cb_json_get_ints(key, doc, "chunks", 1, &nchunks, chunks, err));
    if (ndim != nchunks)
        return cb_fail(err, CUBED_E_FORMAT, "%s: %s: shape and chunks differ in length", b->f->url,
                       key);
    if (!cb_zone_grow(b->f->zone, &r->fields, r->nfields, &r->capfields, sizeof *r->fields))
        return cb_file_no_memory(b->f, err);
    field *x = &r->fields[r->nfields];
    size_t count = 1;
    *x = (field){.ndim = ndim};
    char *name = cb_zone_alloc(b->f->zone, n + 1);
    if (!name) return cb_file_no_memory(b->f, err);
    memcpy(name, key, n);
    x->name = name;
    for (int d = 0; d < ndim; d++) {
        x->grid[d] = cb_ceil_div(shape[d], chunks[d]);
        count = cb_sat_mul(count, (size_t)x->grid[d]);
    }
    if (count > INT64_MAX || cb_ceil_div((int64_t)count, r->record_size) > MOST_RECORDS)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "%s: %s has more than %d records", b->f->url, key,
                       MOST_RECORDS);
    x->count = (int64_t)count;
    x->nrecords = cb_ceil_div(x->count, r->record_size);
    x->records = cb_zone_alloc(b->f->zone, (size_t)x->nrecords * sizeof *x->records + 1);
    if (!x->records) return cb_file_no_memory(b->f, err);
    memset(x->records, 0, (size_t)x->nrecords * sizeof *x->records);
    r->nfields++;
    return CUBED_OK;
}

static cubed_status add_fields(builder *b, const json_t *doc, const json_t *metadata,
                               cubed_error *err)
{
    static const char end[] = ".zarray";
    const size_t skip = sizeof end - 1;
    const char *key;
    json_t *v;
    CB_TRY(cb_json_get_int(b->f->url, doc, "record_size", &b->r->record_size, err));
    if (b->r->record_size < 1 || b->r->record_size > MOST_RECORD_SIZE)
        return cb_fail(err, CUBED_E_FORMAT, "%s: \"record_size\" is %lld, expected at least 1",
                       b->f->url, (long long)b->r->record_size);
    json_object_foreach((json_t *)(uintptr_t)metadata, key, v)
    {
        const size_t n = strlen(key);
        if (n < skip || strcmp(key + n - skip, end) != 0 || (n > skip && key[n - skip - 1] != '/'))
            continue;
        CB_TRY(add_field(b, key, n - skip, v, err));
    }
    return CUBED_OK;
}

/* Reads one row of a record. */
static cubed_status take_row(builder *b, const cb_parquet_column *c, int64_t i, place *out,
                             cubed_error *err)
{
    const cb_parquet_bytes none = {NULL, 0}, raw = c[3].bytes ? c[3].bytes[i] : none;
    const cb_parquet_bytes path = c[0].bytes ? c[0].bytes[i] : none;
    *out = (place){.size = raw.n};
    if (raw.p) {
        void *p = cb_zone_alloc(b->f->zone, (size_t)raw.n + 1);
        if (!p) return cb_file_no_memory(b->f, err);
        memcpy(p, raw.p, raw.n);
        out->inside = p;
        return CUBED_OK;
    }
    if (!path.p || path.n == 0) return CUBED_OK;
    char url[4096];
    const int64_t offset = c[1].numbers ? c[1].numbers[i] : 0;
    const int64_t size = c[2].numbers ? c[2].numbers[i] : 0;
    if (path.n >= sizeof url || memchr(path.p, 0, path.n) || offset < 0 || size < 0)
        return cb_fail(err, CUBED_E_FORMAT, "%s: row %lld of a record refers to no object",
                       b->f->url, (long long)i);
    memcpy(url, path.p, path.n);
    url[path.n] = 0;
    out->offset = (uint64_t)offset;
    out->size = offset == 0 && size == 0 ? UINT64_MAX : (uint64_t)size;
    return find_object(b, url, &out->in, err);
}

static cubed_status take_record(builder *b, cb_zone *zone, const cb_buf *file, const char *key,
                                record *out, cubed_error *err)
{
    cb_parquet_column c[] = {
        {.name = "path"}, {.name = "offset"}, {.name = "size"}, {.name = "raw"}};
    const cb_parquet_file parquet = {key, (const uint8_t *)file->data, file->size};
    int64_t rows;
    CB_TRY(cb_parquet_read(zone, &parquet, b->r->record_size, c, 4, &rows, err));
    if (c[0].numbers || c[1].bytes || c[2].bytes || c[3].numbers)
        return cb_fail(err, CUBED_E_FORMAT, "%s: %s does not have the columns of references",
                       b->f->url, key);
    place *list = cb_zone_alloc(b->f->zone, (size_t)rows * sizeof *list + 1);
    if (!list) return cb_file_no_memory(b->f, err);
    for (int64_t i = 0; i < rows; i++) CB_TRY(take_row(b, c, i, &list[i], err));
    *out = (record){list, rows};
    return CUBED_OK;
}

/* Reads a record. A record that does not exist has no references, as the format defines. Requires the lock. */
static cubed_status read_record(cb_file *f, const field *x, int64_t k, cubed_error *err)
{
    static const place none;
    builder b = {.f = f, .r = f->data};
    const char *slash = strrchr(f->key, '/');
    char key[4096];
    cb_buf file;
    cb_zone *zone = NULL;
    cubed_error why = CUBED_ERROR_INIT;
    if (x->records[k].list) return CUBED_OK;
    const int n = snprintf(key, sizeof key, "%.*s%srefs.%lld.parq",
                           slash ? (int)(slash + 1 - f->key) : 0, f->key, x->name, (long long)k);
    if (n < 0 || (size_t)n >= sizeof key) return cb_file_bad(f, err, "a name is too long");
    cb_buf_init(&file, f->head.alloc);
    cubed_status st = cb_store_read_all(f->within, key, (size_t)MAX_BYTES, &file, &why);
    if (st == CUBED_E_NOT_FOUND) {
        x->records[k] = (record){&none, 0};
        st = CUBED_OK;
    } else if (st != CUBED_OK) {
        if (err) *err = why;
    } else {
        st = cb_zone_new(f->head.alloc, &zone, err);
        if (st == CUBED_OK) {
            st = take_record(&b, zone, &file, key, &x->records[k], err);
            f->passing = cb_max_size(f->passing, file.cap + cb_zone_bytes(zone));
        }
        cb_zone_free(zone);
    }
    cb_buf_free(&file);
    return st;
}

/* Counts the memory that is not in the zone: stores and the table of objects. */
static void count_outside(cb_file *f)
{
    const references *r = f->data;
    f->outside = r->linked.bytes + cb_json_bytes(r->objects);
}

/* Reads the records that have chunks of a box. If the box covers inner axes entirely, their chunks are numbered
 * consecutively. */
static cubed_status read_records(cb_file *f, const field *x, int ndim, const int64_t *lo,
                                 const int64_t *hi, cubed_error *err)
{
    const references *r = f->data;
    int64_t at[CUBED_MAX_NDIM], run = 1;
    int outer = ndim;
    bool fits = ndim == x->ndim;
    for (int d = 0; d < ndim && fits; d++) fits = hi[d] <= x->grid[d];
    if (!fits) return cb_file_bad(f, err, "the chunks of an array do not match its records");
    while (outer > 0 && lo[outer - 1] == 0 && hi[outer - 1] == x->grid[outer - 1])
        run *= x->grid[--outer];
    if (outer > 0) {
        outer--;
        run *= hi[outer] - lo[outer];
    }
    for (int d = 0; d < ndim; d++) at[d] = lo[d];
    for (int d = 0; d >= 0;) {
        int64_t first = 0;
        for (int k = 0; k < ndim; k++) first = first * x->grid[k] + at[k];
        for (int64_t k = first / r->record_size; k <= (first + run - 1) / r->record_size; k++)
            CB_TRY(read_record(f, x, k, err));
        for (d = outer - 1; d >= 0 && ++at[d] == hi[d]; d--) at[d] = lo[d];
    }
    return CUBED_OK;
}

static cubed_status know_references(cb_file *f, const char *path, int ndim, const int64_t *lo,
                                    const int64_t *hi, cubed_error *err)
{
    const references *r = f->data;
    const size_t n = strlen(path);
    cubed_status st = CUBED_OK;
    for (int i = 0; i < r->nfields && st == CUBED_OK; i++) {
        const field *x = &r->fields[i];
        if (strncmp(x->name, path, n) == 0 && strcmp(x->name + n, n ? "/" : "") == 0)
            st = read_records(f, x, ndim, lo, hi, err);
    }
    count_outside(f);
    return st == CUBED_OK ? st : cb_context(err, st, "%s", f->head.url);
}

/* Finds the array in records to which a key such as "x/1.0" belongs, and the number of the chunk. Returns NULL for other
 * keys. */
static const field *find_field(const references *r, const char *key, int64_t *number)
{
    const char *slash = strrchr(key, '/'), *p = slash ? slash + 1 : key;
    const size_t n = (size_t)(p - key);
    const field *x = NULL;
    for (int i = 0; i < r->nfields && !x; i++) {
        if (strlen(r->fields[i].name) == n && strncmp(key, r->fields[i].name, n) == 0)
            x = &r->fields[i];
    }
    *number = 0;
    if (!x) return NULL;
    if (x->ndim == 0) return strcmp(p, "0") == 0 ? x : NULL;
    for (int d = 0; d < x->ndim; d++) {
        char *end;
        if (*p < '0' || *p > '9') return NULL;
        const unsigned long long at = strtoull(p, &end, 10);
        if (at >= (unsigned long long)x->grid[d] || *end != (d + 1 < x->ndim ? '.' : 0))
            return NULL;
        *number = *number * x->grid[d] + (int64_t)at;
        p = end + 1;
    }
    return x;
}

static cubed_status find_in_record(cb_file *f, const char *key, reference *out, cubed_error *err)
{
    const references *r = f->data;
    int64_t number;
    const field *x = find_field(r, key, &number);
    *out = (reference){.key = key};
    if (!x) return CUBED_OK;
    const int64_t k = number / r->record_size, row = number % r->record_size;
    cb_mutex_lock(&f->lock);
    const cubed_status st = read_record(f, x, k, err);
    cb_mutex_unlock(&f->lock);
    if (st != CUBED_OK || row >= x->records[k].n) return st;
    const place *p = &x->records[k].list[row];
    out->inside = p->inside;
    out->in = p->in;
    out->offset = p->offset;
    out->size = p->size;
    return CUBED_OK;
}

/* --- Documents ------------------------------------------------------------------------------------------ */

static cubed_status build(builder *b, const json_t *doc, cubed_error *err)
{
    json_t *refs = json_object_get(doc, "refs"), *v;
    const char *key;
    if (json_array_size(json_object_get(doc, "gen")) > 0)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: generated references (\"gen\") are not supported", b->f->url);
    b->r->templates = json_object_get(doc, "templates");
    if (!refs && json_object_get(doc, "record_size")) {
        refs = json_object_get(doc, "metadata");
        CB_TRY(add_fields(b, doc, refs, err));
    }
    /* in version 0, the document itself is the object of references */
    if (!refs) refs = (json_t *)(uintptr_t)doc;
    if (!json_object_get(refs, ".zgroup") && !json_object_get(refs, ".zarray") &&
        !json_object_get(refs, "zarr.json"))
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s is JSON, expected kerchunk references to a Zarr group or array",
                       b->f->url);
    b->r->list = cb_zone_alloc(b->f->zone, json_object_size(refs) * sizeof *b->r->list);
    b->r->objects = json_object();
    if (!b->r->list || !b->r->objects) return cb_file_no_memory(b->f, err);
    CB_TRY(cb_linked_init(&b->r->linked, b->f, err));
    json_object_foreach(refs, key, v) CB_TRY(add(b, key, v, err));
    if (b->r->n) qsort(b->r->list, b->r->n, sizeof *b->r->list, by_key);
    return CUBED_OK;
}

static void forget(references *r)
{
    json_decref(r->objects);
    r->objects = NULL;
    r->templates = NULL;
    cb_linked_forget(&r->linked);
}

static cubed_status open_references(cb_file *f, cubed_error *err)
{
    builder b = {.f = f, .r = cb_zone_alloc(f->zone, sizeof *b.r)};
    json_t *doc = NULL;
    if (!b.r) return cb_file_no_memory(f, err);
    f->data = b.r;
    if (f->info.size > MAX_BYTES)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "%s: the references have more than 1 GiB", f->url);
    char *text = cb_alloc(f->head.alloc, (size_t)f->info.size);
    if (!text) return cb_file_no_memory(f, err);
    cubed_status st = cb_file_read(f, 0, text, (size_t)f->info.size, err);
    if (st == CUBED_OK) st = cb_json_parse(f->url, text, (size_t)f->info.size, &doc, err);
    cb_free(f->head.alloc, text, (size_t)f->info.size);
    if (st == CUBED_OK) st = build(&b, doc, err);
    f->passing = 3 * (size_t)f->info.size + cb_json_bytes(doc) + cb_json_bytes(b.r->objects);
    json_decref(doc);
    b.r->templates = NULL;
    /* a folder keeps the data of its document, because records read later may add references */
    if (!b.r->record_size) forget(b.r);
    count_outside(f);
    return st;
}

static void close_references(cb_file *f)
{
    references *r = f->data;
    if (!r) return;
    forget(r);
    cb_linked_close(&r->linked);
}

/* Gets the size of a referenced object. If NOT_FOUND were returned, a missing file would look like a missing chunk, and be
 * read as the fill value. */
static cubed_status whole_size(const cb_file *f, const reference *x, uint64_t *out,
                               cubed_error *err)
{
    cubed_object_info info;
    cubed_error why = CUBED_ERROR_INIT;
    const cubed_status st = cb_store_head(x->in->store, x->in->key, &info, &why);
    *out = st == CUBED_OK ? info.size : 0;
    if (st == CUBED_OK) return st;
    if (st != CUBED_E_NOT_FOUND) {
        if (err) *err = why;
        return st;
    }
    return cb_fail(err, CUBED_E_FORMAT, "%s: %s refers to %s in %s, which does not exist", f->url,
                   x->key, x->in->key, x->in->store->url);
}

static cubed_status find_reference(cb_file *f, const char *key, cb_entry *out, cubed_error *err)
{
    const references *r = f->data;
    const reference wanted = {.key = key};
    reference chunk;
    const reference *x = r->n ? bsearch(&wanted, r->list, r->n, sizeof wanted, by_key) : NULL;
    if (!x && r->record_size) {
        CB_TRY(find_in_record(f, key, &chunk, err));
        x = chunk.inside || chunk.in ? &chunk : NULL;
    }
    if (!x) return cb_fail(err, CUBED_E_NOT_FOUND, "%s has no %s", f->url, key);
    out->size = x->size;
    if (x->inside) {
        out->head = x->inside;
        out->nhead = (size_t)x->size;
        return CUBED_OK;
    }
    out->in = x->in;
    out->offset = x->offset;
    if (x->size == UINT64_MAX) CB_TRY(whole_size(f, x, &out->size, err));
    out->there = out->size;
    return CUBED_OK;
}

/* Reports the chunks of an array in records, except missing chunks. */
static cubed_status each_chunk(cb_file *f, const field *x, cb_file_each_fn fn, void *ctx,
                               cubed_error *err)
{
    const references *r = f->data;
    char key[4096];
    for (int64_t number = 0; number < x->count; number++) {
        const int64_t k = number / r->record_size, row = number % r->record_size;
        cb_mutex_lock(&f->lock);
        const cubed_status st = read_record(f, x, k, err);
        cb_mutex_unlock(&f->lock);
        if (st != CUBED_OK) return st;
        if (row >= x->records[k].n) {
            number = (k + 1) * r->record_size - 1;
            continue;
        }
        const place *p = &x->records[k].list[row];
        int64_t rest = number, idx[CUBED_MAX_NDIM] = {0};
        int n = snprintf(key, sizeof key, "%s", x->name);
        if ((!p->in && !p->inside) || n < 0 || n > (int)sizeof key - 32 * CUBED_MAX_NDIM) continue;
        for (int d = x->ndim - 1; d >= 0; rest /= x->grid[d--]) idx[d] = rest % x->grid[d];
        for (int d = 0; d < x->ndim || d == 0; d++)
            n += snprintf(key + n, sizeof key - (size_t)n, d ? ".%lld" : "%lld", (long long)idx[d]);
        CB_TRY(fn(ctx, key, p->size == UINT64_MAX ? 0 : p->size, err));
    }
    return CUBED_OK;
}

static cubed_status each_reference(cb_file *f, const char *prefix, bool chunks, cb_file_each_fn fn,
                                   void *ctx, cubed_error *err)
{
    const references *r = f->data;
    const size_t n = strlen(prefix);
    for (size_t i = 0; i < r->n; i++) {
        const uint64_t size = r->list[i].size;
        if (strncmp(r->list[i].key, prefix, n) == 0)
            CB_TRY(fn(ctx, r->list[i].key, size == UINT64_MAX ? 0 : size, err));
        const char *name = r->list[i].key, *slash = strrchr(name, '/');
        if (!chunks || strcmp(slash ? slash + 1 : name, ".zarray") != 0) continue;
        const size_t own = slash ? (size_t)(slash + 1 - name) : 0;
        for (int k = 0; k < r->nfields; k++) {
            const field *x = &r->fields[k];
            if (strlen(x->name) == own && strncmp(x->name, name, own) == 0 &&
                strncmp(x->name, prefix, n) == 0)
                CB_TRY(each_chunk(f, x, fn, ctx, err));
        }
    }
    return CUBED_OK;
}

const cb_file_kind cb_file_references = {.is = is_references,
                                         .open = open_references,
                                         .close = close_references,
                                         .know = know_references,
                                         .find = find_reference,
                                         .each = each_reference};
