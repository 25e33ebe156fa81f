/* numcodecs' "shuffle": the first bytes of all elements, then the second bytes, and so on. */

#include "codec/codec_pkg.h"

CUBED_CODEC_CONF_FITS(cb_shuffle_conf);

static const cb_conf_key elementsize = {"shuffle", "elementsize", 4, 1, INT32_MAX};

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx, void *conf,
                          cubed_error *err)
{
    cb_shuffle_conf *c = conf;
    (void)format;
    (void)ctx;
    return cb_conf_parse_int(json, &elementsize, &c->elementsize, err);
}

static cubed_status print(const void *conf, int format, const cubed_codec_ctx *ctx, char *json,
                          size_t cap, cubed_error *err)
{
    const cb_shuffle_conf *c = conf;
    (void)format;
    (void)ctx;
    return cb_conf_print_int(c->elementsize, &elementsize, json, cap, err);
}

/* Join and split elements of common sizes. The loops are written out so that compilers vectorise them: two nested loops
 * would cost as much as two thirds of inflating the chunk. */
static void join2(const unsigned char *restrict in, size_t n, unsigned char *restrict out)
{
    const unsigned char *a = in, *b = a + n;
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = a[i];
        out[2 * i + 1] = b[i];
    }
}

static void join4(const unsigned char *restrict in, size_t n, unsigned char *restrict out)
{
    const unsigned char *a = in, *b = a + n, *c = b + n, *d = c + n;
    for (size_t i = 0; i < n; i++) {
        out[4 * i] = a[i];
        out[4 * i + 1] = b[i];
        out[4 * i + 2] = c[i];
        out[4 * i + 3] = d[i];
    }
}

static void join8(const unsigned char *restrict in, size_t n, unsigned char *restrict out)
{
    const unsigned char *a = in, *b = a + n, *c = b + n, *d = c + n, *e = d + n, *f = e + n,
                        *g = f + n, *h = g + n;
    for (size_t i = 0; i < n; i++) {
        out[8 * i] = a[i];
        out[8 * i + 1] = b[i];
        out[8 * i + 2] = c[i];
        out[8 * i + 3] = d[i];
        out[8 * i + 4] = e[i];
        out[8 * i + 5] = f[i];
        out[8 * i + 6] = g[i];
        out[8 * i + 7] = h[i];
    }
}

static void split2(const unsigned char *restrict in, size_t n, unsigned char *restrict out)
{
    unsigned char *a = out, *b = a + n;
    for (size_t i = 0; i < n; i++) {
        a[i] = in[2 * i];
        b[i] = in[2 * i + 1];
    }
}

static void split4(const unsigned char *restrict in, size_t n, unsigned char *restrict out)
{
    unsigned char *a = out, *b = a + n, *c = b + n, *d = c + n;
    for (size_t i = 0; i < n; i++) {
        a[i] = in[4 * i];
        b[i] = in[4 * i + 1];
        c[i] = in[4 * i + 2];
        d[i] = in[4 * i + 3];
    }
}

static void split8(const unsigned char *restrict in, size_t n, unsigned char *restrict out)
{
    unsigned char *a = out, *b = a + n, *c = b + n, *d = c + n, *e = d + n, *f = e + n, *g = f + n,
                  *h = g + n;
    for (size_t i = 0; i < n; i++) {
        a[i] = in[8 * i];
        b[i] = in[8 * i + 1];
        c[i] = in[8 * i + 2];
        d[i] = in[8 * i + 3];
        e[i] = in[8 * i + 4];
        f[i] = in[8 * i + 5];
        g[i] = in[8 * i + 6];
        h[i] = in[8 * i + 7];
    }
}

/* Transposes between rows of elements and rows of byte positions. */
static cubed_status turn(const cubed_codec_call *call, bool back, size_t *got, cubed_error *err)
{
    const cb_shuffle_conf *c = call->conf;
    const unsigned char *in = call->src;
    unsigned char *out = call->dst;
    const size_t size = (size_t)c->elementsize, n = call->src_size / size;
    if (call->src_size > call->dst_cap || call->src_size % size != 0)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes, expected a multiple of %zu up to %zu",
                       call->src_size, size, call->dst_cap);
    switch (size) {
    case 2: back ? join2(in, n, out) : split2(in, n, out); break;
    case 4: back ? join4(in, n, out) : split4(in, n, out); break;
    case 8: back ? join8(in, n, out) : split8(in, n, out); break;
    default:
        /* Work row by row, so that each row is read or written contiguously. */
        for (size_t k = 0; k < size; k++) {
            for (size_t i = 0; i < n; i++) {
                if (back)
                    out[size * i + k] = in[k * n + i];
                else
                    out[k * n + i] = in[size * i + k];
            }
        }
    }
    *got = call->src_size;
    return CUBED_OK;
}

static cubed_status decode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    return turn(call, true, got, err);
}

static cubed_status encode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    return turn(call, false, got, err);
}

static bool is_identity(const void *conf, const cubed_codec_ctx *ctx)
{
    const cb_shuffle_conf *c = conf;
    (void)ctx;
    return c->elementsize == 1;
}

/* In Zarr v3 this codec is an extension with the name from numcodecs. */
const cubed_codec_vtable cb_codec_shuffle = {
    .name = "numcodecs.shuffle",
    .name_v2 = "shuffle",
    .parse = parse,
    .print = print,
    .bound = cb_codec_same_bound,
    .decode_need = cb_codec_needs_nothing,
    .encode_need = cb_codec_needs_nothing,
    .decode = decode,
    .encode = encode,
    .is_identity = is_identity,
};
