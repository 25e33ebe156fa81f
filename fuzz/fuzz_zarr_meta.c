/* Parses any text as Zarr metadata. Parsed metadata is printed, and must be parsed again with the same result. The first byte
 * chooses the format: '2' is .zarray, 'a' is .zarray after its .zattrs, and any other byte is zarr.json. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zarr/zarr_pkg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static cubed_status parse(int format, const json_t *doc, const json_t *zattrs, cb_zone *zone,
                          cb_zarr_meta *m, cubed_error *err)
{
    return format == 2 ? cb_zarr_parse_v2("u/.zarray", NULL, doc, zattrs, zone, m, err)
                       : cb_zarr_parse_v3("u/zarr.json", NULL, doc, zone, m, err);
}

static void require(bool holds)
{
    if (!holds) abort();
}

static json_t *reread(const json_t *doc, cb_zone *zone)
{
    const char *text;
    json_t *again;
    require(cb_json_text(doc, zone, &text, NULL) == CUBED_OK);
    require(cb_json_parse("again", text, strlen(text), &again, NULL) == CUBED_OK);
    return again;
}

static void print_and_reread(const cb_zarr_meta *m, cb_zone *zone)
{
    json_t *doc = NULL, *zattrs = NULL, *doc2, *zattrs2 = NULL;
    cb_zarr_meta again;
    require((m->format == 2 ? cb_zarr_print_v2(m, &doc, &zattrs, NULL)
                            : cb_zarr_print_v3(m, &doc, NULL)) == CUBED_OK);
    doc2 = reread(doc, zone);
    if (zattrs) zattrs2 = reread(zattrs, zone);
    require(parse(m->format, doc2, zattrs2, zone, &again, NULL) == CUBED_OK);
    require(again.dtype == m->dtype && again.ndim == m->ndim);
    require(memcmp(again.shape, m->shape, sizeof m->shape) == 0);
    require(memcmp(again.chunk, m->chunk, sizeof m->chunk) == 0);
    cubed_scalar fill = m->fill;
    if (m->format == 2) cb_fill_for_v2(m->dtype, &fill);
    require(memcmp(&fill, &again.fill, cb_fill_size(m->dtype)) == 0);
    require(again.separator == m->separator && again.v2_keys == m->v2_keys);
    require(again.order_f == m->order_f && again.codecs.all.n == m->codecs.all.n);
    require(strcmp(again.attrs, m->attrs) == 0);
    json_decref(doc);
    json_decref(zattrs);
    json_decref(doc2);
    json_decref(zattrs2);
}

static void use(const cb_zarr_meta *m)
{
    char key[4096];
    int64_t last[CUBED_MAX_NDIM];
    for (int d = 0; d < m->ndim; d++) {
        require(m->chunk[d] >= 1 && m->shape[d] >= 0);
        last[d] = cb_max_i64(cb_ceil_div(m->shape[d], m->chunk[d]) - 1, 0);
    }
    require(cb_zarr_chunk_key(m, "u", last, key, sizeof key, NULL) == CUBED_OK);
    require(cb_zarr_chunk_bytes(m) >= cubed_dtype_size(m->dtype));
    cb_need r = cb_zarr_read_need(m), w = cb_zarr_write_need(m);
    require(cb_codec_chain_is_raw(&m->codecs) == (r.arena == 0) &&
            (r.arena == 0) == (w.arena == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    int format = data[0] == '2' || data[0] == 'a' ? 2 : 3;
    const char *text = (const char *)data + 1;
    size_t n = size - 1;
    json_t *doc = NULL, *zattrs = NULL;
    cb_zone *zone;
    cb_zarr_meta m;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_status st = CUBED_OK;
    if (data[0] == 'a') {
        const char *line = memchr(text, '\n', n);
        size_t first = line ? (size_t)(line - text) : n;
        st = cb_json_parse("u/.zattrs", text, first, &zattrs, &err);
        text += first;
        n -= first;
    }
    if (st == CUBED_OK) st = cb_json_parse("u", text, n, &doc, &err);
    require(cb_zone_new(&cb_system_allocator, &zone, NULL) == CUBED_OK);
    if (st == CUBED_OK) st = parse(format, doc, zattrs, zone, &m, &err);
    if (st == CUBED_OK) {
        use(&m);
        print_and_reread(&m, zone);
    }
    /* Every failure must have a message. */
    require((st == CUBED_OK) == (err.message[0] == 0) && st == err.status);
    json_decref(doc);
    json_decref(zattrs);
    cb_zone_free(zone);
    return 0;
}
