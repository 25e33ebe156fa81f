/* numcodecs' "lzma": streams in xz or the older format "alone". All allocations of the library are in the scratch memory. */
#include <lzma.h>
#include <stdio.h>
#include <string.h>

#include "codec/codec_pkg.h"

enum { XZ = 1, ALONE = 2 };

typedef struct lzma_conf {
    int64_t format; /* container format: XZ or ALONE */
    int64_t check;  /* -1: the library's default */
    int64_t preset; /* may include the flag for "extreme"; -1: default, 6 */
} lzma_conf;
CUBED_CODEC_CONF_FITS(lzma_conf);

/* Margin for the library's small allocations, which its estimates of tables and dictionary do not include. */
#define SLACK ((size_t)256 << 10)

static uint32_t preset_of(const lzma_conf *conf)
{
    return conf->preset < 0 ? LZMA_PRESET_DEFAULT : (uint32_t)conf->preset;
}

/* Accepts null, which numcodecs writes for a parameter that was not given. */
static cubed_status get_int(const json_t *doc, const cb_conf_key *key, int64_t *out,
                            cubed_error *err)
{
    *out = key->missing;
    if (json_is_null(json_object_get(doc, key->key))) return CUBED_OK;
    return cb_conf_int(doc, key, out, err);
}

static cubed_status read_conf(const json_t *doc, int format, const cubed_codec_ctx *ctx, void *conf,
                              cubed_error *err)
{
    static const cb_conf_key stream = {"lzma", "format", XZ, 0, 3};
    static const cb_conf_key check = {"lzma", "check", -1, -1, LZMA_CHECK_ID_MAX};
    static const cb_conf_key preset = {"lzma", "preset", -1, -1, UINT32_MAX};
    lzma_conf *c = conf;
    const json_t *filters = json_object_get(doc, "filters");
    lzma_options_lzma options;
    (void)format;
    (void)ctx;
    CB_TRY(get_int(doc, &stream, &c->format, err));
    CB_TRY(get_int(doc, &check, &c->check, err));
    CB_TRY(get_int(doc, &preset, &c->preset, err));
    if ((filters && !json_is_null(filters)) || (c->format != XZ && c->format != ALONE))
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "codec lzma: filters, and raw streams, are not supported");
    if (c->check >= 0 && !lzma_check_is_supported((lzma_check)c->check))
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "codec lzma: check %d is not supported by this liblzma", (int)c->check);
    if (lzma_lzma_preset(&options, preset_of(c)))
        return cb_fail(err, CUBED_E_FORMAT, "codec lzma: unknown \"preset\" %lld",
                       (long long)c->preset);
    return CUBED_OK;
}

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx, void *conf,
                          cubed_error *err)
{
    return cb_conf_parse(json, "lzma", format, ctx, read_conf, conf, err);
}

static cubed_status print(const void *conf, int format, const cubed_codec_ctx *ctx, char *json,
                          size_t cap, cubed_error *err)
{
    const lzma_conf *c = conf;
    char preset[24] = "null";
    (void)format;
    (void)ctx;
    if (c->preset >= 0) snprintf(preset, sizeof preset, "%lld", (long long)c->preset);
    int n =
        snprintf(json, cap, "{\"format\": %d, \"check\": %d, \"preset\": %s, \"filters\": null}",
                 (int)c->format, (int)c->check, preset);
    return n > 0 && (size_t)n < cap
               ? CUBED_OK
               : cb_fail(err, CUBED_E_ARG,
                         "codec lzma: the configuration does not fit into %zu bytes", cap);
}

/* Allows for the range coder's expansion of noise, and for headers of several streams. */
static size_t bound(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    size_t n;
    (void)conf;
    (void)ctx;
    return cb_add_size(raw_size, raw_size / 3 + 1024, &n) ? 0 : n;
}

/* Sets the compression filters. The dictionary need not be longer than the chunk. */
static void make_filters(const lzma_conf *conf, size_t raw_size, lzma_options_lzma *options,
                         lzma_filter filters[2])
{
    (void)lzma_lzma_preset(options, preset_of(conf)); /* cannot fail: parse checked it */
    const size_t least = cb_max_size(raw_size, LZMA_DICT_SIZE_MIN);
    if (options->dict_size > least) options->dict_size = (uint32_t)least;
    filters[0] = (lzma_filter){conf->format == XZ ? LZMA_FILTER_LZMA2 : LZMA_FILTER_LZMA1, options};
    filters[1] = (lzma_filter){LZMA_VLI_UNKNOWN, NULL};
}

static cubed_codec_need encode_need(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    lzma_options_lzma options;
    lzma_filter filters[2];
    (void)ctx;
    make_filters(conf, raw_size, &options, filters);
    return (cubed_codec_need){cb_sat_add((size_t)lzma_raw_encoder_memusage(filters), SLACK), 0};
}

static uint64_t decoder_memory(const lzma_conf *conf)
{
    return lzma_easy_decoder_memusage(preset_of(conf));
}

static cubed_codec_need decode_need(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
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

static cubed_status decode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const lzma_conf *conf = call->conf;
    cb_bump bump = cb_bump_of(call);
    const lzma_allocator memory = {bump_alloc, bump_free, &bump};
    const uint64_t most = decoder_memory(conf);
    lzma_stream z = LZMA_STREAM_INIT;
    z.allocator = &memory;
    lzma_ret rc = conf->format == XZ ? lzma_stream_decoder(&z, most, LZMA_CONCATENATED)
                                     : lzma_alone_decoder(&z, most);
    z.next_in = call->src;
    z.avail_in = call->src_size;
    z.next_out = call->dst;
    z.avail_out = call->dst_cap;
    while (rc == LZMA_OK) rc = lzma_code(&z, LZMA_FINISH);
    *got = call->dst_cap - z.avail_out;
    const size_t left = z.avail_in;
    lzma_end(&z);
    if (rc == LZMA_STREAM_END && left == 0) return CUBED_OK;
    if (rc == LZMA_MEMLIMIT_ERROR || rc == LZMA_MEM_ERROR)
        return cb_fail(err, CUBED_E_FORMAT,
                       "%zu bytes need more memory to decode than preset %d allows", call->src_size,
                       (int)(preset_of(conf) & LZMA_PRESET_LEVEL_MASK));
    return cb_fail(err, CUBED_E_FORMAT,
                   "cannot decompress %zu bytes to at most %zu (liblzma's status %d)",
                   call->src_size, call->dst_cap, (int)rc);
}

static cubed_status encode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const lzma_conf *conf = call->conf;
    cb_bump bump = cb_bump_of(call);
    const lzma_allocator memory = {bump_alloc, bump_free, &bump};
    lzma_options_lzma options;
    lzma_filter filters[2];
    lzma_stream z = LZMA_STREAM_INIT;
    z.allocator = &memory;
    make_filters(conf, call->src_size, &options, filters);
    const lzma_check check = conf->check < 0 ? LZMA_CHECK_CRC64 : (lzma_check)conf->check;
    lzma_ret rc = conf->format == XZ ? lzma_stream_encoder(&z, filters, check)
                                     : lzma_alone_encoder(&z, &options);
    z.next_in = call->src;
    z.avail_in = call->src_size;
    z.next_out = call->dst;
    z.avail_out = call->dst_cap;
    while (rc == LZMA_OK) rc = lzma_code(&z, LZMA_FINISH);
    *got = call->dst_cap - z.avail_out;
    lzma_end(&z);
    if (rc == LZMA_STREAM_END) return CUBED_OK;
    return cb_fail(err, CUBED_E_INTERNAL, "liblzma gives %d", (int)rc);
}

/* In Zarr v3 this codec is an extension with the name from numcodecs. */
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
