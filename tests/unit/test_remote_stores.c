/* Stores on other machines, with a server on this one: the same requests in every service's dialect, behaviour after failed
 * requests, and sources of credentials. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/error.h"
#include "object_server.h"
#include "remove_dir.h"
#include "store/services/store_registry.h"
#include "test_path.h"
#include "text_file.h"

enum { MOST_VARIABLES = 8, TEXT = 512 };

static object_server *server;
static cb_stores stores;
static char root[64];

static int setup(void **state)
{
    (void)state;
    server = object_server_new();
    test_path(root, sizeof root, "cubed-test-remote-XXXXXX");
    if (!mkdtemp(root)) return -1;
    cb_stores_init(&stores, &cb_system_allocator);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    cb_stores_free(&stores);
    object_server_free(server);
    remove_dir(root);
    return 0;
}

/* Sets environment variables. "%d" is replaced by the server's port, and "%s" by the directory of files. */
static void set_variables(const char *const *variables)
{
    char text[MOST_VARIABLES][TEXT];
    const char *all[MOST_VARIABLES + 1] = {NULL};
    for (int i = 0; variables[i]; i++) {
        char *to = text[i];
        for (const char *at = variables[i]; *at; at++) {
            const size_t room = (size_t)(text[i] + TEXT - to);
            if (at[0] == '%' && at[1] == 'd')
                to += snprintf(to, room, "%d", object_server_port(server)), at++;
            else if (at[0] == '%' && at[1] == 's')
                to += snprintf(to, room, "%s", root), at++;
            else
                *to++ = *at;
        }
        *to = 0;
        all[i] = text[i];
    }
    assert_int_equal(cb_net_set_variables(&stores.net, all, NULL), CUBED_OK);
}

static cubed_store *open_store(const char *url)
{
    char text[TEXT];
    cubed_store *s;
    cubed_error err = CUBED_ERROR_INIT;
    snprintf(text, sizeof text, url, object_server_port(server));
    if (cb_store_open(&stores, text, false, &s, &err) != CUBED_OK) fail_msg("%s", err.message);
    return s;
}

/* --- Every dialect ------------------------------------------------------------------------------------ */

typedef struct service {
    const char *name, *url;
    const char *variables[MOST_VARIABLES];
    /* the expected value of the header Authorization; NULL: no such header */
    const char *authorization;
} service;

/* The key of Azure's emulator, which is no secret. */
#define EMULATED_KEY                                                                               \
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

static const service services[] = {
    {"s3",
     "s3://bucket/some/root",
     {"AWS_ENDPOINT_URL=http://127.0.0.1:%d", "AWS_ACCESS_KEY_ID=me", "AWS_SECRET_ACCESS_KEY=x"},
     "AWS4-HMAC-SHA256 Credential=me/"},
    {"s3, of a session, paid for",
     "s3://bucket/other",
     {"AWS_ENDPOINT_URL=http://127.0.0.1:%d", "AWS_ACCESS_KEY_ID=you", "AWS_SECRET_ACCESS_KEY=x",
      "AWS_SESSION_TOKEN=now", "AWS_REQUEST_PAYER=true", "AWS_REGION=eu-north-1"},
     "Credential=you/"},
    {"gcs",
     "gs://bucket/root",
     {"STORAGE_EMULATOR_HOST=http://127.0.0.1:%d", "GOOGLE_OAUTH_ACCESS_TOKEN=ya29.t"},
     "Bearer ya29.t"},
    {"gcs by HMAC",
     "gs://bucket/xml",
     {"STORAGE_EMULATOR_HOST=http://127.0.0.1:%d", "GS_ACCESS_KEY_ID=GOOG1",
      "GS_SECRET_ACCESS_KEY=x"},
     "GOOG4-HMAC-SHA256 Credential=GOOG1/"},
    {"azure",
     "az://bucket/blobs",
     {"AZURE_STORAGE_ENDPOINT=http://127.0.0.1:%d/account", "AZURE_STORAGE_ACCOUNT_NAME=account",
      "AZURE_STORAGE_ACCOUNT_KEY=" EMULATED_KEY},
     "SharedKey account:"},
    {"azure by a token",
     "az://bucket/token",
     {"AZURE_STORAGE_ENDPOINT=http://127.0.0.1:%d/account", "AZURE_STORAGE_ACCOUNT_NAME=account",
      "AZURE_STORAGE_TOKEN=ey.t"},
     "Bearer ey.t"},
    {"azure by a signature in the URL",
     "az://bucket/sas",
     {"AZURE_STORAGE_CONNECTION_STRING=BlobEndpoint=http://127.0.0.1:%d/account;"
      "SharedAccessSignature=sv=1&sig=abc"},
     "sig=abc"},
    {"redis",
     "redis://127.0.0.1:%d/2/root",
     {"REDIS_USERNAME=me", "REDIS_PASSWORD=x", "REDIS_EXPIRY=3600"},
     "AUTH"},
};

typedef struct names {
    char text[TEXT];
    int n;
} names;

static cubed_status add_key(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    names *l = ctx;
    const size_t used = strlen(l->text);
    (void)err;
    snprintf(l->text + used, sizeof l->text - used, "%s=%d ", key, (int)size);
    l->n++;
    return CUBED_OK;
}

static cubed_status add_member(void *ctx, const char *name, bool is_prefix, cubed_error *err)
{
    return add_key(ctx, name, is_prefix, err);
}

static int by_letter(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns the names in order, because services list objects and prefixes separately. */
static const char *sorted(names *l)
{
    char *word[32], text[TEXT];
    int n = 0;
    size_t used = 0;
    memcpy(text, l->text, sizeof text);
    for (char *at = strtok(text, " "); at; at = strtok(NULL, " ")) word[n++] = at;
    qsort(word, (size_t)n, sizeof *word, by_letter);
    for (int i = 0; i < n; i++)
        used +=
            (size_t)snprintf(l->text + used, sizeof l->text - used, "%s%s", i ? " " : "", word[i]);
    return l->text;
}

static void put_text(cubed_store *s, const char *key, const char *text)
{
    cubed_error err = CUBED_ERROR_INIT;
    if (cb_store_put(s, key, text, strlen(text), &err) != CUBED_OK) fail_msg("%s", err.message);
}

static void expect_text(cubed_store *s, const char *key, const char *text)
{
    char got[TEXT];
    cubed_object_info info;
    cubed_error err = CUBED_ERROR_INIT;
    if (cb_store_get_whole(s, key, got, sizeof got, &info, NULL, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    assert_int_equal(info.size, strlen(text));
    assert_memory_equal(got, text, strlen(text));
}

static void check_reading(cubed_store *s)
{
    char got[32] = "";
    size_t n;
    uint64_t size;
    bool there;
    cubed_object_info info;
    cubed_error err = CUBED_ERROR_INIT;
    static const cubed_range parts[] = {{8, 2}, {0, 3}, {CUBED_RANGE_SUFFIX, 4}};
    put_text(s, "a/b", "0123456789");
    expect_text(s, "a/b", "0123456789");
    assert_int_equal(cb_store_get(s, "a/b", 7, got, 20, &n, NULL), CUBED_OK);
    assert_int_equal(n, 3);
    assert_memory_equal(got, "789", 3);
    assert_int_equal(cb_store_get(s, "a/b", 30, got, 20, &n, NULL), CUBED_OK);
    assert_int_equal(n, 0);
    if (cb_store_get_parts(s, "a/b", &(cb_store_parts){NULL, parts, 3}, got, &info, NULL, &err) !=
        CUBED_OK)
        fail_msg("%s", err.message);
    assert_memory_equal(got, "890126789", 9);
    assert_int_equal(cb_store_size(s, "a/b", &size, NULL), CUBED_OK);
    assert_int_equal(size, 10);
    /* An object that is larger than the buffer is reported, and not read. */
    assert_int_equal(cb_store_get_whole(s, "a/b", got, 4, &info, NULL, NULL), CUBED_OK);
    assert_int_equal(info.size, 10);
    assert_int_equal(cb_store_exists(s, "a/b", &there, NULL), CUBED_OK);
    assert_true(there);
    assert_int_equal(cb_store_exists(s, "a/none", &there, NULL), CUBED_OK);
    assert_false(there);
    assert_int_equal(cb_store_size(s, "a/none", &size, &err), CUBED_E_NOT_FOUND);
    assert_int_equal(cb_store_get(s, "a/none", 0, got, 4, &n, &err), CUBED_E_NOT_FOUND);
    put_text(s, "empty", "");
    expect_text(s, "empty", "");
}

static void check_conditions(cubed_store *s)
{
    cubed_object_version none = {""}, first, second;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_object_info info;
    if (cb_store_put_if(s, "c", &none, "one", 3, &first, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    assert_int_equal(cb_store_put_if(s, "c", &none, "two", 3, &second, NULL), CUBED_E_EXISTS);
    assert_int_equal(cb_store_put_if(s, "c", &first, "three", 5, &second, NULL), CUBED_OK);
    assert_false(cb_version_equal(&first, &second));
    assert_int_equal(cb_store_put_if(s, "c", &first, "four", 4, &first, NULL), CUBED_E_EXISTS);
    expect_text(s, "c", "three");
    assert_int_equal(cb_store_head(s, "c", &info, NULL), CUBED_OK);
    assert_true(cb_version_equal(&info.version, &second));
    char got[8];
    cubed_store_request r = {
        .op = CUBED_STORE_GET, .key = "c", .dst = got, .cap = 8, .if_none_match = second.text};
    assert_int_equal(cb_store_do(s, &r, NULL), CUBED_E_EXISTS);
    r.if_none_match = NULL;
    r.if_match = first.text;
    assert_int_equal(cb_store_do(s, &r, NULL), CUBED_E_EXISTS);
}

static void check_listing(cubed_store *s)
{
    static const char *const keys[] = {"l/a", "l/e/f", "l/e/g", "l/h", "l/i", "l/j/k/l"};
    names all = {.n = 0}, members = {.n = 0}, rest = {.n = 0};
    cubed_error err = CUBED_ERROR_INIT;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) put_text(s, keys[i], keys[i]);
    if (cb_store_list(s, "l", add_key, &all, &err) != CUBED_OK) fail_msg("%s", err.message);
    assert_string_equal(sorted(&all), "l/a=3 l/e/f=5 l/e/g=5 l/h=3 l/i=3 l/j/k/l=7");
    assert_int_equal(cb_store_members(s, "l", add_member, &members, NULL), CUBED_OK);
    assert_string_equal(sorted(&members), "a=0 e=1 h=0 i=0 j=1");
    const char *const from[] = {"l/a", "l/h"}, *const to[] = {"m/x", "m/y"};
    if (cb_store_copy(s, from, to, 2, &err) != CUBED_OK) fail_msg("%s", err.message);
    expect_text(s, "m/x", "l/a");
    const char *const gone[] = {"l/a", "l/never", "l/h"};
    assert_int_equal(cb_store_del_all(s, gone, 3, NULL), CUBED_OK);
    assert_int_equal(cb_store_clear(s, "l/e", NULL), CUBED_OK);
    assert_int_equal(cb_store_list(s, "l", add_key, &rest, NULL), CUBED_OK);
    assert_string_equal(sorted(&rest), "l/i=3 l/j/k/l=7");
}

static void test_services(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof services / sizeof *services; i++) {
        const service *x = &services[i];
        set_variables(x->variables);
        cubed_store *s = open_store(x->url);
        check_reading(s);
        check_conditions(s);
        check_listing(s);
        cb_store_close(s);
        if (x->authorization && object_server_count(server, x->authorization) == 0)
            fail_msg("%s: nobody said %s", x->name, x->authorization);
    }
}

static void test_large_objects(void **state)
{
    enum { SIZE = 3 << 20 };
    (void)state;
    char *data = malloc(SIZE), *got = malloc(SIZE);
    assert_true(data && got);
    for (int i = 0; i < SIZE; i++) data[i] = (char)(i * 7 >> 3);
    for (size_t i = 0; i < sizeof services / sizeof *services; i++) {
        cubed_object_info info;
        set_variables(services[i].variables);
        cubed_store *s = open_store(services[i].url);
        assert_int_equal(cb_store_put(s, "large", data, SIZE, NULL), CUBED_OK);
        memset(got, 0, SIZE);
        assert_int_equal(cb_store_get_whole(s, "large", got, SIZE, &info, NULL, NULL), CUBED_OK);
        assert_memory_equal(got, data, SIZE);
        cb_store_close(s);
    }
    free(data);
    free(got);
}

static cubed_status count_upload(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    (void)size;
    (void)err;
    assert_true(strncmp(key, "k/", 2) == 0);
    ++*(int *)ctx;
    return CUBED_OK;
}

/* Stores that take objects in parts. */
static const service uploading[] = {
    {"s3 in parts",
     "s3://bucket/parts",
     {"AWS_ENDPOINT_URL=http://127.0.0.1:%d", "AWS_ACCESS_KEY_ID=me", "AWS_SECRET_ACCESS_KEY=x"},
     NULL},
    {"gcs in parts",
     "gs://bucket/more",
     {"STORAGE_EMULATOR_HOST=http://127.0.0.1:%d", "GCS_ACCESS_KEY_ID=me",
      "GCS_SECRET_ACCESS_KEY=x"},
     NULL},
    {"azure in parts",
     "az://bucket/blocks",
     {"AZURE_STORAGE_ENDPOINT=http://127.0.0.1:%d/account", "AZURE_STORAGE_ACCOUNT_NAME=account",
      "AZURE_STORAGE_ACCOUNT_KEY=" EMULATED_KEY},
     NULL},
};

static cubed_store *open_in_parts(const service *x)
{
    set_variables(x->variables);
    assert_int_equal(cb_net_set_option(&stores.net, x->url, "multipart_threshold", "5MiB", NULL),
                     CUBED_OK);
    assert_int_equal(cb_net_set_option(&stores.net, x->url, "multipart_chunksize", "5MiB", NULL),
                     CUBED_OK);
    return open_store(x->url);
}

/* Objects in three parts: also with conditions, and if a request fails once. */
static void test_objects_in_parts(void **state)
{
    enum { SIZE = 11 << 20 };
    static const char *const requests[] = {"uploads=", "partNumber=2", "uploadId=", "comp=block&",
                                           "comp=blocklist"};
    (void)state;
    char *data = malloc(SIZE), *got = malloc(SIZE);
    assert_true(data && got);
    for (int i = 0; i < SIZE; i++) data[i] = (char)(i * 7 >> 3);
    for (size_t i = 0; i < sizeof uploading / sizeof *uploading; i++) {
        cubed_object_info info;
        cubed_object_version none = {""}, version;
        cubed_error err = CUBED_ERROR_INIT;
        cubed_store *s = open_in_parts(&uploading[i]);
        for (size_t k = 0; k <= sizeof requests / sizeof *requests; k++) {
            if (k > 0) object_server_fail(server, requests[k - 1], 503, "", "", 1);
            data[5 << 20]++;
            if (cb_store_put(s, "k/large", data, SIZE, &err) != CUBED_OK)
                fail_msg("%s: %s", uploading[i].name, err.message);
            object_server_forgive(server);
            memset(got, 0, SIZE);
            assert_int_equal(cb_store_get_whole(s, "k/large", got, SIZE, &info, NULL, NULL),
                             CUBED_OK);
            assert_memory_equal(got, data, SIZE);
        }
        if (cb_store_put_if(s, "k/new", &none, data, SIZE, &version, &err) != CUBED_OK)
            fail_msg("%s: %s", uploading[i].name, err.message);
        assert_int_equal(cb_store_put_if(s, "k/new", &none, data, SIZE, &version, &err),
                         CUBED_E_EXISTS);
        cb_store_close(s);
    }
    free(data);
    free(got);
}

/* An upload whose part is refused is ended. Uploads of writers that were killed are found and ended. */
static void test_unfinished_uploads(void **state)
{
    enum { SIZE = 6 << 20, UPLOADS = 5 };
    (void)state;
    char *data = calloc(1, SIZE);
    assert_non_null(data);
    for (size_t i = 0; i < 2; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        int n = 0;
        char key[16];
        cubed_store *s = open_in_parts(&uploading[i]);
        object_server_fail(server, "partNumber=", 400, "", "<Error><Code>Bad</Code></Error>", 9);
        assert_int_equal(cb_store_put(s, "k/refused", data, SIZE, &err), CUBED_E_IO);
        assert_non_null(strstr(err.message, "k/refused"));
        object_server_forgive(server);
        assert_int_equal(cb_store_sweep(s, "k", CUBED_SWEEP_ALONE, count_upload, &n, &err),
                         CUBED_OK);
        assert_int_equal(n, 0);
        /* The requests that end them fail, as if the writer had been killed. */
        for (int u = 0; u < UPLOADS; u++) {
            snprintf(key, sizeof key, "k/%d", u);
            object_server_fail(server, "partNumber=", 400, "", "<Error><Code>Bad</Code></Error>",
                               9);
            object_server_fail(server, "DELETE ", 400, "", "<Error><Code>Bad</Code></Error>", 9);
            assert_int_equal(cb_store_put(s, key, data, SIZE, &err), CUBED_E_IO);
            object_server_forgive(server);
        }
        static const unsigned flags[] = {CUBED_SWEEP_DRY_RUN, CUBED_SWEEP_ALONE, 0};
        for (size_t k = 0; k < 3; k++) {
            n = 0;
            if (cb_store_sweep(s, "k", flags[k], count_upload, &n, &err) != CUBED_OK)
                fail_msg("%s: %s", uploading[i].name, err.message);
            assert_int_equal(n, k < 2 ? UPLOADS : 0);
        }
        object_server_fail(server, "uploads=", 200, "", "<html>", 1);
        assert_int_not_equal(cb_store_sweep(s, "k", 0, NULL, NULL, &err), CUBED_OK);
        object_server_fail(server, "uploads=", 403, "", "<Error><Code>AccessDenied</Code></Error>",
                           1);
        assert_int_not_equal(cb_store_sweep(s, "k", 0, NULL, NULL, &err), CUBED_OK);
        object_server_forgive(server);
        cb_store_close(s);
    }
    free(data);
}

static void test_the_web(void **state)
{
    (void)state;
    static const char *const nothing[] = {NULL};
    char got[16];
    size_t n;
    uint64_t size;
    cubed_error err = CUBED_ERROR_INIT;
    set_variables(nothing);
    object_server_put(server, "site/a b/c", "0123456789", 10);
    cubed_store *s = open_store("http://127.0.0.1:%d/site");
    expect_text(s, "a b/c", "0123456789");
    assert_int_equal(cb_store_get(s, "a b/c", 4, got, 2, &n, NULL), CUBED_OK);
    assert_memory_equal(got, "45", 2);
    assert_int_equal(cb_store_size(s, "a b/c", &size, NULL), CUBED_OK);
    assert_int_equal(size, 10);
    assert_int_equal(cb_store_size(s, "a b/d", &size, NULL), CUBED_E_NOT_FOUND);
    assert_int_equal(cb_store_put(s, "new", "x", 1, &err), CUBED_E_UNSUPPORTED);
    assert_int_equal(cb_store_del(s, "a b/c", &err), CUBED_E_UNSUPPORTED);
    names l = {.n = 0};
    assert_int_equal(cb_store_list(s, "", add_key, &l, &err), CUBED_E_UNSUPPORTED);
    cb_store_close(s);
}

/* --- What fails --------------------------------------------------------------------------------------- */

/* Requests with transient failures are retried. */
static void test_faults_that_pass(void **state)
{
    (void)state;
    static const struct {
        int code;
        const char *headers, *body;
    } faults[] = {{503, "retry-after: 0\r\n", "<Error><Code>SlowDown</Code></Error>"},
                  {500, "", "<Error><Code>InternalError</Code></Error>"},
                  {429, "", ""},
                  {0, "", ""}};
    for (size_t i = 0; i < sizeof services / sizeof *services; i++) {
        if (strcmp(services[i].name, "redis") == 0) continue;
        set_variables(services[i].variables);
        cubed_store *s = open_store(services[i].url);
        put_text(s, "x", "before");
        /* Test all faults for one service only, because each request takes some time. */
        for (size_t k = i ? i % 2 : 0; k < (i ? i % 2 + 1 : sizeof faults / sizeof *faults); k++) {
            object_server_fail(server, "GET", faults[k].code, faults[k].headers, faults[k].body, 1);
            expect_text(s, "x", "before");
            const bool google = strncmp(services[i].url, "gs:", 3) == 0 && i == 2;
            object_server_fail(server, google ? "POST" : "PUT", faults[k].code, faults[k].headers,
                               faults[k].body, 1);
            put_text(s, "y", "after");
            expect_text(s, "y", "after");
        }
        cb_store_close(s);
    }
}

static void test_faults_that_do_not_pass(void **state)
{
    (void)state;
    static const struct {
        int service, code;
        const char *body, *says;
    } cases[] = {
        {0, 404, "<Error><Code>NoSuchBucket</Code><Message>no</Message></Error>",
         "there is no bucket"},
        {0, 403, "<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message></Error>",
         "AWS_SECRET_ACCESS_KEY"},
        {0, 403, "<Error><Code>InvalidAccessKeyId</Code></Error>", "AWS_ACCESS_KEY_ID"},
        {0, 403, "<Error><Code>AccessDenied</Code></Error>", "policy"},
        {0, 301, "<Error><Code>PermanentRedirect</Code></Error>", "AWS_REGION"},
        {0, 400, "no XML at all", "400"},
        {2, 401, "{\"error\": {\"message\": \"no\", \"errors\": [{\"reason\": \"authError\"}]}}",
         "token is not valid"},
        {2, 403, "{\"error\": {\"message\": \"no\"}}", "permissions"},
        {2, 404, "{\"error\": {\"message\": \"The specified bucket does not exist.\"}}",
         "there is no bucket"},
        {3, 403, "<Error><Code>SignatureDoesNotMatch</Code></Error>", "GS_SECRET_ACCESS_KEY"},
        {4, 404, "<Error><Code>ContainerNotFound</Code></Error>", "there is no container"},
        {4, 403, "<Error><Code>AuthenticationFailed</Code></Error>", "AZURE_STORAGE_ACCOUNT_KEY"},
        {5, 401, "<Error><Code>Other</Code></Error>", "token is not valid"},
        {6, 403, "<Error><Code>AuthorizationPermissionMismatch</Code></Error>", "SAS token"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const service *x = &services[cases[i].service];
        char got[8];
        size_t n;
        cubed_error err = CUBED_ERROR_INIT;
        set_variables(x->variables);
        cubed_store *s = open_store(x->url);
        object_server_fail(server, "GET", cases[i].code, "", cases[i].body, 9);
        const cubed_status st = cb_store_get(s, "x", 0, got, 8, &n, &err);
        object_server_forgive(server);
        if (st == CUBED_OK || !strstr(err.message, cases[i].says))
            fail_msg("%s: %d: %s", x->name, cases[i].code, err.message);
        assert_false(err.transient);
        cb_store_close(s);
    }
}

static void test_a_bucket_in_another_region(void **state)
{
    (void)state;
    set_variables(services[0].variables);
    cubed_store *s = open_store(services[0].url);
    object_server_fail(server, "PUT", 400, "x-amz-bucket-region: eu-west-3\r\n",
                       "<Error><Code>AuthorizationHeaderMalformed</Code></Error>", 1);
    put_text(s, "x", "there");
    assert_int_equal(object_server_count(server, "/eu-west-3/s3/aws4_request"), 1);
    cb_store_close(s);
}

static void test_redis_faults(void **state)
{
    (void)state;
    const service *x = &services[sizeof services / sizeof *services - 1];
    char got[8];
    size_t n;
    cubed_error err = CUBED_ERROR_INIT;
    set_variables(x->variables);
    cubed_store *s = open_store(x->url);
    put_text(s, "x", "before");
    object_server_fail(server, "SET", 1, "", "-LOADING not yet", 1);
    put_text(s, "x", "after");
    /* the server closes the connection instead of a reply */
    object_server_fail(server, "STRLEN", 1, "", "", 1);
    expect_text(s, "x", "after");
    object_server_fail(server, "SET", 1, "", "-OOM it is full", 1);
    assert_int_equal(cb_store_put(s, "x", "y", 1, &err), CUBED_E_IO);
    assert_non_null(strstr(err.message, "maxmemory"));
    assert_false(err.transient);
    expect_text(s, "x", "after");
    cb_store_close(s);
    object_server_fail(server, "AUTH", 1, "", "-WRONGPASS no", 1);
    s = open_store(x->url);
    assert_int_equal(cb_store_get(s, "x", 0, got, 8, &n, &err), CUBED_E_IO);
    assert_non_null(strstr(err.message, "REDIS_PASSWORD"));
    cb_store_close(s);
}

/* --- Settings ----------------------------------------------------------------------------------------- */

static void test_settings_that_are_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *url, *variables[4], *says;
    } cases[] = {
        {"s3://b/x", {"AWS_ACCESS_KEY_ID=me"}, "without its secret"},
        {"s3://b/x", {"AWS_PROFILE=none", "HOME=%s"}, "cannot find profile \"none\""},
        {"s3://b/x",
         {"AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b", "AWS_ENDPOINT_URL=ftp://x"},
         "AWS_ENDPOINT_URL"},
        {"s3://b/x",
         {"AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b", "AWS_REQUEST_PAYER=perhaps"},
         "expected true or false"},
        {"az://c/x", {NULL}, "the URL has no account"},
        {"az://c/x", {"AZURE_STORAGE_ACCOUNT_NAME=a", "AZURE_STORAGE_ACCOUNT_KEY=***"}, "base64"},
        {"gs://b/x", {"GOOGLE_APPLICATION_CREDENTIALS=%s/none.json"}, "none.json"},
        {"redis://127.0.0.1:1/x", {"REDIS_EXPIRY=soon"}, "REDIS_EXPIRY"},
        {"ftp://b/x", {NULL}, "ftp"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cubed_store *s;
        cubed_error err = CUBED_ERROR_INIT;
        set_variables(cases[i].variables);
        if (cb_store_open(&stores, cases[i].url, false, &s, &err) == CUBED_OK)
            fail_msg("%s is opened, expected: %s", cases[i].url, cases[i].says);
        if (!strstr(err.message, cases[i].says)) fail_msg("%s: %s", cases[i].url, err.message);
    }
}

static void test_options_of_urls(void **state)
{
    (void)state;
    static const char *const nothing[] = {NULL};
    char endpoint[64];
    cb_buf out;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_store *s;
    set_variables(nothing);
    snprintf(endpoint, sizeof endpoint, "http://127.0.0.1:%d", object_server_port(server));
    cb_net *net = &stores.net;
    assert_int_equal(cb_net_set_option(net, "s3://b", "endpoint_url", endpoint, NULL), CUBED_OK);
    assert_int_equal(cb_net_set_option(net, "s3://b", "ANON", "True", NULL), CUBED_OK);
    s = open_store("s3://b/x");
    put_text(s, "k", "public");
    cb_store_close(s);
    assert_int_equal(object_server_count(server, "authorization"), 0);
    /* Options reach other processes as text. */
    cb_buf_init(&out, &cb_system_allocator);
    assert_int_equal(cb_net_put_options(net, &out, NULL), CUBED_OK);
    cb_buf_put(&out, "", 1);
    assert_int_equal(cb_net_set_option(net, "s3://b", NULL, NULL, NULL), CUBED_OK);
    assert_int_equal(cb_net_take_options(net, out.data, NULL), CUBED_OK);
    cb_buf_free(&out);
    s = open_store("s3://b/x");
    expect_text(s, "k", "public");
    cb_store_close(s);
    assert_int_equal(cb_net_set_option(net, "s3://b", "colour", "red", NULL), CUBED_OK);
    assert_int_equal(cb_store_open(&stores, "s3://b/x", false, &s, &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "no storage option \"colour\""));
}

/* --- Credentials -------------------------------------------------------------------------------------- */

#define ENDPOINT "AWS_ENDPOINT_URL=http://127.0.0.1:%d"
#define KEYS(ID)                                                                                   \
    "{\"Version\": 1, \"AccessKeyId\": \"" ID                                                      \
    "\", \"SecretAccessKey\": \"s\", \"Token\": \"t\", \"SessionToken\": \"t\", "                  \
    "\"Expiration\": \"2999-01-01T00:00:00Z\"}"

/* Whatever their source, credentials are used to sign requests. */
static void test_credentials(void **state)
{
    (void)state;
    static const struct {
        const char *url, *variables[MOST_VARIABLES], *says;
    } cases[] = {
        {"s3://b/x", {ENDPOINT, "AWS_SHARED_CREDENTIALS_FILE=%s/credentials"}, "Credential=plain/"},
        {"s3://b/x",
         {ENDPOINT, "AWS_SHARED_CREDENTIALS_FILE=%s/credentials", "AWS_PROFILE=other"},
         "Credential=other/"},
        {"s3://b/x",
         {ENDPOINT, "AWS_CONFIG_FILE=%s/config", "AWS_PROFILE=told"},
         "Credential=process/"},
        {"s3://b/x",
         {ENDPOINT, "AWS_ROLE_ARN=arn:role", "AWS_WEB_IDENTITY_TOKEN_FILE=%s/token",
          "AWS_ENDPOINT_URL_STS=http://127.0.0.1:%d"},
         "Credential=sts/"},
        {"s3://b/x",
         {ENDPOINT, "AWS_CONTAINER_CREDENTIALS_FULL_URI=http://127.0.0.1:%d/container",
          "AWS_CONTAINER_AUTHORIZATION_TOKEN=secret"},
         "Credential=container/"},
        {"s3://b/x",
         {ENDPOINT, "AWS_EC2_METADATA_SERVICE_ENDPOINT=http://127.0.0.1:%d"},
         "Credential=machine/"},
        {"gs://b/x",
         {"STORAGE_EMULATOR_HOST=http://127.0.0.1:%d",
          "GOOGLE_APPLICATION_CREDENTIALS=%s/external.json"},
         "Bearer exchanged"},
        {"az://b/x",
         {"AZURE_STORAGE_ENDPOINT=http://127.0.0.1:%d/account",
          "AZURE_STORAGE_ACCOUNT_NAME=account", "AZURE_CLIENT_ID=app", "AZURE_TENANT_ID=tenant",
          "AZURE_CLIENT_SECRET=s", "AZURE_AUTHORITY_HOST=http://127.0.0.1:%d"},
         "Bearer application"},
        {"az://b/x",
         {"AZURE_STORAGE_ENDPOINT=http://127.0.0.1:%d/account",
          "AZURE_STORAGE_ACCOUNT_NAME=account", "AZURE_MSI_ENDPOINT=http://127.0.0.1:%d/identity"},
         "Bearer managed"},
    };
    char text[1024];
    write_text_file(root, "credentials",
                    "[default]\naws_access_key_id = plain\naws_secret_access_key = s\n"
                    "# a comment\n[other]\naws_access_key_id=other\n"
                    "aws_secret_access_key=s\naws_session_token=t\n");
    write_text_file(root, "config",
                    "[profile told]\ncredential_process = echo '" KEYS("process") "'\n");
    write_text_file(root, "token", "a.web.token\n");
    snprintf(
        text, sizeof text,
        "{\"type\": \"external_account\", \"audience\": \"a\", \"subject_token_type\": \"jwt\", "
        "\"token_url\": \"http://127.0.0.1:%d/exchange\", "
        "\"credential_source\": {\"file\": \"%s/token\"}}",
        object_server_port(server), root);
    write_text_file(root, "external.json", text);
    object_server_say(server, "Action=AssumeRoleWithWebIdentity",
                      "<R><Credentials><AccessKeyId>sts</AccessKeyId><SecretAccessKey>s"
                      "</SecretAccessKey><SessionToken>t</SessionToken><Expiration>"
                      "2999-01-01T00:00:00Z</Expiration></Credentials></R>");
    object_server_say(server, "GET /container", KEYS("container"));
    object_server_say(server, "/latest/api/token", "metadata-token");
    object_server_say(server, "/security-credentials/role", KEYS("machine"));
    object_server_say(server, "/security-credentials/", "role");
    object_server_say(server, "/exchange",
                      "{\"access_token\": \"exchanged\", \"expires_in\": 3600}");
    object_server_say(server, "/tenant/oauth2/v2.0/token",
                      "{\"access_token\": \"application\", \"expires_in\": 3600}");
    object_server_say(server, "/identity",
                      "{\"access_token\": \"managed\", \"expires_in\": \"3600\"}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_variables(cases[i].variables);
        cubed_store *s = open_store(cases[i].url);
        put_text(s, "k", "text");
        expect_text(s, "k", "text");
        cb_store_close(s);
        if (object_server_count(server, cases[i].says) < 2)
            fail_msg("case %zu: nobody said %s", i, cases[i].says);
    }
    assert_int_equal(object_server_count(server, "uthorization: secret"), 1); /* the container's */
}

static void test_credentials_that_are_not_there(void **state)
{
    (void)state;
    static const struct {
        const char *variables[4], *says;
    } cases[] = {
        {{ENDPOINT, "AWS_EC2_METADATA_DISABLED=true"}, "no credentials were found"},
        {{ENDPOINT, "AWS_CONTAINER_CREDENTIALS_FULL_URI=http://127.0.0.1:%d/empty"},
         "the reply contains no credentials"},
        {{ENDPOINT, "AWS_CONTAINER_CREDENTIALS_FULL_URI=http://127.0.0.1:%d/text"}, "not JSON"},
        {{ENDPOINT, "AWS_CONTAINER_CREDENTIALS_FULL_URI=http://example.org/x"},
         "expected https:// or this machine"},
        {{ENDPOINT, "AWS_CONTAINER_CREDENTIALS_FULL_URI=http://127.0.0.1:%d/forbidden"},
         "the reply is 403 (no entry)"},
    };
    object_server_say(server, "/empty", "{}");
    object_server_say(server, "/text", "what?");
    object_server_fail(server, "/forbidden", 403, "", "{\"error\": {\"message\": \"no entry\"}}",
                       9);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char got[4];
        size_t n;
        cubed_error err = CUBED_ERROR_INIT;
        set_variables(cases[i].variables);
        cubed_store *s = open_store("s3://b/x");
        assert_int_not_equal(cb_store_get(s, "k", 0, got, 4, &n, &err), CUBED_OK);
        if (!strstr(err.message, cases[i].says)) fail_msg("case %zu: %s", i, err.message);
        cb_store_close(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_services, setup, teardown),
        cmocka_unit_test_setup_teardown(test_large_objects, setup, teardown),
        cmocka_unit_test_setup_teardown(test_objects_in_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unfinished_uploads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_web, setup, teardown),
        cmocka_unit_test_setup_teardown(test_faults_that_pass, setup, teardown),
        cmocka_unit_test_setup_teardown(test_faults_that_do_not_pass, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_bucket_in_another_region, setup, teardown),
        cmocka_unit_test_setup_teardown(test_redis_faults, setup, teardown),
        cmocka_unit_test_setup_teardown(test_settings_that_are_wrong, setup, teardown),
        cmocka_unit_test_setup_teardown(test_options_of_urls, setup, teardown),
        cmocka_unit_test_setup_teardown(test_credentials, setup, teardown),
        cmocka_unit_test_setup_teardown(test_credentials_that_are_not_there, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
