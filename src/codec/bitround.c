/* numcodecs' "bitround": floats with the last bits of their mantissas rounded to zero, half to even
 * (Kloewer et al., "Compressing atmospheric data into its real information content", 2021). Decoding
 * changes nothing. conf: i[0] bits of the mantissa that are kept. */
#include <stdio.h>
#include <string.h>

#include "codec/codec_pkg.h"

static int mantissa_bits(size_t item_size)
{
    return item_size == 2 ? 10 : item_size == 4 ? 23 : 52;
}

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx,
                          cubed_codec_conf *conf, cubed_error *err)
{
    json_t *doc = NULL;
    (void)format;
    memset(conf, 0, sizeof *conf);
    if (ctx->kind != CUBED_KIND_FLOAT)
        return cb_fail(err, CUBED_E_FORMAT, "codec bitround: the elements are no floats");
    CB_TRY(cb_json_parse("codec bitround", json, strlen(json), &doc, err));
    int most = mantissa_bits(ctx->item_size);
    cubed_status st = cb_conf_int(doc, "bitround", "keepbits", -1, 0, most, &conf->i[0], err);
    if (st == CUBED_OK && conf->i[0] < 0)
        st = cb_fail(err, CUBED_E_FORMAT,
                     "codec bitround: \"keepbits\" is missing, expected 0 to %d", most);
    json_decref(doc);
    return st;
}

static cubed_status print(const cubed_codec_conf *conf, int format, const cubed_codec_ctx *ctx,
                          char *json, size_t cap, cubed_error *err)
{
    (void)format;
    (void)ctx;
    int n = snprintf(json, cap, "{\"keepbits\": %d}", (int)conf->i[0]);
    return n > 0 && (size_t)n < cap ? CUBED_OK
                                    : cb_fail(err, CUBED_E_ARG, "codec bitround: no room");
}

static size_t bound(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    return raw_size ? raw_size : 1;
}

static cubed_codec_need need(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                             size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){0, 0};
}

static cubed_status decode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    (void)conf;
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    if (src_size > dst_cap)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes, expected at most %zu", src_size, dst_cap);
    memcpy(dst, src, src_size);
    *got = src_size;
    return CUBED_OK;
}

static uint64_t load(const unsigned char *p, size_t size, bool big)
{
    uint64_t v = 0;
    for (size_t k = 0; k < size; k++) v = v << 8 | p[big ? k : size - 1 - k];
    return v;
}

static cubed_status encode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    const bool big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != ctx->swapped;
    size_t size = ctx->item_size;
    int drop = mantissa_bits(size) - (int)conf->i[0];
    (void)scratch;
    (void)scratch_size;
    CB_CHECK(src_size <= dst_cap && src_size % size == 0, err);
    *got = src_size;
    if (drop == 0) {
        memcpy(dst, src, src_size);
        return CUBED_OK;
    }
    /* What is not finite stays: numcodecs may make -0 of NaN, by a carry through the exponent. */
    uint64_t exponent = size == 2   ? (uint64_t)0x1f << 10
                        : size == 4 ? (uint64_t)0xff << 23
                                    : (uint64_t)0x7ff << 52;
    for (size_t i = 0; i < src_size; i += size) {
        unsigned char *to = (unsigned char *)dst + i;
        uint64_t v = load((const unsigned char *)src + i, size, big);
        if ((v & exponent) != exponent) {
            v += (v >> drop & 1) + ((uint64_t)1 << (drop - 1)) - 1;
            v &= ~(uint64_t)0 << drop;
        }
        for (size_t k = 0; k < size; k++)
            to[big ? size - 1 - k : k] = (unsigned char)(v >> (8 * k));
    }
    return CUBED_OK;
}

const cubed_codec_vtable cb_codec_bitround = {
    .kind = CUBED_CODEC_ARRAY_TO_ARRAY,
    .name = "numcodecs.bitround",
    .name_v2 = "bitround",
    .parse = parse,
    .print = print,
    .bound = bound,
    .decode_need = need,
    .encode_need = need,
    .decode = decode,
    .encode = encode,
};
