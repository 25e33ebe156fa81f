#define _GNU_SOURCE
#include "run/executors/told.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "cubed/sys/message.h"
#include "place/place.h"
#include "plan/plan.h"
#include "store/core/uri.h"

enum { NTEXTS = 4, HEAD = 12 };
#define MOST_SHIFT ((int64_t)1 << 61) /* ns */

cubed_status cb_told_write(const cubed_executor_args *args, const cubed_task_range *range,
                           cb_buf *out, cubed_error *err)
{
    cubed_range_message m = {.range = *range, .timeout_ms = args->task_timeout_ms, .driven = true};
    uint8_t bytes[CUBED_RANGE_BYTES];
    CB_TRY(cubed_plan_get_id(args->plan, m.plan, err));
    snprintf(m.run, sizeof m.run, "%s", args->run);
    cubed_range_write(&m, bytes);
    cb_buf_put(out, bytes, sizeof bytes);
    cb_buf_put(out, args->work_dir, strlen(args->work_dir) + 1);
    cb_buf_put(out, args->plan_key, strlen(args->plan_key) + 1);
    cb_buf_put(out, CUBED_VERSION_STRING, sizeof CUBED_VERSION_STRING);
    return cb_net_put_options(&args->plan->ctx->stores.net, out, err);
}

cubed_status cb_told_read(const void *message, size_t size, cb_told *out, cubed_error *err)
{
    const char *at = message, *end = at + size, *texts[NTEXTS];
    if (size < CUBED_RANGE_BYTES) at = end;
    for (int i = 0; i < NTEXTS; i++) {
        if (i == 0 && at < end) at += CUBED_RANGE_BYTES;
        texts[i] = at;
        if (at > end || (i < NTEXTS - 1 && !memchr(at, 0, (size_t)(end - at))))
            return cb_fail(err, CUBED_E_FORMAT,
                           "the message does not contain the place of the plan");
        if (i < NTEXTS - 1) at += strlen(at) + 1;
    }
    *out = (cb_told){texts[0], texts[1], texts[2], texts[3]};
    return CUBED_OK;
}

static int64_t clock_shift(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec - cb_clock_ns();
}

static void put_number(cb_buf *out, uint64_t v, int nbytes)
{
    for (int i = 0; i < nbytes; i++) cb_buf_put(out, &(char){(char)(v >> (8 * i))}, 1);
}

static uint64_t get_number(const unsigned char *p, int nbytes)
{
    uint64_t v = 0;
    for (int i = 0; i < nbytes; i++) v |= (uint64_t)p[i] << (8 * i);
    return v;
}

void cb_answer_begin(cb_buf *out)
{
    char host[256] = "", name[300];
    if (gethostname(host, sizeof host - 1) != 0) *host = 0;
    const int n = snprintf(name, sizeof name, "%s:%ld", host, (long)getpid());
    put_number(out, (uint64_t)clock_shift(), 8);
    put_number(out, (uint64_t)n, 4);
    cb_buf_put(out, name, (size_t)n);
}

cubed_status cb_answer_read(const void *bytes, size_t size, cb_answer *out, cubed_error *err)
{
    const unsigned char *p = bytes;
    const uint64_t name = size >= HEAD ? get_number(p + 8, 4) : 0;
    if (size < HEAD || name > size - HEAD)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes are not a worker's answer", size);
    *out = (cb_answer){.worker = (const char *)p + HEAD,
                       .worker_size = (size_t)name,
                       .reports = (const char *)p + HEAD + name,
                       .size = size - HEAD - (size_t)name,
                       .shift_ns = (int64_t)(get_number(p, 8) - (uint64_t)clock_shift())};
    if (out->shift_ns < -MOST_SHIFT || out->shift_ns > MOST_SHIFT)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the clock of a worker differs by more than 73 years from this machine's");
    return CUBED_OK;
}

void cb_told_put_json(cb_buf *out, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    char four[5];
    cb_buf_puts(out, "{\"cubed\":\"");
    for (size_t i = 0; i < size; i += 3) {
        cb_base64_encode(p + i, cb_min_size(size - i, 3), four);
        cb_buf_put(out, four, 4);
    }
    cb_buf_puts(out, "\"}");
}

cubed_status cb_told_take_json(const char *text, size_t size, cb_buf *out, cubed_error *err)
{
    json_t *o = NULL;
    CB_TRY(cb_json_parse("the message", text ? text : "", size, &o, err));
    const char *coded = json_string_value(json_object_get(o, "cubed"));
    const size_t length = coded ? strlen(coded) : 0;
    unsigned char three[3];
    bool ok = coded && length % 4 == 0;
    for (size_t i = 0, n; ok && i < length; i += 4) {
        const char four[5] = {coded[i], coded[i + 1], coded[i + 2], coded[i + 3], 0};
        ok = cb_base64_decode(four, three, sizeof three, &n) && (n == 3 || i + 4 == length);
        if (ok) cb_buf_put(out, three, n);
    }
    json_decref(o);
    if (out->failed) return cb_fail(err, CUBED_E_NOMEM, "no memory for a message");
    return ok ? CUBED_OK
              : cb_fail(err, CUBED_E_FORMAT, "the message is not {\"cubed\": \"BASE64\"}");
}

/* --- Objects at a URL ---------------------------------------------------------------------------------- */

/* Divides the location of an object into store and key: moves the part after the last slash from the store to the key. In a URL
 * this part is percent-encoded, and is decoded for the key. If the location has a path, the path is the key. */
static cubed_status split_key(cb_zone *zone, cb_place *p, cb_buf *key, cubed_error *err)
{
    const char *scheme = strstr(p->store, "://");
    const char *slash = strrchr(scheme ? scheme + 3 : p->store, '/');
    if (*p->path) {
        cb_buf_puts(key, p->path);
        return CUBED_OK;
    }
    if (!slash || !slash[1])
        return cb_fail(err, CUBED_E_ARG,
                       "the URL \"%s\" has no key of an object: expected STORE/KEY", p->given);
    if (scheme)
        cb_uri_decode(key, slash + 1, strlen(slash + 1), false);
    else
        cb_buf_puts(key, slash + 1);
    char *store = cb_zone_strdup(zone, p->store);
    if (!store) return cb_fail(err, CUBED_E_NOMEM, "no memory for a place");
    store[slash == p->store ? 1 : slash - p->store] = 0;
    p->store = store;
    return CUBED_OK;
}

/* Opens the store that has the object, and sets the object's key in the store. The caller closes the store. */
static cubed_status open_store_of(cubed_context *ctx, const char *url, cb_zone *zone, cb_buf *key,
                                  cubed_store **store, cubed_error *err)
{
    cb_place p;
    CB_TRY(cb_place_parse(zone, url, &p, err));
    CB_TRY(split_key(zone, &p, key, err));
    if (key->failed) return cb_fail(err, CUBED_E_NOMEM, "no memory for a key");
    return cb_place_open(&ctx->stores, &p, false, store, err);
}

cubed_status cubed_object_read(cubed_context *ctx, const char *url, size_t max,
                               cubed_source_sink put, void *sink, cubed_error *err)
{
    cubed_store *store = NULL;
    cb_zone *zone;
    cb_buf key, bytes;
    cubed_status st;
    CB_TRY(cb_zone_new(&ctx->alloc, &zone, err));
    cb_buf_init(&key, &ctx->alloc);
    cb_buf_init(&bytes, &ctx->alloc);
    CB_GO(open_store_of(ctx, url, zone, &key, &store, err));
    CB_GO(cb_store_read_all(store, key.data, max, &bytes, err));
    CB_GO(put(sink, bytes.data, bytes.size, err));
out:
    cb_store_close(store);
    cb_buf_free(&bytes);
    cb_buf_free(&key);
    cb_zone_free(zone);
    return st;
}

cubed_status cubed_object_write(cubed_context *ctx, const char *url, const void *bytes, size_t size,
                                cubed_error *err)
{
    cubed_store *store = NULL;
    cb_zone *zone;
    cb_buf key;
    cubed_status st;
    CB_TRY(cb_zone_new(&ctx->alloc, &zone, err));
    cb_buf_init(&key, &ctx->alloc);
    CB_GO(open_store_of(ctx, url, zone, &key, &store, err));
    cb_store_keep_private(store);
    CB_GO(cb_store_put(store, key.data, bytes, size, err));
out:
    cb_store_close(store);
    cb_buf_free(&key);
    cb_zone_free(zone);
    return st;
}

#ifndef CB_HAVE_HTTP
cubed_status cubed_lambda_serve(cubed_context *ctx, const char *api, const cubed_cancel *cancel,
                                cubed_error *err)
{
    (void)ctx;
    (void)api;
    (void)cancel;
    return cb_fail(err, CUBED_E_UNSUPPORTED,
                   "this libcubed was built without libcurl and OpenSSL, which AWS Lambda needs");
}
#endif
