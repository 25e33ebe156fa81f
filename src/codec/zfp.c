/* numcodecs' "zfpy": 32-bit and 64-bit floats and integers in blocks of 4 along up to four axes, lossy within a tolerance or
 * exact, preceded by zfp's own header. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zfp.h>

#include "codec/codec_pkg.h"

/* zfp reads and writes whole words of 1 to 8 bytes, depending on its build, from an aligned buffer. Encoded bytes may be
 * unaligned, and zfp must not read past the end of a short chunk, so they are copied. LIBRARY bounds the bit stream, which
 * zfp allocates itself. */
#define WORD    ((size_t)8)
#define LIBRARY ((size_t)1024)

/* Parameters; a negative number means "not given". Compression is exact if no parameter is given. */
typedef struct zfp_conf {
    int64_t mode; /* a value of zfp's enumeration zfp_mode */
    double tolerance, rate;
    int64_t precision;
} zfp_conf;
CUBED_CODEC_CONF_FITS(zfp_conf);

static zfp_type type_of(cubed_dtype dtype)
{
    switch (dtype) {
    case CUBED_INT32: return zfp_type_int32;
    case CUBED_INT64: return zfp_type_int64;
    case CUBED_FLOAT32: return zfp_type_float;
    case CUBED_FLOAT64: return zfp_type_double;
    default: return zfp_type_none;
    }
}

static size_t count_of(const cubed_codec_ctx *ctx)
{
    size_t n = 1;
    for (int d = 0; d < ctx->ndim; d++) n *= (size_t)ctx->shape[d];
    return n;
}

/* Reads a number; null means "not given". */
static cubed_status read_number(const json_t *doc, const char *key, double *out, cubed_error *err)
{
    const json_t *v = json_object_get(doc, key);
    *out = v && !json_is_null(v) ? json_number_value(v) : -1;
    if ((!v || json_is_null(v) || json_is_number(v)) && *out <= 1e300) return CUBED_OK;
    return cb_fail(err, CUBED_E_FORMAT, "codec zfpy: \"%s\" must be a number", key);
}

static cubed_status read_conf(const json_t *doc, int format, const cubed_codec_ctx *ctx, void *conf,
                              cubed_error *err)
{
    static const cb_conf_key mode = {"zfpy", "mode", zfp_mode_fixed_accuracy, zfp_mode_fixed_rate,
                                     zfp_mode_fixed_accuracy};
    zfp_conf *c = conf;
    double precision;
    (void)format;
    if (type_of(ctx->dtype) == zfp_type_none || ctx->swapped)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "codec zfpy: elements of %s%s, expected int32, int64, float32 or float64",
                       cubed_dtype_name(ctx->dtype), ctx->swapped ? " in big-endian order" : "");
    if (ctx->ndim < 1 || ctx->ndim > 4)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "codec zfpy: %d dimensions, expected 1 to 4",
                       ctx->ndim);
    CB_TRY(cb_conf_int(doc, &mode, &c->mode, err));
    CB_TRY(read_number(doc, "tolerance", &c->tolerance, err));
    CB_TRY(read_number(doc, "rate", &c->rate, err));
    CB_TRY(read_number(doc, "precision", &precision, err));
    if (c->rate > ZFP_MAX_PREC || precision > ZFP_MAX_PREC || precision != floor(precision))
        return cb_fail(err, CUBED_E_FORMAT,
                       "codec zfpy: \"rate\" is %g and \"precision\" %g, expected at most %d bits",
                       c->rate, precision, ZFP_MAX_PREC);
    c->precision = (int64_t)fmax(precision, -1);
    return CUBED_OK;
}

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx, void *conf,
                          cubed_error *err)
{
    return cb_conf_parse(json, "zfpy", format, ctx, read_conf, conf, err);
}

static cubed_status print(const void *conf, int format, const cubed_codec_ctx *ctx, char *json,
                          size_t cap, cubed_error *err)
{
    const zfp_conf *c = conf;
    (void)format;
    (void)ctx;
    const int n = snprintf(
        json, cap, "{\"mode\": %d, \"tolerance\": %.17g, \"rate\": %.17g, \"precision\": %d}",
        (int)c->mode, c->tolerance, c->rate, (int)c->precision);
    return n > 0 && (size_t)n < cap
               ? CUBED_OK
               : cb_fail(err, CUBED_E_ARG,
                         "codec zfpy: the configuration does not fit into %zu bytes", cap);
}

/* Describes the chunk to zfp. The chunk's last axis is zfp's first. */
static zfp_field field_of(const cubed_codec_ctx *ctx, const void *data)
{
    zfp_field f = {.type = type_of(ctx->dtype), .data = (void *)(uintptr_t)data};
    size_t *const extents[] = {&f.nx, &f.ny, &f.nz, &f.nw};
    for (int d = 0; d < ctx->ndim; d++) *extents[ctx->ndim - 1 - d] = (size_t)ctx->shape[d];
    return f;
}

static void set_mode(const zfp_conf *conf, const cubed_codec_ctx *ctx, zfp_stream *z)
{
    *z = (zfp_stream){.exec = {zfp_exec_serial, NULL}};
    if (conf->mode == zfp_mode_fixed_accuracy && conf->tolerance >= 0)
        (void)zfp_stream_set_accuracy(z, conf->tolerance);
    else if (conf->mode == zfp_mode_fixed_rate && conf->rate >= 0)
        (void)zfp_stream_set_rate(z, conf->rate, type_of(ctx->dtype), (uint)ctx->ndim, zfp_false);
    else if (conf->mode == zfp_mode_fixed_precision && conf->precision >= 0)
        (void)zfp_stream_set_precision(z, (uint)conf->precision);
    else
        zfp_stream_set_reversible(z);
}

/* Returns the maximum encoded size. Except in rate mode, which pads blocks, a chunk needs at most as much as in exact mode. */
static size_t bound(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    zfp_stream z, exact;
    size_t n;
    const zfp_field f = field_of(ctx, NULL);
    (void)raw_size;
    set_mode(conf, ctx, &z);
    exact = z;
    zfp_stream_set_reversible(&exact);
    const size_t most =
        cb_max_size(zfp_stream_maximum_size(&z, &f), zfp_stream_maximum_size(&exact, &f));
    return cb_add_size(most, WORD, &n) ? 0 : n / WORD * WORD;
}

static cubed_codec_need need(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    return (cubed_codec_need){cb_sat_add(bound(conf, ctx, raw_size), WORD), LIBRARY};
}

/* Reads the header and checks type and shape against this chunk. Any mode is accepted unless its blocks exceed the available
 * space. */
static cubed_status read_header(zfp_stream *z, const cubed_codec_ctx *ctx, size_t room, void *dst,
                                zfp_field *f, cubed_error *err)
{
    const zfp_field own = field_of(ctx, dst);
    *f = (zfp_field){.type = zfp_type_none};
    const size_t bits = zfp_read_header(z, f, ZFP_HEADER_FULL);
    size_t n = 1;
    const size_t own_n = count_of(ctx);
    const size_t extents[] = {f->nx, f->ny, f->nz, f->nw};
    for (int d = 0; d < 4 && bits > 0; d++) {
        if (extents[d] > 0 && cb_mul_size(n, extents[d], &n))
            return cb_fail(err, CUBED_E_FORMAT, "zfp's header has too many elements");
    }
    if (bits == 0 || f->nx == 0 || f->type != own.type || n != own_n)
        return cb_fail(err, CUBED_E_FORMAT,
                       "zfp's header has %zu elements of type %d, expected %zu of type %d",
                       bits ? n : 0, (int)f->type, own_n, (int)own.type);
    if (zfp_stream_maximum_size(z, f) > room)
        return cb_fail(err, CUBED_E_FORMAT,
                       "zfp's header has %zu elements of at most %zu bytes, expected %zu", n,
                       zfp_stream_maximum_size(z, f), room);
    f->data = dst;
    return CUBED_OK;
}

static cubed_status decode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    zfp_stream z;
    zfp_field f;
    const size_t bytes = count_of(call->ctx) * call->ctx->item_size;
    if (call->src_size > call->scratch_size || bytes > call->dst_cap)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes are not a chunk of %zu", call->src_size,
                       call->dst_cap);
    memcpy(call->scratch, call->src, call->src_size);
    memset((char *)call->scratch + call->src_size, 0, call->scratch_size - call->src_size);
    set_mode(call->conf, call->ctx, &z);
    z.stream = stream_open(call->scratch, call->scratch_size);
    if (!z.stream) return cb_fail(err, CUBED_E_NOMEM, "no memory for zfp");
    cubed_status st = read_header(&z, call->ctx, call->scratch_size, call->dst, &f, err);
    if (st == CUBED_OK) {
        const size_t read = zfp_decompress(&z, &f);
        const size_t word = stream_word_bits / 8, there = (call->src_size + word - 1) / word * word;
        if (read == 0 || read > there)
            st = cb_fail(err, CUBED_E_FORMAT, "the chunk has %zu bytes, zfp needs %zu",
                         call->src_size, read);
    }
    stream_close(z.stream);
    *got = bytes;
    return st;
}

static cubed_status encode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    zfp_stream z;
    const zfp_field f = field_of(call->ctx, call->src);
    set_mode(call->conf, call->ctx, &z);
    z.stream = stream_open(call->scratch, call->scratch_size);
    if (!z.stream) return cb_fail(err, CUBED_E_NOMEM, "no memory for zfp");
    const bool wrote = zfp_write_header(&z, &f, ZFP_HEADER_FULL) > 0;
    const size_t n = wrote ? zfp_compress(&z, &f) : 0;
    stream_close(z.stream);
    if (!wrote)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "zfp's header cannot hold axes of this length");
    /* Builds of zfp with longer words read whole words. */
    const size_t whole = (n + WORD - 1) / WORD * WORD;
    if (n == 0 || whole > call->dst_cap)
        return cb_fail(err, CUBED_E_INTERNAL, "zfp returned %zu bytes, expected at most %zu", n,
                       call->dst_cap);
    memcpy(call->dst, call->scratch, n);
    memset((char *)call->dst + n, 0, whole - n);
    *got = whole;
    return CUBED_OK;
}

/* Replaces "bytes" in format 3. In format 2 it is the compressor, and receives the shape of the array's chunks. */
const cubed_codec_vtable cb_codec_zfpy = {
    .kind = CUBED_CODEC_ARRAY_TO_BYTES,
    .name = "numcodecs.zfpy",
    .name_v2 = "zfpy",
    .parse = parse,
    .print = print,
    .bound = bound,
    .decode_need = need,
    .encode_need = need,
    .decode = decode,
    .encode = encode,
};
