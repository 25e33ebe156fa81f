/* "blosc": c-blosc 1. */
#include <blosc.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "base/le.h"
#include "codec/blosc_parts.h"
#include "codec/codec_pkg.h"

typedef struct blosc_conf {
    char cname[32];
    int64_t clevel;
    int64_t shuffle;   /* index of the kind of shuffle in `shuffles` */
    int64_t blocksize; /* 0: the library's choice */
    int64_t typesize;
} blosc_conf;
CUBED_CODEC_CONF_FITS(blosc_conf);

static const char *const shuffles[] = {"noshuffle", "shuffle", "bitshuffle"};

/* Does not call blosc_list_compressors, which fills a static buffer and is therefore not thread-safe. */
static void known_inner(char *out, size_t cap)
{
    static const char *const names[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
    size_t n = 0;
    out[0] = 0;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (blosc_compname_to_compcode(names[k]) >= 0 && n < cap)
            n += (size_t)snprintf(out + n, cap - n, " %s", names[k]);
    }
}

static cubed_status read_conf(const json_t *doc, int format, const cubed_codec_ctx *ctx, void *conf,
                              cubed_error *err)
{
    blosc_conf *c = conf;
    const char *cname = "lz4";
    if (json_object_get(doc, "cname"))
        CB_TRY(cb_json_get_string("codec blosc", doc, "cname", &cname, err));
    size_t n = strlen(cname);
    if (blosc_compname_to_compcode(cname) < 0 || n >= sizeof c->cname) {
        char known[64];
        known_inner(known, sizeof known);
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "codec blosc: compressor \"%s\" is not supported by this build of blosc, "
                       "which supports:%s",
                       cname, known);
    }
    memcpy(c->cname, cname, n + 1);
    CB_TRY(cb_conf_int(doc, &(cb_conf_key){"blosc", "clevel", 5, 0, 9}, &c->clevel, err));
    CB_TRY(cb_conf_int(doc, &(cb_conf_key){"blosc", "blocksize", 0, 0, INT32_MAX}, &c->blocksize,
                       err));
    /* The library treats longer elements as bytes. */
    int64_t typesize = ctx->item_size <= 255 ? (int64_t)ctx->item_size : 1;
    CB_TRY(
        cb_conf_int(doc, &(cb_conf_key){"blosc", "typesize", typesize, 1, 255}, &c->typesize, err));
    const json_t *shuffle = json_object_get(doc, "shuffle");
    if (format == 3 && json_is_string(shuffle)) {
        c->shuffle = -1;
        for (int k = 0; k < 3; k++) {
            if (strcmp(json_string_value(shuffle), shuffles[k]) == 0) c->shuffle = k;
        }
        if (c->shuffle < 0)
            return cb_fail(err, CUBED_E_FORMAT,
                           "codec blosc: \"shuffle\" is \"%s\", expected noshuffle, shuffle or "
                           "bitshuffle",
                           json_string_value(shuffle));
        return CUBED_OK;
    }
    CB_TRY(cb_conf_int(doc, &(cb_conf_key){"blosc", "shuffle", 1, -1, 2}, &c->shuffle, err));
    if (c->shuffle == -1) c->shuffle = ctx->item_size == 1 ? 2 : 1; /* numcodecs' AUTOSHUFFLE */
    return CUBED_OK;
}

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx, void *conf,
                          cubed_error *err)
{
    return cb_conf_parse(json, "blosc", format, ctx, read_conf, conf, err);
}

static cubed_status print(const void *conf, int format, const cubed_codec_ctx *ctx, char *json,
                          size_t cap, cubed_error *err)
{
    const blosc_conf *c = conf;
    (void)ctx;
    int n = format == 2 ? snprintf(json, cap,
                                   "{\"cname\": \"%s\", \"clevel\": %d, \"shuffle\": %d, "
                                   "\"blocksize\": %d}",
                                   c->cname, (int)c->clevel, (int)c->shuffle, (int)c->blocksize)
                        : snprintf(json, cap,
                                   "{\"typesize\": %d, \"cname\": \"%s\", \"clevel\": %d, "
                                   "\"shuffle\": \"%s\", \"blocksize\": %d}",
                                   (int)c->typesize, c->cname, (int)c->clevel, shuffles[c->shuffle],
                                   (int)c->blocksize);
    return n > 0 && (size_t)n < cap
               ? CUBED_OK
               : cb_fail(err, CUBED_E_ARG,
                         "codec blosc: the configuration does not fit into %zu bytes", cap);
}

static size_t bound(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    return raw_size > BLOSC_MAX_BUFFERSIZE ? 0 : raw_size + BLOSC_MAX_OVERHEAD;
}

/* The largest block that c-blosc chooses is 1 MiB (its compute_blocksize). The bound is twice this size, because other versions
 * may choose larger blocks. The chunk's header is checked against this bound before decoding. */
static size_t block_bound(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    const blosc_conf *c = conf;
    (void)ctx;
    const size_t least_split = (size_t)64 << 10, most_split = (size_t)2 << 20;
    size_t most = most_split;
    /* If blocks are split by bytes, the stated size applies to each of the `typesize` parts, within the limits for split
     * blocks. */
    if (c->blocksize) {
        size_t split = cb_max_size((size_t)c->blocksize * (size_t)c->typesize, least_split);
        most = cb_max_size((size_t)c->blocksize, cb_min_size(split, most_split));
    }
    return cb_min_size(cb_max_size(raw_size, 256), cb_max_size(most, 256));
}

/* Returns the memory that c-blosc allocates per block: two buffers of the block size, and one of the block size plus 4 bytes for
 * each byte of an element (serial_blosc). */
static size_t block_memory(size_t block) { return cb_sat_add(cb_sat_mul(3, block), 8192); }

/* Returns the heap memory of the inner codecs' decoders. lz4 and blosclz use the stack; snappy decodes without a state. */
static size_t inner_decode_memory(const char *inner)
{
    if (strcasecmp(inner, "zstd") == 0) return ZSTD_estimateDCtxSize() + 4096;
    if (strcasecmp(inner, "zlib") == 0) return (size_t)64 << 10;
    return 0;
}

static size_t inner_encode_memory(const char *inner, int clevel, size_t block)
{
    if (strcmp(inner, "lz4hc") == 0) return (size_t)320 << 10;
    if (strcmp(inner, "zlib") == 0) return (size_t)448 << 10;
    if (strcmp(inner, "snappy") == 0) return (size_t)256 << 10;
    if (strcmp(inner, "zstd") == 0) {
        /* same mapping of levels as in c-blosc */
        int level = clevel < 9 ? clevel * 2 - 1 : ZSTD_maxCLevel();
        return cb_sat_add(cb_zstd_encode_memory(level, block), (size_t)64 << 10);
    }
    return (size_t)64 << 10;
}

static cubed_codec_need decode_need(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    const blosc_conf *c = conf;
    return (cubed_codec_need){0, cb_sat_add(block_memory(block_bound(conf, ctx, raw_size)),
                                            inner_decode_memory(c->cname))};
}

static cubed_codec_need encode_need(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    const blosc_conf *c = conf;
    size_t block = block_bound(conf, ctx, raw_size);
    return (cubed_codec_need){
        0, cb_sat_add(block_memory(block), inner_encode_memory(c->cname, (int)c->clevel, block))};
}

/* Decoded size of a chunk and of its blocks. */
typedef struct sizes {
    size_t nbytes, block;
} sizes;

/* Reads the header of a chunk of src_size bytes. Checks it against the projected memory and against raw_size, the maximum
 * decoded size. */
static cubed_status read_header(const cubed_codec_call *call, size_t src_size, size_t raw_size,
                                sizes *out, cubed_error *err)
{
    const void *src = call->src;
    size_t cbytes = 0;
    if (src_size < BLOSC_MIN_HEADER_LENGTH ||
        blosc_cbuffer_validate(src, src_size, &out->nbytes) != 0)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes are not a blosc buffer", src_size);
    blosc_cbuffer_sizes(src, &out->nbytes, &cbytes, &out->block);
    if (out->nbytes > raw_size)
        return cb_fail(err, CUBED_E_FORMAT, "the chunk decodes to %zu bytes, expected %zu",
                       out->nbytes, raw_size);
    /* Also refuses negative sizes, which become huge numbers in the conversion to size_t. */
    if (out->block == 0 || out->block > raw_size)
        return cb_fail(err, CUBED_E_FORMAT, "the blosc buffer has blocks of %zu bytes", out->block);
    /* Other writers may use other blocks and inner codecs than the metadata states. */
    const char *inner = blosc_cbuffer_complib(src);
    size_t real = block_memory(out->block) + inner_decode_memory(inner ? inner : "");
    size_t allowed = decode_need(call->conf, call->ctx, raw_size).library;
    if (real > allowed)
        return cb_fail(
            err, CUBED_E_BUDGET,
            "the chunk (%s, blocks of %zu bytes) needs %zu bytes to decode, but the plan allows "
            "%zu: rewrite the array, or state its cname and blocksize in the metadata",
            inner ? inner : "unknown", out->block, real, allowed);
    return CUBED_OK;
}

static cubed_status damaged(int code, cubed_error *err)
{
    return cb_fail(err, CUBED_E_FORMAT, "the blosc buffer is damaged (code %d)", code);
}

static cubed_status decode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    sizes is = {0, 0};
    CB_TRY(read_header(call, call->src_size, call->dst_cap, &is, err));
    int n = blosc_decompress_ctx(call->src, call->dst, call->dst_cap, 1);
    if (n < 0 || (size_t)n != is.nbytes) return damaged(n, err);
    *got = (size_t)n;
    return CUBED_OK;
}

/* --- Ranges -------------------------------------------------------------------------------------------- */

/* A buffer consists of a header, the offset of each block, and the blocks. The header has the version, the inner codec's
 * version, flags and typesize (one byte each), then the decoded, block and encoded sizes (32 bits, little-endian). */
enum { HEADER = 16, ENTRY = 4, FLAGS = 2, TYPESIZE = 3 };
enum { IS_SHUFFLED = 0x01, IS_COPY = 0x02, IS_NOT_SPLIT = 0x10 };

/* Adds `by` to block offsets, modulo 2^32, because the header starts `by` bytes earlier. */
static void shift_offsets(unsigned char *entry, size_t n, int64_t by)
{
    for (size_t k = 0; k < n; k++, entry += ENTRY)
        cb_le_put(entry, (uint64_t)((int64_t)cb_le_get(entry, ENTRY) + by), ENTRY);
}

/* Blocks to decode together: `n` blocks from number `first`, `bytes` decoded. */
typedef struct blocks {
    size_t first, n, bytes;
} blocks;

/* Makes the blocks look like a separate buffer during the call, by writing a header in front of their offsets. In
 * range->bytes the blocks directly follow the first bytes of the chunk, unlike in the encoded chunk. */
static int decode_blocks(const cubed_codec_range *range, const blocks *some, size_t block,
                         void *dst)
{
    const cubed_codec_extent *located = range->located;
    const size_t left_out = located->lo - located->head, before = some->first * ENTRY;
    const size_t end = located->hi - left_out;
    const int64_t by = (int64_t)(before + left_out);
    unsigned char saved[HEADER], own[HEADER], *src = range->bytes, *head = src + before;
    memcpy(own, src, 4);
    memcpy(saved, head, HEADER);
    shift_offsets(head + HEADER, some->n, -by);
    /* A short last block is not split by bytes. As the only block of a buffer, it would be treated as a full block, so the flag
     * is set. */
    if (some->n == 1 && some->bytes < block) {
        own[FLAGS] |= IS_NOT_SPLIT;
        block = some->bytes;
    }
    cb_le_put(own + 4, some->bytes, 4);
    cb_le_put(own + 8, block, 4);
    cb_le_put(own + 12, end - before, 4);
    memcpy(head, own, HEADER);
    int got = blosc_decompress_ctx(head, dst, some->bytes, 1);
    memcpy(head, saved, HEADER);
    shift_offsets(head + HEADER, some->n, by);
    return got;
}

static size_t count_blocks(size_t nbytes, size_t block)
{
    return nbytes / block + (nbytes % block != 0);
}

/* Blocks may be in any order: a block ends where the next one in the buffer begins. */
static cubed_status locate(const cubed_codec_call *call, const cubed_codec_range *range,
                           cubed_codec_extent *out, cubed_error *err)
{
    const unsigned char *bytes = call->src;
    const size_t from = range->from, size = range->size;
    sizes is = {0, 0};
    *out = (cubed_codec_extent){.head = HEADER};
    if (call->src_size < HEADER) return CUBED_OK;
    CB_TRY(read_header(call, cb_le_get(bytes + 12, 4), range->raw_size, &is, err));
    out->total = cb_le_get(bytes + 12, 4);
    if (is.nbytes != range->raw_size || out->total > bound(call->conf, call->ctx, range->raw_size))
        return damaged(0, err);
    out->from = from / is.block * is.block;
    out->size =
        cb_min_size((from + size - 1) / is.block * is.block + is.block, is.nbytes) - out->from;
    if (bytes[FLAGS] & IS_COPY) {
        out->lo = HEADER + from;
        out->hi = out->lo + size;
        return out->hi <= out->total ? CUBED_OK : damaged(0, err);
    }
    size_t n = count_blocks(is.nbytes, is.block);
    if (n > (out->total - HEADER) / ENTRY) return damaged(0, err);
    out->head = HEADER + n * ENTRY;
    if (call->src_size < out->head) return CUBED_OK;
    size_t last = 0; /* offset of the last stored block that the range needs */
    out->lo = out->total;
    for (size_t i = from / is.block; i < n && i * is.block < from + size; i++) {
        size_t at = cb_le_get(bytes + HEADER + i * ENTRY, ENTRY);
        if (at < out->head || at > out->total) return damaged(0, err);
        out->lo = cb_min_size(out->lo, at);
        last = cb_max_size(last, at);
    }
    out->hi = out->total;
    for (size_t i = 0; i < n; i++) {
        size_t at = cb_le_get(bytes + HEADER + i * ENTRY, ENTRY);
        if (at > last) out->hi = cb_min_size(out->hi, at);
    }
    return CUBED_OK;
}

static cubed_codec_need range_need(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    return (cubed_codec_need){block_bound(conf, ctx, raw_size),
                              decode_need(conf, ctx, raw_size).library};
}

/* The encoded chunk of a call, and the sizes that its header states. */
typedef struct located_chunk {
    const cubed_codec_call *call;
    const cubed_codec_range *range;
    sizes is;
    size_t nblocks;
} located_chunk;

/* Copies the runs of a chunk that c-blosc has stored uncompressed. */
static cubed_status copy_runs(const located_chunk *x, cubed_error *err)
{
    const cubed_codec_range *range = x->range;
    const unsigned char *bytes = range->bytes;
    char *to = x->call->dst;
    if (range->located->total != x->is.nbytes + HEADER) return damaged(0, err);
    for (size_t i = 0; i < range->nruns; i++) {
        memcpy(to, bytes + HEADER + (range->runs[i].offset - range->from), range->runs[i].size);
        to += range->runs[i].size;
    }
    return CUBED_OK;
}

/* Decodes whole blocks to the cursor's destination. */
static cubed_status decode_whole(const located_chunk *x, const blocks *some, cb_blosc_cursor *c,
                                 cubed_error *err)
{
    unsigned char *to;
    const size_t from = some->first * x->is.block;
    const int got = decode_blocks(x->range, some, x->is.block, c->to);
    if (got < 0 || (size_t)got != some->bytes) return damaged(got, err);
    (void)cb_blosc_next_part(c, from, from + some->bytes, &to);
    return CUBED_OK;
}

/* Decodes the parts of runs that lie in block `i`. */
static cubed_status decode_parts(const located_chunk *x, size_t i, cb_blosc_cursor *c,
                                 cubed_error *err)
{
    const cubed_codec_extent *located = x->range->located;
    const unsigned char *bytes = x->range->bytes;
    const size_t left_out = located->lo - located->head, from = i * x->is.block;
    const size_t at = cb_le_get(bytes + HEADER + i * ENTRY, ENTRY);
    const size_t elem = bytes[FLAGS] & IS_SHUFFLED && bytes[TYPESIZE] > 0 ? bytes[TYPESIZE] : 1;
    const bool is_short = x->is.nbytes - from < x->is.block;
    if (at < located->lo || at >= located->hi) return damaged(0, err);
    const cb_blosc_block b = {
        .src = bytes + (at - left_out),
        .src_size = located->hi - at,
        .from = from,
        .size = is_short ? x->is.nbytes - from : x->is.block,
        .streams = is_short || bytes[FLAGS] & IS_NOT_SPLIT ? 1 : cb_max_size(1, bytes[TYPESIZE]),
        .elem = elem};
    unsigned char *buffer = x->call->scratch, *to;
    if (cb_blosc_has_parts(&b, bytes[FLAGS]))
        return cb_blosc_copy_parts(&b, c, buffer) ? CUBED_OK : damaged(0, err);
    const blocks one = {i, 1, b.size};
    const int got = decode_blocks(x->range, &one, x->is.block, buffer);
    if (got < 0 || (size_t)got != b.size) return damaged(got, err);
    for (;;) {
        const cubed_range part = cb_blosc_next_part(c, from, from + b.size, &to);
        if (part.size == 0) return CUBED_OK;
        memcpy(to, buffer + (part.offset - from), part.size);
    }
}

static cubed_status decode_runs(const cubed_codec_call *call, const cubed_codec_range *range,
                                cubed_error *err)
{
    const cubed_codec_extent *located = range->located;
    const unsigned char *bytes = call->src;
    located_chunk x = {.call = call, .range = range};
    cb_blosc_cursor c = {range->runs, range->nruns, 0, call->dst};
    CB_TRY(read_header(call, located->total, range->raw_size, &x.is, err));
    if (x.is.nbytes != range->raw_size)
        return cb_fail(err, CUBED_E_FORMAT, "the chunk decodes to %zu bytes, expected %zu",
                       x.is.nbytes, range->raw_size);
    if (bytes[FLAGS] & IS_COPY) return copy_runs(&x, err);
    const size_t block = x.is.block, nbytes = x.is.nbytes;
    x.nblocks = count_blocks(nbytes, block);
    if (located->head != HEADER + x.nblocks * ENTRY || block > call->scratch_size)
        return damaged(0, err);
    while (c.n > 0) {
        const size_t from = (size_t)c.runs->offset + c.done;
        const size_t end = (size_t)c.runs->offset + c.runs->size, i = from / block;
        const size_t last = end == nbytes ? x.nblocks : end / block;
        if (from != i * block || last <= i) {
            CB_TRY(decode_parts(&x, i, &c, err));
            continue;
        }
        const blocks some = {i, last - i, cb_min_size((last - i) * block, nbytes - from)};
        CB_TRY(decode_whole(&x, &some, &c, err));
    }
    return CUBED_OK;
}

static cubed_status encode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const blosc_conf *c = call->conf;
    int n =
        blosc_compress_ctx((int)c->clevel, (int)c->shuffle, (size_t)c->typesize, call->src_size,
                           call->src, call->dst, call->dst_cap, c->cname, (size_t)c->blocksize, 1);
    if (n <= 0) return cb_fail(err, CUBED_E_INTERNAL, "cannot compress (code %d)", n);
    *got = (size_t)n;
    return CUBED_OK;
}

const cubed_codec_vtable cb_codec_blosc = {
    .name = "blosc",
    .name_v2 = "blosc",
    .parse = parse,
    .print = print,
    .bound = bound,
    .decode_need = decode_need,
    .encode_need = encode_need,
    .decode = decode,
    .encode = encode,
    .decode_runs = decode_runs,
    .range_need = range_need,
    .locate = locate,
    .block_bound = block_bound,
};
