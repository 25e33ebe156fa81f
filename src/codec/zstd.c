/* "zstd". Contexts are in the scratch memory: the library allocates nothing. */
#include <stdio.h>
#include <string.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

#include "codec/codec_pkg.h"

typedef struct zstd_conf {
    int64_t level, checksum;
} zstd_conf;
CUBED_CODEC_CONF_FITS(zstd_conf);

static cubed_status read_conf(const json_t *doc, int format, const cubed_codec_ctx *ctx, void *conf,
                              cubed_error *err)
{
    const cb_conf_key level = {"zstd", "level", 0, ZSTD_minCLevel(), ZSTD_maxCLevel()};
    const cb_conf_key checksum = {"zstd", "checksum", 0, 0, 1};
    zstd_conf *c = conf;
    (void)format;
    (void)ctx;
    CB_TRY(cb_conf_int(doc, &level, &c->level, err));
    return cb_conf_int(doc, &checksum, &c->checksum, err);
}

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx, void *conf,
                          cubed_error *err)
{
    return cb_conf_parse(json, "zstd", format, ctx, read_conf, conf, err);
}

static cubed_status print(const void *conf, int format, const cubed_codec_ctx *ctx, char *json,
                          size_t cap, cubed_error *err)
{
    const zstd_conf *c = conf;
    (void)ctx;
    int n = format == 2 ? snprintf(json, cap, "{\"level\": %d}", (int)c->level)
                        : snprintf(json, cap, "{\"level\": %d, \"checksum\": %s}", (int)c->level,
                                   c->checksum ? "true" : "false");
    return n > 0 && (size_t)n < cap
               ? CUBED_OK
               : cb_fail(err, CUBED_E_ARG,
                         "codec zstd: the configuration does not fit into %zu bytes", cap);
}

static size_t bound(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    size_t n = ZSTD_compressBound(raw_size);
    return ZSTD_isError(n) ? 0 : n;
}

static cubed_codec_need decode_need(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){ZSTD_estimateDCtxSize(), 0};
}

size_t cb_zstd_encode_memory(int level, size_t most)
{
    /* zstd has one table of parameters for each of these ranges of sizes. A shorter input may be in another range and need more
     * memory, so the maximum over all ranges is used. */
    const size_t ranges[] = {(size_t)16 << 10, (size_t)128 << 10, (size_t)256 << 10, SIZE_MAX};
    size_t need = 0;
    for (int k = 0; k < 4; k++) {
        size_t size = cb_max_size(cb_min_size(most, ranges[k]), 1);
        ZSTD_compressionParameters p = ZSTD_getCParams(level, size, 0);
        need = cb_max_size(need, ZSTD_estimateCCtxSize_usingCParams(p));
    }
    return need;
}

/* Returns the memory of a context for one block of known size. The margin covers allocations that zstd adds when parameters are
 * set individually. */
static cubed_codec_need encode_need(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    const zstd_conf *c = conf;
    (void)ctx;
    size_t need = cb_zstd_encode_memory((int)c->level, raw_size);
    return (cubed_codec_need){cb_sat_add(need, (size_t)16 << 10), 0};
}

static cubed_status decode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    ZSTD_DCtx *d = ZSTD_initStaticDCtx(call->scratch, call->scratch_size);
    CB_CHECK(d != NULL, err);
    size_t n = ZSTD_decompressDCtx(d, call->dst, call->dst_cap, call->src, call->src_size);
    if (ZSTD_isError(n))
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes: %s", call->src_size, ZSTD_getErrorName(n));
    *got = n;
    return CUBED_OK;
}

static cubed_status encode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const zstd_conf *conf = call->conf;
    ZSTD_CCtx *c = ZSTD_initStaticCCtx(call->scratch, call->scratch_size);
    CB_CHECK(c != NULL, err);
    size_t n = ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, (int)conf->level);
    if (!ZSTD_isError(n)) n = ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, (int)conf->checksum);
    /* By default, a static context does not write the content size, which numcodecs needs to read a frame. */
    if (!ZSTD_isError(n)) n = ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, 1);
    if (!ZSTD_isError(n))
        n = ZSTD_compress2(c, call->dst, call->dst_cap, call->src, call->src_size);
    if (ZSTD_isError(n))
        return cb_fail(err, CUBED_E_INTERNAL, "cannot compress: %s", ZSTD_getErrorName(n));
    *got = n;
    return CUBED_OK;
}

/* --- Streams ------------------------------------------------------------------------------------------ */

typedef struct zstd_stream {
    ZSTD_DStream *stream; /* zstd's state, in the memory directly after this struct */
    size_t window;        /* maximum window in bytes */
    /* the decoder is between frames: the last one is complete, and no other has begun */
    bool between;
} zstd_stream;

/* Returns the maximum window in bytes that a writer may use. A writer that does not know the content size in advance writes a
 * longer window size than the content needs. */
static size_t window_of(const void *conf)
{
    const ZSTD_compressionParameters p =
        ZSTD_getCParams((int)((const zstd_conf *)conf)->level, 0, 0); /* unknown size */
    return cb_max_size(CB_STREAM_ZSTD_WINDOW, (size_t)1 << p.windowLog);
}

static size_t stream_bytes(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)ctx;
    (void)raw_size;
    return cb_sat_add(cb_arena_round(sizeof(zstd_stream)),
                      ZSTD_estimateDStreamSize(window_of(conf)));
}

static cubed_status stream_begin(void *state, size_t size, const void *conf, cubed_error *err)
{
    zstd_stream *s = state;
    const size_t own = cb_arena_round(sizeof *s);
    *s = (zstd_stream){.stream = ZSTD_initStaticDStream((char *)state + own, size - own),
                       .window = window_of(conf)};
    CB_CHECK(s->stream != NULL, err);
    return CUBED_OK;
}

static cubed_status stream_step(void *state, cb_stream_io *io, cubed_error *err)
{
    zstd_stream *s = state;
    ZSTD_inBuffer in = {io->in, io->left, 0};
    ZSTD_outBuffer out = {io->out, io->room, 0};
    io->ended = s->between && io->last && io->left == 0;
    if (io->ended) return CUBED_OK;
    const size_t n = ZSTD_decompressStream(s->stream, &out, &in);
    const ZSTD_ErrorCode code = ZSTD_getErrorCode(n);
    if (code == ZSTD_error_memory_allocation || code == ZSTD_error_frameParameter_windowTooLarge)
        return cb_fail(
            err, CUBED_E_BUDGET,
            "the window of the chunk does not fit in %zu bytes, the memory for a part of a "
            "chunk: allow enough memory for the whole chunk, or rewrite the array in "
            "smaller chunks",
            s->window);
    if (ZSTD_isError(n)) return cb_fail(err, CUBED_E_FORMAT, "%s", ZSTD_getErrorName(n));
    if (in.pos > 0 || out.pos > 0) s->between = n == 0;
    io->in += in.pos;
    io->left -= in.pos;
    io->out += out.pos;
    io->room -= out.pos;
    return CUBED_OK;
}

const cb_codec_streaming cb_streaming_zstd = {.codec = &cb_codec_zstd,
                                              .state_bytes = stream_bytes,
                                              .begin = stream_begin,
                                              .step = stream_step};

const cubed_codec_vtable cb_codec_zstd = {
    .name = "zstd",
    .name_v2 = "zstd",
    .parse = parse,
    .print = print,
    .bound = bound,
    .decode_need = decode_need,
    .encode_need = encode_need,
    .decode = decode,
    .encode = encode,
};
