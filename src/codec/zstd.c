/* "zstd". conf: i[0] level, i[1] checksum. Contexts live in the scratch: the library allocates
 * nothing. */
#include <stdio.h>
#include <string.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "codec/codec_pkg.h"

static cubed_status read_conf(const json_t *doc, int format, const cubed_codec_ctx *ctx,
                              cubed_codec_conf *conf, cubed_error *err)
{
    (void)format;
    (void)ctx;
    CB_TRY(
        cb_conf_int(doc, "zstd", "level", 0, ZSTD_minCLevel(), ZSTD_maxCLevel(), &conf->i[0], err));
    return cb_conf_int(doc, "zstd", "checksum", 0, 0, 1, &conf->i[1], err);
}

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx,
                          cubed_codec_conf *conf, cubed_error *err)
{
    return cb_conf_parse(json, "zstd", format, ctx, read_conf, conf, err);
}

static cubed_status print(const cubed_codec_conf *conf, int format, const cubed_codec_ctx *ctx,
                          char *json, size_t cap, cubed_error *err)
{
    (void)ctx;
    int n = format == 2 ? snprintf(json, cap, "{\"level\": %d}", (int)conf->i[0])
                        : snprintf(json, cap, "{\"level\": %d, \"checksum\": %s}", (int)conf->i[0],
                                   conf->i[1] ? "true" : "false");
    return n > 0 && (size_t)n < cap ? CUBED_OK : cb_fail(err, CUBED_E_ARG, "codec zstd: no room");
}

static size_t bound(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    size_t n = ZSTD_compressBound(raw_size);
    return ZSTD_isError(n) ? 0 : n;
}

static cubed_codec_need decode_need(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                    size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){ZSTD_estimateDCtxSize(), 0};
}

size_t cb_zstd_encode_memory(int level, size_t most)
{
    /* The library has a table of parameters for each of these ranges of sizes, and a shorter input
     * of another range may take more. */
    const size_t ranges[] = {(size_t)16 << 10, (size_t)128 << 10, (size_t)256 << 10, SIZE_MAX};
    size_t need = 0;
    for (int k = 0; k < 4; k++) {
        size_t size = cb_max_size(cb_min_size(most, ranges[k]), 1);
        ZSTD_compressionParameters p = ZSTD_getCParams(level, size, 0);
        need = cb_max_size(need, ZSTD_estimateCCtxSize_usingCParams(p));
    }
    return need;
}

/* Of a context for one block of known size; the margin is for what the library adds when it is
 * told parameters one by one. */
static cubed_codec_need encode_need(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                    size_t raw_size)
{
    (void)ctx;
    size_t need = cb_zstd_encode_memory((int)conf->i[0], raw_size);
    return (cubed_codec_need){cb_sat_add(need, (size_t)16 << 10), 0};
}

static cubed_status decode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    (void)conf;
    (void)ctx;
    ZSTD_DCtx *d = ZSTD_initStaticDCtx(scratch, scratch_size);
    CB_CHECK(d != NULL, err);
    size_t n = ZSTD_decompressDCtx(d, dst, dst_cap, src, src_size);
    if (ZSTD_isError(n))
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes: %s", src_size, ZSTD_getErrorName(n));
    *got = n;
    return CUBED_OK;
}

static cubed_status encode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    (void)ctx;
    ZSTD_CCtx *c = ZSTD_initStaticCCtx(scratch, scratch_size);
    CB_CHECK(c != NULL, err);
    size_t n = ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, (int)conf->i[0]);
    if (!ZSTD_isError(n)) n = ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, (int)conf->i[1]);
    /* A static context starts without it, and numcodecs reads no frame that lacks its size. */
    if (!ZSTD_isError(n)) n = ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, 1);
    if (!ZSTD_isError(n)) n = ZSTD_compress2(c, dst, dst_cap, src, src_size);
    if (ZSTD_isError(n))
        return cb_fail(err, CUBED_E_INTERNAL, "cannot compress: %s", ZSTD_getErrorName(n));
    *got = n;
    return CUBED_OK;
}

const cubed_codec_vtable cb_codec_zstd = {
    .name = "zstd",
    .name_v2 = "zstd",
    .parse = parse,
    .print = print,
    .bound = bound,
    .decode_need = decode_need,
    .encode_need = encode_need,
    .decode = decode,
    .encode = encode,
};
