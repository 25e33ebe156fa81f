/* "cubed.grib": one field of a GRIB message per chunk, read-only. An encoded chunk is the number of the field in its message
 * (four bytes, little-endian), followed by the message. Simple packing is unpacked here, by all threads in parallel. ecCodes
 * unpacks the other packings and computes the points of grids. */
#include <stdio.h>
#include <string.h>

#include "base/le.h"
#include "codec/codec_pkg.h"
#include "files/grib_library.h"
#include "files/grib_message.h"

enum { NUMBER = 4 };

/* Memory that ecCodes allocates for a call: for a message, and for each point. Measured with 501000 points: 20 bytes per point
 * for JPEG 2000, 9 for CCSDS and complex packing. The points of projected grids need two doubles each, and two more during their
 * computation. */
#define LIBRARY_MESSAGE ((size_t)3 << 20)
#define LIBRARY_POINT   ((size_t)48)

typedef enum grib_var { VALUES, LATITUDES, LONGITUDES } grib_var;
static const char *const var_names[] = {"values", "latitudes", "longitudes"};

typedef struct grib_conf {
    grib_var var;
    bool simple;   /* all chunks have simple packing */
    bool columns;  /* consecutive values in a message are along the columns of the chunk */
    bool serpents; /* every second row is in reverse order */
    int64_t most;  /* maximum size of a message in bytes */
} grib_conf;
CUBED_CODEC_CONF_FITS(grib_conf);

static cubed_status read_var(const json_t *doc, grib_var *out, cubed_error *err)
{
    const char *name;
    CB_TRY(cb_json_get_string("codec cubed.grib", doc, "var", &name, err));
    for (int i = 0; i < 3; i++) {
        *out = (grib_var)i;
        if (strcmp(name, var_names[i]) == 0) return CUBED_OK;
    }
    return cb_fail(err, CUBED_E_FORMAT,
                   "codec cubed.grib: \"var\" is \"%.40s\", expected values, latitudes or "
                   "longitudes",
                   name);
}

static cubed_status read_conf(const json_t *doc, int format, const cubed_codec_ctx *ctx, void *conf,
                              cubed_error *err)
{
    grib_conf *c = conf;
    const json_t *refused = json_object_get(doc, "refused");
    (void)format;
    if (json_is_string(refused))
        return cb_fail(err, CUBED_E_UNSUPPORTED, "%s", json_string_value(refused));
    if ((ctx->dtype != CUBED_FLOAT32 && ctx->dtype != CUBED_FLOAT64) || ctx->swapped ||
        ctx->ndim < 1)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "codec cubed.grib: elements of %s%s with %d dimensions, expected float32 or "
                       "float64 with one or more",
                       cubed_dtype_name(ctx->dtype), ctx->swapped ? " in big-endian order" : "",
                       ctx->ndim);
    CB_TRY(read_var(doc, &c->var, err));
    c->simple = json_is_true(json_object_get(doc, "simple"));
    c->columns = json_is_true(json_object_get(doc, "columns"));
    c->serpents = json_is_true(json_object_get(doc, "serpents"));
    CB_TRY(cb_json_get_int("codec cubed.grib", doc, "most", &c->most, err));
    return c->most > 0 && c->most <= UINT32_MAX
               ? CUBED_OK
               : cb_fail(err, CUBED_E_FORMAT,
                         "codec cubed.grib: \"most\" is %lld, expected 1 to %lld bytes",
                         (long long)c->most, (long long)UINT32_MAX);
}

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx, void *conf,
                          cubed_error *err)
{
    return cb_conf_parse(json, "cubed.grib", format, ctx, read_conf, conf, err);
}

static cubed_status print(const void *conf, int format, const cubed_codec_ctx *ctx, char *json,
                          size_t cap, cubed_error *err)
{
    const grib_conf *c = conf;
    (void)format;
    (void)ctx;
    const int n =
        snprintf(json, cap,
                 "{\"var\": \"%s\", \"simple\": %s, \"columns\": %s, \"serpents\": %s, "
                 "\"most\": %lld}",
                 var_names[c->var], c->simple ? "true" : "false", c->columns ? "true" : "false",
                 c->serpents ? "true" : "false", (long long)c->most);
    return n > 0 && (size_t)n < cap
               ? CUBED_OK
               : cb_fail(err, CUBED_E_ARG,
                         "codec cubed.grib: the configuration does not fit into %zu bytes", cap);
}

static size_t bound(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)ctx;
    (void)raw_size;
    return (size_t)((const grib_conf *)conf)->most + NUMBER;
}

/* The scratch memory has a message with one field, followed by the values as double. */
static cubed_codec_need need(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    const grib_conf *c = conf;
    const size_t points = raw_size / ctx->item_size;
    if (c->var == VALUES && c->simple) return (cubed_codec_need){0, 0};
    const size_t values = c->var == VALUES ? cb_sat_mul(points, sizeof(double)) : 0;
    return (cubed_codec_need){
        cb_sat_add(cb_arena_round((size_t)c->most), values),
        cb_sat_add(LIBRARY_MESSAGE,
                   cb_sat_add((size_t)c->most, cb_sat_mul(points, LIBRARY_POINT)))};
}

/* --- Decoding ----------------------------------------------------------------------------------------- */

static cubed_status read_memory(void *ctx, uint64_t offset, void *dst, size_t n, cubed_error *err)
{
    (void)err;
    memcpy(dst, (const uint8_t *)ctx + offset, n);
    return CUBED_OK;
}

/* Destination of values in scan order. */
typedef struct target {
    const grib_conf *conf;
    float *f32; /* one of f32 and f64 is NULL */
    double *f64;
    uint64_t rows, columns;
} target;

static target target_of(const cubed_codec_call *call)
{
    const cubed_codec_ctx *x = call->ctx;
    target t = {.conf = call->conf, .rows = 1, .columns = (uint64_t)x->shape[x->ndim - 1]};
    for (int d = 0; d + 1 < x->ndim; d++) t.rows *= (uint64_t)x->shape[d];
    if (x->dtype == CUBED_FLOAT32)
        t.f32 = call->dst;
    else
        t.f64 = call->dst;
    return t;
}

/* Returns the position in the chunk of value i in scan order. */
static uint64_t position(const target *t, uint64_t i)
{
    const uint64_t length = t->conf->columns ? t->rows : t->columns;
    const uint64_t line = i / length, at = i % length;
    const uint64_t k = t->conf->serpents && line % 2 ? length - 1 - at : at;
    return t->conf->columns ? k * t->columns + line : line * t->columns + k;
}

static void put_values(void *ctx, uint64_t i, const double *values, int count)
{
    const target *t = ctx;
    const bool straight = !t->conf->columns && !t->conf->serpents;
    for (int k = 0; k < count; k++) {
        const uint64_t at = straight ? i + (unsigned)k : position(t, i + (unsigned)k);
        if (t->f32)
            t->f32[at] = (float)values[k];
        else
            t->f64[at] = values[k];
    }
}

static void put_point(void *ctx, uint64_t i, double latitude, double longitude)
{
    const target *t = ctx;
    const double v = t->conf->var == LATITUDES ? latitude : longitude;
    put_values(ctx, i, &v, 1);
}

/* A call of ecCodes for a message with one field. */
typedef struct request {
    const void *message;
    size_t size;
    uint64_t n;
    double *values; /* receives n values; NULL to request the points of the grid instead */
    target *t;
} request;

static cubed_status get_values(const cb_eccodes *e, void *ctx, cubed_error *err)
{
    const request *r = ctx;
    return cb_eccodes_values(e, r->message, r->size, r->values, r->n, err);
}

static cubed_status get_points(const cb_eccodes *e, void *ctx, cubed_error *err)
{
    const request *r = ctx;
    codes_handle *h = e->handle_new_from_message(NULL, r->message, r->size);
    if (!h) return cb_fail(err, CUBED_E_FORMAT, "ecCodes cannot parse the GRIB message");
    const cubed_status st = cb_eccodes_points(e, h, r->n, put_point, r->t, err);
    e->handle_delete(h);
    return st;
}

/* Unpacks the values into the scratch memory, after the message. */
static cubed_status library_values(const cubed_codec_call *call, request *r, cubed_error *err)
{
    const size_t from = cb_arena_round((size_t)r->t->conf->most);
    CB_CHECK(from <= call->scratch_size && r->n <= (call->scratch_size - from) / sizeof *r->values,
             err);
    r->values = (double *)((char *)call->scratch + from);
    CB_TRY(cb_eccodes_run(get_values, r, err));
    for (uint64_t i = 0; i < r->n; i++) put_values(r->t, i, r->values + i, 1);
    return CUBED_OK;
}

static cubed_status decode_field(const cubed_codec_call *call, const cb_grib_source *s,
                                 const cb_grib_field *f, uint64_t n, cubed_error *err)
{
    target t = target_of(call);
    cb_grib_packing packing;
    uint8_t *alone = call->scratch;
    if (f->edition == 2 && f->points != n)
        return cb_fail(err, CUBED_E_FORMAT, "a GRIB field of %llu points, expected %llu",
                       (unsigned long long)f->points, (unsigned long long)n);
    CB_TRY(cb_grib_packing_of(s, f, &packing, err));
    if (t.conf->var == VALUES && packing.simple)
        return cb_grib_unpack(s->ctx, f, n, put_values, &t, err);
    if (t.conf->simple && t.conf->var == VALUES)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the packing of a GRIB field is not simple packing, as in the other fields "
                       "of the array");
    request r = {.message = alone, .size = cb_grib_header_size(f), .n = n, .t = &t};
    if (t.conf->var != VALUES) {
        CB_CHECK(r.size <= call->scratch_size, err);
        CB_TRY(cb_grib_header(s, f, alone, err));
        return cb_eccodes_run(get_points, &r, err);
    }
    CB_CHECK(f->size <= call->scratch_size, err);
    CB_TRY(cb_grib_alone(s, f, alone, &r.size, err));
    return library_values(call, &r, err);
}

static cubed_status decode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const uint8_t *src = call->src;
    cb_grib_field f;
    uint64_t n = 1;
    for (int d = 0; d < call->ctx->ndim; d++) n *= (uint64_t)call->ctx->shape[d];
    *got = n * call->ctx->item_size;
    if (call->src_size < NUMBER || *got > call->dst_cap ||
        call->src_size - NUMBER > (uint64_t)((const grib_conf *)call->conf)->most)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes are not a GRIB field of %zu bytes",
                       call->src_size, call->dst_cap);
    const cb_grib_source s = {read_memory, (void *)(uintptr_t)(src + NUMBER),
                              call->src_size - NUMBER};
    CB_TRY(cb_grib_find_field(&s, (uint32_t)cb_le_get(src, NUMBER), &f, err));
    return decode_field(call, &s, &f, n, err);
}

static cubed_status encode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    (void)call;
    *got = 0;
    return cb_fail(err, CUBED_E_UNSUPPORTED, "cannot write GRIB: choose other codecs");
}

const cubed_codec_vtable cb_codec_grib = {
    .kind = CUBED_CODEC_ARRAY_TO_BYTES,
    .name = "cubed.grib",
    .parse = parse,
    .print = print,
    .bound = bound,
    .decode_need = need,
    .encode_need = need,
    .decode = decode,
    .encode = encode,
};
