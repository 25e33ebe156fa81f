/* numcodecs' "bitround": floats whose mantissas are rounded to fewer bits, ties to even (Kloewer et al., "Compressing atmospheric
 * data into its real information content", 2021). Decoding changes nothing. */
#include <string.h>

#include "codec/codec_pkg.h"

typedef struct bitround_conf {
    int64_t keepbits; /* number of mantissa bits to keep */
} bitround_conf;
CUBED_CODEC_CONF_FITS(bitround_conf);

static const cb_conf_key keepbits = {"bitround", "keepbits", -1, 0, 52};

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

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx, void *conf,
                          cubed_error *err)
{
    bitround_conf *c = conf;
    cb_conf_key key = keepbits;
    (void)format;
    if (cubed_dtype_kind(ctx->dtype) != CUBED_KIND_FLOAT)
        return cb_fail(err, CUBED_E_FORMAT, "codec bitround: the elements are not floats");
    key.hi = mantissa_bits(ctx->dtype);
    CB_TRY(cb_conf_parse_int(json, &key, &c->keepbits, err));
    if (c->keepbits >= 0) return CUBED_OK;
    return cb_fail(err, CUBED_E_FORMAT, "codec bitround: \"keepbits\" is missing, expected 0 to %d",
                   (int)key.hi);
}

static cubed_status print(const void *conf, int format, const cubed_codec_ctx *ctx, char *json,
                          size_t cap, cubed_error *err)
{
    const bitround_conf *c = conf;
    (void)format;
    (void)ctx;
    return cb_conf_print_int(c->keepbits, &keepbits, json, cap, err);
}

static cubed_status decode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    if (call->src_size > call->dst_cap)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes, expected at most %zu", call->src_size,
                       call->dst_cap);
    memcpy(call->dst, call->src, call->src_size);
    *got = call->src_size;
    return CUBED_OK;
}

static uint64_t load(const unsigned char *p, size_t size, bool big)
{
    uint64_t v = 0;
    for (size_t k = 0; k < size; k++) v = v << 8 | p[big ? k : size - 1 - k];
    return v;
}

static cubed_status encode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const bitround_conf *c = call->conf;
    const cubed_codec_ctx *ctx = call->ctx;
    const bool big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != ctx->swapped;
    const unsigned char *src = call->src;
    unsigned char *dst = call->dst;
    const size_t size = ctx->item_size, src_size = call->src_size;
    int mantissa = mantissa_bits(ctx->dtype), drop = mantissa - (int)c->keepbits;
    CB_CHECK(src_size <= call->dst_cap && src_size % size == 0, err);
    *got = src_size;
    if (drop == 0) {
        memcpy(dst, src, src_size);
        return CUBED_OK;
    }
    /* Keep infinities and NaN: numcodecs may turn NaN into -0, by a carry through the exponent. */
    uint64_t exponent = (((uint64_t)1 << exponent_bits(ctx->dtype)) - 1) << mantissa;
    for (size_t i = 0; i < src_size; i += size) {
        unsigned char *to = dst + i;
        uint64_t v = load(src + i, size, big);
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
