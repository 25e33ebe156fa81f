/* "transpose": stored axis d is axis[d] of the array. Also implements order F of Zarr v2. */
#include <stdio.h>
#include <string.h>

#include "codec/codec_pkg.h"

CUBED_CODEC_CONF_FITS(cb_transpose_conf);

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx, void *conf,
                          cubed_error *err)
{
    cb_transpose_conf *c = conf;
    json_t *doc = NULL;
    (void)format;
    CB_TRY(cb_json_parse("codec transpose", json, strlen(json), &doc, err));
    const json_t *order = json_object_get(doc, "order");
    cubed_status st = CUBED_OK;
    uint64_t seen = 0;
    if (json_is_string(order)) { /* values of an early draft of the specification */
        bool f = strcmp(json_string_value(order), "F") == 0;
        if (!f && strcmp(json_string_value(order), "C") != 0)
            st = cb_fail(err, CUBED_E_FORMAT,
                         "codec transpose: \"order\" is \"%s\", expected a list of axes",
                         json_string_value(order));
        for (int d = 0; d < ctx->ndim; d++) c->axis[d] = (uint8_t)(f ? ctx->ndim - 1 - d : d);
    } else if (json_array_size(order) == (size_t)ctx->ndim) {
        for (int d = 0; d < ctx->ndim; d++) {
            json_int_t a = json_integer_value(json_array_get(order, (size_t)d));
            if (!json_is_integer(json_array_get(order, (size_t)d)) || a < 0 || a >= ctx->ndim ||
                (seen >> a & 1)) {
                st = cb_fail(err, CUBED_E_FORMAT,
                             "codec transpose: \"order\" is not a permutation of %d axes",
                             ctx->ndim);
                break;
            }
            seen |= (uint64_t)1 << a;
            c->axis[d] = (uint8_t)a;
        }
    } else {
        st =
            cb_fail(err, CUBED_E_FORMAT, "codec transpose: \"order\" must list %d axes", ctx->ndim);
    }
    json_decref(doc);
    return st;
}

static cubed_status print(const void *conf, int format, const cubed_codec_ctx *ctx, char *json,
                          size_t cap, cubed_error *err)
{
    const cb_transpose_conf *c = conf;
    (void)format;
    size_t n = (size_t)snprintf(json, cap, "{\"order\": [");
    for (int d = 0; d < ctx->ndim && n < cap; d++)
        n += (size_t)snprintf(json + n, cap - n, "%s%d", d ? ", " : "", c->axis[d]);
    if (n < cap) n += (size_t)snprintf(json + n, cap - n, "]}");
    return n < cap ? CUBED_OK
                   : cb_fail(err, CUBED_E_ARG,
                             "codec transpose: the configuration does not fit into %zu bytes", cap);
}

/* Copies between stored and array elements. Visits the stored elements in order; `stride` has the array's strides by stored
 * axis. The two innermost axes are tiled so that both sides stay in the cache. */
static void move(const cb_transpose_conf *conf, const cubed_codec_ctx *ctx, char *stored,
                 char *array, bool store)
{
    int n = ctx->ndim;
    size_t size = ctx->item_size;
    int64_t array_stride[CUBED_MAX_NDIM], extent[CUBED_MAX_NDIM], stride[CUBED_MAX_NDIM];
    int64_t stored_stride[CUBED_MAX_NDIM], idx[CUBED_MAX_NDIM] = {0};
    int64_t s = (int64_t)size;
    for (int d = n - 1; d >= 0; d--) {
        array_stride[d] = s;
        s *= ctx->shape[d];
    }
    s = (int64_t)size;
    for (int d = n - 1; d >= 0; d--) {
        extent[d] = ctx->shape[conf->axis[d]];
        stride[d] = array_stride[conf->axis[d]];
        stored_stride[d] = s;
        s *= extent[d];
    }
    for (int d = 0; d < n; d++) {
        if (extent[d] == 0) return;
    }
    /* The last stored axis is contiguous; the fastest axis of the array is stored axis f. */
    int last = n - 1, f = 0;
    for (int d = 0; d < n; d++) {
        if (conf->axis[d] == n - 1) f = d;
    }
    const int64_t tile = 32;
    for (;;) {
        int64_t base_s = 0, base_a = 0;
        for (int d = 0; d < n; d++) {
            base_s += idx[d] * stored_stride[d];
            base_a += idx[d] * stride[d];
        }
        int64_t nf = f == last ? 1 : extent[f];
        for (int64_t i0 = 0; i0 < nf; i0 += tile) {
            for (int64_t j0 = 0; j0 < extent[last]; j0 += tile) {
                for (int64_t i = i0; i < cb_min_i64(nf, i0 + tile); i++) {
                    for (int64_t j = j0; j < cb_min_i64(extent[last], j0 + tile); j++) {
                        char *p = stored + base_s + j * stored_stride[last] +
                                  (f == last ? 0 : i * stored_stride[f]);
                        char *q =
                            array + base_a + j * stride[last] + (f == last ? 0 : i * stride[f]);
                        if (store)
                            memcpy(p, q, size);
                        else
                            memcpy(q, p, size);
                    }
                }
            }
        }
        int d = n - 1;
        for (; d >= 0; d--) {
            if (d == last || d == f) continue;
            if (++idx[d] < extent[d]) break;
            idx[d] = 0;
        }
        if (d < 0) return;
    }
}

static cubed_status check(const cubed_codec_call *call, cubed_error *err)
{
    const cubed_codec_ctx *ctx = call->ctx;
    int64_t n = 0;
    if (cb_count(ctx->ndim, ctx->shape, &n) || (size_t)n * ctx->item_size != call->src_size ||
        call->src_size > call->dst_cap)
        return cb_fail(err, CUBED_E_FORMAT, "the chunk has %zu bytes, expected %zu", call->src_size,
                       call->dst_cap);
    return CUBED_OK;
}

static cubed_status decode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    CB_TRY(check(call, err));
    move(call->conf, call->ctx, (char *)(uintptr_t)call->src, call->dst, false);
    *got = call->src_size;
    return CUBED_OK;
}

static cubed_status encode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    CB_TRY(check(call, err));
    move(call->conf, call->ctx, call->dst, (char *)(uintptr_t)call->src, true);
    *got = call->src_size;
    return CUBED_OK;
}

static bool is_identity(const void *conf, const cubed_codec_ctx *ctx)
{
    const cb_transpose_conf *c = conf;
    for (int d = 0; d < ctx->ndim; d++) {
        if (c->axis[d] != d) return false;
    }
    return true;
}

static void output(const void *conf, cubed_codec_ctx *ctx, int64_t *shape)
{
    const cb_transpose_conf *c = conf;
    int64_t out[CUBED_MAX_NDIM];
    for (int d = 0; d < ctx->ndim; d++) out[d] = shape[c->axis[d]];
    memcpy(shape, out, (size_t)ctx->ndim * sizeof *out);
}

const cubed_codec_vtable cb_codec_transpose = {
    .kind = CUBED_CODEC_ARRAY_TO_ARRAY,
    .name = "transpose",
    .parse = parse,
    .print = print,
    .bound = cb_codec_same_bound,
    .decode_need = cb_codec_needs_nothing,
    .encode_need = cb_codec_needs_nothing,
    .decode = decode,
    .encode = encode,
    .is_identity = is_identity,
    .output = output,
};
