/* numcodecs' "lzma": streams of xz, or of the older format "alone". conf: i[0] format (1 or 2), i[1] check (-1: the
 * library's choice), i[2] preset (-1: none, which is 6), with the flag for "extreme". What the library allocates lies in
 * the scratch. */
#include <lzma.h>
#include <stdio.h>
#include <string.h>

#include "codec/codec_pkg.h"

enum { XZ = 1, ALONE = 2 };

/* Its own allocations beside tables and dictionary, which its estimates count, are a few and small. */
#define SLACK ((size_t)256 << 10)

static uint32_t preset_of(const cubed_codec_conf *conf)
{
    return conf->i[2] < 0 ? LZMA_PRESET_DEFAULT : (uint32_t)conf->i[2];
}

/* null is what numcodecs writes where nothing was said. */
static cubed_status get_int(const json_t *doc, const char *key, int64_t missing, int64_t lo,
                            int64_t hi, int64_t *out, cubed_error *err)
{
    *out = missing;
    if (json_is_null(json_object_get(doc, key))) return CUBED_OK;
    return cb_conf_int(doc, "lzma", key, missing, lo, hi, out, err);
}

static cubed_status read_conf(const json_t *doc, int format, const cubed_codec_ctx *ctx,
                              cubed_codec_conf *conf, cubed_error *err)
{
    const json_t *filters = json_object_get(doc, "filters");
    lzma_options_lzma options;
    (void)format;
    (void)ctx;
    CB_TRY(get_int(doc, "format", XZ, 0, 3, &conf->i[0], err));
    CB_TRY(get_int(doc, "check", -1, -1, LZMA_CHECK_ID_MAX, &conf->i[1], err));
    CB_TRY(get_int(doc, "preset", -1, -1, UINT32_MAX, &conf->i[2], err));
    if ((filters && !json_is_null(filters)) || (conf->i[0] != XZ && conf->i[0] != ALONE))
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "codec lzma: filters, and raw streams, are not supported");
    if (conf->i[1] >= 0 && !lzma_check_is_supported((lzma_check)conf->i[1]))
        return cb_fail(err, CUBED_E_UNSUPPORTED, "codec lzma: this library does not have check %d",
                       (int)conf->i[1]);
    if (lzma_lzma_preset(&options, preset_of(conf)))
        return cb_fail(err, CUBED_E_FORMAT, "codec lzma: \"preset\" %lld is none",
                       (long long)conf->i[2]);
    return CUBED_OK;
}

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx,
                          cubed_codec_conf *conf, cubed_error *err)
{
    return cb_conf_parse(json, "lzma", format, ctx, read_conf, conf, err);
}

static cubed_status print(const cubed_codec_conf *conf, int format, const cubed_codec_ctx *ctx,
                          char *json, size_t cap, cubed_error *err)
{
    char preset[24] = "null";
    (void)format;
    (void)ctx;
    if (conf->i[2] >= 0) snprintf(preset, sizeof preset, "%lld", (long long)conf->i[2]);
    int n =
        snprintf(json, cap, "{\"format\": %d, \"check\": %d, \"preset\": %s, \"filters\": null}",
                 (int)conf->i[0], (int)conf->i[1], preset);
    return n > 0 && (size_t)n < cap ? CUBED_OK : cb_fail(err, CUBED_E_ARG, "codec lzma: no room");
}

/* What the range coder may make of noise, and headers of several streams. */
static size_t bound(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    size_t n;
    (void)conf;
    (void)ctx;
    return cb_add_size(raw_size, raw_size / 3 + 1024, &n) ? 0 : n;
}

/* How a chunk is compressed: no dictionary need be longer than it. */
static void make_filters(const cubed_codec_conf *conf, size_t raw_size, lzma_options_lzma *options,
                         lzma_filter filters[2])
{
    (void)lzma_lzma_preset(options, preset_of(conf)); /* parse has looked */
    const size_t least = cb_max_size(raw_size, LZMA_DICT_SIZE_MIN);
    if (options->dict_size > least) options->dict_size = (uint32_t)least;
    filters[0] = (lzma_filter){conf->i[0] == XZ ? LZMA_FILTER_LZMA2 : LZMA_FILTER_LZMA1, options};
    filters[1] = (lzma_filter){LZMA_VLI_UNKNOWN, NULL};
}

static cubed_codec_need encode_need(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                    size_t raw_size)
{
    lzma_options_lzma options;
    lzma_filter filters[2];
    (void)ctx;
    make_filters(conf, raw_size, &options, filters);
    return (cubed_codec_need){cb_sat_add((size_t)lzma_raw_encoder_memusage(filters), SLACK), 0};
}

static uint64_t decoder_memory(const cubed_codec_conf *conf)
{
    return lzma_easy_decoder_memusage(preset_of(conf));
}

static cubed_codec_need decode_need(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                    size_t raw_size)
{
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){cb_sat_add((size_t)decoder_memory(conf), SLACK), 0};
}

static void *bump_alloc(void *opaque, size_t items, size_t size)
{
    size_t n;
    return cb_mul_size(items, size, &n) ? NULL : cb_bump_alloc(opaque, n);
}

static void bump_free(void *opaque, void *p)
{
    (void)opaque;
    (void)p;
}

static cubed_status decode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    cb_bump bump = {scratch, (char *)scratch + scratch_size};
    const lzma_allocator memory = {bump_alloc, bump_free, &bump};
    const uint64_t most = decoder_memory(conf);
    lzma_stream z = LZMA_STREAM_INIT;
    (void)ctx;
    z.allocator = &memory;
    lzma_ret rc = conf->i[0] == XZ ? lzma_stream_decoder(&z, most, LZMA_CONCATENATED)
                                   : lzma_alone_decoder(&z, most);
    z.next_in = src;
    z.avail_in = src_size;
    z.next_out = dst;
    z.avail_out = dst_cap;
    while (rc == LZMA_OK) rc = lzma_code(&z, LZMA_FINISH);
    *got = dst_cap - z.avail_out;
    const size_t left = z.avail_in;
    lzma_end(&z);
    if (rc == LZMA_STREAM_END && left == 0) return CUBED_OK;
    if (rc == LZMA_MEMLIMIT_ERROR || rc == LZMA_MEM_ERROR)
        return cb_fail(err, CUBED_E_FORMAT,
                       "%zu bytes take more memory to decode than those of preset %d", src_size,
                       (int)(preset_of(conf) & LZMA_PRESET_LEVEL_MASK));
    return cb_fail(err, CUBED_E_FORMAT,
                   "%zu bytes do not decompress to at most %zu (liblzma's status %d)", src_size,
                   dst_cap, (int)rc);
}

static cubed_status encode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    cb_bump bump = {scratch, (char *)scratch + scratch_size};
    const lzma_allocator memory = {bump_alloc, bump_free, &bump};
    lzma_options_lzma options;
    lzma_filter filters[2];
    lzma_stream z = LZMA_STREAM_INIT;
    (void)ctx;
    z.allocator = &memory;
    make_filters(conf, src_size, &options, filters);
    const lzma_check check = conf->i[1] < 0 ? LZMA_CHECK_CRC64 : (lzma_check)conf->i[1];
    lzma_ret rc = conf->i[0] == XZ ? lzma_stream_encoder(&z, filters, check)
                                   : lzma_alone_encoder(&z, &options);
    z.next_in = src;
    z.avail_in = src_size;
    z.next_out = dst;
    z.avail_out = dst_cap;
    while (rc == LZMA_OK) rc = lzma_code(&z, LZMA_FINISH);
    *got = dst_cap - z.avail_out;
    lzma_end(&z);
    if (rc == LZMA_STREAM_END) return CUBED_OK;
    return cb_fail(err, CUBED_E_INTERNAL, "liblzma gives %d", (int)rc);
}

/* Zarr v3 knows it as an extension under numcodecs' name. */
const cubed_codec_vtable cb_codec_lzma = {
    .name = "numcodecs.lzma",
    .name_v2 = "lzma",
    .parse = parse,
    .print = print,
    .bound = bound,
    .decode_need = decode_need,
    .encode_need = encode_need,
    .decode = decode,
    .encode = encode,
};
