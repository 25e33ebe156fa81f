/* Codec "bytes": byte order. */
#include <stdio.h>
#include <string.h>

#include "codec/codec_pkg.h"

typedef struct bytes_conf {
    enum { LITTLE, BIG, NOT_GIVEN } order;
    bool swapped; /* the stored order is not this machine's */
} bytes_conf;
CUBED_CODEC_CONF_FITS(bytes_conf);

enum { NATIVE_BIG = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx, void *conf,
                          cubed_error *err)
{
    bytes_conf *c = conf;
    json_t *doc = NULL;
    (void)format;
    CB_TRY(cb_json_parse("codec bytes", json, strlen(json), &doc, err));
    const json_t *v = json_object_get(doc, "endian");
    const char *order = json_string_value(v);
    cubed_status st = CUBED_OK;
    if (!v || json_is_null(v)) {
        c->order = NOT_GIVEN;
        if (ctx->unit_size > 1)
            st = cb_fail(err, CUBED_E_FORMAT,
                         "codec bytes: \"endian\" is missing, expected \"little\" or \"big\"");
    } else if (order && (strcmp(order, "little") == 0 || strcmp(order, "big") == 0)) {
        c->order = strcmp(order, "big") == 0 ? BIG : LITTLE;
        c->swapped = ctx->unit_size > 1 && (c->order == BIG) != NATIVE_BIG;
    } else {
        st = cb_fail(err, CUBED_E_FORMAT, "codec bytes: \"endian\" is not \"little\" or \"big\"");
    }
    json_decref(doc);
    return st;
}

static cubed_status print(const void *conf, int format, const cubed_codec_ctx *ctx, char *json,
                          size_t cap, cubed_error *err)
{
    const bytes_conf *c = conf;
    (void)format;
    if (cap < 32)
        return cb_fail(err, CUBED_E_ARG,
                       "codec bytes: the configuration does not fit into %zu bytes", cap);
    /* A byte order has no effect on elements of one byte. But readers expect it for records. */
    if (c->order == NOT_GIVEN ||
        (ctx->unit_size == 1 && cubed_dtype_family(ctx->dtype) != CUBED_RECORD))
        snprintf(json, cap, "{}");
    else
        snprintf(json, cap, "{\"endian\": \"%s\"}", c->order == BIG ? "big" : "little");
    return CUBED_OK;
}

/* Encodes and decodes: swapping is its own inverse. */
static cubed_status swap(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    size_t u = call->ctx->unit_size, n = call->src_size / u;
    if (call->src_size > call->dst_cap || call->src_size % u)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes, expected %zu", call->src_size,
                       call->dst_cap);
    const unsigned char *s = call->src;
    unsigned char *d = call->dst;
    for (size_t i = 0; i < n; i++, s += u, d += u) {
        switch (u) {
        case 2: {
            uint16_t v;
            memcpy(&v, s, 2);
            v = __builtin_bswap16(v);
            memcpy(d, &v, 2);
            break;
        }
        case 4: {
            uint32_t v;
            memcpy(&v, s, 4);
            v = __builtin_bswap32(v);
            memcpy(d, &v, 4);
            break;
        }
        default: {
            uint64_t v;
            memcpy(&v, s, 8);
            v = __builtin_bswap64(v);
            memcpy(d, &v, 8);
            break;
        }
        }
    }
    *got = call->src_size;
    return CUBED_OK;
}

static bool is_identity(const void *conf, const cubed_codec_ctx *ctx)
{
    const bytes_conf *c = conf;
    (void)ctx;
    return !c->swapped;
}

static void output(const void *conf, cubed_codec_ctx *ctx,
                   int64_t *shape) /* NOLINT(readability-non-const-parameter): others change it */
{
    const bytes_conf *c = conf;
    (void)shape;
    ctx->swapped = c->swapped;
}

const cubed_codec_vtable cb_codec_bytes = {
    .kind = CUBED_CODEC_ARRAY_TO_BYTES,
    .name = "bytes",
    .parse = parse,
    .print = print,
    .bound = cb_codec_same_bound,
    .decode_need = cb_codec_needs_nothing,
    .encode_need = cb_codec_needs_nothing,
    .decode = swap,
    .encode = swap,
    .is_identity = is_identity,
    .output = output,
};
