/* numcodecs' "pcodec": integers and floats of 2 to 8 bytes, and times as integers, in pco's standalone format. extra/pcodec
 * wraps the Rust crate pco in three functions. Decoding does not depend on the configuration. */
#include <stdio.h>
#include <string.h>

#include "codec/codec_pkg.h"
#include "codec/pcodec.h"

#define DEFAULT_PAGE 262144
#define MOST_IN_PAGE (1 << 24)

typedef struct pcodec_conf {
    int64_t level;
    int64_t mode;  /* index of the mode in `modes` */
    int64_t delta; /* delta order, CB_PCO_AUTO or CB_PCO_LOOKBACK */
    int64_t page;  /* maximum count of numbers in a page */
} pcodec_conf;
CUBED_CODEC_CONF_FITS(pcodec_conf);

/* Returns pco's number for the type; 0: not supported by pco or, for 8-bit types, by numcodecs. */
static uint8_t type_of(cubed_dtype dtype)
{
    switch (cubed_dtype_family(dtype)) {
    case CUBED_UINT32: return 1;
    case CUBED_UINT64: return 2;
    case CUBED_INT32: return 3;
    case CUBED_INT64:
    case CUBED_DATETIME64:
    case CUBED_TIMEDELTA64: return 4;
    case CUBED_FLOAT32: return 5;
    case CUBED_FLOAT64: return 6;
    case CUBED_UINT16: return 7;
    case CUBED_INT16: return 8;
    case CUBED_FLOAT16: return 9;
    default: return 0;
    }
}

static size_t count_of(const cubed_codec_ctx *ctx)
{
    size_t n = 1;
    for (int d = 0; d < ctx->ndim; d++) n *= (size_t)ctx->shape[d];
    return n;
}

/* Sets *out to the index of the value in `names`. Leaves *out unchanged if the key is missing. */
static cubed_status read_name(const json_t *doc, const char *key, const char *const *names,
                              int64_t *out, cubed_error *err)
{
    const json_t *v = json_object_get(doc, key);
    const char *name = json_string_value(v);
    if (!v) return CUBED_OK;
    for (int64_t i = 0; name && names[i]; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *out = i;
        return CUBED_OK;
    }
    cubed_status st = cb_fail(err, name ? CUBED_E_UNSUPPORTED : CUBED_E_FORMAT,
                              "codec pcodec: \"%s\" is %s%s%s, expected one of:", key,
                              name ? "\"" : "not a string", name ? name : "", name ? "\"" : "");
    for (int i = 0; names[i]; i++) cb_note(err, " %s", names[i]);
    return st;
}

static const char *const modes[] = {"auto", "classic", NULL};
enum { MODE_AUTO, MODE_CLASSIC }; /* "classic" does not search for structure in the numbers */
static const char *const deltas[] = {"auto", "none", "try_consecutive", "try_lookback", NULL};
enum { NAME_AUTO, NAME_NONE, NAME_CONSECUTIVE, NAME_LOOKBACK };
static const char *const pagings[] = {"equal_pages_up_to", NULL};

/* Reads the delta order. An order with "auto" has the same meaning as with "try_consecutive". */
static cubed_status read_delta(const json_t *doc, int64_t *out, cubed_error *err)
{
    static const cb_conf_key orders = {"pcodec", "delta_encoding_order", 0, 0, 7};
    const char *key = orders.key;
    const json_t *v = json_object_get(doc, key);
    int64_t name = NAME_AUTO, order = -1;
    CB_TRY(read_name(doc, "delta_spec", deltas, &name, err));
    if (v && !json_is_null(v)) CB_TRY(cb_conf_int(doc, &orders, &order, err));
    if (name == NAME_CONSECUTIVE && order < 0)
        return cb_fail(err, CUBED_E_FORMAT, "codec pcodec: \"delta_spec\" %s needs \"%s\"",
                       deltas[name], key);
    if ((name == NAME_NONE || name == NAME_LOOKBACK) && order >= 0)
        return cb_fail(err, CUBED_E_FORMAT,
                       "codec pcodec: \"%s\" cannot be combined with \"%s\" %s", key, "delta_spec",
                       deltas[name]);
    *out = name == NAME_LOOKBACK ? CB_PCO_LOOKBACK : name == NAME_NONE ? 0 : order;
    return CUBED_OK;
}

static cubed_status read_conf(const json_t *doc, int format, const cubed_codec_ctx *ctx, void *conf,
                              cubed_error *err)
{
    static const cb_conf_key level = {"pcodec", "level", 8, 0, 12};
    static const cb_conf_key page = {"pcodec", "equal_pages_up_to", DEFAULT_PAGE, 1, MOST_IN_PAGE};
    pcodec_conf *c = conf;
    int64_t paging = 0;
    (void)format;
    if (type_of(ctx->dtype) == 0 || ctx->swapped)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "codec pcodec: elements of %s%s, expected integers and floats of 16 to 64 "
                       "bits or times",
                       cubed_dtype_name(ctx->dtype), ctx->swapped ? " in big-endian order" : "");
    c->mode = MODE_AUTO;
    CB_TRY(cb_conf_int(doc, &level, &c->level, err));
    CB_TRY(read_name(doc, "mode_spec", modes, &c->mode, err));
    CB_TRY(read_delta(doc, &c->delta, err));
    CB_TRY(read_name(doc, "paging_spec", pagings, &paging, err));
    return cb_conf_int(doc, &page, &c->page, err);
}

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx, void *conf,
                          cubed_error *err)
{
    return cb_conf_parse(json, "pcodec", format, ctx, read_conf, conf, err);
}

static cubed_status print(const void *conf, int format, const cubed_codec_ctx *ctx, char *json,
                          size_t cap, cubed_error *err)
{
    const pcodec_conf *c = conf;
    const int64_t delta = c->delta;
    char order[16] = "null";
    (void)format;
    (void)ctx;
    if (delta > 0) snprintf(order, sizeof order, "%d", (int)delta);
    const int n = snprintf(json, cap,
                           "{\"level\": %d, \"mode_spec\": \"%s\", \"delta_spec\": \"%s\", "
                           "\"paging_spec\": \"%s\", \"delta_encoding_order\": %s, "
                           "\"equal_pages_up_to\": %d}",
                           (int)c->level, modes[c->mode],
                           deltas[delta == CB_PCO_AUTO       ? NAME_AUTO
                                  : delta == CB_PCO_LOOKBACK ? NAME_LOOKBACK
                                  : delta == 0               ? NAME_NONE
                                                             : NAME_CONSECUTIVE],
                           pagings[0], order, (int)c->page);
    return n > 0 && (size_t)n < cap
               ? CUBED_OK
               : cb_fail(err, CUBED_E_ARG,
                         "codec pcodec: the configuration does not fit into %zu bytes", cap);
}

/* Returns the maximum encoded size, including the description of each page. Allows for pages of other writers, and of noise,
 * which may be slightly longer than those of the present pco. */
static size_t bound(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    const pcodec_conf *c = conf;
    size_t most = cb_pco_bound(type_of(ctx->dtype), count_of(ctx), (size_t)c->page);
    if (most == 0 || cb_add_size(most, raw_size / 16 + 1024, &most)) return 0;
    return most;
}

/* Returns the memory of pco's decoder: up to three streams of bins (lookbacks, primary and secondary latents) with 2**14 states
 * each, and two windows of 2**15 numbers, each with 2**15 initial numbers. A writer may choose a mode that also stores all
 * distinct numbers. The crate rejects chunks that need more. */
static cubed_codec_need decode_need(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    return (cubed_codec_need){0, cb_sat_add(raw_size, (size_t)4 << 20)};
}

/* Measured: 44 bytes plus 4 times the size of a number, per number of a page. This returns a quarter more. */
static cubed_codec_need encode_need(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    const pcodec_conf *c = conf;
    const size_t n = count_of(ctx), page = cb_min_size(n, (size_t)c->page);
    (void)raw_size;
    return (cubed_codec_need){0, page * (5 * ctx->item_size + 55) + 16 * (n / page + 1) +
                                     ((size_t)256 << 10)};
}

/* Converts a result of the crate to a status. `refused` is the status for CB_PCO_REFUSED. The decoder passes the status of a
 * damaged chunk, the encoder that of an internal error. */
static cubed_status status_of(int said, const char *message, cubed_status refused, cubed_error *err)
{
    if (said == CB_PCO_DONE) return CUBED_OK;
    if (said == CB_PCO_NO_MEMORY)
        return cb_fail(err, CUBED_E_NOMEM, "no memory for pco: %s", message);
    return cb_fail(err, refused, "%s", message);
}

static cubed_status decode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    char message[256] = "";
    const cubed_codec_ctx *ctx = call->ctx;
    const size_t n = count_of(ctx), bytes = n * ctx->item_size;
    CB_CHECK(bytes <= call->dst_cap, err);
    const int said = cb_pco_decode(type_of(ctx->dtype), call->src, call->src_size, call->dst, n,
                                   decode_need(call->conf, ctx, bytes).library,
                                   (cb_pco_says){message, sizeof message});
    *got = bytes;
    return status_of(said, message, CUBED_E_FORMAT, err);
}

static cubed_status encode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const pcodec_conf *c = call->conf;
    const cb_pco_config config = {(size_t)c->level, (size_t)c->page, c->mode == MODE_CLASSIC,
                                  (int)c->delta};
    char message[256] = "";
    const int said =
        cb_pco_encode(type_of(call->ctx->dtype), &config, call->src, count_of(call->ctx), call->dst,
                      call->dst_cap, got, encode_need(c, call->ctx, call->src_size).library,
                      (cb_pco_says){message, sizeof message});
    return status_of(said, message, CUBED_E_INTERNAL, err);
}

/* Replaces "bytes" in format 3. In format 2 it is the compressor, and receives the element type of the array's chunks. */
const cubed_codec_vtable cb_codec_pcodec = {
    .kind = CUBED_CODEC_ARRAY_TO_BYTES,
    .name = "numcodecs.pcodec",
    .name_v2 = "pcodec",
    .parse = parse,
    .print = print,
    .bound = bound,
    .decode_need = decode_need,
    .encode_need = encode_need,
    .decode = decode,
    .encode = encode,
};
