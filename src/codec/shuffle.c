/* numcodecs' "shuffle": the first bytes of all elements, then the second bytes, and so on. conf: i[0]
 * bytes of an element, which need not be the array's. */

#include "codec/codec_pkg.h"

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx,
                          cubed_codec_conf *conf, cubed_error *err)
{
    (void)format;
    (void)ctx;
    return cb_conf_parse_int(json, "shuffle", "elementsize", 4, 1, INT32_MAX, conf, err);
}

static cubed_status print(const cubed_codec_conf *conf, int format, const cubed_codec_ctx *ctx,
                          char *json, size_t cap, cubed_error *err)
{
    (void)format;
    (void)ctx;
    return cb_conf_print_int(conf, "shuffle", "elementsize", json, cap, err);
}

/* A transpose: elements are rows of an element's bytes, and columns when shuffled. */
static cubed_status turn(const void *src, size_t src_size, size_t size, bool back, void *dst,
                         size_t dst_cap, size_t *got, cubed_error *err)
{
    const unsigned char *in = src;
    unsigned char *out = dst;
    if (src_size > dst_cap || src_size % size != 0)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes, expected a multiple of %zu up to %zu",
                       src_size, size, dst_cap);
    size_t rows = back ? size : src_size / size, columns = back ? src_size / size : size;
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns; c++) out[c * rows + r] = in[r * columns + c];
    }
    *got = src_size;
    return CUBED_OK;
}

static cubed_status decode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    return turn(src, src_size, (size_t)conf->i[0], true, dst, dst_cap, got, err);
}

static cubed_status encode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    return turn(src, src_size, (size_t)conf->i[0], false, dst, dst_cap, got, err);
}

static bool is_identity(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx)
{
    (void)ctx;
    return conf->i[0] == 1;
}

/* Zarr v3 knows it as an extension under numcodecs' name. */
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
