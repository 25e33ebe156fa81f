/* A codec of one's own, "example.runs": equal units of bytes are stored once, behind how often they come.
 *
 *   cc codec.c $(pkg-config --cflags --libs cubed) -o codec && ./codec
 *
 * cubed/sys/codec.h says what the functions promise. What is encoded is untrusted: nothing is believed of it before it
 * has been looked at. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cubed/cubed.h>
#include <cubed/sys/codec.h>

enum { MOST = 255 }; /* units of a run: how many is one byte */

static cubed_status fail(cubed_error *err, cubed_status status, const char *why)
{
    if (!err) return status;
    *err = (cubed_error){.status = status};
    snprintf(err->message, sizeof err->message, "%s", why);
    return status;
}

/* {"unit": 8}: bytes of a unit, which are those of an element if nobody says. */
static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx,
                          cubed_codec_conf *conf, cubed_error *err)
{
    const char *at = strstr(json, "\"unit\"");
    (void)format;
    memset(conf, 0, sizeof *conf);
    if (at) at = strchr(at, ':');
    conf->i[0] = at ? strtoll(at + 1, NULL, 10) : (int64_t)ctx->item_size;
    if (conf->i[0] < 1 || conf->i[0] > MOST)
        return fail(err, CUBED_E_FORMAT, "\"unit\" is none of 1 to 255");
    return CUBED_OK;
}

static cubed_status print(const cubed_codec_conf *conf, int format, const cubed_codec_ctx *ctx,
                          char *json, size_t cap, cubed_error *err)
{
    (void)format;
    (void)ctx;
    const int n = snprintf(json, cap, "{\"unit\": %" PRId64 "}", conf->i[0]);
    return n > 0 && (size_t)n < cap ? CUBED_OK : fail(err, CUBED_E_ARG, "no room");
}

/* At worst no two units are equal, and the last one is not whole: it is stored as it is. */
static size_t bound(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    const size_t units = raw_size / (size_t)conf->i[0];
    (void)ctx;
    return raw_size > SIZE_MAX - units - 1 ? 0 : raw_size + units + 1; /* 0: too many */
}

static cubed_codec_need nothing(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){0, 0};
}

static cubed_status encode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    const size_t unit = (size_t)conf->i[0], rest = src_size % unit;
    const unsigned char *from = src, *end = from + (src_size - rest);
    unsigned char *to = dst;
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    if (dst_cap < src_size + src_size / unit) return fail(err, CUBED_E_ARG, "no room");
    while (from < end) {
        const unsigned char *next = from + unit;
        int n = 1;
        for (; n < MOST && next < end && memcmp(from, next, unit) == 0; n++) next += unit;
        *to++ = (unsigned char)n;
        memcpy(to, from, unit);
        to += unit;
        from = next;
    }
    memcpy(to, end, rest);
    *got = (size_t)(to - (unsigned char *)dst) + rest;
    return CUBED_OK;
}

static cubed_status decode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    const size_t unit = (size_t)conf->i[0], rest = src_size % (unit + 1);
    const unsigned char *from = src, *end = from + (src_size - rest);
    unsigned char *to = dst;
    size_t left = dst_cap;
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    for (; from < end; from += 1 + unit) {
        if (*from > left / unit) return fail(err, CUBED_E_FORMAT, "runs are too long");
        left -= *from * unit;
        for (int n = *from; n > 0; n--, to += unit) memcpy(to, from + 1, unit);
    }
    if (rest > left) return fail(err, CUBED_E_FORMAT, "there are too many bytes");
    memcpy(to, end, rest);
    *got = dst_cap - left + rest;
    return CUBED_OK;
}

static const cubed_codec_vtable runs = {
    .struct_size = sizeof(cubed_codec_vtable),
    .version = CUBED_CODEC_VERSION,
    .kind = CUBED_CODEC_BYTES_TO_BYTES,
    .name = "example.runs",
    .name_v2 = "runs",
    .parse = parse,
    .print = print,
    .bound = bound,
    .decode_need = nothing,
    .encode_need = nothing,
    .decode = decode,
    .encode = encode,
};

/* --- A program that uses it ---------------------------------------------------------------------------- */

enum { N = 1000, CHUNK = 300 };

static cubed_status compute(cubed_context *ctx, const cubed_target *target, cubed_error *err)
{
    cubed_plan *plan = NULL;
    cubed_status st = cubed_plan_new(ctx, target, 1, NULL, &plan, err);
    if (st == CUBED_OK) st = cubed_run(plan, NULL, NULL, err);
    cubed_plan_unref(plan);
    return st;
}

static cubed_status show(void *ctx, const cubed_zarr_info *info, cubed_error *err)
{
    (void)err;
    *(uint64_t *)ctx = info->stored_bytes;
    printf("%s: %" PRIu64 " of %" PRIu64 " bytes\n", info->codecs, info->stored_bytes,
           info->logical_bytes);
    return CUBED_OK;
}

/* 0, 0, ..., 1, 1, ...: stored in a format, and read again. */
static cubed_status try_format(cubed_context *ctx, int format, const char *url, const char *codecs,
                               int *wrong, cubed_error *err)
{
    static int64_t numbers[N], got[N];
    const int64_t shape[1] = {N}, chunks[1] = {CHUNK};
    cubed_array *x = NULL, *stored = NULL;
    uint64_t bytes = 0;
    for (int i = 0; i < N; i++) numbers[i] = i / 100;
    memset(got, 0, sizeof got);
    cubed_target to = {.url = url, .zarr_format = format, .codecs = codecs}, from = {.data = got};
    cubed_status st =
        cubed_array_from_memory(ctx, CUBED_INT64, 1, shape, NULL, chunks, numbers, &x, err);
    to.array = x;
    if (st == CUBED_OK) st = compute(ctx, &to, err);
    if (st == CUBED_OK) st = cubed_array_open(ctx, url, &stored, err);
    from.array = stored;
    if (st == CUBED_OK) st = compute(ctx, &from, err);
    if (st == CUBED_OK) st = cubed_zarr_walk(ctx, url, true, show, &bytes, err);
    *wrong += memcmp(numbers, got, sizeof got) != 0 || bytes > sizeof got / 10;
    cubed_array_unref(stored);
    cubed_array_unref(x);
    return st;
}

int main(void)
{
    cubed_context *ctx = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    int wrong = 0;
    cubed_status st = cubed_context_new(NULL, &ctx, &err);
    if (st == CUBED_OK) st = cubed_context_add_codec(ctx, &runs, &err);
    if (st == CUBED_OK)
        st = try_format(ctx, 3, "memory://runs/3",
                        "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, "
                        "{\"name\": \"example.runs\"}]",
                        &wrong, &err);
    if (st == CUBED_OK)
        st = try_format(ctx, 2, "memory://runs/2", "{\"id\": \"runs\", \"unit\": 8}", &wrong, &err);
    if (st != CUBED_OK) fprintf(stderr, "codec: %s\n", err.message);
    cubed_context_unref(ctx);
    return st == CUBED_OK && wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
