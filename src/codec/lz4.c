/* numcodecs' "lz4": the decoded size in four bytes, little-endian, then one LZ4 block. conf: i[0]
 * acceleration. */
#include <lz4.h>

#include "codec/codec_pkg.h"

enum { HEADER = 4 };

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx,
                          cubed_codec_conf *conf, cubed_error *err)
{
    (void)format;
    (void)ctx;
    return cb_conf_parse_int(json, "lz4", "acceleration", 1, INT32_MIN, INT32_MAX, conf, err);
}

static cubed_status print(const cubed_codec_conf *conf, int format, const cubed_codec_ctx *ctx,
                          char *json, size_t cap, cubed_error *err)
{
    (void)format;
    (void)ctx;
    return cb_conf_print_int(conf, "lz4", "acceleration", json, cap, err);
}

static size_t bound(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    if (raw_size > LZ4_MAX_INPUT_SIZE) return 0;
    return HEADER + (size_t)LZ4_compressBound((int)raw_size);
}

static cubed_codec_need encode_need(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                    size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){(size_t)LZ4_sizeofState(), 0};
}

static cubed_status decode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    const unsigned char *in = src;
    (void)conf;
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    if (src_size < HEADER || src_size > INT32_MAX)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes, expected %d to %d", src_size, (int)HEADER,
                       INT32_MAX);
    uint32_t size =
        (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
    if (size > dst_cap || size > LZ4_MAX_INPUT_SIZE)
        return cb_fail(err, CUBED_E_FORMAT, "the header states %u bytes, expected at most %zu",
                       size, cb_min_size(dst_cap, LZ4_MAX_INPUT_SIZE));
    int n =
        LZ4_decompress_safe((const char *)in + HEADER, dst, (int)(src_size - HEADER), (int)size);
    if (n < 0 || (uint32_t)n != size)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes do not decode to the %u that are stated",
                       src_size, size);
    *got = size;
    return CUBED_OK;
}

static cubed_status encode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    unsigned char *out = dst;
    (void)ctx;
    CB_CHECK(src_size <= LZ4_MAX_INPUT_SIZE && dst_cap >= HEADER, err);
    CB_CHECK(scratch_size >= (size_t)LZ4_sizeofState(), err);
    int n =
        LZ4_compress_fast_extState(scratch, src, (char *)out + HEADER, (int)src_size,
                                   (int)cb_min_size(dst_cap - HEADER, INT32_MAX), (int)conf->i[0]);
    if (n <= 0) return cb_fail(err, CUBED_E_INTERNAL, "cannot compress %zu bytes", src_size);
    for (int k = 0; k < HEADER; k++) out[k] = (unsigned char)(src_size >> (8 * k));
    *got = HEADER + (size_t)n;
    return CUBED_OK;
}

/* Zarr v3 knows it as an extension under numcodecs' name. */
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
