/* Codecs that a program adds: found in both formats, also within shards, in projected memory, and unknown in other contexts. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "cubed/sys/codec.h"
#include "plan_test.h"
#include "remove_dir.h"
#include "test_path.h"

enum { ROWS = 50, COLUMNS = 40, N = ROWS * COLUMNS, EXTRA = 7, SCRATCH = 100000 };

typedef struct turn_conf {
    int64_t key;
    int64_t untouched; /* set by parse: the contents that the library passed */
} turn_conf;
CUBED_CODEC_CONF_FITS(turn_conf);

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx, void *conf,
                          cubed_error *err)
{
    const char *at = strstr(json, "\"key\"");
    turn_conf *c = conf;
    (void)format;
    (void)ctx;
    (void)err;
    assert_int_equal((uintptr_t)conf % _Alignof(cubed_codec_conf), 0);
    for (size_t i = 0; i < CUBED_CODEC_CONF_SIZE; i++)
        assert_int_equal(((const unsigned char *)conf)[i], 0);
    if (at) c->key = strtoll(strchr(at, ':') + 1, NULL, 10);
    return CUBED_OK;
}

static cubed_status print(const void *conf, int format, const cubed_codec_ctx *ctx, char *json,
                          size_t cap, cubed_error *err)
{
    const turn_conf *c = conf;
    (void)format;
    (void)ctx;
    (void)err;
    snprintf(json, cap, "{\"key\": %d}", (int)c->key);
    return CUBED_OK;
}

static size_t bound(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    return raw_size + EXTRA;
}

static cubed_codec_need need(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){.arena = SCRATCH};
}

/* Flips some bits of n bytes, through the scratch memory. */
static void turn(const cubed_codec_call *call, size_t n)
{
    const turn_conf *c = call->conf;
    const unsigned char *from = call->src;
    unsigned char *to = call->dst;
    assert_int_equal(call->scratch_size, SCRATCH);
    assert_int_equal((uintptr_t)call->scratch % 64, 0);
    assert_int_equal(c->untouched, 0);
    memset(call->scratch, 0x55, call->scratch_size);
    for (size_t i = 0; i < n; i++) to[i] = from[i] ^ (unsigned char)c->key;
}

static cubed_status encode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    (void)err;
    assert_true(call->dst_cap >= call->src_size + EXTRA);
    turn(call, call->src_size);
    memset((char *)call->dst + call->src_size, 'x', EXTRA);
    *got = call->src_size + EXTRA;
    return CUBED_OK;
}

static cubed_status decode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    (void)err;
    *got = call->src_size - EXTRA;
    if (call->src_size < EXTRA || *got > call->dst_cap) return CUBED_E_FORMAT;
    turn(call, *got);
    return CUBED_OK;
}

static const cubed_codec_vtable good = {
    .struct_size = sizeof(cubed_codec_vtable),
    .version = CUBED_CODEC_VERSION,
    .name = "test.turn",
    .name_v2 = "turn",
    .parse = parse,
    .print = print,
    .bound = bound,
    .decode_need = need,
    .encode_need = need,
    .decode = decode,
    .encode = encode,
};

typedef struct fixture {
    cubed_context *ctx, *stranger;
    char folder[64], url[96];
    double numbers[N], got[N];
} fixture;

static void expect(cubed_status got, cubed_status status, const cubed_error *err, const char *text)
{
    if (got != status || !strstr(err->message, text))
        fail_msg("%s: \"%s\" has no \"%s\"", cubed_status_str(got), err->message, text);
}

static cubed_plan *plan_of(cubed_context *ctx, const cubed_target *target, cubed_array *x)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_target t = *target;
    cubed_plan *plan;
    t.array = x;
    must(cubed_plan_new(ctx, &t, 1, NULL, &plan, &err), &err);
    return plan;
}

static void run(cubed_plan *plan)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_run_stats stats;
    must(cubed_run(plan, NULL, &stats, &err), &err);
    assert_in_range(stats.measured_mem, SCRATCH, stats.projected_mem);
    cubed_plan_unref(plan);
}

static cubed_array *numbers(fixture *f)
{
    const int64_t shape[2] = {ROWS, COLUMNS}, chunks[2] = {20, 20};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    must(cubed_array_from_memory(f->ctx, CUBED_FLOAT64, 2, shape, NULL, chunks, f->numbers, &x,
                                 &err),
         &err);
    return x;
}

#define LITTLE "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}"
#define TURN   "{\"name\": \"test.turn\", \"configuration\": {\"key\": 77}}"

static void test_both_formats(void **state)
{
    static const int64_t shards[2] = {40, 40};
    static const cubed_target cases[] = {
        {.codecs = "[" LITTLE ", " TURN "]"},
        {.codecs = "[" LITTLE ", " TURN ", {\"name\": \"crc32c\"}, {\"name\": \"zstd\"}]"},
        {.codecs = "[" LITTLE ", " TURN "]", .shards = shards},
        {.zarr_format = 2, .codecs = "{\"id\": \"turn\", \"key\": 3}"},
        {.zarr_format = 2, .codecs = "[{\"id\": \"turn\", \"key\": 3}, {\"id\": \"zstd\"}]"},
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        cubed_target to = cases[i];
        cubed_array *x = numbers(f), *stored, *strange;
        cubed_plan *loaded;
        void *bytes;
        size_t size;
        to.url = f->url;
        run(plan_of(f->ctx, &to, x));
        must(cubed_array_open(f->ctx, f->url, &stored, &err), &err);
        memset(f->got, 0, sizeof f->got);
        run(plan_of(f->ctx, &(cubed_target){.data = f->got}, stored));
        assert_memory_equal(f->got, f->numbers, sizeof f->got);

        const char *name = to.zarr_format == 2 ? "\"turn\" is not supported; there are: blosc"
                                               : "\"test.turn\" is not supported; there are: bytes";
        expect(cubed_array_open(f->stranger, f->url, &strange, &err), CUBED_E_UNSUPPORTED, &err,
               name);
        /* Loading a plan that reads the array fails in the same way. */
        cubed_plan *plan = plan_of(f->ctx, &(cubed_target){.data = NULL}, stored);
        must(cubed_plan_save(plan, &bytes, &size, &err), &err);
        expect(cubed_plan_load(f->stranger, bytes, size, &loaded, &err), CUBED_E_UNSUPPORTED, &err,
               name);
        must(cubed_plan_load(f->ctx, bytes, size, &loaded, &err), &err);
        cubed_plan_unref(loaded);
        cubed_plan_free_bytes(plan, bytes, size);
        cubed_plan_unref(plan);
        cubed_array_unref(stored);
        cubed_array_unref(x);
        assert_int_equal(remove_dir(f->url), 0);
    }
}

/* Workers that do not know the codec refuse a plan that writes such an array before they begin. */
static void test_workers_must_know_it(void **state)
{
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    cubed_plan *loaded;
    void *bytes;
    size_t size;
    must(cubed_array_arange(f->ctx, 0, N, 1, CUBED_FLOAT64, NULL, &x, &err), &err);
    cubed_plan *plan =
        plan_of(f->ctx, &(cubed_target){.url = f->url, .codecs = "[" LITTLE ", " TURN "]"}, x);
    must(cubed_plan_save(plan, &bytes, &size, &err), &err);
    expect(cubed_plan_load(f->stranger, bytes, size, &loaded, &err), CUBED_E_UNSUPPORTED, &err,
           "out: codecs: codec \"test.turn\" is not supported");
    must(cubed_plan_load(f->ctx, bytes, size, &loaded, &err), &err);
    run(loaded);
    cubed_plan_free_bytes(plan, bytes, size);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
    assert_int_equal(remove_dir(f->url), 0);
}

static cubed_status lie(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    (void)err;
    memset(call->dst, 0, call->dst_cap);
    *got = call->dst_cap + 1;
    return CUBED_OK;
}

static void test_what_gives_too_much_is_an_error(void **state)
{
    static cubed_codec_vtable vt; /* static, because the context uses it until the context ends */
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x = numbers(f);
    vt = good;
    vt.name = "test.lie";
    vt.name_v2 = NULL;
    vt.encode = lie;
    must(cubed_context_add_codec(f->ctx, &vt, &err), &err);
    cubed_plan *plan = plan_of(
        f->ctx, &(cubed_target){.url = f->url, .codecs = "[" LITTLE ", {\"name\": \"test.lie\"}]"},
        x);
    expect(cubed_run(plan, NULL, NULL, &err), CUBED_E_FORMAT, &err,
           "codec test.lie: the codec reports");
    cubed_plan_unref(plan);
    cubed_array_unref(x);
}

static void expect_refused(cubed_context *ctx, const cubed_codec_vtable *vt, cubed_status status,
                           const char *text)
{
    cubed_error err = CUBED_ERROR_INIT;
    expect(cubed_context_add_codec(ctx, vt, &err), status, &err, text);
}

static void test_what_cannot_be_is_refused(void **state)
{
    cubed_context *ctx = ((fixture *)*state)->stranger;
    cubed_codec_vtable vt = good;
    vt.struct_size -= sizeof(void *);
    expect_refused(ctx, &vt, CUBED_E_ARG, "headers of libcubed");
    vt = good;
    vt.version = CUBED_CODEC_VERSION + 1;
    expect_refused(ctx, &vt, CUBED_E_ARG, "has version 3 and");
    expect_refused(ctx, &vt, CUBED_E_ARG, "expected version 2");
    vt = good;
    vt.version = 1;
    expect_refused(
        ctx, &vt, CUBED_E_ARG,
        "codec \"test.turn\" is of version 1 of cubed/sys/codec.h, expected version 2: ");
    vt = good;
    vt.name = NULL;
    expect_refused(ctx, &vt, CUBED_E_ARG, "a codec needs a name");
    vt = good;
    vt.encode_need = NULL;
    expect_refused(ctx, &vt, CUBED_E_ARG, "codec \"test.turn\" needs parse");
    vt = good;
    vt.range_need = need;
    expect_refused(ctx, &vt, CUBED_E_ARG, "expected all three or none");
    vt = good;
    vt.kind = (cubed_codec_kind)7;
    expect_refused(ctx, &vt, CUBED_E_ARG, "kind 7");
    vt = good;
    vt.name = "zstd";
    expect_refused(ctx, &vt, CUBED_E_EXISTS, "codec \"zstd\" exists already");
    vt = good;
    vt.name_v2 = "blosc";
    expect_refused(ctx, &vt, CUBED_E_EXISTS, "codec \"blosc\" exists already");
    expect_refused(((fixture *)*state)->ctx, &good, CUBED_E_EXISTS,
                   "codec \"test.turn\" exists already");
}

static int start(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    cubed_error err = CUBED_ERROR_INIT;
    if (!f || cubed_context_new(NULL, &f->ctx, NULL) != CUBED_OK ||
        cubed_context_new(NULL, &f->stranger, NULL) != CUBED_OK)
        return -1;
    test_path(f->folder, sizeof f->folder, "cubed-codecs-XXXXXX");
    if (!mkdtemp(f->folder)) return -1;
    snprintf(f->url, sizeof f->url, "%s/out", f->folder);
    for (int i = 0; i < N; i++) f->numbers[i] = i * 0.5;
    must(cubed_context_add_codec(f->ctx, &good, &err), &err);
    *state = f;
    return 0;
}

static int stop(void **state)
{
    fixture *f = *state;
    const int rc = remove_dir(f->folder);
    cubed_context_unref(f->stranger);
    cubed_context_unref(f->ctx);
    free(f);
    return rc;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_formats),
        cmocka_unit_test(test_workers_must_know_it),
        cmocka_unit_test(test_what_gives_too_much_is_an_error),
        cmocka_unit_test(test_what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
