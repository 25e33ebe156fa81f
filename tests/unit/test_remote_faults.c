/* Stores of other machines, against a server on this one, where one allocation after the other fails, or one call of the network:
 * an error, or the right result, and never the credentials of another user. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#define FAULT_STEPS_WITHOUT_REALLOC /* no realloc in this header, because the server uses it too */
#include "base/error.h"
#include "fault_steps.h"
#include "object_server.h"
#include "remove_dir.h"
#include "store/services/store_registry.h"
#include "test_path.h"
#include "text_file.h"

enum { MOST_VARIABLES = 8, TEXT = 512 };

static object_server *server;
static char root[64];

/* --- Calls of the network that fail ------------------------------------------------------------------- */

typedef enum call { CALL_NONE, CALL_CONNECT, CALL_SEND, CALL_RECEIVE } call;

static _Atomic(call) failing_call;
static atomic_int calls, nth;

static bool is_port(const struct sockaddr_in *a)
{
    return a->sin_family == AF_INET && ntohs(a->sin_port) == object_server_port(server);
}

/* Returns true if this call is made by the client and must fail. Calls of the server do not count. */
static bool call_fails(call which, int fd, const struct sockaddr *to)
{
    struct sockaddr_in peer = {.sin_family = 0};
    socklen_t n = sizeof peer;
    if (atomic_load(&failing_call) != which) return false;
    if (to && to->sa_family == AF_INET)
        memcpy(&peer, to, sizeof peer);
    else if (getpeername(fd, (struct sockaddr *)&peer, &n) != 0)
        return false;
    if (!is_port(&peer) || atomic_fetch_add(&calls, 1) + 1 != atomic_load(&nth)) return false;
    errno = ECONNRESET;
    return true;
}

/* Replaces the C library's functions for this program and for libcurl (cmake/tests.cmake exports them). */
int connect(int fd, const struct sockaddr *to, socklen_t n)
{
    return call_fails(CALL_CONNECT, fd, to) ? -1 : (int)syscall(SYS_connect, fd, to, n);
}

ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
    if (call_fails(CALL_SEND, fd, NULL)) return -1;
    return (ssize_t)syscall(SYS_sendto, fd, bytes, n, flags, NULL, 0);
}

ssize_t recv(int fd, void *bytes, size_t n, int flags)
{
    if (call_fails(CALL_RECEIVE, fd, NULL)) return -1;
    return (ssize_t)syscall(SYS_recvfrom, fd, bytes, n, flags, NULL, NULL);
}

/* --- Services ----------------------------------------------------------------------------------------- */

#define KEYS(id)                                                                                   \
    "{\"AccessKeyId\": \"" id                                                                      \
    "\", \"SecretAccessKey\": \"s\", \"Token\": \"t\", \"Expiration\": \"2999-01-01T00:00:00Z\"}"

/* Replaces the server after some operations, because it keeps a list of all connections. */
static void renew_server(void)
{
    enum { OPERATIONS = 8 };
    static int n;
    if (server && ++n % OPERATIONS != 0) return;
    if (server) object_server_free(server);
    server = object_server_new();
    object_server_say(server, "GET /container", KEYS("container"));
}

static int setup(void **state)
{
    (void)state;
    renew_server();
    test_path(root, sizeof root, "cubed-test-faults-XXXXXX");
    if (!mkdtemp(root)) return -1;
    write_text_file(root, "credentials",
                    "[default]\naws_access_key_id = mine\naws_secret_access_key = s\n"
                    "[other]\naws_access_key_id = other\naws_secret_access_key = s\n");
    write_text_file(root, "config",
                    "[profile role]\nrole_arn = arn\nweb_identity_token_file = nowhere\n");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    object_server_free(server);
    server = NULL;
    return remove_dir(root);
}

typedef struct service {
    const char *name, *url;
    const char *variables[MOST_VARIABLES];
    bool in_parts; /* all objects are put in parts */
} service;

#define S3 "AWS_ENDPOINT_URL=http://127.0.0.1:%d"
#define KEY                                                                                        \
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

static const service services[] = {
    {"s3 with keys",
     "s3://bucket/keys",
     {S3, "AWS_ACCESS_KEY_ID=me", "AWS_SECRET_ACCESS_KEY=x", "AWS_REGION=eu-north-1"},
     false},
    {"s3 in parts",
     "s3://bucket/parts",
     {S3, "AWS_ACCESS_KEY_ID=me", "AWS_SECRET_ACCESS_KEY=x", "AWS_REGION=eu-north-1"},
     true},
    {"s3 with a profile",
     "s3://bucket/profile",
     {S3, "AWS_SHARED_CREDENTIALS_FILE=%s/credentials", "AWS_CONFIG_FILE=%s/config",
      "AWS_EC2_METADATA_DISABLED=true", "AWS_PROFILE=other"},
     false},
    {"s3 in a container",
     "s3://bucket/container",
     {S3, "AWS_CONTAINER_CREDENTIALS_FULL_URI=http://127.0.0.1:%d/container"},
     false},
    {"gcs",
     "gs://bucket/root",
     {"STORAGE_EMULATOR_HOST=http://127.0.0.1:%d", "GOOGLE_OAUTH_ACCESS_TOKEN=ya29.t"},
     false},
    {"azure",
     "az://bucket/blobs",
     {"AZURE_STORAGE_ENDPOINT=http://127.0.0.1:%d/account", "AZURE_STORAGE_ACCOUNT_NAME=account",
      "AZURE_STORAGE_ACCOUNT_KEY=" KEY},
     false},
    {"azure in parts",
     "az://bucket/parts",
     {"AZURE_STORAGE_ENDPOINT=http://127.0.0.1:%d/account", "AZURE_STORAGE_ACCOUNT_NAME=account",
      "AZURE_STORAGE_ACCOUNT_KEY=" KEY},
     true},
    {"redis", "redis://127.0.0.1:%d/2/root", {"REDIS_USERNAME=me", "REDIS_PASSWORD=x"}, false},
};

static cubed_status set_variables(cb_stores *stores, const char *const *variables, cubed_error *err)
{
    char text[MOST_VARIABLES][TEXT];
    const char *all[MOST_VARIABLES + 1] = {NULL};
    for (int i = 0; i < MOST_VARIABLES && variables[i]; i++) {
        const char *percent = strchr(variables[i], '%');
        const int before = percent ? (int)(percent - variables[i]) : (int)strlen(variables[i]);
        if (percent && percent[1] == 'd')
            snprintf(text[i], TEXT, "%.*s%d%s", before, variables[i], object_server_port(server),
                     percent + 2);
        else
            snprintf(text[i], TEXT, "%.*s%s%s", before, variables[i], percent ? root : "",
                     percent ? percent + 2 : "");
        all[i] = text[i];
    }
    return cb_net_set_variables(&stores->net, all, err);
}

static cubed_status note_key(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    char *all = ctx;
    (void)err;
    const size_t n = strlen(all);
    snprintf(all + n, TEXT - n, "%s=%d ", key, (int)size);
    return CUBED_OK;
}

/* Makes every kind of request. */
static cubed_status use_store(cubed_store *s, cubed_error *err)
{
    static const cubed_range parts[] = {{2, 2}, {0, 1}};
    static const char *const from[] = {"k/a"}, *const to[] = {"k/b"}, *const gone[] = {"k/b"};
    char got[8] = "", keys[TEXT] = "";
    size_t n;
    cubed_object_info info;
    cubed_object_version none = {""}, version;
    cubed_status st;
    CB_GO(cb_store_clear(s, "k", err));
    CB_GO(cb_store_put(s, "k/a", "text", 4, err));
    CB_GO(cb_store_get(s, "k/a", 0, got, sizeof got, &n, err));
    assert_int_equal(n, 4);
    assert_memory_equal(got, "text", 4);
    CB_GO(cb_store_get_parts(s, "k/a", &(cb_store_parts){NULL, parts, 2}, got, &info, NULL, err));
    assert_memory_equal(got, "xtt", 3);
    CB_GO(cb_store_put_if(s, "k/c", &none, "c", 1, &version, err));
    assert_true(*version.text);
    CB_GO(cb_store_copy(s, from, to, 1, err));
    CB_GO(cb_store_list(s, "k", note_key, keys, err));
    assert_non_null(strstr(keys, "k/a=4 "));
    assert_non_null(strstr(keys, "k/b=4 "));
    assert_non_null(strstr(keys, "k/c=1 "));
    CB_GO(cb_store_del_all(s, gone, 1, err));
    keys[0] = 0;
    CB_GO(cb_store_list(s, "k", note_key, keys, err));
    assert_null(strstr(keys, "k/b"));
    CB_GO(cb_store_del_if(s, "k/c", &version, err));
    CB_GO(cb_store_sweep(s, "k", CUBED_SWEEP_ALONE, NULL, NULL, err));
out:
    return st;
}

static cubed_status use_service(void *ctx, const cubed_allocator *a, cubed_error *err)
{
    const service *x = ctx;
    char url[TEXT];
    cb_stores stores;
    cubed_store *s;
    snprintf(url, sizeof url, x->url, object_server_port(server));
    cb_stores_init(&stores, a);
    cubed_status st = set_variables(&stores, x->variables, err);
    if (st == CUBED_OK && x->in_parts)
        st = cb_net_set_option(&stores.net, url, "multipart_threshold", "1", err);
    if (st == CUBED_OK) st = cb_store_open(&stores, url, false, &s, err);
    if (st == CUBED_OK) {
        st = use_store(s, err);
        cb_store_close(s);
    }
    cb_stores_free(&stores);
    return st;
}

/* No request was signed by another user of the file of profiles. */
static void check_user(void *ctx, cubed_status st)
{
    (void)ctx;
    (void)st;
    assert_int_equal(object_server_count(server, "Credential=mine/"), 0);
    renew_server();
}

static void test_allocations(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof services / sizeof *services; i++)
        fail_each_allocation(services[i].name, use_service, check_user,
                             (void *)(uintptr_t)&services[i]);
}

/* Lets each call fail once in turn. The client repeats it, or reports a clear error. */
static void fail_each_call(const service *x, call which, const char *name)
{
    for (int n = 1;; n++) {
        cubed_error err = CUBED_ERROR_INIT;
        atomic_store(&calls, 0);
        atomic_store(&nth, n);
        atomic_store(&failing_call, which);
        const cubed_status st = use_service((void *)(uintptr_t)x, &cb_system_allocator, &err);
        atomic_store(&failing_call, CALL_NONE);
        const bool failed = atomic_load(&calls) >= n;
        renew_server();
        if (st != CUBED_OK && (!failed || st != CUBED_E_IO || !err.message[0]))
            fail_msg("%s: %s %d: status %d, \"%s\"", x->name, name, n, st, err.message);
        if (!failed) {
            /* Except with sanitizers, libcurl calls the functions of this program. */
            if (strcmp(x->name, "redis") == 0) assert_true(n > 1);
            return;
        }
    }
}

static void test_calls(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof services / sizeof *services; i++) {
        fail_each_call(&services[i], CALL_CONNECT, "connect");
        fail_each_call(&services[i], CALL_SEND, "send");
        fail_each_call(&services[i], CALL_RECEIVE, "receive");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_allocations, setup, teardown),
        cmocka_unit_test_setup_teardown(test_calls, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
