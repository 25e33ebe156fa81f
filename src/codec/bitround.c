/* numcodecs' "bitround": floats with the last bits of their mantissas rounded to zero, half to even
 * (Kloewer et al., "Compressing atmospheric data into its real information content", 2021). Decoding
 * changes nothing. conf: i[0] bits of the mantissa that are kept. */
#include <string.h>

#include "codec/codec_pkg.h"

static int mantissa_bits(cubed_dtype dtype)
{
    switch (dtype) {
    case CUBED_FLOAT16: return 10;
    case CUBED_BFLOAT16: return 7;
    case CUBED_FLOAT32: return 23;
    default: return 52;
    }
}

static int exponent_bits(cubed_dtype dtype)
{
    return dtype == CUBED_FLOAT16 ? 5 : dtype == CUBED_FLOAT64 ? 11 : 8;
}

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx,
                          cubed_codec_conf *conf, cubed_error *err)
{
    int most = mantissa_bits(ctx->dtype);
    (void)format;
    if (cubed_dtype_kind(ctx->dtype) != CUBED_KIND_FLOAT)
        return cb_fail(err, CUBED_E_FORMAT, "codec bitround: the elements are no floats");
    CB_TRY(cb_conf_parse_int(json, "bitround", "keepbits", -1, 0, most, conf, err));
    if (conf->i[0] >= 0) return CUBED_OK;
    return cb_fail(err, CUBED_E_FORMAT, "codec bitround: \"keepbits\" is missing, expected 0 to %d",
                   most);
}

static cubed_status print(const cubed_codec_conf *conf, int format, const cubed_codec_ctx *ctx,
                          char *json, size_t cap, cubed_error *err)
{
    (void)format;
    (void)ctx;
    return cb_conf_print_int(conf, "bitround", "keepbits", json, cap, err);
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
    int mantissa = mantissa_bits(ctx->dtype), drop = mantissa - (int)conf->i[0];
    (void)scratch;
    (void)scratch_size;
    CB_CHECK(src_size <= dst_cap && src_size % size == 0, err);
    *got = src_size;
    if (drop == 0) {
        memcpy(dst, src, src_size);
        return CUBED_OK;
    }
    /* What is not finite stays: numcodecs may make -0 of NaN, by a carry through the exponent. */
    uint64_t exponent = (((uint64_t)1 << exponent_bits(ctx->dtype)) - 1) << mantissa;
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
    .bound = cb_codec_same_bound,
    .decode_need = cb_codec_needs_nothing,
    .encode_need = cb_codec_needs_nothing,
    .decode = decode,
    .encode = encode,
};
