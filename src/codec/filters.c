/* numcodecs' "delta", "fixedscaleoffset", "quantize" and "astype", and format 3's "scale_offset": store elements of one
 * type as elements of another. In format 2 they process bytes in the order that their own type strings define. In format 3
 * they precede "bytes" and process elements in native byte order. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "codec/codec_pkg.h"
#include "dtype/half.h"
#include "dtype/scalar.h"
#include "dtype/typestr.h"

enum { DECODED, ENCODED };
typedef enum filter { DELTA, SCALE, QUANTIZE, ASTYPE, SCALE_EXACTLY } filter;

typedef struct number {
    double value;
    bool is_integer; /* the number is an integer in JSON, and is printed as one */
} number;

typedef struct filter_conf {
    filter kind;
    cubed_dtype dtype[2]; /* types of DECODED and ENCODED elements */
    bool swapped[2];      /* elements are not in native byte order */
    number offset, scale; /* parameters of the filters SCALE and SCALE_EXACTLY */
    int64_t digits;       /* for QUANTIZE */
} filter_conf;
CUBED_CODEC_CONF_FITS(filter_conf);

static cubed_status begin(filter kind, const char *where, const char *json, filter_conf *conf,
                          json_t **doc, cubed_error *err)
{
    conf->kind = kind;
    return cb_json_parse(where, json, strlen(json), doc, err);
}

/* Parses the type string under a key. In format 3 a missing string means the array's type. */
static cubed_status parse_type(const json_t *doc, const char *codec, const char *key, int format,
                               const cubed_codec_ctx *ctx, filter_conf *conf, int side,
                               cubed_error *err)
{
    const bool native_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    const char *s;
    cubed_dtype dtype;
    bool big = native_big;
    const json_t *given = json_object_get(doc, key);
    if (format == 3 && (!given || json_is_null(given)))
        s = cubed_dtype_name(ctx->dtype);
    else
        CB_TRY(cb_json_get_string("filter", doc, key, &s, err));
    if (!cb_typestr_parse(s, &dtype, &big) && cubed_dtype_parse(s, &dtype, NULL) != CUBED_OK)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "codec %s: \"%s\" is \"%s\", which is not a valid type", codec, key, s);
    cubed_kind kind = cubed_dtype_kind(dtype);
    if ((dtype >= CUBED_DTYPE_COUNT && dtype != CUBED_FLOAT16) || kind == CUBED_KIND_BOOL ||
        kind == CUBED_KIND_COMPLEX)
        return cb_fail(
            err, CUBED_E_UNSUPPORTED,
            "codec %s: \"%s\" is \"%s\", expected a type of integers, float16, float32 or float64",
            codec, key, s);
    conf->dtype[side] = dtype;
    conf->swapped[side] = format == 2 && cubed_dtype_size(dtype) > 1 && big != native_big;
    return CUBED_OK;
}

static cubed_status check_decoded(const char *codec, const cubed_codec_ctx *ctx,
                                  const filter_conf *conf, cubed_error *err)
{
    size_t size = cubed_dtype_size(conf->dtype[DECODED]);
    if (ctx->item_size != size || ctx->unit_size != size)
        return cb_fail(err, CUBED_E_FORMAT,
                       "codec %s: its type has %zu bytes, but the elements have %zu", codec, size,
                       ctx->item_size);
    return CUBED_OK;
}

/* Parses both types. A missing "astype" means the type in "dtype". */
static cubed_status parse_types(json_t *doc, const char *codec, int format,
                                const cubed_codec_ctx *ctx, filter_conf *conf, cubed_error *err)
{
    CB_TRY(parse_type(doc, codec, "dtype", format, ctx, conf, DECODED, err));
    if (!json_object_get(doc, "astype") || json_is_null(json_object_get(doc, "astype"))) {
        conf->dtype[ENCODED] = conf->dtype[DECODED];
        conf->swapped[ENCODED] = conf->swapped[DECODED];
    } else {
        CB_TRY(parse_type(doc, codec, "astype", format, ctx, conf, ENCODED, err));
    }
    return check_decoded(codec, ctx, conf, err);
}

static cubed_status parse_delta(const char *json, int format, const cubed_codec_ctx *ctx,
                                void *conf, cubed_error *err)
{
    json_t *doc = NULL;
    CB_TRY(begin(DELTA, "codec delta", json, conf, &doc, err));
    cubed_status st = parse_types(doc, "delta", format, ctx, conf, err);
    json_decref(doc);
    return st;
}

static cubed_status parse_number(const char *codec, const json_t *doc, const char *key, number *out,
                                 cubed_error *err)
{
    const json_t *v = json_object_get(doc, key);
    if (!json_is_number(v))
        return cb_fail(err, CUBED_E_FORMAT, "codec %s: \"%s\" must be a number", codec, key);
    *out = (number){json_number_value(v), json_is_integer(v)};
    return CUBED_OK;
}

static bool is_float(cubed_dtype dtype) { return cubed_dtype_kind(dtype) == CUBED_KIND_FLOAT; }

static cubed_status parse_quantize(const char *json, int format, const cubed_codec_ctx *ctx,
                                   void *conf, cubed_error *err)
{
    static const cb_conf_key digits = {"quantize", "digits", 0, -300, 300};
    filter_conf *c = conf;
    json_t *doc = NULL;
    CB_TRY(begin(QUANTIZE, "codec quantize", json, c, &doc, err));
    cubed_status st = parse_types(doc, "quantize", format, ctx, c, err);
    if (st == CUBED_OK && (!is_float(c->dtype[DECODED]) || !is_float(c->dtype[ENCODED])))
        st = cb_fail(err, CUBED_E_FORMAT, "codec quantize: its types are not floats");
    if (st == CUBED_OK && !json_is_integer(json_object_get(doc, "digits")))
        st = cb_fail(err, CUBED_E_FORMAT, "codec quantize: \"digits\" must be an integer");
    if (st == CUBED_OK) st = cb_conf_int(doc, &digits, &c->digits, err);
    json_decref(doc);
    return st;
}

static cubed_status parse_astype(const char *json, int format, const cubed_codec_ctx *ctx,
                                 void *conf, cubed_error *err)
{
    json_t *doc = NULL;
    CB_TRY(begin(ASTYPE, "codec astype", json, conf, &doc, err));
    cubed_status st = parse_type(doc, "astype", "encode_dtype", format, ctx, conf, ENCODED, err);
    if (st == CUBED_OK)
        st = parse_type(doc, "astype", "decode_dtype", format, ctx, conf, DECODED, err);
    if (st == CUBED_OK) st = check_decoded("astype", ctx, conf, err);
    json_decref(doc);
    return st;
}

/* Supports only floats: according to the specification, integers that do not fit are errors. */
static cubed_status parse_scale_offset(const char *json, int format, const cubed_codec_ctx *ctx,
                                       void *conf, cubed_error *err)
{
    filter_conf *c = conf;
    json_t *doc = NULL;
    (void)format;
    if (ctx->dtype != CUBED_FLOAT32 && ctx->dtype != CUBED_FLOAT64)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "codec scale_offset: the elements are %s, expected float32 or float64",
                       cubed_dtype_name(ctx->dtype));
    CB_TRY(begin(SCALE_EXACTLY, "codec scale_offset", json, c, &doc, err));
    c->scale.value = 1;
    c->dtype[DECODED] = c->dtype[ENCODED] = ctx->dtype;
    cubed_status st = CUBED_OK;
    if (json_object_get(doc, "offset"))
        st = parse_number("scale_offset", doc, "offset", &c->offset, err);
    if (st == CUBED_OK && json_object_get(doc, "scale"))
        st = parse_number("scale_offset", doc, "scale", &c->scale, err);
    if (st == CUBED_OK && c->scale.value == 0)
        st = cb_fail(err, CUBED_E_FORMAT, "codec scale_offset: \"scale\" is 0");
    json_decref(doc);
    return st;
}

static cubed_status parse_scale(const char *json, int format, const cubed_codec_ctx *ctx,
                                void *conf, cubed_error *err)
{
    filter_conf *c = conf;
    json_t *doc = NULL;
    CB_TRY(begin(SCALE, "codec fixedscaleoffset", json, c, &doc, err));
    cubed_status st = parse_types(doc, "fixedscaleoffset", format, ctx, c, err);
    if (st == CUBED_OK) st = parse_number("fixedscaleoffset", doc, "offset", &c->offset, err);
    if (st == CUBED_OK) st = parse_number("fixedscaleoffset", doc, "scale", &c->scale, err);
    if (st == CUBED_OK && c->scale.value == 0)
        st = cb_fail(err, CUBED_E_FORMAT, "codec fixedscaleoffset: \"scale\" is 0");
    json_decref(doc);
    return st;
}

/* Gets the type strings of decoded and encoded elements. */
static void put_types(const filter_conf *conf, char text[2][CB_TYPESTR_CAP])
{
    const bool native_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    for (int side = 0; side < 2; side++)
        cb_typestr_print(conf->dtype[side], native_big != conf->swapped[side], text[side]);
}

/* Prints the keys that parse_types reads, without the closing brace. */
static size_t print_types(const filter_conf *conf, char *json, size_t cap)
{
    char text[2][CB_TYPESTR_CAP];
    put_types(conf, text);
    return (size_t)snprintf(json, cap, "{\"dtype\": \"%s\", \"astype\": \"%s\"", text[0], text[1]);
}

static cubed_status print_delta(const void *conf, int format, const cubed_codec_ctx *ctx,
                                char *json, size_t cap, cubed_error *err)
{
    (void)format;
    (void)ctx;
    size_t n = print_types(conf, json, cap);
    if (n < cap) n += (size_t)snprintf(json + n, cap - n, "}");
    return n < cap ? CUBED_OK
                   : cb_fail(err, CUBED_E_ARG,
                             "codec delta: the configuration does not fit into %zu bytes", cap);
}

static cubed_status print_scale(const void *conf, int format, const cubed_codec_ctx *ctx,
                                char *json, size_t cap, cubed_error *err)
{
    (void)format;
    (void)ctx;
    static const char *const keys[] = {"offset", "scale"};
    const filter_conf *c = conf;
    const number numbers[] = {c->offset, c->scale};
    size_t n = print_types(c, json, cap);
    for (int k = 0; k < 2 && n < cap; k++)
        n += (size_t)snprintf(json + n, cap - n,
                              numbers[k].is_integer ? ", \"%s\": %.0f" : ", \"%s\": %.17g", keys[k],
                              numbers[k].value);
    if (n < cap) n += (size_t)snprintf(json + n, cap - n, "}");
    return n < cap
               ? CUBED_OK
               : cb_fail(err, CUBED_E_ARG,
                         "codec fixedscaleoffset: the configuration does not fit into %zu bytes",
                         cap);
}

static cubed_status print_quantize(const void *conf, int format, const cubed_codec_ctx *ctx,
                                   char *json, size_t cap, cubed_error *err)
{
    (void)format;
    (void)ctx;
    const filter_conf *c = conf;
    size_t n = print_types(c, json, cap);
    if (n < cap) n += (size_t)snprintf(json + n, cap - n, ", \"digits\": %d}", (int)c->digits);
    return n < cap ? CUBED_OK
                   : cb_fail(err, CUBED_E_ARG,
                             "codec quantize: the configuration does not fit into %zu bytes", cap);
}

static cubed_status print_astype(const void *conf, int format, const cubed_codec_ctx *ctx,
                                 char *json, size_t cap, cubed_error *err)
{
    char text[2][CB_TYPESTR_CAP];
    (void)format;
    (void)ctx;
    put_types(conf, text);
    size_t n = (size_t)snprintf(json, cap, "{\"encode_dtype\": \"%s\", \"decode_dtype\": \"%s\"}",
                                text[ENCODED], text[DECODED]);
    return n < cap ? CUBED_OK
                   : cb_fail(err, CUBED_E_ARG,
                             "codec astype: the configuration does not fit into %zu bytes", cap);
}

static cubed_status print_scale_offset(const void *conf, int format, const cubed_codec_ctx *ctx,
                                       char *json, size_t cap, cubed_error *err)
{
    const filter_conf *c = conf;
    (void)format;
    (void)ctx;
    size_t n = (size_t)snprintf(json, cap, "{\"offset\": %.17g, \"scale\": %.17g}", c->offset.value,
                                c->scale.value);
    return n < cap
               ? CUBED_OK
               : cb_fail(err, CUBED_E_ARG,
                         "codec scale_offset: the configuration does not fit into %zu bytes", cap);
}

static size_t bound(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    const filter_conf *c = conf;
    size_t n;
    (void)ctx;
    if (cb_mul_size(raw_size / cubed_dtype_size(c->dtype[DECODED]),
                    cubed_dtype_size(c->dtype[ENCODED]), &n))
        return 0;
    return n ? n : 1;
}

static void output(const void *conf, cubed_codec_ctx *ctx,
                   int64_t *shape) /* NOLINT(readability-non-const-parameter): others change it */
{
    const filter_conf *c = conf;
    (void)shape;
    ctx->item_size = ctx->unit_size = cubed_dtype_size(c->dtype[ENCODED]);
    ctx->dtype = c->dtype[ENCODED];
    ctx->swapped = c->swapped[ENCODED];
}

/* --- Elements ---------------------------------------------------------------------------------------- */

static cubed_scalar load(const unsigned char *p, size_t size, bool swapped)
{
    cubed_scalar v = {.c128 = {0, 0}};
    for (size_t k = 0; k < size; k++) v.bytes[k] = p[swapped ? size - 1 - k : k];
    return v;
}

static void store(unsigned char *p, size_t size, bool swapped, const cubed_scalar *v)
{
    for (size_t k = 0; k < size; k++) p[swapped ? size - 1 - k : k] = v->bytes[k];
}

/* Rounds like NumPy, which rounds each result of a type other than float64 and computes float16 in float32. */
static float narrow(cubed_dtype dtype, double v)
{
    return dtype == CUBED_FLOAT16 ? cb_half_to_float(cb_double_to_half(v)) : (float)v;
}

static bool is_narrow(cubed_dtype dtype)
{
    return dtype == CUBED_FLOAT16 || dtype == CUBED_FLOAT32;
}

/* Adds or subtracts. If both operands are NaN, returns the first one, because the processor's choice would depend on the order
 * that the compiler gives the operands. */
static float combine_floats(float a, float b, bool minus)
{
    if (a != a) return a + 0;
    return minus ? a - b : a + b;
}

static double combine_doubles(double a, double b, bool minus)
{
    if (a != a) return a + 0;
    return minus ? a - b : a + b;
}

/* Returns a + b or a - b in a type. Integers wrap around. */
static cubed_scalar combine(cubed_dtype dtype, const cubed_scalar *a, const cubed_scalar *b,
                            bool minus)
{
    cubed_scalar r = {.c128 = {0, 0}};
    switch (dtype) {
    case CUBED_FLOAT16: {
        const float x = cb_half_to_float(a->u16), y = cb_half_to_float(b->u16);
        r.u16 = cb_float_to_half(combine_floats(x, y, minus));
        break;
    }
    case CUBED_FLOAT32: r.f32 = combine_floats(a->f32, b->f32, minus); break;
    case CUBED_FLOAT64: r.f64 = combine_doubles(a->f64, b->f64, minus); break;
    case CUBED_INT8:
    case CUBED_UINT8: r.u8 = (uint8_t)(minus ? a->u8 - b->u8 : a->u8 + b->u8); break;
    case CUBED_INT16:
    case CUBED_UINT16: r.u16 = (uint16_t)(minus ? a->u16 - b->u16 : a->u16 + b->u16); break;
    case CUBED_INT32:
    case CUBED_UINT32: r.u32 = minus ? a->u32 - b->u32 : a->u32 + b->u32; break;
    default: r.u64 = minus ? a->u64 - b->u64 : a->u64 + b->u64; break;
    }
    return r;
}

/* Steps of "delta". SUM adds a stored difference to the previous element. DIFFERENCE subtracts the previous element. FIRST stores
 * the first element unchanged, because adding 0 would lose the sign of -0. */
typedef enum delta_step { DELTA_FIRST, DELTA_SUM, DELTA_DIFFERENCE } delta_step;

static cubed_scalar next_delta(cubed_dtype dtype, cubed_scalar v, cubed_scalar *last,
                               delta_step step)
{
    cubed_scalar r = v;
    if (step == DELTA_SUM) r = combine(dtype, last, &v, false);
    if (step == DELTA_DIFFERENCE) r = combine(dtype, &v, last, true);
    *last = step == DELTA_DIFFERENCE ? v : r;
    return r;
}

/* Applies offset and scale to an element. Like NumPy, computes in the element's type if that is a floating-point type. */
static double scale_one(const filter_conf *conf, cubed_dtype from, const cubed_scalar *v,
                        bool decode)
{
    cubed_scalar wide;
    const double offset = conf->offset.value, scale = conf->scale.value;
    cb_scalar_cast(from, v, CUBED_FLOAT64, &wide);
    if (is_narrow(from)) {
        const float x = (float)wide.f64, o = narrow(from, offset), s = narrow(from, scale);
        if (decode) return (double)narrow(from, (double)(narrow(from, (double)(x / s)) + o));
        return (double)rintf(narrow(from, (double)(narrow(from, (double)(x - o)) * s)));
    }
    return decode ? wide.f64 / scale + offset : rint((wide.f64 - offset) * scale);
}

/* Scales in the elements' own type, without rounding. */
static double scale_exactly(const filter_conf *conf, cubed_dtype type, const cubed_scalar *v,
                            bool decode)
{
    const double offset = conf->offset.value, scale = conf->scale.value;
    if (type == CUBED_FLOAT32) {
        const float o = (float)offset, s = (float)scale;
        return (double)(decode ? v->f32 / s + o : (v->f32 - o) * s);
    }
    return decode ? v->f64 / scale + offset : (v->f64 - offset) * scale;
}

/* Returns the scale of `quantize`, a power of two that keeps the requested number of decimal digits. */
static double quantum(const filter_conf *conf)
{
    double exponent = log10(pow(10, (double)-conf->digits));
    exponent = exponent < 0 ? floor(exponent) : ceil(exponent);
    return pow(2, ceil(log2(pow(10, -exponent))));
}

static double quantize(cubed_dtype from, const cubed_scalar *v, double scale)
{
    if (is_narrow(from)) {
        const float x = from == CUBED_FLOAT16 ? cb_half_to_float(v->u16) : v->f32;
        const float s = narrow(from, scale);
        return (double)(rintf(narrow(from, (double)(s * x))) / s);
    }
    return rint(scale * v->f64) / scale;
}

static cubed_status run(const cubed_codec_call *call, bool decode, size_t *got, cubed_error *err)
{
    const filter_conf *conf = call->conf;
    const filter kind = conf->kind;
    const unsigned char *src = call->src;
    unsigned char *dst = call->dst;
    int in = decode ? ENCODED : DECODED, out = 1 - in;
    cubed_dtype from = conf->dtype[in], to = conf->dtype[out];
    size_t fs = cubed_dtype_size(from), ts = cubed_dtype_size(to), n = call->src_size / fs;
    const double scale = kind == QUANTIZE ? quantum(conf) : 0;
    if (call->src_size % fs != 0 || n > call->dst_cap / ts)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes, expected a multiple of %zu up to %zu",
                       call->src_size, fs, call->dst_cap / ts * fs);
    cubed_scalar last = {.c128 = {0, 0}};
    for (size_t i = 0; i < n; i++) {
        cubed_scalar v = load(src + i * fs, fs, conf->swapped[in]), r;
        if (kind == DELTA && decode) { /* sums and differences have the decoded type */
            cb_scalar_cast(from, &v, to, &r);
            r = next_delta(to, r, &last, i == 0 ? DELTA_FIRST : DELTA_SUM);
        } else if (kind == DELTA) {
            r = next_delta(from, v, &last, i == 0 ? DELTA_FIRST : DELTA_DIFFERENCE);
            cb_scalar_cast(from, &r, to, &r);
        } else if (kind == SCALE) {
            r = cb_scalar_from_double(to, scale_one(conf, from, &v, decode));
        } else if (kind == SCALE_EXACTLY) {
            r = cb_scalar_from_double(to, scale_exactly(conf, from, &v, decode));
        } else if (kind == QUANTIZE && !decode) {
            r = cb_scalar_from_double(to, quantize(from, &v, scale));
        } else {
            cb_scalar_cast(from, &v, to, &r);
        }
        store(dst + i * ts, ts, conf->swapped[out], &r);
    }
    *got = n * ts;
    return CUBED_OK;
}

static cubed_status decode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    return run(call, true, got, err);
}

static cubed_status encode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    return run(call, false, got, err);
}

const cubed_codec_vtable cb_codec_delta = {
    .kind = CUBED_CODEC_ARRAY_TO_ARRAY,
    .name = "numcodecs.delta",
    .name_v2 = "delta",
    .parse = parse_delta,
    .print = print_delta,
    .bound = bound,
    .decode_need = cb_codec_needs_nothing,
    .encode_need = cb_codec_needs_nothing,
    .decode = decode,
    .encode = encode,
    .output = output,
};
const cubed_codec_vtable cb_codec_fixedscaleoffset = {
    .kind = CUBED_CODEC_ARRAY_TO_ARRAY,
    .name = "numcodecs.fixedscaleoffset",
    .name_v2 = "fixedscaleoffset",
    .parse = parse_scale,
    .print = print_scale,
    .bound = bound,
    .decode_need = cb_codec_needs_nothing,
    .encode_need = cb_codec_needs_nothing,
    .decode = decode,
    .encode = encode,
    .output = output,
};
const cubed_codec_vtable cb_codec_quantize = {
    .kind = CUBED_CODEC_ARRAY_TO_ARRAY,
    .name = "numcodecs.quantize",
    .name_v2 = "quantize",
    .parse = parse_quantize,
    .print = print_quantize,
    .bound = bound,
    .decode_need = cb_codec_needs_nothing,
    .encode_need = cb_codec_needs_nothing,
    .decode = decode,
    .encode = encode,
    .output = output,
};
const cubed_codec_vtable cb_codec_astype = {
    .kind = CUBED_CODEC_ARRAY_TO_ARRAY,
    .name = "numcodecs.astype",
    .name_v2 = "astype",
    .parse = parse_astype,
    .print = print_astype,
    .bound = bound,
    .decode_need = cb_codec_needs_nothing,
    .encode_need = cb_codec_needs_nothing,
    .decode = decode,
    .encode = encode,
    .output = output,
};
const cubed_codec_vtable cb_codec_scale_offset = {
    .kind = CUBED_CODEC_ARRAY_TO_ARRAY,
    .name = "scale_offset",
    .parse = parse_scale_offset,
    .print = print_scale_offset,
    .bound = bound,
    .decode_need = cb_codec_needs_nothing,
    .encode_need = cb_codec_needs_nothing,
    .decode = decode,
    .encode = encode,
    .output = output,
};
