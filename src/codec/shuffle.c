/* numcodecs' "shuffle": the first bytes of all elements, then the second bytes, and so on. conf: i[0]
 * bytes of an element, which need not be the array's. */
#include <stdio.h>
#include <string.h>

#include "codec/codec_pkg.h"

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx,
                          cubed_codec_conf *conf, cubed_error *err)
{
    json_t *doc = NULL;
    (void)format;
    (void)ctx;
    memset(conf, 0, sizeof *conf);
    CB_TRY(cb_json_parse("codec shuffle", json, strlen(json), &doc, err));
    cubed_status st = cb_conf_int(doc, "shuffle", "elementsize", 4, 1, INT32_MAX, &conf->i[0], err);
    json_decref(doc);
    return st;
}

static cubed_status print(const cubed_codec_conf *conf, int format, const cubed_codec_ctx *ctx,
                          char *json, size_t cap, cubed_error *err)
{
    (void)format;
    (void)ctx;
    int n = snprintf(json, cap, "{\"elementsize\": %d}", (int)conf->i[0]);
    return n > 0 && (size_t)n < cap ? CUBED_OK
                                    : cb_fail(err, CUBED_E_ARG, "codec shuffle: no room");
}

static size_t bound(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    return raw_size;
}

static cubed_codec_need need(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                             size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){0, 0};
}

/* A transpose: elements are rows of an element's bytes, and columns when shuffled. */
static cubed_status turn(const void *src, size_t src_size, size_t size, bool back, void *dst,
                         size_t dst_cap, size_t *got, cubed_error *err)
{
    const unsigned char *in = src;
    unsigned char *out = dst;
    if (src_size > dst_cap || src_size % size != 0)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes, expected a multiple of %zu up to %zu",
                       src_size, size, dst_cap);
    size_t rows = back ? size : src_size / size, columns = back ? src_size / size : size;
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns; c++) out[c * rows + r] = in[r * columns + c];
    }
    *got = src_size;
    return CUBED_OK;
}

static cubed_status decode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    return turn(src, src_size, (size_t)conf->i[0], true, dst, dst_cap, got, err);
}

static cubed_status encode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    return turn(src, src_size, (size_t)conf->i[0], false, dst, dst_cap, got, err);
}

static bool is_identity(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx)
{
    (void)ctx;
    return conf->i[0] == 1;
}

/* Zarr v3 knows it as an extension under numcodecs' name. */
const cubed_codec_vtable cb_codec_shuffle = {
    .name = "numcodecs.shuffle",
    .name_v2 = "shuffle",
    .parse = parse,
    .print = print,
    .bound = bound,
    .decode_need = need,
    .encode_need = need,
    .decode = decode,
    .encode = encode,
    .is_identity = is_identity,
};
