/* numcodecs' "packbits": eight booleans per byte, the first in the highest bit. The first byte is the number of unused bits in
 * the last byte. */
#include <string.h>

#include "codec/codec_pkg.h"

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx, void *conf,
                          cubed_error *err)
{
    (void)json;
    (void)format;
    (void)conf;
    if (ctx->dtype == CUBED_BOOL) return CUBED_OK;
    return cb_fail(err, CUBED_E_FORMAT, "codec packbits: the elements are %s, expected bool",
                   cubed_dtype_name(ctx->dtype));
}

static size_t packed(size_t n) { return 1 + n / 8 + (n % 8 != 0); }

static size_t bound(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    return packed(raw_size);
}

static void output(const void *conf, cubed_codec_ctx *ctx, int64_t *shape)
{
    size_t n = 1;
    (void)conf;
    for (int d = 0; d < ctx->ndim; d++) n *= (size_t)shape[d];
    memset(shape, 0, (size_t)ctx->ndim * sizeof *shape);
    shape[0] = (int64_t)packed(n);
    ctx->ndim = 1;
    ctx->dtype = CUBED_UINT8;
}

static cubed_status decode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const unsigned char *from = call->src;
    unsigned char *to = call->dst;
    if (call->src_size < 1 || from[0] > 7 || (from[0] > 0 && call->src_size < 2) ||
        (call->src_size - 1) > (call->dst_cap + 7) / 8 ||
        (call->src_size - 1) * 8 - from[0] > call->dst_cap)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes are not %zu packed bits", call->src_size,
                       call->dst_cap);
    const size_t n = (call->src_size - 1) * 8 - from[0];
    for (size_t i = 0; i < n; i++) to[i] = from[1 + i / 8] >> (7 - i % 8) & 1;
    *got = n;
    return CUBED_OK;
}

static cubed_status encode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const unsigned char *from = call->src;
    unsigned char *to = call->dst;
    const size_t n = call->src_size;
    *got = packed(n);
    CB_CHECK(*got <= call->dst_cap, err);
    memset(to, 0, *got);
    to[0] = (unsigned char)(n % 8 ? 8 - n % 8 : 0);
    for (size_t i = 0; i < n; i++) to[1 + i / 8] |= (unsigned char)((from[i] != 0) << (7 - i % 8));
    return CUBED_OK;
}

const cubed_codec_vtable cb_codec_packbits = {
    .kind = CUBED_CODEC_ARRAY_TO_ARRAY,
    .name = "numcodecs.packbits",
    .name_v2 = "packbits",
    .parse = parse,
    .print = cb_codec_print_nothing,
    .bound = bound,
    .decode_need = cb_codec_needs_nothing,
    .encode_need = cb_codec_needs_nothing,
    .decode = decode,
    .encode = encode,
    .output = output,
};
