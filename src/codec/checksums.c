/* Four-byte little-endian checksums: "crc32c" after the data, numcodecs' "crc32" and "adler32" before the data, unless
 * "location" says otherwise. */
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

/* Extends the checksum `before` by n bytes. If `data` is NULL, returns the checksum of no bytes. */
typedef uint32_t (*sum_fn)(uint32_t before, const void *data, size_t n);

static uint32_t sum_crc32c(uint32_t before, const void *data, size_t n)
{
    return data ? cb_crc32c(before, data, n) : 0;
}

static uint32_t sum_crc32(uint32_t before, const void *data, size_t n)
{
    return data ? (uint32_t)crc32_z(before, (const Bytef *)data, n) : 0;
}

static uint32_t sum_adler32(uint32_t before, const void *data, size_t n)
{
    return data ? (uint32_t)adler32_z(before, (const Bytef *)data, n) : 1;
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
    return n > 0 && (size_t)n < cap
               ? CUBED_OK
               : cb_fail(err, CUBED_E_ARG,
                         "a checksum: the configuration does not fit into %zu bytes", cap);
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
    const uint32_t real = sum(sum(0, NULL, 0), data, n);
    if (stored != real)
        return cb_fail(err, CUBED_E_FORMAT, "the checksum is %08x, but %08x is stored", real,
                       stored);
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
    cb_le_put(dst + (c->in_front ? 0 : n), sum(sum(0, NULL, 0), call->src, n), 4);
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

/* --- Streams ------------------------------------------------------------------------------------------ */

size_t cb_sum_stream_bytes(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return sizeof(cb_sum_stream);
}

static void pass(cb_sum_stream *s, cb_stream_io *io, const void *data, size_t n)
{
    s->add(s, data, n);
    memcpy(io->out, data, n);
    io->out += n;
    io->room -= n;
}

static void skip(cb_stream_io *io, size_t n)
{
    io->in += n;
    io->left -= n;
}

cubed_status cb_sum_stream_step(void *state, cb_stream_io *io, cubed_error *err)
{
    cb_sum_stream *s = state;
    if (s->n < 4) {
        const size_t n = cb_min_size(4 - s->n, io->left);
        memcpy(s->stored + s->n, io->in, n);
        s->n += n;
        skip(io, n);
    } else if (s->in_front) {
        const size_t n = cb_min_size(io->left, io->room);
        pass(s, io, io->in, n);
        skip(io, n);
    } else if (io->left >= 4 && io->room >= 4) {
        /* Outputs everything except the last four bytes, which may be the checksum. */
        pass(s, io, s->stored, 4);
        const size_t n = cb_min_size(io->left - 4, io->room);
        pass(s, io, io->in, n);
        memcpy(s->stored, io->in + n, 4);
        skip(io, n + 4);
    } else if (io->left > 0 && io->room > 0) {
        pass(s, io, s->stored, 1);
        memmove(s->stored, s->stored + 1, 3);
        s->stored[3] = (uint8_t)*io->in;
        skip(io, 1);
    }
    if (!io->last || io->left > 0) return CUBED_OK;
    if (s->n < 4) return cb_fail(err, CUBED_E_FORMAT, "%zu bytes, expected at least 4", s->n);
    const uint32_t stored = (uint32_t)cb_le_get(s->stored, 4), real = s->end(s);
    if (stored != real && (!s->other || stored != s->other(real)))
        return cb_fail(err, CUBED_E_FORMAT, "the checksum is %08x, but %08x is stored", real,
                       stored);
    io->ended = true;
    return CUBED_OK;
}

static void add_crc32c(cb_sum_stream *s, const void *data, size_t n)
{
    s->sum[0] = sum_crc32c(s->sum[0], data, n);
}

static void add_crc32(cb_sum_stream *s, const void *data, size_t n)
{
    s->sum[0] = sum_crc32(s->sum[0], data, n);
}

static void add_adler32(cb_sum_stream *s, const void *data, size_t n)
{
    s->sum[0] = sum_adler32(s->sum[0], data, n);
}

static uint32_t end(cb_sum_stream *s) { return s->sum[0]; }

static cubed_status begin_crc32c(void *state, size_t size, const void *conf, cubed_error *err)
{
    (void)size;
    (void)err;
    *(cb_sum_stream *)state = (cb_sum_stream){
        .in_front = ((const checksum_conf *)conf)->in_front, .add = add_crc32c, .end = end};
    return CUBED_OK;
}

static cubed_status begin_crc32(void *state, size_t size, const void *conf, cubed_error *err)
{
    (void)size;
    (void)err;
    *(cb_sum_stream *)state = (cb_sum_stream){
        .in_front = ((const checksum_conf *)conf)->in_front, .add = add_crc32, .end = end};
    return CUBED_OK;
}

static cubed_status begin_adler32(void *state, size_t size, const void *conf, cubed_error *err)
{
    (void)size;
    (void)err;
    *(cb_sum_stream *)state = (cb_sum_stream){.in_front = ((const checksum_conf *)conf)->in_front,
                                              .sum = {1},
                                              .add = add_adler32,
                                              .end = end};
    return CUBED_OK;
}

const cb_codec_streaming cb_streaming_crc32c = {.codec = &cb_codec_crc32c,
                                                .state_bytes = cb_sum_stream_bytes,
                                                .begin = begin_crc32c,
                                                .step = cb_sum_stream_step};
const cb_codec_streaming cb_streaming_crc32 = {.codec = &cb_codec_crc32,
                                               .state_bytes = cb_sum_stream_bytes,
                                               .begin = begin_crc32,
                                               .step = cb_sum_stream_step};
const cb_codec_streaming cb_streaming_adler32 = {.codec = &cb_codec_adler32,
                                                 .state_bytes = cb_sum_stream_bytes,
                                                 .begin = begin_adler32,
                                                 .step = cb_sum_stream_step};
