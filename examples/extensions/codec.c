/* A codec of one's own, "example.runs": equal units of bytes are stored once, behind how often they come. complete.c stores
 * arrays in both formats with it.
 *
 * cubed/sys/codec.h says what the functions promise. What is encoded is untrusted: nothing is believed of it before it
 * has been looked at. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "complete.h"

enum { MOST = 255 }; /* units of a run: how many is one byte */

static const char name[] = "example.runs";

/* {"unit": 8}: bytes of a unit, which are those of an element if nobody says. */
static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx,
                          cubed_codec_conf *conf, cubed_error *err)
{
    const char *at = strstr(json, "\"unit\"");
    (void)format;
    memset(conf, 0, sizeof *conf);
    if (at) at = strchr(at, ':');
    conf->i[0] = at ? strtoll(at + 1, NULL, 10) : (int64_t)ctx->item_size;
    if (conf->i[0] < 1 || conf->i[0] > MOST)
        return fail(err, CUBED_E_FORMAT, name, "\"unit\" is none of 1 to 255");
    return CUBED_OK;
}

static cubed_status print(const cubed_codec_conf *conf, int format, const cubed_codec_ctx *ctx,
                          char *json, size_t cap, cubed_error *err)
{
    (void)format;
    (void)ctx;
    const int n = snprintf(json, cap, "{\"unit\": %" PRId64 "}", conf->i[0]);
    return n > 0 && (size_t)n < cap ? CUBED_OK : fail(err, CUBED_E_ARG, name, "no room");
}

/* At worst no two units are equal, and the last one is not whole: it is stored as it is. */
static size_t bound(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    const size_t units = raw_size / (size_t)conf->i[0];
    (void)ctx;
    return raw_size > SIZE_MAX - units - 1 ? 0 : raw_size + units + 1; /* 0: too many */
}

static cubed_codec_need nothing(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){0, 0};
}

static cubed_status encode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    const size_t unit = (size_t)conf->i[0], rest = src_size % unit;
    const unsigned char *from = src, *end = from + (src_size - rest);
    unsigned char *to = dst;
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    if (dst_cap < src_size + src_size / unit) return fail(err, CUBED_E_ARG, name, "no room");
    while (from < end) {
        const unsigned char *next = from + unit;
        int n = 1;
        for (; n < MOST && next < end && memcmp(from, next, unit) == 0; n++) next += unit;
        *to++ = (unsigned char)n;
        memcpy(to, from, unit);
        to += unit;
        from = next;
    }
    memcpy(to, end, rest);
    *got = (size_t)(to - (unsigned char *)dst) + rest;
    return CUBED_OK;
}

static cubed_status decode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    const size_t unit = (size_t)conf->i[0], rest = src_size % (unit + 1);
    const unsigned char *from = src, *end = from + (src_size - rest);
    unsigned char *to = dst;
    size_t left = dst_cap;
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    for (; from < end; from += 1 + unit) {
        if (*from > left / unit) return fail(err, CUBED_E_FORMAT, name, "runs are too long");
        left -= *from * unit;
        for (int n = *from; n > 0; n--, to += unit) memcpy(to, from + 1, unit);
    }
    if (rest > left) return fail(err, CUBED_E_FORMAT, name, "there are too many bytes");
    memcpy(to, end, rest);
    *got = dst_cap - left + rest;
    return CUBED_OK;
}

const cubed_codec_vtable runs_codec = {
    .struct_size = sizeof(cubed_codec_vtable),
    .version = CUBED_CODEC_VERSION,
    .kind = CUBED_CODEC_BYTES_TO_BYTES,
    .name = name,
    .name_v2 = "runs",
    .parse = parse,
    .print = print,
    .bound = bound,
    .decode_need = nothing,
    .encode_need = nothing,
    .decode = decode,
    .encode = encode,
};
