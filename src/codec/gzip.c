/* "gzip" and numcodecs' "zlib": deflate with either header. zlib's state is in the scratch memory. In builds with libdeflate,
 * libdeflate decodes, and allocates 11 KiB itself. Its allocation functions are global to the process, so this library does not
 * set them. */
#include <string.h>
#include <zlib.h>
#ifdef CB_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

#include "codec/codec_pkg.h"

typedef enum deflate_header { ZLIB, GZIP } deflate_header;
typedef struct gzip_conf {
    int64_t level;
    deflate_header header;
} gzip_conf;
CUBED_CODEC_CONF_FITS(gzip_conf);

static const cb_conf_key levels[] = {
    [ZLIB] = {"zlib", "level", 1, -1, 9}, [GZIP] = {"gzip", "level", 1, -1, 9}};

static cubed_status parse_as(const char *json, deflate_header header, gzip_conf *conf,
                             cubed_error *err)
{
    conf->header = header;
    return cb_conf_parse_int(json, &levels[header], &conf->level, err);
}

static cubed_status parse_gzip(const char *json, int format, const cubed_codec_ctx *ctx, void *conf,
                               cubed_error *err)
{
    (void)format;
    (void)ctx;
    return parse_as(json, GZIP, conf, err);
}

static cubed_status parse_zlib(const char *json, int format, const cubed_codec_ctx *ctx, void *conf,
                               cubed_error *err)
{
    (void)format;
    (void)ctx;
    return parse_as(json, ZLIB, conf, err);
}

static cubed_status print(const void *conf, int format, const cubed_codec_ctx *ctx, char *json,
                          size_t cap, cubed_error *err)
{
    const gzip_conf *c = conf;
    (void)format;
    (void)ctx;
    return cb_conf_print_int(c->level, &levels[c->header], json, cap, err);
}

/* Returns more than deflateBound, because other writers may write several members. Also, their fastest levels never store data
 * unencoded, so a byte of noise takes up to nine bits. */
static size_t bound(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    size_t n;
    (void)conf;
    (void)ctx;
    if (raw_size > UINT32_MAX || cb_add_size(raw_size, raw_size / 8 + 1024, &n)) return 0;
    return n;
}

/* Inflate needs a window of 32 KiB and less than 10 KiB of state. Deflate needs 256 KiB of tables and windows and less than
 * 8 KiB of state (zconf.h). The margin is for zlib-compatible libraries that use more. */
static cubed_codec_need decode_need(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
#ifdef CB_HAVE_LIBDEFLATE
    return (cubed_codec_need){0, (size_t)16 << 10};
#else
    return (cubed_codec_need){(size_t)64 << 10, 0};
#endif
}

static cubed_codec_need encode_need(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){(size_t)384 << 10, 0};
}

static voidpf bump_alloc(voidpf opaque, uInt items, uInt size)
{
    void *p = cb_bump_alloc(opaque, (size_t)items * size);
    if (p) memset(p, 0, (size_t)items * size);
    return p;
}

static void bump_free(voidpf opaque, voidpf p)
{
    (void)opaque;
    (void)p;
}

/* Skips zeros between members. They occur on tapes and in files with blocks of fixed size. */
static void skip_zeros(const gzip_conf *conf, const char **in, size_t *left)
{
    while (conf->header == GZIP && *left > 0 && **in == 0) {
        ++*in;
        --*left;
    }
}

/* Returns zlib's parameter for windows: 15 for the largest window, plus 16 for the gzip header. */
static int window_bits(const gzip_conf *conf) { return conf->header == GZIP ? 15 + 16 : 15; }

#ifdef CB_HAVE_LIBDEFLATE
/* Decodes each member of the chunk in one call, with at most half as many instructions as zlib. */
static cubed_status decode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const gzip_conf *conf = call->conf;
    const char *in = call->src;
    size_t left = call->src_size, took, made;
    enum libdeflate_result rc;
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    if (!d) return cb_fail(err, CUBED_E_NOMEM, "no memory to inflate %zu bytes", call->src_size);
    *got = 0;
    do {
        rc = (conf->header == GZIP ? libdeflate_gzip_decompress_ex : libdeflate_zlib_decompress_ex)(
            d, in, left, (char *)call->dst + *got, call->dst_cap - *got, &took, &made);
        if (rc != LIBDEFLATE_SUCCESS) break;
        in += took;
        left -= took;
        *got += made;
        skip_zeros(conf, &in, &left);
    } while (conf->header == GZIP && left > 0);
    libdeflate_free_decompressor(d);
    if (rc == LIBDEFLATE_SUCCESS && left == 0) return CUBED_OK;
    return cb_fail(err, CUBED_E_FORMAT, "%zu bytes do not inflate to %zu: %s", call->src_size,
                   call->dst_cap, rc == LIBDEFLATE_BAD_DATA ? "they are damaged" : "wrong length");
}
#else
static cubed_status decode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const gzip_conf *conf = call->conf;
    cb_bump bump = cb_bump_of(call);
    z_stream z = {.zalloc = bump_alloc, .zfree = bump_free, .opaque = &bump};
    if (call->src_size > UINT32_MAX || call->dst_cap > UINT32_MAX)
        return cb_fail(err, CUBED_E_FORMAT, "the chunk is larger than 4 GiB");
    int rc = inflateInit2(&z, window_bits(conf));
    if (rc != Z_OK) return cb_fail(err, CUBED_E_INTERNAL, "inflateInit2 gives %d", rc);
    z.next_in = (Bytef *)(uintptr_t)call->src;
    z.avail_in = (uInt)call->src_size;
    z.next_out = call->dst;
    z.avail_out = (uInt)call->dst_cap;
    do {
        rc = inflate(&z, Z_FINISH);
        const char *in = (const char *)z.next_in;
        size_t left = z.avail_in;
        if (rc == Z_STREAM_END) skip_zeros(conf, &in, &left);
        z.next_in = (Bytef *)(uintptr_t)in;
        z.avail_in = (uInt)left;
    } while (rc == Z_STREAM_END && z.avail_in > 0 && conf->header == GZIP &&
             inflateReset(&z) == Z_OK);
    inflateEnd(&z);
    if (rc != Z_STREAM_END || z.avail_in > 0)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes do not inflate to %zu: %s", call->src_size,
                       call->dst_cap, z.msg ? z.msg : "wrong length");
    *got = call->dst_cap - z.avail_out;
    return CUBED_OK;
}
#endif

static cubed_status encode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const gzip_conf *conf = call->conf;
    cb_bump bump = cb_bump_of(call);
    z_stream z = {.zalloc = bump_alloc, .zfree = bump_free, .opaque = &bump};
    int rc =
        deflateInit2(&z, (int)conf->level, Z_DEFLATED, window_bits(conf), 8, Z_DEFAULT_STRATEGY);
    if (rc != Z_OK) return cb_fail(err, CUBED_E_INTERNAL, "deflateInit2 gives %d", rc);
    z.next_in = (Bytef *)(uintptr_t)call->src;
    z.avail_in = (uInt)call->src_size;
    z.next_out = call->dst;
    z.avail_out = (uInt)cb_min_size(call->dst_cap, UINT32_MAX);
    size_t room = z.avail_out;
    rc = deflate(&z, Z_FINISH);
    deflateEnd(&z);
    if (rc != Z_STREAM_END) return cb_fail(err, CUBED_E_INTERNAL, "deflate gives %d", rc);
    *got = room - z.avail_out;
    return CUBED_OK;
}

/* --- Streams ------------------------------------------------------------------------------------------ */

enum { INFLATE_BYTES = 64 << 10 };

typedef struct inflate_stream {
    z_stream z; /* must not move, because zlib's state points to it */
    cb_bump bump;
    bool gzip, between; /* between: a member is complete and no other has begun */
} inflate_stream;

static size_t stream_bytes(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return cb_arena_round(sizeof(inflate_stream)) + INFLATE_BYTES;
}

static cubed_status stream_begin(void *state, size_t size, const void *conf, cubed_error *err)
{
    inflate_stream *s = state;
    const size_t own = cb_arena_round(sizeof *s);
    *s = (inflate_stream){.bump = {(char *)state + own, (char *)state + size},
                          .gzip = ((const gzip_conf *)conf)->header == GZIP};
    s->z = (z_stream){.zalloc = bump_alloc, .zfree = bump_free, .opaque = &s->bump};
    const int rc = inflateInit2(&s->z, s->gzip ? 15 + 16 : 15);
    return rc == Z_OK ? CUBED_OK : cb_fail(err, CUBED_E_INTERNAL, "inflateInit2 gives %d", rc);
}

static cubed_status stream_step(void *state, cb_stream_io *io, cubed_error *err)
{
    inflate_stream *s = state;
    if (s->between) {
        while (s->gzip && io->left > 0 && *io->in == 0) {
            io->in++;
            io->left--;
        }
        io->ended = io->last && io->left == 0;
        if (io->left == 0) return CUBED_OK;
        if (!s->gzip) return cb_fail(err, CUBED_E_FORMAT, "there are bytes after the end");
        if (inflateReset(&s->z) != Z_OK)
            return cb_fail(err, CUBED_E_INTERNAL, "inflateReset fails");
        s->between = false;
    }
    const size_t in = cb_min_size(io->left, UINT32_MAX), out = cb_min_size(io->room, UINT32_MAX);
    s->z.next_in = (Bytef *)(uintptr_t)io->in;
    s->z.avail_in = (uInt)in;
    s->z.next_out = (Bytef *)io->out;
    s->z.avail_out = (uInt)out;
    const int rc = inflate(&s->z, Z_NO_FLUSH);
    if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
        return cb_fail(err, CUBED_E_FORMAT, "the bytes do not inflate: %s",
                       s->z.msg ? s->z.msg : "they are damaged");
    s->between = rc == Z_STREAM_END;
    io->in += in - s->z.avail_in;
    io->left -= in - s->z.avail_in;
    io->out += out - s->z.avail_out;
    io->room -= out - s->z.avail_out;
    return CUBED_OK;
}

const cb_codec_streaming cb_streaming_gzip = {.codec = &cb_codec_gzip,
                                              .state_bytes = stream_bytes,
                                              .begin = stream_begin,
                                              .step = stream_step};
const cb_codec_streaming cb_streaming_zlib = {.codec = &cb_codec_zlib,
                                              .state_bytes = stream_bytes,
                                              .begin = stream_begin,
                                              .step = stream_step};

const cubed_codec_vtable cb_codec_gzip = {
    .name = "gzip",
    .name_v2 = "gzip",
    .parse = parse_gzip,
    .print = print,
    .bound = bound,
    .decode_need = decode_need,
    .encode_need = encode_need,
    .decode = decode,
    .encode = encode,
};
/* In Zarr v3 this codec is an extension with the name from numcodecs. */
const cubed_codec_vtable cb_codec_zlib = {
    .name = "numcodecs.zlib",
    .name_v2 = "zlib",
    .parse = parse_zlib,
    .print = print,
    .bound = bound,
    .decode_need = decode_need,
    .encode_need = encode_need,
    .decode = decode,
    .encode = encode,
};
