/* Checksums of four bytes, little endian: "crc32c" behind the data, numcodecs' "crc32" and "adler32" in front of them,
 * unless "location" says otherwise. conf: i[0] 1 in front. */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/crc32c.h"
#include "base/le.h"
#include "codec/codec_pkg.h"

typedef uint32_t (*sum_fn)(const void *data, size_t n);

static uint32_t sum_crc32c(const void *data, size_t n) { return cb_crc32c(0, data, n); }

static uint32_t sum_crc32(const void *data, size_t n)
{
    return (uint32_t)crc32_z(0, (const Bytef *)data, n);
}

static uint32_t sum_adler32(const void *data, size_t n)
{
    return (uint32_t)adler32_z(1, (const Bytef *)data, n);
}

static cubed_status parse(const char *json, const char *codec, bool in_front,
                          cubed_codec_conf *conf, cubed_error *err)
{
    json_t *doc = NULL;
    memset(conf, 0, sizeof *conf);
    conf->i[0] = in_front;
    CB_TRY(cb_json_parse("configuration", json, strlen(json), &doc, err));
    const json_t *v = json_object_get(doc, "location");
    const char *s = json_string_value(v);
    cubed_status st = CUBED_OK;
    if (v && !json_is_null(v)) {
        conf->i[0] = s && strcmp(s, "start") == 0;
        if (!s || (!conf->i[0] && strcmp(s, "end") != 0))
            st = cb_fail(err, CUBED_E_FORMAT, "codec %s: \"location\" is not \"start\" or \"end\"",
                         codec);
    }
    json_decref(doc);
    return st;
}

static cubed_status parse_crc32c(const char *json, int format, const cubed_codec_ctx *ctx,
                                 cubed_codec_conf *conf, cubed_error *err)
{
    (void)format;
    (void)ctx;
    return parse(json, "crc32c", false, conf, err);
}

static cubed_status parse_crc32(const char *json, int format, const cubed_codec_ctx *ctx,
                                cubed_codec_conf *conf, cubed_error *err)
{
    (void)format;
    (void)ctx;
    return parse(json, "crc32", true, conf, err);
}

static cubed_status parse_adler32(const char *json, int format, const cubed_codec_ctx *ctx,
                                  cubed_codec_conf *conf, cubed_error *err)
{
    (void)format;
    (void)ctx;
    return parse(json, "adler32", true, conf, err);
}

static cubed_status print(bool usual, const cubed_codec_conf *conf, char *json, size_t cap,
                          cubed_error *err)
{
    int n = usual ? snprintf(json, cap, "{}")
                  : snprintf(json, cap, "{\"location\": \"%s\"}", conf->i[0] ? "start" : "end");
    return n > 0 && (size_t)n < cap ? CUBED_OK : cb_fail(err, CUBED_E_ARG, "a checksum: no room");
}

static cubed_status print_behind(const cubed_codec_conf *conf, int format,
                                 const cubed_codec_ctx *ctx, char *json, size_t cap,
                                 cubed_error *err)
{
    (void)format;
    (void)ctx;
    return print(!conf->i[0], conf, json, cap, err);
}

static cubed_status print_in_front(const cubed_codec_conf *conf, int format,
                                   const cubed_codec_ctx *ctx, char *json, size_t cap,
                                   cubed_error *err)
{
    (void)format;
    (void)ctx;
    return print(conf->i[0], conf, json, cap, err);
}

static cubed_status decode(sum_fn sum, const cubed_codec_conf *conf, const void *src,
                           size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           cubed_error *err)
{
    if (src_size < 4 || src_size - 4 > dst_cap)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes, expected 4 to %zu", src_size, dst_cap + 4);
    const size_t n = src_size - 4;
    const uint8_t *data = (const uint8_t *)src + (conf->i[0] ? 4 : 0);
    const uint32_t stored = (uint32_t)cb_le_get((const uint8_t *)src + (conf->i[0] ? 0 : n), 4);
    const uint32_t real = sum(data, n);
    if (stored != real)
        return cb_fail(err, CUBED_E_FORMAT, "the checksum is %08x, stored is %08x", real, stored);
    memcpy(dst, data, n);
    *got = n;
    return CUBED_OK;
}

static cubed_status encode(sum_fn sum, const cubed_codec_conf *conf, const void *src,
                           size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           cubed_error *err)
{
    CB_CHECK(dst_cap >= 4 && src_size <= dst_cap - 4, err);
    memcpy((uint8_t *)dst + (conf->i[0] ? 4 : 0), src, src_size);
    cb_le_put((uint8_t *)dst + (conf->i[0] ? 0 : src_size), sum(src, src_size), 4);
    *got = src_size + 4;
    return CUBED_OK;
}

static cubed_status decode_crc32c(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                  const void *src, size_t src_size, void *dst, size_t dst_cap,
                                  size_t *got, void *scratch, size_t scratch_size, cubed_error *err)
{
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    return decode(sum_crc32c, conf, src, src_size, dst, dst_cap, got, err);
}

static cubed_status encode_crc32c(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                  const void *src, size_t src_size, void *dst, size_t dst_cap,
                                  size_t *got, void *scratch, size_t scratch_size, cubed_error *err)
{
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    return encode(sum_crc32c, conf, src, src_size, dst, dst_cap, got, err);
}

static cubed_status decode_crc32(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                 const void *src, size_t src_size, void *dst, size_t dst_cap,
                                 size_t *got, void *scratch, size_t scratch_size, cubed_error *err)
{
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    return decode(sum_crc32, conf, src, src_size, dst, dst_cap, got, err);
}

static cubed_status encode_crc32(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                 const void *src, size_t src_size, void *dst, size_t dst_cap,
                                 size_t *got, void *scratch, size_t scratch_size, cubed_error *err)
{
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    return encode(sum_crc32, conf, src, src_size, dst, dst_cap, got, err);
}

static cubed_status decode_adler32(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                   const void *src, size_t src_size, void *dst, size_t dst_cap,
                                   size_t *got, void *scratch, size_t scratch_size,
                                   cubed_error *err)
{
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    return decode(sum_adler32, conf, src, src_size, dst, dst_cap, got, err);
}

static cubed_status encode_adler32(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                   const void *src, size_t src_size, void *dst, size_t dst_cap,
                                   size_t *got, void *scratch, size_t scratch_size,
                                   cubed_error *err)
{
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    return encode(sum_adler32, conf, src, src_size, dst, dst_cap, got, err);
}

const cubed_codec_vtable cb_codec_crc32c = {
    .name = "crc32c",
    .name_v2 = "crc32c",
    .parse = parse_crc32c,
    .print = print_behind,
    .bound = cb_codec_four_more,
    .decode_need = cb_codec_needs_nothing,
    .encode_need = cb_codec_needs_nothing,
    .decode = decode_crc32c,
    .encode = encode_crc32c,
};
const cubed_codec_vtable cb_codec_crc32 = {
    .name = "numcodecs.crc32",
    .name_v2 = "crc32",
    .parse = parse_crc32,
    .print = print_in_front,
    .bound = cb_codec_four_more,
    .decode_need = cb_codec_needs_nothing,
    .encode_need = cb_codec_needs_nothing,
    .decode = decode_crc32,
    .encode = encode_crc32,
};
const cubed_codec_vtable cb_codec_adler32 = {
    .name = "numcodecs.adler32",
    .name_v2 = "adler32",
    .parse = parse_adler32,
    .print = print_in_front,
    .bound = cb_codec_four_more,
    .decode_need = cb_codec_needs_nothing,
    .encode_need = cb_codec_needs_nothing,
    .decode = decode_adler32,
    .encode = encode_adler32,
};
