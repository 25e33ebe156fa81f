/* "bytes": byte order. conf.i[0]: 1 if the bytes are stored in the other order than this machine's;
 * i[1]: 0 little, 1 big, 2 not said. */
#include <stdio.h>
#include <string.h>

#include "codec/codec_pkg.h"

enum { NATIVE_BIG = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx,
                          cubed_codec_conf *conf, cubed_error *err)
{
    json_t *doc = NULL;
    (void)format;
    memset(conf, 0, sizeof *conf);
    CB_TRY(cb_json_parse("codec bytes", json, strlen(json), &doc, err));
    const json_t *v = json_object_get(doc, "endian");
    const char *order = json_string_value(v);
    cubed_status st = CUBED_OK;
    if (!v || json_is_null(v)) {
        conf->i[1] = 2;
        if (ctx->unit_size > 1)
            st = cb_fail(err, CUBED_E_FORMAT,
                         "codec bytes: \"endian\" is missing, expected \"little\" or \"big\"");
    } else if (order && (strcmp(order, "little") == 0 || strcmp(order, "big") == 0)) {
        conf->i[1] = strcmp(order, "big") == 0;
        conf->i[0] = ctx->unit_size > 1 && conf->i[1] != NATIVE_BIG;
    } else {
        st = cb_fail(err, CUBED_E_FORMAT, "codec bytes: \"endian\" is not \"little\" or \"big\"");
    }
    json_decref(doc);
    return st;
}

static cubed_status print(const cubed_codec_conf *conf, int format, const cubed_codec_ctx *ctx,
                          char *json, size_t cap, cubed_error *err)
{
    (void)format;
    if (cap < 32) return cb_fail(err, CUBED_E_ARG, "codec bytes: no room");
    if (conf->i[1] == 2 || ctx->unit_size == 1)
        snprintf(json, cap, "{}");
    else
        snprintf(json, cap, "{\"endian\": \"%s\"}", conf->i[1] ? "big" : "little");
    return CUBED_OK;
}

/* Both ways are the same. */
static cubed_status swap(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx, const void *src,
                         size_t src_size, void *dst, size_t dst_cap, size_t *got, void *scratch,
                         size_t scratch_size, cubed_error *err)
{
    (void)conf;
    (void)scratch;
    (void)scratch_size;
    size_t u = ctx->unit_size, n = src_size / u;
    if (src_size > dst_cap || src_size % u)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes, expected %zu", src_size, dst_cap);
    const unsigned char *s = src;
    unsigned char *d = dst;
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
    *got = src_size;
    return CUBED_OK;
}

static bool is_identity(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx)
{
    (void)ctx;
    return conf->i[0] == 0;
}

static void output(const cubed_codec_conf *conf, cubed_codec_ctx *ctx,
                   int64_t *shape) /* NOLINT(readability-non-const-parameter): others change it */
{
    (void)shape;
    ctx->swapped = conf->i[0];
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
