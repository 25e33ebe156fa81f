/* numcodecs' "lz4": the decoded size (four bytes, little-endian), then one LZ4 block. */
#include <lz4.h>

#include "codec/codec_pkg.h"

enum { HEADER = 4 };

typedef struct lz4_conf {
    int64_t acceleration;
} lz4_conf;
CUBED_CODEC_CONF_FITS(lz4_conf);

static const cb_conf_key acceleration = {"lz4", "acceleration", 1, INT32_MIN, INT32_MAX};

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx, void *conf,
                          cubed_error *err)
{
    lz4_conf *c = conf;
    (void)format;
    (void)ctx;
    return cb_conf_parse_int(json, &acceleration, &c->acceleration, err);
}

static cubed_status print(const void *conf, int format, const cubed_codec_ctx *ctx, char *json,
                          size_t cap, cubed_error *err)
{
    const lz4_conf *c = conf;
    (void)format;
    (void)ctx;
    return cb_conf_print_int(c->acceleration, &acceleration, json, cap, err);
}

static size_t bound(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    if (raw_size > LZ4_MAX_INPUT_SIZE) return 0;
    return HEADER + (size_t)LZ4_compressBound((int)raw_size);
}

static cubed_codec_need encode_need(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){(size_t)LZ4_sizeofState(), 0};
}

static cubed_status decode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const unsigned char *in = call->src;
    if (call->src_size < HEADER || call->src_size > INT32_MAX)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes, expected %d to %d", call->src_size,
                       (int)HEADER, INT32_MAX);
    uint32_t size =
        (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
    if (size > call->dst_cap || size > LZ4_MAX_INPUT_SIZE)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the size in the header is %u bytes, expected at most %zu", size,
                       cb_min_size(call->dst_cap, LZ4_MAX_INPUT_SIZE));
    int n = LZ4_decompress_safe((const char *)in + HEADER, call->dst,
                                (int)(call->src_size - HEADER), (int)size);
    if (n < 0 || (uint32_t)n != size)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes do not decode to the %u bytes in the header",
                       call->src_size, size);
    *got = size;
    return CUBED_OK;
}

static cubed_status encode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const lz4_conf *c = call->conf;
    unsigned char *out = call->dst;
    CB_CHECK(call->src_size <= LZ4_MAX_INPUT_SIZE && call->dst_cap >= HEADER, err);
    CB_CHECK(call->scratch_size >= (size_t)LZ4_sizeofState(), err);
    int n = LZ4_compress_fast_extState(
        call->scratch, call->src, (char *)out + HEADER, (int)call->src_size,
        (int)cb_min_size(call->dst_cap - HEADER, INT32_MAX), (int)c->acceleration);
    if (n <= 0) return cb_fail(err, CUBED_E_INTERNAL, "cannot compress %zu bytes", call->src_size);
    for (int k = 0; k < HEADER; k++) out[k] = (unsigned char)(call->src_size >> (8 * k));
    *got = HEADER + (size_t)n;
    return CUBED_OK;
}

/* Zarr v3 has this codec as an extension with the name from numcodecs. */
const cubed_codec_vtable cb_codec_lz4 = {
    .name = "numcodecs.lz4",
    .name_v2 = "lz4",
    .parse = parse,
    .print = print,
    .bound = bound,
    .decode_need = cb_codec_needs_nothing,
    .encode_need = encode_need,
    .decode = decode,
    .encode = encode,
};
