/* Checksums of four bytes, little endian: "crc32c" behind the data, numcodecs' "crc32" and "adler32" in front of them,
 * unless "location" says otherwise. */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/crc32c.h"
#include "base/le.h"
#include "codec/codec_pkg.h"

typedef struct checksum_conf {
    bool in_front;
} checksum_conf;
CUBED_CODEC_CONF_FITS(checksum_conf);

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

static cubed_status parse(const char *json, const char *codec, bool in_front, void *conf,
                          cubed_error *err)
{
    checksum_conf *c = conf;
    json_t *doc = NULL;
    c->in_front = in_front;
    CB_TRY(cb_json_parse("configuration", json, strlen(json), &doc, err));
    const json_t *v = json_object_get(doc, "location");
    const char *s = json_string_value(v);
    cubed_status st = CUBED_OK;
    if (v && !json_is_null(v)) {
        c->in_front = s && strcmp(s, "start") == 0;
        if (!s || (!c->in_front && strcmp(s, "end") != 0))
            st = cb_fail(err, CUBED_E_FORMAT, "codec %s: \"location\" is not \"start\" or \"end\"",
                         codec);
    }
    json_decref(doc);
    return st;
}

static cubed_status parse_crc32c(const char *json, int format, const cubed_codec_ctx *ctx,
                                 void *conf, cubed_error *err)
{
    (void)format;
    (void)ctx;
    return parse(json, "crc32c", false, conf, err);
}

static cubed_status parse_crc32(const char *json, int format, const cubed_codec_ctx *ctx,
                                void *conf, cubed_error *err)
{
    (void)format;
    (void)ctx;
    return parse(json, "crc32", true, conf, err);
}

static cubed_status parse_adler32(const char *json, int format, const cubed_codec_ctx *ctx,
                                  void *conf, cubed_error *err)
{
    (void)format;
    (void)ctx;
    return parse(json, "adler32", true, conf, err);
}

static cubed_status print(bool usual_in_front, const checksum_conf *conf, char *json, size_t cap,
                          cubed_error *err)
{
    int n = conf->in_front == usual_in_front
                ? snprintf(json, cap, "{}")
                : snprintf(json, cap, "{\"location\": \"%s\"}", conf->in_front ? "start" : "end");
    return n > 0 && (size_t)n < cap ? CUBED_OK : cb_fail(err, CUBED_E_ARG, "a checksum: no room");
}

static cubed_status print_behind(const void *conf, int format, const cubed_codec_ctx *ctx,
                                 char *json, size_t cap, cubed_error *err)
{
    (void)format;
    (void)ctx;
    return print(false, conf, json, cap, err);
}

static cubed_status print_in_front(const void *conf, int format, const cubed_codec_ctx *ctx,
                                   char *json, size_t cap, cubed_error *err)
{
    (void)format;
    (void)ctx;
    return print(true, conf, json, cap, err);
}

static cubed_status decode(sum_fn sum, const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const checksum_conf *c = call->conf;
    const uint8_t *src = call->src;
    if (call->src_size < 4 || call->src_size - 4 > call->dst_cap)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes, expected 4 to %zu", call->src_size,
                       call->dst_cap + 4);
    const size_t n = call->src_size - 4;
    const uint8_t *data = src + (c->in_front ? 4 : 0);
    const uint32_t stored = (uint32_t)cb_le_get(src + (c->in_front ? 0 : n), 4);
    const uint32_t real = sum(data, n);
    if (stored != real)
        return cb_fail(err, CUBED_E_FORMAT, "the checksum is %08x, stored is %08x", real, stored);
    memcpy(call->dst, data, n);
    *got = n;
    return CUBED_OK;
}

static cubed_status encode(sum_fn sum, const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const checksum_conf *c = call->conf;
    const size_t n = call->src_size;
    uint8_t *dst = call->dst;
    CB_CHECK(call->dst_cap >= 4 && n <= call->dst_cap - 4, err);
    memcpy(dst + (c->in_front ? 4 : 0), call->src, n);
    cb_le_put(dst + (c->in_front ? 0 : n), sum(call->src, n), 4);
    *got = n + 4;
    return CUBED_OK;
}

static cubed_status decode_crc32c(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    return decode(sum_crc32c, call, got, err);
}

static cubed_status encode_crc32c(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    return encode(sum_crc32c, call, got, err);
}

static cubed_status decode_crc32(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    return decode(sum_crc32, call, got, err);
}

static cubed_status encode_crc32(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    return encode(sum_crc32, call, got, err);
}

static cubed_status decode_adler32(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    return decode(sum_adler32, call, got, err);
}

static cubed_status encode_adler32(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    return encode(sum_adler32, call, got, err);
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
