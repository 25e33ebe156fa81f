/* A user-defined codec, "example.runs". It encodes consecutive equal units of bytes as the number of units, followed by the unit.
 * complete.c stores arrays in both formats of Zarr with this codec.
 *
 * cubed/sys/codec.h describes the functions of a codec. Encoded bytes are untrusted, so each value is checked before it is
 * used. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "complete.h"

/* Maximum number of equal units that are encoded together, because the number is stored in one byte. */
enum { MOST = 255 };

static const char name[] = "example.runs";

/* The configuration in the metadata, for example {"unit": 8}. */
typedef struct runs_conf {
    int64_t unit; /* size of a unit in bytes; by default the size of an element */
} runs_conf;
CUBED_CODEC_CONF_FITS(runs_conf);

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx, void *conf,
                          cubed_error *err)
{
    const char *at = strstr(json, "\"unit\"");
    runs_conf *c = conf;
    (void)format;
    if (at) at = strchr(at, ':');
    c->unit = at ? strtoll(at + 1, NULL, 10) : (int64_t)ctx->item_size;
    if (c->unit < 1 || c->unit > MOST)
        return fail(err, CUBED_E_FORMAT, name, "\"unit\" is none of 1 to 255");
    return CUBED_OK;
}

static cubed_status print(const void *conf, int format, const cubed_codec_ctx *ctx, char *json,
                          size_t cap, cubed_error *err)
{
    const runs_conf *c = conf;
    (void)format;
    (void)ctx;
    const int n = snprintf(json, cap, "{\"unit\": %" PRId64 "}", c->unit);
    return n > 0 && (size_t)n < cap ? CUBED_OK : fail(err, CUBED_E_ARG, name, "no room");
}

/* Returns the maximum size of encoded bytes. It is reached if no two consecutive units are equal. An incomplete unit at the end
 * is stored unchanged. */
static size_t bound(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    const runs_conf *c = conf;
    const size_t units = raw_size / (size_t)c->unit;
    (void)ctx;
    return raw_size > SIZE_MAX - units - 1 ? 0 : raw_size + units + 1; /* 0: too large */
}

static cubed_codec_need nothing(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){0, 0};
}

static cubed_status encode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const runs_conf *c = call->conf;
    const size_t unit = (size_t)c->unit, rest = call->src_size % unit;
    const unsigned char *from = call->src, *end = from + (call->src_size - rest);
    unsigned char *to = call->dst;
    if (call->dst_cap < call->src_size + call->src_size / unit)
        return fail(err, CUBED_E_ARG, name, "no room");
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
    *got = (size_t)(to - (unsigned char *)call->dst) + rest;
    return CUBED_OK;
}

static cubed_status decode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const runs_conf *c = call->conf;
    const size_t unit = (size_t)c->unit, rest = call->src_size % (unit + 1);
    const unsigned char *from = call->src, *end = from + (call->src_size - rest);
    unsigned char *to = call->dst;
    size_t left = call->dst_cap;
    for (; from < end; from += 1 + unit) {
        if (*from > left / unit) return fail(err, CUBED_E_FORMAT, name, "runs are too long");
        left -= *from * unit;
        for (int n = *from; n > 0; n--, to += unit) memcpy(to, from + 1, unit);
    }
    if (rest > left) return fail(err, CUBED_E_FORMAT, name, "there are too many bytes");
    memcpy(to, end, rest);
    *got = call->dst_cap - left + rest;
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
